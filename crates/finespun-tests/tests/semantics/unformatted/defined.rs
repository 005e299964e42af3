//! Fragments of `macro_rules!` in signatures: macros that define functions, methods and traits.

use super::kit::*;
use crate::harness::*;


macro_rules! att { ([$($a:tt)*] $($i:tt)*) => { $($a)* $($i)* }; }
macro_rules! pat_params { ([$($a:tt)*] $name:ident ($($p:pat => $t:ty = $v:expr),*) -> $r:ty $b:block) => { pub mod $name { use super::*; $($a)* pub async fn inner($($p: $t),*) -> $r $b } $($a)* pub async fn $name() -> u64 { let g = d("outer"); let r = $name::inner($($v),*).await; log("back"); r.into() } }; }
macro_rules! typed { ([$($a:tt)*] $name:ident <$($l:lifetime),*; $($g:ident: $q:path),*> ($($x:ident: $t:ty = $v:expr),*) -> $r:ty where $w:ty: $wb:path; $b:block) => { pub mod $name { use super::*; $($a)* pub async fn inner<$($l,)* $($g: $q + Send + Sync),*>($($x: $t),*) -> $r where $w: $wb $b } $($a)* pub async fn $name() -> u64 { let g = d("outer"); let r = $name::inner($($v),*).await; log("back"); r as u64 } }; }
macro_rules! methods { ([$($a:tt)*] $name:ident $ty:ident { $($f:ident: $t:ty = $v:expr),* } $($m:ident($self:ident: $st:ty $(, $x:ident: $xt:ty)*) -> $r:ty $b:block)*; $($call:tt)*) => { pub mod $name { use super::*; pub struct $ty { $(pub $f: $t),* } $($a)* impl $ty { $(pub async fn $m($self: $st $(, $x: $xt)*) -> $r $b)* } } $($a)* pub async fn $name() -> u64 { use $name::*; let mut it = $ty { $($f: $v),* }; let r = it.$($call)*; log("back"); r } }; }
macro_rules! traits { ($a:tt $name:ident $tr:ident [$($sup:tt)*] $m:ident $b:block $($ty:ty = $e:expr),*) => { pub mod $name { use super::*; att! { $a pub trait $tr: $($sup)* { async fn $m(&self, n: u64) -> u64 $b async fn twice(&self) -> u64 { self.$m(1).await + self.$m(2).await } } } $(att! { $a impl $tr for $ty {} })* } att! { $a pub async fn $name() -> u64 { use $name::$tr; let g = d("outer"); let mut t = 0; $( { let x: $ty = $e; t += x.twice().await; log(stringify!($ty)); } )* t } } }; }
macro_rules! forward { ($a:tt $name:ident $($n:ident => $k:literal),*) => { pub mod $name { use super::*; $( att! { $a #[doc = concat!("Gives ", $k)] pub async fn $n(x: D) -> u64 { let y = x; wait().await; y.len() + $k } } )* } att! { $a pub async fn $name() -> u64 { let mut t = 0; $( t += $name::$n(d(stringify!($n))).await; )* let list = [$(stringify!($n)),*]; for n in list { t += match n { $(m if m == stringify!($n) => $name::$n(d("arm")).await,)* _ => 0 }; } t } } }; }
macro_rules! states { ([$($a:tt)*] $name:ident $e:ident { $($v:ident $(($x:ident: $t:ty))? => $b:expr),* $(,)? } $start:expr) => { pub mod $name { use super::*; #[derive(Debug)] pub enum $e { $($v $(($t))?),* } } $($a)* pub async fn $name() -> u64 { use $name::$e; let mut s = Some($start); let mut turns = 0; while let Some(now) = s { log(format!("{now:?}")); turns += 1; s = match now { $($e::$v $(($x))? => $b),* }; wait().await; } turns } }; }
macro_rules! select { ([$($a:tt)*] $name:ident $(if $c:expr => $l:lifetime $b:block)+ else $o:block) => { $($a)* pub async fn $name() -> u64 { let g = d("g"); let mut t = 0; $( t += $l: { if $c { break $l leaf(1).await } let n: u64 = $b; log(n); n }; )+ t + $o } }; }
macro_rules! all {
    ($($t:tt)*) => {
        pat_params! { [$($t)*] p_plain (mut n => D = d("n"), _ => D = d("wild"), (a, _) => (D, D) = (d("a"), d("b"))) -> u64 { wait().await; n = d("n2"); log("body"); n.len() + a.len() } }
        pat_params! { [$($t)*] p_struct (P { n, .. } => P = p(1, 2), G((x, ref y), _) => G<(u64, u64)> = g((3, 4), 5), [a, ..] => [D; 2] = [d("a"), d("b")]) -> u64 { wait().await; n + x + *y + a.len() } }
        pat_params! { [$($t)*] p_refs (&n => &'static u64 = &3, ref r => D = d("r"), w @ Cp { x, .. } => Cp = Cp { x: 1, y: 2 }, (Ok(e) | Err(e)) => Result<u32, u32> = Err(leaf(4).await)) -> u64 { wait().await; n + r.len() + w.y + x + e as u64 } }
        pat_params! { [$($t)*] p_awaited (Part { id, d: x, .. } => Part = leaf(part(1)).await, _ => Part = part(2)) -> u32 { log("body"); wait().await; eat(x); wait().await; id as u32 } }
        typed! { [$($t)*] t_lifetimes <'a, 'b; T: std::fmt::Debug> (x: &'a T = &d("x"), y: &'b [u64] = &[1, leaf(2).await], f: fn(u64) -> u64 = |n| n + 1) -> u32 where &'a T: std::fmt::Debug; { log(format!("{x:?}")); let mut t = 0; for n in y { t += f(leaf(*n).await); } t as u32 } }
        typed! { [$($t)*] t_impls <; F: Fn(u64) -> u64> (f: F = |n| n * 2, g: impl Fn(u64) -> u64 + Send = move |n| n + 1, h: &(dyn Fn(u64) -> u64 + Send + Sync) = &|n| n + 3, b: Box<dyn FnOnce() -> D + Send> = Box::new(|| d("made"))) -> u64 where [u64; 1 + 1]: Sized; { let n = f(leaf(1).await); wait().await; g(n) + h(leaf(n).await) + b().len() } }
        methods! { [$($t)*] m_all Thing { d: D = d("thing"), n: u64 = leaf(1).await } bump(self: &mut Self, by: u64) -> &mut Self { self.n += leaf(by).await; self } name(self: &Self) -> String { wait().await; self.d.name().to_string() } finish(self: Self, other: D) -> u64 { let Self { n, .. } = self; wait().await; log("fin"); n + other.len() }; finish(d("other")).await }
        methods! { [$($t)*] m_chain Thing { d: D = d("thing"), n: u64 = 1 } bump(this: &mut Self, by: u64) -> u64 { wait().await; 0 }; n + 1 }
        traits! { [$($t)*] r_trait Run [Sync + Send + Len] run { let k = d("k"); wait().await; 5 + k.len() } D = d("x"), Vec<u64> = vec![leaf(1).await, 2], (u64, D) = (1, d("t")) }
        forward! { [$($t)*] f_all one => 1, two => 2 }
        states! { [$($t)*] s_all St { Begin => Some(St::Count(leaf(2).await)), Count(n: u64) => if n == 0 { Some(St::End(d("end"))) } else { wait().await; Some(St::Count(n - 1)) }, End(x: D) => { log(x.name()); None } } St::Begin }
        select! { [$($t)*] c_all if leaf(true).await => 'a { 3 } if g_no() || leaf(false).await => 'b { let k = d("k"); wait().await; k.len() } else { leaf(d("else").len()).await } }
    };
}
pub trait Len { fn l(&self) -> u64 { 3 } } impl Len for D {} impl Len for Vec<u64> {} impl Len for (u64, D) {}
fn g_no() -> bool { false }
written!(all: p_plain, p_struct, p_refs, p_awaited, t_lifetimes, t_impls, m_all, m_chain, r_trait, f_all, s_all, c_all);
