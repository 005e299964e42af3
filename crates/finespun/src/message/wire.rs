//! Messages as bytes, which is how they leave a process.
//!
//! What a message carries for the library is written by hand ([`Wire`]); what the program has put into it is encoded by
//! postcard. A runtime that is told to encode (`Builder::encode`) sends every message so, although its workers share their
//! memory: what works then does not depend on that.
//!
//! Bytes are read by the program that wrote them. What the library has written of its own stands in front of what the
//! program's encoders write, so that one which reads more than it wrote spoils nothing but its own message.

use std::any::type_name;

use serde::{Serialize, de::DeserializeOwned};

use crate::task::suspend::carry;

/// What can be written and read again, by the same program.
pub(crate) trait Wire: Sized {
    /// Writes it.
    ///
    /// # Panics
    /// If the program's own encoders refuse.
    fn write(self, to: &mut Writer);

    /// Reads it.
    fn read(from: &mut Reader<'_>) -> Result<Self, Unreadable>;
}

/// Bytes that are being written.
#[derive(Default)]
pub(crate) struct Writer(Vec<u8>);

/// Bytes that are being read.
pub(crate) struct Reader<'a>(&'a [u8]);

/// Something could not be read.
#[derive(Debug, thiserror::Error)]
#[error(
    "a {what} could not be decoded: {error}; its `Deserialize` must read what its `Serialize` writes, and must not ask what that is"
)]
pub(crate) struct Unreadable {
    what: &'static str,
    error: postcard::Error,
}

impl Writer {
    pub(crate) fn value<T: Serialize>(&mut self, value: &T) {
        let bytes = std::mem::take(&mut self.0);
        match carry(|| postcard::to_extend(value, bytes)) {
            Ok(bytes) => self.0 = bytes,
            Err(error) => panic!("a {} could not be encoded: {error}", type_name::<T>()),
        }
    }

    pub(crate) fn bytes(self) -> Vec<u8> {
        self.0
    }
}

impl Reader<'_> {
    pub(crate) fn new(bytes: &[u8]) -> Reader<'_> {
        Reader(bytes)
    }

    pub(crate) fn value<T: DeserializeOwned>(&mut self) -> Result<T, Unreadable> {
        match carry(|| postcard::take_from_bytes(self.0)) {
            Ok((value, rest)) => {
                self.0 = rest;
                Ok(value)
            }
            Err(error) => Err(Unreadable { what: type_name::<T>(), error }),
        }
    }
}

/// Code that captures nothing, where it has arrived: by its type alone, which the message's own type names.
///
/// # Safety
/// There has been an `F`.
pub(crate) unsafe fn again<F: Copy + 'static>() -> F {
    const { assert!(size_of::<F>() == 0, "code that travels captures nothing") };
    // SAFETY: of what is nothing, and can be copied, this is another one.
    unsafe { std::ptr::NonNull::<F>::dangling().read() }
}
