//! The right to answer a request, in the process where the caller waits or in another.

use std::cell::RefCell;
use std::panic::Location;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de, ser};

use super::Portable;
use super::answering::Answering;
use super::host::Nodes;
use super::kept::worker_of;
use super::remote::Reply;
use crate::call::Task;
use crate::call::outcome::AnyTask;
use crate::cancel::runs::Run;
use crate::cancel::teams::GroupName;
use crate::frame::context::{Cx, cx, try_cx};
use crate::frame::leaf::is_protected;
use crate::frame::number::{GROUP, NOTHING};
use crate::frame::{FrameRef, Payload, drop_quietly};
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
    /// Returns the continuation of another process with this number, unless no worker can keep one with it.
    fn named(cx: Cx, number: u64) -> Option<Away> {
        Nodes::of(cx).is_worker(worker_of(number)).then(|| Away(number))
    }

    /// Returns the worker that receives the answer.
    pub(super) fn home(&self) -> u32 {
        worker_of(self.0)
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

/// A [`Return`] in a message.
#[derive(Clone, Copy)]
pub(super) struct ReturnName {
    /// Whether the number is a worker's, and not of a value that the message has left.
    pub(super) away: bool,
    pub(super) number: u64,
}

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

    /// Leaves or keeps the continuation for the message that is being written, and returns its name there.
    pub(super) fn into_name(self, cx: Cx) -> ReturnName {
        match self {
            Return::Away(away) => ReturnName { away: true, number: away.into_number() },
            Return::Here(k) if travel::travels() == Some(Travels::Out) => {
                ReturnName { away: true, number: keep(cx, k) }
            }
            Return::Here(k) => match travel::leave(|| Some(k)) {
                Some(number) => ReturnName { away: false, number },
                None => unreachable!("a message is being written"),
            },
        }
    }

    /// Returns the continuation that a message names. `None` if its wait has ended, or the name is forged.
    pub(super) fn named(name: ReturnName, cx: Option<Cx>) -> Option<Return<T>> {
        let ReturnName { away, number } = name;
        if !away {
            return travel::take(number).map(Return::Here);
        }
        // Without a context, the message is dropped, after its run.
        let cx = cx?;
        let kept = Nodes::of(cx).kept();
        if kept.is_own(number) {
            kept.take(number).map(Return::Here)
        } else {
            Away::named(cx, number).map(Return::Away)
        }
    }

    /// Returns the leaf of a wait in this process. It lives as long as this does.
    pub(super) fn leaf(&self) -> Option<FrameRef> {
        match self {
            Return::Here(k) => Some(k.leaf()),
            Return::Away(_) => None,
        }
    }
}

/// Returns whether work in this run or group may answer a wait with this leaf, whose continuation the caller has. The end of a
/// group ends its work, but not all of its waits: so work elsewhere, which only a forged message names, does not answer
/// these.
///
/// # Safety
/// The leaf is live.
pub(super) unsafe fn may_answer(leaf: FrameRef, group: u32) -> bool {
    // SAFETY: the caller guarantees that the leaf is live.
    let (protected, own) = unsafe { (is_protected(leaf), leaf.as_ref().group) };
    !protected || own == group
}

/// Keeps a continuation for an answer from another worker. Returns its number.
fn keep<T: Send + 'static>(cx: Cx, k: Continuation<T>) -> u64 {
    // SAFETY: the leaf lives until its continuation gives it up.
    let group = unsafe { k.leaf().as_ref() }.group;
    let run = run_of(cx, group);
    let kept = Nodes::of(cx).kept();
    let number = kept.keep(k, run.unwrap_or(NOTHING));
    // This worker may have swept before.
    if run.is_some_and(|run| is_ended(cx, run)) {
        kept.forget(number);
    }
    number
}

/// Keeps a continuation that is an argument of the message being written, unless that fails.
fn keep_for_message<T: Send + 'static>(cx: Cx, k: Continuation<T>) -> u64 {
    let number = keep(cx, k);
    let forget = |number| {
        if let Some(cx) = try_cx() {
            Nodes::of(cx).kept().forget(number);
        }
    };
    travel::give_up_unless_written(number, forget);
    number
}

thread_local! {
    /// The numbers of the continuations that have been read from the message that this thread is reading, if its sender keeps
    /// some for it.
    static READ: RefCell<Option<Vec<u64>>> = const { RefCell::new(None) };
}

/// The continuations among the arguments of a message of another process, whose sender keeps them. Dropping this drops those
/// that have not been read.
pub(super) struct Arguments {
    cx: Cx,
    numbers: Vec<u64>,
}

impl Arguments {
    /// Returns those of a message that has some. Without a context, the run has ended, and all its waits.
    #[cold]
    pub(super) fn of(message: &Reader<'_>, cx: Option<Cx>) -> Option<Arguments> {
        let arguments = Arguments { cx: cx?, numbers: message.kept() };
        READ.set(Some(Vec::new()));
        Some(arguments)
    }
}

impl Drop for Arguments {
    #[cold]
    fn drop(&mut self) {
        let (cx, read) = (self.cx, READ.take().unwrap_or_default());
        let _left = cx.leave_tasks();
        let nodes = Nodes::of(cx);
        for &number in self.numbers.iter().filter(|number| !read.contains(number)) {
            if nodes.kept().is_own(number) {
                nodes.kept().forget(number);
            } else if nodes.is_worker(worker_of(number)) {
                nodes.send(cx, worker_of(number), Dropped(number));
            }
        }
    }
}

