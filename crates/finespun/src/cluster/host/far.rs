//! Processes that share no memory, mostly since they are on several hosts: they meet by MPI, which carries their messages.
//!
//! By MPI the first process tells the others where it listens for connections, and a secret, which each must know: any
//! program of the network may connect.

use std::collections::VecDeque;
use std::fs::File;
use std::io::Read;
use std::mem::ManuallyDrop;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream};
use std::time::{Duration, Instant};

use finespun_mpi::exchange::{Exchange, UnderWay};
use finespun_mpi::launcher::{Launched, Launcher};
use finespun_mpi::world::{Error, World};
use serde::{Deserialize, Serialize};

use super::Secret;
use super::stream::Stream;
use crate::fabric::wire::Wire;
use crate::message::identity;

/// Bytes in which the first process says where it listens.
const ROOM: usize = 4096;
/// Time that an address of the first process has to answer.
const ANSWER: Duration = Duration::from_secs(2);

/// Tags of messages, by runtime. Fewer than MPI has at least.
const TAGS: u32 = 32_000;

/// Where the first process listens.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Meeting {
    addresses: Vec<SocketAddr>,
    pub(super) secret: Secret,
    /// The id of the first process.
    pub(super) pid: u32,
}

/// Starts MPI, which waits for all processes.
fn start(place: &Launched) -> Result<&'static Exchange, String> {
    if place.by == Launcher::Told {
        return Err(
            "processes that share no memory exchange messages by MPI: start them by mpirun, or let them share \
                    memory (FINESPUN_MPI_SHM=on) on one host"
                .to_owned(),
        );
    }
    // The program may use MPI, too.
    let exchange = match Exchange::lent() {
        Some(exchange) => exchange,
        None => {
            let world = World::start(identity::build().into()).map_err(|error| error.to_string())?;
            Exchange::lend(&ManuallyDrop::new(world))
        }
    };
    if (exchange.rank(), exchange.size()) != (place.rank, place.size) {
        return Err(format!(
            "{} says that this is process {} of {}, and MPI that it is {} of {}",
            place.by,
            place.rank,
            place.size,
            exchange.rank(),
            exchange.size()
        ));
    }
    Ok(exchange)
}

/// In the first process: starts MPI, listens, and tells the others where.
pub(super) fn listen(place: &Launched) -> Result<(TcpListener, Meeting), String> {
    let exchange = start(place)?;
    let failed = |error: std::io::Error| format!("this process cannot listen for the others: {error}");
    // Both versions of the protocol, if the system has the later one.
    let listener =
        TcpListener::bind((Ipv6Addr::UNSPECIFIED, 0)).or_else(|_| TcpListener::bind((Ipv4Addr::UNSPECIFIED, 0)));
    let listener = listener.map_err(failed)?;
    let port = listener.local_addr().map_err(failed)?.port();
    let interfaces = if_addrs::get_if_addrs().map_err(failed)?;
    // A process of another host may be at the end of its own loopback, but it has another secret.
    let mut addresses: Vec<IpAddr> = interfaces.iter().map(if_addrs::Interface::ip).collect();
    addresses.sort_by_key(|address| (address.is_loopback(), address.is_ipv6()));
    let addresses = addresses.into_iter().map(|address| SocketAddr::new(address, port)).collect();
    let mut secret = Secret::default();
    File::open("/dev/urandom").and_then(|mut random| random.read_exact(&mut secret)).map_err(failed)?;
    let meeting = Meeting { addresses, secret, pid: std::process::id() };
    let mut bytes = postcard::to_allocvec(&meeting).map_err(|error| error.to_string())?;
    if bytes.len() > ROOM {
        return Err(format!("this host has too many addresses ({})", meeting.addresses.len()));
    }
    bytes.resize(ROOM, 0);
    exchange.broadcast(0, &mut bytes).map_err(|error| error.to_string())?;
    Ok((listener, meeting))
}

