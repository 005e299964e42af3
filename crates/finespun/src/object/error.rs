//! Errors of calls.

use std::any::Any;
use std::collections::HashSet;

use crate::frame::Payload;
use crate::frame::image;
use crate::frame::origin::{open, traced};
use crate::message::wire::{Reader, Writer};
use crate::process::ProcessMutex;

/// The reason why a call of an object's method delivered no value.
///
/// `.await` on a call throws it, or the method's own panic; `.checked().await` returns it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CallError {
    /// The runtime has no such object: it has been dropped, or belongs to another runtime.
    #[error("`{method}` was called on {} at node {node} that {cause}: its reference is stale", one(object))]
    Stale {
        /// The object's type.
        object: &'static str,
        /// The method.
        method: &'static str,
        /// The node that the reference names.
        node: usize,
        /// Why the reference is stale, as far as known.
        cause: StaleCause,
    },
    /// An earlier `&mut self` method of the object panicked or was cancelled, and may have left the object
    /// inconsistent.
    #[error(
        "`{method}` was called on {} at node {node} that is poisoned: an earlier `&mut self` method of it panicked or was cancelled",
        one(object)
    )]
    Poisoned {
        /// The object's type.
        object: &'static str,
        /// The method.
        method: &'static str,
        /// The node where the object lives.
        node: usize,
    },
    /// The method panicked.
    #[error("`{method}` of {} at node {node} panicked: {message}", one(object))]
    Panicked {
        /// The object's type.
        object: &'static str,
        /// The method.
        method: &'static str,
        /// The node where the object lives.
        node: usize,
        /// The panic's text.
        message: String,
    },
    /// The call was cancelled.
    #[error("`{method}` of {} at node {node} was cancelled", one(object))]
    Cancelled {
        /// The object's type.
        object: &'static str,
        /// The method.
        method: &'static str,
        /// The node where the object lives.
        node: usize,
    },
}

/// Why a reference is stale.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StaleCause {
    /// The object has been dropped.
    #[error("has been dropped")]
    Dropped,
    /// The object belongs or belonged to another runtime of this process, or the reference is forged.
    #[error("belongs to another runtime")]
    OtherRuntime,
}

impl StaleCause {
    /// Returns the number that represents the cause in messages.
    fn code(self) -> u8 {
        match self {
            StaleCause::Dropped => 0,
            StaleCause::OtherRuntime => 4,
        }
    }
}

/// Returns the type's name with its article.
fn one(object: &str) -> String {
    let name = object.to_ascii_lowercase();
    // Names that are pronounced as "you" or "won" at the start.
    let consonant =
        ["euc", "eur", "one", "uni", "uri", "url", "us", "uti", "uu"].iter().any(|start| name.starts_with(start));
    let article = if name.starts_with(['a', 'e', 'i', 'o', 'u']) && !consonant { "an" } else { "a" };
    format!("{article} {object}")
}

impl CallError {
    /// Returns whether this error is the refusal of the call `which`, not an error that its method threw. Compares
    /// names and the node only, so an equal error that the method got from a nested call also counts as the refusal.
    fn is_refusal_of(&self, which: Which) -> bool {
        match *self {
            CallError::Stale { object, method, node, .. } | CallError::Poisoned { object, method, node } => {
                (object, method, node) == (which.object, which.method, which.node as usize)
            }
            _ => false,
        }
    }
}

/// The identity of a call, for errors.
#[derive(Clone, Copy)]
pub(crate) struct Which {
    pub(crate) object: &'static str,
    pub(crate) method: &'static str,
    pub(crate) node: u32,
}

/// Why an object cannot be called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    Stale(StaleCause),
    Poisoned,
}

impl Refusal {
    pub(crate) const DROPPED: Refusal = Refusal::Stale(StaleCause::Dropped);
    pub(crate) const OTHER_RUNTIME: Refusal = Refusal::Stale(StaleCause::OtherRuntime);
}

impl Which {
    #[cold]
    pub(crate) fn refused(self, refusal: Refusal) -> CallError {
        let Which { object, method, node } = self;
        let node = node as usize;
        match refusal {
            Refusal::Stale(cause) => CallError::Stale { object, method, node, cause },
            Refusal::Poisoned => CallError::Poisoned { object, method, node },
        }
    }

