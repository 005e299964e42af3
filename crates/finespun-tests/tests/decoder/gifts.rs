//! Forged messages about activities: that give away an activity's wait for work elsewhere, which ends with the work and not
//! with its run, or begin work in a group that outlasts the group.

use std::ops::ControlFlow::{self, Continue};
use std::sync::atomic::Ordering;
use std::sync::{Mutex, PoisonError};

use finespun::objects::suspend_with;
use finespun::parfor;
use finespun::prelude::*;
use finespun::tasks::outside;
use finespun::testing::wire::{self, Kind};
use finespun::testing::*;

use crate::common::within_a_minute;
use crate::program::{Cell, WORKERS, activity, make_cells, release};
use crate::{ALONE, IDENTITY, NODES, PROCESSES, quiet};

/// A message and a number in it: that of a wait in the other process, which has sent the message to this one.
type Found = (Vec<u8>, u64);

#[task]
async fn keeps(cell: Ref<Cell>) -> u64 {
    suspend_with(move |k| cell.keep(k).oneway()).await
}

#[task]
async fn asks((cell, other): (Ref<Cell>, Ref<Cell>)) -> u64 {
    // More than the call, which would be forwarded.
    cell.wait(other).await + 1
}

#[task]
async fn numbers_there(_of: u32) -> Vec<u64> {
    wire::numbers()
}

fn record_all() {
    wire::recorded(Kind::Tasks);
    wire::record(true);
}

/// Waits for a recorded message that contains the number of a wait in the other process.
#[task]
async fn find_message() -> Found {
    let mut messages = Vec::new();
    loop {
        let numbers = on(1).call(numbers_there, 0).await;
        messages.extend(wire::recorded(Kind::Tasks));
        let names = |message: &[u8], number: u64| message.windows(8).any(|bytes| bytes == number.to_le_bytes());
        let named = |number: &u64| messages.iter().find(|message| names(message, *number));
        if let Some((message, number)) = numbers.iter().find_map(|number| Some((named(number)?.clone(), *number))) {
            wire::record(false);
            return (message, number);
        }
    }
}

/// Finds a message that gives a continuation to `cells[0]`.
#[task]
async fn find_gift(cells: &[Ref<Cell>]) -> Found {
    let found = find_message().await;
    release(cells[0]).await;
    found
}

/// Puts the number of a wait of this process, which is not one of `before`, in the place of the number in the message, and
/// sends the message to this worker.
#[task]
async fn forge((mut message, number): Found, before: Vec<u64>) {
    let waits = loop {
        if let Some(waits) = wire::numbers().into_iter().find(|number| !before.contains(number)) {
            break waits;
        }
        yield_now().await;
    };
    for at in 0..message.len() - 7 {
        if message[at..at + 8] == number.to_le_bytes() {
            message[at..at + 8].copy_from_slice(&waits.to_le_bytes());
        }
    }
    assert!(wire::forge(0, &message));
    for _ in 0..100 {
        yield_now().await;
    }
}

#[task]
async fn gift() {
    let cells = make_cells().await;
    record_all();
    let (given, found) = join!(on(1).call(keeps, cells[0]), find_gift(&cells));
    assert_eq!(given, 0);
    let before = wire::numbers();
    let (ended, ()) = join!(parfor(1..2, |k| activity(&cells, k)), give(&cells, found, before));
    assert_eq!(ended, Continue(()));
}

#[task]
async fn give(cells: &[Ref<Cell>], found: Found, before: Vec<u64>) {
    forge(found, before).await;
    cells[0].release().await;
    release(cells[2]).await;
}

/// Calls `test` with a runtime of two processes.
fn over_two_processes(test: impl Fn(&Runtime) + Send + 'static) {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    quiet();
    WORKERS.store(1, Ordering::Relaxed);
    within_a_minute(move || {
        let runtime = Runtime::builder().processes(PROCESSES).workers(1).nodes(NODES).build().unwrap();
        test(&runtime);
        assert_eq!(runtime.close(), 0);
    });
}

#[test]
fn no_object_gets_a_wait_of_the_library() {
    over_two_processes(|runtime| {
        // The message has no answer, so its error ends the run.
        let error = runtime.try_run(gift()).expect_err("the wait has been given away").to_string();
        assert!(error.contains("could not be decoded"), "{error}");
    });
}

static FOUND: Mutex<Option<(Vec<Ref<Cell>>, Found)>> = Mutex::new(None);

/// Waits for `cells[0]`, which waits for `cells[4]`, and finds the message.
#[task]
async fn asks_until_released() {
    // The other run does.
    let _outside = outside();
    let cells = make_cells().await;
    record_all();
    join!(on(1).call(asks, (cells[0], cells[4])), show_message(&cells));
}

#[task]
async fn show_message(cells: &[Ref<Cell>]) {
    let found = find_message().await;
    *FOUND.lock().unwrap() = Some((cells.to_vec(), found));
}

/// An activity waits, and forged work waits for `cells[4]` in its place.
#[task]
async fn forge_work(cells: Vec<Ref<Cell>>, found: Found) {
    let before = wire::numbers();
    let (ended, ()) = join!(parfor(1..2, |k| activity(&cells, k)), ask(&cells, found, before));
    assert_eq!(ended, Continue(()));
}

