//! tokio's sync types on tasks: the properties that tokio's own suites (`tokio/tests/sync_*.rs`) check, by `foreign`,
//! with spawned tasks in place of tokio's.

mod broadcast;
mod locks;
mod mpsc;
mod notify;
mod oneshot;
mod permits;
mod watch;

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::Poll;

use finespun::prelude::*;
use finespun::testing::*;

use crate::common::within_a_minute;

/// Calls `test` on one to three workers, with block-every-n from 0 to 3. Panics if a frame is left afterwards.
fn on_tasks(test: impl Fn(&Runtime) + Send + 'static) {
    within_a_minute(move || {
        for (workers, n) in [1, 2, 3].into_iter().flat_map(|workers| [0, 1, 2, 3].map(|n| (workers, n))) {
            let runtime = Runtime::builder().workers(workers).block_every(n).build().unwrap();
            test(&runtime);
            assert_eq!(runtime.close(), 0, "frames left, {workers} workers, block every {n}");
        }
    });
}

/// Polls a future once; returns its value if it is ready.
async fn poll_once<F: Future + Unpin>(future: &mut F) -> Option<F::Output> {
    poll_fn(|cx| match Pin::new(&mut *future).poll(cx) {
        Poll::Ready(value) => Poll::Ready(Some(value)),
        Poll::Pending => Poll::Ready(None),
    })
    .await
}

/// Lets other tasks run for a while.
#[task]
async fn pause() {
    for _ in 0..3 {
        yield_now().await;
    }
}

/// Tests without arguments, each a task that asserts.
macro_rules! each_on_tasks {
    ($( async fn $name:ident() $body:block )*) => {
        mod bodies {
            use super::*;
            $( #[task] pub async fn $name() $body )*
        }
        $(
            #[test]
            fn $name() {
                crate::tokio_sync::on_tasks(|runtime| runtime.run(bodies::$name()));
            }
        )*
    };
}
use each_on_tasks;
