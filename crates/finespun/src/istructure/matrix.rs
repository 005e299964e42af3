//! Write-once matrices, by rows or by tiles.

use std::fmt;
use std::panic::Location;

use serde::{Deserialize, Serialize};
use zerocopy::{FromBytes, Immutable, IntoBytes};

use super::create::{Creates, Kind};
use super::plain::PlainData;
use super::{Cache, Creating, Freeing, Get, GetMany, IArray, Put};
use crate::call::located;
use crate::call::outcome::Outcome;
use crate::call::{Task, call_async, sealed};
use crate::frame::context::Cx;
use crate::frame::{CallSite, FrameRef};
use crate::layout;
use crate::object::{Portable, nodes};

/// A matrix whose elements are written once, spread over the nodes by rows or by tiles: an [`IArray`] with two indices.
/// Like an `IArray`, a handle.
///
/// ```
/// use finespun::istructure::IMatrix;
/// use finespun::prelude::*;
///
/// /// Each element is the sum of those above it and to its left.
/// #[task]
/// async fn compute(all: IMatrix<u64>, i: usize, j: usize) {
///     let value = match (i, j) {
///         (0, _) | (_, 0) => 1,
///         _ => all.get(i - 1, j).await + all.get(i, j - 1).await,
///     };
///     all.put(i, j, value).await;
/// }
///
/// #[task]
/// async fn pascal(side: usize) -> Vec<u64> {
///     let all = IMatrix::by_rows(side, side).await;
///     parfor(0..side * side, |k| compute(all, k / side, k % side)).await;
///     let last = all.get_row(side - 1).await;
///     all.free().await;
///     last
/// }
/// # let runtime = Runtime::builder().workers(1).nodes(3).build().unwrap();
/// assert_eq!(runtime.run(pascal(4)), [1, 4, 10, 20]);
/// ```
#[derive(Serialize, Deserialize)]
#[serde(bound(serialize = "", deserialize = "T: 'static"))]
pub struct IMatrix<T> {
    all: IArray<T>,
    order: Order,
}

/// The order of the matrix's elements in the array: tile after tile, and each tile row by row. Without tiles, each row
/// of the matrix is a tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Order {
    rows: usize,
    columns: usize,
    /// Rows and columns of a tile; a tile at an edge may be smaller.
    tile: Option<(usize, usize)>,
}

impl Order {
    /// Returns the index of an element, which must exist.
    fn index(&self, i: usize, j: usize) -> usize {
        let Some((rows, columns)) = self.tile else { return i * self.columns + j };
        let (first_row, first_column) = (i / rows * rows, j / columns * columns);
        let height = rows.min(self.rows - first_row);
        let width = columns.min(self.columns - first_column);
        first_row * self.columns + first_column * height + (i - first_row) * width + (j - first_column)
    }

    /// Returns the number of the tile of an index, and the number of tiles.
    fn tile(&self, index: usize) -> (usize, usize) {
        let (rows, columns) = self.tile.unwrap_or((1, self.columns));
        let across = self.columns.div_ceil(columns);
        let first_row = index / (rows * self.columns) * rows;
        let height = rows.min(self.rows - first_row);
        let column = (index - first_row * self.columns) / (columns * height);
        (first_row / rows * across + column, self.rows.div_ceil(rows) * across)
    }
}

impl<T: Portable + Clone> IMatrix<T> {
    /// Makes a matrix whose rows are spread over the nodes as evenly as possible: each node has consecutive rows.
    ///
    /// # Panics
    /// Outside a task, and as [`IArray::create`].
    #[track_caller]
    pub fn by_rows(rows: usize, columns: usize) -> CreatingMatrix<IArray<T>> {
        CreatingMatrix::new(Order { rows, columns, tile: None }, Location::caller())
    }

