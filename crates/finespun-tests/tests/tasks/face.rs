//! Typical first programs of users. Each body must compile to the schema that its comment names.

use crate::common::everywhere;
use finespun::prelude::*;

// stack
#[task(stack)]
async fn fib(n: u64) -> u64 {
    if n < 2 {
        return n;
    }
    let (a, b) = join!(fib(n - 1), fib(n - 2));
    a + b
}

struct Tree {
    value: u64,
    left: Option<Box<Tree>>,
    right: Option<Box<Tree>>,
}

// stack
#[task(stack)]
async fn sum(t: &Tree) -> u64 {
    let (l, r) = join!(sum_of(&t.left), sum_of(&t.right));
    l + r + t.value
}

// stack, forwarding
#[task(stack)]
async fn sum_of(t: &Option<Box<Tree>>) -> u64 {
    match t {
        Some(t) => sum(t).await,
        None => 0,
    }
}

// stack
#[task(stack)]
async fn sort<T: Ord + Send>(v: &mut [T]) {
    if v.len() <= 16 {
        v.sort();
        return;
    }
    let m = partition(v);
    let (lo, hi) = v.split_at_mut(m);
    join!(sort(lo), sort(hi));
}

fn partition<T: Ord>(v: &mut [T]) -> usize {
    let last = v.len() - 1;
    v.swap(last / 2, last);
    let mut m = 0;
    for i in 0..last {
        if v[i] < v[last] {
            v.swap(i, m);
            m += 1;
        }
    }
    v.swap(m, last);
    m.max(1)
}

// pinned: the branches borrow a local
#[task]
async fn total(v: Vec<u64>) -> u64 {
    let (a, b) = v.split_at(v.len() / 2);
    let (x, y) = join!(add(a), add(b));
    x + y
}

// straight
#[task]
async fn add(v: &[u64]) -> u64 {
    v.iter().sum()
}

// stack: copying the reference and the number is as good as borrowing their locals
#[task(stack)]
async fn looked_up(table: &[u64], from: usize, n: usize) -> u64 {
    let step: u64 = 2;
    reduce((0..n).map(|k| entry(table, from + k, step.max(1))), 0, |a, b| a + b).await
}

// pinned: the closures borrow the number itself, count in a local, name the number in a format string, borrow from
// another closure
#[task]
async fn lends(table: &[u64], n: usize) -> u64 {
    let mut count: u64 = 0;
    let a = reduce((0..n).map(|k| by_reference(table, &n, k)), 0, |a, b| a + b).await;
    let b = reduce(
        (0..n).map(|k| {
            count += 1;
            entry(table, k, count)
        }),
        0,
        |a, b| a + b,
    )
    .await;
    let c = reduce((0..n).map(|k| entry(table, format!("{n}").len() + k, 1)), 0, |a, b| a + b).await;
    let d =
        reduce((0..n).flat_map(|k| (0..2).map(move |_| k).chain(0..n)).map(|k| entry(table, k, 1)), 0, |a, b| a + b);
    a + b + c + d.await + count
}

#[task]
async fn entry(table: &[u64], k: usize, step: u64) -> u64 {
    table[k % table.len()] * step
}

#[task]
async fn by_reference(table: &[u64], n: &usize, k: usize) -> u64 {
    table[(n + k) % table.len()]
}

#[derive(Clone, Copy)]
struct Rows(u32, u32);

impl Rows {
    fn safe(self) -> u32 {
        !self.0 & ((1 << self.1) - 1)
    }
    fn place(self, column: u32) -> Rows {
        Rows(self.0 | 1 << column, self.1)
    }
}

struct Columns(u32);

impl Iterator for Columns {
    type Item = u32;
    fn next(&mut self) -> Option<u32> {
        let column = (self.0 != 0).then(|| self.0.trailing_zeros())?;
        self.0 &= self.0 - 1;
        Some(column)
    }
}

// stack: a value moved into the call is not borrowed by it
#[task(stack)]
async fn placings(rows: Rows) -> u64 {
    if rows.safe() == 0 {
        return 1;
    }
    reduce(Columns(rows.safe()).map(move |column| placings(rows.place(column))), 0, |a, b| a + b).await
}

// pinned: the iterator borrows a local, although the closure copies it
#[task]
async fn cells(rows: Vec<u64>) -> u64 {
    let board = Board([1, 2, 3]);
    let sum = reduce(board.cells().iter().map(move |&c| cell(board, c)), 0, |a, b| a + b).await;
    sum + rows.len() as u64
}

#[derive(Clone, Copy)]
struct Board([u64; 3]);

