//! Reads Matrix Market files: sparse matrices as text, one line for each entry.
//!
//! ```text
//! %%MatrixMarket matrix coordinate real general
//! % comment lines
//! ROWS COLUMNS ENTRIES
//! row column value                                (ENTRIES lines; both count from 1)
//! ```
//!
//! The field may also be `integer`, or `pattern`, whose entries have no value and count as 1. A `symmetric` or
//! `skew-symmetric` file contains the lower half of its matrix.

use std::path::Path;
use std::str::FromStr;

use crate::files::{FileError, Text, shown};
use crate::sparse::Sparse;

/// The maximum number of rows and columns.
const MOST: usize = 1 << 24;

/// An error in reading a matrix.
#[derive(Debug, thiserror::Error)]
pub enum MarketError {
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
}

/// A problem of a line, and the cure.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Problem {
    /// The file has another format.
    #[error(
        "the file does not begin with `%%MatrixMarket matrix coordinate`: give a sparse matrix in Matrix Market's format"
    )]
    Header,
    /// The header names a kind of matrix that is not supported.
    #[error("matrices of the kind `{found}` are not read here: {cure}")]
    Kind {
        /// The word of the header, shortened.
        found: String,
        /// The supported kinds.
        cure: &'static str,
    },
    /// The text ends too early.
    #[error("the file ends here, before {wanted}: it was cut short, so fetch it again")]
    Ended {
        /// The part of the file that is missing.
        wanted: String,
    },
    /// The text continues after the last entry.
    #[error("the file goes on behind its {0} entries: correct the number in the line of sizes")]
    More(usize),
    /// A line has too few or too many words.
    #[error("{found} words are here instead of {wanted}: {form}")]
    Words {
        /// The number of words.
        found: usize,
        /// The number of words that the line should have.
        wanted: usize,
        /// The form of the line.
        form: &'static str,
    },
    /// A word is not a valid value.
    #[error("`{found}` is no {what}: it takes {takes}")]
    Word {
        /// The word, shortened.
        found: String,
        /// The name of the value.
        what: &'static str,
        /// The allowed words.
        takes: String,
    },
    /// An entry outside the lower half of a symmetric or skew-symmetric matrix.
    #[error(
        "the entry is above the diagonal of a {0} matrix: give the lower half alone (without the diagonal if it is skew)"
    )]
    Half(&'static str),
    /// Two lines specify the same entry.
    #[error("row {row}, column {column} has an entry already: give each entry once")]
    Twice {
        /// The row, from 1.
        row: usize,
        /// The column, from 1.
        column: usize,
    },
}

type Wrong = (usize, Problem);

/// Reads a matrix from a file, which may be packed by gzip.
///
/// # Errors
///
/// A [`MarketError`], which names the file, the line and the cure.
pub fn open(path: &Path) -> Result<Sparse, MarketError> {
    let Text { file, text } = Text::open(path)?;
    read(&text).map_err(|(line, problem)| MarketError::Line { file: file.into_owned(), line, problem })
}

/// Parses a number.
fn number<T: FromStr>(
    line: usize,
    word: &str,
    what: &'static str,
    takes: impl Fn() -> String,
    allowed: impl Fn(&T) -> bool,
) -> Result<T, Wrong> {
    let value = word.parse().ok().filter(allowed);
    value.ok_or_else(|| (line, Problem::Word { found: shown(word), what, takes: takes() }))
}

/// Parses a whole number from `low` to `high`.
fn whole(line: usize, word: &str, what: &'static str, low: usize, high: usize) -> Result<usize, Wrong> {
    number(line, word, what, || format!("a whole number from {low} to {high}"), |value| (low..=high).contains(value))
}

/// Returns the sign of an entry's mirror image and the name of the symmetry; `None` if the file has the whole matrix.
fn symmetry(word: &str) -> Result<Option<(f64, &'static str)>, Problem> {
    match word {
        "general" => Ok(None),
        "symmetric" => Ok(Some((1.0, "symmetric"))),
        "skew-symmetric" => Ok(Some((-1.0, "skew-symmetric"))),
        _ => Err(Problem::Kind { found: shown(word), cure: "give a general, symmetric or skew-symmetric one" }),
    }
}