    /// Makes a matrix whose tiles, each of `tile.0` rows and `tile.1` columns, are spread over the nodes as evenly as
    /// possible: each node has consecutive tiles, counted along the rows of tiles. Tiles at the edges may be smaller.
    ///
    /// # Panics
    /// If a tile has no rows or columns; outside a task, and as [`IArray::create`].
    #[track_caller]
    pub fn by_tiles(rows: usize, columns: usize, tile: (usize, usize)) -> CreatingMatrix<IArray<T>> {
        assert!(
            tile.0 > 0 && tile.1 > 0,
            "a tile has at least one row and one column: this says {} x {}",
            tile.0,
            tile.1
        );
        // A tile is cut to the size of the matrix.
        let tile = (tile.0.min(rows.max(1)), tile.1.min(columns.max(1)));
        CreatingMatrix::new(Order { rows, columns, tile: Some(tile) }, Location::caller())
    }

    /// Delivers the element in row `i` and column `j`: like [`IArray::get`].
    ///
    /// # Panics
    /// If the indices are out of range, and as [`IArray::get`].
    #[inline]
    #[track_caller]
    pub fn get(self, i: usize, j: usize) -> Get<T> {
        self.all.get(self.index(i, j))
    }

    /// Writes the element in row `i` and column `j`: like [`IArray::put`].
    ///
    /// # Panics
    /// If the indices are out of range, and as [`IArray::put`].
    #[inline]
    #[track_caller]
    pub fn put(self, i: usize, j: usize, value: T) -> Put<T> {
        self.all.put(self.index(i, j), value)
    }

    /// Delivers a row: like [`IArray::get_many`].
    ///
    /// # Panics
    /// If `i` is out of range, and as [`IArray::get`].
    #[track_caller]
    pub fn get_row(self, i: usize) -> GetMany<T, RowOrColumn> {
        assert!(i < self.order.rows, "there is no row {i} in a matrix of {self}");
        self.all.get_many(RowOrColumn { order: self.order, i, j: 0, along_row: true })
    }

    /// Delivers a column: like [`IArray::get_many`].
    ///
    /// # Panics
    /// If `j` is out of range, and as [`IArray::get`].
    #[track_caller]
    pub fn get_column(self, j: usize) -> GetMany<T, RowOrColumn> {
        assert!(j < self.order.columns, "there is no column {j} in a matrix of {self}");
        self.all.get_many(RowOrColumn { order: self.order, i: 0, j, along_row: false })
    }

    /// Frees the matrix on all nodes. Tasks that wait for an element panic.
    ///
    /// # Panics
    /// If the matrix has been freed already.
    #[track_caller]
    pub fn free(self) -> Freeing<IArray<T>> {
        self.all.free()
    }
}

impl<T> IMatrix<T> {
    /// Returns the number of rows.
    pub fn rows(self) -> usize {
        self.order.rows
    }

    /// Returns the number of columns.
    pub fn columns(self) -> usize {
        self.order.columns
    }

    /// Returns the elements as an array, in their order in memory: row by row; or by tiles, one tile after the other,
    /// and each tile row by row.
    pub fn array(self) -> IArray<T> {
        self.all
    }

    /// Returns the index in [`array`](IMatrix::array) of the element in row `i` and column `j`.
    ///
    /// # Panics
    /// If the indices are out of range.
    #[inline]
    #[track_caller]
    pub fn index(self, i: usize, j: usize) -> usize {
        assert!(i < self.order.rows && j < self.order.columns, "there is no element ({i}, {j}) in a matrix of {self}");
        self.order.index(i, j)
    }
}

/// Shows the numbers of rows and columns.
impl<T> fmt::Display for IMatrix<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} x {}", self.order.rows, self.order.columns)
    }
}

impl<T> fmt::Debug for IMatrix<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IMatrix").field("all", &self.all).field("order", &self.order).finish()
    }
}

impl<T> Clone for IMatrix<T> {
    fn clone(&self) -> IMatrix<T> {
        *self
    }
}

impl<T> Copy for IMatrix<T> {}

impl<T> PartialEq for IMatrix<T> {
    fn eq(&self, other: &IMatrix<T>) -> bool {
        self.all == other.all
    }
}

impl<T> Eq for IMatrix<T> {}

