//! What does not end where it has begun: handles that outlive their level, frames that outlive their group, who is completed by
//! another run or another runtime.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use finespun::prelude::*;
use finespun::{Level, level, preturn};

/// A level that publishes itself, and ends some time after somebody has seen that.
struct Published {
    level: Mutex<Option<Level<u64>>>,
    seen: AtomicBool,
    over: AtomicBool,
}

#[task]
async fn publishes(to: &Published, whole: Level<u64>, delay: u64) -> u64 {
    *to.level.lock().unwrap() = Some(whole);
    while !to.seen.swap(false, Ordering::Acquire) && !to.over.load(Ordering::Relaxed) {
        std::hint::spin_loop();
    }
    for n in 0..delay {
        std::hint::black_box(n);
    }
    0
}

#[task]
async fn nothing(_: Level<u64>) -> u64 {
    0
}

/// The sum of what the levels deliver.
#[task]
async fn levels(to: &Published) -> u64 {
    let (mut n, mut sum) = (0_u64, 0);
    while !to.over.load(Ordering::Relaxed) {
        n = n.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let delay = (n >> 33) % 1000;
        sum += level(move |whole| publishes(to, whole, delay)).await;
        sum += level(|whole| nothing(whole)).await;
    }
    sum
}

#[task]
async fn returns(to: &Published, whole: Level<u64>) {
    to.seen.store(true, Ordering::Release);
    preturn(whole, 1).await;
}

#[task]
async fn tries(to: &Published, whole: Level<u64>) {
    parfor(0..1, move |_: u64| returns(to, whole)).await
}

/// Whoever calls `preturn` from elsewhere while the level ends is refused, though its own group may get the number that the
/// level's has just had.
#[test]
fn a_level_that_is_about_to_end_takes_nothing_from_elsewhere() {
    let runtime = Runtime::builder().workers(2).build().unwrap();
    let to = Published { level: Mutex::new(None), seen: AtomicBool::new(false), over: AtomicBool::new(false) };
    let sum = std::thread::scope(|s| {
        let sum = s.spawn(|| runtime.run(levels(&to)));
        let start = Instant::now();
        let mut wrong = None;
        while start.elapsed() < Duration::from_secs(2) && wrong.is_none() {
            let Some(whole) = to.level.lock().unwrap().take() else { continue };
            let tried = runtime.try_run(tries(&to, whole));
            let refused = tried.as_ref().is_err_and(|error| {
                let error = error.to_string();
                error.contains("has ended") || error.contains("does not run in")
            });
            wrong = (!refused).then(|| format!("{tried:?}"));
        }
        to.over.store(true, Ordering::Relaxed);
        assert_eq!(wrong, None);
        sum.join().unwrap()
    });
    assert_eq!(sum, 0);
    assert_eq!(runtime.close(), 0);
}
