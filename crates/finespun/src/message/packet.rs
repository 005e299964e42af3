//! The packet: an active message as it travels, code and all.
//!
//! A message names a handler and carries what that needs (concert-runtime-mechanisms, section 4.3). Within a process the
//! name is the address of a function that knows the type of the rest, and the rest moves as it is: into the receiver's
//! ring or the sender's buffer, if it fits, else into a box. As bytes it begins with a name that holds in other processes too
//! ([`Identity`]).

use std::mem::MaybeUninit;
use std::ptr::NonNull;

use super::identity::Identity;
use super::wire::{Reader, Writer, Written, written};
use crate::task::context::Cx;
use crate::task::frame::quietly;

/// Words behind the code: with that, and what a transport adds, a packet takes two cache lines.
const WORDS: usize = 12;
type Body = [u64; WORDS];

/// What a message does where it arrives.
pub(crate) trait Handler: Send + 'static {
    /// Does it, on the stack of the receiving worker.
    fn handle(self, cx: Cx);

    /// Writes it as bytes, or does what is to be done if the program's own encoders refuse, or panic; whether there is a
    /// message.
    fn write(self, to: &mut Writer) -> bool;

    /// Reads it and does it; without a worker, drops it.
    fn arrive(from: Reader<'_>, cx: Option<Cx>);
}

/// A message.
#[repr(C)]
pub(crate) struct Packet {
    /// Takes the handler out of the body, and runs it; without a worker, destroys it.
    code: unsafe fn(NonNull<Body>, Option<Cx>),
    body: MaybeUninit<Body>,
}

// SAFETY: made of a handler, which is `Send`.
unsafe impl Send for Packet {}

/// A message that has been made and not been sent: the packet, and how much of it there is.
///
/// Sending is not generic: a program has many types of messages, and this way the code that sends them is compiled once.
pub(crate) struct Made {
    packet: Packet,
    /// Words in use, the code included; those behind hold nothing.
    words: usize,
}

impl Made {
    /// A message that `handler` handles.
    #[inline(always)]
    pub(crate) fn new<H: Handler>(handler: H) -> Made {
        let body = if const { Packet::boxes::<H>() } { size_of::<Box<H>>() } else { size_of::<H>() };
        Made { packet: Packet::new(handler), words: 1 + body.div_ceil(size_of::<u64>()) }
    }

    /// The same as bytes, as which it would go to another process; nothing if it cannot be written, which the handler has
    /// dealt with.
    pub(crate) fn encoded<H: Handler>(handler: H) -> Option<Made> {
        Packet::encoded(handler).map(|packet| Made { packet, words: size_of::<Packet>() / size_of::<u64>() })
    }

    /// Moves the packet out.
    ///
    /// # Safety
    /// This message is not used, and not dropped, afterwards.
    #[inline(always)]
    pub(crate) unsafe fn take(&self) -> Packet {
        // SAFETY: by the caller's word nobody else uses it.
        unsafe { std::ptr::read(&self.packet) }
    }

    /// Moves the packet to `place`, and nothing of what it does not use.
    ///
    /// # Safety
    /// The place is for a packet; this message is not used, and not dropped, afterwards.
    #[inline(always)]
    pub(crate) unsafe fn move_to(&self, place: NonNull<Packet>) {
        let (from, to) = (NonNull::from(&self.packet).cast::<MaybeUninit<u64>>(), place.cast::<MaybeUninit<u64>>());
        for word in 0..self.words {
            // SAFETY: both are packets, which are as many words at least; padding is moved as what it is.
            unsafe { to.add(word).write(from.add(word).read()) };
        }
    }
}

const _: () =
    assert!(size_of::<Packet>().is_multiple_of(size_of::<u64>()) && align_of::<Packet>() == align_of::<u64>());

impl Packet {
    /// Whether a handler is too large for the body, and lies in a box.
    pub(crate) const fn boxes<H: Handler>() -> bool {
        size_of::<H>() > size_of::<Body>() || align_of::<H>() > align_of::<Body>()
    }

