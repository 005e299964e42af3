//! The processes that a launcher has started on this host, and what they do for each runtime of the first process.
//!
//! The first process listens on a socket in the abstract name space, so that no file is left behind; the others connect
//! to it, each for its life. When the first process builds a runtime, it makes the memory that the processes share, and
//! has the others build their parts with the same settings; when it drops the runtime, they drop theirs; when it ends,
//! they end. The other processes do nothing else ([`serve`]). A process whose connection ends without a word has died:
//! then all end.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::fd::AsRawFd;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::process::exit;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use finespun_mpi::launcher::{Launched, job, launched, on_this_host};
use memmap2::MmapRaw;
use rustix::fs::{FallocateFlags, MemfdFlags, fallocate, memfd_create};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::{Joined, Shape, join};
use crate::atomics::lock_std as lock;
use crate::fabric::placed::Segment;
use crate::message::identity;
use crate::observe::{CacheChoice, Stats};

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
    /// End the process with this code.
    End { code: i32 },
}

/// From another process to the first.
#[derive(Debug, Serialize, Deserialize)]
enum Reply {
    Arrived {
        rank: usize,
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

/// The connections of the first process to the others, in their order.
struct Others {
    streams: Vec<UnixStream>,
    replies: Vec<Receiver<Reply>>,
    next: u32,
}

/// Streams for [`Command::End`], beside those of [`OTHERS`], which a thread may use at the time; and the process that has
/// them, and not a fork of it.
static ENDS: OnceLock<(u32, Vec<UnixStream>)> = OnceLock::new();

/// The connections of the first process.
static OTHERS: OnceLock<Result<Mutex<Others>, String>> = OnceLock::new();

/// Set when the first process begins to end the others.
static ENDING: AtomicBool = AtomicBool::new(false);
/// Set when another process has died.
static DIED: AtomicBool = AtomicBool::new(false);

/// The parts of a runtime in other processes.
pub(crate) struct Remote {
    runtime: u32,
    ended: bool,
    /// By process: the latest answer.
    counts: Mutex<Vec<Counts>>,
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

/// Connects the first process with the others.
fn lead(size: usize) -> Result<Mutex<Others>, String> {
    let listener = UnixListener::bind_addr(&address()?).map_err(|error| {
        format!("this process cannot listen for the others ({error}): is another first process of this job running?")
    })?;
    listener.set_nonblocking(true).map_err(|error| format!("this process cannot listen for the others: {error}"))?;
    let mut streams: Vec<Option<UnixStream>> = (0..size).map(|_| None).collect();
    let start = Instant::now();
    while let Some(missing) = streams.iter().skip(1).position(Option::is_none) {
        let Ok((stream, _)) = listener.accept() else {
            if start.elapsed() > ARRIVAL {
                let missing = missing + 1;
                return Err(format!(
                    "process {missing} has not built its runtime within {ARRIVAL:?}: all processes must execute the same program"
                ));
            }
            thread::sleep(Duration::from_millis(1));
            continue;
        };
        stream.set_nonblocking(false).map_err(|error| error.to_string())?;
        stream.set_read_timeout(Some(ARRIVAL)).map_err(|error| error.to_string())?;
        // Any user may connect.
        let Ok(Reply::Arrived { rank: rank @ 1.., build }) = own_user(&stream).and_then(|()| read_from(&stream)) else {
            continue;
        };
        stream.set_read_timeout(None).map_err(|error| error.to_string())?;
        if build != identity::build() {
            return Err(format!(
                "processes 0 and {rank} execute different builds of the program: start the same file in all"
            ));
        }
        match streams.get_mut(rank) {
            Some(place @ None) => *place = Some(stream),
            _ => return Err(format!("two processes say that they are process {rank}")),
        }
    }
    let streams: Vec<_> = streams.into_iter().flatten().collect();
    let replies = streams.iter().enumerate().map(|(at, stream)| listen(at + 1, stream)).collect::<io::Result<_>>();
    let replies = replies.map_err(|error| format!("this process cannot listen to the others: {error}"))?;
    let ends = streams.iter().map(UnixStream::try_clone).collect::<io::Result<_>>();
    let ends = ends.map_err(|error| format!("this process cannot end the others: {error}"))?;
    if ENDS.set((std::process::id(), ends)).is_ok() {
        // SAFETY: the function neither unwinds nor calls `exit`.
        unsafe { libc::atexit(end_others) };
    }
    Ok(Mutex::new(Others { streams, replies, next: 0 }))
}

/// Passes on the replies of a process. When the process dies, ends this one.
fn listen(rank: usize, stream: &UnixStream) -> io::Result<Receiver<Reply>> {
    let (stream, (sender, replies)) = (stream.try_clone()?, channel());
    let hear = move || pass_on(rank, &stream, &sender);
    thread::Builder::new().name(format!("finespun-process-{rank}")).spawn(hear)?;
    Ok(replies)
}

fn pass_on(rank: usize, stream: &UnixStream, to: &Sender<Reply>) {
    while let Ok(reply) = read_from(stream) {
        if to.send(reply).is_err() {
            return;
        }
    }
    // Relaxed, both: only the value counts.
    if ENDING.load(Ordering::Relaxed) || DIED.swap(true, Ordering::Relaxed) {
        return;
    }
    eprintln!("finespun: process {rank} has died: this process ends, and so do all others");
    exit(1);
}

/// Ends the other processes when this one ends.
extern "C" fn end_others() {
    ENDING.store(true, Ordering::Relaxed);
    let code = i32::from(DIED.load(Ordering::Relaxed));
    if let Some((process, ends)) = ENDS.get()
        && *process == std::process::id()
    {
        ends.iter().for_each(|stream| drop(write_to(stream, &Command::End { code })));
    }
}

/// Checks that the other end of a connection belongs to this process's user.
fn own_user(stream: &UnixStream) -> io::Result<()> {
    let other = rustix::net::sockopt::socket_peercred(stream)?;
    if other.uid == rustix::process::getuid() { Ok(()) } else { Err(io::Error::other("another user's process")) }
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

/// In the first process: builds the parts of a runtime in all others, and joins it.
///
/// # Errors
/// If a process does not arrive or cannot build its part, or the memory cannot be made.
pub(crate) fn build(size: usize, workers: usize, settings: Vec<u8>) -> Result<(Remote, Joined), String> {
    let others = OTHERS.get_or_init(|| lead(size)).as_ref().map_err(String::clone)?;
    if ENDS.get().is_some_and(|(process, _)| *process != std::process::id()) {
        return Err("this process is a fork of the first process: build the runtime there".to_owned());
    }
    let mut others = lock(others);
    let shape = Shape { processes: size, workers, rank: 0 };
    let bytes = shape.segment_bytes();
    let no_memory = |error: rustix::io::Errno| {
        format!("{bytes} bytes of memory cannot be shared by the processes ({error}): use fewer workers")
    };
    let memory = File::from(memfd_create("finespun", MemfdFlags::CLOEXEC).map_err(no_memory)?);
    fallocate(&memory, FallocateFlags::empty(), 0, bytes as u64).map_err(no_memory)?;
    let segment = map(&memory, bytes)?;
    let runtime = others.next;
    others.next += 1;
    let path = format!("/proc/{}/fd/{}", std::process::id(), memory.as_raw_fd());
    let command = Command::Build { runtime, settings, shape: (size, workers), memory: path, bytes };
    let replies = others.ask(&command).into_iter().collect::<Result<Vec<_>, _>>()?;
    drop(others);
    // Dropped on an error, it drops the parts that have been built.
    let counts = Counts { workers: vec![Stats::default(); workers], choices: Vec::new() };
    let remote = Remote { runtime, ended: false, counts: Mutex::new(vec![counts; size - 1]) };
    for (at, reply) in replies.into_iter().enumerate() {
        match reply {
            Reply::Built(Ok(())) => {}
            Reply::Built(Err(error)) => return Err(format!("process {}: {error}", at + 1)),
            _ => return Err(format!("process {} gives a wrong answer", at + 1)),
        }
    }
    Ok((remote, join(shape, &segment)))
}

/// Returns the connections of the first process; `None` in a fork of it.
fn others() -> Option<&'static Mutex<Others>> {
    let own = ENDS.get().is_some_and(|(process, _)| *process == std::process::id());
    OTHERS.get()?.as_ref().ok().filter(|_| own)
}

impl Others {
    /// Sends a command to all, and returns their replies, or errors for the processes that have died.
    fn ask(&mut self, command: &Command) -> Vec<Result<Reply, String>> {
        // A command that cannot be sent has no reply.
        self.streams.iter().for_each(|stream| drop(write_to(stream, command)));
        let died = |at: usize| format!("process {} has died", at + 1);
        self.replies.iter().enumerate().map(|(at, replies)| replies.recv().map_err(|_| died(at))).collect()
    }
}

impl Remote {
    /// Returns the counts of each of the other processes: of one that has died, the last ones known.
    pub(crate) fn counts(&self) -> Vec<Counts> {
        let Some(others) = others() else { return lock(&self.counts).clone() };
        // Locked together, so that no older answer replaces a later one.
        let mut known = lock(&self.counts);
        let replies = lock(others).ask(&Command::Count { runtime: self.runtime });
        for (known, reply) in known.iter_mut().zip(replies) {
            if let Ok(Reply::Counted(counts)) = reply {
                *known = counts;
            }
        }
        known.clone()
    }

    /// Drops the parts in the other processes. Returns the number of frames that were left there.
    pub(crate) fn end(mut self) -> i64 {
        self.end_once()
    }

    fn end_once(&mut self) -> i64 {
        if std::mem::replace(&mut self.ended, true) {
            return 0;
        }
        let Some(others) = others() else { return 0 };
        let replies = lock(others).ask(&Command::Drop { runtime: self.runtime });
        replies.into_iter().map(|reply| if let Ok(Reply::Dropped(left)) = reply { left } else { 0 }).sum()
    }
}

impl Drop for Remote {
    fn drop(&mut self) {
        self.end_once();
    }
}

/// In another process than the first: builds, counts and drops parts of runtimes as the first process says, and then ends the
/// process.
///
/// # Errors
/// If the first process cannot be reached.
pub(crate) fn serve<R>(
    rank: usize,
    build: impl Fn(&[u8], Joined) -> Result<R, String>,
    count: impl Fn(&R) -> Counts,
    end: impl Fn(R) -> i64,
) -> Result<std::convert::Infallible, String> {
    static SERVES: AtomicBool = AtomicBool::new(false);
    // Relaxed: only the first caller continues. It ends the process.
    if SERVES.swap(true, Ordering::Relaxed) {
        loop {
            thread::park();
        }
    }
    let address = address()?;
    let start = Instant::now();
    let stream = loop {
        match UnixStream::connect_addr(&address).and_then(|stream| own_user(&stream).map(|()| stream)) {
            Ok(stream) => break stream,
            Err(error) if start.elapsed() > ARRIVAL => {
                return Err(format!(
                    "process 0 has not built its runtime within {ARRIVAL:?} ({error}): all processes must execute the same program"
                ));
            }
            Err(_) => thread::sleep(Duration::from_millis(1)),
        }
    };
    let died = |error: io::Error| format!("process 0 has died ({error})");
    write_to(&stream, &Reply::Arrived { rank, build: identity::build() }).map_err(died)?;
    // The first process decides what an interrupt means.
    // SAFETY: no handler is replaced that this process needs: it does nothing but serve from here on.
    unsafe { libc::signal(libc::SIGINT, libc::SIG_IGN) };
    let mut parts = HashMap::new();
    loop {
        let reply = match read_from(&stream) {
            Ok(Command::End { code }) => exit(code),
            Ok(Command::Count { runtime }) => Reply::Counted(parts.get(&runtime).map(&count).unwrap_or_default()),
            Ok(Command::Drop { runtime }) => Reply::Dropped(parts.remove(&runtime).map_or(0, &end)),
            Ok(Command::Build { runtime, settings, shape: (processes, workers), memory, bytes }) => {
                let file = OpenOptions::new().read(true).write(true).open(&memory);
                let file = file.map_err(|error| format!("the memory of process 0 cannot be opened: {error}"));
                let built = file.and_then(|file| map(&file, bytes)).and_then(|segment| {
                    parts.insert(runtime, build(&settings, join(Shape { processes, workers, rank }, &segment))?);
                    Ok(())
                });
                Reply::Built(built)
            }
            Err(_) => {
                eprintln!("finespun: process 0 has died: process {rank} ends, too");
                exit(1);
            }
        };
        write_to(&stream, &reply).map_err(died)?;
    }
}
