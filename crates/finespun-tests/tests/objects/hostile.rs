//! Hostile programs: values that cannot be encoded, continuations whose resolution ends the run while the resolving
//! task still works, floods of messages to one's own node.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use finespun::prelude::*;
use finespun::testing::*;
use finespun::{RunError, everywhere, objects::suspend_with, runtime::Transport, tasks::quiesce};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de, ser};

use crate::common::Launch;

/// How a value fails to be serialized or deserialized.
#[derive(Clone, Copy, PartialEq)]
enum How {
    CannotWrite,
    PanicsWriting,
    CannotRead,
    PanicsReading,
}

const ALL: [How; 4] = [How::CannotWrite, How::PanicsWriting, How::CannotRead, How::PanicsReading];

#[derive(Clone, Copy)]
struct Bad(How);

impl Serialize for Bad {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            How::CannotWrite => Err(ser::Error::custom("not to be written")),
            How::PanicsWriting => panic!("not to be written"),
            how => serializer.serialize_bool(how == How::PanicsReading),
        }
    }
}

impl<'de> Deserialize<'de> for Bad {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Bad, D::Error> {
        assert!(!bool::deserialize(deserializer)?, "not to be read");
        Err(de::Error::custom("not to be read"))
    }
}

/// A continuation that is resolved as soon as it is read.
enum Eager {
    Unread(Continuation<u64>),
    Resolved,
}

impl Serialize for Eager {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Eager::Unread(k) => k.serialize(serializer),
            Eager::Resolved => Err(ser::Error::custom("it is sent once")),
        }
    }
}

impl<'de> Deserialize<'de> for Eager {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Eager, D::Error> {
        Continuation::deserialize(deserializer)?.resolve(7_u64);
        Ok(Eager::Resolved)
    }
}

struct Hop;

#[object]
impl Hop {
    fn resolve(&mut self, _k: Eager, _bad: Bad) {}

    fn take(&self, _bad: Bad) -> u64 {
        1
    }

    fn give(&self, how: u8) -> Bad {
        Bad(ALL[usize::from(how)])
    }

    async fn give_late(&self, other: Ref<Hop>, how: u8) -> Bad {
        other.fine().await;
        Bad(ALL[usize::from(how)])
    }

    fn fine(&self) -> u64 {
        2
    }

    fn keep(&mut self, _bad: Bad, _k: Continuation<u64>) {}

    fn keep_first(&mut self, _k: Continuation<u64>, _bad: Bad) {}

    /// Forwards its continuation to `other`.
    #[task(stack)]
    async fn hand_on(_this: Ref<Self>, other: Ref<Hop>, how: u8) -> u64 {
        other.take(Bad(ALL[usize::from(how)])).await
    }

    /// Waits in a frame for the answer.
    async fn wait(_this: Ref<Self>, other: Ref<Hop>, how: u8) -> u64 {
        other.take(Bad(ALL[usize::from(how)])).await + 1
    }

    /// Lends a local to a sibling that is outstanding when the call of `other` fails.
    async fn lend(_this: Ref<Self>, other: Ref<Hop>, how: u8) -> u64 {
        let lent = Lent(vec![42; 1000]);
        let sum = read_beside(&lent.0, other, how).await;
        sum + lent.0[1]
    }
}

/// Lent data. Its destructor overwrites the data, so that a drop during the loan is detected.
struct Lent(Vec<u64>);

impl Drop for Lent {
    fn drop(&mut self) {
        self.0.fill(13);
    }
}

static WRONG: AtomicBool = AtomicBool::new(false);

#[task]
async fn read_late(data: &[u64]) -> u64 {
    for _ in 0..5 {
        yield_now().await;
    }
    if data.iter().any(|&value| value != 42) {
        WRONG.store(true, Relaxed);
    }
    data[0]
}

#[task]
async fn read_beside(data: &[u64], other: Ref<Hop>, how: u8) -> u64 {
    let (a, b) = join!(read_late(data), other.take(Bad(ALL[usize::from(how)])));
    a + b
}

#[task(pinned)]
async fn all_refused(how: u8) {
    let bad = Bad(ALL[usize::from(how)]);
    let own = here();
    let (near, far): (Ref<Hop>, Ref<Hop>) =
        join!(on(own).create_with(|()| Hop, ()), on((own + 1) % nodes()).create_with(|()| Hop, ()));
    let errors = [
        far.take(bad).checked().await.err(),
        far.give(how).checked().await.err(),
        far.give_late(near, how).checked().await.err(),
        far.hand_on(near, how).checked().await.err(),
        far.wait(near, how).checked().await.err(),
        far.lend(near, how).checked().await.err(),
    ];
    for (place, error) in errors.into_iter().enumerate() {
        // If the task has moved to the other worker, the far object is near, and the call may succeed.
        if let Some(error) = error {
            let text = error.to_string();
            assert!(text.contains("could not be") || text.contains("not to be"), "{place}: {text}");
        }
    }
    // Both objects are still usable.
    let (one, other) = join!(far.fine(), near.fine());
    assert_eq!(one + other, 4);
}

