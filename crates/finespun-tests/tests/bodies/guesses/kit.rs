//! Parts of the bodies: guards, constants with destructors, methods with misleading names.

use crate::harness::*;
use std::ops::*;
pub struct Pair(pub D, pub D);
pub struct Fields {
    pub x: D,
    pub y: D,
    pub n: u64,
}
pub fn fields(a: &'static str, b: &'static str) -> Fields {
    Fields { x: d(a), y: d(b), n: 7 }
}
pub fn pair(a: &'static str, b: &'static str) -> Pair {
    Pair(d(a), d(b))
}
/// A type whose destructor may panic on purpose.
#[derive(Debug)]
pub struct P(pub &'static str);
impl Drop for P {
    fn drop(&mut self) {
        log(format_args!("drop {}", self.0));
        point();
    }
}
impl P {
    pub fn len(&self) -> u64 {
        self.0.len() as u64
    }
}
impl P {
    pub fn other(&self) -> D {
        d("other")
    }
}
pub fn p(n: &'static str) -> P {
    point();
    log(format_args!("make {n}"));
    P(n)
}
#[derive(Debug)]
pub struct Seen<T>(pub T);
impl<T> Deref for Seen<T> {
    type Target = T;
    fn deref(&self) -> &T {
        log("deref");
        &self.0
    }
}
impl<T> DerefMut for Seen<T> {
    fn deref_mut(&mut self) -> &mut T {
        log("deref mut");
        &mut self.0
    }
}
pub struct Guard(pub D, pub u64);
impl Deref for Guard {
    type Target = u64;
    fn deref(&self) -> &u64 {
        &self.1
    }
}
pub fn held() -> Guard {
    Guard(d("guard"), 3)
}
pub struct OGuard(pub D, pub Option<u64>);
impl Deref for OGuard {
    type Target = Option<u64>;
    fn deref(&self) -> &Option<u64> {
        &self.1
    }
}
pub fn oheld() -> OGuard {
    OGuard(d("oguard"), Some(3))
}
pub struct AGuard(pub D, pub [u64; 2]);
impl Deref for AGuard {
    type Target = [u64; 2];
    fn deref(&self) -> &[u64; 2] {
        &self.1
    }
}
pub fn aheld() -> AGuard {
    AGuard(d("aguard"), [3, 4])
}
pub struct Token;
impl Drop for Token {
    fn drop(&mut self) {
        log("drop token");
    }
}
impl Token {
    pub fn value(&self) -> u64 {
        4
    }
    pub fn len(&self) -> u64 {
        5
    }
}
pub const K: D = D("K");
pub const EMPTY: Vec<u64> = Vec::new();
pub const small: u64 = 3;
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Low {
    low,
    high,
}
pub use Low::{high, low};
pub trait Show: Sync + Send {
    fn show(&self) -> u64;
}
impl Show for D {
    fn show(&self) -> u64 {
        self.len()
    }
}
impl Show for N {
    fn show(&self) -> u64 {
        self.0
    }
}
pub fn two(a: u64, b: u64) -> u64 {
    log(format_args!("two {a} {b}"));
    a + b
}
/// A tree-like type whose methods take `&self` under std's names.
pub struct Mat(pub D);
impl Mat {
    pub fn sum(&self) -> u64 {
        self.0.len()
    }
    pub fn product(&self) -> u64 {
        2
    }
    pub fn fold(&self, n: u64) -> u64 {
        n
    }
    pub fn unwrap(&self) -> u64 {
        3
    }
    pub fn into(&self) -> u64 {
        4
    }
    pub fn reduce(&self) -> u64 {
        5
    }
    pub fn map(&self, f: impl Fn(u64) -> u64) -> u64 {
        f(6)
    }
    pub fn zip(&self) -> u64 {
        7
    }
    pub fn scan(&self) -> u64 {
        8
    }
    pub fn collect(&self) -> u64 {
        9
    }
    pub fn expect(&self, _: &str) -> u64 {
        1
    }
    pub fn abs(&self) -> u64 {
        3
    }
    pub fn ok(&self) -> Option<u64> {
        Some(1)
    }
    pub fn filter(&self) -> u64 {
        2
    }
    pub fn rev(&self) -> u64 {
        1
    }
    pub fn inspect(&self) -> u64 {
        5
    }
}
pub fn mat(n: &'static str) -> Mat {
    Mat(d(n))
}
pub struct SendPtr(pub *mut u64);
// SAFETY: the pointer points to a local of a body, and one worker at a time runs the body.
unsafe impl Send for SendPtr {}
// SAFETY: one worker at a time runs the body, so no two threads access the local at once.
unsafe impl Sync for SendPtr {}
impl SendPtr {
    pub fn get(&self) -> u64 {
        // SAFETY: the body has not ended, so the local is alive.
        unsafe { *self.0 }
    }
    pub fn set(&self, n: u64) {
        // SAFETY: the body has not ended, so the local is alive.
        unsafe { *self.0 = n }
    }
}
pub struct LR {
    pub left: u64,
    pub right: D,
}

impl N {
    pub fn val(&self) -> u64 {
        self.0
    }

    pub fn opt(&self) -> Option<u64> {
        Some(self.0)
    }

    pub fn nothing(&self) -> Option<u64> {
        None
    }

    pub fn r(&self) -> &u64 {
        &self.0
    }
}

pub fn mk(n: u64) -> N {
    log(format_args!("mk {n}"));
    N(n)
}

pub struct Big {
    pub a: D,
    pub b: D,
    pub n: u64,
}
pub fn big() -> Big {
    Big { a: d("a"), b: d("b"), n: 1 }
}
