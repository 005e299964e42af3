//! The barrier of a group: a sharded count of arrivals, and the waiters of each shard.
//!
//! An activity that ends counts as arrived [M §2.3], and the barrier waits for activities that have not begun. So a
//! phase is over when as many activities as were live at its beginning are *done*: arrived or ended.
//!
//! ```text
//!   each shard, under its lock: waiting    waiters that have arrived
//!                               done       arrivals and ends in this phase
//!                               ended      ends in this phase
//!                               quota      value of `done` at which to check all shards
//!   under the locks of all:     live       activities that must be done in this phase
//!
//!   1 arrive: waiting + 1, done + 1        if done >= quota: 3
//!   2 leave n:   ended + n, done + n       if done >= quota: 3
//!   3 check: r = live - sum of done        if r > 0: each quota = done + ceil(r / shards)
//!                                          else all waiters are released, and a phase of live - sum of ended begins
//! ```
//!
//! **No release is missed**: after a check that finds r activities missing, each shard checks again when it has
//! counted ceil(r / shards) more. When all r are done, at least one shard has reached this quota, and so has checked.
//! **No release is early**: (3) holds all locks, so its sum is exact.
//!
//! Each worker has a shard of its own, as far as shards suffice, so an arrival takes an uncontended lock. A phase
//! performs about shards * log(activities) checks; the cost of an arrival is bounded, independent of the number of
//! activities. The paper's first version polled, and was quadratic (section 5.4).
//!
//! An activity that arrives twice at once, from two branches of a join, counts twice: a phase may end with more
//! arrivals than `live`. The size of the next phase is computed from the ended activities, not from the released
//! waiters.

use crate::atomics::{AtomicU64, Mutex, MutexGuard, Ordering, lock};

/// The number of shards of a group's barrier.
pub(crate) const SHARDS: usize = 8;

/// A barrier at which waiters of type `W` wait, in `L` shards.
pub(super) struct Barrier<W, const L: usize> {
    /// Changed under the locks of all shards.
    live: AtomicU64,
    shards: [Shard<W>; L],
}

/// One shard, on a cache line of its own.
#[repr(align(64))]
struct Shard<W>(Mutex<State<W>>);

struct State<W> {
    waiting: Vec<W>,
    done: u64,
    ended: u64,
    quota: u64,
}

/// The released waiters, by shard.
pub(crate) type Released<W, const L: usize> = [Vec<W>; L];

fn none_released<W, const L: usize>() -> Released<W, L> {
    [const { Vec::new() }; L]
}

impl<W, const L: usize> Barrier<W, L> {
    pub(super) fn new() -> Barrier<W, L> {
        let shard = |()| Shard(Mutex::new(State { waiting: Vec::new(), done: 0, ended: 0, quota: 0 }));
        Barrier { live: AtomicU64::new(0), shards: [(); L].map(shard) }
    }

    /// Starts the first phase of a new group with `activities` activities.
    pub(super) fn begin(&self, activities: u64) {
        self.phase(&mut self.lock_all(), activities);
    }

    /// Performs transition 1. Returns the waiters to release if this was the last arrival. `shard` selects the shard:
    /// any number, preferably the worker's.
    pub(super) fn arrive(&self, waiter: W, shard: usize) -> Released<W, L> {
        let look = {
            let mut shard = lock(&self.shards[shard % L].0);
            shard.waiting.push(waiter);
            shard.done += 1;
            shard.done >= shard.quota && !mutated!(LostArrival)
        };
        if look { self.check_phase() } else { none_released() }
    }

    /// Performs transition 2 for `activities` activities. Returns the waiters to release if all activities that are
    /// left have arrived. `shard` selects the shard, as in [`arrive`](Barrier::arrive).
    pub(super) fn leave(&self, activities: u64, shard: usize) -> Released<W, L> {
        let look = {
            let mut shard = lock(&self.shards[shard % L].0);
            shard.done += activities;
            shard.ended += activities;
            shard.done >= shard.quota
        };
        if look { self.check_phase() } else { none_released() }
    }

    /// Performs transition 3. Returns the waiters to release.
    #[cold]
    fn check_phase(&self) -> Released<W, L> {
        let mut shards = self.lock_all();
        let done: u64 = shards.iter().map(|shard| shard.done).sum();
        // Relaxed: under all locks.
        let live = self.live.load(Ordering::Relaxed);
        let left = live.saturating_sub(done);
        if left > 0 {
            shards.iter_mut().for_each(|shard| shard.quota = shard.done + left.div_ceil(L as u64));
            return none_released();
        }
        let ended: u64 = shards.iter().map(|shard| shard.ended).sum();
        let released = shards.each_mut().map(|shard| std::mem::take(&mut shard.waiting));
        self.phase(&mut shards, live.saturating_sub(ended));
        released
    }

    /// Begins a phase of `live` activities.
    fn phase(&self, shards: &mut [MutexGuard<'_, State<W>>; L], live: u64) {
        // Relaxed: under all locks.
        self.live.store(live, Ordering::Relaxed);
        for shard in shards {
            (shard.done, shard.ended, shard.quota) = (0, 0, live.div_ceil(L as u64));
        }
    }

    /// Locks all shards, always in the same order.
    fn lock_all(&self) -> [MutexGuard<'_, State<W>>; L] {
        self.shards.each_ref().map(|shard| lock(&shard.0))
    }

    /// Takes all waiters, which will not be released because their group has been terminated.
    pub(super) fn take(&self) -> Released<W, L> {
        self.shards.each_ref().map(|shard| std::mem::take(&mut lock(&shard.0).waiting))
    }
}

#[cfg(test)]
mod tests {
    use super::Barrier;

