//! Builders whose methods take and return `self`.

use super::contexts::*;
use super::kit::*;
use crate::harness::*;
pub struct Req(pub Vec<u64>, pub D);
impl Req {
    pub fn push(mut self, n: u64) -> Req {
        self.0.push(n);
        self
    }
    pub fn insert(mut self, k: u64, n: u64) -> Req {
        self.0.push(n);
        self
    }
    pub fn write(self) -> u64 {
        self.0.len() as u64
    }
}
pub fn req() -> Req {
    Req(vec![], d("req"))
}
corpus! {
  fn z_4() -> u64 { let t = prs("a", "b"); drop(t.0); let f = || log(format!("{}", t.1.name())); f(); wait().await; log("z"); t.1.len() } with ();
  fn z_5(it: Vec<D>) -> u64 { let mut it = it.into_iter(); let mut s = 0; for x in &mut it { wait().await; s += x.len(); if s > 1 { break; } } log("z"); s + it.len() as u64 } with (vec![d("a"), d("b"), d("c")]);
}
