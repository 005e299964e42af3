//! The beginning of a worker's state: its guard, its frames, and the state of a stack that is being unwound to frames.

use std::cell::{Cell, UnsafeCell};
use std::mem::ManuallyDrop;
use std::ptr::{self, NonNull};
use std::time::{Duration, Instant};

use super::budget::{Budget, Room};
use super::front::{Front, StatePlace};
use super::guard::stack_pointer;
use super::header::FrameRef;
use super::number::{NOTHING, same_team};
use super::pool::{Class, Pool};
use crate::observe::Counters;

/// The part of a worker's state that frames and calls use. One per worker thread. Other threads access the front and
/// the counters; the pool while they keep the worker from running; and everything after it has ended.
///
/// Each higher module with per-worker state defines a type that begins with the type of the module below and adds its
/// fields (see [`Cx::state`]).
#[repr(C)]
pub(crate) struct Core {
    pub(crate) front: Front,
    pool: ManuallyDrop<Box<Pool>>,
    /// Frames of an earlier team with the same number, which were in the pool when this worker acquired it.
    inherited: Vec<FrameRef>,
    /// The slots that the body waits for after the poll that has just returned.
    waits: UnsafeCell<Vec<FrameRef>>,
    /// Frames made ready while the stack is being unwound to frames, youngest first.
    exposed: UnsafeCell<Vec<FrameRef>>,
    /// Ready closures that only this worker sees, youngest last: all are younger than the frames in its deque. A thief
    /// requests them by the guard, as it requests tasks on a stack.
    hidden: UnsafeCell<Vec<FrameRef>>,
    /// The entry that the next `Enter` takes: see [`call::fallback`](crate::call::fallback).
    entry: Cell<*mut ()>,
    /// A new body is being polled up to its resume point: the next wait suspends without checking its slot.
    entering: Cell<bool>,
    /// The stack is being unwound to frames: branches not begun become ready frames.
    leaving: Cell<bool>,
    /// The code on the stack has a reply destination, so its last call may be forwarded: the callee then replies there.
    may_forward: Cell<bool>,
    /// The leaf of the pending call: a request that has been made but not sent, in case it can be forwarded.
    pending_call: Cell<Option<FrameRef>>,
    /// Grows before this worker shows closures to thieves: the epoch of `closure::missing`.
    pub(crate) shown: Cell<u32>,
    /// What the worker's nodes contain, and whose thread uses the worker.
    hosting: Cell<Hosting>,
    /// Whether the worker runs closures: while it is entered, its thread's `RUNS_CLOSURES` says the same.
    runs_closures: Cell<bool>,
    /// The frame that is running. `None` while closures run: a closure's memory is free before its thread begins.
    pub(crate) current: Cell<Option<FrameRef>>,
    /// The number of the current run.
    pub(crate) run: Cell<u32>,
    /// The node at which the code runs.
    pub(crate) node: Cell<u32>,
    /// The node at which floating tasks run: the worker's first.
    pub(crate) first_node: Cell<u32>,
    /// The worker's number, and the number of workers, in this process.
    pub(crate) worker: Cell<u32>,
    pub(crate) workers: Cell<u32>,
    /// The number of workers of all processes of the runtime. Node n belongs to worker n modulo this number.
    pub(crate) all_workers: Cell<u32>,
    /// The number of some run of this worker's team: it identifies the team.
    team: u32,
    pub(crate) counters: Counters,
    scheduler: Cell<Option<NonNull<dyn Scheduler>>>,
}

/// The operations of this worker that frames and calls need.
/// Whether values that are not `Send` may belong to a worker's nodes: then only the worker's own thread may use it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hosting {
    /// Nothing has been made at the worker's nodes, and no message for them has been handled.
    Nothing,
    /// The same, and a visitor uses the worker: it must not change that.
    Visited,
    /// Something may have been made.
    Something,
}

