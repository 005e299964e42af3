//! Collections of the items of a parallel iterator, as in rayon's demos `vec_collect` and `map_collect`: vectors of an exact
//! iterator and of a filtered one, a hash map, and vectors folded and joined.

use std::collections::HashMap;

use super::{Form, Pools, Program, Size};

pub const VECTORS: Program =
    Program { name: "collect", about: "vectors of 4 x 10^6 numbers, all and filtered", make: make_vectors };

pub const FOLDED: Program =
    Program { name: "collect-fold", about: "vectors of parts of 4 x 10^6 numbers, joined", make: make_folded };

pub const MAP: Program = Program { name: "collect-map", about: "a hash map of 256 x 1024 numbers", make: make_map };

/// Returns a sum of the first and last item and the length.
fn ends(numbers: &[u32]) -> u64 {
    [numbers.first(), numbers.last()].into_iter().flatten().map(|&x| u64::from(x)).sum::<u64>() + numbers.len() as u64
}

fn make_vectors(size: Size, pools: &Pools) -> Vec<Form> {
    let n = size.pick(10_000, 4_000_000);
    let (finespun, rayon) = (pools.finespun.clone(), pools.rayon.clone());
    let sum = |(all, filtered): (Vec<u32>, Vec<u32>)| ends(&all) + ends(&filtered);
    vec![
        Form::new("plain", move || sum(((0..n).collect(), (0..n).filter(|k| k % 7 > 0).collect()))),
        Form::new("finespun", move || sum(finespun.run(finespun_form::vectors(n)))),
        Form::new("rayon", move || sum(rayon.install(|| rayon_form::vectors(n)))),
    ]
}

fn make_folded(size: Size, pools: &Pools) -> Vec<Form> {
    let n = size.pick(10_000, 4_000_000);
    let (finespun, rayon) = (pools.finespun.clone(), pools.rayon.clone());
    vec![
        Form::new("plain", move || ends(&(0..n).fold(Vec::new(), pushed))),
        Form::new("finespun", move || ends(&finespun.run(finespun_form::folded(n)))),
        Form::new("rayon", move || ends(&rayon.install(|| rayon_form::folded(n)))),
    ]
}

fn pushed(mut numbers: Vec<u32>, k: u32) -> Vec<u32> {
    numbers.push(k);
    numbers
}

fn appended(mut a: Vec<u32>, mut b: Vec<u32>) -> Vec<u32> {
    a.append(&mut b);
    a
}

fn make_map(size: Size, pools: &Pools) -> Vec<Form> {
    let n = size.pick(10_000, 256 * 1024);
    let (finespun, rayon) = (pools.finespun.clone(), pools.rayon.clone());
    let sum = move |map: HashMap<u32, u32>| map.len() as u64 + u64::from(map[&(n / 2)]);
    vec![
        Form::new("plain", move || sum((0..n).map(|k| (k, k)).collect())),
        Form::new("finespun", move || sum(finespun.run(finespun_form::map(n)))),
        Form::new("rayon", move || sum(rayon.install(|| rayon_form::map(n)))),
    ]
}

mod finespun_form {
    use finespun::par::prelude::*;
    use finespun::prelude::*;

    use super::*;

    #[task]
    pub async fn vectors(n: u32) -> (Vec<u32>, Vec<u32>) {
        let all = (0..n).into_par_iter().collect().await;
        (all, (0..n).into_par_iter().filter(|k| k % 7 > 0).collect().await)
    }

    #[task]
    pub async fn folded(n: u32) -> Vec<u32> {
        (0..n).into_par_iter().fold(Vec::new, pushed).reduce(Vec::new, appended).await
    }

    #[task]
    pub async fn map(n: u32) -> HashMap<u32, u32> {
        (0..n).into_par_iter().map(|k| (k, k)).collect().await
    }
}

mod rayon_form {
    use rayon::prelude::*;

    use super::*;

    pub fn vectors(n: u32) -> (Vec<u32>, Vec<u32>) {
        let all = (0..n).into_par_iter().collect();
        (all, (0..n).into_par_iter().filter(|k| k % 7 > 0).collect())
    }

    pub fn folded(n: u32) -> Vec<u32> {
        (0..n).into_par_iter().fold(Vec::new, pushed).reduce(Vec::new, appended)
    }

    pub fn map(n: u32) -> HashMap<u32, u32> {
        (0..n).into_par_iter().map(|k| (k, k)).collect()
    }
}
