//! Fragments that end statements, or-patterns, blocks and macro calls with braces, and parameters that exist under
//! conditions.

#![deny(unused_parens)]

use super::kit::*;
use crate::harness::*;

macro_rules! three { () => { 3u64 }; }
macro_rules! stmts { ([$($a:tt)*] $name:ident $($s:stmt;)*) => { $($a)* pub async fn $name() -> u64 { $($s)* 3 } }; }
macro_rules! blocks { ([$($a:tt)*] $name:ident $b:block, $c:block) => { $($a)* pub async fn $name() -> u64 { $b wait().await; if leaf(true).await $b $c } }; }
macro_rules! arms { ([$($a:tt)*] $name:ident $b:block) => { $($a)* pub async fn $name() -> u64 { match leaf(2).await { 1 => $b 2 => $b _ => 0 } } }; }
macro_rules! first { ([$($a:tt)*] $name:ident $e:expr) => { $($a)* pub async fn $name() -> u64 { let a = d("a"); wait().await; $e - 1 } }; }
macro_rules! whole { ([$($a:tt)*] $name:ident $p:pat, $n:ident, $v:expr) => { $($a)* pub async fn $name() -> u64 { match Some($v) { Some(whole @ $p) => { wait().await; whole.x + $n } _ => 0 } } }; }
macro_rules! referred { ([$($a:tt)*] $name:ident $p:pat, $n:ident, $v:expr) => { $($a)* pub async fn $name() -> u64 { match &$v { &$p => { wait().await; $n } _ => 0 } } }; }
macro_rules! text { ([$($a:tt)*] $name:ident $e:expr) => { $($a)* pub async fn $name() -> String { let a = d("a"); let s = stringify!($e).to_string(); wait().await; s + stringify!($e * 2) } }; }
macro_rules! says { ([$($a:tt)*] $name:ident $x:expr, $y:expr) => { $($a)* pub async fn $name() -> u64 { let a = d("a"); wait().await; assert!($x == $y,); debug_assert!($x > $y, "more: {}", $x); 1 } }; }
macro_rules! gone { ([$($a:tt)*] $name:ident $m:meta) => { $($a)* pub async fn $name(#[cfg_attr(all(), $m)] gone: Nope, ) -> u64 { let a = d("a"); wait().await; a.len() } }; }
macro_rules! types { ([$($a:tt)*] $name:ident $t:ty, $p:pat) => { $($a)* pub async fn $name() -> u64 { let x: Option<Box<$t>> = None; wait().await; match leaf(1).await { $p => { wait().await; 4 } _ => x.is_none() as u64 } } }; }
macro_rules! all {
    ($($t:tt)*) => {
        stmts! { [$($t)*] f_stmts let a = d("a"); wait().await; let b = leaf(a.len()).await; log(b); eat(a); }
        stmts! { [$($t)*] f_stmts_more let Some(a) = Some(d("a")) else { return 4 }; log(a.len()); if leaf(true).await { wait().await }; struct S { n: u64 }; wait().await; let s = S { n: 2 }; log(s.n); return leaf(5).await; }
        blocks! { [$($t)*] f_blocks { let a = d("a"); wait().await; eat(a); }, { d("c").len() } }
        arms! { [$($t)*] f_arms { let a = d("a"); wait().await; a.len() } }
        first! { [$($t)*] f_first three! {} }
        whole! { [$($t)*] f_whole Cp { x: n @ 4.., y: 1 } | Cp { x: 3, y: n }, n, (Cp { x: 4, y: 1 }) }
        referred! { [$($t)*] f_referred Cp { x: n @ 4.., y: 1 } | Cp { x: 3, y: n }, n, (Cp { x: 3, y: 1 }) }
        text! { [$($t)*] f_text 1 + 2 }
        text! { [$($t)*] f_text_of_an_await leaf(3).await }
        says! { [$($t)*] f_says 1 + 2, 4 }
        says! { [$($t)*] f_says_more 1 + 2, 3 }
        gone! { [$($t)*] f_gone cfg(any()) }
        types! { [$($t)*] f_types dyn Send + Sync, 1 | 2 }
    };
}
written!(all: f_stmts, f_stmts_more, f_blocks, f_arms, f_first, f_whole, f_referred, f_text, f_text_of_an_await, f_says, f_says_more, f_gone, f_types);
