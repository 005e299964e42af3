//! Ends that combine items into one value: `for_each`, `reduce`, `sum`, `min` and the like.

use std::any;
use std::iter::{Product, Sum};
use std::marker::PhantomData;

use crate::par::consumer::{Consumer, Leaf};

/// The end of [`for_each`](crate::par::ParallelIterator::for_each).
#[derive(Debug)]
pub struct ForEach<F>(pub(crate) F);

impl<T, F: Fn(T) + Send + Sync> Consumer<T> for ForEach<F> {
    type Part = ();
    type Output = ();
    #[inline(always)]
    fn ignores_cuts() -> bool {
        true
    }
    #[inline]
    unsafe fn leaf(&self, _: Leaf, items: impl Iterator<Item = T>) {
        items.for_each(&self.0);
    }
    fn join(&self, (): (), (): ()) {}
    fn finish(self, (): ()) {}
}

/// The end of [`reduce`](crate::par::ParallelIterator::reduce).
#[derive(Debug)]
pub struct Reduce<N, F> {
    pub(crate) identity: N,
    pub(crate) op: F,
}

impl<T: Send, N: Fn() -> T + Send + Sync, F: Fn(T, T) -> T + Send + Sync> Consumer<T> for Reduce<N, F> {
    type Part = T;
    type Output = T;
    #[inline]
    unsafe fn leaf(&self, _: Leaf, mut items: impl Iterator<Item = T>) -> T {
        // The value of a fold's leaf, for example, which may be long, need not be combined with nothing.
        if items.size_hint() == (1, Some(1))
            && let Some(only) = items.next()
        {
            return only;
        }
        items.fold((self.identity)(), &self.op)
    }
    fn join(&self, left: T, right: T) -> T {
        (self.op)(left, right)
    }
    fn finish(self, whole: T) -> T {
        whole
    }
}

/// Combines the values of two leaves, either of which may have none.
#[inline]
fn either<T>(left: Option<T>, right: Option<T>, both: impl FnOnce(T, T) -> T) -> Option<T> {
    match (left, right) {
        (Some(left), Some(right)) => Some(both(left, right)),
        (left, right) => left.or(right),
    }
}

/// The end of [`reduce_with`](crate::par::ParallelIterator::reduce_with).
#[derive(Debug)]
pub struct ReduceWith<F>(pub(crate) F);

impl<T: Send, F: Fn(T, T) -> T + Send + Sync> Consumer<T> for ReduceWith<F> {
    type Part = Option<T>;
    type Output = Option<T>;
    #[inline]
    unsafe fn leaf(&self, _: Leaf, items: impl Iterator<Item = T>) -> Option<T> {
        items.reduce(&self.0)
    }
    fn join(&self, left: Option<T>, right: Option<T>) -> Option<T> {
        either(left, right, &self.0)
    }
    fn finish(self, whole: Option<T>) -> Option<T> {
        whole
    }
}

/// The end of `min`, or of `max`.
#[derive(Debug)]
pub struct Extreme<const MAX: bool>;

impl<const MAX: bool, T: Ord + Send> Consumer<T> for Extreme<MAX> {
    type Part = Option<T>;
    type Output = Option<T>;
    #[inline(always)]
    fn ignores_cuts() -> bool {
        true
    }
    #[inline]
    unsafe fn leaf(&self, _: Leaf, items: impl Iterator<Item = T>) -> Option<T> {
        if MAX { items.max() } else { items.min() }
    }
    fn join(&self, left: Option<T>, right: Option<T>) -> Option<T> {
        either(left, right, if MAX { T::max } else { T::min })
    }
    fn finish(self, whole: Option<T>) -> Option<T> {
        whole
    }
}

/// The end of `min_by` and `max_by`: keeps the first of two items for which the function is true, else the second.
#[derive(Debug)]
pub struct Best<F>(pub(crate) F);

