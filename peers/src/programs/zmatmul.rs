//! Products of matrices in Z-order, as in rayon's demo `matmul`: eight products of quarters at once, four of them into a
//! buffer, which a parallel loop adds. Products of at most 32 x 32 are computed at once, in all forms.

use std::sync::Arc;

use super::{Form, Pools, Program, Size};

pub const PROGRAM: Program = Program {
    name: "zmatmul",
    about: "product of matrices in Z-order: joins of eight blocks, and loops that add",
    make,
};

/// The number of elements of a product that is computed at once.
const TILE: usize = 32 * 32;

/// The bits of the columns in an index in Z-order; the other bits are those of the rows.
const COLUMNS: usize = 0x5555_5555;

fn multiply_tile(a: &[f32], b: &[f32], product: &mut [f32]) {
    let len = product.len();
    for (place, sum) in product.iter_mut().enumerate() {
        let (row, column) = (place & !COLUMNS, place & COLUMNS);
        *sum = columns(len).map(|k| a[row | k] * b[k << 1 | column]).sum();
    }
}

/// Counts in the columns' bits.
fn columns(len: usize) -> impl Iterator<Item = usize> {
    let first = Some(0).filter(|_| len > 0);
    std::iter::successors(first, move |k| Some((k | !COLUMNS).wrapping_add(1) & COLUMNS).filter(|&k| k < len && k > 0))
}

fn quarters(matrix: &[f32]) -> [&[f32]; 4] {
    let (top, bottom) = matrix.split_at(matrix.len() / 2);
    let ((a, b), (c, d)) = (top.split_at(top.len() / 2), bottom.split_at(bottom.len() / 2));
    [a, b, c, d]
}

fn quarters_mut(matrix: &mut [f32]) -> [&mut [f32]; 4] {
    let (top, bottom) = matrix.split_at_mut(matrix.len() / 2);
    let half = top.len() / 2;
    let ((a, b), (c, d)) = (top.split_at_mut(half), bottom.split_at_mut(half));
    [a, b, c, d]
}

/// Two factors.
struct Factors {
    a: Vec<f32>,
    b: Vec<f32>,
}

fn checksum(product: &[f32]) -> u64 {
    product.iter().fold(0, |sum: u64, x| sum.wrapping_mul(31).wrapping_add(x.to_bits().into()))
}

type Multiply = Box<dyn Fn(&Factors, &mut [f32])>;

fn make(size: Size, pools: &Pools) -> Vec<Form> {
    let side: usize = size.pick(128, 512);
    let len = side * side;
    let factor = |add| (0..len).map(|k| ((k + add) % 101) as f32).collect();
    let factors = Arc::new(Factors { a: factor(0), b: factor(7) });
    let form = |name, multiply: Multiply| {
        let (factors, mut product) = (factors.clone(), vec![0.0; len]);
        Form::new(name, move || {
            multiply(&factors, &mut product);
            checksum(&product)
        })
    };
    let (finespun, rayon) = (pools.finespun.clone(), pools.rayon.clone());
    vec![
        form("plain", Box::new(|f, product| multiply(&f.a, &f.b, product))),
        form("finespun", Box::new(move |f, product| finespun.run(finespun_form::multiply(&f.a, &f.b, product)))),
        form("rayon", Box::new(move |f, product| rayon.install(|| rayon_form::multiply(&f.a, &f.b, product)))),
    ]
}

fn multiply(a: &[f32], b: &[f32], product: &mut [f32]) {
    if product.len() <= TILE {
        return multiply_tile(a, b, product);
    }
    let mut more = vec![0.0; product.len()];
    let ([a1, a2, a3, a4], [b1, b2, b3, b4]) = (quarters(a), quarters(b));
    let ([p1, p2, p3, p4], [m1, m2, m3, m4]) = (quarters_mut(product), quarters_mut(&mut more));
    let eight = [
        (a1, b1, p1),
        (a1, b2, p2),
        (a3, b1, p3),
        (a3, b2, p4),
        (a2, b3, m1),
        (a2, b4, m2),
        (a4, b3, m3),
        (a4, b4, m4),
    ];
    eight.into_iter().for_each(|(a, b, part)| multiply(a, b, part));
    product.iter_mut().zip(&more).for_each(|(sum, x)| *sum += x);
}

mod finespun_form {
    use finespun::par::prelude::*;
    use finespun::prelude::*;

    use super::*;

    #[task]
    pub async fn multiply(a: &[f32], b: &[f32], product: &mut [f32]) {
        if product.len() <= TILE {
            return multiply_tile(a, b, product);
        }
        let mut more = vec![0.0; product.len()];
        let ([a1, a2, a3, a4], [b1, b2, b3, b4]) = (quarters(a), quarters(b));
        let ([p1, p2, p3, p4], [m1, m2, m3, m4]) = (quarters_mut(product), quarters_mut(&mut more));
        join!(
            multiply(a1, b1, p1),
            multiply(a1, b2, p2),
            multiply(a3, b1, p3),
            multiply(a3, b2, p4),
            multiply(a2, b3, m1),
            multiply(a2, b4, m2),
            multiply(a4, b3, m3),
            multiply(a4, b4, m4),
        );
        product.par_iter_mut().zip(&more).for_each(|(sum, x)| *sum += x).await;
    }
}

mod rayon_form {
    use rayon::join;
    use rayon::prelude::*;

    use super::*;

    pub fn multiply(a: &[f32], b: &[f32], product: &mut [f32]) {
        if product.len() <= TILE {
            return multiply_tile(a, b, product);
        }
        let mut more = vec![0.0; product.len()];
        let ([a1, a2, a3, a4], [b1, b2, b3, b4]) = (quarters(a), quarters(b));
        let ([p1, p2, p3, p4], [m1, m2, m3, m4]) = (quarters_mut(product), quarters_mut(&mut more));
        join(
            || {
                join(
                    || join(|| multiply(a1, b1, p1), || multiply(a1, b2, p2)),
                    || join(|| multiply(a3, b1, p3), || multiply(a3, b2, p4)),
                )
            },
            || {
                join(
                    || join(|| multiply(a2, b3, m1), || multiply(a2, b4, m2)),
                    || join(|| multiply(a4, b3, m3), || multiply(a4, b4, m4)),
                )
            },
        );
        product.par_iter_mut().zip(&more).for_each(|(sum, x)| *sum += x);
    }
}
