//! Shapes against known answers, search methods against each other, and pictures against checksums.

use proptest::prelude::*;

use super::material::Paint;
use super::*;

const UP: Vec3 = vec3(0.0, 1.0, 0.0);
const AHEAD: Vec3 = vec3(0.0, 0.0, 1.0);
const WHITE: Vec3 = vec3(1.0, 1.0, 1.0);

fn square(side: u32) -> Size {
    Size::new(side, side).expect("a size")
}

fn ray(origin: Vec3, direction: Vec3) -> Ray {
    Ray { origin, direction: direction.normalized() }
}

fn sphere(center: Vec3, radius: f64) -> Shape {
    Shape::sphere(center, radius).expect("a sphere")
}

#[test]
fn sphere_hits_match_known_distances() {
    let ball = sphere(vec3(0.0, 0.0, 5.0), 2.0);
    assert_eq!(ball.hit(&ray(Vec3::ZERO, AHEAD)), Some(3.0));
    assert_eq!(ball.hit(&ray(vec3(0.0, 0.0, 5.0), AHEAD)), Some(2.0), "from inside");
    assert_eq!(ball.hit(&ray(vec3(0.0, 0.0, 3.0), AHEAD)), Some(4.0), "not where it starts");
    assert_eq!(ball.hit(&ray(vec3(0.0, 0.0, 8.0), AHEAD)), None, "behind");
    assert_eq!(ball.hit(&ray(vec3(0.0, 2.0, 0.0), AHEAD)), Some(5.0), "grazed");
    assert_eq!(ball.hit(&ray(vec3(0.0, 2.001, 0.0), AHEAD)), None);
    assert_eq!(ball.normal(vec3(0.0, 0.0, 3.0)), -AHEAD);
}

#[test]
fn plane_hits_match_known_distances() {
    let floor = Shape::plane(vec3(7.0, -2.0, 7.0), UP * 5.0).expect("a plane");
    assert_eq!(floor.hit(&ray(Vec3::ZERO, -UP)), Some(2.0));
    assert_eq!(floor.hit(&ray(vec3(0.0, -5.0, 0.0), UP)), Some(3.0), "from below");
    assert_eq!(floor.hit(&ray(Vec3::ZERO, UP)), None);
    assert_eq!(floor.hit(&ray(Vec3::ZERO, AHEAD)), None, "parallel");
    assert_eq!(floor.hit(&ray(vec3(0.0, -2.0, 0.0), AHEAD)), None, "within");
    assert_eq!((floor.normal(Vec3::ZERO), floor.bounds()), (UP, None));
}

#[test]
fn box_hits_match_known_distances() {
    let block = Shape::block(vec3(1.0, 2.0, 3.0), vec3(-1.0, -2.0, 1.0)).expect("a box");
    assert_eq!(block.hit(&ray(Vec3::ZERO, AHEAD)), Some(1.0));
    assert_eq!(block.hit(&ray(vec3(0.0, 0.0, 2.0), AHEAD)), Some(1.0), "from inside");
    assert_eq!(block.hit(&ray(vec3(0.0, 0.0, 4.0), AHEAD)), None, "behind");
    assert_eq!(block.hit(&ray(vec3(1.5, 0.0, 0.0), AHEAD)), None, "beside");
    assert_eq!(block.hit(&ray(vec3(-2.0, 0.0, 0.0), vec3(1.0, 0.0, 1.0))), Some(2.0_f64.sqrt()));
    let faces = [vec3(0.5, 0.5, 1.0), vec3(0.5, 0.5, 3.0), vec3(-1.0, 0.5, 1.5), vec3(0.5, 2.0, 1.5)];
    assert_eq!(faces.map(|point| block.normal(point)), [-AHEAD, AHEAD, vec3(-1.0, 0.0, 0.0), UP]);
}

#[test]
fn triangle_hits_match_known_distances() {
    let sail = Shape::triangle(vec3(0.0, 0.0, 2.0), vec3(0.0, 4.0, 2.0), vec3(4.0, 0.0, 2.0)).expect("a triangle");
    assert_eq!(sail.hit(&ray(vec3(1.0, 1.0, 0.0), AHEAD)), Some(2.0));
    assert_eq!(sail.hit(&ray(vec3(1.0, 1.0, 5.0), -AHEAD)), Some(3.0), "from the other side");
    assert_eq!(sail.hit(&ray(vec3(2.0, 2.0, 0.0), AHEAD)), Some(2.0), "on an edge");
    assert_eq!(sail.hit(&ray(vec3(2.1, 2.0, 0.0), AHEAD)), None);
    assert_eq!(sail.hit(&ray(vec3(1.0, -0.1, 0.0), AHEAD)), None);
    assert_eq!(sail.hit(&ray(vec3(1.0, 1.0, 3.0), AHEAD)), None, "behind");
    assert_eq!(sail.hit(&ray(vec3(1.0, -5.0, 2.0), UP)), None, "in its plane");
    assert_eq!(sail.normal(Vec3::ZERO), -AHEAD);
}