    /// A phase ends with more arrivals than activities; in the next phase, each activity counts once.
    #[cfg(not(loom))]
    #[test]
    fn a_double_arrival_counts_once_in_the_next_phase() {
        let barrier = Barrier::<u64, 8>::new();
        barrier.begin(8);
        // Each shard checks at its first arrival. All but the last find activities missing, after which each shard
        // checks again at its next arrival.
        for activity in 0..7 {
            assert!(barrier.arrive(activity, activity as usize).concat().is_empty());
        }
        {
            // A second arrival of activity 6, which no check has seen when the last activity arrives.
            let mut shard = super::lock(&barrier.shards[6].0);
            shard.waiting.push(6);
            shard.done += 1;
        }
        assert_eq!(barrier.arrive(7, 7).concat().len(), 9);
        for activity in 0..7 {
            assert!(barrier.arrive(activity, 0).concat().is_empty());
        }
        assert_eq!(barrier.arrive(7, 0).concat().len(), 8);
    }

    /// For any number of activities, some of which end in each phase, each waiter is released once per phase.
    #[cfg(not(loom))]
    #[test]
    fn each_phase_releases_every_waiter_once() {
        for n in [1_u64, 2, 3, 7, 8, 9, 100, 1000] {
            let barrier = Barrier::<u64, 8>::new();
            barrier.begin(n);
            let mut live: Vec<u64> = (0..n).collect();
            let mut phase = 0;
            while !live.is_empty() {
                phase += 1;
                let mut released = Vec::new();
                for (at, &activity) in live.iter().enumerate() {
                    // Activity a ends in phase p (counted from 1) if p + 1 divides a + 1.
                    let shard = (activity * 7 % 11) as usize;
                    let out = if (activity + 1).is_multiple_of(phase + 1) {
                        barrier.leave(1, shard)
                    } else {
                        barrier.arrive(activity, shard)
                    };
                    let out = out.concat();
                    assert!(out.is_empty() || at + 1 == live.len(), "no waiter is released before the last");
                    released.extend(out);
                }
                released.sort_unstable();
                let left = live.iter().copied().filter(|a| !(a + 1).is_multiple_of(phase + 1));
                assert!(left.eq(released.iter().copied()));
                live = released;
                if phase > n {
                    let out = barrier.leave(live.len() as u64, 0);
                    assert!(out.concat().is_empty());
                    live.clear();
                }
            }
        }
    }
}

#[cfg(all(test, loom))]
mod models {
    use super::*;
    use crate::atomics::{Arc, AtomicUsize, UnsafeCell, explore, thread};

    /// A group whose activities are threads. A waiter is the number of its activity.
    struct Group {
        barrier: Barrier<usize, 2>,
        released: [AtomicUsize; 3],
        /// Written by each activity before it arrives or ends.
        notes: [UnsafeCell<usize>; 3],
    }

    impl Group {
        fn new(activities: u64) -> Arc<Group> {
            let barrier = Barrier::new();
            barrier.begin(activities);
            let released = [(); 3].map(|()| AtomicUsize::new(0));
            Arc::new(Group { barrier, released, notes: [(); 3].map(|()| UnsafeCell::new(0)) })
        }

        fn note(&self, activity: usize, phase: usize) {
            // SAFETY: each activity writes only its own note; loom checks it.
            self.notes[activity].with_mut(|note| unsafe { *note = phase });
        }

        /// Resumes the released waiters. The releasing thread must see the notes of all activities of the phase.
        /// Returns whether any waiter was released.
        fn release(&self, waiters: Released<usize, 2>, of: usize) -> bool {
            let waiters = waiters.concat();
            if waiters.is_empty() {
                return false;
            }
            for activity in 0..of {
                // SAFETY: all activities have arrived or ended; loom checks it.
                self.notes[activity].with(|note| assert_ne!(unsafe { *note }, 0));
            }
            for waiter in waiters {
                self.released[waiter].fetch_add(1, Ordering::Release);
            }
            true
        }

        fn times(&self, activity: usize) -> usize {
            self.released[activity].load(Ordering::Acquire)
        }
    }

    /// Two activities arrive and one ends: both waiters are released once, when all three are done.
    #[test]
    fn ending_counts_as_arriving() {
        explore(3, || {
            let group = Group::new(3);
            let arrive = |activity: usize| {
                let group = Arc::clone(&group);
                thread::spawn(move || {
                    group.note(activity, 1);
                    let released = group.barrier.arrive(activity, activity);
                    group.release(released, 3);
                })
            };
            let (first, second) = (arrive(0), arrive(1));
            group.note(2, 1);
            let released = group.barrier.leave(1, 0);
            group.release(released, 3);
            first.join().unwrap();
            second.join().unwrap();
            assert_eq!((group.times(0), group.times(1)), (1, 1));
            assert!(group.barrier.take().concat().is_empty());
        });
    }

    /// Two activities and two phases: the last to arrive in the first phase releases the other, continues and ends.
    #[test]
    fn phases_do_not_mix() {
        explore(3, || {
            let group = Group::new(2);
            let syncs_and_ends_if_last = |group: &Group, activity: usize| {
                group.note(activity, 1);
                let released = group.barrier.arrive(activity, activity);
                let last = group.release(released, 2);
                if last {
                    let released = group.barrier.leave(1, activity);
                    group.release(released, 2);
                }
                last
            };
            let other = {
                let group = Arc::clone(&group);
                thread::spawn(move || syncs_and_ends_if_last(&group, 1))
            };
            let last = syncs_and_ends_if_last(&group, 0);
            let other = other.join().unwrap();
            assert!(last != other, "one of them is the last");
            assert_eq!((group.times(0), group.times(1)), (1, 1));
            // The activity that is left arrives alone.
            let left = usize::from(last);
            assert_eq!(group.barrier.arrive(left, 0).concat(), [left]);
        });
    }
}
