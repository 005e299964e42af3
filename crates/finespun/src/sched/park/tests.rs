//! Random walks through the stages, and the whole protocol with real threads and timeouts.

use super::{Idle, Prepared, SCOUT_TIMEOUT_MAX, SCOUT_TIMEOUT_MIN, Stages, Wake};
use std::{
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
    thread,
    time::{Duration, Instant},
};

/// Marsaglia's xorshift: a reproducible sequence without a dependency.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound as u64) as usize
    }
}

/// The position of a worker's own thread, which `Stages` does not know.
#[derive(Clone, Copy, PartialEq)]
enum Thread {
    Running,
    Looking,
    Waiting,
}

/// Lets workers, notifiers and timeouts take random turns; the invariants hold after each turn.
#[test]
fn stages_keep_their_invariants() {
    for seed in 1..=500 {
        let mut random = Random(seed);
        let workers = 1 + random.below(5);
        let mut stages = Stages::new(workers);
        let mut threads = vec![Thread::Running; workers];

        for _ in 0..400 {
            let worker = random.below(workers);
            match (threads[worker], random.below(4)) {
                (Thread::Running, _) => {
                    stages.announce(worker);
                    threads[worker] = Thread::Looking;
                }
                // The look found work, or the worker was notified in between.
                (Thread::Looking, 0) => {
                    stages.rouse(worker);
                    stages.appoint_scout();
                    threads[worker] = Thread::Running;
                }
                (Thread::Looking, _) if stages.is_awake(worker) => {
                    stages.appoint_scout();
                    threads[worker] = Thread::Running;
                }
                (Thread::Looking, _) => {
                    let last = stages.commit(worker);
                    assert_eq!(last, stages.all_parked());
                    threads[worker] = Thread::Waiting;
                }
                (Thread::Waiting, _) if stages.is_awake(worker) => {
                    stages.appoint_scout();
                    threads[worker] = Thread::Running;
                }
                (Thread::Waiting, 0) => {
                    if let Some(chosen) = stages.choose() {
                        assert!(stages.rouse(chosen));
                    } else {
                        assert_eq!(stages.sleepers(), 0);
                    }
                }
                (Thread::Waiting, 1) => {
                    if stages.timeout_of(worker).is_some() && stages.time_out(worker) {
                        threads[worker] = Thread::Looking;
                    }
                }
                (Thread::Waiting, _) => {}
            }
            let left = |worker: usize| threads[worker] != Thread::Running;
            let leaving = (0..workers).any(|w| stages.is_awake(w) && left(w));
            stages.check(leaving);
        }
    }
}

#[test]
fn the_scout_timeout_doubles_and_is_reset_when_work_is_found() {
    let mut stages = Stages::new(3);
    stages.announce(0);
    assert!(!stages.commit(0));
    let mut expected = SCOUT_TIMEOUT_MIN;
    for _ in 0..10 {
        assert_eq!(stages.timeout_of(0), Some(expected));
        assert!(stages.time_out(0));
        stages.commit(0);
        expected = (expected * 2).min(SCOUT_TIMEOUT_MAX);
    }
    assert_eq!(expected, SCOUT_TIMEOUT_MAX);

    stages.announce(1);
    assert!(!stages.commit(1));
    assert_eq!(stages.timeout_of(1), None);
    assert_eq!(stages.choose(), Some(1), "the scout is woken last");
    stages.rouse(0);
    assert_eq!(stages.appoint_scout(), Some(1));
    assert_eq!(stages.timeout_of(1), Some(Duration::ZERO), "a new scout asks at once");
    assert!(stages.time_out(1));
    stages.commit(1);
    assert_eq!(stages.timeout_of(1), Some(SCOUT_TIMEOUT_MIN));
}

#[test]
fn no_worker_scouts_while_all_are_parked() {
    let mut stages = Stages::new(2);
    for worker in 0..2 {
        stages.announce(worker);
        assert_eq!(stages.commit(worker), worker == 1);
    }
    assert_eq!((stages.timeout_of(0), stages.timeout_of(1)), (None, None));
    assert!(!stages.time_out(0));
}

