//! The paper's kernel: each node sends a message, receives, and computes for a while; again and again.
//!
//! ```text
//!   worker 0   | node 0: send, receive, compute | node 2: send, receive, compute | node 4: ..
//!   worker 1   | node 1: send, receive, compute | node 3: ..
//! ```
//!
//! The paper's text says "a send, a receive, and a computation part". A node that receives one message in each turn, and gets
//! one on average, never catches up with what a disturbance leaves behind: its queue is a random walk, and so is what push
//! costs. So it receives two here, if they are there. Traffic that is balanced then leaves no queue; a node that gets
//! more than two for each that it sends falls behind, which is what a hot spot is. No transport can keep that up: with every
//! turn more is under way. Push ends it at the credit, pull when the senders' own buffers are out. Both are as large
//! here as in the library's mailboxes, and a run ends before a sender's own buffers are out.
//!
//! What a message costs its source is the time from the first attempt to the end of the one that succeeds, that is, the time
//! that the sender computes at sending and the time that it is stalled. A node that is stalled goes on receiving and does not
//! compute; those beside it on the worker have their turns meanwhile.
//!
//! Times are read around each attempt, so that computing is not part of them, and the price of a reading is taken off.

use std::hint::black_box;
use std::sync::atomic::{AtomicUsize, Ordering};

use finespun::__transports::adaptive::{self, Ways};
use finespun_object_apps::microkernel::Draw;

use super::clock::Clock;
use super::patterns::Pattern;
use super::threads::together;

/// Messages that one node may have under way to another in its ring, and to all in its own memory: as in the mailboxes.
const SHARE: u32 = 32;
const QUOTA: u32 = 1024;

/// Messages that a node receives in a turn, at most.
pub(super) const TAKES: usize = 2;

/// What a node computes on average between two messages, in nanoseconds; distributed exponentially. The paper's; it says
/// "a stochastic variable delay", and not which.
pub(super) const GRAIN: f64 = 13_200.0;

/// The two words that every message has: when it was sent, and how many its sender had sent to that node before.
const HEAD: usize = 2;

/// The nodes of a net that is sent over.
pub(super) type Nodes<const W: usize> = Vec<adaptive::Node<[u64; W]>>;

/// A net of so many nodes with as much room as the library's.
pub(super) fn net<const W: usize>(nodes: usize, ways: Ways) -> Nodes<W> {
    adaptive::net_of(nodes, ways, SHARE, QUOTA)
}

/// What is run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Load {
    pub(super) ways: Ways,
    pub(super) pattern: Pattern,
    pub(super) nodes: usize,
    pub(super) workers: usize,
    /// Messages of each sender, first those that are not counted.
    pub(super) warm: usize,
    pub(super) counted: usize,
}

/// For the first messages to be no part of what is measured: with twice the credit, push has met its bound.
const WARM: usize = 2 * SHARE as usize;
/// Messages that are counted, of all nodes together.
const COUNTED: usize = 1536;

impl Load {
    /// Short, so that some of many runs are undisturbed; and so that a sender keeps some of its buffers.
    pub(super) fn usual(ways: Ways, pattern: Pattern, (nodes, workers): (usize, usize)) -> Load {
        Load { ways, pattern, nodes, workers, warm: WARM, counted: COUNTED / pattern.nodes(nodes) }
    }

    /// With few messages, of which nothing can be said.
    pub(super) fn quick(self) -> Load {
        Load { warm: 0, counted: 8, ..self }
    }
}

/// What a message costs on average, in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Costs {
    /// Its sender, stalled time included: the harmonic mean over all senders.
    pub(super) source: f64,
    /// Of that, the time between the first attempt and the last, if there was more than one: the plain mean.
    pub(super) stalled: f64,
    /// Its receiver.
    pub(super) destination: f64,
    /// From the first attempt to the end of the receiving; the longer the queue, the longer.
    pub(super) latency: f64,
    /// Of the time of all workers, the part that they were off their cores.
    pub(super) lost: f64,
}

