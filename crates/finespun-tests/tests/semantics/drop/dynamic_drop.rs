//! After `tests/ui/drop/dynamic-drop.rs` and `dynamic-drop-async.rs`: values that may or may not be present when their
//! scope ends, with a panic at every construction.

use crate::harness::*;

fn both() -> (D, D) {
    (d("left"), d("right"))
}

corpus! {
    // dynamic_init
    fn initialised_on_one_path(there: bool) -> u64 {
        let _first = d("first");
        let _second;
        if there {
            _second = d("second");
            wait().await;
        }
        leaf(1).await
    } with (true);

    fn not_initialised(there: bool) -> u64 {
        let _first = d("first");
        let _second;
        if there {
            _second = d("second");
        }
        leaf(1).await
    } with (false);

    // dynamic_drop
    fn moved_on_one_path(gone: bool) -> u64 {
        let first = d("first");
        if gone {
            eat(first);
            wait().await;
        }
        log("after");
        leaf(1).await
    } with (true);

    fn kept_on_the_other_path(gone: bool) -> u64 {
        let first = d("first");
        if gone {
            eat(first);
        } else {
            wait().await;
        }
        log("after");
        leaf(1).await
    } with (false);

    // field_assignment
    fn field_overwritten(twice: bool) -> u64 {
        let mut pair = (d("a"), leaf(1).await, d("b"));
        pair.2 = leaf(d("c")).await;
        if twice {
            pair.0 = leaf(d("e")).await;
        }
        leaf(pair.1).await
    } with (true);

    // array_simple, vec_simple
    fn array_half_made() -> usize {
        let array = [d("0"), leaf(d("1")).await, d("2"), leaf(d("3")).await];
        leaf(array.len()).await
    } with ();

    fn struct_half_made() -> u64 {
        struct Three {
            a: D,
            b: D,
            c: D,
        }
        let three = Three { c: d("c"), a: leaf(d("a")).await, b: d("b") };
        leaf(three.a.len()).await
    } with ();

    fn call_with_half_its_arguments() -> u64 {
        fn take(_: D, _: D, _: D) -> u64 {
            log("call");
            3
        }
        take(d("a"), leaf(d("b")).await, leaf(d("c")).await)
    } with ();

    // mixed_drop_and_nondrop
    fn mixed_values_on_every_path(n: u64) -> u64 {
        let x = (d("x"), 1u64);
        if n > 2 {
            wait().await;
            return x.1;
        }
        let y = (leaf(2u64).await, d("y"));
        x.1 + y.0
    } with (1);

    // slice_pattern_one_of
    fn one_of_an_array(which: u64) -> u64 {
        let array = [d("0"), d("1"), d("2"), d("3")];
        wait().await;
        let _one = match which {
            0 => { let [a, ..] = array; a }
            1 => { let [_, a, ..] = array; a }
            2 => { let [_, _, a, _] = array; a }
            _ => { let [_, _, _, a] = array; a }
        };
        log("picked");
        leaf(which).await
    } with (2);

    fn one_of_an_array_boxed(which: u64) -> u64 {
        let array = Box::new([d("0"), d("1"), d("2")]);
        wait().await;
        let [a, _, c] = *array;
        log("apart");
        wait().await;
        eat(c);
        leaf(which).await
    } with (2);

    // subslice_pattern_from_end, subslice_pattern_reassign
    fn subslice_from_the_end(rest: bool) -> u64 {
        let array = [d("0"), d("1"), d("2")];
        if rest {
            let [_x, _y @ ..] = array;
            wait().await;
        } else {
            let [_x @ .., _] = array;
            wait().await;
        }
        leaf(1).await
    } with (false);

    fn subslice_reassigned() -> u64 {
        let mut array = [d("0"), d("1"), d("2")];
        wait().await;
        let [_, _, _x] = array;
        array = [leaf(d("3")).await, d("4"), d("5")];
        let [_, _y @ ..] = array;
        leaf(1).await
    } with ();

    // bindings_after_at_dynamic_init_move
    fn at_binding_takes_the_whole(there: bool) -> u64 {
        let pair = Some(d("x"));
        wait().await;
        if there {
            if let whole @ Some(_) = pair {
                wait().await;
                log("whole");
            }
        }
        leaf(1).await
    } with (true);

    fn at_binding_of_copies(n: u64) -> u64 {
        let guard = d("guard");
        let whole @ (a, b) = leaf((n, n + 1)).await;
        wait().await;
        whole.0 + a * b
    } with (3);

    // bindings_after_at_or_patterns_move
    fn or_pattern_takes_the_whole(n: u64) -> u64 {
        let value: Result<D, D> = if n > 1 { Ok(d("ok")) } else { Err(d("err")) };
        match value {
            Ok(x) | Err(x) if n > 5 => leaf(x.len()).await,
            Ok(ref x) | Err(ref x) => {
                let len = x.len();
                leaf(len + 1).await
            }
        }
    } with (3);

    // copy_ret
    fn returns_a_copy_out_of_what_is_dropped(n: u64) -> u64 {
        let pair = (d("a"), n);
        wait().await;
        if n > 2 { return pair.1; }
        leaf(pair.1).await
    } with (3);

    // panic_after_return, panic_after_return_expr
    fn result_made_before_the_locals_drop() -> D {
        let _a = d("a");
        let result = leaf(d("result")).await;
        let _b = d("b");
        wait().await;
        result
    } with ();

    fn result_returned_early(n: u64) -> D {
        let _a = d("a");
        if n > 1 {
            let _b = d("b");
            return leaf(d("result")).await;
        }
        d("other")
    } with (2);

    fn result_of_a_block_with_temporaries() -> u64 {
        let _a = d("a");
        let x = { d("temporary").len() + leaf(1).await };
        log("bound");
        leaf(x).await
    } with ();

    // panic_after_init
    fn initialised_from_a_block_with_locals() -> u64 {
        let p = d("p");
        let q = {
            let _r = d("r");
            wait().await;
            d("q")
        };
        log("bound");
        leaf(q.len()).await
    } with ();

    // panic_after_init_by_loop, panic_after_init_by_break_if
    fn initialised_by_a_loop() -> u64 {
        let p = d("p");
        let q = loop {
            let _r = d("r");
            wait().await;
            break d("q");
        };
        leaf(q.len()).await
    } with ();

    fn initialised_by_break_in_a_condition(n: u64) -> u64 {
        let p = d("p");
        let q = loop {
            let r = d("r");
            if n > 1 { break d("q"); }
            wait().await;
            break r;
        };
        leaf(q.len()).await
    } with (0);

    // panic_after_init_temp
    fn initialised_with_temporaries_in_the_tail() -> u64 {
        let p = d("p");
        let q = { d("temporary"); leaf(d("q")).await };
        leaf(q.len()).await
    } with ();

    // if_let_guard
    fn guard_that_moves_on(n: Option<u64>) -> u64 {
        let kept = d("kept");
        match n {
            Some(x) if d("guard").len() > x => leaf(1).await,
            Some(x) => leaf(x).await,
            None => { eat(kept); leaf(3).await }
        }
    } with (Some(9));

    // bindings dropped when an arm is left
    fn match_arm_takes_one_field(pick: bool) -> u64 {
        let pair = both();
        match pair {
            (a, _) if pick => { wait().await; eat(a); }
            (_, b) => { wait().await; eat(b); }
        }
        log("after");
        leaf(1).await
    } with (false);

    fn conditional_move_in_a_loop(n: u64) -> u64 {
        let mut kept = Some(d("kept"));
        for i in 0..n {
            let each = N(i);
            if i == 1 {
                eat(kept.take());
            }
            leaf(each.0).await;
            if i == 2 {
                eat(each);
            }
            log(i);
        }
        leaf(n).await
    } with (4);

    // vec_unreachable
    fn vec_never_finished() -> u64 {
        let _vec = vec![d("a"), leaf(d("b")).await, return 7];
    } with ();

    fn vec_half_made() -> usize {
        let vec = vec![d("0"), leaf(d("1")).await, d("2"), leaf(d("3")).await];
        leaf(vec.len()).await
    } with ();

    // struct_dynamic_drop
    fn fields_moved_by_turns(first: bool, second: bool) -> u64 {
        let pair = both();
        if first {
            eat(pair.0);
        }
        wait().await;
        if second {
            eat(pair.1);
        }
        leaf(2).await
    } with (true, false);

    // struct_dynamic_drop
    fn fields_moved_and_one_put_back(back: bool) -> u64 {
        let mut pair = both();
        eat(pair.0);
        wait().await;
        if back {
            pair.0 = d("new");
        }
        wait().await;
        eat(pair.1);
        leaf(3).await
    } with (true);

    fn variable_swapped_through_a_third(swap: bool) -> u64 {
        let mut a = d("a");
        let mut b = leaf(d("b")).await;
        if swap {
            let c = a;
            wait().await;
            a = b;
            b = c;
        }
        leaf(a.len() + b.len()).await
    } with (true);

    fn struct_update_takes_the_rest() -> u64 {
        struct Three {
            a: D,
            b: D,
            c: u64,
        }
        let old = Three { a: d("old a"), b: d("old b"), c: 3 };
        let new = Three { a: leaf(d("new a")).await, ..old };
        leaf(new.c).await
    } with ();

    // assignment
    fn whole_value_overwritten(there: bool) -> u64 {
        let mut first = d("old");
        wait().await;
        if there {
            first = leaf(d("new")).await;
        }
        let second;
        second = leaf(first).await;
        second.len()
    } with (true);
}
