//! Fragments of `macro_rules!` with the same names as the macro's own, and in more places.

use super::kit::*;
use crate::harness::*;


macro_rules! params { ([$($a:tt)*] $name:ident $x:ident, $t:ident, $b:block) => { mod $name { use super::*; macro_rules! nothing { () => {} } $($a)* pub async fn inner<T: Send + From<u64>, $t: Send + Into<u64> + Copy>(x: T, $x: $t, mut n: D) -> (T, u64) { wait().await; let k: u64 = $x.into(); n = d("n2"); let m = $b; wait().await; (x, k + m + n.len()) } } $($a)* pub async fn $name() -> u64 { let (a, b) = $name::inner(3u64, 4u32, d("n")).await; a * 100 + b } }; }
macro_rules! labels { ([$($a:tt)*] $name:ident $l:lifetime, $x:ident, $e:expr, $b:block) => { $($a)* pub async fn $name() -> u64 { let mut t = 0; 'a: for x in vec![N(1), N(2), N(3)] { $l: for $x in vec![N(10), N(20)] { t += leaf($e).await; if $x.0 == 20 && x.0 == 2 { break 'a } if x.0 == 1 { wait().await; continue 'a } $b } log("turn"); } t } }; }
macro_rules! captures { ([$($a:tt)*] $name:ident $x:ident, $l:literal, $e:expr) => { $($a)* pub async fn $name() -> String { let x = d("macro"); let $x = leaf(d("caller")).await; wait().await; let s = format!("{x:?}") + &format!($l) + &format!("{x:?} {}", $e); wait().await; eat(x); s + &format!($l) } }; }
macro_rules! shorthand { ([$($a:tt)*] $name:ident $x:ident) => { $($a)* pub async fn $name() -> u64 { let x = 1; let $x = leaf(5u64).await; let y = 2; let a = Cp { $x, y }; let b = Cp { x, y }; wait().await; let Cp { $x, y: z } = b; wait().await; let Cp { x, .. } = a; $x * 100 + x * 10 + z } }; }
macro_rules! closure_names { ([$($a:tt)*] $name:ident $x:ident, $e:expr) => { $($a)* pub async fn $name() -> u64 { let x = d("x"); let $x = leaf(7u64).await; let f = |y: u64| $e + y + x.len(); let g = move |$x: u64| $e * 2; wait().await; let n = f(1) + g(3); match Some(5u64) { Some(x) if x + $e > 100 => 0, Some(x) => { wait().await; x + $e + n } None => 1 } } }; }
macro_rules! alternatives { ([$($a:tt)*] $name:ident $p:pat, $n:ident, $v:expr) => { $($a)* pub async fn $name() -> u64 { let mut t = 0; match leaf($v).await { $p => { wait().await; t += $n } _ => log("no") } let o = Some($v); match o { Some(whole @ ($p)) => { wait().await; t += $n + whole.x } _ => log("none") } if let ($p, 3) = ($v, 3) { t += leaf($n).await } match &$v { &($p) => { wait().await; t += $n } _ => {} } t } }; }
macro_rules! blocks2 { ([$($a:tt)*] $name:ident $b:block, $c:block) => { $($a)* pub async fn $name() -> u64 { let f = |x: u64| $c; let mut i = 0; let t = match leaf(2).await { 1 => $c 2 => { i += 1; $c } _ => 0 }; while i < 3 $b for _ in 0..2 $b loop $b; if leaf(true).await $b else if i > 100 $b else $b let n = $c; wait().await; f(n) + t + n } }; }
macro_rules! blocks3 { ([$($a:tt)*] $name:ident $i:ident, $b:block, $c:block) => { $($a)* pub async fn $name() -> u64 { let mut $i = 0u64; while $i < 3 $b for _ in 0..2 $b let t = match leaf(2).await { 1 => $c, 2 => $c, _ => 0 }; if leaf(true).await $b else $b; wait().await; $b; $c } }; }
macro_rules! nested_fn { ([$($a:tt)*] $name:ident $e:expr, $x:ident, $t:ty, $p:pat) => { $($a)* pub async fn $name() -> u64 { struct S { x: $t } impl S { fn get(&self) -> $t { let $x = self.x; $e } } fn free($p: $t) -> $t { let $x = 1; $e } let s = S { x: leaf(5).await }; wait().await; s.get() as u64 + free(3) as u64 } }; }
macro_rules! exprs_stmt { ([$($a:tt)*] $name:ident $e:expr, $f:expr, $g:expr) => { $($a)* pub async fn $name() -> u64 { let a = d("a"); $e; wait().await; $f; { $f; } if a.yes() { $e; } let r = { $f; $g }; let c = || $g; wait().await; r + c() } }; }
macro_rules! early { ([$($a:tt)*] $name:ident $e:expr, $c:expr) => { $($a)* pub async fn $name() -> u64 { let a = d("a"); if leaf($c).await { let b = d("b"); let n: u64 = $e; return n } wait().await; let m = match 1 { 2 => 3, _ => $e }; m } }; }
macro_rules! deep1 { ([$($a:tt)*] $name:ident $e:expr) => { deep2! { [$($a)*] $name $e, 2 * $e } }; }
macro_rules! deep2 { ([$($a:tt)*] $name:ident $e:expr, $f:expr) => { deep3! { [$($a)*] $name ($f) + $e, $e - 1, -$e as i64 } }; }
macro_rules! deep3 { ([$($a:tt)*] $name:ident $e:expr, $f:expr, $g:expr) => { $($a)* pub async fn $name() -> i64 { let a = d("a"); let n = leaf($e * $f).await; wait().await; n as i64 * 10 - $g * 2 } }; }
macro_rules! fields { ([$($a:tt)*] $name:ident $($f:ident: $t:ty = $e:expr),* ; $last:ident) => { $($a)* pub async fn $name() -> u64 { #[derive(Debug)] struct All { $($f: $t),* } let all = All { $($f: $e),* }; wait().await; let All { $(ref $f),* } = all; log(format!(concat!($("{", stringify!($f), ":?} "),*), $($f = $f),*)); wait().await; let All { $last, .. } = all; wait().await; let _ = $last; 3 } }; }
macro_rules! hash_entry { ([$($a:tt)*] $name:ident { $($k:expr => $v:expr),* $(,)? }) => { $($a)* pub async fn $name() -> u64 { let mut m = std::collections::BTreeMap::new(); $( m.insert($k, $v); )* wait().await; let n: usize = <[()]>::len(&[$(hash_entry!(@ $k)),*]); log(format!("{m:?}")); m.len() as u64 + n as u64 } }; (@ $e:expr) => { () }; }
macro_rules! self_made { ([$($a:tt)*] $name:ident $ty:ident, $m:ident, $b:block) => { pub mod $name { use super::*; pub struct $ty; $($a)* impl $ty { pub async fn $m(x: D) -> u64 $b pub async fn other(n: u64) -> u64 { leaf(n).await } } } $($a)* pub async fn $name() -> u64 { $name::$ty::$m(d("x")).await + $name::$ty::other(3).await } }; }
macro_rules! cmp { ([$($a:tt)*] $name:ident $x:expr, $op:tt, $y:expr, $t:ty) => { $($a)* pub async fn $name() -> u64 { let a = d("a"); let c = leaf(1u64).await $op ($x as $t); let e = ($x as $t) $op $y; if $x * 2 > 1 && 3 $op 5 { wait().await; log("yes") } let k = !(($x as $t) $op $y) as u64; wait().await; (c as u64) + (e as u64) * 10 + k * 100 } }; }
macro_rules! let_from { ([$($a:tt)*] $name:ident $p:pat = $e:expr, $r:expr) => { $($a)* pub async fn $name() -> u64 { let g = d("g"); let $p = $e; wait().await; let r = $r; log("r"); for $p in [$e, $e] { wait().await; log($r); } let n = 1; wait().await; r + n } }; }
macro_rules! hyg_join { ([$($a:tt)*] $name:ident $x:ident, $e:expr, $f:expr) => { $($a)* pub async fn $name() -> u64 { let x = 2; let $x = 3; let (a, b) = join!($e, $f); let ($x, x) = join!(leaf(x), leaf($x)); wait().await; a + b + $x * 100 + x * 1000 } }; }
macro_rules! all {
    ($($t:tt)*) => {
        params! { [$($t)*] u_params x, U, { wait().await; 5 } }
        labels! { [$($t)*] u_labels 'a, x, x.0 + 1, { if leaf(x.0).await == 10 { continue 'a } } }
        captures! { [$($t)*] u_captures x, "<{x:?}>", x.len() }
        shorthand! { [$($t)*] u_shorthand x }
        closure_names! { [$($t)*] u_closure_names x, x + 1 }
        alternatives! { [$($t)*] u_alternatives Cp { x: n @ 4.., y: 1 } | Cp { x: 3, y: n }, n, (Cp { x: 4, y: 1 }) }
        blocks3! { [$($t)*] u_blocks i, { let b = d("b"); i += leaf(b.len()).await; }, { let c = d("c"); wait().await; c.len() + 1 } }
        nested_fn! { [$($t)*] u_nested_fn x + 2, x, u32, _y }
        exprs_stmt! { [$($t)*] u_exprs_stmt if true { log("if") } else { log("else") }, { let t = d("t"); t.len() }, 1 + 2 }
        exprs_stmt! { [$($t)*] u_exprs_stmt_awaits if leaf(true).await { wait().await }, leaf(d("t")).await.len(), match 3 { 3 => 5, _ => 6 } }
        early! { [$($t)*] u_early return 5, true }
        early! { [$($t)*] u_early_await return leaf(d("r").len()).await, false }
        early! { [$($t)*] u_early_panic panic!("on purpose"), true }
        early! { [$($t)*] u_early_block { let k = d("k"); if k.yes() { return leaf(k.len()).await } 3 }, false }
        deep1! { [$($t)*] u_deep 1i64 + 2 }
        deep1! { [$($t)*] u_deep_await leaf(3i64).await - 1 }
        fields! { [$($t)*] u_fields a: D = d("a"), b: Vec<u64> = vec![leaf(1).await, 2], c: Option<&'static str> = Some("c"), e: [D; 1 + 1] = [d("e1"), leaf(d("e2")).await]; a }
        hash_entry! { [$($t)*] u_hash_entry { 1 + 1 => d("two"), 3 => leaf(d("three")).await, 2 => { let k = d("k"); wait().await; k }, } }
        self_made! { [$($t)*] u_self_made Made, make, { let y = d("y"); wait().await; y.len() + 4 } }
        cmp! { [$($t)*] u_cmp 1u8 + 1, <, 3, u64 }
        cmp! { [$($t)*] u_cmp_shift 1u64 << 1, >, if true { 3u64 } else { 4 }, u64 }
        let_from! { [$($t)*] u_let_from (a, Cp { x, .. }) = (leaf(1).await, Cp { x: 2, y: 3 }), a + x }
        let_from! { [$($t)*] u_let_from_ref &(ref a, b) = &(d("a"), 3u64), a.len() + b }
        hyg_join! { [$($t)*] u_hyg_join x, leaf(x + 1), now(x * 2) }
    };
}
written!(all: u_params, u_labels, u_captures, u_shorthand, u_closure_names, u_alternatives, u_blocks, u_nested_fn, u_exprs_stmt, u_exprs_stmt_awaits, u_early, u_early_await, u_early_panic, u_early_block, u_deep, u_deep_await, u_fields, u_hash_entry, u_self_made, u_cmp, u_cmp_shift, u_let_from, u_let_from_ref, u_hyg_join);
