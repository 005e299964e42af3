//! The behaviour of a task must not depend on its schema, nor on where it leaves the stack.
//!
//! Every body of the corpus is compiled three times: as a plain `async fn` by rustc, as a pinned task, and as a stack
//! task. All three must give the same value and the same log, which destructors write to as well, under every
//! block-every-n.

#![allow(clippy::all, reason = "the bodies are odd on purpose")]
#![allow(unused, reason = "the bodies are odd on purpose")]

use std::cell::RefCell;
use std::fmt::Display;
use std::future::Future;
use std::pin::pin;
use std::sync::Mutex;
use std::sync::atomic::AtomicU64;
use std::task::{Context, Poll, Waker};

use finespun::prelude::{Continuation, Runtime, suspend, task};
use finespun::testing::*;

static LOG: Mutex<Vec<String>> = Mutex::new(Vec::new());
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

fn log(event: impl Display) {
    LOG.lock().unwrap().push(event.to_string());
}

fn logs() -> Vec<String> {
    std::mem::take(&mut *LOG.lock().unwrap())
}

/// A value that writes its name to the log when it is dropped.
#[derive(Debug, PartialEq)]
struct D(&'static str);

impl Drop for D {
    fn drop(&mut self) {
        log(format_args!("drop {}", self.0));
    }
}

/// Like `D`, with a number.
#[derive(Debug, PartialEq)]
struct N(u64);

impl Drop for N {
    fn drop(&mut self) {
        log(format_args!("drop {}", self.0));
    }
}

fn eat<T>(_: T) {}

fn pick(n: u64) -> Option<u64> {
    (n % 5 != 0).then_some(n)
}

/// Replaces `join!` in the plain version of a body.
macro_rules! join {
    ($a:expr, $b:expr) => {{
        let (a, b) = ($a, $b);
        (a.await, b.await)
    }};
}

/// Returns its argument, by a wait that is satisfied at once.
#[task]
async fn leaf<T: Send>(value: T) -> T {
    suspend(move |k: Continuation<T>| k.resolve(value)).await
}

#[task]
async fn put(all: &mut Vec<N>, k: u64) {
    all.push(leaf(N(k)).await);
}

#[task]
async fn add(all: &mut Vec<u64>, k: u64) {
    all.push(leaf(k).await);
}

/// Keeps references.
type Link<'a> = Mutex<Option<&'a AtomicU64>>;

#[task]
async fn link<'a>(to: &Link<'a>, of: &'a AtomicU64) {
    leaf(0).await;
    *to.lock().unwrap() = Some(of);
}

/// A value that keeps an exclusive reference.
struct Pen<'a>(&'a mut Vec<u64>);

#[task]
async fn open(all: &mut Vec<u64>) -> Pen<'_> {
    leaf(0).await;
    Pen(all)
}

#[task]
async fn more(k: &mut u64) {
    *k = leaf(*k + 1).await;
}

#[task]
async fn bump(d: &mut N) {
    d.0 = leaf(d.0 + 1).await;
}

/// Polls a future that is always ready.
fn at_once<F: Future>(future: F) -> F::Output {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("a plain body waits for nothing"),
    }
}

/// Compares the three versions of a body; `expected` is the value and the log of the plain one.
fn compare(expected: (String, Vec<String>), run: impl Fn(&Runtime) -> [(&'static str, String, Vec<String>); 2]) {
    for n in [0, 1, 2, 3, 5, 7] {
        let runtime = Runtime::builder().workers(1).block_every(n).build().unwrap();
        for (schema, value, log) in run(&runtime) {
            assert_eq!((value, log), expected, "{schema}, every {n} blocks");
        }
    }
}

macro_rules! corpus {
    // Bodies of which a part is pinned.
    (parts: $($corpus:tt)*) => { corpus! { #[task()] $($corpus)* } };
    (fn $($corpus:tt)*) => { corpus! { #[task(stack)] fn $($corpus)* } };
    (#[task $schema:tt] $( fn $name:ident $args:tt -> $ret:ty { $($body:tt)* } with $with:tt; )*) => {
        pub mod plain {
            use super::*;
            async fn leaf<T>(value: T) -> T { value }
            async fn put(all: &mut Vec<N>, k: u64) { all.push(N(k)) }
            async fn add(all: &mut Vec<u64>, k: u64) { all.push(k) }
            async fn bump(d: &mut N) { d.0 += 1 }
            async fn more(k: &mut u64) { *k += 1 }
            async fn open(all: &mut Vec<u64>) -> Pen<'_> { Pen(all) }
            async fn link<'a>(to: &Link<'a>, of: &'a AtomicU64) { *to.lock().unwrap() = Some(of) }
            $( pub async fn $name $args -> $ret { $($body)* } )*
        }
        pub mod pinned {
            use super::*;
            use crate::leaf;
            $( #[task(pinned)] pub async fn $name $args -> $ret { $($body)* } )*
        }
        pub mod stack {
            use super::*;
            use crate::leaf;
            $( #[task $schema] pub async fn $name $args -> $ret { $($body)* } )*
        }
        $(
            #[test]
            fn $name() {
                let _alone = crate::ONE_AT_A_TIME.lock().unwrap_or_else(|e| e.into_inner());
                logs();
                let value = format!("{:?}", at_once(plain::$name $with));
                compare((value, logs()), |runtime| {
                    let pinned = format!("{:?}", runtime.run(pinned::$name $with));
                    let log = logs();
                    let stack = format!("{:?}", runtime.run(stack::$name $with));
                    [("pinned", pinned, log), ("stack", stack, logs())]
                });
            }
        )*
    };
}

mod drops;
mod edges;
mod lent;
mod long;
mod loops;
mod parts;
mod values;
