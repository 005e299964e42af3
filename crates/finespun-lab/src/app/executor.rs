//! Who computes: the plain version on this thread, or the tasks on a runtime.

use std::time::{Duration, Instant};

use finespun::{CacheChoice, RunError, Runtime, Stats, Task};

use crate::machine::cores::processor_time;

/// A value, the time that it took, and what the runtime did for it.
#[derive(Clone, Debug, PartialEq)]
pub struct Timed<T> {
    /// The value.
    pub value: T,
    /// The wall-clock time.
    pub time: Duration,
    /// The time that all threads of this process have had of a processor meanwhile; nothing where the system does not say.
    pub processor: Duration,
    /// The runtime's counters, from the start to the end; nothing for the plain version.
    pub stats: Stats,
}

impl<T> Timed<T> {
    /// The same time and counters for what `f` makes of the value.
    pub fn map<U>(self, f: impl FnOnce(T) -> U) -> Timed<U> {
        Timed { value: f(self.value), time: self.time, processor: self.processor, stats: self.stats }
    }
}

/// Who computes.
#[derive(Debug)]
pub enum Executor {
    /// The plain sequential version, on the calling thread.
    Plain,
    /// The tasks, on this runtime.
    Tasks(Runtime),
}

impl Executor {
    /// Computes from `data` by one of the two versions, and times it.
    ///
    /// # Errors
    ///
    /// What the library says when the run delivers no value; the plain version cannot fail.
    pub fn compute<D, K>(
        &self,
        data: D,
        plain: impl FnOnce(D) -> K::Output,
        task: impl FnOnce(D) -> K,
    ) -> Result<Timed<K::Output>, RunError>
    where
        K: Task + Send,
        K::Output: Send,
    {
        let counters = || match self {
            Executor::Plain => Stats::default(),
            Executor::Tasks(runtime) => runtime.stats(),
        };
        let before = (counters(), processor_time());
        let start = Instant::now();
        let value = match self {
            Executor::Plain => plain(data),
            Executor::Tasks(runtime) => runtime.try_run(task(data))?,
        };
        let time = start.elapsed();
        let processor = processor_time().saturating_sub(before.1);
        Ok(Timed { value, time, processor, stats: counters() - before.0 })
    }

    /// How many threads compute.
    pub fn workers(&self) -> usize {
        match self {
            Executor::Plain => 1,
            Executor::Tasks(runtime) => runtime.workers(),
        }
    }

    /// How many nodes objects live on.
    pub fn nodes(&self) -> usize {
        match self {
            Executor::Plain => 1,
            Executor::Tasks(runtime) => runtime.nodes(),
        }
    }

    /// The runtime's counters by name; none for the plain version.
    pub fn stats(&self) -> Vec<(&'static str, u64)> {
        match self {
            Executor::Plain => Vec::new(),
            Executor::Tasks(runtime) => runtime.stats().entries(),
        }
    }

    /// What the caches of write-once arrays have decided; nothing for the plain version.
    pub fn cache_choices(&self) -> Vec<CacheChoice> {
        match self {
            Executor::Plain => Vec::new(),
            Executor::Tasks(runtime) => runtime.cache_choices(),
        }
    }
}
