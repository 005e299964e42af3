//! The arguments of `make_closure!`, one for each parameter of a thread: a value, or a hole.

use std::mem;
use std::ptr::NonNull;

use crate::frame::{FrameRef, quietly};

use super::cont::{Cont, Conts};
use super::tail::{Tail, Vector};
use super::way::Way;
#[cfg(feature = "objects")]
use super::way::{Arrived, Arriving, Leaving, both};

/// The types of a thread's parameters except a vector, as a tuple: sealed.
pub trait Parameters: Sized + Send + 'static + sealed::Sealed {
    /// How each travels to other processes.
    #[doc(hidden)]
    type Ways: Copy + 'static;

    /// Writes all.
    #[doc(hidden)]
    #[cfg(feature = "objects")]
    fn write(self, ways: &Self::Ways, leaving: &mut Leaving<'_>) -> std::thread::Result<()>;

    /// Reads all.
    #[doc(hidden)]
    #[cfg(feature = "objects")]
    fn read(ways: &Self::Ways, from: &mut Arriving<'_, '_>) -> Option<Arrived<Self>>;

    /// Returns the index of the parameter of this size at this offset, or else of the parameter that contains it as an
    /// element.
    #[doc(hidden)]
    fn index(offset: usize, size: usize) -> usize;

    /// Destroys all values except the dropped ones. The first value is at `at`, whose offset in the closure is
    /// `offset`.
    ///
    /// # Safety
    /// The values that are not dropped are initialized, and are not used any more.
    #[doc(hidden)]
    unsafe fn destroy(at: NonNull<u8>, offset: usize, dropped: &[Dropped]);
}

/// A hole that will never be filled.
#[doc(hidden)]
#[derive(Debug)]
pub struct Dropped {
    /// The offset from the closure's address.
    pub(super) offset: usize,
    pub(super) size: usize,
    pub(super) drop: unsafe fn(NonNull<u8>),
    pub(super) next: *mut Dropped,
}

/// Returns the dropped holes in the `size` bytes from `offset` on. `dropped` is sorted by offset.
fn within(dropped: &[Dropped], offset: usize, size: usize) -> impl Iterator<Item = &Dropped> {
    let first = dropped.partition_point(|hole| hole.offset < offset);
    // A zero-sized value shares its offset with the beginning or the end of another one.
    dropped[first..]
        .iter()
        .take_while(move |hole| hole.offset < offset + size.max(1))
        .filter(move |hole| (hole.size == 0) == (size == 0))
}

/// Returns whether a hole of this size at this offset was dropped.
pub(super) fn is_dropped(dropped: &[Dropped], offset: usize, size: usize) -> bool {
    within(dropped, offset, size).any(|hole| hole.offset == offset && hole.size == size)
}

/// Destroys the value at this offset if it was not dropped, or its elements that were not dropped. Runs user code,
/// whose panics cannot be reported.
///
/// Two zero-sized values may have the same offset, so that the dropped hole could be either's: then neither is
/// destroyed.
///
/// # Safety
/// Every value or element that is not dropped is initialized, and is not used any more.
unsafe fn destroy_value<T>(at: NonNull<u8>, offset: usize, dropped: &[Dropped]) {
    let size = size_of::<T>();
    match within(dropped, offset, size).next() {
        // SAFETY: the caller guarantees that the value, which is not dropped, is initialized and unused.
        None => quietly(|| unsafe { at.cast::<T>().drop_in_place() }),
        Some(hole) if hole.size == size => {}
        // SAFETY: the value is an array of such elements, and the caller guarantees that those not dropped are
        // initialized.
        Some(hole) => unsafe { destroy_elements(at, offset, size / hole.size, hole, dropped) },
    }
}

