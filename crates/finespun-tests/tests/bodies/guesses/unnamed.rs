//! Values without a name: arrays, callees, results of operators. Alternatives of which one determines the type of the
//! others.

use super::kit::*;
use crate::harness::*;

use std::collections::VecDeque;
use std::ops::*;

pub fn total(v: &[N]) -> u64 {
    v.iter().map(|n| n.0).sum()
}
pub fn total_d(v: &[D]) -> u64 {
    v.len() as u64
}
pub fn upto(v: &[N]) -> Range<u64> {
    0..v.len() as u64
}
pub fn adder(g: D) -> impl Fn(u64) -> u64 {
    move |n| n + g.len()
}
pub fn boxed(g: D) -> Box<dyn Fn(u64) -> u64 + Send + Sync> {
    Box::new(move |n| n + g.len())
}
pub fn bigger(a: &[Guard]) -> u64 {
    a.iter().map(|g| **g).max().unwrap()
}
pub fn cfg(g: D) -> impl Fn(&str) -> Option<u64> + Send + Sync {
    move |k| (k == "n").then(|| g.len())
}
pub type Job = Box<dyn FnOnce(u64) -> u64 + Send + Sync>;
pub fn job(g: D) -> Job {
    Box::new(move |n| {
        let n = n + g.len();
        drop(g);
        n
    })
}
fn job_of(g: D) -> impl FnOnce(u64) -> u64 + Send + Sync {
    move |n| {
        let n = n + g.len();
        drop(g);
        n
    }
}
#[derive(Debug, PartialEq, PartialOrd)]
pub struct W(pub u64);
impl Drop for W {
    fn drop(&mut self) {
        log(format_args!("drop W{}", self.0));
    }
}
impl Add for W {
    type Output = W;
    fn add(self, o: W) -> W {
        W(self.0 + o.0)
    }
}
impl Neg for W {
    type Output = W;
    fn neg(self) -> W {
        W(self.0 + 100)
    }
}
impl Not for W {
    type Output = W;
    fn not(self) -> W {
        W(self.0 + 1000)
    }
}
impl Sub<u64> for W {
    type Output = W;
    fn sub(self, o: u64) -> W {
        W(self.0 - o)
    }
}
impl Index<u64> for W {
    type Output = u64;
    fn index(&self, _: u64) -> &u64 {
        &self.0
    }
}
pub fn w(n: u64) -> W {
    log(format_args!("w {n}"));
    W(n)
}
pub enum Cmd {
    Go(D, u64),
    Stop,
}
pub enum Tok {
    Name(String),
    Op(D),
    End,
}

fn leaf_of(d: &D) -> u64 {
    d.len()
}

