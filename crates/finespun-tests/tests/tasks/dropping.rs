//! Runtimes whose last owner runs on them.

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;
use std::time::{Duration, Instant};

use finespun::prelude::*;
use finespun::testing::*;

use crate::common::{may_be_forgotten, within_a_minute};

/// A runtime with a single owner and its own thread name.
struct Owned {
    runtime: Arc<Runtime>,
    name: String,
}

static NUMBER: AtomicUsize = AtomicUsize::new(0);

fn owned(workers: usize, n: u32) -> Owned {
    let name = format!("drop{}", NUMBER.fetch_add(1, Ordering::Relaxed));
    let runtime = Runtime::builder().workers(workers).block_every(n).thread_name(&name).build().unwrap();
    Owned { runtime: Arc::new(runtime), name }
}

/// Waits until the threads of the runtime `name` have ended, whichever thread has dropped it.
fn ends(name: &str) {
    let start = Instant::now();
    while threads(name) > 0 {
        assert!(start.elapsed() < Duration::from_secs(20), "{} threads of {name} are left", threads(name));
        thread::sleep(Duration::from_millis(1));
    }
}

#[cfg(target_os = "linux")]
fn threads(name: &str) -> usize {
    let name = format!("{name}-");
    let all = std::fs::read_dir("/proc/self/task").unwrap().flatten();
    all.filter(|thread| std::fs::read_to_string(thread.path().join("comm")).is_ok_and(|it| it.starts_with(&name)))
        .count()
}

#[cfg(not(target_os = "linux"))]
fn threads(_: &str) -> usize {
    0
}

/// Passes `owner` to a task of its own runtime by `begin`, and waits until the runtime's threads have ended. The task
/// reports that it has dropped the owner.
fn dropped_by<F: FnOnce(&Runtime, Owner, Sender<()>)>(begin: impl Fn() -> F) {
    within_a_minute_each(|workers, n| {
        let Owned { runtime, name } = owned(workers, n);
        let owner = Owner(Arc::default());
        let (done, wait) = channel();
        begin()(&runtime, owner.clone(), done);
        *owner.0.lock().unwrap() = Some(runtime);
        drop(owner);
        said(&wait);
        ends(&name);
    });
}

fn within_a_minute_each(test: impl Fn(usize, u32)) {
    for (workers, n) in [(1, 0), (2, 0), (1, 1), (2, 1)] {
        test(workers, n);
    }
}

fn said(wait: &Receiver<()>) {
    wait.recv_timeout(Duration::from_secs(20)).expect("the runtime was not dropped");
}

/// The owner of a runtime, once one has been stored in it.
#[derive(Clone)]
struct Owner(Arc<Mutex<Option<Arc<Runtime>>>>);

impl Owner {
    /// Returns whether it holds the runtime and no other `Owner` shares it.
    fn is_last(&self) -> bool {
        Arc::strong_count(&self.0) == 1 && self.0.lock().unwrap().is_some()
    }

    fn drop_it(self) {
        while !self.is_last() {
            thread::yield_now();
        }
        drop(self);
    }
}

#[task]
async fn in_blocking(owner: Owner, done: Sender<()>) {
    blocking(move || {
        owner.drop_it();
        done.send(()).unwrap();
    })
    .await;
}

#[test]
fn a_blocking_call_drops_its_runtime() {
    within_a_minute(|| dropped_by(|| |runtime, owner, done| runtime.spawn(in_blocking(owner, done)).detach()));
}

#[task]
async fn in_a_task(owner: Owner, done: Sender<()>) {
    yield_now().await;
    owner.drop_it();
    done.send(()).unwrap();
}

#[test]
fn a_task_drops_its_runtime() {
    within_a_minute(|| dropped_by(|| |runtime, owner, done| runtime.spawn(in_a_task(owner, done)).detach()));
}

/// A value that drops its runtime when it is dropped, and then reports it.
struct Local(Option<Owner>, Sender<()>);

impl Drop for Local {
    fn drop(&mut self) {
        if let Some(owner) = self.0.take() {
            owner.drop_it();
        }
        self.1.send(()).unwrap();
    }
}

#[task]
async fn with_a_local(local: Local) {
    yield_now().await;
    drop(local);
}

#[task]
async fn cancelled_with_a_local(local: Local) {
    suspend(|k: Continuation<()>| k.external().resolve(())).await;
    drop(spawn(with_a_local(local)));
}

#[test]
fn a_local_of_a_task_drops_its_runtime() {
    within_a_minute(|| {
        dropped_by(|| |runtime, owner, done| runtime.spawn(with_a_local(Local(Some(owner), done))).detach());
        // A local of a cancelled task.
        dropped_by(|| |runtime, owner, done| runtime.spawn(cancelled_with_a_local(Local(Some(owner), done))).detach());
    });
}

/// A waker that wakes nothing, but drops a runtime.
struct Waking(Mutex<Option<Local>>);

impl Wake for Waking {
    fn wake(self: Arc<Self>) {
        let local = self.0.lock().unwrap().take();
        drop(local);
    }
}

#[task]
async fn soon() -> u64 {
    blocking(|| thread::sleep(Duration::from_millis(5))).await;
    3
}

#[test]
fn a_waker_that_a_run_calls_drops_its_runtime() {
    within_a_minute(|| {
        dropped_by(|| {
            |runtime: &Runtime, owner, done| {
                let mut run = Box::pin(runtime.spawn(soon()));
                let waker = Waker::from(Arc::new(Waking(Mutex::new(Some(Local(Some(owner), done))))));
                assert!(run.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
                // Dropping the future would cancel the run.
                may_be_forgotten(&*run);
                std::mem::forget(run);
            }
        });
    });
}

/// A future that drops a runtime in its second poll, or in its destructor.
struct Future2(Option<Local>, u32);

impl Future for Future2 {
    type Output = u32;
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<u32> {
        self.1 += 1;
        if self.1 < 2 {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        self.0 = None;
        Poll::Ready(self.1)
    }
}

#[task]
async fn awaits(future: Future2) -> u32 {
    foreign(future).await
}

#[test]
fn a_foreign_future_drops_its_runtime() {
    within_a_minute(|| {
        dropped_by(|| {
            |runtime, owner, done| runtime.spawn(awaits(Future2(Some(Local(Some(owner), done)), 0))).detach()
        });
        // This one counts from 1, so it drops the runtime in its first poll.
        dropped_by(|| {
            |runtime, owner, done| runtime.spawn(awaits(Future2(Some(Local(Some(owner), done)), 1))).detach()
        });
    });
}

#[test]
fn another_runtimes_task_or_blocking_call_drops_a_runtime() {
    within_a_minute(|| {
        let other = Runtime::builder().workers(1).build().unwrap();
        dropped_by(|| |_, owner, done| other.spawn(in_blocking(owner, done)).detach());
        dropped_by(|| |_, owner, done| other.spawn(in_a_task(owner, done)).detach());
        assert_eq!(other.close(), 0);
    });
}

#[task]
async fn closes(runtime: Runtime) -> String {
    let closed = blocking(move || std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| runtime.close()))).await;
    closed.unwrap_err().downcast::<&str>().unwrap().to_string()
}

#[test]
fn closing_a_runtime_in_a_blocking_call_is_refused() {
    within_a_minute(|| {
        let (one, other) = (Runtime::new().unwrap(), Runtime::new().unwrap());
        let message = one.run(closes(other));
        assert!(message.contains("inside a task or a blocking call"), "{message}");
    });
}
