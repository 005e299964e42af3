//! Scenes of any shapes and materials, put together in code.

use super::camera::Camera;
use super::hierarchy::{Hierarchy, Search};
use super::material::Material;
use super::shape::{Shape, ShapeError};
use super::show;
use super::vec3::{Vec3, vec3};

/// The largest depth of reflection.
pub const MAX_DEPTH: u32 = 64;

/// A lamp: a point that shines equally in all directions and at all distances.
#[derive(Clone, Debug, PartialEq)]
pub struct Light {
    /// Where it is.
    pub position: Vec3,
    /// How bright; 1 shows a surface that faces it in its own colour.
    pub brightness: f64,
}

/// Shapes, what they look like, lamps and a camera. It does not change once built, and no ray leaves a trace in it.
#[derive(Clone, Debug)]
pub struct World {
    pub(super) camera: Camera,
    pub(super) hierarchy: Hierarchy,
    pub(super) materials: Vec<Material>,
    /// The material's number for each shape.
    pub(super) coats: Vec<u32>,
    pub(super) lights: Vec<Light>,
    pub(super) ambient: f64,
    pub(super) horizon: Vec3,
    pub(super) zenith: Vec3,
    pub(super) depth: u32,
    pub(super) samples: u32,
    pub(super) search: Search,
}

/// Why there is no such scene.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SceneError {
    /// A shape cannot exist.
    #[error(transparent)]
    Shape(#[from] ShapeError),
    /// The camera does not know where to look.
    #[error(
        "the camera has no direction: look at another point than its own, not along `up`, with a positive focal length"
    )]
    Camera,
    /// More levels than fit into memory.
    #[error("the show scene has no {levels} levels: ask for at most {most}, which make 622,257 shapes")]
    Levels {
        /// The levels asked for.
        levels: u32,
        /// The most that are possible.
        most: u32,
    },
}

/// A material that a [`Builder`] knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MaterialId(u32);

/// A [`World`] in the making.
///
/// # Example
///
/// A dull red ball before a grey sky, seen in one pixel:
///
/// ```
/// use finespun_apps::raytrace::{Builder, Camera, Light, Material, Scene, Shape, Size, vec3};
///
/// let camera = Camera::new(vec3(0.0, 0.0, -5.0), vec3(0.0, 0.0, 0.0), vec3(0.0, 1.0, 0.0), 2.0)?;
/// let mut builder = Builder::new(camera);
/// let red = builder.material(Material::dull(vec3(1.0, 0.0, 0.0)));
/// builder.shape(Shape::sphere(vec3(0.0, 0.0, 0.0), 1.0)?, red);
/// builder.light(Light { position: vec3(0.0, 0.0, -9.0), brightness: 0.5 });
/// let traced = Scene::from(builder.build()).pixel(Size::new(1, 1)?, 0, 0);
/// assert_eq!(traced.rgb, [127, 0, 0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Builder {
    world: World,
    shapes: Vec<Shape>,
}

impl Builder {
    /// An empty world: no lamps, a grey sky, no ambient light, depth 6, one sample for each pixel.
    pub fn new(camera: Camera) -> Self {
        let grey = vec3(0.5, 0.5, 0.5);
        let world = World {
            camera,
            hierarchy: Hierarchy::new(Vec::new()),
            materials: Vec::new(),
            coats: Vec::new(),
            lights: Vec::new(),
            ambient: 0.0,
            horizon: grey,
            zenith: grey,
            depth: 6,
            samples: 1,
            search: Search::Hierarchy,
        };
        Builder { world, shapes: Vec::new() }
    }

    /// Makes a material known.
    pub fn material(&mut self, material: Material) -> MaterialId {
        self.world.materials.push(material);
        MaterialId((self.world.materials.len() - 1) as u32)
    }

    /// Adds a shape of a material.
    ///
    /// # Panics
    ///
    /// If this builder has no such material.
    pub fn shape(&mut self, shape: Shape, MaterialId(material): MaterialId) -> &mut Self {
        assert!((material as usize) < self.world.materials.len(), "the material is another builder's");
        self.shapes.push(shape);
        self.world.coats.push(material);
        self
    }

    /// Adds a lamp.
    pub fn light(&mut self, light: Light) -> &mut Self {
        self.world.lights.push(light);
        self
    }

    /// Sets the light that is everywhere, shadows included, as a share of each surface's colour.
    pub fn ambient(&mut self, share: f64) -> &mut Self {
        self.world.ambient = share;
        self
    }

    /// Sets what rays see that meet nothing: a colour at the horizon and below, one straight above, and those between.
    pub fn sky(&mut self, horizon: Vec3, zenith: Vec3) -> &mut Self {
        (self.world.horizon, self.world.zenith) = (horizon, zenith);
        self
    }

    /// Sets how many surfaces light may be reflected by, or pass through, on its way; with 0 there is only paint.
    ///
    /// Where all surfaces do both, a pixel takes up to 2^(depth + 1) - 1 rays and as many again for each lamp.
    ///
    /// # Panics
    ///
    /// If the depth is above [`MAX_DEPTH`].
    pub fn depth(&mut self, depth: u32) -> &mut Self {
        assert!(depth <= MAX_DEPTH, "a depth of {depth} is more than {MAX_DEPTH}");
        self.world.depth = depth;
        self
    }

    /// The world, ready to be looked at. Cost: that of [`Hierarchy::new`].
    pub fn build(self) -> World {
        World { hierarchy: Hierarchy::new(self.shapes), ..self.world }
    }
}

impl World {
    /// The world of [`Scene::show`](super::Scene::show).
    ///
    /// # Errors
    ///
    /// [`SceneError::Levels`] if there are more than [`MAX_LEVELS`](super::MAX_LEVELS) levels.
    pub fn show(levels: u32) -> Result<World, SceneError> {
        show::world(levels)
    }

    /// The same world, looked at by another way of searching; pictures are the same, the work differs.
    #[must_use]
    pub fn searched(self, search: Search) -> Self {
        World { search, ..self }
    }

    /// The same world with so many rays along each side of a pixel: 2 makes every pixel the mean of 4 rays, at 4 times
    /// the work.
    ///
    /// # Panics
    ///
    /// If the number is 0.
    #[must_use]
    pub fn sampled(self, side: u32) -> Self {
        assert!(side > 0, "a pixel needs a sample");
        World { samples: side, ..self }
    }

    /// The shapes in their hierarchy.
    pub fn hierarchy(&self) -> &Hierarchy {
        &self.hierarchy
    }
}
