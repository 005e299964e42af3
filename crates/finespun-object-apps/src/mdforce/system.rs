//! Atoms, and the pairs of atoms that are exceptions.

use serde::{Deserialize, Serialize};

use super::cells::Cells;
use crate::files::FileError;

/// A position in nm, or a force in kJ/mol/nm.
pub type Vector = [f64; 3];

/// Coulomb's constant in kJ nm / mol / e^2, with OpenMM's value.
pub const COULOMB: f64 = 138.935_456;

/// Distance between the copies of a system, in nm: about a contact distance.
const GAP: f64 = 0.3;

/// Atoms nearer than this, in nm, are reported as an error.
const TOO_NEAR: f64 = 1e-3;

/// Limit of the absolute value of a coordinate, in nm.
pub(super) const FARTHEST: f64 = 1e5;

/// Maximum number of atoms, copies included.
pub const MOST_ATOMS: usize = 1 << 24;

/// An atom's position and parameters, as its partners need them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Site {
    /// The position.
    pub position: Vector,
    /// The charge times the square root of Coulomb's constant.
    charge: f64,
    /// Half of Lennard-Jones' sigma: the pair's sigma is the sum of both atoms' values.
    half_sigma: f64,
    /// Twice the square root of Lennard-Jones' epsilon: the product of two is four times the pair's epsilon.
    root: f64,
}

/// The parameters of a pair's interaction.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Terms {
    /// Sigma squared.
    sigma2: f64,
    /// Four times epsilon.
    four_epsilon: f64,
    /// Coulomb's constant times both charges.
    charges: f64,
}

impl Site {
    /// Makes a site from a charge in e, and Lennard-Jones' parameters in nm and kJ/mol.
    pub fn new(position: Vector, charge: f64, sigma: f64, epsilon: f64) -> Site {
        Site { position, charge: charge * COULOMB.sqrt(), half_sigma: 0.5 * sigma, root: 2.0 * epsilon.sqrt() }
    }

    /// Returns the parameters of the pair of two atoms: Lorentz' mean of sigma, Berthelot's mean of epsilon.
    #[inline(always)]
    pub fn with(&self, other: &Site) -> Terms {
        let sigma = self.half_sigma + other.half_sigma;
        Terms { sigma2: sigma * sigma, four_epsilon: self.root * other.root, charges: self.charge * other.charge }
    }
}

impl Terms {
    /// Makes parameters from a product of charges in e^2, and Lennard-Jones' parameters in nm and kJ/mol.
    pub fn new(charges: f64, sigma: f64, epsilon: f64) -> Terms {
        Terms { sigma2: sigma * sigma, four_epsilon: 4.0 * epsilon, charges: COULOMB * charges }
    }
}

/// The interaction of one pair: the force on its first atom (the second atom's is the negative), and the energies in
/// kJ/mol.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pull {
    /// The force on the first atom.
    pub force: Vector,
    /// The Lennard-Jones energy.
    pub lj: f64,
    /// The Coulomb energy.
    pub coulomb: f64,
}

/// Computes the interaction of two atoms at `p` and `q`: the kernel.
#[inline(always)]
pub fn pull(p: Vector, q: Vector, terms: &Terms) -> Pull {
    let r = [p[0] - q[0], p[1] - q[1], p[2] - q[2]];
    let inverse2 = 1.0 / (r[0] * r[0] + r[1] * r[1] + r[2] * r[2]);
    let s2 = terms.sigma2 * inverse2;
    let s6 = s2 * s2 * s2;
    let lj = terms.four_epsilon * s6 * (s6 - 1.0);
    let coulomb = terms.charges * inverse2.sqrt();
    let scale = (terms.four_epsilon * s6 * (12.0 * s6 - 6.0) + coulomb) * inverse2;
    Pull { force: [r[0] * scale, r[1] * scale, r[2] * scale], lj, coulomb }
}

/// Returns the square of the distance between two positions.
#[inline(always)]
pub fn distance2(p: &Vector, q: &Vector) -> f64 {
    let r = [p[0] - q[0], p[1] - q[1], p[2] - q[2]];
    r[0] * r[0] + r[1] * r[1] + r[2] * r[2]
}

