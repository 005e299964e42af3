//! Tracked values: their construction, destruction and uses are events of a trace.

use std::fmt::{self, Debug};

use serde::{Deserialize, Serialize};

use crate::trace::T;

/// A value with a destructor, whose fields are all `Copy`.
#[derive(PartialEq, PartialOrd, Serialize, Deserialize)]
pub struct D(pub u64, pub T);

/// The same with named fields.
#[derive(PartialEq, Serialize, Deserialize)]
pub struct Owner {
    pub k: u64,
    pub t: T,
}

/// A value with a destructor and a field with a destructor.
#[derive(PartialEq, Serialize, Deserialize)]
pub struct Held {
    pub k: u64,
    pub inner: D,
}

/// Like the guard of a lock: counts the open sections.
#[derive(PartialEq, Serialize, Deserialize)]
pub struct Section(pub u64, pub T);

/// A tuple struct of fields with destructors.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub struct Duo(pub D, pub D);

/// A struct of fields with destructors.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub struct Parts {
    pub x: D,
    pub y: D,
    pub k: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Point {
    pub a: u64,
    pub b: u64,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub enum Shape {
    Empty,
    One(D),
    Both { d: D, k: u64 },
}

/// An iterator with a destructor, of values with destructors.
pub struct Row {
    pub next: u64,
    pub end: u64,
    pub t: T,
}

impl Iterator for Row {
    type Item = D;

    fn next(&mut self) -> Option<D> {
        self.t.log(format_args!("next of row at {}", self.next));
        (self.next < self.end).then(|| {
            self.next += 1;
            self.t.d(self.next - 1)
        })
    }
}

pub const LOW: u64 = 1;
pub const HIGH: u64 = 4;

impl Drop for D {
    fn drop(&mut self) {
        self.1.dropped(format_args!("drop D{}", self.0));
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        self.t.dropped(format_args!("drop Owner{}", self.k));
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.inner.1.dropped(format_args!("drop Held{}", self.k));
    }
}

impl Drop for Section {
    fn drop(&mut self) {
        let open = self.1.closed();
        self.1.dropped(format_args!("leave section {}, {open} open", self.0));
    }
}

impl Drop for Row {
    fn drop(&mut self) {
        self.t.dropped(format_args!("drop row at {}", self.next));
    }
}

impl Debug for D {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "D{}", self.0)
    }
}

impl Debug for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Owner{}", self.k)
    }
}

impl Debug for Held {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Held{}({:?})", self.k, self.inner)
    }
}

impl Debug for Section {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Section{}", self.0)
    }
}

impl T {
    pub fn d(self, k: u64) -> D {
        self.log(format_args!("new D{k}"));
        D(k, self)
    }

    pub fn owner(self, k: u64) -> Owner {
        self.log(format_args!("new Owner{k}"));
        Owner { k, t: self }
    }

    pub fn held(self, k: u64) -> Held {
        Held { k, inner: self.d(k + 1) }
    }

    pub fn duo(self, k: u64) -> Duo {
        Duo(self.d(k), self.d(k + 1))
    }

    pub fn parts(self, k: u64) -> Parts {
        Parts { x: self.d(k), y: self.d(k + 1), k }
    }

    pub fn shape(self, k: u64) -> Shape {
        match k % 3 {
            0 => Shape::Empty,
            1 => Shape::One(self.d(k)),
            _ => Shape::Both { d: self.d(k), k },
        }
    }

    pub fn row(self, k: u64) -> Row {
        Row { next: 0, end: k % 4, t: self }
    }

    pub fn pick(self, k: u64) -> Option<D> {
        (k % 3 != 0).then(|| self.d(k))
    }

    pub fn attempt(self, k: u64) -> Result<D, D> {
        if k % 4 == 3 { Err(self.d(k)) } else { Ok(self.d(k)) }
    }

    pub fn some(self, k: u64) -> Option<u64> {
        (k % 3 != 0).then_some(k)
    }

    pub fn checked(self, k: u64) -> Result<u64, D> {
        if k % 4 == 3 { Err(self.d(k)) } else { Ok(k) }
    }

    pub fn list(self, k: u64) -> Vec<D> {
        (0..k % 4).map(|i| self.d(i)).collect()
    }

    pub fn section(self, k: u64) -> Section {
        let open = self.opened();
        self.log(format_args!("enter section {k}, {open} open"));
        Section(k, self)
    }
}

