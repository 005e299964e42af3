//! Coercions and inference.

use super::kit::*;
use crate::harness::*;

use std::fmt::{Debug, Write};
pub fn boxed_show(b: Box<dyn Show>) -> u64 {
    b.show()
}
pub fn opt_show(b: Option<Box<dyn Show>>, n: u64) -> u64 {
    b.map_or(0, |b| b.show()) + n
}
pub fn list_show(b: Vec<Box<dyn Show>>, n: u64) -> u64 {
    b.iter().map(|b| b.show()).sum::<u64>() + n
}
pub fn tuple_show(b: (&dyn Show, u64), n: u64) -> u64 {
    b.0.show() + n
}
pub fn array_show(b: [&dyn Show; 2], n: u64) -> u64 {
    b[0].show() + n
}
pub fn box_fn(f: Box<dyn Fn(u64) -> u64 + Send>, n: u64) -> u64 {
    f(n)
}
pub fn fn_ptr(f: fn(u64) -> u64, n: u64) -> u64 {
    f(n)
}
pub fn slice_sum(s: &[u64], n: u64) -> u64 {
    s.iter().sum::<u64>() + n
}
pub fn double(n: u64) -> u64 {
    n * 2
}
pub fn triple(n: u64) -> u64 {
    n * 3
}

corpus! {
    fn coerce_tuple(c: bool) -> u64 { let x = d("x"); tuple_show((&x, 3), leaf(1).await) } with (true);

    fn coerce_array(c: bool) -> u64 { let (x, y) = (d("x"), N(3)); array_show([&x, &y], leaf(1).await) } with (true);

    fn coerce_closure(c: bool) -> u64 { box_fn(Box::new(|x| x + 1), leaf(1).await) } with (true);

    fn coerce_fn_item(c: bool) -> u64 { fn_ptr(if c { double } else { triple }, leaf(1).await) } with (true);

    fn coerce_fn_let2(c: bool) -> u64 { let f: fn(u64) -> u64 = if leaf(c).await { wait().await; double } else { triple }; wait().await; f(3) } with (true);

    fn coerce_slice_array(c: bool) -> u64 { slice_sum(&[1, 2, 3], leaf(1).await) } with (true);

    fn coerce_slice_vec(c: bool) -> u64 { let v = vec![1, 2]; slice_sum(&v, leaf(1).await) } with (true);

    fn coerce_tail_box(c: bool) -> Box<dyn Debug + Send> { if c { Box::new(leaf(d("a")).await) } else { Box::new(leaf(N(1)).await) } } with (true);

    fn coerce_tail_box_match(c: u64) -> Box<dyn Debug + Send> { match c { 0 => Box::new(leaf(d("a")).await), 1 => { wait().await; Box::new(3) } _ => Box::new(leaf(N(1)).await) } } with (1);

    fn coerce_tail_await_box() -> Box<dyn Debug + Send> { leaf(Box::new(d("a"))).await } with ();

    fn coerce_struct_field2(c: bool) -> u64 { struct S<'a> { b: Option<&'a dyn Show>, f: u64 } let x = d("x"); let s = S { b: Some(&x), f: leaf(3).await }; s.b.unwrap().show() + s.f } with (true);

    fn coerce_loop_break(c: bool) -> u64 { let b: Box<dyn Show> = loop { if c { break Box::new(leaf(d("a")).await) } break Box::new(N(1)) }; b.show() } with (true);

    fn coerce_labelled(c: bool) -> u64 { let b: Box<dyn Show> = 'a: { if c { break 'a Box::new(leaf(d("a")).await) } Box::new(N(1)) }; b.show() } with (true);

    fn coerce_array_lit(c: bool) -> u64 { let v: [Box<dyn Show>; 2] = [Box::new(leaf(d("a")).await), Box::new(N(1))]; v[1].show() } with (true);

    fn coerce_array_lit2(c: bool) -> u64 { let v: [Box<dyn Show>; 2] = [Box::new(N(1)), Box::new(leaf(d("a")).await)]; v[1].show() } with (true);

    fn coerce_vec_lit(c: bool) -> u64 { let v: Vec<Box<dyn Show>> = vec![Box::new(N(1)), Box::new(leaf(d("a")).await), Box::new(N(2))]; v[1].show() } with (true);

    fn coerce_tuple_let(c: bool) -> u64 { let v: (Box<dyn Show>, Box<dyn Show>) = (Box::new(N(1)), Box::new(leaf(d("a")).await)); v.1.show() } with (true);

    fn coerce_ref_dyn() -> u64 { let r: &dyn Debug = &leaf(3u64).await; log(format_args!("{r:?}")); 1 } with ();

    fn coerce_never() -> u64 { let n = match leaf(Some(3u64)).await { Some(n) => n, None => unreachable!() }; let m: u64 = if n > 2 { n } else { panic!() }; wait().await; m } with ();

    fn coerce_rc_slice() -> u64 { let a: std::sync::Arc<[u64]> = std::sync::Arc::new([1, leaf(2).await]); wait().await; a.len() as u64 } with ();

    fn infer_collect() -> u64 { fn take(v: Vec<u64>, n: u64) -> u64 { v.len() as u64 + n } take((0..3).map(|x| x * 2).collect(), leaf(1).await) } with ();

    fn infer_parse() -> u64 { two("5".parse().unwrap(), leaf(1).await) } with ();

    fn infer_default() -> u64 { two(Default::default(), leaf(1).await) } with ();

    fn infer_none() -> u64 { opt_show(None, leaf(1).await) } with ();

    fn infer_vec_new() -> u64 { list_show(Vec::new(), leaf(1).await) } with ();

    fn infer_shift() -> u8 { fn t(a: u8, b: u64) -> u8 { a } t(1 << 3, leaf(1).await) + (255 - leaf(1).await) } with ();

    fn infer_float() -> String { let x = 2.0 * leaf(1.5f32).await; format!("{x}") } with ();

    fn infer_into() -> String { fn t(s: String, n: u64) -> String { format!("{s}{n}") } t("a".into(), leaf(1).await) + &*leaf("b".to_string()).await } with ();

    fn infer_str_deref() -> u64 { fn t(s: &str, n: u64) -> u64 { s.len() as u64 + n } let s = String::from("abc"); t(&s, leaf(1).await) + t(&leaf(s).await, 1) } with ();

    fn infer_mut_reborrow() -> u64 { fn t(v: &mut Vec<u64>, n: u64) { v.push(n) } let mut v = vec![]; { let r = &mut v; t(r, leaf(1).await); t(r, leaf(2).await); } v.len() as u64 } with ();
}
