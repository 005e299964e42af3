//! Java Grande's SparseMatmult: a random matrix, multiplied by the same vector repeatedly.

use finespun::istructure::{Counts, IArray};
use finespun::layout;
use finespun::objects::Replicated;
use finespun::prelude::*;

use crate::densemm::Form;
use crate::rows::{self, Rows};
use crate::sparse::{Sparse, shares};

/// The parameters of a random matrix and its products.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Problem {
    /// Rows and columns.
    pub rows: usize,
    /// Number of entries. Several entries may have the same place; their values add up.
    pub nonzeros: usize,
    /// Number of times that the product is added to the result.
    pub times: u32,
}

/// A drawn matrix and vector.
#[derive(Clone, Debug)]
pub struct Drawn {
    /// The matrix, the entries of each row in the order in which they were drawn.
    pub matrix: Sparse,
    /// The vector.
    pub vector: Vec<f64>,
    /// The row of each entry, in the order in which they were drawn.
    order: Vec<u32>,
}

/// The random numbers of `java.util.Random`.
struct Numbers(u64);

impl Numbers {
    const FACTOR: u64 = 0x5_DEEC_E66D;

    fn bits(&mut self, bits: u32) -> u64 {
        self.0 = self.0.wrapping_mul(Numbers::FACTOR).wrapping_add(0xB) & ((1 << 48) - 1);
        self.0 >> (48 - bits)
    }

    /// Draws a number between 0 and 1.
    fn real(&mut self) -> f64 {
        let high = self.bits(26) << 27;
        (high + self.bits(27)) as f64 / (1u64 << 53) as f64
    }

    /// Draws the absolute value of a 32-bit integer, modulo `below`.
    fn whole(&mut self, below: usize) -> u32 {
        (self.bits(32) as u32).cast_signed().unsigned_abs() % below as u32
    }
}

impl Drawn {
    /// Draws the vector, and then row, column and value of each entry.
    pub fn draw(problem: &Problem) -> Drawn {
        let mut numbers = Numbers(10_101_010 ^ Numbers::FACTOR);
        let vector = (0..problem.rows).map(|_| numbers.real() * 1e-6).collect();
        let mut rows = vec![Vec::new(); problem.rows];
        let mut order = Vec::with_capacity(problem.nonzeros);
        for _ in 0..problem.nonzeros {
            let (row, column) = (numbers.whole(problem.rows), numbers.whole(problem.rows));
            rows[row as usize].push((column, numbers.real()));
            order.push(row);
        }
        Drawn { matrix: Sparse::from_rows(problem.rows, rows), vector, order }
    }

    /// Returns the total that the original program checks: the sum, over all entries, of the result's element in the
    /// entry's row.
    pub fn total(&self, result: &[f64]) -> f64 {
        self.order.iter().fold(0.0, |sum, &row| sum + result[row as usize])
    }
}

/// Computes the result by loops.
pub fn plain(drawn: &Drawn, times: u32) -> Vec<f64> {
    let mut result = vec![0.0; drawn.matrix.rows()];
    for _ in 0..times {
        for (row, sum) in result.iter_mut().enumerate() {
            for at in drawn.matrix.entries(row) {
                *sum += drawn.vector[drawn.matrix.column(at)] * drawn.matrix.value(at);
            }
        }
    }
    result
}

/// The matrix and the vector, spread over the nodes.
pub struct Spread {
    owners: Replicated<Vec<Ref<Rows>>>,
    array: Option<IArray<f64>>,
    /// The elements of the vector that each node writes.
    parts: Vec<Vec<f64>>,
}

/// Distributes matrix and vector over the nodes, by rows in blocks of nearly equal size.
#[task]
pub async fn spread(drawn: &Drawn, form: Form, counted: bool) -> Spread {
    let len = drawn.vector.len();
    let array = match form {
        Form::Split => None,
        Form::Arrays(cache) => {
            let array = IArray::create(len, layout::block(len, nodes())).cached(cache);
            Some(if counted { array.counted().await } else { array.await })
        }
    };
    let owners = Replicated::new(rows::spread(&drawn.matrix).await);
    let parts: Vec<Vec<f64>> = shares(len, nodes()).into_iter().map(|share| drawn.vector[share].to_vec()).collect();
    Spread { owners, array, parts }
}

/// Writes the vector, multiplies `times` times, and returns the result. Call it once only.
#[task]
pub async fn repeat(spread: &mut Spread, times: u32) -> Vec<f64> {
    let parts = std::mem::take(&mut spread.parts);
    let owners = spread.owners.iter().zip(parts);
    let results: Vec<Vec<f64>> = match spread.array {
        Some(array) => join_all(owners.map(|(owner, own)| owner.multiply(array, own, times))).await,
        None => {
            join_all(owners.map(|(owner, own)| owner.set(own))).await;
            let all = &spread.owners;
            join_all(all.iter().map(|owner| owner.multiply_by_requests(all.clone(), times))).await
        }
    };
    results.concat()
}

/// Frees matrix and vector. Returns each node's counts of reads of the vector: zeros if the array is not counted, none
/// without an array.
#[task]
pub async fn free_spread(spread: Spread) -> Vec<Counts> {
    let mut counts = Vec::new();
    if let Some(array) = spread.array {
        counts = array.counts().await;
        array.free().await;
    }
    for &owner in spread.owners.iter() {
        Ref::free(owner).await;
    }
    counts
}
