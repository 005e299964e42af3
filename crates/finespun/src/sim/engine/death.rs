//! The death of a node.
//!
//! ```text
//!   Due --1--> Unnoticed --2--> Noticed
//! ```
//!
//! From its time on (1), the node's processors stop: they run nothing and receive nothing, and the first event of each is
//! kept. The other nodes notice after a silence (2): all runs are cancelled. Then the processors go on with the events that
//! they have missed, only to unwind their stacks and to destroy the frames that they have.

use std::time::Duration;

use super::{Adversary, Engine, Event, NEVER, Ordering, duration, picoseconds};

/// Time without a message after which a node counts as dead, beyond ten latencies, in picoseconds.
const SILENCE: u64 = 1_000_000_000;

/// The death of a node.
#[derive(Clone, Copy)]
pub(super) enum Death {
    None,
    Due {
        node: usize,
        at: u64,
    },
    /// The node's processors have stopped, and no other node knows. Their events are kept, for `Noticed`.
    Unnoticed {
        node: usize,
        at: u64,
    },
    /// All runs are cancelled. The processors go on, only to destroy the frames that they have.
    Noticed,
}

impl Death {
    pub(super) fn of(adversary: &Adversary) -> Death {
        match adversary.death {
            Some((node, after)) => Death::Due { node, at: picoseconds(after) },
            None => Death::None,
        }
    }
}

impl Engine {
    /// Returns the time at which the death or its notice is due.
    pub(super) fn next_of_death(&self) -> u64 {
        match self.state.death.get() {
            Death::Due { at, .. } => at,
            Death::Unnoticed { at, .. } => at.saturating_add(SILENCE).saturating_add(10 * self.costs.latency),
            Death::None | Death::Noticed => NEVER,
        }
    }

    /// Lets the node die if it is time, and its death be noticed if that is due before the time `next` of the first event.
    /// Returns whether it was noticed.
    pub(super) fn update_death(&self, next: u64, died: &impl Fn(usize, Duration)) -> bool {
        let state = &self.state;
        match state.death.get() {
            Death::Due { node, at } if next != NEVER && next >= at => state.death.set(Death::Unnoticed { node, at }),
            Death::Unnoticed { node, at } => {
                let noticed = self.next_of_death();
                if next < noticed {
                    return false;
                }
                state.death.set(Death::Noticed);
                // Relaxed: ordered by the lock of the gate.
                self.died.store(node as u64, Ordering::Relaxed);
                state.now.set(state.now.get().max(noticed));
                died(node, duration(at));
                for processor in &state.processors {
                    if let Some(event) = processor.missed.take() {
                        self.push(event.worker, state.now.get(), event.reason);
                    }
                }
                return true;
            }
            Death::None | Death::Due { .. } | Death::Noticed => {}
        }
        false
    }

    /// Keeps an event of a processor that has stopped. Returns whether it has.
    pub(super) fn misses(&self, event: Event) -> bool {
        let dead = matches!(self.state.death.get(), Death::Unnoticed { node, .. } if event.worker % self.nodes == node);
        if dead {
            let missed = &self.state.processors[event.worker].missed;
            missed.set(missed.take().or(Some(event)));
        }
        dead
    }
}
