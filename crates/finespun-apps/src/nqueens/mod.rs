//! The number of ways to place n queens on an n x n board so that none attacks another.
//!
//! The state is three words of bits, by value: the occupied columns and diagonals. A child's state takes three shifts
//! and no heap allocation. [`board`] is the other classical form, with the board as an array that is copied into each
//! child; [`threads`] has this form with explicit closures.
//!
//! Answers: OEIS A000170: 8 queens 92, 10: 724, 12: 14,200, 13: 73,712, 14: 365,596, 15: 2,279,184, 16: 14,772,512.

pub mod board;
pub mod threads;

use finespun::prelude::*;
use serde::{Deserialize, Serialize};

use crate::bits::Bits;

/// The largest board: one bit per column of a 32-bit word.
pub const MAX_QUEENS: u32 = 32;

/// The occupied columns and diagonals, as seen from the next row: one bit per column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rows {
    all: u32,
    columns: u32,
    left: u32,
    right: u32,
}

impl Rows {
    /// Makes the empty board with `n` columns.
    ///
    /// # Panics
    ///
    /// Panics if `n` is above [`MAX_QUEENS`].
    pub fn empty(n: u32) -> Self {
        assert!(n <= MAX_QUEENS, "{n} queens: the board has at most {MAX_QUEENS} columns");
        let all = ((1u64 << n) - 1) as u32;
        Rows { all, columns: 0, left: 0, right: 0 }
    }

    /// Returns whether every row has its queen.
    #[inline]
    pub fn complete(self) -> bool {
        self.columns == self.all
    }

    /// Returns the columns of the next row that no queen attacks.
    #[inline]
    pub fn safe(self) -> u32 {
        self.all & !(self.columns | self.left | self.right)
    }

    /// Returns the board with another queen in the next row, in the column with the bit `queen`.
    #[inline]
    #[must_use]
    pub fn place(self, queen: u32) -> Self {
        Rows {
            all: self.all,
            columns: self.columns | queen,
            left: (self.left | queen) << 1,
            right: (self.right | queen) >> 1,
        }
    }
}

/// Returns the number of solutions for `n` queens, sequentially; 1 for the empty board.
///
/// # Panics
///
/// Panics if `n` is above [`MAX_QUEENS`].
pub fn plain(n: u32) -> u64 {
    fn count(rows: Rows) -> u64 {
        if rows.complete() {
            return 1;
        }
        let mut solutions = 0;
        let mut safe = rows.safe();
        while safe != 0 {
            let queen = safe & safe.wrapping_neg();
            safe ^= queen;
            solutions += count(rows.place(queen));
        }
        solutions
    }
    count(Rows::empty(n))
}

/// Returns the number of solutions for `n` queens, with one task per placed queen.
///
/// # Panics
///
/// Panics if `n` is above [`MAX_QUEENS`].
#[task]
pub async fn nqueens(n: u32) -> u64 {
    count(Rows::empty(n)).await
}

/// Returns the number of ways to complete `rows`.
#[task(portable)]
pub async fn count(rows: Rows) -> u64 {
    if rows.complete() {
        return 1;
    }
    reduce(Bits(u64::from(rows.safe())).map(move |column| count(rows.place(1 << column))), 0, |a: u64, b: u64| a + b)
        .await
}

#[cfg(test)]
mod tests {
    /// OEIS A000170.
    const SOLUTIONS: [u64; 11] = [1, 1, 0, 0, 2, 10, 4, 40, 92, 352, 724];

    #[test]
    fn both_forms_agree_with_the_known_counts() {
        for (n, &solutions) in (0..).zip(&SOLUTIONS) {
            assert_eq!(super::plain(n), solutions, "{n} queens");
            assert_eq!(super::board::plain(n), solutions, "{n} queens, board by value");
        }
    }

    #[test]
    #[should_panic(expected = "at most 32 columns")]
    fn a_board_that_is_too_wide_panics() {
        super::plain(33);
    }
}
