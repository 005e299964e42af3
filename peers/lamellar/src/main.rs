//! `cargo run --release` measures active messages of Lamellar between two processes of this host, which share memory: the
//! same messages as in `peers/processes`. Starts the second process itself. Prints the least and the median of the rounds.

use std::process::{Command, ExitCode};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use lamellar::active_messaging::prelude::*;
use lamellar::typed_am_group;

const ROUNDS: usize = 9;
const TIMES: u64 = 10_000;

/// What the messages add to.
static TOTAL: AtomicU64 = AtomicU64::new(0);

#[AmData(Debug, Clone)]
struct Add {
    n: u64,
}

#[am]
impl LamellarAM for Add {
    async fn exec(self) -> u64 {
        TOTAL.fetch_add(self.n, Ordering::Relaxed) + self.n
    }
}

#[AmData(Debug, Clone)]
struct AddProduct {
    a: u64,
    b: u64,
}

#[am]
impl LamellarAM for AddProduct {
    async fn exec(self) {
        TOTAL.fetch_add(self.a * self.b, Ordering::Relaxed);
    }
}

/// Returns the nanoseconds of a call of 8 bytes with its answer.
fn call(world: &LamellarWorld) -> f64 {
    let before = world.exec_am_pe(1, Add { n: 0 }).block();
    let begun = Instant::now();
    for time in 1..=TIMES {
        assert_eq!(world.exec_am_pe(1, Add { n: 1 }).block(), before + time, "the answer of this call");
    }
    begun.elapsed().as_secs_f64() * 1e9 / TIMES as f64
}

/// Checks what the messages have added since the total was `before`. Returns millions of messages a second.
fn rate(world: &LamellarWorld, before: u64, begun: Instant) -> f64 {
    let time = begun.elapsed();
    let sum = world.exec_am_pe(1, Add { n: 0 }).block() - before;
    assert_eq!(sum, (0..TIMES).sum::<u64>(), "the sum of all messages");
    TIMES as f64 / time.as_secs_f64() / 1e6
}

fn one_way(world: &LamellarWorld) -> f64 {
    let before = world.exec_am_pe(1, Add { n: 0 }).block();
    let begun = Instant::now();
    for b in 0..TIMES {
        let _ = world.exec_am_pe(1, AddProduct { a: 1, b }).spawn();
    }
    world.wait_all();
    rate(world, before, begun)
}

/// The program groups the messages itself.
fn grouped(world: &LamellarWorld) -> f64 {
    let before = world.exec_am_pe(1, Add { n: 0 }).block();
    let begun = Instant::now();
    let mut group = typed_am_group!(AddProduct, world);
    for b in 0..TIMES {
        group.add_am_pe(1, AddProduct { a: 1, b });
    }
    world.block_on(group.exec());
    rate(world, before, begun)
}

fn main() -> ExitCode {
    const PLACE: &str = "LAMELLAR_PE_ID";
    if std::env::var_os(PLACE).is_none() {
        let start = |place: usize| {
            let program = std::env::current_exe()?;
            let job = std::process::id().to_string();
            let variables = [("LAMELLAR_BACKEND", "shmem"), ("LAMELLAR_NUM_PES", "2"), ("LAMELLAR_THREADS", "1")];
            Command::new(program).envs(variables).env("LAMELLAR_JOB_ID", job).env(PLACE, place.to_string()).spawn()
        };
        let both = [start(0), start(1)];
        let well =
            both.into_iter().all(|started| started.and_then(|mut child| child.wait()).is_ok_and(|it| it.success()));
        return if well { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    }
    let world = LamellarWorldBuilder::new().build();
    world.barrier();
    if world.my_pe() == 0 {
        type Row = (&'static str, &'static str, fn(&LamellarWorld) -> f64);
        let rows: [Row; 3] = [
            ("Lamellar, 8 bytes, with answer", "ns", call),
            ("Lamellar, 16 bytes, one way", "million a second", one_way),
            ("Lamellar, 16 bytes, one way, grouped", "million a second", grouped),
        ];
        let mut found = rows.map(|_| Vec::new());
        for _ in 0..ROUNDS {
            for ((_, _, measure), found) in rows.iter().zip(&mut found) {
                found.push(measure(&world));
            }
        }
        println!("{:<48} {:>10} {:>10}", "", "best", "median");
        for ((what, unit, _), mut found) in rows.into_iter().zip(found) {
            found.sort_by(f64::total_cmp);
            let best = if unit == "ns" { found[0] } else { found[ROUNDS - 1] };
            println!("{what:<48} {best:>10.2} {:>10.2} {unit}", found[ROUNDS / 2]);
        }
    }
    world.barrier();
    ExitCode::SUCCESS
}
