//! Meanings that a macro, an operator or a name hides in a body without its types: after `tests/ui/hygiene`,
//! `tests/ui/macros` (those that run), `tests/ui/overloaded`, `tests/ui/resolve`, `tests/ui/consts/const-match*`.

use std::fmt::Debug;
use std::ops::{Add, AddAssign, Deref, DerefMut, Index, IndexMut, Neg, Not};

use crate::harness::*;

const LIMIT: u64 = 3;
const small: u64 = 3;
#[derive(Clone, Copy)]
struct unit;
#[derive(Clone, Copy)]
enum Low {
    low,
    high,
}
use Low::{high, low};

macro_rules! say {
    ($($text:tt)*) => { log(format!($($text)*)) };
}

macro_rules! bind {
    ($name:ident, $value:expr) => {
        let $name = $value;
    };
}

macro_rules! with_temporary {
    ($e:expr) => {{
        let temporary = d("in a macro");
        $e + temporary.len()
    }};
}

/// A wrapper that logs each access to its value.
struct Seen<T>(T);

impl<T> Deref for Seen<T> {
    type Target = T;
    fn deref(&self) -> &T {
        log("deref");
        &self.0
    }
}

impl<T> DerefMut for Seen<T> {
    fn deref_mut(&mut self) -> &mut T {
        log("deref mut");
        &mut self.0
    }
}

impl<T: PartialEq> PartialEq for Seen<T> {
    fn eq(&self, other: &Self) -> bool {
        log("eq");
        self.0 == other.0
    }
}

impl<T: PartialOrd> PartialOrd for Seen<T> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        log("compare");
        self.0.partial_cmp(&other.0)
    }
}

/// A type whose operators consume their operands.
#[derive(Debug)]
struct Takes(D);

impl Add<D> for Takes {
    type Output = Takes;
    fn add(self, other: D) -> Takes {
        log("add");
        self
    }
}

impl AddAssign<D> for Takes {
    fn add_assign(&mut self, other: D) {
        log("add assign");
        self.0 = other;
    }
}

impl Not for Takes {
    type Output = D;
    fn not(self) -> D {
        self.0
    }
}

impl Index<D> for Takes {
    type Output = D;
    fn index(&self, _: D) -> &D {
        log("index");
        &self.0
    }
}

/// A type with methods that consume their receiver under names that usually borrow, and the other way round.
struct Odd(D);

impl Odd {
    fn len(self) -> u64 {
        log("len takes");
        1
    }

    fn iter(self) -> std::option::IntoIter<D> {
        Some(self.0).into_iter()
    }

    fn push(self, _: u64) -> u64 {
        log("push takes");
        2
    }

    fn clone(self) -> D {
        self.0
    }

    fn into_iter(&self) -> u64 {
        3
    }

    fn take(&self) -> u64 {
        4
    }

    fn into_inner(&self) -> &D {
        &self.0
    }
}

