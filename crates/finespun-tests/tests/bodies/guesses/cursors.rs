//! `&mut` in structs and tuples, compared with an awaited value.

use super::contexts::*;
use super::kit::*;
use crate::harness::*;
lent_corpus! {
  fn c_ctx5(ctx: &mut Ctx<'_>) -> u64 { if *ctx.total != leaf(bump(ctx.total)).await { log("changed"); } wait().await; *ctx.total } with (kept(Ctx { total: kept(3u64), k: 1 }));
  fn c_ctx6(ctx: Ctx<'_>) -> u64 { if *ctx.total != leaf(bump(ctx.total)).await { log("changed"); } wait().await; *ctx.total } with (Ctx { total: kept(3u64), k: 1 });
  fn c_ctx7(n: &mut u64, m: &mut u64) -> u64 { let (a, b) = (n, m); if *a == leaf(bump(a)).await { log("same"); } *b += leaf(bump(b)).await; *b } with (kept(3u64), kept(3u64));
  fn c_add(n: &mut u64) -> u64 { *n += leaf(bump(n)).await; *n } with (kept(3u64));
  fn c_add2(n: &mut u64) -> u64 { let t = (n, 1); *t.0 += leaf(bump(t.0)).await; *t.0 } with (kept(3u64));
  fn c_two(n: &mut u64) -> u64 { let t = (n, 1); two(*t.0, leaf(bump(t.0)).await) } with (kept(3u64));
  fn c_tup(n: &mut u64) -> (u64, u64) { let t = (n, 1); (*t.0, leaf(bump(t.0)).await) } with (kept(3u64));
  fn c_range(n: &mut u64) -> u64 { let t = (n, 1); let mut s = 0; for i in *t.0..leaf(bump(t.0)).await + 2 { wait().await; s += i } s } with (kept(3u64));
  fn c_vec(v: &mut Vec<u64>) -> u64 { let s = (v, 1u64); let n = s.0.len() as u64 == leaf(grow(s.0)).await; log("x"); n as u64 } with (kept(vec![1]));
  fn c_vec2(v: &mut Vec<u64>) -> u64 { let s = (v, 1u64); let n = s.0[0] < leaf(grow(s.0)).await; log("x"); n as u64 } with (kept(vec![1]));
  fn c_clo(n: &mut u64) -> bool { let t = (n, 1); let r = *t.0 == { *t.0 += 1; leaf(4).await }; r } with (kept(3u64));
}
pub fn grow(v: &mut Vec<u64>) -> u64 {
    v[0] += 5;
    v.push(1);
    v.len() as u64
}
mod more {
    use super::super::contexts::*;
    use super::super::kit::*;
    use super::*;
    use crate::harness::*;
    lent_corpus! {
      fn t_1(t: (&mut u64, &u64)) -> bool { let r = *t.0 == leaf(bump(t.0)).await; log("x"); r } with ((kept(3u64), &4));
      fn t_2(t: (&mut u64, &str)) -> u64 { if *t.0 < leaf(bump(t.0)).await { log(t.1); } wait().await; *t.0 } with ((kept(3u64), "s"));
      fn t_3(n: &mut u64) -> u64 { let t: (&mut u64, &str) = (n, "s"); if *t.0 < leaf(bump(t.0)).await { log(t.1); } wait().await; *t.0 } with (kept(3u64));
      fn t_4(ctx: &mut Ctx<'_>) -> u64 { let Ctx { total, k } = ctx; if **total == leaf(bump(total)).await { log("eq"); } wait().await; **total + *k } with (kept(Ctx { total: kept(3u64), k: 1 }));
      fn t_5(v: &mut Vec<u64>) -> u64 { let c = Cur { items: v, at: 0 }; let n = c.items.len() == leaf(grow(c.items) as usize).await; log("x"); n as u64 } with (kept(vec![1]));
      fn t_6(st: &mut LR) -> u64 { let c = View { st, k: 1 }; if c.st.left == leaf(step(c.st)).await { log("eq"); } c.st.left } with (kept(LR { left: 3, right: D("r") }));
      fn t_7(st: &mut LR) -> u64 { let c = View { st, k: 1 }; let done = c.st.left >= leaf(step(c.st)).await; log(done); c.st.left } with (kept(LR { left: 3, right: D("r") }));
      fn t_8(st: &mut LR) -> u64 { let c = View { st, k: 1 }; let done = c.st.left + 0 >= leaf(step(c.st)).await; log(done); c.st.left } with (kept(LR { left: 3, right: D("r") }));
      fn t_9(st: &mut LR) -> u64 { let c = View { st, k: 1 }; let n = c.st.left + leaf(step(c.st)).await; c.st.left += leaf(step(c.st)).await; n + c.st.left } with (kept(LR { left: 3, right: D("r") }));
      fn t_10(it: &mut std::vec::IntoIter<D>) -> u64 { let mut s = 0; while let Some(x) = it.next() { wait().await; s += x.len(); log("t") } s } with (kept(vec![d("a"), d("b")].into_iter()));
    }
    pub struct Cur<'a> {
        pub items: &'a mut Vec<u64>,
        pub at: usize,
    }
    pub struct View<'a> {
        pub st: &'a mut LR,
        pub k: u64,
    }
    pub fn step(s: &mut LR) -> u64 {
        s.left += 1;
        s.left
    }
}
