//! Accesses to write-once arrays, compared with accesses to a slice.

use std::hint::black_box;

use finespun::istructure::{Cache, IArray};
use finespun::layout;
use finespun::prelude::*;
use finespun_object_apps::densemm;

use super::programs::{LOOP, turns};
use crate::count::{Program, on_one_worker, run_on, undisturbed};

/// The number of elements that a loop reads in turn.
const ELEMENTS: u64 = 64;

/// The number of rows and columns of the matrices.
const PRODUCT: (u64, u64) = (128, 256);

/// All programs of this module.
pub const PROGRAMS: &[Program] = &[
    Program::new("slice-get", LOOP, turns, |n| {
        let values: Vec<u64> = (0..2 * ELEMENTS).collect();
        sum_slice(black_box(&values[..]), black_box(ELEMENTS), turns(n))
    }),
    Program::new("array-get", LOOP, turns, |n| on_one_worker(sum_array(0, turns(n)))),
    Program::new("array-hit", LOOP, turns, |n| on_two_nodes(sum_array(ELEMENTS, turns(n)))),
    Program::new("array-away", LOOP, turns, |n| on_two_nodes(sum_away(turns(n)))),
    Program::new("slice-put", LOOP, turns, |n| {
        let mut values = vec![0; turns(n) as usize];
        fill_slice(black_box(&mut values[..]), black_box(turns(n) as usize));
        values[values.len() / 2]
    })
    .within("fill_slice"),
    Program::new("array-put", LOOP, turns, |n| on_one_worker(fill_array(turns(n) as usize)))
        .within("array_elements_are_put"),
    Program::new("product-plain", PRODUCT, |n| n.pow(3), |n| densemm::plain(n as usize).squares as u64),
    Program::new("product-arrays", PRODUCT, |n| n.pow(3), |n| on_one_worker(product(n as usize))),
];

#[task]
async fn product(n: usize) -> u64 {
    let matrices = densemm::create(n, densemm::Form::Arrays(Cache::Off), false).await;
    densemm::multiply(&matrices).await;
    let sums = densemm::sums(&matrices).await;
    densemm::free(matrices).await;
    sums.squares as u64
}

#[inline(never)]
fn sum_slice(values: &[u64], first: u64, times: u64) -> u64 {
    let mut sum: u64 = 0;
    for k in 0..times {
        sum = sum.wrapping_add(values[((k % ELEMENTS) | first) as usize]);
    }
    sum
}

fn on_two_nodes<K: Task<Output = u64> + Send>(task: K) -> u64 {
    run_on(undisturbed().nodes(2), task)
}

/// Reads elements of node 1 on node 0 without a cache: one request and one reply per element.
#[task]
async fn sum_away(times: u64) -> u64 {
    let len = (2 * ELEMENTS) as usize;
    let values: IArray<u64> = IArray::create(len, layout::block(len, 2)).await;
    for k in 0..len {
        values.put(k, k as u64).await;
    }
    sum_each(black_box(values), ELEMENTS, times).await
}

/// Reads, on node 0, the elements from `first` on, all of which have been read before.
#[task]
async fn sum_array(first: u64, times: u64) -> u64 {
    let cache = Cache::On { block: 8, capacity: 8 };
    let len = (2 * ELEMENTS) as usize;
    let values: IArray<u64> = IArray::create(len, layout::block(len, nodes())).cached(cache).await;
    for k in 0..len {
        values.put(k, k as u64).await;
    }
    let seen = sum_each(values, first, ELEMENTS).await;
    seen + sum_each(black_box(values), first, times).await
}

#[task(stack)]
async fn sum_each(values: IArray<u64>, first: u64, times: u64) -> u64 {
    let mut sum: u64 = 0;
    for k in 0..times {
        let value: u64 = values.get(((k % ELEMENTS) | first) as usize).await;
        sum = sum.wrapping_add(value);
    }
    sum
}

#[allow(clippy::needless_range_loop, reason = "each element is found by its index, as in an array")]
#[inline(never)]
fn fill_slice(values: &mut [u64], len: usize) {
    let mut salt: u64 = 1;
    for k in 0..len {
        values[k] = salt;
        salt = salt.rotate_left(5) ^ k as u64;
    }
}

#[task]
async fn fill_array(len: usize) -> u64 {
    let values: IArray<u64> = IArray::create(len, layout::block(len, 1)).await;
    array_elements_are_put(black_box(values), len).await;
    values.get(len / 2).await
}

#[task(stack)]
async fn array_elements_are_put(values: IArray<u64>, len: usize) {
    let mut salt: u64 = 1;
    for k in 0..len {
        values.put(k, salt).await;
        salt = salt.rotate_left(5) ^ k as u64;
    }
}
