//! The paper's kernel: each node repeatedly sends a message, receives, and computes for a while.
//!
//! ```text
//!   worker 0   | node 0: send, receive, compute | node 2: send, receive, compute | node 4: ..
//!   worker 1   | node 1: send, receive, compute | node 3: ..
//! ```
//!
//! The paper's text says "a send, a receive, and a computation part". A node that receives one message in each turn,
//! and gets one on average, never catches up after a disturbance: its queue is a random walk, and so is the cost of
//! push. Therefore a node receives up to two messages per turn here. Balanced traffic then leaves no queue. A node that
//! gets more than two messages for each one that it sends falls behind: this is a hot spot. No transport can sustain
//! it, because every turn adds messages in flight. Push stops at the credit, pull when the senders' own buffers are
//! used up. Both are as large here as in the library's mailboxes, and a run ends before a sender's own buffers are used
//! up.
//!
//! The source cost of a message is the time from the first attempt to the end of the successful one: the time that the
//! sender spends on sending, and the time that it is stalled. A stalled node keeps receiving and does not compute; the
//! other nodes of its worker take their turns.
//!
//! The clock is read around each attempt, so the times exclude computing, and the cost of a reading is subtracted.

use std::hint::black_box;
use std::sync::atomic::{AtomicUsize, Ordering};

use finespun::internals::adaptive::{self, Mode};
use finespun_object_apps::microkernel::Draw;

use super::clock::Clock;
use super::patterns::Pattern;
use super::threads::{round_trips_of_a_line, together};

/// The limits on a node's messages in flight, as in the mailboxes: `SHARE` to one other node in its ring, `QUOTA` to
/// all nodes in its own memory.
const SHARE: u32 = 32;
const QUOTA: u32 = 1024;

/// The most messages that a node receives in a turn.
pub(super) const TAKES: usize = 2;

/// The mean computing time of a node between two messages, in nanoseconds; exponentially distributed. The value is the
/// paper's, which says "a stochastic variable delay", but not the distribution.
pub(super) const GRAIN: f64 = 13_200.0;

/// The two words at the head of every message: its time of sending, and the number of earlier messages from its sender
/// to its receiver.
const HEAD: usize = 2;

/// The nodes of a net.
pub(super) type Nodes<const W: usize> = Vec<adaptive::Node<[u64; W]>>;

/// Creates a net of `nodes` nodes, with as much room as in the library.
pub(super) fn net<const W: usize>(nodes: usize, mode: Mode) -> Nodes<W> {
    adaptive::net_of(nodes, mode, SHARE, QUOTA)
}

/// The parameters of a run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Load {
    pub(super) mode: Mode,
    pub(super) pattern: Pattern,
    pub(super) nodes: usize,
    pub(super) workers: usize,
    /// Messages per sender: `warm` uncounted ones, then `counted` ones.
    pub(super) warm: usize,
    pub(super) counted: usize,
}

/// Warm-up messages per sender: with twice the credit, push has reached its limit before the count begins.
const WARM: usize = 2 * SHARE as usize;
/// The number of counted messages of all nodes together.
const COUNTED: usize = 1536;

impl Load {
    /// The usual load. It is short, so that some of many runs are undisturbed, and so that a sender does not use up its
    /// buffers.
    pub(super) fn usual(mode: Mode, pattern: Pattern, (nodes, workers): (usize, usize)) -> Load {
        Load { mode, pattern, nodes, workers, warm: WARM, counted: COUNTED / pattern.nodes(nodes) }
    }

    /// Returns the load with few messages, whose results mean nothing.
    pub(super) fn quick(self) -> Load {
        Load { warm: 0, counted: 8, ..self }
    }
}

/// The average costs of a message, in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Costs {
    /// Of the sender, stalled time included: the harmonic mean over all senders.
    pub(super) source: f64,
    /// The stalled part of `source`, from the first attempt to the last if there are several: the arithmetic mean.
    pub(super) stalled: f64,
    /// Of the receiver.
    pub(super) destination: f64,
    /// From the first attempt to the end of receiving; it grows with the queue.
    pub(super) latency: f64,
    /// The share of all workers' time that they were off their cores.
    pub(super) lost: f64,
    /// A round trip of a cache line between the cores, the slower of before and after the run.
    pub(super) line: f64,
}

impl Costs {
    /// How much the machine disturbed the run, to compare runs: in virtual machines the way between two cores is many times
    /// longer at some times than at others. A hundredth of the time off their cores counts as much as a line of twice the time.
    pub(super) fn disturbance(&self) -> f64 {
        self.line * (1.0 + 100.0 * self.lost)
    }
}

/// Returns the harmonic mean, in which a few large numbers have little weight.
pub fn harmonic_mean(figures: &[f64]) -> f64 {
    figures.len() as f64 / figures.iter().map(|figure| figure.recip()).sum::<f64>()
}

