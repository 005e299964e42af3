//! What users write first, as they write it: each body must come out in the schema that its comment says.

mod common;

use common::everywhere;
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

fn tree(depth: u64) -> Option<Box<Tree>> {
    (depth > 0).then(|| Box::new(Tree { value: depth, left: tree(depth - 1), right: tree(depth / 2) }))
}

fn plain_sum(t: &Option<Box<Tree>>) -> u64 {
    t.as_ref().map_or(0, |t| t.value + plain_sum(&t.left) + plain_sum(&t.right))
}

#[test]
fn what_users_write_first() {
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
    });
}
