//! Bodies that lend their locals from cells.

use std::sync::atomic::Ordering::Relaxed;

use super::*;

struct Pair {
    first: N,
    second: u64,
}

/// A value with methods of unknown name, which take it in all ways.
#[derive(Clone, Copy)]
struct Point {
    x: u64,
}

impl Point {
    fn moved(self, by: u64) -> Point {
        Point { x: self.x + by }
    }
    fn at(&self) -> &u64 {
        &self.x
    }
}

corpus! {
    fn lent_once(n: u64) -> u64 {
        let a = N(1);
        let lent = N(n);
        let b = N(2);
        leaf(&lent).await.0 + a.0 + b.0
    } with (7);

    fn dropped_in_order(n: u64) -> u64 {
        let a = N(1);
        let lent = N(n);
        let b = N(2);
        let other = N(3);
        let x = leaf(&lent).await.0;
        let y = leaf(&other).await.0;
        let c = N(4);
        leaf(x + y).await
    } with (7);

    fn result_that_borrows(n: u64) -> u64 {
        let lent = Pair { first: N(n), second: 3 };
        let first = leaf(&lent.first).await;
        let second = leaf(&lent.second).await;
        first.0 + leaf(*second).await + first.0
    } with (7);

    fn moved_behind_the_await(n: u64) -> u64 {
        let lent = N(n);
        let x = leaf(&lent).await.0;
        eat(lent);
        log("eaten");
        leaf(x).await
    } with (7);

    fn moved_on_one_path(n: u64) -> u64 {
        let lent = N(n);
        let x = leaf(&lent).await.0;
        if x > 3 { eat(lent); log("eaten"); } else { log("kept"); }
        x
    } with (7);

    fn not_moved_on_that_path(n: u64) -> u64 {
        let lent = N(n);
        let x = leaf(&lent).await.0;
        if x > 3 { eat(lent); log("eaten"); } else { log("kept"); }
        x
    } with (2);

    fn passed_on(n: u64) -> N {
        let lent = N(n);
        let x = leaf(&lent).await.0;
        log(x);
        leaf(lent).await
    } with (2);

    fn taken_by_a_method(n: u64) -> u64 {
        let best = AtomicU64::new(n);
        let seen = leaf(&best).await.load(Relaxed);
        best.fetch_add(1, Relaxed);
        best.into_inner() + seen
    } with (2);

    fn taken_back_by_a_method(n: u64) -> u64 {
        let best = AtomicU64::new(n);
        let _ = leaf(&best).await;
        best.into_inner()
    } with (2);

    fn returned(n: u64) -> (N, u64) {
        let lent = N(n);
        let x = leaf(&lent).await.0;
        (lent, x)
    } with (2);

    fn exclusive(n: u64) -> u64 {
        let mut all = Vec::new();
        for k in 0..n {
            put(&mut all, k).await;
            all.push(N(100 + k));
        }
        let len = all.len() as u64;
        leaf(len).await
    } with (3);

    fn exclusive_and_returned(n: u64) -> Vec<u64> {
        let mut all = vec![1, 2];
        add(&mut all, n).await;
        all[0] += 1;
        add(&mut all, n + 1).await;
        all.sort_unstable_by(|a, b| b.cmp(a));
        all
    } with (3);

    fn exclusive_in_a_loop(n: u64) -> u64 {
        let mut sum = 0;
        for k in 0..n {
            let mut inner = N(k);
            while inner.0 < 5 {
                bump(&mut inner).await;
                sum += inner.0;
            }
        }
        sum
    } with (3);

    fn assigned_between(n: u64) -> u64 {
        let mut d = N(n);
        bump(&mut d).await;
        d = N(10);
        bump(&mut d).await;
        d.0 += 5;
        d.0
    } with (3);

    fn in_a_join(n: u64) -> u64 {
        let left = N(n);
        let right = N(n + 1);
        let (a, b) = join!(leaf(&left), leaf(&right));
        a.0 + b.0 + leaf(1).await
    } with (3);

    fn in_an_inner_block(n: u64) -> u64 {
        let outer = N(1);
        let x = {
            let inner = N(n);
            let x = leaf(&inner).await.0;
            let y = leaf(&outer).await.0;
            x + y
        };
        log("behind");
        x + leaf(&outer).await.0
    } with (3);

    fn leaves_by_break(n: u64) -> u64 {
        let mut k = 0;
        let found = loop {
            let lent = N(k);
            let x = leaf(&lent).await.0;
            if x == n { break x; }
            if x > 100 { continue; }
            k += 1;
        };
        found
    } with (3);

    fn leaves_by_question(n: u64) -> Option<u64> {
        let lent = N(n);
        let x = pick(leaf(&lent).await.0)?;
        let y = pick(leaf(&lent).await.0 + 1)?;
        Some(x + y)
    } with (4);

    fn parameter(lent: N, n: u64) -> u64 {
        let x = leaf(&lent).await.0;
        let later = N(50);
        x + leaf(&lent).await.0 + n
    } with (N(3), 4);

    fn mutable_parameter(mut lent: N, n: u64) -> u64 {
        bump(&mut lent).await;
        bump(&mut lent).await;
        lent.0 + n
    } with (N(3), 4);

    fn parameter_behind_an_exit(lent: N, n: u64) -> u64 {
        if n == 0 { return lent.0; }
        leaf(&lent).await.0
    } with (N(3), 4);

    fn copied_by_methods(n: u64) -> u64 {
        let p = Point { x: n };
        let x = leaf(p.moved(1)).await.x;
        let y = *leaf(p.at()).await;
        let z = leaf(p).await.x;
        x + y + z
    } with (3);

    fn in_a_closure(n: u64) -> u64 {
        let lent = N(n);
        leaf(&lent).await;
        let same = |x: u64| x == lent.0;
        u64::from(same(n)) + u64::from(same(2))
    } with (3);

    fn in_macros(n: u64) -> String {
        let lent = N(n);
        let x = leaf(&lent).await.0;
        assert!(lent.0 == x, "{:?}", lent);
        format!("{:?} {x}", lent)
    } with (3);

    fn matched(n: u64) -> u64 {
        let lent = Some(N(n));
        let x = match leaf(&lent).await { Some(d) => d.0, None => 0 };
        let y = if let Some(d) = leaf(&lent).await { d.0 } else { 0 };
        x + y
    } with (3);

    fn large(n: u64) -> u64 {
        let lent = [n; 500];
        let all = leaf(&lent).await;
        let x = all[499];
        let other = [x + 1; 200];
        let some = leaf(&other[..3]).await;
        some[2] + all[3]
    } with (3);

    fn generic_result(n: u64) -> u64 {
        let lent = Default::default();
        let x = leaf::<&Vec<u64>>(&lent).await.len() as u64;
        x + n
    } with (3);

    fn borrows_from_a_parameter(n: u64) -> u64 {
        let all = vec![N(n), N(n + 1)];
        let mut view: &[N] = &all[..];
        let mut sum = 0;
        while let [first, rest @ ..] = view {
            sum += leaf(first).await.0;
            view = rest;
        }
        sum + leaf(&all).await.len() as u64
    } with (3);
}

