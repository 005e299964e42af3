//! A panic names the task that it came from, whether the task was a call, a frame or a stolen branch.

use std::panic::{AssertUnwindSafe, catch_unwind, panic_any, set_hook, take_hook};
use std::sync::Once;
use std::sync::mpsc::{Receiver, Sender, channel};

use crate::common::{everywhere, fib};
use finespun::prelude::*;
use finespun::{RunError, runtime::Panic};

/// Silences the expected panics on workers; panics on a test's own thread are still printed.
fn hush() {
    static HUSH: Once = Once::new();
    HUSH.call_once(|| {
        let print = take_hook();
        set_hook(Box::new(move |info| {
            let worker = std::thread::current().name().is_some_and(|name| name.starts_with("finespun"));
            if !worker {
                print(info);
            }
        }));
    });
}

fn panic_of<T>(result: Result<T, RunError>) -> Panic {
    match result {
        Err(RunError::Panicked(panic)) => panic,
        Err(error) => panic!("{error}"),
        Ok(_) => panic!("the task has not panicked"),
    }
}

/// Asserts that the panic came from the task `name`, and that its place is the line that defines the task.
fn assert_from(panic: &Panic, name: &str) {
    assert_eq!(panic.task(), Some(name), "{panic}");
    let place = panic.place().unwrap();
    assert!(place.file().ends_with("panics.rs"), "{panic}");
    let line = include_str!("panics.rs").lines().nth(place.line() as usize - 1).unwrap();
    assert!(line.contains(&format!("async fn {name}")), "{panic}: {line}");
}

#[task(stack)]
async fn index(v: &[u64], i: usize) -> u64 {
    let a = fib(3).await;
    a + v[i]
}

#[task]
async fn in_the_head(v: &[u64], i: usize) -> u64 {
    if v[i] == 0 {
        return 0;
    }
    fib(v[i]).await + 1
}

#[task]
async fn straight(v: &[u64], i: usize) -> u64 {
    v[i]
}

#[task(pinned)]
async fn pinned(v: &[u64], i: usize) -> u64 {
    let a = fib(3).await;
    a + v[i]
}

#[task]
async fn operator(n: u64) -> u64 {
    reduce((0..n).map(fib), 0, |_, b| if b > 3 { panic!("operator") } else { b }).await
}

#[task]
async fn iterator(n: u64) -> u64 {
    reduce((0..n).map(|n| if n == 4 { panic!("iterator") } else { fib(n) }), 0, |_, b| b).await
}

#[task]
async fn suspends() -> u64 {
    fib(3).await + suspend(|_: Continuation<u64>| panic!("body")).await
}

struct Shape(u64);

impl Shape {
    #[task]
    async fn area(&self) -> u64 {
        let a = fib(self.0).await;
        a + self.corners()
    }

    fn corners(&self) -> u64 {
        panic!("no corners\n  none")
    }
}

#[task]
trait Grow: Sync {
    async fn grow(&self, n: u64) -> u64;
}

#[task]
impl Grow for Shape {
    async fn grow(&self, n: u64) -> u64 {
        if n == 0 {
            return self.corners();
        }
        self.grow(n - 1).await + 1
    }
}

/// Calls the chosen task from below, so that no panic comes from the root itself.
#[task]
async fn below(which: u64, depth: u64) -> u64 {
    if depth > 0 {
        let (a, b) = join!(fib(depth), below(which, depth - 1));
        return a + b;
    }
    let v = [1, 2, 3];
    let shape = Shape(4);
    match which {
        0 => index(&v, 3).await + 1,
        1 => in_the_head(&v, 3).await + 1,
        2 => straight(&v, 3).await + 1,
        3 => pinned(&v, 3).await + 1,
        4 => operator(9).await + 1,
        5 => iterator(9).await + 1,
        6 => suspends().await + 1,
        7 => shape.area().await + 1,
        8 => shape.grow(3).await + 1,
        9 => spawn(fib(3)).await + spawn(spawned(3)).await,
        10 => scope(|s| scoped(s)).await,
        _ => fib(which).await,
    }
}

#[task]
async fn spawned(n: u64) -> u64 {
    let a = fib(n).await;
    panic!("spawned after {a}")
}

#[task]
async fn scoped<'s>(s: Scope<'s>) -> u64 {
    let a = s.spawn(fib(5));
    let b = s.spawn(spawned(4));
    a.await + b.await
}

const NAMES: [&str; 11] = [
    "index",
    "in_the_head",
    "straight",
    "pinned",
    "operator",
    "iterator",
    "suspends",
    "area",
    "grow",
    "spawned",
    "spawned",
];

