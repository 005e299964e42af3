//! Arguments of the attribute, and items that it does not apply to.

use finespun::prelude::*;

#[task(fast)]
async fn unknown() {}

#[task(stack, pinned)]
async fn both() {}

#[task]
struct NotCode;

fn main() {}
