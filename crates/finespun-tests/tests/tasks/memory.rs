//! Programs whose frames exceed their memory limit.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use finespun::closure::{Cont, make_closure, post, send_argument, tail_call, thread, top};
use finespun::prelude::*;
use finespun::testing::*;
use finespun::{Error, RunError, Runtime};

use crate::common::{fib, plain_fib, within_a_minute};

const LIMIT: usize = 16 << 20;
/// Memory that a run over the limit may need in addition until its tasks are destroyed.
const RESERVE: usize = 24 << 20;

/// Calls `test` with a runtime of each kind, and checks that no frame is left afterwards.
fn limited(limit: usize, test: impl Fn(&Runtime)) {
    for (workers, n) in [(1, 0), (2, 0), (1, 1), (2, 1)] {
        let runtime = Runtime::builder().workers(workers).block_every(n).frame_memory(limit).build().unwrap();
        test(&runtime);
        assert_eq!(runtime.close(), 0, "frames left, {workers} workers, block every {n}");
    }
}

/// A value that counts its live instances.
struct Counted(Arc<AtomicU64>);

impl Counted {
    fn new(alive: &Arc<AtomicU64>) -> Counted {
        alive.fetch_add(1, Ordering::Relaxed);
        Counted(Arc::clone(alive))
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[task]
async fn runaway(n: u64, alive: Arc<AtomicU64>, deepest: Arc<AtomicU64>) -> u64 {
    let counted = Counted::new(&alive);
    deepest.fetch_max(n, Ordering::Relaxed);
    let below = runaway(n + 1, alive, deepest).await;
    drop(counted);
    below + 1
}

fn exhausted(end: Result<impl Sized, RunError>) -> finespun::runtime::FrameMemory {
    match end {
        Err(RunError::FrameMemory(error)) => error,
        Err(error) => panic!("{error}"),
        Ok(_) => panic!("it has an end"),
    }
}

#[test]
fn endless_recursion_ends_in_an_error() {
    within_a_minute(|| {
        limited(LIMIT, |runtime| {
            let (alive, deepest) = <(Arc<AtomicU64>, Arc<AtomicU64>)>::default();
            let start = Instant::now();
            let error = exhausted(runtime.try_run(runaway(0, Arc::clone(&alive), Arc::clone(&deepest))));
            assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
            assert_eq!(alive.load(Ordering::Relaxed), 0, "all destructors have run");
            let deepest = deepest.load(Ordering::Relaxed) as usize;
            assert!(error.task.is_some_and(|name| name.ends_with("runaway")), "{error}");
            assert!(error.depth > deepest / 2 && error.depth <= deepest + 10, "{deepest}: {error}");
            assert!(error.frames >= error.depth, "{error}");
            assert!(error.limit == LIMIT && (LIMIT..LIMIT + RESERVE).contains(&error.bytes), "{error}");
            let text = RunError::FrameMemory(error).to_string();
            assert!(text.contains("runaway`") && text.contains("Builder::frame_memory"), "{text}");
            // The runtime still works, with frames of other sizes too.
            assert_eq!(runtime.run(fib(15)), plain_fib(15));
            assert_eq!(runtime.run(wide(20_000)), 20_000);
        });
    });
}

#[test]
fn run_panics_with_the_error() {
    let runtime = Runtime::builder().workers(1).frame_memory(1 << 20).build().unwrap();
    let call = || runtime.run(runaway(0, Arc::default(), Arc::default()));
    let payload = std::panic::catch_unwind(std::panic::AssertUnwindSafe(call)).unwrap_err();
    let text = payload.downcast_ref::<String>().unwrap();
    assert!(text.starts_with("out of frame memory: frames take ") && text.contains("runaway`"), "{text}");
}

#[task]
async fn one() -> u64 {
    yield_now().await;
    1
}

#[task]
async fn wide(n: u64) -> u64 {
    let begun: Vec<Handle<u64>> = (0..n).map(|_| spawn(one())).collect();
    reduce(begun, 0, |a, b| a + b).await
}

#[task]
async fn forever(counted: Counted, stop: Arc<AtomicBool>) {
    while !stop.load(Ordering::Relaxed) {
        yield_now().await;
    }
    drop(counted);
}

/// Spawns without ever reaching a guard check.
#[task]
async fn spawn_without_end(alive: Arc<AtomicU64>, stop: Arc<AtomicBool>) {
    loop {
        drop(spawn(forever(Counted::new(&alive), Arc::clone(&stop))));
    }
}

#[task]
async fn scope_without_end<'s>(scope: Scope<'s>, alive: Arc<AtomicU64>, stop: Arc<AtomicBool>) {
    loop {
        drop(scope.spawn(forever(Counted::new(&alive), Arc::clone(&stop))));
        checkpoint().await;
    }
}

#[task]
async fn scoped(alive: Arc<AtomicU64>, stop: Arc<AtomicBool>) {
    scope(|s| scope_without_end(s, alive, stop)).await
}

#[test]
fn endless_spawning_ends_in_an_error() {
    within_a_minute(|| {
        limited(16 << 20, |runtime| {
            let (alive, stop) = <(Arc<AtomicU64>, Arc<AtomicBool>)>::default();
            let error = exhausted(runtime.try_run(spawn_without_end(Arc::clone(&alive), Arc::clone(&stop))));
            assert!(error.bytes < (16 << 20) + RESERVE && error.frames > 10_000, "{error}");
            assert_eq!(alive.load(Ordering::Relaxed), 0);
            exhausted(runtime.try_run(scoped(Arc::clone(&alive), stop)));
            assert_eq!(alive.load(Ordering::Relaxed), 0);
            assert_eq!(runtime.run(fib(15)), plain_fib(15));
        });
    });
}

#[task]
async fn two_ways(depth: u64) -> u64 {
    let (a, b) = join!(two_ways(depth + 1), two_ways(depth + 1));
    a + b
}

#[task]
async fn each(depth: u64) -> u64 {
    parfor(0..4_u64, |k| each(depth + k)).collect().await.len() as u64
}

/// Recurses with frames that are larger than the frames of a pool.
#[task]
async fn large(n: u64) -> u64 {
    let kept = [n; 400];
    let below = large(n + 1).await;
    kept[(n % 400) as usize] + below
}

#[test]
fn other_kinds_of_endless_recursion_end_in_an_error() {
    within_a_minute(|| {
        limited(16 << 20, |runtime| {
            exhausted(runtime.try_run(two_ways(0)));
            exhausted(runtime.try_run(each(0)));
            let error = exhausted(runtime.try_run(large(0)));
            assert!(error.bytes < (16 << 20) + RESERVE, "{error}");
            assert!(error.task.is_some_and(|name| name.ends_with("large")), "{error}");
            assert!(error.frames >= error.depth, "{error}");
            assert_eq!(runtime.run(fib(15)), plain_fib(15));
        });
    });
}

/// A run that continues beside a runaway one.
#[task]
async fn steady(stop: Arc<AtomicBool>) -> u64 {
    let mut sum = 0;
    while !stop.load(Ordering::Relaxed) {
        sum = fib(12).await + wide(500).await;
        yield_now().await;
    }
    sum
}

#[test]
fn other_runs_continue() {
    within_a_minute(|| {
        for (workers, n) in [(1, 0), (2, 0), (2, 1)] {
            let runtime = Runtime::builder().workers(workers).block_every(n).frame_memory(LIMIT).build().unwrap();
            let stop = Arc::new(AtomicBool::new(false));
            std::thread::scope(|threads| {
                let steady = threads.spawn(|| runtime.try_run(steady(Arc::clone(&stop))));
                for _ in 0..3 {
                    let (alive, deepest) = <(Arc<AtomicU64>, Arc<AtomicU64>)>::default();
                    exhausted(runtime.try_run(runaway(0, Arc::clone(&alive), deepest)));
                    assert_eq!(alive.load(Ordering::Relaxed), 0);
                }
                stop.store(true, Ordering::Relaxed);
                assert_eq!(steady.join().unwrap().unwrap(), plain_fib(12) + 500);
            });
            assert_eq!(runtime.close(), 0);
        }
    });
}

/// Memory that a run has used is available to the next one, for frames of other sizes too.
#[test]
fn memory_of_ended_runs_is_reused() {
    #[task]
    async fn deep<const N: usize>(n: u64) -> u64 {
        if n == 0 {
            return 0;
        }
        let kept = [n; N];
        let below = deep::<N>(n - 1).await;
        below + kept[n as usize % N] / n
    }
    within_a_minute(|| {
        limited(32 << 20, |runtime| {
            for _ in 0..3 {
                assert_eq!(runtime.run(deep::<4>(100_000)), 100_000);
                assert_eq!(runtime.run(deep::<30>(35_000)), 35_000);
                assert_eq!(runtime.run(deep::<60>(18_000)), 18_000);
                assert_eq!(runtime.run(deep::<300>(4_000)), 4_000);
            }
        });
    });
}

#[test]
fn a_stack_that_is_larger_than_the_address_space_is_an_error() {
    for bytes in [usize::MAX, isize::MAX as usize, 1000] {
        let error = Runtime::builder().workers(1).stack_size(bytes).build().unwrap_err();
        assert!(matches!(error, Error::StackSize(size) if size == bytes), "{error}");
    }
}

#[test]
fn a_limit_that_is_too_small_is_an_error() {
    assert!(matches!(Runtime::builder().frame_memory(1000).build(), Err(Error::FrameMemory(1000))));
}

#[thread]
fn sum(parent: Cont<u64>, x: u64, y: u64) {
    send_argument(x + y, parent);
}

/// Fibonacci without a base case.
#[thread]
fn fork(parent: Cont<u64>, n: u64) {
    let k1 = make_closure!(sum, parent, _, _);
    post(make_closure!(fork, k1.x, n + 1));
    tail_call!(fork, k1.y, n + 1);
}

#[thread]
fn fork_by_posts(parent: Cont<u64>, n: u64) {
    let k1 = make_closure!(sum, parent, _, _);
    post(make_closure!(fork_by_posts, k1.x, n + 1));
    post(make_closure!(fork_by_posts, k1.y, n + 1));
}

#[test]
fn endless_closures_end_in_an_error() {
    within_a_minute(|| {
        limited(16 << 20, |runtime| {
            let error = exhausted(runtime.try_run(top(|k| post(make_closure!(fork, k, 0)))));
            assert!(error.bytes < (16 << 20) + RESERVE && error.frames > 10_000, "{error}");
            assert_eq!((error.task, error.depth), (None, 0), "threads have no callers");
            exhausted(runtime.try_run(top(|k| post(make_closure!(fork_by_posts, k, 0)))));
            assert_eq!(runtime.run(fib(15)), plain_fib(15));
        });
    });
}

/// More closures than fit into the memory.
const TOO_MANY: u64 = 2_000_000;
static POSTED: AtomicU64 = AtomicU64::new(0);
static POSTING: AtomicBool = AtomicBool::new(false);

/// While it lives, closures are posted.
struct Posting;

impl Posting {
    fn begin() -> Posting {
        POSTING.store(true, Ordering::Relaxed);
        Posting
    }
}

impl Drop for Posting {
    fn drop(&mut self) {
        POSTING.store(false, Ordering::Relaxed);
    }
}

/// Ends once no more closures are posted, so that a thief does not run them as fast as they are posted.
#[thread]
fn ignore(_n: u64) {
    while POSTING.load(Ordering::Relaxed) {
        std::thread::yield_now();
    }
}

/// Posts without ever reaching a guard check.
#[thread]
fn post_without_end(parent: Cont<u64>) {
    let posting = Posting::begin();
    for n in 0..TOO_MANY {
        POSTED.store(n, Ordering::Relaxed);
        post(make_closure!(ignore, n));
    }
    drop(posting);
    send_argument(1, parent);
}

#[test]
fn a_thread_that_posts_endlessly_ends_in_an_error() {
    within_a_minute(|| {
        limited(16 << 20, |runtime| {
            let error = exhausted(runtime.try_run(top(|k| post(make_closure!(post_without_end, k)))));
            assert!(error.bytes < (16 << 20) + RESERVE, "{error}");
            assert!(POSTED.load(Ordering::Relaxed) < TOO_MANY - 1, "it has been stopped");
        });
    });
}

/// Spawns too slowly to need a page, and never reaches a guard check.
#[task]
async fn spawn_slowly(alive: Arc<AtomicU64>, begun: Arc<AtomicBool>) -> bool {
    begun.store(true, Ordering::Relaxed);
    for _ in 0..1000 {
        drop(spawn(forever(Counted::new(&alive), Arc::default())));
        std::thread::sleep(Duration::from_millis(10));
    }
    true
}

#[task]
async fn slowly_and_fast(alive: Arc<AtomicU64>) -> u64 {
    let begun = Arc::new(AtomicBool::new(false));
    drop(spawn(spawn_slowly(Arc::clone(&alive), Arc::clone(&begun))));
    while !begun.load(Ordering::Relaxed) {
        yield_now().await;
    }
    runaway(0, alive, Arc::default()).await
}

#[test]
fn an_endlessly_spawning_worker_stops_when_another_is_out_of_memory() {
    within_a_minute(|| {
        let runtime = Runtime::builder().workers(2).frame_memory(16 << 20).build().unwrap();
        let (alive, start) = (Arc::new(AtomicU64::new(0)), Instant::now());
        exhausted(runtime.try_run(slowly_and_fast(Arc::clone(&alive))));
        assert!(start.elapsed() < Duration::from_secs(8), "{:?}", start.elapsed());
        assert_eq!(alive.load(Ordering::Relaxed), 0);
        assert_eq!(runtime.close(), 0);
    });
}

#[task]
async fn deep_after_a_yield<const N: usize>(n: u64) -> u64 {
    if n == 0 {
        return 0;
    }
    let kept = [n; N];
    yield_now().await;
    let below = deep_after_a_yield::<N>(n - 1).await;
    below + kept[n as usize % N] / n
}

/// Earlier runs, each of which took one page more, up to the limit, have ended: the next run uses their pages.
#[test]
fn pages_of_ended_runs_are_available_to_the_next_run() {
    /// Fewer frames than fit into a page.
    const FRAMES: u64 = 70;
    within_a_minute(|| {
        // Keeps the earlier runtimes, so that the next one does not get their memory. Each may have got uncounted pages
        // from another test's runtime.
        let mut earlier = Vec::new();
        'runtimes: for pages in 80.. {
            let runtime = Runtime::builder().workers(1).frame_memory(5 << 20).build().unwrap();
            for n in 10..=pages {
                match runtime.try_run(deep_after_a_yield::<100>(n * FRAMES)) {
                    Ok(depth) => assert_eq!(depth, n * FRAMES),
                    Err(RunError::FrameMemory(error)) => {
                        assert!(n >= 80, "{n} of {pages}: {error}");
                        break 'runtimes;
                    }
                    Err(error) => panic!("{error}"),
                }
            }
            assert_eq!(runtime.run(deep_after_a_yield::<30>(100)), 100, "{pages}");
            earlier.push(runtime);
        }
        assert!(!earlier.is_empty());
    });
}

