//! `mpirun -n 2 finespun-floors [--quick]` measures messages between two processes of this host without Finespun.
//!
//! Two processes take turns on each row, several rounds of all rows one after the other, so that all see the same state of
//! the machine. The first process prints the least and the median.

use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use finespun_mpi::launcher::launched;
use finespun_mpi::world::{BURST, Error, Window, Words, World};

const ROUNDS: usize = 9;
const TAG: u16 = 1;
/// Words from one place to another on a cache line of its own (processors fetch lines in pairs).
const APART: usize = 16;
/// Entries of the ring, of two words each.
const RING: usize = 256;

/// The processes' places in the world, and what they share.
struct Pair<'w> {
    world: &'w World,
    shared: Words<'w>,
    window: Window<'w>,
    /// Repetitions of each row in a round.
    times: usize,
}

/// A row of the table, with a function that measures it once.
struct Row {
    what: &'static str,
    unit: Unit,
    measure: fn(&Pair<'_>) -> Result<f64, Error>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Unit {
    Nanoseconds,
    /// Here more is better.
    Millions,
}

const ROWS: [Row; 8] = [
    Row { what: "a cache line, there and back", unit: Unit::Nanoseconds, measure: line },
    Row { what: "MPI send and receive, 8 bytes, there and back", unit: Unit::Nanoseconds, measure: two_sided },
    Row { what: "MPI put, and the other polls, there and back", unit: Unit::Nanoseconds, measure: one_sided },
    Row { what: "MPI swap of a word of the other", unit: Unit::Nanoseconds, measure: swap },
    Row { what: "MPI put of 64 bytes", unit: Unit::Nanoseconds, measure: put },
    Row { what: "MPI get of 64 bytes", unit: Unit::Nanoseconds, measure: get },
    Row { what: "a ring in shared memory, 16 bytes, one way", unit: Unit::Millions, measure: ring },
    Row { what: "MPI Isend and Irecv, 16 bytes, one way", unit: Unit::Millions, measure: burst },
];

fn main() -> ExitCode {
    let quick = match std::env::args().skip(1).collect::<Vec<_>>().as_slice() {
        [] => false,
        [word] if word == "--quick" => true,
        _ => return complain("usage: mpirun -n 2 finespun-floors [--quick]"),
    };
    let world = match World::start(0) {
        Ok(world) => world,
        // All processes find the same error.
        Err(error) => return complain(&error.to_string()),
    };
    floors(&world, quick).unwrap_or_else(|error| {
        // The other process would wait for this one.
        eprintln!("finespun-floors: process {}: {error}", world.rank());
        world.abort(1)
    })
}

/// Prints a line, once for all processes.
fn complain(text: &str) -> ExitCode {
    if launched().is_none_or(|launched| launched.rank == 0) {
        eprintln!("finespun-floors: {text}");
    }
    ExitCode::from(2)
}

fn floors(world: &World, quick: bool) -> Result<ExitCode, Error> {
    if world.size() != 2 || world.host_size() != 2 {
        let (size, host) = (world.size(), world.host_size());
        let text = format!(
            "needs two processes of one host, and has {size}, {host} of them here: mpirun -n 2 finespun-floors"
        );
        return Ok(complain(&text));
    }
    let shared = world.share(APART * 4 + 2 * RING)?;
    let window = world.window(APART * 2)?;
    let pair = Pair { world, shared, window, times: if quick { 500 } else { 50_000 } };
    let mut found = ROWS.map(|_| Vec::new());
    for _ in 0..if quick { 1 } else { ROUNDS } {
        for (row, found) in ROWS.iter().zip(&mut found) {
            world.barrier()?;
            found.push((row.measure)(&pair)?);
        }
    }
    if world.rank() == 0 {
        println!("two processes of one host, {}, {} rounds\n", world.library(), found[0].len());
        println!("{:<48} {:>8} {:>8}", "", "best", "median");
        for (row, mut found) in ROWS.iter().zip(found) {
            found.sort_by(f64::total_cmp);
            let unit = if row.unit == Unit::Millions { "million a second" } else { "ns" };
            let best = if row.unit == Unit::Millions { found[found.len() - 1] } else { found[0] };
            println!("{:<48} {best:>8.1} {:>8.1} {unit}", row.what, found[found.len() / 2]);
        }
    }
    Ok(ExitCode::SUCCESS)
}

impl Pair<'_> {
    fn is_first(&self) -> bool {
        self.world.rank() == 0
    }

    fn other(&self) -> usize {
        1 - self.world.rank()
    }

    /// Calls `body` this process's number of times, and returns the nanoseconds of each.
    fn timed(&self, mut body: impl FnMut(u64) -> Result<(), Error>) -> Result<f64, Error> {
        let begun = Instant::now();
        for time in 0..self.times {
            body(time as u64 + 1)?;
        }
        Ok(begun.elapsed().as_secs_f64() * 1e9 / self.times as f64)
    }

