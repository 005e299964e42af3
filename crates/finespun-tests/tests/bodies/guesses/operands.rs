//! Awaited receivers, patterns that take values apart, chains of `let`s.

use super::kit::*;
use crate::harness::*;

use std::fmt::{Debug, Write};
#[derive(Debug)]
pub enum Tree {
    Leaf(D),
    Node(Box<Tree>, Box<Tree>),
    Nil,
}
pub fn tree() -> Tree {
    Tree::Node(Box::new(Tree::Leaf(d("l"))), Box::new(Tree::Node(Box::new(Tree::Nil), Box::new(Tree::Leaf(d("r"))))))
}

corpus! {
    fn aw_recv_two() -> u64 { let n = two(mk(leaf(1).await).val(), leaf(2).await); log("end"); n } with ();

    fn aw_recv_plus() -> u64 { let n = mk(leaf(1).await).val() + leaf(2).await; log("end"); n } with ();

    fn aw_recv_tuple() -> u64 { let n = (mk(leaf(1).await).val(), leaf(d("x")).await); log("end"); n.0 } with ();

    fn aw_recv_pow() -> u64 { let n = leaf(held().pow(leaf(1u32).await)).await; log("end"); n } with ();

    fn aw_recv_compare() -> bool { let n = mk(leaf(1).await).val() < leaf(2).await; log("end"); n } with ();

    fn aw_recv_struct() -> u64 { struct S { a: u64, b: D } let s = S { a: mk(leaf(1).await).val(), b: leaf(d("b")).await }; log("end"); s.a } with ();

    fn aw_recv_array() -> u64 { let s = [mk(leaf(1).await).val(), leaf(2).await, mk(3).val()]; log("end"); s[0] } with ();

    fn aw_recv_field() -> u64 { fn p(n: u64) -> (D, u64) { (d("p0"), n) } let n = two(p(leaf(1).await).1, leaf(2).await); log("end"); n } with ();

    fn aw_recv_index() -> u64 { let n = two(vec![mk(leaf(1).await), mk(2)][1].val(), leaf(2).await); log("end"); n } with ();

    fn aw_recv_match() -> u64 { let n = two(match mk(leaf(1).await) { N(k) => k }, leaf(2).await); log("end"); n } with ();

    fn aw_recv_range() -> u64 { for i in mk(leaf(1).await).val()..leaf(3).await { eat(leaf(d("i")).await); } log("end"); 1 } with ();

    fn aw_recv_macro() -> u64 { let s = format!("{} {}", mk(leaf(1).await).val(), leaf(2).await); log(s); log("end"); 1 } with ();

    fn aw_recv_assert() -> u64 { assert_eq!(mk(leaf(1).await).val(), leaf(1).await, "on purpose {}", mk(leaf(3).await).val()); log("end"); 1 } with ();

    fn aw_recv_index_assign() -> u64 { let mut v = vec![0u64, 0]; v[0] = mk(leaf(1).await).val() + leaf(1).await; log("end"); v[0] } with ();

    fn aw_recv_add_assign() -> u64 { let mut n = 1; n += mk(leaf(1).await).val() * leaf(2).await; log("end"); n } with ();

    fn aw_recv_return() -> u64 { let g = d("g"); return mk(leaf(1).await).val() * leaf(2).await; } with ();

    fn aw_recv_tail() -> u64 { let g = d("g"); mk(leaf(1).await).val() * leaf(2).await } with ();

    fn aw_recv_tail_last() -> u64 { let g = d("g"); leaf(1).await + mk(leaf(2).await).val() } with ();

    fn aw_recv_join() -> u64 { let (a, b) = join!(leaf(mk(1).val()), leaf(2u64)); log("end"); a + b } with ();

    fn aw_recv_break() -> u64 { let g = d("g"); let n = loop { let h = d("h"); break mk(leaf(1).await).val() * leaf(2).await }; log("end"); n } with ();

    fn aw_recv_closure_arg() -> u64 { let n = two(mk(leaf(1).await).opt().map_or(0, |x| x + 1), leaf(2).await); log("end"); n } with ();

    fn aw_question_mid() -> Option<u64> { let n = two(mk(leaf(Some(1)).await?).opt()?, mk(leaf(2).await).nothing()?); log("end"); Some(n) } with ();

    fn at_binding(v: [u64; 4]) -> u64 { match v { [first, mid @ .., last] if first < last => { let s: u64 = mid.iter().sum(); leaf(s + first).await } all @ [..] => leaf(all[0]).await } } with ([1, 2, 3, 4]);

    fn at_ref() -> u64 { let b = (d("a"), 3u64); match b { ref all @ (ref a, n @ 1..=5) => { wait().await; log("arm"); all.1 + a.len() + n } _ => 0 } } with ();

    fn ref_mut_field() -> u64 { let mut b = big(); { let Big { ref mut a, ref b, n: ref mut k } = b; *a = leaf(d("na")).await; *k += b.len(); wait().await; } log("end"); b.n } with ();

    fn array_partial() -> u64 { let a = [d("0"), d("1"), d("2")]; let [x, _, z] = a; wait().await; log("mid"); drop(z); wait().await; log("end"); 1 } with ();

    fn array_partial_rest() -> u64 { let a = [d("0"), d("1"), d("2")]; let [x, ..] = a; wait().await; drop(x); wait().await; log("end"); 1 } with ();

    fn array_rest_moved() -> u64 { let a = [d("0"), d("1"), d("2")]; let [_, rest @ ..] = a; wait().await; drop(rest); wait().await; log("end"); 1 } with ();

    fn array_index_assign() -> u64 { let mut a = [d("0"), d("1")]; a[leaf(1usize).await] = leaf(d("n1")).await; a[0] = leaf(d("n0")).await; log("end"); a[1].len() } with ();

    fn array_reassign() -> u64 { let mut a = [d("0"), d("1")]; let [x, y] = a; wait().await; a = [y, leaf(d("z")).await]; log("end"); x.len() + a[0].len() } with ();

    fn box_partial() -> u64 { let b = Box::new((d("x"), d("y"))); let (x, _) = *b; wait().await; drop(x); wait().await; log("end"); b.1.len() } with ();

    fn box_partial_end() -> u64 { let b = Box::new((d("x"), d("y"))); let (_, y) = *b; wait().await; log("end"); 1 } with ();

    fn box_back() -> u64 { let mut b = Box::new(big()); let a = b.a; wait().await; b.a = leaf(d("na")).await; drop(a); log("whole"); let c = *b; wait().await; c.n } with ();

    fn box_tree(t: u64) -> u64 { let mut t = tree(); let mut n = 0; loop { t = match t { Tree::Node(a, b) => { eat(leaf(*a).await); n += 1; *b } Tree::Leaf(v) => { wait().await; break n + v.len() } Tree::Nil => break 0 } } } with (1);

    fn tree_ref(t: u64) -> u64 { let t = tree(); let mut stack = vec![&t]; let mut n = 0; while let Some(x) = stack.pop() { match x { Tree::Node(a, b) => { stack.push(b); stack.push(a); wait().await; } Tree::Leaf(v) => n += leaf(v.len()).await, Tree::Nil => continue } } n } with (1);

    fn tuple_struct_nested() -> u64 { let t = (Some(pair("a", "b")), [d("c"), d("e")]); let (Some(Pair(a, _)), [_, e]) = t else { return 0 }; wait().await; drop(a); wait().await; log("end"); 1 } with ();

    fn or_binding(o: Result<D, D>) -> u64 { let (Ok(x) | Err(x)) = leaf(o).await; wait().await; log("end"); x.len() } with (Err(D("e")));

    fn or_binding_parts() -> u64 { match leaf((Some(d("a")), d("b"), 1u64)).await { (Some(x), _, 1) | (_, x, _) => { wait().await; log("arm"); x.len() } } } with ();

    fn match_guard_moves() -> u64 { match leaf(Some(d("a"))).await { Some(x) if x.no() => 1, Some(x) if { log("guard"); x.yes() } => { wait().await; eat(x); wait().await; 2 } _ => 3 } } with ();

    fn match_place_partial() -> u64 { let t = (Some(d("a")), d("b")); match t.0 { Some(x) if x.yes() => { wait().await; log("arm"); } _ => {} } wait().await; log("end"); t.1.len() } with ();

    fn match_place_wild() -> u64 { let t = (Some(d("a")), d("b")); match t { (Some(_), _) => { wait().await; log("arm"); } (None, x) => eat(x) } wait().await; log("end"); 1 } with ();

    fn match_place_none() -> u64 { let t = (None::<D>, d("b")); match t { (Some(_), _) => { wait().await; log("arm"); } (None, x) => eat(x) } wait().await; log("end"); 1 } with ();

    fn deferred_init() -> u64 { let x; let y: D; if leaf(true).await { x = d("x"); y = leaf(d("y")).await; } else { x = leaf(d("z")).await; y = d("w"); } wait().await; log("end"); x.len() + y.len() } with ();

    fn deferred_init_loop() -> u64 { let x; loop { let t = leaf(d("t")).await; if t.yes() { x = t; break } } wait().await; log("end"); x.len() } with ();

    fn deferred_init_partial() -> u64 { let x: D; if leaf(false).await { x = d("x"); wait().await; log(x.name()); } wait().await; log("end"); 1 } with ();

    fn move_in_loop_reassign() -> u64 { let mut x = d("0"); for i in 0..3 { eat(leaf(x).await); if leaf(i).await == 1 { x = d("1"); break } x = d("n"); } wait().await; log("end"); x.len() } with ();

    fn destruct_assign() -> u64 { let (mut a, mut b, mut v) = (d("a"), d("b"), vec![1u64, 2]); (a, _) = leaf((d("c"), d("ignored"))).await; log("1"); [v[0], v[1]] = leaf([7, 8]).await; (b, a) = (a, leaf(b).await); Big { a, .. } = leaf(big()).await; log("end"); v[0] } with ();

    fn let_chain(o: Option<D>) -> u64 { let q = Some(3u64); if let Some(x) = o && let Some(k) = q && k > 2 && x.yes() { wait().await; log("then"); eat(x); k } else { wait().await; log("else"); 0 } } with (Some(D("o")));

    fn let_chain_fail(o: Option<D>) -> u64 { let q = Some(1u64); if let Some(x) = o && let Some(k) = q && k > 2 { wait().await; log("then"); k } else { wait().await; log("else"); 0 } } with (Some(D("o")));

    fn let_chain_temp() -> u64 { if let Some(k) = d("t").some() && let Some(m) = mk(2).opt() && k < m { wait().await; log("then"); } else if let Some(z) = leaf(d("u")).await.some() && z > 0 { wait().await; log("else if"); } else { log("else") } log("end"); 1 } with ();

    fn let_chain_await() -> u64 { if let Some(x) = leaf(Some(d("a"))).await && leaf(d("b")).await.yes() && let Some(y) = leaf(None::<D>).await { wait().await; log("then"); } else { wait().await; log("else"); } 1 } with ();

    fn let_chain_result() -> u64 { fn get() -> Result<D, D> { Err(d("err")) } if let Ok(x) = get() && x.yes() { wait().await; log("then") } else { wait().await; log("else") } if let Err(x) = get() && x.yes() { wait().await; log("then2") } log("end"); 1 } with ();

    fn while_let_chain() -> u64 { let mut v = vec![d("a"), d("b"), d("c")]; let mut n = 0; while let Some(x) = v.pop() && n < 2 { wait().await; n += x.len(); log("turn"); } log("end"); n } with ();

    fn while_let_temp() -> u64 { let mut i = 0; while let Some(k) = mk(i).opt() { if k > 1 { break } eat(leaf(d("x")).await); i += 1; log("turn"); } log("end"); 1 } with ();

    fn while_let_await_temp() -> u64 { let mut i = 0; while let Some(k) = leaf(mk(i)).await.opt() { if k > 1 { break } eat(leaf(d("x")).await); i += 1; log("turn"); } log("end"); 1 } with ();

    fn while_cond_temp() -> u64 { let mut i = 0; while mk(i).val() < 2 { wait().await; i += 1; log("turn") } while leaf(mk(i)).await.val() < 4 && mk(1).val() == 1 { i += 1; } log("end"); 1 } with ();

    fn if_cond_temp() -> u64 { if mk(1).val() == 1 { wait().await; log("then") } if leaf(mk(2)).await.val() == 2 { wait().await; log("then2") } else { log("no") } log("end"); 1 } with ();

    fn if_let_else_temp() -> u64 { if let Some(1) = mk(2).opt() { log("then") } else if let Some(3) = leaf(mk(3)).await.nothing() { log("then") } else { wait().await; log("else") } log("end"); 1 } with ();

    fn match_temp_arms() -> u64 { let n = match *mk(2).r() { 2 => { wait().await; log("arm"); 3 } _ => 4 } + match leaf(mk(3)).await.val() { 3 => { log("arm"); leaf(1).await } _ => 0 }; log("end"); n } with ();

    fn for_temp() -> u64 { for i in 0..*mk(2).r() { wait().await; log("turn") } for c in String::from(d("abc").name()).chars() { wait().await; log(c) } for x in leaf(vec![d("p"), d("q")]).await.iter() { wait().await; log(x.name()) } log("end"); 1 } with ();

    fn tail_temp_block() -> u64 { let n = { let x = d("x"); *leaf(mk(1)).await.r() + *mk(2).r() }; log("mid"); wait().await; let m = { let x = d("y"); match mk(3).r() { k => leaf(*k).await } }; log("end"); n + m } with ();

    fn formats() -> String { let w = 7usize; let mut s = String::new(); write!(s, "{:>1$}|{:w$}|{x:?}", leaf(1).await, leaf(5usize).await, x = leaf(d("x")).await).unwrap(); log("1"); writeln!(&mut s, "{0} {0:?} {y}", mk(1).val(), y = leaf(mk(2)).await.val()).unwrap(); wait().await; s += &format!("{}", leaf(d("k")).await.name()); s } with ();

    fn assert_lazy() -> u64 { let g = d("g"); assert!(leaf(d("c")).await.yes(), "on purpose {}", leaf(d("msg")).await.len()); log("1"); assert_ne!(leaf(d("l")).await, leaf(d("r")).await); log("2"); debug_assert!(leaf(mk(1)).await.val() == 2, "on purpose {} {}", leaf(d("m")).await.name(), mk(2).val()); 1 } with ();

    fn matches_mac() -> bool { let b = matches!(leaf(Some(d("m"))).await, Some(ref x) if x.yes()) && matches!(leaf(mk(3)).await.opt(), Some(1..=4)); log("end"); wait().await; b } with ();

    fn vec_mac() -> u64 { let v = vec![leaf(d("a")).await, d("b"), leaf(d("c")).await]; log("1"); let w = vec![leaf(3u64).await; leaf(2usize).await]; let dd = std::format!("{w:?}"); wait().await; v[1].len() + w[1] + dd.len() as u64 } with ();

    fn dbg_mac() -> u64 { let (a, b) = dbg!(leaf(d("a")).await, 2u64); wait().await; log("end"); dbg!(b) } with ();
}
