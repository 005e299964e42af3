//! The applications that are one group of activities: search, sumto.

use finespun::RunError;
use finespun_apps::{Progress, search, sumto};
use serde_json::{Map, Value};

use super::{Answer, App, Executor, Timed, object};
use crate::args::values::number;

/// `search N`.
#[derive(Debug, clap::Args)]
#[command(
    allow_negative_numbers = true,
    after_help = "\
N is 1 to 10 thousand million elements, 8 bytes each; underscores may group the digits. The time is that of the search alone.
The plain version searches from the front; the activities search each a part of the array, and who finds the element ends the
others, unless --no-break is given.
Answer: position.

Example: finespun run search 100_000_000 --at 70_000_000 --activities 16"
)]
pub struct Search {
    /// How many elements, 1 to 10_000_000_000
    #[arg(value_name = "N", value_parser = number(1..=10_000_000_000u64))]
    n: u64,
    /// Position of the element, from 0 on; if it is N or more, the element is absent [default: N / 2]
    #[arg(long, value_name = "POSITION", value_parser = number(0..=u64::MAX))]
    at: Option<u64>,
    /// How many parts are searched at the same time
    #[arg(long, value_name = "N", default_value = "64", value_parser = number(1..=1_000_000_000u64))]
    activities: u64,
    /// Do not end the others when the element has been found
    #[arg(long)]
    no_break: bool,
}

impl App for Search {
    fn name(&self) -> &'static str {
        "search"
    }

    fn parameters(&self) -> Map<String, Value> {
        let at = self.at.unwrap_or(self.n / 2);
        object([
            ("n", self.n.into()),
            ("at", at.into()),
            ("activities", self.activities.into()),
            ("no_break", self.no_break.into()),
        ])
    }

    fn memory(&self) -> u64 {
        8 * self.n
    }

    fn run(&self, executor: &Executor, _: &Progress) -> Result<Timed<Answer>, RunError> {
        let numbers = search::input(self.n as usize, self.at.unwrap_or(self.n / 2) as usize);
        let activities = self.activities as usize;
        let found = if self.no_break {
            executor.compute(&numbers[..], search::plain, |numbers| search::search_all(numbers, activities))?
        } else {
            executor.compute(&numbers[..], search::plain, |numbers| search::search(numbers, activities))?
        };
        Ok(found.map(|position| Answer::new([("position", position.into())])))
    }
}

/// `sumto N`.
#[derive(Debug, clap::Args)]
#[command(
    allow_negative_numbers = true,
    after_help = "\
N is 0 to 10^15 assignments, of some tenths of a nanosecond each; underscores may group the digits.
Answer: sum, which is N (N + 1) / 2, modulo 2^64.

Example: finespun run sumto 1_000_000_000 --activities 10_000 --policy representatives"
)]
pub struct Sumto {
    /// The upper bound of the sum, 0 to 1_000_000_000_000_000
    #[arg(value_name = "N", value_parser = number(0..=1_000_000_000_000_000u64))]
    n: u64,
    /// How many activities share the work
    #[arg(long, value_name = "N", default_value = "1000", value_parser = number(1..=1_000_000_000u64))]
    activities: u64,
}

impl App for Sumto {
    fn name(&self) -> &'static str {
        "sumto"
    }

    fn parameters(&self) -> Map<String, Value> {
        object([("n", self.n.into()), ("activities", self.activities.into())])
    }

    fn run(&self, executor: &Executor, _: &Progress) -> Result<Timed<Answer>, RunError> {
        let sum = executor.compute(self.n, sumto::plain, |n| sumto::sumto(n, self.activities))?;
        Ok(sum.map(|sum| Answer::new([("sum", sum.into())])))
    }
}
