//! Random bodies of tasks, to find tasks that behave differently from the plain `async fn`.
//!
//! ```text
//! generate   a seed and a number      -> a body: a tree of text with typed holes
//! body       a body and a form        -> a module of a program
//! package    bodies                   -> a scratch package
//! pipeline   check plain, build all forms, run and compare
//! shrink     a failing body           -> a smaller one that fails in the same way
//! report     counts, and the failures
//! ```
#![forbid(unsafe_code)]

pub mod args;
pub mod body;
pub mod cargo;
pub mod failure;
pub mod generate;
pub mod groups;
pub mod layout;
pub mod message;
pub mod normal;
pub mod package;
pub mod pipeline;
pub mod programs;
pub mod refusal;
pub mod report;
pub mod rng;
pub mod session;
pub mod shrink;
pub mod tree;
pub mod types;
