//! The page of a picture: title, description of the measurement, and a legend that covers nothing; ticks and numbers in
//! plain notation.

use plotters::coord::Shift;
use plotters::prelude::{
    BLACK, Color, DrawingArea, IntoDrawingArea, RGBColor, Rectangle, SVGBackend, TextStyle, WHITE,
};
use plotters::style::IntoTextStyle;

use super::thousands;

pub(super) const FONT: &str = "sans-serif";
/// The size of labels.
pub(super) const SMALL: u32 = 12;
/// The approximate width of a letter in a label.
pub(super) const LETTER: usize = 7;
/// Pixels between neighbours.
const GAP: u32 = 10;
const LINE: u32 = 18;

/// Colours that also differ in brightness, for prints in black and white.
const COLOURS: [RGBColor; 10] = [
    RGBColor(68, 119, 170),
    RGBColor(204, 187, 68),
    RGBColor(170, 51, 119),
    RGBColor(34, 136, 51),
    RGBColor(102, 204, 238),
    RGBColor(238, 102, 119),
    RGBColor(51, 34, 136),
    RGBColor(170, 170, 170),
    RGBColor(221, 125, 30),
    RGBColor(0, 0, 0),
];

/// An error of the drawing library.
pub(super) type Trouble = Box<dyn std::error::Error>;
/// A part of the picture.
pub(super) type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// Returns the colour of the series with this number.
pub(super) fn colour(series: usize) -> RGBColor {
    COLOURS[series % COLOURS.len()]
}

/// Combines several pictures into one, one below the other.
///
/// # Panics
/// If a picture has no width and height, which all pictures of this module have.
pub fn stack(pictures: &[String]) -> String {
    let size = |picture: &String| {
        let number = |name: &str| {
            let from = picture.find(&format!(" {name}=\""))? + name.len() + 3;
            picture[from..].split('"').next()?.parse::<u32>().ok()
        };
        number("width").zip(number("height")).expect("a picture says how large it is")
    };
    let (mut width, mut height, mut all) = (0, 0, String::new());
    for picture in pictures {
        let (across, down) = size(picture);
        all += &picture.replacen("<svg ", &format!("<svg y=\"{height}\" "), 1);
        (width, height) = (width.max(across), height + down);
    }
    format!(
        "<svg width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" xmlns=\"http://www.w3.org/2000/svg\">\n{all}</svg>\n"
    )
}

/// Title, subtitle and legend around a drawing.
pub(super) struct Page<'a> {
    pub(super) title: &'a str,
    /// Machine, rounds and so on; empty if the picture does not depend on them.
    pub(super) about: &'a str,
    /// The names of the series, in the order of their colours.
    pub(super) legend: Vec<&'a str>,
    /// The size of the drawing.
    pub(super) size: (u32, u32),
}

impl Page<'_> {
    /// Draws the page around the drawing of `draw`, and returns it as SVG.
    pub(super) fn draw(&self, draw: impl FnOnce(&Area<'_>) -> Result<(), Trouble>) -> Result<String, Trouble> {
        let width = self.size.0.max(wide(self.title, 11)).max(wide(self.about, LETTER));
        let legend = self.legend_lines(width);
        let head = 2 * GAP + 22 + if self.about.is_empty() { 0 } else { LINE };
        let foot = GAP + LINE * legend.iter().map(|(_, line, _)| line + 1).max().unwrap_or(0);
        let mut svg = String::new();
        {
            let root = SVGBackend::with_string(&mut svg, (width, head + self.size.1 + foot)).into_drawing_area();
            root.fill(&WHITE)?;
            root.draw_text(self.title, &style(18), (GAP as i32, GAP as i32))?;
            root.draw_text(self.about, &style(SMALL), (GAP as i32, (GAP + 24) as i32))?;
            let (_, rest) = root.split_vertically(head);
            let (drawing, below) = rest.split_vertically(self.size.1);
            draw(&drawing)?;
            for (series, line, x) in legend {
                let (x, y) = (x as i32, (line * LINE) as i32);
                below.draw(&Rectangle::new([(x, y + 2), (x + 12, y + 12)], colour(series).filled()))?;
                below.draw_text(self.legend[series], &style(SMALL), (x + 17, y))?;
            }
            root.present()?;
        }
        Ok(svg)
    }

    /// Returns, for each series in the legend, its number, its line in the legend, and its horizontal position.
    fn legend_lines(&self, width: u32) -> Vec<(usize, u32, u32)> {
        if self.legend.len() < 2 {
            return Vec::new();
        }
        let (mut line, mut x) = (0, GAP);
        let mut place = |(series, name): (usize, &&str)| {
            let needed = 17 + wide(name, LETTER) + GAP;
            if x > GAP && x + needed > width {
                (line, x) = (line + 1, GAP);
            }
            let place = (series, line, x);
            x += needed;
            place
        };
        self.legend.iter().enumerate().map(&mut place).collect()
    }
}