#[test]
fn invalid_shapes_are_errors() {
    let error = Shape::sphere(Vec3::ZERO, 0.0).expect_err("a point");
    assert_eq!(error.to_string(), "a sphere has radius 0: give a positive one");
    assert_eq!(Shape::sphere(Vec3::ZERO, f64::NAN), Err(ShapeError::NotFinite { shape: "sphere" }));
    assert_eq!(Shape::plane(UP, Vec3::ZERO), Err(ShapeError::Degenerate { shape: "plane" }));
    assert_eq!(Shape::block(Vec3::ZERO, vec3(1.0, 0.0, 1.0)), Err(ShapeError::Degenerate { shape: "box" }));
    assert_eq!(Shape::triangle(UP, UP * 2.0, UP * 3.0), Err(ShapeError::Degenerate { shape: "triangle" }));
    let error = Scene::show(7).expect_err("too large");
    assert_eq!(error.to_string(), "the show scene has no 7 levels: ask for at most 6, which make 622,257 shapes");
}

/// A generator of shapes from few distinct coordinates, so that shapes touch, coincide and are met at equal distances.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }

    fn point(&mut self) -> Vec3 {
        let mut half = || self.below(17) as f64 / 2.0 - 4.0;
        vec3(half(), half(), half())
    }

    fn shape(&mut self) -> Shape {
        let shape = match self.below(16) {
            0 => Shape::plane(self.point(), self.point()),
            1..6 => Shape::block(self.point(), self.point()),
            6..11 => Shape::triangle(self.point(), self.point(), self.point()),
            _ => Shape::sphere(self.point(), 0.5 + self.below(3) as f64),
        };
        shape.unwrap_or_else(|_| self.shape())
    }

    fn shapes(&mut self) -> Vec<Shape> {
        let mut shapes: Vec<_> = (0..self.below(60)).map(|_| self.shape()).collect();
        let copies: Vec<_> = shapes.iter().filter(|_| self.below(4) == 0).cloned().collect();
        shapes.extend(copies);
        shapes
    }

    /// Returns a random ray; half of the rays are parallel to an axis or to a plane of two axes.
    fn ray(&mut self) -> Ray {
        let flat = self.below(2) == 0;
        let mut part = || if flat { self.below(3) as f64 - 1.0 } else { self.below(1 << 30) as f64 - (1 << 29) as f64 };
        let direction = vec3(part(), part(), part());
        if direction == Vec3::ZERO { self.ray() } else { ray(self.point(), direction) }
    }
}

proptest! {
    #[test]
    fn both_searches_find_equal_hits(seed: u64) {
        let mut dice = Dice(seed);
        let hierarchy = Hierarchy::new(dice.shapes());
        for _ in 0..40 {
            let (ray, mut work) = (dice.ray(), [0, 0]);
            let found = hierarchy.nearest(&ray, Search::Hierarchy, &mut work[0]);
            let hit = hierarchy.nearest(&ray, Search::Exhaustive, &mut work[1]);
            let bits = |hit: Option<Hit>| hit.map(|hit| (hit.distance.to_bits(), hit.shape));
            prop_assert_eq!(bits(found), bits(hit), "{:?}", ray);
            let before = hit.map_or(5.0, |hit| hit.distance + dice.below(3) as f64 - 1.0);
            let blocked = [Search::Hierarchy, Search::Exhaustive]
                .map(|search| hierarchy.blocked(&ray, before, search, &mut work[0]));
            prop_assert_eq!(blocked, [hit.is_some_and(|hit| hit.distance < before); 2], "{:?} {}", ray, before);
        }
    }
}

/// In scenes of ordinary proportions, boxes reject no hit of the shapes themselves.
#[test]
fn searches_agree_with_the_shape_tests() {
    for seed in 0..200 {
        let mut dice = Dice(seed);
        let hierarchy = Hierarchy::new(dice.shapes());
        for _ in 0..40 {
            let ray = dice.ray();
            let hits =
                hierarchy.shapes().iter().enumerate().filter_map(|(number, shape)| Some((shape.hit(&ray)?, number)));
            let first = hits.min_by(|a, b| a.0.total_cmp(&b.0));
            let found = hierarchy.nearest(&ray, Search::Hierarchy, &mut 0).map(|hit| (hit.distance, hit.shape));
            assert_eq!(found, first, "seed {seed}, {ray:?}");
        }
    }
}

#[test]
fn a_hierarchy_of_thousands_takes_few_tests() {
    let spheres = (0..8000).map(|n| vec3(f64::from(n % 20), f64::from(n / 20 % 20), f64::from(n / 400)));
    let hierarchy = Hierarchy::new(spheres.map(|center| sphere(center, 0.3)).collect());
    let (mut work, mut all) = (0, 0);
    let ray = ray(vec3(-5.0, 4.1, 4.1), vec3(1.0, 0.001, 0.002));
    let hit = hierarchy.nearest(&ray, Search::Hierarchy, &mut work);
    assert_eq!(hit.map(|hit| hit.shape), Some(4 * 20 + 4 * 400));
    assert_eq!(hit, hierarchy.nearest(&ray, Search::Exhaustive, &mut all));
    assert!(work < 100 && all > 8000, "{work} of {all}");
    let same = Hierarchy::new(vec![sphere(UP, 1.0); 1000]);
    assert_eq!(same.nearest(&self::ray(Vec3::ZERO, UP), Search::Hierarchy, &mut work).map(|hit| hit.shape), Some(0));
    assert_eq!(Hierarchy::new(Vec::new()).nearest(&ray, Search::Hierarchy, &mut work), None);
}

