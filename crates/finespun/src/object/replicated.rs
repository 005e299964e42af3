//! Replicated values: immutable, with one copy in each process.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de, ser};

use super::Portable;
use crate::run::continuation::travel::{self, Word};

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
}

impl<T: Portable + Sync> Replicated<T> {
    /// Makes a replicated value of `value`.
    pub fn new(value: T) -> Replicated<T> {
        Replicated { value: Arc::new(value) }
    }
}

impl<T> Clone for Replicated<T> {
    fn clone(&self) -> Replicated<T> {
        Replicated { value: Arc::clone(&self.value) }
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
impl<T: Send + Sync + 'static> Serialize for Replicated<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match travel::leave(|| Some(self.clone())) {
            Some(number) => Word(number).serialize(serializer),
            None => {
                Err(ser::Error::custom("a replicated value travels in messages only: write what it dereferences to"))
            }
        }
    }
}

/// Works only for a value that a message contains; otherwise returns an error.
impl<'de, T: Send + Sync + 'static> Deserialize<'de> for Replicated<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Replicated<T>, D::Error> {
        let Word(number) = Word::deserialize(deserializer)?;
        match travel::take(number) {
            Some(value) => Ok(value),
            None => Err(de::Error::custom("a replicated value travels in messages only: read what it dereferences to")),
        }
    }
}