impl Board {
    fn cells(&self) -> &[u64] {
        &self.0
    }
}

#[task]
async fn cell(board: Board, c: u64) -> u64 {
    board.0[c as usize - 1] + c
}

fn tree(depth: u64) -> Option<Box<Tree>> {
    (depth > 0).then(|| Box::new(Tree { value: depth, left: tree(depth - 1), right: tree(depth / 2) }))
}

fn plain_sum(t: &Option<Box<Tree>>) -> u64 {
    t.as_ref().map_or(0, |t| t.value + plain_sum(&t.left) + plain_sum(&t.right))
}

#[test]
fn typical_first_programs_run() {
    everywhere(|runtime| {
        assert_eq!(runtime.run(fib(15)), 610);
        let t = tree(9);
        assert_eq!(runtime.run(sum_of(&t)), plain_sum(&t));
        let mut v: Vec<u64> = (0..1000).map(|i| i * 7919 % 1009).collect();
        let mut sorted = v.clone();
        sorted.sort();
        runtime.run(sort(&mut v));
        assert_eq!(v, sorted);
        assert_eq!(runtime.run(total((1..=10).collect())), 55);
        assert_eq!(runtime.run(add(&v)), v.iter().sum());
        assert_eq!(runtime.run(looked_up(&[1, 2, 3], 1, 4)), 2 * (2 + 3 + 1 + 2));
        assert_eq!(runtime.run(lends(&[1, 2, 3], 3)), 6 + (1 + 4 + 9) + 6 + (6 * 2 + 6 * 3) + 3);
        assert_eq!(runtime.run(placings(Rows(0, 5))), 120);
        assert_eq!(runtime.run(cells(vec![7])), 13);
    });
}

/// References to types with a type parameter, whose lifetimes are elided.
mod elided {
    use super::*;

    #[task]
    async fn nothing() {}

    #[task]
    async fn lengths<T: Send + Sync>(x: &[T], y: &mut [T]) -> usize {
        nothing().await;
        x.len() + y.len()
    }

    #[task]
    async fn with<F: Fn(u64) -> u64 + Sync>(f: &F, out: &mut Vec<u64>) {
        nothing().await;
        out.push(f(1));
    }

    struct Pair<T>(T);

    #[task]
    impl<T: Sync + Clone + Send> Pair<T> {
        async fn fill(&self, out: &mut [T]) -> usize {
            nothing().await;
            out.fill(self.0.clone());
            out.len()
        }
    }

    #[test]
    fn tasks_take_references_with_elided_lifetimes() {
        crate::common::everywhere(|runtime| {
            let (mut numbers, mut out) = ([1, 2], Vec::new());
            assert_eq!(runtime.run(lengths(&[1, 2, 3], &mut numbers)), 5);
            runtime.run(with(&|n| n + 1, &mut out));
            assert_eq!(out, [2]);
            assert_eq!(runtime.run(Pair(9).fill(&mut numbers)), 2);
        });
    }
}

#[task]
async fn raw(r#type: u64, r#match: &[u64]) -> u64 {
    let r#loop = r#match.len() as u64;
    let a: u64 = fib_of(r#type).await;
    let r#type = a + r#loop;
    let b: u64 = fib_of(r#loop).await;
    r#type + b
}

#[task]
async fn fib_of(n: u64) -> u64 {
    crate::common::fib(n).await
}

#[test]
fn names_may_be_raw() {
    everywhere(|runtime| assert_eq!(runtime.run(raw(5, &[1, 2, 3])), 5 + 3 + 2));
}

/// A `Copy` type that the task compiler does not know: the closure borrows the local.
#[derive(Clone, Copy)]
struct Handle(u64);

#[task]
async fn look_up(handle: Handle, index: usize) -> u64 {
    yield_now().await;
    handle.0 + index as u64
}

#[task]
async fn handles_in_closures(handle: Handle, pair: (Handle, Option<Handle>)) -> u64 {
    let all = join_all((0..4).map(|index| look_up(handle, index))).await;
    let more = parfor(0..4, |index| look_up(pair.0, index)).collect().await;
    let (first, second) = pair;
    let last = reduce((0..4).map(|index| look_up(second.unwrap_or(first), index)), 0, |a, b| a + b).await;
    all.iter().chain(&more).sum::<u64>() + last
}

#[test]
fn closures_may_name_locals_of_copy_types() {
    everywhere(|runtime| assert_eq!(runtime.run(handles_in_closures(Handle(10), (Handle(20), None))), 46 + 86 + 86));
}
