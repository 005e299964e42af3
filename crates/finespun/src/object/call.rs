//! Calls of objects' methods.

use std::marker::PhantomData;
use std::panic::Location;
use std::ptr::NonNull;

use super::Portable;
use super::checked::Checked;
use super::error::{Refusal, Which, throw};
use super::host::Nodes;
use super::lock::{MethodGuard, ObjectLock, QueuePosition, SuspendedGuard};
use super::reference::{Object, Ref};
use super::remote::{self, Work};
use super::table::{self, Access, Found, LockAttempt};
use crate::call::fallback::{Enter, fallback_here};
use crate::call::located;
use crate::call::outcome::{AnyTask, Child, Outcome};
use crate::call::words::Parcel;
use crate::call::{Task, call, call_after_trip, sealed, wait};
use crate::frame::context::{self, Cx};
use crate::frame::origin::{Named, Note};
use crate::frame::{CallSite, FrameRef};
use crate::message::wire::{Reader, Unreadable, Wire, Writer, bytes_elsewhere};
use crate::run::continuation::Continuation;
use crate::wait::suspend::suspend_at;

/// A method of an object's type.
///
/// # Safety
/// Only generated code implements this trait. `PLAIN` is true only for methods that are not tasks. `run` uses the
/// object only as `ACCESS` permits, and obeys the call protocol.
pub unsafe trait Method: Named + Sized + 'static {
    /// The type that the method belongs to.
    type Object: Object;
    /// The arguments, as a tuple.
    type Args: Portable;
    /// The result.
    type Output: Portable;
    /// How the method uses the object.
    const ACCESS: Access;
    /// Whether the method is a plain function, which neither waits nor is interrupted.
    const PLAIN: bool;
    /// The method's name.
    const NAME: &'static str;

    /// Calls the method.
    ///
    /// # Safety
    /// The worker is at the object's home, and the caller holds the object in mode `ACCESS` until the outcome has
    /// ended. `object` is the object, unless `ACCESS` is [`Access::None`].
    unsafe fn run(
        this: Ref<Self::Object>,
        object: NonNull<Self::Object>,
        args: Self::Args,
        cx: Cx,
    ) -> Outcome<Self::Output>;
}

/// A call of a method through a reference: a task that runs where the object lives.
///
/// On the object's own node, if the object is unlocked, the call costs a few instructions more than the plain call
/// (`finespun bench invocation`). Otherwise it joins the wait queue, or travels to the object as a message, and the
/// caller becomes a frame.
///
/// `.await` throws any error: the method's panic, or a [`CallError`](super::error::CallError) for an object that has
/// been dropped or is poisoned. [`checked`](Call::checked) returns the error instead.
#[must_use = "a call does nothing until it is awaited"]
pub struct Call<M: Method> {
    target: Ref<M::Object>,
    args: M::Args,
    place: CallSite,
}

// SAFETY: the arguments are `Portable`, which implies `Send`; the other fields are plain values.
unsafe impl<M: Method> Send for Call<M> {}

impl<M: Method> Call<M> {
    /// Called by generated code.
    #[doc(hidden)]
    #[inline(always)]
    #[track_caller]
    pub fn new(target: Ref<M::Object>, args: M::Args) -> Call<M> {
        Call { target, args, place: Location::caller() }
    }

    /// Returns the same call, which delivers any error as a value instead of throwing it.
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

    /// Calls the method of an object that is free and at this node. `IN_LOOP`: see [`Task::call_in_loop`].
    ///
    /// # Safety
    /// As [`Task::call`]; [`table::free_here`] has just found the object of this call's target.
    #[inline(always)]
    unsafe fn free<const IN_LOOP: bool>(self, cx: Cx, found: Found<M::Object>) -> Outcome<M::Output> {
        let object = found.object();
        if M::ACCESS == Access::None {
            // SAFETY: the worker is at the object's home, and the method does not use the object.
            return unsafe { M::run(self.target, object, self.args, cx) };
        }
        if M::PLAIN {
            let note = Note::<M>::new();
            let whole = PoisonOnPanic::<M>(self.target, PhantomData);
            // SAFETY: the worker is at the object's home, and the object is free: no other code accesses it until the
            // plain method has ended.
            let outcome = unsafe { M::run(self.target, object, self.args, cx) };
            std::mem::forget(whole);
            note.end();
            // SAFETY: a plain function does not suspend.
            return unsafe { outcome.ended() };
        }
        let name = self.target.name();
        // SAFETY: the caller has just found the object by `free_here`.
        let hold = unsafe { MethodGuard::of_free(found, name) };
        let method = MethodBody::<M> { target: self.target, object, args: self.args };
        // SAFETY: the caller opens the outcome and awaits a suspended callee. The worker is at the object's home, and
        // `hold` has just locked the object.
        unsafe {
            match IN_LOOP {
                true => inside_here(cx, hold, found, method),
                false => inside(cx, hold, found, method),
            }
        }
    }

