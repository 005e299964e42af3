//! Axis-parallel boxes around shapes, and their intersection with rays.

use super::vec3::{Ray, Vec3, vec3};

/// A finite reciprocal for components of a direction that are too near to zero.
const STEEP: f64 = 1e300;

/// An axis-parallel box: all points between two corners.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// The corner with the smallest coordinates.
    pub low: Vec3,
    /// The corner with the largest coordinates.
    pub high: Vec3,
}

/// A ray with the reciprocals of its direction, which every box test needs.
#[derive(Clone, Copy, Debug)]
pub struct Slabs {
    origin: Vec3,
    reciprocal: Vec3,
}

impl Slabs {
    /// Prepares `ray` for box tests.
    #[inline]
    pub fn of(ray: &Ray) -> Self {
        // A finite replacement for 1/0 avoids 0 times infinity, which is NaN, in the box test.
        let reciprocal = |d: f64| if d.abs() * STEEP > 1.0 { 1.0 / d } else { STEEP.copysign(d) };
        let Vec3 { x, y, z } = ray.direction;
        Slabs { origin: ray.origin, reciprocal: vec3(reciprocal(x), reciprocal(y), reciprocal(z)) }
    }
}

impl Bounds {
    /// The empty box, the neutral element of the union.
    pub const NONE: Bounds = Bounds {
        low: vec3(f64::INFINITY, f64::INFINITY, f64::INFINITY),
        high: vec3(f64::NEG_INFINITY, f64::NEG_INFINITY, f64::NEG_INFINITY),
    };

    /// Returns the smallest box that contains both.
    #[inline]
    #[must_use]
    pub fn union(&self, other: &Bounds) -> Bounds {
        Bounds { low: self.low.min(other.low), high: self.high.max(other.high) }
    }

    /// Returns a box that is a little larger on all sides: by 1e-9 of the largest coordinate, or of 1 if all are
    /// smaller.
    ///
    /// The margin is a million times the rounding errors of a shape test in a scene of ordinary proportions.
    #[must_use]
    pub fn padded(&self) -> Bounds {
        let largest = |a: Vec3| a.to_array().into_iter().fold(1.0, |m: f64, c| m.max(c.abs()));
        let margin = 1e-9 * largest(self.low).max(largest(self.high));
        let margin = vec3(margin, margin, margin);
        Bounds { low: self.low - margin, high: self.high + margin }
    }

    /// Returns twice the centre.
    pub(super) fn middle(&self) -> Vec3 {
        self.low + self.high
    }

    /// Returns half of the surface area; zero for the empty box.
    pub(super) fn half_area(&self) -> f64 {
        let side = self.high - self.low;
        if side.x < 0.0 { 0.0 } else { side.x * side.y + side.y * side.z + side.z * side.x }
    }

    /// Returns the distances at which the ray enters and leaves the box; they may be negative. If the ray misses, the
    /// first is the larger.
    #[inline]
    pub(super) fn crossing(&self, slabs: &Slabs) -> (f64, f64) {
        let along = |low: f64, high: f64, origin: f64, reciprocal: f64| {
            let (a, b) = ((low - origin) * reciprocal, (high - origin) * reciprocal);
            if a < b { (a, b) } else { (b, a) }
        };
        let Slabs { origin, reciprocal } = slabs;
        let (x0, x1) = along(self.low.x, self.high.x, origin.x, reciprocal.x);
        let (y0, y1) = along(self.low.y, self.high.y, origin.y, reciprocal.y);
        let (z0, z1) = along(self.low.z, self.high.z, origin.z, reciprocal.z);
        (later(later(x0, y0), z0), sooner(sooner(x1, y1), z1))
    }

    /// Returns the distance at which the ray enters the box, 0 if it starts inside; `None` if it misses.
    ///
    /// Rounding never makes a box less visible than a box within it: each step (a difference, a product with the same
    /// reciprocal, a minimum or maximum) is monotone in the corners, rounded or not. So a ray that meets a box meets
    /// every box around it, and enters the outer box at the same distance or sooner, bit for bit.
    #[inline]
    pub fn entry(&self, slabs: &Slabs) -> Option<f64> {
        let (enter, leave) = self.crossing(slabs);
        let enter = later(enter, 0.0);
        (enter <= leave).then_some(enter)
    }
}

// One instruction each; the library's `max` and `min` also handle NaN.
#[inline]
fn later(a: f64, b: f64) -> f64 {
    if a > b { a } else { b }
}

#[inline]
fn sooner(a: f64, b: f64) -> f64 {
    if a < b { a } else { b }
}

#[cfg(test)]
mod tests {
    use super::super::vec3::{Ray, Vec3, vec3};
    use super::{Bounds, Slabs};

    fn entry(origin: Vec3, direction: Vec3) -> Option<f64> {
        let bounds = Bounds { low: vec3(0.0, 0.0, 0.0), high: vec3(1.0, 2.0, 3.0) };
        bounds.entry(&Slabs::of(&Ray { origin, direction }))
    }

    #[test]
    fn entries_of_a_box() {
        assert_eq!(entry(vec3(-2.0, 1.0, 1.0), vec3(1.0, 0.0, 0.0)), Some(2.0));
        assert_eq!(entry(vec3(-2.0, 1.0, 1.0), vec3(-1.0, 0.0, 0.0)), None);
        assert_eq!(entry(vec3(0.5, 1.0, 1.0), vec3(0.0, -1.0, 0.0)), Some(0.0));
        assert_eq!(entry(vec3(0.5, 2.5, 1.0), vec3(0.0, 0.0, 1.0)), None);
        assert_eq!(entry(vec3(0.5, 1.0, 7.0), vec3(0.0, 0.0, -1.0)), Some(4.0));
    }

    /// A ray in the plane of a face meets the box.
    #[test]
    fn a_ray_along_a_face_meets_the_box() {
        assert_eq!(entry(vec3(0.0, 1.0, -1.0), vec3(0.0, 0.0, 1.0)), Some(1.0));
        assert_eq!(entry(vec3(1.0, 2.0, -1.0), vec3(-0.0, -0.0, 1.0)), Some(1.0));
    }

    #[test]
    fn unions() {
        let small = Bounds { low: vec3(0.0, 0.0, 0.0), high: vec3(1.0, 1.0, 1.0) };
        assert_eq!(Bounds::NONE.union(&small), small);
        assert_eq!((Bounds::NONE.half_area(), small.half_area()), (0.0, 3.0));
    }
}
