//! Guards in conditions and operators.

use super::cells::{Big, Config, Dash, Swap, Watch, config, mk};
use super::kit::*;
use crate::harness::*;
use std::collections::*;
use std::fmt::{self, Debug, Display, Write as _};
use std::sync::{Arc, Mutex, atomic::*};

pub struct Cart {
    pub items: Vec<(u64, N)>,
    pub coupon: Option<D>,
    pub total: u64,
}
pub fn cart() -> Cart {
    Cart { items: vec![(1, N(10)), (2, N(20))], coupon: Some(d("coupon")), total: 0 }
}
impl Cart {
    pub fn discount(&self) -> u64 {
        self.coupon.as_ref().map_or(0, |c| c.len())
    }
    pub fn with(self, c: D) -> Cart {
        Cart { coupon: Some(c), ..self }
    }
    pub fn checkout(self) -> Result<u64, (Cart, Error)> {
        if self.total > 50 { Err((self, Error::Closed)) } else { Ok(self.total) }
    }
}

macro_rules! bodies { ($($task:tt)*) => {
$($task)* pub async fn cart_flow(extra: u64) -> Result<u64, String> { let mut c = cart(); for (qty, item) in &c.items { c.total += qty * leaf(item.0).await; } if extra > 0 { c.total += leaf(extra).await; c = c.with(leaf(d("new coupon")).await); log("replaced"); } let n = match c.checkout() { Ok(n) => n, Err((mut back, e)) => { back.total = 50; wait().await; let d_ = back.discount(); back.checkout().map_err(|(_, e)| e.to_string())? + d_ } }; Ok(leaf(n).await) }
$($task)* pub async fn cart_drain() -> u64 { let mut c = cart(); let mut sum = 0; for (q, item) in std::mem::take(&mut c.items).into_iter().filter(|(q, _)| *q > 1) { sum += q * item.0; wait().await; } c.items.extend([(3, leaf(N(30)).await)]); let best = c.items.iter().max_by_key(|(q, n)| q * n.0).map(|(q, _)| *q); if let Some(coupon) = c.coupon.take_if(|c| c.len() > 3) { sum -= leaf(coupon.len()).await; } log(c.items.len()); sum + best.unwrap_or(0) }
$($task)* pub async fn guard_cond(m: Arc<Lk<Vec<u64>>>) -> u64 { if m.lock().is_empty() { wait().await; m.lock().push(leaf(1).await); } while m.lock().len() < 3 { let n = leaf(m.lock().len() as u64).await; m.lock().push(n); } if !m.lock().contains(&leaf(9).await) { log("no nine"); } let last = m.lock().last().copied(); let s: u64 = m.lock().iter().sum(); let k = leaf(s).await; m.lock().clear(); last.unwrap_or(0) + k }
$($task)* pub async fn guard_match(m: Arc<Lk<Option<u64>>>) -> u64 { let a = match *m.lock() { Some(n) => leaf(n).await, None => 0 }; log("a"); let b = match m.lock().take() { Some(n) if n > 2 => { log("held"); leaf(n).await } x => { log(x.is_some()); wait().await; 1 } }; let c = if let Some(n) = m.lock().as_mut() { *n += 1; leaf(*n).await } else { log("else"); m.lock().insert(leaf(4).await); 5 }; let Some(e) = *m.lock() else { return 0 }; leaf(e).await; a + b + c + e }
$($task)* pub async fn guard_ops(m: Arc<Lk<u64>>) -> u64 { let a = *m.lock() + leaf(1).await; *m.lock() += leaf(2).await; let b = leaf(*m.lock()).await + *m.lock(); let c = (*m.lock(), leaf(3).await); let v = vec![*m.lock(), leaf(1).await]; *m.lock() = { let old = *m.peeked(); leaf(old + 1).await }; let f = { let mut g = m.lock(); *g *= 2; *g }; wait().await; a + b + c.0 + v[0] + f }
$($task)* pub async fn cas_retry(n: u64) -> Result<u64, u64> { let a = AtomicU64::new(n); let mut tries = 0; loop { let cur = a.load(Ordering::SeqCst); let next = leaf(cur + 2).await; tries += 1; match a.compare_exchange(cur, next, Ordering::SeqCst, Ordering::SeqCst) { Ok(_) if next > 6 => break Ok(next), Ok(old) => { let g = N(old); if tries > 5 { break Err(g.0) } } Err(now) => { log(now); wait().await } } } }
$($task)* pub async fn once_cache(keys: [&str; 3]) -> Vec<usize> { let cell: std::sync::OnceLock<D> = std::sync::OnceLock::new(); let mut out = vec![]; for k in keys { let v = match cell.get() { Some(v) => v, None => { let made = leaf(d("made")).await; let _ = cell.set(made); cell.get().unwrap() } }; out.push(v.name().len() + leaf(k.len()).await); } let g = cell.into_inner(); wait().await; log("end"); out }
$($task)* pub async fn fan_in(chans: Vec<Arc<Chan<N>>>) -> Vec<u64> { for (i, c) in chans.iter().enumerate() { for k in 0..=i as u64 { if let Err(back) = c.send(N(k + 10 * i as u64)) { log(format_args!("full {}", back.0)); } } } let mut out = vec![]; let mut open: Vec<_> = chans.iter().cloned().collect(); while !open.is_empty() { let mut i = 0; while let Some(c) = open.get(i) { match c.recv() { Some(m) => { i += 1; out.push(leaf(m).await.0); } None => { let done = open.swap_remove(i); done.close(); wait().await; } } } } out }
$($task)* pub async fn circuit_breaker(rs: &'static [bool]) -> Vec<&'static str> { #[derive(Clone, Copy, PartialEq, Debug)] enum B { Closed { fails: u8 }, Open { until: usize }, Half } let mut st = B::Closed { fails: 0 }; let mut out = vec![]; for (now, ok) in rs.iter().enumerate() { let probe = match st { B::Open { until } if now < until => { out.push("rejected"); continue } B::Open { .. } => { st = B::Half; Some(d("probe")) } _ => None }; let r: Result<N, D> = if leaf(*ok).await { Ok(N(now as u64)) } else { Err(d("fail")) }; st = match (st, &r) { (B::Half, Ok(_)) => B::Closed { fails: 0 }, (B::Half, Err(_)) | (B::Closed { fails: 1.. }, Err(_)) => B::Open { until: now + 2 }, (B::Closed { fails }, Err(e)) => { log(e.name()); B::Closed { fails: fails + 1 } } (s, Ok(_)) => s, (s, _) => s }; out.push(if r.is_ok() { "ok" } else { wait().await; "err" }); drop(probe); log(format_args!("{st:?}")); } out }
$($task)* pub async fn deadline<T: Debug + Send>(budget: &mut u64, cost: u64, v: T) -> Result<T, (u64, T)> { match budget.checked_sub(cost) { Some(left) => { *budget = left; Ok(leaf(v).await) } None => { wait().await; Err((cost - *budget, v)) } } }
$($task)* pub async fn deadlines() -> Result<u64, String> { let mut b = 10; let x = deadline(&mut b, 4, d("x")).await.map_err(|(over, g)| format!("{over} {}", g.name()))?; let y = deadline(&mut b, 20, N(3)).await.unwrap_or_else(|(_, n)| n); let z = deadline(&mut b, 7, d("z")).await.or_else(|(o, g)| if o < 2 { Ok(g) } else { Err(o) }); log(b); let n = z.as_ref().map_or(0, |g| g.len()) + leaf(x.len()).await + y.0; let w = deadline(&mut b, 99, "w").await; w.map(|s| s.len() as u64).map_err(|(o, s)| format!("{o}{s}{n}")) }
$($task)* pub async fn migrate(n: usize) -> Res<Vec<String>> { let pool = Pool::new(1); let mut lease = pool.get().ok_or(Error::Closed)?; let mut done = Vec::new(); let ms: [(&str, &[&str]); 3] = [("init", &["create a"]), ("data", &["insert", "insert more"]), ("oops", &["x", "bad y"])]; for (name, stmts) in ms.into_iter().take(n) { let _s = span(name); let mut tx = lease.begin(); let r: Res<u64> = async_all(&mut tx, stmts).await; match r { Ok(rows) => { tx.commit()?; done.push(format!("{name}:{}", leaf(rows).await)); } Err(e) => { tx.rollback(); wait().await; done.push(format!("{name} failed: {e}")); break; } } } log(lease.broken); Ok(done) }
$($task)* pub async fn async_all(tx: &mut Tx<'_>, stmts: &[&str]) -> Res<u64> { let mut n = 0; for s in stmts { n += tx.exec(leaf(*s).await)?; } Ok(n) }
$($task)* pub async fn patch(mut doc: Vec<D>, ops: Vec<(char, usize)>) -> Result<Vec<&'static str>, String> { let mut undo: Vec<(usize, D)> = vec![]; for (op, at) in ops { match op { '-' if at < doc.len() => { let gone = doc.remove(at); wait().await; undo.push((at, gone)); } '+' => doc.insert(at.min(doc.len()), leaf(d("ins")).await), '=' => { let Some(slot) = doc.get_mut(at) else { log("miss"); continue }; *slot = leaf(d("set")).await; } 'u' => while let Some((i, g)) = undo.pop() { doc.insert(i, g); wait().await; }, c => return Err(format!("{c}{at}")) } } let names = doc.iter().map(|g| g.0).collect(); doc.truncate(1); log("cut"); leaf(()).await; Ok(names) }
} }
programs! {
    owned cart_flow(30); owned cart_drain(); owned guard_cond(Arc::new(Lk::new("gc", vec![]))); owned guard_match(Arc::new(Lk::new("gm", Some(3)))); owned guard_ops(Arc::new(Lk::new("go", 5)));
    owned cas_retry(1); owned once_cache(["a", "bb", "c"]); owned fan_in(vec![Chan::new(2), Chan::new(1), Chan::new(5)]); owned circuit_breaker(&[true, false, false, true, false, true, true]); owned deadlines(); owned migrate(3);
    owned patch(vec![D("p0"), D("p1"), D("p2")], vec![('-', 1), ('+', 0), ('=', 2), ('=', 9), ('u', 0), ('-', 0)]);
}
