//! Vectors in closures: elements stored behind the closure's other arguments. Their number is fixed when the closure is
//! made.

use std::alloc::{Layout, dealloc};
use std::mem::{self, ManuallyDrop};
use std::ops::{Deref, DerefMut};
use std::ptr::{self, NonNull};

use crate::frame::context::Cx;
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
    /// `at` points to `length` initialized elements in `memory`, of this class, and the tail owns them from now on. The
    /// `Cx` is the current worker.
    #[doc(hidden)]
    unsafe fn take(memory: Memory, here: Here, at: NonNull<u8>, length: Self::Length) -> Self;

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
    unsafe fn take(memory: Memory, Here(cx, class): Here, _: NonNull<u8>, (): ()) {
        // SAFETY: the caller guarantees the class and the worker.
        unsafe { memory.free(cx, class) };
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

/// The current worker, and the class of a closure's memory.
#[doc(hidden)]
#[derive(Clone, Copy)]
pub struct Here(pub(super) Cx, pub(super) Class);

/// The memory of a closure, or of a vector's elements; freed on drop.
#[doc(hidden)]
#[derive(Debug)]
pub struct Memory {
    /// `None` if there is nothing to free.
    at: Option<NonNull<u8>>,
    source: Source,
}

/// The allocator of a `Memory`, in one word: zero for a closure's block of a pool. Else the layout of a closure's large
/// block, or of a boxed slice of the program.
///
/// ```text
///   63   8 7                          1 0
///   | size | logarithm of the alignment | box |
/// ```
#[derive(Clone, Copy, Debug)]
struct Source(u64);

impl Source {
    const POOL: Source = Source(0);

    const fn with_layout(layout: Layout, is_box: bool) -> Source {
        assert!(layout.size() as u64 <= u64::MAX >> 8, "larger than the address space");
        Source((layout.size() as u64) << 8 | (layout.align().trailing_zeros() as u64) << 1 | is_box as u64)
    }

    /// Frees memory that is not from a block of a pool.
    ///
    /// # Safety
    /// The memory comes from this source, and is not used any more.
    #[cold]
    #[inline(never)]
    unsafe fn free(self, memory: NonNull<u8>) {
        // SAFETY: both are from a layout.
        let layout = unsafe { Layout::from_size_align_unchecked((self.0 >> 8) as usize, 1 << (self.0 >> 1 & 0x7f)) };
        if self.0 & 1 == 0 {
            // SAFETY: the caller guarantees that this is a closure's memory of this layout, not used any more.
            unsafe { pool::free(memory, Class::large(layout)) };
        } else {
            // SAFETY: the caller guarantees that the global allocator has allocated this with this layout.
            unsafe { dealloc(memory.as_ptr(), layout) };
        }
    }
}

impl Memory {
    /// # Safety
    /// The closure's memory is of this class, and no other owner frees it.
    #[inline(always)]
    pub(super) unsafe fn of(closure: FrameRef, class: Class) -> Memory {
        let source = match class {
            Class::Pooled(_) => Source::POOL,
            Class::Large(layout) => Source::with_layout(layout, false),
        };
        Memory { at: Some(closure.cast()), source }
    }

    /// Frees the memory of a closure.
    ///
    /// # Safety
    /// The memory is of this class. `cx` is the current worker, which returns the blocks of other pools later.
    #[inline(always)]
    unsafe fn free(self, cx: Cx, class: Class) {
        if let (Some(memory), Class::Pooled(index)) = (self.at, class) {
            mem::forget(self);
            // SAFETY: the maker of this `Memory` guarantees that it is a closure's; its values have been moved out. The
            // caller guarantees its class, and that `cx` is the current worker, whose thread owns its pool.
            unsafe { cx.core().pool().free_here(memory, index) };
        }
    }
}

impl Drop for Memory {
    #[inline]
    fn drop(&mut self) {
        match self.at {
            // SAFETY: the maker of this `Memory` guarantees its source; its values have been moved out or destroyed.
            Some(memory) if self.source.0 == 0 => unsafe { pool::free_pooled(memory) },
            // SAFETY: as above.
            Some(memory) => unsafe { self.source.free(memory) },
            None => {}
        }
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
    unsafe fn take(memory: Memory, _: Here, at: NonNull<u8>, length: usize) -> Vector<T> {
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
        // The memory is freed afterwards, even if a destructor panics.
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
        let at = (layout.size() > 0).then(|| first.cast());
        let memory = Memory { at, source: Source::with_layout(layout, true) };
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
        let vector = ManuallyDrop::new(self);
        // SAFETY: the vector is not used any more.
        let memory = unsafe { ptr::read(&vector.memory) };
        IntoIter { next: vector.elements, left: vector.length, _memory: memory }
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
