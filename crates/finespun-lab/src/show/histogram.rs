//! A histogram as text.

use std::fmt::Write as _;

use super::thousands;
use crate::app::Histogram;

/// The length of the longest bar in characters.
const WIDTH: u64 = 50;

/// Formats one line per bin: the value, the count, and a bar in proportion to it. A count above zero has a bar of at
/// least one `#`.
pub fn histogram(histogram: &Histogram) -> String {
    let most = histogram.bins.values().copied().max().unwrap_or(0).max(1);
    let counts: Vec<_> = histogram.bins.values().map(|&count| thousands(count)).collect();
    let width = counts.iter().map(String::len).chain([histogram.count.len()]).max().unwrap_or(0);
    let first = histogram.of.len().max(4);
    let mut text = format!("{:>first$}  {:>width$}\n", histogram.of, histogram.count);
    for ((at, &count), shown) in histogram.bins.iter().zip(counts) {
        let length = if count == 0 { 0 } else { (u128::from(count) * u128::from(WIDTH)).div_ceil(u128::from(most)) };
        let bar = "#".repeat(length as usize);
        let line = format!("{at:>first$}  {shown:>width$}  {bar}");
        let _ = writeln!(text, "{}", line.trim_end());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::histogram;
    use crate::app::Histogram;

    fn of(bins: &[(i32, u64)]) -> String {
        histogram(&Histogram {
            of: "energy",
            count: "foldings",
            title: String::new(),
            bins: bins.iter().copied().collect(),
        })
    }

    #[test]
    fn bars_are_in_proportion() {
        let text = of(&[(-10, 1), (-9, 1000), (-8, 500), (0, 0)]);
        let bars: Vec<_> = text.lines().skip(1).map(|line| line.matches('#').count()).collect();
        assert_eq!(bars, [1, 50, 25, 0]);
        assert!(text.contains("   -9     1,000  #####"), "{text}");
    }

    #[test]
    fn counts_of_any_size() {
        assert_eq!(of(&[(1, u64::MAX)]).matches('#').count(), 50);
        assert_eq!(of(&[]).lines().count(), 1);
    }
}
