//! Time: tasks that wait for a moment, and limits for the time of tasks.
//!
//! The functions here are tasks built on [`suspend`](crate::suspend) and groups. The clock (`clock`) calls a function at a
//! given time: on real machines by one thread of the process, on simulated machines by the machine's own events. This
//! module schedules no frame; it resolves continuations.

mod clock;
mod interval;
mod sleep;
mod timeout;

pub use crate::sched::work::now;
pub use interval::{Interval, Tick, interval, interval_at};
pub use sleep::{Sleep, sleep, sleep_until};
pub use timeout::{Elapsed, Timeout, timeout, timeout_at};
