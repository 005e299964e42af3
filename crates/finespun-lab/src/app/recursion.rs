//! The applications that are one recursion on a few numbers: fib, tak, nqueens, skynet, integrate.

use finespun::RunError;
use finespun_apps::nqueens::MAX_QUEENS;
use finespun_apps::skynet::MAX_DEPTH;
use finespun_apps::{Progress, fib, integrate, nqueens, skynet, tak};
use serde_json::{Map, Value};

use super::{Answer, App, Executor, Timed, object};
use crate::args::values::{number, real};

/// The bound on the absolute values of the arguments of tak: its recursion is about as deep as their distance.
const TAK: i64 = 10_000;

/// `fib N`.
#[derive(Debug, clap::Args)]
#[command(
    allow_negative_numbers = true,
    after_help = "\
N is 0 to 93 (what fits 64 bits); the run makes 2 fib(N + 1) - 1 calls, so each step up takes 1.6 times as long.
With --closures it is the program of the continuation-passing-threads paper (Figure 3), which makes 2 fib(N + 1) - 1 closures, or
half as many again with --no-tail-call.
Answer: value.

Example: finespun run fib 35 --workers 2 --stats"
)]
pub struct Fib {
    /// Which Fibonacci number, 0 to 93
    #[arg(value_name = "N", value_parser = number(0..=93u64))]
    n: u64,
    /// By closures instead of tasks
    #[arg(long)]
    closures: bool,
    /// With --closures: post both halves instead of going on with the second
    #[arg(long, requires = "closures")]
    no_tail_call: bool,
}

impl App for Fib {
    fn name(&self) -> &'static str {
        "fib"
    }

    fn parameters(&self) -> Map<String, Value> {
        let mut parameters = object([("n", self.n.into())]);
        if self.closures {
            parameters.insert("closures".to_owned(), true.into());
            parameters.insert("tail_call".to_owned(), (!self.no_tail_call).into());
        }
        parameters
    }

    fn run(&self, executor: &Executor, _: &Progress) -> Result<Timed<Answer>, RunError> {
        let found = match (self.closures, self.no_tail_call) {
            (false, _) => executor.compute(self.n, fib::plain, fib::fib)?,
            (true, false) => executor.compute(self.n, fib::plain, fib::threads::tailed)?,
            (true, true) => executor.compute(self.n, fib::plain, fib::threads::forked)?,
        };
        Ok(found.map(|value| Answer::new([("value", value.into())])))
    }
}

/// `tak X Y Z`.
#[derive(Debug, clap::Args)]
#[command(
    allow_negative_numbers = true,
    after_help = "\
X, Y and Z are -10000 to 10000; the time explodes with X - Y. tak(18, 12, 6) = 7 in 63,609 calls.
Answer: value.

Example: finespun run tak 18 12 6"
)]
pub struct Tak {
    /// The first argument
    #[arg(value_name = "X", value_parser = number(-TAK..=TAK))]
    x: i64,
    /// The second argument
    #[arg(value_name = "Y", value_parser = number(-TAK..=TAK))]
    y: i64,
    /// The third argument
    #[arg(value_name = "Z", value_parser = number(-TAK..=TAK))]
    z: i64,
}

impl App for Tak {
    fn name(&self) -> &'static str {
        "tak"
    }

    fn parameters(&self) -> Map<String, Value> {
        object([("x", self.x.into()), ("y", self.y.into()), ("z", self.z.into())])
    }

    fn run(&self, executor: &Executor, _: &Progress) -> Result<Timed<Answer>, RunError> {
        let arguments = (self.x, self.y, self.z);
        let found = executor.compute(arguments, |(x, y, z)| tak::plain(x, y, z), |(x, y, z)| tak::tak(x, y, z))?;
        Ok(found.map(|value| Answer::new([("value", value.into())])))
    }
}

/// `nqueens N`.
#[derive(Debug, clap::Args)]
#[command(
    allow_negative_numbers = true,
    after_help = "\
N is 0 to 32; 12 queens have 14,200 solutions, 14 have 365,596, and each step up takes about 7 times as long.
Answer: solutions.

