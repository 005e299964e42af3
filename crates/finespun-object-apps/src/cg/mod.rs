//! NAS CG: the smallest eigenvalue of a large sparse matrix, by inverse iteration with conjugate gradients.
//!
//! The second benchmark of the I-structure software cache (i-structure-software-cache, section 3.2, tables 2 and 4), in
//! the form of the NAS Parallel Benchmarks. Each of 15 outer iterations solves A z = x by 25 steps of conjugate
//! gradients. Each node has the rows of the matrix, and the elements of all vectors, that it owns. One vector at a time
//! is read by all nodes: the direction p of the step, and z when the residual is computed. Each product uses a new
//! write-once array for this vector: a row waits for the elements that it needs. The three forms are the same as in
//! [`densemm`](crate::densemm).
//!
//! The task that directs the solution adds up the terms of inner products in the order of their indices. So each bit of
//! the answer is the same on any number of nodes. The price is a message with all terms of a node, from each node, for
//! each inner product.
//!
//! Answers: zeta as the NAS Parallel Benchmarks publish it: 8.5971775078648 (class S), 10.362595087124 (W),
//! 17.130235054029 (A), each to 1e-10.

mod matrix;

use finespun::istructure::{Cache, Counts, IArray};
use finespun::prelude::*;
use finespun::{layout, objects::Replicated};
use serde::{Deserialize, Serialize};

use crate::densemm::Form;
use crate::rows::{self, Rows};
use crate::sparse::Sparse;

/// Steps of conjugate gradients in an outer iteration.
const STEPS: u32 = 25;

/// The parameters of a matrix and of its solution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Problem {
    /// Rows and columns.
    pub rows: usize,
    /// Number of random nonzeros of each vector from which the matrix is made.
    pub nonzeros: usize,
    /// The shift, which is subtracted from the diagonal.
    pub shift: f64,
    /// Number of outer iterations.
    pub iterations: u32,
}

impl Problem {
    /// Class S.
    pub const S: Problem = Problem { rows: 1400, nonzeros: 7, shift: 10.0, iterations: 15 };
    /// Class W.
    pub const W: Problem = Problem { rows: 7000, nonzeros: 8, shift: 12.0, iterations: 15 };
    /// Class A.
    pub const A: Problem = Problem { rows: 14_000, nonzeros: 11, shift: 20.0, iterations: 15 };

    /// Makes the matrix.
    pub fn matrix(&self) -> Sparse {
        matrix::generate(self.rows, self.nonzeros, self.shift)
    }
}

/// The results.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Found {
    /// The estimate of the eigenvalue.
    pub zeta: f64,
    /// The norm of x - A z in the last iteration.
    pub residual: f64,
}

fn sum(terms: impl IntoIterator<Item = f64>) -> f64 {
    terms.into_iter().fold(0.0, |sum, term| sum + term)
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    sum(a.iter().zip(b).map(|(a, b)| a * b))
}

/// Computes the eigenvalue by loops.
pub fn plain(problem: &Problem, matrix: &Sparse) -> Found {
    let product = |x: &[f64]| (0..matrix.rows()).map(|row| matrix.dot(row, x)).collect::<Vec<f64>>();
    let mut x = vec![1.0; problem.rows];
    let mut found = Found::default();
    for _ in 0..problem.iterations {
        let (mut z, mut r, mut p) = (vec![0.0; x.len()], x.clone(), x.clone());
        let mut rho = dot(&r, &r);
        for _ in 0..STEPS {
            let q = product(&p);
            let alpha = rho / dot(&p, &q);
            z.iter_mut().zip(&p).for_each(|(z, p)| *z += alpha * p);
            r.iter_mut().zip(&q).for_each(|(r, q)| *r -= alpha * q);
            let next = dot(&r, &r);
            let beta = next / rho;
            p.iter_mut().zip(&r).for_each(|(p, r)| *p = r + beta * *p);
            rho = next;
        }
        let misses = product(&z).into_iter().zip(&x).map(|(product, x)| (x - product) * (x - product));
        found.residual = sum(misses).sqrt();
        found.zeta = problem.shift + 1.0 / dot(&x, &z);
        let scale = 1.0 / dot(&z, &z).sqrt();
        x.iter_mut().zip(&z).for_each(|(x, z)| *x = scale * z);
    }
    found
}

