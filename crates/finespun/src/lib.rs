//! Fine-grained, irregular, dynamically created parallelism at the price of a procedure call.
//!
//! A **task** is a call that may later turn out to have been a thread. It runs on its caller's stack, and becomes a
//! small heap frame only when it must wait, when a thief wants work, or when the stack runs out. So write the
//! natural recursive program, borrow your data, and do not think about grain size:
//!
//! ```
//! use finespun::prelude::*;
//!
//! struct Tree {
//!     left: Option<Box<Tree>>,
//!     right: Option<Box<Tree>>,
//!     value: u64,
//! }
//!
//! #[task]
//! async fn sum(t: &Tree) -> u64 {
//!     let (l, r) = join!(sum_of(&t.left), sum_of(&t.right));
//!     l + r + t.value
//! }
//!
//! #[task]
//! async fn sum_of(t: &Option<Box<Tree>>) -> u64 {
//!     match t {
//!         Some(t) => sum(t).await,
//!         None => 0,
//!     }
//! }
//!
//! fn main() -> Result<(), finespun::Error> {
//!     let leaf = |value| Some(Box::new(Tree { left: None, right: None, value }));
//!     let tree = Tree { left: leaf(1), right: leaf(2), value: 3 };
//!     let runtime = Runtime::builder().workers(2).build()?;
//!     assert_eq!(runtime.run(sum(&tree)), 6);
//!     Ok(())
//! }
//! ```
//!
//! # Overview
//!
//! * [`task`]: compiles an `async fn` to a task; inside it, `.await` calls another task and [`join!`] several.
//! * [`Runtime`]: workers that run tasks. [`Runtime::run`] borrows; [`Runtime::spawn`] gives a std future. [`run`](fn@run) uses
//!   the [default runtime](runtime::default()), and so does [`#[finespun::main]`](macro@main); [`#[finespun::test]`](macro@test)
//!   makes tests.
//! * [`join_all`], [`reduce`]: tasks from an iterator. [`spawn`], [`scope`](fn@scope): tasks that outlive the expression.
//! * [`object`]: makes a type's methods callable through a [`Ref`], wherever the object lives; [`on`] makes objects on a
//!   node, [`Array`] spreads them over all.
//! * [`suspend`]: waits until some code resolves a [`Continuation`]. [`sync`], with locks, semaphores and channels, is built on it,
//!   and so can your own constructs be.
//! * [`parfor`], [`parblock!`], [`lparfor`], [`mapped`]: groups of activities that begin, meet ([`group::sync`]) and end together;
//!   an activity can end the others, or an outer [`level`].
//! * [`select!`], [`race`]: the first of several tasks to end ends the others. [`timeout`](time::timeout) limits a task's time,
//!   [`sleep`](time::sleep) waits, and a handle ends an [`abortable`](tasks::abortable) task.
//! * [`par`]: parallel iterators and sorts with plain closures; the names are rayon's, and each end is a task.
//! * [`closure`]: threads and closures by hand, for continuation-passing programs.
//! * [`foreign`], [`blocking`]: std futures, and calls that block their thread. [`yield_now`], [`checkpoint`].
//!
//! # Objects
//!
//! Irregular data, and data with a home, is written as objects with methods. An object lives on a *node*, which belongs
//! to one worker; a [`Ref`] names it from every node. A call runs at the object's node: on this stack if the object is
//! local, else by a message, while the caller waits as a frame.
//!
//! ```
//! use finespun::prelude::*;
//! use serde::{Deserialize, Serialize};
//!
//! #[derive(Serialize, Deserialize)]
//! struct Account {
//!     balance: u64,
//! }
//!
//! #[object]
//! impl Account {
//!     fn balance(&self) -> u64 {
//!         self.balance
//!     }
//!
//!     /// Alone with the object, for the whole method.
//!     fn deposit(&mut self, amount: u64) {
//!         self.balance += amount;
//!     }
//!
//!     fn withdraw(&mut self, amount: u64) -> bool {
//!         let enough = self.balance >= amount;
//!         if enough {
//!             self.balance -= amount;
//!         }
//!         enough
//!     }
//!
//!     /// Takes no lock: a method that calls other objects should not, or two methods may wait for each other.
//!     async fn transfer(this: Ref<Self>, to: Ref<Account>, amount: u64) -> bool {
//!         if !this.withdraw(amount).await {
//!             return false;
//!         }
//!         to.deposit(amount).await;
//!         true
//!     }
//! }
//!
//! #[task]
//! async fn bank() -> (u64, u64) {
//!     let a = on(0).create(Account { balance: 10 }).await;
//!     let b = on(nodes() - 1).create(Account { balance: 0 }).await;
//!     let done = a.transfer(b, 7).await;
//!     assert!(done);
//!     join!(a.balance(), b.balance())
//! }
//! # let runtime = Runtime::builder().workers(2).build().unwrap();
//! assert_eq!(runtime.run(bank()), (3, 7));
//! ```
//!
//! # Is my task fast?
//!
//! The last line of a task's documentation names the schema that [`task`] has chosen, and `finespun schemas src` lists them for
//! a whole crate, with the places of the reasons and the cures.
//!
//! | schema | a call costs | the body |
//! |---|---|---|
//! | straight | a plain call | awaits nothing, or only straight tasks, one after another |
//! | stack | a call, one check, and a frame if it has to wait | may move its locals to the heap |
//! | stack, with a local in a cell | the same, and one allocation from the pool of frames | lends a local to what it awaits |
//! | stack, with a pinned part | the same; a frame where the part begins | moves its locals, but for the end of some branch |
//! | pinned | a frame, some 180 instructions more than a call | keeps a closure across an await, for example |
//!
//! A frame for each call matters where calls are small: in the inner nodes of a search, not in a function that is called once.
//! The compiler reads names, not types. So a cure is often to write a type: of `search(board.play(c)).await`, it cannot know
//! whether the move borrows the board, or whether `play` takes it; of `let next: Board = board.play(c);`, it does. The other
//! cures are to lend what the *caller* owns, by a parameter, and to move the part with the reason into a task of its own, which
//! the compiler does by itself where nothing follows the part.
//!
//! Here, a number or a variable is a plain call, and `Let` has its environment in a cell.
//!
//! ```
//! use finespun::prelude::*;
//!
//! enum Expr { Number(i64), Variable(usize), Let(Box<[Expr; 2]>) }
//! struct Env<'a> { value: i64, outer: Option<&'a Env<'a>> }
//!
//! fn look_up(env: Option<&Env<'_>>, depth: usize) -> Option<i64> {
//!     let env = env?;
//!     if depth == 0 { Some(env.value) } else { look_up(env.outer, depth - 1) }
//! }
//!
//! #[task]
//! async fn eval(expr: &Expr, env: Option<&Env<'_>>) -> Option<i64> {
//!     match expr {
//!         Expr::Number(number) => Some(*number),
//!         Expr::Variable(depth) => look_up(env, *depth),
//!         Expr::Let(both) => {
//!             let value = eval(&both[0], env).await?;
//!             // Lent to the call: in a cell.
//!             let inner = Env { value, outer: env };
//!             eval(&both[1], Some(&inner)).await
//!         }
//!     }
//! }
//!
//! # let runtime = Runtime::builder().workers(2).build().unwrap();
//! let expr = Expr::Let(Box::new([Expr::Number(5), Expr::Variable(0)]));
//! assert_eq!(runtime.run(eval(&expr, None)), Some(5));
//! ```
//!
//! # What dropping does
//!
//! One rule: a handle is a name for something that lives by itself, so dropping it changes nothing; a right or a duty
//! is used once, so dropping it gives it back, or declares that it will not be used.
//!
//! | dropped | effect |
//! |---|---|
//! | a task that has not been awaited | it never begins |
//! | [`Handle`] of a spawned task | the task continues; if it panics, its run ends with the panic |
//! | [`Join`](tasks::Join) | as the handle that it was made of |
//! | [`AbortHandle`](tasks::AbortHandle) | none: the task can no longer be aborted by it |
//! | a task that awaits ([`Sleep`](time::Sleep), [`Timeout`](time::Timeout), [`Race`](group::Race), ..), by the end of its caller | its wait ends, and so does everything beneath it |
//! | [`Interval`](time::Interval) | none |
//! | [`Ref`], [`Array`], [`IArray`](istructure::IArray) | none: the objects and elements live until they are freed, or the runtime ends |
//! | [`Replicated`](objects::Replicated) | the value is dropped with the last handle |
//! | [`RunFuture`](runtime::RunFuture) | the run is cancelled, unless it is [detached](runtime::RunFuture::detach) |
//! | [`Runtime`] | its runs are cancelled, and its threads end; [`shutdown_timeout`](Runtime::shutdown_timeout) limits the wait for them |
//! | the [default runtime](runtime::default()) | it is never dropped: its idle workers end with the process |
//! | [`Continuation`] | its wait ends with a panic |
//! | [`Cont`](closure::Cont) | the argument never comes: the closure that waits for it is destroyed |
//! | [`Permit`](sync::Permit) and other guards | the permit or lock is given back |
//! | an operation of [`sync`] that has been awaited | what it has been granted passes to the next waiter; a message stays in its channel |
//! | the last [`mpsc::Sender`](sync::mpsc::Sender) of a channel | the receiver gets the messages that are left, then `None` |
//! | [`mpsc::Receiver`](sync::mpsc::Receiver) | its messages are dropped, and sending gives the message back |
//! | [`oneshot::Sender`](sync::oneshot::Sender) | receiving is an error |
//! | [`Outside`](tasks::Outside) | the declaration ends: deadlocks are reported again |
//!
//! # Features
//!
//! The default features can be turned off: a program of tasks, groups and closures only (`default-features = false`)
//! compiles neither serde nor postcard.
//!
//! | feature | contains |
//! |---|---|
//! | `objects` | [`object`], [`Ref`], [`Array`], [`istructure`], [`mapped`], and the messages between nodes |
//! | `pinning` | [`Builder::pin`], which binds workers to cores |
//! | `visits` | [`Runtime::run`] runs the task on the calling thread if a worker is parked, on a stack of its own |
//! | `simulation` | simulated machines ([`simulation`]); not a default feature |
//! | `processes` | several processes of one host: `Fabric::Processes`; not a default feature |
//! | `mpi` | several processes of several hosts; needs MPI; not a default feature |
//!
//! # What it promises
//!
//! * The same answer on any number of workers: values are combined in program order.
//! * No overflow: recursion deeper than the stack goes on in the heap.
//! * No deadlock of its own making: a waiting task is a frame, never a stack with unrelated work on top, so locks may
//!   be held across awaits. A true cycle of waits ends in a report ([`RunError::Deadlock`]).
//! * A panic in any task reaches the caller of `run`, after every task that borrows has ended.
//!
//! `ARCHITECTURE.md` in the repository explains how it works and names the papers it builds on.
#![deny(unsafe_op_in_unsafe_fn)]
#![cfg_attr(not(feature = "objects"), allow(dead_code, reason = "parts of the tasks serve objects only"))]

