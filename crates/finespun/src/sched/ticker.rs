//! The quantum: a task that has run for long yields to others.
//!
//! Each runtime has a ticker thread, which sleeps while the runtime has no run. It falls asleep some ticks after the last run
//! has ended, so that short runs, one after the other, need not wake it. It ticks every half quantum and then
//! checks all workers. If it finds a worker in the same frame at three ticks in a row, it asks the worker to unwind its
//! stack to frames. While the roots of new runs wait, it ticks five times as often, and two ticks are enough: a short run is
//! served soon, and each run costs at most one more unwinding. The unwinding also makes branches of joins ready that have not begun, so a task that spins on its
//! sibling lets the sibling run.
//!
//! The thread also keeps the alarm of a stuck team, whose deadlock report must wait ([`deadlock`]).

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::deadlock;
use super::team::Team;
use crate::atomics::{Ordering, lock_std as lock};
use crate::frame::guard::Flags;
use crate::wait::foreign::mark_own_thread;

/// The channel from a team to its ticker.
#[derive(Default)]
pub(crate) struct Bell {
    state: Mutex<State>,
    rung: Condvar,
}

/// Number of short ticks in a tick.
const SHORT: u32 = 5;

/// Number of ticks without a run after which the ticker sleeps.
const LINGER: u32 = 8;

#[derive(Default)]
struct State {
    runs: usize,
    /// Whether the ticker sleeps until a run begins.
    asleep: bool,
    /// Number of ticks without a run.
    ticks_without_run: u32,
    shutdown: bool,
    /// The time at which the stuck team must be examined again.
    alarm: Option<Instant>,
}

impl Bell {
    /// Notes that a run begins.
    pub(crate) fn begin(&self) {
        let mut state = lock(&self.state);
        state.runs += 1;
        state.ticks_without_run = 0;
        if std::mem::take(&mut state.asleep) {
            self.rung.notify_one();
        }
    }

    /// Notes that a run has ended.
    pub(crate) fn end(&self) {
        lock(&self.state).runs -= 1;
    }

    /// Requests a deadlock examination at this time, instead of at the time of an earlier call.
    pub(crate) fn set_alarm(&self, at: Instant) {
        lock(&self.state).alarm = Some(at);
        self.rung.notify_one();
    }

    /// Ends the ticker: the team shuts down.
    pub(crate) fn shutdown(&self) {
        lock(&self.state).shutdown = true;
        self.rung.notify_one();
    }
}

/// Ticks until the team shuts down.
pub(crate) fn main(team: &Arc<Team>) {
    mark_own_thread();
    let pause = pause(team);
    let mut tick = ticks(team);
    let mut state = lock(&team.bell.state);
    loop {
        if state.shutdown {
            return;
        }
        if state.runs == 0 && (state.ticks_without_run >= LINGER || team.simulator.is_some()) {
            state.asleep = true;
            state = team.bell.rung.wait(state).unwrap_or_else(PoisonError::into_inner);
            continue;
        }
        let now = Instant::now();
        if state.alarm.take_if(|alarm| *alarm <= now).is_some() {
            drop(state);
            deadlock::examine();
            if team.peers.is_some() {
                // The woken worker looks again when it parks.
                team.idle.notify_one();
            }
            state = lock(&team.bell.state);
            continue;
        }
        // A simulated machine has its own ticks.
        if team.simulator.is_some() && state.alarm.is_none() {
            state.asleep = true;
            state = team.bell.rung.wait(state).unwrap_or_else(PoisonError::into_inner);
            continue;
        }
        let hurries = team.has_roots();
        let pause = if hurries { pause / SHORT } else { pause };
        let alarm = state.alarm.map(|alarm| alarm - now).filter(|&alarm| alarm < pause || team.simulator.is_some());
        let wait = alarm.unwrap_or(pause);
        let (woken, waited) = team.bell.rung.wait_timeout(state, wait).unwrap_or_else(PoisonError::into_inner);
        state = woken;
        if waited.timed_out() && alarm.is_none() {
            if state.runs == 0 {
                state.ticks_without_run += 1;
                continue;
            }
            drop(state);
            tick(hurries);
            state = lock(&team.bell.state);
        }
    }
}

/// Returns the time between two ticks.
pub(crate) fn pause(team: &Team) -> Duration {
    team.config.quantum / 2
}

/// Returns a function that ticks. Its argument says whether this is a short tick, since new runs wait.
pub(crate) fn ticks(team: &Arc<Team>) -> impl FnMut(bool) + use<> {
    let team = Arc::clone(team);
    let mut seen = vec![(u64::MAX, 0u32); team.workers.len()];
    move |hurries| {
        if team.peers.is_some() {
            // A worker that is busy with one task does not look for messages. On a simulated machine, it does.
            if team.simulator.is_none() {
                team.poll_peers();
            }
            for entry in team.workers.iter().filter(|entry| entry.host().waits()) {
                entry.request(Flags::STEAL);
            }
        }
        let (passed, most) = if hurries { (1, 1) } else { (SHORT, 2 * SHORT) };
        for (entry, (last, ticks)) in team.workers.iter().zip(&mut seen) {
            let now = entry.resumptions();
            // Relaxed: a hint.
            let busy = entry.running().load(Ordering::Relaxed) && now == *last;
            *ticks = if busy { *ticks + passed } else { 0 };
            *last = now;
            if *ticks >= most {
                *ticks = 0;
                entry.request(Flags::QUANTUM);
            }
        }
    }
}