/// The vector that all nodes read.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
enum Read {
    /// The next direction, r + beta p, with this beta.
    Direction(f64),
    /// The solution z.
    Solution,
}

/// A node's elements of the vectors.
#[derive(Serialize, Deserialize)]
pub struct Owner {
    rows: Ref<Rows>,
    x: Vec<f64>,
    z: Vec<f64>,
    r: Vec<f64>,
    p: Vec<f64>,
    q: Vec<f64>,
}

#[object]
impl Owner {
    fn rows(&self) -> Ref<Rows> {
        self.rows
    }

    /// Begins a solution; returns the terms of r r.
    fn begin(&mut self) -> Vec<f64> {
        self.z = vec![0.0; self.x.len()];
        self.p = self.z.clone();
        self.r.clone_from(&self.x);
        self.r.iter().map(|r| r * r).collect()
    }

    /// Returns the own elements of the vector that all nodes read.
    fn vector(&mut self, read: Read) -> Vec<f64> {
        let Read::Direction(beta) = read else { return self.z.clone() };
        self.p.iter_mut().zip(&self.r).for_each(|(p, r)| *p = r + beta * *p);
        self.p.clone()
    }

    /// Takes the product of the matrix and the vector. Returns the terms of p A p, or of the squared residual.
    fn terms(&mut self, read: Read, product: Vec<f64>) -> Vec<f64> {
        match read {
            Read::Direction(_) => {
                self.q = product;
                self.p.iter().zip(&self.q).map(|(p, q)| p * q).collect()
            }
            Read::Solution => self.x.iter().zip(product).map(|(x, product)| (x - product) * (x - product)).collect(),
        }
    }

    /// Moves along the direction. Returns the terms of r r.
    fn step(&mut self, alpha: f64) -> Vec<f64> {
        self.z.iter_mut().zip(&self.p).for_each(|(z, p)| *z += alpha * p);
        self.r.iter_mut().zip(&self.q).for_each(|(r, q)| *r -= alpha * q);
        self.r.iter().map(|r| r * r).collect()
    }

    /// Returns the terms of x z and z z.
    fn norms(&self) -> Vec<(f64, f64)> {
        self.x.iter().zip(&self.z).map(|(x, z)| (x * z, z * z)).collect()
    }

    /// Ends a solution: x, the next right-hand side, becomes z times `scale`.
    fn end(&mut self, scale: f64) {
        self.x.iter_mut().zip(&self.z).for_each(|(x, z)| *x = scale * z);
    }

    /// Computes the own elements of the vector, and stores them for reads by requests.
    async fn show(this: Ref<Self>, read: Read) {
        let own: Vec<f64> = this.vector(read).await;
        let rows: Ref<Rows> = this.rows().await;
        rows.set(own).await;
    }

    /// Multiplies by requests, after all nodes have stored their elements of the vector. Returns the terms of the inner
    /// product.
    async fn multiply_by_requests(this: Ref<Self>, owners: Replicated<Vec<Ref<Rows>>>, read: Read) -> Vec<f64> {
        let rows: Ref<Rows> = this.rows().await;
        let product: Vec<f64> = rows.multiply_by_requests(owners, 1).await;
        this.terms(read, product).await
    }

    /// Writes the vector and multiplies; returns the terms of the inner product.
    async fn multiply(this: Ref<Self>, array: IArray<f64>, read: Read) -> Vec<f64> {
        let own: Vec<f64> = this.vector(read).await;
        let rows: Ref<Rows> = this.rows().await;
        let product: Vec<f64> = rows.multiply(array, own, 1).await;
        this.terms(read, product).await
    }
}

