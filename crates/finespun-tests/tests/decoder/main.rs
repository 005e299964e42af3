//! Forged messages do no harm: a fuzzer of the decoders of messages between processes.
//!
//! Real messages of every kind are recorded, mutated, and sent to the workers of a runtime through the memory in which
//! messages arrive, while its tasks wait for answers. Mutated messages may call the methods of real objects with any
//! arguments; nothing may panic outside tasks, hang, take much memory, or damage memory. Afterwards the runtime must work
//! as before.
//!
//! `FINESPUN_FUZZ` sets the number of messages, `FINESPUN_SEED` the seed.

#[path = "../common/mod.rs"]
mod common;
mod forge;
mod gifts;
mod program;
mod victims;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use finespun::prelude::*;
use finespun::testing::wire::{self, Kind};
use finespun::testing::*;

use forge::{Corpus, Random, attack, kinds};
use program::{WORKERS, everything, make_cells};
use victims::{FORGOTTEN, later, make_waits, victim};

const PROCESSES: usize = 2;
const NODES: usize = 5;

/// Messages to each runtime.
const EACH: u64 = if cfg!(debug_assertions) { 30_000 } else { 1_000_000 };
/// The number of kinds of messages that `everything` sends.
const KINDS: usize = 40;
/// The number of kinds of messages between teams.
const TEAM_KINDS: usize = 9;
/// Messages of teams to each run.
const EACH_RUN: usize = 2_000;

/// The number of later runs that forged messages name.
const LATER: usize = 3;

/// Bytes that name the handler of a message.
const IDENTITY: usize = 12;

/// What `everything` returns.
static RIGHT: Mutex<Option<u64>> = Mutex::new(None);
/// Forged messages sent so far.
static SENT: AtomicU64 = AtomicU64::new(0);

/// Records the messages of `everything`. Returns what is needed to forge more.
#[task]
async fn record() -> Corpus {
    // What a cancelled victim of another runtime has left.
    wire::recorded(Kind::Tasks);
    wire::record(true);
    let sum = everything().await;
    wire::record(false);
    assert_eq!(*RIGHT.lock().unwrap().get_or_insert(sum), sum);
    let kinds = kinds(wire::recorded(Kind::Tasks), IDENTITY);
    Corpus { kinds, fresh: Vec::new(), numbers: Vec::new(), name: wire::run_name(0), later: later() }
}

fn setting(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|value| value.parse().expect("a number"))
}

/// The tests record all messages of the process.
static ALONE: Mutex<()> = Mutex::new(());

/// What tasks' panics say after forged messages.
const EXPECTED: [&str; 17] = [
    "as asked",
    "could not be decoded",
    "could not be read",
    "has been freed",
    "was freed while",
    "dropped unresolved",
    "it is full",
    "and was put before",
    "there is no element",
    "there is no node",
    "a forged message",
    "its reference is stale",
    "was cancelled",
    "arrays already",
    "each index once",
    "was called in no group",
    "nothing outside is waited for",
];

/// Tells only unexpected panics. Aborts the process if the library contradicts itself.
fn quiet() {
    std::panic::set_hook(Box::new(|panic| {
        let text = panic.to_string();
        if !EXPECTED.iter().any(|expected| text.contains(expected)) {
            eprintln!("{text}\n{}", std::backtrace::Backtrace::force_capture());
        }
        if text.contains("internal error") {
            std::process::abort();
        }
    }));
}

/// Aborts the process if no message has been sent for a minute.
fn watch() {
    std::thread::spawn(|| {
        let (mut last, mut since) = (0, Instant::now());
        loop {
            std::thread::sleep(Duration::from_secs(1));
            let sent = SENT.load(Ordering::Relaxed);
            if sent != last {
                (last, since) = (sent, Instant::now());
            } else if since.elapsed() > Duration::from_secs(60) {
                eprintln!("stuck after {sent} messages");
                std::process::abort();
            }
        }
    });
}

