//! A task's view of its worker: the guard, the frames, and the state of a stack that is being unwound to frames.

use std::cell::{Cell, UnsafeCell};
use std::mem::ManuallyDrop;
use std::ptr::{self, NonNull};
use std::sync::Arc;
use std::time::Duration;

use super::frame::FrameRef;
use super::groups::{Group, Policy};
use super::guard::{Guard, stack_pointer};
use super::pool::{Class, Pool};
use super::runs::Run;
use super::spawn::CompletionOwner;
use super::teams::{self, Externals, Team};

pub(crate) mod inside;
mod memory;
mod threads;

use crate::atomics::AtomicBool;
use crate::observe::Counters;
use inside::{Begun, NOTHING};
use threads::Threads;

/// A worker's state, as tasks see it. One per worker thread; only that thread accesses any field but the guard, the
/// counters and `exhausted`.
#[repr(C)]
pub(crate) struct Context {
    /// The first field, so that a check compares the stack pointer with the word that [`Cx`] points to.
    pub(crate) guard: Guard,
    pool: ManuallyDrop<Box<Pool>>,
    /// Frames of an earlier team with the same number, which were in the pool when this worker acquired it.
    inherited: Vec<FrameRef>,
    /// The slots that the body waits for after the poll that has just returned.
    waits: UnsafeCell<Vec<FrameRef>>,
    /// Frames made ready while the stack is being unwound to frames, youngest first.
    exposed: UnsafeCell<Vec<FrameRef>>,
    /// The entry that the next `Enter` takes: see [`super::fallback`].
    entry: Cell<*mut ()>,
    /// A new body is being polled up to its resume point: the next wait suspends without checking its slot.
    entering: Cell<bool>,
    /// The stack is being unwound to frames: branches not begun become ready frames.
    leaving: Cell<bool>,
    /// The code on the stack has a reply destination, so its last call may be forwarded: the callee then replies there.
    may_forward: Cell<bool>,
    /// The leaf of the pending call: a request that has been made but not sent, in case it can be forwarded.
    pending_call: Cell<Option<FrameRef>>,
    /// The number that new frames get: of the innermost group, or of the run; or [`inside::UNREGISTERED`].
    group: Cell<u32>,
    /// The record of the innermost group; while that is unregistered, of the innermost group that has one. Null if none
    /// has.
    record: Cell<*const Group>,
    /// The innermost group that has begun on this stack.
    begun: Cell<*const Begun>,
    /// The task's frame that is running; `None` while a closure runs.
    pub(crate) current: Cell<Option<FrameRef>>,
    /// A run has been ended because its frames take too much memory. It may be the run that this worker is in.
    exhausted: AtomicBool,
    /// The number of the current run.
    run: Cell<u32>,
    /// The state of the run, owned by the scheduler's table while any frame of the run lives.
    run_state: UnsafeCell<Option<Arc<Run>>>,
    /// The completion owner to notify once the frame that has just ended is completed.
    completion_owner: UnsafeCell<Option<CompletionOwner>>,
    pub(crate) counters: Counters,
    scheduler: Cell<Option<NonNull<dyn Scheduler>>>,
    team: Cell<Option<NonNull<dyn Team>>>,
    /// The node of the code that runs now.
    pub(crate) here: Here,
    /// The computation of the closures that run here.
    pub(crate) threads: Threads,
}

/// The node at which this worker's code runs now. The object module sets it.
///
/// `entries` points to the node's object table: a reference's index under `mask` selects the object's entry, if the
/// object is at this node. `states` points to a parallel table with one state per entry.
#[derive(Default)]
pub(crate) struct Here {
    pub(crate) entries: Cell<*const ()>,
    pub(crate) states: Cell<*const ()>,
    pub(crate) mask: Cell<u32>,
    /// The node's write-once arrays: one cache-line-sized entry for each array number.
    pub(crate) arrays: Cell<*const ()>,
    pub(crate) node: Cell<u32>,
    /// The node at which floating tasks run: the worker's first.
    pub(crate) first: Cell<u32>,
    /// The worker's number, and the number of workers. Node n belongs to worker n modulo `workers`.
    pub(crate) worker: Cell<u32>,
    pub(crate) workers: Cell<u32>,
    /// The number of some run of this team: it identifies the team.
    pub(crate) team: Cell<u32>,
    /// How the activities of groups are distributed to the workers.
    pub(crate) policy: Cell<Policy>,
    /// The worker's host, with its nodes and its mailbox. The object module sets it.
    pub(crate) host: Cell<*const ()>,
}

