//! Vectors: with elements, with missing elements, and passed on.

use finespun::closure::{Cont, Vector, make_closure, post, send_argument, tail_call, thread, top};
use finespun::prelude::*;
use finespun::testing::*;

use super::{add_all, add_one};
use crate::common::{everywhere, within_a_minute};

#[thread]
fn add_four(parent: Cont<u64>, values: [u64; 4], scale: u64) {
    send_argument(values.iter().sum::<u64>() * scale, parent);
}

#[thread]
fn give(to: Cont<u64>, value: u64) {
    send_argument(value, to);
}

#[test]
fn vectors_with_elements() {
    everywhere(|runtime| {
        for n in [0, 1, 3, 200, 5000] {
            let expected = (0..n).sum::<u64>() * 2;
            assert_eq!(runtime.run(top(|k| post(make_closure!(add_all, k, 2, Vec::from_iter(0..n))))), expected);
            let written = top(|k| {
                let mut closure = make_closure!(add_all, k, 2, std::iter::repeat_n(0, n as usize));
                closure.vector().iter_mut().zip(0..).for_each(|(element, i)| *element = i);
                post(closure);
            });
            assert_eq!(runtime.run(written), expected);
            assert_eq!(runtime.run(top(|k| tail_call!(add_all, k, 2, Vec::from_iter(0..n)))), expected);
        }
        assert_eq!(runtime.run(top(|k| post(make_closure!(add_four, k, [1, 2, 3, 4], 10)))), 100);
    });
}

#[test]
fn vectors_whose_elements_are_missing() {
    everywhere(|runtime| {
        for n in [0, 1, 3, 100, 3000] {
            let expected = (0..n as u64).sum::<u64>() * 3;
            let sums = top(|k| {
                // With n = 0 no argument is missing: the closure is posted at once.
                let sum = make_closure!(add_all, k, 3, _[n]);
                sum.values.zip(0..).for_each(|(to, i)| post(make_closure!(give, to, i)));
            });
            assert_eq!(runtime.run(sums), expected);
            let both = top(|k| {
                let sum = make_closure!(add_all, k, _, _[n]);
                sum.values.zip(0..).for_each(|(to, i)| post(make_closure!(give, to, i)));
                post(make_closure!(give, sum.scale, 3));
            });
            assert_eq!(runtime.run(both), expected);
        }
        let four = top(|k| {
            let sum = make_closure!(add_four, k, _[4], _);
            sum.values.zip(1..).for_each(|(to, i)| post(make_closure!(give, to, i)));
            tail_call!(give, sum.scale, 10);
        });
        assert_eq!(runtime.run(four), 100);
        // The whole array as one argument.
        let whole = top(|k| {
            let sum = make_closure!(add_four, k, _, 10);
            send_argument([1, 2, 3, 4], sum.values);
        });
        assert_eq!(runtime.run(whole), 100);
    });
}

/// Passes its vector on with the last element decremented, until that is 0.
#[thread]
fn count_down(parent: Cont<u64>, sum: u64, mut values: Vector<u64>) {
    let Some(last) = values.last().copied() else { return send_argument(sum, parent) };
    if last == 0 {
        return send_argument(sum, parent);
    }
    *values.last_mut().unwrap() -= 1;
    tail_call!(count_down, parent, sum + last, values);
}

#[test]
fn tail_calls_do_not_grow_the_stack() {
    within_a_minute(|| {
        for workers in [1, 2] {
            let runtime = Runtime::builder().workers(workers).build().unwrap();
            let n = 3_000_000;
            assert_eq!(runtime.run(top(|k| post(make_closure!(count_down, k, 0, [7, n])))), n * (n + 1) / 2);
        }
    });
}

#[thread]
fn chain(parent: Cont<u64>, n: u64) {
    if n == 0 {
        return send_argument(0, parent);
    }
    let next = make_closure!(add_one, parent, _);
    tail_call!(chain, next.x, n - 1);
}

#[test]
fn a_chain_of_a_million_closures() {
    within_a_minute(|| {
        for workers in [1, 3] {
            let runtime = Runtime::builder().workers(workers).build().unwrap();
            assert_eq!(runtime.run(top(|k| post(make_closure!(chain, k, 1_000_000)))), 1_000_000);
            assert_eq!(runtime.close(), 0);
        }
    });
}
