//! A pair of fences of which one is free: Dekker's pattern between one side that runs often and one that runs rarely.
//!
//! The *light* fence keeps the compiler from reordering. The *heavy* one makes the system execute a fence on every processor
//! that runs a thread of this process. So a thread's accesses before and after its light fence are seen by the caller of
//! the heavy fence as if both fences were sequentially consistent.

#[cfg(all(target_os = "linux", not(loom), not(miri)))]
mod fences {
    use std::sync::atomic::{AtomicU8, Ordering, compiler_fence};

    /// Names and values from `linux/membarrier.h`.
    const PRIVATE_EXPEDITED: libc::c_int = 1 << 3;
    const REGISTER_PRIVATE_EXPEDITED: libc::c_int = 1 << 4;

    fn membarrier(command: libc::c_int) -> bool {
        // SAFETY: the call reads and writes no memory of this process.
        unsafe { libc::syscall(libc::SYS_membarrier, command, 0, 0) == 0 }
    }

    /// Whether this kind of system may have the heavy fence.
    pub(in super::super) const POSSIBLE: bool = true;

    /// Returns whether this system has the heavy fence. The first call takes some milliseconds if the process has several
    /// threads.
    pub(in super::super) fn available() -> bool {
        const UNKNOWN: u8 = 0;
        const NO: u8 = 1;
        const YES: u8 = 2;
        /// No lock: to register twice does no harm.
        static FOUND: AtomicU8 = AtomicU8::new(UNKNOWN);
        // Relaxed, both: the value says all.
        match FOUND.load(Ordering::Relaxed) {
            UNKNOWN => {
                let found = membarrier(REGISTER_PRIVATE_EXPEDITED);
                FOUND.store(if found { YES } else { NO }, Ordering::Relaxed);
                found
            }
            found => found == YES,
        }
    }

    #[inline(always)]
    pub(in super::super) fn light() {
        compiler_fence(Ordering::SeqCst);
    }

    /// Costs a system call, and an interrupt of each processor that runs a thread of this process. Called only if
    /// [`available`] has returned true.
    pub(in super::super) fn heavy() {
        let again = || membarrier(REGISTER_PRIVATE_EXPEDITED) && membarrier(PRIVATE_EXPEDITED);
        // A forked process may have to register again.
        if !(membarrier(PRIVATE_EXPEDITED) || again()) {
            // The callers have counted on it.
            let error = std::io::Error::last_os_error();
            eprintln!("finespun: the system refuses the memory barrier that it gave before: {error}");
            std::process::abort();
        }
    }
}

#[cfg(not(all(target_os = "linux", not(loom), not(miri))))]
mod fences {
    use crate::atomics::{Ordering, fence};

    pub(in super::super) const POSSIBLE: bool = cfg!(loom);

    pub(in super::super) fn available() -> bool {
        POSSIBLE
    }

    pub(in super::super) fn light() {
        fence(Ordering::SeqCst);
    }

    pub(in super::super) fn heavy() {
        fence(Ordering::SeqCst);
    }
}

pub(super) use fences::{POSSIBLE, available, heavy, light};
