//! The results of activities move between threads, and only the library's types can say whether the group ends.

use std::ops::ControlFlow;
use std::rc::Rc;

use finespun::group::{Ends, Span};

struct Mine;

impl Ends for Mine {
    type Value = Rc<u64>;
    type Break = Rc<u64>;
    type Whole<T> = T;
    fn branch(self) -> ControlFlow<Rc<u64>, Rc<u64>> {
        ControlFlow::Continue(Rc::new(1))
    }
    fn is_break(&self) -> bool {
        true
    }
    fn all<T>(whole: T) -> T {
        whole
    }
    fn first<T>(_: Rc<u64>) -> T {
        unreachable!()
    }
}

struct Lies;

impl Span for Lies {
    type Index = u64;
    fn count(&self) -> u64 {
        2
    }
    fn at(&self, k: u64) -> u64 {
        k
    }
}

fn main() {}
