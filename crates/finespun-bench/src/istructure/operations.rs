//! Tables 1 and 3: the costs of single operations, and the parameters of the cost model derived from them.

use std::hint::black_box;
use std::time::Instant;

use finespun::istructure::cost::{MANNA, Platform};
use finespun::istructure::{Cache, IArray};
use finespun::prelude::*;
use finespun::{everywhere, layout, objects::Replicated};
use finespun_lab::failure::Failure;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{Config, NODES, Report, figure};
use crate::pcm::cycle;

/// Elements per node.
const ELEMENTS: usize = 1 << 12;

/// Elements per block.
const BLOCK: usize = 8;

/// Tasks per node that read at the same time.
const TASKS: usize = 64;

/// Nanoseconds of each operation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Costs {
    method: [f64; 2],
    call: [f64; 2],
    get: [f64; 2],
    hit: f64,
    miss: f64,
    deferred: f64,
}

impl Costs {
    /// Returns the parameters of the cost model, in microseconds. As in section 2.2, the extra cost of a remote read
    /// over a local one is four message overheads: each of the two messages has two ends.
    pub(super) fn platform(&self) -> Platform {
        let [here, away] = self.method;
        let message = (away - here) / 4.0;
        let micro = |nanoseconds: f64| nanoseconds.max(0.0) * 1e-3;
        Platform {
            message: micro(message),
            local: micro(self.get[0]),
            request: micro(here),
            hit: micro(self.hit),
            miss: micro(self.miss - 4.0 * message),
            deferred: micro(self.deferred),
            ends: 4.0,
        }
    }
}

#[derive(Serialize, Deserialize)]
struct Memory {
    values: Vec<u64>,
}

#[object]
impl Memory {
    fn read(&self, index: usize) -> u64 {
        self.values[index]
    }
}

/// Returns the node whose elements this node reads: itself, or the next one.
fn home(away: bool) -> usize {
    (here() + usize::from(away)) % nodes()
}

/// Reads the `task`-th of [`TASKS`] parts.
#[task(stack)]
async fn read_part(memory: Ref<Memory>, task: usize) -> u64 {
    let mut sum: u64 = 0;
    for index in ELEMENTS / TASKS * task..ELEMENTS / TASKS * (task + 1) {
        let value: u64 = memory.read(index).await;
        sum = sum.wrapping_add(value);
    }
    sum
}

#[task]
async fn read_all((memories, away): (Replicated<Vec<Ref<Memory>>>, bool)) -> u64 {
    let memory: Ref<Memory> = memories[home(away)];
    sum(join_all((0..TASKS).map(move |task| read_part(memory, task))).await)
}

fn sum(parts: Vec<u64>) -> u64 {
    parts.into_iter().fold(0, u64::wrapping_add)
}

#[task]
async fn double(x: u64) -> u64 {
    black_box(2 * x)
}

#[task]
async fn call_here(count: usize) -> u64 {
    let mut sum: u64 = 0;
    for x in 0..count as u64 {
        sum += double(x).await;
    }
    sum
}

#[task]
async fn call_part(node: usize, count: usize) -> u64 {
    let mut sum: u64 = 0;
    for x in 0..count as u64 {
        sum += on(node).call(double, x).await;
    }
    sum
}

#[task]
async fn call_away(count: usize) -> u64 {
    let node = home(true);
    sum(join_all((0..TASKS).map(move |_| call_part(node, count / TASKS))).await)
}

/// Reads every `step`-th of `count` elements, from `first` on.
#[task(stack)]
async fn get_part(all: IArray<u64>, first: usize, count: usize, step: usize) -> u64 {
    let mut sum: u64 = 0;
    let mut index = first;
    while index < first + count {
        let value: u64 = all.get(index).await;
        sum = sum.wrapping_add(value);
        index += step;
    }
    sum
}

/// Reads every `step`-th element of a node.
#[task]
async fn get_all((all, away, step): (IArray<u64>, bool, usize)) -> u64 {
    let (first, count) = (home(away) * ELEMENTS, ELEMENTS / TASKS);
    sum(join_all((0..TASKS).map(move |task| get_part(all, first + task * count, count, step))).await)
}

/// Reads the blocks of the `task`-th part, each element of a block by its own task: the first misses, the others are
/// deferred.
#[task]
async fn get_blocks_of(all: IArray<u64>, first: usize, task: usize) -> u64 {
    let count = ELEMENTS / TASKS;
    let mut total: u64 = 0;
    for block in (first + task * count..first + (task + 1) * count).step_by(BLOCK) {
        total = total.wrapping_add(sum(join_all((block..block + BLOCK).map(|index| all.get(index))).await));
    }
    total
}

#[task]
async fn get_blocks(all: IArray<u64>) -> u64 {
    let first = home(true) * ELEMENTS;
    sum(join_all((0..TASKS).map(move |task| get_blocks_of(all, first, task))).await)
}

#[task]
async fn fill_own(all: IArray<u64>) {
    all.fill(|index| index as u64).await;
}

#[task]
async fn array(cache: Cache) -> IArray<u64> {
    let len = NODES * ELEMENTS;
    let all = IArray::create(len, layout::block(len, NODES)).cached(cache).await;
    everywhere(fill_own, all).await;
    all
}

#[task]
async fn memories() -> Vec<Ref<Memory>> {
    let mut all = Vec::new();
    for node in 0..NODES {
        all.push(on(node).create(Memory { values: (0..ELEMENTS as u64).collect() }).await);
    }
    all
}

