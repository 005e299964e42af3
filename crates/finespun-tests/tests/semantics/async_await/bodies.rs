//! After `issues/issue-*.rs`, `track-caller/*.rs`, `async-fn-size.rs`, `deep-futures-are-freeze.rs`,
//! `multiple-lifetimes/*`, `no-const-async.rs` and others that run.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use crate::harness::*;

#[track_caller]
fn line() -> u32 {
    std::panic::Location::caller().line()
}

corpus! {
    // track-caller: the place of a call inside a body is the body's line
    fn caller_location_is_kept() -> u32 {
        let a = line();
        wait().await;
        let b = line();
        b - a
    } with ();

    // async-fn-size.rs: large values across and between awaits
    fn large_values_across_awaits() -> u64 {
        let big = [leaf(7u64).await; 300];
        let other = leaf([1u64; 200]).await;
        wait().await;
        big.iter().sum::<u64>() + other.iter().sum::<u64>()
    } with ();

    // issues/issue-59001.rs, issue-60655-latebound-regions.rs, issue-61986.rs
    fn nested_data_in_a_loop() -> u64 {
        let mut map: BTreeMap<u64, Vec<String>> = BTreeMap::new();
        for i in 0..3u64 {
            let key = leaf(i % 2).await;
            map.entry(key).or_default().push(format!("{i}"));
            wait().await;
        }
        let mut n = 0;
        for (key, values) in &map {
            n += leaf(*key).await + values.len() as u64;
        }
        n
    } with ();

    // issues/issue-62097.rs, issue-62658.rs: a guard held over an await in its own block
    fn guard_of_a_lock_released_before_an_await() -> u64 {
        let mutex = Arc::new(Mutex::new(1));
        {
            let mut guard = mutex.lock().unwrap();
            *guard += 1;
        }
        wait().await;
        *mutex.lock().unwrap() += leaf(3).await;
        let n = *mutex.lock().unwrap();
        leaf(n).await
    } with ();

    // issues/issue-65159.rs, issue-66312.rs: a value and its borrow
    fn borrow_of_a_local_across_an_await() -> u64 {
        let value = d("value");
        let name = value.name();
        wait().await;
        log(name);
        let len = name.len() as u64;
        leaf(len).await
    } with ();

    fn mutable_borrow_of_a_local_across_an_await() -> u64 {
        let mut value = vec![1, 2, 3];
        let last = value.last_mut().unwrap();
        wait().await;
        *last += leaf(5).await;
        value.iter().sum()
    } with ();

    fn borrow_of_a_temporary_that_is_extended() -> u64 {
        let text = &leaf(String::from("abc")).await;
        let slice: &[u64] = &[1, 2, 3];
        wait().await;
        leaf(text.len() as u64 + slice[1]).await
    } with ();

    // issues/issue-72442.rs, issue-73137.rs: a result in a struct beside other fields
    fn result_written_into_a_field() -> u64 {
        #[derive(Default)]
        struct State {
            a: Vec<u64>,
            b: Option<D>,
            c: u64,
        }
        let mut state = State { c: 1, ..Default::default() };
        state.a.push(leaf(2).await);
        state.b = Some(leaf(d("b")).await);
        state.c += leaf(state.c).await;
        log("filled");
        state.b = None;
        wait().await;
        state.a[0] + state.c
    } with ();

    // issues/issue-74047.rs, issue-76547.rs: options and results of values with destructors
    fn options_of_guards() -> u64 {
        let mut slot = Some(d("slot"));
        let taken = slot.take();
        wait().await;
        slot.replace(leaf(d("second")).await);
        if let Some(ref inner) = slot {
            log(inner.name());
            wait().await;
        }
        if let Some(inner) = &taken {
            wait().await;
            log(inner.name());
        }
        slot.map(|d| d.len()).unwrap_or(0)
    } with ();

    // issues/issue-84841.rs, issue-86507.rs: references to references
    fn references_to_references() -> u64 {
        let n = 5u64;
        let r = &&n;
        let x = leaf(**r).await;
        let y = &mut 3u64;
        *y += 1;
        wait().await;
        *y += x;
        *y
    } with ();

    // deep-futures-are-freeze.rs
    fn deeply_nested_blocks() -> u64 {
        let a = d("a");
        let x = { let b = d("b"); { let c = d("c"); let y = { let e = leaf(d("e")).await; { wait().await; e.len() } }; y + c.len() } };
        if x > 0 { if x > 1 { if leaf(x).await > 1 { let f = d("f"); wait().await; log("deep"); } wait().await; } }
        leaf(x).await
    } with ();

    // clone-suggestion.rs and others: shared values
    fn shared_value_in_many_hands() -> usize {
        let shared = Arc::new(d("shared"));
        let copies: Vec<_> = (0..3).map(|_| Arc::clone(&shared)).collect();
        wait().await;
        drop(shared);
        let mut copies = copies.into_iter();
        let one = copies.next();
        wait().await;
        drop(copies);
        log("one left");
        let n = Arc::strong_count(one.as_ref().unwrap());
        leaf(n).await
    } with ();

    // generic calls with inferred types
    fn types_inferred_backwards() -> u64 {
        let mut list = Vec::new();
        let mut best = None;
        let parsed = leaf("7").await.parse().unwrap_or_default();
        list.push(leaf(3).await);
        wait().await;
        best = best.max(Some(parsed));
        list.push(best.unwrap());
        list.iter().sum()
    } with ();

    // strings that borrow from a local across the await
    fn string_slices_of_a_local() -> String {
        let text = leaf(String::from("one two three")).await;
        let mut words = text.split(' ');
        let first = words.next().unwrap();
        wait().await;
        let second = words.next().unwrap();
        let both = format!("{second} {first}");
        leaf(both).await
    } with ();

    // panic payloads of other kinds
    fn panics_inside_called_functions(n: usize) -> u64 {
        fn deep(n: usize) -> u64 {
            let _inside = d("inside");
            if n > 2 { panic!("on purpose: deep") }
            n as u64
        }
        let _outside = d("outside");
        let a = deep(leaf(n).await);
        let b = leaf(deep(n + 1)).await;
        a + b + deep(n + 2)
    } with (1);
}
