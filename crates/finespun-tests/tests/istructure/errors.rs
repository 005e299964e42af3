//! Errors and their messages.

use std::sync::atomic::AtomicI64;
use std::sync::atomic::Ordering::SeqCst;

use finespun::RunError;
use finespun::istructure::{Cache, IArray};
use finespun::layout;
use finespun::prelude::*;
use finespun::testing::*;
use serde::{Deserialize, Serialize, Serializer, ser};

use crate::arrays::{LAYOUTS, place};
use crate::common::{Launch, on_any_nodes};
use crate::{CACHES, with_layouts_and_caches};

/// Returns the message of the error that a run ends with.
pub fn failure<T>(runtime: &Runtime, task: impl Task<Output = T> + Send) -> String
where
    T: Send,
{
    match runtime.try_run(task) {
        Ok(_) => panic!("the run ends well"),
        Err(RunError::Panicked(panic)) => panic.message().to_owned(),
        Err(error) => error.to_string(),
    }
}

/// Asserts that `text` contains `parts` in this order.
#[track_caller]
pub fn says(text: &str, parts: &[&str]) {
    let mut rest = text;
    for part in parts {
        let Some(at) = rest.find(part) else { panic!("`{part}` is not said, or not in its place: {text}") };
        rest = &rest[at + part.len()..];
    }
}

#[task]
async fn put_twice(how: usize, first: usize, again: usize, same: bool) {
    let len = 12;
    let all = IArray::create(len, place(how, len, nodes())).await;
    for index in 0..len {
        if index != first {
            all.put(index, 1u64).await;
        }
    }
    all.put(first, 2).await;
    if same {
        all.put(again, 3).await;
    }
    all.free().await;
}

#[test]
fn a_second_put_of_an_element_is_an_error() {
    on_any_nodes(|runtime| {
        for how in 0..LAYOUTS {
            for (first, again) in [(0, 0), (0, 7), (7, 7), (11, 0), (5, 11)] {
                runtime.run(put_twice(how, first, again, false));
                let text = failure(runtime, put_twice(how, first, again, true));
                let element = format!("element {again} of the `IArray<u64>` of 12 elements that was made at ");
                let file = "crates/finespun-tests/tests/istructure/errors.rs:";
                says(&text, &[&element, file, "is put at ", file, "and was put before at ", file]);
            }
        }
    });
}

/// Puts elements from two lines of code. The runtime records the line of each put, as far as memory allows.
#[task]
async fn two_places(again: usize) {
    let all = IArray::create(1000, layout::block(1000, 1)).await;
    for index in 0..500 {
        all.put(index, 1u64).await;
    }
    for index in 500..1000 {
        all.put(index, 2).await;
    }
    all.put(again, 3).await;
}

#[test]
fn a_second_put_names_the_line_of_the_first() {
    let runtime = Runtime::builder().workers(1).build().unwrap();
    let lines = [3, 600].map(|again| {
        let text = failure(&runtime, two_places(again));
        let (_, before) = text.split_once("was put before at ").unwrap();
        before.split(':').nth(1).unwrap().parse::<u32>().unwrap()
    });
    assert_eq!(lines[1] - lines[0], 3);
}

#[task]
async fn beyond(how: usize, put: bool) -> u64 {
    let all = IArray::create(12, place(how, 12, nodes())).await;
    if put {
        all.put(12, 1u64).await;
    }
    all.get(usize::MAX).await
}

#[test]
fn an_index_beyond_the_end_is_an_error() {
    on_any_nodes(|runtime| {
        for how in 0..LAYOUTS {
            let text = failure(runtime, beyond(how, true));
            says(&text, &["no element 12 in the `IArray<u64>` of 12 elements", "errors.rs", "at ", "errors.rs"]);
            let text = failure(runtime, beyond(how, false));
            says(&text, &["no element 18446744073709551615 in the `IArray<u64>` of 12 elements", "errors.rs"]);
        }
    });
}

#[task]
async fn freed(what: usize) -> u64 {
    let all = IArray::create(12, layout::cyclic(nodes())).await;
    all.put(5, 1u64).await;
    all.free().await;
    match what {
        0 => all.get(5).await,
        1 => {
            all.put(6, 1).await;
            0
        }
        _ => {
            all.free().await;
            0
        }
    }
}

#[task]
async fn made() -> IArray<u64> {
    IArray::create(5, layout::cyclic(nodes())).await
}

#[task]
async fn got(all: IArray<u64>) -> u64 {
    all.get(0).await
}

