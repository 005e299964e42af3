//! `select!` that is rejected.

use finespun::prelude::*;

#[task]
async fn number() -> u64 {
    1
}

fn plain() -> u64 {
    select! { n = number() => n }
}

#[task]
async fn no_branch() -> u64 {
    select! { else => 1 }
}

#[task]
async fn no_task() -> u64 {
    select! { number() => 1 }
}

#[task]
async fn no_condition() -> u64 {
    select! { n = number(), true => n }
}

#[task]
async fn else_first() -> u64 {
    select! {
        else => 1,
        n = number() => n,
    }
}

#[task]
async fn not_a_task() -> u64 {
    select! {
        n = plain() => n,
    }
}

#[task]
async fn other_types() -> u64 {
    select! {
        n = number() => n,
        _ = number() => "text",
    }
}

fn main() {}
