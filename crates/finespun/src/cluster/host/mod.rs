//! The processes that a launcher has started, and what they do for each runtime of the first process.
//!
//! The first process ([`lead`]) listens on a socket in the abstract name space, so that no file is left behind, or, if some
//! share no memory with it, in the network (`far`); the others connect to it, each for its life. When the first process
//! builds a runtime, the first one of each host makes the memory that the processes of the host share, and all build their
//! parts with the same settings; when the first process drops the runtime, the others drop their parts; when it ends, they
//! end. The other processes do nothing else ([`serve`]).
//!
//! A process whose connection ends without a word has died. If it was the first one, the others end. Otherwise the first
//! process ends its runs with an error, and the other processes at once.

#[cfg(feature = "mpi")]
mod far;
mod lead;
mod serve;
mod stream;

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::fd::AsRawFd;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixStream};
use std::process::exit;
use std::sync::Arc;
use std::time::Duration;

use finespun_mpi::launcher::{Launched, job, launched, on_this_host};
use memmap2::{MmapOptions, MmapRaw};
use rustix::fs::{FallocateFlags, MemfdFlags, fallocate, memfd_create};
use rustix::process::{Resource, getrlimit};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::cancel::runs::ProcessDied;
use crate::cluster::{Near, Shape};
use crate::fabric::placed::Segment;
use crate::fabric::wire::Wire;
use crate::frame::budget;
use crate::observe::{CacheChoice, Stats};
pub(crate) use lead::{Remote, build, meet, memory};
pub(crate) use serve::serve;
use stream::Stream;

/// Time that a process waits for the others to build their first runtime.
const ARRIVAL: Duration = Duration::from_secs(60);

/// Bytes that a command or reply may have.
const LONGEST: usize = 1 << 20;

/// The name of the memory that processes share, as the system shows it.
const MEMORY: &str = "finespun";

/// The variable by which users say which processes share memory.
const SHARE: &str = "FINESPUN_MPI_SHM";

/// What only the processes of one job know. All zeros if only they can connect.
type Secret = [u8; 16];

/// From the first process to the others.
#[derive(Debug, Serialize, Deserialize)]
enum Command {
    /// Make this much memory, which the near processes share.
    Memory { bytes: usize },
    /// Build a part of a runtime with these settings, over this memory. With none, the process has memory of its own.
    Build { runtime: u32, settings: Vec<u8>, shape: (usize, usize), near: Near, memory: Option<String> },
    /// Tell the counters of the part of a runtime.
    Count { runtime: u32 },
    /// Drop the part of a runtime.
    Drop { runtime: u32 },
    /// End the process with this code, perhaps since another one has died.
    End { code: i32, died: Option<ProcessDied> },
}

/// From another process to the first.
#[derive(Debug, Serialize, Deserialize)]
enum Reply {
    Arrived {
        rank: usize,
        pid: u32,
        secret: Secret,
        /// See [`domain`].
        domain: String,
    },
    /// The number of the program's build, which takes some time to find.
    Executes {
        build: u32,
    },
    /// The path of the memory, which cannot be made otherwise.
    Memory(Result<String, String>),
    /// The part is built, or cannot be.
    Built(Result<(), String>),
    Counted(Counts),
    /// The part is dropped: the number of frames that were left.
    Dropped(i64),
}

/// What one process counts for a runtime.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Counts {
    /// By worker.
    pub(crate) workers: Vec<Stats>,
    pub(crate) choices: Vec<CacheChoice>,
}

/// Returns the place of this process among several; `None` if it is alone.
///
/// # Errors
/// If processes share no memory, and this build cannot carry their messages.
pub(crate) fn place() -> Result<Option<Launched>, String> {
    let Some(place) = launched().filter(|place| place.size > 1) else { return Ok(None) };
    if cfg!(not(feature = "mpi")) && far(&place)? {
        return Err(format!(
            "{} has started {} processes, {}: a program built without the feature `mpi` has its processes on one host; build \
             it with that feature, or start all of them there",
            place.by,
            place.size,
            match on_this_host() {
                Some(here) if here < place.size => format!("but {here} of them on this host"),
                _ => format!("which share no memory ({SHARE})"),
            }
        ));
    }
    Ok(Some(place))
}

/// Returns whether some processes share no memory: they are on several hosts, or the user says so.
///
/// # Errors
/// If the user says something else.
fn far(place: &Launched) -> Result<bool, String> {
    Ok(per_host()? < place.size || on_this_host().is_some_and(|here| here != place.size))
}

/// Returns how many processes of one host share memory: ranks that have the same quotient by this number.
fn per_host() -> Result<usize, String> {
    let text = std::env::var(SHARE).unwrap_or_else(|_| "on".to_owned());
    match (text.as_str(), text.parse()) {
        ("on", _) => Ok(usize::MAX),
        ("off", _) => Ok(1),
        (_, Ok(number @ 1..)) => Ok(number),
        _ => Err(format!(
            "{SHARE}={text}: whether processes of one host share memory is on (the default) or off, or how many of them do, \
             from 1"
        )),
    }
}

