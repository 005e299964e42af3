//! Fibonacci numbers by the recursion, as in rayon's demo `fibonacci`: one join for each call, and nothing else.

use super::{Form, Pools, Program, Size};

pub const PROGRAM: Program =
    Program { name: "fibonacci", about: "the 32nd Fibonacci number: a join for each call", make };

fn make(size: Size, pools: &Pools) -> Vec<Form> {
    let n = size.pick(15, 32);
    let (finespun, rayon) = (pools.finespun.clone(), pools.rayon.clone());
    vec![
        Form::new("plain", move || fib(n).into()),
        Form::new("finespun", move || finespun.run(finespun_form::fib(n)).into()),
        Form::new("rayon", move || rayon.install(|| rayon_form::fib(n)).into()),
    ]
}

fn fib(n: u32) -> u32 {
    if n < 2 {
        return n;
    }
    fib(n - 1) + fib(n - 2)
}

mod finespun_form {
    use finespun::prelude::*;

    #[task]
    pub async fn fib(n: u32) -> u32 {
        if n < 2 {
            return n;
        }
        let (a, b) = join!(fib(n - 1), fib(n - 2));
        a + b
    }
}

mod rayon_form {
    pub fn fib(n: u32) -> u32 {
        if n < 2 {
            return n;
        }
        let (a, b) = rayon::join(|| fib(n - 1), || fib(n - 2));
        a + b
    }
}
