//! `mpirun -n 2 processes [--quick]` measures messages between two processes of this host: Finespun beside MPI.
//!
//! `mpirun -n 4 processes --all [--quick]` measures messages from each process to each other.
//!
//! `mpirun -n 8 processes --hotspot MESSAGES`: all processes but the first send it MESSAGES messages of 96 bytes each, while
//! it computes for a millisecond between polls. Prints the time, and the most memory that a process has used.
//!
//! With `FINESPUN_MPI_SHM=off`, Finespun's messages take the way that they take between hosts: over MPI.
//!
//! Rounds of all rows, one after the other, so that all see the same state of the machine. While a row of MPI runs, the
//! workers of Finespun are parked. The first process prints the least and the median.

use std::mem::ManuallyDrop;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use finespun::everywhere;
use finespun::prelude::*;
use finespun::runtime::Fabric;
use finespun::tasks::quiesce;
use finespun_mpi::exchange::Exchange;
use finespun_mpi::world::{BURST, Error, Words, World};

const ROUNDS: usize = 9;
const TAG: u16 = 1;
/// Words from one place to another on a cache line of its own.
const APART: usize = 16;

/// The object that receives messages.
struct Total(u64);

#[object]
impl Total {
    fn add(&mut self, n: u64) -> u64 {
        self.0 += n;
        self.0
    }

    fn add_product(&mut self, a: u64, b: u64) {
        self.0 += a * b;
    }
}

/// Calls the other process `times` times, and waits for each answer.
#[task]
async fn calls(times: u64) -> Duration {
    let total: Ref<Total> = on(1).create_with(Total, 0).await;
    let begun = Instant::now();
    for time in 1..=times {
        assert_eq!(total.add(1).await, time, "the answer of this call");
    }
    begun.elapsed()
}

/// Calls the other process `times` times, without answers.
#[task]
async fn one_way(times: u64) -> Duration {
    let total: Ref<Total> = on(1).create_with(Total, 0).await;
    let begun = Instant::now();
    for time in 0..times {
        total.add_product(1, time).oneway().await;
    }
    // A later call is answered after all of them.
    assert_eq!(total.add(0).await, (0..times).sum::<u64>(), "the sum of all messages");
    let time = begun.elapsed();
    quiesce().await;
    time
}

#[task]
async fn one_call(total: Ref<Total>) -> u64 {
    total.add(1).await
}

/// Calls the other process `times` times, eight calls at once.
#[task]
async fn eight_calls(times: u64) -> Duration {
    let total: Ref<Total> = on(1).create_with(Total, 0).await;
    let begun = Instant::now();
    for _ in 0..times / 8 {
        join_all((0..8).map(|_| one_call(total))).await;
    }
    assert_eq!(total.add(0).await, times / 8 * 8, "the sum of all calls");
    begun.elapsed() * 8
}

/// Sends messages to all others, in turns.
#[task]
async fn sends((all, each): (Vec<Ref<Total>>, u64)) {
    for time in 0..each {
        for offset in 1..all.len() {
            let to: Ref<Total> = all[(here() + offset) % all.len()];
            to.add_product(1, time).oneway().await;
        }
    }
}

/// Each node sends `each` messages to each other one.
#[task]
async fn all_to_all(each: u64) -> Duration {
    let mut all: Vec<Ref<Total>> = Vec::new();
    for node in 0..nodes() {
        all.push(on(node).create_with(Total, 0).await);
    }
    let begun = Instant::now();
    everywhere(sends, (all.clone(), each)).await;
    quiesce().await;
    let time = begun.elapsed();
    for total in all {
        let sum = (nodes() as u64 - 1) * (0..each).sum::<u64>();
        assert_eq!(total.add(0).await, sum, "the sum of all messages");
    }
    time
}

/// A task for each call of a recursion that does nothing else.
#[task(portable)]
async fn tree(n: u32) -> u64 {
    if n < 2 {
        return 1;
    }
    let (left, right) = join!(tree(n - 1), tree(n - 2));
    left + right
}

struct Pair<'w> {
    world: &'w World,
    shared: Words<'w>,
    /// In the first process.
    runtime: Option<&'w Runtime>,
    times: u64,
}

