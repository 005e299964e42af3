//! Arguments that come from outside a computation, or after its end.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use finespun::closure::{Cont, ExternalCont, make_closure, post, send_argument, tail_call, thread, top};
use finespun::prelude::*;
use finespun::testing::*;

use super::{Counted, add_all, fib_sum, keep_waiting, panics, square};
use crate::common::{everywhere, within_a_minute};

#[test]
fn closures_can_be_made_only_within_a_computation() {
    let text = panics(|| drop(make_closure!(square, unreachable(), 1)));
    assert!(text.contains("outside a computation"), "{text}");
    let runtime = Runtime::builder().workers(1).build().unwrap();
    let text = panics(|| {
        runtime.run(top(|k| post(make_closure!(read_shared, k, 1))).sharing(Arc::new(1_u32)));
    });
    assert!(text.contains("the thread `read_shared` reads a `u64`, which its computation does not share"), "{text}");

    /// Returns a continuation of a computation that has ended.
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

/// Adds the shared value `n` times.
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
fn a_shared_value_lives_until_the_computation_ends() {
    let value = Arc::new(3_u64);
    everywhere(|runtime| {
        let sum = top(|k| post(make_closure!(read_shared, k, 100))).sharing(Arc::clone(&value));
        assert_eq!(runtime.run(sum), 300);
        assert_eq!(Arc::strong_count(&value), 1);
    });
}

#[test]
fn arguments_sent_after_the_end_are_destroyed() {
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
        // One is sent from outside, one from another computation, and one is dropped.
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

/// Waits for an outside event, so that the run is not considered stuck while another thread sends.
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

/// Many closures, each filled by the worker that has made it, and by a plain thread at the same time.
#[thread]
fn share(parent: Cont<u64>, left: u64, to: std::sync::mpsc::Sender<ExternalCont<u64>>) {
    if left == 0 {
        return send_argument(0, parent);
    }
    let rest = make_closure!(fib_sum, parent, _, _);
    let mut sums = make_closure!(add_all, rest.x, 1, _[8]).values;
    for i in 0..4 {
        to.send(sums.next().unwrap().external()).unwrap();
        if i == 0 {
            // The other thread may come first, or at the same time.
            (0..left % 64).for_each(|_| std::hint::spin_loop());
        }
        send_argument(left, sums.next().unwrap());
    }
    tail_call!(share, rest.y, left - 1, to);
}

#[test]
fn a_plain_thread_and_the_maker_fill_a_closure_together() {
    let rounds = if cfg!(debug_assertions) { 2_000 } else { 20_000 };
    within_a_minute(move || {
        for (workers, block_every) in [(1, 0), (2, 0), (2, 3)] {
            let runtime = Runtime::builder().workers(workers).block_every(block_every).build().unwrap();
            let (to, from) = std::sync::mpsc::channel::<ExternalCont<u64>>();
            let other = std::thread::spawn(move || from.into_iter().for_each(|to| to.send(1)));
            let sum = runtime.run(top(|k| post(make_closure!(share, k, rounds, to))));
            assert_eq!(sum, (1..=rounds).map(|left| 4 * (left + 1)).sum());
            other.join().unwrap();
            assert_eq!(runtime.close(), 0);
        }
    });
}

#[test]
fn an_external_continuation_is_no_deadlock() {
    within_a_minute(|| {
        for workers in [1, 2] {
            let runtime = Runtime::builder().workers(workers).build().unwrap();
            let answer = runtime.try_run(top(|k: Cont<u64>| {
                let k = k.external();
                std::thread::spawn(move || {
                    std::thread::sleep(std::time::Duration::from_millis(300));
                    k.send(7);
                });
            }));
            assert_eq!(answer.unwrap(), 7);
            // Dropped unsent: the computation has no result.
            let error = runtime.try_run(top(|k: Cont<u64>| {
                let k = k.external();
                std::thread::spawn(move || drop(k));
            }));
            assert!(error.expect_err("nobody sends").to_string().contains("was dropped unsent"));
            // Afterwards, deadlocks are reported again.
            let (kept, keep) = std::sync::mpsc::channel();
            let error = runtime.try_run(top(|k: Cont<u64>| kept.send(k).unwrap())).expect_err("nobody sends");
            assert!(error.to_string().contains("deadlock"), "{error}");
            drop(keep.recv());
        }
        let text = panics(|| {
            let (kept, keep) = std::sync::mpsc::channel();
            let runtime = Runtime::builder().workers(1).build().unwrap();
            runtime.run(top(|k| {
                let waiting = make_closure!(keep_waiting, _, Counted::new(&Arc::default()));
                kept.send(waiting.never).unwrap();
                send_argument((), k);
            }));
            let _ = keep.recv().unwrap().external();
        });
        assert!(text.contains("outside the threads of its runtime"), "{text}");
    });
}

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
fn a_terminated_group_ends_its_computations() {
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
