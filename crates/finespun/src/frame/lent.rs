//! Cells for locals that a task lends to its callees.
//!
//! A task in the stack schema leaves the stack when a callee must wait, and its locals move to a frame. A callee that has
//! borrowed a local would be left with a dangling reference. So a local that is lent across an await lives in a block of
//! its own, from the statement that may lend it until its scope ends or it gets its value back, and only the block's address
//! moves.
//!
//! rustc cannot know this, so generated code gets references of any lifetime ([`lent`]). That the body never uses them
//! longer than the local lives is checked on a copy of the body that is never called, in which the local is a plain one.

use std::alloc::Layout;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, VecDeque};
use std::marker::PhantomData;
use std::mem::{needs_drop, offset_of};
use std::ptr::NonNull;
use std::sync::atomic::{
    AtomicBool, AtomicI8, AtomicI16, AtomicI32, AtomicI64, AtomicIsize, AtomicU8, AtomicU16, AtomicU32, AtomicU64,
    AtomicUsize,
};

use super::context::try_cx;
use super::pool::{self, Class, GRAIN};

/// The content of a block. The first words belong to the pool: a block whose table word is null is no frame.
#[repr(C)]
struct Content<T> {
    _slot: usize,
    table: usize,
    _claim_and_run: u64,
    /// Whether the value has been moved out; unused if the type has no destructor.
    moved: bool,
    value: T,
}

/// A local in a block of its own: see [`lend`].
#[derive(Debug)]
pub struct Lent<T> {
    block: Block,
    _owned: PhantomData<T>,
}

/// A block with a content. It does not name the content's type, so that the value may refer to locals that end before the
/// cell, if its type allows that.
#[derive(Debug)]
struct Block {
    at: NonNull<u8>,
    end: unsafe fn(NonNull<u8>),
}

impl Drop for Block {
    #[inline(always)]
    fn drop(&mut self) {
        // SAFETY: `end` is `Lent::end` of the content's type, and called once.
        unsafe { (self.end)(self.at) };
    }
}

// SAFETY: the cell owns its value, and a block may be freed on any thread.
unsafe impl<T: Send> Send for Lent<T> {}

impl<T> Lent<T> {
    const CLASS: Class = {
        let layout = Layout::new::<Content<T>>();
        let align = if layout.align() < GRAIN { GRAIN } else { layout.align() };
        match layout.size() <= pool::MAX_POOLED && align == GRAIN {
            true => Class::pooled(layout.size()),
            false => Class::Large(layout),
        }
    };

    fn content(&self) -> *mut Content<T> {
        self.block.at.as_ptr().cast()
    }

    /// Destroys the value, unless it has been moved out, and frees the block.
    ///
    /// # Safety
    /// The block was made by [`lend`], and is used no more.
    unsafe fn end(block: NonNull<u8>) {
        struct Free<T>(NonNull<u8>, PhantomData<T>);
        impl<T> Drop for Free<T> {
            #[inline(always)]
            fn drop(&mut self) {
                // SAFETY: the block came from a pool with this class, and its value is gone.
                unsafe { pool::free(self.0, Lent::<T>::CLASS) };
            }
        }
        let _free = Free::<T>(block, PhantomData);
        let content = block.as_ptr().cast::<Content<T>>();
        // SAFETY: the caller guarantees a content. A value that has not been moved out is dropped once.
        unsafe {
            if needs_drop::<T>() && !(*content).moved {
                (&raw mut (*content).value).drop_in_place();
            }
        }
    }

    fn value(&self) -> *mut T {
        // SAFETY: the block holds a content.
        unsafe { &raw mut (*self.content()).value }
    }
}

/// Moves a value into a cell.
///
/// # Panics
/// Panics outside of workers.
#[inline(always)]
pub fn lend<T>(value: T) -> Lent<T> {
    let cx = try_cx().expect("tasks run on workers");
    let block = cx.core().pool().allocate(Lent::<T>::CLASS).cast::<u8>();
    let content = block.as_ptr().cast::<Content<T>>();
    // SAFETY: the block is as large and aligned as its class says, and new.
    unsafe {
        (*content).table = 0;
        (&raw mut (*content).moved).write(false);
        (&raw mut (*content).value).write(value);
    }
    Lent { block: Block { at: block, end: Lent::<T>::end }, _owned: PhantomData }
}

/// Returns a reference to the value of a cell.
///
/// # Safety
/// The reference is used only while the cell lives, and its value has not been moved out.
#[inline(always)]
pub unsafe fn lent<'a, T>(cell: &Lent<T>) -> &'a T {
    // SAFETY: the cell holds a value, which the caller guarantees to stay where it is.
    unsafe { &*cell.value() }
}

/// Returns an exclusive reference to the value of a cell.
///
/// # Safety
/// As for [`lent`]; while the reference is used, no other is.
#[inline(always)]
pub unsafe fn lent_mut<'a, T>(cell: &Lent<T>) -> &'a mut T {
    // SAFETY: the cell holds a value, which the caller guarantees to stay where it is, and to use nowhere else.
    unsafe { &mut *cell.value() }
}

impl<T> Lent<T> {
    /// Copies or moves the value out of a cell, through a reference to it. A method, so that rustc knows the type before it
    /// may coerce the value.
    ///
    /// # Safety
    /// The reference is to the cell's value, which has not been moved out. If its type is not `Copy`, it is used only as
    /// what this returns from now on.
    #[inline(always)]
    pub unsafe fn __taken(&self, value: &T) -> T {
        if needs_drop::<T>() {
            // SAFETY: the cell's own flag, which only this thread uses at this time.
            unsafe { (*self.content()).moved = true };
        }
        // SAFETY: the caller guarantees that the value is not used twice.
        unsafe { std::ptr::from_ref(value).read() }
    }

