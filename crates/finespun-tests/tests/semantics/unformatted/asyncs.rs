//! Async closures and blocks as `foreign` futures.

use super::kit::*;
use crate::harness::*;
corpus! {
    fn z_async_closure() -> u64 { let k = d("k"); let f = async |n: u64| { log("in"); n + k.len() }; let a = foreign(f(leaf(2).await)).await; wait().await; let b = foreign(f(a)).await; log("end"); a + b } with ();
    fn z_async_move_closure() -> u64 { let k = d("k"); let f = async move |n: u64| n + k.len(); let a = foreign(f(2)).await; wait().await; foreign(f(a)).await + a } with ();
    fn z_async_block() -> u64 { let k = d("k"); let f = async { log("in"); let z = d("z"); k.len() }; wait().await; let a = foreign(f).await; log("end"); a } with ();
    fn z_async_block_question() -> Result<u64, D> { let k = d("k"); let r: Result<u64, D> = foreign(async { let e: Result<u64, D> = Err(d("e")); Ok(e? + 1) }).await; wait().await; r } with ();
    fn z_cfg_attr_local() -> u64 { let a = d("a"); #[cfg_attr(all(), cfg(any()))] return 4; wait().await; #[cfg_attr(all(), allow(unused))] let b = leaf(d("b")).await; wait().await; a.len() } with ();
}

mod shown {
    use super::*;
    macro_rules! all { ($($t:tt)*) => { brace! { [$($t)*] (y_brace three! {}) } assigned! { [$($t)*] (y_assigned x, x = leaf(4u64).await) } } }
    macro_rules! brace { ([$($a:tt)*] ($name:ident $e:expr)) => { $($a)* pub async fn $name() -> u64 { let a = d("a"); wait().await; let n = $e - 1; n } }; }
    macro_rules! assigned { ([$($a:tt)*] ($name:ident $x:ident, $e:expr)) => { $($a)* pub async fn $name() -> u64 { let mut $x = 1; wait().await; $e; let u = $e; let v = { $e }; let f = (|| ())(); let t = ($e, u); wait().await; $x } }; }
    macro_rules! paren { ((($($t:tt)*))) => { 1u64 }; (($e:expr)) => { 2u64 }; }
    macro_rules! three { () => { 3u64 }; }
    written!(all: y_brace, y_assigned);
}
