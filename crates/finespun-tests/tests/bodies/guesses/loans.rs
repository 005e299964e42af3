//! References that advance along a structure, callees that are places, macros that borrow, inference.

use super::kit::*;
use crate::harness::*;
use std::collections::*;
use std::fmt::Write as _;

pub struct S {
    pub n: u64,
    pub v: Vec<u64>,
    pub name: String,
    pub f: Box<dyn Fn(u64) -> u64 + Send + Sync>,
    pub o: Option<u64>,
    pub g: D,
}
pub fn s() -> S {
    S { n: 1, v: vec![1, 2], name: "nm".into(), f: Box::new(|x| x + 1), o: Some(2), g: D("g") }
}
pub struct W<'a> {
    pub r: &'a mut S,
    pub k: u64,
}
pub fn bump(r: &mut S) -> u64 {
    r.n = 9;
    9
}
pub fn counter() -> impl FnMut(u64) -> u64 + Copy + Send + Sync {
    let mut c = 0;
    move |x| {
        c += x;
        c
    }
}
pub fn lk<T>(t: T) -> &'static mut T {
    kept(t)
}
pub fn w() -> W<'static> {
    W { r: lk(s()), k: 0 }
}
pub fn dbl(x: u64) -> u64 {
    x * 2
}
pub const ALL: [u64; 3] = [1, 2, 3];
pub const VS: Vec<u64> = Vec::new();

