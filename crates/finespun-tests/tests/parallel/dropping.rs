//! Items are dropped once each: after panics, failures and early ends too.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::common::everywhere;
use finespun::par::prelude::*;

/// Counts the values of each number that exist: made, minus dropped.
struct Counters(Vec<AtomicUsize>);

impl Counters {
    fn new(n: usize) -> Counters {
        Counters((0..n).map(|_| AtomicUsize::new(0)).collect())
    }

    fn make(&self, number: usize) -> Item<'_> {
        self.0[number].fetch_add(1, Ordering::Relaxed);
        Item { counters: self, number }
    }

    fn all(&self) -> Vec<Item<'_>> {
        (0..self.0.len()).map(|number| self.make(number)).collect()
    }

    #[track_caller]
    fn none_left(&self) {
        let left = self.0.iter().map(|count| count.load(Ordering::Relaxed)).find(|count| *count != 0);
        assert_eq!(left, None, "values of one number left");
    }
}

struct Item<'a> {
    counters: &'a Counters,
    number: usize,
}

impl Drop for Item<'_> {
    fn drop(&mut self) {
        // Underflows if it is dropped twice.
        let before = self.counters.0[self.number].fetch_sub(1, Ordering::Relaxed);
        assert!(before > 0 && before < 1000, "dropped twice");
    }
}

const N: usize = 3001;

#[test]
fn all_items_are_dropped() {
    everywhere(|runtime| {
        let counters = Counters::new(N);
        runtime.run(counters.all().into_par_iter().for_each(drop));
        counters.none_left();
        runtime.run(counters.all().into_par_iter().take(100).skip(7).for_each(drop));
        counters.none_left();
        runtime.run(counters.all().into_par_iter().step_by(3).rev().for_each(drop));
        counters.none_left();
        runtime.run(counters.all().into_par_iter().zip(0..N / 2).filter(|(_, k)| k % 2 == 0).count());
        counters.none_left();
        runtime.run(counters.all().into_par_iter().chunks(17).filter(|chunk| chunk.len() < 17).count());
        counters.none_left();
        assert!(runtime.run(counters.all().into_par_iter().any(|item| item.number == 1000)));
        counters.none_left();
        let found = runtime.run(counters.all().into_par_iter().find_any(|item| item.number % 1000 == 999));
        assert!(found.is_some());
        drop(found);
        counters.none_left();
        // Dropped unused.
        drop(counters.all().into_par_iter().map(|item| item.number).sum::<usize>());
        counters.none_left();
        let collected = runtime.run(counters.all().into_par_iter().rev().collect::<Vec<_>>());
        assert!(collected.iter().rev().enumerate().all(|(k, item)| item.number == k));
        drop(collected);
        counters.none_left();
    });
}

#[test]
fn panics_leak_nothing() {
    everywhere(|runtime| {
        let counters = Counters::new(N);
        for bad in [0, 1, 500, N - 1] {
            let check = |item: &Item| {
                if item.number == bad {
                    resume_unwind(Box::new("bad"));
                }
            };
            macro_rules! panics {
                ($end:expr) => {
                    let end = $end;
                    assert!(catch_unwind(AssertUnwindSafe(|| runtime.run(end))).is_err(), "{}", stringify!($end));
                    counters.none_left();
                };
            }
            let items = || counters.all().into_par_iter();
            panics!(items().inspect(check).for_each(drop));
            panics!(items().inspect(check).collect::<Vec<_>>());
            panics!((0..N).into_par_iter().map(|k| counters.make(k)).inspect(check).collect::<Vec<_>>());
            panics!(items().rev().inspect(check).collect::<Vec<_>>());
            panics!(items().filter(|_| true).inspect(check).collect::<Vec<_>>());
            panics!(items().inspect(check).map(Ok::<_, ()>).collect::<Result<Vec<_>, _>>());
            panics!(items().inspect(check).chunks(7).collect::<Vec<_>>());
            panics!(
                items()
                    .inspect(check)
                    .fold(Vec::new, |mut all, item| {
                        all.push(item);
                        all
                    })
                    .collect::<Vec<_>>()
            );
            panics!(items().inspect(check).map(|item| (item, ())).unzip::<_, _, Vec<_>, Vec<_>>());
            panics!(items().inspect(check).reduce_with(|a, b| if a.number % 2 == 0 { a } else { b }));
            panics!(items().zip(items()).inspect(|(a, _)| check(a)).collect::<Vec<_>>());
        }
    });
}

#[test]
fn failures_leak_nothing() {
    everywhere(|runtime| {
        let counters = Counters::new(N);
        for bad in [0, 1, 500, N - 1] {
            let items = || counters.all().into_par_iter();
            let result = runtime.run(
                items()
                    .map(|item| if item.number == bad { Err(item) } else { Ok(item) })
                    .collect::<Result<Vec<_>, _>>(),
            );
            assert!(result.is_err_and(|item| item.number == bad));
            counters.none_left();
            let result = runtime.run(
                items()
                    .filter(|item| item.number % 7 != 3)
                    .map(|item| (item.number != bad).then_some(item))
                    .collect::<Option<Vec<_>>>(),
            );
            assert_eq!(result.is_none(), bad % 7 != 3);
            drop(result);
            counters.none_left();
            let result = runtime.run(items().try_for_each(|item| if item.number == bad { Err(item) } else { Ok(()) }));
            assert!(result.is_err_and(|item| item.number == bad));
            counters.none_left();
        }
    });
}

/// The destructor of an item panics: the others are dropped all the same.
#[test]
fn a_destructor_that_panics() {
    struct Bomb<'a>(Item<'a>);
    impl Drop for Bomb<'_> {
        fn drop(&mut self) {
            if self.0.number == 1234 {
                resume_unwind(Box::new("destructor"));
            }
        }
    }
    everywhere(|runtime| {
        let counters = Counters::new(N);
        let bombs = || counters.all().into_iter().map(Bomb).collect::<Vec<_>>().into_par_iter();
        assert!(catch_unwind(AssertUnwindSafe(|| runtime.run(bombs().for_each(drop)))).is_err());
        counters.none_left();
        assert!(catch_unwind(AssertUnwindSafe(|| runtime.run(bombs().take(5).for_each(drop)))).is_err());
        counters.none_left();
        // The panic comes from the rest of the source, after the first items have been collected.
        let first = || runtime.run(bombs().take(5).collect::<Vec<_>>());
        assert!(catch_unwind(AssertUnwindSafe(|| drop(first()))).is_err());
        counters.none_left();
    });
}
