//! Types shared by the bodies about coercions.
use super::kit::*;
use crate::harness::*;
use std::fmt::Debug;
use std::sync::Arc;

pub trait Area: Send + Sync + Debug { fn area(&self) -> u64; fn boxed(self) -> Box<dyn Area> where Self: Sized + 'static { Box::new(self) } }
impl Area for D { fn area(&self) -> u64 { self.len() } }
impl Area for N { fn area(&self) -> u64 { self.0 } }
impl Area for P { fn area(&self) -> u64 { self.n * self.k } }
pub trait Solid: Area { fn volume(&self) -> u64; }
impl Solid for N { fn volume(&self) -> u64 { self.0 * 10 } }
pub type Shape = Box<dyn Area>;
pub fn pair_of(a: &dyn Area, b: u64) -> u64 { a.area() * 100 + b }
pub fn own(a: Shape, b: u64) -> u64 { a.area() * 100 + b }
pub fn opt<'a>(a: Option<&'a dyn Area>, b: u64) -> u64 { a.map_or(0, |a| a.area()) + b }
pub fn text(a: &str, b: u64) -> u64 { a.len() as u64 + b }
pub fn slice(a: &[u64], b: u64) -> u64 { a.iter().sum::<u64>() + b }
pub fn slice_mut(a: &mut [u64], b: u64) -> u64 { a[0] += b; a.iter().sum::<u64>() }
pub fn apply(f: fn(u64) -> u64, b: u64) -> u64 { f(b) }
pub fn apply_dyn(f: &(dyn Fn(u64) -> u64 + Sync), b: u64) -> u64 { f(b) }
pub fn apply_mut(f: &mut dyn FnMut(u64) -> u64, b: u64) -> u64 { f(b) }
pub fn apply_once(f: Box<dyn FnOnce(u64) -> u64 + Send>, b: u64) -> u64 { f(b) }
pub fn inc(n: u64) -> u64 { n + 1 }
pub fn dec(n: u64) -> u64 { n - 1 }
pub struct Holder { pub list: Vec<Shape>, pub one: Shape, pub f: fn(u64) -> u64, pub n: u64 }
impl Holder { pub fn add(&mut self, s: Shape, n: u64) -> &mut Self { self.list.push(s); self.n += n; self } pub fn total(&self) -> u64 { self.list.iter().map(|s| s.area()).sum::<u64>() + self.one.area() + (self.f)(self.n) } }
#[derive(Debug)]
pub enum Node { Leaf(Box<[u64]>), Dyn(Box<dyn Area>, u64), Pair { a: Arc<dyn Area>, n: u64 } }
pub fn both<T>(a: T, b: T) -> [T; 2] { [a, b] }
pub fn wrap<T>(a: T, n: u64) -> (T, u64) { (a, n) }
