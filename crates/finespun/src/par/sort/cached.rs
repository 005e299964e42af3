//! The sort by keys that are computed once.

use super::quick_sort;
use crate::par::indexed::IndexedParallelIterator;
use crate::par::iterator::ParallelIterator;
use crate::par::sources::IterMut;
use crate::task;

/// Sorts a slice by keys, each of which is computed once; equal items keep their order.
#[task(pinned)]
pub(crate) async fn sort_by_cached_key<T, K, F>(slice: &mut [T], key: F)
where
    T: Send,
    K: Ord + Send,
    F: Fn(&T) -> K + Send + Sync,
{
    let keys = IterMut::new(slice).map(|item| key(item)).enumerate().map(|(at, key)| (key, at));
    let mut keys: Vec<(K, usize)> = keys.collect().await;
    // With their positions, no two are equal.
    quick_sort(&mut keys, |a: &(K, usize), b: &(K, usize)| a < b).await;
    let mut from: Vec<usize> = keys.into_iter().map(|(_, at)| at).collect();
    for to in 0..from.len() {
        let mut at = from[to];
        // An item that should have come to a place before this one has been swapped with the item there.
        while at < to {
            at = from[at];
        }
        from[to] = at;
        slice.swap(to, at);
    }
}
