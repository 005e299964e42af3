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

fn main() {}