    /// As [`taken`](Lent::taken), where the task compiler takes the type for one of std's because of its name.
    ///
    /// # Safety
    /// As for `taken`.
    #[inline(always)]
    pub unsafe fn __taken_of_std(&self, value: &T) -> T
    where
        T: OfStd,
    {
        // SAFETY: the caller guarantees it.
        unsafe { self.__taken(value) }
    }

    /// As [`taken`](Lent::taken), where old references may still read the content of the cell.
    ///
    /// # Safety
    /// As for `taken`.
    #[inline(always)]
    pub unsafe fn __taken_back(&self, value: &T) -> T
    where
        T: Frozen,
    {
        // SAFETY: the caller guarantees it. What is left in the cell is never dropped, and does not change.
        unsafe { self.__taken(value) }
    }
}

/// Moves a local in the checked copy of a body, where it gets its value back: rustc sees which references are left.
#[must_use]
pub fn moved<T>(value: T) -> T {
    value
}

/// A type whose values a closure may copy out of a cell.
#[diagnostic::on_unimplemented(
    message = "a closure takes this `{Self}`, which callees of the task may have borrowed",
    label = "in this task",
    note = "bind the value to a new local before the closure, or choose `#[task(pinned)]`"
)]
pub trait CopiedInClosure: Copy {}
impl<T: Copy> CopiedInClosure for T {}

/// A type of std whose `into_` methods take `self` by value.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has the name of a type of std, but is not this type",
    label = "taken for std's, because of its name",
    note = "import the type under another name, or choose `#[task(pinned)]`"
)]
pub trait OfStd {}

/// A type whose values do not change through shared references, but for what they keep elsewhere.
///
/// # Safety
/// The type contains no `UnsafeCell`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has the name of a type of std, but is not this type",
    label = "taken for std's, because of its name",
    note = "import the type under another name, or choose `#[task(pinned)]`"
)]
pub unsafe trait Frozen {}

macro_rules! of_std {
    ($($ty:ty),+) => { $(impl OfStd for $ty {})+ };
}

macro_rules! frozen {
    ($($ty:ty),+) => {
        // SAFETY: a number contains no cell.
        $(unsafe impl Frozen for $ty {})+
    };
}

of_std!(String, AtomicBool, AtomicU8, AtomicU16, AtomicU32, AtomicU64, AtomicUsize);
of_std!(AtomicI8, AtomicI16, AtomicI32, AtomicI64, AtomicIsize);
impl<T> OfStd for Vec<T> {}
impl<T> OfStd for VecDeque<T> {}
impl<K, V> OfStd for BTreeMap<K, V> {}
impl<T> OfStd for BTreeSet<T> {}
impl<T> OfStd for BinaryHeap<T> {}

frozen!(bool, char, u8, u16, u32, u64, u128, usize, i8, i16, i32, i64, i128, isize, f32, f64);
// SAFETY: the elements of a collection are elsewhere.
unsafe impl Frozen for String {}
// SAFETY: as above.
unsafe impl<T> Frozen for Vec<T> {}
// SAFETY: as above.
unsafe impl<T> Frozen for VecDeque<T> {}
// SAFETY: as above.
unsafe impl<K, V> Frozen for BTreeMap<K, V> {}
// SAFETY: as above.
unsafe impl<T> Frozen for BTreeSet<T> {}
// SAFETY: as above.
unsafe impl<T> Frozen for BinaryHeap<T> {}
// SAFETY: a reference does not change, whatever it refers to.
unsafe impl<T: ?Sized> Frozen for &T {}

/// A place in a cell: see [`place`].
#[derive(Debug)]
pub struct Place<'a, T>(&'a T);

/// Names a place in a cell, to copy its value.
#[inline(always)]
pub fn place<T>(value: &T) -> Place<'_, T> {
    Place(value)
}

impl<T> Place<'_, T> {
    /// Copies or moves the value of a place, which has no destructor.
    ///
    /// # Safety
    /// If the type is not `Copy`, the value is used only as what this returns from now on.
    #[inline(always)]
    pub unsafe fn copied(self) -> T {
        // SAFETY: the caller guarantees that the value is not used twice; it has no destructor that would use it.
        unsafe { std::ptr::from_ref(self.0).read() }
    }

    /// Copies the value of a place for a closure.
    #[inline(always)]
    pub fn copied_in_closure(self) -> T
    where
        T: CopiedInClosure,
    {
        *self.0
    }
}

const _: () = assert!(offset_of!(Content<u8>, moved) >= 24);

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::Runtime;
    use std::sync::Arc;

    #[test]
    fn values_are_dropped_once_moved_or_not() {
        let runtime = Runtime::builder().workers(1).build().unwrap();
        let counted = Arc::new(());
        let inner = Arc::clone(&counted);
        let task = move || {
            let cell = lend(Arc::clone(&inner));
            // SAFETY: the cell outlives the reference.
            assert_eq!(Arc::strong_count(unsafe { lent(&cell) }), 3);
            drop(cell);
            assert_eq!(Arc::strong_count(&inner), 2);
            let cell = lend([inner, Arc::new(())]);
            // SAFETY: the value is not used in the cell any more.
            let moved = unsafe { cell.__taken(lent(&cell)) };
            drop(cell);
            assert_eq!(Arc::strong_count(&moved[0]), 2);
            let large = lend([7u8; 4096]);
            // SAFETY: the cell outlives the reference.
            assert_eq!(unsafe { lent(&large) }[4095], 7);
        };
        // SAFETY: the function awaits nothing.
        runtime.run(unsafe { crate::__rt::straight_task(task) });
        assert_eq!(Arc::strong_count(&counted), 1);
    }
}
