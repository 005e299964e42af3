//! Output for people: text, tables, histograms and plots.
//!
//! No other module writes to the standard output, so a closed pipe (`| head -1`) is handled in one place.

mod curves;
mod histogram;
mod page;
mod plot;
mod text;

use std::io::{self, ErrorKind, Write};

use crate::failure::Failure;

pub use curves::{Panel, Up, curves};
pub use histogram::histogram;
pub use page::stack;
pub use plot::{bars, grouped_bars};
pub use text::{seconds, table, thousands, value};

/// Writes `text` to the standard output.
///
/// # Errors
///
/// [`Failure::ClosedPipe`] if its reader has closed it, [`Failure::Output`] if it cannot be written.
pub fn print(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(|error| match error.kind() {
        ErrorKind::BrokenPipe => Failure::ClosedPipe,
        _ => Failure::Output(error),
    })
}

/// Writes one line to the standard error, in the form of all errors.
pub fn complain(line: &str) {
    // If this fails, no channel for an error is left.
    let _ = writeln!(io::stderr().lock(), "error: {line}");
}

/// Writes one line about the progress to the standard error.
pub fn note(line: &str) {
    let _ = writeln!(io::stderr().lock(), "finespun: {line}");
}