struct Bag(Vec<u64>);

impl Bag {
    fn expect(&self, _: &str) -> u64 {
        self.0.len() as u64
    }
}

/// Bodies for which a cell would be wrong, or needs care.
mod careful {
    use super::*;

    corpus! { parts:
        fn owned_by_a_closure(k: u64) -> u64 {
            let r = leaf(&k).await;
            let s = *r;
            let add: Box<dyn Fn(u64) -> u64 + Send> = Box::new(move |x| x + k);
            leaf(1).await;
            add(s)
        } with (7);

        fn changed_by_a_closure(n: u64) -> u64 {
            let mut k: u64 = n;
            let mut add = move |x| { k += x; k };
            let a = add(3);
            more(&mut k).await;
            a + k
        } with (7);

        fn lent_to_a_closure(n: u64) -> u64 {
            let mut k = n;
            more(&mut k).await;
            (0..3u64).for_each(|x| k += x);
            k += 1;
            more(&mut k).await;
            k
        } with (7);

        fn looked_at_by_a_closure(n: u64) -> Vec<u64> {
            let mut all = vec![n];
            add(&mut all, 1).await;
            let known = [1u64, 2].iter().any(|x| all.contains(x));
            all.push(u64::from(known));
            add(&mut all, 2).await;
            all
        } with (7);

        fn methods_of_numbers(n: u64) -> Vec<u64> {
            let mut all = vec![n, 2, 3];
            add(&mut all, 1).await;
            all.rotate_left(1);
            add(&mut all, 1).await;
            all.rotate_left(1);
            all
        } with (7);

        fn methods_that_seem_to_take(n: u64) -> u64 {
            let bag = Bag(vec![n, 2]);
            let a = bag.expect("x");
            let b = leaf(&bag).await.0.len() as u64;
            a + b + bag.expect("y")
        } with (7);

        fn kept_in_another_local(n: u64) -> u64 {
            let c = AtomicU64::new(n);
            let l = Mutex::new(None);
            link(&l, &c).await;
            leaf(&c).await;
            c.store(5, Relaxed);
            let kept = l.lock().unwrap().unwrap().load(Relaxed);
            kept
        } with (7);

        fn kept_by_a_type_without_lifetimes(n: u64) -> Vec<u64> {
            let mut all = vec![n];
            let pen: Pen = open(&mut all).await;
            for k in 0..100 { pen.0.push(k); }
            drop(pen);
            all.push(n);
            all
        } with (7);

        fn kept_in_an_older_local(n: u64) -> u64 {
            let l = Mutex::new(None);
            let c = AtomicU64::new(n);
            link(&l, &c).await;
            leaf(&c).await;
            c.store(5, Relaxed);
            l.lock().unwrap().unwrap().load(Relaxed)
        } with (7);

        fn kept_in_an_older_local_that_is_lent_last(n: u64) -> u64 {
            let l = Mutex::new(None);
            let c = AtomicU64::new(n);
            link(&l, &c).await;
            c.store(5, Relaxed);
            let kept = l.lock().unwrap().unwrap().load(Relaxed);
            kept
        } with (7);

        fn kept_in_another_local_and_moved(n: u64) -> u64 {
            let c = AtomicU64::new(n);
            let l = Mutex::new(None);
            link(&l, &c).await;
            leaf(&c).await;
            c.store(5, Relaxed);
            l.into_inner().unwrap().unwrap().load(Relaxed)
        } with (7);

        fn refers_to_a_younger_local(n: u64) -> u64 {
            let l = Mutex::new(None);
            leaf(&l).await;
            let x = AtomicU64::new(n + 1);
            link(&l, &x).await;
            3
        } with (7);

        fn many_awaits(n: u64) -> u64 {
            let mut a = vec![n];
            add(&mut a, 1).await;
            add(&mut a, 1).await;
            let mut b = vec![n];
            add(&mut b, 1).await;
            add(&mut b, 1).await;
            let mut c = vec![n];
            add(&mut c, 1).await;
            add(&mut c, 1).await;
            let mut sum = 0;
            sum += leaf(1).await; sum += leaf(2).await; sum += leaf(3).await; sum += leaf(4).await;
            sum += leaf(1).await; sum += leaf(2).await; sum += leaf(3).await; sum += leaf(4).await;
            sum += leaf(1).await; sum += leaf(2).await; sum += leaf(3).await; sum += leaf(4).await;
            sum + a.len() as u64 + b.len() as u64 + c.len() as u64
        } with (7);

        fn inner_implementations(n: u64) -> u64 {
            struct Outer(u64);
            impl std::ops::AddAssign<u64> for Outer {
                fn add_assign(&mut self, by: u64) { self.0 += by; }
            }
            let mut o = Outer(n);
            o += 2;
            let lent = N(o.0);
            leaf(&lent).await.0
        } with (7);

        fn operators(n: u64) -> bool {
            let lent = n == 3;
            leaf(&lent).await;
            !lent
        } with (7);
    }
}