/// A sum and the number of its terms.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    sum: i64,
    count: u64,
}

impl Tally {
    fn add(&mut self, figure: i64) {
        self.sum += figure;
        self.count += 1;
    }

    /// Returns the mean, but at least one nanosecond, the clock's unit: smaller values are not measurable, and harmonic
    /// means need positive numbers.
    fn mean(self) -> f64 {
        (self.sum as f64 / self.count.max(1) as f64).max(1.0)
    }
}

impl std::iter::Sum for Tally {
    fn sum<I: Iterator<Item = Tally>>(tallies: I) -> Tally {
        tallies.fold(Tally::default(), |a, b| Tally { sum: a.sum + b.sum, count: a.count + b.count })
    }
}

/// The state of a node in a run.
struct Station<'a, const W: usize> {
    clock: &'a Clock,
    load: Load,
    node: &'a mut adaptive::Node<[u64; W]>,
    computes: bool,
    /// The destinations of its messages.
    to: Vec<usize>,
    /// The computing times after each message.
    grains: Vec<u64>,
    turns: usize,
    sent: usize,
    /// The time of the first attempt to send the current message, if an attempt has failed.
    tried: Option<u64>,
    message: [u64; W],
    /// Messages so far: `numbers` by receiver, `expected` by sender.
    numbers: Vec<u64>,
    expected: Vec<u64>,
    /// The time of the latest attempt to receive.
    looked: u64,
    found: Found,
}

/// The results of a node.
#[derive(Clone, Copy, Debug, Default)]
struct Found {
    source: Tally,
    stalled: Tally,
    destination: Tally,
    latency: Tally,
    /// Nanoseconds that the thread was off its core while it should have computed, or polled for messages.
    lost: u64,
}

impl<'a, const W: usize> Station<'a, W> {
    fn new(clock: &'a Clock, load: Load, index: usize, node: &'a mut adaptive::Node<[u64; W]>) -> Station<'a, W> {
        let (nodes, messages) = (load.pattern.nodes(load.nodes), load.warm + load.counted);
        let mut draw = Draw::new(!(index as u64));
        Station {
            clock,
            load,
            node,
            computes: load.pattern.computes(index),
            to: load.pattern.destinations(nodes, index, messages),
            grains: (0..messages).map(|_| (GRAIN * draw.exponential()) as u64).collect(),
            turns: 0,
            sent: 0,
            tried: None,
            message: [index as u64; W],
            numbers: vec![0; nodes],
            expected: vec![0; nodes],
            looked: 0,
            found: Found::default(),
        }
    }

    fn turn(&mut self, unsent: &AtomicUsize) {
        let stalled = !self.send(unsent);
        for _ in 0..TAKES {
            if !self.receive() {
                break;
            }
        }
        if self.computes && !stalled {
            self.found.lost += self.clock.compute(self.grains[self.turns % self.grains.len()]);
            self.turns += 1;
        }
    }

    /// Sends the next message. Returns false if there was no room for it.
    fn send(&mut self, unsent: &AtomicUsize) -> bool {
        let Some(&to) = self.to.get(self.sent) else { return true };
        let first = self.tried.unwrap_or_else(|| self.clock.now());
        self.message[..HEAD].copy_from_slice(&[first, self.numbers[to]]);
        let before = self.clock.now();
        let sent = self.node.send_with(to, || self.message).is_some();
        let after = self.clock.now();
        if !sent {
            self.tried.get_or_insert(before);
            return false;
        }
        let stalled = self.tried.take().map_or(0, |first| before - first) as i64;
        if self.sent >= self.load.warm {
            self.found.source.add(self.clock.between(before, after) + stalled);
            self.found.stalled.add(stalled);
        }
        self.numbers[to] += 1;
        self.sent += 1;
        if self.sent == self.to.len() {
            // Relaxed: the counter only ends the measurement.
            unsent.fetch_sub(1, Ordering::Relaxed);
        }
        true
    }

    /// Receives one message. Returns false if none has arrived.
    ///
    /// # Panics
    /// If the message is not its sender's next one.
    fn receive(&mut self) -> bool {
        let before = self.clock.now();
        if !self.computes {
            self.found.lost += self.clock.late(before - self.looked);
        }
        let received = self.node.receive();
        let received = black_box(&received);
        let after = self.clock.now();
        self.looked = after;
        let Some((from, message)) = received else { return false };
        assert_eq!(message[1], self.expected[*from], "a message was lost or overtaken");
        assert!(message[HEAD..].iter().all(|&word| word == *from as u64), "a message was changed");
        if self.received() >= self.load.warm {
            self.found.destination.add(self.clock.between(before, after));
            self.found.latency.add(self.clock.between(message[0], after));
        }
        self.expected[*from] += 1;
        true
    }

    fn received(&self) -> usize {
        self.expected.iter().sum::<u64>() as usize
    }
}

