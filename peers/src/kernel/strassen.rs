//! C = A B by seven products of quadrants (Strassen's method in Winograd's form), on matrices stored as in
//! [`matmul`](super::matmul).

use super::matmul::{quadrants, quadrants_mut};

fn combined(a: &[f64], b: &[f64], combine: impl Fn(f64, f64) -> f64) -> Vec<f64> {
    a.iter().zip(b).map(|(&a, &b)| combine(a, b)).collect()
}

fn sum(a: &[f64], b: &[f64]) -> Vec<f64> {
    combined(a, b, |a, b| a + b)
}

fn difference(a: &[f64], b: &[f64]) -> Vec<f64> {
    combined(a, b, |a, b| a - b)
}

/// Returns the four left factors that are sums of quadrants.
#[inline(never)]
pub fn left_sums(a: &[f64]) -> [Vec<f64>; 4] {
    let [a11, a12, a21, a22] = quadrants(a);
    let s1 = sum(a21, a22);
    let s2 = difference(&s1, a11);
    let s3 = difference(a11, a21);
    let s4 = difference(a12, &s2);
    [s1, s2, s3, s4]
}

/// Returns the four right factors that are sums of quadrants.
#[inline(never)]
pub fn right_sums(b: &[f64]) -> [Vec<f64>; 4] {
    let [b11, b12, b21, b22] = quadrants(b);
    let t1 = difference(b12, b11);
    let t2 = difference(b22, &t1);
    let t3 = difference(b22, b12);
    let t4 = difference(&t2, b21);
    [t1, t2, t3, t4]
}

/// Returns memory for the seven products of the quadrants of a matrix of this length.
#[inline(never)]
pub fn products(length: usize) -> [Vec<f64>; 7] {
    std::array::from_fn(|_| vec![0.0; length / 4])
}

/// Computes the matrix from the products A11 B11, A12 B21, S4 B22, A22 T4, S1 T1, S2 T2 and S3 T3.
#[inline(never)]
pub fn combine(c: &mut [f64], [p1, p2, p3, p4, p5, p6, p7]: &[Vec<f64>; 7]) {
    let [c11, c12, c21, c22] = quadrants_mut(c);
    for i in 0..c11.len() {
        let u2 = p1[i] + p6[i];
        let u3 = u2 + p7[i];
        c11[i] = p1[i] + p2[i];
        c12[i] = u2 + p5[i] + p3[i];
        c21[i] = u3 - p4[i];
        c22[i] = u3 + p5[i];
    }
}