// Generated code names the library by its name, and the library has tasks of its own.
extern crate self as finespun;

#[macro_use]
mod mutation;

mod atomics;
mod call;
mod cancel;
pub mod closure;
#[cfg(feature = "objects")]
mod cluster;
#[cfg_attr(not(feature = "internals"), allow(dead_code, reason = "the benches also use the transports directly"))]
#[cfg(feature = "objects")]
mod fabric;
#[cfg(feature = "internals")]
mod floors;
mod frame;
pub mod group;
#[cfg(feature = "objects")]
pub mod istructure;
mod iterate;
#[cfg(feature = "objects")]
mod message;
#[cfg(feature = "objects")]
mod object;
mod observe;
pub mod par;
mod process;
mod run;
pub mod runtime;
mod sched;
mod scope;
mod sim;
pub mod sync;
pub mod testing;
pub mod time;
mod wait;

pub use call::Task;
pub use call::yielding::{checkpoint, yield_now};
#[cfg(feature = "objects")]
pub use finespun_macros::object;
pub use finespun_macros::{main, task, test};
#[cfg(feature = "objects")]
pub use group::mapped;
pub use group::{level, lparfor, parfor, preturn, race};
pub use iterate::many::{join_all, reduce};
#[cfg(feature = "objects")]
pub use object::array::{Array, layout};
#[cfg(feature = "objects")]
pub use object::create::on;
#[cfg(feature = "objects")]
pub use object::place::everywhere;
#[cfg(feature = "objects")]
pub use object::reference::Ref;
#[cfg(feature = "objects")]
pub use object::{Portable, here, nodes};
pub use run::continuation::Continuation;
pub use runtime::{Builder, Error, RunError, Runtime, Stats, run};
pub use scope::spawn::{Handle, Scope, scope, spawn};
pub use wait::foreign::{blocking, foreign};
pub use wait::suspend::suspend;

