//! Random programs of puts, gets, takes, frees and panics over several nodes, compared with a sequential model.
//!
//! Each script is a separate run, so its panic ends no other script. Its outcome does not depend on the schedule: an
//! element is written once, so it becomes present eventually, or never; and a sum is taken and put back by one task at
//! a time.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::AtomicI64;
use std::sync::atomic::Ordering::SeqCst;
use std::task::{Context, Wake, Waker};
use std::thread::Thread;
use std::time::{Duration, Instant};

use finespun::istructure::{Cache, IArray, MArray};
use finespun::prelude::*;
use finespun::testing::*;
use finespun::{layout, runtime::RunFuture, runtime::Transport};
use proptest::prelude::*;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::arrays::{LAYOUTS, place};
use crate::common::{Launch, Shared};

/// Number of elements of the write-once array.
const LEN: usize = 40;
/// Number of elements of the array of sums.
const SUMS: usize = 3;

static ALIVE: AtomicI64 = AtomicI64::new(0);

/// Number of steps that each script has performed.
static DONE: [Shared; 9] = [const { Shared::new() }; 9];

/// A value whose live instances are counted. The values of some elements cannot be cloned.
struct Value(usize);

fn copies(index: usize) -> bool {
    index % 9 != 4
}

impl Value {
    fn new(index: usize) -> Value {
        ALIVE.fetch_add(1, SeqCst);
        Value(index)
    }
}

impl Clone for Value {
    fn clone(&self) -> Value {
        assert!(copies(self.0), "element {} cannot be copied", self.0);
        Value::new(self.0)
    }
}

