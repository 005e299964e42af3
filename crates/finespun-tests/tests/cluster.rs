//! Runtimes over several processes, of which all parts are in this process. More shapes than in the tests of objects.

mod common;

use std::ops::ControlFlow::{self, Continue};
#[cfg(feature = "processes")]
use std::panic::AssertUnwindSafe;
use std::sync::Mutex;
#[cfg(feature = "processes")]
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use common::{Launch, Shared, over_shapes, within_a_minute};
use finespun::objects::{Replicated, suspend_with};
use finespun::prelude::*;
use finespun::tasks::quiesce;
use finespun::testing::*;
use finespun::{RunError, everywhere, group, mapped};
use serde::{Deserialize, Serialize};

fn over_processes(test: impl Fn(&Runtime) + Send + 'static) {
    over_shapes(&[(2, 1, 2), (2, 1, 8), (2, 2, 4), (3, 1, 5), (4, 1, 4), (5, 2, 10)], test);
}

struct Counter {
    sum: u64,
    kept: Vec<Continuation<u64>>,
}

impl Counter {
    fn new(sum: u64) -> Counter {
        Counter { sum, kept: Vec::new() }
    }
}

#[object]
impl Counter {
    fn add(&mut self, amount: u64) -> u64 {
        self.sum += amount;
        self.sum
    }

    fn sum(&self) -> u64 {
        self.sum
    }

    fn fail(&mut self) {
        panic!("as asked, at {}", self.sum);
    }

    fn keep(&mut self, k: Continuation<u64>) {
        self.kept.push(k);
    }

    /// Returns how many it has released.
    fn release(&mut self) -> usize {
        let all = self.kept.len();
        for k in self.kept.drain(..) {
            k.resolve(self.sum);
        }
        all
    }

    /// Takes some time, in the group of the caller.
    async fn linger(_this: Ref<Self>, turns: u64) -> u64 {
        for _ in 0..turns {
            yield_now().await;
        }
        turns
    }

    async fn group(_this: Ref<Self>, all: Vec<Ref<Counter>>, turns: u64) -> bool {
        parfor(0..12, |k| lingers(&all, k, turns)).await.is_continue()
    }

    /// Forwards along the counters: the answer goes from the last to the first caller.
    async fn last(&self, mut others: Vec<Ref<Counter>>) -> u64 {
        match others.pop() {
            Some(next) => next.last(others).await,
            None => self.sum,
        }
    }
}

#[task]
async fn counters() -> Vec<Ref<Counter>> {
    let mut all = Vec::new();
    for node in 0..nodes() {
        all.push(on(node).create_with(Counter::new, node as u64).await);
    }
    all
}

#[task]
async fn count() -> (u64, u64) {
    let all = counters().await;
    let mut sum = 0;
    for (at, counter) in all.iter().enumerate() {
        counter.add(1).await;
        sum += counter.add(at as u64).await;
    }
    let (first, rest) = (all[0], all[1..].to_vec());
    let last = first.last(rest).await;
    for counter in all {
        Ref::free(counter).await;
    }
    (sum, last)
}

#[test]
fn calls_are_answered() {
    over_processes(|runtime| {
        for _ in 0..3 {
            let nodes = runtime.nodes() as u64;
            // The last of the chain is the counter of node 1: `others` is taken from its end.
            assert_eq!(runtime.run(count()), (nodes + nodes * (nodes - 1), 3));
        }
    });
}

#[task]
async fn one_way(times: u64) -> u64 {
    let all = counters().await;
    for _ in 0..times {
        for counter in &all {
            counter.add(1).oneway().await;
        }
    }
    quiesce().await;
    let mut sum = 0;
    for counter in &all {
        sum += counter.sum().await;
    }
    sum
}

#[test]
fn quiescence_waits_for_all_processes() {
    over_processes(|runtime| {
        let nodes = runtime.nodes() as u64;
        assert_eq!(runtime.run(one_way(40)), 40 * nodes + nodes * (nodes - 1) / 2);
    });
}

#[task]
async fn fails_elsewhere() {
    let all = counters().await;
    all[nodes() - 1].fail().oneway().await;
    // Nothing else ends this wait.
    suspend_with(move |k| all[0].keep(k).oneway()).await;
}

#[test]
fn a_panic_in_another_process_ends_the_run() {
    over_processes(|runtime| {
        let Err(RunError::Panicked(panic)) = runtime.try_run(fails_elsewhere()) else { panic!("no panic") };
        assert!(panic.to_string().contains(&format!("as asked, at {}", runtime.nodes() - 1)), "{panic}");
    });
}

