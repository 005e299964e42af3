//! Random bodies, written by `generator.rs`: do not edit.

use crate::*;

corpus! {
    fn random_40(n: u64, m: u64) -> u64 {
        if n % 4 == 1 { return m; }
        let mut w1 = 0;
        while w1 < 3 {
            w1 += 1;
            {
                if ((leaf(n).await + leaf(n).await) % 89) % 2 == 1 && leaf(((((m * 8u64) % 97) ^ m) % 97)).await % 2 == 0 {
                    let a: u64 = leaf(8u64).await;
                    if leaf(n).await % 2 == 0 {
                        let x: u64 = ((((7u64 * 6u64) % 97) + leaf(((((a * 0u64) % 97) + ((m + n) % 97)) % 97)).await) % 89);
                    }
                    else {
                        leaf(((((m + n) % 97) ^ a) % 97)).await;
                        let a: u64 = leaf(13u64).await;
                        let b: u64 = leaf(a).await;
                    }
                    let a: u64 = if leaf(m).await % 2 == 1 {
                        ((((n + ((n ^ n) % 97)) % 89) + ((n * n) % 97)) % 89)
                    }
                    else {
                        ((leaf(4u64).await + leaf(a).await) % 89)
                    };
                }
                else {
                    {
                        let mut a: u64 = leaf(2u64).await;
                        log(((n ^ ((17u64 * n) % 97)) % 97));
                        log(((m * n) % 97));
                    }
                    if leaf(((((n * 3u64) % 97) ^ n) % 97)).await % 2 == 0 { return n; }
                    if ((((n * m) % 97) + ((m ^ m) % 97)) % 89) % 2 == 0 || leaf(((((13u64 + 4u64) % 97) * n) % 97)).await % 2 == 1 { break; }
                }
                let mut x: u64 = leaf(((((n + m) % 97) ^ m) % 97)).await;
                if ((m + leaf(((((7u64 * x) % 97) ^ x) % 97)).await) % 89) % 2 == 1 { continue; }
            }
        }
        let x: u64 = ((((11u64 + n) % 89) + leaf(((n ^ n) % 97)).await) % 89);
        let x: u64 = leaf(((x + n) % 97)).await;
        let x: u64 = ((leaf(((((x * n) % 97) ^ ((13u64 ^ x) % 97)) % 97)).await + ((11u64 ^ x) % 97)) % 89);
        log(((((x + x) % 97) * ((0u64 ^ x) % 97)) % 97));
        if 7u64 % 2 == 1 && leaf(x).await % 2 == 1 { return leaf(n).await; }
        m
    } with (6, 41);

    fn random_41(n: u64, m: u64) -> u64 {
        if n % 4 == 1 { return 8u64; }
        {
        }
        if ((((m * n) % 97) + m) % 89) % 2 == 0 {
            let mut w3 = 0;
            'l4: while leaf(w3).await < 3 {
                w3 += 1;
                {
                    log(((m * ((16u64 + m) % 97)) % 97));
                }
            }
        }
        else {
            let d = N(((m + m) % 97));
            log(12u64);
        }
        {
            for x in 0..(((2u64 * n) % 97)) % 4 {
                let mut a: u64 = leaf(n).await;
                let x: u64 = if ((m + m) % 89) % 2 == 1 {
                    let (b, x): (u64, u64) = join!(leaf(m), leaf(a));
                    b
                }
                else {
                    leaf(4u64).await;
                    let Some(b): Option<u64> = pick(((m + 3u64) % 97)) else { return ((m + 6u64) % 97) };
                    ((b * n) % 97)
                };
                if n % 3 == 1 { continue; }
            }
            let mut x: u64 = leaf(15u64).await;
        }
        let mut w11 = 0;
        'l12: while leaf(w11).await < 3 {
            w11 += 1;
            {
                {
                    let c: u64 = match leaf(5u64).await % 3 {
                        0 => {
                            leaf(n).await;
                            let mut x: u64 = leaf(((((17u64 * m) % 97) + m) % 97)).await;
                            leaf(((((m * x) % 97) ^ n) % 97)).await
                        }
                        1 => {
                            leaf(((n * 0u64) % 97)).await
                        }
                        _ => {
                            let x: u64 = ((m + leaf(((m * 2u64) % 97)).await) % 89);
                            leaf(x).await;
                            n
                        }
                    };
                }
                let f = leaf(N(n)).await;
            }
        }
        let b: u64 = if leaf(n).await % 2 == 0 {
            for x in 0..(m) % 4 {
                log(m);
                let b: u64 = if leaf(x).await % 2 == 1 && ((m * x) % 97) % 2 == 0 {
                    let d = leaf(N(x)).await;
                    log(((m ^ 6u64) % 97));
                    leaf(9u64).await;
                    m
                }
                else {
                    let mut a: u64 = leaf(n).await;
                    let (b, x): (u64, u64) = join!(leaf(((12u64 * m) % 97)), leaf(x));
                    leaf(m).await
                };
            }
            ((m ^ m) % 97)
        }
        else {
            {
                let mut w24 = 0;
                while w24 < 3 {
                    w24 += 1;
                    {
                        let a: u64 = leaf(6u64).await;
                        log(((m + 6u64) % 97));
                    }
                }
                leaf(10u64).await;
            }
            leaf(((((18u64 * 12u64) % 97) * n) % 97)).await
        };
        leaf(((((b * 16u64) % 97) * ((b + n) % 97)) % 97)).await
    } with (5, 42);

    fn random_42(n: u64, m: u64) -> u64 {
        if n % 4 == 1 { return ((17u64 + n) % 97); }
        if leaf(((m * ((11u64 * n) % 97)) % 97)).await % 2 == 1 {
            leaf(m).await;
            let x: u64 = ((m + n) % 97);
            let b: u64 = match 7u64 % 3 {
                0 => {
                    let c: u64 = leaf(((n ^ m) % 97)).await;
                    if ((((0u64 * m) % 97) + m) % 89) % 2 == 1 && ((leaf(((5u64 ^ m) % 97)).await + leaf(14u64).await) % 89) % 2 == 0 {
                        let Some(x): Option<u64> = pick(((1u64 ^ 4u64) % 97)) else { return x };
                        let (c, x): (u64, u64) = join!(leaf(x), leaf(((c ^ x) % 97)));
                        let d = N(13u64);
                    }
                    c
                }
                1 => {
                    let c: u64 = match 7u64 % 3 {
                        0 => {
                            let Some(c): Option<u64> = pick(x) else { return ((15u64 ^ x) % 97) };
                            n
                        }
                        1 => {
                            let Some(c): Option<u64> = pick(((x * 10u64) % 97)) else { return 7u64 };
                            log(m);
                            leaf(n).await
                        }
                        _ => {
                            let mut c: u64 = leaf(n).await;
                            ((((leaf(m).await + c) % 89) + n) % 89)
                        }
                    };
                    let mut x: u64 = leaf(((((m + c) % 97) * x) % 97)).await;
                    leaf(c).await
                }
                _ => {
                    leaf(x).await
                }
            };
        }
        {
            let e = leaf(N(n)).await;
            log(e.0);
            log(m);
        }
        let x: u64 = 18u64;
        let e = leaf(N(x)).await;
        let b: u64 = leaf(((((n ^ x) % 97) + m) % 97)).await;
        leaf(((m * ((x ^ 0u64) % 97)) % 97)).await
    } with (2, 3);

    fn random_43(n: u64, m: u64) -> u64 {
        let (c, x): (u64, u64) = join!(leaf(19u64), leaf(((1u64 ^ m) % 97)));
        let x: u64 = leaf(m).await;
        let x: u64 = if ((m * x) % 97) % 2 == 0 || ((m ^ 4u64) % 97) % 2 == 1 {
            if ((leaf(((((c * n) % 97) * 18u64) % 97)).await + m) % 89) % 2 == 1 {
                let (a, c): (u64, u64) = join!(leaf(((5u64 + 12u64) % 97)), leaf(10u64));
            }
            leaf(((6u64 * ((m + x) % 97)) % 97)).await
        }
        else {
            let mut b: u64 = leaf(x).await;
            ((leaf(9u64).await + leaf(n).await) % 89)
        };
        ((m * 8u64) % 97)
    } with (6, 40);

    fn random_44(n: u64, m: u64) -> u64 {
        let c: u64 = if ((((m + m) % 97) + leaf(((m ^ m) % 97)).await) % 89) % 2 == 0 {
            leaf(m).await
        }
        else {
            let b: u64 = leaf(n).await;
            let Some(c): Option<u64> = pick(((m + b) % 97)) else { return m };
            0u64
        };
        let d = leaf(N(m)).await;
        if ((11u64 + leaf(((((m ^ 7u64) % 97) + 4u64) % 97)).await) % 89) % 2 == 0 { return leaf(16u64).await; }
        let a: u64 = if ((leaf(13u64).await + ((c + m) % 97)) % 89) % 2 == 0 {
            if 8u64 % 2 == 1 {
                'l5: for a in 0..(15u64) % 4 {
                    log(c);
                }
            }
            ((((12u64 * 16u64) % 97) + ((m + ((n + 19u64) % 97)) % 89)) % 89)
        }
        else {
            log(d.0);
            let (a, b): (u64, u64) = join!(leaf(((18u64 * m) % 97)), leaf(0u64));
            {
                leaf(((3u64 * 13u64) % 97)).await;
                let a: u64 = leaf(a).await;
                let mut w9 = 0;
                while w9 < 3 {
                    w9 += 1;
                    {
                        let b: u64 = ((m + leaf(a).await) % 89);
                        let a: u64 = leaf(((((19u64 * 16u64) % 97) + b) % 97)).await;
                        log(d.0);
                    }
                }
            }
            leaf(((a + ((c ^ m) % 97)) % 97)).await
        };
        let c: u64 = match leaf(16u64).await % 3 {
            0 => {
                let mut c: u64 = leaf(((17u64 ^ ((c + m) % 97)) % 97)).await;
                c
            }
            1 => {
                for c in 0..(8u64) % 4 {
                    if n % 3 == 1 { continue; }
                }
                let mut x: u64 = ((((c + c) % 89) + leaf(((14u64 * ((13u64 + c) % 97)) % 97)).await) % 89);
                ((leaf(n).await + ((11u64 + x) % 89)) % 89)
            }
            _ => {
                let x: u64 = match leaf(a).await % 3 {
                    0 => {
                        log(d.0);
                        ((c + ((leaf(12u64).await + ((c * m) % 97)) % 89)) % 89)
                    }
                    1 => {
                        let Some(c): Option<u64> = pick(4u64) else { return n };
                        if leaf(((((m + a) % 97) * 8u64) % 97)).await % 2 == 1 { return c; }
                        leaf(c).await
                    }
                    _ => {
                        let b: u64 = if leaf(((13u64 * 1u64) % 97)).await % 2 == 0 && m % 2 == 0 {
                            log(d.0);
                            let (b, c): (u64, u64) = join!(leaf(((m ^ m) % 97)), leaf(13u64));
                            let e = N(c);
                            leaf(c).await
                        }
                        else {
                            leaf(((((n * n) % 97) * 19u64) % 97)).await;
                            ((((m + ((6u64 ^ c) % 97)) % 89) + ((n + leaf(2u64).await) % 89)) % 89)
                        };
                        ((((6u64 + 3u64) % 89) + ((b + m) % 89)) % 89)
                    }
                };
                leaf(x).await;
                ((18u64 + n) % 97)
            }
        };
        ((9u64 + c) % 97)
    } with (2, 0);

    fn random_45(n: u64, m: u64) -> u64 {
        let a: u64 = if ((n + ((n + n) % 97)) % 89) % 2 == 0 || ((9u64 ^ m) % 97) % 2 == 0 {
            if n % 2 == 0 && 1u64 % 2 == 1 {
                'l3: for c in 0..(((4u64 + m) % 97)) % 4 {
                    let b: u64 = n;
                }
                let mut w5 = 0;
                while w5 < 3 {
                    w5 += 1;
                    {
                        let x: u64 = leaf(15u64).await;
                        let x: u64 = leaf(((((m * n) % 97) * 13u64) % 97)).await;
                    }
                }
            }
            let mut a: u64 = leaf(13u64).await;
            let Some(a): Option<u64> = pick(((15u64 * a) % 97)) else { return a };
            ((((((n + 6u64) % 97) + a) % 89) + n) % 89)
        }
        else {
            for c in 0..(((9u64 + m) % 97)) % 4 {
            }
            let Some(b): Option<u64> = pick(n) else { return ((m * 7u64) % 97) };
            ((leaf(15u64).await + leaf(15u64).await) % 89)
        };
        let (a, x): (u64, u64) = join!(leaf(m), leaf(((9u64 * a) % 97)));
        let Some(c): Option<u64> = pick(((x + m) % 97)) else { return 11u64 };
        log(((m ^ a) % 97));
        leaf(((((c ^ a) % 97) * 16u64) % 97)).await
    } with (2, 10);

    fn random_46(n: u64, m: u64) -> u64 {
        let b: u64 = leaf(n).await;
        let b: u64 = ((b ^ m) % 97);
        let b: u64 = leaf(m).await;
        let mut w1 = 0;
        while leaf(w1).await < 3 {
            w1 += 1;
            {
                if 19u64 % 2 == 1 {
                    let (b, c): (u64, u64) = join!(leaf(b), leaf(((b + 14u64) % 97)));
                    {
                    }
                }
                else {
                    let mut w6 = 0;
                    while w6 < 3 {
                        w6 += 1;
                        {
                            log(n);
                        }
                    }
                    let (a, b): (u64, u64) = join!(leaf(b), leaf(m));
                    for a in 0..(b) % 4 {
                        let (c, b): (u64, u64) = join!(leaf(b), leaf(((b ^ a) % 97)));
                    }
                }
            }
        }
        2u64
    } with (0, 29);

    fn random_47(n: u64, m: u64) -> u64 {
        let mut c: u64 = leaf(((0u64 * ((m + n) % 97)) % 97)).await;
        {
        }
        let mut x: u64 = ((m + ((leaf(13u64).await + c) % 89)) % 89);
        leaf(((((m ^ c) % 97) ^ m) % 97)).await
    } with (7, 11);

    fn random_48(n: u64, m: u64) -> u64 {
        let Some(b): Option<u64> = pick(((m * n) % 97)) else { return 3u64 };
        if leaf(b).await % 2 == 0 {
            let mut b: u64 = ((13u64 + b) % 97);
        }
        else {
            let Some(a): Option<u64> = pick(((m ^ m) % 97)) else { return ((m * b) % 97) };
            let c: u64 = leaf(n).await;
        }
        let mut w3 = 0;
        while leaf(w3).await < 3 {
            w3 += 1;
            {
                let c: u64 = leaf(b).await;
            }
        }
        leaf(4u64).await
    } with (6, 33);

    fn random_49(n: u64, m: u64) -> u64 {
        let a: u64 = if m % 2 == 0 || n % 2 == 1 {
            if ((leaf(5u64).await + leaf(m).await) % 89) % 2 == 0 {
                if 17u64 % 2 == 0 {
                    let (a, x): (u64, u64) = join!(leaf(n), leaf(m));
                }
            }
            else {
            }
            leaf(((n * ((17u64 + 4u64) % 97)) % 97)).await
        }
        else {
            let x: u64 = if leaf(((8u64 ^ n) % 97)).await % 2 == 1 {
                {
                    let b: u64 = leaf(7u64).await;
                    let (x, a): (u64, u64) = join!(leaf(n), leaf(n));
                }
                leaf(n).await
            }
            else {
                log(((n + ((m + n) % 97)) % 97));
                'l9: for b in 0..(7u64) % 4 {
                    let x: u64 = leaf(n).await;
                    let mut c: u64 = leaf(((((15u64 + 6u64) % 97) ^ ((x + n) % 97)) % 97)).await;
                }
                ((leaf(12u64).await + ((leaf(17u64).await + n) % 89)) % 89)
            };
            10u64
        };
        if leaf(m).await % 2 == 1 || ((a * a) % 97) % 2 == 0 {
            if leaf(((((3u64 * 8u64) % 97) + 7u64) % 97)).await % 2 == 1 && 10u64 % 2 == 1 { return a; }
            log(n);
        }
        if leaf(n).await % 2 == 1 || leaf(13u64).await % 2 == 0 {
            {
                let mut x: u64 = leaf(10u64).await;
            }
        }
        else {
            let a: u64 = leaf(18u64).await;
            let (x, c): (u64, u64) = join!(leaf(((13u64 * 4u64) % 97)), leaf(((m ^ m) % 97)));
        }
        let mut w15 = 0;
        'l16: while w15 < 3 {
            w15 += 1;
            {
                let mut a: u64 = ((leaf(((((m * m) % 97) ^ n) % 97)).await + n) % 89);
                let a: u64 = if leaf(a).await % 2 == 1 {
                    let mut b: u64 = leaf(n).await;
                    let x: u64 = leaf(5u64).await;
                    let a: u64 = match 18u64 % 3 {
                        0 => {
                            ((leaf(((x * ((a + b) % 97)) % 97)).await + ((b + ((b * 11u64) % 97)) % 89)) % 89)
                        }
                        1 => {
                            let f = N(a);
                            let mut b: u64 = 7u64;
                            a = leaf(((((a ^ 8u64) % 97) ^ n) % 97)).await;
                            leaf(((16u64 * 12u64) % 97)).await
                        }
                        _ => {
                            let mut a: u64 = leaf(((15u64 + x) % 97)).await;
                            ((((((a ^ b) % 97) + 19u64) % 89) + ((leaf(((a ^ ((18u64 ^ n) % 97)) % 97)).await + leaf(a).await) % 89)) % 89)
                        }
                    };
                    ((m + ((leaf(b).await + leaf(((b ^ ((m * a) % 97)) % 97)).await) % 89)) % 89)
                }
                else {
                    let mut a: u64 = leaf(((a * n) % 97)).await;
                    if ((14u64 ^ 8u64) % 97) % 2 == 0 { return leaf(((((2u64 * 10u64) % 97) * a) % 97)).await; }
                    leaf(m).await
                };
                let b: u64 = match leaf(((((a + 15u64) % 97) + a) % 97)).await % 3 {
                    0 => {
                        if n % 3 == 1 { continue 'l16; }
                        let mut c: u64 = ((((19u64 + a) % 89) + ((m * a) % 97)) % 89);
                        leaf(6u64).await
                    }
                    1 => {
                        if leaf(a).await % 2 == 1 {
                            leaf(((9u64 * 7u64) % 97)).await;
                        }
                        else {
                            log(((((19u64 * a) % 97) * m) % 97));
                        }
                        ((((a + 0u64) % 89) + leaf(((1u64 ^ a) % 97)).await) % 89)
                    }
                    _ => {
                        let mut c: u64 = leaf(4u64).await;
                        let mut b: u64 = ((1u64 + n) % 89);
                        leaf(((((12u64 * 1u64) % 97) * c) % 97)).await
                    }
                };
            }
        }
        n
    } with (3, 48);

}
