//! Atoms, and the pairs of them that are exceptions.

use serde::{Deserialize, Serialize};

use super::cells::Cells;
use crate::files::FileError;

/// A place, a force: nm, kJ/mol/nm.
pub type Vector = [f64; 3];

/// Coulomb's constant in kJ nm / mol / e^2, as OpenMM has it.
pub const COULOMB: f64 = 138.935_456;

/// The copies of a system are as far apart as this, in nm: about a contact.
const GAP: f64 = 0.3;

/// Atoms nearer than this, in nm, are taken for a mistake.
const TOO_NEAR: f64 = 1e-3;

/// No coordinate is beyond this, in nm.
pub(super) const FARTHEST: f64 = 1e5;

/// No more atoms than this, copies included.
pub const MOST_ATOMS: usize = 1 << 24;

/// What others see of an atom: where it is, and how it acts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Site {
    /// Where it is.
    pub position: Vector,
    /// Its charge, times the root of Coulomb's constant.
    charge: f64,
    /// Half of Lennard-Jones' sigma: those of two atoms add up to the pair's.
    half_sigma: f64,
    /// Twice the root of Lennard-Jones' epsilon: the product of two is four times the pair's.
    root: f64,
}

/// How a pair acts.
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
    /// From a charge in e, and Lennard-Jones' parameters in nm and kJ/mol.
    pub fn new(position: Vector, charge: f64, sigma: f64, epsilon: f64) -> Site {
        Site { position, charge: charge * COULOMB.sqrt(), half_sigma: 0.5 * sigma, root: 2.0 * epsilon.sqrt() }
    }

    /// How this atom and another act: Lorentz' mean of sigma, Berthelot's of epsilon.
    #[inline(always)]
    pub fn with(&self, other: &Site) -> Terms {
        let sigma = self.half_sigma + other.half_sigma;
        Terms { sigma2: sigma * sigma, four_epsilon: self.root * other.root, charges: self.charge * other.charge }
    }
}

impl Terms {
    /// From a product of charges in e^2, and Lennard-Jones' parameters in nm and kJ/mol.
    pub fn new(charges: f64, sigma: f64, epsilon: f64) -> Terms {
        Terms { sigma2: sigma * sigma, four_epsilon: 4.0 * epsilon, charges: COULOMB * charges }
    }
}

/// What one pair does: the force on its first atom, which is minus that on the second, and the energies in kJ/mol.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pull {
    /// The force on the first.
    pub force: Vector,
    /// The Lennard-Jones energy.
    pub lj: f64,
    /// The Coulomb energy.
    pub coulomb: f64,
}

/// The force between two atoms at `p` and `q`: the kernel.
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

/// The square of a distance.
#[inline(always)]
pub fn distance2(p: &Vector, q: &Vector) -> f64 {
    let r = [p[0] - q[0], p[1] - q[1], p[2] - q[2]];
    r[0] * r[0] + r[1] * r[1] + r[2] * r[2]
}

/// A pair that does not act as its atoms say.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Exception {
    /// The lower index.
    pub first: u32,
    /// The higher.
    pub second: u32,
    /// How it acts (atoms three bonds apart); not at all if there is none (fewer bonds).
    pub terms: Option<Terms>,
}

/// Atoms by index, and the exceptions among their pairs.
#[derive(Clone, Debug, PartialEq)]
pub struct System {
    sites: Vec<Site>,
    /// By the two indices.
    exceptions: Vec<Exception>,
}

impl System {
    /// From atoms and exceptions, which the reader has checked one by one.
    ///
    /// # Errors
    ///
    /// Two exceptions for one pair; two atoms in one place that act on each other; too many atoms.
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

    /// The atoms.
    pub fn sites(&self) -> &[Site] {
        &self.sites
    }

    /// Those at the exceptions.
    pub fn exceptions(&self) -> &[Exception] {
        &self.exceptions
    }

    /// The exception that a pair is, the lower index first.
    pub fn exception(&self, first: u32, second: u32) -> Option<&Exception> {
        let found = self.exceptions.binary_search_by_key(&(first, second), |known| (known.first, known.second));
        found.ok().map(|at| &self.exceptions[at])
    }

