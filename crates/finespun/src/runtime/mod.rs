//! The runtime: building it, running tasks on it, shutting it down.
//!
//! This module holds the interface for code outside tasks: [`Builder`], [`Runtime`], errors. It starts the team of
//! workers (module `sched`) and gives them root frames (module `frame`). It never schedules.

mod builder;
mod default;
pub(crate) mod entry;
mod error;
mod hooks;
mod root;
mod schema;
mod spawned;

#[cfg(feature = "processes")]
pub use crate::cancel::runs::ProcessDied;
pub use crate::frame::budget::FrameMemory;
pub use builder::{Builder, Fabric};
pub use default::{default, run, set_default, try_default};
pub use error::{Error, Panic, RunError};
pub use schema::Schema;
pub use spawned::RunFuture;

use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::thread::JoinHandle;
use std::time::Duration;

#[cfg(feature = "objects")]
pub use crate::fabric::threads::Transport;
#[cfg(feature = "objects")]
pub use crate::observe::CacheChoice;
pub use crate::observe::Stats;

use crate::call::Task;
#[cfg(all(feature = "processes", target_os = "linux"))]
use crate::cluster::host::{Counts, Remote};
use crate::frame::STACK_RESERVE;
use crate::frame::context::try_cx;
#[cfg(feature = "objects")]
use crate::observe::CacheChoices;
use crate::process::start_thread;
use crate::sched::team::Team;
#[cfg(feature = "simulation")]
use crate::sim::engine::Engine;
use crate::wait::foreign::is_own_thread;
use crate::wait::outside::Outside;

use hooks::PanicHandler;
use root::Call;

/// A team of workers that runs tasks.
///
/// Dropping it cancels the runs in progress and waits until its threads have ended. If it is dropped by a task, in a
/// call of `blocking` or by a waker that a run calls, the drop does not wait: a separate thread ends the runtime in the
/// background, after that task or call has ended. (A plain thread that a task itself waits for must not drop the
/// runtime: each would wait for the other.) A runtime without work uses no processor time.
///
/// ```
/// use finespun::prelude::*;
///
/// #[task]
/// async fn fib(n: u64) -> u64 {
///     if n < 2 {
///         return n;
///     }
///     let (a, b) = join!(fib(n - 1), fib(n - 2));
///     a + b
/// }
///
/// # fn main() -> Result<(), finespun::Error> {
/// let runtime = Runtime::builder().workers(2).build()?;
/// assert_eq!(runtime.run(fib(20)), 6765);
/// # Ok(())
/// # }
/// ```
pub struct Runtime {
    team: Arc<Team>,
    /// The other processes' parts, if this process has them, too.
    #[cfg(feature = "objects")]
    others: Vec<Runtime>,
    /// The other processes' parts, in those processes.
    #[cfg(all(feature = "processes", target_os = "linux"))]
    remote: Option<Remote>,
    #[cfg(feature = "objects")]
    nodes: usize,
    #[cfg(feature = "objects")]
    choices: Arc<CacheChoices>,
    #[cfg(feature = "simulation")]
    engine: Option<Arc<Engine>>,
    threads: Vec<JoinHandle<()>>,
    panic_handler: Option<PanicHandler>,
    /// Set once the threads have been joined, or another thread does so.
    closed: bool,
}

impl Runtime {
    /// Makes a runtime with one worker per core that this process may use.
    ///
    /// # Errors
    /// As [`Builder::build`].
    pub fn new() -> Result<Runtime, Error> {
        Runtime::builder().build()
    }

    /// Returns a builder for a runtime with other settings.
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// For tests: sends bytes from the team of process `from` to that of process `to`, in place of a message.
    #[cfg(feature = "objects")]
    pub(crate) fn forge(&self, from: usize, to: usize, bytes: &[u8]) {
        let part = from.checked_sub(1).map_or(self, |other| &self.others[other]);
        if let Some(peers) = &part.team.peers {
            peers.forge(to, bytes);
        }
    }

    /// For tests: lets the names of the next runs follow this one.
    #[cfg(feature = "objects")]
    pub(crate) fn name_runs_after(&self, name: u32) {
        self.team.name_runs_after(name);
    }

    /// Returns the number of workers, over all processes.
    pub fn workers(&self) -> usize {
        self.team.all_workers()
    }

    /// Returns the number of nodes that objects live on.
    #[cfg(feature = "objects")]
    pub fn nodes(&self) -> usize {
        self.nodes
    }

