//! Tests at the start of a task; generic types with destructors.

use super::kit::*;
use super::views::*;
use crate::harness::*;
use std::collections::*;
pub struct Gen<T>(pub T, pub u64);
impl<T> Drop for Gen<T> {
    fn drop(&mut self) {
        log("drop gen");
    }
}
impl<T> Gen<T> {
    pub fn ready(&self) -> bool {
        self.1 > 0
    }
}
corpus! {
  fn i_head(a: D, n: u64, b: D) -> u64 { if n == 0 { return a.len(); } if d("t").len() == n && b.len() == 1 { return 7; } let z = d("z"); wait().await; n + b.len() + a.len() } with (d("a"), 1, d("b"));
  fn i_head2(a: D, n: u64, _: D) -> u64 { if n == 1 { return 3; } wait().await; n } with (d("a"), 1, d("b"));
  fn i_head3(o: Option<D>, b: D) -> u64 { let Some(x) = o else { return 1 }; if x.len() == 1 { return 2; } let z = d("z"); wait().await; b.len() } with (Some(d("a")), d("b"));
  fn i_head4(o: Option<D>, b: D) -> u64 { match o { None => 1, Some(x) if x.len() == 3 => 4, Some(x) => { wait().await; log("in"); x.len() } } } with (Some(d("a")), d("b"));
  fn i_head5(o: Option<D>, b: D) -> u64 { let z = match o { None => return 1, Some(x) => x }; wait().await; z.len() } with (None, d("b"));
  fn i_head6(mut n: u64, b: D) -> u64 { if { n -= 1; n == 0 } { return 9; } if n > 5 { let q = d("q"); return q.len(); } wait().await; n } with (3, d("b"));
  fn i_gen(g: Gen<D>, c: bool) -> u64 { let z = d("z"); if c { eat(g); } wait().await; log("m"); 1 } with (Gen(d("g"), 1), false);
  fn i_gen2(g: Gen<u64>) -> u64 { let z = d("z"); let n = g.1; wait().await; if g.ready() { return n; } eat(z); wait().await; g.0 } with (Gen(2, 1));
  fn i_gen3(g: Box<Gen<D>>) -> u64 { let z = d("z"); let n = g.1; wait().await; let r = &g.0; let k = r.len(); wait().await; k + n } with (Box::new(Gen(d("g"), 1)));
  fn i_cell(n: u64) -> u64 { let c = std::sync::atomic::AtomicU64::new(n); let t = (c.load(std::sync::atomic::Ordering::SeqCst), leaf(c.fetch_add(1, std::sync::atomic::Ordering::SeqCst)).await, c.into_inner()); t.0 * 100 + t.1 * 10 + t.2 } with (3);
  fn i_opt_zip(o: Option<D>) -> u64 { let n = leaf(o.zip(Some(d("z"))).map(|(a, b)| a.len() + b.len()).into_iter().sum::<u64>()).await; log("x"); n } with (Some(d("o")));
  fn i_str(o: Option<String>) -> usize { let n = leaf(o.map(|s| (s, d("t"))).as_ref().map(|x| x.0.len()).into_iter().count()).await; log("x"); n } with (Some("q".into()));
  fn i_vec_split(mut v: Vec<D>) -> u64 { let n = leaf(v.split_off(1).iter().map(|x| x.len()).sum::<u64>()).await; log("x"); n } with (vec![d("a"), d("b")]);
  fn i_pop(mut v: Vec<D>) -> u64 { let n = leaf(v.pop().iter().map(|x| x.len()).sum::<u64>()).await; log("x"); n } with (vec![d("a"), d("b")]);
  fn i_pop_map(mut v: Vec<D>) -> u64 { let n = leaf(v.pop().map(|x| x.len()).unwrap_or_default()).await; log("x"); n } with (vec![d("a"), d("b")]);
  fn i_memtake(mut v: Vec<D>) -> u64 { let n = leaf(std::mem::take(&mut v).iter().map(|x| x.len()).sum::<u64>()).await; log("x"); n } with (vec![d("a"), d("b")]);
  fn i_copied(s: &'static Store) -> u64 { let n = leaf(s.all().iter().map(|x| x.len()).sum::<u64>()).await; log("x"); n } with (&SX);
  fn i_keys(m: BTreeMap<u64, D>) -> u64 { let n = leaf(m.into_values().map(|x| x.len()).sum::<u64>()).await; log("x"); n } with (BTreeMap::from([(1, d("k"))]));
  fn i_find_map(v: Vec<u64>) -> u64 { let n = leaf(v.iter().map(|n| Some(d("w"))).flatten().take(1).last().map(|x| x.len()).unwrap()).await; log("x"); n } with (vec![1, 2]);
}
pub static SX: Store = Store(1);
