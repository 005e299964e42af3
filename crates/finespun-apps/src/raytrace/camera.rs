//! The camera, which maps pixels to rays.

use super::picture::Size;
use super::vec3::{Ray, Vec3};
use super::world::SceneError;

/// A pinhole camera.
#[derive(Clone, Debug, PartialEq)]
pub struct Camera {
    from: Vec3,
    /// The direction to the centre of the picture's plane.
    forward: Vec3,
    /// The direction from the centre to the upper edge, of length 1.
    up: Vec3,
    right: Vec3,
}

impl Camera {
    /// Makes a camera at `from` that looks at `at`, with `up` above it.
    ///
    /// `focal` is the distance of the picture's plane in halves of the picture's height: 1 sees 90 degrees from top to
    /// bottom, 2 sees 53. The picture's right is the direction up times forward (x, if y is up and z is forward).
    ///
    /// # Errors
    ///
    /// Returns [`SceneError::Camera`] if `at` or `up` gives no direction, `focal` is not positive, or a number is not
    /// finite.
    pub fn new(from: Vec3, at: Vec3, up: Vec3, focal: f64) -> Result<Self, SceneError> {
        let forward = (at - from).normalized();
        let right = up.cross(forward).normalized();
        let finite = [from, at, up].iter().all(|vector| vector.is_finite()) && focal.is_finite();
        if !finite || right == Vec3::ZERO || focal <= 0.0 {
            return Err(SceneError::Camera);
        }
        Ok(Camera { from, forward: forward * focal, up: forward.cross(right), right })
    }

    /// Returns the ray through a point of a picture, in pixels from its upper left corner; the centre of a pixel is at
    /// one half.
    #[inline]
    pub fn ray(&self, size: Size, x: f64, y: f64) -> Ray {
        let (width, height) = (f64::from(size.width()), f64::from(size.height()));
        let (across, upwards) = ((2.0 * x - width) / height, (height - 2.0 * y) / height);
        let direction = (self.right * across + self.up * upwards + self.forward).normalized();
        Ray { origin: self.from, direction }
    }
}

#[cfg(test)]
mod tests {
    use super::super::picture::Size;
    use super::super::vec3::{Vec3, vec3};
    use super::super::world::SceneError;
    use super::Camera;

    #[test]
    fn rays_through_the_middle_and_the_edges() {
        let camera = Camera::new(vec3(0.0, 0.0, -5.0), Vec3::ZERO, vec3(0.0, 1.0, 0.0), 1.0).expect("a camera");
        let size = Size::new(400, 200).expect("a size");
        assert_eq!(camera.ray(size, 200.0, 100.0).direction, vec3(0.0, 0.0, 1.0));
        assert_eq!(camera.ray(size, 200.0, 0.0).direction, vec3(0.0, 1.0, 1.0).normalized());
        assert_eq!(camera.ray(size, 400.0, 100.0).direction, vec3(2.0, 0.0, 1.0).normalized());
    }

    #[test]
    fn a_camera_needs_directions() {
        let (here, up) = (vec3(1.0, 2.0, 3.0), vec3(0.0, 1.0, 0.0));
        for (at, focal) in [(here, 1.0), (here + up, 1.0), (Vec3::ZERO, 0.0), (Vec3::ZERO, f64::NAN)] {
            assert!(matches!(Camera::new(here, at, up, focal), Err(SceneError::Camera)), "{at:?} {focal}");
        }
    }
}
