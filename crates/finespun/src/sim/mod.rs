//! Simulated machines: the same program on any number of processors, in virtual time, on one thread.
//!
//! A runtime with [`Fabric::Simulated`](crate::runtime::Fabric::Simulated) has the real compiler output, frames,
//! objects, locks, groups and closures. Only messages, time and idleness are simulated. Each worker is a processor of
//! the simulated [`Machine`], with a clock and a stack (a coroutine) of its own, and all take turns on one thread. The
//! machine's description gives the virtual time of each guard check, frame and message; the program adds the time of
//! its computations by [`work`](crate::simulation::work) and [`compute`](crate::simulation::compute). The time that
//! this computer needs does not count, so a run is repeatable: the same program on the same machine has the same events
//! at the same virtual times.
//!
//! The other modules see the simulation as a [`Simulator`]: the scheduler asks it for the time and lets it wait for
//! events, and the fabric's endpoints ask it when a message arrives. Without a simulated machine there is none, and none
//! of its calls is on a path that running tasks take.

#[cfg(feature = "simulation")]
pub(crate) mod engine;
#[cfg(any(feature = "simulation", all(test, loom)))]
#[cfg_attr(loom, allow(dead_code, reason = "only its model is compiled without the engine"))]
mod gate;
#[cfg(feature = "simulation")]
pub(crate) mod machine;
#[cfg(feature = "simulation")]
pub(crate) mod trace;

use std::time::{Duration, Instant};

use crate::observe::Counters;

#[cfg(feature = "simulation")]
pub use machine::{Machine, MachineError};
#[cfg(feature = "simulation")]
pub use trace::{Activity, Span, Trace};

/// Number of simulated machines of the process.
#[cfg(feature = "simulation")]
static MACHINES: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);

/// Returns false if the process simulates no machine.
#[inline(always)]
pub(crate) fn any() -> bool {
    // Relaxed: a simulated worker sees its own machine counted, since the count precedes the start of its thread.
    #[cfg(feature = "simulation")]
    return MACHINES.load(std::sync::atomic::Ordering::Relaxed) > 0;
    #[cfg(not(feature = "simulation"))]
    false
}

/// The reason why a wait of a simulated worker ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Waited {
    /// Another worker, or a thread outside, has rung.
    Rung,
    /// A message has arrived.
    Arrived,
    TimedOut,
}

/// The kinds of reads of write-once arrays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Read {
    /// The element belongs to this node.
    Local,
    /// The element is in the cache.
    Hit,
    /// The element is not in the cache, but has been requested.
    Deferred,
    /// The element is requested, for the cache.
    Miss,
    /// The element is requested alone: beyond its call and its messages, this costs nothing.
    Alone,
}

/// The simulated machine, as the scheduler sees it. Only simulated workers call it, except `ring`, `enter` and `leave`:
/// "the worker" is the one that runs.
pub(crate) trait Simulator: Send + Sync {
    /// Returns the worker's clock, as an instant after the machine's start.
    fn now(&self) -> Instant;
    /// Charges the worker for its activity since the last call, by its counters, and lets the workers run that are behind
    /// it. Called at every guard check and at every turn of an idle worker. `frame` is the name of the body of the frame
    /// that runs.
    fn check(&self, counters: &Counters, frame: Option<&'static str>);
    /// Charges the worker for its activity since the last call, and lets no other worker run.
    fn charge(&self, counters: &Counters);
    /// Charges the worker for a computation.
    fn work(&self, time: Duration);
    /// Charges the worker for a computation of this many operations.
    fn compute(&self, operations: u64);
    /// Charges the worker for an access to the memory of another worker, and lets the workers run that are behind it.
    fn access(&self, other: usize);
    /// Returns a number that differs for each seed, zero for seed 0.
    fn seed(&self) -> u64;
    /// Returns the number of workers that an idle worker tries in one search for work.
    fn victims(&self) -> usize;
    /// Returns whether a worker that has no room for a message does nothing but receive, from its next guard check on, until
    /// there is room.
    fn stalls(&self) -> bool;
    /// Suspends the worker until it is rung, a message arrives for it, or the time has passed.
    fn wait(&self, timeout: Option<Duration>) -> Waited;
    /// Wakes a worker that waits, or ends its next wait. Any thread may call this.
    fn ring(&self, worker: usize);
    /// Wakes a worker that waits, or ends its next wait, as if a message had arrived for it.
    fn ring_for_message(&self, worker: usize);
    /// Returns the worker that rang the worker last, if any: it may have work.
    fn rung_by(&self) -> Option<usize>;
    /// Returns the time that processors spend on a request for an element of a write-once array, on each further element of
    /// a block, and on a hit in the cache.
    fn request_costs(&self) -> [Duration; 3];
    /// Returns whether reads of write-once arrays take time beyond their calls.
    fn reads_take_time(&self) -> bool;
    /// Charges the worker for a read of a write-once array, and lets no other worker run.
    fn read(&self, read: Read);
    /// Calls `fire` when the machine's virtual time reaches this instant; at once, on the machine's thread, if it has
    /// passed. `number` differs from those of the other timers.
    fn set_timer(&self, number: u64, at: Instant, fire: Box<dyn FnOnce() + Send>);
    /// Cancels a timer. Returns its function if it has not been called.
    fn cancel_timer(&self, number: u64) -> Option<Box<dyn FnOnce() + Send>>;
    /// Returns whether the simulation has begun. Any thread may call this.
    fn has_begun(&self) -> bool;
    /// Returns the time at which a run begins now. Any thread that has entered may call this.
    fn begin(&self) -> u64;
    /// Notes that the root of a run has ended, and when that run had begun.
    fn root_ended(&self, begun: u64);
    /// Makes an outside thread wait until the engine admits it, usually while all workers wait, and keeps workers from
    /// running until `leave` is called. So what the thread does is at a definite virtual time. On the simulation's own
    /// thread it does nothing.
    fn enter(&self);
    /// Ends `enter`.
    fn leave(&self);
}

/// A guard that keeps all simulated workers waiting: see [`Simulator::enter`].
pub(crate) struct Entered<'a>(&'a dyn Simulator);

impl Entered<'_> {
    pub(crate) fn new(simulator: &dyn Simulator) -> Entered<'_> {
        simulator.enter();
        Entered(simulator)
    }
}

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        self.0.leave();
    }
}
