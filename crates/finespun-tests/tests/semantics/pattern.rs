//! After `tests/ui/pattern`: bindings before and after `@`, by move and by reference, slices, ranges, or-patterns.

use crate::harness::*;

enum Tree {
    Leaf(u64),
    Node(Box<Tree>, Box<Tree>),
}

struct Wide {
    a: D,
    b: u64,
    c: Option<D>,
}

fn wide() -> Wide {
    Wide { a: d("a"), b: 2, c: Some(d("c")) }
}

corpus! {
    // bindings-after-at/*.rs
    fn copies_before_and_after_at() -> u64 {
        let all @ [first, .., last] = leaf([1u64, 2, 3]).await;
        wait().await;
        let Some(n @ 1..=9) = leaf(Some(all[1])).await else { return 0 };
        first + last + n
    } with ();

    fn reference_at_reference() -> u64 {
        let value = wide();
        let ref whole @ Wide { ref a, b, .. } = value;
        wait().await;
        log(a.name());
        leaf(b).await + whole.b
    } with ();

    fn at_in_arms() -> u64 {
        match leaf(7u64).await {
            n @ (1 | 3) => n,
            n @ 5..10 => {
                let guard = d("guard");
                leaf(n).await + guard.len()
            }
            n => n,
        }
    } with ();

    // move-ref-patterns/*.rs: one part moved, one borrowed
    fn one_part_moved_one_borrowed() -> u64 {
        let pair = (d("moved"), d("borrowed"));
        let (moved, ref borrowed) = pair;
        wait().await;
        drop(moved);
        log("dropped");
        wait().await;
        borrowed.len()
    } with ();

    fn parts_moved_out_one_by_one() -> u64 {
        let Wide { a, b, c } = wide();
        wait().await;
        let c = c.unwrap();
        log("unwrapped");
        drop(a);
        wait().await;
        leaf(b + c.len()).await
    } with ();

    fn temporary_taken_apart() -> u64 {
        let Wide { c: Some(c), .. } = wide() else { return 0 };
        log("rest dropped");
        wait().await;
        c.len()
    } with ();

    // usefulness of or-patterns: or-patterns/*.rs
    fn or_patterns_bind_in_every_branch(n: u64) -> u64 {
        let value = match n {
            0 => (Some(d("x")), None),
            1 => (None, Some(d("y"))),
            _ => (None, None),
        };
        wait().await;
        match value {
            (Some(one), _) | (_, Some(one)) => {
                wait().await;
                log(one.name());
                one.len()
            }
            (None, None) => 0,
        }
    } with (1);

    fn or_pattern_in_let() -> u64 {
        let (Ok(n) | Err(n)) = leaf(Err::<u64, u64>(3)).await;
        wait().await;
        n
    } with ();

    // slice-array-infer.rs, slices of owned values
    fn array_moved_out_of_in_parts() -> u64 {
        let [a, b, c] = [d("0"), leaf(d("1")).await, d("2")];
        drop(b);
        wait().await;
        let [x, rest @ ..] = [a, c];
        log("rest");
        wait().await;
        drop(rest);
        x.len()
    } with ();

    // deref of boxes in patterns: issue-*-move-out-of-box
    fn box_moved_out_of() -> u64 {
        let boxed = Box::new((d("left"), d("right")));
        let (left, right) = *boxed;
        wait().await;
        drop(right);
        log("right gone");
        leaf(left.len()).await
    } with ();

    fn tree_taken_apart_without_recursion() -> u64 {
        let mut open = vec![Tree::Node(
            Box::new(Tree::Leaf(1)),
            Box::new(Tree::Node(Box::new(Tree::Leaf(2)), Box::new(Tree::Leaf(3)))),
        )];
        let mut sum = 0;
        while let Some(tree) = open.pop() {
            match tree {
                Tree::Leaf(n) => sum += leaf(n).await,
                Tree::Node(left, right) => {
                    wait().await;
                    open.push(*right);
                    open.push(*left);
                }
            }
        }
        sum
    } with ();

    // by-value bindings under guards: bind-by-move-guards
    fn binding_by_move_under_a_guard(n: u64) -> u64 {
        let value = Some(d("value"));
        match value {
            Some(x) if x.len() == n => {
                wait().await;
                log("guarded");
                x.len()
            }
            Some(x) => {
                log("unguarded");
                wait().await;
                drop(x);
                log("dropped");
                leaf(1).await
            }
            None => 0,
        }
    } with (3);

    fn strings_and_constants() -> u64 {
        const SIX: u64 = 6;
        let text = leaf(String::from("b")).await;
        let a = match text.as_str() {
            "a" => 1,
            "b" => leaf(2).await,
            _ => 3,
        };
        match leaf((a, 6, 'x')).await {
            (2, SIX, 'a'..='z') => {
                wait().await;
                10
            }
            _ => 0,
        }
    } with ();

    // match on references with default binding modes
    fn default_binding_modes() -> u64 {
        let mut value = Some((d("x"), 1u64));
        if let Some((x, n)) = &mut value {
            *n += 1;
            wait().await;
            *x = leaf(d("y")).await;
        }
        match &value {
            Some((x, n)) if *n > 1 => {
                wait().await;
                x.len() + n
            }
            _ => 0,
        }
    } with ();

    fn or_pattern_in_for() -> u64 {
        let mut sum = 0;
        for (0, x) | (_, x) in [(0, 1), (1, 2)] {
            sum += leaf(x).await;
        }
        sum
    } with ();

    fn parts_left_behind() -> u64 {
        let value = wide();
        let Wide { a, .. } = value;
        wait().await;
        log("a taken");
        drop(a);
        wait().await;
        log("end");
        value.b
    } with ();
}
