//! The sequential version: plain structs that refer to each other by index.

use super::cells::Pairs;
use super::system::{Exception, Site, System, Vector, pull};
use super::{Energy, add, subtract};

/// A system, its pairs, and the forces on its atoms.
#[derive(Clone, Debug)]
pub struct Plain<'a> {
    atoms: Vec<PlainAtom>,
    exceptions: &'a [Exception],
    pairs: &'a Pairs,
}

#[derive(Clone, Debug)]
struct PlainAtom {
    site: Site,
    force: Vector,
}

impl<'a> Plain<'a> {
    /// Makes the atoms, with no forces yet.
    pub fn new(system: &'a System, pairs: &'a Pairs) -> Plain<'a> {
        let atom = |&site| PlainAtom { site, force: [0.0; 3] };
        Plain { atoms: system.sites().iter().map(atom).collect(), exceptions: system.exceptions(), pairs }
    }

    /// Computes all forces anew, `iterations` times. Returns the energies of the last iteration.
    pub fn evaluate(&mut self, iterations: u32) -> Energy {
        let mut energy = Energy::default();
        for _ in 0..iterations {
            energy = self.evaluate_once();
        }
        energy
    }

    fn evaluate_once(&mut self) -> Energy {
        self.atoms.iter_mut().for_each(|atom| atom.force = [0.0; 3]);
        let mut energy = Energy::default();
        for first in 0..self.atoms.len() {
            let site = self.atoms[first].site;
            let (mut own, mut force) = (Energy::default(), [0.0; 3]);
            for partner in self.pairs.of(first) {
                let other = &mut self.atoms[partner.atom as usize];
                let terms = match partner.exception.and_then(|place| self.exceptions[place.index()].terms) {
                    None => site.with(&other.site),
                    Some(terms) => terms,
                };
                let pull = pull(site.position, other.site.position, &terms);
                own.count(&pull, partner.exception.is_some());
                add(&mut force, pull.force);
                subtract(&mut other.force, pull.force);
            }
            add(&mut self.atoms[first].force, force);
            energy += own;
        }
        energy
    }

    /// Returns the forces of the last evaluation, in kJ/mol/nm.
    pub fn forces(&self) -> Vec<Vector> {
        self.atoms.iter().map(|atom| atom.force).collect()
    }
}
