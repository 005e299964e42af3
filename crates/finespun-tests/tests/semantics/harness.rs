//! Compares the versions of a body: plain `async fn`, pinned task, and the task that the compiler chooses.
//!
//! Each body runs unchanged, with a panic at every *point* (before and after the wait of each leaf, and in `d`), and
//! with a cancellation at every leaf. Value, panic message and destructor log must equal the plain version's, under
//! every block-every-n, on one worker and on two, and whichever leaves yield: `cases` chooses the combinations.

use std::fmt::{Debug, Display};
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::sync::{Mutex, MutexGuard, Once, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use finespun::prelude::{Continuation, Runtime};
use finespun::testing::*;
use finespun::{RunError, tasks::External};

use crate::common::cases;
pub use crate::common::kept;

/// Turns off the search for leaks of the address sanitizer. A function whose local's destructor panics after its return
/// value has been computed leaks that value (rust-lang/rust#47949): the plain versions and the tasks alike, which the
/// bodies compare by their logs.
#[cfg(sanitized)]
#[unsafe(no_mangle)]
extern "C" fn __lsan_is_turned_off() -> i32 {
    1
}

static LOG: Mutex<Vec<String>> = Mutex::new(Vec::new());
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
static POINTS: AtomicU64 = AtomicU64::new(0);
static LEAVES: AtomicU64 = AtomicU64::new(0);
static FAIL_AT: AtomicU64 = AtomicU64::new(NEVER);
static STALL_AT: AtomicU64 = AtomicU64::new(NEVER);
static YIELDS: AtomicU64 = AtomicU64::new(0);
static STALLED: Mutex<Option<External<()>>> = Mutex::new(None);
const NEVER: u64 = u64::MAX;
/// A test fails if a wait of a body takes longer.
const DEADLINE: Duration = Duration::from_secs(60);

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Adds a line to the log.
pub fn log(event: impl Display) {
    lock(&LOG).push(event.to_string());
}

/// Panics if the harness has chosen this point of the run.
pub fn point() {
    let number = POINTS.fetch_add(1, SeqCst);
    if number == FAIL_AT.load(SeqCst) {
        panic!("on purpose: point {number}");
    }
}

/// A value that writes its name to the log when it is dropped.
#[derive(Debug, PartialEq)]
pub struct D(pub &'static str);

impl Drop for D {
    fn drop(&mut self) {
        log(format_args!("drop {}", self.0));
    }
}

/// Like `D`, with a number.
#[derive(Debug, PartialEq)]
pub struct N(pub u64);

impl Drop for N {
    fn drop(&mut self) {
        log(format_args!("drop {}", self.0));
    }
}

impl D {
    /// Returns a borrow that lives as long as the value.
    pub fn name(&self) -> &str {
        self.0
    }

    /// Returns a value that does not borrow.
    pub fn len(&self) -> u64 {
        self.0.len() as u64
    }

    pub fn some(&self) -> Option<u64> {
        Some(self.len())
    }

    pub fn none(&self) -> Option<u64> {
        None
    }

    pub fn yes(&self) -> bool {
        true
    }

    pub fn no(&self) -> bool {
        false
    }
}

/// Makes a `D`, at a point that may panic.
pub fn d(name: &'static str) -> D {
    point();
    log(format_args!("make {name}"));
    D(name)
}

pub fn eat<T>(_: T) {}

/// The behaviour of the next leaf.
#[derive(Clone, Copy, PartialEq)]
enum Leaf {
    Resolves,
    Yields,
    Stalls,
}

fn next_leaf() -> Leaf {
    let number = LEAVES.fetch_add(1, SeqCst);
    if number == STALL_AT.load(SeqCst) {
        Leaf::Stalls
    } else if YIELDS.load(SeqCst) >> (number % 2) & 1 == 1 {
        Leaf::Yields
    } else {
        Leaf::Resolves
    }
}

/// The leaves of the plain versions.
pub mod plain {
    use super::*;

    pub struct YieldOnce(pub bool);

    impl Future for YieldOnce {
        type Output = ();

        fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
            if std::mem::replace(&mut self.0, true) {
                return Poll::Ready(());
            }
            cx.waker().wake_by_ref();
            Poll::Pending
        }
    }

    pub async fn wait() {
        point();
        match next_leaf() {
            Leaf::Resolves => {}
            Leaf::Yields => YieldOnce(false).await,
            Leaf::Stalls => std::future::pending().await,
        }
        point();
    }

    /// Returns its argument, after a wait.
    pub async fn leaf<T>(value: T) -> T {
        wait().await;
        value
    }

    /// Returns its argument, and never waits.
    pub async fn now<T>(value: T) -> T {
        point();
        value
    }

    /// Awaits a std future.
    pub async fn foreign<F: Future>(future: F) -> F::Output {
        future.await
    }
}

/// The leaves of the tasks.
pub mod tasks {
    pub use finespun::prelude::foreign;
    use finespun::prelude::{suspend, task, yield_now};

    use super::*;

    #[task]
    pub async fn wait() {
        point();
        match next_leaf() {
            Leaf::Resolves => suspend(|k: Continuation<()>| k.resolve(())).await,
            Leaf::Yields => yield_now().await,
            Leaf::Stalls => suspend(|k: Continuation<()>| *lock(&STALLED) = Some(k.external())).await,
        }
        point();
    }

    #[task]
    pub async fn leaf<T: Send>(value: T) -> T {
        wait().await;
        value
    }

    #[task]
    pub async fn now<T: Send>(value: T) -> T {
        point();
        value
    }
}

/// The value or the panic message of a run, and its log.
type Outcome = (Result<String, String>, Vec<String>);
type Plain<'a> = &'a dyn Fn() -> Pin<Box<dyn Future<Output = String>>>;
type Run<'a> = &'a dyn Fn(&Runtime) -> Result<String, RunError>;
/// A function that starts a run; dropping its result cancels the run.
type Spawn<'a> = Option<&'a dyn Fn(&Runtime) -> Box<dyn FnOnce()>>;

/// The three versions of a body.
pub struct Versions<'a> {
    pub name: &'static str,
    pub plain: Plain<'a>,
    pub tasks: [(&'static str, Run<'a>, Spawn<'a>); 2],
}

pub async fn shown<T: Debug>(future: impl Future<Output = T>) -> String {
    format!("{:?}", future.await)
}

/// Keeps the intended panics of this harness from being printed.
fn hush() {
    static HUSH: Once = Once::new();
    HUSH.call_once(|| {
        let print = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if !info.payload_as_str().is_some_and(|text| text.starts_with("on purpose")) {
                print(info);
            }
        }));
    });
}