#[test]
fn using_a_freed_array_is_an_error() {
    on_any_nodes(|runtime| {
        says(&failure(runtime, freed(0)), &["a get of element 5", "IArray<u64>", "freed", "errors.rs"]);
        says(&failure(runtime, freed(1)), &["a put of element 6", "IArray<u64>", "freed", "errors.rs"]);
        says(&failure(runtime, freed(2)), &["IArray<u64>", "freed", "errors.rs"]);
        // An array of another runtime.
        let other = Runtime::builder().workers(1).nodes(2).build().unwrap();
        let all = other.run(made());
        says(&failure(runtime, got(all)), &["a get of element 0", "another runtime", "errors.rs"]);
        other.close();
        says(&failure(runtime, got(all)), &["a get of element 0", "another runtime", "errors.rs"]);
    });
}

#[task]
async fn wait_at((all, index): (IArray<u64>, usize)) -> u64 {
    all.get(index).await
}

#[task]
async fn free_later(all: IArray<u64>) {
    for _ in 0..20 {
        yield_now().await;
    }
    all.free().await;
}

#[task]
async fn reader_at(node: usize, all: IArray<u64>, index: usize) -> u64 {
    on(node).call(wait_at, (all, index)).await
}

#[task]
async fn freed_under_readers(how: usize, cache: Cache) -> u64 {
    let all = IArray::create(20, place(how, 20, nodes())).cached(cache).await;
    all.put(3, 1).await;
    let (first, second, third, ()) =
        join!(reader_at(nodes() - 1, all, 7), reader_at(0, all, 7), reader_at(0, all, 12), free_later(all));
    first + second + third
}

#[test]
fn readers_of_a_freed_array_get_an_error() {
    with_layouts_and_caches(|runtime, how, cache| {
        let text = failure(runtime, freed_under_readers(how, cache));
        // A reader that comes too late finds no array.
        assert!(text.contains("was freed while a task waited for it") || text.contains("has been freed"), "{text}");
        assert!(text.contains("element 7") || text.contains("element 12"), "{text}");
    });
}

#[task]
async fn never_put(how: usize, cache: Cache) -> u64 {
    let all = IArray::create(20, place(how, 20, nodes())).cached(cache).await;
    all.put(3, 1).await;
    reader_at(nodes() - 1, all, 7).await + all.get(8).await
}

#[test]
fn a_get_that_is_never_satisfied_is_reported() {
    with_layouts_and_caches(|runtime, how, cache| {
        let text = failure(runtime, never_put(how, cache));
        says(&text, &["deadlock", "element 7 of the `IArray<u64>` of 20 elements that was made at ", "errors.rs"]);
    });
}

#[task]
async fn at_no_node() {
    let _all = IArray::<u64>::create(4, |index| index + 100).await;
}

#[task]
async fn odd_block(block: usize, capacity: usize) {
    let _all = IArray::<u64>::create(4, |_| 0).cached(Cache::On { block, capacity }).await;
}

#[test]
fn settings_out_of_range_are_errors() {
    on_any_nodes(|runtime| {
        says(&failure(runtime, at_no_node()), &["layout", "names node 103", "Builder::nodes"]);
        says(&failure(runtime, odd_block(3, 1)), &["power of two", "3"]);
        says(&failure(runtime, odd_block(0, 1)), &["power of two", "0"]);
        says(&failure(runtime, odd_block(4, 0)), &["at least one block"]);
    });
}

#[task]
async fn as_many_as_there_may_be() {
    for _ in 0..2 {
        let mut all = Vec::new();
        for _ in 0..4096 {
            all.push(IArray::<u8>::create(1, |_| 0).await);
        }
        for array in all {
            array.free().await;
        }
    }
    let mut all = Vec::new();
    loop {
        all.push(IArray::<u8>::create(1, |_| 0).await);
    }
}

#[test]
fn array_numbers_are_reused() {
    let runtime = Runtime::builder().workers(1).nodes(2).build().unwrap();
    says(&failure(&runtime, as_many_as_there_may_be()), &["4096 arrays already", "free one"]);
    assert_eq!(runtime.close(), 0);
}

static ALIVE: AtomicI64 = AtomicI64::new(0);

/// A value whose `clone` may panic.
struct Touchy {
    clones: bool,
}

impl Touchy {
    fn new(clones: bool) -> Touchy {
        ALIVE.fetch_add(1, SeqCst);
        Touchy { clones }
    }
}

impl Clone for Touchy {
    fn clone(&self) -> Touchy {
        assert!(self.clones, "no copy of this");
        Touchy::new(true)
    }
}

impl Drop for Touchy {
    fn drop(&mut self) {
        ALIVE.fetch_sub(1, SeqCst);
    }
}

