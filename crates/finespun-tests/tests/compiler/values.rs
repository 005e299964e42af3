//! Values: the positions of an await in an expression, and the uses of its value.

use super::*;

corpus! {
    fn one(n: u64) -> u64 {
        let a = leaf(n).await;
        a + 1
    } with (3);

    fn two(n: u64) -> u64 {
        let a = leaf(n).await;
        let b = leaf(n + a).await;
        a * 10 + b
    } with (3);

    fn unit() -> () {
        leaf(1).await;
        log("x");
        leaf(2).await;
    } with ();

    fn question(n: u64) -> Result<u64, String> {
        let a = leaf(Ok::<u64, String>(n)).await?;
        if a > 3 {
            return Err("big".into());
        }
        let b: u64 = leaf(a.to_string()).await.parse().map_err(|_| "x".to_string())?;
        Ok(a + b)
    } with (2);

    fn question_fails(n: u64) -> Result<u64, Box<dyn std::error::Error + Send + Sync>> {
        let d = D("d");
        let a = leaf("zz".parse::<u64>()).await?;
        eat(d);
        Ok(a + n)
    } with (2);

    fn option(n: u64) -> Option<u64> {
        let a = leaf(Some(n)).await?;
        let b = leaf(if a > 2 { None } else { Some(4) }).await?;
        Some(a + b)
    } with (3);

    fn nested(n: u64) -> u64 {
        leaf(leaf(n).await + leaf(2).await * 3).await + leaf(4).await
    } with (3);

    fn order(n: u64) -> (u64, u64, u64) {
        fn f(n: u64) -> u64 {
            log(n);
            n
        }
        (f(n), leaf(f(2)).await, f(leaf(f(3)).await))
    } with (1);

    fn and(a: bool, b: bool) -> Vec<bool> {
        let r = leaf(a).await && leaf(b).await;
        let q = leaf(a).await || leaf(b).await == a;
        vec![r, q]
    } with (true, false);

    fn ops(n: u64) -> bool {
        !(leaf(n).await == 3 || leaf(n > 2).await) && -leaf(3i64).await < 0
    } with (2);

    fn structs(n: u64) -> (u64, Vec<u64>) {
        struct P {
            a: u64,
            b: Vec<u64>,
        }
        let a = 1;
        let p = P { a, b: [leaf(n).await, leaf(2).await].to_vec() };
        (p.a + leaf(3).await, p.b)
    } with (4);

    fn formats(n: u64) -> String {
        let a = leaf(n).await;
        let s = format!("{a}-{n:>3}-{}", a + 1);
        let t = leaf(s).await;
        format!("{t:?}")
    } with (2);

    fn closures(n: u64) -> u64 {
        let add = |x: u64| x + 1;
        let a = add(n);
        let b = leaf(a).await;
        b + 1
    } with (2);

    fn mut_param(mut n: u64, (a, b): (u64, u64), _: D) -> u64 {
        n += leaf(a).await;
        n * leaf(b).await
    } with (2, (3, 4), D("p"));

    fn assign(n: u64) -> u64 {
        let mut a = [1, 2, 3u64];
        let mut x = 0;
        x = leaf(n).await;
        a[1] = leaf(x).await;
        a[2] += leaf(5).await;
        x -= leaf(1).await;
        a[0] + a[1] * 10 + a[2] * 100 + x * 1000
    } with (4);

    fn references(v: &[u64]) -> u64 {
        let first = &v[0];
        let mut s = 0;
        for (i, x) in v.iter().enumerate() {
            if i % 2 == 0 {
                s += leaf(*x).await;
            }
        }
        s + *first
    } with (&[1, 2, 3, 4, 5]);

    fn boxed(b: Box<N>) -> u64 {
        let x = leaf(b.0).await;
        log(x);
        leaf(1).await;
        b.0
    } with (Box::new(N(4)));

    fn vecs(v: Vec<u64>) -> u64 {
        let n = v.len();
        let mut s = 0;
        for x in v {
            s += leaf(x).await;
        }
        s + n as u64
    } with (vec![1, 2, 3]);
}
