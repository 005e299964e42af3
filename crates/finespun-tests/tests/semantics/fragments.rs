//! Tasks written by `macro_rules!`: fragments keep their bindings, and a macro's own names stay separate.

use crate::harness::*;

/// Compiles the functions that a macro writes in all versions, and tests each function.
macro_rules! written {
    ($make:ident: $($name:ident),+) => {
        mod plainly { use crate::harness::plain::*; use crate::harness::*; $make! {} }
        mod pinned { use crate::harness::tasks::*; use crate::harness::*; use finespun::task; $make! { #[task(pinned)] } }
        mod chosen { use crate::harness::tasks::*; use crate::harness::*; use finespun::task; $make! { #[task] } }
        $(#[test]
        fn $name() {
            versions!(owned, plainly::$name(), pinned::$name(), chosen::$name());
        })+
    };
}

mod precedence {
    use crate::harness::*;

    macro_rules! operators {
        ([$($attr:tt)*] $name:ident $a:expr, $b:expr, $early:expr, $t:ty, $p:pat, $l:literal) => {
            $($attr)*
            pub async fn $name() -> u64 {
                let before = $early * 2;
                let product = $a * $b;
                wait().await;
                let boxed: Box<$t> = Box::new(7_u64);
                let borrowed: &($t) = &*boxed;
                log(borrowed.to_string());
                let matched = match 3 { $p => 100, _ => 0 };
                let shown = format!("{} {}", $a * 10, -$a);
                log(&shown);
                wait().await;
                let negative: i64 = $l.pow(2) + $a.pow(2);
                product as u64 + before + matched + negative as u64
            }
        };
    }
    macro_rules! all {
        ($($attr:tt)*) => {
            operators! { [$($attr)*] sums 1_i64 + 2, 2 + 5, leaf(1).await + 2, dyn std::fmt::Display + Send, 2 | 3, -2_i64 }
            operators! { [$($attr)*] blocks { 3_i64 }, if true { 1 } else { 2 }, { leaf(4).await }, dyn std::fmt::Display + Send, 0..=3, 5_i64 }
        };
    }
    written!(all: sums, blocks);
}

mod hygiene {
    use crate::harness::*;

    macro_rules! two_of_a_name {
        ([$($attr:tt)*] $name:ident, $x:ident, $e:expr) => {
            $($attr)*
            pub async fn $name() -> u64 {
                let $x = 3_u64;
                let x = leaf(10_u64).await;
                let y = $e + x;
                wait().await;
                $x * 100 + y
            }
        };
    }
    macro_rules! all {
        ($($attr:tt)*) => { two_of_a_name! { [$($attr)*] locals, x, x + 1 } };
    }
    written!(all: locals);
}