/// A pair with parameters of its own, or without interaction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Exception {
    /// The lower index.
    pub first: u32,
    /// The higher index.
    pub second: u32,
    /// The parameters (atoms three bonds apart), or `None` for a pair that does not interact (fewer bonds).
    pub terms: Option<Terms>,
}

/// Atoms by index, and the exceptions among their pairs.
#[derive(Clone, Debug, PartialEq)]
pub struct System {
    sites: Vec<Site>,
    /// Sorted by the two indices.
    exceptions: Vec<Exception>,
}

impl System {
    /// Makes a system from atoms and exceptions, which the reader has checked one by one.
    ///
    /// # Errors
    ///
    /// Two exceptions for one pair; two interacting atoms at one position; no atoms, or too many.
    pub fn new(sites: Vec<Site>, mut exceptions: Vec<Exception>) -> Result<System, Problem> {
        if sites.is_empty() || sites.len() > MOST_ATOMS {
            return Err(Problem::Atoms(sites.len()));
        }
        exceptions.sort_by_key(|exception| (exception.first, exception.second));
        let same = |pair: &&[Exception]| (pair[0].first, pair[0].second) == (pair[1].first, pair[1].second);
        if let Some(pair) = exceptions.windows(2).find(same) {
            return Err(Problem::Twice { first: pair[0].first, second: pair[0].second });
        }
        let system = System { sites, exceptions };
        let mut near = None;
        Cells::new(system.sites(), TOO_NEAR).pairs(|i, j| {
            let excluded = matches!(system.exception(i, j), Some(Exception { terms: None, .. }));
            if !excluded && near.is_none_or(|found| (i, j) < found) {
                near = Some((i, j));
            }
        });
        match near {
            Some((first, second)) => Err(Problem::Near { first, second }),
            None => Ok(system),
        }
    }

    /// Returns the atoms.
    pub fn sites(&self) -> &[Site] {
        &self.sites
    }

    /// Returns the exceptions, sorted by the two indices.
    pub fn exceptions(&self) -> &[Exception] {
        &self.exceptions
    }

    /// Returns the exception for a pair, if the pair has one. `first` is the lower index.
    pub fn exception(&self, first: u32, second: u32) -> Option<&Exception> {
        let found = self.exceptions.binary_search_by_key(&(first, second), |known| (known.first, known.second));
        found.ok().map(|at| &self.exceptions[at])
    }

    /// Returns `copies` copies side by side, on a grid as close to a cube as their number allows. Their bounding boxes
    /// do not overlap.
    ///
    /// # Panics
    ///
    /// Panics if the result has more than [`MOST_ATOMS`] atoms.
    pub fn replicate(&self, copies: usize) -> System {
        let atoms = self.sites.len();
        assert!(atoms * copies <= MOST_ATOMS, "{copies} copies of {atoms} atoms are more than {MOST_ATOMS}");
        let (low, high) = bounds(self.sites.iter().map(|site| &site.position));
        let columns = (1..).find(|side| side * side * side >= copies).unwrap_or(1);
        let rows = (1..).find(|side| side * side * columns >= copies).unwrap_or(1);
        let mut sites = Vec::with_capacity(atoms * copies);
        let mut exceptions = Vec::with_capacity(self.exceptions.len() * copies);
        for copy in 0..copies {
            let cell = [copy % columns, copy / columns % rows, copy / (columns * rows)];
            let shift: Vector = std::array::from_fn(|axis| cell[axis] as f64 * (high[axis] - low[axis] + GAP));
            let first = (copy * atoms) as u32;
            sites.extend(
                self.sites.iter().map(|site| Site {
                    position: std::array::from_fn(|axis| site.position[axis] + shift[axis]),
                    ..*site
                }),
            );
            exceptions.extend(self.exceptions.iter().map(|exception| Exception {
                first: exception.first + first,
                second: exception.second + first,
                ..*exception
            }));
        }
        System { sites, exceptions }
    }

