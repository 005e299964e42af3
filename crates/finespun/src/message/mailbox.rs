//! A worker's mailbox: sends messages to other workers' nodes, and receives messages for its own nodes.
//!
//! A message for which the fabric has no room waits in the *outbox*, and so do all later messages to the same receiver.
//! A worker with messages in its outbox still receives.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, VecDeque};
use std::mem::ManuallyDrop;
use std::ptr::NonNull;
use std::time::Duration;

use super::identity;
use super::packet::{Made, Packet, handle_bytes};
use crate::fabric::processes::Link;
use crate::fabric::recorder::{self, Kind};
use crate::fabric::threads::Transport;
use crate::fabric::{Endpoint, Fabric};
use crate::frame::context::Cx;
use crate::observe::Counters;

/// The parameters of message transfer between nodes.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "processes", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Travel {
    pub(crate) transport: Transport,
    /// The number of messages not yet passed on ([`Mailbox::to_do`]) at which tasks that send one-way calls wait.
    pub(crate) outbox: usize,
    /// Whether messages are sent as bytes.
    pub(crate) encode: bool,
    /// The overhead that each message adds for its sender, and for its receiver.
    pub(crate) overhead: Duration,
}

impl Default for Travel {
    fn default() -> Travel {
        Travel { transport: Transport::default(), outbox: 256, encode: false, overhead: Duration::ZERO }
    }
}

/// Messages to one receiver, with their sizes. Not empty.
type Queue = VecDeque<(Packet, usize)>;

/// The endpoint of one worker.
pub(crate) enum Others {
    /// All workers are in this process.
    Memory(Endpoint<Packet>),
    /// Others are in other processes, and messages to all of them are bytes.
    Bytes(Link),
}

/// The mailbox of one worker.
pub(crate) struct Mailbox {
    /// Whether messages are sent as bytes within the process.
    encode: bool,
    /// Whether no messages are sent as bytes.
    plain: bool,
    /// Whether the fabric asks for the sizes of messages.
    weighs: bool,
    index: usize,
    others: Others,
    /// Messages to this worker's own nodes.
    own: RefCell<VecDeque<Packet>>,
    /// By receiver: messages that could not be sent yet, oldest first.
    outbox: RefCell<BTreeMap<usize, Queue>>,
    /// The number of messages that could not be sent yet, or not as a whole: in the outbox or the link.
    held: Cell<usize>,
    /// Whether this is the only worker.
    alone: bool,
    /// Set if the last message came from another worker: then `handle_one` tries an own message first.
    turn: Cell<bool>,
}

/// Creates the mailboxes of the workers from `first` on, with these endpoints of a fabric.
pub(crate) fn mailboxes(ends: Vec<Others>, first: usize, travel: &Travel) -> Vec<Mailbox> {
    let alone = ends.len() == 1 && matches!(ends[0], Others::Memory(_));
    if travel.encode || matches!(ends[0], Others::Bytes(_)) {
        // Computed now, so that the first message does not wait some milliseconds for it.
        identity::build();
    }
    let mailbox = |(index, others): (usize, Others)| Mailbox {
        encode: travel.encode,
        plain: !travel.encode && matches!(others, Others::Memory(_)),
        weighs: matches!(&others, Others::Memory(end) if end.weighs()),
        index: first + index,
        others,
        own: RefCell::new(VecDeque::new()),
        outbox: RefCell::new(BTreeMap::new()),
        held: Cell::new(0),
        alone,
        turn: Cell::new(false),
    };
    ends.into_iter().enumerate().map(mailbox).collect()
}

impl Mailbox {
    /// Returns whether no messages are sent as bytes.
    #[inline]
    pub(crate) fn is_plain(&self) -> bool {
        self.plain
    }

    /// Returns whether messages are sent as bytes within the process.
    #[inline]
    pub(crate) fn encodes(&self) -> bool {
        self.encode
    }

