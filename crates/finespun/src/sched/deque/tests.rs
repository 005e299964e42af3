//! The deque compared with `VecDeque` in one thread, and under load in several. Items point to plain data, so that
//! ThreadSanitizer sees a missing publication.

use super::{Deque, INITIAL_CAPACITY, Steal};
use std::{
    collections::VecDeque,
    ptr::NonNull,
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
    thread,
};

/// Marsaglia's xorshift: a reproducible sequence without a dependency.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }
}

fn wrap(value: usize) -> NonNull<usize> {
    NonNull::from(Box::leak(Box::new(value)))
}

fn unwrap(item: NonNull<usize>) -> usize {
    // SAFETY: every item comes from `wrap`, and the deque gives it out once.
    *unsafe { Box::from_raw(item.as_ptr()) }
}

#[test]
fn a_steal_result_is_two_words_and_a_popped_item_one() {
    assert_eq!(size_of::<Option<NonNull<usize>>>(), 8);
    assert!(size_of::<Steal<usize>>() <= 16);
}

#[test]
fn behaves_like_a_sequential_deque() {
    for seed in 1..=200 {
        let mut random = Random(seed);
        let capacity = 1 << random.below(4);
        // The operation that each phase prefers: growing, shrinking or neither.
        let mut bias = 2;
        let deque = Deque::with_capacity(capacity);
        // SAFETY: the test has one thread.
        let owner = unsafe { deque.owner() };
        let mut model = VecDeque::new();

        for step in 0..2000 {
            if step % 100 == 0 {
                bias = 1 + random.below(4);
            }
            match random.below(4 + bias) {
                0 | 1 => assert_eq!(owner.pop().map(unwrap), model.pop_back()),
                2 => {
                    let stolen = match deque.steal() {
                        Steal::Success(item) => Some(unwrap(item)),
                        Steal::Empty => None,
                        Steal::Retry => panic!("no other thread to race with"),
                    };
                    assert_eq!(stolen, model.pop_front());
                }
                _ => {
                    owner.push(wrap(step));
                    model.push_back(step);
                }
            }
            assert_eq!(owner.len(), model.len());
            assert_eq!(owner.is_empty(), model.is_empty());
        }
        while let Some(item) = owner.pop() {
            assert_eq!(Some(unwrap(item)), model.pop_back());
        }
        assert!(model.is_empty());
    }
}

#[test]
fn grows_past_its_first_buffer() {
    let count = INITIAL_CAPACITY * 5;
    let deque = Deque::new();
    // SAFETY: the test has one thread.
    let owner = unsafe { deque.owner() };
    for value in 0..count {
        owner.push(wrap(value));
    }
    for value in (0..count).rev() {
        assert_eq!(owner.pop().map(unwrap), Some(value));
    }
    assert_eq!(owner.pop(), None);
}

/// The owner pushes `count` items and pops in bursts while thieves steal; each item must come out once, and each thief
/// must see them oldest first.
fn stress(thieves: usize, capacity: usize, count: usize, seed: u64) {
    let deque = Deque::with_capacity(capacity);
    let done = AtomicBool::new(false);
    let seen: Vec<_> = (0..count).map(|_| AtomicUsize::new(0)).collect();
    let see = |item| {
        let value = unwrap(item);
        seen[value].fetch_add(1, Ordering::Relaxed);
        value
    };

    thread::scope(|scope| {
        for _ in 0..thieves {
            scope.spawn(|| {
                let mut latest = None;
                loop {
                    match deque.steal() {
                        Steal::Success(item) => {
                            let value = Some(see(item));
                            assert!(value > latest, "stolen out of order");
                            latest = value;
                        }
                        Steal::Retry => {}
                        Steal::Empty if done.load(Ordering::Acquire) => break,
                        Steal::Empty => thread::yield_now(),
                    }
                }
            });
        }

        // SAFETY: the thieves do not use the owner's end.
        let owner = unsafe { deque.owner() };
        let mut random = Random(seed);
        let mut next = 0;
        while next < count {
            for _ in 0..random.below(2 * capacity as u64 + 2) {
                if next < count {
                    owner.push(wrap(next));
                    next += 1;
                }
            }
            for _ in 0..random.below(2 * capacity as u64 + 2) {
                owner.pop().map(see);
            }
        }
        while let Some(item) = owner.pop() {
            see(item);
        }
        done.store(true, Ordering::Release);
    });

    assert!(deque.is_empty());
    for (value, times) in seen.iter().enumerate() {
        assert_eq!(times.load(Ordering::Relaxed), 1, "item {value}");
    }
}

#[test]
fn stress_one_thief() {
    stress(1, 4, 300_000, 1);
}

#[test]
fn stress_last_item() {
    stress(1, 1, 300_000, 2);
}

#[test]
fn stress_three_thieves() {
    stress(3, 16, 300_000, 3);
}