    /// A message that `handler` handles.
    #[inline(always)]
    pub(crate) fn new<H: Handler>(handler: H) -> Packet {
        let mut body = MaybeUninit::<Body>::uninit();
        if const { Packet::boxes::<H>() } {
            // SAFETY: a pointer fits.
            unsafe { body.as_mut_ptr().cast::<Box<H>>().write(Box::new(handler)) };
            Packet { code: boxed::<H>, body }
        } else {
            // SAFETY: it fits.
            unsafe { body.as_mut_ptr().cast::<H>().write(handler) };
            Packet { code: inside::<H>, body }
        }
    }

    /// The same as bytes, as which it would go to another process; nothing if it cannot be written, which the handler has
    /// dealt with.
    pub(crate) fn encoded<H: Handler>(handler: H) -> Option<Packet> {
        let mut body = MaybeUninit::<Body>::uninit();
        const { assert!(size_of::<Encoded>() <= size_of::<Body>() && align_of::<Encoded>() <= align_of::<Body>()) };
        // SAFETY: it fits.
        unsafe { body.as_mut_ptr().cast::<Encoded>().write(Encoded::new(handler)?) };
        Some(Packet { code: encoded, body })
    }

    /// Handles the message that lies at `packet`.
    ///
    /// # Safety
    /// It does, nobody else sees it, and nobody uses it afterwards.
    #[inline]
    pub(crate) unsafe fn handle(packet: NonNull<Packet>, cx: Cx) {
        // SAFETY: by the caller's word.
        let code = unsafe { (*packet.as_ptr()).code };
        // SAFETY: in the packet.
        let body = unsafe { NonNull::new_unchecked(&raw mut (*packet.as_ptr()).body).cast() };
        // SAFETY: the code was made with the body, which is used once.
        unsafe { code(body, Some(cx)) };
    }
}

impl Drop for Packet {
    fn drop(&mut self) {
        // The destructors are the program's, whose panics have nowhere to go.
        // SAFETY: the code was made with the body, which is used once: a packet that is handled is not dropped.
        quietly(|| unsafe { (self.code)(NonNull::from(&mut self.body).cast(), None) });
    }
}

/// # Safety
/// The body holds an `H`, which is not used afterwards.
unsafe fn inside<H: Handler>(body: NonNull<Body>, arrived: Option<Cx>) {
    // SAFETY: by the caller's word.
    let handler = unsafe { body.cast::<H>().read() };
    if let Some(cx) = arrived {
        handler.handle(cx);
    }
}

/// # Safety
/// The body holds a `Box<H>`, which is not used afterwards.
unsafe fn boxed<H: Handler>(body: NonNull<Body>, arrived: Option<Cx>) {
    // SAFETY: by the caller's word.
    let handler = unsafe { body.cast::<Box<H>>().read() };
    if let Some(cx) = arrived {
        handler.handle(cx);
    }
}

/// A message as bytes; taken when it arrives.
struct Encoded(Option<Written>);

impl Encoded {
    fn new<H: Handler>(handler: H) -> Option<Encoded> {
        let mut handler = Some(handler);
        let written = written(&mut |to| {
            to.value(&Identity::of(H::arrive));
            handler.take().is_some_and(|handler| handler.write(to))
        });
        written.map(|written| Encoded(Some(written)))
    }

    fn arrive(&mut self, cx: Option<Cx>) {
        let Some(written) = self.0.take() else { return };
        written.read(|mut from| {
            let Ok(identity) = from.value::<Identity>() else { unreachable!("the library's own") };
            // SAFETY: that is how a message begins.
            match unsafe { identity.handler() } {
                Ok(handler) => handler(from, cx),
                Err(error) => panic!("{error}"),
            }
        });
    }
}

/// If it is lost, the continuations in it are to be lost as well.
impl Drop for Encoded {
    fn drop(&mut self) {
        quietly(|| self.arrive(None));
    }
}

/// # Safety
/// The body holds an `Encoded`, which is not used afterwards.
unsafe fn encoded(body: NonNull<Body>, arrived: Option<Cx>) {
    // SAFETY: by the caller's word.
    let mut message = unsafe { body.cast::<Encoded>().read() };
    if arrived.is_some() {
        message.arrive(arrived);
    }
}
