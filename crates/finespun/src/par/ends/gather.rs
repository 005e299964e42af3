//! Ends that collect each leaf into vectors, and make the collections sequentially at the end.

use std::cmp;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet, LinkedList, VecDeque};
use std::hash::{BuildHasher, Hash};
use std::marker::PhantomData;
use std::sync::{Arc, Mutex, PoisonError};

use crate::par::consumer::{Consumer, Leaf};
use crate::par::convert::FromParallelIterator;

/// A value for each leaf. Each lock is taken once, and by one worker.
pub(crate) struct Pieces<T> {
    leaves: Box<[Mutex<Vec<T>>]>,
}

impl<T> Default for Pieces<T> {
    fn default() -> Pieces<T> {
        Pieces { leaves: Box::default() }
    }
}

impl<T> Pieces<T> {
    pub(crate) fn begin(&mut self, leaves: usize) {
        self.leaves = (0..leaves).map(|_| Mutex::new(Vec::new())).collect();
    }

    /// Keeps the items of a leaf.
    #[inline]
    pub(crate) fn put(&self, leaf: &Leaf, items: impl Iterator<Item = T>) {
        // Without growing step by step: a leaf is short, and most items of most leaves are kept.
        let most = items.size_hint().1.unwrap_or(0);
        let mut kept = Vec::with_capacity(cmp::min(most, leaf.indices()));
        // Not `extend`, which takes the items of a filter one by one, from outside of its loop.
        items.for_each(|item| kept.push(item));
        self.keep(leaf, kept);
    }

    fn keep(&self, leaf: &Leaf, items: Vec<T>) {
        *self.leaves[leaf.number].lock().unwrap_or_else(PoisonError::into_inner) = items;
    }

    /// Returns the items of each leaf, in order.
    pub(crate) fn into_leaves(self) -> Vec<Vec<T>> {
        let leaves = self.leaves.into_iter();
        leaves.map(|leaf| leaf.into_inner().unwrap_or_else(PoisonError::into_inner)).collect()
    }

    /// Returns all items in one vector.
    pub(crate) fn concat(self) -> Vec<T> {
        concat(self.into_leaves())
    }
}

fn concat<T>(leaves: Vec<Vec<T>>) -> Vec<T> {
    let mut all = Vec::with_capacity(leaves.iter().map(Vec::len).sum());
    for mut leaf in leaves {
        all.append(&mut leaf);
    }
    all
}

/// The end of [`collect`](crate::par::ParallelIterator::collect) into collections that are made sequentially.
pub struct Gather<T, C> {
    pieces: Pieces<T>,
    make: fn(Vec<Vec<T>>) -> C,
}

impl<T, C> Gather<T, C> {
    /// Returns a consumer that makes a collection, by `make`, of the items of each leaf, in order.
    pub fn new(make: fn(Vec<Vec<T>>) -> C) -> Gather<T, C> {
        Gather { pieces: Pieces::default(), make }
    }
}

impl<T: Send, C: Send> Consumer<T> for Gather<T, C> {
    type Part = ();
    type Output = C;
    #[inline(always)]
    fn ignores_cuts() -> bool {
        true
    }
    fn begin(&mut self, leaves: usize) {
        self.pieces.begin(leaves);
    }
    #[inline]
    unsafe fn leaf(&self, leaf: Leaf, items: impl Iterator<Item = T>) {
        self.pieces.put(&leaf, items);
    }
    fn join(&self, (): (), (): ()) {}
    fn finish(self, (): ()) -> C {
        (self.make)(self.pieces.into_leaves())
    }
}

macro_rules! gathered {
    ($([$($generic:tt)*] $type:ty, $item:ty, $make:expr;)+) => {$(
        impl<$($generic)*> FromParallelIterator<$item> for $type {
            type Consumer = Gather<$item, Self>;
            fn consumer(_: Option<usize>) -> Gather<$item, Self> {
                Gather::new($make)
            }
        }
    )+};
}

/// Makes any collection, of all leaves one after the other.
fn extended<T, C: Default + Extend<T>>(leaves: Vec<Vec<T>>) -> C {
    let mut all = C::default();
    leaves.into_iter().for_each(|leaf| all.extend(leaf));
    all
}

/// Makes a hash table that is not enlarged on the way.
fn reserved<T, C: Default + Extend<T>>(leaves: Vec<Vec<T>>, reserve: impl FnOnce(&mut C, usize)) -> C {
    let mut all = C::default();
    reserve(&mut all, leaves.iter().map(Vec::len).sum());
    leaves.into_iter().for_each(|leaf| all.extend(leaf));
    all
}