/// In another process: starts MPI, and connects to the first process.
pub(super) fn connect(place: &Launched) -> Result<(Stream, Meeting), String> {
    let mut bytes = vec![0; ROOM];
    start(place)?.broadcast(0, &mut bytes).map_err(|error| error.to_string())?;
    let meeting: Meeting = postcard::from_bytes(&bytes).map_err(|error| format!("process 0 says nothing: {error}"))?;
    let mut last = "it has no address".to_owned();
    for address in &meeting.addresses {
        match TcpStream::connect_timeout(address, ANSWER).and_then(|stream| stream.set_nodelay(true).map(|()| stream)) {
            Ok(stream) => return Ok((Stream::Tcp(stream), meeting)),
            Err(error) => last = format!("{address}: {error}"),
        }
    }
    Err(format!("process 0 cannot be reached ({last}): its host must allow connections from this one"))
}

/// Returns the wire of a runtime.
pub(super) fn wire(runtime: u32) -> Option<Box<dyn Wire>> {
    let exchange = Exchange::lent()?;
    let tag = (runtime % TAGS) as u16;
    let wire = MpiWire { exchange, tag, sent: Vec::new(), arriving: VecDeque::new(), ends: 0, ended: false };
    Some(Box::new(wire))
}

/// Ends MPI, if it has been started, together with all other processes.
pub(super) fn end() {
    if let Some(exchange) = Exchange::lent() {
        // The process ends anyway.
        let _ = exchange.end();
    }
}

/// Carries the bundles of one runtime by MPI's two-sided messages.
///
/// An empty message is the last one of its sender. The processes end a wire together, when the first has the others drop
/// their parts of the runtime: it sends its last messages before, and receives theirs afterwards.
struct MpiWire {
    exchange: &'static Exchange,
    tag: u16,
    /// Bundles that MPI has not taken over as a whole.
    sent: Vec<UnderWay>,
    /// Bundles that are arriving, in the order in which they will be delivered.
    arriving: VecDeque<UnderWay>,
    /// The number of processes that have sent their last message.
    ends: usize,
    /// Whether this process has.
    ended: bool,
}

/// Time that the others have to send their last messages.
const LAST: Duration = Duration::from_secs(1);

/// Bundles that may be arriving at once.
const ARRIVING: usize = 16;

impl MpiWire {
    /// Receives until all others have sent their last message, and this one's have been sent.
    fn drain(&mut self) {
        let begun = Instant::now();
        while (self.ends + 1 < self.exchange.size() || !self.sent.is_empty()) && begun.elapsed() < LAST {
            match self.receive() {
                Ok(Some(_)) => {}
                Ok(None) => std::thread::sleep(Duration::from_micros(50)),
                Err(_) => return,
            }
        }
    }

    /// Returns nothing if this process is ending.
    fn unless_ended<T: Default>(result: Result<T, Error>) -> Result<T, String> {
        match result {
            Err(Error::Ended) => Ok(T::default()),
            other => other.map_err(|error| error.to_string()),
        }
    }
}

impl Wire for MpiWire {
    fn send(&mut self, to: usize, bundle: Vec<u8>) -> Result<(), String> {
        let sent = self.exchange.begin_send(to, self.tag, bundle).map(Some);
        self.sent.extend(Self::unless_ended(sent)?);
        Ok(())
    }

    fn receive(&mut self) -> Result<Option<(usize, Vec<u8>)>, String> {
        let mut at = 0;
        while let Some(message) = self.sent.get_mut(at) {
            if Self::unless_ended(self.exchange.is_done(message))? {
                self.sent.swap_remove(at);
            } else {
                at += 1;
            }
        }
        if self.arriving.len() < ARRIVING {
            self.arriving.extend(Self::unless_ended(self.exchange.begin_receive(self.tag))?);
        }
        while let Some(first) = self.arriving.front_mut() {
            if !Self::unless_ended(self.exchange.is_done(first))? {
                break;
            }
            match self.arriving.pop_front().map(UnderWay::into_message) {
                Some((_, bundle)) if bundle.is_empty() => self.ends += 1,
                arrived => return Ok(arrived),
            }
        }
        Ok(None)
    }

    fn end(&mut self) {
        self.ended = true;
        let own = self.exchange.rank();
        for to in (0..self.exchange.size()).filter(|to| *to != own) {
            // A process that has died needs none.
            let _ = self.send(to, Vec::new());
        }
        if own > 0 {
            self.drain();
        }
    }
}

impl Drop for MpiWire {
    fn drop(&mut self) {
        if self.ended && self.exchange.rank() == 0 {
            self.drain();
        }
    }
}
