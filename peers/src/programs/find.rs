//! Searches for numbers in a long vector, as in rayon's demo `find`: for the first one, for one in the middle, and for one
//! that is not there. An early find is over in no time, so it is repeated.

use std::sync::Arc;

use super::{Form, Pools, Program, Random, Size};

pub const EARLY: Program =
    Program { name: "find-early", about: "2,000 searches in 10^7 numbers, for the first one", make: make_early };

pub const LATE: Program = Program {
    name: "find-late",
    about: "searches in 10^7 numbers, for one behind two thirds, and for none",
    make: make_late,
};

/// Numbers, and those that are searched for.
struct Search {
    numbers: Vec<u32>,
    wanted: Vec<u32>,
}

impl Search {
    fn new(len: usize, wanted: impl FnOnce(&[u32]) -> Vec<u32>) -> Arc<Search> {
        let mut random = Random::new(1);
        // Odd numbers only: an even one is not there.
        let numbers: Vec<u32> = (0..len).map(|_| random.next() as u32 | 1).collect();
        Arc::new(Search { wanted: wanted(&numbers), numbers })
    }
}

fn make_early(size: Size, pools: &Pools) -> Vec<Form> {
    let times = size.pick(10, 2000);
    forms(Search::new(size.pick(1000, 10_000_000), |numbers| vec![numbers[0]; times]), pools)
}

fn make_late(size: Size, pools: &Pools) -> Vec<Form> {
    forms(Search::new(size.pick(1000, 10_000_000), |numbers| vec![numbers[numbers.len() / 3 * 2], 2]), pools)
}

fn forms(search: Arc<Search>, pools: &Pools) -> Vec<Form> {
    let (finespun, rayon) = (pools.finespun.clone(), pools.rayon.clone());
    let (plain, ours, theirs) = (search.clone(), search.clone(), search);
    vec![
        Form::new("plain", move || found(&plain)),
        Form::new("finespun", move || finespun.run(finespun_form::found(&ours))),
        Form::new("rayon", move || rayon.install(|| rayon_form::found(&theirs))),
    ]
}

fn found(search: &Search) -> u64 {
    search.wanted.iter().filter(|wanted| search.numbers.contains(wanted)).count() as u64
}

mod finespun_form {
    use finespun::par::prelude::*;
    use finespun::prelude::*;

    use super::Search;

    #[task]
    pub async fn found(search: &Search) -> u64 {
        let mut found = 0;
        for &wanted in &search.wanted {
            found += u64::from(search.numbers.par_iter().find_any(|&&number| number == wanted).await.is_some());
        }
        found
    }
}

mod rayon_form {
    use rayon::prelude::*;

    use super::Search;

    pub fn found(search: &Search) -> u64 {
        let is_there = |wanted| search.numbers.par_iter().find_any(|&&number| number == wanted).is_some();
        search.wanted.iter().filter(|&&wanted| is_there(wanted)).count() as u64
    }
}