fn prepare(fail_at: u64, stall_at: u64, yields: u64) {
    POINTS.store(0, SeqCst);
    LEAVES.store(0, SeqCst);
    FAIL_AT.store(fail_at, SeqCst);
    STALL_AT.store(stall_at, SeqCst);
    YIELDS.store(yields, SeqCst);
    lock(&LOG).clear();
}

/// Returns the log and clears it.
pub fn taken_log() -> Vec<String> {
    std::mem::take(&mut *lock(&LOG))
}

fn run_plain(name: &str, plain: Plain, fail_at: u64) -> Outcome {
    prepare(fail_at, NEVER, 0);
    let begin = Instant::now();
    let result = catch_unwind(AssertUnwindSafe(|| {
        let mut future = plain();
        while begin.elapsed() < DEADLINE {
            if let Poll::Ready(value) = future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
                return Some(value);
            }
        }
        None
    }));
    let result = result.map(|value| value.unwrap_or_else(|| panic!("{name} does not end")));
    let result = result.map_err(|payload| match payload.downcast::<String>() {
        Ok(text) => *text,
        Err(payload) => payload.downcast::<&str>().map_or("no text".into(), |text| text.to_string()),
    });
    (result, taken_log())
}

/// Returns the log of a plain version that is dropped while leaf `stall_at` waits.
fn cancel_plain(name: &str, plain: Plain, stall_at: u64) -> Vec<String> {
    prepare(NEVER, stall_at, 0);
    let begin = Instant::now();
    let mut future = plain();
    while LEAVES.load(SeqCst) <= stall_at {
        let poll = future.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        assert!(poll.is_pending(), "{name}: leaf {stall_at} waits");
        assert!(begin.elapsed() < DEADLINE, "{name} does not come to leaf {stall_at}");
    }
    log("cancel");
    let _ = catch_unwind(AssertUnwindSafe(|| drop(future)));
    taken_log()
}

fn run_task(run: Run, runtime: &Runtime, fail_at: u64, yields: u64) -> Outcome {
    prepare(fail_at, NEVER, yields);
    // A panic in an argument occurs before the run.
    let result = match catch_unwind(AssertUnwindSafe(|| run(runtime))) {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(RunError::Panicked(panic))) => Err(panic.message().to_string()),
        Ok(Err(error)) => Err(format!("not a panic: {error}")),
        Err(payload) => Err(payload.downcast::<String>().map_or("no text".into(), |text| *text)),
    };
    (result, taken_log())
}

fn cancel_task(
    name: &str,
    spawn: &dyn Fn(&Runtime) -> Box<dyn FnOnce()>,
    workers: usize,
    n: u32,
    at: u64,
    yields: u64,
) -> Vec<String> {
    prepare(NEVER, at, yields);
    let runtime = Runtime::builder().workers(workers).block_every(n).build().unwrap();
    let run = spawn(&runtime);
    let begin = Instant::now();
    while lock(&STALLED).is_none() {
        assert!(begin.elapsed() < DEADLINE, "{name} does not come to leaf {at}, {workers} workers, every {n} blocks");
        std::thread::yield_now();
    }
    log("cancel");
    drop(run);
    drop(runtime);
    lock(&STALLED).take();
    taken_log()
}

/// Calls a test that uses the log while no other test does.
pub fn alone(test: impl FnOnce()) {
    let _alone = lock(&ONE_AT_A_TIME);
    hush();
    prepare(NEVER, NEVER, 0);
    test();
}

