//! After `tests/ui/let-else`.

use crate::harness::*;

fn some(d: &D) -> Option<&str> {
    Some(d.name())
}

corpus! {
    // let-else-drop-order.rs
    fn scrutinee_drops_before_else_runs(n: u64) -> u64 {
        let Some(x) = leaf(d("scrutinee")).await.none() else {
            log("else");
            wait().await;
            return n;
        };
        leaf(x).await
    } with (3);

    fn scrutinee_drops_at_the_end_of_the_statement() -> u64 {
        let Some(x) = d("scrutinee").some() else { unreachable!() };
        log("bound");
        wait().await;
        leaf(x).await
    } with ();

    fn drops_as_a_let_does() -> u64 {
        let (a, _) = (leaf(d("a")).await, d("hole"));
        let (b, _) = (leaf(d("b")).await, d("hole 2")) else { unreachable!() };
        log("end");
        wait().await;
        a.len() + b.len()
    } with ();

    // let-else-temporary-lifetime.rs
    fn else_in_a_loop_continues_and_breaks() -> u64 {
        let mut sum = 0;
        for i in 0..5 {
            let Some(x) = leaf((i != 1).then_some(N(i))).await else {
                wait().await;
                log("continue");
                continue;
            };
            let 0..3 = x.0 else {
                let _last = d("last");
                wait().await;
                log("break");
                break;
            };
            sum += x.0;
            wait().await;
        }
        log("out");
        leaf(sum).await
    } with ();

    // let-else-run-pass.rs, let-else-bindings.rs
    fn bindings_of_all_kinds() -> u64 {
        let Some(ref a) = Some(d("a")) else { return 1 };
        let (Some(b), ref mut c) = (leaf(Some(2)).await, 3) else { return 2 };
        let (Ok(mut e) | Err(mut e)) = leaf(Ok::<u64, u64>(4)).await;
        let [f, .., g] = *leaf(vec![1, 2, 3]).await else { return 3 };
        e += b;
        *c += 1;
        wait().await;
        a.len() + *c + e + f + g
    } with ();

    fn slices_of_a_vec() -> u64 {
        let values = leaf(vec![1, 2, 3]).await;
        let [f, .., g] = values[..] else { return 3 };
        let [first, rest @ ..] = &values[..] else { return 4 };
        wait().await;
        f + g + first + rest.len() as u64
    } with ();

    fn refutable_match_with_a_return_value(n: u64) -> Result<u64, D> {
        let Ok(x) = leaf(if n > 2 { Ok(n) } else { Err(d("error")) }).await else {
            return Err(leaf(d("other")).await);
        };
        Ok(x)
    } with (1);

    // let-else-source-expr-nomove-pass.rs
    fn scrutinee_place_is_not_moved_by_else() -> u64 {
        let value: Option<D> = None;
        let Some(x) = value else {
            wait().await;
            return value.map_or(7, |d| d.len());
        };
        x.len()
    } with ();

    // let-else-allow-unused, nested let else in else
    fn let_else_in_else() -> u64 {
        let Some(a) = d("1").none() else {
            let Some(b) = leaf(d("2")).await.none() else {
                log("inner else");
                return leaf(3).await;
            };
            return b;
        };
        a
    } with ();

    // let-else-then-diverge, with a block as scrutinee
    fn block_as_scrutinee() -> u64 {
        let Some(x) = ({
            let inner = d("inner");
            wait().await;
            inner.none()
        }) else {
            log("else");
            return leaf(2).await;
        };
        x
    } with ();

    fn labelled_break_out_of_else() -> u64 {
        let a = d("a");
        let x = 'block: {
            let Some(x) = leaf(d("scrutinee")).await.none() else {
                let y = leaf(5).await;
                break 'block y + 1;
            };
            x
        };
        leaf(x).await
    } with ();

    // let-else-temporary-lifetime.rs
    fn extended_temporaries_of_let_else() -> u64 {
        let Some(name) = some(&d("not extended")).map(|s| s.len() as u64) else { unreachable!() };
        log("1");
        let Some(first) = &Some(d("extended")) else { unreachable!() };
        wait().await;
        log("2");
        name + first.len()
    } with ();
}
