//! Counters by energy, which many workers increment concurrently.

use std::array;
use std::cell::Cell;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// More contacts than any box of 64 sites has (4x4x4: 81).
pub(super) const MAX_CONTACTS: usize = 96;

/// Foldings by number of H-H contacts, for each of `K` sequences.
pub type Tally<const K: usize> = [[u64; MAX_CONTACTS]; K];

/// Number of copies of the counters, so that workers seldom write to the same cache line.
const SHARDS: usize = 16;

/// A [`Tally`] that is shared by all workers of a run.
///
/// Additions commute, so the totals do not depend on their order or on the workers. Totals are read after the run has
/// ended, which orders them after all additions; so every access is relaxed.
#[derive(Debug)]
pub(super) struct Histogram<const K: usize> {
    shards: Box<[Shard<K>]>,
}

#[derive(Debug)]
#[repr(align(128))]
struct Shard<const K: usize>([[AtomicU64; MAX_CONTACTS]; K]);

impl<const K: usize> Histogram<K> {
    pub(super) fn new() -> Self {
        let shard = |_| Shard(array::from_fn(|_| array::from_fn(|_| AtomicU64::new(0))));
        Histogram { shards: (0..SHARDS).map(shard).collect() }
    }

    /// Counts one folding of sequence `k` with `contacts` contacts.
    #[inline]
    pub(super) fn record(&self, k: usize, contacts: u32) {
        self.shards[shard()].0[k][contacts as usize].fetch_add(1, Relaxed);
    }

    /// Adds all of `tally`.
    pub(super) fn merge(&self, tally: &Tally<K>) {
        for (counters, tally) in self.shards[0].0.iter().zip(tally) {
            for (counter, &count) in counters.iter().zip(tally) {
                counter.fetch_add(count, Relaxed);
            }
        }
    }

    /// Returns the sums over all shards.
    pub(super) fn totals(&self) -> Tally<K> {
        array::from_fn(|k| {
            array::from_fn(|contacts| self.shards.iter().map(|shard| shard.0[k][contacts].load(Relaxed)).sum())
        })
    }
}

/// Returns the shard of the calling thread. Threads are numbered in the order of their first call.
#[inline]
fn shard() -> usize {
    static THREADS: AtomicUsize = AtomicUsize::new(0);
    thread_local!(static SHARD: Cell<usize> = const { Cell::new(usize::MAX) });
    SHARD.with(|shard| {
        if shard.get() == usize::MAX {
            shard.set(THREADS.fetch_add(1, Relaxed) % SHARDS);
        }
        shard.get()
    })
}
