//! Idling: how a worker without work stops using the processor, and how new
//! work finds it.
//!
//! ```text
//!                   1 announce               2 commit
//!        +-------+ ------------> +-----------+ ------------> +--------+
//!        | awake |               | announced |               | parked |
//!        +-------+ <------------ +-----------+ <------------ +--------+
//!            ^       3 notified        5 the scout's timeout      |
//!            |       4 withdraws                                  |
//!            +----------------------------------------------------+
//!                             3 notified, 4 withdraws
//! ```
//!
//! A worker that found nothing announces that it goes idle (1), looks once more,
//! and commits itself to park (2) or withdraws (4). Whoever publishes work takes
//! one idle worker off the list (3) and rings it. A worker that was taken off
//! counts as awake from that moment, so that n notifications wake n workers.
//!
//! ```ignore
//! let mut prepared = idle.prepare_park(me, || self.work_visible());
//! loop {
//!     let parking = match prepared {
//!         Prepared::Work => break,
//!         Prepared::Shutdown => return,
//!         Prepared::Last(parking) => { self.look_for_deadlock(); parking }
//!         Prepared::Park(parking) => parking,
//!     };
//!     match parking.park() {
//!         Wake::Work => break,
//!         Wake::Shutdown => return,
//!         Wake::ScoutTimeout(scout) => {
//!             self.ask_running_workers_to_promote();
//!             prepared = scout.park_again(|| self.work_visible());
//!         }
//!     }
//! } // then look everywhere, as always
//! ```
//!
//! **No wake-up is lost.** The stages are under one mutex; only `sleepers` (and
//! `Seat::asleep`, its part for one worker) is read without it. That is Dekker's
//! pattern: the producer publishes, fences, loads `sleepers`; the worker stores
//! `sleepers`, fences, looks for work. Either the producer sees the sleeper and
//! takes the mutex, or the worker sees the work. Between looking and waiting
//! the worker takes the mutex, and finds out there if it was notified.
//!
//! A notification is for *a* worker, not for one item: who is woken searches
//! everywhere before it announces again. An item that is found by somebody else
//! than the one notified for it leaves that one to find the next. If a woken
//! worker runs something of its own first, what it leaves is found by the scout.
//!
//! **The scout.** Running workers publish nothing until asked, so somebody idle
//! must go on asking. While any worker is awake, one parked worker is the scout:
//! it waits with a timeout, from 50 us doubling to 1 ms, back to 50 us when
//! anybody finds work; at each timeout it asks, then parks again. All others wait
//! without. When the last worker commits there is no scout any more (one that
//! still waits with a timeout finds out at its end, and waits on without). A
//! worker that leaves the list while others are parked and none is scout appoints
//! one and rings it, so that it asks at once and waits with a timeout from then on. The notifier
//! need not: the worker it wakes does.
//!
//! **All idle.** The worker whose commit leaves none awake or announced is told
//! so ([`Prepared::Last`]). At that moment every worker has looked after it
//! announced and has not been notified since, so nothing is ready anywhere;
//! only a message or another thread can bring new work, or the worker that is
//! told so: it tells those that wait for rest, and counts as outside meanwhile
//! (`Team::look_for_deadlock`).

use crate::atomics::{AtomicBool, AtomicUsize, Mutex, MutexGuard, Ordering, fence, lock};
use crossbeam_utils::CachePadded;
use std::time::Duration;

mod bell;
#[cfg(all(test, loom))]
mod models;
mod stages;
#[cfg(all(test, not(loom)))]
mod tests;

use bell::Bell;
use stages::Stages;

/// The scout's first timeout.
const SCOUT_TIMEOUT_MIN: Duration = Duration::from_micros(50);
/// The scout's longest timeout.
const SCOUT_TIMEOUT_MAX: Duration = Duration::from_millis(1);

/// The idle workers of one pool, shared by all its workers and by producers.
///
/// Workers are numbered from 0. Only worker `w` itself may prepare to park as
/// `w`; anybody may notify.
#[derive(Debug)]
pub(crate) struct Idle {
    /// How many workers are announced or parked. Written under the mutex; alone
    /// on its line, since every producer reads it.
    sleepers: CachePadded<AtomicUsize>,
    stages: Mutex<Stages>,
    seats: Box<[CachePadded<Seat>]>,
}

/// Where one worker waits.
#[derive(Debug)]
struct Seat {
    /// Whether the worker is announced or parked. Written under the mutex.
    asleep: AtomicBool,
    bell: Bell,
}

