//! `let _` and other patterns that leave a part of a value, beside an await.

use super::arms::*;
use super::contexts::*;
use super::kit::*;
use super::rows::*;
use crate::harness::*;
use std::sync::{Arc, Mutex};
pub struct Coll(pub Vec<u64>);
pub struct It<'a>(std::slice::Iter<'a, u64>);
impl<'a> Iterator for It<'a> {
    type Item = Row;
    fn next(&mut self) -> Option<Row> {
        self.0.next().map(|n| Row(*n))
    }
}
impl Drop for It<'_> {
    fn drop(&mut self) {
        log("unlock")
    }
}
pub struct Row(pub u64);
impl Drop for Row {
    fn drop(&mut self) {
        log(format_args!("row {}", self.0))
    }
}
impl<'a> IntoIterator for &'a Coll {
    type Item = Row;
    type IntoIter = It<'a>;
    fn into_iter(self) -> It<'a> {
        log("lock");
        It(self.0.iter())
    }
}
pub static COLL: Coll = Coll(vec![]);
pub fn coll() -> &'static Coll {
    kept(Coll(vec![1, 2, 3]))
}
corpus! {
  fn s_1() -> u64 { rows(leaf(d("x")).await.len()); log("z"); wait().await; 1 } with ();
  fn s_2() -> u64 { _ = rows(leaf(d("x")).await.len()); log("z"); wait().await; 1 } with ();
  fn s_3() -> u64 { drop(rows(leaf(d("x")).await.len())); log("z"); wait().await; 1 } with ();
  fn s_4() -> u64 { rows(leaf(d("x")).await.len()).1.len(); log("z"); wait().await; 1 } with ();
  fn s_5() -> u64 { let n = rows(leaf(d("x")).await.len()).1.len(); log("z"); wait().await; n } with ();
  fn s_6() -> u64 { let n = two(leaf(d("x")).await.len(), rows(2).1.len()); log("z"); wait().await; n } with ();
  fn s_7() -> u64 { two(leaf(d("x")).await.len(), rows(2).1.len()) } with ();
  fn s_8() -> u64 { let z = d("z"); return two(leaf(d("x")).await.len(), rows(2).1.len()); } with ();
  fn s_9() -> u64 { let z = d("z"); loop { let w = d("w"); if z.yes() { break two(leaf(d("x")).await.len(), rows(2).1.len()); } } } with ();
  fn s_10() -> u64 { let s = Fields { n: leaf(d("x")).await.len(), x: d("k"), ..fields("p", "q") }; log("z"); wait().await; s.n } with ();
  fn s_11() -> D { let a = d("a"); rows(leaf(d("x")).await.len()).0 } with ();
  fn s_12() -> Result<u64, D> { let a = d("a"); let n = rr(leaf(d("x")).await.len())?.0.len(); log("z"); wait().await; Ok(n) } with ();
  fn s_13() -> Result<u64, D> { rr(leaf(d("x")).await.len())?; log("z"); wait().await; Ok(1) } with ();
  fn s_14() -> Option<u64> { opt_rows(leaf(d("x")).await.len())?.0.some() } with ();
  fn s_15() -> u64 { if rows(leaf(d("x")).await.len()).0.yes() { log("in"); wait().await; } 1 } with ();
  fn s_16() -> u64 { let a = d("a"); if let Some(q) = opt_rows(leaf(d("x")).await.len()) { log("in"); wait().await; } else { log("e"); } 1 } with ();
  fn s_17() -> u64 { let x = { let y = d("y"); rows(leaf(d("x")).await.len()) }; log("z"); wait().await; x.0.len() } with ();
  fn s_18() -> u64 { let _ = { let y = d("y"); rows(leaf(d("x")).await.len()) }; log("z"); wait().await; 1 } with ();
  fn s_19() -> u64 { let _ = if d("c").yes() { rows(leaf(d("x")).await.len()) } else { prs("o", "p") }; log("z"); wait().await; 1 } with ();
  fn s_20() -> u64 { let _ = match opt("a") { Some(x) => rows(leaf(x).await.len()), None => prs("o", "p") }; log("z"); wait().await; 1 } with ();
  fn s_21() -> u64 { let _ = leaf(d("a")).await.some().map(|n| d("m")); log("z"); wait().await; 1 } with ();
  fn s_22() -> Result<u64, D> { let _ = leaf(res("a")).await?; log("z"); wait().await; Ok(1) } with ();
  fn s_23() -> Result<u64, D> { let _ = rr(leaf(res("a")).await?.len()); log("z"); wait().await; Ok(1) } with ();
  fn s_24() -> u64 { let _g = rows(leaf(d("x")).await.len()); log("z"); wait().await; 1 } with ();
  fn s_25() -> u64 { let (_, _) = rows(leaf(d("x")).await.len()); log("z"); wait().await; 1 } with ();
  fn s_27(m: Arc<Mutex<Vec<D>>>) -> u64 { let x = leaf(d("q")).await; let _ = m.lock().unwrap().push(x); let n = m.lock().unwrap().len(); wait().await; n as u64 } with (Arc::new(Mutex::new(vec![d("a")])));
  fn k_1(c: &'static Coll) -> u64 { for x in c { if x.0 == 2 { wait().await; log("t"); return x.0; } } 0 } with (coll());
  fn k_3(v: u64) -> u64 { let c = coll(); for x in c { if x.0 == 2 { wait().await; log("t"); return x.0; } } 0 } with (1);
  fn k_4(v: u64) -> u64 { let c = coll(); let mut s = 0; for x in c { s += x.0; if x.0 == 2 { wait().await; log("t"); break; } } log("z"); s } with (1);
  fn p_1() -> u64 { let mut a = p("old"); a = leaf(p("new")).await; log("z"); wait().await; a.len() } with ();
  fn p_2() -> u64 { let mut v = vec![p("a"), p("b")]; v[0] = leaf(p("new")).await; log("z"); wait().await; v.len() as u64 } with ();
  fn p_3() -> u64 { let (mut a, mut b) = (p("a"), p("b")); (a, b) = (leaf(p("c")).await, p("e")); log("z"); wait().await; a.len() + b.len() } with ();
  fn p_4() -> u64 { let mut o = Some(p("a")); o.replace(leaf(p("b")).await); log("y"); wait().await; o.insert(leaf(p("c")).await); log("z"); let n = o.get_or_insert_with(|| p("q")).len(); wait().await; n } with ();
  fn p_5() -> u64 { if let None = leaf(Some(p("a"))).await { 1 } else { log("e"); wait().await; 2 } } with ();
  fn p_6() -> u64 { let mut q = vec![p("1"), p("2"), p("3")]; let mut n = 0; while let Some(x) = q.pop() { let y = p("y"); wait().await; if x.0 == "2" { continue; } n += y.len(); } n } with ();
  fn p_7() -> u64 { let b = Box::new((p("a"), p("b"))); let (x, y) = *b; wait().await; drop(x); log("z"); wait().await; y.len() } with ();
  fn p_8() -> u64 { let mut o = Some(p("a")); while let Some(x) = o.take() { wait().await; if x.0 == "a" { o = Some(p("b")); } log("t") } 1 } with ();
  fn p_9() -> u64 { let x; let y = p("y"); { let z = p("z"); x = leaf(p("x")).await; log("in"); wait().await; } log("out"); wait().await; P::len(&x) } with ();
  fn p_10() -> u64 { let mut v = vec![p("1"), p("2"), p("3")]; let t = v.split_off(1); wait().await; let s = v.swap_remove(0); wait().await; v.extend(t); v.retain(|x| x.0 != "2"); wait().await; let n: u64 = v.drain(..).map(|x| x.len()).sum(); wait().await; n + s.len() } with ();
  fn p_11() -> u64 { let a = std::mem::replace(&mut Some(p("a")), Some(leaf(p("b")).await)); wait().await; log("z"); a.map_or(0, |x| x.len()) } with ();
  fn p_12() -> u64 { let mut s = (p("a"), p("b"), 1); s.0 = leaf(p("c")).await; wait().await; drop(s.1); s.1 = p("n"); wait().await; let (x, ..) = s; wait().await; x.len() } with ();
  fn r_1(n: u64, x: D) -> u64 { if n == 0 { return x.len(); } let y = d("y"); let r = Box::pin(r_1(n - 1, y)).await; log(x.0); r + 1 } with (2, d("x"));
  fn r_2(n: u64, x: Option<D>) -> u64 { let Some(x) = x else { return 1 }; if n == 0 { return x.len(); } let r = two(Box::pin(r_2(n - 1, Some(x))).await, n); wait().await; r } with (2, Some(d("x")));
  fn r_3(n: u64, mut v: Vec<D>) -> Vec<D> { if n == 0 { v.push(d("end")); return v; } v.push(leaf(d("p")).await); let w = Box::pin(r_3(n - 1, v)).await; wait().await; w } with (2, vec![d("x")]);
}
