//! Vectors in closures: elements stored behind the closure's other arguments. Their number is fixed when the closure is
//! made.

use std::alloc::{Layout, dealloc};
use std::mem::{self, ManuallyDrop};
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;

use crate::frame::pool::{self, Class};
use crate::frame::{FrameRef, quietly};

use super::argument::{Dropped, is_dropped};

/// The part after a thread's other arguments: nothing, or a [`Vector`]. Sealed.
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

    /// Returns the index of the element at this offset from the first.
    #[doc(hidden)]
    fn index(offset: usize) -> usize {
        offset / size_of::<Self::Element>().max(1)
    }

    /// Takes the tail of a closure that runs.
    ///
    /// # Safety
    /// `at` points to `length` initialized elements in `memory`, and the tail owns them from now on.
    #[doc(hidden)]
    unsafe fn take(memory: Memory, at: NonNull<u8>, length: Self::Length) -> Self;

    /// # Safety
    /// `at` points to `length` initialized elements, which the caller may access exclusively.
    #[doc(hidden)]
    unsafe fn slice<'a>(at: NonNull<u8>, length: Self::Length) -> &'a mut [Self::Element];

    /// Destroys all elements except the dropped ones. The first element is at `at`, whose offset in the closure is
    /// `offset`.
    ///
    /// # Safety
    /// The elements that are not dropped are initialized, and are not used any more.
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

/// The type of a thread's last parameter if it is a vector: a slice that the thread owns.
///
/// The closure's memory contains the elements, and lives as long as the vector. A `tail_call` forwards the vector
/// without copying.
pub struct Vector<T> {
    elements: NonNull<T>,
    length: usize,
    memory: Memory,
}

/// The memory of a closure, or of a vector's elements; freed on drop.
#[doc(hidden)]
#[derive(Debug)]
pub struct Memory(Option<(NonNull<u8>, Source)>);

/// The allocator of a `Memory`.
#[derive(Debug)]
enum Source {
    Closure(Class),
    /// A boxed slice of the program.
    Box(Layout),
}

impl Memory {
    /// # Safety
    /// The closure's memory is of this class, and no other owner frees it.
    #[inline(always)]
    pub(super) unsafe fn of(closure: FrameRef, class: Class) -> Memory {
        Memory(Some((closure.cast(), Source::Closure(class))))
    }

    fn take(&mut self) -> Memory {
        Memory(self.0.take())
    }
}

impl Memory {
    /// Frees the memory. Takes `self` by value and inlines, so that for a closure without a vector only the call of the
    /// pool remains.
    #[inline(always)]
    fn free(self) {
        ManuallyDrop::new(self).give_back();
    }

    #[inline(always)]
    fn give_back(&mut self) {
        match self.0.take() {
            // SAFETY: the maker of this `Memory` guarantees that it is a closure's; its values have been moved out or
            // destroyed.
            Some((memory, Source::Closure(class))) => unsafe { pool::free(memory, class) },
            // SAFETY: the global allocator has allocated the box with this layout; its values have been moved out or
            // destroyed.
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

// SAFETY: the vector owns its elements; any thread may free the memory.
unsafe impl<T: Send> Send for Vector<T> {}
// SAFETY: a shared vector gives access to a shared slice only.
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
        // SAFETY: the caller guarantees `length` initialized elements, and exclusive access to them.
        unsafe { NonNull::slice_from_raw_parts(at.cast(), length).as_mut() }
    }

    unsafe fn destroy(at: NonNull<u8>, offset: usize, length: usize, dropped: &[Dropped]) {
        let size = size_of::<T>();
        // Zero-sized elements all have one offset, and are interchangeable.
        let alike = dropped.iter().filter(|hole| size == 0 && hole.offset == offset && hole.size == 0).count();
        for within in (0..length.saturating_sub(alike)).map(|index| index * size) {
            if size == 0 || !is_dropped(dropped, offset + within, size) {
                // User code, whose panics cannot be reported.
                // SAFETY: the caller guarantees that elements which are not dropped are initialized and unused.
                quietly(|| unsafe { at.add(within).cast::<T>().drop_in_place() });
            }
        }
    }
}

impl<T> Deref for Vector<T> {
    type Target = [T];
    #[inline]
    fn deref(&self) -> &[T] {
        // SAFETY: the vector owns `length` initialized elements.
        unsafe { NonNull::slice_from_raw_parts(self.elements, self.length).as_ref() }
    }
}

impl<T> DerefMut for Vector<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: the vector owns `length` initialized elements, and `&mut self` is exclusive.
        unsafe { NonNull::slice_from_raw_parts(self.elements, self.length).as_mut() }
    }
}

impl<T> Drop for Vector<T> {
    #[inline]
    fn drop(&mut self) {
        // Frees the memory afterwards, even if a destructor panics.
        let _memory = self.memory.take();
        // SAFETY: the vector owns its elements, which are not used any more.
        unsafe { NonNull::slice_from_raw_parts(self.elements, self.length).drop_in_place() };
    }
}

impl<T: std::fmt::Debug> std::fmt::Debug for Vector<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

/// For an argument of `tail_call`: elements that are not part of a closure yet.
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

// SAFETY: the iterator owns its elements, as the vector did; any thread may free the memory.
unsafe impl<T: Send> Send for IntoIter<T> {}

impl<T> Iterator for IntoIter<T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        if self.left == 0 {
            return None;
        }
        self.left -= 1;
        let element = self.next;
        // SAFETY: the offset is within the elements, or one past their end.
        self.next = unsafe { element.add(1) };
        // SAFETY: the element is initialized, and is read only here.
        Some(unsafe { element.read() })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl<T> ExactSizeIterator for IntoIter<T> {}

impl<T> Drop for IntoIter<T> {
    fn drop(&mut self) {
        // SAFETY: the elements that have not been read are initialized and owned. `_memory` is freed afterwards.
        unsafe { NonNull::slice_from_raw_parts(self.next, self.left).drop_in_place() };
    }
}

impl<T> std::fmt::Debug for IntoIter<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("IntoIter").field("left", &self.left).finish_non_exhaustive()
    }
}

/// Writes the `length` elements of the iterator, which has reported this length.
///
/// # Panics
/// If the iterator has fewer elements. Then, or if the iterator panics, the written elements are destroyed.
///
/// # Safety
/// `at` has room for `length` elements.
#[inline(always)]
pub(super) unsafe fn write_all<T>(at: NonNull<T>, length: usize, mut elements: impl Iterator<Item = T>) {
    struct Written<T>(NonNull<T>, usize);
    impl<T> Drop for Written<T> {
        fn drop(&mut self) {
            // SAFETY: this number of elements has been written.
            unsafe { NonNull::slice_from_raw_parts(self.0, self.1).drop_in_place() };
        }
    }

    let mut written = Written(at, 0);
    while written.1 < length {
        let Some(element) = elements.next() else {
            panic!("an iterator of {length} elements gave {} only", written.1);
        };
        // SAFETY: the index is below `length`, and the caller guarantees room for `length` elements.
        unsafe { at.add(written.1).write(element) };
        written.1 += 1;
    }
    // Before the `forget`: the drop may panic, too.
    drop(elements);
    mem::forget(written);
}