corpus! {
    // names in patterns that are not bindings
    fn constants_in_patterns(n: u64) -> u64 {
        let x = match leaf(n).await {
            LIMIT => 1,
            u64::MAX => 2,
            _ => leaf(3).await,
        };
        match leaf((n, x)).await {
            (LIMIT, _) => 10,
            (_, LIMIT) => { wait().await; 20 }
            _ => 30,
        }
    } with (5);

    fn lower_case_constants_in_patterns(n: u64) -> u64 {
        let x = match leaf(n).await {
            small => 1,
            _ => leaf(2).await,
        };
        let y = match leaf(low).await {
            high => 10,
            low => { wait().await; 20 }
        };
        let unit = leaf(unit).await;
        if let small = leaf(n).await { return 100; }
        leaf(x + y).await
    } with (5);

    fn lower_case_constant_in_let_else(n: u64) -> u64 {
        let small = leaf(n).await else { wait().await; return 1 };
        2
    } with (5);

    // macros that bind and that format
    fn locals_bound_by_a_macro() -> u64 {
        bind!(x, d("x"));
        bind!(y, leaf(2));
        wait().await;
        bind!(x, x.len() + 5);
        wait().await;
        x + y.await
    } with ();

    fn guard_bound_by_a_macro() -> u64 {
        bind!(_guard, d("guard"));
        wait().await;
        log("end");
        leaf(1).await
    } with ();

    fn names_inside_format_strings() -> u64 {
        let x = leaf(1).await;
        say!("{x}");
        let x = x + leaf(2).await;
        say!("{x} {0}", x + 1);
        {
            let x = leaf("inner").await;
            say!("{x:?} {x}");
            wait().await;
            say!("{x}");
        }
        for x in 7..9 {
            wait().await;
            say!("{x:>3}");
        }
        if let Some(x) = leaf(Some('c')).await { wait().await; say!("{x}"); }
        let f = |x: u8| say!("{x}");
        f(5);
        wait().await;
        say!("{x}");
        x
    } with ();

    fn guards_mentioned_in_macros_only() -> u64 {
        let x = d("x");
        let y = d("y");
        say!("{x:?}");
        wait().await;
        say!("{:?}", y);
        wait().await;
        log("end");
        1
    } with ();

    fn value_moved_by_a_macro() -> u64 {
        macro_rules! consume { ($e:expr) => { eat($e) }; }
        let x = d("x");
        let y = d("y");
        consume!(x);
        wait().await;
        consume!(y);
        wait().await;
        log("end");
        1
    } with ();

    fn temporaries_inside_macros() -> u64 {
        let a = with_temporary!(1);
        wait().await;
        let b = with_temporary!(a);
        let x = leaf(with_temporary!(b)).await;
        x
    } with ();

    fn pinned_in_place_by_a_macro() -> u64 {
        let future = std::pin::pin!(d("pinned"));
        wait().await;
        log("end");
        future.len()
    } with ();

    // operators that call the user's functions
    fn overloaded_operators_are_called_once() -> u64 {
        let a = Seen(3u64);
        let b = Seen(leaf(4u64).await);
        if a == b { return 1; }
        if a < b { wait().await; log("less"); }
        let n = *a + leaf(1).await + *b;
        wait().await;
        n + *a
    } with ();

    fn operators_that_take_their_operands() -> u64 {
        let a = Takes(d("a"));
        let b = d("b");
        let sum = a + b;
        wait().await;
        let mut sum = sum + leaf(d("c")).await;
        wait().await;
        sum += d("e");
        log("assigned");
        wait().await;
        let inner = !sum;
        wait().await;
        log("end");
        inner.len()
    } with ();

    fn overloaded_index_takes_its_index() -> u64 {
        let takes = Takes(d("value"));
        let index = d("index");
        let n = takes[index].len();
        wait().await;
        log("end");
        n
    } with ();

    // heads: leading tests that are evaluated once
    fn head_with_an_overloaded_deref(x: Seen<u64>, y: D) -> u64 {
        if *x == 0 { return 1; }
        if x.pow(2) > 100 { return 2; }
        wait().await;
        log("rest");
        leaf(*x).await
    } with (Seen(3), D("y"));

    fn head_with_an_overloaded_comparison(x: Seen<u64>, y: Seen<u64>) -> u64 {
        if x == y { return 1; }
        if x > y { return 2; }
        wait().await;
        leaf(3).await
    } with (Seen(1), Seen(2));

    fn head_that_takes_apart_through_a_deref(x: Seen<Option<u64>>) -> u64 {
        let Some(n) = *x else { return 1 };
        if let Some(0) = *x { return 2; }
        wait().await;
        leaf(n).await
    } with (Seen(Some(3)));

    fn head_that_moves_a_parameter(x: Option<D>, y: D, n: u64) -> u64 {
        let Some(x) = x else { return 1 };
        if n > 5 { return x.len(); }
        if n == 4 { eat(y); return 2; }
        wait().await;
        log("rest");
        leaf(x.len()).await
    } with (Some(D("x")), D("y"), 3);

    fn head_that_leaves_with_parameters(x: Option<D>, y: D, n: u64) -> u64 {
        if n == 3 { log("leave"); return y.len(); }
        let Some(x) = x else { return 1 };
        wait().await;
        leaf(x.len()).await
    } with (Some(D("x")), D("y"), 3);

    fn head_that_leaves_by_else(x: Result<u64, D>, y: D) -> u64 {
        let Ok(n) = x else { return 1 };
        wait().await;
        leaf(n).await
    } with (Err(D("error")), D("y"));

    fn head_that_panics(x: D, n: u64) -> u64 {
        if n > 2 { panic!("on purpose: head {}", x.len()); }
        leaf(n).await
    } with (D("x"), 3);

    // the name of a method does not tell whether it consumes
    fn methods_that_take_under_names_that_borrow() -> u64 {
        let a = Odd(d("a"));
        let b = Odd(d("b"));
        let c = Odd(d("c"));
        let e = Odd(d("e"));
        let n = a.len();
        wait().await;
        let m = b.push(1);
        wait().await;
        log("1");
        let f = c.clone();
        for x in e.iter() { wait().await; log(x.name()); }
        wait().await;
        log("end");
        n + m
    } with ();

    fn methods_that_borrow_under_names_that_take() -> u64 {
        let a = Odd(d("a"));
        let b = Odd(d("b"));
        let c = Odd(d("c"));
        let n = a.into_iter();
        wait().await;
        let m = b.take();
        wait().await;
        log("1");
        let name = c.into_inner().len();
        wait().await;
        log("end");
        n + m + name
    } with ();

    // locals with the names of functions, types, modules
    fn locals_named_like_functions() -> u64 {
        let leaf = leaf(2).await;
        let wait2 = wait();
        let eat = leaf + 1;
        wait2.await;
        let d = d("d");
        wait().await;
        leaf + eat + d.len()
    } with ();
}
