//! Buffers of messages, kept by each thread for its next messages.

use std::cell::{Cell, RefCell};

/// The most buffers that a thread keeps, beside the last.
const MOST: usize = 64;
/// The least and the most bytes in each.
const LEAST: usize = 256;
const LARGEST: usize = 4096;

thread_local! {
    /// The last buffer given back, without room if it has been taken. Apart, since most messages take and give back one.
    static LAST: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
    static KEPT: RefCell<Vec<Vec<u8>>> = const { RefCell::new(Vec::new()) };
}

/// Returns an empty buffer.
#[inline]
pub(crate) fn take() -> Vec<u8> {
    #[cold]
    fn other() -> Vec<u8> {
        let kept = KEPT.try_with(|kept| kept.borrow_mut().pop()).ok().flatten();
        kept.unwrap_or_else(|| Vec::with_capacity(LEAST))
    }
    let last = LAST.try_with(Cell::take).unwrap_or_default();
    if last.capacity() > 0 { last } else { other() }
}

/// Keeps a buffer that is no longer used.
#[inline]
pub(crate) fn give_back(mut buffer: Vec<u8>) {
    #[cold]
    fn keep(buffer: Vec<u8>) {
        let _ = KEPT.try_with(|kept| {
            let mut kept = kept.borrow_mut();
            if kept.len() < MOST {
                kept.push(buffer);
            }
        });
    }
    if !(LEAST..=LARGEST).contains(&buffer.capacity()) {
        return;
    }
    buffer.clear();
    // A thread that ends keeps none.
    let before = LAST.try_with(|last| last.replace(buffer)).unwrap_or_default();
    if before.capacity() > 0 {
        keep(before);
    }
}
