//! Groups over nodes: where activities run, and that remote ones end with their group.

use std::ops::ControlFlow::{self, Break, Continue};

use finespun::prelude::*;
use finespun::sync::Semaphore;
use finespun::{mapped, on};

use crate::common::{Shared, on_any_nodes};

static ALIVE: Shared = Shared::new();
static NEVER: Semaphore = Semaphore::new(0);

struct Alive;

impl Drop for Alive {
    fn drop(&mut self) {
        ALIVE.add(-1);
    }
}

#[task]
async fn waits(depth: usize) {
    ALIVE.add(1);
    let _alive = Alive;
    if depth > 0 {
        on((here() + 1) % nodes()).call(waits, depth - 1).await;
    }
    drop(NEVER.acquire().await);
}

#[task]
async fn breaks_or_waits(k: usize) -> ControlFlow<usize> {
    if k == 3 {
        // Breaks only after the other activities have begun.
        for _ in 0..20 {
            yield_now().await;
        }
        return Break(k);
    }
    on(k % nodes()).call(waits, 2).await;
    Continue(())
}

#[task]
async fn all_over() -> ControlFlow<usize> {
    let ended = parfor(0..8, breaks_or_waits).await;
    assert_eq!(ALIVE.load(), 0, "what runs at other nodes ends with the group");
    ended
}

#[test]
fn remote_tasks_end_with_the_group() {
    on_any_nodes(|runtime| {
        for _ in 0..3 {
            assert_eq!(runtime.run(all_over()), Break(3));
        }
    });
}

static TIMES: [Shared; 100] = [const { Shared::new() }; 100];
static PLACES: [Shared; 100] = [const { Shared::new() }; 100];

#[task]
async fn placed(from: usize, to: usize) {
    let note = |k: usize, factor: &i64| {
        TIMES[k].add(*factor);
        PLACES[k].add(here() as i64 * factor);
    };
    mapped(from..to, note, 1000).await;
    mapped(from..to, note, 1).await;
}

#[test]
fn chunk_k_runs_at_node_k() {
    on_any_nodes(|runtime| {
        for (from, to) in [(0, 100), (7, 12), (50, 50)] {
            runtime.run(placed(from, to));
            for k in 0..100 {
                let within = (from..to).contains(&k);
                assert_eq!(TIMES[k].swap(0), if within { 1001 } else { 0 });
                let place = PLACES[k].swap(0) as usize;
                let nodes = runtime.nodes();
                let node = (0..nodes).find(|node| {
                    let bound = |node: usize| from + node * (to - from) / nodes;
                    (bound(*node)..bound(node + 1)).contains(&k)
                });
                assert_eq!(place, node.filter(|_| within).unwrap_or(0) * 1001);
            }
        }
    });
}
