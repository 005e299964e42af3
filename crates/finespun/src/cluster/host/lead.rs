//! The first process: connects the others, and has them build, count and drop their parts.

use std::collections::{BTreeMap, HashSet};
use std::fs::File;
use std::io::{self, Write};
#[cfg(feature = "mpi")]
use std::net::TcpListener;
use std::os::unix::net::UnixListener;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, OnceLock, Weak};
use std::thread;
use std::time::{Duration, Instant};

use finespun_mpi::launcher::Launched;

use super::stream::Stream;
use super::{
    ARRIVAL, Command, Counts, Reply, Secret, address, domain, far, make_memory, map, own_memory, own_user, path,
    read_from, wire, write_to,
};
use crate::atomics::lock_std as lock;
use crate::cancel::runs::ProcessDied;
use crate::cluster::{Cluster, Joined, Near, Shape, join};
use crate::message::identity;
use crate::observe::Stats;

/// Time that a program of the network has to say that it is one of the others.
const GREETING: Duration = Duration::from_secs(5);

/// The connections of the first process to the others, in their order.
struct Others {
    /// By process, the first one included: those that share memory with it.
    near: Vec<Near>,
    streams: Vec<Stream>,
    replies: Vec<Receiver<Reply>>,
    next: u32,
}

/// The connections of the first process.
static OTHERS: OnceLock<Result<Mutex<Others>, String>> = OnceLock::new();

/// The id of the process that leads. A fork has another id.
static LEADER: OnceLock<u32> = OnceLock::new();
/// Streams for [`Command::End`]: another thread may use those in [`OTHERS`] at the time.
static ENDS: Mutex<Vec<Stream>> = Mutex::new(Vec::new());
/// Set when the first process begins to end the others.
static ENDING: AtomicBool = AtomicBool::new(false);

/// The process that has died first among the others.
static DIED: OnceLock<ProcessDied> = OnceLock::new();
/// This process's parts of the runtimes, which learn that a process has died.
static PARTS: Mutex<Vec<Weak<Cluster>>> = Mutex::new(Vec::new());

/// The parts of a runtime in other processes.
pub(crate) struct Remote {
    runtime: u32,
    ended: bool,
    /// By process: the latest answer.
    counts: Mutex<Vec<Counts>>,
}

/// Connects the first process with the others.
fn lead(place: &Launched) -> Result<Mutex<Others>, String> {
    // Only this thread sets it.
    if LEADER.set(std::process::id()).is_ok() {
        // SAFETY: the function neither unwinds nor calls `exit`.
        unsafe { libc::atexit(end_others) };
    }
    let others = listen(place).and_then(|(listener, secret)| await_others(&listener, &secret, place.size));
    if others.is_err() {
        end(1, None);
    }
    others.map(Mutex::new)
}

/// A socket at which the others connect.
enum Listener {
    Unix(UnixListener),
    #[cfg(feature = "mpi")]
    Tcp(TcpListener),
}

impl Listener {
    /// Returns the next connection, if there is one. Over a socket of this host, with the id of the other process.
    fn accept(&self) -> io::Result<(Stream, Option<u32>)> {
        match self {
            Listener::Unix(listener) => {
                let (stream, _) = listener.accept()?;
                let pid = own_user(&stream)?;
                Ok((Stream::Unix(stream), Some(pid)))
            }
            #[cfg(feature = "mpi")]
            Listener::Tcp(listener) => {
                let (stream, _) = listener.accept()?;
                Ok((Stream::over_tcp(stream)?, None))
            }
        }
    }
}

/// Listens for the others. Returns what they must know.
fn listen(place: &Launched) -> Result<(Listener, Secret), String> {
    let failed = |error: io::Error| format!("this process cannot listen for the others: {error}");
    if far(place)? {
        #[cfg(feature = "mpi")]
        {
            let (listener, meeting) = super::far::listen(place)?;
            listener.set_nonblocking(true).map_err(failed)?;
            return Ok((Listener::Tcp(listener), meeting.secret));
        }
        #[cfg(not(feature = "mpi"))]
        unreachable!("refused by `place`");
    }
    let listener = UnixListener::bind_addr(&address()?).map_err(|error| {
        format!("this process cannot listen for the others ({error}): is another first process of this job running?")
    })?;
    listener.set_nonblocking(true).map_err(failed)?;
    Ok((Listener::Unix(listener), Secret::default()))
}