fn builder() -> Builder {
    Builder::new(Camera::new(Vec3::ZERO, AHEAD, UP, 1.0).expect("a camera"))
}

/// Two mirrors that face each other; each further reflection contributes half as much: 1/4, 3/8, 7/16 ...
#[test]
fn reflections_end_at_the_depth() {
    for (depth, brightness) in [(0, 0.25), (1, 0.375), (2, 0.4375), (3, 0.46875)] {
        let mut builder = builder();
        let mirror = builder.material(Material { reflectivity: 0.5, ..Material::dull(WHITE) });
        builder.shape(Shape::plane(AHEAD, AHEAD).expect("a plane"), mirror);
        builder.shape(Shape::plane(-AHEAD, AHEAD).expect("a plane"), mirror);
        builder.ambient(0.25).depth(depth);
        let byte = (255.0 * brightness) as u8;
        let traced = Scene::from(builder.build()).pixel(square(1), 0, 0);
        assert_eq!(traced, Traced { rgb: [byte; 3], work: 2 * u64::from(depth + 1) });
    }
}

#[test]
fn shadows_reach_up_to_the_lamp() {
    let lit = |obstacle: f64| {
        let mut builder = builder();
        let white = builder.material(Material::dull(WHITE));
        builder.shape(Shape::plane(AHEAD * 4.0, AHEAD).expect("a plane"), white);
        builder.shape(sphere(AHEAD * obstacle, 0.3), white);
        builder.light(Light { position: AHEAD, brightness: 1.0 });
        // The lamp is between the camera and the plane; one pixel beside the centre, light is nearly perpendicular.
        Scene::from(builder.build()).pixel(square(101), 60, 50).rgb
    };
    assert_eq!(lit(2.0), [0; 3], "between lamp and plane");
    assert!(lit(-2.0)[0] > 200, "behind the lamp");
}

#[test]
fn glass_that_does_not_bend_light_is_invisible() {
    let view = |glass: bool| {
        let mut builder = builder();
        let clear = builder.material(Material { diffuse: 0.0, transmission: 1.0, ..Material::dull(Vec3::ZERO) });
        let tiles = Paint::Checker { even: WHITE, odd: UP, side: 0.77 };
        let wall = builder.material(Material { paint: tiles, ..Material::dull(WHITE) });
        builder.ambient(0.5).shape(Shape::plane(AHEAD * 6.0, AHEAD).expect("a plane"), wall);
        if glass {
            builder.shape(sphere(AHEAD * 3.0, 1.0), clear);
        }
        plain(&builder.build().sampled(2).into(), square(30), &Progress::new()).0
    };
    assert_eq!(view(true), view(false));
}

#[test]
fn pixels_are_the_same_in_any_order_and_by_any_search() {
    fn shareable<T: Send + Sync + 'static>(_: &T) {}
    let show = Scene::show(2).expect("few levels");
    for scene in [show, Scene::java_grande(Rays::Clean), Scene::java_grande(Rays::Shared)] {
        shareable(&scene);
        let (size, progress) = (Size::new(24, 16).expect("a size"), Progress::new());
        let (picture, work) = plain(&scene, size, &progress);
        assert_eq!((progress.done(), progress.total()), (16, 16));
        for index in (0..size.pixels()).rev() {
            let traced = scene.pixel(size, index as u32 % 24, index as u32 / 24);
            assert_eq!(traced, Traced { rgb: picture.pixels()[index], work: work.counts()[index] });
        }
        for search in [Search::Hierarchy, Search::Exhaustive] {
            assert_eq!(plain(&scene.clone().searched(search), size, &Progress::new()).0, picture);
        }
    }
}

fn java_grande(rays: Rays, side: u32, search: Search) -> u64 {
    plain(&Scene::java_grande(rays).searched(search), square(side), &Progress::new()).0.checksum()
}

/// The smaller published checksum, and the checksum without the shared ray. The larger one is in `tests/answers.rs`.
#[test]
fn java_grande_150_matches_the_published_checksum() {
    assert_eq!(java_grande(Rays::Shared, 150, Search::Exhaustive), 2_676_692);
    assert_eq!(java_grande(Rays::Clean, 150, Search::Hierarchy), 2_788_957);
}

/// The expected values were computed by this program, and are the same on every machine.
#[test]
fn show_scene_matches_stored_checksums() {
    for (levels, checksum, tests) in [(0, 1_629_322, 95_297), (2, 1_574_413, 257_940), (4, 1_532_211, 463_562)] {
        let (picture, work) = plain(&Scene::show(levels).expect("few levels"), square(64), &Progress::new());
        assert_eq!((picture.checksum(), work.total()), (checksum, tests), "{levels} levels");
    }
}
