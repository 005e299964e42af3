//! Short programs: builders, guards, combinators, recursion in boxes.

use super::common::*;
use crate::guesses::kit::*;
use crate::harness::*;
use std::borrow::Cow;
use std::collections::*;
use std::fmt::{self, Debug, Display, Write as _};
use std::sync::{Arc, Mutex, atomic::*};

pub struct Sg<F: FnOnce()>(Option<F>);
impl<F: FnOnce()> Drop for Sg<F> {
    fn drop(&mut self) {
        self.0.take().unwrap()()
    }
}
pub fn scopeguard<F: FnOnce()>(f: F) -> Sg<F> {
    Sg(Some(f))
}

macro_rules! bodies { ($($task:tt)*) => {
$($task)* pub async fn e1() -> u64 { let fut = async { let g = d("blk"); 4 + g.len() }; let n = leaf(2).await; log("x"); drop(fut); n }
$($task)* pub async fn e2() -> Option<u64> { let v: Vec<Option<N>> = vec![Some(N(1)), None, Some(N(3))]; let mut t = 0; for n in v.into_iter().flatten() { t += leaf(n).await.0; log("it"); } let r = [Some(1), None].into_iter().collect::<Option<Vec<u64>>>(); let k = leaf(r).await?; Some(t + k[0]) }
$($task)* pub async fn e3(a: Option<D>, b: Result<u64, D>) -> u64 { match (a, b) { (Some(a), Ok(n)) => a.len() + leaf(n).await, (Some(a), Err(b)) if leaf(a.len()).await == b.len() => { drop(a); wait().await; log("mid"); b.len() } (None, _) => 0, (_, Err(e)) => { leaf(e).await; 3 } } }
$($task)* pub async fn e4() -> u64 { let s = Some(d("s")); let Some(ref g) = s else { return 0 }; let n = leaf(g.len()).await; let t = s.is_some().then(|| d("then")); wait().await; let u = t.unwrap_or_else(|| d("no")); n + leaf(u).await.len() }
$($task)* pub async fn e5() -> Result<u64, Error> { let g = d("g"); let r: Result<Vec<u64>, Error> = "1,2,x".split(',').map(|s| s.parse().map_err(Error::from)).collect(); let n = match r { Ok(ref v) => v.len() as u64, Err(ref e) => { let m = leaf(e.to_string()).await; log(&m); m.len() as u64 } }; if r.is_err() { wait().await; return r.map(|v| v[0]).or(Ok(n + g.len())); } Err(Error::Conflict) }
$($task)* pub async fn e6(n: u64) -> u64 { if n == 0 { return 1; } let g = N(n); let a = Box::pin(e6(n - 1)).await; let b = if n % 2 == 0 { Box::pin(e6(n - 2)).await } else { 0 }; drop(g); log("node"); a + b + leaf(n).await }
$($task)* pub async fn e7() -> Vec<u64> { let mut work = vec![(0u64, d("root"))]; let mut seen = HashSet::new(); let mut out = vec![]; while let Some((n, g)) = work.pop() { if !seen.insert(n) { drop(g); log("dup"); continue; } out.push(leaf(n).await); for m in [n * 2 + 1, n / 2] { if m > 4 || seen.contains(&m) { continue; } work.push((m, leaf(d("child")).await)); } } out }
$($task)* pub async fn e8() -> (u64, String) { let mut acc = (0, String::new(), d("acc")); for (i, w) in ["a", "b", "a"].iter().enumerate() { acc = match (acc, *w) { ((n, s, g), "a") => (n + leaf(1).await, s + w, g), ((n, _, g), w) if i == 1 => { drop(g); wait().await; (n * 2, w.repeat(2), d("new")) } (other, _) => other }; } (acc.0, acc.1) }
$($task)* pub async fn e9() -> u64 { let t = (d("t0"), d("t1"), 5u64); let a = t.0; let n = leaf(t.2).await; log("a"); drop(a); wait().await; n + t.1.len() }
$($task)* pub async fn e10() -> u64 { let b = Box::new(fields("bx", "by")); let n = leaf(b.n).await; let Fields { x, .. } = *b; wait().await; log("unboxed"); n + x.len() }
$($task)* pub async fn e11() -> u64 { let v = [d("a0"), d("a1"), d("a2")]; let [first, rest @ ..] = v; wait().await; drop(first); for r in rest { if leaf(r.len()).await == 2 && r.name() == "a1" { log("brk"); break; } } log("end"); 1 }
$($task)* pub async fn e13() -> Result<(), Error> { let tx = Tx::begin("t"); let mut tx = tx; for i in 0..2 { tx.exec(format!("i{i}"))?; if leaf(i).await == 1 { tx.exec("bad").map_err(|e| { log(format!("x {e}")); e })?; } } tx.commit().map(drop) }
$($task)* pub async fn e14() -> Result<usize, Error> { let r = { let mut tx = Tx::begin("u"); tx.exec("1").and(Ok(()))?; wait().await; tx.commit() }; let n = r?; Ok(Tx::begin("v").exec(leaf("op").await)? + n) }
$($task)* pub async fn e15() -> u64 { let pool = Pool::new(1); let n = pool.get().map(|c| c.id + 5).unwrap_or(1); let m = leaf(pool.get_or_make().id).await; let rows = pool.get_or_make().query("a b").map(|r| r.len() as u64).unwrap_or(0); let k = leaf(pool.get_or_make()).await.id; log("end"); n + m + rows + k }
$($task)* pub async fn e16() -> u64 { let pool = Pool::new(1); if let Some(c) = pool.get() { let n = c.query("x").unwrap().len() as u64; if leaf(n).await == 1 { log("in use"); assert!(pool.get().is_none()); } } else { wait().await; } let again = pool.get().is_some(); leaf(again as u64).await }
$($task)* pub async fn e17() -> u64 { let mut it = vec![d("i0"), d("i1"), d("i2")].into_iter(); let mut n = 0; while let Some(x) = it.next() { if x.name() == "i1" { break; } n += leaf(x).await.len(); } log("rest"); let last = it.next_back(); wait().await; n + last.map_or(0, |l| l.len()) }
$($task)* pub async fn e18() -> u64 { let mut o = Some(d("o")); let mut n = 0; while o.is_some() { let x = o.take().unwrap(); n += 1; o = match n { 1 => Some(leaf(x).await), 2 => { let y = d("y"); drop(x); wait().await; Some(y) } _ => None }; log("turn"); } n }
$($task)* pub async fn e19() -> u64 { let g = scopeguard(|| log("guard runs")); let n = leaf(1).await; let h = scopeguard(move || log(format!("h {n}"))); std::mem::forget(h); let k = leaf(2).await; drop(g); wait().await; k }
$($task)* pub async fn e20() -> Vec<(u64, u64)> { let mut h = BinaryHeap::from(vec![(5u64, 1u64), (9, 2), (7, 3)]); let mut out = vec![]; while let Some((p, id)) = h.pop() { if let Some(mut top) = h.peek_mut() { top.0 -= 6; } if p > 8 { h.push((leaf(p - 5).await, id)); } out.push((p, id)); wait().await; } out }
$($task)* pub async fn e21() -> u64 { let c = std::cell::Cell::new(1); let k0 = leaf(1).await; c.set(c.get() + k0); let r = std::cell::RefCell::new(vec![N(1)]); r.borrow_mut().push(N(2)); let n = r.borrow().len() as u64; let k = leaf(n).await; let top = r.borrow_mut().pop(); wait().await; log("popped"); c.get() + k + top.map_or(0, |n| n.0) }
$($task)* pub async fn e22(q: D) -> &'static str { let r = match q.name() { "q" if leaf(true).await => "Q", s if s.len() > 3 => "long", _ => "other" }; log("m"); let t = q; wait().await; r }
$($task)* pub async fn e23() -> u64 { let n = std::iter::successors(Some(1u64), |n| (*n < 40).then(|| n * 3)).last().unwrap_or(0); let g = (d("p0"), N(n)); let f = |k: u64| g.1.0 + k; let a = f(leaf(1).await); let b = leaf(f(2)).await; let (p, _) = g; drop(p); wait().await; log("end"); a + b }
$($task)* pub async fn e24() -> Result<u64, Error> { let _t = span("total"); let mut m = Metrics { hits: 0, misses: 0, label: "m".into() }; let r = async_step(1, &mut m.hits).await.and(async_step(8, &mut m.misses).await); m.label = match &r { Ok(n) => format!("ok{n}"), Err(e) => leaf(e.to_string()).await }; let h = m.hits; r.map(|n| n + h) }
$($task)* pub async fn async_step(n: u64, c: &mut u64) -> Result<u64, Error> { *c += 1; let g = N(n); wait().await; *c += g.0; if n > 7 { Err(Error::Timeout { after: *c }) } else { Ok(leaf(*c).await) } }
$($task)* pub async fn e25() -> u64 { let v: Vec<D> = vec![leaf(d("v0")).await, d("v1")]; let m = v.iter().map(|x| x.len()).max().unwrap() + leaf(1).await; let names: Vec<String> = v.iter().map(|x| x.name().to_uppercase()).collect(); drop(v); log("v"); let s = leaf(names.join("")).await; let [a, b] = <[String; 2]>::try_from(names).unwrap(); m + (a.len() + b.len()) as u64 + leaf(s).await.len() as u64 }
$($task)* pub async fn e26(mut n: u64) -> Vec<u64> { let mut v = vec![n]; while n != 1 { let g = N(n); n = if n % 2 == 0 { leaf(n / 2).await } else if n > 20 { break } else { leaf(3 * n).await + 1 }; if v.len() == 3 { v.clear(); continue } v.push(g.0); } v }
$($task)* pub async fn e28() -> u64 { 'l: loop { let g = d("l"); let r = loop { match leaf(1).await { 1 => { let h = d("h"); break 'l h.len() } _ => break 2 } }; log(r); } }
$($task)* pub async fn e27() -> u64 { let x = leaf(d("x")).await; let y = d("y"); let pick = if leaf(x.len()).await > 0 { &x } else { &y }; let n = pick.len(); let z = leaf(n).await; let w = std::convert::identity(y); log("w"); z + w.len() }
} }

programs! {
    owned e1();
    owned e2();
    owned e3(Some(D("a")), Err(D("b")));
    owned e4();
    owned e5();
    owned e6(3);
    owned e7();
    owned e8();
    owned e9();
    owned e10();
    owned e11();
    owned e13();
    owned e14();
    owned e15();
    owned e16();
    owned e17();
    owned e18();
    owned e19();
    owned e20();
    owned e21();
    owned e22(D("q"));
    owned e23();
    owned e24();
    owned e25();
    owned e26(7);
    owned e28();
    owned e27();
}
