//! A table of values that are bound to this process, while messages that contain them travel as bytes.
//!
//! A continuation is an address, which means nothing in another process and must not be forged. So the message contains
//! a number, and the continuation itself is stored in the table; the first reader of the number takes it. Other values
//! that are bound to this process travel the same way. This works only while the library itself writes or reads a
//! message: serialization by the program fails, since the program could lose the bytes, and the continuation with them.
//! The numbers cannot be guessed, and even a correct guess yields only a value of the requested type.
//!
//! A message's stored values are dropped with the message if no reader has taken them: the message could not be
//! written, was lost, or was not read by its receiver.

use std::any::Any;
use std::cell::RefCell;
use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::LazyLock;
use std::sync::atomic::AtomicU64;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de, ser};

use super::Continuation;
use crate::atomics::Ordering;
use crate::process::{Guard, ProcessMutex, unforked};

/// A number that takes eight bytes on the wire, whatever its value. Used for random and history-dependent numbers, so
/// that a message's size depends on the program only.
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

type Table = HashMap<u64, Box<dyn Any + Send>>;

static TABLE: LazyLock<ProcessMutex<Table>> = LazyLock::new(|| ProcessMutex::new(Table::new()));
static NUMBERS: LazyLock<RandomState> = LazyLock::new(RandomState::new);
static NEXT: AtomicU64 = AtomicU64::new(0);

thread_local! {
    /// The numbers of the values stored for the message that this thread is writing or reading.
    static SESSION: RefCell<Option<Vec<u64>>> = const { RefCell::new(None) };
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

/// Writes or reads a message, or a part of one, by calling `body`. Also returns the values stored during the call.
pub(crate) fn carry<R>(body: impl FnOnce() -> R) -> (R, Left) {
    /// Ends the session, even if user code panics.
    struct Session(Option<Vec<u64>>);
    impl Drop for Session {
        fn drop(&mut self) {
            drop(SESSION.replace(self.0.take()).map(Left));
        }
    }

    let session = Session(SESSION.replace(Some(Vec::new())));
    let done = body();
    let left = SESSION.with_borrow_mut(|left| left.as_mut().map(std::mem::take));
    drop(session);
    (done, Left(left.unwrap_or_default()))
}

/// Moves the values stored for a successfully written part to the enclosing message.
pub(crate) fn join(mut part: Left) {
    let numbers = std::mem::take(&mut part.0);
    SESSION.with_borrow_mut(|left| left.get_or_insert_default().extend(numbers));
}

/// Stores a value for the message that is being written, and returns its number. Returns `None` outside a message, or
/// if `value` returns `None`.
pub(crate) fn leave<T: Send + 'static>(value: impl FnOnce() -> Option<T>) -> Option<u64> {
    if SESSION.with_borrow(Option::is_none) {
        return None;
    }
    let value = Box::new(value()?);
    // Relaxed: only uniqueness matters.
    let number = NUMBERS.hash_one(NEXT.fetch_add(1, Ordering::Relaxed));
    table().insert(number, value);
    SESSION.with_borrow_mut(|left| left.as_mut().map(|left| left.push(number)));
    Some(number)
}

/// Takes the value stored under `number`, if it is a `T`. Returns `None` outside a message.
pub(crate) fn take<T: 'static>(number: u64) -> Option<T> {
    if SESSION.with_borrow(Option::is_none) {
        return None;
    }
    let mut table = table();
    table.get(&number).filter(|value| value.is::<T>())?;
    let value = table.remove(&number)?;
    drop(table);
    value.downcast().ok().map(|value| *value)
}

/// Fails outside messages of the library: see the error.
impl<T: Send + 'static> Serialize for Continuation<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // SAFETY: `take_leaf` returns the leaf of this `Continuation<T>` once, and leaves the continuation without one.
        let own = || self.take_leaf().map(|leaf| unsafe { Continuation::<T>::from_leaf(leaf) });
        match leave(own) {
            Some(number) => Word(number).serialize(serializer),
            None => Err(ser::Error::custom(
                "a continuation can be serialized only as an argument of an object's method, and only once",
            )),
        }
    }
}

/// Fails outside messages of the library: see the error.
impl<'de, T: Send + 'static> Deserialize<'de> for Continuation<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Continuation<T>, D::Error> {
        let Word(number) = Word::deserialize(deserializer)?;
        match take(number) {
            Some(k) => Ok(k),
            None => Err(de::Error::custom(
                "a continuation can be deserialized only as an argument of an object's method, and only once",
            )),
        }
    }
}
