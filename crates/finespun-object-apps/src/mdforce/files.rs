//! Systems from files: which format it is, and what is packed.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use flate2::read::MultiGzDecoder;

use super::system::{Problem, System, SystemError, shown};
use super::{amber, mdsys};

/// The most bytes that are read of a file, packed or not.
const MOST_BYTES: u64 = 1 << 30;

/// A file's text and name.
struct Text<'a> {
    file: Cow<'a, str>,
    text: String,
}

impl Text<'_> {
    fn open(path: &Path) -> Result<Text<'_>, SystemError> {
        let file = named(path);
        let mut bytes = Vec::new();
        let read = File::open(path).and_then(|file| file.take(MOST_BYTES + 1).read_to_end(&mut bytes));
        match read {
            Ok(_) => Text::unpack(file, bytes),
            Err(source) => Err(SystemError::Unreadable { file: file.into_owned(), source }),
        }
    }

    fn unpack(file: Cow<'_, str>, bytes: Vec<u8>) -> Result<Text<'_>, SystemError> {
        let whole = |problem| SystemError::Whole { file: file.to_string(), problem };
        let packed = bytes.starts_with(&[0x1f, 0x8b]);
        let mut unpacked = bytes;
        if packed {
            let bytes = std::mem::take(&mut unpacked);
            let read = MultiGzDecoder::new(bytes.as_slice()).take(MOST_BYTES + 1).read_to_end(&mut unpacked);
            read.map_err(|error: io::Error| whole(Problem::Packing(error.to_string())))?;
        }
        if unpacked.len() as u64 > MOST_BYTES {
            return Err(whole(Problem::Large(MOST_BYTES >> 20)));
        }
        // Names may be in any encoding; what is no text where a number should be is found there.
        let text = String::from_utf8(unpacked).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into());
        Ok(Text { file, text })
    }

    fn is_amber(&self) -> bool {
        self.text.starts_with("%VERSION") || self.text.starts_with("%FLAG")
    }

    fn wrong(&self, (line, problem): mdsys::Wrong) -> SystemError {
        match line {
            0 => SystemError::Whole { file: self.file.to_string(), problem },
            line => SystemError::Line { file: self.file.to_string(), line, problem },
        }
    }
}

/// A file's name as a message may show it.
fn named(path: &Path) -> Cow<'_, str> {
    let name = path.to_string_lossy();
    match name.chars().any(char::is_control) {
        true => shown(&name).into(),
        false => name,
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

    /// The same from bytes; `files` are the names for messages.
    ///
    /// # Errors
    ///
    /// As [`open`](System::open).
    pub fn read(files: [&str; 2], system: &[u8], coordinates: Option<&[u8]>) -> Result<System, SystemError> {
        let system = Text::unpack(files[0].into(), system.to_vec())?;
        let coordinates = coordinates.map(|bytes| Text::unpack(files[1].into(), bytes.to_vec())).transpose()?;
        read(&system, coordinates.as_ref())
    }
}

fn read(system: &Text, coordinates: Option<&Text>) -> Result<System, SystemError> {
    let whole = |problem| Err(SystemError::Whole { file: system.file.to_string(), problem });
    match (system.is_amber(), coordinates) {
        (true, Some(coordinates)) => {
            let positions = amber::coordinates(&coordinates.text).map_err(|wrong| coordinates.wrong(wrong))?;
            let found = amber::topology(&system.text, &positions, &system.file);
            found.map_err(|(of_coordinates, wrong)| match of_coordinates {
                true => coordinates.wrong(wrong),
                false => system.wrong(wrong),
            })
        }
        (false, None) => mdsys::read(&system.text).map_err(|wrong| system.wrong(wrong)),
        (true, None) => whole(Problem::Coordinates(
            "an AMBER prmtop has no coordinates in it: name the file that has them by --coordinates",
        )),
        (false, Some(_)) => {
            whole(Problem::Coordinates("it is no AMBER prmtop, and has its own coordinates: leave out --coordinates"))
        }
    }
}
