//! The artificial overhead of messages for senders and receivers: `Builder::overhead`.

use std::hint::black_box;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// Busy-waits for the given time. Returns the time spent, in nanoseconds.
///
/// Accurate to a few nanoseconds on average if the given time covers the two clock reads of the shortest call. The
/// whole call takes one clock read longer than the measured time, and notices the end half a read late on average; both
/// are subtracted from the limit.
#[cold]
#[inline(never)]
pub(super) fn spend(nanoseconds: u64) -> u64 {
    let start = Instant::now();
    let read = read_time();
    let until = Duration::from_nanos(nanoseconds.saturating_sub(read + read / 2));
    loop {
        let spent = start.elapsed();
        if spent >= until {
            return u64::try_from(spent.as_nanos()).unwrap_or(u64::MAX).saturating_add(read);
        }
    }
}

/// Returns the time for one read of the clock, in nanoseconds. Measured once per process.
fn read_time() -> u64 {
    const READS: u32 = 100;
    static TIME: OnceLock<u64> = OnceLock::new();
    let once = || {
        let start = Instant::now();
        for _ in 0..READS {
            black_box(start.elapsed());
        }
        start.elapsed() / (READS + 1)
    };
    *TIME.get_or_init(|| (0..20).map(|_| once()).min().map_or(0, |least| least.as_nanos() as u64))
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    #[cfg_attr(sanitized, ignore = "reading the clock takes longer than the times that are spent")]
    fn spending_takes_the_requested_time() {
        const TIMES: u32 = 1000;
        for nanoseconds in [200, 500, 1000, 10_000] {
            let all = |_| {
                let start = Instant::now();
                for _ in 0..TIMES {
                    black_box(spend(nanoseconds));
                }
                (start.elapsed() / TIMES).as_nanos() as u64
            };
            // The minimum, because other activity of the machine only makes the time longer.
            let least = (0..50).map(all).min().unwrap_or(0);
            assert!(least >= nanoseconds - nanoseconds / 10 && least <= nanoseconds * 2, "{least} for {nanoseconds}");
        }
    }
}
