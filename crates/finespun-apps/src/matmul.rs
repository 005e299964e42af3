//! Dense matrix multiplication by divide and conquer.
//!
//! A [`Matrix`] is stored in tiles of 32 x 32 along a Z-order curve, so each quadrant of each quadrant is one
//! contiguous slice: `split_at_mut` alone divides the output among four branches, quarter by quarter. A branch with a
//! single tile computes it as a row of tiles times a column of tiles, with the same kernel in both versions.
//!
//! Answers: with the integer matrices of [`sample_a`] and [`sample_b`] all sums are exact: n = 512 has sum 94, trace
//! 112 and sum of squares 490,331,390; n = 1024 has -154, 107 and 3,614,277,906 (computed independently in 64-bit
//! integers).

use finespun::prelude::*;
use finespun::simulation;

/// Number of rows and columns of a tile.
pub const TILE: usize = 32;
const TILE_LEN: usize = TILE * TILE;

type Tile = [f64; TILE_LEN];

/// A square matrix of `f64`, stored by tiles along a Z-order curve and padded with zeros to 32 * 2^k rows and columns.
///
/// The padding costs memory and time: 520 rows are computed as 1024. Sizes of 32 * 2^k have none.
#[derive(Clone, Debug, PartialEq)]
pub struct Matrix {
    size: usize,
    side: usize,
    data: Vec<f64>,
}

impl Matrix {
    /// Makes the matrix of zeros with `size` rows and columns.
    ///
    /// # Panics
    ///
    /// Panics if `size` is zero.
    pub fn zeros(size: usize) -> Self {
        assert!(size > 0, "a matrix has at least one row");
        let side = size.div_ceil(TILE).next_power_of_two() * TILE;
        Matrix { size, side, data: vec![0.0; side * side] }
    }

    /// Makes the matrix whose element in row i, column j is `element(i, j)`.
    ///
    /// # Panics
    ///
    /// Panics if `size` is zero.
    pub fn from_fn(size: usize, mut element: impl FnMut(usize, usize) -> f64) -> Self {
        let mut matrix = Self::zeros(size);
        for row in 0..size {
            for column in 0..size {
                matrix.data[offset(row, column)] = element(row, column);
            }
        }
        matrix
    }

    /// Makes the matrix with these elements, row by row.
    ///
    /// # Panics
    ///
    /// Panics if `size` is zero or `elements` does not hold `size * size` numbers.
    pub fn from_rows(size: usize, elements: &[f64]) -> Self {
        assert_eq!(elements.len(), size * size, "{size} rows of {size} need {} numbers", size * size);
        Self::from_fn(size, |row, column| elements[row * size + column])
    }

    /// Returns the elements, row by row.
    pub fn to_rows(&self) -> Vec<f64> {
        self.elements().collect()
    }

    /// Returns the number of rows, which is also the number of columns.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Returns the element in row `row`, column `column`.
    ///
    /// # Panics
    ///
    /// Panics if the row or column does not exist.
    pub fn get(&self, row: usize, column: usize) -> f64 {
        assert!(row < self.size && column < self.size, "no element {row}, {column} in {0} x {0}", self.size);
        self.data[offset(row, column)]
    }

    /// Returns the sum of all elements.
    pub fn sum(&self) -> f64 {
        self.elements().sum()
    }

    /// Returns the sum of the diagonal.
    pub fn trace(&self) -> f64 {
        (0..self.size).map(|i| self.get(i, i)).sum()
    }

    /// Returns the sum of the squares of all elements.
    pub fn sum_of_squares(&self) -> f64 {
        self.elements().map(|x| x * x).sum()
    }

    fn elements(&self) -> impl Iterator<Item = f64> {
        (0..self.size).flat_map(move |row| (0..self.size).map(move |column| self.data[offset(row, column)]))
    }

