//! Executors: the plain version on the calling thread, or the tasks on a runtime.

use std::time::{Duration, Instant};

use finespun::{RunError, Runtime, Stats, Task, runtime::CacheChoice};

use crate::machine::cores::processor_time;

/// A value, the time of its computation, and the runtime's counters.
#[derive(Clone, Debug, PartialEq)]
pub struct Timed<T> {
    /// The value.
    pub value: T,
    /// The wall-clock time; on a simulated machine, its virtual time.
    pub time: Duration,
    /// The processor time of all threads of this process during the computation; 0 if the system does not report it.
    pub processor: Duration,
    /// The increments of the runtime's counters during the computation; 0 for the plain version.
    pub stats: Stats,
}

impl<T> Timed<T> {
    /// Applies `f` to the value, and keeps times and counters.
    pub fn map<U>(self, f: impl FnOnce(T) -> U) -> Timed<U> {
        Timed { value: f(self.value), time: self.time, processor: self.processor, stats: self.stats }
    }
}

/// The executor of an application.
#[derive(Debug)]
pub enum Executor {
    /// The plain sequential version, on the calling thread.
    Plain,
    /// The tasks, on this runtime.
    Tasks(Runtime),
}

impl Executor {
    /// Computes from `data` by the version of this executor, and times it.
    ///
    /// # Errors
    ///
    /// The library's error if the run delivers no value; the plain version cannot fail.
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
        let time = match self {
            Executor::Tasks(runtime) => runtime.simulated().map(|simulated| simulated.last_run),
            Executor::Plain => None,
        };
        let time = time.unwrap_or_else(|| start.elapsed());
        let processor = processor_time().saturating_sub(before.1);
        Ok(Timed { value, time, processor, stats: counters() - before.0 })
    }

    /// Returns the number of threads that compute.
    pub fn workers(&self) -> usize {
        match self {
            Executor::Plain => 1,
            Executor::Tasks(runtime) => runtime.workers(),
        }
    }

    /// Returns the number of events of a simulated machine so far; `None` for real machines.
    pub fn events(&self) -> Option<u64> {
        match self {
            Executor::Plain => None,
            Executor::Tasks(runtime) => runtime.simulated().map(|simulated| simulated.events),
        }
    }

    /// Returns the number of nodes for objects.
    pub fn nodes(&self) -> usize {
        match self {
            Executor::Plain => 1,
            Executor::Tasks(runtime) => runtime.nodes(),
        }
    }

    /// Returns the runtime's counters; none for the plain version.
    pub fn stats(&self) -> Option<Stats> {
        match self {
            Executor::Plain => None,
            Executor::Tasks(runtime) => Some(runtime.stats()),
        }
    }

    /// Returns the decisions of the caches of write-once arrays; none for the plain version.
    pub fn cache_choices(&self) -> Vec<CacheChoice> {
        match self {
            Executor::Plain => Vec::new(),
            Executor::Tasks(runtime) => runtime.cache_choices(),
        }
    }
}
