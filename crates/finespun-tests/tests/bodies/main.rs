//! Whole bodies of programs as tasks, compared with the plain `async fn` as in `semantics`: small services, the guesses of
//! the task compiler from names, and the parts that bodies are made of. A binary of its own, so that both compile at the
//! same time.

#![allow(clippy::all, reason = "the bodies are odd on purpose")]
#![allow(
    unused,
    nonstandard_style,
    async_fn_in_trait,
    irrefutable_let_patterns,
    reason = "the bodies are odd on purpose"
)]

#[path = "../common/mod.rs"]
mod common;
#[macro_use]
#[path = "../semantics/harness.rs"]
mod harness;

mod guesses;
mod parts;
mod services;
