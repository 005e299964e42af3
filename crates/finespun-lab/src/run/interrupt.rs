//! Ctrl-C, and SIGTERM: clears the progress bar, removes unfinished files, reports the interruption in one line, and exits
//! with the code that a shell reports for a command that the signal ended.
//!
//! Launchers send SIGTERM to all processes that they have started. Of these the first one comes here, and ends the others.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::{Mutex, Once, PoisonError};

#[cfg(unix)]
use nix::sys::signal::{SigSet, Signal};

use super::meter;

/// The exit code that a shell reports for a command that SIGINT ended.
const INTERRUPTED: i32 = 130;
/// The same for SIGTERM.
#[cfg(unix)]
const TERMINATED: i32 = 143;

/// Files that exist but hold nothing yet.
static BEGUN: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// A function to call before the process ends.
type Hook = Box<dyn FnOnce() + Send>;
static HOOKS: Mutex<Vec<Hook>> = Mutex::new(Vec::new());

/// Makes Ctrl-C and SIGTERM end the process in an orderly way from now on. A second call does nothing. Called before the
/// process has other threads.
pub fn install() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // First: the handler of Ctrl-C has a thread of its own.
        #[cfg(unix)]
        await_termination();
        // If no handler can be installed, Ctrl-C keeps its default effect.
        let _ = ctrlc::set_handler(|| end("interrupted", INTERRUPTED));
    });
}

/// Blocks SIGTERM in this thread, and so in those that it starts, and starts a thread that waits for it.
#[cfg(unix)]
fn await_termination() {
    let mut signals = SigSet::empty();
    signals.add(Signal::SIGTERM);
    if signals.thread_block().is_err() {
        return;
    }
    let wait = move || {
        if signals.wait().is_ok() {
            end("terminated", TERMINATED);
        }
    };
    if std::thread::Builder::new().name("termination".to_owned()).spawn(wait).is_err() {
        // The signal keeps its default effect.
        let _ = signals.thread_unblock();
    }
}

fn end(how: &str, code: i32) {
    meter::clear();
    let hooks = std::mem::take(&mut *HOOKS.lock().unwrap_or_else(PoisonError::into_inner));
    hooks.into_iter().for_each(|hook| hook());
    for path in BEGUN.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
        let _ = std::fs::remove_file(path);
    }
    let _ = writeln!(io::stderr().lock(), "{how}");
    process::exit(code);
}

/// Registers `hook` to be called on Ctrl-C before the process ends, on another thread.
pub fn before_exit(hook: impl FnOnce() + Send + 'static) {
    HOOKS.lock().unwrap_or_else(PoisonError::into_inner).push(Box::new(hook));
}

/// Registers `path` for removal if the run is interrupted.
pub fn begun(path: &Path) {
    BEGUN.lock().unwrap_or_else(PoisonError::into_inner).push(path.to_owned());
}

/// Unregisters `path`, because it is complete or removed.
pub fn ended(path: &Path) {
    BEGUN.lock().unwrap_or_else(PoisonError::into_inner).retain(|begun| begun != path);
}
