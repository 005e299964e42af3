//! Loom models of the slot. A result and a frame's other contents are loom cells, so loom reports an unpublished value,
//! and memory that is freed too early or twice, as a data race.

use super::*;
use crate::atomics::{Arc, AtomicBool, AtomicUsize, UnsafeCell, explore, thread};

/// Returns an address that represents a frame; never followed.
fn frame() -> FrameRef {
    NonNull::new(ptr::without_provenance_mut(64)).unwrap()
}

/// A slot with its result, as in a frame.
struct Cell {
    slot: Slot,
    result: UnsafeCell<u32>,
}

impl Cell {
    fn new() -> Arc<Cell> {
        Arc::new(Cell { slot: Slot::new(), result: UnsafeCell::new(0) })
    }

    fn write(&self, value: u32) {
        // SAFETY: the completer alone writes, before completion.
        self.result.with_mut(|result| unsafe { *result = value });
    }

    fn read(&self) -> u32 {
        // SAFETY: read after completion; loom checks this.
        self.result.with(|result| unsafe { *result })
    }
}

#[test]
fn one_side_resumes_the_waiter_and_sees_the_value() {
    loom::model(|| {
        let cell = Cell::new();
        let completer = {
            let cell = Arc::clone(&cell);
            thread::spawn(move || {
                cell.write(7);
                match cell.slot.complete(Status::Done) {
                    Completed::Waiter(waiter) => {
                        assert_eq!(waiter, frame());
                        assert_eq!(cell.read(), 7);
                        true
                    }
                    Completed::Unwaited => false,
                    Completed::Detached => unreachable!(),
                }
            })
        };
        let here = match cell.slot.wait(frame()) {
            Registered::Waiting => false,
            Registered::Ended => {
                assert_eq!(cell.slot.status(), Some(Status::Done));
                assert_eq!(cell.read(), 7);
                true
            }
        };
        let there = completer.join().unwrap();
        assert!(here != there, "exactly one side resumes the waiter");
    });
}

#[test]
fn a_detached_slot_is_freed_by_one_side() {
    loom::model(|| {
        let cell = Cell::new();
        let completer = {
            let cell = Arc::clone(&cell);
            thread::spawn(move || {
                cell.write(7);
                let freed = cell.slot.complete(Status::Panicked) == Completed::Detached;
                if freed {
                    cell.write(0);
                }
                freed
            })
        };
        let here = !cell.slot.detach();
        if here {
            assert_eq!(cell.read(), 7);
            cell.write(0);
        }
        assert!(completer.join().unwrap() != here, "exactly one side frees the frame");
    });
}

/// A waiter of two slots, whose completers run on two threads, as in `run::register` and `run::count_down`.
#[test]
fn a_join_resumes_once_with_all_values() {
    loom::model(|| {
        let cells = [Cell::new(), Cell::new()];
        let join = Arc::new(Join::new(0));
        let resumed = Arc::new(AtomicUsize::new(0));
        let resume = |cells: &[Arc<Cell>; 2], resumed: &AtomicUsize| {
            assert_eq!((cells[0].read(), cells[1].read()), (1, 2));
            // Relaxed: counted after all threads are joined.
            resumed.fetch_add(1, Ordering::Relaxed);
        };
        let completers = [0, 1].map(|i| {
            let (cells, join, resumed) = (cells.clone(), Arc::clone(&join), Arc::clone(&resumed));
            thread::spawn(move || {
                cells[i].write(i as u32 + 1);
                if let Completed::Waiter(_) = cells[i].slot.complete(Status::Done)
                    && join.count_down(1)
                {
                    resume(&cells, &resumed);
                }
            })
        });
        join.arm(2);
        let mut here = 1;
        for cell in &cells {
            if cell.slot.wait(frame()) == Registered::Ended {
                here += 1;
            }
        }
        if join.count_down(here) {
            resume(&cells, &resumed);
        }
        for completer in completers {
            completer.join().unwrap();
        }
        assert_eq!(resumed.load(Ordering::Relaxed), 1);
    });
}

/// A completer that resumes the waiter sees its body settled.
#[test]
fn a_waiter_is_settled_when_it_is_resumed() {
    loom::model(|| {
        let cell = Cell::new();
        let settled = Arc::new(AtomicBool::new(false));
        let completer = {
            let (cell, settled) = (Arc::clone(&cell), Arc::clone(&settled));
            thread::spawn(move || {
                if let Completed::Waiter(_) = cell.slot.complete(Status::Cancelled) {
                    // Relaxed: ordered by the slot.
                    assert!(settled.load(Ordering::Relaxed));
                }
            })
        };
        settled.store(true, Ordering::Relaxed);
        let _ = cell.slot.wait(frame());
        completer.join().unwrap();
    });
}

/// Spawned frames of one run, each waiting for the next, the last for the first: cancellation must break the cycle.
struct Ring {
    cancelled: AtomicBool,
    frames: Vec<Spawned>,
}

/// The parts of a frame that orphaning involves.
struct Spawned {
    cell: Arc<Cell>,
    join: Join,
    /// The number of times that the frame was resumed, and freed. Written without a lock: the protocol guarantees
    /// exclusion.
    resumed: UnsafeCell<u32>,
    freed: UnsafeCell<u32>,
}