    /// Returns whether the fabric asks for the sizes of messages.
    #[inline]
    pub(crate) fn weighs(&self) -> bool {
        self.weighs
    }

    /// Returns whether messages to other workers are bytes, sent by [`send_bytes`](Mailbox::send_bytes).
    #[inline]
    pub(crate) fn leaves_process(&self) -> bool {
        matches!(self.others, Others::Bytes(_))
    }

    /// Sends a message to another worker, as bytes. Never waits.
    pub(crate) fn send_bytes(&self, to: usize, bytes: Vec<u8>, counters: &Counters) {
        let Others::Bytes(link) = &self.others else { unreachable!("all workers are in this process") };
        recorder::sent(Kind::Tasks, &bytes);
        if !link.send(to, bytes) {
            counters.messages_held.add(1);
        }
        self.held.set(link.kept());
        counters.messages_pushed.add(1);
    }

    /// Sends a message to worker `to`. Never waits, but other simulated workers may run.
    ///
    /// # Safety
    /// The message is moved out: the caller neither uses nor drops it afterwards.
    pub(crate) unsafe fn send(&self, to: usize, message: &Made, counters: &Counters) {
        if to == self.index {
            // SAFETY: the caller neither uses nor drops `message` afterwards.
            self.own.borrow_mut().push_back(unsafe { message.take() });
            counters.messages_own.add(1);
            return;
        }
        let Others::Memory(end) = &self.others else { unreachable!("messages to other processes are bytes") };
        // SAFETY: the place is valid for a packet. The fabric calls `write` at most once, and only if it sends;
        // `message` is not used then.
        let write = |place| unsafe { message.move_to(place) };
        let behind = self.held.get() > 0 && !mutated!(Overtaking) && self.outbox.borrow().contains_key(&to);
        // SAFETY: `write` initializes the place with the packet, and does not panic.
        let sent = !behind && unsafe { end.send_in_place(to, || message.bytes(), write, counters) };
        if !sent {
            // SAFETY: the caller neither uses nor drops `message` afterwards, and the fabric has not moved it out.
            let packet = unsafe { message.take() };
            self.hold(to, packet, message.bytes());
            counters.messages_held.add(1);
        }
    }

    /// For tests: sends bytes to worker `to` in place of a message. Returns false if there is no room.
    pub(crate) fn forge(&self, to: usize, bytes: &[u8]) -> bool {
        let Others::Bytes(link) = &self.others else { return false };
        let room = !link.holds();
        if room {
            link.send(to, bytes.to_vec());
            self.held.set(link.kept());
        }
        room
    }

    #[cold]
    fn hold(&self, to: usize, packet: Packet, bytes: usize) {
        self.outbox.borrow_mut().entry(to).or_default().push_back((packet, bytes));
        self.held.set(self.held.get() + 1);
    }

    /// Returns whether a message waits to be handled or sent.
    #[inline]
    pub(crate) fn any(&self) -> bool {
        !self.own.borrow().is_empty() || self.holds() || self.arrived()
    }

    /// Returns whether messages, or parts of them, have not been sent yet.
    #[inline]
    pub(crate) fn holds(&self) -> bool {
        self.held.get() > 0
    }

    /// Returns whether messages wait in the outbox and none waits to be handled.
    pub(crate) fn is_stuck(&self) -> bool {
        self.holds() && self.own.borrow().is_empty() && !self.arrived()
    }

    /// Returns the number of messages that this worker has made and not passed on yet: to its own nodes, and in the
    /// outboxes.
    pub(crate) fn to_do(&self) -> usize {
        self.held.get() + self.own.borrow().len()
    }

    #[inline]
    fn arrived(&self) -> bool {
        !self.alone
            && match &self.others {
                Others::Memory(end) => end.arrived(),
                Others::Bytes(link) => link.arrived(),
            }
    }

