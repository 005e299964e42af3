//! The ray tracer of the Java Grande Forum benchmarks: 64 balls, all of which reflect and transmit.
//!
//! The scene: balls of radius 3 on a 4 x 4 x 4 grid from -10 to 10, from black to blue, seen from (0, 20, -30) and lit
//! by five lamps. The shading: for each lamp not behind the surface and not hidden, a diffuse part and a white
//! highlight; then half of the reflected ray's colour, and half of the colour of the ray straight through, down to
//! level 6. A ball hides a lamp even if it is farther away than the lamp. A ball lets no light of the lamps through. A
//! ray that meets no ball is black.
//!
//! Each operation is made in the benchmark's order, in double precision, so the *checksum* (the sum of all bytes of the
//! picture) can be compared: the benchmark accepts 2,676,692 for 150 x 150 pixels and 29,827,635 for 500 x 500.
//!
//! # The shared ray
//!
//! These two numbers are the result of a bug. The original has one temporary ray object. Shading stores its starting
//! point in that ray, follows the reflected ray, and then changes only the direction before it follows the transmitted
//! ray; but the reflected ray's whole subtree has used the same object in between. So the transmitted ray starts at the
//! last surface that was shaded in that subtree ([`Rays::Shared`]). If every ray starts at its own surface
//! ([`Rays::Clean`]) the checksums are 2,788,957 and 31,033,217.
//!
//! Shadow rays use the same object, but set both of its parts first, and so have no effect on other rays. No state
//! passes from one pixel to the next either: the first surface that a pixel shades sets the shared starting point
//! before any read. So here that point is a local variable of each pixel, and pixels may be computed in any order.

use super::Traced;
use super::hierarchy::{Hierarchy, Search};
use super::picture::Size;
use super::shape::{Shape, Sphere};
use super::vec3::{Ray, Vec3, power, vec3};
use super::world::Light;

/// Number of balls along each side of the grid.
const SIDE: u32 = 4;
/// The exponent of highlights.
const SHINE: u32 = 15;
/// The share of reflected light.
const SPECULAR: f64 = 0.5;
/// The share of transmitted light.
const TRANSMITTED: f64 = 0.5;
/// Rays with a smaller share are not followed.
const LEAST_SHARE: f64 = 1e-3;
/// The last level of recursion.
const DEPTH: u32 = 6;
/// Distance beyond which a ray meets no ball.
const HORIZON: f64 = 1e9;
/// Fainter highlights are omitted.
const FAINT: f64 = 1e-6;

/// The starting point of transmitted rays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rays {
    /// Each ray starts at its own surface.
    Clean,
    /// A ray starts where the reflected ray's subtree last shaded a surface, as in the benchmark.
    Shared,
}

/// The benchmark's scene. Tracing does not change it.
#[derive(Clone, Debug)]
pub struct JavaGrande {
    balls: Vec<Ball>,
    hierarchy: Hierarchy,
    lights: [Light; 5],
    from: Vec3,
    forward: Vec3,
    down: Vec3,
    left: Vec3,
    rays: Rays,
    search: Search,
}

#[derive(Clone, Debug)]
struct Ball {
    sphere: Sphere,
    color: Vec3,
}

/// The state of one pixel's computation.
#[derive(Debug, Default)]
struct Pixel {
    /// The last starting point of the shared ray.
    shared: Vec3,
    work: u64,
}

impl JavaGrande {
    /// Makes the scene, with [exhaustive search](Search::Exhaustive) as in the benchmark: every ray is tested against
    /// all 64 balls.
    pub fn new(rays: Rays) -> Self {
        let mut balls = Vec::new();
        let place = |index: u32| 20.0 / f64::from(SIDE - 1) * f64::from(index) - 10.0;
        for (i, j, k) in (0..SIDE.pow(3)).map(|n| (n / (SIDE * SIDE), n / SIDE % SIDE, n % SIDE)) {
            let sphere = Sphere::new(vec3(place(i), place(j), place(k)), 3.0);
            balls.push(Ball { sphere, color: vec3(0.0, 0.0, f64::from(i + j) / f64::from(2 * SIDE - 2)) });
        }
        let light = |x, y, z| Light { position: vec3(x, y, z), brightness: 1.0 };
        let lights = [
            light(100.0, 100.0, -50.0),
            light(-100.0, 100.0, -50.0),
            light(100.0, -100.0, -50.0),
            light(-100.0, -100.0, -50.0),
            light(200.0, 200.0, 0.0),
        ];
        let (from, up) = (vec3(0.0, 20.0, -30.0), vec3(0.0, 1.0, 0.0));
        let forward = (Vec3::ZERO - from).normalized();
        let upright = (up - forward * up.dot(forward)).normalized();
        let left = up.cross(forward).normalized();
        let half = (35.0 * PI / 180.0).tan();
        let hierarchy = Hierarchy::new(balls.iter().map(|ball| Shape::Sphere(ball.sphere.clone())).collect());
        JavaGrande {
            balls,
            hierarchy,
            lights,
            from,
            forward,
            down: upright * -half,
            left: left * half,
            rays,
            search: Search::Exhaustive,
        }
    }

