//! Messages between nodes: the costs for sender and receiver, the latency, and the effect of a hot spot on these.
//!
//! The bench measures the transports themselves, as the library's mailboxes use them, and not one-way calls of objects.
//! A mailbox receives all available messages whenever its worker polls, and keeps messages without room in its outbox.
//! Of the two properties that the papers compare, the cost of a message would therefore be hidden by the cost of a
//! call, and a slow receiver's stalling of its senders would only show as a longer outbox. Here each node has its own
//! end in the net, workers run several nodes, and a receiver is as slow as the paper's kernel makes it.
//!
//! - `carriers`: rate and round trip of 16 bytes, beside the channels that programs use instead
//! - `costs`: source, destination and one-way latency by size, without contention (the paper's tables 2 and 5)
//! - `contention`: the same by traffic pattern, with computing between messages (figure 10), for several numbers of
//!   nodes and workers
//! - `demands`: the demands on our transports under contention, and the check that they are met
//! - `kernel`: the measured program, and the measurement
//! - `patterns`: the traffic patterns
//! - `clock`, `threads`: readings of nanoseconds; threads that start together

mod carriers;
mod clock;
mod contention;
mod costs;
mod demands;
mod kernel;
mod patterns;
mod threads;

use std::cell::{Cell, RefCell};
use std::convert::Infallible;

use finespun::internals::adaptive::Mode;

use super::measure::take_turns;
use super::{Bench, Extra, Report, Sample, wanted};
use clock::Clock;
use contention::Setting;
use finespun_lab::args::BenchOptions;
use finespun_lab::failure::Failure;
pub use kernel::harmonic_mean;
use kernel::{Costs, Load};
pub use patterns::{PATTERNS, Pattern};
pub use threads::round_trips_of_a_line;

/// The paper's two transports, and the adaptive one that chooses between them.
const TRANSPORTS: [(&str, Mode); 3] = [("push", Mode::Push), ("pull", Mode::Pull), ("adaptive", Mode::Both)];

/// A message size, with the program for it.
struct Size {
    bytes: usize,
    runner: for<'a> fn(&'a Clock, Load) -> Box<dyn FnMut() -> Costs + 'a>,
    /// Returns the seconds that this number of round trips takes.
    bounce: fn(Mode, u64) -> f64,
}

const fn size<const W: usize>() -> Size {
    Size { bytes: 8 * W, runner: kernel::runner::<W>, bounce: costs::bounce::<W> }
}

/// The paper's sizes.
const SIZES: [Size; 7] =
    [size::<2>(), size::<4>(), size::<8>(), size::<16>(), size::<32>(), size::<64>(), size::<128>()];

/// Runs per round: they are short, and some are undisturbed.
const RUNS: usize = 8;

/// The results of the third of all runs that was disturbed least.
struct Samples {
    /// All runs, in the order of measurement.
    runs: Vec<Costs>,
    source: Sample,
    stalled: Sample,
    destination: Sample,
    latency: Sample,
    lost: Sample,
    line: Sample,
}

impl Samples {
    fn new(runs: Vec<Costs>) -> Samples {
        let quiet = quiet(runs.iter().map(|costs| (costs.disturbance(), *costs)));
        let sample = |figure: fn(&Costs) -> f64| quiet.iter().map(figure).collect();
        Samples {
            runs,
            source: sample(|costs| costs.source),
            stalled: sample(|costs| costs.stalled),
            destination: sample(|costs| costs.destination),
            latency: sample(|costs| costs.latency),
            lost: sample(|costs| costs.lost),
            line: sample(|costs| costs.line),
        }
    }

    /// Compares the source cost with another, in the third of all rounds in which both were disturbed least.
    ///
    /// The two runs of a round follow each other closely, and meet the same machine. The least cost of a message alone would come
    /// from a run in which the receiver was not running, and did not take the cache lines away.
    fn over(&self, other: &Samples) -> Comparison {
        let rounds = self.runs.iter().zip(&other.runs);
        let rounds = quiet(rounds.map(|(a, b)| (a.disturbance().max(b.disturbance()), (a.source, b.source))));
        let median = |of: fn(&(f64, f64)) -> f64| rounds.iter().map(of).collect::<Sample>().median();
        Comparison {
            ratio: median(|(a, b)| a / b),
            of_least: self.source.least() / other.source.least(),
            more: median(|(a, b)| a - b),
        }
    }
}