/// Tasks: the types that functions of the library return to be awaited, and less common functions.
///
/// [`task`](macro@crate::task) marks a function as a task; [`join!`](crate::join), [`join_all`], [`reduce`], [`spawn`]
/// and [`scope`](fn@scope) run several.
pub mod tasks {
    pub use crate::call::Task;
    pub use crate::call::method::MethodTask;
    pub use crate::call::yielding::{Checkpoint, YieldNow, checkpoint, yield_now};
    pub use crate::group::{AbortHandle, Abortable, Aborted, abortable};
    pub use crate::iterate::many::{Fold, Many, Sink, join_all, reduce};
    pub use crate::run::continuation::{Continuation, External};
    pub use crate::run::index::{current_worker, workers};
    pub use crate::scope::join::{Join, JoinError};
    pub use crate::scope::spawn::{Handle, NoTask, Scope, ScopeResult, Scoped, scope, spawn};
    pub use crate::wait::foreign::{Blocking, Foreign, blocking, foreign};
    pub use crate::wait::outside::{Outside, outside};
    pub use crate::wait::quiesce::{Quiesce, quiesce};
    pub use crate::wait::suspend::{Suspend, suspend};

    /// Bounds that generated code puts on the types of a program. Programs do not name them; messages of rustc do.
    pub mod bounds {
        pub use crate::call::bounds::{
            AnyWorker, AsTask, Delivered, InsideTask, MayKeep, OnlyInTasks, Operand, Outside, operand, operand_here,
            send,
        };
        pub use crate::call::schema::{Known, Schema, Straight};
    }
}

