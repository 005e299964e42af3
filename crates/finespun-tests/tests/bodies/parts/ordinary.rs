//! Small programs in ordinary style, with permits, spans, rows and errors.

use crate::guesses::kit::*;
use crate::harness::*;
use std::collections::*;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
pub struct Permit {
    pub slot: u64,
}
impl Drop for Permit {
    fn drop(&mut self) {
        log(format_args!("release {}", self.slot));
    }
}
pub fn permit(slot: u64) -> Permit {
    point();
    log(format_args!("acquire {slot}"));
    Permit { slot }
}
impl Permit {
    pub fn slot(&self) -> u64 {
        self.slot
    }
}
pub struct Db {
    pub rows: BTreeMap<u64, String>,
    pub lock: Permit,
}
pub fn db() -> Db {
    Db { rows: [(1, "one".to_string()), (2, "two".to_string())].into_iter().collect(), lock: permit(1) }
}
impl Db {
    pub fn find(&self, k: u64) -> Result<&String, String> {
        self.rows.get(&k).ok_or_else(|| format!("no {k}"))
    }
}
#[derive(Debug, Clone, PartialEq)]
pub enum Tok {
    Num(u64),
    Plus,
    Open,
    Close,
}
fn lex(s: &str) -> Vec<Tok> {
    s.chars()
        .filter_map(|c| match c {
            '+' => Some(Tok::Plus),
            '(' => Some(Tok::Open),
            ')' => Some(Tok::Close),
            c => c.to_digit(10).map(|d| Tok::Num(d as u64)),
        })
        .collect()
}
#[derive(Debug)]
pub enum Fail {
    Parse(String),
    Low(u64),
}
impl From<std::num::ParseIntError> for Fail {
    fn from(e: std::num::ParseIntError) -> Fail {
        log("convert");
        Fail::Parse(e.to_string())
    }
}
pub struct Span {
    pub name: &'static str,
}
impl Drop for Span {
    fn drop(&mut self) {
        log(format_args!("span {} ends", self.name));
    }
}
pub fn span(name: &'static str) -> Span {
    log(format_args!("span {name}"));
    Span { name }
}
pub struct Batch {
    pub items: Vec<u64>,
    pub span: Span,
    pub id: u64,
}
pub fn batch(id: u64) -> Batch {
    Batch { items: vec![id, id + 1], span: span("batch"), id }
}
corpus! {
    fn r_rows() -> Result<String, String> { let db = db(); let mut out = String::new(); for k in [1u64, 2, 3] { let row = match db.find(k) { Ok(row) => row.clone(), Err(e) => { write!(out, "!{e}").unwrap(); continue } }; let row = leaf(row).await; write!(out, "{row},").unwrap(); } log("rows done"); Ok(out) } with ();
    fn r_parse(s: &'static str) -> Result<u64, Fail> { let _s = span("parse"); let mut t = 0; for part in s.split(',') { let n: u64 = part.trim().parse()?; if n < 2 { return Err(Fail::Low(leaf(n).await)); } t += leaf(n).await; log(t); } Ok(t) } with ("4, 5,x");
    fn r_parse_ok(s: &'static str) -> Result<u64, Fail> { let _s = span("parse"); let total = s.split(',').map(|p| p.trim().parse::<u64>()).collect::<Result<Vec<_>, _>>()?; let mut t = 0; for n in &total { t += leaf(*n).await; } Ok(t) } with ("4, 5");
    fn r_permits() -> u64 { let mut held = VecDeque::new(); let mut t = 0; for i in 0..4u64 { let p = permit(i); if held.len() == 2 { held.pop_front(); } t += leaf(p.slot()).await; held.push_back(p); } log("all"); t } with ();
    fn r_permit_expr() -> u64 { let t = { let p = permit(1); leaf(p.slot()).await + 1 }; log("out"); leaf(t).await } with ();
    fn r_permit_match() -> u64 { match permit(3).slot() { 3 => { log("in"); leaf(1).await } n => n } } with ();
    fn r_permit_if() -> u64 { if permit(3).slot() == 3 { log("in"); leaf(1).await } else { 0 } } with ();
    fn r_permit_drop() -> u64 { let p = permit(1); let n = leaf(p.slot()).await; drop(p); log("dropped"); leaf(n).await } with ();
    fn r_permit_opt() -> u64 { let mut p = Some(permit(1)); let mut n = 0; while n < 3 { n += leaf(1).await; if n == 2 { p.take(); log("taken"); } } log("end"); n } with ();
    fn r_permit_replace() -> u64 { let mut p = permit(1); for i in 2..4u64 { p = permit(leaf(i).await); log("swapped"); } p.slot() } with ();
    fn r_batch_sum() -> u64 { let b = batch(3); let total: u64 = (0..b.items.len()).map(move |i| b.items[i]).sum(); log("summed"); let n = leaf(total).await; log("sent"); n } with ();
    fn r_batch_label() -> String { let b = batch(3); let label = Some(4u64).map(move |n| format!("{}-{n}", b.id)).unwrap_or_default(); let l = leaf(label).await; log("sent"); l } with ();
    fn r_batch_thread() -> u64 { let b = batch(3); let n = std::thread::scope(|s| s.spawn(move || b.items.iter().sum::<u64>()).join().unwrap()); log("joined"); leaf(n).await } with ();
    fn r_batch_blocking() -> u64 { let b = batch(3); let n = std::thread::spawn(move || { let t: u64 = b.items.iter().sum(); t }).join().unwrap(); log("joined"); leaf(n).await } with ();
    fn r_batch_take_items() -> u64 { let b = batch(3); let items = b.items; let mut t = 0; for i in items { t += leaf(i).await; } log("end"); t } with ();
    fn r_batch_destructure() -> u64 { let Batch { items, span: _span, id } = batch(3); let mut t = id; for i in items { t += leaf(i).await; } log("end"); t } with ();
    fn r_batch_destructure_wild() -> u64 { let Batch { items, id, .. } = batch(3); log("span ended?"); let mut t = id; for i in items { t += leaf(i).await; } log("end"); t } with ();
    fn r_batch_assign() -> u64 { let mut items = vec![]; let mut id = 0; for k in 0..2u64 { Batch { items, id, .. } = batch(leaf(k).await); log("turn"); id += items.len() as u64; wait().await; } id } with ();
    fn r_batch_assign_local() -> u64 { let mut id = 0; for k in 0..2u64 { let b = batch(k); Batch { id, .. } = b; log("turn"); id += leaf(1).await; log("turn end"); } id } with ();
    fn r_fib_assign() -> u64 { let (mut a, mut b) = (mk(0), mk(1)); for _ in 0..3 { let next = mk(a.0 + b.0); (a, b) = (b, next); wait().await; log("turn"); } b.0 } with ();
    fn r_pair_assign() -> u64 { let (mut best, mut at) = (0u64, 0usize); for (i, n) in [3u64, 9, 2].into_iter().enumerate() { if n > best { (best, at) = (n, i); } wait().await; } best + at as u64 } with ();
    fn r_state_machine() -> u64 { enum S { Start, Work(Span, u64), Done(u64) } let mut s = S::Start; loop { s = match s { S::Start => S::Work(span("w"), leaf(1).await), S::Work(g, n) if n < 3 => { let n = n + leaf(1).await; S::Work(g, n) } S::Work(_, n) => { log("fin"); S::Done(leaf(n).await) } S::Done(n) => { log("done"); break n } } } } with ();
    fn r_state_matches() -> u64 { let s = Some(span("s")); let ready = matches!(s, Some(ref x) if x.name == "t"); log(ready); wait().await; log("end"); ready as u64 } with ();
    fn r_state_matches_copy() -> u64 { let s = Some((3u64, span("s"))); let ready = matches!(s, Some((n, _)) if n > 5); log(ready); wait().await; log("end"); ready as u64 } with ();
    fn r_result_matches() -> bool { let r: Result<u64, Span> = Err(span("e")); let failed = !matches!(r, Ok(n) if n > 2); wait().await; log("end"); failed } with ();
    fn r_result_matches_inferred() -> bool { fn get() -> Result<u64, Span> { Err(span("e")) } let r = get(); let failed = !matches!(r, Ok(n) if n > 2); wait().await; log("end"); failed } with ();
    fn r_result_matches_untouched() -> bool { fn get() -> Result<u64, Span> { Err(span("e")) } let r = get(); if matches!(r, Ok(n) if n > 2) { return true; } leaf(1).await; log("still held"); false } with ();
    fn r_option_matches() -> bool { fn get() -> Option<Span> { Some(span("o")) } let r = get(); let named = matches!(r, Some(s) if s.name == "x"); wait().await; log("end"); named } with ();
    fn r_map_counts() -> Vec<(String, u64)> { let g = span("count"); let mut m: BTreeMap<String, u64> = BTreeMap::new(); for w in "a b a c b a".split(' ') { *m.entry(w.to_string()).or_default() += leaf(1).await; } drop(g); let mut v: Vec<_> = m.into_iter().collect(); v.sort_by(|a, b| b.1.cmp(&a.1)); wait().await; v } with ();
    fn r_map_index() -> u64 { let mut m = HashMap::from([("a", 1u64), ("b", 2)]); let _g = span("m"); if let Some(v) = m.get_mut("a") { *v += leaf(4).await; } if let Some(v) = m.remove("b") { wait().await; return v + m["a"]; } 0 } with ();
    fn r_tokens() -> Result<u64, String> { let mut stack = vec![]; let _g = span("lex"); for t in lex("1+(2+3)") { match t { Tok::Num(n) => stack.push(leaf(n).await), Tok::Plus | Tok::Open => {} Tok::Close => { let (Some(a), Some(b)) = (stack.pop(), stack.pop()) else { return Err("empty".into()) }; stack.push(leaf(a + b).await); } } } Ok(stack.into_iter().sum()) } with ();
    fn r_retry() -> Result<u64, String> { let mut tries = 0; let r = loop { let g = span("try"); tries += 1; match leaf(if tries < 3 { Err(tries) } else { Ok(tries) }).await { Ok(n) => break Ok(n), Err(n) if n > 5 => break Err(format!("{n}")), Err(_) => log("again") } wait().await; log("backoff"); }; log("out"); r } with ();
    fn r_cache() -> u64 { let cache: Arc<Mutex<HashMap<u64, u64>>> = Default::default(); let mut t = 0; for k in [1u64, 2, 1] { let hit = cache.lock().unwrap().get(&k).copied(); let v = match hit { Some(v) => { log("hit"); v } None => { let v = leaf(k * 10).await; cache.lock().unwrap().insert(k, v); v } }; t += v; } t } with ();
    fn r_cache_iflet() -> u64 { let cache = Arc::new(Mutex::new(vec![1u64])); let n = cache.lock().unwrap().pop(); if let Some(n) = n { let m = leaf(n).await; cache.lock().unwrap().push(m + 1); } let len = cache.lock().unwrap().len(); wait().await; len as u64 } with ();
    fn r_cleanup() -> Result<u64, String> { let _a = span("a"); let b = span("b"); let r = async_free(leaf(3u64).await)?; let _c = span("c"); if r > 2 { let _d = span("d"); wait().await; drop(b); log("b gone"); return Ok(r); } wait().await; Ok(1) } with ();
    fn r_strings() -> String { let mut s = String::from("x"); let g = span("s"); for part in ["a", "bb", "ccc"] { if part.len() == 2 { continue; } s += &leaf(part.to_uppercase()).await; s.push_str(&format!("[{}]", leaf(part.len()).await)); } let s = s.trim_end_matches(']').to_owned(); drop(g); leaf(s).await } with ();
    fn r_iter_chain() -> u64 { let v = vec![mk(1), mk(2), mk(3)]; let mut it = v.into_iter().filter(|n| n.0 != 2).peekable(); let mut t = 0; while let Some(n) = it.next() { let last = it.peek().is_none(); t += leaf(n.0).await; if last { log("last"); } } t } with ();
    fn r_sort_guard() -> Vec<u64> { let _g = span("sort"); let mut v = vec![3u64, 1, 2]; let pivot = leaf(v[0]).await; let (mut lo, hi): (Vec<u64>, Vec<u64>) = v.drain(..).partition(|x| *x < pivot); lo.sort(); wait().await; lo.extend(hi); lo } with ();
    fn r_option_chain() -> Option<u64> { let _g = span("o"); let a = leaf(Some(mk(4))).await?; let b = leaf(a.opt()).await.filter(|n| *n > 2)?; let c = leaf(Some(b)).await.map(|n| n + a.0)?; log("c"); wait().await; Some(c) } with ();
    fn r_join() -> u64 { let a = span("a"); let (x, y) = join!(leaf(1u64), leaf(2u64)); drop(a); log("joined"); let z = leaf(x + y).await; z } with ();
    fn r_atomic() -> u64 { let open = Arc::new(AtomicU64::new(0)); struct Open(Arc<AtomicU64>); impl Drop for Open { fn drop(&mut self) { self.0.fetch_sub(1, SeqCst); } } let mut seen = 0; for _ in 0..3 { open.fetch_add(1, SeqCst); let o = Open(open.clone()); wait().await; seen += open.load(SeqCst); drop(o); seen += 10 * open.load(SeqCst); } seen } with ();
    fn r_atomic_closure() -> u64 { let open = Arc::new(AtomicU64::new(1)); struct Open { c: Arc<AtomicU64>, ids: Vec<u64> } struct Tick(Arc<AtomicU64>); impl Drop for Tick { fn drop(&mut self) { self.0.store(0, SeqCst); } } struct Pool { tick: Tick, ids: Vec<u64> } let p = Pool { tick: Tick(open.clone()), ids: vec![7] }; let first = Some(0usize).map(move |i| p.ids[i]); wait().await; open.load(SeqCst) + first.unwrap() } with ();
}
fn async_free(n: u64) -> Result<u64, String> {
    if n > 1 { Ok(n) } else { Err("low".into()) }
}
