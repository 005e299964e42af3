//! The product of a matrix and its transpose, row by row.

use std::ops::Range;

use finespun::istructure::{Counts, IArray};
use finespun::prelude::*;
use finespun::simulation;
use finespun::{layout, objects::Replicated};
use serde::{Deserialize, Serialize};

use crate::densemm::Form;
use crate::sparse::{Sparse, compress, shares};

/// Counts and sums over the entries of a product, or of one of its rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Sums {
    /// The number of entries.
    pub entries: u64,
    /// The number of entries whose value is not zero: the terms of an entry may cancel.
    pub nonzeros: u64,
    /// The sum of their values.
    pub sum: f64,
    /// The sum of their squares.
    pub squares: f64,
}

impl Sums {
    fn of(row: &[(u32, f64)]) -> Sums {
        let sum = row.iter().fold(0.0, |sum, (_, value)| sum + value);
        let squares = row.iter().fold(0.0, |sum, (_, value)| sum + value * value);
        let nonzeros = row.iter().filter(|(_, value)| *value != 0.0).count() as u64;
        Sums { entries: row.len() as u64, nonzeros, sum, squares }
    }

    /// Adds up rows in their order, so that the bits do not depend on the nodes.
    fn all(rows: impl IntoIterator<Item = Sums>) -> Sums {
        rows.into_iter().fold(Sums::default(), |all, row| Sums {
            entries: all.entries + row.entries,
            nonzeros: all.nonzeros + row.nonzeros,
            sum: all.sum + row.sum,
            squares: all.squares + row.squares,
        })
    }

    /// Returns the Frobenius norm: the square root of the sum of squares.
    pub fn frobenius(&self) -> f64 {
        self.squares.sqrt()
    }
}

/// Returns the number of multiplications that a product needs.
pub fn multiplications(left: &Sparse, right: &Sparse) -> u64 {
    (0..left.nonzeros()).map(|at| right.entries(left.column(at)).len() as u64).sum()
}

/// Computes the product by loops, with a full row of sums.
pub fn plain(left: &Sparse, right: &Sparse) -> Sums {
    let mut sums = vec![0.0; right.columns()];
    let mut seen = vec![usize::MAX; right.columns()];
    Sums::all((0..left.rows()).map(|row| {
        let mut columns: Vec<u32> = Vec::new();
        for at in left.entries(row) {
            for entry in right.entries(left.column(at)) {
                let (column, term) = (right.column(entry), left.value(at) * right.value(entry));
                if seen[column] == row {
                    sums[column] += term;
                } else {
                    (sums[column], seen[column]) = (term, row);
                    columns.push(column as u32);
                }
            }
        }
        columns.sort_unstable();
        let entries: Vec<(u32, f64)> = columns.into_iter().map(|column| (column, sums[column as usize])).collect();
        Sums::of(&entries)
    }))
}

/// The right factor as write-once arrays; the owner of a row owns the row's elements.
#[derive(Clone, Copy, Serialize, Deserialize)]
struct Arrays {
    /// Index of each row's first entry, followed by the number of entries.
    starts: IArray<u64>,
    columns: IArray<u32>,
    values: IArray<f64>,
}

/// The rows that a node owns.
#[derive(Serialize, Deserialize)]
pub struct Owner {
    left: Replicated<Sparse>,
    /// Index of the first own row of the right factor, and of its first entry.
    right_first: (usize, usize),
    right: Replicated<Sparse>,
    product: Vec<Vec<(u32, f64)>>,
}

#[object]
impl Owner {
    /// Returns the index of the first entry of an own row of the right factor.
    fn start(&self, row: usize) -> usize {
        self.right.start(row - self.right_first.0) + self.right_first.1
    }

    fn column(&self, entry: usize) -> u32 {
        self.right.column(entry - self.right_first.1) as u32
    }

    fn value(&self, entry: usize) -> f64 {
        self.right.value(entry - self.right_first.1)
    }

    fn left(&self) -> Replicated<Sparse> {
        self.left.clone()
    }

    fn right(&self) -> (usize, usize, Replicated<Sparse>) {
        (self.right_first.0, self.right_first.1, self.right.clone())
    }

    fn set(&mut self, row: usize, entries: Vec<(u32, f64)>) {
        self.product[row] = entries;
    }

    /// Computes a row of the product by requests to the owners of the right factor's rows.
    #[task(stack)]
    async fn row_by_requests(
        this: Ref<Self>,
        owners: Replicated<Vec<Ref<Owner>>>,
        left: Replicated<Sparse>,
        row: usize,
    ) {
        let entries: Range<usize> = Sparse::entries(&left, row);
        let mut terms: Vec<(u32, f64)> = Vec::new();
        for at in entries {
            let (factor, k): (f64, usize) = (Sparse::value(&left, at), Sparse::column(&left, at));
            let home: Ref<Owner> = owners[layout::block(Sparse::columns(&left), owners.len())(k)];
            let first: usize = home.start(k).await;
            let end: usize = home.start(k + 1).await;
            for entry in first..end {
                let column: u32 = home.column(entry).await;
                let value: f64 = home.value(entry).await;
                terms.push((column, factor * value));
            }
        }
        // A multiplication for each term, and a comparison and an addition when terms are sorted and added up.
        simulation::compute(3 * terms.len() as u64);
        this.set(row, compress(terms)).await;
    }

