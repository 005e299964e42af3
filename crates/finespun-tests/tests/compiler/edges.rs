//! Edge cases: more awaits than an entry has variants, panics after a fallback, cancellation, heads, and ends of tasks.

use std::sync::atomic::{AtomicBool, Ordering};

use finespun::tasks::External;
use finespun::testing::*;

use super::*;

corpus! {
    fn ranges_from_a_literal(n: u64) -> u64 {
        fn of(node: &N) -> u64 { node.0 }
        let node = N(n);
        let all = 0..of(&node);
        let node = leaf(node).await;
        let mut sum = node.0;
        for k in all {
            sum += leaf(k).await;
        }
        sum
    } with (3);

    fn eighteen_awaits() -> u64 {
        let mut s = 1u64;
        let d0 = N(0);
        s += leaf(s % 7 + 0).await;
        s += leaf(s % 7 + 1).await;
        s += leaf(s % 7 + 2).await;
        s += leaf(s % 7 + 3).await;
        s += leaf(s % 7 + 4).await;
        let d5 = N(5);
        s += leaf(s % 7 + 5).await;
        s += leaf(s % 7 + 6).await;
        s += leaf(s % 7 + 7).await;
        s += leaf(s % 7 + 8).await;
        s += leaf(s % 7 + 9).await;
        let d10 = N(10);
        s += leaf(s % 7 + 10).await;
        s += leaf(s % 7 + 11).await;
        s += leaf(s % 7 + 12).await;
        s += leaf(s % 7 + 13).await;
        s += leaf(s % 7 + 14).await;
        let d15 = N(15);
        s += leaf(s % 7 + 15).await;
        s += leaf(s % 7 + 16).await;
        s += leaf(s % 7 + 17).await;
        s
    } with ();

    fn thirty_three_awaits() -> u64 {
        let mut s = 1u64;
        let d0 = N(0);
        s += leaf(s % 7 + 0).await;
        s += leaf(s % 7 + 1).await;
        s += leaf(s % 7 + 2).await;
        s += leaf(s % 7 + 3).await;
        s += leaf(s % 7 + 4).await;
        let d5 = N(5);
        s += leaf(s % 7 + 5).await;
        s += leaf(s % 7 + 6).await;
        s += leaf(s % 7 + 7).await;
        s += leaf(s % 7 + 8).await;
        s += leaf(s % 7 + 9).await;
        let d10 = N(10);
        s += leaf(s % 7 + 10).await;
        s += leaf(s % 7 + 11).await;
        s += leaf(s % 7 + 12).await;
        s += leaf(s % 7 + 13).await;
        s += leaf(s % 7 + 14).await;
        let d15 = N(15);
        s += leaf(s % 7 + 15).await;
        s += leaf(s % 7 + 16).await;
        s += leaf(s % 7 + 17).await;
        s += leaf(s % 7 + 18).await;
        s += leaf(s % 7 + 19).await;
        let d20 = N(20);
        s += leaf(s % 7 + 20).await;
        s += leaf(s % 7 + 21).await;
        s += leaf(s % 7 + 22).await;
        s += leaf(s % 7 + 23).await;
        s += leaf(s % 7 + 24).await;
        let d25 = N(25);
        s += leaf(s % 7 + 25).await;
        s += leaf(s % 7 + 26).await;
        s += leaf(s % 7 + 27).await;
        s += leaf(s % 7 + 28).await;
        s += leaf(s % 7 + 29).await;
        let d30 = N(30);
        s += leaf(s % 7 + 30).await;
        s += leaf(s % 7 + 31).await;
        s += leaf(s % 7 + 32).await;
        s
    } with ();

    fn heads(n: u64, mut d: Option<N>) -> u64 {
        if n == 0 { return 7; }
        if let Some(d) = d { return d.0; }
        if n > 100 { log("never"); return 1; } else if n > 50 { return 2; }
        d = Some(N(n));
        let a: u64 = leaf(n).await;
        log("end");
        a + d.unwrap().0
    } with (3, None);

    fn head_takes(n: u64, d: Option<N>) -> u64 {
        if let Some(d) = d { return d.0; }
        leaf(n).await + 1
    } with (3, Some(N(4)));

    fn head_else(n: u64, _: D) -> u64 {
        let Some(k): Option<u64> = pick(n) else { return 1 };
        if k > 1 { leaf(k).await + 1 } else if k == 1 { 3 } else { 4 }
    } with (4, D("d"));

    fn head_match(n: (u64, u64), d: D) -> u64 {
        match n {
            (0, _) => 1,
            (a, 0) => a,
            (a, b) => { let x: u64 = leaf(a).await; eat(d); x + leaf(b).await }
        }
    } with ((3, 4), D("d"));

    fn head_not(n: u64) -> () {
        if n > 2 { log(leaf(n).await); let d = D("d"); leaf(()).await; log("end") }
    } with (3);

    fn endless(n: u64) -> u64 {
        let mut i = n;
        loop {
            i += leaf(1).await;
            if i > 9 { return i; }
        }
    } with (3);

    fn coerced(n: u64) -> Box<dyn std::fmt::Debug + Send> {
        if n == 1 { return Box::new(3); }
        leaf(Box::new(n)).await
    } with (4);
}