    /// Implements [`Task::call`] and [`Task::call_in_loop`].
    ///
    /// # Safety
    /// As there.
    #[inline(always)]
    unsafe fn called<const IN_LOOP: bool>(self, cx: Cx) -> Outcome<M::Output> {
        // SAFETY: a reference to an object of this type names one.
        match unsafe { table::free_here::<M::Object>(cx, self.target.name()) } {
            // SAFETY: the caller opens the outcome and awaits a suspended callee; `free_here` has just found the
            // object.
            Some(found) => unsafe { self.free::<IN_LOOP>(cx, found) },
            // SAFETY: the caller opens the outcome and awaits a suspended callee; the parcel holds the call, and is
            // taken once.
            None => unsafe { elsewhere(&mut Parcel::new(self), cx) }.opaque(),
        }
    }

    /// Calls the method at the object's home, when the object has not been found free.
    ///
    /// # Safety
    /// As [`Task::call`]; the worker is at the object's home.
    #[cold]
    #[inline(never)]
    unsafe fn here(self, cx: Cx) -> Outcome<M::Output> {
        let name = self.target.name();
        let table = Nodes::table_of(cx, name.node());
        let refused = |refusal| -> Outcome<M::Output> { throw(Self::which(self.target).refused(refusal)) };
        if matches!(M::ACCESS, Access::None | Access::Constant) {
            // SAFETY: a reference to an object of this type names one.
            let Some(object) = (unsafe { table.peek::<M::Object>(name) }) else { return refused(table.stale(name)) };
            // SAFETY: the worker is at the object's home. The method uses nothing of the object, or only parts that no
            // method changes.
            return unsafe { M::run(self.target, object, self.args, cx) };
        }
        match table.hold(name, M::ACCESS == Access::Exclusive) {
            // SAFETY: the caller opens the outcome and awaits a suspended callee; the worker is at the object's home.
            LockAttempt::Held(hold) => unsafe { held(cx, hold, self) },
            // SAFETY: the caller opens the outcome and awaits a suspended callee.
            LockAttempt::Busy => unsafe { self.wait_for_lock(cx) },
            LockAttempt::Refused(refusal) => refused(refusal),
        }
    }

    /// Makes a frame that runs the method. If the object is free, the frame has its lock from now on, so that later calls
    /// of the object wait for this one: calls from one sender to one object stay in order. The worker is at the object's
    /// home, or the call fails.
    #[cold]
    #[inline(never)]
    fn start_in_order(self, cx: Cx) -> FrameRef {
        let (name, nodes) = (self.target.name(), Nodes::of(cx));
        let here = nodes.knows(name) && name.node() == cx.node();
        if !here || matches!(M::ACCESS, Access::None | Access::Constant) || mutated!(UnorderedOneway) {
            return self.start_here(cx);
        }
        match nodes.table(name.node()).hold(name, M::ACCESS == Access::Exclusive) {
            LockAttempt::Held(hold) => located::start(cx, Begun { hold: Some(hold), call: self }),
            // SAFETY: `cx` is the current worker's, and the caller of this function gets the child and waits for it.
            LockAttempt::Busy => match unsafe { self.wait_for_lock(cx) }.open::<AnyTask<M::Output>>() {
                Ok(_) => unreachable!("a wait for a lock suspends"),
                Err(child) => child.into_frame(),
            },
            // The frame reports the error.
            LockAttempt::Refused(_) => self.start_here(cx),
        }
    }

    /// Makes a ready frame at this node that makes the call.
    fn start_here(self, cx: Cx) -> FrameRef {
        located::start(cx, Begun { hold: None, call: self })
    }

