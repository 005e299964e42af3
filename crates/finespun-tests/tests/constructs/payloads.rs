//! Panics whose payloads panic when they are dropped: only the first panic is seen, and the process continues.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};

use finespun::closure::{Cont, make_closure, post, send_argument, thread, top};
use finespun::prelude::*;
use finespun::{
    RunError, everywhere as at_all_nodes, level, objects::CallError, objects::suspend_with, preturn, tasks::quiesce,
};
use serde::{Deserialize, Serialize};

use crate::common::{everywhere, may_be_forgotten, on_any_nodes, within_a_minute};

/// Number of dropped payloads.
static DROPPED: AtomicUsize = AtomicUsize::new(0);

struct Bomb(u64);

impl Drop for Bomb {
    fn drop(&mut self) {
        DROPPED.fetch_add(1, Ordering::Relaxed);
        explode(self.0 + 1000);
    }
}

/// Panics without a message on standard error. A payload that panics in its destructor is forgotten by whoever has it.
fn explode(number: u64) -> u64 {
    let bomb = Box::new(Bomb(number));
    may_be_forgotten(&*bomb);
    resume_unwind(bomb)
}

#[task]
async fn boom(number: u64) -> u64 {
    explode(number)
}

/// Suspends once before it panics.
#[task]
async fn late(number: u64) -> u64 {
    yield_now().await;
    explode(number)
}

#[task]
async fn of(number: u64, is_late: bool) -> u64 {
    if is_late { late(number).await } else { boom(number).await }
}

#[task]
async fn nothing(number: u64, is_late: bool) {
    let _ = of(number, is_late).await;
}

#[task]
async fn joins(l: bool) -> u64 {
    let (a, b, c) = join!(of(1, true), of(2, l), of(3, true));
    a + b + c
}

#[task(pinned)]
async fn joins_pinned(l: bool) -> u64 {
    let (a, b) = join!(of(1, true), of(2, l));
    a + b
}

#[task]
async fn joins_all(l: bool) -> u64 {
    join_all((1..20).map(|number| of(number, l || number % 2 == 1))).await.iter().sum()
}

#[task]
async fn reduces(l: bool) -> u64 {
    reduce((1..20).map(|number| of(number, l || number % 2 == 1)), 0, |a, b| a + b).await
}

#[task]
async fn reduces_by(l: bool) -> u64 {
    reduce((1..20).map(|number| fine(number, l)), 0, |_, number| explode(number)).await
}

#[task]
async fn fine(number: u64, is_late: bool) -> u64 {
    if is_late {
        yield_now().await;
    }
    number
}

#[task]
async fn blocks(l: bool) -> u64 {
    parblock!(nothing(1, l), nothing(2, !l), nothing(3, l));
    0
}

#[task]
async fn loops(l: bool) -> u64 {
    parfor(0..20_u64, |number| nothing(number, l || number % 2 == 1)).await;
    0
}

#[task]
async fn loops_and_collects(l: bool) -> u64 {
    parfor(0..20_u64, |number| of(number, l)).collect().await.iter().sum()
}

#[task]
async fn sections(_l: bool) -> u64 {
    lparfor(0..20_u64, |number| {
        let _ = explode(number);
    })
    .await;
    0
}

#[task]
async fn leaves(found: finespun::group::Level<u64>, l: bool) -> u64 {
    parfor(0..10_u64, move |number| returns(found, number, l)).await;
    7
}

#[task]
async fn returns(found: finespun::group::Level<u64>, number: u64, l: bool) {
    if number == 5 {
        preturn(found, 5).await;
    }
    nothing(number, l).await;
}

#[task]
async fn levels(l: bool) -> u64 {
    let value = level(|found| leaves(found, l)).await;
    explode(value)
}

#[task]
async fn spawns(l: bool) -> u64 {
    drop(spawn(of(1, l)));
    let (a, b) = (spawn(of(2, l)), spawn(of(3, true)));
    let (a, b) = join!(a, b);
    a + b
}

/// Drops the handles after their tasks have ended.
#[task]
async fn forgets(l: bool) -> u64 {
    let handles: Vec<_> = (0..5).map(|number| spawn(of(number, l))).collect();
    while handles.iter().any(|handle| !handle.is_finished()) {
        yield_now().await;
    }
    drop(handles);
    explode(9)
}

#[task]
async fn in_scope<'s>(scope: Scope<'s>, l: bool) -> u64 {
    for number in 0..5 {
        drop(scope.spawn(of(number, l)));
    }
    explode(9)
}

#[task]
async fn scopes(l: bool) -> u64 {
    scope(|s| in_scope(s, l)).await
}

#[task]
async fn resolved(l: bool) -> u64 {
    let (a, b) = join!(suspends(l), suspends(true));
    a + b
}

#[task]
async fn suspends(l: bool) -> u64 {
    if l {
        suspend_with(|k: Continuation<u64>| k.resolve_with(late(4))).await
    } else {
        suspend(|k: Continuation<u64>| k.resolve(explode(5))).await
    }
}