struct Row {
    what: &'static str,
    /// Of a row that counts messages, more is better.
    millions: bool,
    measure: fn(&Pair<'_>) -> Result<f64, Error>,
}

const ROWS: [Row; 7] = [
    Row { what: "a cache line, there and back", millions: false, measure: line },
    Row { what: "MPI send and receive, 8 bytes, there and back", millions: false, measure: send_and_receive },
    Row { what: "Finespun call, 8 bytes, with answer", millions: false, measure: call },
    Row { what: "Finespun, 8 such calls at once", millions: false, measure: eight },
    Row { what: "MPI Isend and Irecv, 16 bytes, one way", millions: true, measure: burst },
    Row { what: "Finespun call, 16 bytes, one way", millions: true, measure: post },
    Row { what: "Finespun fork and join, with two portable calls", millions: false, measure: fork },
];

const ALL_TO_ALL: [Row; 2] = [
    Row { what: "MPI Isend and Irecv, 16 bytes, all to all", millions: true, measure: burst_all },
    Row { what: "Finespun call, 16 bytes, one way, all to all", millions: true, measure: post_all },
];

/// The published profile of the rival whose tasks another host's thieves take, on two cores.
const PUBLISHED: &str = "Itoyori, published for two cores: a fork 138 to 170 ns, a get from another process 1260 ns. \
    Finespun's get is the call with answer.";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let (all, quick) = match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => (false, false),
        ["--quick"] => (false, true),
        ["--all"] => (true, false),
        ["--all", "--quick"] => (true, true),
        ["--hotspot", each] => return run_hotspot(each),
        _ => return refuse("usage: mpirun -n 2 processes [--quick], or with --all or --hotspot MESSAGES"),
    };
    let world = match World::start(0) {
        Ok(world) if world.size() == world.host_size() && (world.size() == 2 || all && world.size() > 2) => {
            ManuallyDrop::new(world)
        }
        Ok(_) => return refuse("needs two processes of one host: mpirun -n 2 processes; with --all, several"),
        Err(error) => return refuse(&error.to_string()),
    };
    let far = std::env::var("FINESPUN_MPI_SHM").is_ok_and(|shared| shared == "off" || shared == "1");
    if far {
        Exchange::lend(&world);
    }
    let first = world.rank() == 0;
    let build = || Runtime::builder().fabric(Fabric::Processes).workers(1).build();
    let runtime = if first {
        match build() {
            Ok(runtime) => Some(runtime),
            Err(error) => return refuse(&error.to_string()),
        }
    } else {
        // Serves until the first process has ended.
        thread::spawn(move || build().map(drop));
        None
    };
    let rows: &[Row] = if all { &ALL_TO_ALL } else { &ROWS };
    // Where processes wait for each other by polling, as MPI's do, and there are more of them than processors, it takes long.
    let times = if quick {
        500
    } else if far || all {
        5_000
    } else {
        50_000
    };
    if let Err(error) = measure(&world, &runtime, rows, times, far) {
        eprintln!("processes: process {}: {error}", world.rank());
        world.abort(1);
    }
    if !far {
        drop(ManuallyDrop::into_inner(world));
    }
    if !first {
        loop {
            thread::park();
        }
    }
    // The other process ends with this one, and must have left MPI before.
    thread::sleep(Duration::from_millis(300));
    drop(runtime);
    ExitCode::SUCCESS
}

/// The object that receives the flood.
struct Sink {
    messages: u64,
    sum: u64,
}

#[object]
impl Sink {
    fn take(&mut self, words: [u64; 12]) {
        self.messages += 1;
        self.sum += words[11];
    }

    fn seen(&self) -> (u64, u64) {
        (self.messages, self.sum)
    }
}

