//! Every kind of result.

use std::convert::Infallible;
use std::error::Error;

use crate::harness::*;

programs! {
    # [task] [task(pinned)]

    results_and_options {
        task { async fn parse(s: &str) -> Result<u64, std::num::ParseIntError> { wait().await; s.parse() } }
        task { async fn both(a: &str, b: &str) -> Result<u64, Box<dyn Error + Send + Sync>> {
            let _guard = d("guard");
            let x = parse(a).await?;
            if x > 50 { return Err("too large".into()); }
            let y = parse(b).await?;
            Ok(leaf(x + y).await)
        } }
        task { async fn first(list: &[u64]) -> Option<&u64> { let x = list.first()?; wait().await; (*x > 0).then_some(x) } }
        task { async fn nested(n: u64) -> Option<Result<D, String>> {
            match leaf(n).await { 0 => None, 1 => Some(Err("one".into())), _ => Some(Ok(leaf(d("some")).await)) }
        } }
        task { pub async fn body() -> String {
            let texts = [both("1", "2").await, both("x", "2").await, both("3", "y").await, both("99", "1").await];
            let list = [1, 2];
            let n = first(&list).await.copied().unwrap_or(0) + first(&[]).await.copied().unwrap_or(7);
            let all = [nested(0).await, nested(1).await, nested(2).await];
            format!("{texts:?} {n} {all:?}")
        } }
    }

    nothing_and_never {
        task { async fn unit(x: D) { wait().await; log("unit"); } }
        task { async fn explicit(x: D) -> () { wait().await; drop(x); log("explicit"); } }
        task { async fn tail(x: D) { unit(x).await } }
        task { async fn never(n: u64) -> Infallible { let _x = d("x"); loop { if leaf(n).await == 3 { panic!("on purpose: never") } } } }
        task { async fn empty() {} }
        task { async fn infallible(n: u64) -> Result<u64, Infallible> { Ok(leaf(n).await) }  }
        task { pub async fn body() -> u64 {
            unit(d("1")).await;
            explicit(d("2")).await;
            tail(d("3")).await;
            empty().await;
            let Ok(n) = infallible(1).await;
            match never(2 + n).await {}
        } }
    }

    arrays_and_large_structs {
        both { #[derive(Clone)] struct Large { a: [u64; 100], b: D2, c: [u8; 77] } #[derive(Clone)] struct D2(u64); }
        task { async fn large(n: u64) -> Large { let b = D2(leaf(n).await); Large { a: [n; 100], b, c: [1; 77] } } }
        task { async fn array<const K: usize>(n: u64) -> [u64; K] { [leaf(n).await; K] } }
        task { async fn owned() -> [D; 2] { [leaf(d("0")).await, leaf(d("1")).await] } }
        task { async fn tuple(x: D) -> (D, u64, (u8, Option<D>)) { wait().await; (x, 1, (2, Some(d("inner")))) } }
        task { async fn zero() -> [D; 0] { wait().await; [] } }
        task { async fn bytes() -> (u8, u16, u32, i8, bool, char, f32, f64, u128) { (leaf(1).await, 2, 3, -4, true, 'x', 1.5, 2.5, 1 << 100) } }
        task { pub async fn body() -> String {
            let l = large(3).await;
            let m = large(l.a[0] + 1).await;
            let n = array::<5>(2).await;
            let [a, b] = owned().await;
            drop(a);
            log("a gone");
            let (x, y, (z, w)) = tuple(b).await;
            drop(w);
            zero().await;
            let bytes = bytes().await;
            format!("{} {} {:?} {} {y} {z} {bytes:?}", l.b.0, m.a[99] + m.c[5] as u64, n, x.len())
        } }
    }

    references_with_lifetimes {
        both { struct Holds<'a> { name: &'a str, n: &'a mut u64 } }
        task { async fn hold<'a>(name: &'a D, n: &'a mut u64) -> Holds<'a> { *n += leaf(1).await; Holds { name: name.name(), n } } }
        task { async fn longer<'a>(a: &'a [u64], b: &'a [u64]) -> (&'a [u64], &'a u64) { wait().await; if a.len() > b.len() { (a, &a[0]) } else { (b, &b[0]) } } }
        task { async fn split(list: &mut [u64]) -> Option<(&mut u64, &mut [u64])> { wait().await; list.split_first_mut() } }
        task { async fn iterate<'a>(list: &'a [u64]) -> Box<dyn Iterator<Item = &'a u64> + Send + 'a> { let k = leaf(1).await; Box::new(list.iter().skip(k)) } }
        task { pub async fn body() -> u64 {
            let (x, mut n) = (d("x"), 1);
            let holds = hold(&x, &mut n).await;
            wait().await;
            *holds.n += holds.name.len() as u64;
            let mut list = [1, 2, 3];
            if let Some((first, rest)) = split(&mut list).await { *first += rest[1]; wait().await; rest[0] += *first; }
            let (long, one) = longer(&list, &[9]).await;
            let mut sum = *one + long.len() as u64;
            for y in iterate(&list).await { sum += leaf(*y).await; }
            sum + n
        } }
    }

    results_are_dropped_where_they_are_ignored {
        task { async fn make(name: &'static str) -> D { leaf(d(name)).await } }
        task { async fn pass(x: D) -> D { x } }
        task { async fn forward(x: D) -> D { pass(x).await } }
        task { pub async fn body() -> u64 {
            make("1").await;
            log("a");
            let _ = make("2").await;
            log("b");
            let _x = make("3").await;
            drop(make("4").await);
            forward(make("5").await).await;
            log("c");
            let n = forward(d("6")).await.len() + make("7").await.len();
            log("end");
            n
        } }
    }

    panics_reach_the_caller_with_their_text {
        task { async fn fails(n: u64) -> u64 { let _x = d("x"); if leaf(n).await > 1 { panic!("on purpose: {n}") } n } }
        task { async fn between(n: u64) -> u64 { let _y = d("y"); fails(n).await + 1 } }
        task { pub async fn body() -> u64 { let _z = d("z"); let a = between(1).await; a + between(2).await } }
    }

    boxed_outputs {
        both { trait Speak: Send { fn speak(&self) -> u64; } impl Speak for D { fn speak(&self) -> u64 { self.len() } } impl Speak for u64 { fn speak(&self) -> u64 { *self } } }
        task { async fn choose(n: u64) -> Box<dyn Speak> { if n > 1 { return Box::new(leaf(d("chosen")).await); } wait().await; Box::new(n) } }
        task { async fn closure(x: D) -> Box<dyn Fn(u64) -> u64 + Send> { wait().await; Box::new(move |n| n + x.len()) } }
        task { async fn iterator(n: u64) -> Box<dyn Iterator<Item = u64> + Send> { let n = leaf(n).await; Box::new((0..n).map(|x| x * 2)) } }
        task { pub async fn body() -> u64 {
            let a = choose(1).await.speak() + choose(2).await.speak();
            log("spoken");
            let f = closure(d("captured")).await;
            let n = f(a);
            drop(f);
            log("closure gone");
            n + iterator(3).await.sum::<u64>()
        } }
    }
}
