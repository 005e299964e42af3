//! Drop flags: after `conditional-drop-10734.rs`, `dropflag-reinit-in-loop.rs`, `drop-on-untaken-arm.rs`,
//! `drop-once-on-move.rs`, `issue-48962.rs`, `repeat-drop.rs`, `issue-2734.rs`, `issue-21486.rs`.

use crate::harness::*;

corpus! {
    // conditional-drop-10734.rs
    fn wrapper_dropped_on_both_paths(n: u64) -> u64 {
        let kept = Some(d("kept"));
        if n == 0 {
            let taken = kept;
            wait().await;
            return taken.map_or(0, |taken| taken.len());
        }
        log("path 2");
        leaf(n).await
    } with (1);

    // dropflag-reinit-in-loop.rs
    fn moved_and_assigned_anew_in_a_loop() -> u64 {
        let mut value = d("0");
        let mut n = 0;
        for name in ["1", "2", "3"] {
            eat(value);
            value = d(name);
            n += leaf(1).await;
        }
        n
    } with ();

    fn moved_across_the_await_and_assigned_anew() -> u64 {
        let mut value = d("0");
        let mut n = 0;
        while n < 3 {
            eat(value);
            n += leaf(1).await;
            value = d("new");
            log(n);
        }
        value.len()
    } with ();

    // drop-on-untaken-arm.rs
    fn untaken_arm_moves_nothing(n: u64) -> u64 {
        let a = d("a");
        match n {
            0 => eat(a),
            1 => { wait().await; log("one") }
            _ => log("other"),
        }
        log("after");
        leaf(n).await
    } with (1);

    // drop-once-on-move.rs
    fn moved_through_many_names() -> u64 {
        let a = d("a");
        let b = a;
        wait().await;
        let c = b;
        let (e, _) = (c, leaf(1).await);
        let [f] = [e];
        leaf(f.len()).await
    } with ();

    // issue-48962.rs
    fn boxed_field_moved_and_put_back() -> u64 {
        struct Node {
            own: D,
            rest: Option<Box<Node>>,
        }
        let mut node = Node { own: d("first"), rest: Some(Box::new(Node { own: d("second"), rest: None })) };
        wait().await;
        if let Some(rest) = node.rest.take() {
            wait().await;
            node = *rest;
            log("moved up");
        }
        leaf(node.own.len()).await
    } with ();

    // repeat-drop.rs
    fn repeated_element_dropped_or_moved() -> u64 {
        let none: [D; 0] = [const { D("never") }; 0];
        log("none");
        wait().await;
        let one = [leaf(d("one")).await; 1];
        log("one");
        leaf(one.len() as u64).await
    } with ();

    // issue-2734.rs, issue-2735.rs
    fn guard_in_an_expression_block(n: u64) -> u64 {
        fn perhaps(n: u64) -> Option<D> {
            Some(d("perhaps")).filter(|_| n > 1)
        }
        perhaps(n);
        log("1");
        let x = loop { perhaps(n); wait().await; break 4; };
        log("2");
        leaf(x).await
    } with (1);

    // issue-21486.rs: an unfinished struct drops the fields made so far
    fn unfinished_struct_by_return(n: u64) -> u64 {
        struct Three {
            a: D,
            b: D,
            c: u64,
        }
        let three = Three { a: d("a"), b: leaf(d("b")).await, c: if n > 1 { return 3 } else { n } };
        leaf(three.c).await
    } with (2);

    fn unfinished_struct_by_break() -> u64 {
        let mut n = 0;
        loop {
            n += 1;
            let pair = (leaf(d("first")).await, if n > 2 { break } else { d("second") });
            wait().await;
            log(n);
        }
        n
    } with ();

    fn unfinished_struct_by_question_mark(n: u64) -> Option<u64> {
        let triple = (d("a"), leaf(d("b")).await, leaf((n > 2).then_some(n)).await?, d("c"));
        wait().await;
        Some(triple.2)
    } with (1);

    fn unfinished_call_by_continue() -> u64 {
        fn take(_: D, n: u64) -> u64 {
            n
        }
        let mut sum = 0;
        for i in 0..4 {
            sum += take(leaf(d("argument")).await, if i % 2 == 0 { log("skip"); continue } else { i });
        }
        sum
    } with ();

    // assignments drop the old value, with and without a panic
    fn assignment_evaluates_then_drops_the_old_value() -> u64 {
        let mut x = d("old");
        x = { log("evaluate"); leaf(d("new")).await };
        log("assigned");
        wait().await;
        x = d("newest");
        x.len()
    } with ();

    fn option_assigned_by_turns(n: u64) -> u64 {
        let mut slot: Option<N> = None;
        for i in 0..n {
            slot = if i % 2 == 0 { Some(leaf(N(i)).await) } else { wait().await; None };
            log("turn");
        }
        slot.map_or(0, |n| n.0)
    } with (3);

    fn declared_before_initialised_after_two_awaits(n: u64) -> u64 {
        let late;
        let early = d("early");
        wait().await;
        if n > 1 {
            late = d("late");
        } else {
            wait().await;
            return early.len();
        }
        wait().await;
        late.len()
    } with (2);

    fn declared_but_left_before(n: u64) -> u64 {
        let late: D;
        let early = d("early");
        wait().await;
        if n > 1 {
            return leaf(early.len()).await;
        }
        late = leaf(d("late")).await;
        late.len()
    } with (2);

    fn moved_in_one_arm_and_returned_in_another(n: u64) -> D {
        let value = d("value");
        match leaf(n).await {
            0 => return value,
            1 => eat(value),
            _ => {
                wait().await;
                return value;
            }
        }
        leaf(d("other")).await
    } with (1);

    fn moved_into_a_closure_or_not(n: u64) -> u64 {
        let value = d("value");
        if n > 1 {
            let closure = move || value.len();
            wait().await;
            return closure();
        }
        wait().await;
        log("not moved");
        leaf(3).await
    } with (2);
}
