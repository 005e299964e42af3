//! Messages as bytes, which is how they leave a process.
//!
//! What a message carries for the library is written by hand ([`Wire`]); what the program has put into it is encoded by
//! postcard. A runtime that is told to encode (`Builder::encode`) sends every message so, although its workers share their
//! memory: what works then does not depend on that.
//!
//! Bytes are read by the program that wrote them. What the library has written of its own stands in front of what the
//! program's encoders write, so that one which reads more than it wrote spoils nothing but its own message.

use std::any::type_name;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;

use serde::{Serialize, de::DeserializeOwned};

use crate::task::frame::{discard, quietly};
use crate::task::suspend::travel::{Left, carry, join};

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

/// A message as bytes, and what has been left behind for it.
pub(crate) struct Written {
    pub(crate) bytes: Vec<u8>,
    left: Left,
}

/// Bytes that are being read.
pub(crate) struct Reader<'a>(&'a [u8]);

/// Something could not be read.
#[derive(Debug, thiserror::Error)]
#[error(
    "`{what}` could not be decoded: {error}; its `Deserialize` must read what its `Serialize` writes, and must not ask what that is"
)]
pub(crate) struct Unreadable {
    what: &'static str,
    error: String,
}

/// Writes a message, if `body` says that there is one.
pub(crate) fn written(body: &mut dyn FnMut(&mut Writer) -> bool) -> Option<Written> {
    let mut to = Writer::default();
    let (whole, left) = carry(|| body(&mut to));
    whole.then_some(Written { bytes: to.0, left })
}

impl Written {
    /// Reads it; what is left behind when that has been done is dropped.
    pub(crate) fn read(self, body: impl FnOnce(Reader<'_>)) {
        let Written { bytes, left } = self;
        body(Reader(&bytes));
        quietly(|| drop(left));
    }
}

impl Writer {
    /// Writes something of the library's own; for the program's there is [`part`](Writer::part).
    ///
    /// # Panics
    /// If it cannot be encoded.
    pub(crate) fn value<T: Serialize + ?Sized>(&mut self, value: &T) {
        match postcard::to_extend(value, std::mem::take(&mut self.0)) {
            Ok(bytes) => self.0 = bytes,
            Err(error) => panic!("`{}` could not be encoded: {error}", type_name::<T>()),
        }
    }

    /// Writes something of the program's: all of it, or nothing if its encoders refuse or panic.
    pub(crate) fn part(body: impl FnOnce(&mut Writer)) -> thread::Result<Writer> {
        let mut body = Some(body);
        Writer::part_by(&mut |to| {
            if let Some(body) = body.take() {
                body(to);
            }
        })
    }

    fn part_by(body: &mut dyn FnMut(&mut Writer)) -> thread::Result<Writer> {
        let mut part = Writer::default();
        let (whole, left) = carry(|| catch_unwind(AssertUnwindSafe(|| body(&mut part))));
        match whole {
            Ok(()) => {
                join(left);
                Ok(part)
            }
            Err(payload) => {
                quietly(|| drop(left));
                Err(payload)
            }
        }
    }

    /// Writes bytes as they are.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    pub(crate) fn append(&mut self, mut part: Writer) {
        self.0.append(&mut part.0);
    }
}

impl<'a> Reader<'a> {
    /// The bytes that have not been read.
    pub(crate) fn rest(self) -> &'a [u8] {
        self.0
    }

    pub(crate) fn value<T: DeserializeOwned>(&mut self) -> Result<T, Unreadable> {
        let mut value = None;
        let read = self.by(&mut |bytes| {
            let (read, rest) = postcard::take_from_bytes(bytes)?;
            value = Some(read);
            Ok(rest)
        });
        match (read, value) {
            (Ok(()), Some(value)) => Ok(value),
            (Ok(()), None) => unreachable!("read without an error"),
            (Err(error), _) => Err(Unreadable { what: type_name::<T>(), error }),
        }
    }

    /// Lets `body`, which may panic, read from the bytes, and goes on with the rest.
    fn by(&mut self, body: &mut dyn FnMut(&'a [u8]) -> postcard::Result<&'a [u8]>) -> Result<(), String> {
        let (read, left) = carry(|| catch_unwind(AssertUnwindSafe(|| body(self.0))));
        quietly(|| drop(left));
        match read {
            Ok(Ok(rest)) => {
                self.0 = rest;
                Ok(())
            }
            Ok(Err(error)) => Err(error.to_string()),
            Err(payload) => {
                discard(payload);
                Err("it panicked".to_owned())
            }
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
