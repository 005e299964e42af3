//! Servers, clients and their pools.

use super::kit::*;
use crate::harness::*;
use std::borrow::Cow;
use std::collections::*;
use std::sync::{Arc, Mutex, atomic::*};

macro_rules! bodies { ($($task:tt)*) => {
pub struct Connection { pub buf: VecDeque<u8>, pub input: Vec<&'static [u8]>, pub out: Vec<String>, pub peer: D }
impl Connection {
    fn new(input: &[&'static [u8]]) -> Self { Connection { buf: VecDeque::new(), input: input.iter().rev().copied().collect(), out: vec![], peer: d("peer") } }
    fn line(&mut self) -> Option<String> { let at = self.buf.iter().position(|b| *b == b'\n')?; let v: Vec<u8> = self.buf.drain(..=at).collect(); Some(String::from_utf8_lossy(&v[..at]).into_owned()) }
    fn parse_frame(&mut self) -> Res<Option<Frame>> {
        let Some(line) = self.line() else { return Ok(None) };
        let Some((kind, rest)) = line.split_at_checked(1) else { return Err(Error::Protocol("empty".into())) };
        Ok(Some(match kind { "+" => Frame::Simple(rest.to_string()), ":" => Frame::Int(rest.parse()?), "$" => Frame::Bulk(N(rest.parse()?)), "_" => Frame::Null,
          "*" => { let n: usize = rest.parse()?; let mut v = Vec::with_capacity(n); for _ in 0..n { v.push(self.parse_frame()?.ok_or(Error::Incomplete)?); } Frame::Array(v) }
          k => return Err(Error::Protocol(format!("bad {k}"))) }))
    }
    $($task)* pub async fn read_frame(&mut self) -> Res<Option<Frame>> {
        loop {
            if let Some(frame) = self.parse_frame()? { return Ok(Some(frame)); }
            if 0 == self.fill().await? {
                if self.buf.is_empty() { return Ok(None); } else { return Err("connection reset by peer".into()); }
            }
        }
    }
    $($task)* async fn fill(&mut self) -> Res<usize> {
        match self.input.pop() { Some(b) => { let b = leaf(b).await; self.buf.extend(b); Ok(b.len()) } None => { wait().await; Ok(0) } }
    }
    $($task)* pub async fn write_frame(&mut self, frame: &Frame) -> Res<()> {
        match frame {
            Frame::Array(val) => {
                self.out.push(format!("*{}", val.len()));
                for entry in &**val { self.write_value(entry).await?; }
            }
            _ => self.write_value(frame).await?,
        }
        wait().await;
        Ok(())
    }
    $($task)* async fn write_value(&mut self, frame: &Frame) -> Res<()> {
        match frame {
            Frame::Simple(val) => { self.out.push(leaf(format!("+{val}")).await); }
            Frame::Int(n) => self.out.push(format!(":{}", leaf(*n).await)),
            Frame::Null => { self.out.push("$-1".into()); }
            Frame::Bulk(N(n)) if *n > 100 => return Err(Error::Closed),
            Frame::Bulk(val) => { let len = val.0; wait().await; self.out.push(format!("${len}")); }
            Frame::Array(_) => return Err("nested".into()),
        }
        Ok(())
    }
}
$($task)* pub async fn redis_loop() -> Res<Vec<String>> {
    let mut c = Connection::new(&[b"+pi", b"ng\n:4\n$7", b"\n*2\n+a\n$3\n", b"_\n"]);
    while let Some(frame) = c.read_frame().await? {
        let _s = span("cmd");
        match frame {
            Frame::Simple(ref s) if s == "ping" => c.write_frame(&Frame::Simple("pong".to_string())).await?,
            other => { log(format_args!("{other:?}")); c.write_frame(&other).await? }
        }
    }
    Ok(std::mem::take(&mut c.out))
}
$($task)* pub async fn redis_reset() -> Res<usize> {
    let mut c = Connection::new(&[b"$9\n$10", b"1\n", b"+x"]);
    let mut n = 0;
    loop {
        let maybe = c.read_frame().await;
        let frame = match maybe { Ok(Some(f)) => f, Ok(None) => break, Err(e) => { log(&e); return Err(e) } };
        n += 1;
        if let Err(e) = c.write_frame(&frame).await { log(format_args!("write {e}")); continue; }
    }
    Ok(n)
}
pub struct Db { pub shared: Lk<BTreeMap<String, N>>, pub subs: Lk<Vec<Arc<Chan<N>>>>, pub shutdown: AtomicBool }
impl Db {
    fn new() -> Arc<Db> { Arc::new(Db { shared: Lk::new("shared", BTreeMap::new()), subs: Lk::new("subs", vec![]), shutdown: AtomicBool::new(false) }) }
    $($task)* async fn set(&self, key: String, value: N) -> Option<N> { let mut state = self.shared.lock(); let prev = state.insert(key, value); drop(state); wait().await; prev }
    $($task)* async fn get(&self, key: &str) -> Option<u64> { let state = self.shared.lock(); let v = state.get(key).map(|n| n.0)?; Some(leaf(v).await) }
    $($task)* async fn publish(&self, n: u64) -> usize { let state = self.subs.lock(); let mut count = 0; for sub in state.iter() { match sub.send(N(n)) { Ok(()) => count += 1, Err(rejected) => { log("full"); wait().await; drop(rejected) } } } count }
    $($task)* async fn purge(&self, min: u64) -> usize { let mut state = self.shared.lock(); let dead: Vec<String> = state.iter().filter(|(_, v)| v.0 < min).map(|(k, _)| k.clone()).collect(); for k in &dead { let gone = state.remove(k); wait().await; log(format_args!("purged {k}")); } dead.len() }
    $($task)* async fn apply(self: &Arc<Self>, cmd: Cmd) -> Res<Frame> {
        Ok(match cmd {
            Cmd::Get(k) => match self.get(&k).await { Some(n) => Frame::Int(n), None => Frame::Null },
            Cmd::Set { key, value, ttl } => { let prev = self.set(key, value).await; if let Some(p) = prev { wait().await; Frame::Int(p.0) } else if ttl.is_some_and(|t| t > 5) { Frame::Simple("LONG".into()) } else { Frame::Simple("OK".into()) } }
            Cmd::Publish(n) => { let db = Arc::clone(self); let n = db.publish(n).await; Frame::Int(n as u64) }
            Cmd::Unknown(name) => { let e = format!("unknown '{name}'"); wait().await; return Err(Error::Protocol(e)); }
        })
    }
}
pub enum Cmd { Get(String), Set { key: String, value: N, ttl: Option<u64> }, Publish(u64), Unknown(&'static str) }
$($task)* pub async fn redis_db() -> Res<usize> {
    let db = Db::new();
    let ch = Chan::new(1);
    db.subs.lock().push(ch.clone());
    let cmds = vec![Cmd::Get("a".into()), Cmd::Set { key: "a".into(), value: N(5), ttl: None }, Cmd::Set { key: "b".into(), value: N(9), ttl: Some(7) }, Cmd::Set { key: "a".into(), value: N(6), ttl: None }, Cmd::Get("a".into()), Cmd::Publish(1), Cmd::Publish(2), Cmd::Unknown("flush"), Cmd::Get("b".into())];
    for cmd in cmds {
        match db.apply(cmd).await {
            Ok(f) => log(format_args!("{f:?}")),
            Err(Error::Protocol(msg)) => { log(msg); break }
            Err(e) => return Err(e),
        }
    }
    let n = db.purge(8).await;
    while let Some(m) = ch.recv() { log(format_args!("msg {}", leaf(m.0).await)); }
    Ok(n + db.shared.lock().len())
}
pub struct Listener { pub sem: Arc<Sem>, pub backlog: VecDeque<Option<N>> }
impl Listener {
    $($task)* async fn accept(&mut self) -> Res<N> {
        let mut backoff = 1;
        loop {
            match self.backlog.pop_front() {
                Some(Some(socket)) => return Ok(leaf(socket).await),
                Some(None) => { if backoff > 4 { return Err(Error::Closed); } }
                None => return Err(Error::Incomplete),
            }
            leaf(backoff).await;
            backoff *= 2;
        }
    }
    $($task)* async fn run(&mut self) -> Res<u64> {
        let mut served = 0;
        loop {
            let sem = self.sem.clone();
            let permit = sem.try_acquire()?;
            let socket = self.accept().await?;
            let mut handler = Handler { id: socket.0, permit: Some(permit) };
            served += 1;
            if let Err(err) = handler.run(served).await { log(format_args!("handler {err}")); }
            if served == 2 { handler.permit.take().map(|p| p.forget()); }
        }
    }
}
pub struct Handler<'a> { id: u64, permit: Option<Permit<'a>> }
impl Handler<'_> { $($task)* async fn run(&mut self, n: u64) -> Res<()> { let _g = defer(|| log("handler down")); wait().await; if n % 2 == 1 { Ok(()) } else { Err(Error::Io { kind: self.id, ctx: leaf(d("ctx")).await }) } } }
$($task)* pub async fn redis_listener() -> (String, u64) {
    let sem = Arc::new(Sem::new(2));
    let mut l = Listener { sem: Arc::clone(&sem), backlog: VecDeque::from([Some(N(1)), None, Some(N(2)), Some(N(3)), None]) };
    let r = l.run().await;
    let s = match r { Err(ref e) => e.to_string(), Ok(n) => n.to_string() };
    wait().await;
    (s, sem.available())
}
$($task)* pub async fn shutdown_select(n: u64) -> Option<u64> {
    struct Shutdown { is: bool, notify: D }
    impl Shutdown { fn is_shutdown(&self) -> bool { self.is } }
    let mut sd = Shutdown { is: false, notify: d("notify") };
    let mut frames = (0..n).map(N);
    let mut total = None;
    while !sd.is_shutdown() {
        let maybe_frame = frames.next();
        let Some(frame) = maybe_frame else { break };
        *total.get_or_insert(0) += leaf(frame.0).await;
        if frame.0 == 2 { sd.is = true; drop(frame); wait().await; log("stop") }
    }
    let Shutdown { notify, .. } = sd;
    leaf(notify.len()).await;
    total
}
$($task)* pub async fn sqlx_transfer(amount: u64) -> Res<(usize, u64)> {
    let pool = Pool::new(2);
    let mut conn = pool.get().ok_or(Error::Closed)?;
    let mut tx = conn.begin();
    let from = tx.exec("select from").map(|n| n * 10)?;
    if from < leaf(amount).await { tx.rollback(); wait().await; return Err(Error::Protocol(format!("{from} < {amount}"))); }
    for q in [format!("update a {}", from - amount), format!("update b {amount}")] {
        tx.exec(&q)?;
        wait().await;
    }
    if amount == 7 { tx.exec("bad")?; }
    let n = tx.commit()?;
    let k = leaf(n).await;
    Ok((k, conn.exec("vacuum")?))
}
$($task)* pub async fn sqlx_rows(filter: &str) -> Res<Vec<(u64, Cow<'static, str>)>> {
    let pool = Pool::new(1);
    let rows = { let mut c = pool.get().unwrap(); let n = c.exec(filter)?; (0..n).map(|i| (i, N(i * 10))).collect::<Vec<_>>() };
    wait().await;
    let mut out = Vec::with_capacity(rows.len());
    for (i, row) in rows.into_iter().rev().step_by(2) {
        let name: Cow<'static, str> = match row.0 { 0 => "zero".into(), n if n > 20 && leaf(n).await != 40 => format!("n{n}").into(), _ => Cow::Borrowed("some") };
        out.push((i, name));
    }
    Ok(out)
}
$($task)* pub async fn pool_checkout(tries: usize) -> Res<u64> {
    let pool = Pool::new(1);
    let held = pool.get();
    let mut held = held;
    for i in 0..tries {
        let got = match pool.get() {
            Some(c) => Ok(c),
            None if i + 1 == tries => Err(Error::Busy(Busy(i as u64))),
            None => { if i == 1 { held = None; } wait().await; continue; }
        };
        let mut c = got?;
        let n = c.exec("ping").inspect(|n| log(n)).or_else(|e| { log(&e); Err(e) })?;
        return Ok(leaf(n + c.id).await);
    }
    Err(Error::Closed)
}
$($task)* pub async fn bb8_health() -> (usize, Vec<u64>) {
    let pool = Pool::new(3);
    let mut good = vec![];
    let mut bad = vec![];
    while let Some(mut c) = pool.get() {
        let q = if c.id == 2 { "bad" } else { "ok" };
        let r = c.exec(q);
        wait().await;
        if let Ok(n) = r && n > 1 { good.push(c) } else { bad.push((c, r.err())) }
    }
    log(format_args!("{} {}", good.len(), bad.len()));
    good.retain(|c| c.id != 1);
    wait().await;
    let ids = good.iter().map(|c| c.id).chain(bad.iter().map(|(c, _)| c.id)).collect();
    drop(good);
    leaf(bad).await;
    (pool.idle(), ids)
}
pub struct Timed<S> { pub inner: S, pub name: &'static str, pub seen: AtomicU64 }
pub struct Echo(pub D);
pub struct Limit<S> { pub inner: S, pub sem: Sem }
$($task)* pub trait Service: Sync { async fn call(&self, req: u64) -> Res<N>; }
$($task)* impl Service for Echo { async fn call(&self, req: u64) -> Res<N> { if req == 13 { return Err(Error::Io { kind: 13, ctx: leaf(d("unlucky")).await }); } let n = N(req); wait().await; Ok(n) } }
$($task)* impl<S: Service + Send + Sync> Service for Timed<S> { async fn call(&self, req: u64) -> Res<N> { let mut s = span(self.name); let r = self.inner.call(req).await; s.record(self.seen.fetch_add(1, Ordering::SeqCst)); r.map(|mut n| { n.0 += 100; n }) } }
$($task)* impl<S> Service for Limit<S> where S: Service + Send + Sync { async fn call(&self, req: u64) -> Res<N> { let _permit = self.sem.try_acquire()?; let out = self.inner.call(req).await?; if out.0 > 110 { log("big") } Ok(out) } }
$($task)* pub async fn tower_stack() -> Vec<String> {
    let svc = Timed { inner: Limit { inner: Timed { inner: Echo(d("echo")), name: "in", seen: 0.into() }, sem: Sem::new(1) }, name: "out", seen: 5.into() };
    let mut out = Vec::new();
    for req in [1, 13, 20] {
        let text = match svc.call(req).await { Ok(n) if n.0 > 210 => "large".into(), Ok(N(ref n)) => n.to_string(), Err(e @ Error::Io { .. }) => { wait().await; format!("{e}") } Err(e) => e.to_string() };
        out.push(text);
    }
    let Timed { inner: Limit { sem, .. }, .. } = svc;
    wait().await;
    out.push(sem.available().to_string());
    out
}
$($task)* pub async fn axum_handler(auth: Option<&str>, body: String, state: Arc<Lk<Vec<N>>>) -> Result<(u16, String), (u16, D)> {
    let Some(token) = auth.and_then(|h| h.strip_prefix("Bearer ")) else { return Err((401, d("unauth"))) };
    let user = leaf(token.to_owned()).await;
    let id: u64 = body.trim().parse().map_err(|_| (422, d("parse")))?;
    let mut users = state.lock();
    if users.iter().any(|u| u.0 == id) { wait().await; return Err((409, leaf(d("conflict")).await)); }
    users.push(N(id));
    let n = users.len();
    drop(users);
    Ok((201, format!("{user}{}", leaf(n).await)))
}
$($task)* pub async fn axum_calls() -> Vec<u16> {
    let state = Arc::new(Lk::new("users", vec![N(1)]));
    let mut codes = vec![];
    for (auth, body) in [(None, "1"), (Some("Basic x"), "1"), (Some("Bearer t"), " 1 "), (Some("Bearer t"), "x"), (Some("Bearer bob"), "2")] {
        let code = axum_handler(auth, body.to_string(), state.clone()).await.map_or_else(|(c, why)| { log(why.name()); c }, |(c, s)| { log(s); c });
        codes.push(code);
    }
    codes
}
$($task)* pub async fn middleware(path: &'static str) -> Res<String> {
    let req = span(path);
    let _e = req.enter();
    let seg: Vec<&str> = path.split('/').filter(|s| !s.is_empty()).collect();
    match seg.as_slice() {
        [] => Ok("root".into()),
        ["users", id] if let Ok(n) = id.parse::<u64>() => { let u = leaf(N(n)).await; Ok(format!("user {}", u.0)) }
        ["users", rest @ ..] => { let child = req.child("list"); wait().await; Ok(rest.join("+")) }
        [first, .., last] => { let t = (first.len(), leaf(last.len()).await); Ok(format!("{t:?}")) }
        [one] => Err(Error::Protocol(leaf(one.to_string()).await)),
    }
}
$($task)* pub async fn hyper_chunked(input: &'static [u8]) -> Res<Vec<u8>> {
    #[derive(Debug, Clone, Copy, PartialEq)] enum State { Size, Body, End }
    let mut state = State::Size; let mut remaining = 0usize; let mut out = Vec::new(); let mut it = input.iter().copied().peekable();
    let g = d("decoder");
    loop {
        state = match state {
            State::Size => {
                let mut size = None;
                while let Some(b) = it.next_if(|b| b.is_ascii_hexdigit()) { let digit = (b as char).to_digit(16).unwrap() as usize; size = Some(size.unwrap_or(0usize).checked_mul(16).ok_or("overflow")? + digit); }
                let Some(n) = size else { return Err(Error::Protocol(format!("{:?}", it.peek()))) };
                if it.next() != Some(b';') { leaf(d("err")).await; return Err("sep".into()); }
                remaining = leaf(n).await;
                if n == 0 { State::End } else { State::Body }
            }
            State::Body => { let Some(b) = it.next() else { wait().await; return Err(Error::Incomplete) }; out.push(b); remaining -= 1; if remaining == 0 { State::Size } else { State::Body } }
            State::End => break,
        };
        log(format_args!("{state:?}"));
    }
    wait().await;
    Ok(out)
}
$($task)* pub async fn reqwest_redirects(start: u64) -> Res<Vec<u64>> {
    let mut url = start; let mut chain = vec![]; let client = d("client");
    let resp = loop {
        if chain.len() > 3 { return Err(Error::Protocol(format!("too many: {chain:?}"))); }
        let resp = leaf((if url < 3 { 302 } else { 200 }, N(url + start))).await;
        match resp { (302, N(next)) => { chain.push(url); url = next; continue; } (200..=299, _) => break resp, (status, _) => return Err(Error::Io { kind: status, ctx: client }) }
    };
    log("got");
    let (_, body) = resp;
    chain.push(leaf(body.0).await);
    Ok(chain)
}
$($task)* pub async fn multipart() -> Res<usize> {
    let parts = [("a", Some("x.txt")), ("b", None), ("c", Some("bad\0")), ("d", Some("y"))];
    let mut files: Vec<Temp> = vec![];
    let mut bar = Bar::new(parts.len() as u64);
    let r: Res<()> = 'parse: {
        for (name, file) in parts {
            bar.inc(1);
            let Some(f) = file else { continue };
            let mut t = Temp::new(name);
            if let Err(e) = t.write(leaf(f).await.as_bytes()) { wait().await; break 'parse Err(e); }
            files.push(t);
        }
        Ok(())
    };
    if r.is_err() { log("clean"); files.clear(); wait().await; let n = bar.finish(); return Ok(n as usize); }
    let kept = files.drain(..).map(|f| f.persist("z")).collect::<Res<Vec<_>>>()?;
    Ok(kept.len())
}
} }
programs! {
    owned redis_loop();
    owned redis_reset();
    owned redis_db();
    owned redis_listener();
    owned shutdown_select(5);
    owned sqlx_transfer(7);
    owned sqlx_rows("abcdef");
    owned pool_checkout(4);
    owned bb8_health();
    owned tower_stack();
    owned axum_calls();
    owned middleware("/a/b/c");
    owned hyper_chunked(b"3;abc2;de0;");
    owned reqwest_redirects(1);
    owned multipart();
}
