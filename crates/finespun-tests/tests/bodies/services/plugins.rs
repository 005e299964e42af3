//! Arenas, cursors, plugins, partial moves, walkers, queries.

use super::kit::*;
use crate::harness::*;
use std::borrow::Cow;
use std::collections::*;
use std::fmt::{self, Debug, Display, Write as _};
use std::ops::*;
use std::sync::{Arc, Mutex, OnceLock, atomic::*};

pub struct Arena<T> {
    pub items: Vec<T>,
    pub name: &'static str,
}
impl<T> Drop for Arena<T> {
    fn drop(&mut self) {
        log(format_args!("arena {} {}", self.name, self.items.len()));
    }
}
impl<T> Arena<T> {
    pub fn new(name: &'static str) -> Self {
        Arena { items: vec![], name }
    }
    pub fn push(&mut self, t: T) -> &mut T {
        point();
        self.items.push(t);
        self.items.last_mut().unwrap()
    }
    pub fn insert(&mut self, t: T) -> Id {
        self.items.push(t);
        Id(self.items.len() - 1)
    }
    pub fn take(&mut self) -> Taken<'_, T> {
        Taken { n: self.items.len(), a: self }
    }
    pub fn next(&mut self) -> Option<Taken<'_, T>> {
        if self.items.is_empty() { None } else { Some(self.take()) }
    }
    pub fn load(&self) -> View<'_, T> {
        View { a: self }
    }
    pub fn into_inner(&self) -> usize {
        self.items.len()
    }
    pub fn position(&self) -> Pos<'_> {
        Pos { at: self.items.len(), name: self.name }
    }
    pub fn last(&self) -> View<'_, T> {
        View { a: self }
    }
    pub fn min(&self) -> usize {
        1
    }
    pub fn unwrap(&self) -> &T {
        &self.items[0]
    }
}
impl<T> Index<Id> for Arena<T> {
    type Output = T;
    fn index(&self, i: Id) -> &T {
        &self.items[i.0]
    }
}
impl<T> IndexMut<Id> for Arena<T> {
    fn index_mut(&mut self, i: Id) -> &mut T {
        &mut self.items[i.0]
    }
}
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Id(pub usize);
pub struct Taken<'a, T> {
    pub a: &'a mut Arena<T>,
    pub n: usize,
}
impl<T> Drop for Taken<'_, T> {
    fn drop(&mut self) {
        log(format_args!("taken back {}", self.n));
        self.a.items.pop();
    }
}
pub struct View<'a, T> {
    pub a: &'a Arena<T>,
}
impl<T> Drop for View<'_, T> {
    fn drop(&mut self) {
        log(format_args!("view {}", self.a.items.len()));
    }
}
impl<T> View<'_, T> {
    pub fn len(&self) -> usize {
        self.a.items.len()
    }
    pub fn clone(&self) -> Self {
        View { a: self.a }
    }
}
#[derive(Debug)]
pub struct Pos<'a> {
    pub at: usize,
    pub name: &'a str,
}
pub struct Cursor<'s> {
    pub text: &'s str,
    pub at: usize,
    pub marks: Vec<usize>,
}
impl<'s> Cursor<'s> {
    pub fn new(text: &'s str) -> Self {
        Cursor { text, at: 0, marks: vec![] }
    }
    pub fn bump(&mut self) -> Option<char> {
        let c = self.text[self.at..].chars().next()?;
        self.at += c.len_utf8();
        Some(c)
    }
    pub fn first(&self) -> char {
        self.text[self.at..].chars().next().unwrap_or('\0')
    }
    pub fn take_while(&mut self, f: impl Fn(char) -> bool) -> &'s str {
        let s = self.at;
        while self.at < self.text.len() && f(self.first()) {
            self.bump();
        }
        &self.text[s..self.at]
    }
    pub fn mark(&mut self) -> Mark<'_, 's> {
        let at = self.at;
        Mark { c: self, at, ok: false }
    }
}
pub struct Mark<'c, 's> {
    pub c: &'c mut Cursor<'s>,
    pub at: usize,
    pub ok: bool,
}
impl Mark<'_, '_> {
    pub fn commit(mut self) -> usize {
        self.ok = true;
        self.c.at - self.at
    }
}
impl Drop for Mark<'_, '_> {
    fn drop(&mut self) {
        if !self.ok {
            log(format_args!("rewind {} -> {}", self.c.at, self.at));
            self.c.at = self.at
        }
    }
}
#[derive(Debug)]
pub enum Conn {
    Idle { g: D, tries: u64 },
    Open(N, Vec<D>),
    Closing { reason: String, last: Option<D> },
    Dead,
}
impl Default for Conn {
    fn default() -> Self {
        Conn::Dead
    }
}
pub struct Three {
    pub a: D,
    pub b: D,
    pub n: u64,
    pub opt: Option<D>,
}
pub fn three() -> Three {
    Three { a: d("3a"), b: d("3b"), n: 3, opt: Some(d("3o")) }
}
pub struct Tree {
    pub v: u64,
    pub l: Option<Box<Tree>>,
    pub r: Option<Box<Tree>>,
    pub g: N,
}
pub fn tree(v: u64, l: Option<Tree>, r: Option<Tree>) -> Tree {
    Tree { v, l: l.map(Box::new), r: r.map(Box::new), g: N(v) }
}
pub struct List {
    pub head: Option<Box<Node>>,
}
pub struct Node {
    pub v: N,
    pub next: Option<Box<Node>>,
}
pub fn list(n: u64) -> List {
    let mut head = None;
    for i in (0..n).rev() {
        head = Some(Box::new(Node { v: N(i), next: head }));
    }
    List { head }
}
pub trait Plugin: Send + Sync {
    fn name(&self) -> &str;
    fn on(&mut self, n: u64) -> Option<D> {
        let _ = n;
        None
    }
    fn weight(&self) -> u64 {
        self.name().len() as u64
    }
}
pub struct Fizz(pub D);
impl Plugin for Fizz {
    fn name(&self) -> &str {
        self.0.name()
    }
    fn on(&mut self, n: u64) -> Option<D> {
        (n % 3 == 0).then(|| d("fizz"))
    }
}
pub struct Count(pub u64);
impl Plugin for Count {
    fn name(&self) -> &str {
        "count"
    }
    fn on(&mut self, _: u64) -> Option<D> {
        self.0 += 1;
        None
    }
}
impl Drop for Count {
    fn drop(&mut self) {
        log(format_args!("count {}", self.0));
    }
}

