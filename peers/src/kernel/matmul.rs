//! C += A B by quadrants, on matrices stored by quadrants.
//!
//! A matrix of side `n` is a slice of `n * n` numbers: its four quadrants one after the
//! other (top left, top right, bottom left, bottom right), each stored in the same way,
//! down to tiles of [`SIDE`] x [`SIDE`] in row order. So a matrix is split by splitting
//! a slice, in safe code and without strides.

use std::hint::black_box;

/// The side of a tile.
pub const SIDE: usize = 32;

/// The number of elements of a tile.
pub const TILE: usize = SIDE * SIDE;

/// Returns the quadrants of a matrix.
#[inline]
pub fn quadrants(matrix: &[f64]) -> [&[f64]; 4] {
    let (top, bottom) = matrix.split_at(matrix.len() / 2);
    let (top_left, top_right) = top.split_at(top.len() / 2);
    let (bottom_left, bottom_right) = bottom.split_at(bottom.len() / 2);
    [top_left, top_right, bottom_left, bottom_right]
}

/// Returns the mutable quadrants of a matrix.
#[inline]
pub fn quadrants_mut(matrix: &mut [f64]) -> [&mut [f64]; 4] {
    let (top, bottom) = matrix.split_at_mut(matrix.len() / 2);
    let (top_left, top_right) = top.split_at_mut(top.len() / 2);
    let (bottom_left, bottom_right) = bottom.split_at_mut(bottom.len() / 2);
    [top_left, top_right, bottom_left, bottom_right]
}

/// Computes C += A B for one tile each.
///
/// # Panics
///
/// Panics if a slice is not one tile.
#[inline(never)]
pub fn multiply_tile(c: &mut [f64], a: &[f64], b: &[f64]) {
    const ROWS: usize = 2;
    const COLUMNS: usize = 8;
    let c: &mut [f64; TILE] = c.try_into().expect("C is one tile");
    let a: &[f64; TILE] = a.try_into().expect("A is one tile");
    let b: &[f64; TILE] = b.try_into().expect("B is one tile");
    for row in (0..SIDE).step_by(ROWS) {
        for column in (0..SIDE).step_by(COLUMNS) {
            let mut sum = [[0.0; COLUMNS]; ROWS];
            for k in 0..SIDE {
                let b_row = &b[k * SIDE + column..][..COLUMNS];
                for (i, sum) in sum.iter_mut().enumerate() {
                    let factor = a[(row + i) * SIDE + k];
                    for (sum, &b) in sum.iter_mut().zip(b_row) {
                        *sum += factor * b;
                    }
                }
            }
            for (i, sum) in sum.iter().enumerate() {
                let c_row = &mut c[(row + i) * SIDE + column..][..COLUMNS];
                for (c, sum) in c_row.iter_mut().zip(sum) {
                    *c += sum;
                }
            }
        }
    }
}

/// A product to compute and to check: small whole numbers, so that every sum is exact.
pub struct Product {
    side: usize,
    /// The left factor.
    pub a: Vec<f64>,
    /// The right factor.
    pub b: Vec<f64>,
    /// The product, zero until computed.
    pub c: Vec<f64>,
}

impl Product {
    /// Creates two factors of `side` x `side`; `side` is [`SIDE`] times a power of two.
    pub fn new(side: usize) -> Self {
        assert!(side.is_multiple_of(SIDE) && (side / SIDE).is_power_of_two());
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        let mut digit = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 60) as f64 - 8.0
        };
        Self {
            side,
            a: (0..side * side).map(|_| digit()).collect(),
            b: (0..side * side).map(|_| digit()).collect(),
            // Writes the zeros: the system would create the pages of `vec![0.0; n]`
            // during the timed run.
            c: (0..side * side).map(|_| black_box(0.0)).collect(),
        }
    }

    /// Performs Freivalds' check, C x = A (B x), which is exact since all numbers are
    /// whole and small.
    pub fn is_right(&self) -> bool {
        let x: Vec<f64> = (0..self.side).map(|i| (i * 7 % 11) as f64 - 5.0).collect();
        let bx = times_vector(&self.b, &x);
        times_vector(&self.c, &x) == times_vector(&self.a, &bx)
    }
}

/// Returns the matrix times a vector.
fn times_vector(matrix: &[f64], x: &[f64]) -> Vec<f64> {
    if matrix.len() == TILE {
        let row_times_x = |row: &[f64]| row.iter().zip(x).map(|(a, x)| a * x).sum();
        return matrix.chunks_exact(SIDE).map(row_times_x).collect();
    }
    let (left, right) = x.split_at(x.len() / 2);
    let [top_left, top_right, bottom_left, bottom_right] = quadrants(matrix);
    let half = |l: &[f64], r: &[f64]| {
        let (l, r) = (times_vector(l, left), times_vector(r, right));
        l.into_iter().zip(r).map(|(l, r)| l + r).collect::<Vec<_>>()
    };
    let mut product = half(top_left, top_right);
    product.extend(half(bottom_left, bottom_right));
    product
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_check_tells_right_from_wrong() {
        let mut product = Product::new(SIDE);
        assert!(!product.is_right());
        multiply_tile(&mut product.c, &product.a, &product.b);
        assert!(product.is_right());
        product.c[17] += 1.0;
        assert!(!product.is_right());
    }
}
