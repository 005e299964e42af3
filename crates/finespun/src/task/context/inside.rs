//! Groups on the stack: what runs belongs to which.
//!
//! A construct begins its group by a record on the stack ([`Begun`]), which costs some stores. The group is *unborn*: it gets
//! a number, and with it a record that others can see, when the first frame is made beneath it; so do those that it has begun
//! in, which are further out on the same stack. If all its activities end on the stack, there never was anything to be
//! terminated but a loop.

use std::cell::Cell;
use std::ptr;

use super::Cx;
use crate::task::groups::Group;
use crate::task::guard::Flags;
use crate::task::teams::GROUP;

/// No run, and no group.
pub(super) const NOTHING: u32 = u32::MAX;
/// A group that has begun on this stack, and has no number: no frame has been made beneath it.
pub(super) const UNBORN: u32 = u32::MAX - 1;

/// A group that has begun on this stack; on the stack itself, for as long as the group's activities are called from there.
pub(crate) struct Begun {
    /// The group, or run, that it has begun in, if that has a number.
    outer: Cell<u32>,
    /// The group that it has begun in, if that has begun on this stack.
    above: Cell<*const Begun>,
    number: Cell<u32>,
    /// The record, if there is a number; else of the innermost group above that has one.
    record: Cell<*const Group>,
    activities: u64,
}

impl Begun {
    /// A group of so many activities, to begin.
    #[inline(always)]
    pub(crate) fn new(activities: u64) -> Begun {
        Begun {
            outer: Cell::new(NOTHING),
            above: Cell::new(ptr::null()),
            number: Cell::new(UNBORN),
            record: Cell::new(ptr::null()),
            activities,
        }
    }
}

/// What runs while this lives belongs to a group; from then on, again to what it has been before.
///
/// A guard and not a pair of calls, since activities unwind.
pub(crate) struct Inside<'a> {
    cx: Cx,
    /// What has begun here, if it has not been handed over to a frame.
    begun: Option<&'a Begun>,
    outer: u32,
    record: *const Group,
    above: *const Begun,
}

impl Inside<'_> {
    /// The group that has begun here has left the stack: it lives on, by the returned number.
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
        if outer == UNBORN {
            // SAFETY: what has begun further out on this stack has not ended.
            let above = unsafe { &*self.above };
            (outer, record) = (above.number.get(), above.record.get());
        }
        context.group.set(outer);
        context.record.set(record);
        context.begun.set(self.above);
        if let Some(begun) = self.begun
            && begun.number.get() != UNBORN
        {
            self.cx.end_group(begun.number.get());
        }
    }
}

/// Groups of a stack that something else runs on top of.
#[must_use = "the groups have to be resumed"]
pub(crate) struct Paused {
    group: u32,
    begun: *const Begun,
}

impl Cx {
    /// The number of the current run.
    pub(crate) fn run(self) -> u32 {
        self.context().run.get()
    }

    /// The number that frames made now have: of the innermost group, or of the run.
    #[inline]
    pub(crate) fn group(self) -> u32 {
        match self.context().group.get() {
            UNBORN => self.number_groups(),
            number => number,
        }
    }

    /// Whether this runs in a group.
    pub(crate) fn is_in_group(self) -> bool {
        let group = self.context().group.get();
        group == UNBORN || group & GROUP != 0
    }

    /// Numbers the groups that have begun on this stack.
    #[cold]
    #[inline(never)]
    fn number_groups(self) -> u32 {
        let context = self.context();
        let mut unborn = Vec::new();
        let mut next = context.begun.get();
        let mut number = UNBORN;
        while number == UNBORN {
            // SAFETY: what has begun on this stack has not ended, and somebody further out has a number.
            let begun = unsafe { &*next };
            unborn.push(begun);
            number = begun.outer.get();
            next = begun.above.get();
        }
        for begun in unborn.into_iter().rev() {
            number = context.scheduler().begin_group(number, context.run.get(), begun.activities);
            begun.number.set(number);
            begun.record.set(context.scheduler().groups().get(number));
            context.record.set(begun.record.get());
        }
        context.group.set(number);
        number
    }

