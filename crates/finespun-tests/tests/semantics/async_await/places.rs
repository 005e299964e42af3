//! An await at every place where the grammar has an expression, and statements of every kind beside it: after
//! `await-keyword/*.rs`, `issues/non-async-enclosing-span.rs`, `async-unsafe-fn-call-in-safe.rs`, `suggest-*` and
//! others.

use crate::harness::*;

#[derive(Clone, Default)]
struct Fields {
    a: u64,
    b: u64,
    c: Vec<u64>,
}

corpus! {
    fn await_in_the_base_of_a_struct() -> u64 {
        let x = Fields { a: 1, ..leaf(Fields { b: 2, ..Default::default() }).await };
        let y = Fields { c: leaf(vec![3]).await, ..x.clone() };
        x.a + x.b + y.c[0] + y.b
    } with ();

    fn await_of_blocks_and_branches(n: u64) -> u64 {
        let a = { log("block"); leaf(1) }.await;
        let b = (leaf(2)).await;
        let c = if n > 1 { leaf(3) } else { leaf(4) }.await;
        let e = match n { 0 => leaf(5), _ => { log("arm"); leaf(6) } }.await;
        a + b + c + e
    } with (2);

    fn tasks_kept_in_variables_and_collections(n: u64) -> u64 {
        let first = leaf(d("first"));
        let pair = (leaf(1u64), leaf(2u64));
        let list = vec![leaf(3u64), leaf(4u64)];
        let perhaps = (n > 1).then(|| leaf(5u64));
        log("made");
        let mut sum = first.await.len();
        log("first");
        for one in list {
            sum += one.await;
        }
        if let Some(one) = perhaps {
            sum += one.await;
        }
        let (a, b) = pair;
        sum + b.await + a.await
    } with (2);

    fn awaits_with_question_marks_everywhere() -> Option<u64> {
        let mut list = vec![Some(1), Some(2), None];
        list.reverse();
        let x = leaf(Some(leaf(Some(3)).await?)).await?;
        let y = [leaf(Some(1)).await?, x][leaf(Some(1usize)).await?];
        while let Some(z) = leaf(Some(list.pop())).await? {
            log(z.map_or(0, |z| z));
            leaf(z).await?;
        }
        Some(x + y)
    } with ();

    fn attributes_and_cfg_on_statements() -> u64 {
        #[allow(unused_variables)]
        let x = leaf(d("x")).await;
        #[cfg(any())]
        let y = missing().await;
        #[cfg(all())]
        let y = leaf(2).await;
        #[cfg(any())]
        {
            missing().await;
        }
        #[rustfmt::skip]
        wait().await;
        let z = [leaf(1).await, #[cfg(any())] missing().await, 5];
        match y {
            #[cfg(any())]
            _ => missing().await,
            #[cfg(all())]
            _ => log("arm"),
        }
        y + z[1]
    } with ();

    fn inline_const_and_unsafe_blocks() -> u64 {
        let a = const { 3 + 4 };
        // SAFETY: the block contains no unsafe operation.
        let b = unsafe { leaf(a).await };
        let c = leaf(const { 2u64 }).await;
        a + b + c
    } with ();

    fn casts_references_and_ranges() -> u64 {
        let a = leaf(3u8).await as u64;
        let b = *&leaf(4u64).await;
        let c = *Box::new(leaf(5u64).await);
        let e = (leaf(1u64).await..=leaf(3).await).sum::<u64>();
        let f = [leaf(7u64).await; 3].iter().sum::<u64>();
        let g = &mut leaf(8u64).await;
        *g += 1;
        a + b + c + e + f + *g
    } with ();

    fn statements_without_values() -> u64 {
        ;
        leaf(1).await;
        {}
        { leaf(2).await; }
        (leaf(3).await);
        [leaf(4).await];
        if leaf(true).await {}
        match leaf(1).await { _ => {} }
        loop { wait().await; break }
        while leaf(false).await {}
        for _x in 0..leaf(1).await {}
        leaf(()).await
        ; 5
    } with ();

    fn integers_that_fall_back() -> String {
        let x = 3;
        let y = leaf(x).await;
        let z = -leaf(4).await;
        let w = leaf(1.5).await * 2.0;
        let list: Vec<_> = (0..leaf(2).await).collect();
        let text = format!("{y} {z} {w} {list:?}");
        text
    } with ();

    fn overflow_and_division_panic_as_they_do() -> u64 {
        let a = d("a");
        let n = leaf(0u64).await;
        let m = leaf(5u64).await;
        wait().await;
        let b = m.checked_div(n);
        let c = leaf(b).await;
        c.unwrap_or_else(|| panic!("on purpose: divided by {n}"))
    } with ();

    fn short_circuits_with_awaits_on_both_sides() -> u64 {
        let mut n = 0;
        if leaf(d("1")).await.no() && leaf(d("2")).await.yes() { n += 1; }
        if leaf(d("3")).await.yes() || leaf(d("4")).await.yes() { n += 2; }
        if (leaf(true).await || leaf(d("5")).await.no()) && (leaf(false).await || leaf(d("6")).await.yes()) { n += 4; }
        let x = leaf(true).await & leaf(d("7")).await.yes();
        let mut y = leaf(false).await;
        y |= leaf(d("8")).await.yes();
        n + x as u64 + y as u64
    } with ();

    fn assignments_to_places_with_awaits() -> u64 {
        let mut fields = Fields { c: vec![0; 3], ..Default::default() };
        fields.a = leaf(1).await;
        fields.c[leaf(2).await] = leaf(3).await;
        fields.b += { let x = d("x"); leaf(x.len()).await };
        *fields.c.last_mut().unwrap() += leaf(4).await;
        (fields.a, fields.b) = (leaf(fields.b).await, leaf(fields.a).await);
        Fields { a: fields.c[0], .. } = leaf(fields.clone()).await;
        fields.a + fields.b * 10 + fields.c.iter().sum::<u64>() * 100
    } with ();

    fn operand_values_are_taken_before_the_await() -> u64 {
        let mut n = 1;
        let a = n + { n += 1; leaf(n).await } + n;
        let b = [n, { n *= 5; leaf(n).await }, n];
        let c = (n, { n += 1; wait().await; n }, n);
        let e = n.max({ n = 0; leaf(3).await });
        a + b[0] + b[2] + c.0 + c.2 + e
    } with ();

    fn field_and_method_of_an_awaited_value() -> u64 {
        let a = leaf(Fields { a: 4, ..Default::default() }).await.a;
        let b = leaf((d("t"), (1u64, d("u")))).await.1.0;
        let c = leaf(vec![1u64, 2]).await[1];
        let e = leaf([d("v"), d("w")]).await[0].len();
        log("end");
        a + b + c + e
    } with ();

    fn blocks_as_operands_with_locals() -> u64 {
        let x = { let a = d("a"); leaf(a.len()).await } + { let b = d("b"); wait().await; b.len() } * if leaf(true).await { let c = d("c"); 2 } else { 3 };
        log("end");
        x
    } with ();

    fn await_in_a_guard_of_an_arm(n: u64) -> u64 {
        let kept = d("kept");
        match n {
            0 => 1,
            x if leaf(x).await > 5 => 2,
            x if leaf(d("guard")).await.yes() => {
                log("arm");
                leaf(x).await
            }
            _ => 4,
        }
    } with (3);

    fn await_in_a_let_with_a_type_and_a_pattern() -> u64 {
        let x: Option<(u64, D)> = leaf(Some((1, d("x")))).await;
        let Some((n, ref y)): Option<(u64, D)> = x else { return 0 };
        wait().await;
        n + y.len()
    } with ();
}
