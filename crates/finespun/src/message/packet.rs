//! The packet: an active message in transit, including its code.
//!
//! A message names a handler and carries its data [C §4.3]. Within a process the name is the address of a function that
//! knows the type of the data, and the data moves unchanged: into the receiver's ring or the sender's buffer if it
//! fits, otherwise into a box. A message as bytes begins with a name that is valid in other processes too
//! ([`Identity`]).

use std::mem::MaybeUninit;
use std::ptr::NonNull;

use super::identity::{Entry, Identity};
use super::wire::{Reader, Writer, Written, written, written_out};
use crate::frame::context::Cx;
use crate::frame::quietly;

/// Words after the code. Together with the code and a transport's own fields, a packet takes two cache lines.
const WORDS: usize = 12;
type PacketBody = [u64; WORDS];

/// The action of a message at its receiver.
pub(crate) trait Handler: Sized + Send + 'static {
    /// What names the handler in messages as bytes.
    const ENTRY: &'static Entry = &Entry::new(Self::arrive);

    /// Handles the message, on the stack of the receiving worker.
    fn handle(self, cx: Cx);

    /// Returns the approximate size of the memory that the message owns elsewhere: for simulated machines, where a
    /// message takes time by its size.
    fn bytes_elsewhere(&self) -> usize;

    /// Writes the message as bytes. Returns false if the program's encoders refuse or panic: then this method has
    /// handled the error, and the caller sends no message.
    fn write(self, to: &mut Writer) -> bool;

    /// Reads the message and handles it, or drops it if `cx` is `None`.
    fn arrive(from: Reader<'_>, cx: Option<Cx>);
}

/// A message.
#[repr(C)]
pub(crate) struct Packet {
    /// Moves the handler out of the body and runs it, or destroys it if the context is `None`.
    code: unsafe fn(NonNull<PacketBody>, Option<Cx>),
    body: MaybeUninit<PacketBody>,
}

// SAFETY: the packet contains a handler, which is `Send`.
unsafe impl Send for Packet {}

/// A message that has been made but not sent: the packet, and the number of words in use.
///
/// Code that sends a `Made` is not generic, so it is compiled once and not for each type of message.
pub(crate) struct Made {
    packet: Packet,
    /// Words in use, including the code pointer. The words behind them are uninitialized.
    words: usize,
    /// The size of the message, including the memory that it owns elsewhere if the fabric asks for sizes.
    bytes: usize,
}

impl Made {
    /// Makes a message for `handler`, which owns `elsewhere` bytes elsewhere.
    #[inline(always)]
    pub(crate) fn new<H: Handler>(handler: H, elsewhere: usize) -> Made {
        let (body, boxed) =
            if const { Packet::boxes::<H>() } { (size_of::<Box<H>>(), size_of::<H>()) } else { (size_of::<H>(), 0) };
        let words = 1 + body.div_ceil(size_of::<u64>());
        Made { packet: Packet::new(handler), words, bytes: words * size_of::<u64>() + boxed + elsewhere }
    }

    /// Makes a message of the bytes that `write` writes, in the form that another process could read. Returns `None` if
    /// `write` returns false.
    pub(crate) fn encoded(write: &mut dyn FnMut(&mut Writer) -> bool) -> Option<Made> {
        let words = size_of::<Packet>() / size_of::<u64>();
        let written = written(write)?;
        let bytes = written.bytes.len();
        Some(Made { packet: Packet::of(Encoded(Some(written))), words, bytes })
    }

    /// Returns the size of the message, including the memory that it owns elsewhere if the fabric asks for sizes.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Moves the packet out.
    ///
    /// # Safety
    /// The caller neither uses nor drops this message afterwards.
    #[inline(always)]
    pub(crate) unsafe fn take(&self) -> Packet {
        // SAFETY: the caller does not use the message again, so the copy is the only packet.
        unsafe { std::ptr::read(&self.packet) }
    }

    /// Moves the words in use to `place`.
    ///
    /// # Safety
    /// `place` is valid for a packet. The caller neither uses nor drops this message afterwards.
    #[inline(always)]
    pub(crate) unsafe fn move_to(&self, place: NonNull<Packet>) {
        let (from, to) = (NonNull::from(&self.packet).cast::<MaybeUninit<u64>>(), place.cast::<MaybeUninit<u64>>());
        for word in 0..self.words {
            // Volatile, so that the loop moves words, and is no call of `memcpy`: the words have just been written, and a
            // wider load waits until these stores have reached the cache.
            // SAFETY: both places have the size of a packet, which is at least `words` words; padding is moved as
            // `MaybeUninit`.
            unsafe { to.add(word).write(from.add(word).read_volatile()) };
        }
    }
}

const _: () =
    assert!(size_of::<Packet>().is_multiple_of(size_of::<u64>()) && align_of::<Packet>() == align_of::<u64>());

impl Packet {
    /// Returns whether an `H` does not fit in the body, and so is boxed.
    pub(crate) const fn boxes<H: Handler>() -> bool {
        size_of::<H>() > size_of::<PacketBody>() || align_of::<H>() > align_of::<PacketBody>()
    }

