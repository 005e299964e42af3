//! Idling protocol: how an idle worker parks, and how new work wakes it.
//!
//! ```text
//!                   1 announce               2 commit
//!        +-------+ ------------> +-----------+ ------------> +--------+
//!        | awake |               | announced |               | parked |
//!        +-------+ <------------ +-----------+ <------------ +--------+
//!            ^       3 notified        5 the scout's timeout      |
//!            |       4 withdraws                                  |
//!            +----------------------------------------------------+
//!                        3 notified, 4 withdraws, 6 lent
//! ```
//!
//! A worker that found no work announces that it goes idle (1), looks for work once more, and commits to park (2) or
//! withdraws (4). A producer that publishes work takes one worker off the idle list (3) and rings its bell. A removed
//! worker counts as awake from that moment, so n notifications wake n workers.
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
//!         Wake::Work(_) => break,
//!         Wake::Shutdown => return,
//!         Wake::ScoutTimeout(scout) => {
//!             self.ask_running_workers_to_promote();
//!             prepared = scout.park_again(|| self.work_visible());
//!         }
//!     }
//! } // then look everywhere, as always
//! ```
//!
//! **No wake-up is lost.** One mutex protects the stages. Only `sleepers` and its per-worker counterpart
//! `ParkingSpot::asleep` are read without the mutex, by Dekker's pattern: the producer publishes, fences, loads
//! `sleepers`; the worker stores `sleepers`, fences, looks for work. Either the producer sees the sleeper and takes the
//! mutex, or the worker sees the work. Between its look and its wait, the worker takes the mutex and checks whether it
//! was notified.
//!
//! A notification targets a worker, not an item: a woken worker searches everywhere before it announces again. If
//! another worker takes the item that caused a notification, the notified worker finds the next item. If a woken worker
//! first runs a frame of its own, the scout finds the items that it leaves.
//!
//! **The scout.** Running workers publish no work until asked, so some idle worker must keep asking. While any worker
//! is awake, one parked worker is the scout: it waits with a timeout, which doubles from 50 us to 1 ms and returns to
//! 50 us when any worker finds work. At each timeout the scout asks, then parks again. All other parked workers wait
//! without a timeout. When the last worker commits, the team has no scout any more (a former scout in a timed wait
//! notices this at the timeout, then waits untimed). A worker that leaves the list while others are parked and none is
//! the scout appoints a scout and rings it, so that the new scout asks at once and waits with a timeout from then on. A
//! producer that notifies need not appoint one: the worker that it wakes does. The ring takes some microseconds, and there is
//! nothing to share before a task forks; so the worker may *postpone* the appointment until its first guard check trips, if what
//! it was woken for is all that it can find, and no other process may have work. Until then a worker that parks becomes the
//! scout, as always.
//!
//! **The lookout.** While all workers are parked, the one that parked last waits with the same timeouts if workers of other
//! processes are awake, and asks them for work. It stays parked meanwhile. If none is awake, it waits until one wakes.
//!
//! **Visits.** A thread that calls `Runtime::run` may borrow a parked worker whose own thread waits (6): the worker is awake
//! then, while its thread waits on. The visitor announces and commits in the worker's name (1, 2) and gives the worker back;
//! if the worker is awake at that moment, or the scout, the visitor rings its bell. Until the worker is given back its thread
//! only waits, whatever rings. See [`super::visit`].
//!
//! **All idle.** The worker whose commit leaves no worker awake or announced receives [`Prepared::Last`]. At that
//! moment every worker has looked for work since it announced and has not been notified since, so no frame is ready
//! anywhere. New work can come only from a message, from another thread, or from this last worker: it resumes the
//! waiters for quiescence, and counts as an external wait until it has resumed them (`Team::look_for_deadlock`).

use super::peers::Peers;
use crate::atomics::{AtomicBool, AtomicUsize, Mutex, MutexGuard, Ordering, fence, lock};
use crate::sim::{Simulator, Waited};
use crossbeam_utils::CachePadded;
use std::mem::ManuallyDrop;
use std::sync::Arc;
use std::time::Duration;

