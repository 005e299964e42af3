//! A worker without work: asks running workers for some, waits for messages, and parks.

use std::hint;
use std::time::{Duration, Instant};

use super::{MESSAGES, RETRY, Worker};
use crate::atomics::Ordering;
use crate::frame::guard::Flags;
use crate::sched::park::{Prepared, Wake};
use crate::sim::Waited;

/// Number of rounds that a worker which exchanges messages polls for a message before it steals or idles: about a
/// microsecond.
const LISTEN: u32 = 10;
/// Number of further rounds, each of which begins by yielding the core: some microseconds.
const LISTEN_AND_YIELD: u32 = 8;

/// Number of failed attempts to send after which a worker yields its core: some microseconds.
const STUCK: u32 = 64;

/// Time that a simulated worker which exchanges messages waits for a message before it steals or idles.
const SIMULATED_LISTEN: Duration = Duration::from_micros(2);

/// Time that a worker which has just run out of work spins before it parks.
const SPIN: Duration = Duration::from_micros(20);
/// The same for a worker to which other processes send messages: as long as a wake-up takes.
const SPIN_WITH_PEERS: Duration = Duration::from_micros(50);
/// The same if messages of other processes must be carried here, which takes longer.
const SPIN_FAR: Duration = Duration::from_micros(100);
/// Number of times that one worker of a team, the eager one, asks and spins before it parks: about as long as a wake-up by a
/// timeout takes.
const EAGER: u32 = 8;
/// Time that the scout spins after it has asked: half a per cent of its longest timeout.
const SCOUT_SPIN: Duration = Duration::from_micros(5);

