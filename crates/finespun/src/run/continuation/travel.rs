//! A table of values that are bound to this process, while messages that refer to them travel as bytes.
//!
//! A continuation is an address, which means nothing in another process and must not be forged. So the message contains
//! a number, and the continuation itself is stored in the table. Other values that are bound to this process travel the
//! same way. This works only while the library itself writes or reads a message: serialization by the program fails,
//! since the program could lose the bytes, and the continuation with them. The numbers cannot be guessed, and even a
//! correct guess yields only a value of the requested type.
//!
//! A message that stays in its process ([`Travels::Within`]) *leaves* values: its reader takes them; the values that no
//! reader has taken are dropped with the message, because it could not be written, was lost, or was not read by its
//! receiver. For a message to another process ([`Travels::Out`]), values are *kept* until a message that answers comes
//! back with the number, or until their run ends. The upper bits of such a number name the worker that keeps the value.

use std::any::Any;
use std::cell::RefCell;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::{BuildHasher, RandomState};
use std::sync::LazyLock;
use std::sync::atomic::AtomicU64;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::atomics::Ordering;
use crate::process::{Guard, ProcessMutex, unforked};

/// A number that takes eight bytes on the wire, whatever its value. Used for random and history-dependent numbers, so
/// that a message's size depends on the program only.
#[derive(Clone, Copy)]
pub(crate) struct Word(pub(crate) u64);

impl Serialize for Word {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        if to.is_human_readable() { self.0.serialize(to) } else { self.0.to_le_bytes().serialize(to) }
    }
}

impl<'de> Deserialize<'de> for Word {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Word, D::Error> {
        if from.is_human_readable() {
            return u64::deserialize(from).map(Word);
        }
        <[u8; 8]>::deserialize(from).map(|bytes| Word(u64::from_le_bytes(bytes)))
    }
}

/// Whether a message stays in its process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Travels {
    Within,
    Out,
}

/// A stored value.
struct Stored {
    value: Box<dyn Any + Send>,
    /// The run whose end removes the value.
    run: Option<u32>,
}

type Table = HashMap<u64, Stored>;

/// The bits of a number that name no worker.
const RANDOM: u32 = 48;

static TABLE: LazyLock<ProcessMutex<Table>> = LazyLock::new(|| ProcessMutex::new(Table::new()));
static NUMBERS: LazyLock<RandomState> = LazyLock::new(RandomState::new);
static NEXT: AtomicU64 = AtomicU64::new(0);

/// The message that a thread is writing or reading.
struct Session {
    travels: Travels,
    /// The numbers of the values that the message leaves.
    left: Vec<u64>,
}

thread_local! {
    static SESSION: RefCell<Option<Session>> = const { RefCell::new(None) };
}

fn table() -> Guard<'static, Table> {
    unforked(|| LazyLock::force(&TABLE)).lock()
}

/// The numbers of values stored for a message. Dropping it removes the values that have not been taken.
#[derive(Default)]
pub(crate) struct Left(Vec<u64>);

impl Drop for Left {
    fn drop(&mut self) {
        for number in self.0.drain(..) {
            // Dropped outside the lock: the destructor may be user code.
            let value = table().remove(&number);
            drop(value);
        }
    }
}

/// Writes or reads a message, or a part of one, by calling `body`. Also returns the values that it has left.
pub(crate) fn carry<R>(travels: Travels, body: impl FnOnce() -> R) -> (R, Left) {
    /// Ends the session, even if user code panics.
    struct Ends(Option<Session>);
    impl Drop for Ends {
        fn drop(&mut self) {
            drop(SESSION.replace(self.0.take()).map(|session| Left(session.left)));
        }
    }

    let ends = Ends(SESSION.replace(Some(Session { travels, left: Vec::new() })));
    let done = body();
    let left = SESSION.with_borrow_mut(|session| session.as_mut().map(|session| std::mem::take(&mut session.left)));
    drop(ends);
    (done, Left(left.unwrap_or_default()))
}

/// Returns whether the message that is being written or read stays in its process; `None` outside a message.
pub(crate) fn travels() -> Option<Travels> {
    SESSION.with_borrow(|session| session.as_ref().map(|session| session.travels))
}

/// Moves the values that a successfully written part has left to the enclosing message.
pub(crate) fn join(mut part: Left) {
    let numbers = std::mem::take(&mut part.0);
    SESSION.with_borrow_mut(|session| {
        if let Some(session) = session {
            session.left.extend(numbers);
        }
    });
}

/// Stores a value under a number that no other value has, with `worker` in its upper bits.
fn store(value: Box<dyn Any + Send>, worker: u32, run: Option<u32>) -> u64 {
    let mut table = table();
    loop {
        // Relaxed: only uniqueness matters.
        let random = NUMBERS.hash_one(NEXT.fetch_add(1, Ordering::Relaxed)) >> (u64::BITS - RANDOM);
        let number = u64::from(worker) << RANDOM | random;
        if let Entry::Vacant(place) = table.entry(number) {
            place.insert(Stored { value, run });
            return number;
        }
    }
}

/// Stores a value for the message that is being written, which stays in its process, and returns its number. Returns
/// `None` outside such a message, or if `value` returns `None`.
pub(crate) fn leave<T: Send + 'static>(value: impl FnOnce() -> Option<T>) -> Option<u64> {
    if travels() != Some(Travels::Within) {
        return None;
    }
    let number = store(Box::new(value()?), 0, None);
    SESSION.with_borrow_mut(|session| session.as_mut().map(|session| session.left.push(number)));
    Some(number)
}

/// Stores a value for an answer from another process, which `worker` receives, until the end of `run`. Returns its
/// number.
pub(crate) fn keep<T: Send + 'static>(value: T, worker: u32, run: Option<u32>) -> u64 {
    store(Box::new(value), worker, run)
}

/// Returns the worker that keeps the value with this number.
pub(crate) fn worker_of(number: u64) -> u32 {
    (number >> RANDOM) as u32
}

/// Drops the value stored under `number`, if it is there.
pub(crate) fn forget(number: u64) {
    // Dropped outside the lock: the destructor may be user code.
    let value = table().remove(&number);
    drop(value);
}

/// Drops all values that are kept until the end of this run.
pub(crate) fn forget_run(run: u32) {
    let values: Vec<_> = table().extract_if(|_, stored| stored.run == Some(run)).collect();
    drop(values);
}

/// Takes the value stored under `number`, if it is a `T`.
pub(crate) fn take<T: 'static>(number: u64) -> Option<T> {
    let mut table = table();
    table.get(&number).filter(|stored| stored.value.is::<T>())?;
    let stored = table.remove(&number)?;
    drop(table);
    stored.value.downcast().ok().map(|value| *value)
}