    /// Computes all own rows; a row that waits for an answer lets the others go on.
    async fn multiply_by_requests(this: Ref<Self>, owners: Replicated<Vec<Ref<Owner>>>) {
        let left: Replicated<Sparse> = this.left().await;
        join_all((0..left.rows()).map(|row| this.row_by_requests(owners.clone(), left.clone(), row))).await;
    }

    /// Computes a row of the product from the arrays.
    #[task(stack)]
    async fn row(this: Ref<Self>, arrays: Arrays, left: Replicated<Sparse>, row: usize) {
        let (starts, columns): (IArray<u64>, IArray<u32>) = (arrays.starts, arrays.columns);
        let values: IArray<f64> = arrays.values;
        let entries: Range<usize> = Sparse::entries(&left, row);
        let mut terms: Vec<(u32, f64)> = Vec::new();
        for at in entries {
            let (factor, k): (f64, usize) = (Sparse::value(&left, at), Sparse::column(&left, at));
            let first: u64 = starts.get(k).await;
            let end: u64 = starts.get(k + 1).await;
            for entry in first as usize..end as usize {
                let column: u32 = columns.get(entry).await;
                let value: f64 = values.get(entry).await;
                terms.push((column, factor * value));
            }
        }
        // A multiplication for each term, and a comparison and an addition when terms are sorted and added up.
        simulation::compute(3 * terms.len() as u64);
        this.set(row, compress(terms)).await;
    }

    /// Writes the own rows of the right factor, and computes the own rows of the product.
    async fn multiply(this: Ref<Self>, arrays: Arrays) {
        let (row, entry, right) = this.right().await;
        arrays.starts.fill(|index| (right.start(index - row) + entry) as u64).await;
        arrays.columns.fill(|index| right.column(index - entry) as u32).await;
        arrays.values.fill(|index| right.value(index - entry)).await;
        let left: Replicated<Sparse> = this.left().await;
        join_all((0..left.rows()).map(|row| this.row(arrays, left.clone(), row))).await;
    }

    /// Returns the sums of each own row of the product.
    fn sums(&self) -> Vec<Sums> {
        self.product.iter().map(|row| Sums::of(row)).collect()
    }
}

/// The factors, spread over the nodes.
pub struct Factors {
    owners: Vec<Ref<Owner>>,
    arrays: Option<Arrays>,
}

/// Distributes the factors over the nodes, each by rows in blocks of nearly equal size.
#[task]
pub async fn create(left: &Sparse, right: &Sparse, form: Form, counted: bool) -> Factors {
    let arrays = match form {
        Form::Split => None,
        Form::Arrays(cache) => {
            let rows = layout::block(right.rows(), nodes());
            let ends: Vec<usize> = shares(right.rows(), nodes()).iter().map(|share| right.start(share.end)).collect();
            let entries = |entry| ends.partition_point(|&end| end <= entry);
            let starts = IArray::create(right.rows() + 1, |row| rows(row.min(right.rows() - 1))).cached(cache);
            let columns = IArray::create(right.nonzeros(), entries).cached(cache);
            let values = IArray::create(right.nonzeros(), entries).cached(cache);
            Some(match counted {
                true => Arrays {
                    starts: starts.counted().await,
                    columns: columns.counted().await,
                    values: values.counted().await,
                },
                false => Arrays { starts: starts.await, columns: columns.await, values: values.await },
            })
        }
    };
    let mut owners = Vec::new();
    let shares = shares(left.rows(), nodes()).into_iter().zip(shares(right.rows(), nodes()));
    for (node, (rows, others)) in shares.enumerate() {
        let owner = Owner {
            product: vec![Vec::new(); rows.len()],
            left: Replicated::new(left.cut(rows)),
            right_first: (others.start, right.start(others.start)),
            right: Replicated::new(right.cut(others)),
        };
        owners.push(on(node).create(owner).await);
    }
    Factors { owners, arrays }
}

/// Computes the product, each row at its owner.
#[task]
pub async fn multiply(factors: &Factors) {
    let owners = &factors.owners;
    match factors.arrays {
        Some(arrays) => {
            join_all(owners.iter().map(|owner| owner.multiply(arrays))).await;
        }
        None => {
            let all = Replicated::new(owners.clone());
            join_all(owners.iter().map(|owner| owner.multiply_by_requests(all.clone()))).await;
        }
    }
}

/// Returns the sums of the product. Rows are added up in their order, so the bits do not depend on the nodes.
#[task]
pub async fn sums(factors: &Factors) -> Sums {
    let rows: Vec<Vec<Sums>> = join_all(factors.owners.iter().map(|owner| owner.sums())).await;
    Sums::all(rows.into_iter().flatten())
}

/// Returns each node's counts of reads of the right factor: zeros if the arrays are not counted.
#[task]
pub async fn counts(factors: &Factors) -> Vec<Counts> {
    let mut all = vec![Counts::default(); nodes()];
    if let Some(Arrays { starts, columns, values }) = factors.arrays {
        for counts in [starts.counts().await, columns.counts().await, values.counts().await] {
            all.iter_mut().zip(counts).for_each(|(sum, more)| *sum += more);
        }
    }
    all
}

/// Frees factors and product.
#[task]
pub async fn free(factors: Factors) {
    if let Some(Arrays { starts, columns, values }) = factors.arrays {
        starts.free().await;
        columns.free().await;
        values.free().await;
    }
    for owner in factors.owners {
        Ref::free(owner).await;
    }
}
