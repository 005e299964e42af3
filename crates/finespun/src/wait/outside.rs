//! Declaring activity outside the tasks to deadlock detection.

use std::fmt;
use std::sync::Arc;

use crate::cancel::teams::Externals;
use crate::frame::context::try_cx;

/// Declares that code outside the tasks may end waits of this runtime's tasks. While the returned value lives, on any
/// thread, no run of the runtime is reported as deadlocked.
///
/// For events that the library cannot see: a task has moved a lock's guard to a plain thread, or a plain thread will
/// release permits of a semaphore. A continuation has its own method for this ([`Continuation::external`]); `foreign`
/// and `blocking` need no declaration. Outside a task, use [`Runtime::outside`].
///
/// ```
/// use finespun::prelude::*;
/// use finespun::tasks::outside;
/// use finespun::sync::Semaphore;
/// use std::sync::Arc;
///
/// #[task]
/// async fn wait_for_thread(done: Arc<Semaphore>) {
///     let (outside, other) = (outside(), Arc::clone(&done));
///     std::thread::spawn(move || {
///         other.release(1);
///         drop(outside);
///     });
///     done.acquire().await.forget();
/// }
/// # let runtime = Runtime::builder().workers(1).build().unwrap();
/// runtime.run(wait_for_thread(Arc::new(Semaphore::new(0))));
/// ```
///
/// # Panics
/// Panics outside a task.
///
/// *Cost*: two atomic operations, and two more when the returned value is dropped.
///
/// [`Continuation::external`]: crate::Continuation::external
/// [`Runtime::outside`]: crate::Runtime::outside
#[track_caller]
pub fn outside() -> Outside {
    let Some(cx) = try_cx() else { panic!("`outside` was called outside a task: use `Runtime::outside`") };
    Outside::new(cx.external())
}

/// A declaration of activity outside the tasks: see [`outside`].
#[must_use = "deadlocks are reported again when this is dropped"]
pub struct Outside(Arc<Externals>);

impl Outside {
    pub(crate) fn new(externals: Arc<Externals>) -> Outside {
        externals.enter();
        Outside(externals)
    }
}

impl Drop for Outside {
    fn drop(&mut self) {
        self.0.leave();
    }
}

impl fmt::Debug for Outside {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Outside").finish_non_exhaustive()
    }
}
