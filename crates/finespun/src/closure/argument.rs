//! What `make_closure!` gives for each parameter of a thread: a value, or a hole.

use std::mem;
use std::ptr::NonNull;

use crate::task::frame::FrameRef;

use super::cont::{Cont, Conts};
use super::tail::{Tail, Vector};

/// The types of a thread's parameters but a vector, as a tuple: sealed.
pub trait Parameters: Sized + Send + 'static + sealed::Sealed {
    /// Which of them lies at that offset.
    #[doc(hidden)]
    fn index(offset: usize) -> usize;

    /// Destroys those that are there: all but the dropped ones. The first is at that `offset`.
    ///
    /// # Safety
    /// The others are there, and are not used any more.
    #[doc(hidden)]
    unsafe fn destroy(at: NonNull<u8>, offset: usize, dropped: &[Dropped]);
}

/// A hole that nobody will fill.
#[doc(hidden)]
#[derive(Debug)]
pub struct Dropped {
    /// From the closure's address.
    pub(super) offset: usize,
    pub(super) size: usize,
    pub(super) drop: unsafe fn(NonNull<u8>),
    pub(super) next: *mut Dropped,
}

/// Destroys a value at that offset, if it is there, or those elements of it that are.
///
/// # Safety
/// What is not among the dropped is there, and not used any more.
unsafe fn destroy_value<T>(at: NonNull<u8>, offset: usize, dropped: &[Dropped]) {
    let size = size_of::<T>();
    let is_within = |hole: &&Dropped| {
        (hole.offset == offset && hole.size == size) || (offset..offset + size).contains(&hole.offset)
    };
    match dropped.iter().find(is_within) {
        // SAFETY: by the caller's word.
        None => unsafe { at.cast::<T>().drop_in_place() },
        Some(hole) if hole.size == size => {}
        // SAFETY: an array of such elements, by the caller's word.
        Some(hole) => unsafe { destroy_elements(at, offset, size / hole.size.max(1), hole, dropped) },
    }
}

/// Destroys as many elements, each of the kind of that `hole`, but the dropped ones.
///
/// # Safety
/// As [`destroy_value`].
unsafe fn destroy_elements(at: NonNull<u8>, offset: usize, count: usize, hole: &Dropped, dropped: &[Dropped]) {
    for element in (0..count).map(|index| index * hole.size) {
        if !dropped.iter().any(|hole| hole.offset == offset + element) {
            // SAFETY: by the caller's word.
            unsafe { (hole.drop)(at.add(element)) };
        }
    }
}

pub(super) mod sealed {
    pub trait Sealed {}
}

/// Supplies one parameter of type `T`, or makes a hole for it.
#[diagnostic::on_unimplemented(
    message = "this does not supply a `{T}`",
    note = "the elements of a `Vector` come from an iterator that knows its length, or are missing: `_[n]`"
)]
pub trait Supply<T: Hold>: Sized {
    /// The continuations of the holes; `()` if there are none.
    type Gives;

    /// Of how many elements: of a vector.
    #[doc(hidden)]
    fn length(&self) -> T::Length;

    /// Writes the value, or makes the hole; how many holes that are.
    ///
    /// # Safety
    /// The place of a `T` of that length in a closure that is being made.
    #[doc(hidden)]
    unsafe fn supply(self, closure: FrameRef, at: NonNull<u8>) -> (Self::Gives, u32);
}

/// What a closure holds: a value in its place, or a vector in its tail.
#[doc(hidden)]
pub trait Hold {
    type Length: Copy;
}

impl<T: Send + 'static> Hold for In<T> {
    type Length = ();
}

impl<T: Tail> Hold for T {
    type Length = <T as Tail>::Length;
}

/// A parameter that lies in its place.
#[doc(hidden)]
#[derive(Debug)]
pub struct In<T>(std::marker::PhantomData<T>);

/// A value.
#[doc(hidden)]
#[derive(Debug)]
pub struct Given<V>(pub V);

/// A hole: `_`.
#[doc(hidden)]
#[derive(Debug)]
pub struct Missing;

