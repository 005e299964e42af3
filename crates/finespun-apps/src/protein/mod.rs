//! Lattice protein folding: all ways in which a chain can fill a box, and the energies of these foldings.
//!
//! A protein is a chain of monomers, one per site of an a x b x c box. A *folding* is a path that visits every site
//! once and steps between neighbours; two foldings are the same if a rotation or reflection of the box maps one to the
//! other (the direction of the chain matters). In the HP model each monomer is hydrophobic (H) or polar (P), and the
//! *energy* of a folding is minus the number of neighbouring H-H pairs that are not bonded by the chain. The result is
//! the number of foldings and, for each sequence, the number of foldings with each energy.
//!
//! This is the program of section 4.2 of *Programming with continuation-passing threads* (PCM, the ancestor of Cilk):
//! starting paths that exclude duplicates, then a search that adds one site at a time, prunes paths that cannot be
//! completed, and continues in a loop while a path has only one free neighbour.
//!
//! - [`lattice`](Lattice): the box, and the neighbours of each site, as bit sets
//! - [`sequence`](Sequence): the H monomers of a chain
//! - `symmetry`: starting paths, one for each class of equivalent paths
//! - `prune`: detection of partial paths that cannot be completed
//! - `search`: one step of the search, used by both versions
//! - `histogram`: counters that many workers increment concurrently
//! - [`threads`]: the search as in the paper, with explicit closures
//!
//! Answers: 3x3x3 has 103,346 foldings (OEIS A193346) and 3x3x4 has 84,731,192 (two independent programs: a frontier
//! dynamic program and an enumeration; the paper says "over 48 million"). Squares: 5x5 1,081; 6x6 57,337 (A096969
//! divided by 8). Histograms for known sequences are in the tests.

mod histogram;
mod lattice;
mod prune;
mod search;
mod sequence;
mod symmetry;
pub mod threads;

use std::collections::BTreeMap;

use finespun::prelude::*;
use finespun::simulation;

pub use histogram::Tally;
pub use lattice::{Lattice, LatticeError, MAX_SITES};
pub use search::{Search, State};
pub use sequence::{Sequence, SequenceError};

use crate::bits::Bits;
use crate::progress::Progress;
use symmetry::Start;

/// Maximum number of sequences in one pass of the search.
const BATCH: usize = 8;
/// Elementary operations of a step to a site: the test that the free sites stay connected, and the new state.
const SITE: u64 = 50;

/// A box, and the sequences to fold.
#[derive(Clone, Debug)]
pub struct Problem {
    lattice: Lattice,
    sequences: Vec<Sequence>,
    starts: Vec<Start>,
}

/// A sequence that does not fit its box.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "sequence {sequence} has {monomers} monomers, but the box {lattice} has {sites} sites: give one letter H or P per site"
)]
pub struct LengthError {
    /// The sequence.
    pub sequence: Sequence,
    /// Its length.
    pub monomers: usize,
    /// The box.
    pub lattice: Lattice,
    /// The box's number of sites.
    pub sites: usize,
}

/// The foldings of a problem.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Folding {
    /// The number of foldings, unique up to the symmetries of the box.
    pub paths: u64,
    /// For each sequence, in the order given: the number of foldings with each energy. Energies without a folding are
    /// absent; the counts of each histogram add up to `paths`.
    pub histograms: Vec<BTreeMap<i32, u64>>,
}

impl Problem {
    /// Makes the problem of folding each of `sequences` in `lattice`; without sequences the foldings are only counted.
    ///
    /// One pass of the search serves up to eight sequences. Finding the starting paths takes milliseconds.
    ///
    /// # Errors
    ///
    /// Returns [`LengthError`] if a sequence does not have one monomer per site.
    pub fn new(lattice: Lattice, sequences: &[Sequence]) -> Result<Self, LengthError> {
        for &sequence in sequences {
            if sequence.len() != lattice.sites() {
                return Err(LengthError { sequence, monomers: sequence.len(), lattice, sites: lattice.sites() });
            }
        }
        Ok(Problem { lattice, sequences: sequences.to_vec(), starts: symmetry::starts(lattice) })
    }

    /// Returns the box.
    pub fn lattice(&self) -> Lattice {
        self.lattice
    }

    /// Returns the sequences.
    pub fn sequences(&self) -> &[Sequence] {
        &self.sequences
    }

    /// Returns the number of starting paths, the unit of [`Progress`]; each pass over a batch of sequences explores
    /// every one.
    pub fn starting_paths(&self) -> usize {
        self.starts.len()
    }

    /// Returns the sequences in batches that one pass can process; one empty batch if there are no sequences.
    fn batches(&self) -> impl Iterator<Item = &[Sequence]> {
        let nothing = self.sequences.is_empty().then_some(&[][..]);
        nothing.into_iter().chain(self.sequences.chunks(BATCH))
    }
}

impl Folding {
    /// Adds the result of a further pass; every pass finds the same number of paths.
    fn add(&mut self, pass: Folding) {
        self.paths = pass.paths;
        self.histograms.extend(pass.histograms);
    }
}