/// Waits until all others have connected.
fn await_others(listener: &Listener, secret: &Secret, size: usize) -> Result<Others, String> {
    let mut others: Vec<Option<Other>> = (0..size).map(|_| None).collect();
    let start = Instant::now();
    while let Some(missing) = others.iter().skip(1).position(Option::is_none) {
        if let Some(died) = DIED.get() {
            return Err(died.to_string());
        }
        // Any user may connect.
        let Ok((stream, pid)) = listener.accept() else {
            if start.elapsed() > ARRIVAL {
                let missing = missing + 1;
                return Err(format!(
                    "process {missing} has not built its runtime within {ARRIVAL:?}: all processes must execute the same program"
                ));
            }
            thread::sleep(Duration::from_millis(1));
            continue;
        };
        let Some((rank, other)) = greet(stream, pid, secret, size)? else { continue };
        match others.get_mut(rank) {
            Some(place @ None) => *place = Some(other),
            _ => return Err(format!("two processes say that they are process {rank}")),
        }
    }
    let (mut domains, mut streams, mut replies) = (vec![domain(0)?], Vec::new(), Vec::new());
    for other in others.into_iter().flatten() {
        domains.push(other.domain);
        streams.push(other.stream);
        replies.push(other.replies);
    }
    // Over a socket of this host, all share memory.
    let all = || vec![Near { first: 0, processes: size }; size];
    let apart = !matches!(listener, Listener::Unix(_));
    let near = if apart { near(&domains) } else { all() };
    if apart && are_interleaved(&domains) {
        // The launcher may have closed the stream.
        let _ = writeln!(
            io::stderr(),
            "finespun: the processes of a host share memory only if their numbers follow each other, which these do not: \
             start them by `mpirun -ppn N` (MPICH), `mpirun --map-by slot` (Open MPI) or `srun --distribution=block`"
        );
    }
    let others = Others { near, streams, replies, next: 0 };
    for rank in 1..size {
        if !matches!(others.reply(rank)?, Reply::Executes { build } if build == identity::build()) {
            return Err(format!(
                "processes 0 and {rank} execute different builds of the program: start the same file in all"
            ));
        }
    }
    Ok(others)
}

/// Another process, for the first one.
struct Other {
    domain: String,
    stream: Stream,
    replies: Receiver<Reply>,
}

/// Returns by process the near ones, from what each calls its [`domain`].
fn near(domains: &[String]) -> Vec<Near> {
    let hosts = domains.chunk_by(|one, other| one == other);
    let near = hosts.scan(0, |next, host| {
        let near = Near { first: *next, processes: host.len() };
        *next += host.len();
        Some(std::iter::repeat_n(near, host.len()))
    });
    near.flatten().collect()
}

/// Returns whether processes that could share memory do not, since others are between them.
fn are_interleaved(domains: &[String]) -> bool {
    let hosts: Vec<_> = domains.chunk_by(|one, other| one == other).map(|host| &host[0]).collect();
    hosts.iter().collect::<HashSet<_>>().len() < hosts.len()
}

/// Returns the rank of a process that has connected, and its connection; `None` if it does not know the secret.
fn greet(stream: Stream, pid: Option<u32>, secret: &Secret, size: usize) -> Result<Option<(usize, Other)>, String> {
    let failed = |error: io::Error| format!("this process cannot listen to the others: {error}");
    stream.wait(Some(if pid.is_some() { ARRIVAL } else { GREETING })).map_err(failed)?;
    let (rank, pid, domain) = match (read_from(&stream), pid) {
        (Ok(Reply::Arrived { rank: rank @ 1.., pid, secret: said, domain }), _) if said == *secret => {
            (rank, pid, domain)
        }
        // Any program of the network may connect.
        (_, None) => return Ok(None),
        (Err(error), Some(pid)) if error.kind() == io::ErrorKind::UnexpectedEof => {
            return Err(format!("a process (pid {pid}) has died while it connected to this one"));
        }
        (_, Some(pid)) => {
            return Err(format!("a process (pid {pid}) that is none of this program has connected to this one"));
        }
    };
    stream.wait(None).map_err(failed)?;
    // Ended like the others if it is refused.
    lock(&ENDS).push(stream.try_clone().map_err(failed)?);
    let (heard, (sender, replies)) = (stream.try_clone().map_err(failed)?, channel());
    let process = ProcessDied { rank, processes: size, pid };
    let hear = move || pass_on(process, &heard, &sender);
    thread::Builder::new().name(format!("finespun-process-{rank}")).spawn(hear).map_err(failed)?;
    Ok(Some((rank, Other { domain, stream, replies })))
}

