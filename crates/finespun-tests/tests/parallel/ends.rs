//! Each end against std's.

use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet, VecDeque};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::adaptors::LENGTHS;
use crate::common::everywhere;
use finespun::par::prelude::*;
use finespun::prelude::*;

#[test]
fn values() {
    everywhere(|runtime| {
        for n in LENGTHS {
            // With equal ones, to see which is chosen.
            let v: Vec<(u64, usize)> = (0..n).map(|k| (k as u64 * 37 % 1009 / 2, k)).collect();
            let key = |item: &&(u64, usize)| item.0;
            let sum = AtomicU64::new(0);
            runtime.run(v.par_iter().for_each(|x| {
                sum.fetch_add(x.0, Ordering::Relaxed);
            }));
            let want: u64 = v.iter().map(|x| x.0).sum();
            assert_eq!(sum.into_inner(), want);
            assert_eq!(runtime.run(v.par_iter().map(|x| x.0).sum::<u64>()), want);
            assert_eq!(runtime.run(v.par_iter().map(|x| x.0).reduce(|| 0, |a, b| a + b)), want);
            assert_eq!(runtime.run(v.par_iter().map(|x| x.0).reduce_with(|a, b| a + b)), (n > 0).then_some(want));
            let factors = |k: &(u64, usize)| std::num::Wrapping(k.0 | 1);
            assert_eq!(
                runtime.run(
                    v.par_iter()
                        .map(factors)
                        .map(|x| x.0)
                        .fold(|| 1_u64, u64::wrapping_mul)
                        .reduce(|| 1, u64::wrapping_mul)
                ),
                v.iter().map(factors).product::<std::num::Wrapping<u64>>().0
            );
            assert_eq!(
                runtime.run(v.par_iter().map(factors).product::<std::num::Wrapping<u64>>()),
                v.iter().map(factors).product()
            );
            assert_eq!(
                runtime.run(v.par_iter().filter(|x| x.0 % 2 == 0).count()),
                v.iter().filter(|x| x.0 % 2 == 0).count()
            );
            assert_eq!(runtime.run(v.par_iter().min()), v.iter().min());
            assert_eq!(runtime.run(v.par_iter().max()), v.iter().max());
            assert_eq!(runtime.run(v.par_iter().min_by_key(key)), v.iter().min_by_key(key));
            assert_eq!(runtime.run(v.par_iter().max_by_key(key)), v.iter().max_by_key(key));
            assert_eq!(runtime.run(v.par_iter().min_by(|a, b| a.0.cmp(&b.0))), v.iter().min_by_key(key));
            assert_eq!(runtime.run(v.par_iter().max_by(|a, b| a.0.cmp(&b.0))), v.iter().max_by_key(key));
            let concatenated = v.par_iter().map(|x| x.1.to_string()).reduce(String::new, |a, b| a + &b);
            assert_eq!(runtime.run(concatenated), v.iter().map(|x| x.1.to_string()).collect::<String>());
        }
    });
}

#[test]
fn searches() {
    everywhere(|runtime| {
        for n in LENGTHS {
            let v: Vec<usize> = (0..n).collect();
            for at in [0, 1, n / 2, n.saturating_sub(1), n] {
                assert_eq!(runtime.run(v.par_iter().any(|k| *k == at)), at < n);
                assert_eq!(runtime.run(v.par_iter().all(|k| *k != at)), at >= n);
                assert_eq!(runtime.run(v.par_iter().find_any(|k| **k == at)), v.get(at));
                assert_eq!(runtime.run(v.par_iter().find_first(|k| **k >= at)), v.get(at));
                assert_eq!(runtime.run(v.par_iter().position_first(|k| *k >= at)), (at < n).then_some(at));
                assert_eq!(runtime.run(v.par_iter().position_any(|k| *k == at)), (at < n).then_some(at));
                let half = |k: &usize| (*k >= at).then_some(k / 2);
                assert_eq!(runtime.run(v.par_iter().find_map_first(half)), (at < n).then_some(at / 2));
                let some = runtime.run(v.par_iter().find_map_any(half));
                assert!(some.map_or(at >= n, |half| half >= at / 2));
            }
        }
    });
}