/// The operations of this worker that tasks need. [`Team`] has the team's.
pub(crate) trait Scheduler {
    /// Called when the guard has tripped at this stack pointer. Takes the requests, and decides whether the next call
    /// stays on the stack.
    fn tripped(&self, stack_pointer: usize) -> Verdict;
    /// Queues a ready frame of this worker, to run next.
    fn ready(&self, frame: FrameRef);
    /// Returns the budget: the number of closures that may run one after the other before the worker's loop continues.
    fn frame_budget(&self) -> u32;
    /// Pops the youngest frame of this worker's deque; `None` if the deque is empty or a sweep is due.
    fn next_shown(&self) -> Option<FrameRef>;
    /// Services the guard at a point where the stack cannot be unwound. If a thief asks, publishes ready closures.
    fn service_guard(&self);
    /// Queues a ready frame of this worker behind all others.
    fn ready_last(&self, frame: FrameRef);
    /// Returns whether, under block-every-n, a wait that could be satisfied at once suspends nevertheless.
    fn block_now(&self) -> bool;
    /// Reports the time that a loop spent on handing over tasks during a promotion. The pause after a promotion is a
    /// multiple of the promotion's duration, to bound the cost of fruitless promotions. Handing tasks over is useful
    /// work, so this time does not count.
    fn exclude_from_pause(&self, took: Duration);
    /// Makes `node`, which is one of this worker's, the node at which the code runs from now on.
    fn enter_node(&self, node: u32);
    /// Sends the pending call.
    fn send_pending_call(&self);
    /// Called when the stack has been unwound to frames. Queues the `exposed` frames, which are in order youngest
    /// first, and empties the list.
    fn publish_exposed(&self, exposed: &mut Vec<FrameRef>);
}

/// The decision about a call whose guard check has tripped.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The call runs on the stack.
    Stay,
    /// The call becomes a ready frame, and all its callers on the stack become frames: promotion, stack limit, quantum,
    /// cancellation.
    Leave,
    /// The call becomes a ready frame, and its caller waits for it as for any blocked call: block-every-n.
    Block,
}

thread_local! {
    static CURRENT: Cell<*const Context> = const { Cell::new(ptr::null()) };
}

/// A pointer to the worker that runs this code; passed through every stack call.
///
/// It has no lifetime, so that a stack function's elided lifetimes mean what they mean in the user's signature. It must
/// not outlive the current poll: the hidden `unsafe` functions that take it demand this.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Cx(NonNull<Context>);

/// Returns the current worker, in a resumable body.
///
/// # Safety
/// Called on a worker, while it runs a task; the result must not be kept across an await.
#[inline]
pub unsafe fn cx() -> Cx {
    match NonNull::new(CURRENT.get().cast_mut()) {
        Some(context) => Cx(context),
        None => unreachable!("task code runs on workers only"),
    }
}

/// Returns the current worker, if this thread is one.
pub(crate) fn try_cx() -> Option<Cx> {
    NonNull::new(CURRENT.get().cast_mut()).map(Cx)
}

impl Context {
    /// Creates the context of a worker. `team` is the number of any run of its team.
    pub(crate) fn new(team: u32) -> Context {
        let pool = Pool::acquire();
        Context {
            guard: Guard::new(0),
            inherited: frames_of(&pool, team),
            pool: ManuallyDrop::new(pool),
            waits: UnsafeCell::new(Vec::with_capacity(16)),
            exposed: UnsafeCell::new(Vec::new()),
            entry: Cell::new(ptr::null_mut()),
            entering: Cell::new(false),
            leaving: Cell::new(false),
            may_forward: Cell::new(false),
            pending_call: Cell::new(None),
            group: Cell::new(NOTHING),
            record: Cell::new(ptr::null()),
            begun: Cell::new(ptr::null()),
            current: Cell::new(None),
            exhausted: AtomicBool::new(false),
            run: Cell::new(NOTHING),
            run_state: UnsafeCell::new(None),
            completion_owner: UnsafeCell::new(None),
            counters: Counters::default(),
            scheduler: Cell::new(None),
            team: Cell::new(None),
            here: Here { team: Cell::new(team), ..Here::default() },
            threads: Threads::new(),
        }
    }

    /// Sets the worker and its team. The caller must call `detach` before either is dropped.
    pub(crate) fn attach(&self, scheduler: NonNull<dyn Scheduler + '_>, team: NonNull<dyn Team>) {
        // SAFETY: only the lifetime bound of the trait object changes; `detach` is called before its end.
        let scheduler: NonNull<dyn Scheduler> = unsafe { std::mem::transmute(scheduler) };
        self.scheduler.set(Some(scheduler));
        self.team.set(Some(team));
    }

    pub(crate) fn detach(&self) {
        self.scheduler.set(None);
        self.team.set(None);
    }

    pub(crate) fn scheduler(&self) -> &dyn Scheduler {
        match self.scheduler.get() {
            // SAFETY: the scheduler was set by the worker that runs now and owns it, and has not been cleared.
            Some(scheduler) => unsafe { &*scheduler.as_ptr() },
            None => unreachable!("task code runs while its worker does"),
        }
    }

