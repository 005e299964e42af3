//! The leaves as tasks.

use fs::prelude::{Continuation, suspend, task, yield_now};

use crate::trace::T;
use crate::values::{D, Section, Seen};

pub use fs::join;

/// Returns its argument, after a wait that is satisfied at once.
#[task]
pub async fn leaf<V: Send>(value: V) -> V {
    suspend(move |k: Continuation<V>| k.resolve(value)).await
}

leaves! { [#[task]] [#[task(pinned)]] }
