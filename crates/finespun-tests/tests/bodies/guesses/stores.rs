//! Methods named like predicates and counts that return values of user-defined types.

use super::kit::*;
use super::views::*;
use crate::harness::*;
use std::collections::*;
pub static ST: Store = Store(1);
pub struct Coll(pub Vec<&'static str>);
pub static COLL: Coll = Coll(Vec::new());
impl<'a> IntoIterator for &'a Coll {
    type Item = D;
    type IntoIter = std::vec::IntoIter<D>;
    fn into_iter(self) -> Self::IntoIter {
        vec![d("i1"), d("i22")].into_iter()
    }
}
corpus! {
  fn b_all_order(s: &'static Store, n: u64) -> u64 { let a = d("a"); let rows = s.all(); wait().await; if n == 1 { return 5; } eat(a); wait().await; rows.len() as u64 } with (&ST, 1);
  fn b_all_tuple(s: &'static Store) -> u64 { let rows = s.all(); let y = d("y"); let n = rows.len() as u64; let t = (rows, leaf(1).await); n + y.len() + t.1 } with (&ST);
  fn b_all_struct(s: &'static Store) -> u64 { struct R { rows: Vec<D>, n: u64 } let rows = s.all(); let y = d("y"); log(rows.len()); let t = R { rows, n: leaf(1).await }; wait().await; y.len() + t.n } with (&ST);
  fn b_all_call(s: &'static Store) -> u64 { fn take3(a: Vec<D>, n: u64) -> u64 { a.len() as u64 + n } let rows = s.all(); let y = d("y"); log(rows.len()); let t = take3(rows, leaf(1).await); wait().await; y.len() + t } with (&ST);
  fn b_two_live(s: &'static Store) -> u64 { let x = d("x"); let c = s.all(); let z = d("z"); wait().await; eat(z); wait().await; eat(x); wait().await; c.len() as u64 } with (&ST);
  fn b_all_order2(s: &'static Store, n: u64) -> u64 { let a = d("a"); let rows = s.all(); wait().await; if n == 1 { return 5; } eat(a); wait().await; rows.len() as u64 } with (&ST, 2);
}
