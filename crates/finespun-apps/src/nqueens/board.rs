//! The same count with the classical state: an array of the queens' columns, copied into each child.
//!
//! Benchmarks of other runtimes use this form (they often allocate the array for each child; here it is a value of 24
//! bytes). It tests a candidate square against every earlier row.

use finespun::prelude::*;

/// The largest board of this form: one byte per row.
pub const MAX_QUEENS: u32 = 16;

/// The column of the queen of each row placed so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Board {
    queens: [u8; 16],
    rows: u32,
    size: u32,
}

impl Board {
    /// Makes the empty board with `n` columns.
    ///
    /// # Panics
    ///
    /// Panics if `n` is above [`MAX_QUEENS`].
    pub fn empty(n: u32) -> Self {
        assert!(n <= MAX_QUEENS, "{n} queens: the board by value has at most {MAX_QUEENS} columns");
        Board { queens: [0; 16], rows: 0, size: n }
    }

    /// Returns whether every row has its queen.
    #[inline]
    pub fn complete(&self) -> bool {
        self.rows == self.size
    }

    /// Returns whether no earlier queen attacks the square in the next row at `column`.
    #[inline]
    pub fn safe(&self, column: u32) -> bool {
        let mut distance = self.rows;
        for &queen in &self.queens[..self.rows as usize] {
            let apart = column.abs_diff(u32::from(queen));
            if apart == 0 || apart == distance {
                return false;
            }
            distance -= 1;
        }
        true
    }

    /// Returns the board with another queen, in the next row at `column`.
    #[inline]
    #[must_use]
    pub fn place(mut self, column: u32) -> Self {
        self.queens[self.rows as usize] = column as u8;
        self.rows += 1;
        self
    }
}

/// Returns the number of solutions for `n` queens, sequentially.
///
/// # Panics
///
/// Panics if `n` is above [`MAX_QUEENS`].
pub fn plain(n: u32) -> u64 {
    fn count(board: Board) -> u64 {
        if board.complete() {
            return 1;
        }
        let mut solutions = 0;
        for column in 0..board.size {
            if board.safe(column) {
                solutions += count(board.place(column));
            }
        }
        solutions
    }
    count(Board::empty(n))
}

/// Returns the number of solutions for `n` queens, with one task per placed queen.
///
/// # Panics
///
/// Panics if `n` is above [`MAX_QUEENS`].
#[task]
pub async fn nqueens(n: u32) -> u64 {
    count(Board::empty(n)).await
}

/// Returns the number of ways to complete `board`.
#[task]
pub async fn count(board: Board) -> u64 {
    if board.complete() {
        return 1;
    }
    reduce(
        (0..board.size).filter(move |&column| board.safe(column)).map(move |column| count(board.place(column))),
        0,
        |a: u64, b: u64| a + b,
    )
    .await
}
