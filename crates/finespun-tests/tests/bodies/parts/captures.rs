//! Captures of a local by closures in calls; destructuring assignments.

use super::closures::*;
use crate::guesses::kit::*;
use crate::harness::*;
use std::collections::*;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, Mutex, MutexGuard, RwLock};

fn vg() -> VG {
    VG { v: vec![1, 2, 3], g: d("vg") }
}
fn named() -> Named {
    Named { name: "nm".into(), g: d("named") }
}
fn call(f: impl FnOnce() -> u64) -> u64 {
    f()
}
fn text(f: impl FnOnce() -> String) -> String {
    f()
}
fn flag(f: impl FnOnce() -> bool) -> bool {
    f()
}
pub struct Conn {
    pub open: Arc<AtomicU64>,
    pub host: String,
    pub port: u16,
}
impl Drop for Conn {
    fn drop(&mut self) {
        self.open.fetch_sub(1, SeqCst);
        log("closed");
    }
}
pub struct Session {
    pub user: String,
    pub rows: Vec<u64>,
    pub conn: D,
}
fn session() -> Session {
    Session { user: "ann".into(), rows: vec![5, 6, 7], conn: d("conn") }
}
corpus! {
    fn i_macro_other_name() -> String { let name = d("n"); let s = named(); let t = text(move || format!("{}", s.name)); wait().await; log("end"); t } with ();
    fn i_macro_method_name() -> String { let len = mk(3); let s = "abc".to_string(); let t = text(move || format!("{}", s.len())); wait().await; log("end"); t } with ();
    fn i_macro_arg_name() -> String { let id = mk(3); let n = 4u64; let t = text(move || format!("{id}", id = n)); wait().await; log("end"); t } with ();
    fn i_macro_assert() -> u64 { let s = vg(); let t = call(move || { assert!(1 < s.v.len()); 1 }); wait().await; log("end"); t } with ();
    fn i_macro_vec() -> u64 { let s = vg(); let t = call(move || vec![s.v.len() as u64, 2][0]); wait().await; log("end"); t } with ();
    fn i_macro_matches() -> bool { let s = vg(); let t = flag(move || matches!(s.v.len(), 1..=5)); wait().await; log("end"); t } with ();
    fn i_pattern() -> u64 { let s = pair("a", "b"); let t = call(move || { let Pair(x, _) = s; x.len() }); wait().await; log("end"); t } with ();
    fn i_pattern_tuple() -> u64 { let s = (d("a"), d("b")); let t = call(move || { let (x, _) = s; x.len() }); wait().await; log("end"); t } with ();
    fn i_pattern_ref() -> u64 { let s = (d("a"), d("b")); let t = call(move || { let (x, _) = &s; x.len() }); wait().await; log("end"); t } with ();
    fn i_wild() -> u64 { let s = d("a"); let t = call(move || { let _ = s; 3u64 }); wait().await; log("end"); t } with ();
    fn i_match_wild() -> u64 { let s = d("a"); let t = call(move || match s { _ => 3u64 }); wait().await; log("end"); t } with ();
    fn i_match_field() -> u64 { let s = fields("a", "b"); let t = call(move || match s { Fields { n, .. } => n }); wait().await; log("end"); t } with ();
    fn i_iflet_field() -> u64 { let s = (d("a"), Some(4u64)); let t = call(move || if let (_, Some(n)) = s { n } else { 0 }); wait().await; log("end"); t } with ();
    fn i_field_copy() -> u64 { let s = fields("a", "b"); let t = call(move || s.n); wait().await; log("end"); t } with ();
    fn i_field_method() -> u64 { let s = fields("a", "b"); let t = call(move || s.x.len()); wait().await; log("end"); t } with ();
    fn i_let_shadow() -> String { let s = named(); let t = text(move || { let s = "inner"; format!("{}", s) }); wait().await; log("end"); t } with ();
    fn i_nonmove_drop() -> u64 { let s = d("s"); let t = call(|| { let k = s; k.len() }); wait().await; log("end"); t } with ();
    fn i_nonmove_macro_move() -> u64 { let s = d("s"); let t = call(|| vec![s][0].len()); wait().await; log("end"); t } with ();
    fn i_nonmove_into() -> u64 { let s = vec![d("s")]; let t = call(|| s.into_iter().map(|x| x.len()).sum()); wait().await; log("end"); t } with ();
    fn i_nonmove_cond() -> u64 { let s = d("s"); let c = true; let t = call(|| if c { let k = s; k.len() } else { 0 }); wait().await; log("end"); t } with ();
    fn i_thread(k: usize) -> u64 { let s = session(); let h = std::thread::spawn(move || s.rows[k]); let n = h.join().unwrap(); wait().await; log("end"); n } with (1);
    fn i_unwrap_or_else() -> String { let s = session(); let o: Option<String> = None; let n = o.unwrap_or_else(move || format!("no {}", s.user)); wait().await; log("end"); n } with ();
    fn i_map_opt() -> Option<u64> { let s = session(); let n = Some(1usize).map(move |i| s.rows[i]); wait().await; log("end"); n } with ();
    fn i_filter() -> Vec<usize> { let s = session(); let n: Vec<usize> = (0..3).filter(move |i| s.rows[*i] > 5).collect(); wait().await; log("end"); n } with ();
    fn i_box_closure() -> u64 { let s = session(); let f: Box<dyn Fn(usize) -> u64 + Send> = Box::new(move |i| s.rows[i]); wait().await; log("mid"); let n = f(1); leaf(1).await; log("end"); n } with ();
    fn i_box_closure_fmt() -> String { let s = session(); let f: Box<dyn Fn(usize) -> String + Send> = Box::new(move |i| format!("{}{i}", s.user)); wait().await; log("mid"); let n = f(1); leaf(1).await; log("end"); n } with ();
    fn i_box_plain() -> String { let s = session(); let f: Box<dyn Fn() -> String + Send> = Box::new(move || s.user.clone()); wait().await; log("mid"); let n = f(); leaf(1).await; log("end"); n } with ();
    fn i_loop() -> u64 { let mut t = 0; for i in 0..2usize { let s = session(); t += call(move || s.rows[i]); wait().await; log("turn"); } t } with ();
    fn i_foreign_err() -> Result<u64, String> { let s = session(); let n = foreign(async move { if s.rows[0] > 9 { Err(format!("bad {}", s.user)) } else { Ok(s.rows[1]) } }).await?; log("got"); let m = leaf(n).await; log("end"); Ok(m) } with ();
    fn i_early_guard_release() -> u64 { struct G { id: Vec<u64>, lock: D } let g = G { id: vec![4], lock: d("lock") }; let n = call(move || g.id[0]); log("critical"); wait().await; log("critical 2"); n } with ();
    fn i_param(s: LR) -> u64 { let n = call(move || s.left); wait().await; log("end"); n } with (LR { left: 3, right: D("r") });
    fn i_param_fmt(s: LR) -> String { let n = text(move || format!("{}", s.left)); wait().await; log("end"); n } with (LR { left: 3, right: D("r") });
    fn i_param_arr(s: ([u64; 2], D)) -> u64 { let n = call(move || s.0[1]); wait().await; log("end"); n } with (([3, 4], D("r")));
    fn i_two_closures() -> u64 { let s = session(); let a = call(move || s.rows[0]); let b = text(move || format!("{}", s.user)); wait().await; log("end"); a + b.len() as u64 } with ();
    fn i_async_nonmove() -> u64 { let s = session(); let n = foreign(async { s.rows[0] }).await; log("mid"); wait().await; log("end"); n } with ();
    fn i_async_capture_wild() -> u64 { let s = d("s"); let n = foreign(async move { let _ = s; 1u64 }).await; log("mid"); wait().await; log("end"); n } with ();
    fn i_async_pat() -> u64 { let s = (d("a"), d("b")); let n = foreign(async move { let (x, _) = s; x.len() }).await; log("mid"); wait().await; log("end"); n } with ();

    // destructuring assignment
    fn da_tuple() -> u64 { let s = (d("a"), d("b")); let x; (x, _) = s; wait().await; log("end"); x.len() } with ();
    fn da_tuple_num() -> u64 { let s = (3u64, d("b")); let x; (x, _) = s; wait().await; log("end"); x } with ();
    fn da_struct() -> u64 { let s = fields("a", "b"); let n; Fields { n, .. } = s; wait().await; log("end"); n } with ();
    fn da_struct_mut() -> u64 { let s = fields("a", "b"); let mut t = 1; Fields { n: t, .. } = s; wait().await; log("end"); t } with ();
    fn da_tuple_struct() -> u64 { let s = Pair(d("a"), d("b")); let x; Pair(_, x) = s; wait().await; log("end"); x.len() } with ();
    fn da_array() -> u64 { let s = [d("a"), d("b")]; let x; [x, _] = s; wait().await; log("end"); x.len() } with ();
    fn da_loop() -> u64 { let (mut a, mut b) = (0u64, 1u64); for i in 0..3u64 { let s = (i, d("s")); (a, _) = s; (a, b) = (b, a + b); wait().await; log("turn"); } a + b } with ();
    fn da_swap() -> u64 { let mut a = d("a"); let mut b = d("bb"); (a, b) = (b, a); wait().await; log("end"); a.len() } with ();
    fn da_await() -> u64 { let a; let b; (a, b) = (leaf(d("a")).await, leaf(d("bb")).await); wait().await; log("end"); a.len() + b.len() } with ();
    fn da_await_pair() -> u64 { let a; (a, _) = leaf((d("a"), d("bb"))).await; log("x"); wait().await; log("end"); a.len() } with ();
    fn da_await_struct() -> u64 { let n; Fields { n, .. } = leaf(fields("a", "b")).await; log("x"); wait().await; log("end"); n } with ();
    fn da_await_rest() -> u64 { let n; (n, ..) = leaf((3u64, d("a"), d("b"))).await; log("x"); wait().await; log("end"); n } with ();
    fn da_own_drop() -> u64 { let t = num(3); let mut id = 0; Num { id } = t; wait().await; log("end"); id } with ();
    fn da_copy_pair() -> u64 { let s = W(4); let x; W(x) = s; log("mid"); wait().await; log("end"); x } with ();
    fn da_field() -> u64 { let mut f = fields("a", "b"); let s = (d("c"), d("e")); (f.x, _) = s; wait().await; log("end"); f.n } with ();
    fn da_nested() -> u64 { let s = ((3u64, d("a")), d("b")); let x; ((x, _), _) = s; wait().await; log("end"); x } with ();
    fn da_field_source() -> u64 { let s = (fields("a", "b"), d("c")); let x; Fields { n: x, .. } = s.0; wait().await; log("end"); x } with ();
    fn wild_assign_field() -> u64 { let s = fields("a", "b"); _ = s.x; wait().await; log("end"); s.n } with ();
    fn wild_assign_value() -> u64 { let s = fields("a", "b"); _ = (s.x, 3); wait().await; log("end"); s.n } with ();

    // heads of match on awaited
    fn h_sum() -> u64 { match leaf(W(3)).await.sum() { 3 => { log("in"); wait().await; 1 } n => n } } with ();
    fn h_fold() -> u64 { match leaf(mat("m")).await.fold(3) { 3 => { log("in"); wait().await; 1 } n => n } } with ();
    fn h_abs() -> u64 { match leaf(mat("m")).await.abs() { 3 => { log("in"); wait().await; 1 } n => n } } with ();
    fn h_expect() -> u64 { match leaf(mat("m")).await.expect("x") { 1 => { log("in"); wait().await; 1 } n => n } } with ();
    fn h_plus() -> u64 { match leaf(mat("m")).await.abs() + 1 { 4 => { log("in"); wait().await; 1 } n => n } } with ();
    fn h_tuple() -> u64 { match (leaf(mat("m")).await.abs(), 1) { (3, _) => { log("in"); wait().await; 1 } _ => 0 } } with ();
    fn h_len() -> u64 { match leaf(d("m")).await.len() { 1 => { log("in"); wait().await; 1 } n => n } } with ();
    fn h_field() -> u64 { match leaf(fields("a", "b")).await.n { 7 => { log("in"); wait().await; 1 } n => n } } with ();
    fn h_iflet_sum() -> u64 { if let 3 = leaf(W(3)).await.sum() { log("in"); wait().await; 1 } else { log("else"); 0 } } with ();
    fn h_while_sum() -> u64 { let mut k = 0; while let 0..=2 = leaf(W(k)).await.sum() { log("in"); k += 1; wait().await; } k } with ();
    fn h_let_match() -> u64 { let n = match leaf(W(3)).await.sum() { 3 => { log("in"); wait().await; 1 } n => n }; log("after"); n } with ();
    fn h_let_match_plain() -> u64 { let n = match leaf(W(3)).await.sum() { 3 => { log("in"); 1 } n => n }; log("after"); wait().await; n } with ();
    fn h_vec_max() -> u64 { match leaf(vec![mk(1), mk(2)]).await.into_iter().map(|x| x.val()).max() { Some(n) => { log("in"); wait().await; n } None => 0 } } with ();
    fn h_vec_iter() -> u64 { match leaf(vec![mk(1), mk(2)]).await.iter().map(|x| x.val()).max() { Some(n) => { log("in"); wait().await; n } None => 0 } } with ();
    fn h_vec_pop() -> u64 { match leaf(vec![mk(1), mk(2)]).await.pop() { Some(n) => { log("in"); wait().await; n.val() } None => 0 } } with ();
    fn h_arr_iter() -> u64 { if let Some(n) = leaf(vec![mk(1), mk(2)]).await.last() { log("in"); wait().await; n.val() } else { 0 } } with ();
}
