//! Properties of the code after an await that only the code before it determines: the types of numbers; the caller of
//! `From::from`; which macro is a value; the meaning of a name.

use crate::harness::*;
use std::panic::Location;
use std::task::{Context, Poll, Waker};

fn show(x: impl std::fmt::Display) {
    log(format_args!("{x}"))
}
fn byte() -> u8 {
    7
}
#[derive(Debug)]
pub struct Located(u32, &'static str);
#[derive(Debug)]
pub struct Plain;
impl From<Plain> for Located {
    #[track_caller]
    fn from(_: Plain) -> Located {
        let place = Location::caller();
        Located(place.column(), place.file())
    }
}
fn fails(n: u64) -> Result<u64, Plain> {
    if n > 2 { Err(Plain) } else { Ok(n) }
}
pub struct Shelf(Vec<u64>);
impl<'a> IntoIterator for &'a Shelf {
    type Item = &'a u64;
    type IntoIter = Walk<'a>;
    fn into_iter(self) -> Walk<'a> {
        log("lock");
        Walk(self.0.iter())
    }
}
/// An iterator with a destructor.
pub struct Walk<'a>(std::slice::Iter<'a, u64>);
impl<'a> Iterator for Walk<'a> {
    type Item = &'a u64;
    fn next(&mut self) -> Option<&'a u64> {
        self.0.next()
    }
}
impl Drop for Walk<'_> {
    fn drop(&mut self) {
        log("unlock")
    }
}
fn same<T>(value: T) -> T {
    value
}
pub trait Kind: Sync {
    fn kind(&self) -> u64 {
        100
    }
}
pub struct File;
impl Kind for File {}
impl File {
    /// If the type is known, this method takes precedence over the trait's.
    fn kind(&self) -> u64 {
        1
    }
}
static FILE: File = File;
fn sink() -> &'static dyn Kind {
    &FILE
}
fn words() -> &'static [&'static str] {
    &["a"]
}
pub struct V {
    n: u64,
}
impl std::ops::Add for V {
    type Output = D;
    fn add(self, other: V) -> D {
        show(self.n + other.n);
        d("sum")
    }
}
pub struct Job {
    n: u64,
}
impl Job {
    fn more(&mut self, by: u64) -> u64 {
        self.n += by;
        self.n
    }
}
pub struct Text<'a> {
    text: &'a str,
}
mod jobs {
    use crate::harness::*;
    pub struct Loud;
    impl Drop for Loud {
        fn drop(&mut self) {
            log("drop")
        }
    }
    pub fn named(_: Loud) -> u64 {
        1
    }
}

