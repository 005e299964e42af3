//! Work that runs on another node, and its answer.
//!
//! ```text
//!   caller's worker                                    the node's worker
//!
//!   leaf <- Continuation --- Request ----------------> runs the work on its stack
//!                                                        ended: answers at once
//!   leaf <--------------------------------- Answer       suspended: a frame waits for the work, and answers
//!   the caller resumes                                   ends in a request: sends it with the caller's Continuation
//! ```
//!
//! These are the papers' wrappers [H §3.3]: the method runs straight from the message, and gets a frame only if it
//! blocks. The answer is a separate message to the worker that owns the leaf. So a worker resumes only its own waiting
//! tasks, and follows only its own addresses.
//!
//! *Forwarding.* While [`deliver`] runs work on the stack, a request that the work makes is *deferred* (`PendingCall`):
//! it is not sent until a task waits for its leaf, a sibling begins, or the worker sends another message. Work whose
//! last await is a call returns the leaf of that call unchanged. So if [`deliver`] gets the leaf of the deferred
//! request, no task in between waits for it, and the request is sent with the first caller's continuation in place of
//! its own. A chain of calls over many nodes then needs one answer, and no node in between keeps a frame
//! [H §3.2.3, §3.3].

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;

use super::Portable;
use super::answering::Answering;
use super::error::{read_payload, write_payload};
use super::host::Nodes;
use super::returning::{
    Arguments, Names, Onward, Return, ReturnName, complete, enter_named, enter_run_of, may_answer, names,
};
use super::scrambled::{group_in_message, group_of_message, run_in_message, run_of_message};
use crate::call::Task;
use crate::call::outcome::{AnyTask, Child, Outcome};
use crate::cancel::runs::Run;
use crate::frame::context::{self, Cx};
use crate::frame::origin::{self, pack};
use crate::frame::{CallSite, FrameRef, Payload, discard, drop_quietly, quietly_here};
use crate::message::packet::Handler;
use crate::message::wire::{Reader, Unreadable, Wire, Writer, bytes_elsewhere};
use crate::run::continuation::Continuation;
use crate::run::continuation::travel::{Travels, travels};
use crate::wait::suspend::suspend_beneath;

/// Work to run at a given node.
pub(crate) trait Work: Wire + Send + 'static {
    /// The result type.
    type Output: Portable;

    /// See [`Handler::bytes_elsewhere`].
    fn bytes_elsewhere(&self) -> usize {
        0
    }

    /// Whether the work may run at any node. If not, `node` says at which.
    const ANYWHERE: bool = false;

    /// Returns the node at which the work must run.
    fn node(&self) -> u32;

    /// Runs the work, at its node.
    ///
    /// # Safety
    /// As [`Task::call`]; `cx` is at the node.
    unsafe fn run(self, cx: Cx) -> Outcome<Self::Output>;
}

/// The destination of an answer.
pub(crate) struct Reply<T> {
    /// The worker that owns the continuation's leaf, or [`ANY`]. If the continuation is away, its number says it.
    pub(super) home: u32,
    /// `None` if no task waits for the answer.
    pub(super) k: Option<Return<T>>,
}

/// The value of `Reply::home` if the worker that has the answer resolves the continuation itself.
pub(super) const ANY: u32 = u32::MAX;

/// Sends the work to its node, and waits for the answer.
///
/// # Safety
/// As [`Task::call`].
pub(crate) unsafe fn request<W: Work>(cx: Cx, work: W, place: CallSite) -> Outcome<W::Output> {
    let nodes = Nodes::of(cx);
    let wait = suspend_beneath(cx, place, |k: Continuation<W::Output>| {
        let leaf = k.leaf();
        let request = Request { of: Asker::new(cx.group(), nodes.worker()), k: Some(Return::Here(k)), work };
        if cx.may_forward() {
            nodes.keep_pending_call(cx, leaf, Box::new(request));
        } else {
            nodes.send(cx, nodes.worker_of(request.work.node()), request);
        }
    });
    // SAFETY: the caller opens the outcome and awaits a suspended callee.
    unsafe { wait.forced().call(cx) }
}

/// Sends the work, which may run at any node, to a worker of another process, and waits for the answer in any case. If
/// the work is a panic, this is the answer.
pub(crate) fn request_of_worker<W: Work>(
    cx: Cx,
    worker: u32,
    work: Result<W, Payload>,
    place: CallSite,
) -> Outcome<W::Output> {
    let nodes = Nodes::of(cx);
    let wait = suspend_beneath(cx, place, |k: Continuation<W::Output>| match work {
        Ok(work) => {
            let k = Some(Return::Here(k));
            nodes.send(cx, worker, Request { of: Asker::new(cx.group(), nodes.worker()), k, work });
        }
        Err(payload) => k.end(Err(payload)),
    });
    // SAFETY: the caller opens the outcome and awaits the suspended callee.
    unsafe { wait.forced().call(cx) }
}

