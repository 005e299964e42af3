//! Tasks that are methods named like std's.

use crate::harness::*;

macro_rules! bodies { ($($task:tt)*) => {
pub struct Own { pub a: D, pub v: Vec<N> }
pub fn own() -> Own { Own { a: d("a"), v: vec![N(1), N(2), N(3)] } }
impl Own {
    $($task)* async fn next(&mut self) -> Option<N> { let n = self.v.pop()?; wait().await; Some(n) }
    $($task)* async fn pop(&mut self) -> Option<N> { let n = self.v.pop()?; wait().await; Some(n) }
    $($task)* async fn push(&mut self) -> Option<N> { let n = self.v.pop()?; wait().await; Some(n) }
    $($task)* async fn insert(&mut self) -> Option<N> { let n = self.v.pop()?; wait().await; Some(n) }
    $($task)* async fn remove(&mut self) -> Option<N> { let n = self.v.pop()?; wait().await; Some(n) }
    $($task)* async fn contains(&mut self) -> Option<N> { let n = self.v.pop()?; wait().await; Some(n) }
    $($task)* async fn take(&mut self) -> Option<N> { let n = self.v.pop()?; wait().await; Some(n) }
    $($task)* async fn len(&mut self) -> Option<N> { let n = self.v.pop()?; wait().await; Some(n) }
    $($task)* async fn is_empty(&mut self) -> Option<N> { let n = self.v.pop()?; wait().await; Some(n) }
    $($task)* async fn clone(&mut self) -> Option<N> { let n = self.v.pop()?; wait().await; Some(n) }
    $($task)* async fn load(&mut self) -> Option<N> { let n = self.v.pop()?; wait().await; Some(n) }
    $($task)* async fn fetch_add(&mut self) -> Option<N> { let n = self.v.pop()?; wait().await; Some(n) }
    $($task)* async fn pop_front(&mut self) -> Option<N> { let n = self.v.pop()?; wait().await; Some(n) }
    $($task)* async fn replace(&mut self) -> Option<N> { let n = self.v.pop()?; wait().await; Some(n) }
    $($task)* async fn to_owned(&mut self) -> Option<N> { let n = self.v.pop()?; wait().await; Some(n) }
    $($task)* async fn to_string(&mut self) -> Option<N> { let n = self.v.pop()?; wait().await; Some(n) }
    $($task)* async fn count(&mut self) -> Option<N> { let n = self.v.pop()?; wait().await; Some(n) }
    $($task)* async fn any(&mut self) -> Option<N> { let n = self.v.pop()?; wait().await; Some(n) }
    $($task)* async fn get(&mut self) -> Option<N> { let n = self.v.pop()?; wait().await; Some(n) }
    $($task)* async fn last(&mut self) -> Option<N> { let n = self.v.pop()?; wait().await; Some(n) }
    $($task)* async fn unwrap(&mut self) -> Option<N> { let n = self.v.pop()?; wait().await; Some(n) }
    $($task)* async fn recv(&mut self) -> Option<N> { let n = self.v.pop()?; wait().await; Some(n) }
    $($task)* async fn parts(mut self) -> (u64, D) { let n = self.pop().await; wait().await; (n.map_or(0, |n| n.0), self.a) }
}
$($task)* pub async fn own_next() -> u64 { let mut o = own(); let n = o.next().await; wait().await; log(o.v.len()); while let Some(k) = o.next().await { if k.0 == 1 { break; } } log("end"); n.map_or(0, |n| n.0) + o.v.len() as u64 }
$($task)* pub async fn own_pop() -> u64 { let mut o = own(); let n = o.pop().await; wait().await; log(o.v.len()); while let Some(k) = o.pop().await { if k.0 == 1 { break; } } log("end"); n.map_or(0, |n| n.0) + o.v.len() as u64 }
$($task)* pub async fn own_push() -> u64 { let mut o = own(); let n = o.push().await; wait().await; log(o.v.len()); while let Some(k) = o.push().await { if k.0 == 1 { break; } } log("end"); n.map_or(0, |n| n.0) + o.v.len() as u64 }
$($task)* pub async fn own_insert() -> u64 { let mut o = own(); let n = o.insert().await; wait().await; log(o.v.len()); while let Some(k) = o.insert().await { if k.0 == 1 { break; } } log("end"); n.map_or(0, |n| n.0) + o.v.len() as u64 }
$($task)* pub async fn own_remove() -> u64 { let mut o = own(); let n = o.remove().await; wait().await; log(o.v.len()); while let Some(k) = o.remove().await { if k.0 == 1 { break; } } log("end"); n.map_or(0, |n| n.0) + o.v.len() as u64 }
$($task)* pub async fn own_contains() -> u64 { let mut o = own(); let n = o.contains().await; wait().await; log(o.v.len()); while let Some(k) = o.contains().await { if k.0 == 1 { break; } } log("end"); n.map_or(0, |n| n.0) + o.v.len() as u64 }
$($task)* pub async fn own_take() -> u64 { let mut o = own(); let n = o.take().await; wait().await; log(o.v.len()); while let Some(k) = o.take().await { if k.0 == 1 { break; } } log("end"); n.map_or(0, |n| n.0) + o.v.len() as u64 }
$($task)* pub async fn own_len() -> u64 { let mut o = own(); let n = o.len().await; wait().await; log(o.v.len()); while let Some(k) = o.len().await { if k.0 == 1 { break; } } log("end"); n.map_or(0, |n| n.0) + o.v.len() as u64 }
$($task)* pub async fn own_is_empty() -> u64 { let mut o = own(); let n = o.is_empty().await; wait().await; log(o.v.len()); while let Some(k) = o.is_empty().await { if k.0 == 1 { break; } } log("end"); n.map_or(0, |n| n.0) + o.v.len() as u64 }
$($task)* pub async fn own_clone() -> u64 { let mut o = own(); let n = o.clone().await; wait().await; log(o.v.len()); while let Some(k) = o.clone().await { if k.0 == 1 { break; } } log("end"); n.map_or(0, |n| n.0) + o.v.len() as u64 }
$($task)* pub async fn own_load() -> u64 { let mut o = own(); let n = o.load().await; wait().await; log(o.v.len()); while let Some(k) = o.load().await { if k.0 == 1 { break; } } log("end"); n.map_or(0, |n| n.0) + o.v.len() as u64 }
$($task)* pub async fn own_fetch_add() -> u64 { let mut o = own(); let n = o.fetch_add().await; wait().await; log(o.v.len()); while let Some(k) = o.fetch_add().await { if k.0 == 1 { break; } } log("end"); n.map_or(0, |n| n.0) + o.v.len() as u64 }
$($task)* pub async fn own_pop_front() -> u64 { let mut o = own(); let n = o.pop_front().await; wait().await; log(o.v.len()); while let Some(k) = o.pop_front().await { if k.0 == 1 { break; } } log("end"); n.map_or(0, |n| n.0) + o.v.len() as u64 }
$($task)* pub async fn own_replace() -> u64 { let mut o = own(); let n = o.replace().await; wait().await; log(o.v.len()); while let Some(k) = o.replace().await { if k.0 == 1 { break; } } log("end"); n.map_or(0, |n| n.0) + o.v.len() as u64 }
$($task)* pub async fn own_to_owned() -> u64 { let mut o = own(); let n = o.to_owned().await; wait().await; log(o.v.len()); while let Some(k) = o.to_owned().await { if k.0 == 1 { break; } } log("end"); n.map_or(0, |n| n.0) + o.v.len() as u64 }
$($task)* pub async fn own_to_string() -> u64 { let mut o = own(); let n = o.to_string().await; wait().await; log(o.v.len()); while let Some(k) = o.to_string().await { if k.0 == 1 { break; } } log("end"); n.map_or(0, |n| n.0) + o.v.len() as u64 }
$($task)* pub async fn own_count() -> u64 { let mut o = own(); let n = o.count().await; wait().await; log(o.v.len()); while let Some(k) = o.count().await { if k.0 == 1 { break; } } log("end"); n.map_or(0, |n| n.0) + o.v.len() as u64 }
$($task)* pub async fn own_any() -> u64 { let mut o = own(); let n = o.any().await; wait().await; log(o.v.len()); while let Some(k) = o.any().await { if k.0 == 1 { break; } } log("end"); n.map_or(0, |n| n.0) + o.v.len() as u64 }
$($task)* pub async fn own_get() -> u64 { let mut o = own(); let n = o.get().await; wait().await; log(o.v.len()); while let Some(k) = o.get().await { if k.0 == 1 { break; } } log("end"); n.map_or(0, |n| n.0) + o.v.len() as u64 }
$($task)* pub async fn own_last() -> u64 { let mut o = own(); let n = o.last().await; wait().await; log(o.v.len()); while let Some(k) = o.last().await { if k.0 == 1 { break; } } log("end"); n.map_or(0, |n| n.0) + o.v.len() as u64 }
$($task)* pub async fn own_unwrap() -> u64 { let mut o = own(); let n = o.unwrap().await; wait().await; log(o.v.len()); while let Some(k) = o.unwrap().await { if k.0 == 1 { break; } } log("end"); n.map_or(0, |n| n.0) + o.v.len() as u64 }
$($task)* pub async fn own_recv() -> u64 { let mut o = own(); let n = o.recv().await; wait().await; log(o.v.len()); while let Some(k) = o.recv().await { if k.0 == 1 { break; } } log("end"); n.map_or(0, |n| n.0) + o.v.len() as u64 }
$($task)* pub async fn own_parts() -> u64 { let (n, a) = own().parts().await; wait().await; log("end"); n + a.0.len() as u64 }
$($task)* pub async fn own_boxed() -> u64 { let mut o = own(); let n = Box::pin(o.next()).await; wait().await; log(o.v.len()); n.map_or(0, |n| n.0) }
$($task)* pub async fn own_question() -> Option<u64> { let mut o = own(); let n = o.next().await?; log(o.v.len()); let Some(m) = o.pop().await else { return None }; Some(n.0 + m.0) }
} }

programs! {
    owned own_next();
    owned own_pop();
    owned own_push();
    owned own_insert();
    owned own_remove();
    owned own_contains();
    owned own_take();
    owned own_len();
    owned own_is_empty();
    owned own_clone();
    owned own_load();
    owned own_fetch_add();
    owned own_pop_front();
    owned own_replace();
    owned own_to_owned();
    owned own_to_string();
    owned own_count();
    owned own_any();
    owned own_get();
    owned own_last();
    owned own_unwrap();
    owned own_recv();
    owned own_parts();
    owned own_boxed();
    owned own_question();
}
