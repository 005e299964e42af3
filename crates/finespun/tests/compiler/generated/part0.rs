//! Random bodies, written by `generator.rs`: do not edit.

use crate::*;

corpus! {
    fn random_0(n: u64, m: u64) -> u64 {
        let b: u64 = ((13u64 + leaf(((1u64 + m) % 97)).await) % 89);
        let e = N(n);
        log(e.0);
        let mut x: u64 = leaf(1u64).await;
        leaf(((((m * 9u64) % 97) + 3u64) % 97)).await
    } with (7, 41);

    fn random_1(n: u64, m: u64) -> u64 {
        if n % 4 == 2 { return ((10u64 * m) % 97); }
        let Some(x): Option<u64> = pick(m) else { return ((18u64 + n) % 97) };
        let mut b: u64 = leaf(((((19u64 ^ x) % 97) * n) % 97)).await;
        leaf(13u64).await;
        let c: u64 = leaf(m).await;
        m
    } with (3, 29);

    fn random_2(n: u64, m: u64) -> u64 {
        if ((m + m) % 97) % 2 == 1 {
            if leaf(m).await % 2 == 1 {
                let b: u64 = ((15u64 + n) % 97);
                log(((18u64 ^ 12u64) % 97));
                let a: u64 = ((((4u64 + n) % 97) + ((leaf(((n ^ ((b + n) % 97)) % 97)).await + ((b + b) % 97)) % 89)) % 89);
            }
            else {
                let b: u64 = match 12u64 % 3 {
                    0 => {
                        let x: u64 = leaf(((((n ^ n) % 97) ^ ((n * n) % 97)) % 97)).await;
                        let x: u64 = leaf(m).await;
                        let d = leaf(N(3u64)).await;
                        ((x ^ 12u64) % 97)
                    }
                    1 => {
                        let e = leaf(N(m)).await;
                        let b: u64 = leaf(((n ^ ((m + n) % 97)) % 97)).await;
                        ((leaf(((b * 7u64) % 97)).await + leaf(((b ^ n) % 97)).await) % 89)
                    }
                    _ => {
                        let mut x: u64 = leaf(6u64).await;
                        leaf(16u64).await
                    }
                };
                let d = N(n);
            }
            let x: u64 = leaf(n).await;
        }
        if leaf(19u64).await % 2 == 1 {
            {
                let (b, x): (u64, u64) = join!(leaf(2u64), leaf(((m + m) % 97)));
                let c: u64 = if b % 2 == 0 {
                    log(((((b + x) % 97) + ((m * 9u64) % 97)) % 97));
                    leaf(((19u64 ^ n) % 97)).await;
                    2u64
                }
                else {
                    let Some(c): Option<u64> = pick(x) else { return m };
                    let b: u64 = ((leaf(((((c + x) % 97) + 15u64) % 97)).await + ((leaf(((17u64 * m) % 97)).await + m) % 89)) % 89);
                    b
                };
                let a: u64 = if n % 2 == 0 {
                    ((10u64 * c) % 97)
                }
                else {
                    ((leaf(3u64).await + leaf(x).await) % 89)
                };
            }
        }
        let mut c: u64 = leaf(m).await;
        n
    } with (6, 42);

    fn random_3(n: u64, m: u64) -> u64 {
        if n % 4 == 1 { return n; }
        {
            {
                let x: u64 = if n % 2 == 1 {
                    log(((n * 15u64) % 97));
                    ((((m + ((18u64 + m) % 97)) % 89) + ((leaf(((((m ^ 14u64) % 97) + ((n ^ n) % 97)) % 97)).await + n) % 89)) % 89)
                }
                else {
                    leaf(((m + 18u64) % 97)).await;
                    leaf(m).await
                };
            }
            let mut c: u64 = leaf(((((3u64 + n) % 97) ^ ((19u64 ^ n) % 97)) % 97)).await;
        }
        if leaf(((n * ((14u64 ^ m) % 97)) % 97)).await % 2 == 1 && ((m + 15u64) % 89) % 2 == 0 {
            let c: u64 = leaf(((((n * m) % 97) + ((n + m) % 97)) % 97)).await;
        }
        leaf(((((n + m) % 97) * m) % 97)).await;
        let b: u64 = leaf(((m * n) % 97)).await;
        let mut a: u64 = ((leaf(n).await + leaf(n).await) % 89);
        m
    } with (7, 26);

    fn random_4(n: u64, m: u64) -> u64 {
        if n % 4 == 1 { return ((m * m) % 97); }
        if ((m + n) % 97) % 2 == 1 { return 14u64; }
        let e = leaf(N(((m ^ n) % 97))).await;
        let Some(c): Option<u64> = pick(m) else { return 17u64 };
        leaf(4u64).await
    } with (1, 43);

    fn random_5(n: u64, m: u64) -> u64 {
        if n % 4 == 1 { return m; }
        if 10u64 % 2 == 0 && leaf(((((n * 19u64) % 97) * n) % 97)).await % 2 == 1 { return n; }
        5u64
    } with (4, 3);

    fn random_6(n: u64, m: u64) -> u64 {
        let a: u64 = leaf(n).await;
        let c: u64 = leaf(((m * 12u64) % 97)).await;
        leaf(17u64).await
    } with (1, 7);

    fn random_7(n: u64, m: u64) -> u64 {
        let mut b: u64 = leaf(n).await;
        let mut c: u64 = leaf(((4u64 * ((m + m) % 97)) % 97)).await;
        0u64
    } with (4, 28);

    fn random_8(n: u64, m: u64) -> u64 {
        leaf(m).await;
        log(n);
        let (x, a): (u64, u64) = join!(leaf(n), leaf(((n + m) % 97)));
        leaf(a).await;
        let c: u64 = if m % 2 == 0 {
            let mut x: u64 = leaf(a).await;
            for a in 0..(m) % 4 {
                if ((((x + a) % 97) + ((x * m) % 97)) % 89) % 2 == 1 {
                    leaf(((((a * x) % 97) * m) % 97)).await;
                }
                else {
                    let mut c: u64 = leaf(n).await;
                }
            }
            ((leaf(((((x ^ n) % 97) ^ 19u64) % 97)).await + ((((18u64 * m) % 97) + leaf(((3u64 * ((x + x) % 97)) % 97)).await) % 89)) % 89)
        }
        else {
            let mut c: u64 = leaf(18u64).await;
            let a: u64 = leaf(a).await;
            let c: u64 = match leaf(c).await % 3 {
                0 => {
                    let (c, a): (u64, u64) = join!(leaf(a), leaf(a));
                    ((((n + a) % 89) + leaf(((((1u64 + a) % 97) ^ x) % 97)).await) % 89)
                }
                1 => {
                    let c: u64 = if leaf(((((a + 12u64) % 97) + n) % 97)).await % 2 == 1 && 8u64 % 2 == 1 {
                        let f = leaf(N(((15u64 + 16u64) % 97))).await;
                        ((c ^ x) % 97)
                    }
                    else {
                        leaf(n).await;
                        a
                    };
                    let mut w10 = 0;
                    'l11: while leaf(w10).await < 3 {
                        w10 += 1;
                        {
                            let b: u64 = leaf(x).await;
                            log(n);
                            let Some(a): Option<u64> = pick(a) else { return 18u64 };
                        }
                    }
                    ((((16u64 * m) % 97) + leaf(n).await) % 89)
                }
                _ => {
                    if ((leaf(12u64).await + ((m * a) % 97)) % 89) % 2 == 1 {
                        leaf(a).await;
                        c = leaf(((((m * 5u64) % 97) + x) % 97)).await;
                        let a: u64 = 5u64;
                    }
                    let b: u64 = leaf(n).await;
                    ((b + a) % 97)
                }
            };
            ((8u64 + a) % 97)
        };
        let mut x: u64 = leaf(((2u64 + m) % 97)).await;
        let a: u64 = leaf(((11u64 + ((19u64 ^ c) % 97)) % 97)).await;
        leaf(((((15u64 + 11u64) % 97) * ((n * 2u64) % 97)) % 97)).await
    } with (6, 10);

    fn random_9(n: u64, m: u64) -> u64 {
        if n % 4 == 0 { return m; }
        let (b, a): (u64, u64) = join!(leaf(((6u64 ^ n) % 97)), leaf(m));
        if ((n + leaf(a).await) % 89) % 2 == 0 && leaf(((a ^ 17u64) % 97)).await % 2 == 0 {
            let x: u64 = leaf(((((a ^ n) % 97) ^ ((6u64 * a) % 97)) % 97)).await;
        }
        b
    } with (3, 9);

}