impl Ring {
    fn new(length: usize) -> Arc<Ring> {
        let spawned = |_| Spawned {
            cell: Cell::new(),
            join: Join::new(0),
            resumed: UnsafeCell::new(0),
            freed: UnsafeCell::new(0),
        };
        Arc::new(Ring { cancelled: AtomicBool::new(false), frames: (0..length).map(spawned).collect() })
    }

    /// Returns the address that represents frame `index`; never followed.
    fn address(index: usize) -> FrameRef {
        NonNull::new(ptr::without_provenance_mut(64 * (index + 1))).unwrap()
    }

    fn index(frame: FrameRef) -> usize {
        frame.as_ptr().addr() / 64 - 1
    }

    fn child(&self, index: usize) -> usize {
        (index + 1) % self.frames.len()
    }

    /// Registers frame `index` with its child, as `run::register` does for a handle.
    fn register(&self, index: usize) {
        let frame = &self.frames[index];
        frame.resumed.with_mut(|resumed| {
            // SAFETY: the frame runs on this thread.
            assert_eq!(unsafe { *resumed }, 0);
        });
        frame.join.arm(1);
        let slot = &self.frames[self.child(index)].cell.slot;
        // Acquire: as in `Run::is_cancelled`.
        let ended = slot.wait_or_orphan(Ring::address(index), || self.cancelled.load(Ordering::Acquire));
        if frame.join.count_down(1 + u32::from(ended == Registered::Ended)) {
            self.resume(index);
        }
    }

    /// Cancels the run.
    fn mark(&self) {
        // Release: as in `Run::mark_cancelled`.
        self.cancelled.store(true, Ordering::Release);
    }

    /// Sweeps frame `index`, as `run::orphan` does.
    fn sweep(&self, index: usize) {
        if let Some(waiter) = self.frames[index].cell.slot.orphan() {
            self.count_down(waiter);
        }
    }

    fn count_down(&self, waiter: FrameRef) {
        let waiter = Ring::index(waiter);
        if self.frames[waiter].join.count_down(1) {
            self.resume(waiter);
        }
    }

    /// Runs frame `index`, which is ready: gives up its child, as `Child` does, and completes.
    fn resume(&self, index: usize) {
        // SAFETY: a ready frame runs once, on one thread; loom checks this.
        self.frames[index].resumed.with_mut(|resumed| unsafe { *resumed += 1 });
        let child = self.child(index);
        if !self.frames[child].cell.slot.give_up_orphaned() {
            assert!(self.frames[child].cell.slot.status().is_some(), "a ready frame's child has ended");
            self.free(child);
        }
        self.complete(index);
    }

    /// Completes frame `index`, as `run::complete` does.
    fn complete(&self, index: usize) {
        let frame = &self.frames[index];
        frame.cell.write(7);
        match frame.cell.slot.complete(Status::Done) {
            Completed::Unwaited => {}
            Completed::Waiter(waiter) => self.count_down(waiter),
            Completed::Detached => self.free(index),
        }
    }

    fn free(&self, index: usize) {
        assert_eq!(self.frames[index].cell.read(), 7);
        // SAFETY: only one side frees, and it is the last; loom checks this.
        self.frames[index].freed.with_mut(|freed| unsafe { *freed += 1 });
    }

    /// Returns the number of times that each frame was resumed and freed, after all threads have been joined.
    fn ends(&self) -> Vec<(u32, u32)> {
        // SAFETY: all other threads have been joined.
        let read = |cell: &UnsafeCell<u32>| cell.with(|cell| unsafe { *cell });
        self.frames.iter().map(|frame| (read(&frame.resumed), read(&frame.freed))).collect()
    }
}

/// Frame 0 waits for frame 1, which completes while a sweep orphans it.
#[test]
fn an_orphaned_frame_is_freed_once_and_its_waiter_runs_once() {
    explore(3, || {
        let ring = Ring::new(2);
        let completer = {
            let ring = Arc::clone(&ring);
            thread::spawn(move || ring.complete(1))
        };
        let sweeper = {
            let ring = Arc::clone(&ring);
            thread::spawn(move || {
                ring.mark();
                ring.sweep(1);
            })
        };
        ring.register(0);
        completer.join().unwrap();
        sweeper.join().unwrap();
        assert_eq!(ring.ends(), [(1, 0), (0, 1)]);
    });
}

/// A frame waits for itself, beginning before, during or after the sweep: only cancellation ends the wait.
#[test]
fn a_wait_that_the_sweep_misses_ends_itself() {
    loom::model(|| {
        let ring = Ring::new(1);
        let sweeper = {
            let ring = Arc::clone(&ring);
            thread::spawn(move || {
                ring.mark();
                ring.sweep(0);
            })
        };
        ring.register(0);
        sweeper.join().unwrap();
        assert_eq!(ring.ends(), [(1, 1)]);
    });
}

/// Two workers, each of which runs one frame of a cycle, and sweeps the other frame when the run has been cancelled.
#[test]
fn a_cycle_of_handles_is_destroyed() {
    explore(3, || {
        let ring = Ring::new(2);
        let other = {
            let ring = Arc::clone(&ring);
            thread::spawn(move || {
                ring.register(1);
                ring.mark();
                ring.sweep(0);
            })
        };
        ring.register(0);
        ring.mark();
        ring.sweep(1);
        other.join().unwrap();
        assert_eq!(ring.ends(), [(1, 1), (1, 1)]);
    });
}
