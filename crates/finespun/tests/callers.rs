//! A panic that its caller has caused has the caller's place.
#![cfg(feature = "objects")]

use std::panic::{AssertUnwindSafe, Location, catch_unwind, set_hook};
use std::sync::Mutex;

use finespun::layout;
use finespun::prelude::*;
use finespun::sync::Semaphore;

/// The place of the last panic.
static PLACE: Mutex<Option<(String, u32)>> = Mutex::new(None);

/// Asserts that the call panics, with its own place: the line on which this is called.
#[track_caller]
fn panics_here<T>(call: impl FnOnce() -> T) {
    let here = Location::caller();
    assert!(catch_unwind(AssertUnwindSafe(call)).is_err(), "{here}: no panic");
    let place = PLACE.lock().unwrap().take();
    assert_eq!(place, Some((here.file().to_owned(), here.line())));
}

#[task]
async fn one() -> usize {
    1
}

#[test]
fn a_panic_has_the_place_of_the_call_that_causes_it() {
    set_hook(Box::new(|info| {
        println!("{info}");
        *PLACE.lock().unwrap() = info.location().map(|place| (place.file().to_owned(), place.line()));
    }));
    panics_here(|| drop(spawn(one())));
    panics_here(|| here());
    panics_here(|| nodes());
    panics_here(|| finespun::tasks::outside());
    panics_here(|| layout::block(3, 0));
    panics_here(|| layout::cyclic(0));
    panics_here(|| Semaphore::new(1).release(usize::MAX));
    let runtime = Runtime::builder().workers(1).build().unwrap();
    // The error of a run, other than a task's panic.
    panics_here(|| runtime.run(suspended()));
}

/// Waits for a continuation that is kept, and never resolved.
#[task]
async fn suspended() {
    static KEPT: Mutex<Option<Continuation<()>>> = Mutex::new(None);
    suspend(|k| *KEPT.lock().unwrap() = Some(k)).await
}
