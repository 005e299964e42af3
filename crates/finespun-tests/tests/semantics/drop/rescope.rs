//! Scopes of `if let` in edition 2024: after `drop_order_if_let_rescope.rs`, `if-let-rescope-*.rs`,
//! `drop-order-comparisons-let-chains.rs`, `drop_order_let_chain.rs`, `issue-100276.rs`, `issue-103107.rs`.

use crate::harness::*;

fn fail<T>(value: T) -> Result<u64, T> {
    log("fail");
    Err(value)
}

/// A lock whose guard is `Send`.
#[derive(Default)]
struct Lock(std::sync::atomic::AtomicBool);

struct Guard<'a>(&'a Lock);

impl Lock {
    fn enter(&self) -> Guard<'_> {
        self.0.store(true, std::sync::atomic::Ordering::SeqCst);
        Guard(self)
    }

    fn is_held(&self) -> bool {
        self.0.load(std::sync::atomic::Ordering::SeqCst)
    }
}

impl Guard<'_> {
    fn value(&self) -> Option<u64> {
        Some(1)
    }
}

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        self.0.0.store(false, std::sync::atomic::Ordering::SeqCst);
    }
}

corpus! {
    // drop_order_if_let_rescope.rs
    fn else_runs_after_the_scrutinee_has_dropped() -> u64 {
        if let Ok(n) = fail(d("scrutinee")) {
            n
        } else {
            log("else");
            leaf(1).await
        }
    } with ();

    fn awaited_scrutinee_drops_before_else() -> u64 {
        if let Ok(n) = fail(leaf(d("scrutinee")).await) {
            n
        } else if let Some(n) = leaf(d("second")).await.none() {
            n
        } else {
            wait().await;
            log("else");
            leaf(1).await
        }
    } with ();

    fn if_let_as_an_operand() -> u64 {
        let local = d("local");
        let x = 1 + if let Some(n) = d("scrutinee").some() { leaf(n).await } else { 0 };
        log("after");
        x
    } with ();

    fn if_let_with_a_borrow_into_the_scrutinee() -> u64 {
        if let Some(name) = Some(d("scrutinee").name()) {
            wait().await;
            log(name);
            name.len() as u64
        } else {
            2
        }
    } with ();

    fn match_keeps_what_if_let_drops() -> u64 {
        let a = match fail(d("match")) {
            Ok(n) => n,
            Err(_) => {
                log("arm");
                leaf(1).await
            }
        };
        let b = if let Ok(n) = fail(d("if let")) {
            n
        } else {
            log("else");
            leaf(2).await
        };
        a + b
    } with ();

    // drop_order_let_chain.rs, issue-103107.rs, issue-100276.rs
    fn chain_without_let() -> u64 {
        if d("a").yes() && leaf(d("b")).await.yes() && d("c").yes() {
            log("then");
            leaf(1).await
        } else {
            0
        }
    } with ();

    fn lock_in_a_chain_is_held_through_the_body(lock: &'static Lock) -> bool {
        if let Some(n) = lock.enter().value()
            && n < 5
        {
            wait().await;
            lock.is_held()
        } else {
            false
        }
    } with (kept(Lock::default()));

    // temporaries of match guards drop before the arm
    fn guards_drop_before_the_arm() -> u64 {
        let x = leaf(Some(3)).await;
        match x {
            Some(n) if d("first").len() == n => 1,
            Some(n) if d("second").len() > n => {
                log("arm");
                leaf(2).await
            }
            _ => 3,
        }
    } with ();

    // lint-tail-expr-drop-order.rs
    fn block_tails_in_every_place() -> u64 {
        let _outer = d("outer");
        let a = { let _x = d("x"); leaf(d("t1")).await.len() };
        let b = if a > 1 { let _y = d("y"); d("t2").len() } else { 0 };
        let c = match b { _ => { let _z = leaf(d("z")).await; d("t3").len() } };
        let e = loop { break { let _w = d("w"); d("t4").len() + leaf(1).await }; };
        log("tail");
        { let _v = d("v"); leaf(d("t5")).await.len() + a + b + c + e }
    } with ();

    // temporaries in the condition of `if` drop before the branch, those in the scrutinee of `match` do not
    fn if_and_match_on_the_same_value() -> u64 {
        let a = if d("if").len() == 2 { log("branch"); leaf(1).await } else { 0 };
        let b = match d("match").len() == 5 { true => { log("arm"); leaf(2).await } false => 0 };
        log("end");
        a + b
    } with ();

    // drop_order_let_chain.rs
    fn chain_drops_what_it_has_bound_in_reverse() -> u64 {
        if let Some(a) = leaf(Some(d("a"))).await
            && let Some(b) = leaf(Some(d("b"))).await
            && a.len() == b.len()
            && let Some(c) = d("c").none()
        {
            log("then");
            c
        } else {
            log("else");
            leaf(7).await
        }
    } with ();

    // drop_order_let_chain.rs
    fn chain_that_holds_keeps_its_bindings() -> u64 {
        if let Some(a) = leaf(Some(d("a"))).await
            && d("condition").yes()
            && let Some(n) = d("scrutinee").some()
            && let b = d("b")
        {
            log("then");
            wait().await;
            log("then 2");
            n + a.len()
        } else {
            0
        }
    } with ();

    // issue-103107.rs, issue-100276.rs
    fn chain_inside_a_chain() -> u64 {
        let mut n = 0;
        if let Some(1) = d("1").some() && {
            if let Some(x) = d("2").some() && d("3").no() { true } else { wait().await; log("inner else"); true }
        } && leaf(d("4")).await.yes() {
            n += leaf(1).await;
            log("then");
        } else {
            log("else");
        }
        n
    } with ();

    // issue-103107.rs, issue-100276.rs
    fn while_let_chain() -> u64 {
        let mut n = 0;
        while let Some(x) = d("scrutinee").some()
            && n < 3
            && let y = leaf(N(n)).await
        {
            wait().await;
            n += x + y.0;
            log("turn");
        }
        log("out");
        leaf(n).await
    } with ();
}
