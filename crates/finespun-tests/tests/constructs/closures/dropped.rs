//! Dropped values: arguments are destroyed once, and the end of the computation is detected.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use finespun::closure::{
    Closure, Cont, Conts, Vector, make_closure, post, send_argument, tail_call, thread, top, top_of,
};
use finespun::prelude::*;
use finespun::testing::*;

use super::{Counted, add_all, add_one, fib_fork, fib_sum, hold, keep_waiting, panics};
use crate::common::{everywhere, plain_fib, within_a_minute};

#[test]
fn arguments_are_destroyed_once_whatever_is_missing() {
    let alive = Arc::new(AtomicU64::new(0));
    everywhere(|runtime| {
        // Each bit of `dropped` drops one hole: `sent`, two of the array, one of the vector's three. If all are sent,
        // the closure runs.
        for dropped in 0..16u32 {
            let made = top(|k| {
                let k1 = make_closure!(hold, k, Counted::new(&alive), _, _[4], _[3]);
                let is_dropped = |bit: u32| dropped & (1 << bit) != 0;
                let send = |to: Cont<Counted>, dropped: bool| {
                    if dropped { drop(to) } else { send_argument(Counted::new(&alive), to) }
                };
                send(k1.sent, is_dropped(0));
                for (i, to) in k1.four.enumerate() {
                    send(to, (i == 1 && is_dropped(1)) || (i == 3 && is_dropped(2)));
                }
                for (i, to) in k1.more.enumerate() {
                    send(to, i == 0 && is_dropped(3));
                }
            });
            if dropped == 0 {
                assert_eq!(runtime.run(made), 9);
            } else {
                let first = ["sent", "four", "four", "more[0]"][dropped.trailing_zeros() as usize];
                let text = panics(|| {
                    runtime.run(made);
                });
                assert!(text.contains(&format!("the argument `{first}` of `hold` was dropped unsent")), "{text}");
            }
            assert_eq!(alive.load(Relaxed), 0, "dropped {dropped:04b}");
        }
    });
}

#[test]
fn an_unposted_closure_destroys_the_closures_that_wait_for_it() {
    everywhere(|runtime| {
        let text = panics(|| {
            runtime.run(top(|k| {
                let k1 = make_closure!(fib_sum, k, _, _);
                let unposted: Closure<fib_fork> = make_closure!(fib_fork, k1.x, 3);
                drop(unposted);
                post(make_closure!(fib_fork, k1.y, 3));
            }));
        });
        assert!(text.contains("the argument `x` of `fib_sum` was dropped unsent"), "{text}");
        let text = panics(|| {
            runtime.run(top(drop::<Cont<u64>>));
        });
        assert!(text.contains("the argument `result[0]` of `top` was dropped unsent"), "{text}");
    });
}

#[test]
fn a_long_chain_is_destroyed_without_recursion() {
    #[thread]
    fn drop_at_the_end(parent: Cont<u64>, n: u64) {
        if n > 0 {
            let next = make_closure!(add_one, parent, _);
            tail_call!(drop_at_the_end, next.x, n - 1);
        }
    }
    within_a_minute(|| {
        let runtime = Runtime::builder().workers(2).build().unwrap();
        let text = panics(|| {
            runtime.run(top(|k| post(make_closure!(drop_at_the_end, k, 1_000_000))));
        });
        assert!(text.contains("the argument `x` of `add_one`"), "{text}");
        assert_eq!(runtime.close(), 0);
    });
}

#[thread]
fn panic_at(parent: Cont<u64>, n: u64, at: u64) {
    assert_ne!(n, at, "just here");
    if n < 2 {
        return send_argument(n, parent);
    }
    let k1 = make_closure!(fib_sum, parent, _, _);
    post(make_closure!(panic_at, k1.x, n - 1, at));
    tail_call!(panic_at, k1.y, n - 2, at);
}

#[test]
fn a_panic_reaches_the_caller_after_all_closures_have_ended() {
    everywhere(|runtime| {
        for at in [0, 1, 5, 12] {
            let text = panics(|| {
                runtime.run(top(|k| post(make_closure!(panic_at, k, 12, at))));
            });
            assert!(text.contains("just here"), "{text}");
        }
        let text = panics(|| {
            runtime.run(top(|_: Cont<u64>| panic!("in the body")));
        });
        assert!(text.contains("in the body"), "{text}");
        assert_eq!(runtime.run(top(|k| post(make_closure!(panic_at, k, 12, 99)))), plain_fib(12));
    });
}

