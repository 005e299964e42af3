//! Messages between the processes of a [`World`], by any thread, without waiting: what carries a runtime's messages
//! between hosts.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::mem::ManuallyDrop;
use std::os::fd::{FromRawFd, RawFd};
use std::sync::{OnceLock, PoisonError, RwLock};

use crate::launcher::{Launcher, launched};
use crate::shim;
use crate::world::{Error, Library, World, check, count};

/// A world that threads share, until it ends.
///
/// MPI asks that the thread which has started it ends it. MPICH and Open MPI allow any thread to.
#[derive(Debug)]
pub struct Exchange {
    rank: usize,
    size: usize,
    library: Library,
    /// Locked for reading during each call of MPI.
    ended: RwLock<bool>,
}

const RECEIVING: &str = "receive a message";

static SHARED: OnceLock<Exchange> = OnceLock::new();

impl Exchange {
    /// Lets all threads of the process use a world, which is never dropped: [`end`](Exchange::end) ends it.
    pub fn lend(world: &ManuallyDrop<World>) -> &'static Exchange {
        SHARED.get_or_init(|| Exchange {
            rank: world.rank(),
            size: world.size(),
            library: world.library(),
            ended: RwLock::new(false),
        })
    }

    /// Returns what the process has [lent](Exchange::lend).
    pub fn lent() -> Option<&'static Exchange> {
        SHARED.get()
    }

    /// Returns the number of this process, from 0.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// Returns the number of processes.
    pub fn size(&self) -> usize {
        self.size
    }

    /// # Errors
    /// [`Error::Ended`], and those of `call`.
    fn call<R>(&self, call: impl FnOnce() -> Result<R, Error>) -> Result<R, Error> {
        let ended = self.ended.read().unwrap_or_else(PoisonError::into_inner);
        if *ended { Err(Error::Ended) } else { call() }
    }

    /// Copies the bytes of process `from` to all others, whose bytes must be as many. All processes must call this, and it
    /// waits for `from`.
    ///
    /// # Errors
    /// [`Error::Mpi`], [`Error::Ended`].
    pub fn broadcast(&self, from: usize, bytes: &mut [u8]) -> Result<(), Error> {
        self.call(|| {
            // SAFETY: MPI reads or writes the bytes during the call.
            let code = unsafe { shim::fsp_broadcast(bytes.as_mut_ptr().cast(), count(bytes.len()), count(from)) };
            check(code, "tell the other processes")
        })
    }

    /// Begins to send a message to process `to`.
    ///
    /// # Errors
    /// [`Error::Mpi`], [`Error::Ended`].
    ///
    /// # Panics
    /// If the message has 2^31 bytes or more.
    pub fn begin_send(&self, to: usize, tag: u16, bytes: Vec<u8>) -> Result<UnderWay, Error> {
        let mut request = 0;
        self.call(|| {
            let (at, length) = (bytes.as_ptr().cast(), count(bytes.len()));
            // SAFETY: the bytes stay until MPI is done: see `UnderWay`.
            check(
                unsafe { shim::fsp_begin_send(at, length, count(to), tag.into(), &raw mut request) },
                "send a message",
            )
        })?;
        Ok(UnderWay { process: to, bytes: ManuallyDrop::new(bytes), request, receives: false, done: false })
    }

    /// Begins to receive the next message with this tag, of any process: one of at most `room` bytes.
    ///
    /// # Errors
    /// [`Error::Mpi`], [`Error::Ended`].
    ///
    /// # Panics
    /// If `room` is 2^31 or more.
    pub fn begin_receive(&self, tag: u16, room: usize) -> Result<UnderWay, Error> {
        let mut bytes = vec![0; room];
        let mut request = 0;
        self.call(|| {
            let at = bytes.as_mut_ptr().cast();
            // SAFETY: `UnderWay` keeps the bytes, which have this length, in place until MPI is done.
            check(unsafe { shim::fsp_begin_receive(at, count(room), tag.into(), &raw mut request) }, RECEIVING)
        })?;
        Ok(UnderWay { process: 0, bytes: ManuallyDrop::new(bytes), request, receives: true, done: false })
    }

    /// Begins to receive the next message of process `from` with this tag, of any length, if one has arrived.
    ///
    /// # Errors
    /// [`Error::Mpi`], [`Error::Ended`].
    pub fn begin_receive_of(&self, from: usize, tag: u16) -> Result<Option<UnderWay>, Error> {
        self.call(|| {
            let ([mut found, mut length], mut message, mut request) = ([0; 2], 0, 0);
            check(shim::fsp_find(count(from), tag.into(), &mut found, &mut length, &mut message), RECEIVING)?;
            if found == 0 {
                return Ok(None);
            }
            let mut bytes = vec![0; length as usize];
            // SAFETY: `UnderWay` keeps the bytes, as many as the message has, in place until MPI is done.
            let code = unsafe { shim::fsp_begin_found(bytes.as_mut_ptr().cast(), length, message, &raw mut request) };
            check(code, RECEIVING)?;
            Ok(Some(UnderWay { process: from, bytes: ManuallyDrop::new(bytes), request, receives: true, done: false }))
        })
    }

    /// Takes back a receive that is not done, if MPI has not ended. A message that has arrived for it since is lost. If one is
    /// arriving, its bytes are never freed.
    ///
    /// # Errors
    /// [`Error::Mpi`], [`Error::Ended`].
    ///
    /// # Panics
    /// If it is a message that is being sent.
    pub fn take_back(&self, mut message: UnderWay) -> Result<(), Error> {
        assert!(message.receives, "only receives are taken back");
        if message.done {
            return Ok(());
        }
        self.call(|| {
            let mut done = 0;
            // SAFETY: the request is under way, and not used afterwards.
            check(unsafe { shim::fsp_take_back(message.request, &raw mut done) }, RECEIVING)?;
            message.done = done != 0;
            Ok(())
        })
    }

    /// Returns whether MPI is done with a message. After that, it is not asked again.
    ///
    /// # Errors
    /// [`Error::Mpi`], [`Error::Ended`].
    pub fn is_done(&self, message: &mut UnderWay) -> Result<bool, Error> {
        if message.done {
            return Ok(true);
        }
        self.call(|| {
            let (mut done, mut from, mut length) = (0, 0, 0);
            let (request, receives) = (&raw mut message.request, message.receives.into());
            // SAFETY: the request is under way.
            let code = unsafe { shim::fsp_test(request, receives, &raw mut done, &raw mut from, &raw mut length) };
            check(code, "finish a message")?;
            message.done = done != 0;
            if message.done && message.receives {
                message.process = from as usize;
                message.bytes.truncate(length as usize);
            }
            Ok(message.done)
        })
    }

    /// Ends the use of MPI, after waiting for the other processes: all must call this, and then end. Messages that have not been
    /// received are lost.
    ///
    /// # Errors
    /// [`Error::Mpi`].
    pub fn end(&self) -> Result<(), Error> {
        let mut ended = self.ended.write().unwrap_or_else(PoisonError::into_inner);
        if std::mem::replace(&mut *ended, true) {
            return Ok(());
        }
        // Some MPIs complain of messages that are left.
        check(shim::fsp_discard(), "discard messages")?;
        check(shim::fsp_barrier(), "wait for the other processes")?;
        if self.library == Library::Mpich
            && let Some(hydra) = hydra()
        {
            return take_leave(hydra).map_err(|error| Error::Mpi { doing: "end", text: error.to_string() });
        }
        check(shim::fsp_finish(), "end")
    }
}

