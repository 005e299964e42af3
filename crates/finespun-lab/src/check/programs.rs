//! The catalogue of `finespun check`: programs whose outcome is known whatever the machine does.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use finespun::closure::{Cont, make_closure, post, send_argument, thread, top};
use finespun::group::{Level, sync};
use finespun::istructure::{Cache, IArray};
use finespun::prelude::*;
use finespun::simulation::work;
use finespun::sync::{Mutex, Semaphore};
use finespun::tasks::quiesce;
use finespun::{RunError, layout, level, preturn};
use serde::{Deserialize, Serialize};

use super::draw::Draw;

/// A program of the catalogue.
pub struct Program {
    pub name: &'static str,
    /// Runs the program once, and returns what did not hold.
    pub run: fn(&Runtime, &mut Draw) -> Result<(), String>,
}

/// All programs.
pub const CATALOGUE: &[Program] = &[
    Program { name: "tree", run: tree },
    Program { name: "accounts", run: accounts },
    Program { name: "wave", run: wave },
    Program { name: "order", run: order },
    Program { name: "chains", run: chains },
    Program { name: "first", run: first },
    Program { name: "closures", run: closures },
    Program { name: "heirs", run: heirs },
    Program { name: "deadlock", run: deadlock },
    Program { name: "unrest", run: unrest },
    Program { name: "panic", run: panic },
    Program { name: "flood", run: flood },
    Program { name: "abandoned", run: abandoned },
    Program { name: "locks", run: locks },
    Program { name: "steps", run: steps },
];

/// Returns an error unless the two are equal.
fn same<T: PartialEq + std::fmt::Debug>(what: &str, found: T, expected: T) -> Result<(), String> {
    if found == expected { Ok(()) } else { Err(format!("{what}: {found:?} instead of {expected:?}")) }
}

fn run<T>(runtime: &Runtime, task: T) -> Result<T::Output, String>
where
    T: Task + Send,
    T::Output: Send,
{
    runtime.try_run(task).map_err(|error| format!("the run failed: {error}"))
}

/// The number of values that exist: a value that is lost or destroyed twice changes it.
#[derive(Clone, Default)]
struct Count(Arc<AtomicI64>);

struct Counted(Count);

impl Count {
    fn one(&self) -> Counted {
        self.0.fetch_add(1, Ordering::Relaxed);
        Counted(self.clone())
    }

