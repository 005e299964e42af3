//! Every kind of parameter.

use std::fmt::Debug;

use crate::harness::*;

programs! {
    # [task] [task(pinned)]

    patterns_of_copies {
        both { #[derive(Clone, Copy)] struct P { x: u64, y: (u64, u64) } }
        task { async fn f((a, b): (u64, u64), P { x, y: (y0, _) }: P, [c, e]: [u64; 2], mut n: u64) -> u64 {
            n += leaf(a).await;
            n += b + x + y0;
            wait().await;
            n + c * e
        } }
        task { pub async fn body() -> u64 { f((1, 2), P { x: 3, y: (4, 5) }, [6, 7], 8).await } }
    }

    references_taken_apart {
        task { async fn f(&(a, b): &(u8, u8), &[x, .., y]: &[u64; 3], (c, &e): (&D, &u64)) -> u64 {
            wait().await;
            log(c.name());
            leaf(a as u64 + b as u64 + x + y + e).await
        } }
        task { pub async fn body() -> u64 { let c = d("c"); f(&(1, 2), &[3, 4, 5], (&c, &6)).await } }
    }

    patterns_of_owned_values {
        both { struct Pair { left: D, right: D } }
        task { async fn f(Pair { left, right }: Pair, [a, b]: [D; 2], (c, mut e): (D, D)) -> u64 {
            drop(a);
            wait().await;
            e = leaf(d("new e")).await;
            drop(right);
            log("end");
            left.len()
        } }
        task { pub async fn body() -> u64 {
            f(Pair { right: d("right"), left: d("left") }, [d("a"), d("b")], (d("c"), d("e"))).await
        } }
    }

    impl_trait_arguments {
        task { async fn f(show: impl Debug + Send, make: impl Fn(u64) -> u64 + Send, list: impl Iterator<Item = u64> + Send) -> String {
            let mut sum = 0;
            for x in list { sum += leaf(make(x)).await; }
            wait().await;
            format!("{show:?} {}", make(sum))
        } }
        task { async fn g(into: impl Into<String> + Send) -> usize where { let s: String = into.into(); leaf(s.len()).await } }
        task { pub async fn body() -> String {
            let k = 2;
            let text = f(d("shown"), move |x| x * k, vec![1, 2].into_iter()).await;
            log("end");
            let len = g("abc").await;
            format!("{text} {len}")
        } }
    }

    higher_ranked_closures {
        task { async fn f<F>(f: F, words: &[String]) -> usize where F: for<'a> Fn(&'a str) -> &'a str + Send {
            let mut n = 0;
            for word in words { n += leaf(f(word).len()).await; }
            n
        } }
        task { async fn g(f: &(dyn Fn(&D) -> u64 + Sync), x: &D) -> u64 { let n = f(x); wait().await; n + f(x) } }
        task { async fn once<T: Send>(f: impl FnOnce() -> T + Send) -> T { wait().await; let t = f(); leaf(t).await } }
        task { async fn many(mut f: impl FnMut(u64) + Send) { for i in 0..3 { f(leaf(i).await); } } }
        task { pub async fn body() -> u64 {
            let words = [" a ".to_string(), "bc ".to_string()];
            let n = f(|s| s.trim(), &words).await as u64;
            let x = d("x");
            let m = g(&|x| x.len(), &x).await;
            let y = once(move || x).await;
            log("once");
            let mut sum = 0;
            many(|i| sum += i).await;
            n + m + sum + y.len()
        } }
    }

    dyn_arguments {
        both { trait Show: Sync { fn show(&self) -> String; } impl Show for D { fn show(&self) -> String { self.0.into() } } }
        task { async fn borrowed(x: &(dyn Show + Sync)) -> String { wait().await; x.show() } }
        task { async fn boxed(x: Box<dyn Show + Send>) -> String { let s = x.show(); wait().await; log("boxed"); s } }
        task { async fn mutable(text: &mut (dyn std::fmt::Write + Send)) { wait().await; let _ = text.write_str("x"); } }
        task { async fn objects(list: Vec<Box<dyn Show + Send + Sync>>) -> usize {
            let mut n = 0;
            for x in &list { n += borrowed(&**x).await.len(); }
            n
        } }
        task { pub async fn body() -> String {
            let a = d("a");
            let s = borrowed(&a).await + &boxed(Box::new(d("b"))).await;
            let mut s = s;
            mutable(&mut s).await;
            let n = objects(vec![Box::new(d("c")), Box::new(a)]).await;
            format!("{s}{n}")
        } }
    }

    attributes_on_parameters {
        task { async fn f(
            #[allow(unused_variables)] a: D,
            n: u64,
            #[allow(unused_mut)] mut m: u64,
        ) -> u64 { wait().await; leaf(n + m).await } }
        task { pub async fn body() -> u64 { f(d("a"), 1, 2).await } }
    }

    many_parameters {
        task { async fn f(a: u64, b: u8, c: D, e: &str, f: Option<&D>, g: [u64; 8], h: (u64, D), i: Vec<u64>, j: char, k: bool, l: String, m: N) -> u64 {
            let x = leaf(a + b as u64).await;
            wait().await;
            let y = e.len() as u64 + f.map_or(0, |f| f.len()) + g[3] + h.0 + i.len() as u64 + j as u64 + k as u64;
            leaf(x + y + m.0 + l.len() as u64 + c.len()).await
        } }
        task { pub async fn body() -> u64 {
            let x = d("x");
            f(1, 2, d("c"), "e", Some(&x), [4; 8], (5, d("h")), vec![1], 'a', true, String::new(), N(7)).await
        } }
    }

    arguments_are_evaluated_in_order {
        task { async fn three(a: D, b: D, c: u64) -> u64 { log("called"); a.len() + b.len() + c } }
        task { pub async fn body() -> u64 {
            let n = three(leaf(d("a")).await, { log("block"); d("b") }, leaf(1).await).await;
            three(d("c"), { wait().await; d("e") }, { drop(d("f")); n }).await
        } }
    }

    tasks_made_early_run_late {
        task { async fn work(x: D) -> u64 { log("begun"); wait().await; x.len() } }
        task { pub async fn body() -> u64 {
            let first = work(d("first"));
            let second = work(d("second"));
            log("made");
            wait().await;
            let b = second.await;
            let a = first.await;
            let never = work(d("never"));
            drop(never);
            log("end");
            a + b
        } }
    }

    lifetimes_of_all_kinds {
        task { async fn named<'a, 'b: 'a>(a: &'a str, b: &'b str) -> &'a str { if leaf(a.len()).await > 1 { a } else { b } } }
        task { async fn elided(a: &str, n: u64) -> &str { wait().await; &a[n as usize..] } }
        task { async fn fixed(a: &'static str) -> &'static str { leaf(a).await } }
        task { async fn nested<'a>(list: &[&'a str]) -> &'a str { wait().await; list[0] } }
        task { async fn mutable<'a>(list: &'a mut Vec<u64>, n: &u64) -> &'a mut u64 { list.push(leaf(*n).await); list.last_mut().unwrap() } }
        task { async fn underscore(x: std::borrow::Cow<'_, str>) -> usize { wait().await; x.len() } }
        task { pub async fn body() -> u64 {
            let text = String::from("abc");
            let a = named(&text, "z").await;
            let b = nested(&[elided(&text, 1).await, fixed("s").await]).await;
            let mut list = vec![1];
            *mutable(&mut list, &2).await += 5;
            let c = underscore(text.as_str().into()).await;
            (a.len() + b.len() + c) as u64 + list[1]
        } }
    }

    fields_of_a_tuple_of_references_in_join {
        task { async fn add(n: &mut u64) { *n += leaf(1).await; } }
        task { async fn f(t: (&mut u64, &mut u64)) -> u64 { join!(add(t.0), add(t.1)); *t.0 + *t.1 } }
        task { pub async fn body() -> u64 { let (mut a, mut b) = (1, 2); f((&mut a, &mut b)).await } }
    }

    configured_parameters {
        task { async fn f(#[cfg(all())] n: u64, #[cfg(any())] m: Missing) -> u64 { leaf(n).await } }
        task { pub async fn body() -> u64 { f(1).await } }
    }
}
