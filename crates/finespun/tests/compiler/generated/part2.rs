//! Random bodies, written by `generator.rs`: do not edit.

use crate::*;

corpus! {
    fn random_20(n: u64, m: u64) -> u64 {
        let e = N(11u64);
        let mut c: u64 = leaf(n).await;
        let c: u64 = if ((13u64 + leaf(((((15u64 ^ 13u64) % 97) ^ n) % 97)).await) % 89) % 2 == 1 {
            log(e.0);
            leaf(m).await
        }
        else {
            let e = leaf(N(m)).await;
            3u64
        };
        let mut w3 = 0;
        while leaf(w3).await < 3 {
            w3 += 1;
            {
                log(e.0);
                if leaf(c).await % 2 == 1 { return ((((11u64 + leaf(c).await) % 89) + m) % 89); }
                let Some(c): Option<u64> = pick(((10u64 ^ c) % 97)) else { return n };
            }
        }
        m
    } with (1, 29);

    fn random_21(n: u64, m: u64) -> u64 {
        {
            let Some(b): Option<u64> = pick(n) else { return 14u64 };
        }
        leaf(0u64).await;
        let mut x: u64 = leaf(n).await;
        leaf(10u64).await
    } with (2, 49);

    fn random_22(n: u64, m: u64) -> u64 {
        if n % 4 == 0 { return 17u64; }
        leaf(n).await;
        let mut w1 = 0;
        while w1 < 3 {
            w1 += 1;
            {
                for a in 0..(m) % 4 {
                    leaf(a).await;
                    if ((6u64 ^ n) % 97) % 2 == 0 {
                        let mut x: u64 = leaf(((((a * 12u64) % 97) + n) % 97)).await;
                    }
                }
                let mut x: u64 = leaf(n).await;
                let mut x: u64 = leaf(1u64).await;
            }
        }
        let mut c: u64 = leaf(((((n + 10u64) % 97) ^ n) % 97)).await;
        if ((n + ((m * 0u64) % 97)) % 89) % 2 == 1 && ((((m ^ n) % 97) + n) % 89) % 2 == 0 {
            if ((m + m) % 97) % 2 == 0 { return ((leaf(m).await + ((leaf(c).await + leaf(0u64).await) % 89)) % 89); }
        }
        let mut b: u64 = leaf(n).await;
        leaf(((((m * n) % 97) * ((m ^ n) % 97)) % 97)).await
    } with (2, 17);

    fn random_23(n: u64, m: u64) -> u64 {
        if n % 4 == 0 { return m; }
        leaf(9u64).await;
        leaf(((((14u64 * m) % 97) ^ 3u64) % 97)).await;
        let Some(x): Option<u64> = pick(((n * n) % 97)) else { return 5u64 };
        let c: u64 = leaf(n).await;
        let b: u64 = if leaf(c).await % 2 == 0 {
            leaf(m).await
        }
        else {
            let b: u64 = match m % 3 {
                0 => {
                    for c in 0..(((19u64 + x) % 97)) % 4 {
                        let (b, x): (u64, u64) = join!(leaf(m), leaf(((16u64 ^ m) % 97)));
                    }
                    ((c * x) % 97)
                }
                1 => {
                    let x: u64 = if 6u64 % 2 == 0 && ((n + leaf(c).await) % 89) % 2 == 0 {
                        leaf(m).await;
                        let b: u64 = leaf(0u64).await;
                        leaf(1u64).await
                    }
                    else {
                        leaf(n).await;
                        log(((((18u64 + m) % 97) * ((x ^ x) % 97)) % 97));
                        leaf(m).await
                    };
                    ((3u64 ^ 5u64) % 97)
                }
                _ => {
                    let d = leaf(N(((x * x) % 97))).await;
                    let e = N(((n ^ n) % 97));
                    for a in 0..(((n ^ n) % 97)) % 4 {
                        leaf(((x * 3u64) % 97)).await;
                        leaf(((n * ((14u64 ^ c) % 97)) % 97)).await;
                        leaf(0u64).await;
                    }
                    leaf(((x + n) % 97)).await
                }
            };
            let c: u64 = leaf(x).await;
            leaf(((c + x) % 97)).await
        };
        {
            let mut x: u64 = leaf(m).await;
        }
        leaf(((((x + 3u64) % 97) + b) % 97)).await
    } with (0, 24);

    fn random_24(n: u64, m: u64) -> u64 {
        log(m);
        let a: u64 = match leaf(6u64).await % 3 {
            0 => {
                if leaf(7u64).await % 2 == 1 {
                    for x in 0..(((m ^ 8u64) % 97)) % 4 {
                        let Some(x): Option<u64> = pick(((n ^ n) % 97)) else { return ((n + n) % 97) };
                    }
                }
                else {
                    if ((((18u64 * n) % 97) + leaf(((((n ^ 16u64) % 97) ^ n) % 97)).await) % 89) % 2 == 1 {
                        let mut a: u64 = ((((((n ^ 0u64) % 97) + ((n ^ 14u64) % 97)) % 89) + n) % 89);
                    }
                    let mut w6 = 0;
                    while w6 < 3 {
                        w6 += 1;
                        {
                            let a: u64 = n;
                        }
                    }
                }
                ((((m + leaf(((8u64 * 19u64) % 97)).await) % 89) + ((n + n) % 97)) % 89)
            }
            1 => {
                let mut a: u64 = leaf(1u64).await;
                a += leaf(0u64).await;
                {
                    let x: u64 = match ((a * a) % 97) % 3 {
                        0 => {
                            log(n);
                            ((n ^ m) % 97)
                        }
                        1 => {
                            let a: u64 = 13u64;
                            leaf(m).await;
                            leaf(a).await
                        }
                        _ => {
                            let mut b: u64 = leaf(((a ^ a) % 97)).await;
                            let (b, x): (u64, u64) = join!(leaf(((n ^ b) % 97)), leaf(((m + 0u64) % 97)));
                            let c: u64 = leaf(((n ^ m) % 97)).await;
                            leaf(((((8u64 + 18u64) % 97) + ((n ^ 1u64) % 97)) % 97)).await
                        }
                    };
                }
                ((leaf(((((n * a) % 97) ^ ((7u64 * m) % 97)) % 97)).await + n) % 89)
            }
            _ => {
                ((leaf(m).await + ((m * m) % 97)) % 89)
            }
        };
        let mut a: u64 = leaf(((n ^ n) % 97)).await;
        let (a, b): (u64, u64) = join!(leaf(a), leaf(((a ^ a) % 97)));
        ((leaf(12u64).await + ((leaf(((5u64 * a) % 97)).await + ((b ^ a) % 97)) % 89)) % 89)
    } with (7, 7);

    fn random_25(n: u64, m: u64) -> u64 {
        let a: u64 = if ((((18u64 + m) % 97) + leaf(n).await) % 89) % 2 == 0 || ((leaf(((((1u64 + n) % 97) ^ 5u64) % 97)).await + leaf(n).await) % 89) % 2 == 1 {
            let mut b: u64 = leaf(n).await;
            log(n);
            ((((16u64 * m) % 97) + ((b + n) % 97)) % 89)
        }
        else {
            let mut b: u64 = ((((leaf(m).await + leaf(((m * m) % 97)).await) % 89) + ((n + leaf(n).await) % 89)) % 89);
            n
        };
        {
            leaf(((m ^ ((m ^ a) % 97)) % 97)).await;
            let a: u64 = leaf(m).await;
        }
        let mut w4 = 0;
        while w4 < 3 {
            w4 += 1;
            {
                let (x, b): (u64, u64) = join!(leaf(a), leaf(((a * m) % 97)));
                if leaf(4u64).await % 2 == 1 || leaf(m).await % 2 == 0 {
                    if 19u64 % 2 == 0 {
                        let a: u64 = leaf(a).await;
                        let x: u64 = ((((9u64 ^ m) % 97) + leaf(((((m + a) % 97) * a) % 97)).await) % 89);
                    }
                }
                else {
                    let mut b: u64 = leaf(n).await;
                    let mut w9 = 0;
                    while w9 < 3 {
                        w9 += 1;
                        {
                            let b: u64 = leaf(((m ^ b) % 97)).await;
                        }
                    }
                    let Some(a): Option<u64> = pick(0u64) else { return n };
                }
            }
        }
        leaf(m).await
    } with (6, 20);

    fn random_26(n: u64, m: u64) -> u64 {
        let c: u64 = n;
        let b: u64 = if leaf(c).await % 2 == 1 && ((leaf(m).await + leaf(m).await) % 89) % 2 == 0 {
            let mut w2 = 0;
            'l3: while leaf(w2).await < 3 {
                w2 += 1;
                {
                }
            }
            'l5: for x in 0..(((m * n) % 97)) % 4 {
                let mut c: u64 = leaf(((n * x) % 97)).await;
                if 7u64 % 2 == 1 || leaf(0u64).await % 2 == 0 { continue 'l5; }
                c = leaf(((x + c) % 97)).await;
            }
            ((c + 1u64) % 97)
        }
        else {
            log(11u64);
            if ((((c + n) % 97) + ((m + m) % 97)) % 89) % 2 == 0 && ((((11u64 * 4u64) % 97) + leaf(((((1u64 ^ n) % 97) * c) % 97)).await) % 89) % 2 == 0 {
            }
            else {
                let mut b: u64 = ((((m * 12u64) % 97) + m) % 89);
            }
            log(((c * n) % 97));
            ((leaf(5u64).await + leaf(((n * 9u64) % 97)).await) % 89)
        };
        for x in 0..(18u64) % 4 {
            if n % 3 == 1 { continue; }
            let x: u64 = match ((n * 18u64) % 97) % 3 {
                0 => {
                    {
                        let c: u64 = n;
                        let a: u64 = leaf(14u64).await;
                        let d = leaf(N(((x ^ x) % 97))).await;
                    }
                    leaf(((n ^ 14u64) % 97)).await
                }
                1 => {
                    leaf(((((c ^ b) % 97) + ((c ^ m) % 97)) % 97)).await
                }
                _ => {
                    log(b);
                    let mut w15 = 0;
                    while leaf(w15).await < 3 {
                        w15 += 1;
                        {
                            log(c);
                        }
                    }
                    c
                }
            };
        }
        log(19u64);
        m
    } with (4, 8);

    fn random_27(n: u64, m: u64) -> u64 {
        let (x, a): (u64, u64) = join!(leaf(m), leaf(((4u64 + 11u64) % 97)));
        if ((x + x) % 97) % 2 == 1 { return m; }
        {
            let (a, x): (u64, u64) = join!(leaf(8u64), leaf(((10u64 + 5u64) % 97)));
            let mut b: u64 = x;
        }
        let x: u64 = ((14u64 ^ m) % 97);
        let mut b: u64 = leaf(((m + ((0u64 * m) % 97)) % 97)).await;
        ((3u64 * 15u64) % 97)
    } with (3, 0);

    fn random_28(n: u64, m: u64) -> u64 {
        let x: u64 = leaf(10u64).await;
        let c: u64 = 2u64;
        {
            let d = N(m);
            let b: u64 = match 16u64 % 3 {
                0 => {
                    let Some(a): Option<u64> = pick(x) else { return x };
                    ((leaf(a).await + ((leaf(c).await + leaf(x).await) % 89)) % 89)
                }
                1 => {
                    leaf(((c ^ ((x ^ c) % 97)) % 97)).await;
                    leaf(((n * ((5u64 + 17u64) % 97)) % 97)).await;
                    leaf(((x ^ ((17u64 ^ 19u64) % 97)) % 97)).await
                }
                _ => {
                    let x: u64 = c;
                    log(m);
                    let f = leaf(N(15u64)).await;
                    ((leaf(m).await + c) % 89)
                }
            };
        }
        leaf(x).await
    } with (4, 35);

    fn random_29(n: u64, m: u64) -> u64 {
        let c: u64 = leaf(((((n * n) % 97) + m) % 97)).await;
        let d = N(((16u64 + c) % 97));
        let a: u64 = match n % 3 {
            0 => {
                let c: u64 = match m % 3 {
                    0 => {
                        ((13u64 + ((leaf(((c * 8u64) % 97)).await + leaf(m).await) % 89)) % 89)
                    }
                    1 => {
                        let b: u64 = ((((n + n) % 97) + leaf(n).await) % 89);
                        {
                            let mut b: u64 = ((leaf(c).await + leaf(((((m ^ c) % 97) * ((c * 18u64) % 97)) % 97)).await) % 89);
                            let e = leaf(N(((m + 0u64) % 97))).await;
                        }
                        for c in 0..(((b * b) % 97)) % 4 {
                            log(c);
                            let mut x: u64 = leaf(9u64).await;
                        }
                        leaf(c).await
                    }
                    _ => {
                        if ((2u64 + n) % 89) % 2 == 0 || ((n + ((c ^ m) % 97)) % 89) % 2 == 0 {
                        }
                        n
                    }
                };
                ((c + ((10u64 * c) % 97)) % 89)
            }
            1 => {
                c
            }
            _ => {
                if n % 2 == 1 {
                    log(m);
                    if c % 2 == 1 {
                        let Some(c): Option<u64> = pick(c) else { return ((c ^ c) % 97) };
                        let x: u64 = leaf(((((n * c) % 97) + c) % 97)).await;
                        let b: u64 = leaf(17u64).await;
                    }
                }
                else {
                    if leaf(m).await % 2 == 0 {
                        let a: u64 = leaf(12u64).await;
                        log(((n ^ a) % 97));
                        let mut x: u64 = leaf(m).await;
                    }
                    log(n);
                }
                let Some(x): Option<u64> = pick(n) else { return m };
                leaf(19u64).await
            }
        };
        leaf(15u64).await
    } with (2, 6);

}
