//! Tasks that run at a given node, or at all of them.

use std::panic::Location;

use super::Portable;
use super::create::{On, on};
use super::gathering::Gathered;
use super::host::Nodes;
use super::reference::Ref;
use super::remote::{self, Work};
use crate::call::located;
use crate::call::outcome::Outcome;
use crate::call::{Task, sealed};
use crate::frame::context::Cx;
use crate::frame::{CallSite, FrameRef};
use crate::message::wire::{Reader, Unreadable, Wire, Writer, bytes_elsewhere, recreate};

/// Returns a handle to the object's node: `near(r).call(task, argument)` runs a task there.
pub fn near<T>(object: Ref<T>) -> On {
    on(Ref::node(object))
}

impl On {
    /// Runs the task `call(argument)` at this node, and delivers its result. `call` must not capture anything. The task
    /// begins at this node. Once it has become a frame, it may continue at another node, unless it is a method of an
    /// object.
    ///
    /// ```
    /// use finespun::prelude::*;
    ///
    /// #[task]
    /// async fn where_am_i(name: String) -> String {
    ///     format!("{name} at node {}", here())
    /// }
    ///
    /// #[task]
    /// async fn ask() -> String {
    ///     on(1).call(where_am_i, "a task".to_owned()).await
    /// }
    /// # let runtime = Runtime::builder().workers(1).nodes(2).build().unwrap();
    /// assert_eq!(runtime.run(ask()), "a task at node 1");
    /// ```
    ///
    /// # Panics
    /// If the node does not exist; with the panic of the task.
    #[track_caller]
    pub fn call<A, F, Tk>(self, call: F, argument: A) -> CallAt<F, A>
    where
        A: Portable,
        F: Fn(A) -> Tk + Copy + Send + 'static,
        Tk: Task + 'static,
        Tk::Output: Portable,
    {
        const {
            assert!(
                size_of::<F>() == 0,
                "a function that runs on another node must not capture anything: pass data as its argument"
            )
        };
        CallAt { node: self.node(), call, argument, place: Location::caller() }
    }
}

/// The task that [`On::call`] makes.
#[must_use = "nothing is called until this is awaited"]
pub struct CallAt<F, A> {
    node: usize,
    call: F,
    argument: A,
    place: CallSite,
}

impl<F, A> sealed::Sealed for CallAt<F, A> {}
impl<F, A, Tk> Task for CallAt<F, A>
where
    A: Portable,
    F: Fn(A) -> Tk + Copy + Send + 'static,
    Tk: Task + 'static,
    Tk::Output: Portable,
{
    type Output = Tk::Output;
    const STRAIGHT: bool = false;

    unsafe fn call(self, cx: Cx) -> Outcome<Tk::Output> {
        let CallAt { node, place, .. } = self;
        Nodes::of(cx).check(node);
        // SAFETY: the caller opens the outcome and awaits a suspended callee.
        unsafe { remote::at_home(cx, self, place) }
    }

    fn start(self, cx: Cx) -> FrameRef {
        // Located at the caller's node, which sends the call: if a thief ran this task, its messages could overtake
        // earlier ones of this worker.
        located::start(cx, self)
    }
}

impl<F, A> Wire for CallAt<F, A>
where
    A: Portable,
    F: Copy + Send + 'static,
{
    fn write(self, to: &mut Writer) {
        to.value(&(self.node, self.argument));
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Unreadable> {
        let (node, argument) = from.value()?;
        // SAFETY: the type of this message shows that its sender had an `F`.
        Ok(CallAt { node, call: unsafe { recreate() }, argument, place: Location::caller() })
    }
}

impl<F, A, Tk> Work for CallAt<F, A>
where
    A: Portable,
    F: Fn(A) -> Tk + Copy + Send + 'static,
    Tk: Task + 'static,
    Tk::Output: Portable,
{
    type Output = Tk::Output;

    fn bytes_elsewhere(&self) -> usize {
        bytes_elsewhere(&self.argument)
    }

    fn node(&self) -> u32 {
        self.node as u32
    }

    unsafe fn run(self, cx: Cx) -> Outcome<Tk::Output> {
        // `call`, not `call_guarded`: the task must begin at this node even if the guard trips. The task itself checks
        // the guard before its first call.
        // SAFETY: the caller opens the outcome and awaits a suspended callee.
        unsafe { (self.call)(self.argument).call(cx) }
    }
}

/// Runs the task `call(argument)` at every node, each with a clone of the argument, and delivers the results in node
/// order: a broadcast. A fold over the results makes it a reduction.
///
/// ```
/// use finespun::prelude::*;
/// use finespun::everywhere;
///
/// #[task]
/// async fn scaled(factor: usize) -> usize {
///     factor * here()
/// }
///
/// #[task]
/// async fn sum(factor: usize) -> usize {
///     everywhere(scaled, factor).await.into_iter().sum()
/// }
/// # let runtime = Runtime::builder().workers(2).nodes(4).build().unwrap();
/// assert_eq!(runtime.run(sum(10)), 60);
/// ```
///
/// # Panics
/// With the panic of the lowest node whose task panicked, when all tasks have ended.
#[track_caller]
pub fn everywhere<A, F, Tk>(call: F, argument: A) -> Everywhere<F, A>
where
    A: Portable + Clone,
    F: Fn(A) -> Tk + Copy + Send + 'static,
    Tk: Task + 'static,
    Tk::Output: Portable,
{
    const {
        assert!(
            size_of::<F>() == 0,
            "a function that runs on another node must not capture anything: pass data as its argument"
        )
    };
    Everywhere { call, argument, place: Location::caller() }
}

/// The task that [`everywhere`] makes.
#[must_use = "nothing is called until this is awaited"]
pub struct Everywhere<F, A> {
    call: F,
    argument: A,
    place: CallSite,
}

impl<F, A> sealed::Sealed for Everywhere<F, A> {}
impl<F, A, Tk> Task for Everywhere<F, A>
where
    A: Portable + Clone,
    F: Fn(A) -> Tk + Copy + Send + 'static,
    Tk: Task + 'static,
    Tk::Output: Portable,
{
    type Output = Vec<Tk::Output>;
    const STRAIGHT: bool = false;

    unsafe fn call(self, cx: Cx) -> Outcome<Vec<Tk::Output>> {
        let Everywhere { call, argument, place } = self;
        let at = |node| CallAt { node, call, argument: argument.clone(), place };
        let works = (0..Nodes::of(cx).count() as usize).map(at).collect();
        // Dropped before any call is in progress, because the destructor of `argument` may panic.
        drop(argument);
        // SAFETY: the caller opens the outcome and awaits a suspended callee.
        unsafe { Gathered { works, place }.call(cx) }
    }

    /// Makes a located frame: if a thief ran the task, its messages could overtake earlier ones of this worker.
    fn start(self, cx: Cx) -> FrameRef {
        located::start(cx, self)
    }
}
