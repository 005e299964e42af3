//! The order in which values are dropped: after `drop_order.rs`, `drop-order-comparisons.rs`,
//! `tail-expr-drop-order.rs`, `drop-scope-exit.rs`, `drop-on-ret.rs`, `issue-23338-*.rs`.

use crate::harness::*;

corpus! {
    // tests/ui/drop/drop_order.rs: if, else if, else
    fn conditions_drop_before_the_branches() -> u64 {
        if d("1").no() {
            unreachable!()
        } else if d("2").no() {
            unreachable!()
        } else if d("3").yes() {
            log("branch");
            leaf(1).await
        } else {
            unreachable!()
        }
    } with ();

    // and, or
    fn operands_of_and_and_or() -> bool {
        let both = d("a").yes() && leaf(d("b").no()).await;
        log("between");
        let one = d("c").no() || d("d").yes() && leaf(true).await;
        both | one
    } with ();

    // match_
    fn scrutinee_of_match_lives_through_the_arm() -> u64 {
        match d("1").some() {
            Some(2) => leaf(2).await,
            Some(_) if d("guard").no() => unreachable!(),
            Some(n) if d("guard 2").yes() => {
                log("arm");
                leaf(n).await
            }
            _ => 0,
        }
    } with ();

    fn borrowed_scrutinee_lives_through_the_arm() -> u64 {
        match d("scrutinee").name() {
            name if name.len() > 20 => 1,
            name => {
                wait().await;
                log(name);
                wait().await;
                name.len() as u64
            }
        }
    } with ();

    // if_let
    fn if_let_scrutinee_drops_before_else() -> u64 {
        if let None = d("1").some() {
            0
        } else if let Some(5) = d("2").some() {
            1
        } else {
            log("else");
            leaf(2).await
        }
    } with ();

    fn if_let_scrutinee_lives_through_then() -> u64 {
        if let Some(n) = d("1").some() {
            log("then");
            wait().await;
            log("then 2");
            n
        } else {
            0
        }
    } with ();

    // while_let
    fn while_let_scrutinee_drops_each_turn() -> u64 {
        let mut n = 0;
        while let Some(x) = d("turn").some() {
            n += leaf(x).await;
            log(n);
            if n > 2 {
                break;
            }
        }
        log("out");
        n
    } with ();

    // while_
    fn while_condition_drops_before_the_body() -> u64 {
        let mut n = 0;
        while d("turn").len() > n {
            n += leaf(3).await;
            log("body");
        }
        n
    } with ();

    // temporaries_in_tail, let_else of drop-order-comparisons.rs
    fn tail_temporaries_drop_before_locals() -> u64 {
        let local = d("local");
        wait().await;
        d("tail").len() + local.len()
    } with ();

    fn tail_temporaries_of_a_block_before_its_locals() -> u64 {
        let x = {
            let local = leaf(d("local")).await;
            d("tail").len() + local.len()
        };
        log("after");
        leaf(x).await
    } with ();

    fn tail_match_drops_its_scrutinee_before_locals() -> u64 {
        let local = d("local");
        wait().await;
        match d("scrutinee").some() {
            Some(n) => leaf(n).await,
            None => 1,
        }
    } with ();

    fn tail_if_let_drops_its_scrutinee_before_locals() -> u64 {
        let local = d("local");
        if let Some(n) = d("scrutinee").some() {
            wait().await;
            n
        } else {
            unreachable!()
        }
    } with ();

    // tail-expr-drop-order.rs: await in the tail
    fn awaited_tail_with_temporaries_as_arguments() -> u64 {
        let local = d("local");
        leaf(d("argument").len() + d("other").len()).await
    } with ();

    fn method_on_awaited_temporary_in_the_tail() -> u64 {
        let local = d("local");
        leaf(d("awaited")).await.len()
    } with ();

    fn temporaries_of_a_statement_drop_at_its_end() -> u64 {
        d("1").len();
        let x = d("2").len() + leaf(d("3")).await.len() + d("4").len();
        log("end of let");
        wait().await;
        d("5").name();
        x
    } with ();

    fn argument_temporaries_outlive_the_await() -> u64 {
        async_len(d("a").len(), leaf(d("b")).await.len());
        log("next");
        leaf(eat_len(d("c"), d("d").len())).await
    } with ();

    // drop-scope-exit.rs, drop-on-ret.rs, drop-on-empty-block-exit.rs
    fn left_by_break_continue_and_return(n: u64) -> u64 {
        let _outer = d("outer");
        'outer: for i in 0..n {
            let _middle = N(i);
            for j in 0..3 {
                let _inner = N(10 + j);
                wait().await;
                if j == 1 && i == 0 {
                    continue 'outer;
                }
                if j == 1 && i == 1 {
                    break;
                }
                if i == 2 {
                    break 'outer;
                }
            }
            log("end of turn");
        }
        if n > 3 {
            let _last = d("last");
            return leaf(1).await;
        }
        2
    } with (4);

    fn empty_blocks_drop_what_they_are_given() -> u64 {
        let a = d("a");
        match a {
            _a => {}
        }
        log("1");
        wait().await;
        let b = d("b");
        match b {
            _ => {}
        }
        log("2");
        leaf(1).await
    } with ();

    // issue-23338-params-outlive-temps-of-body.rs
    fn parameters_outlive_temporaries_of_the_body(p: D) -> u64 {
        wait().await;
        p.len() + d("temporary").len()
    } with (D("p"));

    // issue-23338-ensure-param-drop-order.rs
    fn parameters_and_pattern_parts(a: D, (b, _): (D, D), c: D) -> u64 {
        let x = d("x");
        let _keep = &x;
        wait().await;
        log("body");
        leaf(1).await
    } with (D("a"), (D("b"), D("rest")), D("c"));

    // shadowed names, in reverse order of their declarations
    fn shadowed_names_drop_in_reverse() -> u64 {
        let x = d("x1");
        let y = d("y");
        let x = leaf(d("x2")).await;
        let x = (x, d("x3"));
        {
            let x = leaf(d("x4")).await;
        }
        wait().await;
        let x = x.0.len();
        leaf(x).await
    } with ();

    fn fields_drop_in_order_of_declaration() -> u64 {
        struct Own(D, D);
        impl Drop for Own {
            fn drop(&mut self) {
                log("drop own");
            }
        }
        struct Whole {
            second: D,
            first: Own,
            last: [D; 2],
        }
        let whole = Whole { first: Own(d("1"), d("2")), second: leaf(d("3")).await, last: [d("4"), d("5")] };
        wait().await;
        whole.second.len()
    } with ();

    fn nested_parts_of_parameters(mut p: (D, (D, D)), _q: D) -> u64 {
        wait().await;
        eat(p.0);
        log("body");
        wait().await;
        p.1.1 = d("new");
        leaf(1).await
    } with ((D("p0"), (D("p10"), D("p11"))), D("q"));
}

fn async_len(a: u64, b: u64) -> u64 {
    a + b
}

fn eat_len(_: D, n: u64) -> u64 {
    n
}
