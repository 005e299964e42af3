//! The other processes of a runtime, as the team of one process sees them.
//!
//! A runtime over several processes has a [`Team`] in each. The first process *leads*: runs begin and end there. In the
//! others, a run begins when its first message arrives (*joins*), and ends when the leader says so. The module `cluster`
//! implements what the teams tell each other; this module is its interface.

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use super::team::Team;
#[cfg(feature = "processes")]
use crate::cancel::runs::ProcessDied;
use crate::cancel::runs::{CompletionCallback, Run};
use crate::cancel::teams::GroupName;
use crate::frame::budget::FrameMemory;
use crate::frame::front::StatePlace;
use crate::sim::Waited;

/// The workers of this process among those of all processes of a runtime.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    /// The number of workers of all processes.
    pub(crate) workers: u32,
    /// The workers of this process.
    pub(crate) own: Range<u32>,
}

/// What one process says about its team while all of its workers are parked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Resting {
    /// Messages to and from other workers so far.
    pub(crate) sent: u64,
    pub(crate) received: u64,
    /// A number that changes whenever a worker does something.
    pub(crate) progress: u64,
    /// Whether something outside the tasks may end a wait.
    pub(crate) external: bool,
    /// Whether a task waits for a lock, whose guard may be with a thread outside.
    pub(crate) waits_for_lock: bool,
    /// Whether the holder of a permit outside the tasks may end a wait.
    pub(crate) others_act: bool,
    /// The runs under way.
    pub(crate) runs: Vec<RestingRun>,
}

/// The waits of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct RestingRun {
    /// The run's name in all processes.
    pub(crate) name: u32,
    /// The number of leaves that have a waiter.
    pub(crate) leaves: u64,
    /// The number of tasks that wait for the run's quiescence.
    pub(crate) waiters: u64,
    /// The length of this process's list of such waits, of which some may have been cancelled. Later waits are behind.
    pub(crate) listed: usize,
}

/// The other processes of a runtime.
pub(crate) trait Peers: Send + Sync {
    /// Returns whether this process leads.
    fn leads(&self) -> bool;

    /// Wakes a worker of another process if it is parked. The caller has just taken a ticket of its ring, by which it sends
    /// a message: see `cluster/bells.rs`.
    fn poke(&self, worker: u32);

    /// Returns the place for the state of a worker of this process, by its number here.
    fn place(&self, worker: usize) -> &StatePlace;

    /// Asks a running worker of another process to give frames to a worker of this one, unless another has asked it
    /// before. `asked` is the worker that was asked last: it is asked again while it runs and has not answered. The
    /// search begins at a worker that `random` determines. Returns the worker that has been asked.
    fn beg(&self, worker: usize, asked: Option<u32>, random: u64) -> Option<u32>;

    /// Makes a worker handle its messages at its next guard check, if it runs in another process. Returns false if it is
    /// in another process and does not run.
    fn nudge(&self, worker: u32) -> bool;

    /// Takes back the request of a worker of this process, unless it has been answered.
    fn stop_begging(&self, worker: usize, asked: u32);

    /// Returns whether this is a worker of another process.
    fn is_elsewhere(&self, worker: u32) -> bool;

    /// Called by a worker while all of this process are parked. Returns whether a worker of another process is awake. If
    /// none is, the bell of `worker` will be rung when one wakes.
    fn look_out(&self, worker: usize) -> bool;

    /// Rings the bell of a worker of this process, by its number here.
    fn ring(&self, worker: usize);

    /// Waits until the bell of a worker of this process is rung, a message arrives for it, or the timeout. May return
    /// early without a reason, as if rung.
    fn wait(&self, worker: usize, timeout: Option<Duration>) -> Waited;

    /// Tells the other processes whether a worker of this process is announced or parked. The caller issues a SeqCst
    /// fence before the worker looks for messages.
    fn set_asleep(&self, worker: usize, asleep: bool);

    /// Returns whether another process has said something. Any thread may ask.
    fn waits(&self) -> bool;

    /// Returns whether messages to some of the other processes must be carried there: then [`waits`](Peers::waits) does that.
    fn carries(&self) -> bool;

    /// Returns whether another process shares memory with this one.
    fn has_near(&self) -> bool;

    /// Sends what waits to be carried, if anything does.
    fn send_waiting(&self);

    /// Returns whether a message between the teams waits for room.
    fn holds(&self) -> bool;

    /// Called when all workers have ended.
    fn stop_carrying(&self);

    /// Handles what other processes have said. Returns whether they have said anything. Any thread may call this.
    fn poll(&self, team: &Team) -> bool;

    /// Called by the last worker to park. Returns whether it has made frames ready.
    fn all_parked(&self, team: &Team) -> bool;

    /// Called at the beginning of a run, in the process that leads.
    fn begun(&self, team: &Team, run: &Arc<Run>);

    /// Returns the number of the run with this name, which begins here if it has not. `None` if it has ended.
    fn join_run(&self, team: &Team, name: u32) -> Option<u32>;

    /// Asks the leader to cancel a run. Returns false, and does nothing, if this process must cancel it itself.
    fn defers(&self, run: &Run, exhausted: Option<&FrameMemory>) -> bool;

    /// See [`teams::Team::group_name`](crate::cancel::teams::Team::group_name).
    fn group_name(&self, team: &Team, number: u32) -> GroupName;

    /// See [`teams::Team::join_group`](crate::cancel::teams::Team::join_group).
    fn join_group(&self, team: &Team, run: u32, name: GroupName) -> Option<u32>;

    /// Called after a group has been terminated.
    fn terminated(&self, team: &Team, group: u32);

    /// Called after a group of `run` has ended that other processes know.
    fn group_ended(&self, team: &Team, run: u32, number: u32, uses: u64);

    /// Called once for a run that is cancelled and has not ended here. In the process that leads, the run counts one
    /// more until the run has ended in all others: if it has ended by this call, returns its completion callback.
    #[must_use]
    fn cancelled(&self, team: &Team, run: &Run) -> Option<CompletionCallback>;

    /// Returns whether another process has died.
    fn is_cut_off(&self) -> bool;

    /// Another process has died: no message is sent or received any more, and all runs end here.
    #[cfg(feature = "processes")]
    fn process_died(&self, team: &Team, died: ProcessDied);

    /// Called before the team ends, after the leader's has ended: no run is left but those that forged messages have begun.
    fn close(&self, team: &Team);

    /// For tests: sends bytes in place of a message to the team of process `to`.
    fn forge(&self, to: usize, bytes: &[u8]);

    /// Called when a run has ended here and been removed.
    fn ended(&self, team: &Team, run: &Run);
}