/// Returns whether a run of this worker's team has been cancelled or has ended.
fn is_ended(cx: Cx, run: u32) -> bool {
    if cx.run() == run {
        return cx.is_run_cancelled();
    }
    cx.context().team().find_run(run).is_none_or(|run| run.is_cancelled())
}

/// Returns the run of a run or group of this worker's team.
fn run_of(cx: Cx, group: u32) -> Option<u32> {
    if !cx.of_team(group) {
        return None;
    }
    if group & GROUP == 0 { Some(group) } else { cx.context().team().groups().find(group).map(|group| group.run()) }
}

/// The names, valid in all processes, of a run and a group in it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Names {
    pub(crate) run: u32,
    pub(super) group: Option<GroupName>,
}

/// Names with the number here of the group, or of the run.
#[derive(Clone, Copy)]
pub(super) struct Known {
    names: Names,
    number: u32,
    /// How often a group's record has been used.
    uses: u64,
}

/// Returns the names of a run or group of this worker's team; 0 if the run has ended.
pub(crate) fn names(cx: Cx, number: u32) -> Names {
    let team = cx.context().team();
    let name = |run: &Run| {
        // Other processes must learn that the run ends.
        run.posts();
        run.name
    };
    let none = Names { run: 0, group: None };
    let Some(run) = run_of(cx, number) else { return none };
    let name = if cx.run() == run { Some(cx.with_run(name)) } else { team.find_run(run).map(|run| name(&run)) };
    let Some(run) = name else { return none };
    if number & GROUP == 0 {
        return Names { run, group: None };
    }
    let nodes = Nodes::of(cx);
    let uses = team.groups().get(number).uses();
    if let Some(known) =
        nodes.named().filter(|known| (known.number, known.uses, known.names.run) == (number, uses, run))
    {
        return known.names;
    }
    let names = Names { run, group: Some(team.group_name(number)) };
    nodes.set_named(Known { names, number, uses });
    names
}

/// Enters the run or group with these names, which begins here if it has not. Returns its number, or `None` if it has
/// ended or been terminated.
pub(super) fn enter_named(cx: Cx, names: Names) -> Option<u32> {
    let nodes = Nodes::of(cx);
    if let Some(Known { number, uses, .. }) = nodes.named().filter(|known| known.names == names) {
        // The numbers may have been used again since.
        let entered = cx.try_enter(number)
            && cx.with_run(|run| run.name == names.run && !run.is_cancelled())
            && (number & GROUP == 0 || {
                let group = cx.context().team().groups().get(number);
                group.uses() == uses && !group.has_ended()
            });
        if entered {
            return Some(number);
        }
    }
    let known = enter_unknown(cx, names)?;
    nodes.set_named(known);
    Some(known.number)
}

#[cold]
fn enter_unknown(cx: Cx, names: Names) -> Option<Known> {
    let team = cx.context().team();
    let run = team.join_run(names.run)?;
    let Some(name) = names.group else { return cx.try_enter(run).then_some(Known { names, number: run, uses: 0 }) };
    let number = team.join_group(run, name)?;
    let uses = team.groups().get(number).uses();
    // A group ends before its messages only if its run has been cancelled. Its number may have been used again since.
    let entered = cx.try_enter(number) && !cx.is_run_cancelled() && team.join_group(run, name) == Some(number);
    entered.then_some(Known { names, number, uses })
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
            // SAFETY: only workers write messages, and the context is used at once.
            Some(Travels::Out) => own().map(|k| keep_for_message(unsafe { cx() }, k)),
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
        let k = match travel::travels() {
            Some(Travels::Within) => travel::take(number),
            Some(Travels::Out) => {
                READ.with_borrow_mut(|read| read.iter_mut().for_each(|read| read.push(number)));
                try_cx().and_then(|cx| represent(cx, number))
            }
            None => None,
        };
        k.ok_or_else(|| {
            de::Error::custom(
                "a continuation can be deserialized only as an argument of an object's method, and only once",
            )
        })
    }
}

/// Returns the continuation with this number. If another worker keeps it, makes one that represents it: a frame waits
/// for its value, and sends it there. Returns `None` if the wait has ended, or this code is in no task.
fn represent<T: Portable>(cx: Cx, number: u64) -> Option<Continuation<T>> {
    let kept = Nodes::of(cx).kept();
    if kept.is_own(number) {
        return kept.take_argument(number);
    }
    if !cx.is_in_task() {
        return None;
    }
    let away = Away::named(cx, number)?;
    let mut own = None;
    // The group to which the message belongs may end before the wait.
    cx.in_run(|| {
        let wait = suspend_at(Location::caller(), |k: Continuation<T>| own = Some(k));
        // SAFETY: the outcome is opened at once, and the suspended callee awaited by the frame.
        match unsafe { wait.forced().call(cx) }.open::<AnyTask<T>>() {
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
        Nodes::of(cx).kept().forget(self.0);
    }

    fn write(self, to: &mut Writer) -> bool {
        to.bytes(&self.0.to_le_bytes());
        true
    }

    fn arrive(mut from: Reader<'_>, cx: Option<Cx>) {
        if let (Some(number), Some(cx)) = (from.bytes(), cx) {
            Dropped(u64::from_le_bytes(number)).handle(cx);
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
        drop_quietly(result);
    }
    if let Err(result) = k.complete(result) {
        unsent(cx, result);
    }
}
