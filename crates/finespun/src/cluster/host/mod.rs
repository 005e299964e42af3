//! The processes that a launcher has started on this host, and what they do for each runtime of the first process.
//!
//! The first process ([`lead`]) listens on a socket in the abstract name space, so that no file is left behind; the others
//! connect to it, each for its life. When the first process builds a runtime, it makes the memory that the processes
//! share, and has the others build their parts with the same settings; when it drops the runtime, they drop theirs; when
//! it ends, they end. The other processes do nothing else ([`serve`]).
//!
//! A process whose connection ends without a word has died. If it was the first one, the others end. Otherwise the first
//! process ends its runs with an error, and the other processes at once.

mod lead;
mod serve;

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixStream};
use std::sync::Arc;
use std::time::Duration;

use finespun_mpi::launcher::{Launched, job, launched, on_this_host};
use memmap2::MmapRaw;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::cancel::runs::ProcessDied;
use crate::fabric::placed::Segment;
use crate::observe::{CacheChoice, Stats};
pub(crate) use lead::{Remote, build, meet, memory};
pub(crate) use serve::serve;

/// Time that a process waits for the others to build their first runtime.
const ARRIVAL: Duration = Duration::from_secs(60);

/// Bytes that a command or reply may have.
const LONGEST: usize = 1 << 20;

/// From the first process to the others.
#[derive(Debug, Serialize, Deserialize)]
enum Command {
    /// Build a part of a runtime with these settings, over a memory of the first process.
    Build { runtime: u32, settings: Vec<u8>, shape: (usize, usize), memory: String, bytes: usize },
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
    },
    /// The number of the program's build, which takes some time to find.
    Executes {
        build: u32,
    },
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
/// If processes are on other hosts.
pub(crate) fn place() -> Result<Option<Launched>, String> {
    let Some(place) = launched().filter(|place| place.size > 1) else { return Ok(None) };
    match on_this_host() {
        Some(here) if here != place.size => Err(format!(
            "{} has started {} processes, but {here} of them on this host: a runtime has its processes on one host, so start \
             all of them there",
            place.by, place.size
        )),
        _ => Ok(Some(place)),
    }
}

fn write_to(mut stream: &UnixStream, value: &impl Serialize) -> io::Result<()> {
    let bytes = postcard::to_allocvec(value).map_err(io::Error::other)?;
    let mut message = (bytes.len() as u64).to_le_bytes().to_vec();
    message.extend(bytes);
    stream.write_all(&message)
}

fn read_from<T: DeserializeOwned>(mut stream: &UnixStream) -> io::Result<T> {
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