/// Defines the same as functions.
macro_rules! functions {
    ($($name:ident $method:ident $ty:ty;)*) => {
        $(
            pub fn $name(t: T, k: u64) -> $ty {
                t.$method(k)
            }
        )*
    };
}

functions! {
    new_d d D;
    new_owner owner Owner;
    new_held held Held;
    new_duo duo Duo;
    new_parts parts Parts;
    new_shape shape Shape;
    new_row row Row;
    new_pick pick Option<D>;
    new_attempt attempt Result<D, D>;
    new_some some Option<u64>;
    new_checked checked Result<u64, D>;
    new_list list Vec<D>;
    new_section section Section;
}

/// The number that a value returns when it is read.
pub trait Seen {
    fn seen(&self) -> u64;
}

pub fn see<X: Seen + ?Sized>(x: &X) -> u64 {
    x.seen()
}

/// Changes a value in place.
pub fn change(d: &mut D) -> u64 {
    d.1.log(format_args!("change D{}", d.0));
    d.0 = (d.0 + 10) % 1000;
    d.0
}

pub fn eat<X>(_: X) {}

pub fn once<X>(run: impl FnOnce() -> X) -> X {
    run()
}

impl Seen for D {
    fn seen(&self) -> u64 {
        self.1.log(format_args!("read D{}", self.0));
        self.0
    }
}

impl Seen for Owner {
    fn seen(&self) -> u64 {
        self.t.log(format_args!("read Owner{}", self.k));
        self.k
    }
}

impl Seen for Held {
    fn seen(&self) -> u64 {
        self.inner.seen()
    }
}

impl Seen for Section {
    fn seen(&self) -> u64 {
        self.1.log(format_args!("read section {}", self.0));
        self.0
    }
}

impl Seen for Duo {
    fn seen(&self) -> u64 {
        self.0.seen() + self.1.seen()
    }
}

impl Seen for Parts {
    fn seen(&self) -> u64 {
        self.x.seen() + self.y.seen() + self.k
    }
}

impl Seen for Point {
    fn seen(&self) -> u64 {
        self.a + 2 * self.b
    }
}

impl Seen for Shape {
    fn seen(&self) -> u64 {
        match self {
            Shape::Empty => 0,
            Shape::One(d) => d.seen(),
            Shape::Both { d, k } => d.seen() + k,
        }
    }
}

impl Seen for Row {
    fn seen(&self) -> u64 {
        self.end - self.next
    }
}

impl Seen for u64 {
    fn seen(&self) -> u64 {
        *self
    }
}

impl Seen for bool {
    fn seen(&self) -> u64 {
        *self as u64
    }
}

impl Seen for () {
    fn seen(&self) -> u64 {
        0
    }
}

impl Seen for str {
    fn seen(&self) -> u64 {
        self.len() as u64
    }
}

impl Seen for String {
    fn seen(&self) -> u64 {
        self.len() as u64
    }
}

impl<X: Seen + ?Sized> Seen for &X {
    fn seen(&self) -> u64 {
        (**self).seen()
    }
}

impl<X: Seen + ?Sized> Seen for &mut X {
    fn seen(&self) -> u64 {
        (**self).seen()
    }
}

impl<X: Seen> Seen for Box<X> {
    fn seen(&self) -> u64 {
        (**self).seen()
    }
}

impl<X: Seen> Seen for Option<X> {
    fn seen(&self) -> u64 {
        self.as_ref().map_or(0, Seen::seen)
    }
}

impl<X: Seen, Y: Seen> Seen for Result<X, Y> {
    fn seen(&self) -> u64 {
        match self {
            Ok(x) => x.seen(),
            Err(y) => y.seen() + 1,
        }
    }
}

impl<X: Seen> Seen for [X] {
    fn seen(&self) -> u64 {
        self.iter().map(Seen::seen).sum()
    }
}

impl<X: Seen> Seen for Vec<X> {
    fn seen(&self) -> u64 {
        self[..].seen()
    }
}

impl<X: Seen, const N: usize> Seen for [X; N] {
    fn seen(&self) -> u64 {
        self[..].seen()
    }
}

impl<X: Seen, Y: Seen> Seen for (X, Y) {
    fn seen(&self) -> u64 {
        self.0.seen() + self.1.seen()
    }
}
