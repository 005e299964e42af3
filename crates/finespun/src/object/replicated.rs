//! Replicated values: immutable, with one copy in each process.

use std::any::Any;
use std::collections::HashMap;
use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::ops::Deref;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Weak};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de, ser};

use super::Portable;
use crate::process::ProcessMutex;
use crate::run::continuation::travel::{self, Travels, Word};

/// A handle to a value of which each process has one copy, read without a message and without a lock.
///
/// Sending the handle as an argument, or keeping it in an object, shares the value and does not copy it. The value is
/// dropped with the last handle.
///
/// ```
/// use finespun::prelude::*;
/// use finespun::{objects::Replicated, everywhere};
///
/// #[task]
/// async fn look_up(table: Replicated<Vec<u64>>) -> u64 {
///     table[here()]
/// }
///
/// #[task]
/// async fn look_up_everywhere() -> Vec<u64> {
///     let table = Replicated::new(vec![3, 1, 4, 1]);
///     everywhere(look_up, table).await
/// }
/// # let runtime = Runtime::builder().workers(2).nodes(4).build().unwrap();
/// assert_eq!(runtime.run(look_up_everywhere()), [3, 1, 4, 1]);
/// ```
pub struct Replicated<T> {
    value: Arc<T>,
    /// The value's name in all processes. Random, so that no two values have the same.
    name: u64,
}

impl<T: Portable + Sync> Replicated<T> {
    /// Makes a replicated value of `value`.
    pub fn new(value: T) -> Replicated<T> {
        static NAMES: LazyLock<RandomState> = LazyLock::new(RandomState::new);
        static NEXT: AtomicU64 = AtomicU64::new(0);
        // Relaxed: only uniqueness matters.
        let name = NAMES.hash_one(NEXT.fetch_add(1, Ordering::Relaxed));
        Replicated { value: Arc::new(value), name }
    }

    /// Returns this process's copy of the value, which is `self` if it has none yet.
    fn shared(self) -> Replicated<T> {
        let mut copies = COPIES.lock();
        let copies = copies.get_or_insert_default();
        if let Some(copy) = copies.get(&self.name).and_then(Weak::upgrade)
            && let Ok(value) = copy.downcast()
        {
            return Replicated { value, name: self.name };
        }
        if copies.len() == copies.capacity() {
            copies.retain(|_, copy| copy.strong_count() > 0);
        }
        let value: Arc<dyn Any + Send + Sync> = Arc::clone(&self.value) as _;
        copies.insert(self.name, Arc::downgrade(&value));
        self
    }
}

/// This process's copies of values that have been sent to or received from another process.
static COPIES: ProcessMutex<Option<HashMap<u64, Weak<dyn Any + Send + Sync>>>> = ProcessMutex::new(None);

impl<T> Clone for Replicated<T> {
    fn clone(&self) -> Replicated<T> {
        Replicated { value: Arc::clone(&self.value), name: self.name }
    }
}

impl<T> Deref for Replicated<T> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T: fmt::Debug> fmt::Debug for Replicated<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.value.fmt(f)
    }
}

/// Works only while the library writes a message; elsewhere returns an error.
impl<T: Portable + Sync> Serialize for Replicated<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match travel::travels() {
            Some(Travels::Out) => {
                let own = self.clone().shared();
                (Word(own.name), &*own.value).serialize(serializer)
            }
            Some(Travels::Within) => {
                let number = travel::leave(|| Some(self.clone()));
                number.map(Word).ok_or_else(|| ser::Error::custom("no message is being written"))?.serialize(serializer)
            }
            None => {
                Err(ser::Error::custom("a replicated value travels in messages only: write what it dereferences to"))
            }
        }
    }
}

/// Works only for a value that a message contains; otherwise returns an error.
impl<'de, T: Portable + Sync> Deserialize<'de> for Replicated<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Replicated<T>, D::Error> {
        if travel::travels() == Some(Travels::Out) {
            let (Word(name), value) = <(Word, T)>::deserialize(deserializer)?;
            return Ok(Replicated { value: Arc::new(value), name }.shared());
        }
        let Word(number) = Word::deserialize(deserializer)?;
        match travel::travels().and_then(|_| travel::take(number)) {
            Some(value) => Ok(value),
            None => Err(de::Error::custom("a replicated value travels in messages only: read what it dereferences to")),
        }
    }
}
