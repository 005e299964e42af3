//! The state that both ends of a channel share, protected by one lock, and the operations on it.
//!
//! A slot of a bounded channel is free, filled, or *reserved*: promised to a sender whose wait has been granted and that
//! has not sent yet. While senders wait, no slot is free: the receiver reserves the slot of the message that it takes for
//! the first waiting one, under the same lock. So senders send in the order of their requests. A closed channel ends when no
//! slot is filled or reserved.
//!
//! The receiver's wait is granted without a message. The message stays in the queue until the receiver takes it, so a
//! cancelled `recv` loses none. The channel has one receiver, so no other code takes the message before.

use std::collections::VecDeque;

use super::super::endpoint::Endpoint;
use super::super::waiter::{Operation, Party, PassOn, Token, Waiter, Waiters, grant_all, made_at, operation};
use super::error::{SendError, TryRecvError, TrySendError};
use crate::atomics::{Mutex, lock};
use crate::frame::CallSite;
use crate::frame::leaf::Subject;

/// A channel.
pub struct Chan<T: Send> {
    state: Mutex<State<T>>,
    /// The number of slots; `usize::MAX` for an unbounded channel.
    pub(super) capacity: usize,
    made: CallSite,
}

struct State<T: Send> {
    queue: VecDeque<T>,
    reserved: usize,
    /// The number of senders.
    senders: usize,
    /// The receiver has been closed or dropped.
    closed: bool,
    /// The receiver has been dropped.
    gone: bool,
    receiver: Option<Waiter<()>>,
    /// Senders that wait for a slot. Granted with none when the channel is closed.
    waiting: Waiters<Option<Token<Chan<T>>>>,
    /// Waits for the end of the receiver.
    closing: Waiters<()>,
}

impl<T: Send> State<T> {
    fn has_room(&self, capacity: usize) -> bool {
        self.queue.len() + self.reserved < capacity
    }

    /// Returns whether no message will be added to the queue.
    fn is_ended(&self) -> bool {
        self.senders == 0 || self.closed && self.reserved == 0
    }
}

impl<T: Send> Chan<T> {
    /// Makes a channel with one sender.
    pub(super) fn new(capacity: usize, made: CallSite) -> Chan<T> {
        let state = State {
            queue: VecDeque::new(),
            reserved: 0,
            senders: 1,
            closed: false,
            gone: false,
            receiver: None,
            waiting: Waiters::new(),
            closing: Waiters::new(),
        };
        Chan { state: Mutex::new(state), capacity, made }
    }

    pub(super) fn add_sender(&self) {
        lock(&self.state).senders += 1;
    }

    pub(super) fn is_closed(&self) -> bool {
        lock(&self.state).closed
    }

    /// Returns whether the channel has been closed or has no senders.
    pub(super) fn is_disconnected(&self) -> bool {
        let state = lock(&self.state);
        state.closed || state.senders == 0
    }

    pub(super) fn len(&self) -> usize {
        lock(&self.state).queue.len()
    }

    /// Returns the number of free slots.
    pub(super) fn free(&self) -> usize {
        let state = lock(&self.state);
        self.capacity.saturating_sub(state.queue.len() + state.reserved)
    }
}

impl<T: Send> Chan<T> {
    /// Sends a message if a slot is free.
    pub(super) fn try_send(&self, value: T) -> Result<(), TrySendError<T>> {
        let receiver = {
            let mut state = lock(&self.state);
            if state.closed {
                return Err(TrySendError::Closed(value));
            }
            if !state.has_room(self.capacity) {
                return Err(TrySendError::Full(value));
            }
            state.queue.push_back(value);
            state.receiver.take()
        };
        wake(receiver);
        Ok(())
    }

    /// Sends a message in a reserved slot, also after the channel has been closed.
    fn send_reserved(&self, value: T) -> Result<(), SendError<T>> {
        let receiver = {
            let mut state = lock(&self.state);
            state.reserved -= 1;
            if state.gone {
                return Err(SendError(value));
            }
            state.queue.push_back(value);
            state.receiver.take()
        };
        wake(receiver);
        Ok(())
    }