corpus! {
    // reborrows of fields
    fn w_field(w: W<'static>) -> bool { w.r.n == leaf(bump(w.r)).await } with (w());

    fn w_field_mut(w: &'static mut W<'static>) -> bool { w.r.n == leaf(bump(w.r)).await } with (lk(w()));

    fn w_field_lt(w: &'static mut W<'static>) -> bool { w.r.n < leaf(bump(w.r)).await } with (lk(w()));

    fn w_field_let(w: &'static mut W<'static>) -> bool { w.r.n == { let q: &mut S = w.r; q.n = 9; leaf(9u64).await } } with (lk(w()));

    fn w_tuple(p: (&'static mut S, u64)) -> bool { p.0.n == leaf(bump(p.0)).await } with ((lk(s()), 1));

    fn w_vec(p: Vec<&'static mut S>) -> bool { let mut p = p; p[0].n == leaf(bump(p[0])).await } with (vec![lk(s())]);

    fn w_while(w: &'static mut W<'static>) -> u64 { let mut k = 0; while w.r.n != leaf(bump(w.r)).await { k += 1; if k > 3 { break } } k } with (lk(w()));

    fn w_if(w: &'static mut W<'static>) -> u64 { if w.r.n < leaf(bump(w.r)).await { 1 } else { 2 } } with (lk(w()));

    // callees
    fn f_copy_state() -> u64 { let mut t = (counter(), 0u64); let a = (t.0)(leaf(1).await); let b = (t.0)(leaf(2).await); a * 10 + b } with ();

    fn f_copy_state_arr() -> u64 { let mut t = [counter()]; let a = t[0](leaf(1).await); let b = t[0](leaf(2).await); a * 10 + b } with ();

    fn f_copy_state_local() -> u64 { let mut t = counter(); let a = t(leaf(1).await); let b = t(leaf(2).await); a * 10 + b } with ();

    fn f_copy_state_deref() -> u64 { let mut t = counter(); let r = lk(t); let a = (*r)(leaf(1).await); let b = (*r)(leaf(2).await); a * 10 + b } with ();

    fn f_fnptr_table() -> u64 { let t: [fn(u64) -> u64; 2] = [dbl, dbl]; t[1](leaf(3).await) + (t[0])(leaf(4).await) } with ();

    // constants that are borrowed
    fn k_ref_array() -> u64 { let r = &ALL; wait().await; r.iter().sum::<u64>() + leaf(r[0]).await } with ();

    fn k_ref_arg() -> u64 { leaf(&ALL).await.len() as u64 } with ();

    fn k_range() -> u64 { let mut n = 0; for x in &ALL { n += leaf(*x).await } for x in ALL.iter().rev() { n += leaf(*x).await } n } with ();

    // macros that borrow
    fn m_format(x: S) -> String { let t = format!("{} {} {:?}", x.name, leaf(1).await, x.v); log(x.name); t } with (s());

    fn m_format_mut(mut x: S) -> String { let t = format!("{} {}", x.n, leaf(bump(&mut s())).await); x.n = 4; t + &format!("{}", x.n + leaf(1).await) } with (s());

    fn m_assert(x: S) -> u64 { assert_eq!(x.v, leaf(vec![1, 2]).await, "on purpose {}", x.name); assert!(x.v.contains(&leaf(1).await), "on purpose {}", x.name); x.n } with (s());

    fn m_write(mut x: S) -> String { write!(x.name, "{}", leaf(1).await).unwrap(); writeln!(&mut x.name, "{} {}", x.n, leaf(2).await).unwrap(); x.name } with (s());

    fn m_vec(x: S) -> Vec<u64> { let v = vec![x.n, leaf(2).await, x.v[0]]; let w = vec![x.name.len() as u64; leaf(2usize).await]; [v, w].concat() } with (s());

    fn m_matches(x: S) -> bool { matches!(x.o, Some(n) if n > 1) && matches!(leaf(x.o).await, Some(1..=3)) } with (s());

    // inference
    fn i_none_loop() -> u64 { let mut o = None; let mut t = 0; for i in 0..3u64 { if i == 0 { o = Some(i + 4); } wait().await; t += o.map_or(0, |x| x.pow(2)); } t } with ();

    fn i_none() -> u64 { let mut o = None; wait().await; if o.is_none() { o = Some(leaf(3u64).await); } wait().await; o.unwrap().pow(2) } with ();

    fn i_vec() -> u64 { let mut v = Vec::new(); wait().await; v.push(leaf(3u64).await); wait().await; v.iter().map(|x| x.pow(2)).sum::<u64>() + v.len() as u64 } with ();

    fn i_parse() -> u64 { let x = "5".parse().unwrap(); wait().await; let y: u64 = x; leaf(x).await + y } with ();

    fn i_int() -> u64 { let n = 3; wait().await; let v = vec![1u64, 2, 3, 4]; v[n] + leaf(n as u64).await } with ();

    fn i_acc() -> f32 { let mut acc = 0.0; for i in 0..3u8 { acc += leaf(f32::from(i)).await; } acc.sqrt() } with ();

    fn i_map() -> Vec<(u64, Vec<D>)> { let mut m = BTreeMap::new(); for i in 0..2u64 { wait().await; m.entry(i % 2).or_insert_with(Vec::new).push(d("x")); } leaf(()).await; m.into_iter().collect() } with ();

    fn i_best(v: Vec<u64>) -> Option<(usize, u64)> { let mut best = None; for (i, x) in v.into_iter().enumerate() { let s = leaf(x * 7 % 5).await; match best { Some((_, b)) if b >= s => {} _ => best = Some((i, s)) } } best } with (vec![1, 2, 3]);

    fn i_closure_ty(v: Vec<u64>) -> u64 { let mut acc = Default::default(); for x in v { acc = leaf(if acc > x { acc } else { x }).await; } acc } with (vec![1, 3, 2]);

    fn i_result() -> Result<u64, String> { let mut out = Ok(0); for i in 0..3u64 { wait().await; if i == 2 { out = Err(format!("at {i}")); break } out = out.map(|n: u64| n + 1); } out } with ();

    // slices, recursion on halves, moves
    fn sl_split(v: Vec<u64>) -> u64 { let mut v = v; let (a, b) = v.split_at_mut(2); a[0] += b[0]; std::mem::swap(&mut a[1], &mut b[1]); let x = a[0] + b[1]; let y = leaf(x).await; let [p, q, ..] = v[..] else { return 0 }; leaf(p * q).await + y } with (vec![1, 2, 3, 4]);

    fn sl_stack(v: Vec<u64>) -> u64 { let mut todo = vec![&v[..]]; let mut n = 0; while let Some(s) = todo.pop() { match s { [] => {} [x] => n += leaf(*x).await, _ => { let (l, r) = s.split_at(s.len() / 2); todo.push(l); todo.push(r); } } } n } with (vec![1, 2, 3]);

    fn sl_chunks(v: &'static [u64]) -> u64 { let mut n = 0; for c in v.chunks(2) { let (Some(a), b) = (c.first(), c.get(1)) else { continue }; n += leaf(a * b.unwrap_or(&5)).await; } for (i, w) in v.windows(2).enumerate() { n += leaf(w[0].max(w[1])).await * i as u64; } n } with (&[1, 2, 3]);

    fn sl_iter_next(v: &'static [u64]) -> u64 { let mut it = v.iter().copied().peekable(); let mut n = 0; while let Some(x) = it.next() { if let Some(y) = it.next_if(|y| *y > x) { n += leaf(y).await } else { n += 1 } } n } with (&[1, 2, 3]);

    fn mv_opt_field(x: S) -> u64 { let S { mut o, name, .. } = x; let t = leaf(name).await; let k = o.take().map_or(0, |n| n + t.len() as u64); o.insert(leaf(k).await); o.unwrap() } with (s());

    fn mv_partial(x: S) -> u64 { let v = x.v; let n = leaf(v.len() as u64).await; let g = x.g; wait().await; log("mid"); drop(g); n + leaf(x.name.len() as u64).await } with (s());

    fn mv_replace(mut x: S) -> u64 { let old = std::mem::replace(&mut x.g, leaf(d("new")).await); wait().await; log("mid"); let old2 = std::mem::take(&mut x.v); drop(old); leaf(old2.len() as u64).await } with (s());

    fn mv_loop_opt(mut o: Option<D>) -> u64 { let mut n = 0; loop { let Some(x) = o else { break }; n += x.len(); o = if n < 3 { Some(leaf(x).await) } else { None }; wait().await; } n } with (Some(D("q")));

    fn order_args(x: D) -> u64 { fn three(a: D, b: D, c: D) -> u64 { log("call"); c.len() } let y = d("y"); let r = three(x, leaf(d("m")).await, y); log("end"); r } with (D("x"));

    fn order_ctor(x: D) -> u64 { let p = Pair(x, leaf(d("m")).await); let q = [p.0, leaf(d("n")).await]; wait().await; log("end"); q[0].len() + p.1.len() } with (D("x"));
}