#[task]
async fn ask(cells: &[Ref<Cell>], found: Found, before: Vec<u64>) {
    forge(found, before).await;
    release(cells[4]).await;
    release(cells[2]).await;
}

#[test]
fn work_of_another_run_does_not_answer() {
    over_two_processes(|runtime| {
        std::thread::scope(|scope| {
            scope.spawn(|| runtime.run(asks_until_released()));
            let (cells, found) = loop {
                match FOUND.lock().unwrap().take() {
                    Some(found) => break found,
                    None => std::thread::yield_now(),
                }
            };
            let error = runtime.try_run(forge_work(cells, found)).expect_err("the wait has been answered").to_string();
            assert!(error.contains("dropped unresolved"), "{error}");
        });
    });
}

/// The run asks, outside a group, and forges.
#[task]
async fn asks_and_forges() {
    let cells = make_cells().await;
    record_all();
    join!(on(1).call(asks, (cells[0], cells[4])), find_and_forge(&cells));
}

#[task]
async fn find_and_forge(cells: &[Ref<Cell>]) {
    let found = find_message().await;
    forge_work(cells.to_vec(), found).await;
}

#[test]
fn work_outside_the_group_does_not_answer() {
    over_two_processes(|runtime| {
        let error = runtime.try_run(asks_and_forges()).expect_err("the wait has been answered").to_string();
        assert!(error.contains("dropped unresolved"), "{error}");
    });
}

type Waiting = Mutex<Vec<Continuation<()>>>;

/// Work in a group, the root of its run, and activities of other groups.
static WORK: Waiting = Mutex::new(Vec::new());
static ROOT: Waiting = Mutex::new(Vec::new());
static HOLDERS: Waiting = Mutex::new(Vec::new());

#[task]
async fn wait_in(list: &'static Waiting) {
    suspend(|k: Continuation<()>| list.lock().unwrap().push(k)).await;
}

#[task]
async fn until_waiting(list: &'static Waiting, count: usize) {
    while list.lock().unwrap().len() < count {
        yield_now().await;
    }
}

fn resolve(list: &Waiting) {
    std::mem::take(&mut *list.lock().unwrap()).into_iter().for_each(|k| k.resolve(()));
}

#[task]
async fn activity_of_work() -> ControlFlow<()> {
    wait_in(&WORK).await;
    Continue(())
}

#[task]
async fn work(_of: u32) {
    wait_in(&WORK).await;
    // The root waits after the group.
    let outlasts = !ROOT.lock().unwrap().is_empty();
    if outlasts {
        assert_eq!(parfor(0..1, |_| activity_of_work()).await, Continue(()));
    }
}

#[task]
async fn calls_work() -> ControlFlow<()> {
    on(1).call(work, 0).await;
    Continue(())
}

/// Repeats the message that has begun the work in the group, and ends that work, but not the repeated one.
#[task]
async fn repeats_message() {
    until_waiting(&WORK, 1).await;
    wire::record(false);
    let in_group = |message: &Vec<u8>| message.get(IDENTITY).is_some_and(|flags| flags & 8 != 0);
    let message = wire::recorded(Kind::Tasks).into_iter().find(in_group).expect("the call's message");
    assert!(wire::forge(1, &message));
    until_waiting(&WORK, 2).await;
    let first = WORK.lock().unwrap().remove(0);
    first.resolve(());
}

#[task]
async fn leaves_work() {
    let _outside = outside();
    record_all();
    let (ended, ()) = join!(parfor(0..1, |_| calls_work()), repeats_message());
    assert_eq!(ended, Continue(()));
    wait_in(&ROOT).await;
}

#[task]
async fn holder() -> ControlFlow<()> {
    wait_in(&HOLDERS).await;
    Continue(())
}

/// Begins a group that holds its number, when so many others do.
#[task]
async fn hold(others: usize) -> ControlFlow<()> {
    until_waiting(&HOLDERS, others).await;
    parfor(0..1, |_| holder()).await
}

const GROUPS: usize = 100;

#[task]
async fn hold_numbers(_of: u32) {
    let _outside = outside();
    assert_eq!(parfor(0..GROUPS, hold).await, Continue(()));
}

#[task]
async fn hold_numbers_there() {
    on(1).call(hold_numbers, 0).await;
}

#[test]
fn work_that_outlasts_its_group_ends_with_its_run() {
    over_two_processes(|runtime| {
        std::thread::scope(|scope| {
            let until = |list: &Waiting, count| {
                while list.lock().unwrap().len() < count {
                    std::thread::yield_now();
                }
            };
            let first = scope.spawn(|| runtime.run(leaves_work()));
            until(&ROOT, 1);
            // The numbers of the groups that have ended, and more.
            scope.spawn(|| runtime.run(hold_numbers_there()));
            until(&HOLDERS, GROUPS);
            // The work that is left begins a group, perhaps under the number of the one around it.
            resolve(&WORK);
            until(&WORK, 1);
            resolve(&ROOT);
            first.join().unwrap();
            resolve(&HOLDERS);
            WORK.lock().unwrap().clear();
        });
    });
}
