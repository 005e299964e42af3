//! Functions called through fields, indices and dereferences.

use super::kit::*;
use crate::harness::*;
use std::collections::*;
pub struct H {
    pub f: Box<dyn Fn(u64) -> u64 + Send + Sync>,
    pub v: Vec<Box<dyn Fn(u64) -> u64 + Send + Sync>>,
    pub n: u64,
}
pub fn h() -> H {
    H { f: Box::new(|x| x + 1), v: vec![Box::new(|x| x * 2)], n: 0 }
}
pub fn lk<T>(t: T) -> &'static mut T {
    kept(t)
}
pub const VS: Vec<u64> = Vec::new();
corpus! {
    fn sl_a(v: &'static [u64]) -> u64 { let mut rest = v; let mut n = 0; while let [first, tail @ ..] = rest { n += leaf(*first).await; rest = tail; } n } with (&[1, 2, 3]);

    fn sl_b(v: &'static [u64]) -> u64 { let mut rest: &[u64] = v; let mut n = 0; while let [first, tail @ ..] = rest { n += leaf(*first).await; rest = tail; } n } with (&[1, 2, 3]);

    fn sl_c(mut rest: &'static [u64]) -> u64 { let mut n = 0; while let [first, tail @ ..] = rest { n += leaf(*first).await; rest = tail; } n } with (&[1, 2, 3]);

    fn sl_d(v: &'static [u64]) -> u64 { let rest = v; wait().await; if let [first, ..] = rest { leaf(*first).await } else { 0 } } with (&[1, 2, 3]);

    fn sl_e(v: &'static [u64]) -> u64 { let mut rest = v; let mut n = 0; while let Some((first, tail)) = rest.split_first() { n += leaf(*first).await; rest = tail; } n } with (&[1, 2, 3]);

    fn sl_f(v: &'static [u64]) -> u64 { let mut rest = v; let mut n = 0; loop { match rest { [] => break n, [first, tail @ ..] => { n += leaf(*first).await; rest = tail; } } } } with (&[1, 2, 3]);

    fn ca_field(s: H) -> u64 { (s.f)(leaf(1).await) + s.n } with (h());

    fn ca_field_ref(s: &'static mut H) -> u64 { let k = (s.f)(leaf(1).await); s.n += k; s.n } with (lk(h()));

    fn ca_index(s: H) -> u64 { s.v[0](leaf(1).await) + s.n } with (h());

    fn ca_deref(s: &'static (dyn Fn(u64) -> u64 + Send + Sync)) -> u64 { (*s)(leaf(1).await) } with (&|x| x + 1);

    fn ca_box(s: Box<dyn Fn(u64) -> u64 + Send + Sync>) -> u64 { let a = (*s)(leaf(1).await); s(a) } with (Box::new(|x| x + 1));

    fn own_shadow(n: u64, s: String) -> u64 { mod inner { } async fn helper(n: u64) -> u64 { n } let t = s.clone(); leaf(n).await + t.len() as u64 } with (1, "ab".into());

    fn it_typed() -> u64 { let it: std::vec::IntoIter<u64> = vec![1u64, 2, 3].into_iter(); let n: u64 = it.take(2).sum(); leaf(n).await } with ();

    fn dead_fmt(name: &'static str) -> u64 { for i in 0..2u64 { wait().await; assert_eq!("x", name, "round {i}"); } 1 } with ("x");

    fn some_annot(name: &'static String) -> u64 { fn opt(o: Option<&str>, n: u64) -> u64 { n } let r: &str = name; opt(Some(r), leaf(1).await) } with (lk("a".to_string()));
}
