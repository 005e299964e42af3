//! The pairs of atoms within a distance, by a cell list: an atom's partners are in its cell and the 26 cells around it.

use super::system::{Exception, Site, System, bounds, distance2};

/// Atoms sorted into cells that are no narrower than the cutoff.
pub struct Cells<'a> {
    sites: &'a [Site],
    cutoff2: f64,
    sides: [usize; 3],
    /// Index in `atoms` of each cell's first atom.
    starts: Vec<usize>,
    atoms: Vec<u32>,
}

impl<'a> Cells<'a> {
    /// Sorts the atoms into cells.
    pub fn new(sites: &'a [Site], cutoff: f64) -> Cells<'a> {
        let (low, high) = bounds(sites.iter().map(|site| &site.position));
        // A few cells for each atom at most: a small cutoff must not need much memory.
        let most = 1 + 2 * (sites.len() as f64).cbrt() as usize;
        // A margin for rounding: without it, two atoms less than the cutoff apart could be two cells apart.
        let width = cutoff * 1.000_001;
        let sides: [usize; 3] =
            std::array::from_fn(|axis| (((high[axis] - low[axis]) / width) as usize).clamp(1, most));
        let cell = |site: &Site| {
            let along = |axis: usize| {
                let part = (site.position[axis] - low[axis]) / (high[axis] - low[axis]).max(f64::MIN_POSITIVE);
                ((part * sides[axis] as f64) as usize).min(sides[axis] - 1)
            };
            (along(0) * sides[1] + along(1)) * sides[2] + along(2)
        };
        let mut starts = vec![0; sides.iter().product::<usize>() + 1];
        for site in sites {
            starts[cell(site) + 1] += 1;
        }
        for cell in 1..starts.len() {
            starts[cell] += starts[cell - 1];
        }
        let (mut free, mut atoms) = (starts.clone(), vec![0; sites.len()]);
        for (atom, site) in sites.iter().enumerate() {
            let place = &mut free[cell(site)];
            atoms[*place] = atom as u32;
            *place += 1;
        }
        Cells { sites, cutoff2: cutoff * cutoff, sides, starts, atoms }
    }

    /// Calls `found` with each pair that is less than the cutoff apart, the lower index first.
    pub fn pairs(&self, mut found: impl FnMut(u32, u32)) {
        let [a, b, c] = self.sides;
        for cell in 0..a * b * c {
            let own = self.cell(cell);
            for (k, &i) in own.iter().enumerate() {
                own[k + 1..].iter().for_each(|&j| self.try_pair(i, j, &mut found));
            }
            let at = [cell / (b * c), cell / c % b, cell % c];
            for other in self.around(at).filter(|&other| other > cell) {
                for &i in own {
                    self.cell(other).iter().for_each(|&j| self.try_pair(i, j, &mut found));
                }
            }
        }
    }

    /// Estimates the number of pairs: exact for a small system, else extrapolated from a sample of the atoms.
    pub fn estimate(&self) -> u64 {
        let step = self.sites.len().div_ceil(500);
        let near = |site: &Site| self.sites.iter().filter(|other| self.near(site, other)).count() as u64 - 1;
        self.sites.iter().step_by(step).map(near).sum::<u64>() * step as u64 / 2
    }

    fn near(&self, one: &Site, other: &Site) -> bool {
        distance2(&one.position, &other.position) < self.cutoff2
    }

    fn try_pair(&self, i: u32, j: u32, found: &mut impl FnMut(u32, u32)) {
        if self.near(&self.sites[i as usize], &self.sites[j as usize]) {
            found(i.min(j), i.max(j));
        }
    }

    fn cell(&self, cell: usize) -> &[u32] {
        &self.atoms[self.starts[cell]..self.starts[cell + 1]]
    }

    /// Returns the indices of a cell and the cells next to it.
    fn around(&self, at: [usize; 3]) -> impl Iterator<Item = usize> {
        let [a, b, c] = self.sides;
        let along = |axis: usize| at[axis].saturating_sub(1)..(at[axis] + 2).min(self.sides[axis]);
        let [xs, ys, zs] = [along(0), along(1), along(2)];
        debug_assert!(at[0] < a);
        xs.flat_map(move |x| {
            let zs = zs.clone();
            ys.clone().flat_map(move |y| zs.clone().map(move |z| (x * b + y) * c + z))
        })
    }
}

/// An atom's partner in a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Partner {
    /// The atom's index.
    pub atom: u32,
    /// Index of the pair among the system's exceptions, if it is one.
    pub exception: Option<Place>,
}

/// An index among the system's exceptions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place(std::num::NonZeroU32);

impl Place {
    fn new(index: usize) -> Option<Place> {
        std::num::NonZeroU32::new(index as u32 + 1).map(Place)
    }

    /// Returns the index.
    pub fn index(self) -> usize {
        self.0.get() as usize - 1
    }
}

/// The interacting pairs, grouped by the atom for which each is computed.
#[derive(Clone, Debug)]
pub struct Pairs {
    /// Index in `partners` of each atom's first partner.
    starts: Vec<usize>,
    partners: Vec<Partner>,
    within: u64,
    exceptions: u64,
}