macro_rules! both {
    ($(async fn $name:ident $args:tt -> $ret:ty $body:block)*) => {
        mod in_heap {
            use super::*;
            $( #[task(pinned)] pub async fn $name $args -> $ret $body )*
        }
        mod on_stack {
            use super::*;
            $( #[task(stack)] pub async fn $name $args -> $ret $body )*
        }
    };
}

static KEY: Mutex<Option<External<u64>>> = Mutex::new(None);

both! {
    async fn breaks(at: u64) -> u64 {
        let a = D("a");
        let b = leaf(N(1)).await;
        let mut sum = 0;
        for i in 0..4 {
            let c = N(10 + i);
            sum += leaf(i).await;
            assert!(i != at, "broken at {i}");
            leaf(()).await;
        }
        log("end");
        sum + b.0
    }

    async fn waits(first: D) -> u64 {
        log("begun");
        let a = D("a");
        leaf(()).await;
        let b = D("b");
        let n: u64 = suspend(|k: Continuation<u64>| *KEY.lock().unwrap() = Some(k.external())).await;
        log("never");
        n
    }
}

#[test]
fn panics_drop_the_live_locals() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(|e| e.into_inner());
    for n in [0, 1, 2, 3, 5, 7] {
        let runtime = Runtime::builder().workers(1).block_every(n).build().unwrap();
        for at in 0..4 {
            logs();
            let in_heap = runtime.try_run(in_heap::breaks(at)).unwrap_err().to_string();
            let expected = logs();
            let on_stack = runtime.try_run(on_stack::breaks(at)).unwrap_err().to_string();
            assert_eq!(logs(), expected, "broken at {at}, every {n} blocks");
            assert!(on_stack.contains(&format!("broken at {at}")), "{on_stack}");
            assert_eq!(on_stack, in_heap);
            assert_eq!(expected[expected.len() - 3..], [format!("drop {}", 10 + at), "drop 1".into(), "drop a".into()]);
        }
        assert_eq!(runtime.run(on_stack::breaks(9)), 7);
        assert_eq!(runtime.close(), 0);
    }
}

/// Cancels a run while its task waits.
fn cancel_begun<T: finespun::Task<Output = u64> + Send + 'static>(task: impl FnOnce(D) -> T) {
    logs();
    KEY.lock().unwrap().take();
    let runtime = Runtime::builder().workers(1).build().unwrap();
    let run = runtime.spawn(task(D("first")));
    while KEY.lock().unwrap().is_none() {
        std::thread::yield_now();
    }
    drop(run);
    drop(runtime);
    assert_eq!(logs(), ["begun", "drop b", "drop a", "drop first"]);
    KEY.lock().unwrap().take();
}

/// Cancels a run while the only worker is still busy with another one.
fn cancel_unbegun<T: finespun::Task<Output = u64> + Send + 'static>(task: impl FnOnce(D) -> T) {
    static GO: AtomicBool = AtomicBool::new(false);
    static BUSY: AtomicBool = AtomicBool::new(false);

    #[task]
    async fn busy() -> u64 {
        BUSY.store(true, Ordering::Release);
        while !GO.load(Ordering::Acquire) {
            std::thread::yield_now();
        }
        1
    }

    logs();
    BUSY.store(false, Ordering::Release);
    GO.store(false, Ordering::Release);
    let runtime = Runtime::builder().workers(1).build().unwrap();
    let first = runtime.spawn(busy());
    while !BUSY.load(Ordering::Acquire) {
        std::thread::yield_now();
    }
    drop(runtime.spawn(task(D("first"))));
    GO.store(true, Ordering::Release);
    drop(first);
    drop(runtime);
    // Whether or not the task began, its argument is dropped once, and last.
    let log = logs();
    assert_eq!(log.iter().filter(|e| *e == "drop first").count(), 1, "{log:?}");
    assert_eq!(log.last().unwrap(), "drop first", "{log:?}");
    KEY.lock().unwrap().take();
}

#[test]
fn cancelled_runs_drop_their_values() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(|e| e.into_inner());
    cancel_begun(on_stack::waits);
    cancel_begun(in_heap::waits);
    cancel_unbegun(on_stack::waits);
    cancel_unbegun(in_heap::waits);
}

#[task]
async fn plain_number(n: u64) -> u64 {
    n * 2
}

#[task(straight)]
async fn straight_calls(n: u64) -> Result<u64, String> {
    let mut sum = 0;
    for i in 0..n {
        sum += plain_number(i).await;
    }
    let (a, b) = join!(plain_number(sum), plain_number(1));
    Ok(checked(a).await? + b)
}

#[task(straight)]
async fn checked(n: u64) -> Result<u64, String> {
    if n > 100 { Err(format!("{n} is too much")) } else { Ok(n) }
}

#[test]
fn straight_tasks_call_straight_tasks() {
    let runtime = Runtime::builder().workers(1).block_every(1).build().unwrap();
    assert_eq!(runtime.run(straight_calls(5)), Ok(42));
    assert_eq!(runtime.run(straight_calls(20)), Err("760 is too much".into()));
    assert_eq!(runtime.stats().fallbacks, 0);
}

/// A user's type with a method that is named like a consuming one of std.
struct Lookalike<'a>(&'a std::sync::Mutex<Vec<&'static str>>);

impl Lookalike<'_> {
    fn unwrap(&self) -> u64 {
        1
    }
}

impl Drop for Lookalike<'_> {
    fn drop(&mut self) {
        self.0.lock().unwrap().push("drop");
    }
}

#[task]
async fn looks_consumed(log: &std::sync::Mutex<Vec<&'static str>>) -> u64 {
    let value = Lookalike(log);
    let n: u64 = value.unwrap();
    finespun::yield_now().await;
    log.lock().unwrap().push("end");
    n
}

#[test]
fn a_method_that_looks_consuming_drops_nothing_early() {
    let log = std::sync::Mutex::default();
    let runtime = Runtime::builder().workers(1).build().unwrap();
    assert_eq!(runtime.run(looks_consumed(&log)), 1);
    assert_eq!(*log.lock().unwrap(), ["end", "drop"]);
}
