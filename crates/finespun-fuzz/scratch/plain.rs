//! The leaves as plain `async fn`, and the executor of a plain body.

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

leaves! { [] [] }