#[task]
async fn forget(memories: Vec<Ref<Memory>>) {
    for memory in memories {
        Ref::free(memory).await;
    }
}

/// Returns the nanoseconds of one of `count` operations per node, the least of `rounds` runs.
fn time<K: Task<Output = Vec<u64>> + Send>(
    runtime: &Runtime,
    rounds: usize,
    count: usize,
    task: impl Fn() -> K,
) -> f64 {
    let each = |_| {
        let start = Instant::now();
        black_box(runtime.run(task()));
        start.elapsed().as_secs_f64() * 1e9 / (NODES * count) as f64
    };
    (0..rounds).map(each).fold(f64::INFINITY, f64::min)
}

/// Measures on as many nodes of one worker as the applications use, with all nodes doing the same at the same time.
pub(super) fn costs(config: &Config) -> Result<Costs, Failure> {
    let runtime = Runtime::builder().workers(1).nodes(NODES).build()?;
    let rounds = if config.quick { 1 } else { 10 * config.rounds };
    let memories = runtime.run(memories());
    let all = Replicated::new(memories.clone());
    let read = |away| time(&runtime, rounds, ELEMENTS, || everywhere(read_all, (all.clone(), away)));
    let method = [read(false), read(true)];
    runtime.run(forget(memories));
    let call = [
        time(&runtime, rounds, ELEMENTS, || everywhere(call_here, ELEMENTS)),
        time(&runtime, rounds, ELEMENTS, || everywhere(call_away, ELEMENTS)),
    ];
    let gets = |array: IArray<u64>, away: bool, step: usize| {
        time(&runtime, rounds, ELEMENTS / step, || everywhere(get_all, (array, away, step)))
    };
    let off = runtime.run(array(Cache::Off));
    let get = [gets(off, false, 1), gets(off, true, 1)];
    runtime.run(off.free());
    // A cache with room for one block: the first read of each block misses.
    let small = runtime.run(array(Cache::On { block: BLOCK, capacity: 1 }));
    let miss = gets(small, true, BLOCK);
    let block = time(&runtime, rounds, ELEMENTS / BLOCK, || everywhere(get_blocks, small));
    runtime.run(small.free());
    let large = runtime.run(array(Cache::On { block: BLOCK, capacity: ELEMENTS }));
    // The first run fetches the blocks.
    let hit = gets(large, true, 1);
    runtime.run(large.free());
    Ok(Costs { method, call, get, hit, miss, deferred: (block - miss) / (BLOCK - 1) as f64 })
}

pub(super) fn measure(config: &Config, report: &mut Report) -> Result<(), Failure> {
    let (costs, cycle) = (costs(config)?, cycle());
    let lines = [
        ("read of an object's memory (Get_Sync)", Some(costs.method[0]), Some(costs.method[1]), "141", "348"),
        ("call of a function", Some(costs.call[0]), Some(costs.call[1]), "250", "451"),
        ("get of an array's element (I_READ_F)", Some(costs.get[0]), Some(costs.get[1]), "317", "492"),
        ("hit in the cache", Some(costs.hit), None, "479", "-"),
        ("miss: a block of 8", Some(costs.miss), None, "2693", "-"),
        ("deferred read of a block", Some(costs.deferred), None, "1354", "-"),
    ];
    let head = ["", "here, ns", "cycles", "paper", "other node, ns", "cycles", "paper"];
    let table = report.table(38, &head)?;
    let shown = |time: Option<f64>| match time {
        Some(time) => [figure(time), figure(time / cycle)],
        None => ["-".to_owned(), "-".to_owned()],
    };
    for (name, here, away, paper, paper_away) in lines {
        let ([here_ns, here_cycles], [away_ns, away_cycles]) = (shown(here), shown(away));
        let line =
            [name.to_owned(), here_ns, here_cycles, paper.to_owned(), away_ns, away_cycles, paper_away.to_owned()];
        report.line(&table, &line)?;
        report.row(json!({"section": "operations", "what": name, "here_ns": here, "away_ns": away, "paper": paper, "paper_away": paper_away}));
    }
    report.say(&format!(
        "\n{NODES} nodes of one worker, {TASKS} tasks on each that read at the same time: times of another node are those of both sides. A cycle is {cycle:.3} ns here, and 20 ns in\n\
         the paper, which measures hits, misses and deferred reads at the reading node only.\n\n"
    ))?;
    let platform = costs.platform();
    let table = report.table(44, &["parameter, us", "here", "paper"])?;
    let parameters = [
        ("an end of a message, C_o", platform.message, MANNA.message),
        ("local read of an array, O_I", platform.local, MANNA.local),
        ("request without its messages, O_r", platform.request, MANNA.request),
        ("hit, O_hit", platform.hit, MANNA.hit),
        ("miss without its messages, O_miss", platform.miss, MANNA.miss),
        ("deferred hit, O_def", platform.deferred, MANNA.deferred),
    ];
    for (name, here, paper) in parameters {
        report.line(&table, &[name.to_owned(), format!("{here:.4}"), paper.to_string()])?;
        report.row(json!({"section": "platform", "what": name, "us": here, "paper": paper}));
    }
    report.say(
        "\nC_o is a quarter of what the read of another node's object takes more than that of an own one. The paper prints 0.825 us for\n\
         175 / 4 cycles of 20 ns, which are 0.875.\n",
    )
}
