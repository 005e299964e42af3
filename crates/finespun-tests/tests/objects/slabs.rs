//! The memory of objects, which is used again.

use std::collections::HashSet;
use std::panic::AssertUnwindSafe;
use std::sync::atomic::AtomicI64;
use std::sync::atomic::Ordering::Relaxed;

use finespun::layout;
use finespun::objects::{CallError, StaleCause};
use finespun::prelude::*;
use serde::{Deserialize, Serialize};

use crate::common::on_any_nodes;

/// Objects of one size and alignment, which are counted while they live and check that their bytes stay what they were.
macro_rules! shape {
    ($name:ident, $task:ident, $align:literal, $size:literal) => {
        #[repr(align($align))]
        struct $name {
            bytes: [u8; $size],
            _alive: Alive,
        }

        #[object]
        impl $name {
            fn check(&self, value: u8) -> usize {
                assert!(self.bytes.iter().all(|&byte| byte == value), "the bytes are those of another object");
                (&raw const *self).addr()
            }

            fn fill(&mut self, value: u8) {
                self.bytes.fill(value);
            }
        }

        /// Creates objects on all nodes, some in the memory of earlier ones, and checks that none overlap.
        #[task]
        async fn $task() {
            let mut all: Vec<Ref<$name>> = Vec::new();
            for k in 0..100 {
                let make = |value: u8| $name { bytes: [value; $size], _alive: Alive::new() };
                let object: Ref<$name> = on(k % nodes()).create_with(make, k as u8).await;
                all.push(object);
            }
            for k in 0..50 {
                Ref::free(all[2 * k]).await;
            }
            for k in 0..50 {
                let make = |value: u8| $name { bytes: [value; $size], _alive: Alive::new() };
                let again: Ref<$name> = on(2 * k % nodes()).create_with(make, 100 + k as u8).await;
                let old: Ref<$name> = std::mem::replace(&mut all[2 * k], again);
                let gone = old.check(0).checked().await;
                assert!(matches!(gone, Err(CallError::Stale { cause: StaleCause::Dropped, .. })), "{gone:?}");
            }
            let mut addresses: Vec<usize> = Vec::new();
            for k in 0..100 {
                let value: u8 = if k % 2 == 0 { 100 + k as u8 / 2 } else { k as u8 };
                all[k].fill(value ^ 255).await;
                let address: usize = all[k].check(value ^ 255).await;
                assert!(address.is_multiple_of($align));
                addresses.push(address);
            }
            addresses.sort_unstable();
            assert!(addresses.windows(2).all(|two| two[1] - two[0] >= size_of::<$name>() || size_of::<$name>() == 0));
            for object in all {
                Ref::free(object).await;
            }
        }
    };
}

static ALIVE: AtomicI64 = AtomicI64::new(0);

/// Counts objects.
struct Alive;

impl Alive {
    fn new() -> Alive {
        ALIVE.fetch_add(1, Relaxed);
        Alive
    }
}

impl Drop for Alive {
    fn drop(&mut self) {
        ALIVE.fetch_sub(1, Relaxed);
    }
}

shape!(Nothing, nothings, 1, 0);
shape!(Small, smalls, 1, 3);
shape!(Usual, usuals, 8, 24);
shape!(Aligned, aligneds, 64, 65);
shape!(Page, pages, 256, 1500);
shape!(OnePage, one_pages, 512, 4096);
shape!(Huge, huges, 1, 3_000_000);

#[test]
fn objects_of_any_size_and_alignment() {
    on_any_nodes(|runtime| runtime.run(aligneds()));
    let runtime = Runtime::builder().workers(2).nodes(3).build().unwrap();
    runtime.run(nothings());
    runtime.run(smalls());
    runtime.run(usuals());
    runtime.run(pages());
    runtime.run(one_pages());
    runtime.run(huges());
    assert_eq!(ALIVE.load(Relaxed), 0, "each object is destroyed once");
}

#[derive(Serialize, Deserialize)]
struct Trio(u64, u64, u64);

#[object]
impl Trio {
    fn address(&self) -> usize {
        (&raw const *self).addr()
    }
}

