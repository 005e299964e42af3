//! The guard word: one compare per check, whatever the reason to stop.
//!
//! A worker compares its stack pointer with `word` at every check. Normally
//! `word` is the end of its usable stack. A thread that requests something of the
//! worker sets a flag, then sets `word` to the maximum, which no stack pointer
//! reaches: the next check trips, and the slow path finds the reason.
//!
//! ```text
//!                     R1 flags |= f      R2 word = MAX
//!             +---------+       +---------+       +---------+
//!             |  quiet  | ----> | flagged | ----> |  armed  |
//!             | limit,0 |       | limit,f |       |  MAX,f  |
//!             +---------+       +---------+       +---------+
//!                  ^                                   |
//!                  |            +---------+            |
//!                  +----------- | lowered | <----------+
//!        O2 take f: flags = 0   | limit,f |   O1 word = limit
//!                               +---------+
//! ```
//!
//! A requester does R1, then R2; the owner does O1, then O2. They interleave
//! freely. *Flagged* and *lowered* look alike: in the first a requester still
//! has R2 before it, in the second the owner still has O2 before it. If an owner
//! takes a flag between R1 and R2, R2 leaves `word` at the maximum with no flag:
//! one check trips for nothing, and the owner's next O1 repairs it.
//!
//! **No request is lost**: once a requester has returned, its flag has been
//! taken, or `word` is the maximum. Suppose its flag has not been taken: every
//! O2 so far comes before R1 in the modification order of `flags`. All writes of
//! `flags` are read-modify-writes with Acquire and Release, so R1 synchronizes
//! with the last O2, directly or through other requests. So the O1 before that O2
//! happens before R2, and R2 is the later write of `word`. The other
//! order of the owner's steps (flags first) would lose a request that comes
//! between them; the other order of the requester's would let the owner consume
//! the trip before there is a flag to find.
//!
//! The argument rests on `flags` alone, so `word` is accessed relaxed: the
//! owner's check is a plain compare with memory.

use crate::atomics::{AtomicUsize, Ordering};
use std::{fmt, ops};

#[cfg(all(test, loom))]
mod models;
#[cfg(all(test, not(loom)))]
mod tests;

/// The value of `word` that trips every check.
const ARMED: usize = usize::MAX;

/// A worker's guard. Its owner checks it; any thread may request something.
///
/// `word` is the first field: a stack function compares the stack pointer with
/// the word that its context pointer points to.
#[repr(C)]
pub(crate) struct Guard {
    word: AtomicUsize,
    flags: AtomicUsize,
    /// The lowest stack pointer that passes when nothing is requested. Only the
    /// owner accesses it.
    limit: AtomicUsize,
}

#[cfg(not(loom))]
const _: () = assert!(std::mem::offset_of!(Guard, word) == 0);

/// A set of requests.
#[must_use = "a request that is taken and dropped is lost"]
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Flags(usize);

impl Guard {
    /// Creates a quiet guard that passes stack pointers from `limit` upwards.
    pub(crate) fn new(limit: usize) -> Self {
        Self { word: AtomicUsize::new(limit), flags: AtomicUsize::new(0), limit: AtomicUsize::new(limit) }
    }

    /// Asks the owner to stop at its next check. Any thread may call this.
    ///
    /// The owner sees the caller's earlier writes once it has taken the flags.
    pub(crate) fn request(&self, flags: Flags) {
        // R1. Acquire: pairs with the Release half of the owner's O2, which puts
        // its O1 before our R2. Release: pairs with the Acquire half of O2.
        self.flags.fetch_or(flags.0, Ordering::AcqRel);
        // R2. Relaxed: ordered after every O1 that it must overwrite by R1.
        self.word.store(ARMED, Ordering::Relaxed);
    }

