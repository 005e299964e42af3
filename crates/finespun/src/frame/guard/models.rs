//! Loom models of the guard, including the owner's relaxed check.

use super::{Flags, Guard};
use crate::atomics::{Arc, UnsafeCell, explore, thread};

const LIMIT: usize = 100;
/// A stack pointer that passes when nothing is requested.
const ROOMY: usize = 200;

/// A guard, and for each requester a note that it writes before it makes its request.
struct Shared {
    guard: Guard,
    notes: [UnsafeCell<bool>; 3],
}

impl Shared {
    fn new() -> Arc<Self> {
        Arc::new(Self { guard: Guard::new(LIMIT), notes: [(); 3].map(|()| UnsafeCell::new(false)) })
    }

    fn request(&self, requester: usize, flag: Flags) {
        self.notes[requester].with_mut(|note| {
            // SAFETY: only this requester writes, and the owner reads after it has taken the flag; loom checks it.
            unsafe { *note = true }
        });
        self.guard.request(flag);
    }

    fn read_note(&self, requester: usize) {
        self.notes[requester].with(|note| {
            // SAFETY: the owner has taken the requester's flag, and the requester writes no more; loom checks it.
            let note = unsafe { *note };
            assert!(note);
        });
    }

    /// Performs one check by the owner, and adds the taken flags to `taken`.
    fn check(&self, taken: &mut Flags) {
        if self.guard.trips_at(ROOMY) {
            let flags = self.guard.take();
            if flags.cancel() {
                self.read_note(0);
            }
            if flags.quantum() {
                self.read_note(1);
            }
            if flags.attention() {
                self.read_note(2);
            }
            *taken = *taken | flags;
        }
    }

    /// Checks the invariant after all requesters have returned: all of `requested` has been taken, or the next check
    /// trips and takes what is missing.
    fn finish(&self, mut taken: Flags, requested: Flags) {
        if taken != requested {
            assert!(self.guard.trips_at(ROOMY), "a request is lost");
            self.check(&mut taken);
        }
        assert_eq!(taken, requested);
        // At most one more check trips without a request.
        self.check(&mut taken);
        assert!(!self.guard.trips_at(ROOMY));
    }
}

fn requester(shared: &Arc<Shared>, index: usize, flag: Flags) -> thread::JoinHandle<()> {
    let shared = shared.clone();
    thread::spawn(move || shared.request(index, flag))
}

#[test]
fn one_requester() {
    loom::model(|| {
        let shared = Shared::new();
        let cancel = requester(&shared, 0, Flags::CANCEL);
        let mut taken = Flags(0);
        for _ in 0..3 {
            shared.check(&mut taken);
        }
        cancel.join().unwrap();
        shared.finish(taken, Flags::CANCEL);
    });
}

#[test]
fn two_requesters() {
    loom::model(|| {
        let shared = Shared::new();
        let cancel = requester(&shared, 0, Flags::CANCEL);
        let quantum = requester(&shared, 1, Flags::QUANTUM);
        let mut taken = Flags(0);
        for _ in 0..2 {
            shared.check(&mut taken);
        }
        cancel.join().unwrap();
        quantum.join().unwrap();
        shared.finish(taken, Flags::CANCEL | Flags::QUANTUM);
    });
}

#[test]
fn three_requesters() {
    explore(3, || {
        let shared = Shared::new();
        let requesters = [
            requester(&shared, 0, Flags::CANCEL),
            requester(&shared, 1, Flags::QUANTUM),
            requester(&shared, 2, Flags::ATTENTION),
        ];
        let mut taken = Flags(0);
        for _ in 0..2 {
            shared.check(&mut taken);
        }
        for requester in requesters {
            requester.join().unwrap();
        }
        shared.finish(taken, Flags::CANCEL | Flags::QUANTUM | Flags::ATTENTION);
    });
}

/// Two requesters make the same request, before or after the owner takes the first: the flag is taken at least once.
#[test]
fn the_same_request_twice() {
    loom::model(|| {
        let shared = Shared::new();
        let steals = [(); 2].map(|()| {
            let shared = shared.clone();
            thread::spawn(move || shared.guard.request(Flags::STEAL))
        });
        let mut taken = Flags(0);
        for _ in 0..2 {
            shared.check(&mut taken);
        }
        for steal in steals {
            steal.join().unwrap();
        }
        shared.finish(taken, Flags::STEAL);
    });
}

/// The owner moves to another stack while requests arrive.
#[test]
fn a_new_limit_keeps_requests() {
    loom::model(|| {
        let shared = Shared::new();
        let cancel = requester(&shared, 0, Flags::CANCEL);
        let quantum = requester(&shared, 1, Flags::QUANTUM);
        let mut taken = Flags(0);
        shared.check(&mut taken);
        shared.guard.set_limit(LIMIT / 2);
        cancel.join().unwrap();
        quantum.join().unwrap();
        shared.finish(taken, Flags::CANCEL | Flags::QUANTUM);
        assert!(shared.guard.trips_at(LIMIT / 2 - 1));
    });
}
