//! Values of types with destructors: after `drop-trait-enum.rs`, `drop-struct-as-object.rs`, `drop-value-by-method.rs`,
//! `dst-coerce-unsized-drop.rs`, `enum-destructor-on-unwind.rs`, `field-replace-in-struct-with-drop.rs`,
//! `destructor-run-for-let-ignore-6892.rs`, `destructuring-assignments.rs`, `drop-in-for-loop-destructure.rs`.

use std::fmt::Debug;
use std::sync::Arc;

use crate::harness::*;

corpus! {
    // destructor-run-for-let-ignore-6892.rs
    fn ignored_values_drop_at_once() -> u64 {
        let _ = d("1");
        log("1 ignored");
        let _ = leaf(d("2")).await;
        log("2 ignored");
        let _x = leaf(d("3")).await;
        let (_, y) = leaf((d("4"), d("5"))).await;
        log("4 dropped");
        wait().await;
        _ = leaf(d("6")).await;
        log("end");
        y.len()
    } with ();

    fn ignored_places_are_not_moved() -> u64 {
        let a = d("a");
        let _ = a;
        wait().await;
        log("still there");
        let _ = &a;
        let (_, _) = (&a, leaf(1).await);
        _ = a;
        leaf(2).await
    } with ();

    // destructor-run-for-expression-4734.rs
    fn expression_statements_drop_their_values() -> u64 {
        d("1");
        log("2");
        leaf(d("3")).await;
        log("4");
        (d("5"), leaf(d("6")).await);
        { d("7") };
        wait().await;
        8
    } with ();

    // destructuring-assignments.rs
    fn destructuring_assignment_drops_old_values() -> u64 {
        let (mut a, mut b) = (d("a"), d("b"));
        wait().await;
        (a, b) = (leaf(d("c")).await, d("e"));
        log("assigned");
        [a, ..] = [d("f"), leaf(d("g")).await];
        log("again");
        (_, b) = leaf((d("h"), d("i"))).await;
        a.len() + b.len()
    } with ();

    // drop-struct-as-object.rs, dst-coerce-unsized-drop.rs
    fn trait_object_drops_its_value() -> String {
        let object: Box<dyn Debug + Send> = Box::new(d("object"));
        wait().await;
        let shared: Arc<dyn Debug + Send + Sync> = Arc::new(leaf(d("shared")).await);
        let other = Arc::clone(&shared);
        drop(shared);
        log("one left");
        wait().await;
        format!("{object:?} {other:?}")
    } with ();

    fn slice_box_drops_in_order() -> usize {
        let slice: Box<[D]> = Box::new([d("1"), leaf(d("2")).await, d("3")]);
        wait().await;
        leaf(slice.len()).await
    } with ();

    // drop-trait-enum.rs
    fn enum_variants_drop_their_fields(n: u64) -> u64 {
        enum Shape {
            Unit,
            Tuple(D, u64),
            Record { inner: D, last: D },
        }
        let shape = match n {
            0 => Shape::Unit,
            1 => Shape::Tuple(leaf(d("tuple")).await, 1),
            _ => Shape::Record { last: d("last"), inner: leaf(d("inner")).await },
        };
        wait().await;
        match shape {
            Shape::Unit => 0,
            Shape::Tuple(_, n) => leaf(n).await,
            Shape::Record { inner, .. } => {
                wait().await;
                log("arm");
                inner.len()
            }
        }
    } with (2);

    // drop-value-by-method.rs
    fn consumed_by_a_method() -> u64 {
        trait Consume: Sized {
            fn consume(self) -> u64 {
                log("consume");
                1
            }
        }
        impl Consume for D {}
        let a = d("a");
        wait().await;
        let n = a.consume();
        log("after");
        leaf(n).await
    } with ();

    fn consumed_by_methods_of_std() -> u64 {
        let some = Some(d("some"));
        let vec = vec![d("0"), d("1")];
        wait().await;
        let inner = some.unwrap();
        let mut iterator = vec.into_iter();
        let first = iterator.next();
        wait().await;
        log("next");
        first.map_or(0, |d| d.len()) + inner.len()
    } with ();

    // field-replace-in-struct-with-drop.rs
    fn field_of_a_type_with_drop_replaced() -> u64 {
        struct Own {
            field: Option<D>,
        }
        impl Drop for Own {
            fn drop(&mut self) {
                log(format_args!("own {:?}", self.field));
            }
        }
        let mut own = Own { field: Some(d("old")) };
        wait().await;
        own.field = Some(leaf(d("new")).await);
        log("replaced");
        let taken = own.field.take();
        wait().await;
        own.field = None;
        taken.map_or(0, |d| d.len())
    } with ();

    // a value of Copy fields whose type has a destructor
    fn copies_out_of_a_type_with_drop(n: u64) -> u64 {
        let own = N(n);
        let x = own.0;
        wait().await;
        log("copied");
        leaf(x).await
    } with (3);

    fn pattern_copies_all_fields_of_a_type_with_drop(n: u64) -> u64 {
        let own = N(n);
        let N(x) = own;
        wait().await;
        log("copied");
        leaf(x).await
    } with (3);

    // drop-in-for-loop-destructure.rs
    fn for_loop_drops_the_unbound_parts() -> u64 {
        let mut sum = 0;
        for (a, _, n) in [(d("a0"), d("b0"), 1), (d("a1"), d("b1"), 2)] {
            sum += leaf(n).await;
            log(sum);
        }
        log("out");
        sum
    } with ();

    // drop-if-let-binding.rs
    fn if_let_binding_drops_at_the_end_of_then() -> u64 {
        if let Some(x) = leaf(Some(d("x"))).await {
            wait().await;
            log("then");
        }
        log("after");
        if let (Some(_), y) = (Some(d("a")), leaf(d("y")).await) {
            wait().await;
            log("then 2");
        }
        leaf(1).await
    } with ();

    // manually dropped and forgotten values
    fn forgotten_values_never_drop() -> u64 {
        let a = std::mem::ManuallyDrop::new(d("a"));
        wait().await;
        let b = leaf(d("b")).await;
        std::mem::forget(b);
        log("forgotten");
        a.len()
    } with ();

    fn replaced_and_swapped_in_place() -> u64 {
        let mut a = d("a");
        let mut b = leaf(d("b")).await;
        std::mem::swap(&mut a, &mut b);
        wait().await;
        let old = std::mem::replace(&mut a, d("c"));
        wait().await;
        drop(old);
        log("end");
        leaf(b.len()).await
    } with ();

    // enum-destructor-on-unwind.rs, panic in the middle of an expression
    fn panics_in_an_operand_drop_the_others() -> u64 {
        let a = d("a");
        let sum = a.len() + leaf(d("b")).await.len() + d("c").len() * leaf(2).await;
        log(sum);
        sum
    } with ();

    fn panics_on_purpose_after_an_await(n: u64) -> u64 {
        let a = d("a");
        let b = leaf(d("b")).await;
        if n > 1 {
            panic!("on purpose {n} {}", b.len());
        }
        leaf(1).await
    } with (2);

    fn index_out_of_bounds_after_an_await(i: usize) -> u64 {
        let values = vec![N(1), N(2)];
        wait().await;
        let checked = values.get(i).map(|n| n.0);
        let other = leaf(d("other")).await;
        checked.expect("on purpose: out of bounds")
    } with (2);
}