mod bell;
#[cfg(any(feature = "visits", test))]
mod lent;
#[cfg(all(test, loom))]
mod models;
mod stages;
#[cfg(all(test, not(loom)))]
mod tests;

use bell::Bell;
#[cfg(feature = "visits")]
pub(crate) use lent::{Left, Lent};
use stages::Stages;

/// Timeout of the scout's first wait.
const SCOUT_TIMEOUT_MIN: Duration = Duration::from_micros(50);
/// Longest timeout of the scout.
const SCOUT_TIMEOUT_MAX: Duration = Duration::from_millis(1);

/// The idle workers of one team, shared by all its workers and by producers.
///
/// Workers are numbered from 0. Only worker `w` itself may prepare to park as `w`; any thread may notify.
#[derive(Debug)]
pub(crate) struct Idle {
    /// Number of workers that are announced or parked. Written under the mutex; on its own cache line, since every
    /// producer reads it.
    sleepers: CachePadded<AtomicUsize>,
    stages: Mutex<Stages>,
    /// Whether a worker searches for longer than others.
    eager: AtomicBool,
    spots: Box<[CachePadded<ParkingSpot>]>,
}

/// The parking state of one worker.
#[derive(Debug)]
struct ParkingSpot {
    /// Whether the worker is announced or parked. Written under the mutex.
    asleep: AtomicBool,
    bell: Bell,
    /// The core on which the worker's thread has run last.
    #[cfg(any(feature = "visits", test))]
    core: std::sync::atomic::AtomicU32,
}

/// Returns the number of the core that this thread runs on, where the system tells.
#[cfg(any(feature = "visits", test))]
fn core() -> u32 {
    #[cfg(all(target_os = "linux", not(miri)))]
    // SAFETY: the function has no conditions.
    return unsafe { libc::sched_getcpu() } as u32;
    #[cfg(not(all(target_os = "linux", not(miri))))]
    0
}

