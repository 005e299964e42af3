//! Which combinations of several settings a test runs under.
//!
//! By default so few that every *pair* of values of two settings occurs together: most faults need one or two settings to show.
//! With `FINESPUN_FULL=1`, which continuous integration sets in its slow step, all combinations.

/// Combinations of `N` settings that have so many values each, as the indices of the values. The first combination is the first
/// value of each.
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

/// Greedy: of all combinations the one with the most pairs that have not occurred, until all have.
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
        // The first of the best: the same in every run.
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