    fn tile(&self, row: u32, column: u32) -> &Tile {
        let start = interleave(row, column) * TILE_LEN;
        as_tile(&self.data[start..start + TILE_LEN])
    }
}

/// Returns the index of row `row`, column `column`: tiles are ordered along the curve, elements row by row inside the
/// tile.
fn offset(row: usize, column: usize) -> usize {
    let tile = interleave((row / TILE) as u32, (column / TILE) as u32);
    tile * TILE_LEN + (row % TILE) * TILE + column % TILE
}

/// Returns the index of a tile on the curve: the bits of row and column interleaved, the row's above the column's.
fn interleave(row: u32, column: u32) -> usize {
    fn spread(bits: u32) -> u64 {
        let mut x = u64::from(bits);
        x = (x | x << 16) & 0x0000_ffff_0000_ffff;
        x = (x | x << 8) & 0x00ff_00ff_00ff_00ff;
        x = (x | x << 4) & 0x0f0f_0f0f_0f0f_0f0f;
        x = (x | x << 2) & 0x3333_3333_3333_3333;
        (x | x << 1) & 0x5555_5555_5555_5555
    }
    (spread(row) << 1 | spread(column)) as usize
}

/// Returns the first matrix of the sample: integers from -5 to 5, ((7 i + 3 j) mod 11) - 5.
pub fn sample_a(size: usize) -> Matrix {
    Matrix::from_fn(size, |i, j| ((7 * i + 3 * j) % 11) as f64 - 5.0)
}

/// Returns the second matrix of the sample: integers from -8 to 8, ((5 i + 13 j) mod 17) - 8.
pub fn sample_b(size: usize) -> Matrix {
    Matrix::from_fn(size, |i, j| ((5 * i + 13 * j) % 17) as f64 - 8.0)
}

/// Returns the number of floating-point operations of a product, padding included.
pub fn operations(matrix: &Matrix) -> f64 {
    2.0 * (matrix.side as f64).powi(3)
}

/// Computes c += a b sequentially.
///
/// # Panics
///
/// Panics if the sizes differ.
pub fn plain(a: &Matrix, b: &Matrix, c: &mut Matrix) {
    fn quarter(a: &Matrix, b: &Matrix, row: u32, column: u32, c: &mut [f64]) {
        if c.len() == TILE_LEN {
            return row_times_column(a, b, row, column, c);
        }
        let (c00, c01, c10, c11) = quarters(c);
        let (row, column) = (2 * row, 2 * column);
        quarter(a, b, row, column, c00);
        quarter(a, b, row, column + 1, c01);
        quarter(a, b, row + 1, column, c10);
        quarter(a, b, row + 1, column + 1, c11);
    }
    quarter(a, b, 0, 0, output(a, b, c));
}

/// Computes c += a b; the four quadrants of c may be computed in parallel.
///
/// Each element is added up in the same order as in [`plain`]: the results are bitwise equal.
///
/// # Panics
///
/// Panics if the sizes differ.
#[task]
pub async fn multiply(a: &Matrix, b: &Matrix, c: &mut Matrix) {
    quarter(a, b, 0, 0, output(a, b, c)).await
}

/// Adds its share of a b to `c`, the quarter of the output at position (`row`, `column`) of its level.
#[task]
pub async fn quarter(a: &Matrix, b: &Matrix, row: u32, column: u32, c: &mut [f64]) {
    if c.len() == TILE_LEN {
        // A multiplication and an addition for each element of the rows.
        simulation::compute(2 * (TILE_LEN * a.size()) as u64);
        return row_times_column(a, b, row, column, c);
    }
    let (c00, c01, c10, c11) = quarters(c);
    let (row, column) = (2 * row, 2 * column);
    join!(
        quarter(a, b, row, column, c00),
        quarter(a, b, row, column + 1, c01),
        quarter(a, b, row + 1, column, c10),
        quarter(a, b, row + 1, column + 1, c11),
    );
}