/// Sends messages to the first node; the first node computes until all have arrived. Returns the process's memory in KiB.
#[task]
async fn flood((sink, each): (Ref<Sink>, u64)) -> u64 {
    if here() > 0 {
        for number in 0..each {
            sink.take([number; 12]).oneway().await;
        }
    } else {
        let (messages, sum) = (each * (nodes() as u64 - 1), each * each.saturating_sub(1) / 2 * (nodes() as u64 - 1));
        loop {
            let begun = Instant::now();
            while begun.elapsed() < Duration::from_millis(1) {
                std::hint::spin_loop();
            }
            let seen = sink.seen().await;
            if seen.0 == messages {
                assert_eq!(seen.1, sum, "each message once");
                break;
            }
            yield_now().await;
        }
    }
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let most = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    most.and_then(|most| most.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}

#[task]
async fn hotspot(each: u64) -> (Duration, Vec<u64>) {
    let sink: Ref<Sink> = on(0).create_with(|(messages, sum)| Sink { messages, sum }, (0, 0)).await;
    let begun = Instant::now();
    let memory = everywhere(flood, (sink, each)).await;
    (begun.elapsed(), memory)
}

/// Runs [`hotspot`] in the processes that a launcher has started.
fn run_hotspot(each: &str) -> ExitCode {
    let Ok(each) = each.parse::<u64>() else { return refuse("usage: mpirun -n 8 processes --hotspot MESSAGES") };
    let runtime = match Runtime::builder().fabric(Fabric::Processes).workers(1).build() {
        Ok(runtime) => runtime,
        Err(error) => return refuse(&error.to_string()),
    };
    let (time, memory) = runtime.run(hotspot(each));
    let senders = memory.len() as u64 - 1;
    println!("{senders} processes sent {each} messages of 96 bytes each to one that computes 1 ms between polls");
    println!(
        "{:.1} s, {:.2} million messages a second",
        time.as_secs_f64(),
        (each * senders) as f64 / time.as_secs_f64() / 1e6
    );
    println!("the most memory of each process, in KiB: {memory:?}");
    ExitCode::SUCCESS
}

fn refuse(text: &str) -> ExitCode {
    eprintln!("processes: {text}");
    ExitCode::from(2)
}

fn measure<'w>(
    world: &'w World,
    runtime: &'w Option<Runtime>,
    rows: &[Row],
    times: u64,
    far: bool,
) -> Result<(), Error> {
    let quick = times < 1_000;
    let pair = Pair { world, shared: world.share(APART * 2)?, runtime: runtime.as_ref(), times };
    let mut found: Vec<_> = rows.iter().map(|_| Vec::new()).collect();
    for _ in 0..if quick { 1 } else { ROUNDS } {
        for (row, found) in rows.iter().zip(&mut found) {
            world.barrier()?;
            // The workers of the row before park.
            thread::sleep(Duration::from_millis(1));
            found.push((row.measure)(&pair)?);
        }
    }
    if world.rank() == 0 {
        let way = if far { " that share no memory" } else { "" };
        println!("{} processes of one host{way}, {}, {} rounds\n", world.size(), world.library(), found[0].len());
        println!("{:<48} {:>8} {:>8}", "", "best", "median");
        for (row, mut found) in rows.iter().zip(found) {
            found.sort_by(f64::total_cmp);
            let (best, unit) =
                if row.millions { (found[found.len() - 1], "million a second") } else { (found[0], "ns") };
            println!("{:<48} {best:>8.1} {:>8.1} {unit}", row.what, found[found.len() / 2]);
        }
        if world.size() == 2 {
            println!("\n{PUBLISHED}");
        }
    }
    Ok(())
}

/// Waits for the end of a row in the first process, without using the processor.
fn wait_aside(pair: &Pair<'_>) -> Result<f64, Error> {
    let done = &pair.shared.words()[0];
    while done.load(Ordering::Acquire) != u64::MAX {
        thread::sleep(Duration::from_micros(200));
    }
    Ok(0.0)
}

/// Runs a row of Finespun in the first process.
fn run<T: Task<Output = Duration> + Send + 'static>(pair: &Pair<'_>, task: T) -> Result<f64, Error> {
    let done = &pair.shared.words()[0];
    done.store(0, Ordering::Release);
    pair.world.barrier()?;
    let Some(runtime) = pair.runtime else { return wait_aside(pair) };
    let time = runtime.run(task);
    done.store(u64::MAX, Ordering::Release);
    Ok(time.as_secs_f64() * 1e9 / pair.times as f64)
}

fn call(pair: &Pair<'_>) -> Result<f64, Error> {
    run(pair, calls(pair.times))
}

/// In nanoseconds for all eight.
fn eight(pair: &Pair<'_>) -> Result<f64, Error> {
    run(pair, eight_calls(pair.times))
}

