//! Elements with destructors, elements of size zero, and large ones.

use std::sync::atomic::AtomicI64;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::{Mutex, PoisonError};

use finespun::istructure::{Cache, IArray};
use finespun::prelude::*;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::CACHES;
use crate::arrays::{LAYOUTS, place};
use crate::common::on_any_nodes;

static ALIVE: AtomicI64 = AtomicI64::new(0);
/// The tests that count instances take turns.
static TURN: Mutex<()> = Mutex::new(());

/// A value that counts its live instances.
struct Counted(String);

impl Counted {
    fn new(text: String) -> Counted {
        ALIVE.fetch_add(1, SeqCst);
        Counted(text)
    }
}

impl Clone for Counted {
    fn clone(&self) -> Counted {
        Counted::new(self.0.clone())
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        ALIVE.fetch_sub(1, SeqCst);
    }
}

impl Serialize for Counted {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Counted {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Counted, D::Error> {
        String::deserialize(deserializer).map(Counted::new)
    }
}

#[task]
async fn put_text(all: IArray<Counted>, index: usize) {
    all.put(index, Counted::new(format!("text {index}"))).await;
}

#[task]
async fn text_len(all: IArray<Counted>, index: usize) -> usize {
    let text = all.get(index).await;
    text.0.len()
}

#[task]
async fn texts(len: usize, how: usize, cache: Cache, free: bool) -> usize {
    let all = IArray::create(len, place(how, len, nodes())).cached(cache).await;
    let (lens, _) = join!(
        parfor(0..2 * len, |index| text_len(all, index % len)).collect(),
        // In a different order, and not all before some are read.
        parfor(0..len, |index| put_text(all, index * 7 % len)).collect(),
    );
    if free {
        all.free().await;
    }
    lens.iter().sum()
}

#[test]
fn every_value_is_dropped_once() {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let expected: usize = (0..30).map(|index| 2 * format!("text {index}").len()).sum();
    on_any_nodes(|runtime| {
        for how in 0..LAYOUTS {
            for cache in CACHES {
                assert_eq!(runtime.run(texts(30, how, cache, true)), expected, "{how} {cache:?}");
                assert_eq!(ALIVE.load(SeqCst), 0, "{how} {cache:?}");
            }
        }
    });
    // An array that is not freed is dropped with its runtime.
    on_any_nodes(|runtime| assert_eq!(runtime.run(texts(30, 1, CACHES[2], false)), expected));
    assert_eq!(ALIVE.load(SeqCst), 0);
}

#[task]
async fn units(len: usize, how: usize) -> usize {
    let all = IArray::<()>::create(len, place(how, len, nodes())).cached(CACHES[3]).await;
    for index in 0..len {
        all.put(index, ()).await;
    }
    for index in 0..len {
        all.get(index).await;
    }
    all.free().await;
    len
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[repr(align(128))]
struct Wide(u64);

#[task]
async fn wide(len: usize, how: usize, cache: Cache) -> u64 {
    let all = IArray::create(len, place(how, len, nodes())).cached(cache).await;
    for index in (0..len).rev() {
        all.put(index, (Wide(index as u64), vec![index as u64; index])).await;
    }
    let mut sum = 0;
    for index in 0..len {
        let (value, more) = all.get(index).await;
        assert_eq!(std::ptr::from_ref(&value).addr() % 128, 0);
        sum += value.0 + more.iter().sum::<u64>();
    }
    all.free().await;
    sum
}

#[test]
fn elements_have_any_size_and_alignment() {
    on_any_nodes(|runtime| {
        for how in 0..LAYOUTS {
            assert_eq!(runtime.run(units(20, how)), 20);
            for cache in CACHES {
                assert_eq!(runtime.run(wide(20, how, cache)), (0..20).map(|n| n + n * n).sum::<u64>());
            }
        }
    });
}

#[task]
async fn nothing() -> usize {
    let none = IArray::<u64>::create(0, |_| 0).await;
    none.free().await;
    0
}

#[test]
fn an_array_may_be_empty() {
    on_any_nodes(|runtime| assert_eq!(runtime.run(nothing()), 0));
}