/// Returns the approximate width of a text with letters of width `letter`, and of the gaps beside it.
fn wide(text: &str, letter: usize) -> u32 {
    (text.chars().count() * letter) as u32 + 2 * GAP
}

pub(super) fn style(size: u32) -> TextStyle<'static> {
    (FONT, size).into_text_style(&(0, 0)).color(&BLACK)
}

/// Returns powers of ten from `least` to `most`, also doubled and times five if the range is small.
pub(super) fn power_ticks(least: f64, most: f64) -> Vec<f64> {
    let decades = (least.log10().floor() as i32)..=(most.log10().ceil() as i32);
    let few = most / least < 200.0;
    let factors: &[f64] = if few { &[1.0, 2.0, 5.0] } else { &[1.0] };
    let inside = |tick: &f64| *tick >= least && *tick <= most;
    let ticks = decades.flat_map(|power| factors.iter().map(move |factor| factor * 10_f64.powi(power)));
    let all: Vec<f64> = ticks.filter(inside).collect();
    // Labels side by side need room.
    let every = all.len().div_ceil(9).max(1);
    all.into_iter().step_by(every).collect()
}

/// Formats a tick in plain notation: `20,000`, `0.05`.
pub(super) fn plain(number: f64) -> String {
    let magnitude = number.abs();
    if magnitude < 1e-12 {
        return "0".to_owned();
    }
    let digits = (-(magnitude.log10() + 1e-9).floor()).max(0.0) as usize;
    // One more digit, for steps like 2.5.
    let text = format!("{magnitude:.*}", digits + 1);
    let text = text.trim_end_matches('0').trim_end_matches('.');
    let (whole, rest) = text.split_once('.').unwrap_or((text, ""));
    let whole = whole.parse().map_or_else(|_| whole.to_owned(), thousands);
    let sign = if number < 0.0 { "-" } else { "" };
    if rest.is_empty() { format!("{sign}{whole}") } else { format!("{sign}{whole}.{rest}") }
}

#[cfg(test)]
mod tests {
    use super::{Page, plain, power_ticks};

    #[test]
    fn ticks_are_round() {
        assert_eq!(power_ticks(0.8, 1500.0), [1.0, 10.0, 100.0, 1000.0]);
        let few: Vec<_> = power_ticks(0.09, 6.0).into_iter().map(plain).collect();
        assert_eq!(few, ["0.1", "0.2", "0.5", "1", "2", "5"]);
        assert!(power_ticks(1e-9, 1e12).len() <= 11);
    }

    #[test]
    fn numbers_are_in_plain_notation() {
        for (number, text) in [
            (0.0, "0"),
            (0.1 + 0.2, "0.3"),
            (1e-4, "0.0001"),
            (2.5, "2.5"),
            (20_000.0, "20,000"),
            (1e7, "10,000,000"),
            (-6.0, "-6"),
        ] {
            assert_eq!(plain(number), text);
        }
    }

    #[test]
    fn the_legend_is_below_the_drawing_and_wraps() {
        let names = ["the first series", "the second series", "the third series", "the fourth series"];
        let page = Page { title: "t", about: "", legend: names.to_vec(), size: (360, 100) };
        let places = page.legend_lines(360);
        assert_eq!(
            places.iter().map(|(series, line, _)| (*series, *line)).collect::<Vec<_>>(),
            [(0, 0), (1, 0), (2, 1), (3, 1)]
        );
        let svg = page.draw(|_| Ok(())).expect("a picture");
        assert!(names.iter().all(|name| svg.contains(name)), "{svg}");
    }
}