/// The harmonic mean, in which a few large numbers count for little.
pub(super) fn harmonic_mean(figures: &[f64]) -> f64 {
    figures.len() as f64 / figures.iter().map(|figure| figure.recip()).sum::<f64>()
}

/// A sum with the number of what was added.
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

    /// At least a nanosecond, the clock's own unit: less has not been measured, and harmonic means need more than nothing.
    fn mean(self) -> f64 {
        (self.sum as f64 / self.count.max(1) as f64).max(1.0)
    }
}

impl std::iter::Sum for Tally {
    fn sum<I: Iterator<Item = Tally>>(tallies: I) -> Tally {
        tallies.fold(Tally::default(), |a, b| Tally { sum: a.sum + b.sum, count: a.count + b.count })
    }
}

/// A node at its work.
struct Station<'a, const W: usize> {
    clock: &'a Clock,
    load: Load,
    node: &'a mut adaptive::Node<[u64; W]>,
    computes: bool,
    /// Where its messages go.
    to: Vec<usize>,
    /// How long it computes after each of them.
    grains: Vec<u64>,
    turns: usize,
    sent: usize,
    /// When the message was first tried that is to be sent now.
    tried: Option<u64>,
    message: [u64; W],
    /// By receiver and by sender: messages so far.
    numbers: Vec<u64>,
    expected: Vec<u64>,
    /// When it last looked for a message.
    looked: u64,
    found: Found,
}

/// What a node found.
#[derive(Clone, Copy, Debug, Default)]
struct Found {
    source: Tally,
    stalled: Tally,
    destination: Tally,
    latency: Tally,
    /// Nanoseconds that the thread was off its core while it should have computed, or looked for messages all the time.
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

    /// Sends what is to be sent next; whether there was room for it.
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
            // Relaxed: it only ends the measuring.
            unsent.fetch_sub(1, Ordering::Relaxed);
        }
        true
    }

    /// Receives one message, if there is one.
    ///
    /// # Panics
    /// If it is not the next of its sender's.
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

/// A run of that load at each call, over the same net: senders have used their buffers before, as they have in a program.
pub(super) fn runner<const W: usize>(clock: &Clock, load: Load) -> Box<dyn FnMut() -> Costs + '_> {
    let mut nodes = net(load.nodes, load.ways);
    Box::new(move || run::<W>(clock, load, &mut nodes))
}

/// Has all nodes do their work.
fn run<const W: usize>(clock: &Clock, load: Load, nodes: &mut Nodes<W>) -> Costs {
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
    }
}

/// Gives each station its turns until all has been sent; then receives what is left. What was found until then.
fn work<const W: usize>(
    mut stations: Vec<Station<'_, W>>,
    unsent: &AtomicUsize,
    under_way: &AtomicUsize,
) -> Vec<Found> {
    stations.iter_mut().for_each(|station| station.looked = station.clock.now());
    // Relaxed: nothing is read after it that another thread has written.
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
    use super::{Clock, Load, Ways, harmonic_mean, runner};

    #[test]
    fn harmonic_means() {
        assert_eq!(harmonic_mean(&[5.0]), 5.0);
        assert!((harmonic_mean(&[1.0, 2.0, 4.0]) - 12.0 / 7.0).abs() < 1e-12);
        assert!(harmonic_mean(&[1.0, 1e9]) < 2.001, "a node that is disturbed counts for little");
    }

    /// In order, unchanged and once, which receiving asserts; on fewer threads than nodes, with less credit than messages.
    #[test]
    fn every_message_arrives_whatever_the_pattern() {
        let clock = Clock::new();
        for (_, pattern) in PATTERNS {
            for ways in [Ways::Push, Ways::Pull, Ways::Both] {
                let load = Load { warm: 8, counted: 40, ..Load::usual(ways, pattern, (4, 2)) };
                let mut run = runner::<4>(&clock, load);
                for costs in [run(), run()] {
                    assert!(costs.source > 0.0 && costs.latency > 0.0 && costs.stalled >= 0.0, "{costs:?}");
                    assert!((0.0..=1.0).contains(&costs.lost), "{costs:?}");
                }
            }
        }
    }
}
