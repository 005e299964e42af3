//! Programs on the search path.

use std::env;
use std::path::PathBuf;

/// Returns the path of the program `name`, if it is on the search path.
pub fn find(name: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    env::split_paths(&path).map(|folder| folder.join(name)).find(|program| program.is_file())
}