/// Returns a function that runs `load` once per call, always on the same net: senders have already used their buffers,
/// as in a program.
pub(super) fn runner<const W: usize>(clock: &Clock, load: Load) -> Box<dyn FnMut() -> Costs + '_> {
    let mut nodes = net(load.nodes, load.mode);
    Box::new(move || run::<W>(clock, load, &mut nodes))
}

/// Returns the time of a round trip of a cache line between two cores at the moment, in nanoseconds.
fn line() -> f64 {
    const PROBES: u64 = 1000;
    1e9 * round_trips_of_a_line(PROBES) / PROBES as f64
}

/// Runs all nodes.
fn run<const W: usize>(clock: &Clock, load: Load, nodes: &mut Nodes<W>) -> Costs {
    let before = line();
    let taking_part = load.pattern.nodes(load.nodes);
    let mut workers: Vec<Vec<Station<'_, W>>> = (0..load.workers).map(|_| Vec::new()).collect();
    for (index, node) in nodes.iter_mut().enumerate().take(taking_part) {
        workers[index % load.workers].push(Station::new(clock, load, index, node));
    }
    let stations = || workers.iter().flatten();
    let unsent = &AtomicUsize::new(stations().filter(|station| !station.to.is_empty()).count());
    let under_way = &AtomicUsize::new(stations().map(|station| station.to.len()).sum());
    let jobs = workers.into_iter().map(|stations| {
        Box::new(move || work(stations, unsent, under_way)) as Box<dyn FnOnce() -> Vec<Found> + Send + '_>
    });
    let (seconds, found) = together(jobs.collect());
    let found = found.concat();
    let senders: Vec<f64> =
        found.iter().filter(|found| found.source.count > 0).map(|found| found.source.mean()).collect();
    let mean = |tally: fn(&Found) -> Tally| found.iter().map(tally).sum::<Tally>().mean();
    let stalled: Tally = found.iter().map(|found| found.stalled).sum();
    Costs {
        source: harmonic_mean(&senders),
        stalled: stalled.sum as f64 / stalled.count.max(1) as f64,
        destination: mean(|found| found.destination),
        latency: mean(|found| found.latency),
        lost: found.iter().map(|found| found.lost).sum::<u64>() as f64 / (seconds * 1e9 * load.workers as f64),
        line: before.max(line()),
    }
}

/// Gives each station its turns until all messages have been sent, then receives the remaining ones. Returns the
/// results up to the last sending.
fn work<const W: usize>(
    mut stations: Vec<Station<'_, W>>,
    unsent: &AtomicUsize,
    under_way: &AtomicUsize,
) -> Vec<Found> {
    stations.iter_mut().for_each(|station| station.looked = station.clock.now());
    // Relaxed: no access to data of other threads relies on this load.
    while unsent.load(Ordering::Relaxed) > 0 {
        stations.iter_mut().for_each(|station| station.turn(unsent));
    }
    let found = stations.iter().map(|station| station.found).collect();
    under_way.fetch_sub(stations.iter().map(Station::received).sum(), Ordering::Relaxed);
    while under_way.load(Ordering::Relaxed) > 0 {
        for station in &mut stations {
            if station.receive() {
                under_way.fetch_sub(1, Ordering::Relaxed);
            } else {
                std::thread::yield_now();
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::patterns::PATTERNS;
    use super::{Clock, Load, Mode, harmonic_mean, runner};

    #[test]
    fn harmonic_mean_gives_little_weight_to_outliers() {
        assert_eq!(harmonic_mean(&[5.0]), 5.0);
        assert!((harmonic_mean(&[1.0, 2.0, 4.0]) - 12.0 / 7.0).abs() < 1e-12);
        assert!(harmonic_mean(&[1.0, 1e9]) < 2.001, "a node that is disturbed counts for little");
    }

    /// Receiving asserts that messages arrive in order, unchanged and once; on fewer threads than nodes, with less
    /// credit than messages.
    #[test]
    fn every_message_arrives_whatever_the_pattern() {
        let clock = Clock::new();
        for (_, pattern) in PATTERNS {
            for mode in [Mode::Push, Mode::Pull, Mode::Both] {
                let load = Load { warm: 8, counted: 40, ..Load::usual(mode, pattern, (4, 2)) };
                let mut run = runner::<4>(&clock, load);
                for costs in [run(), run()] {
                    assert!(costs.source > 0.0 && costs.latency > 0.0 && costs.stalled >= 0.0, "{costs:?}");
                    assert!((0.0..=1.0).contains(&costs.lost), "{costs:?}");
                }
            }
        }
    }
}
