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
//! receiver. Messages to other processes ([`Travels::Out`]) do not use this table, but a message that cannot be written
//! gives up what has been kept for it in the same way ([`give_up_unless_written`]).

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::sync::LazyLock;
use std::sync::atomic::AtomicU64;

use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::atomics::Ordering;
use crate::frame::quietly;
use crate::process::{Guard, ProcessMutex, unforked};

/// Bytes of a fixed number, which messages contain as they are.
pub(crate) struct Fixed<const N: usize>(pub(crate) [u8; N]);

impl<const N: usize> Serialize for Fixed<N> {
    #[inline]
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_bytes(&self.0)
    }
}

impl<'de, const N: usize> Deserialize<'de> for Fixed<N> {
    #[inline]
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Fixed<N>, D::Error> {
        struct Bytes<const N: usize>;
        impl<const N: usize> Visitor<'_> for Bytes<N> {
            type Value = Fixed<N>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{N} bytes")
            }

            #[inline]
            fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Fixed<N>, E> {
                bytes.try_into().map(Fixed).map_err(|_| E::invalid_length(bytes.len(), &self))
            }
        }
        from.deserialize_bytes(Bytes::<N>)
    }
}

/// A number whose size on the wire does not depend on its value. Used for random and history-dependent numbers, so that
/// a message's size depends on the program only.
#[derive(Clone, Copy)]
pub(crate) struct Word(pub(crate) u64);

impl Serialize for Word {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        if to.is_human_readable() { self.0.serialize(to) } else { Fixed(self.0.to_le_bytes()).serialize(to) }
    }
}

impl<'de> Deserialize<'de> for Word {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Word, D::Error> {
        if from.is_human_readable() {
            return u64::deserialize(from).map(Word);
        }
        Fixed::deserialize(from).map(|Fixed(bytes)| Word(u64::from_le_bytes(bytes)))
    }
}

/// Whether a message stays in its process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Travels {
    Within,
    Out,
}

type Table = HashMap<u64, Box<dyn Any + Send>>;

static TABLE: LazyLock<ProcessMutex<Table>> = LazyLock::new(|| ProcessMutex::new(Table::new()));
static NUMBERS: LazyLock<RandomState> = LazyLock::new(RandomState::new);
static NEXT: AtomicU64 = AtomicU64::new(0);

thread_local! {
    /// Whether the message that this thread is writing or reading stays in its process.
    static TRAVELS: Cell<Option<Travels>> = const { Cell::new(None) };
    /// The values that unfinished messages leave: the innermost message's come last. The second is how many there are.
    static LEFT: RefCell<Vec<One>> = const { RefCell::new(Vec::new()) };
    static COUNT: Cell<usize> = const { Cell::new(0) };
}

fn table() -> Guard<'static, Table> {
    unforked(|| LazyLock::force(&TABLE)).lock()
}

/// The number of a value that a message has left, and what removes the value from where it is.
struct One {
    number: u64,
    remove: fn(u64),
}

/// The values left by a message. Dropping it removes those that have not been taken.
#[derive(Default)]
pub(crate) struct Left(Vec<One>);

impl Left {
    /// Drops what is left. A panic of a destructor is discarded.
    #[inline]
    pub(crate) fn discard(mut self) {
        if !self.0.is_empty() {
            quietly(|| self.remove());
        }
    }

    #[cold]
    fn remove(&mut self) {
        for One { number, remove } in self.0.drain(..) {
            remove(number);
        }
    }

    /// Leaves the values where they are: the message is on its way to another process.
    #[inline]
    pub(crate) fn keep(mut self) {
        self.0.clear();
    }

    /// Leaves the values to the message that is being written, which contains theirs.
    pub(crate) fn again(mut self) {
        let values = std::mem::take(&mut self.0);
        COUNT.set(COUNT.get() + values.len());
        LEFT.with_borrow_mut(|left| left.extend(values));
    }
}

impl Drop for Left {
    #[inline]
    fn drop(&mut self) {
        if !self.0.is_empty() {
            self.remove();
        }
    }
}

/// Writes or reads a message, or a part of one, by calling `body`. Also returns the values that it has left.
#[inline]
pub(crate) fn carry<R>(travels: Travels, body: impl FnOnce() -> R) -> (R, Left) {
    let carried = Carried::begin(travels);
    let done = body();
    (done, carried.end())
}

/// A message that is being written or read. Dropping it ends the message, even if user code panics.
struct Carried {
    outer: Option<Travels>,
    left: usize,
}

impl Carried {
    #[inline]
    fn begin(travels: Travels) -> Carried {
        Carried { outer: TRAVELS.replace(Some(travels)), left: left_so_far() }
    }

    /// Returns the values that the message has left.
    #[inline]
    fn end(self) -> Left {
        if left_so_far() > self.left { take_back(self.left) } else { Left::default() }
    }
}

impl Drop for Carried {
    #[inline]
    fn drop(&mut self) {
        TRAVELS.set(self.outer);
        if left_so_far() > self.left {
            drop(take_back(self.left));
        }
    }
}

/// Returns how many values the messages being written have left.
#[inline]
pub(crate) fn left_so_far() -> usize {
    COUNT.get()
}

/// Takes the values that have been left since [`left_so_far`] returned `before`.
#[cold]
pub(crate) fn take_back(before: usize) -> Left {
    COUNT.set(before);
    Left(LEFT.with_borrow_mut(|left| left.split_off(before)))
}

/// Returns the numbers of the values that have been left since [`left_so_far`] returned `before`.
pub(crate) fn numbers_left(before: usize) -> Vec<u64> {
    LEFT.with_borrow(|left| left[before..].iter().map(|one| one.number).collect())
}

/// Returns whether the message that is being written or read stays in its process; `None` outside a message.
#[inline]
pub(crate) fn travels() -> Option<Travels> {
    TRAVELS.get()
}

/// Stores a value for the message that is being written, which stays in its process, and returns its number. Returns
/// `None` outside such a message, or if `value` returns `None`.
pub(crate) fn leave<T: Send + 'static>(value: impl FnOnce() -> Option<T>) -> Option<u64> {
    if travels() != Some(Travels::Within) {
        return None;
    }
    let value = Box::new(value()?);
    let mut table = table();
    let number = loop {
        // Relaxed: only uniqueness matters.
        let number = NUMBERS.hash_one(NEXT.fetch_add(1, Ordering::Relaxed));
        if let Entry::Vacant(place) = table.entry(number) {
            place.insert(value);
            break number;
        }
    };
    drop(table);
    let remove = |number| {
        // Dropped outside the lock: the destructor may be user code.
        let value = self::table().remove(&number);
        drop(value);
    };
    give_up_unless_written(number, remove);
    Some(number)
}

/// Has `remove` called with the number if the message that is being written cannot be sent.
pub(crate) fn give_up_unless_written(number: u64, remove: fn(u64)) {
    LEFT.with_borrow_mut(|left| left.push(One { number, remove }));
    COUNT.set(COUNT.get() + 1);
}

/// Takes the value stored under `number`, if it is a `T`.
pub(crate) fn take<T: 'static>(number: u64) -> Option<T> {
    let mut table = table();
    table.get(&number).filter(|value| value.is::<T>())?;
    let value = table.remove(&number)?;
    drop(table);
    value.downcast().ok().map(|value| *value)
}
