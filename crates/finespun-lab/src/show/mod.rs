//! What a person sees: text, tables, histograms and plots.
//!
//! The only room that writes to the standard output, so that a reader who goes away (`| head -1`) is one case in one place.

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
/// [`Failure::ClosedPipe`] if nobody reads it any more, [`Failure::Output`] if it cannot be written.
pub fn print(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(|error| match error.kind() {
        ErrorKind::BrokenPipe => Failure::ClosedPipe,
        _ => Failure::Output(error),
    })
}

/// Writes one line to the standard error, in the form of all our complaints.
pub fn complain(line: &str) {
    // There is nobody left to tell if this fails.
    let _ = writeln!(io::stderr().lock(), "error: {line}");
}

/// Writes one line about what is going on to the standard error.
pub fn note(line: &str) {
    let _ = writeln!(io::stderr().lock(), "finespun: {line}");
}
