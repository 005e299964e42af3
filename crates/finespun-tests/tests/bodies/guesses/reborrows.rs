//! Constants beside an await, and references that are reborrowed there.

use super::kit::*;
use crate::harness::*;
use std::collections::*;

pub struct Tok;
impl Drop for Tok {
    fn drop(&mut self) {
        log("drop tok");
    }
}
impl Tok {
    pub fn plus(&self, n: u64) -> u64 {
        n + 1
    }
    pub fn get(&self, n: u64) -> u64 {
        n + 2
    }
}
impl PartialEq<u64> for Tok {
    fn eq(&self, o: &u64) -> bool {
        true
    }
}
pub fn with_tok(t: &Tok, n: u64) -> u64 {
    n
}
pub fn with_d(t: &D, n: u64) -> u64 {
    n + t.len()
}

pub struct Reg(pub u64);
impl Reg {
    pub fn get(&self) -> Guard {
        held()
    }
    pub fn first(&self) -> Guard {
        held()
    }
    pub fn as_ref(&self) -> Guard {
        held()
    }
    pub fn as_mut(&self) -> Guard {
        held()
    }
    pub fn values(&self) -> AGuard {
        aheld()
    }
    pub fn trim(&self) -> Guard {
        held()
    }
    pub fn lines(&self) -> GF {
        GF { n: 4, d: d("gf") }
    }
}
pub struct GF {
    pub n: u64,
    pub d: D,
}
impl PartialEq<u64> for Guard {
    fn eq(&self, o: &u64) -> bool {
        self.1 == *o
    }
}

pub struct S {
    pub n: u64,
    pub v: Vec<u64>,
}
pub fn s() -> S {
    S { n: 1, v: vec![] }
}
pub type M<'a> = &'a mut S;
/// Writes through a pointer to a local.
fn put(p: *mut u64, n: u64) {
    // SAFETY: all callers pass a pointer to a live local.
    unsafe { *p = n }
}