    /// Returns the error for the packed payload of a call's panic: the refusal of the call, if the payload is one.
    #[cold]
    pub(crate) fn panicked(self, payload: Payload) -> CallError {
        let Which { object, method, node } = self;
        let message = match open(payload).0.downcast::<CallError>() {
            Ok(error) if error.is_refusal_of(self) => return *error,
            Ok(error) => error.to_string(),
            Err(payload) => text(&*payload).to_owned(),
        };
        CallError::Panicked { object, method, node: node as usize, message }
    }

    #[cold]
    pub(crate) fn cancelled(self) -> CallError {
        let Which { object, method, node } = self;
        CallError::Cancelled { object, method, node: node as usize }
    }
}

/// Unwinds with `error` itself as the payload, without calling the panic hook.
#[cold]
pub(crate) fn throw(error: CallError) -> ! {
    std::panic::resume_unwind(Box::new(error))
}

/// Returns the text of a payload.
pub(crate) fn text(payload: &(dyn Any + Send)) -> &str {
    if let Some(text) = payload.downcast_ref::<&str>() {
        text
    } else if let Some(text) = payload.downcast_ref::<String>() {
        text
    } else {
        "(the payload is not a string)"
    }
}

/// Writes the panic of a call to a message. A payload that is not a [`CallError`] arrives as its text.
pub(crate) fn write_payload(payload: Payload, to: &mut Writer) {
    let (payload, origin) = open(payload);
    to.value(&origin.map(image::name));
    let error = match payload.downcast::<CallError>() {
        Ok(error) => {
            let (kind, Which { object, method, node }, message) = match *error {
                CallError::Stale { object, method, node, cause } => {
                    (cause.code(), which(object, method, node), String::new())
                }
                CallError::Poisoned { object, method, node } => (1, which(object, method, node), String::new()),
                CallError::Panicked { object, method, node, message } => (2, which(object, method, node), message),
                CallError::Cancelled { object, method, node } => (3, which(object, method, node), String::new()),
            };
            Ok((kind, object.to_owned(), method.to_owned(), node, message))
        }
        Err(payload) => {
            let message = text(&*payload).to_owned();
            Err(message)
        }
    };
    to.value(&error);
}

fn which(object: &'static str, method: &'static str, node: usize) -> Which {
    Which { object, method, node: node as u32 }
}

/// Reads a panic that [`write_payload`] has written.
pub(crate) fn read_payload(from: &mut Reader<'_>) -> Payload {
    type Written = Result<(u8, String, String, u32, String), String>;
    let (Ok(origin), Ok(error)) = (from.value::<Option<i64>>(), from.value::<Written>()) else {
        return Payload::new("a panic whose message is malformed");
    };
    let payload: Payload = match error {
        Ok((kind, object, method, node, message)) => {
            let (object, method, node) = (known(object), known(method), node as usize);
            Payload::new(match kind {
                0 => CallError::Stale { object, method, node, cause: StaleCause::Dropped },
                4 => CallError::Stale { object, method, node, cause: StaleCause::OtherRuntime },
                1 => CallError::Poisoned { object, method, node },
                2 => CallError::Panicked { object, method, node, message },
                _ => CallError::Cancelled { object, method, node },
            })
        }
        Err(message) => Payload::new(message),
    };
    match origin.and_then(image::named) {
        Some(origin) => traced(payload, origin),
        None => payload,
    }
}

/// Interns the name of a type or method; a program has few names. Forged names must not fill the memory.
pub(crate) fn known(name: String) -> &'static str {
    const MOST: usize = 1 << 14;
    const LONGEST: usize = 1 << 10;
    static NAMES: ProcessMutex<Option<HashSet<&'static str>>> = ProcessMutex::new(None);
    let mut names = NAMES.lock();
    let names = names.get_or_insert_default();
    if let Some(name) = names.get(&*name) {
        return name;
    }
    if names.len() == MOST || name.len() > LONGEST {
        return "(a name too many)";
    }
    let name = name.leak();
    names.insert(name);
    name
}

#[cfg(test)]
mod tests {
    use super::{Refusal, Which};

    #[test]
    fn the_article_follows_the_pronunciation() {
        let error = |object| Which { object, method: "get", node: 1 }.refused(Refusal::DROPPED).to_string();
        for name in ["Array", "Entry", "EulerTour", "Item", "Octant", "Unknown", "Update"] {
            assert!(error(name).starts_with(&format!("`get` was called on an {name} at node 1 ")), "{}", error(name));
        }
        for name in ["Body", "Euclid", "OneWay", "Unit", "User", "Utility", "Uuid"] {
            assert!(error(name).starts_with(&format!("`get` was called on a {name} at node 1 ")), "{}", error(name));
        }
    }
}
