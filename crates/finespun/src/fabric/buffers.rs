//! Buffers of messages, kept by each thread for its next messages.

use std::cell::RefCell;

/// The most buffers that a thread keeps.
const MOST: usize = 8;
/// The least and the most bytes in each.
const LEAST: usize = 256;
const LARGEST: usize = 4096;

thread_local! {
    static KEPT: RefCell<Vec<Vec<u8>>> = const { RefCell::new(Vec::new()) };
}

/// Returns an empty buffer.
pub(crate) fn take() -> Vec<u8> {
    let kept = KEPT.try_with(|kept| kept.borrow_mut().pop()).ok().flatten();
    kept.unwrap_or_else(|| Vec::with_capacity(LEAST))
}

/// Keeps a buffer that is no longer used.
pub(crate) fn give_back(mut buffer: Vec<u8>) {
    if !(LEAST..=LARGEST).contains(&buffer.capacity()) {
        return;
    }
    buffer.clear();
    // A thread that ends keeps none.
    let _ = KEPT.try_with(|kept| {
        let mut kept = kept.borrow_mut();
        if kept.len() < MOST {
            kept.push(buffer);
        }
    });
}
