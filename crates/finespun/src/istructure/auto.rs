//! `Cache::Auto`: decides whether the cache of an array pays at a node, and how many elements a request should fetch.
//!
//! The criterion is equation 1 of i-structure-software-cache, section 3.2, without the reads at home, which take as
//! long with the cache as without: do hits save more than fetching blocks instead of elements costs?
//!
//! ```text
//!   R_hit (O_request - O_hit) > (1 - R_hit) (O_block - O_request)
//! ```
//!
//! Here O_request and O_block include all messages of a request. The *balance* is the difference of the two sides,
//! summed over the reads of this node. Below a bound the cache is switched off. It is tried again after requests of
//! single elements have taken many times the amount that the trial may lose; each failure doubles that time. So a
//! program without any reuse loses little.
//!
//! ```text
//!   measuring --- costs are known ---> on --- balance below the bound ---> off
//!                                      on <----- off period ends --------- off
//! ```
//!
//! Hits that the directory answers are not counted: counting would cost more than the hit. A *probe* is a request whose
//! lines are kept out of the directory until they have been read often enough. Its hits are counted, and are
//! extrapolated to all requests since the last probe ended.
//!
//! A request fetches a *group* of consecutive lines. Their number, the *width*, doubles while enough requests find the
//! adjacent group in the cache (a larger group would have saved these requests), and halves when a probe's lines are
//! not read.
//!
//! The costs are those that `request_costs` has measured.

use std::cell::Cell;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use super::request_costs::{Costs, LINE, costs};
use crate::observe::CacheChoice;

/// Bytes of an array's elements that a node keeps at most.
pub(super) const BYTES: usize = 64 << 20;

/// Largest number of lines that a request fetches: the number of bits in a probe's mask.
const WIDEST: usize = 64;

/// Number of requests after which the width is reconsidered.
const WINDOW: u32 = 32;

/// Bound of the balance, as the cost of this many requests of single elements.
///
/// A cache that does not pay makes each request a little slower, but a missing cache costs a request for each hit. So
/// the cache is switched off late.
const PATIENCE: f64 = 4096.0;

/// Number of requests after which a probe ends, regardless of its hits.
const PROBE: u64 = 2048;

/// Number of hits at which a probe ends, plus one for each of its lines.
const ENOUGH: u32 = 16;

/// Number of requests between the end of a probe by hits and the next probe, so that a short program's lines are not
/// all probed.
const GAP: u64 = 64;

/// Length of the first off period, in bounds of the balance.
const REST: f64 = 16.0;

/// While the costs are unknown, each round of `ROUND` requests begins with `SINGLE` requests of single elements; the
/// others are of lines.
const SINGLE: u32 = 64;
const ROUND: u32 = 1024;

/// Number of this process's requests while the costs are unknown.
static ASKED: AtomicU32 = AtomicU32::new(0);

/// A request whose hits are counted.
#[derive(Clone, Copy)]
struct Probe {
    /// Its first line.
    first: usize,
    /// Number of its lines.
    width: usize,
    /// Number of requests sent before the probe began.
    born: u64,
    hits: u32,
    /// A bit for each line, set if the line has been read.
    read: u64,
}

/// The state of the decision for one array at one node.
pub(super) struct Auto {
    costs: Cell<Option<Costs>>,
    on: bool,
    /// Number of lines that a request fetches.
    width: usize,
    /// Number of requests since the cache was switched on.
    requests: u64,
    /// Nanoseconds that the cache has saved.
    balance: Cell<f64>,
    probe: Cell<Option<Probe>>,
    /// Number of requests sent when the last probe ended: the next probe's hits are extrapolated to the requests since
    /// then. And the number of requests after which the next probe begins.
    probed: Cell<u64>,
    next_probe: Cell<u64>,
    /// The first line and the number of lines of a probe that has ended: their hits need not be counted any more.
    ended: Cell<Option<(usize, usize)>>,
    /// Number of requests in the current window, and of those that found the adjacent group.
    window: (u32, u32),
    /// Nanoseconds until the off period ends; and the length of the next off period, in bounds.
    rest: f64,
    next_rest: Cell<f64>,
    /// Nanoseconds that messages add to each request.
    added: f64,
    changes: u64,
    /// Total number of requests, and for the average: the extrapolated hits of probes with the number of requests they
    /// cover.
    all: u64,
    hits: Cell<(f64, f64)>,
}

