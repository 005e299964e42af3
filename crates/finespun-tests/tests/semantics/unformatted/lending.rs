//! Values lent to branches and tasks, moved parts, temporaries with extended lifetimes; tasks in bodies.

use super::kit::*;
use crate::harness::*;
use std::collections::{BTreeMap, VecDeque};

corpus! {
    fn j_fields() -> u64 { let mut x = part(1); let (a, b) = join!(leaf(&mut x.d), leaf(&x.e)); let n = a.len() + b.len(); *a = d("new"); wait().await; log("end"); n } with ();
    fn j_tuple_fields() -> u64 { let mut t = (1u64, d("a"), 3u64); let (a, b) = join!(leaf(&mut t.0), leaf(&mut t.2)); *a += 10; *b += 20; wait().await; t.0 + t.2 + t.1.len() } with ();
    fn j_split() -> u64 { let mut v = vec![1u64, 2, 3, 4]; let (l, r) = v.split_at_mut(2); let (a, b) = join!(leaf(l), leaf(r)); a[0] += b[1]; wait().await; b[0] += 1; v.iter().sum() } with ();
    fn j_moves() -> u64 { let (a, b) = (d("a"), d("b")); let (x, y) = join!(leaf(a), leaf(b.len())); wait().await; log("end"); x.len() + y } with ();
    fn j_part_moves() -> u64 { let x = part(1); let (a, n) = join!(leaf(x.d), leaf(x.id)); wait().await; log(x.e.name()); a.len() + n } with ();
    fn j_in_expression() -> u64 { let r = join!(leaf(d("a").len()), leaf(2)).0 + join!(now(3), leaf(4)).1; wait().await; r } with ();
    fn j_in_loop() -> u64 { let mut list = vec![d("a"), d("bb")]; let mut t = 0; while let Some(x) = list.pop() { let (n, m) = join!(leaf(x.len()), leaf(&list)); t += n + m.len() as u64; } t } with ();
    fn m_partial_then_await() -> u64 { let x = part(1); eat(x.d); wait().await; let y = x.e; log("mid"); wait().await; y.len() + x.id } with ();
    fn m_partial_put_back() -> u64 { let mut x = part(1); let old = leaf(x.d).await; log("moved"); x.d = d("new"); wait().await; eat(old); let y = x; wait().await; y.d.len() } with ();
    fn m_partial_put_back_tuple() -> u64 { let mut t = (d("a"), d("b")); for i in 0..2u64 { eat(t.0); wait().await; t.0 = leaf(t.1).await; t.1 = d("fresh"); log("turn"); } t.0.len() } with ();
    fn m_partial_in_branch() -> u64 { let x = part(1); if leaf(x.id).await == 1 { eat(x.e); wait().await; } log("end"); x.id } with ();
    fn m_struct_update() -> u64 { let x = part(1); let y = Part { id: leaf(2).await, d: leaf(d("own")).await, ..x }; wait().await; log("mid"); eat(x.d); wait().await; y.id } with ();
    fn m_box_moved_out() -> u64 { let b = Box::new(part(1)); let Part { d: x, id, .. } = *b; wait().await; log("mid"); eat(b.e); wait().await; x.len() + id } with ();
    fn m_option_take() -> u64 { let mut o = Some(d("o")); let t = o.take(); wait().await; o = leaf(Some(d("p"))).await; if let Some(ref mut x) = o { wait().await; *x = d("q"); } let k = o.replace(d("r")); wait().await; log("end"); k.map_or(0, |x| x.len()) } with ();
    fn x_extended_let() -> u64 { let r = &d("r"); let s = &mut leaf(3u64).await; *s += 1; wait().await; *s += r.len(); wait().await; log("end"); *s } with ();
    fn x_extended_struct() -> u64 { struct H<'a> { r: &'a D, n: u64 } let h = H { r: &d("h"), n: leaf(1).await }; let t = (&d("t"), [&leaf(d("u")).await]); wait().await; log("end"); h.r.len() + h.n + t.1[0].len() } with ();
    fn x_extended_in_block() -> u64 { let r = { let k = d("k"); wait().await; &d("in block") }; log("mid"); wait().await; r.len() } with ();
    fn x_extended_in_if() -> u64 { let c = leaf(true).await; let r = if c { &d("then") } else { &leaf(d("else")).await }; log("mid"); wait().await; r.len() } with ();
    fn x_extended_in_match() -> u64 { let r: &D = match leaf(2).await { 1 => &d("one"), n => { let _k = N(n); &leaf(d("n")).await } }; log("mid"); wait().await; r.len() } with ();
    fn x_extended_index() -> u64 { let r = &vec![d("a"), d("bb")][1]; wait().await; log("mid"); let s = &leaf(part(1)).await.d; wait().await; r.len() + s.len() } with ();
    fn x_extended_ref_pattern() -> u64 { let ref x = d("x"); let (ref y, _) = leaf((d("y"), d("z"))).await; let Part { d: ref q, .. } = part(2); log("bound"); wait().await; x.len() + y.len() + q.len() } with ();
    fn x_extended_some() -> u64 { let o = Some(&d("o")); wait().await; let z = Some((&leaf(d("z")).await, 1)); log("mid"); wait().await; o.unwrap().len() + z.unwrap().0.len() } with ();
    fn x_format_args_kept() -> u64 { let a = d("a"); let n = 5u64; let args = format_args!("{} {n}", a.name()).to_string(); wait().await; args.len() as u64 } with ();
    fn s_stored_borrows() -> u64 { let a = d("a"); let b = d("bb"); let mut list: Vec<&D> = Vec::new(); list.push(&a); wait().await; list.push(&b); wait().await; let mut map = BTreeMap::new(); for x in list { map.insert(x.name(), leaf(x).await); } log("end"); map.values().map(|x| x.len()).sum() } with ();
    fn s_stored_in_option() -> u64 { let mut last: Option<&D> = None; let list = vec![d("a"), d("bb"), d("c")]; for x in &list { if last.is_none_or(|l| l.len() < x.len()) { last = Some(x); wait().await; } } wait().await; last.map_or(0, |l| l.len()) } with ();
    fn s_mut_cursor() -> u64 { struct L { n: u64, next: Option<Box<L>> } let mut l = L { n: 1, next: Some(Box::new(L { n: 2, next: None })) }; let mut cur = &mut l; let mut t = 0; loop { cur.n += leaf(10).await; t += cur.n; match cur.next { Some(ref mut next) => cur = next, None => break } wait().await; } wait().await; t + l.n } with ();
    fn s_entry() -> u64 { let mut m: BTreeMap<u64, Vec<D>> = BTreeMap::new(); for k in [1, 2, 1] { let e = m.entry(k).or_default(); wait().await; e.push(d("e")); let l = e.len() as u64; *m.entry(10).or_default() = vec![leaf(d("t")).await]; } log("end"); m.len() as u64 } with ();
    fn s_iter_mut_await() -> u64 { let mut q: VecDeque<(u64, D)> = [(1, d("a")), (2, d("b"))].into(); for (n, x) in q.iter_mut() { *n += leaf(x.len()).await; *x = d("new"); wait().await; } log("end"); q.iter().map(|(n, _)| n).sum() } with ();
    fn s_iter_chain_held() -> u64 { let v = vec![d("a"), d("bb"), d("ccc")]; let mut it = v.iter().rev().skip(1).peekable(); let mut t = 0; while let Some(x) = it.next() { t += leaf(x.len()).await; if it.peek().is_some() { wait().await; log("more"); } } t } with ();
    fn c_cfg_param(#[cfg(any())] gone: u64, #[cfg(all())] a: D, #[cfg(any())] #[allow(unused)] also: D, b: u64) -> u64 { wait().await; #[cfg(any())] { return 0 } #[cfg(all())] let n = leaf(b).await; n + a.len() } with (D("a"), 2);
    fn c_cfg_arms_fields() -> u64 { let x = Part { id: 1, d: d("d"), #[cfg(all())] e: leaf(d("e")).await, #[cfg(any())] nothing: 3 }; let n = match x.id { #[cfg(any())] 1 => 9, #[cfg(all())] 1 => leaf(5).await, _ => 0 }; let v = vec![#[cfg(all())] 1u64, 2]; wait().await; n + v.len() as u64 } with ();
    fn i_impl_in_body() -> u64 { struct K { d: D } impl K { fn new(n: &'static str) -> Self { Self { d: d(n) } } fn len(&self) -> u64 { self.d.len() } } trait T { const C: u64; fn t(self) -> u64; } impl T for K { const C: u64 = 4; fn t(self) -> u64 { self.len() * Self::C } } let k = K::new("k"); wait().await; let j = K { d: leaf(d("jj")).await }; let n = k.t(); wait().await; n + j.len() + K::C } with ();
    fn i_impl_drop_in_body() -> u64 { struct Z(u64); impl Drop for Z { fn drop(&mut self) { log(format_args!("Z{}", self.0)) } } impl std::ops::Deref for Z { type Target = u64; fn deref(&self) -> &u64 { &self.0 } } let z = Z(3); wait().await; let Z(n) = leaf(Z(4)).await; log("mid"); wait().await; n + z.0 } with ();
    fn i_items_after_use() -> u64 { let x = make(leaf(2).await); wait().await; return x.0 + LIMIT; const LIMIT: u64 = 7; struct W(u64); fn make(n: u64) -> W { W(n) } } with ();
    fn i_use_in_block() -> u64 { let a = { use std::cmp::{max as m, min}; m(min(leaf(3).await, 4), 1) }; { use Sig::*; match leaf(on(2)).await { On(n) => { wait().await; n + a } Both { .. } | Off => 0 } } } with ();
    fn i_static_const_in_body() -> u64 { static S: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(5); const K: [u64; 2] = [1, 2]; let t = K[leaf(1usize).await] + S.load(std::sync::atomic::Ordering::SeqCst); wait().await; let &[a, b] = &K; t + a * b } with ();
    fn i_generic_fn_in_body() -> u64 { fn id<T>(t: T) -> T { log("id"); t } let x = id(leaf(d("x")).await); let f: fn(D) -> D = id; wait().await; let y = f(x); wait().await; id::<u64>(leaf(1).await) + y.len() } with ();
}
