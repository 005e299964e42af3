//! A notice that any thread posts, and one thread takes: something has changed that the taker looks for elsewhere.
//!
//! ```text
//!   poster:  1 changes something    2 set |= true (Release)
//!   taker:   3 set := false (Acquire); if it was true:   4 looks for all changes
//! ```
//!
//! A taker that reads true in (3) sees the changes of all posters so far: each post is a read-modify-write, and so continues
//! the release sequences of the posts before. A later post leaves `set` true, for the next look. With a plain store in (2),
//! the taker would synchronize with the last poster only, and the notices of the others would be lost.

use crate::atomics::{AtomicBool, Ordering};

/// Says that something has changed.
pub(crate) struct Notice {
    set: AtomicBool,
}

impl Notice {
    pub(crate) fn new() -> Notice {
        Notice { set: AtomicBool::new(false) }
    }

    /// Posts the notice, after the change.
    pub(crate) fn post(&self) {
        // (2) Release: pairs with the Acquire in (3).
        self.set.fetch_or(true, Ordering::Release);
    }

    /// Returns whether the notice is posted.
    pub(crate) fn is_posted(&self) -> bool {
        // Relaxed: a hint.
        self.set.load(Ordering::Relaxed)
    }

    /// Returns whether the notice was posted, and removes it. If so, the caller sees what has changed.
    pub(crate) fn take(&self) -> bool {
        // (3) Acquire: pairs with the Release in (2). Loaded first: mostly false.
        self.is_posted() && self.set.swap(false, Ordering::Acquire)
    }
}

#[cfg(all(test, loom))]
mod models {
    use super::*;
    use crate::atomics::{Arc, AtomicU32, thread};

    /// Of each change, the taker learns by the notice that it has taken, or by the one that is left.
    #[test]
    fn no_change_is_missed() {
        loom::model(|| {
            let notice = Arc::new(Notice::new());
            let changes: Arc<[AtomicU32; 2]> = Arc::new([AtomicU32::new(0), AtomicU32::new(0)]);
            let posters: Vec<_> = (0..2)
                .map(|poster| {
                    let (notice, changes) = (Arc::clone(&notice), Arc::clone(&changes));
                    thread::spawn(move || {
                        changes[poster].store(1, Ordering::Relaxed);
                        notice.post();
                    })
                })
                .collect();
            let mut seen = [false; 2];
            if notice.take() {
                seen = std::array::from_fn(|poster| changes[poster].load(Ordering::Relaxed) == 1);
            }
            posters.into_iter().for_each(|poster| poster.join().unwrap());
            assert!(notice.is_posted() || seen == [true; 2], "{seen:?}");
        });
    }
}
