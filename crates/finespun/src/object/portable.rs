//! Portable tasks: calls that have not begun may move to another process.
//!
//! A frame that has not begun contains a task: a description of a call, here a closure that can be asked for the call's
//! arguments instead. Another process that asks for work gets the arguments in a [request](super::remote), makes a task
//! from them, and runs it as any other. The frame waits for the answer. Borrowed arguments are sent by value: the receiver
//! owns a copy while the task runs.

use std::cell::Cell;
use std::marker::PhantomData;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Portable;
use super::error::{read_payload, write_payload};
use super::remote::{Work, request_of_worker};
use crate::call::bounds::only_in_tasks;
use crate::call::elsewhere::{Elsewhere, Several};
use crate::call::outcome::Outcome;
use crate::call::{CallFuture, Task, migrate, sealed};
use crate::frame::context::Cx;
use crate::frame::{BodyFrame, CallSite, FrameRef, VTable, drop_quietly};
use crate::iterate::many;
use crate::message::wire::{Part, Reader, Unreadable, Wire, Writer};

/// A function marked `#[task(portable)]`, for generated code: how its calls are made in another process.
pub trait PortableCall: 'static {
    /// The arguments; owned, where the function borrows.
    type Arguments: Portable;
    /// The result.
    type Output: Portable;
    /// Where the function is.
    const PLACE: CallSite;
    /// Makes the task of a call.
    fn task(arguments: Self::Arguments) -> impl Task<Output = Self::Output> + Send + 'static;
}

/// The request of the caller of a portable task's code.
pub enum PortableWay<'a, A> {
    /// The outcome of the call.
    Call(Cx),
    /// The arguments, which the code stores here. It returns no outcome.
    Arguments(&'a mut Option<A>),
}

/// A task that may run in another process.
pub struct PortableTask<const SCALARS: bool, P, A, F> {
    code: F,
    call: PhantomData<fn() -> (P, A)>,
}