/// Runs the work directly if this is its node; otherwise sends it there, and waits for the answer.
///
/// # Safety
/// As [`Task::call`].
#[inline]
pub(crate) unsafe fn at_home<W: Work>(cx: Cx, work: W, place: CallSite) -> Outcome<W::Output> {
    // A visitor sends the work to the worker that it uses, whose own thread will do it.
    if work.node() == cx.node() && cx.may_host() {
        // SAFETY: the caller opens the outcome and awaits a suspended callee; `cx` is at the work's node.
        return unsafe { work.run(cx) };
    }
    // SAFETY: the caller opens the outcome and awaits a suspended callee.
    unsafe { request(cx, work, place) }
}

/// Sends the work to its node, with no reply destination.
#[inline(always)]
pub(super) fn send_one_way<W: Work>(cx: Cx, work: W) {
    let nodes = Nodes::of(cx);
    let request = Request { of: Asker::new(cx.run(), ANY), k: None, work };
    nodes.send(cx, nodes.worker_of(request.work.node()), request);
}

/// A message with work and its [`Reply`]. The fields are flat so that a call with 16 bytes of arguments fits in one
/// cache line.
struct Request<W: Work> {
    of: Asker,
    k: Option<Return<W::Output>>,
    work: W,
}

/// The group that the work of a request belongs to, and [`Reply::home`]: in one word, since messages move word by word, and
/// the load of a word waits for two stores of its halves.
///
/// The group is the caller's, which does not end before the caller has its answer; for a one-way request, or if the caller
/// is in no group, the run's number.
#[derive(Clone, Copy)]
struct Asker(u64);

impl Asker {
    #[inline(always)]
    fn new(group: u32, home: u32) -> Asker {
        Asker(u64::from(group) | u64::from(home) << 32)
    }

    #[inline(always)]
    fn group(self) -> u32 {
        self.0 as u32
    }

    #[inline(always)]
    fn home(self) -> u32 {
        (self.0 >> 32) as u32
    }

    /// Writes the header of a request with this continuation.
    fn write(self, cx: Cx, k: Option<ReturnName>, to: &mut Writer) {
        let group = match travels() {
            Some(Travels::Out) => Group::Named(names(cx, self.group())),
            _ => Group::Numbered { group: self.group(), home: self.home() },
        };
        Header { group, k, keeps: false }.write(to);
    }
}

/// A request that has not been sent.
pub(super) trait PendingCall {
    /// Sends the request.
    fn send(self: Box<Self>, cx: Cx);

    /// Sends the request with `home` and `onward` as its reply destination: no task waits for the request's
    /// continuation.
    ///
    /// # Safety
    /// `onward` is `None`, or was returned by [`Return::onward`] for the request's output type; the caller has released
    /// the leaf of the request's own continuation by [`Child::unwaited`].
    unsafe fn redirect(self: Box<Self>, cx: Cx, home: u32, onward: Option<Onward>);
}

impl<W: Work> PendingCall for Request<W> {
    fn send(self: Box<Self>, cx: Cx) {
        let nodes = Nodes::of(cx);
        nodes.send(cx, nodes.worker_of(self.work.node()), *self);
    }

    unsafe fn redirect(mut self: Box<Self>, cx: Cx, home: u32, onward: Option<Onward>) {
        self.of = Asker::new(self.of.group(), home);
        // SAFETY: the caller guarantees the same.
        unsafe { replace(&mut self.k, onward) };
        self.send(cx);
    }
}

/// Implements [`PendingCall::redirect`] for the continuation of a request.
///
/// # Safety
/// As there.
unsafe fn replace<T: Send + 'static>(k: &mut Option<Return<T>>, onward: Option<Onward>) {
    // SAFETY: the caller guarantees that `onward` comes from a `Return` of this type.
    let onward = onward.map(|onward| unsafe { Return::of(onward) });
    match std::mem::replace(k, onward) {
        Some(Return::Here(own)) => own.unwaited(),
        // A request that the work makes has a continuation of this process.
        Some(Return::Away(_)) | None => {}
    }
}

/// The beginning of a request as bytes.
struct Header {
    group: Group,
    k: Option<ReturnName>,
    keeps: bool,
}