/// What a worker that announced itself is to do.
#[must_use = "an announced worker must park, withdraw or end"]
#[derive(Debug)]
pub(crate) enum Prepared<'a> {
    /// Work was seen, or somebody notified this worker: search. It is awake.
    Work,
    /// The pool shuts down: end. The worker is awake.
    Shutdown,
    /// Park.
    Park(Parking<'a>),
    /// Park, after a look for deadlock: now all workers are parked.
    Last(Parking<'a>),
}

/// Why a parked worker woke.
#[must_use = "a worker that was notified must search for work"]
#[derive(Debug)]
pub(crate) enum Wake<'a> {
    /// Somebody notified this worker: search. It is awake.
    Work,
    /// The scout's timeout: ask running workers to promote, then park again.
    ScoutTimeout(Scout<'a>),
    /// The pool shuts down: end. The worker is awake.
    Shutdown,
}

/// A worker on the list of idle workers. Dropped, it withdraws.
#[must_use = "dropping it withdraws the worker"]
#[derive(Debug)]
pub(crate) struct Parking<'a> {
    idle: &'a Idle,
    worker: usize,
}

/// The scout between two waits: on the list, can be notified, but not parked.
/// Dropped, it withdraws and another worker becomes the scout.
#[must_use = "dropping it withdraws the worker"]
#[derive(Debug)]
pub(crate) struct Scout<'a>(Parking<'a>);

impl Idle {
    /// A pool of `workers` workers, all awake.
    pub(crate) fn new(workers: usize) -> Self {
        let seat = |_| CachePadded::new(Seat { asleep: AtomicBool::new(false), bell: Bell::new() });
        Self {
            sleepers: CachePadded::new(AtomicUsize::new(0)),
            stages: Mutex::new(Stages::new(workers)),
            seats: (0..workers).map(seat).collect(),
        }
    }

    /// Announces that `worker` goes idle, looks once more by `work_visible`, and
    /// commits if there is nothing (1, 2).
    ///
    /// `work_visible` must see whatever was published before a notification:
    /// every deque, and the worker's own queues and mailboxes. It only looks;
    /// taking is for a worker that is awake.
    pub(crate) fn prepare_park(&self, worker: usize, work_visible: impl FnOnce() -> bool) -> Prepared<'_> {
        let mut stages = self.lock();
        stages.announce(worker);
        self.publish(&stages, worker, true);
        drop(stages);
        Parking { idle: self, worker }.commit(work_visible)
    }

    /// Wakes one idle worker, if there is one. Call it after publishing work.
    ///
    /// Costs one fence and one load while nobody is idle.
    #[inline]
    pub(crate) fn notify_one(&self) {
        self.notify(1);
    }

    /// Wakes up to `count` idle workers. Call it after publishing work.
    #[inline]
    pub(crate) fn notify(&self, count: usize) {
        // Dekker, producer's side: pairs with the fence in `commit`; either we see
        // the sleeper, or its last look sees what we published.
        fence(Ordering::SeqCst);
        if self.anyone_idle() {
            self.wake(count);
        }
    }

    /// Wakes all idle workers.
    pub(crate) fn notify_all(&self) {
        self.notify(usize::MAX);
    }

    /// Wakes `worker` if it is idle. Call it after publishing work that only that
    /// worker can do.
    ///
    /// Costs one fence and one load while that worker is awake.
    pub(crate) fn notify_worker(&self, worker: usize) {
        let seat = &self.seats[worker];
        // Dekker, producer's side: as in `notify`.
        fence(Ordering::SeqCst);
        // Relaxed: ordered by the fence; decided under the mutex.
        if seat.asleep.load(Ordering::Relaxed) {
            let was_idle = self.rouse(&mut self.lock(), worker);
            if was_idle {
                seat.bell.ring();
            }
        }
    }

    /// The same without the fence: if the worker is just about to park, this may miss it. Then the scout, or the last to
    /// park, finds what was published.
    #[inline]
    pub(crate) fn poke(&self, worker: usize) {
        // Relaxed: a hint.
        if self.seats[worker].asleep.load(Ordering::Relaxed) {
            self.notify_worker(worker);
        }
    }

    /// Whether any worker was idle a moment ago: a hint for those who would
    /// publish work only if somebody wants it.
    #[inline]
    pub(crate) fn anyone_idle(&self) -> bool {
        // Relaxed: in `notify`, ordered by the fence; elsewhere a hint.
        self.sleepers.load(Ordering::Relaxed) != 0
    }

    /// Whether all workers are parked.
    #[cfg(test)]
    pub(crate) fn all_idle(&self) -> bool {
        self.lock().all_parked()
    }

    /// Calls `body` while all workers are parked, and none can be woken; `None` if
    /// one is not.
    ///
    /// What the workers did before they parked happens before `body`. It must not
    /// notify: that waits for it.
    pub(crate) fn while_all_parked<R>(&self, body: impl FnOnce() -> R) -> Option<R> {
        let _parked = self.keep_parked()?;
        Some(body())
    }

    /// As [`while_all_parked`](Idle::while_all_parked), until what this returns is
    /// dropped.
    pub(crate) fn keep_parked(&self) -> Option<Parked<'_>> {
        let stages = self.lock();
        // Dekker, worker's side, as in `commit`: if a producer is on its way to
        // wake somebody and now waits for the mutex, the caller sees what it published.
        fence(Ordering::SeqCst);
        stages.all_parked().then_some(Parked { _stages: stages })
    }

    /// Wakes all workers for good: from now on nobody parks.
    pub(crate) fn shutdown(&self) {
        self.lock().shut_down();
        for seat in &self.seats {
            seat.bell.ring();
        }
    }

    #[cold]
    fn wake(&self, count: usize) {
        // At most once round: a worker that idles again has looked since.
        for _ in 0..count.min(self.seats.len()) {
            let mut stages = self.lock();
            let Some(worker) = stages.choose() else {
                return;
            };
            self.rouse(&mut stages, worker);
            // Rung without the mutex, or the woken worker would block on it.
            drop(stages);
            self.seats[worker].bell.ring();
        }
    }

    /// Takes `worker` off the list (3, 4); false if it was not on it.
    fn rouse(&self, stages: &mut Stages, worker: usize) -> bool {
        let was_idle = stages.rouse(worker);
        if was_idle {
            self.publish(stages, worker, false);
        }
        was_idle
    }

    /// Shows producers what has just changed in `stages`, which the caller has
    /// locked.
    fn publish(&self, stages: &Stages, worker: usize, asleep: bool) {
        // Relaxed, both: ordered by the fence in `commit`, which follows whenever
        // somebody is added; who reads too much finds the truth under the mutex.
        self.seats[worker].asleep.store(asleep, Ordering::Relaxed);
        self.sleepers.store(stages.sleepers(), Ordering::Relaxed);
    }

    fn lock(&self) -> MutexGuard<'_, Stages> {
        lock(&self.stages)
    }
}

