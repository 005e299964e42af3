//! Vectors in closures: as many elements as the closure was made with, behind its other arguments.

use std::alloc::{Layout, dealloc};
use std::mem::{self, ManuallyDrop};
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;

use crate::task::frame::{FrameRef, quietly};
use crate::task::pool::{self, Class};

use super::argument::{Dropped, is_dropped};

/// What follows a thread's other arguments: nothing, or a [`Vector`]. Sealed.
pub trait Tail: Sized + Send + 'static {
    #[doc(hidden)]
    type Element: Send + 'static;
    #[doc(hidden)]
    type Length: Copy;
    #[doc(hidden)]
    const ALIGN: usize = align_of::<Self::Element>();
    #[doc(hidden)]
    const IS_VECTOR: bool;

    #[doc(hidden)]
    fn bytes(length: Self::Length) -> usize;

    /// The number of the element so many bytes behind the first.
    #[doc(hidden)]
    fn index(offset: usize) -> usize {
        offset / size_of::<Self::Element>().max(1)
    }

    /// The tail of a closure that runs.
    ///
    /// # Safety
    /// As many elements are there, in that memory, and are the tail's from now on.
    #[doc(hidden)]
    unsafe fn take(memory: Memory, at: NonNull<u8>, length: Self::Length) -> Self;

    /// # Safety
    /// As many elements are there.
    #[doc(hidden)]
    unsafe fn slice<'a>(at: NonNull<u8>, length: Self::Length) -> &'a mut [Self::Element];

    /// Destroys the elements, of which the first is at that `offset`, but the dropped ones.
    ///
    /// # Safety
    /// The others are there, and are not used any more.
    #[doc(hidden)]
    unsafe fn destroy(at: NonNull<u8>, offset: usize, length: Self::Length, dropped: &[Dropped]);
}

impl Tail for () {
    type Element = ();
    type Length = ();
    const IS_VECTOR: bool = false;

    #[inline(always)]
    fn bytes((): ()) -> usize {
        0
    }

    #[inline(always)]
    unsafe fn take(memory: Memory, _: NonNull<u8>, (): ()) {
        memory.free();
    }

    unsafe fn slice<'a>(_: NonNull<u8>, (): ()) -> &'a mut [()] {
        &mut []
    }

    unsafe fn destroy(_: NonNull<u8>, _: usize, (): (), _: &[Dropped]) {}
}

/// The vector that a thread's last parameter may be: a slice that the thread owns.
///
/// It lies in the closure, which is kept for as long as the vector is. A `tail_call` hands it on without copying.
pub struct Vector<T> {
    elements: NonNull<T>,
    length: usize,
    memory: Memory,
}

/// The memory of a closure, or of a vector's elements; given back when this is dropped.
#[doc(hidden)]
#[derive(Debug)]
pub struct Memory(Option<(NonNull<u8>, Source)>);

/// Where memory is from.
#[derive(Debug)]
enum Source {
    Closure(Class),
    /// A box of the program's.
    Box(Layout),
}

impl Memory {
    /// # Safety
    /// The closure's memory is of that class, and nobody else gives it back.
    #[inline(always)]
    pub(super) unsafe fn of(closure: FrameRef, class: Class) -> Memory {
        Memory(Some((closure.cast(), Source::Closure(class))))
    }

    fn take(&mut self) -> Memory {
        Memory(self.0.take())
    }
}

impl Memory {
    /// Gives the memory back. In place, so that of a closure without a vector nothing is left but the way to the pool.
    #[inline(always)]
    fn free(self) {
        ManuallyDrop::new(self).give_back();
    }

    #[inline(always)]
    fn give_back(&mut self) {
        match self.0.take() {
            // SAFETY: the maker of this says that the memory is a closure's; what lay there is gone.
            Some((memory, Source::Closure(class))) => unsafe { pool::free(memory, class) },
            // SAFETY: a box's memory is the system's; what lay there is gone.
            Some((memory, Source::Box(layout))) => unsafe { dealloc(memory.as_ptr(), layout) },
            None => {}
        }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        self.give_back();
    }
}

// SAFETY: the vector owns its elements; the memory can be given back anywhere.
unsafe impl<T: Send> Send for Vector<T> {}
// SAFETY: a shared one is a shared slice.
unsafe impl<T: Sync> Sync for Vector<T> {}

