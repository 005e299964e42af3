//! What a panic carries, between the place that catches it and the place that shows it to the program.

use std::any::Any;
use std::fmt;
use std::mem::{self, ManuallyDrop};
use std::ops::Deref;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// The payload of a panic that the library has caught.
///
/// Its destructor is the program's, and may panic in turn. A payload is mostly dropped where another panic is under way: the
/// second panic of a join, what a cancelled run has left. There a panic would abort the process. So dropping a `Payload` never
/// panics, wherever it lies: in a frame, in an error, in a kept result.
#[repr(transparent)]
pub struct Payload(ManuallyDrop<Box<dyn Any + Send>>);

impl Payload {
    /// What [`catch_unwind`] has given.
    pub(crate) fn caught(payload: Box<dyn Any + Send>) -> Payload {
        Payload(ManuallyDrop::new(payload))
    }

    /// A payload of the library's own.
    pub(crate) fn new<T: Send + 'static>(payload: T) -> Payload {
        Payload::caught(Box::new(payload))
    }

    /// What the panic carries, for the program.
    pub(crate) fn into_box(self) -> Box<dyn Any + Send> {
        let mut payload = ManuallyDrop::new(self);
        // SAFETY: `self` is not used again, nor dropped.
        unsafe { ManuallyDrop::take(&mut payload.0) }
    }

    /// Goes on with the panic.
    pub(crate) fn resume(self) -> ! {
        resume_unwind(self.into_box())
    }

    /// The payload as a `T`, if it is one.
    pub(crate) fn downcast<T: 'static>(self) -> Result<Box<T>, Payload> {
        self.into_box().downcast().map_err(Payload::caught)
    }
}

impl Deref for Payload {
    type Target = dyn Any + Send;
    fn deref(&self) -> &(dyn Any + Send) {
        &**self.0
    }
}

/// Drops what [`catch_unwind`] has given and nobody will see.
pub(crate) fn discard(payload: Box<dyn Any + Send>) {
    drop(Payload::caught(payload));
}

impl Drop for Payload {
    /// The work is never done in place: the cleanup of all code that keeps a payload stays small. By value, so that the payload
    /// need not lie in memory there.
    #[inline(always)]
    fn drop(&mut self) {
        #[cold]
        #[inline(never)]
        fn end(payload: Box<dyn Any + Send>) {
            if let Err(again) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
                // It may go on like this.
                mem::forget(again);
            }
        }
        // SAFETY: `self` is not used again.
        end(unsafe { ManuallyDrop::take(&mut self.0) });
    }
}

impl fmt::Debug for Payload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Payload").finish_non_exhaustive()
    }
}
