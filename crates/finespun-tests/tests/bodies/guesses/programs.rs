//! Ordinary programs: parsers, searches, builders, state machines, matrices.

use super::kit::*;
use crate::harness::*;
use std::borrow::Cow;
use std::cell::*;
use std::cmp::Reverse;
use std::collections::hash_map::Entry;
use std::collections::*;
use std::sync::{Arc, Mutex, RwLock};

#[derive(Debug, Clone, PartialEq)]
pub enum Json {
    Null,
    Num(u64),
    Str(String),
    List(Vec<Json>),
}
#[derive(Debug)]
pub enum PErr {
    Eof,
    Bad(usize, u8),
    Num(std::num::ParseIntError),
}
impl From<std::num::ParseIntError> for PErr {
    fn from(e: std::num::ParseIntError) -> PErr {
        PErr::Num(e)
    }
}
pub struct Parser {
    pub s: Vec<u8>,
    pub at: usize,
    pub depth: u64,
    pub trace: D,
}
impl Parser {
    pub fn peek(&self) -> Option<u8> {
        self.s.get(self.at).copied()
    }
    pub fn bump(&mut self) -> Result<u8, PErr> {
        let c = self.peek().ok_or(PErr::Eof)?;
        self.at += 1;
        Ok(c)
    }
}
pub fn parser(s: &str) -> Parser {
    Parser { s: s.as_bytes().to_vec(), at: 0, depth: 0, trace: D("parser") }
}
#[derive(Debug, Default)]
pub enum St {
    #[default]
    Idle,
    Running {
        job: Option<N>,
        left: u64,
    },
    Done(Vec<u64>),
}
pub trait Shape: Send + Sync {
    fn area(&self) -> u64;
    fn grow(&mut self, by: u64);
    fn name(&self) -> Cow<'static, str> {
        Cow::Borrowed("shape")
    }
}
pub struct Sq(pub u64, pub D);
impl Shape for Sq {
    fn area(&self) -> u64 {
        self.0 * self.0
    }
    fn grow(&mut self, by: u64) {
        self.0 += by;
    }
}
pub struct Ln(pub u64);
impl Shape for Ln {
    fn area(&self) -> u64 {
        0
    }
    fn grow(&mut self, by: u64) {
        self.0 *= by;
    }
    fn name(&self) -> Cow<'static, str> {
        Cow::Owned(format!("line{}", self.0))
    }
}
#[derive(Default)]
pub struct Soa {
    pub x: Vec<u64>,
    pub y: Vec<u64>,
    pub tag: Vec<Option<D>>,
}
pub struct Mx {
    pub w: usize,
    pub d: Vec<u64>,
}
impl std::ops::Index<(usize, usize)> for Mx {
    type Output = u64;
    fn index(&self, (r, c): (usize, usize)) -> &u64 {
        &self.d[r * self.w + c]
    }
}
impl std::ops::IndexMut<(usize, usize)> for Mx {
    fn index_mut(&mut self, (r, c): (usize, usize)) -> &mut u64 {
        &mut self.d[r * self.w + c]
    }
}
pub struct Req {
    pub url: String,
    pub headers: Vec<(String, String)>,
    pub body: Option<D>,
}
impl Req {
    pub fn new(u: &str) -> Req {
        Req { url: u.into(), headers: vec![], body: None }
    }
    pub fn header(mut self, k: &str, v: impl Into<String>) -> Req {
        self.headers.push((k.to_string(), v.into()));
        self
    }
    pub fn body(mut self, d: D) -> Req {
        self.body = Some(d);
        self
    }
    pub fn send(self) -> Result<u64, String> {
        if self.url.is_empty() { Err("url".into()) } else { Ok(self.headers.len() as u64) }
    }
}

