//! Ctrl-C: clears the progress bar, removes unfinished files, reports the interruption in one line, and exits with code
//! 130.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::{Mutex, Once, PoisonError};

use super::meter;

/// The exit code that a shell reports for a command that SIGINT ended.
const EXIT_CODE: i32 = 130;

/// Files that exist but hold nothing yet.
static BEGUN: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// A function to call before the process ends.
type Hook = Box<dyn FnOnce() + Send>;
static HOOKS: Mutex<Vec<Hook>> = Mutex::new(Vec::new());

/// Makes Ctrl-C end the process in an orderly way from now on. A second call does nothing.
pub fn install() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // If no handler can be installed, Ctrl-C keeps its default effect.
        let _ = ctrlc::set_handler(|| {
            meter::clear();
            let hooks = std::mem::take(&mut *HOOKS.lock().unwrap_or_else(PoisonError::into_inner));
            hooks.into_iter().for_each(|hook| hook());
            for path in BEGUN.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
                let _ = std::fs::remove_file(path);
            }
            let _ = writeln!(io::stderr().lock(), "interrupted");
            process::exit(EXIT_CODE);
        });
    });
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