/// Destroys `count` elements of the type of `hole`, except the dropped ones.
///
/// # Safety
/// As for [`destroy_value`].
unsafe fn destroy_elements(at: NonNull<u8>, offset: usize, count: usize, hole: &Dropped, dropped: &[Dropped]) {
    for element in (0..count).map(|index| index * hole.size) {
        if !is_dropped(dropped, offset + element, hole.size) {
            // SAFETY: the caller guarantees that an element which is not dropped is initialized and unused.
            quietly(|| unsafe { (hole.drop)(at.add(element)) });
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
pub trait Supply<T: HoldArgument>: Sized {
    /// The continuations of the holes; `()` without holes.
    type Gives;

    /// Returns the number of elements, for a vector.
    #[doc(hidden)]
    fn length(&self) -> T::Length;

    /// Returns the number of holes that `supply` makes.
    ///
    /// # Panics
    /// If this does not fit the parameter. Nothing has been written then.
    #[doc(hidden)]
    fn holes(&self) -> usize;

    /// Writes the value, or makes the holes.
    ///
    /// # Safety
    /// `at` is the place for a `T` of this length in `closure`, which is being made, and which misses
    /// [`holes`](Self::holes) arguments there.
    #[doc(hidden)]
    unsafe fn supply(self, closure: FrameRef, at: NonNull<u8>) -> Self::Gives;
}

/// A part of a closure: a value in its place, or a vector in its tail.
#[doc(hidden)]
pub trait HoldArgument {
    type Length: Copy;
}

impl<T: Send + 'static> HoldArgument for In<T> {
    type Length = ();
}

impl<T: Tail> HoldArgument for T {
    type Length = <T as Tail>::Length;
}

/// A parameter that is stored in its place, not in the tail.
#[doc(hidden)]
#[derive(Debug)]
pub struct In<T>(std::marker::PhantomData<T>);

/// A given value.
#[doc(hidden)]
#[derive(Debug)]
pub struct Given<V>(pub V);

/// A hole: `_`.
#[doc(hidden)]
#[derive(Debug)]
pub struct Missing;

/// `n` holes: `_[n]`.
#[doc(hidden)]
#[derive(Debug)]
pub struct Each(pub usize);

/// The absence of a vector.
#[doc(hidden)]
#[derive(Debug)]
pub struct Without;

impl<T: Send + 'static> Supply<In<T>> for Given<T> {
    type Gives = ();
    #[inline(always)]
    fn length(&self) {}
    #[inline(always)]
    fn holes(&self) -> usize {
        0
    }
    #[inline(always)]
    unsafe fn supply(self, _: FrameRef, at: NonNull<u8>) {
        // SAFETY: the caller guarantees that `at` is the place for a `T`.
        unsafe { at.cast::<T>().write(self.0) };
    }
}

impl<T: Send + 'static> Supply<In<T>> for Missing {
    type Gives = Cont<T>;
    #[inline(always)]
    fn length(&self) {}
    #[inline(always)]
    fn holes(&self) -> usize {
        1
    }
    #[inline(always)]
    unsafe fn supply(self, closure: FrameRef, at: NonNull<u8>) -> Cont<T> {
        // SAFETY: this is the only continuation of one hole, at the place for a `T`.
        unsafe { Cont::new(closure, at.cast()) }
    }
}

impl<T: Send + 'static, const N: usize> Supply<In<[T; N]>> for Each {
    type Gives = Conts<T>;
    #[inline(always)]
    fn length(&self) {}
    #[inline(always)]
    fn holes(&self) -> usize {
        assert_eq!(self.0, N, "`_[n]` is as long as the array that it stands for");
        N
    }
    #[inline(always)]
    unsafe fn supply(self, closure: FrameRef, at: NonNull<u8>) -> Conts<T> {
        // SAFETY: these are the only continuations of N holes, at the place for N elements.
        unsafe { Conts::new(closure, at.cast(), N) }
    }
}

impl Supply<()> for Without {
    type Gives = ();
    #[inline(always)]
    fn length(&self) {}
    #[inline(always)]
    fn holes(&self) -> usize {
        0
    }
    #[inline(always)]
    unsafe fn supply(self, _: FrameRef, _: NonNull<u8>) {}
}

impl<T: Send + 'static> Supply<Vector<T>> for Each {
    type Gives = Conts<T>;
    #[inline(always)]
    fn length(&self) -> usize {
        self.0
    }
    #[inline(always)]
    fn holes(&self) -> usize {
        self.0
    }
    #[inline(always)]
    unsafe fn supply(self, closure: FrameRef, at: NonNull<u8>) -> Conts<T> {
        // SAFETY: these are the only continuations of the holes, at the place for that number of elements.
        unsafe { Conts::new(closure, at.cast(), self.0) }
    }
}

