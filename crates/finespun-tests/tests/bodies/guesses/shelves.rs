//! User-defined collections and iterators.

use super::arms::*;
use super::contexts::*;
use super::cursors::*;
use super::kit::*;
use super::leavings::*;
use super::rows::*;
use crate::harness::*;
use std::sync::{Arc, Mutex};
pub struct Wrap {
    pub inner: Shelf,
    pub k: u64,
}
pub fn wrap() -> &'static Wrap {
    kept(Wrap { inner: Shelf(vec![1, 2, 3]), k: 1 })
}
pub struct Msg {
    pub id: u64,
    pub body: D,
}
pub fn msg() -> Msg {
    Msg { id: 4, body: d("body") }
}
pub struct Rx(pub u64);
impl Rx {
    pub fn poll(&mut self) -> Option<Result<D, D>> {
        self.0 += 1;
        recv(self.0 - 1)
    }
    pub fn next(&mut self) -> Option<D> {
        self.0 += 1;
        (self.0 < 3).then(|| d("item"))
    }
}
pub enum Ev {
    Tick(u64),
    Data(D),
    Quit,
}
pub fn ev(n: u64) -> Ev {
    match n {
        0 => Ev::Tick(1),
        1 => Ev::Data(d("data")),
        _ => Ev::Quit,
    }
}
pub fn oev(n: u64) -> Option<Ev> {
    Some(ev(n))
}
corpus! {
  fn k_8(c: &'static Wrap) -> u64 { let mut it = (&c.inner).into_iter(); let a = it.next(); wait().await; log("z"); 1 } with (wrap());
  fn w_1() -> u64 { let mut rx = Rx(0); let mut s = 0; loop { s += match rx.poll() { Some(Ok(x)) => x.len(), None | Some(Err(_)) => break } + leaf(1).await; } s } with ();
  fn w_2() -> u64 { let mut rx = Rx(1); let t = (match rx.poll() { Some(Ok(x)) => x.len(), None | Some(Err(_)) => 1 }, leaf(1).await); log("z"); t.0 } with ();
  fn w_3() -> u64 { let mut rx = Rx(2); let t = Fields { x: d("x"), n: match rx.poll() { Some(Ok(x)) => x.len(), None | Some(Err(_)) => 1 }, y: leaf(d("y")).await }; log("z"); t.n } with ();
  fn w_4() -> u64 { let t = two(match oev(1) { Some(Ev::Tick(n)) => n, Some(Ev::Data(x)) => x.len(), None | Some(Ev::Quit) => 1 }, leaf(1).await); log("z"); t } with ();
  fn w_5() -> u64 { let t = two(match oev(1) { Some(Ev::Tick(n)) => n, None | Some(_) => 1 }, leaf(1).await); log("z"); t } with ();
  fn w_6() -> u64 { let t = two(match ev(1) { Ev::Tick(n) => n, _ => 1 }, leaf(1).await); log("z"); t } with ();
  fn w_7() -> u64 { let t = two(match oev(1) { Some(Ev::Data(x)) => x.len(), Some(e) => 2, None => 1 }, leaf(1).await); log("z"); t } with ();
  fn m_1() -> u64 { let _ = tell(leaf(msg()).await.id); log("z"); wait().await; 1 } with ();
  fn m_2() -> u64 { let _ = tell(leaf(4).await); log("z"); wait().await; 1 } with ();
  fn m_3() -> u64 { let Ok(_) = tell(leaf(msg()).await.id) else { return 2 }; log("z"); wait().await; 1 } with ();
  fn m_4() -> u64 { if tell(leaf(msg()).await.id).is_err() { log("err") } log("z"); wait().await; 1 } with ();
  fn m_5() -> u64 { tell(leaf(msg()).await.id).ok(); log("z"); wait().await; 1 } with ();
  fn m_6() -> u64 { let n = tell(leaf(msg()).await.id).map(|x| x.len()).unwrap_or(0); log("z"); wait().await; n } with ();
  fn m_7() -> u64 { let Msg { id, .. } = leaf(msg()).await; log("z"); wait().await; id } with ();
  fn m_8() -> u64 { let id = leaf(msg()).await.id; log("z"); wait().await; id } with ();
  fn m_9() -> u64 { let Msg { body, .. } = leaf(msg()).await; log("z"); wait().await; body.len() } with ();
  fn m_10() -> u64 { let b = leaf(msg()).await.body; log("z"); wait().await; b.len() } with ();
  fn m_11() -> u64 { let x = tell(leaf(msg()).await.id); log("z"); wait().await; x.map_or(1, |x| x.len()) } with ();
  fn m_12() -> u64 { let v = vec![d("a"), d("b")]; let (h, t) = v.split_at(leaf(1usize).await); log(h.len()); log(t.len()); wait().await; v.len() as u64 } with ();
  fn m_13() -> u64 { let o = opt("a"); let n = o.as_ref().map(|x| x.len()).unwrap_or(0) + leaf(1).await; wait().await; log("z"); n } with ();
  fn m_14() -> u64 { let o = opt("a"); let n = two(o.as_ref().map_or(0, D::len), leaf(1).await); drop(o); wait().await; log("z"); n } with ();
  fn m_15(m: Arc<Mutex<D>>) -> u64 { let n = two(m.lock().map(|g| g.len()).unwrap_or(0), leaf(1).await); log("z"); n } with (Arc::new(Mutex::new(d("a"))));
  fn m_16() -> u64 { let xs = [d("a"), d("b")]; let [a, b] = xs; let n = two(a.len(), leaf(b).await.len()); log("z"); wait().await; n } with ();
  fn m_17() -> u64 { let mut v = vec![d("a"), d("b"), d("c")]; if let [a, .., c] = &mut v[..] { std::mem::swap(a, c); } wait().await; log("z"); v.truncate(1); wait().await; v.len() as u64 } with ();
  fn m_18(f: bool) -> u64 { let x = d("x"); let y; if f { y = x; } else { y = d("y"); drop(x); } wait().await; log("z"); y.len() } with (true);
  fn m_19(f: bool) -> u64 { let x = d("x"); if f { wait().await; drop(x); log("q"); wait().await; } else { log("e"); wait().await; } log("z"); 1 } with (true);
  fn m_20(f: bool) -> u64 { let mut x = d("x"); if f { drop(x); wait().await; x = d("again"); } wait().await; log("z"); x.len() } with (true);
}
pub fn tell(n: u64) -> Result<D, D> {
    log(n);
    Err(d("unsent"))
}
pub struct Shelf(pub Vec<u64>);
pub struct Walk<'a>(std::slice::Iter<'a, u64>);
impl<'a> Iterator for Walk<'a> {
    type Item = u64;
    fn next(&mut self) -> Option<u64> {
        self.0.next().copied()
    }
}
impl Drop for Walk<'_> {
    fn drop(&mut self) {
        log("unlock")
    }
}
impl<'a> IntoIterator for &'a Shelf {
    type Item = u64;
    type IntoIter = Walk<'a>;
    fn into_iter(self) -> Walk<'a> {
        log("lock");
        Walk(self.0.iter())
    }
}
pub fn shelf() -> &'static Shelf {
    kept(Shelf(vec![1, 2, 3]))
}
