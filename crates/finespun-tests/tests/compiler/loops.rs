//! Control flow: loops, labels, branches, shadowed names around awaits.

use super::*;

corpus! {
    fn shadow(n: u64) -> u64 {
        let x = n;
        let y = {
            let x = x + 1;
            let z = leaf(x).await;
            x * z
        };
        let x = leaf(x + y).await;
        let x = x + leaf(1).await;
        log(format!("{x} {y:>w$}", w = 5));
        x + y
    } with (3);

    fn fors(n: u64) -> u64 {
        let mut s = 0;
        for i in 0..n {
            s += leaf(i).await;
        }
        s
    } with (10);

    fn whiles(n: u64) -> u64 {
        let mut i = 0;
        let mut s = 0;
        while i < n {
            i += 1;
            if i % 3 == 0 {
                continue;
            }
            s += leaf(i).await;
            if s > 20 {
                break;
            }
        }
        s
    } with (20);

    fn while_await(n: u64) -> u64 {
        let mut i = 0;
        while leaf(i).await < n {
            i += 1;
        }
        i
    } with (7);

    fn while_let() -> u64 {
        let mut v = vec![1, 2, 3, 4u64];
        let mut s = 0;
        while let Some(x) = v.pop() {
            s = s * 10 + leaf(x).await;
        }
        s
    } with ();

    fn while_let_await() -> u64 {
        let mut n = 5;
        let mut s = 0;
        while let Some(x) = leaf(if n > 0 { Some(n) } else { None }).await {
            n -= 1;
            s += x;
        }
        s
    } with ();

    fn loop_value() -> u64 {
        let mut i = 0;
        let r = loop {
            i += 1;
            if leaf(i).await > 5 {
                break i * 2;
            }
        };
        r + 1
    } with ();

    fn labels(n: u64) -> u64 {
        let mut s = 0;
        'a: for i in 0..n {
            for j in 0..n {
                if j > i {
                    continue 'a;
                }
                if leaf(i * j).await > 20 {
                    break 'a;
                }
                s += leaf(j).await;
            }
            s += 100;
        }
        s
    } with (8);

    fn if_else_chain(n: u64) -> u64 {
        if n == 0 {
            leaf(1).await
        } else if n == 1 {
            let a = leaf(2).await;
            a + 1
        } else if leaf(n).await == 2 {
            9
        } else {
            leaf(n).await + leaf(1).await
        }
    } with (2);

    fn level(n: u64) -> Vec<u64> {
        let mut v = vec![1];
        for i in 0..n {
            let next = leaf(v).await;
            v = next;
            v.push(i);
        }
        v
    } with (4);

    fn deferred(n: u64) -> u64 {
        let x;
        if n > 2 {
            x = leaf(1).await;
        } else {
            x = 5;
        }
        leaf(2).await + x
    } with (4);

    fn never_ends(n: u64) -> u64 {
        let mut i = n;
        loop {
            i += 1;
            let x = leaf(i).await;
            if x > 10 {
                return x;
            }
        }
    } with (2);

    fn cond_loop(n: u64) -> u64 {
        let mut s = 0;
        let mut i = 0;
        loop {
            if i >= n {
                break;
            }
            let x = if i % 2 == 0 { leaf(i).await } else { i };
            s += x;
            i += 1;
        }
        leaf(s).await
    } with (6);
}