pub(crate) trait Scheduler {
    /// Called when the guard has tripped at this stack pointer. Takes the requests, and decides whether the next call
    /// stays on the stack.
    fn tripped(&self, stack_pointer: usize) -> Verdict;
    /// Queues a ready frame: to run next on this worker, or, if it has a home, behind the others of its home.
    fn ready(&self, frame: FrameRef);
    /// Queues a ready frame behind all others that any worker may take, or behind the others of its home.
    fn ready_last(&self, frame: FrameRef);
    /// Counts a call or wait for block-every-n. Returns whether it suspends although it need not.
    fn block_now(&self) -> bool;
    /// Returns the time: of the simulated machine, if the worker is a part of one.
    fn now(&self) -> Instant;
    /// Reports the time that a loop spent on handing over tasks during a promotion. The pause after a promotion is a
    /// multiple of the promotion's duration, to bound the cost of fruitless promotions. Handing tasks over is useful
    /// work, so this time does not count.
    fn exclude_from_pause(&self, took: Duration);
    /// Keeps visitors from this team's workers from now on, and makes those that are there leave.
    fn end_visits(&self);
    /// Makes `node`, which is one of this worker's, the node at which the code runs from now on. `cx` is this worker's.
    fn enter_node(&self, cx: Cx, node: u32);
    /// Sends the pending call.
    fn send_pending_call(&self);
    /// Called when the stack has been unwound to frames. Queues the `exposed` frames, which are in order youngest
    /// first, and empties the list.
    fn publish_exposed(&self, exposed: &mut Vec<FrameRef>);
    /// Called after an allocation that leaves this room in the budget: reclaims memory, and ends a run if that is not
    /// enough.
    fn allocated(&self, budget: &Budget, room: Room);
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
    static CURRENT: Cell<*const Core> = const { Cell::new(ptr::null()) };
    /// The same while a worker runs closures, otherwise null: their code finds out both by one comparison.
    static RUNS_CLOSURES: Cell<*const Core> = const { Cell::new(ptr::null()) };
}

/// A pointer to the worker that runs this code; passed through every stack call.
///
/// It has no lifetime, so that a stack function's elided lifetimes mean what they mean in the user's signature. Only
/// the worker's own thread has a `Cx` that points to the worker, and only while the worker's state lives. Task code
/// must not keep it beyond the current poll: the hidden `unsafe` functions that take it demand this.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Cx(NonNull<Core>);

/// Returns the current worker.
///
/// # Safety
/// Called on a worker, while it runs a task; the result must not be kept across an await.
#[inline]
pub unsafe fn cx() -> Cx {
    match NonNull::new(CURRENT.get().cast_mut()) {
        Some(core) => Cx(core),
        None => unreachable!("task code runs on workers only"),
    }
}

/// Returns the current worker, if this thread is one.
pub(crate) fn try_cx() -> Option<Cx> {
    NonNull::new(CURRENT.get().cast_mut()).map(Cx)
}

/// Returns the current worker, if this thread is one, and runs closures.
#[inline(always)]
pub(crate) fn closures_cx() -> Option<Cx> {
    NonNull::new(RUNS_CLOSURES.get().cast_mut()).map(Cx)
}

/// The type of a worker's whole state.
///
/// # Safety
/// The type has representation C, and its first field is of type [`Core`], or of a type whose first field is, and so
/// on.
pub(crate) unsafe trait WorkerState {}

/// The owner of a worker's state, which is in a box, or at a place that its team keeps.
pub(crate) struct StateBox {
    state: NonNull<dyn WorkerState>,
    placed: bool,
}

