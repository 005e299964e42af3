//! Formats an error of the argument parser as one line: the argument, the given value, the valid values.

use std::error::Error as _;

use clap::Error;
use clap::error::{ContextKind, ContextValue, ErrorKind};

/// Returns the error as one line.
pub fn one_line(error: &Error) -> String {
    let text = |kind| error.get(kind).map(value).filter(|text| !text.is_empty());
    let argument = text(ContextKind::InvalidArg).unwrap_or_default();
    let given = text(ContextKind::InvalidValue);
    let line = match (error.kind(), given) {
        (ErrorKind::UnknownArgument, _) => {
            let hint = match text(ContextKind::SuggestedArg) {
                Some(near) => format!("did you mean {near}?"),
                None => "see `finespun-fuzz --help`".to_owned(),
            };
            format!("unexpected argument `{argument}`: {hint}")
        }
        (ErrorKind::ValueValidation, Some(given)) => match error.source() {
            Some(reason) => format!("{argument} cannot be `{given}`: {reason}"),
            None => format!("{argument} cannot be `{given}`"),
        },
        (ErrorKind::InvalidValue, None) => format!("{argument} needs a value after it"),
        (ErrorKind::ArgumentConflict, _) => format!("{argument} was given more than once: give it once"),
        _ => error.to_string().lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned(),
    };
    flat(&line)
}

fn value(value: &ContextValue) -> String {
    match value {
        ContextValue::String(text) => text.clone(),
        ContextValue::Strings(texts) => texts.join(", "),
        other => other.to_string(),
    }
}

/// Puts the text on one line and escapes control characters.
fn flat(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let visible = |c: char| if c.is_control() { c.escape_default().collect() } else { vec![c] };
    words.join(" ").chars().flat_map(visible).collect()
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::args::Args;

    #[test]
    fn every_error_is_one_line_with_the_cure() {
        let cases: [(&[&str], &str); 6] = [
            (&["--cout", "3"], "unexpected argument `--cout`: did you mean --count?"),
            (&["--zzz"], "unexpected argument `--zzz`: see `finespun-fuzz --help`"),
            (&["--count", "0"], "--count <COUNT> cannot be `0`: 0 is not in 1..=10000000"),
            (&["--seed", "a\nb"], "--seed <SEED> cannot be `a b`: invalid digit found in string"),
            (&["--count"], "--count <COUNT> needs a value after it"),
            (&["--seed", "1", "--seed", "2"], "--seed <SEED> was given more than once: give it once"),
        ];
        for (words, line) in cases {
            let words = std::iter::once("finespun-fuzz").chain(words.iter().copied());
            let error = Args::try_parse_from(words).expect_err("bad input");
            assert_eq!(one_line(&error), line);
        }
    }
}
