//! Values taken by methods, coerced parts, and captures by macros.

use super::kit::*;
use crate::harness::*;
use std::collections::hash_map::Entry;
use std::collections::*;

pub fn opt_show(b: Option<Box<dyn Show>>, n: u64) -> u64 {
    b.map_or(0, |b| b.show()) + n
}
pub fn list_show(b: Vec<Box<dyn Show>>, n: u64) -> u64 {
    b.iter().map(|b| b.show()).sum::<u64>() + n
}
pub fn tup_show(b: (Box<dyn Show>, u64), n: u64) -> u64 {
    b.0.show() + n
}
pub fn arr_show(b: [&dyn Show; 2], n: u64) -> u64 {
    b[0].show() + n
}
pub fn show_one(b: Box<dyn Show>, n: u64) -> u64 {
    b.show() + n
}
pub fn opt_str(s: Option<&str>, n: u64) -> u64 {
    s.map_or(0, |s| s.len() as u64) + n
}
pub fn opt_slice(s: Option<&[u64]>, n: u64) -> u64 {
    s.map_or(0, |s| s.len() as u64) + n
}
pub fn opt_bytes(s: Option<&[u8]>, n: u64) -> u64 {
    s.map_or(0, |s| s.len() as u64) + n
}
pub fn bytes(s: &[u8], n: u64) -> u64 {
    s.len() as u64 + n
}
pub fn boxed_d() -> Box<D> {
    Box::new(d("bd"))
}
pub fn boxed_n() -> Box<N> {
    Box::new(N(4))
}

