//! Which of a runtime's workers runs this code.

use crate::frame::context::try_cx;

/// Returns the index of the worker that runs this code, counted from 0; `None` outside the workers. A task may continue on
/// another worker after each await.
///
/// For diagnostics, and for data that each worker has for itself. In a runtime over several processes, the index is that
/// within the process.
///
/// ```
/// use finespun::prelude::*;
/// use finespun::tasks::{current_worker, workers};
///
/// #[task]
/// async fn whereabouts() -> (Option<usize>, Option<usize>) {
///     (current_worker(), workers())
/// }
/// # let runtime = Runtime::builder().workers(2).build().unwrap();
/// let (worker, workers) = runtime.run(whereabouts());
/// assert!(worker.unwrap() < 2 && workers == Some(2));
/// assert_eq!(current_worker(), None);
/// ```
pub fn current_worker() -> Option<usize> {
    try_cx().map(|cx| cx.core().worker.get() as usize)
}

/// Returns the number of workers of the runtime that runs this code; `None` outside its workers. In a runtime over several
/// processes, they are those of this process: see [`Runtime::workers`](crate::Runtime::workers) for all.
pub fn workers() -> Option<usize> {
    try_cx().map(|cx| cx.core().workers.get() as usize)
}
