//! Bodies like those in the other files, with explicit types.

use super::captures::*;
use super::ordinary::*;
use super::variations::*;
use crate::guesses::kit::*;
use crate::harness::*;
fn call(f: impl FnOnce() -> u64) -> u64 {
    f()
}
corpus! {
    fn z_index_typed() -> u64 { let b: Batch = batch(3); let n = call(move || b.items[0]); log("mid"); wait().await; log("end"); n } with ();
    fn z_da_typed() -> u64 { let b: Batch = batch(3); let id; Batch { id, .. } = b; log("mid"); wait().await; log("end"); id } with ();
    fn z_mm_typed() -> bool { let r: Option<Span> = Some(span("s")); let b = matches!(r, Some(s) if s.name == "x"); wait().await; log("end"); b } with ();
    fn z_da_value() -> u64 { let s = (3u64, span("s")); let x; (x, _) = { s }; wait().await; log("end"); x } with ();
    fn z_da_deref() -> u64 { let s = Box::new((3u64, span("s"))); let x; (x, _) = *s; wait().await; log("end"); x } with ();
    fn z_da_index() -> u64 { let s = vec![(3u64, span("s"))]; let x; (x, _) = s[0]; wait().await; log("end"); x } with ();
    fn z_da_wait_between() -> u64 { let s = (span("a"), span("b")); let x; wait().await; (x, _) = s; log("mid"); wait().await; log("end"); x.name.len() as u64 } with ();
    fn z_cond_move_closure() -> u64 { let b = batch(3); let mut n = 0; if leaf(true).await { n = call(move || b.items[0]); } log("mid"); wait().await; log("end"); n } with ();
    fn z_async_capture_deref() -> u64 { let b = Box::new(batch(3)); let n = call(move || b.items[0]); log("mid"); wait().await; log("end"); n } with ();
    fn z_deep() -> u64 { let b = (batch(3), span("t")); let n = call(move || b.0.items[0]); log("mid"); wait().await; log("end"); n } with ();
}
