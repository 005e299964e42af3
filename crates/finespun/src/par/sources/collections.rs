//! Arrays, and collections without random access: their items, or references to them, are collected into a vector first.

use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet, LinkedList, VecDeque};

use super::slices::{Iter, IterMut};
use super::vectors::IntoIter;
use crate::par::convert::IntoParallelIterator;

macro_rules! collected {
    ($([$($generic:tt)*] $type:ty, $item:ty;)+) => {$(
        impl<$($generic)*> IntoParallelIterator for $type {
            type Iter = IntoIter<$item>;
            type Item = $item;
            fn into_par_iter(self) -> IntoIter<$item> {
                self.into_iter().collect::<Vec<$item>>().into_par_iter()
            }
        }
    )+};
}

collected! {
    [K: Send, V: Send, S] HashMap<K, V, S>, (K, V);
    ['a, K: Sync, V: Sync, S] &'a HashMap<K, V, S>, (&'a K, &'a V);
    ['a, K: Sync, V: Send, S] &'a mut HashMap<K, V, S>, (&'a K, &'a mut V);
    [K: Send, V: Send] BTreeMap<K, V>, (K, V);
    ['a, K: Sync, V: Sync] &'a BTreeMap<K, V>, (&'a K, &'a V);
    ['a, K: Sync, V: Send] &'a mut BTreeMap<K, V>, (&'a K, &'a mut V);
    [T: Send, S] HashSet<T, S>, T;
    ['a, T: Sync, S] &'a HashSet<T, S>, &'a T;
    [T: Send] BTreeSet<T>, T;
    ['a, T: Sync] &'a BTreeSet<T>, &'a T;
    [T: Send] VecDeque<T>, T;
    ['a, T: Sync] &'a VecDeque<T>, &'a T;
    ['a, T: Send] &'a mut VecDeque<T>, &'a mut T;
    [T: Send] LinkedList<T>, T;
    ['a, T: Sync] &'a LinkedList<T>, &'a T;
    ['a, T: Send] &'a mut LinkedList<T>, &'a mut T;
    [T: Send] BinaryHeap<T>, T;
    ['a, T: Sync] &'a BinaryHeap<T>, &'a T;
    [T: Send] Option<T>, T;
    ['a, T: Sync] &'a Option<T>, &'a T;
    ['a, T: Send] &'a mut Option<T>, &'a mut T;
    [T: Send] Box<[T]>, T;
    [T: Send, const N: usize] [T; N], T;
}

impl<'a, T: Sync, const N: usize> IntoParallelIterator for &'a [T; N] {
    type Iter = Iter<'a, T>;
    type Item = &'a T;
    fn into_par_iter(self) -> Iter<'a, T> {
        self.as_slice().into_par_iter()
    }
}

impl<'a, T: Send, const N: usize> IntoParallelIterator for &'a mut [T; N] {
    type Iter = IterMut<'a, T>;
    type Item = &'a mut T;
    fn into_par_iter(self) -> IterMut<'a, T> {
        self.as_mut_slice().into_par_iter()
    }
}
