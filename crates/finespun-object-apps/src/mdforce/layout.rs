//! The distribution of atoms over the nodes.

use std::collections::HashSet;

use super::cells::Pairs;
use super::system::{System, bounds};

/// The method that assigns atoms to nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// Pseudo-random, with equally many atoms on each node.
    Random,
    /// Orthogonal recursive bisection: the box is cut across its longest side, and each part is cut in the same way.
    /// Each node gets the same number of atoms, which are near each other.
    Spatial,
}

impl Layout {
    /// Returns the node of each atom.
    pub fn nodes(self, system: &System, nodes: usize) -> Vec<usize> {
        let mut homes = vec![0; system.sites().len()];
        let mut atoms: Vec<usize> = (0..homes.len()).collect();
        match self {
            Layout::Random => {
                shuffle(&mut atoms);
                for (turn, atom) in atoms.into_iter().enumerate() {
                    homes[atom] = turn % nodes;
                }
            }
            Layout::Spatial => bisect(system, &mut atoms, 0, nodes, &mut homes),
        }
        homes
    }
}

/// Shuffles `atoms` by the Fisher-Yates method, always in the same way (random numbers by splitmix64).
fn shuffle(atoms: &mut [usize]) {
    let mut state = 0_u64;
    for last in (1..atoms.len()).rev() {
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut word = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        let below = last as u64 + 1;
        atoms.swap(last, ((word ^ (word >> 31)) % below) as usize);
    }
}

/// Distributes `atoms` over `nodes` nodes, beginning with `first`.
fn bisect(system: &System, atoms: &mut [usize], first: usize, nodes: usize, homes: &mut [usize]) {
    if nodes == 1 || atoms.is_empty() {
        return atoms.iter().for_each(|&atom| homes[atom] = first);
    }
    let position = |atom: usize| &system.sites()[atom].position;
    let (low, high) = bounds(atoms.iter().map(|&atom| position(atom)));
    let longest = |one: &usize, other: &usize| (high[*one] - low[*one]).total_cmp(&(high[*other] - low[*other]));
    let axis = (0..3).rev().max_by(longest).unwrap_or(0);
    atoms.sort_by(|&one, &other| position(one)[axis].total_cmp(&position(other)[axis]).then(one.cmp(&other)));
    let lower = nodes / 2;
    let (left, right) = atoms.split_at_mut(atoms.len() * lower / nodes);
    bisect(system, left, first, lower, homes);
    bisect(system, right, first + lower, nodes - lower, homes);
}

/// Counts of local and remote pairs under a layout.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Locality {
    /// Pairs with both atoms on one node.
    pub local: u64,
    /// Pairs with atoms on two nodes.
    pub remote: u64,
    /// Copies of remote atoms, counted once for each node that needs one: the requests of one evaluation.
    pub copies: u64,
}

impl Locality {
    /// Counts the pairs and copies.
    pub fn of(pairs: &Pairs, homes: &[usize]) -> Locality {
        let mut found = Locality::default();
        let mut copies = HashSet::new();
        for (atom, &home) in homes.iter().enumerate() {
            for partner in pairs.of(atom) {
                if homes[partner.atom as usize] == home {
                    found.local += 1;
                } else {
                    found.remote += 1;
                    copies.insert((home, partner.atom));
                }
            }
        }
        found.copies = copies.len() as u64;
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mdforce::t4;

    #[test]
    fn every_node_has_its_share() {
        let system = t4();
        for layout in [Layout::Random, Layout::Spatial] {
            for nodes in [1, 2, 3, 7, 8, 64] {
                let homes = layout.nodes(&system, nodes);
                let mut counts = vec![0_usize; nodes];
                homes.iter().for_each(|&home| counts[home] += 1);
                let (least, most) = (counts.iter().min().unwrap(), counts.iter().max().unwrap());
                assert!(most - least <= nodes.ilog2() as usize + 1, "{layout:?} over {nodes}: {counts:?}");
            }
            // More nodes than atoms.
            let few = layout.nodes(&system.first(3), 8);
            assert!(few.iter().all(|&home| home < 8), "{few:?}");
        }
    }

    #[test]
    fn bisection_keeps_neighbours_together() {
        let system = t4();
        let pairs = Pairs::new(&system, 0.8);
        let all = pairs.regular() + pairs.exceptions();
        for nodes in [2, 8, 64] {
            let [random, spatial] =
                [Layout::Random, Layout::Spatial].map(|layout| Locality::of(&pairs, &layout.nodes(&system, nodes)));
            assert_eq!((random.local + random.remote, spatial.local + spatial.remote), (all, all));
            // With random placement one pair in `nodes` is local.
            assert!((random.local * nodes as u64).abs_diff(all) < all / 5, "{nodes}: {random:?}");
            assert!(spatial.local * 3 > random.local * 4, "{nodes}: {spatial:?} {random:?}");
            assert!(spatial.copies < random.copies, "{nodes}: {spatial:?} {random:?}");
        }
        assert_eq!(Locality::of(&pairs, &Layout::Spatial.nodes(&system, 1)).copies, 0);
    }
}