/// The group of a request as bytes.
enum Group {
    /// Within a process: its number, and [`Reply::home`].
    Numbered { group: u32, home: u32 },
    /// To another process.
    Named(Names),
}

/// In the first byte of a request or answer: what follows. All numbers have a fixed width, so that a message's size does
/// not depend on the runtimes that the process has had.
const RETURN: u8 = 1;
const AWAY: u8 = 2;
const NAMED: u8 = 4;
const IN_GROUP: u8 = 8;
const GOOD: u8 = 16;
/// The sender keeps continuations among the arguments.
const KEEPS: u8 = 32;

fn write_return(k: Option<ReturnName>, flags: u8, to: &mut Writer) {
    let Some(ReturnName { away, number }) = k else { return to.bytes(&[flags]) };
    to.bytes(&[flags | RETURN | if away { AWAY } else { 0 }]);
    to.bytes(&number.to_le_bytes());
}

/// Reads what [`write_return`] has written. Returns `None` if there are too few bytes.
fn read_return(from: &mut Reader<'_>) -> Option<(Option<ReturnName>, u8)> {
    let [flags] = from.bytes()?;
    if flags & RETURN == 0 {
        return Some((None, flags));
    }
    let number = u64::from_le_bytes(from.bytes()?);
    Some((Some(ReturnName { away: flags & AWAY != 0, number }), flags))
}

impl Header {
    fn write(self, to: &mut Writer) {
        match self.group {
            Group::Numbered { group, home } => {
                write_return(self.k, 0, to);
                to.bytes(&group.to_le_bytes());
                to.bytes(&home.to_le_bytes());
            }
            Group::Named(Names { run, group: None }) => {
                write_return(self.k, NAMED, to);
                to.bytes(&run_in_message(run));
            }
            Group::Named(Names { run, group: Some(name) }) => {
                write_return(self.k, NAMED | IN_GROUP, to);
                to.bytes(&run_in_message(run));
                group_in_message(name).iter().for_each(|word| to.bytes(&word.to_le_bytes()));
            }
        }
    }

    /// Reads a header. Returns `None` if there are too few bytes, or it cannot come from where it has come from.
    fn read(from: &mut Reader<'_>) -> Option<Header> {
        let (k, flags) = read_return(from)?;
        let mut number = || Some(u32::from_le_bytes(from.bytes()?));
        let first = number()?;
        let group = if flags & NAMED == 0 {
            Group::Numbered { group: first, home: number()? }
        } else if flags & IN_GROUP == 0 {
            Group::Named(Names { run: run_of_message(first), group: None })
        } else {
            let mut word = || Some(u64::from_le_bytes(from.bytes()?));
            let name = group_of_message([word()?, word()?]);
            Group::Named(Names { run: run_of_message(first), group: Some(name) })
        };
        let out = from.travels() == Travels::Out;
        // Within a process, the answer may still be for another one. From there, nothing has been left here.
        let from_there = matches!(group, Group::Named(_)) == out && k.is_none_or(|k| k.away || !out);
        let keeps = flags & KEEPS != 0;
        (from_there && (out || !keeps)).then_some(Header { group, k, keeps })
    }

    /// Whether the request comes from another process.
    fn is_away(&self) -> bool {
        matches!(self.group, Group::Named(_))
    }

    /// Implements [`asker`]. `k` is the continuation's leaf, if it has been found, and if it is in this process.
    ///
    /// # Safety
    /// The leaf is live.
    unsafe fn asker(&self, cx: Option<Cx>, k: Option<Option<FrameRef>>) -> Option<Asker> {
        let names = match self.group {
            Group::Numbered { group, home } => return Some(Asker::new(group, home)),
            Group::Named(names) => names,
        };
        // If its continuation has not been found, no task waits for the answer any more, or the message is forged. Without a
        // worker, it has left nothing in this process.
        let here = cx.filter(|_| self.k.is_none() || k.is_some())?;
        // The arguments are read in the run, to which the continuations among them belong.
        let Some(group) = enter_named(here, names) else {
            here.leave_run();
            return None;
        };
        // A continuation that is here is this worker's.
        let asker = Asker::new(group, Nodes::of(here).worker());
        // SAFETY: the caller guarantees that the leaf is live.
        k.flatten().is_none_or(|leaf| unsafe { may_answer(leaf, group) }).then_some(asker)
    }
}

impl<W: Work> Handler for Request<W> {
    fn bytes_elsewhere(&self) -> usize {
        self.work.bytes_elsewhere()
    }