#[task]
async fn trios(len: usize) -> Array<Trio> {
    let nodes = nodes();
    Array::create(len, layout::block(len, nodes), |_, _: &()| Trio(1, 2, 3), ()).await
}

#[task]
async fn addresses(array: &Array<Trio>) -> Vec<usize> {
    array.each(|trio| trio.address()).await
}

#[task]
async fn free(array: Array<Trio>) {
    array.free().await;
}

/// Neighbours in an array are neighbours in memory, also where earlier objects were, and take 32 bytes each.
#[test]
fn neighbours_in_an_array_are_neighbours_in_memory() {
    const LEN: usize = 20_000;
    let runtime = Runtime::builder().workers(2).nodes(2).build().unwrap();
    for _ in 0..3 {
        let array = runtime.run(trios(LEN));
        let addresses = runtime.run(addresses(&array));
        for part in addresses.chunks(LEN / 2) {
            // Pages of other classes may lie between, and the first objects may fill the rest of a group of free slots.
            let apart = part.windows(2).filter(|two| two[1] != two[0] + 32).count();
            assert!(apart <= 6, "{apart} of {} are not neighbours", part.len());
        }
        runtime.run(free(array));
    }
}

/// A large object, which is not in the slab itself.
struct Large([u8; 2000]);

#[object]
impl Large {
    fn first(&self) -> u8 {
        self.0[0]
    }
}

#[task]
async fn make(count: u32) -> Vec<Ref<Large>> {
    let mut names = Vec::new();
    for k in 0..count {
        let large: Ref<Large> = on(0).create_with(|k| Large([k; 2000]), k as u8).await;
        assert_eq!(large.first().await, k as u8);
        Ref::free(large).await;
        names.push(large);
    }
    names
}

#[task]
async fn all_gone(names: &[Ref<Large>], expected: StaleCause) {
    for &large in names {
        match large.first().checked().await {
            Err(CallError::Stale { cause, .. }) if cause == expected => {}
            other => panic!("{large:?}: {other:?}"),
        }
    }
}

/// Names are never used again, neither in one runtime nor in the next, however often a place is.
#[test]
fn names_are_never_used_again() {
    let mut known = HashSet::new();
    let mut earlier = Vec::new();
    for _ in 0..3 {
        let runtime = Runtime::builder().workers(1).build().unwrap();
        let names = runtime.run(make(2_000));
        assert!(names.iter().all(|&name| known.insert(name)), "a name was used twice");
        runtime.run(all_gone(&names, StaleCause::Dropped));
        runtime.run(all_gone(&earlier, StaleCause::OtherRuntime));
        earlier = names;
    }
}

/// An object whose destructor panics.
struct Bomb(bool);

#[object]
impl Bomb {
    fn armed(&self) -> bool {
        self.0
    }
}

impl Drop for Bomb {
    fn drop(&mut self) {
        assert!(!self.0, "the bomb goes off");
    }
}

#[task]
async fn bomb(armed: bool) -> Ref<Bomb> {
    on(0).create_with(Bomb, armed).await
}

#[task]
async fn defuse(bomb: Ref<Bomb>) {
    Ref::free(bomb).await;
}

#[task]
async fn armed(bomb: Ref<Bomb>) -> bool {
    bomb.armed().await
}

#[test]
fn a_panic_of_a_destructor_leaves_its_place_to_others() {
    let runtime = Runtime::builder().workers(1).build().unwrap();
    let first = runtime.run(bomb(true));
    let panic = std::panic::catch_unwind(AssertUnwindSafe(|| runtime.run(defuse(first)))).unwrap_err();
    assert_eq!(panic.downcast_ref::<&str>(), Some(&"the bomb goes off"));
    assert!(runtime.try_run(armed(first)).is_err());
    let calm: Vec<_> = (0..1000).map(|_| runtime.run(bomb(false))).collect();
    assert!(calm.iter().all(|&bomb| !runtime.run(armed(bomb))));
    // When the runtime ends, no caller could receive this one's panic.
    runtime.run(bomb(true));
}