#[test]
fn iterators_that_panic_or_report_a_wrong_length_leak_nothing() {
    let alive = Arc::new(AtomicU64::new(0));
    #[thread]
    fn never(_parent: Cont<u64>, _given: Counted, _more: Vector<Counted>) {
        unreachable!("its closure is not made");
    }
    everywhere(|runtime| {
        let text = panics(|| {
            let give = |i| if i == 2 { panic!("the third") } else { Counted::new(&alive) };
            runtime.run(top(|k| post(make_closure!(never, k, Counted::new(&alive), (0..3).map(give)))));
        });
        assert!(text.contains("the third"), "{text}");
        struct Liar(Arc<AtomicU64>, usize);
        impl Iterator for Liar {
            type Item = Counted;
            fn next(&mut self) -> Option<Counted> {
                self.1 = self.1.checked_sub(1)?;
                Some(Counted::new(&self.0))
            }
            fn size_hint(&self) -> (usize, Option<usize>) {
                (5, Some(5))
            }
        }
        impl ExactSizeIterator for Liar {}
        let text = panics(|| {
            runtime.run(top(|k| post(make_closure!(never, k, Counted::new(&alive), Liar(Arc::clone(&alive), 3)))));
        });
        assert!(text.contains("an iterator of 5 elements gave 3 only"), "{text}");
        assert_eq!(alive.load(Relaxed), 0);
    });
}

/// An iterator that reports one element when first asked, and more afterwards.
struct Changing(std::cell::Cell<usize>, usize);

impl Iterator for Changing {
    type Item = u64;
    fn next(&mut self) -> Option<u64> {
        self.1 = self.1.checked_sub(1)?;
        Some(1)
    }
    fn size_hint(&self) -> (usize, Option<usize>) {
        let said = self.0.replace(200_000);
        (said, Some(said))
    }
}
impl ExactSizeIterator for Changing {}

#[test]
fn an_iterators_length_is_requested_once() {
    everywhere(|runtime| {
        let sum = top(|k| post(make_closure!(add_all, k, 2, Changing(std::cell::Cell::new(1), 3))));
        assert_eq!(runtime.run(sum), 2);
    });
}

#[thread]
fn with_many_signals(to: Cont<u64>, text: String, signals: Vector<()>) {
    send_argument((text.len() + signals.len()) as u64, to);
}

#[thread]
fn with_three(to: Cont<u64>, three: [u64; 3]) {
    send_argument(three.iter().sum(), to);
}

#[test]
fn too_many_missing_arguments_and_wrong_lengths_are_refused() {
    everywhere(|runtime| {
        for n in [u32::MAX as usize, usize::MAX] {
            let text = panics(|| {
                runtime.run(top(|k| drop(make_closure!(with_many_signals, k, _, _[n]).text)));
            });
            assert!(text.contains("misses more than 2^32 - 1 arguments"), "{text}");
        }
        let text = panics(|| {
            runtime.run(top(|k| drop(make_closure!(with_three, k, _[4]))));
        });
        assert!(text.contains("as long as the array"), "{text}");
    });
}

/// A type of size zero, aligned to a cache line.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Line;

#[repr(align(64))]
struct Wide(u64);

#[thread]
fn aligned(to: Cont<usize>, empty: Vector<Wide>) {
    send_argument(empty.as_ptr().addr() % 64 + empty.iter().map(|wide| wide.0 as usize).sum::<usize>(), to);
}

#[thread]
fn aligned_to_nothing(to: Cont<usize>, line: Line, lines: Vector<Line>) {
    let all = lines.iter().chain([&line]).map(|line| std::ptr::from_ref(line).addr() % 64);
    send_argument(all.sum(), to);
}

