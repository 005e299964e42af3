//! Progress counters for long runs.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Shared counters that a long run updates and any thread may read during the run.
///
/// The unit of work depends on the application (for [`protein`](crate::protein): starting paths). Units differ in size,
/// so the fraction is an indication and not a forecast. Reading costs two loads and does not synchronize with the run.
///
/// # Example
///
/// ```
/// let progress = finespun_apps::Progress::new();
/// progress.expect(4);
/// progress.advance(1);
/// assert_eq!((progress.done(), progress.total()), (1, 4));
/// assert_eq!(progress.fraction(), 0.25);
/// ```
///
/// A clone shares the counters; use one where the run cannot borrow.
#[derive(Clone, Debug, Default)]
pub struct Progress(Arc<Counts>);

#[derive(Debug, Default)]
struct Counts {
    done: AtomicU64,
    total: AtomicU64,
}

impl Progress {
    /// Makes counters with no work done and none expected.
    pub fn new() -> Self {
        Progress::default()
    }

    /// Adds `units` to the expected work.
    pub fn expect(&self, units: u64) {
        self.0.total.fetch_add(units, Relaxed);
    }

    /// Adds `units` to the finished work.
    pub fn advance(&self, units: u64) {
        self.0.done.fetch_add(units, Relaxed);
    }

    /// Returns the units finished so far.
    pub fn done(&self) -> u64 {
        self.0.done.load(Relaxed)
    }

    /// Returns the units expected so far; zero before the run has counted its work.
    pub fn total(&self) -> u64 {
        self.0.total.load(Relaxed)
    }

    /// Returns the finished part of the work, from 0 to 1; 0 while no work is expected.
    pub fn fraction(&self) -> f64 {
        match self.total() {
            0 => 0.0,
            total => (self.done() as f64 / total as f64).min(1.0),
        }
    }
}
