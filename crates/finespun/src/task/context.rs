//! What a task sees of its worker: the guard, the frames, and the marks of an unwinding stack.

use std::cell::{Cell, UnsafeCell};
use std::mem::ManuallyDrop;
use std::ptr::{self, NonNull};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use super::frame::FrameRef;
use super::groups::{Group, Groups, Policy};
use super::guard::{Guard, stack_pointer};
use super::pool::{Class, Pool};
use super::runs::Run;
use super::spawn::Keeper;
use super::teams::{self, Externals};

pub(crate) mod inside;
mod memory;
mod threads;

use crate::observe::Counters;
use inside::{Begun, NOTHING};
use threads::Threads;

/// A worker, as tasks see it. One per worker thread; only that thread touches anything but the guard, the counters and
/// `exhausted`.
#[repr(C)]
pub(crate) struct Context {
    /// First, so that a check compares the stack pointer with the word that [`Cx`] points to.
    pub(crate) guard: Guard,
    pool: ManuallyDrop<Box<Pool>>,
    /// Frames of an earlier team with the same number, which were in the pool when this worker got it.
    inherited: Vec<FrameRef>,
    /// The slots that the poll that has just returned waits for.
    waits: UnsafeCell<Vec<FrameRef>>,
    /// Frames made ready while the stack unwinds, youngest first.
    exposed: UnsafeCell<Vec<FrameRef>>,
    /// What the next `Enter` takes: see [`super::fallback`].
    entry: Cell<*mut ()>,
    /// A body is on its way to its resume point: the next wait suspends without a look.
    entering: Cell<bool>,
    /// The stack is being given up: branches not begun become ready frames.
    leaving: Cell<bool>,
    /// What runs on the stack answers somebody: its last call may do so in its place.
    hands_on: Cell<bool>,
    /// The leaf of a message that has been made and not been sent, in case nobody waits for it here.
    withheld: Cell<Option<FrameRef>>,
    /// What frames that are made now belong to: the innermost group, or the run; or [`inside::UNBORN`].
    group: Cell<u32>,
    /// The innermost group that has a record; null if that is none.
    record: Cell<*const Group>,
    /// The innermost group that has begun on this stack.
    begun: Cell<*const Begun>,
    /// The task's frame that runs; none while a closure runs.
    pub(crate) current: Cell<Option<FrameRef>>,
    /// A run has been ended since there was too little memory. It may be the one that runs here.
    exhausted: AtomicBool,
    /// The run's number.
    run: Cell<u32>,
    /// The state of the run, owned by the scheduler's table while any frame of the run lives.
    run_state: UnsafeCell<Option<Arc<Run>>>,
    /// Who is told when the frame that has just ended has completed.
    keeper: UnsafeCell<Option<Keeper>>,
    pub(crate) counters: Counters,
    scheduler: Cell<Option<NonNull<dyn Scheduler>>>,
    /// Where the code that runs now is.
    pub(crate) here: Here,
    /// What threads that run here belong to.
    pub(crate) threads: Threads,
}

/// The node that the code of this worker runs at, as the object room has set it.
///
/// `entries` is the table of the node's objects: the place that a name says, under the `mask`, is the object's if that
/// is here. `states` has as much for each.
#[derive(Default)]
pub(crate) struct Here {
    pub(crate) entries: Cell<*const ()>,
    pub(crate) states: Cell<*const ()>,
    pub(crate) mask: Cell<u32>,
    /// The lines of the node's write-once arrays.
    pub(crate) arrays: Cell<*const ()>,
    pub(crate) node: Cell<u32>,
    /// The node that floating tasks run at: the worker's first.
    pub(crate) first: Cell<u32>,
    /// The worker's number, and how many there are. Node n is worker n's, modulo their number.
    pub(crate) worker: Cell<u32>,
    pub(crate) workers: Cell<u32>,
    /// A run number of this team.
    pub(crate) team: Cell<u32>,
    /// How the activities of groups come to the workers.
    pub(crate) policy: Cell<Policy>,
    /// What the worker has beside its frames: its nodes and its mailbox, the object room's.
    pub(crate) host: Cell<*const ()>,
}

