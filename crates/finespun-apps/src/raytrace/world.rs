//! Scenes of any shapes and materials, built in code.

use super::camera::Camera;
use super::hierarchy::{Hierarchy, Search};
use super::material::Material;
use super::shape::{Shape, ShapeError};
use super::show;
use super::vec3::{Vec3, vec3};

/// The maximum depth of reflection.
pub const MAX_DEPTH: u32 = 64;

/// A lamp: a point light of equal brightness in all directions and at all distances.
#[derive(Clone, Debug, PartialEq)]
pub struct Light {
    /// The position.
    pub position: Vec3,
    /// The brightness; 1 shows a surface that faces the lamp in its own colour.
    pub brightness: f64,
}

/// Shapes with materials, lamps and a camera. A world is immutable once built; tracing does not change it.
#[derive(Clone, Debug)]
pub struct World {
    pub(super) camera: Camera,
    pub(super) hierarchy: Hierarchy,
    pub(super) materials: Vec<Material>,
    /// The index of each shape's material.
    pub(super) coats: Vec<u32>,
    pub(super) lights: Vec<Light>,
    pub(super) ambient: f64,
    pub(super) horizon: Vec3,
    pub(super) zenith: Vec3,
    pub(super) depth: u32,
    pub(super) samples: u32,
    pub(super) search: Search,
}

/// An error in the description of a scene.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SceneError {
    /// A shape is invalid.
    #[error(transparent)]
    Shape(#[from] ShapeError),
    /// The camera has no valid direction.
    #[error(
        "the camera has no direction: look at another point than its own, not along `up`, with a positive focal length"
    )]
    Camera,
    /// The number of levels is above the maximum.
    #[error("the show scene has no {levels} levels: ask for at most {most}, which make 622,257 shapes")]
    Levels {
        /// The requested levels.
        levels: u32,
        /// The maximum.
        most: u32,
    },
}

/// A handle to a material of a [`Builder`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MaterialId(u32);

/// A [`World`] under construction.
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
    /// Makes an empty world: no lamps, a grey sky, no ambient light, depth 6, one sample for each pixel.
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

    /// Adds a material.
    pub fn material(&mut self, material: Material) -> MaterialId {
        self.world.materials.push(material);
        MaterialId((self.world.materials.len() - 1) as u32)
    }

    /// Adds a shape of a material.
    ///
    /// # Panics
    ///
    /// Panics if this builder has no material with this number.
    pub fn shape(&mut self, shape: Shape, MaterialId(material): MaterialId) -> &mut Self {
        assert!((material as usize) < self.world.materials.len(), "the material belongs to another builder");
        self.shapes.push(shape);
        self.world.coats.push(material);
        self
    }

    /// Adds a lamp.
    pub fn light(&mut self, light: Light) -> &mut Self {
        self.world.lights.push(light);
        self
    }

    /// Sets the ambient light, which reaches shadows as well, as a share of each surface's colour.
    pub fn ambient(&mut self, share: f64) -> &mut Self {
        self.world.ambient = share;
        self
    }

    /// Sets the colours of rays that meet no shape: at the horizon and below, and straight above, interpolated in
    /// between.
    pub fn sky(&mut self, horizon: Vec3, zenith: Vec3) -> &mut Self {
        (self.world.horizon, self.world.zenith) = (horizon, zenith);
        self
    }

    /// Sets the maximum number of surfaces at which light is reflected or refracted on its way; with 0 only paint is
    /// visible.
    ///
    /// If all surfaces reflect and refract, a pixel takes up to 2^(depth + 1) - 1 rays and as many again for each lamp.
    ///
    /// # Panics
    ///
    /// Panics if the depth is above [`MAX_DEPTH`].
    pub fn depth(&mut self, depth: u32) -> &mut Self {
        assert!(depth <= MAX_DEPTH, "a depth of {depth} is more than {MAX_DEPTH}");
        self.world.depth = depth;
        self
    }

    /// Builds the world. Cost: the cost of [`Hierarchy::new`].
    pub fn build(self) -> World {
        World { hierarchy: Hierarchy::new(self.shapes), ..self.world }
    }
}

impl World {
    /// Makes the world of [`Scene::show`](super::Scene::show).
    ///
    /// # Errors
    ///
    /// Returns [`SceneError::Levels`] if `levels` is above [`MAX_LEVELS`](super::MAX_LEVELS).
    pub fn show(levels: u32) -> Result<World, SceneError> {
        show::world(levels)
    }

    /// Returns the same world with another search method; pictures are equal, the work differs.
    #[must_use]
    pub fn searched(self, search: Search) -> Self {
        World { search, ..self }
    }

    /// Returns the same world with `side` rays along each side of a pixel: 2 makes every pixel the mean of 4 rays, at 4
    /// times the work.
    ///
    /// # Panics
    ///
    /// Panics if `side` is 0.
    #[must_use]
    pub fn sampled(self, side: u32) -> Self {
        assert!(side > 0, "a pixel needs a sample");
        World { samples: side, ..self }
    }

    /// Returns the shapes in their hierarchy.
    pub fn hierarchy(&self) -> &Hierarchy {
        &self.hierarchy
    }
}
