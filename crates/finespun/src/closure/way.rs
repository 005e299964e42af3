//! How arguments travel to other processes: by value; and a continuation as the right to complete a wait for its value.

use std::fmt;
use std::marker::PhantomData;

#[cfg(feature = "objects")]
pub use travels::way;
#[cfg(feature = "objects")]
pub(super) use travels::{Arrived, Arriving, Leaving, both};

/// How an argument of type `T` travels.
pub struct Way<T> {
    #[cfg(feature = "objects")]
    write: fn(T, &mut Leaving<'_>) -> std::thread::Result<()>,
    #[cfg(feature = "objects")]
    read: fn(&mut Arriving<'_, '_>) -> Option<Arrived<T>>,
    of: PhantomData<fn(T)>,
}

impl<T> Clone for Way<T> {
    fn clone(&self) -> Way<T> {
        *self
    }
}
impl<T> Copy for Way<T> {}

impl<T> fmt::Debug for Way<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Way").finish_non_exhaustive()
    }
}

/// Returns how an argument of this type travels. Without objects, nothing does, and nothing is asked of an argument.
#[cfg(not(feature = "objects"))]
pub const fn way<T>() -> Way<T> {
    Way { of: PhantomData }
}

#[cfg(feature = "objects")]
mod travels {
    use std::marker::PhantomData;
    use std::sync::Arc;
    use std::thread;

    use super::super::migrate::{Absent, Imports, Resolve, expect};
    use super::super::{Cont, Vector};
    use super::Way;
    use crate::frame::{CallSite, drop_quietly};
    use crate::message::wire::{Reader, Unreadable, Writer};
    use crate::object::Portable;

    /// A message with arguments that is being written.
    pub struct Leaving<'a> {
        pub(in super::super) to: &'a mut Writer,
        /// The closure whose arguments they are.
        pub(in super::super) absent: &'a Arc<Absent>,
        /// Its thread.
        pub(in super::super) place: CallSite,
    }

    /// A message with arguments that is being read.
    pub struct Arriving<'r, 'm> {
        from: &'r mut Reader<'m>,
        error: Option<Unreadable>,
    }

    impl Arriving<'_, '_> {
        /// Reads with `body`.
        pub(in super::super) fn read<T>(
            from: &mut Reader<'_>,
            body: impl FnOnce(&mut Arriving<'_, '_>) -> Option<T>,
        ) -> Result<T, Unreadable> {
            let mut arriving = Arriving { from, error: None };
            let read = body(&mut arriving);
            read.ok_or_else(|| arriving.error.unwrap_or_else(|| unreachable!("a part that cannot be read says why")))
        }

        fn value<T: Portable>(&mut self) -> Option<T> {
            self.from.value().map_err(|error| self.error = Some(error)).ok()
        }
    }

    /// An argument that has arrived. It is made in a session of the computation that its closure has here.
    pub struct Arrived<T> {
        /// How many waits of the closure's home it refers to.
        pub(in super::super) waits: usize,
        pub(in super::super) make: Make<T>,
    }

    type Make<T> = Box<dyn FnOnce(&mut Imports) -> T + Send>;

    impl<T: Send + 'static> Arrived<T> {
        fn value(value: T) -> Arrived<T> {
            Arrived { waits: 0, make: Box::new(move |_| value) }
        }
    }

    /// Returns the first error.
    pub(in super::super) fn both(first: thread::Result<()>, second: thread::Result<()>) -> thread::Result<()> {
        match first {
            Ok(()) => second,
            Err(payload) => {
                drop_quietly(second);
                Err(payload)
            }
        }
    }

    /// Types of arguments that travel.
    #[diagnostic::on_unimplemented(
        message = "`{Self}` cannot travel to another process, as an argument of a portable thread must",
        note = "derive `serde::Serialize` and `serde::Deserialize` for it, own what it borrows, or write `#[thread]` alone"
    )]
    pub trait Travels: Sized {
        /// Writes the argument. Returns the panic of its encoder.
        fn write(self, leaving: &mut Leaving<'_>) -> thread::Result<()>;
        /// Reads an argument.
        fn read(from: &mut Arriving<'_, '_>) -> Option<Arrived<Self>>;
    }

    /// Writes a value, and drops it. No caller could receive a panic of its destructor.
    fn write_value<T: Portable>(value: T, to: &mut Writer) -> thread::Result<()> {
        let written = to.part(|to| to.value(&value));
        drop_quietly(value);
        written
    }

    impl<T: Portable> Travels for T {
        fn write(self, leaving: &mut Leaving<'_>) -> thread::Result<()> {
            write_value(self, leaving.to)
        }

        fn read(from: &mut Arriving<'_, '_>) -> Option<Arrived<T>> {
            from.value().map(Arrived::value)
        }
    }

    impl<T: Portable> Travels for Vector<T> {
        fn write(self, leaving: &mut Leaving<'_>) -> thread::Result<()> {
            write_value::<Vec<T>>(self.into_iter().collect(), leaving.to)
        }

        fn read(from: &mut Arriving<'_, '_>) -> Option<Arrived<Vector<T>>> {
            let elements: Vec<T> = from.value()?;
            Some(Arrived::value(Vector::from(elements)))
        }
    }

    impl<T: Portable> Travels for Cont<T> {
        fn write(self, leaving: &mut Leaving<'_>) -> thread::Result<()> {
            write_value(expect(self, leaving.absent, leaving.place), leaving.to)
        }

        fn read(from: &mut Arriving<'_, '_>) -> Option<Arrived<Cont<T>>> {
            let k = from.value()?;
            Some(Arrived { waits: 1, make: Box::new(move |imports| Resolve::hole(k, imports)) })
        }
    }

    /// Returns how an argument of this type travels.
    pub const fn way<T: Travels>() -> Way<T> {
        Way { write: T::write, read: T::read, of: PhantomData }
    }

    impl<T> Way<T> {
        pub(in super::super) fn write(&self, argument: T, leaving: &mut Leaving<'_>) -> thread::Result<()> {
            (self.write)(argument, leaving)
        }

        pub(in super::super) fn read(&self, from: &mut Arriving<'_, '_>) -> Option<Arrived<T>> {
            (self.read)(from)
        }
    }
}