corpus! {
    fn ar1() -> u64 { let n = total(&[mk(1), mk(2)]) + leaf(3).await; log("end"); n } with ();

    fn ar2() -> u64 { let n = leaf(total(&[mk(1), mk(2)])).await; log("end"); n } with ();

    fn ar3() -> u64 { match total(&[mk(1), mk(2)]) { 3 => { log("arm"); leaf(1).await } n => n } } with ();

    fn ar4() -> u64 { let n = [mk(1), mk(2)][1].0 + leaf(3).await; log("end"); n } with ();

    fn ar5() -> u64 { let n = two([mk(1), mk(2)].len() as u64, leaf(3).await); log("end"); n } with ();

    fn ar6() -> u64 { let mut t = 0; for i in upto(&[mk(1), mk(2)]) { t += leaf(i).await; log("turn"); } t } with ();

    fn ar7() -> u64 { if total(&[mk(1), mk(2)]) < leaf(9).await { log("then"); } 3 } with ();

    fn ar8() -> u64 { two(total(&[mk(1), mk(2)]), leaf(9).await) } with ();

    fn ar9() -> u64 { let b = ([mk(1)] == [mk(2)]) as u64 + leaf(1).await; log("end"); b } with ();

    fn ar10() -> u64 { let x = d("x"); let n = leaf(total_d(&[d("a"), d("b")])).await + x.len(); n } with ();

    fn ar11() -> u64 { wait().await; leaf(total(&[mk(1), mk(2)])).await } with ();

    fn ar12() -> u64 { if let 3 = total(&[mk(1), mk(2)]) { log("then"); wait().await; 1 } else { 2 } } with ();

    fn ar13() -> u64 { let mut i = 0; while let 0..4 = total(&[mk(i), mk(i)]) { log("turn"); i += leaf(1).await; } i } with ();

    fn ar14() -> u64 { let n = total(&mut [mk(1), mk(2)]) + leaf(3).await; log("end"); n } with ();

    fn ar15() -> u64 { leaf(total(&[mk(1), mk(2)][1..])).await } with ();

    fn ar16() -> u64 { return leaf(total(&[mk(1), mk(2)])).await; } with ();

    fn ar17() -> (u64, u64) { (total(&[mk(1), mk(2)]), leaf(9).await) } with ();

    fn ar18() -> u64 { let v = vec![total(&[mk(1), mk(2)]), leaf(9).await]; log("end"); v[0] } with ();

    fn ar19() -> String { let s = format!("{} {}", total(&[mk(1), mk(2)]), leaf(9).await); log("end"); s } with ();

    fn fc1() -> u64 { let n = adder(d("x"))(1) + leaf(1).await; log("end"); n } with ();

    fn fc2() -> u64 { let n = boxed(d("x"))(1) + leaf(1).await; log("end"); n } with ();

    fn fc3() -> u64 { let n = leaf(boxed(d("x"))(1)).await; log("end"); n } with ();

    fn fc4() -> u64 { match adder(d("x"))(1) { 2 => { log("arm"); leaf(1).await } n => n } } with ();

    fn fc5() -> u64 { let g = d("g"); let n = (move || g.len())() + leaf(1).await; log("end"); n } with ();

    fn fc6() -> u64 { let mut t = 0; for i in 0..adder(d("x"))(1) { t += leaf(i).await; log("turn"); } t } with ();

    fn fc7() -> u64 { let g = d("g"); let n = leaf((move |k: u64| g.len() + k)(2)).await; log("end"); n } with ();

    fn fc8() -> u64 { if boxed(d("x"))(1) == leaf(2).await { log("then"); } 1 } with ();

    fn fc9() -> u64 { two(boxed(d("x"))(1), leaf(2).await) } with ();

    fn fc10() -> u64 { let fs = vec![boxed(d("x"))]; let n = fs[0](1) + leaf(2).await; log("end"); n } with ();

    fn fc11() -> u64 { let fs = Some(boxed(d("x"))); let n = fs.unwrap()(1) + leaf(2).await; log("end"); n } with ();

    fn fc12() -> u64 { let n = { boxed(d("x")) }(1) + leaf(2).await; log("end"); n } with ();

    fn fc13() -> u64 { let r = (boxed(d("x"))(1), leaf(2).await); log("end"); r.0 } with ();

    fn fc14() -> u64 { let mut i = 0; while adder(d("x"))(i) < leaf(3).await { log("turn"); i += 1; } i } with ();

    fn fc15() -> u64 { let x = boxed(d("x"))(leaf(2).await); log("end"); x } with ();

    fn fc16() -> u64 { let s = boxed(d("x"))(1); let n = leaf(s).await; log("end"); n } with ();

    fn fc17() -> Option<u64> { let n = leaf(Some(boxed(d("x"))(1))).await?; log("end"); Some(n) } with ();

    fn as1() -> u64 { assert_eq!(leaf(mk(1)).await, mk(1)); log("end"); 1 } with ();

    fn as2() -> u64 { assert_eq!(mk(1), leaf(mk(1)).await, "on purpose {}", d("m").len()); log("end"); 1 } with ();

    fn as3() -> u64 { assert_eq!(mk(1), leaf(mk(2)).await, "on purpose {}", d("m").len()); log("end"); 1 } with ();

    fn as4() -> u64 { assert_ne!(total(&[mk(1)]), leaf(2).await); log("end"); 1 } with ();

    fn as5() -> u64 { assert!(total(&[mk(1)]) < leaf(2).await, "on purpose"); log("end"); 1 } with ();

    fn as6() -> u64 { let v = vec![mk(1), leaf(mk(2)).await]; log("end"); v.len() as u64 } with ();

    fn as7() -> u64 { let n = matches!(leaf(Some(mk(2))).await, Some(ref n) if n.0 == 2) as u64; log("end"); n } with ();

    fn as8() -> u64 { let n = matches!(leaf(Some(mk(2))).await, Some(n) if n.0 == 2) as u64 + leaf(4).await; log("end"); n } with ();

    fn as9() -> String { let mut s = String::new(); use std::fmt::Write; write!(s, "{:?} {}", leaf(mk(1)).await, total(&[mk(3)])).unwrap(); log("end"); s } with ();

    fn as10() -> String { let s = format!("{:?} {:?}", leaf(mk(1)).await, mk(3)); log("end"); s } with ();

    fn as11() -> String { let s = format!("{:?} {:?} {}", mk(3), leaf(mk(1)).await, d("z").len()); log("end"); s } with ();

    fn f1(f: Job, y: D) -> u64 { f(leaf(1).await) } with (job(D("f")), D("y"));

    fn f2() -> u64 { let f = job(d("f")); let y = d("y"); let n = f(leaf(1).await); log("end"); n } with ();

    fn f3() -> u64 { let f = job_of(d("f")); let y = d("y"); let n = f(leaf(1).await); log("end"); n } with ();

    fn f4() -> u64 { let g = d("g"); let f = move |n: u64| { drop(g); n }; let y = d("y"); let n = f(leaf(1).await); log("end"); n } with ();

    fn f6() -> u64 { let f: Job = job(d("f")); let y = d("y"); let n = f(leaf(1).await) + leaf(2).await; log("end"); n } with ();

    fn f7(jobs: Vec<Job>, y: D) -> u64 { let mut t = 0; for f in jobs { let h = d("h"); t += f(leaf(1).await); log("turn"); } t } with (vec![job(D("f")), job(D("k"))], D("y"));

    fn f8() -> u64 { let mut q: VecDeque<Job> = VecDeque::new(); q.push_back(job(d("a"))); q.push_back(job(d("b"))); let mut t = 0; while let Some(f) = q.pop_front() { let h = d("h"); t = f(leaf(t).await); } t } with ();

    fn f9(f: Option<Job>, y: D) -> u64 { match f { Some(f) => { let h = d("h"); f(leaf(1).await) } None => 0 } } with (Some(job(D("f"))), D("y"));

    fn f10(f: impl FnOnce(u64) -> u64 + Send + Sync, y: D) -> u64 { two(f(leaf(1).await), 3) } with (job_of(D("f")), D("y"));

    fn f11(f: fn(u64) -> u64, y: D) -> u64 { f(leaf(1).await) } with (|x| x + 1, D("y"));

    fn f12() -> u64 { let n = cfg(d("c"))("n").unwrap_or(0) + leaf(1).await; log("end"); n } with ();

    fn f13() -> u64 { match cfg(d("c"))("n") { Some(n) => { log("arm"); leaf(n).await } None => 0 } } with ();

    fn f14() -> u64 { if let Some(n) = cfg(d("c"))("n") { log("then"); leaf(n).await } else { log("else"); 0 } } with ();

    fn f15() -> u64 { let Some(n) = cfg(d("c"))("x") else { log("else"); return leaf(0).await }; leaf(n).await } with ();

    fn f16() -> u64 { let n = leaf(bigger(&[held(), held()])).await; log("end"); n } with ();

    fn f17() -> u64 { let n = bigger(&[held(), held()]); log("mid"); leaf(n).await } with ();

    fn f19() -> u64 { let mut n = 0; while let Some(k) = cfg(d("c"))("n") { log("turn"); n += leaf(k).await; if n > 1 { break } } n } with ();

    fn f20() -> Option<u64> { let n = leaf(cfg(d("c"))("n")?).await; log("end"); Some(n) } with ();

    fn f21() -> Option<u64> { let n = leaf(cfg(d("c"))("x")?).await; log("end"); Some(n) } with ();

    fn f22() -> u64 { let x = cfg(d("c"))("n").map_or(0, |n| n) + leaf(2).await; log("end"); x } with ();

    fn f23() -> u64 { let r = two(total(&[mk(1)]), two(leaf(1).await, total(&[mk(2)]))); log("end"); r } with ();

    fn f24() -> u64 { let y = d("y"); let o = Some(d("o")); let z = d("z"); let r = o.map(|g| g.len()).unwrap_or(leaf(2).await); log("end"); r } with ();

    fn f25(o: Option<D>, z: D) -> bool { let r = o.is_some_and(|g| g.len() > 3) || leaf(true).await; log("end"); r } with (Some(D("o")), D("z"));

    fn f26(a: D, b2: D) -> u64 { let p = (a, leaf(1).await, b2); log("end"); p.1 } with (D("a"), D("b"));

    fn f27(a: D, c: D) -> u64 { let p = Pair(a, leaf(c).await); log("end"); p.0.len() } with (D("a"), D("c"));

    fn f28(a: D, c: D) -> u64 { let v = vec![a, leaf(d("n")).await, c]; log("end"); v.len() as u64 } with (D("a"), D("c"));

    fn f29(a: D, c: D) -> (D, u64) { (a, leaf(1).await) } with (D("a"), D("c"));

    fn f30(a: Box<(D, D)>, c: D) -> u64 { let p = Pair(a.0, leaf(a.1).await); log("end"); p.0.len() } with (Box::new((D("a"), D("b"))), D("c"));

    fn f31(s: String, a: D) -> String { s + &leaf("x").await.to_string() } with ("s".to_string(), D("a"));

    fn f32(x: W, y: D) -> W { x + leaf(w(2)).await } with (W(1), D("y"));

    fn f33(y: D) -> W { let x = w(1); let z = d("z"); let r = x + leaf(w(2)).await; log("end"); r } with (D("y"));

    fn f34(y: D) -> W { let x = w(1); let z = d("z"); let r = -x + leaf(w(2)).await; log("end"); r } with (D("y"));

    fn alt_some(i: u64) -> u64 { let o = match leaf(i).await { 1 => Some("x"), _ => { wait().await; None } }; wait().await; o.map_or(0, |s| s.len() as u64) } with (2);

    fn alt_result(i: u64) -> Result<u64, String> { let r = if i == 1 { Err("one") } else { Ok(leaf(i).await) }; match r { Ok(k) => Ok(k), Err(e) => Err(e.to_string()) } } with (2);

    fn alt_vec(i: u64) -> u64 { let v = if i == 1 { vec!["x"] } else { wait().await; vec![] }; wait().await; v.iter().map(|s| s.len() as u64).sum() } with (2);

    fn alt_block(i: u64) -> Result<u64, String> { let r = 'b: { if i == 1 { break 'b Err("one") } let k = leaf(i).await; if k > 5 { break 'b Ok(1) } Ok(k) }; match r { Ok(k) => Ok(k), Err(e) => Err(e.to_string()) } } with (2);

    fn alt_loop(i: u64) -> u64 { let mut k = i; let r = loop { if k == 9 { break Some("nine") } if k > 3 { break None } k += leaf(1u64).await; }; wait().await; r.map_or(7, |s| s.len() as u64) } with (2);

    fn alt_number(c: bool) -> String { let g = d("g"); let n = if c { g.len() } else { wait().await; 0 }; wait().await; format!("{}", n - 1) } with (false);

    fn alt_number_wraps(c: bool) -> String { let n = if c { 3u8 } else { wait().await; 200 }; wait().await; format!("{}", n.wrapping_add(100)) } with (false);

    fn alt_float(c: bool) -> String { let n = match c { true => 3f32, false => { wait().await; 0.1 } }; wait().await; format!("{}", n + 0.2) } with (false);

    fn alt_default(c: bool) -> u64 { let v = if c { vec![d("v")] } else { wait().await; Default::default() }; wait().await; v.len() as u64 } with (false);

    fn alt_collect(c: bool) -> u64 { let v = if c { vec![1u64] } else { wait().await; (0..3).collect() }; wait().await; v.iter().sum() } with (false);

    fn alt_nested(c: bool) -> u64 { let o = if c { Some(Some(1u8)) } else { if leaf(true).await { Some(None) } else { None } }; wait().await; o.flatten().map_or(4, u64::from) } with (false);

    fn alt_borrow(c: bool) -> u64 { let s = String::from("abc"); let n = { let o = if c { Some(&s) } else { None }; o.map_or(0, |s| s.len() as u64) }; wait().await; n + s.len() as u64 } with (false);

    fn alt_tuple(c: bool) -> u64 { let (a, b) = if c { (Some(1u8), d("x")) } else { wait().await; (None, d("y")) }; wait().await; a.map_or(2, u64::from) + b.len() } with (false);

    fn alt_tail(c: bool) -> Option<u64> { let g = d("g"); if c { Some(3) } else { wait().await; None } } with (false);

    fn guarded_part(k: u64) -> u64 { let o = match leaf(k).await { 0 => Some(Tok::Name("x".into())), 1 => Some(Tok::Op(d("op"))), _ => None }; match o { Some(Tok::Name(s)) if s == "x" => leaf(10).await + s.len() as u64, Some(t @ Tok::Op(_)) => { wait().await; 3 } _ => 1 } } with (1);

    fn guarded_part_taken(k: u64) -> u64 { let o = match leaf(k).await { 0 => Some(Tok::Name("x".into())), 1 => Some(Tok::Op(d("op"))), _ => None }; match o { Some(Tok::Name(s)) if s == "x" => leaf(10).await + s.len() as u64, Some(t @ Tok::Op(_)) => { wait().await; 3 } _ => 1 } } with (0);

    fn guarded_whole(k: u64) -> u64 { let t = if k > 0 { Tok::Op(d("op")) } else { Tok::End }; match t { Tok::Op(x) if leaf_of(&x) > 9 => leaf(x).await.len(), t => { wait().await; match t { Tok::Op(x) => x.len(), _ => 0 } } } } with (1);

    fn closure_boxes() -> u64 { let f = |x: u64| -> Option<Box<dyn Show>> { Some(Box::new(N(x))) }; let n = f(3).map_or(0, |s| s.show()); wait().await; n } with ();

    fn closure_errors() -> u64 { let f = |x: u64| -> Result<u64, Box<dyn std::error::Error>> { if x > 3 { Err("large".into()) } else { Ok(x) } }; let n = f(leaf(3).await).unwrap_or(9); wait().await; n + f(4).unwrap_or(1) } with ();

    fn index_add_made() -> u64 { let mut v = vec![1u64, 2]; v[1] += leaf(2u64).await * 2 + 1; v[0] -= u64::from(leaf(true).await); v[0] + v[1] } with ();

    fn index_add_out() -> u64 { let mut v = vec![1u64]; v[1] += { log("rhs"); leaf(2u64).await } * 2; v[0] } with ();
}
