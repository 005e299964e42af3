//! The counted programs: small recursions and loops, as plain functions and as tasks.
//!
//! Where an application has both versions, this module uses the application's own. The list is traversed by an
//! *alternating* sum (value minus the sum of the rest): the optimiser turns the recursive sum of a list into a loop,
//! but not this one, so the plain version really makes a call per node.

use std::hint::black_box;

use finespun::prelude::*;
use finespun::sync::Mutex;
use finespun::testing::*;
use finespun_apps::list::{List, Node};
use finespun_apps::nqueens::Rows;
use finespun_apps::uts::{self, Tree};
use finespun_apps::{fib, nqueens, tak};

use crate::count::{Program, on_one_worker, run_on, undisturbed};

/// The nodes of the list, which is built once and traversed `size` times.
const NODES: usize = 1000;
/// The levels of the binary tree, which is built once and summed `size` times.
const LEVELS: u32 = 10;

/// Loop iterations per unit of size.
const TURNS: u64 = 10;
/// The levels of the recursion that blocks at the bottom, which is repeated `size` times.
const DEPTH: u64 = 100;

// Starting and ending a runtime varies by a thousand instructions with the order in which its threads start. The large
// sizes make a hundred thousand calls where a call is short, so that this variation does not show.
const FIB: (u64, u64) = (20, 27);
const TAK: (u64, u64) = (4, 7);
const QUEENS: (u64, u64) = (6, 11);
const TREES: (u64, u64) = (4, 7);
const REPEATS: (u64, u64) = (5, 405);
pub(super) const LOOP: (u64, u64) = (100, 10_000);
const DESCENTS: (u64, u64) = (10, 510);

/// All programs of this module.
pub const PROGRAMS: &[Program] = &[
    Program::new("fib-plain", FIB, fib_calls, fib::plain),
    Program::new("fib-join", FIB, fib_calls, |n| on_one_worker(fib::fib(n))),
    Program::new("fib-sequence", FIB, fib_calls, |n| on_one_worker(fib::fib_sequence(n))),
    Program::new("fib-pinned", FIB, fib_calls, |n| on_one_worker(fib_pinned(n))),
    Program::new("fib-closures", FIB, fib_calls, |n| on_one_worker(fib::threads::forked(n))),
    Program::new("fib-closures-tail", FIB, fib_calls, |n| on_one_worker(fib::threads::tailed(n))),
    Program::new("fib-every-call-a-frame", (10, 21), fib_calls, |n| run_on(undisturbed().block_every(1), fib::fib(n))),
    Program::new("tak-plain", TAK, tak_calls, |n| tak::plain(3 * n as i64, 2 * n as i64, n as i64) as u64),
    Program::new("tak-tasks", TAK, tak_calls, |n| on_one_worker(tak::tak(3 * n as i64, 2 * n as i64, n as i64)) as u64),
    Program::new(
        "list-plain",
        REPEATS,
        |n| n * NODES as u64,
        |n| {
            let list = List::build(NODES);
            (0..n).map(|_| alternate_plain(black_box(list.first()))).fold(0, u64::wrapping_add)
        },
    ),
    Program::new(
        "list-tasks",
        REPEATS,
        |n| n * NODES as u64,
        |n| on_one_worker(alternate_often(&List::build(NODES), n)),
    ),
    Program::new(
        "list-forward",
        REPEATS,
        |n| n * NODES as u64,
        |n| on_one_worker(forward_often(&List::build(NODES), n)),
    ),
    Program::new("nqueens-plain", QUEENS, boards, |n| nqueens::plain(n as u32)),
    Program::new("nqueens-tasks", QUEENS, boards, |n| on_one_worker(nqueens::nqueens(n as u32))),
    Program::new("tree-plain", REPEATS, tree_nodes, |n| {
        let tree = Binary::build(LEVELS);
        (0..n).map(|_| black_box(&tree).as_deref().map_or(0, sum_plain)).fold(0, u64::wrapping_add)
    }),
    Program::new("tree-tasks", REPEATS, tree_nodes, |n| on_one_worker(sum_often(&Binary::build(LEVELS), n))),
    Program::new("uts-plain", TREES, uts_nodes, |n| uts::plain_recursive(&uts_tree(n)).nodes),
    Program::new("uts-tasks", TREES, uts_nodes, |n| on_one_worker(uts::search(&uts_tree(n))).nodes),
    Program::new("straight-plain", LOOP, turns, |n| (0..turns(n)).map(mix_plain).fold(0, |a, b| a ^ b)),
    Program::new("straight-tasks", LOOP, turns, |n| on_one_worker(mix_often(turns(n)))),
    Program::new("lends-tasks", LOOP, turns, |n| on_one_worker(mix_lent_often(turns(n)))),
    Program::new("lock-std", LOOP, turns, |n| {
        let mutex = std::sync::Mutex::new(0);
        for _ in 0..turns(n) {
            *mutex.lock().expect("no panic") += 1;
        }
        mutex.into_inner().expect("no panic")
    }),
    Program::new("lock-tasks", LOOP, turns, |n| on_one_worker(lock_often(&Mutex::new(0), turns(n)))),
    Program::new("suspend-resolved", LOOP, turns, |n| on_one_worker(suspend_often(turns(n)))),
    Program::new("spawn-await", LOOP, turns, |n| on_one_worker(spawn_often(turns(n)))),
    Program::new("yield", LOOP, turns, |n| on_one_worker(yield_often(turns(n)))),
    Program::new(
        "level-plain",
        DESCENTS,
        |n| n * DEPTH,
        |n| (0..n).map(|_| descend_plain(black_box(DEPTH))).fold(0, u64::wrapping_add),
    ),
    Program::new("level-frame", DESCENTS, |n| n * DEPTH, |n| on_one_worker(descend_often(n))),
];