impl StateBox {
    /// Moves a worker's state to its place, or into a box.
    ///
    /// # Safety
    /// `S` is the whole state: the chain of first fields from `S` down to [`Core`] contains the part of every module
    /// that has one. The place outlives the result, and contains no other state.
    pub(crate) unsafe fn new<S: WorkerState + 'static>(place: Option<&StatePlace>, state: S) -> StateBox {
        const { assert!(size_of::<S>() <= size_of::<StatePlace>() && align_of::<S>() <= align_of::<StatePlace>()) };
        let state: NonNull<dyn WorkerState> = match place {
            None => NonNull::from(Box::leak(Box::new(state))),
            Some(place) => {
                let (at, state) = (place.address().cast::<u8>(), ManuallyDrop::new(state));
                // The front stays as it is, since other processes may be reading it: zeros, like a new one.
                const FRONT: usize = size_of::<Front>();
                let from = (&raw const state).cast::<u8>();
                // SAFETY: the place has room for the state, and other processes use its front only. The state begins with
                // a front, is moved, and not used here any more.
                unsafe { at.add(FRONT).copy_from_nonoverlapping(from.add(FRONT), size_of::<S>() - FRONT) };
                // SAFETY: the address of a place.
                unsafe { NonNull::new_unchecked(at.cast::<S>()) }
            }
        };
        StateBox { state, placed: place.is_some() }
    }

    /// Returns the pointer through which the worker's thread uses its state.
    ///
    /// # Safety
    /// The pointer is used only by the worker's thread, and while this lives.
    pub(crate) unsafe fn cx(&self) -> Cx {
        Cx(self.state.cast())
    }

    /// Returns the beginning of the state. Other threads than the worker's use the front and the counters; the pool
    /// while they keep the worker from running, and everything after it has ended.
    pub(crate) fn core(&self) -> &Core {
        // SAFETY: the state begins with a `Core`, and lives as long as this.
        unsafe { self.state.cast().as_ref() }
    }

    /// Returns a module's part of the state. Other threads than the worker's use its atomic fields.
    ///
    /// # Safety
    /// As for [`Cx::state`].
    pub(crate) unsafe fn state<S: WorkerState>(&self) -> &S {
        // SAFETY: the caller guarantees that the state begins with an `S`; it lives as long as this.
        unsafe { self.state.cast().as_ref() }
    }
}

impl Drop for StateBox {
    fn drop(&mut self) {
        if self.placed {
            // SAFETY: `new` has put the state there, and only this drops it. Its front, which other processes may see,
            // has no destructor.
            unsafe { self.state.drop_in_place() };
        } else {
            // SAFETY: the pointer comes from a box, which only this frees.
            drop(unsafe { Box::from_raw(self.state.as_ptr()) });
        }
    }
}

impl Core {
    /// Creates this part of a worker's state. `team` is the number of any run of its team.
    pub(crate) fn new(team: u32) -> Core {
        let pool = Pool::acquire();
        Core {
            front: Front::new(),
            inherited: frames_of(&pool, team),
            pool: ManuallyDrop::new(pool),
            waits: UnsafeCell::new(Vec::with_capacity(16)),
            exposed: UnsafeCell::new(Vec::new()),
            hidden: UnsafeCell::new(Vec::new()),
            entry: Cell::new(ptr::null_mut()),
            entering: Cell::new(false),
            leaving: Cell::new(false),
            may_forward: Cell::new(false),
            pending_call: Cell::new(None),
            shown: Cell::new(0),
            hosting: Cell::new(Hosting::Nothing),
            runs_closures: Cell::new(false),
            current: Cell::new(None),
            run: Cell::new(NOTHING),
            node: Cell::new(0),
            first_node: Cell::new(0),
            worker: Cell::new(0),
            workers: Cell::new(0),
            all_workers: Cell::new(0),
            team,
            counters: Counters::default(),
            scheduler: Cell::new(None),
        }
    }

    /// Sets the scheduler. The caller must call `detach` before it is dropped.
    pub(crate) fn attach(&self, scheduler: NonNull<dyn Scheduler + '_>) {
        // SAFETY: only the lifetime bound of the trait object changes; `detach` is called before its end.
        let scheduler: NonNull<dyn Scheduler> = unsafe { std::mem::transmute(scheduler) };
        self.scheduler.set(Some(scheduler));
    }

    pub(crate) fn detach(&self) {
        self.scheduler.set(None);
    }

