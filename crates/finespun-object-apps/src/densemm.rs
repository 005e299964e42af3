//! Dense matrix multiplication, row by column, of matrices that are spread over the nodes by rows.
//!
//! The first benchmark of the I-structure software cache (i-structure-software-cache, section 3.2, tables 2 and 4).
//! Each node computes the rows of the product that it owns (*owner computes*). Each of a node's n^3 / P multiplications
//! reads one element of the node's own rows and one element of the other matrix; a fraction (P - 1) / P of the latter
//! are remote. The three forms follow the paper:
//!
//! - *split*: each read is a call of the object that owns the row: a request and an answer if it is remote. No task
//!   multiplies before all rows are computed.
//! - *istructure*: the matrices are write-once arrays; a read of an element that is not written yet waits for it.
//! - *cached*: the same with a cache of blocks.
//!
//! Answers: with the integer matrices of [`a`] and [`b`] all sums are exact: n = 512 has sum 94, trace 112 and sum of
//! squares 490,331,390; n = 1024 has -154, 107 and 3,614,277,906 (computed independently in 64-bit integers).

use finespun::istructure::{Cache, Counts, IArray};
use finespun::prelude::*;
use finespun::simulation;
use finespun::{layout, objects::Replicated};
use serde::{Deserialize, Serialize};

/// Returns element (i, j) of the left matrix.
pub fn a(i: usize, j: usize) -> f64 {
    ((7 * i + 3 * j) % 11) as f64 - 5.0
}

/// Returns element (i, j) of the right matrix.
pub fn b(i: usize, j: usize) -> f64 {
    ((5 * i + 13 * j) % 17) as f64 - 8.0
}

/// How elements of other nodes are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Form {
    /// By a request and an answer.
    Split,
    /// From write-once arrays, with this cache.
    Arrays(Cache),
}

/// Checksums of the product, or of some of its rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Sums {
    /// The sum of the elements.
    pub sum: f64,
    /// The sum of the diagonal.
    pub trace: f64,
    /// The sum of the squares.
    pub squares: f64,
}

impl Sums {
    fn of(rows: impl Iterator<Item = (usize, f64)>, n: usize) -> Sums {
        let mut sums = Sums::default();
        for (index, value) in rows {
            sums.sum += value;
            sums.trace += if index / n == index % n { value } else { 0.0 };
            sums.squares += value * value;
        }
        sums
    }

    fn with(self, other: Sums) -> Sums {
        Sums { sum: self.sum + other.sum, trace: self.trace + other.trace, squares: self.squares + other.squares }
    }
}

/// Computes the product by three nested loops.
pub fn plain(n: usize) -> Sums {
    let matrix = |element: fn(usize, usize) -> f64| (0..n * n).map(|k| element(k / n, k % n)).collect::<Vec<f64>>();
    let (a, b) = (matrix(a), matrix(b));
    let product = (0..n * n).map(|at| {
        let (i, j) = (at / n, at % n);
        let terms = (0..n).map(|k| a[i * n + k] * b[k * n + j]);
        (at, terms.fold(0.0, |sum, term| sum + term))
    });
    Sums::of(product, n)
}

/// The rows that a node owns, and its access to the rows of other nodes.
#[derive(Serialize, Deserialize)]
pub struct Owner {
    n: usize,
    /// The first row.
    first: usize,
    /// The row behind the last one.
    end: usize,
    arrays: Option<[IArray<f64>; 3]>,
    /// The own rows of both factors; empty if there are arrays.
    rows: [Vec<f64>; 2],
    /// The own rows of the product; empty if there are arrays.
    product: Vec<f64>,
}

#[object]
impl Owner {
    /// Computes the own rows of the factors, and clears the own rows of the product.
    fn make(&mut self) {
        for (rows, element) in self.rows.iter_mut().zip([a, b]) {
            let indices = (self.first..self.end).flat_map(|i| (0..self.n).map(move |j| (i, j)));
            *rows = indices.map(|(i, j)| element(i, j)).collect();
        }
        self.product = vec![0.0; (self.end - self.first) * self.n];
    }

    /// Returns an element of the own rows of the left factor (0) or the right factor (1).
    fn read(&self, factor: usize, index: usize) -> f64 {
        self.rows[factor][index - self.first * self.n]
    }