pub(super) fn turns(n: u64) -> u64 {
    n * TURNS
}

fn fib_calls(n: u64) -> u64 {
    2 * fib::plain(n + 1) - 1
}

fn tak_calls(n: u64) -> u64 {
    fn calls(x: i64, y: i64, z: i64) -> (i64, u64) {
        if y >= x {
            return (z, 1);
        }
        let (a, b, c) = (calls(x - 1, y, z), calls(y - 1, z, x), calls(z - 1, x, y));
        let last = calls(a.0, b.0, c.0);
        (last.0, 1 + a.1 + b.1 + c.1 + last.1)
    }
    calls(3 * n as i64, 2 * n as i64, n as i64).1
}

/// Returns the number of boards that the search for `n` queens visits.
fn boards(n: u64) -> u64 {
    fn visit(rows: Rows) -> u64 {
        if rows.complete() {
            return 1;
        }
        (0..32)
            .filter(|column| rows.safe() >> column & 1 == 1)
            .map(|column| visit(rows.place(1 << column)))
            .sum::<u64>()
            + 1
    }
    visit(Rows::empty(n as u32))
}

fn tree_nodes(n: u64) -> u64 {
    n * ((1 << LEVELS) - 1)
}

fn uts_tree(depth: u64) -> Tree {
    Tree::parse(&format!("-t 1 -a 3 -d {depth} -b 4 -r 19")).expect("a tree of the original's letters")
}

fn uts_nodes(depth: u64) -> u64 {
    uts::plain(&uts_tree(depth)).nodes
}

#[task(pinned)]
async fn fib_pinned(n: u64) -> u64 {
    if n < 2 {
        return n;
    }
    let (a, b) = join!(fib_pinned(n - 1), fib_pinned(n - 2));
    a + b
}

fn alternate_plain(node: Option<&Node>) -> u64 {
    match node {
        Some(node) => node.value().wrapping_sub(alternate_plain(node.next())),
        None => 0,
    }
}

#[task]
async fn alternate(node: Option<&Node>) -> u64 {
    let Some(node) = node else { return 0 };
    let value: u64 = node.value();
    let rest: u64 = alternate(node.next()).await;
    value.wrapping_sub(rest)
}

#[task]
async fn alternate_often(list: &List, times: u64) -> u64 {
    let mut sum: u64 = 0;
    for _ in 0..times {
        let once: u64 = alternate(list.first()).await;
        sum = sum.wrapping_add(once);
    }
    sum
}

/// The same as `alternate`, with the sum as an accumulator: every await is in tail position.
#[task]
async fn forward(node: Option<&Node>, sum: u64) -> u64 {
    match node {
        Some(node) => forward(node.next(), node.value().wrapping_sub(sum)).await,
        None => sum,
    }
}

#[task]
async fn forward_often(list: &List, times: u64) -> u64 {
    let mut sum: u64 = 0;
    for _ in 0..times {
        let once: u64 = forward(list.first(), 0).await;
        sum = sum.wrapping_add(once);
    }
    sum
}

