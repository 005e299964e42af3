//! Vectors and rays.

use std::array;
use std::ops::{Add, AddAssign, Mul, Neg, Sub};

/// A point, a direction or a colour: three numbers of double precision.
///
/// As a colour, the numbers are its red, green and blue parts, where 1 is the brightest that a picture can show.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Vec3 {
    /// To the right in the scenes here; red.
    pub x: f64,
    /// Upwards in the scenes here; green.
    pub y: f64,
    /// Away from the viewer in the scenes here; blue.
    pub z: f64,
}

/// Makes a vector from three numbers.
pub const fn vec3(x: f64, y: f64, z: f64) -> Vec3 {
    Vec3 { x, y, z }
}

impl Vec3 {
    /// The origin; black.
    pub const ZERO: Vec3 = vec3(0.0, 0.0, 0.0);

    /// Returns the scalar product, added up from x to z.
    #[inline]
    pub fn dot(self, other: Vec3) -> f64 {
        self.x * other.x + self.y * other.y + self.z * other.z
    }

    /// Returns the vector product.
    #[inline]
    pub fn cross(self, other: Vec3) -> Vec3 {
        vec3(
            self.y * other.z - self.z * other.y,
            self.z * other.x - self.x * other.z,
            self.x * other.y - self.y * other.x,
        )
    }

    /// Returns the Euclidean length.
    #[inline]
    pub fn length(self) -> f64 {
        self.dot(self).sqrt()
    }

    /// Returns the vector of length 1 in the same direction; the zero vector is returned unchanged.
    #[inline]
    pub fn normalized(self) -> Vec3 {
        let length = self.length();
        if length > 0.0 { vec3(self.x / length, self.y / length, self.z / length) } else { self }
    }

    /// Returns the smaller of each pair of numbers.
    #[inline]
    pub fn min(self, other: Vec3) -> Vec3 {
        vec3(self.x.min(other.x), self.y.min(other.y), self.z.min(other.z))
    }

    /// Returns the larger of each pair of numbers.
    #[inline]
    pub fn max(self, other: Vec3) -> Vec3 {
        vec3(self.x.max(other.x), self.y.max(other.y), self.z.max(other.z))
    }

    /// Returns the three numbers.
    #[inline]
    pub fn to_array(self) -> [f64; 3] {
        [self.x, self.y, self.z]
    }

    /// Returns whether none of the numbers is infinite or NaN.
    pub fn is_finite(self) -> bool {
        self.to_array().into_iter().all(f64::is_finite)
    }

    /// Returns the colour in bytes: 255 times each part, truncated and clipped to 0..=255.
    #[inline]
    pub fn to_bytes(self) -> [u8; 3] {
        // The conversion truncates and saturates.
        array::from_fn(|part| (self.to_array()[part] * 255.0) as u8)
    }
}

impl Add for Vec3 {
    type Output = Vec3;

    #[inline]
    fn add(self, other: Vec3) -> Vec3 {
        vec3(self.x + other.x, self.y + other.y, self.z + other.z)
    }
}

impl AddAssign for Vec3 {
    #[inline]
    fn add_assign(&mut self, other: Vec3) {
        *self = *self + other;
    }
}

impl Sub for Vec3 {
    type Output = Vec3;

    #[inline]
    fn sub(self, other: Vec3) -> Vec3 {
        vec3(self.x - other.x, self.y - other.y, self.z - other.z)
    }
}

impl Mul<f64> for Vec3 {
    type Output = Vec3;

    #[inline]
    fn mul(self, factor: f64) -> Vec3 {
        vec3(self.x * factor, self.y * factor, self.z * factor)
    }
}

impl Neg for Vec3 {
    type Output = Vec3;

    #[inline]
    fn neg(self) -> Vec3 {
        vec3(-self.x, -self.y, -self.z)
    }
}

/// A half line: its starting point, and a direction of length 1.
///
/// Distances along a ray are in units of the scene. A direction of another length scales them, and then the test of
/// spheres is wrong.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ray {
    /// The starting point.
    pub origin: Vec3,
    /// The direction, of length 1.
    pub direction: Vec3,
}

impl Ray {
    /// Returns the point at `distance` along the ray.
    #[inline]
    pub fn at(&self, distance: f64) -> Vec3 {
        self.origin + self.direction * distance
    }
}

/// Returns `base` to a whole power, by multiplications only.
///
/// The library's `powi` and `powf` may round differently on another machine; this function gives the same bits
/// everywhere.
#[inline]
pub(super) fn power(mut base: f64, mut exponent: u32) -> f64 {
    let mut product = 1.0;
    while exponent > 0 {
        if exponent & 1 == 1 {
            product *= base;
        }
        base *= base;
        exponent >>= 1;
    }
    product
}

#[cfg(test)]
mod tests {
    use super::{Vec3, power, vec3};

    #[test]
    fn products() {
        let (a, b) = (vec3(1.0, 2.0, 3.0), vec3(4.0, 5.0, 6.0));
        assert_eq!(a.dot(b), 32.0);
        assert_eq!(a.cross(b), vec3(-3.0, 6.0, -3.0));
        assert_eq!(vec3(0.0, 3.0, 4.0).normalized(), vec3(0.0, 0.6, 0.8));
        assert_eq!(Vec3::ZERO.normalized(), Vec3::ZERO);
        assert_eq!((power(3.0, 0), power(3.0, 5), power(0.5, 10)), (1.0, 243.0, 1.0 / 1024.0));
    }

    #[test]
    fn bytes_are_truncated_and_clipped() {
        assert_eq!(vec3(0.999, 1.0, 7.5).to_bytes(), [254, 255, 255]);
        assert_eq!(vec3(-1.0, 0.0, 0.5).to_bytes(), [0, 0, 127]);
    }
}
