//! Ray tracing: a picture whose pixels differ widely in cost.
//!
//! A ray leads from the camera through each pixel to the nearest surface. There every lamp that is not hidden adds its
//! light, and mirrors and glass emit further rays, which do the same. Pixels are independent, and their cost is not
//! known in advance: a pixel takes two tests (sky) or a thousand (a mirror that sees mirrors). Each pixel is therefore
//! returned with its work: the number of tests of a ray against a box or a shape.
//!
//! - [`Vec3`], [`Ray`]: the basic geometry
//! - [`Shape`]: spheres, planes, boxes and triangles, and their intersection with rays
//! - [`Bounds`], [`Hierarchy`]: boxes around shapes, and a tree of boxes that avoids most tests but changes no bit
//! - [`Material`], [`Light`], [`Camera`], [`World`], [`Builder`]: scenes put together in code
//! - [`JavaGrande`]: the scene and shading of a benchmark, number for number
//! - [`Picture`], [`WorkMap`]: the results, and PNG files with their contents
//! - [`plain`], [`render`](fn@render), [`threads`]: the picture row by row; by tasks; by closures, as in the
//!   continuation-passing-threads paper
//!
//! Answers: the Java Grande benchmark's pictures have the published checksums 2,676,692 (150 x 150 pixels) and
//! 29,827,635 (500 x 500), see [`Rays`]. Pictures of a [`World`] use only the four basic operations and square roots,
//! which every machine rounds in the same way; the tests contain checksums of the show scene as this program computed
//! them.

mod bounds;
mod camera;
mod hierarchy;
mod javagrande;
mod material;
mod picture;
mod shade;
mod shape;
mod show;
pub mod threads;
mod vec3;
mod world;

#[cfg(test)]
mod tests;

pub use bounds::{Bounds, Slabs};
pub use camera::Camera;
pub use hierarchy::{Hierarchy, Hit, Search};
pub use javagrande::{JavaGrande, Rays};
pub use material::{Material, Paint};
pub use picture::{MAX_SIDE, Picture, PictureError, Size, WorkMap};
pub use shape::{EPSILON, Plane, Shape, ShapeError, Sphere, Triangle};
pub use show::MAX_LEVELS;
pub use vec3::{Ray, Vec3, vec3};
pub use world::{Builder, Light, MAX_DEPTH, MaterialId, SceneError, World};

use finespun::prelude::*;
use finespun::simulation;

use crate::progress::Progress;

/// Elementary operations of a test of a ray against a box or a shape.
const TEST: u64 = 10;

/// A pixel and its work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Traced {
    /// Red, green and blue.
    pub rgb: [u8; 3],
    /// The number of tests of a ray against a box or a shape.
    pub work: u64,
}

/// A scene from which pictures can be made.
///
/// A scene is immutable, so any number of threads may request pixels, in any order.
#[derive(Clone, Debug)]
pub enum Scene {
    /// Shapes and materials of all kinds.
    World(World),
    /// The benchmark's scene.
    JavaGrande(JavaGrande),
}

impl Scene {
    /// Makes a flake of mirroring spheres on a chessboard, with a sponge of boxes, a pyramid of triangles and a ball of
    /// glass.
    ///
    /// Each of up to [`MAX_LEVELS`] `levels` multiplies the spheres by 9 and the triangles by 4, every second one the
    /// boxes by 20. Level 4 has 7,381 + 1 spheres, 1,024 triangles and 400 boxes, and takes 10 ms to build; its pixels
    /// take from 2 to some 1,200 tests, and half of them at most 49. Level 6 has 622,257 shapes, and takes a second and
    /// 130 MB.
    ///
    /// # Errors
    ///
    /// Returns [`SceneError::Levels`] if `levels` is above [`MAX_LEVELS`].
    pub fn show(levels: u32) -> Result<Scene, SceneError> {
        World::show(levels).map(Scene::World)
    }

    /// Makes the scene of the Java Grande benchmark; with [`Rays::Shared`] it has the benchmark's checksums.
    pub fn java_grande(rays: Rays) -> Scene {
        Scene::JavaGrande(JavaGrande::new(rays))
    }

    /// Returns the same scene with another search method; pictures are equal, the work differs.
    #[must_use]
    pub fn searched(self, search: Search) -> Scene {
        match self {
            Scene::World(world) => world.searched(search).into(),
            Scene::JavaGrande(scene) => scene.searched(search).into(),
        }
    }

    /// Returns the pixel in column `x` and row `y` of a picture of this `size`, counted from the upper left corner.
    ///
    /// Pixels outside the picture show the scene there. Cost: 3 to 13 ns for each test that the pixel's work counts.
    pub fn pixel(&self, size: Size, x: u32, y: u32) -> Traced {
        match self {
            Scene::World(world) => world.pixel(size, x, y),
            Scene::JavaGrande(scene) => scene.pixel(size, x, y),
        }
    }
}

impl From<World> for Scene {
    fn from(world: World) -> Self {
        Scene::World(world)
    }
}

impl From<JavaGrande> for Scene {
    fn from(scene: JavaGrande) -> Self {
        Scene::JavaGrande(scene)
    }
}

/// Makes the picture sequentially, row by row. Returns it with the work of each pixel.
///
/// `progress` counts rows. The benchmark's 500 x 500 pixels take 3 to 4 s, the show scene with 4 levels at 512 x 512
/// takes 0.3 s.
///
/// # Example
///
/// ```
/// use finespun_apps::Progress;
/// use finespun_apps::raytrace::{Rays, Scene, Size, plain};
///
/// let (picture, work) = plain(&Scene::java_grande(Rays::Shared), Size::new(20, 20)?, &Progress::new());
/// let mut file = Vec::new();
/// picture.write_png(&mut file)?;
/// assert_eq!(&file[1..4], b"PNG");
/// assert!(work.total() >= 64 * 400);
/// # Ok::<(), finespun_apps::raytrace::PictureError>(())
/// ```
pub fn plain(scene: &Scene, size: Size, progress: &Progress) -> (Picture, WorkMap) {
    let mut pixels = Vec::with_capacity(size.pixels());
    let mut work = Vec::with_capacity(size.pixels());
    progress.expect(u64::from(size.height()));
    for y in 0..size.height() {
        for x in 0..size.width() {
            let traced = scene.pixel(size, x, y);
            pixels.push(traced.rgb);
            work.push(traced.work);
        }
        progress.advance(1);
    }
    let complete = "there is one entry for each pixel";
    (Picture::new(size, pixels).expect(complete), WorkMap::new(size, work).expect(complete))
}

/// Makes the picture with a task for each row; the answer is the same as for [`plain`].
#[task]
pub async fn render(scene: &Scene, size: Size, progress: &Progress) -> (Picture, WorkMap) {
    progress.expect(u64::from(size.height()));
    let rows: Vec<Vec<Traced>> = join_all((0..size.height()).map(move |y| row(scene, size, y, progress))).await;
    let traced = || rows.iter().flatten();
    let complete = "there is one entry for each pixel";
    let picture = Picture::new(size, traced().map(|traced| traced.rgb).collect()).expect(complete);
    (picture, WorkMap::new(size, traced().map(|traced| traced.work).collect()).expect(complete))
}

/// Traces a row.
#[task]
pub async fn row(scene: &Scene, size: Size, y: u32, progress: &Progress) -> Vec<Traced> {
    let row: Vec<Traced> = (0..size.width()).map(|x| scene.pixel(size, x, y)).collect();
    simulation::compute(row.iter().map(|pixel| pixel.work).sum::<u64>() * TEST);
    progress.advance(1);
    row
}
