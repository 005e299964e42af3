//! Fragments of `macro_rules!` in every syntactic place.

use super::kit::*;
use crate::harness::*;

macro_rules! only_tt { ($x:tt) => { 1u64 }; ($($x:tt)*) => { 2u64 }; }
macro_rules! kind { ($l:literal) => { "literal" }; ($i:ident) => { "ident" }; ($($t:tt)*) => { "other" }; }
macro_rules! munch { () => { 0u64 }; (add $e:tt $($r:tt)*) => { $e as u64 + munch!($($r)*) }; }
struct Grid { cells: Vec<u64>, d: D }
impl std::ops::Index<std::ops::Range<usize>> for Grid { type Output = [u64]; fn index(&self, r: std::ops::Range<usize>) -> &[u64] { &self.cells[r] } }

macro_rules! post { ([$($a:tt)*] $name:ident $e:expr, $o:expr, $t:expr, $i:expr) => { $($a)* pub async fn $name() -> Option<u64> { let g = d("g"); let n = $e.pow(2); wait().await; let k = $o?; let f = $t.0; let b = [10u64, 20, 30][$i]; wait().await; let c = $e as u8 as u64; log(g.name()); Some(n + k + f + b + c + leaf($e).await.pow(1)) } }; }
macro_rules! ranges { ([$($a:tt)*] $name:ident $r:expr, $s:expr, $e:expr) => { $($a)* pub async fn $name() -> u64 { let v = vec![1u64, 2, 3, 4, 5]; let mut t = 0; for i in $r { t += v[i]; wait().await; } for i in $s..$e { t += v[i]; } let w = &v[$s..$e + 1]; for i in ($r).rev() { t += leaf(i as u64).await; } t += v[..$e].len() as u64 + v[$s..].len() as u64; let z = $r.len(); wait().await; t + w.len() as u64 + z as u64 } }; }
macro_rules! conds { ([$($a:tt)*] $name:ident $c:expr, $o:expr, $s:expr) => { $($a)* pub async fn $name() -> u64 { let mut t = 0; if $c && leaf(true).await { t += 1 } if !$c { t += 10 } else { wait().await } while $c { t += 2; wait().await; if t > 3 { break } } if let Some(x) = $o && $c { t += leaf(x).await } match $s { P { n, k } if $c => { wait().await; t += n + k } P { n, .. } => t += n * 100 } if $s == (P { n: 1, k: 2 }) { t += 1000 } if let P { n: 1, .. } = $s { wait().await; log("then") } t } }; }
macro_rules! refs { ([$($a:tt)*] $name:ident $x:expr, $y:expr, $v:expr) => { $($a)* pub async fn $name() -> u64 { let a = &$x; let b = &mut $y; *b += 1; wait().await; let n = a.len() as u64 + *b; let c = *$v; let e = -*$v; wait().await; let f = &*$x; n + c as u64 + (e + 100) as u64 + f.len() as u64 } }; }
macro_rules! assigns { ([$($a:tt)*] $name:ident $i:ident, $l:expr, $r:expr, $op:tt) => { $($a)* pub async fn $name() -> u64 { let mut $i = (1u64, [2u64, 3], d("d")); $l = $r; wait().await; $l += $r; $l $op $r; log($l); wait().await; $i.0 + $i.1[0] + $i.1[1] } }; }
macro_rules! calls { ([$($a:tt)*] $name:ident $f:expr, $h:expr, $m:ident, $p:path, $($arg:expr),*) => { $($a)* pub async fn $name() -> u64 { let g = d("g"); let n = $f($($arg),*); wait().await; let m = ($h)(leaf(n).await); let k = g.$m(); let o = $p(leaf(k).await); wait().await; n + m + o.unwrap_or(0) } }; }
macro_rules! paths { ([$($a:tt)*] $name:ident $s:ident, $v:path, $w:path, $t:ty) => { $($a)* pub async fn $name() -> u64 { let x = $s { n: leaf(1).await, k: 2 }; let $s { n, .. } = x; wait().await; let e = $v(n); let r = match e { $v(n) => leaf(n).await, $w => 0, _ => 5 }; let y: $t = $s { n: 4, k: leaf(5).await }; let z = <$t as PartialEq<$t>>::eq(&x, &y); wait().await; let q = |$s { n, k }: $t| n + k; r + y.n + z as u64 + q(y) } }; }
macro_rules! metas { ([$($a:tt)*] $name:ident $m:meta, $k:meta) => { $($a)* #[$k] pub async fn $name(#[$m] gone: Nope) -> u64 { #[$m] return 3; let a = d("a"); #[$m] { eat(a); return 4 } #[$k] let b = leaf(d("b")).await; match leaf(1).await { #[$m] 1 => return 9, #[$k] 1 => wait().await, _ => {} } let p = P { n: 1, #[$k] k: 2, #[$m] z: 3 }; wait().await; a.len() + p.n } }; }
macro_rules! items { ([$($a:tt)*] $name:ident $($i:item)*) => { $($a)* pub async fn $name() -> u64 { let a = d("a"); $($i)* let t = Thing { d: leaf(d("t")).await }; wait().await; helper(t.get() + K) + a.len() } }; }
macro_rules! alts { ([$($a:tt)*] $name:ident $x:ident, $e:expr, $p:pat, $q:pat, $r:pat) => { $($a)* pub async fn $name() -> u64 { let mut t = 0; for i in 0..4u64 { t += match leaf(i).await { x @ $p => { wait().await; x } $q => 20, _ => 1 }; match &i { &$p => log("ref"), _ => wait().await } match (i, Some(i)) { ($p, Some($q | $p)) => log("both"), (n, Some(m @ $q)) => { wait().await; log(m) } _ => {} } } let f = |$r: Cp| leaf_of($x); t + f($e) } }; }
fn leaf_of(n: u64) -> u64 { n }
macro_rules! awaits { ([$($a:tt)*] $name:ident $f:expr, $g:expr, $c:expr) => { $($a)* pub async fn $name() -> Result<u64, D> { let a = d("a"); let n = $f.await; let m = $g.await?; wait().await; let k = { $c.await }; let z = match $g.await { Ok(x) => x, Err(e) => return Err(e) }; Ok($f.await + m + k * n + z) } }; }
macro_rules! strs { ([$($a:tt)*] $name:ident $e:expr, $f:expr, $l:literal, $t:ty) => { $($a)* pub async fn $name() -> String { let a = d("a"); log(stringify!($e)); log(stringify!($f)); let s = format!("{} {} {} {}", stringify!($e * 2), $e, stringify!($t), stringify!($f)); wait().await; let k = concat!(stringify!($f), $l); log(k); s + kind!($l) + kind!($e) + &leaf($l).await.to_string() } }; }
macro_rules! asserts { ([$($a:tt)*] $name:ident $x:expr, $y:expr) => { $($a)* pub async fn $name() -> u64 { let a = d("a"); wait().await; assert!($x == $y); wait().await; 1 } }; }
macro_rules! tts { ([$($a:tt)*] $name:ident $e:expr, $l:literal) => { $($a)* pub async fn $name() -> u64 { let a = only_tt!($e); wait().await; let b = only_tt!($l); let c = munch!(add $e add $l); wait().await; a * 100 + b * 10 + c } }; }
macro_rules! stmts { ([$($a:tt)*] $name:ident $s:stmt, $t:stmt) => { $($a)* pub async fn $name() -> u64 { let g = d("g"); $s; wait().await; $t; { $t; } wait().await; g.len() } }; }
macro_rules! all {
    ($($t:tt)*) => {
        post! { [$($t)*] v_post_sum 1u64 + 2, if true { Some(1u64) } else { None }, { (5u64, 6) }, 0 + 1 }
        post! { [$($t)*] v_post_block { 3u64 }, match 3 { 3 => Some(4u64), _ => None }, (7u64, d("t")), if true { 2 } else { 0 } }
        post! { [$($t)*] v_post_await leaf(2u64).await, leaf(Some(2u64)).await, leaf((3u64, 1)).await, leaf(1usize).await }
        post! { [$($t)*] v_post_question Some(2u64)?, loop { break Some(3u64) }, unsafe { (3u64, 1) }, 1 }
        post! { [$($t)*] v_post_none 300u64 as u64 + 1, None::<u64>, (3u64, 1), 1 }
        post! { [$($t)*] v_post_label 'a: { if true { break 'a 4u64 } 5u64 }, { let t = d("t"); t.some() }, (|| (1u64, 2))(), const { 1 } }
        ranges! { [$($t)*] v_ranges 1..4, 1, 3 }
        ranges! { [$($t)*] v_ranges_sums 1 + 0..2 + 1, 0 + 1, 2 + 1 }
        ranges! { [$($t)*] v_ranges_await (leaf(1).await..3), leaf(1).await, leaf(2).await + 1 }
        conds! { [$($t)*] v_conds 1 < 2 || false, Some(3u64), P { n: 1, k: 2 } }
        conds! { [$($t)*] v_conds_await leaf(true).await && true, leaf(Some(3u64)).await, leaf(P { n: 1, k: 2 }).await }
        conds! { [$($t)*] v_conds_if if true { true } else { false }, if true { Some(1u64) } else { None }, { p(1, 2) } }
        refs! { [$($t)*] v_refs vec![1u64, 2], 1 + 2, &3i64 }
        refs! { [$($t)*] v_refs_block { vec![1u64] }, { 4 }, if true { &3i64 } else { &4 } }
        refs! { [$($t)*] v_refs_await leaf(vec![1u64]).await, leaf(4).await, &leaf(3i64).await }
        assigns! { [$($t)*] v_assigns t, t.0, 2 + 3, *= }
        assigns! { [$($t)*] v_assigns_index t, t.1[1], leaf(2).await + 1, -= }
        assigns! { [$($t)*] v_assigns_deref t, *&mut t.0, if true { 4 } else { leaf(2).await }, |= }
        calls! { [$($t)*] v_calls |a: u64, b: u64| a * b, |x| x + 1, len, Some, 1 + 2, leaf(4).await }
        calls! { [$($t)*] v_calls_paths u64::max, u64::count_ones_of, len, Option::Some, 1, 2 + 3 }
        calls! { [$($t)*] v_calls_move move |a| a, { leaf_of }, len, std::option::Option::<u64>::Some, d("t").len() }
        paths! { [$($t)*] v_paths P, Sig::On, Sig::Off, P }
        metas! { [$($t)*] v_metas cfg(any()), cfg(all()) }
        //metas! { [$($t)*] v_metas_nested cfg_attr(all(), cfg(any())), allow(unused) }
        items! { [$($t)*] v_items struct Thing { d: D } impl Thing { fn get(&self) -> u64 { self.d.len() } } const K: u64 = 1 + 1; fn helper(n: u64) -> u64 { n * 2 } }
        alts! { [$($t)*] v_alts x, Cp { x: 1, y: 2 }, 1 | 2, 3, Cp { x, .. } }
        alts! { [$($t)*] v_alts_ranges x, Cp { x: 1, y: 2 }, 0..=1, 2.., Cp { y: x, x: _ } }
        awaits! { [$($t)*] v_awaits leaf(1u64), leaf(Ok::<u64, D>(2)), if true { leaf(3u64) } else { leaf(4u64) } }
        awaits! { [$($t)*] v_awaits_blocks { leaf(d("t").len()) }, { let k = d("k"); leaf(Ok::<u64, D>(k.len())) }, match 3 { 3 => leaf(3u64), _ => leaf(4u64) } }
        strs! { [$($t)*] v_strs 1 + 2, a.len(), "lit", Vec<u8> }
        strs! { [$($t)*] v_strs_more { 3 }, &a as &D, -5, dyn Fn(u8) -> u8 + Send }
        asserts! { [$($t)*] v_asserts 1 + 2, 4 }
        asserts! { [$($t)*] v_asserts_await leaf(1).await + 2, 4 }
        asserts! { [$($t)*] v_asserts_call leaf_of(1), if true { 2 } else { 3 } }
        tts! { [$($t)*] v_tts 1 + 2, 5 }
        tts! { [$($t)*] v_tts_call leaf_of(3), 6 }
        stmts! { [$($t)*] v_stmts let x = d("x"), let y = leaf(d("y")).await }
        stmts! { [$($t)*] v_stmts_more if leaf(true).await { wait().await } else { log("no") }, for x in [N(1), N(2)] { wait().await; log(x.0) } }
        stmts! { [$($t)*] v_stmts_expr eat(d("e")), struct Inner { n: u64 } }
    };
}
trait Ones { fn count_ones_of(self) -> u64; } impl Ones for u64 { fn count_ones_of(self) -> u64 { self.count_ones() as u64 } }
written!(all: v_post_sum, v_post_block, v_post_await, v_post_question, v_post_none, v_post_label, v_ranges, v_ranges_sums, v_ranges_await, v_conds, v_conds_await, v_conds_if, v_refs, v_refs_block, v_refs_await, v_assigns, v_assigns_index, v_assigns_deref, v_calls, v_calls_paths, v_calls_move, v_paths, v_metas,  v_items, v_alts, v_alts_ranges, v_awaits, v_awaits_blocks, v_strs, v_strs_more, v_asserts, v_asserts_await, v_asserts_call, v_tts, v_tts_call, v_stmts, v_stmts_more, v_stmts_expr);
