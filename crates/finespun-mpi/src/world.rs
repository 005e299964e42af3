//! MPI: the processes that one launcher has started.
//!
//! A process starts MPI once, by [`World::start`], which also finds out whether the processes fit together: started by
//! the launcher of the MPI that they are linked with, and all with the same build.

use std::ffi::{c_char, c_int, c_void};
use std::fmt;
use std::marker::PhantomData;
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use crate::launcher::{Launched, Launcher, launched};
use crate::shim;

/// Room for any text of MPI.
const TEXT: usize = 8192;

/// The most words of one memory.
const MOST: u64 = isize::MAX as u64 / 8;

/// The most messages of one [`World::send_burst`].
pub const BURST: usize = 256;

/// Why MPI cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The launcher belongs to another MPI.
    #[error(
        "{launcher} has started {size} processes, but this program is linked with {library}: each would be alone; start it \
         by the mpirun of {library}, or build it again with the other MPI (MPICC names its compiler wrapper)"
    )]
    OtherLauncher {
        /// The launcher that started the process.
        launcher: Launcher,
        /// The number of processes that it started.
        size: usize,
        /// The MPI that the program is linked with.
        library: Library,
    },
    /// Two processes execute different programs.
    #[error("processes 0 and {rank} execute different builds of the program: start the same file in all processes")]
    OtherBuild {
        /// The first process that differs from process 0.
        rank: usize,
    },
    /// MPI has been started in this process before.
    #[error("MPI was started before in this process, which can do that once: keep its `World`")]
    Started,
    /// The MPI allows calls of one thread only.
    #[error("{0} does not allow calls of several threads (MPI_THREAD_MULTIPLE): install a build of it that does")]
    OneThread(Library),
    /// Memory that all processes were to make together has another size in some, or too large a size.
    #[error("memory of {words} words in process {rank}: all processes must ask for the same number, at most {MOST}")]
    Size {
        /// The first process whose number is too large, or differs from that of process 0.
        rank: usize,
        /// Its number.
        words: u64,
    },
    /// The process is ending.
    #[error("MPI has ended in this process")]
    Ended,
    /// MPI reports an error.
    #[error("MPI cannot {doing}: {text}")]
    Mpi {
        /// What was to be done.
        doing: &'static str,
        /// The text of MPI.
        text: String,
    },
}

/// The MPI that the program is linked with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Library {
    /// MPICH, or a relative that behaves like it.
    Mpich,
    /// Open MPI.
    OpenMpi,
    /// Another one.
    Other,
}

impl fmt::Display for Library {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Library::Mpich => "MPICH",
            Library::OpenMpi => "Open MPI",
            Library::Other => "an MPI that is neither MPICH nor Open MPI",
        })
    }
}

impl Library {
    /// Returns the MPI that the program is linked with. MPI need not have been started.
    pub fn linked() -> Library {
        // SAFETY: MPI writes at most `TEXT` characters, and their number; it allows this call at any time.
        let version = text(|text, length| unsafe { shim::fsp_library(text, length) });
        if version.contains("Open MPI") {
            Library::OpenMpi
        } else if version.contains("MPICH") {
            Library::Mpich
        } else {
            Library::Other
        }
    }

    /// Returns whether processes that this launcher has started find each other.
    fn fits(self, launcher: Launcher) -> bool {
        match (self, launcher) {
            (Library::Mpich, Launcher::OpenMpi) | (Library::OpenMpi, Launcher::Hydra) => false,
            (Library::Mpich | Library::OpenMpi | Library::Other, _) => true,
        }
    }
}

/// Returns the text that `write` writes, with its length, in room for `TEXT` characters.
fn text(write: impl FnOnce(*mut c_char, &mut c_int) -> c_int) -> String {
    let (mut text, mut length) = (vec![0_u8; TEXT], 0);
    write(text.as_mut_ptr().cast(), &mut length);
    text.truncate(usize::try_from(length).unwrap_or(0));
    String::from_utf8_lossy(&text).trim_end_matches('\0').trim().to_owned()
}

pub(crate) fn check(code: c_int, doing: &'static str) -> Result<(), Error> {
    if code == 0 {
        return Ok(());
    }
    // SAFETY: MPI writes at most `TEXT` characters, and their number.
    let text = text(|text, length| unsafe { shim::fsp_error(code, text, length) });
    Err(Error::Mpi { doing, text })
}

