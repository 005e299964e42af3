//! What a call of an object costs: plain, on the object's own node, on another node of the worker, on another worker.
//!
//! Beside them the floor under the last: one cache line that goes back and forth between the two cores, measured in the
//! same rounds, for the host moves them.

use std::hint::black_box;
use std::time::Instant;

use finespun::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::measure::{Sample, alternate};
use super::transports::round_trips_of_a_line;
use super::{Bench, Extra, Report, wanted};
use crate::args::BenchOptions;
use crate::failure::Failure;
use crate::show;

/// Calls of what takes nanoseconds, and of what takes hundreds.
const SHORT: u64 = 10_000_000;
const LONG: u64 = 200_000;
/// Of both, with `--quick`.
const QUICK: u64 = 1000;

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

    /// As one that might suspend.
    #[task(may_block)]
    #[inline(never)]
    async fn add_held(&mut self, amount: u64) -> u64 {
        self.value ^= amount;
        self.value
    }
}

fn plain(times: u64) -> f64 {
    let counter = black_box(Box::new(Counter { value: 3 }));
    let start = Instant::now();
    black_box((0..times).map(|k| counter.get(k)).fold(0, u64::wrapping_add));
    start.elapsed().as_secs_f64()
}

/// Where the object is.
#[derive(Clone, Copy, Serialize, Deserialize)]
enum Distance {
    /// On the caller's node.
    Here,
    /// On another node of the same worker.
    Worker,
    /// On a node of another worker.
    Elsewhere,
}

impl Distance {
    /// A node that is as far from this one.
    fn node(self) -> usize {
        let steps = match self {
            Distance::Here => 0,
            Distance::Worker => 2,
            Distance::Elsewhere => 1,
        };
        (here() + steps) % nodes()
    }
}

/// Who calls: an object as well, since other tasks may be stolen by the worker that they call.
#[derive(Serialize, Deserialize)]
struct Caller;

#[object]
impl Caller {
    #[task(stack)]
    async fn get(_this: Ref<Self>, distance: Distance, times: u64) -> f64 {
        let counter = on(distance.node()).create(Counter { value: 3 }).await;
        let start = Instant::now();
        for k in 0..times {
            let value: u64 = counter.get(k).await;
            black_box(value);
        }
        start.elapsed().as_secs_f64()
    }

    #[task(stack)]
    async fn add(_this: Ref<Self>, distance: Distance, times: u64) -> f64 {
        let counter = on(distance.node()).create(Counter { value: 3 }).await;
        let start = Instant::now();
        for k in 0..times {
            let value: u64 = counter.add(k).await;
            black_box(value);
        }
        start.elapsed().as_secs_f64()
    }

    #[task(stack)]
    async fn add_held(_this: Ref<Self>, distance: Distance, times: u64) -> f64 {
        let counter = on(distance.node()).create(Counter { value: 3 }).await;
        let start = Instant::now();
        for k in 0..times {
            let value: u64 = counter.add_held(k).await;
            black_box(value);
        }
        start.elapsed().as_secs_f64()
    }

    #[task(stack)]
    async fn create_and_free(_this: Ref<Self>, distance: Distance, times: u64) -> f64 {
        let node: usize = distance.node();
        let start = Instant::now();
        for value in 0..times {
            let counter = on(node).create(Counter { value }).await;
            Ref::free(counter).await;
        }
        start.elapsed().as_secs_f64()
    }
}

#[task]
async fn get(distance: Distance, times: u64) -> f64 {
    let caller = on(0).create(Caller).await;
    caller.get(distance, times).await
}

#[task]
async fn add(distance: Distance, times: u64) -> f64 {
    let caller = on(0).create(Caller).await;
    caller.add(distance, times).await
}

#[task]
async fn add_held(distance: Distance, times: u64) -> f64 {
    let caller = on(0).create(Caller).await;
    caller.add_held(distance, times).await
}

#[task]
async fn create_and_free(distance: Distance, times: u64) -> f64 {
    let caller = on(0).create(Caller).await;
    caller.create_and_free(distance, times).await
}

/// Two workers, each on a core of its own if there are two, with two nodes each.
fn two_workers() -> Runtime {
    Runtime::builder().workers(2).nodes(4).pin(true).build().expect("two workers start")
}

fn one_worker() -> Runtime {
    Runtime::builder().workers(1).nodes(4).build().expect("one worker starts")
}

