//! Simulated machines: the same answers as on threads, in virtual time that is the same for each run.
//!
//! The other tests run on a simulated machine, too: see `common::everywhere` and `common::on_any_nodes`.

#[path = "../common/mod.rs"]
mod common;

mod death;
mod order;
mod processes;
mod programs;
mod repeated;
mod timeline;

use std::time::Duration;

use finespun::istructure::{Cache, IArray};
use finespun::prelude::*;
use finespun::runtime::Fabric;
use finespun::simulation::{Machine, compute, now, work};
use finespun::testing::*;
use finespun::{RunError, everywhere, layout, tasks::quiesce};

use crate::common::{fib, within_a_minute};
use crate::programs::Counter;

/// Makes a runtime on a machine with this many nodes, each with one processor.
fn simulated(machine: Machine, nodes: usize) -> Runtime {
    Runtime::builder().nodes(nodes).fabric(Fabric::Simulated(machine)).build().unwrap()
}

fn named(name: &str) -> Machine {
    Machine::named(name).unwrap()
}

/// Runs the task and returns its value and its virtual time.
fn timed<T>(runtime: &Runtime, task: T) -> (T::Output, Duration)
where
    T: Task + Send,
    T::Output: Send,
{
    let value = runtime.run(task);
    (value, runtime.simulated().unwrap().last_run)
}

#[task]
async fn busy(n: u64) {
    for _ in 0..n {
        work(Duration::from_micros(10));
        yield_now().await;
    }
}

#[test]
fn work_takes_virtual_time_only() {
    let start = std::time::Instant::now();
    let runtime = simulated(named("cluster"), 1);
    let ((), took) = timed(&runtime, busy(1_000_000));
    // 10 s of work, and about 1% for the yields.
    assert!(took >= Duration::from_secs(10) && took < Duration::from_millis(10_200), "{took:?}");
    assert!(start.elapsed() < Duration::from_secs(10));
    assert_eq!(runtime.close(), 0);
}

#[task]
async fn spin(time: Duration) {
    let start = std::time::Instant::now();
    while start.elapsed() < time {
        std::hint::spin_loop();
    }
}

#[test]
fn time_on_this_computer_counts_if_it_is_asked_for() {
    let time = Duration::from_millis(2);
    for (factor, least, most) in [(0.0, Duration::ZERO, time), (10.0, 10 * time, Duration::MAX)] {
        let ((), took) = timed(&simulated(named("cluster").host_time(factor), 2), spin(time));
        assert!(took >= least && took < most, "{factor}: {took:?}");
    }
}

/// Returns the sum of an array's elements, each read once by each node, and the microseconds of the reads of node 0.
#[task]
async fn read_all(array: IArray<u64>) -> (u64, f64) {
    let begun = now();
    let mut sum: u64 = 0;
    for index in 0..64 {
        sum += array.get(index).await;
    }
    (sum, (now() - begun).as_secs_f64() * 1e6)
}

#[task]
async fn read_everywhere(cache: Cache) -> Vec<(u64, f64)> {
    let array: IArray<u64> = IArray::create(64, layout::block(64, 2)).cached(cache).await;
    for index in 0..64_usize {
        array.put(index, index as u64).await;
    }
    everywhere(read_all, array).await
}

/// EARTH-MANNA's description has costs of reads (6.34 us for a local one, 9.58 for a hit), the T3D's has none.
#[test]
fn reads_of_write_once_arrays_take_time() {
    let times = |machine: &str, cache| {
        let (found, _) = timed(&simulated(named(machine), 2), read_everywhere(cache));
        assert!(found.iter().all(|(sum, _)| *sum == 64 * 63 / 2), "{machine}: {found:?}");
        found[0].1
    };
    let cached = times("manna", Cache::On { block: 8, capacity: 8 });
    // 32 local reads, 28 hits, four misses.
    let least = 32.0 * 6.34 + 28.0 * 9.58 + 4.0 * 51.54;
    assert!(cached > 0.99 * least && cached < 1.3 * least, "{cached} us for {least}");
    assert!(times("manna", Cache::Off) > 32.0 * 6.34);
    assert!(times("t3d", Cache::On { block: 8, capacity: 8 }) < 0.3 * least);
}