    /// Returns whether another worker's message waits to be handled, or is on its way. Any thread may call this.
    #[inline]
    pub(crate) fn waits(&self) -> bool {
        !self.alone
            && match &self.others {
                Others::Memory(end) => end.waits(),
                Others::Bytes(link) => link.waits(),
            }
    }

    /// As [`waits`](Mailbox::waits), but not for a message that its sender, in another process, is still writing.
    pub(crate) fn has_arrived(&self) -> bool {
        match &self.others {
            Others::Memory(_) => self.waits(),
            Others::Bytes(link) => link.arrived(),
        }
    }

    /// Sends messages from the outbox, as far as the fabric has room, and calls `poke` with the receiver of each.
    /// Returns true if it sent any.
    pub(crate) fn flush(&self, counters: &Counters, mut poke: impl FnMut(usize)) -> bool {
        if !self.holds() {
            return false;
        }
        let end = match &self.others {
            Others::Memory(end) => end,
            Others::Bytes(link) => {
                let some = link.flush(poke);
                self.held.set(link.kept());
                return some;
            }
        };
        let before = self.held.get();
        self.outbox.borrow_mut().retain(|&to, queue| {
            while let Some((next, bytes)) = queue.pop_front() {
                let next = ManuallyDrop::new(next);
                // SAFETY: the place is valid for a packet. The fabric calls `write` at most once, and only if it sends;
                // `next` is not used then.
                let write = |place: NonNull<Packet>| unsafe { place.write(std::ptr::read(&*next)) };
                // SAFETY: `write` initializes the place with the packet, and does not panic.
                if !unsafe { end.send_in_place(to, || bytes, write, counters) } {
                    queue.push_front((ManuallyDrop::into_inner(next), bytes));
                    return true;
                }
                self.held.set(self.held.get() - 1);
                poke(to);
            }
            false
        });
        self.held.get() < before
    }

    /// Returns the number of messages sent to and received from workers of a runtime over processes. Any thread may ask
    /// while the worker is parked.
    pub(crate) fn traffic(&self) -> (u64, u64) {
        match &self.others {
            Others::Memory(_) => (0, 0),
            Others::Bytes(link) => link.traffic(),
        }
    }

    /// Calls `nudge` with each worker of another process that this one may wait for.
    pub(crate) fn awaited(&self, nudge: &mut dyn FnMut(u32) -> bool) {
        if let Others::Bytes(link) = &self.others {
            link.awaited(nudge);
        }
    }

    /// Notifies the fabric that the worker will not poll for a while.
    pub(crate) fn rest(&self) {
        if let Others::Memory(end) = &self.others {
            end.rest();
        }
    }

    /// Drops the messages of this process that have not been handled.
    pub(crate) fn discard(&self) {
        let (own, outbox) = (self.own.take(), self.outbox.take());
        drop((own, outbox));
        if let Others::Memory(end) = &self.others {
            // SAFETY: the message is moved out, once, and its destructor does not receive.
            while unsafe { end.receive_with(|packet| drop(packet.read())) }.is_some() {}
        }
    }

    /// Handles one message, if one is available. Alternates between own messages and those from other workers. Returns
    /// whether it handled one.
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
        match &self.others {
            // SAFETY: `handle` moves the message out of its place or destroys it, and handlers do not receive.
            Others::Memory(end) => unsafe { end.receive_with(|packet| Packet::handle(packet, cx)) }.is_some(),
            Others::Bytes(link) => link.receive(|_, bytes| handle_bytes(bytes, cx)).is_some(),
        }
    }

    fn handle_own(&self, cx: Cx) -> bool {
        let Some(packet) = self.own.borrow_mut().pop_front() else { return false };
        let mut packet = ManuallyDrop::new(packet);
        // SAFETY: `packet` is a message, which is neither used nor dropped afterwards.
        unsafe { Packet::handle(NonNull::from(&mut *packet), cx) };
        true
    }
}
