//! Creation of objects, and their removal.

use std::panic::Location;

use super::Portable;
use super::class::Class;
use super::error::{Refusal, Which, throw};
use super::host::Nodes;
use super::lock::{ObjectLock, QueuePosition};
use super::reference::{Object, Ref};
use super::remote::{self, Work};
use super::table::LockAttempt;
use crate::call::fallback::{Enter, fallback_here};
use crate::call::located;
use crate::call::outcome::Outcome;
use crate::call::{Task, call, sealed, wait};
use crate::frame::context::{self, Cx};
use crate::frame::{CallSite, FrameRef};
use crate::message::wire::{Reader, Unreadable, Wire, Writer, bytes_elsewhere, recreate};
use crate::run::continuation::Continuation;
use crate::wait::suspend::suspend_at;

/// A handle to a node, through which a task creates objects or calls tasks there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct On {
    node: usize,
}

/// Returns a handle to node number `node`, checked only on use: `on(3).create(Particle::new()).await`.
pub fn on(node: usize) -> On {
    On { node }
}

impl On {
    pub(super) fn node(self) -> usize {
        self.node
    }

    /// Creates an object at this node from each value, in order, by one message.
    ///
    /// # Panics
    /// If the node does not exist, or has no room; with the panic of a `#[constant]` method. The objects created until then are dropped with
    /// the runtime.
    #[track_caller]
    pub fn create_many<T: Object + Portable>(self, values: Vec<T>) -> CreateMany<T> {
        CreateMany { node: self.node, values, place: Location::caller() }
    }

    /// Creates an object at this node from `value`, which the caller has made.
    ///
    /// # Panics
    /// If the node does not exist, or has no room; with the panic of a `#[constant]` method.
    #[track_caller]
    pub fn create<T: Object + Portable>(self, value: T) -> Create<Moved<T>> {
        Create { node: self.node, maker: Moved(value), place: Location::caller() }
    }

    /// Creates an object at this node by calling `make` there. So the object need not be `Send`; the arguments must be
    /// [`Portable`], and `make` must not capture anything.
    ///
    /// # Panics
    /// If the node does not exist, or has no room; with the panic of `make` or of a `#[constant]` method.
    #[track_caller]
    pub fn create_with<T, A, F>(self, make: F, args: A) -> Create<Made<F, A>>
    where
        T: Object,
        A: Portable,
        F: FnOnce(A) -> T + Copy + Send + 'static,
    {
        const {
            assert!(
                size_of::<F>() == 0,
                "a function that makes an object on another node must not capture anything: pass data as its arguments"
            )
        };
        Create { node: self.node, maker: Made { make, args }, place: Location::caller() }
    }
}

/// The source of a new object.
#[expect(private_bounds, reason = "how it travels is the library's own")]
pub trait Maker: Wire + Send + 'static {
    /// The object's type.
    type Object: Object;
    #[doc(hidden)]
    fn make(self) -> Self::Object;
}

/// A [`Maker`] that is the object itself, moved to its node.
pub struct Moved<T>(T);
/// A [`Maker`] that calls a function with arguments at the node.
pub struct Made<F, A> {
    make: F,
    args: A,
}

impl<T: Object + Portable> Maker for Moved<T> {
    type Object = T;
    fn make(self) -> T {
        self.0
    }
}

impl<T: Object, A: Portable, F: FnOnce(A) -> T + Copy + Send + 'static> Maker for Made<F, A> {
    type Object = T;
    fn make(self) -> T {
        (self.make)(self.args)
    }
}

