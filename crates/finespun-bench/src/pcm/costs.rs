//! Section 3 of the paper: the cost of each step in the life of a closure.

use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::time::Instant;

use finespun::Runtime;
use finespun::closure::{Closure, Cont, Vector, make_closure, post, send_argument, thread, top};
use serde_json::json;

use super::{Config, Report};
use finespun_lab::failure::Failure;

/// Closures that are made, posted and run in one go: as many as stay in the cache.
const BATCH: usize = 200;
/// Closures that are posted for another worker to take over.
const MANY: usize = 2000;

/// Nanoseconds, with the paper's names.
#[derive(Clone, Copy, Debug)]
pub(super) struct Costs {
    /// Make a closure: M_c.
    pub(super) make: f64,
    /// Send one argument of several to a closure here: S_l.
    pub(super) send: f64,
    /// Send the only argument, which posts the closure.
    send_last: f64,
    /// Post: P_c.
    pub(super) post: f64,
    /// Schedule, from posted to running and back: S_c.
    pub(super) schedule: f64,
    /// The extra cost of a send to a closure that another worker made: T_a. 0 on one worker.
    pub(super) transfer: f64,
    /// The extra cost of a closure that another worker takes over: T_c. 0 on one worker.
    pub(super) migrate: f64,
}

/// Times of events.
#[derive(Debug)]
struct Stamps {
    start: Instant,
    at: [AtomicU64; 4],
    count: AtomicUsize,
}

impl Stamps {
    fn new() -> Arc<Stamps> {
        Arc::new(Stamps { start: Instant::now(), at: Default::default(), count: AtomicUsize::new(0) })
    }

    fn stamp(&self, index: usize) {
        self.at[index].store(self.start.elapsed().as_nanos() as u64, Relaxed);
    }

    /// Returns the nanoseconds of one of `count` operations between two stamps.
    fn each(&self, from: usize, to: usize, count: usize) -> f64 {
        let [from, to] = [from, to].map(|index| self.at[index].load(Relaxed));
        to.saturating_sub(from) as f64 / count as f64
    }
}

#[thread]
fn nothing(a: u64, b: u64) {
    black_box((a, b));
}

#[thread]
fn stamp(#[shared] stamps: &Stamps, end: Cont<()>, index: usize) {
    stamps.stamp(index);
    send_argument((), end);
}

#[thread]
fn one(x: u64) {
    black_box(x);
}

#[thread]
fn two(x: u64, y: u64) {
    black_box((x, y));
}

#[thread]
fn several(end: Cont<()>, values: Vector<u64>) {
    black_box(values.len());
    send_argument((), end);
}

/// Ends the computation when it has both arguments.
#[thread]
fn both(end: Cont<()>, first: (), second: ()) {
    black_box((first, second));
    send_argument((), end);
}

/// Makes, posts and runs closures: the stamps 0 and 1 enclose making, 1 and 2 posting, and a new 0 and 3 running.
fn make_and_run(runtime: &Runtime) -> [f64; 3] {
    let stamps = Stamps::new();
    let clock = Arc::clone(&stamps);
    let mut found = [0.0; 2];
    runtime.run(
        top(|end| {
            let ends = make_closure!(both, end, _, _);
            // This closure runs last.
            post(make_closure!(stamp, ends.first, 3));
            let mut closures: Vec<Closure<nothing>> = Vec::with_capacity(BATCH);
            clock.stamp(0);
            for k in 0..BATCH as u64 {
                closures.push(make_closure!(nothing, k, 1));
            }
            clock.stamp(1);
            closures.into_iter().for_each(post);
            clock.stamp(2);
            found = [clock.each(0, 1, BATCH), clock.each(1, 2, BATCH)];
            // This closure runs first.
            post(make_closure!(stamp, ends.second, 0));
        })
        .sharing(Arc::clone(&stamps)),
    );
    let [make, post] = found;
    [make, post, stamps.each(0, 3, BATCH)]
}

/// Sends one of several arguments, and the only one.
fn send(runtime: &Runtime) -> [f64; 2] {
    let clock = Stamps::new();
    let mut found = [0.0; 2];
    runtime.run(top(|end| {
        let mut to = make_closure!(several, end, _[BATCH + 1]).values;
        let only: Vec<Cont<u64>> = (0..BATCH).map(|_| make_closure!(one, _).x).collect();
        clock.stamp(0);
        for (k, to) in (0..BATCH as u64).zip(to.by_ref()) {
            send_argument(k, to);
        }
        clock.stamp(1);
        only.into_iter().zip(0..).for_each(|(to, k)| send_argument(k, to));
        clock.stamp(2);
        found = [clock.each(0, 1, BATCH), clock.each(1, 2, BATCH)];
        // One more hole than those measured: the last send posts the closure, and is not timed.
        to.for_each(|to| send_argument(0, to));
    }));
    found
}

/// Sends to closures that another worker has made.
#[thread]
fn send_far(#[shared] stamps: &Stamps, end: Cont<()>, to: Vec<Cont<u64>>) {
    stamps.count.fetch_add(1, Relaxed);
    let count = to.len();
    stamps.stamp(0);
    to.into_iter().zip(0..).for_each(|(to, k)| send_argument(k, to));
    stamps.stamp(1);
    stamps.count.fetch_add(count, Relaxed);
    send_argument((), end);
}

