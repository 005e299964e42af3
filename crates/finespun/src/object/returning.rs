//! The right to answer a request, in the process where the caller waits or in another.

use std::panic::Location;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de, ser};

use super::Portable;
use super::answering::Answering;
use super::host::Nodes;
use super::remote::{Reply, WorkTask};
use crate::call::Task;
use crate::cancel::teams::GroupName;
use crate::frame::context::{Cx, cx, try_cx};
use crate::frame::number::GROUP;
use crate::frame::{FrameRef, Payload, quietly};
use crate::message::packet::Handler;
use crate::message::wire::{Reader, Writer};
use crate::run::continuation::Continuation;
use crate::run::continuation::travel::{self, Travels, Word};
use crate::wait::suspend::suspend_at;

/// The right to complete a wait.
pub(super) enum Return<T> {
    /// The wait is in this process.
    Here(Continuation<T>),
    /// The wait is in another process.
    Away(Away),
}

/// The number of a continuation that another process keeps. Dropping it drops that continuation.
pub(super) struct Away(u64);

/// A [`Return`] without its type.
pub(super) enum Onward {
    Leaf(FrameRef),
    Away(Away),
}

impl Away {
    /// Returns the worker that receives the answer.
    pub(super) fn home(&self) -> u32 {
        travel::worker_of(self.0)
    }

    fn into_number(self) -> u64 {
        std::mem::ManuallyDrop::new(self).0
    }
}

impl Drop for Away {
    fn drop(&mut self) {
        // Without a worker, the runtime has ended. A cancelled run ends all its waits in all processes.
        if let Some(cx) = try_cx().filter(|cx| !cx.is_run_cancelled()) {
            Nodes::of(cx).send(cx, self.home(), Dropped(self.0));
        }
    }
}

/// A [`Return`] in a message: whether it is away, and its number.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub(super) struct ReturnName(bool, Word);

impl<T: Send + 'static> Return<T> {
    pub(super) fn onward(self) -> Onward {
        match self {
            Return::Here(k) => Onward::Leaf(k.into_leaf()),
            Return::Away(away) => Onward::Away(away),
        }
    }

    /// # Safety
    /// A leaf comes from [`onward`](Return::onward) of a `Return<T>`.
    pub(super) unsafe fn of(onward: Onward) -> Return<T> {
        match onward {
            // SAFETY: the caller guarantees that the leaf belongs to a `Continuation<T>`.
            Onward::Leaf(leaf) => Return::Here(unsafe { Continuation::from_leaf(leaf) }),
            Onward::Away(away) => Return::Away(away),
        }
    }

    /// Leaves or keeps the continuation for the message that is being written, and returns its name there. The worker
    /// `home` receives the answer.
    pub(super) fn into_name(self, cx: Cx, home: u32) -> ReturnName {
        match self {
            Return::Away(away) => ReturnName(true, Word(away.into_number())),
            Return::Here(k) if travel::travels() == Some(Travels::Out) => ReturnName(true, Word(keep(cx, k, home))),
            Return::Here(k) => match travel::leave(|| Some(k)) {
                Some(number) => ReturnName(false, Word(number)),
                None => unreachable!("a message is being written"),
            },
        }
    }

    /// Returns the continuation that a message names. `None` if its wait has ended.
    pub(super) fn named(name: ReturnName, cx: Option<Cx>) -> Option<Return<T>> {
        let ReturnName(away, Word(number)) = name;
        // Without a context, the message is dropped, and so is what it has left in this process.
        let elsewhere = away && cx.is_some_and(|cx| !Nodes::of(cx).is_of_this_process(travel::worker_of(number)));
        if elsewhere { Some(Return::Away(Away(number))) } else { travel::take(number).map(Return::Here) }
    }
}

/// Keeps a continuation for an answer from another process to `home`. Returns its number.
fn keep<T: Send + 'static>(cx: Cx, k: Continuation<T>, home: u32) -> u64 {
    // SAFETY: the leaf lives until its continuation gives it up.
    let group = unsafe { k.leaf().as_ref() }.group;
    let run = run_of(cx, group);
    let number = travel::keep(k, home, run);
    // The run may have been cancelled before, and all that it keeps dropped.
    if run.is_some_and(|run| cx.context().team().find_run(run).is_none_or(|run| run.is_cancelled())) {
        quietly(|| travel::forget(number));
    }
    number
}

/// Returns the run of a run or group of this worker's team.
fn run_of(cx: Cx, group: u32) -> Option<u32> {
    if !cx.of_team(group) {
        return None;
    }
    if group & GROUP == 0 { Some(group) } else { cx.context().team().groups().find(group).map(|group| group.run()) }
}

/// The names, valid in all processes, of a run and a group in it.
pub(super) type Names = (u32, Option<GroupName>);

