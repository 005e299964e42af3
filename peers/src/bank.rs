//! A bank: short exclusive operations on shared accounts, from many clients.
//!
//! Each client makes transfers between random accounts: it withdraws from one and deposits to another. Three programs
//! do the same transfers: objects spread over all nodes, a mutex per account, and an actor per account with a channel.
//! They run in one process, in turns.

use std::fmt::Write;
use std::num::NonZero;
use std::sync::Mutex;
use std::time::Instant;

use ::rayon::prelude::*;
use ::rayon::{ThreadPool, ThreadPoolBuilder};
use comfy_table::{CellAlignment, Table, presets};
use tokio::sync::{mpsc, oneshot};

use crate::error::Error;
use crate::neighbours::{Ticks, note};
use crate::report::{machine, seconds};
use crate::statistics::{median, minimum};

/// The size of a bank and of its day.
#[derive(Clone, Copy, Debug)]
struct Size {
    accounts: usize,
    clients: usize,
    /// Transfers of each client.
    transfers: u64,
}

const QUICK: Size = Size { accounts: 64, clients: 16, transfers: 20 };
const FULL: Size = Size { accounts: 256, clients: 64, transfers: 1000 };

/// The balance of each account in the morning.
const BALANCE: u64 = 1000;

/// The transfers of one client, a sequence of random numbers.
#[derive(Clone)]
struct Plan(u64);

impl Plan {
    fn of(client: usize) -> Self {
        Self((client as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    fn below(&mut self, bound: usize) -> usize {
        // xorshift64
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (((self.0 >> 32) * bound as u64) >> 32) as usize
    }

    /// Returns the next transfer: from, to and how much.
    fn next(&mut self, accounts: usize) -> (usize, usize, u64) {
        (self.below(accounts), self.below(accounts), self.below(100) as u64)
    }
}

/// A bank that can be timed.
trait Bank {
    fn name(&self) -> &'static str;
    /// Opens the accounts, makes all transfers, and returns the seconds that they took and the sum of all balances.
    fn day(&self, size: Size) -> (f64, u64);
}

/// Times all banks in rounds. Returns the table as text.
pub fn run(workers: &[NonZero<usize>], rounds: usize, quick: bool) -> Result<String, Error> {
    let size = if quick { QUICK } else { FULL };
    let begun = Ticks::now();
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN);
    table.set_header(["bank", "workers", "minimum", "median", "to mutexes"]);
    for &workers in workers {
        let banks = banks(workers);
        let mut times = vec![Vec::new(); banks.len()];
        for round in 0..=rounds {
            for (bank, times) in banks.iter().zip(&mut times) {
                let (seconds, sum) = bank.day(size);
                let expected = size.accounts as u64 * BALANCE;
                if sum != expected {
                    return Err(Error::Bank { bank: bank.name(), workers: workers.get(), sum, expected });
                }
                // The first round is the warm-up.
                if round > 0 {
                    times.push(seconds);
                }
            }
        }
        let ratios = |of: &[f64]| -> Vec<f64> { of.iter().zip(&times[0]).map(|(time, floor)| time / floor).collect() };
        for (bank, times) in banks.iter().zip(&times) {
            let figure = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), seconds);
            table.add_row([
                bank.name().to_owned(),
                workers.to_string(),
                figure(minimum(times)),
                figure(median(times)),
                median(&ratios(times)).map_or_else(|| "-".to_owned(), |ratio| format!("{ratio:.2}x")),
            ]);
        }
    }
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    let Size { accounts, clients, transfers } = size;
    let mut text = format!("{}, {rounds} rounds\n", machine());
    // Writing to a String cannot fail.
    let _ = writeln!(text, "\nbank: {accounts} accounts, {clients} clients with {transfers} transfers each\n{table}");
    text.extend(begun.and_then(|begun| begun.others_since()).and_then(note));
    Ok(text)
}

/// Returns all banks of this build; the mutexes come first, since the ratios refer to them.
fn banks(workers: NonZero<usize>) -> Vec<Box<dyn Bank>> {
    vec![
        Box::new(Mutexes::start(workers)),
        Box::new(Actors::start(workers)),
        #[cfg(feature = "finespun")]
        Box::new(objects::Objects::start(workers)),
    ]
}

/// A mutex per account; the clients are tasks of rayon.
struct Mutexes(ThreadPool);

impl Mutexes {
    fn start(workers: NonZero<usize>) -> Self {
        Self(ThreadPoolBuilder::new().num_threads(workers.get()).build().expect("rayon starts its threads"))
    }
}

impl Bank for Mutexes {
    fn name(&self) -> &'static str {
        "mutexes on rayon"
    }

    fn day(&self, size: Size) -> (f64, u64) {
        let accounts: Vec<_> = (0..size.accounts).map(|_| Mutex::new(BALANCE)).collect();
        let account = |number: usize| accounts[number].lock().expect("no client panics");
        let client = |client| {
            let mut plan = Plan::of(client);
            for _ in 0..size.transfers {
                let (from, to, amount) = plan.next(size.accounts);
                let enough = {
                    let mut balance = account(from);
                    let enough = *balance >= amount;
                    if enough {
                        *balance -= amount;
                    }
                    enough
                };
                if enough {
                    *account(to) += amount;
                }
            }
        };
        let start = Instant::now();
        self.0.install(|| (0..size.clients).into_par_iter().with_max_len(1).for_each(client));
        let seconds = start.elapsed().as_secs_f64();
        (seconds, (0..size.accounts).map(|number| *account(number)).sum())
    }
}

