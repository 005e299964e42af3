//! Sorts against std's, with patterns, orders that are none, and panics.

use std::cmp::Ordering;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{self, AtomicUsize};

use crate::common::everywhere;
use finespun::Runtime;
use finespun::par::prelude::*;
use finespun::testing::*;
use proptest::prelude::any;
use proptest::test_runner::{Config, TestRunner};

/// Inputs that sorts have found difficult.
fn patterns(n: usize) -> Vec<(&'static str, Vec<u32>)> {
    let m = n as u32;
    let random = |k: u32| k.wrapping_mul(2_654_435_769).rotate_left(15).wrapping_mul(40_503);
    let of = |f: &dyn Fn(u32) -> u32| (0..m).map(f).collect::<Vec<_>>();
    vec![
        ("random", of(&random)),
        ("ascending", of(&|k| k)),
        ("descending", of(&|k| m - k)),
        ("equal", of(&|_| 7)),
        ("two values", of(&|k| random(k) % 2)),
        ("few values", of(&|k| random(k) % 10)),
        ("not strictly descending", of(&|k| (m - k) / 3)),
        ("organ pipe", of(&|k| k.min(m - k))),
        ("sawtooth", of(&|k| k % 100)),
        ("almost ascending", of(&|k| if k % 97 == 0 { random(k) } else { k })),
        ("ascending, and one at the end", of(&|k| if k == m - 1 { 0 } else { k })),
        ("two runs", of(&|k| k % (m / 2 + 1))),
        ("zigzag", of(&|k| if k % 2 == 0 { k } else { m - k })),
    ]
}

const LENGTHS: [usize; 5] = [0, 2, 100, 8192, 33_000];

#[test]
fn sorts_of_patterns() {
    everywhere(|runtime| {
        for n in LENGTHS {
            for (name, input) in patterns(n) {
                let mut want = input.clone();
                want.sort();
                let mut v = input.clone();
                runtime.run(v.par_sort());
                assert!(v == want, "par_sort of {n} {name}");
                let mut v = input.clone();
                runtime.run(v.par_sort_unstable());
                assert!(v == want, "par_sort_unstable of {n} {name}");
            }
        }
    });
}

#[test]
fn stable_sorts_are_stable() {
    everywhere(|runtime| {
        for n in LENGTHS {
            for (name, input) in patterns(n) {
                if n > 10_000 && name != "few values" {
                    continue;
                }
                let input: Vec<(u32, usize)> = input.into_iter().map(|x| x % 1000).zip(0..).collect();
                let mut want = input.clone();
                want.sort_by_key(|item| item.0);
                let mut v = input.clone();
                runtime.run(v.par_sort_by_key(|item| item.0));
                assert!(v == want, "par_sort_by_key of {n} {name}");
                let mut v = input.clone();
                runtime.run(v.par_sort_by(|a, b| a.0.cmp(&b.0)));
                assert!(v == want, "par_sort_by of {n} {name}");
                let mut v = input.clone();
                runtime.run(v.par_sort_by_cached_key(|item| format!("{:04}", item.0)));
                assert!(v == want, "par_sort_by_cached_key of {n} {name}");
                let mut v = input.clone();
                runtime.run(v.par_sort_unstable_by_key(|item| *item));
                want.sort();
                assert!(v == want, "par_sort_unstable_by_key of {n} {name}");
                runtime.run(v.par_sort_unstable_by(|a, b| b.cmp(a)));
                want.reverse();
                assert!(v == want, "par_sort_unstable_by of {n} {name}");
            }
        }
    });
}

#[test]
fn random_inputs() {
    let runtime = Runtime::builder().workers(3).block_every(3).build().unwrap();
    let mut runner = TestRunner::new(Config { cases: 50, ..Config::default() });
    let inputs = (proptest::collection::vec(any::<u16>(), 0..30_000), 1..5000_u16);
    let checked = runner.run(&inputs, |(input, values)| {
        let strings: Vec<String> = input.iter().map(|x| (x % values).to_string()).collect();
        let mut want = strings.clone();
        want.sort();
        let (mut stable, mut unstable) = (strings.clone(), strings);
        runtime.run(stable.par_sort());
        runtime.run(unstable.par_sort_unstable());
        assert_eq!(stable, want);
        assert_eq!(unstable, want);
        Ok(())
    });
    checked.unwrap();
}