    #[inline(always)]
    fn write(self, to: &mut Writer) -> bool {
        let Request { of, k, work } = self;
        // SAFETY: only workers send messages, and the context is used within this call only.
        let cx = unsafe { context::cx() };
        let k = k.map(|k| k.into_name(cx));
        let before = to.mark();
        of.write(cx, k, to);
        match to.part(|to| work.write(to)) {
            Ok(()) => {
                to.name_kept(before, KEEPS);
                true
            }
            Err(payload) => {
                refused::<W::Output>(cx, of, k, payload);
                false
            }
        }
    }

    fn arrive(mut from: Reader<'_>, cx: Option<Cx>) {
        let Some(header) = Header::read(&mut from) else {
            debug_assert!(from.travels() == Travels::Out, "a message of this process can be read");
            return;
        };
        let away = header.is_away();
        let arguments = if header.keeps { Arguments::of(&from, cx) } else { None };
        let Some((of, k)) = asker::<W::Output>(header, cx) else { return };
        let read = W::read(&mut from);
        drop(arguments);
        let error = match read {
            Ok(work) => {
                let Some(cx) = cx else { return };
                if W::ANYWHERE || Nodes::of(cx).hosts(work.node()) {
                    let request = Request { of, k, work };
                    return if away { request.serve(cx) } else { request.handle(cx) };
                }
                drop_quietly(work);
                Unreadable::new::<W>("its node is elsewhere")
            }
            Err(error) => error,
        };
        unread(cx, of, k, error);
    }

    fn handle(self, cx: Cx) {
        if !cx.try_enter(self.of.group()) {
            cx.leave_run();
            // The run or group has been terminated, so the caller needs no answer. Dropping `k` ends its wait, if it
            // still waits. Here and below, `drop_quietly` discards a destructor's panic, which no caller could receive.
            return drop_quietly((self.k, self.work));
        }
        self.serve(cx);
    }
}

/// Answers a request whose work could not be written.
#[cold]
fn refused<T: Portable>(cx: Cx, of: Asker, k: Option<ReturnName>, payload: Box<dyn Any + Send>) {
    // The continuation answers the caller instead.
    match k.and_then(|k| Return::<T>::named(k, Some(cx))) {
        Some(k) => answer(cx, Reply { home: of.home(), k: Some(k) }, Err(pack(payload))),
        None if k.is_some() => discard(payload),
        None => cx.fail(pack(payload)),
    }
}

/// Returns who asks in a request with this header, and its continuation. In a request of another process, enters its run or
/// group. Returns `None` if the request need not be served.
fn asker<T: Portable>(header: Header, cx: Option<Cx>) -> Option<(Asker, Option<Return<T>>)> {
    let k = header.k.and_then(|name| Return::named(name, cx));
    // SAFETY: a leaf lives until its continuation gives it up.
    match unsafe { header.asker(cx, k.as_ref().map(Return::leaf)) } {
        Some(of) => Some((of, k)),
        None => {
            drop_quietly(k);
            None
        }
    }
}

/// Answers a request that could not be read with an error.
#[cold]
fn unread<T: Portable>(cx: Option<Cx>, of: Asker, k: Option<Return<T>>, error: Unreadable) {
    if let Some(cx) = cx.filter(|cx| cx.try_enter(of.group())) {
        answer(cx, Reply { home: of.home(), k }, Err(Payload::new(error.to_string())));
    }
}

impl<W: Work> Request<W> {
    /// Does the work, in the request's run or group, which the worker has entered.
    #[inline]
    fn serve(self, cx: Cx) {
        let Request { of, k, work } = self;
        let home = of.home();
        match W::ANYWHERE {
            true => cx.leave_node(),
            false => cx.enter_node(work.node()),
        }
        origin::forget();
        // SAFETY: `enter_node` put the worker at the work's node, and `deliver` opens the outcome and awaits a
        // suspended callee.
        unsafe { deliver(cx, Reply { home, k }, |cx| work.run(cx)) };
        cx.flush_exposed();
    }
}

/// Makes a call, and sends its result to `reply`: at once, or, if the call suspends, by a frame or another node.
///
/// # Safety
/// `call` returns the outcome of a call under the conditions of [`Task::call`], and borrows nothing.
#[inline]
pub(super) unsafe fn deliver<T: Portable>(cx: Cx, reply: Reply<T>, call: impl FnOnce(Cx) -> Outcome<T>) {
    let before = cx.set_may_forward(true);
    let called = catch_unwind(AssertUnwindSafe(|| call(cx).open::<AnyTask<T>>()));
    cx.set_may_forward(before);
    delivered(cx, reply, called);
}

