//! The box and the neighbours of its sites.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The maximum number of sites of a box: one bit per site of a 64-bit word.
pub const MAX_SITES: usize = 64;

/// A box of a x b x c sites on the cubic lattice; a square lattice is a box with c = 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "[u8; 3]")]
pub struct Lattice {
    dims: [u8; 3],
}

/// An error in the description of a box.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LatticeError {
    /// Not of the form AxBxC or AxB.
    #[error("`{text}` is no box: write AxBxC or AxB with whole numbers from 1 up, for example 3x3x4")]
    Form {
        /// The invalid text.
        text: String,
    },
    /// A side has no sites.
    #[error("box {text} has an empty side: every side needs at least 1 site")]
    Empty {
        /// The box as given.
        text: String,
    },
    /// The box has more sites than the search can represent.
    #[error("box {text} has {sites} sites: at most {MAX_SITES} are possible, for example 4x4x4")]
    TooLarge {
        /// The box as given.
        text: String,
        /// Its number of sites.
        sites: u64,
    },
}

impl TryFrom<[u8; 3]> for Lattice {
    type Error = LatticeError;
    fn try_from(dims: [u8; 3]) -> Result<Self, LatticeError> {
        let [a, b, c] = dims.map(u32::from);
        Lattice::new(a, b, c)
    }
}

impl Lattice {
    /// Makes the box of a x b x c sites.
    ///
    /// # Errors
    ///
    /// Fails if a side is zero or the box has more than [`MAX_SITES`] sites.
    pub fn new(a: u32, b: u32, c: u32) -> Result<Self, LatticeError> {
        let text = || format!("{a}x{b}x{c}");
        let sites = u64::from(a).saturating_mul(u64::from(b)).saturating_mul(u64::from(c));
        match sites {
            0 => Err(LatticeError::Empty { text: text() }),
            1..=64 => Ok(Lattice { dims: [a as u8, b as u8, c as u8] }),
            _ => Err(LatticeError::TooLarge { text: text(), sites }),
        }
    }

    /// Parses a box from text such as `3x3x4` or `6x6`.
    ///
    /// # Errors
    ///
    /// Fails if the text has another form, a side is zero, or the box has more than [`MAX_SITES`] sites.
    ///
    /// # Example
    ///
    /// ```
    /// use finespun_apps::protein::Lattice;
    ///
    /// assert_eq!(Lattice::parse("3x3x4")?.sites(), 36);
    /// assert_eq!(Lattice::parse("3x3")?, Lattice::parse("3x3x1")?);
    /// # Ok::<(), finespun_apps::protein::LatticeError>(())
    /// ```
    pub fn parse(text: &str) -> Result<Self, LatticeError> {
        let form = || LatticeError::Form { text: text.to_owned() };
        let mut sides = [1; 3];
        let mut count = 0;
        for part in text.trim().split(['x', 'X']) {
            let digits = !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
            let side = sides.get_mut(count).filter(|_| digits).ok_or_else(form)?;
            *side = part.parse::<u32>().map_err(|_| form())?;
            count += 1;
        }
        if count < 2 {
            return Err(form());
        }
        Self::new(sides[0], sides[1], sides[2])
    }

    /// Returns the sides.
    pub fn sides(self) -> [usize; 3] {
        self.dims.map(usize::from)
    }

    /// Returns the number of sites, which is the number of monomers in a chain that fills the box.
    pub fn sites(self) -> usize {
        self.sides().iter().product()
    }

    /// Returns the number of neighbouring pairs that are not bonded, equal for all foldings: minus the energy of a
    /// chain of H only.
    pub fn contacts(self) -> usize {
        let [a, b, c] = self.sides();
        (a - 1) * b * c + a * (b - 1) * c + a * b * (c - 1) + 1 - self.sites()
    }

    /// Returns the site at these coordinates.
    pub(super) fn site(self, [x, y, z]: [usize; 3]) -> usize {
        let [a, b, _] = self.sides();
        x + a * (y + b * z)
    }

    /// Returns the coordinates of a site.
    pub(super) fn coordinates(self, site: usize) -> [usize; 3] {
        let [a, b, _] = self.sides();
        [site % a, site / a % b, site / (a * b)]
    }
}

impl FromStr for Lattice {
    type Err = LatticeError;

    fn from_str(text: &str) -> Result<Self, LatticeError> {
        Self::parse(text)
    }
}

impl fmt::Display for Lattice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c] = self.dims;
        write!(f, "{a}x{b}x{c}")
    }
}

/// A lattice as bit sets, one bit per site.
#[derive(Clone, Debug)]
pub(super) struct Grid {
    /// All sites.
    pub full: u64,
    /// The sites whose coordinates have an odd sum: each step of a path changes the parity.
    pub odd: u64,
    /// The neighbours of each site.
    pub near: [u64; MAX_SITES],
    /// For each axis: the distance of neighbours in the word, and the sites with a successor and with a predecessor.
    axes: [Axis; 3],
}

