//! The result of a wait that is given back if no task takes it.

use std::mem::ManuallyDrop;

use crate::call::Task;
use crate::call::outcome::Outcome;
use crate::frame::context::Cx;
use crate::frame::{FrameRef, result_offset};

/// The result of a wait, with the means to give back a value that no task takes because it has been cancelled. The
/// destructor gives the value back. The frame that waits delivers it as a plain value: see [`open`](Delivery::open).
#[repr(C)]
pub(crate) struct Delivery<V, B: Copy> {
    value: ManuallyDrop<V>,
    back: B,
    give_back: fn(B, V),
}

impl<V, B: Copy> Delivery<V, B> {
    pub(crate) fn new(value: V, back: B, give_back: fn(B, V)) -> Delivery<V, B> {
        Delivery { value: ManuallyDrop::new(value), back, give_back }
    }

    /// Converts an outcome into that of a call that delivers the value itself.
    pub(crate) fn open(outcome: Outcome<Delivery<V, B>>) -> Outcome<V> {
        const { assert!(result_offset::<V>() == result_offset::<Delivery<V, B>>()) };
        // SAFETY: a `Delivery` begins with its value, whose offset was compared above. Without the value it has no
        // destructor, since the other fields are `Copy`.
        unsafe { outcome.map_prefix(Delivery::take) }
    }

    /// Makes a ready frame that runs a task, and delivers the value itself: see [`Task::start`].
    pub(crate) fn start(cx: Cx, task: impl Task<Output = Delivery<V, B>>) -> FrameRef {
        const { assert!(result_offset::<V>() == result_offset::<Delivery<V, B>>()) };
        task.start(cx)
    }

    fn take(self) -> V {
        // SAFETY: the destructor, which would use the value again, does not run.
        unsafe { ManuallyDrop::take(&mut ManuallyDrop::new(self).value) }
    }
}

impl<V, B: Copy> Drop for Delivery<V, B> {
    fn drop(&mut self) {
        // SAFETY: the destructor runs once, and nothing uses the value afterwards.
        let value = unsafe { ManuallyDrop::take(&mut self.value) };
        (self.give_back)(self.back, value);
    }
}
