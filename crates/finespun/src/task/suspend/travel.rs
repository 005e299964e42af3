//! What is left behind for a message that travels as bytes.
//!
//! A continuation is an address, which means nothing elsewhere and must not be forged. So what is written is a number, and
//! the continuation itself stays in a table; who reads the number gets it, once. The same goes for other values that are
//! this process's. It works only while the library itself writes or reads a message: text that a program makes of a
//! continuation would lose it. The numbers cannot be guessed, and who guesses right gets a value of the type that he
//! asked for.
//!
//! What has been left behind for a message is dropped with it, if nobody has taken it: if it could not be written, or was
//! lost, or has arrived at somebody who did not read it.

use std::any::Any;
use std::cell::RefCell;
use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de, ser};

use super::Continuation;
use crate::process::{Guard, ProcessMutex, unforked};

type Table = HashMap<u64, Box<dyn Any + Send>>;

static TABLE: LazyLock<ProcessMutex<Table>> = LazyLock::new(|| ProcessMutex::new(Table::new()));
static NUMBERS: LazyLock<RandomState> = LazyLock::new(RandomState::new);
static NEXT: AtomicU64 = AtomicU64::new(0);

thread_local! {
    /// While a message is written or read: the numbers that it has been given.
    static SESSION: RefCell<Option<Vec<u64>>> = const { RefCell::new(None) };
}

fn table() -> Guard<'static, Table> {
    unforked(|| LazyLock::force(&TABLE)).lock()
}

/// What has been left behind for a message. Dropped, it takes what nobody has taken.
#[derive(Default)]
pub(crate) struct Left(Vec<u64>);

impl Drop for Left {
    fn drop(&mut self) {
        for number in self.0.drain(..) {
            // Not under the lock: it may be the program's.
            let value = table().remove(&number);
            drop(value);
        }
    }
}

/// Writes or reads a message, or a part of one.
pub(crate) fn carry<R>(body: impl FnOnce() -> R) -> (R, Left) {
    /// Ends the session, also if the program's code panics.
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

/// A part has been written well: what was left behind for it belongs to the message that is being written.
pub(crate) fn join(mut part: Left) {
    let numbers = std::mem::take(&mut part.0);
    SESSION.with_borrow_mut(|left| left.get_or_insert_default().extend(numbers));
}

/// Leaves a value behind for the message that is being written; `None` if there is none.
pub(crate) fn leave<T: Send + 'static>(value: impl FnOnce() -> Option<T>) -> Option<u64> {
    if SESSION.with_borrow(Option::is_none) {
        return None;
    }
    let value = Box::new(value()?);
    // Relaxed: a number that nobody else gets.
    let number = NUMBERS.hash_one(NEXT.fetch_add(1, Ordering::Relaxed));
    table().insert(number, value);
    SESSION.with_borrow_mut(|left| left.as_mut().map(|left| left.push(number)));
    Some(number)
}

/// Takes what has been left behind under that number, if it is a `T`.
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

/// In messages only: see the error.
impl<T: Send + 'static> Serialize for Continuation<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // SAFETY: this was the continuation, and is nothing from now on.
        let own = || self.take_leaf().map(|leaf| unsafe { Continuation::<T>::from_leaf(leaf) });
        match leave(own) {
            Some(number) => serializer.serialize_u64(number),
            None => {
                Err(ser::Error::custom("a continuation travels as an argument of an object's method only, and once"))
            }
        }
    }
}

/// In messages only: see the error.
impl<'de, T: Send + 'static> Deserialize<'de> for Continuation<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Continuation<T>, D::Error> {
        let number = u64::deserialize(deserializer)?;
        match take(number) {
            Some(k) => Ok(k),
            None => {
                Err(de::Error::custom("a continuation travels as an argument of an object's method only, and once"))
            }
        }
    }
}