gathered! {
    [K: Eq + Hash + Send, V: Send, S: BuildHasher + Default + Send] HashMap<K, V, S>, (K, V), |leaves| reserved(leaves, Self::reserve);
    [T: Eq + Hash + Send, S: BuildHasher + Default + Send] HashSet<T, S>, T, |leaves| reserved(leaves, Self::reserve);
    [K: Ord + Send, V: Send] BTreeMap<K, V>, (K, V), |leaves| leaves.into_iter().flatten().collect();
    [T: Ord + Send] BTreeSet<T>, T, |leaves| leaves.into_iter().flatten().collect();
    [T: Ord + Send] BinaryHeap<T>, T, |leaves| concat(leaves).into();
    [T: Send] VecDeque<T>, T, |leaves| concat(leaves).into();
    [T: Send] LinkedList<T>, T, extended;
    [T: Send] Box<[T]>, T, |leaves| concat(leaves).into();
    [T: Send + Sync] Arc<[T]>, T, |leaves| concat(leaves).into();
    [] String, char, extended;
    ['a] String, &'a char, extended;
    ['a] String, &'a str, extended;
    [] String, String, extended;
    [] String, Box<str>, extended;
    [] (), (), |_| ();
}

/// The end of [`par_extend`](crate::par::ParallelExtend::par_extend).
pub struct Extended<'a, T, C> {
    pieces: Pieces<T>,
    target: &'a mut C,
}

// SAFETY: shared, it gives no access to `target`.
unsafe impl<T: Send, C: Send> Sync for Extended<'_, T, C> {}

impl<'a, T, C> Extended<'a, T, C> {
    pub(crate) fn new(target: &'a mut C) -> Extended<'a, T, C> {
        Extended { pieces: Pieces::default(), target }
    }
}

impl<T: Send, C: Extend<T> + Send> Consumer<T> for Extended<'_, T, C> {
    type Part = ();
    type Output = ();
    #[inline(always)]
    fn ignores_cuts() -> bool {
        true
    }
    fn begin(&mut self, leaves: usize) {
        self.pieces.begin(leaves);
    }
    #[inline]
    unsafe fn leaf(&self, leaf: Leaf, items: impl Iterator<Item = T>) {
        self.pieces.put(&leaf, items);
    }
    fn join(&self, (): (), (): ()) {}
    fn finish(self, (): ()) {
        self.pieces.into_leaves().into_iter().for_each(|leaf| self.target.extend(leaf));
    }
}

/// The end of [`unzip`](crate::par::ParallelIterator::unzip).
pub struct Unzip<A, B, FromA, FromB> {
    a: Pieces<A>,
    b: Pieces<B>,
    made: PhantomData<fn() -> (FromA, FromB)>,
}

impl<A, B, FromA, FromB> Unzip<A, B, FromA, FromB> {
    pub(crate) fn new() -> Self {
        Unzip { a: Pieces::default(), b: Pieces::default(), made: PhantomData }
    }
}

impl<A, B, FromA, FromB> Consumer<(A, B)> for Unzip<A, B, FromA, FromB>
where
    A: Send,
    B: Send,
    FromA: Default + Extend<A> + Send,
    FromB: Default + Extend<B> + Send,
{
    type Part = ();
    type Output = (FromA, FromB);
    #[inline(always)]
    fn ignores_cuts() -> bool {
        true
    }
    fn begin(&mut self, leaves: usize) {
        self.a.begin(leaves);
        self.b.begin(leaves);
    }
    #[inline]
    unsafe fn leaf(&self, leaf: Leaf, items: impl Iterator<Item = (A, B)>) {
        let (a, b) = items.unzip();
        self.a.keep(&leaf, a);
        self.b.keep(&leaf, b);
    }
    fn join(&self, (): (), (): ()) {}
    fn finish(self, (): ()) -> (FromA, FromB) {
        (extended(self.a.into_leaves()), extended(self.b.into_leaves()))
    }
}

/// The end of [`partition`](crate::par::ParallelIterator::partition).
pub struct Partition<C, T, F> {
    f: F,
    with: Pieces<T>,
    without: Pieces<T>,
    made: PhantomData<fn() -> C>,
}

impl<C, T, F> Partition<C, T, F> {
    pub(crate) fn new(f: F) -> Self {
        Partition { f, with: Pieces::default(), without: Pieces::default(), made: PhantomData }
    }
}

impl<C, T, F> Consumer<T> for Partition<C, T, F>
where
    C: Default + Extend<T> + Send,
    T: Send,
    F: Fn(&T) -> bool + Send + Sync,
{
    type Part = ();
    type Output = (C, C);
    #[inline(always)]
    fn ignores_cuts() -> bool {
        true
    }
    fn begin(&mut self, leaves: usize) {
        self.with.begin(leaves);
        self.without.begin(leaves);
    }
    #[inline]
    unsafe fn leaf(&self, leaf: Leaf, items: impl Iterator<Item = T>) {
        let (with, without) = items.partition(&self.f);
        self.with.keep(&leaf, with);
        self.without.keep(&leaf, without);
    }
    fn join(&self, (): (), (): ()) {}
    fn finish(self, (): ()) -> (C, C) {
        (extended(self.with.into_leaves()), extended(self.without.into_leaves()))
    }
}
