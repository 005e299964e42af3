//! Traits: associated items, default methods, supertraits, objects, blanket implementations.

use std::fmt::Debug;

use crate::harness::*;

programs! {
    # [task] [task(pinned)]

    default_methods_and_supertraits {
        both { trait Named: Sync { const PREFIX: &'static str; fn name(&self) -> String; } }
        task { trait Greet: Named + Debug {
            async fn greet(&self) -> String { wait().await; log("greet"); format!("{}{}", Self::PREFIX, self.name()) }
            async fn twice(&self) -> String { let a = self.greet().await; let b = self.greet().await; a + &b }
            async fn custom(&self, n: u64) -> u64;
        } }
        both { impl Named for D { const PREFIX: &'static str = "D "; fn name(&self) -> String { self.0.into() } } }
        both { impl Named for N { const PREFIX: &'static str = "N "; fn name(&self) -> String { self.0.to_string() } } }
        task { impl Greet for D { async fn custom(&self, n: u64) -> u64 { leaf(n).await + self.len() } } }
        task { impl Greet for N {
            async fn custom(&self, n: u64) -> u64 { leaf(n * self.0).await }
            async fn greet(&self) -> String { leaf(d("own")).await; self.name() }
        } }
        task { async fn both<A: Greet, B>(a: &A, b: &B) -> String where B: Greet + ?Sized { let x = a.twice().await; x + &b.greet().await } }
        task { pub async fn body() -> String {
            let (a, b) = (d("a"), N(5));
            let n = a.custom(1).await + Greet::custom(&b, 2).await + <N as Greet>::custom(&b, 3).await;
            let text = both(&a, &b).await;
            log("end");
            format!("{n} {text} {}", <D as Named>::PREFIX)
        } }
    }

    associated_types_and_consts {
        task { trait Source: Send {
            type Item: Send + Debug;
            const COUNT: usize;
            async fn next(&mut self) -> Option<Self::Item>;
            async fn all(&mut self) -> Vec<Self::Item> {
                let mut list = Vec::with_capacity(Self::COUNT);
                while let Some(item) = self.next().await { list.push(item); }
                list
            }
        } }
        both { struct Count(u64); struct Names(Vec<&'static str>); }
        task { impl Source for Count {
            type Item = u64;
            const COUNT: usize = 3;
            async fn next(&mut self) -> Option<u64> { self.0 += leaf(1).await; (self.0 <= Self::COUNT as u64).then_some(self.0) }
        } }
        task { impl Source for Names {
            type Item = D;
            const COUNT: usize = 2;
            async fn next(&mut self) -> Option<Self::Item> { let name = self.0.pop()?; Some(leaf(d(name)).await) }
        } }
        task { async fn drain<S>(source: &mut S) -> String where S: Source, S::Item: Clone { let list = source.all().await; format!("{:?}", list.clone()) } }
        task { pub async fn body() -> String {
            let text = drain(&mut Count(0)).await;
            let list = Names(vec!["a", "b"]).all().await;
            log("end");
            format!("{text} {list:?}")
        } }
    }

    generic_traits_on_generic_types {
        both { struct Pair<A, B> { a: A, b: B } }
        task { trait Get<T: Send>: Sync { async fn get(&self, other: T) -> (T, T); } }
        task { impl<A: Clone + Send + Sync, B: Sync> Get<A> for Pair<A, B> {
            async fn get(&self, other: A) -> (A, A) { let a = leaf(self.a.clone()).await; (a, other) }
        } }
        both { #[derive(Clone, Debug)] struct Text(String); impl Drop for Text { fn drop(&mut self) { log(&self.0); } } }
        task { async fn through<T: Send, G: Get<T>>(g: &G, t: T) -> T { let (x, _y) = g.get(t).await; wait().await; log("through"); x } }
        task { pub async fn body() -> String {
            let pair = Pair { a: Text("own".into()), b: d("b") };
            let x = through(&pair, Text("other".into())).await;
            format!("{x:?}")
        } }
    }

    blanket_implementations {
        both { trait Size { fn size(&self) -> u64; } impl Size for D { fn size(&self) -> u64 { self.len() } } impl Size for u64 { fn size(&self) -> u64 { *self } } }
        task { trait Measure: Sync { async fn measure(&self) -> u64; } }
        task { impl<T: Size + Sync> Measure for T { async fn measure(&self) -> u64 { wait().await; self.size() } } }
        both { trait Pass: Sync {} impl<T: Sync> Pass for T {} }
        task { async fn sum(list: &[impl Measure]) -> u64 { let mut n = 0; for x in list { n += x.measure().await; } n } }
        task { pub async fn body() -> u64 {
            let list = [d("a"), d("bb")];
            sum(&list).await + 3u64.measure().await + sum(&[1u64, 2]).await
        } }
    }

    generic_methods_in_traits {
        task { trait Visit: Sync {
            async fn visit<T: Send + Debug, const K: usize>(&self, list: [T; K]) -> String;
            async fn map<'a, F>(&'a self, f: F) -> u64 where F: Fn(&'a str) -> u64 + Send;
            async fn sized() -> u64 where Self: Sized { wait().await; 7 }
        } }
        task { impl Visit for D {
            async fn visit<T: Send + Debug, const K: usize>(&self, list: [T; K]) -> String { let list = leaf(list).await; format!("{list:?}{K}") }
            async fn map<'a, F>(&'a self, f: F) -> u64 where F: Fn(&'a str) -> u64 + Send { let n = f(self.0); leaf(n).await + f(self.0) }
        } }
        task { pub async fn body() -> String {
            let x = d("x");
            let a = x.visit([d("1"), d("2")]).await;
            let n = x.map(|s| s.len() as u64).await + D::sized().await;
            format!("{a} {n}")
        } }
    }

    owned_receivers_in_traits {
        task { trait Consume: Sized + Send {
            async fn consume(self, n: u64) -> u64;
            async fn pass(mut self) -> Self { wait().await; self }
            async fn boxed(self: Box<Self>) -> u64 { let inner = *self; inner.consume(1).await }
        } }
        task { impl Consume for D { async fn consume(self, n: u64) -> u64 { wait().await; log("consume"); n + self.len() } } }
        task { pub async fn body() -> u64 {
            let a = d("a").pass().await;
            let n = a.consume(1).await;
            n + Box::new(d("b")).boxed().await
        } }
    }

    implementations_for_references_and_boxes {
        task { trait Add: Send { async fn add(&mut self, n: u64) -> u64; } }
        task { impl Add for u64 { async fn add(&mut self, n: u64) -> u64 { *self += leaf(n).await; *self } } }
        task { impl<T: Add + ?Sized> Add for &mut T { async fn add(&mut self, n: u64) -> u64 { (**self).add(n).await } } }
        task { impl<T: Add> Add for Box<T> { async fn add(&mut self, n: u64) -> u64 { (**self).add(n + 1).await } } }
        task { impl<T: Add, U: Add> Add for (T, U) { async fn add(&mut self, n: u64) -> u64 { let a = self.0.add(n).await; self.1.add(a).await } } }
        task { pub async fn body() -> u64 {
            let mut x = 1u64;
            let a = (&mut x).add(2).await;
            let mut pair = (Box::new(3u64), 4u64);
            a + pair.add(1).await + x
        } }
    }

    objects_of_traits {
        task_only { #[finespun::task] trait Shape: Sync { async fn area(&self, n: u64) -> u64; async fn grow(&mut self, x: D) -> u64; async fn both(&mut self) -> u64 { let x = d("default"); let n = self.area(1).await; n + self.grow(x).await } } }
        plain_only { trait Shape: Sync { async fn area(&self, n: u64) -> u64; async fn grow(&mut self, x: D) -> u64; async fn both(&mut self) -> u64 { let x = d("default"); let n = self.area(1).await; n + self.grow(x).await } } }
        both { struct Square(u64); struct Round(D, u64); }
        task { impl Shape for Square { async fn area(&self, n: u64) -> u64 { leaf(self.0 * n).await } async fn grow(&mut self, x: D) -> u64 { wait().await; self.0 += x.len(); self.0 } } }
        task { impl Shape for Round {
            async fn area(&self, n: u64) -> u64 { log(self.0.name()); n }
            async fn grow(&mut self, x: D) -> u64 { self.0 = leaf(x).await; log("grown"); self.1 }
            async fn both(&mut self) -> u64 { wait().await; self.area(5).await }
        } }
        task_only { #[finespun::task] async fn total(a: &mut (dyn Shape + Send), b: &mut (dyn Shape + Send)) -> u64 { let x = a.both().await; let y = a.grow(d("t")).await; x + y + b.both().await + b.grow(d("u")).await } }
        plain_only { async fn total(a: &mut Square, b: &mut Round) -> u64 { let x = a.both().await; let y = a.grow(d("t")).await; x + y + b.both().await + b.grow(d("u")).await } }
        task { pub async fn body() -> u64 { let (mut a, mut b) = (Square(2), Round(d("r"), 3)); total(&mut a, &mut b).await } }
    }

    qualified_calls_and_same_names {
        task { trait One: Sync { async fn go(&self, n: u64) -> u64; } }
        task { trait Two: Sync { async fn go(&self, n: u64) -> u64; async fn name() -> &'static str; } }
        both { struct S(u64); }
        task { impl S { async fn go(&self, n: u64) -> u64 { leaf(n).await + 1 } async fn name() -> &'static str { wait().await; "own" } } }
        task { impl One for S { async fn go(&self, n: u64) -> u64 { leaf(n).await + 10 } } }
        task { impl Two for S { async fn go(&self, n: u64) -> u64 { leaf(n).await + 100 } async fn name() -> &'static str { wait().await; "two" } } }
        task { pub async fn body() -> String {
            let s = S(0);
            let n = s.go(0).await + One::go(&s, 0).await + <S as Two>::go(&s, 0).await + S::go(&s, 0).await;
            let (a, b) = (S::name().await, <S as Two>::name().await);
            format!("{n}{a}{b}")
        } }
    }
}
