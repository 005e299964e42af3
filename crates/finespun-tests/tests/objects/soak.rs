//! Random calls, forwards, drops, panics and cancelled runs over eight nodes, for a configurable time:
//! `FINESPUN_SOAK_SECONDS=600 cargo test --release -p finespun-tests --test objects soak`.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use finespun::prelude::*;
use finespun::testing::*;
use finespun::{objects::CallError, objects::suspend_with, runtime::Transport, tasks::quiesce};
use serde::{Deserialize, Serialize};

use crate::common::{Launch, Shared};

/// Sum of the values that were put into members dropped since.
static DROPPED: Shared = Shared::new();
/// Sum of the values that successful calls have put into members.
static ADDED: Shared = Shared::new();
/// One-way calls sent.
static SENT: Shared = Shared::new();
/// Calls that succeeded, and that failed.
static WELL: AtomicU64 = AtomicU64::new(0);
static ILL: AtomicU64 = AtomicU64::new(0);

/// An object that is replaced and freed at random, and that panics on request.
#[derive(Serialize, Deserialize)]
struct Member {
    sum: i64,
}

impl Drop for Member {
    fn drop(&mut self) {
        DROPPED.add(self.sum);
    }
}

#[object]
impl Member {
    fn add(&mut self, k: i64) {
        self.sum += k;
    }

    async fn add_slowly(&mut self, k: i64, turns: u32) {
        let sum = self.sum;
        for _ in 0..turns {
            yield_now().await;
        }
        assert_eq!(sum, self.sum, "alone with the object");
        self.sum = sum + k;
    }

    async fn look(&self, turns: u32) -> i64 {
        let sum = self.sum;
        for _ in 0..turns {
            yield_now().await;
        }
        assert_eq!(sum, self.sum, "nobody changes it meanwhile");
        sum
    }

    fn explode(&mut self) {
        panic!("as asked");
    }

    async fn explode_slowly(&mut self) {
        yield_now().await;
        panic!("as asked, slowly");
    }
}

/// A permanent object that refers to the current member.
struct Place {
    member: Option<Ref<Member>>,
    told: u64,
    waiting: Option<Continuation<u64>>,
}

#[object]
impl Place {
    fn member(&self) -> Option<Ref<Member>> {
        self.member
    }

    fn replace(&mut self, member: Ref<Member>) -> Option<Ref<Member>> {
        self.member.replace(member)
    }

    fn tell(&mut self) {
        self.told += 1;
    }

    fn told(&self) -> u64 {
        self.told
    }

    /// Resumes two callers together: the first one waits for the second.
    fn meet(&mut self, k: Continuation<u64>) {
        match self.waiting.take() {
            None => self.waiting = Some(k),
            Some(other) => {
                other.resolve(1);
                k.resolve(2);
            }
        }
    }

    /// Resumes a caller that still waits, since no other one will come.
    fn part(&mut self) {
        if let Some(k) = self.waiting.take() {
            k.resolve(0);
        }
    }

    /// Forwards the call from place to place; the last place answers.
    #[task(stack)]
    async fn wander(this: Ref<Self>, ways: Vec<Ref<Place>>) -> usize {
        let mut ways: Vec<Ref<Place>> = ways;
        let next: Option<Ref<Place>> = ways.pop();
        match next {
            Some(next) => next.wander(ways).await,
            None => Ref::node(this),
        }
    }
}

/// A xorshift random number generator, without a dependency.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % n
    }
}

/// Counts a call, which may fail because of the other drivers' actions. Returns whether it succeeded.
fn note<T>(result: Result<T, CallError>) -> bool {
    match result {
        Ok(_) => {
            WELL.fetch_add(1, Relaxed);
            true
        }
        Err(error) => {
            let fine = match &error {
                CallError::Stale { .. } | CallError::Poisoned { .. } => true,
                CallError::Panicked { message, .. } => message.starts_with("as asked"),
                _ => false,
            };
            assert!(fine, "{error}");
            ILL.fetch_add(1, Relaxed);
            false
        }
    }
}

#[task(pinned)]
async fn make_places(count: usize) -> Vec<Ref<Place>> {
    let mut places = Vec::new();
    for k in 0..count {
        let make = |_: ()| Place { member: None, told: 0, waiting: None };
        let place: Ref<Place> = on(k % nodes()).create_with(make, ()).await;
        let member: Ref<Member> = on((k * 3 + 1) % nodes()).create(Member { sum: 0 }).await;
        place.replace(member).await;
        places.push(place);
    }
    places
}

