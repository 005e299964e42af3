//! Variations of the other files' bodies, in other places and forms.

use super::captures::*;
use super::closures::*;
use super::guards::*;
use super::ordinary::*;
use crate::guesses::kit::*;
use crate::harness::*;
use std::collections::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
fn call(f: impl FnOnce() -> u64) -> u64 {
    f()
}
fn text(f: impl FnOnce() -> String) -> String {
    f()
}
pub struct Acct {
    pub ids: Vec<u64>,
    pub lock: Permit,
    pub total: u64,
}
pub fn acct() -> Acct {
    Acct { ids: vec![1, 2], lock: permit(9), total: 5 }
}
impl Acct {
    pub fn sum(&self) -> u64 {
        self.ids.iter().sum()
    }
    pub fn product(&self) -> u64 {
        2
    }
    pub fn ok(&self) -> bool {
        true
    }
    pub fn expect(&self, n: u64) -> bool {
        n == self.total
    }
    pub fn reduce(&self) -> Option<u64> {
        Some(1)
    }
    pub fn err(&self) -> Option<&'static str> {
        None
    }
    pub fn scan(&self, n: u64) -> Option<u64> {
        self.ids.iter().find(|x| **x == n).copied()
    }
    pub fn inspect(&self) -> u64 {
        4
    }
}
corpus! {
    fn b_reassign() -> u64 { let mut s = acct(); let n = call(move || s.ids[0]); leaf(1).await; log("mid"); s = acct(); wait().await; log("end"); n + s.total } with ();
    fn b_in_operand() -> u64 { let s = acct(); let n = leaf(call(move || s.ids[0])).await; log("after"); n } with ();
    fn b_in_tail() -> u64 { let s = acct(); leaf(call(move || s.ids[0])).await } with ();
    fn b_in_if() -> u64 { let s = acct(); if call(move || s.ids[0]) == 1 { leaf(1).await; log("end"); 1 } else { 0 } } with ();
    fn b_ref_param(s: LR) -> String { let g = d("g"); let t = text(move || format!("{}", s.left)); log("x"); wait().await; log("end"); t } with (LR { left: 3, right: D("r") });
    fn b_sort_by(k: u64) -> Vec<u64> { let s = acct(); let mut v = vec![1usize, 0]; v.sort_by_key(move |i| s.ids[*i]); wait().await; log("end"); v.iter().map(|x| *x as u64).collect() } with (1);
    fn b_retain() -> usize { let s = acct(); let mut v = vec![1u64, 5]; v.retain(move |x| s.ids[0] != *x); wait().await; log("end"); v.len() } with ();
    fn b_for_map() -> u64 { let s = acct(); let mut t = 0; for n in (0..2usize).map(move |i| s.ids[i]) { t += n; } wait().await; log("end"); t } with ();
    fn b_for_map_await() -> u64 { let s = acct(); let mut t = 0; for n in (0..2usize).map(move |i| s.ids[i]) { t += leaf(n).await; } log("end"); t } with ();
    fn b_unwrap_or_else() -> u64 { let s = acct(); let n = None.unwrap_or_else(move || s.ids[1]); wait().await; log("end"); n } with ();
    fn b_map_err() -> Result<u64, String> { let s = acct(); let r: Result<u64, u64> = Err(3); let r = r.map_err(move |e| format!("{e} of {}", s.total)); wait().await; log("end"); r } with ();
    fn b_map_err_q() -> Result<u64, String> { let s = acct(); let r: Result<u64, u64> = Ok(3); let n = r.map_err(move |e| format!("{e} of {}", s.total))?; wait().await; log("end"); Ok(n) } with ();
    fn b_other_len() -> usize { let len = mk(4); let v = vec![1u64, 2]; let t = text(move || format!("{}", v.len())); wait().await; log("end"); t.len() } with ();

    // sum(&self) and similar methods
    fn s_sum() -> u64 { match leaf(acct()).await.sum() { 0 => 0, n => { log("in"); leaf(n).await } } } with ();
    fn s_ok() -> u64 { match leaf(acct()).await.ok() { true => { log("in"); leaf(1).await } false => 0 } } with ();
    fn s_expect() -> u64 { match leaf(acct()).await.expect(5) { true => { log("in"); leaf(1).await } false => 0 } } with ();
    fn s_scan() -> u64 { if let Some(n) = leaf(acct()).await.scan(2) { log("in"); leaf(n).await } else { log("else"); 0 } } with ();
    fn s_reduce() -> u64 { while let Some(n) = leaf(acct()).await.reduce() { log("in"); leaf(n).await; break; } log("end"); 1 } with ();
    fn s_err() -> u64 { match leaf(acct()).await.err() { Some(_) => 0, None => { log("in"); leaf(1).await } } } with ();
    fn s_inspect() -> u64 { let n = match leaf(acct()).await.inspect() { 4 => { log("in"); leaf(1).await } n => n }; log("out"); n } with ();
    fn s_for_inspect() -> u64 { let mut t = 0; for i in 0..leaf(acct()).await.inspect() { log("turn"); t += leaf(i).await; } t } with ();
    fn s_ok_q() -> Option<u64> { match leaf(acct()).await.scan(2)? { 2 => { log("in"); leaf(1).await; Some(1) } n => Some(n) } } with ();
    fn s_two_args() -> u64 { two(leaf(acct()).await.sum(), match leaf(acct()).await.sum() { 3 => { log("in"); 1 } n => n }) } with ();

    // matches!
    fn x_while() -> u64 { let o = Some(span("o")); let mut n = 0; if !matches!(o, Some(s) if s.name == "z") { n += leaf(1).await; log("held"); } n } with ();
    fn x_letelse() -> u64 { let r: Result<Span, Span> = Err(span("e")); let b = matches!(r, Ok(s) if s.name == "e"); leaf(1).await; log("held"); b as u64 } with ();
    fn x_num() -> u64 { let r: Result<u64, Span> = Err(span("e")); let b = matches!(r, Ok(3)); leaf(1).await; log("held"); b as u64 } with ();
    fn x_num_bind() -> u64 { let r = Err::<u64, Span>(span("e")); let b = matches!(r, Ok(n)); leaf(1).await; log("held"); b as u64 } with ();
    fn x_is_err(r: Result<u64, Span>) -> bool { let b = matches!(r, Ok(n) if n > 1); leaf(1).await; log("held"); b } with (Err(Span { name: "p" }));
    fn x_enum_variant() -> bool { enum E { A(u64), B(Span) } let e = E::B(span("b")); let b = matches!(e, E::A(n) if n > 1); leaf(1).await; log("held"); b } with ();
    fn x_nested() -> bool { let e = Some(Err::<u64, Span>(span("b"))); let b = matches!(e, Some(Ok(n)) if n > 1); leaf(1).await; log("held"); b } with ();
    fn x_ref() -> bool { let e = Some(Err::<u64, Span>(span("b"))); let b = matches!(&e, Some(Ok(n)) if *n > 1); leaf(1).await; log("held"); b } with ();
    fn x_loop() -> u64 { let mut t = 0; for i in 0..3u64 { let r = if i == 1 { Ok(i) } else { Err(span("e")) }; if matches!(r, Ok(n) if n > 0) { t += 1; } leaf(1).await; log("turn"); } t } with ();
    fn x_head(r: Result<u64, Span>) -> u64 { if matches!(r, Ok(n) if n > 1) { return 1; } leaf(1).await; log("held"); 2 } with (Err(Span { name: "p" }));
    fn x_head_iflet(r: Result<u64, Span>) -> u64 { if let Ok(n) = r { return n; } leaf(1).await; log("held"); 2 } with (Err(Span { name: "p" }));
    fn x_head_drop_order(a: Span, b: u64, c: Span) -> u64 { if b < 2 { return b; } let _g = span("g"); leaf(b).await } with (Span { name: "a" }, 1, Span { name: "c" });
    fn x_head_tail(a: Span, b: u64, _: Span, c: Option<Span>) -> u64 { match b { 1 => b, n => { let _g = span("g"); leaf(n).await } } } with (Span { name: "a" }, 1, Span { name: "w" }, Some(Span { name: "c" }));
    fn x_head_move(a: Option<Span>, b: u64) -> u64 { match a { None => b, Some(s) => { log("in"); leaf(1).await; s.name.len() as u64 } } } with (Some(Span { name: "a" }), 1);
    fn x_head_letelse(a: Result<Span, Span>, b: Span) -> u64 { let Ok(s) = a else { log("bad"); return 0 }; leaf(1).await; log("end"); 1 } with (Err(Span { name: "a" }), Span { name: "b" });
    fn x_head_letelse_ok(a: Result<Span, Span>, b: Span) -> u64 { let Ok(s) = a else { log("bad"); return 0 }; leaf(1).await; log("end"); 1 } with (Ok(Span { name: "a" }), Span { name: "b" });
    fn x_head_letelse_part(a: (Option<u64>, Span), b: Span) -> u64 { let (Some(n), _) = a else { log("bad"); return 0 }; leaf(n).await; log("end"); 1 } with ((Some(1), Span { name: "a" }), Span { name: "b" });
    fn x_head_match_stmt(a: Option<Span>, n: u64) -> u64 { let s = match a { Some(s) => s, None => return n }; leaf(1).await; log("end"); s.name.len() as u64 } with (Some(Span { name: "a" }), 3);

    // deferred values
    fn y_deferred() -> u64 { let g; if leaf(true).await { g = span("a"); } else { g = span("b"); } wait().await; log("end"); g.name.len() as u64 } with ();
    fn y_deferred_some() -> u64 { let g; if leaf(false).await { g = span("a"); log(g.name); } wait().await; log("end"); 1 } with ();
    fn y_deferred_loop() -> u64 { let mut t = 0; for i in 0..3u64 { let g; let h = span("h"); if i == 1 { g = span("g"); t += g.name.len() as u64; } wait().await; log("turn"); } t } with ();
    fn y_deferred_block() -> u64 { let g; 'b: { let h = span("h"); if h.name == "x" { break 'b; } g = span("g"); log(g.name); } wait().await; log("end"); 1 } with ();
    fn y_assign_old() -> u64 { let mut g = span("a"); g = { log("rhs"); wait().await; span("b") }; log("end"); g.name.len() as u64 } with ();
    fn y_assign_field() -> u64 { let mut a = acct(); a.lock = permit(leaf(2).await); log("mid"); wait().await; log("end"); a.total } with ();
    fn y_assign_moved_field() -> u64 { let mut a = acct(); drop(a.lock); log("mid"); a.lock = permit(2); wait().await; log("end"); a.total } with ();
    fn y_moved_field_only() -> u64 { let a = acct(); drop(a.lock); log("mid"); wait().await; log("end"); a.total } with ();
    fn y_loop_value() -> u64 { let mut k = 0; let g = loop { let h = span("h"); k += leaf(1).await; if k == 2 { break h; } }; wait().await; log("end"); g.name.len() as u64 } with ();
    fn y_dbg_like() -> u64 { let g = span("g"); let h = (g, 1u64); let (k, n) = h; wait().await; log("end"); n } with ();
}