/// Passes on the replies of a process, until it dies.
fn pass_on(process: ProcessDied, stream: &Stream, to: &Sender<Reply>) {
    while let Ok(reply) = read_from(stream) {
        if to.send(reply).is_err() {
            return;
        }
    }
    // Relaxed: only the value counts.
    if ENDING.load(Ordering::Relaxed) || DIED.set(process).is_err() {
        return;
    }
    end(1, Some(process));
    // A part that is added later is not built: see `build`.
    let parts: Vec<_> = lock(&PARTS).iter().filter_map(Weak::upgrade).collect();
    parts.iter().for_each(|part| part.process_died(process));
}

/// Ends the other processes with this code.
fn end(code: i32, died: Option<ProcessDied>) {
    let ends = lock(&ENDS);
    ends.iter().for_each(|stream| drop(write_to(stream, &Command::End { code, died })));
}

/// Ends the other processes when this one ends.
extern "C" fn end_others() {
    if own_process() {
        ENDING.store(true, Ordering::Relaxed);
        end(i32::from(DIED.get().is_some()), None);
        #[cfg(feature = "mpi")]
        if DIED.get().is_none() {
            super::far::end();
        }
    }
}

/// Returns whether this process leads. A fork does not.
fn own_process() -> bool {
    LEADER.get().is_some_and(|process| *process == std::process::id())
}

/// In the first process: waits until all others have connected, the first time. Returns those near it.
///
/// # Errors
/// If a process does not arrive, or has died.
pub(crate) fn meet(place: &Launched) -> Result<Near, String> {
    let others = OTHERS.get_or_init(|| lead(place)).as_ref().map_err(String::clone)?;
    if !own_process() {
        return Err("this process is a fork of the first process: build the runtime there".to_owned());
    }
    Ok(lock(others).near[0])
}

/// Makes the memory of a runtime that the processes near the first one share with it, if there are any.
///
/// # Errors
/// The reason, if there is too little.
pub(crate) fn memory(shape: &Shape) -> Result<Option<File>, String> {
    (shape.near.processes > 1).then(|| make_memory(shape.segment_bytes())).transpose()
}