    pub(crate) fn team(&self) -> &dyn Team {
        match self.team.get() {
            // SAFETY: the worker that runs now has set its team, which outlives it, and has not detached.
            Some(team) => unsafe { &*team.as_ptr() },
            None => unreachable!("task code runs while its worker does"),
        }
    }

    /// Makes this thread the worker, until the returned guard is dropped.
    pub(crate) fn enter(&self) -> Entered<'_> {
        assert!(CURRENT.get().is_null(), "a thread is one worker");
        CURRENT.set(self);
        self.pool.own();
        Entered(self)
    }

    pub(crate) fn cx(&self) -> Cx {
        Cx(NonNull::from(self))
    }

    /// Returns the number of the team's frames that are left in the pool, after the worker has ended.
    pub(crate) fn frames_left(&self) -> usize {
        let frames = frames_of(&self.pool, self.here.team.get());
        frames.iter().filter(|frame| self.inherited.binary_search(frame).is_err()).count()
    }

    /// Returns the pool. Only the worker itself may use it, or a thread that keeps the worker from running.
    pub(crate) fn pool(&self) -> &Pool {
        &self.pool
    }
}

/// Returns the frames of a team in a pool, sorted by address. The pool is not in use, except that other threads may
/// return blocks to it.
fn frames_of(pool: &Pool, team: u32) -> Vec<FrameRef> {
    let mut frames = Vec::new();
    pool.walk(|frame, _| {
        // SAFETY: the group of a block that was not free stays unchanged until the pool's owner allocates again.
        if teams::same_team(team, unsafe { (*frame.as_ptr()).group }) {
            frames.push(frame);
        }
    });
    frames.sort_unstable();
    frames
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: the field is not used again.
        unsafe { ManuallyDrop::take(&mut self.pool) }.release();
    }
}

/// A guard: this thread is a worker while it lives.
pub(crate) struct Entered<'a>(&'a Context);

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        self.0.pool.disown();
        CURRENT.set(ptr::null());
    }
}

impl Cx {
    #[inline(always)]
    pub(crate) fn context<'a>(self) -> &'a Context {
        // SAFETY: a `Cx` exists only while its worker runs the code that holds it (see the type).
        unsafe { self.0.as_ref() }
    }

    /// Checks the guard.
    #[inline(always)]
    pub(crate) fn trips(self) -> bool {
        self.context().guard.trips()
    }

    /// Handles a tripped check: the slow path.
    #[cold]
    #[inline(never)]
    pub(crate) fn tripped(self) -> Verdict {
        let context = self.context();
        let verdict = context.scheduler().tripped(stack_pointer());
        if verdict == Verdict::Leave {
            context.leaving.set(true);
        }
        verdict
    }

    #[inline]
    pub(crate) fn allocate(self, class: Class) -> FrameRef {
        self.context().counters.frame(class.bytes());
        self.context().pool.allocate(class)
    }

    /// Returns whether the run or group `run` is one of this worker's team.
    pub(crate) fn of_team(self, run: u32) -> bool {
        teams::same_team(self.context().here.team.get(), run)
    }

    /// Returns whether frames with the home `node` run on this worker.
    #[inline]
    pub(crate) fn hosts(self, node: u32) -> bool {
        let here = &self.context().here;
        node % here.workers.get() == here.worker.get()
    }

    /// Returns the node at which this code runs.
    #[inline]
    pub(crate) fn node(self) -> u32 {
        self.context().here.node.get()
    }

    /// Returns whether this code runs at another node than the worker's first, where floating tasks run.
    #[inline(always)]
    pub(crate) fn is_elsewhere(self) -> bool {
        let here = &self.context().here;
        here.node.get() != here.first.get()
    }

    /// Moves to the worker's first node, where floating tasks run.
    #[cold]
    pub(crate) fn leave_node(self) {
        self.enter_node(self.context().here.first.get());
    }

    /// Moves to `node`: the code that follows runs there.
    #[inline]
    pub(crate) fn enter_node(self, node: u32) {
        if self.node() != node {
            self.context().scheduler().enter_node(node);
        }
    }

    /// Returns the current run.
    pub(crate) fn current_run(self) -> Arc<Run> {
        // SAFETY: as in `find_group`.
        match unsafe { &*self.context().run_state.get() } {
            Some(run) => Arc::clone(run),
            None => unreachable!("task code runs in a run"),
        }
    }

    /// Returns the team's count of waits that something outside will complete.
    pub(crate) fn external(self) -> Arc<Externals> {
        self.context().team().externals()
    }