/// The action for a read that finds nothing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Choice {
    /// Request the element alone.
    Element,
    /// Request the lines of this range that are not present.
    Lines { first: usize, width: usize },
}

impl Auto {
    pub(super) fn new() -> Auto {
        Auto {
            costs: Cell::new(costs()),
            on: true,
            width: 1,
            requests: 0,
            balance: Cell::new(0.0),
            probe: Cell::new(None),
            probed: Cell::new(0),
            next_probe: Cell::new(0),
            ended: Cell::new(None),
            window: (0, 0),
            rest: 0.0,
            next_rest: Cell::new(REST),
            added: 0.0,
            changes: 0,
            all: 0,
            hits: Cell::default(),
        }
    }

    /// Returns the nanoseconds of a request of `lines` lines.
    fn cost(&self, costs: Costs, lines: usize) -> f64 {
        self.saved(costs) + (LINE * lines - 1) as f64 * costs.element
    }

    /// Returns the nanoseconds of a request of one element.
    fn saved(&self, costs: Costs) -> f64 {
        costs.request + self.added
    }

    fn bound(&self, costs: Costs) -> f64 {
        PATIENCE * self.saved(costs)
    }

    /// Decides about a read of an element in `line` that finds neither the element nor a line. `near` returns whether a
    /// given line is present.
    ///
    /// `added` is the overhead that messages add, in nanoseconds for a request.
    pub(super) fn miss(&mut self, line: usize, added: f64, near: impl FnOnce(usize) -> bool) -> Choice {
        self.added = added;
        self.all += 1;
        let Some(costs) = self.costs.get().or_else(costs) else {
            // Requests of both kinds are measured. Relaxed: a counter that orders nothing.
            return match ASKED.fetch_add(1, Relaxed) % ROUND {
                ..SINGLE => Choice::Element,
                _ => Choice::Lines { first: line, width: 1 },
            };
        };
        self.costs.set(Some(costs));
        let bound = self.bound(costs);
        if !self.on {
            self.rest -= self.saved(costs);
            if self.rest > 0.0 {
                return Choice::Element;
            }
            self.switch(true);
        }
        self.requests += 1;
        if let Some(probe) = self.probe.get().filter(|probe| self.requests - probe.born >= PROBE) {
            self.end_probe(costs, probe);
        }
        // Widens the group, narrows it, or switches the cache off.
        self.window.0 += 1;
        self.window.1 += u32::from(self.width < WIDEST && near(line ^ self.width));
        if self.window.0 == WINDOW {
            let saved = f64::from(self.window.1) / f64::from(WINDOW);
            if self.width < WIDEST
                && self.balance.get() > -bound / 2.0
                && (1.0 - saved) * self.cost(costs, 2 * self.width) < 0.95 * self.cost(costs, self.width)
            {
                self.resize(2 * self.width);
            }
            self.window = (0, 0);
        }
        self.balance.set(self.balance.get() - (self.cost(costs, self.width) - self.saved(costs)));
        if self.balance.get() < -bound / 2.0 {
            // A running probe may have hits that are not in the balance yet.
            if let Some(probe) = self.probe.get().filter(|probe| probe.hits > 0) {
                self.gain(costs, probe);
            }
            if self.balance.get() < -bound / 2.0 && self.width > 1 {
                self.resize(1);
            }
        }
        if self.balance.get() < -bound {
            self.switch(false);
            self.rest = self.next_rest.get() * bound;
            self.next_rest.set(2.0 * self.next_rest.get());
            return Choice::Element;
        }
        let (first, width) = (line / self.width * self.width, self.width);
        if self.probe.get().is_none() && self.requests > self.next_probe.get() {
            self.probe.set(Some(Probe { first, width, born: self.requests - 1, hits: 0, read: 0 }));
        }
        Choice::Lines { first, width }
    }

