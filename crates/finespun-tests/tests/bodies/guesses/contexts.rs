//! Contexts that hold a `&mut`; values behind a user-defined `Deref`.

use super::kit::*;
use crate::harness::*;
use std::cell::{Cell, LazyCell, RefCell};
use std::sync::LazyLock;
pub fn opt(n: &'static str) -> Option<D> {
    Some(d(n))
}
pub fn none() -> Option<D> {
    log("none");
    None
}
pub fn res(n: &'static str) -> Result<D, D> {
    Ok(d(n))
}
pub fn bad(n: &'static str) -> Result<D, D> {
    Err(d(n))
}
pub fn prs(a: &'static str, b: &'static str) -> (D, D) {
    (d(a), d(b))
}
pub fn bump(n: &mut u64) -> u64 {
    *n += 1;
    *n
}
pub struct Ctx<'a> {
    pub total: &'a mut u64,
    pub k: u64,
}
pub struct Lazy<T>(pub std::cell::OnceCell<T>, pub fn() -> T);
// a lazily filled cache
pub struct Table(pub std::sync::OnceLock<Vec<u64>>);
impl std::ops::Deref for Table {
    type Target = Vec<u64>;
    fn deref(&self) -> &Vec<u64> {
        self.0.get_or_init(|| {
            log("load");
            point();
            vec![1, 2, 3]
        })
    }
}
pub fn table() -> Table {
    Table(Default::default())
}
pub struct Conn {
    pub n: u64,
    pub name: D,
}
pub struct Pooled(pub Option<Conn>);
impl std::ops::Deref for Pooled {
    type Target = Conn;
    fn deref(&self) -> &Conn {
        self.0.as_ref().expect("on purpose: returned")
    }
}
impl std::ops::DerefMut for Pooled {
    fn deref_mut(&mut self) -> &mut Conn {
        self.0.as_mut().expect("on purpose: returned")
    }
}
impl Drop for Pooled {
    fn drop(&mut self) {
        log("give back")
    }
}
pub fn pooled(on: bool) -> Pooled {
    Pooled(on.then(|| Conn { n: 3, name: d("conn") }))
}
impl Conn {
    pub fn add(&mut self, n: u64) -> u64 {
        self.n += n;
        self.n
    }
    pub fn get(&self, n: u64) -> u64 {
        self.n + n
    }
}
pub fn by2(a: &u64, b: u64) -> u64 {
    *a + b
}
pub fn names(a: &D, b: u64) -> u64 {
    log(a.0);
    a.len() + b
}
static LZ: LazyLock<u64> = LazyLock::new(|| 5);
corpus! {
  fn a_none_or() -> u64 { let n = two(match opt("a") { Some(x) if x.len() > 5 => 1, None | Some(_) => 2 }, leaf(3).await); log("x"); n } with ();
  fn a_none_or2() -> u64 { two(match opt("a") { None | Some(_) => 2 }, leaf(3).await) } with ();
  fn a_none_or3() -> u64 { let n = (match opt("a") { Some(x) if x.no() => 1, None | Some(D(..)) => 2 }) + leaf(3).await; log("x"); n } with ();
  fn a_none_or4() -> u64 { let n = leaf(match opt("a") { Some(x) if x.no() => 1, None | Some(_) => 2 }).await; log("x"); n } with ();
  fn a_none_let() -> u64 { let n = match opt("a") { Some(x) if x.no() => { wait().await; 1 } None | Some(_) => { log("in"); wait().await; 2 } }; log("x"); n } with ();
  fn a_lazy_len() -> u64 { let t = LazyLock::new(|| { log("init"); 3u64 }); let n = t.pow(leaf(2).await); log("x"); n } with ();
  fn a_lazy_ref3() -> u64 { let t = LazyLock::<u64>::new(|| { log("init"); 3 }); let n = by2(&*t, leaf(4).await); log("y"); n } with ();
  fn a_lazy_touch() -> u64 { let t = LazyLock::<u64>::new(|| { log("init"); 3 }); let _ = *t; wait().await; log("y"); *t } with ();
  fn a_pool_add(on: bool) -> u64 { let mut c = pooled(on); let n = c.add(leaf(1).await); log("x"); n } with (false);
  fn a_pool_get(on: bool) -> u64 { let c = pooled(on); let n = c.get(leaf(1).await); log("x"); n } with (false);
  fn a_pool_cmp(on: bool) -> bool { let c = pooled(on); let n = c.n == leaf(1).await; log("x"); n } with (false);
  fn a_pool_arg(on: bool) -> u64 { let c = pooled(on); let n = names(&c.name, leaf(1).await); log("x"); n } with (false);
  fn a_pool_coerce(on: bool) -> u64 { let c = pooled(on); let n = conn_get(&c, leaf(1).await); log("x"); n } with (false);
  fn a_pool_inc(on: bool) -> u64 { let mut c = pooled(on); c.n += leaf(1).await; log("x"); c.n } with (false);
  fn a_pool_set(on: bool) -> u64 { let mut c = pooled(on); c.n = leaf(1).await; log("x"); c.n } with (false);
  fn a_ctx_cmp() -> bool { let mut n = 3u64; let ctx = Ctx { total: &mut n, k: 1 }; let r = *ctx.total == leaf(bump(ctx.total)).await; log("x"); r } with ();
  fn a_ctx_cmp2() -> bool { let mut n = 3u64; let ctx = (&mut n, 1u64); let r = *ctx.0 < leaf(bump(ctx.0)).await; log(*ctx.0); r } with ();
  fn a_ctx_cmp3() -> u64 { let mut n = 3u64; let ctx = Ctx { total: &mut n, k: 1 }; while *ctx.total < leaf(bump(ctx.total)).await { if *ctx.total > 6 { break; } } *ctx.total } with ();
}
pub fn conn_get(c: &Conn, n: u64) -> u64 {
    c.n + n
}
