//! Values that a statement keeps until it ends, and ways in which control leaves a statement in the middle. In these
//! shapes, random bodies of `finespun-fuzz`, and bodies with names that mislead the task compiler, once behaved
//! differently.

use crate::harness::*;

struct Pair(D, D);

struct Fields {
    x: D,
    y: D,
}

fn pair(a: &'static str, b: &'static str) -> Pair {
    Pair(d(a), d(b))
}

struct Lock;
struct Guard(D);

impl Lock {
    fn lock(&self) -> Guard {
        Guard(d("guard"))
    }
}

impl std::ops::Deref for Guard {
    type Target = u64;
    fn deref(&self) -> &u64 {
        &3
    }
}

mod diverging {
    /// In std, a macro of this name does not return.
    macro_rules! todo {
        ($($text:tt)*) => {
            $crate::harness::log("todo")
        };
    }
    pub(crate) use todo;
}

corpus! {
    fn nested_match_keeps_what_it_looks_at() -> u64 {
        let pair = Pair(match Some(d("kept")) { _ => { eat(leaf(d("awaited")).await); d("first") } }, d("second"));
        log("end of let");
        pair.1.len()
    } with ();

    fn match_in_an_operand_keeps_what_it_looks_at() -> u64 {
        eat(leaf(match (d("kept"), 6u64) { _ => d("operand") }).await);
        log("end of statement");
        0
    } with ();

    fn match_in_the_head_of_an_if_let() -> u64 {
        if let Ok(v) | Err(v) = Ok::<D, D>(match (d("kept"), 6u64) { _ => d("bound") }) {
            wait().await;
            log("then");
            eat(v);
        }
        if let _ = (match d("kept too") { _ => leaf(d("awaited")).await }) { log("then") } else { log("else") }
        0
    } with ();

    fn match_in_the_head_of_a_for() -> u64 {
        for k in 0..match Some(d("kept")) { _ => 2u64 } {
            eat(leaf(d("item")).await);
        }
        for v in (vec![(d("taken"), d("left")).0]).into_iter() {
            eat(leaf(v).await);
        }
        log("end");
        0
    } with ();

    fn exit_from_a_nested_match() -> D {
        drop(match Some(d("kept")) {
            Some(_) if leaf(true).await => return leaf(d("result")).await,
            _ => d("other"),
        });
        d("not here")
    } with ();

    fn part_of_an_awaited_value_is_ignored() -> u64 {
        let _ = (leaf((pair("a", "b"), d("c"))).await).0;
        log("end");
        0
    } with ();

    fn borrow_of_an_awaited_value_in_a_tuple() -> u64 {
        let v = (&leaf(d("kept")).await, 3u64);
        let w = &mut leaf(d("mutable")).await;
        log("end");
        v.1 + w.len()
    } with ();

    fn value_of_a_statement_drops_behind_its_locals() -> u64 {
        { let local = d("local"); leaf(d("value")).await };
        (if leaf(true).await { d("then") } else { let local = d("local"); leaf(d("else")).await });
        match 3u64 { 0 => d("zero"), _ => { let local = d("local"); leaf(d("value")).await } };
        loop { let local = d("local"); break leaf(d("broken")).await };
        log("end");
        0
    } with ();

    fn code_behind_an_exit_in_an_expression() -> u64 {
        let v = leaf(d("kept")).await;
        let n = 2u64;
        [v.len(), n][{ return v.len(); } as usize % 2]
    } with ();

    fn code_behind_an_exit_in_an_argument() -> D {
        let q = d("result");
        wait().await;
        eat({ return q; });
        d(if n_of(3) > 2 { "never" } else { "neither" })
    } with ();

    fn code_behind_a_panic_in_a_branch() -> D {
        let name = "kept";
        if leaf(false).await { let v = leaf(Some(d("then"))).await; panic!("on purpose: never") }
        return d(name)
    } with ();

    fn parts_of_a_box() -> D {
        let both = Box::new(Fields { x: d("x"), y: d("y") });
        drop(leaf([(*both).x, d("z")]).await);
        log("half");
        (*both).y
    } with ();

    fn contents_of_a_box_come_back() -> u64 {
        let mut b = Box::new(d("first"));
        eat(leaf(*b).await);
        *b = d("second");
        *b = leaf(*b).await;
        log("end");
        b.len()
    } with ();

    fn field_that_comes_back() -> u64 {
        let mut both = (pair("a", "b"), d("c"));
        if let _ = (leaf(d("head")).await) { let (x, y) = both; }
        both.0 = pair("e", "f");
        let n = leaf(5u64).await;
        log("end");
        n
    } with ();

    fn field_behind_a_pattern_that_took_the_rest() -> u64 {
        let both = (d("taken"), 7u64);
        wait().await;
        let (a, n) = both;
        wait().await;
        both.1 + n
    } with ();

    fn nested_pattern_takes_a_part_only() -> u64 {
        let both = (pair("a", "b"), d("c"));
        if leaf(5u64).await > 4 {
            let (Pair(first, _), _) = both;
            let rest = both.1;
            log("then");
        }
        leaf(1).await
    } with ();

    fn ignored_value_of_a_match_drops_before_its_head() -> u64 {
        let _ = match leaf(pair("a", "b")).await { _ => Fields { x: d("x"), y: d("y") } };
        match leaf(pair("c", "d")).await { _ => d("value") };
        log("end");
        0
    } with ();

    fn exit_in_a_comparison() -> D {
        let v = leaf(d("kept")).await;
        let r = v.len();
        if r != 'b: { return d("result") } { log("then") }
        v
    } with ();

    fn local_that_was_moved_comes_back() -> u64 {
        let (mut v, p) = ((d("v"), 4u64), d("p"));
        eat(leaf(v).await);
        v = (d("new"), 5);
        let later;
        let last = leaf(d("last")).await;
        later = d("later");
        log("end");
        v.1
    } with ();

    fn uses_of_inner_blocks() -> u64 {
        match { use std::mem::size_of as size; let v = leaf(5u64).await + size::<u64>() as u64; v } {
            n => { use std::mem::align_of as align; leaf(n).await + align::<u64>() as u64 }
        }
    } with ();

    fn ignored_local_of_a_block() -> u64 {
        let mut a = false;
        a = true;
        eat(leaf(d("a")).await);
        { let _ = a; }
        0
    } with ();

    fn field_named_like_a_local() -> u64 {
        struct Point { a: u64, b: u64 }
        let mut a = false;
        match leaf(2u64).await {
            1 => {}
            n => { if leaf(n).await != (Point { a: 3, b: n }).a { log("other") } }
        }
        a = true;
        5
    } with ();

    fn items_of_a_borrowed_iterator() -> u64 {
        let items = &mut vec![d("a"), d("b"), d("c")].into_iter();
        for x in items.by_ref() { wait().await; log("end of turn"); break; }
        0
    } with ();

    fn number_behind_a_guard() -> u64 {
        let n = leaf(Lock.lock().pow(2) + 1).await;
        log("end");
        n
    } with ();

    fn temporaries_in_macros() -> u64 {
        let a = leaf(matches!((d("looked at"), 1u64).1, 1)).await;
        let v = leaf(vec![(d("in a vec"), 2u64).1]).await;
        log("end");
        v[0] + u64::from(a)
    } with ();

    fn local_that_is_named_and_not_looked_at() -> u64 {
        let a = (5u64, (d("b"), 7u64));
        let moved = d("moved");
        for _ in 0..leaf(a.1.1 - 6).await { wait().await; }
        let (_, ..) = a;
        drop(moved);
        wait().await;
        match moved { _ => log("arm") }
        if let _ = moved { log("then") }
        wait().await;
        0
    } with ();

    fn closure_that_lends_what_the_operand_copies() -> u64 {
        #[derive(Clone, Copy)]
        struct Tag(u64);
        fn of(tag: Tag, n: u64) -> u64 { tag.0 + n }
        let tag = Tag(3);
        let sum = |n: u64| of(tag, n);
        let a = leaf(of(tag, 1)).await;
        a + of(tag, 2)
    } with ();

    fn join_behind_an_awaited_number() -> (u64, u64) {
        let pair = (leaf(4u64).await, [join!(leaf(1u64), now(2u64), leaf(3u64)).2][0]);
        wait().await;
        pair
    } with ();

    fn join_behind_awaited_texts() -> (String, String) {
        let text = |n: u64| n.to_string();
        let all = (leaf(text(1)).await, leaf(text(2)).await, join!(leaf(text(3)), leaf(text(4)), leaf(text(5))));
        wait().await;
        (all.0, all.2.1)
    } with ();

    fn join_in_a_macro() -> u64 {
        let text = format!("{}", join!(leaf(1u64), now(2u64), leaf(3u64)).2);
        text.len() as u64
    } with ();

    fn iterator_in_an_operand() -> u64 {
        eat(leaf(vec![d("a"), d("b")].into_iter().rev().len()).await);
        eat(leaf(Some(&d("c")).map(|v| v.len()).is_some()).await);
        log("end");
        0
    } with ();

    fn macro_named_like_one_that_does_not_return() -> u64 {
        match leaf(Some(3u64)).await {
            Some(n) if n > 4 => { wait().await; }
            _ => diverging::todo!("none"),
        }
        log("end");
        0
    } with ();
}

fn n_of(n: u64) -> u64 {
    n
}