    /// Records a hit in `line` that the directory did not answer.
    pub(super) fn hit(&self, line: usize) {
        let probe = self.probe.get().filter(|probe| (probe.first..probe.first + probe.width).contains(&line));
        let (Some(mut probe), Some(costs)) = (probe, self.costs.get()) else { return };
        probe.hits += 1;
        probe.read |= 1 << (line - probe.first);
        self.probe.set(Some(probe));
        if probe.hits >= ENOUGH + probe.width as u32 {
            self.gain(costs, probe);
            self.next_probe.set(self.requests + GAP);
        }
    }

    /// Records a read that waits for a block requested by another read.
    pub(super) fn deferred(&self) {
        let Some(costs) = self.costs.get() else { return };
        if self.on {
            self.balance.set((self.balance.get() + self.saved(costs)).min(self.bound(costs)));
        }
    }

    /// Returns true if hits of this line are counted.
    pub(super) fn counts(&self, line: usize) -> bool {
        self.probe.get().is_some_and(|probe| (probe.first..probe.first + probe.width).contains(&line))
    }

    /// Returns the first line and the number of lines of a probe that has ended since the last call: their hits need
    /// not be counted any more.
    pub(super) fn ended(&self) -> Option<(usize, usize)> {
        self.ended.take()
    }

    /// Ends a probe that has become old.
    fn end_probe(&mut self, costs: Costs, probe: Probe) {
        self.gain(costs, probe);
        let read = probe.read.count_ones() as usize;
        // Requests for just the lines that were read would have cost less.
        if self.width > 1
            && probe.width == self.width
            && read as f64 * self.cost(costs, 1) < 0.9 * self.cost(costs, self.width)
        {
            self.resize(self.width / 2);
        }
    }

    /// Ends a probe, and extrapolates its hits to all requests since the last probe ended.
    fn gain(&self, costs: Costs, probe: Probe) {
        let requests = (self.requests - self.probed.replace(self.requests)).max(1) as f64;
        let saved = f64::from(probe.hits) * (self.saved(costs) - costs.hit);
        let balance = self.balance.get() + requests * saved;
        if balance >= self.bound(costs) {
            // The cache pays: if it later stops paying, the next off period is short again.
            self.next_rest.set(REST);
        }
        self.balance.set(balance.min(self.bound(costs)));
        self.probe.set(None);
        self.ended.set(Some((probe.first, probe.width)));
        let (hits, of) = self.hits.get();
        self.hits.set((hits + requests * f64::from(probe.hits), of + requests));
    }

    fn resize(&mut self, width: usize) {
        // The next request has the new width and begins a probe.
        self.next_probe.set(0);
        if let (Some(costs), Some(probe)) = (self.costs.get(), self.probe.get()) {
            self.gain(costs, probe);
        }
        self.changes += 1;
        self.width = width;
        self.window = (0, 0);
    }

    fn switch(&mut self, on: bool) {
        self.changes += 1;
        self.on = on;
        self.width = 1;
        self.requests = 0;
        self.balance.set(0.0);
        self.probe.set(None);
        self.probed.set(0);
        self.next_probe.set(0);
        self.ended.set(None);
        self.window = (0, 0);
    }

    /// Returns true if blocks are fetched.
    pub(super) fn is_on(&self) -> bool {
        self.on
    }

