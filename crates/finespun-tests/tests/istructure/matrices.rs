//! Matrices by rows and by tiles.

use finespun::istructure::{Cache, IMatrix};
use finespun::prelude::*;

use crate::CACHES;
use crate::common::on_any_nodes;

#[task]
async fn element(all: IMatrix<u64>, i: usize, j: usize) {
    let value = match (i, j) {
        (0, _) | (_, 0) => 1,
        _ => {
            let (above, left) = join!(all.get(i - 1, j), all.get(i, j - 1));
            above.wrapping_add(left)
        }
    };
    all.put(i, j, value).await;
}

/// Computes Pascal's triangle, beginning with the last element.
#[task]
async fn pascal(rows: usize, columns: usize, tile: Option<(usize, usize)>, cache: Cache) -> (Vec<u64>, Vec<u64>) {
    let making = match tile {
        None => IMatrix::by_rows(rows, columns),
        Some(tile) => IMatrix::by_tiles(rows, columns, tile),
    };
    let all = making.cached(cache).await;
    assert_eq!((all.rows(), all.columns(), all.to_string()), (rows, columns, format!("{rows} x {columns}")));
    let last = rows * columns - 1;
    parfor(0..rows * columns, |k| element(all, (last - k) / columns, (last - k) % columns)).await;
    let lines = join!(all.get_row(rows - 1), all.get_column(columns - 1));
    assert_eq!(all.array().get(all.index(rows - 1, 0)).await, 1);
    all.free().await;
    lines
}

#[test]
fn elements_wait_for_their_neighbours() {
    let (rows, columns) = (6, 9);
    let mut known = vec![vec![1; columns]; rows];
    for i in 1..rows {
        for j in 1..columns {
            known[i][j] = known[i - 1][j] + known[i][j - 1];
        }
    }
    let column: Vec<u64> = known.iter().map(|row| row[columns - 1]).collect();
    on_any_nodes(|runtime| {
        for tile in [None, Some((2, 3)), Some((4, 4)), Some((1, 1)), Some((9, 2))] {
            for cache in CACHES {
                let lines = runtime.run(pascal(rows, columns, tile, cache));
                assert_eq!(lines, (known[rows - 1].clone(), column.clone()), "{tile:?} {cache:?}");
            }
        }
    });
}

#[task]
async fn beyond(i: usize, j: usize) {
    let all: IMatrix<u64> = IMatrix::by_rows(3, 4).await;
    all.get(i, j).await;
}

#[task]
async fn no_row() {
    let all: IMatrix<u64> = IMatrix::by_tiles(3, 4, (2, 2)).await;
    all.get_row(3).await;
}

#[task]
async fn no_tile() {
    let all: IMatrix<u64> = IMatrix::by_tiles(3, 4, (2, 0)).await;
    all.free().await;
}

#[task]
async fn too_large() {
    let all: IMatrix<u64> = IMatrix::by_rows(usize::MAX, 2).await;
    all.free().await;
}

#[task]
async fn empty() -> usize {
    let all: IMatrix<u64> = IMatrix::by_rows(3, 0).await;
    let len = all.get_row(2).await.len();
    all.free().await;
    len
}

#[test]
fn errors_name_rows_and_columns() {
    let runtime = Runtime::builder().workers(1).nodes(2).build().unwrap();
    let says = |result: Result<(), finespun::RunError>, part: &str| {
        let text = result.unwrap_err().to_string();
        assert!(text.contains(part), "{text}");
    };
    says(runtime.try_run(beyond(3, 0)), "there is no element (3, 0) in a matrix of 3 x 4");
    says(runtime.try_run(beyond(0, 4)), "there is no element (0, 4) in a matrix of 3 x 4");
    says(runtime.try_run(no_row()), "there is no row 3 in a matrix of 3 x 4");
    says(runtime.try_run(no_tile()), "a tile has at least one row and one column: this says 2 x 0");
    says(runtime.try_run(too_large()), "is too large");
    assert_eq!(runtime.run(empty()), 0);
}
