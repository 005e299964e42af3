//! After `drop-order/drop-order-for-async-fn-parameters*.rs`, `drop-order-for-locals-when-cancelled.rs`,
//! `drop-order-for-temporary-in-tail-return-expr.rs`, `drop-order-locals-are-hidden.rs`,
//! `drop-order-when-cancelled.rs`, `argument-patterns.rs`.

use crate::harness::*;

corpus! {
    // drop-order-for-async-fn-parameters.rs
    fn named_parameters(x: D, y: D) -> u64 {
        x.len() + y.len()
    } with (D("x"), D("y"));

    fn named_parameters_across_a_wait(x: D, y: D) -> u64 {
        wait().await;
        log("body");
        leaf(1).await
    } with (D("x"), D("y"));

    fn parameters_with_an_underscore_name(x: D, _y: D) -> u64 {
        wait().await;
        log("body");
        1
    } with (D("x"), D("_y"));

    fn ignored_parameter_without_a_wait(x: D, _: D) -> u64 {
        log("body");
        1
    } with (D("x"), D("_"));

    fn ignored_parameter(x: D, _: D, z: D) -> u64 {
        wait().await;
        log("body");
        leaf(1).await
    } with (D("x"), D("_"), D("z"));

    fn only_ignored_parameters(_: D, _: D) -> u64 {
        wait().await;
        log("body");
        1
    } with (D("1"), D("2"));

    fn tuple_parameter(x: D, (a, b): (D, D), y: D) -> u64 {
        wait().await;
        log("body");
        leaf(a.len()).await
    } with (D("x"), (D("a"), D("b")), D("y"));

    fn tuple_parameter_with_a_hole((_, b): (D, D), y: D) -> u64 {
        wait().await;
        log("body");
        1
    } with ((D("a"), D("b")), D("y"));

    fn tuple_parameter_of_holes((_, _): (D, D), y: D) -> u64 {
        wait().await;
        log("body");
        1
    } with ((D("a"), D("b")), D("y"));

    fn nested_parameter((a, (_b, [c, ..])): (D, (D, [D; 3])), y: D) -> u64 {
        wait().await;
        log("body");
        leaf(c.len()).await
    } with ((D("a"), (D("b"), [D("c"), D("e"), D("f")])), D("y"));

    // drop-order-for-async-fn-parameters-by-ref-binding.rs
    fn parts_of_parameters_bound_by_reference((ref a, n): (D, u64), [ref b, ref c]: [D; 2]) -> u64 {
        wait().await;
        log(a.name());
        leaf(b.len() + c.len() + n).await
    } with ((D("a"), 3), [D("b"), D("c")]);

    fn parameter_bound_by_reference(ref x: D, y: D) -> u64 {
        wait().await;
        log(x.name());
        leaf(1).await
    } with (D("x"), D("y"));

    fn mutable_parameter(mut x: D, y: D) -> u64 {
        wait().await;
        x = leaf(d("new")).await;
        log("assigned");
        drop(y);
        x.len()
    } with (D("x"), D("y"));

    fn parameter_moved_into_a_local(x: D, y: D) -> u64 {
        let z = x;
        let w = d("w");
        wait().await;
        log("body");
        leaf(w.len()).await
    } with (D("x"), D("y"));

    fn parameter_shadowed_by_a_local(x: D, y: D) -> u64 {
        let x = (x, d("local"));
        wait().await;
        let y = leaf(y).await;
        let y = y.len();
        leaf(y).await
    } with (D("x"), D("y"));

    // drop-order-for-locals-when-cancelled.rs
    fn locals_and_patterns(x: D, _: u64) -> u64 {
        let a = d("a");
        let _ = d("never kept");
        let (b, _) = (d("b"), d("rest"));
        let (_, c) = leaf((d("hole"), d("c"))).await;
        let _e = d("e");
        wait().await;
        let ref f = d("f");
        log("end");
        leaf(1).await
    } with (D("x"), 1);

    fn locals_of_nested_blocks() -> u64 {
        let a = d("a");
        {
            let b = d("b");
            wait().await;
            {
                let c = d("c");
                wait().await;
                log("deep");
            }
            wait().await;
        }
        let e = d("e");
        leaf(1).await
    } with ();

    // drop-order-for-temporary-in-tail-return-expr.rs
    fn temporary_in_the_returned_expression(x: D) -> u64 {
        let local = d("local");
        wait().await;
        return d("temporary").len() + local.len();
    } with (D("x"));

    fn temporary_in_a_tail_block(x: D) -> u64 {
        wait().await;
        { d("temporary").len() }
    } with (D("x"));

    fn temporary_in_a_returned_await(x: D) -> u64 {
        let local = d("local");
        return leaf(d("temporary").len()).await;
    } with (D("x"));

    fn temporary_beside_a_returned_await(x: D) -> u64 {
        let local = d("local");
        return d("temporary").len() + leaf(local.len()).await;
    } with (D("x"));

    fn question_mark_on_a_temporary_in_the_tail(x: D) -> Option<u64> {
        let local = d("local");
        wait().await;
        Some(d("temporary").none()?)
    } with (D("x"));

    // drop-order-locals-are-hidden.rs: a shadowed parameter keeps its place
    fn pattern_shadows_the_parameter_of_its_own_name((x, y): (D, D), z: D) -> u64 {
        let (x, y) = (y, x);
        wait().await;
        log(x.name());
        let z = (z, y);
        wait().await;
        log(z.1.name());
        1
    } with ((D("x"), D("y")), D("z"));

    // drop-order-when-cancelled.rs
    fn closures_and_boxes_among_the_locals() -> u64 {
        let a = Box::new(d("a"));
        let captured = d("captured");
        let closure = move || captured.len();
        let b = Some(leaf(d("b")).await);
        wait().await;
        let n = closure();
        log("called");
        wait().await;
        n + a.len()
    } with ();

    // argument-patterns.rs
    fn struct_pattern_parameter(Point { x, y: Point2 { a, .. } }: Point, mut n: u64) -> u64 {
        n += leaf(x.len()).await;
        n + a.len()
    } with (Point { x: D("x"), y: Point2 { a: D("a"), b: D("b") } }, 3);

    fn at_pattern_parameter(whole @ Pair(a, b): Pair, n @ (_, m): (u64, u64)) -> u64 {
        let x = leaf(a + b).await;
        wait().await;
        whole.0 + x + n.0 + m
    } with (Pair(1, 2), (3, 4));

    fn parameter_bound_by_mutable_reference(ref mut x: N, (ref a, ref mut b): (D, N)) -> u64 {
        x.0 += 1;
        wait().await;
        b.0 += x.0;
        leaf(a.len()).await + b.0
    } with (N(1), (D("a"), N(2)));
}

struct Point {
    x: D,
    y: Point2,
}

struct Point2 {
    a: D,
    b: D,
}

#[derive(Clone, Copy)]
struct Pair(u64, u64);
