//! Forged messages do no harm: a fuzzer of the decoders of messages between processes.
//!
//! Real messages of every kind are recorded, mutated, and sent to the workers of a runtime through the memory in which
//! messages arrive, while its tasks wait for answers. Mutated messages may call the methods of real objects with any
//! arguments; nothing may panic outside tasks, hang, take much memory, or damage memory. Afterwards the runtime must work
//! as before.
//!
//! `FINESPUN_FUZZ` sets the number of messages, `FINESPUN_SEED` the seed.

mod common;

use std::collections::BTreeMap;
use std::ops::ControlFlow::{self, Break, Continue};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use finespun::group::sync;
use finespun::istructure::{Cache, IArray, MArray};
use finespun::objects::{Replicated, suspend_with};
use finespun::prelude::*;
use finespun::testing::wire::{self, Kind};
use finespun::testing::*;
use finespun::{everywhere, layout, mapped, parfor};
use serde::{Deserialize, Serialize};

const PROCESSES: usize = 2;
const NODES: usize = 5;

/// Messages to each runtime.
const EACH: u64 = if cfg!(debug_assertions) { 30_000 } else { 1_000_000 };
/// The number of kinds of messages that `everything` sends.
const KINDS: usize = 40;
/// The number of kinds of messages between teams.
const TEAM_KINDS: usize = 9;
/// Messages of teams to each run.
const EACH_RUN: usize = 2_000;

/// Bytes that name the handler of a message.
const IDENTITY: usize = 12;

#[derive(Serialize, Deserialize)]
struct Cell {
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

    fn keep(&mut self, k: Continuation<u64>) {
        self.kept.truncate(16);
        self.kept.push(k);
    }

    fn release(&mut self) -> usize {
        let (sum, count) = (self.sum, self.kept.len());
        self.kept.drain(..).for_each(|k| k.resolve(sum));
        count
    }

    async fn wait(_this: Ref<Self>, with: Ref<Cell>) -> u64 {
        suspend_with(move |k| with.keep(k).oneway()).await
    }

    async fn get(_this: Ref<Self>, array: IArray<u64>, index: usize) -> u64 {
        array.get(index).await
    }

    async fn take(_this: Ref<Self>, array: MArray<u64>, index: usize) -> u64 {
        array.take(index).await
    }