    /// Makes a message for `handler`.
    #[inline(always)]
    pub(crate) fn new<H: Handler>(handler: H) -> Packet {
        let mut body = MaybeUninit::<PacketBody>::uninit();
        if const { Packet::boxes::<H>() } {
            // SAFETY: a body has room for a pointer.
            unsafe { body.as_mut_ptr().cast::<Box<H>>().write(Box::new(handler)) };
            Packet { code: boxed::<H>, body }
        } else {
            // SAFETY: the body has room for an `H`, by the check above.
            unsafe { body.as_mut_ptr().cast::<H>().write(handler) };
            Packet { code: inside::<H>, body }
        }
    }

    fn of(message: Encoded) -> Packet {
        let mut body = MaybeUninit::<PacketBody>::uninit();
        const {
            assert!(
                size_of::<Encoded>() <= size_of::<PacketBody>() && align_of::<Encoded>() <= align_of::<PacketBody>()
            )
        };
        // SAFETY: the body has room for an `Encoded`, by the assertion above.
        unsafe { body.as_mut_ptr().cast::<Encoded>().write(message) };
        Packet { code: encoded, body }
    }

    /// Handles the message at `packet`.
    ///
    /// # Safety
    /// `packet` points to a message that no other code accesses, and that the caller does not use afterwards.
    #[inline]
    pub(crate) unsafe fn handle(packet: NonNull<Packet>, cx: Cx) {
        // SAFETY: the caller guarantees that `packet` points to a message.
        let code = unsafe { (*packet.as_ptr()).code };
        // SAFETY: the address of a field of the packet is not null.
        let body = unsafe { NonNull::new_unchecked(&raw mut (*packet.as_ptr()).body).cast() };
        // SAFETY: `code` was made for this body, which is used once.
        unsafe { code(body, Some(cx)) };
    }
}

impl Drop for Packet {
    fn drop(&mut self) {
        // Runs destructors of the program's types, whose panics no caller could handle.
        // SAFETY: `code` was made for this body, which is used once: a packet that is handled is not dropped.
        quietly(|| unsafe { (self.code)(NonNull::from(&mut self.body).cast(), None) });
    }
}

/// # Safety
/// The body holds an `H`, which is not used afterwards.
unsafe fn inside<H: Handler>(body: NonNull<PacketBody>, arrived: Option<Cx>) {
    // SAFETY: the caller guarantees that the body holds an `H`, and does not use it afterwards.
    let handler = unsafe { body.cast::<H>().read() };
    if let Some(cx) = arrived {
        handler.handle(cx);
    }
}

/// # Safety
/// The body holds a `Box<H>`, which is not used afterwards.
unsafe fn boxed<H: Handler>(body: NonNull<PacketBody>, arrived: Option<Cx>) {
    // SAFETY: the caller guarantees that the body holds a `Box<H>`, and does not use it afterwards.
    let handler = unsafe { body.cast::<Box<H>>().read() };
    if let Some(cx) = arrived {
        handler.handle(cx);
    }
}

/// A message as bytes; `None` once it has been handled.
struct Encoded(Option<Written>);

impl Encoded {
    fn arrive(&mut self, cx: Option<Cx>) {
        if let Some(written) = self.0.take() {
            written.read(|from| read(from, cx));
        }
    }
}

/// Returns a function that writes the message as bytes, once: its handler's name and its data. It returns false if
/// [`Handler::write`] fails, which then has handled the error.
#[inline(always)]
pub(crate) fn writer<H: Handler>(handler: H) -> impl FnMut(&mut Writer) -> bool {
    let mut handler = Some(handler);
    move |to| {
        Identity::of(H::ENTRY).write(to);
        handler.take().is_some_and(|handler| handler.write(to))
    }
}

/// Returns the bytes that `write` writes for another process. Returns `None` if it returns false.
pub(crate) fn bytes_of(write: &mut dyn FnMut(&mut Writer) -> bool) -> Option<Vec<u8>> {
    let (bytes, kept) = written_out(write)?;
    kept.keep();
    Some(bytes)
}

/// Handles a message from another process.
pub(crate) fn handle_bytes(bytes: &[u8], cx: Cx) {
    read(Reader::arrived(bytes), Some(cx));
}

#[inline]
fn read(mut from: Reader<'_>, cx: Option<Cx>) {
    // A forged message is dropped.
    if let Some(handler) = Identity::read(&mut from).and_then(Identity::handler) {
        handler(from, cx);
    }
}

/// Drops a message that was not handled. Reading the message drops the continuations that it carries.
impl Drop for Encoded {
    fn drop(&mut self) {
        quietly(|| self.arrive(None));
    }
}

/// # Safety
/// The body holds an `Encoded`, which is not used afterwards.
unsafe fn encoded(body: NonNull<PacketBody>, arrived: Option<Cx>) {
    // SAFETY: the caller guarantees that the body holds an `Encoded`, and does not use it afterwards.
    let mut message = unsafe { body.cast::<Encoded>().read() };
    if arrived.is_some() {
        message.arrive(arrived);
    }
}
