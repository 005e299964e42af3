//! The packet: an active message as it travels, code and all.
//!
//! A message names a handler and carries what that needs (concert-runtime-mechanisms, section 4.3). Within a process the
//! name is the address of a function that knows the type of the rest, and the rest moves as it is: into the receiver's
//! ring or the sender's buffer, if it fits, else into a box.

use std::mem::MaybeUninit;
use std::ptr::NonNull;

use crate::task::context::Cx;

/// Words behind the code: with that, and what a transport adds, a packet takes two cache lines.
const WORDS: usize = 12;
type Body = [u64; WORDS];

/// What a message does where it arrives.
pub(crate) trait Handler: Send + 'static {
    /// Does it, on the stack of the receiving worker. `from` is the worker that sent it.
    fn handle(self, cx: Cx, from: usize);
}

/// A message.
#[repr(C)]
pub(crate) struct Packet {
    /// Takes the handler out of the body, and runs it; without a worker, destroys it.
    code: unsafe fn(NonNull<Body>, Option<(Cx, usize)>),
    body: MaybeUninit<Body>,
}

// SAFETY: made of a handler, which is `Send`.
unsafe impl Send for Packet {}

impl Packet {
    /// A message that `handler` handles.
    #[inline(always)]
    pub(crate) fn new<H: Handler>(handler: H) -> Packet {
        let mut body = MaybeUninit::<Body>::uninit();
        if const { size_of::<H>() <= size_of::<Body>() && align_of::<H>() <= align_of::<Body>() } {
            // SAFETY: it fits.
            unsafe { body.as_mut_ptr().cast::<H>().write(handler) };
            Packet { code: inside::<H>, body }
        } else {
            // SAFETY: a pointer fits.
            unsafe { body.as_mut_ptr().cast::<Box<H>>().write(Box::new(handler)) };
            Packet { code: boxed::<H>, body }
        }
    }

    /// Handles the message that lies at `packet`.
    ///
    /// # Safety
    /// It does, nobody else sees it, and nobody uses it afterwards.
    #[inline]
    pub(crate) unsafe fn handle(packet: NonNull<Packet>, cx: Cx, from: usize) {
        // SAFETY: by the caller's word.
        let code = unsafe { (*packet.as_ptr()).code };
        // SAFETY: in the packet.
        let body = unsafe { NonNull::new_unchecked(&raw mut (*packet.as_ptr()).body).cast() };
        // SAFETY: the code was made with the body, which is used once.
        unsafe { code(body, Some((cx, from))) };
    }
}

impl Drop for Packet {
    fn drop(&mut self) {
        // SAFETY: the code was made with the body, which is used once: a packet that is handled is not dropped.
        unsafe { (self.code)(NonNull::from(&mut self.body).cast(), None) };
    }
}

/// # Safety
/// The body holds an `H`, which is not used afterwards.
unsafe fn inside<H: Handler>(body: NonNull<Body>, arrived: Option<(Cx, usize)>) {
    // SAFETY: by the caller's word.
    let handler = unsafe { body.cast::<H>().read() };
    if let Some((cx, from)) = arrived {
        handler.handle(cx, from);
    }
}

/// # Safety
/// The body holds a `Box<H>`, which is not used afterwards.
unsafe fn boxed<H: Handler>(body: NonNull<Body>, arrived: Option<(Cx, usize)>) {
    // SAFETY: by the caller's word.
    let handler = unsafe { body.cast::<Box<H>>().read() };
    if let Some((cx, from)) = arrived {
        handler.handle(cx, from);
    }
}
