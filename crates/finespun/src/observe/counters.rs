//! Counters of one worker: only this worker writes them, any thread reads them.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

/// A counter that one thread writes: a plain addition, without a locked instruction.
#[derive(Default)]
pub(crate) struct Count(AtomicU64);

impl Count {
    #[inline]
    pub(crate) fn add(&self, n: u64) {
        // Relaxed: a statistic, and this thread is the only writer.
        self.0.store(self.0.load(Ordering::Relaxed) + n, Ordering::Relaxed);
    }

    pub(crate) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

macro_rules! counters {
    ($($(#[doc = $doc:literal])+ $name:ident),+ $(,)?) => {
        /// The counters of one worker.
        #[derive(Default)]
        pub(crate) struct Counters {
            $(pub(crate) $name: Count,)+
        }

        /// The activity of a runtime's workers since the runtime was built.
        ///
        /// Calls that stayed on the stack are not counted: counting would cost more than the call.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        #[cfg_attr(feature = "processes", derive(serde::Serialize, serde::Deserialize))]
        #[non_exhaustive]
        pub struct Stats {
            $($(#[doc = $doc])+ pub $name: u64,)+
        }

        impl Counters {
            pub(crate) fn read(&self) -> Stats {
                Stats { $($name: self.$name.get(),)+ }
            }
        }

        impl std::ops::AddAssign for Stats {
            fn add_assign(&mut self, other: Stats) {
                $(self.$name += other.$name;)+
            }
        }

        impl std::ops::Sub for Stats {
            type Output = Stats;

            /// Returns the activity since `earlier`, a snapshot of the same runtime.
            fn sub(self, earlier: Stats) -> Stats {
                Stats { $($name: self.$name - earlier.$name,)+ }
            }
        }

        impl Stats {
            /// Returns every counter with its name, in a fixed order.
            pub fn entries(&self) -> Vec<(&'static str, u64)> {
                vec![$((stringify!($name), self.$name),)+]
            }

            /// Returns the meaning of every counter, in the order of [`entries`](Stats::entries).
            pub fn meanings() -> Vec<&'static str> {
                vec![$(concat!($($doc),+).trim_ascii_start(),)+]
            }
        }
    };
}

counters! {
    /// Frames made: fallbacks, promoted branches, spawned tasks, pinned calls and suspended continuations.
    frames,
    /// Bytes of those frames.
    frame_bytes,
    /// Activations moved from the stack to frames.
    fallbacks,
    /// Times that a worker ran a frame.
    resumptions,
    /// Tripped guard checks, for any reason.
    guard_trips,
    /// Stacks unwound to frames because a thief asked.
    promotions,
    /// Stacks unwound to frames because they were nearly used up.
    stack_limits,
    /// Stacks unwound to frames because the task had run for a quantum.
    quanta,
    /// Threads run, from posted closures.
    threads,
    /// Frames taken from another worker.
    steals,
    /// Frames sent to workers of other processes that had asked: tasks that had not begun, and closures.
    frames_migrated,
    /// The tasks of those frames; a closure counts as one.
    tasks_migrated,
    /// Times that a worker found no frame, neither its own nor one to steal.
    failed_steals,
    /// Times that a worker parked.
    parks,
    /// Messages to nodes of the same worker.
    messages_own,
    /// Messages written into another worker's ring.
    messages_pushed,
    /// Messages linked into another worker's queue.
    messages_pulled,
    /// Messages that had to wait in their sender's outbox.
    messages_held,
    /// Requests whose callee answers the caller of the call that made them last: forwarding.
    messages_forwarded,
    /// One-way calls whose sender waited for room in its worker's outbox.
    sends_stalled,
    /// Times that a worker took activities of a group from shared state: under all policies but `Steal`.
    acquisitions,
    /// Search steps to find out whether a frame is part of a terminated group. The first worker's entry counts them for
    /// all workers.
    member_steps,
    /// Groups that got no range code although the runtime finds a group's members by range codes. The first worker's
    /// entry counts them for all workers.
    groups_uncoded,
    /// Nanoseconds spent unwinding stacks to frames for thieves.
    promotion_ns,
}

impl Counters {
    #[inline]
    pub(crate) fn frame(&self, bytes: usize) {
        self.frames.add(1);
        self.frame_bytes.add(bytes as u64);
    }

    #[inline]
    pub(crate) fn fallback(&self) {
        self.fallbacks.add(1);
    }

    #[inline]
    pub(crate) fn resumed(&self) {
        self.resumptions.add(1);
    }
}

impl fmt::Display for Stats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, value) in self.entries() {
            writeln!(f, "{:<16} {value:>14}", name.replace('_', " "))?;
        }
        Ok(())
    }
}
