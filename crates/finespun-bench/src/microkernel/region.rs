//! The least grain at which a version is efficient: the concert paper's figure 13.

use serde_json::{Value, json};

use super::{Found, VERSIONS, grain};
use crate::paper::concert::CONCERT_FIGURE_13;
use finespun_lab::show;

/// The efficiency that the paper requires.
const ENOUGH: f64 = 0.7;

/// Returns the least grain, in microseconds, such that this and all larger grains are efficient, or `None`. `by_grain`
/// has the duration of each grain and its efficiency, from the shortest.
fn least_grain(by_grain: &[(f64, f64)]) -> Option<f64> {
    let efficient = by_grain.iter().rev().take_while(|(_, efficiency)| *efficiency >= ENOUGH);
    efficient.last().map(|(grain, _)| *grain)
}

/// Returns the region of each version as a table and as rows. `by_grain` has the results for each grain, from the
/// shortest, and each local share.
pub(super) fn region(by_grain: &[Vec<Found>], workers: usize) -> (String, Vec<Value>) {
    let shares: Vec<String> = by_grain[0].iter().map(|found| format!("{:.0} % local", 100.0 * found.local())).collect();
    let (mut lines, mut rows) = (Vec::new(), Vec::new());
    for (at, version) in VERSIONS.iter().enumerate() {
        let mut cells = vec![version.name.to_owned()];
        for (place, share) in shares.iter().enumerate() {
            let efficient = |found: &Vec<Found>| Some((1e6 * grain(found, workers), found[place].efficiency(at)?));
            let grains: Vec<_> = by_grain.iter().filter_map(efficient).collect();
            let (ours, theirs) = (least_grain(&grains), CONCERT_FIGURE_13.figure(version.name, share));
            let ours_shown = ours.map_or_else(|| "-".to_owned(), |grain| format!("{grain:.2}"));
            cells.push(theirs.map_or_else(|| ours_shown.clone(), |theirs| format!("{ours_shown} [{theirs}]")));
            rows.push(json!({
                "part": "region", "version": version.name, "local": by_grain[0][place].local(),
                "grain_us": ours, "paper_us": theirs,
            }));
        }
        lines.push(cells);
    }
    let head: Vec<_> = ["version"].into_iter().chain(shares.iter().map(String::as_str)).collect();
    let text = format!(
        "The least of these grains in us from which on at least {:.0} % are reached; [where the paper's text says it] (figure 13)\n\n{}\n",
        100.0 * ENOUGH,
        show::table(&head, &lines)
    );
    (text, rows)
}

#[cfg(test)]
mod tests {
    use super::{CONCERT_FIGURE_13, VERSIONS, least_grain};

    #[test]
    fn all_grains_above_the_least_grain_are_efficient() {
        for (efficiencies, least) in [
            ([0.7, 0.8, 0.9], Some(1.0)),
            ([0.1, 0.7, 0.9], Some(2.0)),
            ([0.9, 0.6, 0.9], Some(3.0)),
            ([0.9, 0.9, 0.69], None),
        ] {
            assert_eq!(least_grain(&[1.0, 2.0, 3.0].into_iter().zip(efficiencies).collect::<Vec<_>>()), least);
        }
    }

    #[test]
    fn every_version_of_the_paper_is_one_of_ours() {
        assert!(CONCERT_FIGURE_13.rows.iter().all(|row| VERSIONS.iter().any(|version| version.name == row.name)));
    }
}