    /// Returns the first `atoms` atoms, and the exceptions among them.
    pub fn first(&self, atoms: usize) -> System {
        let inside = |exception: &&Exception| (exception.second as usize) < atoms;
        System {
            sites: self.sites.iter().take(atoms).copied().collect(),
            exceptions: self.exceptions.iter().filter(inside).copied().collect(),
        }
    }

    /// Returns a copy with one atom moved.
    pub fn with_moved(&self, atom: usize, by: Vector) -> System {
        let mut moved = self.clone();
        for (coordinate, by) in moved.sites[atom].position.iter_mut().zip(by) {
            *coordinate += by;
        }
        moved
    }
}

/// Returns the bounding box of some positions: the lowest and the highest coordinates.
pub(super) fn bounds<'a>(positions: impl Iterator<Item = &'a Vector>) -> (Vector, Vector) {
    positions.fold(([f64::INFINITY; 3], [f64::NEG_INFINITY; 3]), |(low, high), position| {
        (
            std::array::from_fn(|axis| low[axis].min(position[axis])),
            std::array::from_fn(|axis| high[axis].max(position[axis])),
        )
    })
}

/// An error in reading a system.
#[derive(Debug, thiserror::Error)]
pub enum SystemError {
    /// The file cannot be read as text.
    #[error(transparent)]
    File(#[from] FileError),
    /// A line of the file is invalid.
    #[error("{file}, line {line}: {problem}")]
    Line {
        /// The file.
        file: String,
        /// The line number from 1, in the unpacked text.
        line: usize,
        /// The problem.
        problem: Problem,
    },
    /// The file as a whole is invalid.
    #[error("{file}: {problem}")]
    Whole {
        /// The file.
        file: String,
        /// The problem.
        problem: Problem,
    },
}

/// A problem of a file, and the cure.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Problem {
    /// The text ends too early.
    #[error("the file ends here, before {wanted}: it was cut short, so fetch it again")]
    Ended {
        /// The missing part of the file.
        wanted: String,
    },
    /// A word is not a valid value.
    #[error("`{found}` is no {what}: {cure}")]
    Word {
        /// The word, shortened.
        found: String,
        /// The expected kind of value.
        what: &'static str,
        /// The allowed values.
        cure: String,
    },
    /// A line has too few or too many words.
    #[error("{found} words are here instead of {wanted}: {form}")]
    Words {
        /// The number of words.
        found: usize,
        /// The required number of words.
        wanted: usize,
        /// The form of the line.
        form: &'static str,
    },
    /// A section is missing.
    #[error("there is no section {0}: give a complete file")]
    Missing(&'static str),
    /// A section has the wrong number of values.
    #[error("the section {section} has {found} values instead of {wanted}: give a file whose counts fit")]
    Count {
        /// The name of the section.
        section: String,
        /// The number of values in the section.
        found: usize,
        /// The number of values that the rest of the file requires.
        wanted: usize,
    },
    /// The two files belong to different systems.
    #[error("it has the coordinates of {found} atoms, but {topology} has {wanted}: give the two files of one system")]
    OtherSystem {
        /// The number of coordinates.
        found: usize,
        /// The file with the parameters.
        topology: String,
        /// The number of atoms in that file.
        wanted: usize,
    },
    /// A feature that this program does not implement.
    #[error("{what}, which is not computed here: give a system without")]
    Unknown {
        /// The feature.
        what: String,
    },
    /// No atoms, or too many.
    #[error("{0} atoms: give 1 to {MOST_ATOMS}")]
    Atoms(usize),
    /// Two exceptions for the same pair.
    #[error("the pair of atoms {first} and {second} has two exceptions: give it one (atoms count from 0)")]
    Twice {
        /// The first atom.
        first: u32,
        /// The second atom.
        second: u32,
    },
    /// Two interacting atoms are at one position.
    #[error(
        "atoms {first} and {second} are in the same place, so their force has no end: move one of them (atoms count from 0)"
    )]
    Near {
        /// The first atom.
        first: u32,
        /// The second atom.
        second: u32,
    },
    /// An AMBER prmtop without a file of coordinates, or a file of coordinates beside an `.mdsys` file.
    #[error("{0}")]
    Coordinates(&'static str),
}
