//! What single arguments take: parsers whose complaint is the allowed form.

use std::fmt::Display;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::str::FromStr;

/// A whole number in `range`; underscores may group the digits.
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

/// A finite number for which `allowed` holds; `form` says which ones these are.
pub fn real(
    form: &'static str,
    allowed: impl Fn(f64) -> bool + Clone + Send + Sync + 'static,
) -> impl Fn(&str) -> Result<f64, String> + Clone + Send + Sync + 'static {
    move |text| {
        text.parse().ok().filter(|&value: &f64| value.is_finite() && allowed(value)).ok_or_else(|| form.to_owned())
    }
}

/// The name of a file; whether it can be written is found out when it is opened.
pub fn path() -> impl Fn(&str) -> Result<PathBuf, String> + Clone + Send + Sync + 'static {
    |text| match text {
        "" => Err("it takes the name of a file".to_owned()),
        text => Ok(PathBuf::from(text)),
    }
}

/// `text` without the underscores that group its digits; `None` if one stands anywhere but between two digits.
fn digits(text: &str) -> Option<String> {
    let grouped = text.split('_').skip(1).all(|part| part.starts_with(|c: char| c.is_ascii_digit()))
        && text.rsplit('_').skip(1).all(|part| part.ends_with(|c: char| c.is_ascii_digit()));
    grouped.then(|| text.replace('_', ""))
}

#[cfg(test)]
mod tests {
    use super::{number, real};

    #[test]
    fn numbers_in_and_out_of_range() {
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
    fn reals() {
        let parse = real("it takes a number above 0", |x| x > 0.0);
        assert_eq!(parse("1e-3"), Ok(1e-3));
        for text in ["0", "-1", "nan", "inf", "", "1,5"] {
            assert_eq!(parse(text), Err("it takes a number above 0".to_owned()), "{text}");
        }
    }
}