#[test]
fn forged_messages_do_no_harm() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    quiet();
    watch();
    let wanted = setting("FINESPUN_FUZZ");
    let (start, mut seed) = (Instant::now(), setting("FINESPUN_SEED").unwrap_or(1));
    let (mut runtimes, mut ended) = (0_u64, 0_u64);
    let mut said = Instant::now();
    loop {
        let sent = SENT.load(Ordering::Relaxed);
        match wanted {
            Some(wanted) if sent >= wanted => break,
            None if start.elapsed() > Duration::from_secs(8) => break,
            _ => {}
        }
        if said.elapsed() > Duration::from_secs(10) {
            said = Instant::now();
            eprintln!(
                "{sent} messages, {runtimes} runtimes, {ended} runs ended early, seed {seed}, {:?}",
                start.elapsed()
            );
        }
        seed += 1;
        let workers = if seed % 4 == 3 { 3 } else { 1 };
        WORKERS.store(workers, Ordering::Relaxed);
        let runtime = Runtime::builder().processes(PROCESSES).workers(workers).nodes(NODES);
        let runtime = runtime.block_every([0, 0, 3, 0][seed as usize % 4]).build().unwrap();
        let corpus = runtime.run(record());
        assert!(corpus.kinds.len() >= KINDS, "messages of {} kinds", corpus.kinds.len());
        let attack = attack(corpus, EACH, seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1, PROCESSES * workers);
        let over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                // A forged message may end the run of the attack.
                let attacked = runtime.try_run(attack);
                over.store(true, Ordering::Relaxed);
                drop(attacked);
            });
            while !over.load(Ordering::Relaxed) {
                let Ok(waits) = runtime.try_run(make_waits()) else { continue };
                let mut run = pin!(runtime.spawn(victim(waits)));
                // Dropping the run cancels it.
                while !over.load(Ordering::Relaxed) {
                    let mut context = Context::from_waker(Waker::noop());
                    match catch_unwind(AssertUnwindSafe(|| run.as_mut().poll(&mut context))) {
                        Ok(Poll::Pending) => {}
                        _ => {
                            ended += 1;
                            break;
                        }
                    }
                    std::thread::sleep(Duration::from_micros(20));
                }
                wire::record(false);
                FORGOTTEN.lock().unwrap().clear();
            }
        });
        // The last forged messages arrive, and name runs that have not begun.
        std::thread::sleep(Duration::from_millis(20));
        match runtime.try_run(everything()) {
            Ok(sum) => assert_eq!(Some(sum), *RIGHT.lock().unwrap(), "seed {seed}"),
            Err(error) => {
                eprintln!("seed {seed}: {error}");
                panic!("the runtime does not work as before");
            }
        }
        assert_eq!(runtime.close(), 0, "seed {seed}");
        runtimes += 1;
    }
    let (sent, elapsed) = (SENT.load(Ordering::Relaxed), start.elapsed());
    println!("{sent} messages in {elapsed:?}: {:.0} per second", sent as f64 / elapsed.as_secs_f64());
    println!("{runtimes} runtimes, {ended} runs ended early");
}

/// Uses everything, again and again.
#[task]
async fn busy() -> u64 {
    let mut sum = 0_u64;
    loop {
        sum = sum.wrapping_add(everything().await);
    }
}

/// The messages between the teams are obeyed, so a forged one may end a run, or make the runtime find a deadlock or none.
/// But the processes live, and the runtime can be dropped.
#[test]
fn forged_messages_of_teams_do_no_harm() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    quiet();
    watch();
    let mut random = Random(setting("FINESPUN_SEED").unwrap_or(1).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let (start, mut sent) = (Instant::now(), 0_u64);
    let wanted = setting("FINESPUN_FUZZ_TEAMS");
    while wanted.map_or(start.elapsed() < Duration::from_secs(4), |wanted| sent < wanted) {
        let processes = 2 + random.below(3);
        WORKERS.store(1, Ordering::Relaxed);
        let runtime = Runtime::builder().processes(processes).workers(1).nodes(NODES).build().unwrap();
        wire::record(true);
        runtime.run(everything());
        drop(runtime.spawn(busy()));
        let _ = runtime.try_run(never_released());
        wire::record(false);
        wire::recorded(Kind::Tasks);
        // The first byte says what a message is.
        let kinds = kinds(wire::recorded(Kind::Teams), 1);
        assert!(kinds.len() >= TEAM_KINDS, "messages of {} kinds", kinds.len());
        let corpus = Corpus { kinds, fresh: Vec::new(), numbers: Vec::new(), name: [0; 4], later: [[0; 4]; LATER] };
        let mut message = Vec::new();
        for _ in 0..10 {
            let run = runtime.spawn(busy());
            for _ in 0..EACH_RUN {
                corpus.forge(1, &mut random, &mut message);
                let (from, to) = (random.below(processes), random.below(processes));
                wire::forge_of_team(&runtime, from, to, &message);
                SENT.fetch_add(1, Ordering::Relaxed);
                sent += 1;
                if sent.is_multiple_of(64) {
                    std::thread::sleep(Duration::from_micros(50));
                }
            }
            drop(run);
        }
        drop(runtime);
    }
    println!("{sent} messages of teams in {:?}", start.elapsed());
}

#[task]
async fn never_released() -> u64 {
    let cells = make_cells().await;
    cells[0].wait(cells[NODES - 1]).await
}
