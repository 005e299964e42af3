//! The idling protocol under loom. Work is published with Relaxed stores, so that only the protocol makes it visible.
//! loom's timed wait has no timeout, so the models show that nothing depends on one. A lost wake-up shows as a
//! deadlock.

use super::{Idle, Prepared, Wake};
use crate::{
    atomics::{Arc, AtomicUsize, Ordering, UnsafeCell, explore, thread},
    cancel::teams::Externals,
    sched::deque::{Deque, Steal},
};
use std::ptr::NonNull;

/// Workers, and a number of items, each of which any worker may take.
struct Pool {
    idle: Idle,
    items: AtomicUsize,
    taken: AtomicUsize,
    lasts: AtomicUsize,
    /// Whether woken workers postpone the appointment of a scout, and never make up for it.
    postpones: bool,
}

impl Pool {
    fn new(workers: usize) -> Arc<Self> {
        Self::with(workers, false)
    }

    fn with(workers: usize, postpones: bool) -> Arc<Self> {
        Arc::new(Self {
            idle: Idle::new(workers, None, None),
            items: AtomicUsize::new(0),
            taken: AtomicUsize::new(0),
            lasts: AtomicUsize::new(0),
            postpones,
        })
    }

    fn put(&self) {
        self.items.fetch_add(1, Ordering::Relaxed);
    }

    fn visible(&self) -> bool {
        self.items.load(Ordering::Relaxed) > 0
    }

    /// Looks before it takes: the look may be outdated, as a real one may.
    fn take(&self) -> bool {
        let mut items = self.items.load(Ordering::Relaxed);
        while items > 0 {
            let taken = self.items.compare_exchange(items, items - 1, Ordering::Relaxed, Ordering::Relaxed);
            match taken {
                Ok(_) => return true,
                Err(now) => items = now,
            }
        }
        false
    }

    /// Idles until work may be available. Returns false at shutdown.
    fn idle(&self, worker: usize) -> bool {
        let prepared = self.idle.prepare_park(worker, || self.visible());
        let parking = match prepared {
            Prepared::Work => return true,
            Prepared::Shutdown => return false,
            Prepared::Park(parking) => parking,
            Prepared::Last(parking) => {
                self.lasts.fetch_add(1, Ordering::Relaxed);
                parking
            }
        };
        match parking.park() {
            Wake::Work(parking) => {
                if self.postpones {
                    parking.postpone();
                }
                true
            }
            Wake::Shutdown => false,
            Wake::ScoutTimeout(_) | Wake::LookoutTimeout(_) => unreachable!("loom has no timeouts"),
        }
    }

    /// Works, and shuts the pool down when the last of `total` items is done.
    fn work(&self, worker: usize, total: usize) {
        loop {
            if self.take() {
                if self.taken.fetch_add(1, Ordering::Relaxed) + 1 == total {
                    self.idle.shutdown();
                }
            } else if !self.idle(worker) {
                return;
            }
        }
    }
}

fn start(pool: &Arc<Pool>, worker: usize, total: usize) -> thread::JoinHandle<()> {
    let pool = pool.clone();
    thread::spawn(move || pool.work(worker, total))
}

#[test]
fn one_worker_finds_one_item() {
    loom::model(|| {
        let pool = Pool::new(1);
        let worker = start(&pool, 0, 1);
        pool.put();
        pool.idle.notify_one();
        worker.join().unwrap();
    });
}

#[test]
fn one_worker_finds_two_items() {
    explore(5, || {
        let pool = Pool::new(1);
        let worker = start(&pool, 0, 2);
        for _ in 0..2 {
            pool.put();
            pool.idle.notify_one();
        }
        worker.join().unwrap();
    });
}

fn two_workers_find_two_items_if(postpones: bool) {
    explore(2, move || {
        let pool = Pool::with(2, postpones);
        let workers = [start(&pool, 0, 2), start(&pool, 1, 2)];
        for _ in 0..2 {
            pool.put();
            pool.idle.notify_one();
        }
        for worker in workers {
            worker.join().unwrap();
        }
    });
}

