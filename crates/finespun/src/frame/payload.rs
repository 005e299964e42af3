//! Panic payloads, from the catching of a panic to its delivery to the program.

use std::any::Any;
use std::fmt;
use std::mem::{self, ManuallyDrop};
use std::ops::Deref;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// The payload of a panic that the library has caught.
///
/// The payload's destructor is user code and may panic in turn. A payload is usually dropped during another panic: the
/// second panic of a join, or a panic left by a cancelled run. A panic of the destructor would then abort the process.
/// So dropping a `Payload` never panics, wherever it is stored: in a frame, in an error, in a kept result.
#[repr(transparent)]
pub struct Payload(ManuallyDrop<Box<dyn Any + Send>>);

impl Payload {
    /// Wraps the payload that [`catch_unwind`] returned.
    pub(crate) fn caught(payload: Box<dyn Any + Send>) -> Payload {
        Payload(ManuallyDrop::new(payload))
    }

    /// Creates a payload of the library's own.
    pub(crate) fn new<T: Send + 'static>(payload: T) -> Payload {
        Payload::caught(Box::new(payload))
    }

    /// Returns the original payload, for the program.
    pub(crate) fn into_box(self) -> Box<dyn Any + Send> {
        let mut payload = ManuallyDrop::new(self);
        // SAFETY: `self` is neither used again nor dropped.
        unsafe { ManuallyDrop::take(&mut payload.0) }
    }

    /// Resumes the panic.
    pub(crate) fn resume(self) -> ! {
        resume_unwind(self.into_box())
    }

    /// Returns the payload as a `T`, if it is one.
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

/// Drops an unwanted payload that [`catch_unwind`] returned.
pub(crate) fn discard(payload: Box<dyn Any + Send>) {
    drop(Payload::caught(payload));
}

impl Drop for Payload {
    /// Calls an outlined function, which keeps the cleanup of all code that holds a payload small. Passes the payload
    /// by value, so that the caller need not keep it in memory.
    #[inline(always)]
    fn drop(&mut self) {
        #[cold]
        #[inline(never)]
        fn end(payload: Box<dyn Any + Send>) {
            if let Err(again) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
                // The new payload's destructor may panic as well.
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
