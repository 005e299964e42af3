//! Locals of which the compiler cannot know whether something is left to drop.

use finespun::prelude::*;
use std::sync::Mutex;

#[task]
async fn one() -> u64 {
    1
}

struct Thing;
impl Thing {
    fn consume(self) {}
}

fn make() -> Thing {
    Thing
}

#[task(stack)]
async fn receiver_of_a_method() -> u64 {
    let thing = make();
    thing.consume();
    one().await + 1
}

#[task(stack)]
async fn moved_on_some_paths(flag: bool) -> u64 {
    let thing = vec![make()];
    if flag {
        drop(thing);
    }
    one().await + 1
}

#[task(stack)]
async fn head_of_a_match(m: &Mutex<u64>) -> u64 {
    match *m.lock().unwrap() {
        0 => one().await,
        n => n,
    }
}

#[task(stack)]
async fn operand(m: &Mutex<u64>) -> u64 {
    two(*m.lock().unwrap()).await
}

#[task]
async fn two(n: u64) -> u64 {
    n
}

impl std::fmt::Display for Thing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("thing")
    }
}

#[task(stack)]
async fn formatted() -> u64 {
    let shown = format_args!("{}", Thing);
    let length = shown.to_string().len() as u64;
    length + one().await
}

#[task]
async fn never() -> ! {
    panic!("ends all the same")
}

fn main() {}