#[test]
fn two_workers_find_two_items() {
    two_workers_find_two_items_if(false);
}

#[test]
fn two_workers_find_two_items_without_a_scout() {
    two_workers_find_two_items_if(true);
}

#[test]
fn two_items_at_once_wake_two_workers() {
    explore(3, || {
        let pool = Pool::new(2);
        let meeting = Arc::new(AtomicUsize::new(0));
        let workers = [0, 1].map(|worker| {
            let (pool, meeting) = (pool.clone(), meeting.clone());
            thread::spawn(move || {
                while !pool.take() {
                    assert!(pool.idle(worker));
                }
                meeting.fetch_add(1, Ordering::Relaxed);
            })
        });
        pool.put();
        pool.put();
        pool.idle.notify(2);
        // Neither worker takes two items: both must wake, without the scout.
        for worker in workers {
            worker.join().unwrap();
        }
        assert_eq!(meeting.load(Ordering::Relaxed), 2);
    });
}

/// The item is for worker 0 alone; worker 1 may idle as well.
#[test]
fn a_worker_finds_the_item_meant_for_it() {
    explore(3, || {
        let pool = Pool::new(2);
        let worker = start(&pool, 0, 1);
        let other = {
            let pool = pool.clone();
            thread::spawn(move || {
                if let Prepared::Park(parking) | Prepared::Last(parking) = pool.idle.prepare_park(1, || false) {
                    assert!(matches!(parking.park(), Wake::Shutdown));
                }
            })
        };
        pool.put();
        pool.idle.notify_worker(0);
        worker.join().unwrap();
        other.join().unwrap();
    });
}

#[test]
fn shutdown_wakes_all() {
    explore(3, || {
        let pool = Pool::new(2);
        let workers = [start(&pool, 0, 1), start(&pool, 1, 1)];
        pool.idle.shutdown();
        for worker in workers {
            worker.join().unwrap();
        }
        assert!(!pool.idle.all_idle());
    });
}

/// Both workers put an item for any worker, then work and idle. Without producers from outside, `Prepared::Last` occurs
/// once, when all items are done.
#[test]
fn only_the_last_worker_to_idle_receives_last() {
    explore(3, || {
        let pool = Pool::new(2);
        let run = |worker: usize| {
            let pool = pool.clone();
            move || {
                pool.put();
                pool.idle.notify_one();
                loop {
                    if pool.take() {
                        pool.taken.fetch_add(1, Ordering::Relaxed);
                        continue;
                    }
                    match pool.idle.prepare_park(worker, || pool.visible()) {
                        Prepared::Work => {}
                        Prepared::Shutdown => return,
                        Prepared::Park(parking) => match parking.park() {
                            Wake::Work(_) => {}
                            Wake::Shutdown => return,
                            Wake::ScoutTimeout(_) | Wake::LookoutTimeout(_) => unreachable!("loom has no timeouts"),
                        },
                        Prepared::Last(parking) => {
                            assert_eq!(pool.taken.load(Ordering::Relaxed), 2);
                            assert_eq!(pool.lasts.fetch_add(1, Ordering::Relaxed), 0);
                            assert!(pool.idle.all_idle());
                            pool.idle.shutdown();
                            drop(parking);
                            return;
                        }
                    }
                }
            }
        };
        let other = thread::spawn(run(1));
        run(0)();
        other.join().unwrap();
        assert_eq!(pool.lasts.load(Ordering::Relaxed), 1);
    });
}

/// Runs as a visitor of some worker, if one is lent: takes an item, and parks the worker as a visitor does.
fn visit(pool: &Pool, states: &[UnsafeCell<u32>]) {
    let Some(lent) = pool.idle.lend(true) else { return };
    // SAFETY: the worker is lent, so its thread does not use its state; loom checks it.
    states[lent.worker()].with_mut(|state| unsafe { *state += 1 });
    if pool.take() && pool.taken.fetch_add(1, Ordering::Relaxed) == 0 {
        pool.idle.shutdown();
    }
    // SAFETY: as above.
    states[lent.worker()].with_mut(|state| unsafe { *state += 1 });
    let _ = lent.park(|| false, || pool.visible());
}