/// A way to call.
struct Way {
    name: &'static str,
    what: &'static str,
    times: u64,
    /// The seconds that so many calls take.
    seconds: fn(u64) -> f64,
}

const WAYS: &[Way] = &[
    Way { name: "plain", what: "a plain method", times: SHORT, seconds: plain },
    Way { name: "shared", what: "here: `&self`", times: SHORT, seconds: |n| one_worker().run(get(Distance::Here, n)) },
    Way {
        name: "exclusive",
        what: "here: `&mut self`",
        times: SHORT,
        seconds: |n| one_worker().run(add(Distance::Here, n)),
    },
    Way {
        name: "held",
        what: "here: `&mut self` of an `async fn`",
        times: SHORT,
        seconds: |n| one_worker().run(add_held(Distance::Here, n)),
    },
    Way {
        name: "worker",
        what: "another node, same worker",
        times: LONG,
        seconds: |n| one_worker().run(get(Distance::Worker, n)),
    },
    Way {
        name: "remote",
        what: "another worker: `&self`",
        times: LONG,
        seconds: |n| two_workers().run(get(Distance::Elsewhere, n)),
    },
    Way {
        name: "remote-held",
        what: "another worker: `&mut self` of an `async fn`",
        times: LONG,
        seconds: |n| two_workers().run(add_held(Distance::Elsewhere, n)),
    },
    Way { name: "line", what: "floor: one cache line, there and back", times: LONG, seconds: round_trips_of_a_line },
    Way {
        name: "create",
        what: "create and free, here",
        times: LONG,
        seconds: |n| one_worker().run(create_and_free(Distance::Here, n)),
    },
    Way {
        name: "create-remote",
        what: "create and free, another worker",
        times: LONG,
        seconds: |n| two_workers().run(create_and_free(Distance::Elsewhere, n)),
    },
];

/// The bench.
#[derive(Debug)]
pub struct Invocation;

impl Bench for Invocation {
    fn name(&self) -> &'static str {
        "invocation"
    }

    fn description(&self) -> &'static str {
        "a call of an object: plain, on its own node, on another, on another worker; beside a bare cache line"
    }

    fn rows(&self) -> Vec<String> {
        WAYS.iter().map(|way| way.name.to_owned()).collect()
    }

    fn run(&self, options: &BenchOptions, _: &Extra) -> Result<Report, Failure> {
        let ways: Vec<_> = WAYS.iter().filter(|way| wanted(options, way.name)).collect();
        let times = |way: &Way| if options.quick { QUICK } else { way.times };
        let samples = alternate(options.rounds, &ways, |way| Ok::<_, Failure>((way.seconds)(times(way))))?;
        let each = |(way, sample): (&&Way, Sample)| -> Sample {
            sample.all().iter().map(|seconds| seconds * 1e9 / times(way) as f64).collect()
        };
        let found: Vec<Sample> = ways.iter().zip(samples).map(each).collect();
        let least = |name| ways.iter().position(|way| way.name == name).map(|at| found[at].least());
        let (plain, line) = (least("plain"), least("line"));
        let of = |figure: f64, floor: Option<f64>| {
            floor.map_or_else(|| "-".to_owned(), |floor| format!("{:.2}", figure / floor))
        };
        let lines: Vec<_> = (ways.iter().zip(&found))
            .map(|(way, sample)| {
                let far = way.name.contains("remote");
                let (figure, median) = (sample.least(), sample.median());
                vec![
                    way.what.to_owned(),
                    format!("{figure:.2}"),
                    format!("{median:.2}"),
                    of(figure, plain),
                    if far { of(figure, line) } else { "-".to_owned() },
                ]
            })
            .collect();
        let text = format!(
            "{}\nLeast and median of {} rounds in turn. {} calls of what is here, {} of what is not.\n",
            show::table(&["call", "ns", "(median)", "of plain", "of the line"], &lines),
            options.rounds,
            show::thousands(SHORT),
            show::thousands(LONG),
        );
        let rows = ways.iter().zip(&found).map(|(way, sample)| {
            json!({"way": way.name, "what": way.what,
                "ns": {"min": sample.least(), "median": sample.median(), "all": sample.all()}})
        });
        Ok(Report { text, rows: rows.collect(), ..Report::default() })
    }
}
