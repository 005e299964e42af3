//! A demonstration scene, with work that differs widely from pixel to pixel.

use super::camera::Camera;
use super::material::{Material, Paint};
use super::shape::Shape;
use super::vec3::{Vec3, vec3};
use super::world::{Builder, Light, MaterialId, SceneError, World};

/// The maximum number of levels of a show scene: 597,871 spheres in the flake and 24,386 other shapes.
pub const MAX_LEVELS: u32 = 6;

/// The cosine of 30 degrees.
const COS_30: f64 = 0.866_025_403_784_438_6;

/// Makes the scene of [`Scene::show`](super::Scene::show).
pub(super) fn world(levels: u32) -> Result<World, SceneError> {
    if levels > MAX_LEVELS {
        return Err(SceneError::Levels { levels, most: MAX_LEVELS });
    }
    let camera = Camera::new(vec3(-0.6, 3.0, -8.5), vec3(0.0, 1.6, 0.0), vec3(0.0, 1.0, 0.0), 2.1)?;
    let mut builder = Builder::new(camera);
    builder.sky(vec3(0.75, 0.82, 0.92), vec3(0.18, 0.32, 0.62)).ambient(0.12);
    builder.light(Light { position: vec3(-8.0, 12.0, -9.0), brightness: 0.75 });
    builder.light(Light { position: vec3(9.0, 7.0, -6.0), brightness: 0.4 });

    let tiles = Paint::Checker { even: vec3(0.85, 0.83, 0.78), odd: vec3(0.22, 0.25, 0.30), side: 1.0 };
    let floor =
        builder.material(Material { paint: tiles, diffuse: 0.8, reflectivity: 0.15, ..Material::dull(Vec3::ZERO) });
    builder.shape(Shape::plane(Vec3::ZERO, vec3(0.0, 1.0, 0.0))?, floor);

    let metals = [vec3(0.95, 0.75, 0.35), vec3(0.90, 0.45, 0.30), vec3(0.55, 0.75, 0.85)];
    let metals = metals.map(|color| builder.material(metal(color)));
    flake(&mut builder, &metals, levels, vec3(0.1, 1.8, 1.0), 1.3, vec3(0.0, 1.0, 0.0))?;

    let brick = builder.material(Material::dull(vec3(0.75, 0.30, 0.22)));
    sponge(&mut builder, brick, levels.div_ceil(2), vec3(-3.3, 0.0, -1.4), 1.5)?;

    let jade = builder.material(Material {
        diffuse: 0.85,
        specular: 0.4,
        shininess: 30,
        reflectivity: 0.1,
        ..Material::dull(vec3(0.25, 0.65, 0.40))
    });
    let corners = [vec3(1.2, 0.0, -1.6), vec3(3.0, 0.0, -1.6), vec3(2.1, 0.0, -0.04), vec3(2.1, 1.6, -1.08)];
    pyramid(&mut builder, jade, levels, corners)?;

    let glass = builder.material(Material {
        diffuse: 0.0,
        specular: 0.8,
        shininess: 120,
        reflectivity: 0.12,
        transmission: 0.85,
        index: 1.5,
        ..Material::dull(vec3(0.1, 0.1, 0.1))
    });
    builder.shape(Shape::sphere(vec3(-0.35, 0.5, -2.6), 0.5)?, glass);
    Ok(builder.build())
}

fn metal(color: Vec3) -> Material {
    Material { diffuse: 0.45, specular: 0.6, shininess: 60, reflectivity: 0.5, ..Material::dull(color) }
}

/// Adds a sphere with nine spheres of a third of its size on it (six around its equator, three above), recursively.
fn flake(
    builder: &mut Builder,
    metals: &[MaterialId; 3],
    levels: u32,
    center: Vec3,
    radius: f64,
    axis: Vec3,
) -> Result<(), SceneError> {
    builder.shape(Shape::sphere(center, radius)?, metals[levels as usize % 3]);
    if levels == 0 {
        return Ok(());
    }
    let aside = if axis.y.abs() < 0.9 { vec3(0.0, 1.0, 0.0) } else { vec3(1.0, 0.0, 0.0) };
    let east = aside.cross(axis).normalized();
    let north = axis.cross(east);
    let around = |cosine: f64, sine: f64| east * cosine + north * sine;
    let equator = [(1.0, 0.0), (0.5, COS_30), (-0.5, COS_30), (-1.0, 0.0), (-0.5, -COS_30), (0.5, -COS_30)];
    let above = [(COS_30, 0.5), (-COS_30, 0.5), (0.0, -1.0)];
    let flat = equator.map(|(cosine, sine)| around(cosine, sine));
    let raised = above.map(|(cosine, sine)| around(cosine, sine) * 0.6 + axis * 0.8);
    for direction in flat.into_iter().chain(raised) {
        let third = radius / 3.0;
        flake(builder, metals, levels - 1, center + direction * (radius + third), third, direction.normalized())?;
    }
    Ok(())
}

/// Adds a cube of 27 parts without the seven at the centres of its faces and of the cube, recursively (Menger's
/// sponge).
fn sponge(builder: &mut Builder, material: MaterialId, levels: u32, corner: Vec3, side: f64) -> Result<(), SceneError> {
    if levels == 0 {
        builder.shape(Shape::block(corner, corner + vec3(side, side, side))?, material);
        return Ok(());
    }
    let third = side / 3.0;
    for part in 0..27 {
        let at = [part % 3, part / 3 % 3, part / 9];
        if at.iter().filter(|&&place| place == 1).count() < 2 {
            let [x, y, z] = at.map(|place| f64::from(place) * third);
            sponge(builder, material, levels - 1, corner + vec3(x, y, z), third)?;
        }
    }
    Ok(())
}

/// Adds a tetrahedron of four tetrahedra of half its size, one at each corner, recursively (Sierpinski's).
fn pyramid(builder: &mut Builder, material: MaterialId, levels: u32, corners: [Vec3; 4]) -> Result<(), SceneError> {
    let [a, b, c, top] = corners;
    if levels == 0 {
        for (a, b, c) in [(a, b, c), (a, top, b), (b, top, c), (c, top, a)] {
            builder.shape(Shape::triangle(a, b, c)?, material);
        }
        return Ok(());
    }
    for corner in corners {
        pyramid(builder, material, levels - 1, corners.map(|other| (corner + other) * 0.5))?;
    }
    Ok(())
}
