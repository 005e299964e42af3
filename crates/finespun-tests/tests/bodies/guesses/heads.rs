//! Heads, destructors that panic, raw pointers.

use super::kit::*;
use crate::harness::*;

#[derive(Debug)]
struct E1(u64);
#[derive(Debug)]
struct E2(u64);
impl From<E1> for E2 {
    fn from(e: E1) -> E2 {
        log("from");
        E2(e.0)
    }
}

corpus! {
    // heads
    fn head_lower_match(n: u64) -> u64 { match n { small => leaf(1).await, _ => 2 } } with (5);

    fn head_lower_match_b(n: u64) -> u64 { match n { small => leaf(1).await, _ => 2 } } with (3);

    fn head_lower_match2(n: u64) -> u64 { match n { small => 1, _ => leaf(2).await } } with (5);

    fn head_lower_let_else(n: u64) -> u64 { let small = n else { return 1 }; leaf(2).await } with (5);

    fn head_lower_if_let(n: u64) -> u64 { if let small = n { leaf(1).await } else { 2 } } with (5);

    fn head_lower_nested(n: Option<u64>) -> u64 { let Some(small) = n else { return 1 }; leaf(2).await } with (Some(5));

    fn head_lower_tuple(n: u64, m: u64) -> u64 { match (n, m) { (small, 1) => leaf(1).await, _ => 2 } } with (5, 1);

    fn head_lower_ref(n: &'static Low, x: D) -> u64 { match *n { low => leaf(1).await, high => 2 } } with (&Low::high, D("x"));

    fn head_slice(v: &'static [u64], x: D) -> u64 { let [first, rest @ ..] = v else { return 0 }; if rest.is_empty() { return *first; } leaf(*first + rest.len() as u64).await } with (&[1, 2, 3], D("x"));

    fn head_slice_short(v: &'static [u64], x: D, _: D) -> u64 { let [first, rest @ ..] = v else { return 0 }; if rest.is_empty() { return *first; } leaf(*first + rest.len() as u64).await } with (&[], D("x"), D("y"));

    fn head_slice_short_wild(v: &'static [u64], x: D, _: D) -> u64 { if v.is_empty() { return 0; } leaf(1).await } with (&[], D("x"), D("y"));

    fn head_at(n: u64, x: D) -> u64 { match n { k @ 1..=3 => leaf(k).await, 0 => 7, _ => 8 } } with (4, D("x"));

    fn head_at2(n: u64, x: D) -> u64 { match n { k @ (1 | 3) => leaf(k).await, 0 => 7, _ => 8 } } with (3, D("x"));

    fn head_or_binding(n: Result<u64, u64>, x: D) -> u64 { match n { Ok(k) | Err(k) if k > 3 => leaf(k).await, Ok(_) => 7, Err(_) => 8 } } with (Err(9), D("x"));

    fn head_option_d(x: Option<D>, y: D) -> u64 { match x { None => 1, Some(v) => leaf(v).await.len() } } with (None, D("y"));

    fn head_option_d_some(x: Option<D>, y: D) -> u64 { match x { None => 1, Some(_) => leaf(5).await } } with (Some(D("x")), D("y"));

    fn head_macro(n: u64, y: D) -> u64 { assert!(n > 5, "on purpose {n}"); leaf(n).await } with (3, D("y"));

    fn head_if_let_chain(n: Option<u64>, y: D) -> u64 { if let Some(k) = n && k > 3 { return k; } leaf(2).await } with (Some(9), D("y"));

    fn head_nested_if(n: u64, y: D) -> u64 { if n == 0 { 1 } else if n == 1 { 2 } else if n == 2 { leaf(3).await } else { 4 } } with (3, D("y"));

    fn head_box(b: Box<Option<D>>, y: D) -> u64 { let Some(v) = *b else { return 1 }; wait().await; log("rest"); v.len() } with (Box::new(Some(D("x"))), D("y"));

    // destructors that panic
    fn p_operands() -> u64 { eat((p("a"), p("b"), leaf(p("c")).await)); wait().await; log("end"); 1 } with ();

    fn p_locals() -> u64 { let a = p("a"); let b = p("b"); wait().await; let c = p("c"); wait().await; log("end"); 1 } with ();

    fn p_tail() -> u64 { let a = p("a"); let b = p("b"); leaf(p("c")).await.len() } with ();

    fn p_tail_forward() -> P { let a = p("a"); leaf(p("c")).await } with ();

    fn p_assign() -> u64 { let mut a = p("a"); let b = p("b"); a = leaf(p("new a")).await; log("assigned"); wait().await; 1 } with ();

    fn p_assign_field() -> u64 { let mut t = (p("a"), p("b")); t.0 = leaf(p("new a")).await; log("assigned"); wait().await; 1 } with ();

    fn p_destructuring_assign() -> u64 { let (mut a, mut b) = (p("a"), p("b")); (a, b) = leaf((p("c"), p("d"))).await; log("assigned"); wait().await; 1 } with ();

    fn p_block() -> u64 { let a = p("a"); { let b = p("b"); wait().await; let c = p("c"); } log("out"); wait().await; 1 } with ();

    fn p_match() -> u64 { let a = p("a"); match leaf((p("m"), p("n"))).await { (x, _) => { wait().await; log("arm"); } } wait().await; 1 } with ();

    fn p_iflet() -> u64 { let a = p("a"); if let Some(x) = leaf(Some(p("s"))).await { wait().await; log("then"); } else { log("else") } wait().await; 1 } with ();

    fn p_iflet_else() -> u64 { let a = p("a"); if let (None, _) = leaf((Some(p("s")), p("t"))).await { log("then"); } else { wait().await; log("else") } wait().await; 1 } with ();

    fn p_letelse() -> u64 { let a = p("a"); let (None, _) = leaf((Some(p("s")), p("t"))).await else { log("else"); return 5 }; wait().await; 1 } with ();

    fn p_letelse_ok() -> u64 { let a = p("a"); let (Some(s), _) = leaf((Some(p("s")), p("t"))).await else { log("else"); return 5 }; wait().await; log("end"); 1 } with ();

    fn p_wild() -> u64 { let a = p("a"); let _ = leaf(p("w")).await; log("1"); leaf(p("v")).await; log("2"); _ = leaf(p("u")).await; wait().await; 1 } with ();

    fn p_return() -> u64 { let a = p("a"); if leaf(true).await { let b = p("b"); return leaf(p("c")).await.len(); } 1 } with ();

    fn p_question() -> Result<u64, E2> { let a = p("a"); let n = two(p("t").len(), leaf(Err::<u64, E1>(E1(1))).await?); Ok(n) } with ();

    fn p_drop_moved() -> u64 { let a = p("a"); let b = p("b"); wait().await; drop(a); wait().await; log("end"); 1 } with ();

    fn p_cond_move() -> u64 { let a = p("a"); if leaf(true).await { drop(a); } wait().await; log("end"); 1 } with ();

    fn p_partial() -> u64 { let t = (p("a"), p("b"), p("c")); eat(t.1); wait().await; log("end"); 1 } with ();

    fn p_vec() -> u64 { let v = vec![p("a"), p("b")]; wait().await; for x in v { log(x.0); break; } wait().await; 1 } with ();

    fn p_closure() -> u64 { let a = p("a"); let f = move || a.len(); let n = f(); wait().await; n } with ();

    fn p_param(a: P, _: P, (b, _): (P, P)) -> u64 { wait().await; log("end"); 1 } with (P("a"), P("w"), (P("b"), P("c")));

    fn p_labelled() -> u64 { let a = p("a"); let n = 'x: { let b = p("b"); if leaf(true).await { break 'x 5 } let c = p("c"); 6 }; wait().await; n } with ();

    // raw pointers
    fn raw_ref_mut() -> u64 { let mut n = 1u64; let q = SendPtr(&raw mut n); wait().await; q.set(7); wait().await; n } with ();

    fn raw_cast() -> u64 { let mut n = 1u64; let q = SendPtr(&mut n as *mut u64); wait().await; q.set(7); n } with ();

    fn raw_from_mut() -> u64 { let mut n = 1u64; let q = SendPtr(std::ptr::from_mut(&mut n)); wait().await; q.set(7); n } with ();

    fn raw_usize() -> bool { let mut n = 1u64; let a = &n as *const u64 as usize; wait().await; let b = &n as *const u64 as usize; a == b } with ();

    fn raw_addr_fn() -> bool { let mut n = [1u64, 2]; let a = n.as_ptr() as usize; wait().await; let b = n.as_ptr() as usize; a == b } with ();

    fn raw_nonnull() -> u64 { let mut n = 1u64; let q = std::ptr::NonNull::from(&mut n); let q = SendPtr(q.as_ptr()); wait().await; q.set(9); n } with ();

    fn raw_of_param(mut n: u64) -> u64 { let q = SendPtr(&raw mut n); wait().await; q.set(7); wait().await; n } with (2);

    fn raw_field() -> u64 { let mut t = (1u64, d("d")); let q = SendPtr(&raw mut t.0); wait().await; q.set(7); wait().await; t.0 } with ();

    // a head whose destructor panics
    fn hp_let() -> u64 { let x = match leaf(p("s")).await { ref q => leaf(d("v")).await }; log("end"); x.len() } with ();

    fn hp_let_plain_value() -> u64 { let x = match leaf(p("s")).await { ref q => d("v") }; log("end"); wait().await; x.len() } with ();

    fn hp_let_kept() -> u64 { let x = match leaf((p("s"), 1)).await { (_, k) if k > 0 => { wait().await; d("v") } _ => d("w") }; log("end"); wait().await; x.len() } with ();

    fn hp_let_pattern() -> u64 { let (x, y) = match leaf(p("s")).await { ref q => (leaf(d("v")).await, 2) }; log("end"); wait().await; x.len() + y } with ();

    fn hp_let_wild() -> u64 { let _ = match leaf(d("s")).await { ref q => leaf(d("v")).await }; log("end"); wait().await; 1 } with ();

    fn hp_let_part() -> u64 { let (_, n) = match leaf(d("s")).await { ref q => (leaf(d("v")).await, 2) }; log("end"); wait().await; n } with ();

    fn hp_let_moved() -> u64 { let Some(_) = (match leaf(Some(d("s"))).await { None => return 5, Some(v) => Some(v) }) else { return 6 }; log("end"); wait().await; 1 } with ();

    fn hp_let_return() -> u64 { let _ = match Some(d("s")) { None => { return leaf(6u64).await } Some(v) => v }; log("end"); wait().await; 1 } with ();

    fn hp_let_or_else() -> u64 { let _ = leaf(None).await.unwrap_or_else(|| d("v")); log("end"); wait().await; 1 } with ();

    fn hp_let_if() -> u64 { let x = if let Some(_) = leaf(Some(p("s"))).await { leaf(d("v")).await } else { d("w") }; log("end"); x.len() } with ();

    fn hp_let_else() -> u64 { let x = if let (None, _) = leaf((Some(p("s")), p("t"))).await { d("u") } else { leaf(d("v")).await }; log("end"); x.len() } with ();

    fn hp_tail() -> D { let g = d("g"); match leaf(p("s")).await { ref q => leaf(d("v")).await } } with ();

    fn hp_assign() -> u64 { let mut x = d("x"); x = match leaf(p("s")).await { ref q => leaf(d("v")).await }; log("end"); x.len() } with ();

    fn hp_operand() -> u64 { let x = leaf(match leaf(p("s")).await { ref q => leaf(d("v")).await }).await; log("end"); x.len() } with ();

    fn hp_temporary() -> u64 { fn made(_: &P) -> D { d("v") } let x = made(&leaf(p("s")).await); log("end"); wait().await; x.len() } with ();

    fn hp_temporary_two() -> u64 { fn made(_: &P, n: D) -> D { n } let x = made(&leaf(p("s")).await, leaf(d("v")).await); log("end"); wait().await; x.len() } with ();

    fn hp_receiver() -> u64 { let x = leaf(p("s")).await.other(); log("end"); wait().await; x.len() } with ();

    fn hp_return() -> D { let g = d("g"); if leaf(true).await { return match leaf(p("s")).await { ref q => leaf(d("v")).await }; } d("w") } with ();

    fn hp_unit() -> u64 { match leaf(p("s")).await { ref q => leaf(d("v")).await }; log("end"); 1 } with ();

    fn hp_break() -> u64 { let x = loop { break match leaf(p("s")).await { ref q => leaf(d("v")).await }; }; log("end"); x.len() } with ();

    fn hp_generic() -> u64 { let x: Option<D> = match leaf(p("s")).await { ref q => Some(leaf(d("v")).await) }; log("end"); wait().await; x.map_or(0, |x| x.len()) } with ();

    fn hp_coerced() -> u64 { let x: Box<dyn Show> = match leaf(p("s")).await { ref q => Box::new(leaf(d("v")).await) }; log("end"); wait().await; x.show() } with ();

    // a result that is borrowed where it is bound
    fn ref_of_await() -> u64 { let ref p = leaf(d("p")).await; let mut s = 0; while s < 3 { s += leaf(p.len()).await; } log("end"); p.len() + s } with ();

    fn ref_of_await_part() -> u64 { let (ref p, n) = leaf((d("p"), 2u64)).await; let mut s = n; while s < 4 { s += leaf(p.len()).await; } log("end"); p.len() + s } with ();
}
