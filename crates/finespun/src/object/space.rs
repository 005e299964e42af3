//! The address space in which objects live.
//!
//! Each node has a *region*: the same number of bytes of reserved address space for every node of the process. A reference
//! contains the distance of its object from the beginning of the region, so the object's address takes one addition. The
//! system gives memory to written pages only.
//!
//! The lower half of a region is divided into pages ([`pages`](super::pages)). The upper half is never written: there
//! point references to objects that live in other processes, so a look at the region finds zeros.

use std::io;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::process::ProcessMutex;

/// The size of a page in bytes.
pub(super) const PAGE: usize = 1 << 16;

/// The largest region, in bytes. A reference contains the distance divided by 8, in 32 bits.
const LARGEST: usize = if cfg!(any(miri, not(target_os = "linux"))) {
    16 << 20
} else if cfg!(sanitized) {
    // ThreadSanitizer leaves little address space to programs.
    64 << 20
} else {
    8 << 30
};
/// The smallest region, in bytes.
const SMALLEST: usize = if LARGEST < 64 << 20 { LARGEST } else { 64 << 20 };
/// The address space for all nodes of a runtime, in bytes. Above this, regions are smaller.
const ALL: usize = 64 << 40;
/// The most bytes of a node's objects.
pub(crate) const MOST_BYTES: usize = LARGEST / 2;
/// The number of pages that they take.
pub(super) const MOST_PAGES: usize = MOST_BYTES / PAGE;

// Places leave room for the states of a slot's word.
const _: () = assert!(LARGEST / 8 <= 1 << 30);

/// The size of every region of this process, in bytes; 0 until the first has been reserved.
static SIZE: AtomicUsize = AtomicUsize::new(0);
/// Locked while the size is being chosen.
static CHOOSING: ProcessMutex<()> = ProcessMutex::new(());

/// Returns the number of bytes of the lower half of a region, where objects are.
pub(super) fn half() -> usize {
    // Relaxed: the size does not change, and the caller's own runtime has reserved a region.
    SIZE.load(Ordering::Relaxed) / 2
}

/// The regions of the nodes of all workers of a runtime in this process.
pub(super) struct Space {
    start: NonNull<u8>,
    regions: usize,
    size: usize,
}

impl Space {
    /// Reserves a number of regions, for a runtime that has `nodes` nodes in all. The first reservation of the process
    /// determines how large its regions are.
    pub(super) fn reserve(regions: usize, nodes: usize) -> io::Result<Space> {
        let _choosing = CHOOSING.lock();
        // Relaxed, here and below: under the lock.
        let chosen = SIZE.load(Ordering::Relaxed);
        let mut size = if chosen > 0 { chosen } else { wanted(nodes) };
        loop {
            match map(regions * size) {
                Ok(start) => {
                    SIZE.store(size, Ordering::Relaxed);
                    return Ok(Space { start, regions, size });
                }
                Err(_) if chosen == 0 && size > SMALLEST => size /= 2,
                Err(error) => return Err(error),
            }
        }
    }

    /// Returns the beginning of a region.
    pub(super) fn region(&self, number: usize) -> NonNull<u8> {
        assert!(number < self.regions);
        // SAFETY: the region is inside the reservation.
        unsafe { self.start.add(number * self.size) }
    }
}

// SAFETY: a `Space` only hands out addresses, and unmaps its memory when the last owner drops it.
unsafe impl Send for Space {}
// SAFETY: as above: no method accesses the memory.
unsafe impl Sync for Space {}

impl Drop for Space {
    fn drop(&mut self) {
        // SAFETY: `reserve` has mapped these bytes. The last owner of the space drops it, and uses no address in it any
        // more.
        unsafe { unmap(self.start, self.regions * self.size) };
    }
}

/// Returns the size of regions for a runtime with this number of nodes: smaller if they are many, or if the address space
/// is limited.
fn wanted(nodes: usize) -> usize {
    // Miri does not know such limits.
    let left = if cfg!(miri) { None } else { crate::frame::budget::address_space_left() };
    // Here reserved address space counts as memory.
    let counts = cfg!(target_os = "linux")
        && std::fs::read("/proc/sys/vm/overcommit_memory").is_ok_and(|mode| mode.starts_with(b"2"));
    size_for(nodes, if counts { Some(0) } else { left })
}

/// Implements [`wanted`], for a process that may use this much more address space.
fn size_for(nodes: usize, left: Option<usize>) -> usize {
    let size = LARGEST.min(ALL / nodes);
    // Most is left to stacks, frames, other runtimes, which have regions of this size, too, and the program.
    let share = left.map_or(size, |left| left / 4 / (nodes + 1).max(8));
    1 << size.min(share).max(SMALLEST).ilog2()
}

