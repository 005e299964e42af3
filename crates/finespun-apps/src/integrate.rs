//! Adaptive quadrature: the area under (x^2 + 1) x by trapezoids, halved until halving no longer changes the area.
//!
//! The recursion is deeper where the curve bends more, so no static split balances the work; this is a common benchmark
//! of fork-join runtimes (there with the interval 0..10000). The exact area from 0 to b is b^4 / 4 + b^2 / 2:
//! 2,500,000,050,000,000 for 10000.
//!
//! Both versions do the same operations in the same order, so their results are bitwise equal, for any number of
//! workers.

use finespun::prelude::*;

/// Returns the height of the curve at `x`.
#[inline]
pub fn curve(x: f64) -> f64 {
    (x * x + 1.0) * x
}

/// Returns the exact area from `from` to `to`, up to the rounding of the formula.
pub fn exact(from: f64, to: f64) -> f64 {
    let antiderivative = |x: f64| x * x * (x * x / 4.0 + 0.5);
    antiderivative(to) - antiderivative(from)
}

/// A trapezoid: its two ends, the curve's heights there, and its area.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Strip {
    from: f64,
    to: f64,
    low: f64,
    high: f64,
    area: f64,
}

impl Strip {
    /// Returns the trapezoid over the whole interval.
    pub fn new(from: f64, to: f64) -> Self {
        Self::between(from, to, curve(from), curve(to))
    }

    #[inline]
    fn between(from: f64, to: f64, low: f64, high: f64) -> Self {
        Strip { from, to, low, high, area: (low + high) * (to - from) / 2.0 }
    }

    /// Returns the trapezoids of the two halves.
    #[inline]
    fn halves(self) -> (Strip, Strip) {
        let middle = self.from + (self.to - self.from) / 2.0;
        let height = curve(middle);
        (Self::between(self.from, middle, self.low, height), Self::between(middle, self.to, height, self.high))
    }

    /// Returns whether replacing this strip by its halves changes the area by at most `tolerance`.
    #[inline]
    fn settled(self, left: Strip, right: Strip, tolerance: f64) -> bool {
        let change = (left.area + right.area - self.area).abs();
        // Infinity and NaN will not settle any further: the recursion terminates for every input.
        change <= tolerance || !change.is_finite()
    }
}

/// Computes the area from `from` to `to` sequentially; a strip is accepted when halving changes its area by at most
/// `tolerance`.
///
/// `tolerance` is absolute and per strip. Cost: a tenth of the tolerance takes 2.2 times as many calls; 0..10000 takes
/// 3.5 million with 1e-3, 31 million with 1e-6 and 350 million with 1e-9.
///
/// # Panics
///
/// Panics if `tolerance` is not above zero.
pub fn plain(from: f64, to: f64, tolerance: f64) -> f64 {
    fn area(strip: Strip, tolerance: f64) -> f64 {
        let (left, right) = strip.halves();
        if strip.settled(left, right, tolerance) {
            return left.area + right.area;
        }
        area(left, tolerance) + area(right, tolerance)
    }
    check(tolerance);
    area(Strip::new(from, to), tolerance)
}

/// Computes the area from `from` to `to`, bitwise equal to [`plain`]; the two halves of a strip may be computed in
/// parallel.
///
/// # Panics
///
/// Panics if `tolerance` is not above zero.
#[task]
pub async fn integrate(from: f64, to: f64, tolerance: f64) -> f64 {
    check(tolerance);
    area(Strip::new(from, to), tolerance).await
}

/// Computes the area of `strip`, which is halved until `tolerance` is met.
#[task]
pub async fn area(strip: Strip, tolerance: f64) -> f64 {
    let (left, right) = strip.halves();
    if strip.settled(left, right, tolerance) {
        return left.area + right.area;
    }
    let (a, b) = join!(area(left, tolerance), area(right, tolerance));
    a + b
}

fn check(tolerance: f64) {
    assert!(tolerance > 0.0, "the tolerance must be above zero, not {tolerance}");
}

#[cfg(test)]
mod tests {
    use super::{exact, plain};

    #[test]
    fn comes_near_the_antiderivative() {
        for (from, to, tolerance) in [(0.0, 1.0, 1e-9), (0.0, 100.0, 1e-6), (-3.0, 5.0, 1e-7), (0.0, 10_000.0, 1.0)] {
            let (area, exact) = (plain(from, to, tolerance), exact(from, to));
            assert!((area - exact).abs() <= 1e-6 * exact.abs(), "{from}..{to}: {area} against {exact}");
        }
    }

    #[test]
    fn terminates_on_nan_and_infinity() {
        assert!(plain(0.0, f64::NAN, 1.0).is_nan());
        assert!(!plain(0.0, f64::INFINITY, 1.0).is_finite());
        assert_eq!(plain(2.0, 2.0, 1e-300), 0.0);
    }

    #[test]
    #[should_panic(expected = "above zero")]
    fn a_tolerance_of_zero_panics() {
        plain(0.0, 1.0, 0.0);
    }
}
