//! Takeuchi's function, in the variant that returns z.
//!
//! Three inner calls compute the arguments of a fourth call in tail position: the classical Lisp benchmark (Gabriel,
//! 1985), and one of the papers' programs for the cost of *sequential* calls and of forwarding.
//!
//! tak(18, 12, 6) = 7 in 63,609 calls; tak(24, 16, 8) = 9; tak(12, 8, 4) = 5.

use finespun::prelude::*;

/// Returns tak(x, y, z) by plain calls.
///
/// Cost: grows explosively with x - y; (24, 16, 8) makes 2.5 million calls.
pub fn plain(x: i64, y: i64, z: i64) -> i64 {
    if y >= x {
        return z;
    }
    plain(plain(x - 1, y, z), plain(y - 1, z, x), plain(z - 1, x, y))
}

/// Returns tak(x, y, z): three awaits in sequence, then an await in tail position that forwards its result to the
/// caller.
#[task]
pub async fn tak(x: i64, y: i64, z: i64) -> i64 {
    if y >= x {
        return z;
    }
    let a: i64 = tak(x - 1, y, z).await;
    let b: i64 = tak(y - 1, z, x).await;
    let c: i64 = tak(z - 1, x, y).await;
    tak(a, b, c).await
}

/// Returns tak(x, y, z) with the three inner calls joined instead of sequenced.
#[task]
pub async fn tak_join(x: i64, y: i64, z: i64) -> i64 {
    if y >= x {
        return z;
    }
    let (a, b, c) = join!(tak_join(x - 1, y, z), tak_join(y - 1, z, x), tak_join(z - 1, x, y));
    tak_join(a, b, c).await
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn known_values() {
        assert_eq!(plain(18, 12, 6), 7);
        assert_eq!(plain(24, 16, 8), 9);
        assert_eq!(plain(12, 8, 4), 5);
    }
}
