//! The unstable sort: a parallel quicksort in place, without a buffer.
//!
//! The pivot is a median of medians of 27 items. Items equal to a pivot that bounds the part from below are put aside, so
//! many equal items cost linear time. After as many unbalanced partitions as the length has bits, std sorts the part, in
//! O(n log n). A panic in a comparison leaves a permutation: partitions fill the gap that they move through the slice.

use std::cmp;
use std::mem::ManuallyDrop;
use std::ptr;

use super::{Less, ordering, sorted_already};
use crate::task;

/// The least number of items that are partitioned. Shorter parts are sorted by std.
const LEAF: usize = 2048;

/// The number of parts that std sorts, about: leaves are longer in long slices.
const LEAVES: usize = 1024;

/// Sorts a slice by `less`.
#[task(pinned)]
pub(crate) async fn quick_sort<T: Send, F: Less<T>>(slice: &mut [T], less: F) {
    let leaf = cmp::max(LEAF, slice.len() / LEAVES);
    if size_of::<T>() == 0 || slice.len() <= leaf {
        slice.sort_unstable_by(ordering(&less));
    } else if !sorted_already(slice, &less) {
        let limit = usize::BITS - slice.len().leading_zeros();
        quick(Part { items: slice, above: false, limit, leaf }, &less).await;
    }
}

/// A part of the slice that is not sorted yet.
struct Part<'a, T> {
    items: &'a mut [T],
    /// Whether the first item is the pivot of an earlier partition, and no item is less.
    above: bool,
    /// The number of unbalanced partitions that are allowed.
    limit: u32,
    leaf: usize,
}

#[task]
async fn quick<T: Send, F: Less<T>>(part: Part<'_, T>, less: &F) {
    if let Some((low, high)) = split(part, less) {
        join!(quick(low, less), quick(high, less));
    }
}

/// Sorts a short part, or partitions it into two.
#[inline(never)]
fn split<'a, T: Send, F: Less<T>>(part: Part<'a, T>, less: &F) -> Option<(Part<'a, T>, Part<'a, T>)> {
    let Part { mut items, mut above, mut limit, leaf } = part;
    while items.len() > leaf && limit > 0 {
        let (bound, rest) = if above { items.split_first_mut().map(|(b, r)| (Some(b), r))? } else { (None, items) };
        let pivot = choose_pivot(rest, less);
        rest.swap(0, pivot);
        let len = rest.len();
        let (pivot, others) = rest.split_first_mut()?;
        if bound.is_some_and(|bound| !less(bound, pivot)) {
            // No item is less than the pivot: the equal ones are in place.
            let equal = partition(others, |item| !less(pivot, item));
            // The pivot bounds the rest as the earlier one did. Of the equal items only the last stays with the rest.
            items = &mut rest[equal..];
            above = true;
            if equal < len / 8 {
                limit -= 1;
            }
            continue;
        }
        let lesser = partition(others, |item| less(item, pivot));
        rest.swap(0, lesser);
        let (low, high) = rest.split_at_mut(lesser);
        if cmp::min(low.len(), high.len()) < len / 8 {
            limit -= 1;
        }
        // `low` has no item that is less than `bound`, but does not begin with it: not known to the callee.
        let low = Part { items: low, above: false, limit, leaf };
        return Some((low, Part { items: high, above: true, limit, leaf }));
    }
    items.sort_unstable_by(ordering(less));
    None
}

/// Returns the position of an item that is probably near the middle in order.
fn choose_pivot<T>(items: &[T], less: &impl Less<T>) -> usize {
    let median = |a: usize, b: usize, c: usize| {
        let (low, high) = if less(&items[b], &items[a]) { (b, a) } else { (a, b) };
        if less(&items[c], &items[low]) {
            low
        } else if less(&items[high], &items[c]) {
            high
        } else {
            c
        }
    };
    // The distances differ, so that no pattern in the items matches them.
    let at = |k: usize| (k * items.len() + k * k) / 28;
    let nine = |k: usize| {
        let three = |k: usize| median(at(k), at(k + 1), at(k + 2));
        median(three(k), three(k + 3), three(k + 6))
    };
    median(nine(0), nine(9), nine(18))
}

/// Moves the items for which `first` is true to the front, and returns their number.
///
/// The first item is taken out, and its place becomes a gap that moves through the slice: each step fills it with the
/// first item of the second kind, whose place the next item takes, whichever kind it is (the cyclic form of Lomuto's partition, without
/// branches that depend on the items).
fn partition<T>(items: &mut [T], first: impl Fn(&T) -> bool) -> usize {
    /// A place without an item, and the item that is missing, which is put there at the end.
    struct Gap<T> {
        item: ManuallyDrop<T>,
        place: *mut T,
    }
    impl<T> Drop for Gap<T> {
        fn drop(&mut self) {
            // SAFETY: the place is in the slice, and has no item of its own.
            unsafe { ptr::copy_nonoverlapping(&raw const *self.item, self.place, 1) };
        }
    }

    let len = items.len();
    let base = items.as_mut_ptr();
    if len == 0 {
        return 0;
    }
    // SAFETY: the slice has a first item; the gap puts it back.
    let mut gap = Gap { item: ManuallyDrop::new(unsafe { base.read() }), place: base };
    let mut count = 0;
    for k in 1..len {
        // SAFETY: `k` is less than the length.
        let next = unsafe { base.add(k) };
        // SAFETY: `next` is behind the gap, so it has an item.
        let is_first = first(unsafe { &*next });
        // SAFETY: `count` is less than `k`.
        let left = unsafe { base.add(count) };
        // SAFETY: both are places in the slice; the gap has no item.
        unsafe { ptr::copy(left, gap.place, 1) };
        // SAFETY: as above; the item of `left` has just been copied, unless `left` is the gap, and `count` is less than `k`.
        unsafe { ptr::copy_nonoverlapping(next, left, 1) };
        gap.place = next;
        count += usize::from(is_first);
    }
    let is_first = first(&gap.item);
    // SAFETY: `count` is less than the length.
    let left = unsafe { base.add(count) };
    // SAFETY: as in the loop.
    unsafe { ptr::copy(left, gap.place, 1) };
    gap.place = left;
    drop(gap);
    count + usize::from(is_first)
}