/// Fails with the first differences between the plain version and the tasks.
pub fn compare(versions: Versions) {
    let _alone = lock(&ONE_AT_A_TIME);
    hush();
    let whole = run_plain(versions.name, versions.plain, NEVER);
    let (points, leaves) = (POINTS.load(SeqCst), LEAVES.load(SeqCst));
    let failed: Vec<Outcome> = (0..points).map(|k| run_plain(versions.name, versions.plain, k)).collect();
    let mut differences = Vec::new();
    let mut total = 0;
    let mut note = |how: String, expected: &dyn Debug, got: &dyn Debug| {
        total += 1;
        if differences.len() < 4 {
            differences.push(format!("{how}:\n  plain {expected:?}\n  task  {got:?}\n"));
        }
    };
    for [n, yields, schema, workers] in cases([4, 4, versions.tasks.len(), 2]) {
        let (workers, n, yields) = (workers + 1, n as u32, yields as u64);
        let (schema, run, _) = versions.tasks[schema];
        let runtime = Runtime::builder().workers(workers).block_every(n).build().unwrap();
        let how = format!("{schema}, {workers} workers, every {n} blocks");
        let mut check = |fail_at, expected: &Outcome| {
            let got = run_task(run, &runtime, fail_at, yields);
            if got != *expected {
                let at = if fail_at == NEVER { String::new() } else { format!(", panic at point {fail_at}") };
                note(format!("{how}, leaves yield {yields:02b}{at}"), expected, &got);
            }
        };
        for _ in 0..n.max(1) {
            check(NEVER, &whole);
        }
        for (k, expected) in failed.iter().enumerate() {
            check(k as u64, expected);
        }
        let left = runtime.close();
        if left != 0 {
            note(format!("{how}: frames left"), &0, &left);
        }
    }
    for at in 0..leaves {
        if versions.tasks[0].2.is_none() {
            break;
        }
        let expected = cancel_plain(versions.name, versions.plain, at);
        const RUNTIMES: [(usize, u32); 5] = [(1, 0), (1, 1), (1, 2), (1, 3), (2, 0)];
        for [runtime, yields, schema] in cases([RUNTIMES.len(), 2, versions.tasks.len()]) {
            let ((workers, n), yields) = (RUNTIMES[runtime], [0b00, 0b11][yields]);
            let (schema, _, spawn) = versions.tasks[schema];
            let got = cancel_task(versions.name, spawn.unwrap(), workers, n, at, yields);
            if got != expected {
                let how = format!("{schema}, {workers} workers, every {n} blocks, leaves yield {yields:02b}");
                note(format!("{how}, cancelled at leaf {at}"), &expected, &got);
            }
        }
    }
    assert!(differences.is_empty(), "{total} differences\n{}", differences.concat());
}

/// Replaces `join!` in the plain version of a body; the task compiler has its own.
macro_rules! join {
    ($($branch:expr),+ $(,)?) => { ($($branch.await,)+) };
}

/// Compiles each body three times and compares the versions. The arguments own their values.
macro_rules! corpus {
    ($($body:tt)*) => { bodies! { owned $($body)* } };
}

/// Does the same for arguments that borrow; these bodies are not cancelled.
macro_rules! lent_corpus {
    ($($body:tt)*) => { bodies! { lent $($body)* } };
}

macro_rules! bodies {
    ($kind:ident $( $(#[$meta:meta])* fn $name:ident $args:tt -> $ret:ty { $($body:tt)* } with $with:tt; )*) => {
        mod plain {
            use super::*;
            use crate::harness::plain::*;
            $( pub async fn $name $args -> $ret { $($body)* } )*
        }
        mod pinned {
            use super::*;
            use crate::harness::tasks::*;
            use finespun::task;
            $( #[task(pinned)] pub async fn $name $args -> $ret { $($body)* } )*
        }
        mod automatic {
            use super::*;
            use crate::harness::tasks::*;
            use finespun::task;
            $( #[task] pub async fn $name $args -> $ret { $($body)* } )*
        }
        $(
            $(#[$meta])*
            #[test]
            fn $name() {
                versions!($kind, plain::$name $with, pinned::$name $with, automatic::$name $with);
            }
        )*
    };
}

macro_rules! versions {
    ($kind:ident, $plain:expr, $pinned:expr, $automatic:expr) => {
        $crate::harness::compare($crate::harness::Versions {
            name: stringify!($plain),
            plain: &|| Box::pin($crate::harness::shown($plain)),
            tasks: [
                ("pinned", &|runtime| runtime.try_run($pinned).map(|v| format!("{v:?}")), spawned!($kind, $pinned)),
                (
                    "automatic",
                    &|runtime| runtime.try_run($automatic).map(|v| format!("{v:?}")),
                    spawned!($kind, $automatic),
                ),
            ],
        })
    };
}

macro_rules! spawned {
    (lent, $task:expr) => {
        None
    };
    (owned, $task:expr) => {
        Some(&|runtime| {
            let run = runtime.spawn($task);
            Box::new(move || drop(run))
        })
    };
}
