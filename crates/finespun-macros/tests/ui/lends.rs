//! A local in a cell is borrowed by Rust's rules.

use finespun::prelude::*;

#[task]
async fn first(v: &[u64]) -> &u64 {
    yield_now().await;
    &v[0]
}

#[task]
async fn moved_while_borrowed(n: u64) -> u64 {
    let v = vec![n];
    let r = first(&v).await;
    drop(v);
    *r
}

#[task]
async fn returned() -> &'static u64 {
    let v = vec![1];
    first(&v).await
}

/// Types with the names of std's.
mod own {
    pub struct AtomicU64(u64);

    impl AtomicU64 {
        pub fn new() -> AtomicU64 {
            AtomicU64(1)
        }
        pub fn into_number(&self) -> u64 {
            self.0
        }
    }

    pub struct Vec(std::sync::atomic::AtomicU64);

    impl Vec {
        pub fn new() -> Vec {
            Vec(1.into())
        }
        pub fn number(&self) -> u64 {
            self.0.load(std::sync::atomic::Ordering::Relaxed)
        }
    }
}
use own::{AtomicU64, Vec};

#[task]
async fn look<T: Send>(_: &mut T) -> u64 {
    yield_now().await;
    1
}

#[task]
async fn read<T: Sync>(_: &T) -> u64 {
    yield_now().await;
    1
}

#[task]
async fn no_atomic_of_std() -> u64 {
    let mut n = AtomicU64::new();
    let a: u64 = look(&mut n).await;
    a + n.into_number()
}

#[task]
async fn no_vector_of_std() -> u64 {
    let v = Vec::new();
    let a: u64 = read(&v).await;
    a + v.number()
}

struct Plain {
    x: u64,
}

fn eat(plain: Plain) -> u64 {
    plain.x
}

#[task]
async fn closure_that_owns(n: u64) -> Box<dyn FnOnce() -> u64 + Send> {
    let plain: Plain = Plain { x: n };
    read(&plain).await;
    Box::new(|| eat(plain))
}

/// Refers to itself or another of its kind.
struct Node<'a> {
    value: std::sync::atomic::AtomicU64,
    next: std::sync::Mutex<Option<&'a Node<'a>>>,
}

#[task]
async fn link<'a>(node: &'a Node<'a>) {
    yield_now().await;
    *node.next.lock().unwrap() = Some(node);
}

#[task]
async fn linked_to_itself(n: u64) -> u64 {
    let node = Node { value: n.into(), next: Default::default() };
    link(&node).await;
    node.value.store(5, std::sync::atomic::Ordering::Relaxed);
    node.next.lock().unwrap().unwrap().value.load(std::sync::atomic::Ordering::Relaxed)
}

fn main() {}
