//! Functions of the program that a runtime calls: when its workers begin and end, and for panics that nothing receives.

use std::fmt;
use std::sync::Arc;

use super::Panic;

/// A function that gets the index of a worker.
type OnWorker = Arc<dyn Fn(usize) + Send + Sync>;

/// The function that gets the panics that nothing receives.
pub(super) type PanicHandler = Arc<dyn Fn(&Panic) + Send + Sync>;

/// The functions that a builder has been given.
#[derive(Clone, Default)]
pub(super) struct Hooks {
    pub(super) start: Option<OnWorker>,
    pub(super) stop: Option<OnWorker>,
    pub(super) panic: Option<PanicHandler>,
}

impl fmt::Debug for Hooks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = [("start", self.start.is_some()), ("stop", self.stop.is_some()), ("panic", self.panic.is_some())];
        f.debug_set().entries(names.into_iter().filter(|(_, set)| *set).map(|(name, _)| name)).finish()
    }
}

/// Aborts the process when a hook panics, after the panic's message is printed: a worker that did not begin would leave a
/// runtime that never runs its tasks.
struct AbortOnUnwind;

impl Drop for AbortOnUnwind {
    fn drop(&mut self) {
        std::process::abort();
    }
}

impl Hooks {
    /// Calls `worker`, the body of a worker's thread, between the hooks.
    pub(super) fn around(&self, index: usize, worker: impl FnOnce()) {
        let call = |hook: &Option<OnWorker>| {
            let alive = AbortOnUnwind;
            if let Some(hook) = hook {
                hook(index);
            }
            std::mem::forget(alive);
        };
        call(&self.start);
        worker();
        call(&self.stop);
    }
}
