//! Tests of the guard in one thread, and under load in several.

use super::{Flags, Guard};
use std::{
    sync::atomic::{AtomicUsize, Ordering},
    thread,
};

#[test]
fn trips_below_the_limit_only() {
    let guard = Guard::new(100);
    assert!(guard.trips_at(99) && guard.overflows(99));
    assert!(!guard.trips_at(100) && !guard.overflows(100));
    guard.set_limit(50);
    assert!(!guard.trips_at(99));
    assert_eq!(guard.limit(), 50);
}

#[test]
fn a_request_trips_once_and_names_its_reasons() {
    let guard = Guard::new(100);
    guard.request(Flags::STEAL);
    guard.request(Flags::ATTENTION);
    assert!(guard.trips_at(usize::MAX - 1) && !guard.overflows(usize::MAX - 1));
    let flags = guard.take();
    assert!(flags.steal() && flags.attention() && !flags.cancel() && !flags.quantum());
    assert_eq!(format!("{flags:?}"), r#"{"steal", "attention"}"#);
    assert!(!guard.trips_at(100));
    assert!(guard.take().is_empty());
}

#[test]
fn a_new_limit_keeps_requests() {
    let guard = Guard::new(100);
    guard.request(Flags::CANCEL);
    guard.set_limit(50);
    assert!(guard.trips_at(200));
    assert!(guard.take().cancel());
    assert!(!guard.trips_at(50) && guard.trips_at(49));
}

/// Each requester waits for its flag to be taken before it repeats its request, so a lost request would hang the test.
#[test]
fn stress_every_request_is_taken() {
    const ROUNDS: usize = 20_000;
    let flags = [Flags::STEAL, Flags::CANCEL, Flags::QUANTUM, Flags::ATTENTION];
    let guard = Guard::new(100);
    let taken = [(); 4].map(|()| AtomicUsize::new(0));
    thread::scope(|scope| {
        for (flag, taken) in flags.into_iter().zip(&taken) {
            let guard = &guard;
            scope.spawn(move || {
                for round in 1..=ROUNDS {
                    guard.request(flag);
                    while taken.load(Ordering::Acquire) < round {
                        thread::yield_now();
                    }
                }
            });
        }
        let all_taken = || taken.iter().all(|t| t.load(Ordering::Relaxed) == ROUNDS);
        while !all_taken() {
            if !guard.trips_at(200) {
                thread::yield_now();
                continue;
            }
            let set = guard.take();
            let named = [set.steal(), set.cancel(), set.quantum(), set.attention()];
            for (taken, _) in taken.iter().zip(named).filter(|(_, set)| *set) {
                taken.fetch_add(1, Ordering::Release);
            }
        }
    });
}
