//! Ways out of loops over owning iterators, of blocks and of functions; values that are returned or passed to `break`.

use super::kit::*;
use crate::harness::*;

fn odd(n: u64) -> Result<u64, D> { if n % 2 == 1 { Ok(n) } else { Err(d("even")) } }
fn positive(n: u64) -> Option<u64> { (n > 0).then_some(n) }

corpus! {
    fn l_return_in_for() -> u64 { let a = d("a"); for x in vec![N(1), N(2), N(3)] { let b = d("b"); if x.0 == 2 { return leaf(x.0).await } wait().await; log("turn"); } 0 } with ();
    fn l_return_moved_out_of_for() -> Option<N> { for x in vec![N(1), N(2), N(3)] { let _t = d("t"); wait().await; if x.0 == 2 { return Some(x) } } None } with ();
    fn l_break_outer() -> u64 { let mut t = 0; 'o: for x in vec![N(1), N(2)] { for y in vec![d("x"), d("yy"), d("z")] { wait().await; if y.len() == 2 { if x.0 == 2 { break 'o } continue 'o } t += x.0; } log("never"); } log("after"); t } with ();
    fn l_question_in_for() -> Result<u64, D> { let mut t = 0; for x in vec![N(1), N(3), N(4), N(5)] { let _g = d("g"); t += odd(leaf(x.0).await)?; log("turn"); wait().await; } Ok(t) } with ();
    fn l_question_in_nested_for() -> Result<u64, D> { let mut t = 0; for (a, list) in [(d("a"), vec![N(1)]), (d("b"), vec![N(3), N(4), N(5)])] { for N(ref n) in list { let m = *n; wait().await; t += odd(m)?; } log(a.name()); } Ok(t) } with ();
    fn l_option_question() -> Option<u64> { let mut t = 0; for x in [3u64, 1, 0, 2] { let _g = N(x); let y = leaf(positive(x)).await?; wait().await; t += y; } Some(t) } with ();
    fn l_let_else_continue() -> u64 { let mut t = 0; for x in vec![Some(d("a")), None, Some(d("b"))] { let Some(y) = x else { wait().await; log("none"); continue }; let z = d("z"); t += leaf(y.len()).await; } t } with ();
    fn l_let_else_break_value() -> u64 { let mut v = vec![N(1), N(2)]; let r = loop { let Some(x) = v.pop() else { let _e = d("else"); break leaf(4).await }; wait().await; log("turn"); }; log("after"); r } with ();
    fn l_let_else_temporaries() -> u64 { let Some(n) = d("scrut").some().filter(|n| *n > 10) else { let _e = d("else"); wait().await; return d("ret").len() + leaf(1).await }; n } with ();
    fn l_let_else_temporaries_awaited() -> u64 { let Some(n) = leaf(d("scrut").len()).await.checked_sub(d("other").len() + 1) else { let _e = d("else"); wait().await; return leaf(d("ret").len()).await }; n } with ();
    fn l_let_chain_continue() -> u64 { let mut t = 0; for x in vec![Some(N(1)), None, Some(N(4))] { if let Some(y) = &x && let Some(m) = leaf(y.0).await.checked_sub(2) && m > 0 { t += m; wait().await; continue } log("not"); if let Some(y) = x { t += leaf(y.0 * 100).await } } t } with ();
    fn l_let_chain_temporary() -> u64 { if let Some(n) = d("t1").some() && let Some(m) = { let r = d("t22").some(); wait().await; r } && n < m { wait().await; log("then"); n } else { log("else"); leaf(0).await } } with ();
    fn l_return_await_in_match() -> u64 { let a = d("a"); match leaf(2).await { 1 => return leaf(1).await, 2 => { let b = d("b"); return now(b.len()).await } _ => {} } wait().await; 0 } with ();
    fn l_return_await_in_if_tail() -> u64 { let a = d("a"); if leaf(true).await { return leaf(a).await.len() } else { return 1 } } with ();
    fn l_return_in_let() -> u64 { let a = d("a"); let b: u64 = if leaf(a.yes()).await { return { let c = d("c"); leaf(c.len()).await } } else { 1 }; b } with ();
    fn l_return_in_operand() -> u64 { let a = d("a"); let n = 1 + if a.no() { 2 } else { return leaf(d("b").len()).await }; n } with ();
    fn l_return_in_argument() -> u64 { fn add(a: D, b: u64) -> u64 { a.len() + b } let n = leaf(5).await; add(d("first"), if n == 5 { return leaf(6).await } else { 1 }) } with ();
    fn l_break_await_value() -> u64 { let mut i = 0; let r = loop { let g = d("g"); i += 1; if i == 2 { break leaf(g.len()).await } wait().await; }; log("after"); r } with ();
    fn l_break_label_value() -> u64 { let r = 'a: { let x = d("x"); if leaf(true).await { let y = d("y"); break 'a leaf(x.len() + y.len()).await } log("never"); 0 }; log("after"); wait().await; r } with ();
    fn l_break_await_of_moved() -> u64 { let x = d("x"); let v = loop { break leaf(x).await }; wait().await; log("held"); v.len() } with ();
    fn l_block_tail_without_semicolon() -> u64 { let a = d("a"); { let b = d("b"); if b.yes() { wait().await } else { wait().await } } log("mid"); { leaf(d("c").len()).await } } with ();
    fn l_statement_match_without_semicolon() -> u64 { let n = 3; match n { 3 => wait().await, _ => log("no") } match leaf(d("t")).await { x if x.no() => {} _ => {} } log("x"); if let Some(_) = leaf(Some(d("o"))).await { log("in") } log("y"); loop { break } unsafe { wait().await } n } with ();
    fn l_unit_tail() -> () { let a = d("a"); let b = d("b"); if leaf(a.yes()).await { wait().await } } with ();
    fn l_unit_loop_tail() -> () { let a = d("a"); let mut i = 0; loop { let t = d("t"); i += 1; wait().await; if i == 2 { break wait().await } } } with ();
    fn l_return_unit_await() -> () { let a = d("a"); for x in [N(1), N(2)] { if x.0 == 2 { return wait().await } } } with ();
    fn l_return_in_closure_between() -> u64 { let f = |n: u64| { if n > 2 { return n * 2 } n }; let a = f(leaf(3).await); wait().await; return a + f(1); } with ();
    fn l_deferred_in_branches() -> u64 { let x; let y: D; if leaf(true).await { y = d("y"); wait().await; x = leaf(d("x")).await } else { x = d("x2"); y = leaf(d("y2")).await } log("both"); wait().await; x.len() + y.len() } with ();
    fn l_deferred_in_loop() -> u64 { let x; loop { let t = d("t"); if leaf(t.yes()).await { x = t; break } } wait().await; log("after"); x.len() } with ();
    fn l_deferred_maybe_not() -> u64 { let x; let c = leaf(1).await; if c == 2 { x = d("x"); wait().await; log(x.name()); } wait().await; log("end"); c } with ();
    fn l_deferred_order() -> u64 { let b; let a = d("a"); b = leaf(d("b")).await; let c; c = d("c"); wait().await; log("end"); a.len() } with ();
    fn l_moved_and_reassigned() -> u64 { let mut x = d("first"); let mut t = 0; for name in ["second", "third"] { t += leaf(x).await.len(); log("moved"); x = d(name); wait().await; } log("end"); t } with ();
    fn l_moved_in_turns() -> u64 { let mut x = Some(d("x")); let mut y; let mut t = 0; let mut i = 0; while i < 3 { y = x; wait().await; i += 1; x = match y { Some(v) if i == 1 => Some(leaf(v).await), Some(v) => { t += v.len(); None } None => Some(d("new")) }; log("turn"); } t } with ();
    fn l_conditionally_moved_reassigned() -> u64 { let mut x = d("x"); for i in 0..3u64 { if i == 1 { eat(x); wait().await; x = leaf(d("y")).await; } log("turn"); wait().await; } x.len() } with ();
    fn l_moved_then_break() -> u64 { let x = d("x"); let y = d("y"); loop { eat(x); wait().await; log("mid"); if leaf(true).await { break } else { return y.len() } } wait().await; 3 } with ();
    fn l_upper_case_locals() -> u64 { let N1 = leaf(2).await; let D1 = d("D1"); let A = [N1, 3]; wait().await; let X = A[1]; { let D1 = d("inner"); wait().await; } X + N1 + D1.len() } with ();
    fn l_upper_case_param(NN: u64, DD: D, ONE: Vec<u64>) -> u64 { let mut T = NN; for I in ONE { T += leaf(I).await; } wait().await; T + DD.len() } with (1, D("DD"), vec![2, 3]);
    fn l_for_label_value_block() -> u64 { let mut t = 0; for x in vec![N(1), N(2), N(3)] { let k = 'b: { if x.0 == 2 { break 'b leaf(20).await } if x.0 == 3 { eat(x); break 'b 30 } wait().await; x.0 }; t += k; log("turn"); } t } with ();
    fn l_for_of_moved_iterator() -> u64 { let mut it = vec![d("a"), d("bb"), d("ccc"), d("dddd")].into_iter(); let mut t = 0; for x in it.by_ref() { wait().await; if x.len() == 2 { break } t += x.len() } log("between"); let rest = it.next(); wait().await; t + rest.map_or(0, |x| x.len()) } with ();
    fn l_for_take_while() -> u64 { let mut t = 0; for x in vec![d("a"), d("bb"), d("ccc")].into_iter().filter(|x| x.len() != 2).map(|x| (x.len(), x)) { let (n, _) = x; wait().await; t += n; log("turn"); } t } with ();
    fn l_for_drain() -> u64 { let mut v = vec![d("a"), d("bb"), d("ccc")]; let mut t = 0; for x in v.drain(1..) { wait().await; t += x.len(); if t > 1 { break } } log(v.len()); wait().await; t } with ();
    fn l_while_pop_continue() -> u64 { let mut v = vec![d("a"), d("bb"), d("ccc")]; let mut t = 0; while let Some(x) = v.pop() { if x.len() == 2 { v.push(d("z")); wait().await; eat(v); v = Vec::new(); continue } t += leaf(x.len()).await; } t } with ();
    fn l_try_block_by_closure() -> u64 { let r = (|| { let a = d("a"); let n = positive(0)?; Some(n + a.len()) })(); wait().await; r.unwrap_or(leaf(8).await) } with ();
    fn l_question_on_temporary() -> Result<u64, D> { let n = odd(d("abc").len())? + leaf(1).await; wait().await; let m = odd(d("abcd").len() + leaf(n).await * 2)?; Ok(m) } with ();
    fn l_question_tail() -> Result<u64, D> { let a = d("a"); Ok(odd(leaf(d("four").len()).await)?) } with ();
    fn l_question_converts() -> Result<u64, String> { struct E(D); impl From<E> for String { fn from(e: E) -> String { log("convert"); e.0.name().to_string() } } fn bad(n: u64) -> Result<u64, E> { if n > 1 { Err(E(d("bad"))) } else { Ok(n) } } let a = d("a"); let mut t = 0; for i in vec![N(1), N(2)] { t += bad(leaf(i.0).await)?; wait().await; } Ok(t) } with ();
    fn l_never_ending_loop_with_return() -> u64 { let mut it = vec![N(1), N(2)].into_iter(); loop { match it.next() { Some(x) => { let g = d("g"); wait().await; eat(x); } None => return leaf(3).await } } } with ();
    fn l_return_struct_with_awaits() -> Part { let a = d("a"); return Part { e: leaf(d("e")).await, id: leaf(a.len()).await, d: d("d") } } with ();
    fn l_break_tuple_with_awaits() -> (D, u64) { let r = loop { let t = d("t"); break (leaf(d("x")).await, t.len() + leaf(1).await) }; log("after"); r } with ();
    fn l_nested_loops_values() -> u64 { let r = 'o: loop { let a = d("a"); let n = loop { let b = d("b"); wait().await; if b.yes() { break leaf(a.len()).await } break 'o 7 }; if n == 1 { break 'o leaf(n + 1).await } }; wait().await; r } with ();
    fn l_while_cond_block() -> u64 { let mut n = 0; while { let t = d("t"); let m = leaf(n).await; m < 2 } { n += 1; log("turn"); wait().await; } n } with ();
    fn l_while_cond_temporary() -> u64 { let mut n = 0; while leaf(d("t").len() + n).await < 3 { n += d("in").len(); log("turn"); wait().await; } n } with ();
    fn l_if_cond_temporary() -> u64 { if d("a").len() + leaf(1).await == d("b").len() + leaf(1).await { log("then"); wait().await; 1 } else { 2 } } with ();
}