impl<T: Send + 'static> Tail for Vector<T> {
    type Element = T;
    type Length = usize;
    const IS_VECTOR: bool = true;

    #[inline(always)]
    fn bytes(length: usize) -> usize {
        match size_of::<T>().checked_mul(length) {
            Some(bytes) => bytes,
            None => panic!("a vector of {length} elements in a closure is larger than the address space"),
        }
    }

    #[inline(always)]
    unsafe fn take(memory: Memory, at: NonNull<u8>, length: usize) -> Vector<T> {
        Vector { elements: at.cast(), length, memory }
    }

    unsafe fn slice<'a>(at: NonNull<u8>, length: usize) -> &'a mut [T] {
        // SAFETY: by the caller's word.
        unsafe { NonNull::slice_from_raw_parts(at.cast(), length).as_mut() }
    }

    unsafe fn destroy(at: NonNull<u8>, offset: usize, length: usize, dropped: &[Dropped]) {
        let size = size_of::<T>();
        // Elements without a size all lie in one place, and are all alike.
        let alike = dropped.iter().filter(|hole| size == 0 && hole.offset == offset && hole.size == 0).count();
        for within in (0..length.saturating_sub(alike)).map(|index| index * size) {
            if size == 0 || !is_dropped(dropped, offset + within, size) {
                // User code, whose panics have nowhere to go.
                // SAFETY: by the caller's word.
                quietly(|| unsafe { at.add(within).cast::<T>().drop_in_place() });
            }
        }
    }
}

impl<T> Deref for Vector<T> {
    type Target = [T];
    #[inline]
    fn deref(&self) -> &[T] {
        // SAFETY: as many elements, which are the vector's.
        unsafe { NonNull::slice_from_raw_parts(self.elements, self.length).as_ref() }
    }
}

impl<T> DerefMut for Vector<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as above.
        unsafe { NonNull::slice_from_raw_parts(self.elements, self.length).as_mut() }
    }
}

impl<T> Drop for Vector<T> {
    #[inline]
    fn drop(&mut self) {
        // Afterwards, also if a destructor panics.
        let _memory = self.memory.take();
        // SAFETY: the vector's own, and not used any more.
        unsafe { NonNull::slice_from_raw_parts(self.elements, self.length).drop_in_place() };
    }
}

impl<T: std::fmt::Debug> std::fmt::Debug for Vector<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

/// Of what a `tail_call` gives: elements that lie in no closure yet.
impl<T> FromIterator<T> for Vector<T> {
    fn from_iter<I: IntoIterator<Item = T>>(elements: I) -> Vector<T> {
        Vector::from(Vec::from_iter(elements))
    }
}

impl<T> From<Vec<T>> for Vector<T> {
    fn from(elements: Vec<T>) -> Vector<T> {
        let elements = ManuallyDrop::new(elements.into_boxed_slice());
        let length = elements.len();
        let first = NonNull::from(&**elements).cast::<T>();
        let layout = Layout::for_value(&**elements);
        let memory = Memory((layout.size() > 0).then(|| (first.cast(), Source::Box(layout))));
        Vector { elements: first, length, memory }
    }
}

impl<T, const N: usize> From<[T; N]> for Vector<T> {
    fn from(elements: [T; N]) -> Vector<T> {
        Vector::from_iter(elements)
    }
}

impl<T> IntoIterator for Vector<T> {
    type Item = T;
    type IntoIter = IntoIter<T>;

    fn into_iter(self) -> IntoIter<T> {
        let mut vector = ManuallyDrop::new(self);
        IntoIter { next: vector.elements, left: vector.length, _memory: vector.memory.take() }
    }
}

/// The elements of a [`Vector`], by value.
pub struct IntoIter<T> {
    next: NonNull<T>,
    left: usize,
    _memory: Memory,
}

// SAFETY: as for the vector.
unsafe impl<T: Send> Send for IntoIter<T> {}

impl<T> Iterator for IntoIter<T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        if self.left == 0 {
            return None;
        }
        self.left -= 1;
        let element = self.next;
        // SAFETY: within the elements, or one past their end.
        self.next = unsafe { element.add(1) };
        // SAFETY: not read before, and not again.
        Some(unsafe { element.read() })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl<T> ExactSizeIterator for IntoIter<T> {}

impl<T> Drop for IntoIter<T> {
    fn drop(&mut self) {
        // SAFETY: those that have not been read. The memory goes afterwards.
        unsafe { NonNull::slice_from_raw_parts(self.next, self.left).drop_in_place() };
    }
}

impl<T> std::fmt::Debug for IntoIter<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("IntoIter").field("left", &self.left).finish_non_exhaustive()
    }
}

/// Writes `length` elements, which the iterator says that it has.
///
/// # Panics
/// If it has fewer; then, or if it panics, those that have been written are destroyed.
///
/// # Safety
/// Room for as many elements.
#[inline(always)]
pub(super) unsafe fn write_all<T>(at: NonNull<T>, length: usize, mut elements: impl Iterator<Item = T>) {
    struct Written<T>(NonNull<T>, usize);
    impl<T> Drop for Written<T> {
        fn drop(&mut self) {
            // SAFETY: as many have been written.
            unsafe { NonNull::slice_from_raw_parts(self.0, self.1).drop_in_place() };
        }
    }

    let mut written = Written(at, 0);
    while written.1 < length {
        let Some(element) = elements.next() else {
            panic!("an iterator of {length} elements gave {} only", written.1);
        };
        // SAFETY: below the length.
        unsafe { at.add(written.1).write(element) };
        written.1 += 1;
    }
    // It may panic, too.
    drop(elements);
    mem::forget(written);
}
