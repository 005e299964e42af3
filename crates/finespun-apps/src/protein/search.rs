//! One step of the search, which both versions share.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::histogram::{Histogram, MAX_CONTACTS, Tally};
use super::lattice::{Grid, Lattice, MAX_SITES};
use super::sequence::Sequence;
use super::symmetry::Start;
use super::{Folding, Problem};
use crate::bits::Bits;

/// A search for the foldings of one box, which classifies them for `K` sequences in one pass.
#[derive(Debug)]
pub struct Search<const K: usize> {
    lattice: Lattice,
    grid: Grid,
    sites: u32,
    starts: Vec<Start>,
    /// For each position in the chain and each sequence: all ones if the monomer is H, else zero.
    hydrophobic: [[u64; K]; MAX_SITES],
    /// Number of H-H pairs that are bonded by the chain, for each sequence.
    bonds: [u32; K],
    histogram: Histogram<K>,
}

/// A partial path, by value: the part of its state that a call of the search needs.
///
/// The order of the visited sites does not affect the rest of the path; only the positions of the H monomers do.
#[derive(Clone, Copy, Debug)]
pub struct State<const K: usize> {
    /// Sites not yet visited.
    free: u64,
    /// The last site of the path.
    head: u32,
    /// Number of free sites.
    left: u32,
    /// For each sequence, the visited sites that hold an H.
    hydrophobic: [u64; K],
}

impl<const K: usize> State<K> {
    /// Returns the number of free sites.
    pub fn sites_left(&self) -> u32 {
        self.left
    }
}

impl<const K: usize> Search<K> {
    /// Returns a search without starting paths, for sequences without H.
    fn of(lattice: Lattice) -> Self {
        Search {
            lattice,
            grid: Grid::new(lattice),
            sites: lattice.sites() as u32,
            starts: Vec::new(),
            hydrophobic: [[0; K]; MAX_SITES],
            bonds: [0; K],
            histogram: Histogram::new(),
        }
    }

    /// Returns the search for the foldings of `problem`'s box, and their energies for at most `K` of its sequences.
    pub fn new(problem: &Problem, sequences: &[Sequence]) -> Self {
        let mut search = Search { starts: problem.starts.clone(), ..Search::of(problem.lattice) };
        for (k, sequence) in sequences.iter().enumerate() {
            search.bonds[k] = sequence.bonds();
            for place in (0..MAX_SITES).filter(|&place| sequence.is_hydrophobic(place)) {
                search.hydrophobic[place][k] = !0;
            }
        }
        search
    }

    /// Returns the number of starting paths.
    pub fn starts(&self) -> usize {
        self.starts.len()
    }

    /// Returns the state after the starting path number `index`.
    pub fn start(&self, index: usize) -> State<K> {
        let empty = State { free: self.grid.full, head: 0, left: self.sites, hydrophobic: [0; K] };
        self.starts[index].sites.iter().fold(empty, |state, &site| self.extend(state, u32::from(site)))
    }

    /// Returns the state after one more step, to the free site `site`.
    #[inline(always)]
    pub fn extend(&self, state: State<K>, site: u32) -> State<K> {
        let bit = 1 << site;
        let place = &self.hydrophobic[((self.sites - state.left) as usize) % MAX_SITES];
        let mut hydrophobic = state.hydrophobic;
        for (set, mask) in hydrophobic.iter_mut().zip(place) {
            *set |= mask & bit;
        }
        State { free: state.free & !bit, head: site, left: state.left - 1, hydrophobic }
    }

    /// Returns the possible next sites; none if the path is complete or cannot be completed.
    #[inline(always)]
    pub(super) fn next(&self, state: &State<K>) -> u64 {
        self.grid.next(state.free, state.head, state.left)
    }

    /// Makes all forced steps. Returns the new state and the possible next sites: several, or none if the path is
    /// complete or cannot be completed.
    #[inline(always)]
    pub fn advance(&self, mut state: State<K>) -> (State<K>, u64) {
        loop {
            let next = self.next(&state);
            if next & next.wrapping_sub(1) != 0 || next == 0 {
                return (state, next);
            }
            state = self.extend(state, next.trailing_zeros());
        }
    }

    /// Returns the number of H-H contacts of a complete path, for sequence `k`.
    #[inline(always)]
    fn contacts(&self, state: &State<K>, k: usize) -> u32 {
        self.grid.pairs(state.hydrophobic[k]) - self.bonds[k]
    }

    /// Processes a path without a next site: returns 1 and records its energies if it is complete, else 0.
    #[inline]
    pub fn finish(&self, state: &State<K>) -> u64 {
        if state.left != 0 {
            return 0;
        }
        for k in 0..K {
            self.histogram.record(k, self.contacts(state, k));
        }
        1
    }

    /// Processes a path without a next site as [`finish`](Search::finish) does, into `tally`.
    #[inline(always)]
    pub fn finish_plain(&self, state: &State<K>, tally: &mut Tally<K>) -> u64 {
        if state.left != 0 {
            return 0;
        }
        for (k, tally) in tally.iter_mut().enumerate() {
            tally[self.contacts(state, k) as usize] += 1;
        }
        1
    }

    /// Returns the number of ways to complete the path, sequentially; their energies go to `tally`.
    pub(super) fn explore_plain(&self, state: State<K>, tally: &mut Tally<K>) -> u64 {
        let (state, next) = self.advance(state);
        if next == 0 {
            return self.finish_plain(&state, tally);
        }
        Bits(next).map(|site| self.explore_plain(self.extend(state, site), tally)).sum()
    }

    /// Returns an empty tally.
    pub fn tally(&self) -> Tally<K> {
        [[0; MAX_CONTACTS]; K]
    }

    /// Adds a tally to the results.
    pub fn merge(&self, tally: &Tally<K>) {
        self.histogram.merge(tally);
    }

    /// Returns the result of a pass that found `paths` paths, with the histograms of its first `sequences` sequences.
    pub fn folding(&self, paths: u64, sequences: usize) -> Folding {
        let by_energy = |tally: [u64; MAX_CONTACTS]| {
            let energies = (0..).map(|contacts: i32| -contacts);
            energies.zip(tally).filter(|&(_, count)| count > 0).collect()
        };
        Folding { paths, histograms: self.histogram.totals().into_iter().take(sequences).map(by_energy).collect() }
    }
}

/// The box: the rest follows from it, but for the starting paths, which a partial path does not need.
impl Serialize for Search<0> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.lattice.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Search<0> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Lattice::deserialize(deserializer).map(Search::of)
    }
}

impl Serialize for State<0> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (self.free, self.head, self.left).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for State<0> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let (free, head, left) = <(u64, u32, u32)>::deserialize(deserializer)?;
        Ok(State { free, head, left, hydrophobic: [] })
    }
}
