//! Many small objects: the memory that each takes, and the time to make and to free it; beside boxes of the same.

use std::hint::black_box;
use std::time::Instant;

use finespun::Runtime;
use finespun::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::Report;
use crate::measure::resident;
use finespun_lab::failure::Failure;
use finespun_lab::machine;
use finespun_lab::show;

/// The bounds: bytes of an object of 24 bytes, and nanoseconds.
const BYTES: f64 = 34.0;
const NANOSECONDS: f64 = 25.0;

/// An object, or what a box holds.
#[derive(Serialize, Deserialize)]
struct Small {
    words: [u64; 3],
}

#[object]
impl Small {
    fn sum(&self) -> u64 {
        self.words.iter().sum()
    }
}

/// What one of many takes: bytes of resident memory, and nanoseconds to make and to free it.
#[derive(Clone, Copy)]
struct Price {
    bytes: f64,
    make: f64,
    free: f64,
}

/// Measures `count` pointers: `make` puts one into each place, and `free` takes them out.
fn price<P>(count: usize, make: impl Fn(&mut [Option<P>]), free: impl Fn(&mut [Option<P>])) -> Price {
    // Resident before the measurement.
    let mut places: Vec<Option<P>> = Vec::new();
    places.resize_with(count, || None);
    // Twice: freeing the first text may give memory back.
    resident(&machine::read);
    let before = resident(&machine::read);
    let each = |begun: Instant| begun.elapsed().as_secs_f64() * 1e9 / count as f64;
    let begun = Instant::now();
    make(&mut places);
    let made = each(begun);
    let bytes = resident(&machine::read).zip(before).map_or(f64::NAN, |(after, before)| after as f64 - before as f64);
    let begun = Instant::now();
    free(&mut places);
    Price { bytes: bytes / count as f64, make: made, free: each(begun) }
}

fn small(index: usize) -> Small {
    Small { words: [index as u64; 3] }
}

#[task]
async fn make(places: &mut [Option<Ref<Small>>]) {
    for index in 0..places.len() {
        places[index] = Some(on(0).create(small(index)).await);
    }
}

#[task]
async fn free(places: &mut [Option<Ref<Small>>]) {
    for place in places {
        if let Some(object) = place.take() {
            Ref::free(object).await;
        }
    }
}

/// Measures, and adds to the complaints what is missed.
pub(super) fn part(report: &Report, quick: bool, missed: &mut Vec<String>) -> Result<(), Failure> {
    let count = if quick { 1000 } else { 10_000_000 };
    report.step("memory");
    let boxes = || {
        let make = |places: &mut [Option<Box<Small>>]| {
            for (index, place) in places.iter_mut().enumerate() {
                *place = black_box(Some(Box::new(small(index))));
            }
        };
        price(count, make, |places| places.iter_mut().for_each(|place| drop(black_box(place.take()))))
    };
    let (new_boxes, boxes) = (boxes(), Price { bytes: f64::NAN, ..boxes() });
    let runtime = Runtime::builder().workers(1).build()?;
    let objects = || price(count, |places| runtime.run(make(places)), |places| runtime.run(free(places)));
    let first = objects();
    // The objects' memory is resident already.
    let again = Price { bytes: f64::NAN, ..objects() };
    let found =
        [("boxes", new_boxes), ("boxes again", boxes), ("objects", first), ("objects in the same memory", again)];
    report.rows(found.iter().map(|(name, price)| {
        json!({"name": format!("memory: {name}"), "count": count, "bytes": price.bytes, "make_ns": price.make, "free_ns": price.free})
    }));
    let number = |number: f64| if number.is_nan() { "-".to_owned() } else { format!("{number:.1}") };
    let lines: Vec<Vec<String>> = found
        .iter()
        .map(|(name, price)| vec![(*name).to_owned(), number(price.bytes), number(price.make), number(price.free)])
        .collect();
    report.say(&format!(
        "\n{} of 24 bytes, one by one; bounds: {BYTES} bytes, and {NANOSECONDS} ns for either\n\n{}",
        show::thousands(count as u64),
        show::table(&["", "bytes", "ns to make", "ns to free"], &lines)
    ))?;
    // Unknown bytes are missed ones, too.
    if !first.bytes.le(&BYTES) {
        missed.push(format!("an object of 24 bytes takes {:.1} bytes, not {BYTES}", first.bytes));
    }
    if first.make.max(first.free) > NANOSECONDS {
        missed.push(format!(
            "making and freeing an object take {:.1} and {:.1} ns, not {NANOSECONDS}",
            first.make, first.free
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{free, make};
    use finespun::prelude::*;

    #[test]
    fn every_object_is_made_and_freed() {
        let runtime = Runtime::builder().workers(1).build().expect("a runtime");
        let mut places = vec![None; 100];
        runtime.run(make(&mut places));
        let object = places[7].expect("an object");
        assert_eq!(runtime.run(object.sum()), 21);
        runtime.run(free(&mut places));
        assert!(places.iter().all(Option::is_none));
        assert!(runtime.run(object.sum().checked()).is_err(), "it has been freed");
    }
}