/// A value that is worth a block of its own, and no destructor that would show a second drop.
pub struct Big {
    words: [u64; 600],
}

/// Reads what it borrows when it is dropped.
pub struct Last<'a>(&'a Big);

impl Drop for Last<'_> {
    fn drop(&mut self) {
        let other = Box::new([9u64; 700]);
        log(format_args!("last {}", self.0.words[1]));
        drop(other);
    }
}

static BIG: Big = Big { words: [3; 600] };

pub struct Shadowed {
    x: u64,
}

/// Keeps a reference, and says whether it is empty.
pub struct Keeper<'a>(Option<&'a AtomicU64>);

impl<'a> Keeper<'a> {
    fn add(&mut self, of: &'a AtomicU64) -> bool {
        self.0 = Some(of);
        false
    }
    fn get(&self) -> u64 {
        self.0.map_or(0, |of| of.load(Relaxed))
    }
}

#[task]
async fn keep<'a>(keeper: &mut Keeper<'a>, of: &'a AtomicU64) {
    leaf(0).await;
    keeper.0 = Some(of);
}

mod reviewed {
    use super::*;

    /// Keeps references by a method of unknown name.
    struct Hold<'a>(Vec<&'a mut N>);

    impl<'a> Hold<'a> {
        fn keep(&mut self, of: &'a mut N) {
            self.0.push(of);
        }
        fn set(&mut self, to: u64) {
            self.0[0].0 = to;
        }
    }

    fn total(k: u64) -> u64 {
        k + 1
    }

    /// A method of this name in the library reads a cell.
    trait Taken {
        /// # Safety
        /// It has no conditions.
        unsafe fn taken(&self, by: N) -> u64;
    }

    impl Taken for Point {
        unsafe fn taken(&self, by: N) -> u64 {
            self.x + by.0
        }
    }

    #[task]
    async fn divided(n: u64, by: u64) -> u64 {
        let lent = n;
        leaf(&lent).await;
        let part = lent / by; // The place of the panic.
        leaf(&lent).await;
        part
    }

    #[test]
    fn an_operator_panics_at_its_place() {
        static PLACE: Mutex<Option<u32>> = Mutex::new(None);
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| match info.payload().downcast_ref::<&str>() {
            Some(&"attempt to divide by zero") => {
                *PLACE.lock().unwrap() = info.location().map(std::panic::Location::line)
            }
            _ => before(info),
        }));
        let runtime = Runtime::builder().workers(1).build().unwrap();
        assert_eq!(runtime.run(divided(7, 2)), 3);
        let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| runtime.run(divided(7, 0))));
        assert!(ended.is_err());
        let line = include_str!("lent.rs").lines().position(|line| line.ends_with("// The place of the panic."));
        assert_eq!(PLACE.lock().unwrap().map(|line| line as usize), line.map(|index| index + 1));
    }

    corpus! {
        fn kept_by_a_parameter(mut keeper: Keeper<'_>, n: u64) -> u64 {
            async fn keep<'a>(keeper: &mut Keeper<'a>, of: &'a AtomicU64) { keeper.0 = Some(of) }
            let lent = AtomicU64::new(n);
            leaf(&lent).await;
            keeper.add(&lent);
            leaf(&lent).await;
            lent.store(5, Relaxed);
            keeper.get()
        } with (Keeper(None), 7);

        fn copied_by_closures(n: u64) -> u64 {
            let lent: Point = Point { x: n };
            leaf(&lent).await;
            let x: u64 = {
                let f = || { let other = lent; other.x };
                f() + f()
            };
            x + leaf(&lent).await.x
        } with (7);

        fn a_parameter_that_changes(mut all: Vec<u64>, mut k: u64) -> u64 {
            add(&mut all, 1).await;
            more(&mut k).await;
            all.push(3);
            k += 1;
            k + all.len() as u64
        } with (vec![7], 8);

        fn named_like_a_function(n: u64) -> u64 {
            let k = {
                let total = N(n);
                leaf(&total).await.0
            };
            leaf(1).await;
            total(k)
        } with (7);

        fn named_like_a_function_and_moved(n: u64) -> u64 {
            {
                let total = N(n);
                leaf(total).await;
            }
            total(n)
        } with (7);

        fn methods_named_like_those_of_cells(n: u64) -> u64 {
            let point: Point = Point { x: n };
            let other = N(3);
            // SAFETY: the method has no conditions.
            let k: u64 = unsafe { point.taken(other) };
            leaf(k).await
        } with (7);
    }

    mod pinned_parts {
        use super::*;

        corpus! { parts:
            fn functions_of_types(n: u64) -> String {
                let bytes = vec![b'0' + n as u8];
                let lent = String::from_utf8_lossy(&bytes);
                leaf(&lent).await;
                let other = String::from_utf8(bytes.clone());
                leaf(&other).await;
                lent.into_owned() + &format!("{}", other.is_ok())
            } with (7);

            fn kept_by_an_exit(c: AtomicU64, mut keeper: Keeper<'_>) -> u64 {
                if keeper.add(&c) {
                    return 0;
                }
                leaf(&c).await;
                c.store(5, Relaxed);
                keeper.get()
            } with (AtomicU64::new(7), Keeper(None));

            fn kept_by_a_method(n: u64) -> u64 {
                let mut x = N(n);
                {
                    let mut hold = Hold(vec![]);
                    hold.keep(&mut x);
                    leaf(1).await;
                    hold.set(4);
                    leaf(1).await;
                    hold.set(5);
                }
                leaf(x.0 + x.0).await;
                bump(&mut x).await;
                x.0
            } with (7);

            fn kept_by_types_without_lifetimes(n: u64) -> Vec<u64> {
                let mut all = vec![n];
                {
                    let pen: Pen = open(&mut all).await;
                    pen.0.push(1);
                    leaf(2).await;
                    pen.0.push(3);
                }
                all.push(n);
                {
                    let pen: Pen = open(&mut all).await;
                    pen.0.push(1);
                    leaf(2).await;
                    pen.0.push(3);
                }
                all
            } with (7);

            fn shown(n: u64) -> u64 {
                let lent = n;
                leaf(&lent).await;
                if n > 100 {
                    dbg!(lent);
                }
                *leaf(&lent).await
            } with (7);

            fn read_by_a_later_parameter(lent: Big, mut last: Last<'_>) -> u64 {
                leaf(&lent).await;
                last.0 = &lent;
                leaf(&lent).await.words[0]
            } with (Big { words: [7; 600] }, Last(&BIG));

            fn types_of_the_body(n: u64) -> u64 {
                struct Shadowed { x: N }
                let lent: Shadowed = Shadowed { x: N(n) };
                let k = leaf(&lent).await.x.0;
                let x = lent.x;
                x.0 + leaf(k).await
            } with (7);

            fn aliases_of_the_body(n: u64) -> u64 {
                type Shadowed = (N, u64);
                let lent: Shadowed = (N(n), n);
                let k = leaf(&lent).await.1;
                let x = lent.0;
                x.0 + leaf(k).await
            } with (7);

            fn lengths_of_the_body(n: u64) -> u64 {
                const LEN: usize = 3;
                let lent: [u64; LEN] = [n; LEN];
                let k = leaf(&lent).await[0];
                let f = || { let all = lent; all[2] };
                f() + leaf(k).await
            } with (7);

            fn dropped_in_the_order_of_parameters(lent: Option<N>, other: N) -> u64 {
                leaf(&lent).await;
                log("body");
                other.0
            } with (Some(N(7)), N(8));
        }
    }
}

