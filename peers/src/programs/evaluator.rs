//! An evaluator of expressions with `let`: a tree of enums, generic over the numbers. The environment is a list on the
//! stack, whose newest entry is a local of the `let` that binds it.

use std::num::Wrapping;
use std::ops::{Add, Mul, Neg};
use std::sync::Arc;

use super::{Form, Pools, Program, Random, Size};

pub const PROGRAM: Program =
    Program { name: "evaluator", about: "values of expressions with `let`, a generic recursion over a tree", make };

fn make(size: Size, pools: &Pools) -> Vec<Form> {
    let mut random = Random::new(8);
    let expr = Arc::new(expression(&mut random, size.pick(1_000, 2_000_000), 0));
    let sum = |value: Result<Number, Unbound>| value.expect("every variable is bound").0;
    let (finespun, rayon) = (pools.finespun.clone(), pools.rayon.clone());
    let (plain, ours, theirs) = (expr.clone(), expr.clone(), expr);
    vec![
        Form::new("plain", move || sum(plain_eval(&plain, None))),
        Form::new("finespun", move || sum(finespun.run(finespun_form::eval(&ours, None)))),
        Form::new("rayon", move || sum(rayon.install(|| rayon_eval(&theirs, None)))),
    ]
}

type Number = Wrapping<u64>;

/// What expressions compute with.
trait Value: Copy + Default + PartialEq + Add<Output = Self> + Mul<Output = Self> + Neg<Output = Self> {}

impl Value for Number {}

/// An expression.
enum Expr<N> {
    Constant(N),
    /// A variable, by its name.
    Variable(u32),
    Negate(Box<Expr<N>>),
    Add(Box<Expr<N>>, Box<Expr<N>>),
    Multiply(Box<Expr<N>>, Box<Expr<N>>),
    /// The second if the first is not zero, otherwise the third.
    If(Box<Expr<N>>, Box<Expr<N>>, Box<Expr<N>>),
    /// Binds a name to the value of the first in the second.
    Let(u32, Box<Expr<N>>, Box<Expr<N>>),
}

/// An error: no `let` binds this name.
#[derive(Clone, Copy, Debug)]
struct Unbound(#[allow(dead_code, reason = "for its Debug")] u32);

/// The innermost binding, in the ones around it.
struct Env<'a, N> {
    name: u32,
    value: N,
    outer: Option<&'a Env<'a, N>>,
}

/// Returns the value of a variable.
fn look_up<N: Value>(mut env: Option<&Env<'_, N>>, name: u32) -> Result<N, Unbound> {
    while let Some(binding) = env {
        if binding.name == name {
            return Ok(binding.value);
        }
        env = binding.outer;
    }
    Err(Unbound(name))
}

/// Makes an expression of about `size` nodes, in which the names below `bound` are bound.
fn expression(random: &mut Random, size: usize, bound: u32) -> Expr<Number> {
    if size <= 1 {
        return match bound > 0 && random.below(2) == 0 {
            // An inner name is likelier than an outer one.
            true => Expr::Variable(bound - 1 - random.below(bound.min(8) as usize) as u32),
            false => Expr::Constant(Wrapping(random.next())),
        };
    }
    let rest = size - 1;
    let part = 1 + random.below(rest);
    let mut sub = |size, bound| Box::new(expression(random, size, bound));
    match size % 7 {
        0 => Expr::Negate(sub(rest, bound)),
        1 | 2 => Expr::Add(sub(part, bound), sub(rest - part, bound)),
        3 | 4 => Expr::Multiply(sub(part, bound), sub(rest - part, bound)),
        5 => Expr::If(sub(part / 8, bound), sub(rest - part / 8, bound), sub(part / 8, bound)),
        _ => Expr::Let(bound, sub(part, bound), sub(rest - part, bound + 1)),
    }
}

fn plain_eval<N: Value>(expr: &Expr<N>, env: Option<&Env<'_, N>>) -> Result<N, Unbound> {
    match expr {
        Expr::Constant(number) => Ok(*number),
        Expr::Variable(name) => look_up(env, *name),
        Expr::Negate(a) => Ok(-plain_eval(a, env)?),
        Expr::Add(a, b) => Ok(plain_eval(a, env)? + plain_eval(b, env)?),
        Expr::Multiply(a, b) => Ok(plain_eval(a, env)? * plain_eval(b, env)?),
        Expr::If(condition, then, otherwise) => {
            let chosen = if plain_eval(condition, env)? != N::default() { then } else { otherwise };
            plain_eval(chosen, env)
        }
        Expr::Let(name, value, body) => {
            let value = plain_eval(value, env)?;
            plain_eval(body, Some(&Env { name: *name, value, outer: env }))
        }
    }
}

mod finespun_form {
    use finespun::prelude::*;

    use super::{Env, Expr, Unbound, Value, look_up};

    #[task]
    pub async fn eval<N: Value + Send + Sync>(expr: &Expr<N>, env: Option<&Env<'_, N>>) -> Result<N, Unbound> {
        match expr {
            Expr::Constant(number) => Ok(*number),
            Expr::Variable(name) => look_up(env, *name),
            Expr::Negate(a) => Ok(-eval(a, env).await?),
            Expr::Add(a, b) => {
                let (a, b) = join!(eval(a, env), eval(b, env));
                Ok(a? + b?)
            }
            Expr::Multiply(a, b) => {
                let (a, b) = join!(eval(a, env), eval(b, env));
                Ok(a? * b?)
            }
            Expr::If(condition, then, otherwise) => {
                let chosen = if eval(condition, env).await? != N::default() { then } else { otherwise };
                eval(chosen, env).await
            }
            Expr::Let(name, value, body) => {
                let value = eval(value, env).await?;
                eval(body, Some(&Env { name: *name, value, outer: env })).await
            }
        }
    }
}

fn rayon_eval<N: Value + Send + Sync>(expr: &Expr<N>, env: Option<&Env<'_, N>>) -> Result<N, Unbound> {
    match expr {
        Expr::Constant(number) => Ok(*number),
        Expr::Variable(name) => look_up(env, *name),
        Expr::Negate(a) => Ok(-rayon_eval(a, env)?),
        Expr::Add(a, b) => {
            let (a, b) = rayon::join(|| rayon_eval(a, env), || rayon_eval(b, env));
            Ok(a? + b?)
        }
        Expr::Multiply(a, b) => {
            let (a, b) = rayon::join(|| rayon_eval(a, env), || rayon_eval(b, env));
            Ok(a? * b?)
        }
        Expr::If(condition, then, otherwise) => {
            let chosen = if rayon_eval(condition, env)? != N::default() { then } else { otherwise };
            rayon_eval(chosen, env)
        }
        Expr::Let(name, value, body) => {
            let value = rayon_eval(value, env)?;
            rayon_eval(body, Some(&Env { name: *name, value, outer: env }))
        }
    }
}
