//! Each source and adaptor against std's.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, LinkedList, VecDeque};

use crate::common::everywhere;
use finespun::par::prelude::*;
use finespun::prelude::*;
use finespun::testing::*;
use proptest::prelude::any;
use proptest::test_runner::{Config, TestRunner};

/// Lengths around those at which the shape of the tree changes, and primes.
pub const LENGTHS: [usize; 6] = [0, 1, 2, 129, 1000, 8209];

/// Compares a parallel pipeline with the same sequential one, collected.
macro_rules! same {
    ($runtime:expr, $par:expr, $seq:expr) => {
        let (par, seq): (Vec<_>, Vec<_>) = ($runtime.run($par.collect::<Vec<_>>()), $seq.collect());
        assert!(par == seq, "{}: {} and {} items", stringify!($par), par.len(), seq.len());
    };
}

fn numbers(n: usize) -> Vec<u64> {
    (0..n as u64).map(|k| k.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20).collect()
}

#[test]
fn adaptors_of_slices() {
    everywhere(|runtime| {
        for n in LENGTHS {
            let v = numbers(n);
            same!(runtime, v.par_iter(), v.iter());
            same!(runtime, v.par_iter().map(|x| x + 1), v.iter().map(|x| x + 1));
            same!(runtime, v.par_iter().copied().filter(|x| x % 3 == 0), v.iter().copied().filter(|x| x % 3 == 0));
            same!(
                runtime,
                v.par_iter().cloned().filter_map(|x| (x % 2 == 0).then_some(x / 2)),
                v.iter().cloned().filter_map(|x| (x % 2 == 0).then_some(x / 2))
            );
            same!(runtime, v.par_iter().flat_map_iter(|x| 0..x % 4), v.iter().flat_map(|x| 0..x % 4));
            same!(runtime, v.par_iter().map(|x| 0..x % 4).flatten_iter(), v.iter().flat_map(|x| 0..x % 4));
            same!(runtime, v.par_iter().rev(), v.iter().rev());
            same!(runtime, v.par_iter().enumerate(), v.iter().enumerate());
            same!(runtime, v.par_iter().rev().enumerate().rev(), v.iter().rev().enumerate().rev());
            same!(runtime, v.par_iter().update(|x| *x = &5).inspect(|x| assert_eq!(**x, 5)), v.iter().map(|_| &5));
            for k in [1, 2, 3, 500, usize::MAX] {
                same!(runtime, v.par_iter().take(k), v.iter().take(k));
                same!(runtime, v.par_iter().skip(k), v.iter().skip(k));
                same!(runtime, v.par_iter().skip(k).rev(), v.iter().skip(k).rev());
                same!(runtime, v.par_iter().take(k).rev(), v.iter().take(k).rev());
                same!(runtime, v.par_iter().step_by(k), v.iter().step_by(k));
                same!(runtime, v.par_chunks(k), v.chunks(k));
                same!(runtime, v.par_chunks(k).rev(), v.chunks(k).rev());
                same!(runtime, v.par_chunks_exact(k), v.chunks_exact(k));
                same!(runtime, v.par_windows(k), v.windows(k));
                same!(runtime, v.par_windows(k).rev(), v.windows(k).rev());
                same!(runtime, v.par_iter().copied().chunks(k), v.chunks(k).map(<[u64]>::to_vec));
                same!(runtime, v.par_iter().copied().chunks(k).rev(), v.chunks(k).map(<[u64]>::to_vec).rev());
                same!(runtime, v.par_iter().with_max_len(k), v.iter());
                same!(runtime, v.par_iter().with_min_len(k).map(|x| x * 3), v.iter().map(|x| x * 3));
            }
        }
    });
}

#[test]
fn adaptors_of_several_iterators() {
    everywhere(|runtime| {
        for n in LENGTHS {
            let (v, w) = (numbers(n), numbers(1000));
            same!(runtime, v.par_iter().zip(&w), v.iter().zip(&w));
            same!(runtime, v.par_iter().zip(0..n).rev(), v.iter().zip(0..n).rev());
            same!(runtime, v.par_iter().zip_eq(&v), v.iter().zip(&v));
            same!(runtime, v.par_iter().chain(&w), v.iter().chain(&w));
            same!(runtime, v.par_iter().chain(&w).rev().skip(1), v.iter().chain(&w).rev().skip(1));
            same!(
                runtime,
                v.par_iter().filter(|x| **x % 2 == 0).chain(w.par_iter()).map(|x| x + 1),
                v.iter().filter(|x| **x % 2 == 0).chain(w.iter()).map(|x| x + 1)
            );
        }
    });
}

