//! The fabric of a simulated machine: messages are kept until the virtual time at which they arrive.
//!
//! All endpoints are used by the simulation's thread. Any thread may ask whether messages are on their way.

pub(crate) mod wire;

use std::cmp::Ordering as Order;
use std::collections::BinaryHeap;
use std::mem::{ManuallyDrop, MaybeUninit};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use super::Fabric;
use super::threads::Transport;
use crate::atomics::lock_std as lock;
use crate::observe::Counters;
use crate::sim::engine::Engine;
use crate::sim::{Activity, Simulator};

/// One worker's endpoint.
pub(crate) struct Simulated<M> {
    worker: usize,
    transport: Transport,
    engine: Arc<Engine>,
    workers: Arc<[AtWorker<M>]>,
}

/// The messages to one worker, and the number of its own pulled ones.
struct AtWorker<M> {
    /// Number of pulled messages that the worker has sent and that have not been received.
    source_buffers: AtomicUsize,
    /// Number of messages that have not been received.
    pending: AtomicUsize,
    queue: Mutex<Queue<M>>,
}

struct Queue<M> {
    messages: BinaryHeap<Travelling<M>>,
    /// Number of messages sent so far.
    sent: u64,
}

/// A message on its way. The first to arrive is the greatest.
struct Travelling<M> {
    arrives: u64,
    /// Tells messages that arrive at the same time apart: the one sent first has the lowest.
    number: u64,
    /// The sender, if the message is in its memory.
    source: Option<usize>,
    bytes: usize,
    message: M,
}

/// Creates the endpoints of the workers of a machine.
pub(crate) fn simulated<M: Send>(workers: usize, transport: Transport, engine: &Arc<Engine>) -> Vec<Simulated<M>> {
    let at_worker = |_| AtWorker {
        source_buffers: AtomicUsize::new(0),
        pending: AtomicUsize::new(0),
        queue: Mutex::new(Queue { messages: BinaryHeap::new(), sent: 0 }),
    };
    let at_workers: Arc<[_]> = (0..workers).map(at_worker).collect();
    let endpoint =
        |worker| Simulated { worker, transport, engine: Arc::clone(engine), workers: Arc::clone(&at_workers) };
    (0..workers).map(endpoint).collect()
}

impl<M> Simulated<M> {
    fn own(&self) -> &AtWorker<M> {
        &self.workers[self.worker]
    }

    /// Returns the time from which the next message can be received, if that is not in the future.
    fn receivable(&self, queue: &Queue<M>) -> Option<u64> {
        let receivable = self.engine.receivable(self.worker, queue.arrival()?);
        (receivable <= self.engine.clock()).then_some(receivable)
    }
}

/// Returns a number that no other message has, from the receiver and its number there.
fn identity(to: usize, number: u64) -> u64 {
    ((to as u64) << 40) | number
}

impl<M> Queue<M> {
    /// Returns the time at which the next message arrives.
    fn arrival(&self) -> Option<u64> {
        self.messages.peek().map(|next| next.arrives)
    }
}

// SAFETY: `write` is called once, after which only `true` is returned.
unsafe impl<M: Send> Fabric<M> for Simulated<M> {
    fn weighs(&self) -> bool {
        true
    }

    unsafe fn send_in_place(
        &self,
        to: usize,
        bytes: impl Fn() -> usize,
        mut write: impl FnMut(NonNull<M>),
        counters: &Counters,
    ) -> bool {
        // Whether there is room depends on what the receiver has done until now.
        self.engine.charge(counters);
        self.engine.let_others_catch_up();
        let receiver = &self.workers[to];
        // Relaxed, here and below: only the simulation's thread sends and receives; for other threads it is a hint.
        let room = receiver.pending.load(Ordering::Relaxed) < self.engine.buffers();
        let own_room = self.own().source_buffers.load(Ordering::Relaxed) < self.engine.source_buffers();
        let pulled = match self.transport {
            Transport::Push | Transport::Adaptive if room => false,
            Transport::Pull | Transport::Adaptive if own_room => true,
            Transport::Push | Transport::Pull | Transport::Adaptive => return false,
        };
        if pulled {
            self.own().source_buffers.fetch_add(1, Ordering::Relaxed);
        }
        let mut place = MaybeUninit::<M>::uninit();
        write(NonNull::from(&mut place).cast());
        // SAFETY: the caller guarantees that `write` initializes the place.
        let message = unsafe { place.assume_init() };
        let bytes = bytes();
        let begun = self.engine.clock();
        let arrives = self.engine.send(to, bytes, pulled, counters);
        (if pulled { &counters.messages_pulled } else { &counters.messages_pushed }).add(1);
        receiver.pending.fetch_add(1, Ordering::Relaxed);
        let mut queue = lock(&receiver.queue);
        queue.sent += 1;
        let number = queue.sent;
        self.engine.record(|| Activity::Send { message: identity(to, number), bytes }, begun);
        queue.messages.push(Travelling { arrives, number, source: pulled.then_some(self.worker), bytes, message });
        let arrival = queue.arrival();
        drop(queue);
        self.engine.set_arrival(to, arrival);
        true
    }

    unsafe fn receive_with<R>(&self, mut read: impl FnMut(NonNull<M>) -> R) -> Option<R> {
        // A worker that handles many messages must not run ahead of their senders.
        self.engine.let_others_catch_up();
        let receiver = self.own();
        let mut queue = lock(&receiver.queue);
        let receivable = self.receivable(&queue)?;
        let queue_length = queue.sent;
        let mut next = queue.messages.pop();
        if mutated!(Reordered)
            && let Some(mut second) = queue.messages.peek_mut()
            && let Some(first) = &mut next
        {
            std::mem::swap(first, &mut second);
        }
        let arrival = queue.arrival();
        drop(queue);
        let lost = mutated!(LostCredit) && queue_length.is_multiple_of(16);
        if !lost {
            receiver.pending.fetch_sub(1, Ordering::Relaxed);
        }
        next.map(|Travelling { number, source, bytes, message, .. }| {
            let begun = self.engine.clock();
            if let Some(source) = source {
                self.workers[source].source_buffers.fetch_sub(1, Ordering::Relaxed);
            }
            self.engine.received(receivable, bytes, source.is_some());
            self.engine.record(|| Activity::Receive { message: identity(self.worker, number) }, begun);
            self.engine.set_arrival(self.worker, arrival);
            let mut message = ManuallyDrop::new(message);
            // `read` takes the message, or destroys it.
            read(NonNull::from(&mut *message))
        })
    }

    fn arrived(&self) -> bool {
        self.receivable(&lock(&self.own().queue)).is_some()
    }

    fn waits(&self) -> bool {
        self.own().pending.load(Ordering::Relaxed) > 0
    }

    fn rest(&self) {}
}

impl<M> PartialEq for Travelling<M> {
    fn eq(&self, other: &Travelling<M>) -> bool {
        self.cmp(other) == Order::Equal
    }
}

impl<M> Eq for Travelling<M> {}

impl<M> PartialOrd for Travelling<M> {
    fn partial_cmp(&self, other: &Travelling<M>) -> Option<Order> {
        Some(self.cmp(other))
    }
}

impl<M> Ord for Travelling<M> {
    fn cmp(&self, other: &Travelling<M>) -> Order {
        (other.arrives, other.number).cmp(&(self.arrives, self.number))
    }
}
