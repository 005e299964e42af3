//! After `tests/ui/binding`.

use crate::harness::*;

corpus! {
    // fn-arg-incomplete-pattern-drop-order.rs
    fn argument_with_a_part_that_is_not_bound((a, _): (D, D), (_, b, _): (D, D, D)) -> u64 {
        log("body");
        a.len() + b.len()
    } with ((D("a0"), D("a1")), (D("b0"), D("b1"), D("b2")));

    // func-arg-ref-pattern.rs
    fn references_in_parameter_patterns((&a, &mut ref b): (&'static u64, &'static mut u64)) -> u64 {
        let x = leaf(a).await;
        wait().await;
        x + *b
    } with ((&1, kept(2)));

    // func-arg-wild-pattern.rs
    fn wild_parameters_of_copies(_: u64, (_, n): (u64, u64), [_, m]: [u64; 2]) -> u64 {
        wait().await;
        leaf(n + m).await
    } with (1, (2, 3), [4, 5]);

    // match-join.rs, match-phi.rs
    fn initialised_in_every_arm(n: u64) -> u64 {
        let x;
        let y: u64;
        match leaf(n).await {
            0 => { x = d("0"); y = 1; }
            1 => { y = leaf(2).await; x = leaf(d("1")).await; }
            _ => { wait().await; x = d("2"); y = 3; }
        }
        wait().await;
        x.len() + y
    } with (1);

    fn initialised_as_a_tuple(n: u64) -> u64 {
        let (a, b);
        if n > 1 {
            (a, b) = leaf((d("a"), d("b"))).await;
        } else {
            a = d("a1");
            b = leaf(d("b1")).await;
        }
        wait().await;
        a.len() + b.len()
    } with (2);

    // match-reassign.rs
    fn matched_value_assigned_in_an_arm() -> u64 {
        let mut value = Some(d("old"));
        match value {
            Some(ref x) if x.len() > 5 => {}
            _ => {
                wait().await;
                value = Some(leaf(d("new")).await);
            }
        }
        wait().await;
        value.map_or(0, |x| x.len())
    } with ();

    // match-with-ret-arm.rs
    fn arm_that_returns() -> u64 {
        let a = d("a");
        let n = match leaf(None::<u64>).await {
            None => {
                wait().await;
                return 1
            }
            Some(n) => n,
        };
        leaf(n).await
    } with ();

    // match-value-binding-in-guard-3291.rs
    fn guard_uses_a_binding_by_reference() -> u64 {
        let x = Some(Box::new(leaf(3u64).await));
        match x {
            Some(ref y) if **y < 2 => { wait().await; 1 }
            Some(y) => { wait().await; *y }
            None => 0,
        }
    } with ();

    // match-vec-rvalue.rs
    fn match_on_a_temporary_vec() -> u64 {
        match vec![N(1), N(2), N(3)].as_slice() {
            [a, b, c] => {
                wait().await;
                log("arm");
                a.0 + b.0 + c.0
            }
            _ => 0,
        }
    } with ();

    // multi-let.rs, nested-matchs.rs
    fn nested_matches_with_awaits() -> u64 {
        let x = match leaf(Some(1u64)).await {
            Some(n) => match leaf(n + 1).await {
                1 => 10,
                m => match Some(leaf(N(m)).await) {
                    Some(N(2)) => { wait().await; 20 }
                    _ => 30,
                },
            },
            None => 40,
        };
        leaf(x).await
    } with ();

    // mut-in-ident-patterns.rs
    fn mutable_parts_of_a_pattern((mut a, b): (u64, D), (Some2(mut c) | Err2(mut c)): Two) -> u64 {
        a += leaf(1).await;
        c += a;
        wait().await;
        c + b.len()
    } with ((1, D("b")), Err2(3));

    // optional_comma_in_match_arm.rs, range patterns, `_` arms
    fn wildcard_arm_moves_nothing() -> u64 {
        let a = Some(d("a"));
        match a {
            None => return 0,
            _ => wait().await,
        }
        log("still there");
        match a {
            Some(_) => wait().await,
            None => {}
        }
        log("still there 2");
        leaf(1).await
    } with ();

    // order-drop-with-match.rs
    fn match_of_a_tuple_of_temporaries() -> u64 {
        match (d("a"), leaf(d("b")).await) {
            (x, _y) => {
                wait().await;
                log("arm");
                x.len()
            }
        }
    } with ();

    fn match_of_a_place_drops_with_the_place() -> u64 {
        let pair = (d("a"), leaf(d("b")).await);
        let x = match pair {
            (ref x, _) => {
                wait().await;
                log("arm");
                x.len()
            }
        };
        log("after");
        leaf(x).await
    } with ();

    // let-var-hygiene.rs, match-var-hygiene.rs
    fn names_of_macros_stay_apart() -> u64 {
        macro_rules! loop_x {
            ($e:expr) => {{
                let x = 4;
                $e + x
            }};
        }
        let x = leaf(1).await;
        let y = loop_x!(x);
        wait().await;
        let y = y + match x { x => loop_x!(x) };
        leaf(y).await
    } with ();

    // match-ref-binding-mut.rs
    fn mutable_binding_by_reference_in_an_arm() -> u64 {
        let mut pair = (1u64, d("x"));
        match pair {
            (ref mut n, _) if *n > 5 => {}
            (ref mut n, ref x) => {
                *n += leaf(x.len()).await;
                wait().await;
                *n += 1;
            }
        }
        pair.0
    } with ();

    // issue-53114-borrow-checks.rs: let _ and match _ of a part
    fn wildcards_on_parts_of_a_moved_value() -> u64 {
        let pair = (d("a"), d("b"));
        drop(pair.0);
        wait().await;
        let (_, ref b) = pair;
        let _ = pair.1;
        log("kept");
        leaf(b.len()).await
    } with ();
}

enum Two {
    Some(u64),
    Err2(u64),
}
use Two::{Err2, Some as Some2};