/// As many holes: `_[n]`.
#[doc(hidden)]
#[derive(Debug)]
pub struct Each(pub usize);

/// A thread without a vector.
#[doc(hidden)]
#[derive(Debug)]
pub struct Without;

impl<T: Send + 'static> Supply<In<T>> for Given<T> {
    type Gives = ();
    #[inline(always)]
    fn length(&self) {}
    #[inline(always)]
    unsafe fn supply(self, _: FrameRef, at: NonNull<u8>) -> ((), u32) {
        // SAFETY: by the caller's word.
        unsafe { at.cast::<T>().write(self.0) };
        ((), 0)
    }
}

impl<T: Send + 'static> Supply<In<T>> for Missing {
    type Gives = Cont<T>;
    #[inline(always)]
    fn length(&self) {}
    #[inline(always)]
    unsafe fn supply(self, closure: FrameRef, at: NonNull<u8>) -> (Cont<T>, u32) {
        // SAFETY: one hole, of which this is the only continuation.
        (unsafe { Cont::new(closure, at.cast()) }, 1)
    }
}

impl<T: Send + 'static, const N: usize> Supply<In<[T; N]>> for Each {
    type Gives = Conts<T>;
    #[inline(always)]
    fn length(&self) {}
    #[inline(always)]
    unsafe fn supply(self, closure: FrameRef, at: NonNull<u8>) -> (Conts<T>, u32) {
        assert_eq!(self.0, N, "`_[n]` is as long as the array that it stands for");
        // SAFETY: N holes, of which these are the only continuations.
        (unsafe { Conts::new(closure, at.cast(), N) }, N as u32)
    }
}

impl Supply<()> for Without {
    type Gives = ();
    #[inline(always)]
    fn length(&self) {}
    #[inline(always)]
    unsafe fn supply(self, _: FrameRef, _: NonNull<u8>) -> ((), u32) {
        ((), 0)
    }
}

impl<T: Send + 'static> Supply<Vector<T>> for Each {
    type Gives = Conts<T>;
    #[inline(always)]
    fn length(&self) -> usize {
        assert!(u32::try_from(self.0).is_ok(), "a vector of {} missing elements: at most 2^32 - 1", self.0);
        self.0
    }
    #[inline(always)]
    unsafe fn supply(self, closure: FrameRef, at: NonNull<u8>) -> (Conts<T>, u32) {
        // SAFETY: as many holes, of which these are the only continuations.
        (unsafe { Conts::new(closure, at.cast(), self.0) }, self.0 as u32)
    }
}

/// Elements that are given by an iterator which knows how many.
#[doc(hidden)]
#[derive(Debug)]
pub struct From<I>(I);

impl<T: Send + 'static, I: ExactSizeIterator<Item = T>> Supply<Vector<T>> for From<I> {
    type Gives = ();
    #[inline(always)]
    fn length(&self) -> usize {
        self.0.len()
    }
    #[inline(always)]
    unsafe fn supply(self, _: FrameRef, at: NonNull<u8>) -> ((), u32) {
        let length = self.0.len();
        // SAFETY: by the caller's word.
        unsafe { super::tail::write_all(at.cast::<T>(), length, self.0) };
        ((), 0)
    }
}

/// What supplies a thread's tail, made ready.
#[diagnostic::on_unimplemented(
    message = "this does not supply the elements of a vector",
    note = "give an array, a `Vec` or another iterator that knows its length, or let them be missing: `_[n]`"
)]
#[doc(hidden)]
pub trait Elements<T: Tail> {
    type Ready: Supply<T>;
    fn ready(self) -> Self::Ready;
}

impl Elements<()> for Without {
    type Ready = Without;
    #[inline(always)]
    fn ready(self) -> Without {
        self
    }
}

impl<T: Send + 'static> Elements<Vector<T>> for Each {
    type Ready = Each;
    #[inline(always)]
    fn ready(self) -> Each {
        self
    }
}

