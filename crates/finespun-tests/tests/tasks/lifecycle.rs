//! The ends of runtimes, their hooks, and the handler of panics that nothing receives.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::common::{everywhere, fib, within_a_minute};
use finespun::prelude::*;
use finespun::tasks::{current_worker, workers};

/// A call that lasts until the other end of the channel is dropped.
#[task]
async fn blocks(begun: Sender<()>, end: Receiver<()>) -> bool {
    blocking(move || {
        begun.send(()).unwrap();
        end.recv().is_err()
    })
    .await
}

/// Returns a runtime with a blocking call in progress, and the sender whose drop ends it.
fn blocked() -> (Runtime, Sender<()>) {
    let runtime = Runtime::builder().workers(2).build().unwrap();
    let ((begun, has_begun), (hold, held)) = (channel(), channel());
    runtime.spawn(blocks(begun, held)).detach();
    has_begun.recv().unwrap();
    (runtime, hold)
}

#[test]
fn a_shutdown_with_a_timeout_does_not_wait_for_longer() {
    within_a_minute(|| {
        let (runtime, hold) = blocked();
        assert!(!runtime.shutdown_timeout(Duration::from_millis(20)));
        drop(hold);
        let (runtime, hold) = blocked();
        drop(hold);
        assert!(runtime.shutdown_timeout(Duration::from_secs(50)));
        let idle = Runtime::builder().workers(2).build().unwrap();
        assert!(idle.shutdown_timeout(Duration::from_secs(50)));
    });
}

#[test]
fn a_shutdown_in_the_background_does_not_wait() {
    within_a_minute(|| {
        let (ended, all_ended) = channel();
        let runtime = Runtime::builder().workers(2).on_worker_stop(move |worker| ended.send(worker).unwrap());
        let runtime = runtime.build().unwrap();
        let ((begun, has_begun), (hold, held)) = (channel(), channel());
        runtime.spawn(blocks(begun, held)).detach();
        has_begun.recv().unwrap();
        runtime.shutdown_background();
        assert!(all_ended.try_recv().is_err(), "the call is in progress");
        drop(hold);
        let mut ended: Vec<usize> = all_ended.iter().collect();
        ended.sort_unstable();
        assert_eq!(ended, [0, 1]);
    });
}

#[test]
fn hooks_are_called_on_the_workers_threads() {
    let threads: Arc<Mutex<Vec<_>>> = Arc::default();
    let (starts, stops) = (Arc::clone(&threads), Arc::clone(&threads));
    let runtime = Runtime::builder()
        .workers(3)
        .on_worker_start(move |worker| starts.lock().unwrap().push((worker, std::thread::current().id())))
        .on_worker_stop(move |worker| {
            let left = (worker, std::thread::current().id());
            stops.lock().unwrap().retain(|begun| *begun != left);
        })
        .build()
        .unwrap();
    runtime.run(fib(10));
    drop(runtime);
    assert_eq!(*threads.lock().unwrap(), []);
}

#[task]
async fn index() -> bool {
    current_worker().unwrap() < workers().unwrap()
}

#[test]
fn a_task_knows_its_worker() {
    everywhere(|runtime| assert!(runtime.run(index())));
    assert_eq!((current_worker(), workers()), (None, None));
}

#[task]
async fn panics(n: u64) -> u64 {
    panic!("number {n}");
}

#[task]
async fn spawns(n: u64) -> u64 {
    drop(spawn(panics(n)));
    n
}

#[test]
fn the_handler_gets_the_panics_that_nothing_receives() {
    within_a_minute(|| {
        let (sender, panics_of) = channel();
        let in_task = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&in_task);
        let runtime = Runtime::builder().workers(2).panic_handler(move |panic| {
            seen.fetch_or(
                current_worker().is_some() && std::panic::catch_unwind(|| drop(spawn(fib(1)))).is_ok(),
                Ordering::Relaxed,
            );
            sender.send((panic.task(), panic.message().to_owned())).unwrap();
        });
        let runtime = runtime.build().unwrap();
        runtime.spawn(panics(1)).detach();
        assert_eq!(panics_of.recv().unwrap(), (Some("panics"), "number 1".to_owned()));
        // Detached after the run has ended.
        let run = runtime.spawn(panics(2));
        while !run.is_finished() {
            std::thread::yield_now();
        }
        run.detach();
        assert_eq!(panics_of.recv().unwrap().1, "number 2");
        // That of a spawned task ends the run, unless the run's root ends first, and is that of the run.
        runtime.spawn(spawns(3)).detach();
        // These are received.
        assert!(runtime.spawn(panics(4)).wait().is_err());
        assert!(runtime.try_run(panics(5)).is_err());
        assert!(runtime.run(foreign(runtime.spawn(panics(6)).outcome())).is_err());
        assert_eq!(runtime.spawn(fib(10)).wait().unwrap(), 55);
        runtime.spawn(fib(10)).detach();
        drop(runtime);
        assert!(panics_of.try_iter().all(|(_, message)| message == "number 3"));
        assert!(!in_task.load(Ordering::Relaxed), "the handler is no part of a task");
    });
}

#[cfg(feature = "simulation")]
#[test]
fn hooks_are_called_for_simulated_workers() {
    use finespun::runtime::Fabric;
    use finespun::simulation::Machine;
    let begun = Arc::new(AtomicUsize::new(0));
    let (starts, stops) = (Arc::clone(&begun), Arc::clone(&begun));
    let runtime = Runtime::builder()
        .nodes(4)
        .fabric(Fabric::Simulated(Machine::named("cluster").unwrap()))
        .on_worker_start(move |_| {
            starts.fetch_add(1, Ordering::Relaxed);
        })
        .on_worker_stop(move |_| {
            stops.fetch_sub(1, Ordering::Relaxed);
        })
        .build()
        .unwrap();
    runtime.run(fib(10));
    assert_eq!(begun.load(Ordering::Relaxed), 4);
    drop(runtime);
    assert_eq!(begun.load(Ordering::Relaxed), 0);
}
