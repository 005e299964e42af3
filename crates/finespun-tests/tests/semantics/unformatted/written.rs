//! Bodies written by users' macros, with fragments of every kind in every place; format and assertion macros with
//! awaits.

use super::kit::*;
use crate::harness::*;

/// Whole functions in all versions, written by a macro.

mod whole {
    use super::*;
    macro_rules! body_block { ([$($a:tt)*] $name:ident $ret:ty, $b:block) => { $($a)* pub async fn $name() -> $ret $b }; }
    macro_rules! body_stmts { ([$($a:tt)*] $name:ident $ret:ty; { $($s:stmt;)* } $e:expr) => { $($a)* pub async fn $name() -> $ret { $($s;)* $e } }; }
    macro_rules! body_tts { ([$($a:tt)*] $name:ident $($b:tt)*) => { $($a)* pub async fn $name() -> u64 { $($b)* } }; }
    macro_rules! body_expr { ([$($a:tt)*] $name:ident $e:expr) => { $($a)* pub async fn $name() -> u64 { $e } }; }
    macro_rules! body_item { ([$($a:tt)*] $i:item) => { $($a)* $i }; }
    macro_rules! body_vis { ([$($a:tt)*] $v:vis $name:ident $m:literal) => { $($a)* #[doc = $m] $v async fn $name() -> u64 { let x = d($m); wait().await; x.len() } }; }
    macro_rules! blocks { ([$($a:tt)*] $name:ident $a1:block $b1:block) => { $($a)* pub async fn $name() -> u64 { let g = d("g"); let x = $a1; if leaf(x > 1).await $b1 else { log("else") } wait().await; let y = loop { break $a1 }; { $b1 } x + y } }; }
    macro_rules! lifetimes { ([$($a:tt)*] $name:ident $l:lifetime $m:lifetime) => { $($a)* pub async fn $name() -> u64 { let mut t = 0; $l: for x in vec![N(1), N(2), N(3)] { let r = $m: { let k = d("k"); wait().await; if x.0 == 2 { continue $l } if t > 3 { break $l } break $m leaf(x.0 + k.len()).await }; t += r + 2; } t } }; }
    macro_rules! pats { ([$($a:tt)*] $name:ident $p:pat, $q:pat_param, $e:expr, $n:ident) => { $($a)* pub async fn $name() -> u64 { let g = d("g"); let r = match leaf($e).await { $q if g.yes() => { wait().await; $n } $p => 1 }; if let $q = $e { wait().await; log("if"); } let mut v = vec![$e, $e]; while let Some($q) = v.pop() { wait().await; log($n); } for x in [$e] { let $q = x else { log("no"); continue }; wait().await; } let f = |y| { let $q = y else { return 7 }; $n }; wait().await; f($e) + r } }; }
    macro_rules! tys { ([$($a:tt)*] $name:ident $t:ty, $u:ty, $v:path, $e:expr) => { $($a)* pub async fn $name() -> u64 { let x: $t = $e; wait().await; let y: Option<&$t> = Some(&x); let z = <$t>::default(); let w = <$u as From<$t>>::from(z); let k = $v(leaf(w).await as u64); wait().await; y.map_or(0, |y| *y as u64) + k.map_or(0, |x| x) } }; }
    macro_rules! literals { ([$($a:tt)*] $name:ident $l:literal $m:literal $s:literal) => { $($a)* pub async fn $name() -> u64 { let x = d($s); let n = match leaf($l).await { $l => $m, _ => 0 }; log(concat!($s, "-", $m)); log(format!($s)); let a = [0u8; $m]; wait().await; (n as u64) + a.len() as u64 + match -3i64 { -3 => 1, $l..=9 => 2, _ => 3 } } }; }
    macro_rules! idents { ([$($a:tt)*] $name:ident $x:ident $ty:ident $f:ident $v:ident) => { $($a)* pub async fn $name() -> u64 { #[derive(Debug)] struct $ty { $f: D, $x: u64 } enum E { $v(u64) } let $x = leaf(3).await; let s = $ty { $f: d(stringify!($f)), $x }; wait().await; let $ty { $f, $x } = s; let E::$v(k) = E::$v($x); wait().await; $f.$f() + k } }; }
    trait Ff { fn ff(&self) -> u64; } impl Ff for D { fn ff(&self) -> u64 { self.len() } }
    macro_rules! repeat { ([$($a:tt)*] $name:ident $($x:ident = $e:expr),+) => { $($a)* pub async fn $name() -> u64 { $(let $x = $e;)+ wait().await; let s = 0 $(+ $x.len())+; let ($($x,)+) = ($(leaf($x).await,)+); log("t"); wait().await; s $(+ { let y = $x; y.len() })+ } }; }
    macro_rules! nested_def { ([$($a:tt)*] $name:ident $d:tt) => { $($a)* pub async fn $name() -> u64 { macro_rules! add { ($d($d e:expr),*) => { 0 $d(+ $d e)* } } let x = d("x"); let n = leaf(add!(1, 2, x.len())).await; wait().await; add!(n, n * 2) } }; }
    macro_rules! all {
        ($($t:tt)*) => {
            body_block! { [$($t)*] w_block u64, { let a = d("a"); wait().await; return leaf(a.len()).await } }
            body_stmts! { [$($t)*] w_stmts Result<u64, D>; { let a = d("a"); let b = leaf(a.len()).await; if b == 2 { return Err(a) }; wait().await; drop(a); } Ok(leaf(b).await) }
            body_tts! { [$($t)*] w_tts let a = d("a"); for x in [N(1), N(2)] { if x.0 == 2 { return leaf(a.len()).await } wait().await } 0 }
            body_expr! { [$($t)*] w_expr_if if leaf(true).await { let a = d("a"); leaf(a.len()).await } else { 0 } }
            body_expr! { [$($t)*] w_expr_return return leaf(d("a").len()).await }
            body_expr! { [$($t)*] w_expr_match match leaf(d("t")).await.some() { Some(n) => { wait().await; n } None => 0 } }
            body_expr! { [$($t)*] w_expr_sum d("a").len() + leaf(1).await * d("b").len() }
            body_expr! { [$($t)*] w_expr_block { let a = d("a"); wait().await; a.len() } }
            body_expr! { [$($t)*] w_expr_loop loop { let a = d("a"); break leaf(a.len()).await } }
            body_expr! { [$($t)*] w_expr_cast leaf(300u32).await as u8 as u64 }
            body_item! { [$($t)*] pub async fn w_item() -> u64 { let a = d("a"); wait().await; a.len() } }
            body_vis! { [$($t)*] pub w_vis "text" }
            blocks! { [$($t)*] w_blocks { let a = d("a"); wait().await; a.len() + 1 } { let b = d("b"); wait().await; log("b"); } }
            lifetimes! { [$($t)*] w_lifetimes 'a 'b }
            pats! { [$($t)*] w_pats _, Some(n), leaf(Some(3u64)).await, n }
            pats! { [$($t)*] w_pats_or None | Some(0..=2 | 3..), Some(n @ 3..), Some(3u64), n }
            pats! { [$($t)*] w_pats_enum _, Sig::Both { a: 1, b: n }, two(1, 2), n }
            tys! { [$($t)*] w_tys u8, u32, Some, 3 }
            literals! { [$($t)*] w_literals 5 6 "lit" }
            literals! { [$($t)*] w_literals_negative -5 6 "lit" }
            idents! { [$($t)*] w_idents x Ty ff V }
            repeat! { [$($t)*] w_repeat a = d("a"), b = leaf(d("bb")).await, c = d("c") }
            nested_def! { [$($t)*] w_nested_def $ }
        };
    }
    written!(all: w_block, w_stmts, w_tts, w_expr_if, w_expr_return, w_expr_match, w_expr_sum, w_expr_block, w_expr_loop, w_expr_cast, w_item, w_vis, w_blocks, w_lifetimes, w_pats, w_pats_or, w_pats_enum, w_tys, w_literals, w_literals_negative, w_idents, w_repeat, w_nested_def);
}

mod clean {
    use super::*;
    macro_rules! own_local { ([$($a:tt)*] $name:ident $e:expr, $s:stmt) => { $($a)* pub async fn $name() -> u64 { let x = d("macro's"); $s; wait().await; let y = $e; log(x.name()); wait().await; y } }; }
    macro_rules! shadowed { ([$($a:tt)*] $name:ident $x:ident, $e:expr) => { $($a)* pub async fn $name() -> u64 { let x = d("own"); let $x = leaf(d("caller's")).await; let x2 = x; let x = N(5); wait().await; let r = $e + x.0; eat($x); wait().await; log(x2.name()); r } }; }
    macro_rules! loops { ([$($a:tt)*] $name:ident $i:ident, $b:block) => { $($a)* pub async fn $name() -> u64 { let mut t = 0; for i in 0..2u64 { for $i in 10..12u64 { let n: u64 = $b; t += n + i; wait().await; } } t } }; }
    macro_rules! all {
        ($($t:tt)*) => {
            own_local! { [$($t)*] h_own x, let x = leaf(4u64).await }
            own_local! { [$($t)*] h_own_block { let x = d("inner"); wait().await; x.len() }, let z = 1 }
            own_local! { [$($t)*] h_own_closure (|x: u64| x * 2)(leaf(3).await), let x = 1u64 }
            shadowed! { [$($t)*] h_shadow x, x.len() }
            loops! { [$($t)*] h_loops i, { if i == 11 { continue } leaf(i).await } }
        };
    }
    written!(all: h_own, h_own_block, h_own_closure, h_shadow, h_loops);

}

mod inside {
    use super::*;
    macro_rules! twice { ($e:expr) => {{ let t = $e; let u = $e; log("twice"); (t, u) }}; }
    macro_rules! swap { ($a:ident, $b:ident) => { let t = $a; let $a = $b; let $b = t; }; }
    macro_rules! take { ($a:ident) => { { let tmp = $a; eat(tmp) } }; }
    macro_rules! bail { ($e:expr) => { return $e.into() }; }
    macro_rules! ensure { ($c:expr, $e:expr) => { if !$c { return Err($e) } }; }
    macro_rules! or_continue { ($e:expr) => { match $e { Some(x) => x, None => continue } }; }
    macro_rules! sum { () => { 0 }; ($h:expr $(, $t:expr)*) => { $h + sum!($($t),*) }; }
    macro_rules! chain { ($o:expr => $($m:ident),*) => { $o$(.$m())* }; }
    corpus! {
        fn m_twice_block() -> u64 { let x = d("x"); let (a, b) = twice!(d("e")); wait().await; let (c, e) = twice!(x.len()); wait().await; log("end"); a.len() + c + e } with ();
        fn m_swap() -> u64 { let a = d("a"); let b = d("bb"); swap!(a, b); wait().await; eat(a); wait().await; b.len() } with ();
        fn m_take() -> u64 { let a = d("a"); let tmp = d("tmp"); wait().await; take!(a); wait().await; log("end"); tmp.len() } with ();
        fn m_bail(n: u8) -> u64 { let a = d("a"); if leaf(n).await == 3 { let b = d("b"); bail!(n) } wait().await; 0 } with (3);
        fn m_ensure(n: u64) -> Result<u64, D> { let a = d("a"); ensure!(n > 0, d("zero")); wait().await; ensure!(n > 5, a); wait().await; Ok(n) } with (3);
        fn m_or_continue() -> u64 { let mut t = 0; for x in vec![Some(N(1)), None, Some(N(3))] { let y = or_continue!(x); wait().await; t += y.0; log("turn"); } t } with ();
        fn m_sum() -> u64 { let a = leaf(1).await; let b = d("b"); let n = sum!(a, b.len(), 3); wait().await; n } with ();
        fn m_chain() -> u64 { let a = d("a"); let n = chain!(a => some, unwrap); wait().await; let k = leaf(3u64).await; let m = chain!(k => clone, count_ones) as u64; n + m } with ();
        fn m_local_macro_statement() -> u64 { macro_rules! guard { ($n:ident) => { let $n = d(stringify!($n)); let _hidden = d("hidden"); }; } guard!(a); wait().await; guard!(b); wait().await; log("end"); a.len() + b.len() } with ();
        fn m_local_macro_pattern() -> u64 { macro_rules! pt { ($x:ident) => { Cp { x: $x, .. } }; } let pt!(a) = leaf(Cp { x: 1, y: 2 }).await; wait().await; match (Cp { x: 3, y: 4 }) { pt!(b) if b > 5 => 0, pt!(b) => { wait().await; a + b } } } with ();
        fn m_local_macro_type() -> u64 { macro_rules! map { ($k:ty) => { std::collections::BTreeMap<$k, D> }; } let mut m: map!(u64) = Default::default(); m.insert(1, d("one")); wait().await; m.insert(1, leaf(d("two")).await); log("end"); m.len() as u64 } with ();
        fn m_local_macro_items() -> u64 { macro_rules! make { ($n:ident, $v:expr) => { struct $n(u64); impl $n { fn get(&self) -> u64 { self.0 + $v } } impl Drop for $n { fn drop(&mut self) { log(stringify!($n)) } } }; } make!(A, 1); make!(B, 2); let a = A(leaf(1).await); let b = B(2); wait().await; a.get() + b.get() } with ();
        fn q_format_captures() -> String { let a = d("a"); let n = 5u64; let w = 7usize; wait().await; let s = format!("{n:>w$}|{a:?}|{}|{x:.1$}", leaf(a.len()).await, 2, x = 1.5); wait().await; s } with ();
        fn q_format_temporaries() -> String { let s = format!("{:?} {} {:?}", d("t1"), leaf(2).await, d("t2")); wait().await; s } with ();
        fn q_format_awaited_values() -> String { let s = format!("{0:?} {1} {0:?} {name}", leaf(d("x")).await, leaf(d("y")).await.len(), name = leaf(3).await); log("made"); wait().await; s } with ();
        fn q_format_args_argument() -> String { fn show(a: std::fmt::Arguments<'_>, n: u64) -> String { log("show"); format!("{a}{n}") } let x = d("x"); let s = show(format_args!("{}-{:?}", x.name(), d("t")), 3); wait().await; s } with ();
        fn q_write_to_string() -> String { use std::fmt::Write; let mut s = String::new(); let a = d("a"); write!(s, "{}{}", a.name(), leaf(1).await).unwrap(); writeln!(&mut s, "{a:?}").unwrap(); wait().await; write!(&mut s, "{:?}", leaf(d("t")).await).unwrap(); s } with ();
        fn q_assert_passes() -> u64 { let a = d("a"); assert!(leaf(true).await, "{} {}", a.name(), d("never").len()); assert_eq!(leaf(a.len()).await, d("b").len(), "lengths"); assert_ne!(a, leaf(d("c")).await); debug_assert!(a.yes()); debug_assert_eq!(leaf(1).await, 1, "{a:?}"); wait().await; 1 } with ();
        fn q_assert_fails() -> u64 { let a = d("a"); let b = d("b"); wait().await; assert!(a.no(), "on purpose {} {:?}", leaf(b.len()).await, d("in message")); 1 } with ();
        fn q_assert_eq_fails() -> u64 { let a = d("a"); assert_eq!(leaf(2).await, d("left").len() * 3, "on purpose {}", { let k = d("k"); leaf(k.len()).await }); 1 } with ();
        fn q_panic_message() -> u64 { let a = d("a"); if leaf(true).await { panic!("on purpose {a:?} {}", leaf(3).await) } 1 } with ();
        fn q_panic_in_else() -> u64 { let a = d("a"); let Some(n) = a.none() else { let k = d("k"); panic!("on purpose {}", leaf(k).await.len()) }; n } with ();
        fn q_vec_repeat() -> u64 { let v = vec![leaf(2u64).await; 3]; let w = vec![d("a"), leaf(d("b")).await, d("c")]; wait().await; v.iter().sum::<u64>() + w.len() as u64 } with ();
        fn q_matches_await() -> u64 { let a = d("a"); let r = matches!(leaf(a.some()).await, Some(n) if n < d("g").len() + 1); wait().await; r as u64 } with ();
        fn q_dbg() -> u64 { let n = dbg!(leaf(1).await) + 1; let (a, b) = dbg!(leaf(2).await, n); wait().await; a + b } with ();
        fn q_unreachable(n: u64) -> u64 { let a = d("a"); match leaf(n).await { 0 => unreachable!("on purpose {}", n), 1 => todo!("never"), k => { wait().await; k + a.len() } } } with (2);
        fn q_let_else_macro() -> u64 { macro_rules! get { ($e:expr, $b:block) => { { let Some(x) = $e else $b; x } }; } let n = get!(d("t").some(), { return 3 }); wait().await; n } with ();
    }
}
