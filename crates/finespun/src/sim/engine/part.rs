//! The processors of a simulated machine that belong to one process of a runtime over several.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::Engine;
use crate::observe::Counters;
use crate::sim::{Read, Simulator, Waited};

/// The machine as the team of one process sees it, which numbers its own workers from 0.
pub(crate) struct Part {
    pub(crate) engine: Arc<Engine>,
    /// The processor of the process's first worker.
    pub(crate) first: usize,
    /// The number of its workers.
    pub(crate) workers: usize,
}

impl Simulator for Part {
    fn now(&self) -> Instant {
        self.engine.now()
    }

    fn check(&self, counters: &Counters, frame: Option<&'static str>) {
        self.engine.check(counters, frame);
    }

    fn charge(&self, counters: &Counters) {
        self.engine.charge(counters);
    }

    fn work(&self, time: Duration) {
        self.engine.work(time);
    }

    fn compute(&self, operations: u64) {
        self.engine.compute(operations);
    }

    fn access(&self, other: usize) {
        self.engine.access(self.first + other);
    }

    fn seed(&self) -> u64 {
        self.engine.seed()
    }

    fn victims(&self) -> usize {
        self.engine.victims()
    }

    fn stalls(&self) -> bool {
        self.engine.stalls()
    }

    fn wait(&self, timeout: Option<Duration>) -> Waited {
        self.engine.wait(timeout)
    }

    fn ring(&self, worker: usize) {
        self.engine.ring(self.first + worker);
    }

    fn ring_for_message(&self, worker: usize) {
        self.engine.ring_for_message(self.first + worker);
    }

    fn rung_by(&self) -> Option<usize> {
        self.engine.rung_by()?.checked_sub(self.first).filter(|&worker| worker < self.workers)
    }

    fn request_costs(&self) -> [Duration; 3] {
        self.engine.request_costs()
    }

    fn reads_take_time(&self) -> bool {
        self.engine.reads_take_time()
    }

    fn read(&self, read: Read) {
        self.engine.read(read);
    }

    fn set_timer(&self, number: u64, at: Instant, fire: Box<dyn FnOnce() + Send>) {
        self.engine.set_timer(number, at, fire);
    }

    fn cancel_timer(&self, number: u64) -> Option<Box<dyn FnOnce() + Send>> {
        self.engine.cancel_timer(number)
    }

    fn has_begun(&self) -> bool {
        self.engine.has_begun()
    }

    fn begin(&self) -> u64 {
        self.engine.begin()
    }

    fn root_ended(&self, begun: u64) {
        self.engine.root_ended(begun);
    }

    fn enter(&self) {
        self.engine.enter();
    }

    fn leave(&self) {
        self.engine.leave();
    }
}