#[test]
fn a_value_that_cannot_be_encoded_fails_its_call() {
    for (workers, n) in [(1, 0), (1, 3), (2, 0), (2, 3), (2, 7)] {
        let runtime = Runtime::builder().workers(workers).nodes(2).encoded(true).block_every(n).build().unwrap();
        for _ in 0..20 {
            for how in 0..4 {
                runtime.run(all_refused(how));
            }
        }
        assert_eq!(runtime.close(), 0);
    }
    assert!(!WRONG.load(Relaxed), "what is lent stays");
}

#[task]
async fn keep_it(how: u8, first: bool) -> u64 {
    let far: Ref<Hop> = on((here() + 1) % nodes()).create_with(|()| Hop, ()).await;
    let bad = Bad(ALL[usize::from(how)]);
    suspend_with(move |k| send_it(far, k, bad, first)).await
}

#[task]
async fn send_it(far: Ref<Hop>, k: Continuation<u64>, bad: Bad, first: bool) {
    if first {
        let _ = far.keep_first(k, bad).checked().await;
    } else {
        let _ = far.keep(bad, k).checked().await;
    }
}

/// The waiter gets an error, whether its continuation precedes or follows the failing argument.
#[test]
fn a_continuation_in_a_failed_message_is_dropped_unresolved() {
    for (workers, processes) in [(1, 1), (2, 1), (1, 2), (2, 2)] {
        let runtime = Runtime::builder().workers(workers).nodes(2);
        let runtime = if processes == 1 { runtime.encoded(true) } else { runtime.over(processes, processes) };
        let runtime = runtime.build().unwrap();
        for how in 0..4 {
            for first in [false, true] {
                let ended = runtime.try_run(keep_it(how, first));
                let Err(RunError::Panicked(panic)) = ended else {
                    panic!("{ended:?}: {workers} workers, {processes} processes, {how} {first}")
                };
                assert!(panic.message().contains("was dropped unresolved"), "{}", panic.message());
            }
        }
        assert_eq!(runtime.close(), 0);
    }
}

#[task]
async fn resolve_early(how: u8) -> u64 {
    let far: Ref<Hop> = on((here() + 1) % nodes()).create_with(|()| Hop, ()).await;
    suspend_with(move |k| send_early(far, k, how)).await
}

#[task]
async fn send_early(far: Ref<Hop>, k: Continuation<u64>, how: u8) {
    let _ = far.resolve(Eager::Unread(k), Bad(ALL[usize::from(how)])).checked().await;
}

/// What has been resolved while a message was read is resolved, although the rest of the message cannot be read.
#[test]
fn a_continuation_resolved_in_a_failed_message_is_resolved() {
    for processes in [1, 2] {
        // With more workers, the task may move to the object, and send no message.
        let runtime = Runtime::builder().workers(1).nodes(2);
        let runtime = if processes == 1 { runtime.encoded(true) } else { runtime.over(processes, processes) };
        let runtime = runtime.build().unwrap();
        for how in [2, 3].repeat(20) {
            let ended = runtime.try_run(resolve_early(how));
            assert!(matches!(ended, Ok(7)), "{ended:?}: {processes} processes, {how}");
        }
        assert_eq!(runtime.close(), 0);
    }
}

fn spin(time: Duration) {
    let start = Instant::now();
    while start.elapsed() < time {
        std::hint::spin_loop();
    }
}

struct Late;

#[object]
impl Late {
    fn nothing(&self) {}

    /// Continues to work after it has resolved its caller's continuation.
    async fn meet(_this: Ref<Self>, k: Continuation<()>, other: Ref<Late>) {
        k.resolve(());
        spin(Duration::from_millis(2));
        other.nothing().await;
        other.nothing().await;
    }
}

#[task]
async fn gone_meanwhile() {
    let own = here();
    let (near, far): (Ref<Late>, Ref<Late>) =
        join!(on(own).create_with(|()| Late, ()), on((own + 1) % nodes()).create_with(|()| Late, ()));
    suspend_with(move |k| far.meet(k, near)).await;
}

/// No task waits for the call: it resolves its continuation before it ends.
#[test]
fn a_run_outlives_its_calls_with_resolved_continuations() {
    for workers in [1, 2] {
        let runtime = Runtime::builder().workers(workers).nodes(2).build().unwrap();
        (0..50).for_each(|_| runtime.run(gone_meanwhile()));
        assert_eq!(runtime.close(), 0);
    }
}

#[task]
async fn resolve_and_work(k: Continuation<u64>) {
    k.resolve(1);
    spin(Duration::from_millis(3));
    turns(3).await;
}

#[task]
async fn turns(n: u64) -> u64 {
    if n == 0 {
        return 0;
    }
    yield_now().await;
    turns(n - 1).await
}

#[task]
async fn resolved_early() -> u64 {
    yield_now().await;
    let mut sum = 0;
    for _ in 0..20 {
        sum += suspend_with(resolve_and_work).await;
    }
    sum
}