#[test]
fn states_of_leaves() {
    everywhere(|runtime| {
        for n in LENGTHS {
            let numbered = (0..n).into_par_iter().map_init(
                || 0_u64,
                |state, k| {
                    *state += 1;
                    (*state > 0, k)
                },
            );
            same!(runtime, numbered, (0..n).map(|k| (true, k)));
            let with = (0..n).into_par_iter().map_with(vec![7], |state: &mut Vec<i32>, k| (state[0], k));
            same!(runtime, with, (0..n).map(|k| (7, k)));
            let folded = (0..n as u64).into_par_iter().fold(|| 0, |a, b| a + b).sum::<u64>();
            assert_eq!(runtime.run(folded), (0..n as u64).sum());
            let folded = (0..n as u64).into_par_iter().fold_with(Vec::new(), |mut all, k| {
                all.push(k);
                all
            });
            same!(runtime, folded.flatten_iter(), 0..n as u64);
        }
    });
}

#[test]
fn ranges() {
    everywhere(|runtime| {
        same!(runtime, (0..200_u8).into_par_iter(), 0..200_u8);
        same!(runtime, (i8::MIN..i8::MAX).into_par_iter(), i8::MIN..i8::MAX);
        same!(runtime, (i8::MIN..=i8::MAX).into_par_iter().rev(), (i8::MIN..=i8::MAX).rev());
        same!(runtime, (0..=u16::MAX).into_par_iter(), 0..=u16::MAX);
        #[allow(clippy::reversed_empty_ranges, reason = "empty ranges are tested")]
        {
            same!(runtime, (5..3_i32).into_par_iter(), 5..3_i32);
            same!(runtime, (5..=3_i64).into_par_iter(), 5..=3_i64);
        }
        let all = (i64::MIN..i64::MAX).into_par_iter();
        assert_eq!(all.len(), usize::MAX);
        same!(runtime, all.skip(usize::MAX - 3), [i64::MAX - 3, i64::MAX - 2, i64::MAX - 1].into_iter());
        let first = runtime.run((i64::MIN..i64::MAX).into_par_iter().find_first(|k| *k >= i64::MIN + 100_000));
        assert_eq!(first, Some(i64::MIN + 100_000));
    });
    assert!(std::panic::catch_unwind(|| (0..=u64::MAX).into_par_iter()).is_err());
}

#[test]
fn collections() {
    everywhere(|runtime| {
        for n in [0, 1, 1000] {
            let v = numbers(n);
            let mut map: HashMap<u64, u64> = v.iter().map(|x| (*x, 1)).collect();
            let mut tree: BTreeMap<u64, u64> = v.iter().map(|x| (*x, 2)).collect();
            let set: HashSet<u64> = v.iter().copied().collect();
            let ordered: BTreeSet<u64> = v.iter().copied().collect();
            let mut queue: VecDeque<u64> = v.iter().copied().collect();
            let list: LinkedList<u64> = v.iter().copied().collect();
            runtime.run(map.par_iter_mut().for_each(|(key, value)| *value += key));
            runtime.run(tree.par_iter_mut().for_each(|(key, value)| *value += key));
            runtime.run(queue.par_iter_mut().for_each(|x| *x += 1));
            assert!(map.iter().all(|(key, value)| *value == key + 1));
            same!(runtime, map.par_iter(), map.iter());
            same!(runtime, tree.par_iter(), tree.iter());
            same!(runtime, set.par_iter(), set.iter());
            same!(runtime, ordered.par_iter().rev(), ordered.iter().rev());
            same!(runtime, queue.par_iter(), queue.iter());
            same!(runtime, list.par_iter(), list.iter());
            same!(runtime, tree.clone().into_par_iter(), tree.clone().into_iter());
            assert_eq!(runtime.run(map.clone().into_par_iter().collect::<HashMap<_, _>>()), map);
            assert_eq!(runtime.run(set.clone().into_par_iter().collect::<HashSet<_>>()), set);
        }
        same!(runtime, [1, 2, 3].into_par_iter(), [1, 2, 3].into_iter());
        same!(runtime, [1, 2, 3].par_iter(), [1, 2, 3].iter());
        same!(runtime, Some(5).into_par_iter(), Some(5).into_iter());
        let mut array = [1, 2, 3];
        runtime.run(array.par_iter_mut().for_each(|x| *x *= 2));
        assert_eq!(array, [2, 4, 6]);
    });
}

#[test]
fn exclusive_slices() {
    everywhere(|runtime| {
        for n in LENGTHS {
            let (mut v, mut w) = (numbers(n), numbers(n));
            runtime.run(v.par_iter_mut().enumerate().for_each(|(k, x)| *x ^= k as u64));
            w.iter_mut().enumerate().for_each(|(k, x)| *x ^= k as u64);
            assert_eq!(v, w);
            runtime.run(v.par_iter_mut().rev().zip(0..n as u64).for_each(|(x, k)| *x ^= k));
            w.iter_mut().rev().zip(0..n as u64).for_each(|(x, k)| *x ^= k);
            assert_eq!(v, w);
            for k in [1, 7, 1000] {
                runtime.run(v.par_chunks_mut(k).enumerate().for_each(|(k, chunk)| chunk[0] = k as u64));
                w.chunks_mut(k).enumerate().for_each(|(k, chunk)| chunk[0] = k as u64);
                runtime.run(v.par_chunks_exact_mut(k).for_each(<[u64]>::reverse));
                w.chunks_exact_mut(k).for_each(<[u64]>::reverse);
                assert_eq!(v, w);
            }
        }
    });
}

