//! Memory for the parts of a net: this process's own, or shared between processes.
//!
//! Every process that shares a [`Segment`] places the same parts in the same order, so a part has the same distance from
//! the segment's beginning in each. A segment is all zeros at first.

use std::marker::PhantomData;
use std::ops::Deref;
use std::ptr::NonNull;
use std::sync::Arc;

/// A block of memory, zero at first, that all processes of a runtime see.
pub(crate) struct Segment {
    base: NonNull<u8>,
    bytes: usize,
    /// The owner of the memory.
    _owner: Box<dyn Send + Sync>,
}

// SAFETY: the segment only gives out addresses; `Placed` shares its part as the part's type allows.
unsafe impl Send for Segment {}
// SAFETY: as above.
unsafe impl Sync for Segment {}

/// The alignment of segments, and of each part: two cache lines.
const ALIGNMENT: usize = 128;

impl Segment {
    /// Returns a segment in this process's own memory.
    pub(crate) fn private(bytes: usize) -> Segment {
        #[repr(align(128))]
        #[derive(Clone)]
        struct Lines(#[expect(dead_code, reason = "accessed by address")] [u8; ALIGNMENT]);
        let mut lines = vec![Lines([0; ALIGNMENT]); bytes.div_ceil(ALIGNMENT)];
        let base = NonNull::from(&mut *lines).cast();
        Segment { base, bytes, _owner: Box::new(lines) }
    }

    /// Returns the segment of `bytes` at `base`, which `owner` owns.
    ///
    /// # Safety
    /// The bytes are valid while `owner` lives, zero before any process places a part there, and aligned to 128.
    ///
    /// # Panics
    /// If `base` is null.
    #[cfg(feature = "processes")]
    pub(crate) unsafe fn of(base: *mut u8, bytes: usize, owner: Box<dyn Send + Sync>) -> Segment {
        Segment { base: NonNull::new(base).expect("mapped"), bytes, _owner: owner }
    }
}

/// The place where the parts of a net are put, one after the other.
pub(crate) struct Placement {
    segment: Option<Arc<Segment>>,
    used: usize,
}

impl Placement {
    /// Puts the parts in this process's own memory.
    pub(crate) fn private() -> Placement {
        Placement { segment: None, used: 0 }
    }

    /// Puts the parts into a segment, from its beginning.
    pub(crate) fn shared(segment: &Arc<Segment>) -> Placement {
        Placement { segment: Some(Arc::clone(segment)), used: 0 }
    }

    /// Places `count` values that `make` makes from their numbers. In a segment, the values are what the segment
    /// contains there: zeros at first.
    ///
    /// # Panics
    /// If the segment is too small.
    ///
    /// # Safety
    /// If this places into a segment: zero bytes are a valid `T`, all processes use the part as a `T` only, and a `T`
    /// contains no address.
    pub(crate) unsafe fn place<T>(&mut self, count: usize, make: impl FnMut(usize) -> T) -> Placed<T> {
        let Some(segment) = &self.segment else {
            let values: Box<[T]> = (0..count).map(make).collect();
            let values = NonNull::from(Box::leak(values));
            return Placed { values, segment: None, value: PhantomData };
        };
        const { assert!(align_of::<T>() <= ALIGNMENT) };
        let from = self.used;
        self.used += (count * size_of::<T>()).next_multiple_of(ALIGNMENT);
        assert!(self.used <= segment.bytes, "a segment of {} bytes is too small", segment.bytes);
        // SAFETY: the part lies within the segment, by the assertion.
        let at = unsafe { segment.base.add(from) }.cast::<T>();
        debug_assert!(at.is_aligned());
        let values = NonNull::slice_from_raw_parts(at, count);
        Placed { values, segment: Some(Arc::clone(segment)), value: PhantomData }
    }
}

/// Values in a process's own memory, or in a segment, which their owner keeps.
pub(crate) struct Placed<T> {
    values: NonNull<[T]>,
    segment: Option<Arc<Segment>>,
    value: PhantomData<T>,
}

// SAFETY: like a `Box<[T]>`, or a reference to a `T` that several threads share.
unsafe impl<T: Send + Sync> Send for Placed<T> {}
// SAFETY: gives out shared references only.
unsafe impl<T: Sync> Sync for Placed<T> {}

impl<T> Deref for Placed<T> {
    type Target = [T];

    #[inline(always)]
    fn deref(&self) -> &[T] {
        // SAFETY: the values live as long as this, and are initialized: made by `make`, or zeros, as the caller of
        // `place` guarantees.
        unsafe { self.values.as_ref() }
    }
}

impl<T> Drop for Placed<T> {
    fn drop(&mut self) {
        if self.segment.is_none() {
            // SAFETY: `place` leaked this box, and only this drop takes it back.
            drop(unsafe { Box::from_raw(self.values.as_ptr()) });
        }
    }
}
