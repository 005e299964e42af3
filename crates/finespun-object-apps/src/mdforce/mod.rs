//! The forces between nonbonded atoms, every atom an object.
//!
//! The irregular code of the hybrid execution model (hybrid-execution-model, section 4.3.2, table 5: MD-Force, the
//! nonbonded phase of a protein simulation, 10,503 atoms). It iterates over all pairs of atoms that are less than a
//! cutoff apart, and adds the pair's force to both atoms: Lennard-Jones' and Coulomb's force, truncated at the cutoff
//! without smoothing. Pairs joined by one or two bonds are excluded; pairs three bonds apart interact with parameters
//! of their own, at any distance. The conventions are OpenMM's: nm, kJ/mol, e.
//!
//! Atoms are distributed over the nodes at random, or so that close atoms share a node. A pair is computed at the node
//! of its first atom. If the second atom is on the same node, the access is a call on the stack. If not, its
//! coordinates are looked up in the node's cache, also a call on the stack. On a miss, a request is sent to the atom's
//! home, and the computation becomes a frame. Each node accumulates its contributions to the forces on remote atoms,
//! and sends them in one message to each node.
//!
//! - [`system`](System): atoms, exceptions, and the kernel
//! - `files`, `mdsys`, `amber`: the formats that systems are read from
//! - [`cells`](Pairs): the list of pairs
//! - [`plain`](Plain): the sequential version
//! - [`layout`](Layout): the node of each atom
//! - `plan`: the atoms and ghosts of each node
//! - [`create`]: the creation of the objects
//! - [`objects`](Objects): the objects
//!
//! Answers: T4 lysozyme without a cutoff agrees with the log of AMBER's sander that is distributed with it, to all its
//! digits, after correction for AMBER's slightly different Coulomb constant. Forces are derivatives of the energy, and
//! sum to zero.

mod amber;
mod cells;
mod create;
mod files;
mod layout;
mod mdsys;
mod objects;
mod plain;
mod plan;
mod system;

#[cfg(test)]
mod tests;

pub use cells::{Pairs, Partner, Place};
pub use create::create;
pub use layout::{Layout, Locality};
pub use objects::{Atom, Ghost, Objects, Patch, evaluate, forces, free};
pub use plain::Plain;
pub use system::{COULOMB, Exception, MOST_ATOMS, Problem, Pull, Site, System, SystemError, Terms, Vector, pull};

use serde::{Deserialize, Serialize};

/// Returns T4 lysozyme L99A as distributed with openmmtools (`data/t4/README.md`): 2,603 atoms.
///
/// # Panics
///
/// Never: the files are part of the program.
pub fn t4() -> System {
    let topology = include_bytes!("../../data/t4/receptor.prmtop.gz");
    let coordinates = include_bytes!("../../data/t4/receptor-minimized.crd");
    let system = System::read(["receptor.prmtop.gz", "receptor-minimized.crd"], topology, Some(coordinates));
    system.unwrap_or_else(|error| panic!("{error}"))
}

/// Energies in kJ/mol.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Energy {
    /// Lennard-Jones energy of the pairs within the cutoff.
    pub lj: f64,
    /// Coulomb energy of the pairs within the cutoff.
    pub coulomb: f64,
    /// Lennard-Jones energy of the pairs three bonds apart.
    pub lj_14: f64,
    /// Coulomb energy of the pairs three bonds apart.
    pub coulomb_14: f64,
}

impl Energy {
    /// Returns the sum of all four energies.
    pub fn total(&self) -> f64 {
        self.lj + self.coulomb + self.lj_14 + self.coulomb_14
    }

    /// Adds the energies of a pair.
    #[inline(always)]
    pub fn count(&mut self, pull: &Pull, exception: bool) {
        match exception {
            false => (self.lj, self.coulomb) = (self.lj + pull.lj, self.coulomb + pull.coulomb),
            true => (self.lj_14, self.coulomb_14) = (self.lj_14 + pull.lj, self.coulomb_14 + pull.coulomb),
        }
    }
}

impl std::ops::AddAssign for Energy {
    fn add_assign(&mut self, other: Energy) {
        self.lj += other.lj;
        self.coulomb += other.coulomb;
        self.lj_14 += other.lj_14;
        self.coulomb_14 += other.coulomb_14;
    }
}

/// Adds to a force.
#[inline(always)]
pub fn add(sum: &mut Vector, force: Vector) {
    for (sum, force) in sum.iter_mut().zip(force) {
        *sum += force;
    }
}

/// Subtracts from a force.
#[inline(always)]
pub fn subtract(sum: &mut Vector, force: Vector) {
    for (sum, force) in sum.iter_mut().zip(force) {
        *sum -= force;
    }
}

/// Returns a checksum of all forces, in kJ/mol/nm: the sum of the absolute values of their components, with weights of
/// 1 to 101 in turn. Nothing cancels, so rounding differences stay small, but a force at the wrong atom changes the
/// checksum.
pub fn checksum(forces: &[Vector]) -> f64 {
    forces.iter().flatten().enumerate().map(|(k, component)| ((k % 101) + 1) as f64 * component.abs()).sum()
}
