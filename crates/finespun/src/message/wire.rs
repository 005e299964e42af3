//! Messages as bytes, the form in which they leave a process.
//!
//! Each message type writes its own fields ([`Wire`]); postcard encodes each value, except plain array elements, which
//! are copied as they are in memory. A runtime with `Builder::encode` sends every message as bytes, although its
//! workers share memory. A program that works with this setting does not depend on shared memory.
//!
//! Only the program that wrote the bytes reads them. The library's own part precedes the output of the program's
//! encoders, so a decoder that reads more than its encoder wrote damages nothing but its own message.

use std::any::type_name;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;

use postcard::ser_flavors::Size;
use serde::{Serialize, de::DeserializeOwned};

use crate::frame::{discard, quietly};
use crate::run::continuation::travel::{Left, Travels, carry, join, travels};

/// A value that the same program can write and read again.
pub(crate) trait Wire: Sized {
    /// Writes the value.
    ///
    /// # Panics
    /// If the program's encoders refuse.
    fn write(self, to: &mut Writer);

    /// Reads the value.
    fn read(from: &mut Reader<'_>) -> Result<Self, Unreadable>;
}

/// Returns the size of what a value owns elsewhere in memory, approximately: nothing if it has no destructor, or else by
/// how much its encoded form is larger than the value.
pub(crate) fn bytes_elsewhere<T: Serialize + ?Sized>(value: &T) -> usize {
    if !std::mem::needs_drop::<T>() {
        return 0;
    }
    let size = catch_unwind(AssertUnwindSafe(|| {
        // Values that only a message can contain refuse here: they own nothing that travels.
        postcard::serialize_with_flavor::<_, Size, usize>(value, Size::default()).unwrap_or(0)
    }));
    size.unwrap_or_else(|payload| {
        discard(payload);
        0
    })
    .saturating_sub(size_of_val(value))
}

/// A message that is being written.
#[derive(Default)]
pub(crate) struct Writer(Vec<u8>);

/// A message as bytes, and the values that it refers to and that stay in this process.
pub(crate) struct Written {
    pub(crate) bytes: Vec<u8>,
    left: Left,
    travels: Travels,
}

/// The bytes of a message that have not been read yet.
pub(crate) struct Reader<'a> {
    bytes: &'a [u8],
    travels: Travels,
}

/// The error for a value that could not be read.
#[derive(Debug, thiserror::Error)]
#[error(
    "`{what}` could not be decoded: {error}; its `Deserialize` must read exactly what its `Serialize` writes, without `deserialize_any`"
)]
pub(crate) struct Unreadable {
    what: &'static str,
    error: String,
}

/// Writes a message, unless `body` returns false.
pub(crate) fn written(travels: Travels, body: &mut dyn FnMut(&mut Writer) -> bool) -> Option<Written> {
    let mut to = Writer::default();
    let (whole, left) = carry(travels, || body(&mut to));
    whole.then_some(Written { bytes: to.0, left, travels })
}

impl Written {
    /// Passes the message to `body`. Then drops the values left in this process that `body` has not taken.
    pub(crate) fn read(self, body: impl FnOnce(Reader<'_>)) {
        let Written { bytes, left, travels } = self;
        body(Reader { bytes: &bytes, travels });
        quietly(|| drop(left));
    }

    /// Returns the bytes of a message to another process, which leaves no values.
    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// Returns the message with these bytes, which has come from another process.
    pub(crate) fn arrived(bytes: Vec<u8>) -> Written {
        Written { bytes, left: Left::default(), travels: Travels::Out }
    }
}

impl Writer {
    /// Encodes a value by postcard. A program's value is encoded only within [`part`](Writer::part).
    ///
    /// # Panics
    /// If the value cannot be encoded.
    pub(crate) fn value<T: Serialize + ?Sized>(&mut self, value: &T) {
        match postcard::to_extend(value, std::mem::take(&mut self.0)) {
            Ok(bytes) => self.0 = bytes,
            Err(error) => panic!("`{}` could not be encoded: {error}", type_name::<T>()),
        }
    }

    /// Writes the program's part of a message: all of its bytes, or none if its encoders refuse or panic.
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
        let travels = travels().unwrap_or(Travels::Within);
        let (whole, left) = carry(travels, || catch_unwind(AssertUnwindSafe(|| body(&mut part))));
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

    /// Returns what has been written.
    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.0
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
    /// Returns a reader of bytes that have come from another process.
    pub(crate) fn arrived(bytes: &'a [u8]) -> Reader<'a> {
        Reader { bytes, travels: Travels::Out }
    }

    /// Returns the bytes that have not been read.
    pub(crate) fn rest(self) -> &'a [u8] {
        self.bytes
    }

    /// Returns whether the message has come from another process.
    pub(crate) fn travels(&self) -> Travels {
        self.travels
    }

    /// Reads a part of the message that the library has written. Returns `None` if a message of another process is
    /// malformed.
    pub(crate) fn header<T: DeserializeOwned>(&mut self) -> Option<T> {
        let value = self.value().ok();
        assert!(value.is_some() || self.travels == Travels::Out, "the library has written this header");
        value
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

    /// Lets `body`, which may panic, read from the bytes, and keeps the rest that it returns. A panic is an error.
    fn by(&mut self, body: &mut dyn FnMut(&'a [u8]) -> postcard::Result<&'a [u8]>) -> Result<(), String> {
        let (read, left) = carry(self.travels, || catch_unwind(AssertUnwindSafe(|| body(self.bytes))));
        quietly(|| drop(left));
        match read {
            Ok(Ok(rest)) => {
                self.bytes = rest;
                Ok(())
            }
            Ok(Err(error)) => Err(error.to_string()),
            Err(payload) => {
                discard(payload);
                Err("the decoder panicked".to_owned())
            }
        }
    }
}

/// Recreates a function value that captures nothing, at the receiver of a message. The type `F` suffices, and the
/// message's type contains it.
///
/// # Safety
/// The sender had a value of type `F`.
pub(crate) unsafe fn recreate<F: Copy + 'static>() -> F {
    const { assert!(size_of::<F>() == 0, "code that travels captures nothing") };
    // SAFETY: `F` has size zero and is `Copy`, and the caller guarantees that a value exists; this is a copy.
    unsafe { std::ptr::NonNull::<F>::dangling().read() }
}
