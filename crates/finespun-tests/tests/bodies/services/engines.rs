//! Interpreters, searches, ledgers, schedulers, game loops.

use super::kit::*;
use crate::harness::*;
use std::borrow::Cow;
use std::collections::*;
use std::fmt::{self, Debug, Display};
use std::ops::{ControlFlow, Deref, DerefMut, Index, IndexMut, Range};
use std::sync::{Arc, Mutex, atomic::*};

/// expression tree
#[derive(Debug, Clone)]
pub enum Expr {
    Num(u64),
    Var(String),
    Bin(Box<Expr>, char, Box<Expr>),
    Let { name: String, value: Box<Expr>, body: Box<Expr> },
    If(Box<(Expr, Expr, Expr)>),
    Call(String, Vec<Expr>),
    Seq(Vec<Expr>),
}
use Expr::*;
pub fn num(n: u64) -> Box<Expr> {
    Box::new(Num(n))
}
pub fn var(s: &str) -> Box<Expr> {
    Box::new(Var(s.into()))
}
pub fn bin(a: Box<Expr>, o: char, b: Box<Expr>) -> Box<Expr> {
    Box::new(Bin(a, o, b))
}
pub struct Env<'p> {
    pub vars: HashMap<String, u64>,
    pub parent: Option<&'p Env<'p>>,
    pub g: D,
}
impl<'p> Env<'p> {
    pub fn get(&self, k: &str) -> Option<u64> {
        self.vars.get(k).copied().or_else(|| self.parent.and_then(|p| p.get(k)))
    }
    pub fn child<'c>(&'c self) -> Env<'c> {
        Env { vars: HashMap::new(), parent: Some(self), g: d("env") }
    }
}
#[derive(Debug)]
pub enum EvalError {
    Unbound(String, D),
    Div,
    Arity { want: usize, got: usize },
}
/// LRU
pub struct Lru {
    pub map: HashMap<u64, usize>,
    pub slots: Vec<Slot>,
    pub head: usize,
    pub tail: usize,
    pub cap: usize,
}
pub struct Slot {
    pub key: u64,
    pub val: Option<N>,
    pub prev: usize,
    pub next: usize,
}
pub const NIL: usize = usize::MAX;
impl Lru {
    pub fn new(cap: usize) -> Lru {
        Lru { map: HashMap::new(), slots: vec![], head: NIL, tail: NIL, cap }
    }
    pub fn unlink(&mut self, i: usize) {
        let (p, n) = (self.slots[i].prev, self.slots[i].next);
        if p == NIL {
            self.head = n
        } else {
            self.slots[p].next = n
        }
        if n == NIL { self.tail = p } else { self.slots[n].prev = p }
    }
    pub fn front(&mut self, i: usize) {
        self.slots[i].prev = NIL;
        self.slots[i].next = self.head;
        if self.head != NIL {
            let h = self.head;
            self.slots[h].prev = i
        } else {
            self.tail = i
        }
        self.head = i
    }
    pub fn get(&mut self, k: u64) -> Option<&mut N> {
        let i = *self.map.get(&k)?;
        self.unlink(i);
        self.front(i);
        self.slots[i].val.as_mut()
    }
    pub fn peek(&self, k: u64) -> Option<&N> {
        self.map.get(&k).and_then(|&i| self.slots[i].val.as_ref())
    }
    pub fn put(&mut self, k: u64, v: N) -> Option<(u64, N)> {
        if let Some(old) = self.get(k) {
            let old = std::mem::replace(old, v);
            return Some((k, old));
        }
        let mut out = None;
        let i = if self.slots.len() == self.cap {
            let t = self.tail;
            self.unlink(t);
            let s = &mut self.slots[t];
            self.map.remove(&s.key);
            out = s.val.replace(v).map(|v| (s.key, v));
            s.key = k;
            t
        } else {
            self.slots.push(Slot { key: k, val: Some(v), prev: NIL, next: NIL });
            self.slots.len() - 1
        };
        self.map.insert(k, i);
        self.front(i);
        out
    }
}
/// grid
#[derive(Clone, Debug, PartialEq)]
pub struct Grid<const W: usize, const H: usize>(pub [[u8; W]; H]);
impl<const W: usize, const H: usize> Index<(usize, usize)> for Grid<W, H> {
    type Output = u8;
    fn index(&self, (x, y): (usize, usize)) -> &u8 {
        &self.0[y][x]
    }
}
impl<const W: usize, const H: usize> IndexMut<(usize, usize)> for Grid<W, H> {
    fn index_mut(&mut self, (x, y): (usize, usize)) -> &mut u8 {
        &mut self.0[y][x]
    }
}
/// Huffman
#[derive(Debug)]
pub enum Huff {
    Leaf(char, D),
    Node(Box<Huff>, Box<Huff>, N),
}
#[derive(Debug, PartialEq, Clone, Copy)]
pub enum Tok<'s> {
    Num(u64),
    Id(&'s str),
    Op(char),
    End,
}
pub struct Lexer<'s> {
    pub rest: &'s str,
    pub peeked: Option<Tok<'s>>,
    pub g: D,
}
impl<'s> Lexer<'s> {
    pub fn new(s: &'s str) -> Self {
        Lexer { rest: s, peeked: None, g: d("lexer") }
    }
    pub fn next(&mut self) -> Res<Tok<'s>> {
        if let Some(t) = self.peeked.take() {
            return Ok(t);
        }
        self.rest = self.rest.trim_start();
        let Some(c) = self.rest.chars().next() else { return Ok(Tok::End) };
        let n = self.rest.find(|c: char| !c.is_alphanumeric()).unwrap_or(self.rest.len()).max(1);
        let (a, b) = self.rest.split_at(n);
        self.rest = b;
        Ok(if c.is_ascii_digit() {
            Tok::Num(a.parse()?)
        } else if c.is_alphabetic() {
            Tok::Id(a)
        } else if "+-*/()=,".contains(c) {
            Tok::Op(c)
        } else {
            return Err(Error::Protocol(format!("char {c}")));
        })
    }
    pub fn peek(&mut self) -> Res<Tok<'s>> {
        let t = self.next()?;
        self.peeked = Some(t);
        Ok(t)
    }
    pub fn eat(&mut self, c: char) -> Res<bool> {
        if self.peek()? == Tok::Op(c) {
            self.peeked = None;
            Ok(true)
        } else {
            Ok(false)
        }
    }
}

