//! Messages forged from recorded ones.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;

use finespun::prelude::*;
use finespun::testing::wire;

use crate::victims::{VICTIM, VICTIMS, Victim};
use crate::{IDENTITY, LATER, SENT};

/// A generator of random numbers (xorshift).
#[derive(Clone)]
pub(crate) struct Random(pub(crate) u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        (self.next() >> 16) as usize % bound.max(1)
    }
}

/// Messages by their handlers.
pub(crate) struct Corpus {
    pub(crate) kinds: Vec<Vec<Vec<u8>>>,
    /// The kinds that the victim has sent.
    pub(crate) fresh: Vec<Vec<Vec<u8>>>,
    pub(crate) numbers: Vec<u64>,
    pub(crate) name: [u8; 4],
    /// The names of the next runs.
    pub(crate) later: [[u8; 4]; LATER],
}

pub(crate) fn kinds(messages: Vec<Vec<u8>>, header: usize) -> Vec<Vec<Vec<u8>>> {
    let mut kinds: BTreeMap<Vec<u8>, Vec<Vec<u8>>> = BTreeMap::new();
    for message in messages {
        let kind = kinds.entry(message[..header.min(message.len())].to_vec()).or_default();
        if kind.len() < 64 {
            kind.push(message);
        }
    }
    kinds.into_values().collect()
}

/// Returns where a message, if it is a request, has the name of its run, and the number of the wait for the answer. The
/// flags are in `object::remote`.
fn places(message: &[u8]) -> (Option<usize>, Option<usize>) {
    let flags = message.get(IDENTITY).copied().unwrap_or(0);
    let number = (flags & 1 != 0).then_some(IDENTITY + 1);
    let name = (flags & 4 != 0).then_some(number.map_or(IDENTITY + 1, |number| number + 8));
    (name.filter(|name| name + 4 <= message.len()), number.filter(|number| number + 8 <= message.len()))
}

/// Returns whether a message, if it is a request, has no answer: an error in it ends its run.
fn is_one_way(message: &[u8]) -> bool {
    matches!(places(message), (Some(_), None))
}

impl Corpus {
    /// Aims at another victim.
    fn aim(&mut self, victim: Victim) {
        for message in self.kinds.iter_mut().flatten() {
            if let (Some(at), _) = places(message)
                && message[at..at + 4] == self.name
            {
                message[at..at + 4].copy_from_slice(&victim.name);
            }
        }
        self.name = victim.name;
        self.later = victim.later;
        self.fresh = kinds(victim.fresh, IDENTITY);
        self.numbers = victim.numbers;
    }

    /// Has a message of the victim name one of the next runs.
    fn name_later(&self, random: &mut Random, message: &mut [u8]) {
        if let (Some(at), _) = places(message)
            && message[at..at + 4] == self.name
        {
            message[at..at + 4].copy_from_slice(&self.later[random.below(LATER)]);
        }
    }

    fn some(&self, random: &mut Random) -> &[u8] {
        loop {
            let fresh = !self.fresh.is_empty() && random.below(3) == 0;
            let kinds = if fresh { &self.fresh } else { &self.kinds };
            let kind = &kinds[random.below(kinds.len())];
            let message = &kind[random.below(kind.len())];
            if !is_one_way(message) || random.below(4) == 0 {
                return message;
            }
        }
    }

    /// Makes a message from some of the corpus.
    pub(crate) fn forge(&self, header: usize, random: &mut Random, message: &mut Vec<u8>) {
        const EXTREMES: [u64; 12] = [
            0,
            1,
            0x7f,
            0x80,
            0xff,
            0xffff,
            1 << 31,
            u32::MAX as u64,
            1 << 32,
            i64::MAX as u64,
            u64::MAX - 1,
            u64::MAX,
        ];
        message.clear();
        message.extend_from_slice(self.some(random));
        for _ in 0..1 + random.below(4).saturating_sub(1) {
            let len = message.len();
            // Most often the handler gets the message.
            let from = if random.below(32) == 0 { 0 } else { header.min(len) };
            let at = from + random.below(len - from);
            let end = |bytes: usize| (at + bytes).min(len);
            match random.below(10) {
                0 | 1 if at < len => message[at] ^= 1 << random.below(8),
                2 if at < len => message[at] = random.next() as u8,
                3 => message.truncate(at),
                4 => message.extend((0..random.below(20)).map(|_| random.next() as u8)),
                5 => {
                    let other = self.some(random);
                    let (from, count) = (random.below(other.len()), 1 + random.below(16));
                    let other = &other[from..(from + count).min(other.len())];
                    message.splice(at..end(random.below(count + 1)), other.iter().copied());
                }
                // An integer, as postcard writes it, or in eight bytes.
                6 => {
                    let mut value = EXTREMES[random.below(EXTREMES.len())];
                    if random.below(3) == 0 {
                        message.splice(at..end(8), value.to_le_bytes());
                        continue;
                    }
                    let mut bytes = Vec::new();
                    while value > 0x7f {
                        bytes.push(value as u8 | 0x80);
                        value >>= 7;
                    }
                    bytes.push(value as u8);
                    message.splice(at..end(1), bytes);
                }
                // Another handler, or build.
                7 => {
                    let other = self.some(random);
                    let header = header.min(other.len()).min(len);
                    message[..header].copy_from_slice(&other[..header]);
                }
                // The number of something that waits, most often in place of another one.
                8 if !self.numbers.is_empty() && len >= from + 8 => {
                    let number = self.numbers[random.below(self.numbers.len())].to_le_bytes();
                    let named = places(message).1.filter(|_| header == IDENTITY && random.below(4) > 0);
                    let at = named.unwrap_or(from + random.below(len - from - 7));
                    message[at..at + 8].copy_from_slice(&number);
                }
                _ => {
                    let bytes: Vec<u8> = message[at..end(1 + random.below(12))].to_vec();
                    message.splice(at..at, bytes);
                }
            }
        }
    }
}

/// Sends `count` forged messages to all workers, most of them in the name of the victims' runs.
#[task]
pub(crate) async fn attack(mut corpus: Corpus, count: u64, seed: u64, workers: usize) {
    let mut random = Random(seed);
    let (mut message, mut victims) = (Vec::new(), 0);
    for sent in 0..count {
        if VICTIMS.load(Ordering::Acquire) != victims
            && let Some(victim) = VICTIM.lock().unwrap().take()
        {
            victims = VICTIMS.load(Ordering::Acquire);
            corpus.aim(victim);
        }
        corpus.forge(IDENTITY, &mut random, &mut message);
        if random.below(8) == 0 {
            corpus.name_later(&mut random, &mut message);
        }
        let to = random.below(workers);
        while !wire::forge(to, &message) {
            yield_now().await;
        }
        SENT.fetch_add(1, Ordering::Relaxed);
        if sent % 32 == 31 {
            yield_now().await;
        }
    }
}
