//! After `tests/ui/for-loop-while`, `tests/ui/loops` and `tests/ui/iterators`.

use crate::harness::*;

fn guards(n: u64) -> Vec<N> {
    (0..n).map(N).collect()
}

struct Counted(u64);

impl Iterator for Counted {
    type Item = N;

    fn next(&mut self) -> Option<N> {
        self.0 += 1;
        log(format_args!("next {}", self.0));
        (self.0 < 4).then(|| N(self.0))
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        log("drop iterator");
    }
}

corpus! {
    // break-value.rs, loop-break-value.rs, loop-labeled-break-value.rs
    fn loops_with_values() -> u64 {
        let a = loop { wait().await; break 1; };
        let b = 'outer: loop {
            let _guard = d("guard");
            loop {
                wait().await;
                if a == 1 { break 'outer 2; }
            }
        };
        let c = loop {
            if leaf(b).await == 2 { break a + b; }
        };
        leaf(c).await
    } with ();

    fn break_with_an_awaited_value() -> u64 {
        let mut n = 0;
        let x = loop {
            n += 1;
            if n > 2 {
                break leaf(n).await;
            }
        };
        x
    } with ();

    // labeled-break.rs, loop-label-shadowing.rs, while-label.rs
    fn labels_across_loops_of_all_kinds() -> u64 {
        let mut log_sum = 0;
        'a: for i in 0..4u64 {
            let _i = N(i);
            let mut j = 0;
            'b: while j < 4 {
                let _j = N(10 + j);
                j += 1;
                loop {
                    wait().await;
                    match (i, j) {
                        (0, 2) => continue 'a,
                        (1, 1) => break 'b,
                        (2, 1) => continue 'b,
                        (2, 3) => break 'a,
                        _ => break,
                    }
                }
                log_sum += leaf(i * j).await;
            }
            log("turn");
        }
        log_sum
    } with ();

    // for-destruct.rs, foreach-put-structured.rs
    fn destructured_items() -> u64 {
        let mut sum = 0;
        for (i, (a, [b, c])) in [(1u64, [2, 3]), (4, [5, 6])].into_iter().enumerate() {
            sum += leaf(a * b).await + c;
            sum *= i as u64 + 1;
        }
        sum
    } with ();

    // for-loop-panic.rs, linear-for-loop.rs: the iterator lives as long as the loop
    fn iterator_drops_after_the_loop() -> u64 {
        let mut sum = 0;
        for item in Counted(0) {
            wait().await;
            sum += item.0;
            log("turn");
        }
        log("out");
        leaf(sum).await
    } with ();

    fn iterator_drops_at_break() -> u64 {
        for item in Counted(0) {
            wait().await;
            if item.0 == 2 {
                log("break");
                break;
            }
        }
        log("out");
        leaf(1).await
    } with ();

    fn iterator_and_item_drop_at_return() -> u64 {
        let outer = d("outer");
        for item in guards(4) {
            let inner = d("inner");
            wait().await;
            if item.0 == 2 {
                return leaf(item.0).await;
            }
        }
        1
    } with ();

    fn iterator_drops_at_question_mark() -> Option<u64> {
        for item in Counted(0) {
            wait().await;
            let n = leaf((item.0 < 2).then_some(item.0)).await?;
            log(n);
        }
        Some(1)
    } with ();

    fn ignored_items_drop_at_the_end_of_the_turn() -> u64 {
        for _ in guards(2) {
            wait().await;
            log("turn");
        }
        leaf(1).await
    } with ();

    fn underscore_named_items_drop_at_the_end_of_the_turn() -> u64 {
        for _item in guards(2) {
            wait().await;
            log("turn");
        }
        leaf(1).await
    } with ();

    // foreach-external-iterators-*.rs
    fn borrowed_iterators() -> u64 {
        let values = vec![1u64, 2, 3, 4];
        let mut sum = 0;
        for x in values.iter().rev().step_by(2) {
            sum += leaf(*x).await;
        }
        for (x, y) in values.iter().zip(&values[1..]) {
            sum += leaf(x * y).await;
        }
        for window in values.windows(2) {
            wait().await;
            sum += window[0];
        }
        sum
    } with ();

    // for-loop-mut-ref-element.rs
    fn mutable_elements() -> u64 {
        let mut values = [1u64, 2, 3];
        for x in &mut values {
            *x += leaf(1).await;
        }
        for x in values.iter_mut() {
            wait().await;
            *x *= 2;
        }
        values.iter().sum()
    } with ();

    // while-let.rs, while-prelude-drop.rs
    fn while_let_drops_its_item_each_turn() -> u64 {
        let mut values = guards(3);
        let mut sum = 0;
        while let Some(value) = values.pop() {
            sum += leaf(value.0).await;
            log("turn");
            if sum > 2 { continue; }
            wait().await;
        }
        sum
    } with ();

    fn while_let_with_an_await_in_its_head() -> u64 {
        let mut n = 0;
        while let Some(value) = leaf((n < 3).then_some(N(n))).await {
            n += 1;
            wait().await;
            log(value.0);
        }
        n
    } with ();

    fn while_let_over_an_iterator_by_reference() -> u64 {
        let mut items = Counted(0);
        while let Some(item) = items.next() {
            wait().await;
            if item.0 == 2 { break; }
        }
        log("second loop");
        for item in &mut items {
            wait().await;
        }
        log("end");
        leaf(1).await
    } with ();

    // while-cont.rs, while-with-break.rs, issue-51345.rs
    fn while_with_continue_in_every_branch() -> u64 {
        let mut n = 0;
        let mut sum = 0;
        while { n += 1; leaf(n).await < 8 } {
            let guard = N(n);
            if n % 3 == 0 { continue }
            if n % 4 == 0 { wait().await; continue }
            if sum > 20 { break }
            sum += guard.0;
        }
        sum
    } with ();

    // liveness-move-in-loop.rs, loop-no-reinit-needed-post-bot.rs
    fn moved_in_the_last_turn_only() -> u64 {
        let value = d("value");
        let mut n = 0;
        loop {
            n += leaf(1).await;
            if n == 3 {
                drop(value);
                log("moved");
                break;
            }
        }
        wait().await;
        n
    } with ();

    // issue-69841.rs, nested loops with shared state
    fn worklist_with_nested_loops() -> u64 {
        let mut open = vec![N(3)];
        let mut done = Vec::new();
        while let Some(next) = open.pop() {
            for i in 0..next.0 {
                if leaf(i).await % 2 == 1 {
                    open.push(N(i));
                }
            }
            done.push(next);
        }
        log("end");
        leaf(done.len() as u64).await
    } with ();

    // cleanup-rvalue-during-if-and-while.rs
    fn temporaries_in_heads_drop_each_time() -> u64 {
        let mut n = 0;
        while d("head").yes() && n < 2 {
            n += leaf(1).await;
            log("body");
        }
        if d("if").no() || leaf(d("or")).await.yes() {
            log("then");
        }
        n
    } with ();

    fn loop_in_a_loop_with_guards_at_each_level() -> u64 {
        let mut count = 0;
        for a in guards(2) {
            for b in guards(2) {
                let pair = (leaf(N(a.0 * 10 + b.0)).await, d("x"));
                wait().await;
                count += pair.0.0;
            }
            log("inner done");
        }
        count
    } with ();

    fn endless_loop_left_by_return() -> u64 {
        let mut n = d("n").len();
        loop {
            let guard = N(n);
            n += leaf(1).await;
            if n > 3 {
                let late = d("late");
                wait().await;
                return n;
            }
        }
    } with ();
}
