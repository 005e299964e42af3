//! Random trees of nested constructs, compared with a sequential model: no activity is lost, runs twice, or runs after
//! its group has ended.
//!
//! Which of several activities ends a group depends on timing. So the model gives the possible outcomes of a group, and
//! which outcomes are certain.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::ops::ControlFlow::{self, Break, Continue};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use finespun::group::{Members, Policy, parblock};
use finespun::prelude::*;
use finespun::sync::Semaphore;
use finespun::testing::*;
use finespun::{RunError, group::Level, group::sync, level, on, preturn};
use proptest::prelude::{Just, Strategy, any, prop_oneof};
use proptest::test_runner::{Config, TestRunner};

/// A step of an activity.
#[derive(Clone, Debug)]
enum Step {
    Yield,
    /// Waits at the barrier of its group.
    Sync,
    /// Holds a permit across a wait.
    Permit,
    /// Calls a task at this node, modulo the number of nodes.
    Remote(usize),
    Group(Tree),
}

/// How an activity ends, unless a nested group ends it before.
#[derive(Clone, Copy, Debug)]
enum End {
    Normal,
    Break,
    Panic,
    /// Returns from an enclosing level, if it exists; 0 is the innermost one.
    Return(usize),
}

/// A construct.
#[derive(Clone, Debug)]
struct Tree {
    kind: Kind,
    activities: Vec<(Vec<Step>, End)>,
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    Parfor,
    Parblock,
    /// A `parfor` in its own level.
    Level,
}

fn trees() -> impl Strategy<Value = Tree> {
    let kind = prop_oneof![3 => Just(Kind::Parfor), 1 => Just(Kind::Parblock), 1 => Just(Kind::Level)];
    let end = prop_oneof![
        12 => Just(End::Normal),
        1 => Just(End::Break),
        1 => Just(End::Panic),
        1 => (0..3_usize).prop_map(End::Return),
    ];
    let simple = prop_oneof![
        3 => Just(Step::Yield),
        3 => Just(Step::Sync),
        2 => Just(Step::Permit),
        1 => any::<u8>().prop_map(|node| Step::Remote(node.into())),
    ];
    let activity = |step| (proptest::collection::vec(step, 0..4), end.clone());
    let tree = |step| {
        let activities = proptest::collection::vec(activity(step), 1..6);
        (kind.clone(), activities).prop_map(|(kind, activities)| Tree { kind, activities })
    };
    let leaf = tree(simple.clone().boxed());
    let middle = tree(prop_oneof![4 => simple.clone(), 1 => leaf.clone().prop_map(Step::Group)].boxed());
    let outer = prop_oneof![1 => leaf.prop_map(Step::Group), 2 => middle.prop_map(Step::Group)];
    tree(prop_oneof![3 => simple, 1 => outer].boxed())
}

/// A possible outcome of a group or an activity. Activities have numbers; groups have the index of their tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Came {
    Normal,
    Break(usize),
    Panic(usize),
    /// To the level of the group with the first number, by the activity with the second.
    Return(usize, usize),
}

/// The trees laid out flat, and the state of their execution.
struct World {
    groups: Vec<Group>,
    activities: Vec<Activity>,
    permits: Semaphore,
    /// Errors found in activities. A panic would be lost in a terminated group.
    wrong: Mutex<String>,
}

struct Group {
    kind: Kind,
    /// The numbers of its activities.
    activities: std::ops::Range<usize>,
    level: Mutex<Option<Level<usize>>>,
    ended: AtomicBool,
}

struct Activity {
    group: usize,
    /// The groups that it runs in, outermost first.
    within: Vec<usize>,
    steps: Vec<Flat>,
    /// How it ends; `Return` names the level.
    end: Came,
    begun: AtomicU64,
    alive: AtomicBool,
    finished: AtomicBool,
    phase: AtomicU64,
}

enum Flat {
    Yield,
    Sync,
    Permit,
    Remote(usize),
    Group(usize),
}

const PERMITS: usize = 2;

impl World {
    fn new(tree: &Tree) -> World {
        let mut world = World {
            groups: Vec::new(),
            activities: Vec::new(),
            permits: Semaphore::new(PERMITS),
            wrong: Mutex::default(),
        };
        world.add(tree, &[], &[]);
        world
    }

    fn add(&mut self, tree: &Tree, within: &[usize], levels: &[usize]) -> usize {
        let number = self.groups.len();
        let first = self.activities.len();
        let activities = first..first + tree.activities.len();
        let group = Group { kind: tree.kind, activities, level: Mutex::new(None), ended: AtomicBool::new(false) };
        self.groups.push(group);
        let mut levels = levels.to_vec();
        if matches!(tree.kind, Kind::Level) {
            levels.push(number);
        }
        let within = [within, &[number]].concat();
        for (k, (_, end)) in (first..).zip(&tree.activities) {
            let end = match *end {
                End::Normal => Came::Normal,
                End::Break => Came::Break(k),
                End::Panic => Came::Panic(k),
                End::Return(out) => match levels.iter().rev().nth(out) {
                    Some(&level) => Came::Return(level, k),
                    None => Came::Normal,
                },
            };
            self.activities.push(Activity {
                group: number,
                within: within.clone(),
                steps: Vec::new(),
                end,
                begun: AtomicU64::new(0),
                alive: AtomicBool::new(false),
                finished: AtomicBool::new(false),
                phase: AtomicU64::new(0),
            });
        }
        for (k, (steps, _)) in (first..).zip(&tree.activities) {
            for step in steps {
                let step = match step {
                    Step::Yield => Flat::Yield,
                    Step::Sync => Flat::Sync,
                    Step::Permit => Flat::Permit,
                    Step::Remote(node) => Flat::Remote(*node),
                    Step::Group(tree) => Flat::Group(self.add(tree, &within, &levels)),
                };
                self.activities[k].steps.push(step);
            }
        }
        number
    }

