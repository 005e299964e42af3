//! Guards of maps and cells, large numbers, channels, builders.

use super::kit::*;
use crate::harness::*;
use std::borrow::{Borrow, Cow};
use std::collections::*;
use std::fmt::{self, Debug, Display, Write as _};
use std::ops::*;
use std::sync::{Arc, Mutex, atomic::*};

/// arc-swap
pub struct Swap<T> {
    pub cur: Mutex<Arc<T>>,
}
pub struct Snap<T>(pub Arc<T>);
impl<T> Drop for Snap<T> {
    fn drop(&mut self) {
        log(format_args!("snap down {}", Arc::strong_count(&self.0)));
        point();
    }
}
impl<T> Deref for Snap<T> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.0
    }
}
impl<T> Swap<T> {
    pub fn new(t: T) -> Self {
        Swap { cur: Mutex::new(Arc::new(t)) }
    }
    pub fn load(&self) -> Snap<T> {
        point();
        Snap(self.cur.lock().unwrap().clone())
    }
    pub fn store(&self, t: T) {
        let old = std::mem::replace(&mut *self.cur.lock().unwrap(), Arc::new(t));
        log(format_args!("stored {}", Arc::strong_count(&old)));
    }
    pub fn swap(&self, t: T) -> Arc<T> {
        std::mem::replace(&mut *self.cur.lock().unwrap(), Arc::new(t))
    }
}
pub struct Config {
    pub limit: u64,
    pub hosts: Vec<String>,
    pub g: D,
}
pub fn config(limit: u64) -> Config {
    Config { limit, hosts: vec!["a".into(), "bb".into()], g: d("config") }
}
impl Config {
    pub fn limit(&self) -> u64 {
        self.limit
    }
    pub fn first(&self) -> Option<&str> {
        self.hosts.first().map(|s| s.as_str())
    }
}
/// dashmap
pub struct Dash {
    pub m: Lk<BTreeMap<u64, N>>,
}
pub struct Ref<'a> {
    pub g: LkGuard<'a, BTreeMap<u64, N>>,
    pub k: u64,
}
impl Deref for Ref<'_> {
    type Target = N;
    fn deref(&self) -> &N {
        &self.g[&self.k]
    }
}
impl DerefMut for Ref<'_> {
    fn deref_mut(&mut self) -> &mut N {
        let k = self.k;
        self.g.get_mut(&k).unwrap()
    }
}
impl Ref<'_> {
    pub fn value(&self) -> u64 {
        self.g[&self.k].0
    }
    pub fn key(&self) -> &u64 {
        &self.k
    }
}
pub struct DEntry<'a> {
    g: LkGuard<'a, BTreeMap<u64, N>>,
    k: u64,
}
impl<'a> DEntry<'a> {
    pub fn or_insert(mut self, v: N) -> Ref<'a> {
        self.g.entry(self.k).or_insert(v);
        Ref { g: self.g, k: self.k }
    }
    pub fn or_insert_with(mut self, f: impl FnOnce() -> N) -> Ref<'a> {
        self.g.entry(self.k).or_insert_with(f);
        Ref { g: self.g, k: self.k }
    }
    pub fn and_modify(mut self, f: impl FnOnce(&mut N)) -> Self {
        self.g.entry(self.k).and_modify(f);
        self
    }
}
impl Dash {
    pub fn new() -> Dash {
        Dash { m: Lk::new("dash", BTreeMap::new()) }
    }
    pub fn get(&self, k: &u64) -> Option<Ref<'_>> {
        let g = self.m.lock();
        if g.contains_key(k) { Some(Ref { g, k: *k }) } else { None }
    }
    pub fn insert(&self, k: u64, v: N) -> Option<N> {
        self.m.lock().insert(k, v)
    }
    pub fn remove(&self, k: &u64) -> Option<(u64, N)> {
        self.m.lock().remove_entry(k)
    }
    pub fn entry(&self, k: u64) -> DEntry<'_> {
        DEntry { g: self.m.lock(), k }
    }
    pub fn contains_key(&self, k: &u64) -> bool {
        self.get(k).is_some()
    }
    pub fn len(&self) -> usize {
        self.m.lock().len()
    }
}
/// big numbers
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Big(pub Vec<u32>);
impl Drop for Big {
    fn drop(&mut self) {
        log(format_args!("free {:?}", self.0));
    }
}
impl Big {
    pub fn of(n: u32) -> Big {
        point();
        Big(vec![n])
    }
    pub fn abs(&self) -> Big {
        Big(self.0.clone())
    }
    pub fn pow(&self, n: u32) -> Big {
        Big(self.0.iter().map(|x| x.pow(n)).collect())
    }
    pub fn min(self, o: Big) -> Big {
        if self < o { self } else { o }
    }
    pub fn is_zero(&self) -> bool {
        self.0.iter().all(|x| *x == 0)
    }
    pub fn low(&self) -> u64 {
        self.0[0].into()
    }
}
impl Clone for Big {
    fn clone(&self) -> Big {
        log("clone");
        Big(self.0.clone())
    }
}
impl Add for &Big {
    type Output = Big;
    fn add(self, o: &Big) -> Big {
        point();
        Big(vec![self.0[0] + o.0[0]])
    }
}
impl Add for Big {
    type Output = Big;
    fn add(self, o: Big) -> Big {
        &self + &o
    }
}
impl Add<u32> for Big {
    type Output = Big;
    fn add(mut self, o: u32) -> Big {
        self.0[0] += o;
        self
    }
}
impl Mul<&Big> for Big {
    type Output = Big;
    fn mul(self, o: &Big) -> Big {
        Big(vec![self.0[0] * o.0[0]])
    }
}
impl AddAssign<Big> for Big {
    fn add_assign(&mut self, o: Big) {
        self.0[0] += o.0[0];
    }
}
impl AddAssign<&Big> for Big {
    fn add_assign(&mut self, o: &Big) {
        self.0[0] += o.0[0];
    }
}
impl Neg for Big {
    type Output = Big;
    fn neg(self) -> Big {
        Big(vec![1000 - self.0[0]])
    }
}
impl Not for &Big {
    type Output = bool;
    fn not(self) -> bool {
        self.is_zero()
    }
}
impl Sub<&Big> for &Big {
    type Output = Big;
    fn sub(self, o: &Big) -> Big {
        Big(vec![self.0[0] - o.0[0]])
    }
}
impl std::iter::Sum for Big {
    fn sum<I: Iterator<Item = Big>>(it: I) -> Big {
        it.fold(Big::of(0), |a, b| a + b)
    }
}
/// parser
#[derive(Debug, PartialEq)]
pub enum T {
    Ident(String, D),
    Num(u64),
    Sym(char),
    Eof,
}
pub struct Parser {
    pub toks: Vec<T>,
    pub errs: Vec<String>,
    pub depth: u64,
}
impl Parser {
    pub fn new(s: &str) -> Parser {
        Parser {
            toks: s
                .split(' ')
                .rev()
                .map(|w| match w.parse() {
                    Ok(n) => T::Num(n),
                    Err(_) if w.len() == 1 && !w.as_bytes()[0].is_ascii_alphabetic() => {
                        T::Sym(w.chars().next().unwrap())
                    }
                    Err(_) => T::Ident(w.into(), D("tok")),
                })
                .collect(),
            errs: vec![],
            depth: 0,
        }
    }
    pub fn peek(&self) -> &T {
        self.toks.last().unwrap_or(&T::Eof)
    }
    pub fn next(&mut self) -> T {
        self.toks.pop().unwrap_or(T::Eof)
    }
    pub fn expect(&mut self, c: char) -> Result<T, Error> {
        match self.next() {
            t @ T::Sym(x) if x == c => Ok(t),
            t => Err(Error::Protocol(format!("expected {c}, got {t:?}"))),
        }
    }
    pub fn take(&mut self, n: usize) -> Vec<T> {
        let at = self.toks.len().saturating_sub(n);
        let mut v = self.toks.split_off(at);
        v.reverse();
        v
    }
    pub fn eat(&mut self, c: char) -> bool {
        if *self.peek() == T::Sym(c) {
            self.next();
            true
        } else {
            false
        }
    }
    pub fn ident(&mut self) -> Option<String> {
        match self.next() {
            T::Ident(ref s, _) => Some(s.clone()),
            t => {
                self.toks.push(t);
                None
            }
        }
    }
    pub fn find(&self, f: impl Fn(&T) -> bool) -> Option<&T> {
        self.toks.iter().rev().find(|t| f(t))
    }
    pub fn scope(&mut self) -> Scope<'_> {
        self.depth += 1;
        Scope(self)
    }
}
pub struct Scope<'p>(pub &'p mut Parser);
impl Drop for Scope<'_> {
    fn drop(&mut self) {
        log(format_args!("leave scope {}", self.0.depth));
        self.0.depth -= 1;
    }
}
impl Deref for Scope<'_> {
    type Target = Parser;
    fn deref(&self) -> &Parser {
        self.0
    }
}
impl DerefMut for Scope<'_> {
    fn deref_mut(&mut self) -> &mut Parser {
        self.0
    }
}
/// watch channel
pub struct Watch {
    pub v: Lk<N>,
    pub version: AtomicU64,
}
impl Watch {
    pub fn borrow(&self) -> LkGuard<'_, N> {
        self.v.lock()
    }
    pub fn send_replace(&self, n: N) -> N {
        self.version.fetch_add(1, Ordering::SeqCst);
        std::mem::replace(&mut *self.v.lock(), n)
    }
    pub fn read(&self) -> LkGuard<'_, N> {
        self.v.lock()
    }
    pub fn write(&self) -> LkGuard<'_, N> {
        self.v.lock()
    }
    pub fn try_read(&self) -> Option<LkGuard<'_, N>> {
        self.v.try_lock()
    }
}
/// builder
#[derive(Default)]
pub struct Builder {
    pub parts: Vec<String>,
    pub limit: Option<u64>,
    pub hook: Option<Box<dyn FnOnce(u64) -> u64 + Send>>,
    pub g: Option<D>,
}
impl Builder {
    pub fn new() -> Self {
        log("builder");
        Builder { g: Some(d("builder")), ..Self::default() }
    }
    pub fn push(mut self, s: impl Into<String>) -> Self {
        point();
        self.parts.push(s.into());
        self
    }
    pub fn limit(mut self, n: u64) -> Self {
        self.limit = Some(n);
        self
    }
    pub fn insert(mut self, i: usize, s: &str) -> Self {
        self.parts.insert(i, s.into());
        self
    }
    pub fn hook(mut self, f: impl FnOnce(u64) -> u64 + Send + 'static) -> Self {
        self.hook = Some(Box::new(f));
        self
    }
    pub fn build(self) -> Res<(String, u64)> {
        let Builder { parts, limit, hook, g } = self;
        let n = limit.ok_or(Error::Incomplete)?;
        Ok((parts.join("/"), hook.map_or(n, |h| h(n))))
    }
}
pub struct Undo<'a>(pub &'a mut Vec<u64>, pub usize);
impl Drop for Undo<'_> {
    fn drop(&mut self) {
        log(format_args!("truncate {} -> {}", self.0.len(), self.1));
        self.0.truncate(self.1);
    }
}