corpus! {
    fn parse_list(src: String) -> Result<Vec<Json>, PErr> { let mut p = parser(&src); let mut out = Vec::new(); loop { match p.peek() { None => break, Some(b' ' | b',') => { p.bump()?; } Some(b'[') => { p.depth += 1; p.bump()?; wait().await; } Some(b']') => { p.depth -= 1; p.bump()?; if p.depth == 0 { break } } Some(c @ b'0'..=b'9') => { let start = p.at; while matches!(p.peek(), Some(b'0'..=b'9')) { p.bump()?; } let text = String::from_utf8_lossy(&p.s[start..p.at]).into_owned(); let n: u64 = text.parse()?; out.push(Json::Num(leaf(n).await + u64::from(c - b'0'))); } Some(b'n') => { p.at += 4; out.push(leaf(Json::Null).await); } Some(other) => return Err(PErr::Bad(p.at, other)) } } Ok(out) } with ("[12, 3, null, 4]".into());

    fn parse_bad(src: String) -> Result<Vec<Json>, PErr> { let mut p = parser(&src); let mut out = Vec::new(); while let Some(c) = p.peek() { match c { b'a'..=b'z' => { let w: String = p.s[p.at..].iter().take_while(|c| c.is_ascii_lowercase()).map(|&c| c as char).collect(); p.at += w.len(); out.push(leaf(Json::Str(w)).await); } b' ' => p.at += 1, _ => return Err(PErr::Bad(p.at, p.bump()?)) } } Ok(out) } with ("ab c !".into());

    fn state_machine(n: u64) -> Vec<u64> { let mut st = St::default(); let mut k = n; loop { st = match std::mem::take(&mut st) { St::Idle => St::Running { job: Some(leaf(N(k)).await), left: k }, St::Running { job: Some(j), left } if left > 1 => { wait().await; St::Running { job: Some(N(j.0 - 1)), left: left - 1 } } St::Running { mut job, .. } => { let j = job.take(); wait().await; St::Done(vec![j.map_or(0, |j| j.0), k]) } St::Done(v) => break v }; k += 1; } } with (3);

    fn state_replace(n: u64) -> u64 { let mut st = St::Running { job: Some(N(n)), left: 2 }; let mut total = 0; while let St::Running { job, left } = &mut st { if *left == 0 { let old = std::mem::replace(&mut st, St::Idle); wait().await; log(format!("{old:?}")); break; } *left -= 1; total += job.as_ref().map_or(0, |j| j.0); let l = *left; total += leaf(l).await; } total } with (3);

    fn dijkstra(n: usize) -> Vec<u64> { let g: Vec<Vec<(usize, u64)>> = vec![vec![(1, 4), (2, 1)], vec![(3, 1)], vec![(1, 2), (3, 5)], vec![]]; let mut dist = vec![u64::MAX; n]; let mut heap = BinaryHeap::new(); dist[0] = 0; heap.push(Reverse((0u64, 0usize))); while let Some(Reverse((d, u))) = heap.pop() { if d > dist[u] { continue; } for &(v, w) in &g[u] { let nd = d + leaf(w).await; if nd < dist[v] { dist[v] = nd; heap.push(Reverse((nd, v))); } } } dist } with (4);

    fn bfs_grid(w: usize, h: usize) -> Option<usize> { let walls = HashSet::from([(1, 0), (1, 1)]); let mut seen = vec![vec![false; w]; h]; let mut q = VecDeque::from([(0usize, 0usize, 0usize)]); while let Some((x, y, d)) = q.pop_front() { if (x, y) == (w - 1, 0) { return Some(d); } for (dx, dy) in [(0i64, 1i64), (1, 0), (0, -1), (-1, 0)] { let (Some(nx), Some(ny)) = (x.checked_add_signed(dx as isize), y.checked_add_signed(dy as isize)) else { continue }; if nx >= w || ny >= h || walls.contains(&(nx, ny)) || std::mem::replace(&mut seen[ny][nx], true) { continue; } if leaf(nx + ny).await > 100 { return None; } q.push_back((nx, ny, d + 1)); } } None } with (3, 3);

    fn builder() -> Result<u64, String> { let r = Req::new("u").header("a", "1").header("b", leaf("x".to_string()).await).body(leaf(d("body")).await); log("built"); let n = r.send().map_err(|e| format!("bad {e}"))?; Ok(leaf(n).await) } with ();

    fn builder_fail() -> Result<u64, String> { let url = leaf(String::new()).await; let r = Req::new(&url).header(&url, leaf(url.clone()).await); let n = r.body(d("b")).send().map_err(|e| format!("bad {e}"))?; wait().await; Ok(n) } with ();

    fn chains(v: Vec<u64>) -> u64 { let k = leaf(2u64).await; let w: Vec<_> = v.iter().copied().filter(|x| x % k == 0).map(|x| x * k).chain(std::iter::once(k)).collect(); let (a, b): (Vec<u64>, Vec<u64>) = w.iter().partition(|&&x| x > 4); wait().await; let m = a.iter().zip(&b).map(|(x, y)| x * y).max().unwrap_or_default(); let s = leaf(v.chunks(2).map(|c| c.iter().sum::<u64>()).fold(0, |a, b| a.max(b))).await; m + s + w.windows(2).filter(|p| p[0] < p[1]).count() as u64 } with (vec![1, 2, 3, 4, 5, 6]);

    fn group(words: Vec<&'static str>) -> Vec<(char, Vec<&'static str>)> { let mut m: BTreeMap<char, Vec<&str>> = BTreeMap::new(); for w in words { let Some(c) = w.chars().next() else { continue }; wait().await; m.entry(c.to_ascii_lowercase()).or_default().push(w); } m.into_iter().filter(|(_, v)| v.len() > 1).collect() } with (vec!["ab", "", "Ac", "b"]);

    fn counts(text: String) -> Vec<(String, usize)> { let mut m = HashMap::<String, usize>::new(); for w in text.split_whitespace() { let w = w.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase(); if w.is_empty() { continue } let by = leaf(1usize).await; *m.entry(w).or_insert(0) += by; } let mut v: Vec<_> = m.into_iter().collect(); v.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0))); wait().await; v.truncate(2); v } with ("The the, a! the a b".into());

    fn errors(v: Vec<&'static str>) -> Result<u64, String> { let mut s = 0; for (i, x) in v.iter().enumerate() { let n = x.parse::<u64>().map_err(|e| format!("{i}: {e}"))?; s += leaf(n).await.checked_mul(2).ok_or_else(|| format!("{i} overflows"))?; } Ok(s) } with (vec!["1", "2", "x"]);

    fn errors_collect(v: Vec<&'static str>) -> Result<u64, PErr> { let nums = v.into_iter().map(|s| s.parse::<u64>()).collect::<Result<Vec<_>, _>>()?; let mut t = 0; for n in &nums { t += leaf(*n).await; } Ok(t * nums.len() as u64) } with (vec!["1", "2"]);

    fn matrix(n: usize) -> Vec<u64> { let a = Mx { w: n, d: (0..(n * n) as u64).collect() }; let mut c = Mx { w: n, d: vec![0; n * n] }; for i in 0..n { for j in 0..n { let mut acc = 0; for k in 0..n { acc += a[(i, k)] * a[(k, j)]; } c[(i, j)] = leaf(acc).await; c[(i, j)] += leaf(a[(j, i)]).await; } } let t = leaf(a[(n - 1, 0)] * 2 + c[(0, n - 1)]).await; c.d.push(t); c.d } with (2);

    fn matrix_swap(n: usize) -> Vec<Vec<i64>> { let mut m = vec![vec![0i64; n]; n]; for r in 0..n { for c in 0..n { m[r][c] = (r * n + c) as i64 - leaf(1i64).await; } } for p in 0..n { let best = (p..n).max_by_key(|&r| m[r][p].abs()).unwrap_or(p); m.swap(p, best); let piv = m[p][p]; wait().await; if piv == 0 { continue; } for r in p + 1..n { let f = m[r][p] / piv; for c in 0..n { let x = m[p][c]; m[r][c] -= f * x; } } } m } with (2);

    fn options(a: Option<u64>, b: Option<D>) -> Option<u64> { let x = a.filter(|n| *n > 1).or(leaf(Some(7)).await); let y = b.as_ref().map(|d| d.len()).unwrap_or_else(|| 3); let z = leaf(x.and_then(|n| n.checked_sub(y))).await; let w = z.xor(None).zip(Some(leaf(2).await)).map(|(p, q)| p * q)?; log("end"); b.map(|d| d.len() + w) } with (Some(5), Some(D("b")));

    fn opt_take(mut slot: Option<D>) -> u64 { let mut n = 0; for i in 0..3u64 { if let Some(x) = slot.take() { n += x.len(); wait().await; if i < 1 { slot.replace(x); } } else { slot = Some(leaf(D("new")).await); } } n + slot.as_ref().map_or(0, D::len) } with (Some(D("s")));

    fn nested_returns(v: Vec<Vec<u64>>) -> Option<(usize, usize)> { let g = d("g"); 'rows: for (i, row) in v.iter().enumerate() { let h = N(i as u64); if row.is_empty() { continue 'rows } for (j, &x) in row.iter().enumerate() { match leaf(x).await { 0 => continue, 9 => return Some((i, j)), n if n > 50 => break 'rows, _ => {} } log(x); } } None } with (vec![vec![1, 0, 2], vec![], vec![3, 9, 4]]);

    fn soa(n: usize) -> Vec<u64> { let mut s = Soa::default(); for i in 0..n { s.x.push(i as u64); s.y.push(leaf(i as u64 * 2).await); s.tag.push((i % 2 == 0).then(|| d("t"))); } for i in 0..s.x.len() { let dx = s.y[i]; s.x[i] += dx; if let Some(t) = s.tag[i].take() { wait().await; s.y[i] += t.len(); } } let Soa { x, y, .. } = s; wait().await; x.iter().zip(y).map(|(a, b)| a * b).collect() } with (3);

    fn mutex_if_let() -> u64 { let m = Mutex::new(Some(d("x"))); let x = m.lock().unwrap().take(); let n = if let Some(x) = x { leaf(x).await.len() } else { 0 }; *m.lock().unwrap() = Some(d("y")); wait().await; let l = m.lock().map(|g| g.as_ref().map_or(0, D::len)).unwrap_or(0); n + leaf(l).await } with ();

    fn rwlocks() -> u64 { let m = RwLock::new(HashMap::from([(1u64, 2u64)])); let hit = m.read().unwrap().get(&1).copied(); if let Some(v) = hit { let w = leaf(v).await; m.write().unwrap().insert(w, w + 1); } let n = m.read().unwrap().len() as u64; leaf(n).await } with ();

    fn cows(s: Cow<'static, str>) -> String { let mut c = if leaf(s.len()).await > 2 { Cow::Owned(s.to_uppercase()) } else { s.clone() }; wait().await; c.to_mut().push('!'); let t = match &s { Cow::Borrowed(b) => leaf(b.to_string()).await, Cow::Owned(o) => o.clone() }; format!("{c}{t}") } with (Cow::Borrowed("abc"));

    fn shapes() -> (u64, String) { let mut v: Vec<Box<dyn Shape>> = vec![Box::new(Sq(2, d("sq"))), Box::new(Ln(3))]; v.push(Box::new(Sq(leaf(1).await, d("sq2")))); let mut names = String::new(); for s in v.iter_mut() { s.grow(leaf(2).await); names += &s.name(); } let big = v.iter().max_by_key(|s| s.area()).map(|s| s.area()).unwrap(); wait().await; v.retain(|s| s.area() > 0); log("kept"); let a: u64 = leaf(v.iter().map(|s| s.area()).sum::<u64>()).await; (a + big, names) } with ();

    fn shape_pick(c: bool) -> u64 { let s: Box<dyn Shape> = if c { Box::new(Sq(leaf(2).await, d("sq"))) } else { Box::new(Ln(1)) }; let n = s.name().len() as u64; leaf(s.area()).await + n } with (true);

    fn strings(s: String) -> String { let mut out = String::with_capacity(s.len()); let mut it = s.chars().peekable(); while let Some(c) = it.next() { let mut n = 1u64; while it.peek() == Some(&c) { it.next(); n += 1; } if n > 1 { out.push_str(&n.to_string()); } out.push(leaf(c).await); } if out.len() < s.len() { out } else { s } } with ("aaabccd".into());

    fn strings2(s: String) -> String { let (k, v) = match s.split_once('=') { Some((k, v)) => (k.trim().to_owned(), leaf(v.trim().to_owned()).await), None => return leaf(s).await }; let q = v.strip_prefix('"').and_then(|v| v.strip_suffix('"')).unwrap_or(&v); let mut parts: Vec<String> = q.split(',').map(str::to_owned).collect(); parts.dedup(); wait().await; parts.iter_mut().for_each(|p| p.insert(0, '-')); k + &parts.join(&leaf("/".to_string()).await) } with ("k = \"a,a,b\"".into());

    fn sort_by_await(v: Vec<u64>) -> Vec<u64> { let mut keyed = Vec::with_capacity(v.len()); for x in &v { keyed.push((leaf(*x % 3).await, *x)); } keyed.sort_unstable(); let mut out: Vec<u64> = keyed.into_iter().map(|(_, x)| x).collect(); out.dedup_by_key(|x| *x / 2); wait().await; out.rotate_left(1); out } with (vec![5, 3, 4, 1]);

    fn bin_search(v: Vec<u64>, x: u64) -> Result<usize, usize> { let (mut lo, mut hi) = (0, v.len()); while lo < hi { let mid = lo + (hi - lo) / 2; match v[mid].cmp(&leaf(x).await) { std::cmp::Ordering::Equal => return Ok(mid), std::cmp::Ordering::Less => lo = mid + 1, std::cmp::Ordering::Greater => hi = mid } } Err(lo) } with (vec![1, 3, 5, 7], 5);

    fn union_find(n: usize) -> usize { let mut p: Vec<usize> = (0..n).collect(); for (a, b) in [(0, 1), (2, 3), (1, 3)] { let mut r = a; while p[r] != r { p[r] = p[p[r]]; r = p[r]; } let mut s = leaf(b).await; while p[s] != s { s = p[s]; } p[r] = s; } let mut roots = BTreeSet::new(); for i in 0..n { let mut r = i; while p[r] != r { r = leaf(p[r]).await } roots.insert(r); } roots.len() } with (5);

    fn list_reverse(n: u64) -> Vec<u64> { struct L { v: N, next: Option<Box<L>> } let mut head = None; for i in 0..n { head = Some(Box::new(L { v: leaf(N(i)).await, next: head })); } let mut rev = None; while let Some(mut node) = head { head = node.next.take(); node.next = rev; rev = Some(node); wait().await; } let mut out = vec![]; let mut cur = rev.as_deref(); while let Some(node) = cur { out.push(node.v.0); cur = node.next.as_deref(); } wait().await; out } with (3);

    fn tree_insert(v: Vec<u64>) -> u64 { #[derive(Default)] struct T { kids: BTreeMap<u64, T>, n: u64 } let mut root = T::default(); for x in v { let mut t = &mut root; for dgt in [x / 10, x % 10] { t = t.kids.entry(dgt).or_default(); t.n += 1; } } wait().await; let mut stack = vec![(&root, 0u64)]; let mut s = 0; while let Some((t, depth)) = stack.pop() { s += t.n * depth; stack.extend(t.kids.values().map(|k| (k, depth + 1))); } leaf(s).await } with (vec![12, 13, 22]);

    fn queue(n: u64) -> Vec<u64> { let mut q: VecDeque<(u64, D)> = (0..n).map(|i| (i, d("q"))).collect(); let mut done = vec![]; while let Some((k, g)) = q.pop_front() { if k > 3 { continue; } if k == 1 { q.push_back((leaf(k + 1).await, g)); continue; } done.push(leaf(k).await); drop(g); if done.len() > 3 { break; } } done } with (3);

    fn memo(n: u64) -> u64 { let mut memo: HashMap<u64, u64> = HashMap::new(); let mut stack = vec![n]; while let Some(&k) = stack.last() { if k < 2 { memo.insert(k, leaf(k).await); stack.pop(); continue; } match (memo.get(&(k - 1)).copied(), memo.get(&(k - 2)).copied()) { (Some(a), Some(b)) => { memo.insert(k, a + b); stack.pop(); } (None, _) => stack.push(k - 1), (_, None) => stack.push(k - 2) } wait().await; } memo[&n] } with (4);

    fn tokens(src: String) -> i64 { let mut nums: Vec<i64> = vec![]; let mut ops: Vec<char> = vec![]; for tok in src.split(' ') { if let Ok(n) = tok.parse::<i64>() { nums.push(leaf(n).await); } else if let Some(op) = tok.chars().next() { while let Some(&top) = ops.last() && (top == '*' || op != '*') { ops.pop(); let (b, a) = (nums.pop().unwrap(), nums.pop().unwrap()); nums.push(leaf(if top == '*' { a * b } else { a + b }).await); } ops.push(op); } } while let (Some(op), Some(b), Some(a)) = (ops.pop(), nums.pop(), nums.pop()) { nums.push(match op { '*' => a * b, '+' => a + b, _ => unreachable!("op {op}") }); wait().await; } nums[0] } with ("1 + 2 * 3 + 4".into());

    fn retry(n: u64) -> Result<u64, String> { let mut attempt = 0; let mut last = None; let v = loop { attempt += 1; let r: Result<u64, String> = if attempt < n { Err(format!("try {attempt}")) } else { Ok(attempt) }; match leaf(r).await { Ok(v) => break v, Err(e) if attempt >= 3 => return Err(e), Err(e) => { last.replace(e); wait().await; } } }; log(last.as_deref().unwrap_or("none")); Ok(v) } with (3);

    fn rc_graph(n: u64) -> u64 { let nodes: Vec<Arc<Mutex<Vec<usize>>>> = (0..n).map(|_| Arc::default()).collect(); for i in 0..nodes.len() { let j = leaf((i + 1) % nodes.len()).await; nodes[i].lock().unwrap().push(j); if i != j { nodes[j].lock().unwrap().push(i); } } let mut t = 0; for nd in nodes.iter() { let c = Arc::clone(nd); wait().await; t += c.lock().unwrap().len() as u64; } t + Arc::strong_count(&nodes[0]) as u64 } with (3);

    fn closures_state(n: u64) -> u64 { let mut total = 0; let mut add = |x: u64| { total += x; total }; let a = add(n); let b = add(2); wait().await; let hist = [a, b].map(|x| x * 2); let pick = |f: fn(u64) -> bool| hist.iter().copied().find(|x| f(*x)); let k = pick(|x| x > 3).unwrap_or(0); leaf(k).await + total } with (1);

    fn assign_chain(v: Vec<u64>) -> u64 { let mut v = v; let n = v.len(); v[0] = { v.push(leaf(9).await); v.len() as u64 }; let i = leaf(1usize).await; v[i] = leaf(v[i - 1] + 1).await; v[n - 1] *= 2; let x = v[i] + v[leaf(0usize).await] * leaf(v[2]).await; (v[0], v[1]) = (v[1], leaf(v[0]).await); x + v[0] * 10 + v[1] } with (vec![1, 2, 3]);

    fn try_blocks(s: String) -> u64 { let r = (|| -> Result<u64, PErr> { let n: u64 = s.parse()?; if n == 0 { return Err(PErr::Eof) } Ok(n) })(); let n = match r { Ok(n) => leaf(n).await, Err(PErr::Num(e)) => { log(&e); leaf(1).await } Err(e) => { log(format!("{e:?}")); 0 } }; n } with ("x".into());

    fn shadow_result(s: String) -> Result<String, PErr> { let s = s.trim().to_string(); let s = leaf(s).await; let s: u64 = s.parse()?; let s = leaf(s).await; let s = format!("{s:03}"); wait().await; Ok(s) } with (" 7 ".into());

    fn bits(n: u32) -> u32 { let mut x = n; let mut c = 0u32; while x != 0 { x &= x - 1; c += leaf(1u32).await; } let m = (1 << leaf(c).await) - 1; let h = n.wrapping_mul(0x9E37_79B9).rotate_left(leaf(5).await) ^ m; h >> (32 - leaf(c).await) } with (11);

    fn floats(v: Vec<f64>) -> String { let n = v.len() as f64; let mean = v.iter().sum::<f64>() / leaf(n).await; let var = v.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n; let sd = leaf(var).await.sqrt(); let m = v.iter().cloned().fold(f64::NEG_INFINITY, f64::max); format!("{mean:.2} {sd:.2} {:.1}", leaf(m).await.max(sd)) } with (vec![1.0, 2.0, 4.0]);

    fn sieve(n: usize) -> Vec<usize> { let mut is = vec![true; n + 1]; is[..2].fill(false); let mut i = 2; while i * i <= n { if is[i] { for j in (i * i..=n).step_by(i) { is[j] = false; } wait().await; } i += 1; } is.iter().enumerate().filter_map(|(i, &p)| p.then_some(i)).collect() } with (20);

    fn slot_insert() -> u64 { let mut m = HashMap::<u64, u64>::new(); m.insert(leaf(1).await, leaf(2).await); let k = m.get(&1).map_or(0, |v| *v) + leaf(3).await; if m.contains_key(&leaf(1).await) { m.remove(&leaf(1).await); } k + m.len() as u64 } with ();

    // entries
    fn en_vacant(m: &'static mut HashMap<u64, u64>) -> u64 { let slot = match m.entry(1) { Entry::Vacant(s) => s, _ => return 0 }; let v = *slot.insert(2); leaf(v).await } with (lk(HashMap::new()));

    fn en_occ(m: &'static mut HashMap<u64, u64>) -> u64 { let Entry::Occupied(o) = m.entry(1) else { return 0 }; let v = o.remove(); leaf(v).await } with (lk(HashMap::from([(1, 7)])));

    fn en_last(v: &'static [u64]) -> u64 { let it = v.iter().filter(|x| **x > 1); let has = it.last().is_some(); leaf(has as u64).await } with (&[1, 2, 3]);

    fn fm_one(name: &'static str) -> u64 { for i in 0..2u64 { wait().await; assert_eq!("x", name, "round {}", i); } 1 } with ("x");
}
pub fn lk<T>(t: T) -> &'static mut T {
    kept(t)
}
