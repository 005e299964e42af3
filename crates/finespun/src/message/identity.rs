//! Names of message handlers that are valid outside the process.
//!
//! A handler's name is that of a static, its [`Entry`] (see [`image`]). A message also carries the *build*, a number
//! computed from the program's file: a receiver drops a message of another build. Processes that start together compare
//! their builds before.

use std::collections::hash_map::DefaultHasher;
use std::fs::File;
use std::hash::Hasher;
use std::io::{self, Read};
use std::sync::OnceLock;

use super::wire::{Reader, Writer};
use crate::frame::context::Cx;
use crate::frame::image::{self, Mark, Static};

/// A function that reads a message and handles it, or drops it if the context is `None`.
pub(crate) type Arrive = fn(Reader<'_>, Option<Cx>);

/// The name of a handler, valid in all processes that run this program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Identity {
    build: u32,
    /// The name of its entry.
    entry: i64,
}

/// A handler that messages can name.
#[repr(C)]
pub(crate) struct Entry {
    mark: Mark,
    arrive: Arrive,
}

impl Entry {
    pub(crate) const fn new(arrive: Arrive) -> Entry {
        Entry { mark: [0xd1a6_47e9_0b3c_f582, 0x57c8_2e14_a90f_6db3], arrive }
    }
}

// SAFETY: the representation is C and begins with the mark, which only `new` contains.
unsafe impl Static for Entry {
    fn example() -> &'static Entry {
        static EXAMPLE: Entry = Entry::new(|_, _| {});
        &EXAMPLE
    }
}

impl Identity {
    pub(crate) fn of(handler: &'static Entry) -> Identity {
        Identity { build: build(), entry: image::name(handler) }
    }

    /// Writes the name.
    pub(crate) fn write(self, to: &mut Writer) {
        to.bytes(&self.build.to_le_bytes());
        to.bytes(&self.entry.to_le_bytes());
    }

    /// Reads a name. Returns `None` if there are too few bytes.
    pub(crate) fn read(from: &mut Reader<'_>) -> Option<Identity> {
        let build = u32::from_le_bytes(from.bytes()?);
        Some(Identity { build, entry: i64::from_le_bytes(from.bytes()?) })
    }

    /// Returns the handler, unless the identity comes from another build or is forged.
    pub(crate) fn handler(self) -> Option<Arrive> {
        let entry = image::named::<Entry>(self.entry).filter(|_| self.build == build())?;
        Some(entry.arrive)
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

    fn first(_: Reader<'_>, cx: Option<Cx>) {
        assert!(cx.is_none(), "the first");
    }

    fn second(mut from: Reader<'_>, _: Option<Cx>) {
        assert_eq!(from.value::<u8>().expect("a byte"), 2);
    }

    const FIRST: &Entry = &Entry::new(first);
    const SECOND: &Entry = &Entry::new(second);

    #[test]
    fn a_handler_is_found_by_its_name() {
        let identities = [FIRST, SECOND].map(Identity::of);
        for (identity, entry) in identities.into_iter().zip([FIRST, SECOND]) {
            let mut to = Writer::of_bytes();
            identity.write(&mut to);
            let read = Identity::read(&mut Reader::arrived(&to.into_bytes())).expect("an identity");
            assert_eq!(read, identity);
            let found = read.handler().expect("a handler");
            assert_eq!(found as *const (), entry.arrive as *const ());
        }
        let message = written(&mut |to: &mut Writer| {
            identities[1].write(to);
            to.value(&2_u8);
            true
        });
        message.expect("a message").read(|mut from| {
            let identity = Identity::read(&mut from).expect("an identity");
            identity.handler().expect("a handler")(from, None);
        });
    }

    #[test]
    fn another_build_is_refused() {
        let identity = Identity::of(FIRST);
        assert!(Identity { build: identity.build ^ 1, ..identity }.handler().is_none());
    }
}