    /// Takes the first message, and grants its slot to the first waiting sender.
    pub(super) fn try_recv(&self) -> Result<T, TryRecvError> {
        let (value, sender) = {
            let mut state = lock(&self.state);
            let Some(value) = state.queue.pop_front() else {
                return Err(if state.is_ended() { TryRecvError::Disconnected } else { TryRecvError::Empty });
            };
            // A message that has been put back may have exceeded the bound.
            let sender = if state.has_room(self.capacity) { state.waiting.pop() } else { None };
            state.reserved += usize::from(sender.is_some());
            (value, sender)
        };
        if let Some(sender) = sender {
            self.grant_slot(sender);
        }
        Ok(value)
    }

    /// Puts a message back that no task has seen. The channel may then have a message more than its bound. The receiver is
    /// borrowed for the receiving that has been cancelled, so no other task waits for messages.
    #[cold]
    fn unreceive(&self, value: T) {
        lock(&self.state).queue.push_front(value);
    }

    /// Grants a reserved slot to a waiting sender, or to the next one if that has been cancelled.
    #[cold]
    fn grant_slot(&self, first: Waiter<Option<Token<Chan<T>>>>) {
        let mut next = Some(first);
        while let Some(sender) = next {
            // SAFETY: the sender's operation borrows the channel.
            match sender.grant(Some(unsafe { Token::new(self) })) {
                Ok(()) => return,
                Err(token) => token.into_iter().for_each(Token::forget),
            }
            next = self.next_for_slot();
        }
    }

    /// Returns the next waiting sender for a reserved slot, or makes the slot free.
    fn next_for_slot(&self) -> Option<Waiter<Option<Token<Chan<T>>>>> {
        let receiver = {
            let mut state = lock(&self.state);
            let sender = state.waiting.pop();
            if sender.is_some() {
                return sender;
            }
            state.reserved -= 1;
            if state.is_ended() { state.receiver.take() } else { None }
        };
        wake(receiver);
        None
    }

    /// Closes the channel: ends the waits of senders, and those for the channel's end.
    pub(super) fn close(&self) {
        let (waiting, closing) = {
            let mut state = lock(&self.state);
            state.closed = true;
            (state.waiting.take(), state.closing.take())
        };
        grant_all(waiting, || None);
        grant_all(closing, || ());
    }

    /// Closes the channel and drops its messages, because the receiver is dropped.
    pub(super) fn drop_receiver(&self) {
        self.close();
        let undelivered = {
            let mut state = lock(&self.state);
            state.gone = true;
            std::mem::take(&mut state.queue)
        };
        drop(undelivered);
    }

    /// Called when a sender is dropped. The receiver's wait ends with the last one.
    pub(super) fn drop_sender(&self) {
        let receiver = {
            let mut state = lock(&self.state);
            state.senders -= 1;
            if state.senders > 0 {
                return;
            }
            state.receiver.take()
        };
        wake(receiver);
    }
}

fn wake(receiver: Option<Waiter<()>>) {
    if let Some(receiver) = receiver {
        // If the wait has been cancelled, the message stays for the next one.
        let _ = receiver.grant(());
    }
}

impl<T: Send> PassOn for Chan<T> {
    fn pass_on(&self) {
        if let Some(next) = self.next_for_slot() {
            self.grant_slot(next);
        }
    }
}

impl<T: Send> Subject for Chan<T> {
    fn describe(&self) -> String {
        let made = made_at("mpsc channel", self.made);
        match self.state.try_lock() {
            Ok(state) => format!("{made} ({} messages, {} senders)", state.queue.len(), state.senders),
            Err(_) => made,
        }
    }
}

/// The operation of receiving a message: a task, and outside the tasks a std future. Its result is `None` when the
/// channel is empty and either closed or without senders.
#[must_use = "it does nothing until it is awaited"]
pub struct Recv<'a, T: Send> {
    pub(super) chan: &'a Chan<T>,
    pub(super) end: &'a Endpoint,
    pub(super) place: CallSite,
}

// SAFETY: the subject is borrowed.
unsafe impl<'a, T: Send> Operation for Recv<'a, T> {
    type Output = Option<T>;
    type Grant = ();
    type Back = &'a Chan<T>;
    const WANTED: &'static str = "a message of";

    fn place(&self) -> CallSite {
        self.place
    }

    fn subject(&self) -> &(dyn Subject + '_) {
        self.chan
    }

    #[inline]
    fn try_now(&mut self, by: Party) -> Option<Option<T>> {
        self.end.used(by);
        match self.chan.try_recv() {
            Ok(value) => Some(Some(value)),
            Err(TryRecvError::Disconnected) => Some(None),
            Err(TryRecvError::Empty) => None,
        }
    }

