//! Records the messages that leave a process, for the fuzzer of their decoder.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::process::ProcessMutex;

static ON: AtomicBool = AtomicBool::new(false);
/// The messages of tasks, and those between the teams.
static RECORDED: ProcessMutex<[Vec<Vec<u8>>; 2]> = ProcessMutex::new([Vec::new(), Vec::new()]);

/// Which messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The messages of tasks, between workers.
    Tasks,
    /// The messages between the teams of the processes.
    Teams,
}

/// Records a message that is sent, if all are.
#[inline]
pub(crate) fn sent(kind: Kind, bytes: &[u8]) {
    // Relaxed: a test makes sure that it has seen all messages.
    if ON.load(Ordering::Relaxed) {
        RECORDED.lock()[kind as usize].push(bytes.to_vec());
    }
}

/// Begins or ends recording.
pub fn record(on: bool) {
    ON.store(on, Ordering::Relaxed);
}

/// Takes the messages that have been recorded.
pub fn recorded(kind: Kind) -> Vec<Vec<u8>> {
    std::mem::take(&mut RECORDED.lock()[kind as usize])
}