/// An actor per account, with a channel of tokio.
struct Actors(tokio::runtime::Runtime);

/// A message to an account's actor.
enum Message {
    Withdraw(u64, oneshot::Sender<bool>),
    Deposit(u64, oneshot::Sender<()>),
    Balance(oneshot::Sender<u64>),
}

impl Actors {
    fn start(workers: NonZero<usize>) -> Self {
        let mut builder = tokio::runtime::Builder::new_multi_thread();
        Self(builder.worker_threads(workers.get()).build().expect("tokio starts its threads"))
    }

    async fn account(mut messages: mpsc::Receiver<Message>) {
        let mut balance = BALANCE;
        while let Some(message) = messages.recv().await {
            match message {
                Message::Withdraw(amount, reply) => {
                    let enough = balance >= amount;
                    if enough {
                        balance -= amount;
                    }
                    // A client waits for each reply.
                    let _ = reply.send(enough);
                }
                Message::Deposit(amount, reply) => {
                    balance += amount;
                    let _ = reply.send(());
                }
                Message::Balance(reply) => {
                    let _ = reply.send(balance);
                }
            }
        }
    }

    async fn client(accounts: Vec<mpsc::Sender<Message>>, client: usize, transfers: u64) {
        let mut plan = Plan::of(client);
        for _ in 0..transfers {
            let (from, to, amount) = plan.next(accounts.len());
            if ask(&accounts[from], |reply| Message::Withdraw(amount, reply)).await {
                ask(&accounts[to], |reply| Message::Deposit(amount, reply)).await;
            }
        }
    }
}

/// Sends a message to an actor and waits for its reply.
async fn ask<T>(account: &mpsc::Sender<Message>, message: impl FnOnce(oneshot::Sender<T>) -> Message) -> T {
    let (reply, answer) = oneshot::channel();
    let sent = account.send(message(reply)).await;
    assert!(sent.is_ok(), "the account's actor has ended");
    answer.await.expect("the account's actor answers")
}

impl Bank for Actors {
    fn name(&self) -> &'static str {
        "actors on tokio"
    }

    fn day(&self, size: Size) -> (f64, u64) {
        self.0.block_on(async {
            let account = |_| {
                let (sender, messages) = mpsc::channel(64);
                tokio::spawn(Self::account(messages));
                sender
            };
            let accounts: Vec<_> = (0..size.accounts).map(account).collect();
            let start = Instant::now();
            let client = |client| tokio::spawn(Self::client(accounts.clone(), client, size.transfers));
            let clients: Vec<_> = (0..size.clients).map(client).collect();
            for client in clients {
                client.await.expect("no client panics");
            }
            let seconds = start.elapsed().as_secs_f64();
            let mut sum = 0;
            for account in &accounts {
                sum += ask(account, Message::Balance).await;
            }
            (seconds, sum)
        })
    }
}

/// An object per account, on Finespun.
#[cfg(feature = "finespun")]
mod objects {
    use std::num::NonZero;
    use std::time::Instant;

    use finespun::prelude::*;
    use serde::{Deserialize, Serialize};

    use super::{BALANCE, Bank, Plan, Size};

    pub struct Objects(Runtime);

    impl Objects {
        pub fn start(workers: NonZero<usize>) -> Self {
            Self(Runtime::builder().workers(workers.get()).build().expect("finespun starts its workers"))
        }
    }

    impl Bank for Objects {
        fn name(&self) -> &'static str {
            "objects on finespun"
        }

        fn day(&self, size: Size) -> (f64, u64) {
            self.0.run(day(size))
        }
    }

    #[derive(Serialize, Deserialize)]
    struct Account {
        balance: u64,
    }

    #[object]
    impl Account {
        fn balance(&self) -> u64 {
            self.balance
        }

        fn deposit(&mut self, amount: u64) {
            self.balance += amount;
        }

        fn withdraw(&mut self, amount: u64) -> bool {
            let enough = self.balance >= amount;
            if enough {
                self.balance -= amount;
            }
            enough
        }
    }

    #[task]
    async fn client(accounts: &[Ref<Account>], client: usize, transfers: u64) {
        let mut plan = Plan::of(client);
        for _ in 0..transfers {
            let (from, to, amount) = plan.next(accounts.len());
            if accounts[from].withdraw(amount).await {
                accounts[to].deposit(amount).await;
            }
        }
    }

    #[task]
    async fn day(size: Size) -> (f64, u64) {
        let open = |number| on(number % nodes()).create(Account { balance: BALANCE });
        let accounts = join_all((0..size.accounts).map(open)).await;
        let start = Instant::now();
        parfor(0..size.clients, |number| client(&accounts, number, size.transfers)).await;
        let seconds = start.elapsed().as_secs_f64();
        let sum = reduce(accounts.iter().map(|account| account.balance()), 0, |a, b| a + b).await;
        for account in &accounts {
            Ref::free(*account).await;
        }
        (seconds, sum)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_bank_loses_money() {
        for workers in [1, 2].into_iter().filter_map(NonZero::new) {
            for bank in banks(workers) {
                assert_eq!(bank.day(QUICK).1, QUICK.accounts as u64 * BALANCE, "{}", bank.name());
            }
        }
    }
}
