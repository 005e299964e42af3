//! User-defined operators, destructuring assignments, types named like std's.

use super::kit::*;
use super::views::*;
use crate::harness::*;
use std::collections::*;
pub mod own {
    use super::*;
    #[derive(Debug)]
    pub enum Poll {
        Ready(u64),
        Pending(u64),
    }
    impl Drop for Poll {
        fn drop(&mut self) {
            log("drop poll");
        }
    }
    pub struct Range<T>(pub T, pub T);
    impl<T> Drop for Range<T> {
        fn drop(&mut self) {
            log("drop range");
        }
    }
    impl<T> Range<T> {
        pub fn n(&self) -> u64 {
            3
        }
    }
}
use own::Poll;
pub struct W(pub D, pub u64);
impl std::ops::AddAssign<u64> for W {
    fn add_assign(&mut self, o: u64) {
        log(format_args!("add {o}"));
        self.1 += o;
    }
}
impl std::ops::Add<W> for W {
    type Output = W;
    fn add(self, o: W) -> W {
        log("plus");
        W(self.0, self.1 + o.1)
    }
}
impl std::ops::Neg for W {
    type Output = D;
    fn neg(self) -> D {
        log("neg");
        self.0
    }
}
impl std::ops::Not for W {
    type Output = W;
    fn not(self) -> W {
        log("not");
        self
    }
}
pub fn w(n: &'static str, k: u64) -> W {
    W(d(n), k)
}
corpus! {
  fn m_assert_msg(n: u64) -> u64 { assert!(n == 1, "no {}", leaf(d("msg")).await.len()); log("x"); n } with (1);
  fn m_assert_msg2(n: u64) -> u64 { assert_eq!(n, 2, "no {}", leaf(d("msg")).await.len()); n } with (1);
  fn m_dbg_assert(n: u64) -> u64 { debug_assert!(leaf(d("q")).await.len() == n); log("x"); n } with (1);
  fn m_assert_eq_tmp() -> u64 { assert_eq!(d("t").len(), leaf(1).await); log("x"); 3 } with ();
  fn m_vec_mix() -> u64 { let v = vec![d("a"), leaf(d("b")).await, d("c")]; log("x"); v.len() as u64 } with ();
  fn m_matches(o: Option<D>) -> bool { let b = matches!(leaf(o).await, Some(ref x) if x.len() == 1); log("x"); b } with (Some(d("o")));
  fn m_matches2(o: Option<D>) -> bool { let b = matches!(o, Some(ref x) if x.len() == 1) && leaf(true).await; log("x"); b } with (Some(d("o")));
  fn p_poll(p: Poll) -> u64 { let z = d("z"); match p { Poll::Ready(n) => { wait().await; log("in"); n } Poll::Pending(_) => 1 } } with (Poll::Ready(3));
  fn p_poll2() -> u64 { let z = d("z"); let p = Poll::Ready(4); let r = match p { Poll::Ready(n) => n, Poll::Pending(n) => n + 1 }; wait().await; log("x"); r } with ();
  fn d_def_loop(n: u64) -> u64 { let x; let y = d("y"); let mut i = 0; loop { wait().await; if i == n { x = d("x"); break; } i += 1; } wait().await; x.len() + y.len() } with (1);
  fn d_def_order(c: bool) -> u64 { let x; let y = d("y"); if c { x = leaf(d("x1")).await; } else { x = d("x2"); wait().await; } let z = d("z"); wait().await; x.len() } with (true);
  fn d_def_order2(c: bool) -> u64 { let x; let y = d("y"); if c { x = leaf(d("x1")).await; } else { x = d("x2"); wait().await; } let z = d("z"); wait().await; x.len() } with (false);
  fn d_def_inner(c: bool) -> u64 { let x: D; { let y = d("y"); wait().await; x = d("x"); let q = d("q"); wait().await; log("in"); } wait().await; x.len() } with (true);
  fn d_reassign(c: bool) -> u64 { let mut x = d("1"); let y = d("y"); eat(x); wait().await; x = d("2"); let z = d("z"); wait().await; if c { return 3; } x.len() } with (true);
  fn d_reassign_loop() -> u64 { let mut x = d("0"); let mut last = d("last"); for i in 0..2u64 { let old = std::mem::replace(&mut x, leaf(d("n")).await); let g = d("g"); wait().await; last = old; log("turn"); } x.len() } with ();
  fn d_swap() -> u64 { let mut a = d("a"); let mut b = d("b"); wait().await; (a, b) = (b, a); wait().await; a.len() } with ();
  fn d_swap2() -> u64 { let mut a = d("a"); let mut b = d("b"); (a, b) = (leaf(d("c")).await, a); wait().await; log(a.name()); b.len() } with ();
  fn d_swap3() -> u64 { let mut a = d("a"); let mut b = d("b"); [a, b] = [d("n"), leaf(d("c")).await]; wait().await; log(a.name()); b.len() } with ();
  fn o_addassign() -> u64 { let mut x = w("x", 1); x += leaf(2).await; let y = d("y"); x += { wait().await; 5 }; x.1 } with ();
  fn o_add() -> u64 { let x = w("x", 1); let y = d("y"); let z = x + leaf(w("z", 2)).await; wait().await; z.1 } with ();
  fn o_add2() -> u64 { let x = w("x", 1); let z = x + w("t", 4) + leaf(w("z", 2)).await + w("u", 1); wait().await; z.1 } with ();
  fn o_neg() -> u64 { let x = -leaf(w("x", 1)).await; let y = d("y"); wait().await; let q = -(!leaf(w("q", 1)).await); x.len() + q.len() } with ();
  fn o_neg_arg() -> u64 { let n = two((-w("a", 1)).len(), leaf(2).await); log("x"); n } with ();
  fn s_update() -> u64 { let base = fields("x", "y"); let f = Fields { x: leaf(d("nx")).await, ..base }; log("m"); wait().await; f.n } with ();
  fn s_update2() -> u64 { let base = fields("x", "y"); let f = Fields { x: d("nx"), ..base }; let z = d("z"); wait().await; f.n } with ();
  fn s_update3() -> u64 { let z = d("z"); let f = Fields { n: leaf(1).await, x: d("q"), ..fields("x", "y") }; log("m"); wait().await; f.n } with ();
  fn s_tuple_part() -> u64 { let x = (leaf(d("a")).await, d("b")).0; log("m"); wait().await; x.len() } with ();
  fn s_arr_pat() -> u64 { let [a, _] = [leaf(d("a")).await, d("b")]; log("m"); wait().await; a.len() } with ();
  fn s_arr_pat2() -> u64 { let [a, rest @ ..] = [d("a"), leaf(d("b")).await, d("c")]; log("m"); wait().await; eat(a); wait().await; rest.len() as u64 } with ();
  fn s_at() -> u64 { let whole @ (n, _) = (leaf(3u64).await, 4u64); wait().await; n + whole.1 } with ();
  fn s_at2(o: Option<D>) -> u64 { if let all @ Some(_) = o { wait().await; log("in"); eat(all); wait().await; 1 } else { 2 } } with (Some(d("o")));
  fn s_box(b: Box<Pair>) -> u64 { let Pair(a, c) = *b; wait().await; eat(c); wait().await; a.len() } with (Box::new(pair("a", "b")));
  fn s_box2(b: Box<Pair>) -> u64 { let a = b.0; let z = d("z"); wait().await; a.len() } with (Box::new(pair("a", "b")));
  fn s_box3(b: Box<(D, D)>) -> u64 { let (a, _) = *b; let z = d("z"); wait().await; log("m"); a.len() } with (Box::new((d("a"), d("b"))));
  fn s_box4(b: Box<D>) -> u64 { let z = d("z"); let x = *b; wait().await; log("m"); x.len() } with (Box::new(d("a")));
  fn s_or(r: Result<D, (D, u64)>) -> u64 { let (Ok(x) | Err((x, _))) = r; let z = d("z"); wait().await; x.len() } with (Err((d("e"), 4)));
  fn s_or2(r: Result<D, (D, D)>) -> u64 { let (Ok(x) | Err((x, _))) = r; let z = d("z"); wait().await; x.len() } with (Err((d("e"), d("f"))));
  fn s_letelse(r: Result<D, D>) -> u64 { let z = d("z"); let Ok(x) = leaf(r).await else { log("else"); wait2(); return 1; }; x.len() } with (Err(d("e")));
  fn s_letelse2(r: Option<(D, D)>) -> u64 { let z = d("z"); let Some((x, _)) = r else { return 1; }; wait().await; log("m"); x.len() } with (Some((d("e"), d("f"))));
  fn s_chain(o: Option<D>, n: u64) -> u64 { let z = d("z"); if let Some(x) = o && n == 1 && x.len() == 1 { wait().await; log("in"); 1 } else { wait().await; log("else"); 2 } } with (Some(d("o")), 2);
  fn s_chain2(o: Option<D>, n: u64) -> u64 { if n > 0 && let Some(x) = o.as_ref() && let 1 = x.len() { wait().await; log(x.name()); 1 } else { wait().await; log("else"); 2 } } with (Some(d("o")), 2);
  fn s_guard(o: Option<D>) -> u64 { match o { Some(x) if x.len() == 2 => { wait().await; 1 } Some(y) => { wait().await; log("y"); y.len() } None => 3 } } with (Some(d("o")));
  fn s_guard2() -> u64 { match leaf(pair("a", "b")).await { Pair(x, _) if x.len() == 2 => { wait().await; 1 } Pair(_, y) => { wait().await; log("y"); y.len() } } } with ();
  fn l_lab() -> u64 { let z = d("z"); let r = 'a: { let q = d("q"); if leaf(1).await == 1 { break 'a d("r1"); } wait().await; d("r2") }; log("m"); wait().await; r.len() } with ();
  fn l_brk() -> u64 { let z = d("z"); let r = loop { let q = d("q"); let t = leaf(d("t")).await; if t.len() == 1 { break t; } }; log("m"); wait().await; r.len() } with ();
  fn l_brk_tmp() -> u64 { let r = loop { let q = d("q"); break leaf(d("t")).await.len() + d("u").len(); }; log("m"); wait().await; r } with ();
  fn l_cont() -> u64 { let mut n = 0; 'o: for x in [d("1"), d("2"), d("3")] { for y in vec![d("a"), d("b")] { if leaf(n).await == 1 { n += 1; continue 'o; } n += 1; if n > 4 { break 'o; } } } log("m"); n } with ();
  fn r_ret_mid(o: Option<u64>) -> Option<u64> { let z = d("z"); let t = two2(d("a"), leaf(o).await?, d("c")); log("m"); Some(t) } with (None);
  fn r_ret_tuple(o: Option<u64>) -> Option<u64> { let z = d("z"); let t = (d("a"), leaf(d("b")).await, o?, leaf(d("c")).await); log("m"); Some(t.2) } with (None);
  fn r_ret_tuple2(o: Option<u64>) -> Option<u64> { let z = d("z"); let t = [Some(d("a")), leaf(Some(d("b"))).await, { o?; None }]; log("m"); Some(1) } with (None);
  fn t_infer2(v: Vec<u64>) -> u64 { let z: Option<_> = Some(d("z")); let y = d("y"); wait().await; if v.len() == 1 { return 2; } eat(y); wait().await; z.is_some() as u64 } with (vec![1]);
}
pub fn wait2() {}
pub fn two2(a: D, n: u64, b: D) -> u64 {
    n + a.len()
}
