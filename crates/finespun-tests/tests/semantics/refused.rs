//! Bodies that the task compiler once refused, or in which it dropped a value early, although the plain versions are
//! accepted.

use crate::harness::*;

trait Shown: Send + Sync {
    fn length(&self) -> u64;
}

impl Shown for D {
    fn length(&self) -> u64 {
        self.len()
    }
}

impl Shown for N {
    fn length(&self) -> u64 {
        self.0
    }
}

fn both(a: Box<dyn Shown>, n: u64) -> u64 {
    a.length() * 10 + n
}

fn perhaps(a: Option<Box<dyn Shown>>, n: u64) -> u64 {
    a.map_or(0, |a| a.length() * 10) + n
}

fn slice(a: &[u64], n: u64) -> u64 {
    a.iter().sum::<u64>() * 10 + n
}

fn wrapped<T>(value: T) -> Option<T> {
    Some(value)
}

fn die() -> ! {
    log("die");
    panic!("died")
}

/// A type with the name of a const parameter.
struct LEN(u64);

corpus! {
    fn a_scrutinee_that_does_not_match_stays() -> u64 {
        let r: Result<D, D> = Err(d("e"));
        'out: {
            let Ok(x) = r else { break 'out; };
            eat(x);
        }
        wait().await;
        log("after");
        0
    } with ();

    fn parts_of_one_that_does_not_match_stay() -> u64 {
        let o: Option<Result<D, D>> = Some(Err(d("e")));
        let n = 'out: {
            let Some(Ok(x)) = o else { break 'out 3; };
            eat(x);
            4
        };
        let t = (d("first"), Err::<D, D>(d("second")));
        'out: {
            let (y, Ok(x)) = t else { break 'out; };
            eat(x);
            eat(y);
        }
        wait().await;
        log("after");
        n
    } with ();

    fn a_parameter_that_does_not_match_stays(r: Result<D, D>) -> u64 {
        'out: {
            let Ok(x) = r else { break 'out; };
            eat(x);
        }
        wait().await;
        log("after");
        0
    } with (Err(d("e")));

    fn a_head_moves_what_is_assigned_later(a: D) -> u64 {
        let mut a = a;
        if { let n = a.len(); eat(a); n } > 5 { return 1; }
        a = d("new");
        wait().await;
        a.len()
    } with (d("a"));

    fn a_value_that_is_returned(n: u64) -> u64 {
        let x: u64 = if n > 0 { return leaf(n).await } else { return leaf(7).await };
        x
    } with (0);

    fn a_return_as_a_value() -> u64 {
        let x: u64 = return leaf(7).await;
        x
    } with ();

    fn a_branch_that_dies(n: u64) -> u64 {
        let x = if n == 0 { wait().await; die(); } else { wait().await; 3 };
        leaf(x).await
    } with (1);

    fn alternatives_become_one_type(c: bool) -> u64 {
        let boxed = both(if c { Box::new(d("a")) } else { Box::new(N(3)) }, leaf(4).await);
        let matched = both(match c { true => Box::new(N(5)), false => Box::new(d("b")) }, leaf(4).await);
        let sliced = slice(if c { &[1, 2] } else { &[1, 2, 3] }, leaf(4).await);
        let inside = perhaps({ Some(Box::new(d("c"))) }, leaf(4).await);
        let generic = perhaps(wrapped(Box::new(d("d"))), leaf(4).await);
        boxed + matched + sliced + inside + generic
    } with (true);
}

mod plain_generic {
    use super::*;
    use crate::harness::plain::*;
    pub async fn ends<T: Send, const LEN: usize>(a: [T; LEN]) -> u64 {
        wait().await;
        drop(a);
        LEN as u64
    }
}

mod generic {
    use super::*;
    use crate::harness::tasks::*;
    use finespun::task;
    #[task]
    pub async fn ends<T: Send, const LEN: usize>(a: [T; LEN]) -> u64 {
        wait().await;
        drop(a);
        LEN as u64
    }
    #[task(pinned)]
    pub async fn pinned_ends<T: Send, const LEN: usize>(a: [T; LEN]) -> u64 {
        wait().await;
        drop(a);
        LEN as u64
    }
}

#[test]
fn a_const_parameter_may_have_the_name_of_a_type() {
    versions!(
        owned,
        plain_generic::ends([d("1"), d("2")]),
        generic::pinned_ends([d("1"), d("2")]),
        generic::ends([d("1"), d("2")])
    );
}