/// Tasks that panic in a closure which the library calls. This closure has its own note in debug builds only; in other
/// builds a panic may be attributed to the task that awaits this one (`Panic`).
const BY_CLOSURES: [&str; 3] = ["operator", "iterator", "suspends"];

#[test]
fn every_kind_of_task_is_named() {
    hush();
    everywhere(|runtime| {
        for (which, name) in NAMES.iter().enumerate() {
            let panic = panic_of(runtime.try_run(below(which as u64, 5)));
            let by_closure = !cfg!(debug_assertions) && BY_CLOSURES.contains(name) && panic.task() == Some("below");
            assert_from(&panic, if by_closure { "below" } else { name });
        }
    });
}

/// Deep enough for thieves to find work, and for siblings to be outstanding when the panic occurs.
#[task]
async fn branch(depth: u64, path: u64) -> u64 {
    if depth == 0 {
        return leaf(path).await;
    }
    let (a, b) = join!(branch(depth - 1, path * 2), branch(depth - 1, path * 2 + 1));
    a + b
}

#[task]
async fn leaf(path: u64) -> u64 {
    let a = fib(8).await;
    if path == 700 {
        panic_any(path);
    }
    a
}

#[test]
fn a_stolen_branch_is_named() {
    hush();
    everywhere(|runtime| {
        let panic = panic_of(runtime.try_run(branch(10, 0)));
        assert_from(&panic, "leaf");
        assert_eq!(panic.message(), "(the payload is not a string)");
        assert_eq!(*panic.into_payload().downcast::<u64>().unwrap(), 700);
    });
}

#[test]
fn the_error_is_one_line() {
    hush();
    let runtime = Runtime::builder().workers(1).build().unwrap();
    let panic = panic_of(runtime.try_run(below(7, 0)));
    assert_eq!(panic.message(), "no corners\n  none");
    let line = panic.place().unwrap().line();
    let text = format!("task `area` ({}:{line}) panicked: no corners; none", file!());
    assert_eq!(RunError::Panicked(panic).to_string(), text);
}

#[test]
fn run_rethrows_the_original_payload() {
    hush();
    everywhere(|runtime| {
        let thrown = catch_unwind(AssertUnwindSafe(|| runtime.run(branch(10, 0)))).unwrap_err();
        assert_eq!(*thrown.downcast::<u64>().unwrap(), 700);
    });
}

/// Catches the payload that a handle rethrows. The next panic must not be confused with this one.
#[task(pinned)]
async fn catches() -> u64 {
    let mut handle = spawn(leaf(700));
    let thrown = loop {
        match catch_unwind(AssertUnwindSafe(|| handle.try_get())) {
            Ok(Ok(_)) => panic!("the leaf panics"),
            Ok(Err(back)) => handle = back,
            Err(thrown) => break thrown,
        }
        yield_now().await;
    };
    assert_eq!(*thrown.downcast::<u64>().unwrap(), 700);
    index(&[], 0).await
}

#[test]
fn a_caught_panic_is_not_reported_again() {
    hush();
    everywhere(|runtime| assert_from(&panic_of(runtime.try_run(catches())), "index"));
}

/// Drops its parameter at its end, like a local.
#[task]
async fn leaves(_kept: Bomb) -> u64 {
    7
}

struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("dropped");
    }
}

#[test]
fn a_panic_in_a_parameters_destructor_names_its_task() {
    hush();
    let runtime = Runtime::builder().workers(1).build().unwrap();
    assert_from(&panic_of(runtime.try_run(leaves(Bomb))), "leaves");
}

#[task]
async fn careful(n: u64) -> u64 {
    index(&[1], 0).await + catch_unwind(|| if n > 1 { panic_any("caught at once") } else { n }).unwrap_or(0)
}

#[test]
fn a_panic_caught_by_a_task_does_not_affect_the_next() {
    hush();
    let runtime = Runtime::builder().workers(1).build().unwrap();
    assert_eq!(runtime.run(careful(5)), 3);
    assert_from(&panic_of(runtime.try_run(index(&[], 0))), "index");
}

#[task]
async fn lets_go(n: u64) -> u64 {
    scope(|s| spawns_and_lets_go(s, n)).await
}

#[task]
async fn spawns_and_lets_go(s: Scope<'_>, n: u64) -> u64 {
    for i in 0..n {
        drop(s.spawn(falls(i)));
    }
    n
}

#[task]
async fn falls(n: u64) -> u64 {
    let sum = fib(n).await;
    if n == 3 { panic!("three") } else { sum }
}