/// Reads what it borrows when it is dropped.
struct Reads<'a>(&'a N);

impl Drop for Reads<'_> {
    fn drop(&mut self) {
        log(format_args!("read {}", self.0.0));
    }
}

#[task]
async fn holds(lent: &N, never: &finespun::sync::Semaphore) {
    let _reads = Reads(lent);
    drop(never.acquire().await);
}

#[task(stack)]
async fn lends(k: u64, never: &finespun::sync::Semaphore) -> std::ops::ControlFlow<()> {
    if k == 2 {
        finespun::prelude::yield_now().await;
        return std::ops::ControlFlow::Break(());
    }
    let lent = N(k);
    holds(&lent, never).await;
    drop(lent);
    std::ops::ControlFlow::Continue(())
}

#[task]
async fn ended(never: &finespun::sync::Semaphore) {
    let _ = finespun::group::parfor(0..3, |k: u64| lends(k, never)).await;
}

/// A local that a callee has borrowed lives until the callee has been destroyed.
#[test]
fn cells_outlive_cancelled_callees() {
    let _alone = crate::ONE_AT_A_TIME.lock().unwrap_or_else(|e| e.into_inner());
    for (workers, every) in [(1, 0), (1, 1), (1, 2), (2, 0), (2, 3)] {
        let runtime = Runtime::builder().workers(workers).block_every(every).build().unwrap();
        let never = finespun::sync::Semaphore::new(0);
        logs();
        runtime.run(ended(&never));
        let log = logs();
        for k in [0, 1] {
            let read = log.iter().position(|line| *line == format!("read {k}"));
            let dropped = log.iter().position(|line| *line == format!("drop {k}"));
            assert!(read < dropped || dropped.is_none(), "{workers}, {every}: {log:?}");
            assert_eq!(read.is_some(), dropped.is_some(), "{workers}, {every}: {log:?}");
        }
        assert_eq!(runtime.close(), 0);
    }
}
