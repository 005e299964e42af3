//! Runs whose tasks wait while the forged messages arrive.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use finespun::istructure::{Cache, IArray, MArray};
use finespun::prelude::*;
use finespun::testing::wire::{self, Kind};
use finespun::{layout, parfor};

use crate::program::{Cell, make_cells};
use crate::{LATER, NODES};

/// What tasks of the victims wait for.
#[derive(Clone)]
pub(crate) struct Waits {
    cells: Vec<Ref<Cell>>,
    written: IArray<u64>,
    cached: IArray<u64>,
    taken: MArray<u64>,
}

#[task]
pub(crate) async fn make_waits() -> Waits {
    let cells = make_cells().await;
    let written = IArray::create(20, layout::block(20, nodes())).await;
    let cached = IArray::create(64, layout::cyclic(nodes())).cached(Cache::On { block: 4, capacity: 3 }).await;
    let taken = MArray::create(10, layout::block(10, nodes())).await;
    Waits { cells, written, cached, taken }
}

#[task]
async fn waiter(waits: &Waits, k: usize) {
    let (at, other) = (waits.cells[k % NODES], waits.cells[(k + 1) % NODES]);
    for _ in 0..100 {
        let waited = match k / NODES {
            0 | 1 => at.wait(other).checked().await,
            2 => at.get(waits.written, 3 * k % 20).checked().await,
            3 => at.get(waits.cached, 7 * k % 64).checked().await,
            _ => at.take(waits.taken, k % 10).checked().await,
        };
        drop(waited);
        yield_now().await;
    }
}

/// A run whose tasks wait in all processes, in a group and outside. Tells the attack its messages, once it waits.
#[task]
pub(crate) async fn victim(waits: Waits) {
    wire::record(true);
    let all = async_waits(&waits);
    let tells = tell(&waits);
    join!(all, tells);
}

#[task]
async fn async_waits(waits: &Waits) {
    parfor(0..5 * NODES, |k| waiter(waits, k)).await;
    suspend(|k: Continuation<()>| FORGOTTEN.lock().unwrap().push(k)).await;
}

#[task]
async fn tell(waits: &Waits) {
    for cell in &waits.cells {
        for _ in 0..3 {
            let _ = cell.slow(1).checked().await;
        }
    }
    wire::record(false);
    let fresh = wire::recorded(Kind::Tasks);
    let victim = Victim { name: wire::run_name(0), later: later(), fresh, numbers: wire::numbers() };
    *VICTIM.lock().unwrap() = Some(victim);
    VICTIMS.fetch_add(1, Ordering::Release);
}

/// Facts about the victim that the attack uses.
pub(crate) struct Victim {
    pub(crate) name: [u8; 4],
    pub(crate) later: [[u8; 4]; LATER],
    /// Its messages so far.
    pub(crate) fresh: Vec<Vec<u8>>,
    /// Numbers of values that wait for answers.
    pub(crate) numbers: Vec<u64>,
}

/// Returns the names of the next runs.
pub(crate) fn later() -> [[u8; 4]; LATER] {
    std::array::from_fn(|k| wire::run_name(k as u32 + 1))
}

/// The latest victim.
pub(crate) static VICTIM: Mutex<Option<Victim>> = Mutex::new(None);
pub(crate) static VICTIMS: AtomicU64 = AtomicU64::new(0);
pub(crate) static FORGOTTEN: Mutex<Vec<Continuation<()>>> = Mutex::new(Vec::new());
