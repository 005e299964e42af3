//! References and arrays of another runtime.

use std::sync::Mutex;

use finespun::prelude::*;
use finespun::testing::*;
use finespun::{RunError, objects::CallError, objects::StaleCause, on};

use crate::common::on_any_nodes;
use crate::errors::Cell2;

#[task]
async fn cell_on(node: usize) -> Ref<Cell2> {
    on(node).create(Cell2 { value: 5 }).await
}

#[task]
async fn look(cell: Ref<Cell2>, count: u32) -> i64 {
    if count == 0 {
        std::thread::sleep(std::time::Duration::from_millis(2));
        return cell.get().await;
    }
    let (a, b) = join!(look(cell, count - 1), look(cell, count - 1));
    a + b
}

/// Two of the four workers have no node; the call fails there too.
#[test]
fn a_foreign_reference_on_a_worker_without_nodes() {
    let other = Runtime::builder().workers(1).nodes(4).build().unwrap();
    let cell = other.run(cell_on(3));
    let runtime = Runtime::builder().workers(4).nodes(2).build().unwrap();
    for _ in 0..5 {
        match runtime.try_run(look(cell, 6)) {
            Ok(value) => panic!("{value}"),
            Err(RunError::Panicked(panic)) => {
                assert!(panic.message().contains("stale"), "{}", panic.message());
            }
            Err(error) => panic!("{error}"),
        }
    }
}

#[task]
async fn cells(len: usize) -> Array<Cell2> {
    let nodes = nodes();
    Array::create(len, move |index| index % nodes, |index: usize, _: &()| Cell2 { value: index as i64 }, ()).await
}

#[task]
async fn values(array: &Array<Cell2>) -> Vec<i64> {
    array.each(|cell| cell.get()).await
}

#[task]
async fn notes(array: &Array<Cell2>) -> usize {
    array.each(|cell| touch(cell)).await.len()
}

#[task]
async fn touch(cell: Ref<Cell2>) {
    let _: i64 = cell.get().await;
}

#[test]
fn a_foreign_array_of_more_nodes() {
    for (workers, nodes) in [(1, 1), (2, 2), (2, 1)] {
        let other = Runtime::builder().workers(1).nodes(4).build().unwrap();
        let array = other.run(cells(8));
        let runtime = Runtime::builder().workers(workers).nodes(nodes).build().unwrap();
        let Err(RunError::Panicked(panic)) = runtime.try_run(values(&array)) else { panic!("a panic") };
        assert_eq!(runtime.close(), 0);
        assert!(panic.message().contains("Array") && panic.message().contains("stale"), "{}", panic.message());
    }
}

#[test]
fn a_foreign_array_that_looks_like_one_of_ours() {
    for (ours, theirs) in [(2, 4), (2, 2)] {
        let other = Runtime::builder().workers(1).nodes(2).build().unwrap();
        // The hidden objects have the same table entries in both runtimes.
        let array = other.run(cells(8));
        let runtime = Runtime::builder().workers(1).nodes(2).build().unwrap();
        let _own = (runtime.run(cells(ours)), runtime.run(cells(theirs)));
        for failed in [runtime.try_run(values(&array)).err(), runtime.try_run(notes(&array)).err()] {
            let Some(RunError::Panicked(panic)) = failed else { panic!("a panic") };
            assert!(panic.message().contains("stale"), "{}", panic.message());
        }
    }
}

#[task]
async fn cells_everywhere(count: usize) -> Vec<Ref<Cell2>> {
    let mut all = Vec::new();
    for node in 0..nodes() {
        for value in 0..count {
            let cell = on(node).create(Cell2 { value: value as i64 }).await;
            all.push(cell);
        }
    }
    all
}

/// Returns the result of each way to use a reference. A reference passed as an argument is used at the receiving node.
#[task]
async fn uses(cell: Ref<Cell2>) -> Vec<Result<i64, CallError>> {
    let node = Ref::node(cell) % nodes();
    let get = cell.get().checked().await;
    let set = cell.set(-1).checked().await.map(|()| 0);
    let slowly = cell.set_slowly(-1).checked().await.map(|()| 0);
    let sent = on(node).call(get_there, cell).await;
    let both = join!(cell.get().checked(), on(0).call(get_there, cell));
    vec![get, set, slowly, sent.map_err(forget), both.0, both.1.map_err(forget)]
}

/// Checks that `message` reports a stale reference of another runtime. Returns that error: an error does not travel,
/// only its message does.
fn forget(message: String) -> CallError {
    assert!(message.ends_with("that belongs to another runtime: its reference is stale"), "{message}");
    CallError::Stale { object: "Cell2", method: "get", node: 0, cause: StaleCause::OtherRuntime }
}