#[task]
async fn exits(_: u64) {
    group::exit(7).await;
}

#[task]
async fn exits_elsewhere() -> u64 {
    let all = counters().await;
    on(nodes() - 1).call(exits, 0).await;
    all[0].sum().await
}

#[test]
fn exit_in_another_process_ends_the_run() {
    over_processes(|runtime| {
        let ended = runtime.try_run(exits_elsewhere());
        assert!(matches!(ended, Err(RunError::Exited(7))), "{ended:?}");
    });
}

/// The line of the wait below.
const KEPT: u32 = line!() + 3;
#[task]
async fn waits_at(counter: Ref<Counter>) -> u64 {
    suspend_with(move |k| counter.keep(k).oneway()).await
}

#[task]
async fn kept() -> Vec<u64> {
    let all = counters().await;
    let last = all[nodes() - 1];
    let waits = everywhere(waits_at, last);
    let (values, ()) = join!(waits, releases(last));
    values
}

/// Releases until every node's task has been served.
#[task]
async fn releases(counter: Ref<Counter>) {
    let mut released = 0;
    while released < nodes() {
        released += counter.release().await;
        yield_now().await;
    }
}

#[test]
fn continuations_are_resolved_in_other_processes() {
    over_processes(|runtime| {
        let last = runtime.nodes() as u64 - 1;
        assert_eq!(runtime.run(kept()), vec![last; runtime.nodes()]);
    });
}

#[task]
async fn never_released() {
    let all = counters().await;
    everywhere(waits_at, all[nodes() - 1]).await;
}

#[test]
fn a_deadlock_names_the_waits_of_all_processes() {
    over_processes(|runtime| {
        let Err(RunError::Deadlock(lines)) = runtime.try_run(never_released()) else { panic!("no deadlock") };
        let waits = lines.iter().filter(|line| line.contains(&format!("cluster.rs:{KEPT}"))).count();
        assert_eq!(waits, runtime.nodes(), "{lines:#?}");
    });
}

#[derive(Clone, Serialize, Deserialize)]
struct Table(Vec<u64>);

static COPIES: Mutex<Vec<usize>> = Mutex::new(Vec::new());

#[task]
async fn look_up(table: Replicated<Table>) -> u64 {
    COPIES.lock().unwrap().push(std::ptr::from_ref(&*table).addr());
    table.0[here()]
}

#[task]
async fn replicated() -> Vec<u64> {
    let table = Replicated::new(Table((0..nodes() as u64).map(|node| node * 3).collect()));
    everywhere(look_up, table.clone()).await;
    let found = everywhere(look_up, table.clone()).await;
    drop(table);
    found
}

#[test]
fn a_replicated_value_has_one_copy() {
    over_processes(|runtime| {
        assert_eq!(runtime.run(replicated()), (0..runtime.nodes() as u64).map(|node| node * 3).collect::<Vec<_>>());
        let mut copies = std::mem::take(&mut *COPIES.lock().unwrap());
        copies.dedup();
        // The parts of this process.
        assert_eq!(copies.len(), 1, "{copies:?}");
    });
}

static VISITS: Shared = Shared::new();

#[task]
async fn visits(n: u64) {
    mapped(
        0..n,
        |_, ()| {
            VISITS.add(1);
        },
        (),
    )
    .await;
}

#[test]
fn mapped_activities_run_everywhere() {
    over_processes(|runtime| {
        runtime.run(visits(100));
        assert_eq!(VISITS.swap(0), 100);
    });
}

/// A name is used again after 2^32 runs.
#[test]
fn names_of_runs_wrap_around() {
    over_processes(|runtime| {
        for quarter in 1..=6_u32 {
            wire::name_runs_after(runtime, (quarter << 30).wrapping_sub(2));
            let nodes = runtime.nodes() as u64;
            for _ in 0..3 {
                assert_eq!(runtime.run(count()), (nodes + nodes * (nodes - 1), 3));
            }
        }
    });
}

/// Runs are begun while others end, in all processes.
#[test]
fn runs_overlap() {
    within_a_minute(|| {
        let runtime = Runtime::builder().over(3, 3).workers(1).nodes(3).build().unwrap();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for times in 0..25 {
                        assert_eq!(runtime.run(one_way(times)), 3 * times + 3);
                        assert_eq!(runtime.run(count()), (9, 3));
                        drop(runtime.spawn(one_way(1000)));
                    }
                });
            }
        });
        assert_eq!(runtime.close(), 0);
    });
}

