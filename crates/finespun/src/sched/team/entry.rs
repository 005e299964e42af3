//! One worker as the other workers see it, and its host.

use std::cell::Cell;
use std::collections::HashMap;

use crate::atomics::AtomicBool;
use crate::frame::context::{Cx, StateBox};
use crate::frame::front::Front;
use crate::frame::guard::Flags;
use crate::frame::pool::Pool;
use crate::frame::{FrameRef, Header};
use crate::run::context::Context;

use super::super::deque::Deque;
use super::super::injector::Injector;
#[cfg(feature = "visits")]
use super::super::visit::Door;

/// One worker, as the other workers see it.
pub(crate) struct WorkerEntry {
    pub(crate) deque: Deque<Header>,
    pub(super) state: StateBox,
    /// Ready frames of the worker's nodes, queued by other threads.
    pub(crate) inbox: Injector,
    pub(super) host: Box<dyn Host>,
    #[cfg(feature = "visits")]
    pub(in super::super) door: Door,
}

// SAFETY: in the worker's state, threads other than its worker use only the front, the counters and the exhausted mark,
// which are atomic; and the pool, to walk it, while the idling mutex keeps all workers parked, which orders the walk
// after everything that the worker did before it parked. Only its worker makes the deque's owner token. Other threads
// call only the methods of the host that `Host` allows them.
unsafe impl Sync for WorkerEntry {}
// SAFETY: the builder's thread makes the entry, the worker uses it from the start of the worker's thread, and another
// thread retires it only after it has joined the worker's thread.
unsafe impl Send for WorkerEntry {}

/// For a deadlock report: descriptions of the objects and elements that leaves wait for.
pub(crate) type Waits = HashMap<FrameRef, String>;

/// A worker's state beside its frames: nodes with objects, and a mailbox. Implemented by `object::host::Nodes`, and
/// by `NoNodes` in a build without objects.
///
/// Only the worker itself calls these methods, except `waits` and `report_waits`.
pub(crate) trait Host {
    /// Attaches the host when the worker begins, at the first of the worker's nodes.
    fn attach(&self, cx: Cx);
    /// Moves the worker to `node`, one of its own nodes.
    fn enter_node(&self, cx: Cx, node: u32);
    /// Returns whether a message can be handled, or an earlier one could not be sent yet.
    fn any(&self) -> bool;
    /// Returns whether messages wait for room at their receivers.
    fn holds(&self) -> bool;
    /// Returns whether the worker can only retry sends for which the receivers had no room.
    fn is_stuck(&self) -> bool;
    /// Handles up to `messages` messages, but none after one that has made a frame ready. Returns whether it handled or
    /// sent a message, or resumed a sender.
    fn poll(&self, cx: Cx, messages: usize, ready: &Cell<Option<FrameRef>>) -> bool;
    /// Sends the request of the pending call, if one exists.
    fn send_pending_call(&self, cx: Cx);
    /// Notes that the worker has found no work.
    fn rest(&self);
    /// Calls `nudge` with each worker of another process that must handle messages for this one to continue, perhaps, until
    /// it returns true.
    fn awaited(&self, nudge: &mut dyn FnMut(u32) -> bool);
    /// Returns whether another worker's message waits or is on its way. Any thread may call this.
    fn waits(&self) -> bool;
    /// As [`waits`](Host::waits), but not for a message that its sender, in another process, is still writing.
    fn has_arrived(&self) -> bool;
    /// Returns the numbers of messages sent to and received from other workers, where the fabric counts them. Any thread
    /// may call this, while all workers are parked.
    fn traffic(&self) -> (u64, u64);
    /// Adds descriptions for the leaves that wait for an object or an array of this worker. Any thread may call this,
    /// while all workers are parked.
    fn report_waits(&self, waits: &mut Waits);
    /// Ends the waits for other processes that belong to swept runs.
    fn sweep(&self, of_swept: &dyn Fn(u32) -> bool);
    /// Detaches the host when the worker ends, and destroys its objects.
    fn detach(&self, cx: Cx);
    /// Drops the messages that wait.
    ///
    /// # Safety
    /// All workers have ended.
    unsafe fn discard_messages(&self);
}

impl WorkerEntry {
    /// Returns the pointer through which the worker uses its state.
    ///
    /// # Safety
    /// Called by the worker's thread, which keeps the team while it uses the result.
    pub(in super::super) unsafe fn cx(&self) -> Cx {
        // SAFETY: the caller is the worker's thread, and the team keeps the state.
        unsafe { self.state.cx() }
    }

    /// Makes the worker check whether its run has been cancelled: see [`Context::set_exhausted`].
    pub(super) fn set_exhausted(&self) {
        // SAFETY: every worker's state begins with a `Context`.
        unsafe { self.state.state::<Context>() }.set_exhausted();
    }

    pub(crate) fn host(&self) -> &dyn Host {
        &*self.host
    }

    /// Returns the number of frames that the worker has run.
    pub(crate) fn resumptions(&self) -> u64 {
        self.state.core().counters.resumptions.get()
    }

    /// Returns the worker's frame pool. Only while all workers are parked, or after they have ended.
    pub(in super::super) fn pool(&self) -> &Pool {
        self.state.core().pool()
    }

    pub(crate) fn request(&self, flags: Flags) {
        self.state.core().front.guard.request(flags);
    }

    /// Whether the worker runs a frame or handles messages: only then can it promote.
    pub(crate) fn running(&self) -> &AtomicBool {
        &self.front().running
    }

    pub(in super::super) fn front(&self) -> &Front {
        &self.state.core().front
    }
}
