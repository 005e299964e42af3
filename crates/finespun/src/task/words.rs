//! How a stack function hands a value to its cold side: at no cost to the hot one.
//!
//! The compiler passes a value above two words by its address, so a function that may hand one over keeps it in
//! memory on every call, cold or not. Two ways around that:
//!
//! * Up to four words travel as words of their own, in registers. This is for values that consist of scalars.
//! * A [`Parcel`] is a copy made on the cold side's account. It is for everything larger, and for values with a part
//!   that lies in memory anyway: to take such a part into words is to read it by words, and a read that spans
//!   several recent stores waits until they have left the store buffer, some 15 cycles.

use std::mem::MaybeUninit;
use std::ptr;

/// Pointer-sized, and a pointer: what travels in it keeps its provenance.
pub(crate) type Word = MaybeUninit<*mut ()>;

const WORDS: usize = 4;

/// Whether a value fits into the words.
pub(crate) const fn fits<T>() -> bool {
    size_of::<T>() <= WORDS * size_of::<Word>() && align_of::<T>() <= align_of::<Word>()
}

/// The value as words, if it [`fits`]; else itself.
#[inline(always)]
pub(crate) fn split<T>(value: T) -> Result<[Word; WORDS], T> {
    if !fits::<T>() {
        return Err(value);
    }
    let mut words = [Word::uninit(); WORDS];
    // SAFETY: a `T` fits, by the check above.
    unsafe { words.as_mut_ptr().cast::<T>().write(value) };
    Ok(words)
}

/// The value again.
///
/// # Safety
/// The words come from [`split`] of a `T`, and are joined once.
#[inline(always)]
pub(crate) unsafe fn join<T>(words: [Word; WORDS]) -> T {
    // SAFETY: by the caller's word.
    unsafe { words.as_ptr().cast::<T>().read() }
}

/// A value on its way to the cold side: the address of the copy escapes, that of the original does not.
pub(crate) struct Parcel<T>(MaybeUninit<T>);

impl<T> Parcel<T> {
    #[inline(always)]
    pub(crate) fn new(value: T) -> Parcel<T> {
        let mut copy = MaybeUninit::uninit();
        // SAFETY: two places; the value moves from one to the other.
        unsafe { ptr::copy_nonoverlapping(&raw const value, copy.as_mut_ptr(), 1) };
        std::mem::forget(value);
        Parcel(copy)
    }

    /// The value.
    ///
    /// # Safety
    /// Once.
    #[inline(always)]
    pub(crate) unsafe fn take(&mut self) -> T {
        // SAFETY: by the caller's word it is still there.
        unsafe { self.0.assume_init_read() }
    }
}
