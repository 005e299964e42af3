//! The messages between the teams of a runtime's processes, beside the messages of its tasks.

use serde::{Deserialize, Serialize};

use crate::cancel::teams::GroupName;
use crate::sched::peers::{Resting, RestingRun};

/// A message between two processes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) enum Control {
    /// Down the tree: asks each process to say when it has nothing to do.
    Probe { wave: u32 },
    /// Up the tree: the process and those below it have had nothing to do since the probe, each at some moment.
    Report { wave: u32, resting: Said },
    /// To the first process: this process has done something since its last report, and has nothing to do now.
    Changed,
    /// Down the tree: these runs are quiescent.
    Quiescent { runs: Vec<u32> },
    /// Down the tree: these runs are deadlocked.
    Stuck { runs: Vec<u32> },
    /// To the first process: a request to cancel the run, or the answer to `Stuck`.
    Cancel { run: u32, why: Why },
    /// Down the tree: the run ends, unless it is 0, which names none. All runs before `live` have ended.
    End { run: u32, live: Option<u32> },
    /// To the first process: nothing of the run is left in this process.
    Ended { run: u32 },
    /// To the first process: the sender has joined many runs, this one last. The answer is `End` if the run has ended, or
    /// has never begun.
    JoinRun { run: u32 },
    /// To the home of a group: the sender knows the group, of this run, now.
    JoinGroup { run: u32, group: GroupName },
    /// To a process that knows a group: the group has been terminated.
    TerminateGroup { group: GroupName },
    /// To a process that knows a group: the group has ended.
    EndGroup { group: GroupName },
}

/// Why a process has cancelled a run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Why {
    /// The panic of a detached task, as `object::error` writes it.
    pub(super) failure: Option<Vec<u8>>,
    /// The exit code that a task has set.
    pub(super) exit: Option<i32>,
    /// The run is deadlocked, with a line for each of its waits in this process.
    pub(super) stuck: Option<Vec<String>>,
    /// Frames take too much memory in this process.
    pub(super) exhausted: Option<Exhausted>,
}

/// A [`FrameMemory`](crate::frame::budget::FrameMemory) in a message.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Exhausted {
    pub(super) task: Option<String>,
    pub(super) depth: usize,
    pub(super) most: Option<(String, usize)>,
    pub(super) frames: usize,
    pub(super) bytes: usize,
    pub(super) limit: usize,
}

/// A [`Resting`] in a message.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Said {
    sent: u64,
    received: u64,
    progress: u64,
    external: bool,
    waits_for_lock: bool,
    others_act: bool,
    runs: Vec<(u32, u64, u64)>,
}

impl From<Resting> for Said {
    fn from(resting: Resting) -> Said {
        let Resting { sent, received, progress, external, waits_for_lock, others_act, runs } = resting;
        let runs = runs.into_iter().map(|run| (run.name, run.leaves, run.waiters)).collect();
        Said { sent, received, progress, external, waits_for_lock, others_act, runs }
    }
}

impl From<Said> for Resting {
    fn from(said: Said) -> Resting {
        let Said { sent, received, progress, external, waits_for_lock, others_act, runs } = said;
        let run = |(name, leaves, waiters)| RestingRun { name, leaves, waiters, listed: 0 };
        let runs = runs.into_iter().map(run).collect();
        Resting { sent, received, progress, external, waits_for_lock, others_act, runs }
    }
}

impl Control {
    /// Returns whether the detection of rest counts the message: not its own messages, which no other causes.
    pub(super) fn counts(&self) -> bool {
        match self {
            Control::Probe { .. } | Control::Report { .. } | Control::Changed => false,
            Control::Quiescent { .. } | Control::Stuck { .. } => false,
            Control::Cancel { .. } | Control::End { .. } | Control::Ended { .. } | Control::JoinRun { .. } => true,
            Control::JoinGroup { .. } | Control::TerminateGroup { .. } | Control::EndGroup { .. } => true,
        }
    }

    pub(super) fn to_bytes(&self) -> Vec<u8> {
        match postcard::to_allocvec(self) {
            Ok(bytes) => bytes,
            Err(error) => unreachable!("plain data: {error}"),
        }
    }

    pub(super) fn of_bytes(bytes: &[u8]) -> Option<Control> {
        postcard::from_bytes(bytes).ok()
    }
}