    /// Checks the guard. Returns whether this stack is nearly used up, or
    /// something is requested.
    ///
    /// On x86-64 this is two instructions, a compare with memory and a jump, in
    /// assembly: LLVM does not fold an atomic load into a compare, and would
    /// need four.
    #[inline(always)]
    pub(crate) fn trips(&self) -> bool {
        #[cfg(all(target_arch = "x86_64", not(any(loom, miri, sanitized))))]
        {
            // SAFETY: reads `word`, which is live and aligned: a relaxed load,
            // as every aligned load is on this processor.
            unsafe {
                std::arch::asm!(
                    "cmp rsp, qword ptr [{}]",
                    "jb {}",
                    in(reg) &raw const self.word,
                    label { return true },
                    options(nostack, readonly),
                );
            }
            false
        }
        // The sanitizer build takes this path too, since a sanitizer does not see assembly.
        #[cfg(not(all(target_arch = "x86_64", not(any(loom, miri, sanitized)))))]
        self.trips_at(stack_pointer())
    }

    /// Returns whether the check trips at `stack_pointer`.
    #[cfg(any(test, loom, miri, sanitized, not(target_arch = "x86_64")))]
    #[inline(always)]
    pub(crate) fn trips_at(&self, stack_pointer: usize) -> bool {
        // Relaxed: a trip is only a hint to call `take`, whose orderings count.
        stack_pointer < self.word.load(Ordering::Relaxed)
    }

    /// Returns whether something may be requested: then [`take`](Guard::take) finds it.
    #[cfg(feature = "objects")]
    pub(crate) fn is_armed(&self) -> bool {
        // Relaxed: as in `trips_at`.
        self.word.load(Ordering::Relaxed) == ARMED
    }

    /// Takes all requests, after a check has tripped. The owner calls this.
    ///
    /// An empty set means that the stack is nearly used up (see
    /// [`Guard::overflows`]), or that the check tripped for a request that was
    /// taken earlier.
    pub(crate) fn take(&self) -> Flags {
        // O1. Relaxed: ordered before O2 by its Release half. Only the owner
        // writes `limit`.
        let limit = self.limit.load(Ordering::Relaxed);
        self.word.store(limit, Ordering::Relaxed);
        // O2. Release: pairs with the Acquire half of R1. Acquire: pairs with the
        // Release half of R1, so that we see what the requester wrote before.
        Flags(self.flags.swap(0, Ordering::AcqRel))
    }

    /// Returns whether `stack_pointer` lies below the limit, whatever is requested.
    pub(crate) fn overflows(&self, stack_pointer: usize) -> bool {
        stack_pointer < self.limit()
    }

    /// Returns the lowest stack pointer that passes. Only meaningful to the owner.
    pub(crate) fn limit(&self) -> usize {
        // Relaxed: only the owner writes `limit`.
        self.limit.load(Ordering::Relaxed)
    }

    /// Sets the limit. The owner calls this when it starts or moves to another
    /// stack. Requests that have not been taken stay.
    pub(crate) fn set_limit(&self, limit: usize) {
        // Relaxed: only the owner reads and writes `limit`.
        self.limit.store(limit, Ordering::Relaxed);
        // As O1: it may overwrite the R2 of a request that is not taken yet.
        self.word.store(limit, Ordering::Relaxed);
        // As O2, but leaves the flags as they are: a read-modify-write and not a
        // load, since only its Release half orders our store before the R2 of a
        // request that it does not see. Same pairings as O2.
        if self.flags.fetch_or(0, Ordering::AcqRel) != 0 {
            // As R2. Relaxed: the owner's own later write.
            self.word.store(ARMED, Ordering::Relaxed);
        }
    }
}

impl fmt::Debug for Guard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Relaxed, both: a snapshot for debugging output.
        let armed = self.word.load(Ordering::Relaxed) == ARMED;
        let flags = Flags(self.flags.load(Ordering::Relaxed));
        f.debug_struct("Guard").field("armed", &armed).field("flags", &flags).finish()
    }
}