/// The indices of a row or a column.
#[derive(Clone, Debug)]
pub struct RowOrColumn {
    order: Order,
    i: usize,
    j: usize,
    along_row: bool,
}

impl Iterator for RowOrColumn {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        if self.i >= self.order.rows || self.j >= self.order.columns {
            return None;
        }
        let index = self.order.index(self.i, self.j);
        *if self.along_row { &mut self.j } else { &mut self.i } += 1;
        Some(index)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = if self.along_row { self.order.columns - self.j } else { self.order.rows - self.i };
        (left, Some(left))
    }
}

/// The task that [`IMatrix::by_rows`] and [`IMatrix::by_tiles`] make.
#[must_use = "nothing is made until this is awaited"]
pub struct CreatingMatrix<A> {
    all: Creating<A>,
    order: Order,
}

impl<T: Portable + Clone> CreatingMatrix<IArray<T>> {
    fn new(order: Order, place: CallSite) -> CreatingMatrix<IArray<T>> {
        let len = order.rows.checked_mul(order.columns);
        let len =
            len.unwrap_or_else(|| panic!("a matrix of {} x {} is too large, at {place}", order.rows, order.columns));
        let nodes = nodes();
        let layout = |index| {
            let (tile, tiles) = order.tile(index);
            layout::block(tiles, nodes)(tile)
        };
        CreatingMatrix { all: Creating::new(len, layout, place), order }
    }
}

impl<T, A: Creates<Handle = IArray<T>>> CreatingMatrix<A> {
    /// Sets how nodes keep elements that they have read from others: like [`Creating::cached`].
    ///
    /// # Panics
    /// As [`Creating::cached`].
    #[track_caller]
    pub fn cached(self, cache: Cache) -> CreatingMatrix<A> {
        CreatingMatrix { all: self.all.cached(cache), ..self }
    }

    /// Counts the matrix's reads: like [`Creating::counted`].
    pub fn counted(self) -> CreatingMatrix<A> {
        CreatingMatrix { all: self.all.counted(), ..self }
    }
}

impl<T> CreatingMatrix<IArray<T>> {
    /// Sends elements as their bytes in memory instead of by serde: like [`Creating::plain`].
    pub fn plain(self) -> CreatingMatrix<PlainData<T>>
    where
        T: FromBytes + IntoBytes + Immutable,
    {
        CreatingMatrix { all: self.all.plain(), order: self.order }
    }
}

impl<A> sealed::Sealed for CreatingMatrix<A> {}
impl<T: Portable + Clone, A: Kind<Handle = IArray<T>>> Task for CreatingMatrix<A> {
    type Output = IMatrix<T>;
    const STRAIGHT: bool = false;

    unsafe fn call(self, cx: Cx) -> Outcome<IMatrix<T>> {
        let CreatingMatrix { all, order } = self;
        // SAFETY: awaited at once in a task's body, as `call_async` demands.
        located::poll_here(async move { IMatrix { all: unsafe { call_async(all) }.await, order } }, cx)
    }

    /// Starts as a located frame on this worker: a thief would send the messages by another route.
    fn start(self, cx: Cx) -> FrameRef {
        located::start(cx, self)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::Order;

    #[test]
    fn every_element_has_a_unique_index() {
        for (rows, columns) in [(1, 1), (4, 6), (7, 5), (1, 9), (9, 1)] {
            for tile in [None, Some((1, 1)), Some((2, 3)), Some((3, 2)), Some((4, 20)), Some((20, 4))] {
                let order = Order { rows, columns, tile };
                let mut tiles = vec![None; rows * columns];
                for i in 0..rows {
                    for j in 0..columns {
                        let index = order.index(i, j);
                        let (height, width) = tile.unwrap_or((1, columns));
                        let number = i / height * columns.div_ceil(width) + j / width;
                        assert_eq!(order.tile(index), (number, rows.div_ceil(height) * columns.div_ceil(width)));
                        assert_eq!(tiles[index].replace(number), None, "{order:?} at ({i}, {j})");
                    }
                }
                assert!(tiles.is_sorted(), "{order:?}: {tiles:?}");
            }
        }
    }
}
