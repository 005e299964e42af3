//! The host of a worker in a build without objects: it has no object and receives no message.

use std::cell::Cell;

use super::team::{Host, Waits};
use crate::frame::FrameRef;
use crate::frame::context::Cx;

pub(crate) struct NoNodes;

impl NoNodes {
    /// Makes a host for each worker.
    pub(crate) fn hosts(workers: usize) -> Vec<Box<dyn Host>> {
        (0..workers).map(|_| Box::new(NoNodes) as Box<dyn Host>).collect()
    }
}

impl Host for NoNodes {
    fn attach(&self, cx: Cx) {
        let core = cx.core();
        core.first_node.set(core.worker.get());
        core.node.set(core.worker.get());
    }

    fn enter_node(&self, _: Cx, _: u32) {
        unreachable!("a worker without objects has one node");
    }

    fn any(&self) -> bool {
        false
    }

    fn holds(&self) -> bool {
        false
    }

    fn awaited(&self, _: &mut dyn FnMut(u32) -> bool) {}

    fn is_stuck(&self) -> bool {
        false
    }

    fn poll(&self, _: Cx, _: usize, _: &Cell<Option<FrameRef>>) -> bool {
        false
    }

    fn send_pending_call(&self, _: Cx) {
        unreachable!("only a call of an object is pending");
    }

    fn rest(&self) {}

    fn waits(&self) -> bool {
        false
    }

    fn has_arrived(&self) -> bool {
        false
    }

    fn traffic(&self) -> (u64, u64) {
        (0, 0)
    }

    fn report_waits(&self, _: &mut Waits) {}

    fn sweep(&self, _: &dyn Fn(u32) -> bool) {}

    fn detach(&self, _: Cx) {}

    unsafe fn discard_messages(&self) {}
}
