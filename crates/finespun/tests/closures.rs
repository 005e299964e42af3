//! Closures by hand: holes, vectors, ends, and that nothing is lost or run twice.

mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use common::{everywhere, plain_fib, within_a_minute};
use finespun::closure::{
    Closure, Cont, Conts, Thread, Vector, make_closure, post, send_argument, tail_call, thread, top, top_of,
};
use finespun::prelude::*;

#[thread]
fn fib_fork(parent: Cont<u64>, n: u64) {
    if n < 2 {
        send_argument(n, parent);
    } else {
        let k1 = make_closure!(fib_sum, parent, _, _);
        let s1 = make_closure!(fib_fork, k1.x, n - 1);
        let s2 = make_closure!(fib_fork, k1.y, n - 2);
        post(s1);
        post(s2);
    }
}

#[thread]
fn fib_sum(parent: Cont<u64>, x: u64, y: u64) {
    send_argument(x + y, parent);
}

/// The same with a tail call.
#[thread]
fn fib_tail(parent: Cont<u64>, n: u64) {
    if n < 2 {
        send_argument(n, parent);
    } else {
        let k1 = make_closure!(fib_sum, parent, _, _);
        post(make_closure!(fib_tail, k1.x, n - 1));
        tail_call!(fib_tail, k1.y, n - 2);
    }
}

/// The same with closures that are posted when they are made.
#[thread(post)]
fn fib_posted(parent: Cont<u64>, n: u64) {
    if n < 2 {
        send_argument(n, parent);
    } else {
        let k1 = make_closure!(fib_sum, parent, _, _);
        make_closure!(fib_posted, k1.x, n - 1);
        make_closure!(fib_posted, k1.y, n - 2);
    }
}

#[test]
fn fib_three_ways() {
    everywhere(|runtime| {
        assert_eq!(runtime.run(top(|k| post(make_closure!(fib_fork, k, 15)))), plain_fib(15));
        assert_eq!(runtime.run(top(|k| post(make_closure!(fib_tail, k, 15)))), plain_fib(15));
        assert_eq!(runtime.run(top(|k| make_closure!(fib_posted, k, 15))), plain_fib(15));
        // A tail call in the body: there is no thread yet, but a computation.
        assert_eq!(runtime.run(top(|k| tail_call!(fib_tail, k, 12))), plain_fib(12));
    });
}

#[thread]
fn square(to: Cont<u64>, n: u64) {
    send_argument(n * n, to);
}

#[test]
fn any_number_of_results_in_order() {
    everywhere(|runtime| {
        for n in [0, 1, 2, 100] {
            let squares = top_of(n, |ks: Conts<u64>| {
                assert_eq!(ks.len(), n);
                ks.zip(0..).for_each(|(k, i)| post(make_closure!(square, k, i)));
            });
            let expected: Vec<u64> = (0..n as u64).map(|i| i * i).collect();
            assert_eq!(runtime.run(squares), expected);
        }
    });
}

#[task]
async fn two_at_once(n: u64) -> (u64, u64) {
    join!(top(move |k| post(make_closure!(fib_fork, k, n))), top(move |k| post(make_closure!(fib_tail, k, n + 1))))
}

#[test]
fn computations_are_tasks() {
    everywhere(|runtime| assert_eq!(runtime.run(two_at_once(10)), (plain_fib(10), plain_fib(11))));
}

// Vectors.

#[thread]
fn add_all(parent: Cont<u64>, scale: u64, values: Vector<u64>) {
    send_argument(values.iter().sum::<u64>() * scale, parent);
}

#[thread]
fn add_four(parent: Cont<u64>, values: [u64; 4], scale: u64) {
    send_argument(values.iter().sum::<u64>() * scale, parent);
}

#[thread]
fn give(to: Cont<u64>, value: u64) {
    send_argument(value, to);
}

#[test]
fn vectors_with_elements() {
    everywhere(|runtime| {
        for n in [0, 1, 3, 200, 5000] {
            let expected = (0..n).sum::<u64>() * 2;
            assert_eq!(runtime.run(top(|k| post(make_closure!(add_all, k, 2, Vec::from_iter(0..n))))), expected);
            let written = top(|k| {
                let mut closure = make_closure!(add_all, k, 2, std::iter::repeat_n(0, n as usize));
                closure.vector().iter_mut().zip(0..).for_each(|(element, i)| *element = i);
                post(closure);
            });
            assert_eq!(runtime.run(written), expected);
            assert_eq!(runtime.run(top(|k| tail_call!(add_all, k, 2, Vec::from_iter(0..n)))), expected);
        }
        assert_eq!(runtime.run(top(|k| post(make_closure!(add_four, k, [1, 2, 3, 4], 10)))), 100);
    });
}

