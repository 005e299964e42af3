//! Parsers, tokenizers, interpreters, state machines.

use super::common::*;
use crate::guesses::kit::*;
use crate::harness::*;
use std::borrow::Cow;
use std::collections::*;
use std::fmt::{self, Debug, Display, Write as _};
use std::sync::{Arc, Mutex, atomic::*};

#[derive(Debug, Clone, PartialEq)]
pub enum Tok2 {
    N(i64),
    O(char),
}

macro_rules! bodies { ($($task:tt)*) => {
$($task)* pub async fn read_n(n: u64) -> Result<N, Error> { point(); if n > 90 { wait().await; Err(Error::Timeout { after: n }) } else { Ok(leaf(N(n)).await) } }
$($task)* pub async fn maybe(n: u64) -> Option<N> { if n % 3 == 0 { None } else { Some(leaf(N(n)).await) } }
#[derive(Debug, Clone, PartialEq)] pub enum Tok { Num(i64), Op(char), Open, Close, Ident(String), End }
#[derive(Debug)] pub enum Expr { Lit(i64), Var(String), Neg(Box<Expr>), Bin { op: char, l: Box<Expr>, r: Box<Expr> }, Let(String, Box<Expr>, Box<Expr>), Call(Vec<Expr>) }
pub fn lit(n: i64) -> Box<Expr> { Box::new(Expr::Lit(n)) }
pub fn bin(op: char, l: Box<Expr>, r: Box<Expr>) -> Box<Expr> { Box::new(Expr::Bin { op, l, r }) }

$($task)*
pub async fn tokenizer(src: &'static str) -> Result<Vec<Tok>, Error> {
    let mut chars = src.chars().peekable();
    let mut out = Vec::new();
    loop {
        let Some(&c) = chars.peek() else { out.push(leaf(Tok::End).await); break };
        match c {
            c if c.is_whitespace() => { chars.next(); }
            '0'..='9' => { let mut n = 0; while let Some(k) = chars.peek().and_then(|c| c.to_digit(10)) { n = n * 10 + i64::from(k); chars.next(); } out.push(Tok::Num(leaf(n).await)); }
            '+' | '-' | '*' | '/' => { chars.next(); out.push(Tok::Op(c)); wait().await; }
            '(' => { chars.next(); out.push(Tok::Open) }
            ')' => { chars.next(); out.push(Tok::Close) }
            c if c.is_alphabetic() => { let mut s = String::new(); while let Some(c) = chars.next_if(|c| c.is_alphanumeric()) { s.push(c); } out.push(Tok::Ident(leaf(s).await)); }
            other => return Err(Error::Parse(other.to_string())),
        }
    }
    Ok(out)
}
$($task)*
pub async fn shunting(toks: Vec<Tok2>) -> i64 {
    let prec = |c: char| match c { '+' | '-' => 1, '*' => 2, _ => 0 };
    let (mut vals, mut ops): (Vec<i64>, Vec<char>) = (vec![], vec![]);
    let _g = d("shunting");
    for t in toks.into_iter().chain(std::iter::once(Tok2::O('$'))) {
        match t {
            Tok2::N(n) => vals.push(leaf(n).await),
            Tok2::O(c) => {
                while let Some(&top) = ops.last() {
                    if prec(top) < prec(c) { break; }
                    ops.pop();
                    let (b, a) = (vals.pop().unwrap(), vals.pop().unwrap());
                    vals.push(match top { '+' => leaf(a + b).await, '-' => a - b, '*' => a * leaf(b).await, _ => unreachable!("on purpose {top}") });
                }
                ops.push(c);
            }
        }
    }
    vals.pop().unwrap_or_default()
}
$($task)*
pub async fn eval_stack() -> Result<i64, Error> {
    enum Op { Push(i64), Add, Dup, Jz(usize), Jmp(usize), Halt }
    let prog = [Op::Push(3), Op::Dup, Op::Jz(6), Op::Push(-1), Op::Add, Op::Jmp(1), Op::Push(7), Op::Add, Op::Halt];
    let mut st: Vec<i64> = Vec::new();
    let mut pc = 0usize;
    let mut steps = 0;
    loop {
        steps += 1;
        if steps > 40 { return Err(Error::Timeout { after: steps }); }
        let op = prog.get(pc).ok_or(Error::Conflict)?;
        pc += 1;
        match op {
            Op::Push(n) => st.push(*n),
            Op::Add => { let (Some(a), Some(b)) = (st.pop(), st.pop()) else { return Err(Error::Parse(format!("pc {pc}"))) }; st.push(leaf(a + b).await); }
            Op::Dup => { let t = *st.last().ok_or_else(|| Error::NotFound("top".into()))?; st.push(t); }
            Op::Jz(to) => if st.last() == Some(&0) { wait().await; pc = *to; },
            &Op::Jmp(to) => pc = to,
            Op::Halt => break,
        }
    }
    Ok(st.iter().sum())
}
$($task)*
pub async fn eval_tree() -> Option<i64> {
    #[cfg(any())] fn no() {}
    let e = bin('+', lit(2), bin('*', Box::new(Expr::Neg(lit(3))), lit(4)));
    let mut work = vec![(e, false)];
    let mut vals: Vec<i64> = vec![];
    while let Some((e, ready)) = work.pop() {
        match *e {
            Expr::Lit(n) => vals.push(leaf(n).await),
            Expr::Neg(inner) if !ready => { work.push((Box::new(Expr::Neg(lit(0))), true)); work.push((inner, false)); }
            Expr::Neg(_) => { let v = vals.pop()?; vals.push(-v); }
            Expr::Bin { op, l, r } if !ready => { work.push((bin(op, lit(0), lit(0)), true)); work.push((r, false)); work.push((l, false)); }
            Expr::Bin { op, .. } => { let r = vals.pop()?; let l = vals.pop()?; vals.push(match op { '+' => leaf(l).await + r, '*' => l * leaf(r).await, _ => return None }); }
            Expr::Var(name) => { log(name); return None; }
            Expr::Let(..) | Expr::Call(_) => unimplemented!(),
        }
    }
    vals.pop()
}
$($task)*
pub async fn queue_worker() -> (usize, Vec<String>) {
    enum Msg { Add(N), Get { key: usize, reply: D }, Flush, Stop }
    let mut inbox: VecDeque<Msg> = [Msg::Add(N(1)), Msg::Get { key: 0, reply: d("r1") }, Msg::Flush, Msg::Get { key: 4, reply: d("r2") }, Msg::Add(N(2)), Msg::Stop, Msg::Flush].into();
    let mut state = vec![];
    let mut out = Vec::new();
    while let Some(msg) = inbox.pop_front() {
        match msg {
            Msg::Add(n) => state.push(leaf(n).await),
            Msg::Get { key, reply } => match state.get(key) {
                Some(n) => { let v = n.0; wait().await; out.push(format!("{} {}", reply.name(), v)); }
                None => { drop(reply); out.push(leaf("none".to_owned()).await) }
            },
            Msg::Flush => { let old = std::mem::take(&mut state); wait().await; log(old.len()); }
            Msg::Stop => break,
        }
        log("next");
    }
    (inbox.len(), out)
}
$($task)*
pub async fn state_machine_conn() -> Result<Vec<&'static str>, Error> {
    enum State { Idle, Connecting { tries: u32, guard: D }, Open(Span), Closed }
    let mut trace = vec![];
    let mut st = State::Idle;
    loop {
        st = match st {
            State::Idle => { trace.push("idle"); State::Connecting { tries: 0, guard: d("sock") } }
            State::Connecting { tries: 2.., guard } => { trace.push("give up"); drop(guard); return Err(Error::Timeout { after: 2 }) }
            State::Connecting { tries, guard } => {
                trace.push("connecting");
                if read_n(91 - u64::from(tries)).await.is_ok() { State::Open(span("open").with(guard.len())) } else { State::Connecting { tries: tries + 1, guard } }
            }
            State::Open(mut s) => { s.record(leaf(1).await); if s.total() > 5 { State::Closed } else { State::Open(s) } }
            State::Closed => break,
        }
    }
    Ok(trace)
}
$($task)*
pub async fn pipeline_and_then() -> Result<u64, Error> {
    let a = read_n(1).await.map(|n| n.0 + 1).and_then(|n| n.checked_sub(1).ok_or(Error::Conflict))?;
    let b = maybe(2).await.map_or_else(|| 0, |n| n.0) + maybe(3).await.map_or(7, |n| n.val());
    let c = maybe(a + 3).await.as_ref().map(|n| n.0).unwrap_or(b);
    let e = read_n(99).await.err().ok_or(Error::Conflict)?;
    let f = match (maybe(1).await, maybe(6).await) { (Some(x), None) => x.0, (None, Some(y)) => y.0 + 100, (Some(x), Some(y)) => x.0 * y.0, (None, None) => 0 };
    let Error::Timeout { after } = e else { return Err(e) };
    Ok(a + b + c + after + f)
}
$($task)*
pub async fn guards_temp_in_args() -> u64 {
    let a = two(span("l").with(1).total(), leaf(2).await);
    let b = two(leaf(d("t").len()).await, span("r").with(leaf(4).await).total());
    let c = leaf(span("x").child("y").with(3).total() + a).await;
    let r = two(two(leaf(N(1)).await.0, leaf(N(2)).await.val()), leaf(N(3)).await.0);
    log("end");
    a + b + c + r
}
$($task)*
pub async fn match_on_temp() -> u64 {
    let r = match leaf(span("m")).await.with(2).total() { 2 => leaf(10).await, n => n };
    log("after match");
    let q = if leaf(d("cond")).await.len() > 3 { wait().await; log("then"); 1 } else { 2 };
    let w = match maybe(4).await { Some(ref n) if leaf(n.0).await > 9 => 1, Some(n) => { let k = n.0; wait().await; k } None => 3 };
    let mut i = 0;
    while leaf(N(i)).await.0 < 2 { i += 1; log("iter"); wait().await; }
    r + q + w + i
}
$($task)*
pub async fn if_let_chain_else(n: u64) -> String {
    let _g = d("g");
    let s = if let Some(a) = maybe(n * 3).await { format!("a{}", a.0) }
    else if let Ok(b) = read_n(n).await && b.0 == 4 { "four".to_string() }
    else if let (Some(x), y) = (maybe(n).await, leaf(N(30)).await) && x.0 < y.0 { log("in"); format!("{}{}", x.0, leaf(y.0).await) }
    else { leaf("else".into()).await };
    log("out");
    s
}
$($task)*
pub async fn let_else_chain(n: u64) -> Result<u64, Error> {
    let Some(a) = maybe(n).await else { return Err(Error::NotFound("a".into())) };
    let Ok(b) = read_n(a.0 + 1).await else { log("b"); return Ok(0) };
    let (Some(c), e) = (maybe(b.0 + 2).await, leaf(d("e")).await) else { return Err(Error::Conflict) };
    let [x, y] = [leaf(1).await, c.0];
    let Some(_) = maybe(9).await else { wait().await; log("leave"); return Ok(x + y + e.len()) };
    Ok(a.0 + b.0)
}
$($task)*
pub async fn labelled_search(grid: Vec<Vec<u64>>) -> Option<(usize, usize, u64)> {
    let mut best = None;
    'outer: for (y, row) in grid.into_iter().enumerate() {
        let g = N(y as u64);
        let mut x = 0;
        for v in row {
            if v == 40 { break 'outer; }
            if leaf(v).await % 2 == 1 { x += 1; continue; }
            if best.is_none_or(|(_, _, b)| b < v) { best = Some((x, y, v)); continue 'outer; }
        }
        drop(g);
        log("row done");
    }
    let (x, y, v) = best?;
    Some((x, y, leaf(v).await))
}
$($task)*
pub async fn labelled_block(n: u64) -> u64 {
    let g = d("g");
    let v = 'found: {
        let h = d("h");
        if n == 1 { break 'found 1; }
        let k = leaf(n).await;
        if k == 3 { let i = N(k); break 'found leaf(i.0).await; }
        wait().await;
        h.len()
    };
    log("block");
    v + g.len()
}
$($task)*
pub async fn topo_sort() -> Result<Vec<u32>, Error> {
    let edges = [(1u32, 2u32), (1, 3), (3, 4), (2, 4)];
    let mut indeg: BTreeMap<u32, usize> = BTreeMap::new();
    let mut adj: HashMap<u32, Vec<u32>> = HashMap::new();
    for &(a, b) in &edges { *indeg.entry(b).or_default() += 1; indeg.entry(a).or_insert(0); adj.entry(a).or_insert_with(Vec::new).push(b); }
    let mut ready: VecDeque<_> = indeg.iter().filter(|&(_, &n)| n == 0).map(|(&k, _)| k).collect();
    let mut order = Vec::with_capacity(indeg.len());
    while let Some(n) = ready.pop_front() {
        order.push(leaf(n).await);
        for m in adj.remove(&n).unwrap_or_default() {
            let Some(k) = indeg.get_mut(&m) else { continue };
            *k -= 1;
            if *k == 0 { wait().await; ready.push_back(m); }
        }
    }
    if order.len() == indeg.len() { Ok(order) } else { Err(Error::Conflict) }
}
$($task)*
pub async fn flood_fill() -> String {
    let mut grid: Vec<Vec<char>> = ["..#", ".#.", "..."].iter().map(|r| r.chars().collect()).collect();
    let mut stack = vec![(0usize, 0usize)];
    let mut n = 0u32;
    while let Some((r, c)) = stack.pop() {
        let Some(cell) = grid.get_mut(r).and_then(|row| row.get_mut(c)) else { continue };
        if *cell != '.' { continue; }
        *cell = char::from_digit(n % 10, 10).unwrap();
        n = leaf(n + 1).await;
        if r > 0 { stack.push((r - 1, c)); }
        if let Some(l) = c.checked_sub(1) { stack.push((r, l)); }
        stack.extend([(r + 1, c), (r, c + 1)]);
    }
    grid.iter().map(|r| r.iter().collect::<String>()).collect::<Vec<_>>().join("/")
}
$($task)*
pub async fn tree_visit() -> (u64, Vec<&'static str>) {
    struct Node { name: D, kids: Vec<Node> }
    fn node(n: &'static str, kids: Vec<Node>) -> Node { Node { name: d(n), kids } }
    let root = node("root", vec![node("a", vec![node("aa", vec![])]), node("b", vec![])]);
    let mut todo = vec![(root, 0u64)];
    let mut names = vec![];
    let mut sum = 0;
    while let Some((Node { name, kids }, depth)) = todo.pop() {
        names.push(name.0);
        sum += leaf(depth * 10 + kids.len() as u64).await;
        todo.extend(kids.into_iter().rev().map(|k| (k, depth + 1)));
        log("visited");
    }
    (sum, names)
}
$($task)*
pub async fn fold_zip_sort() -> Vec<(u64, &'static str)> {
    let names = ["b", "ccc", "aa"];
    let mut scored: Vec<(u64, &str)> = Vec::new();
    for (i, n) in names.iter().copied().zip(1u64..).map(|(n, i)| (i, n)) { scored.push((leaf(i * n.len() as u64).await, n)); }
    scored.sort_by_key(|&(s, n)| (std::cmp::Reverse(s), n));
    let top = scored.iter().fold(0, |a, (s, _)| a.max(*s));
    wait().await;
    scored.retain(|(s, _)| *s <= top);
    if let Some(last) = scored.last_mut() { last.0 += 1; }
    leaf(scored).await
}
$($task)*
pub async fn swap_replace() -> u64 {
    let mut cur = d("one");
    let mut prev = None::<D>;
    for name in ["two", "three"] {
        let old = std::mem::replace(&mut cur, leaf(d(name)).await);
        if let Some(p) = prev.replace(old) { log(format!("evict {}", p.0)); wait().await; }
        log("turn");
    }
    std::mem::swap(&mut cur, prev.get_or_insert_with(|| D("none")));
    cur = leaf(d("last")).await;
    log("assigned");
    wait().await;
    cur.len() + prev.take().map_or(0, |p| p.len())
}
$($task)*
pub async fn assign_fields() -> u64 {
    let mut f = fields("x", "y");
    f.x = leaf(d("x2")).await;
    log("x");
    f.n += leaf(2).await;
    let y = f.y;
    wait().await;
    f.y = d("y2");
    f.n *= leaf(y.len()).await;
    let Fields { x, n, .. } = f;
    wait().await;
    log("split");
    drop(x);
    n
}
$($task)*
pub async fn tuple_destructure() -> u64 {
    let (a, (b, _), [c, .., e]) = (d("a"), (leaf(d("b")).await, d("ignored")), [leaf(d("c")).await, d("m1"), d("e")]);
    log("bound");
    let (mut x, mut y) = (1, leaf(2).await);
    (x, y) = (y, leaf(x).await + 5);
    (x, _) = (leaf(x * 2).await, d("gone"));
    log("reassigned");
    x * 100 + y + a.len() + b.len() + c.len() + e.len()
}
$($task)*
pub async fn late_init(c: bool) -> u64 {
    let x;
    let y: D;
    if c { x = leaf(d("x1")).await; y = d("y"); } else { x = d("x2"); y = leaf(d("yy")).await; }
    let z;
    loop { wait().await; if x.len() > 0 { z = N(leaf(4).await); break; } }
    log("init");
    drop(x);
    z.0 + y.len()
}
$($task)*
pub async fn cond_move(n: u64) -> usize {
    let g = d("g");
    let h = d("h");
    let mut kept = Vec::new();
    if leaf(n).await > 2 { kept.push(g); } else { wait().await; }
    log("maybe moved");
    match n { 3 => { let k = h; leaf(k.len()).await; } 4 => kept.push(h), _ => {} }
    log("end");
    wait().await;
    kept.len()
}
$($task)*
pub async fn entry_values() -> BTreeMap<String, Vec<u64>> {
    let mut m = BTreeMap::<String, Vec<u64>>::new();
    for line in "a=1;b=2;a=3;bad;c=x".split(';') {
        let Some((k, v)) = line.split_once('=') else { log(format_args!("skip {line}")); continue };
        let v = match v.parse::<u64>() { Ok(v) => v, Err(_) => { wait().await; continue } };
        m.entry(k.to_owned()).or_default().push(leaf(v).await);
    }
    m.entry("z".into()).and_modify(|v| v.push(1)).or_insert(vec![leaf(9).await]);
    m
}
$($task)*
pub async fn arg_guard_param(_p: D, mut list: Vec<N>) -> u64 {
    let first = list.remove(0);
    let n = leaf(first.0).await;
    list.push(N(7));
    let last = list.pop().unwrap();
    drop(first);
    let total = list.iter().map(N::val).sum::<u64>() + leaf(last.0).await;
    list.clear();
    log("cleared");
    wait().await;
    total + n
}
$($task)*
pub async fn pat_params((a, _): (D, D), [x, y]: [u64; 2], Fields { y: fy, n, .. }: Fields) -> u64 {
    let k = leaf(x + y).await;
    if k == 3 { drop(a); wait().await; log("a gone"); }
    leaf(fy.len() + n).await + k
}
$($task)*
pub async fn impl_args() -> String {
    $($task)* async fn total(items: impl IntoIterator<Item = u64, IntoIter: Send> + Send, f: impl Fn(u64) -> u64 + Send) -> u64 { let mut t = 0; for i in items { t += leaf(f(i)).await; } t }
    $($task)* async fn named<S: Into<String> + Send, const K: usize>(s: S) -> String where S: Clone { let mut o = String::new(); for _ in 0..K { o += &leaf(s.clone()).await.into(); } o }
    let k = N(3);
    let a = total(vec![1, 2], |x| x * 2).await;
    let b = total([5; 2].into_iter().map(|n| n + 1), move |x| x + k.0).await;
    log("k gone");
    format!("{a} {b} {}", named::<_, 2>("ab").await)
}
$($task)*
pub async fn visitor_trait() -> u64 {
    trait Visit { fn enter(&mut self, n: u64) -> bool; fn leave(&mut self) {} }
    struct Count { n: u64, g: D }
    impl Visit for Count { fn enter(&mut self, n: u64) -> bool { self.n += n; log(self.g.name()); n < 3 } fn leave(&mut self) { self.n *= 2 } }
    let mut v: Box<dyn Visit + Send> = Box::new(Count { n: 0, g: d("visitor") });
    let mut c = Count { n: leaf(1).await, g: d("direct") };
    for i in 0..4 { if !v.enter(leaf(i).await) { v.leave(); break; } c.enter(i); }
    wait().await;
    drop(v);
    c.leave();
    leaf(c.n).await
}
$($task)*
pub async fn builder_chain() -> (String, u64) {
    #[derive(Default)] struct B { name: String, retries: Option<u64>, tags: Vec<&'static str>, g: Option<D> }
    impl B { fn name(mut self, n: impl Into<String>) -> Self { self.name = n.into(); self } fn retries(self, n: u64) -> Self { B { retries: Some(n), ..self } } fn tag(mut self, t: &'static str) -> Self { self.tags.push(t); self } fn guard(mut self, g: D) -> Self { log("guard set"); self.g = Some(g); self } fn build(self) -> Result<(String, u64), Error> { let n = self.retries.ok_or(Error::Conflict)?; Ok((format!("{}{:?}", self.name, self.tags), n)) } }
    let r = B::default().name("x").guard(leaf(d("g1")).await).retries(leaf(3).await).tag(leaf("t").await).guard(d("g2")).build();
    log("built");
    let e = B::default().tag("u").guard(leaf(d("g3")).await).build().unwrap_or_else(|e| (e.to_string(), 0));
    let (a, b) = r.unwrap();
    (a + &leaf(e.0).await, b + e.1)
}
$($task)*
pub async fn scope_blocks() -> u64 {
    let n = { let a = d("a"); let b = d("b"); let t = leaf(a.len()).await; drop(b); wait().await; t + 1 };
    log("one");
    { let _ = d("ignored"); let _keep = d("keep"); wait().await; }
    let m = { let _g = span("tail"); leaf(n).await };
    log("two");
    let k = { let _u = d("inner"); leaf(m).await };
    { wait().await } ;
    k + { let z = N(1); z.0 }
}
$($task)*
pub async fn range_loops() -> Vec<u64> {
    let mut v = vec![0u64; 4];
    for i in (0..leaf(4usize).await).rev().step_by(2) { v[i] = leaf(i as u64).await; }
    for (a, b) in (1..3).zip(leaf(vec![N(4), N(5)]).await) { v[a] += b.0; wait().await; }
    for x in v.iter_mut() { *x += 1; }
    let mut i = 0;
    while i < v.len() && leaf(v[i]).await != 6 { i += 1; }
    v.swap(0, i);
    let s = v[1..3].iter().copied().max().unwrap();
    v.push(leaf(s).await);
    v
}
$($task)*
pub async fn slices_static(v: &'static [u64]) -> u64 {
    let (head, tail) = match v { [] => return 0, [h, t @ ..] => (*h, t) };
    let mut acc = leaf(head).await;
    for &t in tail { if t == 2 { acc *= leaf(t).await } else { acc -= t } }
    let s = match tail { [a, b] if leaf(*a).await < *b => b - a, [.., z] => *z, [] => 0 };
    let i = v.binary_search_by(|p| p.cmp(&3).reverse()).unwrap_or_else(|i| i);
    acc + s + leaf(i as u64).await
}
$($task)*
pub async fn text_lines(src: &'static str) -> Result<Vec<(String, u32)>, Error> {
    let mut out = vec![];
    for (no, line) in src.lines().enumerate().map(|(i, l)| (i + 1, l.trim())) {
        if line.is_empty() || line.starts_with('#') { continue; }
        let _s = span("line");
        let mut parts = line.split_whitespace();
        let (verb, path) = parts.next().zip(parts.next()).ok_or_else(|| Error::Parse(format!("line {no}")))?;
        let n = match parts.next().map(str::parse::<u32>) { Some(Ok(n)) => n, Some(Err(e)) => return Err(e.into()), None if verb == "PUT" => leaf(no as u32).await, None => 0 };
        out.push((leaf(path.trim_start_matches('/').to_uppercase()).await, n));
    }
    Ok(out)
}
} }

programs! {
    owned tokenizer("12 +(x1*3)");
    owned shunting(vec![Tok2::N(1), Tok2::O('+'), Tok2::N(2), Tok2::O('*'), Tok2::N(3)]);
    owned eval_stack();
    owned eval_tree();
    owned queue_worker();
    owned state_machine_conn();
    owned pipeline_and_then();
    owned guards_temp_in_args();
    owned match_on_temp();
    owned if_let_chain_else(5);
    owned let_else_chain(2);
    owned labelled_search(vec![vec![1, 2], vec![], vec![3, 40, 5]]);
    owned labelled_block(3);
    owned topo_sort();
    owned flood_fill();
    owned tree_visit();
    owned fold_zip_sort();
    owned swap_replace();
    owned assign_fields();
    owned tuple_destructure();
    owned late_init(true);
    owned cond_move(3);
    owned entry_values();
    owned arg_guard_param(D("p"), vec![N(1), N(2)]);
    owned pat_params((D("a"), D("b")), [1, 2], Fields { x: D("fx"), y: D("fy"), n: 1 });
    owned impl_args();
    owned visitor_trait();
    owned builder_chain();
    owned scope_blocks();
    owned range_loops();
    owned slices_static(&[3, 1, 2]);
    owned text_lines("GET /a 1\n\n# c\nPUT /b");
}