#[task]
async fn keep(kept: Arc<Mutex<Vec<Continuation<u64>>>>) -> u64 {
    suspend(|k| kept.lock().unwrap().push(k)).await
}

/// A runtime counts only its own frames, not those in memory that it got from another runtime, however late they are
/// freed.
#[test]
fn frames_of_an_earlier_runtime_are_not_counted() {
    within_a_minute(|| {
        for round in 0..20 {
            let kept = Arc::new(Mutex::new(Vec::new()));
            let first = Runtime::builder().workers(1).build().unwrap();
            first.spawn(keep(Arc::clone(&kept))).detach();
            while kept.lock().unwrap().is_empty() {
                std::thread::yield_now();
            }
            assert_eq!(first.close(), 1, "the frame that the continuation keeps");
            let second = Runtime::builder().workers(1).build().unwrap();
            assert_eq!(second.run(fib(10)), plain_fib(10));
            if round % 2 == 0 {
                kept.lock().unwrap().clear();
            }
            assert_eq!(second.close(), 0);
        }
    });
}

#[task]
async fn keep_many(kept: Arc<Mutex<Vec<Continuation<u64>>>>, n: usize) -> usize {
    join_all((0..n).map(|_| keep(Arc::clone(&kept)))).await.len()
}

#[test]
fn many_frames_of_an_earlier_runtime_do_not_delay_closing() {
    const MANY: usize = 300_000;
    within_a_minute(|| {
        let kept = Arc::new(Mutex::new(Vec::new()));
        let first = Runtime::builder().workers(1).build().unwrap();
        let outside = first.outside();
        let run = first.spawn(keep_many(Arc::clone(&kept), MANY));
        while kept.lock().unwrap().len() < MANY {
            std::thread::yield_now();
        }
        drop((run, outside));
        assert_eq!(first.close(), MANY as i64, "the frames that the continuations keep");
        let second = Runtime::builder().workers(1).build().unwrap();
        assert_eq!(second.run(fib(10)), plain_fib(10));
        let start = Instant::now();
        assert_eq!(second.close(), 0);
        assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
    });
}