impl<T: Send, F: Fn(&T, &T) -> bool + Send + Sync> Consumer<T> for Best<F> {
    type Part = Option<T>;
    type Output = Option<T>;
    #[inline]
    unsafe fn leaf(&self, _: Leaf, items: impl Iterator<Item = T>) -> Option<T> {
        items.reduce(|a, b| if (self.0)(&a, &b) { a } else { b })
    }
    fn join(&self, left: Option<T>, right: Option<T>) -> Option<T> {
        either(left, right, |a, b| if (self.0)(&a, &b) { a } else { b })
    }
    fn finish(self, whole: Option<T>) -> Option<T> {
        whole
    }
}

/// The end of `min_by_key` and `max_by_key`.
#[derive(Debug)]
pub struct BestByKey<G, F> {
    key: G,
    first_is_best: F,
}

impl<G, F> BestByKey<G, F> {
    pub(crate) fn new(key: G, first_is_best: F) -> BestByKey<G, F> {
        BestByKey { key, first_is_best }
    }
}

impl<T, K, G, F> Consumer<T> for BestByKey<G, F>
where
    T: Send,
    K: Send,
    G: Fn(&T) -> K + Send + Sync,
    F: Fn(&K, &K) -> bool + Send + Sync,
{
    type Part = Option<(K, T)>;
    type Output = Option<T>;
    #[inline]
    unsafe fn leaf(&self, _: Leaf, items: impl Iterator<Item = T>) -> Self::Part {
        let keyed = items.map(|item| ((self.key)(&item), item));
        keyed.reduce(|a, b| if (self.first_is_best)(&a.0, &b.0) { a } else { b })
    }
    fn join(&self, left: Self::Part, right: Self::Part) -> Self::Part {
        either(left, right, |a, b| if (self.first_is_best)(&a.0, &b.0) { a } else { b })
    }
    fn finish(self, whole: Self::Part) -> Option<T> {
        whole.map(|(_, item)| item)
    }
}

/// Returns whether this is a type of unsigned integers: their sums overflow wherever the items are cut, or nowhere. std does not
/// promise the names of types; under another name, a type's sums would only cost more.
#[inline(always)]
fn is_unsigned<S>() -> bool {
    matches!(any::type_name::<S>(), "u8" | "u16" | "u32" | "u64" | "u128" | "usize")
}

macro_rules! std_sums {
    ($($(#[$doc:meta])* $name:ident: $trait:ident $method:ident, ignores_cuts = $ignores:expr;)+) => {$(
        $(#[$doc])*
        #[derive(Debug)]
        pub struct $name<S>(PhantomData<fn() -> S>);

        impl<S> $name<S> {
            pub(crate) fn new() -> Self {
                $name(PhantomData)
            }
        }

        impl<T, S: Send + $trait<T> + $trait<S>> Consumer<T> for $name<S> {
            type Part = S;
            type Output = S;
            #[inline(always)]
            fn ignores_cuts() -> bool {
                $ignores
            }
            #[inline]
            unsafe fn leaf(&self, _: Leaf, items: impl Iterator<Item = T>) -> S {
                items.$method()
            }
            fn join(&self, left: S, right: S) -> S {
                [left, right].into_iter().$method()
            }
            fn finish(self, whole: S) -> S {
                whole
            }
        }
    )+};
}

std_sums! {
    /// The end of [`sum`](crate::par::ParallelIterator::sum).
    Sums: Sum sum, ignores_cuts = is_unsigned::<S>();
    /// The end of [`product`](crate::par::ParallelIterator::product).
    Products: Product product, ignores_cuts = false;
}

/// The end of [`count`](crate::par::ParallelIterator::count).
#[derive(Debug)]
pub struct Count;

impl<T> Consumer<T> for Count {
    type Part = usize;
    type Output = usize;
    #[inline(always)]
    fn ignores_cuts() -> bool {
        true
    }
    #[inline]
    unsafe fn leaf(&self, _: Leaf, items: impl Iterator<Item = T>) -> usize {
        items.count()
    }
    fn join(&self, left: usize, right: usize) -> usize {
        left + right
    }
    fn finish(self, whole: usize) -> usize {
        whole
    }
}
