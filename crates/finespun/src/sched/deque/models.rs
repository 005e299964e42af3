//! The deque under loom: every interleaving, and every value that a weak memory model may return, of small programs. An
//! item points to a loom cell, so that a missing publication shows as a data race.
//!
//! loom runs each thread in program order, so no load returns a store that comes after it. A thief's read of a slot
//! cannot return the owner's later write to that slot (Release of `top` by the thief, Acquire by `push`): `deque.rs`
//! argues this, and it is not explored here.

use super::{Deque, Steal};
use crate::atomics::{Arc, UnsafeCell, explore, thread};
use std::ptr::NonNull;

type Item = UnsafeCell<u32>;

fn wrap(value: u32) -> NonNull<Item> {
    NonNull::from(Box::leak(Box::new(UnsafeCell::new(value))))
}

/// Takes an item apart. A data race here means that the item was taken twice, or not published.
fn unwrap(item: NonNull<Item>) -> u32 {
    // SAFETY: every item comes from `wrap`, and the deque gives it out once, as the model shows.
    let item = unsafe { Box::from_raw(item.as_ptr()) };
    item.with_mut(|value| {
        // SAFETY: the deque gave the item out once, so this access is exclusive; loom checks it.
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

/// Starts `thieves` threads of `attempts` each, lets the owner do `work`, drains the deque, and checks that each of the
/// `pushed` items came out once, and that each thief got them oldest first.
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
fn owner_and_thief_race_for_the_last_item() {
    loom::model(|| {
        race(2, 1, 2, 1, |deque, out| {
            push(deque, 0);
            pop(deque, out);
        });
    });
}

#[test]
fn owner_and_two_thieves_race_for_the_last_item() {
    explore(3, || {
        race(2, 2, 1, 1, |deque, out| {
            push(deque, 0);
            pop(deque, out);
        });
    });
}

#[test]
fn one_thief_steals_while_the_owner_pushes_and_pops() {
    loom::model(|| {
        race(4, 1, 2, 2, |deque, out| {
            push(deque, 0);
            push(deque, 1);
            pop(deque, out);
            pop(deque, out);
        });
    });
}

#[test]
fn two_thieves_steal_while_the_owner_pushes_and_pops() {
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

/// The owner takes an index back and fills it again while a thief may hold an outdated `bottom`: the item that the
/// thief gets must be published to it.
#[test]
fn an_index_that_is_filled_again_is_published() {
    loom::model(|| {
        race(4, 1, 2, 3, |deque, out| {
            push(deque, 0);
            push(deque, 1);
            pop(deque, out);
            push(deque, 2);
        });
    });
}

/// The owner reuses a slot for a later index, which requires that the theft of the earlier index comes first.
#[test]
fn a_slot_is_reused_only_after_the_theft_of_its_item() {
    loom::model(|| {
        race(2, 1, 2, 3, |deque, out| {
            push(deque, 0);
            push(deque, 1);
            push(deque, 2);
            pop(deque, out);
        });
    });
}

#[test]
fn the_deque_grows_while_a_thief_steals() {
    loom::model(|| {
        race(1, 1, 2, 3, |deque, out| {
            push(deque, 0);
            push(deque, 1);
            push(deque, 2);
            pop(deque, out);
        });
    });
}

#[test]
fn the_deque_grows_while_two_thieves_steal() {
    explore(3, || {
        race(1, 2, 1, 3, |deque, out| {
            push(deque, 0);
            push(deque, 1);
            push(deque, 2);
            pop(deque, out);
        });
    });
}