impl<T: Portable> Wire for Moved<T> {
    fn write(self, to: &mut Writer) {
        to.value(&self.0);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Unreadable> {
        from.value().map(Moved)
    }
}

impl<F: Copy + Send + 'static, A: Portable> Wire for Made<F, A> {
    fn write(self, to: &mut Writer) {
        to.value(&self.args);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Unreadable> {
        // SAFETY: the type of this message shows that its sender had an `F`.
        Ok(Made { make: unsafe { recreate() }, args: from.value()? })
    }
}

/// The task that creates an object, and delivers the reference to it.
#[must_use = "nothing is made until this is awaited"]
pub struct Create<M> {
    node: usize,
    maker: M,
    place: CallSite,
}

/// An identity function. For an awaited `on(..).create(..)`, `#[task]` assumes that it delivers a [`Ref`], and wraps it
/// in this function, whose parameter type makes rustc verify that the method is this library's.
#[inline(always)]
pub fn creation<M: Maker>(create: Create<M>) -> Create<M> {
    create
}

impl<M: Maker> sealed::Sealed for Create<M> {}
impl<M: Maker> Task for Create<M> {
    type Output = Ref<M::Object>;
    const STRAIGHT: bool = false;

    unsafe fn call(self, cx: Cx) -> Outcome<Ref<M::Object>> {
        let node = self.node;
        Nodes::of(cx).check(node);
        let (making, place) = (Making { node: node as u32, maker: self.maker }, self.place);
        // SAFETY: the caller opens the outcome and awaits a suspended callee.
        unsafe { remote::at_home(cx, making, place) }
    }

    /// Makes a located frame: if a thief ran the task, its messages could overtake earlier ones of this worker.
    fn start(self, cx: Cx) -> FrameRef {
        located::start(cx, self)
    }
}

/// The work that creates an object at its home.
struct Making<M> {
    node: u32,
    maker: M,
}

impl<M: Maker> Wire for Making<M> {
    fn write(self, to: &mut Writer) {
        to.value(&self.node);
        self.maker.write(to);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Unreadable> {
        Ok(Making { node: from.value()?, maker: M::read(from)? })
    }
}

impl<M: Maker> Work for Making<M> {
    type Output = Ref<M::Object>;

    fn node(&self) -> u32 {
        self.node
    }

    unsafe fn run(self, cx: Cx) -> Outcome<Ref<M::Object>> {
        let node = self.node;
        let name = Nodes::table_of(cx, node).insert(Class::of_objects::<M::Object>(), self.maker.make());
        // SAFETY: the value is this call's own outcome, as the call protocol requires.
        unsafe { Outcome::done(Ref::new(name)) }
    }
}

/// The task that creates many objects on a node, and delivers the references to them.
#[must_use = "nothing is made until this is awaited"]
pub struct CreateMany<T> {
    node: usize,
    values: Vec<T>,
    place: CallSite,
}

impl<T> sealed::Sealed for CreateMany<T> {}
impl<T: Object + Portable> Task for CreateMany<T> {
    type Output = Vec<Ref<T>>;
    const STRAIGHT: bool = false;

    unsafe fn call(self, cx: Cx) -> Outcome<Vec<Ref<T>>> {
        let CreateMany { node, place, .. } = self;
        Nodes::of(cx).check(node);
        // SAFETY: the caller opens the outcome and awaits a suspended callee.
        unsafe { remote::at_home(cx, self, place) }
    }

    /// Makes a located frame: if a thief ran the task, its messages could overtake earlier ones of this worker.
    fn start(self, cx: Cx) -> FrameRef {
        located::start(cx, self)
    }
}

impl<T: Object + Portable> Wire for CreateMany<T> {
    fn write(self, to: &mut Writer) {
        to.value(&(self.node, self.values));
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Unreadable> {
        let (node, values) = from.value()?;
        Ok(CreateMany { node, values, place: Location::caller() })
    }
}

impl<T: Object + Portable> Work for CreateMany<T> {
    type Output = Vec<Ref<T>>;

    fn bytes_elsewhere(&self) -> usize {
        bytes_elsewhere(&self.values)
    }

    fn node(&self) -> u32 {
        self.node as u32
    }