/// Like [`Pool::work`] for one item; uses the worker's state whenever the worker is awake.
fn work_with_state(pool: &Pool, worker: usize, states: &[UnsafeCell<u32>]) {
    loop {
        // SAFETY: an awake worker that is not lent is its thread's; loom checks it.
        states[worker].with_mut(|state| unsafe { *state += 1 });
        if pool.take() {
            pool.taken.fetch_add(1, Ordering::Relaxed);
            pool.idle.shutdown();
        } else if !pool.idle(worker) {
            // As a worker that ends does.
            // SAFETY: as above.
            states[worker].with_mut(|state| unsafe { *state += 1 });
            return;
        }
    }
}

struct Visited {
    pool: Arc<Pool>,
    states: [UnsafeCell<u32>; 2],
}

// SAFETY: the protocol gives each state one user at a time, which loom checks.
unsafe impl Sync for Visited {}
// SAFETY: as above.
unsafe impl Send for Visited {}

/// The visitor or the worker's thread takes the item, and never both use the worker.
#[test]
fn a_visitor_and_a_workers_thread_take_turns() {
    explore(3, || {
        let visited = Arc::new(Visited { pool: Pool::new(1), states: [UnsafeCell::new(0), UnsafeCell::new(0)] });
        let worker = {
            let visited = Arc::clone(&visited);
            thread::spawn(move || work_with_state(&visited.pool, 0, &visited.states))
        };
        let producer = {
            let visited = Arc::clone(&visited);
            thread::spawn(move || {
                visited.pool.put();
                visited.pool.idle.notify_one();
            })
        };
        visit(&visited.pool, &visited.states);
        producer.join().unwrap();
        worker.join().unwrap();
        assert_eq!(visited.pool.taken.load(Ordering::Relaxed), 1);
    });
}

/// The same with two workers, of which one may be the scout.
#[test]
fn a_visitor_of_two_workers_loses_no_item() {
    explore(2, || {
        let visited = Arc::new(Visited { pool: Pool::new(2), states: [UnsafeCell::new(0), UnsafeCell::new(0)] });
        let workers = [0, 1].map(|worker| {
            let visited = Arc::clone(&visited);
            thread::spawn(move || work_with_state(&visited.pool, worker, &visited.states))
        });
        visit(&visited.pool, &visited.states);
        visited.pool.put();
        visited.pool.idle.notify_one();
        for worker in workers {
            worker.join().unwrap();
        }
        assert_eq!(visited.pool.taken.load(Ordering::Relaxed), 1);
    });
}

/// The deque and the idling protocol together: an idle worker's look at a deque and the owner's push are the two sides
/// of the Dekker pattern.
#[test]
fn an_idle_thief_finds_a_pushed_item() {
    loom::model(|| {
        let shared = Arc::new((Deque::<u32>::with_capacity(2), Idle::new(1, None, None)));
        let thief = {
            let shared = shared.clone();
            thread::spawn(move || {
                let (deque, idle) = &*shared;
                while !matches!(deque.steal(), Steal::Success(_)) {
                    if let Prepared::Park(parking) | Prepared::Last(parking) =
                        idle.prepare_park(0, || !deque.is_empty())
                    {
                        assert!(matches!(parking.park(), Wake::Work(_)));
                    }
                }
            })
        };
        let (deque, idle) = &*shared;
        // SAFETY: the thief does not use the owner's end.
        let owner = unsafe { deque.owner() };
        owner.push(NonNull::dangling());
        idle.notify_one();
        thief.join().unwrap();
    });
}