impl Pairs {
    /// Lists the pairs less than `cutoff` nm apart that are no exceptions, and the interacting exceptions at any
    /// distance.
    pub fn new(system: &System, cutoff: f64) -> Pairs {
        let mut within = 0;
        let mut pairs = Vec::new();
        Cells::new(system.sites(), cutoff).pairs(|i, j| {
            within += 1;
            if system.exception(i, j).is_none() {
                pairs.push((i, j, None));
            }
        });
        let acting = |(_, exception): &(usize, &Exception)| exception.terms.is_some();
        let exceptions = system.exceptions().iter().enumerate().filter(acting);
        let before = pairs.len();
        pairs.extend(exceptions.map(|(k, exception)| (exception.first, exception.second, Place::new(k))));
        let exceptions = (pairs.len() - before) as u64;
        // Every other pair is computed for the higher index. Otherwise the first atoms would have all pairs, and the
        // last none.
        for (i, j, _) in &mut pairs {
            if (*i + *j) % 2 == 1 {
                std::mem::swap(i, j);
            }
        }
        let mut starts = vec![0; system.sites().len() + 1];
        for (i, ..) in &pairs {
            starts[*i as usize + 1] += 1;
        }
        for atom in 1..starts.len() {
            starts[atom] += starts[atom - 1];
        }
        let mut free = starts.clone();
        let mut partners = vec![Partner { atom: 0, exception: None }; pairs.len()];
        for (i, atom, exception) in pairs {
            let place = &mut free[i as usize];
            partners[*place] = Partner { atom, exception };
            *place += 1;
        }
        for bounds in starts.windows(2) {
            partners[bounds[0]..bounds[1]].sort_unstable_by_key(|partner| partner.atom);
        }
        Pairs { starts, partners, within, exceptions }
    }

    /// Estimates the number of pairs in the list for `system`.
    pub fn estimate(system: &System, cutoff: f64) -> u64 {
        Cells::new(system.sites(), cutoff).estimate() + system.exceptions().len() as u64
    }

    /// Returns an atom's partners in the pairs that are computed for it.
    pub fn of(&self, atom: usize) -> &[Partner] {
        &self.partners[self.starts[atom]..self.starts[atom + 1]]
    }

    /// Returns the number of atoms.
    pub fn atoms(&self) -> usize {
        self.starts.len() - 1
    }

    /// Returns the number of pairs within the cutoff, including excluded ones.
    pub fn within(&self) -> u64 {
        self.within
    }

    /// Returns the number of pairs within the cutoff with the parameters of their atoms.
    pub fn regular(&self) -> u64 {
        self.partners.len() as u64 - self.exceptions
    }

    /// Returns the number of interacting exceptions.
    pub fn exceptions(&self) -> u64 {
        self.exceptions
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mdforce::t4;

    fn brute(system: &System, cutoff: f64) -> (u64, u64) {
        let (mut within, mut regular) = (0, 0);
        let sites = system.sites();
        for i in 0..sites.len() {
            for j in 0..i {
                if distance2(&sites[i].position, &sites[j].position) < cutoff * cutoff {
                    within += 1;
                    regular += u64::from(system.exception(j as u32, i as u32).is_none());
                }
            }
        }
        (within, regular)
    }

    #[test]
    fn cells_find_what_brute_force_finds() {
        let whole = t4();
        for (atoms, cutoffs) in [(400, [0.11, 0.3, 0.8, 1.7, 100.0]), (1, [0.1, 0.2, 0.3, 0.4, 0.5])] {
            let system = whole.first(atoms);
            for cutoff in cutoffs {
                let pairs = Pairs::new(&system, cutoff);
                assert_eq!((pairs.within(), pairs.regular()), brute(&system, cutoff), "{atoms} atoms, {cutoff} nm");
            }
        }
        let pairs = Pairs::new(&whole, 0.8);
        assert_eq!((pairs.within(), pairs.regular()), brute(&whole, 0.8));
        assert_eq!(Cells::new(whole.first(400).sites(), 0.8).estimate(), brute(&whole.first(400), 0.8).0);
        let estimate = Pairs::estimate(&whole, 0.8);
        assert!(estimate.abs_diff(pairs.within()) < pairs.within() / 5, "{estimate} for {}", pairs.within());
    }

    #[test]
    fn each_pair_is_computed_once() {
        let system = t4().first(300);
        let pairs = Pairs::new(&system, 0.8);
        let mut all: Vec<_> = (0..300_u32)
            .flat_map(|i| pairs.of(i as usize).iter().map(move |partner| (i.min(partner.atom), i.max(partner.atom))))
            .collect();
        let longest = (0..300).map(|atom| pairs.of(atom).len()).max();
        let listed = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), listed);
        assert_eq!(listed as u64, pairs.regular() + pairs.exceptions());
        assert!(longest < Some(listed / 50), "atoms share the pairs: {longest:?} of {listed}");
    }
}
