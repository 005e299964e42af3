//! Callers and callees of every schema, calling each other in a loop.
//!
//! Each callee takes a number and a flag that makes it block by `yield_now`, the cheapest wait. A loop of each caller's
//! schema calls it. The plain loop calls the plain callee, and the overhead of a call is its cost minus a plain call's.
//! Forwarding callers are called by a loop in the stack schema, and call the callee.

use std::hint::black_box;

use finespun::prelude::*;

use crate::count::{Program, on_one_worker};

/// Sizes of all loops, and iterations per unit of size.
const SIZES: (u64, u64) = (100, 10_000);
const TURNS: u64 = 5;

const fn looping(name: &'static str, run: fn(u64) -> u64) -> Program {
    Program::new(name, SIZES, |n| n * TURNS, run)
}

// The callees.

#[inline(never)]
fn plain(n: u64, block: bool) -> u64 {
    if block {
        std::thread::yield_now();
    }
    n ^ 1
}

/// A plain function that ends in a call.
#[inline(never)]
fn plain_forward(n: u64, block: bool) -> u64 {
    plain(n ^ 2, block)
}

/// The straight callee: the plain function as a task.
#[task]
async fn straight(n: u64, block: bool) -> u64 {
    plain(n, block)
}

#[task(stack)]
async fn stack(n: u64, block: bool) -> u64 {
    if block {
        yield_now().await;
    }
    n ^ 1
}

#[task(pinned)]
async fn pinned(n: u64, block: bool) -> u64 {
    if block {
        yield_now().await;
    }
    n ^ 1
}

/// Declares callers of several schemas that await `$call` and go on with its value.
macro_rules! callers {
    ($($schema:ident $name:ident($n:ident, $block:ident) $call:expr;)*) => {
        $(
            #[task($schema)]
            async fn $name($n: u64, $block: bool) -> u64 {
                let value: u64 = $call.await;
                value ^ 4
            }
        )*
    };
}

callers! {
    stack stack_to_stack(n, block) stack(n, block);
    stack stack_to_pinned(n, block) pinned(n, block);
    pinned pinned_to_stack(n, block) stack(n, block);
    pinned pinned_to_pinned(n, block) pinned(n, block);
}

#[task(stack)]
async fn forward_to_straight(n: u64, block: bool) -> u64 {
    straight(n ^ 2, block).await
}

#[task(stack)]
async fn forward_to_stack(n: u64, block: bool) -> u64 {
    stack(n ^ 2, block).await
}

#[task(stack)]
async fn forward_to_suspend(n: u64, _block: bool) -> u64 {
    suspend(move |k: Continuation<u64>| k.resolve(n ^ 3)).await
}

#[task(stack)]
async fn forward_to_pinned(n: u64, block: bool) -> u64 {
    pinned(n ^ 2, block).await
}

#[task(stack)]
async fn forward_to_heap(n: u64, block: bool) -> u64 {
    spawn(stack(n ^ 2, block)).await
}

/// Ends in the wait itself.
#[task(stack)]
async fn forward_to_wait(_n: u64, block: bool) {
    if block {
        yield_now().await
    }
}

// The callers.

fn plain_loop(turns: u64, callee: fn(u64, bool) -> u64) -> u64 {
    let callee = black_box(callee);
    (0..turns).fold(0, |sum, n| sum ^ callee(n, false))
}

/// Declares loops of several schemas. A `heap` loop is a task that has left the stack before the loop begins.
macro_rules! loops {
    ($(heap $name:ident($n:ident, $block:ident) $call:expr;)*) => {
        $(
            #[task]
            async fn $name(turns: u64, $block: bool) -> u64 {
                yield_now().await;
                let mut sum: u64 = 0;
                for $n in 0..turns {
                    let value: u64 = $call.await;
                    sum ^= value;
                }
                sum
            }
        )*
    };
    ($($schema:ident $name:ident($n:ident, $block:ident) $call:expr;)*) => {
        $(
            #[task($schema)]
            async fn $name(turns: u64, $block: bool) -> u64 {
                let mut sum: u64 = 0;
                for $n in 0..turns {
                    let value: u64 = $call.await;
                    sum ^= value;
                }
                sum
            }
        )*
    };
}

loops! {
    straight straight_calls_straight(n, block) straight(n, block);
}

