//! Settings and counts for tests and measurements.
//!
//! Programs do not need them. No answer may depend on these settings, so tests under several values find answers that
//! do. `use finespun::testing::*` adds their methods to [`Builder`] and [`Runtime`].
//!
//! ```
//! use finespun::prelude::*;
//! use finespun::testing::*;
//!
//! #[task]
//! async fn fib(n: u64) -> u64 {
//!     if n < 2 {
//!         return n;
//!     }
//!     let (a, b) = join!(fib(n - 1), fib(n - 2));
//!     a + b
//! }
//! for n in [0, 1, 2, 3, 5, 7] {
//!     let runtime = Runtime::builder().workers(2).block_every(n).build().unwrap();
//!     assert_eq!(runtime.run(fib(12)), 144);
//!     assert_eq!(runtime.close(), 0);
//! }
//! ```

#[cfg(feature = "objects")]
use std::time::Duration;

use crate::group::Members;
use crate::runtime::{Builder, Runtime};

/// Settings of a [`Builder`] for tests and measurements.
pub trait TestSettings: Sized {
    /// Every `n`-th guarded call, and every `n`-th wait that could be satisfied at once, suspends as if it had to wait.
    /// 0, the default, means never. A program's answer must not depend on it.
    fn block_every(self, n: u32) -> Self;

    /// Sets whether messages between nodes travel as bytes, as they would to another process, although this fabric runs
    /// in the memory of one process. Default: no. A program's answer must not depend on it.
    #[cfg(feature = "objects")]
    fn encode(self, encode: bool) -> Self;

    /// Builds the runtime as if over several processes, each with the given number of workers (one by default), all in
    /// this process: their teams share nothing but messages as bytes. Default: 1. A program's answer must not depend on
    /// it. On a simulated machine, each has one worker, and no node dies.
    #[cfg(feature = "objects")]
    fn processes(self, processes: usize) -> Self;

    /// Sets how many of the [`processes`](TestSettings::processes) share memory, as if they were on one host: with 2, the
    /// first two do, the next two, and so on. Messages between hosts are carried. Default: all. A program's answer must not
    /// depend on it.
    #[cfg(feature = "objects")]
    fn per_host(self, processes: usize) -> Self;

    /// Adds a cost to each message between nodes, at its sender and at its receiver: for experiments with slower
    /// networks (C_oa in i-structure-software-cache, section 3.1). Default: nothing.
    #[cfg(feature = "objects")]
    fn overhead(self, overhead: Duration) -> Self;

    /// Sets how the members of a terminated group are found. Default: [`Members::BottomUp`].
    fn members(self, members: Members) -> Self;
}

impl TestSettings for Builder {
    fn block_every(self, n: u32) -> Builder {
        self.set_block_every(n)
    }

    #[cfg(feature = "objects")]
    fn encode(self, encode: bool) -> Builder {
        self.set_encode(encode)
    }

    #[cfg(feature = "objects")]
    fn processes(self, processes: usize) -> Builder {
        self.set_processes(processes)
    }

    #[cfg(feature = "objects")]
    fn per_host(self, processes: usize) -> Builder {
        self.set_per_host(processes)
    }

    #[cfg(feature = "objects")]
    fn overhead(self, overhead: Duration) -> Builder {
        self.set_overhead(overhead)
    }

    fn members(self, members: Members) -> Builder {
        self.set_members(members)
    }
}

/// Faults of a [`Runtime`] for tests.
#[cfg(feature = "processes")]
pub trait TestFaults {
    /// Ends all runs as if process `rank` had died: for runtimes that [`processes`](TestSettings::processes) has built.
    fn lose_process(&self, rank: usize);
}

#[cfg(feature = "processes")]
impl TestFaults for Runtime {
    fn lose_process(&self, rank: usize) {
        Runtime::lose_process(self, rank);
    }
}

/// Counts of a [`Runtime`] for tests.
pub trait TestCounts {
    /// Ends the runtime and returns the number of frames that are still in use. Continuations that outlive their
    /// runtime keep their frames; all others are leaks.
    ///
    /// # Panics
    /// Inside a task or a call of [`blocking`](crate::blocking), and in a fork of the process that built the runtime.
    fn close(self) -> i64;
}

impl TestCounts for Runtime {
    fn close(self) -> i64 {
        self.frames_left()
    }
}

/// The messages between processes as bytes, for the fuzzer of their decoder.
#[doc(hidden)]
#[cfg(feature = "objects")]
pub mod wire {
    pub use crate::fabric::recorder::{Kind, record, recorded};

    use crate::frame::context::try_cx;
    use crate::object::host::Nodes;
    use crate::object::returning::names;
    use crate::object::scrambled::run_in_message;
    use crate::runtime::Runtime;

    /// Sends bytes to a worker in place of a message, from the worker that runs the calling task. Returns false if there
    /// is no room.
    pub fn forge(worker: usize, bytes: &[u8]) -> bool {
        try_cx().is_some_and(|cx| Nodes::of(cx).forge(cx, worker as u32, bytes))
    }

    /// Returns the name in messages of the run that begins `later` runs after the current one; 0 is the current run.
    pub fn run_name(later: u32) -> [u8; 4] {
        try_cx().map_or([0; 4], |cx| run_in_message(names(cx, cx.run()).run.wrapping_add(later)))
    }

    /// Lets the names of the next runs follow this one.
    pub fn name_runs_after(runtime: &Runtime, name: u32) {
        runtime.name_runs_after(name);
    }

    /// Returns the numbers of the continuations that the current worker keeps.
    pub fn numbers() -> Vec<u64> {
        try_cx().map(|cx| Nodes::of(cx).numbers()).unwrap_or_default()
    }

    /// Sends bytes from the team of process `from` to that of process `to`, in place of a message.
    pub fn forge_of_team(runtime: &Runtime, from: usize, to: usize, bytes: &[u8]) {
        runtime.forge(from, to, bytes);
    }
}
