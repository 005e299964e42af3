//! The life of a closure of three arguments: it is made, filled, posted, run and freed.

use finespun::closure::{Cont, make_closure, post, send_argument, thread, top};

use super::programs::{LOOP, turns};
use crate::count::{Program, on_one_worker};

/// All programs of this module.
pub const PROGRAMS: &[Program] = &[
    Program::new("closures-posted", LOOP, turns, |n| {
        on_one_worker(top(move |k| post(make_closure!(posted, k, turns(n), 0))))
    }),
    Program::new("closures-filled", LOOP, turns, |n| {
        on_one_worker(top(move |k| post(make_closure!(filled, k, turns(n), 0))))
    }),
];

/// Counts down; each turn is a closure that is posted with all arguments.
#[thread]
fn posted(to: Cont<u64>, left: u64, mix: u64) {
    if left == 0 {
        return send_argument(mix, to);
    }
    post(make_closure!(posted, to, left - 1, mix ^ left));
}

/// Counts down; each turn is a closure that is made with one argument, and gets two.
#[thread]
fn filled(to: Cont<u64>, left: u64, mix: u64) {
    if left == 0 {
        return send_argument(mix, to);
    }
    let next = make_closure!(filled, to, _, _);
    send_argument(left - 1, next.left);
    send_argument(mix ^ left, next.mix);
}
