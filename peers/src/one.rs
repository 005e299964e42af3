//! One cell of the matrix in this process: warm up, time one run, check.
//!
//! The driver runs every sample in its own process, so that the peak memory belongs to
//! the cell, and no threads of other runtimes exist.

use std::hint::black_box;
use std::num::NonZero;
use std::sync::atomic::AtomicU64;
use std::thread;
use std::time::Instant;

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::kernel::knapsack::Knapsack;
use crate::kernel::{cilksort, dfs::Dfs, looped, matmul::Product, tree, uts};
use crate::problem::{Instance, Problem, Scale};
use crate::runtime::{Column, Runtime, STACK_BYTES};

/// The result of a sample, reported as one line of JSON.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Sample {
    /// The timed run, in seconds.
    pub seconds: f64,
    /// Peak resident memory of the process, in KiB.
    pub peak_kib: u64,
    /// The same before the timed run: program, runtime, warm-up and input.
    pub input_kib: u64,
}

/// A cell of the matrix.
#[derive(Clone, Copy, Debug)]
pub struct Cell {
    /// The row.
    pub problem: Problem,
    /// The column.
    pub runtime: Runtime,
    /// Number of workers.
    pub workers: NonZero<usize>,
}

/// Warms up, then times one run.
pub fn sample(cell: Cell, scale: Scale) -> Result<Sample, Error> {
    on_a_big_stack(move || {
        let column = start(cell)?;
        solve(cell, &*column, cell.problem.at(Scale::WarmUp))?;
        solve(cell, &*column, cell.problem.at(scale))
    })
}

/// Computes `fib(n)` once, without a warm-up, for the instruction counts.
pub fn fib_once(cell: Cell, n: u64) -> Result<Sample, Error> {
    on_a_big_stack(move || solve(cell, &*start(cell)?, Instance::Fib { n }))
}

fn on_a_big_stack<T: Send>(body: impl FnOnce() -> Result<T, Error> + Send) -> Result<T, Error> {
    thread::scope(|scope| {
        let thread = thread::Builder::new().stack_size(STACK_BYTES);
        let thread = thread.spawn_scoped(scope, body).map_err(Error::Thread)?;
        thread.join().map_err(|_| Error::Panicked)?
    })
}

/// Starts the cell's runtime.
pub fn start(cell: Cell) -> Result<Box<dyn Column>, Error> {
    let Cell { problem, runtime, workers } = cell;
    if !runtime.has(problem) {
        return Err(Error::Lacking { problem, runtime });
    }
    runtime
        .start(workers)
        .ok_or_else(|| Error::Absent { runtime, cure: runtime.cure_if_absent().unwrap_or("build again") })
}

/// The input of a problem.
enum Input {
    Number(u64),
    Places(Vec<AtomicU64>),
    Board(u8),
    Product(Box<Product>),
    Tree(Box<tree::Node>),
    Uts(uts::Tree),
    Numbers { numbers: Vec<u64>, spare: Vec<u64> },
    Knapsack(Knapsack),
    Dfs(Dfs),
}

fn solve(cell: Cell, column: &dyn Column, instance: Instance) -> Result<Sample, Error> {
    let mut input = match &instance {
        Instance::Fib { n } => Input::Number(*n),
        Instance::Skynet { leaves } => Input::Number(*leaves),
        Instance::Loop { activities } => Input::Places(looped::places(*activities)),
        Instance::Queens { n, .. } => Input::Board(*n),
        Instance::Matmul { side } | Instance::Strassen { side } => Input::Product(Box::new(Product::new(*side))),
        Instance::Tree { levels } => Input::Tree(tree::Node::complete(*levels).expect("a tree has a level")),
        Instance::Uts { options, .. } => Input::Uts(uts::Tree::parse(options).expect("the options are valid")),
        Instance::Cilksort { length } => {
            let numbers = cilksort::scrambled(*length);
            // Copies, so that the system has created the pages.
            Input::Numbers { spare: numbers.clone(), numbers }
        }
        Instance::Knapsack { items } => Input::Knapsack(Knapsack::new(*items)),
        Instance::Dfs(dfs) => Input::Dfs(*dfs),
        Instance::Pi { points } => Input::Number(*points),
    };
    let input_kib = peak_kib()?;
    let start = Instant::now();
    let answer = match &mut input {
        Input::Number(n) if cell.problem == Problem::Fib => column.fib(black_box(*n)),
        Input::Number(points) if cell.problem == Problem::Pi => column.pi(black_box(*points)),
        Input::Number(leaves) => column.skynet(black_box(*leaves)),
        Input::Places(places) => {
            column.each(places);
            0
        }
        Input::Board(n) => column.queens(black_box(*n)),
        Input::Product(product) => {
            let Product { a, b, c, .. } = &mut **product;
            match cell.problem {
                Problem::Strassen => column.strassen(c, a, b),
                _ => column.matmul(c, a, b),
            }
            0
        }
        Input::Tree(root) => column.tree_sum(root),
        Input::Uts(tree) => column.uts(tree),
        Input::Numbers { numbers, spare } => {
            column.cilksort(numbers, spare);
            0
        }
        Input::Knapsack(Knapsack { items, capacity }) => column.knapsack(items, black_box((*capacity).into())),
        Input::Dfs(dfs) => column.dfs(black_box(*dfs)),
    };
    let seconds = start.elapsed().as_secs_f64();
    let peak_kib = peak_kib()?;
    let right = match &input {
        Input::Product(product) => product.is_right(),
        Input::Numbers { numbers, .. } => cilksort::is_sorted(numbers),
        Input::Places(places) => instance.answer() == Some(looped::sum(places)),
        _ => instance.answer() == Some(answer),
    };
    if !right {
        let instance = instance.to_string();
        return Err(Error::WrongAnswer { cell, instance, answer });
    }
    Ok(Sample { seconds, peak_kib, input_kib })
}

/// Returns the peak resident memory of this process so far.
///
/// Reads it from `/proc`, whose figure starts afresh at `exec`; `getrusage` would also
/// report the memory that the parent had resident when it forked.
fn peak_kib() -> Result<u64, Error> {
    let status = std::fs::read_to_string("/proc/self/status").map_err(Error::Memory)?;
    status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .and_then(|rest| rest.split_whitespace().next()?.parse().ok())
        .ok_or_else(|| Error::Memory(std::io::ErrorKind::Unsupported.into()))
}

#[cfg(test)]
mod tests {
    use clap::ValueEnum;

    use super::*;

    #[test]
    fn every_column_is_right_at_a_small_size() {
        for &problem in Problem::value_variants() {
            for &runtime in Runtime::value_variants() {
                for workers in [1, 2].into_iter().filter_map(NonZero::new) {
                    let cell = Cell { problem, runtime, workers };
                    match sample(cell, Scale::Quick) {
                        Ok(_) | Err(Error::Absent { .. } | Error::Lacking { .. }) => {}
                        Err(error) => panic!("{error}"),
                    }
                }
            }
        }
    }
}
