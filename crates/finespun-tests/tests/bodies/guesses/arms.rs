//! Arms of several patterns; matches that are operands.

use super::contexts::*;
use super::cursors::*;
use super::kit::*;
use super::rows::*;
use crate::harness::*;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, OnceLock};
pub struct Span(pub &'static str);
impl Span {
    pub fn enter(&self) -> Entered<'_> {
        log(format_args!("enter {}", self.0));
        Entered(self)
    }
    pub fn child(&self, n: u64) -> Span {
        Span("child")
    }
}
impl Drop for Span {
    fn drop(&mut self) {
        log(format_args!("close {}", self.0))
    }
}
pub struct Entered<'a>(pub &'a Span);
impl Drop for Entered<'_> {
    fn drop(&mut self) {
        log(format_args!("exit {}", self.0.0))
    }
}
pub struct Tx {
    pub ops: Vec<u64>,
    pub guard: D,
    pub done: bool,
}
impl Tx {
    pub fn begin() -> Tx {
        Tx { ops: vec![], guard: d("tx"), done: false }
    }
    pub fn set(mut self, n: u64) -> Tx {
        self.ops.push(n);
        self
    }
    pub fn commit(self) -> Result<u64, D> {
        log("commit");
        Ok(self.ops.len() as u64)
    }
    pub fn split(self) -> (Vec<u64>, D) {
        let Tx { ops, guard, .. } = self;
        (ops, guard)
    }
    pub fn put(&mut self, n: u64) -> &mut Tx {
        self.ops.push(n);
        self
    }
    pub fn stat(&self) -> (u64, D) {
        (self.ops.len() as u64, d("stat"))
    }
}
pub fn load(n: u64, x: &D) -> (D, D) {
    log(x.0);
    (d("l"), d("m"))
}
pub fn tri(n: u64) -> [D; 3] {
    [d("a"), d("b"), d("c")]
}
pub fn rr(n: u64) -> Result<(D, D), D> {
    Ok(prs("a", "b"))
}
pub fn pp(a: &'static str) -> (P, P) {
    (p(a), p("pp"))
}
corpus! {
  fn e_1() -> u64 { let (a, _) = load(1, &leaf(d("x")).await); log("y"); wait().await; a.len() } with ();
  fn e_2() -> u64 { let (_, b) = load(leaf(d("x")).await.len(), &d("t")); log("y"); wait().await; b.len() } with ();
  fn e_3() -> u64 { let [a, ..] = tri(leaf(d("x")).await.len()); log("y"); wait().await; a.len() } with ();
  fn e_4() -> u64 { let Pair(a, _) = Pair(leaf(d("x")).await, d("y")); log("y"); wait().await; a.len() } with ();
  fn e_5() -> u64 { let (n, _) = (leaf(d("x")).await.len(), d("y")); log("z"); wait().await; n } with ();
  fn e_6() -> u64 { let (_, n) = (d("y"), leaf(d("x")).await.len()); log("z"); wait().await; n } with ();
  fn e_7() -> u64 { let _ = (d("y"), leaf(d("x")).await.len()); log("z"); wait().await; 1 } with ();
  fn e_8() -> u64 { let _ = rows(leaf(d("x")).await.len()); log("z"); wait().await; 1 } with ();
  fn e_9() -> u64 { let _ = rows(leaf(d("x")).await.len()).0; log("z"); wait().await; 1 } with ();
  fn e_10() -> Result<u64, D> { let (a, _) = rr(leaf(d("x")).await.len())?; log("z"); wait().await; Ok(a.len()) } with ();
  fn e_11() -> u64 { let Ok((a, _)) = rr(leaf(d("x")).await.len()) else { return 1 }; log("z"); wait().await; a.len() } with ();
  fn e_12() -> u64 { let (ref a, _) = prs("a", "b"); log(a.0); log("z"); let n = leaf(3).await; n } with ();
  fn e_13() -> u64 { let t = Tx::begin(); let (n, _) = t.stat(); wait().await; log("z"); n } with ();
  fn e_14() -> u64 { let t = Tx::begin(); let (n, _) = t.set(leaf(d("x")).await.len()).stat(); wait().await; log("z"); n } with ();
  fn e_15() -> u64 { let (v, _) = Tx::begin().set(leaf(d("x")).await.len()).split(); wait().await; log("z"); v.len() as u64 } with ();
  fn e_16() -> u64 { let Fields { n, .. } = rows3(leaf(d("x")).await.len()); wait().await; log("z"); n } with ();
  fn e_17() -> u64 { let (a, _): (D, D) = rows(leaf(d("x")).await.len()); wait().await; log("z"); a.len() } with ();
  fn e_18() -> u64 { let n = if let (a, _) = rows(leaf(d("x")).await.len()) { log("in"); wait().await; a.len() } else { 1 }; log("z"); n } with ();
  fn e_19() -> u64 { let n = match rows(leaf(d("x")).await.len()) { (a, _) => { log("in"); wait().await; a.len() } }; log("z"); n } with ();
  fn e_20() -> u64 { let n = match rows(leaf(d("x")).await.len()) { (a, _) => { log("in"); a.len() } }; log("z"); n } with ();
  fn e_21() -> u64 { let mut s = 0; for (a, _) in vec![rows(leaf(d("x")).await.len()), prs("c", "e")] { log("in"); wait().await; s += a.len() } s } with ();
  fn e_22() -> u64 { let a; (a, _) = rows(leaf(d("x")).await.len()); log("z"); wait().await; D::len(&a) } with ();
  fn e_23() -> u64 { let (a, b); (a, b) = (leaf(d("x")).await, d("y")); log("z"); wait().await; a.len() + b.len() } with ();
  fn e_24() -> u64 { let a; [a, ..] = tri(leaf(d("x")).await.len()); log("z"); wait().await; D::len(&a) } with ();
  fn e_25() -> u64 { let a; Pair(a, _) = Pair(leaf(d("x")).await, d("y")); log("z"); wait().await; D::len(&a) } with ();
  fn e_26() -> u64 { let mut a = d("old"); (a, _) = rows(leaf(d("x")).await.len()); log("z"); wait().await; a.len() } with ();
  fn e_27() -> u64 { let mut a = d("old"); (_, a) = (leaf(d("x")).await, d("y")); log("z"); wait().await; a.len() } with ();
  fn e_28() -> u64 { let mut s = fields("a", "b"); (s.x, _) = rows(leaf(d("q")).await.len()); log("z"); wait().await; s.x.len() } with ();
  fn e_29() -> u64 { let (a, _) = pp2(leaf(p("x")).await.len()); log("y"); wait().await; a.len() } with ();
  fn e_30() -> u64 { let x = match leaf(opt("o")).await { Some(x) => x, None => return 2 }; let n = two(x.len(), leaf(d("y")).await.len()); drop(x); wait().await; n } with ();
  fn f_1() -> u64 { let f = leaf(d("a")); wait().await; log("z"); f.await.len() } with ();
  fn f_2() -> u64 { let f = leaf(d("a")); wait().await; drop(f); log("z"); wait().await; 1 } with ();
  fn f_3(c: bool) -> u64 { let mut f = leaf(d("a")); if c { f = leaf(d("b")); } wait().await; let x = f.await; log("z"); x.len() } with (true);
  fn f_4(c: bool) -> u64 { let n = if c { leaf(d("a")) } else { leaf(d("b")) }.await.len(); log("z"); n } with (true);
  fn f_5() -> u64 { let o = Some(leaf(d("a"))); log("q"); if let Some(f) = o { f.await.len() } else { 1 } } with ();
  fn f_6() -> u64 { let v = vec![leaf(d("a")), leaf(d("b")), leaf(d("c"))]; let mut s = 0; for f in v { if s == 1 { break; } s += f.await.len(); } log("z"); s } with ();
  fn f_7() -> u64 { let (f, g) = (leaf(d("a")), leaf(d("b"))); let b = g.await; log("z"); let a = f.await; a.len() + b.len() } with ();
  fn f_8() -> u64 { let _f = leaf(d("a")); wait().await; log("z"); 1 } with ();
  fn f_9() -> u64 { let f = leaf(d("a")); let n = two(leaf(d("b")).await.len(), f.await.len()); log("z"); n } with ();
  fn f_10() -> u64 { let f = |x: D| leaf(x); let n = f(d("a")).await.len(); log("z"); n } with ();
  fn f_11(v: Vec<D>) -> u64 { let mut s = 0; for f in v.into_iter().map(leaf) { s += f.await.len(); log("t") } s } with (vec![d("a"), d("b")]);
  fn g_fmt() -> String { let w = 3; let x = 1u64; wait().await; let w = 6; let x = leaf(2u64).await; let p = 2; let f = 1.5f64; format!("{x:>w$}|{f:w$.p$}|{:w$}|{:>1$}|{{x}}|{x:?}", x, w) } with ();
  fn g_fmt2() -> String { let x = 1; let s = { let x = leaf(5).await; format!("{x}{}", { let x = 7; format!("{x}") }) }; format!("{s}{x}{x:02}{}", x) } with ();
  fn g_clo() -> u64 { let k = leaf(2u64).await; let f = |a: D| two(a.len() + k, d("t").len()); let n = f(d("arg")); log("z"); n } with ();
  fn g_clo2() -> u64 { let t = leaf(1u64).await; let v = vec![d("a"), d("b")]; let n = v.into_iter().map(|x| x.len() + d("tmp").len() + t).sum::<u64>(); log("z"); wait().await; n } with ();
  fn g_clo3() -> Option<u64> { let t = leaf(1u64).await; let n = opt("a").filter(|x| x.len() + d("tmp").len() > t).map(|x| match opt("q") { Some(y) => y.len(), None => x.len() }); log("z"); wait().await; n } with ();
  fn g_clo4() -> u64 { let t = leaf(1u64).await; let f = |a: D, b: D| -> u64 { if let Some(q) = opt("q").as_ref() { q.len() } else { t } }; let n = f(d("1"), d("2")); log("z"); n } with ();
  fn g_clo5() -> u64 { let t = leaf(1u64).await; let f = |_: D, (x, _): (D, D)| opt("q").as_ref().map_or(t, |q| q.len() + x.len()); let n = f(d("1"), prs("2", "3")); log("z"); n } with ();
  fn g_span() -> u64 { let s = Span("root"); let n = { let _e = s.enter(); log("in"); 3 }; let c = s.child(leaf(n).await); wait().await; drop(s); log("z"); n } with ();
  fn g_span2() -> u64 { let s = Span("root"); let n = { let _e = s.enter(); leaf(3).await }; log("z"); n } with ();
  fn g_span3() -> u64 { let n = { let s = Span("a"); s.enter(); let _ = s.enter(); leaf(3).await }; log("z"); n } with ();
  fn g_tx() -> Result<u64, D> { let t = Tx::begin(); let t = t.set(leaf(1).await); let t = t.set(leaf(d("y")).await.len()); let n = t.commit()?; wait().await; Ok(n) } with ();
  fn g_tx2() -> u64 { let mut t = Tx::begin(); t.put(1).put(leaf(2).await); log("z"); wait().await; t.ops.len() as u64 } with ();
  fn g_tx3() -> u64 { let mut t = Tx::begin(); t.put(1).put(2); let n = t.put(leaf(2).await).ops.len() as u64; log("z"); wait().await; n } with ();
  fn g_tx4() -> u64 { let mut t = Tx::begin(); for i in 0..leaf(3u64).await { if i == 1 { continue; } let u = t.stat(); t = t.set(u.0); wait().await; } let Tx { ops, .. } = &t; ops.len() as u64 } with ();
  fn g_chain(o: Option<D>) -> u64 { if let Some(x) = o && x.yes() && let Some(n) = x.some() { wait().await; log("in"); n } else { wait().await; log("else"); 2 } } with (Some(d("o")));
  fn g_chain2() -> u64 { if let Some(x) = opt("a") && x.no() { wait().await; log("in"); 1 } else { log("else"); wait().await; 2 } } with ();
  fn g_chain3() -> u64 { let mut i = 0; while let Some(x) = opt("a") && i < 2 { i += 1; wait().await; log("in"); } log("z"); i } with ();
}
pub fn pp2(n: u64) -> (P, P) {
    log(n);
    pp("a")
}