fn read(text: &str) -> Result<Sparse, Wrong> {
    let header = text.lines().next().unwrap_or_default().to_ascii_lowercase();
    let header: Vec<&str> = header.split_whitespace().collect();
    let ["%%matrixmarket", "matrix", "coordinate", field, mirror] = header[..] else {
        return Err((1, Problem::Header));
    };
    if !matches!(field, "real" | "integer" | "pattern") {
        return Err((1, Problem::Kind { found: shown(field), cure: "give a real, integer or pattern one" }));
    }
    let mirror = symmetry(mirror).map_err(|problem| (1, problem))?;
    let ignored = |line: &str| line.trim().is_empty() || line.starts_with('%');
    let mut lines = (1..).zip(text.lines()).filter(|(_, line)| !ignored(line));
    let end = text.lines().count() + 1;
    let ended = |wanted: String| (end, Problem::Ended { wanted });
    let (line, sizes) = lines.next().ok_or_else(|| ended("the sizes".to_owned()))?;
    let [rows, columns, entries] = words(line, sizes, "rows, columns and entries")?;
    let rows = whole(line, rows, "number of rows", 1, MOST)?;
    let columns = whole(line, columns, "number of columns", 1, MOST)?;
    let entries = whole(line, entries, "number of entries", 0, rows.saturating_mul(columns))?;
    if mirror.is_some() && rows != columns {
        let cure = "a symmetric matrix has as many columns as rows";
        return Err((line, Problem::Kind { found: shown(sizes), cure }));
    }
    let mut matrix: Vec<Vec<(u32, f64, usize)>> = vec![Vec::new(); rows];
    for entry in 1..=entries {
        let (line, text) = lines.next().ok_or_else(|| ended(format!("entry {entry} of {entries}")))?;
        let (row, column, value) = match field {
            "pattern" => {
                let [row, column] = words(line, text, "row and column")?;
                (row, column, 1.0)
            }
            _ => {
                let [row, column, value] = words(line, text, "row, column and value")?;
                let value =
                    number(line, value, "value", || "a finite number".to_owned(), |value: &f64| value.is_finite())?;
                (row, column, value)
            }
        };
        let row = whole(line, row, "row", 1, rows)? - 1;
        let column = whole(line, column, "column", 1, columns)? - 1;
        matrix[row].push((column as u32, value, line));
        if let Some((sign, name)) = mirror {
            if column > row || (column == row && sign < 0.0) {
                return Err((line, Problem::Half(name)));
            }
            if column < row {
                matrix[column].push((row as u32, sign * value, line));
            }
        }
    }
    if let Some((line, _)) = lines.next() {
        return Err((line, Problem::More(entries)));
    }
    for (row, entries) in matrix.iter_mut().enumerate() {
        entries.sort_by_key(|&(column, _, line)| (column, line));
        if let Some(pair) = entries.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            return Err((pair[1].2, Problem::Twice { row: row + 1, column: pair[0].0 as usize + 1 }));
        }
    }
    let rows = matrix.into_iter().map(|row| row.into_iter().map(|(column, value, _)| (column, value)).collect());
    Ok(Sparse::from_rows(columns, rows))
}

/// Splits a line into `N` words.
fn words<'a, const N: usize>(line: usize, text: &'a str, form: &'static str) -> Result<[&'a str; N], Wrong> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let found = words.len();
    words.try_into().map_err(|_| (line, Problem::Words { found, wanted: N, form }))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn complaint(text: &str) -> String {
        let (line, problem) = read(text).expect_err("a matrix that is wrong");
        format!("{line}: {problem}")
    }

    #[test]
    fn supported_kinds_are_read() {
        let real = read("%%MatrixMarket matrix coordinate real general\n% a comment\n\n2 3 2\n2 3 -1.5e0\n1 1 2\n");
        assert_eq!(real, Ok(Sparse::from_rows(3, [vec![(0, 2.0)], vec![(2, -1.5)]])));
        let pattern = read("%%MatrixMarket MATRIX Coordinate Pattern Symmetric\n2 2 2\n1 1\n2 1");
        assert_eq!(pattern, Ok(Sparse::from_rows(2, [vec![(0, 1.0), (1, 1.0)], vec![(0, 1.0)]])));
        let skew = read("%%MatrixMarket matrix coordinate integer skew-symmetric\r\n2 2 1\r\n2 1 7\r\n");
        assert_eq!(skew, Ok(Sparse::from_rows(2, [vec![(1, -7.0)], vec![(0, 7.0)]])));
    }

    #[test]
    fn errors_name_the_line_and_the_cure() {
        const REAL: &str = "%%MatrixMarket matrix coordinate real general\n";
        for (text, known) in [
            ("", "1: the file does not begin with `%%MatrixMarket"),
            ("%%MatrixMarket matrix array real general\n", "1: the file does not begin"),
            ("%%MatrixMarket matrix coordinate complex general\n", "1: matrices of the kind `complex` are not read"),
            ("%%MatrixMarket matrix coordinate real hermitian\n", "1: matrices of the kind `hermitian` are not read"),
            (
                "%%MatrixMarket matrix coordinate real symmetric\n2 3 0\n",
                "2: matrices of the kind `2 3 0` are not read",
            ),
            (REAL, "2: the file ends here, before the sizes"),
            (&format!("{REAL}2 2\n"), "2: 2 words are here instead of 3: rows, columns and entries"),
            (&format!("{REAL}0 2 1\n"), "2: `0` is no number of rows: it takes a whole number from 1 to 16777216"),
            (&format!("{REAL}2 2 5\n"), "2: `5` is no number of entries: it takes a whole number from 0 to 4"),
            (&format!("{REAL}2 2 2\n1 1 1\n"), "4: the file ends here, before entry 2 of 2"),
            (&format!("{REAL}2 2 1\n1 1 1\n2 2 1\n"), "4: the file goes on behind its 1 entries"),
            (&format!("{REAL}2 2 1\n1 1\n"), "3: 2 words are here instead of 3"),
            (&format!("{REAL}2 2 1\n3 1 1\n"), "3: `3` is no row: it takes a whole number from 1 to 2"),
            (&format!("{REAL}2 2 1\n1 0 1\n"), "3: `0` is no column"),
            (&format!("{REAL}2 2 1\n1 1 nan\n"), "3: `nan` is no value: it takes a finite number"),
            (&format!("{REAL}2 2 2\n1 1 1\n1 1 2\n"), "4: row 1, column 1 has an entry already"),
            (&REAL.replace("general", "symmetric\n2 2 1\n1 2 1"), "3: the entry is above the diagonal"),
        ] {
            assert!(complaint(text).starts_with(known), "{text:?}: {}", complaint(text));
        }
    }

    proptest! {
        #[test]
        fn arbitrary_text_does_not_panic(text in "(%%MatrixMarket matrix coordinate (real|pattern) (general|symmetric)\n)?[ 0-9.e%x\n-]{0,60}") {
            let _ = read(&text);
        }
    }
}