/// How many times one cost is another.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Comparison {
    /// The median of the ratios of the rounds.
    ratio: f64,
    /// The ratio of the least costs.
    of_least: f64,
    /// The median of the differences, in nanoseconds.
    more: f64,
}

/// Runs the variants in turn, so that all meet the same disturbances.
fn measure<'a>(
    clock: &'a Clock,
    variants: impl Iterator<Item = (&'static Size, Mode, Pattern, Setting)>,
    what: &str,
    options: &BenchOptions,
    report: &Report,
) -> Vec<Samples> {
    let runner = |(size, mode, pattern, setting): (&Size, Mode, Pattern, Setting)| {
        let load = Load::usual(mode, pattern, setting);
        RefCell::new((size.runner)(clock, if options.quick { load.quick() } else { load }))
    };
    let runners: Vec<RefCell<Box<dyn FnMut() -> Costs + 'a>>> = variants.map(runner).collect();
    let begun = Cell::new(0_usize);
    let found = take_turns(runs(options), &runners, |run| {
        if begun.replace(begun.get() + 1).is_multiple_of(runners.len()) {
            report.step(what);
        }
        Ok::<_, Infallible>((run.borrow_mut())())
    });
    let Ok(found) = found;
    found.into_iter().map(Samples::new).collect()
}

/// Returns the third of all results that was disturbed least, given each with its disturbance.
fn quiet<T>(results: impl Iterator<Item = (f64, T)>) -> Vec<T> {
    let mut results = Vec::from_iter(results);
    results.sort_by(|a, b| a.0.total_cmp(&b.0));
    results.truncate(results.len().div_ceil(3));
    results.into_iter().map(|(_, result)| result).collect()
}

/// Returns the number of times that [`measure`] runs each variant, without the uncounted first time. `measure` has one
/// more step.
fn runs(options: &BenchOptions) -> usize {
    if options.quick { options.rounds } else { options.rounds * RUNS }
}

/// The `transports` bench.
#[derive(Debug)]
pub struct Transports;

impl Bench for Transports {
    fn rows(&self) -> Vec<String> {
        let carriers = carriers::CARRIERS.iter().map(|carrier| carrier.name);
        carriers.chain(["costs", "contention"]).map(str::to_owned).collect()
    }

    fn run(&self, options: &BenchOptions, _: &Extra, report: &mut Report) -> Result<(), Failure> {
        let clock = Clock::new();
        let (costs, contention) = (wanted(options, "costs"), wanted(options, "contention"));
        report.expect(carriers::steps(options));
        if costs {
            report.expect(costs::steps(options));
        }
        if contention {
            report.expect(contention::steps(options));
        }
        carriers::part(options, report)?;
        if costs {
            costs::part(&clock, options, report)?;
        }
        if contention {
            contention::part(&clock, options, report)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::kernel::Costs;
    use super::{Comparison, Samples};

    fn costs(source: f64, lost: f64, line: f64) -> Costs {
        Costs { source, stalled: 0.0, destination: 1.0, latency: 1.0, lost, line }
    }

    #[test]
    fn runs_that_were_disturbed_do_not_count() {
        let one = Samples::new(vec![
            costs(8.0, 0.5, 50.0),
            costs(4.0, 0.0, 60.0),
            costs(9.0, 0.0, 400.0),
            costs(5.0, 0.0, 55.0),
            costs(3.0, 0.1, 50.0),
            costs(2.0, 0.0, 90.0),
        ]);
        assert_eq!(one.source.all(), [5.0, 4.0], "the fast line, without time off the core");
        let other = Samples::new([1.0; 6].map(|source| costs(source, 0.0, 80.0)).to_vec());
        assert_eq!(one.over(&other), Comparison { ratio: 4.5, of_least: 4.0, more: 3.5 });
        let other = Samples::new([70.0, 400.0, 70.0, 70.0, 70.0, 70.0].map(|line| costs(1.0, 0.0, line)).to_vec());
        assert_eq!(one.over(&other).ratio, 3.5, "a round counts if both sides were undisturbed");
    }
}