/// What the task room needs of the scheduler above it.
pub(crate) trait Scheduler {
    /// The guard tripped at this stack pointer: find out why, and say whether the next call stays on the stack.
    fn tripped(&self, stack_pointer: usize) -> Verdict;
    /// A frame of this worker may run: queue it, to be run next.
    fn ready(&self, frame: FrameRef);
    /// The state of a run of this team; `None` if it has ended.
    fn find_run(&self, run: u32) -> Option<Arc<Run>>;
    /// The team's count of waits that something outside will end.
    fn external(&self) -> Arc<Externals>;
    /// Cancel a run of this team.
    fn cancel(&self, run: &Run);
    /// The groups of this team.
    fn groups(&self) -> &Groups;
    /// The number of a new group of so many activities, beneath `above`, in `run`.
    fn begin_group(&self, above: u32, run: u32, activities: u64) -> u32;
    /// Whether a run of this team has been cancelled and has not ended.
    fn run_cancelled(&self, run: u32) -> bool;
    /// Have all workers of this team reclaim memory.
    fn reclaim(&self);
    /// Terminate a group of this team; whether this is the first time.
    fn terminate(&self, group: u32) -> bool;
    /// How many closures may run one after the other before the worker's loop gets its turn.
    fn turns(&self) -> u32;
    /// The youngest frame that this worker shows to others.
    fn next_shown(&self) -> Option<FrameRef>;
    /// The guard tripped where nothing can leave the stack: others are shown what is ready here.
    fn attend(&self);
    /// A frame of this worker may run: queue it behind all others.
    fn ready_last(&self, frame: FrameRef);
    /// Under block-every-n: whether a wait that could be satisfied at once suspends all the same.
    fn block_now(&self) -> bool;
    /// While the stack is being given up, taking tasks out of a loop took so long. The pause after the promotion is
    /// measured by what may have been in vain; this was not.
    fn handed_over(&self, took: Duration);
    /// The code that runs next runs at this node, which is one of this worker's.
    fn enter_node(&self, node: u32);
    /// A message is about to be sent: from now on there may be some.
    fn use_nodes(&self);
    /// There is a message for that worker: wake it if it sleeps.
    fn poke(&self, worker: u32);
    /// The message that has been withheld is to be sent.
    fn send_withheld(&self);
    /// The stack has been given up: queue what was exposed, youngest first in the list, and empty the list.
    fn left(&self, exposed: &mut Vec<FrameRef>);
}

/// What becomes of a call whose guard check tripped.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It runs on the stack.
    Stay,
    /// It becomes a ready frame, and the whole stack above it frames: promotion, stack limit, quantum.
    Leave,
    /// It becomes a ready frame, and its caller waits for it as for any blocked call: block-every-n.
    Block,
}

thread_local! {
    static CURRENT: Cell<*const Context> = const { Cell::new(ptr::null()) };
}

/// A pointer to the worker that runs this code; passed through every stack call.
///
/// It has no lifetime, so that a stack function's elided lifetimes mean what they mean in the user's signature; it
/// must not outlive the current poll, which the hidden `unsafe` functions that take it demand.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Cx(NonNull<Context>);

/// The current worker, from a resumable body.
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

/// The current worker, if this thread is one.
pub(crate) fn try_cx() -> Option<Cx> {
    NonNull::new(CURRENT.get().cast_mut()).map(Cx)
}

