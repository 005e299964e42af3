//! The measurements: kinds of calls, each at some distances, some also with every call in a frame.

use std::time::Duration;

use finespun::prelude::*;
use finespun::{Stats, runtime::Schema};
use serde::{Deserialize, Serialize};

use super::{calls, lives, replies, waits};
use crate::transports::round_trips_of_a_line;

/// The number of calls per round: `SHORT` for calls of a few nanoseconds, `LONG` for calls of hundreds.
pub const SHORT: u64 = 10_000_000;
pub const LONG: u64 = 200_000;
/// The same for both, with `--quick`.
const QUICK: u64 = 1000;
/// The number of objects created or freed in a row; divides all of the above.
pub const BATCH: u64 = 100;
/// The calls of the two runs whose counters are subtracted.
const COUNTED: [u64; 2] = [1000, 2000];

/// The distance from the caller to the object.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Distance {
    /// On the caller's node.
    Here,
    /// On another node of the same worker.
    Worker,
    /// On a node of another worker.
    Remote,
}

use Distance::{Here, Remote, Worker};

/// All distances, from near to far.
const DISTANCES: [Distance; 3] = [Here, Worker, Remote];

impl Distance {
    /// Returns a node at this distance from the current one.
    pub fn node(self) -> usize {
        let steps = match self {
            Here => 0,
            Worker => 2,
            Remote => 1,
        };
        (here() + steps) % nodes()
    }

    pub fn name(self) -> &'static str {
        match self {
            Here => "here",
            Worker => "worker",
            Remote => "remote",
        }
    }
}

/// The aspect that a kind of call measures.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// A lower bound on the time of every call at this distance.
    Floor(Distance),
    /// A call whose caller waits for the reply.
    Call,
    Create,
    /// A call that has to wait.
    Fallback,
    Reply,
}

impl Part {
    pub fn name(self) -> &'static str {
        match self {
            Part::Floor(_) => "floor",
            Part::Call => "call",
            Part::Create => "create",
            Part::Fallback => "fallback",
            Part::Reply => "reply",
        }
    }
}

/// A function that performs `n` calls and returns their seconds: without a runtime, or as tasks.
enum Run {
    Alone(fn(u64) -> f64),
    Tasks(fn(&Runtime, Distance, u64) -> f64),
}

/// A line of the table.
pub struct Kind {
    pub name: &'static str,
    pub what: &'static str,
    pub part: Part,
    /// The calls per round for an object on the caller's node.
    times: u64,
    run: Run,
}

type Timed = fn(&Runtime, Distance, u64) -> f64;

const fn kind(part: Part, times: u64, name: &'static str, what: &'static str, run: Timed) -> Kind {
    Kind { name, what, part, times, run: Run::Tasks(run) }
}

/// All lines, in order.
pub const KINDS: &[Kind] = &[
    Kind {
        name: "plain",
        what: "floor: a plain method",
        part: Part::Floor(Here),
        times: SHORT,
        run: Run::Alone(calls::plain),
    },
    Kind {
        name: "line",
        what: "floor: one cache line, there and back",
        part: Part::Floor(Remote),
        times: LONG,
        run: Run::Alone(round_trips_of_a_line),
    },
    kind(Part::Call, SHORT, "shared", "fn, &self", calls::shared),
    kind(Part::Call, SHORT, "exclusive", "fn, &mut self", calls::exclusive),
    kind(Part::Call, SHORT, "straight", "async fn, no lock, straight", calls::straight),
    kind(Part::Call, SHORT, "may-block", "async fn, no lock, stack schema", calls::may_block),
    kind(Part::Call, SHORT, "stack", "async fn, no lock, awaits `shared`", calls::stack),
    kind(Part::Call, SHORT, "forward", "async fn, no lock, ends in `shared`", calls::forward),
    kind(Part::Call, SHORT, "held-shared", "async fn, &self, stack schema", calls::held_shared),
    kind(Part::Call, SHORT, "held", "async fn, &mut self, stack schema", calls::held),
    kind(Part::Call, LONG, "pinned", "async fn, no lock, pinned", calls::pinned),
    kind(Part::Call, LONG, "pinned-held", "async fn, &mut self, pinned", calls::pinned_held),
    kind(Part::Create, LONG, "create", "make an object", lives::create),
    kind(Part::Create, LONG, "free", "free an object", lives::free),
    kind(Part::Fallback, LONG, "no-fallback", "join of two, nobody waits", waits::no_fallback),
    kind(Part::Fallback, LONG, "fallback", "join of two, one waits for the other", waits::fallback),
    kind(Part::Fallback, LONG, "fallback-held", "join of two, that one holds an object", waits::fallback_held),
    kind(Part::Fallback, LONG, "in-line", "join of three, one waits for that object", waits::in_line),
    kind(Part::Reply, LONG, "oneway", "`exclusive`, one-way", replies::oneway),
    kind(Part::Reply, LONG, "in-flight", "`exclusive`, ten under variant at once", replies::in_flight),
    kind(Part::Reply, LONG, "given", "`exclusive`, reply to a continuation", replies::given),
    kind(Part::Reply, LONG, "carried", "one-way, resolves a continuation", replies::carried),
];