/// Finds all foldings sequentially.
///
/// `progress` counts starting paths. Cost: about 90 ns per folding; 3x3x4 takes 7 to 8 s, and 4x4x4 (10^15 foldings) is
/// not feasible.
pub fn plain(problem: &Problem, progress: &Progress) -> Folding {
    fn pass<const K: usize>(problem: &Problem, sequences: &[Sequence], progress: &Progress) -> Folding {
        let search = Search::<K>::new(problem, sequences);
        let mut tally = search.tally();
        let mut paths = 0;
        progress.expect(problem.starts.len() as u64);
        for start in 0..problem.starts.len() {
            paths += search.explore_plain(search.start(start), &mut tally);
            progress.advance(1);
        }
        search.merge(&tally);
        search.folding(paths, sequences.len())
    }
    let mut folding = Folding::default();
    for sequences in problem.batches() {
        folding.add(match sequences.len() {
            0 => pass::<0>(problem, sequences, progress),
            1 => pass::<1>(problem, sequences, progress),
            2 => pass::<2>(problem, sequences, progress),
            3 | 4 => pass::<4>(problem, sequences, progress),
            _ => pass::<BATCH>(problem, sequences, progress),
        });
    }
    folding
}

/// Finds all foldings; each branch of the search is a task.
///
/// `progress` counts starting paths. The answer is the same as the answer of [`plain`], for any number of workers.
#[task]
pub async fn fold(problem: &Problem, progress: &Progress) -> Folding {
    if problem.sequences.is_empty() {
        return count_all(problem, progress).await;
    }
    let mut folding = Folding::default();
    for sequences in problem.batches() {
        let found = match sequences.len() {
            1 => pass::<1>(problem, sequences, progress).await,
            2 => pass::<2>(problem, sequences, progress).await,
            3 | 4 => pass::<4>(problem, sequences, progress).await,
            _ => pass::<BATCH>(problem, sequences, progress).await,
        };
        folding.add(found);
    }
    folding
}

/// Performs one pass of the search for up to `K` sequences.
///
/// The children borrow from this task's own locals, so the compiler places the task in a frame from the start; a run
/// has few passes. [`explore`](fn@explore), which runs very often, lends none of its own locals.
#[task]
async fn pass<const K: usize>(problem: &Problem, sequences: &[Sequence], progress: &Progress) -> Folding {
    let search: Search<K> = Search::new(problem, sequences);
    progress.expect(problem.starts.len() as u64);
    let paths: u64 = explore_all(&search, progress).await;
    search.folding(paths, sequences.len())
}

/// Counts the foldings, without sequences.
#[task]
async fn count_all(problem: &Problem, progress: &Progress) -> Folding {
    let search: Search<0> = Search::new(problem, &[]);
    progress.expect(problem.starts.len() as u64);
    let paths: u64 = count_starts(&search, progress).await;
    search.folding(paths, 0)
}

#[task]
async fn count_starts(search: &Search<0>, progress: &Progress) -> u64 {
    reduce((0..search.starts()).map(move |start| count_start(search, start, progress)), 0, |a: u64, b: u64| a + b).await
}

#[task]
async fn count_start(search: &Search<0>, start: usize, progress: &Progress) -> u64 {
    let paths: u64 = count(search, search.start(start)).await;
    progress.advance(1);
    paths
}

/// Returns the number of ways to complete a path, as [`explore`](fn@explore) does. Other processes take part, since there
/// are no counters to share.
#[task(portable)]
pub async fn count(search: &Search<0>, state: State<0>) -> u64 {
    let sites: u32 = state.sites_left();
    let (state, next): (State<0>, u64) = search.advance(state);
    simulation::compute(SITE * u64::from(1 + sites - state.sites_left()));
    if next == 0 {
        return search.finish(&state);
    }
    reduce(Bits(next).map(move |site| count(search, search.extend(state, site))), 0, |a: u64, b: u64| a + b).await
}

/// Explores all starting paths.
#[task]
pub async fn explore_all<const K: usize>(search: &Search<K>, progress: &Progress) -> u64 {
    reduce((0..search.starts()).map(move |start| explore_start(search, start, progress)), 0, |a: u64, b: u64| a + b)
        .await
}

/// Explores the starting path number `start`.
#[task]
pub async fn explore_start<const K: usize>(search: &Search<K>, start: usize, progress: &Progress) -> u64 {
    let paths: u64 = explore(search, search.start(start)).await;
    progress.advance(1);
    paths
}

/// Returns the number of ways to complete a path; their energies go to the search's counters.
///
/// The paper's `Count_Entries`: a loop makes the forced steps (the paper's tail call to the only neighbour), and each
/// remaining neighbour becomes a task.
#[task]
pub async fn explore<const K: usize>(search: &Search<K>, state: State<K>) -> u64 {
    let sites: u32 = state.sites_left();
    let (state, next): (State<K>, u64) = search.advance(state);
    simulation::compute(SITE * u64::from(1 + sites - state.sites_left()));
    if next == 0 {
        return search.finish(&state);
    }
    reduce(Bits(next).map(move |site| explore(search, search.extend(state, site))), 0, |a: u64, b: u64| a + b).await
}
