//! Chooses the combinations of settings that a test runs under.
//!
//! Most faults need one or two settings to show, nearly all the others three. So by default the cases are few: each *pair*
//! of values of two settings occurs in some case. `FINESPUN_CASES=triples`, which continuous integration sets, has each
//! triple of values of three settings; `FINESPUN_CASES=all` has all combinations.

use std::collections::{HashMap, HashSet};
use std::sync::Mutex;

/// Returns combinations of `N` settings, as indices of values: setting `i` has `values[i]` values. The first
/// combination is the first value of each setting.
pub fn cases<const N: usize>(values: [usize; N]) -> Vec<[usize; N]> {
    match std::env::var("FINESPUN_CASES").as_deref() {
        Err(_) | Ok("pairs") => pairs(values),
        Ok("triples") => chosen_once(3, values),
        Ok("all") => product(values),
        Ok(other) => panic!("FINESPUN_CASES={other}: pairs, triples or all"),
    }
}

/// Returns combinations in which each pair of values of two settings occurs.
pub fn pairs<const N: usize>(values: [usize; N]) -> Vec<[usize; N]> {
    chosen_once(2, values)
}

/// Cases by strength and numbers of values.
type Chosen = HashMap<(usize, Vec<usize>), Vec<usize>>;

/// A choice takes a second, and many tests have the same settings.
static CHOSEN: Mutex<Option<Chosen>> = Mutex::new(None);

fn chosen_once<const N: usize>(strength: usize, values: [usize; N]) -> Vec<[usize; N]> {
    let mut chosen = CHOSEN.lock().unwrap();
    let cases = chosen.get_or_insert_default().entry((strength, values.to_vec()));
    let cases = cases.or_insert_with(|| covering(strength, values).into_flattened());
    cases.as_chunks().0.to_vec()
}

fn product<const N: usize>(values: [usize; N]) -> Vec<[usize; N]> {
    let count = values.iter().product();
    let case = |mut number: usize| {
        let mut case = [0; N];
        for (setting, values) in values.iter().enumerate() {
            case[setting] = number % values;
            number /= values;
        }
        case
    };
    (0..count).map(case).collect()
}

/// Returns the values of each choice of `strength` settings; all, if there are fewer settings. The others are `None`.
fn parts<const N: usize>(strength: usize, case: &[usize; N]) -> impl Iterator<Item = [Option<usize>; N]> + use<N> {
    let case = *case;
    let chosen = (0..1usize << N).filter(move |chosen| chosen.count_ones() as usize == strength.min(N));
    chosen.map(move |chosen| std::array::from_fn(|i| (chosen >> i & 1 == 1).then_some(case[i])))
}

/// Chooses the combination with the most missing parts, greedily, until none is missing.
fn covering<const N: usize>(strength: usize, values: [usize; N]) -> Vec<[usize; N]> {
    let all = product(values);
    let mut missing: HashSet<_> = all.iter().flat_map(|case| parts(strength, case)).collect();
    let mut chosen = Vec::new();
    while !missing.is_empty() {
        let new = |case: &[usize; N]| parts(strength, case).filter(|part| missing.contains(part)).count();
        // The first of the best, so that every run chooses the same.
        let best = all.iter().rev().max_by_key(|case| new(case)).expect("each setting has a value");
        parts(strength, best).for_each(|part| {
            missing.remove(&part);
        });
        chosen.push(*best);
    }
    chosen
}

#[test]
fn every_pair_and_triple_occurs() {
    let values = [6, 5, 4, 3, 2];
    for (strength, most) in [(2, 40), (3, 150)] {
        let cases = covering(strength, values);
        assert_eq!(cases[0], [0; 5]);
        assert!(cases.len() <= most, "{strength}: {} of {}", cases.len(), values.iter().product::<usize>());
        for part in product(values).iter().flat_map(|case| parts(strength, case)) {
            let has =
                |case: &[usize; 5]| std::iter::zip(part, case).all(|(part, &value)| part.is_none_or(|it| it == value));
            assert!(cases.iter().any(has), "{part:?}");
        }
    }
    assert_eq!(product(values).len(), 720);
    assert_eq!(covering(2, [4, 6]).len(), 24, "two settings have no fewer");
    assert_eq!(covering(3, [4, 6]).len(), 24);
}
