//! Synchronisation: locks, notifications and channels, in tasks and outside.

mod cancelled;
mod channels;
mod notices;
mod outside;
mod reports;
mod rwlock;

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

/// A value that counts its live instances.
struct Alive<'a>(&'a AtomicU64, u64);

impl<'a> Alive<'a> {
    fn new(count: &'a AtomicU64, n: u64) -> Alive<'a> {
        count.fetch_add(1, Ordering::Relaxed);
        Alive(count, n)
    }
}

impl Drop for Alive<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Runs a std future on this thread: the smallest executor.
fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(value) => return value,
            Poll::Pending => thread::park(),
        }
    }
}

/// Polls a future once.
fn poll_once<F: Future + Unpin>(future: &mut F) -> Poll<F::Output> {
    pin!(future).poll(&mut Context::from_waker(Waker::noop()))
}
