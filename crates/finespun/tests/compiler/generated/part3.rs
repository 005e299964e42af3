//! Random bodies, written by `generator.rs`: do not edit.

use crate::*;

corpus! {
    fn random_30(n: u64, m: u64) -> u64 {
        let a: u64 = leaf(((m * m) % 97)).await;
        log(((a ^ n) % 97));
        let mut x: u64 = leaf(12u64).await;
        if ((n + x) % 97) % 2 == 0 {
            if leaf(((((5u64 + 5u64) % 97) ^ m) % 97)).await % 2 == 0 {
                let c: u64 = leaf(n).await;
                let mut x: u64 = leaf(c).await;
            }
            log(((a ^ ((x * n) % 97)) % 97));
            let mut c: u64 = leaf(x).await;
        }
        let x: u64 = match leaf(15u64).await % 3 {
            0 => {
                if leaf(((((a ^ x) % 97) + 15u64) % 97)).await % 2 == 1 { return ((14u64 + x) % 97); }
                let b: u64 = if ((8u64 + leaf(18u64).await) % 89) % 2 == 0 || 3u64 % 2 == 1 {
                    let x: u64 = leaf(m).await;
                    if ((leaf(((x + ((3u64 * x) % 97)) % 97)).await + leaf(10u64).await) % 89) % 2 == 1 { return leaf(m).await; }
                    leaf(x).await
                }
                else {
                    let a: u64 = if ((((x + 16u64) % 97) + ((a * n) % 97)) % 89) % 2 == 0 {
                        let mut x: u64 = leaf(((m * ((m ^ a) % 97)) % 97)).await;
                        let mut c: u64 = leaf(m).await;
                        leaf(((((c * a) % 97) * m) % 97)).await
                    }
                    else {
                        let Some(c): Option<u64> = pick(a) else { return ((a * 11u64) % 97) };
                        ((leaf(3u64).await + leaf(11u64).await) % 89)
                    };
                    'l8: for c in 0..(5u64) % 4 {
                        log(((12u64 * a) % 97));
                    }
                    ((12u64 * 17u64) % 97)
                };
                let x: u64 = leaf(n).await;
                ((leaf(9u64).await + ((x * x) % 97)) % 89)
            }
            1 => {
                for c in 0..(n) % 4 {
                    let (x, b): (u64, u64) = join!(leaf(((4u64 * x) % 97)), leaf(((n + c) % 97)));
                }
                if ((leaf(m).await + 8u64) % 89) % 2 == 0 {
                    leaf(((m ^ n) % 97)).await;
                    let a: u64 = match leaf(((6u64 * x) % 97)).await % 3 {
                        0 => {
                            let x: u64 = ((2u64 * m) % 97);
                            leaf(12u64).await
                        }
                        1 => {
                            let mut c: u64 = leaf(11u64).await;
                            let mut c: u64 = leaf(14u64).await;
                            ((((c + a) % 89) + 4u64) % 89)
                        }
                        _ => {
                            let mut c: u64 = leaf(((((x ^ n) % 97) * ((m * m) % 97)) % 97)).await;
                            10u64
                        }
                    };
                }
                ((1u64 * x) % 97)
            }
            _ => {
                {
                    let a: u64 = ((leaf(((((n ^ 6u64) % 97) ^ x) % 97)).await + leaf(n).await) % 89);
                    let Some(c): Option<u64> = pick(a) else { return 10u64 };
                    let (b, c): (u64, u64) = join!(leaf(x), leaf(((c * a) % 97)));
                }
                ((leaf(((((11u64 ^ x) % 97) * 1u64) % 97)).await + x) % 89)
            }
        };
        leaf(((m ^ a) % 97)).await
    } with (1, 45);

    fn random_31(n: u64, m: u64) -> u64 {
        let c: u64 = if leaf(((((m + m) % 97) + ((n * n) % 97)) % 97)).await % 2 == 0 && ((m + n) % 89) % 2 == 0 {
            if leaf(((n ^ ((m * m) % 97)) % 97)).await % 2 == 1 && ((leaf(((m ^ ((n ^ 14u64) % 97)) % 97)).await + ((4u64 * m) % 97)) % 89) % 2 == 1 { return ((leaf(n).await + ((leaf(n).await + m) % 89)) % 89); }
            leaf(4u64).await
        }
        else {
            let d = N(((n * n) % 97));
            ((n * n) % 97)
        };
        leaf(((n + ((2u64 * c) % 97)) % 97)).await;
        let e = leaf(N(3u64)).await;
        c
    } with (7, 22);

    fn random_32(n: u64, m: u64) -> u64 {
        let mut c: u64 = leaf(m).await;
        let mut a: u64 = leaf(((11u64 ^ ((m + n) % 97)) % 97)).await;
        let c: u64 = leaf(((7u64 + 19u64) % 97)).await;
        c
    } with (1, 33);

    fn random_33(n: u64, m: u64) -> u64 {
        log(15u64);
        let (a, c): (u64, u64) = join!(leaf(((17u64 + m) % 97)), leaf(6u64));
        ((18u64 * ((n + m) % 97)) % 97)
    } with (4, 25);

    fn random_34(n: u64, m: u64) -> u64 {
        let a: u64 = if m % 2 == 1 {
            let mut a: u64 = ((((((10u64 + m) % 97) + ((3u64 + m) % 97)) % 89) + m) % 89);
            leaf(3u64).await
        }
        else {
            let Some(a): Option<u64> = pick(n) else { return m };
            ((((18u64 * a) % 97) + leaf(((n + n) % 97)).await) % 89)
        };
        let b: u64 = if a % 2 == 0 && ((16u64 + a) % 89) % 2 == 1 {
            leaf(n).await;
            let mut a: u64 = leaf(a).await;
            if ((a + n) % 89) % 2 == 1 && leaf(((m + m) % 97)).await % 2 == 1 { return m; }
            ((leaf(m).await + ((4u64 * a) % 97)) % 89)
        }
        else {
            if leaf(3u64).await % 2 == 0 {
            }
            else {
                let a: u64 = if leaf(m).await % 2 == 1 || m % 2 == 1 {
                    ((leaf(((17u64 ^ n) % 97)).await + ((a + leaf(7u64).await) % 89)) % 89)
                }
                else {
                    let f = N(((n ^ 0u64) % 97));
                    let x: u64 = leaf(((a + 6u64) % 97)).await;
                    log(f.0);
                    ((m ^ a) % 97)
                };
            }
            ((((n + ((9u64 + 4u64) % 97)) % 89) + leaf(9u64).await) % 89)
        };
        'l9: for c in 0..(3u64) % 4 {
            let mut w11 = 0;
            while leaf(w11).await < 3 {
                w11 += 1;
                {
                    let a: u64 = match 6u64 % 3 {
                        0 => {
                            let mut x: u64 = leaf(a).await;
                            leaf(a).await
                        }
                        1 => {
                            let Some(c): Option<u64> = pick(a) else { return n };
                            let Some(x): Option<u64> = pick(((17u64 ^ b) % 97)) else { return c };
                            let mut b: u64 = leaf(x).await;
                            ((leaf(((((n * n) % 97) ^ b) % 97)).await + ((leaf(((11u64 + 8u64) % 97)).await + leaf(c).await) % 89)) % 89)
                        }
                        _ => {
                            let mut x: u64 = ((((13u64 ^ m) % 97) + ((n + leaf(a).await) % 89)) % 89);
                            let mut c: u64 = leaf(a).await;
                            let d = N(b);
                            ((((leaf(c).await + ((2u64 ^ 15u64) % 97)) % 89) + ((leaf(((((x ^ a) % 97) ^ ((n * c) % 97)) % 97)).await + ((a * c) % 97)) % 89)) % 89)
                        }
                    };
                }
            }
            {
            }
        }
        let b: u64 = match n % 3 {
            0 => {
                leaf(5u64).await;
                let x: u64 = leaf(a).await;
                leaf(((x + ((8u64 * b) % 97)) % 97)).await
            }
            1 => {
                {
                    if ((b + leaf(((((n + 2u64) % 97) ^ a) % 97)).await) % 89) % 2 == 0 || ((a * 16u64) % 97) % 2 == 1 {
                        let e = N(n);
                    }
                    leaf(((b ^ 9u64) % 97)).await;
                }
                let Some(c): Option<u64> = pick(1u64) else { return ((19u64 * n) % 97) };
                let e = N(((1u64 ^ 3u64) % 97));
                ((leaf(((((a * 2u64) % 97) * a) % 97)).await + ((c ^ c) % 97)) % 89)
            }
            _ => {
                let Some(a): Option<u64> = pick(((b ^ n) % 97)) else { return 19u64 };
                ((((leaf(6u64).await + m) % 89) + 17u64) % 89)
            }
        };
        let x: u64 = if leaf(a).await % 2 == 1 {
            ((4u64 ^ 2u64) % 97)
        }
        else {
            let a: u64 = match leaf(((((13u64 ^ n) % 97) + ((b + 7u64) % 97)) % 97)).await % 3 {
                0 => {
                    ((n + b) % 97)
                }
                1 => {
                    let a: u64 = ((leaf(a).await + ((14u64 + a) % 89)) % 89);
                    leaf(a).await
                }
                _ => {
                    {
                        let b: u64 = leaf(b).await;
                        let d = leaf(N(((n ^ b) % 97))).await;
                    }
                    let (c, b): (u64, u64) = join!(leaf(n), leaf(((m ^ n) % 97)));
                    leaf(a).await
                }
            };
            6u64
        };
        ((((x ^ 9u64) % 97) + ((m ^ x) % 97)) % 97)
    } with (1, 9);

    fn random_35(n: u64, m: u64) -> u64 {
        if ((m * n) % 97) % 2 == 0 {
            let c: u64 = if n % 2 == 0 && leaf(((((m ^ n) % 97) ^ ((m ^ 17u64) % 97)) % 97)).await % 2 == 0 {
                if ((((m + m) % 97) + leaf(((m * ((n ^ 2u64) % 97)) % 97)).await) % 89) % 2 == 1 || ((((17u64 * 19u64) % 97) + ((n ^ 5u64) % 97)) % 89) % 2 == 1 {
                    let b: u64 = ((6u64 + m) % 97);
                    leaf(((((n + 4u64) % 97) ^ 7u64) % 97)).await;
                    let Some(a): Option<u64> = pick(b) else { return 5u64 };
                }
                n
            }
            else {
                if ((leaf(m).await + ((m ^ m) % 97)) % 89) % 2 == 1 {
                    leaf(((m + n) % 97)).await;
                    let Some(c): Option<u64> = pick(m) else { return ((n ^ 9u64) % 97) };
                }
                let (x, c): (u64, u64) = join!(leaf(7u64), leaf(((n + m) % 97)));
                leaf(((((x + n) % 97) * ((13u64 ^ 14u64) % 97)) % 97)).await
            };
            let a: u64 = match ((c + m) % 97) % 3 {
                0 => {
                    n
                }
                1 => {
                    let x: u64 = leaf(n).await;
                    leaf(((((x ^ n) % 97) * ((0u64 + 2u64) % 97)) % 97)).await
                }
                _ => {
                    let c: u64 = match leaf(m).await % 3 {
                        0 => {
                            leaf(n).await
                        }
                        1 => {
                            let mut a: u64 = leaf(((3u64 * ((c * m) % 97)) % 97)).await;
                            a = leaf(c).await;
                            ((n * 18u64) % 97)
                        }
                        _ => {
                            let c: u64 = leaf(((c + c) % 97)).await;
                            let mut a: u64 = leaf(c).await;
                            ((m * 1u64) % 97)
                        }
                    };
                    let x: u64 = m;
                    let mut w12 = 0;
                    while w12 < 3 {
                        w12 += 1;
                        {
                            leaf(m).await;
                            let c: u64 = leaf(c).await;
                            leaf(n).await;
                        }
                    }
                    ((n + n) % 89)
                }
            };
        }
        log(((((n ^ n) % 97) ^ m) % 97));
        {
            let c: u64 = if leaf(n).await % 2 == 1 {
                ((leaf(((((m ^ 4u64) % 97) + n) % 97)).await + leaf(17u64).await) % 89)
            }
            else {
                let mut b: u64 = leaf(((11u64 ^ n) % 97)).await;
                let c: u64 = if ((leaf(17u64).await + ((8u64 + 13u64) % 97)) % 89) % 2 == 0 && ((m * b) % 97) % 2 == 0 {
                    leaf(b).await;
                    let Some(b): Option<u64> = pick(((12u64 + 18u64) % 97)) else { return 15u64 };
                    ((((b ^ 19u64) % 97) + leaf(((((n ^ 10u64) % 97) ^ m) % 97)).await) % 89)
                }
                else {
                    leaf(n).await
                };
                ((((18u64 + c) % 97) + leaf(((((b + 2u64) % 97) ^ m) % 97)).await) % 89)
            };
        }
        log(n);
        7u64
    } with (6, 1);

    fn random_36(n: u64, m: u64) -> u64 {
        let mut w1 = 0;
        while leaf(w1).await < 3 {
            w1 += 1;
            {
                {
                }
                let mut x: u64 = leaf(10u64).await;
            }
        }
        let mut b: u64 = n;
        let d = leaf(N(m)).await;
        leaf(n).await
    } with (4, 3);

    fn random_37(n: u64, m: u64) -> u64 {
        if ((((11u64 + m) % 97) + m) % 89) % 2 == 1 { return ((((((m + n) % 97) + m) % 89) + leaf(n).await) % 89); }
        let mut a: u64 = ((leaf(m).await + leaf(16u64).await) % 89);
        leaf(n).await;
        let e = leaf(N(((m + 15u64) % 97))).await;
        a = ((leaf(((((m + m) % 97) + m) % 97)).await + ((leaf(m).await + ((a * 8u64) % 97)) % 89)) % 89);
        a
    } with (1, 6);

    fn random_38(n: u64, m: u64) -> u64 {
        if n % 4 == 3 { return n; }
        if n % 2 == 1 && m % 2 == 1 {
            let a: u64 = ((((((n ^ m) % 97) + n) % 89) + ((((m * n) % 97) + m) % 89)) % 89);
            let mut x: u64 = leaf(((a * ((m * m) % 97)) % 97)).await;
        }
        let (a, c): (u64, u64) = join!(leaf(n), leaf(((n * n) % 97)));
        let x: u64 = match leaf(((a + c) % 97)).await % 3 {
            0 => {
                {
                    let mut x: u64 = leaf(7u64).await;
                }
                let e = N(15u64);
                leaf(c).await
            }
            1 => {
                n
            }
            _ => {
                log(n);
                if ((leaf(m).await + a) % 89) % 2 == 0 {
                    let x: u64 = 4u64;
                }
                else {
                    if ((c * c) % 97) % 2 == 0 || leaf(((6u64 * m) % 97)).await % 2 == 0 {
                        let e = leaf(N(n)).await;
                    }
                    leaf(12u64).await;
                    for c in 0..(n) % 4 {
                        let e = leaf(N(((m * c) % 97))).await;
                    }
                }
                leaf(a).await
            }
        };
        let mut b: u64 = leaf(((7u64 ^ ((0u64 + m) % 97)) % 97)).await;
        let mut b: u64 = leaf(((((16u64 ^ 1u64) % 97) ^ 10u64) % 97)).await;
        10u64
    } with (6, 28);

    fn random_39(n: u64, m: u64) -> u64 {
        let Some(c): Option<u64> = pick(m) else { return ((n ^ 8u64) % 97) };
        for x in 0..(0u64) % 4 {
            for c in 0..(x) % 4 {
                let x: u64 = match leaf(5u64).await % 3 {
                    0 => {
                        let mut x: u64 = leaf(((((x ^ n) % 97) ^ ((16u64 ^ 17u64) % 97)) % 97)).await;
                        ((leaf(14u64).await + ((m ^ c) % 97)) % 89)
                    }
                    1 => {
                        let (b, x): (u64, u64) = join!(leaf(17u64), leaf(12u64));
                        ((((leaf(c).await + leaf(11u64).await) % 89) + leaf(((((8u64 ^ x) % 97) * 18u64) % 97)).await) % 89)
                    }
                    _ => {
                        let Some(x): Option<u64> = pick(((n * n) % 97)) else { return c };
                        let c: u64 = leaf(x).await;
                        leaf(((m + ((m * m) % 97)) % 97)).await
                    }
                };
                let mut a: u64 = leaf(((6u64 * x) % 97)).await;
            }
        }
        if 19u64 % 2 == 0 && ((1u64 + leaf(n).await) % 89) % 2 == 1 {
        }
        else {
        }
        8u64
    } with (6, 17);

}