impl Context {
    /// Of a worker of the team that `team`, a run number, is one of.
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
            hands_on: Cell::new(false),
            withheld: Cell::new(None),
            group: Cell::new(NOTHING),
            record: Cell::new(ptr::null()),
            begun: Cell::new(ptr::null()),
            current: Cell::new(None),
            exhausted: AtomicBool::new(false),
            run: Cell::new(NOTHING),
            run_state: UnsafeCell::new(None),
            keeper: UnsafeCell::new(None),
            counters: Counters::default(),
            scheduler: Cell::new(None),
            here: Here { team: Cell::new(team), ..Here::default() },
            threads: Threads::new(),
        }
    }

    /// Who decides; until `clear_scheduler`, which must come before the scheduler ends.
    pub(crate) fn set_scheduler(&self, scheduler: NonNull<dyn Scheduler + '_>) {
        // SAFETY: only the lifetime bound of the trait object changes; `clear_scheduler` comes before its end.
        let scheduler: NonNull<dyn Scheduler> = unsafe { std::mem::transmute(scheduler) };
        self.scheduler.set(Some(scheduler));
    }

    pub(crate) fn clear_scheduler(&self) {
        self.scheduler.set(None);
    }

    pub(crate) fn scheduler(&self) -> &dyn Scheduler {
        match self.scheduler.get() {
            // SAFETY: set by the worker that runs now, which is the scheduler's owner.
            Some(scheduler) => unsafe { &*scheduler.as_ptr() },
            None => unreachable!("task code runs while its worker does"),
        }
    }

    /// Makes this thread the worker, until the returned mark is dropped.
    pub(crate) fn enter(&self) -> Entered<'_> {
        assert!(CURRENT.get().is_null(), "a thread is one worker");
        CURRENT.set(self);
        self.pool.own();
        Entered(self)
    }

    pub(crate) fn cx(&self) -> Cx {
        Cx(NonNull::from(self))
    }

    /// How many of the team's frames are in the pool; when the worker has ended.
    pub(crate) fn frames_left(&self) -> usize {
        let frames = frames_of(&self.pool, self.here.team.get());
        frames.iter().filter(|frame| self.inherited.binary_search(frame).is_err()).count()
    }

    /// The pool; for its owner.
    pub(crate) fn pool(&self) -> &Pool {
        &self.pool
    }
}

