//! Calls of objects' methods.

use std::marker::PhantomData;
use std::panic::Location;
use std::ptr::NonNull;

use super::Portable;
use super::checked::Checked;
use super::error::{Refusal, Which, throw};
use super::host::Nodes;
use super::lock::{During, Hold, InLine};
use super::reference::{Object, Ref};
use super::remote::{self, Work};
use super::table::{self, Access, Found};
use crate::message::wire::{Reader, Unreadable, Wire, Writer};
use crate::task::call::{Task, call, call_after_trip, call_async, sealed, wait};
use crate::task::context::Cx;
use crate::task::fallback::{Enter, fallback_here};
use crate::task::frame::{FrameRef, Place};
use crate::task::located;
use crate::task::origin::{Named, Note};
use crate::task::outcome::{Child, Outcome};
use crate::task::suspend::{Continuation, suspend_at};
use crate::task::words::Parcel;

/// A method of an object's type.
///
/// # Safety
/// Only generated code implements it: `PLAIN` is said of methods that are no tasks only, and `run` uses the object as
/// `ACCESS` says, and keeps the call protocol.
pub unsafe trait Method: Named + Sized + 'static {
    /// Whose method.
    type Object: Object;
    /// What it takes, as a tuple.
    type Args: Portable;
    /// What it delivers.
    type Output: Portable;
    /// How it uses the object.
    const ACCESS: Access;
    /// It is a plain function: it neither waits nor is interrupted.
    const PLAIN: bool;
    /// Its name.
    const NAME: &'static str;

    /// Calls it.
    ///
    /// # Safety
    /// At the object's home, which the caller holds as `ACCESS` says until the outcome has ended; `object` is the
    /// object, if that is not nothing.
    unsafe fn run(
        this: Ref<Self::Object>,
        object: NonNull<Self::Object>,
        args: Self::Args,
        cx: Cx,
    ) -> Outcome<Self::Output>;
}

/// A call of a method through a reference: a task, which runs where the object lives.
///
/// On the object's own node, if nobody holds it, that costs a few instructions more than the plain call
/// (`finespun bench invocation`); else the call waits in line, or travels to the object, and the caller becomes a frame.
///
/// `.await` throws what goes wrong: the method's panic, or a [`CallError`](super::error::CallError) for an object that has
/// been dropped or is poisoned. [`checked`](Call::checked) returns it.
#[must_use = "a call does nothing until it is awaited"]
pub struct Call<M: Method> {
    target: Ref<M::Object>,
    args: M::Args,
    place: Place,
}

// SAFETY: the arguments are `Portable`, hence `Send`.
unsafe impl<M: Method> Send for Call<M> {}

impl<M: Method> Call<M> {
    /// Generated code's.
    #[doc(hidden)]
    #[inline(always)]
    #[track_caller]
    pub fn new(target: Ref<M::Object>, args: M::Args) -> Call<M> {
        Call { target, args, place: Location::caller() }
    }

    /// The same call, which delivers what goes wrong as an error instead of throwing it.
    pub fn checked(self) -> Checked<M> {
        Checked(self)
    }

    pub(crate) fn into_work(self) -> Invoke<M> {
        Invoke { target: self.target, args: self.args }
    }

    pub(crate) fn which(target: Ref<M::Object>) -> Which {
        Which { object: M::Object::NAME, method: M::NAME, node: target.name().node() }
    }

    pub(crate) fn target(&self) -> Ref<M::Object> {
        self.target
    }

    /// Calls the method of an object that is here, and free.
    ///
    /// # Safety
    /// As [`Task::call`]; that is the object.
    #[inline(always)]
    unsafe fn free(self, cx: Cx, object: NonNull<()>) -> Outcome<M::Output> {
        let object = object.cast::<M::Object>();
        if M::ACCESS == Access::None {
            // SAFETY: at home; the object is not used.
            return unsafe { M::run(self.target, object, self.args, cx) };
        }
        if M::PLAIN {
            let note = Note::<M>::new();
            let whole = Whole::<M>(self.target, PhantomData);
            // SAFETY: at home, and free: nobody else looks at the object until a plain function has ended.
            let outcome = unsafe { M::run(self.target, object, self.args, cx) };
            std::mem::forget(whole);
            note.end();
            // SAFETY: a plain function does not suspend.
            return unsafe { outcome.ended() };
        }
        let name = self.target.name();
        // SAFETY: just found free, here.
        let hold = unsafe { During::of_free(cx, name) };
        // SAFETY: passed on.
        unsafe { inside(cx, hold, Inside::<M> { target: self.target, object, args: self.args }) }
    }

