//! Methods named like std's views and consumers that only borrow their receiver.

use super::kit::*;
use crate::harness::*;
use std::collections::*;

pub trait Meter: Send + Sync {
    fn collect(&self) -> u64;
    fn scan(&self) -> u64 {
        4
    }
    fn rest(self: Box<Self>) -> u64
    where
        Self: Sized,
    {
        1
    }
}
impl Meter for D {
    fn collect(&self) -> u64 {
        self.len()
    }
}
pub fn meter(n: &'static str) -> Box<dyn Meter> {
    Box::new(d(n))
}
pub trait Stats {
    fn product(&self) -> u64;
    fn reduce(&self) -> u64;
}
impl Stats for Vec<D> {
    fn product(&self) -> u64 {
        self.len() as u64
    }
    fn reduce(&self) -> u64 {
        2
    }
}
impl Stats for Option<D> {
    fn product(&self) -> u64 {
        8
    }
    fn reduce(&self) -> u64 {
        2
    }
}
pub struct Store(pub u64);
impl Store {
    pub fn values(&self) -> Vec<D> {
        vec![d("v1"), d("v22")]
    }
    pub fn get(&self, n: u64) -> Option<D> {
        Some(d("got"))
    }
    pub fn all(&self) -> Vec<D> {
        vec![d("r1"), d("r22")]
    }
    pub fn count(&self) -> D {
        d("cnt")
    }
    pub fn first(&self) -> Option<D> {
        Some(d("first"))
    }
}
pub fn size(x: &D) -> usize {
    x.len() as usize
}
pub fn st() -> Store {
    Store(1)
}

corpus! {
  fn a_for_values() -> u64 { let s = st(); let mut n = 0; for x in s.values().iter() { n += leaf(x.len()).await; } log("x"); n } with ();
  fn a_for_values2() -> u64 { let s = st(); let mut n = 0; for x in s.values().iter().map(|x| x.len()) { n += leaf(x).await; } log("x"); n } with ();
  fn b_all_order(n: u64) -> u64 { let s = st(); let a = d("a"); let rows = s.all(); wait().await; if n == 1 { return 5; } eat(a); wait().await; rows.len() as u64 } with (1);
  fn b_all_tuple() -> u64 { let s = st(); let rows = s.all(); let y = d("y"); let t = (rows, leaf(1).await); y.len() + t.1 } with ();
  fn b_count_call() -> u64 { let s = st(); let c = s.count(); let y = d("y"); let t = Some((c, leaf(1).await)); wait().await; y.len() + t.unwrap().1 } with ();
  fn b_count_two() -> u64 { let s = st(); let c = s.count(); let y = d("y"); let n = c.len() + leaf(1).await; let t = (c, leaf(4).await); n + t.1 } with ();
  fn a_rep_len() -> usize { leaf(vec![1u64; size(&d("nn"))]).await.len() } with ();
  fn a_rep_len2() -> usize { let v = leaf(vec![1u64; size(&d("nn"))]).await; log("x"); v.len() } with ();
  fn a_take_iter(mut o: Option<D>) -> u64 { let n = leaf(o.take().iter().count()).await; log("x"); n as u64 } with (Some(d("o")));
  fn a_take_iter_sum(mut o: Option<D>) -> u64 { let n = leaf(o.take().iter().map(|d| d.len()).sum::<u64>()).await; log("x"); n } with (Some(d("o")));
  fn a_values_iter(s: u64) -> u64 { let s = st(); let n = leaf(s.values().iter().map(|d| d.len()).sum::<u64>()).await; log("x"); n } with (1);
  fn a_match_values() -> u64 { let s = st(); let n = match s.values().iter().map(|x| x.len()).sum::<u64>() { 0 => 1, n => leaf(n).await }; log("x"); n } with ();
  fn a_bin_values() -> u64 { let s = st(); let n = s.values().iter().map(|x| x.len()).sum::<u64>() + leaf(2).await; log("x"); n } with ();
  fn b_all_order2(n: u64) -> u64 { let s = st(); let a = d("a"); let rows = s.all(); wait().await; if n == 1 { return 5; } eat(a); wait().await; rows.len() as u64 } with (2);
}
