//! Copies of fields of types with destructors, in every place that binds; parameters and parts without a name.

use super::kit::*;
use crate::harness::*;

corpus! {
    fn f_let_struct() -> u64 { let P { n, k } = p(1, 2); log("bound"); wait().await; n + k } with ();
    fn f_let_struct_of_local() -> u64 { let x = p(1, 2); let P { n, k } = x; log("bound"); wait().await; let y = p(3, 4); n + k + y.n } with ();
    fn f_let_struct_awaited() -> u64 { let P { n, .. } = leaf(p(1, 2)).await; log("bound"); wait().await; n } with ();
    fn f_match_struct_awaited() -> u64 { let m = match leaf(p(1, 2)).await { P { n: 0, .. } => 0, P { n, k } if k > 5 => n, P { n, k } => { wait().await; log("arm"); n + k } }; log("after"); m } with ();
    fn f_match_local() -> u64 { let x = p(1, 2); let m = match x { P { n, k: 2 } => { wait().await; n } P { k, .. } => k }; log("after"); wait().await; m } with ();
    fn f_if_let_enum() -> u64 { if let Sig::On(n) = leaf(on(4)).await { log("then"); wait().await; n } else { wait().await; log("else"); 0 } } with ();
    fn f_if_let_enum_else() -> u64 { let r = if let Sig::On(n) = leaf(off()).await { log("then"); wait().await; n } else { wait().await; log("else"); 0 }; log("after"); r } with ();
    fn f_if_let_local_moved_later() -> u64 { let s = on(3); if let Sig::On(n) = s { wait().await; eat(s); log("eaten"); wait().await; return n } log("not"); 0 } with ();
    fn f_while_let_enum() -> u64 { let mut i = 0; let mut t = 0; while let Sig::On(n) = leaf(if i < 2 { on(i) } else { off() }).await { i += 1; wait().await; t += n; log("turn"); } wait().await; t + i } with ();
    fn f_while_let_local_reassigned() -> u64 { let mut s = on(2); let mut t = 0; while let Sig::On(n) = s { t += n; s = if n == 0 { off() } else { leaf(on(n - 1)).await }; log("turn"); } wait().await; t } with ();
    fn f_let_else_enum() -> u64 { let Sig::Both { a, b } = leaf(two(1, 2)).await else { log("else"); return 0 }; log("bound"); wait().await; a + b } with ();
    fn f_let_else_enum_else() -> u64 { let Sig::Both { a, b } = leaf(on(2)).await else { wait().await; log("else"); return leaf(7).await }; a + b } with ();
    fn f_let_else_local() -> u64 { let s = off(); let Sig::On(n) = s else { wait().await; log("else"); eat(s); wait().await; return 9 }; n } with ();
    fn f_param_struct(P { n, k }: P, x: P) -> u64 { log("body"); let t = leaf(n).await; log("mid"); t + k + x.n } with (P { n: 1, k: 2 }, P { n: 3, k: 4 });
    fn f_param_nested((P { n, .. }, _, G((a, _), _)): (P, D, G<(u64, u64)>), _: D, _y: D) -> u64 { log("body"); wait().await; n + a } with ((P { n: 1, k: 2 }, D("b"), G((3, 4), 5)), D("wild"), D("_y"));
    fn f_param_at(x @ P { n, k }: P) -> u64 { wait().await; log("body"); n + k + x.n } with (P { n: 1, k: 2 });
    fn f_param_straight(P { n, .. }: P, _: D) -> u64 { log("body"); n } with (P { n: 1, k: 2 }, D("w"));
    fn f_param_wild_nested((_, (_, b)): (D, (D, D)), [_, y, _]: [D; 3]) -> u64 { let z = d("z"); wait().await; log("body"); b.len() + y.len() } with ((D("a"), (D("b1"), D("b2"))), [D("x"), D("y"), D("zz")]);
    fn f_param_ref((ref a, ref mut m): (D, u64), P { n: ref nn, .. }: P) -> u64 { *m += 1; wait().await; *m += a.len(); wait().await; *m + *nn } with ((D("a"), 3), P { n: 5, k: 6 });
    fn f_closure_param() -> u64 { let f = |P { n, k }: P| { log("in"); n + k }; let a = f(p(1, 2)); wait().await; let b = f(leaf(p(3, 4)).await); a + b } with ();
    fn f_closure_param_wild() -> u64 { let f = |_: D, (_, x): (D, u64), P { n, .. }: P| { log("in"); x + n }; wait().await; let a = f(d("w"), (d("l"), 4), leaf(p(1, 2)).await); log("after"); a } with ();
    fn f_for_struct() -> u64 { let mut t = 0; for P { n, k } in vec![p(1, 2), p(3, 4)] { log("turn"); wait().await; t += n * k; } t } with ();
    fn f_for_enum_match() -> u64 { let mut t = 0; for s in [on(1), two(2, 3), off()] { t += match s { Sig::On(n) => { wait().await; n } Sig::Both { a, .. } => { wait().await; log("both"); a } Sig::Off => { log("off"); continue } }; log("end of turn"); } t } with ();
    fn f_for_unbound_part() -> u64 { let mut t = 0; for (_, n, _) in vec![(d("a"), 1, d("b")), (d("c"), 2, d("e"))] { log("turn"); wait().await; t += n; } t } with ();
    fn f_for_wild() -> u64 { let mut t = 0; for _ in vec![d("a"), d("b")] { log("turn"); wait().await; t += 1; } t } with ();
    fn f_for_part_struct() -> u64 { let mut t = 0; for Part { id, d: x, .. } in [part(1), part(2)] { log("turn"); wait().await; t += id; if id == 2 { break } eat(x); wait().await; } log("after"); t } with ();
    fn f_for_enumerate_wild() -> u64 { let mut t = 0; for (i, _) in vec![d("a"), d("b"), d("c")].into_iter().enumerate() { log("turn"); if i == 1 { wait().await; continue } t += leaf(i as u64).await; log("end"); } t } with ();
    fn f_let_wild_of_field() -> u64 { let x = part(3); let Part { id, d: _, .. } = x; wait().await; let _ = x.d; log("still"); eat(x.e); wait().await; id } with ();
    fn f_let_wild_awaited() -> u64 { let _ = leaf(d("gone")).await; log("after"); let _ = (leaf(d("t")).await, 1).1; log("x"); let (_, n) = leaf((d("tup"), 2)).await; log("y"); wait().await; n } with ();
    fn f_assign_pattern() -> u64 { let (mut n, mut k) = (0, 0); P { n, k } = leaf(p(1, 2)).await; log("assigned"); wait().await; (n, _) = (k, leaf(d("gone")).await); log("again"); n * 10 + k } with ();
    fn f_assign_pattern_local() -> u64 { let x = p(5, 6); let n; P { n, .. } = x; log("assigned"); wait().await; eat(x); n } with ();
    fn f_nested_drop_in_drop() -> u64 { let G(c, n) = g(Cp { x: 1, y: 2 }, 3); wait().await; let G(Cp { x, .. }, _) = leaf(g(c, 4)).await; log("end"); x + n } with ();
    fn f_at_pattern_copy() -> u64 { let s = leaf(two(3, 4)).await; match s { ref w @ Sig::Both { a, b } if a < b => { wait().await; log(format_args!("{w:?}")); a + b } Sig::On(n @ 1..=5) => n, _ => 0 } } with ();
    fn f_match_tuple_of_locals() -> u64 { let (x, y) = (on(1), p(2, 3)); let r = match (x, y) { (Sig::On(a), P { n, .. }) => { wait().await; log("arm"); a + n } _ => 0 }; log("after"); r } with ();
    fn f_match_refs_of_locals() -> u64 { let (x, y) = (on(1), p(2, 3)); let r = match (&x, &y) { (&Sig::On(a), &P { n, .. }) => { wait().await; log("arm"); a + n } _ => 0 }; eat(y); log("after"); wait().await; r } with ();
    fn f_option_of_drop() -> u64 { let o = Some(p(1, 2)); let r = if let Some(P { n, .. }) = o { wait().await; n } else { 0 }; log("after"); let z = o; wait().await; log("end"); r } with ();
    fn f_result_chain() -> u64 { let r: Result<P, Sig> = Err(on(7)); match r { Ok(P { n, .. }) | Err(Sig::On(n)) => { log("arm"); wait().await; n } Err(_) => 0 } } with ();
    fn f_box_deref_field() -> u64 { let b = Box::new(p(1, 2)); let P { n, k } = *b; wait().await; log("mid"); eat(b); wait().await; n + k } with ();
    fn f_vec_index_field() -> u64 { let v = vec![p(1, 2), p(3, 4)]; let P { n, .. } = v[1]; let k = v[0].k; wait().await; log("mid"); drop(v); n + k } with ();
    fn f_slice_pattern() -> u64 { let v = leaf(vec![p(1, 2), p(3, 4), p(5, 6)]).await; match v[..] { [P { n, .. }, .., P { k, .. }] => { wait().await; eat(v); log("eaten"); n + k } _ => 0 } } with ();
    fn f_array_pattern() -> u64 { let [a, _, P { n, .. }] = [p(1, 2), p(3, 4), p(5, 6)]; log("bound"); wait().await; n + a.k } with ();
    fn f_matches_macro() -> u64 { let s = on(4); let a = matches!(s, Sig::On(n) if n > 3) as u64; let b = matches!(leaf(two(1, 2)).await, Sig::Both { a: 1, .. }) as u64; log("m"); wait().await; a + b } with ();
    fn f_let_chain() -> u64 { let x = on(3); if let Sig::On(n) = x && let P { k, .. } = leaf(p(n, 9)).await && k > leaf(n).await && let Sig::Both { a, .. } = two(k, 1) { log("then"); wait().await; a + n } else { log("else"); wait().await; 0 } } with ();
    fn f_let_chain_fails() -> u64 { if let P { n, .. } = p(1, 2) && let Sig::On(m) = leaf(off()).await { n + m } else { log("else"); wait().await; 5 } } with ();
    fn f_while_let_chain() -> u64 { let mut v = vec![p(1, 2), p(3, 4), p(0, 1)]; let mut t = 0; while let Some(P { n, k }) = v.pop() && leaf(k < 5).await { log("turn"); wait().await; t += n + k; } t } with ();
    fn f_if_let_pop_binding_whole() -> u64 { let mut v = vec![part(1), part(2)]; let mut t = 0; while let Some(Part { id, d: x, e: _ }) = v.pop() { log("turn"); wait().await; t += id + x.len(); } t } with ();
    fn f_closure_captures_copy_field() -> u64 { let x = p(1, 2); let f = move || x.n; wait().await; log("mid"); let r = f() + x.k; wait().await; r } with ();
    fn f_closure_pattern_in_body() -> u64 { let x = on(5); let f = || match x { Sig::On(n) => n, _ => 0 }; let a = f(); wait().await; a + if let Sig::On(n) = x { n } else { 0 } } with ();
}
