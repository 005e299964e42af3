//! Type parameters, const parameters, bounds, recursion.

use std::collections::BTreeMap;
use std::fmt::{Debug, Display};
use std::marker::PhantomData;

use crate::harness::*;

programs! {
    # [task] [task(pinned)]

    bounds_in_all_places {
        task { async fn inline<T: Debug + Send + Clone>(t: T) -> String { let u = leaf(t.clone()).await; format!("{t:?}{u:?}") } }
        task { async fn apart<T, U>(t: T, u: &U) -> String where T: Display + Send, U: ?Sized + Debug + Sync, for<'a> &'a U: Send {
            let t = leaf(t).await;
            format!("{t}{u:?}")
        } }
        task { async fn two<'a, T: 'a + Send, U>(t: &'a mut T, u: U) -> &'a mut T where U: Into<T> + Send { *t = leaf(u).await.into(); t } }
        task { pub async fn body() -> String {
            let a = inline(vec![1, 2]).await;
            let b = apart(3.5, "text").await + &apart("x", &[1u8][..]).await;
            let mut s = String::new();
            let c = two(&mut s, "into").await.len();
            format!("{a} {b} {c} {s}")
        } }
    }

    const_parameters {
        both { struct Ring<T, const K: usize = 3> { list: [T; K] } }
        task { impl<T: Copy + Send + Sync + Default, const K: usize> Ring<T, K> {
            const SIZE: usize = K;
            async fn new(first: T) -> Self { let mut list = [T::default(); K]; list[0] = leaf(first).await; Ring { list } }
            async fn turn(&mut self) -> T { self.list.rotate_left(1); wait().await; self.list[K - 1] }
        } }
        task { async fn chunk<const A: usize, const B: bool>(list: [u64; A]) -> usize { let n = leaf(list).await.len(); if B { n * 2 } else { A } } }
        task { pub async fn body() -> u64 {
            let mut ring: Ring<u64> = Ring::new(5).await;
            let mut other = Ring::<u8, 2>::new(7).await;
            let n = ring.turn().await + other.turn().await as u64;
            n + chunk::<2, true>([1, 2]).await as u64 + chunk::<3, false>([1, 2, 3]).await as u64 + Ring::<u64, 9>::SIZE as u64
        } }
    }

    recursion_with_type_parameters {
        both { #[derive(Debug)] struct List<T> { value: T, next: Option<Box<List<T>>> } }
        plain_only { fn collect<'a, T: Clone + Send + Sync>(list: &'a List<T>) -> Pin<Box<dyn Future<Output = Vec<T>> + 'a>> { Box::pin(async move {
            let _guard = d("guard");
            let value = leaf(list.value.clone()).await;
            let mut all = match &list.next { Some(next) => collect(next).await, None => Vec::new() };
            all.push(value);
            all
        }) } }
        task_only { #[finespun::task] async fn collect<T: Clone + Send + Sync>(list: &List<T>) -> Vec<T> {
            let _guard = d("guard");
            let value = leaf(list.value.clone()).await;
            let mut all = match &list.next { Some(next) => collect(next).await, None => Vec::new() };
            all.push(value);
            all
        } }
        task { pub async fn body() -> String {
            let list = List { value: "a", next: Some(Box::new(List { value: "b", next: Some(Box::new(List { value: "c", next: None })) })) };
            let all = collect(&list).await;
            format!("{all:?}")
        } }
    }

    mutual_recursion_with_owned_values {
        plain_only { fn even(n: u64, x: D) -> Pin<Box<dyn Future<Output = (bool, D)>>> { Box::pin(async move { if n == 0 { return (true, x); } wait().await; odd(n - 1, x).await }) } }
        plain_only { fn odd(n: u64, x: D) -> Pin<Box<dyn Future<Output = (bool, D)>>> { Box::pin(async move { if n == 0 { return (false, x); } let _g = N(n); even(n - 1, leaf(x).await).await }) } }
        task_only { #[finespun::task] async fn even(n: u64, x: D) -> (bool, D) { if n == 0 { return (true, x); } wait().await; odd(n - 1, x).await } }
        task_only { #[finespun::task] async fn odd(n: u64, x: D) -> (bool, D) { if n == 0 { return (false, x); } let _g = N(n); even(n - 1, leaf(x).await).await } }
        task { pub async fn body() -> bool { let (b, x) = even(5, d("x")).await; log("end"); b } }
    }

    types_without_values {
        both { struct Tag<T>(PhantomData<T>); trait Name { const NAME: &'static str; } impl Name for u8 { const NAME: &'static str = "u8"; } impl Name for D { const NAME: &'static str = "D"; } }
        task { async fn name<T: Name>() -> &'static str { wait().await; T::NAME } }
        task { impl<T: Name + Send + Sync> Tag<T> { async fn get(&self) -> &'static str { leaf(T::NAME).await } async fn size(self) -> usize { wait().await; size_of::<T>() } } }
        task { pub async fn body() -> String {
            let a = name::<u8>().await;
            let b = name::<D>().await;
            let c = Tag::<D>(PhantomData).get().await;
            let e = Tag::<u8>(PhantomData).size().await;
            format!("{a}{b}{c}{e}")
        } }
    }

    inferred_from_later_use {
        task { async fn make<T: Default + Send>() -> T { wait().await; T::default() } }
        task { async fn convert<A: Into<B> + Send, B: Send>(a: A) -> B { let b = a.into(); leaf(b).await } }
        task { pub async fn body() -> String {
            let mut map = make().await;
            let n: u64 = convert(3u32).await;
            wait().await;
            BTreeMap::insert(&mut map, n, make::<String>().await);
            let s = make().await;
            let list = make::<Vec<_>>().await;
            if list.len() > 5 { return s; }
            let list: Vec<u8> = list;
            format!("{map:?}{s}")
        } }
    }

    generic_values_with_destructors {
        task { async fn pair<T: Send, U: Send>(t: T, u: U) -> (U, T) { let u = leaf(u).await; log("pair"); (u, t) } }
        task { async fn first<T: Send, U: Send>(t: T, _u: U) -> T { wait().await; log("first"); t } }
        task { async fn drops<T: Send>(t: T) -> u64 { wait().await; log("drops"); 1 } }
        task { async fn keeps<T: Send + Sync>(t: &T) -> u64 { let _local = d("local"); wait().await; 2 } }
        task { pub async fn body() -> u64 {
            let (b, a) = pair(d("a"), vec![d("b"), d("c")]).await;
            let a = first(a, b).await;
            let n = drops((a, N(1))).await + drops(5u8).await;
            n + keeps(&d("lent")).await
        } }
    }
}
