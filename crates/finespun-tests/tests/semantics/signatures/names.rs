//! Names, visibility, modules, items inside bodies.

use crate::harness::*;

programs! {
    # [task] [task(pinned)]

    raw_and_unusual_names {
        task { async fn r#match(r#type: u64, r#async: D) -> u64 { let r#let = leaf(r#type).await; wait().await; r#let + r#async.len() } }
        task { async fn r#true_(_: u64, __: u64, ___x: u64, __x: D, x__: &D) -> u64 { wait().await; __ + ___x + __x.len() + x__.len() } }
        task { async fn task(task: u64, cx: u64, frame: u64, slot: u64, child: u64, outcome: u64, entry: u64, value: u64) -> u64 {
            let body = leaf(task + cx).await;
            let call = leaf(frame + slot).await;
            let poll = body + call;
            wait().await;
            let result = poll + child + outcome + entry + value;
            let this = leaf(result).await;
            this + body
        } }
        task { async fn names(k: u64, en: u64, s: u64, e: u64, k0: u64, __task: u64, __cx: u64, __entry: u64, __T0: D, __a: u64) -> u64 {
            let __r = leaf(k + en).await;
            let __v = d("__v");
            let a0 = leaf(s + e).await;
            wait().await;
            let (t0, t1) = (__r + a0, __task + __cx);
            leaf(t0 + t1 + __entry + __T0.len() + __v.len() + k0 + __a).await
        } }
        task { async fn umlaute(größe: u64, 数: D) -> u64 { let ÿ = leaf(größe).await; wait().await; ÿ + 数.len() } }
        task { pub async fn body() -> u64 {
            let x = d("x");
            r#match(1, d("async")).await + r#true_(1, 2, 3, d("__x"), &x).await + task(1, 2, 3, 4, 5, 6, 7, 8).await
                + names(1, 2, 3, 4, 5, 6, 7, 8, d("T0"), 9).await + umlaute(3, d("n")).await
        } }
    }

    shadowed_names_of_the_prelude {
        both { #[derive(Debug, PartialEq)] struct Box(u64); struct Vec; struct String; enum Maybe { Some(D), None } use Maybe::{None, Some}; struct Result; struct Send2; trait Sized2 {} fn drop(n: u64) -> u64 { n + 1 } }
        task { async fn f(b: Box, v: Vec) -> Maybe { let Ok(n) = leaf::<::core::result::Result<u64, u64>>(Ok(b.0)).await else { return None }; wait().await; Some(d("some")) } }
        task { pub async fn body() -> u64 {
            let n = match f(Box(drop(1)), Vec).await { Some(x) => leaf(x.len()).await, None => 0 };
            let String = String;
            n
        } }
    }

    shadowed_types_of_the_prelude {
        both { struct Option; struct Ok; struct Err; struct Sync; struct Drop; struct Future; struct FnOnce; type Unit = (); }
        task { async fn f(x: D) -> u64 { let y = leaf(x).await; wait().await; y.len() } }
        task { pub async fn body() -> u64 { let mut n = 0; for i in 0..2 { n += f(d("x")).await + leaf(i).await; if n > 100 { break; } } n } }
    }

    visibility_and_modules {
        both { mod outer {
            use crate::harness::*;
            const K: u64 = 3;
            pub fn plain_k() -> u64 { K }
            pub mod inner { pub(in super::super) const J: u64 = 4; pub struct Holder(pub(super) u64); impl Holder { pub fn new(n: u64) -> Self { Holder(n) } } }
        } }
        task { pub(crate) async fn a(n: u64) -> u64 { leaf(n).await + outer::plain_k() } }
        task { pub(super) async fn b(n: u64) -> u64 { self::a(n).await + outer::inner::J } }
        task { pub(self) async fn c(h: outer::inner::Holder) -> u64 { wait().await; b(1).await } }
        task { pub async fn body() -> u64 { c(outer::inner::Holder::new(2)).await } }
    }

    self_paths_and_aliases {
        both { mod deep { pub mod deeper { pub struct S(pub u64); pub type Alias = S; pub const K: u64 = 5; } } use deep::deeper::{Alias as Renamed, self as d2}; type Pair<T> = (T, T); }
        task { impl Renamed { async fn get(&self) -> Pair<u64> { (leaf(self.0).await, d2::K) } } }
        task { async fn f(x: d2::S, p: Pair<u64>) -> u64 { x.get().await.0 + p.1 } }
        task { pub async fn body() -> u64 { f(deep::deeper::S(1), (2, 3)).await + self::d2::S(4).get().await.1 } }
    }

    items_inside_bodies {
        task { pub async fn body() -> u64 {
            struct Local<'a>(&'a D);
            impl Drop for Local<'_> { fn drop(&mut self) { log(format_args!("local {}", self.0.name())); } }
            enum Step { Go(u64), Stop }
            use Step::*;
            const LIMIT: u64 = 2;
            fn step(n: u64) -> Step { if n < LIMIT { Go(n + 1) } else { Stop } }
            static THREE: u64 = 3;
            use std::cmp::max;
            macro_rules! twice { ($e:expr) => { $e + $e }; }
            let x = d("x");
            let local = Local(&x);
            let mut n = 0;
            loop {
                match step(leaf(n).await) { Go(m) => n = m, Stop => break }
            }
            wait().await;
            log("end");
            max(twice!(n), leaf(THREE).await) + local.0.len()
        } }
    }

    tasks_inside_plain_functions {
        plain_only { fn outer(n: u64) -> impl Future<Output = u64> { async fn inner(n: u64, x: D) -> u64 { leaf(n).await + x.len() } inner(n, d("x")) } }
        task_only { fn outer(n: u64) -> impl finespun::Task<Output = u64> + Send { #[finespun::task] async fn inner(n: u64, x: D) -> u64 { leaf(n).await + x.len() } inner(n, d("x")) } }
        task { pub async fn body() -> u64 { outer(1).await + outer(2).await } }
    }

    tasks_inside_tasks {
        plain_only { pub async fn body() -> u64 { async fn inner(n: u64, x: D) -> u64 { leaf(n).await + x.len() } let a = inner(1, d("a")).await; a + inner(2, d("b")).await } }
        task_only { #[finespun::task] pub async fn body() -> u64 { #[finespun::task] async fn inner(n: u64, x: D) -> u64 { leaf(n).await + x.len() } let a = inner(1, d("a")).await; a + inner(2, d("b")).await } }
    }

    implementations_inside_tasks {
        plain_only { pub async fn body() -> u64 {
            struct S(D);
            impl S { async fn get(&self, n: u64) -> u64 { leaf(n).await + self.0.len() } }
            let s = S(d("s"));
            let a = s.get(1).await;
            wait().await;
            a
        } }
        task_only { #[finespun::task] pub async fn body() -> u64 {
            struct S(D);
            #[finespun::task]
            impl S { async fn get(&self, n: u64) -> u64 { leaf(n).await + self.0.len() } }
            let s = S(d("s"));
            let a = s.get(1).await;
            wait().await;
            a
        } }
    }

    constants_and_statics {
        both { const K: D = D("constant"); static S: D = D("static"); const LIST: [u64; 3] = [1, 2, 3]; }
        task { async fn f(i: usize) -> u64 { let k = K; let r = &S; wait().await; LIST[leaf(i).await] + k.len() + r.len() } }
        task { pub async fn body() -> u64 { let a = f(1).await; wait().await; K; log("end"); a } }
    }

    upper_case_locals {
        task { async fn f(P: u64, Value: D) -> u64 { let K = leaf(P).await; let List = vec![K, 2]; wait().await; List[0] + Value.len() + K } }
        task { pub async fn body() -> u64 { f(1, d("v")).await } }
    }
}

/// Modules with the names of the crates and modules that generated code uses.
mod shadowed_crates {
    mod core {}
    mod std {}
    mod alloc {}
    mod finespun {}

    use ::finespun::prelude::Runtime;
    use ::finespun::{task, yield_now};

    struct S(u64);

    #[task]
    impl S {
        async fn get(&self, n: u64) -> Result<u64, u8> {
            let kept = vec![n];
            yield_now().await;
            let (a, b) = join!(work(n), work(kept[0]));
            let c = Err(a).or(Ok::<u64, u8>(b))?;
            Ok(c + self.0)
        }
    }

    #[task]
    async fn work(n: u64) -> u64 {
        for _ in 0..n {
            yield_now().await;
        }
        n
    }

    #[test]
    fn modules_named_like_crates_do_no_harm() {
        let runtime = Runtime::builder().workers(1).build().unwrap();
        assert_eq!(runtime.run(S(1).get(2)), Ok(3));
    }
}

/// The attribute is written in a macro, and the method in the macro's arguments.
mod marked_by_a_macro {
    use finespun::prelude::Runtime;
    use finespun::{task, yield_now};

    macro_rules! marked {
        ($($item:tt)*) => { #[task] $($item)* };
    }

    struct Marked(u64);

    marked! {
        impl Marked {
            async fn get(&self) -> u64 {
                let kept = vec![self.0];
                yield_now().await;
                self.0 + kept[0]
            }
        }
    }

    #[test]
    fn self_refers_to_the_method_in_the_macro_arguments() {
        let runtime = Runtime::builder().workers(1).build().unwrap();
        assert_eq!(runtime.run(Marked(2).get()), 4);
    }
}
