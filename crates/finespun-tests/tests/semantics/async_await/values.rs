//! Values of unusual types across awaits: alignment, size, coercion, uninhabited; after `tests/ui/align`,
//! `tests/ui/coercion`, `tests/ui/never_type`, `tests/ui/numbers-arithmetic`, `tests/ui/zero-sized`.

use std::any::Any;
use std::fmt::{Debug, Display};

use crate::harness::*;

#[repr(align(64))]
#[derive(Debug)]
struct Wide(u8, D);

#[repr(align(4096))]
struct Page([u8; 4096]);

fn misaligned<T>(value: &T) -> usize {
    std::ptr::from_ref(value).addr() % align_of::<T>()
}

struct Panics(&'static str);

impl Drop for Panics {
    fn drop(&mut self) {
        log(format_args!("panic in {}", self.0));
        if !std::thread::panicking() {
            panic!("on purpose: drop {}", self.0);
        }
    }
}

corpus! {
    fn aligned_values() -> usize {
        let a = Wide(1, d("a"));
        let n = leaf(1u8).await;
        let b = leaf(Wide(n, d("b"))).await;
        let off = misaligned(&a) + misaligned(&b);
        let page = Page([7; 4096]);
        wait().await;
        off + misaligned(&page) + page.0[5] as usize + misaligned(&a)
    } with ();

    fn aligned_results_and_arguments(w: Wide) -> Wide {
        let off = misaligned(&w);
        let v = leaf(w).await;
        wait().await;
        Wide((off + misaligned(&v)) as u8, v.1)
    } with (Wide(1, D("w")));

    fn large_values() -> u64 {
        let big = [1u8; 10_000];
        wait().await;
        let sum: u64 = big.iter().map(|x| *x as u64).sum();
        let other = leaf([2u16; 2_000]).await;
        wait().await;
        sum + other[1_999] as u64
    } with ();

    fn huge_values() -> u64 {
        let big = [1u8; 100_000];
        wait().await;
        let sum: u64 = big.iter().map(|x| *x as u64).sum();
        let other = leaf([2u16; 20_000]).await;
        wait().await;
        sum + other[19_999] as u64
    } with ();

    fn coercions_in_annotated_lets() -> String {
        let x = d("x");
        let shown: &(dyn Debug + Sync) = &x;
        let boxed: Box<dyn Any + Send> = Box::new(leaf(d("boxed")).await);
        let slice: &[u64] = &[1, 2];
        let f: fn(u64) -> u64 = |n| n + 1;
        wait().await;
        let list: Vec<Box<dyn Display + Send>> = vec![Box::new(1), Box::new("a")];
        wait().await;
        let found = boxed.downcast_ref::<D>().map(|d| d.len());
        let texts: Vec<String> = list.iter().map(|x| x.to_string()).collect();
        wait().await;
        format!("{shown:?} {found:?} {slice:?} {} {texts:?}", f(1))
    } with ();

    fn zero_sized_values_with_destructors() -> usize {
        struct Zero;
        impl Drop for Zero {
            fn drop(&mut self) { log("zero"); }
        }
        let a = Zero;
        let list = [leaf(Zero).await, Zero];
        wait().await;
        log("waited");
        let b = (Zero, leaf(Zero).await).1;
        log("picked");
        wait().await;
        size_of_val(&list)
    } with ();

    fn numbers_of_all_widths() -> String {
        let a = leaf(u128::MAX).await;
        let b = leaf(f64::NAN).await;
        let c = leaf(-0.0f32).await;
        let e = leaf(i8::MIN).await;
        wait().await;
        let f = leaf((a, e, 'ß', false, ())).await;
        format!("{a} {b} {c:?} {f:?} {}", e.wrapping_neg())
    } with ();

    fn never_values(n: u64) -> u64 {
        let a = d("a");
        let x: u64 = if n > 5 { return 1 } else { leaf(n).await };
        let y = match x { 3 => leaf(4).await, _ => { let never: u64 = return 2; never } };
        let z: u64 = loop { if y == 4 { break y } };
        let (p, q) = (z, { if z > 100 { return 3 } z });
        leaf(p + q).await
    } with (3);

    fn statements_after_an_endless_wait() -> u64 {
        let a = d("a");
        'out: loop {
            loop {
                wait().await;
                if a.len() == 1 { break 'out; }
            }
        }
        log("out");
        leaf(1).await
    } with ();

    // panics in destructors drop the rest
    fn panic_in_a_destructor_at_the_end_of_a_block() -> u64 {
        let a = d("a");
        {
            let _p = Panics("block");
            let b = d("b");
            wait().await;
        }
        log("never");
        leaf(1).await
    } with ();

    fn panic_in_a_destructor_at_the_end_of_the_body() -> D {
        let a = d("a");
        let _p = Panics("body");
        let b = d("b");
        leaf(d("result")).await
    } with ();

    fn panic_in_a_destructor_of_an_overwritten_value() -> u64 {
        let a = d("a");
        let mut p = Panics("old");
        wait().await;
        p = leaf(Panics("new")).await;
        log("never");
        1
    } with ();

    fn panic_in_a_destructor_of_a_temporary() -> u64 {
        let a = d("a");
        leaf(Panics("statement")).await;
        log("never");
        leaf(1).await
    } with ();

    fn panic_in_a_destructor_of_an_item() -> u64 {
        let a = d("a");
        for p in [Panics("first"), Panics("second")] {
            wait().await;
            log("turn");
        }
        1
    } with ();

    fn panic_in_a_destructor_where_a_block_ends(n: u64) -> u64 {
        let a = d("a");
        if n > 1 { let b = d("b"); wait().await; { let p = Panics("inner"); wait().await; log("leaves") } log("never") }
        wait().await;
        log("never");
        a.len()
    } with (3);

    fn panic_in_a_destructor_where_a_loop_is_left_with_a_value(n: u64) -> u64 {
        let a = d("a");
        let x = 'out: loop {
            let b = d("b");
            for p in [Panics("first"), Panics("second")] {
                let c = d("c");
                wait().await;
                match n { 0 => continue 'out, 1 => break 'out d("value"), _ => log("turn") }
            }
            wait().await;
        };
        x.len()
    } with (1);

    fn panic_in_a_destructor_in_an_outer_loop(n: u64) -> u64 {
        let mut held = vec![d("x"), d("y"), d("z")];
        'out: while let Some(item) = held.pop() {
            let p = match n { 0 => None, _ => Some(Panics("p")) };
            let list = [d("l0"), d("l1")];
            for l in list { wait().await; if l.0 == "l1" { continue 'out } }
        }
        wait().await;
        2
    } with (1);

    fn panic_in_a_destructor_of_a_parameter(p: Panics, x: D) -> u64 {
        let y = d("y");
        wait().await;
        log("end");
        1
    } with (Panics("parameter"), D("x"));
}
