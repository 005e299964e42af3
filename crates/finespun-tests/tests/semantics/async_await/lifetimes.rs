//! Borrows by arguments: after `multiple-lifetimes/*.rs`, `issues/issue-63388-*.rs`, `self-recursion`,
//! `ret-impl-trait-*.rs`.

use std::sync::Mutex;

use crate::harness::*;

static NUMBERS: [u64; 3] = [1, 2, 3];
const A: D = D("a");

lent_corpus! {
    // multiple-lifetimes/elided.rs, hrtb.rs, fn-ptr.rs
    fn two_elided_references(a: &u64, b: &u64) -> u64 {
        let x = leaf(*a).await;
        wait().await;
        x + *b
    } with (&1, &2);

    fn function_pointer_over_all_lifetimes(f: fn(&[u64]) -> &u64, n: u64) -> u64 {
        let v = [leaf(n).await, 2];
        wait().await;
        let x = *f(&v);
        leaf(x).await
    } with (|v| &v[0], 3);

    fn closure_argument_over_all_lifetimes(f: &(dyn for<'x> Fn(&'x str) -> &'x str + Sync)) -> String {
        let text = leaf(String::from("  padded ")).await;
        let trimmed = f(&text);
        wait().await;
        trimmed.to_string()
    } with (&|s| s.trim());

    // mutable references lent again and again
    fn mutable_reference_lent_in_a_loop(v: &mut Vec<u64>) -> u64 {
        for i in 0..3 {
            v.push(leaf(i).await);
            let last = v.last_mut().unwrap();
            wait().await;
            *last += 1;
        }
        v.clear();
        wait().await;
        v.push(4);
        v.iter().sum()
    } with (kept(vec![]));

    fn slices_split_by_turns(v: &mut [u64]) -> u64 {
        let (a, b) = v.split_at_mut(1);
        a[0] += leaf(1).await;
        b[0] += a[0];
        wait().await;
        std::mem::swap(&mut a[0], &mut b[1]);
        let mut sum = 0;
        for x in v.iter_mut() {
            *x += leaf(*x).await;
            sum += *x;
        }
        sum
    } with (kept([1, 2, 3]));

    fn reference_into_a_static(r: &'static u64) -> u64 {
        let x: &'static u64 = leaf(r).await;
        wait().await;
        *x + NUMBERS[2]
    } with (&NUMBERS[0]);

    fn lock_guard_of_an_argument(m: &Mutex<u64>) -> u64 {
        let n = { *m.lock().unwrap() };
        wait().await;
        *m.lock().unwrap() = 1 + leaf(n).await;
        let n = *m.lock().unwrap();
        *m.lock().unwrap() = 5;
        leaf(n).await
    } with (kept(Mutex::new(5)));

    fn iterator_over_borrowed_values(v: &[D]) -> u64 {
        let mut sum = 0;
        for x in v.iter().filter(|x| x.len() > 1) {
            sum += leaf(x.len()).await;
            log(x.name());
        }
        let mut rest = v.iter();
        while let Some(x) = rest.next_back() {
            wait().await;
            sum += x.len();
        }
        sum
    } with (kept(vec![D("ab"), D("c"), D("def")]));

    fn option_of_a_mutable_reference(mut slot: Option<&mut u64>) -> u64 {
        if let Some(n) = slot.as_deref_mut() {
            *n += leaf(1).await;
        }
        wait().await;
        match slot {
            Some(n) => {
                let old = std::mem::take(n);
                leaf(old).await
            }
            None => 0,
        }
    } with (Some(kept(4)));

    fn reference_pattern_parameters(&a: &u64, &(b, c): &(u64, u64), &[e, .., f]: &[u64; 3]) -> u64 {
        let x = leaf(a + b).await;
        wait().await;
        x + c + e + f
    } with (&1, &(2, 3), &[4, 5, 6]);

    fn linked_list_followed(mut list: &List) -> u64 {
        let mut sum = 0;
        loop {
            sum += leaf(list.value).await;
            match &list.next {
                Some(next) => list = next,
                None => break,
            }
        }
        sum
    } with (kept(List { value: 1, next: Some(Box::new(List { value: 2, next: None })) }));

    fn linked_list_changed(mut list: &mut List) -> u64 {
        let mut n = 0;
        while list.next.is_some() {
            list.value += leaf(n).await;
            n += list.value;
            list = list.next.as_mut().unwrap();
        }
        wait().await;
        list.value = 2;
        n
    } with (kept(List { value: 1, next: Some(Box::new(List { value: 2, next: None })) }));
}

struct List {
    value: u64,
    next: Option<Box<List>>,
}
