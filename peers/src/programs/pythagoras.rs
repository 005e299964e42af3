//! Pythagorean triples with numbers up to a limit, counted by Euclid's formula, as in rayon's demo `pythagoras`: `m` and `n`
//! without a common factor, one of them even, give a triple and its multiples.

use super::{Form, Pools, Program, Size};

pub const PROGRAM: Program =
    Program { name: "pythagoras", about: "Pythagorean triples up to 4 x 10^6: a parallel sum of sums", make };

pub const NESTED: Program =
    Program { name: "pythagoras-nested", about: "the same, a parallel sum of parallel sums", make: make_nested };

fn is_primitive(m: u32, n: u32) -> bool {
    (m - n) % 2 == 1 && greatest_common_divisor(m, n) == 1
}

fn greatest_common_divisor(mut a: u32, mut b: u32) -> u32 {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}

fn limit(size: Size) -> u32 {
    size.pick(10_000, 4_000_000)
}

fn make(size: Size, pools: &Pools) -> Vec<Form> {
    let limit = limit(size);
    let (finespun, rayon) = (pools.finespun.clone(), pools.rayon.clone());
    vec![
        Form::new("plain", move || triples(limit).into()),
        Form::new("finespun", move || finespun.run(finespun_form::triples(limit)).into()),
        Form::new("rayon", move || rayon.install(|| rayon_form::triples(limit)).into()),
    ]
}

fn make_nested(size: Size, pools: &Pools) -> Vec<Form> {
    let limit = limit(size);
    let (finespun, rayon) = (pools.finespun.clone(), pools.rayon.clone());
    vec![
        Form::new("plain", move || triples(limit).into()),
        Form::new("finespun", move || finespun.run(finespun_form::nested(limit)).into()),
        Form::new("rayon", move || rayon.install(|| rayon_form::nested(limit)).into()),
    ]
}

fn triples(limit: u32) -> u32 {
    let of = |m: u32| (1..m).filter(|&n| is_primitive(m, n)).map(|n| limit / (m * m + n * n)).sum::<u32>();
    (1..limit.isqrt()).map(of).sum()
}

mod finespun_form {
    use finespun::par::prelude::*;
    use finespun::prelude::*;

    use super::is_primitive;

    #[task]
    pub async fn triples(limit: u32) -> u32 {
        let of = |m: u32| (1..m).filter(|&n| is_primitive(m, n)).map(|n| limit / (m * m + n * n)).sum::<u32>();
        (1..limit.isqrt()).into_par_iter().map(of).sum().await
    }

    #[task]
    pub async fn nested(limit: u32) -> u32 {
        reduce((1..limit.isqrt()).map(|m| multiples(m, limit)), 0, |a, b| a + b).await
    }

    #[task]
    async fn multiples(m: u32, limit: u32) -> u32 {
        let primitive = (1..m).into_par_iter().filter(|&n| is_primitive(m, n));
        primitive.map(|n| limit / (m * m + n * n)).sum().await
    }
}

mod rayon_form {
    use rayon::prelude::*;

    use super::is_primitive;

    pub fn triples(limit: u32) -> u32 {
        let of = |m: u32| (1..m).filter(|&n| is_primitive(m, n)).map(|n| limit / (m * m + n * n)).sum::<u32>();
        (1..limit.isqrt()).into_par_iter().map(of).sum()
    }

    pub fn nested(limit: u32) -> u32 {
        let of = |m: u32| {
            let primitive = (1..m).into_par_iter().filter(|&n| is_primitive(m, n));
            primitive.map(|n| limit / (m * m + n * n)).sum::<u32>()
        };
        (1..limit.isqrt()).into_par_iter().map(of).sum()
    }
}
