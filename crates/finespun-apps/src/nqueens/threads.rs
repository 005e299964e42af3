//! The queens by closures: a thread for each placed queen, and a thread that adds up for each board with several safe
//! columns.

use finespun::Task;
use finespun::closure::{Cont, Vector, make_closure, post, send_argument, tail_call, thread, top};

use super::Rows;
use crate::bits::Bits;

/// Returns the number of solutions for `n` queens.
///
/// # Panics
///
/// Panics if `n` is above [`MAX_QUEENS`](super::MAX_QUEENS).
pub fn nqueens(n: u32) -> impl Task<Output = u64> + Send {
    let rows = Rows::empty(n);
    top(move |k| post(make_closure!(count, k, rows)))
}

/// Sends the number of ways to complete `rows`.
#[thread(portable)]
pub fn count(parent: Cont<u64>, rows: Rows) {
    if rows.complete() {
        return send_argument(1, parent);
    }
    let mut safe = Bits(u64::from(rows.safe()));
    let Some(last) = safe.next() else { return send_argument(0, parent) };
    let others = safe.size_hint().0;
    if others == 0 {
        return tail_call!(count, parent, rows.place(1 << last));
    }
    let mut sums = make_closure!(sum, parent, _[others + 1]).values;
    for (column, to) in safe.zip(sums.by_ref()) {
        post(make_closure!(count, to, rows.place(1 << column)));
    }
    if let Some(to) = sums.next() {
        tail_call!(count, to, rows.place(1 << last));
    }
}

/// Sends the sum of the values.
#[thread(portable)]
pub fn sum(parent: Cont<u64>, values: Vector<u64>) {
    send_argument(values.iter().sum(), parent);
}