loops! {
    stack stack_calls_straight(n, block) straight(n, block);
    stack stack_calls_stack(n, block) stack(n, block);
    stack stack_calls_suspend(n, _block) suspend(move |k: Continuation<u64>| k.resolve(n ^ 1));
    stack stack_calls_pinned(n, block) pinned(n, block);
    stack stack_calls_heap(n, block) spawn(stack(n, block));
    stack stack_calls_forward_to_straight(n, block) forward_to_straight(n, block);
    stack stack_calls_forward_to_stack(n, block) forward_to_stack(n, block);
    stack stack_calls_forward_to_suspend(n, block) forward_to_suspend(n, block);
    stack stack_calls_forward_to_pinned(n, block) forward_to_pinned(n, block);
    stack stack_calls_forward_to_heap(n, block) forward_to_heap(n, block);
    pinned pinned_calls_straight(n, block) straight(n, block);
    pinned pinned_calls_stack(n, block) stack(n, block);
    pinned pinned_calls_suspend(n, _block) suspend(move |k: Continuation<u64>| k.resolve(n ^ 1));
    pinned pinned_calls_pinned(n, block) pinned(n, block);
    pinned pinned_calls_heap(n, block) spawn(stack(n, block));
}

loops! {
    heap heap_calls_straight(n, block) straight(n, block);
    heap heap_calls_stack(n, block) stack(n, block);
    heap heap_calls_suspend(n, _block) suspend(move |k: Continuation<u64>| k.resolve(n ^ 1));
    heap heap_calls_pinned(n, block) pinned(n, block);
    heap heap_calls_heap(n, block) spawn(stack(n, block));
    heap heap_calls_forward_to_stack(n, block) forward_to_stack(n, block);
    heap heap_calls_forward_to_pinned(n, block) forward_to_pinned(n, block);
    heap heap_calls_stack_to_stack(n, block) stack_to_stack(n, block);
    heap heap_calls_stack_to_pinned(n, block) stack_to_pinned(n, block);
    heap heap_calls_pinned_to_stack(n, block) pinned_to_stack(n, block);
    heap heap_calls_pinned_to_pinned(n, block) pinned_to_pinned(n, block);
}

/// The heap caller that waits itself, or calls a task that ends in the wait. If it stays on the stack, it only does a
/// checkpoint that finds nothing.
#[task]
async fn heap_waits(turns: u64, forward: bool, block: bool) -> u64 {
    yield_now().await;
    for n in 0..turns {
        if forward {
            forward_to_wait(n, block).await;
        } else if block {
            yield_now().await;
        } else {
            checkpoint().await;
        }
    }
    turns
}

macro_rules! programs {
    ($($name:literal $loops:ident;)*) => {
        /// All loops: each with callees that end on the stack, and again with callees that block.
        pub const PROGRAMS: &[Program] = &[
            looping("call plain", |n| plain_loop(n * TURNS, plain)),
            looping("call plain forward", |n| plain_loop(n * TURNS, plain_forward)),
            looping("heap waits: stays", |n| on_one_worker(heap_waits(n * TURNS, false, black_box(false)))),
            looping("heap waits: blocks", |n| on_one_worker(heap_waits(n * TURNS, false, black_box(true)))),
            looping("heap forward>wait: stays", |n| on_one_worker(heap_waits(n * TURNS, true, black_box(false)))),
            looping("heap forward>wait: blocks", |n| on_one_worker(heap_waits(n * TURNS, true, black_box(true)))),
            $(looping(concat!($name, ": stays"), |n| on_one_worker($loops(n * TURNS, black_box(false)))),)*
            $(looping(concat!($name, ": blocks"), |n| on_one_worker($loops(n * TURNS, black_box(true)))),)*
        ];
    };
}

programs! {
    "straight straight" straight_calls_straight;
    "stack straight" stack_calls_straight;
    "stack stack" stack_calls_stack;
    "stack suspend" stack_calls_suspend;
    "stack pinned" stack_calls_pinned;
    "stack heap" stack_calls_heap;
    "forward straight" stack_calls_forward_to_straight;
    "forward stack" stack_calls_forward_to_stack;
    "forward suspend" stack_calls_forward_to_suspend;
    "forward pinned" stack_calls_forward_to_pinned;
    "forward heap" stack_calls_forward_to_heap;
    "pinned straight" pinned_calls_straight;
    "pinned stack" pinned_calls_stack;
    "pinned suspend" pinned_calls_suspend;
    "pinned pinned" pinned_calls_pinned;
    "pinned heap" pinned_calls_heap;
    "heap straight" heap_calls_straight;
    "heap stack" heap_calls_stack;
    "heap suspend" heap_calls_suspend;
    "heap pinned" heap_calls_pinned;
    "heap heap" heap_calls_heap;
    "heap forward>stack" heap_calls_forward_to_stack;
    "heap forward>pinned" heap_calls_forward_to_pinned;
    "heap stack>stack" heap_calls_stack_to_stack;
    "heap stack>pinned" heap_calls_stack_to_pinned;
    "heap pinned>stack" heap_calls_pinned_to_stack;
    "heap pinned>pinned" heap_calls_pinned_to_pinned;
}