    /// Runs a task and everything that it calls, and returns its value.
    ///
    /// Returns after every task of the run has ended, so the task may borrow data that outlives this call. The calling
    /// thread runs tasks itself meanwhile if a worker is parked, in that worker's place and on a stack as large as the workers':
    /// a short job needs no wake-up of another thread. It sleeps when there is nothing to do for it. (Not once the runtime has
    /// objects or messages between nodes: objects need not be `Send`. Nor with [`pin`](Builder::pin) or
    /// [`on_worker_start`](Builder::on_worker_start), nor without the feature `visits`: then tasks run on the workers' threads
    /// only.)
    ///
    /// Costs about 0.3 us for an empty task if a worker is parked.
    ///
    /// # Panics
    /// With the payload of a panic in any task of the run; or with the message of any other [`RunError`]: on a worker,
    /// in a fork, or when the run is deadlocked, out of frame memory, ended by `exit`, or cancelled.
    /// [`try_run`](Runtime::try_run) returns these as errors.
    ///
    /// A panic keeps its payload, so that code that catches the panic can downcast it as if the task had been a plain
    /// call. A payload has no room for the task's name, so `run` prints it in one line on standard error, below the
    /// panic hook's output: ``finespun: the panic came from task `sort` (src/main.rs:12)``. A program that handles
    /// panics itself calls `try_run`, which prints nothing.
    #[track_caller]
    pub fn run<T>(&self, task: T) -> T::Output
    where
        T: Task + Send,
        T::Output: Send,
    {
        match self.try_run(task) {
            Ok(value) => value,
            Err(RunError::Panicked(panic)) => panic.resume(),
            Err(error) => panic!("{error}"),
        }
    }

    /// Like [`run`](Runtime::run), but returns everything that can go wrong as an error.
    ///
    /// # Errors
    /// [`RunError::Panicked`] with a task's panic and the task's name and place, [`RunError::OnWorker`],
    /// [`RunError::Deadlock`], [`RunError::FrameMemory`], `RunError::NodeDied`, `RunError::ProcessDied`,
    /// [`RunError::Forked`],
    /// [`RunError::Exited`] if a task called [`exit`](crate::group::exit), [`RunError::Cancelled`] if the run was
    /// cancelled.
    pub fn try_run<T>(&self, task: T) -> Result<T::Output, RunError>
    where
        T: Task + Send,
        T::Output: Send,
    {
        if try_cx().is_some() {
            return Err(RunError::OnWorker);
        }
        if self.team.forked() {
            return Err(RunError::Forked);
        }
        root::run(&self.team, Call::of(task))
    }

    /// Starts a task and returns at once with a std future that delivers its value: for programs whose main loop
    /// belongs to another executor.
    ///
    /// Dropping the future cancels the run. Dropping the runtime cancels all runs that have not ended.
    ///
    /// # Panics
    /// In a fork of the process that built the runtime, since the fork has none of its threads.
    #[track_caller]
    pub fn spawn<T>(&self, task: T) -> RunFuture<T::Output>
    where
        T: Task + Send + 'static,
        T::Output: Send + 'static,
    {
        assert!(!self.team.forked(), "{}", RunError::Forked);
        spawned::spawn(&self.team, Call::of(task), self.panic_handler.as_ref())
    }

    /// Ends the runtime as dropping it does, but does not wait: its runs are cancelled, and a thread in the background waits
    /// until its workers have ended.
    ///
    /// For a runtime whose tasks are in calls of [`blocking`](crate::blocking), which cannot be stopped, or compute without
    /// awaits.
    pub fn shutdown_background(mut self) {
        if !self.team.forked() {
            self.end_in_background(None);
        }
    }

    /// Ends the runtime as dropping it does, but waits for at most this time. Returns whether all of its threads have ended;
    /// if not, a thread in the background continues to wait for them.
    ///
    /// Does not wait inside a task, in a call of [`blocking`](crate::blocking), or in a waker that a run calls: there it
    /// returns false.
    ///
    /// ```
    /// use finespun::prelude::*;
    /// use std::time::Duration;
    ///
    /// #[task]
    /// async fn reads_for_long() {
    ///     blocking(|| std::thread::sleep(Duration::from_secs(2))).await;
    /// }
    ///
    /// let runtime = Runtime::builder().workers(1).build().unwrap();
    /// runtime.spawn(reads_for_long()).detach();
    /// // The call may not have begun yet, or is in progress.
    /// let _ended = runtime.shutdown_timeout(Duration::from_millis(10));
    /// ```
    pub fn shutdown_timeout(mut self, timeout: Duration) -> bool {
        if self.team.forked() {
            return false;
        }
        let (ended, wait) = std::sync::mpsc::channel();
        self.end_in_background(Some(ended));
        !is_own_thread() && wait.recv_timeout(timeout).is_ok()
    }