    /// So many copies side by side, on a grid as near to a cube as their number allows. Their boxes do not overlap.
    ///
    /// # Panics
    ///
    /// If that makes more atoms than [`MOST_ATOMS`].
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

    /// The first atoms alone.
    pub fn first(&self, atoms: usize) -> System {
        let inside = |exception: &&Exception| (exception.second as usize) < atoms;
        System {
            sites: self.sites.iter().take(atoms).copied().collect(),
            exceptions: self.exceptions.iter().filter(inside).copied().collect(),
        }
    }

    /// The same with an atom moved.
    pub fn with_moved(&self, atom: usize, by: Vector) -> System {
        let mut moved = self.clone();
        for (coordinate, by) in moved.sites[atom].position.iter_mut().zip(by) {
            *coordinate += by;
        }
        moved
    }
}

/// The box around some positions.
pub(super) fn bounds<'a>(positions: impl Iterator<Item = &'a Vector>) -> (Vector, Vector) {
    positions.fold(([f64::INFINITY; 3], [f64::NEG_INFINITY; 3]), |(low, high), position| {
        (
            std::array::from_fn(|axis| low[axis].min(position[axis])),
            std::array::from_fn(|axis| high[axis].max(position[axis])),
        )
    })
}

/// Why a system cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum SystemError {
    /// The file is no text that can be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// A line of the file is wrong.
    #[error("{file}, line {line}: {problem}")]
    Line {
        /// The file.
        file: String,
        /// Counted from 1, in the unpacked text.
        line: usize,
        /// What is wrong.
        problem: Problem,
    },
    /// The file as a whole is wrong.
    #[error("{file}: {problem}")]
    Whole {
        /// The file.
        file: String,
        /// What is wrong.
        problem: Problem,
    },
}

/// What is wrong, and the cure.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Problem {
    /// The text ends too early.
    #[error("the file ends here, before {wanted}: it was cut short, so fetch it again")]
    Ended {
        /// What should come.
        wanted: String,
    },
    /// A word is not what it should be.
    #[error("`{found}` is no {what}: {cure}")]
    Word {
        /// The word, shortened.
        found: String,
        /// What it should be.
        what: &'static str,
        /// What is allowed.
        cure: String,
    },
    /// A line has too few or too many words.
    #[error("{found} words stand here instead of {wanted}: {form}")]
    Words {
        /// How many there are.
        found: usize,
        /// How many there should be.
        wanted: usize,
        /// What a line should look like.
        form: &'static str,
    },
    /// A section is not there.
    #[error("there is no section {0}: give a complete file")]
    Missing(&'static str),
    /// A section has the wrong number of values.
    #[error("the section {section} has {found} values instead of {wanted}: give a file whose counts fit")]
    Count {
        /// Its name.
        section: String,
        /// How many it has.
        found: usize,
        /// How many the file says elsewhere.
        wanted: usize,
    },
    /// The two files are not of the same system.
    #[error("it has the coordinates of {found} atoms, but {topology} has {wanted}: give the two files of one system")]
    OtherSystem {
        /// How many coordinates there are.
        found: usize,
        /// The file with the parameters.
        topology: String,
        /// How many atoms that has.
        wanted: usize,
    },
    /// Something that this program does not compute.
    #[error("{what}, which is not computed here: give a system without")]
    Unknown {
        /// What.
        what: String,
    },
    /// No atoms, or too many.
    #[error("{0} atoms: give 1 to {MOST_ATOMS}")]
    Atoms(usize),
    /// Two exceptions for the same pair.
    #[error("the pair of atoms {first} and {second} has two exceptions: give it one (atoms count from 0)")]
    Twice {
        /// The one atom.
        first: u32,
        /// The other.
        second: u32,
    },
    /// Two atoms that act on each other are in one place.
    #[error(
        "atoms {first} and {second} are in the same place, so their force has no end: move one of them (atoms count from 0)"
    )]
    Near {
        /// The one atom.
        first: u32,
        /// The other.
        second: u32,
    },
    /// AMBER parameters without coordinates, or the other way round.
    #[error("{0}")]
    Coordinates(&'static str),
}
