//! Whether a cache pays: the cost model of i-structure-software-cache, section 3.
//!
//! ```text
//!   T_split = T_B + (N_L + N_R) O_r + N_R 2 (C_o + C_oa)
//!   T_cache = T_B + N_L O_I + N_R R_hit ((1 - R_d) O_hit + R_d O_def) + N_R (1 - R_hit) (O_miss + 2 (C_o + C_oa))
//! ```
//!
//! T_cache is less if the messages that hits save cost more than the array and its cache: equation 1.

use super::Counts;

/// The times of a platform, in microseconds each (table 3 of the paper).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Platform {
    /// A message at its sender, or at its receiver, without added overhead (C_o).
    pub message: f64,
    /// A read of an array's element at its home (O_I).
    pub local: f64,
    /// Making a request, without the message (O_r).
    pub request: f64,
    /// A read from the cache (O_hit).
    pub hit: f64,
    /// A read that requests a block, without the messages (O_miss).
    pub miss: f64,
    /// A read that waits for a block that has been requested (O_def).
    pub deferred: f64,
    /// Number of message ends of a request and its answer that cost processor time. The paper counts 2: it assumes that
    /// the work of a node for other nodes' requests is hidden. Where all nodes are busy, as on one processor, the
    /// number is 4.
    pub ends: f64,
}

/// EARTH on MANNA, with one processor of 50 MHz per node: the paper's table 3.
///
/// The paper prints 0.875 microseconds for a message, but in section 2.2 equates 175 / 4 cycles of 20 ns with 0.825:
/// the product is 0.875.
pub const MANNA: Platform =
    Platform { message: 0.875, local: 6.34, request: 2.82, hit: 9.58, miss: 51.54, deferred: 27.08, ends: 2.0 };

/// The reads that a program makes of arrays: the model uses ratios only (table 2 of the paper).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reads {
    /// Reads at their homes (N_L).
    pub local: f64,
    /// Reads of other nodes' elements (N_R).
    pub remote: f64,
    /// The share of remote reads that need no request (R_hit).
    pub hit_ratio: f64,
    /// The share of those hits that wait (R_d-hit).
    pub deferred_ratio: f64,
}

impl From<Counts> for Reads {
    fn from(counts: Counts) -> Reads {
        Reads {
            local: counts.local as f64,
            remote: counts.remote as f64,
            hit_ratio: counts.hit_ratio(),
            deferred_ratio: counts.deferred_ratio(),
        }
    }
}

impl Platform {
    /// Returns the time of all reads by requests to objects, in microseconds, if each message costs `added` more on
    /// both sides (C_oa).
    pub fn split(&self, reads: &Reads, added: f64) -> f64 {
        (reads.local + reads.remote) * self.request + reads.remote * self.ends * (self.message + added)
    }

    /// Returns the time of all reads from write-once arrays with a cache, in microseconds.
    pub fn cached(&self, reads: &Reads, added: f64) -> f64 {
        let Reads { local, remote, hit_ratio, deferred_ratio } = *reads;
        let hit = (1.0 - deferred_ratio) * self.hit + deferred_ratio * self.deferred;
        let miss = self.miss + self.ends * (self.message + added);
        local * self.local + remote * (hit_ratio * hit + (1.0 - hit_ratio) * miss)
    }

    /// Returns the message overhead on each side beyond this platform's, in microseconds, from which on the cache pays:
    /// equation 1, solved for C_oa. Negative if the cache always pays; infinite if it never pays, since no read hits.
    pub fn critical(&self, reads: &Reads) -> f64 {
        let saved = self.ends * reads.remote * reads.hit_ratio;
        let lost = self.cached(reads, 0.0) - self.split(reads, 0.0);
        if saved == 0.0 { f64::INFINITY } else { lost / saved }
    }

    /// Returns the whole message overhead on each side, in microseconds, from which on the cache pays, including this
    /// platform's: the quantity in the paper's figures 1 to 3. 0 if the cache always pays.
    pub fn critical_overhead(&self, reads: &Reads) -> f64 {
        (self.message + self.critical(reads)).max(0.0)
    }

    /// Returns this platform with a processor that is `times` as fast, and unchanged messages (figure 3).
    pub fn faster(&self, times: f64) -> Platform {
        let Platform { message, local, request, hit, miss, deferred, ends } = *self;
        let [local, request, hit, miss, deferred] = [local, request, hit, miss, deferred].map(|time| time / times);
        Platform { message, local, request, hit, miss, deferred, ends }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    const fn reads(local: f64, remote: f64, hit_ratio: f64, deferred_ratio: f64) -> Reads {
        Reads { local, remote, hit_ratio, deferred_ratio }
    }

    /// Table 2: dense product, conjugate gradient, Hopfield network, sparse product.
    const BENCHMARKS: [Reads; 4] = [
        reads(139_328.0, 123_840.0, 0.9835, 0.2),
        reads(614.0, 9210.0, 0.9365, 0.518),
        reads(512.0, 7680.0, 0.9922, 1.0),
        reads(19_140.0, 234_784.0, 0.9955, 0.212),
    ];

    /// The paper's own parameters yield 6.68, 8.81, 11.56 and 4.61 us, where its table 4 prints 6.7, 9.4, 11.5 and 4.6.
    #[test]
    fn equation_1_gives_the_critical_points() {
        for (reads, known) in BENCHMARKS.iter().zip([6.68, 8.81, 11.56, 4.61]) {
            let found = MANNA.critical(reads);
            assert!((found - known).abs() < 0.005, "{found} for {reads:?}");
        }
    }

    #[test]
    fn cost_is_equal_with_and_without_cache_at_the_critical_point() {
        for reads in &BENCHMARKS {
            let at = MANNA.critical(reads);
            let (split, cached) = (MANNA.split(reads, at), MANNA.cached(reads, at));
            assert!((split - cached).abs() < 1e-6 * split);
            assert!(MANNA.cached(reads, at + 1.0) < MANNA.split(reads, at + 1.0));
        }
    }

    /// Section 3.3: half of the reads are remote, hit ratio 0.5, all deferred: from 40 us; a tenth is remote, 0.8 and
    /// 0.5: from 33.5 us; a processor ten times as fast, half remote, 0.8 and 0.5: below 2 us.
    #[test]
    fn predictions_match_the_paper() {
        assert!((MANNA.critical_overhead(&reads(1.0, 1.0, 0.5, 1.0)) - 40.0).abs() < 0.05);
        assert!((MANNA.critical_overhead(&reads(9.0, 1.0, 0.8, 0.5)) - 33.5).abs() < 0.2);
        assert!(MANNA.faster(10.0).critical_overhead(&reads(1.0, 1.0, 0.8, 0.5)) < 2.0);
        assert_eq!(Platform { request: 1e3, ..MANNA }.critical_overhead(&reads(1.0, 1.0, 0.5, 1.0)), 0.0);
    }

    #[test]
    fn a_cache_without_hits_never_pays() {
        assert_eq!(MANNA.critical(&reads(10.0, 10.0, 0.0, 0.0)), f64::INFINITY);
        let counts = Counts { local: 3, remote: 4, hits: 2, deferred: 1, requests: 2, forwards: 0 };
        assert_eq!(Reads::from(counts), reads(3.0, 4.0, 0.5, 0.5));
    }
}
