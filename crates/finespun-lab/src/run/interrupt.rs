//! Ctrl-C: the progress bar is taken away, files that were begun are removed, one line says so, and the exit code is 130.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::{Mutex, Once, PoisonError};

use super::meter;

/// What a shell reports for a command that ended by SIGINT.
const EXIT_CODE: i32 = 130;

/// Files that exist but hold nothing yet.
static BEGUN: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// What is done before the process ends.
type Hook = Box<dyn FnOnce() + Send>;
static HOOKS: Mutex<Vec<Hook>> = Mutex::new(Vec::new());

/// From now on Ctrl-C ends the process in an orderly way. A second call does nothing.
pub fn install() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // Where no handler can be installed, Ctrl-C ends the process as it always did.
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

/// On Ctrl-C, `hook` is called before the process ends, on a thread of its own.
pub fn before_exit(hook: impl FnOnce() + Send + 'static) {
    HOOKS.lock().unwrap_or_else(PoisonError::into_inner).push(Box::new(hook));
}

/// `path` is to be removed if the run is interrupted.
pub fn begun(path: &Path) {
    BEGUN.lock().unwrap_or_else(PoisonError::into_inner).push(path.to_owned());
}

/// `path` is complete, or gone.
pub fn ended(path: &Path) {
    BEGUN.lock().unwrap_or_else(PoisonError::into_inner).retain(|begun| begun != path);
}
