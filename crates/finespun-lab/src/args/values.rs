//! Parsers of single arguments, whose error is the allowed form.

use std::fmt::Display;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::str::FromStr;

/// Returns a parser for an integer in `range`; underscores may group the digits.
pub fn number<T>(range: RangeInclusive<T>) -> impl Fn(&str) -> Result<T, String> + Clone + Send + Sync + 'static
where
    T: FromStr + PartialOrd + Display + Clone + Send + Sync + 'static,
{
    move |text| {
        digits(text)
            .and_then(|digits| digits.parse().ok())
            .filter(|value| range.contains(value))
            .ok_or_else(|| format!("it takes a whole number from {} to {}", range.start(), range.end()))
    }
}

/// Returns a parser for a finite number for which `allowed` holds; `form` describes the allowed numbers.
pub fn real(
    form: &'static str,
    allowed: impl Fn(f64) -> bool + Clone + Send + Sync + 'static,
) -> impl Fn(&str) -> Result<f64, String> + Clone + Send + Sync + 'static {
    move |text| {
        text.parse().ok().filter(|&value: &f64| value.is_finite() && allowed(value)).ok_or_else(|| form.to_owned())
    }
}

/// Returns a parser for the name of a file. Opening the file shows whether it can be written.
pub fn path() -> impl Fn(&str) -> Result<PathBuf, String> + Clone + Send + Sync + 'static {
    |text| match text {
        "" => Err("it takes the name of a file".to_owned()),
        text => Ok(PathBuf::from(text)),
    }
}

/// Removes the underscores that group digits; returns `None` if one is not between two digits.
fn digits(text: &str) -> Option<String> {
    let grouped = text.split('_').skip(1).all(|part| part.starts_with(|c: char| c.is_ascii_digit()))
        && text.rsplit('_').skip(1).all(|part| part.ends_with(|c: char| c.is_ascii_digit()));
    grouped.then(|| text.replace('_', ""))
}

#[cfg(test)]
mod tests {
    use super::{number, real};

    #[test]
    fn integers_in_and_out_of_range() {
        let parse = number(0..=93u64);
        for (text, value) in [("0", 0), ("93", 93), ("9_3", 93), ("007", 7)] {
            assert_eq!(parse(text), Ok(value), "{text}");
        }
        for text in ["", "94", "-1", "1.5", "_9", "9_", "9__3", "1e1", "x", " 3", "99999999999999999999999"] {
            assert_eq!(parse(text), Err("it takes a whole number from 0 to 93".to_owned()), "{text}");
        }
        assert_eq!(number(-5..=5i64)("-5"), Ok(-5));
    }

    #[test]
    fn only_allowed_finite_reals_are_accepted() {
        let parse = real("it takes a number above 0", |x| x > 0.0);
        assert_eq!(parse("1e-3"), Ok(1e-3));
        for text in ["0", "-1", "nan", "inf", "", "1,5"] {
            assert_eq!(parse(text), Err("it takes a number above 0".to_owned()), "{text}");
        }
    }
}
