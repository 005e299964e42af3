//! Between processes that share no memory: messages wait here, by receiving process, and travel in *bundles*.
//!
//! A worker does not send a message to another host by itself, which would take microseconds: it appends it to what waits
//! for the receiver's process ([`Outgoing`]). A thread of the process sends all that waits there at once, as one bundle
//! over a [`Wire`]: while earlier bundles are under way, later messages are aggregated. `cluster/carrier.rs` does this, and
//! passes on what arrives.
//!
//! A bundle is a sequence of entries: four words of 32 bits ([`Entry`]), and the bytes of a message.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::{Arc, Mutex};

use super::notice::Notice;
use crate::atomics::lock_std as lock;

/// Bytes that wait for one process, at which no more messages are accepted.
const MOST: usize = 1 << 18;

/// The beginning of each entry of a bundle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) kind: u32,
    /// The sender: a worker or a process, by kind.
    pub(crate) from: u32,
    /// The receiver: a worker or a process, by kind.
    pub(crate) to: u32,
    /// The number of bytes of the message behind this entry.
    pub(crate) length: u32,
}

impl Entry {
    pub(crate) fn append_to(self, bundle: &mut Vec<u8>) {
        let words = [self.kind, self.from, self.to, self.length];
        words.iter().for_each(|word| bundle.extend_from_slice(&word.to_le_bytes()));
    }

    /// Splits the first entry, and its bytes, off a bundle. `None` at the end, and if the rest is no entry.
    pub(crate) fn split_off<'b>(bundle: &mut &'b [u8]) -> Option<(Entry, &'b [u8])> {
        let mut rest = *bundle;
        let mut word = || {
            let (word, behind) = rest.split_first_chunk()?;
            rest = behind;
            Some(u32::from_le_bytes(*word))
        };
        let entry = Entry { kind: word()?, from: word()?, to: word()?, length: word()? };
        let (bytes, rest) = rest.split_at_checked(entry.length as usize)?;
        *bundle = rest;
        Some((entry, bytes))
    }
}

/// Kinds of entries: messages of a worker's [`Link`](super::processes::Link), and messages of a team's.
pub(crate) const OF_WORKERS: u32 = 0;
pub(crate) const OF_TEAMS: u32 = 1;

/// By process: the entries of its next bundle.
pub(crate) struct Outgoing {
    waiting: Box<[Mutex<Vec<u8>>]>,
    /// Posted when something begins to wait.
    loaded: Notice,
    /// Called then.
    call: Option<Box<dyn Fn() + Send + Sync>>,
}

impl Outgoing {
    /// Creates the waiting entries for this number of processes. `call` is called when something begins to wait.
    pub(crate) fn new(processes: usize, call: Option<Box<dyn Fn() + Send + Sync>>) -> Outgoing {
        let waiting = (0..processes).map(|_| Mutex::new(Vec::new())).collect();
        Outgoing { waiting, loaded: Notice::new(), call }
    }

    /// Adds an entry, with these bytes behind it, to what waits for `process`.
    pub(crate) fn push(&self, process: usize, kind: u32, from: usize, to: usize, bytes: &[u8]) {
        self.push_below(usize::MAX, process, kind, from, to, bytes);
    }

    /// The same, but returns false, and adds nothing, if `most` bytes wait, or more.
    fn push_below(&self, most: usize, process: usize, kind: u32, from: usize, to: usize, bytes: &[u8]) -> bool {
        let mut waiting = lock(&self.waiting[process]);
        if waiting.len() >= most {
            return false;
        }
        let length = u32::try_from(bytes.len()).expect("a message has less than 4 GiB");
        let entry = Entry { kind, from: from as u32, to: to as u32, length };
        entry.append_to(&mut waiting);
        waiting.extend_from_slice(bytes);
        drop(waiting);
        self.loaded.post();
        if let Some(call) = &self.call {
            call();
        }
        true
    }

    /// Returns whether something may wait.
    pub(crate) fn is_loaded(&self) -> bool {
        self.loaded.is_posted()
    }

    /// Does the same; then false until something is pushed again.
    pub(crate) fn take_loaded(&self) -> bool {
        self.loaded.take()
    }

    /// Moves what waits for `process` to the end of `bundle`. Returns whether that is anything.
    pub(crate) fn take(&self, process: usize, bundle: &mut Vec<u8>) -> bool {
        let mut waiting = lock(&self.waiting[process]);
        let any = !waiting.is_empty();
        bundle.append(&mut waiting);
        any
    }