    /// Returns the same scene with another search method; pictures are equal, the work differs.
    #[must_use]
    pub fn searched(self, search: Search) -> Self {
        JavaGrande { search, ..self }
    }

    /// Returns the pixel in column `x` and row `y`, counted from the upper left corner.
    ///
    /// The benchmark's pictures are square. For others the width alone sets the scale, as in its arithmetic.
    pub fn pixel(&self, size: Size, x: u32, y: u32) -> Traced {
        let width = f64::from(size.width());
        let (across, downwards) = (2.0 * f64::from(x) / width - 1.0, 2.0 * f64::from(y) / width - 1.0);
        let direction = (self.left * across + self.down * downwards + self.forward).normalized();
        let mut pixel = Pixel::default();
        let color = self.trace(0, 1.0, &Ray { origin: self.from, direction }, &mut pixel);
        Traced { rgb: color.to_bytes(), work: pixel.work }
    }

    /// Returns the colour of `ray`, which contributes `share` of its pixel. The recursion is up to 7 levels deep.
    fn trace(&self, level: u32, share: f64, ray: &Ray, pixel: &mut Pixel) -> Vec3 {
        if level > DEPTH {
            return Vec3::ZERO;
        }
        let Some((distance, ball)) = self.nearest(ray, &mut pixel.work) else { return Vec3::ZERO };
        let point = ray.at(distance);
        let outward = ball.sphere.normal(point);
        let normal = if ray.direction.dot(outward) >= 0.0 { -outward } else { outward };

        let mirror = reflected(ray.direction, normal);
        let mut color = self.lit(ball, point, normal, mirror, pixel);
        pixel.shared = point;
        if SPECULAR * share > LEAST_SHARE {
            let reflected = Ray { origin: point, direction: mirror };
            color += self.trace(level + 1, SPECULAR * share, &reflected, pixel) * SPECULAR;
        }
        if TRANSMITTED * share > LEAST_SHARE {
            let origin = match self.rays {
                Rays::Clean => point,
                Rays::Shared => pixel.shared,
            };
            let straight = Ray { origin, direction: transmitted(ray.direction, normal) };
            color += self.trace(level + 1, TRANSMITTED * share, &straight, pixel) * TRANSMITTED;
        }
        color
    }

    /// Returns the colour of a ball in the light of the lamps.
    fn lit(&self, ball: &Ball, point: Vec3, normal: Vec3, mirror: Vec3, pixel: &mut Pixel) -> Vec3 {
        let mut color = Vec3::ZERO;
        for light in &self.lights {
            let way = light.position - point;
            if normal.dot(way) < 0.0 {
                continue;
            }
            let to_light = Ray { origin: point, direction: way.normalized() };
            if self.hidden(&to_light, &mut pixel.work) {
                continue;
            }
            color += ball.color * (normal.dot(to_light.direction) * light.brightness);
            let glance = mirror.dot(to_light.direction);
            if glance > FAINT {
                let shine = power(glance, SHINE);
                color += vec3(shine, shine, shine);
            }
        }
        color
    }

    /// Returns the nearest ball and its distance; of balls at the same distance, the first.
    fn nearest(&self, ray: &Ray, work: &mut u64) -> Option<(f64, &Ball)> {
        if self.search == Search::Hierarchy {
            let hit = self.hierarchy.nearest(ray, self.search, work)?;
            return (hit.distance < HORIZON).then(|| (hit.distance, &self.balls[hit.shape]));
        }
        *work += self.balls.len() as u64;
        let mut nearest = None;
        let mut limit = HORIZON;
        for ball in &self.balls {
            if let Some(distance) = ball.sphere.hit(ray).filter(|&distance| distance < limit) {
                (limit, nearest) = (distance, Some((distance, ball)));
            }
        }
        nearest
    }

    /// Returns whether the ray meets a ball, at any distance below the horizon.
    fn hidden(&self, ray: &Ray, work: &mut u64) -> bool {
        match self.search {
            Search::Hierarchy => self.hierarchy.blocked(ray, HORIZON, self.search, work),
            Search::Exhaustive => self.nearest(ray, work).is_some(),
        }
    }
}

/// The benchmark's pi.
#[expect(clippy::approx_constant, reason = "the last digits matter to the checksum")]
const PI: f64 = 3.14159265;

/// Returns the direction of the reflected ray, computed as in the benchmark.
fn reflected(direction: Vec3, normal: Vec3) -> Vec3 {
    (direction * (1.0 / direction.dot(normal).abs()) + normal * 2.0).normalized()
}

/// Returns the direction of the transmitted ray: straight on but for rounding, by Snell's law with a refractive index
/// of 1.
fn transmitted(direction: Vec3, normal: Vec3) -> Vec3 {
    let cosine = -direction.dot(normal);
    // The square of a cosine is at least 0, rounded or not.
    let square = 1.0 - (1.0 - cosine * cosine);
    (direction + normal * (cosine - square.sqrt())).normalized()
}
