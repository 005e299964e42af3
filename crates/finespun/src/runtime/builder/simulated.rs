//! Runtimes over several processes on one simulated machine.

use std::sync::{Arc, mpsc};
use std::thread;

use super::super::{Error, Runtime};
use super::Builder;
use super::build::TICKER_STACK;
use crate::cluster::{self, Near, Shape};
use crate::fabric::placed::Segment;
use crate::fabric::simulated::wire::SimulatedWire;
use crate::process::start_thread;
use crate::sched::ticker;
use crate::sched::worker::Worker;
use crate::sim::engine::Engine;
use crate::sim::{Machine, Simulator};

impl Builder {
    /// Builds the teams of several processes on one simulated machine. A processor has one worker, and each process one more
    /// for its carrier.
    pub(super) fn build_simulated_processes(self, workers: usize, machine: &Machine) -> Result<Runtime, Error> {
        if workers != 1 {
            return Err(Error::Workers { workers, most: 1 });
        }
        assert!(machine.dying_node().is_none(), "a simulated machine with a dying node has one process");
        let processes = self.processes;
        let nodes = self.nodes.unwrap_or(processes);
        let engine = Arc::new(Engine::new(machine, processes, processes, nodes));
        let (mut clusters, mut parts) = (Vec::new(), Vec::new());
        for (rank, wire) in SimulatedWire::ends(processes, processes, &engine).into_iter().enumerate() {
            let shape = Shape { processes, workers, rank, near: Near::of(rank, processes, 1) };
            let segment = Arc::new(Segment::private(shape.segment_bytes()));
            let machine: Arc<dyn Simulator> = Arc::<Engine>::clone(&engine);
            let joined = cluster::join(shape, &segment, Some(Box::new(wire)), Some(machine));
            clusters.push(Arc::clone(&joined.0));
            parts.push(self.clone().build_part(Some(joined), Some(Arc::clone(&engine)))?);
        }
        // After the parts, which check the settings.
        let stacks = self.stacks(2 * processes)?;
        let mut ends = Vec::new();
        for part in &mut parts {
            // Stands for the worker's thread.
            let (end, ended) = mpsc::sync_channel::<()>(1);
            ends.push(end);
            let thread = thread::Builder::new().stack_size(TICKER_STACK);
            let wait = move || ended.recv().unwrap_or_default();
            part.threads.push(start_thread(thread, wait).map_err(Error::thread(0, 1))?);
        }
        let teams: Vec<_> = parts.iter().map(|part| Arc::clone(&part.team)).collect();
        let main = move |processor: usize| match processor.checked_sub(teams.len()) {
            None => {
                Worker::main(&teams[processor], 0);
                if let Some(peers) = &teams[processor].peers {
                    // Otherwise the others would look out for it.
                    peers.set_asleep(0, true);
                }
                // Fails only if the waiting thread has ended, which it does after this.
                let _ = ends[processor].send(());
            }
            Some(rank) => clusters[rank].carry_simulated(),
        };
        let mut all: Vec<_> = parts.iter().map(|part| (ticker::pause(&part.team), ticker::ticks(&part.team))).collect();
        let thread = thread::Builder::new().name(format!("{}-simulation", self.name)).stack_size(TICKER_STACK);
        let simulated = Arc::clone(&engine);
        let simulate = move || {
            let pause = all.iter().map(|(pause, _)| *pause).min().unwrap_or_default();
            let ticks = || all.iter_mut().for_each(|(_, tick)| tick(false));
            simulated.run(stacks, Arc::new(main), pause, ticks, |_, _| {});
        };
        // It ends with its last processor.
        drop(start_thread(thread, simulate).map_err(Error::thread(0, 1))?);
        let others = parts.split_off(1);
        let mut runtime = parts.pop().unwrap_or_else(|| unreachable!("there are several processes"));
        runtime.others = others;
        Ok(runtime)
    }
}
