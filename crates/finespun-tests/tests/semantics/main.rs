//! A `#[task]` behaves like the plain `async fn` with the same text: values, order of drops, panics and cancellation,
//! whichever waits suspend.
//!
//! The modules follow the directories of the Rust compiler's own tests (`tests/ui`): each body checks the property of
//! an upstream test, in its own text, with awaits between the constructions and the drops. `harness` has the
//! comparison, `signatures` all kinds of signatures, `tokio_sync` the behaviour of tokio's sync types on tasks.

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
mod harness;

mod async_await;
mod binding;
mod closures;
mod drop;
mod fragments;
mod let_else;
mod loops;
mod moves;
mod pattern;
mod refused;
mod signatures;
mod statements;
mod temporaries;
mod tokio_sync;
mod unformatted;