#[test]
fn a_scope_names_the_task_that_panicked_in_it() {
    hush();
    everywhere(|runtime| {
        assert_eq!(runtime.run(lets_go(3)), 3);
        let panic = panic_of(runtime.try_run(lets_go(5)));
        assert_from(&panic, "falls");
        assert_eq!(panic.message(), "a task spawned in a scope panicked");
    });
}

#[task]
async fn outlives(n: u64, keep: bool) -> u64 {
    let mut kept = Vec::new();
    for i in 0..n {
        let handle = spawn(falls(i));
        if keep {
            kept.push(handle);
        }
    }
    while kept.iter().any(|handle| !handle.is_finished()) {
        yield_now().await;
    }
    drop(kept);
    // Waits for the tasks whose handles were dropped; their panic ends this wait.
    while !keep && n > 3 {
        yield_now().await;
    }
    n
}

#[task]
async fn hands_out(to: std::sync::mpsc::Sender<Handle<'static, u64>>) {
    to.send(spawn(falls(3))).unwrap();
    // Until the run ends.
    loop {
        yield_now().await;
    }
}

#[test]
fn a_handle_dropped_outside_after_the_panic_ends_the_run() {
    hush();
    everywhere(|runtime| {
        let (to, from) = std::sync::mpsc::channel();
        let dropper = std::thread::spawn(move || {
            let handle: Handle<u64> = from.recv().unwrap();
            while !handle.is_finished() {
                std::thread::yield_now();
            }
            drop(handle);
        });
        let panic = panic_of(runtime.try_run(hands_out(to)));
        assert_from(&panic, "falls");
        assert_eq!(panic.message(), "three");
        dropper.join().unwrap();
    });
}

/// Returns the handle of a task that has panicked.
#[task]
async fn hands_back() -> Handle<'static, u64> {
    let handle = spawn(falls(3));
    while !handle.is_finished() {
        yield_now().await;
    }
    handle
}

#[task]
async fn drops(handle: Handle<'static, u64>) -> u64 {
    drop(handle);
    7
}

#[task]
async fn released(begun: Sender<()>, by: Receiver<()>) -> u64 {
    begun.send(()).unwrap();
    blocking(move || by.recv()).await.map_or(0, |()| 8)
}

/// A new runtime's runs have the numbers that an earlier runtime's runs had.
#[test]
fn the_panic_of_an_ended_run_ends_no_later_run() {
    hush();
    let new = || Runtime::builder().workers(1).build().unwrap();
    for _ in 0..50 {
        let runtime = new();
        let handles = [runtime.run(hands_back()), runtime.run(hands_back())];
        drop(runtime);
        let [inside, outside] = handles;
        let runtime = new();
        assert_eq!(runtime.try_run(drops(inside)).map_err(|error| error.to_string()), Ok(7));
        let ((begins, begun), (release, by)) = (channel(), channel());
        std::thread::scope(|threads| {
            let run = threads.spawn(|| runtime.try_run(released(begins, by)).map_err(|error| error.to_string()));
            begun.recv().unwrap();
            drop(outside);
            release.send(()).unwrap();
            assert_eq!(run.join().unwrap(), Ok(8));
        });
    }
}

#[test]
fn a_panic_that_no_task_waits_for_ends_the_run() {
    hush();
    everywhere(|runtime| {
        for keep in [false, true] {
            assert_eq!(runtime.run(outlives(3, keep)), 3);
            let panic = panic_of(runtime.try_run(outlives(5, keep)));
            assert_from(&panic, "falls");
            assert_eq!(panic.message(), "three");
        }
        // The runtime still works.
        assert_eq!(runtime.run(outlives(3, true)), 3);
    });
}

/// What tokio's timers say on a thread that has not entered tokio's runtime.
const NO_REACTOR: &str = "there is no reactor running, must be called from the context of a Tokio 1.x runtime";

#[task]
async fn polls_a_future_of_tokio() {
    foreign(async { panic!("{NO_REACTOR}") }).await
}

#[task]
async fn makes_a_future_of_tokio() {
    panic!("{NO_REACTOR}")
}

#[test]
fn a_future_that_misses_tokio_is_reported_with_the_cure() {
    hush();
    everywhere(|runtime| {
        for panic in
            [panic_of(runtime.try_run(polls_a_future_of_tokio())), panic_of(runtime.try_run(makes_a_future_of_tokio()))]
        {
            assert_eq!(panic.message(), NO_REACTOR);
            assert!(
                panic.to_string().contains("on_worker_start(move |_| std::mem::forget(handle.enter()))"),
                "{panic}"
            );
        }
        let other = panic_of(runtime.try_run(straight(&[], 0)));
        assert!(!other.to_string().contains("help"), "{other}");
    });
}