macro_rules! bodies { ($($task:tt)*) => {
    $($task)* pub async fn suffixed() { let mut n = 250u8; show(n); show(n + 1); wait().await; n = !0; show(n) }
    $($task)* pub async fn floats() { let mut best = 0.5f32; show(best); wait().await; best = 0.1; best += 0.2; show(best) }
    $($task)* pub async fn called() { let mut n = byte(); show(n); show(n + 1); wait().await; n = 250; n = !n; show(n) }
    $($task)* pub async fn looped(c: bool) {
        let mut n = 0u32; show(n);
        for i in 0..2 { show(n); if c { wait().await; n = !0; show(n); break; } }
    }
    $($task)* pub async fn later() { let n; if leaf(1u64).await > 3 { n = 3u8; show(n); return; } wait().await; n = !0; show(n) }
    $($task)* pub async fn in_an_arm(k: u64) {
        let level;
        match k { 0 => { level = 1u8; show(level); return; } _ => {} }
        wait().await; level = !0; show(level)
    }
    $($task)* pub async fn slices(v: &'static [u8]) {
        let mut s = v; show(s.len()); show(s[0]); wait().await; s = &[!0, 8]; show(s[0]); show(size_of_val(s))
    }
    $($task)* pub async fn tuples() {
        let mut t = (1u8, 2u8); show(t.0 + t.1); wait().await; t = (!0, !1); show(t.0); show(t.1)
    }
    $($task)* pub async fn shifted(x: u64) {
        let mut hash = x as u32; show(hash); let n = leaf(2).await; hash = !0;
        for i in 0..n { hash = hash << 4 >> 2; }
        show(hash)
    }
    $($task)* pub async fn parsed() {
        let mut n = "7".parse::<u8>().unwrap_or_default(); show(n); show(n); wait().await; n = !0; show(n)
    }
    $($task)* pub async fn by_way_of_another() {
        let mut n = byte(); show(n); show(n); wait().await; let k = !0; let j = k; n = j; show(n)
    }
    $($task)* pub async fn optional(o: Option<u8>) {
        let mut n = byte(); show(n); show(n); wait().await; n = "x".parse().unwrap_or(!0); show(n)
    }
    $($task)* pub async fn held() {
        let mut v: Vec<_> = vec![1u8]; show(v.len()); drop(v); wait().await; v = vec![!0]; show(v[0])
    }
    $($task)* pub async fn borrows(list: Vec<u64>) {
        let mut at = &list[0]; show(at); wait().await; at = &list[1]; show(at)
    }
    $($task)* pub async fn asks() -> Result<u64, Located> { let a = fails(1)?; wait().await; let b = fails(3)?; Ok(a + b) }
    $($task)* pub async fn asks_at_once() -> Result<u64, Located> { let a = fails(leaf(3).await)?; wait().await; Ok(a) }
    $($task)* pub async fn braces(b: bool) {
        let v = if b { vec! { d("a") } } else { vec! { d("b") } }; wait().await; log("x")
    }
    $($task)* pub async fn braces_in_a_block() { let v = { log("y"); dbg! { d("a") } }; wait().await; log("x") }
    $($task)* pub async fn braces_in_an_arm(k: u64) {
        let v = match k { 0 => { log("zero"); vec! [ d("a") ] } _ => { vec! { d("a"), d("b") } } }; wait().await; log("x")
    }
    $($task)* pub async fn named(c: bool) {
        use jobs::named;
        let g = jobs::Loud; if c { named(g); } wait().await; log("t")
    }
    $($task)* pub async fn sum_of_literals() {
        let a = V { n: 1 }; let b = V { n: 2 }; let c = a + b; wait().await; log("t")
    }
    $($task)* pub async fn literal_and_its_methods() -> u64 {
        let mut job = Job { n: 1 }; wait().await; let m = job.more(leaf(2).await); wait().await; m + job.n
    }
    $($task)* pub async fn part_of_a_pair_of_literals() -> u64 {
        let s = (Text { text: "a" }, Text { text: "bc" }); let x = s.0; wait().await; x.text.len() as u64
    }
    $($task)* pub async fn generic_calls() { let mut n = byte(); show(n); wait().await; n = same(!0); show(n) }
    $($task)* pub async fn closures() { let mut n = byte(); show(n); wait().await; n = (|| !0)(); show(n) }
    $($task)* pub async fn left_of_a_shift(k: u32) { let mut n = byte(); show(n); wait().await; n = !0 << k; show(n) }
    $($task)* pub async fn parts_of_values(i: usize) {
        let mut n = byte(); show(n); wait().await; n = [!0, 1][i]; show(n); n = (!0, 3).0; show(n); n = *&!0; show(n)
    }
    $($task)* pub async fn values_of_blocks() {
        let mut n = byte(); show(n); wait().await; n = loop { break !0 }; show(n); n = 'a: { break 'a !0 }; show(n)
    }
    $($task)* pub async fn in_an_option() {
        let mut n = byte(); show(n); wait().await; n = Some(!0).unwrap(); show(n);
        if let Some(x) = Some(5) { n = !x; show(n) }
    }
    $($task)* pub async fn of_a_loop() { let mut n = byte(); show(n); wait().await; for i in 0..3 { n = !i; show(n) } }
    $($task)* pub async fn taken_apart() {
        let (mut a, mut b) = (byte(), byte()); show(a); show(b); wait().await; (a, b) = (!0, !1); show(a); show(b)
    }
    $($task)* pub async fn ranges() { let mut r = 0u8..3; show(r.end); wait().await; r = 0..!0; show(r.end) }
    $($task)* pub async fn boxes() { let mut b = Box::new(1u8); drop(b); wait().await; b = Box::new(!0); show(*b) }
    $($task)* pub async fn coerced_boxes() {
        let mut b: Box<_> = Box::new(File) as Box<dyn Kind>; show(b.kind()); drop(b); wait().await; b = Box::new(File); show(b.kind())
    }
    $($task)* pub async fn coerced_slices() {
        let mut s = words(); show(s.len()); wait().await; s = &["a", "b"]; show(size_of_val(&s))
    }
    $($task)* pub async fn coerced_later(c: bool) {
        let r; if !c { r = sink(); show(r.kind()); return; } wait().await; r = &FILE; show(r.kind())
    }
    $($task)* pub async fn alternatives(c: bool) {
        let a = if c { wait().await; same(!0) } else { 3u8 }; show(a);
        let b = loop { if !c { break 3u8; } wait().await; let (x, _y) = (!0, 1); break x; }; show(b);
        let r = if !c { sink() } else { wait().await; &FILE }; show(r.kind())
    }
    $($task)* pub async fn holes(c: bool) {
        let a: Option<_> = if c { wait().await; Some(!0) } else { Some(3u8) }; show(a.unwrap());
        let (b, _k): (_, u64) = if c { wait().await; (!0, 1) } else { (3u8, 2) }; show(b)
    }
    $($task)* pub async fn bound_iterator(shelf: &'static Shelf) -> u64 {
        let books = shelf.into_iter();
        for &book in books { if book == 2 { wait().await; log("t"); return book; } }
        0
    }
} }
mod plain {
    use super::*;
    use crate::harness::plain::*;
    bodies! {}
}
mod pinned {
    use super::*;
    use crate::harness::tasks::*;
    use finespun::task;
    bodies! { #[task(pinned)] }
}
mod automatic {
    use super::*;
    use crate::harness::tasks::*;
    use finespun::task;
    bodies! { #[task] }
}
macro_rules! programs {
    ($($name:ident($($argument:expr),*);)+) => { $(
        #[test]
        fn $name() {
            versions!(owned, plain::$name($($argument),*), pinned::$name($($argument),*), automatic::$name($($argument),*));
        }
    )+ };
}
programs! {
    suffixed();
    floats();
    called();
    looped(true);
    later();
    in_an_arm(1);
    slices(&[1, 2, 3]);
    tuples();
    shifted(3);
    parsed();
    by_way_of_another();
    optional(None);
    held();
    borrows(vec![4, 5]);
    asks();
    asks_at_once();
    braces(true);
    braces_in_a_block();
    braces_in_an_arm(1);
    named(false);
    sum_of_literals();
    literal_and_its_methods();
    part_of_a_pair_of_literals();
    generic_calls();
    closures();
    left_of_a_shift(1);
    parts_of_values(0);
    values_of_blocks();
    in_an_option();
    of_a_loop();
    taken_apart();
    ranges();
    boxes();
    coerced_boxes();
    coerced_slices();
    coerced_later(true);
    alternatives(true);
    holes(true);
    bound_iterator(kept(Shelf(vec![1, 2, 3])));
}

/// Without a macro, because the location would be the macro's use.
#[test]
fn question_mark_records_its_own_location() {
    async fn plain() -> Result<u64, Located> {
        fails(3)?;
        Ok(0)
    }
    #[finespun::task]
    async fn task() -> Result<u64, Located> {
        finespun::yield_now().await;
        fails(3)?;
        Ok(0)
    }
    let mut plain = Box::pin(plain());
    let Poll::Ready(plain) = plain.as_mut().poll(&mut Context::from_waker(Waker::noop())) else { panic!("it waits") };
    let task = finespun::Runtime::new().unwrap().run(task());
    assert_eq!(format!("{task:?}"), format!("{plain:?}"));
}