/// Returns the whole output, after a check that the sizes match.
fn output<'c>(a: &Matrix, b: &Matrix, c: &'c mut Matrix) -> &'c mut [f64] {
    assert!(a.size == b.size && b.size == c.size, "the sizes differ: {} times {} into {}", a.size, b.size, c.size);
    &mut c.data
}

/// Returns the quadrants of a square part: upper left, upper right, lower left, lower right.
fn quarters(c: &mut [f64]) -> (&mut [f64], &mut [f64], &mut [f64], &mut [f64]) {
    let (upper, lower) = c.split_at_mut(c.len() / 2);
    let (c00, c01) = upper.split_at_mut(upper.len() / 2);
    let (c10, c11) = lower.split_at_mut(lower.len() / 2);
    (c00, c01, c10, c11)
}

/// Adds to the tile `c` at (`row`, `column`) the products of a's tiles in that row with b's tiles in that column.
fn row_times_column(a: &Matrix, b: &Matrix, row: u32, column: u32, c: &mut [f64]) {
    let c: &mut Tile = c.try_into().expect("the last quarter is one tile");
    for k in 0..(a.side / TILE) as u32 {
        kernel(a.tile(row, k), b.tile(k, column), c);
    }
}

fn as_tile(slice: &[f64]) -> &Tile {
    slice.try_into().expect("a tile's slice")
}

/// Computes c += a b for one tile: blocks of 4 x 4 elements of c stay in registers for a whole row of a.
#[inline(never)]
fn kernel(a: &Tile, b: &Tile, c: &mut Tile) {
    const ROWS: usize = 4;
    const COLUMNS: usize = 4;
    for j in (0..TILE).step_by(COLUMNS) {
        for i in (0..TILE).step_by(ROWS) {
            let mut sum = [[0.0; COLUMNS]; ROWS];
            for k in 0..TILE {
                let b: &[f64; COLUMNS] = b[k * TILE + j..][..COLUMNS].try_into().expect("inside the tile");
                for (r, sum) in sum.iter_mut().enumerate() {
                    let a = a[(i + r) * TILE + k];
                    for (sum, b) in sum.iter_mut().zip(b) {
                        *sum += a * b;
                    }
                }
            }
            for (r, sum) in sum.iter().enumerate() {
                for (c, sum) in c[(i + r) * TILE + j..][..COLUMNS].iter_mut().zip(sum) {
                    *c += sum;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Matrix, plain, sample_a, sample_b};

    fn product(n: usize) -> Matrix {
        let mut c = Matrix::zeros(n);
        plain(&sample_a(n), &sample_b(n), &mut c);
        c
    }

    #[test]
    fn agrees_with_the_definition_at_any_size() {
        for n in [1, 2, 31, 32, 33, 64, 65, 100] {
            let (a, b, c) = (sample_a(n), sample_b(n), product(n));
            for i in 0..n {
                for j in 0..n {
                    let element: f64 = (0..n).map(|k| a.get(i, k) * b.get(k, j)).sum();
                    assert_eq!(c.get(i, j), element, "{i}, {j} of {n}");
                }
            }
        }
    }

    #[test]
    #[cfg_attr(debug_assertions, ignore = "6 s without a release build")]
    fn exact_sums() {
        let c = product(512);
        assert_eq!((c.sum(), c.trace(), c.sum_of_squares()), (94.0, 112.0, 490_331_390.0));
    }

    #[test]
    fn from_rows_and_to_rows_round_trip() {
        let rows: Vec<f64> = (0..70 * 70).map(f64::from).collect();
        let matrix = Matrix::from_rows(70, &rows);
        assert_eq!(matrix.to_rows(), rows);
        assert_eq!(matrix.get(3, 5), 215.0);
    }

    #[test]
    #[should_panic(expected = "the sizes differ: 2 times 3 into 2")]
    fn different_sizes_panic() {
        plain(&sample_a(2), &sample_b(3), &mut Matrix::zeros(2));
    }
}