#[test]
fn vectors_whose_elements_are_missing() {
    everywhere(|runtime| {
        for n in [0, 1, 3, 100, 3000] {
            let expected = (0..n as u64).sum::<u64>() * 3;
            let sums = top(|k| {
                // Without elements, nothing is missing: it is posted at once.
                let sum = make_closure!(add_all, k, 3, _[n]);
                sum.values.zip(0..).for_each(|(to, i)| post(make_closure!(give, to, i)));
            });
            assert_eq!(runtime.run(sums), expected);
            let both = top(|k| {
                let sum = make_closure!(add_all, k, _, _[n]);
                sum.values.zip(0..).for_each(|(to, i)| post(make_closure!(give, to, i)));
                post(make_closure!(give, sum.scale, 3));
            });
            assert_eq!(runtime.run(both), expected);
        }
        let four = top(|k| {
            let sum = make_closure!(add_four, k, _[4], _);
            sum.values.zip(1..).for_each(|(to, i)| post(make_closure!(give, to, i)));
            tail_call!(give, sum.scale, 10);
        });
        assert_eq!(runtime.run(four), 100);
        // The whole array as one argument.
        let whole = top(|k| {
            let sum = make_closure!(add_four, k, _, 10);
            send_argument([1, 2, 3, 4], sum.values);
        });
        assert_eq!(runtime.run(whole), 100);
    });
}

/// Hands its vector on, without its last element, until none is left.
#[thread]
fn count_down(parent: Cont<u64>, sum: u64, mut values: Vector<u64>) {
    let Some(last) = values.last().copied() else { return send_argument(sum, parent) };
    if last == 0 {
        return send_argument(sum, parent);
    }
    *values.last_mut().unwrap() -= 1;
    tail_call!(count_down, parent, sum + last, values);
}

#[test]
fn tail_calls_do_not_grow_the_stack() {
    within_a_minute(|| {
        for workers in [1, 2] {
            let runtime = Runtime::builder().workers(workers).build().unwrap();
            let n = 3_000_000;
            assert_eq!(runtime.run(top(|k| post(make_closure!(count_down, k, 0, [7, n])))), n * (n + 1) / 2);
        }
    });
}

#[thread]
fn chain(parent: Cont<u64>, n: u64) {
    if n == 0 {
        return send_argument(0, parent);
    }
    let next = make_closure!(add_one, parent, _);
    tail_call!(chain, next.x, n - 1);
}

#[thread]
fn add_one(parent: Cont<u64>, x: u64) {
    send_argument(x + 1, parent);
}

#[test]
fn a_chain_of_a_million_closures() {
    within_a_minute(|| {
        for workers in [1, 3] {
            let runtime = Runtime::builder().workers(workers).build().unwrap();
            assert_eq!(runtime.run(top(|k| post(make_closure!(chain, k, 1_000_000)))), 1_000_000);
            assert_eq!(runtime.close(), 0);
        }
    });
}

// What is dropped.

/// Counts how many of it are alive.
struct Counted(Arc<AtomicU64>);

impl Counted {
    fn new(alive: &Arc<AtomicU64>) -> Counted {
        alive.fetch_add(1, Relaxed);
        Counted(Arc::clone(alive))
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Relaxed);
    }
}

#[thread]
fn hold(parent: Cont<u64>, given: Counted, sent: Counted, four: [Counted; 4], more: Vector<Counted>) {
    let held = [&given, &sent].len() + four.len() + more.len();
    send_argument(held as u64, parent);
}

/// The message of what `body` panics with.
fn panics(body: impl FnOnce()) -> String {
    let payload = std::panic::catch_unwind(std::panic::AssertUnwindSafe(body)).expect_err("it panics");
    let text = payload.downcast_ref::<String>().cloned();
    text.or_else(|| payload.downcast_ref::<&str>().map(|s| s.to_string())).expect("a panic with a text")
}

