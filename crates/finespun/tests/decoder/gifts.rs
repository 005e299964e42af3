//! Forged messages that give a wait away.

use std::ops::ControlFlow::Continue;
use std::sync::PoisonError;
use std::sync::atomic::Ordering;

use finespun::objects::suspend_with;
use finespun::parfor;
use finespun::prelude::*;
use finespun::testing::TestSettings;
use finespun::testing::wire::{self, Kind};

use crate::program::{Cell, WORKERS, activity, make_cells, release};
use crate::{ALONE, NODES, PROCESSES, quiet};

#[task]
async fn keeps(cell: Ref<Cell>) -> u64 {
    suspend_with(move |k| cell.keep(k).oneway()).await
}

#[task]
async fn numbers_there(_of: u32) -> Vec<u64> {
    wire::numbers()
}

/// Returns a message by which the other process gives a continuation to `cells[0]`, and the number of the continuation.
#[task]
async fn message_that_gives(cells: &[Ref<Cell>]) -> (Vec<u8>, u64) {
    wire::recorded(Kind::Tasks);
    wire::record(true);
    let (kept, found) = join!(on(1).call(keeps, cells[0]), find_message(cells));
    wire::record(false);
    assert_eq!(kept, 0);
    found
}

#[task]
async fn find_message(cells: &[Ref<Cell>]) -> (Vec<u8>, u64) {
    let mut messages = Vec::new();
    loop {
        let numbers = on(1).call(numbers_there, 0).await;
        messages.extend(wire::recorded(Kind::Tasks));
        let names = |message: &[u8], number: u64| message.windows(8).any(|bytes| bytes == number.to_le_bytes());
        let named = |number: &u64| messages.iter().find(|message| names(message, *number));
        if let Some((message, number)) = numbers.iter().find_map(|number| Some((named(number)?.clone(), *number))) {
            release(cells[0]).await;
            return (message, number);
        }
    }
}

/// An activity waits for a call of the other process, and a forged message gives the wait to `cells[0]`. Returns how many
/// continuations that has kept.
#[task]
async fn forge_gift(cells: &[Ref<Cell>], message: &[u8], number: u64) -> usize {
    let waits = loop {
        match wire::numbers()[..] {
            [waits, ..] => break waits,
            [] => yield_now().await,
        }
    };
    let mut message = message.to_vec();
    for at in 0..message.len() - 7 {
        if message[at..at + 8] == number.to_le_bytes() {
            message[at..at + 8].copy_from_slice(&waits.to_le_bytes());
        }
    }
    // To this worker, which has the wait and the cell.
    assert!(wire::forge(0, &message));
    for _ in 0..100 {
        yield_now().await;
    }
    let kept = cells[0].release().await;
    release(cells[2]).await;
    kept
}

#[task]
async fn gift() -> usize {
    let cells = make_cells().await;
    let (message, number) = message_that_gives(&cells).await;
    let (ended, kept) = join!(parfor(1..2, |k| activity(&cells, k)), forge_gift(&cells, &message, number));
    assert_eq!(ended, Continue(()));
    kept
}

/// An activity's wait for work elsewhere ends with the work, not with the run. So a forged message must not give it to an
/// object, which may keep it for ever.
#[test]
fn no_message_gives_away_a_wait_of_the_library() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    quiet();
    WORKERS.store(1, Ordering::Relaxed);
    let runtime = Runtime::builder().processes(PROCESSES).workers(1).nodes(NODES).build().unwrap();
    // The message has no answer, so its error ends the run.
    let error = runtime.try_run(gift()).expect_err("the wait has been given away").to_string();
    assert!(error.contains("could not be decoded"), "{error}");
}