Example: finespun run nqueens 12"
)]
pub struct Nqueens {
    /// Queens, and rows and columns of the board, 0 to 32
    #[arg(value_name = "N", value_parser = number(0..=MAX_QUEENS))]
    n: u32,
    /// By closures instead of tasks
    #[arg(long)]
    closures: bool,
}

impl App for Nqueens {
    fn name(&self) -> &'static str {
        "nqueens"
    }

    fn parameters(&self) -> Map<String, Value> {
        let mut parameters = object([("n", self.n.into())]);
        if self.closures {
            parameters.insert("closures".to_owned(), true.into());
        }
        parameters
    }

    fn run(&self, executor: &Executor, _: &Progress) -> Result<Timed<Answer>, RunError> {
        let found = match self.closures {
            false => executor.compute(self.n, nqueens::plain, nqueens::nqueens)?,
            true => executor.compute(self.n, nqueens::plain, nqueens::threads::nqueens)?,
        };
        Ok(found.map(|solutions| Answer::new([("solutions", solutions.into())])))
    }
}

/// `skynet DEPTH`.
#[derive(Debug, clap::Args)]
#[command(
    allow_negative_numbers = true,
    after_help = "\
DEPTH is 0 to 9; the tree has 10^DEPTH leaves, numbered from 0. Depth 6 adds up to 499,999,500,000.
Answer: sum, leaves.

Example: finespun run skynet 6"
)]
pub struct Skynet {
    /// Levels below the root, 0 to 9
    #[arg(value_name = "DEPTH", value_parser = number(0..=MAX_DEPTH))]
    depth: u32,
}

impl App for Skynet {
    fn name(&self) -> &'static str {
        "skynet"
    }

    fn parameters(&self) -> Map<String, Value> {
        object([("depth", self.depth.into())])
    }

    fn run(&self, executor: &Executor, _: &Progress) -> Result<Timed<Answer>, RunError> {
        let leaves = skynet::leaves(self.depth);
        let found = executor.compute(self.depth, skynet::plain, skynet::skynet)?;
        Ok(found.map(|sum| Answer::new([("sum", sum.into()), ("leaves", leaves.into())])))
    }
}

/// `integrate`.
#[derive(Debug, clap::Args)]
#[command(
    allow_negative_numbers = true,
    after_help = "\
Without parameters: from 0 to 10000 with a tolerance of 1e-6 per strip, 20 million strips. A thousandth of the tolerance
takes ten times as long.
Answer: area, exact (by the antiderivative).

Example: finespun run integrate --from 0 --to 10000 --tolerance 1e-3"
)]
pub struct Integrate {
    /// Where the area begins, -1e9 to 1e9
    #[arg(long, value_name = "X", default_value = "0", value_parser = bound())]
    from: f64,
    /// Where the area ends, -1e9 to 1e9
    #[arg(long, value_name = "X", default_value = "10000", value_parser = bound())]
    to: f64,
    /// A strip is accepted when halving it changes its area by at most this; above 0
    #[arg(long, value_name = "AREA", default_value = "1e-6",
          value_parser = real("it takes a number above 0, for example 1e-6", |x| x > 0.0))]
    tolerance: f64,
}

fn bound() -> impl Fn(&str) -> Result<f64, String> + Clone + Send + Sync + 'static {
    real("it takes a number from -1e9 to 1e9", |x| x.abs() <= 1e9)
}

impl App for Integrate {
    fn name(&self) -> &'static str {
        "integrate"
    }

    fn parameters(&self) -> Map<String, Value> {
        object([("from", self.from.into()), ("to", self.to.into()), ("tolerance", self.tolerance.into())])
    }

    fn run(&self, executor: &Executor, _: &Progress) -> Result<Timed<Answer>, RunError> {
        let exact = integrate::exact(self.from, self.to);
        let found = executor.compute(
            (self.from, self.to, self.tolerance),
            |(from, to, tolerance)| integrate::plain(from, to, tolerance),
            |(from, to, tolerance)| integrate::integrate(from, to, tolerance),
        )?;
        Ok(found.map(|area| Answer::new([("area", area.into()), ("exact", exact.into())])))
    }
}