    async fn slow(&mut self, amount: u64) -> u64 {
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
async fn activity(cells: &[Ref<Cell>], k: u64) -> ControlFlow<()> {
    if k == 3 {
        cells[4].slow(k).await;
        return Break(());
    }
    cells[k as usize % NODES].wait(cells[(k as usize + 1) % NODES]).await;
    Continue(())
}

#[task]
async fn put_all(array: IArray<u64>) {
    array.fill(|index| index as u64).await;
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
async fn make_cells() -> Vec<Ref<Cell>> {
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
static WORKERS: AtomicUsize = AtomicUsize::new(1);

/// Uses everything that sends messages.
#[task]
async fn everything() -> u64 {
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
async fn release(cell: Ref<Cell>) {
    while cell.release().await == 0 {
        yield_now().await;
    }
}

/// What tasks of the victims wait for.
#[derive(Clone)]
struct Waits {
    cells: Vec<Ref<Cell>>,
    written: IArray<u64>,
    cached: IArray<u64>,
    taken: MArray<u64>,
}

#[task]
async fn make_waits() -> Waits {
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
async fn victim(waits: Waits) {
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
    let victim = Victim { name: wire::run_name(), fresh, numbers: wire::numbers() };
    *VICTIM.lock().unwrap() = Some(victim);
    VICTIMS.fetch_add(1, Ordering::Release);
}

/// Facts about the victim that the attack uses.
struct Victim {
    name: [u8; 4],
    /// Its messages so far.
    fresh: Vec<Vec<u8>>,
    /// Numbers of values that wait for answers.
    numbers: Vec<u64>,
}

/// The latest victim.
static VICTIM: Mutex<Option<Victim>> = Mutex::new(None);
static VICTIMS: AtomicU64 = AtomicU64::new(0);
static FORGOTTEN: Mutex<Vec<Continuation<()>>> = Mutex::new(Vec::new());

/// What `everything` returns.
static RIGHT: Mutex<Option<u64>> = Mutex::new(None);
/// Forged messages sent so far.
static SENT: AtomicU64 = AtomicU64::new(0);

/// A generator of random numbers (xorshift).
#[derive(Clone)]
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() >> 16) as usize % bound.max(1)
    }
}

/// Messages by their handlers.
struct Corpus {
    kinds: Vec<Vec<Vec<u8>>>,
    /// The kinds that the victim has sent.
    fresh: Vec<Vec<Vec<u8>>>,
    numbers: Vec<u64>,
    name: [u8; 4],
}

fn kinds(messages: Vec<Vec<u8>>, header: usize) -> Vec<Vec<Vec<u8>>> {
    let mut kinds: BTreeMap<Vec<u8>, Vec<Vec<u8>>> = BTreeMap::new();
    for message in messages {
        let kind = kinds.entry(message[..header.min(message.len())].to_vec()).or_default();
        if kind.len() < 64 {
            kind.push(message);
        }
    }
    kinds.into_values().collect()
}

/// Returns where a message, if it is a request, has the name of its run, and the number of the wait for the answer. The
/// flags are in `object::remote`.
fn places(message: &[u8]) -> (Option<usize>, Option<usize>) {
    let flags = message.get(IDENTITY).copied().unwrap_or(0);
    let number = (flags & 1 != 0).then_some(IDENTITY + 1);
    let name = (flags & 4 != 0).then_some(number.map_or(IDENTITY + 1, |number| number + 8));
    (name.filter(|name| name + 4 <= message.len()), number.filter(|number| number + 8 <= message.len()))
}

/// Returns whether a message, if it is a request, has no answer: an error in it ends its run.
fn is_one_way(message: &[u8]) -> bool {
    matches!(places(message), (Some(_), None))
}

impl Corpus {
    /// Aims at another victim.
    fn aim(&mut self, victim: Victim) {
        for message in self.kinds.iter_mut().flatten() {
            if let (Some(at), _) = places(message)
                && message[at..at + 4] == self.name
            {
                message[at..at + 4].copy_from_slice(&victim.name);
            }
        }
        self.name = victim.name;
        self.fresh = kinds(victim.fresh, IDENTITY);
        self.numbers = victim.numbers;
    }

    /// Has a message of the victim name one of the next runs.
    fn name_later(&self, random: &mut Random, message: &mut [u8]) {
        if let (Some(at), _) = places(message)
            && message[at..at + 4] == self.name
        {
            let later = u32::from_le_bytes(self.name).wrapping_add(1 + random.below(3) as u32);
            message[at..at + 4].copy_from_slice(&later.to_le_bytes());
        }
    }

    fn some(&self, random: &mut Random) -> &[u8] {
        loop {
            let fresh = !self.fresh.is_empty() && random.below(3) == 0;
            let kinds = if fresh { &self.fresh } else { &self.kinds };
            let kind = &kinds[random.below(kinds.len())];
            let message = &kind[random.below(kind.len())];
            if !is_one_way(message) || random.below(4) == 0 {
                return message;
            }
        }
    }

    /// Makes a message from some of the corpus.
    fn forge(&self, header: usize, random: &mut Random, message: &mut Vec<u8>) {
        const EXTREMES: [u64; 12] = [
            0,
            1,
            0x7f,
            0x80,
            0xff,
            0xffff,
            1 << 31,
            u32::MAX as u64,
            1 << 32,
            i64::MAX as u64,
            u64::MAX - 1,
            u64::MAX,
        ];
        message.clear();
        message.extend_from_slice(self.some(random));
        for _ in 0..1 + random.below(4).saturating_sub(1) {
            let len = message.len();
            // Most often the handler gets the message.
            let from = if random.below(32) == 0 { 0 } else { header.min(len) };
            let at = from + random.below(len - from);
            let end = |bytes: usize| (at + bytes).min(len);
            match random.below(10) {
                0 | 1 if at < len => message[at] ^= 1 << random.below(8),
                2 if at < len => message[at] = random.next() as u8,
                3 => message.truncate(at),
                4 => message.extend((0..random.below(20)).map(|_| random.next() as u8)),
                5 => {
                    let other = self.some(random);
                    let (from, count) = (random.below(other.len()), 1 + random.below(16));
                    let other = &other[from..(from + count).min(other.len())];
                    message.splice(at..end(random.below(count + 1)), other.iter().copied());
                }
                // An integer, as postcard writes it, or in eight bytes.
                6 => {
                    let mut value = EXTREMES[random.below(EXTREMES.len())];
                    if random.below(3) == 0 {
                        message.splice(at..end(8), value.to_le_bytes());
                        continue;
                    }
                    let mut bytes = Vec::new();
                    while value > 0x7f {
                        bytes.push(value as u8 | 0x80);
                        value >>= 7;
                    }
                    bytes.push(value as u8);
                    message.splice(at..end(1), bytes);
                }
                // Another handler, or build.
                7 => {
                    let other = self.some(random);
                    let header = header.min(other.len()).min(len);
                    message[..header].copy_from_slice(&other[..header]);
                }
                // The number of something that waits, most often in place of another one.
                8 if !self.numbers.is_empty() && len >= from + 8 => {
                    let number = self.numbers[random.below(self.numbers.len())].to_le_bytes();
                    let named = places(message).1.filter(|_| header == IDENTITY && random.below(4) > 0);
                    let at = named.unwrap_or(from + random.below(len - from - 7));
                    message[at..at + 8].copy_from_slice(&number);
                }
                _ => {
                    let bytes: Vec<u8> = message[at..end(1 + random.below(12))].to_vec();
                    message.splice(at..at, bytes);
                }
            }
        }
    }
}

/// Sends `count` forged messages to all workers, most of them in the name of the victims' runs.
#[task]
async fn attack(mut corpus: Corpus, count: u64, seed: u64, workers: usize) {
    let mut random = Random(seed);
    let (mut message, mut victims) = (Vec::new(), 0);
    for sent in 0..count {
        if VICTIMS.load(Ordering::Acquire) != victims
            && let Some(victim) = VICTIM.lock().unwrap().take()
        {
            victims = VICTIMS.load(Ordering::Acquire);
            corpus.aim(victim);
        }
        corpus.forge(IDENTITY, &mut random, &mut message);
        if random.below(8) == 0 {
            corpus.name_later(&mut random, &mut message);
        }
        let to = random.below(workers);
        while !wire::forge(to, &message) {
            yield_now().await;
        }
        SENT.fetch_add(1, Ordering::Relaxed);
        if sent % 32 == 31 {
            yield_now().await;
        }
    }
}

/// Records the messages of `everything`. Returns them with the name of their run.
#[task]
async fn record() -> (Vec<Vec<u8>>, [u8; 4]) {
    wire::record(true);
    let sum = everything().await;
    wire::record(false);
    assert_eq!(*RIGHT.lock().unwrap().get_or_insert(sum), sum);
    (wire::recorded(Kind::Tasks), wire::run_name())
}

fn setting(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|value| value.parse().expect("a number"))
}

/// The tests record all messages of the process.
static ALONE: Mutex<()> = Mutex::new(());

/// What tasks' panics say after forged messages.
const EXPECTED: [&str; 16] = [
    "as asked",
    "could not be decoded",
    "could not be read",
    "has been freed",
    "was freed while",
    "dropped unresolved",
    "it is full",
    "and was put before",
    "there is no element",
    "there is no node",
    "a forged message",
    "its reference is stale",
    "was cancelled",
    "arrays already",
    "each index once",
    "was called in no group",
];

/// Tells only unexpected panics. Aborts the process if the library contradicts itself.
fn quiet() {
    std::panic::set_hook(Box::new(|panic| {
        let text = panic.to_string();
        if !EXPECTED.iter().any(|expected| text.contains(expected)) {
            eprintln!("{text}\n{}", std::backtrace::Backtrace::force_capture());
        }
        if text.contains("internal error") {
            std::process::abort();
        }
    }));
}

/// Aborts the process if no message has been sent for a minute.
fn watch() {
    std::thread::spawn(|| {
        let (mut last, mut since) = (0, Instant::now());
        loop {
            std::thread::sleep(Duration::from_secs(1));
            let sent = SENT.load(Ordering::Relaxed);
            if sent != last {
                (last, since) = (sent, Instant::now());
            } else if since.elapsed() > Duration::from_secs(60) {
                eprintln!("stuck after {sent} messages");
                std::process::abort();
            }
        }
    });
}

#[test]
fn forged_messages_do_no_harm() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    quiet();
    watch();
    let wanted = setting("FINESPUN_FUZZ");
    let (start, mut seed) = (Instant::now(), setting("FINESPUN_SEED").unwrap_or(1));
    let (mut runtimes, mut ended) = (0_u64, 0_u64);
    let mut said = Instant::now();
    loop {
        let sent = SENT.load(Ordering::Relaxed);
        match wanted {
            Some(wanted) if sent >= wanted => break,
            None if start.elapsed() > Duration::from_secs(8) => break,
            _ => {}
        }
        if said.elapsed() > Duration::from_secs(10) {
            said = Instant::now();
            eprintln!(
                "{sent} messages, {runtimes} runtimes, {ended} runs ended early, seed {seed}, {:?}",
                start.elapsed()
            );
        }
        seed += 1;
        let workers = if seed % 4 == 3 { 3 } else { 1 };
        WORKERS.store(workers, Ordering::Relaxed);
        let runtime = Runtime::builder().processes(PROCESSES).workers(workers).nodes(NODES);
        let runtime = runtime.block_every([0, 0, 3, 0][seed as usize % 4]).build().unwrap();
        let (messages, name) = runtime.run(record());
        let corpus = Corpus { kinds: kinds(messages, IDENTITY), fresh: Vec::new(), numbers: Vec::new(), name };
        assert!(corpus.kinds.len() >= KINDS, "messages of {} kinds", corpus.kinds.len());
        let attack = attack(corpus, EACH, seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1, PROCESSES * workers);
        let over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                // A forged message may end the run of the attack.
                let attacked = runtime.try_run(attack);
                over.store(true, Ordering::Relaxed);
                drop(attacked);
            });
            while !over.load(Ordering::Relaxed) {
                let Ok(waits) = runtime.try_run(make_waits()) else { continue };
                let mut run = pin!(runtime.spawn(victim(waits)));
                // Dropping the run cancels it.
                while !over.load(Ordering::Relaxed) {
                    let mut context = Context::from_waker(Waker::noop());
                    match catch_unwind(AssertUnwindSafe(|| run.as_mut().poll(&mut context))) {
                        Ok(Poll::Pending) => {}
                        _ => {
                            ended += 1;
                            break;
                        }
                    }
                    std::thread::sleep(Duration::from_micros(20));
                }
                wire::record(false);
                FORGOTTEN.lock().unwrap().clear();
            }
        });
        // The last forged messages arrive, and name runs that have not begun.
        std::thread::sleep(Duration::from_millis(20));
        match runtime.try_run(everything()) {
            Ok(sum) => assert_eq!(Some(sum), *RIGHT.lock().unwrap(), "seed {seed}"),
            Err(error) => {
                eprintln!("seed {seed}: {error}");
                panic!("the runtime does not work as before");
            }
        }
        assert_eq!(runtime.close(), 0, "seed {seed}");
        runtimes += 1;
    }
    let (sent, elapsed) = (SENT.load(Ordering::Relaxed), start.elapsed());
    println!("{sent} messages in {elapsed:?}: {:.0} per second", sent as f64 / elapsed.as_secs_f64());
    println!("{runtimes} runtimes, {ended} runs ended early");
}

