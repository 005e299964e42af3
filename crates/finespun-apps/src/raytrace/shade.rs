//! The colour of a ray in a [`World`].

use super::Traced;
use super::hierarchy::Hit;
use super::material::{Material, reflected, refracted};
use super::picture::Size;
use super::shape::EPSILON;
use super::vec3::{Ray, Vec3, power};
use super::world::World;

/// Rays that contribute a smaller share of a pixel are not followed: less than half a step of its bytes.
const LEAST_SHARE: f64 = 1.0 / 512.0;

impl World {
    /// Returns the pixel in column `x` and row `y`, counted from the upper left corner.
    pub fn pixel(&self, size: Size, x: u32, y: u32) -> Traced {
        let mut work = 0;
        let side = f64::from(self.samples);
        let inside = |pixel: u32, sample: u32| f64::from(pixel) + (f64::from(sample) + 0.5) / side;
        let mut color = Vec3::ZERO;
        for row in 0..self.samples {
            for column in 0..self.samples {
                let ray = self.camera.ray(size, inside(x, column), inside(y, row));
                color += self.color(&ray, 0, 1.0, &mut work);
            }
        }
        Traced { rgb: (color * (1.0 / (side * side))).to_bytes(), work }
    }

    /// Returns the colour of `ray`, which is the result of `level` reflections or refractions and contributes `share`
    /// of its pixel.
    ///
    /// The recursion is as deep as the world's depth.
    fn color(&self, ray: &Ray, level: u32, share: f64, work: &mut u64) -> Vec3 {
        let Some(hit) = self.hierarchy.nearest(ray, self.search, work) else { return self.sky(ray.direction) };
        let point = ray.at(hit.distance);
        let outward = self.hierarchy.shapes()[hit.shape].normal(point);
        let entering = ray.direction.dot(outward) < 0.0;
        let normal = if entering { outward } else { -outward };
        let material = self.material(hit);
        let mut color = self.lit(ray, point, normal, material, work);
        if level == self.depth {
            return color;
        }
        let mut mirrored = material.reflectivity;
        if material.transmission * share > LEAST_SHARE {
            let ratio = if entering { 1.0 / material.index } else { material.index };
            match refracted(ray, normal, ratio) {
                Some(direction) => {
                    let through = Ray { origin: point, direction };
                    let part = material.transmission;
                    color += self.color(&through, level + 1, part * share, work) * part;
                }
                None => mirrored += material.transmission,
            }
        }
        if mirrored * share > LEAST_SHARE {
            let back = Ray { origin: point, direction: reflected(ray.direction, normal) };
            color += self.color(&back, level + 1, mirrored * share, work) * mirrored;
        }
        color
    }

    /// Returns the colour of a surface in the light of the lamps and the ambient light.
    fn lit(&self, ray: &Ray, point: Vec3, normal: Vec3, material: &Material, work: &mut u64) -> Vec3 {
        let paint = material.paint.at(point);
        let mirror = reflected(ray.direction, normal);
        let mut color = paint * self.ambient;
        for light in &self.lights {
            let way = light.position - point;
            if normal.dot(way) <= 0.0 {
                continue;
            }
            let to_light = Ray { origin: point, direction: way.normalized() };
            if self.hierarchy.blocked(&to_light, way.length() - EPSILON, self.search, work) {
                continue;
            }
            color += paint * (material.diffuse * normal.dot(to_light.direction) * light.brightness);
            let glance = mirror.dot(to_light.direction);
            if material.specular > 0.0 && glance > 0.0 {
                let shine = material.specular * power(glance, material.shininess) * light.brightness;
                color += Vec3 { x: shine, y: shine, z: shine };
            }
        }
        color
    }

    fn material(&self, hit: Hit) -> &Material {
        &self.materials[self.coats[hit.shape] as usize]
    }

    fn sky(&self, direction: Vec3) -> Vec3 {
        self.horizon + (self.zenith - self.horizon) * direction.y.max(0.0)
    }
}