#[task]
async fn get_there(cell: Ref<Cell2>) -> Result<i64, String> {
    cell.get().checked().await.map_err(|error| error.to_string())
}

#[task]
async fn free(cell: Ref<Cell2>) {
    Ref::free(cell).await;
}

#[task]
async fn set_oneway(cell: Ref<Cell2>) {
    cell.set(7).oneway().await;
    finespun::tasks::quiesce().await;
}

#[task]
async fn read_all(cells: Vec<Ref<Cell2>>) -> i64 {
    let mut sum = 0;
    for cell in cells {
        let value = cell.get().await;
        sum += value;
    }
    sum
}

#[task]
async fn free_array(array: &Array<Cell2>) {
    array.free().await;
}

/// Checks that references of `other` are refused, although both runtimes have objects of one type in the same entries
/// of the same nodes.
fn refuses_references_of(other: Runtime, dropped: bool) {
    let other = Mutex::new(Some(other));
    let theirs = other.lock().unwrap().as_ref().unwrap().run(cells_everywhere(3));
    let array = other.lock().unwrap().as_ref().unwrap().run(cells(4));
    if dropped {
        *other.lock().unwrap() = None;
    }
    on_any_nodes(|runtime| {
        let ours = runtime.run(cells_everywhere(3));
        let _array = runtime.run(cells(4));
        for &cell in &theirs {
            assert!(!ours.contains(&cell), "{cell:?} is a name in both runtimes");
            for error in runtime.run(uses(cell)) {
                let error = error.unwrap_err();
                let CallError::Stale { cause: StaleCause::OtherRuntime, .. } = error else { panic!("{error}") };
                assert!(
                    error.to_string().contains("that belongs to another runtime: its reference is stale"),
                    "{error}"
                );
            }
            for error in [runtime.try_run(free(cell)), runtime.try_run(set_oneway(cell))] {
                let message = error.unwrap_err().to_string();
                assert!(message.contains("that belongs to another runtime: its reference is stale"), "{message}");
            }
        }
        for error in [runtime.try_run(values(&array)).map(drop), runtime.try_run(free_array(&array))] {
            let message = error.unwrap_err().to_string();
            assert!(message.contains("that belongs to another runtime: its reference is stale"), "{message}");
        }
        // The objects of this runtime are unchanged.
        assert_eq!(runtime.run(read_all(ours)), 3 * runtime.nodes() as i64);
    });
    let other = other.into_inner().unwrap();
    if let Some(other) = &other {
        assert_eq!(other.run(read_all(theirs)), 3 * other.nodes() as i64);
    }
}

#[test]
fn references_of_another_runtime_are_stale() {
    refuses_references_of(Runtime::builder().workers(1).nodes(4).build().unwrap(), false);
}

#[test]
fn references_of_a_dropped_runtime_are_stale() {
    refuses_references_of(Runtime::builder().workers(2).nodes(2).build().unwrap(), true);
}

/// Two runtimes create and free objects in turn, so that the generations of one entry alternate between them.
#[test]
fn alternating_runtimes_never_reuse_a_reference() {
    #[task]
    async fn again(old: Option<Ref<Cell2>>) -> Ref<Cell2> {
        if let Some(old) = old {
            Ref::free(old).await;
            let gone = old.get().checked().await;
            assert!(matches!(gone, Err(CallError::Stale { cause: StaleCause::Dropped, .. })), "{gone:?}");
        }
        on(0).create(Cell2 { value: 1 }).await
    }
    #[task]
    async fn cause(cell: Ref<Cell2>) -> StaleCause {
        match cell.get().checked().await {
            Err(CallError::Stale { cause, .. }) => cause,
            other => panic!("{other:?}"),
        }
    }
    let runtimes = [(); 2].map(|()| Runtime::builder().workers(1).build().unwrap());
    let mut names = std::collections::HashSet::new();
    let mut last = [None; 2];
    let mut all = Vec::new();
    for _ in 0..200 {
        for (runtime, last) in runtimes.iter().zip(&mut last) {
            let cell = runtime.run(again(*last));
            assert!(names.insert(cell), "{cell:?} has been a name before");
            *last = Some(cell);
            all.push(cell);
        }
    }
    for runtime in &runtimes {
        let own = last.iter().flatten().filter(|&&cell| runtime.try_run(read_all(vec![cell])).is_ok()).count();
        assert_eq!(own, 1, "each runtime has one object left");
        for &cell in &all[..all.len() - 2] {
            // Either cause is possible; the reference is stale in any case.
            runtime.run(cause(cell));
        }
    }
}
