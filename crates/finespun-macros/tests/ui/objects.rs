//! Methods that an object's block must not contain.

use finespun::prelude::*;

struct Borrows;

#[object]
impl Borrows {
    fn takes(&self, _name: &str) {}
}

struct Kept;

#[object]
impl Kept {
    fn keep(&'static self) {}
}

struct Consumed;

#[object]
impl Consumed {
    fn end(self) {}
}

struct Static;

#[object]
impl Static {
    async fn nobody() {}
}

struct Plain;

#[object]
impl Plain {
    fn name(this: &Self) {
        let _ = this;
    }
}

struct Parameters;

#[object]
impl Parameters {
    fn any<T>(&self, _value: T) {}
}

struct Named;

trait Name {
    fn name(&self) -> u32;
}

#[object]
impl Name for Named {
    fn name(&self) -> u32 {
        1
    }
}

fn main() {}