/// One driver: performs `steps` random steps.
#[task(pinned)]
async fn drive(places: Vec<Ref<Place>>, seed: u64, steps: u32) {
    let mut random = Random(seed);
    for _ in 0..steps {
        let place: Ref<Place> = places[random.below(places.len())];
        let member: Ref<Member> = place.member().await.expect("each place has one");
        let k = random.below(100) as i64;
        match random.below(24) {
            0..=5 => {
                if note(member.add(k).checked().await) {
                    ADDED.add(k);
                }
            }
            6..=9 => {
                let turns = random.below(4) as u32;
                if note(member.add_slowly(k, turns).checked().await) {
                    ADDED.add(k);
                }
            }
            10..=13 => {
                let turns = random.below(3) as u32;
                let (a, b, c) = join!(member.look(turns).checked(), member.look(0).checked(), member.look(1).checked());
                for result in [a, b, c] {
                    note(result);
                }
            }
            14..=16 => {
                let ways: Vec<Ref<Place>> = (0..random.below(9)).map(|_| places[random.below(places.len())]).collect();
                let end = ways.first().map_or(Ref::node(place), |last| Ref::node(*last));
                let at = place.wander(ways).await;
                assert_eq!(at, end);
            }
            17..=19 => {
                SENT.add(1);
                place.tell().oneway().await;
            }
            20 | 21 => {
                let new: Ref<Member> = on(random.below(nodes())).create(Member { sum: 0 }).await;
                if let Some(old) = place.replace(new).await {
                    Ref::free(old).await;
                }
            }
            22 => {
                note(member.explode().checked().await);
            }
            _ => {
                note(member.explode_slowly().checked().await);
            }
        }
    }
}

/// Meets the other caller at each place, or waits there until no other one can come.
#[task(pinned)]
async fn meet(places: Vec<Ref<Place>>) -> u64 {
    let mut met = 0;
    for place in places {
        met += suspend_with(move |k| place.meet(k).oneway()).await;
    }
    met
}

#[task(pinned)]
async fn part(places: Vec<Ref<Place>>) {
    for place in places {
        place.part().await;
    }
}

#[task(pinned)]
async fn told(places: Vec<Ref<Place>>) -> u64 {
    quiesce().await;
    let mut told = 0;
    for place in places {
        told += place.told().await;
    }
    told
}

/// Never ends; its run is dropped.
#[task(pinned)]
async fn for_ever(places: Vec<Ref<Place>>, seed: u64) {
    let mut random = Random(seed);
    loop {
        let ways: Vec<Ref<Place>> = (0..random.below(9)).map(|_| places[random.below(places.len())]).collect();
        let place: Ref<Place> = places[random.below(places.len())];
        place.wander(ways).await;
        let member: Ref<Member> = place.member().await.expect("each place has one");
        note(member.look(2).checked().await);
    }
}

#[task(pinned)]
async fn round(places: Vec<Ref<Place>>, seed: u64, drivers: u64, steps: u32) {
    let all = places.clone();
    let drive = join_all((0..drivers).map(move |k| drive(all.clone(), (seed ^ (k << 32)) | 1, steps)));
    drive.await;
    // An even number of parties, so that each one meets another.
    let (a, b) = join!(meet(places.clone()), meet(places.clone()));
    assert_eq!(a + b, 3 * places.len() as u64);
    part(places).await;
}

#[test]
fn soak() {
    let seconds = std::env::var("FINESPUN_SOAK_SECONDS").ok().and_then(|s| s.parse().ok()).unwrap_or(4);
    let until = Instant::now() + Duration::from_secs(seconds);
    std::panic::set_hook(Box::new(|info| {
        let asked = info.payload_as_str().is_some_and(|text| text.starts_with("as asked"));
        if !asked {
            eprintln!("{info}");
        }
    }));
    let (mut rounds, mut seed) = (0_u64, 88_172_645_463_325_252_u64);
    while rounds == 0 || Instant::now() < until {
        let kind = rounds as usize;
        let transport = [Transport::Push, Transport::Pull, Transport::Adaptive][kind % 3];
        let runtime = Runtime::builder()
            .workers(1 + kind % 4)
            .nodes(8)
            .transport(transport)
            .encoded(kind % 2 == 1)
            .outbox([1, 256][kind / 2 % 2])
            .block_every([0, 3, 0, 7][kind / 3 % 4]);
        let runtime = runtime.build().unwrap();
        let (added, dropped, sent) = (ADDED.load(), DROPPED.load(), SENT.load());
        let places = runtime.run(make_places(24));
        for turn in 0..4 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let ghost = runtime.spawn(for_ever(places.clone(), seed | 1));
            runtime.run(round(places.clone(), seed, 12, 40));
            drop(ghost);
            assert_eq!(runtime.run(told(places.clone())) as i64, SENT.load() - sent, "turn {turn}");
        }
        assert_eq!(runtime.close(), 0, "frames left after round {rounds}");
        assert_eq!(ADDED.load() - added, DROPPED.load() - dropped, "nothing is lost or done twice");
        rounds += 1;
    }
    let (well, ill) = (WELL.load(Relaxed), ILL.load(Relaxed));
    println!("{rounds} rounds, {well} calls ended well, {ill} did not");
    assert!(well > 0 && ill > 0);
}
