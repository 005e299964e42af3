//! The state shared by a scope's body and its tasks: one atomic word, a generation and a count.
//!
//! ```text
//!                                  (2) a task enters: n + 1
//!                                     +---+
//!                  (1) begin          |   v     (3) the last leaves
//!   ENDED(g - 1, 0) ------------> LIVE(g, n > 0) -------------------> ENDED(g, 0)
//!         ^                           |   ^                               |
//!         |                           +---+                               |
//!         |                        (3) one leaves: n - 1                  |
//!         +---------------------------------------------------------------+
//!                                  (4) recycled
//! ```
//!
//! The count covers the scope's body and its tasks. The body stores the *end*, the continuation whose resolution ends
//! the scope, in the state before its own (3). The last one to leave takes the end and resolves it. From then on
//! another scope may use the state.
//!
//! States are recycled and never freed, and each use has its own generation. So (2) refuses a stale scope, one that is
//! kept after its end, instead of accessing freed memory or another scope. A task that has entered keeps the scope
//! alive.

use std::ptr;

use crate::atomics::{AtomicPtr, AtomicU32, AtomicU64, Mutex, Ordering, lock};
use crate::frame::origin::Origin;

/// The state of a scope. An `E` ends it: a continuation, but a number in the models.
pub(crate) struct State<E> {
    /// The generation (upper half), and the count of the body and tasks that have not ended (lower half).
    word: AtomicU64,
    /// The number of the innermost group, or the run, that the scope belongs to.
    run: AtomicU32,
    /// The origin of the first panic of a task: null if no task has panicked, `UNKNOWN` if the origin is not known.
    panicked: AtomicPtr<Origin>,
    /// The end: stored before the body leaves, taken by the last one to leave.
    end: Mutex<Option<E>>,
}

impl<E> State<E> {
    /// Creates a state that no scope uses.
    pub(crate) fn new() -> State<E> {
        State {
            word: AtomicU64::new(0),
            run: AtomicU32::new(0),
            panicked: AtomicPtr::new(ptr::null_mut()),
            end: Mutex::new(None),
        }
    }

    /// Begins a scope whose body is counted (transition 1). `run` is the number of a group or run. Returns the
    /// generation.
    pub(crate) fn begin(&self, run: u32) -> u32 {
        // Relaxed, all: no other thread has this generation yet; it is published together with the scope.
        let generation = ((self.word.load(Ordering::Relaxed) >> 32) as u32).wrapping_add(1);
        self.run.store(run, Ordering::Relaxed);
        self.panicked.store(ptr::null_mut(), Ordering::Relaxed);
        self.word.store(u64::from(generation) << 32 | 1, Ordering::Relaxed);
        generation
    }

    /// Counts one more task (transition 2). Returns the scope's group or run, or `None` if this generation has ended.
    #[must_use]
    pub(crate) fn enter(&self, generation: u32) -> Option<u32> {
        let enter = |word: u64| ((word >> 32) as u32 == generation && word as u32 > 0).then(|| word + 1);
        // Relaxed: the caller already runs inside the scope, or is refused.
        self.word.fetch_update(Ordering::Relaxed, Ordering::Relaxed, enter).ok()?;
        // Relaxed: set before the scope was published, and from here on the scope lives until the task has left.
        Some(self.run.load(Ordering::Relaxed))
    }

    /// Counts down for a task (transition 3). Returns the end, if the task was the last to leave.
    #[must_use]
    pub(crate) fn leave(&self) -> Option<E> {
        // Release: this task's accesses come before the end. Acquire: the last one to leave sees the accesses of all
        // others, and `end`.
        if self.word.fetch_sub(1, Ordering::AcqRel) as u32 == 1 { lock(&self.end).take() } else { None }
    }

    /// Stores the end, and counts down for the body (transition 3). Returns the end, if no task is left.
    #[must_use]
    pub(crate) fn leave_body(&self, end: E) -> Option<E> {
        *lock(&self.end) = Some(end);
        self.leave()
    }

