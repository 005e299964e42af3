//! Wildcards and destructuring.

use super::kit::*;
use crate::harness::*;

pub fn k_ref(k: &u64) -> &u64 {
    k
}
pub struct St {
    x: D,
    n: u64,
}

corpus! {
    fn w1() -> u64 { let (_, n) = (leaf(d("a")).await, 3u64); wait().await; log("end"); n } with ();

    fn w2() -> u64 { let (_, n) = (d("a"), leaf(3u64).await); wait().await; log("end"); n } with ();

    fn w3() -> u64 { let St { x: _, n } = (St { x: leaf(d("a")).await, n: 1 }); wait().await; log("end"); n } with ();

    fn w4() -> u64 { let [_, b] = [leaf(d("a")).await, d("b")]; wait().await; log("end"); b.len() } with ();

    fn w5() -> u64 { let Some(_) = leaf(Some(d("a"))).await else { return 0 }; wait().await; log("end"); 1 } with ();

    fn w6() -> u64 { if let (_, 1) = (leaf(d("a")).await, 1) { wait().await; log("then") } wait().await; log("end"); 1 } with ();

    fn w7() -> u64 { match (leaf(d("a")).await, 1) { (_, 1) => { wait().await; log("arm") } _ => {} } wait().await; log("end"); 1 } with ();

    fn w8() -> u64 { for _ in leaf(vec![d("a"), d("b")]).await { wait().await; log("turn") } for (_, x) in leaf(vec![(d("p"), d("q"))]).await { wait().await; log("turn") } 1 } with ();

    fn w9() -> u64 { let mut n = 0; while let (Some(_), k) = (leaf((n < 2).then(|| d("s"))).await, d("k")) { wait().await; n += 1; log("turn"); } n } with ();

    fn w10() -> u64 { let (x, _) = (leaf(d("a")).await, leaf(d("b")).await); wait().await; log("end"); x.len() } with ();

    fn w11() -> u64 { let x @ (_, 1..=3) = (leaf(d("a")).await, 1u64) else { return 2 }; wait().await; log("end"); x.1 } with ();

    fn w12() -> u64 { let _x = leaf(d("a")).await; let _ = _x; let __ = leaf(d("b")).await; wait().await; log("end"); 1 } with ();

    fn w13() -> u64 { let x = match leaf((d("a"), d("b"))).await { (a, _) if a.no() => 1, (_, b) => { drop(b); wait().await; log("arm"); 2 } }; wait().await; log("end"); x } with ();

    fn w14() -> u64 { let x; (x, _) = (leaf(d("a")).await, d("b")); wait().await; log("end"); D::len(&x) } with ();

    fn w15() -> u64 { let mut s = St { x: d("x"), n: 1 }; (s.n, s.x) = (leaf(5).await, d("y")); St { n: s.n, .. } = St { x: leaf(d("z")).await, n: 8 }; wait().await; log("end"); s.n } with ();

    fn w16() -> u64 { eat(match leaf(d("a")).await { ref a if a.yes() => mk(a.len()), _ => mk(0) }); wait().await; log("end"); 1 } with ();

    fn w17() -> u64 { let n = { let g = d("g"); let h = &g; leaf(h.len()).await } + { let g = d("h"); match g { ref k => leaf(k.len()).await } }; log("end"); n } with ();

    fn w18() -> u64 { let v = loop { let g = d("g"); match leaf(d("a")).await { a if a.no() => continue, a => break (a, g) } }; wait().await; log("end"); v.0.len() } with ();

    fn w19() -> u64 { let n = if let Some(k) = leaf(mk(1)).await.opt() && k > 0 { leaf(d("t")).await.len() } else { 0 }; log("mid"); let m = match (leaf(mk(2)).await, d("p")) { (N(k), _) if *k_ref(&k) > 1 => leaf(k).await, _ => 0 }; log("end"); n + m } with ();

    fn w20() -> u64 { let a = d("a"); let b = { let c = d("c"); let e = leaf(d("e")).await; (c, leaf(e).await).1 }; wait().await; drop(a); log("end"); b.len() } with ();

    fn w21() -> u64 { struct W<'a>(&'a str, u64); impl Drop for W<'_> { fn drop(&mut self) { log(format_args!("W {} {}", self.0, self.1)); } } let s = String::from("s"); let mut w = W(&s, 1); w.1 += leaf(2).await; wait().await; { let v = W(&s, w.1); wait().await; } log("end"); w.1 } with ();
}
