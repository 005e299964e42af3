//! After `tests/ui/lifetimes/temporary-lifetime*`, `tests/ui/drop/lint-*`, `tests/ui/consts` about promotion and
//! `tests/ui/super-let*`: how long temporaries live.

use std::sync::Mutex;

use crate::harness::*;

fn pass<T>(value: T) -> T {
    value
}

fn name_of(d: &D) -> &str {
    d.name()
}

corpus! {
    // temporary-lifetime-extension.rs
    fn extended_through_an_await() -> u64 {
        let r = &leaf(d("awaited")).await;
        wait().await;
        log("end");
        r.len()
    } with ();

    // temporary-lifetime of calls: not extended
    fn not_extended_through_a_call() -> u64 {
        let n = pass(&d("argument")).len();
        log("dropped");
        let m = name_of(&leaf(d("second")).await).len() as u64;
        log("dropped too");
        leaf(n + m).await
    } with ();

    fn dropped_after_the_last_operand() -> u64 {
        let n = name_of(&d("a")).len() as u64 + leaf(1).await + name_of(&d("b")).len() as u64;
        log("end of let");
        n
    } with ();

    fn temporary_borrowed_across_an_await_in_one_statement() -> u64 {
        let pair = (pass(&d("borrowed")), leaf(2).await);
        0
    } with ();

    fn temporaries_of_arguments_live_through_the_call() -> u64 {
        fn sum(a: &D, b: &D, n: u64) -> u64 {
            log("call");
            a.len() + b.len() + n
        }
        let n = sum(&d("a"), &leaf(d("b")).await, leaf(3).await);
        log("after");
        n
    } with ();

    fn receiver_temporary_lives_through_the_arguments() -> u64 {
        let n = d("receiver").len().max(leaf(d("argument")).await.len()).min(leaf(100).await);
        log("after");
        n
    } with ();

    // guards in scrutinees
    fn lock_guard_in_a_scrutinee() -> u64 {
        struct Guard<'a>(&'a Mutex<u64>);
        impl Drop for Guard<'_> {
            fn drop(&mut self) {
                log(format_args!("unlock {}", self.0.lock().unwrap()));
            }
        }
        impl Guard<'_> {
            fn get(&self) -> u64 {
                *self.0.lock().unwrap()
            }
        }
        let mutex = Mutex::new(1);
        match Guard(&mutex).get() {
            1 => {
                *mutex.lock().unwrap() += leaf(5).await;
                log("arm");
            }
            _ => {}
        }
        if Guard(&mutex).get() > 2 {
            log("then");
            wait().await;
        }
        *mutex.lock().unwrap()
    } with ();

    fn named_guard_held_across_awaits() -> u64 {
        struct Guard<'a>(&'a str, &'a Mutex<u64>);
        impl Drop for Guard<'_> {
            fn drop(&mut self) {
                log(format_args!("leave {}", self.0));
            }
        }
        let mutex = Mutex::new(1);
        let _first = Guard("first", &mutex);
        wait().await;
        {
            let _second = Guard("second", &mutex);
            *mutex.lock().unwrap() += leaf(1).await;
        }
        let third = Guard("third", &mutex);
        let n = *third.1.lock().unwrap();
        wait().await;
        log("end");
        n
    } with ();

    // promotion to statics
    fn promoted_constants_live_for_ever() -> u64 {
        let r: &'static u64 = &7;
        let s: &'static [u64] = &[1, 2, 3];
        let none: &'static Option<D> = &None;
        wait().await;
        leaf(*r + s[2] + none.is_none() as u64).await
    } with ();

    fn format_arguments_with_awaits() -> String {
        let text = format!("{:?} {:?}", d("a"), d("b"));
        log("formatted");
        wait().await;
        let n = leaf(d("c")).await;
        format!("{text} {} {n:?}", n.len())
    } with ();

    // temporary-lifetime-extension.rs
    fn extended_by_a_reference() -> u64 {
        let r = &d("extended");
        log("bound");
        wait().await;
        r.len()
    } with ();

    fn extended_in_a_block_and_by_a_pattern() -> u64 {
        let r = { log("block"); &d("in a block") };
        let (ref a, _) = (d("by ref"), d("hole"));
        wait().await;
        log("end");
        r.len() + a.len()
    } with ();

    fn extended_field_of_a_temporary() -> u64 {
        let r = &(d("first"), d("second")).1;
        wait().await;
        log("end");
        r.len()
    } with ();

    fn extended_in_if_and_match_arms(n: u64) -> u64 {
        let r = if n > 1 { &d("then") } else { &d("else") };
        wait().await;
        let s = match n { 0 => &d("zero"), _ => &d("other") };
        log("end");
        leaf(r.len() + s.len()).await
    } with (2);

    fn overwritten_reference_to_temporaries() -> u64 {
        let mut r = &d("first");
        wait().await;
        let second = d("second");
        r = &second;
        wait().await;
        r.len()
    } with ();

    // temporary-lifetime-extension.rs
    fn extended_in_a_struct_and_a_tuple() -> u64 {
        struct Holds<'a> { d: &'a D, n: u64 }
        let holds = Holds { d: &d("in a struct"), n: 1 };
        let pair = (&d("in a tuple"), 2);
        wait().await;
        log("end");
        holds.d.len() + holds.n + pair.0.len()
    } with ();
}