pub(crate) fn count(number: usize) -> c_int {
    c_int::try_from(number).expect("MPI counts to 2^31")
}

/// All processes that the launcher has started. It stays on the thread that has started MPI, which must also end it.
///
/// Dropping it ends MPI, which waits for the other processes; while a panic unwinds the thread, dropping it ends all
/// processes, which could wait for this one for ever.
#[derive(Debug)]
pub struct World {
    /// Neither `Send` nor `Sync`.
    stays: PhantomData<*const ()>,
    library: Library,
    rank: usize,
    size: usize,
    host_rank: usize,
    host_size: usize,
}

impl World {
    /// Starts MPI. All processes must call this; `build` differs between programs that do not understand each other.
    ///
    /// A program that no launcher has started is a world of one process.
    ///
    /// # Errors
    /// [`Error::OtherLauncher`], [`Error::OtherBuild`], [`Error::Started`], [`Error::OneThread`], or [`Error::Mpi`].
    pub fn start(build: u64) -> Result<World, Error> {
        static STARTED: AtomicBool = AtomicBool::new(false);
        let library = Library::linked();
        if let Some(Launched { by: launcher, size, .. }) = launched()
            && !library.fits(launcher)
        {
            return Err(Error::OtherLauncher { launcher, size, library });
        }
        // Relaxed: only the first caller continues.
        if STARTED.swap(true, Ordering::Relaxed) {
            return Err(Error::Started);
        }
        let mut threads = 0;
        check(shim::fsp_start(&mut threads), "start")?;
        let [mut rank, mut size, mut host_rank, mut host_size] = [0; 4];
        check(shim::fsp_places(&mut rank, &mut size, &mut host_rank, &mut host_size), "number the processes")?;
        let [rank, size, host_rank, host_size] = [rank, size, host_rank, host_size].map(|number| number as usize);
        let world = World { stays: PhantomData, library, rank, size, host_rank, host_size };
        if threads == 0 {
            return Err(Error::OneThread(library));
        }
        let builds = world.gather_all(build)?;
        match builds.iter().position(|other| *other != builds[0]) {
            Some(rank) => Err(Error::OtherBuild { rank }),
            None => Ok(world),
        }
    }

    /// Returns the MPI that the program is linked with.
    pub fn library(&self) -> Library {
        self.library
    }

    /// Returns the number of this process, from 0.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// Returns the number of processes.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Returns the number of this process among those that can share memory with it.
    pub fn host_rank(&self) -> usize {
        self.host_rank
    }

    /// Returns the number of processes that can share memory with this one, itself included.
    pub fn host_size(&self) -> usize {
        self.host_size
    }

    /// Waits until all processes have called this.
    ///
    /// # Errors
    /// [`Error::Mpi`].
    pub fn barrier(&self) -> Result<(), Error> {
        check(shim::fsp_barrier(), "wait for the other processes")
    }

    /// Returns the numbers that all processes have passed, by rank. All processes must call this.
    ///
    /// # Errors
    /// [`Error::Mpi`].
    pub fn gather_all(&self, own: u64) -> Result<Vec<u64>, Error> {
        let mut all = vec![0; self.size];
        // SAFETY: there is room for a number of each process.
        check(unsafe { shim::fsp_gather_all(own, all.as_mut_ptr()) }, "exchange numbers with the other processes")?;
        Ok(all)
    }

    /// Sends a message to process `to`, which must [`receive`](World::receive) it.
    ///
    /// # Errors
    /// [`Error::Mpi`].
    ///
    /// # Panics
    /// If the message has 2^31 bytes or more, or `to` is no rank of an MPI.
    pub fn send(&self, to: usize, tag: u16, bytes: &[u8]) -> Result<(), Error> {
        // SAFETY: MPI reads `bytes` only during the call.
        let code = unsafe { shim::fsp_send(bytes.as_ptr().cast(), count(bytes.len()), count(to), tag.into()) };
        check(code, "send a message")
    }

