//! After `tests/ui/closures` (those that run) and `tests/ui/async-await/async-closures`.

use crate::harness::*;

fn twice(f: impl Fn(u64) -> u64) -> u64 {
    f(f(1))
}

fn once<T>(f: impl FnOnce() -> T) -> T {
    f()
}

fn each(mut f: impl FnMut(u64)) {
    for i in 0..3 {
        f(i);
    }
}

corpus! {
    // 2229_closure_analysis/run_pass/*.rs: disjoint captures
    fn closure_captures_one_field() -> u64 {
        let pair = (d("taken"), d("left"));
        let closure = move || { let _all = &pair.0; 5 };
        wait().await;
        log(pair.1.name());
        let n = closure();
        drop(closure);
        log("closure gone");
        wait().await;
        n
    } with ();

    fn closure_borrows_and_is_used_before_an_await() -> u64 {
        let a = leaf(3).await;
        let add = |n| n + a;
        let x = twice(add);
        wait().await;
        x
    } with ();

    fn closure_used_after_an_await() -> u64 {
        let a = leaf(3).await;
        let add = |n: u64| n + a;
        wait().await;
        let x = twice(add);
        wait().await;
        twice(add) + x
    } with ();

    fn closure_mutates_what_it_borrows() -> u64 {
        let mut sum = 0;
        each(|i| sum += i);
        wait().await;
        let mut list = Vec::new();
        let mut push = |n| list.push(n);
        push(sum);
        push(leaf(4).await);
        push(5);
        list.iter().sum()
    } with ();

    fn closure_owns_and_drops_at_its_scope() -> u64 {
        let value = d("value");
        let closure = move || value.len();
        wait().await;
        let n = closure();
        log("called");
        n
    } with ();

    fn closure_called_before_an_await_drops_at_its_scope() -> u64 {
        let value = d("value");
        let closure = move || value.len();
        let n = closure();
        wait().await;
        log("end");
        n
    } with ();

    fn closure_called_once_drops_its_captures() -> u64 {
        let value = d("value");
        let closure = move || { let value = value; value.len() };
        wait().await;
        let n = closure();
        log("called");
        wait().await;
        n
    } with ();

    fn boxed_closure_argument(f: Box<dyn Fn(u64) -> u64 + Send>) -> u64 {
        let n = f(1);
        wait().await;
        log("end");
        n
    } with ({ let value = D("captured"); Box::new(move |n| n + value.len()) });

    fn boxed_closures_in_a_list() -> u64 {
        let mut list: Vec<Box<dyn Fn(u64) -> u64 + Send + Sync>> = Vec::new();
        let value = d("captured");
        list.push(Box::new(move |n| n + value.len()));
        wait().await;
        list.push(Box::new(|n| n * 2));
        let mut n = leaf(1).await;
        for f in &list {
            n = f(n);
            wait().await;
        }
        drop(list);
        log("end");
        n
    } with ();

    fn closures_in_operands_of_awaits() -> u64 {
        let k = leaf(2).await;
        let n = leaf(once(|| k + 1)).await;
        let m = leaf([1, 2, 3].iter().map(|x| x * k).sum::<u64>()).await;
        let list: Vec<u64> = leaf((0..3).map(move |x| x + k).collect()).await;
        n + m + list[2]
    } with ();

    fn returns_inside_closures_stay_inside() -> u64 {
        let check = |n: u64| -> Option<u64> {
            if n > 2 { return None; }
            let x = Some(n)?;
            Some(x + 1)
        };
        let a = check(leaf(1).await);
        wait().await;
        let b = check(leaf(5).await);
        a.unwrap_or(10) + b.unwrap_or(20)
    } with ();

    fn loops_inside_closures_stay_inside() -> u64 {
        let find = |limit: u64| loop { break limit; };
        let mut n = 0;
        for i in 0..3 {
            n += find(leaf(i).await);
            let v: Vec<u64> = (0..i).filter(|x| { for y in 0..3 { if y == *x { continue } } true }).collect();
            n += v.len() as u64;
        }
        n
    } with ();

    fn function_items_and_pointers() -> u64 {
        fn inc(n: u64) -> u64 { n + 1 }
        let f = inc;
        let g: fn(u64) -> u64 = |n| n * 2;
        let table = [inc as fn(u64) -> u64, g];
        wait().await;
        let mut n = f(1);
        for h in table {
            n = h(leaf(n).await);
        }
        n
    } with ();

    // async blocks as values of futures that run elsewhere, and closures that return closures
    fn closure_that_returns_a_closure() -> u64 {
        let value = d("value");
        let outer = move |n: u64| { let len = value.len(); move |m: u64| n + m + len };
        wait().await;
        let inner = outer(1);
        drop(outer);
        log("outer gone");
        wait().await;
        inner(leaf(2).await)
    } with ();

    fn panics_inside_a_closure(n: u64) -> u64 {
        let value = d("value");
        let check = |n: u64| { if n > 1 { panic!("on purpose: closure {}", value.len()) } n };
        let a = check(leaf(1).await);
        wait().await;
        a + check(leaf(n).await)
    } with (2);
}
