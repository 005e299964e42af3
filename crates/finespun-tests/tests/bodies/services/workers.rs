//! Workers, caches, user-defined macros, panics.

use super::common::*;
use crate::guesses::kit::*;
use crate::harness::*;
use std::borrow::Cow;
use std::collections::*;
use std::fmt::{self, Debug, Display, Write as _};
use std::sync::{Arc, Mutex, atomic::*};

macro_rules! bodies { ($($task:tt)*) => {
pub struct Service { pub state: Mutex<Vec<u64>>, pub name: D, pub limit: usize }
impl Service {
    pub const MAX: usize = 3;
    $($task)* pub async fn handle(self: Arc<Self>, req: u64) -> Result<u64, Error> { let _s = span("handle"); let n = { let mut s = self.state.lock().unwrap(); if s.len() >= self.limit { return Err(Error::Conflict); } s.push(req); s.len() as u64 }; Ok(leaf(n * 10).await + self.name.len()) }
    $($task)* pub async fn drain(&self) -> Vec<u64> { loop { let Some(x) = self.state.lock().unwrap().pop() else { break }; leaf(x).await; log(x); } std::mem::take(&mut *self.state.lock().unwrap()) }
    $($task)* pub async fn shared<'a>(&'a self, other: &'a str) -> (&'a str, usize) { wait().await; if other.len() > self.limit { (other, leaf(self.limit).await) } else { (self.name.name(), Self::MAX) } }
}
$($task)*
pub async fn service_arc() -> Result<(u64, usize), Error> {
    let svc = Arc::new(Service { state: Mutex::default(), name: d("svc"), limit: 2 });
    let mut sum = 0;
    for r in 1..=3 { match svc.clone().handle(r).await { Ok(n) => sum += n, Err(e) => { log(e); break } } }
    let (s, n) = svc.shared("longer").await;
    log(s);
    let left = svc.drain().await;
    let svc = Arc::into_inner(svc).ok_or(Error::Conflict)?;
    let Service { name, .. } = svc;
    wait().await;
    Ok((sum + name.len(), n + left.len()))
}
$($task)*
pub async fn held_futures() -> u64 {
    let g = d("g");
    let f = leaf(1);
    let h = leaf(d("held"));
    log("made");
    let a = leaf(2).await;
    let k = h.await;
    drop(g);
    a + f.await + k.len()
}
$($task)*
pub async fn held_unawaited(n: u64) -> u64 {
    let f = leaf(d("in future"));
    let o = Some(leaf(d("opt")));
    wait().await;
    if n > 3 { return f.await.len(); }
    let r = match o { Some(f) if n == 1 => f.await.len(), Some(_) => 1, None => 2 };
    log("end");
    leaf(r).await
}
$($task)*
pub async fn vec_futures() -> Vec<u64> {
    let fs: Vec<_> = (1..4u64).map(|n| leaf(N(n))).collect();
    let mut out = vec![];
    for f in fs { let n = f.await; out.push(n.0); if n.0 == 2 { log("stop"); break; } }
    out
}
$($task)*
pub async fn choose_future(c: bool) -> u64 {
    let g = d("g");
    let a = (if c { leaf(d("yes")) } else { leaf(d("no")) }).await.len();
    let b = match a { 3 => leaf(1), n => leaf(n) }.await;
    let f = { let t = d("t"); let f = leaf(t.len()); f };
    log("block");
    a + b + f.await + g.len()
}
$($task)*
pub async fn discard_values() -> u64 {
    let _ = leaf(d("underscore")).await;
    log("1");
    _ = leaf(d("assign underscore")).await;
    log("2");
    leaf(d("stmt")).await;
    log("3");
    drop(leaf(d("dropped")).await);
    let (_, b) = (leaf(d("t0")).await, d("t1"));
    log("4");
    let (a, _) = leaf((d("u0"), d("u1"))).await;
    log("5");
    let _x @ Some(_) = leaf(Some(d("x"))).await else { return 0 };
    match leaf(d("m")).await { _ => log("arm") }
    if let Some(_) = leaf(Some(d("iflet"))).await { log("then"); wait().await; }
    leaf(a.len()).await + b.len()
}
$($task)*
#[allow(clippy::needless_return)]
pub async fn attrs_and_items(n: u64) -> u64 {
    use std::cmp::{max, Ordering as O};
    const K: u64 = 5;
    static S: &[u64] = &[1, 2, 3];
    type Pair2 = (u64, D);
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)] enum Lvl { Lo = 1, Hi = 5 }
    impl Lvl { fn up(self) -> Lvl { if let Lvl::Lo = self { Lvl::Hi } else { self } } }
    fn helper(x: u64) -> u64 { x + K }
    #[rustfmt::skip]
    let p: Pair2 = (leaf(helper(n)).await, d("p"));
    #[cfg(debug_assertions)] wait().await;
    #[cfg(not(debug_assertions))] wait().await;
    /// doc
    let lvl = match p.0.cmp(&6) { O::Less => Lvl::Lo, O::Equal | O::Greater => Lvl::Lo.up() };
    #[allow(unused_variables)] let q = match S { [a, rest @ ..] if rest.len() == 2 => leaf(*a).await, _ => 0 };
    return max(p.0, lvl as u64) + leaf(q).await + { let s = p.1; s.len() };
}
$($task)*
pub async fn iife_question() -> u64 {
    let g = d("g");
    let parse = |s: &str| -> Result<u64, Error> { let t = s.strip_prefix("n").ok_or_else(|| Error::NotFound(s.into()))?; if t.is_empty() { return Ok(0); } Ok(t.parse::<u64>()?) };
    let a = parse("n4").unwrap_or(1);
    let b = leaf(parse("n").and_then(|n| parse("x").or(Ok(n + 2)))).await.unwrap();
    let c = (|| { let h = d("h"); Some(h.len() + parse("nz").ok()?) })().unwrap_or_else(|| a);
    log("end");
    leaf(a + b + c).await + g.len()
}
$($task)*
pub async fn drain_loops() -> (u64, usize) {
    let mut v: Vec<N> = (1..5).map(N).collect();
    let mut t = 0;
    for n in v.drain(1..3) { t += leaf(n.0).await; log("drained"); }
    let mut m: BTreeMap<u64, N> = v.into_iter().map(|n| (n.0, n)).collect();
    while let Some((k, n)) = m.pop_first() { if k == 4 { m.insert(1, N(0)); } t += leaf(n.0).await; if m.len() == 1 && k == 1 && n.0 == 0 { break } }
    let (a, b): (Vec<u64>, Vec<u64>) = (1..7).partition(|n| n % 2 == 0);
    for (x, y) in a.into_iter().zip(b).skip(leaf(1usize).await) { t += leaf(x * y).await; }
    (t, m.len())
}
$($task)*
pub async fn by_ref_iter(src: &'static str) -> Result<(usize, u64), Error> {
    let mut lines = src.lines();
    let mut headers = HashMap::new();
    for line in lines.by_ref().take_while(|l| !l.is_empty()) {
        let (k, v) = line.split_once(": ").ok_or(Error::Conflict)?;
        if let Some(old) = headers.insert(k, leaf(v).await) { log(old); }
    }
    let _g = d("body");
    let mut n = 0;
    for (i, l) in (1..).zip(lines) { let last = l.rsplit(' ').next().and_then(|w| w.parse::<u64>().ok()).unwrap_or(i); n += leaf(last).await * i; }
    Ok((headers.len(), n))
}
$($task)*
pub async fn const_generic_ring() -> Vec<u64> {
    struct Ring<T, const K: usize> { buf: [Option<T>; K], at: usize }
    impl<T, const K: usize> Ring<T, K> { fn new() -> Self { Ring { buf: std::array::from_fn(|_| None), at: 0 } } fn push(&mut self, t: T) -> Option<T> { let old = self.buf[self.at].replace(t); self.at = (self.at + 1) % K; old } fn into_vec(self) -> Vec<T> { self.buf.into_iter().flatten().collect() } }
    let mut r = Ring::<N, 2>::new();
    let mut out = vec![];
    for i in 0..3 { if let Some(old) = r.push(leaf(N(i)).await) { out.push(old.0); wait().await; log("evicted"); } }
    let v = r.into_vec();
    wait().await;
    out.extend(v.iter().map(|n| n.0 + 10));
    out
}
$($task)*
pub async fn dyn_handlers() -> Result<u64, Error> {
    trait Handler: Send + Sync { fn handle(&self, n: u64) -> Result<u64, Error>; fn name(&self) -> &str { "anon" } }
    struct Add(u64, D); struct Fail;
    impl Handler for Add { fn handle(&self, n: u64) -> Result<u64, Error> { Ok(n + self.0) } fn name(&self) -> &str { self.1.name() } }
    impl Handler for Fail { fn handle(&self, n: u64) -> Result<u64, Error> { if n > 6 { Err(Error::Timeout { after: n }) } else { Ok(n) } } }
    impl<F: Fn(u64) -> u64 + Send + Sync> Handler for F { fn handle(&self, n: u64) -> Result<u64, Error> { Ok(self(n)) } }
    let k = leaf(2).await;
    let chain: Vec<Arc<dyn Handler>> = vec![Arc::new(Add(1, d("add"))), Arc::new(move |n| n * k), Arc::new(Fail)];
    let mut n = 1;
    for h in chain.iter().cycle().take(7) { let h = Arc::clone(h); n = h.handle(leaf(n).await)?; log(format!("{} {n}", h.name())); }
    Ok(n)
}
$($task)*
pub async fn option_take_loop() -> u64 {
    struct Node { v: N, next: Option<Box<Node>> }
    let mut head = None;
    for i in 0..3 { head = Some(Box::new(Node { v: leaf(N(i)).await, next: head.take() })); }
    let mut cur = head;
    let mut t = 0;
    while let Some(node) = cur { let Node { v, next } = *node; t = t * 10 + leaf(v.0).await; cur = next; log("step"); }
    t
}
$($task)*
pub async fn linked_cursor() -> Vec<u64> {
    #[derive(Default)] struct L { v: u64, next: Option<Box<L>> }
    let mut head = L::default();
    let mut tail = &mut head;
    for i in 1..4 { let n = leaf(i).await; tail = tail.next.insert(Box::new(L { v: n, next: None })); }
    let mut out = vec![];
    let mut cur = Some(&head);
    while let Some(l) = cur { out.push(l.v); cur = l.next.as_deref(); }
    out.push(leaf(0).await);
    out
}
$($task)*
pub async fn select_min() -> Option<(String, u64)> {
    let mut best: Option<(String, u64)> = None;
    for (name, cost) in [("b", 5u64), ("a", 3), ("c", 3), ("z", 9)] {
        let score = leaf(cost).await * name.len() as u64;
        match &best {
            Some((n, s)) if *s < score || (*s == score && n.as_str() <= name) => continue,
            Some((n, _)) => log(format!("{n} beaten by {name}")),
            None => {}
        }
        best = Some((leaf(name.to_string()).await, score));
    }
    best.filter(|(_, s)| *s < 9).map(|(n, s)| (n + "!", s))
}
$($task)*
pub async fn two_sum(v: Vec<u64>, target: u64) -> Option<(usize, usize)> {
    let mut seen = HashMap::with_capacity(v.len());
    for (i, &x) in v.iter().enumerate() {
        let want = target.checked_sub(leaf(x).await)?;
        if let Some(&j) = seen.get(&want) { wait().await; return Some((j, i)); }
        seen.insert(x, i);
    }
    None
}
$($task)*
pub async fn lru_guarded() -> String {
    struct Entry { val: D, used: u64 }
    let mut m: BTreeMap<u8, Entry> = BTreeMap::new();
    let mut tick = 0;
    let mut out = String::new();
    for k in [1u8, 2, 1, 3, 2] {
        tick += leaf(1u64).await;
        if let Some(e) = m.get_mut(&k) { e.used = tick; out += e.val.name(); continue; }
        if m.len() == 2 && let Some(&old) = m.iter().min_by_key(|(_, e)| e.used).map(|(k, _)| k) { let e = m.remove(&old); wait().await; log(format!("out {old}")); drop(e); }
        let val = leaf(d(["", "one", "two", "three"][k as usize])).await;
        m.insert(k, Entry { val, used: tick });
        out.push('+');
    }
    let mut v: Vec<_> = m.into_values().collect();
    v.sort_by_key(|e| e.used);
    out + &v.iter().map(|e| e.val.name()).collect::<Vec<_>>().join("|")
}
$($task)*
pub async fn panic_mid(n: u64) -> u64 {
    let a = d("a");
    let list = vec![d("l1"), d("l2")];
    let k = leaf(n).await;
    let _b = d("b");
    if k > 1 { let _c = d("c"); let x: Option<u64> = leaf(None).await; return x.expect("on purpose nothing"); }
    a.len() + list.len() as u64
}
$($task)*
pub async fn panic_index() -> u64 {
    let _g = d("g");
    let v = leaf(vec![d("e0")]).await;
    let i = leaf(0usize).await;
    let first = v[i].len();
    let w = [d("w0"), d("w1")];
    let f = leaf(first).await;
    if w.len() as u64 == f { panic!("on purpose {}", leaf(f).await) }
    f
}
$($task)*
pub async fn dtor_panics_args() -> u64 {
    let x = p("x");
    let r = two(p("t1").len(), leaf(p("t2")).await.len());
    let s = Some(p("s"));
    if let Some(k) = s.as_ref().map(|p| p.len()) { wait().await; log(k); }
    let y = { let z = p("z"); leaf(x).await };
    let o = y.other();
    drop(y);
    leaf(r).await + o.len()
}
$($task)*
pub async fn shadow_params(x: D, n: u64) -> String {
    let n = leaf(n).await + x.len();
    let x = (x, d("2"));
    wait().await;
    let x = { let (a, b) = x; drop(b); log("inner"); leaf(a).await };
    let n = if let Some(n) = n.checked_sub(2) { let x = N(n); leaf(x.0).await } else { n };
    let s = format!("{n}{}", x.name());
    let x = s;
    leaf(x).await
}
$($task)*
pub async fn compound_places() -> (u64, Vec<u64>, String) {
    struct S { a: [u64; 3], t: (u64, Box<u64>), s: String, g: D }
    let mut s = S { a: [1, 2, 3], t: (4, Box::new(5)), s: String::new(), g: d("s.g") };
    let mut i = 0;
    s.a[{ i += 1; i }] += leaf(10).await;
    *s.t.1 += leaf(s.t.0).await;
    s.t.0 <<= leaf(2).await;
    s.s += &leaf("ab".to_string()).await;
    s.s = s.s.repeat(leaf(2).await);
    s.g = if leaf(true).await { d("s.g2") } else { D("no") };
    log("assigned");
    let r = &mut s.a;
    r.reverse();
    let total = r.iter().sum::<u64>() + -leaf(-1i64).await as u64;
    (total + *s.t.1, s.a.to_vec(), s.s)
}
$($task)*
pub async fn comparisons() -> Vec<bool> {
    let v = vec![1u64, 2];
    let s = leaf("abc".to_string()).await;
    let g = d("g");
    vec![leaf(v.clone()).await == v, s.as_str() < leaf("abd").await, !leaf(s.is_empty()).await, (leaf(1).await..4).contains(&leaf(3).await), leaf(D("g")).await == g, Some(leaf(1).await) >= None, &leaf(2u64).await == &v[1], matches!(leaf(&*s).await, "abc" | "x")]
}
$($task)*
pub async fn outputs_impl() -> u64 {
    $($task)* async fn it(k: u64) -> Box<dyn Iterator<Item = u64> + Send> { let g = d("it"); wait().await; let n = g.len() + k; Box::new((0..n).filter(|x| x % 2 == 1)) }
    $($task)* async fn bx(k: u64) -> Box<dyn Fn(u64) -> u64 + Send + Sync> { let g = leaf(d("bx")).await; if k == 0 { Box::new(|x| x) } else { Box::new(move |x| x + k + g.len()) } }
    $($task)* async fn unit(k: &mut u64) { if *k > 3 { return; } *k += leaf(1).await; }
    let mut s = 0;
    for x in it(2).await { s += leaf(x).await; }
    let f = bx(s).await;
    s += f(leaf(1).await) + bx(0).await(2);
    drop(f);
    let mut k = 3;
    unit(&mut k).await; unit(&mut k).await;
    s + k
}
} }

programs! {
    owned service_arc();
    owned held_futures();
    owned held_unawaited(1);
    owned vec_futures();
    owned choose_future(true);
    owned discard_values();
    owned attrs_and_items(2);
    owned iife_question();
    owned drain_loops();
    owned by_ref_iter("head: x\nk: v\n\nbody 1\nbody 2");
    owned const_generic_ring();
    owned dyn_handlers();
    owned option_take_loop();
    owned linked_cursor();
    owned select_min();
    owned two_sum(vec![3, 9, 4, 6, 1], 10);
    owned lru_guarded();
    owned panic_mid(2);
    owned panic_index();
    owned dtor_panics_args();
    owned shadow_params(D("1"), 3);
    owned compound_places();
    owned comparisons();
    owned outputs_impl();
}
