//! What `#[finespun::main]` and `#[finespun::test]` call.

use super::{Runtime, default, set_default};
use crate::call::Task;

/// The number of workers of a test's runtime.
const OF_TEST: usize = 2;

/// Runs a program's root on the default runtime, with as many workers as the attribute says.
#[doc(hidden)]
#[track_caller]
pub fn run_main<T>(workers: Option<usize>, task: T) -> T::Output
where
    T: Task + Send,
    T::Output: Send,
{
    if let Some(workers) = workers
        && let Err(error) = set_default(Runtime::builder().workers(workers))
    {
        panic!("`#[finespun::main(workers = {workers})]`: {error}");
    }
    default().run(task)
}

/// Runs a test's root on a runtime of its own.
#[doc(hidden)]
#[track_caller]
pub fn run_test<T>(workers: Option<usize>, task: T) -> T::Output
where
    T: Task + Send,
    T::Output: Send,
{
    match Runtime::builder().workers(workers.unwrap_or(OF_TEST)).build() {
        Ok(runtime) => runtime.run(task),
        Err(error) => panic!("no runtime for the test: {error}"),
    }
}