/// Returns the names of a run or group of this worker's team; 0 if the run has ended.
pub(super) fn names(cx: Cx, number: u32) -> Names {
    let team = cx.context().team();
    let Some(run) = run_of(cx, number).and_then(|run| team.find_run(run)) else { return (0, None) };
    // Other processes must learn that the run ends.
    run.posts();
    (run.name, (number & GROUP != 0).then(|| team.group_name(number)))
}

/// Enters the run or group with these names, which begins here if it has not. Returns its number, or `None` if it has
/// ended or been terminated.
pub(super) fn enter_named(cx: Cx, (run, group): Names) -> Option<u32> {
    let team = cx.context().team();
    let run = team.join_run(run)?;
    let Some(name) = group else { return cx.try_enter(run).then_some(run) };
    let number = team.join_group(run, name)?;
    // A group ends before its messages only if its run has been cancelled. Its number may have been used again since.
    (cx.try_enter(number) && !cx.is_run_cancelled() && team.join_group(run, name) == Some(number)).then_some(number)
}

/// Enters the run of a wait, for reading its result: the continuations in it belong to that run. If the run has ended,
/// leaves all runs.
pub(super) fn enter_run_of<T>(cx: Cx, k: &Continuation<T>) {
    // SAFETY: the leaf lives until its continuation gives it up.
    let group = unsafe { k.leaf().as_ref() }.group;
    if !run_of(cx, group).is_some_and(|run| cx.try_enter(run)) {
        cx.leave_run();
    }
}

/// Fails outside messages of the library: see the error.
impl<T: Portable> Serialize for Continuation<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // SAFETY: `take_leaf` returns the leaf of this `Continuation<T>` once, and leaves the continuation without one.
        let own = || self.take_leaf().map(|leaf| unsafe { Continuation::<T>::from_leaf(leaf) });
        let number = match travel::travels() {
            Some(Travels::Within) => travel::leave(own),
            Some(Travels::Out) => own().map(|k| {
                // SAFETY: only workers write messages, and the context is used at once.
                let cx = unsafe { cx() };
                keep(cx, k, Nodes::of(cx).worker())
            }),
            None => None,
        };
        match number {
            Some(number) => Word(number).serialize(serializer),
            None => Err(ser::Error::custom(
                "a continuation can be serialized only as an argument of an object's method, and only once",
            )),
        }
    }
}

/// Fails outside messages of the library: see the error.
impl<'de, T: Portable> Deserialize<'de> for Continuation<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Continuation<T>, D::Error> {
        let Word(number) = Word::deserialize(deserializer)?;
        let k = travel::travels().and_then(|travels| {
            let away = try_cx().filter(|_| travels == Travels::Out).and_then(|cx| represent(cx, number));
            away.or_else(|| travel::take(number))
        });
        k.ok_or_else(|| {
            de::Error::custom(
                "a continuation can be deserialized only as an argument of an object's method, and only once",
            )
        })
    }
}

/// Makes a continuation that represents one of another process: a frame waits for its value, and sends it there. Returns
/// `None` if the continuation is this process's own, or this code is in no task.
fn represent<T: Portable>(cx: Cx, number: u64) -> Option<Continuation<T>> {
    if Nodes::of(cx).is_of_this_process(travel::worker_of(number)) || !cx.is_in_task() {
        return None;
    }
    let away = Away(number);
    let mut own = None;
    // The group to which the message belongs may end before the wait.
    cx.in_run(|| {
        let wait = suspend_at(Location::caller(), |k: Continuation<T>| own = Some(k));
        // SAFETY: the outcome is opened at once, and the suspended callee awaited by the frame.
        match unsafe { wait.forced().call(cx) }.open::<WorkTask<T>>() {
            Ok(_) => unreachable!("forced to wait"),
            Err(child) => {
                let reply = Reply { home: away.home(), k: Some(Return::Away(away)) };
                Answering::start(cx, reply, child);
            }
        }
    });
    own
}

/// The message that drops a continuation which its receiver keeps.
struct Dropped(u64);

impl Handler for Dropped {
    fn bytes_elsewhere(&self) -> usize {
        0
    }

    fn handle(self, cx: Cx) {
        let _left = cx.leave_tasks();
        quietly(|| travel::forget(self.0));
    }

    fn write(self, to: &mut Writer) -> bool {
        to.value(&Word(self.0));
        true
    }

    fn arrive(mut from: Reader<'_>, cx: Option<Cx>) {
        if let (Some(Word(number)), Some(cx)) = (from.header(), cx) {
            Dropped(number).handle(cx);
        }
    }
}

/// Completes the wait.
pub(super) fn complete<T>(cx: Cx, k: Continuation<T>, result: Result<T, Payload>) {
    /// Drops a result whose waiter has been cancelled.
    #[cold]
    #[inline(never)]
    fn unsent<T>(cx: Cx, result: Result<T, Payload>) {
        let _left = cx.leave_tasks();
        quietly(|| drop(result));
    }
    if let Err(result) = k.complete(result) {
        unsent(cx, result);
    }
}