    fn check(&self) -> Result<(), String> {
        same("values that exist after the run", self.0.load(Ordering::Relaxed), 0)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Returns a number that depends on both.
fn mix(seed: u64, k: u64) -> u64 {
    let mixed = (seed ^ k.wrapping_mul(0x9E37_79B9_7F4A_7C15)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed ^ (mixed >> 29)
}

// Calls of all forms.

fn tree(runtime: &Runtime, draw: &mut Draw) -> Result<(), String> {
    fn plain(seed: u64, depth: u32) -> u64 {
        if depth == 0 { seed % 100 } else { plain(mix(seed, 1), depth - 1) + plain(mix(seed, 2), depth - 1) }
    }
    let (seed, depth, count) = (draw.number(), 3 + draw.below(5) as u32, Count::default());
    let found = run(runtime, grow(seed, depth, count.clone()))?;
    count.check()?;
    same("the sum", found, plain(seed, depth))
}

#[task]
async fn grow(seed: u64, depth: u32, count: Count) -> u64 {
    let _one = count.one();
    if depth == 0 {
        return seed % 100;
    }
    let child = |k: u64| grow(mix(seed, k), depth - 1, count.clone());
    match seed % 6 {
        0 => {
            let (a, b) = join!(child(1), child(2));
            a + b
        }
        1 => {
            let handle = spawn(child(1));
            let b = child(2).await;
            handle.await + b
        }
        2 => join_all((1..=2).map(child)).await.into_iter().sum(),
        3 => {
            yield_now().await;
            let a = child(1).await;
            a + child(2).await
        }
        4 => reduce((1..=2).map(child), 0, |a, b| a + b).await,
        _ => {
            let value = suspend(|k: Continuation<u64>| k.resolve(1)).await;
            child(value).await + child(2).await
        }
    }
}

// Objects with locks.

#[derive(Serialize, Deserialize)]
struct Account {
    balance: u64,
    log: Vec<u64>,
}

#[object]
impl Account {
    fn balance(&self) -> u64 {
        self.balance
    }

    async fn withdraw(&mut self, amount: u64) -> bool {
        let balance = self.balance;
        yield_now().await;
        if balance >= amount {
            self.balance = balance - amount;
        }
        balance >= amount
    }

    fn deposit(&mut self, amount: u64) {
        self.balance += amount;
        self.log.push(amount);
    }

    async fn transfer(this: Ref<Self>, to: Ref<Account>, amount: u64) -> bool {
        if !this.withdraw(amount).await {
            return false;
        }
        to.deposit(amount).await;
        true
    }
}

fn accounts(runtime: &Runtime, draw: &mut Draw) -> Result<(), String> {
    let (seed, accounts, transfers) = (draw.number(), 2 + draw.below(6), 1 + draw.below(40));
    let (sum, count) = run(runtime, bank(seed, accounts, transfers))?;
    same("the sum of all balances", sum, accounts * 100)?;
    if count > transfers { Err(format!("{count} of {transfers} transfers were made")) } else { Ok(()) }
}

#[task]
async fn bank(seed: u64, accounts: u64, transfers: u64) -> (u64, u64) {
    let place = |k: u64| on((mix(seed, k) % nodes() as u64) as usize);
    let open = |k| place(k).create(Account { balance: 100, log: Vec::new() });
    let accounts = join_all((0..accounts).map(open)).await;
    let of = |k: u64| accounts[(mix(seed, k) % accounts.len() as u64) as usize];
    let transfer = |k: u64| of(3 * k).transfer(of(3 * k + 1), mix(seed, 3 * k + 2) % 90);
    let done = join_all((0..transfers).map(transfer)).await.into_iter().filter(|&done| done).count();
    let sum = reduce(accounts.iter().map(|account| account.balance()), 0, |a, b| a + b).await;
    (sum, done as u64)
}

// Write-once arrays.

fn wave(runtime: &Runtime, draw: &mut Draw) -> Result<(), String> {
    let (len, how, cache) = (1 + draw.below(60) as usize, draw.below(3), draw.below(4));
    let mut expected = vec![1_u64; len];
    for at in 2..len {
        expected[at] = expected[at - 1] + expected[at - 2] % 1000;
    }
    same("the elements", run(runtime, fill(len, how, cache))?, expected)
}

#[task]
async fn fill(len: usize, how: u64, cache: u64) -> Vec<u64> {
    let nodes = nodes();
    let cache = match cache {
        0 => Cache::Off,
        1 => Cache::Auto,
        2 => Cache::On { block: 1, capacity: 2 },
        _ => Cache::On { block: 8, capacity: 32 },
    };
    let place = move |at: usize| match how {
        0 => layout::block(len, nodes)(at),
        1 => layout::cyclic(nodes)(at),
        _ => at * at % nodes,
    };
    let all = IArray::create(len, place).cached(cache).await;
    let (values, ()) =
        join!(join_all((0..len).rev().map(|at| all.get(at))), parfor(0..len, |at| put(all, len - 1 - at)));
    all.free().await;
    values.into_iter().rev().collect()
}

#[task]
async fn put(all: IArray<u64>, at: usize) {
    let value = if at < 2 {
        1
    } else {
        let (a, b) = join!(all.get(at - 1), all.get(at - 2));
        a + b % 1000
    };
    all.put(at, value).await;
}

// One-way calls: order between a pair, and quiescence.

#[derive(Serialize, Deserialize)]
struct Receiver {
    next: Vec<u64>,
    wrong: u64,
}

#[object]
impl Receiver {
    fn receive(&mut self, sender: usize, number: u64) {
        self.wrong += u64::from(self.next[sender] != number);
        self.next[sender] = number + 1;
    }

    fn result(&self) -> (u64, u64) {
        (self.next.iter().sum(), self.wrong)
    }

    /// Sends from this object's node: a method stays there.
    async fn send(this: Ref<Self>, receivers: Vec<Ref<Receiver>>, each: u64) {
        let from = Ref::node(this);
        for number in 0..each {
            for receiver in &receivers {
                receiver.receive(from, number).oneway().await;
            }
        }
    }
}

fn order(runtime: &Runtime, draw: &mut Draw) -> Result<(), String> {
    let each = 1 + draw.below(30);
    let nodes = runtime.nodes() as u64;
    same("messages received, and out of order", run(runtime, send_all(each))?, (nodes * nodes * each, 0))
}

#[task]
async fn send_all(each: u64) -> (u64, u64) {
    let make = |node| on(node).create(Receiver { next: vec![0; nodes()], wrong: 0 });
    let receivers = join_all((0..nodes()).map(make)).await;
    join_all(receivers.iter().map(|receiver| receiver.send(receivers.clone(), each))).await;
    quiesce().await;
    let results = join_all(receivers.iter().map(|receiver| receiver.result())).await;
    results.into_iter().fold((0, 0), |sum, result| (sum.0 + result.0, sum.1 + result.1))
}

#[derive(Serialize, Deserialize)]
struct Hop {
    others: Vec<Ref<Hop>>,
    count: u64,
}

#[object]
impl Hop {
    fn meet(&mut self, others: Vec<Ref<Hop>>) {
        self.others = others;
    }

    /// Passes the message on, sometimes twice.
    async fn pass(&mut self, seed: u64, left: u64) {
        self.count += 1;
        if left == 0 {
            return;
        }
        if seed.is_multiple_of(3) {
            yield_now().await;
        }
        for k in 0..=u64::from(seed.is_multiple_of(4)) {
            let next = self.others[(mix(seed, k) % self.others.len() as u64) as usize];
            next.pass(mix(seed, k), left - 1).oneway().await;
        }
    }

    fn count(&self) -> u64 {
        self.count
    }
}

fn chains(runtime: &Runtime, draw: &mut Draw) -> Result<(), String> {
    fn plain(seed: u64, left: u64) -> u64 {
        if left == 0 {
            return 1;
        }
        1 + (0..=u64::from(seed.is_multiple_of(4))).map(|k| plain(mix(seed, k), left - 1)).sum::<u64>()
    }
    let (seed, left) = (draw.number(), draw.below(16));
    same("hops counted once quiescent", run(runtime, start_chain(seed, left))?, plain(seed, left))
}

#[task]
async fn start_chain(seed: u64, left: u64) -> u64 {
    let hops = join_all((0..nodes()).map(|node| on(node).create(Hop { others: Vec::new(), count: 0 }))).await;
    join_all(hops.iter().map(|hop| hop.meet(hops.clone()))).await;
    hops[0].pass(seed, left).oneway().await;
    quiesce().await;
    reduce(hops.iter().map(|hop| hop.count()), 0, |a, b| a + b).await
}

// Groups that an activity ends.

fn first(runtime: &Runtime, draw: &mut Draw) -> Result<(), String> {
    let (width, depth, count) = (1 + draw.below(12), 1 + draw.below(3), Count::default());
    let target = draw.below(width);
    let found = run(runtime, search(width, depth, target, count.clone()))?;
    count.check()?;
    same("the number found", found, target)
}

#[task]
async fn search(width: u64, depth: u64, target: u64, count: Count) -> u64 {
    let count = &count;
    level(|found| look(found, width, depth, target, count)).await
}

#[task]
async fn look(found: Level<u64>, width: u64, depth: u64, target: u64, count: &Count) -> u64 {
    parfor(0..width, |k| look_at(found, width, depth, target, k, count)).await;
    u64::MAX
}

#[task]
async fn look_at(found: Level<u64>, width: u64, depth: u64, target: u64, k: u64, count: &Count) {
    let _one = count.one();
    if k % 3 == 1 {
        yield_now().await;
    }
    if depth > 1 {
        look(found, width, depth - 1, target, count).await;
    } else if k == target {
        preturn(found, k).await;
    } else if k % 4 == 2 {
        // Ends only with the group.
        waits_for_ever().await;
    }
}

// Closures.

#[thread]
fn fork(to: Cont<u64>, n: u64) {
    if n < 2 {
        return send_argument(n, to);
    }
    let sum = make_closure!(plus, to, _, _);
    post(make_closure!(fork, sum.a, n - 1));
    post(make_closure!(fork, sum.b, n - 2));
}

#[thread]
fn plus(to: Cont<u64>, a: u64, b: u64) {
    send_argument(a + b, to);
}

fn closures(runtime: &Runtime, draw: &mut Draw) -> Result<(), String> {
    let n = draw.below(13);
    let fib = (0..n).fold((0, 1), |(a, b), _| (b, a + b)).0;
    same("fib", run(runtime, top(move |k| post(make_closure!(fork, k, n))))?, fib)
}

/// Sends the answer, while the closures of [`strew`] go on.
#[thread]
fn answer(#[shared] _ran: &AtomicU64, to: Cont<u64>) {
    send_argument(7, to);
}

#[thread]
fn strew(#[shared] ran: &AtomicU64, depth: u64, seed: u64) {
    if depth > 0 {
        for k in 1..=2 {
            post(make_closure!(strew, depth - 1, mix(seed, k)));
        }
    }
    work(Duration::from_nanos(seed % 2000));
    ran.fetch_add(1, Ordering::Relaxed);
}

fn heirs(runtime: &Runtime, draw: &mut Draw) -> Result<(), String> {
    let (depth, seed, ran) = (draw.below(8), draw.number(), Arc::new(AtomicU64::new(0)));
    let first = move |k| {
        post(make_closure!(strew, depth, seed));
        post(make_closure!(answer, k));
    };
    same("the answer", run(runtime, top(first).sharing(Arc::clone(&ran)))?, 7)?;
    same("closures that ran before the computation was over", ran.load(Ordering::Relaxed), (2 << depth) - 1)
}

// Waits that nothing ends.

fn deadlock(runtime: &Runtime, draw: &mut Draw) -> Result<(), String> {
    let (waits, count) = (1 + draw.below(10), Count::default());
    match runtime.try_run(stuck(waits, count.clone())) {
        Err(RunError::Deadlock(report)) => {
            count.check()?;
            let named = report.iter().filter(|line| line.contains("waits_for_ever")).count() as u64;
            same("waits in the report", named, waits)
        }
        Err(error) => Err(format!("no deadlock was reported: {error}")),
        Ok(()) => Err("the run ended".to_owned()),
    }
}

/// Rests are awaited beside a wait that nothing ends: there is no rest.
fn unrest(runtime: &Runtime, draw: &mut Draw) -> Result<(), String> {
    let (waiters, stuck, rested) = (1 + draw.below(3), 1 + draw.below(2), AtomicU64::new(0));
    match runtime.try_run(rest_beside(waiters, stuck, &rested)) {
        Err(RunError::Deadlock(_)) => same("tasks that found a rest", rested.into_inner(), 0),
        Err(error) => Err(format!("no deadlock was reported: {error}")),
        Ok(()) => Err("the run ended".to_owned()),
    }
}

#[task]
async fn rest_beside(waiters: u64, stuck: u64, rested: &AtomicU64) {
    let waits = join_all((0..stuck).map(|_| waits_for_ever()));
    join!(waits, join_all((0..waiters).map(|_| awaits_rest(rested))));
}

#[task]
async fn awaits_rest(rested: &AtomicU64) {
    quiesce().await;
    rested.fetch_add(1, Ordering::Relaxed);
}

#[task]
async fn stuck(waits: u64, count: Count) {
    let count = &count;
    parfor(0..2 * waits, |k| sometimes_stuck(k, count)).await;
}

#[task]
async fn sometimes_stuck(k: u64, count: &Count) {
    let _one = count.one();
    yield_now().await;
    if k.is_multiple_of(2) {
        waits_for_ever().await;
    }
}

#[task]
async fn waits_for_ever() {
    // Kept in the task's own frame, where nothing can use it.
    let kept = std::sync::Mutex::new(None);
    suspend(|k: Continuation<()>| *kept.lock().unwrap_or_else(PoisonError::into_inner) = Some(k)).await;
}

// Panics.

fn panic(runtime: &Runtime, draw: &mut Draw) -> Result<(), String> {
    let (tasks, count) = (1 + draw.below(30), Count::default());
    let number = draw.below(tasks);
    match runtime.try_run(one_panics(tasks, number, count.clone())) {
        Err(RunError::Panicked(panic)) => {
            count.check()?;
            same("the panic", panic.message().to_owned(), format!("number {number}"))
        }
        Err(error) => Err(format!("no panic arrived: {error}")),
        Ok(sum) => Err(format!("the run ended with {sum}")),
    }
}

#[task]
async fn one_panics(tasks: u64, number: u64, count: Count) -> u64 {
    let count = &count;
    reduce((0..tasks).map(|k| may_panic(k, number, count)), 0, |a, b| a + b).await
}

#[task]
async fn may_panic(k: u64, number: u64, count: &Count) -> u64 {
    let _one = count.one();
    if k.is_multiple_of(3) {
        yield_now().await;
    }
    if k == number {
        panic!("number {k}");
    }
    k
}

// More messages than there is room for.

fn flood(runtime: &Runtime, draw: &mut Draw) -> Result<(), String> {
    let each = 1 + draw.below(200);
    let received = run(runtime, flood_one(each))?;
    same("messages received", received, runtime.nodes() as u64 * each)
}

#[task]
async fn flood_one(each: u64) -> u64 {
    let drain = on(nodes() - 1).create(Account { balance: 0, log: Vec::new() }).await;
    finespun::everywhere(flood_from_here, (drain, each)).await;
    quiesce().await;
    drain.balance().await
}

#[task]
async fn flood_from_here(to: (Ref<Account>, u64)) {
    for _ in 0..to.1 {
        to.0.deposit(1).oneway().await;
    }
}

// A root that ends before its spawned tasks.

fn abandoned(runtime: &Runtime, draw: &mut Draw) -> Result<(), String> {
    let (tasks, turns, count) = (1 + draw.below(12), draw.below(20), Count::default());
    run(runtime, leave(tasks, turns, count.clone()))?;
    count.check()?;
    same("a later run", run(runtime, grow(1, 2, count.clone()))?, run(runtime, grow(1, 2, count))?)
}

#[task]
async fn leave(tasks: u64, turns: u64, count: Count) {
    let account = on(nodes() - 1).create(Account { balance: 0, log: Vec::new() }).await;
    for k in 0..tasks {
        drop(spawn(endless(k, account, count.clone())));
    }
    for _ in 0..turns {
        yield_now().await;
    }
}

#[task]
async fn endless(k: u64, account: Ref<Account>, count: Count) {
    let _one = count.one();
    match k % 4 {
        0 => loop {
            yield_now().await;
        },
        1 => loop {
            account.withdraw(1).await;
        },
        2 => waits_for_ever().await,
        _ => {
            let count = &count;
            parfor(0..4, |k| sometimes_stuck(k, count)).await;
        }
    }
}

// Locks of tasks.

fn locks(runtime: &Runtime, draw: &mut Draw) -> Result<(), String> {
    let (tasks, permits) = (1 + draw.below(40), 1 + draw.below(4) as usize);
    let (sum, most) = run(runtime, take_locks(tasks, permits))?;
    same("the sum", sum, tasks * (tasks - 1) / 2)?;
    if most <= permits as i64 { Ok(()) } else { Err(format!("{most} tasks had {permits} permits")) }
}

#[task]
async fn take_locks(tasks: u64, permits: usize) -> (u64, i64) {
    let (sum, semaphore) = (Mutex::new((0, 0)), Semaphore::new(permits));
    let within = AtomicI64::new(0);
    let (all, gate, inside) = (&sum, &semaphore, &within);
    parfor(0..tasks, |k| take_lock(all, gate, inside, k)).await;
    sum.into_inner()
}

#[task]
async fn take_lock(sum: &Mutex<(u64, i64)>, gate: &Semaphore, within: &AtomicI64, k: u64) {
    let _permit = gate.acquire().await;
    let now = within.fetch_add(1, Ordering::Relaxed) + 1;
    if k.is_multiple_of(2) {
        yield_now().await;
    }
    let mut sum = sum.lock().await;
    yield_now().await;
    *sum = (sum.0 + k, sum.1.max(now));
    within.fetch_sub(1, Ordering::Relaxed);
}

// Barriers.

fn steps(runtime: &Runtime, draw: &mut Draw) -> Result<(), String> {
    let (activities, rounds) = (1 + draw.below(12), 1 + draw.below(6));
    same("activities ahead of a barrier", run(runtime, go_steps(activities, rounds))?, 0)
}

#[task]
async fn go_steps(activities: u64, rounds: u64) -> i64 {
    let (arrived, wrong) = (AtomicI64::new(0), AtomicI64::new(0));
    let (arrived_ref, wrong_ref) = (&arrived, &wrong);
    parfor(0..activities, |k| go(k, activities, rounds, arrived_ref, wrong_ref)).await;
    wrong.load(Ordering::Relaxed)
}

#[task]
async fn go(k: u64, activities: u64, rounds: u64, arrived: &AtomicI64, wrong: &AtomicI64) {
    for round in 1..=rounds {
        if (k + round).is_multiple_of(3) {
            yield_now().await;
        }
        arrived.fetch_add(1, Ordering::Relaxed);
        sync().await;
        if arrived.load(Ordering::Relaxed) < (activities * round) as i64 {
            wrong.fetch_add(1, Ordering::Relaxed);
        }
    }
}