/// The last external wait ends, and a deadlock must be looked for from then on: the last worker to idle sees that, or
/// is woken to look again.
#[test]
fn the_end_of_the_last_external_wait_is_noticed() {
    loom::model(|| {
        let idle = Arc::new(Idle::new(1, None, None));
        let externals = {
            let idle = idle.clone();
            Arc::new(Externals::new(move || idle.notify_one()))
        };
        externals.enter();
        let worker = {
            let (idle, externals) = (idle.clone(), externals.clone());
            thread::spawn(move || {
                loop {
                    if let Prepared::Last(parking) = idle.prepare_park(0, || false) {
                        if !externals.any() {
                            return;
                        }
                        assert!(matches!(parking.park(), Wake::Work(_)));
                    }
                }
            })
        };
        externals.leave();
        worker.join().unwrap();
    });
}

/// Workers that exchange messages over one of the transports.
macro_rules! rest {
    ($transport:ident, $rest:expr) => {
        mod $transport {
            use super::*;
            use crate::fabric::$transport::{Node, net};

            struct Senders {
                idle: Idle,
                nodes: Vec<Node<u32>>,
                /// Number of messages handled.
                handled: AtomicUsize,
                /// Number of times that quiescence was found.
                rests: AtomicUsize,
            }

            // SAFETY: each worker uses its own node, and only calls `waits` on others, as a team does with its hosts.
            unsafe impl Sync for Senders {}

            impl Senders {
                fn send(&self, from: usize, hops: u32) {
                    let to = 1 - from;
                    assert!(self.nodes[from].send(to, hops).is_ok(), "there is room");
                    self.idle.poke(to);
                }

                fn waits(&self, worker: usize) -> bool {
                    self.nodes[worker].waits()
                }

                /// Handles messages, each of which returns `hops` times, and idles as `Worker::idle` does, until
                /// quiescence.
                fn work(&self, worker: usize) {
                    let rest: fn(&Node<u32>) = $rest;
                    loop {
                        if let Some((_, hops)) = self.nodes[worker].receive() {
                            if hops > 0 {
                                self.send(worker, hops - 1);
                            }
                            self.handled.fetch_add(1, Ordering::Relaxed);
                            continue;
                        }
                        rest(&self.nodes[worker]);
                        let parking = match self.idle.prepare_park(worker, || self.waits(worker)) {
                            Prepared::Work => {
                                // The pending message may not be linked yet.
                                thread::yield_now();
                                continue;
                            }
                            Prepared::Shutdown => return,
                            Prepared::Park(parking) => parking,
                            Prepared::Last(parking) => {
                                // `Team::wake_for_messages` and `Team::look_for_deadlock`, in their order.
                                let waiting = (0..2).filter(|&other| self.waits(other));
                                waiting.for_each(|other| self.idle.notify_worker(other));
                                if self.idle.while_all_parked(|| !(0..2).any(|other| self.waits(other))) == Some(true) {
                                    self.rests.fetch_add(1, Ordering::Relaxed);
                                    self.idle.shutdown();
                                    return;
                                }
                                parking
                            }
                        };
                        match parking.park() {
                            Wake::Work(_) => {}
                            Wake::Shutdown => return,
                            Wake::ScoutTimeout(_) | Wake::LookoutTimeout(_) => unreachable!("loom has no timeouts"),
                        }
                    }
                }
            }

            /// A sender's look for parked receivers has no fence. Still, no worker stays parked while a message for it
            /// is pending, and quiescence is found when the last message has been handled, and not before.
            #[test]
            fn quiescence_is_found_when_no_message_is_in_flight() {
                explore(3, || {
                    let (handled, rests) = (AtomicUsize::new(0), AtomicUsize::new(0));
                    let senders =
                        Arc::new(Senders { idle: Idle::new(2, None, None), nodes: net(2, 2), handled, rests });
                    let other = {
                        let senders = Arc::clone(&senders);
                        thread::spawn(move || senders.work(1))
                    };
                    senders.send(0, 1);
                    senders.work(0);
                    other.join().unwrap();
                    assert_eq!(senders.handled.load(Ordering::Relaxed), 2, "quiescent with a message in flight");
                    assert!(senders.rests.load(Ordering::Relaxed) > 0);
                });
            }
        }
    };
}

rest!(push, |_| ());
rest!(pull, Node::rest);
