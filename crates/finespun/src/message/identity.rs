//! What a message calls its handler outside the process.
//!
//! All processes of a run are the same program, so a function lies as far from a static, the *anchor*, in each of them,
//! wherever the system has loaded it. That distance is its name, and beside it stands the *build*: a number of the
//! program's file. A message of another build is refused before anything is called.

use std::collections::hash_map::DefaultHasher;
use std::fs::File;
use std::hash::Hasher;
use std::io::{self, Read};
use std::sync::OnceLock;

use serde::{Deserialize, Serialize};

use super::wire::Reader;
use crate::task::context::Cx;

/// Reads what a message carries and does it; without a worker, drops it.
pub(crate) type Arrive = fn(Reader<'_>, Option<Cx>);

/// The name of a handler in all processes that run this program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Identity {
    build: u32,
    /// From the anchor, in bytes.
    distance: i64,
}

/// A message came from another program, or from another build of this one.
#[derive(Debug, thiserror::Error)]
#[error(
    "a message came from another build of this program ({theirs:08x}, and this is {ours:08x}): start the same file in all processes"
)]
pub(crate) struct OtherBuild {
    theirs: u32,
    ours: u32,
}

/// Where distances are measured from. Not a function: of those a program may have several copies.
static ANCHOR: u8 = 0;

fn anchor() -> usize {
    (&raw const ANCHOR).addr()
}

fn address(function: Arrive) -> usize {
    (function as *const ()).expose_provenance()
}

impl Identity {
    pub(crate) fn of(handler: Arrive) -> Identity {
        Identity { build: build(), distance: address(handler).wrapping_sub(anchor()) as i64 }
    }

    /// The handler.
    ///
    /// # Errors
    /// If the message is another build's.
    ///
    /// # Safety
    /// It was made by [`of`](Identity::of), in this process or another.
    pub(crate) unsafe fn handler(self) -> Result<Arrive, OtherBuild> {
        if self.build != build() {
            return Err(OtherBuild { theirs: self.build, ours: build() });
        }
        let address = anchor().wrapping_add(self.distance as usize);
        // SAFETY: by the caller's word there is such a function in a process of the same build, so there is in this.
        Ok(unsafe { std::mem::transmute::<*const (), Arrive>(std::ptr::with_exposed_provenance(address)) })
    }
}

/// The number of this program's file: computed once, in some milliseconds.
pub(crate) fn build() -> u32 {
    static BUILD: OnceLock<u32> = OnceLock::new();
    *BUILD.get_or_init(|| {
        let mut hasher = DefaultHasher::new();
        // A program whose file cannot be read is known by its library only.
        if hash_file(&mut hasher).is_err() {
            hasher.write(env!("CARGO_PKG_VERSION").as_bytes());
        }
        hasher.finish() as u32
    })
}

fn hash_file(hasher: &mut DefaultHasher) -> io::Result<()> {
    // On Linux also if it has been replaced meanwhile.
    let mut file = File::open("/proc/self/exe").or_else(|_| File::open(std::env::current_exe()?))?;
    let mut chunk = vec![0; 1 << 16];
    loop {
        let length = file.read(&mut chunk)?;
        if length == 0 {
            return Ok(());
        }
        hasher.write(&chunk[..length]);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::message::wire::{Writer, written};

    fn first(_: Reader<'_>, cx: Option<Cx>) {
        assert!(cx.is_none(), "the first");
    }

    fn second(mut from: Reader<'_>, _: Option<Cx>) {
        assert_eq!(from.value::<u8>().expect("a byte"), 2);
    }

    #[test]
    fn a_handler_is_found_by_its_distance() {
        let handlers: [Arrive; 2] = [first, second];
        let identities = handlers.map(Identity::of);
        for (identity, handler) in identities.into_iter().zip(handlers) {
            let bytes = postcard::to_allocvec(&identity).expect("bytes");
            let read: Identity = postcard::from_bytes(&bytes).expect("an identity");
            assert_eq!(read, identity);
            // SAFETY: made by `of`.
            let found = unsafe { read.handler() }.expect("the same build");
            assert_eq!(address(found), address(handler));
        }
        let message = written(&mut |to: &mut Writer| {
            to.value(&identities[1]);
            to.value(&2_u8);
            true
        });
        message.expect("a message").read(|mut from| {
            let identity: Identity = from.value().expect("an identity");
            // SAFETY: made by `of`.
            unsafe { identity.handler() }.expect("the same build")(from, None);
        });
    }

    #[test]
    fn another_build_is_refused() {
        let identity = Identity::of(first);
        let other = Identity { build: identity.build ^ 1, ..identity };
        // SAFETY: made by `of`, but for the build, which is looked at first.
        let error = unsafe { other.handler() }.expect_err("another build");
        assert!(error.to_string().contains("start the same file"), "{error}");
    }
}
