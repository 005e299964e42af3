//! The dense product by rows: a node's own part of an array is a slice, so it costs the same as slices, vector
//! instructions included.

use std::hint::black_box;
use std::time::Instant;

use finespun::istructure::IArray;
use finespun::layout;
use finespun::prelude::*;
use finespun_lab::failure::Failure;
use finespun_lab::show;
use finespun_object_apps::densemm;
use serde_json::json;

use super::{Config, Report};
use crate::measure::alternate;

/// Computes a row of the product: the sum of the right factor's rows, each multiplied by an element of the left
/// factor's row.
#[inline(never)]
fn add_row(sum: &mut [f64], left: &[f64], right: &[f64]) {
    let n = sum.len();
    sum.fill(0.0);
    for (x, row) in left.iter().zip(right.chunks_exact(n)) {
        for (sum, y) in sum.iter_mut().zip(row) {
            *sum += x * y;
        }
    }
}

fn by_slices(n: usize, left: &[f64], right: &[f64]) -> Vec<f64> {
    let mut product = vec![0.0; n * n];
    let mut sum = vec![0.0; n];
    for i in 0..n {
        add_row(&mut sum, &left[i * n..(i + 1) * n], right);
        product[i * n..(i + 1) * n].copy_from_slice(&sum);
    }
    product
}

/// Creates the factors on the only node.
#[task]
async fn factors(n: usize) -> [IArray<f64>; 2] {
    let left = IArray::create(n * n, layout::block(n * n, 1)).await;
    let right = IArray::create(n * n, layout::block(n * n, 1)).await;
    left.fill(|index| densemm::a(index / n, index % n)).await;
    right.fill(|index| densemm::b(index / n, index % n)).await;
    [left, right]
}

#[task]
async fn empty(n: usize) -> IArray<f64> {
    IArray::create(n * n, layout::block(n * n, 1)).await
}

/// Writes the product, row by row.
#[task]
async fn by_arrays(n: usize, left: IArray<f64>, right: IArray<f64>, product: IArray<f64>) {
    let mut sum = vec![0.0; n];
    let mut column = n;
    product
        .fill(|index| {
            if column == n {
                add_row(&mut sum, &left.local()[index..index + n], &right.local());
                column = 0;
            }
            column += 1;
            sum[column - 1]
        })
        .await;
}

pub(super) fn measure(config: &Config, report: &mut Report) -> Result<(), Failure> {
    let n = if config.quick { 64 } else { 512 };
    let elements = |of: fn(usize, usize) -> f64| (0..n * n).map(|index| of(index / n, index % n)).collect();
    let (left, right): (Vec<f64>, Vec<f64>) = (elements(densemm::a), elements(densemm::b));
    let runtime = Runtime::builder().workers(1).nodes(1).build()?;
    let [a, b] = runtime.run(factors(n));
    let mut products: [f64; 2] = [0.0; 2];
    let samples = alternate(3 * config.rounds, &[0, 1], |&variant| {
        if variant == 0 {
            let start = Instant::now();
            let product = black_box(by_slices(n, &left, &right));
            let time = start.elapsed().as_secs_f64();
            products[0] = product.iter().sum();
            return Ok::<_, Failure>(time);
        }
        let product = runtime.run(empty(n));
        let start = Instant::now();
        runtime.run(by_arrays(n, a, b, product));
        let time = start.elapsed().as_secs_f64();
        products[1] = runtime.run(product.freeze()).iter().sum();
        runtime.run(product.free());
        Ok(time)
    })?;
    if products[0] != products[1] {
        let [first, second] = products.map(|sum| sum.to_string());
        return Err(Failure::Disagreement { app: "densemm", first, second });
    }
    let [slices, arrays] = [&samples[0], &samples[1]].map(|sample| (sample.least(), sample.median()));
    let table = report.table(30, &["product by rows", "slices", "local()", "local/slices"])?;
    for (name, slices, arrays) in [("least", slices.0, arrays.0), ("median", slices.1, arrays.1)] {
        let ratio = format!("{:.3}", arrays / slices);
        report.line(&table, &[format!("{n} x {n}, {name}"), show::seconds(slices), show::seconds(arrays), ratio])?;
        report.row(json!({"section": "rows", "n": n, "what": name, "slices": slices, "local": arrays}));
    }
    Ok(())
}