impl<T: Send + 'static, I: IntoIterator<Item = T, IntoIter: ExactSizeIterator>> Elements<Vector<T>> for Given<I> {
    type Ready = From<I::IntoIter>;
    #[inline(always)]
    fn ready(self) -> From<I::IntoIter> {
        From(self.0.into_iter())
    }
}

macro_rules! tuples {
    ($(($count:literal: $($type:ident $supply:ident $index:tt),*))*) => {$(
        impl<$($type: Send + 'static),*> sealed::Sealed for ($($type,)*) {}
        impl<$($type: Send + 'static),*> Parameters for ($($type,)*) {
            fn index(offset: usize) -> usize {
                let offsets: [usize; $count] = [$(mem::offset_of!(Self, $index)),*];
                // The last that begins there or before: elements of an array lie in it.
                let mut at: Vec<(usize, usize)> = offsets.into_iter().zip(0..).collect();
                at.sort_unstable();
                at.iter().rev().find(|(begins, _)| *begins <= offset).map_or(0, |(_, index)| *index)
            }

            unsafe fn destroy(at: NonNull<u8>, offset: usize, dropped: &[Dropped]) {
                let _ = (at, offset, dropped);
                $(
                    let within = mem::offset_of!(Self, $index);
                    // SAFETY: by the caller's word.
                    unsafe { destroy_value::<$type>(at.add(within), offset + within, dropped) };
                )*
            }
        }

        /// The parameters of a closure that is being made.
        impl<$($type: Send + 'static,)* $($supply: Supply<In<$type>>),*> Supplies<($($type,)*)> for ($($supply,)*) {
            type Gives = ($($supply::Gives,)*);
            #[inline(always)]
            #[allow(clippy::unused_unit, reason = "of an empty tuple")]
            unsafe fn supply(self, closure: FrameRef, at: NonNull<($($type,)*)>) -> (Self::Gives, u32) {
                let _ = (closure, at);
                let mut holes = 0;
                let gives = ($({
                    // SAFETY: within the tuple, by the caller's word.
                    let (gives, missing) = unsafe {
                        let place = NonNull::new_unchecked(&raw mut (*at.as_ptr()).$index);
                        self.$index.supply(closure, place.cast())
                    };
                    holes += missing;
                    gives
                },)*);
                let _ = &mut holes;
                (gives, holes)
            }
        }
    )*};
}

/// Supplies all parameters but a vector.
#[doc(hidden)]
pub trait Supplies<P: Parameters>: Sized {
    type Gives;
    /// # Safety
    /// The place of the parameters in a closure that is being made.
    unsafe fn supply(self, closure: FrameRef, at: NonNull<P>) -> (Self::Gives, u32);
}

tuples! {
    (0: )
    (1: A SA 0)
    (2: A SA 0, B SB 1)
    (3: A SA 0, B SB 1, C SC 2)
    (4: A SA 0, B SB 1, C SC 2, D SD 3)
    (5: A SA 0, B SB 1, C SC 2, D SD 3, E SE 4)
    (6: A SA 0, B SB 1, C SC 2, D SD 3, E SE 4, F SF 5)
    (7: A SA 0, B SB 1, C SC 2, D SD 3, E SE 4, F SF 5, G SG 6)
    (8: A SA 0, B SB 1, C SC 2, D SD 3, E SE 4, F SF 5, G SG 6, H SH 7)
    (9: A SA 0, B SB 1, C SC 2, D SD 3, E SE 4, F SF 5, G SG 6, H SH 7, I SI 8)
    (10: A SA 0, B SB 1, C SC 2, D SD 3, E SE 4, F SF 5, G SG 6, H SH 7, I SI 8, J SJ 9)
    (11: A SA 0, B SB 1, C SC 2, D SD 3, E SE 4, F SF 5, G SG 6, H SH 7, I SI 8, J SJ 9, K SK 10)
    (12: A SA 0, B SB 1, C SC 2, D SD 3, E SE 4, F SF 5, G SG 6, H SH 7, I SI 8, J SJ 9, K SK 10, L SL 11)
}
