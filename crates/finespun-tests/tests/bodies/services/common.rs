//! Parts shared by several of the programs: spans, errors, transactions, pools, metrics.

use crate::harness::*;
use std::fmt::{self, Display};
use std::sync::{Arc, Mutex, atomic::*};

pub struct Span(pub &'static str, pub u64);
impl Drop for Span {
    fn drop(&mut self) {
        log(format_args!("span {} {}", self.0, self.1));
        point();
    }
}
pub fn span(n: &'static str) -> Span {
    point();
    log(format_args!("enter {n}"));
    Span(n, 0)
}
impl Span {
    pub fn record(&mut self, n: u64) {
        self.1 += n;
    }
    pub fn total(&self) -> u64 {
        self.1
    }
    pub fn finish(self) -> u64 {
        log("finish");
        self.1
    }
    pub fn child(&self, n: &'static str) -> Span {
        span(n)
    }
    pub fn with(mut self, n: u64) -> Self {
        self.1 = n;
        self
    }
}
#[derive(Debug, Clone, PartialEq)]
pub enum Error {
    NotFound(String),
    Timeout { after: u64 },
    Conflict,
    Parse(String),
}
impl Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::NotFound(s) => write!(f, "not found {s}"),
            Error::Timeout { after } => write!(f, "timeout {after}"),
            Error::Conflict => f.write_str("conflict"),
            Error::Parse(p) => write!(f, "parse {p}"),
        }
    }
}
impl std::error::Error for Error {}
impl From<std::num::ParseIntError> for Error {
    fn from(e: std::num::ParseIntError) -> Self {
        log("from");
        Error::Parse(e.to_string())
    }
}
impl From<fmt::Error> for Error {
    fn from(_: fmt::Error) -> Self {
        Error::Conflict
    }
}
pub struct Tx {
    pub ops: Vec<String>,
    pub done: bool,
    pub name: &'static str,
}
impl Tx {
    pub fn begin(name: &'static str) -> Tx {
        log(format_args!("begin {name}"));
        point();
        Tx { ops: vec![], done: false, name }
    }
    pub fn exec(&mut self, op: impl Into<String>) -> Result<usize, Error> {
        let op = op.into();
        if op.contains("bad") {
            return Err(Error::Conflict);
        }
        self.ops.push(op);
        Ok(self.ops.len())
    }
    pub fn commit(mut self) -> Result<usize, Error> {
        self.done = true;
        log(format_args!("commit {}", self.ops.len()));
        Ok(self.ops.len())
    }
}
impl Drop for Tx {
    fn drop(&mut self) {
        if !self.done {
            log(format_args!("rollback {} {:?}", self.name, self.ops));
        } else {
            log("tx closed")
        }
    }
}
pub struct Pool {
    pub free: Mutex<Vec<u64>>,
    pub made: AtomicU64,
}
pub struct Conn {
    pub id: u64,
    pub pool: Arc<Pool>,
    pub broken: bool,
}
impl Drop for Conn {
    fn drop(&mut self) {
        log(format_args!("return {} {}", self.id, self.broken));
        if !self.broken {
            self.pool.free.lock().unwrap().push(self.id)
        }
    }
}
impl Pool {
    pub fn new(n: u64) -> Arc<Pool> {
        Arc::new(Pool { free: Mutex::new((0..n).collect()), made: AtomicU64::new(n) })
    }
    pub fn get(self: &Arc<Self>) -> Option<Conn> {
        point();
        let id = self.free.lock().unwrap().pop()?;
        log(format_args!("get {id}"));
        Some(Conn { id, pool: self.clone(), broken: false })
    }
    pub fn get_or_make(self: &Arc<Self>) -> Conn {
        self.get().unwrap_or_else(|| {
            let id = self.made.fetch_add(1, Ordering::SeqCst);
            log(format_args!("open {id}"));
            Conn { id, pool: Arc::clone(self), broken: false }
        })
    }
}
impl Conn {
    pub fn query(&self, q: &str) -> Result<Vec<(u64, String)>, Error> {
        if q.is_empty() {
            Err(Error::NotFound("q".into()))
        } else {
            Ok(q.split(' ').enumerate().map(|(i, w)| (i as u64, w.to_string())).collect())
        }
    }
}
pub struct Metrics {
    pub hits: u64,
    pub misses: u64,
    pub label: String,
}
impl Drop for Metrics {
    fn drop(&mut self) {
        log(format_args!("metrics {} {}/{}", self.label, self.hits, self.misses));
    }
}
#[derive(Debug, Clone)]
pub struct Page {
    pub items: Vec<u64>,
    pub next: Option<usize>,
}
