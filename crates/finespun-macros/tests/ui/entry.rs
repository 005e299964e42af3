//! Functions that `#[finespun::main]` and `#[finespun::test]` reject.

#[finespun::main]
fn not_async() {}

#[finespun::main]
async fn has_arguments(count: u64) {
    drop(count);
}

#[finespun::test]
async fn is_generic<T>() {}

#[finespun::main(threads = 4)]
async fn wrong_key() {}

#[finespun::main(workers = 0)]
async fn no_workers() {}

#[finespun::test(workers = "two")]
async fn words() {}

#[finespun::test(workers = 2, workers = 3)]
async fn twice() {}

#[finespun::main(4)]
async fn no_key() {}

#[finespun::main]
#[finespun::task]
async fn task_beneath() {}

#[finespun::test]
#[test]
async fn test_beneath() {}

#[finespun::main]
struct NoFunction;

#[finespun::task]
async fn main() {}