    /// Lets another thread end the runtime, and send a message when all of it has ended.
    fn end_in_background(&mut self, ended: Option<Sender<()>>) {
        self.closed = true;
        let team = Arc::clone(&self.team);
        let threads = std::mem::take(&mut self.threads);
        // The parts in other processes end after this one.
        #[cfg(feature = "objects")]
        let others = std::mem::take(&mut self.others);
        #[cfg(all(feature = "processes", target_os = "linux"))]
        let remote = self.remote.take();
        let end = move || {
            end(&team, threads);
            #[cfg(feature = "objects")]
            drop(others);
            #[cfg(all(feature = "processes", target_os = "linux"))]
            drop(remote);
            // Nothing waits for the message after a timeout.
            ended.map(|ended| ended.send(()));
        };
        let thread = std::thread::Builder::new().name("finespun-drop".to_owned()).stack_size(STACK_RESERVE);
        if let Err(error) = start_thread(thread, end) {
            // No thread can join the workers: they stay idle until the process ends.
            self.team.cancel_runs();
            eprintln!(
                "finespun: no thread to end a dropped runtime ({error}): its runs are cancelled, its threads stay"
            );
        }
    }

    /// See [`TestCounts::close`](crate::testing::TestCounts::close).
    pub(crate) fn frames_left(mut self) -> i64 {
        assert!(!self.team.forked(), "{}", RunError::Forked);
        assert!(
            !is_own_thread(),
            "Runtime::close was called inside a task or a blocking call, for which it would wait: drop the runtime there, \
             or close it on another thread"
        );
        end(&self.team, std::mem::take(&mut self.threads));
        self.closed = true;
        // SAFETY: `end` has joined the threads.
        let own = unsafe { self.team.frames_left() as i64 };
        #[cfg(feature = "objects")]
        let own = own + std::mem::take(&mut self.others).into_iter().map(Runtime::frames_left).sum::<i64>();
        #[cfg(all(feature = "processes", target_os = "linux"))]
        let own = own + self.remote.take().map_or(0, Remote::end);
        own
    }

    /// See [`TestFaults::lose_process`](crate::testing::TestFaults::lose_process).
    #[cfg(feature = "processes")]
    pub(crate) fn lose_process(&self, rank: usize) {
        let died = ProcessDied { rank, processes: self.others.len() + 1, pid: std::process::id() };
        let teams = std::iter::once(&self.team).chain(self.others.iter().map(|other| &other.team));
        for team in teams {
            if let Some(peers) = &team.peers {
                peers.process_died(team, died);
            }
        }
    }

    /// Like [`outside`](crate::tasks::outside), from a thread that runs no task of this runtime: as long as the
    /// returned value lives, no run of the runtime is reported as deadlocked.
    pub fn outside(&self) -> Outside {
        Outside::new(Arc::clone(&self.team.external))
    }

    /// Returns the sum of the workers' counters since the runtime was built, over all processes.
    pub fn stats(&self) -> Stats {
        let mut sum = Stats::default();
        self.worker_stats().into_iter().for_each(|stats| sum += stats);
        sum
    }

    /// Returns what a simulated machine has measured; `None` for real machines.
    ///
    /// Waits until no simulated worker runs.
    ///
    /// # Panics
    /// In a fork of the process that built the runtime.
    #[cfg(feature = "simulation")]
    #[track_caller]
    pub fn simulated(&self) -> Option<Simulated> {
        assert!(!self.team.forked(), "{}", RunError::Forked);
        let (last_run, events, died) = self.engine.as_ref()?.measured();
        Some(Simulated { last_run, events, died })
    }

    /// Returns the activities of a simulated machine since the last call; `None` if none are recorded. See
    /// [`Machine::traces`](crate::simulation::Machine::traces).
    ///
    /// Waits until no simulated worker runs.
    ///
    /// # Panics
    /// In a fork of the process that built the runtime.
    #[cfg(feature = "simulation")]
    #[track_caller]
    pub fn trace(&self) -> Option<crate::simulation::Trace> {
        assert!(!self.team.forked(), "{}", RunError::Forked);
        self.engine.as_ref()?.trace()
    }