#[test]
fn each_run_has_its_own_time() {
    let runtime = simulated(named("cluster"), 1);
    for n in [1000, 10, 1000] {
        let ((), took) = timed(&runtime, busy(n));
        let work = Duration::from_micros(10 * n);
        assert!(took >= work && took < work.mul_f64(1.02) + Duration::from_micros(5), "{n}: {took:?}");
    }
}

#[derive(serde::Serialize, serde::Deserialize)]
struct Slow;

#[object]
impl Slow {
    fn hear(&self, _text: String) {
        work(Duration::from_micros(100));
    }

    fn sleep(&self) {
        work(Duration::from_millis(10));
    }
}

/// Leaves messages behind that wait for room.
#[task]
async fn floods() {
    let slow = on(1).create(Slow).await;
    for k in 0..100 {
        slow.hear(k.to_string()).oneway().await;
    }
}

#[test]
fn a_runtime_ends_although_messages_wait_for_room() {
    within_a_minute(|| {
        for seed in 0..20 {
            let machine = named("t3d").seed(seed).delays(Duration::from_millis(1)).buffers(1);
            let runtime = simulated(machine, 2);
            runtime.run(floods());
            drop(runtime);
        }
    });
}

#[task]
async fn many_adds() -> u64 {
    let counters = Array::create(1000, |_| 1, |_, &()| Counter(0), ()).await;
    for _ in 0..20 {
        counters.each(|counter| counter.slow_add(1)).await;
    }
    let sum = counters.each(|counter| counter.slow_add(0)).await.into_iter().sum();
    counters.free().await;
    sum
}

/// The turn of a loop over objects of one node is no work for thieves, and wakes none, who would ask for more.
#[test]
fn a_worker_without_work_for_thieves_is_not_kept_busy_by_them() {
    let runtime = simulated(named("cluster"), 16);
    assert_eq!(runtime.run(many_adds()), 20_000);
    let promotions = runtime.stats().promotions;
    assert!(promotions < 100, "{promotions}");
}

/// Node 1 computes for 10 ms. Node 0 sends it 20 calls, for which there is room for 4, and then computes for 5 ms, with guard
/// checks in between.
#[task]
async fn sends_and_computes() {
    let slow = on(1).create(Slow).await;
    slow.sleep().oneway().await;
    for k in 0..20 {
        slow.hear(k.to_string()).oneway().await;
    }
    for _ in 0..50 {
        busy(10).await;
    }
}

#[test]
fn a_machine_stalls_when_buffers_are_full_or_keeps_the_messages() {
    let text = include_str!("../../../finespun/src/sim/machines/t3d.toml");
    let times = ["stall", "keep"].map(|when_full| {
        let machine = Machine::parse(&text.replace("\"stall\"", &format!("{when_full:?}"))).unwrap().buffers(4);
        let builder = Runtime::builder().nodes(2).fabric(Fabric::Simulated(machine));
        let runtime = builder.transport(finespun::runtime::Transport::Push).build().unwrap();
        let ((), took) = timed(&runtime, sends_and_computes());
        assert_eq!(runtime.close(), 0);
        took.as_secs_f64() * 1e3
    });
    // With a stall, one computes after the other; otherwise at the same time.
    assert!(times[0] > 14.0 && times[1] < 13.0, "{times:?} ms");
}

/// A value whose encoder panics travels where messages are not encoded.
#[derive(serde::Deserialize)]
struct Unencoded(String);

impl serde::Serialize for Unencoded {
    fn serialize<S: serde::Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
        panic!("not encoded")
    }
}

#[task]
async fn answers(n: usize) -> Unencoded {
    Unencoded("x".repeat(n))
}

#[task]
async fn asks() -> usize {
    on(1).call(answers, 3).await.0.len()
}

#[test]
fn sizes_are_estimated_without_the_encoder() {
    assert_eq!(simulated(named("t3d"), 2).run(asks()), 3);
}

#[task]
async fn computes() {
    compute(1_000_000);
}

#[test]
fn operations_cost_what_the_machine_says() {
    let runtime = simulated(named("t3d"), 1);
    // 0.28 us each; the rest is the start of the root.
    let ((), took) = timed(&runtime, computes());
    assert!(took >= Duration::from_millis(280) && took < Duration::from_micros(280_010), "{took:?}");
}

#[task]
async fn round_trips(node: usize, n: u64) -> u64 {
    let counter = on(node).create(Counter(0)).await;
    let mut last = 0;
    for k in 0..n {
        last = counter.add(k).await;
    }
    last
}

