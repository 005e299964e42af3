//! The deque under loom: every interleaving, and every value that a weak memory
//! may return, of small programs. What an item points to is a loom cell, so that
//! a missing publication shows as a data race.
//!
//! loom runs each thread in program order, so no load returns a store that comes
//! after it. That a thief's read of a slot cannot return what the owner writes
//! there later (Release of `top` by the thief, Acquire by `push`) is therefore
//! argued in `deque.rs` and not explored here.

use super::{Deque, Steal};
use crate::atomics::{Arc, UnsafeCell, thread};
use loom::model::Builder;
use std::ptr::NonNull;

type Item = UnsafeCell<u32>;

/// Explores `model`. Two threads are explored in full; more take a bound on
/// preemptions (`LOOM_MAX_PREEMPTIONS` overrides it).
fn explore(threads: usize, model: fn()) {
    let mut builder = Builder::new();
    if threads > 2 && builder.preemption_bound.is_none() {
        builder.preemption_bound = Some(3);
    }
    builder.check(model);
}

fn wrap(value: u32) -> NonNull<Item> {
    NonNull::from(Box::leak(Box::new(UnsafeCell::new(value))))
}

/// Takes an item apart: a data race here means that it was taken twice, or not
/// published.
fn unwrap(item: NonNull<Item>) -> u32 {
    // SAFETY: every item comes from `wrap`, and the deque gives it out once: that
    // is what the model shows.
    let item = unsafe { Box::from_raw(item.as_ptr()) };
    item.with_mut(|value| {
        // SAFETY: as above; loom checks that nobody else has access.
        unsafe { *value }
    })
}

fn steal(deque: &Deque<Item>, attempts: usize) -> Vec<u32> {
    let mut stolen = Vec::new();
    for _ in 0..attempts {
        if let Steal::Success(item) = deque.steal() {
            stolen.push(unwrap(item));
        }
    }
    stolen
}

/// Starts `thieves` threads of `attempts` each, lets the owner do `work`, drains
/// the deque, and checks that each of the `pushed` items came out once, and that
/// each thief got them oldest first.
fn race(capacity: usize, thieves: usize, attempts: usize, pushed: u32, work: fn(&Deque<Item>, &mut Vec<u32>)) {
    let deque = Arc::new(Deque::with_capacity(capacity));
    let thieves: Vec<_> = (0..thieves)
        .map(|_| {
            let deque = deque.clone();
            thread::spawn(move || steal(&deque, attempts))
        })
        .collect();

    let mut out = Vec::new();
    work(&deque, &mut out);
    for thief in thieves {
        let stolen = thief.join().unwrap();
        assert!(stolen.is_sorted(), "stolen out of order: {stolen:?}");
        out.extend(stolen);
    }
    while pop(&deque, &mut out) {}
    assert!(deque.is_empty());
    out.sort_unstable();
    assert_eq!(out, (0..pushed).collect::<Vec<_>>());
}

fn push(deque: &Deque<Item>, value: u32) {
    // SAFETY: called by the model's main thread only.
    let owner = unsafe { deque.owner() };
    owner.push(wrap(value));
}

fn pop(deque: &Deque<Item>, out: &mut Vec<u32>) -> bool {
    // SAFETY: called by the model's main thread only.
    let owner = unsafe { deque.owner() };
    let item = owner.pop();
    out.extend(item.map(unwrap));
    item.is_some()
}

#[test]
fn last_item() {
    explore(2, || {
        race(2, 1, 2, 1, |deque, out| {
            push(deque, 0);
            pop(deque, out);
        });
    });
}

#[test]
fn last_item_two_thieves() {
    explore(3, || {
        race(2, 2, 1, 1, |deque, out| {
            push(deque, 0);
            pop(deque, out);
        });
    });
}

#[test]
fn one_thief() {
    explore(2, || {
        race(4, 1, 2, 2, |deque, out| {
            push(deque, 0);
            push(deque, 1);
            pop(deque, out);
            pop(deque, out);
        });
    });
}

#[test]
fn two_thieves() {
    explore(3, || {
        race(4, 2, 2, 3, |deque, out| {
            push(deque, 0);
            push(deque, 1);
            pop(deque, out);
            push(deque, 2);
            pop(deque, out);
        });
    });
}

/// An index is taken back and filled again while a thief may hold an outdated
/// `bottom`: the item that the thief gets must be published to it.
#[test]
fn index_filled_again() {
    explore(2, || {
        race(4, 1, 2, 3, |deque, out| {
            push(deque, 0);
            push(deque, 1);
            pop(deque, out);
            push(deque, 2);
        });
    });
}

/// A slot is reused for a later index, which needs the theft of the earlier one
/// to come first.
#[test]
fn slot_reused() {
    explore(2, || {
        race(2, 1, 2, 3, |deque, out| {
            push(deque, 0);
            push(deque, 1);
            push(deque, 2);
            pop(deque, out);
        });
    });
}

#[test]
fn growth() {
    explore(2, || {
        race(1, 1, 2, 3, |deque, out| {
            push(deque, 0);
            push(deque, 1);
            push(deque, 2);
            pop(deque, out);
        });
    });
}

#[test]
fn growth_two_thieves() {
    explore(3, || {
        race(1, 2, 1, 3, |deque, out| {
            push(deque, 0);
            push(deque, 1);
            push(deque, 2);
            pop(deque, out);
        });
    });
}
