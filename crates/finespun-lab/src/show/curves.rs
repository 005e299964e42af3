//! Pictures: curves over an axis of powers, as SVG.

use std::ops::Range;

use plotters::chart::ChartBuilder;
use plotters::coord::combinators::{BindKeyPoints, IntoLogRange};
use plotters::coord::ranged1d::{AsRangedCoord, ValueFormatter};
use plotters::prelude::{Circle, Color, PathElement, WHITE};

use super::page::{Area, FONT, Page, SMALL, Trouble, colour, plain, power_ticks};
use crate::failure::Failure;

/// The width and height of a panel in pixels.
const SIZE: (u32, u32) = (420, 340);

/// Curves over common axes.
#[derive(Debug)]
pub struct Panel {
    /// The text above the panel.
    pub title: String,
    /// The name of each curve, and its points from left to right; coordinates along axes of powers are above zero.
    pub curves: Vec<(String, Vec<(f64, f64)>)>,
}

/// The scale of the vertical axis, with its label.
#[derive(Clone, Copy, Debug)]
pub enum Up<'a> {
    /// Powers of ten, as far as the points need.
    Powers(&'a str),
    /// From 0 to 100.
    PerCent(&'a str),
}

/// Draws rows of panels, all with the same axes and one legend; the horizontal axis is logarithmic. `across` and `up`
/// are the labels of the axes, with units; `about` describes the machine and the rounds.
///
/// # Errors
///
/// [`Failure::Plot`] if the drawing library fails.
pub fn curves(title: &str, about: &str, across: &str, up: Up<'_>, rows: &[Vec<Panel>]) -> Result<String, Failure> {
    draw(title, about, across, up, rows).map_err(|error| Failure::Plot(error.to_string()))
}

fn draw(title: &str, about: &str, across: &str, up: Up<'_>, rows: &[Vec<Panel>]) -> Result<String, Trouble> {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(1).max(1);
    let points = || rows.iter().flatten().flat_map(|panel| &panel.curves).flat_map(|(_, points)| points);
    let range = |of: fn(&(f64, f64)) -> f64| {
        let positive = points().map(of).filter(|x| *x > 0.0);
        let (least, most) = positive.fold((f64::INFINITY, 0.0_f64), |(a, b), x| (a.min(x), b.max(x)));
        if least > most { 1.0..10.0 } else { least * 0.8..most * 1.25 }
    };
    let (x, y) = (range(|point| point.0), range(|point| point.1));
    // A name has the same colour in all panels.
    let mut names: Vec<&str> = Vec::new();
    for (name, _) in rows.iter().flatten().flat_map(|panel| &panel.curves) {
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    let size = (SIZE.0 * columns as u32, SIZE.1 * rows.len().max(1) as u32);
    let page = Page { title, about, legend: names.clone(), size };
    page.draw(|area| {
        let areas = area.split_evenly((rows.len().max(1), columns));
        for (row, areas) in rows.iter().zip(areas.chunks(columns)) {
            for (panel, area) in row.iter().zip(areas) {
                let x = x.clone();
                match up {
                    Up::Powers(up) => {
                        let y = y.clone().log_scale().with_key_points(power_ticks(y.start, y.end));
                        draw_panel(area, panel, &names, [across, up], x, y)?;
                    }
                    Up::PerCent(up) => {
                        draw_panel(area, panel, &names, [across, up], x, 0.0..100.0)?;
                    }
                }
            }
        }
        Ok(())
    })
}

fn draw_panel<Y>(
    area: &Area<'_>,
    panel: &Panel,
    names: &[&str],
    [across, up]: [&str; 2],
    x: Range<f64>,
    y: Y,
) -> Result<(), Trouble>
where
    Y: AsRangedCoord<Value = f64>,
    Y::CoordDescType: ValueFormatter<f64> + 'static,
{
    let ticks = power_ticks(x.start, x.end);
    let mut chart = ChartBuilder::on(area)
        .caption(&panel.title, (FONT, 14))
        .margin(8)
        .margin_right(32)
        .x_label_area_size(42)
        .y_label_area_size(66)
        .build_cartesian_2d(x.log_scale().with_key_points(ticks), y)?;
    chart
        .configure_mesh()
        .light_line_style(WHITE)
        .y_labels(6)
        .x_label_formatter(&|x| plain(*x))
        .y_label_formatter(&|y| plain(*y))
        .x_desc(across)
        .y_desc(up)
        .label_style((FONT, SMALL))
        .draw()?;
    for (name, points) in &panel.curves {
        let colour = colour(names.iter().position(|other| *other == name).unwrap_or(0));
        chart.draw_series([PathElement::new(points.clone(), colour.stroke_width(2))])?;
        chart.draw_series(points.iter().map(|&point| Circle::new(point, 3, colour.filled())))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{Panel, Up, curves};

    #[test]
    fn each_panel_is_drawn_and_all_share_a_legend() {
        let panel = |title: &str| Panel {
            title: title.to_owned(),
            curves: vec![
                ("slow".to_owned(), vec![(16.0, 50.0), (1024.0, 90_000.0)]),
                ("fast".to_owned(), vec![(16.0, 5.0)]),
            ],
        };
        let rows = [vec![panel("push"), panel("pull")], vec![panel("both")]];
        let svg = curves("transports", "a machine", "bytes", Up::Powers("ns"), &rows).expect("a picture");
        for text in ["transports", "a machine", "push", "pull", "both", "bytes", "ns", "10,000"] {
            assert!(svg.contains(&format!("\n{text}\n")), "{text} in {svg}");
        }
        // One legend for all panels.
        assert_eq!([svg.matches("\nslow\n").count(), svg.matches("\nfast\n").count()], [1, 1], "{svg}");
        assert_eq!(svg.matches("<circle").count(), 9, "{svg}");
    }

    #[test]
    fn per_cent_axis_goes_from_0_to_100() {
        let curves_of = |efficiency| vec![("ours".to_owned(), vec![(0.1 + 0.2, efficiency), (8.0, 90.0)])];
        let panel = Panel { title: "efficiency".to_owned(), curves: curves_of(0.0) };
        let svg = curves("t", "", "us", Up::PerCent("%"), &[vec![panel]]).expect("a picture");
        for text in ["100", "0", "40", "0.5", "1", "5"] {
            assert!(svg.contains(&format!("\n{text}\n")), "{text} in {svg}");
        }
        assert!(!svg.contains("0000000"), "{svg}");
    }

    #[test]
    fn plotting_nothing_is_not_an_error() {
        assert!(curves("t", "", "x", Up::Powers("y"), &[]).is_ok());
    }
}