#[test]
fn arguments_are_destroyed_once_whatever_is_missing() {
    let alive = Arc::new(AtomicU64::new(0));
    everywhere(|runtime| {
        // Bit by bit: the hole for one value, two of the array's, one of the vector's three. All sent, the closure runs.
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
fn a_closure_that_is_not_posted_destroys_what_waits_for_it() {
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
fn a_panic_reaches_the_caller_after_all_have_ended() {
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
fn an_iterator_that_panics_or_lies_loses_nothing() {
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

/// Says that it has one element, and then more.
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
fn a_length_is_asked_once() {
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
fn more_than_can_be_counted_and_lengths_that_do_not_fit_are_refused() {
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

/// Of no size, and aligned to a line.
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

/// Panics when it is destroyed.
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
fn what_is_destroyed_beside_a_bomb_or_a_signal() {
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
fn what_lives_for_ever_is_an_argument() {
    let runtime = Runtime::builder().workers(1).build().unwrap();
    assert_eq!(runtime.run(top(|k| post(make_closure!(greet, k, "you", Some("all"))))), 6);
    let migrates = <greet as Thread>::MIGRATES;
    assert!(!migrates);
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
fn closures_beneath_others_get_their_turn() {
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
fn many_given_up_holes_take_no_time() {
    within_a_minute(|| {
        let runtime = Runtime::builder().workers(1).build().unwrap();
        let text = panics(|| {
            // Half of them, from the end.
            runtime.run(top_of(200_000, |results: Conts<u64>| {
                let mut all: Vec<Cont<u64>> = results.collect();
                drop(all.split_off(100_000));
                all.into_iter().for_each(|to| send_argument(1, to));
            }));
        });
        assert!(text.contains("the argument `result["), "{text}");
    });
}

// Outside.

#[test]
fn closures_are_made_within_a_computation() {
    let text = panics(|| drop(make_closure!(square, unreachable(), 1)));
    assert!(text.contains("outside a computation"), "{text}");
    let runtime = Runtime::builder().workers(1).build().unwrap();
    let text = panics(|| {
        runtime.run(top(|k| post(make_closure!(read_shared, k, 1))).sharing(Arc::new(1_u32)));
    });
    assert!(text.contains("the thread `read_shared` reads a `u64`, which its computation does not share"), "{text}");

    /// A continuation, of a computation that is over.
    fn unreachable() -> Cont<u64> {
        let (kept, keep) = std::sync::mpsc::channel();
        let runtime = Runtime::builder().workers(1).build().unwrap();
        runtime.run(top(|k| {
            let k1 = make_closure!(keep_waiting, _, Counted::new(&Arc::default()));
            kept.send(k1.never).unwrap();
            send_argument((), k);
        }));
        keep.recv().unwrap()
    }
}

/// Adds what is shared as often.
#[thread]
fn read_shared(#[shared] shared: &u64, to: Cont<u64>, n: u64) {
    if n == 0 {
        return send_argument(0, to);
    }
    let sum = make_closure!(fib_sum, to, *shared, _);
    if n.is_multiple_of(2) {
        tail_call!(read_shared, sum.y, n - 1)
    } else {
        post(make_closure!(read_shared, sum.y, n - 1))
    }
}

#[test]
fn what_is_shared_is_there_until_the_end() {
    let value = Arc::new(3_u64);
    everywhere(|runtime| {
        let sum = top(|k| post(make_closure!(read_shared, k, 100))).sharing(Arc::clone(&value));
        assert_eq!(runtime.run(sum), 300);
        assert_eq!(Arc::strong_count(&value), 1);
    });
}

#[thread]
fn keep_waiting(never: u64, _given: Counted) {
    unreachable!("its computation was over with {never}");
}

#[test]
fn what_is_sent_after_the_end_is_destroyed() {
    let alive = Arc::new(AtomicU64::new(0));
    everywhere(|runtime| {
        let (kept, keep) = std::sync::mpsc::channel();
        runtime.run(top(|k| {
            for _ in 0..3 {
                let k1 = make_closure!(keep_waiting, _, Counted::new(&alive));
                kept.send(k1.never).unwrap();
            }
            send_argument((), k);
        }));
        assert_eq!(alive.load(Relaxed), 3);
        // Sent from outside, from within another computation, and dropped.
        send_argument(1, keep.recv().unwrap());
        let other = keep.recv().unwrap();
        runtime.run(top(|k| {
            send_argument(2, other);
            send_argument((), k);
        }));
        drop(keep.recv().unwrap());
        assert_eq!(alive.load(Relaxed), 0);
    });
}

#[thread]
fn hand_out(parent: Cont<u64>, n: u64) {
    let k1 = make_closure!(add_all, parent, 1, _[n as usize]);
    let to: Vec<Cont<u64>> = k1.values.collect();
    std::thread::spawn(move || to.into_iter().zip(0..).for_each(|(to, i)| send_argument(i, to)));
}

#[task]
async fn meanwhile(others: &AtomicU64) -> u64 {
    let (sum, ()) = join!(top(|k| post(make_closure!(hand_out, k, 100))), wait_for_a_while(others));
    sum
}

/// Keeps the run from being stuck, as far as it can tell, while somebody outside sends.
#[task]
async fn wait_for_a_while(others: &AtomicU64) {
    blocking(|| std::thread::sleep(std::time::Duration::from_millis(20))).await;
    others.fetch_add(1, Relaxed);
}

#[test]
fn arguments_come_from_other_threads() {
    for workers in [1, 2] {
        let runtime = Runtime::builder().workers(workers).build().unwrap();
        let others = AtomicU64::new(0);
        assert_eq!(runtime.run(meanwhile(&others)), 99 * 100 / 2);
        assert_eq!(runtime.close(), 0);
    }
}

// Ends from outside the computation.

#[thread]
fn for_ever(parent: Cont<u64>, rounds: Arc<AtomicU64>) {
    rounds.fetch_add(1, Relaxed);
    post(make_closure!(for_ever, parent, rounds));
}

#[task]
async fn end_it(rounds: &Arc<AtomicU64>) {
    let mine = Arc::clone(rounds);
    let ended = parfor(0..2, move |i| either(i, Arc::clone(&mine))).await;
    assert!(ended.is_break());
}

#[task]
async fn either(i: usize, rounds: Arc<AtomicU64>) -> std::ops::ControlFlow<()> {
    if i == 0 {
        while rounds.load(Relaxed) < 1000 {
            yield_now().await;
        }
        return std::ops::ControlFlow::Break(());
    }
    top(move |k: Cont<u64>| post(make_closure!(for_ever, k, rounds))).await;
    std::ops::ControlFlow::Continue(())
}

#[test]
fn a_terminated_group_takes_its_computations_along() {
    within_a_minute(|| {
        for workers in [1, 2, 3] {
            for n in [0, 1, 3] {
                let runtime = Runtime::builder().workers(workers).block_every(n).build().unwrap();
                let rounds = Arc::new(AtomicU64::new(0));
                runtime.run(end_it(&rounds));
                assert_eq!(Arc::strong_count(&rounds), 1, "no closure is left");
                assert_eq!(runtime.close(), 0);
            }
        }
    });
}

#[test]
fn waiting_for_nothing_is_a_deadlock() {
    within_a_minute(|| {
        let runtime = Runtime::builder().workers(2).build().unwrap();
        let (kept, keep) = std::sync::mpsc::channel();
        let error = runtime.try_run(top(|k: Cont<u64>| kept.send(k).unwrap())).expect_err("nobody sends");
        assert!(error.to_string().contains("deadlock"), "{error}");
        drop(keep.recv());
    });
}

#[test]
fn which_closures_migrate() {
    #[thread]
    fn stays_here(_parent: Cont<u64>, _given: Arc<u64>) {}
    #[thread]
    fn travels(_parent: Cont<u64>, _n: u64, _name: String, _values: Vector<f64>) {}
    let travel = [<fib_fork as Thread>::MIGRATES, <travels as Thread>::MIGRATES, <add_all as Thread>::MIGRATES];
    let stay = [<stays_here as Thread>::MIGRATES, <hold as Thread>::MIGRATES];
    assert_eq!((travel, stay), ([true; 3], [false; 2]));
}

/// A thread with a parameter of its own kind.
#[thread]
fn twice<T: Send + Clone + 'static>(to: Cont<(T, T)>, value: T) {
    send_argument((value.clone(), value), to);
}

#[thread]
fn repeat<const N: usize>(to: Cont<[u8; N]>, value: u8) {
    send_argument([value; N], to);
}

#[test]
fn threads_may_be_generic() {
    everywhere(|runtime| {
        let twice = top(|k| post(make_closure!(twice::<String>, k, "a".to_owned())));
        assert_eq!(runtime.run(twice), ("a".to_owned(), "a".to_owned()));
        assert_eq!(runtime.run(top(|k| tail_call!(repeat::<3>, k, 7))), [7; 3]);
    });
}
