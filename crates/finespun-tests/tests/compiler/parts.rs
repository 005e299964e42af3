//! Bodies that lend locals, in one branch or after an exit: from a cell, or, if another local keeps an exclusive reference,
//! in a pinned task of its own.

use super::*;

/// Reads through a reference, and waits.
#[task]
async fn read(d: &N) -> u64 {
    leaf(d.0).await
}

mod plain_read {
    pub async fn read(d: &super::N) -> u64 {
        d.0
    }
}

struct Pair {
    data: N,
}

/// A chain of values in the callers' locals.
struct Env<'a> {
    value: u64,
    outer: Option<&'a Env<'a>>,
}

impl Env<'_> {
    fn sum(&self) -> u64 {
        self.value + self.outer.map_or(0, Env::sum)
    }
}

#[task]
async fn sum_of(env: &Env<'_>) -> u64 {
    leaf(env.sum()).await
}

corpus! { parts:
    fn after_an_exit(n: u64) -> u64 {
        let outer = N(1);
        if n < 2 { return n; }
        let mut lent = N(n); let lent = &mut lent;
        let later = N(2);
        let x = leaf(&lent).await.0;
        leaf(x + later.0 + outer.0).await
    } with (7);

    fn exit_taken(n: u64) -> u64 {
        let outer = N(1);
        if n < 9 { return n; }
        let lent = N(n);
        leaf(&lent).await.0 + outer.0
    } with (7);

    fn one_arm_of_three(n: u64) -> u64 {
        let first = N(10);
        match n % 3 {
            0 => leaf(n).await,
            1 => {
                let mut lent = N(n); let lent = &mut lent;
                let r = leaf(&lent).await;
                eat(first);
                r.0 + 1
            }
            _ => n,
        }
    } with (4);

    fn question_in_a_part(n: u64) -> Option<u64> {
        let d = N(3);
        let n = pick(n)?;
        let mut lent = N(n); let lent = &mut lent;
        let x = pick(leaf(&lent).await.0)?;
        eat(d);
        let y = pick(x - 2)?;
        Some(y)
    } with (7);

    fn return_in_a_loop_of_a_part(n: u64) -> u64 {
        if n == 0 { return 0; }
        let lent = N(n);
        let mut sum = 0;
        for i in 0..n {
            sum += leaf(&lent).await.0 + i;
            if sum > 20 { return sum; }
        }
        sum
    } with (5);

    fn locals_are_dropped_in_order(n: u64) -> u64 {
        let a = N(1);
        let b = N(2);
        let c = N(3);
        if n == 0 { return 0; }
        let mut lent = N(4); let lent = &mut lent;
        let x = leaf(&lent).await.0;
        x + c.0 + a.0 + b.0
    } with (7);

    fn a_local_that_the_part_does_not_name(n: u64) -> u64 {
        let unnamed = N(1);
        if n == 0 { return 0; }
        let mut lent = N(4); let lent = &mut lent;
        leaf(&lent).await.0 + n
    } with (7);

    fn shadowed_names(n: u64) -> u64 {
        let n = N(n);
        if n.0 == 0 { return 0; }
        let n = N(n.0 + 1);
        let m = leaf(&n).await.0;
        let n = N(m + 1);
        leaf(&n).await.0 + m
    } with (7);

    fn mutable_local(n: u64) -> u64 {
        let mut all = vec![N(n)];
        if n == 0 { return 0; }
        all.push(N(n + 1));
        leaf(&all).await;
        all.push(N(n + 2));
        let len = leaf(&all).await.len();
        all.remove(0);
        len as u64 + all[0].0
    } with (7);

    fn local_given_in_part(n: u64) -> u64 {
        let pair = (N(1), N(2));
        let (first, second) = pair;
        if n == 0 { return 0; }
        eat(first);
        let mut lent = N(n); let lent = &mut lent;
        leaf(&lent).await.0 + second.0
    } with (7);

    fn moved_field(n: u64) -> u64 {
        let pair = (N(1), N(2));
        if n == 0 { return 0; }
        eat(pair.0);
        let mut lent = N(n); let lent = &mut lent;
        leaf(&lent).await.0 + pair.1.0
    } with (7);

    fn assigned_in_the_part(n: u64) -> u64 {
        let d;
        if n == 0 { return 0; }
        let mut lent = N(n); let lent = &mut lent;
        d = N(leaf(&lent).await.0 + 1);
        leaf(&d).await.0
    } with (7);

    fn borrow_of_a_local_that_the_part_names(n: u64) -> u64 {
        let all = vec![N(1), N(2)];
        if n == 0 { return 0; }
        let first = &all[0];
        let x = leaf(first).await.0;
        let second = &all[1];
        x + leaf(second).await.0 + first.0
    } with (7);

    fn nested_branches(n: u64) -> u64 {
        let d = N(1);
        if n > 3 {
            match n % 4 {
                0 => leaf(1).await,
                3 => { let mut lent = N(n); let lent = &mut lent; leaf(&lent).await.0 }
                _ => 2,
            }
        } else if n > 1 {
            leaf(n).await
        } else {
            n
        }
    } with (7);

    fn macros_in_a_part(n: u64) -> String {
        let d = N(5);
        if n == 0 { return String::new(); }
        let mut lent = N(n); let lent = &mut lent;
        let text = format!("{:?} {n}", leaf(&lent).await);
        assert!(matches!(d, N(5)), "{d:?}");
        format!("{text} {d:?}")
    } with (7);

    fn closure_in_a_part(n: u64) -> u64 {
        let d = N(5);
        if n == 0 { return 0; }
        let mut lent = N(n); let lent = &mut lent;
        let add = |x: u64| x + d.0;
        let x = leaf(&lent).await.0;
        add(x)
    } with (7);

    fn join_in_a_part(n: u64) -> u64 {
        if n == 0 { return 0; }
        let (left, right) = (N(n), N(n + 1));
        let (a, b) = join!(leaf(&left), leaf(&right));
        a.0 + b.0
    } with (7);

    fn boxed_error(n: u64) -> Result<u64, Box<dyn std::error::Error + Send + Sync>> {
        if n == 0 { return Ok(0); }
        let mut lent = N(n); let lent = &mut lent;
        let x = leaf(&lent).await.0;
        let parsed: u64 = "12".parse()?;
        if x == 7 { Err(format!("{parsed} {x}"))? }
        Ok(parsed)
    } with (7);

    fn binders_in_macros(n: u64) -> String {
        if n == 0 { return String::new(); }
        let lent = N(n);
        let x = leaf(&lent).await.0;
        assert!([x].iter().any(|y| *y == x), "{}", lent.0);
        let text = format!("{}", (0..n).map(|k| k + 1).sum::<u64>());
        let (a, b) = join!(leaf(&lent), leaf([n].iter().map(|z| z + 1).sum::<u64>()));
        format!("{text} {} {b} {}", a.0, match n { k if k > 3 => k, o => o + 1 })
    } with (7);

    fn moved_before_and_assigned_in_the_part(n: u64) -> u64 {
        let mut d = N(1);
        eat(d);
        if n == 0 { return 0; }
        let mut lent = N(n); let lent = &mut lent;
        d = N(leaf(&lent).await.0 + 1);
        d.0
    } with (7);

    fn reference_moved_before_and_assigned_in_the_part(n: u64) -> u64 {
        let (mut a, mut b) = (1, 2);
        let mut r = &mut a;
        eat(r);
        if n == 0 { return 0; }
        let mut lent = N(n); let lent = &mut lent;
        r = &mut b;
        *r += leaf(&lent).await.0;
        *r
    } with (7);

    fn field_of_the_same_name(n: u64) -> u64 {
        let data = N(3);
        let pair = Pair { data: N(n) };
        if n == 0 { return 0; }
        eat(data);
        let mut lent = N(n); let lent = &mut lent;
        leaf(&lent).await.0 + pair.data.0
    } with (7);

    fn changed_in_the_part(n: u64) -> u64 {
        let mut sum = 0;
        let mut all = vec![N(1)];
        if n == 0 { return sum; }
        let mut lent = N(n); let lent = &mut lent;
        for i in 0..n { sum += leaf(&lent).await.0 + i; all.push(N(i)); }
        sum + all.len() as u64
    } with (7);

    fn not_send_before_the_await(n: u64) -> u64 {
        if n == 0 { return 0; }
        let lent = N(n);
        let counted = std::rc::Rc::new(5);
        let p = &lent;
        let value = std::rc::Rc::into_inner(counted).unwrap();
        leaf(p).await.0 + value
    } with (7);

    fn labelled_block_in_a_part(n: u64) -> u64 {
        if n == 0 { return 0; }
        let mut lent = N(n); let lent = &mut lent;
        'out: {
            for i in 0..n {
                if leaf(&lent).await.0 + i > 9 { break 'out i; }
            }
            99
        }
    } with (7);
}

