//! Numbers and tables as text.

use comfy_table::{CellAlignment, ContentArrangement, Table, presets};
use serde_json::Value;

/// Formats an integer with its digits in groups of three: `103,346`.
pub fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Formats a time with three or four significant digits: `1.234 s`, `56.70 ms`, `8.90 us`.
pub fn seconds(seconds: f64) -> String {
    match seconds {
        s if s >= 100.0 => format!("{s:.1} s"),
        s if s >= 1.0 => format!("{s:.3} s"),
        s if s >= 1e-1 => format!("{:.0} ms", s * 1e3),
        s if s >= 1e-3 => format!("{:.2} ms", s * 1e3),
        s => format!("{:.2} us", s * 1e6),
    }
}

/// Formats a value of an answer.
pub fn value(value: &Value) -> String {
    match value {
        Value::Number(number) => match number.as_u64() {
            Some(whole) => thousands(whole),
            None => number.as_f64().map_or_else(|| number.to_string(), |real| real.to_string()),
        },
        Value::Bool(true) => "yes".to_owned(),
        Value::Bool(false) => "no".to_owned(),
        Value::Null => "none".to_owned(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Formats a table with a header; the first column is aligned to the left, the others to the right.
pub fn table(head: &[&str], rows: &[Vec<String>]) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(head);
    table.add_rows(rows);
    for (place, column) in table.column_iter_mut().enumerate() {
        column.set_padding((if place == 0 { 0 } else { 2 }, 0));
        column.set_cell_alignment(if place == 0 { CellAlignment::Left } else { CellAlignment::Right });
    }
    table.lines().map(|line| line.trim_end().to_owned() + "\n").collect()
}

#[cfg(test)]
mod tests {
    use super::{seconds, table, thousands};

    #[test]
    fn digits_are_grouped_by_three() {
        for (number, text) in [(0, "0"), (999, "999"), (1000, "1,000"), (103_346, "103,346"), (1_234_567, "1,234,567")]
        {
            assert_eq!(thousands(number), text);
        }
    }

    #[test]
    fn times_are_shown_in_a_suitable_unit() {
        for (time, text) in [
            (0.0, "0.00 us"),
            (3.2e-6, "3.20 us"),
            (0.0123, "12.30 ms"),
            (0.5, "500 ms"),
            (2.0, "2.000 s"),
            (200.0, "200.0 s"),
        ] {
            assert_eq!(seconds(time), text);
        }
    }

    #[test]
    fn columns_line_up() {
        let rows = [vec!["fib".to_owned(), "1".to_owned()], vec!["nqueens".to_owned(), "22".to_owned()]];
        let lines: Vec<_> = table(&["app", "time"], &rows).lines().map(str::to_owned).collect();
        assert_eq!(lines.iter().map(String::len).collect::<std::collections::BTreeSet<_>>().len(), 1, "{lines:?}");
    }
}
