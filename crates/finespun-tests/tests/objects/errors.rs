//! Errors of calls: panics, poisoned objects, and references that are stale or forged.

use finespun::prelude::*;
use finespun::testing::*;
use finespun::{Error, RunError, objects::CallError};
use serde::{Deserialize, Serialize};

use crate::common::on_any_nodes;
use crate::locks::{Board, make_board, read_board};

#[derive(Serialize, Deserialize)]
pub struct Cell2 {
    pub value: i64,
}

#[object]
impl Cell2 {
    pub fn get(&self) -> i64 {
        self.value
    }

    pub fn set(&mut self, value: i64) {
        assert!(value >= 0, "{value} is negative");
        self.value = value;
    }

    pub async fn set_slowly(&mut self, value: i64) {
        self.value = -1;
        yield_now().await;
        assert!(value >= 0, "{value} is negative");
        self.value = value;
    }

    async fn set_via(this: Ref<Self>, value: i64) {
        this.set(value).await
    }
}

#[task]
async fn errors(node: usize) {
    let node = node % nodes();
    let cell = on(node).create(Cell2 { value: 1 }).await;
    // The error names the method that panicked, on whichever node.
    let error = cell.set(-5).checked().await.unwrap_err();
    assert_eq!(error.to_string(), format!("`set` of a Cell2 at node {node} panicked: -5 is negative"));
    let error = cell.get().checked().await.unwrap_err();
    assert!(matches!(error, CallError::Poisoned { object: "Cell2", method: "get", .. }), "{error}");
    Ref::free(cell).await;
    let error = cell.get().checked().await.unwrap_err();
    let stale = format!("`get` was called on a Cell2 at node {node} that has been dropped: its reference is stale");
    assert_eq!(error.to_string(), stale);
    // The table entry is reused; the reference is not.
    let other = on(node).create(Cell2 { value: 2 }).await;
    assert_ne!(cell, other);
    let stale = cell.get().checked().await;
    assert!(matches!(stale, Err(CallError::Stale { .. })));
    let value = other.get().checked().await;
    assert_eq!(value.unwrap(), 2);
    let error = other.set_slowly(-6).checked().await.unwrap_err();
    assert_eq!(error.to_string(), format!("`set_slowly` of a Cell2 at node {node} panicked: -6 is negative"));
    let poisoned = other.set(1).checked().await;
    assert!(matches!(poisoned, Err(CallError::Poisoned { .. })));
    // The called method is not refused, but the method that it calls is.
    let error = other.set_via(3).checked().await.unwrap_err();
    assert!(matches!(&error, CallError::Panicked { method: "set_via", message, .. } if message.contains("poisoned")));
    Ref::free(other).await;
}

#[test]
fn errors_name_the_object_and_the_node() {
    on_any_nodes(|runtime| {
        runtime.run(errors(0));
        runtime.run(errors(1));
    });
}

#[task]
async fn rethrown(node: usize, how: u32) -> i64 {
    let cell = on(node % nodes()).create(Cell2 { value: 1 }).await;
    match how {
        0 => cell.set(-1).await,
        1 => cell.set_slowly(-2).await,
        2 => cell.set_via(-3).await,
        _ => {
            Ref::free(cell).await;
            cell.set(1).await;
        }
    }
    cell.get().await
}

#[test]
fn awaiting_a_failed_call_panics() {
    on_any_nodes(|runtime| {
        for node in [0, 1] {
            for (how, message) in [(0, "-1 is negative"), (1, "-2 is negative"), (2, "-3 is negative"), (3, "stale")] {
                let Err(RunError::Panicked(panic)) = runtime.try_run(rethrown(node, how)) else { panic!("a panic") };
                assert!(panic.message().contains(message), "{}", panic.message());
                if how == 0 {
                    assert_eq!(panic.task(), Some("Cell2::set"));
                }
            }
        }
    });
}

