//! Ray tracing.

use std::path::{Path, PathBuf};

use finespun::RunError;
use finespun_apps::Progress;
use finespun_apps::raytrace::threads::{self, Rendered};
use finespun_apps::raytrace::{self, MAX_LEVELS, MAX_SIDE, Picture, Rays, Scene, Size, WorkMap};
use serde_json::{Map, Value};

use super::{Answer, App, Executor, Timed, object};
use crate::args::values::{number, path};
use crate::failure::Failure;

/// The scenes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Which {
    /// A flake of mirroring spheres on a chessboard, with boxes, triangles and glass
    Show,
    /// The scene of the Java Grande benchmark: 64 spheres, five lamps
    JavaGrande,
}

/// `raytrace`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The tasks trace a row each. With --closures it is the program of the continuation-passing-threads paper (Figure 8), which halves
windows until a pixel is left; the answer then says how many pixels each worker has traced.
Java Grande's published checksums, 2,676,692 at --size 150 and 29,827,635 at --size 500, come with --shared-ray: the benchmark
lets a ray begin where another has been left. Without, they are 2,788,957 and 31,033,217.
Answer: checksum, the sum of all colour bytes, and tests, how often a ray was tested against a shape or a box.

Example: finespun run raytrace --size 512 --closures --png picture.png --work-png work.png")]
pub struct Raytrace {
    /// The scene to draw
    #[arg(long, value_enum, default_value = "show")]
    scene: Which,
    /// With --scene show: levels of refinement of the flake, each with nine times as many spheres
    #[arg(long, value_name = "N", default_value = "4", value_parser = number(0..=MAX_LEVELS))]
    levels: u32,
    /// Width and height in pixels
    #[arg(long, value_name = "PIXELS", default_value = "512", value_parser = number(1..=MAX_SIDE))]
    size: u32,
    /// With --scene java-grande: use the benchmark's shared ray
    #[arg(long)]
    shared_ray: bool,
    /// By closures instead of tasks
    #[arg(long)]
    closures: bool,
    /// Write the picture to this file
    #[arg(long, value_name = "FILE", value_parser = path())]
    png: Option<PathBuf>,
    /// Write a picture of the work of each pixel to this file: brighter pixels took more work
    #[arg(long, value_name = "FILE", value_parser = path())]
    work_png: Option<PathBuf>,
}

/// The picture to draw.
#[derive(Debug)]
pub struct Made {
    options: Raytrace,
    scene: Scene,
    size: Size,
}

impl Raytrace {
    /// Builds the scene.
    ///
    /// # Errors
    ///
    /// [`Failure::Usage`] if options do not fit together.
    pub fn open(self) -> Result<Made, Failure> {
        if self.shared_ray && self.scene != Which::JavaGrande {
            return Err(Failure::Usage("--shared-ray is the Java Grande scene's: add --scene java-grande".to_owned()));
        }
        let usage = |error: &dyn std::error::Error| Failure::Usage(error.to_string());
        let size = Size::new(self.size, self.size).map_err(|error| usage(&error))?;
        let scene = match self.scene {
            Which::Show => Scene::show(self.levels).map_err(|error| usage(&error))?,
            Which::JavaGrande => Scene::java_grande(if self.shared_ray { Rays::Shared } else { Rays::Clean }),
        };
        Ok(Made { options: self, scene, size })
    }
}

impl Made {
    fn answer(&self, picture: &Picture, work: &WorkMap) -> Answer {
        let mut answer = Answer::new([("checksum", picture.checksum().into()), ("tests", work.total().into())]);
        let written = "a vector takes whatever is written";
        if self.options.png.is_some() {
            let mut file = Vec::new();
            picture.write_png(&mut file).expect(written);
            answer.files.push(file);
        }
        if self.options.work_png.is_some() {
            let mut file = Vec::new();
            work.write_png(&mut file).expect(written);
            answer.files.push(file);
        }
        answer
    }
}

impl App for Made {
    fn name(&self) -> &'static str {
        "raytrace"
    }

    fn parameters(&self) -> Map<String, Value> {
        let scene = match self.options.scene {
            Which::Show => "show",
            Which::JavaGrande => "java-grande",
        };
        let mut parameters = object([("scene", scene.into()), ("size", self.options.size.into())]);
        match self.options.scene {
            Which::Show => parameters.insert("levels".to_owned(), self.options.levels.into()),
            Which::JavaGrande => parameters.insert("shared_ray".to_owned(), self.options.shared_ray.into()),
        };
        if self.options.closures {
            parameters.insert("closures".to_owned(), true.into());
        }
        parameters
    }

    fn memory(&self) -> u64 {
        // Three bytes and a word per pixel in the picture, and as much again while it is made.
        32 * self.size.pixels() as u64
    }

    fn files(&self) -> Vec<(&'static str, &Path)> {
        let named = [("--png", &self.options.png), ("--work-png", &self.options.work_png)];
        named.into_iter().filter_map(|(option, path)| Some((option, path.as_deref()?))).collect()
    }

    fn run(&self, executor: &Executor, progress: &Progress) -> Result<Timed<Answer>, RunError> {
        let (scene, size) = (&self.scene, self.size);
        if !self.options.closures {
            let plain = |()| raytrace::plain(scene, size, progress);
            let found = executor.compute((), plain, |()| raytrace::render(scene, size, progress))?;
            return Ok(found.map(|(picture, work)| self.answer(&picture, &work)));
        }
        let plain = |()| {
            let (picture, work) = raytrace::plain(scene, size, progress);
            Rendered { picture, work, traced: vec![size.pixels()] }
        };
        let found = executor.compute((), plain, |()| threads::render(scene, size, progress))?;
        Ok(found.map(|found| self.answer(&found.picture, &found.work).laid_out([("traced", found.traced.into())])))
    }
}
