//! The floor of protein folding by closures: closures by hand, for one thread.

use finespun_apps::Progress;
use finespun_apps::protein::{Folding, Problem, Search, State, Tally};

/// The most neighbours of a site.
const NEIGHBOURS: usize = 6;

/// A place that gets a number: the number of the closure, and its argument.
type To = (u32, u32);

/// A closure that adds up its arguments when all are there.
#[derive(Clone, Copy)]
struct Sum {
    to: To,
    missing: u32,
    count: u32,
    values: [u64; NEIGHBOURS],
}

/// A search by closures: those that explore a path, latest last, and the sums that wait, some of which are free.
struct Closures<'a, const K: usize> {
    search: &'a Search<K>,
    tally: Tally<K>,
    ready: Vec<(To, State<K>)>,
    sums: Vec<Sum>,
    free: Vec<u32>,
}

impl<const K: usize> Closures<'_, K> {
    #[inline(always)]
    fn sum(&mut self, to: To, count: u32) -> u32 {
        let sum = Sum { to, missing: count, count, values: [0; NEIGHBOURS] };
        match self.free.pop() {
            Some(number) => {
                self.sums[number as usize] = sum;
                number
            }
            None => self.grow(sum),
        }
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self, sum: Sum) -> u32 {
        self.sums.push(sum);
        self.sums.len() as u32 - 1
    }

    /// Sends a value. Runs each sum that has become complete, except the first one, which is the result.
    #[inline(always)]
    fn send(&mut self, mut value: u64, mut to: To) {
        loop {
            let sum = &mut self.sums[to.0 as usize];
            sum.values[to.1 as usize] = value;
            sum.missing -= 1;
            if sum.missing > 0 || to.0 == 0 {
                return;
            }
            value = sum.values[..sum.count as usize].iter().sum();
            self.free.push(to.0);
            to = sum.to;
        }
    }

    /// Explores paths until none is ready.
    fn run(&mut self) {
        while let Some((mut to, mut state)) = self.ready.pop() {
            loop {
                let (advanced, mut next) = self.search.advance(state);
                if next == 0 {
                    let found = self.search.finish_plain(&advanced, &mut self.tally);
                    self.send(found, to);
                    break;
                }
                let others = next.count_ones() - 1;
                let sum = self.sum(to, others + 1);
                let last = next.trailing_zeros();
                for place in 0..others {
                    next &= next - 1;
                    self.ready.push(((sum, place), self.search.extend(advanced, next.trailing_zeros())));
                }
                (to, state) = ((sum, others), self.search.extend(advanced, last));
            }
        }
    }
}

/// Finds all foldings of `problem`, which has at most `K` sequences.
pub(super) fn fold<const K: usize>(problem: &Problem, progress: &Progress) -> Folding {
    let search = &Search::<K>::new(problem, problem.sequences());
    let mut all = Closures { search, tally: search.tally(), ready: Vec::new(), sums: Vec::new(), free: Vec::new() };
    progress.expect(search.starts() as u64);
    let mut paths = 0;
    for start in 0..search.starts() {
        all.sums.clear();
        all.free.clear();
        let result = all.sum((0, 0), 1);
        all.ready.push(((result, 0), search.start(start)));
        all.run();
        paths += all.sums[result as usize].values[0];
        progress.advance(1);
    }
    search.merge(&all.tally);
    search.folding(paths, problem.sequences().len())
}
