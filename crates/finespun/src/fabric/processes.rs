//! The fabric of processes: workers of several processes of one host, with messages as bytes in memory that they share.
//!
//! A [`Link`] is an endpoint of a [`push`] net in a [`Segment`](super::placed::Segment). A ring entry carries up to [`ROOM`] bytes of a message;
//! a longer message takes several entries. The link keeps messages, or the rest of one, that have not found room yet, and
//! sends them when the sender polls. Each message of a sender comes after all of the one before.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;
use std::ptr::NonNull;

use zerocopy::IntoBytes;

use super::buffers;
use super::placed::Placement;
use super::push;
use super::wire::Way;
use crate::atomics::{AtomicU64, Ordering};

/// Words in a ring entry. The first holds the number of bytes of the message from this entry on.
const WORDS: usize = 14;
type Piece = [u64; WORDS];
/// Bytes of a message in a ring entry.
const ROOM: usize = (WORDS - 1) * size_of::<u64>();

/// Entries that one worker may have in flight to another, with few workers. With 64, a ring is often full, and one way takes 11 to
/// 15 million messages a second instead of 17; with 256 no more.
const SHARE: usize = 128;
/// Entries of a ring that all senders share, with many workers.
const RING: usize = 4096;

fn share(workers: usize) -> u32 {
    (RING / workers).clamp(4, SHARE) as u32
}

/// The rest of a message, from the byte at `at`.
struct Rest {
    bytes: Vec<u8>,
    at: usize,
}

/// An endpoint for bytes. Used by one thread at a time, except for [`waits`](Link::waits) and the counts.
pub(crate) struct Link {
    ring: push::Node<Piece>,
    /// The way to ends in processes that share no memory with this one.
    way: Option<Way>,
    /// By receiver: messages, or the rest of one, without room yet. Not empty.
    unsent: RefCell<BTreeMap<usize, VecDeque<Rest>>>,
    /// The number of messages in `unsent`.
    kept: Cell<usize>,
    /// By sender: the beginning of a message whose rest has not arrived.
    begun: Box<[RefCell<Vec<u8>>]>,
    /// By other end: whether it has got a message from here, or this one a part of its message, since it has been
    /// nudged: see [`awaited`](Link::awaited).
    touched: Box<[Cell<bool>]>,
    /// Messages sent and received so far.
    sent: AtomicU64,
    received: AtomicU64,
}

/// Returns the number of bytes that [`links`] places, for `near` ends of processes that share memory.
pub(crate) fn placed_bytes(ends: usize, near: usize) -> usize {
    push::placed_bytes::<Piece>(ends, near, share(ends))
}

/// Creates the links `own` of a net of `ends`, and those outside `near`, which are in processes that share no memory with
/// this one: their messages are delivered by them. Returns both; the latter by their numbers. Each near process calls this
/// with the same arguments but `own`.
///
/// # Panics
/// If fewer than [`placed_bytes`] are left.
pub(crate) fn links(
    ends: usize,
    near: &Range<usize>,
    own: &Range<usize>,
    placement: &mut Placement,
) -> (Vec<Link>, Vec<Option<Link>>) {
    let link = |ring| Link {
        ring,
        way: None,
        unsent: RefCell::new(BTreeMap::new()),
        kept: Cell::new(0),
        begun: (0..ends).map(|_| RefCell::new(Vec::new())).collect(),
        touched: (0..ends).map(|_| Cell::new(false)).collect(),
        sent: AtomicU64::new(0),
        received: AtomicU64::new(0),
    };
    let is_here = |end| own.contains(&end) || !near.contains(&end);
    let rings = push::nodes_in(ends, near.clone(), share(ends), placement, is_here);
    let mut far: Vec<_> = rings.into_iter().map(|ring| ring.map(link)).collect();
    (own.clone().filter_map(|end| far[end].take()).collect(), far)
}