/// Objects: the types of their calls, errors of calls, and less common functions.
///
/// [`object`](macro@crate::object) marks the methods of a type; [`on`] makes objects, and a [`Ref`] calls them.
#[cfg(feature = "objects")]
pub mod objects {
    pub use crate::object::array::{Array, Calls, Creating, Each, Freeing, layout};
    pub use crate::object::call::{Call, Method};
    pub use crate::object::checked::Checked;
    pub use crate::object::create::{Create, CreateMany, Dropping, Made, Maker, Moved, On, on};
    pub use crate::object::error::{CallError, StaleCause};
    pub use crate::object::oneway::{Oneway, ResolveWith, SuspendWith, suspend_with};
    pub use crate::object::place::{CallAt, Everywhere, everywhere, near};
    pub use crate::object::reference::{Object, Ref};
    pub use crate::object::replicated::Replicated;
    pub use crate::object::{Portable, here, nodes};
}

/// Simulated machines: the same program on thousands of nodes, in virtual time.
///
/// A runtime whose [`Fabric`](crate::runtime::Fabric) is a simulated machine runs all its workers on one thread, each
/// as a processor with a clock of its own. Tasks, objects, locks, groups and closures are the real ones; messages, time
/// and idleness are simulated. Only what the machine's description says takes time, and what the program adds by
/// [`work`](simulation::work) and [`compute`](simulation::compute), so a run is exactly repeatable.
///
/// A thread outside acts while all processors wait: it waits for that moment when it begins a run, cancels one (drops its
/// `RunFuture`), ends a group or resolves a continuation. So it must not hold a lock then that a task takes.
///
/// ```
/// # #[cfg(feature = "simulation")] {
/// use std::time::Duration;
///
/// use finespun::prelude::*;
/// use finespun::runtime::Fabric;
/// use finespun::simulation::{Machine, work};
///
/// #[task]
/// async fn busy(_number: u64) {
///     work(Duration::from_millis(1));
/// }
///
/// #[task]
/// async fn all() {
///     parfor(0..64_u64, busy).await;
/// }
///
/// let machine = Machine::named("cluster").unwrap();
/// let runtime = Runtime::builder().nodes(16).fabric(Fabric::Simulated(machine)).build().unwrap();
/// runtime.run(all());
/// let took = runtime.simulated().unwrap().last_run;
/// // 64 ms of work on 16 processors, and the time to distribute it.
/// assert!(took > Duration::from_millis(4) && took < Duration::from_millis(8), "{took:?}");
/// # }
/// ```
pub mod simulation {
    pub use crate::sched::work::{compute, now, work};
    #[cfg(feature = "simulation")]
    pub use crate::sim::{Activity, Machine, MachineError, Span, Trace};
}

