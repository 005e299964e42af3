//! Cases that the other files leave out.

use super::kit::*;
use crate::harness::*;
use std::sync::Arc;

corpus! {
    fn k_param_shadow(x: D, y: D) -> u64 { let x = leaf(x.len()).await; let y = { let y = y; wait().await; y.len() }; log("mid"); wait().await; x + y } with (D("x"), D("y"));
    fn k_param_moved_in_branch(x: D, c: bool) -> u64 { if leaf(c).await { eat(x); } log("mid"); wait().await; 1 } with (D("x"), true);
    fn k_param_reassigned(mut x: D, mut n: u64) -> u64 { while n > 0 { x = leaf(d("new")).await; n -= 1; } log("end"); x.len() } with (D("x"), 2);
    fn k_for_ref_pattern() -> u64 { let v = vec![(1u64, d("a")), (2, d("b"))]; let mut t = 0; for &(n, ref x) in &v { wait().await; t += n * x.len(); } for (n, x) in &v { t += leaf(*n).await; log(x.name()); } for (i, (n, _)) in v.into_iter().enumerate() { wait().await; t += n + i as u64; log("turn"); } t } with ();
    fn k_for_arc_list() -> u64 { let v: Arc<[D]> = Arc::from(vec![d("a"), d("bb")]); let mut t = 0; for x in v.iter() { let w = Arc::clone(&v); wait().await; t += x.len() + w.len() as u64; } log("end"); t } with ();
    fn k_for_zip_owned() -> u64 { let mut t = 0; for ((a, _), b @ N(n)) in vec![(d("a"), d("x")), (d("b"), d("y"))].into_iter().zip([N(1), N(2), N(3)]) { wait().await; t += a.len() + n; log(b.0); } t } with ();
    fn k_for_chunks_windows() -> u64 { let v = vec![d("a"), d("bb"), d("ccc")]; let mut t = 0; for w in v.windows(2) { let [x, y] = w else { continue }; t += leaf(x.len()).await * y.len(); } for c in v.chunks(2) { if let [x, _] = c { t += leaf(x.len()).await } else { log("one") } } t } with ();
    fn k_match_in_place() -> u64 { let mut s = two(1, 2); match s { Sig::Both { ref mut a, b } => { *a += leaf(b).await; wait().await; } _ => {} } match &mut s { Sig::On(n) | Sig::Both { a: n, .. } => { *n *= 10; wait().await } Sig::Off => {} } log("end"); if let Sig::Both { a, b } = s { a + b } else { 0 } } with ();
    fn k_replace_state() -> u64 { let mut s = on(0); let mut t = 0; loop { s = match s { Sig::On(n) if n < 2 => { wait().await; on(n + 1) } Sig::On(n) => two(n, leaf(n).await), Sig::Both { a, b } => { t += a + b; off() } Sig::Off => break }; log("turn"); } wait().await; t } with ();
    fn k_mem_take() -> u64 { let mut v = vec![d("a")]; let mut s = String::from("x"); let old = std::mem::take(&mut v); wait().await; v.push(leaf(d("b")).await); let t = std::mem::replace(&mut s, leaf("yy".to_string()).await); std::mem::swap(&mut v, &mut vec![d("swapped")]); log("end"); wait().await; (old.len() + v.len() + t.len() + s.len()) as u64 } with ();
    fn k_nested_let_else_in_loop() -> u64 { let mut it = vec![Some((1u64, d("a"))), Some((5, d("b"))), None].into_iter(); let mut t = 0; while let Some(o) = it.next() { let Some((n, x)) = o else { let k = d("none"); wait().await; break }; let 1..=3 = n else { eat(x); wait().await; log("out"); continue }; t += leaf(x).await.len(); } t } with ();
    fn k_if_let_else_if_let() -> u64 { let mut t = 0; for i in 0..3u64 { t += if let Some(x) = leaf((i == 0).then(|| d("first"))).await { x.len() } else if let Sig::On(n) = leaf(if i == 1 { on(i) } else { off() }).await { wait().await; n * 10 } else { wait().await; log("neither"); 100 }; } t } with ();
    fn k_tuple_struct_nested_moves() -> u64 { let x = G2(part(1), Some(d("opt")), [d("r0"), d("r1")]); let G2(Part { d: a, .. }, Some(ref b), [_, c]) = x else { return 0 }; wait().await; log("bound"); a.len() + b.len() + c.len() } with ();
    fn k_box_pattern_by_deref() -> u64 { let b = Box::new((d("a"), d("b"), 3u64)); let (x, _, n) = *b; wait().await; log("mid"); let c = Box::new(Some(d("c"))); match *c { Some(y) if y.no() => 0, Some(y) => { wait().await; y.len() + n + x.len() } None => 0 } } with ();
    fn k_return_in_match_guard() -> u64 { let a = d("a"); match leaf(3u64).await { n if { let t = d("g"); if n == 4 { return 9 } t.no() } => 1, n if n == leaf_of(3) => { wait().await; 2 } _ => 3 } } with ();
    fn k_labelled_blocks_nested() -> u64 { let n = 'a: { let x = d("x"); let m = 'b: { let y = d("y"); if leaf(true).await { break 'b y.len() } if leaf(false).await { break 'a 50 } 7 }; wait().await; if m == 1 { break 'a x.len() + m } m }; wait().await; n } with ();
    fn k_range_patterns_consts() -> u64 { const LOW: u64 = 2; const HIGH: u64 = 4; let mut t = 0; for i in 0..6u64 { t += match leaf(i).await { 0 => { wait().await; 1 } LOW..=HIGH => 10, HIGH.. => { wait().await; 100 } n => n * 1000 }; } t } with ();
    fn k_shadow_in_arms() -> u64 { let x = Some(d("x")); let n = 1; let r = match x { Some(x) if x.len() == n => { let n = leaf(x).await; wait().await; n.len() + 1 } Some(n) => n.len(), None => n }; log("after"); wait().await; r + n } with ();
    fn k_string_building() -> String { let mut s = String::new(); for (i, w) in "a bc def".split(' ').enumerate() { if i > 0 { s.push_str(&leaf(", ".to_string()).await); } s += w; s += &leaf(w.len()).await.to_string(); wait().await; } s.insert(0, leaf('<').await); let t = s.trim_start_matches('<'); wait().await; t.to_owned() + &s[..1] } with ();
    fn k_sort_and_group() -> u64 { let mut v: Vec<(u64, D)> = Vec::new(); for (k, n) in [(2, "b"), (1, "a"), (2, "c")] { v.push((leaf(k).await, d(n))); } v.sort_by_key(|(k, _)| *k); let mut groups: Vec<(u64, Vec<D>)> = Vec::new(); for (k, x) in v { match groups.last_mut() { Some((g, list)) if *g == k => { wait().await; list.push(x) } _ => { groups.push((k, vec![x])); wait().await } } } log("end"); groups.iter().map(|(k, l)| k * l.len() as u64).sum() } with ();
    fn k_early_error_with_context() -> Result<u64, String> { let list = vec![("1", d("a")), ("x", d("b")), ("3", d("c"))]; let mut t = 0u64; for (i, (s, g)) in list.into_iter().enumerate() { let n = leaf(s).await.parse::<u64>().map_err(|e| format!("{i}: {e} {}", g.name()))?; wait().await; t += n; } Ok(t) } with ();
    fn k_chunked_state_machine(input: Vec<u8>) -> Vec<String> { let mut out = vec![]; let mut word = String::new(); for b in input { let c = b as char; match c { 'a'..='z' => word.push(leaf(c).await), ' ' if word.is_empty() => continue, ' ' => { out.push(std::mem::take(&mut word)); wait().await } _ => break } } if !word.is_empty() { out.push(word) } out } with (b"ab  c d!e".to_vec());
    fn k_retry() -> Result<u64, D> { let mut tries = 0; let r = loop { tries += 1; let k = N(tries); match leaf(if tries < 3 { Err(d("failed")) } else { Ok(tries) }).await { Ok(n) => break Ok(n), Err(e) if tries > 5 => break Err(e), Err(_) => wait().await } }; log("after"); r } with ();
    fn k_guard_scopes() -> u64 { let outer = d("outer"); let n = { let _g = d("g1"); let _ = d("gone"); let _h = d("h"); wait().await; 1 }; { let _g = leaf(d("g2")).await; wait().await } drop(outer); log("dropped"); wait().await; let _last = d("last"); n } with ();
}
#[derive(Debug)]
pub struct G2(pub Part, pub Option<D>, pub [D; 2]);
fn leaf_of(n: u64) -> u64 { n }
