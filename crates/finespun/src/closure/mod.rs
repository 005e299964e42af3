//! Explicit closures: MIT's continuation-passing threads (PCM, the ancestor of Cilk), for programs that write such code
//! by hand or generate it.
//!
//! A [`thread`](macro@thread) is a function that returns nothing and never waits. A *closure* is a thread with its
//! arguments, of which some may be missing: [`make_closure!`] returns a typed, linear [`Cont`] for each hole, and the
//! sender of the last argument ([`send_argument`]) posts the closure. [`tail_call!`] continues with another thread at
//! the price of a call. A worker runs full closures last posted first; thieves steal them first posted first.
//!
//! Source: Halbherr, Zhou, Joerg, *MIMD-style parallel programming with continuation-passing threads*, sections 2 and
//! 3, with the names of the paper. A program transcribes line by line:
//!
//! | paper | here |
//! |---|---|
//! | `thread fib_sum (Cont parent, int x, int y) { .. }` | `#[thread] fn fib_sum(parent: Cont<u64>, x: u64, y: u64) { .. }` |
//! | `k1 = make_closure (fib_sum, parent, _, _);` | `let k1 = make_closure!(fib_sum, parent, _, _);` |
//! | `cont{k1, fib_sum:x}` | `k1.x` |
//! | `post (s1)` | `post(s1)` |
//! | `send_argument (x + y, parent)` | `send_argument(x + y, parent)` |
//! | `tail_call (fib_fork, .., n-2)` | `tail_call!(fib_fork, .., n - 2)` |
//! | `thread foo (.., type vect1[10], .., type vect2[])` | `#[thread] fn foo(.., vect1: [T; 10], .., vect2: Vector<T>)` |
//! | `make_closure (foo, .., vect2 = [size])`, then to be written | `make_closure!(foo, .., elements)`, `closure.vector()` |
//! | `make_closure (foo, .., _ = [size])` | `make_closure!(foo, .., _[size])` |
//! | `cont{k1, foo:vect2[i]}` | the i-th of `k1.vect2`, an iterator |
//! | the `top` closure, expecting n results | [`top`](fn@top), [`top_of`] |
//! | `make_closure` posts a full closure (footnote 2) | `#[thread(post)]` |
//!
//! Types enforce the rules that the paper leaves to the programmer: a hole is filled once, by a value of its type; a
//! closure that is not full cannot be posted; a vector without elements adds nothing to the missing count. A thread
//! owns its arguments; threads share read-only data by [`Top::sharing`].
//!
//! `#[thread(portable)]` lets idle processes take closures of a thread that have not begun ([`Thread::MIGRATES`]).
//!
//! A closure is a frame (module `frame`) of a kind that this module defines (`closure::frame`; `holes` for its life, and
//! `missing` for the count of its missing arguments).
//! `computation` and `tally` detect the end of a computation; `session` runs closures one after the other on a worker;
//! `migrate` and `way` take closures to other processes.

// How it works.
//
// A **closure** is a frame of its own kind
// (`closure/frame.rs`): a header, its computation, and the arguments, given or missing. The header's join count is the
// paper's join counter; a closure has no waiter, so its slot word holds the list of abandoned holes. A hole's `Cont` is
// linear: closure and position; sending writes the argument and counts down, without a locked instruction on the worker
// that has made the closure (`closure/missing.rs`). The last sender owns the closure alone, so it skips the final count. It posts the closure if all holes are filled; else it destroys it, and iteratively, all
// closures that waited for its results.
//
// A **thread** runs to its end on its worker's stack. Its arguments are moved out and its closure is freed first, so
// the closures it makes reuse that memory. `tail_call!` calls the thread's code if the guard permits, else posts.
// Posted closures stay in a worker-private list, youngest last, so push and pop need no fence. A worker without work
// asks by the guard and is shown the older half. A worker runs closures in a **session** (`closure/session.rs`),
// bounded by its loop's budget.
//
// A closure of a portable thread may **migrate** to another process, which runs it as a computation of its own, and answers
// when that is over (`closure/migrate.rs`).
//
// A **computation** is everything begun by one `top`. It ends when its top closure has run and no closure is active.
// Each worker counts its own posts and ends; the worker that ends a session after the top closure adds them up
// (`closure/tally.rs`, with a loom model). So a computation of local closures shares no cache line but the deques.
// Sends from outside take a lock and are refused after the end.

mod argument;
mod computation;
mod cont;
mod fence;
mod frame;
mod holes;
#[cfg(feature = "objects")]
mod migrate;
mod missing;
mod session;
pub(crate) mod state;
mod tail;
mod tally;
mod thread;
mod top;
mod way;

pub use finespun_macros::{make_closure, tail_call, thread};

pub use cont::{Cont, Conts, ExternalCont, send_argument};
pub use frame::Closure;
pub use tail::{IntoIter, Vector};
pub use thread::{Postable, Thread, post};
pub use top::{FirstClosures, Top, top, top_of};

/// Items that generated code calls.
#[doc(hidden)]
pub mod __rt {
    pub use super::argument::{Each, Elements, Given, In, Missing, Supply, Without};
    pub use super::thread::{Ways, made, shared, stays};
    pub use super::way::way;
}
