//! More coercions: slices and texts in arms, closures, trait objects in collections and calls.

use super::kit::*;
use super::shapes::*;
use crate::harness::*;
use std::borrow::Cow;
use std::collections::*;
use std::fmt::{Debug, Display};
use std::pin::Pin;
use std::sync::Arc;



pub fn opt_slice(a: Option<&[u64]>, b: u64) -> u64 { a.map_or(0, |a| a.len() as u64) + b }
pub fn change(a: &mut dyn Grow, b: u64) -> u64 { a.grow(b) }
pub trait Grow: Send { fn grow(&mut self, n: u64) -> u64; }
impl Grow for u64 { fn grow(&mut self, n: u64) -> u64 { *self += n; *self } }
impl Grow for Vec<D> { fn grow(&mut self, n: u64) -> u64 { self.push(d("grown")); self.len() as u64 + n } }
pub fn all(a: Vec<&dyn Area>, b: u64) -> u64 { a.iter().map(|a| a.area()).sum::<u64>() + b }
pub fn res(a: Result<Shape, D>, b: u64) -> u64 { a.map_or_else(|e| e.len(), |a| a.area()) + b }
pub fn nested(a: Option<Box<[Shape]>>, b: (u64, &dyn Area)) -> u64 { a.map_or(0, |a| a.len() as u64) + b.0 + b.1.area() }
pub struct Bus { pub on: Vec<Box<dyn FnMut(u64) -> u64 + Send>>, pub names: BTreeMap<&'static str, fn(&D) -> u64> }
pub struct Wrap<'a, T: ?Sized> { pub t: &'a T, pub n: u64 }
impl<'a, T: ?Sized> Wrap<'a, T> { pub fn new(t: &'a T, n: u64) -> Self { Wrap { t, n } } }
pub struct Deep(pub Vec<D>);
impl std::ops::Deref for Deep { type Target = Vec<D>; fn deref(&self) -> &Vec<D> { &self.0 } }
impl std::ops::DerefMut for Deep { fn deref_mut(&mut self) -> &mut Vec<D> { &mut self.0 } }
pub fn names(a: &[D], b: u64) -> u64 { a.iter().map(|a| a.len()).sum::<u64>() + b }
corpus! {
    fn e_slice_arms() -> u64 { let v = vec![1u64, 2]; slice(if leaf(true).await { &v } else { &[] }, leaf(1).await) + slice(match leaf(1).await { 1 => &[7, 8, 9], 2 => &v[1..], _ => &v }, 0) } with ();
    fn e_slice_let_arms() -> u64 { let v = vec![1u64, 2]; let s: &[u64] = match leaf(2).await { 1 => &[1, 2, 3], 2 => { wait().await; &v } _ => return 0 }; wait().await; let o: Option<&[u64]> = if s.len() == 2 { Some(&v) } else { None }; wait().await; slice(o.unwrap_or(&[]), leaf(1).await) } with ();
    fn e_text_arms() -> u64 { let s = String::from("own"); text(if leaf(false).await { "lit" } else { &s }, leaf(1).await) + text(match leaf(1).await { 1 => &s, _ => "x" }, leaf(2).await) + text({ let k = d("k"); wait().await; &s }, leaf(k_of()).await) } with ();
    fn e_text_let_arms() -> u64 { let s = String::from("own"); let t: &str = if leaf(true).await { &s } else { "lit" }; wait().await; let u = match leaf(Some("in")).await { Some(u) => u, None => &s }; wait().await; (t.len() + u.len()) as u64 } with ();
    fn e_opt_slice() -> u64 { let v = vec![1u64]; opt_slice(Some(&v), leaf(1).await) + opt_slice(Some(&[1, 2]), leaf(1).await) + opt_slice(if leaf(true).await { Some(&v[..]) } else { None }, leaf(1).await) + opt_slice(None, leaf(2).await) } with ();
    fn e_dyn_mut() -> u64 { let mut n = 3u64; let mut v = vec![d("v")]; let a = change(&mut n, leaf(1).await) + change(&mut v, leaf(2).await); let r: &mut dyn Grow = if leaf(true).await { &mut n } else { &mut v }; wait().await; let b = change(r, leaf(3).await); let c = change(r, 1); a + b + c + n } with ();
    fn e_vec_of_refs() -> u64 { let (a, b) = (d("a"), N(2)); all(vec![&a, &b], leaf(1).await) + all(vec![if leaf(true).await { &a } else { &b }], 1) + all([&a as &dyn Area, &b].to_vec(), leaf(2).await) } with ();
    fn e_result_box() -> u64 { res(Ok(Box::new(d("ok"))), leaf(1).await) + res(Err(d("err")), leaf(2).await) + res(if leaf(true).await { Ok(Box::new(N(4))) } else { Err(d("no")) }, leaf(3).await) + res(match leaf(3).await { 3 => Err(leaf(d("three")).await), n => Ok(Box::new(N(n))) }, 0) } with ();
    fn e_nested_option_slice() -> u64 { let q = p(1, 2); nested(Some(Box::new([Box::new(d("a")), Box::new(leaf(N(2)).await)])), (leaf(1).await, &q)) + nested(None, (1, if leaf(true).await { &q } else { &*kept(N(1)) })) } with ();
    fn e_bus() -> u64 { let mut seen = leaf(0).await; let mut bus = Bus { on: vec![Box::new(|n| n + 1), Box::new(move |n| { seen += n; seen })], names: BTreeMap::from([("len", D::len as fn(&D) -> u64)]) }; bus.on.push(Box::new(|n| n * 2)); wait().await; bus.names.insert("two", |x| x.len() * 2); let mut t = 0; for f in &mut bus.on { t += f(leaf(t + 1).await); } wait().await; for (n, f) in &bus.names { t += f(&d("x")); log(n); wait().await; } t += (bus.on[0])(leaf(1).await) + bus.names["two"](&leaf(d("yy")).await); t } with ();
    fn e_wrap_unsized() -> u64 { let a = d("a"); let v = vec![1u64, 2]; let w: Wrap<'_, dyn Area> = Wrap { t: &a, n: leaf(1).await }; wait().await; let x: Wrap<[u64]> = Wrap { n: leaf(2).await, t: &v }; let y = Wrap::<str>::new(&String::from("tmp"), leaf(3).await).n; let z = Wrap::<dyn Area>::new(&a, leaf(4).await); wait().await; w.t.area() + w.n + x.t.len() as u64 + y + z.t.area() } with ();
    fn e_deref_user() -> u64 { let mut x = Deep(vec![d("a")]); x.push(leaf(d("bb")).await); let n = names(&x, leaf(1).await); wait().await; let m = names(&x[1..], 0) + x.iter().map(|d| d.len()).sum::<u64>() + x.len() as u64; for y in x.iter() { log(y.name()); wait().await; } n + m } with ();
    fn e_map_insert_arms() -> u64 { let mut m: BTreeMap<u64, Shape> = BTreeMap::new(); for i in 0..3u64 { let old = m.insert(leaf(i % 2).await, if i == 1 { Box::new(d("one")) } else { Box::new(N(i)) }); log(old.is_some()); } wait().await; m.remove(&0).map_or(0, |s| s.area()) } with ();
    fn e_entry_or_insert() -> u64 { let mut m: BTreeMap<&str, Vec<Shape>> = BTreeMap::new(); for k in ["a", "b", "a"] { m.entry(k).or_insert_with(Vec::new).push(Box::new(leaf(d("x")).await)); wait().await; m.get_mut(k).unwrap().push(if leaf(k == "a").await { Box::new(N(1)) } else { Box::new(d("y")) }); } log("end"); m.values().map(|v| v.len() as u64).sum() } with ();
    fn e_option_combinators() -> u64 { let a = d("a"); let o = leaf(Some(String::from("text"))).await; let s = o.as_deref().unwrap_or("none"); wait().await; let n = o.as_ref().map(|t| t.len()).unwrap_or_default() as u64; let r: &dyn Area = Some(&a).map(|x| x as &dyn Area).unwrap_or(&a); let z = r.area(); wait().await; n + z + text(o.as_ref().map_or("", |t| t), leaf(1).await) } with ();
    fn e_block_values() -> u64 { let f: &(dyn Fn(u64) -> u64 + Sync) = { let k = leaf(2).await; &move |n| n + k }; wait().await; let s: Shape = { let k = d("k"); wait().await; if k.yes() { Box::new(k) } else { Box::new(N(1)) } }; let v: Vec<Shape> = { let mut v: Vec<Shape> = vec![]; v.push(s); v }; wait().await; f(v[0].area()) } with ();
    fn e_unsafe_block_value() -> u64 { let a = d("a"); let s: Box<dyn Area> = unsafe { wait().await; Box::new(leaf(N(3)).await) }; let r: &dyn Area = unsafe { &a }; wait().await; own(unsafe { s }, leaf(1).await) + r.area() } with ();
    fn e_label_block_box() -> u64 { let s: Shape = 'x: { let k = d("k"); if leaf(1).await == 2 { break 'x Box::new(k) } if leaf(1).await == 1 { break 'x Box::new(leaf(N(6)).await) } Box::new(p(1, 2)) }; wait().await; own(s, leaf(1).await) } with ();
    fn e_return_ref_arms(v: &'static Vec<u64>, s: &'static String) -> (&'static [u64], &'static str) { let k = d("k"); if leaf(v.is_empty()).await { return (&[], "empty") } wait().await; (v, if k.no() { "no" } else { s }) } with (kept(vec![1, 2]), kept("s".to_string()));
    fn e_try_convert_arms(n: u64) -> Result<Box<dyn Area>, Box<dyn std::error::Error + Send + Sync>> { let k = d("k"); Ok(match leaf(n).await { 0 => Box::new(k), 1 => return Err(Box::from("one")), 2 => Err("two")?, 3 => Box::new(leaf(N(u64::from_str_radix("7", 8)?)).await), _ => { wait().await; Box::new(p(n, n)) } }) } with (3);
    fn e_try_convert_err(n: u64) -> Result<Box<dyn Area>, Box<dyn std::error::Error + Send + Sync>> { let k = d("k"); Ok(match leaf(n).await { 0 => Box::new(k), 1 => return Err(Box::from("one")), 2 => Err(format!("two {}", leaf(k.len()).await))?, _ => { wait().await; Box::new(p(n, n)) } }) } with (2);
    fn e_generic_call_arms() -> u64 { fn pick<T: ?Sized + Area>(a: &T, b: u64) -> u64 { a.area() + b } let (a, b) = (d("a"), N(4)); let r: &dyn Area = &b; pick(r, leaf(1).await) + pick::<dyn Area>(&a, leaf(2).await) + pick(&a, { wait().await; 3 }) + pick(if leaf(true).await { r } else { &a }, leaf(1).await) } with ();
    fn e_iter_dyn() -> u64 { let v = vec![d("a"), d("bb")]; let it: Box<dyn Iterator<Item = &D> + Send> = if leaf(true).await { Box::new(v.iter().rev()) } else { Box::new(v.iter()) }; let mut t = 0; for x in it { t = t * 10 + leaf(x.len()).await; } t } with ();
    fn e_async_recursion_of_closure() -> u64 { let add: Box<dyn Fn(u64) -> Box<dyn Fn(u64) -> u64 + Send + Sync> + Send + Sync> = Box::new(|a| Box::new(move |b| a + b)); let f = add(leaf(1).await); wait().await; let g = add(f(leaf(2).await)); g(leaf(3).await) + add(1)(leaf(2).await) } with ();
    fn e_match_guard_dyn() -> u64 { let list: Vec<Shape> = vec![Box::new(d("a")), Box::new(leaf(N(20)).await), Box::new(p(2, 3))]; let mut t = 0; for s in list { match s.area() { 0 => {} n if n > 10 => { t += own(s, leaf(1).await); log("big"); } n => { wait().await; t += n } } } t } with ();
    fn e_const_fn_pointer() -> u64 { const F: fn(u64) -> u64 = inc; static G: &[(&str, fn(u64) -> u64)] = &[("i", inc), ("d", dec)]; let f = G.iter().find(|(n, _)| *n == "d").map(|(_, f)| *f).unwrap_or(F); wait().await; apply(f, leaf(5).await) + apply(F, leaf(1).await) + F(leaf(2).await) + apply(if leaf(true).await { F } else { |n| n }, 1) } with ();
    fn e_mixed_integer_kinds() -> u64 { let n = leaf(3u8).await; let i: usize = n.into(); let v = [10u64, 20, 30, 40]; let t = v[i] + u64::from(n) + v[leaf(1).await] + (n as u64) << leaf(1u32).await; wait().await; t + v.get(leaf(9).await).copied().unwrap_or_default() + u64::try_from(leaf(-1i64).await).unwrap_or(7) } with ();
    fn e_assign_index_and_field() -> u64 { let mut v: Vec<Shape> = vec![Box::new(d("a")), Box::new(N(1))]; v[leaf(0).await] = Box::new(leaf(N(5)).await); log("set"); let mut h = Holder { list: v, one: Box::new(d("one")), f: inc, n: 1 }; h.one = if leaf(true).await { Box::new(N(2)) } else { Box::new(d("x")) }; log("field"); h.f = |n| n * 100; h.list[1] = Box::new(d("last")); h.n += leaf(1).await; wait().await; h.total() } with ();
    fn e_tuple_fn_coerced() -> u64 { let t: (fn(u64) -> u64, &str, Box<dyn Fn(u64) -> u64 + Send + Sync>) = (inc, &leaf(String::from("s")).await, Box::new(|n| n + 9)); wait().await; (t.0)(1) + t.1.len() as u64 + (t.2)(leaf(1).await) } with ();
    fn e_while_let_dyn() -> u64 { let mut stack: Vec<Shape> = vec![Box::new(N(2))]; let mut t = 0; while let Some(top) = stack.pop() { let n = top.area(); t += n; if n > 0 && t < 5 { stack.push(if leaf(n == 1).await { Box::new(d("pushed")) } else { Box::new(N(n - 1)) }); wait().await; } } t } with ();
}
fn k_of() -> u64 { 3 }