    /// Measures `body` in the first process, while the other one polls.
    fn alone(&self, body: impl FnMut(u64) -> Result<(), Error>) -> Result<f64, Error> {
        let stop = &self.shared.words()[2 * APART];
        stop.store(0, Ordering::Release);
        self.world.barrier()?;
        if self.is_first() {
            let time = self.timed(body);
            stop.store(1, Ordering::Release);
            return time;
        }
        while stop.load(Ordering::Acquire) == 0 {
            self.world.poll()?;
        }
        Ok(0.0)
    }
}

fn await_value(word: &AtomicU64, value: u64, mut meanwhile: impl FnMut() -> Result<(), Error>) -> Result<(), Error> {
    while word.load(Ordering::Acquire) != value {
        meanwhile()?;
    }
    Ok(())
}

fn line(pair: &Pair<'_>) -> Result<f64, Error> {
    let [there, back] = [0, APART].map(|at| &pair.shared.words()[at]);
    let (own, other) = if pair.is_first() { (there, back) } else { (back, there) };
    own.store(0, Ordering::Release);
    pair.world.barrier()?;
    let nothing = || {
        std::hint::spin_loop();
        Ok(())
    };
    pair.timed(|time| {
        if pair.is_first() {
            own.store(time, Ordering::Release);
            return await_value(other, time, nothing);
        }
        await_value(other, time, nothing)?;
        own.store(time, Ordering::Release);
        Ok(())
    })
}

fn two_sided(pair: &Pair<'_>) -> Result<f64, Error> {
    let (world, other) = (pair.world, pair.other());
    pair.timed(|time| {
        let mut message = time.to_le_bytes();
        if pair.is_first() {
            world.send(other, TAG, &message)?;
        }
        world.receive(other, TAG, &mut message)?;
        assert_eq!(message, time.to_le_bytes(), "the message of this turn");
        if !pair.is_first() {
            world.send(other, TAG, &message)?;
        }
        Ok(())
    })
}

fn one_sided(pair: &Pair<'_>) -> Result<f64, Error> {
    let (world, window, other) = (pair.world, &pair.window, pair.other());
    let own = &window.own()[0];
    own.store(0, Ordering::Release);
    world.barrier()?;
    pair.timed(|time| {
        if pair.is_first() {
            window.put(other, 0, &[time])?;
        }
        await_value(own, time, || world.poll())?;
        if !pair.is_first() {
            window.put(other, 0, &[time])?;
        }
        Ok(())
    })
}

fn swap(pair: &Pair<'_>) -> Result<f64, Error> {
    let mut last = None;
    pair.alone(|time| {
        let old = pair.window.swap(pair.other(), APART, time)?;
        assert!(last.replace(time).is_none_or(|last| last == old), "what the swap before has written");
        Ok(())
    })
}

fn put(pair: &Pair<'_>) -> Result<f64, Error> {
    pair.alone(|time| pair.window.put(pair.other(), APART, &[time; 8]))
}

fn get(pair: &Pair<'_>) -> Result<f64, Error> {
    pair.alone(|_| pair.window.get(pair.other(), APART, &mut [0; 8]))
}

/// A ring with a tag in each entry, which says that the entry is full: the sender polls the reader's progress once per
/// ring.
fn ring(pair: &Pair<'_>) -> Result<f64, Error> {
    let (entries, progress) = (&pair.shared.words()[APART * 4..], &pair.shared.words()[APART * 3]);
    if pair.is_first() {
        entries.iter().for_each(|word| word.store(0, Ordering::Relaxed));
        progress.store(0, Ordering::Release);
    }
    pair.world.barrier()?;
    let messages = (pair.times * 20) as u64;
    let begun = Instant::now();
    for number in 1..=messages {
        let at = 2 * (number as usize % RING);
        let (tag, value) = (&entries[at], &entries[at + 1]);
        if pair.is_first() {
            if number.is_multiple_of(RING as u64 / 2) {
                while progress.load(Ordering::Acquire) + (RING as u64 / 2) < number {
                    std::hint::spin_loop();
                }
            }
            value.store(!number, Ordering::Relaxed);
            tag.store(number, Ordering::Release);
        } else {
            while tag.load(Ordering::Acquire) != number {
                std::hint::spin_loop();
            }
            assert_eq!(value.load(Ordering::Relaxed), !number, "the value of this message");
            if number.is_multiple_of(RING as u64 / 4) {
                progress.store(number, Ordering::Release);
            }
        }
    }
    pair.world.barrier()?;
    Ok(messages as f64 / begun.elapsed().as_secs_f64() / 1e6)
}

fn burst(pair: &Pair<'_>) -> Result<f64, Error> {
    let bursts = pair.times / 50;
    let begun = Instant::now();
    let mut received = [0; 16 * BURST];
    for burst in 0..bursts {
        if pair.is_first() {
            pair.world.send_burst(pair.other(), TAG, &[burst as u8; 16], BURST)?;
        } else {
            pair.world.receive_burst(pair.other(), TAG, &mut received, BURST)?;
            assert!(received.iter().all(|&byte| byte == burst as u8), "the messages of this burst");
        }
    }
    pair.world.barrier()?;
    Ok((bursts * BURST) as f64 / begun.elapsed().as_secs_f64() / 1e6)
}