    /// Begins a group on this stack: until what this returns is dropped, all that runs belongs to it.
    #[inline(always)]
    pub(crate) fn begin_group(self, begun: &Begun) -> Inside<'_> {
        let context = self.context();
        let (outer, record, above) = (context.group.get(), context.record.get(), context.begun.get());
        begun.outer.set(outer);
        begun.above.set(above);
        begun.record.set(record);
        context.begun.set(begun);
        context.group.set(UNBORN);
        Inside { cx: self, begun: Some(begun), outer, record, above }
    }

    /// Until what this returns is dropped, all that runs belongs to that group, which has a number and lives on.
    pub(crate) fn enter_group(self, number: u32) -> Inside<'static> {
        let context = self.context();
        let (outer, record) = (context.group.get(), context.record.get());
        context.group.set(number);
        context.record.set(context.scheduler().groups().get(number));
        Inside { cx: self, begun: None, outer, record, above: context.begun.get() }
    }

    /// Calls `body` in the run, and in no group of that: what becomes a frame is not waited for by any group.
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
            // A check of the body's may have taken the word that came meanwhile.
            context.guard.request(Flags::CANCEL);
        }
        value
    }

    /// Until what this returns is dropped, what runs belongs to no task: values of the program's are cloned or dropped, by whoever
    /// sends them. The run that was the last one is kept at hand: whatever runs next enters its own, most often the same.
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

    /// A group that had a number has ended.
    #[cold]
    pub(crate) fn end_group(self, number: u32) {
        self.context().scheduler().groups().end(number);
    }

    /// Terminates a group; whether this is the first time.
    #[cold]
    pub(crate) fn terminate_group(self, number: u32) -> bool {
        self.context().scheduler().terminate(number)
    }

    /// A frame of `group` is about to run here; whether that has been terminated.
    #[inline]
    pub(crate) fn enter_frame(self, group: u32) -> bool {
        let context = self.context();
        if (context.group.get() != group || group & GROUP != 0) && !self.find_group(group) {
            unreachable!("a run outlives its frames");
        }
        self.is_terminated()
    }

    /// What follows belongs to that group, or run, if it has neither ended nor been terminated: whether that is so. A group must
    /// not have ended.
    pub(crate) fn try_enter(self, group: u32) -> bool {
        let entered = self.context().group.get() == group && group & GROUP == 0;
        (entered || self.find_group(group)) && !self.is_terminated()
    }

    /// What follows belongs to that group or run, if that run has not ended.
    fn find_group(self, number: u32) -> bool {
        let context = self.context();
        let (record, run) = if number & GROUP != 0 {
            let record = context.scheduler().groups().get(number);
            (ptr::from_ref(record), record.run())
        } else {
            (ptr::null(), number)
        };
        if context.run.get() != run {
            let Some(found) = context.scheduler().find_run(run) else { return false };
            context.run.set(run);
            // SAFETY: only this thread touches it, and no reference to it outlives a statement.
            unsafe { *context.run_state.get() = Some(found) };
        }
        context.group.set(number);
        context.record.set(record);
        true
    }

    /// Whether that is the current run, or a group in it.
    pub(crate) fn is_in_run_of(self, number: u32) -> bool {
        self.of_team(number) && self.context().scheduler().groups().is_of(number, self.run())
    }

    /// What has begun on this stack, while something else runs on top of it: [`resume_groups`](Cx::resume_groups) must
    /// follow. Whatever has no number has one now.
    pub(crate) fn pause_groups(self) -> Paused {
        let group = self.group();
        Paused { group, begun: self.context().begun.replace(ptr::null()) }
    }

    /// What ran on top of the stack has ended; whether what now goes on has been terminated.
    pub(crate) fn resume_groups(self, paused: Paused) -> bool {
        self.context().begun.set(paused.begun);
        self.enter_frame(paused.group)
    }

    /// Whether the current group has a record. If not, it is the run's.
    #[inline]
    pub(crate) fn has_record(self) -> bool {
        !self.context().record.get().is_null()
    }

    /// Whether the current group, or one that it is beneath, has been terminated, or the run cancelled.
    #[inline]
    pub(crate) fn is_terminated(self) -> bool {
        if self.has_record() {
            return self.group_is_terminated();
        }
        // SAFETY: as in `find_group`.
        let run = unsafe { &*self.context().run_state.get() };
        run.as_ref().is_some_and(|run| run.is_cancelled())
    }

    #[inline(never)]
    fn group_is_terminated(self) -> bool {
        let context = self.context();
        let scheduler = context.scheduler();
        // SAFETY: a record lives as long as its team, and this one's group has not ended.
        let record = unsafe { &*context.record.get() };
        scheduler.groups().is_terminated(record, |run| scheduler.run_cancelled(run))
    }

    /// Lets go of the current run's state: the worker is between frames.
    pub(crate) fn leave_run(self) {
        let context = self.context();
        context.group.set(NOTHING);
        context.record.set(ptr::null());
        context.run.set(NOTHING);
        // SAFETY: as in `find_group`.
        unsafe { *context.run_state.get() = None };
    }
}
