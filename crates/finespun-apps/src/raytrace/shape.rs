//! Shapes, and their intersection with rays.

use super::bounds::{Bounds, Slabs};
use super::vec3::{Ray, Vec3, vec3};

/// The minimum distance of a hit, so that a ray that starts on a surface leaves it.
pub const EPSILON: f64 = 1e-6;

/// A surface in space.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// All points at one distance from a centre.
    Sphere(Sphere),
    /// An infinite plane.
    Plane(Plane),
    /// The surface of an axis-parallel box.
    Block(Bounds),
    /// A flat triangle.
    Triangle(Triangle),
}

/// A sphere, made by [`Shape::sphere`].
#[derive(Clone, Debug, PartialEq)]
pub struct Sphere {
    center: Vec3,
    radius: f64,
}

/// An infinite plane, made by [`Shape::plane`].
#[derive(Clone, Debug, PartialEq)]
pub struct Plane {
    point: Vec3,
    normal: Vec3,
}

/// A triangle, made by [`Shape::triangle`]: a corner, and the two edges from there.
#[derive(Clone, Debug, PartialEq)]
pub struct Triangle {
    corner: Vec3,
    first: Vec3,
    second: Vec3,
}

/// An error in the numbers that describe a shape.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ShapeError {
    /// A coordinate is infinite or NaN.
    #[error("a {shape} has a coordinate that is infinite or no number: give finite ones")]
    NotFinite {
        /// The kind of shape.
        shape: &'static str,
    },
    /// The radius is zero or negative.
    #[error("a sphere has radius {radius}: give a positive one")]
    Radius {
        /// The radius given.
        radius: f64,
    },
    /// A box has no volume, a triangle no area, or a plane the zero vector as its normal.
    #[error("a {shape} is degenerate: give a box sides, a triangle an area, and a plane a normal that is not zero")]
    Degenerate {
        /// The kind of shape.
        shape: &'static str,
    },
}

fn finite(shape: &'static str, points: &[Vec3]) -> Result<(), ShapeError> {
    if points.iter().all(|point| point.is_finite()) { Ok(()) } else { Err(ShapeError::NotFinite { shape }) }
}

impl Shape {
    /// Makes the sphere around `center`.
    ///
    /// # Errors
    ///
    /// Fails if a number is not finite or the radius not positive.
    pub fn sphere(center: Vec3, radius: f64) -> Result<Shape, ShapeError> {
        finite("sphere", &[center, vec3(radius, 0.0, 0.0)])?;
        if radius <= 0.0 {
            return Err(ShapeError::Radius { radius });
        }
        Ok(Shape::Sphere(Sphere::new(center, radius)))
    }

    /// Makes the plane through `point`, perpendicular to `normal`, which may have any length and points to the plane's
    /// outside.
    ///
    /// # Errors
    ///
    /// Fails if a number is not finite or the normal zero.
    pub fn plane(point: Vec3, normal: Vec3) -> Result<Shape, ShapeError> {
        finite("plane", &[point, normal])?;
        let normal = normal.normalized();
        if normal == Vec3::ZERO {
            return Err(ShapeError::Degenerate { shape: "plane" });
        }
        Ok(Shape::Plane(Plane { point, normal }))
    }

    /// Makes the surface of the box between two opposite corners, given in any order.
    ///
    /// # Errors
    ///
    /// Fails if a number is not finite or a side has no length.
    pub fn block(corner: Vec3, opposite: Vec3) -> Result<Shape, ShapeError> {
        finite("box", &[corner, opposite])?;
        let bounds = Bounds { low: corner.min(opposite), high: corner.max(opposite) };
        if (bounds.high - bounds.low).to_array().contains(&0.0) {
            return Err(ShapeError::Degenerate { shape: "box" });
        }
        Ok(Shape::Block(bounds))
    }

    /// Makes the triangle with these corners; the vector product of `b - a` and `c - a` points to its outside.
    ///
    /// # Errors
    ///
    /// Fails if a number is not finite or the corners are collinear.
    pub fn triangle(a: Vec3, b: Vec3, c: Vec3) -> Result<Shape, ShapeError> {
        finite("triangle", &[a, b, c])?;
        let (first, second) = (b - a, c - a);
        if first.cross(second) == Vec3::ZERO {
            return Err(ShapeError::Degenerate { shape: "triangle" });
        }
        Ok(Shape::Triangle(Triangle { corner: a, first, second }))
    }

