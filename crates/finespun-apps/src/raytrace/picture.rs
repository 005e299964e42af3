//! Pictures, maps of their work, and files of both.

use std::io::Write;

/// The maximum side of a picture, in pixels.
pub const MAX_SIDE: u32 = 65_535;

/// The width and height of a picture, in pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Size {
    width: u32,
    height: u32,
}

/// An error in a picture or its file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PictureError {
    /// A side is empty or too long.
    #[error("a picture of {width}x{height} pixels is impossible: give sides from 1 to {MAX_SIDE}")]
    Size {
        /// The requested width.
        width: u32,
        /// The requested height.
        height: u32,
    },
    /// The number of pixels does not match the size.
    #[error("a picture of {width}x{height} pixels was given {found} of them: give one for each, row by row")]
    Length {
        /// The picture's width.
        width: u32,
        /// The picture's height.
        height: u32,
        /// The number of pixels given.
        found: usize,
    },
    /// The file could not be written.
    #[error("cannot write the picture: {0}")]
    Png(#[from] png::EncodingError),
}

impl Size {
    /// Makes a size of `width` x `height` pixels.
    ///
    /// # Errors
    ///
    /// Returns [`PictureError::Size`] if a side is 0 or above [`MAX_SIDE`].
    pub fn new(width: u32, height: u32) -> Result<Self, PictureError> {
        let possible = 1..=MAX_SIDE;
        if possible.contains(&width) && possible.contains(&height) {
            Ok(Size { width, height })
        } else {
            Err(PictureError::Size { width, height })
        }
    }

    /// Returns the number of pixels in a row.
    #[inline]
    pub fn width(self) -> u32 {
        self.width
    }

    /// Returns the number of rows.
    #[inline]
    pub fn height(self) -> u32 {
        self.height
    }

    /// Returns the number of pixels.
    #[inline]
    pub fn pixels(self) -> usize {
        self.width as usize * self.height as usize
    }

    fn check(self, found: usize) -> Result<(), PictureError> {
        let Size { width, height } = self;
        if found == self.pixels() { Ok(()) } else { Err(PictureError::Length { width, height, found }) }
    }

    fn write_png(self, out: impl Write, color: png::ColorType, bytes: &[u8]) -> Result<(), PictureError> {
        let mut encoder = png::Encoder::new(out, self.width, self.height);
        encoder.set_color(color);
        encoder.set_depth(png::BitDepth::Eight);
        let mut writer = encoder.write_header()?;
        writer.write_image_data(bytes)?;
        Ok(writer.finish()?)
    }
}

/// A picture: a red, a green and a blue byte for each pixel, row by row from the top.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    size: Size,
    pixels: Vec<[u8; 3]>,
}

impl Picture {
    /// Makes the picture with these pixels, row by row from the top, each row from the left.
    ///
    /// # Errors
    ///
    /// Returns [`PictureError::Length`] if the number of pixels does not match the size.
    pub fn new(size: Size, pixels: Vec<[u8; 3]>) -> Result<Self, PictureError> {
        size.check(pixels.len())?;
        Ok(Picture { size, pixels })
    }

    /// Returns the width and height.
    pub fn size(&self) -> Size {
        self.size
    }

    /// Returns the pixels, row by row.
    pub fn pixels(&self) -> &[[u8; 3]] {
        &self.pixels
    }

    /// Returns the sum of all bytes, the checksum of the Java Grande benchmark.
    pub fn checksum(&self) -> u64 {
        self.pixels.as_flattened().iter().map(|&byte| u64::from(byte)).sum()
    }

    /// Writes the picture as a PNG file with 8 bits per colour. Writes are few and large: `out` needs no buffer.
    ///
    /// # Errors
    ///
    /// Returns [`PictureError::Png`] if `out` fails.
    pub fn write_png(&self, out: impl Write) -> Result<(), PictureError> {
        self.size.write_png(out, png::ColorType::Rgb, self.pixels.as_flattened())
    }
}

/// The work of each pixel, in tests of a ray against a box or a shape.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkMap {
    size: Size,
    work: Vec<u64>,
}

impl WorkMap {
    /// Makes the map with these counts, row by row from the top, each row from the left.
    ///
    /// # Errors
    ///
    /// Returns [`PictureError::Length`] if the number of counts does not match the size.
    pub fn new(size: Size, work: Vec<u64>) -> Result<Self, PictureError> {
        size.check(work.len())?;
        Ok(WorkMap { size, work })
    }

