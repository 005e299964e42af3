//! The times of messages: their costs for sender and receiver, and their arrival.

use super::{Engine, NEVER, Reason, picoseconds};
use crate::observe::Counters;
use crate::sim::Simulator;

impl Engine {
    /// Returns the number of pushed messages that may be on their way to one receiver.
    pub(crate) fn buffers(&self) -> usize {
        self.buffers as usize
    }

    /// Returns the number of pulled messages that may be on their way from one sender.
    pub(crate) fn source_buffers(&self) -> usize {
        self.source_buffers as usize
    }

    /// Charges the current worker for sending a message. Returns the time at which it arrives at worker `to`.
    pub(crate) fn send(&self, to: usize, bytes: usize, pulled: bool, counters: &Counters) -> u64 {
        self.charge(counters);
        self.send_charged(to, bytes, pulled)
    }

    /// Charges the current processor, which carries bundles and does nothing else, for sending one. Returns the time at which
    /// it arrives at processor `to`.
    pub(crate) fn send_bundle(&self, to: usize, bytes: usize) -> u64 {
        self.send_charged(to, bytes, false)
    }

    fn send_charged(&self, to: usize, bytes: usize, pulled: bool) -> u64 {
        let (costs, processor) = (&self.costs, self.processor());
        self.advance(costs.message + if pulled { &self.pull } else { &self.push }.send(bytes));
        // A pulled message stays with its sender: only a word travels.
        let travels = if pulled { size_of::<u64>() } else { bytes };
        let begins = processor.clock.get().max(processor.sends_from.get());
        let mut leaves = begins.saturating_add(costs.byte.saturating_mul(travels as u64));
        let mut arrives = leaves.saturating_add(costs.latency);
        let waits = if pulled { 0 } else { self.deliver(to, arrives, bytes) };
        arrives = arrives.saturating_add(waits);
        if self.stalls {
            leaves = leaves.saturating_add(waits);
            processor.clock.set(processor.clock.get().saturating_add(waits));
        }
        processor.sends_from.set(leaves.saturating_add(costs.gap));
        let mut last_arrivals = self.state.last_arrivals.borrow_mut();
        if !self.adversary.delay.is_zero() {
            arrives = arrives.saturating_add(self.state.below(picoseconds(self.adversary.delay)));
        } else if waits == 0 && (!pulled || last_arrivals.is_empty()) {
            return arrives;
        }
        // Nothing overtakes a message that is delayed, or that waits in the network.
        let last = last_arrivals.entry((self.state.current.get(), to)).or_default();
        *last = arrives.max(*last);
        *last
    }

    /// Passes a message that is there at this time to the network interface of worker `to`. Returns how long the interface
    /// is occupied by earlier ones.
    ///
    /// Senders may call this out of order, by up to the latency. So the amount to be delivered is kept, and not the end of
    /// its delivery: otherwise the time before a message that is sent early would be lost for all that are sent after it.
    fn deliver(&self, to: usize, arrives: u64, bytes: usize) -> u64 {
        let processor = &self.state.processors[to];
        let since = arrives.saturating_sub(processor.backlog_at.get());
        let waits = processor.backlog.get().saturating_sub(since);
        processor.backlog.set(waits.saturating_add(self.costs.receive_byte.saturating_mul(bytes as u64)));
        processor.backlog_at.set(processor.backlog_at.get().max(arrives));
        waits
    }

    /// Returns the time from which worker `to` can receive a message that arrives at this time: its network interface
    /// takes one in each gap.
    pub(crate) fn receivable(&self, to: usize, arrival: u64) -> u64 {
        arrival.max(self.state.processors[to].receives_from.get())
    }

    /// Charges the current worker for receiving a message that has become receivable at this time.
    pub(crate) fn received(&self, receivable: u64, bytes: usize, pulled: bool) {
        self.count_event();
        self.processor().receives_from.set(receivable.saturating_add(self.costs.gap));
        self.advance(self.costs.message + if pulled { &self.pull } else { &self.push }.receive(bytes));
    }

    /// Notes the time at which the next message for worker `to` arrives, if any.
    pub(crate) fn set_arrival(&self, to: usize, arrival: Option<u64>) {
        let processor = &self.state.processors[to];
        let arrival = arrival.map_or(NEVER, |arrival| self.receivable(to, arrival));
        let before = processor.arrival.replace(arrival);
        if processor.waits.get() && arrival < before {
            self.push(to, arrival.max(processor.clock.get()), Reason::Arrived);
        }
    }
}
