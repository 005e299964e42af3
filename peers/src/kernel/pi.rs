//! An estimate of pi: how many of a number of points of the unit square lie in the circle.
//!
//! A point's place follows from its number, so that every run counts the same points.

/// Returns 1 if the point with this number lies in the circle, otherwise 0.
#[inline]
pub fn hit(number: u64) -> u64 {
    // The two halves of SplitMix64's output.
    let mut z = number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^= z >> 31;
    let (x, y) = (z >> 32, z & 0xffff_ffff);
    u64::from(x * x / 2 + y * y / 2 < 1 << 63)
}

/// Returns the expected number of hits.
pub fn answer(points: u64) -> u64 {
    (0..points).map(hit).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_points_estimate_pi() {
        let points = 1_000_000;
        let pi = 4.0 * answer(points) as f64 / points as f64;
        assert!((pi - std::f64::consts::PI).abs() < 0.005, "{pi}");
    }
}