#[derive(Clone, Copy, Debug)]
struct Axis {
    stride: u32,
    /// Sites with a successor along this axis.
    lower: u64,
    /// Sites with a predecessor along this axis.
    upper: u64,
}

impl Grid {
    pub(super) fn new(lattice: Lattice) -> Self {
        let sites = lattice.sites();
        let sides = lattice.sides();
        let mut grid = Grid {
            full: u64::MAX >> (MAX_SITES - sites),
            odd: 0,
            near: [0; MAX_SITES],
            axes: [Axis { stride: 0, lower: 0, upper: 0 }; 3],
        };
        for site in 0..sites {
            let at = lattice.coordinates(site);
            grid.odd |= (at.iter().sum::<usize>() as u64 & 1) << site;
            for axis in 0..3 {
                if at[axis] + 1 < sides[axis] {
                    let mut beyond = at;
                    beyond[axis] += 1;
                    let next = lattice.site(beyond);
                    grid.near[site] |= 1 << next;
                    grid.near[next] |= 1 << site;
                    let axis = &mut grid.axes[axis];
                    axis.stride = (next - site) as u32;
                    axis.lower |= 1 << site;
                    axis.upper |= 1 << next;
                }
            }
        }
        grid
    }

    /// Returns, for each axis and direction, the sites whose neighbour in that direction is in `set`.
    #[inline(always)]
    fn shifted(&self, set: u64) -> [u64; 6] {
        let [x, y, z] = &self.axes;
        [
            (set << x.stride) & x.upper,
            (set >> x.stride) & x.lower,
            (set << y.stride) & y.upper,
            (set >> y.stride) & y.lower,
            (set << z.stride) & z.upper,
            (set >> z.stride) & z.lower,
        ]
    }

    /// Returns the sites next to a site of `set`.
    #[inline(always)]
    pub(super) fn around(&self, set: u64) -> u64 {
        let [a, b, c, d, e, f] = self.shifted(set);
        a | b | c | d | e | f
    }

    /// Returns the sites with at least one, and the sites with at least two, neighbours in `set`.
    #[inline(always)]
    pub(super) fn one_and_two(&self, set: u64) -> (u64, u64) {
        let [a, b, c, d, e, f] = self.shifted(set);
        let (ab, cd, ef) = (a | b, c | d, e | f);
        let pairs = (a & b) | (c & d) | (e & f);
        (ab | cd | ef, pairs | (ab & cd) | ((ab | cd) & ef))
    }

    /// Returns the number of neighbouring pairs inside `set`.
    #[inline(always)]
    pub(super) fn pairs(&self, set: u64) -> u32 {
        self.axes.iter().map(|axis| (set & (set >> axis.stride) & axis.lower).count_ones()).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::{Grid, Lattice, LatticeError};
    use proptest::prelude::*;

    #[test]
    fn full_boxes_have_the_known_contacts() {
        for (text, contacts) in [("3x3x3", 28), ("3x3x4", 40), ("2x2", 1), ("1x1x1", 0), ("1x9", 0)] {
            assert_eq!(Lattice::parse(text).expect(text).contacts(), contacts, "{text}");
        }
    }

    #[test]
    fn errors_name_the_allowed_form() {
        for text in ["", "3", "x", "3x", "3x3x", "3x3x3x3", "axb", "3 x 3", "-1x2", "+3x3", "3x3.0", "99999999999x1"] {
            let error = Lattice::parse(text).expect_err(text);
            assert!(matches!(error, LatticeError::Form { .. }), "{text}: {error}");
            assert!(error.to_string().contains("AxBxC"), "{error}");
        }
        assert!(matches!(Lattice::parse("3x0x3"), Err(LatticeError::Empty { .. })));
        let large = Lattice::parse("5x4x4").expect_err("80 sites");
        assert_eq!(large.to_string(), "box 5x4x4 has 80 sites: at most 64 are possible, for example 4x4x4");
    }

    proptest! {
        #[test]
        fn text_is_either_a_box_or_an_error(text in "[0-9xX+. -]{0,12}") {
            if let Ok(lattice) = Lattice::parse(&text) {
                prop_assert!((1..=64).contains(&lattice.sites()));
                prop_assert_eq!(Lattice::parse(&lattice.to_string()), Ok(lattice));
            }
        }

        #[test]
        fn word_operations_agree_with_the_neighbour_lists(a in 1u32..9, b in 1u32..9, c in 1u32..5, set: u64) {
            let Ok(lattice) = Lattice::new(a, b, c) else { return Ok(()) };
            let grid = Grid::new(lattice);
            let set = set & grid.full;
            let (one, two) = grid.one_and_two(set);
            prop_assert_eq!(one, grid.around(set));
            let mut ends = 0;
            for site in 0..lattice.sites() {
                let count = (grid.near[site] & set).count_ones();
                prop_assert_eq!(one >> site & 1 == 1, count >= 1);
                prop_assert_eq!(two >> site & 1 == 1, count >= 2);
                ends += if set >> site & 1 == 1 { count } else { 0 };
            }
            prop_assert_eq!(grid.pairs(set), ends / 2);
        }
    }
}