    /// Returns the decision for the array made at `made`, or `None` if the cache has had no requests.
    pub(super) fn choice(&self, made: &str) -> Option<CacheChoice> {
        if self.all == 0 {
            return None;
        }
        let costs = self.costs.get();
        let (hits, of) = self.hits.get();
        Some(CacheChoice {
            made: made.to_owned(),
            caches: 1,
            on: self.on.into(),
            changes: self.changes,
            block: (LINE * self.width, LINE * self.width),
            requests: self.all,
            hits: if of > 0.0 { hits / of } else { 0.0 },
            request_ns: costs.map_or(0.0, |costs| costs.request),
            element_ns: costs.map_or(0.0, |costs| costs.element),
            hit_ns: costs.map_or(0.0, |costs| costs.hit),
            added_ns: self.added,
        })
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    const COSTS: Costs = Costs { request: 200.0, element: 10.0, hit: 1.0 };

    fn known() -> Auto {
        Auto { costs: Cell::new(Some(COSTS)), ..Auto::new() }
    }

    fn nothing_near(_: usize) -> bool {
        false
    }

    /// Returns the number of requests until the cache is off.
    fn requests_until_off(auto: &mut Auto) -> usize {
        (0..1_000_000)
            .find(|&line| auto.miss(3 * line, 0.0, nothing_near) == Choice::Element)
            .expect("it is switched off")
    }

    #[test]
    fn a_cache_without_hits_is_switched_off_for_ever_longer_periods() {
        let mut auto = known();
        // Each request loses 70 ns of the 4096 * 200 ns that may be lost.
        let patience = (PATIENCE * COSTS.request / (7.0 * COSTS.element)) as usize;
        let mut before = 0_usize;
        for trial in 0..3 {
            let lost = requests_until_off(&mut auto);
            assert!(lost.abs_diff(patience) < 10, "{lost} in trial {trial}");
            assert!(!auto.is_on());
            let rest =
                (0..).find(|&line| auto.miss(3 * line, 0.0, nothing_near) != Choice::Element).expect("without end");
            assert!(rest + 10 > 2 * before && rest as f64 >= REST * PATIENCE - 10.0, "{rest} after {before}");
            before = rest;
        }
    }

    #[test]
    fn hits_keep_the_cache_on() {
        let mut auto = known();
        for line in 0..100_000 {
            assert_ne!(auto.miss(3 * line, 0.0, nothing_near), Choice::Element, "at {line}");
            // Each element of the line is read once more.
            if auto.counts(3 * line) {
                (1..LINE).for_each(|_| auto.hit(3 * line));
            }
        }
        let choice = auto.choice("here").expect("there were requests");
        assert_eq!((choice.on, choice.block, choice.requests), (1, (LINE, LINE), 100_000));
        assert!((6.9..7.1).contains(&choice.hits), "{choice}");
    }

    #[test]
    fn deferred_reads_keep_the_cache_on() {
        let mut auto = known();
        for line in 0..100_000 {
            assert_ne!(auto.miss(3 * line, 0.0, nothing_near), Choice::Element, "at {line}");
            auto.deferred();
        }
    }

    /// Reads all lines in order: of each pair of groups, the second finds the first.
    fn scan(auto: &mut Auto, lines: usize, added: f64) -> usize {
        let (mut line, mut requests) = (0, 0);
        while line < lines {
            let Choice::Lines { first, width } = auto.miss(line, added, |near| near < line) else { break };
            assert!(first <= line && line < first + width);
            for read in line..first + width {
                (0..LINE).filter(|_| auto.counts(read)).for_each(|_| auto.hit(read));
            }
            line = first + width;
            requests += 1;
        }
        requests
    }

    #[test]
    fn a_scan_is_fetched_in_larger_and_larger_blocks() {
        let mut auto = known();
        let requests = scan(&mut auto, 100_000, 0.0);
        assert!(auto.is_on() && auto.width > 1 && requests < 60_000, "{requests} of {} lines", auto.width);
        // The more a message costs, the larger a block.
        let mut dear = known();
        let fewer = scan(&mut dear, 100_000, 20_000.0);
        assert!(dear.width == WIDEST && fewer < requests, "{fewer} of {} lines", dear.width);
    }

    #[test]
    fn blocks_shrink_when_only_a_part_of_them_is_read() {
        let mut auto = known();
        scan(&mut auto, 20_000, 20_000.0);
        assert_eq!(auto.width, WIDEST);
        // From here on one line of each block is read repeatedly, and messages cost nothing.
        for at in 0..40_000 {
            let line = (1_000 + at) * 2 * WIDEST;
            let Choice::Lines { .. } = auto.miss(line, 0.0, nothing_near) else { break };
            (0..30).filter(|_| auto.counts(line)).for_each(|_| auto.hit(line));
        }
        assert!(auto.is_on() && auto.width < WIDEST, "{} lines", auto.width);
    }

    #[test]
    fn ended_returns_the_lines_of_a_finished_probe_once() {
        let mut auto = known();
        assert_eq!(auto.miss(5, 0.0, nothing_near), Choice::Lines { first: 5, width: 1 });
        assert!(auto.counts(5) && !auto.counts(6) && auto.ended().is_none());
        (0..ENOUGH).for_each(|_| auto.hit(5));
        assert!(auto.counts(5));
        auto.hit(5);
        assert_eq!((auto.counts(5), auto.ended(), auto.ended()), (false, Some((5, 1)), None));
    }
}