/// Elements from an iterator, and the length that it has reported, which is asked once.
#[doc(hidden)]
#[derive(Debug)]
pub struct From<I> {
    elements: I,
    length: usize,
}

impl<T: Send + 'static, I: ExactSizeIterator<Item = T>> Supply<Vector<T>> for From<I> {
    type Gives = ();
    #[inline(always)]
    fn length(&self) -> usize {
        self.length
    }
    #[inline(always)]
    fn holes(&self) -> usize {
        0
    }
    #[inline(always)]
    unsafe fn supply(self, _: FrameRef, at: NonNull<u8>) {
        // SAFETY: the caller guarantees that `at` is the place for `length` elements.
        unsafe { super::tail::write_all(at.cast::<T>(), self.length, self.elements) };
    }
}

/// A supplier of a thread's tail, before conversion to [`Supply`].
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
        let elements = self.0.into_iter();
        From { length: elements.len(), elements }
    }
}

macro_rules! tuples {
    ($(($count:literal: $($type:ident $supply:ident $index:tt),*))*) => {$(
        impl<$($type: Send + 'static),*> sealed::Sealed for ($($type,)*) {}
        impl<$($type: Send + 'static),*> Parameters for ($($type,)*) {
            type Ways = ($(Way<$type>,)*);

            #[cfg(feature = "objects")]
            fn write(self, ways: &Self::Ways, leaving: &mut Leaving<'_>) -> std::thread::Result<()> {
                let _ = (ways, &leaving);
                let all = Ok(());
                $(let all = both(all, ways.$index.write(self.$index, leaving));)*
                all
            }

            #[cfg(feature = "objects")]
            #[allow(non_snake_case, clippy::unused_unit, reason = "named by types; of an empty tuple")]
            fn read(ways: &Self::Ways, from: &mut Arriving<'_, '_>) -> Option<Arrived<Self>> {
                let _ = (ways, &from);
                $(let $type = ways.$index.read(from)?;)*
                let waits = 0 $(+ $type.waits)*;
                Some(Arrived { waits, make: Box::new(move |imports| {
                    let _ = &imports;
                    ($(($type.make)(imports),)*)
                }) })
            }

            fn index(offset: usize, size: usize) -> usize {
                let all: [(usize, usize); $count] = [$((mem::offset_of!(Self, $index), size_of::<$type>())),*];
                let is_in = |&(begins, length): &(usize, usize)| begins <= offset && offset + size <= begins + length;
                let whole = all.iter().position(|&place| place == (offset, size));
                whole.or_else(|| all.iter().position(is_in)).unwrap_or(0)
            }

            unsafe fn destroy(at: NonNull<u8>, offset: usize, dropped: &[Dropped]) {
                let _ = (at, offset, dropped);
                $(
                    let within = mem::offset_of!(Self, $index);
                    // SAFETY: the caller guarantees that the values which are not dropped are initialized and unused.
                    unsafe { destroy_value::<$type>(at.add(within), offset + within, dropped) };
                )*
            }
        }

        /// Supplies the fixed parameters of a closure that is being made.
        impl<$($type: Send + 'static,)* $($supply: Supply<In<$type>>),*> Supplies<($($type,)*)> for ($($supply,)*) {
            type Gives = ($($supply::Gives,)*);
            #[inline(always)]
            #[allow(clippy::unused_unit, reason = "of an empty tuple")]
            unsafe fn supply(self, closure: FrameRef, at: NonNull<($($type,)*)>) -> Self::Gives {
                let _ = (closure, at);
                // SAFETY: `place` is within the tuple, for which the caller guarantees the place in the closure.
                ($(unsafe {
                    let place = NonNull::new_unchecked(&raw mut (*at.as_ptr()).$index);
                    self.$index.supply(closure, place.cast())
                },)*)
            }

            #[inline(always)]
            fn holes(&self) -> usize {
                0_usize$(.saturating_add(self.$index.holes()))*
            }
        }
    )*};
}

/// Supplies all parameters except a vector.
#[doc(hidden)]
pub trait Supplies<P: Parameters>: Sized {
    type Gives;
    /// # Safety
    /// `at` is the place for the parameters in `closure`, which is being made.
    unsafe fn supply(self, closure: FrameRef, at: NonNull<P>) -> Self::Gives;
    fn holes(&self) -> usize;
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