    /// Returns the width and height.
    pub fn size(&self) -> Size {
        self.size
    }

    /// Returns the counts, row by row.
    pub fn counts(&self) -> &[u64] {
        &self.work
    }

    /// Returns the sum of all counts.
    pub fn total(&self) -> u64 {
        self.work.iter().sum()
    }

    /// Returns a grey for each pixel: black for the least work, white for the most, on a logarithmic scale: equal steps
    /// of grey are equal factors. A map without differences is black.
    pub fn greys(&self) -> Vec<u8> {
        let logarithm = |work: u64| (work.max(1) as f64).ln();
        let least = logarithm(self.work.iter().copied().min().unwrap_or(0));
        let range = logarithm(self.work.iter().copied().max().unwrap_or(0)) - least;
        let scale = if range > 0.0 { 255.0 / range } else { 0.0 };
        self.work.iter().map(|&work| ((logarithm(work) - least) * scale).round() as u8).collect()
    }

    /// Writes the [greys](Self::greys) as a PNG file with 8 bits per pixel.
    ///
    /// # Errors
    ///
    /// Returns [`PictureError::Png`] if `out` fails.
    pub fn write_png(&self, out: impl Write) -> Result<(), PictureError> {
        self.size.write_png(out, png::ColorType::Grayscale, &self.greys())
    }
}

#[cfg(test)]
mod tests {
    use std::io::{self, Cursor, Write};

    use super::{Picture, PictureError, Size, WorkMap};

    fn read_png(file: Vec<u8>) -> (png::OutputInfo, Vec<u8>) {
        let mut reader = png::Decoder::new(Cursor::new(file)).read_info().expect("a header");
        let mut bytes = vec![0; reader.output_buffer_size().expect("a small picture")];
        let info = reader.next_frame(&mut bytes).expect("the pixels");
        bytes.truncate(info.buffer_size());
        (info, bytes)
    }

    #[test]
    fn pictures_survive_the_decoder() {
        let size = Size::new(7, 5).expect("a size");
        let pixels: Vec<[u8; 3]> = (0..35).map(|n| [n * 7, 255 - n, n % 4 * 60]).collect();
        let picture = Picture::new(size, pixels).expect("35 pixels");
        let mut file = Vec::new();
        picture.write_png(&mut file).expect("memory takes all");
        let (info, bytes) = read_png(file);
        assert_eq!((info.width, info.height, info.color_type), (7, 5, png::ColorType::Rgb));
        assert_eq!(bytes, picture.pixels().as_flattened());
        assert_eq!(picture.checksum(), bytes.iter().map(|&byte| u64::from(byte)).sum());
    }

    #[test]
    fn maps_are_grey_by_the_logarithm() {
        let map = WorkMap::new(Size::new(2, 2).expect("a size"), vec![10, 20, 1000, 10]).expect("4 counts");
        assert_eq!((map.total(), map.greys()), (1040, vec![0, 38, 255, 0]));
        let mut file = Vec::new();
        map.write_png(&mut file).expect("memory takes all");
        let (info, bytes) = read_png(file);
        assert_eq!((info.color_type, bytes), (png::ColorType::Grayscale, map.greys()));
        let flat = WorkMap::new(Size::new(2, 1).expect("a size"), vec![0, 0]).expect("2 counts");
        assert_eq!(flat.greys(), [0, 0]);
    }

    #[test]
    fn errors_name_the_cure() {
        let error = Size::new(0, 70_000).expect_err("neither side is possible");
        assert_eq!(error.to_string(), "a picture of 0x70000 pixels is impossible: give sides from 1 to 65535");
        let size = Size::new(2, 2).expect("a size");
        let error = Picture::new(size, vec![[0; 3]]).expect_err("too few");
        assert_eq!(error.to_string(), "a picture of 2x2 pixels was given 1 of them: give one for each, row by row");
        assert!(matches!(WorkMap::new(size, vec![0; 5]), Err(PictureError::Length { found: 5, .. })));

        struct Full;
        impl Write for Full {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                Err(io::Error::other("no space"))
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let picture = Picture::new(size, vec![[0; 3]; 4]).expect("4 pixels");
        let error = picture.write_png(Full).expect_err("the file is full");
        assert!(matches!(error, PictureError::Png(_)) && error.to_string().contains("no space"), "{error}");
    }
}
