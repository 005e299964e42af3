//! Calls that have to wait and are resumed on the same worker.
//!
//! Each is compared with the same calls that do not wait, or wait less: the difference is the cost of the wait. The
//! caller has left the stack before the loop begins, so one frame of the caller serves all iterations.

use std::hint::black_box;
use std::time::Instant;

use finespun::objects::suspend_with;
use finespun::prelude::*;

use super::variants::Distance;

/// Stores a continuation until a call of `open` resolves it.
struct Gate {
    waiting: Option<Continuation<u64>>,
}

impl Gate {
    fn new((): ()) -> Gate {
        Gate { waiting: None }
    }
}

#[object]
impl Gate {
    /// Stores the continuation, or resolves it at once if `open` is set.
    fn leave(&mut self, open: bool, k: Continuation<u64>) {
        if open {
            k.resolve(1);
        } else {
            self.waiting = Some(k);
        }
    }

    fn open(&mut self) -> u64 {
        if let Some(k) = self.waiting.take() {
            k.resolve(1);
        }
        2
    }

    /// Waits at this gate, unless `open` is set.
    #[task(stack)]
    async fn pass(this: Ref<Self>, open: bool) -> u64 {
        let value: u64 = suspend_with(move |k: Continuation<u64>| this.leave(open, k)).await;
        value ^ 4
    }

    /// Waits at another gate while holding the lock of this one.
    #[task(stack)]
    async fn hold(&mut self, other: Ref<Gate>) -> u64 {
        let value: u64 = suspend_with(move |k: Continuation<u64>| other.leave(false, k)).await;
        value ^ 4
    }

    fn look(&mut self) -> u64 {
        8
    }
}

/// The caller.
struct Caller;

impl Caller {
    fn new((): ()) -> Caller {
        Caller
    }
}

#[object]
impl Caller {
    #[task(stack)]
    async fn pass(_this: Ref<Self>, open: bool, times: u64) -> f64 {
        let gate: Ref<Gate> = on(here()).create_with(Gate::new, ()).await;
        yield_now().await;
        let start = Instant::now();
        for _ in 0..times {
            let (a, b): (u64, u64) = join!(gate.pass(open), gate.open());
            black_box(a ^ b);
        }
        start.elapsed().as_secs_f64()
    }

    #[task(stack)]
    async fn hold(_this: Ref<Self>, times: u64) -> f64 {
        let gate: Ref<Gate> = on(here()).create_with(Gate::new, ()).await;
        let other: Ref<Gate> = on(here()).create_with(Gate::new, ()).await;
        yield_now().await;
        let start = Instant::now();
        for _ in 0..times {
            let (a, b): (u64, u64) = join!(gate.hold(other), other.open());
            black_box(a ^ b);
        }
        start.elapsed().as_secs_f64()
    }

    #[task(stack)]
    async fn line(_this: Ref<Self>, times: u64) -> f64 {
        let gate: Ref<Gate> = on(here()).create_with(Gate::new, ()).await;
        let other: Ref<Gate> = on(here()).create_with(Gate::new, ()).await;
        yield_now().await;
        let start = Instant::now();
        for _ in 0..times {
            let (a, b, c): (u64, u64, u64) = join!(gate.hold(other), gate.look(), other.open());
            black_box(a ^ b ^ c);
        }
        start.elapsed().as_secs_f64()
    }
}

#[task]
async fn pass(open: bool, times: u64) -> f64 {
    let caller = on(0).create_with(Caller::new, ()).await;
    caller.pass(open, times).await
}

#[task]
async fn hold(times: u64) -> f64 {
    let caller = on(0).create_with(Caller::new, ()).await;
    caller.hold(times).await
}

#[task]
async fn line(times: u64) -> f64 {
    let caller = on(0).create_with(Caller::new, ()).await;
    caller.line(times).await
}

pub fn no_fallback(runtime: &Runtime, _: Distance, times: u64) -> f64 {
    runtime.run(pass(true, times))
}

pub fn fallback(runtime: &Runtime, _: Distance, times: u64) -> f64 {
    runtime.run(pass(false, times))
}

pub fn fallback_held(runtime: &Runtime, _: Distance, times: u64) -> f64 {
    runtime.run(hold(times))
}

pub fn in_line(runtime: &Runtime, _: Distance, times: u64) -> f64 {
    runtime.run(line(times))
}
