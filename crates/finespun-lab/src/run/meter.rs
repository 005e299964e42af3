//! The progress bar of a long run.
//!
//! A thread of its own looks ten times a second at counters that the run updates anyway. It appears on the standard error after
//! a second, only if that is a terminal, and is gone before the answer is printed.

use std::io::{self, IsTerminal};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use finespun_apps::Progress;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A run that is over sooner needs no bar.
const PATIENCE: Duration = Duration::from_secs(1);
const PERIOD: Duration = Duration::from_millis(100);

/// The bar on the screen, if there is one. Whoever draws or clears holds the lock, so that nothing is drawn after [`clear`].
static BAR: Mutex<Option<ProgressBar>> = Mutex::new(None);

/// Watches one run, until it is dropped.
#[derive(Debug)]
pub struct Meter {
    over: Arc<(Mutex<bool>, Condvar)>,
    thread: Option<JoinHandle<()>>,
}

impl Meter {
    /// Watches `progress` if somebody sits at a terminal.
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

/// Takes the bar off the screen.
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

/// A bar for work that is counted, a turning sign and the time for work that is not.
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

/// Waits until the run is over, or so long; whether it is over.
fn wait(over: &(Mutex<bool>, Condvar), time: Duration) -> bool {
    let guard = lock(&over.0);
    let waited = over.1.wait_timeout_while(guard, time, |over| !*over);
    *waited.unwrap_or_else(PoisonError::into_inner).0
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
