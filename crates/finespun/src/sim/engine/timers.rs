//! Timers: functions that are called at virtual times.
//!
//! A timer is an event of no worker. While its function is called, the workers that it rings are rung at the timer's time.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::time::Instant;

use super::{Engine, Event, Reason, picoseconds};
use crate::frame::quietly;

type Alarm = Box<dyn FnOnce() + Send>;

/// The functions that have not been called, by the numbers of their timers.
#[derive(Default)]
pub(super) struct Timers {
    alarms: RefCell<BTreeMap<u64, Alarm>>,
    /// The time of the timer whose function is called.
    firing: Cell<Option<u64>>,
}

impl Timers {
    /// Removes a timer, whose event is void then.
    pub(super) fn take(&self, number: u64) -> Option<Alarm> {
        self.alarms.borrow_mut().remove(&number)
    }

    /// Returns the time of the timer whose function is called, if one is.
    pub(super) fn firing(&self) -> Option<u64> {
        self.firing.get()
    }
}

impl Engine {
    /// Makes the event of a timer, for the current worker: at the worker's own time if the timer's has passed.
    pub(super) fn begin_timer(&self, number: u64, at: Instant, fire: Alarm) {
        let time = picoseconds(at.saturating_duration_since(self.origin)).max(self.clock());
        self.state.timers.alarms.borrow_mut().insert(number, fire);
        self.push_event(usize::MAX, time, number, Reason::Timer);
    }

    /// Calls the function of a timer whose time has come, unless it has been cancelled.
    pub(super) fn fire_timer(&self, event: Event) {
        let state = &self.state;
        let Some(alarm) = state.timers.take(event.token) else { return };
        self.count_event();
        state.now.set(state.now.get().max(event.time));
        state.timers.firing.set(Some(event.time));
        quietly(alarm);
        state.timers.firing.set(None);
    }
}