    /// Returns the decisions of [`Cache::Auto`](crate::istructure::Cache::Auto) for the arrays that have been freed, by
    /// the places in the source where they were made, over all processes.
    #[cfg(feature = "objects")]
    pub fn cache_choices(&self) -> Vec<CacheChoice> {
        let all = CacheChoices::default();
        self.choices.read().into_iter().for_each(|choice| all.add(choice));
        self.others.iter().flat_map(Runtime::cache_choices).for_each(|choice| all.add(choice));
        #[cfg(all(feature = "processes", target_os = "linux"))]
        let remote = self.remote.as_ref().map(Remote::counts).unwrap_or_default();
        #[cfg(all(feature = "processes", target_os = "linux"))]
        remote.into_iter().flat_map(|counts| counts.choices).for_each(|choice| all.add(choice));
        all.read()
    }

    /// Returns the counters of [`stats`](Runtime::stats), worker by worker; the workers of the first process come first.
    ///
    /// Asks the other processes of a runtime that has several. The counters of a process that has ended are the last ones
    /// that it has told.
    pub fn worker_stats(&self) -> Vec<Stats> {
        let stats = self.team.stats();
        #[cfg(feature = "objects")]
        let stats: Vec<_> = stats.into_iter().chain(self.others.iter().flat_map(Runtime::worker_stats)).collect();
        #[cfg(all(feature = "processes", target_os = "linux"))]
        let remote = self.remote.as_ref().map(Remote::counts).unwrap_or_default();
        #[cfg(all(feature = "processes", target_os = "linux"))]
        let stats = stats.into_iter().chain(remote.into_iter().flat_map(|counts| counts.workers)).collect();
        stats
    }

    /// Returns what this process tells the first one.
    #[cfg(all(feature = "processes", target_os = "linux"))]
    fn counts(&self) -> Counts {
        Counts { workers: self.worker_stats(), choices: self.cache_choices() }
    }
}

/// Measurements of a simulated machine.
#[cfg(feature = "simulation")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Simulated {
    /// The virtual time from the beginning to the end of the last run.
    pub last_run: std::time::Duration,
    /// The number of events since the runtime was built: turns of workers, and messages received.
    pub events: u64,
    /// The node whose death has been noticed, if any: see [`Machine::dies`](crate::simulation::Machine::dies).
    pub died: Option<usize>,
}

impl Drop for Runtime {
    fn drop(&mut self) {
        if self.closed {
            return;
        }
        if self.team.forked() {
            // A fork has no threads that could be joined, and any lock may be held for ever.
            std::mem::forget((Arc::clone(&self.team), std::mem::take(&mut self.threads)));
            return;
        }
        // Unfinished runs are cancelled, and their tasks destroyed, before the workers end.
        if is_own_thread() {
            // The last owner is a task or a blocking call, perhaps one of this runtime's own: it cannot wait for
            // itself.
            self.end_in_background(None);
            return;
        }
        end(&self.team, std::mem::take(&mut self.threads));
        #[cfg(all(feature = "processes", target_os = "linux"))]
        self.remote.take().map(Remote::end);
    }
}

/// Cancels the runs in progress, and ends the workers.
fn end(team: &Team, threads: Vec<JoinHandle<()>>) {
    // The other processes know which workers sleep while a simulated machine rests.
    let begun = team.simulator.as_ref().is_some_and(|simulator| simulator.has_begun());
    let entered = team.peers.as_ref().filter(|_| begun).and_then(|_| team.enter());
    if let Some(peers) = &team.peers {
        peers.close(team);
    }
    team.cancel_all();
    team.bell.shutdown();
    team.idle.shutdown();
    drop(entered);
    for thread in threads {
        // A worker does not panic: tasks' panics are caught at their frames.
        let _ = thread.join();
    }
    if let Some(peers) = &team.peers {
        peers.stop_carrying();
    }
    team.unregister();
}

impl std::fmt::Debug for Runtime {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Runtime").field("workers", &self.workers()).finish_non_exhaustive()
    }
}

#[cfg(all(test, not(loom), feature = "objects"))]
mod tests {
    use std::alloc::Layout;

