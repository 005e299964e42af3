//! Pools, transactions, pages, metrics.

use super::common::*;
use crate::guesses::kit::*;
use crate::harness::*;
use std::borrow::Cow;
use std::collections::*;
use std::fmt::{self, Debug, Display, Write as _};
use std::sync::{Arc, Mutex, atomic::*};

macro_rules! bodies { ($($task:tt)*) => {
$($task)* pub async fn fetch_page(at: usize, size: usize) -> Result<Page, Error> { let all: Vec<u64> = (0..7).collect(); if at > 100 { return Err(Error::NotFound(format!("page {at}"))); } let items = all.iter().skip(at).take(size).copied().collect::<Vec<_>>(); let next = (at + size < all.len()).then_some(at + size); wait().await; Ok(Page { items, next }) }
$($task)* pub async fn flaky(attempt: u32, ok_at: u32) -> Result<N, Error> { let _s = span("flaky"); if attempt < ok_at { wait().await; return Err(Error::Timeout { after: u64::from(attempt) }); } Ok(leaf(N(u64::from(attempt))).await) }
$($task)* pub async fn lookup(k: String) -> Option<u64> { let n = leaf(k.len() as u64).await; if n == 0 { None } else { Some(n) } }

$($task)*
pub async fn pagination(size: usize) -> Result<Vec<u64>, Error> {
    let span = span("pages");
    let mut cursor = Some(0);
    let mut out = Vec::new();
    while let Some(at) = cursor {
        let Page { items, next } = fetch_page(at, size).await?;
        if items.is_empty() { break; }
        out.extend(items.into_iter().filter(|n| n % 2 == 0));
        cursor = next;
    }
    drop(span);
    log("after span");
    Ok(out)
}
$($task)*
pub async fn pagination_loop() -> Result<u64, Error> {
    let mut s = span("pages");
    let mut at = 0;
    let total = loop {
        let page = fetch_page(at, 4).await.map_err(|e| { log(&e); e })?;
        s.record(page.items.iter().sum::<u64>());
        match page.next { Some(n) => at = n, None => break s.total() }
    };
    Ok(total + s.finish())
}
$($task)*
pub async fn pagination_fails() -> Result<u64, Error> {
    let s = span("pages");
    let mut seen = BTreeSet::new();
    for at in [0, 5, 200, 3] {
        let child = s.child("page");
        let page = match fetch_page(at, 2).await { Ok(p) => p, Err(Error::NotFound(what)) if what.ends_with("1") => continue, Err(e) => { log("give up"); return Err(e) } };
        seen.extend(page.items);
    }
    Ok(seen.len() as u64)
}
$($task)*
pub async fn retry_backoff(max: u32) -> Result<u64, Error> {
    let mut delay = 1u64;
    let mut attempt = 0;
    loop {
        attempt += 1;
        match flaky(attempt, 3).await {
            Ok(n) => { log(format!("ok after {attempt}")); return Ok(n.0 + delay); }
            Err(Error::Timeout { after }) if attempt < max => {
                let timer = N(delay);
                wait().await;
                delay = (delay * 2).min(8) + after;
                drop(timer);
            }
            Err(e) => return Err(e),
        }
    }
}
$($task)*
pub async fn retry_for(max: u32) -> Result<u64, Error> {
    let mut last = None;
    for attempt in 0..max {
        let _try = N(100 + attempt as u64);
        match flaky(attempt, 7).await {
            Ok(v) => return Ok(v.0),
            Err(e) => last = Some(e),
        }
        if attempt + 1 < max { leaf(1u64 << attempt).await; }
    }
    Err(last.unwrap_or(Error::Conflict))
}
$($task)*
pub async fn retry_if_let(max: u32) -> Option<N> {
    let mut left = max;
    while left > 0 {
        left -= 1;
        if let Ok(n) = flaky(max - left, 2).await { log("got"); return Some(n); }
        else if let Some(d) = leaf(Some(left)).await.filter(|d| d % 2 == 0) { log(d); wait().await; }
        else { log("odd"); }
    }
    None
}
$($task)*
pub async fn tx_commit() -> Result<usize, Error> {
    let mut tx = Tx::begin("a");
    tx.exec("insert")?;
    let id = leaf(7).await;
    tx.exec(format!("update {id}"))?;
    let n = leaf(tx.ops.len()).await;
    let done = tx.commit()?;
    wait().await;
    Ok(done + n)
}
$($task)*
pub async fn tx_rollback(last: &'static str) -> Result<usize, Error> {
    let _s = span("tx");
    let mut tx = Tx::begin("r");
    for (i, op) in ["a", "b", last].iter().enumerate() {
        let n = tx.exec(*op).map_err(|e| { log(format!("{i} {e}")); e })?;
        leaf(n).await;
    }
    let n = tx.commit()?;
    Ok(n)
}
$($task)*
pub async fn tx_nested() -> usize {
    let mut outer = Tx::begin("outer");
    let _ = outer.exec("x");
    let r: Result<usize, Error> = {
        let mut inner = Tx::begin("inner");
        let a = inner.exec(leaf("y".to_string()).await);
        if a.is_ok() && leaf(true).await { inner.exec("bad").and_then(|_| Ok(1)) } else { inner.commit() }
    };
    log("inner over");
    match r { Ok(n) => n, Err(_) => { wait().await; outer.commit().unwrap_or(0) } }
}
$($task)*
pub async fn pool_guards() -> (u64, usize) {
    let pool = Pool::new(2);
    let mut sum = 0;
    {
        let a = pool.get().expect("one");
        let b = pool.get_or_make();
        let c = pool.get_or_make();
        sum += leaf(a.id + b.id + c.id).await;
        drop(b);
        wait().await;
        let again = pool.get();
        sum += again.as_ref().map_or(50, |c| c.id);
        wait().await;
    }
    let n = pool.free.lock().unwrap().len();
    (leaf(sum).await, n)
}
$($task)*
pub async fn pool_broken() -> Result<usize, Error> {
    let pool = Pool::new(1);
    for q in ["a b", "", "c"] {
        let mut conn = pool.get_or_make();
        let rows = match conn.query(q) {
            Ok(rows) => rows,
            Err(e) => { conn.broken = true; log(e); wait().await; continue; }
        };
        for (id, name) in rows {
            let n = leaf(name.len() as u64 + id).await;
            log(format_args!("{name} {n}"));
        }
    }
    let left = pool.free.lock().unwrap().len();
    Ok(left)
}
$($task)*
pub async fn pool_let_else() -> Result<String, Error> {
    let pool = Pool::new(1);
    let Some(conn) = pool.get() else { return Err(Error::Conflict) };
    let Some(second) = pool.get() else {
        wait().await;
        let row = conn.query("x y")?.into_iter().next_back().map(|(_, s)| s).ok_or_else(|| Error::NotFound("row".to_owned()))?;
        return Ok(leaf(row).await);
    };
    Ok(format!("{}", second.id))
}
$($task)*
pub async fn cache_through(keys: Vec<&'static str>) -> Result<u64, Error> {
    let mut m = Metrics { hits: 0, misses: 0, label: "cache".into() };
    let mut cache: HashMap<String, u64> = HashMap::new();
    let mut total = 0;
    for k in keys {
        let v = match cache.get(k) {
            Some(&v) => { m.hits += 1; v }
            None => {
                m.misses += 1;
                let v = lookup(k.to_string()).await.ok_or_else(|| Error::NotFound(format!("{k:?}")))?;
                cache.insert(k.to_string(), v);
                v
            }
        };
        total += v;
    }
    Ok(total)
}
$($task)*
pub async fn cache_entry(keys: Vec<&'static str>) -> Vec<(String, u64)> {
    let mut cache = BTreeMap::<String, (u64, N)>::new();
    for (i, k) in keys.iter().enumerate() {
        let v = lookup(k.to_string()).await.unwrap_or_default();
        match cache.entry(k.to_string()) {
            btree_map::Entry::Occupied(mut e) => { e.get_mut().0 += v; let old = std::mem::replace(&mut e.get_mut().1, N(90)); log(old.0); }
            btree_map::Entry::Vacant(e) => { e.insert((v, N(i as u64))); }
        }
        wait().await;
    }
    cache.into_iter().map(|(k, (n, g))| (k, n + g.0)).collect()
}
$($task)*
pub async fn cache_evict() -> u64 {
    const CAP: usize = 2;
    let mut order = VecDeque::with_capacity(CAP);
    let mut cache: BTreeMap<u64, N> = BTreeMap::new();
    for k in [1u64, 2, 1, 3] {
        if cache.contains_key(&k) { log("hit"); continue; }
        while cache.len() >= CAP { let Some(old) = order.pop_front() else { break }; if let Some(v) = cache.remove(&old) { log(format!("evict {}", v.0)); wait().await; } }
        let v = leaf(N(k * 10)).await;
        order.push_back(k);
        cache.insert(k, v);
    }
    leaf(cache.values().map(|n| n.0).sum::<u64>()).await
}
$($task)*
pub async fn batching(size: usize) -> Vec<u64> {
    let mut batch = Vec::with_capacity(size);
    let mut sums = vec![];
    for item in (1..=5).map(|n| N(n)) {
        batch.push(item);
        if batch.len() == size {
            let full = std::mem::take(&mut batch);
            let s = leaf(full.iter().map(|n| n.0).sum::<u64>()).await;
            sums.push(s);
            log("flushed");
        }
    }
    if !batch.is_empty() { let n = batch.len() as u64; sums.push(leaf(n).await); }
    sums
}
$($task)*
pub async fn batching_drain() -> u64 {
    let mut queue: Vec<D> = ["a", "b", "c", "d"].into_iter().map(d).collect();
    let mut rounds = 0;
    while !queue.is_empty() {
        let n = queue.len().min(3);
        let part: Vec<D> = queue.drain(..n).collect();
        let total: u64 = part.iter().map(D::len).sum();
        rounds += leaf(total).await;
        log("round");
    }
    rounds
}
$($task)*
pub async fn chunks_await(v: Vec<u64>) -> Vec<u64> {
    let mut out = Vec::new();
    for (i, c) in v.chunks(2).enumerate() {
        let g = N(i as u64);
        let s: u64 = c.iter().sum();
        out.push(leaf(s).await * g.0);
    }
    for w in v.windows(3) { if let [a, b, c] = *w { out.push(leaf(a + b).await - c); } }
    out
}
$($task)*
pub async fn mutex_worker() -> u64 {
    let state = Arc::new(Mutex::new(VecDeque::from(vec![N(1), N(2), N(3)])));
    let mine = Arc::clone(&state);
    let mut n = 0;
    loop {
        let job = { let mut q = mine.lock().unwrap(); q.pop_front() };
        let Some(job) = job else { break };
        n += leaf(job.0).await;
        if job.0 == 2 { { let mut q = state.lock().unwrap(); q.push_back(N(9)); } wait().await; }
    }
    n + Arc::strong_count(&state) as u64
}
$($task)*
pub async fn mutex_pop_let() -> u64 {
    let q = Arc::new(Mutex::new(vec![d("a"), d("b")]));
    let mut n = 0;
    loop {
        let x = match q.lock().unwrap().pop() { Some(x) => x, None => break };
        n += x.len();
        wait().await;
        log("processed");
    }
    n
}
$($task)*
pub async fn mutex_guard_dropped() -> u64 {
    let m = Mutex::new((1u64, Some(d("held"))));
    let (n, taken) = { let mut g = m.lock().unwrap(); g.0 += 1; let t = g.1.take(); (g.0, t) };
    let k = leaf(n).await;
    m.lock().unwrap().1 = taken;
    log("back");
    leaf(k).await + m.into_inner().unwrap().0
}
$($task)*
pub async fn span_record() -> u64 {
    let mut s = span("work");
    s.record(leaf(2).await);
    let child = s.child("sub");
    s.record(leaf(3).await + child.total());
    let child = child.with(leaf(4).await);
    s.1 += leaf(child.1).await;
    child.finish() + s.total()
}
$($task)*
pub async fn span_shadow() -> u64 {
    let s = span("1");
    let n = leaf(s.total()).await;
    let s = span("2").with(n + 1);
    let k = s.1; let s = s.with(leaf(k + 5).await);
    { let s = span("3"); wait().await; log(s.0); }
    let s = s.finish();
    leaf(s).await
}
$($task)*
pub async fn span_in_arms(n: u64) -> &'static str {
    match leaf(span("head").with(n)).await {
        Span("head", 0) => "zero",
        s if s.total() == 1 => { wait().await; "one" }
        s @ Span(_, 2..=3) => { let r = if leaf(s.finish()).await > 2 { "three" } else { "two" }; log("arm"); r }
        _ => "many",
    }
}
$($task)*
pub async fn early_returns(n: u64) -> Result<u64, Error> {
    let a = d("a");
    if n == 0 { return Ok(0); }
    let b = d("b");
    if leaf(n).await == 1 { return Err(Error::Conflict); }
    let c = if n > 2 { let t = d("t"); if leaf(t.len()).await > 5 { return Ok(9) } t } else { d("e") };
    let x: u64 = format!("{n}x").trim_end_matches('x').parse()?;
    let y = "z".parse::<u64>().or_else(|_| Ok::<_, Error>(4))?;
    let z = leaf(Err::<u64, _>(Error::Timeout { after: x + y })).await?;
    Ok(z + a.len() + b.len() + c.len())
}
$($task)*
pub async fn question_chain() -> Result<u64, Error> {
    let n = fetch_page(fetch_page(0, 2).await?.next.ok_or(Error::Conflict)?, fetch_page(0, 1).await?.items.len()).await?.items[0];
    let k = lookup(fetch_page(n as usize, 2).await?.items.iter().map(|n| n.to_string()).collect::<Vec<_>>().join("-")).await.ok_or_else(|| Error::NotFound("x".into()))?;
    Ok(n * 100 + k)
}
$($task)*
pub async fn box_dyn_error(s: &'static str) -> Result<u64, String> {
    $($task)* async fn inner(s: &'static str) -> Result<u64, Box<dyn std::error::Error + Send + Sync>> { let _g = d("inner"); let n: u64 = s.parse()?; let p = fetch_page(n as usize, 2).await?; if p.items.is_empty() { Err("empty")?; } Ok(p.items.len() as u64) }
    let a = inner("4").await.map_err(|e| e.to_string())?;
    log(a);
    let b = match inner("x").await { Ok(n) => n, Err(e) => { log(&e); 1 } };
    let c = inner(s).await.map_err(|e| format!("failed: {e}"))?;
    Ok(a + b + c)
}
$($task)*
pub async fn struct_literals() -> (u64, u64) {
    let m = Metrics { hits: leaf(1).await, misses: { let g = d("tmp"); leaf(g.len()).await }, label: leaf("x".to_string()).await + "y" };
    let p = Page { next: None, ..Page { items: vec![leaf(1).await, m.hits, leaf(3).await], next: Some(4) } };
    let f = Fields { x: leaf(d("x")).await, y: d("y"), n: leaf(p.items.len() as u64).await };
    let Fields { ref x, n, .. } = f;
    log(x.name());
    (n, leaf(m.hits + m.misses).await)
}
$($task)*
pub async fn closures_passed() -> u64 {
    fn apply<F: Fn(u64) -> u64>(f: F, n: u64) -> u64 { f(n) }
    fn make(k: u64) -> impl Fn(u64) -> u64 + Send + Sync { move |x| x * k }
    let g = N(4);
    let add = move |n: u64| n + g.0;
    let mul = make(leaf(3).await);
    let a = apply(&add, leaf(1).await);
    let b = leaf(apply(&mul, a)).await;
    let boxed: Vec<Box<dyn Fn(u64) -> u64 + Send + Sync>> = vec![Box::new(mul), Box::new(add)];
    let mut t = b;
    for f in &boxed { t = leaf(f(t)).await; }
    t
}
$($task)*
pub async fn log_buffer() -> Result<String, Error> {
    let mut out = String::new();
    write!(out, "{}-{:>3}", leaf(1).await, leaf("a").await)?;
    for (i, c) in "xyz".char_indices() { if i > 0 { out.push(','); } write!(&mut out, "{c}{}", leaf(i).await)?; }
    writeln!(out)?;
    out += &format!("[{0:?} {n}]", leaf(Some(2)).await, n = out.len());
    Ok(out)
}
$($task)*
pub async fn asserts(n: u64) -> u64 {
    let g = N(n);
    assert!(leaf(n).await > 0, "on purpose n was {}", n);
    assert_eq!(g.0, leaf(n).await);
    debug_assert_ne!(leaf(4).await, g.0, "on purpose");
    debug_assert!(matches!(leaf(Some(n)).await, Some(x) if x == g.0));
    if leaf(g.0).await == 3 { let h = N(8); assert_eq!(leaf(h.0).await, n, "on purpose differ {}", h.0); }
    1
}
} }

programs! {
    owned pagination(3);
    owned pagination_loop();
    owned pagination_fails();
    owned retry_backoff(5);
    owned retry_for(2);
    owned retry_if_let(4);
    owned tx_commit();
    owned tx_rollback("bad");
    owned tx_nested();
    owned pool_guards();
    owned pool_broken();
    owned pool_let_else();
    owned cache_through(vec!["a", "bb", "a", "", "bb"]);
    owned cache_entry(vec!["a", "bb", "a"]);
    owned cache_evict();
    owned batching(2);
    owned batching_drain();
    owned chunks_await(vec![1, 2, 3, 4, 5]);
    owned mutex_worker();
    owned mutex_pop_let();
    owned mutex_guard_dropped();
    owned span_record();
    owned span_shadow();
    owned span_in_arms(2);
    owned early_returns(3);
    owned question_chain();
    owned box_dyn_error("12");
    owned struct_literals();
    owned closures_passed();
    owned log_buffer();
    owned asserts(3);
}
