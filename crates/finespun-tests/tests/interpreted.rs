//! A little of everything, small enough for Miri, which finds undefined behaviour and data races: `scripts/sanitize miri`.

use finespun::closure::{Cont, make_closure, post, send_argument, thread, top};
use finespun::istructure::IArray;
use finespun::layout;
use finespun::prelude::*;
use finespun::sync::Mutex;
use finespun::tasks::quiesce;
use finespun::testing::*;

#[task]
async fn fib(n: u64) -> u64 {
    if n < 2 {
        return n;
    }
    let (a, b) = join!(fib(n - 1), fib(n - 2));
    a + b
}

#[task]
async fn later(n: u64) -> u64 {
    yield_now().await;
    n
}

#[task]
async fn loops() -> u64 {
    let values = join_all((0..3).map(later)).await;
    let begun: Vec<_> = (0..4).map(|k| spawn(fib(k))).collect();
    values.iter().sum::<u64>() + reduce(begun, 0, |a, b| a + b).await
}

#[task]
async fn add(sum: &Mutex<u64>, n: u64) {
    *sum.lock().await += n;
    finespun::group::sync().await;
}

#[task]
async fn group() -> u64 {
    let sum = Mutex::new(0);
    parfor(0..4, |k| add(&sum, k)).await;
    *sum.lock().await
}

#[task]
async fn append(numbers: &mut Vec<u64>, n: u64) -> u64 {
    let n = later(n).await;
    numbers.push(n);
    n
}

#[task]
async fn lends() -> u64 {
    let mut numbers = vec![1];
    let mut sum = 0;
    for k in 0..2 {
        sum += append(&mut numbers, k).await;
        let last = numbers.last_mut().unwrap();
        *last += 1;
        sum += later(*last).await;
        numbers.push(sum);
    }
    let first = append(&mut numbers, 5).await;
    numbers.into_iter().sum::<u64>() + first
}

#[task]
async fn first_of(k: u64) -> Result<(), u64> {
    loop {
        yield_now().await;
        if k == 2 {
            return Err(k);
        }
    }
}

#[task]
async fn broken() -> u64 {
    parfor(0..4, first_of).await.unwrap_err()
}

#[task]
async fn panics(k: u64) -> u64 {
    yield_now().await;
    // Without the panic's message, whose backtrace takes Miri long.
    if k == 1 { std::panic::resume_unwind(Box::new("expected")) } else { k }
}

#[task]
async fn failing() -> u64 {
    join_all((0..3).map(panics)).await.len() as u64
}

#[derive(serde::Serialize, serde::Deserialize)]
struct Count(u64);

#[object]
impl Count {
    fn add(&mut self, n: u64) -> u64 {
        self.0 += n;
        self.0
    }

    async fn add_later(&mut self, n: u64) -> u64 {
        yield_now().await;
        self.0 += n;
        self.0
    }
}

#[task]
async fn objects() -> u64 {
    let count = on(1).create(Count(1)).await;
    let one = count.add(2).await + count.add_later(3).await;
    let array = Array::create(3, |index| index % nodes(), |index, _: &()| Count(index as u64), ()).await;
    one + array.each(|count| count.add_later(1)).await.iter().sum::<u64>()
}

#[task]
async fn element(all: IArray<u64>, index: usize) {
    let value = if index < 2 { 1 } else { all.get(index - 1).await + all.get(index - 2).await };
    all.put(index, value).await;
}

#[task]
async fn elements() -> u64 {
    let all = IArray::create(6, layout::cyclic(nodes())).await;
    parfor(0..6usize, |index| element(all, 5 - index)).await;
    let last = all.get(5).await;
    all.free().await;
    last
}

#[thread]
fn add_up(to: Cont<u64>, a: u64, b: u64) {
    send_argument(a + b, to);
}

#[thread]
fn fib_by_closures(to: Cont<u64>, n: u64) {
    if n < 2 {
        return send_argument(n, to);
    }
    let sum = make_closure!(add_up, to, _, _);
    post(make_closure!(fib_by_closures, sum.a, n - 1));
    post(make_closure!(fib_by_closures, sum.b, n - 2));
}

#[task]
async fn closures(n: u64) -> u64 {
    top(|to| post(make_closure!(fib_by_closures, to, n))).await
}

#[task]
async fn rest() {
    drop(spawn(later(0)));
    quiesce().await;
}

#[test]
fn everything_a_little() {
    for n in [0, 1, 2] {
        // The limit of frame memory is set because Miri does not tell how much memory there is.
        let builder = Runtime::builder().workers(2).nodes(2).frame_memory(1 << 28);
        let runtime = builder.block_every(n).build().unwrap();
        assert_eq!(runtime.run(fib(6)), 8);
        assert_eq!(runtime.run(loops()), 7);
        assert_eq!(runtime.run(group()), 6);
        assert_eq!(runtime.run(lends()), 19);
        assert_eq!(runtime.run(broken()), 2);
        assert!(runtime.try_run(failing()).is_err());
        assert_eq!(runtime.run(objects()), 15);
        assert_eq!(runtime.run(elements()), 8);
        assert_eq!(runtime.run(closures(5)), 5);
        runtime.run(rest());
        assert_eq!(runtime.close(), 0, "frames are left");
    }
}