    fn set(&mut self, index: usize, value: f64) {
        self.product[index - self.first * self.n] = value;
    }

    fn parts(&self) -> (usize, usize, usize, Option<[IArray<f64>; 3]>) {
        (self.n, self.first, self.end, self.arrays)
    }

    /// Computes an element of the product by requests to the owners of the rows.
    #[task(stack)]
    async fn element_by_requests(this: Ref<Self>, owners: Replicated<Vec<Ref<Owner>>>, n: usize, index: usize) {
        let (row, column): (usize, usize) = (index / n * n, index % n);
        let mut sum: f64 = 0.0;
        for k in 0..n {
            let home: Ref<Owner> = owners[layout::block(n, owners.len())(k)];
            let x: f64 = this.read(0, row + k).await;
            let y: f64 = home.read(1, k * n + column).await;
            sum += x * y;
        }
        simulation::compute(2 * n as u64);
        this.set(index, sum).await;
    }

    /// Computes all own elements; while one waits for an answer, others proceed.
    async fn multiply_by_requests(this: Ref<Self>, owners: Replicated<Vec<Ref<Owner>>>) {
        let (n, first, end, _) = this.parts().await;
        let elements = first * n..end * n;
        join_all(elements.map(|index| this.element_by_requests(owners.clone(), n, index))).await;
    }

    /// Computes an element of the product from the arrays.
    #[task(stack)]
    async fn element(_this: Ref<Self>, a: IArray<f64>, b: IArray<f64>, c: IArray<f64>, n: usize, index: usize) {
        let (row, column): (usize, usize) = (index / n * n, index % n);
        let mut sum: f64 = 0.0;
        for k in 0..n {
            let x: f64 = a.get(row + k).await;
            let y: f64 = b.get(k * n + column).await;
            sum += x * y;
        }
        simulation::compute(2 * n as u64);
        c.put(index, sum).await;
    }

    /// Writes the own rows of the factors, and computes the own rows of the product.
    async fn multiply(this: Ref<Self>) {
        let (n, first, end, arrays) = this.parts().await;
        let Some([left, right, c]) = arrays else { return };
        left.fill(|index| a(index / n, index % n)).await;
        right.fill(|index| b(index / n, index % n)).await;
        join_all((first * n..end * n).map(|index| this.element(left, right, c, n, index))).await;
    }

    /// Returns the checksums of the own rows of the product.
    fn sums(&self) -> Sums {
        let own = self.first * self.n..self.end * self.n;
        match self.arrays {
            Some([.., c]) => Sums::of(own.zip(c.local().iter().copied()), self.n),
            None => Sums::of(own.zip(self.product.iter().copied()), self.n),
        }
    }
}

/// The matrices, spread over the nodes.
pub struct Matrices {
    owners: Vec<Ref<Owner>>,
    arrays: Option<[IArray<f64>; 3]>,
}

/// Creates the matrices, distributed by rows in blocks of nearly equal size.
#[task]
pub async fn create(n: usize, form: Form, counted: bool) -> Matrices {
    let rows = layout::block(n, nodes());
    let arrays = match form {
        Form::Split => None,
        Form::Arrays(cache) => {
            let left = spread(n, cache, counted).await;
            let right = spread(n, cache, counted).await;
            let product = spread(n, Cache::Off, false).await;
            Some([left, right, product])
        }
    };
    let mut owners = Vec::new();
    let mut first = 0;
    for node in 0..nodes().min(n) {
        let end = (first..n).find(|&row| rows(row) != node).unwrap_or(n);
        let owner = Owner { n, first, end, arrays, rows: [Vec::new(), Vec::new()], product: Vec::new() };
        owners.push(on(node).create(owner).await);
        first = end;
    }
    Matrices { owners, arrays }
}

#[task]
async fn spread(n: usize, cache: Cache, counted: bool) -> IArray<f64> {
    let rows = layout::block(n, nodes());
    let array = IArray::create(n * n, move |index| rows(index / n)).cached(cache);
    if counted { array.counted().await } else { array.await }
}

