//! Compile-time questions about destructors, which generated code asks about the user's types.
//!
//! A pattern that binds every field of a value leaves nothing to drop, unless the value's type implements `Drop`: then
//! the pattern can only copy the fields, and the value itself must still be dropped. Only rustc can distinguish the two
//! cases.

use std::marker::PhantomData;

/// Answers whether `T` itself implements `Drop`, independent of its fields: `<Drops<T>>::ITSELF`, with [`NoDrop`] in
/// scope.
pub struct Drops<T: ?Sized>(PhantomData<T>);

#[allow(drop_bounds, reason = "the question is about the type's own destructor")]
impl<T: ?Sized + Drop> Drops<T> {
    /// The answer for a type that implements `Drop`.
    pub const ITSELF: bool = true;
}

/// The answer for types without a destructor of their own. An inherent constant takes precedence over the trait's.
pub trait NoDrop {
    /// The answer for a type that does not implement `Drop`.
    const ITSELF: bool = false;
}

impl<T: ?Sized> NoDrop for Drops<T> {}

/// Asserts at compile time that a local has nothing to drop, so that it may be left behind on the stack. The task
/// compiler has only guessed this, from the name of a method or from a reference.
#[inline(always)]
pub fn undropped<T: ?Sized>(_: &T) {
    const {
        assert!(
            !std::mem::needs_drop::<T>(),
            "a local of a task has a destructor that the task compiler cannot see from the expression: annotate the local's type, or choose \
             `#[task(pinned)]`"
        )
    }
}

/// The iterator of a `for` loop, which has no name in the program. Its method `undropped` makes the same assertion as
/// [`undropped`].
///
/// Without the assertion, this iterator, which is made from a reference and holds a lock, would be dropped before the
/// loop ends:
///
/// ```compile_fail,E0080
/// use std::sync::{Mutex, MutexGuard};
/// use finespun::prelude::*;
///
/// struct Shelf(Mutex<Vec<u64>>);
/// struct Books<'a>(MutexGuard<'a, Vec<u64>>, usize);
/// impl Iterator for Books<'_> {
///     type Item = u64;
///     fn next(&mut self) -> Option<u64> {
///         self.1 += 1;
///         self.0.get(self.1 - 1).copied()
///     }
/// }
/// impl<'a> IntoIterator for &'a Shelf {
///     type Item = u64;
///     type IntoIter = Books<'a>;
///     fn into_iter(self) -> Books<'a> {
///         Books(self.0.lock().unwrap(), 0)
///     }
/// }
/// #[task]
/// async fn find(shelf: &'static Shelf) -> u64 {
///     let books = shelf;
///     for book in books {
///         if book == 2 {
///             yield_now().await;
///             return book;
///         }
///     }
///     0
/// }
/// static SHELF: Shelf = Shelf(Mutex::new(Vec::new()));
/// assert_eq!(Runtime::new().unwrap().run(find(&SHELF)), 0);
/// ```
///
/// An array's iterator has a destructor, which does nothing if the elements have none.
pub struct Iterating<'a, T: ?Sized>(pub &'a T);

impl<T, const N: usize> Iterating<'_, std::array::IntoIter<T, N>> {
    /// Asserts that the elements have nothing to drop.
    #[inline(always)]
    pub fn undropped(self) {
        iterator_undropped::<T>();
    }
}

/// The same check for other iterators. An inherent method takes precedence over the trait's.
pub trait OtherThanArrays: Sized {
    /// Asserts that the iterator has nothing to drop.
    fn undropped(self);
}

impl<T: ?Sized> OtherThanArrays for Iterating<'_, T> {
    #[inline(always)]
    fn undropped(self) {
        iterator_undropped::<T>();
    }
}

#[inline(always)]
fn iterator_undropped<T: ?Sized>() {
    const {
        assert!(
            !std::mem::needs_drop::<T>(),
            "the iterator of a `for` loop around an await has a destructor that the task compiler cannot see from the expression: bind the \
             iterator with `let` and loop over that, or choose `#[task(pinned)]`"
        )
    }
}

