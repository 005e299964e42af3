//! Creation and freeing of objects, each measured alone: the other one is not timed, and its messages are batched.

use std::time::Instant;

use finespun::prelude::*;
use serde::{Deserialize, Serialize};

use super::calls::Counter;
use super::variants::{BATCH, Distance};

/// An object on the node of the measured objects, which frees them there.
#[derive(Serialize, Deserialize)]
struct Sweeper;

#[object]
impl Sweeper {
    async fn free(_this: Ref<Self>, counters: Vec<Ref<Counter>>) {
        for counter in counters {
            Ref::free(counter).await;
        }
    }
}

#[derive(Serialize, Deserialize)]
struct Maker;

#[object]
impl Maker {
    /// Creates objects one by one, timed, and has each batch freed on its node by one call.
    #[task(stack)]
    async fn create(_this: Ref<Self>, distance: Distance, times: u64) -> f64 {
        let node: usize = distance.node();
        let sweeper: Ref<Sweeper> = on(node).create(Sweeper).await;
        let mut clock = Instant::now();
        let mut seconds: f64 = 0.0;
        for _ in 0..times / BATCH {
            let mut counters: Vec<Ref<Counter>> = Vec::with_capacity(BATCH as usize);
            lap(&mut clock);
            for value in 0..BATCH {
                let counter = on(node).create(Counter { value }).await;
                counters.push(counter);
            }
            seconds += lap(&mut clock);
            sweeper.free(counters).await;
        }
        seconds
    }

    /// Creates each batch by one call, and frees its objects one by one, timed.
    #[task(stack)]
    async fn free(_this: Ref<Self>, distance: Distance, times: u64) -> f64 {
        let node: usize = distance.node();
        let mut clock = Instant::now();
        let mut seconds: f64 = 0.0;
        for _ in 0..times / BATCH {
            let values: Vec<Counter> = (0..BATCH).map(|value| Counter { value }).collect();
            let making = on(node).create_many(values);
            let mut counters: Vec<Ref<Counter>> = making.await;
            lap(&mut clock);
            while let Some(counter) = counters.pop() {
                Ref::free(counter).await;
            }
            seconds += lap(&mut clock);
        }
        seconds
    }
}

/// Returns the seconds since `clock`, and sets `clock` to now.
fn lap(clock: &mut Instant) -> f64 {
    let now = Instant::now();
    now.duration_since(std::mem::replace(clock, now)).as_secs_f64()
}

#[task]
async fn creating(distance: Distance, times: u64) -> f64 {
    let maker = on(0).create(Maker).await;
    maker.create(distance, times).await
}

#[task]
async fn freeing(distance: Distance, times: u64) -> f64 {
    let maker = on(0).create(Maker).await;
    maker.free(distance, times).await
}

pub fn create(runtime: &Runtime, distance: Distance, times: u64) -> f64 {
    runtime.run(creating(distance, times))
}

pub fn free(runtime: &Runtime, distance: Distance, times: u64) -> f64 {
    runtime.run(freeing(distance, times))
}