/// A round trip on the T3D: table 5 has 1.84 us to send and 0.73 us to receive (push), or 1.49 and 1.30 (pull), and the
/// latency between is 3.59 us. Beside these, 1 us is charged for making or handling each message, and the caller's frame
/// and its restart.
#[test]
fn a_round_trip_takes_the_time_of_its_messages() {
    for (transport, one_way) in [(finespun::runtime::Transport::Push, 6.2), (finespun::runtime::Transport::Pull, 7.1)] {
        let machine = Fabric::Simulated(named("t3d"));
        let runtime = Runtime::builder().nodes(2).fabric(machine).transport(transport).build().unwrap();
        let (_, few) = timed(&runtime, round_trips(1, 100));
        let (_, many) = timed(&runtime, round_trips(1, 1100));
        let each = (many - few).as_secs_f64() * 1e6 / 1000.0;
        assert!(each > 2.0 * one_way + 4.0 && each < 2.0 * one_way + 7.0, "{transport:?}: {each} us");
        assert_eq!(runtime.close(), 0);
    }
}

#[task]
async fn costly(n: u64) -> u64 {
    if n < 2 {
        work(Duration::from_micros(10));
        return n;
    }
    let (a, b) = join!(costly(n - 1), costly(n - 2));
    a + b
}

#[test]
fn processors_share_the_work() {
    let times = [1, 4, 16, 64, 512].map(|nodes| {
        let runtime = simulated(named("cluster"), nodes);
        let (value, took) = timed(&runtime, costly(22));
        assert_eq!(value, 17711);
        assert_eq!(runtime.close(), 0);
        took.as_secs_f64()
    });
    let speedups = times.map(|time| times[0] / time);
    for (speedup, least) in speedups.into_iter().zip([1.0, 3.9, 14.0, 45.0, 180.0]) {
        assert!(speedup >= least, "{speedups:?}");
    }
}

/// Several processors of a node share its memory: stealing is cheaper than between nodes.
#[test]
fn a_node_may_have_several_processors() {
    let machine = Fabric::Simulated(named("ethernet"));
    let far = Runtime::builder().nodes(16).fabric(machine.clone()).build().unwrap();
    let near = Runtime::builder().nodes(1).workers(16).fabric(machine).build().unwrap();
    let ((_, far), (_, near)) = (timed(&far, costly(18)), timed(&near, costly(18)));
    assert!(near < far, "{near:?} on one node, {far:?} on sixteen");
}

#[task]
async fn visit(_: ()) -> u64 {
    here() as u64
}

#[task]
async fn visits() -> u64 {
    finespun::everywhere(visit, ()).await.into_iter().sum()
}

#[test]
fn a_thousand_nodes_answer() {
    let runtime = simulated(named("cluster"), 1000);
    let (sum, took) = timed(&runtime, visits());
    assert_eq!(sum, 999 * 1000 / 2);
    // One node sends and receives 999 messages, at 0.2 us and more each.
    assert!(took > Duration::from_micros(400) && took < Duration::from_millis(2), "{took:?}");
    assert_eq!(runtime.close(), 0);
}

#[task]
async fn never() {
    suspend(|k: Continuation<()>| std::mem::forget(k)).await;
}

#[task]
async fn panics(n: u64) -> u64 {
    if n == 3 {
        std::panic::resume_unwind(Box::new("three"));
    }
    fib(n).await
}

#[task]
async fn many() -> u64 {
    reduce((0..100).map(panics), 0, |a, b| a + b).await
}

#[test]
fn errors_are_those_of_threads() {
    within_a_minute(|| {
        let runtime = simulated(named("t3d"), 4);
        assert!(matches!(runtime.try_run(never()), Err(RunError::Deadlock(_))));
        assert!(matches!(runtime.try_run(many()), Err(RunError::Panicked(panic)) if panic.message() == "three"));
        assert_eq!(runtime.run(fib(10)), 55);
        drop(runtime.spawn(busy(u64::MAX)));
        assert_eq!(runtime.run(fib(10)), 55);
    });
}

#[task]
async fn blocks() -> u64 {
    let (a, b) = join!(
        blocking(|| {
            std::thread::sleep(Duration::from_millis(5));
            1
        }),
        fib(15)
    );
    a + b
}

