//! The record whether a team has sent messages, for the cancellation of its runs.
//!
//! A worker may be handling a message of a run while the run is cancelled. So if the run's team has sent messages, the
//! run ends only after every worker has swept ([`Run::cancel`](crate::cancel::runs::Run::cancel)). A run of a team
//! without messages does not wait for the sweeps, unless it has exhausted the frame memory: then every worker counts
//! the run's frames in its sweep. A deadlocked run does not wait either: it is marked while all workers are parked and
//! no message is in flight.
//!
//! ```text
//!   sender:     1 flag = true     fence     2 send            receiver: 3 receive, 4 load the run's mark
//!   canceller:  5 mark the run    fence     6 load the flag
//! ```
//!
//! A Dekker pattern: if the canceller does not see the flag (6), its fence precedes the sender's fence in the single
//! order of SeqCst fences. The receiver loads the mark after its Acquire of the sender's Release (2, 3), so it sees the
//! mark (4). A sender issues the fence even if another worker has already set the flag: that worker's fence may come
//! later.

use crate::atomics::{AtomicBool, Ordering, fence};

/// A flag, set once: before the first message is sent, or the first located frame is queued.
pub(crate) struct MessagesSent(AtomicBool);

impl MessagesSent {
    pub(crate) fn new() -> MessagesSent {
        MessagesSent(AtomicBool::new(false))
    }

    /// Performs step 1, before the caller sends a message or queues a located frame.
    pub(crate) fn announce(&self) {
        // Relaxed, both: the fence orders them. The load avoids a write to a shared cache line.
        if !self.0.load(Ordering::Relaxed) {
            self.0.store(true, Ordering::Relaxed);
        }
        fence(Ordering::SeqCst);
    }

    /// Returns whether messages may exist: a hint for workers, which check their mailboxes anyway when they go idle.
    #[inline]
    pub(crate) fn any(&self) -> bool {
        // Relaxed: a hint.
        self.0.load(Ordering::Relaxed)
    }

    /// Performs step 6: returns whether a worker may be handling a message without having seen the mark that the caller
    /// set before this call.
    pub(crate) fn any_after_mark(&self) -> bool {
        fence(Ordering::SeqCst);
        self.any()
    }
}

#[cfg(all(test, loom))]
mod models {
    use super::*;
    use crate::atomics::{Arc, explore, thread};

    struct Team {
        sent: MessagesSent,
        cancelled: AtomicBool,
        message: AtomicBool,
    }

    /// Runs a sender, a receiver and a canceller. If `announced`, another worker announces too.
    fn model(announced: bool) {
        explore(3, move || {
            let (sent, cancelled, message) = (MessagesSent::new(), AtomicBool::new(false), AtomicBool::new(false));
            let team = Arc::new(Team { sent, cancelled, message });
            let of = || Arc::clone(&team);
            let other = of();
            let other = announced.then(|| thread::spawn(move || other.sent.announce()));
            let sender = of();
            let sender = thread::spawn(move || {
                sender.sent.announce();
                sender.message.store(true, Ordering::Release);
            });
            let canceller = of();
            let canceller = thread::spawn(move || {
                // As `Run::mark_cancelled`.
                canceller.cancelled.swap(true, Ordering::Release);
                canceller.sent.any_after_mark()
            });
            let received = team.message.load(Ordering::Acquire);
            let handled_unmarked = received && !team.cancelled.load(Ordering::Acquire);
            sender.join().unwrap();
            other.map(|other| other.join().unwrap());
            let awaits_sweeps = canceller.join().unwrap();
            assert!(awaits_sweeps || !handled_unmarked, "a run ends while one of its messages is handled");
        });
    }

    #[test]
    fn a_message_is_marked_or_awaited() {
        model(false);
    }

    #[test]
    fn announcing_twice_keeps_the_order() {
        model(true);
    }
}