    /// Records the panic of a task that has not left yet.
    pub(crate) fn note_panic(&self, origin: Option<&'static Origin>) {
        let origin = ptr::from_ref(origin.unwrap_or(&UNKNOWN)).cast_mut();
        // Relaxed, both: published by (3). If another task has panicked first, its origin stays.
        let _ = self.panicked.compare_exchange(ptr::null_mut(), origin, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// Returns whether a task has panicked, and its origin if known. Called after the scope has ended.
    pub(crate) fn panicked(&self) -> Option<Option<&'static Origin>> {
        // Relaxed: ordered by (3).
        let origin = self.panicked.load(Ordering::Relaxed);
        // SAFETY: the pointer is null, or comes from a static reference.
        let origin = unsafe { origin.as_ref() }?;
        Some((!ptr::eq(origin, &raw const UNKNOWN)).then_some(origin))
    }
}

/// The origin of a task whose name is not known.
static UNKNOWN: Origin = Origin::here("");

#[cfg(all(test, loom))]
mod models {
    use super::*;
    use crate::atomics::{Arc, AtomicUsize, UnsafeCell, explore, thread};

    /// A state, the notes that tasks in its scopes write, and the number of scopes that have ended. An end is the
    /// number of its run.
    struct Scopes {
        state: State<u32>,
        notes: [UnsafeCell<bool>; 2],
        ended: AtomicUsize,
    }

    impl Scopes {
        fn new() -> Arc<Scopes> {
            let notes = [(); 2].map(|()| UnsafeCell::new(false));
            Arc::new(Scopes { state: State::new(), notes, ended: AtomicUsize::new(0) })
        }

        fn note(&self, index: usize) {
            // SAFETY: one task writes its note, and the end reads it; loom checks this.
            self.notes[index].with_mut(|note| unsafe { *note = true });
        }

        fn noted(&self, index: usize) -> bool {
            // SAFETY: the end reads after all tasks have left; loom checks this.
            self.notes[index].with(|note| unsafe { *note })
        }

        fn count_end(&self) {
            // Relaxed: read after all threads are joined.
            self.ended.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn a_scope_ends_once_after_all_its_tasks() {
        explore(3, || {
            let scopes = Scopes::new();
            let end = |scopes: &Scopes, end: Option<u32>| {
                if let Some(run) = end {
                    assert_eq!(run, 1);
                    assert!(scopes.noted(0) && scopes.noted(1) && scopes.state.panicked().is_some());
                    scopes.count_end();
                }
            };
            let generation = scopes.state.begin(1);
            let tasks = [0, 1].map(|index| {
                assert_eq!(scopes.state.enter(generation), Some(1));
                let scopes = Arc::clone(&scopes);
                thread::spawn(move || {
                    scopes.note(index);
                    if index == 1 {
                        scopes.state.note_panic(None);
                    }
                    end(&scopes, scopes.state.leave());
                })
            });
            end(&scopes, scopes.state.leave_body(1));
            for task in tasks {
                task.join().unwrap();
            }
            assert_eq!(scopes.ended.load(Ordering::Relaxed), 1);
        });
    }

    /// A task spawns in a stale scope, while the scope ends and another scope reuses its state.
    #[test]
    fn a_concurrent_spawn_enters_the_scope_or_is_refused() {
        explore(3, || {
            let scopes = Scopes::new();
            let generation = scopes.state.begin(1);
            /// Ends the scope: sees the note of its task, and reuses the state.
            fn end(scopes: &Scopes, end: Option<u32>) {
                let Some(run) = end else { return };
                assert_eq!(run, 1);
                // If a task has written its note, this read sees it; loom would report a race.
                let _ = scopes.noted(0);
                scopes.count_end();
                let generation = scopes.state.begin(2);
                assert_eq!(scopes.state.enter(generation), Some(2));
                assert_eq!(scopes.state.leave(), None);
                assert_eq!(scopes.state.leave_body(2), Some(2));
                scopes.count_end();
            }
            let late = {
                let scopes = Arc::clone(&scopes);
                thread::spawn(move || {
                    let entered = scopes.state.enter(generation);
                    if let Some(run) = entered {
                        assert_eq!(run, 1);
                        scopes.note(0);
                        end(&scopes, scopes.state.leave());
                    }
                    // Enters once more: another scope may use the state by now.
                    if let Some(run) = scopes.state.enter(generation) {
                        assert_eq!(run, 1);
                        end(&scopes, scopes.state.leave());
                    }
                    entered.is_some()
                })
            };
            end(&scopes, scopes.state.leave_body(1));
            let entered = late.join().unwrap();
            assert_eq!(scopes.noted(0), entered);
            assert_eq!(scopes.ended.load(Ordering::Relaxed), 2);
            assert_eq!(scopes.state.enter(generation), None);
        });
    }
}