#[task]
async fn calls_out(_l: bool) -> u64 {
    let (a, b) = join!(blocking(|| -> u64 { explode(1) }), blocking(|| -> u64 { explode(2) }));
    a + b
}

#[thread]
fn fails(parent: Cont<u64>, number: u64) {
    if number == 0 {
        let _ = explode(1);
    }
    send_argument(number, parent);
}

#[thread]
fn sum(parent: Cont<u64>, a: u64, b: u64) {
    send_argument(a + b, parent);
}

#[task]
async fn computes(_l: bool) -> u64 {
    top(|k| {
        let both = make_closure!(sum, k, _, _);
        post(make_closure!(fails, both.a, 0));
        post(make_closure!(fails, both.b, 0));
    })
    .await
}

/// Ends of the library's own messages about a bomb: for a method's error and a payload that arrives as bytes; for a
/// scope; for an object that a bomb has poisoned.
const OWN: [&str; 3] = [
    "(the payload is not a string)",
    "a task spawned in a scope panicked",
    "is poisoned: an earlier `&mut self` method of it panicked or was cancelled",
];

fn panics(end: Result<u64, RunError>, what: &str) {
    match end {
        // The payload is a bomb, or the library's own message about one. It is dropped here, silently.
        Err(RunError::Panicked(panic)) => {
            let (payload, message) = (panic.payload(), panic.message());
            let is_text = payload.is::<String>() || payload.is::<&str>() || payload.is::<CallError>();
            let is_own = is_text && OWN.iter().any(|end| message.ends_with(end));
            assert!(payload.is::<Bomb>() || is_own, "{what}: {message}");
        }
        Err(error) => panic!("{what}: {error}"),
        Ok(value) => panic!("{what}: {value}"),
    }
}

#[test]
fn every_construct_survives_panicking_payloads() {
    within_a_minute(|| {
        everywhere(|runtime| {
            macro_rules! each {
                ($($task:ident)*) => {
                    $(for l in [false, true] {
                        panics(runtime.try_run($task(l)), stringify!($task));
                    })*
                };
            }
            each!(joins joins_pinned joins_all reduces reduces_by blocks loops loops_and_collects sections levels spawns forgets);
            each!(scopes resolved calls_out computes);
        });
        assert!(DROPPED.load(Ordering::Relaxed) > 0);
    });
}

#[test]
fn the_first_panic_is_reported() {
    everywhere(|runtime| {
        for l in [false, true] {
            let Err(RunError::Panicked(panic)) = runtime.try_run(joins(l)) else { panic!("it panics") };
            let bomb = panic.into_payload().downcast::<Bomb>().unwrap();
            assert_eq!(bomb.0, 1);
            std::mem::forget(bomb);
        }
    });
}

#[derive(Serialize, Deserialize)]
struct Mine;

#[object]
impl Mine {
    fn plain(&self, number: u64) -> u64 {
        explode(number)
    }

    async fn slow(&mut self, number: u64) -> u64 {
        late(number).await
    }

    fn tell(&self) {
        let _ = explode(1);
    }
}

#[task]
async fn mines() -> Vec<Ref<Mine>> {
    let mut all = Vec::new();
    for node in 0..nodes() {
        let mine = on(node).create(Mine).await;
        all.push(mine);
    }
    all
}

#[task]
async fn tread(mines: Vec<Ref<Mine>>) -> u64 {
    for &mine in &mines {
        let checked = mine.plain(1).checked().await;
        assert!(checked.is_err());
    }
    let all: Vec<u64> = join_all(mines.iter().map(|mine| mine.plain(1))).await;
    all.len() as u64
}

#[task]
async fn tread_slowly(mines: Vec<Ref<Mine>>) -> u64 {
    let (a, b) = join!(mines[0].slow(1), mines[mines.len() - 1].slow(2));
    a + b
}

#[task]
async fn tell(mines: Vec<Ref<Mine>>) -> u64 {
    for &mine in &mines {
        mine.tell().oneway().await;
    }
    quiesce().await;
    0
}

#[task]
async fn at_all(number: u64) -> u64 {
    at_all_nodes(boom, number).await.len() as u64
}

#[task]
async fn at_each(_number: u64) -> u64 {
    let array = Array::create(2 * nodes(), |index| index / 2, |_, _: &()| Mine, ()).await;
    array.each(|mine| mine.plain(3)).await.len() as u64
}

#[test]
fn objects_survive_panicking_payloads() {
    within_a_minute(|| {
        on_any_nodes(|runtime| {
            panics(runtime.try_run(tread(runtime.run(mines()))), "join_all of methods");
            panics(runtime.try_run(tread_slowly(runtime.run(mines()))), "join! of methods");
            panics(runtime.try_run(tell(runtime.run(mines()))), "one-way calls");
            panics(runtime.try_run(at_all(1)), "everywhere");
            panics(runtime.try_run(at_each(1)), "each");
        });
    });
}
