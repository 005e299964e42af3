//! Runs bodies in all their forms and compares the traces with the plain form's trace.
//!
//! The report consists of lines of fields separated by tabs: `begin NAME`, `differ NAME FORM SETTING N` followed by
//! `plain EVENT` and `other EVENT` lines, `frames NAME COUNT`, `end NAME`, and `done` at the very end.

use std::fmt::Debug;
use std::io::Write;
use std::os::unix::process::parent_id;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::{Duration, Instant};

use fs::testing::{TestCounts, TestSettings};
use fs::{RunError, Runtime, Task};

use crate::trace::T;

/// A body in all its forms.
pub struct Case {
    pub name: &'static str,
    pub plain: fn(T, u64),
    pub forms: &'static [(&'static str, fn(&Runtime, T, u64))],
}

/// The values of the parameter `n`.
const INPUTS: u64 = 4;
const BLOCK: [u32; 4] = [0, 1, 2, 3];
/// Bodies in flight on two workers.
const FLIGHT: usize = 3;
const ROUNDS: usize = 3;
/// Bytes: far more than a body needs, and a small part of a machine's memory.
const FRAME_MEMORY: usize = 256 << 20;

static OUT: Mutex<()> = Mutex::new(());

/// Writes the result of a body to the trace, and drops the result.
pub fn show<V: Debug>(t: T, value: V) {
    t.log(format_args!("value {value:?}"));
    drop(value);
    t.log("end");
}

/// Runs a task; a panic of the task is resumed with its payload.
pub fn go<K>(runtime: &Runtime, task: K) -> K::Output
where
    K: Task + Send,
    K::Output: Send,
{
    match runtime.try_run(task) {
        Ok(value) => value,
        Err(RunError::Panicked(panic)) => std::panic::resume_unwind(panic.into_payload()),
        Err(error) => panic!("{error}"),
    }
}

/// Ends the program when its parent process has ended, or after `limit`.
fn watch(limit: Duration) {
    let (begin, parent) = (Instant::now(), parent_id());
    std::thread::spawn(move || {
        while begin.elapsed() < limit && parent_id() == parent {
            std::thread::sleep(Duration::from_millis(200));
        }
        say("timeout");
        std::process::abort();
    });
}

/// Returns the trace of a run in which the destructor number `fails` panics; 0 for none.
fn traced(fails: u64, run: impl FnOnce(T)) -> Vec<String> {
    let t = T::begin(fails);
    if let Err(payload) = catch_unwind(AssertUnwindSafe(|| run(t))) {
        let text = match (payload.downcast_ref::<String>(), payload.downcast_ref::<&str>()) {
            (Some(text), _) => text.clone(),
            (_, Some(text)) => text.to_string(),
            _ => "not a text".to_string(),
        };
        t.log(format_args!("panic {text}"));
    }
    t.finish()
}

/// A run of a body, with the plain form's trace.
struct Expected {
    n: u64,
    fails: u64,
    trace: Vec<String>,
}

impl Expected {
    /// Returns whether a form does the same. Where a destructor panics, rustc leaks the value that a block was about to
    /// return (rust-lang/rust#47949); a task may drop it.
    fn agrees(&self, trace: &[String]) -> bool {
        let mut plain = self.trace.iter().peekable();
        let known =
            |event: &String| plain.next_if_eq(&event).is_some() || (self.fails > 0 && event.starts_with("drop "));
        trace.iter().all(known) && plain.next().is_none()
    }
}

/// Returns the runs of a body for an input: without a panic, and with a destructor that panics.
fn expected(case: &Case, n: u64) -> Vec<Expected> {
    let run = |fails| Expected { n, fails, trace: traced(fails, |t| (case.plain)(t, n)) };
    let whole = run(0);
    let drops =
        whole.trace.iter().filter(|event| event.starts_with("drop ") || event.starts_with("leave ")).count() as u64;
    // Any destructor, a different one for each input.
    let fails = (drops > 0).then(|| (n * 7 + drops / 2) % drops + 1);
    [whole].into_iter().chain(fails.map(run)).collect()
}

fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    let _ = writeln!(out, "{line}");
    let _ = out.flush();
}

/// The body of the program: `cases` are all cases; the arguments are the time limit in seconds and the names of the
/// cases to run.
pub fn main(cases: &[Case]) {
    std::panic::set_hook(Box::new(|_| {}));
    let seconds = std::env::args().nth(1).and_then(|s| s.parse().ok()).unwrap_or(60);
    watch(Duration::from_secs(seconds));
    let names: Vec<String> = std::env::args().skip(2).collect();
    let chosen: Vec<&Case> = cases.iter().filter(|c| names.is_empty() || names.iter().any(|n| n == c.name)).collect();
    let expected: Vec<Vec<Expected>> = chosen
        .iter()
        .map(|case| {
            say(&format!("begin\t{}", case.name));
            let runs = (0..INPUTS).flat_map(|n| expected(case, n)).collect();
            say(&format!("end\t{}", case.name));
            runs
        })
        .collect();
    let panics =
        expected.iter().flatten().filter(|run| run.trace.iter().any(|e| e == "panic a destructor panics")).count();
    say(&format!("counted\tpanics_in_destructors\t{panics}"));
    let differing: Vec<AtomicU32> = chosen.iter().map(|_| AtomicU32::new(0)).collect();
    let compare = |runtime: &Runtime, index: usize, setting: &str| {
        let case = chosen[index];
        for (bit, (form, run)) in case.forms.iter().enumerate() {
            for expected @ &Expected { n, fails, trace: ref plain } in &expected[index] {
                let trace = traced(fails, |t| run(runtime, t, n));
                if expected.agrees(&trace) {
                    continue;
                }
                // Each form is reported once.
                if differing[index].fetch_or(1 << bit, Relaxed) & (1 << bit) == 0 {
                    let _alone = OUT.lock();
                    let fails = match fails {
                        0 => String::new(),
                        fails => format!(", destructor {fails} panics"),
                    };
                    say(&format!("differ\t{}\t{form}\t{setting}{fails}\t{n}", case.name));
                    plain.iter().for_each(|e| say(&format!("plain\t{e}")));
                    trace.iter().for_each(|e| say(&format!("other\t{e}")));
                }
            }
        }
    };
    for block in BLOCK {
        let runtime = runtime(1, block);
        let setting = format!("1 worker, block every {block}");
        for (index, case) in chosen.iter().enumerate() {
            say(&format!("begin\t{}", case.name));
            compare(&runtime, index, &setting);
            say(&format!("end\t{}", case.name));
        }
        close(runtime, &chosen);
    }
    for block in [0, 2] {
        let runtime = runtime(2, block);
        let setting = format!("2 workers, block every {block}");
        std::thread::scope(|scope| {
            for thread in 0..FLIGHT {
                let (chosen, compare, runtime, setting) = (&chosen, &compare, &runtime, &setting);
                scope.spawn(move || {
                    for index in (0..ROUNDS * chosen.len()).filter(|i| i % FLIGHT == thread) {
                        let index = index % chosen.len();
                        say(&format!("begin\t{}", chosen[index].name));
                        compare(runtime, index, setting);
                        say(&format!("end\t{}", chosen[index].name));
                    }
                });
            }
        });
        for (name, count) in runtime.stats().entries() {
            say(&format!("counted\t{name}\t{count}"));
        }
        close(runtime, &chosen);
    }
    say("done");
}

fn runtime(workers: usize, block: u32) -> Runtime {
    let builder = Runtime::builder().workers(workers).block_every(block).frame_memory(FRAME_MEMORY);
    builder.build().unwrap()
}

fn close(runtime: Runtime, chosen: &[&Case]) {
    let frames = runtime.close();
    if frames != 0 {
        // If only one body ran, the frames are its own.
        let name = if chosen.len() == 1 { chosen[0].name } else { "?" };
        say(&format!("frames\t{name}\t{frames}"));
    }
}
