//! Messages as bytes, the form in which they leave a process.
//!
//! Each message type writes its own fields ([`Wire`]); postcard encodes each value, except plain array elements, which
//! are copied as they are in memory. A runtime with `Builder::encode` sends every message as bytes, although its
//! workers share memory. A program that works with this setting does not depend on shared memory.
//!
//! Nothing that comes from another process is trusted: what cannot be read, or names what is not there, is an error of
//! its message, which is dropped or answered with the error. The library's own part precedes the output of the program's
//! encoders, so a decoder that reads more than its encoder wrote damages nothing but its own message. A well-formed
//! message of another origin is obeyed like any other.

use std::any::type_name;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;

use postcard::ser_flavors::{Flavor, Size};
use serde::{Serialize, de::DeserializeOwned};

use super::bounded::decode;
use crate::fabric::buffers;
use crate::frame::origin::pack;
use crate::frame::{Payload, discard};
use crate::run::continuation::travel::{Left, Travels, carry, left_so_far, numbers_left, take_back, travels};

/// The size up to which a value without a destructor is read by code of its own.
const SMALL: usize = 64;

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
pub(crate) struct Writer(Vec<u8>);

/// A place in a message that is being written: see [`Writer::back_to`].
#[derive(Clone, Copy)]
pub(crate) struct Mark {
    bytes: usize,
    left: usize,
}

/// A message as bytes, and the values that it refers to and that stay in this process.
pub(crate) struct Written {
    pub(crate) bytes: Vec<u8>,
    left: Left,
}

/// A part of a message to another process that has been written before the rest, and what its sender keeps for it.
pub(crate) struct Part {
    bytes: Vec<u8>,
    kept: Left,
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

impl Unreadable {
    pub(crate) fn new<T>(error: &str) -> Unreadable {
        Unreadable { what: type_name::<T>(), error: error.to_owned() }
    }
}

/// Writes a message that stays in its process, unless `body` returns false.
pub(crate) fn written(body: &mut dyn FnMut(&mut Writer) -> bool) -> Option<Written> {
    let mut to = Writer(buffers::take());
    let (whole, left) = carry(Travels::Within, || body(&mut to));
    if !whole {
        buffers::give_back(to.0);
        return None;
    }
    Some(Written { bytes: to.0, left })
}

/// Writes a message to another process, or a part of one, unless `body` returns false. Also returns the values that it keeps
/// here.
#[inline]
pub(crate) fn written_out(body: impl FnOnce(&mut Writer) -> bool) -> Option<(Vec<u8>, Left)> {
    let mut to = Writer(buffers::take());
    let (whole, left) = carry(Travels::Out, || body(&mut to));
    if whole {
        return Some((to.0, left));
    }
    buffers::give_back(to.0);
    None
}

impl Part {
    /// Writes the part, unless `body` refuses.
    pub(crate) fn written(body: impl FnOnce(&mut Writer) -> thread::Result<()>) -> Result<Part, Payload> {
        let mut refused = None;
        let encoded = written_out(|writer| {
            refused = body(writer).err();
            refused.is_none()
        });
        match (encoded, refused) {
            (Some((bytes, kept)), _) => Ok(Part { bytes, kept }),
            (None, Some(payload)) => Err(pack(payload)),
            (None, None) => unreachable!("what is not written has been refused"),
        }
    }

    /// Adds the part to the message that is being written.
    pub(crate) fn write(self, to: &mut Writer) {
        to.bytes(&self.bytes);
        self.kept.again();
    }
}

impl Written {
    /// Passes the message to `body`. Then drops the values left in this process that `body` has not taken.
    pub(crate) fn read(self, body: impl FnOnce(Reader<'_>)) {
        let Written { bytes, left } = self;
        body(Reader { bytes: &bytes, travels: Travels::Within });
        left.discard();
        buffers::give_back(bytes);
    }
}

impl Writer {
    /// Returns a writer of bytes that do not refer to values of this process.
    pub(crate) fn of_bytes() -> Writer {
        Writer(Vec::new())
    }

    /// Encodes a value by postcard. A program's value is encoded only within [`part`](Writer::part).
    ///
    /// # Panics
    /// If the value cannot be encoded.
    pub(crate) fn value<T: Serialize + ?Sized>(&mut self, value: &T) {
        if let Err(error) = postcard::serialize_with_flavor(value, Append(&mut self.0)) {
            panic!("`{}` could not be encoded: {error}", type_name::<T>());
        }
    }

    /// Writes the program's part of a message: all of its bytes, or none if its encoders refuse or panic.
    #[inline]
    pub(crate) fn part(&mut self, body: impl FnOnce(&mut Writer)) -> thread::Result<()> {
        let mut body = Some(body);
        self.part_by(&mut |to| {
            if let Some(body) = body.take() {
                body(to);
            }
        })
    }

    /// Implements [`part`](Writer::part). Not generic, so that it is compiled once.
    fn part_by(&mut self, body: &mut dyn FnMut(&mut Writer)) -> thread::Result<()> {
        let before = self.mark();
        let written = catch_unwind(AssertUnwindSafe(|| body(self)));
        if written.is_err() {
            self.back_to(before);
        }
        written
    }

