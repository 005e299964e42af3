//! A task that awaits only straight tasks, one after another, is straight itself: it never suspends, and it is correct
//! on every runtime.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::common::{everywhere, within_a_minute};
use finespun::prelude::*;
use finespun::sync::Mutex;
use finespun::testing::*;

fn straight<T: Task>(_: &T) -> bool {
    T::STRAIGHT
}

#[task]
async fn leaf(n: &u64) -> u64 {
    *n + 1
}

/// Lends a local, returns early, and has a branch without an await.
#[task]
async fn one(n: u64, v: &[u64]) -> u64 {
    if n == 0 {
        return 0;
    }
    let local = n * 2;
    let a = match v.first() {
        Some(first) => leaf(first).await + leaf(&local).await,
        None => 7,
    };
    a + n
}

#[task]
async fn two(n: u64, v: &[u64]) -> Result<u64, String> {
    let a = one(n, v).await;
    let b = halved(a).await?;
    Ok(a + b)
}

#[task]
async fn halved(n: u64) -> Result<u64, String> {
    if n.is_multiple_of(2) { Ok(n / 2) } else { Err(format!("{n} is odd")) }
}

#[task]
async fn three(n: u64, v: Vec<u64>) -> Result<u64, String> {
    two(n, &v).await
}

/// One level too deep to be inferred as straight.
#[task]
async fn four(n: u64, v: Vec<u64>) -> Result<u64, String> {
    three(n, v).await
}

fn plain_one(n: u64, v: &[u64]) -> u64 {
    if n == 0 { 0 } else { v.first().map_or(7, |first| first + 1 + n * 2 + 1) + n }
}

fn plain_two(n: u64, v: &[u64]) -> Result<u64, String> {
    let a = plain_one(n, v);
    if a.is_multiple_of(2) { Ok(a + a / 2) } else { Err(format!("{a} is odd")) }
}

#[test]
fn straightness_is_inferred_through_callees() {
    assert!(straight(&leaf(&1)));
    assert!(straight(&one(1, &[])));
    assert!(straight(&two(1, &[])));
    assert!(straight(&three(1, vec![])));
    assert!(!straight(&four(1, vec![])));
    everywhere(|runtime| {
        for n in 0..6 {
            for v in [vec![], vec![3], vec![4, 5]] {
                assert_eq!(runtime.run(one(n, &v)), plain_one(n, &v));
                assert_eq!(runtime.run(two(n, &v)), plain_two(n, &v));
                assert_eq!(runtime.run(three(n, v.clone())), plain_two(n, &v));
                assert_eq!(runtime.run(four(n, v.clone())), plain_two(n, &v));
            }
        }
    });
}

#[task(straight)]
async fn asserted(n: u64) -> u64 {
    one(n, &[n]).await
}

#[test]
fn an_asserted_straight_task_may_await_an_inferred_one() {
    assert!(straight(&asserted(1)));
    everywhere(|runtime| assert_eq!(runtime.run(asserted(5)), plain_one(5, &[5])));
}

struct Point(u64);

impl Point {
    #[task]
    async fn get(&self) -> u64 {
        self.0
    }

    #[task]
    async fn twice(&self) -> u64 {
        self.get().await * 2
    }
}

#[task]
trait Shape {
    async fn area(&self) -> u64;
}

#[task]
impl Shape for Point {
    async fn area(&self) -> u64 {
        self.0 * self.0
    }
}

#[task]
async fn generic<T: Copy + Into<u64> + Send>(n: T) -> u64 {
    n.into()
}

#[task]
async fn around<T: Copy + Into<u64> + Send>(n: T) -> u64 {
    generic(n).await
}

fn helper(n: &u64) -> impl Task<Output = u64> + Send {
    leaf(n)
}

#[task]
async fn by_method(point: &Point) -> u64 {
    let a: u64 = point.get().await;
    let b = generic(3u8).await;
    a + b
}

#[task]
async fn by_another_method(point: &Point) -> u64 {
    point.twice().await
}

#[task]
async fn by_trait(point: &Point) -> u64 {
    point.area().await
}

#[task]
async fn by_helper(n: u64) -> u64 {
    let local = n + 1;
    helper(&local).await
}

#[task]
async fn by_generic(n: u8) -> u64 {
    around(n).await
}

#[task]
async fn by_lock(n: &Mutex<u64>) -> u64 {
    *n.lock().await
}

#[task]
async fn in_a_join(n: u64) -> u64 {
    let (a, b) = join!(leaf(&n), leaf(&n));
    a + b
}

#[task]
async fn in_a_loop(n: u64) -> u64 {
    let mut sum: u64 = 0;
    for i in 0..n {
        sum += leaf(&i).await;
    }
    sum
}

#[task]
async fn even(n: u64) -> bool {
    if n == 0 {
        return true;
    }
    odd(n - 1).await
}

#[task]
async fn odd(n: u64) -> bool {
    if n == 0 {
        return false;
    }
    even(n - 1).await
}

#[task]
async fn by_even(n: u64) -> bool {
    even(n).await
}

#[task(pinned)]
async fn pinned(n: u64) -> u64 {
    leaf(&n).await
}

