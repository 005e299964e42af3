//! Guards that dereference to numbers; `matches!`; arms that move a part.

use super::closures::*;
use crate::guesses::kit::*;
use crate::harness::*;
use std::collections::*;
pub struct CG(pub D, pub u64);
impl std::ops::Deref for CG {
    type Target = u64;
    fn deref(&self) -> &u64 {
        &self.1
    }
}
impl Drop for CG {
    fn drop(&mut self) {
        log("release");
    }
}
pub fn cg(n: u64) -> CG {
    CG(d("cg"), n)
}
fn call(f: impl FnOnce() -> u64) -> u64 {
    f()
}
pub enum St {
    Idle,
    Run(D),
    Done { code: u64, g: D },
}
corpus! {
    // guards whose numbers have methods
    fn g_checked_sub() -> u64 { match leaf(cg(3)).await.checked_sub(1) { Some(n) => { log("in"); wait().await; n } None => 0 } } with ();
    fn g_iflet_checked_sub() -> u64 { if let Some(n) = leaf(cg(3)).await.checked_sub(1) { log("in"); wait().await; n } else { log("else"); 0 } } with ();
    fn g_iflet_checked_sub_else() -> u64 { if let Some(n) = leaf(cg(0)).await.checked_sub(1) { log("in"); wait().await; n } else { log("else"); wait().await; 0 } } with ();
    fn g_match_pow() -> u64 { match leaf(cg(3)).await.pow(2) { 9 => { log("in"); wait().await; 1 } n => n } } with ();
    fn g_unwrap_or() -> u64 { match leaf(oheld()).await.unwrap_or(0) { 3 => { log("in"); wait().await; 1 } n => n } } with ();
    fn g_iflet_ok_or() -> u64 { if let Ok(n) = leaf(oheld()).await.ok_or(1u64) { log("in"); wait().await; n } else { 0 } } with ();
    fn g_iflet_filter() -> u64 { fn big(n: &u64) -> bool { *n > 2 } if let Some(n) = leaf(oheld()).await.filter(big) { log("in"); wait().await; n } else { 0 } } with ();
    fn g_iflet_map() -> u64 { if let Some(n) = leaf(oheld()).await.map(|n| n + 1) { log("in"); wait().await; n } else { 0 } } with ();
    fn g_while_checked() -> u64 { let mut k = 2; while let Some(n) = leaf(cg(k)).await.checked_sub(1) { log("in"); wait().await; k = n; } k } with ();
    fn g_for_range() -> u64 { let mut t = 0; for i in 0..leaf(cg(2)).await.pow(1) { log("in"); wait().await; t += i; } t } with ();
    fn g_for_arr() -> u64 { let mut t = 0; for i in leaf(aheld()).await.into_iter() { log("in"); wait().await; t += i; } t } with ();
    fn g_for_iter() -> u64 { let mut t = 0; for i in leaf(aheld()).await.iter() { log("in"); wait().await; t += i; } t } with ();
    fn g_let() -> u64 { let n = leaf(cg(3)).await.pow(2); log("after"); wait().await; n } with ();
    fn g_let_plus() -> u64 { let n = leaf(cg(3)).await.pow(2) + leaf(cg(4)).await.pow(1); log("after"); wait().await; n } with ();
    fn g_arg() -> u64 { let n = two(leaf(cg(3)).await.pow(2), leaf(4).await); log("after"); wait().await; n } with ();
    fn g_arg2() -> u64 { two(leaf(cg(3)).await.pow(2), { log("b"); leaf(4).await }) } with ();
    fn g_tail() -> u64 { leaf(cg(3)).await.pow(2) } with ();
    fn g_tail_operand() -> u64 { leaf(leaf(cg(3)).await.pow(2)).await } with ();
    fn g_deref() -> u64 { match *leaf(cg(3)).await { 3 => { log("in"); wait().await; 1 } n => n } } with ();
    fn g_if() -> u64 { if leaf(cg(3)).await.is_power_of_two() { log("in"); wait().await; 1 } else { log("else"); wait().await; 0 } } with ();
    fn g_question() -> Option<u64> { let n = leaf(cg(3)).await.checked_sub(4)?; log("after"); wait().await; Some(n) } with ();
    fn g_match_question() -> Option<u64> { match leaf(cg(3)).await.checked_sub(2)? { 1 => { log("in"); wait().await; Some(1) } n => Some(n) } } with ();
    fn g_match_sum() -> u64 { match leaf(cg(3)).await.pow(1) + leaf(cg(2)).await.pow(1) { 5 => { log("in"); wait().await; 1 } n => n } } with ();
    fn g_match_fn() -> u64 { match two(leaf(cg(3)).await.pow(1), 2) { 5 => { log("in"); wait().await; 1 } n => n } } with ();
    fn g_match_cmp() -> u64 { match leaf(cg(3)).await.pow(1) > 2 { true => { log("in"); wait().await; 1 } false => 0 } } with ();
    fn g_match_cast() -> u64 { match leaf(cg(3)).await.pow(1) as u8 { 3 => { log("in"); wait().await; 1 } _ => 0 } } with ();
    fn g_match_tuple2() -> u64 { match (leaf(cg(3)).await.pow(1), leaf(1).await) { (3, 1) => { log("in"); wait().await; 1 } _ => 0 } } with ();
    fn g_match_val_noawait_arm() -> u64 { let n = match leaf(cg(3)).await.checked_sub(1) { Some(n) => { log("in"); n } None => 0 }; log("after"); n } with ();
    fn g_sub_match() -> u64 { two(match leaf(cg(3)).await.checked_sub(1) { Some(n) => { log("in"); n } None => 0 }, { log("second"); 1 }) } with ();

    // matches! that binds
    fn mm_guard() -> bool { let o = Some(d("a")); let b = matches!(o, Some(x) if x.no()); wait().await; log("end"); b } with ();
    fn mm_guard_yes() -> bool { let o = Some(d("a")); let b = matches!(o, Some(x) if x.yes()); wait().await; log("end"); b } with ();
    fn mm_res() -> bool { let o: Result<D, D> = Err(d("a")); let b = matches!(o, Ok(x)); wait().await; log("end"); b } with ();
    fn mm_res_untyped() -> bool { let o = if leaf(true).await { Err(d("e")) } else { Ok(d("o")) }; let b = matches!(o, Ok(_x)); wait().await; log("end"); b } with ();
    fn mm_enum() -> bool { let o = St::Done { code: 1, g: d("g") }; let b = matches!(o, St::Run(x) if x.yes()); wait().await; log("end"); b } with ();
    fn mm_enum_code() -> bool { let o = St::Done { code: 1, g: d("g") }; let b = matches!(o, St::Done { code, .. } if code > 0); wait().await; log("end"); b } with ();
    fn mm_assert() -> u64 { let o = Some(d("a")); assert!(!matches!(o, Some(x) if x.no())); wait().await; log("end"); 1 } with ();
    fn mm_if() -> u64 { let o = Some(d("a")); if matches!(o, Some(x) if x.no()) { log("yes"); } wait().await; log("end"); 1 } with ();
    fn mm_tuple() -> bool { let o = (Some(d("a")), d("b")); let b = matches!(o, (Some(x), y) if x.no()); wait().await; log("end"); b } with ();
    fn mm_and() -> bool { let o = Some(d("a")); let b = leaf(false).await && matches!(o, Some(x) if x.yes()); wait().await; log("end"); b } with ();

    // match arms that move on some paths only
    fn a_guard_move() -> u64 { let o = Some(d("a")); let n = match o { Some(x) if x.no() => x.len(), _ => 0 }; wait().await; log("end"); n } with ();
    fn a_res_move() -> u64 { let o: Result<D, D> = Err(d("a")); let n = match o { Ok(x) => x.len(), _ => 0 }; wait().await; log("end"); n } with ();
    fn a_iflet_res() -> u64 { let o: Result<D, D> = Err(d("a")); if let Ok(x) = o { eat(x); } wait().await; log("end"); 1 } with ();
    fn a_letelse() -> u64 { let o: Result<D, D> = Ok(d("a")); let Ok(x) = o else { return 0 }; wait().await; log("end"); x.len() } with ();
    fn a_chain() -> u64 { let o = Some(d("a")); let p: Option<D> = None; if let Some(x) = o && let Some(y) = p { log("both"); } wait().await; log("end"); 1 } with ();
    fn a_chain2() -> u64 { let o: Option<D> = None; let p = Some(d("p")); if let Some(x) = o && let Some(y) = p { log("both"); } wait().await; log("end"); 1 } with ();
    fn a_chain3() -> u64 { let k = 3u64; let p = Some(d("p")); if k > 5 && let Some(y) = p { log("both"); } wait().await; log("end"); 1 } with ();
    fn a_guard_let() -> u64 { let k = Some(3u64); let p = Some(d("p")); let n = match k { Some(n) if let Some(y) = &p => n + y.len(), _ => 0 }; wait().await; log("end"); n } with ();
    fn a_while_plain() -> u64 { let mut o = Some(mk(1)); let mut n = 0; while let Some(x) = o { n += x.0; o = if n < 3 { Some(mk(n + 1)) } else { None }; } wait().await; log("end"); n } with ();
    fn a_while_res() -> u64 { let mut o: Result<N, N> = Ok(mk(1)); let mut n = 0; while let Ok(x) = o { n += x.0; o = if n < 3 { Ok(mk(n + 1)) } else { Err(mk(9)) }; } wait().await; log("end"); n } with ();
    fn a_enum() -> u64 { let o = St::Done { code: 1, g: d("g") }; let n = match o { St::Run(x) => x.len(), St::Done { code, .. } => code, St::Idle => 0 }; wait().await; log("end"); n } with ();
    fn a_enum_ref() -> u64 { let o = St::Done { code: 1, g: d("g") }; let n = match &o { St::Run(x) => x.len(), St::Done { code, .. } => *code, St::Idle => 0 }; wait().await; log("end"); n } with ();
    fn a_or() -> u64 { let o: Result<D, D> = Err(d("a")); let n = match o { Ok(x) | Err(x) => x.len() }; wait().await; log("end"); n } with ();
    fn a_at() -> u64 { let o = Some(d("a")); let n = match o { x @ Some(_) => { eat(x); 1 } None => 0 }; wait().await; log("end"); n } with ();
    fn a_update() -> u64 { let s = fields("a", "b"); let t = Fields { x: d("new"), ..s }; wait().await; log("end"); t.n } with ();
    fn a_update_all() -> u64 { let s = fields("a", "b"); let t = Fields { x: d("n1"), y: d("n2"), ..s }; wait().await; log("end"); t.n } with ();
    fn a_box_part() -> u64 { let s = Box::new((d("a"), d("b"))); let x = s.0; wait().await; log("end"); x.len() } with ();
    fn a_box_deref() -> u64 { let s = Box::new(d("a")); let x = *s; wait().await; log("end"); x.len() } with ();
    fn a_box_pattern() -> u64 { let s = Box::new((d("a"), d("b"))); let (x, _) = *s; wait().await; log("end"); x.len() } with ();
    fn a_paren_pat() -> u64 { let s = (d("a"), d("b")); let (x, _) = (s); wait().await; log("end"); x.len() } with ();
    fn a_block_pat() -> u64 { let s = (d("a"), d("b")); let (x, _) = { s }; wait().await; log("end"); x.len() } with ();
    fn a_index_pat() -> u64 { let s = vec![(1u64, d("b"))]; let (x, _) = s[0]; wait().await; log("end"); x } with ();
    fn a_field_pat() -> u64 { let s = (pair("a", "b"), d("c")); let Pair(x, _) = s.0; wait().await; log("end"); x.len() } with ();
    fn a_slice_pat() -> u64 { let s = [d("a"), d("b"), d("c")]; let [x, .., z] = s; wait().await; log("end"); x.len() + z.len() } with ();
    fn a_slice_rest() -> u64 { let s = [d("a"), d("b"), d("c")]; let [_, rest @ ..] = s; wait().await; log("end"); rest.len() as u64 } with ();
    fn a_labelled_move() -> u64 { let s = d("a"); let n = 'b: { if s.no() { break 'b 1 } eat(s); 2 }; wait().await; log("end"); n } with ();
    fn a_const_block() -> u64 { let s = d("a"); let n = const { 3u64 }; wait().await; log("end"); n } with ();

    // Closures without `move` that move a part out of a local by a pattern.
    fn ct_matches() -> bool { let o = Some(d("a")); let t = call(|| matches!(o, Some(x) if x.no()) as u64); log("mid"); wait().await; log("end"); t > 0 } with ();
    fn ct_matches_yes(k: u64) -> u64 { let o; if k > 1 { o = Some(leaf(d("a")).await); } else { o = Some(d("b")); } let t = call(|| matches!(o, Some(x) if x.yes()) as u64); log("mid"); wait().await; log("end"); t } with (2);
    fn ct_let() -> u64 { let o = (d("a"), d("b"), 3u64); let t = call(|| { let (x, _, k) = o; log("in"); k }); log("mid"); wait().await; log("end"); t } with ();
    fn ct_match() -> u64 { let o = (d("a"), Some(d("b"))); let t = call(|| match o { (_, Some(x)) => { drop(x); 1 } _ => 2 }); log("mid"); wait().await; log("end"); t } with ();
    fn ct_look() -> u64 { let o = (d("a"), Some(4u64)); let t = call(|| match o { (_, Some(x)) => x, _ => 2 }); log("mid"); wait().await; log("end"); t } with ();
    fn ct_if_let(o: Option<D>) -> u64 { let t = call(|| if let Some(x) = o { log("in"); 1 } else { 2 }); log("mid"); wait().await; log("end"); t } with (Some(d("a")));
    fn ct_unpacked() -> u64 { let o = (d("a"), d("b")); let t = call(|| { let x; (x, _) = o; log("in"); 1 }); log("mid"); wait().await; log("end"); t } with ();
    fn ct_field_left(o: (D, D)) -> u64 { let k = leaf(1u64); drop(o.0); let n = k.await; call(|| { let D(_) = o.1; log("in"); n }) } with ((d("a"), d("b")));
    fn ct_field_read() -> u64 { let o = (d("a"), d("b"), 4u64); drop(o.0); let n = leaf(1u64).await; call(|| o.2 + n) } with ();
    fn ct_box(v: Box<(u64, D)>) -> u64 { let n; (n, _) = *v; let w = leaf((*v).1).await; log("mid"); wait().await; log("end"); n } with (Box::new((3, d("b"))));

    // References out of branches.
    fn rb_condition() -> u64 { let x = leaf(d("x")).await; let y = d("y"); let pick = if leaf(x.no()).await { &x } else { &y }; let n = pick.0.len() as u64; let z = leaf(n).await; let w = std::convert::identity(y); log("w"); z + w.0.len() as u64 } with ();
    fn rb_branch() -> u64 { let x = leaf(d("x")).await; let y = d("y"); let pick = if x.no() { wait().await; &x } else { &y }; let n = pick.0.len() as u64; let z = leaf(n).await; eat(y); z } with ();
    fn rb_match(k: u64) -> u64 { let x = d("x"); let y = d("y"); let pick = match k { 0 => { wait().await; &x } _ => &y }; let n = pick.0.len() as u64; wait().await; eat(y); n } with (0);
    fn rb_name(k: u64, x: &'static str) -> u64 { let y = d("y"); let pick = if k > 1 { wait().await; x } else { "none" }; let n = pick.len() as u64; wait().await; eat(y); n } with (2, "xx");
}
