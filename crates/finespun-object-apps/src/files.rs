//! Text from files, packed by gzip or not, for the applications that read their input.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use flate2::read::MultiGzDecoder;

/// The maximum number of bytes that are read from a file, packed or not.
const MOST_BYTES: u64 = 1 << 30;

/// An error in reading a file as text.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// The system cannot open or read the file.
    #[error("{file} cannot be read ({source}): name a file that exists and may be read")]
    Unreadable {
        /// The file.
        file: String,
        /// The system's error.
        source: io::Error,
    },
    /// The gzip data is damaged.
    #[error("{file}: it is packed by gzip, and cannot be unpacked ({reason}): fetch it again")]
    Packing {
        /// The file.
        file: String,
        /// The decoder's error.
        reason: String,
    },
    /// The file is larger than any input that could be run.
    #[error("{file}: it is larger than {} MiB: give a smaller one", MOST_BYTES >> 20)]
    Large {
        /// The file.
        file: String,
    },
}

/// A file's text and name.
pub(crate) struct Text<'a> {
    /// The name for messages.
    pub file: Cow<'a, str>,
    /// The unpacked text.
    pub text: String,
}

impl Text<'_> {
    /// Reads a file, and unpacks it if it begins with the gzip signature.
    pub fn open(path: &Path) -> Result<Text<'_>, FileError> {
        let file = named(path);
        let mut bytes = Vec::new();
        let read = File::open(path).and_then(|file| file.take(MOST_BYTES + 1).read_to_end(&mut bytes));
        match read {
            Ok(_) => Text::unpack(file, bytes),
            Err(source) => Err(FileError::Unreadable { file: file.into_owned(), source }),
        }
    }

    /// Makes a text from the bytes of a file; `file` is the name for messages.
    pub fn unpack(file: Cow<'_, str>, bytes: Vec<u8>) -> Result<Text<'_>, FileError> {
        let packed = bytes.starts_with(&[0x1f, 0x8b]);
        let mut unpacked = bytes;
        if packed {
            let bytes = std::mem::take(&mut unpacked);
            let read = MultiGzDecoder::new(bytes.as_slice()).take(MOST_BYTES + 1).read_to_end(&mut unpacked);
            read.map_err(|error| FileError::Packing { file: file.to_string(), reason: error.to_string() })?;
        }
        if unpacked.len() as u64 > MOST_BYTES {
            return Err(FileError::Large { file: file.into_owned() });
        }
        // Names may be in any encoding. A reader that expects a number rejects anything else.
        let text = String::from_utf8(unpacked).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into());
        Ok(Text { file, text })
    }
}

/// Returns a file's name as a message may show it: without control characters.
fn named(path: &Path) -> Cow<'_, str> {
    let name = path.to_string_lossy();
    match name.chars().any(char::is_control) {
        true => shown(&name).into(),
        false => name,
    }
}

/// Returns a word of a file as a message may show it: at most 40 characters, with control characters escaped.
pub(crate) fn shown(word: &str) -> String {
    let mut short = String::new();
    for c in word.trim().chars().take(40) {
        match c.is_control() {
            true => short.extend(c.escape_default()),
            false => short.push(c),
        }
    }
    short
}