/// Returns the socket of MPICH's launcher, Hydra, if that has started this process.
fn hydra() -> Option<RawFd> {
    launched().filter(|place| place.by == Launcher::Hydra)?;
    std::env::var("PMI_FD").ok()?.parse().ok()
}

/// Tells Hydra that this process ends in order, as `MPI_Finalize` does last. Before that, MPICH 4.0 over TCP closes its
/// connections, for which each process needs calls of MPI by the others. But a process that has closed its own waits for
/// the others without such calls, mostly for ever: a C program of 20 lines shows it.
fn take_leave(hydra: RawFd) -> io::Result<()> {
    // SAFETY: the launcher has opened the socket for this process, and MPI does not use it any more.
    let hydra = ManuallyDrop::new(unsafe { File::from_raw_fd(hydra) });
    (&*hydra).write_all(b"cmd=finalize\n")?;
    let mut answer = String::new();
    BufReader::new(&*hydra).read_line(&mut answer)?;
    if answer.starts_with("cmd=finalize_ack") { Ok(()) } else { Err(io::Error::other(answer)) }
}

/// A message that is being sent or received.
#[derive(Debug)]
pub struct UnderWay {
    process: usize,
    /// MPI uses the bytes until `done`.
    bytes: ManuallyDrop<Vec<u8>>,
    request: u64,
    receives: bool,
    done: bool,
}

impl UnderWay {
    /// Returns the other process, and the bytes of a message that [is done](Exchange::is_done).
    ///
    /// # Panics
    /// If it is not.
    pub fn into_message(mut self) -> (usize, Vec<u8>) {
        assert!(self.done, "the message is under way");
        self.done = false;
        // SAFETY: not used afterwards: the destructor does not drop the bytes of a message that is not done.
        (self.process, unsafe { ManuallyDrop::take(&mut self.bytes) })
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        // MPI may still use the bytes of other messages, which are never freed.
        if self.done {
            // SAFETY: the bytes are not used afterwards.
            unsafe { ManuallyDrop::drop(&mut self.bytes) };
        }
    }
}
