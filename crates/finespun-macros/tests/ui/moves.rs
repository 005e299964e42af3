//! Closures that must own what they capture.

use finespun::prelude::*;

#[derive(Clone, Copy)]
struct Board([u8; 8]);

#[task]
async fn try_column(board: Board, column: u32, depth: u64) -> u64 {
    u64::from(board.0[0]) + u64::from(column) + depth
}

fn columns(board: Board, depth: u64) -> impl Task<Output = Vec<u64>> + Send {
    parfor(0..7u32, |column| try_column(board, column, depth)).collect()
    // cure "use the `move` keyword":     parfor(0..7u32, move |column| try_column(board, column, depth)).collect()
}

#[task]
async fn spawned(board: Board) -> usize {
    let handle = spawn(parfor(0..7u32, |column| try_column(board, column, 1)).collect());
    // cure "use the `move` keyword":     let handle = spawn(parfor(0..7u32, move |column| try_column(board, column, 1)).collect());
    handle.await.len()
}

fn main() {
    let _ = columns(Board([0; 8]), 1);
}
