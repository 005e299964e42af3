//! Continuations in messages that travel as bytes.
//!
//! A continuation is an address, which means nothing elsewhere and must not be forged. So what is written is a number, and
//! the address stays behind in a table, with its type; who reads the number gets the continuation, once. Both work only
//! while the library itself writes or reads a message: text that a program makes of a continuation would lose it.

use std::any::TypeId;
use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de, ser};

use super::Continuation;
use crate::atomics::lock_std as lock;
use crate::task::frame::FrameRef;

/// A continuation on its way.
struct Travelling {
    leaf: FrameRef,
    value: TypeId,
    /// Drops it.
    lose: unsafe fn(FrameRef),
}

// SAFETY: a continuation that may travel delivers a `Send` value, and is one itself.
unsafe impl Send for Travelling {}

static TRAVELLING: Mutex<Option<HashMap<u64, Travelling>>> = Mutex::new(None);
static NEXT: AtomicU64 = AtomicU64::new(0);

/// What is to be done if a message fails.
type Undo = Vec<Box<dyn FnOnce()>>;

thread_local! {
    /// While a message is written or read: how to take back what has been left behind for it.
    static SESSION: RefCell<Option<Undo>> = const { RefCell::new(None) };
}

/// Writes or reads a message. If that fails, what has been left behind for it is taken back.
pub(crate) fn carry<T, E>(body: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
    /// Ends the session, also if a user's encoder panics.
    struct Session(Option<Undo>);
    impl Drop for Session {
        fn drop(&mut self) {
            let left = SESSION.replace(self.0.take());
            left.into_iter().flatten().for_each(|take_back| take_back());
        }
    }

    let _session = Session(SESSION.replace(Some(Vec::new())));
    let done = body()?;
    SESSION.with_borrow_mut(|left| left.as_mut().map(Vec::clear));
    Ok(done)
}

/// Whether a message is being written or read by the library itself.
pub(crate) fn carrying() -> bool {
    SESSION.with_borrow(Option::is_some)
}

/// If the message fails that is being written, this is to be called.
pub(crate) fn take_back(body: impl FnOnce() + 'static) {
    SESSION.with_borrow_mut(|left| left.as_mut().map(|left| left.push(Box::new(body))));
}

/// # Safety
/// The leaf is what `into_leaf` gave of a `Continuation<T>`.
unsafe fn lose<T>(leaf: FrameRef) {
    // SAFETY: by the caller's word.
    drop(unsafe { Continuation::<T>::from_leaf(leaf) });
}

/// In messages only: see the error.
impl<T: Send + 'static> Serialize for Continuation<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if !carrying() {
            return Err(ser::Error::custom("a continuation travels as an argument of an object's method only"));
        }
        let Some(leaf) = self.take_leaf() else {
            return Err(ser::Error::custom("this continuation has been sent already"));
        };
        // Relaxed: a number that nobody else gets.
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let travelling = Travelling { leaf, value: TypeId::of::<T>(), lose: lose::<T> };
        lock(&TRAVELLING).get_or_insert_default().insert(number, travelling);
        take_back(move || {
            let travelling = lock(&TRAVELLING).as_mut().and_then(|table| table.remove(&number));
            if let Some(Travelling { leaf, lose, .. }) = travelling {
                // SAFETY: it was in the table, hence is nobody else's.
                unsafe { lose(leaf) };
            }
        });
        serializer.serialize_u64(number)
    }
}

/// In messages only: see the error.
impl<'de, T: Send + 'static> Deserialize<'de> for Continuation<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Continuation<T>, D::Error> {
        let number = u64::deserialize(deserializer)?;
        if !carrying() {
            return Err(de::Error::custom("a continuation travels as an argument of an object's method only"));
        }
        let mut table = lock(&TRAVELLING);
        let table = table.get_or_insert_default();
        if table.get(&number).is_none_or(|k| k.value != TypeId::of::<T>()) {
            return Err(de::Error::custom("there is no such continuation"));
        }
        match table.remove(&number) {
            // SAFETY: it has been taken out of a `Continuation<T>`, and out of the table.
            Some(Travelling { leaf, .. }) => Ok(unsafe { Continuation::from_leaf(leaf) }),
            None => unreachable!("just seen"),
        }
    }
}