    /// Returns the end of the message so far.
    pub(crate) fn mark(&self) -> Mark {
        Mark { bytes: self.0.len(), left: left_so_far() }
    }

    /// Removes what has been written after the mark, and drops what it has left in this process.
    #[cold]
    pub(crate) fn back_to(&mut self, mark: Mark) {
        self.0.truncate(mark.bytes);
        take_back(mark.left).discard();
    }

    /// Appends the numbers of the values that this process keeps for a message to another one since the mark, for
    /// [`Reader::kept`], and sets `flag` in the byte behind the mark. Does nothing if there are none.
    #[inline]
    pub(crate) fn name_kept(&mut self, since: Mark, flag: u8) {
        if left_so_far() > since.left && travels() == Some(Travels::Out) {
            self.append_kept(since, flag);
        }
    }

    #[cold]
    fn append_kept(&mut self, since: Mark, flag: u8) {
        self.0[since.bytes] |= flag;
        let numbers = numbers_left(since.left);
        numbers.iter().for_each(|number| self.bytes(&number.to_le_bytes()));
        self.bytes(&(numbers.len() as u64).to_le_bytes());
    }

    /// Returns what has been written.
    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.0
    }

    /// Writes bytes as they are.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }
}

/// Appends encoded values to bytes.
struct Append<'a>(&'a mut Vec<u8>);

impl Flavor for Append<'_> {
    type Output = ();

    #[inline]
    fn try_push(&mut self, byte: u8) -> postcard::Result<()> {
        self.0.push(byte);
        Ok(())
    }

    #[inline]
    fn try_extend(&mut self, bytes: &[u8]) -> postcard::Result<()> {
        match bytes {
            // Most numbers.
            &[byte] => self.0.push(byte),
            _ => self.0.extend_from_slice(bytes),
        }
        Ok(())
    }

    fn finalize(self) -> postcard::Result<()> {
        Ok(())
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

    /// Returns the numbers that [`Writer::name_kept`] has appended. None, if the message is forged.
    pub(crate) fn kept(&self) -> Vec<u64> {
        let Some((rest, count)) = self.bytes.split_last_chunk() else { return Vec::new() };
        let words: &[[u8; 8]] = rest.as_rchunks().1;
        let count = usize::try_from(u64::from_le_bytes(*count)).unwrap_or(usize::MAX);
        let numbers = words.len().checked_sub(count).map_or(&[][..], |from| &words[from..]);
        numbers.iter().map(|&number| u64::from_le_bytes(number)).collect()
    }

    /// Returns whether the message has come from another process.
    pub(crate) fn travels(&self) -> Travels {
        self.travels
    }

    /// Reads bytes that [`Writer::bytes`] has written. Returns `None` if there are fewer.
    #[inline]
    pub(crate) fn bytes<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (read, rest) = self.bytes.split_first_chunk()?;
        self.bytes = rest;
        Some(*read)
    }

    /// Reads a part of the message that the library has written. Returns `None` if a message of another process is
    /// malformed.
    pub(crate) fn header<T: DeserializeOwned>(&mut self) -> Option<T> {
        let value = self.value().ok();
        assert!(value.is_some() || self.travels == Travels::Out, "the library has written this header");
        value
    }

    pub(crate) fn value<T: DeserializeOwned>(&mut self) -> Result<T, Unreadable> {
        let unreadable = |error| Unreadable { what: type_name::<T>(), error };
        // Few instructions each, if compiled in one piece.
        if const { !std::mem::needs_drop::<T>() && size_of::<T>() <= SMALL } {
            return self.by(decode::<T>).map_err(unreadable);
        }
        let mut value = None;
        self.by_shared_code(&mut |bytes| {
            let (read, rest) = decode(bytes)?;
            value = Some(read);
            Ok(((), rest))
        })
        .map_err(unreadable)?;
        Ok(value.unwrap_or_else(|| unreachable!("read without an error")))
    }

    /// As [`by`](Reader::by), compiled once.
    fn by_shared_code(
        &mut self,
        body: &mut dyn FnMut(&'a [u8]) -> postcard::Result<((), &'a [u8])>,
    ) -> Result<(), String> {
        self.by(body)
    }

    /// Lets `body`, which may panic, read from the bytes, and keeps the rest that it returns. A panic is an error.
    #[inline]
    fn by<T>(&mut self, body: impl FnOnce(&'a [u8]) -> postcard::Result<(T, &'a [u8])>) -> Result<T, String> {
        let (read, left) = carry(self.travels, || catch_unwind(AssertUnwindSafe(|| body(self.bytes))));
        left.discard();
        match read {
            Ok(Ok((value, rest))) => {
                self.bytes = rest;
                Ok(value)
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
/// The sender had a value of type `F`, or the message is forged: then the program contains code that sends such messages,
/// and an `F` is a function or a closure without captures, which that code can make.
pub(crate) unsafe fn recreate<F: Copy + 'static>() -> F {
    const { assert!(size_of::<F>() == 0, "code that travels captures nothing") };
    // SAFETY: `F` has size zero and is `Copy`, and the caller guarantees that a value exists; this is a copy.
    unsafe { std::ptr::NonNull::<F>::dangling().read() }
}