/// Returns `receiver`, a temporary on which a method is called, and which lives to the end of a statement with an
/// await. Asserts at compile time that it has nothing to drop.
///
/// Without the assertion, this guard, on which a method of the number behind it is called, would be released before the
/// await:
///
/// ```compile_fail,E0080
/// use std::ops::Deref;
/// use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
/// use finespun::prelude::*;
///
/// struct Guard<'a>(&'a AtomicBool, u64);
/// impl Deref for Guard<'_> {
///     type Target = u64;
///     fn deref(&self) -> &u64 {
///         &self.1
///     }
/// }
/// impl Drop for Guard<'_> {
///     fn drop(&mut self) {
///         self.0.store(false, SeqCst);
///     }
/// }
/// fn lock(held: &AtomicBool) -> Guard<'_> {
///     held.store(true, SeqCst);
///     Guard(held, 3)
/// }
/// #[task]
/// async fn is_held(held: &AtomicBool, n: u64) -> bool {
///     yield_now().await;
///     n == 9 && held.load(SeqCst)
/// }
/// #[task]
/// async fn squared(held: &AtomicBool) -> bool {
///     is_held(held, lock(held).pow(2)).await
/// }
/// assert!(Runtime::new().unwrap().run(squared(&AtomicBool::new(false))));
/// ```
///
/// In a pinned task, the guard is held until the statement ends:
///
/// ```
/// # use std::ops::Deref;
/// # use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
/// # use finespun::prelude::*;
/// #
/// # struct Guard<'a>(&'a AtomicBool, u64);
/// # impl Deref for Guard<'_> {
/// #     type Target = u64;
/// #     fn deref(&self) -> &u64 {
/// #         &self.1
/// #     }
/// # }
/// # impl Drop for Guard<'_> {
/// #     fn drop(&mut self) {
/// #         self.0.store(false, SeqCst);
/// #     }
/// # }
/// # fn lock(held: &AtomicBool) -> Guard<'_> {
/// #     held.store(true, SeqCst);
/// #     Guard(held, 3)
/// # }
/// # #[task]
/// # async fn is_held(held: &AtomicBool, n: u64) -> bool {
/// #     yield_now().await;
/// #     n == 9 && held.load(SeqCst)
/// # }
/// #[task(pinned)]
/// async fn squared(held: &AtomicBool) -> bool {
///     is_held(held, lock(held).pow(2)).await
/// }
/// assert!(Runtime::new().unwrap().run(squared(&AtomicBool::new(false))));
/// ```
///
/// The same assertion applies to results of operators and to arrays, where they are borrowed or compared:
///
/// ```compile_fail,E0080
/// # use finespun::prelude::*;
/// # struct Guard(u64);
/// # impl Drop for Guard {
/// #     fn drop(&mut self) {}
/// # }
/// # fn sum(all: &[Guard]) -> u64 {
/// #     all.iter().map(|guard| guard.0).sum()
/// # }
/// # #[task]
/// # async fn one(n: u64) -> u64 {
/// #     yield_now().await;
/// #     n
/// # }
/// #[task]
/// async fn summed(a: Guard, b: Guard) -> u64 {
///     one(sum(&[a, b])).await
/// }
/// assert_eq!(Runtime::new().unwrap().run(summed(Guard(1), Guard(2))), 3);
/// ```
#[inline(always)]
pub fn left_behind<T>(receiver: T) -> T {
    nothing_to_drop::<T>();
    receiver
}

#[inline(always)]
fn nothing_to_drop<T>() {
    const {
        assert!(
            !std::mem::needs_drop::<T>(),
            "a temporary in an awaited expression, or beside an await, has a destructor that the task compiler cannot \
             see from a method's name: bind the temporary with `let` first, or choose `#[task(pinned)]`"
        )
    }
}

