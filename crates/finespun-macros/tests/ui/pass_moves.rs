//! Closures that pass copies of what they capture to each activity.
#![deny(warnings)]

use finespun::prelude::*;

#[derive(Clone, Copy)]
struct Board([u8; 8]);

#[task]
async fn try_column(board: Board, column: u32, depth: u64) -> u64 {
    u64::from(board.0[0]) + u64::from(column) + depth
}

#[task]
async fn parameter(board: Board, depth: u64) -> u64 {
    parfor(0..7u32, |column| try_column(board, column, depth)).reduce(0, |a, b| a + b).await
}

#[task]
async fn local(board: &Board, depth: u64) -> u64 {
    let board = *board;
    parfor(0..7u32, |column| try_column(board, column, depth)).reduce(0, |a, b| a + b).await
}

#[task]
async fn beside_another_use(board: Board, depth: u64) -> u64 {
    let (all, one) =
        join!(parfor(0..7u32, |column| try_column(board, column, depth)).reduce(0, |a, b| a + b), try_column(board, 1, 2));
    all + one
}

#[task]
async fn bound_first(board: Board, depth: u64) -> u64 {
    let columns = parfor(0..7u32, |column| try_column(board, column, depth)).reduce(0, |a, b| a + b);
    let (all, one) = join!(columns, try_column(board, 1, 2));
    all + one + u64::from(board.0[0])
}

#[task]
async fn try_square(squares: [u8; 4], place: (usize, u64)) -> u64 {
    u64::from(squares[place.0]) + place.1
}

#[task]
async fn array_and_tuple(squares: [u8; 4], place: (usize, u64)) -> u64 {
    let (all, one) = join!(
        parfor(0..4u32, |_| try_square(squares, place)).reduce(0, |a, b| a + b),
        try_square(squares, place)
    );
    all + one
}

fn main() {
    let runtime = Runtime::builder().workers(2).build().unwrap();
    let board = Board([1; 8]);
    assert_eq!(runtime.run(parameter(board, 0)), 28);
    assert_eq!(runtime.run(local(&board, 0)), 28);
    assert_eq!(runtime.run(beside_another_use(board, 0)), 32);
    assert_eq!(runtime.run(bound_first(board, 0)), 33);
    assert_eq!(runtime.run(array_and_tuple([1; 4], (0, 1))), 10);
}
