//! Coercions and inference beside awaits.

use super::kit::*;
use super::shapes::*;
use crate::harness::*;
use std::borrow::Cow;
use std::collections::*;
use std::fmt::{Debug, Display};
use std::pin::Pin;
use std::sync::Arc;


corpus! {
    fn c_ref_beside(c: bool) -> u64 { let (a, b) = (d("a"), N(4)); pair_of(if c { &a } else { &b }, leaf(1).await) } with (true);
    fn c_ref_match_beside() -> u64 { let (a, b) = (d("a"), N(4)); pair_of(match leaf(2).await { 1 => &a, _ => &b }, leaf(1).await) } with ();
    fn c_ref_block_beside() -> u64 { let a = d("a"); pair_of({ log("block"); &a }, leaf(1).await) + pair_of(unsafe { &a }, leaf(2).await) } with ();
    fn c_box_if_await_inside() -> u64 { own(if leaf(true).await { Box::new(d("a")) } else { Box::new(N(1)) }, leaf(2).await) } with ();
    fn c_box_match_await_inside() -> u64 { let s: Shape = match leaf(2).await { 1 => Box::new(d("a")), 2 => { let k = d("k"); Box::new(leaf(N(3)).await) } _ => Box::new(p(1, 2)) }; wait().await; s.area() } with ();
    fn c_box_nested_if() -> u64 { let c = leaf(3).await; own(if c > 2 { if c > 5 { Box::new(d("a")) } else { match c { 3 => Box::new(N(7)), _ => Box::new(p(1, 1)) } } } else { Box::new(d("z")) }, leaf(1).await) } with ();
    fn c_method_argument() -> u64 { let mut h = Holder { list: vec![Box::new(d("l"))], one: Box::new(N(2)), f: inc, n: 0 }; h.add(Box::new(d("x")), leaf(1).await).add(Box::new(p(2, 3)), leaf(2).await); wait().await; h.total() } with ();
    fn c_struct_fields() -> u64 { let h = Holder { one: Box::new(leaf(d("one")).await), n: leaf(2).await, f: if leaf(true).await { inc } else { dec }, list: vec![Box::new(N(1)), Box::new(leaf(d("l")).await)] }; wait().await; h.total() } with ();
    fn c_struct_field_closure() -> u64 { let h = Holder { one: Box::new(N(1)), f: |n| n * 3, n: leaf(2).await, list: Vec::new() }; wait().await; h.total() } with ();
    fn c_variants() -> u64 { let v = [Node::Leaf(Box::new([1, leaf(2).await])), Node::Dyn(Box::new(d("x")), leaf(3).await), Node::Pair { a: Arc::new(N(4)), n: leaf(5).await }]; wait().await; v.iter().map(|n| match n { Node::Leaf(l) => l.len() as u64, Node::Dyn(_, n) | Node::Pair { n, .. } if *n > 100 => 0, Node::Dyn(a, n) => a.area() + n, Node::Pair { a, n } => a.area() * n }).sum() } with ();
    fn c_option_ref() -> u64 { let a = d("a"); opt(Some(&a), leaf(1).await) + opt(if leaf(false).await { Some(&a) } else { None }, leaf(2).await) } with ();
    fn c_deref_string() -> u64 { let s = String::from("abc"); let b = Box::new(leaf(s.clone()).await); text(&s, leaf(1).await) + text(&b, leaf(2).await) + text(&format!("{s}x"), leaf(3).await) + text(s.as_str(), { wait().await; 1 }) } with ();
    fn c_slice_kinds() -> u64 { let v = vec![1u64, 2]; let a = [3u64; 2]; let b: Box<[u64]> = Box::new([leaf(5).await, 6]); slice(&v, leaf(1).await) + slice(&a, leaf(1).await) + slice(&b, leaf(1).await) + slice(&v[1..], leaf(1).await) + slice(&[leaf(1).await, 2], 3) } with ();
    fn c_slice_mut() -> u64 { let mut v = vec![1u64, 2]; let mut a = [3u64, 4]; let n = leaf(1).await; let t = slice_mut(&mut v, n) + slice_mut(&mut a, n); wait().await; t + slice_mut(&mut v[1..], leaf(3).await) } with ();
    fn c_fn_pointers() -> u64 { let fs: [fn(u64) -> u64; 3] = [inc, dec, |x| x * 2]; let mut t = leaf(3).await; for f in fs { t = f(leaf(t).await); } t + apply(inc, leaf(1).await) + apply(|n| n + 5, leaf(1).await) } with ();
    fn c_fn_pointer_table() -> u64 { let table: Vec<(&str, fn(u64) -> u64)> = vec![("inc", inc), ("dec", dec), ("sq", |n| n * n)]; let mut t = 5; for (name, f) in &table { t = leaf(f(t)).await; log(name); } let m: HashMap<u64, fn(u64) -> u64> = HashMap::from([(1, inc as fn(u64) -> u64), (2, dec)]); wait().await; m[&2](t) } with ();
    fn c_dyn_fn() -> u64 { let k = leaf(2).await; let mut seen = 0; let t = apply_dyn(&|n| n * k, leaf(3).await) + apply_mut(&mut |n| { seen += n; seen }, 4); wait().await; t + seen + apply_once(Box::new(move |n| n + k), leaf(1).await) } with ();
    fn c_if_fn_local() -> u64 { let f = if leaf(true).await { inc } else { dec }; wait().await; let g = match leaf(2).await { 1 => inc as fn(u64) -> u64, 2 => |n| n + 10, _ => dec }; wait().await; g(f(1)) } with ();
    fn c_array_of_boxes() -> u64 { let mut t = 0; for s in [Box::new(d("a")) as Shape, Box::new(leaf(N(2)).await), if leaf(true).await { Box::new(p(1, 2)) } else { Box::new(N(1)) }] { t += leaf(s).await.area(); } t } with ();
    fn c_vec_push_boxes() -> u64 { let mut v: Vec<Shape> = Vec::new(); v.push(Box::new(d("a"))); wait().await; v.push(Box::new(leaf(N(2)).await)); v.insert(leaf(0).await, Box::new(p(1, 2))); v.extend([N(5).boxed(), d("z").boxed()]); wait().await; let mut m: BTreeMap<u64, Shape> = BTreeMap::new(); m.insert(leaf(1).await, Box::new(N(9))); v.iter().map(|s| s.area()).sum::<u64>() + m[&1].area() } with ();
    fn c_upcast() -> u64 { let s: Box<dyn Solid> = Box::new(leaf(N(3)).await); let v = s.volume(); wait().await; let a: Shape = s; wait().await; let n = N(4); let r: &dyn Solid = &n; let q: &dyn Area = r; pair_of(r, leaf(1).await) + v + a.area() + q.area() } with ();
    fn c_arc_dyn() -> u64 { let a: Arc<dyn Area> = Arc::new(leaf(d("a")).await); let b = Arc::clone(&a); let c: Arc<str> = leaf("xyz").await.into(); let e: Arc<[D]> = Arc::new([d("e1"), leaf(d("e2")).await]); drop(a); wait().await; log("end"); b.area() + c.len() as u64 + e.len() as u64 } with ();
    fn c_return_box_early(n: u64) -> Shape { let k = d("k"); if n == 1 { return Box::new(leaf(k).await) } if n == 2 { return Box::new(N(n)) } wait().await; Box::new(p(n, n)) } with (1);
    fn c_result_box_error(n: &'static str) -> Result<u64, Box<dyn std::error::Error + Send + Sync>> { let k = d("k"); let v: u64 = leaf(n).await.parse()?; wait().await; if v > 5 { return Err("big".into()) } let w: i8 = "300".parse().or_else(|_| "7".parse())?; Err(format!("{v}{w}"))? } with ("5");
    fn c_result_box_map() -> Result<Shape, String> { let r: Result<Shape, String> = Ok(Box::new(leaf(N(1)).await)); let s = r?; wait().await; Ok(if s.area() == 1 { Box::new(d("x")) } else { s }) } with ();
    fn c_loop_break_dyn() -> u64 { let s: Shape = loop { let k = d("k"); if leaf(k.no()).await { break Box::new(k) } break Box::new(N(leaf(4).await)) }; wait().await; s.area() } with ();
    fn c_label_dyn_ref() -> u64 { let (a, b) = (d("a"), N(5)); let r: &dyn Area = 'l: { if leaf(false).await { break 'l &a } &b }; wait().await; r.area() } with ();
    fn c_let_else_dyn() -> u64 { let o: Option<Shape> = Some(Box::new(leaf(d("o")).await)); let Some(s) = o else { return 0 }; wait().await; let r: Option<&dyn Area> = if leaf(true).await { Some(&*s) } else { None }; let Some(r) = r else { return 1 }; wait().await; r.area() } with ();
    fn c_tuple_of_dyn() -> u64 { let (a, b): (Shape, Option<Shape>) = (Box::new(d("a")), Some(Box::new(leaf(N(2)).await))); wait().await; let t: (&dyn Area, &[u64]) = (&*a, &[1, leaf(2).await]); a.area() + b.map_or(0, |b| b.area()) + t.1.len() as u64 } with ();
    fn c_generic_wrap() -> u64 { let (s, n): (Shape, u64) = wrap(Box::new(d("s")), leaf(2).await); wait().await; let [x, y] = both::<Shape>(Box::new(N(1)), Box::new(leaf(d("y")).await)); s.area() + n + x.area() + y.area() } with ();
    fn c_option_from_if() -> Option<Shape> { let n = leaf(3).await; if n == 3 { Some(Box::new(leaf(N(n)).await)) } else { None } } with ();
    fn c_reborrow_beside() -> u64 { fn add(v: &mut Vec<u64>, n: u64) -> u64 { v.push(n); v.len() as u64 } let mut v = vec![1]; let r = &mut v; let a = add(r, leaf(1).await); let b = add(r, leaf(2).await); wait().await; a + b + r.len() as u64 } with ();
    fn c_never_arms() -> u64 { let a = d("a"); let n: u64 = match leaf(3).await { 1 => return 1, 2 => panic!("on purpose"), 3 => a.len(), _ => loop { wait().await } }; n + if n > 5 { return leaf(2).await } else { leaf(n).await } } with ();
    fn c_cow() -> u64 { let s = String::from("own"); let c: Cow<'_, str> = if leaf(true).await { Cow::Borrowed(&s) } else { Cow::Owned(leaf("x".to_string()).await) }; wait().await; let e: Cow<[u64]> = Cow::from(vec![leaf(1).await]); c.len() as u64 + e.len() as u64 } with ();
    fn c_infer_from_later() -> u64 { let mut v = Vec::new(); let mut o = None; let mut m = HashMap::new(); let z = Default::default(); wait().await; v.push(leaf(1u8).await); o = o.or(Some(leaf(2u16).await)); m.insert("k", d("m")); let s: u64 = z; wait().await; s + v[0] as u64 + o.unwrap() as u64 + m.len() as u64 } with ();
    fn c_infer_literals() -> u64 { fn f(a: u8, b: i16, c: f32) -> u64 { a as u64 + b as u64 + c as u64 } let a = 200; let b = -3 + 10; let c = 2.5; wait().await; let n = f(a, leaf(b).await, c); n + f(leaf(1).await, 2, leaf(3.).await) } with ();
    fn c_infer_collect() -> Result<Vec<u64>, String> { let texts = leaf(vec!["1", "2"]).await; let v: Vec<u64> = texts.iter().map(|t| t.parse::<u64>().map_err(|e| e.to_string())).collect::<Result<_, _>>()?; wait().await; let w = v.iter().map(|n| n * 2).collect::<Vec<_>>(); leaf(Ok(w)).await } with ();
    fn c_infer_closure_params() -> u64 { let mut list = leaf(vec![d("ccc"), d("a"), d("bb")]).await; list.sort_by(|x, y| x.len().cmp(&y.len())); wait().await; let f = |x, y| x * 10 + y; let n = f(leaf(2u64).await, 3); let best = list.iter().max_by_key(|x| x.name().len()); log("end"); n + best.map_or(0, |b| b.len()) } with ();
    fn c_into_beside() -> u64 { fn f(a: String, b: Option<u64>, c: Box<str>) -> u64 { a.len() as u64 + b.unwrap_or(0) + c.len() as u64 } f("a".into(), leaf(3).await.into(), leaf("ccc").await.into()) + f(leaf('x').await.into(), None, "".into()) } with ();
    fn c_numeric_casts() -> i64 { let a = leaf(-1i32).await as u8 as i64; let b = leaf(3.9f64).await as i64 + leaf('a').await as i64 + (leaf(true).await as i64); wait().await; a + b - -leaf(2).await } with ();
    fn c_ops_mixed() -> u64 { let s = String::from("a") + leaf("b").await + &leaf("c".to_string()).await; let n = leaf(1u64).await + &2 * &leaf(3).await << 1 & !leaf(0).await; wait().await; let r = &leaf(5u64).await; n + s.len() as u64 + *r + r.pow(2) } with ();
    fn c_pin_box_dyn() -> u64 { let b: Pin<Box<dyn Area>> = Box::pin(leaf(N(3)).await); wait().await; b.area() } with ();
    fn c_closure_returning_dyn() -> u64 { let make: &(dyn Fn(u64) -> Shape + Send + Sync) = &|n| if n > 1 { Box::new(N(n)) } else { Box::new(d("one")) }; let a = make(leaf(1).await); wait().await; let b = make(leaf(2).await); a.area() + b.area() } with ();
    fn c_assign_coerced() -> u64 { let mut s: Shape = Box::new(d("a")); wait().await; s = Box::new(leaf(N(2)).await); log("assigned"); let mut r: &dyn Area = &*s; let q = p(1, 2); if leaf(true).await { r = &q; } wait().await; let mut f: fn(u64) -> u64 = inc; f = if leaf(false).await { f } else { |n| n + 7 }; r.area() + f(1) } with ();
    fn c_const_slice() -> u64 { const NAMES: &[&str] = &["a", "bb"]; static TABLE: [fn(u64) -> u64; 2] = [inc, dec]; let mut t = 0; for n in NAMES { t += leaf(n.len() as u64).await; t = TABLE[leaf(0usize).await](t); } t + text(NAMES[1], leaf(1).await) } with ();
    fn c_impl_display_list() -> String { let list: [&(dyn Display + Sync); 3] = [&1, &"two", &leaf(3.5).await]; let mut s = String::new(); for x in list { s += &x.to_string(); wait().await; s.push(','); } s } with ();
    fn c_byte_strings() -> u64 { fn b(a: &[u8], n: u64) -> u64 { a.len() as u64 + n } b(b"abc", leaf(1).await) + b(if leaf(true).await { b"de" } else { b"f" }, leaf(2).await) + b(match leaf(1).await { 1 => b"ghij", _ => &[1] }, 0) } with ();
}