    unsafe fn run(self, cx: Cx) -> Outcome<Vec<Ref<T>>> {
        let (table, class) = (Nodes::table_of(cx, self.node as u32), Class::of_objects::<T>());
        let enter = |value| Ref::new(table.insert(class, value));
        // SAFETY: the value is this call's own outcome, as the call protocol requires.
        unsafe { Outcome::done(self.values.into_iter().map(enter).collect()) }
    }
}

/// The task that drops an object.
#[must_use = "nothing is dropped until this is awaited"]
pub struct Dropping<T> {
    target: Ref<T>,
    place: CallSite,
}

impl<T: Object> Dropping<T> {
    #[track_caller]
    pub(super) fn new(target: Ref<T>) -> Dropping<T> {
        Dropping { target, place: Location::caller() }
    }
}

impl<T> sealed::Sealed for Dropping<T> {}
impl<T: Object> Task for Dropping<T> {
    type Output = ();
    const STRAIGHT: bool = false;

    unsafe fn call(self, cx: Cx) -> Outcome<()> {
        let name = self.target.name();
        // Checked first: the current node of a worker without nodes is a number that no node has, and the name of
        // another runtime's object may contain that number.
        if !Nodes::of(cx).knows(name) {
            throw(Which { object: T::NAME, method: "free", node: name.node() }.refused(Refusal::OTHER_RUNTIME));
        }
        if name.node() == cx.node() {
            // SAFETY: the caller opens the outcome and awaits a suspended callee; the worker is at the object's home.
            return unsafe { self.run(cx) };
        }
        let place = self.place;
        // SAFETY: the caller opens the outcome and awaits a suspended callee.
        unsafe { remote::request(cx, self, place) }
    }

    /// Makes a located frame: if a thief ran the task, its messages could overtake earlier ones of this worker.
    fn start(self, cx: Cx) -> FrameRef {
        located::start(cx, self)
    }
}

impl<T: Object> Wire for Dropping<T> {
    fn write(self, to: &mut Writer) {
        to.value(&self.target);
    }

    /// Reads the target only. The call site stays with the sender, so the result has a placeholder.
    fn read(from: &mut Reader<'_>) -> Result<Self, Unreadable> {
        Ok(Dropping { target: from.value()?, place: Location::caller() })
    }
}

impl<T: Object> Work for Dropping<T> {
    type Output = ();

    fn node(&self) -> u32 {
        self.target.name().node()
    }

    unsafe fn run(self, cx: Cx) -> Outcome<()> {
        let name = self.target.name();
        // SAFETY: the reference is to a `T`.
        if unsafe { Nodes::table_of(cx, name.node()).destroy_free::<T>(name) } {
            // SAFETY: the value is this call's own outcome, as the call protocol requires.
            return unsafe { Outcome::done(()) };
        }
        let stale = move |refusal| -> ! {
            throw(Which { object: T::NAME, method: "free", node: name.node() }.refused(refusal))
        };
        let table = Nodes::table_of(cx, name.node());
        match table.hold_even_poisoned(name, true) {
            LockAttempt::Held(hold) => {
                table.destroy(hold);
                // SAFETY: the value is this call's own outcome, as the call protocol requires.
                unsafe { Outcome::done(()) }
            }
            LockAttempt::Refused(refusal) => stale(refusal),
            LockAttempt::Busy => {
                let lock_wait = suspend_at(self.place, |granted: Continuation<Option<ObjectLock>>| {
                    table.wait(name, true, granted);
                });
                // SAFETY: `cx` is the current worker's, and the child is awaited below.
                match unsafe { call(cx, lock_wait.forced()) }.open() {
                    Ok(_) => unreachable!("forced to wait"),
                    // SAFETY: the body takes its entry first, then waits, with no user code in between.
                    Err(child) => unsafe {
                        fallback_here((child, QueuePosition(name)), |enter: Enter<_>| async move {
                            let (child, queue_position) = enter.take();
                            let hold = wait(child).await;
                            queue_position.served();
                            match hold {
                                Some(hold) => Nodes::of(context::cx()).table(hold.name().node()).destroy(hold),
                                None => stale(Refusal::DROPPED),
                            }
                        })
                    },
                }
            }
        }
    }
}
