//! Waits for work outside the tasks: std futures, and calls that block their thread.

use std::cell::Cell;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::task::{Context as StdContext, Poll, Wake, Waker};
use std::time::Duration;

use super::suspend::{Suspend, suspend, suspend_protected};
use crate::atomics::lock_std as lock;
use crate::call::outcome::Outcome;
use crate::call::{CallFuture, Task, poll_in_place, sealed};
use crate::frame::context::{Cx, try_cx};
use crate::frame::{BodyFrame, Payload, STACK_RESERVE};
use crate::process::{PerProcess, start_thread};
use crate::run::continuation::{Continuation, External};

/// Awaits any std future inside a task. Its waker may be used on any thread and may outlive the task.
///
/// While the wait is pending, no run of this runtime is reported as deadlocked. Costs, beside the frames of the task
/// and of the wait, an allocation for the waker, and one for each time that the future is pending.
///
/// ```
/// use finespun::prelude::*;
/// use tokio::sync::oneshot;
///
/// #[task]
/// async fn answer(question: oneshot::Sender<u64>, answer: oneshot::Receiver<u64>) -> u64 {
///     std::thread::spawn(move || question.send(42));
///     foreign(answer).await.unwrap_or(0)
/// }
/// # let runtime = Runtime::builder().workers(1).build().unwrap();
/// let (question, receiver) = oneshot::channel();
/// assert_eq!(runtime.run(answer(question, receiver)), 42);
/// ```
///
/// # Futures of tokio
///
/// tokio's timers, sockets and files find their runtime by the thread that makes or polls them. The workers are not
/// threads of tokio: let each enter tokio's runtime when it begins, and these futures work in every task.
///
/// ```
/// use finespun::prelude::*;
/// use std::time::Duration;
///
/// #[task]
/// async fn nap() -> u64 {
///     foreign(tokio::time::sleep(Duration::from_millis(1))).await;
///     42
/// }
///
/// let tokio = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
/// let handle = tokio.handle().clone();
/// let runtime = Runtime::builder()
///     .workers(1)
///     .on_worker_start(move |_| std::mem::forget(handle.enter()))
///     .build()
///     .unwrap();
/// assert_eq!(runtime.run(nap()), 42);
/// ```
///
/// Otherwise they panic: "there is no reactor running". A run that ends with this panic names the cure.
///
/// # Panics
/// Resumes the future's panic.
pub fn foreign<F: Future + Send>(future: F) -> Foreign<F>
where
    F::Output: Send,
{
    Foreign(future)
}

/// Returns what cures a panic with this text, if a future of another library has panicked because the workers are not
/// threads of that library.
pub(crate) fn cure(text: &str) -> Option<&'static str> {
    text.contains("there is no reactor running").then_some(
        "help: the workers are not threads of tokio: let them enter its runtime, by \
         `Runtime::builder().on_worker_start(move |_| std::mem::forget(handle.enter()))`, where `handle` is a \
         `tokio::runtime::Handle`",
    )
}

/// The task that [`foreign`] makes.
#[must_use = "a task does nothing until it is awaited"]
pub struct Foreign<F>(F);

impl<F> sealed::Sealed for Foreign<F> {}
impl<F: Future + Send> Task for Foreign<F>
where
    F::Output: Send,
{
    type Output = F::Output;
    const STRAIGHT: bool = false;

    unsafe fn call(self, cx: Cx) -> Outcome<F::Output> {
        let body = ForeignBody { future: self.0, woken: Arc::new(Woken(Mutex::new(Alarm::Quiet))), wait: None };
        poll_in_place(body, cx, BodyFrame::<ForeignBody<F>>::VTABLE)
    }
}

type Alarmed = Suspend<(), Box<dyn FnOnce(Continuation<()>) + Send>>;

struct ForeignBody<F> {
    future: F,
    woken: Arc<Woken>,
    wait: Option<CallFuture<Alarmed>>,
}

/// The state shared by a waker and its task. Either may outlive the other.
struct Woken(Mutex<Alarm>);

enum Alarm {
    Quiet,
    Rung,
    Waited(External<()>),
}

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        let before = {
            let mut alarm = lock(&self.0);
            std::mem::replace(&mut *alarm, Alarm::Rung)
        };
        if let Alarm::Waited(k) = before {
            k.resolve(());
        }
    }
}

impl Woken {
    fn wait(&self, k: Continuation<()>) {
        let mut alarm = lock(&self.0);
        match *alarm {
            Alarm::Rung => {
                drop(alarm);
                k.resolve(());
            }
            _ => *alarm = Alarm::Waited(k.external()),
        }
    }
}

impl<F> Drop for ForeignBody<F> {
    fn drop(&mut self) {
        // A waker that outlives the body must not keep an external wait, which would suppress deadlock reports.
        let before = std::mem::replace(&mut *lock(&self.woken.0), Alarm::Rung);
        drop(before);
    }
}

impl<F: Future> Future for ForeignBody<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, std: &mut StdContext<'_>) -> Poll<F::Output> {
        // SAFETY: `future` is pinned with the body and never moved; the other fields are not pinned.
        let this = unsafe { self.get_unchecked_mut() };
        loop {
            if let Some(wait) = &mut this.wait {
                if Pin::new(wait).poll(std).is_pending() {
                    return Poll::Pending;
                }
                this.wait = None;
            }
            *lock(&this.woken.0) = Alarm::Quiet;
            let waker = Waker::from(Arc::clone(&this.woken));
            // SAFETY: `future` is pinned with the body, which does not move it.
            let future = unsafe { Pin::new_unchecked(&mut this.future) };
            if let Poll::Ready(value) = future.poll(&mut StdContext::from_waker(&waker)) {
                return Poll::Ready(value);
            }
            let woken = Arc::clone(&this.woken);
            let wait: Alarmed = suspend(Box::new(move |k| woken.wait(k)));
            this.wait = Some(CallFuture::fresh(wait));
        }
    }
}