#[test]
fn a_task_that_may_suspend_is_not_straight() {
    let point = Point(3);
    let lock = Mutex::new(3);
    assert!(straight(&point.get()));
    assert!(straight(&generic(3u8)));
    assert!(straight(&by_method(&point)));
    // Tasks whose straightness cannot be inferred.
    assert!(!straight(&point.twice()));
    assert!(!straight(&around(3u8)));
    assert!(!straight(&by_generic(3)));
    assert!(!straight(&by_another_method(&point)));
    assert!(!straight(&by_trait(&point)));
    assert!(!straight(&by_helper(3)));
    // Tasks that may suspend.
    assert!(!straight(&by_lock(&lock)));
    assert!(!straight(&in_a_join(3)));
    assert!(!straight(&in_a_loop(3)));
    assert!(!straight(&even(3)) && !straight(&by_even(3)));
    assert!(!straight(&pinned(3)));
    everywhere(|runtime| {
        assert_eq!(runtime.run(by_method(&point)), 6);
        assert_eq!(runtime.run(by_another_method(&point)), 6);
        assert_eq!(runtime.run(by_trait(&point)), 9);
        assert_eq!(runtime.run(by_helper(3)), 5);
        assert_eq!(runtime.run(by_generic(3)), 3);
        assert_eq!(runtime.run(by_lock(&lock)), 3);
        assert_eq!(runtime.run(in_a_join(3)), 8);
        assert_eq!(runtime.run(in_a_loop(4)), 10);
        assert!(!runtime.run(by_even(100_001)));
    });
}

/// Recurses by a call that checks the guard, although its first await does not. The array makes each activation use
/// stack in a release build too.
#[task]
async fn deep(n: u64) -> u64 {
    std::hint::black_box([n; 64]);
    let here = one(1, &[]).await;
    if n == 0 {
        return here;
    }
    let rest: u64 = deep(n - 1).await;
    rest + here
}

#[test]
fn a_recursion_behind_a_straight_call_does_not_overflow_the_stack() {
    for every in [0, 1000] {
        let runtime = Runtime::builder().workers(1).stack_size(512 * 1024).block_every(every).build().unwrap();
        assert_eq!(runtime.run(deep(100_000)), 100_001 * 8);
        assert!(runtime.stats().stack_limits > 0);
        assert_eq!(runtime.close(), 0);
    }
}

#[task]
async fn look(flag: &AtomicBool) -> bool {
    flag.load(Ordering::Relaxed)
}

#[task]
async fn look_again(flag: &AtomicBool) -> bool {
    look(flag).await
}

#[task]
async fn spin(flag: &AtomicBool) -> u64 {
    let mut turns: u64 = 0;
    while !look_again(flag).await {
        turns += 1;
    }
    turns
}

#[task]
async fn set(flag: &AtomicBool) {
    flag.store(true, Ordering::Relaxed);
}

#[task]
async fn both(flag: &AtomicBool) -> u64 {
    let (turns, ()) = join!(spin(flag), set(flag));
    turns
}

#[test]
fn a_loop_that_awaits_straight_tasks_lets_others_run() {
    assert!(straight(&look_again(&AtomicBool::new(false))));
    within_a_minute(|| {
        for workers in [1, 2] {
            let runtime = Runtime::builder().workers(workers).build().unwrap();
            let turns = runtime.run(both(&AtomicBool::new(false)));
            assert!(turns > 0 || workers > 1, "the loop runs first, unless another worker took what ends it");
        }
    });
}

macro_rules! bail {
    ($($message:tt)*) => {
        return Err(format!($($message)*))
    };
}

/// Returns by a macro that the task compiler does not expand: pinned if it were not straight.
#[task]
async fn leaves(n: u64) -> Result<u64, String> {
    let next = leaf(&n).await;
    if next > 3 {
        bail!("{next} is too much");
    }
    Ok(next)
}

/// Contains items that may exist only once.
#[task]
async fn holds_items(n: u64) -> u64 {
    struct Half(u64);
    impl From<Half> for u64 {
        fn from(half: Half) -> u64 {
            half.0 / 2
        }
    }
    let local = n * 2;
    let next = leaf(&local).await;
    next + u64::from(Half(local))
}

/// Statements that are not compiled do not run.
#[task]
async fn on_conditions(flag: &AtomicBool) -> u64 {
    #[cfg(any())]
    set(flag).await;
    #[cfg(any())]
    {
        set(flag).await;
    }
    #[cfg(not(loom))]
    let n: u64 = leaf(&1).await;
    u64::from(look(flag).await) + n
}

#[task]
#[allow(unreachable_code, reason = "the compiler of tasks must not stumble over it")]
async fn never_gets_there(n: u64) -> u64 {
    let next = leaf(&n).await;
    return next;
    let after: u64 = leaf(&next).await;
    after
}

#[test]
fn macros_items_and_cfgs_in_a_body_keep_their_meaning() {
    assert!(straight(&leaves(1)));
    everywhere(|runtime| {
        assert_eq!(runtime.run(leaves(2)), Ok(3));
        assert_eq!(runtime.run(leaves(3)), Err("4 is too much".to_owned()));
        assert_eq!(runtime.run(holds_items(3)), 7 + 3);
        assert_eq!(runtime.run(on_conditions(&AtomicBool::new(false))), 2);
        assert_eq!(runtime.run(never_gets_there(3)), 4);
    });
}
