//! The search by closures, transcribed from Figure 12 of the continuation-passing-threads paper (section 4.2).
//!
//! As in the paper, a path without a next site sends 0 or 1, and a single next site is followed at once. Of several
//! next sites, all but the last are posted, and a closure with one empty slot for each site collects the results. All
//! threads share the box, the chain and the energy counters, which they read or add to; the state is an argument.

use std::sync::Arc;

use finespun::Task;
use finespun::closure::{Cont, Vector, make_closure, post, send_argument, tail_call, thread, top};
use finespun::prelude::*;
use finespun::simulation;

use super::search::{Search, State};
use super::{BATCH, Folding, Problem, SITE, Sequence};
use crate::bits::Bits;
use crate::progress::Progress;

/// Finds all foldings, with the same answer as [`plain`](super::plain).
///
/// `progress` counts starting paths.
#[task]
pub async fn fold(problem: &Problem, progress: &Progress) -> Folding {
    let mut folding = Folding::default();
    for sequences in problem.batches() {
        let found = match sequences.len() {
            0 => pass::<0>(problem, sequences, progress).await,
            1 => pass::<1>(problem, sequences, progress).await,
            2 => pass::<2>(problem, sequences, progress).await,
            3 | 4 => pass::<4>(problem, sequences, progress).await,
            _ => pass::<BATCH>(problem, sequences, progress).await,
        };
        folding.add(found);
    }
    folding
}

/// The data that the threads of a pass share.
struct Pass<const K: usize> {
    search: Search<K>,
    progress: Progress,
}

/// Performs one pass of the search for up to `K` sequences.
#[task]
async fn pass<const K: usize>(problem: &Problem, sequences: &[Sequence], progress: &Progress) -> Folding {
    let pass: Arc<Pass<K>> = Arc::new(Pass { search: Search::new(problem, sequences), progress: progress.clone() });
    let paths: u64 = explore_all(Arc::clone(&pass)).await;
    pass.search.folding(paths, sequences.len())
}

/// Explores all starting paths.
fn explore_all<const K: usize>(pass: Arc<Pass<K>>) -> impl Task<Output = u64> + Send {
    let starts = pass.search.starts();
    pass.progress.expect(starts as u64);
    top(move |k| {
        let sums = make_closure!(sum, k, _[starts]).values;
        for (to, start) in sums.zip(0..starts) {
            post(make_closure!(begin::<K>, to, start));
        }
    })
    .sharing(pass)
}

/// Explores the starting path number `start`.
#[thread]
fn begin<const K: usize>(#[shared] pass: &Pass<K>, parent: Cont<u64>, start: usize) {
    let done = make_closure!(advance::<K>, parent, _);
    tail_call!(count_entries::<K>, done.paths, pass.search.start(start));
}

/// Counts a starting path as explored, and passes on its number of foldings.
#[thread]
fn advance<const K: usize>(#[shared] pass: &Pass<K>, parent: Cont<u64>, paths: u64) {
    pass.progress.advance(1);
    send_argument(paths, parent);
}

/// Implements the paper's `Count_Entries`: sends the number of ways to complete a path.
///
/// Its case 1, a tail call to the only neighbour, is the loop in [`Search::advance`]: a C compiler turns this call into
/// the same loop.
#[thread]
fn count_entries<const K: usize>(#[shared] pass: &Pass<K>, parent: Cont<u64>, state: State<K>) {
    let search = &pass.search;
    let sites = state.sites_left();
    let (state, next) = search.advance(state);
    simulation::compute(SITE * u64::from(1 + sites - state.sites_left()));
    let mut neighbours = Bits(next);
    let Some(last) = neighbours.next() else { return send_argument(search.finish(&state), parent) };
    let others = neighbours.size_hint().0;
    let mut sums = make_closure!(sum, parent, _[others + 1]).values;
    for (site, to) in neighbours.zip(sums.by_ref()) {
        post(make_closure!(count_entries::<K>, to, search.extend(state, site)));
    }
    if let Some(to) = sums.next() {
        tail_call!(count_entries::<K>, to, search.extend(state, last));
    }
}

/// Implements the paper's `sum`.
#[thread]
fn sum(parent: Cont<u64>, values: Vector<u64>) {
    send_argument(values.iter().sum(), parent);
}