/// Computes the factors and multiplies them.
#[task]
pub async fn multiply(matrices: &Matrices) {
    let owners = &matrices.owners;
    if matrices.arrays.is_some() {
        join_all(owners.iter().map(|owner| owner.multiply())).await;
        return;
    }
    join_all(owners.iter().map(|owner| owner.make())).await;
    let all = Replicated::new(owners.clone());
    join_all(owners.iter().map(|owner| owner.multiply_by_requests(all.clone()))).await;
}

/// Returns the checksums of the product.
#[task]
pub async fn sums(matrices: &Matrices) -> Sums {
    reduce(matrices.owners.iter().map(|owner| owner.sums()), Sums::default(), Sums::with).await
}

/// Returns each node's counts of reads of the factors: zeros if the arrays are not counted.
#[task]
pub async fn counts(matrices: &Matrices) -> Vec<Counts> {
    let mut all = vec![Counts::default(); nodes()];
    if let Some([left, right, _]) = matrices.arrays {
        for array in [left, right] {
            let counts = array.counts().await;
            all.iter_mut().zip(counts).for_each(|(sum, more)| *sum += more);
        }
    }
    all
}

/// Frees the matrices.
#[task]
pub async fn free(matrices: Matrices) {
    for array in matrices.arrays.into_iter().flatten() {
        array.free().await;
    }
    for owner in matrices.owners {
        Ref::free(owner).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use finespun::testing::*;

    const FORMS: [Form; 5] = [
        Form::Split,
        Form::Arrays(Cache::Off),
        Form::Arrays(Cache::On { block: 8, capacity: 1 }),
        Form::Arrays(Cache::On { block: 8, capacity: 1000 }),
        Form::Arrays(Cache::On { block: 1, capacity: 7 }),
    ];

    #[task]
    async fn product(n: usize, form: Form) -> (Sums, Counts) {
        let matrices = create(n, form, true).await;
        multiply(&matrices).await;
        let sums = sums(&matrices).await;
        let counts = counts(&matrices).await;
        free(matrices).await;
        let mut all = Counts::default();
        counts.into_iter().for_each(|counts| all += counts);
        (sums, all)
    }

    #[test]
    fn all_forms_agree_with_the_loops() {
        let known = plain(24);
        for (workers, nodes) in [(1, 1), (1, 4), (2, 2), (2, 5), (3, 16), (1, 30)] {
            for n in [0, 1, 3] {
                let runtime =
                    Runtime::builder().workers(workers).nodes(nodes).block_every(n).build().expect("a runtime");
                for form in FORMS {
                    let (sums, counts) = runtime.run(product(24, form));
                    assert_eq!(sums, known, "{form:?} on {nodes} nodes, blocking every {n}");
                    if let Form::Arrays(_) = form {
                        assert_eq!(counts.local + counts.remote, 2 * 24 * 24 * 24, "{form:?}");
                    }
                }
                assert_eq!(runtime.close(), 0);
            }
        }
    }

    #[test]
    #[cfg_attr(debug_assertions, ignore = "5 s without a release build")]
    fn sums_match_the_known_answers() {
        assert_eq!(plain(512), Sums { sum: 94.0, trace: 112.0, squares: 490_331_390.0 });
        let runtime = Runtime::builder().workers(2).nodes(4).build().expect("a runtime");
        let (sums, _) = runtime.run(product(512, Form::Arrays(Cache::On { block: 8, capacity: 100_000 })));
        assert_eq!(sums, plain(512));
    }

    /// The paper's problem: 128 x 128 on 16 nodes.
    #[test]
    fn read_counts_match_the_paper() {
        let runtime = Runtime::builder().workers(1).nodes(16).build().expect("a runtime");
        let (_, counts) = runtime.run(product(128, Form::Arrays(Cache::On { block: 8, capacity: 4096 })));
        // Local reads per node: 2^17 of the own rows, and of the other matrix 1/16 of 2^17; the paper counts 2^10 more
        // of the latter.
        assert_eq!((counts.local / 16, counts.remote / 16), ((1 << 17) + (1 << 13), 15 << 13));
        // Each node needs all rows of the other nodes, and requests each block once.
        assert_eq!(counts.requests / 16, 15 * 8 * 128 / 8);
        assert!((counts.hit_ratio() - 0.9835).abs() < 0.02, "{}", counts.hit_ratio());
    }
}
