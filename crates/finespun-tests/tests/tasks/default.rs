//! The default runtime, and the attributes that run a function as a task.

use std::process::Command;

use crate::common::{fib, plain_fib};
use finespun::prelude::*;
use finespun::runtime;

#[task]
async fn sum(numbers: &[u64]) -> u64 {
    if let [only] = numbers {
        return *only;
    }
    let (low, high) = numbers.split_at(numbers.len() / 2);
    let (a, b) = join!(sum(low), sum(high));
    a + b
}

#[test]
fn plain_code_runs_tasks_that_borrow() {
    let numbers: Vec<u64> = (1..=1000).collect();
    assert_eq!(finespun::run(sum(&numbers)), 500_500);
    assert_eq!(runtime::default().run(fib(12)), plain_fib(12));
}

#[test]
fn all_threads_get_the_same_default_runtime() {
    let address = || std::ptr::from_ref(runtime::default()).addr();
    let threads: Vec<_> = (0..4).map(|_| std::thread::spawn(address)).collect();
    let own = address();
    assert!(threads.into_iter().all(|thread| thread.join().unwrap() == own));
    let error = runtime::set_default(Runtime::builder().workers(1)).unwrap_err();
    assert!(error.to_string().contains("before its first use"), "{error}");
}

#[test]
fn a_task_may_spawn_on_the_default_runtime() {
    #[task]
    async fn outer(n: u64) -> u64 {
        foreign(runtime::default().spawn(fib(n))).await
    }
    assert_eq!(finespun::run(outer(12)), plain_fib(12));
}

#[task]
async fn panics() {
    panic!("of a task of the default runtime");
}

#[test]
fn a_panic_reaches_the_caller() {
    let caught = std::panic::catch_unwind(|| finespun::run(panics())).unwrap_err();
    assert_eq!(caught.downcast_ref::<&str>(), Some(&"of a task of the default runtime"));
}

/// Has no effect without the variable of the tests below, which run this alone in a process of its own.
#[test]
fn shows_the_default_runtime() {
    if std::env::var_os("FINESPUN_TEST_DEFAULT").is_none() {
        return;
    }
    match runtime::try_default() {
        Ok(runtime) => println!("<{} workers>", runtime.workers()),
        Err(error) => println!("<{error}>"),
    }
}

#[test]
fn the_variable_sets_the_number_of_workers() {
    let shown = |workers: &str| {
        let mut child = Command::new(std::env::current_exe().unwrap());
        child.args(["--exact", "default::shows_the_default_runtime", "--nocapture"]);
        child.env("FINESPUN_TEST_DEFAULT", "1").env("FINESPUN_WORKERS", workers);
        String::from_utf8(child.output().unwrap().stdout).unwrap()
    };
    assert!(shown("3").contains("<3 workers>"), "{}", shown("3"));
    let bad = shown("many");
    assert!(bad.contains("<FINESPUN_WORKERS=\"many\": the number of workers") && bad.contains("1 to 1024"), "{bad}");
}

#[finespun::test]
async fn a_test_is_a_task() {
    let (a, b) = join!(fib(10), fib(11));
    assert_eq!(a + b, plain_fib(12));
}

#[finespun::test(workers = 1)]
async fn a_test_may_return_an_error() -> Result<(), std::num::ParseIntError> {
    let n: u64 = "10".parse()?;
    assert_eq!(fib(n).await, plain_fib(n));
    Ok(())
}

#[finespun::test(workers = 3)]
#[should_panic(expected = "of a task of")]
async fn a_panic_of_a_callee_is_the_tests() {
    let ((), _) = join!(panics(), fib(5));
}

#[finespun::test]
#[ignore = "says that the attribute is kept: it fails"]
async fn an_ignored_test_does_not_run() {
    panic!("not ignored");
}