impl Worker<'_> {
    /// Asks running workers with an empty deque to promote, and those with pending messages to handle them. Returns
    /// whether it asked any.
    fn ask(&self) -> bool {
        let mut asked = false;
        self.victims_from.set(self.random());
        let all = self.team.workers.len();
        let most = self.simulator.map_or(all, |simulator| simulator.victims());
        // Relaxed: a hint; a late request trips one guard check in vain.
        let running = self.others_of(all).filter(|(_, entry)| entry.running().load(Ordering::Relaxed));
        for (index, entry) in running.take(most) {
            if entry.deque.is_empty() || entry.host().waits() {
                if let Some(simulator) = self.simulator {
                    simulator.access(index);
                }
                entry.request(Flags::STEAL);
                asked = true;
            }
        }
        asked
    }

    /// Asks running workers for work, and spins briefly for answers. Returns whether work is visible, or sends must be
    /// retried.
    pub(super) fn look_around(&self) -> bool {
        self.check_simulation();
        self.entry.host().rest();
        if self.entry.host().is_stuck() {
            if self.team.idle.is_shut_down() || self.team.is_cut_off() {
                return false;
            }
            // The receiver may need this core.
            let turns = self.stuck.get().wrapping_add(1);
            self.stuck.set(turns);
            match self.simulator {
                Some(simulator) => drop(simulator.wait(Some(RETRY))),
                None if turns.is_multiple_of(STUCK) => {
                    self.nudge();
                    std::thread::yield_now();
                }
                None => {}
            }
            return true;
        }
        if let Some(simulator) = self.simulator.filter(|_| self.team.peers.as_ref().is_some_and(|peers| peers.holds()))
        {
            if self.team.idle.is_shut_down() || self.team.is_cut_off() {
                return false;
            }
            // What makes room takes virtual time.
            simulator.wait(Some(RETRY));
            return true;
        }
        let spin = match &self.team.peers {
            None if self.team.workers.len() == 1 => return false,
            None => SPIN,
            Some(peers) if peers.carries() => {
                // Requests to other hosts are messages: first waits for what is under way.
                if self.look(if peers.has_near() { SPIN } else { SPIN_FAR }) {
                    return true;
                }
                SPIN_FAR
            }
            Some(_) => SPIN_WITH_PEERS,
        };
        let mut eager = None;
        for _ in 0..EAGER {
            self.context().counters.failed_steals.add(1);
            let asked = self.ask();
            if !asked {
                self.beg();
            }
            self.nudge();
            if self.look_for(spin, !asked) {
                return true;
            }
            if self.simulator.is_some() || self.team.peers.is_some() {
                return false;
            }
            if eager.is_none() {
                eager = self.team.idle.be_eager();
                if eager.is_none() {
                    return false;
                }
            }
        }
        false
    }

    /// Polls briefly for an answer if the worker exchanges messages, without touching other workers' deques. Returns
    /// whether it handled or sent a message, or the inbox has a frame.
    pub(super) fn listen(&self) -> bool {
        self.talks.get() && self.listen_now()
    }

    /// Out of line, so that the loop that runs frames keeps its registers.
    #[inline(never)]
    fn listen_now(&self) -> bool {
        let carries = self.team.peers.as_ref().filter(|peers| peers.carries());
        // An answer from another host takes longer: see `look_around`.
        if carries.is_some_and(|peers| !peers.has_near()) {
            return false;
        }
        if let Some(simulator) = self.simulator {
            self.talks.set(false);
            return simulator.wait(Some(SIMULATED_LISTEN)) == Waited::Arrived && self.handle(MESSAGES);
        }
        for round in 0..LISTEN + LISTEN_AND_YIELD {
            if round >= LISTEN {
                // The worker that this one waits for may need this core: the system often wakes a worker on the core of the
                // one that has notified it.
                std::thread::yield_now();
            }
            if let Some(peers) = carries {
                peers.send_waiting();
            }
            // One `spin_loop` may take as long as the answer: polls several times before each.
            for _ in 0..8 {
                if self.entry.host().any() {
                    return self.handle(MESSAGES);
                }
            }
            if !self.entry.inbox.is_empty() {
                return true;
            }
            hint::spin_loop();
        }
        self.talks.set(false);
        false
    }

    /// Returns whether a message or an inbox frame waits for this worker, which no other worker can take.
    pub(super) fn addressed(&self) -> bool {
        let entry = self.entry;
        // Messages to a process that has died wait for ever.
        let any = entry.host().any() && !(entry.host().is_stuck() && self.team.is_cut_off());
        any || !entry.inbox.is_empty() || self.team.peers_wait()
    }

    /// Spins for `spin`, or until work is visible. Returns whether it is.
    fn look(&self, spin: Duration) -> bool {
        self.look_for(spin, false)
    }

    /// Does the same. With `begins`, also returns true when another worker begins to run, which can then be asked.
    fn look_for(&self, spin: Duration, begins: bool) -> bool {
        if let Some(simulator) = self.simulator {
            let until = simulator.now() + spin;
            loop {
                let visible =
                    || self.team.injected_visible() || self.others().any(|(_, entry)| !entry.deque.is_empty());
                if self.addressed() || visible() {
                    return true;
                }
                if simulator.now() >= until {
                    return false;
                }
                simulator.wait(Some(spin / 8));
            }
        }
        let start = Instant::now();
        while start.elapsed() < spin {
            // Polls mostly this worker's own state: frequent reads of the other workers' state would slow them down.
            for _ in 0..32 {
                if self.addressed() {
                    return true;
                }
                hint::spin_loop();
            }
            if self.team.work_visible() || self.visit_over() || begins && self.others_run() {
                return true;
            }
            if self.team.nodes_in_use() {
                // As in `listen_now`.
                std::thread::yield_now();
            }
        }
        false
    }

    /// Returns whether another worker runs a frame.
    fn others_run(&self) -> bool {
        // Relaxed: a hint.
        self.others().any(|(_, entry)| entry.running().load(Ordering::Relaxed))
    }

    /// Returns whether the run of the visitor that uses this worker, if any, has ended.
    fn visit_over(&self) -> bool {
        #[cfg(feature = "visits")]
        // SAFETY: the visitor keeps its run while it uses the worker.
        let over = self.visitor.get().is_some_and(|run| !unsafe { run.as_ref() }.is_live());
        #[cfg(not(feature = "visits"))]
        let over = false;
        over
    }

    /// Wakes the receivers of messages. On a simulated machine, a message wakes its receiver when it arrives.
    pub(super) fn wake_for_messages(&self) {
        if self.simulator.is_none() {
            self.team.wake_for_messages();
        }
    }

    /// Parks until work may be available. Returns false at shutdown.
    pub(super) fn idle(&self) -> bool {
        let team = &**self.team;
        self.cx.leave_run();
        if self.entry.host().is_stuck() && team.idle.is_shut_down() {
            // The receivers may have ended, and all runs have: the messages are dropped with the mailbox.
            return false;
        }
        // A sender in another process relies on it: see `cluster/bells.rs`.
        let expects = || team.peers.is_some() && team.waits_for(self.index);
        let visible = || self.work_visible() || self.sweep_due() || expects();
        let mut prepared = team.idle.prepare_park(self.index, visible);
        loop {
            let parking = match prepared {
                Prepared::Work => {
                    if expects() && !self.addressed() {
                        // The sender, which is writing the message, may need this core.
                        std::thread::yield_now();
                    }
                    return true;
                }
                Prepared::Shutdown => return false,
                Prepared::Park(parking) => {
                    if !parking.asks() {
                        self.stop_begging();
                    }
                    parking
                }
                Prepared::Last(parking) => {
                    self.wake_for_messages();
                    if team.look_for_deadlock() {
                        return true;
                    }
                    parking
                }
            };
            self.context().counters.parks.add(1);
            let woken = parking.park();
            // Visitors have used other stacks.
            #[cfg(feature = "visits")]
            self.context().front.guard.set_limit(self.stack_limit);
            match woken {
                Wake::Work(parking) => {
                    // Otherwise the scout may have more to find than what this worker runs first.
                    let alone = self.simulator.is_none() && team.peers.is_none() && !self.addressed();
                    if alone && parking.postpone() {
                        self.entry.request(Flags::SCOUT);
                    }
                    if let Some(ringer) = self.simulator.and_then(|simulator| simulator.rung_by()) {
                        // With few victims per search, a random one rarely has work while few workers are busy.
                        self.victims_from.set(ringer as u64);
                    }
                    return true;
                }
                Wake::Shutdown => return false,
                Wake::LookoutTimeout(parking) => {
                    self.nudge();
                    if self.beg() && self.look(SPIN) {
                        return true;
                    }
                    prepared = Prepared::Park(parking);
                }
                Wake::ScoutTimeout(scout) => {
                    self.check_simulation();
                    self.wake_for_messages();
                    // Both: the workers of this process may have nothing to share.
                    if self.ask() | self.beg() {
                        // An answer takes a microsecond or two; waking this thread for it would take fifty.
                        self.look(SCOUT_SPIN);
                    }
                    prepared = scout.park_again(visible);
                }
            }
        }
    }
}
