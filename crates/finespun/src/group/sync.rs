//! The barrier of a group: waiting for all of its activities.

use std::panic::Location;

use crate::call::outcome::Outcome;
use crate::call::{Task, sealed};
use crate::frame::CallSite;
use crate::frame::context::Cx;
use crate::frame::number::GROUP;
use crate::run::continuation::Continuation;
use crate::run::release;
use crate::wait::suspend::suspend_at;

/// Waits until all activities of the innermost group have called `sync` or have ended: ParC's `sync`.
///
/// An activity that ends without a `sync` counts as arrived. Activities not yet begun are waited for, so all are begun.
/// Each activity may sync any number of times; its n-th call meets the n-th calls of the others. The barrier counts
/// calls, not activities: if several tasks of one activity sync at once, as branches of a `join!` or tasks of a scope
/// begun in the activity, each call counts as an arrival, and tasks may continue before all activities have arrived.
///
/// ```
/// use finespun::prelude::*;
/// use finespun::group::sync;
/// use std::sync::atomic::{AtomicU64, Ordering};
///
/// #[task]
/// async fn two_phases(sum: &AtomicU64, k: u64) -> u64 {
///     sum.fetch_add(k, Ordering::Relaxed);
///     sync().await;
///     // All have added.
///     sum.load(Ordering::Relaxed)
/// }
///
/// #[task]
/// async fn sums(sum: &AtomicU64) -> Vec<u64> {
///     parfor(0..4, |k| two_phases(sum, k)).collect().await
/// }
/// # let runtime = Runtime::builder().workers(1).build().unwrap();
/// assert_eq!(runtime.run(sums(&AtomicU64::new(0))), [6, 6, 6, 6]);
/// ```
///
/// # Panics
/// If called outside of a group.
///
/// *Cost*: a frame for each activity but the last to arrive, and for each activity a number of steps that does not
/// depend on the number of activities. *Source*: maxi-parc-runtime, sections 2.3 and 5.4.
#[track_caller]
pub fn sync() -> Syncing {
    Syncing { place: Location::caller() }
}

/// The task that [`sync`] makes.
#[must_use = "nothing waits before this is awaited"]
#[derive(Debug)]
pub struct Syncing {
    place: CallSite,
}

impl sealed::Sealed for Syncing {}
impl Task for Syncing {
    type Output = ();
    const STRAIGHT: bool = false;

    unsafe fn call(self, cx: Cx) -> Outcome<()> {
        let group = cx.group();
        assert!(
            group & GROUP != 0,
            "`sync` was called in no group: call it in an activity of `parfor` or another construct"
        );
        #[cfg(feature = "objects")]
        if let Some(outcome) = super::arriving::elsewhere(cx, group, self.place) {
            return outcome;
        }
        let record = cx.context().team().groups().get(group);
        let arrive = |k: Continuation<()>| release::arrive(cx, record, k);
        // SAFETY: the caller guarantees the call protocol: it opens the outcome and awaits a suspended callee.
        unsafe { suspend_at(self.place, arrive).call(cx) }
    }
}
