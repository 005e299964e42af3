//! Chooses the combinations of settings that a test runs under.
//!
//! By default the cases are few: each *pair* of values of two settings occurs in some case, because most faults need
//! one or two settings to show. With `FINESPUN_FULL=1`, which continuous integration sets in its slow step, the cases
//! are all combinations.

/// Returns combinations of `N` settings, as indices of values: setting `i` has `values[i]` values. The first
/// combination is the first value of each setting.
pub fn cases<const N: usize>(values: [usize; N]) -> Vec<[usize; N]> {
    match std::env::var_os("FINESPUN_FULL") {
        Some(full) if full != "0" => product(values),
        _ => pairwise(values),
    }
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

/// Chooses the combination with the most missing pairs, greedily, until no pair is missing.
pub fn pairwise<const N: usize>(values: [usize; N]) -> Vec<[usize; N]> {
    let all = product(values);
    let pairs = |case: &[usize; N]| {
        let case = *case;
        (0..N).flat_map(move |a| (a + 1..N).map(move |b| (a, case[a], b, case[b])))
    };
    let mut missing: std::collections::HashSet<_> = all.iter().flat_map(pairs).collect();
    let mut chosen = Vec::new();
    while !missing.is_empty() {
        let new = |case: &[usize; N]| pairs(case).filter(|pair| missing.contains(pair)).count();
        // The first of the best, so that every run chooses the same.
        let best = all.iter().rev().max_by_key(|case| new(case)).expect("each setting has a value");
        pairs(best).for_each(|pair| {
            missing.remove(&pair);
        });
        chosen.push(*best);
    }
    chosen
}

#[test]
fn every_pair_occurs() {
    let values = [6, 5, 4, 3, 2];
    let cases = pairwise(values);
    assert_eq!(cases[0], [0; 5]);
    assert!(cases.len() <= 40, "{} instead of {}", cases.len(), values.iter().product::<usize>());
    for a in 0..5 {
        for b in 0..a {
            for x in 0..values[a] {
                for y in 0..values[b] {
                    assert!(cases.iter().any(|case| case[a] == x && case[b] == y), "{a}: {x} with {b}: {y}");
                }
            }
        }
    }
    assert_eq!(product(values).len(), 720);
    assert_eq!(pairwise([4, 6]).len(), 24, "two settings have no fewer");
}