    pub(crate) fn scheduler(&self) -> &dyn Scheduler {
        match self.scheduler.get() {
            // SAFETY: the scheduler was set by the worker that runs now and owns it, and has not been cleared.
            Some(scheduler) => unsafe { &*scheduler.as_ptr() },
            None => unreachable!("task code runs while its worker does"),
        }
    }

    /// Returns the number of the team's frames that are left in the pool, after the worker has ended.
    pub(crate) fn frames_left(&self) -> usize {
        let frames = frames_of(&self.pool, self.team);
        frames.iter().filter(|frame| self.inherited.binary_search(frame).is_err()).count()
    }

    /// Returns the pool. Only the worker itself may use it, or a thread that keeps the worker from running.
    pub(crate) fn pool(&self) -> &Pool {
        &self.pool
    }

    /// Adds a ready closure that only this worker sees.
    #[inline(always)]
    pub(crate) fn hide(&self, frame: FrameRef) {
        // SAFETY: only this thread accesses the list, and no reference to it outlives a statement.
        unsafe { (*self.hidden.get()).push(frame) };
    }

    /// Removes the youngest of the ready closures that only this worker sees.
    #[inline(always)]
    pub(crate) fn take_hidden(&self) -> Option<FrameRef> {
        // SAFETY: as in `hide`.
        unsafe { (*self.hidden.get()).pop() }
    }

    /// Returns the number of ready closures that only this worker sees.
    pub(crate) fn hidden(&self) -> usize {
        // SAFETY: as in `hide`.
        unsafe { (*self.hidden.get()).len() }
    }

    /// Removes the older half of the ready closures that only this worker sees, oldest first, so that the caller can
    /// publish them.
    pub(crate) fn older_half_of_hidden(&self) -> Vec<FrameRef> {
        // SAFETY: only this thread accesses the list, and the reference is the only one in this function.
        let hidden = unsafe { &mut *self.hidden.get() };
        let half = hidden.len().div_ceil(2);
        if half > 0 {
            self.shown.update(|shown| shown.wrapping_add(1));
        }
        hidden.drain(..half).collect()
    }
}

/// Returns the frames of a team in a pool, sorted by address. The pool is not in use, except that other threads may
/// return blocks to it.
fn frames_of(pool: &Pool, team: u32) -> Vec<FrameRef> {
    let mut frames = Vec::new();
    pool.walk(|frame, _| {
        // SAFETY: the group of a block that was not free stays unchanged until the pool's owner allocates again.
        if same_team(team, unsafe { (*frame.as_ptr()).group }) {
            frames.push(frame);
        }
    });
    frames.sort_unstable();
    frames
}

impl Drop for Core {
    fn drop(&mut self) {
        // SAFETY: the field is not used again.
        unsafe { ManuallyDrop::take(&mut self.pool) }.release();
    }
}

/// A guard: this thread is a worker while it lives.
pub(crate) struct Entered(Cx);

impl Drop for Entered {
    fn drop(&mut self) {
        self.0.core().pool.disown();
        CURRENT.set(ptr::null());
        RUNS_CLOSURES.set(ptr::null());
    }
}

/// Calls `body`, during which this thread is no worker, or another one: simulated workers take turns on one thread.
#[cfg(feature = "simulation")]
pub(crate) fn step_out(body: impl FnOnce()) {
    let Some(cx) = try_cx() else { return body() };
    drop(Entered(cx));
    body();
    std::mem::forget(cx.enter());
}

impl Cx {
    #[inline(always)]
    pub(crate) fn core<'a>(self) -> &'a Core {
        // SAFETY: a `Cx` is used by its worker's thread only, while the state lives (see the type).
        unsafe { self.0.as_ref() }
    }

    /// Returns a module's part of the worker's state, with the parts of the modules below it.
    ///
    /// # Safety
    /// `S` is the type of a module's part: the whole state, from which the `StateBox` was made, begins with it.
    #[inline(always)]
    pub(crate) unsafe fn state<'a, S: WorkerState>(self) -> &'a S {
        // SAFETY: as in `core`; the caller guarantees that an `S` is there.
        unsafe { self.0.cast().as_ref() }
    }