    /// At the object's home: what is not free.
    ///
    /// # Safety
    /// As [`Task::call`].
    #[cold]
    #[inline(never)]
    unsafe fn here(self, cx: Cx) -> Outcome<M::Output> {
        let name = self.target.name();
        let table = Nodes::of(cx).table(name.node());
        let refused = |refusal| -> Outcome<M::Output> { throw(Self::which(self.target).refused(refusal)) };
        if matches!(M::ACCESS, Access::None | Access::Constant) {
            let Some(object) = table.peek(name) else { return refused(table.stale(name)) };
            // SAFETY: at home; of the object nothing is used, or what nobody changes.
            return unsafe { M::run(self.target, object.cast(), self.args, cx) };
        }
        match table.hold(name, M::ACCESS == Access::Exclusive) {
            // SAFETY: passed on.
            Found::Held(hold) => unsafe { held(cx, Held::<M> { hold, target: self.target, args: self.args }) },
            // SAFETY: passed on.
            Found::Busy => unsafe { self.in_line(cx) },
            Found::Refused(refusal) => refused(refusal),
        }
    }

    /// Waits in line for the object, then calls the method.
    ///
    /// # Safety
    /// As [`Task::call`].
    unsafe fn in_line(self, cx: Cx) -> Outcome<M::Output> {
        let name = self.target.name();
        let table = Nodes::of(cx).table(name.node());
        let line = suspend_at(self.place, |granted: Continuation<Option<Hold>>| {
            table.wait(name.index(), M::ACCESS == Access::Exclusive, granted);
        });
        // SAFETY: passed on.
        match unsafe { call(cx, line.forced()) }.open() {
            Ok(_) => unreachable!("forced to wait"),
            Err(child) => {
                let entry = (child, self, InLine(name));
                // SAFETY: the body takes its entry first, and waits at once.
                unsafe {
                    fallback_here(entry, |enter: Enter<_>| async move {
                        let (child, call, line) = enter.take();
                        let hold = wait(child).await;
                        line.served();
                        let Some(hold) = hold else { throw(Self::which(call.target).refused(Refusal::DROPPED)) };
                        call_async(Held::<M> { hold, target: call.target, args: call.args }).await
                    })
                }
            }
        }
    }
}

impl<M: Method> sealed::Sealed for Call<M> {}
impl<M: Method> Task for Call<M> {
    type Output = M::Output;
    const STRAIGHT: bool = false;

    #[inline(always)]
    unsafe fn call(self, cx: Cx) -> Outcome<M::Output> {
        match table::free_here(cx, self.target.name()) {
            // SAFETY: passed on; just found.
            Some(object) => unsafe { self.free(cx, object) },
            // SAFETY: passed on; the parcel is taken once.
            None => unsafe { elsewhere(&mut Parcel::new(self), cx) }.opaque(),
        }
    }

    #[inline(always)]
    unsafe fn call_guarded(self, cx: Cx) -> Outcome<M::Output> {
        if cx.trips() {
            // SAFETY: the parcel is taken once.
            return unsafe { tripped(&mut Parcel::new(self), cx) }.opaque();
        }
        // SAFETY: passed on.
        unsafe { self.call(cx) }
    }

    fn start(self, cx: Cx) -> FrameRef {
        if self.target.name().node() == cx.node() || !Nodes::of(cx).knows(self.target.name()) {
            return located::start(cx, self);
        }
        let place = self.place;
        // It is under way at once.
        // SAFETY: the child is given to the caller, who waits for it.
        match unsafe { call(cx, Away(self, place)) }.open() {
            Ok(_) => unreachable!("what is far away is not there at once"),
            Err(child) => child.into_frame(),
        }
    }
}

/// A plain method of a free object that panics has perhaps left it half changed.
struct Whole<M: Method>(Ref<M::Object>, PhantomData<M>);

impl<M: Method> Drop for Whole<M> {
    #[cold]
    fn drop(&mut self) {
        let name = self.0.name();
        // SAFETY: a method runs on a worker; used at once.
        let cx = unsafe { crate::task::context::cx() };
        // Held and not ended.
        if let Found::Held(hold) = Nodes::of(cx).table(name.node()).hold(name, M::ACCESS == Access::Exclusive) {
            drop(hold.begin::<M>());
        }
    }
}

/// What is called where the worker is wanted for something else. Of the outcome, here and below, the optimizer knows
/// nothing, so that it sees that there is no frame on the fast path; and the call is moved into memory for them only.
///
/// # Safety
/// The call is in the parcel, and is moved here.
#[cold]
#[inline(never)]
unsafe fn tripped<M: Method>(call: &mut Parcel<Call<M>>, cx: Cx) -> Outcome<M::Output> {
    // SAFETY: by the caller's word.
    call_after_trip(cx, unsafe { call.take() })
}

