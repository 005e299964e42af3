//! Waking one waiter, or all, without a value.

use std::panic::Location;

use super::waiter::{Operation, Party, PassOn, Token, Waiter, Waiters, grant_all, made_at, operation};
use crate::atomics::{Mutex, const_fn, lock};
use crate::frame::CallSite;
use crate::frame::leaf::Subject;

/// A notification of a single waiter or of all, as tokio's: a semaphore with at most one permit.
///
/// [`notify_one`](Notify::notify_one) ends the wait of the first waiter. If no task waits, it stores a permit, which the
/// next [`notified`](Notify::notified) takes: so a notification that comes before the wait is not lost.
/// [`notify_waiters`](Notify::notify_waiters) ends all waits that have been requested, and stores nothing.
///
/// Any thread may notify. If a plain thread may do so more than a second after all tasks have suspended, declare this
/// with [`outside`](crate::tasks::outside), or the waiting tasks may be reported as deadlocked.
///
/// ```
/// use finespun::prelude::*;
/// use finespun::sync::{Mutex, Notify};
///
/// #[task]
/// async fn consume(queue: &Mutex<Vec<u64>>, added: &Notify) -> u64 {
///     loop {
///         if let Some(found) = queue.lock().await.pop() {
///             return found;
///         }
///         added.notified().await;
///     }
/// }
///
/// #[task]
/// async fn produce(queue: &Mutex<Vec<u64>>, added: &Notify) {
///     queue.lock().await.push(7);
///     added.notify_one();
/// }
///
/// #[task]
/// async fn both(queue: &Mutex<Vec<u64>>, added: &Notify) -> u64 {
///     let (found, ()) = join!(consume(queue, added), produce(queue, added));
///     found
/// }
/// # let runtime = Runtime::builder().workers(1).build().unwrap();
/// assert_eq!(runtime.run(both(&Mutex::new(Vec::new()), &Notify::new())), 7);
/// ```
///
/// *Cost*: a mutex held for a moment for each operation.
pub struct Notify {
    state: Mutex<State>,
    made: CallSite,
}

struct State {
    permit: bool,
    /// The number of calls of `notify_waiters`.
    rounds: u64,
    /// Granted with a token by `notify_one`, with none by `notify_waiters`.
    waiters: Waiters<Option<Token<Notify>>>,
}

impl Notify {
    const_fn! {
        /// Creates a `Notify` without a permit. Deadlock reports show where this was called.
        #[track_caller]
        pub fn new() -> Notify {
            let state = State { permit: false, rounds: 0, waiters: Waiters::new() };
            Notify { state: Mutex::new(state), made: Location::caller() }
        }
    }

    /// Ends the wait of the first waiter, or stores a permit for the next one; at most one permit is stored.
    pub fn notify_one(&self) {
        loop {
            let waiter = {
                let mut state = lock(&self.state);
                let Some(waiter) = state.waiters.pop() else {
                    state.permit = true;
                    return;
                };
                waiter
            };
            // SAFETY: the waiter's operation borrows `self`.
            match waiter.grant(Some(unsafe { Token::new(self) })) {
                Ok(()) => return,
                // The wait has been cancelled: the next one.
                Err(token) => token.into_iter().for_each(Token::forget),
            }
        }
    }

    /// Ends all waits for which [`notified`](Notify::notified) has been called, also those that have not been awaited
    /// yet. Stores no permit.
    pub fn notify_waiters(&self) {
        let waiters = {
            let mut state = lock(&self.state);
            state.rounds += 1;
            state.waiters.take()
        };
        grant_all(waiters, || None);
    }

    /// Waits for a notification.
    ///
    /// A wait that is cancelled after `notify_one` has chosen it passes the notification to the next waiter.
    #[track_caller]
    pub fn notified(&self) -> Notified<'_> {
        Notified { notify: self, rounds: lock(&self.state).rounds, place: Location::caller(), taken: false }
    }
}

impl Default for Notify {
    #[track_caller]
    fn default() -> Notify {
        Notify::new()
    }
}

impl PassOn for Notify {
    fn pass_on(&self) {
        self.notify_one();
    }
}

impl Subject for Notify {
    fn describe(&self) -> String {
        made_at("Notify", self.made)
    }
}

impl std::fmt::Debug for Notify {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Notify").finish_non_exhaustive()
    }
}

/// The operation returned by [`Notify::notified`]: a task, and outside the tasks a std future.
#[must_use = "it does nothing until it is awaited"]
pub struct Notified<'a> {
    notify: &'a Notify,
    /// The value of [`State::rounds`] when the operation was made.
    rounds: u64,
    place: CallSite,
    /// Whether the operation has taken a permit.
    taken: bool,
}

impl State {
    /// Returns whether a wait that has begun after this number of rounds need not wait, and whether it has taken the
    /// permit for this.
    fn try_take(&mut self, rounds: u64) -> (bool, bool) {
        if self.rounds != rounds {
            return (true, false);
        }
        let permit = std::mem::take(&mut self.permit);
        (permit, permit)
    }
}

// SAFETY: the subject is borrowed.
unsafe impl<'a> Operation for Notified<'a> {
    type Output = ();
    type Grant = Option<Token<Notify>>;
    type Back = Option<&'a Notify>;
    const WANTED: &'static str = "a notification of";

    fn place(&self) -> CallSite {
        self.place
    }

    fn subject(&self) -> &(dyn Subject + '_) {
        self.notify
    }

    fn try_now(&mut self, _: Party) -> Option<()> {
        let (ends, taken) = lock(&self.notify.state).try_take(self.rounds);
        self.taken = taken;
        ends.then_some(())
    }

    fn enqueue(&mut self, waiter: Waiter<Option<Token<Notify>>>) {
        let mut state = lock(&self.notify.state);
        let (ends, taken) = state.try_take(self.rounds);
        if ends {
            drop(state);
            // SAFETY: this operation, the waiter's, borrows the object.
            let token = taken.then(|| unsafe { Token::new(self.notify) });
            // If the wait has been cancelled, dropping the token passes it on.
            let _ = waiter.grant(token);
        } else {
            let dropped = state.waiters.push(waiter);
            drop(state);
            drop(dropped);
        }
    }

    fn finish(&mut self, token: Option<Token<Notify>>) {
        self.taken = token.is_some();
        token.into_iter().for_each(Token::forget);
    }

    fn back(&self) -> Option<&'a Notify> {
        self.taken.then_some(self.notify)
    }

    fn give_back(notify: Option<&'a Notify>, (): ()) {
        notify.into_iter().for_each(Notify::notify_one);
    }
}

operation!(['a] Notified<'a>);