    /// Makes this thread the worker until the returned guard is dropped, which must precede the drop of the worker's
    /// state.
    pub(crate) fn enter(self) -> Entered {
        assert!(CURRENT.get().is_null(), "a thread is one worker");
        CURRENT.set(self.0.as_ptr());
        self.set_runs_closures(self.core().runs_closures.get());
        self.core().pool.own();
        Entered(self)
    }

    /// Sets whether the worker runs closures. Returns the previous value.
    pub(crate) fn set_runs_closures(self, runs: bool) -> bool {
        RUNS_CLOSURES.set(if runs { self.0.as_ptr() } else { ptr::null_mut() });
        self.core().runs_closures.replace(runs)
    }

    /// Checks the guard.
    #[inline(always)]
    pub(crate) fn trips(self) -> bool {
        self.core().front.guard.trips()
    }

    /// Handles a tripped check: the slow path.
    #[cold]
    #[inline(never)]
    pub(crate) fn tripped(self) -> Verdict {
        let core = self.core();
        let verdict = core.scheduler().tripped(stack_pointer());
        if verdict == Verdict::Leave {
            core.leaving.set(true);
        }
        verdict
    }

    #[inline]
    pub(crate) fn allocate(self, class: Class) -> FrameRef {
        self.core().counters.frame(class.bytes());
        self.core().pool.allocate(class)
    }