corpus! {
    fn co_opt_local() -> u64 { let b = Box::new(d("b")); opt_show(Some(b), leaf(1).await) } with ();

    fn co_opt_call() -> u64 { opt_show(Some(boxed_d()), leaf(1).await) } with ();

    fn co_vec_local() -> u64 { let a = Box::new(d("a")); let b = Box::new(N(2)); list_show(vec![a, b], leaf(1).await) } with ();

    fn co_tup_local() -> u64 { let a = Box::new(d("a")); tup_show((a, 2), leaf(1).await) } with ();

    fn co_arr_local() -> u64 { let (x, y) = (d("x"), N(1)); let (a, b) = (&x, &y); arr_show([a, b], leaf(1).await) } with ();

    fn co_if_local() -> u64 { let a = Box::new(d("a")); let b = Box::new(N(2)); show_one(if leaf(true).await { a } else { b }, 1) } with ();

    fn co_match_call() -> u64 { show_one(match leaf(1).await { 1 => boxed_d(), _ => boxed_n() }, 1) } with ();

    fn co_match_bytes() -> u64 { bytes(match leaf(1).await { 1 => b"abc", _ => b"de" }, 1) } with ();

    fn co_opt_bytes() -> u64 { opt_bytes(Some(b"abc"), leaf(1).await) } with ();

    fn co_opt_str(s: String) -> u64 { fn g(s: &String, n: u64) -> u64 { n } let r = &s; let k = opt_str(Some(r), 2); leaf(k).await } with ("ab".into());

    fn co_let_dyn() -> u64 { let b: Box<dyn Show> = if leaf(true).await { boxed_d() } else { boxed_n() }; b.show() } with ();

    fn co_ret_dyn(n: u64) -> Box<dyn std::fmt::Debug + Send> { if n == 0 { return boxed_n() } match leaf(n).await { 1 => boxed_d(), _ => boxed_n() } } with (1);

    fn co_err_box(n: u64) -> Result<u64, String> { let r: Result<u64, Box<dyn std::error::Error + Send + Sync>> = if leaf(n).await > 3 { Err("too big".into()) } else { Ok(3) }; r.map_err(|e| e.to_string()) } with (5);

    fn co_question_box(s: String) -> Result<u64, Box<dyn std::error::Error + Send + Sync>> { let n: u64 = s.parse()?; let k = leaf(n).await; if k > 3 { return Err("too big".into()) } if k == 3 { Err("three")? } Ok(k) } with ("5".into());

    fn co_question_box2(s: String) -> Result<u64, Box<dyn std::error::Error + Send + Sync>> { let n: u64 = leaf(s).await.trim().parse()?; Ok(leaf(n).await) } with ("5x".into());

    fn li_iter_take() -> u64 { let it = vec![d("a"), d("b"), d("c")].into_iter(); let v: Vec<D> = it.take(2).collect(); wait().await; log("end"); v.len() as u64 } with ();

    fn li_iter_last() -> u64 { let it = vec![d("a"), d("b"), d("c")].into_iter(); let x = it.last(); wait().await; log("end"); x.is_some() as u64 } with ();

    fn li_chars_last() -> u64 { let t = String::from("a,b,cd"); let it = t.split(','); let x = it.last().map_or(0, |s| s.len()); wait().await; x as u64 } with ();

    fn li_write_by_value() -> u64 { use std::io::Read; let data = vec![1u8, 2, 3]; let cur = std::io::Cursor::new(data); let n = cur.bytes().count(); wait().await; n as u64 } with ();

    fn li_take_reader() -> u64 { use std::io::Read; let cur = std::io::Cursor::new(vec![1u8, 2, 3]); let mut out = Vec::new(); cur.take(2).read_to_end(&mut out).unwrap(); wait().await; out.len() as u64 } with ();

    fn li_entry() -> u64 { let mut m = HashMap::from([(1u64, 2u64)]); let k = match m.entry(3) { Entry::Vacant(v) => *v.insert(9), Entry::Occupied(o) => o.remove() }; wait().await; k } with ();

    fn fm_dead(name: &'static str) -> u64 { let n = leaf(5u64).await; wait().await; assert_eq!("x", name, "wrong at {n}"); 1 } with ("x");

    fn fm_dead2(name: &'static str) -> u64 { let n = leaf(5u64).await; wait().await; assert_ne!(name, "y", "wrong at {n:?}"); leaf(1).await } with ("x");

    fn fm_dead3(name: &'static str) -> u64 { for i in 0..2u64 { let got = leaf(i).await; wait().await; assert_eq!("x", name, "round {i}: got {got}"); } 1 } with ("x");

    fn fm_lit_cond(name: &'static str) -> u64 { let n = leaf(5u64).await; wait().await; debug_assert_eq!("x", name, "wrong at {}", n); 1 } with ("x");

    fn re_tuple(p: (Box<u64>, u64)) -> u64 { let t = p; let k = *t.0 + leaf(1).await; k } with ((Box::new(1), 2));

    fn le_vacant(m: &mut HashMap<u64, u64>) -> u64 { if let Entry::Vacant(slot) = m.entry(1) { slot.insert(2); wait().await; } leaf(3).await } with (lk(HashMap::new()));

    fn le_match(m: &mut HashMap<u64, u64>) -> u64 { let k = match m.entry(1) { Entry::Vacant(slot) => { let k = *slot.insert(2); leaf(k).await } Entry::Occupied(o) => { let (_, v) = o.remove_entry(); leaf(v).await } }; m.insert(5, k); k } with (lk(HashMap::new()));

    fn le_occ(m: &mut HashMap<u64, u64>) -> u64 { if let Entry::Occupied(o) = m.entry(1) { let v = o.remove(); return leaf(v).await } leaf(3).await } with (lk(HashMap::from([(1, 7)])));

    fn le_it(v: &[u64]) -> u64 { let it = v.iter(); let s: u64 = it.take(2).sum(); leaf(s).await } with (&[1, 2, 3]);

    fn le_chars(s: &str) -> u64 { let it = s.split(','); let last = it.last().unwrap_or(""); leaf(last.len() as u64).await } with ("a,bcd");

    fn le_opt_local(s: &String) -> u64 { opt_str(Some(s), leaf(1).await) } with (lk("abc".to_string()));

    fn le_opt_slice(v: &Vec<u64>) -> u64 { opt_slice(Some(v), leaf(1).await) } with (lk(vec![1, 2]));

    fn le_opt_slice2(v: &[u64; 3]) -> u64 { opt_slice(Some(v), leaf(1).await) } with (&[1, 2, 3]);

    fn le_tuple_str(v: &String) -> u64 { fn f(p: (&str, u64), n: u64) -> u64 { p.0.len() as u64 + n } f((v, 1), leaf(1).await) } with (lk("abc".to_string()));

    fn le_struct_str(v: &String) -> u64 { struct P<'a> { s: &'a str, n: u64 } let p = P { s: v, n: leaf(2).await }; p.s.len() as u64 + p.n } with (lk("abc".to_string()));

    fn le_if_str(v: &String, w: &'static str) -> u64 { fn f(p: &str) -> u64 { p.len() as u64 } f(if leaf(true).await { v } else { w }) } with (lk("abc".to_string()), "x");

    fn le_reborrow_opt(r: &mut Vec<u64>) -> u64 { fn f(p: Option<&mut Vec<u64>>, n: u64) { p.unwrap().push(n) } f(Some(r), leaf(1).await); f(Some(r), leaf(2).await); r.len() as u64 } with (lk(vec![]));

    fn le_reborrow_struct(r: &mut Vec<u64>) -> u64 { struct P<'a> { v: &'a mut Vec<u64>, n: u64 } let p = P { v: r, n: leaf(2).await }; p.v.push(p.n); let q = P { v: r, n: leaf(3).await }; q.v.push(q.n); r.len() as u64 } with (lk(vec![]));
}

pub fn lk<T>(t: T) -> &'static mut T {
    kept(t)
}
