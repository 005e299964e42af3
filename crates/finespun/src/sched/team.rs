//! The team: what the workers of one runtime share.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crossbeam_utils::CachePadded;

use crate::observe::Stats;
use crate::task::context::Context;
use crate::task::frame::{FrameRef, Header};
use crate::task::teams::{self, TeamId};

use super::deque::Deque;
use super::guard::Flags;
use super::park::Idle;

/// How the workers behave.
#[derive(Clone, Debug)]
pub(crate) struct Config {
    pub(crate) workers: usize,
    pub(crate) stack_size: usize,
    pub(crate) quantum: Duration,
    pub(crate) block_every: u32,
    pub(crate) pin: bool,
}

/// One worker, as the others see it.
pub(crate) struct Seat {
    pub(crate) deque: Deque<Header>,
    context: Context,
    /// Whether the worker runs a frame: only then can it promote.
    pub(crate) running: AtomicBool,
}

// SAFETY: of the context, others than its worker use only the guard and the counters, which are atomic; the deque's
// owner end is made by its worker only.
unsafe impl Sync for Seat {}
// SAFETY: made by the builder, used by its worker from the start of its thread on, and retired after the join.
unsafe impl Send for Seat {}

impl Seat {
    /// The worker's own view.
    ///
    /// # Safety
    /// Only on the worker's thread.
    pub(crate) unsafe fn context(&self) -> &Context {
        &self.context
    }

    pub(crate) fn request(&self, flags: Flags) {
        self.context.guard.request(flags);
    }
}

/// The workers of one runtime.
pub(crate) struct Team {
    pub(crate) id: TeamId,
    pub(crate) config: Config,
    pub(crate) seats: Box<[CachePadded<Seat>]>,
    pub(crate) idle: Idle,
    injected: CachePadded<Injector>,
    /// Runs under way.
    pub(crate) runs: AtomicU32,
    /// Waits that something outside the tasks will end.
    pub(crate) external: AtomicUsize,
}

/// Frames made ready outside the workers, first come, first served.
struct Injector {
    /// The length of the queue, to look without the lock.
    length: AtomicUsize,
    queue: Mutex<VecDeque<SendFrame>>,
}

struct SendFrame(FrameRef);
// SAFETY: a ready frame may run on any worker.
unsafe impl Send for SendFrame {}

impl Team {
    pub(crate) fn new(config: Config) -> Result<Arc<Team>, teams::TooManyTeams> {
        teams::register(|id| {
            let seat = |_| {
                CachePadded::new(Seat {
                    deque: Deque::new(),
                    context: Context::new(),
                    running: AtomicBool::new(false),
                })
            };
            Arc::new(Team {
                id,
                idle: Idle::new(config.workers),
                seats: (0..config.workers).map(seat).collect(),
                config,
                injected: CachePadded::new(Injector {
                    length: AtomicUsize::new(0),
                    queue: Mutex::new(VecDeque::new()),
                }),
                runs: AtomicU32::new(0),
                external: AtomicUsize::new(0),
            })
        })
    }

    /// Queues a frame behind all others, where any worker finds it.
    pub(crate) fn inject_last(&self, frame: FrameRef) {
        {
            let mut queue = self.injected.queue.lock().unwrap_or_else(PoisonError::into_inner);
            queue.push_back(SendFrame(frame));
            // Relaxed: written under the lock; readers are ordered by the fences of the idling protocol.
            self.injected.length.store(queue.len(), Ordering::Relaxed);
        }
        self.idle.notify_one();
    }

    pub(crate) fn take_injected(&self) -> Option<FrameRef> {
        if !self.any_injected() {
            return None;
        }
        let mut queue = self.injected.queue.lock().unwrap_or_else(PoisonError::into_inner);
        let frame = queue.pop_front();
        // Relaxed: as above.
        self.injected.length.store(queue.len(), Ordering::Relaxed);
        frame.map(|frame| frame.0)
    }

    pub(crate) fn any_injected(&self) -> bool {
        // Relaxed: as above; decided under the lock.
        self.injected.length.load(Ordering::Relaxed) != 0
    }

    /// Whether there is something that an idle worker could take.
    pub(crate) fn work_visible(&self) -> bool {
        self.any_injected() || self.seats.iter().any(|seat| !seat.deque.is_empty())
    }

    pub(crate) fn stats(&self) -> Stats {
        let mut sum = Stats::default();
        for seat in &self.seats {
            sum += seat.context.counters.read();
        }
        sum
    }
}

impl teams::Team for Team {
    fn inject(&self, frame: FrameRef) {
        self.inject_last(frame);
    }
}
