//! A program that uses everything that sends messages.

use std::ops::ControlFlow::{self, Break, Continue};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use finespun::group::sync;
use finespun::istructure::{Cache, IArray, MArray};
use finespun::objects::{Replicated, suspend_with};
use finespun::prelude::*;
use finespun::{everywhere, layout, mapped, parfor};
use serde::{Deserialize, Serialize};

use crate::NODES;

#[derive(Serialize, Deserialize)]
pub(crate) struct Cell {
    sum: u64,
    #[serde(skip)]
    kept: Vec<Continuation<u64>>,
}

impl Cell {
    fn new(sum: u64) -> Cell {
        Cell { sum, kept: Vec::new() }
    }
}

/// The methods take any arguments, and do little work.
#[object]
impl Cell {
    fn add(&mut self, amount: u64) -> u64 {
        self.sum = self.sum.wrapping_add(amount);
        self.sum
    }

    fn text(&self, text: String, many: Vec<(u32, Option<i64>)>) -> (String, usize) {
        (text, many.len())
    }

    fn nothings(&self, nothings: Vec<()>) -> Vec<()> {
        nothings
    }

    fn fail(&self) -> u64 {
        panic!("as asked");
    }

    pub(crate) fn keep(&mut self, k: Continuation<u64>) {
        self.kept.truncate(16);
        self.kept.push(k);
    }

    pub(crate) fn release(&mut self) -> usize {
        let (sum, count) = (self.sum, self.kept.len());
        self.kept.drain(..).for_each(|k| k.resolve(sum));
        count
    }

    pub(crate) async fn wait(_this: Ref<Self>, with: Ref<Cell>) -> u64 {
        suspend_with(move |k| with.keep(k).oneway()).await
    }

    pub(crate) async fn get(_this: Ref<Self>, array: IArray<u64>, index: usize) -> u64 {
        array.get(index).await
    }

    pub(crate) async fn take(_this: Ref<Self>, array: MArray<u64>, index: usize) -> u64 {
        array.take(index).await
    }

    pub(crate) async fn slow(&mut self, amount: u64) -> u64 {
        yield_now().await;
        self.sum = self.sum.wrapping_add(amount);
        self.sum
    }

    async fn last(&self, mut others: Vec<Ref<Cell>>) -> u64 {
        match others.pop() {
            Some(next) => next.last(others).await,
            None => self.sum,
        }
    }

    fn look_up(&self, table: Replicated<Vec<u64>>) -> u64 {
        table.first().copied().unwrap_or(0)
    }
}

#[task]
async fn task_at(n: u64) -> u64 {
    n.wrapping_mul(here() as u64)
}

#[task]
pub(crate) async fn activity(cells: &[Ref<Cell>], k: u64) -> ControlFlow<()> {
    if k == 3 {
        cells[4].slow(k).await;
        return Break(());
    }
    cells[k as usize % NODES].wait(cells[(k as usize + 1) % NODES]).await;
    Continue(())
}

#[task]
async fn put_all(array: IArray<u64>) {
    // A forged message may have made the array, of any length.
    if array.len() <= 64 {
        array.fill(|index| index as u64).await;
    }
}

#[task]
async fn get_some(array: IArray<u64>) -> u64 {
    array.get(0).await + array.get(array.len() - 1).await
}

#[task]
async fn puts(array: IArray<u64>) {
    yield_now().await;
    everywhere(put_all, array).await;
}

#[task]
async fn get_text(array: IArray<String>) -> String {
    array.get(3).await
}

#[task]
async fn make_array(len: usize) -> u64 {
    let array = IArray::create(len % 64 + 1, layout::cyclic(nodes())).await;
    array.put(0, 1).await;
    let first = array.get(0).await;
    array.free().await;
    first
}

/// May run on a worker without nodes, whose accesses are work for others.
#[task]
async fn copy(from: IArray<u64>, to: IArray<u64>, index: usize) {
    yield_now().await;
    to.put(index, from.get(index).await).await;
}

#[task]
async fn copies(from: IArray<u64>) -> u64 {
    let to = IArray::create(40, layout::cyclic(nodes())).await;
    join_all((0..40).map(|index| copy(from, to, index))).await;
    let sum = to.freeze().await.iter().sum::<u64>();
    to.free().await;
    sum
}

