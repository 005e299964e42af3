//! Finespun.
#![deny(unsafe_op_in_unsafe_fn)]

mod atomics;
mod observe;
mod runtime;
mod sched;
mod task;

pub use observe::Stats;
pub use runtime::{Builder, Error, RunError, Runtime};
pub use task::call::Task;
pub use task::many::{join_all, reduce};
pub use task::spawn::{Handle, Scope, scope, spawn};
pub use task::yielding::{checkpoint, yield_now};
pub use task::suspend::{Continuation, suspend};

#[doc(hidden)]
pub mod __rt {
    pub use crate::task::call::{
        Task, call, call_async, call_guarded, call_straight, never, pinned_task, send, stack_task, straight_task, wait,
    };
    pub use crate::task::context::{Cx, cx};
    pub use crate::task::fallback::*;
    pub use crate::task::join::*;
    pub use crate::task::outcome::{Called, Child, Outcome};
}
