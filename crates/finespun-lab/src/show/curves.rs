//! Pictures: curves over an axis of powers, as SVG.

use std::ops::Range;

use plotters::chart::SeriesLabelPosition::{LowerRight, MiddleLeft};
use plotters::chart::{ChartBuilder, SeriesLabelPosition};
use plotters::coord::Shift;
use plotters::coord::combinators::IntoLogRange;
use plotters::coord::ranged1d::{AsRangedCoord, ValueFormatter};
use plotters::prelude::{BLACK, Circle, Color, DrawingArea, IntoDrawingArea, PathElement, SVGBackend, WHITE};

use super::plot::{COLOURS, FONT};
use super::thousands;
use crate::failure::Failure;

/// Of a panel.
const SIZE: (u32, u32) = (460, 400);

/// Curves over common axes.
#[derive(Debug)]
pub struct Panel {
    /// What stands above it.
    pub title: String,
    /// The name of each curve, and its points from left to right; coordinates along axes of powers are above zero.
    pub curves: Vec<(String, Vec<(f64, f64)>)>,
}

/// What the vertical axis measures.
#[derive(Clone, Copy, Debug)]
pub enum Up<'a> {
    /// Powers of ten, as far as the points need.
    Powers(&'a str),
    /// From 0 to 100.
    PerCent(&'a str),
}

/// Rows of panels, all with the same axes; that across is logarithmic. `across` and `up` say what they are.
///
/// # Errors
///
/// [`Failure::Plot`] if the drawing library gives up.
pub fn curves(across: &str, up: Up<'_>, rows: &[Vec<Panel>]) -> Result<String, Failure> {
    draw(across, up, rows).map_err(|error| Failure::Plot(error.to_string()))
}

fn draw(across: &str, up: Up<'_>, rows: &[Vec<Panel>]) -> Result<String, Box<dyn std::error::Error>> {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(1);
    let points = || rows.iter().flatten().flat_map(|panel| &panel.curves).flat_map(|(_, points)| points);
    let range = |of: fn(&(f64, f64)) -> f64| {
        let (least, most) = points().map(of).fold((f64::INFINITY, 1.0_f64), |(a, b), x: f64| (a.min(x), b.max(x)));
        least.min(most) * 0.8..most * 1.25
    };
    let (x, y) = (range(|point| point.0), range(|point| point.1));
    // A name has the same colour in all panels.
    let mut names: Vec<&str> = Vec::new();
    for (name, _) in rows.iter().flatten().flat_map(|panel| &panel.curves) {
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    let mut svg = String::new();
    {
        let size = (SIZE.0 * columns as u32, SIZE.1 * rows.len() as u32);
        let area = SVGBackend::with_string(&mut svg, size).into_drawing_area();
        area.fill(&WHITE)?;
        let areas = area.split_evenly((rows.len(), columns));
        for (row, areas) in rows.iter().zip(areas.chunks(columns)) {
            for (panel, area) in row.iter().zip(areas) {
                let (x, y) = (x.clone(), y.clone().log_scale());
                match up {
                    Up::Powers(up) => draw_panel(area, panel, &names, [across, up], x, y, MiddleLeft)?,
                    Up::PerCent(up) => draw_panel(area, panel, &names, [across, up], x, 0.0..100.0, LowerRight)?,
                }
            }
        }
        area.present()?;
    }
    Ok(svg)
}

fn draw_panel<Y>(
    area: &DrawingArea<SVGBackend<'_>, Shift>,
    panel: &Panel,
    names: &[&str],
    [across, up]: [&str; 2],
    x: Range<f64>,
    y: Y,
    legend: SeriesLabelPosition,
) -> Result<(), Box<dyn std::error::Error>>
where
    Y: AsRangedCoord<Value = f64>,
    Y::CoordDescType: ValueFormatter<f64> + 'static,
{
    let colour = |name: &str| &COLOURS[names.iter().position(|other| *other == name).unwrap_or(0) % COLOURS.len()];
    let mut chart = ChartBuilder::on(area)
        .caption(&panel.title, (FONT, 16))
        .margin(10)
        .x_label_area_size(40)
        .y_label_area_size(75)
        .build_cartesian_2d(x.log_scale(), y)?;
    chart
        .configure_mesh()
        .light_line_style(WHITE)
        .x_label_formatter(&|x| number(*x))
        .y_label_formatter(&|y| number(*y))
        .x_desc(across)
        .y_desc(up)
        .label_style((FONT, 12))
        .draw()?;
    for (name, points) in &panel.curves {
        let colour = colour(name);
        chart
            .draw_series([PathElement::new(points.clone(), colour.stroke_width(2))])?
            .label(name.as_str())
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 12, y)], colour.stroke_width(2)));
        chart.draw_series(points.iter().map(|&point| Circle::new(point, 3, colour.filled())))?;
    }
    chart
        .configure_series_labels()
        .position(legend)
        .border_style(BLACK)
        .background_style(WHITE)
        .label_font((FONT, 12))
        .draw()?;
    Ok(())
}

fn number(number: f64) -> String {
    if number < 1.0 && number > 0.0 { number.to_string() } else { thousands(number as u64) }
}

#[cfg(test)]
mod tests {
    use super::{Panel, Up, curves};

    #[test]
    fn a_panel_for_each() {
        let panel = |title: &str| Panel {
            title: title.to_owned(),
            curves: vec![
                ("slow".to_owned(), vec![(16.0, 50.0), (1024.0, 90_000.0)]),
                ("fast".to_owned(), vec![(16.0, 5.0)]),
            ],
        };
        let rows = [vec![panel("push"), panel("pull")], vec![panel("both")]];
        let svg = curves("bytes", Up::Powers("ns"), &rows).expect("a picture");
        assert!(svg.contains("width=\"920\"") && svg.contains("height=\"800\""), "{svg}");
        for text in ["push", "pull", "both", "slow", "fast", "bytes", "ns"] {
            assert!(svg.contains(text), "{text} in {svg}");
        }
        assert_eq!(svg.matches("<circle").count(), 9, "{svg}");
    }

    #[test]
    fn per_cent_go_from_0_to_100() {
        let curves_of = |efficiency| vec![("ours".to_owned(), vec![(0.5, efficiency), (8.0, 90.0)])];
        let panel = Panel { title: "efficiency".to_owned(), curves: curves_of(0.0) };
        let svg = curves("us", Up::PerCent("%"), &[vec![panel]]).expect("a picture");
        for text in ["100", "0", "50", "ours"] {
            assert!(svg.contains(&format!("\n{text}\n")), "{text} in {svg}");
        }
    }
}
