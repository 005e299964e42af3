//! Figures from the papers, exactly as printed.
//!
//! Our own figures are compared with these: measured in 1995 and 1996 on a SPARC, a CM-5 and a T3D, so only ratios and
//! orders of magnitude compare.

pub mod concert;
pub mod hybrid;

/// A table of a paper.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Table {
    /// The paper and the number of the table.
    pub source: &'static str,
    /// The table's caption in the paper; for a table with two halves, the heading of the half first.
    pub title: &'static str,
    /// The unit of all figures, unless a column says otherwise.
    pub unit: &'static str,
    /// The heading of the column of names, then the headings of the figures.
    pub head: &'static [&'static str],
    /// The rows.
    pub rows: &'static [Row],
    /// The paper's text below the table, and our reading of its print.
    pub note: &'static str,
}

/// A row of a table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Row {
    /// The name of the row.
    pub name: &'static str,
    /// The figures, in the order of the columns; `None` if the paper has a dash or nothing.
    pub figures: &'static [Option<f64>],
}

impl Table {
    /// Returns the figure in the row `name`, column `column`, or `None` if this place does not exist or the paper
    /// leaves it empty.
    pub fn figure(&self, name: &str, column: &str) -> Option<f64> {
        let place = self.head.iter().skip(1).position(|head| *head == column)?;
        let row = self.rows.iter().find(|row| row.name == name)?;
        row.figures.get(place).copied().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::Table;
    use super::concert::{
        CONCERT_FIGURE_10, CONCERT_FIGURE_13, CONCERT_TABLE_1, CONCERT_TABLE_2, CONCERT_TABLE_4_CALL,
        CONCERT_TABLE_4_FALLBACK, CONCERT_TABLE_5,
    };
    use super::hybrid::{
        HYBRID_TABLE_2_CALL, HYBRID_TABLE_2_FALLBACK, HYBRID_TABLE_3, HYBRID_TABLE_4, HYBRID_TABLE_5, HYBRID_TABLE_6,
    };

    const ALL: [Table; 13] = [
        HYBRID_TABLE_2_CALL,
        HYBRID_TABLE_2_FALLBACK,
        HYBRID_TABLE_3,
        HYBRID_TABLE_4,
        HYBRID_TABLE_5,
        HYBRID_TABLE_6,
        CONCERT_TABLE_1,
        CONCERT_TABLE_2,
        CONCERT_TABLE_4_CALL,
        CONCERT_TABLE_4_FALLBACK,
        CONCERT_TABLE_5,
        CONCERT_FIGURE_10,
        CONCERT_FIGURE_13,
    ];

    #[test]
    fn tables_are_rectangular_with_unique_row_names() {
        for table in ALL {
            for (place, row) in table.rows.iter().enumerate() {
                assert_eq!(row.figures.len() + 1, table.head.len(), "{}: {}", table.source, row.name);
                assert!(
                    table.rows[..place].iter().all(|other| other.name != row.name),
                    "{}: {}",
                    table.source,
                    row.name
                );
            }
        }
    }

    #[test]
    fn figures_are_found_by_name() {
        assert_eq!(HYBRID_TABLE_3.figure("fib(29)", "3 interfaces"), Some(0.70));
        assert_eq!(HYBRID_TABLE_2_FALLBACK.figure("continuation passing", "may block"), Some(140.0));
        assert_eq!(CONCERT_TABLE_1.figure("thread_create", "cycles"), Some(150.0));
        assert_eq!(CONCERT_TABLE_4_CALL.figure("non-blocking", "parallel"), None);
        assert_eq!(CONCERT_TABLE_1.figure("thread_create", "years"), None);
        assert_eq!(CONCERT_TABLE_2.figure("PVM latency", "64"), Some(34.95));
        assert_eq!(CONCERT_TABLE_5.figure("pull destination", "1024"), Some(30.18));
        assert_eq!(CONCERT_FIGURE_10.figure("push", "all-to-one"), Some(455.0));
        assert_eq!(CONCERT_FIGURE_13.figure("base", "80 % local"), Some(300.0));
    }

    /// The papers divided before they rounded; and one printed ratio does not match its times.
    #[test]
    fn all_ratios_but_one_match_their_times() {
        let mut others = Vec::new();
        for table in [HYBRID_TABLE_4, HYBRID_TABLE_5, HYBRID_TABLE_6] {
            for (row, machine) in table.rows.iter().flat_map(|row| [(row, "CM-5"), (row, "T3D")]) {
                let figure = |column| table.figure(row.name, &format!("{machine} {column}")).expect("a figure");
                let ratio = figure("parallel") / figure("hybrid");
                if (figure("parallel/hybrid") / ratio - 1.0).abs() > 0.02 {
                    others.push((row.name, machine));
                }
            }
        }
        assert_eq!(others, [("forward, high", "T3D")]);
    }
}
