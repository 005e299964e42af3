//! Trees, graphs, visitors, work lists.

use super::common::*;
use crate::guesses::kit::*;
use crate::harness::*;
use std::borrow::Cow;
use std::collections::*;
use std::fmt::{self, Debug, Display, Write as _};
use std::sync::{Arc, Mutex, atomic::*};

pub enum Tree {
    Leaf(u64),
    Node { name: D, kids: Vec<Tree> },
}

macro_rules! bodies { ($($task:tt)*) => {
pub struct Client { pub name: String, pub hits: u64, pub guard: D, pub cache: BTreeMap<u64, String>, pub log: Vec<String> }
pub fn client(n: &'static str) -> Client { Client { name: n.into(), hits: 0, guard: d(n), cache: BTreeMap::new(), log: vec![] } }
impl Client {
    $($task)* pub async fn fetch(&self, id: u64) -> Result<String, Error> { let _s = span("fetch"); if id > 9 { return Err(Error::NotFound(format!("{}/{id}", self.name))); } let n = leaf(id).await; Ok(format!("{}{n}", self.name)) }
    $($task)* pub async fn cached(&mut self, id: u64) -> Result<&str, Error> { if !self.cache.contains_key(&id) { let v = self.fetch(id).await?; self.hits += 1; self.cache.insert(id, v); } Ok(self.cache.get(&id).map(|s| s.as_str()).unwrap_or("")) }
    $($task)* pub async fn all(&mut self, ids: &[u64]) -> Result<Vec<String>, Error> { let mut out = Vec::with_capacity(ids.len()); for &id in ids { let v = self.cached(id).await?.to_string(); self.log.push(v.clone()); out.push(v); } Ok(out) }
    $($task)* pub async fn bump(&mut self) -> u64 { let old = std::mem::replace(&mut self.guard, D("swapped")); wait().await; self.hits += 10; old.len() }
    $($task)* pub async fn close(self) -> u64 { let Client { guard, hits, .. } = self; wait().await; log("closing"); hits + guard.len() }
    $($task)* pub async fn close_all(mut self, extra: D) -> Vec<String> { let l = std::mem::take(&mut self.log); if leaf(l.len()).await > 1 { drop(extra); log("extra gone"); wait().await; } l }
    $($task)* pub async fn open(name: &'static str) -> Result<Self, Error> { if leaf(name.is_empty()).await { return Err(Error::Conflict); } Ok(Self { hits: leaf(1).await, ..client(name) }) }
    $($task)* pub async fn chain(mut self, n: u64) -> Self { self.hits += leaf(n).await; self }
}
$($task)* pub async fn sum_ref(v: &[u64], g: &D) -> u64 { let mut t = 0; for x in v { t += leaf(*x).await } t + g.len() }
$($task)* pub async fn push_ref(v: &mut Vec<N>, n: u64) -> usize { let x = leaf(N(n)).await; v.push(x); v.len() }
$($task)* pub async fn walk(e: &Tree, depth: u64) -> u64 { let _g = N(depth); match e { Tree::Leaf(n) => leaf(*n).await, Tree::Node { kids, name } => { let mut t = name.len(); for k in kids { t += Box::pin(walk(k, depth + 1)).await; } t } } }
$($task)* pub async fn take_while(it: &mut (dyn Iterator<Item = u64> + Send), max: u64) -> Vec<u64> { let mut v = vec![]; while let Some(n) = it.next() { if leaf(n).await > max { break } v.push(n) } v }
$($task)* pub async fn flaky(attempt: u32, ok_at: u32) -> Result<N, Error> { let _s = span("flaky"); if attempt < ok_at { wait().await; return Err(Error::Timeout { after: u64::from(attempt) }); } Ok(leaf(N(u64::from(attempt))).await) }

$($task)*
pub async fn client_all() -> Result<(usize, u64), Error> {
    let mut c = Client::open("cl").await?;
    let a = c.all(&[1, 2, 1]).await?;
    let n = c.bump().await;
    c.hits += c.fetch(3).await.map(|s| s.len() as u64).unwrap_or_default();
    let l = c.log.len();
    Ok((a.len() + l, n + c.close().await))
}
$($task)*
pub async fn client_error() -> Result<Vec<String>, Error> {
    let mut c = client("err");
    let extra = d("extra");
    let first = c.all(&[3]).await?;
    let text = c.cached(3).await?.len();
    let r = c.all(&[4, 10, 5]).await;
    if let Err(ref e) = r { log(format!("{e} {text}")); }
    let rest = r.or_else(|e| if matches!(e, Error::NotFound(_)) { Ok(first) } else { Err(e) })?;
    let mut l = c.close_all(extra).await;
    l.extend(rest);
    Ok(l)
}
$($task)*
pub async fn client_chain() -> u64 {
    let c = client("a").chain(1).await.chain(leaf(2).await).await;
    let n = client("b").chain(c.hits).await.hits;
    let m = client("c").chain(4).await.close().await;
    let k = client("d").fetch(leaf(2).await).await.map_or(0, |s| s.len() as u64);
    log("end");
    n + m + k
}
$($task)*
pub async fn client_in_option() -> Result<u64, Error> {
    let mut slot: Option<Client> = None;
    let mut n = 0;
    for i in 0..3u64 {
        let c = match &mut slot { Some(c) => c, None => slot.insert(Client::open("lazy").await?) };
        c.hits += leaf(i).await;
        n += c.hits;
        if i == 1 { if let Some(c) = slot.take() { n += c.close().await; } }
    }
    Ok(n + slot.as_ref().map_or(0, |c| c.hits))
}
$($task)*
pub async fn client_map() -> Result<Vec<String>, Error> {
    let mut m: BTreeMap<&str, Client> = BTreeMap::new();
    let mut out = vec![];
    for (k, id) in [("x", 1), ("y", 2), ("x", 3), ("y", 11)] {
        let c = m.entry(k).or_insert_with(|| client("ent"));
        match c.cached(id).await { Ok(s) => out.push(s.to_owned()), Err(e) => { out.push(leaf(e.to_string()).await); m.remove(k); } }
    }
    log(m.len());
    for (k, c) in m { out.push(format!("{k}{}", c.close().await)); }
    Ok(out)
}
$($task)*
pub async fn borrow_across() -> u64 {
    let g = d("g");
    let mut v = vec![N(1)];
    let a = push_ref(&mut v, 2).await + push_ref(&mut v, leaf(3).await).await;
    let b = sum_ref(&[1, 2], &g).await + sum_ref(&v.iter().map(|n| n.0).collect::<Vec<_>>(), &d("tmp")).await;
    let last = &v[v.len() - 1];
    let c = leaf(last.0).await + last.0;
    drop(g);
    log("end");
    a as u64 + b + c
}
$($task)*
pub async fn tree_walk() -> u64 {
    let t = Tree::Node { name: d("root"), kids: vec![Tree::Leaf(1), Tree::Node { name: d("in"), kids: vec![Tree::Leaf(4)] }] };
    let n = walk(&t, 0).await;
    let Tree::Node { name, mut kids } = t else { return 0 };
    drop(name);
    let k = kids.pop().map(|k| matches!(k, Tree::Node { .. })).unwrap_or(false);
    n + leaf(k as u64).await
}
$($task)*
pub async fn dyn_iter() -> (Vec<u64>, Option<u64>) {
    let mut it = (1..9).filter(|n| n % 2 == 0);
    let v = take_while(&mut it, 4).await;
    let w = take_while(&mut v.iter().rev().map(|n| n * 2).inspect(|n| log(n)), 100).await;
    (w, it.next())
}
$($task)*
pub async fn two_phase() -> u64 {
    let mut v = vec![1u64, 2];
    v.push(leaf(v.len() as u64).await);
    let i = leaf(1usize).await;
    v[i] += leaf(5).await;
    let j = v.len() - 1;
    v[j] = leaf(v[0]).await + v[i];
    v.insert(leaf(0usize).await, leaf(9).await);
    v.truncate(leaf(3usize).await);
    let s = v.iter().sum::<u64>();
    let [a, .., b] = v[..] else { return 0 };
    s * 100 + a + leaf(b).await
}
$($task)*
pub async fn operand_drops() -> u64 {
    let x = d("l").len() + leaf(1).await + d("r").len();
    log("x");
    let y = span("a").with(1).total() * leaf(span("b").with(2).total()).await - span("c").total();
    log("y");
    let z = d("p").yes() && leaf(true).await && d("q").yes() || leaf(false).await;
    log("z");
    let w = if d("c1").no() || leaf(d("c2")).await.yes() { d("then").len() } else { 0 };
    log("w");
    let v = [d("e1").len(), leaf(2).await, d("e2").len()].iter().sum::<u64>();
    let u = (d("t1").len(), leaf(d("t2")).await, d("t3").len() as u8 as u64);
    log("u");
    x + y + w + v + u.0 + z as u64
}
$($task)*
pub async fn arg_leaves(n: u64) -> Result<u64, Error> {
    let mut t = 0;
    for i in 0..n {
        let g = N(i);
        let p = two(g.0, match i { 0 => { wait().await; continue } 3 => break, 2 => return Err(Error::Conflict), k => leaf(k).await });
        t += p;
        eat((g, d("tmp"), if t > 2 { log("big"); leaf(d("x")).await } else { d("y") }));
    }
    Ok(t)
}
$($task)*
pub async fn question_in_args() -> Result<u64, Error> {
    $($task)* async fn take(a: D, b: u64, c: D) -> u64 { wait().await; a.len() + b + c.len() }
    let ok = take(d("a1"), flaky(2, 1).await?.0, d("c1")).await;
    log(ok);
    let v = vec![d("v1"), leaf(d("v2")).await, D("v3")];
    let bad = take(d("a2"), flaky(0, 1).await?.0 + v.len() as u64, leaf(d("c2")).await).await;
    Ok(ok + bad)
}
$($task)*
pub async fn struct_question() -> Result<u64, Error> {
    let good = Fields { x: d("x"), n: flaky(3, 3).await?.0, y: leaf(d("y")).await };
    log(good.n);
    let Fields { x, .. } = good;
    wait().await;
    log("partial");
    let f = Fields { y: leaf(d("y2")).await, x, n: flaky(1, 3).await.map(|n| n.0)? }; Ok(f.n)
}
$($task)*
pub async fn extended_temps() -> u64 {
    let r = &leaf(d("ext")).await;
    let s = &mut vec![leaf(1).await];
    s.push(r.len());
    let Fields { x, n, .. } = &fields("fx", "fy");
    wait().await;
    let t = Some(&d("some"));
    let k = leaf(x.len() + n + t.map_or(0, |d| d.len())).await;
    log("end");
    k + s.iter().sum::<u64>()
}
$($task)*
pub async fn tail_temps() -> usize {
    let a = d("a");
    let b = span("b");
    let _c = b.child("c");
    wait().await;
    leaf(vec![a, d("tail")]).await.iter().map(|d| d.name().len()).sum::<usize>() + b.child("t").total() as usize
}
$($task)*
pub async fn break_values() -> u64 {
    let mut i = 0;
    let g = loop { i += 1; let t = N(i); if leaf(i).await == 2 { break t; } log("again"); };
    let h = 'a: { let k = loop { let q = d("q"); if q.yes() { break 'a leaf(d("early")).await } break q; }; wait().await; k };
    log("got");
    g.0 + h.len()
}
$($task)*
pub async fn ref_patterns() -> u64 {
    let mut o = Some((d("o"), 3u64));
    if let Some((g, n)) = &mut o { *n += 1; log(g.name()); }
    let n = match o { Some((_, n)) => leaf(n).await, None => 0 };
    let k = match &o { Some((g, n)) if *n > 3 => g.len() + n, _ => 0 };
    let x = match o { Some((ref g, ref mut n)) => { *n += k; g.len() + *n } None => 1 };
    wait().await;
    if let Some((g @ D(_), 1..)) = o { leaf(g).await; }
    log("end");
    n + x
}
$($task)*
pub async fn iter_mut_await() -> Vec<u64> {
    let mut v: Vec<Fields> = vec![fields("a", "b"), fields("c", "d")];
    for f in v.iter_mut() { f.n += leaf(1).await; f.x = leaf(d("new")).await; }
    for f in &v { leaf(f.n).await; log(f.x.name()); }
    let mut it = v.into_iter();
    let first = it.next().map(|f| f.y);
    wait().await;
    log("first");
    drop(first);
    it.map(|f| f.n).collect()
}
$($task)*
pub async fn closures_capture() -> u64 {
    let g = d("g");
    let mut hits = 0;
    let mut note = |s: &str| { hits += 1; log(format!("{s} {}", g.len())); };
    note("a");
    wait().await;
    note("b");
    let n = leaf(hits).await;
    let own = move || g;
    let back = leaf(own).await;
    log("called later");
    let g = back();
    wait().await;
    n + g.len()
}
$($task)*
pub async fn retries_closure() -> Result<u64, Error> {
    let should = |e: &Error| matches!(e, Error::Timeout { after } if *after < 3);
    let mut state = (0u32, d("state"));
    let v = loop {
        match flaky(state.0, 2).await {
            Err(e) if should(&e) => { log(format!("retry {e}")); state = (state.0 + 1, leaf(d("fresh")).await); }
            other => break other.map(|n| n.0),
        }
    }?;
    Ok(v + state.1.len())
}
$($task)*
pub async fn circuit_breaker() -> Vec<&'static str> {
    #[derive(Clone, Copy, PartialEq, Debug)] enum Br { Closed { fails: u32 }, Open { until: u32 }, Half }
    struct Note(Br); impl Drop for Note { fn drop(&mut self) { log(format!("{:?}", self.0)) } }
    let mut br = Br::Closed { fails: 0 };
    let mut out = vec![];
    for now in 0..5u32 {
        let _n = Note(br);
        br = match br {
            Br::Open { until } if now < until => { out.push("reject"); continue }
            Br::Open { .. } => Br::Half,
            same => same,
        };
        br = match (br, flaky(now, 3).await) {
            (Br::Half | Br::Closed { .. }, Ok(n)) => { out.push(if n.0 > 3 { "ok!" } else { "ok" }); Br::Closed { fails: 0 } }
            (Br::Closed { fails }, Err(_)) if fails < 1 => Br::Closed { fails: fails + 1 },
            (_, Err(e)) => { leaf(e).await; Br::Open { until: now + 2 } }
            (Br::Open { .. }, Ok(_)) => unreachable!(),
        };
    }
    out
}
$($task)*
pub async fn rate_limit() -> (u64, u64) {
    struct Bucket { tokens: u64, cap: u64, _g: D }
    impl Bucket { fn try_take(&mut self, n: u64) -> Result<(), u64> { if self.tokens >= n { self.tokens -= n; Ok(()) } else { Err(n - self.tokens) } } }
    let mut b = Bucket { tokens: 2, cap: leaf(3).await, _g: d("bucket") };
    let (mut sent, mut waited) = (0, 0);
    for cost in [1u64, 2, 3] {
        while let Err(missing) = b.try_take(cost) { let _sleep = N(missing); waited += leaf(missing).await; b.tokens = (b.tokens + missing).min(b.cap); }
        sent += cost;
    }
    (sent, waited)
}
$($task)*
pub async fn arc_clones() -> usize {
    let a = Arc::new(d("shared"));
    let b = a.clone();
    let list: Vec<Arc<D>> = (0..2).map(|_| Arc::clone(&a)).collect();
    wait().await;
    drop(a);
    let n = Arc::strong_count(&b);
    for x in list { leaf(x).await; log("one"); }
    let w = Arc::downgrade(&b);
    let own = Arc::try_unwrap(b).map(|d| d.len() as usize).unwrap_or(0);
    log("unwrapped");
    wait().await;
    n + own + w.upgrade().map_or(5, |_| 6)
}
$($task)*
pub async fn generic_guard() -> u64 {
    struct Defer<F: FnOnce()>(Option<F>);
    impl<F: FnOnce()> Drop for Defer<F> { fn drop(&mut self) { if let Some(f) = self.0.take() { f() } } }
    impl<F: FnOnce()> Defer<F> { fn new(f: F) -> Self { Defer(Some(f)) } fn cancel(mut self) { self.0 = None; log("cancelled") } }
    let _a = Defer::new(|| log("defer a"));
    let b = Defer::new(|| log("defer b"));
    let n = leaf(3).await;
    let _c = Defer::new(move || log(n));
    if leaf(n).await == 3 { b.cancel(); }
    let done = Arc::new(AtomicU64::new(0));
    { let d2 = done.clone(); let _e = Defer::new(move || { d2.fetch_add(5, Ordering::SeqCst); }); wait().await; }
    leaf(done.load(Ordering::SeqCst)).await
}
$($task)*
pub async fn wrapper_generic() -> String {
    $($task)* async fn timed<T: Send, F: FnOnce() -> T + Send>(name: &'static str, f: F) -> (T, u64) { let s = span(name); wait().await; let v = f(); (v, leaf(s.finish()).await) }
    $($task)* async fn first<T, const K: usize>(list: [T; K]) -> Option<T> where T: Send + Debug { let n = list.len(); let mut it = list.into_iter(); let f = it.next(); wait().await; log(n); f }
    let g = d("moved in");
    let (n, t) = timed("t", move || g.len()).await;
    let f = first([d("f1"), d("f2"), d("f3")]).await;
    let e = first::<D, 0>([]).await.is_none();
    let (r, _) = timed("u", || format!("{n}{t}{e}")).await;
    r + f.as_ref().map_or("", |d| d.name())
}
$($task)*
pub async fn nested_matches() -> Vec<u64> {
    let mut out = vec![];
    for r in [Ok(Some(d("x"))), Ok(None), Err(Error::Conflict), Err(Error::Timeout { after: 3 })] {
        let n = match r {
            Ok(Some(g)) if leaf(g.len()).await > 5 => g.len(),
            Ok(Some(g)) => match maybe3(g.len()).await { Some(n) => n.0 + leaf(g).await.len(), None => { drop(g); 0 } },
            Ok(None) => { let z = d("z"); leaf(z.len()).await }
            Err(Error::Timeout { after: a @ 1..=5 }) => leaf(a).await,
            Err(e) => { log(e); continue }
        };
        out.push(n);
    }
    out
}
$($task)* pub async fn maybe3(n: u64) -> Option<N> { if n % 3 == 0 { None } else { Some(leaf(N(n)).await) } }
$($task)*
pub async fn strings_lifetimes(q: &'static str) -> Vec<(&'static str, Cow<'static, str>)> {
    fn split<'a>(s: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> { s.split('&').filter_map(|p| p.split_once('=')) }
    let mut out = Vec::new();
    for (k, v) in split(q) {
        let v: Cow<'static, str> = if v.is_empty() { Cow::Owned(format!("<{}>", leaf(k).await)) } else { v.into() };
        out.push((k, v));
    }
    let longest = out.iter().max_by_key(|(_, v)| v.len()).map(|(k, _)| *k);
    if let Some(k) = longest { out.push((k, leaf(Cow::Borrowed("max")).await)); }
    out
}
$($task)*
pub async fn owned_str_borrow() -> usize {
    let text = leaf("alpha beta,gamma".to_string()).await;
    let words: Vec<&str> = text.split([' ', ',']).collect();
    let mut n = 0;
    for w in &words { n += leaf(w.len()).await; }
    let first = words.first().copied().unwrap_or("");
    wait().await;
    let (a, b) = text.split_at(first.len());
    n += leaf(a.len() * 10).await + b.trim().len();
    n
}
} }

programs! {
    owned client_all();
    owned client_error();
    owned client_chain();
    owned client_in_option();
    owned client_map();
    owned borrow_across();
    owned tree_walk();
    owned dyn_iter();
    owned two_phase();
    owned operand_drops();
    owned arg_leaves(4);
    owned question_in_args();
    owned struct_question();
    owned extended_temps();
    owned tail_temps();
    owned break_values();
    owned ref_patterns();
    owned iter_mut_await();
    owned closures_capture();
    owned retries_closure();
    owned circuit_breaker();
    owned rate_limit();
    owned arc_clones();
    owned generic_guard();
    owned wrapper_generic();
    owned nested_matches();
    owned strings_lifetimes("k1=v1&k2=&k3=v3");
    owned owned_str_borrow();
}
