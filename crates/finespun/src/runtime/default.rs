//! The runtime that a process has without building one.
//!
//! It is made at its first use, kept in a static, and never dropped: its workers are idle when the process ends. A forked
//! child has none of its parent's threads, and makes a runtime of its own.

use std::sync::{Mutex, OnceLock};

use crate::atomics::lock_std as lock;
use crate::call::Task;
use crate::process::{PerProcess, ProcessMutex};

use super::{Builder, Error, Runtime};

/// The variable that sets the number of workers of the default runtime.
const WORKERS: &str = "FINESPUN_WORKERS";

/// The settings that [`set_default`] has stored. A forked child inherits them.
static SETTINGS: ProcessMutex<Option<Builder>> = ProcessMutex::new(None);

/// The default runtime of one process, which has its threads.
#[derive(Default)]
struct Entry {
    runtime: OnceLock<Runtime>,
    /// Held while the runtime is built, and while its settings are changed.
    building: Mutex<()>,
}

fn entry() -> &'static Entry {
    static ENTRY: PerProcess<Entry> = PerProcess::new();
    ENTRY.get(Entry::default)
}

/// Runs a task on the [default runtime](default()), and returns its value: [`Runtime::run`] without a runtime to build.
///
/// Returns after every task of the run has ended, so the task may borrow data that outlives this call.
///
/// ```
/// use finespun::prelude::*;
///
/// #[task]
/// async fn sum(numbers: &[u64]) -> u64 {
///     if let [only] = numbers {
///         return *only;
///     }
///     let (low, high) = numbers.split_at(numbers.len() / 2);
///     let (a, b) = join!(sum(low), sum(high));
///     a + b
/// }
///
/// let numbers: Vec<u64> = (1..=100).collect();
/// assert_eq!(finespun::run(sum(&numbers)), 5050);
/// ```
///
/// # Panics
/// As [`Runtime::run`], and as [`default()`]. Inside a task, await the task instead.
#[track_caller]
pub fn run<T>(task: T) -> T::Output
where
    T: Task + Send,
    T::Output: Send,
{
    default().run(task)
}

/// Returns the default runtime of this process, which the first call builds: one worker per core that the process may
/// use, or as many as the environment variable `FINESPUN_WORKERS` says.
///
/// Before the first use, the runtime has no threads. [`set_default`] changes the settings before it; a number of workers that
/// the program sets wins over the variable. The other functions and macros that use the default runtime are
/// [`finespun::run`](run) and `#[finespun::main]`.
///
/// Plain code starts a task that runs beside it with `finespun::runtime::default().spawn(task)`: see
/// [`Runtime::spawn`]. The library has no plain function for this, since [`finespun::spawn`](crate::spawn) means another thing:
/// inside a task it starts a task that belongs to the caller's run, and ends with it.
///
/// The runtime is never dropped. When `main` returns or the process exits, the workers of a program whose runs have
/// ended are idle, and nothing is lost. A run that is still in progress (of a [`RunFuture`](super::RunFuture) that has
/// been detached, or of another thread) stops where it is, without destructors, as threads do.
///
/// A forked child has a default runtime of its own, with the same settings, since the parent's has no threads there.
///
/// ```
/// use finespun::prelude::*;
///
/// #[task]
/// async fn work(n: u64) -> u64 {
///     n * 2
/// }
///
/// let runtime = finespun::runtime::default();
/// let doubled = runtime.spawn(work(21));
/// // .. other work of this thread ..
/// assert_eq!(doubled.wait().unwrap(), 42);
/// ```
///
/// # Panics
/// If the runtime cannot be built: `FINESPUN_WORKERS` is not a number, or the system has no threads for the workers.
/// [`try_default`] returns these as errors.
#[track_caller]
pub fn default() -> &'static Runtime {
    match try_default() {
        Ok(runtime) => runtime,
        Err(error) => panic!("no default runtime: {error}"),
    }
}

/// Like [`default()`], but returns what can go wrong as an error. A later call tries again.
///
/// # Errors
/// [`Error::WorkersVariable`] if `FINESPUN_WORKERS` is not a number of workers, and as [`Builder::build`].
pub fn try_default() -> Result<&'static Runtime, Error> {
    let entry = entry();
    if let Some(runtime) = entry.runtime.get() {
        return Ok(runtime);
    }
    let building = lock(&entry.building);
    if let Some(runtime) = entry.runtime.get() {
        return Ok(runtime);
    }
    let settings = SETTINGS.lock().clone().unwrap_or_default();
    let runtime = with_variable(settings, std::env::var_os(WORKERS))?.build()?;
    let runtime = entry.runtime.get_or_init(|| runtime);
    drop(building);
    Ok(runtime)
}

/// Sets how the [default runtime](default()) is built. Call it before the first use, at the beginning of `main`.
///
/// ```
/// use finespun::prelude::*;
///
/// fn main() -> Result<(), finespun::Error> {
///     finespun::runtime::set_default(Runtime::builder().workers(2).thread_name("worker"))?;
///     assert_eq!(finespun::runtime::default().workers(), 2);
///     // The runtime exists: too late for other settings.
///     assert!(finespun::runtime::set_default(Runtime::builder()).is_err());
///     Ok(())
/// }
/// ```
///
/// # Errors
/// [`Error::DefaultExists`] if the default runtime has been built. Settings out of range are errors of its first use.
pub fn set_default(builder: Builder) -> Result<(), Error> {
    let entry = entry();
    let building = lock(&entry.building);
    if entry.runtime.get().is_some() {
        return Err(Error::DefaultExists);
    }
    *SETTINGS.lock() = Some(builder);
    drop(building);
    Ok(())
}

/// Returns the settings with the number of workers that the variable says, unless the program has set one.
fn with_variable(settings: Builder, variable: Option<std::ffi::OsString>) -> Result<Builder, Error> {
    let Some(text) = variable.filter(|_| !settings.has_workers()) else { return Ok(settings) };
    let number = text.to_str().and_then(|text| text.trim().parse().ok());
    match number.filter(|workers| (1..=super::builder::MAX_WORKERS).contains(workers)) {
        Some(workers) => Ok(settings.workers(workers)),
        None => Err(Error::WorkersVariable(text.to_string_lossy().into_owned())),
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn the_variable_sets_the_number_of_workers_unless_the_program_does() {
        let variable = |text: &str| Some(text.into());
        let workers = |settings, text| with_variable(settings, text).unwrap().build().unwrap().workers();
        assert_eq!(workers(Builder::default(), variable("3")), 3);
        assert_eq!(workers(Builder::default(), variable(" 2 ")), 2);
        assert_eq!(workers(Builder::default().workers(1), variable("3")), 1);
        for bad in ["", "0", "-1", "two", "1025", "2 4"] {
            let error = with_variable(Builder::default(), variable(bad)).unwrap_err().to_string();
            assert!(error.starts_with(&format!("FINESPUN_WORKERS={bad:?}: ")), "{error}");
            assert!(error.contains("1 to 1024"), "{error}");
        }
    }
}
