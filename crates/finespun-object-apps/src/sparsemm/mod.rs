//! Products of sparse matrices with rows distributed over the nodes.
//!
//! The fourth benchmark of the I-structure software cache (i-structure-software-cache, section 3.2, tables 2 and 4).
//! Each node computes the rows of the product that it owns. Two problems:
//!
//! - [`multiply`]: a matrix times its transpose, row by row (Gustavson's algorithm): each entry of a row of the left
//!   factor selects a row of the right factor, whose starts, columns and values are read element by element. Rows of
//!   the product are sorted, not summed in a full row: many rows wait at the same time.
//! - [`repeat`]: Java Grande's SparseMatmult, a random matrix that is multiplied by the same vector repeatedly. The
//!   vector is read element by element.
//!
//! The three forms are the same as in [`densemm`](crate::densemm).
//!
//! Answers: WELL1850 (1850 x 712, from the Harwell-Boeing collection) times its transpose has 522,902 nonzeros, the
//! transpose times the matrix 9,046, both the Frobenius norm 31.9198831232809; ILLC1850 has 523,012, 9,060 and
//! 36.5873705488902 (scipy, which drops terms that cancel exactly: 523,012 and 9,126 entries have terms in both). Java
//! Grande's totals after 200 times are 75.02484945753453 (50,000 rows, 250,000 entries), 150.0130719633895 and
//! 749.5245870753752 (twice and ten times both).

mod market;
mod product;
mod repeated;

pub use market::{MarketError, open};
pub use product::{Factors, Owner, Sums, counts, create, free, multiplications, multiply, plain, sums};
pub use repeated::{Drawn, Problem, Spread, free_spread, plain as plain_repeat, repeat, spread};

#[cfg(test)]
mod tests;