/// All workers are parked while this lives.
#[must_use]
pub(crate) struct Parked<'a> {
    _stages: MutexGuard<'a, Stages>,
}

impl<'a> Parking<'a> {
    /// Waits until notified, until the pool shuts down, or, as the scout, until
    /// the timeout.
    pub(crate) fn park(self) -> Wake<'a> {
        let bell = &self.idle.seats[self.worker].bell;
        let mut timed_out = false;
        loop {
            let mut stages = self.idle.lock();
            // Returning unlocks, then drops `self` if it is not returned, which
            // appoints a scout.
            if stages.is_shut_down() {
                return Wake::Shutdown;
            }
            if stages.is_awake(self.worker) {
                return Wake::Work;
            }
            if timed_out && stages.time_out(self.worker) {
                return Wake::ScoutTimeout(Scout(self));
            }
            let timeout = stages.timeout_of(self.worker);
            drop(stages);
            timed_out = bell.wait(timeout);
        }
    }

    /// Looks, and commits (2) or withdraws (4). The worker is announced, or has
    /// been notified since.
    fn commit(self, work_visible: impl FnOnce() -> bool) -> Prepared<'a> {
        // Dekker, worker's side: pairs with the fence in `notify`.
        fence(Ordering::SeqCst);
        // Should the look panic, dropping `self` withdraws the worker.
        if work_visible() {
            return Prepared::Work;
        }
        let mut stages = self.idle.lock();
        // Returning unlocks, then drops `self` if it is not returned.
        if stages.is_shut_down() {
            return Prepared::Shutdown;
        }
        if stages.is_awake(self.worker) {
            return Prepared::Work;
        }
        if stages.commit(self.worker) { Prepared::Last(self) } else { Prepared::Park(self) }
    }
}

impl<'a> Scout<'a> {
    /// Looks once more, and commits if there is nothing (2): the rest of
    /// [`Idle::prepare_park`].
    pub(crate) fn park_again(self, work_visible: impl FnOnce() -> bool) -> Prepared<'a> {
        self.0.commit(work_visible)
    }
}

impl Drop for Parking<'_> {
    /// Leaves the list, if nobody has taken the worker off it yet, and appoints a
    /// scout, if one is wanted.
    fn drop(&mut self) {
        let mut stages = self.idle.lock();
        self.idle.rouse(&mut stages, self.worker);
        let appointed = stages.appoint_scout();
        drop(stages);
        if let Some(scout) = appointed {
            self.idle.seats[scout].bell.ring();
        }
    }
}