    fn enqueue(&mut self, waiter: Waiter<()>) {
        let (now, before) = {
            let mut state = lock(&self.chan.state);
            if state.queue.is_empty() && !state.is_ended() {
                (None, state.receiver.replace(waiter))
            } else {
                (Some(waiter), None)
            }
        };
        wake(now);
        drop(before);
    }

    fn finish(&mut self, (): ()) -> Option<T> {
        self.chan.try_recv().ok()
    }

    fn back(&self) -> &'a Chan<T> {
        self.chan
    }

    fn give_back(chan: &'a Chan<T>, message: Option<T>) {
        if let Some(message) = message {
            chan.unreceive(message);
        }
    }

    fn cancelled(&mut self) {
        // The receiver is borrowed exclusively, so the waiter is this one's.
        let waiter = lock(&self.chan.state).receiver.take();
        drop(waiter);
    }
}

operation!(['a, T: Send] Recv<'a, T>);

/// The operation of sending a message: a task, and outside the tasks a std future.
#[must_use = "it does nothing until it is awaited"]
pub struct Sending<'a, T: Send> {
    pub(super) chan: &'a Chan<T>,
    pub(super) end: &'a Endpoint,
    /// Present until the operation ends.
    pub(super) value: Option<T>,
    pub(super) place: CallSite,
}

impl<T: Send> Sending<'_, T> {
    fn take(&mut self) -> T {
        self.value.take().expect("a message is sent once")
    }
}

// SAFETY: the subject is borrowed.
unsafe impl<T: Send> Operation for Sending<'_, T> {
    type Output = Result<(), SendError<T>>;
    type Grant = Option<Token<Chan<T>>>;
    type Back = ();
    const WANTED: &'static str = "room in";

    fn place(&self) -> CallSite {
        self.place
    }

    fn subject(&self) -> &(dyn Subject + '_) {
        self.chan
    }

    #[inline]
    fn try_now(&mut self, by: Party) -> Option<Result<(), SendError<T>>> {
        self.end.used(by);
        match self.chan.try_send(self.take()) {
            Ok(()) => Some(Ok(())),
            Err(TrySendError::Closed(value)) => Some(Err(SendError(value))),
            Err(TrySendError::Full(value)) => {
                self.value = Some(value);
                None
            }
        }
    }

    fn enqueue(&mut self, waiter: Waiter<Option<Token<Chan<T>>>>) {
        let mut state = lock(&self.chan.state);
        if state.closed {
            drop(state);
            let _ = waiter.grant(None);
        } else if state.has_room(self.chan.capacity) {
            state.reserved += 1;
            drop(state);
            self.chan.grant_slot(waiter);
        } else {
            let cancelled = state.waiting.push(waiter);
            drop(state);
            drop(cancelled);
        }
    }

    fn finish(&mut self, token: Option<Token<Chan<T>>>) -> Result<(), SendError<T>> {
        let value = self.take();
        match token {
            Some(token) => {
                token.forget();
                self.chan.send_reserved(value)
            }
            None => Err(SendError(value)),
        }
    }

    fn back(&self) {}
}

operation!(['a, T: Send] Sending<'a, T>);

/// The operation of waiting for the end of the receiver: a task, and outside the tasks a std future.
#[must_use = "it does nothing until it is awaited"]
pub struct Closed<'a, T: Send> {
    pub(super) chan: &'a Chan<T>,
    pub(super) end: &'a Endpoint,
    pub(super) place: CallSite,
}

// SAFETY: the subject is borrowed.
unsafe impl<T: Send> Operation for Closed<'_, T> {
    type Output = ();
    type Grant = ();
    type Back = ();
    const WANTED: &'static str = "the end of the receiver of";

    fn place(&self) -> CallSite {
        self.place
    }

    fn subject(&self) -> &(dyn Subject + '_) {
        self.chan
    }

    fn try_now(&mut self, by: Party) -> Option<()> {
        self.end.used(by);
        self.chan.is_closed().then_some(())
    }

    fn enqueue(&mut self, waiter: Waiter<()>) {
        let mut state = lock(&self.chan.state);
        if state.closed {
            drop(state);
            let _ = waiter.grant(());
        } else {
            let cancelled = state.closing.push(waiter);
            drop(state);
            drop(cancelled);
        }
    }

    fn finish(&mut self, (): ()) {}

    fn back(&self) {}
}

operation!(['a, T: Send] Closed<'a, T>);