/// A binary tree with a number in every node.
struct Binary {
    left: Option<Box<Binary>>,
    right: Option<Box<Binary>>,
    value: u64,
}

impl Binary {
    /// Builds a full tree with `levels` levels.
    fn build(levels: u32) -> Option<Box<Binary>> {
        let below = levels.checked_sub(1)?;
        Some(Box::new(Binary { left: Self::build(below), right: Self::build(below), value: u64::from(levels) }))
    }
}

fn sum_plain(tree: &Binary) -> u64 {
    let left = tree.left.as_deref().map_or(0, sum_plain);
    let right = tree.right.as_deref().map_or(0, sum_plain);
    left + right + tree.value
}

#[task]
async fn sum(tree: &Binary) -> u64 {
    let (left, right) = join!(sum_of(&tree.left), sum_of(&tree.right));
    left + right + tree.value
}

#[task]
async fn sum_of(tree: &Option<Box<Binary>>) -> u64 {
    match tree {
        Some(tree) => sum(tree).await,
        None => 0,
    }
}

#[task]
async fn sum_often(tree: &Option<Box<Binary>>, times: u64) -> u64 {
    let mut all: u64 = 0;
    for _ in 0..times {
        let once: u64 = sum_of(tree).await;
        all = all.wrapping_add(once);
    }
    all
}

fn half_plain(n: &u64) -> u64 {
    *n ^ *n >> 1
}

#[inline(never)]
fn mix_plain(n: u64) -> u64 {
    half_plain(&n).wrapping_mul(half_plain(&(n ^ 5)) | 1)
}

#[task]
async fn half(n: u64) -> u64 {
    half_plain(&n)
}

/// Straight, because the tasks that it awaits are straight.
#[task]
async fn mix(n: u64) -> u64 {
    let a: u64 = half(n).await;
    let b: u64 = half(n ^ 5).await;
    a.wrapping_mul(b | 1)
}

#[task]
async fn mix_often(times: u64) -> u64 {
    let mut all: u64 = 0;
    for n in 0..times {
        let one: u64 = mix(n).await;
        all ^= one;
    }
    all
}

#[task]
async fn half_lent(n: &u64) -> u64 {
    half_plain(n)
}

/// The same as `mix`, but lends a local: the schema would be pinned if the task were not straight.
#[task]
async fn mix_lent(n: u64) -> u64 {
    let m = n ^ 5;
    let a: u64 = half_lent(&n).await;
    let b: u64 = half_lent(&m).await;
    a.wrapping_mul(b | 1)
}

#[task]
async fn mix_lent_often(times: u64) -> u64 {
    let mut all: u64 = 0;
    for n in 0..times {
        let one: u64 = mix_lent(n).await;
        all ^= one;
    }
    all
}

#[task]
async fn lock_often(mutex: &Mutex<u64>, times: u64) -> u64 {
    for _ in 0..times {
        let mut value = mutex.lock().await;
        *value += 1;
    }
    times
}

#[task]
async fn suspend_often(times: u64) -> u64 {
    let mut sum: u64 = 0;
    for _ in 0..times {
        let one: u64 = suspend(|k: Continuation<u64>| k.resolve(1)).await;
        sum += one;
    }
    sum
}

#[task]
async fn one(n: u64) -> u64 {
    n
}

#[task]
async fn spawn_often(times: u64) -> u64 {
    let mut sum: u64 = 0;
    for n in 0..times {
        let value: u64 = spawn(one(n)).await;
        sum += value;
    }
    sum
}

#[task]
async fn yield_often(times: u64) -> u64 {
    for _ in 0..times {
        yield_now().await;
    }
    times
}

/// Recurses `levels` deep and returns through all levels.
#[inline(never)]
fn descend_plain(levels: u64) -> u64 {
    match levels {
        0 => 0,
        _ => levels.wrapping_sub(descend_plain(levels - 1)),
    }
}

/// The same as a task. It suspends at the bottom, so every level becomes a frame, is resumed and is freed.
#[task]
async fn descend(levels: u64) -> u64 {
    if levels == 0 {
        yield_now().await;
        return 0;
    }
    let below: u64 = descend(levels - 1).await;
    levels.wrapping_sub(below)
}

#[task]
async fn descend_often(times: u64) -> u64 {
    let mut sum: u64 = 0;
    for _ in 0..times {
        let once: u64 = descend(DEPTH).await;
        sum = sum.wrapping_add(once);
    }
    sum
}
