//! The wire between the processes of a runtime on a simulated machine. The carrier of each process has a processor of its own.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use crate::atomics::lock_std as lock;
use crate::fabric::wire::Wire;
use crate::sim::engine::Engine;

/// The end of one process. Used by the simulation's thread.
pub(crate) struct SimulatedWire {
    rank: usize,
    /// The processor of the first process's carrier.
    first: usize,
    engine: Arc<Engine>,
    /// By receiver.
    queues: Arc<[Mutex<Queue>]>,
}

/// Bundles by the time at which they arrive.
type Queue = VecDeque<Bundle>;

struct Bundle {
    arrives: u64,
    from: usize,
    bytes: Vec<u8>,
}

impl SimulatedWire {
    /// Returns the ends of a wire between this number of processes, whose carriers are the processors from `first` on.
    pub(crate) fn ends(processes: usize, first: usize, engine: &Arc<Engine>) -> Vec<SimulatedWire> {
        let queues: Arc<[_]> = (0..processes).map(|_| Mutex::new(VecDeque::new())).collect();
        let end = |rank| SimulatedWire { rank, first, engine: Arc::clone(engine), queues: Arc::clone(&queues) };
        (0..processes).map(end).collect()
    }
}

impl Wire for SimulatedWire {
    fn send(&mut self, to: usize, bytes: Vec<u8>) -> Result<(), String> {
        let arrives = self.engine.send_bundle(self.first + to, bytes.len());
        let mut queue = lock(&self.queues[to]);
        let behind = queue.partition_point(|bundle| bundle.arrives <= arrives);
        queue.insert(behind, Bundle { arrives, from: self.rank, bytes });
        let next = queue.front().map(|bundle| bundle.arrives);
        drop(queue);
        self.engine.set_arrival(self.first + to, next);
        Ok(())
    }

    fn receive(&mut self) -> Result<Option<(usize, Vec<u8>)>, String> {
        let mut queue = lock(&self.queues[self.rank]);
        let here = self.first + self.rank;
        let receivable = |bundle: &Bundle| self.engine.receivable(here, bundle.arrives) <= self.engine.clock();
        if !queue.front().is_some_and(receivable) {
            return Ok(None);
        }
        let Some(bundle) = queue.pop_front() else { return Ok(None) };
        let next = queue.front().map(|bundle| bundle.arrives);
        drop(queue);
        self.engine.received(self.engine.receivable(here, bundle.arrives), bundle.bytes.len(), false);
        self.engine.set_arrival(here, next);
        Ok(Some((bundle.from, bundle.bytes)))
    }
}