/// Returns the closure, whose argument and result get their types from the bound.
#[inline(always)]
pub fn portable_code<P, A, F>(code: F) -> F
where
    P: PortableCall,
    F: FnOnce(PortableWay<'_, A>) -> Outcome<P::Output>,
{
    code
}

/// Returns an outcome that is not opened.
///
/// # Safety
/// Only for generated code: the outcome is not opened.
#[inline(always)]
pub unsafe fn no_outcome<T>() -> Outcome<T> {
    // SAFETY: the caller does not open it.
    unsafe { Outcome::nothing() }
}

/// # Safety
/// `code`, asked for the call, must keep the call protocol, as generated code does. The arguments are encoded as
/// `P::Arguments` are.
#[inline(always)]
pub unsafe fn portable_task<const SCALARS: bool, P, A, F>(code: F) -> PortableTask<SCALARS, P, A, F>
where
    P: PortableCall,
    A: Serialize,
    F: FnOnce(PortableWay<'_, A>) -> Outcome<P::Output>,
{
    PortableTask { code, call: PhantomData }
}

impl<const SCALARS: bool, P, A, F> PortableTask<SCALARS, P, A, F> {
    fn arguments(self) -> A
    where
        P: PortableCall,
        F: FnOnce(PortableWay<'_, A>) -> Outcome<P::Output>,
    {
        let mut arguments = None;
        // Not opened.
        let _ = (self.code)(PortableWay::Arguments(&mut arguments));
        match arguments {
            Some(arguments) => arguments,
            None => unreachable!("the arguments were asked for"),
        }
    }
}

impl<const SCALARS: bool, P, A, F> sealed::Sealed for PortableTask<SCALARS, P, A, F> {}
only_in_tasks!([const SCALARS: bool, P, A, F] PortableTask<SCALARS, P, A, F>);
impl<const SCALARS: bool, P, A, F> Task for PortableTask<SCALARS, P, A, F>
where
    P: PortableCall,
    A: Serialize,
    F: FnOnce(PortableWay<'_, A>) -> Outcome<P::Output>,
{
    type Output = P::Output;
    const STRAIGHT: bool = false;
    const IN_REGISTERS: bool = SCALARS;
    const ELSEWHERE: Option<Elsewhere<Self>> = Some(Elsewhere {
        one: |cx, to, task| send::<One<P>, _>(cx, to, P::PLACE, task.arguments()),
        many: |cx, to, tasks| {
            let arguments: Vec<A> = tasks.into_iter().map(Self::arguments).collect();
            send::<Many<P>, _>(cx, to, P::PLACE, arguments)
        },
    });

    #[inline(always)]
    unsafe fn call(self, cx: Cx) -> Outcome<P::Output> {
        (self.code)(PortableWay::Call(cx))
    }

    fn start(self, cx: Cx) -> FrameRef {
        let table = const { &VTable { migrate: Some(migrate::<Self>), ..*BodyFrame::<CallFuture<Self>>::VTABLE } };
        let frame = BodyFrame::with_table(cx, CallFuture::fresh(self), table);
        cx.make_ready(frame);
        frame
    }
}

/// Calls with arguments of another process.
trait Calls: Send + 'static {
    type Arguments: Portable;
    type Output: Portable;
    /// Makes a ready frame that makes the calls.
    fn start(cx: Cx, arguments: Self::Arguments) -> FrameRef;
}

/// One call.
struct One<P>(PhantomData<fn() -> P>);

impl<P: PortableCall> Calls for One<P> {
    type Arguments = P::Arguments;
    type Output = P::Output;
    fn start(cx: Cx, arguments: P::Arguments) -> FrameRef {
        P::task(arguments).start(cx)
    }
}

/// Calls one after the other.
struct Many<P>(PhantomData<fn() -> P>);

impl<P: PortableCall> Calls for Many<P> {
    type Arguments = Vec<P::Arguments>;
    type Output = Several<P::Output>;
    fn start(cx: Cx, arguments: Vec<P::Arguments>) -> FrameRef {
        many::rest::start_all(cx, arguments.into_iter().map(P::task).collect())
    }
}

/// Calls on their way to a worker of another process.
enum Moved<C: Calls> {
    /// At the sender.
    Leaving(Part),
    /// At the receiver.
    Arrived(C::Arguments),
}

/// Sends calls with these arguments to worker `to`.
fn send<C: Calls, A: Serialize>(cx: Cx, to: u32, place: CallSite, arguments: A) -> Outcome<C::Output> {
    let part = Part::written(|writer| writer.part(|writer| writer.value(&arguments)));
    // The message contains them. No caller could receive a panic of their destructors.
    drop_quietly(arguments);
    let work = part.map(Moved::<C>::Leaving);
    request_of_worker(cx, to, work, place)
}

impl<C: Calls> Wire for Moved<C> {
    fn write(self, to: &mut Writer) {
        match self {
            Moved::Leaving(arguments) => arguments.write(to),
            Moved::Arrived(arguments) => to.value(&arguments),
        }
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Unreadable> {
        from.value().map(Moved::Arrived)
    }
}

impl<C: Calls> Work for Moved<C> {
    type Output = C::Output;
    const ANYWHERE: bool = true;

    fn node(&self) -> u32 {
        unreachable!("it runs at any node")
    }

    unsafe fn run(self, cx: Cx) -> Outcome<C::Output> {
        match self {
            // A ready frame, so that other workers of this process may take it.
            Moved::Arrived(arguments) => Outcome::suspended(C::start(cx, arguments)),
            Moved::Leaving(..) => unreachable!("the work runs in another process"),
        }
    }
}

impl<V: Portable> Serialize for Several<V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // Encoded once: the caller drops it afterwards.
        let panic = self.panic.take().map(|payload| {
            let mut to = Writer::of_bytes();
            write_payload(payload, &mut to);
            to.into_bytes()
        });
        (&self.values, panic).serialize(serializer)
    }
}

impl<'de, V: Portable> Deserialize<'de> for Several<V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Several<V>, D::Error> {
        let (values, panic) = <(Vec<V>, Option<Vec<u8>>)>::deserialize(deserializer)?;
        let panic = panic.map(|bytes| read_payload(&mut Reader::arrived(&bytes)));
        Ok(Several { values, panic: Cell::new(panic) })
    }
}
