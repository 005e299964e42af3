//! The functions by which a program charges its computations to a simulated machine.

use std::time::{Duration, Instant};

use crate::frame::context::try_cx;
use crate::sim::{self, Simulator};

/// Charges the simulated processor that runs this code for a computation that takes `time` there. On real machines, where
/// computations take their own time, and outside tasks it does nothing, in a few instructions.
///
/// Other simulated processors, which share this one's thread, may run during the call. So the caller must not hold a lock
/// of std that their tasks take: hold one of [`sync`](crate::sync) instead.
#[inline]
pub fn work(time: Duration) {
    if sim::any() {
        charge_time(time);
    }
}

/// Like [`work`], for a computation of `operations` elementary operations: additions or multiplications with their
/// operands' loads. The description of the machine says how long one takes.
#[inline]
pub fn compute(operations: u64) {
    if sim::any() {
        charge_operations(operations);
    }
}

/// Returns the time of the simulated processor that runs this code, as an instant after the start of its machine; on real
/// machines and outside tasks, [`Instant::now`].
pub fn now() -> Instant {
    on_simulator(|simulator| simulator.now()).unwrap_or_else(Instant::now)
}

// Not generic, and with the number as an argument: a closure with a reference to it would keep it in memory, and cost registers
// in the caller's loops.
#[cold]
#[inline(never)]
fn charge_time(time: Duration) {
    on_worker(|simulator| simulator.work(time));
}

#[cold]
#[inline(never)]
fn charge_operations(operations: u64) {
    on_worker(|simulator| simulator.compute(operations));
}

/// Calls `body` with the simulated machine that this code runs on, if any.
#[inline(always)]
pub(crate) fn on_simulator<R>(body: impl FnOnce(&dyn Simulator) -> R) -> Option<R> {
    if sim::any() { on_worker(body) } else { None }
}

#[cold]
fn on_worker<R>(body: impl FnOnce(&dyn Simulator) -> R) -> Option<R> {
    try_cx()?.worker().simulator().map(body)
}