fn post(pair: &Pair<'_>) -> Result<f64, Error> {
    Ok(1e3 / run(pair, one_way(pair.times))?)
}

/// Measures forks in a runtime of one process with one worker, since another process would take tasks.
fn fork(pair: &Pair<'_>) -> Result<f64, Error> {
    let done = &pair.shared.words()[0];
    done.store(0, Ordering::Release);
    pair.world.barrier()?;
    if pair.runtime.is_none() {
        return wait_aside(pair);
    }
    let depth = if pair.times < 10_000 { 20 } else { 30 };
    let alone = Runtime::builder().workers(1).build().expect("a runtime of one worker");
    let begun = Instant::now();
    let leaves = alone.run(tree(depth));
    let time = begun.elapsed();
    done.store(u64::MAX, Ordering::Release);
    // Each fork makes one leaf more.
    Ok(time.as_secs_f64() * 1e9 / (leaves - 1) as f64)
}

fn line(pair: &Pair<'_>) -> Result<f64, Error> {
    let [there, back] = [0, APART].map(|at| &pair.shared.words()[at]);
    let first = pair.world.rank() == 0;
    let (own, other) = if first { (there, back) } else { (back, there) };
    own.store(0, Ordering::Release);
    pair.world.barrier()?;
    let await_turn = |word: &AtomicU64, time| {
        while word.load(Ordering::Acquire) != time {
            std::hint::spin_loop();
        }
    };
    let begun = Instant::now();
    for time in 1..=pair.times {
        if first {
            own.store(time, Ordering::Release);
            await_turn(other, time);
        } else {
            await_turn(other, time);
            own.store(time, Ordering::Release);
        }
    }
    Ok(begun.elapsed().as_secs_f64() * 1e9 / pair.times as f64)
}

fn send_and_receive(pair: &Pair<'_>) -> Result<f64, Error> {
    let (world, first) = (pair.world, pair.world.rank() == 0);
    let other = 1 - world.rank();
    let begun = Instant::now();
    for time in 0..pair.times {
        let mut message = time.to_le_bytes();
        if first {
            world.send(other, TAG, &message)?;
        }
        world.receive(other, TAG, &mut message)?;
        assert_eq!(message, time.to_le_bytes(), "the message of this turn");
        if !first {
            world.send(other, TAG, &message)?;
        }
    }
    Ok(begun.elapsed().as_secs_f64() * 1e9 / pair.times as f64)
}

fn burst(pair: &Pair<'_>) -> Result<f64, Error> {
    let (world, bursts) = (pair.world, pair.times as usize / 50);
    let other = 1 - world.rank();
    let mut received = [0; 16 * BURST];
    let begun = Instant::now();
    for burst in 0..bursts {
        if world.rank() == 0 {
            world.send_burst(other, TAG, &[burst as u8; 16], BURST)?;
        } else {
            world.receive_burst(other, TAG, &mut received, BURST)?;
            assert!(received.iter().all(|&byte| byte == burst as u8), "the messages of this burst");
        }
    }
    world.barrier()?;
    Ok((bursts * BURST) as f64 / begun.elapsed().as_secs_f64() / 1e6)
}

/// In millions a second, over all processes.
fn burst_all(pair: &Pair<'_>) -> Result<f64, Error> {
    let (world, size) = (pair.world, pair.world.size());
    let bursts = pair.times as usize / BURST;
    let mut received = [0; 16 * BURST];
    world.barrier()?;
    let begun = Instant::now();
    for burst in 0..bursts {
        for offset in 1..size {
            world.send_burst((world.rank() + offset) % size, TAG, &[burst as u8; 16], BURST)?;
        }
        for offset in 1..size {
            world.receive_burst((world.rank() + offset) % size, TAG, &mut received, BURST)?;
            assert!(received.iter().all(|&byte| byte == burst as u8), "the messages of this burst");
        }
    }
    world.barrier()?;
    Ok((bursts * BURST * size * (size - 1)) as f64 / begun.elapsed().as_secs_f64() / 1e6)
}

fn post_all(pair: &Pair<'_>) -> Result<f64, Error> {
    let pairs = (pair.world.size() * (pair.world.size() - 1)) as f64;
    Ok(1e3 / run(pair, all_to_all(pair.times))? * pairs)
}