/// The next step of a worker that announced itself.
#[must_use = "an announced worker must park, withdraw or end"]
#[derive(Debug)]
pub(crate) enum Prepared<'a> {
    /// Work was seen, or the worker was notified: search. The worker is awake.
    Work,
    /// The team shuts down: end. The worker is awake.
    Shutdown,
    /// Park.
    Park(Parking<'a>),
    /// Park, after looking for a deadlock: all workers are now parked.
    Last(Parking<'a>),
}

/// The reason why a parked worker woke.
#[must_use = "a worker that was notified must search for work"]
#[derive(Debug)]
pub(crate) enum Wake<'a> {
    /// The worker was notified: search. The worker is awake; dropping this appoints a scout if one is missing.
    Work(Parking<'a>),
    /// The scout's timeout expired: ask running workers to promote, then park again.
    ScoutTimeout(Scout<'a>),
    /// The lookout's timeout expired: ask running workers of other processes, then park on.
    LookoutTimeout(Parking<'a>),
    /// The team shuts down: end. The worker is awake.
    Shutdown,
}

/// A worker on the list of idle workers. Dropping it withdraws the worker.
#[must_use = "dropping it withdraws the worker"]
#[derive(Debug)]
pub(crate) struct Parking<'a> {
    idle: &'a Idle,
    worker: usize,
}

/// The scout between two waits: on the list and open to notifications, but not parked. Dropping it withdraws the
/// worker, and another worker becomes the scout.
#[must_use = "dropping it withdraws the worker"]
#[derive(Debug)]
pub(crate) struct Scout<'a>(Parking<'a>);

impl Idle {
    /// Creates the idling state of a team of `workers` workers, all awake.
    pub(crate) fn new(workers: usize, simulator: Option<&Arc<dyn Simulator>>, peers: Option<&Arc<dyn Peers>>) -> Self {
        let bell = |worker| match (simulator, peers) {
            (Some(simulator), peers) => Bell::simulated(Arc::clone(simulator), peers.cloned(), worker),
            (None, Some(peers)) => Bell::shared(Arc::clone(peers), worker),
            (None, None) => Bell::new(),
        };
        let spot = |worker| {
            CachePadded::new(ParkingSpot {
                asleep: AtomicBool::new(false),
                bell: bell(worker),
                #[cfg(any(feature = "visits", test))]
                core: std::sync::atomic::AtomicU32::new(u32::MAX),
            })
        };
        Self {
            sleepers: CachePadded::new(AtomicUsize::new(0)),
            stages: Mutex::new(Stages::new(workers)),
            eager: AtomicBool::new(false),
            spots: (0..workers).map(spot).collect(),
        }
    }

    /// Announces that `worker` goes idle, looks for work once more with `work_visible`, and commits if it finds none
    /// (1, 2).
    ///
    /// `work_visible` must see everything published before a notification: every deque, and the worker's own queues and
    /// mailboxes. It only looks; only an awake worker takes work.
    pub(crate) fn prepare_park(&self, worker: usize, work_visible: impl FnOnce() -> bool) -> Prepared<'_> {
        let mut stages = self.lock();
        stages.announce(worker);
        self.publish(&stages, worker, true);
        drop(stages);
        Parking { idle: self, worker }.commit(work_visible)
    }

    /// Wakes one idle worker, if any. Call it after publishing work.
    ///
    /// Costs one fence and one load while no worker is idle.
    #[inline]
    pub(crate) fn notify_one(&self) {
        self.notify(1);
    }

    /// Wakes up to `count` idle workers. Call it after publishing work.
    #[inline]
    pub(crate) fn notify(&self, count: usize) {
        // Dekker, producer's side: pairs with the fence in `commit`. Either this thread sees the sleeper, or the
        // sleeper's last look sees the published work.
        fence(Ordering::SeqCst);
        if self.anyone_idle() {
            self.wake(count);
        }
    }

    /// Lets the caller search for longer than other workers do, until the result is dropped; only one worker at a time may.
    pub(crate) fn be_eager(&self) -> Option<Eager<'_>> {
        // Relaxed, both: a limit on the number of workers that search, which orders nothing.
        let first = !self.eager.load(Ordering::Relaxed) && !self.eager.swap(true, Ordering::Relaxed);
        first.then_some(Eager(self))
    }

    /// Wakes all idle workers.
    pub(crate) fn notify_all(&self) {
        self.notify(usize::MAX);
    }

    /// Wakes `worker` if it is idle. Call it after publishing work that only `worker` can do.
    ///
    /// Costs one fence and one load while `worker` is awake.
    pub(crate) fn notify_worker(&self, worker: usize) {
        let spot = &self.spots[worker];
        // Dekker, producer's side: as in `notify`.
        fence(Ordering::SeqCst);
        // Relaxed: ordered by the fence; the mutex decides.
        if spot.asleep.load(Ordering::Relaxed) {
            let was_idle = self.rouse(&mut self.lock(), worker);
            if was_idle {
                spot.bell.ring();
            }
        }
    }

    /// Wakes `worker` like [`notify_worker`](Idle::notify_worker), but without the fence: it may miss a worker that is
    /// about to park. Then the scout, or the last worker to park, finds the published work.
    #[inline]
    pub(crate) fn poke(&self, worker: usize) {
        // Relaxed: a hint.
        if self.spots[worker].asleep.load(Ordering::Relaxed) {
            self.notify_worker(worker);
        }
    }

    /// Returns whether any worker was idle a moment ago: a hint for producers that publish work only on demand.
    #[inline]
    pub(crate) fn anyone_idle(&self) -> bool {
        // Relaxed: ordered by the fence in `notify`; a hint elsewhere.
        self.sleepers.load(Ordering::Relaxed) != 0
    }

    /// Returns whether all workers are parked.
    #[cfg(test)]
    pub(crate) fn all_idle(&self) -> bool {
        self.lock().all_parked()
    }

    /// Calls `body` while all workers are parked and none can be woken; returns `None` if a worker is not parked.
    ///
    /// Everything that the workers did before they parked happens before `body`. `body` must not notify: the
    /// notification would wait for `body` to return.
    pub(crate) fn while_all_parked<R>(&self, body: impl FnOnce() -> R) -> Option<R> {
        let _parked = self.keep_parked()?;
        Some(body())
    }

    /// Keeps all workers parked, as [`while_all_parked`](Idle::while_all_parked) does, until the result is dropped.
    pub(crate) fn keep_parked(&self) -> Option<Parked<'_>> {
        let stages = self.lock();
        // Dekker, worker's side, as in `commit`: if a producer waits for the mutex to wake a worker, the caller sees
        // the published work.
        fence(Ordering::SeqCst);
        stages.all_parked().then_some(Parked { _stages: stages })
    }

    /// Wakes all workers permanently: from now on no worker parks.
    pub(crate) fn shutdown(&self) {
        self.lock().shut_down();
        for spot in &self.spots {
            spot.bell.ring();
        }
    }

    /// Returns whether [`shutdown`](Idle::shutdown) was called.
    #[cold]
    pub(crate) fn is_shut_down(&self) -> bool {
        self.lock().is_shut_down()
    }

    #[cold]
    fn wake(&self, count: usize) {
        // At most one round: a worker that goes idle again has looked for work since.
        for _ in 0..count.min(self.spots.len()) {
            let mut stages = self.lock();
            let Some(worker) = stages.choose() else {
                return;
            };
            self.rouse(&mut stages, worker);
            // Ring without the mutex, or the woken worker would block on it.
            drop(stages);
            self.spots[worker].bell.ring();
        }
    }

    /// Appoints a scout if one is missing.
    #[cold]
    pub(crate) fn appoint_scout(&self) {
        self.appoint(self.lock());
    }

    fn appoint(&self, mut stages: MutexGuard<'_, Stages>) {
        let appointed = stages.appoint_scout();
        drop(stages);
        if let Some(scout) = appointed {
            self.spots[scout].bell.ring();
        }
    }

    /// Removes `worker` from the list (3, 4). Returns false if it was not on the list.
    fn rouse(&self, stages: &mut Stages, worker: usize) -> bool {
        let was_idle = stages.rouse(worker);
        if was_idle {
            self.publish(stages, worker, false);
        }
        was_idle
    }

    /// Publishes the latest change of `stages`, which the caller has locked, to producers.
    fn publish(&self, stages: &Stages, worker: usize, asleep: bool) {
        // Relaxed, both: the fence in `commit` follows every addition to the list and orders these stores. A reader of
        // a stale value that is too high checks again under the mutex.
        self.spots[worker].asleep.store(asleep, Ordering::Relaxed);
        self.spots[worker].bell.set_asleep(asleep);
        self.sleepers.store(stages.sleepers(), Ordering::Relaxed);
    }

    fn lock(&self) -> MutexGuard<'_, Stages> {
        lock(&self.stages)
    }
}