macro_rules! bodies { ($($task:tt)*) => {
$($task)* pub async fn swap_load() -> u64 {
    let s = Swap::new(config(3));
    let a = leaf(s.load().limit).await;
    let b = s.load().limit() + leaf(1).await;
    let c = leaf(2).await + s.load().limit;
    if s.load().limit > leaf(2).await { log("over"); s.store(config(9)); wait().await; }
    let snap = s.load();
    let n = snap.limit;
    s.store(config(11));
    wait().await;
    log("still");
    a + b + c + n + snap.g.len()
}
$($task)* pub async fn swap_match() -> u64 {
    let s = Swap::new(config(3));
    let r = match s.load().limit { 3 => { log("arm"); leaf(1).await } _ => 2 };
    let h = match s.load().first() { Some(h) if leaf(h.len()).await == 1 => { wait().await; h.len() as u64 } Some(_) | None => 0 };
    for host in &s.load().hosts { log(host); wait().await; }
    if let Some(h) = s.load().first() { log(h); wait().await; } else { log("none") }
    while s.load().limit < 5 { let n = s.load().limit + leaf(1).await; s.store(config(n)); }
    let old = s.swap(config(0));
    let t = leaf(old.limit).await;
    log("old");
    r + h + t
}
$($task)* pub async fn swap_tail(s: Arc<Swap<Config>>) -> u64 { let _g = d("tail"); wait().await; s.load().limit + s.load().hosts.len() as u64 }
$($task)* pub async fn swap_tails() -> u64 { let s = Arc::new(Swap::new(config(4))); let n = swap_tail(s.clone()).await; let m = { wait().await; s.load().limit }; log("m"); let k = loop { break s.load().limit + leaf(1).await; }; n + m + k }
$($task)* pub async fn dash_work() -> (u64, usize) {
    let m = Dash::new();
    let prev = m.insert(1, N(leaf(10).await));
    let n = match m.get(&1) { Some(r) => { let v = r.value(); wait().await; v } None => 0 };
    log("after get");
    if let Some(mut r) = m.get(&1) { r.0 += 1; log(r.key()); leaf(r.0).await; } else { log("missing"); wait().await }
    let k = m.entry(2).or_insert(N(20)).value() + leaf(1).await;
    let e = m.entry(2).and_modify(|n| n.0 *= 2).or_insert_with(|| mk(5));
    let v = e.value();
    drop(e);
    let Some((_, gone)) = m.remove(&1) else { return (0, m.len()) };
    wait().await;
    log("gone");
    (n + k + v + gone.0 + u64::from(m.contains_key(&1)), leaf(m.len()).await + m.len())
}
$($task)* pub async fn dash_cas(keys: Vec<u64>) -> Vec<u64> {
    let m = Dash::new();
    let mut out = vec![];
    for k in keys {
        if !m.contains_key(&k) { let fresh = leaf(N(k * 10)).await; m.entry(k).or_insert(fresh); }
        let Some(r) = m.get(&k) else { unreachable!() };
        out.push(leaf(r.value()).await);
        m.m.name.len();
    }
    out.push(m.m.into_inner().into_values().next_back().map_or(0, |n| n.0));
    out
}
$($task)* pub async fn big_math() -> u64 {
    let a = Big::of(2); let b = Big::of(3);
    let c = &a + &b;
    let e = leaf(c.clone()).await * &a + 1;
    let f = a.pow(3) + leaf(Big::of(1)).await;
    let mut acc = Big::of(0);
    for x in [&a, &b, &c] { acc += x; acc += leaf(x.clone()).await; }
    let g = (&acc - &e).low() + leaf(1).await;
    let m = e.min(leaf(f).await);
    let h = -leaf(m).await;
    log("neg");
    let z = if !&h { 0 } else { leaf(h.low()).await };
    g + z
}
$($task)* pub async fn big_sum(n: u32) -> Big {
    let parts: Vec<Big> = (1..=n).map(Big::of).collect();
    let s: Big = parts.iter().cloned().sum();
    wait().await;
    let t = parts.into_iter().map(|b| b.pow(2)).sum::<Big>() + leaf(Big::of(4)).await;
    if s > t { return s; }
    let r = (s + 1) * &t;
    leaf(r.abs()).await
}
$($task)* pub async fn big_cmp() -> (bool, u64) {
    let a = Big::of(5);
    let lt = a.abs() < leaf(Big::of(7)).await;
    let eq = leaf(a.clone()).await == Big::of(5);
    let both = a.abs() == Big::of(5) && leaf(true).await;
    let mx = std::cmp::max(a.abs(), leaf(Big::of(2)).await).low();
    let x = a.pow(2).low() + a.abs().low() * leaf(2).await;
    wait().await;
    (lt & eq & both, x + mx)
}
$($task)* pub async fn big_index(mut v: Vec<Big>) -> u64 {
    v[0] += leaf(Big::of(9)).await;
    let i = leaf(1usize).await;
    v[i] = &v[0] + &v[1];
    wait().await;
    let t = std::mem::replace(&mut v[0], leaf(Big::of(1)).await);
    v.swap(0, 1);
    let s = v.iter().map(|b| b.low()).sum::<u64>() + leaf(t.low()).await;
    v.push(t);
    v.remove(0).low() + s
}
$($task)* pub async fn parse_block(src: &'static str) -> (Res<u64>, Vec<String>) {
    let mut p = Parser::new(src);
    let r = parse_list(&mut p).await;
    if let T::Num(n) = p.peek() { log(n); }
    let rest = p.take(2);
    wait().await;
    log(format_args!("{rest:?}"));
    (r, std::mem::take(&mut p.errs))
}
$($task)* pub async fn parse_list(p: &mut Parser) -> Res<u64> {
    p.expect('{')?;
    let mut n = 0;
    while !p.eat('}') {
        if let Some(name) = p.ident() { p.expect('=')?; let T::Num(v) = p.next() else { p.errs.push(leaf(format!("value of {name}")).await); continue }; n += leaf(v).await; let _semi = p.expect(';')?; wait().await; }
        else if matches!(p.peek(), T::Sym('{')) { let mut s = p.scope(); n += Box::pin(parse_list(&mut s)).await? * 10; log(s.depth); }
        else { let t = p.next(); wait().await; return Err(Error::Protocol(format!("unexpected {t:?}"))); }
    }
    Ok(n)
}
$($task)* pub async fn parse_all() -> Vec<String> { let mut o = vec![]; for s in ["{ a = 1 ; { b = 2 ; } }", "{ a = x ; }", "{ a = 1 } 5", "{ { c = 3 ; ] } tail 7"] { o.push(format!("{:?}", parse_block(s).await)); } o }
pub struct Compiler { p: Parser, code: Vec<(u8, u64)>, consts: Vec<N> }
impl Compiler {
    $($task)* async fn term(&mut self) -> Res<()> {
        match self.p.next() {
            T::Num(n) => { self.consts.push(leaf(N(n)).await); self.code.push((1, self.consts.len() as u64 - 1)) }
            T::Sym('(') => { Box::pin(self.sum()).await?; self.p.expect(')')?; }
            T::Ident(name, tok) => { let n = name.len() as u64; drop(tok); self.emit(2, n).await; log(name); }
            t => return Err(Error::Protocol(format!("{t:?}"))),
        }
        Ok(())
    }
    $($task)* async fn sum(&mut self) -> Res<usize> { self.term().await?; let start = self.code.len(); while let T::Sym(op @ ('+' | '*')) = *self.p.peek() { self.p.next(); self.term().await?; let at = self.emit(op as u8, 0).await; if at > 9 { break } } Ok(self.code.len() - start) }
    $($task)* async fn emit(&mut self, op: u8, arg: u64) -> usize { let at = self.code.len(); self.code.push((op, leaf(arg).await)); at }
    $($task)* async fn run(&self) -> Res<u64> { let mut st: Vec<N> = vec![]; for &(op, arg) in &self.code { let v = match op { 1 => N(self.consts[arg as usize].0), 2 => N(leaf(arg).await), b'+' => { let (b, a) = (st.pop().ok_or("b")?, st.pop().ok_or("a")?); N(a.0 + b.0) } b'*' => { let b = st.pop().ok_or("b")?; let a = st.pop().ok_or("a")?; wait().await; N(a.0 * b.0) } _ => return Err(Error::Closed) }; st.push(v); } st.pop().map(|n| n.0).ok_or(Error::Incomplete) }
    $($task)* async fn compile(mut self) -> Res<(usize, u64)> { let n = self.sum().await?; let v = self.run().await?; let Compiler { consts, code, .. } = self; drop(consts); wait().await; Ok((n + code.len(), v)) }
}
$($task)* pub async fn compiles() -> Vec<String> { let mut o = vec![]; for s in ["1 + xy * 2", "( 1 + 2 ) * ( 3", "4 + +"] { let c = Compiler { p: Parser::new(s), code: vec![], consts: vec![] }; o.push(match c.compile().await { Ok((n, v)) => format!("{n} {v}"), Err(e) => e.to_string() }); } o }
$($task)* pub async fn watch() -> u64 {
    let w = Watch { v: Lk::new("watch", N(1)), version: 0.into() };
    let a = w.borrow().0 + leaf(1).await;
    let b = leaf(w.borrow().0).await;
    let old = w.send_replace(leaf(N(5)).await);
    log("replaced");
    { let mut g = w.write(); g.0 += leaf(2).await; *g = N(g.0 + 1); wait().await; log("written"); }
    let c = { let r = w.read(); r.0 } + leaf(1).await;
    let e = w.try_read().map(|g| g.0).unwrap_or(99) + leaf(1).await;
    let f = if let Some(g) = w.try_read() { leaf(g.0).await } else { 7 };
    let g = w.read();
    let h = match w.try_read() { None => { wait().await; drop(g); 3 } Some(g2) => { leaf(g2.0).await } };
    let i = matches!(*w.borrow(), N(n) if n > 3) as u64;
    a + b + c + e + f + h + i + old.0
}
$($task)* pub async fn watch_until(mut left: u64) -> u64 {
    let w = Watch { v: Lk::new("w", N(0)), version: 0.into() };
    let mut seen = 0;
    loop {
        let now = w.version.load(Ordering::SeqCst);
        if now != seen { seen = now; let n = w.borrow().0; if leaf(n).await > 3 { break n; } }
        let Some(l) = left.checked_sub(1) else { break 100 };
        left = l;
        w.send_replace(N(left * 2));
        if w.read().0 == 4 { log("four"); wait().await; continue }
        w.write().0 = leaf(1).await;
    }
}
$($task)* pub async fn builder() -> Res<(String, u64)> {
    let b = Builder::new().push("a").push(leaf("b").await).limit(leaf(4).await);
    let captured = d("captured");
    let b = b.hook(move |n| n + captured.len());
    wait().await;
    let b = if leaf(b.parts.len()).await > 1 { b.insert(1, "mid") } else { Builder { limit: None, ..b } };
    let r = b.build()?;
    log("built");
    Ok((r.0, leaf(r.1).await))
}
$($task)* pub async fn builder_fails() -> Res<String> {
    let mut b = Builder::new();
    for s in ["x", "y"] { b = b.push(leaf(s).await); }
    b.g = None;
    b.g.replace(leaf(d("late")).await);
    let (s, n) = b.build().map_err(|e| { log(&e); Error::Closed })?;
    Ok(leaf(s).await)
}
$($task)* pub async fn solver(n: usize) -> Option<Vec<u64>> {
    let mut trail: Vec<u64> = vec![];
    $($task)* async fn place(trail: &mut Vec<u64>, n: usize) -> bool {
        if trail.len() == n { return true; }
        let mark = trail.len();
        for c in 0..n as u64 {
            if trail.iter().enumerate().any(|(r, &x)| x == c || (mark - r) as u64 == x.abs_diff(c)) { continue; }
            let mut u = Undo(trail, mark);
            u.0.push(leaf(c).await);
            if Box::pin(place(u.0, n)).await { std::mem::forget(u); return true; }
        }
        false
    }
    if place(&mut trail, n).await { Some(trail) } else { None }
}
$($task)* pub async fn semaphores() -> Res<u64> {
    let s = Sem::new(4);
    let mut a = s.try_acquire_many(leaf(2).await)?;
    let b = s.try_acquire()?;
    a.merge(b);
    wait().await;
    let part = a.split(1).ok_or(Error::Closed)?;
    let n = s.available() + leaf(part.n).await;
    drop(part);
    let r = s.try_acquire_many(5).map(|p| p.n).unwrap_or_else(|Busy(n)| n * 100);
    let t = s.try_acquire().is_ok() as u64 + leaf(1).await;
    let _ = s.try_acquire_many(1)?;
    let _keep = s.try_acquire_many(1)?;
    wait().await;
    match s.try_acquire_many(3) { Err(Busy(k)) => { log(k); leaf(k).await; } Ok(p) => p.forget() }
    let k = s.try_acquire()?.n;
    leaf(()).await;
    s.try_acquire_many(50)?.forget();
    Ok(n + r + t + k)
}
$($task)* pub async fn spans(depth: u64) -> u64 {
    let mut root = span("root");
    root.record(1).record(leaf(2).await);
    let n = { let _e = root.enter(); let c = root.child("c"); let _e2 = c.enter(); wait().await; c.n + root.n };
    let inner = root.child("x").entered();
    let m = leaf(inner.name.len()).await as u64;
    let root = inner;
    wait().await;
    let _ = root.child("never");
    let _k = root.child("kept");
    root.child("stmt").record(leaf(depth).await);
    log("end");
    n + m
}
} }
pub fn mk(n: u64) -> N {
    log(format_args!("mk {n}"));
    N(n)
}
programs! {
    owned swap_load();
    owned swap_match();
    owned swap_tails();
    owned dash_work();
    owned dash_cas(vec![2, 1, 2]);
    owned big_math();
    owned big_sum(3);
    owned big_cmp();
    owned big_index(vec![Big(vec![1]), Big(vec![2])]);
    owned parse_all();
    owned compiles();
    owned watch();
    owned watch_until(4);
    owned builder();
    owned builder_fails();
    owned solver(4);
    owned semaphores();
    owned spans(2);
}
