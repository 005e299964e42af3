//! Code that must not be duplicated, text that names locals, guards that leave their match, and the order of
//! assignments.

use super::kit::*;
use crate::harness::*;

use std::borrow::Cow;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::SeqCst};

fn res(n: u64) -> Result<u64, String> {
    if n < 100 { Ok(n) } else { Err("large".to_string()) }
}

corpus! {
    // statics and types
    fn static_in_init() -> Vec<u64> { let mut v = vec![]; for i in 0..3 { let k = { static C: AtomicU64 = AtomicU64::new(0); C.fetch_add(1, SeqCst) }; v.push(leaf(k).await); } v.iter().map(|x| x.wrapping_sub(v[0])).collect() } with ();

    fn static_in_fn_in_init() -> Vec<u64> { let mut v = vec![]; for i in 0..3 { let k = { fn next() -> u64 { static C: AtomicU64 = AtomicU64::new(0); C.fetch_add(1, SeqCst) } next() }; v.push(leaf(k).await); } v.iter().map(|x| x.wrapping_sub(v[0])).collect() } with ();

    fn static_in_if() -> Vec<u64> { let mut v = vec![]; let mut i = 0; while i < 3 { if i % 1 == 0 { static C: AtomicU64 = AtomicU64::new(0); v.push(C.fetch_add(1, SeqCst)); } i += 1; wait().await; } v.iter().map(|x| x.wrapping_sub(v[0])).collect() } with ();

    fn static_in_arg() -> Vec<u64> { let mut v = vec![]; let mut i = 0; while i < 3 { v.push(leaf({ static C: AtomicU64 = AtomicU64::new(0); C.fetch_add(1, SeqCst) }).await); i += 1; } v.iter().map(|x| x.wrapping_sub(v[0])).collect() } with ();

    fn static_in_closure() -> Vec<u64> { let mut v = vec![]; for i in 0..3 { let k = (|| { static C: AtomicU64 = AtomicU64::new(0); C.fetch_add(1, SeqCst) })(); v.push(k); wait().await; } v.iter().map(|x| x.wrapping_sub(v[0])).collect() } with ();

    fn static_in_format() -> u64 { let mut v = vec![]; for i in 0..3 { v.push(format!("{}", { static C: AtomicU64 = AtomicU64::new(0); C.fetch_add(1, SeqCst) })); wait().await; } v[2].parse::<u64>().unwrap() - v[0].parse::<u64>().unwrap() } with ();

    fn static_last() -> u64 { let m = AtomicU64::new(0); for i in 0..3u64 { if i < 9 { static LAST: AtomicU64 = AtomicU64::new(0); if i == 0 { LAST.store(7, SeqCst); } m.fetch_add(LAST.swap(i, SeqCst), SeqCst); } wait().await; } m.into_inner() } with ();

    fn struct_in_loop() -> u64 { let mut t = 0; for i in 0..3u64 { let s = { struct S(u64, D); S(i, d("s")) }; wait().await; t += s.0; } t } with ();

    fn const_in_loop() -> u64 { let mut t = 0; for i in 0..3u64 { let s = { const STEP: u64 = 2; i * STEP }; t += leaf(s).await; } t } with ();

    fn self_in_item() -> u64 { struct S(u64); impl S { fn new() -> Self { S(4) } } wait().await; S::new().0 } with ();

    // text that names locals
    fn raw_ident_shadow() -> String { let r#type = 1u64; let r#type = r#type + 1; let s = format!("{type}"); wait().await; s + &r#type.to_string() } with ();

    fn raw_ident_await() -> String { let r#type = 1u64; let r#type = leaf(r#type + 1).await; let s = format!("{type:>4}"); wait().await; s } with ();

    fn raw_ident_inner() -> String { let r#match = 1u64; let s = { let r#match = 5u64; wait().await; format!("{match}") }; wait().await; format!("{s}{match}") } with ();

    fn raw_ident_arm() -> String { let r#fn = 1u64; match leaf(Some(3u64)).await { Some(r#fn) => { wait().await; format!("{fn} {}", r#fn) } None => format!("{fn}") } } with ();

    fn raw_ident_closure() -> String { let r#in = 1u64; let r#in = r#in + 1; let f = || format!("{in}"); let s = f(); wait().await; s } with ();

    fn raw_ident_panic() -> u64 { let r#type = 1u64; let r#type = r#type + 1; assert!(r#type == 1, "on purpose {type}"); wait().await; r#type } with ();

    fn raw_ident_param(r#type: u64) -> String { let s = { let r#type = r#type * 2; format!("{type}") }; let n = leaf(r#type).await; format!("{s} {n}") } with (4);

    fn fill_is_a_brace() -> String { let x = 1u64; let w = 2usize; let w = 5usize; let s = format!("{x:}>w$}|{x:>w$}|{{x}}|{x:?}"); wait().await; s } with ();

    fn assert_message() -> u64 { let x = leaf(3u64).await; let x = leaf(x + 1).await; assert!(x < 3); x } with ();

    fn assert_message_beside_await() -> u64 { let x = vec![1u64]; let x = leaf(x).await; assert!(x.len() > leaf(3).await && !x.is_empty()); 1 } with ();

    fn assert_message_of_closure() -> u64 { let x = 1u64; let x = [x, 2]; wait().await; assert!(x.iter().any(|x| *x > 5)); 1 } with ();

    fn assert_message_with_braces() -> u64 { let x = 1u64; let x = [x, 2]; wait().await; assert!(format!("{x:?}").is_empty(),); 1 } with ();

    fn names_like_ours() -> u64 { let __v0 = d("v0"); let __e0 = d("e0"); let __s0 = 1; let n = two(__v0.len(), two(leaf(1).await, leaf(2).await)); let __it0 = n; for i in 0..2 { eat(leaf(d("i")).await); } log("end"); match leaf(3u64).await { 3 => { wait().await; __it0 + __e0.len() + __s0 } n => n } } with ();

    // guards that leave
    fn guard_question(n: u64) -> Result<u64, String> { match n { k if res(k)? > 5 => Ok(1), k => { wait().await; Ok(k + res(9)?) } } } with (1);

    fn guard_question_leaves(n: u64) -> Result<u64, String> { let g = d("g"); match leaf(n).await { k if res(k)? > 5 => Ok(1), k => { wait().await; Ok(k) } } } with (200);

    fn guard_continue() -> u64 { let mut n = 0u64; let mut t = 0; while n < 6 { n += 1; match n { k if { if k == 3 { continue } k % 2 == 0 } => { t += leaf(k).await } k => { t += 100 * k; wait().await } } log(n); } t } with ();

    fn guard_continue_label() -> u64 { let mut t = 0; 'a: for n in 0..4u64 { let g = d("g"); for m in 0..3u64 { match m { k if { if k + n == 3 { continue 'a } k % 2 == 0 } => { t += leaf(k).await } k => { t += 100 * k; wait().await } } log(n * 10 + m); } } t } with ();

    fn guard_break() -> u64 { let mut n = 0u64; loop { match n { k if { if k > 3 { break } k % 2 == 0 } => n += leaf(1).await, _ => { n += 1; wait().await } } } n } with ();

    fn guard_break_label() -> u64 { let mut t = 0; 'a: for n in 0..4u64 { let g = d("g"); for m in 0..3u64 { match m { k if { if k + n == 3 { break 'a } k % 2 == 0 } => { t += leaf(k).await } k => { t += 100 * k; wait().await } } log(n * 10 + m); } } t } with ();

    fn guard_break_block() -> u64 { let mut t = 0; 'b: { wait().await; match t { k if { if k == 0 { break 'b } true } => { t += leaf(5u64).await } _ => wait().await } t += 50; } t } with ();

    fn guard_return(n: u64) -> () { let g = d("g"); match n { k if { if k == 3 { return } k > 5 } => { wait().await; log("big") } _ => { wait().await; log("other") } } log("end"); } with (3);

    // the left side of an assignment
    fn index_add_ref() -> u64 { let mut v = vec![1u64]; v[1] += &{ log("rhs"); leaf(2u64).await }; v[0] } with ();

    fn index_add() -> u64 { let mut v = vec![1u64]; let i = 1; v[i] += { log("rhs"); leaf(2u64).await }; v[0] } with ();

    fn index_shift() -> u64 { let mut v = [1u64, 4]; v[1] <<= leaf(2u32).await; v[0] -= leaf(1u64).await; v[0] + v[1] } with ();

    fn deref_add() -> u64 { let mut v = Seen(2.5f64); *v *= leaf(2.0).await; *v as u64 } with ();

    // addresses
    fn address_kept() -> bool { let n = 1u64; let a: usize = &n as *const u64 as usize; wait().await; let b: usize = &n as *const u64 as usize; a == b } with ();

    fn address_in_vec() -> bool { let n = 41u64; let mut v: Vec<usize> = Vec::new(); v.push(&n as *const u64 as usize); wait().await; v[0] == &n as *const u64 as usize } with ();

    fn address_in_atomic() -> bool { let n = 41u64; let a = AtomicUsize::new(0); a.store(std::ptr::from_ref(&n) as usize, SeqCst); wait().await; a.load(SeqCst) == &raw const n as usize } with ();

    // elided lifetimes
    fn cow_across() -> String { let s = String::from("abc"); let c: Cow<str> = if leaf(true).await { Cow::Borrowed(&s) } else { Cow::Owned(s.clone()) }; wait().await; c.to_string() } with ();

    fn chars_across() -> u64 { let s = String::from("abc"); let mut it: std::str::Chars = s.chars(); wait().await; it.next(); wait().await; it.count() as u64 } with ();

    // closures in patterns
    fn closure_in_tuple() -> u64 { let mut t = 0; for i in 0..3u64 { let (f, k) = (move |x: u64| x + i, 2u64); wait().await; t += f(k); } t } with ();

    fn closure_in_some() -> u64 { let mut t = 0; for i in 0..3u64 { if let Some(f) = Some(move |x: u64| x + i) { wait().await; t += f(1); } } t } with ();
}