impl Drop for Value {
    fn drop(&mut self) {
        ALIVE.fetch_sub(1, SeqCst);
    }
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Value, D::Error> {
        usize::deserialize(deserializer).map(Value::new)
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
enum Step {
    Put(usize),
    /// An element that this script has put before.
    PutAgain(usize),
    Get(usize),
    /// The given number of cloneable elements, from the given index on.
    GetMany(usize, usize),
    Add(usize, u64),
    Yield,
    Panic,
}

/// The outcome of a script.
#[derive(Clone, Debug, PartialEq)]
enum End {
    /// It returns the sum of the values that it has read.
    Sum(u64),
    Panicked,
    /// It waits for an element that no script writes.
    Waits,
}

#[derive(Clone, Debug)]
struct Program {
    how: usize,
    cache: Cache,
    scripts: Vec<(usize, Vec<Step>)>,
    /// Whether the array is freed while scripts wait; otherwise their waits are reported as a deadlock.
    freed: bool,
    workers: usize,
    nodes: usize,
    block_every: u32,
    transport: Transport,
    encode: bool,
}

fn many(from: usize, count: usize) -> impl Iterator<Item = usize> + Clone {
    (from..LEN).filter(|&index| copies(index)).take(count)
}

fn programs() -> impl Strategy<Value = Program> {
    let caches = prop_oneof![
        Just(Cache::Off),
        Just(Cache::Auto),
        (0u32..5, 1usize..5).prop_map(|(block, capacity)| Cache::On { block: 1 << block, capacity }),
    ];
    let transports = prop_oneof![Just(Transport::Adaptive), Just(Transport::Push), Just(Transport::Pull)];
    let step = prop_oneof![
        12 => (0..LEN).prop_map(Step::Get),
        4 => (0..LEN, 0..12usize).prop_map(|(from, count)| Step::GetMany(from, count)),
        6 => (0..SUMS, 1..100u64).prop_map(|(sum, term)| Step::Add(sum, term)),
        2 => Just(Step::Yield),
        1 => (0..LEN).prop_map(Step::PutAgain),
        1 => Just(Step::Panic),
    ];
    let machine = (1usize..4, 1usize..6, 0u32..6, transports, any::<bool>());
    let scripts = proptest::collection::vec((0usize..6, proptest::collection::vec(step, 0..8)), 1..9);
    // The script that puts each element, and the position in that script; up to two elements are put by no script.
    let puts = proptest::collection::vec((0usize..9, 0usize..8), LEN);
    let missing = proptest::collection::vec(0..LEN, 0..3);
    (0..LAYOUTS, caches, scripts, puts, missing, any::<bool>(), machine).prop_map(
        |(how, cache, mut scripts, puts, missing, freed, (workers, nodes, block_every, transport, encode))| {
            for (index, (script, at)) in puts.into_iter().enumerate().filter(|(index, _)| !missing.contains(index)) {
                let script = script % scripts.len();
                let steps = &mut scripts[script].1;
                steps.insert(at.min(steps.len()), Step::Put(index));
            }
            for (node, steps) in &mut scripts {
                *node %= nodes;
                // Only an element that the script itself has put is certainly present when it is put again.
                let mut own = Vec::new();
                for step in steps.iter_mut() {
                    match step {
                        Step::Put(index) => own.push(*index),
                        Step::PutAgain(index) if !own.contains(index) => *step = Step::Yield,
                        _ => {}
                    }
                }
            }
            Program { how, cache, scripts, freed, workers, nodes, block_every, transport, encode }
        },
    )
}

/// Returns each script's outcome and number of steps, and the sums. Advances all scripts that can continue, until none
/// can.
fn model(program: &Program) -> (Vec<End>, Vec<usize>, [u64; SUMS]) {
    let mut written = [false; LEN];
    let mut sums = [0; SUMS];
    let mut at = vec![0; program.scripts.len()];
    let mut read = vec![0; program.scripts.len()];
    let mut ends: Vec<Option<End>> = vec![None; program.scripts.len()];
    loop {
        let mut moved = false;
        for (script, (_, steps)) in program.scripts.iter().enumerate() {
            while ends[script].is_none() {
                let Some(step) = steps.get(at[script]) else {
                    ends[script] = Some(End::Sum(read[script]));
                    break;
                };
                match step {
                    Step::Put(index) => written[*index] = true,
                    Step::Get(index) if !written[*index] => break,
                    Step::Get(index) if !copies(*index) => ends[script] = Some(End::Panicked),
                    Step::Get(index) => read[script] += *index as u64,
                    Step::GetMany(from, count) if !many(*from, *count).all(|index| written[index]) => break,
                    Step::GetMany(from, count) => read[script] += many(*from, *count).sum::<usize>() as u64,
                    Step::Add(sum, term) => sums[*sum] += term,
                    Step::Yield => {}
                    Step::PutAgain(_) | Step::Panic => ends[script] = Some(End::Panicked),
                }
                at[script] += 1;
                moved = true;
            }
        }
        if !moved {
            return (ends.into_iter().map(|end| end.unwrap_or(End::Waits)).collect(), at, sums);
        }
    }
}

type Arrays = (IArray<Value>, MArray<u64>);

#[task]
async fn script(((all, sums), number, steps): (Arrays, usize, Vec<Step>)) -> u64 {
    let mut read: u64 = 0;
    for step in steps {
        match step {
            Step::Put(index) | Step::PutAgain(index) => all.put(index, Value::new(index)).await,
            Step::Get(index) => read += all.get(index).await.0 as u64,
            Step::GetMany(from, count) => {
                let values: Vec<Value> = all.get_many(many(from, count)).await;
                read += values.iter().map(|value| value.0 as u64).sum::<u64>();
            }
            Step::Add(sum, term) => {
                let before: u64 = sums.take(sum).await;
                yield_now().await;
                sums.put(sum, before + term).await;
            }
            Step::Yield => yield_now().await,
            Step::Panic => panic!("on purpose"),
        }
        DONE[number].add(1);
    }
    read
}

#[task]
async fn at(node: usize, arrays: Arrays, number: usize, steps: Vec<Step>) -> u64 {
    on(node).call(script, (arrays, number, steps)).await
}

#[task]
async fn make(how: usize, cache: Cache) -> Arrays {
    let all = IArray::create(LEN, place(how, LEN, nodes())).cached(cache).await;
    let sums = MArray::create(SUMS, layout::cyclic(nodes())).await;
    for index in 0..SUMS {
        sums.put(index, 0).await;
    }
    (all, sums)
}

#[task]
async fn take_all(sums: MArray<u64>) -> Vec<u64> {
    let found = join_all((0..SUMS).map(|index| sums.take(index))).await;
    sums.free().await;
    found
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Waits for a run. Returns its value, or the message of its panic.
fn wait(run: &mut RunFuture<u64>) -> Result<u64, String> {
    let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
    let mut context = Context::from_waker(&waker);
    let start = Instant::now();
    loop {
        let polled = catch_unwind(AssertUnwindSafe(|| Pin::new(&mut *run).poll(&mut context)));
        match polled {
            Ok(std::task::Poll::Ready(value)) => return Ok(value),
            Ok(std::task::Poll::Pending) => std::thread::park_timeout(Duration::from_secs(1)),
            Err(payload) => {
                let text = payload.downcast_ref::<String>().cloned();
                return Err(text.or_else(|| Some((*payload.downcast_ref::<&str>()?).to_owned())).unwrap_or_default());
            }
        }
        assert!(start.elapsed() < Duration::from_secs(30), "a script neither ends nor is reported");
    }
}

fn check(program: &Program) -> Result<(), TestCaseError> {
    let (ends, done, known) = model(program);
    for done in &DONE {
        done.swap(0);
    }
    let runtime = Runtime::builder().workers(program.workers).nodes(program.nodes).block_every(program.block_every);
    let runtime = runtime.transport(program.transport).encoded(program.encode).build().unwrap();
    let (all, sums) = runtime.run(make(program.how, program.cache));
    let outside = runtime.outside();
    let begin = |(number, (node, steps)): (usize, &(usize, Vec<Step>))| {
        runtime.spawn(at(*node, (all, sums), number, steps.clone()))
    };
    let mut runs: Vec<RunFuture<u64>> = program.scripts.iter().enumerate().map(begin).collect();
    for (run, end) in runs.iter_mut().zip(&ends) {
        if *end != End::Waits {
            prop_assert_eq!(&wait(run).map_or(End::Panicked, End::Sum), end);
        }
    }
    // Waits until each waiting script has performed all steps before its wait.
    let waits = || DONE.iter().zip(ends.iter().zip(&done)).filter(|(_, (end, _))| **end == End::Waits);
    while !waits().all(|(done, (_, steps))| done.load() == *steps as i64) {
        std::thread::yield_now();
    }
    if program.freed {
        runtime.run(all.free());
    }
    drop(outside);
    for (run, _) in runs.iter_mut().zip(&ends).filter(|(_, end)| **end == End::Waits) {
        let text = wait(run).expect_err("it waits for what nobody writes");
        prop_assert!(text.contains("element") && text.contains("programs.rs"), "{}", text);
        prop_assert!(text.contains(if program.freed { "freed" } else { "deadlock" }), "{}", text);
    }
    if !program.freed {
        runtime.run(all.free());
    }
    prop_assert_eq!(runtime.run(take_all(sums)), known);
    drop(runs);
    prop_assert_eq!(runtime.close(), 0, "no frame is left");
    prop_assert_eq!(ALIVE.load(SeqCst), 0, "no value is left");
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn programs_end_as_the_model_says(program in programs()) {
        check(&program)?;
    }
}
