//! Names of message handlers that are valid outside the process.
//!
//! All processes that exchange messages execute the same program, so a function has the same distance from a static,
//! the *anchor*, in each process, wherever the system has loaded the program. That distance is the function's name. A
//! message also carries the *build*, a number computed from the program's file: a receiver refuses a message of another
//! build before it calls any function.

use std::collections::hash_map::DefaultHasher;
use std::fs::File;
use std::hash::Hasher;
use std::io::{self, Read};
use std::sync::OnceLock;

use super::wire::{Reader, Writer};
use crate::frame::context::Cx;

/// A function that reads a message and handles it, or drops it if the context is `None`.
pub(crate) type Arrive = fn(Reader<'_>, Option<Cx>);

/// The name of a handler, valid in all processes that run this program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Identity {
    build: u32,
    /// The distance from the anchor, in bytes.
    distance: i64,
}

/// The error for a message from another program, or from another build of this one.
#[derive(Debug, thiserror::Error)]
#[error(
    "a message came from another build of this program ({theirs:08x}, and this is {ours:08x}): start the same file in all processes"
)]
pub(crate) struct OtherBuild {
    theirs: u32,
    ours: u32,
}

/// The origin of distances. Not a function, because a program may contain several copies of a function.
static ANCHOR: u8 = 0;

fn anchor() -> usize {
    (&raw const ANCHOR).addr()
}

fn address(function: Arrive) -> usize {
    (function as *const ()).expose_provenance()
}

impl Identity {
    /// Writes the name.
    pub(crate) fn write(self, to: &mut Writer) {
        to.bytes(&self.build.to_le_bytes());
        to.bytes(&self.distance.to_le_bytes());
    }

    /// Reads a name. Returns `None` if there are too few bytes.
    pub(crate) fn read(from: &mut Reader<'_>) -> Option<Identity> {
        let build = u32::from_le_bytes(from.bytes()?);
        Some(Identity { build, distance: i64::from_le_bytes(from.bytes()?) })
    }

    pub(crate) fn of(handler: Arrive) -> Identity {
        Identity { build: build(), distance: address(handler).wrapping_sub(anchor()) as i64 }
    }

    /// Returns the handler.
    ///
    /// # Errors
    /// If the message comes from another build.
    ///
    /// # Safety
    /// This identity was made by [`of`](Identity::of), in this process or another.
    pub(crate) unsafe fn handler(self) -> Result<Arrive, OtherBuild> {
        if self.build != build() {
            return Err(OtherBuild { theirs: self.build, ours: build() });
        }
        let address = anchor().wrapping_add(self.distance as usize);
        // SAFETY: the caller guarantees that `of` made this identity. The build is the same, so the function is at the
        // same distance from the anchor in this process.
        Ok(unsafe { std::mem::transmute::<*const (), Arrive>(std::ptr::with_exposed_provenance(address)) })
    }
}

/// Returns the build number of this program's file. The first call takes some milliseconds.
pub(crate) fn build() -> u32 {
    static BUILD: OnceLock<u32> = OnceLock::new();
    *BUILD.get_or_init(|| {
        let mut hasher = DefaultHasher::new();
        // If the program's file cannot be read, only the library's version identifies the program.
        if hash_file(&mut hasher).is_err() {
            hasher.write(env!("CARGO_PKG_VERSION").as_bytes());
        }
        hasher.finish() as u32
    })
}

fn hash_file(hasher: &mut DefaultHasher) -> io::Result<()> {
    // On Linux this opens the running program even if its file has been replaced since the start.
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
    use crate::message::wire::written;
    use crate::run::continuation::travel::Travels;

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
            let mut to = Writer::of_bytes();
            identity.write(&mut to);
            let read = Identity::read(&mut Reader::arrived(&to.into_bytes())).expect("an identity");
            assert_eq!(read, identity);
            // SAFETY: `of` made the identity.
            let found = unsafe { read.handler() }.expect("the same build");
            assert_eq!(address(found), address(handler));
        }
        let message = written(Travels::Within, &mut |to: &mut Writer| {
            identities[1].write(to);
            to.value(&2_u8);
            true
        });
        message.expect("a message").read(|mut from| {
            let identity = Identity::read(&mut from).expect("an identity");
            // SAFETY: `of` made the identity.
            unsafe { identity.handler() }.expect("the same build")(from, None);
        });
    }

    #[test]
    fn another_build_is_refused() {
        let identity = Identity::of(first);
        let other = Identity { build: identity.build ^ 1, ..identity };
        // SAFETY: `of` made the identity, except for the build, which `handler` checks first.
        let error = unsafe { other.handler() }.expect_err("another build");
        assert!(error.to_string().contains("start the same file"), "{error}");
    }
}
