//! Closures in locals, patterns on types with destructors, methods named like std's.

use crate::guesses::kit::*;
use crate::harness::*;
use std::collections::*;
use std::ops::*;
pub struct VG {
    pub v: Vec<u64>,
    pub g: D,
}
pub fn vg() -> VG {
    VG { v: vec![1, 2, 3], g: d("vg") }
}
pub struct BG {
    pub b: Box<u64>,
    pub g: D,
}
fn bg() -> BG {
    BG { b: Box::new(4), g: d("bg") }
}
pub struct Named {
    pub name: String,
    pub g: D,
}
pub fn named() -> Named {
    Named { name: "nm".into(), g: d("named") }
}
pub struct Num {
    pub id: u64,
}
impl Drop for Num {
    fn drop(&mut self) {
        log(format_args!("drop num {}", self.id));
    }
}
pub fn num(id: u64) -> Num {
    log(format_args!("make num {id}"));
    Num { id }
}
impl Num {
    pub fn opt(&self) -> Option<u64> {
        Some(self.id)
    }
    pub fn err(&self) -> Result<u64, u64> {
        Ok(self.id)
    }
}
pub struct Outer {
    pub inner: Num,
    pub n: u64,
}
pub struct TwoN {
    pub a: u64,
    pub b: u64,
}
impl Drop for TwoN {
    fn drop(&mut self) {
        log(format_args!("drop twon {} {}", self.a, self.b));
    }
}
pub enum En {
    A(u64),
    B { x: u64 },
}
impl Drop for En {
    fn drop(&mut self) {
        log("drop en");
    }
}
pub struct W(pub u64);
impl Drop for W {
    fn drop(&mut self) {
        log(format_args!("drop w {}", self.0));
    }
}
impl W {
    pub fn ok(&self) -> Option<u64> {
        Some(self.0)
    }
    pub fn err(&self) -> Option<u64> {
        Some(self.0 + 1)
    }
    pub fn unwrap(&self) -> u64 {
        self.0
    }
    pub fn map(&self, f: impl Fn(u64) -> u64) -> Option<u64> {
        Some(f(self.0))
    }
    pub fn max(&self) -> u64 {
        self.0
    }
    pub fn flatten(&self) -> Vec<u64> {
        vec![self.0, 2]
    }
    pub fn copied(&self) -> Option<u64> {
        Some(self.0)
    }
    pub fn filter(&self) -> Option<u64> {
        Some(self.0)
    }
    pub fn sum(&self) -> u64 {
        self.0
    }
    pub fn count(&self) -> usize {
        2
    }
    pub fn take(&self) -> Option<u64> {
        Some(3)
    }
}
corpus! {
    // `move` closures that capture a part of a local
    fn c_index() -> u64 { let s = vg(); let f = move || s.v[0]; let n = f(); wait().await; log("end"); n } with ();
    fn c_index_used_later() -> u64 { let s = vg(); let f = move || s.v[0]; wait().await; log("mid"); let n = f(); leaf(1).await; log("end"); n } with ();
    fn c_deref() -> u64 { let s = bg(); let f = move || *s.b + 1; let n = f(); wait().await; log("end"); n } with ();
    fn c_macro_field() -> String { let s = named(); let f = move || format!("{}", s.name); let t = f(); wait().await; log("end"); t } with ();
    fn c_macro_field_k() -> String { let s = named(); let k = 3u64; let f = move |x: u64| format!("{}-{}-{}", s.name, x, k); let t = f(1); wait().await; log("end"); t } with ();
    fn c_macro_log() -> u64 { let s = named(); let f = move || log(format_args!("{}", s.name)); f(); wait().await; log("end"); 1 } with ();
    fn c_macro_d() -> String { let s = fields("x", "y"); let f = move || format!("{:?}", s.x); let t = f(); wait().await; log("end"); t } with ();
    fn c_macro_other_name() -> String { let name = d("n"); let s = named(); let f = move || format!("{}", s.name); let t = f(); wait().await; log("end"); t } with ();
    fn c_macro_method_name() -> String { let len = mk(3); let s = "abc".to_string(); let f = move || format!("{}", s.len()); let t = f(); wait().await; log("end"); t } with ();
    fn c_macro_arg_name() -> String { let id = mk(3); let f = move |n: u64| format!("{id}", id = n); let t = f(2); wait().await; log("end"); t } with ();
    fn c_macro_assert() -> u64 { let s = vg(); let f = move |k: usize| { assert!(k < s.v.len()); k as u64 }; let n = f(1); wait().await; log("end"); n } with ();
    fn c_macro_vec() -> u64 { let s = vg(); let f = move || vec![s.v.len() as u64, 2]; let n = f()[0]; wait().await; log("end"); n } with ();
    fn c_macro_matches() -> bool { let s = vg(); let f = move || matches!(s.v.len(), 1..=5); let n = f(); wait().await; log("end"); n } with ();
    fn c_pattern() -> u64 { let s = pair("a", "b"); let f = move || { let Pair(x, _) = s; x.len() }; let n = f(); wait().await; log("end"); n } with ();
    fn c_pattern_tuple() -> u64 { let s = (d("a"), d("b")); let f = move || { let (x, _) = s; x.len() }; let n = f(); wait().await; log("end"); n } with ();
    fn c_pattern_ref() -> u64 { let s = (d("a"), d("b")); let f = move || { let (x, _) = &s; x.len() }; let n = f(); wait().await; log("end"); n } with ();
    fn c_wild() -> u64 { let s = d("a"); let f = move || { let _ = s; 3u64 }; let n = f(); wait().await; log("end"); n } with ();
    fn c_wild_assign() -> u64 { let s = d("a"); let f = move || { _ = s; 3u64 }; let n = f(); wait().await; log("end"); n } with ();
    fn c_match_wild() -> u64 { let s = d("a"); let f = move || match s { _ => 3u64 }; let n = f(); wait().await; log("end"); n } with ();
    fn c_match_field() -> u64 { let s = fields("a", "b"); let f = move || match s { Fields { n, .. } => n }; let n = f(); wait().await; log("end"); n } with ();
    fn c_iflet_field() -> u64 { let s = (d("a"), Some(4u64)); let f = move || if let (_, Some(n)) = s { n } else { 0 }; let n = f(); wait().await; log("end"); n } with ();
    fn c_field_copy() -> u64 { let s = fields("a", "b"); let f = move || s.n; let n = f(); wait().await; log("end"); n } with ();
    fn c_field_method() -> u64 { let s = fields("a", "b"); let f = move || s.x.len(); let n = f(); wait().await; log("end"); n } with ();
    fn c_map_move() -> u64 { let s = vg(); let t: u64 = (0..3usize).map(move |i| s.v[i]).sum(); wait().await; log("end"); t } with ();
    fn c_map_move_fmt() -> Vec<String> { let s = named(); let t: Vec<String> = (0..2).map(move |i| format!("{}{i}", s.name)).collect(); wait().await; log("end"); t } with ();
    fn c_async_block() -> u64 { let s = vg(); let fut = async move { s.v[1] }; let n = foreign(fut).await; wait().await; log("end"); n } with ();
    fn c_async_block_fmt() -> String { let s = named(); let fut = async move { format!("{}", s.name) }; let n = foreign(fut).await; wait().await; log("end"); n } with ();
    fn c_async_block_direct() -> u64 { let s = vg(); let n = foreign(async move { s.v[1] }).await; log("mid"); wait().await; log("end"); n } with ();
    fn c_nested_move() -> u64 { let s = vg(); let f = move || { let g = || s.v[0]; g() }; let n = f(); wait().await; log("end"); n } with ();
    fn c_shadowed_param() -> u64 { let s = vg(); let f = move |s: VG| s.v[0]; let n = f(vg()); wait().await; log("end"); n } with ();
    fn c_closure_let_shadow() -> String { let s = named(); let f = move || { let s = "inner"; format!("{}", s) }; let n = f(); wait().await; log("end"); n } with ();
    fn c_item_struct_lit() -> u64 { let x = d("xx"); let f = move || { let r = LR { left: 1, right: d("r") }; format!("{}", r.left).len() as u64 }; let left = d("left"); let n = f(); let h = move || { let r = LR { left: 1, right: d("r") }; assert_eq!(r.left, 1); n }; let m = h(); wait().await; log("end"); m } with ();

    // types with destructors of which only numbers are bound
    fn p_fields() -> u64 { let t = num(3); let Num { id } = t; wait().await; log("end"); id } with ();
    fn p_fields_match() -> u64 { let t = num(3); let n = match t { Num { id } => id + 1 }; wait().await; log("end"); n } with ();
    fn p_fields_iflet() -> u64 { let t = Some(num(3)); let n = if let Some(Num { id }) = t { id } else { 0 }; wait().await; log("end"); n } with ();
    fn p_fields_nested() -> u64 { let t = Outer { inner: num(3), n: 4 }; let Outer { inner: Num { id }, n } = t; wait().await; log("end"); id + n } with ();
    fn p_tuple() -> u64 { let t = (num(1), num(2)); let (Num { id: a }, Num { id: b }) = t; wait().await; log("end"); a + b } with ();
    fn p_tuple_struct() -> u64 { let t = W(4); let W(n) = t; wait().await; log("end"); n } with ();
    fn p_some_tuple_struct() -> u64 { let t = Some(W(4)); let n = match t { Some(W(n)) => n, None => 0 }; wait().await; log("end"); n } with ();
    fn p_ok() -> u64 { let t: Result<W, u64> = Ok(W(4)); let n = match t { Ok(W(n)) => n, Err(n) => n }; wait().await; log("end"); n } with ();
    fn p_two() -> u64 { let t = TwoN { a: 1, b: 2 }; let TwoN { a, b } = t; wait().await; log("end"); a + b } with ();
    fn p_enum() -> u64 { let t = En::A(4); let n = match t { En::A(n) => n, En::B { x } => x }; wait().await; log("end"); n } with ();
    fn p_enum_typed() -> u64 { let t: En = En::B { x: 4 }; let n = match t { En::A(n) => n, En::B { x } => x }; wait().await; log("end"); n } with ();
    fn p_letelse() -> u64 { let t = En::A(4); let En::A(n) = t else { return 0 }; wait().await; log("end"); n } with ();
    fn p_param(t: Num) -> u64 { let Num { id } = t; wait().await; log("end"); id } with (Num { id: 5 });
    fn p_param_pat(Num { id }: Num) -> u64 { wait().await; log("end"); id } with (Num { id: 5 });
    fn p_array() -> u64 { let t = [W(1), W(2)]; let [W(a), W(b)] = t; wait().await; log("end"); a + b } with ();
    fn p_for() -> u64 { let mut s = 0; for W(n) in vec![W(1), W(2)] { wait().await; log("turn"); s += n; } s } with ();
    fn p_for_tuple() -> u64 { let mut s = 0; for (i, W(n)) in vec![W(1), W(2)].into_iter().enumerate() { wait().await; log(i); s += n; } s } with ();
    fn p_await_fields() -> u64 { let Num { id } = leaf(num(3)).await; wait().await; log("end"); id } with ();
    fn p_await_match() -> u64 { match leaf(num(3)).await { Num { id } => { wait().await; log("end"); id } } } with ();
    fn p_await_iflet() -> u64 { if let Num { id: 3 } = leaf(num(3)).await { wait().await; log("end"); 1 } else { 0 } } with ();
    fn p_matches() -> bool { let t = En::A(4); let b = matches!(t, En::A(n) if n > 3); wait().await; log("end"); b } with ();
    fn p_destructure_assign() -> u64 { let t = num(3); let id; Num { id } = t; wait().await; log("end"); id } with ();
    fn p_while_let() -> u64 { let mut v = vec![W(1), W(2)]; let mut s = 0; while let Some(W(n)) = v.pop() { wait().await; log("turn"); s += n; } s } with ();

    // methods named like std's that only read
    fn m_iflet_ok() -> u64 { if let Some(n) = leaf(W(3)).await.ok() { log("in"); wait().await; log("end"); n } else { 0 } } with ();
    fn m_match_err() -> u64 { match leaf(W(3)).await.err() { Some(n) => { log("in"); wait().await; n } None => 0 } } with ();
    fn m_match_unwrap() -> u64 { match leaf(W(3)).await.unwrap() { 3 => { log("in"); wait().await; 1 } n => { log("n"); n } } } with ();
    fn m_iflet_map() -> u64 { if let Some(n) = leaf(W(3)).await.map(|x| x + 1) { log("in"); wait().await; n } else { 0 } } with ();
    fn m_match_max() -> u64 { match leaf(W(3)).await.max() { 3 => { log("in"); wait().await; 1 } n => { log("n"); n } } } with ();
    fn m_for_flatten() -> u64 { let mut s = 0; for n in leaf(W(3)).await.flatten() { log("in"); wait().await; s += n; } s } with ();
    fn m_iflet_copied() -> u64 { if let Some(n) = leaf(W(3)).await.copied() { log("in"); wait().await; n } else { log("else"); 0 } } with ();
    fn m_while_filter() -> u64 { let mut k = 0; while let Some(n) = leaf(W(k)).await.filter() { if n > 1 { break } log("in"); wait().await; k += 1; } k } with ();
    fn m_if_max() -> u64 { if leaf(W(3)).await.max() > 2 { log("in"); wait().await; 1 } else { 0 } } with ();
    fn m_letelse_ok() -> u64 { let Some(n) = leaf(W(3)).await.ok() else { return 0 }; log("in"); wait().await; n } with ();
    fn m_operand_into() -> u64 { leaf(leaf(W(3)).await.sum()).await } with ();
    fn m_two_into() -> u64 { two(leaf(W(3)).await.sum(), leaf(1).await) } with ();
    fn m_chain_ok() -> u64 { if let Some(n) = leaf(W(3)).await.ok().map(|x| x + 1) { log("in"); wait().await; n } else { 0 } } with ();
    fn m_try_ok() -> Option<u64> { let n = leaf(W(3)).await.ok()?; log("in"); wait().await; Some(n) } with ();
    fn m_match_count() -> u64 { match leaf(W(3)).await.count() { 2 => { log("in"); wait().await; 1 } _ => 0 } } with ();
    fn m_match_take() -> u64 { match leaf(W(3)).await.take() { Some(n) => { log("in"); wait().await; n } _ => 0 } } with ();
    fn m_nested_head() -> u64 { match two(leaf(W(3)).await.sum(), 4) { 7 => { log("in"); wait().await; 1 } _ => 0 } } with ();
}