#[task]
async fn lingers(counters: &[Ref<Counter>], k: u64, turns: u64) -> ControlFlow<()> {
    assert_eq!(counters[k as usize % counters.len()].linger(turns).await, turns);
    Continue(())
}

/// Groups in all processes, whose activities wait for other processes.
#[task]
async fn groups(turns: u64) -> bool {
    let counters = counters().await;
    let each = counters.iter().map(|counter| counter.group(counters.clone(), turns));
    join_all(each).await.into_iter().all(|whole| whole)
}

/// The groups of a cancelled run end before their frames in other processes do, whose numbers the groups of the next runs do not
/// get.
#[test]
fn groups_of_cancelled_runs_leave_the_next_alone() {
    within_a_minute(|| {
        for per_host in [3, 1, 2] {
            let runtime = Runtime::builder().over(3, per_host).workers(2).build().unwrap();
            for turn in 0..30 {
                let cancelled = [200, 20, 2].map(|turns| runtime.spawn(groups(turns)));
                std::thread::sleep(Duration::from_micros(turn * 30));
                drop(cancelled);
                assert!(runtime.run(groups(turn % 4)));
            }
            assert_eq!(runtime.close(), 0, "frames left, {per_host} processes of a host");
        }
    });
}

#[test]
fn statistics_are_those_of_all_processes() {
    over_processes(|runtime| {
        let before = runtime.worker_stats();
        runtime.run(one_way(10));
        let after = runtime.worker_stats();
        assert_eq!((before.len(), after.len()), (runtime.workers(), runtime.workers()));
        let increments: Vec<_> = after.iter().zip(&before).map(|(after, before)| *after - *before).collect();
        // Each worker that has nodes answers calls of its counters.
        let hosts = &increments[..runtime.nodes().min(runtime.workers())];
        let answers: Vec<_> = hosts.iter().map(|stats| stats.messages_own + stats.messages_pushed).collect();
        assert!(answers.iter().all(|&answers| answers > 0), "{answers:?}");
        let mut sum = finespun::Stats::default();
        after.iter().for_each(|stats| sum += *stats);
        // Workers that search for work count on.
        assert_eq!(runtime.stats().frames, sum.frames);
    });
}

/// Calls everywhere, without an end.
#[task]
async fn busy(_: u64) -> u64 {
    let all = counters().await;
    for turn in 0.. {
        for counter in &all {
            counter.add(1).await;
        }
        let (first, rest) = (all[turn % all.len()], all.clone());
        first.last(rest).await;
        all[0].add(1).oneway().await;
    }
    0
}

#[task]
async fn busy_everywhere() {
    everywhere(busy, 0).await;
}

/// Checks that `ended` is the death of process `rank`.
#[cfg(feature = "processes")]
fn check_death<T: std::fmt::Debug>(ended: Result<T, RunError>, rank: usize) {
    match ended {
        Err(RunError::ProcessDied(died)) => {
            assert_eq!(died.rank, rank);
            let text = died.to_string();
            let (processes, pid) = (died.processes, std::process::id());
            assert!(text.starts_with(&format!("process {rank} of {processes} (pid {pid}) has died")), "{text}");
        }
        other => panic!("{other:?}"),
    }
}

/// A process dies while runs are busy, wait, and have been cancelled but not ended everywhere.
#[cfg(feature = "processes")]
#[test]
fn every_run_ends_when_a_process_dies() {
    if common::launched() {
        // Where processes are real, they are killed: `scripts/processes`.
        return;
    }
    let times = AtomicUsize::new(0);
    over_processes(move |runtime| {
        let after = Duration::from_micros(1 << (times.fetch_add(1, Ordering::Relaxed) % 16));
        std::thread::scope(|scope| {
            // Begins at once: no deadlock is found while this run is busy.
            let busy = runtime.spawn(busy_everywhere());
            let waits = scope.spawn(|| runtime.try_run(never_released()));
            scope.spawn(|| (0..4).for_each(|_| drop(runtime.spawn(busy_everywhere()))));
            std::thread::sleep(after);
            runtime.lose_process(1);
            check_death(busy.wait(), 1);
            check_death(waits.join().unwrap(), 1);
        });
        check_death(runtime.try_run(count()), 1);
        let again = std::panic::catch_unwind(AssertUnwindSafe(|| runtime.run(count()))).unwrap_err();
        assert!(again.downcast_ref::<String>().unwrap().contains("process 1 of"));
        assert_eq!(runtime.worker_stats().len(), runtime.workers());
    });
}
