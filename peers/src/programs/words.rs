//! Sorts of numbers and of strings, and the number of times that each word occurs in a text.

use std::collections::HashMap;
use std::sync::Arc;

use rayon::prelude::*;

use super::{Form, Pools, Program, Random, Size};

pub const SORT: Program = Program { name: "sort", about: "10^6 integers sorted", make: make_sort };
pub const SORT_STRINGS: Program =
    Program { name: "sort-strings", about: "the words of a text sorted, as strings", make: make_sort_strings };
pub const WORDS: Program =
    Program { name: "words", about: "how often each word occurs in a text, by line, in a hash map", make: make_words };

fn make_sort(size: Size, pools: &Pools) -> Vec<Form> {
    let mut random = Random::new(2);
    let numbers: Arc<[u64]> = (0..size.pick(10_000, 1_000_000)).map(|_| random.next()).collect();
    let checksum = |numbers: Vec<u64>| {
        numbers.iter().enumerate().fold(0, |sum: u64, (k, n)| sum.wrapping_add(n.wrapping_mul(k as u64)))
    };
    let (finespun, rayon) = (pools.finespun.clone(), pools.rayon.clone());
    let (plain, ours, theirs) = (numbers.clone(), numbers.clone(), numbers);
    vec![
        Form::new("plain", move || {
            let mut numbers = plain.to_vec();
            numbers.sort_unstable();
            checksum(numbers)
        }),
        Form::new("finespun", move || {
            let mut numbers = ours.to_vec();
            finespun.run(finespun_form::sort(&mut numbers));
            checksum(numbers)
        }),
        Form::new("rayon", move || {
            let mut numbers = theirs.to_vec();
            rayon.install(|| numbers.par_sort_unstable());
            checksum(numbers)
        }),
    ]
}

/// Makes a text: words of 2 to 12 letters, of which some are frequent.
fn text(lines: usize) -> String {
    let mut random = Random::new(3);
    let mut word = || (0..2 + random.below(11)).map(|_| char::from(b'a' + random.below(26) as u8)).collect();
    let vocabulary: Vec<String> = (0..5_000).map(|_| word()).collect();
    let line = |_| {
        let words = (0..4 + random.below(12)).map(|_| {
            // The k-th word is about k times rarer than the first.
            let rank = (vocabulary.len() as f64).powf(random.unit()) as usize;
            vocabulary[rank.min(vocabulary.len() - 1)].as_str()
        });
        words.collect::<Vec<_>>().join(" ")
    };
    (0..lines).map(line).collect::<Vec<_>>().join("\n")
}

fn make_sort_strings(size: Size, pools: &Pools) -> Vec<Form> {
    let text = text(size.pick(100, 25_000));
    let words: Arc<[String]> = text.split_whitespace().map(str::to_owned).collect();
    let checksum = |words: Vec<String>| {
        let weight = |word: &String| word.bytes().fold(7, |sum: u64, byte| sum * 31 + u64::from(byte));
        words.iter().enumerate().fold(0, |sum: u64, (k, word)| sum.wrapping_add(weight(word).wrapping_mul(k as u64)))
    };
    let (finespun, rayon) = (pools.finespun.clone(), pools.rayon.clone());
    let (plain, ours, theirs) = (words.clone(), words.clone(), words);
    vec![
        Form::new("plain", move || {
            let mut words = plain.to_vec();
            words.sort();
            checksum(words)
        }),
        Form::new("finespun", move || {
            let mut words = ours.to_vec();
            finespun.run(finespun_form::sort_strings(&mut words));
            checksum(words)
        }),
        Form::new("rayon", move || {
            let mut words = theirs.to_vec();
            rayon.install(|| words.par_sort());
            checksum(words)
        }),
    ]
}

type Counts<'t> = HashMap<&'t str, u64>;

fn make_words(size: Size, pools: &Pools) -> Vec<Form> {
    let text: Arc<str> = text(size.pick(100, 50_000)).into();
    let (finespun, rayon) = (pools.finespun.clone(), pools.rayon.clone());
    let (plain, ours, theirs) = (text.clone(), text.clone(), text);
    vec![
        Form::new("plain", move || checksum(&plain_count(&plain))),
        Form::new("finespun", move || checksum(&finespun.run(finespun_form::count(&ours)))),
        Form::new("rayon", move || checksum(&rayon.install(|| rayon_count(&theirs)))),
    ]
}

fn checksum(counts: &Counts<'_>) -> u64 {
    let weight = |word: &str| word.bytes().fold(7, |sum: u64, byte| sum * 31 + u64::from(byte));
    counts.iter().map(|(word, count)| weight(word).wrapping_mul(*count)).fold(0, u64::wrapping_add)
}

fn plain_count(text: &str) -> Counts<'_> {
    let mut counts = Counts::new();
    for word in text.lines().flat_map(str::split_whitespace) {
        *counts.entry(word).or_default() += 1;
    }
    counts
}

/// Counts a line's words.
fn add_line<'t>(mut counts: Counts<'t>, line: &'t str) -> Counts<'t> {
    for word in line.split_whitespace() {
        *counts.entry(word).or_default() += 1;
    }
    counts
}

/// Adds the counts of two parts of the text.
fn merge<'t>(mut a: Counts<'t>, mut b: Counts<'t>) -> Counts<'t> {
    if a.len() < b.len() {
        (a, b) = (b, a);
    }
    for (word, count) in b {
        *a.entry(word).or_default() += count;
    }
    a
}

mod finespun_form {
    use finespun::par::prelude::*;
    use finespun::prelude::*;

    use super::{Counts, add_line, merge};

    #[task]
    pub async fn sort(numbers: &mut [u64]) {
        numbers.par_sort_unstable().await;
    }

    #[task]
    pub async fn sort_strings(words: &mut [String]) {
        words.par_sort().await;
    }

    #[task]
    pub async fn count(text: &str) -> Counts<'_> {
        let lines: Vec<_> = text.lines().collect();
        lines.par_iter().fold(Counts::new, |counts, line| add_line(counts, line)).reduce(Counts::new, merge).await
    }
}

fn rayon_count(text: &str) -> Counts<'_> {
    let lines: Vec<_> = text.lines().collect();
    lines.par_iter().fold(Counts::new, |counts, line| add_line(counts, line)).reduce(Counts::new, merge)
}