corpus! {
    // constants beside an await
    fn c_eq_unit() -> bool { let g = d("g"); let b = Tok == leaf(1u64).await; log("end"); b } with ();

    fn c_recv() -> u64 { let g = d("g"); let b = Tok.plus(leaf(1u64).await); log("end"); b } with ();

    fn c_recv_get() -> u64 { let g = d("g"); let b = Tok.get(leaf(1u64).await); log("end"); b } with ();

    fn c_ref() -> u64 { let g = d("g"); let b = with_tok(&Tok, leaf(1u64).await); log("end"); b } with ();

    fn c_neg() -> u64 { const Z: fn(u64) -> u64 = n_of; Z(leaf(2).await) } with ();

    fn c_struct() -> u64 { struct Q<'a> { t: &'a Tok, n: u64 } let q = Q { t: &Tok, n: leaf(1).await }; log("end"); q.n } with ();

    fn c_struct2() -> u64 { struct Q<'a> { t: &'a Tok, n: u64 } fn f(q: Q<'_>) -> u64 { q.n } let n = f(Q { t: &Tok, n: leaf(1).await }); log("end"); n } with ();

    // reborrows in comparisons
    fn a_raw() -> u64 { let mut n = 1u64; let t = two(n, { { let p = &raw mut n; put(p, 7) } leaf(2).await }); t + n } with ();

    fn a_raw2() -> u64 { let mut n = 1u64; let t = n + { { let p = &raw mut n; put(p, 7) } leaf(2).await }; t + n } with ();

    // heads
    fn h_mut(mut n: u64) -> u64 { if { n += 1; n > 3 } { return 0 } leaf(n).await } with (1);

    fn h_mut2(mut n: u64) -> u64 { if { n += 1; n > 3 } { return 0 } leaf(n).await } with (3);

    fn h_iter(mut it: std::vec::IntoIter<D>) -> u64 { if it.next().is_none() { return 0 } let x = it.next(); wait().await; log("end"); it.len() as u64 } with (vec![D("a"), D("b"), D("c")].into_iter());

    fn h_take(mut o: Option<u64>) -> u64 { if let Some(9) = o.take() { return 1 } wait().await; o.map_or(7, |x| x) } with (Some(3));

    fn h_pop(mut v: Vec<D>) -> u64 { if v.pop().is_none() { return 0 } wait().await; log("mid"); v.len() as u64 } with (vec![D("a"), D("b")]);

    fn h_two(mut a: u64, mut b: u64) -> u64 { if { std::mem::swap(&mut a, &mut b); a > b } { return a } leaf(a).await * 10 + b } with (5, 2);

    fn h_else(mut n: u64) -> u64 { if { n *= 2; n == 4 } { leaf(n).await } else { n + 100 } } with (2);

    fn h_else2(mut n: u64, g: D) -> u64 { if { n *= 2; n == 4 } { leaf(n).await } else { n + 100 } } with (3, D("g"));

    fn h_cell(c: std::cell::Cell<u64>) -> u64 { if c.replace(5) == 9 { return 1 } wait().await; c.get() } with (std::cell::Cell::new(2));

    fn h_seq(mut n: u64) -> u64 { if n == 0 { return 1 } if { n -= 1; n == 0 } { return 2 } if { n -= 1; n == 0 } { return 3 } leaf(n).await } with (5);

    // let _ with a type
    fn l_wild_typed() -> u64 { let _: D = leaf(d("x")).await; log("after"); 1 } with ();

    fn l_wild_typed2() -> u64 { let (_, _): (D, D) = (leaf(d("x")).await, d("y")); log("after"); 1 } with ();

    // formats
    fn f_lit(s: &'static str) -> u64 { let n = 1u64; { let n = leaf(2u64).await; assert_eq!("b", s, "on purpose {n}"); } n } with ("a");

    fn f_lit2(s: &'static str) -> u64 { let n = 1u64; { let n = leaf(2u64).await; let n = n + 1; assert_ne!(s, "a", "on purpose {n:?}"); } n } with ("a");

    fn f_lit3(s: &'static str) -> String { let n = 1u64; let n = leaf(n + 1).await; let t = format!("{n:}>5}|{n:{>w$}|{{n}}|{:?}", "{n}", w = 4); wait().await; t } with ("a");

    fn f_lit4(s: &'static str) -> String { let n = 1u64; let n = leaf(n + 1).await; use std::fmt::Write; let mut o = String::new(); write!(o, "{n} {0:n$.1$}", 1.5, 2, n = 6).unwrap(); wait().await; o } with ("a");

    fn r_assign(r: &mut S) -> bool { let q: &mut S; r.n == { q = r; q.n = 9; leaf(9u64).await } } with (lk(s()));

    fn r_block(r: &mut S) -> bool { r.n == { let q: &mut S = { r }; q.n = 9; leaf(9u64).await } } with (lk(s()));

    fn r_if(r: &mut S, c: bool) -> bool { r.n == { let q: &mut S = if c { r } else { panic!() }; q.n = 9; leaf(9u64).await } } with (lk(s()), true);

    fn r_tuple(r: &mut S) -> bool { r.n == { let q: (&mut S, u64) = (r, 1); q.0.n = 9; leaf(9u64).await } } with (lk(s()));

    fn r_array(r: &mut S) -> bool { r.n == { let q: [&mut S; 1] = [r]; for x in q { x.n = 9; } leaf(9u64).await } } with (lk(s()));

    fn r_cast(r: &mut S) -> bool { r.n == { (r as &mut S).n = 9; leaf(9u64).await } } with (lk(s()));

    fn r_alias(r: M<'_>) -> bool { fn bump(r: &mut S) -> u64 { r.n = 9; 9 } r.n == leaf(bump(r)).await } with (lk(s()));

    fn r_alias_let(r: &mut S) -> bool { fn bump(r: &mut S) -> u64 { r.n = 9; 9 } let r: M = r; r.n == leaf(bump(r)).await } with (lk(s()));

    fn r_infer_let(r: &mut S) -> bool { fn bump(r: &mut S) -> u64 { r.n = 9; 9 } let r: _ = r; r.n == leaf(bump(r)).await } with (lk(s()));

    fn r_box(r: Box<&mut S>) -> bool { fn bump(r: &mut S) -> u64 { r.n = 9; 9 } let r = *r; r.n == leaf(bump(r)).await } with (Box::new(lk(s())));

    fn r_dbg(r: &mut S) -> bool { fn bump(r: &mut S) -> u64 { r.n = 9; 9 } let r = std::convert::identity(r); r.n == leaf(bump(r)).await } with (lk(s()));

    fn r_alias_int(r: Mi<'_>) -> bool { fn bump(r: &mut u64) -> u64 { *r = 9; 9 } *r < leaf(bump(r)).await } with (lk(1));

    fn r_pattern(p: (&mut S, u64)) -> bool { fn bump(r: &mut S) -> u64 { r.n = 9; 9 } let (r, k) = p; r.n == leaf(bump(r)).await } with ((lk(s()), 1));

    fn r_pattern_arg((r, k): (&mut S, u64)) -> bool { fn bump(r: &mut S) -> u64 { r.n = 9; 9 } r.n == leaf(bump(r)).await } with ((lk(s()), 1));

    fn r_for(v: Vec<&mut S>) -> bool { fn bump(r: &mut S) -> u64 { r.n = 9; 9 } let mut b = false; for r in v { b |= r.n == leaf(bump(r)).await; } b } with (vec![lk(s())]);

    fn r_minus(r: Mi<'_>) -> u64 { fn bump(r: &mut u64) -> u64 { *r = 9; 9 } *r + leaf(bump(r)).await } with (lk(1));

    fn r_opt(r: Option<&mut S>) -> bool { fn bump(r: &mut S) -> u64 { r.n = 9; 9 } let Some(r) = r else { return false }; r.n == leaf(bump(r)).await } with (Some(lk(s())));

    fn r_deref_method(r: M<'_>) -> usize { r.v.push(1); r.v.len() + leaf({ r.v.push(2); r.v.len() }).await } with (lk(s()));
}
pub type Mi<'a> = &'a mut u64;

pub fn lk<T>(t: T) -> &'static mut T {
    kept(t)
}
pub fn n_of(n: u64) -> u64 {
    n
}