#[test]
fn vectors_are_aligned() {
    everywhere(|runtime| {
        let zero = top(|k| post(make_closure!(aligned, k, [])));
        assert_eq!(runtime.run(zero), 0);
        assert_eq!(runtime.run(top(|k| post(make_closure!(aligned, k, [Wide(3), Wide(4)])))), 7);
        for n in [0, 1, 5] {
            let lines = top(|k| post(make_closure!(aligned_to_nothing, k, Line, std::iter::repeat_n(Line, n))));
            assert_eq!(runtime.run(lines), 0);
        }
    });
}

/// A value whose destructor panics.
struct Bomb(#[expect(dead_code, reason = "what has no size shares its place with the signal")] u8);

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("a destructor");
    }
}

#[thread]
fn with_a_bomb(bomb: Bomb, signal: (), to: Cont<u64>, x: u64, more: Vector<Counted>) {
    std::mem::forget((bomb, signal));
    send_argument(x + more.len() as u64, to);
}

#[test]
fn arguments_beside_a_bomb_or_a_signal_are_destroyed() {
    let alive = Arc::new(AtomicU64::new(0));
    everywhere(|runtime| {
        for signal in [false, true] {
            let text = panics(|| {
                runtime.run(top(|k| {
                    let more = [(); 3].map(|()| Counted::new(&alive));
                    let closure = make_closure!(with_a_bomb, Bomb(0), _, k, _, more);
                    if signal {
                        drop(closure.signal);
                        send_argument(1, closure.x);
                    } else {
                        send_argument((), closure.signal);
                        drop(closure.x);
                    }
                }));
            });
            let name = if signal { "signal" } else { "x" };
            assert!(text.contains(&format!("the argument `{name}` of `with_a_bomb`")), "{text}");
            assert_eq!(alive.load(Relaxed), 0);
        }
    });
}

#[test]
fn continuations_are_destroyed_with_their_thread() {
    thread_local! {
        static KEPT: std::cell::RefCell<Option<Cont<u64>>> = const { std::cell::RefCell::new(None) };
    }
    let runtime = Runtime::builder().workers(1).build().unwrap();
    let alive = Arc::new(AtomicU64::new(0));
    let (kept, keep) = std::sync::mpsc::channel();
    runtime.run(top(|k| {
        kept.send(make_closure!(keep_waiting, _, Counted::new(&alive)).never).unwrap();
        send_argument((), k);
    }));
    let thread = std::thread::spawn(move || KEPT.set(Some(keep.recv().unwrap())));
    thread.join().unwrap();
    assert_eq!(alive.load(Relaxed), 0);
}

#[thread]
fn greet(to: Cont<usize>, name: &'static str, more: Option<&'static str>) {
    send_argument(name.len() + more.map_or(0, str::len), to);
}

#[test]
fn static_references_may_be_arguments() {
    let runtime = Runtime::builder().workers(1).build().unwrap();
    assert_eq!(runtime.run(top(|k| post(make_closure!(greet, k, "you", Some("all"))))), 6);
}

#[thread]
fn set(to: Cont<()>, flag: Arc<AtomicU64>) {
    flag.store(1, Relaxed);
    send_argument((), to);
}

#[thread]
fn again_until(to: Cont<()>, flag: Arc<AtomicU64>) {
    if flag.load(Relaxed) == 1 {
        return send_argument((), to);
    }
    post(make_closure!(again_until, to, flag));
}

#[test]
fn closures_below_others_in_the_deque_get_their_turn() {
    within_a_minute(|| {
        for workers in [1, 2] {
            let runtime = Runtime::builder().workers(workers).build().unwrap();
            let flag = Arc::new(AtomicU64::new(0));
            runtime.run(top_of(2, |mut ends| {
                let (first, second) = (ends.next().unwrap(), ends.next().unwrap());
                post(make_closure!(set, first, Arc::clone(&flag)));
                post(make_closure!(again_until, second, flag));
            }));
        }
    });
}

#[test]
fn dropping_many_holes_is_fast() {
    within_a_minute(|| {
        let runtime = Runtime::builder().workers(1).build().unwrap();
        let text = panics(|| {
            // Drops the second half, from the end.
            runtime.run(top_of(200_000, |results: Conts<u64>| {
                let mut all: Vec<Cont<u64>> = results.collect();
                drop(all.split_off(100_000));
                all.into_iter().for_each(|to| send_argument(1, to));
            }));
        });
        assert!(text.contains("the argument `result["), "{text}");
    });
}