/// Posts a closure from time to time until `stamps.count` reaches `count`: each post lets other workers see posted
/// closures.
fn until(stamps: &Stamps, count: usize) {
    while stamps.count.load(Relaxed) < count {
        post(make_closure!(nothing, 0, 0));
        (0..100).for_each(|_| std::hint::spin_loop());
    }
}

fn send_global(runtime: &Runtime) -> f64 {
    let stamps = Stamps::new();
    let clock = Arc::clone(&stamps);
    runtime.run(
        top(|end| {
            let (mut far, mut near) = (Vec::new(), Vec::new());
            for _ in 0..BATCH {
                let closure = make_closure!(two, _, _);
                far.push(closure.x);
                near.push(closure.y);
            }
            // In an order that no prefetcher can guess: 37 and the batch have no common factor.
            let mut order: Vec<(usize, Cont<u64>)> = far.into_iter().enumerate().collect();
            order.sort_by_key(|(index, _)| index * 37 % BATCH);
            let far: Vec<Cont<u64>> = order.into_iter().map(|(_, to)| to).collect();
            post(make_closure!(send_far, end, far));
            until(&clock, 1 + BATCH);
            near.into_iter().for_each(|to| send_argument(0, to));
        })
        .sharing(Arc::clone(&stamps)),
    );
    stamps.each(0, 1, BATCH)
}

/// One of many closures that another worker takes over.
#[thread]
fn taken(#[shared] stamps: &Stamps) {
    // The first few are taken while the other worker still posts.
    match stamps.count.fetch_add(1, Relaxed) {
        99 => stamps.stamp(0),
        499 => stamps.stamp(1),
        _ => {}
    }
}

fn migrate(runtime: &Runtime) -> f64 {
    let stamps = Stamps::new();
    let clock = Arc::clone(&stamps);
    runtime.run(
        top(|end| {
            (0..MANY).for_each(|_| post(make_closure!(taken)));
            until(&clock, 500);
            send_argument((), end);
        })
        .sharing(Arc::clone(&stamps)),
    );
    stamps.each(0, 1, 400)
}

/// Computes `steps` steps of four cycles each: a multiplication in parallel with a shift, and an exclusive or that
/// waits for both.
#[inline(always)]
pub(super) fn compute(steps: u64) {
    let mut x = black_box(1_u64);
    for _ in 0..steps {
        x = x.wrapping_mul(6_364_136_223_846_793_005) ^ (x >> 7);
    }
    black_box(x);
}

/// Returns the nanoseconds of a processor cycle.
pub(crate) fn cycle() -> f64 {
    let steps = 1_000_000;
    let times = (0..5).map(|_| {
        let start = Instant::now();
        compute(steps);
        start.elapsed().as_secs_f64() * 1e9 / (4 * steps) as f64
    });
    times.fold(f64::INFINITY, f64::min)
}

/// Returns the least of `times` measurements, for each figure.
fn least<const N: usize>(times: usize, measure: impl Fn() -> [f64; N]) -> [f64; N] {
    (0..times).fold([f64::INFINITY; N], |least, _| {
        let found = measure();
        std::array::from_fn(|index| least[index].min(found[index]))
    })
}

/// Measures all costs.
pub(super) fn costs(config: &Config) -> Result<Costs, Failure> {
    let times = if config.quick { 5 } else { 200 * config.rounds };
    let one = config.runtime(1)?;
    let [make, post, schedule] = least(times, || make_and_run(&one));
    let [send, send_last] = least(times, || self::send(&one));
    let mut costs = Costs { make, send, send_last, post, schedule, transfer: 0.0, migrate: 0.0 };
    if config.workers > 1 {
        let many = config.runtime(config.workers)?;
        let times = if config.quick { 1 } else { 20 * config.rounds };
        // The median: the least would be a cache line that happened to be local already.
        let median = |measure: &dyn Fn(&Runtime) -> f64| {
            let mut found: Vec<f64> = (0..times).map(|_| measure(&many)).collect();
            found.sort_by(f64::total_cmp);
            found[times / 2]
        };
        costs.transfer = (median(&send_global) - send).max(0.0);
        costs.migrate = (median(&migrate) - schedule).max(0.0);
    }
    Ok(costs)
}

pub(super) fn measure(config: &Config, report: &mut Report) -> Result<(), Failure> {
    let (costs, cycle) = (costs(config)?, cycle());
    let mut lines = vec![
        ("make a closure, M_c", costs.make, "10"),
        ("send one of several arguments, S_l", costs.send, "10"),
        ("send the only one, with the post", costs.send_last, "20"),
        ("post, P_c", costs.post, "10"),
        ("schedule, S_c", costs.schedule, "15"),
    ];
    if config.workers > 1 {
        lines.push(("send to another worker's closure: more, T_a", costs.transfer, "100"));
        lines.push(("run another worker's closure: more, T_c", costs.migrate, "500"));
    }
    let table = report.table(44, &["", "ns", "cycles", "paper, cycles"])?;
    for (name, ns, paper) in lines {
        let line = [name.to_owned(), format!("{ns:.1}"), format!("{:.0}", ns / cycle), paper.to_owned()];
        report.row(json!({"section": "costs", "what": name, "ns": ns, "cycles": ns / cycle, "paper": paper}));
        report.line(&table, &line)?;
    }
    report.say(&format!(
        "\nA cycle is {cycle:.3} ns, by a chain of multiplications. The paper's are of a CM-5, whose nodes share no memory.\n"
    ))
}
