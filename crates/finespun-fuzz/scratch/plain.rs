//! The leaves as plain `async fn`, and what polls a plain body.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use crate::trace::T;
use crate::values::{D, Section, Seen};

/// `join!` for plain bodies.
#[macro_export]
macro_rules! plain_join {
    ($a:expr, $b:expr $(,)?) => {{
        let (a, b) = ($a, $b);
        (a.await, b.await)
    }};
    ($a:expr, $b:expr, $c:expr $(,)?) => {{
        let (a, b, c) = ($a, $b, $c);
        (a.await, b.await, c.await)
    }};
}

pub use plain_join as join;

/// Polls until the future is ready.
pub fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(value) = future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            return value;
        }
    }
}

async fn yield_now() {
    let mut yielded = false;
    poll_fn(|_| match std::mem::replace(&mut yielded, true) {
        true => Poll::Ready(()),
        false => Poll::Pending,
    })
    .await
}

pub async fn leaf<V>(value: V) -> V {
    value
}

pub async fn rest<V>(value: V) -> V {
    yield_now().await;
    value
}

pub async fn now<V>(value: V) -> V {
    value
}

pub async fn call<V>(t: T, value: V) -> V {
    t.log("call");
    yield_now().await;
    t.log("return");
    value
}

pub async fn look<X: Seen + Sync + ?Sized>(x: &X) -> u64 {
    yield_now().await;
    x.seen()
}

pub async fn glance<X: Seen + Sync + ?Sized>(x: &X) -> u64 {
    x.seen()
}

pub async fn alter(d: &mut D) -> u64 {
    d.0 = (d.0 + 7) % 1000;
    yield_now().await;
    d.1.log(format_args!("altered D{}", d.0));
    d.0
}

pub async fn enter(t: T, k: u64) -> Section {
    yield_now().await;
    t.section(k)
}

pub async fn fall(t: T, k: u64) -> u64 {
    t.log("fall");
    yield_now().await;
    if k % 4 == 3 {
        panic!("fell at {k}");
    }
    k
}

pub async fn try_d(t: T, k: u64) -> Result<D, D> {
    t.attempt(k)
}

pub async fn maybe(t: T, k: u64) -> Option<D> {
    t.pick(k)
}

pub async fn checked(t: T, k: u64) -> Result<u64, D> {
    t.checked(k)
}

pub trait Peek {
    async fn peek(&self) -> u64;
    async fn spend(self) -> u64;
}

impl Peek for D {
    async fn peek(&self) -> u64 {
        self.seen()
    }

    async fn spend(self) -> u64 {
        rest(self.0).await
    }
}