/// Uses everything, again and again.
#[task]
async fn busy() -> u64 {
    let mut sum = 0_u64;
    loop {
        sum = sum.wrapping_add(everything().await);
    }
}

/// The messages between the teams are obeyed, so a forged one may end a run, or make the runtime find a deadlock or none.
/// But the processes live, and the runtime can be dropped.
#[test]
fn forged_messages_of_teams_do_no_harm() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    quiet();
    watch();
    let mut random = Random(setting("FINESPUN_SEED").unwrap_or(1).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let (start, mut sent) = (Instant::now(), 0_u64);
    let wanted = setting("FINESPUN_FUZZ_TEAMS");
    while wanted.map_or(start.elapsed() < Duration::from_secs(4), |wanted| sent < wanted) {
        let processes = 2 + random.below(3);
        WORKERS.store(1, Ordering::Relaxed);
        let runtime = Runtime::builder().processes(processes).workers(1).nodes(NODES).build().unwrap();
        wire::record(true);
        runtime.run(everything());
        drop(runtime.spawn(busy()));
        let _ = runtime.try_run(never_released());
        wire::record(false);
        wire::recorded(Kind::Tasks);
        // The first byte says what a message is.
        let kinds = kinds(wire::recorded(Kind::Teams), 1);
        assert!(kinds.len() >= TEAM_KINDS, "messages of {} kinds", kinds.len());
        let corpus = Corpus { kinds, fresh: Vec::new(), numbers: Vec::new(), name: [0; 4] };
        let mut message = Vec::new();
        for _ in 0..10 {
            let run = runtime.spawn(busy());
            for _ in 0..EACH_RUN {
                corpus.forge(1, &mut random, &mut message);
                let (from, to) = (random.below(processes), random.below(processes));
                wire::forge_of_team(&runtime, from, to, &message);
                SENT.fetch_add(1, Ordering::Relaxed);
                sent += 1;
                if sent.is_multiple_of(64) {
                    std::thread::sleep(Duration::from_micros(50));
                }
            }
            drop(run);
        }
        drop(runtime);
    }
    println!("{sent} messages of teams in {:?}", start.elapsed());
}

#[task]
async fn never_released() -> u64 {
    let cells = make_cells().await;
    cells[0].wait(cells[NODES - 1]).await
}
