//! The rows of a sparse square matrix, distributed over the nodes, multiplied by a vector with the same distribution.

use std::ops::Range;

use finespun::istructure::IArray;
use finespun::prelude::*;
use finespun::simulation;
use finespun::{layout, objects::Replicated};
use serde::{Deserialize, Serialize};

use crate::sparse::{Sparse, shares};

/// The rows of a node, and its elements of the vector if they are read by requests.
#[derive(Serialize, Deserialize)]
pub(crate) struct Rows {
    first: usize,
    rows: Replicated<Sparse>,
    vector: Vec<f64>,
}

#[object]
impl Rows {
    fn rows(&self) -> (usize, Replicated<Sparse>) {
        (self.first, self.rows.clone())
    }

    /// Stores the own elements of the vector.
    pub(crate) fn set(&mut self, vector: Vec<f64>) {
        self.vector = vector;
    }

    fn read(&self, index: usize) -> f64 {
        self.vector[index - self.first]
    }

    /// Returns the product of an own row and the vector, added up `times` times, by requests to the owners of the
    /// elements.
    #[task(stack)]
    async fn row_by_requests(
        _this: Ref<Self>,
        owners: Replicated<Vec<Ref<Rows>>>,
        rows: Replicated<Sparse>,
        row: usize,
        times: u32,
    ) -> f64 {
        let entries: Range<usize> = Sparse::entries(&rows, row);
        simulation::compute(2 * entries.len() as u64 * u64::from(times));
        let mut sum: f64 = 0.0;
        for _ in 0..times {
            for at in entries.clone() {
                let column: usize = Sparse::column(&rows, at);
                let home: Ref<Rows> = owners[layout::block(Sparse::columns(&rows), owners.len())(column)];
                let x: f64 = home.read(column).await;
                sum += x * Sparse::value(&rows, at);
            }
        }
        sum
    }

    /// Returns the products of all own rows; while one row waits for an answer, others proceed.
    pub(crate) async fn multiply_by_requests(
        this: Ref<Self>,
        owners: Replicated<Vec<Ref<Rows>>>,
        times: u32,
    ) -> Vec<f64> {
        let (_, rows) = this.rows().await;
        let products = (0..rows.rows()).map(|row| this.row_by_requests(owners.clone(), rows.clone(), row, times));
        join_all(products).await
    }

    /// Returns the product of an own row and the vector, added up `times` times; waits for elements that are not
    /// written yet.
    #[task(stack)]
    async fn row(_this: Ref<Self>, vector: IArray<f64>, rows: Replicated<Sparse>, row: usize, times: u32) -> f64 {
        let entries: Range<usize> = Sparse::entries(&rows, row);
        simulation::compute(2 * entries.len() as u64 * u64::from(times));
        let mut sum: f64 = 0.0;
        for _ in 0..times {
            for at in entries.clone() {
                let column: usize = Sparse::column(&rows, at);
                let x: f64 = vector.get(column).await;
                sum += x * Sparse::value(&rows, at);
            }
        }
        sum
    }

    /// Writes the own elements of the vector, and returns the products of all own rows.
    pub(crate) async fn multiply(this: Ref<Self>, vector: IArray<f64>, own: Vec<f64>, times: u32) -> Vec<f64> {
        let (first, rows) = this.rows().await;
        vector.fill(move |index| own[index - first]).await;
        join_all((0..rows.rows()).map(|row| this.row(vector, rows.clone(), row, times))).await
    }
}

/// Distributes the rows of a matrix over all nodes in blocks of nearly equal size.
#[task]
pub(crate) async fn spread(matrix: &Sparse) -> Vec<Ref<Rows>> {
    let mut owners = Vec::new();
    for (node, share) in shares(matrix.rows(), nodes()).into_iter().enumerate() {
        let rows = Rows { first: share.start, rows: Replicated::new(matrix.cut(share)), vector: Vec::new() };
        owners.push(on(node).create(rows).await);
    }
    owners
}