/// Like [`left_behind`], for a method name with which some types take their receiver by value. The receiver may have a
/// destructor if its type is one of these: `check` decides.
///
/// An iterator's `sum` takes the iterator, which leaves nothing behind. But this `sum`, of the value in a `Box`,
/// borrows, so the box would be left behind:
///
/// ```compile_fail,E0080
/// # use finespun::prelude::*;
/// trait Meter: Send {
///     fn sum(&self) -> u64;
/// }
/// struct Flow(Vec<u64>);
/// impl Meter for Flow {
///     fn sum(&self) -> u64 {
///         self.0.iter().sum()
///     }
/// }
/// fn meter() -> Box<dyn Meter> {
///     Box::new(Flow(vec![1, 2]))
/// }
/// # #[task]
/// # async fn one(n: u64) -> u64 {
/// #     n
/// # }
/// #[task]
/// async fn measured() -> u64 {
///     one(meter().sum()).await
/// }
/// assert_eq!(Runtime::new().unwrap().run(measured()), 3);
/// ```
#[inline(always)]
pub fn consumed<T>(receiver: T, check: impl FnOnce(&T)) -> T {
    check(&receiver);
    receiver
}

/// The receiver of a method call. Generated code calls `check` on a `&&&Receiver`, with [`NoValue`] in scope and those
/// traits below whose types have a method of the called name that takes its receiver. Method lookup tries the traits
/// for `&&Receiver` first, then the one for `&Receiver`, and [`NoValue`] last.
pub struct Receiver<'a, T>(pub &'a T);

/// Declares traits for types whose method of a given name takes its receiver, and so is responsible for dropping it.
macro_rules! takers {
    ($($(#[$doc:meta])* $name:ident: $(($($generics:tt)*) $ty:ty),+;)+) => { $(
        $(#[$doc])*
        pub trait $name {
            /// Accepts the receiver, which may have a destructor.
            #[inline(always)]
            fn check(&self) {}
        }
        $(impl<$($generics)*> $name for $ty {})+
    )+ };
}

takers! {
    /// Types with `unwrap`, `map` and other methods of options.
    OfOption: (T) &&Receiver<'_, Option<T>>;
    /// Types with `unwrap`, `map` and other methods of results.
    OfResult: (T, E) &&Receiver<'_, Result<T, E>>;
    /// Types with `map` of arrays.
    OfArray: (T, const N: usize) &&Receiver<'_, [T; N]>;
    /// Types with `into_boxed_slice`.
    OfVec: (T) &&Receiver<'_, Vec<T>>;
    /// Types with `min`, `max` and `clamp` of ordered values.
    Ordered: (T: Ord) &&Receiver<'_, T>;
    /// Types with `into_iter`.
    IntoIterates: (T: IntoIterator) &&Receiver<'_, T>;
    /// Types with methods of iterators.
    Iterates: (T: Iterator) &Receiver<'_, T>;
}

/// Any other type.
pub trait NoValue {
    /// Asserts that the receiver has nothing to drop.
    fn check(&self);
}

impl<T> NoValue for Receiver<'_, T> {
    #[inline(always)]
    fn check(&self) {
        nothing_to_drop::<T>();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Own<'a>(&'a str);
    impl Drop for Own<'_> {
        fn drop(&mut self) {}
    }
    struct OfField<'a>(Own<'a>);
    struct Generic<T>(T);
    impl<T> Drop for Generic<T> {
        fn drop(&mut self) {}
    }

    fn of_generic<T>() -> [bool; 2] {
        [<Drops<Generic<T>>>::ITSELF, <Drops<Option<T>>>::ITSELF]
    }

    #[test]
    fn a_destructor_of_a_field_is_not_one_of_the_type() {
        let of_own = [<Drops<Own<'_>>>::ITSELF, <Drops<OfField<'_>>>::ITSELF, <Drops<(Own<'_>, u8)>>::ITSELF];
        assert_eq!(of_own, [true, false, false]);
        assert_eq!(of_generic::<Own<'_>>(), [true, false]);
        let _ = (Own("").0, OfField(Own("")).0, Generic(0u8).0);
    }
}