/// What is not free, or not here.
///
/// # Safety
/// As [`Task::call`]; the call is in the parcel, and is moved here.
#[cold]
#[inline(never)]
unsafe fn elsewhere<M: Method>(call: &mut Parcel<Call<M>>, cx: Cx) -> Outcome<M::Output> {
    // SAFETY: by the caller's word.
    let call = unsafe { call.take() };
    // First: a worker without nodes is at one that there is not.
    if !Nodes::of(cx).knows(call.target.name()) {
        throw(Call::<M>::which(call.target).refused(Refusal::OTHER_RUNTIME));
    }
    if call.target.name().node() == cx.node() {
        // SAFETY: passed on.
        return unsafe { call.here(cx) };
    }
    let place = call.place;
    // SAFETY: passed on.
    unsafe { Away(call, place).call(cx) }
}

/// A call of an object of another node.
struct Away<M: Method>(Call<M>, Place);

impl<M: Method> sealed::Sealed for Away<M> {}
impl<M: Method> Task for Away<M> {
    type Output = M::Output;
    const STRAIGHT: bool = false;
    unsafe fn call(self, cx: Cx) -> Outcome<M::Output> {
        // SAFETY: passed on.
        unsafe { remote::request(cx, self.0.into_work(), self.1) }
    }
}

/// A call on its way: small, for a message of up to 16 bytes of arguments to lie in one cache line.
pub(crate) struct Invoke<M: Method> {
    target: Ref<M::Object>,
    args: M::Args,
}

impl<M: Method> Wire for Invoke<M> {
    fn write(self, to: &mut Writer) {
        to.value(&(self.target, self.args));
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Unreadable> {
        let (target, args) = from.value()?;
        Ok(Invoke { target, args })
    }
}

impl<M: Method> Work for Invoke<M> {
    type Output = M::Output;

    fn node(&self) -> u32 {
        self.target.name().node()
    }

    #[inline]
    unsafe fn run(self, cx: Cx) -> Outcome<M::Output> {
        let Invoke { target, args } = self;
        let call = Call::<M> { target, args, place: M::ORIGIN.place };
        if cx.block_now() {
            // The papers' parallel-only version: no method runs straight from its message.
            return Outcome::suspended(located::start(cx, call));
        }
        // SAFETY: passed on.
        unsafe { Task::call(call, cx) }
    }
}

/// A call of a method of an object that is held for it.
struct Held<M: Method> {
    hold: Hold,
    target: Ref<M::Object>,
    args: M::Args,
}

impl<M: Method> sealed::Sealed for Held<M> {}
impl<M: Method> Task for Held<M> {
    type Output = M::Output;
    const STRAIGHT: bool = false;
    unsafe fn call(self, cx: Cx) -> Outcome<M::Output> {
        // SAFETY: passed on.
        unsafe { held(cx, self) }
    }

    fn start(self, cx: Cx) -> FrameRef {
        located::start(cx, self)
    }
}

/// The method itself; the type of its child.
struct Inside<M: Method> {
    target: Ref<M::Object>,
    object: NonNull<M::Object>,
    args: M::Args,
}

impl<M: Method> sealed::Sealed for Inside<M> {}
impl<M: Method> Task for Inside<M> {
    type Output = M::Output;
    const STRAIGHT: bool = false;
    #[inline(always)]
    unsafe fn call(self, cx: Cx) -> Outcome<M::Output> {
        // SAFETY: by the word of `held`.
        unsafe { M::run(self.target, self.object, self.args, cx) }
    }
}

/// Calls the method of an object that is held for it, unless it is poisoned.
///
/// # Safety
/// As [`Task::call`]; at home.
unsafe fn held<M: Method>(cx: Cx, call: Held<M>) -> Outcome<M::Output> {
    let Held { hold, target, args } = call;
    let table = Nodes::of(cx).table(target.name().node());
    if table.poisoned(&hold) {
        drop(hold);
        throw(Call::<M>::which(target).refused(Refusal::Poisoned));
    }
    let object = table.object(&hold).cast::<M::Object>();
    // SAFETY: passed on.
    unsafe { inside(cx, hold.begin(), Inside::<M> { target, object, args }) }
}

/// Calls the method, and ends the hold when that has ended.
///
/// # Safety
/// As [`Task::call`]; at home, and the object is held by the method.
#[inline]
unsafe fn inside<M: Method>(cx: Cx, hold: During<M>, method: Inside<M>) -> Outcome<M::Output> {
    let note = Note::<M>::new();
    // SAFETY: the object is held until the call has ended, its child included.
    let called = unsafe { call(cx, method) };
    note.end();
    match called.open() {
        Ok(value) => {
            // SAFETY: at home, by the word of the caller.
            unsafe { hold.end_here(cx) };
            // SAFETY: the call protocol.
            unsafe { Outcome::done(value) }
        }
        Err(child) => {
            hold.suspends(cx);
            // SAFETY: the body takes its entry first, and waits at once.
            unsafe {
                fallback_here((child, hold), |enter: Enter<(Child<Inside<M>>, During<M>)>| async move {
                    let (child, hold) = enter.take();
                    let value = wait(child).await;
                    hold.end();
                    value
                })
            }
        }
    }
}
