//! How far a long run has come.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Shared counters that a long run updates and anybody may read meanwhile.
///
/// The unit of work is the application's own (for [`protein`](crate::protein): starting paths). Units differ in size, so
/// the fraction is an indication and not a forecast. Reading costs two loads and disturbs nobody.
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
/// A clone counts along: for what cannot borrow.
#[derive(Clone, Debug, Default)]
pub struct Progress(Arc<Counts>);

#[derive(Debug, Default)]
struct Counts {
    done: AtomicU64,
    total: AtomicU64,
}

impl Progress {
    /// No work done, and none expected yet.
    pub fn new() -> Self {
        Progress::default()
    }

    /// Adds `units` to the work that is to be done.
    pub fn expect(&self, units: u64) {
        self.0.total.fetch_add(units, Relaxed);
    }

    /// Adds `units` to the work that has been done.
    pub fn advance(&self, units: u64) {
        self.0.done.fetch_add(units, Relaxed);
    }

    /// Units finished so far.
    pub fn done(&self) -> u64 {
        self.0.done.load(Relaxed)
    }

    /// Units expected so far; zero before the run has counted its work.
    pub fn total(&self) -> u64 {
        self.0.total.load(Relaxed)
    }

    /// The finished part of the work, from 0 to 1; 0 while nothing is expected.
    pub fn fraction(&self) -> f64 {
        match self.total() {
            0 => 0.0,
            total => (self.done() as f64 / total as f64).min(1.0),
        }
    }
}
