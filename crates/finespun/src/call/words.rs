//! Passing a value from a stack function to its cold path, at no cost to the hot path.
//!
//! rustc passes a value larger than two words by its address, so a function that may pass one on keeps it in memory on
//! every call, even if the cold path is not taken. Two techniques avoid this:
//!
//! * Up to four words are passed as separate words, in registers. This is for values that consist of scalars.
//! * A [`Parcel`] is a copy made on the cold path. It is for larger values, and for values with a part that is in
//!   memory anyway: that part would be read word by word, and a read that spans several recent stores waits until they
//!   have left the store buffer, some 15 cycles.

use std::mem::MaybeUninit;
use std::ptr;

/// A pointer-sized word with pointer type, so that its contents keep their provenance.
pub(crate) type Word = MaybeUninit<*mut ()>;

const WORDS: usize = 4;

/// Returns whether a `T` fits into the words.
pub(crate) const fn fits<T>() -> bool {
    size_of::<T>() <= WORDS * size_of::<Word>() && align_of::<T>() <= align_of::<Word>()
}

/// Returns the value as words if it [`fits`], else the value itself.
#[inline(always)]
pub(crate) fn split<T>(value: T) -> Result<[Word; WORDS], T> {
    if !fits::<T>() {
        return Err(value);
    }
    let mut words = [Word::uninit(); WORDS];
    // SAFETY: the check above guarantees that a `T` fits.
    unsafe { words.as_mut_ptr().cast::<T>().write(value) };
    Ok(words)
}

/// Reassembles the value.
///
/// # Safety
/// The words come from [`split`] of a `T`, and are joined once.
#[inline(always)]
pub(crate) unsafe fn join<T>(words: [Word; WORDS]) -> T {
    // SAFETY: the caller guarantees that the words come from `split` of a `T`, and are joined once.
    unsafe { words.as_ptr().cast::<T>().read() }
}

/// A copy of a value for the cold path: only the copy's address escapes, and not the original's.
pub(crate) struct Parcel<T>(MaybeUninit<T>);

impl<T> Parcel<T> {
    #[inline(always)]
    pub(crate) fn new(value: T) -> Parcel<T> {
        let mut copy = MaybeUninit::uninit();
        // SAFETY: source and destination are distinct; the value moves, and the original is forgotten.
        unsafe { ptr::copy_nonoverlapping(&raw const value, copy.as_mut_ptr(), 1) };
        std::mem::forget(value);
        Parcel(copy)
    }

    /// Takes the value.
    ///
    /// # Safety
    /// Called at most once.
    #[inline(always)]
    pub(crate) unsafe fn take(&mut self) -> T {
        // SAFETY: the caller guarantees that the value has not been taken, so it is initialized.
        unsafe { self.0.assume_init_read() }
    }
}
