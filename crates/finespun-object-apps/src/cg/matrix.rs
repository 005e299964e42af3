//! The matrix of NAS CG: a sum of outer products of random sparse vectors.

use crate::sparse::{Sparse, compress};

/// The condition number of the matrix is about the inverse of this constant.
const RCOND: f64 = 0.1;

/// The random numbers of the NAS benchmarks: a multiplicative congruential generator modulo 2^46.
struct Numbers(u64);

impl Numbers {
    /// Draws the next number, between 0 and 1.
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(1_220_703_125) & ((1 << 46) - 1);
        self.0 as f64 / (1u64 << 46) as f64
    }

    /// Draws a vector of `len` elements: `nonzeros` random elements at random places, and 1/2 at `center`.
    fn vector(&mut self, len: usize, nonzeros: usize, center: usize) -> Vec<(usize, f64)> {
        let most = len.next_power_of_two() as f64;
        let mut vector: Vec<(usize, f64)> = Vec::new();
        while vector.len() < nonzeros {
            let (value, place) = (self.next(), (most * self.next()) as usize);
            if place < len && vector.iter().all(|&(known, _)| known != place) {
                vector.push((place, value));
            }
        }
        match vector.iter_mut().find(|(place, _)| *place == center) {
            Some((_, value)) => *value = 0.5,
            None => vector.push((center, 0.5)),
        }
        vector
    }
}

/// Makes the matrix. Entries are added up in the order of the original program, so the bits are the same.
pub(super) fn generate(rows: usize, nonzeros: usize, shift: f64) -> Sparse {
    let mut numbers = Numbers(314_159_265);
    // The original program draws one number first.
    numbers.next();
    let mut matrix = vec![Vec::new(); rows];
    let (mut size, ratio) = (1.0, RCOND.powf(1.0 / rows as f64));
    for center in 0..rows {
        let vector = numbers.vector(rows, nonzeros, center);
        for &(row, value) in &vector {
            let scale = size * value;
            for &(column, value) in &vector {
                let term = value * scale;
                let on_diagonal = row == column && row == center;
                matrix[row].push((column as u32, if on_diagonal { term + RCOND - shift } else { term }));
            }
        }
        size *= ratio;
    }
    Sparse::from_rows(rows, matrix.into_iter().map(compress))
}
