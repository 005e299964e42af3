//! The mailbox of a worker: what it sends to other workers' nodes, and what they send to its own.
//!
//! When there is no room, the message waits in the *outbox*, and those behind it too. A worker with something in its
//! outbox goes on receiving.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::mem::ManuallyDrop;
use std::ptr::NonNull;
use std::time::Duration;

use super::identity;
use super::packet::{Made, Packet};
use crate::fabric::Fabric;
use crate::fabric::threads::Transport;
use crate::observe::Counters;
use crate::task::context::Cx;

/// How messages between nodes travel.
#[derive(Clone, Debug)]
pub(crate) struct Travel {
    pub(crate) transport: Transport,
    /// Messages in a worker's outbox above which its senders wait.
    pub(crate) outbox: usize,
    /// As bytes.
    pub(crate) encode: bool,
    /// What each costs its sender, and its receiver, in addition.
    pub(crate) overhead: Duration,
}

impl Default for Travel {
    fn default() -> Travel {
        Travel { transport: Transport::default(), outbox: 256, encode: false, overhead: Duration::ZERO }
    }
}

/// One worker's.
pub(crate) struct Mailbox<F> {
    /// Messages are sent as bytes.
    encode: bool,
    index: usize,
    others: F,
    /// To this worker's own nodes.
    own: RefCell<VecDeque<Packet>>,
    /// By receiver: what could not be sent, oldest first.
    outbox: Box<[RefCell<VecDeque<Packet>>]>,
    /// All that is in them.
    held: Cell<usize>,
    /// There is no other worker.
    alone: bool,
    /// The last message was another worker's: now an own one comes first.
    turn: Cell<bool>,
}

/// Mailboxes for the workers whose ends of a fabric these are.
pub(crate) fn mailboxes<F: Fabric<Packet>>(ends: Vec<F>, travel: &Travel) -> Vec<Mailbox<F>> {
    let workers = ends.len();
    if travel.encode || !F::SHARES_MEMORY {
        // What takes a while, before there is a message.
        identity::build();
    }
    let mailbox = |(index, others)| Mailbox {
        encode: travel.encode || !F::SHARES_MEMORY,
        index,
        others,
        own: RefCell::new(VecDeque::new()),
        outbox: (0..workers).map(|_| RefCell::new(VecDeque::new())).collect(),
        held: Cell::new(0),
        alone: workers == 1,
        turn: Cell::new(false),
    };
    ends.into_iter().enumerate().map(mailbox).collect()
}

impl<F: Fabric<Packet>> Mailbox<F> {
    /// Whether messages are sent as bytes.
    #[inline]
    pub(crate) fn encodes(&self) -> bool {
        self.encode
    }

    /// Sends a message to worker `to`. Never waits.
    ///
    /// # Safety
    /// The message is moved out: it is not used, and not dropped, afterwards.
    pub(crate) unsafe fn send(&self, to: usize, message: &Made, counters: &Counters) {
        if to == self.index {
            // SAFETY: passed on.
            self.own.borrow_mut().push_back(unsafe { message.take() });
            counters.messages_own.add(1);
            return;
        }
        // SAFETY: the place is for a packet. The fabric calls this once, if it sends; then `message` is left alone.
        let write = |place| unsafe { message.move_to(place) };
        // SAFETY: the place holds the packet then.
        let sent = self.outbox[to].borrow().is_empty() && unsafe { self.others.send_in_place(to, write, counters) };
        if !sent {
            // SAFETY: passed on; it has not been sent.
            self.outbox[to].borrow_mut().push_back(unsafe { message.take() });
            self.held.set(self.held.get() + 1);
            counters.messages_held.add(1);
        }
    }

    /// Whether there is something to do here: a message to be handled, or one to be sent.
    #[inline]
    pub(crate) fn any(&self) -> bool {
        !self.own.borrow().is_empty() || self.held.get() > 0 || self.waits()
    }

    /// Whether nothing but the outbox waits.
    pub(crate) fn is_stuck(&self) -> bool {
        self.held.get() > 0 && self.own.borrow().is_empty() && !self.waits()
    }

    /// How many messages this worker has made that are still in its own hands.
    pub(crate) fn to_do(&self) -> usize {
        self.held.get() + self.own.borrow().len()
    }

    /// Whether another worker's message waits to be handled; any thread may ask.
    #[inline]
    pub(crate) fn waits(&self) -> bool {
        !self.alone && self.others.waits()
    }

    /// Sends what waits in the outbox, as far as there is room; whether any was. `poke` is told of its
    /// receiver.
    pub(crate) fn flush(&self, counters: &Counters, mut poke: impl FnMut(usize)) -> bool {
        if self.held.get() == 0 {
            return false;
        }
        let before = self.held.get();
        for (to, outbox) in self.outbox.iter().enumerate() {
            loop {
                let mut outbox = outbox.borrow_mut();
                let Some(next) = outbox.pop_front() else { break };
                let next = ManuallyDrop::new(next);
                // SAFETY: the place is for a packet. The fabric calls this once, if it sends; then `next` is left alone.
                let write = |place: NonNull<Packet>| unsafe { place.write(std::ptr::read(&*next)) };
                // SAFETY: the place holds the packet then.
                if !unsafe { self.others.send_in_place(to, write, counters) } {
                    outbox.push_front(ManuallyDrop::into_inner(next));
                    break;
                }
                self.held.set(self.held.get() - 1);
                poke(to);
            }
        }
        self.held.get() < before
    }

    /// The worker will not look for a while.
    pub(crate) fn rest(&self) {
        self.others.rest();
    }

    /// Handles one message, if there is one. Own ones and others' take turns.
    #[inline]
    pub(crate) fn handle_one(&self, cx: Cx) -> bool {
        if self.alone {
            return self.handle_own(cx);
        }
        let own_first = self.turn.get();
        for own in [own_first, !own_first] {
            if if own { self.handle_own(cx) } else { self.handle_others(cx) } {
                self.turn.set(!own);
                return true;
            }
        }
        false
    }

    #[inline]
    fn handle_others(&self, cx: Cx) -> bool {
        // SAFETY: handling takes it out of its place, and handlers do not receive.
        unsafe { self.others.receive_with(|packet| Packet::handle(packet, cx)) }.is_some()
    }

    fn handle_own(&self, cx: Cx) -> bool {
        let Some(packet) = self.own.borrow_mut().pop_front() else { return false };
        let mut packet = ManuallyDrop::new(packet);
        // SAFETY: it is here, and not dropped.
        unsafe { Packet::handle(NonNull::from(&mut *packet), cx) };
        true
    }
}