/// A cell of the table.
pub struct Variant {
    /// The name for `--only`.
    pub name: String,
    pub kind: &'static Kind,
    pub distance: Distance,
    pub schema: Schema,
}

/// Returns all cells.
pub fn variants() -> Vec<Variant> {
    let variant = |kind: &'static Kind, distance: Distance, schema| {
        let heap = (schema == Schema::Heap).then_some("heap");
        let place = (distance != Here && !matches!(kind.part, Part::Floor(_))).then(|| distance.name());
        let name: Vec<_> = heap.into_iter().chain(place).chain([kind.name]).collect();
        Variant { name: name.join("-"), kind, distance, schema }
    };
    let mut variants = Vec::new();
    for kind in KINDS {
        let (distances, schemas) = match kind.part {
            Part::Floor(distance) => (vec![distance], &[Schema::Auto][..]),
            Part::Fallback => (vec![Here], &[Schema::Auto][..]),
            Part::Create | Part::Reply => (DISTANCES.to_vec(), &[Schema::Auto][..]),
            Part::Call => (DISTANCES.to_vec(), &[Schema::Auto, Schema::Heap][..]),
        };
        for &schema in schemas {
            variants.extend(distances.iter().map(|&distance| variant(kind, distance, schema)));
        }
    }
    variants
}

/// The additional names that `--only` takes.
pub const COLUMNS: [&str; 4] = ["here", "worker", "remote", "heap"];

/// Counters per call.
#[derive(Clone, Copy, Serialize)]
pub struct Counts {
    pub frames: f64,
    pub fallbacks: f64,
    pub resumptions: f64,
    pub messages: f64,
}

impl Variant {
    /// Returns the name of the cell's column for `--only`.
    pub fn column(&self) -> &'static str {
        if self.schema == Schema::Heap { "heap" } else { self.distance.name() }
    }

    /// Returns the number of calls in one round.
    pub fn times(&self, quick: bool) -> u64 {
        match (quick, self.distance, self.schema) {
            (true, ..) => QUICK,
            (false, Here, Schema::Auto) => self.kind.times,
            _ => LONG,
        }
    }

    /// Returns the seconds that `times` calls take.
    pub fn seconds(&self, times: u64) -> f64 {
        match self.kind.run {
            Run::Alone(run) => run(times),
            Run::Tasks(run) => run(&self.runtime(), self.distance, times),
        }
    }

    /// Counts over two runs of different lengths: one-time work cancels in the difference.
    pub fn counts(&self) -> Option<Counts> {
        let Run::Tasks(run) = self.kind.run else { return None };
        let runtime = self.runtime();
        // The first objects end the visits of this thread, which takes a frame or two.
        run(&runtime, self.distance, COUNTED[0]);
        let [few, many] = COUNTED.map(|times| {
            let before = runtime.stats();
            run(&runtime, self.distance, times);
            runtime.stats() - before
        });
        let each =
            |count: fn(&Stats) -> u64| (count(&many) as f64 - count(&few) as f64) / (COUNTED[1] - COUNTED[0]) as f64;
        Some(Counts {
            frames: each(|stats| stats.frames),
            fallbacks: each(|stats| stats.fallbacks),
            resumptions: each(|stats| stats.resumptions),
            messages: each(|stats| stats.messages_own + stats.messages_pushed + stats.messages_pulled),
        })
    }

    /// Builds the runtime: four nodes, on two workers if the object belongs to another worker. Two workers are pinned
    /// to a core each, where two cores exist.
    ///
    /// The quantum never ends in a round: the caller would go on as a frame.
    fn runtime(&self) -> Runtime {
        let workers = if self.distance == Remote { 2 } else { 1 };
        let builder = Runtime::builder().workers(workers).nodes(4).schema(self.schema);
        builder.pin(workers == 2).quantum(Duration::from_secs(3600)).build().expect("workers start")
    }
}