/// Set in the environment of the child process, which is this program again with a limit on its address space.
/// Sanitizers need more address space.
#[cfg(all(target_os = "linux", not(sanitized)))]
const LIMITED: &str = "FINESPUN_TEST_LIMITED";

/// Does nothing except in the child process that the next test starts. A frame of `deep_after_a_yield::<100>` takes 850
/// bytes, so a run takes some 360 MiB of 600 MiB. The workers' stacks take 776 MiB of 3.5 GiB in a debug
/// build, and the caller's 388 MiB.
#[cfg(all(target_os = "linux", not(sanitized)))]
#[test]
fn program_with_a_limit() {
    const DEPTH: u64 = 450_000;
    if std::env::var_os(LIMITED).is_some() {
        let [one, another] = [(); 2].map(|()| Runtime::builder().workers(1).build().unwrap());
        assert_eq!(one.run(deep_after_a_yield::<100>(DEPTH)), DEPTH);
        assert_eq!(another.run(deep_after_a_yield::<100>(DEPTH)), DEPTH);
        assert_eq!(one.run(deep_after_a_yield::<50>(DEPTH)), DEPTH);
    }
}

/// By default all runtimes share one limit: free memory of one runtime is available to the others.
#[cfg(all(target_os = "linux", not(sanitized)))]
#[test]
fn free_memory_of_a_runtime_is_available_to_others() {
    within_a_minute(|| {
        let output = std::process::Command::new("sh")
            .args(["-c", "ulimit -v 3670016 && exec \"$0\" --exact memory::program_with_a_limit"])
            .arg(std::env::current_exe().unwrap())
            .env(LIMITED, "yes")
            .output()
            .unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        assert!(output.status.success(), "{}\n{}", text(&output.stdout), text(&output.stderr));
    });
}
