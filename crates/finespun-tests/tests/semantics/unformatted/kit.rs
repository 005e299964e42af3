//! Types shared by the bodies of this directory.
use crate::harness::*;
/// A type with a destructor and fields that are `Copy`.
#[derive(Debug, PartialEq)]
pub struct P {
    pub n: u64,
    pub k: u64,
}
impl Drop for P {
    fn drop(&mut self) {
        log(format_args!("drop P{} {}", self.n, self.k));
    }
}
pub fn p(n: u64, k: u64) -> P {
    point();
    log(format_args!("make P{n}"));
    P { n, k }
}
/// An enum with a destructor.
#[derive(Debug, PartialEq)]
pub enum Sig {
    On(u64),
    Both { a: u64, b: u64 },
    Off,
}
impl Drop for Sig {
    fn drop(&mut self) {
        log(format_args!(
            "drop Sig::{}",
            match self {
                Sig::On(n) => *n,
                Sig::Both { a, b } => *a * 10 + *b,
                Sig::Off => 0,
            }
        ));
    }
}
pub fn on(n: u64) -> Sig {
    point();
    log(format_args!("make on {n}"));
    Sig::On(n)
}
pub fn two(a: u64, b: u64) -> Sig {
    point();
    log(format_args!("make two {a}"));
    Sig::Both { a, b }
}
pub fn off() -> Sig {
    point();
    log("make off");
    Sig::Off
}
/// A generic type with a destructor.
#[derive(Debug)]
pub struct G<T>(pub T, pub u64);
impl<T> Drop for G<T> {
    fn drop(&mut self) {
        log(format_args!("drop G{}", self.1));
    }
}
pub fn g<T>(t: T, n: u64) -> G<T> {
    point();
    log(format_args!("make G{n}"));
    G(t, n)
}
/// A type without a destructor of its own, whose parts have one.
#[derive(Debug)]
pub struct Part {
    pub id: u64,
    pub d: D,
    pub e: D,
}
pub fn part(id: u64) -> Part {
    Part { id, d: d("part.d"), e: d("part.e") }
}
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cp {
    pub x: u64,
    pub y: u64,
}
