//! Termination of trees of activities, by the method that finds the members: Table 3.
//!
//! All activities of a tree of some 4000 wait; then the last one terminates the whole. The baseline for the cost of
//! beginning a group is the same tree of joins, which has no groups.

use std::cell::Cell;
use std::ops::ControlFlow::{self, Break, Continue};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use finespun::group::{Members, Policy};
use finespun::prelude::*;
use finespun::sync::Semaphore;
use finespun::testing::*;
use serde_json::json;

use super::{Config, Report};
use crate::measure::take_turns;
use finespun_lab::failure::Failure;
use finespun_lab::show;

/// The shape of a tree: children per activity, and levels.
#[derive(Clone, Copy)]
struct Shape {
    name: &'static str,
    width: u64,
    depth: u32,
}

const SHAPES: [Shape; 5] = [
    Shape { name: "flat, 4096", width: 4096, depth: 1 },
    Shape { name: "64 x 64", width: 64, depth: 2 },
    Shape { name: "16 x 16 x 16", width: 16, depth: 3 },
    Shape { name: "8, 4 levels", width: 8, depth: 4 },
    Shape { name: "2, 11 levels", width: 2, depth: 11 },
];

impl Shape {
    fn leaves(self) -> u64 {
        self.width.pow(self.depth)
    }

    /// Returns the number of activities.
    fn activities(self) -> u64 {
        (1..=self.depth).map(|level| self.width.pow(level)).sum()
    }
}

/// The data that the activities of a tree share.
struct Tree {
    width: u64,
    leaves: u64,
    waiting: AtomicU64,
    never: Semaphore,
    /// The time at which all leaves but one were waiting.
    turn: Mutex<Option<Instant>>,
}

impl Tree {
    fn new(shape: Shape) -> Tree {
        let (width, leaves) = (shape.width, shape.leaves());
        Tree { width, leaves, waiting: AtomicU64::new(0), never: Semaphore::new(0), turn: Mutex::new(None) }
    }

    /// Counts this leaf. Returns true, and notes the time, if it is the last.
    fn last(&self) -> bool {
        let last = self.waiting.fetch_add(1, Ordering::AcqRel) + 1 == self.leaves;
        if last {
            *self.turn.lock().expect("nobody panics") = Some(Instant::now());
        }
        last
    }
}

#[task]
async fn grouped(tree: &Tree, depth: u32) -> ControlFlow<()> {
    if depth > 0 {
        return parfor(0..tree.width, |_: u64| grouped(tree, depth - 1)).await;
    }
    if tree.last() {
        return Break(());
    }
    drop(tree.never.acquire().await);
    Continue(())
}

/// The break propagates by itself: each level returns its group's result.
#[task]
async fn ended(tree: &Tree, depth: u32) -> bool {
    parfor(0..tree.width, |_: u64| grouped(tree, depth - 1)).await.is_break()
}

#[task]
async fn joined(tree: &Tree, depth: u32) {
    if depth > 0 {
        reduce((0..tree.width).map(|_| joined(tree, depth - 1)), (), |(), ()| ()).await;
    } else if tree.last() {
        tree.never.release(tree.leaves as usize);
    } else {
        drop(tree.never.acquire().await);
    }
}

/// The way in which a tree is made.
#[derive(Clone, Copy, PartialEq)]
enum Made {
    Joins,
    Groups(Members),
}

/// Nanoseconds per activity for beginning and for terminating the tree, and steps to find a member.
#[derive(Clone, Copy)]
struct Cost {
    begin: f64,
    end: f64,
    steps: f64,
}

pub(super) fn measure(config: &Config, report: &mut Report) -> Result<(), Failure> {
    let head = [
        "tree",
        "activities",
        "joins, ns",
        "begin: codes",
        "bottom-up",
        "steps: codes",
        "bottom-up",
        "end, ns: codes",
        "bottom-up",
    ];
    let table = report.table(12, &head)?;
    let variants = [Made::Joins, Made::Groups(Members::RangeCodes), Made::Groups(Members::BottomUp)];
    // One worker, because the figures are amounts of work.
    let one = |members| Runtime::builder().workers(1).policy(Policy::Steal).members(members).build();
    for shape in SHAPES {
        if config.quick && shape.depth > 2 {
            continue;
        }
        let uncoded = Cell::new(0);
        let found = take_turns(config.rounds.max(3), &variants, |&made| {
            let runtime = one(if let Made::Groups(members) = made { members } else { Members::default() })?;
            let cost = once(&runtime, shape, made);
            uncoded.set(uncoded.get().max(runtime.stats().groups_uncoded));
            Ok::<_, Failure>(cost)
        })?;
        let least = |of: fn(&Cost) -> f64| {
            let least = |costs: &Vec<Cost>| costs.iter().map(of).fold(f64::INFINITY, f64::min);
            [least(&found[0]), least(&found[1]), least(&found[2])]
        };
        let (begin, end, steps) = (least(|c| c.begin), least(|c| c.end), least(|c| c.steps));
        let more = |at: usize| 100.0 * (begin[at] / begin[0] - 1.0);
        let line = [
            shape.name.to_owned(),
            show::thousands(shape.activities()),
            format!("{:.0}", begin[0]),
            format!("{:+.0} %", more(1)),
            format!("{:+.0} %", more(2)),
            format!("{:.2}", steps[1]),
            format!("{:.2}", steps[2]),
            format!("{:.0}", end[1]),
            format!("{:.0}", end[2]),
        ];
        report.line(&table, &line)?;
        report.row(json!({
            "section": "table3", "tree": shape.name, "activities": shape.activities(), "begin_ns": begin, "end_ns": end,
            "steps": steps, "uncoded": uncoded.get(),
        }));
    }
    report.say(
        "\nFor each activity: ns to begin the tree as joins, without groups; how much more with groups whose members are found by\n\
         range codes, and bottom-up; steps to find out that it is a member of the ended group; ns until all have been destroyed.\n\
         The paper: 6 % and 21 % more to begin; 6.7 to 8.4 and 12.5 to 13.5 operations per killed activity. There an activity has\n\
         the code; here its group, which is one for all activities of a construct, and is found out once.\n",
    )
}

/// Makes a tree and terminates it.
fn once(runtime: &Runtime, shape: Shape, made: Made) -> Cost {
    let tree = Tree::new(shape);
    let before = runtime.stats();
    let start = Instant::now();
    match made {
        Made::Joins => runtime.run(joined(&tree, shape.depth)),
        Made::Groups(_) => assert!(runtime.run(ended(&tree, shape.depth)), "the last activity ends the tree"),
    }
    let end = Instant::now();
    let turn = tree.turn.into_inner().ok().flatten().unwrap_or(end);
    let each = |figure: f64| figure / shape.activities() as f64;
    Cost {
        begin: each((turn - start).as_nanos() as f64),
        end: each((end - turn).as_nanos() as f64),
        steps: each((runtime.stats() - before).member_steps as f64),
    }
}
