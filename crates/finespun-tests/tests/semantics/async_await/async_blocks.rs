//! Async blocks and closures in a body, awaited by `foreign`: after `async-closures/*.rs`, `async-block-*.rs`,
//! `async-fn/*.rs`, `pin-needed-to-poll*.rs`.

use std::future::{Future, ready};
use std::pin::{Pin, pin};
use std::task::Poll;

use crate::harness::plain::YieldOnce;
use crate::harness::*;

async fn call_twice(mut f: impl AsyncFnMut(u64) -> u64) -> u64 {
    f(1).await + f(2).await
}

async fn call_once(f: impl AsyncFnOnce() -> u64) -> u64 {
    f().await
}

corpus! {
    fn block_that_owns() -> u64 {
        let x = d("x");
        let n = foreign(async move {
            let y = d("y");
            YieldOnce(false).await;
            log("inside");
            x.len() + y.len()
        })
        .await;
        log("after");
        leaf(n).await
    } with ();

    fn block_that_borrows() -> u64 {
        let x = d("x");
        let n = foreign(async {
            YieldOnce(false).await;
            log("inside");
            x.len()
        })
        .await;
        log("after");
        leaf(n).await
    } with ();

    fn block_that_changes_a_local() -> u64 {
        let mut list = vec![1];
        foreign(async {
            list.push(2);
            YieldOnce(false).await;
            list.push(3);
        })
        .await;
        wait().await;
        list.push(leaf(4).await);
        list.iter().sum()
    } with ();

    fn block_with_its_own_control_flow() -> Option<u64> {
        let outer = d("outer");
        let a: Result<u64, String> = foreign(async {
            let n: u64 = "7".parse().map_err(|_| "no".to_string())?;
            if n > 5 {
                return Err(format!("{n}"));
            }
            Ok(n)
        })
        .await;
        log(format_args!("{a:?}"));
        let b = foreign(async { for i in 0.. { YieldOnce(false).await; if i == 2 { return i; } } 9 }).await;
        wait().await;
        Some(b + a.ok().map_or(1, |n| n))
    } with ();

    fn block_kept_in_a_variable() -> u64 {
        let x = d("x");
        let future = async move { YieldOnce(false).await; x.len() };
        log("made");
        wait().await;
        let n = foreign(future).await;
        log("done");
        let never = async move { log("never") };
        drop(never);
        leaf(n).await
    } with ();

    fn block_pinned_and_awaited_by_reference() -> u64 {
        let x = d("x");
        let mut future = pin!(async { YieldOnce(false).await; x.len() });
        wait().await;
        let n = foreign(future.as_mut()).await;
        log("end");
        n
    } with ();

    fn boxed_futures() -> u64 {
        let mut list: Vec<Pin<Box<dyn Future<Output = u64> + Send>>> = Vec::new();
        let x = d("x");
        list.push(Box::pin(ready(1)));
        list.push(Box::pin(async move { YieldOnce(false).await; x.len() }));
        wait().await;
        let mut sum = 0;
        for future in list {
            sum += foreign(future).await;
        }
        log("end");
        sum
    } with ();

    fn poll_function_over_a_local() -> u64 {
        let mut left = 3;
        let n = foreign(std::future::poll_fn(|cx| {
            left -= 1;
            if left == 0 { return Poll::Ready(5); }
            cx.waker().wake_by_ref();
            Poll::Pending
        }))
        .await;
        wait().await;
        n + left
    } with ();

    fn async_closure_that_owns() -> u64 {
        let x = d("x");
        let n = foreign(call_once(async move || { YieldOnce(false).await; x.len() })).await;
        log("after");
        leaf(n).await
    } with ();

    fn panic_inside_a_block(n: u64) -> u64 {
        let x = d("x");
        let y = d("y");
        let n = foreign(async move {
            let z = d("z");
            YieldOnce(false).await;
            if n > 1 { panic!("on purpose: block {}", x.len()) }
            z.len()
        })
        .await;
        n + y.len()
    } with (2);

    fn future_of_a_method_that_borrows_a_parameter(mut source: Source) -> Option<u64> {
        foreign(source.next()).await
    } with (Source(0));

    fn futures_of_methods_that_borrow_a_local() -> u64 {
        let mut source = Source(0);
        let mut sum = 0;
        while let Some(n) = foreign(source.next()).await {
            sum += leaf(n).await;
        }
        sum
    } with ();
}

struct Source(u64);

impl Source {
    async fn next(&mut self) -> Option<u64> {
        YieldOnce(false).await;
        self.0 += 1;
        (self.0 < 4).then_some(self.0)
    }
}
