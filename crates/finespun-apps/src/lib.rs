//! Applications of Finespun, each with its plain sequential version.
//!
//! One module per application. Each module has
//!
//! - `plain`: the best natural sequential Rust, without tasks: the baseline of every speed-up;
//! - the natural task code, named after the result;
//! - module documentation: the problem, its source, the answer, and how the answer is known.
//!
//! | module | what it stresses | known answer |
//! |---|---|---|
//! | [`fib`] | the overhead of a task: no other work | fib(33) = 3,524,578 |
//! | [`tak`] | sequential awaits and tail awaits | tak(18, 12, 6) = 7 |
//! | [`nqueens`] | irregular search, state by value | 14 queens: 365,596 |
//! | [`qsort`] | `&mut` slices lent to two branches | sorted |
//! | [`list`] | recursion ten million deep | n (n + 1) / 2 |
//! | [`skynet`] | a wide, flat tree | depth 6: 499,999,500,000 |
//! | [`matmul`] | few, large leaves | exact integer sums |
//! | [`integrate`] | irregular numeric recursion | the antiderivative |
//! | [`uts`] | a tree that no static split balances | the published counts |
//! | [`search`] | a group that one of its activities terminates | the position in the input |
//! | [`sumto`] | a group of activities of any grain | n (n + 1) / 2 |
//! | [`protein`] | the search of the continuation-passing-threads paper | 3x3x3: 103,346 foldings |
//! | [`raytrace`] | pixels of very different cost | Java Grande: checksum 29,827,635 at 500 x 500 |
//!
//! The applications of objects are in `finespun-object-apps`.
//!
//! This crate contains no `unsafe` code, and no application depends on the number of workers: the answers are the same
//! for any number.
#![forbid(unsafe_code)]

mod bits;

pub mod fib;
pub mod integrate;
pub mod list;
pub mod matmul;
pub mod nqueens;
pub mod progress;
pub mod protein;
pub mod qsort;
pub mod raytrace;
pub mod search;
pub mod skynet;
pub mod sumto;
pub mod tak;
pub mod uts;

pub use progress::Progress;