/// The frames of a team in a pool that nobody uses now but to give frames back, by address.
fn frames_of(pool: &Pool, team: u32) -> Vec<FrameRef> {
    let mut frames = Vec::new();
    pool.walk(|frame, _| {
        // SAFETY: the group of a block that was not free stays what it was until the pool's owner allocates again.
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

/// This thread is a worker while this lives.
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

    /// The guard check.
    #[inline(always)]
    pub(crate) fn trips(self) -> bool {
        self.context().guard.trips()
    }

    /// The slow path of a tripped check.
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

    /// Whether a frame of that run is one of this worker's team.
    pub(crate) fn of_team(self, run: u32) -> bool {
        teams::same_team(self.context().here.team.get(), run)
    }

    /// Whether a frame with that home runs on this worker.
    #[inline]
    pub(crate) fn hosts(self, node: u32) -> bool {
        let here = &self.context().here;
        node % here.workers.get() == here.worker.get()
    }

    /// The node that this code runs at.
    #[inline]
    pub(crate) fn node(self) -> u32 {
        self.context().here.node.get()
    }

    /// Whether this code runs at another node than the worker's first, where floating tasks run.
    #[inline(always)]
    pub(crate) fn is_elsewhere(self) -> bool {
        let here = &self.context().here;
        here.node.get() != here.first.get()
    }

    /// What follows runs at no node in particular: at the worker's first.
    #[cold]
    pub(crate) fn leave_node(self) {
        self.enter_node(self.context().here.first.get());
    }

    /// What follows runs at `node`.
    #[inline]
    pub(crate) fn enter_node(self, node: u32) {
        if self.node() != node {
            self.context().scheduler().enter_node(node);
        }
    }

    /// The current run.
    pub(crate) fn current_run(self) -> Arc<Run> {
        // SAFETY: as in `find_group`.
        match unsafe { &*self.context().run_state.get() } {
            Some(run) => Arc::clone(run),
            None => unreachable!("task code runs in a run"),
        }
    }

    /// The team's count of waits that something outside will end.
    pub(crate) fn external(self) -> Arc<Externals> {
        self.context().scheduler().external()
    }

    /// Whether what runs is a task's.
    pub(crate) fn is_in_task(self) -> bool {
        self.context().group.get() != inside::NOTHING
    }

    /// Cancels a run of this worker's team.
    pub(crate) fn cancel(self, run: &Run) {
        self.context().scheduler().cancel(run);
    }

    /// Something of the current run that nobody waits for has panicked.
    #[cold]
    pub(crate) fn fail(self, payload: super::frame::Payload) {
        let run = self.current_run();
        if run.fail(payload) {
            self.cancel(&run);
        }
    }

    pub(crate) fn set_keeper(self, keeper: Keeper) {
        // SAFETY: as in `find_group`.
        let before = unsafe { (*self.context().keeper.get()).replace(keeper) };
        debug_assert!(before.is_none(), "one frame ends at a time");
    }

    pub(crate) fn take_keeper(self) -> Option<Keeper> {
        // SAFETY: as in `find_group`.
        unsafe { (*self.context().keeper.get()).take() }
    }

    /// Whether the last call of what runs may answer in its place.
    #[inline]
    pub(crate) fn hands_on(self) -> bool {
        self.context().hands_on.get()
    }

    /// Says whether it may; what held before.
    pub(crate) fn set_hands_on(self, hands_on: bool) -> bool {
        self.context().hands_on.replace(hands_on)
    }

    /// The leaf of the message that is withheld from now on.
    pub(crate) fn set_withheld(self, leaf: Option<FrameRef>) {
        self.context().withheld.set(leaf);
    }

    /// The leaf of the message that is withheld.
    #[inline]
    pub(crate) fn withheld(self) -> Option<FrameRef> {
        self.context().withheld.get()
    }

    /// Somebody waits: a message that has been withheld is to be sent.
    #[inline]
    pub(crate) fn send_withheld(self) {
        #[cold]
        #[inline(never)]
        fn send(cx: Cx) {
            cx.context().scheduler().send_withheld();
        }
        if self.context().withheld.get().is_some() {
            send(self);
        }
    }

    pub(crate) fn leaving(self) -> bool {
        self.context().leaving.get()
    }

    /// A frame may run: at once when the stack stays, with the other exposed ones when it is being left.
    pub(crate) fn make_ready(self, frame: FrameRef) {
        let context = self.context();
        if context.leaving.get() {
            // SAFETY: only this thread touches the list, and no reference to it outlives a statement.
            unsafe { (*context.exposed.get()).push(frame) };
        } else {
            context.scheduler().ready(frame);
        }
    }

    /// A frame may run after all others.
    pub(crate) fn make_ready_last(self, frame: FrameRef) {
        self.context().scheduler().ready_last(frame);
    }

    /// Whether a wait that could be satisfied at once suspends all the same.
    pub(crate) fn block_now(self) -> bool {
        self.context().scheduler().block_now()
    }

    /// If the stack has been left: queues what was exposed.
    pub(crate) fn flush_exposed(self) {
        let context = self.context();
        if !context.leaving.replace(false) {
            return;
        }
        // SAFETY: as in `make_ready`; `left` only queues.
        context.scheduler().left(unsafe { &mut *context.exposed.get() });
    }

    /// Notes that the body that is being polled waits for `slot`.
    pub(crate) fn wait_for(self, slot: FrameRef) {
        // SAFETY: as in `make_ready`.
        unsafe { (*self.context().waits.get()).push(slot) };
    }

    /// The slots that the poll that has just returned waits for.
    ///
    /// # Safety
    /// The reference must be gone before the next poll.
    pub(crate) unsafe fn waits<'a>(self) -> &'a mut Vec<FrameRef> {
        // SAFETY: exclusive by the caller's word.
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

    /// No worker: for straight tasks, which do not look.
    pub(crate) fn none() -> Cx {
        Cx(NonNull::dangling())
    }

    /// Whether this wait is the resume point of a body that has just been made.
    pub(crate) fn take_entering(self) -> bool {
        self.context().entering.replace(false)
    }
}
