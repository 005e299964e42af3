//! Calls of objects on their own node, compared with plain methods. The methods are not inlined, so both are real
//! calls.

use std::hint::black_box;

use finespun::internals::adaptive::net;
use finespun::prelude::*;
use serde::{Deserialize, Serialize};

use super::programs::{LOOP, turns};
use crate::count::{Program, on_one_worker, run_on};

/// The number of objects that a loop calls in turn.
const OBJECTS: u64 = 64;

/// All programs of this module.
pub const PROGRAMS: &[Program] = &[
    Program::new("get-plain", LOOP, turns, |n| {
        let counters: Vec<Box<Counter>> = (0..OBJECTS).map(|value| Box::new(Counter { value })).collect();
        let counters = black_box(&counters[..]);
        (0..turns(n)).map(|k| counters[(k % OBJECTS) as usize].get(k)).fold(0, u64::wrapping_add)
    }),
    Program::new("add-plain", LOOP, turns, |n| {
        let mut counters: Vec<Box<Counter>> = (0..OBJECTS).map(|value| Box::new(Counter { value })).collect();
        let counters = black_box(&mut counters[..]);
        (0..turns(n)).map(|k| counters[(k % OBJECTS) as usize].add(k)).fold(0, u64::wrapping_add)
    }),
    Program::new("get-object", LOOP, turns, |n| on_one_worker(get_often(0, turns(n)))),
    Program::new("add-object", LOOP, turns, |n| on_one_worker(add_often(turns(n)))),
    Program::new("add-object-held", LOOP, turns, |n| on_one_worker(add_held_often(turns(n)))),
    Program::new("messages-away", LOOP, turns, |n| bounced(turns(n))),
    Program::new("get-object-away", LOOP, turns, |n| {
        run_on(finespun::Runtime::builder().workers(1).nodes(2), get_often(1, turns(n)))
    }),
];

/// Sends about as many words as a call of `get` and its answer have, there and back, by the transport alone. Between nodes of one
/// worker, as in `get-object-away`, messages only wait in a queue.
fn bounced(times: u64) -> u64 {
    /// Of a message: its code, the group, the continuation, the reference, the argument and the place of the call.
    const WORDS: usize = 6;
    let ends = net::<[u64; WORDS]>(2, 32);
    let mut value: u64 = 0;
    for _ in 0..times {
        for (from, to) in [(0, 1), (1, 0)] {
            let sent = ends[from].send(to, [value; WORDS]);
            assert!(sent.is_ok(), "there is room");
            value = ends[to].receive().expect("it has just been sent").1[0] + 1;
        }
    }
    value
}

#[derive(Serialize, Deserialize)]
struct Counter {
    value: u64,
}

#[object]
impl Counter {
    #[inline(never)]
    fn get(&self, salt: u64) -> u64 {
        self.value.rotate_left(5) ^ salt
    }

    #[inline(never)]
    fn add(&mut self, amount: u64) -> u64 {
        self.value ^= amount;
        self.value
    }

    /// The same as `add`, in the schema of a method that may block, which locks the object.
    #[task(may_block)]
    #[inline(never)]
    async fn add_held(&mut self, amount: u64) -> u64 {
        self.value ^= amount;
        self.value
    }
}

#[task]
async fn counters(node: usize) -> Vec<Ref<Counter>> {
    let mut counters = Vec::new();
    for value in 0..OBJECTS {
        counters.push(on(node).create(Counter { value }).await);
    }
    counters
}

#[task]
async fn get_often(node: usize, times: u64) -> u64 {
    let counters = counters(node).await;
    get_each(black_box(&counters[..]), times).await
}

#[task(stack)]
async fn get_each(counters: &[Ref<Counter>], times: u64) -> u64 {
    let mut sum: u64 = 0;
    for k in 0..times {
        let counter: Ref<Counter> = counters[(k % OBJECTS) as usize];
        let value: u64 = counter.get(k).await;
        sum = sum.wrapping_add(value);
    }
    sum
}

#[task]
async fn add_often(times: u64) -> u64 {
    let counters = counters(0).await;
    add_each(black_box(&counters[..]), times).await
}

#[task(stack)]
async fn add_each(counters: &[Ref<Counter>], times: u64) -> u64 {
    let mut sum: u64 = 0;
    for k in 0..times {
        let counter: Ref<Counter> = counters[(k % OBJECTS) as usize];
        let value: u64 = counter.add(k).await;
        sum = sum.wrapping_add(value);
    }
    sum
}

#[task]
async fn add_held_often(times: u64) -> u64 {
    let counters = counters(0).await;
    add_held_each(black_box(&counters[..]), times).await
}

#[task(stack)]
async fn add_held_each(counters: &[Ref<Counter>], times: u64) -> u64 {
    let mut sum: u64 = 0;
    for k in 0..times {
        let counter: Ref<Counter> = counters[(k % OBJECTS) as usize];
        let value: u64 = counter.add_held(k).await;
        sum = sum.wrapping_add(value);
    }
    sum
}