macro_rules! bodies { ($($task:tt)*) => {
$($task)* pub async fn eval(e: &Expr, env: &Env<'_>) -> Result<u64, EvalError> {
    Ok(match e {
        Num(n) => leaf(*n).await,
        Var(v) => match env.get(v) { Some(n) => n, None => return Err(EvalError::Unbound(v.clone(), leaf(d("unbound")).await)) },
        Bin(a, op, b) => {
            let l = Box::pin(eval(a, env)).await?;
            match op { '+' => l + Box::pin(eval(b, env)).await?, '*' if l == 0 => 0, '*' => l * Box::pin(eval(b, env)).await?, '/' => { let r = Box::pin(eval(b, env)).await?; l.checked_div(r).ok_or(EvalError::Div)? } _ => unreachable!("{op}") }
        }
        Let { name, value, body } => {
            let v = Box::pin(eval(value, env)).await?;
            let mut inner = env.child();
            inner.vars.insert(name.to_string(), v);
            let r = Box::pin(eval(body, &inner)).await;
            log(format_args!("leave {name}"));
            r?
        }
        If(parts) => { let (c, t, f) = &**parts; if Box::pin(eval(c, env)).await? != 0 { Box::pin(eval(t, env)).await? } else { Box::pin(eval(f, env)).await? } }
        Call(f, args) => {
            let mut vals = Vec::with_capacity(args.len());
            for a in args { vals.push(N(Box::pin(eval(a, env)).await?)); }
            match (f.as_str(), &vals[..]) { ("max", [a, b]) => { wait().await; a.0.max(b.0) } ("sum", vs) => vs.iter().map(|n| n.0).sum(), (_, vs) => return Err(EvalError::Arity { want: 2, got: vs.len() }) }
        }
        Seq(es) => { let mut last = 0; for e in es { last = Box::pin(eval(e, env)).await?; } last }
    })
}
$($task)* pub async fn eval_all() -> Vec<String> {
    let root = Env { vars: HashMap::from([("x".to_string(), 5)]), parent: None, g: d("root") };
    let mut out = vec![];
    let progs = [Let { name: "y".into(), value: bin(var("x"), '+', num(2)), body: bin(var("y"), '*', var("x")) }, Call("max".into(), vec![Num(1), Num(7)]), Call("max".into(), vec![Num(3)]), Seq(vec![Num(1), If(Box::new((Num(0), Num(2), Var("zz".into()))))]), *bin(num(3), '/', num(0))];
    for p in &progs { out.push(match eval(p, &root).await { Ok(n) => n.to_string(), Err(EvalError::Unbound(v, g)) => { wait().await; format!("{v}{}", g.len()) } Err(e) => format!("{e:?}") }); }
    out
}
$($task)* pub async fn fold_consts(e: Expr) -> Expr {
    match e {
        Bin(a, op, b) => {
            let a = Box::new(Box::pin(fold_consts(*a)).await);
            let b = Box::new(Box::pin(fold_consts(*b)).await);
            match (*a, op, *b) { (Num(x), '+', Num(y)) => Num(x + y), (Num(0), '*', _) | (_, '*', Num(0)) => Num(0), (Num(1), '*', e) | (e, '*', Num(1)) => e, (a, op, b) => Bin(Box::new(a), op, Box::new(b)) }
        }
        Let { name, value, body } => { let value = Box::pin(fold_consts(*value)).await; if let Num(_) = value { wait().await; log(&name); } Let { name, value: value.into(), body: Box::pin(fold_consts(*body)).await.into() } }
        Call(f, args) => { let mut v = Vec::new(); for a in args { v.push(Box::pin(fold_consts(a)).await) } Call(f, v) }
        If(p) => { let (c, t, f) = *p; match Box::pin(fold_consts(c)).await { Num(0) => Box::pin(fold_consts(f)).await, Num(_) => Box::pin(fold_consts(t)).await, c => If(Box::new((c, Box::pin(fold_consts(t)).await, Box::pin(fold_consts(f)).await))) } }
        other => leaf(other).await,
    }
}
$($task)* pub async fn fold_all() -> String { let e = Call("f".into(), vec![*bin(num(1), '*', bin(num(2), '+', num(3))), If(Box::new((Num(1), Var("t".into()), Num(2)))), Let { name: "k".into(), value: bin(num(2), '+', num(2)), body: bin(var("k"), '*', num(0)) }]); format!("{:?}", fold_consts(e).await) }
$($task)* pub async fn expr(lx: &mut Lexer<'_>, min: u8) -> Res<N> {
    let mut lhs = match lx.next()? {
        Tok::Num(n) => N(leaf(n).await),
        Tok::Op('(') => { let v = Box::pin(expr(lx, 0)).await?; if !lx.eat(')')? { return Err(Error::Protocol("paren".to_string())); } v }
        Tok::Op('-') => { let N(ref n) = Box::pin(expr(lx, 9)).await?; N(1000 - n) }
        t => return Err(format!("unexpected {t:?}").as_str().into()),
    };
    loop {
        let (l, r, f): (u8, u8, fn(u64, u64) -> u64) = match lx.peek()? { Tok::Op('+') => (1, 2, |a, b| a + b), Tok::Op('-') => (1, 2, u64::wrapping_sub), Tok::Op('*') => (3, 4, |a, b| a * b), Tok::Op(')') | Tok::End => break, t => { log(format_args!("{t:?}")); wait().await; return Err(Error::Incomplete) } };
        if l < min { break; }
        lx.next()?;
        let rhs = Box::pin(expr(lx, r)).await?;
        lhs = N(f(lhs.0, rhs.0));
    }
    Ok(lhs)
}
$($task)* pub async fn pratt() -> Vec<Result<u64, String>> {
    let mut out = Vec::new();
    for src in ["1 + 2*3", "(4+5)*(2", "-3 + 2000", "7 ?", "2 x"] { let mut lx = Lexer::new(src); let r = expr(&mut lx, 0).await; out.push(r.map(|n| n.0).map_err(|e| format!("{e} at {:?}", lx.rest))); }
    out
}
$($task)* pub async fn stmts(src: &'static str) -> Res<BTreeMap<&'static str, u64>> {
    let mut vars = BTreeMap::new();
    let mut lx = Lexer::new(src);
    'stmt: while let Tok::Id(name) = lx.next()? {
        let _s = span(name);
        if !lx.eat('=')? { break 'stmt; }
        let mut total = 0;
        loop {
            total += match lx.next()? { Tok::Num(n) => n, Tok::Id(v) => match vars.get(v) { Some(&n) => leaf(n).await, None if v == "skip" => { wait().await; continue 'stmt } None => return Err(v.into()) }, _ => return Err(Error::Incomplete) };
            if !lx.eat('+')? { break }
        }
        *vars.entry(name).or_insert(0) += leaf(total).await;
        if !lx.eat(',')? { break; }
    }
    Ok(vars)
}
$($task)* pub async fn lru_work() -> Vec<u64> {
    let mut c = Lru::new(2);
    let mut evicted = vec![];
    for k in [1u64, 2, 1, 3, 2, 3, 1] {
        if let Some(v) = c.get(k) { v.0 += 1; log(format_args!("hit {k}")); wait().await; continue; }
        let v = N(leaf(k * 10).await);
        if let Some((old, v)) = c.put(k, v) { evicted.push(old); leaf(v.0).await; log("evicted"); }
    }
    let n = c.peek(3).map_or(0, |n| n.0);
    wait().await;
    evicted.push(n);
    evicted
}
$($task)* pub async fn memo_entry(keys: &[u64]) -> u64 {
    let mut memo: BTreeMap<u64, N> = BTreeMap::new();
    let mut sum = 0;
    for k in keys {
        use std::collections::btree_map::Entry;
        sum += match memo.entry(*k) {
            Entry::Occupied(mut e) if e.get().0 > 90 => { let n = e.insert(N(3)); wait().await; n.0 }
            Entry::Occupied(e) => e.get().0,
            Entry::Vacant(v) => { let fresh = leaf(N(k * k)).await; v.insert(fresh).0 }
        };
    }
    let n = memo.len() as u64;
    memo.into_values().map(std::mem::forget).count();
    leaf(sum).await + n
}
$($task)* pub async fn dijkstra(n: usize, edges: Vec<(usize, usize, u64)>) -> Vec<Option<u64>> {
    let mut adj: Vec<Vec<(usize, u64)>> = vec![Vec::new(); n];
    for &(a, b, w) in &edges { adj[a].push((b, w)); adj[b].push((a, w)); }
    let mut dist = vec![None; n];
    let mut heap = BinaryHeap::new();
    heap.push((std::cmp::Reverse(0u64), 0usize));
    dist[0] = Some(0);
    let g = d("graph");
    while let Some((std::cmp::Reverse(du), u)) = heap.pop() {
        if dist[u].is_some_and(|best| best < du) { log("stale"); continue; }
        for (v, w) in adj[u].iter().copied() {
            let alt = du + leaf(w).await;
            if dist[v].is_none_or(|old| alt < old) { dist[v] = Some(alt); heap.push((std::cmp::Reverse(alt), v)); }
        }
    }
    drop(g);
    dist[n - 1] = leaf(dist[n - 1]).await.map(|d| d + 1000);
    dist
}
$($task)* pub async fn topo(mut deps: BTreeMap<&'static str, Vec<&'static str>>) -> Result<Vec<&'static str>, Vec<&'static str>> {
    let mut order = vec![]; let bar = Bar::new(deps.len() as u64); let mut bar = bar;
    while !deps.is_empty() {
        let ready: Vec<_> = deps.iter().filter(|(_, v)| v.is_empty()).map(|(k, _)| *k).collect();
        if ready.is_empty() { let stuck = deps.into_keys().collect(); wait().await; return Err(stuck); }
        for r in ready { let Some(v) = deps.remove(r) else { unreachable!() }; bar.inc(1); wait().await; for v in deps.values_mut() { v.retain(|x| x != &r); } order.push(r); }
    }
    bar.finish();
    Ok(leaf(order).await)
}
$($task)* pub async fn dfs_cycle(g: &[Vec<usize>], at: usize, color: &mut [u8], path: &mut Vec<N>) -> Option<Vec<u64>> {
    color[at] = 1; path.push(N(at as u64));
    for &next in &g[at] {
        match color[next] { 0 => { if let Some(c) = Box::pin(dfs_cycle(g, next, color, path)).await { return Some(c); } } 1 => { let start = path.iter().position(|n| n.0 == next as u64)?; wait().await; return Some(path[start..].iter().map(|n| n.0).collect()); } _ => {} }
    }
    color[at] = 2; let done = path.pop(); wait().await; log(format_args!("done {at}"));
    None
}
$($task)* pub async fn cycles() -> Vec<Option<Vec<u64>>> { let mut out = vec![]; for g in [vec![vec![1, 2], vec![2], vec![]], vec![vec![1], vec![2, 3], vec![], vec![1]]] { let mut color = vec![0; g.len()]; let mut path = Vec::new(); out.push(dfs_cycle(&g, 0, &mut color, &mut path).await); log(format_args!("{}", path.len())); } out }
$($task)* pub async fn negamax(board: [u8; 4], depth: u32, mut alpha: i64, beta: i64, nodes: &mut u64) -> i64 {
    *nodes += 1;
    let _g = N(depth as u64);
    if depth == 0 { return leaf(board.iter().enumerate().map(|(i, b)| *b as i64 * if i % 2 == 0 { 1 } else { -1 }).sum::<i64>()).await; }
    let mut best = i64::MIN + 1;
    for i in 0..board.len() {
        if board[i] == 0 { continue }
        let mut next = board; next[i] -= 1; next.swap(i, 3 - i);
        let score = -Box::pin(negamax(next, depth - 1, -beta, -alpha, nodes)).await;
        if score > best { best = score; alpha = alpha.max(score); }
        if alpha >= beta { log("cut"); break; }
    }
    best
}
$($task)* pub async fn chess() -> (i64, u64) { let mut nodes = 0; let v = negamax([1, 2, 0, 1], 3, -100, 100, &mut nodes).await; (v, nodes) }
$($task)* pub async fn life<const W: usize, const H: usize>(mut g: Grid<W, H>, gens: usize) -> (Grid<W, H>, usize) {
    let mut alive = 0;
    for gen_no in 0..gens {
        let old = g.clone();
        let _tick = N(gen_no as u64);
        for y in 0..H { for x in 0..W {
            let mut n = 0;
            for (dx, dy) in [(W - 1, H - 1), (0, H - 1), (1, H - 1), (W - 1, 0), (1, 0), (W - 1, 1), (0, 1), (1, 1)] { n += old[((x + dx) % W, (y + dy) % H)]; }
            g[(x, y)] = match (old[(x, y)], n) { (1, 2 | 3) => 1, (0, 3) => { if x == 2 { wait().await; } 1 } _ => 0 };
        } }
        alive = leaf(g.0.iter().flatten().map(|c| *c as usize).sum()).await;
        if old == g { log("still"); break; }
    }
    (g, alive)
}
$($task)* pub async fn life_run() -> usize { let g = Grid([[0, 0, 0, 0], [0, 1, 1, 1], [0, 0, 0, 0], [0, 0, 0, 0]]); let (g, n) = life(g, 2).await; n + g.0.len() }
$($task)* pub async fn huffman(text: &'static str) -> String {
    let mut freq = BTreeMap::<char, u64>::new();
    for c in text.chars() { *freq.entry(c).or_default() += 1; }
    let mut nodes: Vec<(u64, Huff)> = freq.into_iter().map(|(c, n)| (n, Huff::Leaf(c, D("leaf")))).collect();
    while nodes.len() > 1 {
        nodes.sort_by(|a, b| b.0.cmp(&a.0));
        let (Some((na, a)), Some((nb, b))) = (nodes.pop(), nodes.pop()) else { return String::new() };
        let n = leaf(na + nb).await;
        nodes.push((n, Huff::Node(a.into(), b.into(), N(n))));
    }
    let Some((_, root)) = nodes.pop() else { return "empty".to_owned() };
    let mut codes = BTreeMap::new();
    let mut stack = vec![(root, String::new())];
    while let Some((node, code)) = stack.pop() {
        match node {
            Huff::Leaf(c, _) => { codes.insert(c, if code.is_empty() { "0".to_string() } else { code }); wait().await; }
            Huff::Node(l, r, n) => { stack.push((*r, code.clone() + "1")); log(format_args!("n {}", n.0)); stack.push((*l, code + "0")); wait().await; }
        }
    }
    text.chars().map(|c| codes[&c].as_str()).collect::<Vec<_>>().join(".")
}
pub struct Bank { accounts: BTreeMap<u32, i64>, journal: Vec<D>, locks: Vec<Lk<i64>> }
#[derive(Debug)] pub enum BankError { NoAccount(u32), Insufficient { need: i64, have: i64, receipt: D }, Frozen }
impl Bank {
    $($task)* async fn withdraw(&mut self, id: u32, amount: i64) -> Result<i64, BankError> {
        let balance = self.accounts.get_mut(&id).ok_or(BankError::NoAccount(id))?;
        if *balance < amount { let have = *balance; return Err(BankError::Insufficient { need: amount, have, receipt: leaf(d("receipt")).await }); }
        *balance -= leaf(amount).await;
        self.journal.push(d("withdraw"));
        Ok(self.accounts[&id])
    }
    $($task)* async fn transfer(&mut self, from: u32, to: u32, amount: i64) -> Result<(), BankError> {
        self.withdraw(from, amount).await?;
        let Some(dest) = self.accounts.get_mut(&to) else { let back = self.accounts.entry(from).or_default(); *back += amount; wait().await; self.journal.pop(); log("undone"); return Err(BankError::NoAccount(to)) };
        *dest += amount;
        if to == 9 { return Err(BankError::Frozen) }
        self.journal.push(leaf(d("deposit")).await);
        Ok(())
    }
    $($task)* async fn locked(&self, i: usize, j: usize) -> i64 {
        let (lo, hi) = if i < j { (i, j) } else { (j, i) };
        let mut a = self.locks[lo].lock();
        let mut b = self.locks[hi].lock();
        let (src, dst) = if i < j { (&mut a, &mut b) } else { (&mut b, &mut a) };
        let t = **src / 2;
        **src -= t;
        wait().await;
        **dst += t;
        drop(a);
        let r = *b;
        leaf(r).await
    }
}
$($task)* pub async fn bank_day() -> (Vec<String>, i64, usize) {
    let mut b = Bank { accounts: [(1, 100), (2, 50), (9, 0)].into(), journal: vec![], locks: vec![Lk::new("l0", 10), Lk::new("l1", 20)] };
    let mut errs = vec![];
    for (f, t, a) in [(1, 2, 30), (2, 1, 500), (1, 7, 5), (8, 1, 1), (2, 9, 3)] { if let Err(e) = b.transfer(f, t, a).await { errs.push(format!("{e:?}")); } }
    let x = b.locked(0, 1).await + b.locked(1, 0).await;
    let Bank { journal, mut locks, .. } = b;
    let n = journal.len();
    drop(journal);
    wait().await;
    let last = locks.pop().unwrap();
    (errs, x + *last.lock(), n)
}
$($task)* pub async fn token_bucket(reqs: &[u64]) -> Vec<bool> {
    struct Bucket { tokens: u64, cap: u64, last: u64, g: D }
    impl Bucket { fn refill(&mut self, now: u64) -> &mut Self { self.tokens = (self.tokens + (now - self.last)).min(self.cap); self.last = now; self } fn take(&mut self, n: u64) -> bool { match self.tokens.checked_sub(n) { Some(t) => { self.tokens = t; true } None => false } } }
    let mut b = Bucket { tokens: 2, cap: 3, last: 0, g: d("bucket") };
    let mut out = Vec::new();
    for (i, &at) in reqs.iter().enumerate() {
        let now = leaf(at).await;
        let ok = b.refill(now).take(1 + i as u64 % 2);
        if !ok && out.last() == Some(&false) { log("penalty"); b = Bucket { tokens: 0, g: leaf(d("fresh")).await, ..b }; }
        out.push(ok);
    }
    out
}
$($task)* pub async fn scheduler() -> Vec<String> {
    #[derive(PartialEq, Eq, PartialOrd, Ord)] struct Job { at: u64, id: u32 }
    let mut q = BTreeSet::from([Job { at: 3, id: 1 }, Job { at: 1, id: 2 }]);
    let mut payload: BTreeMap<u32, D> = BTreeMap::from([(1, d("one")), (2, d("two"))]);
    let mut log_ = vec![]; let mut clock = 0;
    while let Some(Job { at, id }) = q.pop_first() {
        if at > clock { let skip = N(at - clock); clock = leaf(at).await; }
        let Some(p) = payload.remove(&id) else { log_.push(format!("ghost {id}")); continue };
        log_.push(format!("{clock}:{}", p.name()));
        match id { 2 => { q.insert(Job { at: clock + 5, id: 3 }); q.insert(Job { at: clock + 1, id: 4 }); payload.insert(3, leaf(p).await); } 3 => break, _ => wait().await }
        log("next");
    }
    log_
}
$($task)* pub async fn inventory() -> Res<BTreeMap<String, u64>> {
    let mut stock: BTreeMap<String, u64> = BTreeMap::new();
    let orders = ["apple 3", "pear 2", "apple -1", "kiwi x", "pear 5"];
    for (line, o) in orders.iter().enumerate().map(|(i, o)| (i + 1, o)) {
        let guard = defer(move || log(format_args!("line {line}")));
        let Some((item, qty)) = o.split_once(' ') else { continue };
        let (neg, qty) = match qty.strip_prefix('-') { Some(q) => (true, q), None => (false, qty) };
        let n = match qty.parse::<u64>() { Ok(n) => leaf(n).await, Err(_) if line < 10 => { wait().await; continue } Err(e) => return Err(e.into()) };
        let slot = stock.entry(item.to_owned()).or_insert_with(|| { log("new"); 0 });
        *slot = if neg { slot.checked_sub(n).ok_or(Error::Incomplete)? } else { *slot + n };
        if *slot > 5 { let extra = *slot - 5; *slot = 5; drop(guard); leaf(extra).await; }
    }
    Ok(stock)
}
$($task)* pub async fn diff(a: &[&str], b: &[&str]) -> Vec<String> {
    let (n, m) = (a.len(), b.len());
    let mut t = vec![vec![0u32; m + 1]; n + 1];
    for i in (0..n).rev() { for j in (0..m).rev() { t[i][j] = if a[i] == b[j] { t[i + 1][j + 1] + 1 } else { t[i + 1][j].max(t[i][j + 1]) }; } leaf(i).await; }
    let (mut i, mut j) = (0, 0); let mut out = vec![]; let hunk = &mut Some(d("hunk"));
    while i < n || j < m {
        if i < n && j < m && a[i] == b[j] { if let Some(h) = hunk.take() { wait().await; log(h.name()); } i += 1; j += 1; }
        else if j < m && (i == n || t[i][j + 1] >= t[i + 1][j]) { out.push(format!("+{}", leaf(b[j]).await)); j += 1; }
        else { out.push(format!("-{}", a[i])); i += 1; hunk.get_or_insert_with(|| d("again")); }
    }
    out
}
$($task)* pub async fn wrap_text(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![]; let mut cur = String::new();
    for word in text.split_whitespace() {
        if !cur.is_empty() && cur.len() + 1 + word.len() > width { lines.push(std::mem::take(&mut cur)); wait().await; }
        let mut word = word;
        while word.len() > width { let (head, tail) = word.split_at(width); lines.push(leaf(head).await.to_string()); word = tail; }
        if !cur.is_empty() { cur.push(' '); }
        cur += word;
    }
    if let last @ 1.. = cur.len() { log(last); lines.push(cur); }
    leaf(lines).await
}
$($task)* pub async fn matmul<const N_: usize>(a: [[f64; N_]; N_], b: &[[f64; N_]; N_]) -> [[f64; N_]; N_] {
    let mut c = [[0.0; N_]; N_];
    for (i, row) in a.iter().enumerate() { for j in 0..N_ { let s: f64 = row.iter().zip(b.iter()).map(|(x, br)| x * br[j]).sum(); c[i][j] += leaf(s).await; } }
    c
}
$($task)* pub async fn matpow(mut n: u32) -> f64 { let mut base = [[1.0, 1.0], [1.0, 0.0]]; let mut acc = [[1.0, 0.0], [0.0, 1.0]]; let g = d("pow"); while n > 0 { if n & 1 == 1 { acc = matmul(acc, &base).await; } let sq = base; base = matmul(base, &sq).await; n >>= 1; } acc[0][1] }
$($task)* pub async fn nbody(steps: usize) -> i64 {
    #[derive(Clone, Copy, Default)] struct Body { p: [f64; 2], v: [f64; 2], m: f64 }
    let mut bs = [Body { m: 10.0, ..Default::default() }, Body { p: [1.0, 0.0], v: [0.0, 3.0], m: 0.1 }, Body { p: [0.0, 2.0], v: [2.0, 0.0], m: 0.2 }];
    for s in 0..steps {
        let _step = N(s as u64);
        for i in 0..bs.len() {
            let (left, right) = bs.split_at_mut(i);
            let Some((me, rest)) = right.split_first_mut() else { break };
            for o in left.iter().chain(rest.iter()) { let dx = [o.p[0] - me.p[0], o.p[1] - me.p[1]]; let r2 = dx[0] * dx[0] + dx[1] * dx[1] + 0.01; let f = leaf(o.m / (r2 * r2.sqrt())).await; for k in 0..2 { me.v[k] += f * dx[k] * 0.01; } }
        }
        bs.iter_mut().for_each(|b| for k in 0..2 { b.p[k] += b.v[k] * 0.01; });
    }
    (bs.iter().map(|b| 0.5 * b.m * (b.v[0].powi(2) + b.v[1].powi(2))).sum::<f64>() * 1e6) as i64
}
$($task)* pub async fn game_loop() -> (u64, Vec<String>) {
    #[derive(Debug)] enum Ev { Key(char), Tick(u64), Resize { w: u64, h: u64 }, Quit }
    #[derive(Debug)] enum Scene { Menu { g: D }, Play { score: u64, lives: u8, g: N }, Over(u64) }
    let mut scene = Scene::Menu { g: d("menu") };
    let mut trace = vec![];
    let mut evs = vec![Ev::Quit, Ev::Tick(9), Ev::Key('q'), Ev::Tick(40), Ev::Resize { w: 3, h: 4 }, Ev::Tick(5), Ev::Key('p'), Ev::Tick(1)];
    let score = loop {
        let Some(ev) = evs.pop() else { break 0 };
        scene = match (scene, ev) {
            (Scene::Menu { .. }, Ev::Key('p')) => Scene::Play { score: 0, lives: 2, g: leaf(N(77)).await },
            (Scene::Play { score, lives, g }, Ev::Tick(n)) if n < 20 => { wait().await; Scene::Play { score: score + n, lives, g } }
            (Scene::Play { score, lives: 1, .. }, Ev::Tick(_)) => Scene::Over(score),
            (Scene::Play { score, lives, g: old }, Ev::Tick(n)) => { let g = N(old.0 + n); drop(old); wait().await; Scene::Play { score, lives: lives - 1, g } }
            (Scene::Over(s), Ev::Quit) => break s,
            (Scene::Play { score, .. }, Ev::Key('q')) => { log("quit?"); Scene::Over(leaf(score).await) }
            (s, Ev::Resize { w, h }) => { trace.push(format!("{}", leaf(w * h).await)); s }
            (s, ev) => { trace.push(format!("{ev:?}")); s }
        };
        log(format_args!("{scene:?}"));
    };
    (score, trace)
}
} }
programs! {
    owned eval_all();
    owned fold_all();
    owned pratt();
    owned stmts("a=1+2, b=a+a, c=skip, d=a+zz");
    owned lru_work();
    owned memo_entry(&[3, 10, 3, 10, 10]);
    owned dijkstra(4, vec![(0, 1, 4), (0, 2, 1), (2, 1, 2), (1, 3, 5)]);
    owned topo([("a", vec![]), ("b", vec!["a"]), ("c", vec!["a", "b"]), ("x", vec!["y"]), ("y", vec!["x"])].into());
    owned cycles();
    owned chess();
    owned life_run();
    owned huffman("abracad");
    owned bank_day();
    owned token_bucket(&[0, 1, 1, 1, 2, 9]);
    owned scheduler();
    owned inventory();
    owned diff(&["a", "b", "c", "d"], &["a", "c", "x", "d"]);
    owned wrap_text("a bb ccc dddddddd e", 4);
    owned matpow(5);
    owned nbody(2);
    owned game_loop();
}