/// Workers and a count of items, for tests with threads.
struct Pool {
    idle: Idle,
    items: AtomicUsize,
    done: AtomicUsize,
    asked: AtomicUsize,
    lasts: AtomicUsize,
    busy: AtomicBool,
}

impl Pool {
    fn new(workers: usize) -> Self {
        Self {
            idle: Idle::new(workers, None, None),
            items: AtomicUsize::new(0),
            done: AtomicUsize::new(0),
            asked: AtomicUsize::new(0),
            lasts: AtomicUsize::new(0),
            busy: AtomicBool::new(false),
        }
    }

    fn put(&self) {
        self.items.fetch_add(1, Ordering::Release);
        self.idle.notify_one();
    }

    fn take(&self) -> bool {
        let less = |items: usize| items.checked_sub(1);
        self.items.fetch_update(Ordering::AcqRel, Ordering::Acquire, less).is_ok()
    }

    fn visible(&self) -> bool {
        self.items.load(Ordering::Acquire) > 0
    }

    /// Runs the worker's loop that the documentation of `park.rs` shows.
    fn work(&self, worker: usize) {
        loop {
            while self.take() {
                while self.busy.load(Ordering::Acquire) {
                    thread::yield_now();
                }
                self.done.fetch_add(1, Ordering::Release);
            }
            let mut prepared = self.idle.prepare_park(worker, || self.visible());
            loop {
                let parking = match prepared {
                    Prepared::Work => break,
                    Prepared::Shutdown => return,
                    Prepared::Park(parking) => parking,
                    Prepared::Last(parking) => {
                        self.lasts.fetch_add(1, Ordering::Release);
                        parking
                    }
                };
                match parking.park() {
                    Wake::Work(_) => break,
                    Wake::Shutdown => return,
                    Wake::ScoutTimeout(scout) => {
                        self.asked.fetch_add(1, Ordering::Release);
                        prepared = scout.park_again(|| self.visible());
                    }
                    Wake::LookoutTimeout(_) => unreachable!("there is one process"),
                }
            }
        }
    }

    fn run(&self, workers: usize, test: impl FnOnce()) {
        /// Shuts the pool down if the test fails, so that it does not hang.
        struct Shutdown<'a>(&'a Idle);
        impl Drop for Shutdown<'_> {
            fn drop(&mut self) {
                self.0.shutdown();
            }
        }
        thread::scope(|scope| {
            for worker in 0..workers {
                scope.spawn(move || self.work(worker));
            }
            let _shutdown = Shutdown(&self.idle);
            test();
        });
        assert!(!self.idle.all_idle() && !self.idle.anyone_idle());
    }

    fn wait_until(&self, reached: impl Fn(&Self) -> bool) {
        let start = Instant::now();
        while !reached(self) {
            assert!(start.elapsed() < Duration::from_secs(60), "hangs");
            thread::yield_now();
        }
    }
}

#[test]
fn stress_every_item_is_done() {
    for workers in 1..=4 {
        let pool = Pool::new(workers);
        let mut random = Random(workers as u64);
        pool.run(workers, || {
            let mut put = 0;
            for _ in 0..1000 {
                for _ in 0..=random.below(3) {
                    pool.put();
                    put += 1;
                }
                // Sometimes waits until all items are done, so that some workers park, or all do.
                match random.below(3) {
                    0 => pool.wait_until(|pool| pool.done.load(Ordering::Acquire) == put),
                    1 => pool.wait_until(|pool| pool.idle.all_idle()),
                    _ => {}
                }
            }
            pool.wait_until(|pool| pool.done.load(Ordering::Acquire) == put);
        });
    }
}

#[test]
fn one_scout_asks_while_a_worker_runs_and_none_asks_otherwise() {
    let pool = Pool::new(3);
    pool.run(3, || {
        pool.wait_until(|pool| pool.idle.all_idle());
        // A former scout may still be in its last timed wait, or without a processor; after that no worker asks.
        pool.wait_until(|pool| {
            let asked = pool.asked.load(Ordering::Acquire);
            thread::sleep(20 * SCOUT_TIMEOUT_MAX);
            pool.asked.load(Ordering::Acquire) == asked
        });
        let asked = pool.asked.load(Ordering::Acquire);

        // The woken worker appoints one of the workers that wait without a timeout.
        pool.busy.store(true, Ordering::Release);
        pool.put();
        pool.wait_until(|pool| pool.asked.load(Ordering::Acquire) >= asked + 10);
        // Another worker is woken; the third is the scout or becomes it.
        pool.put();
        pool.wait_until(|pool| pool.asked.load(Ordering::Acquire) >= asked + 20);
        pool.busy.store(false, Ordering::Release);
        // Counted once the last worker has seen that it is the last.
        pool.wait_until(|pool| pool.idle.all_idle() && pool.lasts.load(Ordering::Acquire) >= 2);
    });
}

