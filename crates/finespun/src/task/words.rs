//! Small values in registers: what a stack function hands to its cold side needs no memory of its own for that.
//!
//! The compiler passes a value above two words by its address, so a function that may hand one over reserves stack
//! for it on every call. As words of their own up to four travel in registers.

use std::mem::MaybeUninit;

/// Pointer-sized, and a pointer: what travels in it keeps its provenance.
pub(crate) type Word = MaybeUninit<*mut ()>;

const WORDS: usize = 4;

/// The value as words, if it has no more than four; else itself.
#[inline(always)]
pub(crate) fn split<T>(value: T) -> Result<[Word; WORDS], T> {
    if size_of::<T>() > WORDS * size_of::<Word>() || align_of::<T>() > align_of::<Word>() {
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
