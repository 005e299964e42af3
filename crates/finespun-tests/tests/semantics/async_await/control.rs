//! After `async-await-let-else.rs`, `async-block-control-flow-static-semantics.rs`, `issues/issue-*.rs` about control
//! flow, `return-ty-*`, `await-in-*`: an await at every place of an expression and a statement.

use crate::harness::*;

corpus! {
    // async-await.rs
    fn await_in_every_operand() -> u64 {
        let a = leaf(1).await + leaf(2).await * leaf(3).await - (leaf(4).await ^ leaf(5).await);
        let b = [leaf(1).await, leaf(2).await][leaf(1).await];
        let c = (leaf(1).await, leaf(2).await).1;
        let e = -(leaf(3i64).await) as u64 & 0xff;
        let f = !leaf(true).await as u64;
        let g = &leaf(N(7)).await.0 + 1;
        let h = leaf(1).await..leaf(5).await;
        a + b + c + e + f + g + h.end
    } with ();

    fn await_in_compound_assignments() -> u64 {
        let mut a = 1;
        let mut array = [1, 2, 3];
        a += leaf(2).await;
        a *= leaf(a).await + 1;
        a <<= leaf(1).await;
        array[leaf(1).await] += leaf(a).await;
        array[leaf(0).await] = array[leaf(2).await];
        array[0] + array[1]
    } with ();

    fn await_of_await_and_method_chains() -> u64 {
        let inner = leaf(leaf(leaf(d("x")).await).await).await;
        let text = leaf(String::from("abc")).await.to_uppercase();
        let n = leaf(vec![3, 1, 2]).await.into_iter().map(|x| x + 1).max().unwrap_or(leaf(0).await);
        inner.len() + text.len() as u64 + n
    } with ();

    fn await_in_conditions() -> u64 {
        let mut n = 0;
        if leaf(true).await && !leaf(false).await || leaf(d("never")).await.yes() {
            n += 1;
        }
        while leaf(n).await < 4 {
            n += 1;
        }
        match leaf(n).await {
            4 if n > 5 => n,
            4 => n + leaf(1).await,
            _ => 0,
        }
    } with ();

    // async-await-let-else.rs
    fn let_else_with_an_await_in_else(n: Option<u64>) -> u64 {
        let guard = d("guard");
        let Some(n) = n else {
            wait().await;
            log("else");
            return leaf(guard.len()).await;
        };
        n
    } with (None);

    fn let_else_with_an_await_in_both(n: Option<u64>) -> u64 {
        let Some(n) = leaf(n).await else {
            let x = leaf(d("x")).await;
            return leaf(x.len()).await;
        };
        leaf(n).await
    } with (None);

    fn let_else_with_a_temporary() -> u64 {
        let Some(n) = d("scrutinee").none() else {
            log("else");
            wait().await;
            return 3;
        };
        n
    } with ();

    // early returns out of every construct
    fn question_mark_through_every_construct(n: u64) -> Result<u64, String> {
        fn check(n: u64, at: u64) -> Result<u64, String> {
            if n == at { Err(format!("at {n}")) } else { Ok(n) }
        }
        let _a = d("a");
        let x = leaf(check(n, 1)).await?;
        let _b = d("b");
        for i in 0..leaf(check(x, 2)).await? {
            let _c = N(i);
            if check(leaf(i).await, 3)? == 4 {
                let _e = d("e");
                return Ok(leaf(check(7, 8)).await? + 1);
            }
        }
        match leaf(check(n, 5)).await {
            Ok(n) => leaf(Ok(n)).await,
            Err(error) => Err(error)?,
        }
    } with (4);

    fn question_mark_converts_its_error() -> Result<u64, Box<dyn std::error::Error + Send + Sync>> {
        let _a = d("a");
        let n: u64 = leaf("12").await.parse()?;
        let m: u64 = leaf("x").await.parse()?;
        Ok(n + m)
    } with ();

    fn unit_return_in_branches(n: u64) -> () {
        let _a = d("a");
        if n > 1 {
            wait().await;
            log("return");
            return;
        }
        wait().await;
        log("end")
    } with (2);

    fn never_typed_branches(n: u64) -> u64 {
        let _a = d("a");
        let x: u64 = match leaf(n).await {
            0 => return 1,
            1 => panic!("on purpose: never"),
            2 => loop {
                if leaf(true).await {
                    break 5;
                }
            },
            _ => unreachable!(),
        };
        leaf(x).await
    } with (2);

    fn labelled_block_with_values(n: u64) -> u64 {
        let a = d("a");
        let x = 'outer: {
            let b = d("b");
            let y = 'inner: {
                let c = d("c");
                if leaf(n).await > 2 {
                    break 'outer 1;
                }
                if leaf(n).await > 1 {
                    break 'inner 2;
                }
                3
            };
            wait().await;
            log("inner done");
            y
        };
        leaf(x).await
    } with (2);

    fn join_of_values() -> u64 {
        let a = d("a");
        let (x, y) = join!(now(1), now(2));
        let (z, _) = join!(leaf(x + y), leaf(()));
        log(z);
        let (e, f, g) = join!(now(z), leaf(4), now(5));
        e + f + g
    } with ();

    fn macros_of_std_between_awaits(n: u64) -> u64 {
        let x = leaf(n).await;
        assert!(x == n, "on purpose: {x}");
        assert_eq!(x, n);
        let text = format!("{x} {}", n);
        wait().await;
        debug_assert_ne!(x, 99);
        if x > 3 { unreachable!("on purpose: unreachable {x}") }
        leaf(text.len() as u64).await
    } with (7);

    fn await_in_assert(n: u64) -> u64 {
        let kept = d("kept");
        assert!(leaf(n).await > 2, "on purpose: {}", leaf(d("not evaluated")).await.len());
        assert!(leaf(d("condition")).await.yes());
        debug_assert!(kept.len() == leaf(4).await);
        log("asserted");
        assert!(leaf(n).await > 9, "on purpose: {} of {n}", leaf(d("text")).await.len());
        kept.len()
    } with (7);

    fn await_in_assert_eq(n: u64) -> u64 {
        let kept = d("kept");
        assert_eq!(leaf(N(n)).await, N(n));
        assert_eq!(leaf(d("left")).await.len(), leaf(d("long")).await.len(), "on purpose: {}", kept.len());
        assert_ne!(d("left").len(), leaf(n).await);
        log("asserted");
        assert_eq!(d("left").len(), leaf(n).await, "on purpose: {}", leaf(d("text")).await.len());
        kept.len()
    } with (7);

    fn await_in_format(n: u64) -> String {
        let kept = d("kept");
        let text = format!("{:?} {} {n}", leaf(d("a")).await, leaf(n).await + d("temporary").len());
        log(&text);
        let text = format!("{text} {0:?} {0:?} {named}", leaf(N(n)).await, named = leaf(kept.len()).await);
        wait().await;
        text
    } with (7);

    fn await_in_matches(n: u64) -> u64 {
        let kept = d("kept");
        let a = matches!(leaf(Some(d("a"))).await, Some(x) if x.len() == 1);
        log(a);
        let b = matches!(n, 0 | 1) || matches!(n, x if leaf(x).await > kept.len());
        let c = matches!(leaf(d("c")).await.some(), Some(1..=3)) && matches!(&kept, D("kept"));
        leaf(u64::from(a) + 2 * u64::from(b) + 4 * u64::from(c)).await
    } with (7);

    fn await_in_write(n: u64) -> String {
        use std::fmt::Write;
        let mut text = String::new();
        write!(text, "{} {:?}", leaf(n).await, leaf(d("a")).await).unwrap();
        log(&text);
        writeln!(&mut text, "{}", leaf(d("b")).await.len() + leaf(1).await).unwrap();
        wait().await;
        text
    } with (7);

    fn await_in_format_args(n: u64) -> u64 {
        let kept = d("kept");
        log(format_args!("{} {:?} {n}", leaf(n).await, leaf(d("a")).await));
        wait().await;
        kept.len()
    } with (7);

    fn await_in_panic(n: u64) -> u64 {
        let kept = d("kept");
        let text = d("text");
        if leaf(n).await == 7 {
            panic!("on purpose: {} {}", leaf(text).await.len(), leaf(n).await);
        }
        unreachable!("on purpose: {}", leaf(kept).await.len())
    } with (7);

    fn await_in_dbg(n: u64) -> u64 {
        let kept = dbg!(leaf(d("kept")).await);
        let (a, b) = dbg!(leaf(n).await, leaf(d("temporary")).await.len());
        log("shown");
        dbg!(leaf(kept).await.len() + a + b)
    } with (7);

    fn return_as_an_operand(n: u64) -> u64 {
        let x = leaf(1).await + if n > 2 { return leaf(9).await } else { 2 };
        x
    } with (3);
}