    /// Returns the distance at which `ray` first meets the surface, from either side, not nearer than [`EPSILON`].
    #[inline]
    pub fn hit(&self, ray: &Ray) -> Option<f64> {
        match self {
            Shape::Sphere(sphere) => sphere.hit(ray),
            Shape::Plane(plane) => plane.hit(ray),
            Shape::Block(bounds) => {
                let (enter, leave) = bounds.crossing(&Slabs::of(ray));
                first_of(enter, leave).filter(|_| enter <= leave)
            }
            Shape::Triangle(triangle) => triangle.hit(ray),
        }
    }

    /// Returns the outward normal, of length 1, at a point of the surface.
    #[inline]
    pub fn normal(&self, point: Vec3) -> Vec3 {
        match self {
            Shape::Sphere(sphere) => sphere.normal(point),
            Shape::Plane(plane) => plane.normal,
            Shape::Block(bounds) => face(bounds, point),
            Shape::Triangle(triangle) => triangle.first.cross(triangle.second).normalized(),
        }
    }

    /// Returns a box around the shape, a little larger than necessary; `None` for a plane, which is unbounded.
    pub fn bounds(&self) -> Option<Bounds> {
        let exact = match self {
            Shape::Sphere(Sphere { center, radius }) => {
                let reach = vec3(*radius, *radius, *radius);
                Bounds { low: *center - reach, high: *center + reach }
            }
            Shape::Plane(_) => return None,
            Shape::Block(bounds) => *bounds,
            Shape::Triangle(Triangle { corner, first, second }) => {
                let (b, c) = (*corner + *first, *corner + *second);
                Bounds { low: corner.min(b).min(c), high: corner.max(b).max(c) }
            }
        };
        Some(exact.padded())
    }
}

impl Sphere {
    /// Makes a sphere; the caller guarantees that the radius is positive.
    pub(super) fn new(center: Vec3, radius: f64) -> Self {
        Sphere { center, radius }
    }

    /// See [`Shape::hit`]. The order of operations is the same as in the Java Grande benchmark.
    #[inline]
    pub(super) fn hit(&self, ray: &Ray) -> Option<f64> {
        let to_center = self.center - ray.origin;
        let along = to_center.dot(ray.direction);
        let square = along * along - to_center.dot(to_center) + self.radius * self.radius;
        if square < 0.0 {
            return None;
        }
        let half_chord = square.sqrt();
        first_of(along - half_chord, along + half_chord)
    }

    /// See [`Shape::normal`].
    #[inline]
    pub(super) fn normal(&self, point: Vec3) -> Vec3 {
        (point - self.center).normalized()
    }
}

impl Plane {
    #[inline]
    fn hit(&self, ray: &Ray) -> Option<f64> {
        let distance = (self.point - ray.origin).dot(self.normal) / ray.direction.dot(self.normal);
        // Also false for a ray within the plane, for which the quotient is NaN.
        (EPSILON..f64::INFINITY).contains(&distance).then_some(distance)
    }
}

impl Triangle {
    /// Applies the test of Möller and Trumbore (1997): the point of the triangle's plane, as steps along its two edges.
    #[inline]
    fn hit(&self, ray: &Ray) -> Option<f64> {
        let across = ray.direction.cross(self.second);
        let volume = self.first.dot(across);
        if volume == 0.0 {
            return None;
        }
        let from_corner = ray.origin - self.corner;
        let u = from_corner.dot(across) / volume;
        if !(0.0..=1.0).contains(&u) {
            return None;
        }
        let upright = from_corner.cross(self.first);
        let v = ray.direction.dot(upright) / volume;
        if v < 0.0 || u + v > 1.0 {
            return None;
        }
        let distance = self.second.dot(upright) / volume;
        (distance >= EPSILON).then_some(distance)
    }
}

/// Returns the smaller of two distances, or the larger if the smaller is nearer than [`EPSILON`], or `None`.
#[inline]
fn first_of(near: f64, far: f64) -> Option<f64> {
    let distance = if near < EPSILON { far } else { near };
    (distance >= EPSILON).then_some(distance)
}

/// Returns the outward normal of the face nearest to the point, in proportion to the sides; of equally near faces, the
/// first.
fn face(bounds: &Bounds, point: Vec3) -> Vec3 {
    let (side, offset) = (bounds.high - bounds.low, point + point - bounds.middle());
    let [x, y, z] = [offset.x / side.x, offset.y / side.y, offset.z / side.z];
    if x.abs() >= y.abs() && x.abs() >= z.abs() {
        vec3(1.0_f64.copysign(x), 0.0, 0.0)
    } else if y.abs() >= z.abs() {
        vec3(0.0, 1.0_f64.copysign(y), 0.0)
    } else {
        vec3(0.0, 0.0, 1.0_f64.copysign(z))
    }
}
