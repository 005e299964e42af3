//! Reads AMBER's files: a prmtop (new format, sections of fixed width) and coordinates (inpcrd or restart, as text).
//!
//! AMBER uses angstroms and kcal/mol, and its charges include the square root of its own Coulomb constant (18.2223).
//! The reader converts to nm, kJ/mol and e as OpenMM does, so Coulomb energies differ from AMBER's by a factor of
//! 332.0637 / 332.0522.
//!
//! Lennard-Jones' parameters are a table over pairs of atom types. The parameters of a type come from its own entry,
//! and the other entries must be the usual means. Pairs three bonds apart are the ends of the dihedrals that are not
//! marked otherwise; their forces are divided by 1.2 (Coulomb) and 2 (Lennard-Jones), unless the file gives other
//! divisors.

use std::collections::HashMap;

use super::mdsys::Wrong;
use super::system::{Exception, FARTHEST, MOST_ATOMS, Problem, Site, System, Terms};
use crate::files::shown;

const CALORIE: f64 = 4.184;
const CHARGE: f64 = 18.2223;
const ANGSTROM: f64 = 0.1;

/// A section: its values, each with its line number.
struct Section<'a> {
    name: &'static str,
    values: Vec<(usize, &'a str)>,
}

/// The sections of a file by name: first line, column width, lines.
struct Sections<'a>(HashMap<&'a str, (usize, usize, Vec<&'a str>)>);

fn at(line: usize, found: &str, what: &'static str, cure: &str) -> Wrong {
    (line, Problem::Word { found: shown(found), what, cure: cure.to_owned() })
}

/// Returns the width of a value in a format: 8 for `(10I8)`, 16 for `(5E16.8)`.
fn width(format: &str) -> Option<usize> {
    let inside = format.trim().strip_prefix('(')?.strip_suffix(')')?;
    let letter = inside.find(|c: char| c.is_ascii_alphabetic())?;
    let width = inside[letter + 1..].split('.').next()?.parse().ok()?;
    (1..=80).contains(&width).then_some(width)
}

impl<'a> Sections<'a> {
    fn read(text: &'a str) -> Result<Sections<'a>, Wrong> {
        let mut found: HashMap<_, (usize, usize, Vec<_>)> = HashMap::new();
        let mut open: Option<(&str, usize, Option<usize>, Vec<&str>)> = None;
        let mut last = 0;
        let mut close = |open: Option<(&'a str, usize, Option<usize>, Vec<&'a str>)>, line: usize| match open {
            None => Ok(()),
            Some((name, first, Some(width), lines)) => match found.insert(name, (first, width, lines)) {
                None => Ok(()),
                Some(_) => Err(at(first, name, "new section", "each section may occur once")),
            },
            Some((name, ..)) => Err((line, Problem::Ended { wanted: format!("the %FORMAT of {}", shown(name)) })),
        };
        for (index, line) in text.lines().enumerate() {
            last = index + 1;
            if let Some(name) = line.strip_prefix("%FLAG") {
                close(open.take(), last)?;
                open = Some((name.trim(), last + 2, None, Vec::new()));
            } else if let Some(format) = line.strip_prefix("%FORMAT") {
                let width = width(format).ok_or_else(|| at(last, format, "format", "it takes one like (10I8)"))?;
                match &mut open {
                    Some((_, first, known @ None, _)) => (*first, *known) = (last + 1, Some(width)),
                    _ => return Err(at(last, line, "line here", "a %FORMAT follows its %FLAG")),
                }
            } else if !line.starts_with('%') {
                match &mut open {
                    Some((_, _, Some(_), lines)) => lines.push(line),
                    _ => return Err(at(last, line, "line here", "values follow a %FLAG and its %FORMAT")),
                }
            }
        }
        close(open, last + 1)?;
        Ok(Sections(found))
    }

    fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// Returns the values of a section, split by the column width. `wanted` is the required number of values, or `None`
    /// for any.
    fn section(&self, name: &'static str, wanted: Option<usize>) -> Result<Section<'a>, Wrong> {
        let Some((first, width, lines)) = self.0.get(name) else { return Err((0, Problem::Missing(name))) };
        let mut values = Vec::new();
        for (line, text) in (*first..).zip(lines) {
            cut(line, text, *width, &mut values)?;
        }
        match wanted {
            Some(wanted) if wanted != values.len() => {
                Err((*first, Problem::Count { section: name.to_owned(), found: values.len(), wanted }))
            }
            _ => Ok(Section { name, values }),
        }
    }
}

/// Appends the values of a line, each `width` bytes wide, to `values`.
fn cut<'a>(line: usize, text: &'a str, width: usize, values: &mut Vec<(usize, &'a str)>) -> Result<(), Wrong> {
    let text = text.trim_end();
    for start in (0..text.len()).step_by(width) {
        let value = text.get(start..(start + width).min(text.len()));
        let value = value.ok_or_else(|| at(line, text, "line of numbers", "AMBER's files are plain ASCII"))?;
        values.push((line, value.trim()));
    }
    Ok(())
}

fn real(line: usize, text: &str, most: f64) -> Result<f64, Wrong> {
    let value = text.parse().ok().filter(|value: &f64| value.is_finite() && value.abs() <= most);
    value.ok_or_else(|| at(line, text, "number", &format!("it takes one from {:e} to {most:e}", -most)))
}

impl Section<'_> {
    fn reals(&self, most: f64) -> Result<Vec<f64>, Wrong> {
        self.values.iter().map(|&(line, text)| real(line, text, most)).collect()
    }

    fn whole(&self, index: usize, low: i64, high: i64) -> Result<i64, Wrong> {
        let Some(&(line, text)) = self.values.get(index) else {
            return Err((
                0,
                Problem::Count { section: self.name.to_owned(), found: self.values.len(), wanted: index + 1 },
            ));
        };
        let value = text.parse().ok().filter(|value| (low..=high).contains(value));
        value
            .ok_or_else(|| at(line, text, "number", &format!("{} takes whole numbers from {low} to {high}", self.name)))
    }
}

/// Lennard-Jones' parameters by atom type.
struct Types {
    count: usize,
    /// Sigma in nm and epsilon in kJ/mol.
    own: Vec<(f64, f64)>,
}

impl Types {
    fn read(sections: &Sections, count: usize) -> Result<Types, Wrong> {
        let entries = count * (count + 1) / 2;
        let index = sections.section("NONBONDED_PARM_INDEX", Some(count * count))?;
        let a = sections.section("LENNARD_JONES_ACOEF", Some(entries))?.reals(1e30)?;
        let b = sections.section("LENNARD_JONES_BCOEF", Some(entries))?.reals(1e30)?;
        let entry = |one: usize, other: usize| {
            let at = index.whole(one * count + other, i64::MIN, entries as i64)?;
            match usize::try_from(at) {
                Ok(at @ 1..) => Ok((a[at - 1], b[at - 1])),
                _ => Err((0, Problem::Unknown { what: "it has a 10-12 potential for hydrogen bonds".to_owned() })),
            }
        };
        let mut own = Vec::with_capacity(count);
        for one in 0..count {
            let (a, b) = entry(one, one)?;
            own.push(parameters(a, b));
        }
        for one in 0..count {
            for other in 0..one {
                let (a, b) = entry(one, other)?;
                let (sigma, epsilon) = (0.5 * (own[one].0 + own[other].0), (own[one].1 * own[other].1).sqrt());
                // A pair with epsilon 0 has no sigma to compare.
                let (a, b) = (a * CALORIE * ANGSTROM.powi(12), b * CALORIE * ANGSTROM.powi(6));
                let (mean_a, mean_b) = (4.0 * epsilon * sigma.powi(12), 4.0 * epsilon * sigma.powi(6));
                let alike = |x: f64, y: f64| (x - y).abs() <= 1e-4 * x.abs().max(y.abs());
                if !alike(a, mean_a) || !alike(b, mean_b) {
                    let what = format!(
                        "atom types {} and {} have Lennard-Jones parameters of their own, not the means of the two",
                        other + 1,
                        one + 1
                    );
                    return Err((0, Problem::Unknown { what }));
                }
            }
        }
        Ok(Types { count, own })
    }
}

/// Returns sigma in nm and epsilon in kJ/mol, from A / r^12 - B / r^6 in angstroms and kcal/mol.
fn parameters(a: f64, b: f64) -> (f64, f64) {
    match a > 0.0 && b > 0.0 {
        true => ((a / b).powf(1.0 / 6.0) * ANGSTROM, b * b / (4.0 * a) * CALORIE),
        false => (0.0, 0.0),
    }
}

/// Reads the parameters, and makes a system with the atoms at `positions`.
pub(super) fn topology(text: &str, positions: &[[f64; 3]], name: &str) -> Result<System, (bool, Wrong)> {
    let own = |wrong: Wrong| (false, wrong);
    let sections = Sections::read(text).map_err(own)?;
    let pointers = sections.section("POINTERS", None).map_err(own)?;
    let atoms = pointers.whole(0, 1, MOST_ATOMS as i64).map_err(own)? as usize;
    if positions.len() != atoms {
        let problem = Problem::OtherSystem { found: positions.len(), topology: name.to_owned(), wanted: atoms };
        return Err((true, (0, problem)));
    }
    parse(&sections, &pointers, atoms, positions).map_err(own)
}

fn parse(sections: &Sections, pointers: &Section, atoms: usize, positions: &[[f64; 3]]) -> Result<System, Wrong> {
    if pointers.whole(27, 0, i64::MAX)? > 0 {
        return Err((0, Problem::Unknown { what: "it has a periodic box".to_owned() }));
    }
    let types = Types::read(sections, pointers.whole(1, 1, 10_000)? as usize)?;
    let charges = sections.section("CHARGE", Some(atoms))?.reals(1e6)?;
    let kinds = sections.section("ATOM_TYPE_INDEX", Some(atoms))?;
    let mut own = Vec::with_capacity(atoms);
    for (atom, charge) in charges.iter().enumerate() {
        let kind = kinds.whole(atom, 1, types.count as i64)? as usize - 1;
        own.push((charge / CHARGE, types.own[kind]));
    }
    let sites = own.iter().zip(positions);
    let sites =
        sites.map(|(&(charge, (sigma, epsilon)), position)| Site::new(*position, charge, sigma, epsilon)).collect();
    let mut exceptions = excluded(sections, atoms)?;
    for (line, pair, scales) in ends(sections, pointers, atoms)? {
        let ((p, (s, e)), (q, (t, f))) = (own[pair.0 as usize], own[pair.1 as usize]);
        let terms = Terms::new(p * q / scales.0, 0.5 * (s + t), (e * f).sqrt() / scales.1);
        match exceptions.get_mut(&pair) {
            Some(terms_of_pair @ None) => *terms_of_pair = Some(terms),
            Some(Some(_)) => return Err((line, Problem::Twice { first: pair.0, second: pair.1 })),
            None => {
                let pair = format!("{}-{}", pair.0 + 1, pair.1 + 1);
                return Err(at(
                    line,
                    &pair,
                    "excluded pair",
                    "the ends of a dihedral are excluded from the other pairs",
                ));
            }
        }
    }
    let exceptions = exceptions.into_iter().map(|((first, second), terms)| Exception { first, second, terms });
    System::new(sites, exceptions.collect()).map_err(|problem| (0, problem))
}

/// Returns the excluded pairs. The interactions of the ends of dihedrals are added later.
fn excluded(sections: &Sections, atoms: usize) -> Result<HashMap<(u32, u32), Option<Terms>>, Wrong> {
    let counts = sections.section("NUMBER_EXCLUDED_ATOMS", Some(atoms))?;
    let list = sections.section("EXCLUDED_ATOMS_LIST", None)?;
    let mut pairs = HashMap::new();
    let mut next = 0;
    for atom in 0..atoms {
        for _ in 0..counts.whole(atom, 0, atoms as i64)? {
            // 0 means none.
            let other = list.whole(next, 0, atoms as i64)?;
            next += 1;
            if other > 0 && other as usize != atom + 1 {
                let (one, other) = (atom as u32, other as u32 - 1);
                pairs.insert((one.min(other), one.max(other)), None);
            }
        }
    }
    match next == list.values.len() {
        true => Ok(pairs),
        false => Err((0, Problem::Count { section: list.name.to_owned(), found: list.values.len(), wanted: next })),
    }
}

/// The pairs three bonds apart: line, atoms, and the divisors of their Coulomb and Lennard-Jones forces.
type Ends = Vec<(usize, (u32, u32), (f64, f64))>;

fn ends(sections: &Sections, pointers: &Section, atoms: usize) -> Result<Ends, Wrong> {
    let kinds = pointers.whole(17, 0, 1 << 24)? as usize;
    let scales = |name: &'static str, usual: f64| match sections.has(name) {
        true => sections.section(name, Some(kinds))?.reals(1e6),
        false => Ok(vec![usual; kinds]),
    };
    let (coulomb, lj) = (scales("SCEE_SCALE_FACTOR", 1.2)?, scales("SCNB_SCALE_FACTOR", 2.0)?);
    let mut found = Vec::new();
    for (name, pointer) in [("DIHEDRALS_INC_HYDROGEN", 6), ("DIHEDRALS_WITHOUT_HYDROGEN", 7)] {
        let dihedrals = pointers.whole(pointer, 0, 1 << 28)? as usize;
        let section = sections.section(name, Some(5 * dihedrals))?;
        let last = 3 * (atoms as i64 - 1);
        for at in (0..5 * dihedrals).step_by(5) {
            let atom = |k: usize| section.whole(at + k, -last, last);
            let (one, third, four) = (atom(0)?, atom(2)?, atom(3)?);
            let kind = section.whole(at + 4, 1, kinds as i64)? as usize - 1;
            // A negative sign marks a second dihedral between the same ends, or an improper dihedral.
            if third < 0 || four < 0 {
                continue;
            }
            let (one, four) = ((one.abs() / 3) as u32, (four / 3) as u32);
            let line = section.values[at].0;
            if coulomb[kind] <= 0.0 || lj[kind] <= 0.0 {
                let what = "factor of a pair three bonds apart";
                return Err(self::at(line, "0", what, "a dihedral that counts its ends has factors above 0"));
            }
            found.push((line, (one.min(four), one.max(four)), (coulomb[kind], lj[kind])));
        }
    }
    Ok(found)
}

/// Reads coordinates: a title, the number of atoms, and values of 12 columns; velocities may follow.
pub(super) fn coordinates(text: &str) -> Result<Vec<[f64; 3]>, Wrong> {
    let mut lines = text.lines().enumerate().map(|(index, line)| (index + 1, line));
    let ended = |line: usize, wanted: &str| (line, Problem::Ended { wanted: wanted.to_owned() });
    lines.next().ok_or_else(|| ended(1, "the title"))?;
    let (line, count) = lines.next().ok_or_else(|| ended(2, "the number of atoms"))?;
    let count = count.split_whitespace().next().unwrap_or_default();
    let atoms = count.parse().ok().filter(|atoms| (1..=MOST_ATOMS).contains(atoms));
    let cure = || format!("AMBER coordinates have in line 2 how many there are, 1 to {MOST_ATOMS}");
    let atoms: usize = atoms.ok_or_else(|| at(line, count, "number of atoms", &cure()))?;
    let mut values = Vec::new();
    let mut last = line;
    while values.len() < 3 * atoms {
        let wanted = || format!("coordinate {} of {}", values.len() + 1, 3 * atoms);
        let (line, text) = lines.next().ok_or_else(|| (last + 1, Problem::Ended { wanted: wanted() }))?;
        cut(line, text, 12, &mut values)?;
        last = line;
    }
    if values.len() > 3 * atoms {
        return Err((
            last,
            Problem::Count { section: "of coordinates".to_owned(), found: values.len(), wanted: 3 * atoms },
        ));
    }
    let mut positions = Vec::with_capacity(atoms);
    for place in values.chunks_exact(3) {
        let mut position = [0.0; 3];
        for (coordinate, &(line, text)) in position.iter_mut().zip(place) {
            *coordinate = real(line, text, FARTHEST / ANGSTROM)? * ANGSTROM;
        }
        positions.push(position);
    }
    Ok(positions)
}