    /// Returns the possible outcomes of an activity.
    fn of_activity(&self, k: usize) -> BTreeSet<Came> {
        let activity = &self.activities[k];
        let mut may = BTreeSet::new();
        for step in &activity.steps {
            let Flat::Group(group) = step else { continue };
            let of = self.of_group(*group);
            let (ends, goes_on): (BTreeSet<Came>, _) =
                of.into_iter().partition(|came| matches!(came, Came::Panic(_) | Came::Return(..)));
            may.extend(ends);
            if goes_on.is_empty() {
                return may;
            }
        }
        may.insert(activity.end);
        may
    }

    /// Returns the possible outcomes of a group.
    fn of_group(&self, number: usize) -> BTreeSet<Came> {
        let group = &self.groups[number];
        let each: Vec<_> = group.activities.clone().map(|k| self.of_activity(k)).collect();
        let mut may: BTreeSet<Came> = each.iter().flatten().copied().filter(|came| *came != Came::Normal).collect();
        if each.iter().all(|may| may.contains(&Came::Normal)) {
            may.insert(Came::Normal);
        }
        // An activity that returns to this level ends it like a break.
        may.into_iter()
            .map(|came| match came {
                Came::Return(level, k) if level == number => Came::Break(k),
                came => came,
            })
            .collect()
    }

    fn wrong(&self, text: String) {
        *self.wrong.lock().unwrap() += &(text + "\n");
    }

    fn is_beneath(&self, k: usize, group: usize) -> bool {
        self.activities[k].within.contains(&group)
    }
}

/// A guard that marks an activity as alive.
struct Alive<'a>(&'a World, usize);

impl<'a> Alive<'a> {
    fn new(world: &'a World, k: usize) -> Alive<'a> {
        let activity = &world.activities[k];
        if activity.begun.fetch_add(1, Ordering::Relaxed) > 0 {
            world.wrong(format!("activity {k} begins again"));
        }
        activity.alive.store(true, Ordering::Relaxed);
        let alive = Alive(world, k);
        alive.check();
        alive
    }

    /// Records an error if an enclosing group has ended.
    fn check(&self) {
        for &group in &self.0.activities[self.1].within {
            let ended = self.0.groups[group].ended.load(Ordering::Acquire);
            if ended {
                self.0.wrong(format!("activity {} runs after group {group} has ended", self.1));
            }
        }
    }
}

impl Drop for Alive<'_> {
    fn drop(&mut self) {
        self.check();
        self.0.activities[self.1].alive.store(false, Ordering::Relaxed);
    }
}

#[task]
async fn at_a_node(n: usize) -> usize {
    yield_now().await;
    n + 1
}

#[task(pinned)]
async fn activity(world: &World, k: usize) -> ControlFlow<usize> {
    let alive = Alive::new(world, k);
    let me = &world.activities[k];
    for step in &me.steps {
        match step {
            Flat::Yield => yield_now().await,
            Flat::Permit => {
                let _permit = world.permits.acquire().await;
                yield_now().await;
            }
            Flat::Remote(node) => {
                let next = on(node % nodes()).call(at_a_node, *node).await;
                assert_eq!(next, node + 1);
            }
            Flat::Sync => {
                let phase = me.phase.fetch_add(1, Ordering::Relaxed) + 1;
                sync().await;
                for other in world.groups[me.group].activities.clone() {
                    let other = &world.activities[other];
                    let arrived = other.phase.load(Ordering::Relaxed) >= phase;
                    if !arrived && !other.finished.load(Ordering::Relaxed) {
                        world.wrong(format!("activity {k} did not wait for another"));
                    }
                }
            }
            Flat::Group(number) => {
                let _ = construct(world, *number).await;
            }
        }
        alive.check();
    }
    match me.end {
        Came::Normal => {}
        Came::Break(k) => return Break(k),
        Came::Panic(k) => panic!("activity {k}"),
        Came::Return(number, k) => {
            let level = *world.groups[number].level.lock().unwrap();
            match preturn(level.unwrap(), k).await {}
        }
    }
    me.finished.store(true, Ordering::Relaxed);
    Continue(())
}