#[test]
fn collections() {
    everywhere(|runtime| {
        for n in LENGTHS {
            let v: Vec<u64> = (0..n as u64).map(|k| k * 7919 % 10_007).collect();
            let w: Vec<u64> = runtime.run(v.par_iter().copied().filter(|x| x % 2 == 1).collect());
            assert_eq!(w, v.iter().copied().filter(|x| x % 2 == 1).collect::<Vec<_>>());
            assert_eq!(runtime.run(v.par_iter().copied().collect::<HashSet<_>>()), v.iter().copied().collect());
            assert_eq!(runtime.run(v.par_iter().copied().collect::<BTreeSet<_>>()), v.iter().copied().collect());
            assert_eq!(
                runtime.run(v.par_iter().copied().collect::<VecDeque<_>>()),
                v.iter().copied().collect::<VecDeque<_>>()
            );
            assert_eq!(runtime.run(v.par_iter().copied().collect::<Box<[_]>>())[..], v[..]);
            assert_eq!(runtime.run(v.par_iter().copied().collect::<Arc<[_]>>())[..], v[..]);
            let heap: BinaryHeap<u64> = runtime.run(v.par_iter().copied().collect());
            assert_eq!(heap.into_sorted_vec(), v.iter().copied().collect::<BinaryHeap<_>>().into_sorted_vec());
            // Of equal keys the last wins.
            let pairs = || v.iter().enumerate().map(|(k, x)| (x / 2, k));
            let par = || v.par_iter().enumerate().map(|(k, x)| (x / 2, k));
            assert_eq!(runtime.run(par().collect::<HashMap<_, _>>()), pairs().collect());
            assert_eq!(runtime.run(par().collect::<BTreeMap<_, _>>()), pairs().collect());
            let text: String = runtime.run(v.par_iter().map(u64::to_string).collect());
            assert_eq!(text, v.iter().map(u64::to_string).collect::<String>());
            let text: String = runtime.run(v.par_iter().map(|x| char::from(b'a' + (x % 26) as u8)).collect());
            assert_eq!(text, v.iter().map(|x| char::from(b'a' + (x % 26) as u8)).collect::<String>());
            let unzipped: (Vec<u64>, BTreeSet<usize>) = runtime.run(par().unzip());
            assert_eq!(unzipped, pairs().unzip());
            let parts: (Vec<u64>, Vec<u64>) = runtime.run(v.par_iter().copied().partition(|x| x % 3 == 0));
            assert_eq!(parts, v.iter().copied().partition(|x| x % 3 == 0));
            let mut extended = vec![1, 2];
            runtime.run(extended.par_extend(v.par_iter().copied()));
            assert_eq!(extended[2..], v);
            let mut reused = vec![5; 100];
            runtime.run(v.par_iter().map(|x| x + 1).collect_into_vec(&mut reused));
            assert_eq!(reused, v.iter().map(|x| x + 1).collect::<Vec<_>>());
            let units: Vec<()> = runtime.run(v.par_iter().map(|_| ()).collect());
            assert_eq!(units.len(), n);
        }
    });
}

/// The first failure in order is the result, on any number of workers.
#[test]
fn failures() {
    everywhere(|runtime| {
        for n in LENGTHS {
            for bad in [0, n / 3, n] {
                let checked = |k: usize| if k >= bad { Err(k) } else { Ok(k as u64) };
                let want: Result<Vec<u64>, usize> = (0..n).map(checked).collect();
                assert_eq!(runtime.run((0..n).into_par_iter().map(checked).collect::<Result<Vec<_>, _>>()), want);
                let odd = (0..n).into_par_iter().filter(|k| k % 2 == 1).map(checked).collect::<Result<Vec<_>, _>>();
                assert_eq!(runtime.run(odd), (0..n).filter(|k| k % 2 == 1).map(checked).collect());
                let set = (0..n).into_par_iter().map(checked).collect::<Result<HashSet<_>, _>>();
                assert_eq!(runtime.run(set), (0..n).map(checked).collect());
                let nested = (0..n).into_par_iter().map(|k| Some(checked(k))).collect::<Option<Result<Vec<_>, _>>>();
                assert_eq!(runtime.run(nested), Some(want.clone()));
                let some = (0..n).into_par_iter().map(|k| checked(k).ok()).collect::<Option<Vec<_>>>();
                assert_eq!(runtime.run(some), want.clone().ok());
                let units = (0..n).into_par_iter().map(|k| checked(k).map(drop)).collect::<Result<(), _>>();
                assert_eq!(runtime.run(units), want.clone().map(drop));
                let each = (0..n).into_par_iter().try_for_each(|k| checked(k).map(drop));
                assert_eq!(runtime.run(each), want.clone().map(drop));
                let flow = (0..n).into_par_iter().try_for_each(|k| match checked(k) {
                    Ok(_) => ControlFlow::Continue(()),
                    Err(k) => ControlFlow::Break(k),
                });
                assert_eq!(runtime.run(flow).break_value(), want.clone().err());
                let sum = (0..n).into_par_iter().map(checked).try_reduce(|| 0, |a, b| Ok(a + b));
                assert_eq!(runtime.run(sum), want.map(|v| v.into_iter().sum()));
            }
            let limited = (0..n as u8 as usize).into_par_iter().map(|k| Some(k as u8));
            let want = (0..n as u8 as usize).map(|k| k as u8).try_fold(0_u8, u8::checked_add);
            assert_eq!(runtime.run(limited.try_reduce(|| 0, u8::checked_add)), want);
        }
    });
}

/// A collection of this program.
struct Longest(String);

impl finespun::par::FromParallelIterator<String> for Longest {
    type Consumer = finespun::par::Gather<String, Longest>;
    fn consumer(_: Option<usize>) -> Self::Consumer {
        finespun::par::Gather::new(|leaves| Longest(leaves.into_iter().flatten().max_by_key(String::len).unwrap()))
    }
}

#[task]
async fn longest(words: &[String]) -> String {
    let Longest(word) = words.par_iter().cloned().collect().await;
    word
}

#[test]
fn a_collection_of_the_program() {
    everywhere(|runtime| {
        let words: Vec<String> = (0..3000).map(|k| "x".repeat(k * 7 % 50)).collect();
        assert_eq!(runtime.run(longest(&words)), "x".repeat(49));
    });
}
