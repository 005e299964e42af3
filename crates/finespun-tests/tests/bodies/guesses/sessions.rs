//! User-defined iterators and builders.

use super::kit::*;
use super::views::*;
use crate::harness::*;
use std::collections::*;
pub struct It(pub u64);
impl Iterator for It {
    type Item = D;
    fn next(&mut self) -> Option<D> {
        self.0 += 1;
        (self.0 < 3).then(|| d("it"))
    }
}
impl Drop for It {
    fn drop(&mut self) {
        log("drop it");
    }
}
impl It {
    pub fn scan(&self) -> u64 {
        5
    }
    pub fn rev(&self) -> u64 {
        6
    }
}
pub trait Cnt {
    fn count(&self) -> D;
    fn contains(&self, n: u64) -> Option<D>;
}
impl Cnt for u64 {
    fn count(&self) -> D {
        d("cu")
    }
    fn contains(&self, n: u64) -> Option<D> {
        Some(d("co"))
    }
}
pub struct Sess(pub D);
impl Sess {
    pub fn is_ok(&self) -> Result<D, u64> {
        Ok(d("ok"))
    }
    pub fn push(self, n: u64) -> Sess {
        log("push");
        self
    }
    pub fn next(self) -> Option<D> {
        Some(self.0)
    }
    pub fn take(&self) -> u64 {
        3
    }
    pub fn clone(&self) -> D {
        d("cl")
    }
    pub fn last(&self) -> Option<D> {
        Some(d("la"))
    }
}
pub fn mkf(x: D) -> impl Fn(u64) -> u64 + Send + Sync {
    move |n| n + x.len()
}
corpus! {
  fn e_user_iter3() -> usize { let n = leaf(It(0).map(|x| x.len()).count()).await; log("x"); n } with ();
  fn e_user_iter4() -> usize { let n = leaf(It(0).by_ref().count()).await; log("x"); n } with ();
  fn e_take(s: Sess) -> u64 { let n = leaf(s.take()).await; log("m"); n } with (Sess(d("s")));
  fn e_clone(s: Sess) -> u64 { let c = s.clone(); wait().await; let l = s.last(); wait().await; c.len() } with (Sess(d("s")));
  fn f_fn(f: impl Fn(u64) -> u64 + Send + Sync + 'static) -> u64 { let z = d("z"); let n = f(leaf(1).await); wait().await; n } with (mkf(d("f")));
  fn f_once(f: Box<dyn FnOnce(u64) -> u64 + Send>) -> u64 { let z = d("z"); let n = f(leaf(1).await); wait().await; n } with ({ let f = mkf(d("f")); Box::new(move |n| f(n)) });
  fn f_mk() -> u64 { let f = mkf(d("f")); let z = d("z"); let n = f(1); wait().await; n } with ();
  fn f_mk2() -> u64 { let n = mkf(d("f"))(leaf(3).await); log("m"); n } with ();
  fn f_mk3() -> u64 { let n = leaf(mkf(d("f"))(3)).await; log("m"); n } with ();
  fn f_clo_part() -> u64 { let p = pair("a", "b"); let f = move || p.0.len(); let z = d("z"); let n = f(); wait().await; n + p.1.len() } with ();
  fn f_clo_part2() -> u64 { let p = pair("a", "b"); let a = p.0; let n = (|| p.1.len())(); let z = d("z"); wait().await; n } with ();
  fn f_clo_drop() -> u64 { let p = d("p"); let f = move || drop(p); let z = d("z"); f(); log("m"); wait().await; 1 } with ();
  fn f_clo_cond(c: bool) -> u64 { let p = d("p"); let f = move || p.len(); let z = d("z"); wait().await; if c { return f(); } eat(z); wait().await; f() } with (true);
  fn f_clo_nest() -> u64 { let p = d("p"); let q = d("q"); let f = move || { let g = || p.len() + 1; g() }; let n = f() + leaf(2).await; log(q.name()); n } with ();
  fn f_async() -> u64 { let p = d("p"); let z = d("z"); let fut = async move { p.len() }; let n = foreign(fut).await; log("m"); wait().await; n } with ();
  fn f_async2() -> u64 { let p = d("p"); let fut = async move { let q = d("q"); p.len() + q.len() }; let z = d("z"); let n = leaf(1).await + foreign(fut).await; log("m"); n } with ();
  fn f_async3() -> u64 { let p = d("p"); let fut = async { p.len() }; drop(fut); wait().await; log("m"); 4 } with ();
  fn g_nested_if(c: u64) -> u64 { let a = d("a"); let r = if c == 1 { let b = d("b"); let t = leaf(d("t")).await; if t.len() == 1 { let u = d("u"); wait().await; Some(t) } else { None } } else { None }; let z = d("z"); wait().await; r.map_or(0, |x| x.len()) } with (1);
  fn g_early(c: u64) -> u64 { let a = d("a"); let n = match c { 1 => { let b = d("b"); wait().await; return b.len(); } 2 => { let q = d("q"); leaf(q).await.len() } _ => 0 }; let z = d("z"); wait().await; n } with (2);
  fn g_ref_later(v: Vec<D>) -> u64 { let mut best = None; for (i, x) in v.iter().enumerate() { if x.len() > 1 { best = Some(i); } wait().await; } log("m"); best.unwrap_or(9) as u64 } with (vec![d("a"), d("bb")]);
  fn g_iter_own(v: Vec<D>) -> u64 { let mut it = v.into_iter(); let first = it.next(); wait().await; log("m"); let z = d("z"); while let Some(x) = it.next_back() { wait().await; log(x.name()); if x.len() == 2 { break; } } first.map_or(0, |x| x.len()) } with (vec![d("a"), d("bb"), d("ccc")]);
  fn g_drain(mut v: Vec<D>) -> u64 { let mut n = 0; for x in v.drain(1..) { n += leaf(x.len()).await; } log("m"); n + v.len() as u64 } with (vec![d("a"), d("bb"), d("ccc")]);
  fn g_peek(v: Vec<D>) -> u64 { let mut it = v.into_iter().peekable(); let mut n = 0; while let Some(x) = it.next() { if let Some(p) = it.peek() { n += p.len(); } wait().await; } n } with (vec![d("a"), d("bb"), d("ccc")]);
  fn g_zip(v: Vec<D>) -> u64 { let w = vec![d("x"), d("y"), d("z")]; let mut n = 0; for (a, _) in v.into_iter().zip(w) { let k = leaf(a).await; if n == 1 { break; } n += 1; } log("m"); n } with (vec![d("a"), d("bb"), d("ccc")]);
  fn g_map_own() -> u64 { let mut m = BTreeMap::new(); m.insert(1, d("one")); m.insert(2, leaf(d("two")).await); let z = d("z"); for (k, v) in m { wait().await; log(k); eat(v); } 3 } with ();
  fn g_entry() -> u64 { let mut m: BTreeMap<u64, D> = BTreeMap::new(); let old = m.insert(leaf(1).await, d("n")); let old2 = m.insert(1, leaf(d("k")).await); wait().await; log("m"); m.len() as u64 } with ();
  fn g_mem() -> u64 { let mut o = Some(d("o")); let t = o.take(); wait().await; log("m"); o = Some(leaf(d("p")).await); let r = o.replace(d("q")); wait().await; 2 } with ();
  fn g_man() -> u64 { let mut x = std::mem::ManuallyDrop::new(d("x")); let y = d("y"); wait().await; let k = std::mem::ManuallyDrop::into_inner(x); wait().await; k.len() } with ();
  fn g_shadow() -> u64 { let x = d("1"); let x = (x, d("2")); wait().await; let x = { let (x, _) = x; wait().await; x }; log("m"); wait().await; x.len() } with ();
  fn g_let_under(o: Option<D>) -> u64 { let _ = leaf(d("a")).await; log("1"); let _b = leaf(d("b")).await; log("2"); _ = leaf(d("c")).await; log("3"); let _: D = leaf(d("e")).await; log("4"); 1 } with (None);
  fn g_stmt_val(c: bool) -> u64 { if c { let q = d("q"); leaf(d("a")).await } else { d("b") }; log("m"); { let q = d("q2"); leaf(d("v")).await }; log("n"); 2 } with (true);
  fn g_match_num() -> u64 { let r = match leaf(2u64).await { 1 => d("one"), n @ 2..=4 => { let t = d("t"); wait().await; d("two") } _ => d("other") }; wait().await; r.len() } with ();
  fn g_guess_len(v: &'static Store) -> u64 { let mut i = 0; let g = d("g"); while i < v.count().len() { let k = leaf(d("k")).await; i += k.len(); } i } with (&SX);
  fn g_gen_guess() -> u64 { let it = (0..3u64).map(|i| i * 2); let z = d("z"); let n = it.clone().count() as u64; wait().await; eat(z); wait().await; n + it.count() as u64 } with ();
}
pub static SS: Sess = Sess(D("s"));
pub static SX: Store = Store(1);