macro_rules! bodies { ($($task:tt)*) => {
$($task)* pub async fn arena_push() -> u64 { let mut a = Arena::new("a"); let x = a.push(N(1)); x.0 += leaf(5).await; let n = x.0; let id = a.insert(leaf(N(7)).await); a[id].0 += leaf(1).await; a.push(N(2)).0 = leaf(4).await; let v = a[id].0 + leaf(a[Id(0)].0).await; n + v }
$($task)* pub async fn arena_load() -> usize { let mut a = Arena::new("l"); a.insert(d("x")); let v = a.load(); let n = v.len(); wait().await; let c = v.clone(); leaf(c.len()).await; let k = a.load().len() + leaf(a.last().len()).await; let m = a.load().clone().len().max(leaf(2).await); let p = a.position(); wait().await; n + k + m + p.at + p.name.len() }
$($task)* pub async fn arena_while() -> usize { let mut a = Arena::new("w"); for i in 0..3 { a.insert(N(i)); } let mut sum = 0; while let Some(t) = a.next() { sum += t.n; if leaf(t.n).await == 2 { log("two"); continue; } t.a.items[0].0 += 1; } let r = a.unwrap_or_none(); sum + leaf(r).await }
$($task)* pub async fn cursor_tokens(text: &'static str) -> Result<Vec<String>, String> {
    let mut c = Cursor::new(text); let mut out = vec![];
    loop {
        c.take_while(char::is_whitespace);
        let start = c.at;
        let tok = match c.first() {
            '\0' => break,
            '0'..='9' => { let digits = c.take_while(|c| c.is_ascii_digit()); format!("n{}", leaf(digits).await) }
            q @ ('"' | '\'') => { let mut m = c.mark(); m.c.bump(); let s = m.c.take_while(|c| c != q); wait().await; if m.c.bump() != Some(q) { return Err(format!("unterminated at {start}")); } let n = m.commit(); format!("s{s}{n}") }
            c0 if c0.is_alphabetic() => { let w = c.take_while(|c| c.is_alphanumeric() || c == '_'); if w == "end" { wait().await; break } w.to_uppercase() }
            _ => { let Some(p) = c.bump() else { unreachable!() }; let m = c.mark(); if m.c.first() == p { m.c.bump(); let k = m.commit(); out.push(leaf(k).await.to_string()); } p.to_string() }
        };
        out.push(tok);
    }
    Ok(out)
}
$($task)* pub async fn cursors() -> Vec<String> { let mut v = vec![]; for t in ["a1 42 == 'q'", "x \"open", "1 end 2"] { v.push(format!("{:?}", cursor_tokens(t).await)); } v }
pub struct Fsm { pub state: Conn, pub hist: Vec<&'static str>, pub side: D }
impl Fsm {
    $($task)* async fn step(&mut self, ev: u64) -> Result<bool, D> {
        self.state = match std::mem::take(&mut self.state) {
            Conn::Idle { g, tries } if tries < 2 => { self.hist.push("retry"); let tries = tries + leaf(1).await; Conn::Idle { g, tries } }
            Conn::Idle { g, tries } => { let n = N(tries); wait().await; Conn::Open(n, vec![g]) }
            Conn::Open(N(n), _) if ev > 100 => { let reason = format!("ev {ev} {n}"); Conn::Closing { reason, last: None } }
            Conn::Open(n, mut held) => { if ev % 2 == 0 { held.push(leaf(d("held")).await); Conn::Open(n, held) } else { let last = held.pop(); drop(held); wait().await; Conn::Closing { reason: "odd".into(), last } } }
            Conn::Closing { reason, last: Some(g) } => { log(reason); return Err(leaf(g).await) }
            Conn::Closing { .. } | Conn::Dead => return Ok(false),
        };
        Ok(true)
    }
    $($task)* async fn run(mut self, evs: &[u64]) -> (usize, Option<D>) { let mut err = None; for &ev in evs { match self.step(ev).await { Ok(true) => log(format_args!("{:?}", self.state)), Ok(false) => break, Err(e) => { err = Some(e); wait().await; } } } let Fsm { hist, side, .. } = self; wait().await; drop(side); (hist.len(), err) }
}
$($task)* pub async fn fsm() -> usize { let f = Fsm { state: Conn::Idle { g: d("idle"), tries: 1 }, hist: vec![], side: d("side") }; let (n, e) = f.run(&[1, 2, 4, 5, 6, 7]).await; log("ran"); n + leaf(e.is_some() as usize).await }
$($task)* pub async fn bst_insert(t: Option<Box<Tree>>, v: u64) -> Option<Box<Tree>> { let Some(mut t) = t else { return Some(Box::new(Tree { v, l: None, r: None, g: leaf(N(v)).await })) }; if v < t.v { t.l = Box::pin(bst_insert(t.l.take(), v)).await; } else if v > t.v { let r = t.r.take(); t.r = Box::pin(bst_insert(r, v)).await; } else { t.g = N(v + 100); wait().await; } Some(t) }
$($task)* pub async fn bst_remove_min(mut t: Box<Tree>) -> (u64, Option<Box<Tree>>) { match t.l.take() { None => { let Tree { v, r, g, .. } = *t; wait().await; drop(g); (v, r) } Some(l) => { let (m, rest) = Box::pin(bst_remove_min(l)).await; t.l = rest; (m, Some(t)) } } }
$($task)* pub async fn bst() -> Vec<u64> { let mut t = None; for v in [4, 2, 6, 1, 3, 2] { t = bst_insert(t, v).await; } let mut out = vec![]; while let Some(b) = t { let (m, rest) = bst_remove_min(b).await; out.push(m); t = if m > 2 { log("cut"); None } else { rest }; } out }
$($task)* pub async fn bst_iter(root: &Tree) -> Vec<u64> { let mut st = vec![]; let mut cur = Some(root); let mut out = vec![]; while cur.is_some() || !st.is_empty() { while let Some(t) = cur { st.push(t); cur = t.l.as_deref(); } let Some(t) = st.pop() else { break }; out.push(leaf(t.v).await); cur = t.r.as_deref(); } out }
$($task)* pub async fn bst_iters() -> Vec<u64> { let t = tree(5, Some(tree(2, None, Some(tree(3, None, None)))), Some(tree(8, None, None))); let v = bst_iter(&t).await; let Tree { l, r: Some(r), .. } = t else { return v }; drop(l); wait().await; v.into_iter().chain([r.v]).collect() }
$($task)* pub async fn list_reverse(l: List) -> u64 { let mut cur = l.head; let mut prev = None; let mut n = 0; while let Some(mut node) = cur { cur = node.next.take(); node.next = prev; n = n * 10 + leaf(node.v.0).await; prev = Some(node); } let mut at = &prev; let mut k = 0; while let Some(node) = at { k = k * 10 + node.v.0; at = &node.next; if node.v.0 == 1 { wait().await } } n * 1000 + k }
$($task)* pub async fn list_remove(mut l: List) -> u64 { let mut sum = 0; { let mut cur = &mut l.head; loop { match cur { None => break, Some(n) if n.v.0 % 2 == 1 => { let next = n.next.take(); let gone = std::mem::replace(cur, next); wait().await; log("unlinked"); } Some(n) => { sum += leaf(n.v.0).await; cur = &mut n.next; } } } } let first = l.head.as_ref().map(|n| n.v.0); sum + leaf(first.unwrap_or(50)).await }
$($task)* pub async fn list_merge(mut a: Option<Box<Node>>, mut b: Option<Box<Node>>) -> Vec<u64> { let mut out = vec![]; loop { let take_a = match (&a, &b) { (Some(x), Some(y)) => x.v.0 <= y.v.0, (Some(_), None) => true, (None, Some(_)) => false, (None, None) => break }; let src = if take_a { &mut a } else { &mut b }; let Some(node) = src.take() else { continue }; let Node { v, next } = *node; *src = next; out.push(leaf(v.0).await); } out }
$($task)* pub async fn plugins() -> u64 { let mut ps: Vec<Box<dyn Plugin>> = vec![Box::new(Fizz(d("fz"))), Box::new(Count(0))]; let mut total = 0; for n in 1..=3 { for p in ps.iter_mut() { let Some(ev) = p.on(n) else { continue }; total += leaf(ev.len() + p.weight()).await; } } ps.retain(|p| p.name() != "fz"); wait().await; if let [p] = &mut ps[..] { p.on(9); total += p.weight() + leaf(1).await; } total }
$($task)* pub async fn plugin_arg(p: &mut dyn Plugin, all: &mut Vec<Box<dyn Plugin>>) -> usize { let w = leaf(p.weight()).await; let x = p.on(w * 3); all.push(Box::new(Count(w))); wait().await; x.map_or(0, |g| g.len() as usize) + all.len() }
$($task)* pub async fn plugin_args() -> usize { let mut f = Fizz(d("f")); let mut all: Vec<Box<dyn Plugin>> = Vec::new(); let n = plugin_arg(&mut f, &mut all).await; let m = plugin_arg(&mut Count(3), &mut all).await; log("temp gone"); let Fizz(g) = f; wait().await; n + m + g.len() as usize }
$($task)* pub async fn partial_moves() -> u64 { let t = three(); let a = t.a; wait().await; let n = t.n + a.len(); if leaf(n).await > 4 { drop(t.b); log("b gone"); } else { wait().await; } let o = t.opt; wait().await; n + o.map_or(0, |o| o.len()) }
$($task)* pub async fn partial_back() -> u64 { let mut t = three(); let old = t.a; wait().await; t.a = leaf(d("new a")).await; t.opt = None; log("none"); let Three { ref b, .. } = t; let k = b.len(); leaf(k).await; drop(old); t.n += leaf(t.n).await; let u = Three { a: leaf(d("u")).await, n: t.n + 1, ..t }; wait().await; u.n + u.a.len() }
$($task)* pub async fn swaps() -> Vec<&'static str> { let (mut a, mut b) = (d("A"), d("B")); (a, b) = (b, leaf(a).await); wait().await; let mut c = d("C"); std::mem::swap(&mut a, &mut c); [a, c] = [leaf(c).await, a]; let names = vec![a.0, b.0, c.0]; (_, b) = (leaf(d("ign")).await, d("last")); log("end"); names }
$($task)* pub async fn fields_assign() -> u64 { let mut v = vec![three()]; v[0].a = leaf(d("na")).await; let i = v.len() - 1; v[i].opt.take(); v[leaf(0usize).await].n += leaf(2).await; let t = &mut v[0]; (t.a, t.n) = (d("nb"), leaf(t.n).await * 2); let last = v.pop(); wait().await; last.map(|t| t.n + t.b.len()).unwrap_or_default() }
$($task)* pub async fn late_init(n: u64) -> u64 { let g; let h; if n > 1 { g = leaf(d("big")).await; h = None; } else { g = d("small"); h = Some(d("h")); } wait().await; let k; { let inner = d("in"); k = leaf(inner.len()).await; } let s: String; match k { 2 => s = "two".into(), _ => { wait().await; s = "other".repeat(k as usize) } } g.len() + s.len() as u64 + h.map_or(0, |h| h.len()) }
$($task)* pub async fn cond_move(keep: bool) -> u64 { let a = d("cond"); let b = d("other"); let mut out = vec![]; if leaf(keep).await { out.push(a); } else { drop(b); wait().await; log("dropped"); return out.len() as u64; } wait().await; log("tail"); out.len() as u64 + b.len() }
$($task)* pub async fn loop_move(n: u64) -> Option<D> { let mut cur = Some(d("c0")); for i in 0..n { let Some(c) = cur else { log("lost"); return None }; cur = match i { 0 => Some(leaf(c).await), 1 => { let r = c; wait().await; drop(r); Some(d("c1")) } _ if i > 5 => None, _ => { leaf(c.len()).await; Some(c) } }; } cur }
$($task)* pub async fn labelled(grid: [[u64; 3]; 2]) -> (u64, usize) { let mut n = 0; let at = 'rows: { for (y, row) in grid.iter().enumerate() { let _r = N(y as u64); 'cols: for (x, &c) in row.iter().enumerate() { let _c = N(10 + x as u64); n += match c { 0 => continue 'cols, 7 => break 'rows x, c => leaf(c).await }; } } 100 }; (n, at) }
$($task)* pub async fn chains(o: Option<&str>, m: &BTreeMap<String, Vec<u64>>) -> u64 { if let Some(k) = o && let Some(v) = m.get(k) && !v.is_empty() && let n = leaf(v[0]).await && n > 1 && let g = d("chain") { n + g.len() + leaf(v.len() as u64).await } else if let Some(k) = o && let g = d("second") && leaf(k.len()).await == 1 { g.len() } else { wait().await; 0 } }
$($task)* pub async fn chained() -> [u64; 4] { let m = BTreeMap::from([("k".to_string(), vec![5u64, 6]), ("one".into(), vec![1]), ("e".into(), vec![])]); [chains(Some("k"), &m).await, chains(Some("one"), &m).await, chains(Some("e"), &m).await, chains(None, &m).await] }
$($task)* pub async fn early(v: Vec<Result<u64, D>>) -> Result<u64, D> { let mut s = 0; for (i, r) in v.into_iter().enumerate() { let g = N(i as u64); s += leaf(r?).await + g.0; let x = (d("pair"), if s > 8 { return Ok(s) } else { leaf(s).await }); log(x.1); } Err(d("fell")) }
$($task)* pub async fn args_order() -> u64 { $($task)* async fn f(a: D, b: u64, (c, _): (D, D), _: D) -> u64 { log("in f"); wait().await; a.len() + b + c.len() } let r = f(d("a1"), leaf(2).await, (leaf(d("c1")).await, d("c2")), d("un")).await; log("back"); let t = f(d("x"), f(d("y"), 1, (d("z"), d("w")), leaf(d("v")).await).await, (d("p"), d("q")), d("r")).await; r + t }
$($task)* pub async fn literals() -> u64 { let t = Three { b: leaf(d("lb")).await, a: d("la"), opt: Some(leaf(d("lo")).await), n: leaf(4).await }; let arr = [d("e0"), leaf(d("e1")).await, d("e2")]; let v = vec![leaf(N(1)).await, N(2)]; let tup = (N(3), leaf(arr.len() as u64).await, v.len()); let [_, mid, _] = arr; wait().await; t.n + tup.1 + mid.len() }
pub struct Owned { pub a: D, pub v: Vec<N> }
impl Owned {
    $($task)* async fn by_ref(&self) -> u64 { leaf(self.a.len()).await + self.v.iter().map(|n| n.0).sum::<u64>() }
    $($task)* async fn pop(&mut self) -> Option<N> { let n = self.v.pop()?; wait().await; Some(n) }
    $($task)* async fn take(self) -> Vec<N> { wait().await; self.v }
    $($task)* async fn boxed(self: Box<Self>) -> u64 { let Owned { a, .. } = *self; wait().await; a.len() }
    $($task)* async fn arc(self: Arc<Self>, n: u64) -> u64 { if n == 0 { return self.a.len(); } let r = Box::pin(Arc::clone(&self).arc(n - 1)).await; log(Arc::strong_count(&self)); r + 1 }
    $($task)* async fn into_parts(mut self) -> (D, Option<N>) { let n = self.v.pop(); wait().await; self.v.clear(); log("cleared"); (self.a, n) }
    $($task)* async fn first(&self) -> &N { wait().await; &self.v[0] }
    $($task)* async fn get_mut(&mut self, i: usize) -> Option<&mut N> { wait().await; self.v.get_mut(i) }
    $($task)* async fn replace(&mut self, i: usize, n: N) -> Res<N> { let slot = self.get_mut(i).await.ok_or(Error::Closed)?; Ok(std::mem::replace(slot, n)) }
    $($task)* async fn map<F: Fn(u64) -> u64 + Send + Sync>(self, f: F) -> Self { let mut v = Vec::new(); for n in self.v { v.push(N(leaf(f(n.0)).await)); } Owned { a: self.a, v } }
}
pub fn owned() -> Owned { Owned { a: d("own"), v: vec![N(1), N(2), N(3)] } }
$($task)* pub async fn receivers() -> u64 { let mut o = owned(); let a = o.by_ref().await + o.pop().await.map_or(0, |n| n.0); let f = o.first().await.0 + leaf(1).await; if let Some(n) = o.get_mut(1).await { n.0 += leaf(5).await; } let r = o.replace(0, leaf(N(50)).await).await; let e = o.replace(9, N(60)).await.is_err(); let o = o.map(|n| n * 2).await; wait().await; let (g, n) = o.into_parts().await; log("parts"); a + f + r.map_or(0, |n| n.0) + e as u64 + g.len() + leaf(n).await.map_or(0, |n| n.0) }
$($task)* pub async fn receivers2() -> u64 { let v = owned().take().await; let b = Box::new(owned()).boxed().await; let c = Arc::new(owned()).arc(2).await; let k = owned().by_ref().await + owned().first().await.0; log("k"); let n = owned().pop().await.unwrap().0 + leaf(v.len() as u64).await; b + c + k + n }
$($task)* pub async fn closures(n: u64) -> u64 { let g = d("cap"); let add = |x: u64| x + g.len(); let mut count = 0; let mut tick = |k: u64| { count += k; count }; let a = tick(1) + leaf(2).await; let b = tick(leaf(3).await); let h = N(n); let once = move || { log("once"); h.0 }; let c = leaf(add(a)).await; let e = once() + leaf(b).await; drop(g); c + e + count }
$($task)* pub async fn callbacks() -> Vec<u64> { let mut q: VecDeque<Box<dyn FnOnce(u64) -> Option<N> + Send>> = VecDeque::new(); let g = d("moved"); q.push_back(Box::new(move |n| Some(N(n + g.len())))); q.push_back(Box::new(|_| None)); let mut out = vec![]; let mut i = leaf(1).await; while let Some(f) = q.pop_front() { match f(i) { Some(n) => { out.push(leaf(n.0).await); if out.len() < 3 { let k = n.0; q.push_back(Box::new(move |_| Some(N(k * 2 + n.0)))); } } None => { log("none"); wait().await } } i += 1; } out }
$($task)* pub async fn retry<F: FnMut(u64) -> Result<N, D> + Send>(max: u64, mut f: F) -> Result<N, Vec<D>> { let mut errs = vec![]; for i in 0..max { match f(i) { Ok(n) if n.0 > 2 || leaf(false).await => return Ok(n), Ok(n) => { log(format_args!("small {}", n.0)); } Err(e) => errs.push(leaf(e).await) } } Err(errs) }
$($task)* pub async fn retries() -> (u64, usize) { let mut calls = 0; let ok = retry(5, |i| { calls += 1; if i == 1 { Err(d("once")) } else { Ok(N(i)) } }).await; let bad = retry(2, |_| Err(d("always"))).await; wait().await; (ok.map_or(0, |n| n.0), bad.map_or_else(|e| e.len(), |_| 0) + calls) }
$($task)* pub async fn walker(root: &'static str) -> Vec<String> { let fs: BTreeMap<&str, Vec<&str>> = [("/", vec!["a/", "b.rs", ".git/"]), ("/a/", vec!["c.rs", "d.txt"]), ("/.git/", vec!["x.rs"])].into(); let ignore = |p: &str| p.rsplit('/').find(|s| !s.is_empty()).is_some_and(|s| s.starts_with('.')); let mut stack = vec![(root.to_string(), 0usize, d("root"))]; let mut found = vec![]; while let Some((dir, depth, guard)) = stack.pop() { let Some(entries) = fs.get(dir.as_str()) else { continue }; for e in entries.iter().rev() { let path = format!("{dir}{e}"); if ignore(&path) { log(format_args!("skip {path}")); continue; } if path.ends_with('/') { stack.push((path, depth + 1, leaf(d("dir")).await)); } else if let Some((stem, "rs")) = path.rsplit_once('.') { found.push(leaf(stem.to_owned()).await); } } drop(guard); if depth > 3 { break; } } found }
$($task)* pub async fn query(db: &Mutex<BTreeMap<String, Arc<N>>>, key: &str, depth: u64) -> Result<Arc<N>, String> { let _active = span(key); if let Some(hit) = db.lock().unwrap().get(key).cloned() { return Ok(hit); } if depth > 3 { return Err(format!("cycle at {key}")); } let v = match key.split_once('+') { Some((a, b)) => { let x = Box::pin(query(db, a, depth + 1)).await?; let y = Box::pin(query(db, b, depth + 1)).await.or_else(|e| if b.is_empty() { Ok(Arc::new(N(0))) } else { Err(e) })?; N(x.0 + y.0) } None => N(key.parse::<u64>().map_err(|e| format!("{key}: {e}"))?) }; wait().await; let v = Arc::new(v); db.lock().unwrap().insert(key.to_string(), v.clone()); Ok(v) }
$($task)* pub async fn queries() -> Vec<String> { let db = Mutex::new(BTreeMap::new()); let mut out = vec![]; for k in ["1+2", "1", "2+", "3+x"] { let r = query(&db, k, 0).await; out.push(r.map(|n| format!("{} {}", n.0, Arc::strong_count(&n))).unwrap_or_else(|e| e)); } let n = db.into_inner().unwrap().len(); out.push(leaf(n).await.to_string()); out }
$($task)* pub async fn chat(lines: &[&'static str]) -> BTreeMap<&'static str, Vec<String>> { let mut rooms: BTreeMap<&str, Vec<Arc<Chan<String>>>> = BTreeMap::new(); let mut users: BTreeMap<&'static str, (Arc<Chan<String>>, D)> = BTreeMap::new(); let mut inbox: BTreeMap<&'static str, Vec<String>> = BTreeMap::new(); for l in lines { let mut it = l.splitn(3, ' '); match (it.next(), it.next(), it.next()) { (Some("join"), Some(u), Some(room)) => { let (ch, _) = users.entry(u).or_insert_with(|| (Chan::new(2), D("user"))); rooms.entry(room).or_default().push(ch.clone()); wait().await; } (Some("say"), Some(room), Some(text)) => { let Some(members) = rooms.get_mut(room) else { log("no room"); continue }; let mut i = 0; while i < members.len() { if let Err(t) = members[i].send(leaf(text.to_string()).await) { log(format_args!("lost {t}")); members.swap_remove(i); } else { i += 1 } } } (Some("quit"), Some(u), None) => if let Some((ch, g)) = users.remove(u) { ch.close(); wait().await; while let Some(m) = ch.recv() { inbox.entry(u).or_default().push(m); } log(g.name()); }, other => log(format_args!("{other:?}")) } } inbox }
$($task)* pub async fn rle(s: &str) -> String { let mut out = String::new(); let mut it = s.chars().peekable(); while let Some(c) = it.next() { let mut n = 1; while it.next_if_eq(&c).is_some() { n += 1; } if n > 1 { write!(out, "{}", leaf(n).await).unwrap(); } out.push(c); } out.shrink_to_fit(); leaf(out).await }
$($task)* pub async fn merge_sort(v: Vec<N>) -> Vec<N> { if v.len() <= 1 { return v; } let mut a = v; let b = a.split_off(a.len() / 2); let (a, b) = (Box::pin(merge_sort(a)).await, Box::pin(merge_sort(b)).await); let mut out = Vec::with_capacity(a.len() + b.len()); let (mut a, mut b) = (a.into_iter().peekable(), b.into_iter().peekable()); loop { let from_a = match (a.peek(), b.peek()) { (Some(x), Some(y)) => x.0 <= y.0, (Some(_), _) => true, (_, Some(_)) => false, _ => break }; let Some(n) = (if from_a { a.next() } else { b.next() }) else { break }; out.push(n); } wait().await; out }
$($task)* pub async fn sorts() -> Vec<u64> { merge_sort([3, 1, 2].map(N).into()).await.iter().map(|n| n.0).collect() }
$($task)* pub async fn temp_files(names: &[&str]) -> Res<Vec<String>> { let mut kept = vec![]; for n in names { let mut t = Temp::new(n); let w = t.write(leaf(n.as_bytes()).await)?; if w > 3 { kept.push(t.persist(n)?); continue; } let p = t.path().to_owned(); wait().await; log(p); let copy = Temp { path: leaf("copy".to_string()).await, data: std::mem::take(&mut t.data), keep: false }; drop(t); leaf(copy.data.len()).await; } Ok(kept) }
$($task)* pub async fn progress(n: u64) -> u64 { let mut bar = Bar::new(n); let mut total = 0; for x in bar.wrap_iter(0..n) { total += x; } wait().await; let mut items = (0..n).map(N).collect::<Vec<_>>(); for it in items.drain(1..) { bar.inc(it.0); if leaf(it.0).await == 2 { break; } } log(items.len()); bar.finish() + total }
} }
impl<T> Arena<T> {
    pub fn unwrap_or_none(&self) -> usize {
        self.items.len()
    }
}
programs! {
    owned arena_push(); owned arena_load(); owned arena_while(); owned cursors(); owned fsm(); owned bst(); owned bst_iters();
    owned list_reverse(list(3)); owned list_remove(list(4)); owned list_merge(list(2).head, list(3).head); owned plugins(); owned plugin_args();
    owned partial_moves(); owned partial_back(); owned swaps(); owned fields_assign(); owned late_init(2); owned cond_move(true); owned loop_move(4); owned labelled([[1, 0, 2], [3, 7, 4]]);
    owned chained(); owned early(vec![Ok(1), Ok(8), Err(D("e"))]); owned args_order(); owned literals(); owned receivers(); owned receivers2(); owned closures(3); owned callbacks(); owned retries();
    owned walker("/"); owned queries(); owned chat(&["join al r", "join bo r", "say r hi", "say x no", "say r a b", "quit al", "say r c", "quit bo", "??"]); owned rle("aaabccd"); owned sorts(); owned temp_files(&["abc", "longer", "ab"]); owned progress(4);
}
