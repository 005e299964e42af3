//! Loops over iterators that behave as badly as the `Iterator` trait allows.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::common::{everywhere, may_be_forgotten};
use finespun::RunError;
use finespun::prelude::*;

#[task]
async fn nothing() {}

/// An iterator that begins again after its end, which the trait allows.
struct Again {
    next: u64,
    end: u64,
}

impl Iterator for Again {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        self.next = if self.next > self.end { 0 } else { self.next + 1 };
        (self.next <= self.end).then_some(self.next)
    }
}

#[task]
async fn slowly(n: u64) -> u64 {
    nothing().await;
    (0..2000).fold(n, |n, _| std::hint::black_box(n))
}

#[task]
async fn sum(end: u64) -> u64 {
    reduce(Again { next: 0, end }.map(slowly), 0, |a, b| a + b).await
}

#[test]
fn an_iterator_is_not_called_after_its_end() {
    everywhere(|runtime| {
        for end in [0, 1, 2, 300] {
            assert_eq!(runtime.run(sum(end)), end * (end + 1) / 2);
        }
    });
}

#[task]
async fn panics_at(n: u64, at: u64) -> u64 {
    nothing().await;
    if n == at {
        std::panic::resume_unwind(Box::new("the task"));
    }
    n
}

#[task]
async fn two_panics() -> Vec<u64> {
    join_all((0..10).map(|n| {
        if n == 6 {
            std::panic::resume_unwind(Box::new("the iterator"));
        }
        panics_at(n, 3)
    }))
    .await
}

#[test]
fn the_first_panic_in_order_is_thrown() {
    everywhere(|runtime| match runtime.try_run(two_panics()) {
        Err(RunError::Panicked(panic)) => assert_eq!(panic.message(), "the task"),
        other => panic!("{other:?}"),
    });
}

/// Panics in the operator at `at`, and in the task right after it.
#[task]
async fn ordered(at: u64) -> u64 {
    let fold = move |sum: u64, n: u64| {
        if n == at {
            std::panic::resume_unwind(Box::new("the operator"));
        }
        sum + n
    };
    reduce((0..400).map(move |n| slowly_panics_at(n, at + 1)), 0, fold).await
}

#[task]
async fn slowly_panics_at(n: u64, at: u64) -> u64 {
    let a = slowly(n).await;
    panics_at(a, at).await
}

#[test]
fn a_panic_of_the_operator_precedes_those_of_later_tasks() {
    everywhere(|runtime| {
        for at in [0, 7, 150, 399] {
            match runtime.try_run(ordered(at)) {
                Err(RunError::Panicked(panic)) => assert_eq!(panic.message(), "the operator", "at {at}"),
                other => panic!("{other:?}"),
            }
        }
    });
}

#[task]
async fn noted(seen: &Mutex<Vec<(usize, u64)>>, index: usize, n: u64) -> u64 {
    seen.lock().unwrap().push((index, n));
    nothing().await;
    if n == 4 {
        std::panic::resume_unwind(Box::new("four"));
    }
    n
}

#[task]
async fn numbered(seen: &Mutex<Vec<(usize, u64)>>) -> u64 {
    reduce((0..10).enumerate().map(move |(index, n)| noted(seen, index, n)), 0, |a, b| a + b).await
}

#[test]
fn tasks_after_a_panic_get_the_right_index() {
    everywhere(|runtime| {
        let seen = Mutex::new(Vec::new());
        assert!(runtime.try_run(numbered(&seen)).is_err());
        for &(index, n) in &*seen.lock().unwrap() {
            assert_eq!(index as u64, n);
        }
    });
}

/// A pointer that dereferences to two places in turn.
struct Flip {
    calls: AtomicU64,
    places: [Place; 2],
}

struct Place {
    next: Option<u64>,
}

impl std::ops::Deref for Flip {
    type Target = Place;

    fn deref(&self) -> &Place {
        &self.places[self.calls.fetch_add(1, Ordering::SeqCst) as usize % 2]
    }
}

#[task]
async fn follows(flip: &Flip) -> u64 {
    let Some(next) = &flip.next else { return 0 };
    let value = slowly(*next).await;
    value + 100
}

#[test]
fn a_place_behind_deref_may_change() {
    everywhere(|runtime| {
        for first in [0, 1] {
            let places = [Place { next: Some(7) }, Place { next: None }];
            let answer = runtime.run(follows(&Flip { calls: AtomicU64::new(first), places }));
            assert!(answer == 0 || answer == 107, "{answer}");
        }
    });
}

/// A value whose destructor panics if its number is 9.
struct Falls(u64);

impl Drop for Falls {
    fn drop(&mut self) {
        if self.0 == 9 && !std::thread::panicking() {
            let payload = Box::new("a destructor");
            // The payload of a panic while another payload is dropped.
            may_be_forgotten(&*payload);
            std::panic::resume_unwind(payload);
        }
    }
}

#[task]
async fn panics_at_three(n: Falls) -> u64 {
    if n.0 == 2 {
        yield_now().await;
    }
    if n.0 == 3 {
        std::panic::resume_unwind(Box::new("the task"));
    }
    n.0
}

#[task]
async fn falls() -> u64 {
    let tasks: Vec<_> = (0..12).map(|n| panics_at_three(Falls(n))).collect();
    reduce(tasks, 0, |a, b| a + b).await
}

/// Panics in the operator, and later in a task, with a payload whose destructor panics.
#[task]
async fn falls_later() -> u64 {
    let mut left: u64 = 60;
    let fold = move |a: u64, b: u64| {
        left -= 1;
        if left == 0 {
            std::panic::resume_unwind(Box::new("the operator"));
        }
        a + b
    };
    reduce((0..400).map(panics_with_a_destructor), 0, fold).await
}

#[task]
async fn panics_with_a_destructor(n: u64) -> u64 {
    let n: u64 = slowly(n).await;
    if n > 100 {
        std::panic::resume_unwind(Box::new(Falls(9)));
    }
    n
}

#[test]
fn the_first_panic_precedes_panics_of_destructors() {
    everywhere(|runtime| {
        for (task, message) in
            [(runtime.try_run(falls()), "the task"), (runtime.try_run(falls_later()), "the operator")]
        {
            match task {
                Err(RunError::Panicked(panic)) => assert_eq!(panic.message(), message),
                other => panic!("{other:?}"),
            }
        }
    });
}