#[task(pinned)]
async fn construct(world: &World, number: usize) -> ControlFlow<usize> {
    let group = &world.groups[number];
    let ended = match group.kind {
        Kind::Parfor => parfor(group.activities.clone(), |k| activity(world, k)).await,
        Kind::Parblock => blocks(world, group.activities.clone()).await,
        Kind::Level => match level(|level| in_level(world, number, level)).await {
            usize::MAX => Continue(()),
            k => Break(k),
        },
    };
    group.ended.store(true, Ordering::Release);
    for (k, activity) in world.activities.iter().enumerate() {
        if world.is_beneath(k, number) && activity.alive.load(Ordering::Relaxed) {
            world.wrong(format!("activity {k} lives after group {number}"));
        }
    }
    ended
}

#[task]
async fn blocks(world: &World, of: std::ops::Range<usize>) -> ControlFlow<usize> {
    let a = of.start;
    match of.len() {
        1 => parblock((activity(world, a),)).await,
        2 => parblock((activity(world, a), activity(world, a + 1))).await,
        3 => parblock((activity(world, a), activity(world, a + 1), activity(world, a + 2))).await,
        4 => {
            let last = activity(world, a + 3);
            parblock((activity(world, a), activity(world, a + 1), activity(world, a + 2), last)).await
        }
        _ => {
            let (fourth, fifth) = (activity(world, a + 3), activity(world, a + 4));
            parblock((activity(world, a), activity(world, a + 1), activity(world, a + 2), fourth, fifth)).await
        }
    }
}

#[task(pinned)]
async fn in_level(world: &World, number: usize, level: Level<usize>) -> usize {
    let group = &world.groups[number];
    *group.level.lock().unwrap() = Some(level);
    match parfor(group.activities.clone(), |k| activity(world, k)).await {
        Break(k) => k,
        Continue(()) => usize::MAX,
    }
}

/// Runs a tree and reports every deviation from the model.
fn run(runtime: &Runtime, tree: &Tree) -> Result<(), String> {
    let world = World::new(tree);
    let may = world.of_group(0);
    let came = match runtime.try_run(construct(&world, 0)) {
        Ok(Continue(())) => Came::Normal,
        Ok(Break(k)) => Came::Break(k),
        Err(RunError::Panicked(panic)) => match panic.message().strip_prefix("activity ").map(str::parse) {
            Some(Ok(k)) => Came::Panic(k),
            _ => return Err(panic.to_string()),
        },
        Err(error) => return Err(error.to_string()),
    };
    let mut wrong = std::mem::take(&mut *world.wrong.lock().unwrap());
    if !may.contains(&came) {
        let _ = writeln!(wrong, "{came:?} is none of {may:?}");
    }
    for (k, activity) in world.activities.iter().enumerate() {
        // An activity has finished if all groups around it can only end normally.
        let certain = activity.within.iter().all(|&group| world.of_group(group) == BTreeSet::from([Came::Normal]));
        if certain && !activity.finished.load(Ordering::Relaxed) {
            let _ = writeln!(wrong, "activity {k} is lost");
        }
        if activity.alive.load(Ordering::Relaxed) {
            let _ = writeln!(wrong, "activity {k} still lives");
        }
    }
    if world.permits.available() != PERMITS {
        let _ = writeln!(wrong, "{} permits are left", world.permits.available());
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong) }
}

#[test]
fn random_trees_end_as_the_model_says() {
    // The panics are part of the test; their messages are suppressed.
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        let text = panic.payload_as_str().unwrap_or_default();
        if !text.starts_with("activity ") || text.contains(' ') && text.len() > 14 {
            usual(panic);
        }
    }));
    let mut runtimes = Vec::new();
    let policies = [Policy::Steal, Policy::Global, Policy::Envelopes, Policy::Representatives];
    for (case, (workers, nodes)) in [(1, 1), (1, 3), (2, 2), (3, 3), (2, 8), (8, 8)].into_iter().enumerate() {
        for (which, n) in [0, 1, 2, 3, 5, 7].into_iter().enumerate() {
            let members = [Members::BottomUp, Members::RangeCodes][(case + which) % 2];
            let policy = if which % 3 == 0 { Policy::Steal } else { policies[(case + which) % 4] };
            let builder = Runtime::builder().workers(workers).nodes(nodes).block_every(n);
            let runtime = builder.members(members).policy(policy).encode(case % 2 == 1).build().unwrap();
            runtimes
                .push((runtime, format!("{workers} workers, {nodes} nodes, block every {n}, {members:?}, {policy:?}")));
        }
    }
    let cases = std::env::var("FINESPUN_TREES").ok().and_then(|trees| trees.parse().ok()).unwrap_or(60);
    let mut runner = TestRunner::new(Config { cases, failure_persistence: None, ..Config::default() });
    let found = runner.run(&trees(), |tree| {
        for (runtime, how) in &runtimes {
            run(runtime, &tree)
                .map_err(|wrong| proptest::test_runner::TestCaseError::fail(format!("{how}: {wrong}")))?;
        }
        Ok(())
    });
    for (runtime, how) in runtimes {
        assert_eq!(runtime.close(), 0, "frames left: {how}");
    }
    if let Err(error) = found {
        panic!("{error}");
    }
}