/// The second half of [`deliver`], compiled once per type of value instead of once per call.
fn delivered<T: Portable>(cx: Cx, reply: Reply<T>, called: thread::Result<Result<T, Child<AnyTask<T>>>>) {
    match called {
        Ok(Ok(value)) => answer(cx, reply, Ok(value)),
        Ok(Err(child)) => match Nodes::of(cx).take_pending_call(cx, child.frame()) {
            Some(request) => forward(cx, reply, child, request),
            None => Answering::start(cx, reply, child),
        },
        Err(payload) => answer(cx, reply, Err(pack(payload))),
    }
}

/// Forwards: sends `request`, the pending call that was the work's last await, with `reply` as its reply destination.
/// `child` is the leaf of `request`.
fn forward<T: Portable>(cx: Cx, reply: Reply<T>, child: Child<AnyTask<T>>, request: Box<dyn PendingCall>) {
    child.unwaited();
    if reply.home == ANY {
        // Perhaps no task of this run waits for the answer: `reply` has no continuation, or its waiter belongs to
        // another run. So the request counts as one-way.
        cx.with_run(Run::posts);
    }
    cx.core().counters.messages_forwarded.add(1);
    let onward = reply.k.map(Return::onward);
    // SAFETY: `onward` is from a `Return<T>`, and `T` is the request's output type, because the call returned the
    // request's leaf as the child of an `AnyTask<T>`. `unwaited` above has released that leaf.
    unsafe { request.redirect(cx, reply.home, onward) };
}

/// Resolves the continuation of `reply` with `result`, on its home worker. Without a continuation, a value is dropped
/// and a panic fails the run.
#[inline]
pub(super) fn answer<T: Portable>(cx: Cx, reply: Reply<T>, result: Result<T, Payload>) {
    let nodes = Nodes::of(cx);
    let Reply { home, k } = reply;
    let Some(k) = k else {
        return match result {
            Ok(value) => drop_quietly(value),
            // No continuation takes the panic, so it fails the run.
            Err(payload) => cx.fail(payload),
        };
    };
    match k {
        Return::Here(k) if home == ANY || home == nodes.worker() => {
            nodes.charge();
            quietly_here(|| k.end(result));
        }
        Return::Here(k) => nodes.send(cx, home, Answer { k: Return::Here(k), result }),
        Return::Away(away) => {
            let home = away.home();
            nodes.send(cx, home, Answer { k: Return::Away(away), result });
        }
    }
}

/// A message with an answer.
struct Answer<T> {
    k: Return<T>,
    result: Result<T, Payload>,
}

impl<T: Portable> Handler for Answer<T> {
    fn bytes_elsewhere(&self) -> usize {
        self.result.as_ref().map_or(0, bytes_elsewhere)
    }

    fn write(self, to: &mut Writer) -> bool {
        let Answer { k, result, .. } = self;
        // SAFETY: only workers send messages, and the context is used at once.
        let k = k.into_name(unsafe { context::cx() });
        let before = to.mark();
        let payload = match result {
            Ok(value) => {
                write_return(Some(k), GOOD, to);
                let written = to.part(|to| to.value(&value));
                // The message contains the encoded value. No caller could receive a panic of the original's destructor.
                drop_quietly(value);
                let Err(payload) = written else {
                    to.name_kept(before, KEEPS);
                    return true;
                };
                to.back_to(before);
                pack(payload)
            }
            Err(payload) => payload,
        };
        write_return(Some(k), 0, to);
        write_payload(payload, to);
        true
    }

    fn arrive(mut from: Reader<'_>, cx: Option<Cx>) {
        let Some((Some(name), flags)) = read_return(&mut from) else { return };
        let good = flags & GOOD != 0;
        // The wait may have ended, with its run.
        let arguments = if flags & KEEPS != 0 { Arguments::of(&from, cx) } else { None };
        let Some(Return::Here(k)) = Return::<T>::named(name, cx) else { return };
        if let Some(cx) = cx.filter(|_| from.travels() == Travels::Out) {
            enter_run_of(cx, &k);
        }
        let result = if good {
            from.value().map_err(|error| Payload::new(error.to_string()))
        } else {
            Err(read_payload(&mut from))
        };
        drop(arguments);
        match cx {
            Some(cx) => complete(cx, k, result),
            None => drop((k, result)),
        }
    }

    #[inline]
    fn handle(self, cx: Cx) {
        match self.k {
            Return::Here(k) => complete(cx, k, self.result),
            Return::Away(_) => unreachable!("an answer arrives where its wait is"),
        }
    }
}