    /// Waits for the next message of process `from` with this tag, and writes it into `bytes`. Returns its length.
    ///
    /// # Errors
    /// [`Error::Mpi`], also if the message is longer than `bytes`.
    pub fn receive(&self, from: usize, tag: u16, bytes: &mut [u8]) -> Result<usize, Error> {
        let (room, mut length) = (count(bytes.len()), 0);
        // SAFETY: MPI writes at most `room` bytes, during the call.
        let code =
            unsafe { shim::fsp_receive(bytes.as_mut_ptr().cast(), room, count(from), tag.into(), &raw mut length) };
        check(code, "receive a message").map(|()| length as usize)
    }

    /// Sends `times` equal messages to process `to`, all of which may be under way at once. An error of MPI ends all
    /// processes, since messages may be under way then.
    ///
    /// # Errors
    /// [`Error::Mpi`], if `to` does not exist.
    ///
    /// # Panics
    /// If there are more than [`BURST`] messages.
    pub fn send_burst(&self, to: usize, tag: u16, bytes: &[u8], times: usize) -> Result<(), Error> {
        assert!(times <= BURST, "a burst has at most {BURST} messages");
        let (length, times) = (count(bytes.len()), count(times));
        // SAFETY: MPI reads `bytes` only during the call.
        let code = unsafe { shim::fsp_send_burst(bytes.as_ptr().cast(), length, times, count(to), tag.into()) };
        check(code, "send messages")
    }

    /// Receives `times` messages of equal length from process `from`, which together fill `bytes`. An error of MPI, as for a
    /// message that is too long, ends all processes.
    ///
    /// # Errors
    /// [`Error::Mpi`], if `from` does not exist.
    ///
    /// # Panics
    /// If there are more than [`BURST`] messages, none, or `bytes` has no equal part for each.
    pub fn receive_burst(&self, from: usize, tag: u16, bytes: &mut [u8], times: usize) -> Result<(), Error> {
        assert!(times > 0 && times <= BURST && bytes.len().is_multiple_of(times), "1 to {BURST} equal parts");
        let (length, times) = (count(bytes.len() / times), count(times));
        // SAFETY: MPI writes at most `times` times `length` bytes, which is the length of `bytes`, during the call.
        let code =
            unsafe { shim::fsp_receive_burst(bytes.as_mut_ptr().cast(), length, times, count(from), tag.into()) };
        check(code, "receive messages")
    }

    /// Lets MPI serve the other processes' operations on this one's windows: MPICH does that only during calls.
    ///
    /// # Errors
    /// [`Error::Mpi`].
    pub fn poll(&self) -> Result<(), Error> {
        check(shim::fsp_poll(), "make progress")
    }

    /// # Errors
    /// [`Error::Size`] in all processes, unless all have called this with the same number of words, which memory can have.
    fn agree(&self, words: usize) -> Result<(), Error> {
        let all = self.gather_all(words as u64)?;
        match all.iter().position(|&other| other != all[0] || other > MOST) {
            Some(rank) => Err(Error::Size { rank, words: all[rank] }),
            None => Ok(()),
        }
    }

    /// Makes memory of `words` words, at first zero, which all processes of this host share. All processes must call
    /// this, with the same number. The memory lives as long as the world, which can make 16 memories and windows.
    ///
    /// # Errors
    /// [`Error::Size`]; [`Error::Mpi`], for instance if the host has not enough shared memory.
    pub fn share(&self, words: usize) -> Result<Words<'_>, Error> {
        self.agree(words)?;
        let mut memory = ptr::null_mut();
        check(shim::fsp_share(words as u64 * 8, &mut memory), "share memory within a host")?;
        // SAFETY: MPI has allocated this many bytes, aligned for any type; they stay until `World` is dropped. All
        // processes access them by atomic operations only.
        let memory = unsafe { Words::new(memory, words) };
        if self.host_rank == 0 {
            memory.words.iter().for_each(|word| word.store(0, Ordering::Relaxed));
        }
        self.barrier()?;
        Ok(memory)
    }

    /// Makes a window of `words` words at each process, at first zero. All processes must call this, with the same number.
    /// The window lives as long as the world, which can make 16 memories and windows.
    ///
    /// # Errors
    /// [`Error::Size`]; [`Error::Mpi`].
    pub fn window(&self, words: usize) -> Result<Window<'_>, Error> {
        self.agree(words)?;
        let (mut number, mut memory) = (0, ptr::null_mut());
        check(shim::fsp_open(words as u64, &mut number, &mut memory), "open memory for other hosts")?;
        // SAFETY: as in `share`; the other processes access the words by MPI's operations.
        let own = unsafe { Words::new(memory, words) };
        own.words.iter().for_each(|word| word.store(0, Ordering::Relaxed));
        self.barrier()?;
        Ok(Window { world: self, number, own })
    }

    /// Ends all processes at once, with this exit code.
    pub fn abort(&self, code: u8) -> ! {
        shim::fsp_abort(code.into());
        std::process::abort();
    }
}

