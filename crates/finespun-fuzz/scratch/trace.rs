//! Traces: one list of events for each run of a body.

use std::fmt::{self, Display};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

use serde::{Deserialize, Serialize};

const SLOTS: usize = 64;
/// More events than any correct body has: a body that loops for ever ends the program.
const LIMIT: usize = 20_000;

static LOGS: [Mutex<Vec<String>>; SLOTS] = [const { Mutex::new(Vec::new()) }; SLOTS];
static OPEN: [AtomicU64; SLOTS] = [const { AtomicU64::new(0) }; SLOTS];
/// The number of the destructor that panics, counted down as destructors run; 0 for none.
static FAILS: [AtomicU64; SLOTS] = [const { AtomicU64::new(0) }; SLOTS];
static TAKEN: [AtomicBool; SLOTS] = [const { AtomicBool::new(false) }; SLOTS];

/// A handle to a trace.
#[derive(Clone, Copy, PartialEq, PartialOrd, Serialize, Deserialize)]
pub struct T(u32);

impl fmt::Debug for T {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("T")
    }
}

impl T {
    /// Returns an empty trace. The destructor of this number (from 1) panics; 0 for none.
    pub fn begin(fails: u64) -> T {
        let free = TAKEN.iter().position(|taken| !taken.swap(true, Relaxed));
        let free = free.expect("fewer runs at once than traces");
        FAILS[free].store(fails, Relaxed);
        T(free as u32)
    }

    /// Takes the events. A later event is logged in another run's trace, which then differs.
    pub fn finish(self) -> Vec<String> {
        OPEN[self.0 as usize].store(0, Relaxed);
        let events = std::mem::take(&mut *LOGS[self.0 as usize].lock().unwrap_or_else(|e| e.into_inner()));
        TAKEN[self.0 as usize].store(false, Relaxed);
        events
    }

    pub fn log(self, event: impl Display) {
        let event = event.to_string();
        let mut log = LOGS[self.0 as usize].lock().unwrap_or_else(|e| e.into_inner());
        log.push(event);
        if log.len() > LIMIT {
            eprintln!("more than {LIMIT} events");
            std::process::abort();
        }
    }

    /// Logs a destructor, and panics if the run wants this destructor to panic.
    pub fn dropped(self, event: impl Display) {
        self.log(event);
        let count = |left: u64| left.checked_sub(1);
        if FAILS[self.0 as usize].fetch_update(Relaxed, Relaxed, count) == Ok(1) && !std::thread::panicking() {
            panic!("a destructor panics");
        }
    }

    /// Logs which branch a condition takes.
    pub fn is(self, condition: bool) -> bool {
        self.log(format_args!("is {condition}"));
        condition
    }

    /// Opens a section, and returns the number of open sections.
    pub fn opened(self) -> u64 {
        OPEN[self.0 as usize].fetch_add(1, Relaxed) + 1
    }

    pub fn closed(self) -> u64 {
        OPEN[self.0 as usize].fetch_sub(1, Relaxed) - 1
    }
}