/// Reserves zeroed memory.
#[cfg(all(target_os = "linux", not(miri)))]
fn map(bytes: usize) -> io::Result<NonNull<u8>> {
    let (access, flags) =
        (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE);
    // SAFETY: a new mapping at any free address.
    let start = unsafe { libc::mmap(std::ptr::null_mut(), bytes, access, flags, -1, 0) };
    if start == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    // Large pages only where `advise_large_page` asks for them: many nodes have few objects.
    // SAFETY: the mapping is the caller's own.
    unsafe { libc::madvise(start, bytes, libc::MADV_NOHUGEPAGE) };
    NonNull::new(start.cast()).ok_or_else(io::Error::last_os_error)
}

/// # Safety
/// The bytes are a mapping of [`map`] that is not used any more.
#[cfg(all(target_os = "linux", not(miri)))]
unsafe fn unmap(start: NonNull<u8>, bytes: usize) {
    // SAFETY: guaranteed by the caller.
    unsafe { libc::munmap(start.as_ptr().cast(), bytes) };
}

/// The size of the system's large pages, in bytes.
pub(super) const LARGE_PAGE: usize = 2 << 20;

/// Advises the system to use a large page for the memory at an address of a space, of which soon most will be used.
pub(super) fn advise_large_page(at: NonNull<u8>) {
    #[cfg(all(target_os = "linux", not(miri)))]
    {
        let offset = at.addr().get() % LARGE_PAGE;
        // Once for each large page.
        if offset < PAGE {
            // SAFETY: the advice keeps the contents of the memory. Where it does not apply, it fails without effect.
            unsafe { libc::madvise(at.as_ptr().wrapping_sub(offset).cast(), LARGE_PAGE, libc::MADV_HUGEPAGE) };
        }
    }
    #[cfg(not(all(target_os = "linux", not(miri))))]
    let _ = at;
}

/// Gives memory of a space back to the system, if it takes it; the memory then contains zeros.
///
/// # Safety
/// The page is in a space, and is not used.
pub(super) unsafe fn give_back(page: NonNull<u8>) {
    #[cfg(all(target_os = "linux", not(miri)))]
    // SAFETY: guaranteed by the caller.
    unsafe {
        libc::madvise(page.as_ptr().cast(), PAGE, libc::MADV_DONTNEED)
    };
    #[cfg(not(all(target_os = "linux", not(miri))))]
    let _ = page;
}

/// The layout of a space where the system's reservations are not used.
#[cfg(not(all(target_os = "linux", not(miri))))]
fn layout(bytes: usize) -> std::alloc::Layout {
    match std::alloc::Layout::from_size_align(bytes, PAGE) {
        Ok(layout) => layout,
        Err(_) => unreachable!("regions are small here"),
    }
}

/// Reserves zeroed memory.
#[cfg(not(all(target_os = "linux", not(miri))))]
fn map(bytes: usize) -> io::Result<NonNull<u8>> {
    // SAFETY: the layout is not empty.
    NonNull::new(unsafe { std::alloc::alloc_zeroed(layout(bytes)) }).ok_or_else(|| io::ErrorKind::OutOfMemory.into())
}

/// # Safety
/// The bytes are a mapping of [`map`] that is not used any more.
#[cfg(not(all(target_os = "linux", not(miri))))]
unsafe fn unmap(start: NonNull<u8>, bytes: usize) {
    // SAFETY: guaranteed by the caller.
    unsafe { std::alloc::dealloc(start.as_ptr(), layout(bytes)) };
}

#[cfg(all(test, not(any(loom, miri, sanitized)), target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn limits_leave_room_for_the_rest_of_the_program() {
        assert_eq!(size_for(1, None), LARGEST);
        assert_eq!(size_for(65_536, None), 1 << 30);
        // Under `ulimit -v` of 32 GiB: a GiB for each region, of which one node has two.
        assert_eq!(size_for(1, Some(32 << 30)), 1 << 30);
        assert_eq!(size_for(64, Some(32 << 30)), 64 << 20);
        for left in (0..50).map(|bits| 1_usize << bits) {
            for nodes in [1, 2, 7, 8, 64, 1000] {
                let size = size_for(nodes, Some(left));
                assert!(size.is_power_of_two() && (SMALLEST..=LARGEST).contains(&size));
                assert!(size == SMALLEST || (nodes + 1) * size <= left / 4, "{nodes} nodes, {left} bytes");
            }
        }
    }
}
