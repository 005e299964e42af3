//! Instruction counts: programs of two sizes, run under valgrind's callgrind.
//!
//! A count does not care how busy the machine is, and comes out the same again but for the last digit shown. The command
//! runs *itself* under callgrind, once with a small and once with a large size; start-up and shut-down drop out of the
//! difference, and what is left is divided by the number of calls.
//!
//! - [`Program`]: what can be counted; the benches own the lists
//! - `callgrind`: the side that counts
//! - [`Count`]: the side that is counted, a bench that no list shows

mod callgrind;

use std::time::Duration;

use finespun::{Builder, Runtime, Task};

use super::{Bench, Extra, Report, instructions, overheads};
use finespun_lab::args::BenchOptions;
use finespun_lab::args::bench::Name;
use finespun_lab::failure::Failure;

pub use callgrind::{Callgrind, ChildError};

/// Something whose instructions per call can be counted.
#[derive(Clone, Copy, Debug)]
pub struct Program {
    /// Its name, unique among all programs.
    pub name: &'static str,
    /// The small and the large size, 1 to 10,000.
    pub sizes: (u64, u64),
    /// How many calls a run of this size makes.
    pub calls: fn(u64) -> u64,
    /// A run of this size. Tasks bring a runtime of their own.
    pub run: fn(u64) -> u64,
    /// The function to which the count is confined, with what it calls; the whole process if absent.
    pub within: Option<&'static str>,
}

impl Program {
    /// A program of which everything counts.
    pub const fn new(name: &'static str, sizes: (u64, u64), calls: fn(u64) -> u64, run: fn(u64) -> u64) -> Self {
        Program { name, sizes, calls, run, within: None }
    }

    /// Counts only what happens inside `function`, which is never inlined and whose name occurs nowhere else.
    pub const fn within(mut self, function: &'static str) -> Self {
        self.within = Some(function);
        self
    }
}

/// All programs of all benches.
fn programs() -> impl Iterator<Item = &'static Program> {
    instructions::programs().chain(overheads::programs())
}

/// One worker that is never interrupted: no thief, and no end of a quantum.
pub fn undisturbed() -> Builder {
    Runtime::builder().workers(1).quantum(Duration::from_secs(1000))
}

/// Runs `task` on a runtime of its own, with one worker that is never interrupted.
pub fn on_one_worker<T>(task: T) -> T::Output
where
    T: Task + Send,
    T::Output: Send,
{
    undisturbed().build().expect("one worker starts").run(task)
}

/// The side that is counted: runs one program once.
#[derive(Debug)]
pub struct Count;

impl Count {
    /// How the command is told to run `program` once with size `size`; [`Bench::run`] below understands it.
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
    fn programs_have_names_of_their_own_and_grow() {
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
