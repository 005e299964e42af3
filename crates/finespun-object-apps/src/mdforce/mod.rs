//! The forces between atoms that no bond joins, every atom an object.
//!
//! The irregular code of the hybrid execution model (hybrid-execution-model, section 4.3.2, table 5: MD-Force, the nonbonded
//! phase of a simulation of proteins, 10,503 atoms). It goes through all pairs of atoms that are less than a cutoff apart,
//! and adds to the forces on both what they do to each other: Lennard-Jones' and Coulomb's force, cut off plainly. Pairs
//! joined by one or two bonds are excluded; those three bonds apart act by parameters of their own, whatever their distance.
//! Conventions are OpenMM's: nm, kJ/mol, e.
//!
//! Atoms are spread over the nodes by lot, or so that near ones are together. A pair is computed where its first atom lives.
//! If the second is there too, that is a call on the stack; if not, its coordinates are looked up in the node's cache, which
//! is one too; if they are not there, a request goes to its home, and the computation becomes a frame. What a node finds out
//! about the forces on atoms elsewhere, it adds up, and sends once.
//!
//! - [`system`](System): atoms, exceptions, and the kernel
//! - `files`, `mdsys`, `amber`: the formats that systems are read from
//! - [`cells`](Pairs): the list of pairs
//! - [`plain`](Plain): the sequential version
//! - [`layout`](Layout): the node of each atom
//! - `plan`: what there will be on each node
//! - [`create`]: making the objects
//! - [`objects`](Objects): the objects
//!
//! Answers: T4 lysozyme without a cutoff agrees with the log of AMBER's sander that comes with it, to all its digits once
//! AMBER's slightly different Coulomb constant is taken into account. Forces are derivatives of the energy, and cancel.

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

/// T4 lysozyme L99A as it comes with openmmtools (`data/t4/README.md`): 2,603 atoms.
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
    /// Lennard-Jones', of the pairs within the cutoff.
    pub lj: f64,
    /// Coulomb's, of these.
    pub coulomb: f64,
    /// Lennard-Jones', of the pairs three bonds apart.
    pub lj_14: f64,
    /// Coulomb's, of these.
    pub coulomb_14: f64,
}

impl Energy {
    /// All four.
    pub fn total(&self) -> f64 {
        self.lj + self.coulomb + self.lj_14 + self.coulomb_14
    }

    /// Adds a pair's.
    #[inline(always)]
    fn count(&mut self, pull: &Pull, exception: bool) {
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
fn add(sum: &mut Vector, force: Vector) {
    for (sum, force) in sum.iter_mut().zip(force) {
        *sum += force;
    }
}

/// Takes from a force.
#[inline(always)]
fn subtract(sum: &mut Vector, force: Vector) {
    for (sum, force) in sum.iter_mut().zip(force) {
        *sum -= force;
    }
}

/// One number for all forces, in kJ/mol/nm: the sizes of their components, weighted by 1 to 101 in turn. Nothing cancels, so
/// roundings do not show, and a force at the wrong atom does.
pub fn checksum(forces: &[Vector]) -> f64 {
    forces.iter().flatten().enumerate().map(|(k, component)| ((k % 101) + 1) as f64 * component.abs()).sum()
}