/// The quantum ends after the continuation has been resolved: the task leaves the stack although its value is present.
#[test]
fn a_wait_resolved_while_leaving_the_stack_resumes_later() {
    for workers in [1, 2] {
        let runtime = Runtime::builder().workers(workers).quantum(Duration::from_millis(1)).build().unwrap();
        assert_eq!(runtime.run(resolved_early()), 20);
        assert_eq!(runtime.close(), 0);
    }
}

fn resolve_and_work_here(_: ()) -> impl Task<Output = u64> {
    suspend_with(resolve_and_work)
}

#[task]
async fn resolved_early_everywhere() -> u64 {
    yield_now().await;
    let mut sum = 0;
    for _ in 0..20 {
        sum += everywhere(resolve_and_work_here, ()).await.iter().sum::<u64>();
    }
    sum
}

/// The same for a call on all nodes.
#[test]
fn a_call_on_all_nodes_that_ends_while_leaving_the_stack_resumes_later() {
    for (workers, nodes) in [(1, 1), (1, 3), (2, 2), (2, 4)] {
        let runtime = Runtime::builder().workers(workers).nodes(nodes).quantum(Duration::from_millis(1));
        let runtime = runtime.build().unwrap();
        assert_eq!(runtime.run(resolved_early_everywhere()), 20 * nodes as u64);
        assert_eq!(runtime.close(), 0);
    }
}

#[derive(Serialize, Deserialize)]
struct Sink(u64);

#[object]
impl Sink {
    fn put(&mut self, n: u64) {
        self.0 += n;
    }

    fn sum(&self) -> u64 {
        self.0
    }
}

#[task]
async fn put_one(sink: Ref<Sink>) {
    sink.put(1).oneway().await;
}

#[task]
async fn many_put(n: u64) -> u64 {
    let sink: Ref<Sink> = on((here() + 1) % nodes()).create(Sink(0)).await;
    let all: Vec<_> = (0..n).map(|_| put_one(sink)).collect();
    join_all(all).await;
    quiesce().await;
    sink.sum().await
}

/// Many tasks wait for room for one message each.
#[test]
fn every_task_that_waits_for_room_is_resumed() {
    for workers in [1, 2] {
        let runtime = Runtime::builder().workers(workers).nodes(2).outbox(1).transport(Transport::Push);
        let runtime = runtime.build().unwrap();
        for n in [10, 100, 1000] {
            (0..5).for_each(|_| assert_eq!(runtime.run(many_put(n)), n));
        }
        assert!(workers == 2 || runtime.stats().sends_stalled > 0, "also to another node of the own worker");
        assert_eq!(runtime.close(), 0);
    }
}

static KEPT: Mutex<Option<Continuation<u64>>> = Mutex::new(None);

#[task]
async fn kept() -> u64 {
    suspend(|k: Continuation<u64>| *KEPT.lock().unwrap() = Some(k)).await
}

#[task]
async fn rest_and_resolve() {
    quiesce().await;
    let k = KEPT.lock().unwrap().take();
    k.expect("kept before").resolve(3);
}

#[task]
async fn busy() {
    spin(Duration::from_millis(100));
}

/// A quiescent run resolves the continuation that another run waits for: no deadlock.
#[test]
fn a_quiescent_run_may_end_the_wait_of_another_run() {
    let runtime = Arc::new(Runtime::builder().workers(1).build().unwrap());
    let blocker = runtime.spawn(busy());
    let waits = runtime.spawn(kept());
    std::thread::sleep(Duration::from_millis(20));
    let rests = runtime.try_run(rest_and_resolve());
    assert!(rests.is_ok(), "{rests:?}");
    drop(blocker);
    let mut waits = std::pin::pin!(waits);
    let started = Instant::now();
    let value = loop {
        let mut std = std::task::Context::from_waker(std::task::Waker::noop());
        match std::future::Future::poll(waits.as_mut(), &mut std) {
            std::task::Poll::Ready(value) => break value,
            std::task::Poll::Pending => assert!(started.elapsed() < Duration::from_secs(30)),
        }
        std::thread::yield_now();
    };
    assert_eq!(value, 3);
}

static NEVER_BEGUN: Mutex<Option<Continuation<u64>>> = Mutex::new(None);

#[task]
async fn panics_in_suspend() -> u64 {
    suspend(|k: Continuation<u64>| {
        *NEVER_BEGUN.lock().unwrap() = Some(k);
        panic!("before the wait")
    })
    .await
}

#[task]
async fn rests_all_the_same() {
    let handle = spawn(panics_in_suspend());
    quiesce().await;
    let got = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| handle.try_get().ok()));
    assert_eq!(*got.unwrap_err().downcast::<&str>().unwrap(), "before the wait");
}

/// The continuation outlives a wait that was never begun, because the closure panicked.
#[test]
fn a_wait_that_was_never_begun_is_no_deadlock() {
    let runtime = Runtime::builder().workers(1).build().unwrap();
    assert!(runtime.try_run(rests_all_the_same()).is_ok());
    drop(NEVER_BEGUN.lock().unwrap().take());
    assert_eq!(runtime.close(), 0);
}