/// The matrix and the vectors, spread over the nodes.
pub struct System {
    rows: Replicated<Vec<Ref<Rows>>>,
    owners: Vec<Ref<Owner>>,
    len: usize,
    form: Form,
    /// Each node's counts of reads, if the arrays are counted.
    counts: Option<Vec<Counts>>,
}

/// Distributes the matrix over the nodes by rows, in blocks of nearly equal size.
#[task]
pub async fn create(matrix: &Sparse, form: Form, counted: bool) -> System {
    let rows: Vec<Ref<Rows>> = rows::spread(matrix).await;
    let mut owners = Vec::new();
    for (node, share) in crate::sparse::shares(matrix.rows(), nodes()).into_iter().enumerate() {
        let x = vec![1.0; share.len()];
        let [z, r, p, q] = [const { Vec::new() }; 4];
        owners.push(on(node).create(Owner { rows: rows[node], x, z, r, p, q }).await);
    }
    let counts = counted.then(|| vec![Counts::default(); nodes()]);
    System { rows: Replicated::new(rows), owners, len: matrix.rows(), form, counts }
}

/// Makes an array for a vector.
#[task]
async fn array(len: usize, cache: Cache, counted: bool) -> IArray<f64> {
    let array = IArray::create(len, layout::block(len, nodes())).cached(cache);
    if counted { array.counted().await } else { array.await }
}

/// Multiplies the matrix and a vector; returns p A p, or the square of the residual's norm.
#[task]
async fn product(system: &mut System, read: Read) -> f64 {
    let parts: Vec<Vec<f64>> = match system.form {
        Form::Split => {
            join_all(system.owners.iter().map(|owner| owner.show(read))).await;
            join_all(system.owners.iter().map(|owner| owner.multiply_by_requests(system.rows.clone(), read))).await
        }
        Form::Arrays(cache) => {
            let vector = array(system.len, cache, system.counts.is_some()).await;
            let parts = join_all(system.owners.iter().map(|owner| owner.multiply(vector, read))).await;
            if let Some(counts) = &mut system.counts {
                let read = vector.counts().await;
                counts.iter_mut().zip(read).for_each(|(sum, more)| *sum += more);
            }
            vector.free().await;
            parts
        }
    };
    sum(parts.into_iter().flatten())
}

/// Runs all outer iterations. The first begins with a vector of ones.
#[task]
pub async fn solve(system: &mut System, problem: &Problem) -> Found {
    let mut found = Found::default();
    for _ in 0..problem.iterations {
        let squares: Vec<Vec<f64>> = join_all(system.owners.iter().map(|owner| owner.begin())).await;
        let mut rho = sum(squares.into_iter().flatten());
        let mut beta = 0.0;
        for _ in 0..STEPS {
            let alpha = rho / product(system, Read::Direction(beta)).await;
            let squares: Vec<Vec<f64>> = join_all(system.owners.iter().map(|owner| owner.step(alpha))).await;
            let next = sum(squares.into_iter().flatten());
            beta = next / rho;
            rho = next;
        }
        found.residual = product(system, Read::Solution).await.sqrt();
        let norms: Vec<(f64, f64)> = join_all(system.owners.iter().map(|owner| owner.norms())).await.concat();
        found.zeta = problem.shift + 1.0 / sum(norms.iter().map(|norms| norms.0));
        let scale = 1.0 / sum(norms.iter().map(|norms| norms.1)).sqrt();
        join_all(system.owners.iter().map(|owner| owner.end(scale))).await;
    }
    found
}

/// Frees the system. Returns the counts of each node's reads of the vectors: empty if they are not counted.
#[task]
pub async fn free(system: System) -> Vec<Counts> {
    for owner in system.owners {
        Ref::free(owner).await;
    }
    for &rows in system.rows.iter() {
        Ref::free(rows).await;
    }
    system.counts.unwrap_or_default()
}

#[cfg(test)]
mod tests;