    /// Returns the type name of the body that runs on this worker; empty if none runs.
    pub(crate) fn current_body(self) -> &'static str {
        // SAFETY: `current` is a frame that runs on this worker, so it is live.
        self.core().current.get().map_or("", |frame| unsafe { (frame.as_ref().vtable.name)() })
    }

    /// Returns the number of the current run.
    pub(crate) fn run(self) -> u32 {
        self.core().run.get()
    }

    /// Returns whether the run or group `number` is one of this worker's team.
    pub(crate) fn of_team(self, number: u32) -> bool {
        same_team(self.core().team, number)
    }

    /// Returns whether frames with the home `node` run on this worker.
    #[inline]
    pub(crate) fn hosts(self, node: u32) -> bool {
        let core = self.core();
        // The first node of a worker has the worker's number.
        node % core.all_workers.get() == core.first_node.get()
    }

    /// Returns the node at which this code runs.
    #[inline]
    pub(crate) fn node(self) -> u32 {
        self.core().node.get()
    }

    /// Returns what the worker's nodes contain.
    pub(crate) fn hosting(self) -> Hosting {
        self.core().hosting.get()
    }

    /// Sets what the worker's nodes contain.
    #[cfg(feature = "visits")]
    pub(crate) fn set_hosting(self, hosting: Hosting) {
        self.core().hosting.set(hosting);
    }

    /// Called before something is made at a node of this worker, or a message for it is handled. Returns false if a visitor uses
    /// the worker: then the work must be left to the worker's thread, for which the visitor will make way.
    #[inline(always)]
    pub(crate) fn may_host(self) -> bool {
        self.core().hosting.get() == Hosting::Something || self.begin_to_host()
    }

    #[cold]
    #[inline(never)]
    fn begin_to_host(self) -> bool {
        let core = self.core();
        core.scheduler().end_visits();
        let may = core.hosting.get() != Hosting::Visited;
        if may {
            core.hosting.set(Hosting::Something);
        }
        may
    }

    /// Returns whether this code runs at another node than the worker's first, where floating tasks run.
    #[inline(always)]
    pub(crate) fn is_elsewhere(self) -> bool {
        let core = self.core();
        core.node.get() != core.first_node.get()
    }

    /// Moves to the worker's first node, where floating tasks run.
    #[cold]
    pub(crate) fn leave_node(self) {
        self.enter_node(self.core().first_node.get());
    }

    /// Moves to `node`: the code that follows runs there.
    #[inline]
    pub(crate) fn enter_node(self, node: u32) {
        if self.node() != node {
            self.core().scheduler().enter_node(self, node);
        }
    }

    /// Returns whether the last call of the running code may be forwarded, so that the callee replies in its place.
    #[inline]
    pub(crate) fn may_forward(self) -> bool {
        self.core().may_forward.get()
    }

    /// Sets whether the last call may be forwarded. Returns the previous value.
    pub(crate) fn set_may_forward(self, may_forward: bool) -> bool {
        self.core().may_forward.replace(may_forward)
    }

    /// Sets the leaf of the pending call.
    pub(crate) fn set_pending_call(self, leaf: Option<FrameRef>) {
        self.core().pending_call.set(leaf);
    }

    /// Returns the leaf of the pending call.
    #[inline]
    pub(crate) fn pending_call(self) -> Option<FrameRef> {
        self.core().pending_call.get()
    }

    /// Sends the pending call, if any, which then can no longer be forwarded.
    #[inline]
    pub(crate) fn send_pending_call(self) {
        #[cold]
        #[inline(never)]
        fn send(cx: Cx) {
            cx.core().scheduler().send_pending_call();
        }
        if self.core().pending_call.get().is_some() {
            send(self);
        }
    }

    pub(crate) fn leaving(self) -> bool {
        self.core().leaving.get()
    }

    /// Makes a frame ready: queues it at once, or collects it with the exposed frames while the stack is being unwound.
    pub(crate) fn make_ready(self, frame: FrameRef) {
        let core = self.core();
        if core.leaving.get() {
            // SAFETY: only this thread accesses the list, and no reference to it outlives a statement.
            unsafe { (*core.exposed.get()).push(frame) };
        } else {
            core.scheduler().ready(frame);
        }
    }

    /// Makes a frame ready, to run after all others.
    pub(crate) fn make_ready_last(self, frame: FrameRef) {
        self.core().scheduler().ready_last(frame);
    }

    /// Returns whether, under block-every-n, a wait that could be satisfied at once suspends nevertheless.
    pub(crate) fn block_now(self) -> bool {
        self.core().scheduler().block_now()
    }

    /// Queues the exposed frames, if the stack has been unwound to frames.
    pub(crate) fn flush_exposed(self) {
        let core = self.core();
        if !core.leaving.get() {
            return;
        }
        core.leaving.set(false);
        // SAFETY: as in `make_ready`; `publish_exposed` only queues frames, and does not access the list otherwise.
        core.scheduler().publish_exposed(unsafe { &mut *core.exposed.get() });
    }

    /// Records that the body that is being polled waits for `slot`.
    pub(crate) fn wait_for(self, slot: FrameRef) {
        // SAFETY: as in `make_ready`.
        unsafe { (*self.core().waits.get()).push(slot) };
    }

    /// Returns the slots that the body waits for after the poll that has just returned.
    ///
    /// # Safety
    /// The reference must be dropped before the next poll.
    pub(crate) unsafe fn waits<'a>(self) -> &'a mut Vec<FrameRef> {
        // SAFETY: the caller guarantees that the reference ends before the next poll, the next access to the list.
        unsafe { &mut *self.core().waits.get() }
    }

    pub(crate) fn set_entry(self, entry: *mut ()) {
        self.core().entry.set(entry);
        self.core().entering.set(true);
    }

    pub(crate) fn take_entry(self) -> *mut () {
        self.core().entry.replace(ptr::null_mut())
    }

    pub(crate) fn set_entering(self) {
        self.core().entering.set(true);
    }

    /// Returns a dangling pointer: for straight tasks, which never follow it.
    pub(crate) fn none() -> Cx {
        Cx(NonNull::dangling())
    }

    /// Returns whether this wait is the resume point of a body that has just been made. Clears the flag.
    pub(crate) fn take_entering(self) -> bool {
        self.core().entering.replace(false)
    }
}
