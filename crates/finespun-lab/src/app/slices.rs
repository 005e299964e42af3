//! The applications that work on data in memory: qsort, list, matmul.

use finespun::RunError;
use finespun_apps::{Progress, list, matmul, qsort};
use serde_json::{Map, Value};

use super::{Answer, App, Executor, Timed, object};
use crate::args::values::number;

/// `qsort N`.
#[derive(Debug, clap::Args)]
#[command(
    allow_negative_numbers = true,
    after_help = "\
N is 0 to 10 thousand million, 8 bytes each; underscores may group the digits. The time is that of the sorting alone.
Answer: sorted, least, median, greatest.

Example: finespun run qsort 10_000_000"
)]
pub struct Qsort {
    /// How many numbers, 0 to 10_000_000_000
    #[arg(value_name = "N", value_parser = number(0..=10_000_000_000u64))]
    n: u64,
    /// Seed of the pseudo-random numbers
    #[arg(long, default_value = "1", value_parser = number(0..=u64::MAX))]
    seed: u64,
}

impl App for Qsort {
    fn name(&self) -> &'static str {
        "qsort"
    }

    fn parameters(&self) -> Map<String, Value> {
        object([("n", self.n.into()), ("seed", self.seed.into())])
    }

    fn memory(&self) -> u64 {
        8 * self.n
    }

    fn run(&self, executor: &Executor, _: &Progress) -> Result<Timed<Answer>, RunError> {
        let mut numbers = qsort::input(self.n as usize, self.seed);
        let sorting = executor.compute(&mut numbers[..], qsort::plain, qsort::sort)?;
        Ok(sorting.map(|()| {
            Answer::new([
                ("sorted", numbers.is_sorted().into()),
                ("least", numbers.first().copied().into()),
                ("median", numbers.get(numbers.len() / 2).copied().into()),
                ("greatest", numbers.last().copied().into()),
            ])
        }))
    }
}

/// `list N`.
#[derive(Debug, clap::Args)]
#[command(
    allow_negative_numbers = true,
    after_help = "\
N is 0 to 1000 million nodes, 32 bytes each while they wait and about 150 in the midst of the recursion. The plain version
is a loop: plain recursion overflows its stack at some hundred thousand nodes. The time is that of the adding alone.
Answer: sum, which is N (N + 1) / 2.

Example: finespun run list 10_000_000"
)]
pub struct List {
    /// How many nodes, 0 to 1_000_000_000
    #[arg(value_name = "N", value_parser = number(0..=1_000_000_000u64))]
    n: u64,
}

impl App for List {
    fn name(&self) -> &'static str {
        "list"
    }

    fn parameters(&self) -> Map<String, Value> {
        object([("n", self.n.into())])
    }

    fn memory(&self) -> u64 {
        32 * self.n
    }

    fn run(&self, executor: &Executor, _: &Progress) -> Result<Timed<Answer>, RunError> {
        let nodes = list::List::build(self.n as usize);
        let found = executor.compute(&nodes, list::plain_iterative, list::traverse)?;
        Ok(found.map(|sum| Answer::new([("sum", sum.into())])))
    }
}

/// `matmul N`.
#[derive(Debug, clap::Args)]
#[command(
    allow_negative_numbers = true,
    after_help = "\
N is 1 to 32768; the matrices are padded to 32 * 2^k rows, so powers of two from 32 up waste nothing. The elements are small
integers, so all sums are exact. The time is that of the product alone.
Answer: sum, trace and sum_of_squares of the product.

Example: finespun run matmul 1024"
)]
pub struct Matmul {
    /// Rows and columns, 1 to 32768
    #[arg(value_name = "N", value_parser = number(1..=32_768u64))]
    n: u64,
}

impl App for Matmul {
    fn name(&self) -> &'static str {
        "matmul"
    }

    fn parameters(&self) -> Map<String, Value> {
        object([("n", self.n.into())])
    }

    fn memory(&self) -> u64 {
        let side = self.n.max(matmul::TILE as u64).next_power_of_two();
        3 * 8 * side * side
    }

    fn run(&self, executor: &Executor, _: &Progress) -> Result<Timed<Answer>, RunError> {
        let n = self.n as usize;
        // Written to, instead of `zeros`: otherwise the system would map the pages during the timed run.
        let mut c = matmul::Matrix::from_fn(n, |_, _| 0.0);
        let (a, b) = (matmul::sample_a(n), matmul::sample_b(n));
        let product = executor.compute(
            (&a, &b, &mut c),
            |(a, b, c)| matmul::plain(a, b, c),
            |(a, b, c)| matmul::multiply(a, b, c),
        )?;
        Ok(product.map(|()| {
            Answer::new([
                ("sum", c.sum().into()),
                ("trace", c.trace().into()),
                ("sum_of_squares", c.sum_of_squares().into()),
            ])
        }))
    }
}
