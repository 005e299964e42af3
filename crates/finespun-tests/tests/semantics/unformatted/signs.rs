//! Traits, receivers, objects, closures, generics and lifetimes.

/// Like `programs!` in `signatures`.
macro_rules! programs {
    ($hash:tt $automatic:tt $pinned:tt $( $(#[$meta:meta])* $name:ident { $( $kind:ident { $($item:tt)* } )* } )*) => { $(
        mod $name {
            pub mod plain { use super::super::*; use crate::harness::plain::*; use std::pin::Pin; use std::sync::Arc; $( emit!(plain $kind () $($item)*); )* }
            pub mod pinned { use super::super::*; use crate::harness::tasks::*; use finespun::task; use std::pin::Pin; use std::sync::Arc; $( emit!(task $kind ($hash $pinned) $($item)*); )* }
            pub mod automatic { use super::super::*; use crate::harness::tasks::*; use finespun::task; use std::pin::Pin; use std::sync::Arc; $( emit!(task $kind ($hash $automatic) $($item)*); )* }
        }
        $(#[$meta])*
        #[test]
        fn $name() { versions!(owned, $name::plain::body(), $name::pinned::body(), $name::automatic::body()); }
    )* };
}
macro_rules! emit {
    ($version:ident both $attribute:tt $($item:tt)*) => { $($item)* };
    ($version:ident task ($($attribute:tt)*) $($item:tt)*) => { $($attribute)* $($item)* };
    ($version:ident methods $attribute:tt [$($head:tt)*] $($method:tt)*) => { $($head)* { $( emit_method!($attribute $method); )* } };
    (plain plain_only $attribute:tt $($item:tt)*) => { $($item)* };
    (plain task_only $attribute:tt $($item:tt)*) => {};
    (task plain_only $attribute:tt $($item:tt)*) => {};
    (task task_only $attribute:tt $($item:tt)*) => { $($item)* };
}
macro_rules! emit_method { (($($attribute:tt)*) { $($method:tt)* }) => { $($attribute)* $($method)* }; }

use super::kit::*;
use crate::harness::*;
use std::fmt::{Debug, Display};

programs! {
    # [task] [task(pinned)]

    s_trait_destructuring_params {
        task { trait Take: Sized + Send { async fn take(self, _: D, a: (D, D), p: P) -> u64 where Self: Send; async fn give(self) -> (Self, u64) { wait().await; (self, 1) } } }
        task { impl Take for N { async fn take(self, _: D, (a, _): (D, D), P { n, .. }: P) -> u64 { wait().await; log("take"); self.0 + a.len() + n } } }
        task { pub async fn body() -> u64 { let (x, k) = N(3).give().await; let r = x.take(d("w"), (d("a"), d("b")), p(1, 2)).await; log("end"); r + k } }
    }
    s_receivers {
        both { #[derive(Debug)] struct S { d: D, n: u64 } }
        task { impl S {
            async fn by_value(self) -> u64 { let S { d: _, n } = self; wait().await; log("by value"); n }
            async fn by_mut_value(mut self, k: u64) -> Self { self.n += leaf(k).await; self.d = d("replaced"); wait().await; self }
            async fn by_ref(&self) -> &str { wait().await; self.d.name() }
            async fn by_mut(&mut self) -> &mut u64 { self.n += 1; wait().await; &mut self.n }
            async fn by_box(self: Box<Self>) -> u64 { let S { d, .. } = *self; wait().await; log("by box"); d.len() }
            async fn by_arc(self: Arc<Self>) -> u64 { wait().await; let k = Arc::strong_count(&self) as u64; k + self.n }
            async fn by_pin(self: Pin<&mut Self>) -> u64 { let s = self.get_mut(); s.n += 1; wait().await; s.n }
            async fn typed(self: &Self, other: &Self) -> u64 { wait().await; self.n + other.n }
            async fn make(n: u64) -> Self { Self { d: leaf(d("made")).await, n } }
        } }
        task { pub async fn body() -> u64 {
            let mut s = S::make(1).await; *s.by_mut().await += 10; let l = s.by_ref().await.len() as u64; let m = Pin::new(&mut s).by_pin().await;
            let s = s.by_mut_value(5).await; let t = S::make(7).await; let k = s.typed(&t).await; let a = Arc::new(t); let q = a.clone().by_arc().await; drop(a);
            let n = Box::new(s).by_box().await; log("end"); l + m + k + q + n + S::make(4).await.by_value().await
        } }
    }
    s_dyn_and_generic_default {
        task { trait Step: Sync + Send { fn name(&self) -> String; async fn step(&mut self, n: u64) -> u64; async fn run(&mut self, list: Vec<u64>) -> u64 { let _g = d("run"); let mut t = 0; for n in list { t += self.step(n).await; log(self.name()); } t } } }
        both { struct A(u64); struct B { d: D } }
        task { impl Step for A { fn name(&self) -> String { "A".into() } async fn step(&mut self, n: u64) -> u64 { self.0 += n; leaf(self.0).await } } }
        task { impl Step for B { fn name(&self) -> String { "B".into() } async fn step(&mut self, n: u64) -> u64 { self.d = leaf(d("step")).await; n } async fn run(&mut self, _: Vec<u64>) -> u64 { wait().await; log("own run"); 0 } } }
        task_only { type DynStep<'a> = dyn Step + 'a; }
        task { async fn drive<S: Step + ?Sized>(s: &mut S, n: u64) -> u64 { let _g = d("drive"); s.run(vec![n, n + 1]).await } }
        task { pub async fn body() -> u64 { let mut a = A(1); let mut b = B { d: d("b") }; let r = drive(&mut a, 2).await + drive(&mut b, 3).await; log("end"); r + a.0 } }
    }
    s_assoc_consts_types {
        task { trait Codec: Send + Sync { type In: Send + Debug; type Out: Send + Debug + From<u64>; const K: u64; const NAMES: &'static [&'static str] = &["x", "y"]; async fn code(&self, i: Self::In) -> Self::Out; async fn many(&self, i: Vec<Self::In>) -> Vec<Self::Out> { let mut o = Vec::with_capacity(Self::NAMES.len()); for x in i { o.push(self.code(x).await); } o.push(Self::Out::from(Self::K)); o } } }
        both { #[derive(Debug)] struct W(u64); impl From<u64> for W { fn from(n: u64) -> W { log("from"); W(n) } } impl Drop for W { fn drop(&mut self) { log(format_args!("W{}", self.0)); } } struct C; }
        task { impl Codec for C { type In = D; type Out = W; const K: u64 = 3; async fn code(&self, i: D) -> Self::Out { wait().await; W(i.len() * <Self as Codec>::K) } } }
        task { async fn all<T: Codec<In = D>>(t: &T) -> (u64, Vec<<T as Codec>::Out>) where T::Out: PartialEq<u64> { let v = t.many(vec![d("a"), d("bb")]).await; (v.iter().filter(|o| **o == 6).count() as u64, v) } }
        both { impl PartialEq<u64> for W { fn eq(&self, n: &u64) -> bool { self.0 == *n } } }
        task { pub async fn body() -> u64 { let (n, v) = all(&C).await; log("end"); n + v.len() as u64 } }
    }
    s_generic_everything {
        both { trait Named { fn nm(&self) -> String; } impl Named for D { fn nm(&self) -> String { self.name().into() } } impl<T: Debug> Named for [T] { fn nm(&self) -> String { format!("{self:?}") } } }
        task { async fn f<'a, 'b: 'a, T, U: ?Sized, const K: usize, F>(t: &'a T, u: &'b U, a: [u64; K], f: F) -> (&'a str, String) where T: Named + Sync, U: Named + Sync + 'b, F: for<'x> Fn(&'x str) -> &'x str + Send + Sync, for<'y> &'y T: Debug { let n = t.nm(); wait().await; let mut s = String::from(f(&n)); for i in 0..K { s += &a[i].to_string(); wait().await; } s += &u.nm(); ("static", s) } }
        task { async fn g(x: impl Into<String> + Send, y: &(impl Named + Sync + ?Sized), z: impl IntoIterator<Item = D, IntoIter: Send> + Send) -> String { let mut s: String = x.into(); if true { for (i, v) in z.into_iter().enumerate() { if i == 1 { break } s.push_str(leaf(v).await.name()); } } wait().await; s + &y.nm() } }
        task { pub async fn body() -> String { let a = d("a"); let (s, t) = f(&a, &[1u64, 2][..], [3, 4], |s| &s[..1]).await; let u = g("x", &a, vec![d("p"), d("q"), d("r")]).await; log("end"); format!("{s}{t}{u}") } }
    }
    s_generic_value_dropped {
        task { async fn hold<T: Send, R: Send>(t: T, f: impl FnOnce(&T) -> R + Send) -> R { wait().await; let r = f(&t); wait().await; drop(t); log("dropped"); wait().await; r } }
        task { async fn maybe<T: Send + PartialEq>(a: T, b: T) -> Option<T> { if a == b { return Some(a) } wait().await; let (x, _) = (b, a); wait().await; log("mid"); drop(x); None } }
        task { pub async fn body() -> u64 { let n = hold(d("t"), |t| t.len()).await; let m = hold((d("x"), N(2)), |(x, n)| x.len() + n.0).await; let o = maybe(d("s"), d("s")).await; let q = maybe(N(1), N(2)).await; log("end"); n + m + o.is_some() as u64 + q.is_some() as u64 } }
    }
    s_lifetimes {
        both { struct View<'a> { text: &'a str, at: usize, d: D } impl<'a> View<'a> { fn rest(&self) -> &'a str { &self.text[self.at..] } } }
        task { impl<'a> View<'a> { async fn word(&mut self) -> Option<&'a str> { let r = self.rest().trim_start(); if r.is_empty() { return None } let w = r.split(' ').next()?; self.at = self.text.len() - r.len() + w.len(); wait().await; self.d = d("moved on"); Some(leaf(w).await) } } }
        task { async fn longest<'a>(a: &'a str, b: &'a str) -> &'a str { wait().await; if a.len() >= b.len() { a } else { b } } }
        task { async fn all(text: &str, keep: &'static str) -> Vec<String> { let mut v = View { text, at: 0, d: d("view") }; let mut out = vec![]; let mut best = keep; while let Some(w) = v.word().await { best = longest(w, best).await; out.push(w.to_uppercase()); } out.push(best.to_string()); out } }
        task { pub async fn body() -> String { let t = String::from(" one three  two "); let v = all(&t, "keep").await; log("end"); v.join(",") } }
    }
    s_recursive_mutual {
        both { #[derive(Debug)] enum Tree { Leaf(N), Node(Box<Tree>, Box<Tree>, D) } fn tree(n: u64) -> Tree { if n == 0 { Tree::Leaf(N(n)) } else { Tree::Node(Box::new(tree(n - 1)), Box::new(Tree::Leaf(N(n + 10))), d("node")) } } }
        plain_only { fn eat_tree(t: Tree) -> Pin<Box<dyn Future<Output = u64>>> { Box::pin(async move { match t { Tree::Leaf(N(n)) => { wait().await; n } Tree::Node(l, r, _) => { let a = eat_tree(*l).await; let b = eat_tree(*r).await; log("node"); a + b } } }) } }
        task_only { #[task] async fn eat_tree(t: Tree) -> u64 { match t { Tree::Leaf(N(n)) => { wait().await; n } Tree::Node(l, r, _) => { let a = eat_tree(*l).await; let b = eat_tree(*r).await; log("node"); a + b } } } }
        task { pub async fn body() -> u64 { let r = eat_tree(tree(2)).await; log("end"); r } }
    }
    s_nested_tasks {
        plain_only { pub async fn body() -> u64 { async fn inner(x: D, n: &mut u64) -> u64 { async fn deepest(n: u64) -> u64 { let _g = d("deep"); leaf(n).await } *n += deepest(3).await; wait().await; x.len() } struct L(D); impl L { async fn get(&self) -> u64 { wait().await; self.0.len() } } let mut n = 1; let a = inner(d("x"), &mut n).await; let l = L(d("ll")); let b = l.get().await; log("end"); a + b + n } }
        task_only { #[task] pub async fn body() -> u64 { #[task] async fn inner(x: D, n: &mut u64) -> u64 { #[task] async fn deepest(n: u64) -> u64 { let _g = d("deep"); leaf(n).await } *n += deepest(3).await; wait().await; x.len() } struct L(D); #[task] impl L { async fn get(&self) -> u64 { wait().await; self.0.len() } } let mut n = 1; let a = inner(d("x"), &mut n).await; let l = L(d("ll")); let b = l.get().await; log("end"); a + b + n } }
    }
    s_renamed_crate {
        both { mod other { pub use finespun as spun; } }
        plain_only { async fn f(x: D, P { n, .. }: P) -> u64 { wait().await; x.len() + n } struct S; impl S { async fn m(&self, _: D) -> u64 { leaf(2).await } } trait T: Sync { async fn t(&self) -> u64; } impl T for S { async fn t(&self) -> u64 { let m = self.m(d("m")).await; let r = join!(leaf(1), leaf(m)); r.0 + r.1 } } }
        task_only { #[task(crate = other::spun)] async fn f(x: D, P { n, .. }: P) -> u64 { wait().await; x.len() + n } struct S; #[task(pinned, crate = other::spun)] impl S { async fn m(&self, _: D) -> u64 { leaf(2).await } } #[task(crate = self::other::spun)] trait T: Sync { async fn t(&self) -> u64; } #[task(crate = self::other::spun)] impl T for S { async fn t(&self) -> u64 { let m = self.m(d("m")).await; let r = join!(leaf(1), leaf(m)); r.0 + r.1 } } }
        task { pub async fn body() -> u64 { let a = f(d("x"), p(1, 2)).await; let b = S.t().await; log("end"); a + b } }
    }
    s_impl_return_and_alias {
        both { type Pair<T> = (T, u64); type Res<T = D> = Result<T, String>; struct Own<T>(T); impl<T> std::ops::Deref for Own<T> { type Target = T; fn deref(&self) -> &T { &self.0 } } }
        task { async fn alias(x: D) -> Pair<D> { let n = leaf(x.len()).await; (x, n) } }
        task { async fn res(n: u64) -> Res { let g = d("g"); if n > 1 { Err(format!("{n}")) } else { Ok(leaf(g).await) } } }
        task { async fn nothing(_x: D) { let _y = d("y"); wait().await } }
        task { async fn unit(x: &mut Vec<D>) -> () { if let Some(y) = x.pop() { wait().await; x.insert(0, y) } } }
        task { pub async fn body() -> String { let (x, n) = alias(d("x")).await; let a = res(1).await; let b = res(n + 1).await; nothing(x).await; let mut v = vec![d("p"), d("q")]; unit(&mut v).await; log("end"); format!("{a:?}{b:?}{v:?}") } }
    }
    s_const_generic_arrays {
        task { async fn each<T: Send + Into<u64> + Copy + Sync, const K: usize>(a: [T; K], b: &mut [D; K]) -> [u64; K] { let mut r = [0; K]; for (i, x) in a.into_iter().enumerate() { r[i] = leaf(x.into()).await; b[i] = d("set"); } r } }
        both { struct Ring<T, const N: usize> { list: [T; N], at: usize } }
        task { impl<T: Send + Sync, const LEN: usize> Ring<T, LEN> { const SIZE: usize = LEN; async fn put(&mut self, x: T) -> T { let i = self.at % Self::SIZE; self.at += 1; wait().await; std::mem::replace(&mut self.list[i], x) } } }
        task { pub async fn body() -> u64 { let mut b = [d("b1"), d("b2")]; let r = each([1u8, 2], &mut b).await; let mut q = Ring { list: b, at: 1 }; let old = q.put(d("new")).await; log("end"); r.iter().sum::<u64>() + old.len() } }
    }
    s_supertrait_generic_method {
        both { trait Base { fn base(&self) -> u64; } impl Base for D { fn base(&self) -> u64 { self.len() } } }
        task { trait Visit: Base + Send + Sync { async fn visit<F>(&self, f: F) -> u64 where F: Fn(u64) -> u64 + Send + Sync; async fn both<V: Visit>(&self, other: &V, _: D) -> u64 { let a = self.visit(|n| n + 1).await; let b = other.visit(move |n| n * a).await; log("both"); a + b } } }
        task { impl Visit for D { async fn visit<F>(&self, f: F) -> u64 where F: Fn(u64) -> u64 + Send + Sync { let g = d("g"); let n = f(leaf(self.base()).await); wait().await; n + g.base() } } }
        task { pub async fn body() -> u64 { let (a, b) = (d("aa"), d("b")); let r = a.both(&b, d("w")).await; log("end"); r } }
    }
    s_unsafe_and_attrs {
        task { #[must_use] #[allow(dead_code)] #[inline] async fn danger(#[allow(unused)] x: D, #[cfg(any())] y: Nope) -> u64 { let n = 5u64; let r = unsafe { { n as i64 } }; wait().await; r as u64 } }
        task { /** Doc. */ #[doc(hidden)] pub(crate) async fn r#match(r#type: D, r#in: u64) -> u64 { let r#loop = leaf(r#in).await; wait().await; r#loop + r#type.len() } }
        task { pub async fn body() -> u64 { let a = danger(d("x")).await; let b = r#match(d("t"), 4).await; log("end"); a + b } }
    }
}
