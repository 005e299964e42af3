//! The turn of a loop that has become a frame.
//!
//! Three loops run tasks and wait for those that suspend: `join_all` and `reduce` ([`many`](crate::iterate::many)), a part of a
//! group, and the calls of an array's elements at one node. Each is in one of these states:
//!
//! ```text
//!               asks for its turn                        no task is left to begin
//!   WAITS FOR <------------------- RUNS ------------------------------> WAITS FOR ITS CHILDREN --> ended
//!   ITS TURN  ------------------->  ^                                        |
//!               the turn has run    +----------------------------------------+
//!                                      an event for which the loop must act
//! ```
//!
//! A loop asks for a turn when its stack is unwound to frames while tasks are left to begin. It has then made a part of
//! the tasks ready for thieves, or has made room for the frames that are ready, and continues after them. It must not
//! wait for its children first: they may wait for tasks that it has not begun.
//!
//! **Cancellation.** A loop that waits for its turn becomes ready while children are outstanding, which may borrow from
//! it. So the loop's vtable has a `cancel` that gives up the tasks not begun, and then waits for the children.
//!
//! **Panics.** The first panic in the loop's order, or of a group in time, is kept until no child is outstanding.

use std::future::{Ready, ready};

use crate::call::outcome::Child;
use crate::call::yielding::YieldNow;
use crate::frame::context::Cx;
use crate::frame::{BodyFrame, VTable};

/// The turn that a loop waits for, if any: a ready frame without work. Its completion resumes the loop.
pub(crate) struct Turn(Option<Child<YieldNow>>);

/// No activity of a group: the loop's `on_child_complete` ignores it.
const TABLE: &VTable = &VTable { inner: true, ..*BodyFrame::<Ready<()>>::VTABLE };

impl Turn {
    pub(crate) const NONE: Turn = Turn(None);

    /// Queues a turn behind the frames that the loop has just made ready.
    pub(crate) fn ask(&mut self, cx: Cx) {
        let turn = BodyFrame::with_table(cx, ready(()), TABLE);
        cx.make_ready(turn);
        self.0 = Some(Child::new(turn));
    }

    /// Registers the loop's wait for its turn, if it has asked for one. Returns whether it has.
    pub(crate) fn wait(&self, cx: Cx) -> bool {
        self.0.as_ref().inspect(|turn| cx.wait_for(turn.frame())).is_some()
    }
}
