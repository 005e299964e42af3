//! Optical properties of surfaces.

use super::vec3::{Ray, Vec3};

/// The optical properties of a surface. Every share is from 0 to 1; for a natural look the shares add up to about 1.
#[derive(Clone, Debug, PartialEq)]
pub struct Material {
    /// The colour of the paint.
    pub paint: Paint,
    /// The share of light that the paint scatters in all directions (Lambert).
    pub diffuse: f64,
    /// The strength of the lamps' white highlights (Phong).
    pub specular: f64,
    /// Phong's exponent: the larger, the smaller the highlights.
    pub shininess: u32,
    /// The share of a pixel's light that the reflected ray contributes.
    pub reflectivity: f64,
    /// The share of a pixel's light that the ray through the surface contributes.
    pub transmission: f64,
    /// The refractive index behind the surface; with 1 rays pass straight through, glass has about 1.5.
    pub index: f64,
}

/// The colour of a surface, which may depend on the position.
#[derive(Clone, Debug, PartialEq)]
pub enum Paint {
    /// The same everywhere.
    Plain(Vec3),
    /// A chessboard pattern: vertical square columns in two alternating colours.
    Checker {
        /// The colour of the column that begins at the origin and extends to larger x and z.
        even: Vec3,
        /// The colour of the adjacent columns.
        odd: Vec3,
        /// The width of a column, in units of the scene.
        side: f64,
    },
}

impl Material {
    /// Makes a dull material of one colour.
    pub const fn dull(color: Vec3) -> Self {
        Material {
            paint: Paint::Plain(color),
            diffuse: 1.0,
            specular: 0.0,
            shininess: 1,
            reflectivity: 0.0,
            transmission: 0.0,
            index: 1.0,
        }
    }
}

impl Paint {
    /// Returns the colour at a point.
    #[inline]
    pub fn at(&self, point: Vec3) -> Vec3 {
        match self {
            Paint::Plain(color) => *color,
            Paint::Checker { even, odd, side } => {
                let column = (point.x / side).floor() + (point.z / side).floor();
                if column % 2.0 == 0.0 { *even } else { *odd }
            }
        }
    }
}

/// Returns the direction of the reflected ray, for a `normal` on the side from which the ray comes. Both have length 1.
#[inline]
pub(super) fn reflected(direction: Vec3, normal: Vec3) -> Vec3 {
    (direction - normal * (2.0 * direction.dot(normal))).normalized()
}

/// Returns the direction of the ray behind the surface by Snell's law. `ratio` is the refractive index on this side
/// divided by the index on the other. Returns `None` if all light is reflected.
#[inline]
pub(super) fn refracted(ray: &Ray, normal: Vec3, ratio: f64) -> Option<Vec3> {
    let cosine = -ray.direction.dot(normal);
    let square = 1.0 - ratio * ratio * (1.0 - cosine * cosine);
    (square >= 0.0).then(|| (ray.direction * ratio + normal * (ratio * cosine - square.sqrt())).normalized())
}

#[cfg(test)]
mod tests {
    use super::super::vec3::{Ray, Vec3, vec3};
    use super::{Paint, reflected, refracted};

    fn slanted(sine: f64) -> Ray {
        Ray { origin: Vec3::ZERO, direction: vec3(sine, -(1.0 - sine * sine).sqrt(), 0.0) }
    }

    #[test]
    fn directions_behind_and_before_a_surface() {
        let up = vec3(0.0, 1.0, 0.0);
        let away = reflected(vec3(0.6, -0.8, 0.0), up);
        assert!((away - vec3(0.6, 0.8, 0.0)).length() < 1e-15, "{away:?}");
        let straight = refracted(&slanted(0.6), up, 1.0).expect("nothing changes");
        assert!((straight - vec3(0.6, -0.8, 0.0)).length() < 1e-15, "{straight:?}");
        let bent = refracted(&slanted(0.6), up, 1.0 / 1.5).expect("rays enter glass at any angle");
        assert!((bent.x - 0.4).abs() < 1e-15 && bent.y < 0.0, "the sine is divided by the index: {bent:?}");
        assert_eq!(refracted(&slanted(0.7), up, 1.5), None, "no way out of glass beyond a sine of 1/1.5");
    }

    #[test]
    fn a_chessboard() {
        let (white, black) = (vec3(1.0, 1.0, 1.0), Vec3::ZERO);
        let board = Paint::Checker { even: white, odd: black, side: 2.0 };
        let points = [(1.0, 1.0), (3.0, 1.0), (3.0, 3.0), (-1.0, 1.0), (-1.0, -1.0)];
        assert_eq!(points.map(|(x, z)| board.at(vec3(x, 5.0, z))), [white, black, white, black, white]);
    }
}
