//! References that are invalid: a `Ref` is invariant in its type.

use finespun::prelude::*;

/// One end of a reference reads the values that the other end writes.
fn shorter<'a>(reference: Ref<&'static str>) -> Ref<&'a str> {
    reference
}

fn main() {}