impl Serialize for Touchy {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.clones.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Touchy {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Touchy, D::Error> {
        bool::deserialize(deserializer).map(Touchy::new)
    }
}

#[task]
async fn touch((all, index): (IArray<Touchy>, usize)) -> bool {
    all.get(index).await.clones
}

/// Element 2 cannot be cloned; all others can.
#[task]
async fn copies(cache: Cache, from: usize, to: usize) -> bool {
    let all = IArray::create(8, |_| 0).cached(cache).await;
    for index in 0..8 {
        all.put(index, Touchy::new(index != 2)).await;
    }
    let mut right = true;
    for index in (from..to).filter(|&index| index != 2) {
        right &= on(nodes() - 1).call(touch, (all, index)).await;
    }
    if from == 2 {
        right &= on(nodes() - 1).call(touch, (all, 2)).await;
    }
    all.free().await;
    right
}

#[test]
fn a_value_that_cannot_be_cloned_fails_only_its_readers() {
    on_any_nodes(|runtime| {
        for cache in [Cache::Off, Cache::Auto, Cache::On { block: 8, capacity: 1 }] {
            assert!(runtime.run(copies(cache, 0, 8)));
            let text = failure(runtime, copies(cache, 2, 2));
            assert!(text.contains("no copy of this"), "{text}");
        }
    });
    // Arrays that were not freed have been dropped with their runtime.
    assert_eq!(ALIVE.load(SeqCst), 0);
}

/// Reads elements on another node. Element 5 cannot be encoded: an error where it is read, or put.
#[task]
async fn unsendable(cache: Cache) -> bool {
    let all = IArray::create(8, |_| 0).cached(cache).await;
    on(0).call(speak, all).await;
    let last = nodes() - 1;
    let first = on(last).call(hear, (all, 1)).await;
    first && on(last).call(hear, (all, 5)).await
}

/// A value that may be impossible to serialize.
#[derive(Clone)]
struct Mute {
    bytes: bool,
}

impl Mute {
    fn new(bytes: bool) -> Mute {
        Mute { bytes }
    }
}

impl Serialize for Mute {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.bytes { true.serialize(serializer) } else { Err(ser::Error::custom("no bytes of this")) }
    }
}

impl<'de> Deserialize<'de> for Mute {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Mute, D::Error> {
        bool::deserialize(deserializer).map(Mute::new)
    }
}

#[task]
async fn speak(all: IArray<Mute>) {
    for index in 0..8 {
        all.put(index, Mute::new(index != 5)).await;
    }
}

#[task]
async fn hear((all, index): (IArray<Mute>, usize)) -> bool {
    all.get(index).await.bytes
}

#[test]
fn a_value_that_cannot_be_encoded_fails_its_readers() {
    for cache in [Cache::Off, Cache::Auto, Cache::On { block: 4, capacity: 1 }] {
        let runtime = |encode| Runtime::builder().workers(2).nodes(2).encoded(encode).build().unwrap();
        assert!(!runtime(false).run(unsendable(cache)));
        let text = failure(&runtime(true), unsendable(cache));
        says(&text, &["element ", " of the ", "could not be read", "could not be encoded"]);
    }
}

/// A value whose destructor panics.
#[derive(Clone, Serialize, Deserialize)]
struct Bad;

impl Drop for Bad {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            panic!("no end of this");
        }
    }
}

#[task]
async fn keep((all, len): (IArray<Bad>, usize)) {
    for index in 0..len {
        std::mem::forget(all.get(index).await);
    }
}

#[task]
async fn bad_ends(cache: Cache) {
    let all = IArray::create(12, |_| 0).cached(cache).await;
    for index in 0..12 {
        all.put(index, Bad).await;
    }
    on(nodes() - 1).call(keep, (all, 12)).await;
    all.free().await;
}

#[test]
fn a_panicking_destructor_of_an_element_ends_no_run() {
    for encode in [false, true] {
        for cache in CACHES {
            let runtime = Runtime::builder().workers(2).nodes(2).encoded(encode).build().unwrap();
            runtime.run(bad_ends(cache));
            assert_eq!(runtime.close(), 0);
        }
    }
}

#[task]
async fn wait_for_each(count: usize) {
    let all = IArray::<u64>::create(count, layout::cyclic(nodes())).await;
    parfor(0..count, |index| read(all, index)).await;
}

#[task]
async fn read(all: IArray<u64>, index: usize) {
    all.get(index).await;
}

#[test]
fn a_report_names_the_element_of_each_waiting_task() {
    const COUNT: usize = 20_000;
    let runtime = Runtime::builder().workers(2).nodes(2).build().unwrap();
    let text = failure(&runtime, wait_for_each(COUNT));
    let mut named = vec![0; COUNT];
    for line in text.lines().filter_map(|line| line.split_once("waits for element ")) {
        let (index, _) = line.1.split_once(' ').expect("a word follows");
        named[index.parse::<usize>().expect("an index")] += 1;
    }
    assert!(
        named.iter().all(|&times| times == 1),
        "{} of {COUNT} are named once",
        named.iter().filter(|&&t| t == 1).count()
    );
}
