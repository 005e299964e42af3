//! Options, vectors and boxes that are borrowed by methods with the names of consuming ones.

use super::kit::*;
use super::views::*;
use crate::harness::*;
use std::collections::*;
pub struct Bag(pub Vec<D>);
impl Bag {
    pub fn iter(&self) -> std::slice::Iter<'_, D> {
        self.0.iter()
    }
    pub fn keys(&self) -> Vec<D> {
        vec![d("k")]
    }
    pub fn trim(&self) -> Bag {
        Bag(vec![d("t")])
    }
    pub fn as_ref(&self) -> Option<D> {
        Some(d("ar"))
    }
}
pub fn bag() -> Bag {
    Bag(vec![d("b1"), d("b22")])
}
pub trait Sh: Send {
    fn map(&self, n: u64) -> u64;
    fn into(&self) -> u64;
    fn expect(&self, s: &str) -> bool;
    fn filter(&self) -> u64 {
        2
    }
}
impl Sh for D {
    fn map(&self, n: u64) -> u64 {
        n
    }
    fn into(&self) -> u64 {
        9
    }
    fn expect(&self, s: &str) -> bool {
        true
    }
}
pub fn bsh() -> Box<dyn Sh> {
    Box::new(d("sh"))
}
pub trait OptExt {
    fn ok_or(&self) -> u64;
    fn flatten(&self) -> u64;
    fn inspect(&self) -> u64;
}
impl OptExt for Vec<D> {
    fn ok_or(&self) -> u64 {
        1
    }
    fn flatten(&self) -> u64 {
        1
    }
    fn inspect(&self) -> u64 {
        7
    }
}
corpus! {
  fn c_while(mut o: Option<D>) -> u64 { let mut n = 0; while let Some(k) = o.take().iter().map(|x| x.len()).next() { wait().await; log("in"); n += k; } n } with (Some(d("o")));
  fn c_while2(mut o: Option<D>) -> u64 { let mut n = 0; while o.take().iter().count() > 0 { wait().await; log("in"); n += 1; } n } with (Some(d("o")));
  fn c_if(mut o: Option<D>) -> u64 { if o.take().iter().count() > 0 { wait().await; log("in"); 1 } else { 0 } } with (Some(d("o")));
  fn c_match_take(mut o: Option<D>) -> u64 { match o.take().iter().next() { Some(x) => { let n = x.len(); wait().await; log("in"); n } None => 3 } } with (Some(d("o")));
  fn c_match_take2(mut o: Option<D>) -> u64 { match o.take().iter().map(|x| x.len()).next() { Some(x) => { wait().await; log("in"); x } None => 3 } } with (Some(d("o")));
  fn c_format(mut o: Option<D>) -> String { format!("{} {}", o.take().iter().map(|x| x.len()).sum::<u64>(), leaf(2).await) } with (Some(d("o")));
  fn c_bag_keys_last(b: Bag) -> u64 { let n = leaf(b.keys().iter().map(|k| k.len()).max().unwrap_or(0)).await; log("x"); n } with (bag());
  fn c_iter_map_last(v: Vec<u64>) -> u64 { let n = leaf(v.iter().map(|_| d("f")).last().iter().map(|k| k.len()).sum::<u64>()).await; log("x"); n } with (vec![1]);
  fn c_take_len(mut o: Option<D>) -> bool { let n = leaf(o.take().is_some()).await; log("x"); n } with (Some(d("o")));
  fn c_index(v: Vec<u64>) -> u64 { let n = leaf(v[size(&d(""))]).await; log("x"); n } with (vec![3]);
  fn c_slice(v: Vec<u64>) -> usize { let n = leaf(v[size(&d(""))..].len()).await; log("x"); n } with (vec![3]);
  fn c_for_take(mut o: Option<D>) -> u64 { let mut s = 0; for n in o.take().iter().map(|x| x.len()).collect::<Vec<_>>() { wait().await; log("in"); s += n } s } with (Some(d("o")));
  fn c_ret(mut o: Option<D>) -> u64 { let z = d("z"); return leaf(o.take().iter().map(|x| x.len()).sum::<u64>()).await; } with (Some(d("o")));
  fn c_tail(mut o: Option<D>) -> u64 { let z = d("z"); leaf(o.take().iter().map(|x| x.len()).sum::<u64>()).await } with (Some(d("o")));
  fn c_stmt(mut o: Option<D>) -> u64 { let z = d("z"); leaf(o.take().iter().map(|x| x.len()).sum::<u64>()).await; log("x"); 1 } with (Some(d("o")));
  fn c_assign(mut o: Option<D>) -> u64 { let mut n = 0; n = leaf(o.take().iter().map(|x| x.len()).sum::<u64>()).await; log("x"); n } with (Some(d("o")));
  fn c_tuple(mut o: Option<D>) -> (u64, u64) { let t = (o.take().iter().map(|x| x.len()).sum::<u64>(), leaf(2).await); log("x"); t } with (Some(d("o")));
  fn c_struct(mut o: Option<D>) -> u64 { let t = LR { left: o.take().iter().map(|x| x.len()).sum::<u64>(), right: leaf(d("r")).await }; log("x"); t.left } with (Some(d("o")));
  fn c_map_iter(o: Option<u64>) -> usize { let n = leaf(o.map(|n| d("m")).iter().count()).await; log("x"); n } with (Some(1));
  fn c_asref_map(o: Option<u64>) -> usize { let n = leaf(o.as_ref().map(|n| vec![d("m1"), d("m2")]).iter().flatten().count()).await; log("x"); n } with (Some(1));
  fn c_bag_keys(b: Bag) -> usize { let n = leaf(b.keys().iter().count()).await; log("x"); n } with (bag());
  fn c_cloned(v: Vec<u64>) -> u64 { let n = leaf(v.first().map(|_| d("f")).iter().map(|k| k.len()).sum::<u64>()).await; log("x"); n } with (vec![1]);
  fn c_get_map(v: Vec<u64>) -> u64 { let n = leaf(v.get(0).map(|_| d("f")).iter().map(|k| k.len()).sum::<u64>()).await; log("x"); n } with (vec![1]);
  fn c_join(mut o: Option<D>) -> u64 { let (a, b) = join!(leaf(o.take().iter().map(|x| x.len()).sum::<u64>()), leaf(2)); log("x"); a + b } with (Some(d("o")));
  fn c_cmp(mut o: Option<D>) -> bool { let b = o.take().iter().count() == leaf(1).await; log("x"); b } with (Some(d("o")));
  fn c_rep_vec_early() -> usize { fn f(v: Vec<u64>, n: u64) -> usize { v.len() } let n = f(vec![1u64; size(&d("nn"))], leaf(2).await); log("x"); n } with ();
}
