//! Another process than the first: builds, counts and drops parts of runtimes as the first process says, until it ends.

use std::collections::HashMap;
use std::convert::Infallible;
use std::fs::{self, OpenOptions};
use std::io::{self, Read, Write};
use std::os::fd::IntoRawFd;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use finespun_mpi::launcher::Launched;

use super::stream::Stream;
use super::{
    ARRIVAL, Command, Counts, MEMORY, Reply, SHARE, Secret, address, domain, end_process, far, make_memory, map,
    own_memory, own_user, path, read_from, wire, write_to,
};
use crate::atomics::lock_std as lock;
use crate::cancel::runs::ProcessDied;
use crate::cluster::{Joined, Shape, join};
use crate::fabric::placed::Segment;
use crate::message::identity;

/// Time that the first process has to end this one after a request to terminate.
const GRACE: Duration = Duration::from_secs(1);

/// Serves the first process, and then ends this one.
///
/// # Errors
/// If the first process cannot be reached.
pub(crate) fn serve<R>(
    place: &Launched,
    build: impl Fn(&[u8], Joined) -> Result<R, String>,
    count: impl Fn(&R) -> Counts,
    end: impl Fn(R) -> i64,
) -> Result<Infallible, String> {
    static FAILED: Mutex<Option<String>> = Mutex::new(None);
    // The first caller ends the process, and others wait for the lock till then. If it fails, so do the others.
    let mut failed = lock(&FAILED);
    if let Some(error) = &*failed {
        return Err(error.clone());
    }
    *failed = Some("this process has panicked while it served process 0".to_owned());
    serve_until_the_end(place, build, count, end).inspect_err(|error| *failed = Some(error.clone()))
}

fn serve_until_the_end<R>(
    place: &Launched,
    build: impl Fn(&[u8], Joined) -> Result<R, String>,
    count: impl Fn(&R) -> Counts,
    end: impl Fn(R) -> i64,
) -> Result<Infallible, String> {
    let failed = |error: io::Error| format!("this process cannot serve process 0: {error}");
    let (stream, pid, secret) = connect(place)?;
    leave_signals_to_the_first().map_err(failed)?;
    let rank = place.rank;
    let first = ProcessDied { rank: 0, processes: place.size, pid };
    let (sender, commands) = channel();
    write_to(&stream, &Reply::Arrived { rank, pid: std::process::id(), secret, domain: domain(rank)? })
        .map_err(|_| first.to_string())?;
    let reader = stream.try_clone().map_err(failed)?;
    let read = move || read_commands(&reader, rank, first, &sender);
    thread::Builder::new().name("finespun-first".to_owned()).spawn(read).map_err(failed)?;
    let mut parts = HashMap::new();
    // What this process has made: the others of its host open it when they build.
    let mut memory = None;
    // If a reply cannot be sent, the first process has died, and the thread that reads ends this one.
    drop(write_to(&stream, &Reply::Executes { build: identity::build() }));
    loop {
        let reply = match commands.recv() {
            Ok(Command::Count { runtime }) => Reply::Counted(parts.get(&runtime).map(&count).unwrap_or_default()),
            Ok(Command::Drop { runtime }) => {
                memory = None;
                Reply::Dropped(parts.remove(&runtime).map_or(0, &end))
            }
            Ok(Command::Memory { bytes }) => Reply::Memory(make_memory(bytes).map(|made| path(memory.insert(made)))),
            Ok(Command::Build { runtime, settings, shape: (processes, workers), near, memory: path }) => {
                let shape = Shape { processes, workers, rank, near };
                let bytes = shape.segment_bytes();
                let segment = path.map_or_else(|| own_memory(bytes), |path| open(&path, bytes));
                let built = segment.and_then(|segment| {
                    let joined = join(shape, &segment, wire(runtime, &shape), None);
                    parts.insert(runtime, build(&settings, joined)?);
                    Ok(())
                });
                Reply::Built(built)
            }
            // The thread that reads ends the process.
            Ok(Command::End { .. }) | Err(_) => {
                thread::park();
                continue;
            }
        };
        drop(write_to(&stream, &reply));
    }
}