#[task]
async fn arrays() -> u64 {
    let mut sum = 0;
    for cache in [Cache::Off, Cache::On { block: 8, capacity: 2 }, Cache::Auto] {
        for cyclic in [false, true] {
            let array = if cyclic {
                IArray::create(40, layout::cyclic(nodes())).cached(cache).counted().await
            } else {
                IArray::create(40, layout::block(40, nodes())).cached(cache).await
            };
            let (got, ()) = join!(everywhere(get_some, array), puts(array));
            sum += got.into_iter().sum::<u64>();
            sum += array.get_range(0..40).await.into_iter().sum::<u64>();
            sum += array.counts().await.len() as u64 + on(4).call(copies, array).await;
            array.free().await;
        }
    }
    let runs = IArray::create(12, |index| [0, 0, 0, 0, 0, 1, 1, 3, 3, 3, 3, 4][index]).plain().await;
    runs.put(11, [1.0_f64, 2.0]).await;
    sum += runs.get(11).await[1] as u64;
    let texts = IArray::create(12, |index| [2, 0, 4, 1, 1, 0, 2, 2, 0, 3, 3, 1][index]).await;
    texts.put(3, "text".to_owned()).await;
    sum += everywhere(get_text, texts).await.len() as u64;
    sum += on(4).call(make_array, 7).await;
    let taken = MArray::create(10, layout::block(10, nodes())).await;
    taken.put(9, 7_u64).await;
    sum += taken.take(9).await;
    taken.free().await;
    texts.free().await;
    runs.free().await;
    sum
}

#[task]
async fn object_arrays() -> u64 {
    let cells =
        Array::create(20, layout::cyclic(nodes()), |index, sum: &u64| Cell::new(sum.wrapping_add(index as u64)), 3)
            .await;
    let mut sum: u64 = cells.each(|cell| cell.add(1)).await.into_iter().sum();
    sum += cells.each_with((0..20).collect(), |cell, amount: u64| cell.add(amount)).await.len() as u64;
    sum += cells.each_sharing(5, |cell, amount: u64| cell.slow(amount)).await.len() as u64;
    cells.each(|cell| cell.release()).await;
    cells.free().await;
    sum
}

#[task]
pub(crate) async fn make_cells() -> Vec<Ref<Cell>> {
    let mut cells = Vec::new();
    for node in 0..nodes() {
        cells.push(on(node).create_with(Cell::new, node as u64).await);
    }
    cells
}

/// Where the task runs: the number of its worker.
#[task(portable)]
async fn whereabouts(_n: u32) -> usize {
    busy_wait();
    here()
}

/// The same, after all activities of the group have met.
#[task(portable)]
async fn meets(_n: u32) -> usize {
    busy_wait();
    sync().await;
    here()
}

/// Whether `migrations` runs: forged calls of its tasks take no time.
static MIGRATING: AtomicBool = AtomicBool::new(false);

/// Takes long enough for another process to ask for work.
fn busy_wait() {
    let start = Instant::now();
    while MIGRATING.load(Ordering::Relaxed) && start.elapsed() < Duration::from_micros(50) {
        std::hint::spin_loop();
    }
}

/// Runs portable tasks until another process has taken some of each kind. Returns 3.
#[task]
async fn migrations() -> u64 {
    let away = |places: &[usize]| places.iter().any(|&place| place >= WORKERS.load(Ordering::Relaxed));
    MIGRATING.store(true, Ordering::Relaxed);
    let (mut tasks, mut branches, mut activities) = (false, false, false);
    while !(tasks && branches && activities) {
        tasks |= away(&join_all((0..20).map(whereabouts)).await);
        let (a, b) = join!(whereabouts(0), whereabouts(1));
        branches |= away(&[a, b]);
        activities |= away(&parfor(0..20, meets).collect().await);
    }
    MIGRATING.store(false, Ordering::Relaxed);
    3
}

/// The number of workers of each process.
pub(crate) static WORKERS: AtomicUsize = AtomicUsize::new(1);

/// Uses everything that sends messages.
#[task]
pub(crate) async fn everything() -> u64 {
    let cells = make_cells().await;
    let mut sum = 0;
    for cell in &cells {
        sum += cell.add(1).await + cell.slow(2).await;
        sum += cell.text("some text".to_owned(), vec![(1, Some(-1)), (1 << 20, None)]).await.1 as u64;
        sum += cell.nothings(vec![(); 3]).await.len() as u64;
        sum += u64::from(cell.fail().checked().await.is_err());
        sum += cell.look_up(Replicated::new(vec![5, 6, 7])).await;
        cell.add(3).oneway().await;
    }
    sum += cells[0].last(cells[1..].to_vec()).await;
    let more = on(1).create_many(vec![Cell::new(8), Cell::new(9)]).await;
    let moved = on(3).create(Cell::new(4)).await;
    Ref::free(moved).await;
    sum += u64::from(moved.add(1).checked().await.is_err());
    sum += more[1].add(0).await;
    for cell in more {
        Ref::free(cell).await;
    }
    sum += everywhere(task_at, 3).await.into_iter().sum::<u64>() + on(4).call(task_at, 5).await;
    let releases = cells[2];
    let wait = suspend_with(move |k| releases.keep(k).oneway());
    let (kept, ()) = join!(wait, release(releases));
    sum += kept;
    let broken = parfor(0..NODES as u64, |k| activity(&cells, k)).await;
    sum += u64::from(broken.is_break());
    mapped(0_u8..20, |k, n: &u8| _ = std::hint::black_box(k.wrapping_add(*n)), 7).await;
    sum + object_arrays().await + arrays().await + migrations().await
}

#[task]
pub(crate) async fn release(cell: Ref<Cell>) {
    while cell.release().await == 0 {
        yield_now().await;
    }
}
