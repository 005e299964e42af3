//! Groups on the stack: the group to which running code belongs.
//!
//! A construct begins its group by a record on the stack ([`Begun`]), which costs a few stores. The group is
//! *unregistered* at first. It gets a number, and with the number a record that other threads can see, when the first
//! frame is made beneath it; so do the unregistered groups around it, further out on the same stack. If all its
//! activities end on the stack, the group is never registered, and the construct is just a loop.

use std::cell::Cell;
use std::ptr;

use super::release;
use crate::cancel::groups::Group;
use crate::frame::context::{Cx, try_cx};
use crate::frame::guard::Flags;
use crate::frame::number::{GROUP, NOTHING};

/// In place of a number: the group is unregistered. It has begun on this stack and has no number, since no frame has
/// been made beneath it.
pub(super) const UNREGISTERED: u32 = u32::MAX - 1;

/// A group that has begun on this stack. Stored on the stack itself, while the group's activities are called from
/// there.
pub(crate) struct Begun {
    /// The number of the enclosing group or run; [`UNREGISTERED`] if that was unregistered when this group began.
    outer: Cell<u32>,
    /// The innermost enclosing group that has begun on this stack.
    above: Cell<*const Begun>,
    number: Cell<u32>,
    /// The group's record if it is registered; else the record of the innermost enclosing group that has one.
    record: Cell<*const Group>,
    activities: u64,
}

impl Begun {
    /// Creates a group of `activities` activities, to be begun.
    #[inline(always)]
    pub(crate) fn new(activities: u64) -> Begun {
        Begun {
            outer: Cell::new(NOTHING),
            above: Cell::new(ptr::null()),
            number: Cell::new(UNREGISTERED),
            record: Cell::new(ptr::null()),
            activities,
        }
    }
}

/// A guard: while it lives, the code that runs belongs to another group, or to none. Dropping it restores the previous
/// group.
///
/// A guard and not a pair of calls, because activities may unwind.
pub(crate) struct Inside<'a> {
    cx: Cx,
    /// The group that has begun here, unless a frame has taken it over.
    begun: Option<&'a Begun>,
    outer: u32,
    record: *const Group,
    above: *const Begun,
}

impl Inside<'_> {
    /// Registers the group that has begun here, and returns its number. Called when a frame takes over the group: the
    /// guard's drop then does not end it.
    pub(crate) fn leave(mut self) -> u32 {
        let number = self.cx.group();
        self.begun = None;
        number
    }
}

impl Drop for Inside<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        let context = self.cx.context();
        let (mut outer, mut record) = (self.outer, self.record);
        if outer == UNREGISTERED {
            // SAFETY: `above` points to a `Begun` further out on this stack, which outlives this guard.
            let above = unsafe { &*self.above };
            (outer, record) = (above.number.get(), above.record.get());
        }
        context.group.set(outer);
        context.record.set(record);
        context.begun.set(self.above);
        if let Some(begun) = self.begun
            && begun.number.get() != UNREGISTERED
        {
            self.cx.end_group(begun.number.get());
        }
    }
}

/// The groups of a stack on top of which other code runs.
#[must_use = "the groups have to be resumed"]
pub(crate) struct Paused {
    group: u32,
    begun: *const Begun,
}

impl Cx {
    /// Returns the number that new frames get: of the innermost group, or of the run. Registers the group if it is
    /// unregistered.
    #[inline]
    pub(crate) fn group(self) -> u32 {
        match self.context().group.get() {
            UNREGISTERED => self.number_groups(),
            number => number,
        }
    }

    /// Returns whether the code that runs belongs to a task.
    pub(crate) fn is_in_task(self) -> bool {
        self.context().group.get() != NOTHING
    }

    /// Returns whether this code runs in a group.
    pub(crate) fn is_in_group(self) -> bool {
        let group = self.context().group.get();
        group == UNREGISTERED || group & GROUP != 0
    }