/// Runs a call that would block its thread (a file, a socket, a lock of another library) outside the workers, and waits
/// for its value.
///
/// Threads for such calls are started on demand and end after ten idle seconds. Each reserves as much stack as a worker
/// does for plain calls: 64 MiB of address space (384 MiB in a debug build), which takes memory only where it is used.
/// If the system refuses a further thread, the call waits for an existing one. If none exists, the worker itself runs
/// the call, which delays the worker's other tasks.
///
/// ```
/// use finespun::prelude::*;
/// use std::{fs, io, path::Path};
///
/// #[task]
/// async fn size(path: &Path) -> io::Result<usize> {
///     Ok(blocking(|| fs::read(path)).await?.len())
/// }
/// # let runtime = Runtime::builder().workers(1).build().unwrap();
/// assert!(runtime.run(size(Path::new("Cargo.toml"))).unwrap() > 0);
/// ```
///
/// # Panics
/// Resumes the call's panic.
pub fn blocking<T: Send, F: FnOnce() -> T + Send>(call: F) -> Blocking<F> {
    Blocking(call)
}

/// The task that [`blocking`] makes.
#[must_use = "a task does nothing until it is awaited"]
pub struct Blocking<F>(F);

impl<F> sealed::Sealed for Blocking<F> {}
impl<T: Send, F: FnOnce() -> T + Send> Task for Blocking<F> {
    type Output = T;
    const STRAIGHT: bool = false;

    unsafe fn call(self, cx: Cx) -> Outcome<T> {
        // Protected: the call may use its borrows until it returns, even if the task is cancelled.
        let wait = suspend_protected(move |k: Continuation<T>| {
            let k = k.external();
            let job: Box<dyn FnOnce() + Send + '_> = Box::new(move || match catch_unwind(AssertUnwindSafe(self.0)) {
                Ok(value) => k.resolve(value),
                Err(payload) => k.fail(Payload::caught(payload)),
            });
            // SAFETY: the waiting task keeps everything that the job borrows alive until the job has resolved `k`,
            // which is the job's last action.
            let job: Box<dyn FnOnce() + Send> = unsafe { std::mem::transmute(job) };
            threads().submit(job);
        });
        // SAFETY: the caller guarantees the conditions of `call`.
        unsafe { wait.call(cx) }
    }
}

type Job = Box<dyn FnOnce() + Send>;

/// The threads for blocking calls, shared by all runtimes of the process.
#[derive(Default)]
struct Threads {
    queue: Mutex<Queue>,
    bell: Condvar,
}

#[derive(Default)]
struct Queue {
    jobs: Vec<Job>,
    /// The number of threads.
    threads: usize,
    /// The number of threads that wait for a call.
    idle: usize,
}

fn threads() -> &'static Threads {
    static THREADS: PerProcess<Threads> = PerProcess::new();
    THREADS.get(Threads::default)
}

thread_local! {
    /// Whether this thread serves blocking calls, or is a ticker.
    static OWN: Cell<bool> = const { Cell::new(false) };
}

/// Returns whether this thread belongs to the library: a worker, a thread for blocking calls, or a ticker. A runtime
/// waits for these threads when it ends, so they must not wait for its end.
pub(crate) fn is_own_thread() -> bool {
    try_cx().is_some() || OWN.get()
}

/// Marks this thread as one of the library's for as long as this lives.
#[cfg(feature = "visits")]
pub(crate) struct OwnThread {
    before: bool,
}

#[cfg(feature = "visits")]
impl OwnThread {
    pub(crate) fn mark() -> OwnThread {
        OwnThread { before: OWN.replace(true) }
    }
}

#[cfg(feature = "visits")]
impl Drop for OwnThread {
    fn drop(&mut self) {
        OWN.set(self.before);
    }
}

/// Marks this thread, which is not a worker, as one of the library's.
pub(crate) fn mark_own_thread() {
    OWN.set(true);
}

const KEEP_ALIVE: Duration = Duration::from_secs(10);

impl Threads {
    fn submit(&'static self, job: Job) {
        let mut queue = lock(&self.queue);
        queue.jobs.push(job);
        if queue.idle >= queue.jobs.len() {
            self.bell.notify_one();
            return;
        }
        queue.threads += 1;
        drop(queue);
        let thread = std::thread::Builder::new().name("finespun-blocking".to_owned()).stack_size(STACK_RESERVE);
        let started = start_thread(thread, || self.serve());
        if started.is_err() {
            // No further thread: an existing one will take the job later. If none exists, this thread runs a job.
            let mut queue = lock(&self.queue);
            queue.threads -= 1;
            let job = if queue.threads == 0 { queue.jobs.pop() } else { None };
            drop(queue);
            if let Some(job) = job {
                job();
            }
        }
    }

    fn serve(&self) {
        mark_own_thread();
        let mut queue = lock(&self.queue);
        loop {
            if let Some(job) = queue.jobs.pop() {
                drop(queue);
                job();
                queue = lock(&self.queue);
                continue;
            }
            queue.idle += 1;
            let (woken, waited) = self.bell.wait_timeout(queue, KEEP_ALIVE).unwrap_or_else(PoisonError::into_inner);
            queue = woken;
            queue.idle -= 1;
            if waited.timed_out() && queue.jobs.is_empty() {
                queue.threads -= 1;
                return;
            }
        }
    }
}