    /// Returns whether the code that runs belongs to a task.
    pub(crate) fn is_in_task(self) -> bool {
        self.context().group.get() != inside::NOTHING
    }

    /// Cancels a run of this worker's team.
    pub(crate) fn cancel(self, run: &Run) {
        self.context().team().cancel(run);
    }

    /// Handles the panic of a detached task or one-way call of the current run: the first one cancels the run.
    #[cold]
    pub(crate) fn fail(self, payload: super::frame::Payload) {
        let run = self.current_run();
        if run.fail(payload) {
            self.cancel(&run);
        }
    }

    pub(crate) fn set_completion_owner(self, completion_owner: CompletionOwner) {
        // SAFETY: as in `find_group`.
        let before = unsafe { (*self.context().completion_owner.get()).replace(completion_owner) };
        debug_assert!(before.is_none(), "one frame ends at a time");
    }

    pub(crate) fn take_completion_owner(self) -> Option<CompletionOwner> {
        // SAFETY: as in `find_group`.
        unsafe { (*self.context().completion_owner.get()).take() }
    }

    /// Returns whether the last call of the running code may be forwarded, so that the callee replies in its place.
    #[inline]
    pub(crate) fn may_forward(self) -> bool {
        self.context().may_forward.get()
    }

    /// Sets whether the last call may be forwarded. Returns the previous value.
    pub(crate) fn set_may_forward(self, may_forward: bool) -> bool {
        self.context().may_forward.replace(may_forward)
    }

    /// Sets the leaf of the pending call.
    pub(crate) fn set_pending_call(self, leaf: Option<FrameRef>) {
        self.context().pending_call.set(leaf);
    }

    /// Returns the leaf of the pending call.
    #[inline]
    pub(crate) fn pending_call(self) -> Option<FrameRef> {
        self.context().pending_call.get()
    }

    /// Sends the pending call, if any: its caller starts to wait, so the call cannot be forwarded.
    #[inline]
    pub(crate) fn send_pending_call(self) {
        #[cold]
        #[inline(never)]
        fn send(cx: Cx) {
            cx.context().scheduler().send_pending_call();
        }
        if self.context().pending_call.get().is_some() {
            send(self);
        }
    }

    pub(crate) fn leaving(self) -> bool {
        self.context().leaving.get()
    }

    /// Makes a frame ready: queues it at once, or collects it with the exposed frames while the stack is being unwound.
    pub(crate) fn make_ready(self, frame: FrameRef) {
        let context = self.context();
        if context.leaving.get() {
            // SAFETY: only this thread accesses the list, and no reference to it outlives a statement.
            unsafe { (*context.exposed.get()).push(frame) };
        } else {
            context.scheduler().ready(frame);
        }
    }

    /// Makes a frame ready, to run after all others.
    pub(crate) fn make_ready_last(self, frame: FrameRef) {
        self.context().scheduler().ready_last(frame);
    }

    /// Returns whether, under block-every-n, a wait that could be satisfied at once suspends nevertheless.
    pub(crate) fn block_now(self) -> bool {
        self.context().scheduler().block_now()
    }

    /// Queues the exposed frames, if the stack has been unwound to frames.
    pub(crate) fn flush_exposed(self) {
        let context = self.context();
        if !context.leaving.replace(false) {
            return;
        }
        // SAFETY: as in `make_ready`; `publish_exposed` only queues frames, and does not access the list otherwise.
        context.scheduler().publish_exposed(unsafe { &mut *context.exposed.get() });
    }

    /// Records that the body that is being polled waits for `slot`.
    pub(crate) fn wait_for(self, slot: FrameRef) {
        // SAFETY: as in `make_ready`.
        unsafe { (*self.context().waits.get()).push(slot) };
    }

    /// Returns the slots that the body waits for after the poll that has just returned.
    ///
    /// # Safety
    /// The reference must be dropped before the next poll.
    pub(crate) unsafe fn waits<'a>(self) -> &'a mut Vec<FrameRef> {
        // SAFETY: the caller guarantees that the reference ends before the next poll, the next access to the list.
        unsafe { &mut *self.context().waits.get() }
    }

    pub(crate) fn set_entry(self, entry: *mut ()) {
        self.context().entry.set(entry);
        self.context().entering.set(true);
    }

    pub(crate) fn take_entry(self) -> *mut () {
        self.context().entry.replace(ptr::null_mut())
    }

    pub(crate) fn set_entering(self) {
        self.context().entering.set(true);
    }

    /// Returns a dangling pointer: for straight tasks, which never follow it.
    pub(crate) fn none() -> Cx {
        Cx(NonNull::dangling())
    }

    /// Returns whether this wait is the resume point of a body that has just been made. Clears the flag.
    pub(crate) fn take_entering(self) -> bool {
        self.context().entering.replace(false)
    }
}
