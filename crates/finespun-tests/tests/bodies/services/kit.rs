//! Types as they occur in real code bases.
use crate::harness::*;
use std::collections::*;
use std::fmt;
use std::ops::*;
use std::sync::{Arc, Mutex, atomic::*};

/// tracing span
pub struct Span {
    pub name: String,
    pub n: u64,
}
impl Drop for Span {
    fn drop(&mut self) {
        log(format_args!("close {} {}", self.name, self.n));
        point();
    }
}
pub fn span(n: impl Into<String>) -> Span {
    let name = n.into();
    point();
    log(format_args!("open {name}"));
    Span { name, n: 0 }
}
pub struct Entered<'a>(pub &'a Span);
impl Drop for Entered<'_> {
    fn drop(&mut self) {
        log(format_args!("exit {}", self.0.name));
    }
}
impl Span {
    pub fn enter(&self) -> Entered<'_> {
        log(format_args!("enter {}", self.name));
        Entered(self)
    }
    pub fn entered(self) -> Span {
        log("entered");
        self
    }
    pub fn record(&mut self, n: u64) -> &mut Self {
        self.n += n;
        self
    }
    pub fn child(&self, n: &str) -> Span {
        span(format!("{}.{}", self.name, n))
    }
}
/// semaphore
#[derive(Default)]
pub struct Sem {
    pub free: AtomicU64,
    pub waits: AtomicU64,
}
pub struct Permit<'a> {
    pub sem: &'a Sem,
    pub n: u64,
}
impl Drop for Permit<'_> {
    fn drop(&mut self) {
        let f = self.sem.free.fetch_add(self.n, Ordering::SeqCst);
        log(format_args!("release {} -> {}", self.n, f + self.n));
    }
}
impl Permit<'_> {
    pub fn forget(mut self) {
        self.n = 0;
    }
    pub fn merge(&mut self, mut other: Self) {
        self.n += std::mem::take(&mut other.n);
    }
    pub fn split(&mut self, n: u64) -> Option<Self> {
        if n > self.n {
            None
        } else {
            self.n -= n;
            Some(Permit { sem: self.sem, n })
        }
    }
}
impl Sem {
    pub fn new(n: u64) -> Sem {
        Sem { free: n.into(), waits: 0.into() }
    }
    pub fn try_acquire(&self) -> Result<Permit<'_>, Busy> {
        self.try_acquire_many(1)
    }
    pub fn try_acquire_many(&self, n: u64) -> Result<Permit<'_>, Busy> {
        point();
        if self.free.load(Ordering::SeqCst) < n {
            self.waits.fetch_add(1, Ordering::SeqCst);
            return Err(Busy(n));
        }
        self.free.fetch_sub(n, Ordering::SeqCst);
        log(format_args!("acquire {n}"));
        Ok(Permit { sem: self, n })
    }
    pub fn available(&self) -> u64 {
        self.free.load(Ordering::SeqCst)
    }
}
#[derive(Debug, Clone, PartialEq)]
pub struct Busy(pub u64);
impl fmt::Display for Busy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "busy {}", self.0)
    }
}
impl std::error::Error for Busy {}
/// error
#[derive(Debug)]
pub enum Error {
    Incomplete,
    Protocol(String),
    Busy(Busy),
    Io { kind: u64, ctx: D },
    Closed,
}
impl From<Busy> for Error {
    fn from(b: Busy) -> Self {
        log("from busy");
        Error::Busy(b)
    }
}
impl From<std::num::ParseIntError> for Error {
    fn from(e: std::num::ParseIntError) -> Self {
        Error::Protocol(e.to_string())
    }
}
impl From<&str> for Error {
    fn from(e: &str) -> Self {
        Error::Protocol(e.into())
    }
}
impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:?}")
    }
}
impl std::error::Error for Error {}
pub type Res<T> = Result<T, Error>;
/// A lock whose guard is `Send`.
pub struct Lk<T> {
    v: tokio::sync::Mutex<T>,
    pub name: &'static str,
}
pub struct LkGuard<'a, T> {
    inner: tokio::sync::MutexGuard<'a, T>,
    pub name: &'static str,
}
impl<T> Lk<T> {
    pub fn new(name: &'static str, v: T) -> Self {
        Lk { v: v.into(), name }
    }
    pub fn lock(&self) -> LkGuard<'_, T> {
        point();
        let Ok(inner) = self.v.try_lock() else { panic!("{} is locked", self.name) };
        log(format_args!("lock {}", self.name));
        LkGuard { inner, name: self.name }
    }
    pub fn try_lock(&self) -> Option<LkGuard<'_, T>> {
        match self.v.try_lock() {
            Ok(inner) => {
                log(format_args!("try lock {}", self.name));
                Some(LkGuard { inner, name: self.name })
            }
            Err(_) => {
                log(format_args!("contended {}", self.name));
                None
            }
        }
    }
    pub fn into_inner(self) -> T {
        self.v.into_inner()
    }
    pub fn get_mut(&mut self) -> &mut T {
        self.v.get_mut()
    }
}
impl Lk<u64> {
    pub fn peeked(&self) -> Box<u64> {
        Box::new(self.v.try_lock().map_or(0, |inner| *inner))
    }
}
impl<T> Deref for LkGuard<'_, T> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.inner
    }
}
impl<T> DerefMut for LkGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.inner
    }
}
impl<T> Drop for LkGuard<'_, T> {
    fn drop(&mut self) {
        log(format_args!("unlock {}", self.name));
    }
}
/// temp file
pub struct Temp {
    pub path: String,
    pub data: Vec<u8>,
    pub keep: bool,
}
impl Temp {
    pub fn new(p: &str) -> Temp {
        point();
        log(format_args!("create {p}"));
        Temp { path: p.into(), data: vec![], keep: false }
    }
    pub fn write(&mut self, b: &[u8]) -> Result<usize, Error> {
        if b.contains(&0) {
            return Err("zero".into());
        }
        self.data.extend_from_slice(b);
        Ok(b.len())
    }
    pub fn path(&self) -> &str {
        &self.path
    }
    pub fn persist(mut self, to: &str) -> Res<String> {
        self.keep = true;
        if to.is_empty() { Err(Error::Io { kind: 2, ctx: d("persist") }) } else { Ok(to.to_owned()) }
    }
}
impl Drop for Temp {
    fn drop(&mut self) {
        log(format_args!("{} {} {}", if self.keep { "kept" } else { "unlink" }, self.path, self.data.len()));
        point();
    }
}
/// progress bar
pub struct Bar {
    pub at: u64,
    pub of: u64,
}
impl Bar {
    pub fn new(of: u64) -> Bar {
        Bar { at: 0, of }
    }
    pub fn inc(&mut self, n: u64) {
        self.at += n;
        log(format_args!("{}/{}", self.at, self.of));
    }
    pub fn finish(self) -> u64 {
        log("bar done");
        self.at
    }
    pub fn wrap_iter<I: Iterator>(&mut self, it: I) -> impl Iterator<Item = I::Item> {
        it.inspect(|_| self.inc(1))
    }
}
impl Drop for Bar {
    fn drop(&mut self) {
        log(format_args!("bar {}/{}", self.at, self.of));
    }
}
/// frames, messages with destructors
#[derive(Debug)]
pub enum Frame {
    Simple(String),
    Int(u64),
    Bulk(N),
    Array(Vec<Frame>),
    Null,
}
/// bounded channel
pub struct Chan<T> {
    pub q: Mutex<VecDeque<T>>,
    pub cap: usize,
    pub closed: AtomicBool,
}
impl<T> Chan<T> {
    pub fn new(cap: usize) -> Arc<Self> {
        Arc::new(Chan { q: Mutex::default(), cap, closed: false.into() })
    }
    pub fn send(&self, t: T) -> Result<(), T> {
        let mut q = self.q.lock().unwrap();
        if q.len() >= self.cap || self.closed.load(Ordering::SeqCst) {
            Err(t)
        } else {
            q.push_back(t);
            Ok(())
        }
    }
    pub fn recv(&self) -> Option<T> {
        self.q.lock().unwrap().pop_front()
    }
    pub fn close(&self) {
        self.closed.store(true, Ordering::SeqCst);
        log("closed");
    }
    pub fn len(&self) -> usize {
        self.q.lock().unwrap().len()
    }
}
/// pool
pub struct Pool {
    pub idle: Mutex<Vec<u64>>,
    pub opened: AtomicU64,
}
pub struct Lease {
    pub id: u64,
    pub pool: Arc<Pool>,
    pub broken: bool,
}
impl Pool {
    pub fn new(n: u64) -> Arc<Pool> {
        Arc::new(Pool { idle: Mutex::new((1..=n).collect()), opened: n.into() })
    }
    pub fn get(self: &Arc<Self>) -> Option<Lease> {
        point();
        let id = self.idle.lock().unwrap().pop()?;
        log(format_args!("lease {id}"));
        Some(Lease { id, pool: self.clone(), broken: false })
    }
    pub fn idle(&self) -> usize {
        self.idle.lock().unwrap().len()
    }
}
impl Lease {
    pub fn exec(&mut self, q: &str) -> Res<u64> {
        if q.starts_with("bad") {
            self.broken = true;
            return Err("bad query".into());
        }
        Ok(q.len() as u64)
    }
    pub fn begin(&mut self) -> Tx<'_> {
        log(format_args!("begin on {}", self.id));
        Tx { lease: self, ops: vec![], open: true }
    }
}
impl Drop for Lease {
    fn drop(&mut self) {
        log(format_args!("return {} {}", self.id, self.broken));
        if !self.broken {
            self.pool.idle.lock().unwrap().push(self.id);
        }
        point();
    }
}
pub struct Tx<'a> {
    pub lease: &'a mut Lease,
    pub ops: Vec<String>,
    pub open: bool,
}
impl Tx<'_> {
    pub fn exec(&mut self, q: &str) -> Res<u64> {
        let n = self.lease.exec(q)?;
        self.ops.push(q.into());
        Ok(n)
    }
    pub fn commit(mut self) -> Res<usize> {
        self.open = false;
        Ok(self.ops.len())
    }
    pub fn rollback(self) {}
}
impl Drop for Tx<'_> {
    fn drop(&mut self) {
        log(format_args!("{} {:?}", if self.open { "rollback" } else { "committed" }, self.ops));
    }
}
/// scopeguard
pub struct Defer<F: FnMut()>(pub F);
impl<F: FnMut()> Drop for Defer<F> {
    fn drop(&mut self) {
        (self.0)()
    }
}
pub fn defer<F: FnMut()>(f: F) -> Defer<F> {
    Defer(f)
}
