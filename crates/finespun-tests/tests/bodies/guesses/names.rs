//! Misleading names: methods, constants, `Deref`; values that change beside an await.

use super::kit::*;
use crate::harness::*;

macro_rules! len_of {
    ($e:expr) => {
        $e.len()
    };
}

corpus! {
    // a temporary in a macro
    fn macro_leaves_temporary() -> u64 { let n = leaf(len_of!(d("x"))).await; log("end"); n } with ();

    // constants and unit structs
    fn token_receiver() -> u64 { let n = leaf(Token.value()).await; log("end"); n } with ();

    fn token_beside() -> u64 { let n = two(Token.value(), leaf(1).await); log("end"); n } with ();

    fn token_plus() -> u64 { let n = Token.value() + leaf(1).await; log("end"); n } with ();

    fn token_match() -> u64 { match Token { _ => { wait().await; log("arm"); } } log("end"); 1 } with ();

    fn token_match2() -> u64 { match Token.value() { 4 => { wait().await; log("arm"); } _ => {} } log("end"); 1 } with ();

    fn token_if_let() -> u64 { if let n = Token.value() { wait().await; log("then"); } log("end"); 1 } with ();

    fn token_if_let2() -> u64 { if let _ = Token { wait().await; log("then"); } log("end"); 1 } with ();

    fn token_let_wild() -> u64 { let _ = Token; wait().await; log("end"); 1 } with ();

    fn token_local() -> u64 { let t = Token; wait().await; log("end"); t.value() } with ();

    fn token_for() -> u64 { for _ in 0..Token.value() - 2 { wait().await; log("turn"); } log("end"); 1 } with ();

    fn token_in_tuple() -> u64 { let n = leaf((Token, 3u64).1).await; log("end"); n } with ();

    fn const_eq() -> bool { let n = leaf(K == d("K")).await; log("end"); n } with ();

    fn token_arg() -> u64 { let n = two(leaf(1).await, Token.value()); wait().await; log("end"); n } with ();

    fn token_method_await() -> u64 { let n = Token.value().max(leaf(1).await); log("end"); n } with ();

    fn const_match_part() -> u64 { const L: (D, u64) = (D("cx"), 5); match L { (_, n) => { wait().await; log("arm"); eat(n) } } log("end"); 1 } with ();

    fn const_let_part() -> u64 { const L: (D, u64) = (D("cx"), 5); let (_, n) = L; wait().await; log("end"); n } with ();

    fn const_let_wild() -> u64 { let _ = K; wait().await; log("end"); 1 } with ();

    fn const_stmt() -> u64 { K; Token; wait().await; log("end"); 1 } with ();

    fn const_for() -> u64 { const L: [u64; 2] = [1, 2]; for x in L { eat(leaf(d("t")).await); } log("end"); 1 } with ();

    fn deref_field_assign() -> u64 { let mut s = Seen(LR { left: 3, right: d("r") }); s.left = leaf(d("x")).await.len(); s.right = leaf(d("new")).await; s.left += leaf(d("y")).await.len(); log("end"); 1 } with ();

    // order of evaluation beside an await
    fn changed_by_destructuring() -> (u64, u64) { let mut n = 1u64; let t = (n, { (n, _) = (7u64, 1u64); leaf(2u64).await }); t } with ();

    fn changed_by_destructuring2() -> u64 { let mut n = 1u64; let t = two(n, { [n] = [7u64]; leaf(2u64).await }); t + n } with ();

    fn changed_by_destructuring3() -> bool { let mut n = 1u64; let t = n == { (n, _) = (7u64, 1u64); leaf(1u64).await }; t } with ();

    fn changed_by_destructuring4() -> u64 { let mut n = 1u64; let t = n + { (n, _) = (7u64, 1u64); leaf(1u64).await }; t } with ();

    fn changed_by_for() -> u64 { let mut n = 1u64; let t = n + { for i in 0..3 { n = i; wait().await; } leaf(n).await }; t } with ();

    fn index_compare_panics() -> bool { let v = vec![1u64]; let i = leaf(3usize).await; let hit = i < 2 && v[i] == leaf(d("x")).await.len(); hit } with ();

    fn index_compare() -> bool { let v = Seen(vec![1u64]); let hit = v[0] == leaf(d("x")).await.len(); hit } with ();

    fn let_wild_boxed_field() -> u64 { let s = Box::new((d("a"), 1u64)); let _ = s.0; _ = s.1; wait().await; log("end"); 1 } with ();

    fn two_phase() -> Vec<u64> { let mut v = vec![1u64, 2]; v.push(leaf(v.len() as u64).await); v.insert(v.len(), leaf(v[0]).await); let l = v.len(); v[l - 1] = leaf(9).await; v } with ();

    fn two_phase_deref() -> Vec<u64> { let mut v = Seen(vec![1u64, 2]); let n = leaf(d("x")).await.len(); v.push(n); wait().await; v.push(n); v.0.clone() } with ();

    fn deref_assign() -> u64 { let mut s = Seen(1u64); *s = leaf(d("x")).await.len(); *s += leaf(d("y")).await.len(); log("end"); s.0 } with ();
}