/// Returns a text that those processes have in common that can share memory: of one host, in the same name spaces, and of
/// one user. Containers on one host mostly have name spaces of their own.
fn domain(rank: usize) -> Result<String, String> {
    let host = || {
        let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
        let space =
            |name: &str| fs::read_link(format!("/proc/self/ns/{name}")).ok().map(|space| space.display().to_string());
        // A kernel may have none.
        let user = space("user").unwrap_or_default();
        Some(format!("{} {} {} {}", boot.trim(), space("pid")?, user, rustix::process::getuid().as_raw()))
    };
    let host = host().unwrap_or_else(|| format!("process {rank}"));
    Ok(format!("{host} {}", rank / per_host()?))
}

/// Returns the wire of a runtime, if its processes are not all near.
fn wire(runtime: u32, shape: &Shape) -> Option<Box<dyn Wire>> {
    #[cfg(feature = "mpi")]
    if shape.near.processes < shape.processes {
        return far::wire(runtime);
    }
    let _ = (runtime, shape);
    None
}

/// Makes memory that processes can share.
///
/// # Errors
/// The reason, if there is too little.
fn make_memory(bytes: usize) -> Result<File, String> {
    // The system could end processes instead of refusing.
    let most = budget::share();
    if bytes > most {
        return Err(format!("half of the memory that this process may use is {most} bytes"));
    }
    // Beyond this limit, the system would send a signal.
    if let Some(most) = getrlimit(Resource::Fsize).current.filter(|&most| (most as usize) < bytes) {
        return Err(format!("the limit of files (`ulimit -f`) is {most} bytes"));
    }
    let refused = |error: rustix::io::Errno| format!("the system refuses them ({error})");
    let memory = File::from(memfd_create(MEMORY, MemfdFlags::CLOEXEC).map_err(refused)?);
    fallocate(&memory, FallocateFlags::empty(), 0, bytes as u64).map_err(refused)?;
    Ok(memory)
}

/// Returns the path by which the near processes find the memory while this process has it.
fn path(memory: &File) -> String {
    format!("/proc/{}/fd/{}", std::process::id(), memory.as_raw_fd())
}

/// Ends this process, in order if no other has died.
fn end_process(code: i32, died: bool) -> ! {
    #[cfg(feature = "mpi")]
    if !died {
        far::end();
    }
    let _ = died;
    exit(code)
}

fn write_to(mut stream: &Stream, value: &impl Serialize) -> io::Result<()> {
    let bytes = postcard::to_allocvec(value).map_err(io::Error::other)?;
    let mut message = (bytes.len() as u64).to_le_bytes().to_vec();
    message.extend(bytes);
    stream.write_all(&message)
}

fn read_from<T: DeserializeOwned>(mut stream: &Stream) -> io::Result<T> {
    let mut length = [0; 8];
    stream.read_exact(&mut length)?;
    let length = usize::try_from(u64::from_le_bytes(length)).ok().filter(|&length| length <= LONGEST);
    let mut bytes = vec![0; length.ok_or_else(|| io::Error::other("a message of no such length"))?];
    stream.read_exact(&mut bytes)?;
    postcard::from_bytes(&bytes).map_err(io::Error::other)
}

/// Returns the address at which the first process listens.
fn address() -> Result<SocketAddr, String> {
    let job = job().ok_or("the launcher's job has no name: set FINESPUN_JOB to the same name for all processes")?;
    let name = format!("finespun-{}-{job}", rustix::process::getuid().as_raw());
    SocketAddr::from_abstract_name(name)
        .map_err(|error| format!("the name of the launcher's job cannot be used: {error}"))
}

/// Returns the process at the other end of a connection, which must belong to this process's user.
fn own_user(stream: &UnixStream) -> io::Result<u32> {
    let other = rustix::net::sockopt::socket_peercred(stream)?;
    if other.uid != rustix::process::getuid() {
        return Err(io::Error::other("another user's process"));
    }
    Ok(other.pid.as_raw_nonzero().get().unsigned_abs())
}

/// Returns the memory behind `path`.
fn map(file: &File, bytes: usize) -> Result<Arc<Segment>, String> {
    let map =
        MmapRaw::map_raw(file).map_err(|error| format!("{bytes} bytes of shared memory cannot be mapped: {error}"))?;
    let (base, len) = (map.as_mut_ptr(), map.len());
    // SAFETY: the map has as many bytes from its beginning on, for as long as it lives, and they are zero at first, since
    // the file is.
    Ok(Arc::new(unsafe { Segment::of(base, len, Box::new(map)) }))
}

/// Returns memory that this process shares with no other.
fn own_memory(bytes: usize) -> Result<Arc<Segment>, String> {
    let map = MmapOptions::new().len(bytes).map_anon();
    let mut map = map.map_err(|error| format!("{bytes} bytes of memory cannot be mapped: {error}"))?;
    let (base, len) = (map.as_mut_ptr(), map.len());
    // SAFETY: the map has as many bytes from its beginning on, for as long as it lives, and they are zero at first.
    Ok(Arc::new(unsafe { Segment::of(base, len, Box::new(map)) }))
}
