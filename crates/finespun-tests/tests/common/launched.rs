//! Test programs that a launcher has started as several processes: `scripts/ranks`. The first process does the tests. The
//! others serve it from their first runtime with messages as bytes on.
//!
//! `FINESPUN_TEST_LAUNCHED` is the path of a file that the processes share.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::sync::atomic::{AtomicI64, Ordering};

use finespun::Builder;
use finespun::testing::*;

/// Returns whether a launcher has started several processes of the test program. What tests keep in statics is then not
/// shared by all nodes.
pub fn launched() -> bool {
    // Not the launchers' variables: tests run under launchers that start one process for each.
    cfg!(all(feature = "processes", target_os = "linux")) && std::env::var_os("FINESPUN_TEST_LAUNCHED").is_some()
}

pub trait Launch {
    /// Has messages travel as bytes: between the launched processes, if there are several.
    fn encoded(self, encode: bool) -> Self;

    /// Has several processes: the launched ones, if there are several. Otherwise all parts are in this process, and each
    /// `per_host` of them share memory.
    fn over(self, processes: usize, per_host: usize) -> Self;
}

impl Launch for Builder {
    fn encoded(self, encode: bool) -> Builder {
        if encode && launched() { over_launched(self) } else { self.encode(encode) }
    }

    fn over(self, processes: usize, per_host: usize) -> Builder {
        if launched() { over_launched(self) } else { self.processes(processes).per_host(per_host) }
    }
}

fn over_launched(builder: Builder) -> Builder {
    #[cfg(all(feature = "processes", target_os = "linux"))]
    return builder.fabric(finespun::runtime::Fabric::Processes);
    #[cfg(not(all(feature = "processes", target_os = "linux")))]
    builder
}

/// A number in a static that all launched processes share.
pub struct Shared(AtomicI64);

impl Shared {
    pub const fn new() -> Shared {
        Shared(AtomicI64::new(0))
    }

    pub fn load(&self) -> i64 {
        self.update(|number| number)
    }

    /// Returns the number before.
    pub fn add(&self, amount: i64) -> i64 {
        self.update(|number| number + amount)
    }

    /// Returns the number before.
    pub fn swap(&self, new: i64) -> i64 {
        self.update(|_| new)
    }

    fn update(&self, change: impl Fn(i64) -> i64) -> i64 {
        let Some(path) = std::env::var_os("FINESPUN_TEST_LAUNCHED") else {
            return self.0.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |number| Some(change(number))).unwrap();
        };
        // Its place in a file. Statics are as far from each other in all processes of a program.
        static FIRST: u8 = 0;
        let place = (1_u64 << 40).wrapping_add_signed(self.0.as_ptr().addr() as i64 - (&raw const FIRST).addr() as i64);
        let mut file = File::options().read(true).write(true).open(path).unwrap();
        file.lock().unwrap();
        let mut bytes = [0; 8];
        file.seek(SeekFrom::Start(place)).unwrap();
        // Behind the end of the file, a number has not been written yet.
        let _ = file.read_exact(&mut bytes);
        let number = i64::from_le_bytes(bytes);
        file.seek(SeekFrom::Start(place)).unwrap();
        file.write_all(&change(number).to_le_bytes()).unwrap();
        number
    }
}