/// The right of one worker to search for longer.
#[must_use]
#[derive(Debug)]
pub(crate) struct Eager<'a>(&'a Idle);

impl Drop for Eager<'_> {
    fn drop(&mut self) {
        // Relaxed: see `be_eager`.
        self.0.eager.store(false, Ordering::Relaxed);
    }
}

/// Proof that all workers are parked; they stay parked until it is dropped.
#[must_use]
pub(crate) struct Parked<'a> {
    _stages: MutexGuard<'a, Stages>,
}

impl<'a> Parking<'a> {
    /// Returns whether the worker is the scout or the lookout, which ask from time to time.
    pub(crate) fn asks(&self) -> bool {
        let stages = self.idle.lock();
        stages.timeout_of(self.worker).is_some() || stages.is_lookout(self.worker)
    }

    /// Waits until notified, until the team shuts down, or, as the scout, until the timeout.
    pub(crate) fn park(self) -> Wake<'a> {
        let bell = &self.idle.spots[self.worker].bell;
        let mut waited = Waited::Rung;
        loop {
            let mut stages = self.idle.lock();
            if !stages.use_again(self.worker) {
                // A visitor uses the worker, and rings when it gives it back with something to do.
                drop(stages);
                waited = bell.wait(None);
                continue;
            }
            // Returning unlocks the mutex, then drops `self` unless `self` is returned; the drop appoints a scout.
            if stages.is_shut_down() {
                return Wake::Shutdown;
            }
            if stages.is_awake(self.worker) {
                drop(stages);
                return Wake::Work(self);
            }
            match waited {
                // As if notified: the drop of `self` removes the worker from the list.
                Waited::Arrived => {
                    drop(stages);
                    return Wake::Work(self);
                }
                Waited::TimedOut if stages.time_out(self.worker) => return Wake::ScoutTimeout(Scout(self)),
                Waited::TimedOut if stages.is_lookout(self.worker) => {
                    stages.lengthen();
                    return Wake::LookoutTimeout(self);
                }
                Waited::TimedOut | Waited::Rung => {}
            }
            let mut timeout = stages.timeout_of(self.worker);
            if timeout.is_none() && stages.is_lookout(self.worker) && bell.look_out() {
                timeout = Some(stages.lookout_timeout());
            }
            stages.wait(self.worker);
            drop(stages);
            // Relaxed: a hint.
            #[cfg(any(feature = "visits", test))]
            self.idle.spots[self.worker].core.store(core(), std::sync::atomic::Ordering::Relaxed);
            waited = bell.wait(timeout);
        }
    }

    /// Removes the worker from the list, unless a notification already has. Returns whether a scout is missing; then the worker
    /// calls [`Idle::appoint_scout`] soon.
    pub(crate) fn postpone(self) -> bool {
        // Its drop would appoint one.
        let parking = ManuallyDrop::new(self);
        let mut stages = parking.idle.lock();
        parking.idle.rouse(&mut stages, parking.worker);
        stages.lacks_scout()
    }

    /// Looks for work, and commits (2) or withdraws (4). The worker is announced, or has been notified since it
    /// announced.
    fn commit(self, work_visible: impl FnOnce() -> bool) -> Prepared<'a> {
        self.commit_by(work_visible, Stages::commit)
    }

    /// Does the same; `commit` is the transition.
    fn commit_by(
        self,
        work_visible: impl FnOnce() -> bool,
        commit: impl FnOnce(&mut Stages, usize) -> bool,
    ) -> Prepared<'a> {
        // Dekker, worker's side: pairs with the fence in `notify`.
        fence(Ordering::SeqCst);
        // If the look panics, dropping `self` withdraws the worker.
        if work_visible() {
            return Prepared::Work;
        }
        let mut stages = self.idle.lock();
        // Returning unlocks the mutex, then drops `self` unless `self` is returned.
        if stages.is_shut_down() {
            return Prepared::Shutdown;
        }
        if stages.is_awake(self.worker) {
            return Prepared::Work;
        }
        if commit(&mut stages, self.worker) { Prepared::Last(self) } else { Prepared::Park(self) }
    }
}

impl<'a> Scout<'a> {
    /// Looks for work once more, and commits if it finds none (2): the second half of [`Idle::prepare_park`].
    pub(crate) fn park_again(self, work_visible: impl FnOnce() -> bool) -> Prepared<'a> {
        self.0.commit(work_visible)
    }
}

impl Drop for Parking<'_> {
    /// Removes the worker from the list, unless a notification already has, and appoints a scout if one is missing.
    fn drop(&mut self) {
        let mut stages = self.idle.lock();
        self.idle.rouse(&mut stages, self.worker);
        self.idle.appoint(stages);
    }
}
