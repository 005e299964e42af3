//! The progress bar of a long run, and the steps of a bench.
//!
//! A separate thread polls, ten times a second, counters that the run updates anyway. The bar appears on the standard
//! error after a second, only if that is a terminal, and is cleared before the answer is printed.

use std::cell::Cell;
use std::io::{self, IsTerminal};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use finespun_apps::Progress;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::show;

/// The delay before the bar appears: shorter runs need no bar.
const PATIENCE: Duration = Duration::from_secs(1);
const PERIOD: Duration = Duration::from_millis(100);

/// The bar on the screen, if any. Drawing and clearing hold the lock, so nothing is drawn after [`clear`].
static BAR: Mutex<Option<ProgressBar>> = Mutex::new(None);

/// Displays the progress of one run until it is dropped.
#[derive(Debug)]
pub struct Meter {
    over: Arc<(Mutex<bool>, Condvar)>,
    thread: Option<JoinHandle<()>>,
}

impl Meter {
    /// Displays `progress` if the standard error is a terminal.
    pub fn watch(name: &'static str, progress: Arc<Progress>) -> Self {
        let over = Arc::new((Mutex::new(false), Condvar::new()));
        let thread = io::stderr().is_terminal().then(|| {
            let over = Arc::clone(&over);
            thread::Builder::new().name("meter".to_owned()).spawn(move || draw(name, &progress, &over)).ok()
        });
        Meter { over, thread: thread.flatten() }
    }
}

impl Drop for Meter {
    fn drop(&mut self) {
        *lock(&self.over.0) = true;
        self.over.1.notify_all();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
        clear();
    }
}

/// Removes the bar from the screen.
pub fn clear() {
    if let Some(bar) = lock(&BAR).take() {
        bar.finish_and_clear();
    }
}

fn draw(name: &'static str, progress: &Progress, over: &(Mutex<bool>, Condvar)) {
    if wait(over, PATIENCE) {
        return;
    }
    *lock(&BAR) = Some(bar(name, progress));
    while !wait(over, PERIOD) {
        match &*lock(&BAR) {
            Some(bar) => {
                bar.set_length(progress.total());
                bar.set_position(progress.done());
                bar.tick();
            }
            None => return,
        }
    }
}

/// Returns a bar for counted work, or a spinner with the time for uncounted work.
fn bar(name: &'static str, progress: &Progress) -> ProgressBar {
    let form = match progress.total() {
        0 => "{spinner} {msg} {elapsed}",
        _ => "{msg} [{bar:40}] {percent}% {elapsed}",
    };
    let bar = ProgressBar::with_draw_target(Some(progress.total()), ProgressDrawTarget::stderr());
    bar.set_style(
        ProgressStyle::with_template(form).unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("=> "),
    );
    bar.with_message(name).with_elapsed(PATIENCE)
}

/// Waits until the run is over, but at most `time`. Returns true if it is over.
fn wait(over: &(Mutex<bool>, Condvar), time: Duration) -> bool {
    let guard = lock(&over.0);
    let waited = over.1.wait_timeout_while(guard, time, |over| !*over);
    *waited.unwrap_or_else(PoisonError::into_inner).0
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The steps of a long operation: the current step, and the number of steps left. Shows a bar on a terminal, otherwise
/// a line per step on the standard error.
#[derive(Debug)]
pub struct Steps {
    name: String,
    begun: Cell<u64>,
    total: Cell<u64>,
    start: Instant,
    terminal: bool,
}

impl Steps {
    /// Creates a counter without steps.
    pub fn new(name: String) -> Steps {
        let terminal = io::stderr().is_terminal();
        Steps { name, begun: Cell::new(0), total: Cell::new(0), start: Instant::now(), terminal }
    }

    /// Adds `steps` to the number of steps left.
    pub fn expect(&self, steps: u64) {
        self.total.set(self.total.get() + steps);
    }

    /// Begins the next step.
    pub fn begin(&self, what: &str) {
        let done = self.begun.get();
        self.begun.set(done + 1);
        let total = self.total.get().max(done + 1);
        if !self.terminal {
            let seconds = self.start.elapsed().as_secs();
            let time = format!("{}:{:02}", seconds / 60, seconds % 60);
            return show::note(&format!("{}: {what} ({} of {total}, {time} so far)", self.name, done + 1));
        }
        let mut bar = lock(&BAR);
        let bar = bar.get_or_insert_with(steps_bar);
        bar.set_length(total);
        bar.set_position(done);
        bar.set_message(format!("{}: {what}", self.name));
    }

    /// Calls `body`, which may print, with the bar taken off the screen.
    pub fn hidden<R>(&self, body: impl FnOnce() -> R) -> R {
        match &*lock(&BAR) {
            Some(bar) => bar.suspend(body),
            None => body(),
        }
    }
}

impl Drop for Steps {
    fn drop(&mut self) {
        clear();
    }
}

fn steps_bar() -> ProgressBar {
    let form = "{msg} [{bar:20}] {pos} of {len} done, {elapsed}, about {eta} left";
    let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::stderr());
    bar.set_style(
        ProgressStyle::with_template(form).unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("=> "),
    );
    // Rarely, to disturb the measurement little.
    bar.enable_steady_tick(Duration::from_secs(1));
    bar
}
