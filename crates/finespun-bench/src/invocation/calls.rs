//! The called methods, one for each schema, and the loops that call them.
//!
//! All methods do the same minimal work. The overhead of a call is its cost minus the plain method's.

use std::hint::black_box;
use std::time::Instant;

use finespun::prelude::*;
use serde::{Deserialize, Serialize};

use super::variants::Distance;

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

    /// Awaits nothing, and locks nothing.
    #[task(straight)]
    #[inline(never)]
    pub async fn straight(_this: Ref<Self>, salt: u64) -> u64 {
        salt.rotate_left(5) ^ 3
    }

    /// The same, in the schema of a method that may block.
    #[task(may_block)]
    #[inline(never)]
    pub async fn may_block(_this: Ref<Self>, salt: u64) -> u64 {
        salt.rotate_left(5) ^ 3
    }

    /// Calls another method of its object, and goes on with the value.
    #[task(stack)]
    #[inline(never)]
    pub async fn stack(this: Ref<Self>, salt: u64) -> u64 {
        let value: u64 = this.shared(salt).await;
        value ^ 1
    }

    /// Calls the same method in tail position.
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

    /// Resolves the continuation `k` instead of returning the value.
    pub fn resolve(&mut self, amount: u64, k: Continuation<u64>) {
        self.value = self.value.wrapping_add(amount);
        k.resolve(self.value);
    }
}

/// Returns the seconds of the floor: calls of a plain Rust method.
pub fn plain(times: u64) -> f64 {
    let counter = black_box(Box::new(Counter { value: 3 }));
    let start = Instant::now();
    black_box((0..times).map(|k| counter.shared(k)).fold(0, u64::wrapping_add));
    start.elapsed().as_secs_f64()
}

/// The caller. It is an object because the worker whose object is called might steal a floating task.
#[derive(Serialize, Deserialize)]
struct Caller;

/// Declares, for each method of a counter, the loop around it and the function that runs the loop.
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
