//! Locals, arguments and results of hundreds of KiB do not overflow a worker's stack.

use finespun::prelude::*;
use finespun::testing::*;

use super::common::BLOCK;

const KIB: usize = 1024;

#[task]
async fn leaf(n: u64) -> u64 {
    suspend(move |k: Continuation<u64>| k.resolve(n)).await
}

#[task]
async fn kept<const S: usize>(n: usize) -> u64 {
    let mut local = [1u8; S];
    local[n] = 3;
    let first = leaf(5).await;
    local[n + 1] = 4;
    let second = leaf(first).await;
    second + u64::from(local[n]) + u64::from(local[n + 1])
}

#[task]
async fn in_a_loop<const S: usize>(turns: u64) -> u64 {
    let mut local = [1u8; S];
    let mut sum = 0;
    for i in 0..turns {
        local[i as usize] = 3;
        sum += if i % 2 == 0 { leaf(i).await } else { leaf(2).await };
    }
    sum + u64::from(local[0])
}

#[task]
async fn recursive<const S: usize>(depth: usize) -> u64 {
    let local = [1u8; S];
    let below = if depth == 0 { leaf(1).await } else { recursive::<S>(depth - 1).await };
    below + u64::from(local[depth])
}

#[task(pinned)]
async fn pinned<const S: usize>(depth: usize) -> u64 {
    let local = [1u8; S];
    let below = if depth == 0 { leaf(1).await } else { pinned::<S>(depth - 1).await };
    below + u64::from(local[depth])
}

#[task]
async fn argument<const S: usize>(given: [u8; S], n: usize) -> u64 {
    let n = leaf(n as u64).await;
    n + u64::from(given[n as usize])
}

#[task]
async fn result<const S: usize>(n: usize) -> [u8; S] {
    let mut made = [1u8; S];
    made[n] = leaf(n as u64).await as u8;
    made
}

#[task]
async fn handed_over<const S: usize>(n: usize) -> u64 {
    let given = [2u8; S];
    let (a, b) = join!(argument(given, 1), argument([3; S], n));
    let (c, d) = join!(result::<S>(n), result::<S>(2));
    let spawned = spawn(argument([4; S], n));
    a + b + u64::from(c[n]) + u64::from(d[2]) + spawned.await
}

fn all<const S: usize>(runtime: &Runtime) {
    assert_eq!(runtime.run(kept::<S>(7)), 12);
    assert_eq!(runtime.run(in_a_loop::<S>(5)), 13);
    assert_eq!(runtime.run(recursive::<S>(40)), 42);
    assert_eq!(runtime.run(pinned::<S>(40)), 42);
}

#[test]
fn large_values_live_across_awaits() {
    for n in BLOCK {
        let runtime = Runtime::builder().workers(2).block_every(n).build().unwrap();
        all::<{ 32 * KIB }>(&runtime);
        all::<{ 300 * KIB }>(&runtime);
        all::<{ 1024 * KIB }>(&runtime);
        assert_eq!(runtime.run(handed_over::<{ 32 * KIB }>(5)), 3 + 8 + 5 + 2 + 9);
        assert_eq!(runtime.run(handed_over::<{ 256 * KIB }>(5)), 3 + 8 + 5 + 2 + 9);
        assert_eq!(runtime.close(), 0);
    }
}

#[task]
async fn blocked<const S: usize>(n: usize) -> u64 {
    let given = [2u8; S];
    let taken = blocking(move || {
        let mut taken = given;
        taken[n] = 3;
        taken
    })
    .await;
    u64::from(taken[n]) + u64::from(taken[n + 1])
}

#[task]
async fn made_by_blocking<const S: usize>(n: usize) -> u64 {
    u64::from(blocking(|| [7u8; S]).await[n])
}

#[test]
fn large_values_come_from_blocking_calls() {
    for n in [0, 1] {
        let runtime = Runtime::builder().workers(2).block_every(n).build().unwrap();
        assert_eq!(runtime.run(blocked::<{ 1000 * KIB }>(5)), 5);
        assert_eq!(runtime.run(blocked::<{ 2047 * KIB }>(5)), 5);
        assert_eq!(runtime.run(made_by_blocking::<{ 1024 * KIB }>(7)), 7);
        assert_eq!(runtime.run(made_by_blocking::<{ 2047 * KIB }>(7)), 7);
        assert_eq!(runtime.close(), 0);
    }
}

#[test]
fn recursion_with_large_locals_continues_in_the_heap() {
    for n in [0, 3] {
        let runtime = Runtime::builder().workers(1).block_every(n).build().unwrap();
        assert_eq!(runtime.run(recursive::<{ 100 * KIB }>(300)), 302);
        assert_eq!(runtime.run(pinned::<{ 100 * KIB }>(300)), 302);
        assert_eq!(runtime.close(), 0);
    }
}

#[task]
async fn there_and_back<const S: usize>(given: [u8; S], depth: u64) -> [u8; S] {
    if depth == 0 {
        return given;
    }
    yield_now().await;
    let mut back = there_and_back(given, depth - 1).await;
    yield_now().await;
    back[0] += 1;
    back
}

#[task]
async fn first_of<const S: usize>(depth: u64) -> u64 {
    u64::from(there_and_back([2u8; S], depth).await[0])
}

#[task]
async fn left_early<const S: usize>(depth: u64) -> u64 {
    u64::from(finespun::level(|l| leaves_early::<S>(l, depth)).await[1])
}

#[task]
async fn leaves_early<const S: usize>(l: finespun::group::Level<[u8; S]>, depth: u64) -> [u8; S] {
    let made = there_and_back([7u8; S], depth).await;
    finespun::preturn(l, made).await;
    [0; S]
}

/// Values as large as a frame may be, as argument, local and result at once, also on the smallest stack.
#[test]
fn the_largest_values_are_passed_and_returned() {
    for (n, stack) in [(0, 4 * 1024 * KIB), (1, 64 * KIB), (3, 64 * KIB)] {
        let runtime = Runtime::builder().workers(1).block_every(n).stack_size(stack).build().unwrap();
        assert_eq!(runtime.run(first_of::<{ 600 * KIB }>(5)), 7);
        assert_eq!(runtime.run(first_of::<{ 1900 * KIB }>(5)), 7);
        assert_eq!(runtime.run(left_early::<{ 1900 * KIB }>(1)), 7);
        assert_eq!(runtime.close(), 0);
    }
}
