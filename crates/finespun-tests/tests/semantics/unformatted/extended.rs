//! Fragments that contain temporaries with destructors.

use crate::harness::*;
#[derive(Clone, Copy)] pub struct Cp { x: u64, y: u64 }
macro_rules! a1 { ([$($a:tt)*] $name:ident $b:block) => { $($a)* pub async fn $name() -> u64 { $b; wait().await; match leaf(2).await { 1 => $b, 2 => $b, _ => {} } 3 } }; }
macro_rules! a2 { ([$($a:tt)*] $name:ident $e:expr) => { $($a)* pub async fn $name() -> u64 { let c = $e; assert_eq!($e, 3, "on purpose {}", stringify!($e)); let s = stringify!($e).len(); s as u64 } }; }
macro_rules! a3 { ([$($a:tt)*] $name:ident $e:expr) => { $($a)* pub async fn $name() -> u64 { let x = d("x"); wait().await; let k = [$e; 2]; let z = $e; let f = |y: u64| y; log(std::any::type_name_of_val(&$e)); f($e) } }; }
macro_rules! a4 { ([$($a:tt)*] $name:ident $e:expr) => { $($a)* pub async fn $name() -> u64 { let x = d("x"); wait().await; let r = &$e; let s = &mut $e; wait().await; log("mid"); r.len() + s.len() } }; }
macro_rules! a5 { ([$($a:tt)*] $name:ident $e:expr, $f:expr) => { $($a)* pub async fn $name() -> u64 { let c = leaf(true).await; let r: &D = if c { $e } else { $f }; let n = match r { x if x.len() > 9 => 1, x => { wait().await; x.len() } }; log("mid"); let t = ($e, $f); wait().await; n + t.0.len() } }; }
macro_rules! a6 { ([$($a:tt)*] $name:ident $e:expr) => { $($a)* pub async fn $name() -> u64 { let n = $e.len() + leaf(1).await; log("mid"); match $e { ref x => { wait().await; log(x.name()) } } match $e.len() { k => { wait().await; log("arm"); n + k } } } }; }
macro_rules! a7 { ([$($a:tt)*] $name:ident $e:expr) => { $($a)* pub async fn $name() -> u64 { let _ = $e; log("one"); let _ = &$e; wait().await; log("two"); let _x = $e; $e; wait().await; { $e } ; { let y = d("y"); $e }; log("three"); 3 } }; }
macro_rules! a8 { ([$($a:tt)*] $name:ident $e:expr) => { $($a)* pub async fn $name() -> D { let y = d("y"); wait().await; $e } }; }
macro_rules! all { ($($t:tt)*) => {
 a1! { [$($t)*] a1b { let k = d("k"); wait().await; eat(k); } }
 a2! { [$($t)*] a2b 2 + 1 }
 a3! { [$($t)*] a3b 1 + 2 }
 a4! { [$($t)*] a4b d("e") } a4! { [$($t)*] a4c { let k = d("k"); d("blk") } } a4! { [$($t)*] a4d if leaf(true).await { d("then") } else { d("else") } } a4! { [$($t)*] a4e match 3 { 3 => leaf(d("m")).await, _ => D("no") } } a4! { [$($t)*] a4f (d("pair"), 1).0 }

 a6! { [$($t)*] a6b d("tmp") } a6! { [$($t)*] a6c { let z = d("z"); leaf(d("aw")).await } } a6! { [$($t)*] a6d leaf((d("q"), d("w"))).await.1 } a6! { [$($t)*] a6e if d("cond").yes() { d("t") } else { d("e") } }
 a7! { [$($t)*] a7b d("e") } a7! { [$($t)*] a7c leaf(d("aw")).await } a7! { [$($t)*] a7d if leaf(true).await { d("then") } else { d("else") } } a7! { [$($t)*] a7e { let z = d("z"); wait().await; z } }
 a8! { [$($t)*] a8b if d("cond").yes() { leaf(d("t")).await } else { d("e") } } a8! { [$($t)*] a8c match d("scrut").len() { 5 => { wait().await; d("five") } _ => d("no") } } a8! { [$($t)*] a8d { let i = d("i"); match i.some() { Some(_) => leaf(i).await, None => d("no") } } }
} }
written!(all: a1b, a2b, a3b, a4b, a4c, a4d, a4e, a4f, a6b, a6c, a6d, a6e, a7b, a7c, a7d, a7e, a8b, a8c, a8d);
