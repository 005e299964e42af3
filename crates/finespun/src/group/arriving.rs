//! Arrival at the barrier of a group that has begun in another process: the barrier is there.

use super::sync::sync;
use crate::call::Task;
use crate::call::outcome::Outcome;
use crate::frame::CallSite;
use crate::frame::context::Cx;
use crate::message::wire::{Reader, Unreadable, Wire, Writer};
use crate::object::remote::{Work, request_of_worker};

/// Arrives at the barrier of `group`, if the group has begun in another process.
#[inline]
pub(super) fn elsewhere(cx: Cx, group: u32, place: CallSite) -> Option<Outcome<()>> {
    let core = cx.core();
    let workers = core.workers.get();
    if core.all_workers.get() == workers {
        return None;
    }
    let home = cx.context().team().group_name(group).home;
    // The number of a worker among all is that of its first node.
    (home != core.first_node.get() / workers).then(|| request_of_worker(cx, home * workers, Ok(Arrive), place))
}

struct Arrive;

impl Wire for Arrive {
    fn write(self, _: &mut Writer) {}

    fn read(_: &mut Reader<'_>) -> Result<Arrive, Unreadable> {
        Ok(Arrive)
    }
}

impl Work for Arrive {
    type Output = ();
    const ANYWHERE: bool = true;

    fn node(&self) -> u32 {
        unreachable!("it runs at any node")
    }

    unsafe fn run(self, cx: Cx) -> Outcome<()> {
        // SAFETY: the caller guarantees the call protocol.
        unsafe { sync().call(cx) }
    }
}