/// A chain of values, as an interpreter keeps them.
#[task]
async fn chained(n: u64, outer: &Env<'_>) -> u64 {
    match n {
        0 => sum_of(outer).await,
        _ if n % 2 == 0 => chained(n - 1, outer).await + 1,
        _ => {
            let inner = Env { value: n, outer: Some(outer) };
            chained(n - 1, &inner).await
        }
    }
}

struct Machine {
    value: N,
}

impl Machine {
    #[task]
    async fn run(&mut self, n: u64) -> u64 {
        self.value.0 += 1;
        if n == 0 {
            return self.value.0;
        }
        let mut lent = N(n);
        let lent = &mut lent;
        let x = read(&lent).await;
        self.value.0 += x;
        let rest = self.run(n - 1).await;
        rest + lent.0
    }
}

#[test]
fn recursions_give_the_same_on_any_number_of_workers() {
    let _alone = crate::ONE_AT_A_TIME.lock().unwrap_or_else(|e| e.into_inner());
    for (workers, every) in [(1, 0), (1, 1), (1, 3), (2, 0), (2, 2)] {
        let runtime = Runtime::builder().workers(workers).block_every(every).build().unwrap();
        let outer = Env { value: 1, outer: None };
        // The odd numbers up to 20, and one more for each even number.
        assert_eq!(runtime.run(chained(20, &outer)), 1 + 100 + 10);
        let mut machine = Machine { value: N(0) };
        assert_eq!(runtime.run(machine.run(10)), 11 + 55 + 55);
    }
}
