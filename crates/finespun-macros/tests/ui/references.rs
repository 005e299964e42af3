//! What a reference is not.

use finespun::prelude::*;

/// What one end of a reference writes the other reads.
fn shorter<'a>(reference: Ref<&'static str>) -> Ref<&'a str> {
    reference
}

fn main() {}