    /// Registers the unregistered groups that have begun on this stack. Returns the number of the innermost.
    #[cold]
    #[inline(never)]
    fn number_groups(self) -> u32 {
        let context = self.context();
        let mut unregistered = Vec::new();
        let mut next = context.begun.get();
        let mut number = UNREGISTERED;
        while number == UNREGISTERED {
            // SAFETY: `next` points to a `Begun` on this stack, which has not ended. It is not null: the walk stops at
            // the outermost unregistered group, whose `outer` is a number.
            let begun = unsafe { &*next };
            unregistered.push(begun);
            number = begun.outer.get();
            next = begun.above.get();
        }
        for begun in unregistered.into_iter().rev() {
            number = context.team().begin_group(number, context.run.get(), begun.activities);
            begun.number.set(number);
            begun.record.set(context.team().groups().get(number));
            context.record.set(begun.record.get());
        }
        context.group.set(number);
        number
    }

    /// Begins a group on this stack. The code that runs belongs to it until the returned guard is dropped.
    #[inline(always)]
    pub(crate) fn begin_group(self, begun: &Begun) -> Inside<'_> {
        let context = self.context();
        let (outer, record, above) = (context.group.get(), context.record.get(), context.begun.get());
        begun.outer.set(outer);
        begun.above.set(above);
        begun.record.set(record);
        context.begun.set(begun);
        context.group.set(UNREGISTERED);
        Inside { cx: self, begun: Some(begun), outer, record, above }
    }

    /// Enters a registered group, until the returned guard is dropped. The guard does not end the group.
    pub(crate) fn enter_group(self, number: u32) -> Inside<'static> {
        let context = self.context();
        let (outer, record) = (context.group.get(), context.record.get());
        context.group.set(number);
        context.record.set(context.team().groups().get(number));
        Inside { cx: self, begun: None, outer, record, above: context.begun.get() }
    }

    /// Calls `body` in the current run but outside any group: no group waits for frames that `body` makes.
    #[inline]
    pub(crate) fn in_run<T>(self, body: impl FnOnce() -> T) -> T {
        if !self.is_in_group() {
            return body();
        }
        let context = self.context();
        let inside = Inside {
            cx: self,
            begun: None,
            outer: context.group.replace(context.run.get()),
            record: context.record.replace(ptr::null()),
            above: context.begun.get(),
        };
        let value = body();
        drop(inside);
        if self.is_terminated() {
            // A guard check in `body` may have consumed a cancellation request for the group: repeat the request.
            context.front.guard.request(Flags::CANCEL);
        }
        value
    }

    /// Leaves the current task until the returned guard is dropped: for cloning or dropping the program's values while
    /// the runtime handles messages. The context keeps the state of the last run, since the next frame that runs enters
    /// its own run, which is usually the same.
    pub(crate) fn leave_tasks(self) -> Inside<'static> {
        let context = self.context();
        Inside {
            cx: self,
            begun: None,
            outer: context.group.replace(NOTHING),
            record: context.record.replace(ptr::null()),
            above: context.begun.get(),
        }
    }

    /// Ends a registered group.
    #[cold]
    pub(crate) fn end_group(self, number: u32) {
        let team = self.context().team();
        if let Some((run, uses)) = release::end_group(team.groups(), number) {
            team.shared_group_ended(run, number, uses);
        }
    }

    /// Terminates a group. Returns true for the first caller.
    #[cold]
    pub(crate) fn terminate_group(self, number: u32) -> bool {
        self.context().team().terminate(number)
    }

    /// Enters `group`, before a frame of that group or run is run here. Returns whether the group has been terminated.
    #[inline]
    pub(crate) fn enter_frame(self, group: u32) -> bool {
        debug_assert!(self.of_team(group), "a frame of another team, or freed: its group is {group:#x}");
        let context = self.context();
        if (context.group.get() != group || group & GROUP != 0) && !self.find_group(group) {
            assert!(group & GROUP != 0, "a run outlives its frames");
            // A forged message has left a frame in a group that has ended since: the frame is destroyed.
            self.leave_run();
            return true;
        }
        self.is_terminated()
    }

    /// Enters `group`, a group or run, if its run has not ended. Returns whether it was entered and has not been
    /// terminated. A group must not have ended.
    pub(crate) fn try_enter(self, group: u32) -> bool {
        let entered = self.context().group.get() == group && group & GROUP == 0;
        (entered || self.find_group(group)) && !self.is_terminated()
    }

    /// Enters a group or run. Returns false, and changes nothing, if the run has ended.
    fn find_group(self, number: u32) -> bool {
        let context = self.context();
        let (record, run) = if number & GROUP != 0 {
            let record = context.team().groups().get(number);
            (ptr::from_ref(record), record.run())
        } else {
            (ptr::null(), number)
        };
        if context.run.get() != run {
            let Some(found) = context.team().find_run(run) else { return false };
            context.run.set(run);
            // SAFETY: only this thread accesses the field, and no reference to it outlives a statement.
            let before = unsafe { (*context.run_state.get()).replace(found) };
            context.group.set(number);
            context.record.set(record);
            if before.is_some() {
                // The last reference to a run may drop a panic's payload: user code, which belongs to no task.
                let left = self.leave_tasks();
                drop(before);
                drop(left);
            }
            return true;
        }
        context.group.set(number);
        context.record.set(record);
        true
    }

    /// Returns whether `number` names the current run, or a group in it.
    pub(crate) fn is_in_run_of(self, number: u32) -> bool {
        self.of_team(number) && self.context().team().groups().is_of(number, self.run())
    }

    /// Sets the groups of this stack aside, so that other code can run on top of it. Registers the unregistered ones.
    /// [`resume_groups`](Cx::resume_groups) must follow.
    pub(crate) fn pause_groups(self) -> Paused {
        let group = self.group();
        Paused { group, begun: self.context().begun.replace(ptr::null()) }
    }

    /// Returns whether the current run has been cancelled.
    pub(crate) fn is_run_cancelled(self) -> bool {
        // SAFETY: as in `current_run`.
        let run = unsafe { &*self.context().run_state.get() };
        run.as_ref().is_some_and(|run| run.is_cancelled())
    }

    /// Restores the groups of this stack, after the code on top of it has ended. Returns whether the current group has
    /// been terminated.
    pub(crate) fn resume_groups(self, paused: Paused) -> bool {
        self.context().begun.set(paused.begun);
        if paused.group == NOTHING {
            self.leave_run();
            return false;
        }
        self.enter_frame(paused.group)
    }

    /// Returns whether the current group, or a group around it, has a record. If not, the code belongs to no registered
    /// group.
    #[inline]
    pub(crate) fn has_record(self) -> bool {
        !self.context().record.get().is_null()
    }

    /// Returns whether the current group, or one around it, has been terminated, or the run cancelled.
    #[inline]
    pub(crate) fn is_terminated(self) -> bool {
        if self.has_record() {
            return self.group_is_terminated();
        }
        // SAFETY: as in `current_run`.
        let run = unsafe { &*self.context().run_state.get() };
        run.as_ref().is_some_and(|run| run.is_cancelled())
    }

    #[inline(never)]
    fn group_is_terminated(self) -> bool {
        let context = self.context();
        let team = context.team();
        // SAFETY: a record lives as long as its team, and the group of this record has not ended.
        let record = unsafe { &*context.record.get() };
        team.groups().is_terminated(record, |run| team.run_cancelled(run))
    }

    /// Releases the current run's state: the worker is between frames.
    pub(crate) fn leave_run(self) {
        let context = self.context();
        context.group.set(NOTHING);
        context.record.set(ptr::null());
        context.run.set(NOTHING);
        // SAFETY: as in `current_run`.
        let before = unsafe { (*context.run_state.get()).take() };
        // The last reference to a run may drop a panic's payload: user code, which runs outside any task.
        drop(before);
    }
}

/// Unwinds a task that cannot continue: without a message if its own group or run has been terminated.
#[cold]
pub(crate) fn cancelled(message: &'static str) -> ! {
    if try_cx().is_some_and(Cx::is_terminated) {
        std::panic::resume_unwind(Box::new(message));
    }
    panic!("{message}")
}
