//! Counters of one worker, written by it alone and read by anyone.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

/// A counter that one thread writes: a plain add, without a locked instruction.
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
    ($($(#[$doc:meta])* $name:ident),+ $(,)?) => {
        /// The counters of one worker.
        #[derive(Default)]
        pub(crate) struct Counters {
            $(pub(crate) $name: Count,)+
        }

        /// What the workers of a runtime have done since it was built.
        ///
        /// Calls that stayed on the stack are not counted: counting would cost more than the call.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        #[non_exhaustive]
        pub struct Stats {
            $($(#[$doc])* pub $name: u64,)+
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

            /// What has been done since the `earlier` one of the same runtime.
            fn sub(self, earlier: Stats) -> Stats {
                Stats { $($name: self.$name - earlier.$name,)+ }
            }
        }

        impl Stats {
            /// Every counter with its name, in a fixed order.
            pub fn entries(&self) -> Vec<(&'static str, u64)> {
                vec![$((stringify!($name), self.$name),)+]
            }
        }
    };
}

counters! {
    /// Frames made: fallbacks, promoted branches, spawned tasks, pinned calls and suspended continuations.
    frames,
    /// Bytes of those frames.
    frame_bytes,
    /// Activations that left the stack.
    fallbacks,
    /// Times that a frame was run.
    resumptions,
    /// Tripped guard checks, whatever the reason.
    guard_trips,
    /// Stacks given up because a thief asked.
    promotions,
    /// Stacks given up because they were nearly used up.
    stack_limits,
    /// Stacks given up because the task had run for a quantum.
    quanta,
    /// Threads run, of closures that were posted.
    threads,
    /// Frames taken from another worker.
    steals,
    /// Times that a worker looked for work at the others and found none.
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
    /// Requests that answer in the place of the call that made them last: forwarding.
    messages_handed_on,
    /// One-way calls whose sender waited for room in its worker's outbox.
    sends_stalled,
    /// Times that a worker looked into what all share for activities of a group: under all policies but `Steal`.
    acquisitions,
    /// Steps taken to find out what lies beneath a terminated group; of the first worker, for all of them.
    member_steps,
    /// Groups that got no range code although the members of groups are found by them; of the first worker, for all of them.
    groups_uncoded,
    /// Nanoseconds spent giving up stacks to thieves.
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
