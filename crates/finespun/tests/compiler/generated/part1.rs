//! Random bodies, written by `generator.rs`: do not edit.

use crate::*;

corpus! {
    fn random_10(n: u64, m: u64) -> u64 {
        if n % 4 == 1 { return n; }
        if 4u64 % 2 == 1 { return leaf(((((11u64 * m) % 97) + 0u64) % 97)).await; }
        for x in 0..(((m * m) % 97)) % 4 {
            let b: u64 = leaf(x).await;
            let x: u64 = if leaf(((m + m) % 97)).await % 2 == 0 {
                if ((((b * 12u64) % 97) + ((5u64 * b) % 97)) % 89) % 2 == 0 {
                    let (c, b): (u64, u64) = join!(leaf(((5u64 ^ n) % 97)), leaf(((10u64 * 7u64) % 97)));
                }
                else {
                    let d = N(16u64);
                }
                leaf(((((1u64 + b) % 97) * 10u64) % 97)).await
            }
            else {
                leaf(n).await;
                leaf(n).await;
                leaf(b).await
            };
        }
        if ((leaf(((m + n) % 97)).await + leaf(((m ^ ((n * 19u64) % 97)) % 97)).await) % 89) % 2 == 0 && ((0u64 * 2u64) % 97) % 2 == 1 { return ((((m + n) % 97) + leaf(((((0u64 * m) % 97) ^ n) % 97)).await) % 89); }
        log(n);
        let Some(b): Option<u64> = pick(((16u64 + m) % 97)) else { return n };
        12u64
    } with (5, 28);

    fn random_11(n: u64, m: u64) -> u64 {
        leaf(((n + ((m + n) % 97)) % 97)).await;
        let x: u64 = if ((m * n) % 97) % 2 == 1 {
            let (x, a): (u64, u64) = join!(leaf(m), leaf(2u64));
            leaf(((a ^ ((6u64 ^ 11u64) % 97)) % 97)).await
        }
        else {
            for b in 0..(((3u64 * 6u64) % 97)) % 4 {
                if ((6u64 + leaf(((b + m) % 97)).await) % 89) % 2 == 0 { return leaf(((((1u64 ^ 16u64) % 97) + 14u64) % 97)).await; }
            }
            ((leaf(11u64).await + leaf(((n * ((n * 11u64) % 97)) % 97)).await) % 89)
        };
        if ((leaf(((m + x) % 97)).await + ((n ^ m) % 97)) % 89) % 2 == 1 || leaf(7u64).await % 2 == 0 {
            if ((leaf(x).await + x) % 89) % 2 == 0 {
            }
            else {
                let mut x: u64 = leaf(m).await;
            }
            leaf(0u64).await;
        }
        if leaf(((x * m) % 97)).await % 2 == 0 && leaf(x).await % 2 == 0 {
            {
            }
            'l9: for b in 0..(15u64) % 4 {
                if ((((0u64 ^ 1u64) % 97) + ((8u64 + n) % 97)) % 89) % 2 == 1 { break 'l9; }
            }
        }
        else {
            for b in 0..(((16u64 ^ 4u64) % 97)) % 4 {
                if ((14u64 + leaf(((x ^ ((3u64 ^ n) % 97)) % 97)).await) % 89) % 2 == 1 {
                    let a: u64 = ((b + leaf(((7u64 ^ b) % 97)).await) % 89);
                }
            }
        }
        let c: u64 = leaf(19u64).await;
        ((((m + leaf(((x ^ m) % 97)).await) % 89) + c) % 89)
    } with (4, 32);

    fn random_12(n: u64, m: u64) -> u64 {
        let mut w1 = 0;
        while w1 < 3 {
            w1 += 1;
            {
                let f = N(n);
            }
        }
        let c: u64 = n;
        let mut a: u64 = leaf(((((c * 0u64) % 97) ^ ((m ^ n) % 97)) % 97)).await;
        leaf(((a * ((4u64 + n) % 97)) % 97)).await
    } with (1, 18);

    fn random_13(n: u64, m: u64) -> u64 {
        if n % 4 == 1 { return ((15u64 ^ n) % 97); }
        let c: u64 = m;
        let x: u64 = leaf(((((16u64 + n) % 97) * 7u64) % 97)).await;
        let b: u64 = match leaf(((n * m) % 97)).await % 3 {
            0 => {
                let a: u64 = ((16u64 * n) % 97);
                if leaf(((((19u64 + c) % 97) ^ ((a + 12u64) % 97)) % 97)).await % 2 == 0 || ((x + ((16u64 + 18u64) % 97)) % 89) % 2 == 0 {
                    let (a, c): (u64, u64) = join!(leaf(((m ^ 4u64) % 97)), leaf(n));
                    let a: u64 = leaf(x).await;
                }
                else {
                    {
                        let x: u64 = leaf(12u64).await;
                    }
                    let f = N(m);
                }
                leaf(14u64).await
            }
            1 => {
                let mut c: u64 = leaf(x).await;
                16u64
            }
            _ => {
                let c: u64 = leaf(n).await;
                let Some(b): Option<u64> = pick(((n + c) % 97)) else { return ((c * c) % 97) };
                leaf(m).await;
                4u64
            }
        };
        leaf(((((b + 13u64) % 97) + x) % 97)).await
    } with (5, 6);

    fn random_14(n: u64, m: u64) -> u64 {
        if n % 4 == 0 { return ((m + 6u64) % 97); }
        let mut w1 = 0;
        'l2: while w1 < 3 {
            w1 += 1;
            {
                {
                    if n % 3 == 1 { break 'l2; }
                }
            }
        }
        if 7u64 % 2 == 0 {
            let (b, x): (u64, u64) = join!(leaf(m), leaf(m));
        }
        else {
            if ((m + 3u64) % 89) % 2 == 0 {
            }
            leaf(((((m + m) % 97) ^ m) % 97)).await;
        }
        if ((n + leaf(m).await) % 89) % 2 == 0 {
            let b: u64 = match leaf(n).await % 3 {
                0 => {
                    'l10: for a in 0..(m) % 4 {
                        let b: u64 = leaf(((((n ^ a) % 97) * a) % 97)).await;
                    }
                    let c: u64 = leaf(((9u64 ^ ((m ^ n) % 97)) % 97)).await;
                    ((18u64 + m) % 97)
                }
                1 => {
                    let d = leaf(N(((m ^ n) % 97))).await;
                    let x: u64 = leaf(m).await;
                    ((leaf(((x ^ ((x + 7u64) % 97)) % 97)).await + leaf(((13u64 ^ ((m * 5u64) % 97)) % 97)).await) % 89)
                }
                _ => {
                    'l14: for x in 0..(4u64) % 4 {
                        let a: u64 = leaf(x).await;
                    }
                    ((m * m) % 97)
                }
            };
            {
                for c in 0..(((17u64 ^ n) % 97)) % 4 {
                    leaf(n).await;
                }
            }
            let b: u64 = if leaf(m).await % 2 == 1 || leaf(((b ^ ((n + 8u64) % 97)) % 97)).await % 2 == 0 {
                let a: u64 = ((n + n) % 97);
                ((((leaf(((a ^ ((n ^ m) % 97)) % 97)).await + 16u64) % 89) + ((n + b) % 97)) % 89)
            }
            else {
                let f = N(((m ^ 17u64) % 97));
                if leaf(b).await % 2 == 1 && leaf(((14u64 + b) % 97)).await % 2 == 0 {
                    let Some(a): Option<u64> = pick(n) else { return n };
                }
                log(6u64);
                leaf(((0u64 + 1u64) % 97)).await
            };
        }
        if leaf(((((n ^ 16u64) % 97) ^ 17u64) % 97)).await % 2 == 1 {
            let (c, b): (u64, u64) = join!(leaf(((15u64 * n) % 97)), leaf(((n ^ m) % 97)));
        }
        m
    } with (1, 29);

    fn random_15(n: u64, m: u64) -> u64 {
        let Some(x): Option<u64> = pick(((6u64 ^ m) % 97)) else { return n };
        if 18u64 % 2 == 1 || x % 2 == 1 {
        }
        else {
            leaf(14u64).await;
            let mut w3 = 0;
            'l4: while w3 < 3 {
                w3 += 1;
                {
                    {
                        let x: u64 = leaf(((((m ^ 15u64) % 97) ^ 10u64) % 97)).await;
                        let mut b: u64 = leaf(x).await;
                        let b: u64 = leaf(0u64).await;
                    }
                }
            }
        }
        let mut w7 = 0;
        while w7 < 3 {
            w7 += 1;
            {
                let c: u64 = ((3u64 + leaf(((((x + x) % 97) ^ n) % 97)).await) % 89);
            }
        }
        let (b, x): (u64, u64) = join!(leaf(((n + n) % 97)), leaf(((m ^ m) % 97)));
        let x: u64 = ((((leaf(((((5u64 * n) % 97) * x) % 97)).await + leaf(x).await) % 89) + ((leaf(4u64).await + m) % 89)) % 89);
        x
    } with (7, 32);

    fn random_16(n: u64, m: u64) -> u64 {
        if n % 4 == 3 { return n; }
        let c: u64 = ((m + leaf(m).await) % 89);
        let a: u64 = if ((c + 9u64) % 89) % 2 == 0 || ((1u64 + leaf(((((n + 7u64) % 97) ^ ((n + n) % 97)) % 97)).await) % 89) % 2 == 0 {
            let c: u64 = leaf(m).await;
            let mut b: u64 = leaf(15u64).await;
            2u64
        }
        else {
            let mut b: u64 = leaf(c).await;
            let Some(a): Option<u64> = pick(((b * b) % 97)) else { return 0u64 };
            ((((((n ^ c) % 97) + b) % 89) + ((((19u64 * m) % 97) + n) % 89)) % 89)
        };
        {
            leaf(((m ^ ((a ^ 5u64) % 97)) % 97)).await;
        }
        'l4: for x in 0..(((a + m) % 97)) % 4 {
            leaf(17u64).await;
            let Some(c): Option<u64> = pick(m) else { return ((1u64 ^ m) % 97) };
            let (b, c): (u64, u64) = join!(leaf(((m * a) % 97)), leaf(c));
        }
        ((m ^ c) % 97)
    } with (0, 21);

    fn random_17(n: u64, m: u64) -> u64 {
        let d = N(((n ^ n) % 97));
        let (b, c): (u64, u64) = join!(leaf(9u64), leaf(m));
        'l1: for b in 0..(((c ^ c) % 97)) % 4 {
            let b: u64 = leaf(m).await;
            if n % 3 == 1 { break 'l1; }
            let mut w3 = 0;
            while w3 < 3 {
                w3 += 1;
                {
                    if n % 3 == 1 { break 'l1; }
                }
            }
        }
        leaf(((b ^ ((b ^ b) % 97)) % 97)).await
    } with (2, 23);

    fn random_18(n: u64, m: u64) -> u64 {
        {
            let c: u64 = leaf(18u64).await;
        }
        log(((3u64 ^ m) % 97));
        ((((m * 14u64) % 97) + ((leaf(n).await + ((1u64 + m) % 97)) % 89)) % 89)
    } with (2, 28);

    fn random_19(n: u64, m: u64) -> u64 {
        if n % 4 == 1 { return n; }
        if ((((11u64 ^ 2u64) % 97) + m) % 89) % 2 == 1 && leaf(((((17u64 ^ 16u64) % 97) + m) % 97)).await % 2 == 0 {
            let c: u64 = leaf(((m + m) % 97)).await;
        }
        else {
            leaf(((15u64 ^ ((11u64 * n) % 97)) % 97)).await;
        }
        let mut w3 = 0;
        while leaf(w3).await < 3 {
            w3 += 1;
            {
                let mut w5 = 0;
                'l6: while leaf(w5).await < 3 {
                    w5 += 1;
                    {
                        let mut a: u64 = n;
                    }
                }
            }
        }
        let c: u64 = if n % 2 == 0 && ((leaf(m).await + 1u64) % 89) % 2 == 1 {
            let c: u64 = match ((n * n) % 97) % 3 {
                0 => {
                    let b: u64 = if leaf(0u64).await % 2 == 0 || leaf(n).await % 2 == 1 {
                        let f = N(((m + 1u64) % 97));
                        let a: u64 = leaf(((m + ((n + 13u64) % 97)) % 97)).await;
                        n
                    }
                    else {
                        let d = N(0u64);
                        let (x, b): (u64, u64) = join!(leaf(m), leaf(m));
                        let c: u64 = leaf(((((x + 16u64) % 97) ^ n) % 97)).await;
                        b
                    };
                    {
                    }
                    let b: u64 = match leaf(((b + m) % 97)).await % 3 {
                        0 => {
                            let Some(c): Option<u64> = pick(b) else { return n };
                            let (a, b): (u64, u64) = join!(leaf(((b * 3u64) % 97)), leaf(((2u64 ^ 2u64) % 97)));
                            c
                        }
                        1 => {
                            let (b, a): (u64, u64) = join!(leaf(11u64), leaf(m));
                            let mut b: u64 = ((((leaf(((((b ^ 8u64) % 97) * b) % 97)).await + leaf(0u64).await) % 89) + ((b ^ a) % 97)) % 89);
                            ((((a ^ 8u64) % 97) + leaf(5u64).await) % 89)
                        }
                        _ => {
                            let e = leaf(N(((9u64 * b) % 97))).await;
                            eat(e);
                            b
                        }
                    };
                    leaf(b).await
                }
                1 => {
                    let a: u64 = leaf(n).await;
                    leaf(n).await
                }
                _ => {
                    {
                        log(n);
                        let c: u64 = ((n ^ 5u64) % 97);
                    }
                    let b: u64 = if leaf(((m ^ m) % 97)).await % 2 == 0 {
                        leaf(n).await;
                        ((((m + n) % 89) + ((((n * n) % 97) + leaf(m).await) % 89)) % 89)
                    }
                    else {
                        let Some(x): Option<u64> = pick(((18u64 ^ n) % 97)) else { return n };
                        ((leaf(((17u64 * 9u64) % 97)).await + ((m + 13u64) % 89)) % 89)
                    };
                    n
                }
            };
            ((((leaf(((((11u64 + 9u64) % 97) * ((c * m) % 97)) % 97)).await + n) % 89) + leaf(n).await) % 89)
        }
        else {
            let Some(b): Option<u64> = pick(19u64) else { return m };
            let d = leaf(N(m)).await;
            ((((((8u64 * b) % 97) + leaf(n).await) % 89) + 3u64) % 89)
        };
        leaf(m).await
    } with (6, 31);

}
