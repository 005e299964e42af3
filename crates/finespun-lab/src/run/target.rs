//! A file that the user named, opened before the work begins.
//!
//! An unwritable file is reported before a long run, not after it. The old content stays until new content is written.
//! A file that did not exist is removed again if the run delivers nothing.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use super::interrupt;
use crate::failure::Failure;

/// An open file that has not been written yet.
#[derive(Debug)]
pub struct Target {
    option: &'static str,
    path: PathBuf,
    file: File,
    /// Whether this run created the file and has not written it yet.
    empty: bool,
}

impl Target {
    /// Opens `path`, which `option` named, for writing.
    ///
    /// # Errors
    ///
    /// [`Failure::File`] with the system's reason.
    pub fn open(option: &'static str, path: &Path) -> Result<Self, Failure> {
        let existed = path.exists();
        let file = OpenOptions::new().write(true).create(true).truncate(false).open(path);
        let file = file.map_err(|source| Failure::File { option, path: path.to_owned(), source })?;
        let target = Target { option, path: path.to_owned(), file, empty: !existed };
        if target.empty {
            interrupt::begun(path);
        }
        Ok(target)
    }

    /// Replaces the file's content.
    ///
    /// # Errors
    ///
    /// [`Failure::File`] with the system's reason.
    pub fn write(mut self, content: impl AsRef<[u8]>) -> Result<(), Failure> {
        let written = self.replace(content.as_ref());
        written.map_err(|source| Failure::File { option: self.option, path: self.path.clone(), source })?;
        self.empty = false;
        interrupt::ended(&self.path);
        Ok(())
    }

    fn replace(&mut self, content: &[u8]) -> std::io::Result<()> {
        // Pipes and devices have no length to set.
        if self.file.metadata()?.is_file() {
            self.file.set_len(0)?;
        }
        self.file.write_all(content)?;
        self.file.flush()
    }
}

impl Drop for Target {
    fn drop(&mut self) {
        if self.empty {
            let _ = fs::remove_file(&self.path);
            interrupt::ended(&self.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Target;
    use std::fs;

    #[test]
    fn a_new_file_remains_only_if_it_was_written() {
        let folder = std::env::temp_dir().join(format!("finespun-target-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder");
        let path = folder.join("plot.svg");
        drop(Target::open("--plot", &path).expect("a new file"));
        assert!(!path.exists());

        Target::open("--plot", &path).expect("a new file").write("long old text").expect("written");
        drop(Target::open("--plot", &path).expect("an old file"));
        assert_eq!(fs::read_to_string(&path).expect("still there"), "long old text");
        Target::open("--plot", &path).expect("an old file").write("new").expect("written");
        assert_eq!(fs::read_to_string(&path).expect("written"), "new");

        let error = Target::open("--plot", &folder).expect_err("a folder is no file").to_string();
        assert!(error.starts_with("--plot ") && error.contains("cannot be written"), "{error}");
        fs::remove_dir_all(&folder).expect("removed");
    }
}
