//! Turns an error of the argument parser into one line: the argument, the given value, and the values that it takes.

use std::error::Error as _;
use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Command, Error};

/// Formats the error as one line. `words` is the command line that `root` refused.
pub fn one_line(error: &Error, root: &Command, words: &[OsString]) -> String {
    let text = |kind| error.get(kind).map(value).filter(|text| !text.is_empty());
    let argument = text(ContextKind::InvalidArg).unwrap_or_default();
    let described = || described(root, words, &argument).map_or_else(String::new, |help| format!(": {help}"));
    let line = match error.kind() {
        ErrorKind::InvalidSubcommand => {
            let given = text(ContextKind::InvalidSubcommand).unwrap_or_default();
            let (noun, names) = choices(root, words);
            match near(&given, &names) {
                Some(near) => format!("unknown {noun} `{given}`: did you mean {near}? There are {}", names.join(", ")),
                None => format!("unknown {noun} `{given}`: use one of {}", names.join(", ")),
            }
        }
        ErrorKind::MissingSubcommand => {
            let (noun, names) = choices(root, words);
            format!("no {noun} given: use one of {}", names.join(", "))
        }
        ErrorKind::ValueValidation => {
            let given = text(ContextKind::InvalidValue).unwrap_or_default();
            match error.source() {
                Some(reason) => refused(&argument, &given, &reason.to_string()),
                None => format!("{argument} cannot be `{given}`"),
            }
        }
        ErrorKind::InvalidValue => match text(ContextKind::InvalidValue) {
            Some(given) => match text(ContextKind::ValidValue) {
                Some(names) => refused(&argument, &given, &format!("use one of {names}")),
                None => refused(&argument, &given, &usage(error)),
            },
            None => format!("{argument} needs a value after it{}", described()),
        },
        ErrorKind::UnknownArgument => {
            let hint = match text(ContextKind::SuggestedArg) {
                Some(near) => format!("did you mean {near}?"),
                None => usage(error),
            };
            format!("unexpected argument `{argument}`: {hint}")
        }
        ErrorKind::MissingRequiredArgument => {
            format!("{argument} is missing{}; {}", described(), usage(error))
        }
        ErrorKind::ArgumentConflict => match text(ContextKind::PriorArg) {
            Some(prior) if prior == argument => format!("{argument} was given more than once: give it once"),
            Some(prior) => format!("{argument} does not go together with {prior}: give one or the other"),
            None => format!("{argument} does not go together with the other arguments: {}", usage(error)),
        },
        _ => error.to_string().lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned(),
    };
    flat(&line)
}

/// Formats the error that `argument` cannot be `given`; `reason` describes the allowed values.
pub fn refused(argument: &str, given: &str, reason: &str) -> String {
    format!("{argument} cannot be `{given}`: {reason}")
}

/// Returns the commands that `words` names, from `root` down: `finespun`, `run`, `fib`.
fn path<'c>(root: &'c Command, words: &[OsString]) -> Vec<&'c Command> {
    words.iter().fold(vec![root], |mut path, word| {
        path.extend(word.to_str().and_then(|word| path[path.len() - 1].find_subcommand(word)));
        path
    })
}

/// Returns the noun and the names that are possible at the place of the error: commands, or applications of `run`.
fn choices<'c>(root: &'c Command, words: &[OsString]) -> (&'static str, Vec<&'c str>) {
    let (noun, command) = match path(root, words)[..] {
        [_, run, ..] => ("app", run),
        _ => ("command", root),
    };
    let names = command.get_subcommands().map(Command::get_name).filter(|name| *name != "help");
    (noun, names.collect())
}

/// Returns the name that `given` is most likely to be a misspelling of, if any: in a third of its letters at most.
fn near<'n>(given: &str, names: &[&'n str]) -> Option<&'n str> {
    let distance = |name: &&&str| strsim::damerau_levenshtein(given, name);
    names.iter().min_by_key(distance).filter(|name| distance(name) <= given.len().div_ceil(3)).copied()
}

/// Returns the help text of `argument`, which is written as the parser writes it: `<N>` or `--workers <N>`.
fn described(root: &Command, words: &[OsString], argument: &str) -> Option<String> {
    let arguments = path(root, words).into_iter().rev().flat_map(Command::get_arguments);
    let found = arguments.into_iter().find(|known| match known.get_long() {
        Some(long) => argument.strip_prefix("--").is_some_and(|given| given.split(' ').next() == Some(long)),
        None => known.get_value_names().is_some_and(|names| names.iter().any(|name| argument == format!("<{name}>"))),
    });
    found?.get_help().map(ToString::to_string)
}

fn usage(error: &Error) -> String {
    let usage = error.get(ContextKind::Usage).map(value).unwrap_or_default();
    match usage.trim().strip_prefix("Usage:") {
        Some(form) => format!("the form is `{}`", form.trim()),
        None => "see `finespun --help`".to_owned(),
    }
}

fn value(value: &ContextValue) -> String {
    match value {
        ContextValue::String(text) => text.clone(),
        ContextValue::Strings(texts) => texts.join(", "),
        ContextValue::StyledStr(text) => text.to_string(),
        ContextValue::StyledStrs(texts) => texts.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    }
}

/// Joins `text` into one line, and escapes the control characters that the user typed.
fn flat(text: &str) -> String {
    text.split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
        .chars()
        .flat_map(|c| if c.is_control() { c.escape_default().collect::<Vec<_>>() } else { vec![c] })
        .collect()
}
