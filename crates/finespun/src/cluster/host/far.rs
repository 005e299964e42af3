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

/// Number of tags of bundles, by runtime. As many more are for the rests of long bundles. MPI has at least 32,768.
const TAGS: u16 = 16_000;

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
        match TcpStream::connect_timeout(address, ANSWER).and_then(Stream::over_tcp) {
            Ok(stream) => return Ok((stream, meeting)),
            Err(error) => last = format!("{address}: {error}"),
        }
    }
    Err(format!("process 0 cannot be reached ({last}): its host must allow connections from this one"))
}

/// Returns the wire of a runtime.
pub(super) fn wire(runtime: u32) -> Option<Box<dyn Wire>> {
    let exchange = Exchange::lent()?;
    let tag = (runtime % u32::from(TAGS)) as u16;
    let (sent, posted) = (Vec::new(), VecDeque::new());
    let wire = MpiWire { exchange, tag, sent, posted, rest: None, ends: 0, ended: false };
    Some(Box::new(wire))
}

/// Ends MPI, if it has been started, together with all other processes.
pub(super) fn end() {
    if let Some(exchange) = Exchange::lent() {
        // The process ends anyway.
        let _ = exchange.end();
    }
}

/// Carries the bundles of one runtime by MPI's two-sided messages. Its one-sided operations are slower between hosts: over TCP,
/// MPICH takes 7.6 us for a swap and 12 us for a put (`finespun-floors`), so a queue in the receiver's memory would take 20 us for
/// what a send takes 3.4 us for, and the receiver would have to call MPI as often.
///
/// An empty message is the last one of its sender. The processes end a wire together, when the first has the others drop
/// their parts of the runtime: it sends its last messages before, and receives theirs afterwards.
struct MpiWire {
    exchange: &'static Exchange,
    tag: u16,
    /// Bundles that MPI has not taken over as a whole.
    sent: Vec<UnderWay>,
    /// Receives that wait for bundles, in the order in which these will be delivered.
    posted: VecDeque<UnderWay>,
    /// The sender of a long bundle, its beginning, and its rest, if that has begun to arrive.
    rest: Option<(usize, Vec<u8>, Option<UnderWay>)>,
    /// The number of processes that have sent their last message.
    ends: usize,
    /// Whether this process has.
    ended: bool,
}

/// Time that the others have to send their last messages.
const LAST: Duration = Duration::from_secs(1);

/// The number of receives that wait for bundles.
const POSTED: usize = 16;
/// Their room. A bundle with as many bytes or more travels as two messages: this many bytes, and the rest, which may be
/// empty.
const ROOM_EACH: usize = 1 << 13;

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

    /// Receives the rest of a long bundle.
    fn receive_rest(&mut self) -> Result<Option<(usize, Vec<u8>)>, String> {
        let Some((from, _, rest)) = &mut self.rest else { return Ok(None) };
        if rest.is_none() {
            *rest = Self::unless_ended(self.exchange.begin_receive_of(*from, self.tag + TAGS))?;
        }
        let Some(arriving) = rest else { return Ok(None) };
        if !Self::unless_ended(self.exchange.is_done(arriving))? {
            return Ok(None);
        }
        let whole = self.rest.take().and_then(|(from, mut bundle, rest)| {
            bundle.extend_from_slice(&rest?.into_message().1);
            Some((from, bundle))
        });
        Ok(whole)
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
    fn send(&mut self, to: usize, mut bundle: Vec<u8>) -> Result<(), String> {
        if bundle.len() > i32::MAX as usize {
            return Err(format!("messages of {} bytes, but MPI carries at most 2 GiB at once", bundle.len()));
        }
        let rest = (bundle.len() >= ROOM_EACH).then(|| bundle.split_off(ROOM_EACH));
        let begin = |tag, bytes| Self::unless_ended(self.exchange.begin_send(to, tag, bytes).map(Some));
        self.sent.extend(begin(self.tag, bundle)?);
        if let Some(rest) = rest {
            self.sent.extend(begin(self.tag + TAGS, rest)?);
        }
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
        loop {
            if self.rest.is_some() {
                return self.receive_rest();
            }
            while self.posted.len() < POSTED {
                let posted = self.exchange.begin_receive(self.tag, ROOM_EACH).map(Some);
                let Some(posted) = Self::unless_ended(posted)? else { return Ok(None) };
                self.posted.push_back(posted);
            }
            // Only the first is asked: MPI matches them in order.
            if !Self::unless_ended(self.exchange.is_done(&mut self.posted[0]))? {
                return Ok(None);
            }
            let arrived = self.posted.pop_front().map(UnderWay::into_message);
            match arrived {
                Some((_, bundle)) if bundle.is_empty() => self.ends += 1,
                Some((from, bundle)) if bundle.len() == ROOM_EACH => self.rest = Some((from, bundle, None)),
                arrived => return Ok(arrived),
            }
        }
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
        for posted in self.posted.drain(..) {
            // The process ends anyway.
            let _ = self.exchange.take_back(posted);
        }
    }
}