#[task]
async fn to_nowhere() {
    let _ = on(99).create(Cell2 { value: 0 }).await;
}

#[test]
fn a_missing_node_is_an_error_that_names_it() {
    let runtime = Runtime::builder().workers(2).nodes(3).build().unwrap();
    let Err(RunError::Panicked(panic)) = runtime.try_run(to_nowhere()) else { panic!("a panic") };
    let expected = "there is no node 99: this runtime has 3 nodes; set a larger number by `Builder::nodes`";
    assert_eq!(panic.message(), expected);
    assert!(matches!(Runtime::builder().nodes(0).build(), Err(Error::Nodes(0))));
}

#[test]
fn a_forged_reference_is_refused() {
    let runtime = Runtime::builder().workers(2).build().unwrap();
    let board = runtime.run(make_board());
    let text = serde_json::to_string(&board).unwrap();
    assert_eq!(serde_json::from_str::<Ref<Board>>(&text).unwrap(), board);
    let shown = format!("{board:?}");
    // Another runtime may have used the table before: then any entry is free, and its generation is shown.
    let numbers = shown.strip_prefix("Board ").and_then(|rest| rest.split_once(" at node 0"));
    let (index, generation) = numbers.unwrap_or_else(|| panic!("{shown}"));
    let used = generation.strip_prefix(" (generation ").and_then(|rest| rest.strip_suffix(")"));
    let is_number = |text: &str| text.parse::<u64>().is_ok();
    assert!(is_number(index) && (generation.is_empty() || used.is_some_and(is_number)), "{shown}");
    assert!(serde_json::from_str::<Ref<Cell2>>(&text).is_err(), "of another type");

    let (tag, word): (u32, u64) = serde_json::from_str(&text).unwrap();
    let forged = |tag: u32, word: u64| {
        serde_json::from_str::<Ref<Board>>(&serde_json::to_string(&(tag, word)).unwrap()).map_err(|e| e.to_string())
    };
    // Another class tag; a number for which no node has room; no generation; zero.
    for (tag, word) in [(tag + 1, word), (tag, word | 1 << 31), (tag, word & (u64::MAX >> 16)), (0, 0)] {
        let error = forged(tag, word).unwrap_err();
        assert!(error.starts_with("this value is not a reference to `objects::locks::Board`"), "{error}");
    }
    // Bits 48 and 63 change the generation, bits 0 to 20 the number, bits 32, 33 and 47 the node: no such object.
    for bit in [0, 1, 3, 4, 12, 13, 20, 32, 33, 47, 48, 63] {
        let forged = forged(tag, word ^ 1 << bit).unwrap();
        assert_ne!(forged, board);
        let error = runtime.run(read_checked(forged)).unwrap_err();
        assert!(matches!(error, CallError::Stale { .. }), "{error}");
    }
}

#[task]
async fn read_checked(board: Ref<Board>) -> Result<u64, CallError> {
    board.read(0).checked().await
}

/// A reference created by another runtime, to a node that this runtime does not have.
#[test]
fn a_reference_to_a_missing_node_is_stale() {
    #[task]
    async fn far() -> Ref<Board> {
        on(7).create(Board { value: 1 }).await
    }
    #[task]
    async fn ask(board: Ref<Board>) -> String {
        let (a, b) = join!(board.read(0).checked(), board.write(3).checked());
        assert!(b.is_err());
        a.unwrap_err().to_string()
    }
    let many = Runtime::builder().workers(1).nodes(8).build().unwrap();
    let board = many.run(far());
    for workers in [1, 2, 4] {
        let few = Runtime::builder().workers(workers).nodes(1).build().unwrap();
        let told = "`read` was called on a Board at node 7 that belongs to another runtime: its reference is stale";
        assert_eq!(few.run(ask(board)), told);
        assert!(few.try_run(read_board(board)).is_err());
        assert_eq!(few.close(), 0);
    }
}
