//! Programs of closures, and forms of threads.

use finespun::closure::{
    Cont, Conts, Thread, Vector, make_closure, post, send_argument, tail_call, thread, top, top_of,
};
use finespun::prelude::*;

use super::{fib_fork, fib_sum, hold, square};
use crate::common::{everywhere, plain_fib};

/// Like `fib_fork`, with a tail call.
#[thread]
fn fib_tail(parent: Cont<u64>, n: u64) {
    if n < 2 {
        send_argument(n, parent);
    } else {
        let k1 = make_closure!(fib_sum, parent, _, _);
        post(make_closure!(fib_tail, k1.x, n - 1));
        tail_call!(fib_tail, k1.y, n - 2);
    }
}

/// Like `fib_fork`, with closures that are posted when they are made.
#[thread(post)]
fn fib_posted(parent: Cont<u64>, n: u64) {
    if n < 2 {
        send_argument(n, parent);
    } else {
        let k1 = make_closure!(fib_sum, parent, _, _);
        make_closure!(fib_posted, k1.x, n - 1);
        make_closure!(fib_posted, k1.y, n - 2);
    }
}

#[test]
fn fib_three_ways() {
    everywhere(|runtime| {
        assert_eq!(runtime.run(top(|k| post(make_closure!(fib_fork, k, 15)))), plain_fib(15));
        assert_eq!(runtime.run(top(|k| post(make_closure!(fib_tail, k, 15)))), plain_fib(15));
        assert_eq!(runtime.run(top(|k| make_closure!(fib_posted, k, 15))), plain_fib(15));
        // A tail call in the body of `top`, where a computation exists, but no thread yet.
        assert_eq!(runtime.run(top(|k| tail_call!(fib_tail, k, 12))), plain_fib(12));
    });
}

#[test]
fn any_number_of_results_in_order() {
    everywhere(|runtime| {
        for n in [0, 1, 2, 100] {
            let squares = top_of(n, |ks: Conts<u64>| {
                assert_eq!(ks.len(), n);
                ks.zip(0..).for_each(|(k, i)| post(make_closure!(square, k, i)));
            });
            let expected: Vec<u64> = (0..n as u64).map(|i| i * i).collect();
            assert_eq!(runtime.run(squares), expected);
        }
    });
}

#[task]
async fn two_at_once(n: u64) -> (u64, u64) {
    join!(top(move |k| post(make_closure!(fib_fork, k, n))), top(move |k| post(make_closure!(fib_tail, k, n + 1))))
}

#[test]
fn computations_are_tasks() {
    everywhere(|runtime| assert_eq!(runtime.run(two_at_once(10)), (plain_fib(10), plain_fib(11))));
}

#[test]
fn which_closures_migrate() {
    #[thread]
    fn stays_here(_parent: Cont<u64>, _n: u64) {}
    #[thread(portable, post)]
    fn travels(_parent: Cont<u64>, _n: u64, _name: String, _values: Vector<f64>) {}
    let travel = [<fib_fork as Thread>::MIGRATES, <travels as Thread>::MIGRATES, <repeat<3> as Thread>::MIGRATES];
    let stay = [<stays_here as Thread>::MIGRATES, <hold as Thread>::MIGRATES];
    assert_eq!((travel, stay), ([true; 3], [false; 2]));
}

/// A thread with a type parameter.
#[thread]
fn twice<T: Send + Clone + 'static>(to: Cont<(T, T)>, value: T) {
    send_argument((value.clone(), value), to);
}

#[thread(portable)]
fn repeat<const N: usize>(to: Cont<Vec<u8>>, value: u8) {
    send_argument(vec![value; N], to);
}

#[test]
fn threads_may_be_generic() {
    everywhere(|runtime| {
        let twice = top(|k| post(make_closure!(twice::<String>, k, "a".to_owned())));
        assert_eq!(runtime.run(twice), ("a".to_owned(), "a".to_owned()));
        assert_eq!(runtime.run(top(|k| tail_call!(repeat::<3>, k, 7))), [7; 3]);
    });
}
