//! Programs of all parts of the library.

use std::time::Duration;

use finespun::closure::{Cont, make_closure, post, send_argument, thread, top};
use finespun::istructure::IArray;
use finespun::prelude::*;
use finespun::simulation::work;
use finespun::sync::Mutex;
use finespun::{layout, level, preturn};
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
pub struct Counter(pub u64);

#[object]
impl Counter {
    pub fn add(&mut self, n: u64) -> u64 {
        self.0 += n;
        self.0
    }

    /// Adds, in a task with guard checks.
    #[task(stack)]
    pub async fn slow_add(this: Ref<Self>, n: u64) -> u64 {
        work(Duration::from_micros(1));
        this.add(n).await
    }

    pub async fn slow(&mut self, n: u64) -> u64 {
        let before = self.0;
        yield_now().await;
        self.0 = before + n;
        self.0
    }
}

/// Recursion, with work at the leaves.
#[task]
pub async fn tree(depth: u64, seed: u64) -> u64 {
    if depth == 0 {
        work(Duration::from_nanos(500 + seed % 7 * 300));
        return seed % 10;
    }
    let (a, b) = join!(tree(depth - 1, seed * 3 + 1), tree(depth - 1, seed * 5 + 2));
    a + b
}

/// Calls between objects of all nodes, with locks.
#[task]
pub async fn exchange(rounds: u64) -> u64 {
    let counters = join_all((0..nodes()).map(|node| on(node).create(Counter(0)))).await;
    let counters = &counters;
    parfor(0..rounds, |round| call_some(counters, round)).await;
    join_all(counters.iter().map(|counter| counter.add(0))).await.into_iter().sum()
}

#[task]
async fn call_some(counters: &[Ref<Counter>], round: u64) {
    let at = |k: u64| counters[((round * 7 + k * 3) % counters.len() as u64) as usize];
    let (a, b) = join!(at(0).slow(1), at(1).add(2));
    at(2).add(u64::from(a == 0 || b == 0)).await;
}

/// A group that an activity ends.
#[task]
pub async fn found(target: u64) -> u64 {
    level(|found| look(found, target)).await
}

#[task]
async fn look(found: finespun::group::Level<u64>, target: u64) -> u64 {
    parfor(0..64_u64, move |k| candidate(found, k, target)).await;
    0
}

#[task]
async fn candidate(found: finespun::group::Level<u64>, k: u64, target: u64) {
    yield_now().await;
    work(Duration::from_micros(3));
    if k == target {
        preturn(found, k).await;
    }
}

/// Write-once arrays with readers before writers.
#[task]
pub async fn wave(len: usize) -> u64 {
    let all = IArray::create(len, layout::cyclic(nodes())).await;
    let (sum, ()) = join!(read_all(all, len), parfor(0..len, |k| write(all, k)));
    all.free().await;
    sum
}

#[task]
async fn read_all(all: IArray<u64>, len: usize) -> u64 {
    reduce((0..len).map(|k| all.get(k)), 0, |a, b| a + b).await
}

#[task]
async fn write(all: IArray<u64>, k: usize) {
    let value = if k < 2 { k as u64 } else { all.get(k - 1).await % 1000 + all.get(k - 2).await % 1000 };
    all.put(k, value).await;
}

#[thread]
fn fork(to: Cont<u64>, n: u64) {
    if n < 2 {
        return send_argument(n, to);
    }
    let sum = make_closure!(plus, to, _, _);
    post(make_closure!(fork, sum.a, n - 1));
    post(make_closure!(fork, sum.b, n - 2));
}

#[thread]
fn plus(to: Cont<u64>, a: u64, b: u64) {
    send_argument(a + b, to);
}

#[task]
pub async fn closures(n: u64) -> u64 {
    top(move |k| post(make_closure!(fork, k, n))).await
}

/// A mutex that tasks of all processors take.
#[task]
pub async fn locked(tasks: u64) -> u64 {
    let sum = Mutex::new(0);
    let all = &sum;
    parfor(0..tasks, |k| add_locked(all, k)).await;
    sum.into_inner()
}

#[task]
async fn add_locked(sum: &Mutex<u64>, k: u64) {
    let mut sum = sum.lock().await;
    yield_now().await;
    *sum += k;
}

/// Everything above.
#[task]
pub async fn all() -> [u64; 6] {
    let (a, b, c) = join!(tree(9, 1), exchange(60), found(40));
    let (d, e, f) = join!(wave(50), closures(12), locked(40));
    [a, b, c, d, e, f]
}