#[test]
fn threads_outside_are_waited_for() {
    within_a_minute(|| {
        let runtime = simulated(named("cluster"), 3);
        for _ in 0..20 {
            assert_eq!(runtime.run(blocks()), 611);
        }
        assert_eq!(runtime.close(), 0);
    });
}

#[task]
async fn asks_another(other: &'static Runtime, times: u64) -> u64 {
    let mut sum = 0;
    for _ in 0..times {
        sum += foreign(other.spawn(fib(5))).await;
    }
    sum
}

#[task]
async fn works_before_and_after_a_thread() {
    work(Duration::from_millis(1));
    blocking(|| std::thread::sleep(Duration::from_millis(5))).await;
    work(Duration::from_millis(1));
}

/// The machine rests while a run waits for a thread: that is not the beginning of the run, nor is another run's.
#[test]
fn a_run_lasts_from_its_beginning_to_its_end() {
    let runtime = simulated(named("cluster"), 1);
    let ((), took) = timed(&runtime, works_before_and_after_a_thread());
    assert!(took >= Duration::from_millis(2) && took < Duration::from_millis(3), "{took:?}");
    let outer = runtime.spawn(works_before_and_after_a_thread());
    runtime.run(fib(3));
    assert!(runtime.simulated().unwrap().last_run < Duration::from_millis(2), "that of the short run");
    Runtime::builder().workers(1).build().unwrap().run(foreign(outer));
    let took = runtime.simulated().unwrap().last_run;
    assert!(took >= Duration::from_millis(2) && took < Duration::from_millis(3), "{took:?}");
}

/// Each simulation's thread begins runs on the other one.
#[test]
fn two_simulations_ask_each_other() {
    within_a_minute(|| {
        let [one, other] = ["t3d", "cluster"].map(|name| &*common::kept(simulated(named(name), 2)));
        std::thread::scope(|scope| {
            let asks = |from: &'static Runtime, to| scope.spawn(move || from.run(asks_another(to, 1000)));
            let threads = [asks(one, other), asks(other, one)];
            assert_eq!(threads.map(|thread| thread.join().unwrap()), [5000, 5000]);
        });
    });
}

/// A closure's thread that holds a lock of std while it posts others.
#[finespun::closure::thread]
fn counts(to: finespun::closure::Cont<u64>, n: u64, all: std::sync::Arc<std::sync::Mutex<u64>>) {
    use finespun::closure::{make_closure, post, send_argument};
    let mut sum = all.lock().unwrap();
    *sum += 1;
    if n == 0 {
        return send_argument(*sum, to);
    }
    post(make_closure!(counts, to, n - 1, std::sync::Arc::clone(&all)));
}

#[test]
fn posting_does_not_switch_to_another_processor() {
    within_a_minute(|| {
        use finespun::closure::{make_closure, post, top_of};
        let runtime = simulated(named("cluster"), 4);
        let all = std::sync::Arc::new(std::sync::Mutex::new(0));
        let lists = top_of(4, move |tos| {
            tos.for_each(|to| post(make_closure!(counts, to, 100, std::sync::Arc::clone(&all))));
        });
        assert_eq!(runtime.run(lists).into_iter().max(), Some(404));
    });
}

#[task]
async fn tells_all(counters: Vec<Ref<Counter>>) -> u64 {
    for _ in 0..10 {
        for counter in &counters {
            counter.add(1).oneway().await;
        }
    }
    quiesce().await;
    join_all(counters.iter().map(|counter| counter.add(0))).await.into_iter().sum()
}

#[task]
async fn one_way_calls() -> u64 {
    let counters = join_all((0..nodes()).map(|node| on(node).create(Counter(0)))).await;
    tells_all(counters).await
}

#[test]
fn quiescence_is_neither_early_nor_missed() {
    for name in Machine::names() {
        let runtime = simulated(named(name), 5);
        assert_eq!(runtime.run(one_way_calls()), 50, "{name}");
        assert_eq!(runtime.close(), 0);
    }
}

#[test]
fn settings_out_of_range_are_errors() {
    let build = |nodes, workers| {
        let machine = Fabric::Simulated(named("t3d"));
        Runtime::builder().nodes(nodes).workers(workers).fabric(machine).build().map(drop)
    };
    for (nodes, workers, part) in [(1, 0, "between 1 and 65536 workers"), (0, 1, "between 1 and 65536 nodes")] {
        let error = build(nodes, workers).unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
    }
    assert!(build(4096, 4).is_ok());
}
