//! Comparisons, boxes, stored references.

use super::kit::*;
use super::views::*;
use crate::harness::*;
use std::collections::*;
pub struct Bld {
    pub a: Option<D>,
    pub n: u64,
}
impl Bld {
    pub fn new() -> Bld {
        Bld { a: None, n: 0 }
    }
    pub fn with(mut self, x: D) -> Bld {
        self.a = Some(x);
        self
    }
    pub fn insert(mut self, n: u64) -> Bld {
        self.n = n;
        self
    }
    pub fn build(self) -> u64 {
        self.n
    }
}
pub struct Res(pub D);
impl Res {
    pub fn ok(&self) -> bool {
        true
    }
    pub fn unwrap(&self) -> u64 {
        3
    }
}
corpus! {
  fn h_eq() -> bool { let b = d("a") == leaf(d("b")).await; log("x"); b } with ();
  fn h_eq_and() -> bool { let b = d("a") != leaf(d("b")).await && leaf(true).await; log("x"); b } with ();
  fn h_eq_tuple() -> bool { let b = (d("a"), leaf(1).await) == (d("b"), leaf(1).await); log("x"); b } with ();
  fn h_match_ref() -> u64 { let n = match &leaf(d("a")).await { r => { wait().await; r.len() } }; log("x"); n } with ();
  fn h_iflet_ref() -> u64 { if let Some(x) = &leaf(Some(d("a"))).await { wait().await; log(x.name()); 1 } else { 2 } } with ();
  fn h_range() -> u64 { let mut s = 0; for i in leaf(0u64).await..leaf(2u64).await { let t = d("t"); s += leaf(i).await; } s } with ();
  fn h_two_tmp() -> u64 { let n = leaf(d("a").len() + d("b").len()).await; log("x"); n } with ();
  fn h_cast() -> u32 { let n = leaf(d("a").len() as u32).await; log("x"); n } with ();
  fn h_build() -> u64 { let b = Bld::new().with(leaf(d("x")).await).insert(leaf(4).await); log("m"); wait().await; b.build() } with ();
  fn h_build2() -> u64 { let n = Bld::new().with(d("x")).insert(3).build() + leaf(1).await; log("m"); n } with ();
  fn h_res(r: Result<D, u64>) -> u64 { let n = leaf(r.as_ref().map(|x| d("t")).ok().map(|t| t.len()).unwrap_or(3)).await; log("m"); n } with (Ok(d("r")));
  fn h_vec_find(s: &'static Store) -> u64 { if s.get(1).iter().any(|x| x.len() == 3) && leaf(true).await { log("in"); 1 } else { 0 } } with (&SX);
  fn h_let_else(s: &'static Store) -> u64 { let Some(n) = s.get(1).iter().map(|x| x.len()).next() else { return 0 }; wait().await; log("m"); n } with (&SX);
  fn h_field_take(mut f: (Option<D>, u64)) -> u64 { let n = leaf(f.0.take().iter().map(|x| x.len()).sum::<u64>() + f.1).await; log("m"); n } with ((Some(d("q")), 4));
  fn h_arr_map() -> u64 { let n = leaf([d("a"), d("b")].map(|x| x.len())[0]).await; log("m"); n } with ();
  fn h_arr_iter() -> u64 { let n = leaf([d("a"), d("b")].iter().map(|x| x.len()).sum::<u64>()).await; log("m"); n } with ();
  fn h_vec_rep2() -> usize { let v = vec![vec![0u8; size(&d("i"))]; size(&leaf(d("o")).await)]; log("m"); v.len() } with ();
  fn h_res_iter(r: Result<u64, u64>) -> usize { let n = leaf(r.map(|x| d("t")).iter().count()).await; log("m"); n } with (Ok(3));
  fn h_vec_chunks(s: &'static Store) -> usize { let n = leaf(s.values().chunks(1).count()).await; log("m"); n } with (&SX);
  fn h_vec_iter_max(s: &'static Store) -> u64 { let n = s.values().iter().map(|x| x.len()).max().unwrap_or(0) * leaf(2).await; log("m"); n } with (&SX);
  fn h_vec_any(s: &'static Store) -> bool { let n = leaf(s.values().iter().any(|x| x.len() == 1)).await; log("m"); n } with (&SX);
  fn h_if_take(mut q: Vec<Option<D>>) -> u64 { let n = leaf(q[0].take().iter().map(|x| x.len()).sum::<u64>()).await; log("m"); n } with (vec![Some(d("q"))]);
}
pub static SX: Store = Store(1);