/// After a panic in a comparison, or with an order that is none, the slice has all its items.
#[test]
fn items_survive_panics_and_orders_that_are_none() {
    everywhere(|runtime| {
        let n = 10_007_usize;
        let input = || (0..n).map(|k| (k * 7919 % n).to_string()).collect::<Vec<String>>();
        let complete = |mut v: Vec<String>| {
            let mut want = input();
            want.sort();
            v.sort();
            assert!(v == want, "items are missing or twice there");
        };
        for after in [0, 1000, 30_000, 80_000, 110_000, 125_000] {
            let count = AtomicUsize::new(0);
            let compare = |a: &String, b: &String| {
                if count.fetch_add(1, atomic::Ordering::Relaxed) >= after {
                    resume_unwind(Box::new("comparison"));
                }
                a.cmp(b)
            };
            let mut v = input();
            let _ = catch_unwind(AssertUnwindSafe(|| runtime.run(v.par_sort_by(compare))));
            complete(v);
            count.store(0, atomic::Ordering::Relaxed);
            let mut v = input();
            let _ = catch_unwind(AssertUnwindSafe(|| runtime.run(v.par_sort_unstable_by(compare))));
            complete(v);
        }
        let count = AtomicUsize::new(1);
        let random = |_: &String, _: &String| {
            let random = count.fetch_add(1, atomic::Ordering::Relaxed).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 60;
            if random < 8 { Ordering::Less } else { Ordering::Greater }
        };
        let mut v = input();
        let _ = catch_unwind(AssertUnwindSafe(|| runtime.run(v.par_sort_by(random))));
        complete(v);
        let mut v = input();
        let _ = catch_unwind(AssertUnwindSafe(|| runtime.run(v.par_sort_unstable_by(random))));
        complete(v);
        for always in [Ordering::Less, Ordering::Greater, Ordering::Equal] {
            let mut v = input();
            let _ = catch_unwind(AssertUnwindSafe(|| runtime.run(v.par_sort_by(|_, _| always))));
            let _ = catch_unwind(AssertUnwindSafe(|| runtime.run(v.par_sort_unstable_by(|_, _| always))));
            complete(v);
        }
    });
}

/// The number of comparisons stays O(n log n), for an adversary too (McIlroy's "killer" for quicksort).
#[test]
fn an_adversary_cannot_make_it_quadratic() {
    use std::sync::Mutex;
    let n = 30_000_usize;
    // Values are decided when they are compared: `gas` is greater than all decided ones.
    struct Adversary {
        values: Vec<usize>,
        solid: usize,
        candidate: usize,
        comparisons: usize,
    }
    let adversary = Mutex::new(Adversary { values: vec![n; n], solid: 0, candidate: 0, comparisons: 0 });
    let less = |a: &usize, b: &usize| {
        let mut state = adversary.lock().unwrap();
        let (a, b) = (*a, *b);
        state.comparisons += 1;
        if state.values[a] == n && state.values[b] == n {
            let freeze = if a == state.candidate { a } else { b };
            state.values[freeze] = state.solid;
            state.solid += 1;
        }
        if state.values[a] == n {
            state.candidate = a;
        } else if state.values[b] == n {
            state.candidate = b;
        }
        state.values[a].cmp(&state.values[b])
    };
    let runtime = Runtime::builder().workers(1).build().unwrap();
    let mut v: Vec<usize> = (0..n).collect();
    runtime.run(v.par_sort_unstable_by(less));
    let state = adversary.into_inner().unwrap();
    assert!(v.is_sorted_by_key(|k| state.values[*k]));
    assert!(state.comparisons < 60 * n * 15, "{} comparisons", state.comparisons);
}

#[test]
fn items_of_size_0() {
    everywhere(|runtime| {
        let mut v = [(); 100_000];
        runtime.run(v.par_sort());
        runtime.run(v.par_sort_unstable());
        assert_eq!(v.len(), 100_000);
    });
}
