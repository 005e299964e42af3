//! Values that everybody reads and nobody changes: one copy in each process.

use std::any::Any;
use std::collections::HashMap;
use std::fmt;
use std::ops::Deref;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de, ser};

use super::Portable;
use crate::atomics::lock_std as lock;
use crate::task::suspend::{carrying, take_back};

/// A value of which each process has one copy, read without a message and without a lock.
///
/// It is shared, not copied, when it is sent as an argument or kept in an object, and dropped with the last that names it.
///
/// ```
/// use finespun::prelude::*;
/// use finespun::{Replicated, everywhere};
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
    number: u64,
    value: Arc<T>,
}

/// A value on its way, and how often.
struct Travelling {
    value: Arc<dyn Any + Send + Sync>,
    times: usize,
}

/// What is on its way in messages as bytes, by number.
static TRAVELLING: Mutex<Option<HashMap<u64, Travelling>>> = Mutex::new(None);
static NEXT: AtomicU64 = AtomicU64::new(0);

/// One of those has arrived, or never will.
fn arrived(number: u64) -> Option<Arc<dyn Any + Send + Sync>> {
    let mut travelling = lock(&TRAVELLING);
    let travelling = travelling.as_mut()?;
    let of = travelling.get_mut(&number)?;
    of.times -= 1;
    match of.times {
        0 => travelling.remove(&number).map(|of| of.value),
        _ => Some(Arc::clone(&of.value)),
    }
}

impl<T: Portable + Sync> Replicated<T> {
    /// Replicates a value.
    pub fn new(value: T) -> Replicated<T> {
        // Relaxed: a number that nobody else gets.
        Replicated { number: NEXT.fetch_add(1, Ordering::Relaxed), value: Arc::new(value) }
    }
}

impl<T> Clone for Replicated<T> {
    fn clone(&self) -> Replicated<T> {
        Replicated { number: self.number, value: Arc::clone(&self.value) }
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

/// In messages only: see the error.
impl<T: Send + Sync + 'static> Serialize for Replicated<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if !carrying() {
            return Err(ser::Error::custom(
                "a replicated value travels in messages only: write what it dereferences to",
            ));
        }
        let (number, value) = (self.number, Arc::clone(&self.value));
        let mut travelling = lock(&TRAVELLING);
        travelling.get_or_insert_default().entry(number).or_insert(Travelling { value, times: 0 }).times += 1;
        take_back(move || drop(arrived(number)));
        serializer.serialize_u64(number)
    }
}

/// In messages only: see the error.
impl<'de, T: Send + Sync + 'static> Deserialize<'de> for Replicated<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Replicated<T>, D::Error> {
        let number = u64::deserialize(deserializer)?;
        if !carrying() {
            return Err(de::Error::custom("a replicated value travels in messages only: read what it dereferences to"));
        }
        match arrived(number).map(Arc::downcast::<T>) {
            Some(Ok(value)) => Ok(Replicated { number, value }),
            _ => Err(de::Error::custom("there is no such replicated value")),
        }
    }
}
