//! The order of evaluation beside an await, tasks as values, iterators.

use super::kit::*;
use crate::harness::*;

pub struct S {
    n: u64,
    m: u64,
}
#[derive(Clone, Copy)]
pub struct Pt(u64);
impl Pt {
    pub fn dist(self, o: u64) -> u64 {
        self.0 * 10 + o
    }
}
pub fn bump(s: &mut S) -> u64 {
    s.n += 1;
    s.n
}
pub fn inc(n: &mut u64) -> u64 {
    *n += 1;
    *n
}
pub fn incp(n: &mut Pt) -> u64 {
    n.0 += 1;
    n.0
}
pub fn pops(v: &mut Vec<u64>) -> u64 {
    v.pop().unwrap_or(9)
}
pub struct It(u64, D);
impl Iterator for It {
    type Item = D;
    fn next(&mut self) -> Option<D> {
        point();
        log("next");
        self.0 += 1;
        (self.0 < 3).then(|| d("item"))
    }
}
impl Drop for It {
    fn drop(&mut self) {
        log("drop it");
    }
}
pub fn it() -> It {
    It(0, d("inner"))
}
pub fn double(n: u64) -> u64 {
    n * 2
}
pub type Fp = fn(u64) -> u64;
pub type Bx = Box<dyn Show>;
#[derive(Debug)]
pub struct V(D, u64);
impl std::ops::Add<&V> for &V {
    type Output = V;
    fn add(self, o: &V) -> V {
        log("add");
        V(d("sum"), self.1 + o.1)
    }
}
impl std::ops::Neg for V {
    type Output = u64;
    fn neg(self) -> u64 {
        self.1
    }
}
impl std::ops::Index<u64> for V {
    type Output = u64;
    fn index(&self, i: u64) -> &u64 {
        point();
        log("index");
        &self.1
    }
}
impl std::ops::IndexMut<u64> for V {
    fn index_mut(&mut self, i: u64) -> &mut u64 {
        point();
        log("index mut");
        &mut self.1
    }
}