#[cfg(feature = "mutations")]
pub use mutation::mutate;

/// Parts of the implementation, for the project's benches: lower bounds for the cost of tasks, and the transports of
/// messages. Unstable: they change without notice.
#[cfg(feature = "internals")]
pub mod internals {
    pub use crate::fabric::{adaptive, pull, push};
    pub use crate::floors::{push_and_pop, take_and_give_back};
}

/// Runs two to twelve tasks and returns their values as a tuple; only inside a [`task`].
///
/// The branches run in order on the stack; thieves may take the later ones. When a branch suspends, the worker begins
/// all remaining branches before it continues elsewhere, so that their waits overlap.
///
/// ```
/// use finespun::prelude::*;
///
/// #[task]
/// async fn fib(n: u64) -> u64 {
///     if n < 2 {
///         return n;
///     }
///     let (a, b) = join!(fib(n - 1), fib(n - 2));
///     a + b
/// }
/// # assert_eq!(Runtime::builder().workers(1).build().unwrap().run(fib(10)), 55);
/// ```
///
/// # Panics
/// With the panic of the first branch that panicked, in order, after all begun branches have ended.
#[macro_export]
macro_rules! join {
    ($($branch:tt)*) => {
        ::core::compile_error!("`join!` works inside a `#[task] async fn` only: mark the function `#[task]`")
    };
}

/// Runs one to twelve tasks as the activities of one group and waits for all (ParC's `parblock`); only inside a
/// [`task`].
///
/// Like [`parfor`] for different tasks: all return `()`, or all return a `ControlFlow`, a `Result` or an `Option`, and
/// the first to break ends the others.
///
/// ```
/// use finespun::prelude::*;
/// use std::sync::atomic::{AtomicU64, Ordering};
///
/// #[task]
/// async fn prefix(numbers: &[AtomicU64]) {
///     if numbers.len() < 2 {
///         return;
///     }
///     let (low, high) = numbers.split_at(numbers.len().div_ceil(2));
///     parblock!(prefix(low), prefix(high));
///     let sum = low[low.len() - 1].load(Ordering::Relaxed);
///     parfor(0..high.len(), |k| add(high, k, sum)).await;
/// }
///
/// #[task]
/// async fn add(numbers: &[AtomicU64], k: usize, sum: u64) {
///     numbers[k].fetch_add(sum, Ordering::Relaxed);
/// }
/// # let runtime = Runtime::builder().workers(1).build().unwrap();
/// let numbers = [1, 2, 3, 4].map(AtomicU64::new);
/// runtime.run(prefix(&numbers));
/// assert_eq!(numbers.map(AtomicU64::into_inner), [1, 3, 6, 10]);
/// ```
///
/// # Panics
/// With the first panic of a task, which also ends the others.
#[macro_export]
macro_rules! parblock {
    ($($branch:tt)*) => {
        ::core::compile_error!("`parblock!` works inside a `#[task] async fn` only: mark the function `#[task]`")
    };
}