/// Adds one to a count that only this thread changes.
fn count(count: &AtomicU64) {
    // Relaxed, both: read while the worker is parked, which orders it.
    count.store(count.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
}

impl Link {
    /// Sets the way to ends in processes that share no memory with this one.
    pub(crate) fn set_way(&mut self, way: Way) {
        self.way = Some(way);
    }

    /// Sends a message, now or when there is room. Returns whether its beginning has been sent.
    #[inline]
    pub(crate) fn send(&self, to: usize, bytes: Vec<u8>) -> bool {
        count(&self.sent);
        self.touched[to].set(true);
        let direct = bytes.len() <= ROOM && !self.holds() && self.way_to(to).is_none();
        // SAFETY: `write` writes the beginning of the piece, and any bytes make one.
        if direct && unsafe { self.ring.send_in_place(to, |place| write(place, &bytes)) } {
            buffers::give_back(bytes);
            return true;
        }
        self.send_slowly(to, bytes)
    }

    /// Returns the way to an end, if that is in a process that shares no memory with this one.
    #[inline]
    fn way_to(&self, end: usize) -> Option<&Way> {
        self.way.as_ref().filter(|way| way.leads_to(end))
    }

    #[cold]
    fn send_slowly(&self, to: usize, bytes: Vec<u8>) -> bool {
        let mut rest = Rest { bytes, at: 0 };
        let behind = self.holds() && self.unsent.borrow().contains_key(&to);
        if !behind && self.send_rest(to, &mut rest) {
            buffers::give_back(rest.bytes);
            return true;
        }
        let begun = rest.at > 0;
        self.keep(to, rest);
        begun
    }

    /// Sends as much of the rest as there is room for. Returns whether that is all.
    fn send_rest(&self, to: usize, rest: &mut Rest) -> bool {
        if let Some(way) = self.way_to(to) {
            return way.send(to, &rest.bytes);
        }
        loop {
            // SAFETY: `write` writes the beginning of the piece, and any bytes make one.
            if !unsafe { self.ring.send_in_place(to, |place| write(place, &rest.bytes[rest.at..])) } {
                return false;
            }
            rest.at += ROOM;
            if rest.at >= rest.bytes.len() {
                return true;
            }
        }
    }

    #[cold]
    fn keep(&self, to: usize, rest: Rest) {
        self.unsent.borrow_mut().entry(to).or_default().push_back(rest);
        self.kept.set(self.kept.get() + 1);
    }

    /// Returns the number of messages that have not been sent as a whole.
    #[inline]
    pub(crate) fn kept(&self) -> usize {
        self.kept.get()
    }

    /// Returns whether messages wait for room.
    #[inline]
    pub(crate) fn holds(&self) -> bool {
        self.kept.get() > 0
    }

    /// Sends what there is room for now, and calls `poke` with the receiver of each message that has been sent. Returns
    /// whether it sent any.
    pub(crate) fn flush(&self, mut poke: impl FnMut(usize)) -> bool {
        if !self.holds() {
            return false;
        }
        let mut some = false;
        self.unsent.borrow_mut().retain(|&to, queue| {
            while let Some(rest) = queue.front_mut() {
                let before = rest.at;
                let whole = self.send_rest(to, rest);
                if whole || rest.at > before {
                    some = true;
                    poke(to);
                }
                if !whole {
                    return true;
                }
                if let Some(rest) = queue.pop_front() {
                    buffers::give_back(rest.bytes);
                }
                self.kept.set(self.kept.get() - 1);
            }
            false
        });
        some
    }

    /// Passes the next message, with its sender, to `body`, if it has arrived as a whole.
    #[inline]
    pub(crate) fn receive<R>(&self, body: impl FnOnce(usize, &[u8]) -> R) -> Option<R> {
        let mut short = [0; WORDS - 1];
        loop {
            // SAFETY: the piece has no destructor.
            let arrived = unsafe {
                self.ring.receive_with(|from, piece| {
                    // A piece without a sender is forged.
                    let mut begun = self.begun.get(from)?.borrow_mut();
                    let left = length(piece);
                    if left <= ROOM && begun.is_empty() {
                        copy(piece, &mut short[..left.div_ceil(size_of::<u64>())]);
                        return Some((from, left, None));
                    }
                    begun.extend_from_slice(content(&piece));
                    if left > ROOM {
                        self.touched[from].set(true);
                        return None;
                    }
                    Some((from, left, Some(std::mem::replace(&mut *begun, buffers::take()))))
                })
            }?;
            let Some((from, left, long)) = arrived else { continue };
            count(&self.received);
            return Some(match long {
                None => body(from, &short.as_bytes()[..left]),
                Some(bytes) => {
                    let done = body(from, &bytes);
                    buffers::give_back(bytes);
                    done
                }
            });
        }
    }

    /// Returns whether anything has arrived; any thread may ask.
    #[inline]
    pub(crate) fn arrived(&self) -> bool {
        self.ring.waits()
    }

    /// Returns whether anything has arrived or is being sent; any thread may ask.
    #[inline]
    pub(crate) fn waits(&self) -> bool {
        self.ring.expects()
    }

    /// Calls `nudge` with each other end that this one may wait for: it has got messages, or has sent only parts of one,
    /// since `nudge` last returned true for it, or has had no room.
    pub(crate) fn awaited(&self, nudge: &mut dyn FnMut(u32) -> bool) {
        self.unsent.borrow().keys().for_each(|&to| self.touched[to].set(true));
        for (other, touched) in self.touched.iter().enumerate() {
            if touched.get() && nudge(other as u32) {
                touched.set(false);
            }
        }
    }

    pub(crate) fn watch(&self) -> Watch {
        Watch(self.ring.watch())
    }

    /// Returns the number of messages sent and the number received so far. While another thread uses the link, an
    /// approximation.
    pub(crate) fn traffic(&self) -> (u64, u64) {
        (self.sent.load(Ordering::Relaxed), self.received.load(Ordering::Relaxed))
    }
}

/// Says whether anything has arrived at a link; any thread may ask.
pub(crate) struct Watch(push::Watch<Piece>);

impl Watch {
    #[inline]
    pub(crate) fn waits(&self) -> bool {
        self.0.waits()
    }
}

/// Writes the beginning of `bytes` to a piece, as far as it has room.
fn write(piece: NonNull<Piece>, bytes: &[u8]) {
    let here = bytes.len().min(ROOM);
    let words = piece.cast::<u64>();
    // SAFETY: the piece is valid, and no other thread accesses it now.
    unsafe { words.write(bytes.len() as u64) };
    // SAFETY: the piece has room for `ROOM` bytes behind its first word.
    unsafe { words.add(1).cast::<u8>().copy_from_nonoverlapping(NonNull::from(bytes).cast(), here) };
}

/// Returns the number of bytes of the message from this piece on.
fn length(piece: NonNull<Piece>) -> usize {
    // SAFETY: any bytes make a word. Volatile: a process that forges messages may write at any time, so what has been checked
    // must be what is used.
    unsafe { piece.cast::<u64>().read_volatile() as usize }
}

/// Copies the words behind the first.
fn copy(piece: NonNull<Piece>, to: &mut [u64]) {
    for (at, word) in to.iter_mut().enumerate() {
        // SAFETY: the piece has more words than `to`, and any bytes make one.
        *word = unsafe { piece.cast::<u64>().add(1 + at).read() };
    }
}

/// Returns the bytes in a piece.
fn content(piece: &NonNull<Piece>) -> &[u8] {
    let here = length(*piece).min(ROOM);
    // SAFETY: the piece has room for that many bytes, and no other thread accesses it now.
    unsafe { std::slice::from_raw_parts(piece.cast::<u64>().add(1).cast::<u8>().as_ptr(), here) }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::fabric::placed::Segment;
    use std::sync::Arc;
    use std::thread;

    const ENDS: usize = 3;

    /// The bytes of message `number`: of many lengths, some of which need more entries than a ring has.
    fn bytes(from: usize, number: usize) -> Vec<u8> {
        let length = match number % 50 {
            7 => 50_000,
            other => other * 11 % 300,
        };
        (0..length).map(|at| (at * 31 + number * 7 + from) as u8).collect()
    }

    #[test]
    fn messages_of_any_length_arrive_in_order() {
        let segment = Arc::new(Segment::private(placed_bytes(ENDS, ENDS)));
        let links = |own| links(ENDS, &(0..ENDS), &(own..own + 1), &mut Placement::shared(&segment)).0;
        let all = (0..ENDS).flat_map(links);
        thread::scope(|scope| {
            for (own, link) in all.enumerate() {
                scope.spawn(move || {
                    const EACH: usize = 400;
                    let (mut sent, mut received) = ([0; ENDS], [0; ENDS]);
                    while sent != [EACH; ENDS] || received != [EACH; ENDS] || link.holds() {
                        for (to, sent) in sent.iter_mut().enumerate().filter(|(_, sent)| **sent < EACH) {
                            let number = *sent;
                            // Some senders wait for room, and some do not.
                            if number.is_multiple_of(3) || !link.holds() {
                                link.send(to, bytes(own, number));
                                *sent += 1;
                            }
                        }
                        link.flush(|_| {});
                        let some = link.receive(|from, message| {
                            assert!(message == bytes(from, received[from]), "{} from {from}", received[from]);
                            received[from] += 1;
                        });
                        if some.is_none() {
                            thread::yield_now();
                        }
                    }
                    assert_eq!(link.traffic(), ((ENDS * EACH) as u64, (ENDS * EACH) as u64));
                });
            }
        });
    }
}