#[test]
fn a_scout_that_finds_work_leaves_a_successor() {
    let idle = Idle::new(3, None, None);
    thread::scope(|scope| {
        let park = |worker| match idle.prepare_park(worker, || false) {
            Prepared::Park(parking) => parking.park(),
            other => panic!("{other:?}"),
        };
        let first = park(0);
        assert!(matches!(first, Wake::ScoutTimeout(_)));
        // While the scout is awake, it remains the scout: worker 1 waits without a timeout.
        let second = scope.spawn(move || matches!(park(1), Wake::ScoutTimeout(_)));
        let start = Instant::now();
        while idle.lock().sleepers() < 2 || start.elapsed() < 3 * SCOUT_TIMEOUT_MAX {
            thread::yield_now();
        }
        assert!(!second.is_finished());
        drop(first);
        assert!(second.join().unwrap());
    });
}

#[test]
fn a_woken_worker_may_postpone_the_appointment_of_a_scout() {
    let idle = Idle::new(3, None, None);
    let park = |worker| match idle.prepare_park(worker, || false) {
        Prepared::Park(parking) | Prepared::Last(parking) => parking,
        other => panic!("{other:?}"),
    };
    let woken_of_all = || {
        let parked = [0, 1, 2].map(park);
        idle.notify_one();
        let [first, second, third] = parked;
        let Wake::Work(woken) = third.park() else { panic!("not woken") };
        assert!(woken.postpone());
        assert!((0..3).all(|worker| idle.lock().timeout_of(worker).is_none()));
        (first, second)
    };
    let (first, second) = woken_of_all();
    idle.appoint_scout();
    assert_eq!(idle.lock().timeout_of(1), Some(Duration::ZERO));
    assert!(matches!(second.park(), Wake::ScoutTimeout(_)));
    drop(first);

    // A worker that parks meanwhile becomes the scout, and nothing is left to appoint.
    let (first, second) = woken_of_all();
    idle.notify_one();
    let Wake::Work(woken) = second.park() else { panic!("not woken") };
    assert!(woken.postpone());
    let second = park(1);
    assert_eq!(idle.lock().timeout_of(1), Some(SCOUT_TIMEOUT_MIN));
    idle.appoint_scout();
    assert_eq!(idle.lock().timeout_of(0), None);
    assert!(matches!(second.park(), Wake::ScoutTimeout(_)));
    drop(first);

    // None is needed while all are parked.
    let (first, second) = woken_of_all();
    let third = park(2);
    idle.appoint_scout();
    assert!((0..3).all(|worker| idle.lock().timeout_of(worker).is_none()));
    drop((first, second, third));
}

#[test]
fn a_panic_in_work_visible_withdraws_the_worker() {
    let idle = Idle::new(2, None, None);
    let look = || idle.prepare_park(0, || panic!("look"));
    let unwound = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| drop(look())));
    assert!(unwound.is_err());
    assert!(!idle.anyone_idle());
}

#[test]
fn each_notification_wakes_one_worker() {
    let idle = Idle::new(2, None, None);
    let Prepared::Park(first) = idle.prepare_park(0, || false) else {
        panic!("worker 1 is awake");
    };
    let Prepared::Last(second) = idle.prepare_park(1, || false) else {
        panic!("both are parked");
    };
    idle.notify_worker(0);
    assert!(idle.anyone_idle() && !idle.all_idle());
    idle.notify_one();
    assert!(!idle.anyone_idle());
    assert!(matches!(first.park(), Wake::Work(_)));
    assert!(matches!(second.park(), Wake::Work(_)));
}