impl Flags {
    /// A thief found nothing to steal: promote the tasks on the stack.
    pub(crate) const STEAL: Self = Self(1);
    /// A sweep is due: a group or run that this worker may be running for was
    /// terminated, or pools must reclaim their pages.
    pub(crate) const CANCEL: Self = Self(1 << 1);
    /// The running frame has used up its quantum.
    pub(crate) const QUANTUM: Self = Self(1 << 2);
    /// Only makes the next check trip. Block-every-n requests this again after
    /// each trip, so that the slow path decides about every call.
    pub(crate) const ATTENTION: Self = Self(1 << 3);

    /// A worker of another process asks for frames.
    pub(crate) const BEG: Self = Self(1 << 4);
    /// A worker of another process waits for this one to handle messages.
    pub(crate) const MESSAGES: Self = Self(1 << 5);
    /// The worker itself was woken and has not appointed a scout yet: see [`park`](crate::sched::park).
    pub(crate) const SCOUT: Self = Self(1 << 6);

    /// Returns whether nothing was requested.
    #[cfg(all(test, not(loom)))]
    pub(crate) const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Returns whether a thief asked for a promotion.
    pub(crate) const fn steal(self) -> bool {
        self.contains(Self::STEAL)
    }

    /// Returns whether a worker of another process asks for frames.
    pub(crate) const fn beg(self) -> bool {
        self.contains(Self::BEG)
    }

    /// Returns whether a worker of another process waits for this one to handle messages.
    #[cfg(feature = "objects")]
    pub(crate) const fn messages(self) -> bool {
        self.contains(Self::MESSAGES)
    }

    /// Returns whether somebody waits for this worker: for work, or for the handling of messages.
    pub(crate) const fn asked(self) -> bool {
        self.0 & (Self::STEAL.0 | Self::BEG.0 | Self::MESSAGES.0) != 0
    }

    /// Returns whether the worker has a scout to appoint.
    pub(crate) const fn scout(self) -> bool {
        self.contains(Self::SCOUT)
    }

    /// Returns whether a sweep is due.
    pub(crate) const fn cancel(self) -> bool {
        self.contains(Self::CANCEL)
    }

    /// Returns whether the quantum is used up.
    pub(crate) const fn quantum(self) -> bool {
        self.contains(Self::QUANTUM)
    }

    /// Returns whether a check was made to trip for block-every-n.
    #[cfg(test)]
    pub(crate) const fn attention(self) -> bool {
        self.contains(Self::ATTENTION)
    }

    const fn contains(self, flag: Self) -> bool {
        self.0 & flag.0 != 0
    }
}

impl ops::BitOr for Flags {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl fmt::Debug for Flags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = [
            (Self::STEAL, "steal"),
            (Self::CANCEL, "cancel"),
            (Self::QUANTUM, "quantum"),
            (Self::ATTENTION, "attention"),
            (Self::BEG, "beg"),
            (Self::MESSAGES, "messages"),
            (Self::SCOUT, "scout"),
        ];
        let set = names.iter().filter(|(flag, _)| self.contains(*flag));
        f.debug_set().entries(set.map(|(_, name)| name)).finish()
    }
}

/// Returns the stack pointer of this thread; under Miri, which has none and whose stacks do not overflow, a constant.
#[inline(always)]
pub(crate) fn stack_pointer() -> usize {
    let sp: usize;
    // SAFETY: copies a register.
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    unsafe {
        std::arch::asm!("mov {}, rsp", out(reg) sp, options(nomem, nostack, preserves_flags));
    }
    // SAFETY: copies a register.
    #[cfg(all(target_arch = "aarch64", not(miri)))]
    unsafe {
        std::arch::asm!("mov {}, sp", out(reg) sp, options(nomem, nostack, preserves_flags));
    }
    #[cfg(miri)]
    {
        sp = 1 << 40;
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64", miri)))]
    {
        let here = 0u8;
        sp = std::ptr::from_ref(&here).addr();
    }
    sp
}
