//! Starting paths that exclude duplicates.
//!
//! A rotation or reflection of the box permutes its sites. A path is extended site by site together with its
//! *stabiliser*: the symmetries that leave all its sites in place. Extensions that the stabiliser maps to one another
//! lead to duplicates, so only the first of each orbit is followed. Once the stabiliser is the identity alone, every
//! extension is unique, and the search needs no further test. So each folding is found exactly once, for any box.

use super::lattice::{Grid, Lattice};
use crate::bits::Bits;

/// Minimum number of starting paths, if that many exist: enough to show progress evenly.
const ENOUGH: usize = 500;

/// A symmetry of the box: the image of each site.
type Symmetry = Vec<u8>;

/// A starting path: its sites in the order of the visit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Start {
    pub sites: Vec<u8>,
}

/// Returns the starting paths of `lattice`: every folding continues exactly one.
///
/// Paths that cannot be completed are omitted if the search itself would detect them; the search treats the images of a
/// path equally.
pub(super) fn starts(lattice: Lattice) -> Vec<Start> {
    let grid = Grid::new(lattice);
    let group = group(lattice);
    let all: Vec<&Symmetry> = group.iter().collect();
    let mut open: Vec<(Start, Vec<&Symmetry>)> = representatives(grid.full & allowed_ends(&grid), &all)
        .map(|site| (Start { sites: vec![site] }, fixing(&all, site)))
        .collect();
    let mut unique = Vec::new();
    while let Some((start, stabiliser)) = open.pop() {
        if stabiliser.len() == 1 {
            unique.push(start);
            continue;
        }
        open.extend(
            representatives(start.next(&grid), &stabiliser).map(|site| (start.then(site), fixing(&stabiliser, site))),
        );
    }
    // Extends the paths until they are numerous enough to show progress evenly.
    let complete = |start: &Start| start.sites.len() == lattice.sites();
    while unique.len() < ENOUGH && !unique.iter().all(complete) {
        let longer = |start: &Start| -> Vec<Start> {
            if complete(start) {
                return vec![start.clone()];
            }
            Bits(start.next(&grid)).map(|site| start.then(site as u8)).collect()
        };
        unique = unique.iter().flat_map(longer).collect();
    }
    unique
}

impl Start {
    /// Returns the sites of the path as a bit set.
    fn visited(&self) -> u64 {
        self.sites.iter().fold(0, |set, &site| set | 1 << site)
    }

    /// Returns the possible next sites of the path.
    fn next(&self, grid: &Grid) -> u64 {
        let free = grid.full & !self.visited();
        let head = self.sites[self.sites.len() - 1];
        grid.next(free, u32::from(head), free.count_ones())
    }

    /// Returns the path with one more site.
    fn then(&self, site: u8) -> Start {
        Start { sites: self.sites.iter().copied().chain([site]).collect() }
    }
}

/// Returns the possible first sites of a path: in a box with an odd number of sites, those with the more frequent
/// parity; else all.
fn allowed_ends(grid: &Grid) -> u64 {
    if grid.full.count_ones() % 2 == 1 { !grid.odd } else { !0 }
}

/// Returns the symmetries of the box as permutations of its sites, each once.
fn group(lattice: Lattice) -> Vec<Symmetry> {
    const ORDERS: [[usize; 3]; 6] = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
    let sides = lattice.sides();
    let mut all = Vec::new();
    for order in ORDERS {
        if order.map(|axis| sides[axis]) != sides {
            continue;
        }
        for mirrored in 0..8 {
            let image = |site| {
                let from = lattice.coordinates(site);
                let mut to = order.map(|axis| from[axis]);
                for axis in 0..3 {
                    if mirrored >> axis & 1 == 1 {
                        to[axis] = sides[axis] - 1 - to[axis];
                    }
                }
                lattice.site(to) as u8
            };
            all.push((0..lattice.sites()).map(image).collect());
        }
    }
    // In a flat box several reflections are the same permutation of the sites.
    all.sort_unstable();
    all.dedup();
    all
}

/// Returns the first site of each orbit of `symmetries` in `set`.
fn representatives(set: u64, symmetries: &[&Symmetry]) -> impl Iterator<Item = u8> {
    let mut seen = 0u64;
    Bits(set).map(|site| site as u8).filter(move |&site| {
        let first = seen >> site & 1 == 0;
        seen = symmetries.iter().fold(seen, |seen, symmetry| seen | 1 << symmetry[usize::from(site)]);
        first
    })
}

/// Returns the symmetries that leave `site` in place.
fn fixing<'s>(symmetries: &[&'s Symmetry], site: u8) -> Vec<&'s Symmetry> {
    symmetries.iter().copied().filter(|symmetry| symmetry[usize::from(site)] == site).collect()
}

#[cfg(test)]
mod tests {
    use super::{Lattice, group, starts};

    fn lattice(text: &str) -> Lattice {
        Lattice::parse(text).expect(text)
    }

    #[test]
    fn symmetry_groups_have_the_known_orders() {
        for (text, order) in [
            ("3x3x3", 48),
            ("2x2x2", 48),
            ("3x3x4", 16),
            ("4x3x3", 16),
            ("2x3x4", 8),
            ("3x3", 8),
            ("2x3", 4),
            ("1x5", 2),
            ("1x1", 1),
        ] {
            assert_eq!(group(lattice(text)).len(), order, "{text}");
        }
    }

    #[test]
    fn no_start_is_an_image_or_a_prefix_of_another() {
        for text in ["3x3", "4x4", "2x2x2", "3x3x3", "3x3x4", "2x3x3"] {
            let (starts, group) = (starts(lattice(text)), group(lattice(text)));
            for (i, a) in starts.iter().enumerate() {
                for symmetry in &group {
                    let image: Vec<u8> = a.sites.iter().map(|&site| symmetry[usize::from(site)]).collect();
                    for (j, b) in starts.iter().enumerate() {
                        let same = b.sites.starts_with(&image) || image.starts_with(&b.sites);
                        assert!(!same || (i == j && image == a.sites), "{text}: {a:?} and {b:?}");
                    }
                }
            }
        }
    }
}
