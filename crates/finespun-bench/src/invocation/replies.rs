//! The cost that a reply adds to a call: one-way calls, calls with several replies in flight, and calls that reply to a
//! given continuation.

use std::hint::black_box;
use std::time::Instant;

use finespun::objects::suspend_with;
use finespun::prelude::*;
use serde::{Deserialize, Serialize};

use super::calls::Counter;
use super::variants::Distance;

/// Calls in flight at the same time.
const IN_FLIGHT: u64 = 10;
type Ten = (u64, u64, u64, u64, u64, u64, u64, u64, u64, u64);

#[derive(Serialize, Deserialize)]
struct Asker;

#[object]
impl Asker {
    /// Ends with an ordinary call: messages to a node keep their order, so its reply shows that all calls have run.
    #[task(stack)]
    async fn oneway(_this: Ref<Self>, distance: Distance, times: u64) -> f64 {
        let counter = on(distance.node()).create(Counter { value: 0 }).await;
        let start = Instant::now();
        for _ in 0..times {
            counter.exclusive(1).oneway().await;
        }
        let value: u64 = counter.exclusive(0).await;
        let seconds: f64 = start.elapsed().as_secs_f64();
        assert_eq!(value, times, "every one-way call has been carried out");
        seconds
    }

    /// Keeps ten calls in flight and awaits all replies. They are branches of a `join!`, because a thief may move the
    /// branches of a `reduce` to the object's worker.
    #[task(stack)]
    async fn in_flight(_this: Ref<Self>, distance: Distance, times: u64) -> f64 {
        let counter = on(distance.node()).create(Counter { value: 0 }).await;
        let start = Instant::now();
        for _ in 0..times / IN_FLIGHT {
            let values: Ten = join!(
                counter.exclusive(1),
                counter.exclusive(1),
                counter.exclusive(1),
                counter.exclusive(1),
                counter.exclusive(1),
                counter.exclusive(1),
                counter.exclusive(1),
                counter.exclusive(1),
                counter.exclusive(1),
                counter.exclusive(1),
            );
            black_box(values);
        }
        start.elapsed().as_secs_f64()
    }

    /// Makes the caller's continuation the reply destination of the call.
    #[task(stack)]
    async fn given(_this: Ref<Self>, distance: Distance, times: u64) -> f64 {
        let counter = on(distance.node()).create(Counter { value: 0 }).await;
        let start = Instant::now();
        for _ in 0..times {
            let value: u64 = suspend_with(move |k: Continuation<u64>| k.resolve_with(counter.exclusive(1))).await;
            black_box(value);
        }
        start.elapsed().as_secs_f64()
    }

    /// Passes the caller's continuation as an argument of a one-way call.
    #[task(stack)]
    async fn carried(_this: Ref<Self>, distance: Distance, times: u64) -> f64 {
        let counter = on(distance.node()).create(Counter { value: 0 }).await;
        let start = Instant::now();
        for _ in 0..times {
            let value: u64 = suspend_with(move |k: Continuation<u64>| counter.resolve(1, k).oneway()).await;
            black_box(value);
        }
        start.elapsed().as_secs_f64()
    }
}

/// Declares the functions that run these methods.
macro_rules! roots {
    ($($name:ident)*) => {
        $(
            pub fn $name(runtime: &Runtime, distance: Distance, times: u64) -> f64 {
                #[task]
                async fn root(distance: Distance, times: u64) -> f64 {
                    let asker = on(0).create(Asker).await;
                    asker.$name(distance, times).await
                }
                runtime.run(root(distance, times))
            }
        )*
    };
}

roots! { oneway in_flight given carried }