corpus! {
    fn cmp_field_bumped() -> bool { let s = &mut S { n: 1, m: 0 }; let b = s.n == leaf(bump(s)).await; b } with ();

    fn cmp_field_less() -> bool { let mut t = S { n: 1, m: 0 }; let s = &mut t; if s.n < leaf(bump(s)).await { wait().await; true } else { false } } with ();

    fn cmp_deref_bumped(mut k: u64) -> bool { let n = &mut k; *n != leaf(inc(n)).await } with (1);

    fn cmp_index_popped() -> bool { let v = &mut vec![1u64]; let b = v[0] == leaf(pops(v)).await; b } with ();

    fn while_cmp_bumped(mut k: u64) -> u64 { let n = &mut k; let mut t = 0; while *n < leaf(inc(n)).await { t += 1; if t > 3 { break } } t } with (1);

    fn recv_deref_bumped(mut k: u64) -> u64 { let n = &mut k; n.wrapping_mul(leaf(inc(n)).await) } with (3);

    fn recv_deref_pow(mut k: u64) -> u64 { let n = &mut k; n.pow(leaf(inc(n)).await as u32) } with (2);

    fn recv_user_copy() -> u64 { let mut k = Pt(1); let n = &mut k; n.dist(leaf(incp(n)).await) } with ();

    fn plus_deref_bumped(mut k: u64) -> u64 { let n = &mut k; *n + leaf(inc(n)).await } with (3);

    fn arg_deref_bumped(mut k: u64) -> u64 { let n = &mut k; two(*n, leaf(inc(n)).await) } with (3);

    fn index_compare_order() -> bool { let v = V(d("v"), 3); let b = v[0] == leaf(d("x")).await.len(); log("end"); b } with ();

    fn index_compare_oob() -> bool { let v = vec![1u64]; let k = leaf(4usize).await; let w = std::panic::catch_unwind(|| v[0]); let b = k < 1 && v[k] == leaf(d("x")).await.len(); b } with ();

    fn index_assign_order() -> u64 { let mut v = V(d("v"), 3); v[0] = leaf(d("x")).await.len(); v[1] += leaf(d("y")).await.len(); log("end"); v[2] } with ();

    fn index_ref_arg() -> u64 { fn f(a: &u64, n: u64) -> u64 { log("f"); *a + n } let v = V(d("v"), 3); f(&v[0], leaf(d("x")).await.len()) } with ();

    fn and_temp() -> bool { let b = leaf(mk(2)).await.val() < 4 && mk(1).val() == 1; log("end"); b } with ();

    fn or_temp() -> bool { let b = leaf(mk(2)).await.val() > 4 || mk(1).val() == 1; log("end"); b } with ();

    fn and_temp_if() -> u64 { if leaf(mk(2)).await.val() < 4 && mk(1).val() == 1 { log("then"); 1 } else { 2 } } with ();

    fn and_temp_tail() -> bool { leaf(mk(2)).await.val() < 4 && mk(1).val() == 1 } with ();

    fn and_temp_arg() -> u64 { eat((leaf(mk(2)).await.val() < 4 && mk(1).val() == 1, leaf(1).await)); log("end"); 1 } with ();

    fn and_temp_plain_right() -> bool { let g = leaf(d("k")).await.yes() && d("r").yes() && { log("third"); true }; log("end"); g } with ();

    fn and_temp_match() -> bool { matches!(leaf(mk(1)).await.opt(), Some(1)) && mk(2).val() == 2 } with ();

    fn not_temp() -> bool { !(leaf(mk(2)).await.val() == 2) || mk(1).val() == 1 } with ();

    fn nested_await() -> u64 { let x = leaf(leaf(d("x"))).await; log("made"); let y = x.await; wait().await; let f = leaf(leaf(1u64)).await.await; y.len() + f } with ();

    fn vec_of_tasks() -> u64 { let list = vec![leaf(d("a")), leaf(d("b")), leaf(d("c"))]; let mut n = 0; for (i, t) in list.into_iter().enumerate() { let x = t.await; log(x.name()); n += x.len(); if i == 1 { break } } log("end"); n } with ();

    fn option_task(c: bool) -> u64 { let mut o = Some(leaf(d("a"))); if c { if let Some(t) = o.take() { eat(t.await); } } o = Some(leaf(d("b"))); wait().await; log("end"); match o { Some(t) if c => t.await.len(), _ => 0 } } with (true);

    fn task_dropped() -> u64 { let t = leaf(d("a")); let u = leaf(d("b")); wait().await; drop(t); log("mid"); wait().await; 1 } with ();

    fn user_iterator() -> u64 { let g = d("g"); let mut n = 0; for x in it() { wait().await; n += x.len(); log("turn"); } log("end"); n } with ();

    fn user_iterator_break() -> D { let g = d("g"); for x in it() { if leaf(true).await { return leaf(x).await } } d("none") } with ();

    fn user_iterator_ref() -> u64 { let mut i = it(); for x in &mut i { wait().await; break } for x in i.by_ref().map(|x| x.len()) { eat(leaf(d("t")).await); } wait().await; log("end"); i.0 } with ();

    fn user_iterator_while() -> u64 { let mut i = it(); while let Some(x) = i.next() { wait().await; log("turn"); } log("end"); 1 } with ();

    fn user_ops() -> u64 { let v = V(d("v"), 1); let s = &v + &leaf(V(d("w"), 2)).await; log("1"); let t = &(&s + &v) + &leaf(V(d("x"), 3)).await; log("2"); -t + -leaf(V(d("y"), 4)).await } with ();

    fn catch_unwind_inside() -> u64 { let g = d("g"); let r = std::panic::catch_unwind(|| { let x = D("in"); if true { panic!("on purpose inner") } 1u64 }); wait().await; log(r.is_err()); leaf(d("a")).await.len() } with ();

    fn attrs() -> u64 { #[allow(unused)] let x = { #[allow(unused)] { leaf(d("x")).await } }; #[allow(unused)] match leaf(1).await { #[allow(unused)] 1 => { wait().await } _ => () } #[allow(unused)] if leaf(true).await { log("t") } x.len() } with ();

    fn no_semis() -> u64 { let x = d("x"); { wait().await } if x.yes() { wait().await } loop { break } match x { ref y => { wait().await } } for _ in 0..1 { wait().await } while x.no() { wait().await } { x.len() } } with ();

    fn weird_exprs() -> u64 { let a = (((leaf(1).await))); let b = { { { leaf(2).await } } }; let c = if { let t = d("t"); leaf(t.yes()).await } { 3 } else { 4 }; let e = match { wait().await; 5 } { n => n }; let f = loop { break loop { break leaf(6).await } }; let g = (|| 7)(); let h = { fn z() -> u64 { 8 } z() } + leaf(9).await; a + b + c + e + f + g + h } with ();

    fn unit_values() -> u64 { let () = leaf(()).await; let u = wait().await; let v = { wait().await; }; let w = if leaf(true).await { wait().await }; let z = while leaf(false).await {}; let y = (wait().await, wait().await); let () = match leaf(1).await { 1 => wait().await, _ => {} }; eat((u, v, w, z)); 1 } with ();

    fn shadow_loop_var() -> u64 { let i = 5u64; let mut s = 0; for i in 0..leaf(i).await { let i = leaf(i + 1).await; s += i; for i in 0..i { s += leaf(i).await } } s + i } with ();

    fn alias_fn() -> u64 { async fn x() -> u64 { 1 } let f: Fp = leaf(double as Fp).await; f(2) } with ();

    fn str_slices(s: String) -> String { let (a, b) = s.split_at(2); let c = leaf(a.len()).await; let e = format!("{b}{c}"); wait().await; let [x, y, ..] = s.as_bytes() else { return e }; let z = leaf(*x as char).await; format!("{e}{z}{}", *y as char) } with ("hello".to_string());

    fn ret_closure_env() -> u64 { let x = d("x"); let v: Vec<u64> = (0..3).map(|i| i + x.len()).filter(|k| *k > 1).collect(); let k = v.iter().map(|&n| n).fold(0, |a, b| a + b); let r = leaf(k).await; log("end"); drop(x); r } with ();
}
