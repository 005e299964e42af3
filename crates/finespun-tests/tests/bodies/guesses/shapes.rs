//! Macros, closures, async blocks, `let else`, guards, nested loops, struct updates.

use super::kit::*;
use crate::harness::*;

use std::fmt::{Debug, Write};
#[derive(Debug)]
pub struct E1(pub D);
#[derive(Debug)]
pub struct E2(pub D);
impl From<E1> for E2 {
    fn from(e: E1) -> E2 {
        log("from");
        E2(e.0)
    }
}
pub fn three(a: D, b: u64, c: D) -> u64 {
    log("three");
    b
}

corpus! {
    fn local_macro_captures() -> u64 { let x = d("x"); let n = 5u64; macro_rules! get { () => { x.len() + n } } wait().await; let m = get!(); wait().await; log("end"); m } with ();

    fn local_macro_shadow() -> u64 { let n = 5u64; macro_rules! get { () => { n } } let n = leaf(7u64).await; wait().await; get!() + n } with ();

    fn local_macro_moves() -> u64 { let x = d("x"); macro_rules! take { () => { eat(x) } } wait().await; take!(); wait().await; log("end"); 1 } with ();

    fn local_macro_returns() -> u64 { let x = d("x"); macro_rules! bail { () => { return 5 } } wait().await; if leaf(true).await { bail!() } wait().await; log("end"); 1 } with ();

    fn local_macro_breaks() -> u64 { let x = d("x"); let mut n = 0; 'a: loop { macro_rules! out { () => { break 'a } } n += leaf(1).await; if n > 1 { out!() } } wait().await; log("end"); n } with ();

    fn fru_copy() -> u64 { let base = big(); let t = Big { a: leaf(d("n")).await, b: d("m"), ..base }; wait().await; log("end"); t.n + base.a.len() } with ();

    fn fru_in_loop() -> u64 { let mut base = big(); for _ in 0..2 { base = Big { a: leaf(d("n")).await, ..base }; log("turn"); } wait().await; base.n } with ();

    fn range_of_d_operand() -> u64 { let r = leaf((d("a")..d("b")).start).await; log("end"); 1 } with ();

    fn own_name_inner_fn() -> u64 { fn own_name_inner_fn(x: D) -> u64 { x.len() } let x = d("x"); wait().await; let n = own_name_inner_fn(x); wait().await; log("end"); n } with ();

    fn if_let_guard(n: u64) -> u64 { match Some(n) { Some(x) if let Some(k) = d("g").some() => { wait().await; log("arm"); k + x } _ => 2 } } with (3);

    fn if_let_guard2(n: Option<D>) -> u64 { match n { Some(x) if let Some(k) = x.some() && k > 0 => { wait().await; log("arm"); eat(x); wait().await; k } _ => 2 } } with (Some(D("x")));

    fn if_let_guard3(n: Option<D>) -> u64 { wait().await; match n { Some(ref x) if let Some(k) = x.none() => { wait().await; log("arm"); k } Some(x) if x.yes() => { wait().await; 5 } _ => 2 } } with (Some(D("x")));

    fn let_else_amp() -> u64 { let Some(x) = &leaf(Some(d("x"))).await else { return 0 }; wait().await; x.len() } with ();

    fn let_else_ref_plain() -> u64 { let Some(ref x) = Some(d("x")) else { return 0 }; wait().await; x.len() } with ();

    fn let_else_temp() -> u64 { let Some(n) = d("t").some() else { return 0 }; wait().await; log("end"); n } with ();

    fn let_else_temp_await() -> u64 { let Some(n) = leaf(d("t")).await.none() else { wait().await; log("else"); return 0 }; wait().await; log("end"); n } with ();

    fn let_else_block() -> u64 { let x = d("x"); let (Some(n), m) = ({ let t = d("t"); leaf(t.none()).await }, d("m")) else { drop(x); log("else"); return 7 }; wait().await; n } with ();

    fn let_else_continue() -> u64 { let mut n = 0; for i in 0..3u64 { let g = d("g"); let (1, x) = (leaf(i).await, d("x")) else { log("no"); continue }; wait().await; n += x.len(); } n } with ();

    fn let_else_break_value() -> u64 { loop { let g = d("g"); let Some(x) = leaf(None::<D>).await else { break g.len() }; wait().await; } } with ();

    fn closure_captures_field() -> u64 { let b = big(); let f = move || b.a.len(); wait().await; log("mid"); let n = f(); wait().await; log("end"); n } with ();

    fn closure_captures_field_once() -> u64 { let b = big(); let f = || { let x = b.a; x.len() }; let n = f(); wait().await; log("end"); n + b.b.len() } with ();

    fn closure_ref_disjoint() -> u64 { let mut b = big(); let n = { let mut f = || b.n += 1; let r = &b.a; f(); r.len() }; wait().await; log("end"); n + b.n } with ();

    fn closure_ref_disjoint_await() -> u64 { let mut b = big(); let mut f = |k| b.n += k; let r = &b.a; f(leaf(2).await); log(r.name()); wait().await; f(1); b.n } with ();

    fn closure_with_control() -> Option<u64> { let x = d("x"); let f = |o: Option<u64>| { for i in 0.. { if i > 3 { return o } let Some(n) = o else { break }; if n == i { continue } } None }; let a = f(Some(leaf(9).await))?; wait().await; log("a"); let b = f(leaf(None).await)?; Some(a + b) } with ();

    fn closure_in_operand() -> u64 { let x = d("x"); let n = leaf((|| x.len() + 1)()).await; let m = (|k: u64| k + x.len())(leaf(1).await); log("end"); n + m } with ();

    fn closure_returned() -> u64 { fn mk(x: D) -> impl Fn(u64) -> u64 + Send + Sync { move |n| n + x.len() } let f = mk(d("x")); let n = f(leaf(1).await); let m = leaf(f).await(2); wait().await; log("end"); n + m } with ();

    fn async_block_partial() -> u64 { let b = big(); let n = foreign(async move { b.a.len() }).await; log("mid"); wait().await; n } with ();

    fn async_block_ref() -> u64 { let mut b = big(); let n = foreign(async { b.n += 1; b.n }).await; wait().await; log("end"); n + b.n } with ();

    fn async_block_question() -> Result<u64, E2> { let x = d("x"); let n = foreign(async { let r: Result<u64, E1> = Err(E1(d("e"))); let v = r?; Ok::<u64, E1>(v) }).await?; Ok(n) } with ();

    fn async_closure() -> u64 { let x = d("x"); let f = async |n: u64| { n + x.len() }; let n = foreign(f(leaf(2).await)).await; wait().await; log("end"); n } with ();

    fn nested_items() -> u64 { trait T { fn v(&self) -> u64; } impl T for D { fn v(&self) -> u64 { 3 } } struct G<T>(T); impl<X: T> G<X> { fn g(&self) -> u64 { self.0.v() } } static S: u64 = 2; const C: u64 = 3; type A = G<D>; let g: A = G(d("g")); wait().await; { const C: u64 = 9; struct H; impl H { const V: u64 = C; } let n = leaf(H::V).await; log(n); } leaf(g.g() + S + C).await } with ();

    fn inner_item_with_await() -> u64 { let x = d("x"); { fn helper(n: u64) -> u64 { n + 1 } struct S(D); let s = S(leaf(d("s")).await); let n = helper(s.0.len()); wait().await; log(n); } wait().await; log("end"); 1 } with ();

    fn dup_names() -> u64 { let x = d("x1"); let x = (x, leaf(d("x2")).await); let x = { let x = x.1; wait().await; x.len() }; wait().await; log("end"); x } with ();

    fn shadow_in_arms(o: Option<D>) -> u64 { let x = d("x"); match leaf(o).await { Some(x) => { wait().await; let x = x.len(); leaf(x).await } None => x.len() } } with (Some(D("o")));

    fn shadow_param(x: D) -> u64 { let x = (x, d("y")); wait().await; let (x, _) = x; wait().await; log("end"); x.len() } with (D("p"));

    fn self_assign() -> u64 { let mut x = d("x"); x = leaf(x).await; x = { let y = x; wait().await; y }; let mut o = Some(x); o = leaf(o.take()).await; wait().await; log("end"); 1 } with ();

    fn question_in_operand() -> Result<u64, E2> { let g = d("g"); let n = three(d("a"), leaf(Err::<u64, _>(E1(d("e")))).await?, d("c")); Ok(n) } with ();

    fn question_twice() -> Result<u64, E2> { let g = d("g"); let n = three(leaf(Ok::<D, E1>(d("a"))).await?, two(1, leaf(Ok::<u64, E2>(2)).await?), leaf(Err::<D, E1>(E1(d("e")))).await?); Ok(n) } with ();

    fn question_tail() -> Result<D, E2> { let g = d("g"); Ok(leaf(Err::<D, E1>(E1(d("e")))).await?) } with ();

    fn question_opt_chain() -> Option<u64> { let g = d("g"); let v = leaf(Some(d("a"))).await?.some()? + leaf(d("t")).await.none()?; Some(v) } with ();

    fn break_await_in_operand() -> u64 { let g = d("g"); let n = 'a: { two(1, if leaf(true).await { let h = d("h"); break 'a leaf(3).await } else { 4 }) }; log("end"); n } with ();

    fn continue_in_operand() -> u64 { let mut n = 0; for i in 0..3u64 { let g = d("g"); n += two(d("t").len(), if leaf(i).await == 1 { continue } else { 4 }); } log("end"); n } with ();

    fn return_in_operand() -> D { let g = d("g"); eat((d("a"), return leaf(d("r")).await)); d("z") } with ();

    fn return_await_as_value(n: u64) -> u64 { let g = d("g"); let k = match n { 0 => return leaf(1).await, 1 => { if leaf(true).await { return leaf(2).await } else { 5 } } _ => leaf(3).await }; k + 1 } with (1);

    fn nested_break_a() -> u64 { let g = d("g"); let n = 'a: loop { let h = d("h"); for i in 0.. { let k = N(i); loop { let m = d("m"); if leaf(i).await == 1 { break 'a leaf(d("v")).await.len(); } break; } } }; log("end"); n } with ();

    fn nested_continue_a() -> u64 { let mut n = 0; 'a: while n < 3 { let h = d("h"); n += 1; for i in 0..3u64 { let k = N(i); if leaf(i).await == 1 { continue 'a; } } } n } with ();
}