/// Awaits several tasks and continues with the value of the first that ends, which cancels the others; only inside a
/// [`task`].
///
/// ```text
/// select! {
///     pattern = task => value,
///     pattern = task, if condition => value,
///     else => value,
/// }
/// ```
///
/// A branch whose condition is false never begins. If the value of a task does not match its branch's pattern, the race
/// goes on with the other tasks. When no branch is left, the value is that of `else`. There are one to eight branches beside
/// `else`, whose values have the same type. Std futures take part by [`foreign`].
///
/// The other tasks, and everything beneath them, have ended when the branch's value is computed, so it may use what they
/// have borrowed. The value is ordinary code of the task: it may await, `break`, `return` or use `?`.
///
/// As in [`race`], tasks are called in their order, and those behind one that ends without a wait do not begin. Nothing is
/// polled: each branch is a task of its own, so a branch that computes does not keep the others from running on other
/// workers, and a branch that is cancelled loses what it has done so far, as tokio's branches do. `biased;` is accepted and
/// changes nothing.
///
/// ```
/// use finespun::prelude::*;
/// use finespun::time::sleep;
/// use std::time::Duration;
///
/// #[task]
/// async fn answer(after: Duration) -> Option<u64> {
///     sleep(after).await;
///     Some(42)
/// }
///
/// #[task]
/// async fn ask(after: Duration, patience: Duration) -> String {
///     select! {
///         Some(number) = answer(after) => format!("{number}"),
///         () = sleep(patience) => "no answer".to_owned(),
///     }
/// }
/// # let runtime = Runtime::builder().workers(1).build().unwrap();
/// let (short, long) = (Duration::from_millis(1), Duration::from_secs(600));
/// assert_eq!(runtime.run(ask(short, long)), "42");
/// assert_eq!(runtime.run(ask(long, short)), "no answer");
/// ```
///
/// # Panics
/// With the panic of a task that panics before one ends, and if no branch is left and there is no `else`.
#[macro_export]
macro_rules! select {
    ($($branch:tt)*) => {
        ::core::compile_error!("`select!` works inside a `#[task] async fn` only: mark the function `#[task]`")
    };
}

/// The names that most programs import.
pub mod prelude {
    #[cfg(feature = "objects")]
    pub use crate::{Array, Ref, here, nodes, object, on};
    pub use crate::{
        Continuation, Handle, Runtime, Scope, Task, blocking, checkpoint, foreign, join, join_all, lparfor, parblock,
        parfor, reduce, scope, select, spawn, suspend, task, yield_now,
    };
}

/// Functions and types that generated code uses. Not for direct use.
#[doc(hidden)]
pub mod __rt {
    pub use crate::call::descriptor::{
        CallForm, direct_or_pinned_task, pinned_task, pinned_task_here, stack_task, straight_task, straight_task_here,
    };
    pub use crate::call::drops::{
        Drops, IntoIterates, Iterates, Iterating, NoDrop, NoValue, OfArray, OfOption, OfResult, OfVec, Ordered,
        OtherThanArrays, Receiver, consumed, left_behind, undropped,
    };
    pub use crate::call::fallback::*;
    pub use crate::call::join::*;
    pub use crate::call::operators::{Number, numbers};
    pub use crate::call::outcome::{Called, Child, Outcome};
    pub use crate::call::residual::{FromResidualLike, TryLike};
    pub use crate::call::schema::*;
    pub use crate::call::{
        DivergesAsInStd, Probe, Task, behind, call, call_async, call_direct, call_guarded, call_guarded_in,
        call_straight, never, wait,
    };
    pub use crate::frame::context::{Cx, cx};
    pub use crate::frame::lent::{CopiedInClosure, Frozen, Lent, OfStd, Place, lend, lent, lent_mut, moved, place};
    pub use crate::frame::origin::{Named, Note, Noted, Origin};
    pub use crate::group::construct::OfConstruct;
    #[cfg(feature = "objects")]
    pub use crate::object::{
        call::{Call, Method},
        checked::checked,
        create::creation,
        oneway::oneway,
        portable::{PortableCall, PortableWay, no_outcome, portable_code, portable_task},
        reference::{Object, Ref, constants},
        table::Access,
    };
    pub use crate::runtime::entry::{run_main, run_test};
}