    /// Joins the object's wait queue, then calls the method.
    ///
    /// # Safety
    /// As [`Task::call`].
    unsafe fn wait_for_lock(self, cx: Cx) -> Outcome<M::Output> {
        let name = self.target.name();
        let table = Nodes::table_of(cx, name.node());
        let waiting = suspend_at(self.place, |granted: Continuation<Option<ObjectLock>>| {
            table.wait(name, M::ACCESS == Access::Exclusive, granted);
        });
        // SAFETY: `cx` is the current worker's, and the child is awaited below.
        match unsafe { call(cx, waiting.forced()) }.open() {
            Ok(_) => unreachable!("forced to wait"),
            Err(child) => {
                let entry = (child, self, QueuePosition(name));
                // SAFETY: the body takes its entry first, then waits, with no user code in between.
                unsafe {
                    fallback_here(entry, |enter: Enter<_>| async move {
                        let (child, call, position) = enter.take();
                        let hold = wait(child).await;
                        match served(context::cx(), hold, call, position).open::<AnyTask<M::Output>>() {
                            Ok(value) => value,
                            Err(child) => wait(child).await,
                        }
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
        // SAFETY: the caller opens the outcome and awaits a suspended callee.
        unsafe { self.called::<false>(cx) }
    }

    #[inline(always)]
    unsafe fn call_guarded(self, cx: Cx) -> Outcome<M::Output> {
        if cx.trips() {
            // SAFETY: the parcel holds the call, and is taken once.
            return unsafe { tripped(&mut Parcel::new(self), cx) }.opaque();
        }
        // SAFETY: the caller opens the outcome and awaits a suspended callee.
        unsafe { self.called::<false>(cx) }
    }

    #[inline(always)]
    unsafe fn call_in_loop(self, cx: Cx) -> Outcome<M::Output> {
        if cx.trips() {
            // SAFETY: the parcel holds the call, and is taken once.
            return unsafe { tripped(&mut Parcel::new(self), cx) }.opaque();
        }
        // SAFETY: the caller opens the outcome and awaits a suspended callee.
        unsafe { self.called::<true>(cx) }
    }

    fn start(self, cx: Cx) -> FrameRef {
        if self.target.name().node() == cx.node() || !Nodes::of(cx).knows(self.target.name()) {
            return self.start_here(cx);
        }
        let place = self.place;
        // Sends the request now, not when the frame first runs.
        // SAFETY: `cx` is the current worker's, and the caller of `start` gets the child and waits for it.
        match unsafe { call(cx, RemoteCall(self, place)) }.open() {
            Ok(_) => unreachable!("a remote call always suspends"),
            Err(child) => child.into_frame(),
        }
    }
}

/// A drop guard for a plain method of a free object. If the method panics, the destructor poisons the object, provided
/// that the method is exclusive.
struct PoisonOnPanic<M: Method>(Ref<M::Object>, PhantomData<M>);

impl<M: Method> Drop for PoisonOnPanic<M> {
    #[cold]
    fn drop(&mut self) {
        let name = self.0.name();
        // SAFETY: a method runs on a worker; the context is used at once.
        let cx = unsafe { context::cx() };
        // Dropping a method's lock poisons an object that the method could change.
        if let LockAttempt::Held(hold) = Nodes::table_of(cx, name.node()).hold(name, M::ACCESS == Access::Exclusive) {
            drop(hold.begin::<M>());
        }
    }
}

/// Makes the call after the guard has tripped.
///
/// The callers of this and of `elsewhere` make the outcome opaque. Otherwise the optimizer would merge these paths with
/// the fast path, whose outcome it knows to have no frame. The call is in a parcel, so that only these paths move it
/// into memory.
///
/// # Safety
/// The parcel holds the call, which is moved out here.
#[cold]
#[inline(never)]
unsafe fn tripped<M: Method>(call: &mut Parcel<Call<M>>, cx: Cx) -> Outcome<M::Output> {
    // SAFETY: the caller guarantees that the parcel holds the call, and does not take it again.
    call_after_trip(cx, unsafe { call.take() })
}

/// Makes the call when the object is not free or not at this node.
///
/// # Safety
/// As [`Task::call`]; the parcel holds the call, which is moved out here.
#[cold]
#[inline(never)]
unsafe fn elsewhere<M: Method>(call: &mut Parcel<Call<M>>, cx: Cx) -> Outcome<M::Output> {
    // SAFETY: the caller guarantees that the parcel holds the call, and does not take it again.
    let call = unsafe { call.take() };
    // Checked first: the current node of a worker without nodes is a number that no node has, and the name of another
    // runtime's object may contain that number.
    if !Nodes::of(cx).knows(call.target.name()) {
        throw(Call::<M>::which(call.target).refused(Refusal::OTHER_RUNTIME));
    }
    if call.target.name().node() == cx.node() {
        // SAFETY: the caller opens the outcome and awaits a suspended callee; the worker is at the object's home.
        return unsafe { call.here(cx) };
    }
    let place = call.place;
    // SAFETY: the caller opens the outcome and awaits a suspended callee.
    unsafe { RemoteCall(call, place).call(cx) }
}

/// A call of an object of another node.
struct RemoteCall<M: Method>(Call<M>, CallSite);

impl<M: Method> sealed::Sealed for RemoteCall<M> {}
impl<M: Method> Task for RemoteCall<M> {
    type Output = M::Output;
    const STRAIGHT: bool = false;
    unsafe fn call(self, cx: Cx) -> Outcome<M::Output> {
        // SAFETY: the caller opens the outcome and awaits a suspended callee.
        unsafe { remote::request(cx, self.0.into_work(), self.1) }
    }
}

/// A local one-way call. If it leaves the stack, later calls from the same sender do not overtake it.
pub(super) struct InOrder<M: Method>(pub(super) Call<M>);

impl<M: Method> sealed::Sealed for InOrder<M> {}
impl<M: Method> Task for InOrder<M> {
    type Output = M::Output;
    const STRAIGHT: bool = false;

    unsafe fn call(self, cx: Cx) -> Outcome<M::Output> {
        // SAFETY: the caller opens the outcome and awaits a suspended callee.
        unsafe { self.0.call(cx) }
    }

    fn start(self, cx: Cx) -> FrameRef {
        self.0.start_in_order(cx)
    }
}

/// A call in a message. It is small, so that a message with up to 16 bytes of arguments fits in one cache line.
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

    fn bytes_elsewhere(&self) -> usize {
        bytes_elsewhere(&self.args)
    }

    fn node(&self) -> u32 {
        self.target.name().node()
    }

    #[inline]
    unsafe fn run(self, cx: Cx) -> Outcome<M::Output> {
        let Invoke { target, args } = self;
        let call = Call::<M> { target, args, place: M::ORIGIN.place };
        if cx.block_now() {
            // Under block-every-n, this method does not run straight from its message. With n = 1 none does: the
            // papers' parallel-only version.
            return Outcome::suspended(call.start_in_order(cx));
        }
        // SAFETY: the caller opens the outcome and awaits a suspended callee.
        unsafe { Task::call(call, cx) }
    }
}

/// A call in a frame of its own, with the lock on its object if that has been taken already.
struct Begun<M: Method> {
    hold: Option<ObjectLock>,
    call: Call<M>,
}

impl<M: Method> sealed::Sealed for Begun<M> {}
impl<M: Method> Task for Begun<M> {
    type Output = M::Output;
    const STRAIGHT: bool = false;
    unsafe fn call(self, cx: Cx) -> Outcome<M::Output> {
        match self.hold {
            // SAFETY: the caller opens the outcome and awaits a suspended callee. A lock is taken only at the object's
            // home, to which the frame belongs.
            Some(hold) => unsafe { held(cx, hold, self.call) },
            // SAFETY: the caller opens the outcome and awaits a suspended callee.
            None => unsafe { Task::call(self.call, cx) },
        }
    }

    fn start(self, cx: Cx) -> FrameRef {
        located::start(cx, self)
    }
}

/// The task that runs the method itself, on an object that its caller has locked.
struct MethodBody<M: Method> {
    target: Ref<M::Object>,
    object: NonNull<M::Object>,
    args: M::Args,
}

impl<M: Method> sealed::Sealed for MethodBody<M> {}
impl<M: Method> Task for MethodBody<M> {
    type Output = M::Output;
    const STRAIGHT: bool = false;
    #[inline(always)]
    unsafe fn call(self, cx: Cx) -> Outcome<M::Output> {
        // SAFETY: the caller of `inside` or `inside_here` guarantees that the worker is at the object's home and that the
        // object is locked for the method.
        unsafe { M::run(self.target, self.object, self.args, cx) }
    }
}

/// Calls the method of an object that is locked for it, unless the object is poisoned.
///
/// # Safety
/// As [`Task::call`]; the worker is at the object's home.
unsafe fn held<M: Method>(cx: Cx, hold: ObjectLock, call: Call<M>) -> Outcome<M::Output> {
    let Call { target, args, .. } = call;
    let table = Nodes::table_of(cx, target.name().node());
    if table.poisoned(&hold) {
        drop(hold);
        throw(Call::<M>::which(target).refused(Refusal::Poisoned));
    }
    // SAFETY: a reference to an object of this type names one.
    let found = unsafe { table.locked::<M::Object>(&hold) };
    let (hold, method) = (hold.begin(), MethodBody::<M> { target, object: found.object(), args });
    if M::PLAIN {
        let note = Note::<M>::new();
        // SAFETY: the worker is at the object's home, and `hold` is the object's lock. A plain function does not suspend.
        let outcome = unsafe { method.call(cx).ended() };
        note.end();
        // SAFETY: the table has just found the object.
        unsafe { hold.end_here(found) };
        return outcome;
    }
    // SAFETY: the caller opens the outcome and awaits a suspended callee, and guarantees that the worker is at the
    // object's home. `hold` is the object's lock.
    unsafe { inside(cx, hold, found, method) }
}

/// Calls the method of an object for whose lock the call has waited, after a guard check, unless the object has been dropped.
///
/// # Safety
/// As [`held`].
unsafe fn served<M: Method>(
    cx: Cx,
    hold: Option<ObjectLock>,
    call: Call<M>,
    position: QueuePosition,
) -> Outcome<M::Output> {
    position.served();
    let Some(hold) = hold else { throw(Call::<M>::which(call.target).refused(Refusal::DROPPED)) };
    // SAFETY: the caller guarantees the same.
    unsafe { Begun { hold: Some(hold), call }.call_guarded(cx) }
}

/// Calls the method, and releases the lock when the method has ended.
///
/// What waits for a suspended method is part of this function, so that it is inlined in small callers only: the pair loop of
/// MD-Force, for instance, needs its registers for what it calls more often. That takes 15% of its time, so measure any change.
///
/// # Safety
/// As [`inside_here`].
#[inline]
unsafe fn inside<M: Method>(
    cx: Cx,
    hold: MethodGuard<M>,
    found: Found<M::Object>,
    method: MethodBody<M>,
) -> Outcome<M::Output> {
    let note = Note::<M>::new();
    // SAFETY: `cx` is the current worker's, and a child is awaited below. The lock is held until the child has ended
    // too.
    let called = unsafe { call(cx, method) };
    note.end();
    match called.open() {
        Ok(value) => {
            // SAFETY: the caller guarantees that the object is there.
            unsafe { hold.end_here(found) };
            // SAFETY: the value is this call's own outcome, as the call protocol requires.
            unsafe { Outcome::done(value) }
        }
        // SAFETY: the caller opens the outcome and awaits a suspended callee, and guarantees that the worker is at the
        // object's home. `hold` locks the object of the child's method, whose arguments are `'static`.
        Err(child) => unsafe { suspends(hold.suspends(cx), child.any()) },
    }
}

/// Does the same, inlined, in a loop of little but this call: see [`Task::call_in_loop`].
///
/// # Safety
/// As [`Task::call`]; the worker is at the object's home, and `hold` is the method's lock on the object, which is at
/// `found`.
#[inline(always)]
unsafe fn inside_here<M: Method>(
    cx: Cx,
    hold: MethodGuard<M>,
    found: Found<M::Object>,
    method: MethodBody<M>,
) -> Outcome<M::Output> {
    let note = Note::<M>::new();
    // SAFETY: `cx` is the current worker's, and a child is awaited by `suspends_apart`. The lock is held until the child
    // has ended too.
    let called = unsafe { call(cx, method) };
    note.end();
    if called.suspended() {
        // SAFETY: `suspended` has just returned true, and a method's arguments are `'static`. The caller opens the outcome and awaits a suspended callee, and
        // guarantees that the worker is at the object's home. `hold` locks the object of the child's method.
        return unsafe { suspends_apart(cx, hold, called.child().any()) }.opaque();
    }
    // SAFETY: `suspended` has just returned false.
    let value = unsafe { called.value() };
    // SAFETY: the caller guarantees that the object is there.
    unsafe { hold.end_here(found) };
    // SAFETY: the value is this call's own outcome, as the call protocol requires.
    unsafe { Outcome::done(value) }
}

/// Makes a frame that waits for a method that has suspended, and then releases the lock.
///
/// # Safety
/// As [`Task::call`]; the worker is at the object's home, `child` is a call of a method of the object that `hold` locks, and
/// the caller owns it.
#[inline(always)]
unsafe fn suspends<T>(hold: SuspendedGuard, child: Child<AnyTask<T>>) -> Outcome<T> {
    // SAFETY: the body takes its entry first, then waits, with no user code in between.
    unsafe {
        fallback_here((child, hold), |enter: Enter<(Child<AnyTask<T>>, SuspendedGuard)>| async move {
            let (child, hold) = enter.take();
            let value = wait(child).await;
            hold.end();
            value
        })
    }
}

/// Does the same out of line.
///
/// # Safety
/// As [`suspends`].
#[cold]
#[inline(never)]
unsafe fn suspends_apart<M: Method>(
    cx: Cx,
    hold: MethodGuard<M>,
    child: Child<AnyTask<M::Output>>,
) -> Outcome<M::Output> {
    // SAFETY: the caller guarantees the same.
    unsafe { suspends(hold.suspends(cx), child) }
}
