//! What is called, in every schema, and who calls it in a loop.
//!
//! Every method does as little as it can, and the same; what a call costs more than the plain method is its overhead.

use std::hint::black_box;
use std::time::Instant;

use finespun::prelude::*;
use serde::{Deserialize, Serialize};

use super::ways::Distance;

#[derive(Serialize, Deserialize)]
pub struct Counter {
    pub value: u64,
}

#[object]
impl Counter {
    #[inline(never)]
    pub fn shared(&self, salt: u64) -> u64 {
        self.value.rotate_left(5) ^ salt
    }

    #[inline(never)]
    pub fn exclusive(&mut self, amount: u64) -> u64 {
        self.value = self.value.wrapping_add(amount);
        self.value
    }

    /// Awaits nothing, and holds nothing.
    #[task(straight)]
    #[inline(never)]
    pub async fn straight(_this: Ref<Self>, salt: u64) -> u64 {
        salt.rotate_left(5) ^ 3
    }

    /// The same, as one that might suspend.
    #[task(may_block)]
    #[inline(never)]
    pub async fn may_block(_this: Ref<Self>, salt: u64) -> u64 {
        salt.rotate_left(5) ^ 3
    }

    /// Calls another method of its object on its way.
    #[task(stack)]
    #[inline(never)]
    pub async fn stack(this: Ref<Self>, salt: u64) -> u64 {
        let value: u64 = this.shared(salt).await;
        value ^ 1
    }

    /// Ends in that call.
    #[task(stack)]
    #[inline(never)]
    pub async fn forward(this: Ref<Self>, salt: u64) -> u64 {
        this.shared(salt ^ 1).await
    }

    #[task(may_block)]
    #[inline(never)]
    pub async fn held_shared(&self, salt: u64) -> u64 {
        self.value.rotate_left(5) ^ salt
    }

    #[task(may_block)]
    #[inline(never)]
    pub async fn held(&mut self, amount: u64) -> u64 {
        self.value = self.value.wrapping_add(amount);
        self.value
    }

    #[task(pinned)]
    #[inline(never)]
    pub async fn pinned(_this: Ref<Self>, salt: u64) -> u64 {
        salt.rotate_left(5) ^ 3
    }

    #[task(pinned)]
    #[inline(never)]
    pub async fn pinned_held(&mut self, amount: u64) -> u64 {
        self.value = self.value.wrapping_add(amount);
        self.value
    }

    /// Resolves a continuation that came as an argument, instead of delivering the value.
    pub fn resolve(&mut self, amount: u64, k: Continuation<u64>) {
        self.value = self.value.wrapping_add(amount);
        k.resolve(self.value);
    }
}

/// The floor: a method, called as Rust calls it.
pub fn plain(times: u64) -> f64 {
    let counter = black_box(Box::new(Counter { value: 3 }));
    let start = Instant::now();
    black_box((0..times).map(|k| counter.shared(k)).fold(0, u64::wrapping_add));
    start.elapsed().as_secs_f64()
}

/// Who calls: an object as well, since other tasks may be stolen by the worker that they call.
#[derive(Serialize, Deserialize)]
struct Caller;

/// Declares the loop around each method of a counter, and the function that runs it.
macro_rules! loops {
    ($($name:ident)*) => {
        #[object]
        impl Caller {
            $(
                #[task(stack)]
                async fn $name(_this: Ref<Self>, distance: Distance, times: u64) -> f64 {
                    let counter = on(distance.node()).create(Counter { value: 3 }).await;
                    let start = Instant::now();
                    for k in 0..times {
                        let value: u64 = counter.$name(k).await;
                        black_box(value);
                    }
                    start.elapsed().as_secs_f64()
                }
            )*
        }

        $(
            pub fn $name(runtime: &Runtime, distance: Distance, times: u64) -> f64 {
                #[task]
                async fn root(distance: Distance, times: u64) -> f64 {
                    let caller = on(0).create(Caller).await;
                    caller.$name(distance, times).await
                }
                runtime.run(root(distance, times))
            }
        )*
    };
}

loops! { shared exclusive straight may_block stack forward held_shared held pinned pinned_held }
