//! Closures by hand: MIT's continuation-passing threads (PCM, the ancestor of Cilk), for those who want to write such code, or
//! to generate it.
//!
//! A [`thread`](macro@thread) is a function that returns nothing and never waits. A *closure* is a thread with its arguments,
//! of which some may be missing: [`make_closure!`] gives a typed, linear [`Cont`] for each hole, and whoever sends the last
//! argument ([`send_argument`]) posts the closure. [`tail_call!`] goes on with another thread at the price of a call. Full
//! closures run the last posted first, and are stolen the first posted first.
//!
//! Source: Halbherr, Zhou, Joerg, *MIMD-style parallel programming with continuation-passing threads*, sections 2 and 3, with
//! the names of the paper. A program transcribes line by line:
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
//! | `make_closure` posts what is full (footnote 2) | `#[thread(post)]` |
//!
//! What there the programmer has to get right, types say here: a hole is filled once, by a value of its type; a closure that is
//! not full cannot be posted; a vector without elements adds nothing to what is missing. What a thread takes is owned; what
//! all of them read, they share ([`Top::sharing`]).
//!
//! The closure is a frame of the task room, of which this room makes its own kind (`frame`, and `holes` for what becomes of it); who finds out that a
//! computation is over stands in `computation` and `tally`, and how a worker runs one closure after the other in `session`.

mod argument;
mod computation;
mod cont;
mod frame;
mod holes;
mod session;
mod tail;
mod tally;
mod thread;
mod top;

pub use finespun_macros::{make_closure, tail_call, thread};

pub use cont::{Cont, Conts, send_argument};
pub use frame::Closure;
pub use tail::{IntoIter, Vector};
pub use thread::{Postable, Thread, post};
pub use top::{Body, Top, top, top_of};

/// What generated code calls.
#[doc(hidden)]
pub mod __rt {
    pub use super::argument::{Each, Elements, Given, In, Missing, Supply, Without};
    pub use super::migrates::{Never, Probe};
    pub use super::thread::{made, shared, stays};
}

/// Whether a type can travel, found out without asking that it can.
mod migrates {
    use std::marker::PhantomData;

    use super::{Cont, Vector};
    use crate::Portable;

    /// What an argument must be if its closure is to migrate.
    pub trait Travels {}
    impl<T: Portable> Travels for T {}
    impl<T: Portable> Travels for Cont<T> {}
    impl<T: Portable> Travels for Vector<T> {}

    /// Asks: the constant of the type itself if it travels, else that of the trait.
    #[derive(Debug)]
    pub struct Probe<T>(PhantomData<T>);
    impl<T: Travels> Probe<T> {
        /// It does.
        pub const MIGRATES: bool = true;
    }

    /// The other answer.
    pub trait Never {
        /// It does not.
        const MIGRATES: bool = false;
    }
    impl<T> Never for Probe<T> {}
}
