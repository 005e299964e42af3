//! Methods of objects: receivers and parameters, with the order of drops.

use finespun::prelude::*;
use finespun::testing::*;
use serde::{Deserialize, Serialize};

use crate::harness::{self, D, N, log};

#[derive(Serialize, Deserialize)]
struct Cell {
    list: Vec<u64>,
}

#[object]
impl Cell {
    fn sum(&self) -> u64 {
        self.list.iter().sum()
    }

    fn push(&mut self, (n, m): (u64, u64), mut k: u64) -> usize {
        k += n;
        self.list.push(k * m);
        self.list.len()
    }

    async fn shared(&self, n: u64) -> Result<u64, String> {
        let _guard = D("shared");
        yield_now().await;
        if n > 5 {
            return Err(format!("{n} is too much"));
        }
        Ok(self.list[n as usize])
    }

    async fn exclusive(&mut self, list: Vec<u64>, _: u64) -> Option<u64> {
        let _a = N(1);
        for x in list {
            yield_now().await;
            self.list.push(x);
        }
        let _b = N(2);
        let first = self.list.first().copied()?;
        yield_now().await;
        Some(first)
    }

    async fn forward(this: Ref<Self>, other: Option<Ref<Cell>>, depth: u64) -> u64 {
        let _guard = D("forward");
        if depth == 0 {
            return this.sum().await;
        }
        let next = other.unwrap_or(this);
        let n = next.forward(Some(this), depth - 1).await;
        n + this.sum().await
    }

    fn associated(n: u64) -> u64 {
        n + 1
    }
}

#[task]
async fn program(far: usize) -> String {
    let a = on(0).create(Cell { list: vec![1] }).await;
    let b = on(far % nodes()).create(Cell { list: vec![] }).await;
    let n = a.push((2, 3), 4).await + b.push((1, 1), 1).await;
    let ok = a.shared(1).await;
    let err = a.shared(9).await;
    let some = b.exclusive(vec![7, 8], 0).await;
    let deep = a.forward(Some(b), 3).await;
    let own = a.forward(None, 2).await;
    log("end");
    format!("{n} {ok:?} {err:?} {some:?} {deep} {own} {}", Cell::associated(1))
}

#[test]
fn methods_of_objects_drop_in_order() {
    harness::alone(|| {
        let forwards = |n: usize| std::iter::repeat_n("drop forward", n);
        let mut expected = vec!["drop shared", "drop shared", "drop 2", "drop 1"];
        expected.extend(forwards(4).chain(forwards(3)));
        expected.push("end");
        for (workers, n) in [1, 2, 3].into_iter().flat_map(|workers| [0, 1, 2, 3].map(|n| (workers, n))) {
            for far in 0..2 {
                let runtime = Runtime::builder().workers(workers).nodes(2).block_every(n).build().unwrap();
                let value = runtime.run(program(far));
                let log = harness::taken_log();
                assert_eq!(
                    value, "3 Ok(18) Err(\"9 is too much\") Some(2) 72 57 2",
                    "{workers} workers, every {n} blocks"
                );
                assert_eq!(log, expected, "{workers} workers, every {n} blocks");
                assert_eq!(runtime.close(), 0);
            }
        }
    });
}