/// In the first process: builds the parts of a runtime in all others, and joins it. The others have been
/// [met](meet), and have this memory.
///
/// # Errors
/// If a process has died or cannot build its part.
pub(crate) fn build(shape: Shape, settings: Vec<u8>, memory: Option<File>) -> Result<(Remote, Joined), String> {
    let Some(others) = others() else { unreachable!("the processes have met") };
    let Shape { processes: size, workers, .. } = shape;
    let bytes = shape.segment_bytes();
    let segment = memory.as_ref().map_or_else(|| own_memory(bytes), |memory| map(memory, bytes))?;
    // Dropped on an error, it drops the parts that have been built.
    let counts = Counts { workers: vec![Stats::default(); workers], choices: Vec::new() };
    let mut remote = Remote { runtime: 0, ended: false, counts: Mutex::new(vec![counts; size - 1]) };
    let mut others = lock(others);
    let runtime = others.next;
    others.next += 1;
    remote.runtime = runtime;
    let shape_of = |rank: usize, near: &[Near]| Shape { rank, near: near[rank], ..shape };
    let near = others.near.clone();
    // By the first process of each host: where the memory is.
    let mut paths: BTreeMap<usize, String> = memory.iter().map(|memory| (0, path(memory))).collect();
    let makes = |rank: usize| near[rank].first == rank && near[rank].processes > 1;
    let make = |rank| Command::Memory { bytes: shape_of(rank, &near).segment_bytes() };
    for (rank, reply) in others.ask(|rank| makes(rank).then(|| make(rank))) {
        match reply? {
            Reply::Memory(Ok(path)) => drop(paths.insert(rank, path)),
            Reply::Memory(Err(error)) => {
                let bytes = shape_of(rank, &near).segment_bytes();
                return Err(format!("process {rank} cannot share {bytes} bytes with others of its host: {error}"));
            }
            _ => return Err(format!("process {rank} gives a wrong answer")),
        }
    }
    let build = |rank: usize| {
        let memory = paths.get(&near[rank].first).cloned();
        Command::Build { runtime, settings: settings.clone(), shape: (size, workers), near: near[rank], memory }
    };
    let replies = others.ask(|rank| Some(build(rank)));
    drop(others);
    for (rank, reply) in replies {
        match reply? {
            Reply::Built(Ok(())) => {}
            Reply::Built(Err(error)) => return Err(format!("process {rank}: {error}")),
            _ => return Err(format!("process {rank} gives a wrong answer")),
        }
    }
    let joined = join(shape, &segment, wire(runtime, &shape), None);
    let mut parts = lock(&PARTS);
    parts.retain(|part| part.strong_count() > 0);
    parts.push(joined.0.me.clone());
    drop(parts);
    match DIED.get() {
        Some(died) => Err(died.to_string()),
        None => Ok((remote, joined)),
    }
}

/// Returns the connections of the first process; `None` in a fork.
fn others() -> Option<&'static Mutex<Others>> {
    OTHERS.get()?.as_ref().ok().filter(|_| own_process())
}

impl Others {
    /// Sends commands by process, and returns the replies, or errors for the processes that have died.
    fn ask(&mut self, command: impl Fn(usize) -> Option<Command>) -> Vec<(usize, Result<Reply, String>)> {
        let ask = |(at, stream)| {
            // A command that cannot be sent has no reply.
            command(at + 1).map(|command| drop(write_to(stream, &command))).map(|()| at + 1)
        };
        let asked: Vec<_> = self.streams.iter().enumerate().filter_map(ask).collect();
        asked.into_iter().map(|rank| (rank, self.reply(rank))).collect()
    }

    /// Receives the next reply of a process.
    fn reply(&self, rank: usize) -> Result<Reply, String> {
        let died = || DIED.get().map_or_else(|| format!("process {rank} has died"), ProcessDied::to_string);
        self.replies[rank - 1].recv().map_err(|_| died())
    }
}

impl Remote {
    /// Returns the counts of each of the other processes: of one that has died, the last ones known.
    pub(crate) fn counts(&self) -> Vec<Counts> {
        let Some(others) = others() else { return lock(&self.counts).clone() };
        // Locked together, so that no older answer replaces a later one.
        let mut known = lock(&self.counts);
        let replies = lock(others).ask(|_| Some(Command::Count { runtime: self.runtime }));
        for (known, (_, reply)) in known.iter_mut().zip(replies) {
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
        let replies = lock(others).ask(|_| Some(Command::Drop { runtime: self.runtime }));
        replies.into_iter().map(|(_, reply)| if let Ok(Reply::Dropped(left)) = reply { left } else { 0 }).sum()
    }
}

impl Drop for Remote {
    fn drop(&mut self) {
        self.end_once();
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn domains(hosts: &str) -> Vec<String> {
        hosts.chars().map(String::from).collect()
    }

    #[test]
    fn consecutive_processes_of_a_host_are_near() {
        let runs =
            |hosts| near(&domains(hosts)).into_iter().map(|near| (near.first, near.processes)).collect::<Vec<_>>();
        assert_eq!(runs("aaab"), [(0, 3), (0, 3), (0, 3), (3, 1)]);
        assert_eq!(runs("abab"), [(0, 1), (1, 1), (2, 1), (3, 1)]);
        assert_eq!(runs("abba"), [(0, 1), (1, 2), (1, 2), (3, 1)]);
        assert!(are_interleaved(&domains("abab")) && are_interleaved(&domains("abba")));
        assert!(!are_interleaved(&domains("aaab")) && !are_interleaved(&domains("abc")));
    }
}
