//! References and arrays of another runtime.

use finespun::RunError;
use finespun::prelude::*;

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

/// A reference of another runtime, on a worker without nodes.
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
        // The hidden objects stand at the same place under the same generation.
        let array = other.run(cells(8));
        let runtime = Runtime::builder().workers(1).nodes(2).build().unwrap();
        let _own = (runtime.run(cells(ours)), runtime.run(cells(theirs)));
        for failed in [runtime.try_run(values(&array)).err(), runtime.try_run(notes(&array)).err()] {
            let Some(RunError::Panicked(panic)) = failed else { panic!("a panic") };
            assert!(panic.message().contains("stale"), "{}", panic.message());
        }
    }
}
