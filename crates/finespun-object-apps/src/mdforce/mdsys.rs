//! Reads `.mdsys`: parameters as plain text, in OpenMM's conventions (nm, kJ/mol, e).
//!
//! ```text
//! # comment lines
//! atoms N
//! index name residue residue-number mass charge sigma epsilon x y z      (N lines)
//! exceptions M
//! first second charge-product sigma epsilon                              (M lines)
//! ```
//!
//! An exception with charge product 0 and epsilon 0 is an excluded pair. Other sections (bonds and the like) are
//! counted and skipped.

use std::str::FromStr;

use super::system::{Exception, FARTHEST, MOST_ATOMS, Problem, Site, System, Terms};
use crate::files::shown;

const ATOM: &str = "index name residue residue-number mass charge sigma epsilon x y z";
const EXCEPTION: &str = "first second charge-product sigma epsilon";

/// The lines that are not comments, with the current line number.
struct Lines<'a> {
    lines: std::str::Lines<'a>,
    line: usize,
}

/// A line number, and the problem of the line.
pub(super) type Wrong = (usize, Problem);

impl<'a> Lines<'a> {
    fn next(&mut self) -> Option<&'a str> {
        loop {
            let line = self.lines.next();
            self.line += 1;
            match line {
                Some(line) if line.trim().is_empty() || line.starts_with('#') => {}
                line => return line,
            }
        }
    }

    /// Returns the words of the next line, which must have `N`.
    fn words<const N: usize>(
        &mut self,
        form: &'static str,
        wanted: impl Fn() -> String,
    ) -> Result<[&'a str; N], Wrong> {
        let Some(line) = self.next() else { return Err(self.wrong(Problem::Ended { wanted: wanted() })) };
        let mut words = [""; N];
        let mut found = 0;
        for word in line.split_whitespace() {
            if let Some(place) = words.get_mut(found) {
                *place = word;
            }
            found += 1;
        }
        match found == N {
            true => Ok(words),
            false => Err(self.wrong(Problem::Words { found, wanted: N, form })),
        }
    }

    fn wrong(&self, problem: Problem) -> Wrong {
        (self.line, problem)
    }

    fn real(&self, word: &str, what: &'static str, allowed: impl Fn(f64) -> bool, cure: &str) -> Result<f64, Wrong> {
        let value = f64::from_str(word).ok().filter(|value| value.is_finite() && allowed(*value));
        value.ok_or_else(|| self.wrong(Problem::Word { found: shown(word), what, cure: cure.to_owned() }))
    }

    fn whole(&self, word: &str, what: &'static str, below: usize) -> Result<usize, Wrong> {
        let value = usize::from_str(word).ok().filter(|value| *value < below);
        let cure = || format!("it takes a whole number below {below}");
        value.ok_or_else(|| self.wrong(Problem::Word { found: shown(word), what, cure: cure() }))
    }

    fn charge(&self, word: &str) -> Result<f64, Wrong> {
        self.real(word, "charge", |value| value.abs() <= 1e6, "it takes a number from -1e6 to 1e6")
    }

    fn sigma(&self, word: &str) -> Result<f64, Wrong> {
        self.real(word, "sigma", |value| (0.0..=1e3).contains(&value), "it takes a number of nm from 0 to 1000")
    }

    fn epsilon(&self, word: &str) -> Result<f64, Wrong> {
        self.real(word, "epsilon", |value| (0.0..=1e6).contains(&value), "it takes a number of kJ/mol from 0 to 1e6")
    }

    fn coordinate(&self, word: &str) -> Result<f64, Wrong> {
        self.real(word, "coordinate", |value| value.abs() <= FARTHEST, "it takes a number of nm from -1e5 to 1e5")
    }
}

/// Reads a system. A problem that belongs to no single line has line 0.
pub(super) fn read(text: &str) -> Result<System, Wrong> {
    let mut lines = Lines { lines: text.lines(), line: 0 };
    let [word, count] = lines
        .words("`atoms` and their number, or in an AMBER prmtop `%VERSION`", || "the line `atoms N`".to_owned())?;
    if word != "atoms" {
        let cure = "an .mdsys file begins with `atoms N`, an AMBER prmtop with `%VERSION`".to_owned();
        return Err(lines.wrong(Problem::Word { found: shown(word), what: "section to begin with", cure }));
    }
    let atoms = lines.whole(count, "number of atoms", MOST_ATOMS + 1)?;
    let mut sites = Vec::new();
    for index in 0..atoms {
        let words = lines.words::<11>(ATOM, || format!("atom {index} of {atoms}"))?;
        let [own, _, _, _, _, charge, sigma, epsilon, x, y, z] = words;
        if own.parse() != Ok(index) {
            let cure = format!("atoms are numbered from 0, and this one is {index}");
            return Err(lines.wrong(Problem::Word { found: shown(own), what: "number of this atom", cure }));
        }
        let position = [lines.coordinate(x)?, lines.coordinate(y)?, lines.coordinate(z)?];
        sites.push(Site::new(position, lines.charge(charge)?, lines.sigma(sigma)?, lines.epsilon(epsilon)?));
    }
    let mut exceptions = Vec::new();
    let mut known = false;
    while let Some(line) = lines.next() {
        let mut words = line.split_whitespace();
        let (Some(name), Some(count), None) = (words.next(), words.next(), words.next()) else {
            let found = line.split_whitespace().count();
            return Err(lines.wrong(Problem::Words { found, wanted: 2, form: "a section's name, and its lines" }));
        };
        let count = lines.whole(count, "number of lines", usize::MAX)?;
        if name == "exceptions" {
            known = true;
            for at in 0..count {
                let words = lines.words::<5>(EXCEPTION, || format!("exception {at} of {count}"))?;
                exceptions.push(exception(&lines, words, atoms)?);
            }
        } else {
            for at in 0..count {
                if lines.next().is_none() {
                    return Err(
                        lines.wrong(Problem::Ended { wanted: format!("line {at} of {count} of {}", shown(name)) })
                    );
                }
            }
        }
    }
    if !known {
        return Err((0, Problem::Missing("exceptions")));
    }
    System::new(sites, exceptions).map_err(|problem| (0, problem))
}

fn exception(lines: &Lines, words: [&str; 5], atoms: usize) -> Result<Exception, Wrong> {
    let [first, second, charges, sigma, epsilon] = words;
    let (a, b) = (lines.whole(first, "atom", atoms)?, lines.whole(second, "atom", atoms)?);
    if a == b {
        let cure = "a pair has two different atoms".to_owned();
        return Err(lines.wrong(Problem::Word { found: shown(second), what: "second atom of this pair", cure }));
    }
    let charges = lines.real(charges, "product of charges", |value| value.abs() <= 1e12, "it takes a number")?;
    let (sigma, epsilon) = (lines.sigma(sigma)?, lines.epsilon(epsilon)?);
    let acts = charges != 0.0 || epsilon != 0.0;
    let terms = acts.then(|| Terms::new(charges, sigma, epsilon));
    Ok(Exception { first: a.min(b) as u32, second: a.max(b) as u32, terms })
}
