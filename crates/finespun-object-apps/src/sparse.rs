//! Sparse matrices by rows, for the applications that multiply them.

use std::ops::Range;

use finespun::layout;
use serde::{Deserialize, Serialize};

/// A sparse matrix in compressed rows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Sparse {
    columns: usize,
    /// Index of the first entry of each row, followed by the number of entries.
    starts: Vec<usize>,
    indices: Vec<u32>,
    values: Vec<f64>,
}

impl Sparse {
    /// Makes a matrix of `columns` columns from its rows: columns and values of the entries, in any order.
    pub fn from_rows(columns: usize, rows: impl IntoIterator<Item = Vec<(u32, f64)>>) -> Sparse {
        let mut matrix = Sparse { columns, starts: vec![0], ..Sparse::default() };
        for row in rows {
            matrix.indices.extend(row.iter().map(|(column, _)| column));
            matrix.values.extend(row.iter().map(|(_, value)| value));
            matrix.starts.push(matrix.indices.len());
        }
        matrix
    }

    /// Returns the number of rows.
    pub fn rows(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// Returns the number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Returns the number of entries.
    pub fn nonzeros(&self) -> usize {
        self.values.len()
    }

    /// Returns the index of the first entry of `row`. For the row after the last one, this is the number of entries.
    #[inline(always)]
    pub fn start(&self, row: usize) -> usize {
        self.starts[row]
    }

    /// Returns the indices of the entries of `row`.
    #[inline(always)]
    pub fn entries(&self, row: usize) -> Range<usize> {
        self.starts[row]..self.starts[row + 1]
    }

    /// Returns the column of the entry at `index`.
    #[inline(always)]
    pub fn column(&self, index: usize) -> usize {
        self.indices[index] as usize
    }

    /// Returns the value of the entry at `index`.
    #[inline(always)]
    pub fn value(&self, index: usize) -> f64 {
        self.values[index]
    }

    /// Returns the product of `row` and a vector.
    pub fn dot(&self, row: usize, x: &[f64]) -> f64 {
        self.entries(row).fold(0.0, |sum, at| sum + x[self.column(at)] * self.value(at))
    }

    /// Copies a range of rows.
    pub fn cut(&self, rows: Range<usize>) -> Sparse {
        let entries = self.starts[rows.start]..self.starts[rows.end];
        Sparse {
            columns: self.columns,
            starts: self.starts[rows.start..=rows.end].iter().map(|start| start - entries.start).collect(),
            indices: self.indices[entries.clone()].to_vec(),
            values: self.values[entries].to_vec(),
        }
    }

    /// Returns the transposed matrix, the entries of each row in the order of their columns.
    pub fn transpose(&self) -> Sparse {
        let mut rows = vec![Vec::new(); self.columns];
        for row in 0..self.rows() {
            for at in self.entries(row) {
                rows[self.column(at)].push((row as u32, self.value(at)));
            }
        }
        Sparse::from_rows(self.rows(), rows)
    }
}

/// Sorts the terms of a row by column, and adds up the terms of each column in their order.
pub(crate) fn compress(mut terms: Vec<(u32, f64)>) -> Vec<(u32, f64)> {
    // Stable: sums of real numbers depend on the order.
    terms.sort_by_key(|&(column, _)| column);
    terms.dedup_by(|(column, value), (last, sum)| {
        let same = column == last;
        if same {
            *sum += *value;
        }
        same
    });
    terms
}

/// Returns, for each node, the range of indices below `len` that [`layout::block`] gives it.
pub(crate) fn shares(len: usize, nodes: usize) -> Vec<Range<usize>> {
    let home = layout::block(len, nodes);
    let mut first = 0;
    let share = |node| {
        let end = (first..len).find(|&index| home(index) != node).unwrap_or(len);
        let share = first..end;
        first = end;
        share
    };
    (0..nodes).map(share).collect()
}

/// Computes each node's reads of a vector with the layout of the rows, in blocks of 8: own elements, remote elements,
/// misses (blocks with a needed remote element), and requests. A block whose elements are on two other nodes takes two
/// requests.
#[cfg(test)]
pub(crate) fn expected_reads(matrix: &Sparse, nodes: usize) -> Vec<[u64; 4]> {
    let home = layout::block(matrix.columns(), nodes);
    let reads = |(node, share): (usize, Range<usize>)| {
        let entries = matrix.start(share.start)..matrix.start(share.end);
        let columns = entries.map(|at| matrix.column(at));
        let (own, others): (Vec<usize>, Vec<usize>) = columns.partition(|&column| home(column) == node);
        let blocks: std::collections::BTreeSet<usize> = others.iter().map(|column| column / 8).collect();
        let homes = |block: &usize| {
            let mut homes: Vec<usize> = (8 * block..matrix.columns().min(8 * block + 8)).map(home).collect();
            homes.dedup();
            homes.into_iter().filter(|&home| home != node).count()
        };
        let requests: usize = blocks.iter().map(homes).sum();
        [own.len(), others.len(), blocks.len(), requests].map(|reads| reads as u64)
    };
    shares(matrix.rows(), nodes).into_iter().enumerate().map(reads).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transposed_twice_is_the_same() {
        let matrix = Sparse::from_rows(3, [vec![(0, 1.0), (2, 2.0)], vec![], vec![(1, 3.0)], vec![(0, 4.0)]]);
        let other = matrix.transpose();
        assert_eq!((other.rows(), other.columns(), other.nonzeros()), (3, 4, 4));
        assert_eq!(other.transpose(), matrix);
        assert_eq!(matrix.cut(2..4), Sparse::from_rows(3, [vec![(1, 3.0)], vec![(0, 4.0)]]));
        assert_eq!(matrix.dot(0, &[1.0, 10.0, 100.0]), 201.0);
    }

    #[test]
    fn terms_of_a_column_add_up() {
        assert_eq!(compress(vec![(2, 1.0), (1, 5.0), (2, 2.0), (2, 4.0)]), [(1, 5.0), (2, 7.0)]);
        assert_eq!(compress(Vec::new()), []);
    }

    #[test]
    fn shares_cover_all_indices() {
        assert_eq!(shares(7, 3), [0..3, 3..5, 5..7]);
        assert_eq!(shares(2, 4), [0..1, 1..2, 2..2, 2..2]);
    }
}