impl Drop for World {
    fn drop(&mut self) {
        if thread::panicking() {
            self.abort(101);
        }
        if let Err(error) = check(shim::fsp_finish(), "end") {
            eprintln!("finespun: {error}");
        }
    }
}

/// Memory that processes share, as words.
#[derive(Debug)]
pub struct Words<'w> {
    words: &'w [AtomicU64],
}

impl<'w> Words<'w> {
    /// Returns the words.
    pub fn words(&self) -> &'w [AtomicU64] {
        self.words
    }

    /// # Safety
    /// `memory` has this many words, which live as long as the result and are accessed atomically only.
    unsafe fn new(memory: *mut c_void, words: usize) -> Self {
        let memory = NonNull::new(memory).map_or(NonNull::dangling(), NonNull::cast::<AtomicU64>);
        // SAFETY: as the caller guarantees.
        Words { words: unsafe { std::slice::from_raw_parts(memory.as_ptr(), words) } }
    }
}

/// Words at each process, which all others access by MPI's one-sided operations.
#[derive(Debug)]
pub struct Window<'w> {
    world: &'w World,
    number: c_int,
    own: Words<'w>,
}

impl<'w> Window<'w> {
    /// Returns the words at this process. Its own atomic operations on them are not atomic with the other processes'
    /// swaps.
    pub fn own(&self) -> &'w [AtomicU64] {
        self.own.words
    }

    /// # Panics
    /// If the words are not all in the window, or the process does not exist.
    fn at(&self, rank: usize, word: usize, words: usize) -> (c_int, u64, c_int) {
        let inside = word.checked_add(words).is_some_and(|end| end <= self.own.words.len());
        assert!(
            inside && rank < self.world.size,
            "words {word} to {} of process {rank} are in no window",
            word + words
        );
        (count(rank), word as u64, count(words))
    }

    /// Replaces a word at process `rank`, and returns what it was.
    ///
    /// # Errors
    /// [`Error::Mpi`].
    ///
    /// # Panics
    /// If the word is not in the window.
    pub fn swap(&self, rank: usize, word: usize, new: u64) -> Result<u64, Error> {
        let ((at, word, _), mut old) = (self.at(rank, word, 1), 0);
        // SAFETY: the word is in the window of an existing process, and MPI writes `old` during the call.
        check(unsafe { shim::fsp_swap(self.number, at, word, new, &raw mut old) }, "swap a word").map(|()| old)
    }

    /// Writes words to process `rank`. They are there when this returns.
    ///
    /// # Errors
    /// [`Error::Mpi`].
    ///
    /// # Panics
    /// If the words are not in the window.
    pub fn put(&self, rank: usize, word: usize, words: &[u64]) -> Result<(), Error> {
        let (at, word, length) = self.at(rank, word, words.len());
        // SAFETY: the words are in the window of an existing process; MPI reads `words` during the call.
        check(unsafe { shim::fsp_put(self.number, at, word, words.as_ptr(), length) }, "write words")
    }

    /// Reads words of process `rank`.
    ///
    /// # Errors
    /// [`Error::Mpi`].
    ///
    /// # Panics
    /// If the words are not in the window.
    pub fn get(&self, rank: usize, word: usize, words: &mut [u64]) -> Result<(), Error> {
        let (at, word, length) = self.at(rank, word, words.len());
        // SAFETY: the words are in the window of an existing process; MPI writes `words` during the call.
        check(unsafe { shim::fsp_get(self.number, at, word, words.as_mut_ptr(), length) }, "read words")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_linked_mpi_is_known_and_refuses_the_others_launcher() {
        let library = Library::linked();
        assert_ne!(library, Library::Other);
        let fits = [Launcher::OpenMpi, Launcher::Hydra, Launcher::Slurm].map(|launcher| library.fits(launcher));
        assert_eq!(fits, [library == Library::OpenMpi, library == Library::Mpich, true]);
    }
}
