//! Instruction counts: programs of two sizes, run under valgrind's callgrind.
//!
//! A count does not depend on the load of the machine, and is reproducible except for the last digit shown. The command
//! runs *itself* under callgrind, once with a small and once with a large size. Start-up and shut-down cancel in the
//! difference of the two totals, which is divided by the difference in the number of calls.
//!
//! - [`Program`]: a program that can be counted; the benches own the lists
//! - `callgrind`: the measuring side
//! - [`Count`]: the measured side, a bench that no list shows

mod callgrind;

use std::thread;
use std::time::Duration;

use finespun::{Builder, Runtime, Task};

use super::{Bench, Extra, Report, instructions, overheads};
use finespun_lab::args::BenchOptions;
use finespun_lab::args::bench::Name;
use finespun_lab::failure::Failure;

pub use callgrind::{Callgrind, ChildError};

/// A program whose instructions per call can be counted.
#[derive(Clone, Copy, Debug)]
pub struct Program {
    /// The name, unique among all programs.
    pub name: &'static str,
    /// The small and the large size, each from 1 to 10,000.
    pub sizes: (u64, u64),
    /// Returns the number of calls that a run of this size makes.
    pub calls: fn(u64) -> u64,
    /// Performs a run of this size. Programs of tasks build their own runtime.
    pub run: fn(u64) -> u64,
    /// The function to which the count is restricted, callees included; `None` counts the whole process.
    pub within: Option<&'static str>,
}

impl Program {
    /// Creates a program whose whole process is counted.
    pub const fn new(name: &'static str, sizes: (u64, u64), calls: fn(u64) -> u64, run: fn(u64) -> u64) -> Self {
        Program { name, sizes, calls, run, within: None }
    }

    /// Restricts the count to `function`, which must not be inlined and whose name must be unique in the program.
    pub const fn within(mut self, function: &'static str) -> Self {
        self.within = Some(function);
        self
    }
}

/// Returns all programs of all benches.
fn programs() -> impl Iterator<Item = &'static Program> {
    instructions::programs().chain(overheads::programs())
}

/// Returns the builder of a runtime with one worker that is never interrupted: no thief, and no quantum that ends.
pub fn undisturbed() -> Builder {
    Runtime::builder().workers(1).quantum(Duration::from_secs(1000))
}

/// Runs `task` on its own runtime, with one worker that is never interrupted.
pub fn on_one_worker<T>(task: T) -> T::Output
where
    T: Task + Send,
    T::Output: Send,
{
    run_on(undisturbed(), task)
}

/// Runs `task` on a new runtime whose worker has parked, so that the run begins in the same way each time: on this thread.
pub fn run_on<T>(builder: Builder, task: T) -> T::Output
where
    T: Task + Send,
    T::Output: Send,
{
    let runtime = builder.build().expect("one worker starts");
    thread::sleep(Duration::from_millis(20));
    runtime.run(task)
}

/// The measured side: runs one program once.
#[derive(Debug)]
pub struct Count;

impl Count {
    /// Returns the arguments that make this command run `program` once with size `size`. [`Bench::run`] below reads
    /// them.
    fn line(program: &Program, size: u64) -> [String; 5] {
        let words = [&Name::Count.name(), "--only", program.name, "--rounds", &size.to_string()];
        words.map(str::to_owned)
    }
}

impl Bench for Count {
    fn rows(&self) -> Vec<String> {
        programs().map(|program| program.name.to_owned()).collect()
    }

    fn run(&self, options: &BenchOptions, _: &Extra, _: &mut Report) -> Result<(), Failure> {
        for program in programs().filter(|program| options.only.iter().any(|name| name == program.name)) {
            std::hint::black_box((program.run)(options.rounds as u64));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::programs;

    #[test]
    fn program_names_are_unique_and_larger_sizes_make_more_calls() {
        let mut names = HashSet::new();
        for program in programs() {
            let (small, large) = program.sizes;
            assert!(names.insert(program.name), "{}", program.name);
            assert!((1..=10_000).contains(&small) && (1..=10_000).contains(&large), "{}", program.name);
            assert!((program.calls)(small) < (program.calls)(large), "{}", program.name);
        }
    }

    #[test]
    fn programs_run() {
        for program in programs() {
            (program.run)(program.sizes.0);
        }
    }
}
