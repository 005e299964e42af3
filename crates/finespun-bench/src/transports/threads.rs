//! Threads that start together, each on its own core if there are enough; and the bare cache line between two threads.

use std::hint;
use std::panic::resume_unwind;
use std::sync::Barrier;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Instant;

/// Repeats `attempt` until it succeeds. Yields to other threads if this takes long: they may need this core.
pub(super) fn until<T>(mut attempt: impl FnMut() -> Option<T>) -> T {
    loop {
        for _ in 0..10_000 {
            if let Some(done) = attempt() {
                return done;
            }
            hint::spin_loop();
        }
        thread::yield_now();
    }
}

/// Runs all jobs in parallel. Returns their results, and the seconds from the start of the first job in the list to the
/// end of the last to finish.
pub(super) fn together<'a, R: Send>(jobs: Vec<Box<dyn FnOnce() -> R + Send + 'a>>) -> (f64, Vec<R>) {
    let barrier = Barrier::new(jobs.len());
    let cores = core_affinity::get_core_ids().unwrap_or_default();
    let run = |index: usize, job: Box<dyn FnOnce() -> R + Send + 'a>| {
        if let Some(core) = cores.get(index).filter(|_| cores.len() > 1) {
            core_affinity::set_for_current(*core);
        }
        barrier.wait();
        let start = Instant::now();
        let result = job();
        (start, Instant::now(), result)
    };
    let run = &run;
    let ended: Vec<_> = thread::scope(|scope| {
        let threads: Vec<_> =
            jobs.into_iter().enumerate().map(|(index, job)| scope.spawn(move || run(index, job))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap_or_else(|payload| resume_unwind(payload))).collect()
    });
    let last = ended.iter().map(|(_, end, _)| *end).max().expect("there is a job");
    let seconds = (last - ended[0].0).as_secs_f64();
    (seconds, ended.into_iter().map(|(_, _, result)| result).collect())
}

/// Returns the seconds that two jobs take in parallel.
pub(super) fn timed(a: impl FnOnce() + Send, b: impl FnOnce() + Send) -> f64 {
    together(vec![Box::new(a) as Box<dyn FnOnce() + Send>, Box::new(b)]).0
}

/// Returns the seconds that `times` round trips of a cache line take, to which both sides write in turn.
pub fn round_trips_of_a_line(times: u64) -> f64 {
    #[repr(align(128))]
    struct Line(AtomicU64);
    let line = &Line(AtomicU64::new(0));
    let take_turns = |first: u64| {
        for i in 0..times {
            until(|| (line.0.load(Ordering::Acquire) == 2 * i + first).then_some(()));
            line.0.store(2 * i + first + 1, Ordering::Release);
        }
    };
    timed(|| take_turns(0), || take_turns(1))
}
