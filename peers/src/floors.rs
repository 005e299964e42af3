//! Lower bounds: the cost of a bare call, of a bare deque operation and of a bare
//! frame, with which a runtime's cost per task is compared.

use std::hint::black_box;
use std::num::NonZero;
use std::time::Instant;

use serde::Serialize;

use crate::problem::fib_calls;
use crate::runtime::Runtime;
use crate::statistics::{median, minimum};

/// Repetitions of every floor.
const REPETITIONS: usize = 7;

/// Operations per repetition.
const OPERATIONS: usize = 2_000_000;

/// The size of a frame with one await and a `u64`, in bytes.
const FRAME_BYTES: usize = 72;

/// One floor, in nanoseconds per operation.
#[derive(Serialize)]
pub struct Floor {
    /// The operation.
    pub name: &'static str,
    /// Minimum over the repetitions.
    pub minimum: f64,
    /// Median over the repetitions.
    pub median: f64,
}

/// Measures all floors, within a second.
pub fn measure() -> Vec<Floor> {
    let mut floors = vec![plain_call(), crossbeam_deque(), st3_deque(), boxed_frame()];
    floors.extend(finespun());
    floors
}

/// Measures Finespun's own floors: its deque and its pool of frames, without a task.
#[cfg(feature = "finespun")]
fn finespun() -> Vec<Floor> {
    use ::finespun::internals::{push_and_pop, take_and_give_back};
    vec![
        time("finespun's deque, push and pop", OPERATIONS as u64, || push_and_pop(OPERATIONS)),
        time("finespun's pool, 72 bytes taken and given back", OPERATIONS as u64, || {
            take_and_give_back(OPERATIONS, FRAME_BYTES);
        }),
    ]
}

#[cfg(not(feature = "finespun"))]
fn finespun() -> Vec<Floor> {
    Vec::new()
}

fn plain_call() -> Floor {
    const N: u64 = 30;
    let plain = Runtime::Plain.start(NonZero::<usize>::MIN);
    let plain = plain.expect("the plain recursion is in every build");
    time("plain recursion, one call of fib", fib_calls(N), || {
        black_box(plain.fib(black_box(N)));
    })
}

fn crossbeam_deque() -> Floor {
    let deque = crossbeam_deque::Worker::new_lifo();
    repeat("crossbeam-deque, push and pop", |i| {
        deque.push(black_box(i));
        black_box(deque.pop());
    })
}

fn st3_deque() -> Floor {
    let deque = st3::lifo::Worker::new(256);
    repeat("st3, push and pop", |i| {
        // A full deque returns the item; this one never holds more than one.
        let _ = deque.push(black_box(i));
        black_box(deque.pop());
    })
}

fn boxed_frame() -> Floor {
    repeat("system allocator, 72 bytes allocated and freed", |_| {
        drop(black_box(Box::new([0_u8; FRAME_BYTES])));
    })
}

fn repeat(name: &'static str, mut operation: impl FnMut(usize)) -> Floor {
    time(name, OPERATIONS as u64, || {
        (0..OPERATIONS).for_each(&mut operation);
    })
}

fn time(name: &'static str, operations: u64, mut body: impl FnMut()) -> Floor {
    let mut samples = [0.0; REPETITIONS];
    for sample in &mut samples {
        let start = Instant::now();
        body();
        *sample = start.elapsed().as_secs_f64() * 1e9 / operations as f64;
    }
    Floor { name, minimum: minimum(&samples).unwrap_or_default(), median: median(&samples).unwrap_or_default() }
}