/// A task that uses parallel iterators as rayon's users do: locals are borrowed, types inferred, ends joined.
#[task]
async fn in_a_task(n: u64) -> u64 {
    let squares: Vec<u64> = (0..n).into_par_iter().map(|k| k * k).collect().await;
    let offset = 3;
    let (sum, even, largest) = join!(
        squares.par_iter().map(|x| x + offset).sum::<u64>(),
        squares.par_iter().filter(|x| **x % 2 == 0).count(),
        squares.par_iter().max()
    );
    let mut copy = squares.clone();
    copy.par_iter_mut().for_each(|x| *x += 1).await;
    let mut total: u64 = copy.par_iter().sum().await;
    for round in 0..3 {
        total += squares.par_iter().map(|x| x % (round + 2)).sum::<u64>().await;
    }
    if squares.par_iter().any(|x| *x == 49).await {
        total += 1;
    }
    copy.par_sort_by(|a, b| b.cmp(a)).await;
    total + copy[0] + sum + even as u64 + largest.copied().unwrap_or(0)
}

fn in_a_function(n: u64) -> u64 {
    let squares: Vec<u64> = (0..n).map(|k| k * k).collect();
    let sum = squares.iter().map(|x| x + 3).sum::<u64>();
    let even = squares.iter().filter(|x| **x % 2 == 0).count();
    let mut total: u64 = squares.iter().map(|x| x + 1).sum();
    for round in 0..3 {
        total += squares.iter().map(|x| x % (round + 2)).sum::<u64>();
    }
    let largest = (n - 1) * (n - 1);
    total + u64::from(n > 7) + largest + 1 + sum + even as u64 + largest
}

#[test]
fn tasks_await_and_join_traversals() {
    everywhere(|runtime| {
        for n in [1, 10, 3000] {
            assert_eq!(runtime.run(in_a_task(n)), in_a_function(n));
        }
    });
}

/// A recursion of traversals within tasks.
#[task]
async fn nested(depth: u64) -> u64 {
    if depth == 0 {
        return (0..200_u64).into_par_iter().sum::<u64>().await;
    }
    let (a, b) = join!(nested(depth - 1), (0..depth * 100).into_par_iter().map(|k| k % 7).sum::<u64>());
    a + b
}

#[test]
fn traversals_beside_tasks() {
    let want = (1..=20_u64).map(|depth| (0..depth * 100).map(|k| k % 7).sum::<u64>()).sum::<u64>() + 19_900;
    everywhere(|runtime| assert_eq!(runtime.run(nested(20)), want));
}

#[test]
fn random_pipelines() {
    let runtime = Runtime::builder().workers(3).block_every(5).build().unwrap();
    let mut runner = TestRunner::new(Config { cases: 200, ..Config::default() });
    let input = (0..5000_usize, any::<u16>(), any::<u16>(), 1..70_usize, 1..2000_usize);
    let checked = runner.run(&input, |(n, skip, take, step, leaf)| {
        let v = numbers(n);
        let (skip, take) = (skip as usize % (n + 2), take as usize % (n + 2));
        let par = v.par_iter().with_max_len(leaf).skip(skip).step_by(step).take(take).enumerate().rev();
        let seq = v.iter().skip(skip).step_by(step).take(take).enumerate().collect::<Vec<_>>();
        assert_eq!(runtime.run(par.collect::<Vec<_>>()), seq.into_iter().rev().collect::<Vec<_>>());
        let par = v.par_iter().rev().chunks(step).zip(v.par_windows(leaf)).map(|(a, b)| a[0] ^ b[leaf - 1]);
        let seq = v.rchunks(step).zip(v.windows(leaf)).map(|(a, b)| a[a.len() - 1] ^ b[leaf - 1]);
        assert_eq!(runtime.run(par.collect::<Vec<_>>()), seq.collect::<Vec<_>>());
        let par = v.clone().into_par_iter().chain(v.clone()).filter(|x| x % 3 != 0).map(|x| x.to_string());
        let seq = v.iter().chain(&v).filter(|x| **x % 3 != 0).map(u64::to_string);
        assert_eq!(runtime.run(par.collect::<Vec<_>>()), seq.collect::<Vec<_>>());
        Ok(())
    });
    checked.unwrap();
    assert_eq!(runtime.close(), 0, "frames left");
}