/// Maps the memory of the near processes.
fn open(path: &str, bytes: usize) -> Result<Arc<Segment>, String> {
    let refused = |error: io::Error| {
        format!(
            "the memory of another process ({path}) cannot be opened: {error}; if this host does not allow it, MPI carries all messages with {SHARE}=off"
        )
    };
    // If process numbers mean something else here, another file is behind the path.
    if !fs::read_link(path).map_err(refused)?.to_string_lossy().starts_with(&format!("/memfd:{MEMORY}")) {
        return Err(refused(io::Error::other("another file is there")));
    }
    let file = OpenOptions::new().read(true).write(true).open(path).map_err(refused)?;
    if file.metadata().map_err(refused)?.len() < bytes as u64 {
        return Err(refused(io::Error::other("it is too small")));
    }
    map(&file, bytes)
}

/// Connects to the first process. Returns its id, too, and what it wants to hear.
fn connect(place: &Launched) -> Result<(Stream, u32, Secret), String> {
    if far(place)? {
        #[cfg(feature = "mpi")]
        return super::far::connect(place).map(|(stream, meeting)| (stream, meeting.pid, meeting.secret));
        #[cfg(not(feature = "mpi"))]
        unreachable!("refused by `place`");
    }
    let address = address()?;
    let start = Instant::now();
    loop {
        match UnixStream::connect_addr(&address).and_then(|stream| own_user(&stream).map(|pid| (stream, pid))) {
            Ok((stream, pid)) => return Ok((Stream::Unix(stream), pid, Secret::default())),
            Err(error) if start.elapsed() > ARRIVAL => {
                return Err(format!(
                    "process 0 has not built its runtime within {ARRIVAL:?} ({error}): all processes must execute the same program"
                ));
            }
            Err(_) => thread::sleep(Duration::from_millis(1)),
        }
    }
}

/// Passes on the commands of the first process, until it ends this one, or has died. Not the thread that serves, which may
/// wait for the first process while it builds or drops a part.
fn read_commands(stream: &Stream, rank: usize, first: ProcessDied, to: &Sender<Command>) {
    let end = |died| -> ! {
        // In one piece, since several processes may say so at once. The launcher may have closed the stream.
        let _ = io::stderr().write_all(format!("finespun: {died}; process {rank} ends, too\n").as_bytes());
        end_process(1, true);
    };
    loop {
        match read_from(stream) {
            Ok(Command::End { died: Some(died), .. }) => end(died),
            Ok(Command::End { code, died: None }) => end_process(code, false),
            Ok(command) => drop(to.send(command)),
            Err(_) => end(first),
        }
    }
}

/// Lets the first process decide what Ctrl-C and a request to terminate mean, which launchers and terminals send to all
/// processes: this process ignores the former, and gives the first one time to end it after the latter.
fn leave_signals_to_the_first() -> io::Result<()> {
    let (mut asked, asks) = UnixStream::pair()?;
    TERMINATED.store(asks.into_raw_fd(), Ordering::Relaxed);
    let wait = move || {
        if asked.read_exact(&mut [0]).is_ok() {
            thread::sleep(GRACE);
            // SAFETY: the default action needs no handler.
            unsafe { libc::signal(libc::SIGTERM, libc::SIG_DFL) };
            // SAFETY: ends the process.
            unsafe { libc::raise(libc::SIGTERM) };
        }
    };
    thread::Builder::new().name("finespun-signals".to_owned()).spawn(wait)?;
    // SAFETY: no handler is replaced that this process needs: it does nothing but serve from here on.
    unsafe { libc::signal(libc::SIGINT, libc::SIG_IGN) };
    let handler: extern "C" fn(libc::c_int) = terminated;
    // SAFETY: as above, and the handler only writes to a socket.
    unsafe { libc::signal(libc::SIGTERM, handler as libc::sighandler_t) };
    Ok(())
}

/// The socket that tells a thread of a request to terminate.
static TERMINATED: AtomicI32 = AtomicI32::new(-1);

extern "C" fn terminated(_: libc::c_int) {
    // SAFETY: a handler may call `write`, and the byte is valid. It succeeds, so it leaves the error number as it is.
    unsafe { libc::write(TERMINATED.load(Ordering::Relaxed), [0_u8].as_ptr().cast(), 1) };
}