    use super::Runtime;
    use super::builder::{MAX_NODES, MAX_WORKERS, MIN_FRAME_MEMORY, MIN_STACK};
    use crate::frame::number::TEAMS;
    use crate::frame::{Header, LARGEST_FRAME, Payload, STACK_RESERVE, frame_layout};
    use crate::object::class::MOST_CLASSES;
    use crate::object::space::MOST_BYTES;
    use crate::wait::quiesce::quiesce;

    /// Formats a number with its digits in groups of three.
    fn thousands(number: usize) -> String {
        let digits = number.to_string();
        let groups = digits.as_bytes().rchunks(3).rev().map(|group| std::str::from_utf8(group).unwrap());
        groups.collect::<Vec<_>>().join(",")
    }

    /// Returns the document without line ends and comment marks.
    fn text(document: &str) -> String {
        document.split_whitespace().filter(|word| *word != "///").collect::<Vec<_>>().join(" ")
    }

    /// The documents state limits with the values of the constants.
    #[test]
    fn documented_limits_are_the_constants() {
        let readme = text(include_str!("../../../../README.md"));
        let kib = |bytes: usize| format!("{} KiB", bytes / 1024);
        for limit in [
            format!("{} runtimes at once", thousands(TEAMS)),
            format!("{} types of objects", thousands(MOST_CLASSES)),
            format!("{} workers and {} nodes", thousands(MAX_WORKERS), thousands(MAX_NODES)),
            format!("{} GiB of what objects contain", MOST_BYTES >> 30),
            format!("A frame is {} bytes", size_of::<Header>()),
            format!("{} bytes for the payload of a panic", size_of::<Payload>()),
            format!("frame takes up to {} MiB", LARGEST_FRAME >> 20),
            format!("{} MiB of address space", (32 * LARGEST_FRAME) >> 20),
        ] {
            assert!(readme.contains(&limit), "README.md does not say `{limit}`");
        }
        let builder = text(concat!(include_str!("builder.rs"), include_str!("builder/build.rs")));
        for limit in [
            format!("The number of workers, 1 to {MAX_WORKERS}."),
            format!("The number of nodes that objects live on, 1 to {MAX_NODES}."),
            format!("at least {}.", kib(MIN_STACK)),
            format!("{} MiB of address space", (32 * LARGEST_FRAME) >> 20),
            format!("({} MiB in a debug build)", (192 * LARGEST_FRAME) >> 20),
            format!("may take, at least {} MiB;", MIN_FRAME_MEMORY >> 20),
            format!("this process has {TEAMS} runtimes already"),
        ] {
            assert!(builder.contains(&limit), "builder.rs does not say `{limit}`");
        }
        let foreign = text(include_str!("../wait/foreign.rs"));
        for limit in [
            format!("{} MiB of address space", (32 * LARGEST_FRAME) >> 20),
            format!("({} MiB in a debug build)", (192 * LARGEST_FRAME) >> 20),
        ] {
            assert!(foreign.contains(&limit), "foreign.rs does not say `{limit}`");
        }
        if cfg!(not(sanitized)) {
            assert_eq!(STACK_RESERVE / LARGEST_FRAME, if cfg!(debug_assertions) { 192 } else { 32 });
        }
        let error = super::Error::TooManyRuntimes.to_string();
        assert!(error.contains(&format!("{TEAMS} runtimes")), "{error}");
    }

    /// While another team looks for a deadlock, it keeps the records of this team's runs.
    #[test]
    fn the_record_of_a_run_that_has_ended_keeps_no_frame() {
        let runtime = Runtime::builder().workers(1).build().unwrap();
        let outside = runtime.outside();
        let waits = runtime.spawn(quiesce());
        while runtime.team.injected_visible() || !runtime.team.idle.anyone_idle() {
            std::thread::yield_now();
        }
        let runs = runtime.team.cancel_runs();
        runs.iter().for_each(|run| run.wait());
        drop(outside);
        assert_eq!((runs.len(), runtime.frames_left()), (1, 0));
        drop((runs, waits));
    }

    #[test]
    fn frame_size_is_as_documented() {
        let header = size_of::<Header>();
        assert_eq!(frame_layout::<u8, u8>(), Layout::from_size_align(header + size_of::<Payload>(), 8).unwrap());
        assert_eq!(frame_layout::<[u64; 5], u8>().size(), header + 40);
        assert_eq!(frame_layout::<u8, [u64; 9]>().size(), header + 72);
    }
}
