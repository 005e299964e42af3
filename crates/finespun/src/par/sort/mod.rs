//! Sorts of slices: [`merge`] (stable), [`quick`] (unstable), and [`cached`] keys.
//!
//! Each is a recursion down to parts that std's sorts can sort sequentially. They are panic-safe: when a comparison
//! panics, the slice has all its items, in some order.

mod cached;
mod merge;
mod quick;

use std::cmp::Ordering;

pub(crate) use cached::sort_by_cached_key;
pub(crate) use merge::merge_sort;
pub(crate) use quick::quick_sort;

/// An order, as the parts of a sort share it.
pub(crate) trait Less<T>: Fn(&T, &T) -> bool + Send + Sync {}
impl<T, F: Fn(&T, &T) -> bool + Send + Sync> Less<T> for F {}

/// Returns the order that std's sorts expect. They ask only whether the first item is less.
fn ordering<T>(less: &impl Less<T>) -> impl FnMut(&T, &T) -> Ordering {
    move |a, b| if less(a, b) { Ordering::Less } else { Ordering::Greater }
}

/// Sorts a slice that is in order, or in strictly reverse order. Returns whether the slice was in such an order.
fn sorted_already<T>(slice: &mut [T], less: &impl Less<T>) -> bool {
    let [first, second, ..] = slice else { return true };
    if less(second, first) {
        let reversed = slice.is_sorted_by(|a, b| less(b, a));
        if reversed {
            slice.reverse();
        }
        return reversed;
    }
    slice.is_sorted_by(|a, b| !less(b, a))
}
