//! Reads systems from files, after detecting the format.

use std::path::Path;

use super::system::{Problem, System, SystemError};
use super::{amber, mdsys};
use crate::files::Text;

fn is_amber(system: &Text) -> bool {
    system.text.starts_with("%VERSION") || system.text.starts_with("%FLAG")
}

fn wrong(text: &Text, (line, problem): mdsys::Wrong) -> SystemError {
    match line {
        0 => SystemError::Whole { file: text.file.to_string(), problem },
        line => SystemError::Line { file: text.file.to_string(), line, problem },
    }
}

impl System {
    /// Reads an `.mdsys` file, or an AMBER prmtop with its coordinates beside it; each may be packed by gzip.
    ///
    /// # Errors
    ///
    /// A [`SystemError`], which names the file, the line and the cure.
    pub fn open(path: &Path, coordinates: Option<&Path>) -> Result<System, SystemError> {
        let system = Text::open(path)?;
        let coordinates = coordinates.map(Text::open).transpose()?;
        read(&system, coordinates.as_ref())
    }

    /// Reads a system from the bytes of its files; `files` are the names for messages.
    ///
    /// # Errors
    ///
    /// The same as [`open`](System::open).
    pub fn read(files: [&str; 2], system: &[u8], coordinates: Option<&[u8]>) -> Result<System, SystemError> {
        let system = Text::unpack(files[0].into(), system.to_vec())?;
        let coordinates = coordinates.map(|bytes| Text::unpack(files[1].into(), bytes.to_vec())).transpose()?;
        read(&system, coordinates.as_ref())
    }
}

fn read(system: &Text, coordinates: Option<&Text>) -> Result<System, SystemError> {
    let whole = |problem| Err(SystemError::Whole { file: system.file.to_string(), problem });
    match (is_amber(system), coordinates) {
        (true, Some(coordinates)) => {
            let positions = amber::coordinates(&coordinates.text).map_err(|found| wrong(coordinates, found))?;
            let found = amber::topology(&system.text, &positions, &system.file);
            found.map_err(|(of_coordinates, found)| match of_coordinates {
                true => wrong(coordinates, found),
                false => wrong(system, found),
            })
        }
        (false, None) => mdsys::read(&system.text).map_err(|found| wrong(system, found)),
        (true, None) => whole(Problem::Coordinates(
            "an AMBER prmtop has no coordinates in it: name the file that has them by --coordinates",
        )),
        (false, Some(_)) => {
            whole(Problem::Coordinates("it is no AMBER prmtop, and has its own coordinates: leave out --coordinates"))
        }
    }
}
