//! The board of the n-queens count: copied to every child, never on the heap.

/// The widest board that fits.
pub const MAX: u8 = 16;

/// A board with one queen per filled row; a child's board is its parent's with one row
/// more.
#[derive(Clone, Copy, Default)]
pub struct Board {
    columns: [u8; MAX as usize],
    rows: u8,
}

impl Board {
    /// Returns the number of filled rows.
    pub fn rows(&self) -> u8 {
        self.rows
    }

    /// Returns whether no queen attacks `column` of the next row.
    #[inline]
    pub fn is_safe(&self, column: u8) -> bool {
        let rows = self.rows;
        self.columns[..usize::from(rows)].iter().enumerate().all(|(row, &other)| {
            let distance = rows - row as u8;
            other != column && other.abs_diff(column) != distance
        })
    }

    /// Returns the board with a queen on `column` of the next row.
    #[inline]
    pub fn with(mut self, column: u8) -> Self {
        self.columns[usize::from(self.rows)] = column;
        self.rows += 1;
        self
    }
}
