//! Generated code has unsafe blocks, but they do not count as the user's.
#![forbid(unsafe_code)]
#![deny(warnings)]

use finespun::prelude::*;

#[task]
async fn fib(n: u64) -> u64 {
    if n < 2 {
        return n;
    }
    let (a, b) = join!(fib(n - 1), fib(n - 2));
    a + b
}

#[task]
async fn sum(v: &[u64]) -> u64 {
    let mut sum = 0;
    for &x in v {
        sum += fib(x).await;
    }
    sum
}

#[task(pinned)]
async fn pinned(n: u64) -> u64 {
    fib(n).await
}

struct Node(Option<Box<Node>>);

impl Node {
    #[task]
    async fn depth(&self, most: u64) -> u64 {
        let Some(next) = &self.0 else { return 1 };
        if most == 0 {
            return 0;
        }
        1 + next.depth(most - 1).await
    }
}

#[task]
trait Visit: Sync {
    async fn visit(&self, n: u64) -> u64;
}

#[task]
impl Visit for Node {
    async fn visit(&self, n: u64) -> u64 {
        self.depth(n).await
    }
}

/// Serves for ever: code after the loop is unreachable.
#[task]
async fn server() {
    loop {
        fib(1).await;
    }
}

#[derive(serde::Serialize, serde::Deserialize)]
pub struct Account {
    balance: u64,
}

#[object]
impl Account {
    pub fn balance(&self) -> u64 {
        self.balance
    }

    async fn double(&mut self) {
        let before = self.balance;
        yield_now().await;
        self.balance += before;
    }

    async fn pay(this: Ref<Self>, to: Ref<Self>) -> u64 {
        this.double().await;
        to.balance().await
    }
}

#[task]
async fn accounts() -> u64 {
    let account = on(0).create(Account { balance: 3 }).await;
    account.pay(account).await
}

fn main() {
    let runtime = Runtime::builder().workers(1).build().unwrap();
    let node = Node(Some(Box::new(Node(None))));
    assert_eq!(runtime.run(fib(10)), 55);
    assert_eq!(runtime.run(sum(&[1, 2, 10])), 57);
    assert_eq!(runtime.run(pinned(10)), 55);
    assert_eq!(runtime.run(node.visit(9)), 2);
    let _ = server();
}
