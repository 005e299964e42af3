//! Patterns that leave a part of a call's result, which is made from an awaited value.

#![allow(clippy::undocumented_unsafe_blocks, reason = "nothing in the block is unsafe")]

use super::contexts::*;
use super::kit::*;
use crate::harness::*;
use std::sync::{Arc, LazyLock, Mutex, OnceLock};
pub mod core {
    use crate::harness::*;
    pub struct Permit {
        pub n: u64,
    }
    impl Drop for Permit {
        fn drop(&mut self) {
            log("release")
        }
    }
    pub fn permit() -> Permit {
        log("acquire");
        Permit { n: 3 }
    }
}
pub fn rows(n: u64) -> (D, D) {
    log(n);
    prs("a", "b")
}
pub fn rows3(n: u64) -> Fields {
    log(n);
    fields("a", "b")
}
pub fn opt_rows(n: u64) -> Option<(D, D)> {
    Some(rows(n))
}
pub fn recv(n: u64) -> Option<Result<D, D>> {
    match n {
        0 => None,
        1 => Some(Ok(d("ok"))),
        _ => Some(Err(d("err"))),
    }
}
pub static TABLE: LazyLock<Mutex<u64>> = LazyLock::new(|| Mutex::new(1));
corpus! {
  fn b_recv0(n: u64) -> u64 { let t = two(match recv(n) { Some(Ok(x)) => x.len(), None | Some(Err(_)) => 0 }, leaf(3).await); log("x"); t } with (2);
  fn b_recv1(n: u64) -> u64 { let mut s = 0; for i in 0..3 { s += match recv(i) { Some(Ok(x)) => x.len(), None | Some(Err(_)) => 0 } * leaf(2).await; } s } with (2);
  fn b_recv2(n: u64) -> u64 { let t = two(match leaf(recv(n)).await { Some(Ok(x)) => x.len(), None | Some(Err(_)) => 0 }, d("y").len()); log("x"); t } with (2);
  fn b_recv3(n: u64) -> u64 { let t = (match leaf(recv(n)).await { Some(Ok(x)) => leaf(x.len()).await, None | Some(Err(_)) => 0 }, log("y")).0; log("x"); t } with (2);
  fn b_recv4(n: u64) -> u64 { let t = if match recv(n) { Some(Ok(x)) => x.yes(), None | Some(Err(_)) => true } && leaf(true).await { log("in"); 1 } else { 2 }; log("x"); t } with (2);
  fn b_recv5(n: u64) -> u64 { let t = leaf(two(1, match recv(n) { Some(Ok(x)) => x.len(), None | Some(Err(..)) => 0 })).await; log("x"); t } with (2);
  fn b_early1() -> u64 { let (a, _) = rows(leaf(d("x")).await.len()); log("y"); wait().await; log("z"); a.len() } with ();
  fn b_early2() -> u64 { let Fields { x, .. } = rows3(leaf(d("x")).await.len()); log("y"); wait().await; log("z"); x.len() } with ();
  fn b_early3() -> u64 { let Some((a, _)) = opt_rows(leaf(d("x")).await.len()) else { return 1 }; log("y"); wait().await; log("z"); a.len() } with ();
  fn b_early4() -> u64 { let (a, ..) = rows(leaf(2).await); log("y"); wait().await; log("z"); a.len() } with ();
  fn b_early5() -> u64 { let (_, b) = leaf(prs("a", "b")).await; log("y"); wait().await; log("z"); b.len() } with ();
  fn b_unsafe_ext() -> u64 { let r = unsafe { &d("a") }; log(r.len()); wait().await; log("x"); 1 } with ();
  fn b_core() -> u64 { let p = core::permit(); let core::Permit { n } = p; wait().await; log("x"); n } with ();
  fn b_core2() -> u64 { let p = core::permit(); let n = match p { core::Permit { n } => n }; wait().await; log("x"); n } with ();
  fn b_core3() -> u64 { let p = Some(core::permit()); if let Some(core::Permit { n }) = p { wait().await; log("x"); return n } 1 } with ();
  fn b_pool_add(on: bool) -> u64 { let mut c = pooled(on); let n = c.add(leaf(d("arg")).await.len()); log("x"); n } with (false);
  fn b_pool_add2(on: bool) -> u64 { let mut c = pooled(on); let k = leaf(2).await; let n = c.add(leaf(k).await + d("arg").len()); log("x"); n } with (false);
  fn b_pool_inc(on: bool) -> u64 { let mut c = pooled(on); c.n += leaf(d("arg")).await.len(); log("x"); c.n } with (false);
  fn b_pool_set(on: bool) -> u64 { let mut c = pooled(on); c.n = leaf(d("arg")).await.len(); log("x"); c.n } with (false);
  fn b_table_stat() -> bool { let r = TABLE.lock().is_ok() && leaf(true).await; r } with ();
  fn b_head_seen2(t: &'static Seen<(Option<u64>, u64)>) -> u64 { let Some(n) = t.0.0 else { return 1 }; wait().await; n } with (kept(Seen((Some(3), 3))));
  fn b_head_seen6(t: Arc<Seen<Opts>>) -> u64 { if let Some(n) = t.a { wait().await; n } else { 2 } } with (Arc::new(Seen(Opts { a: Some(3), b: 2 })));
  fn b_const_get() -> Option<u64> { let t = TAB; let r = t.get(leaf(1usize).await).copied(); r } with ();
}
pub const TAB: [u64; 3] = [1, 2, 3];
pub struct Opts {
    pub a: Option<u64>,
    pub b: u64,
}
