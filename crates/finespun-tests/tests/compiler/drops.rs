//! Destructors: which values are dropped, and when, with the await in every kind of scope.

use super::*;

corpus! {
    fn drops() -> u64 {
        let a = D("a");
        let b = D("b");
        let x = leaf(1).await;
        let c = D("c");
        let y = leaf(2).await;
        log("end");
        x + y
    } with ();

    fn drops_inner() -> u64 {
        let a = D("a");
        let x = {
            let b = D("b");
            let r = leaf(1).await;
            log("in");
            r
        };
        log("mid");
        let c = D("c");
        x + leaf(2).await
    } with ();

    fn moved() -> u64 {
        let a = D("a");
        let b = D("b");
        eat(a);
        let x = leaf(1).await;
        log("after");
        eat(b);
        leaf(2).await;
        x
    } with ();

    fn discard() -> u64 {
        leaf(D("a")).await;
        log("1");
        let _ = leaf(D("b")).await;
        log("2");
        let _c = leaf(D("c")).await;
        log("3");
        4
    } with ();

    fn tail_drop() -> u64 {
        let a = D("a");
        leaf(3).await
    } with ();

    fn shadow_drop() -> u64 {
        let x = D("x1");
        let x = (x, D("x2"));
        let r = leaf(1).await;
        let x = D("x3");
        leaf(2).await;
        {
            let x = D("x4");
            leaf(3).await;
        }
        log(x.0);
        r
    } with ();

    fn block_tail(n: u64) -> u64 {
        let a = D("a");
        {
            let b = D("b");
            leaf(n).await
        }
    } with (2);

    fn returns(n: u64) -> u64 {
        let d = D("d");
        for i in 0..n {
            let e = D("e");
            if leaf(i).await == 2 {
                return leaf(7).await;
            }
            log(i);
        }
        1
    } with (5);

    fn sequence() -> u64 {
        let a = leaf(N(1)).await;
        let b = leaf(N(2)).await;
        let c = leaf(N(3)).await;
        eat(b);
        let d = leaf(N(4)).await;
        a.0 + c.0 + d.0
    } with ();

    fn deferred_drop(n: u64) -> u64 {
        let y = D("y");
        let x;
        if n > 2 {
            x = leaf(D("x")).await;
        } else {
            x = D("z");
        }
        log("q");
        leaf(2).await
    } with (4);

    fn let_else(n: u64) -> u64 {
        let Some(x) = leaf(Some(n)).await else { return 3 };
        let Ok(y) = leaf(Err::<u64, D>(D("e"))).await else {
            log("el");
            return x;
        };
        y
    } with (4);

    fn if_let(n: u64) -> u64 {
        let mut t = 0;
        if let Some(x) = leaf(Some(n)).await {
            t += leaf(x).await;
        } else {
            t += 1;
        }
        log(t);
        if let Err(e) = leaf(Err::<u64, N>(N(9))).await {
            log("err");
            leaf(1).await;
            drop(e);
            log("z")
        }
        t
    } with (3);

    fn if_let_else() -> u64 {
        if let Ok(x) = leaf(Err::<u64, N>(N(9))).await {
            x
        } else {
            log("else");
            leaf(1).await
        }
    } with ();

    fn match_await(n: u64) -> u64 {
        match leaf(if n > 2 { Ok(n) } else { Err(N(n)) }).await {
            Ok(x) => leaf(x).await,
            Err(e) => {
                let r = leaf(e.0).await;
                log("e");
                r
            }
        }
    } with (1);

    fn arms(n: u64) -> u64 {
        let a = D("a");
        let b = n + 1;
        let r = match n % 3 {
            0 => {
                let c = D("c");
                eat(a);
                leaf(b).await
            }
            1 => {
                eat(a);
                let x = leaf(n).await;
                x + b
            }
            _ => {
                eat(a);
                1
            }
        };
        log("end");
        r
    } with (4);

    fn fors_vec() -> u64 {
        let v = vec![N(1), N(2), N(3)];
        let mut s = 0;
        for d in v {
            s += leaf(d.0).await;
            log(s);
        }
        s
    } with ();

    fn fors_break() -> u64 {
        let v = vec![N(1), N(2), N(3), N(4)];
        let mut s = 0;
        for d in v {
            if d.0 == 3 {
                break;
            }
            if d.0 == 1 {
                continue;
            }
            s += leaf(d.0).await;
            log(s);
        }
        log("out");
        leaf(s).await
    } with ();

    fn label_block(n: u64) -> u64 {
        let r = 'b: {
            let d = D("d");
            if n > 3 {
                break 'b leaf(1).await;
            }
            log("no");
            leaf(n).await
        };
        log("after");
        r
    } with (5);

    fn ifs(n: u64) -> u64 {
        let d = D("d");
        let x = if n > 3 {
            let e = D("e");
            leaf(1).await
        } else {
            2
        };
        log("m");
        let y = if x > 1 {
            5
        } else {
            let f = D("f");
            let k = leaf(7).await;
            eat(f);
            k + leaf(1).await
        };
        x + y
    } with (5);

    fn matches(n: Option<u64>) -> u64 {
        let d = D("d");
        match n {
            Some(0) => leaf(1).await,
            Some(x) if x > 5 => {
                let a = leaf(x).await;
                a + x
            }
            Some(x) => x,
            None => {
                leaf(()).await;
                4
            }
        }
    } with (Some(7));

    fn nested_loops(n: u64) -> u64 {
        let mut t = 0;
        for i in 0..n {
            let mut s = 0;
            let g = N(i);
            for j in 0..i {
                s += leaf(j).await;
            }
            t += s * leaf(2).await;
            log(t);
        }
        t
    } with (4);
}