    /// Returns whether something waits for `process`.
    pub(crate) fn waits(&self, process: usize) -> bool {
        !lock(&self.waiting[process]).is_empty()
    }
}

/// The way of a link to the ends of its net that are in other processes.
pub(crate) struct Way {
    outgoing: Arc<Outgoing>,
    kind: u32,
    /// This end.
    index: usize,
    /// The ends that share memory with this one.
    near: Range<usize>,
    /// The number of ends in each process.
    each: usize,
}

impl Way {
    pub(crate) fn new(outgoing: &Arc<Outgoing>, kind: u32, index: usize, near: Range<usize>, each: usize) -> Way {
        Way { outgoing: Arc::clone(outgoing), kind, index, near, each }
    }

    /// Returns whether an end shares no memory with this one.
    #[inline]
    pub(crate) fn leads_to(&self, end: usize) -> bool {
        !self.near.contains(&end)
    }

    /// Sends a message to an end that shares no memory with this one. Returns false if too much waits.
    pub(crate) fn send(&self, to: usize, bytes: &[u8]) -> bool {
        self.outgoing.push_below(MOST, to / self.each, self.kind, self.index, to, bytes)
    }
}

/// Carries bundles between processes. Those from one process to another arrive in the order in which they were sent.
pub(crate) trait Wire: Send {
    /// Begins to send a bundle. Never waits for the receiver.
    ///
    /// # Errors
    /// A text, if the wire has failed.
    fn send(&mut self, to: usize, bundle: Vec<u8>) -> Result<(), String>;

    /// Returns the next bundle that has arrived, with its sender.
    ///
    /// # Errors
    /// A text, if the wire has failed.
    fn receive(&mut self) -> Result<Option<(usize, Vec<u8>)>, String>;

    /// Nothing is sent or received any more, here or elsewhere: bundles that are under way are dropped.
    fn end(&mut self) {}
}

/// A wire between the parts of a runtime that are all in one process: for tests.
pub(crate) struct LocalWire {
    rank: usize,
    /// By receiver.
    queues: Arc<[Mutex<Arrived>]>,
}

/// Bundles, with their senders.
type Arrived = VecDeque<(usize, Vec<u8>)>;

impl LocalWire {
    /// Returns the ends of a wire between so many processes.
    pub(crate) fn ends(processes: usize) -> Vec<LocalWire> {
        let queues: Arc<[_]> = (0..processes).map(|_| Mutex::new(VecDeque::new())).collect();
        (0..processes).map(|rank| LocalWire { rank, queues: Arc::clone(&queues) }).collect()
    }
}

impl Wire for LocalWire {
    fn send(&mut self, to: usize, bundle: Vec<u8>) -> Result<(), String> {
        lock(&self.queues[to]).push_back((self.rank, bundle));
        Ok(())
    }

    fn receive(&mut self) -> Result<Option<(usize, Vec<u8>)>, String> {
        Ok(lock(&self.queues[self.rank]).pop_front())
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn what_waits_travels_in_order() {
        let outgoing = Arc::new(Outgoing::new(3, None));
        let way = Way::new(&outgoing, OF_WORKERS, 1, 0..2, 2);
        assert!(way.leads_to(4) && !way.leads_to(1));
        assert!(way.send(4, b"one") && way.send(5, b"") && way.send(3, b"other"));
        assert!(outgoing.take_loaded() && !outgoing.take_loaded());
        let mut bundle = Vec::new();
        assert!(outgoing.take(2, &mut bundle) && !outgoing.take(2, &mut bundle) && outgoing.waits(1));
        let mut rest = &*bundle;
        let entry = |to, length| Entry { kind: OF_WORKERS, from: 1, to, length };
        assert_eq!(Entry::split_off(&mut rest), Some((entry(4, 3), &b"one"[..])));
        assert_eq!(Entry::split_off(&mut rest), Some((entry(5, 0), &b""[..])));
        assert_eq!(Entry::split_off(&mut rest), None);
        assert_eq!(Entry::split_off(&mut &bundle[..18]), None);
    }

    #[test]
    fn too_much_is_refused() {
        let outgoing = Arc::new(Outgoing::new(2, None));
        let way = Way::new(&outgoing, OF_WORKERS, 0, 0..1, 1);
        let bytes = [0; 1000];
        let accepted = (0..1000).take_while(|_| way.send(1, &bytes)).count();
        assert_eq!(accepted, MOST.div_ceil(1016));
        assert!(outgoing.take(1, &mut Vec::new()) && way.send(1, &bytes));
    }
}
