//! Pictures: bars as SVG.

use plotters::chart::ChartBuilder;
use plotters::prelude::{Color, Rectangle, WHITE};

use super::page::{FONT, LETTER, Page, SMALL, Trouble, colour, plain};
use crate::app::Histogram;
use crate::failure::Failure;

const SIZE: (u32, u32) = (900, 440);
/// The width of everything beside the bars, in pixels.
const BESIDE: usize = 130;

/// Draws a histogram as an SVG picture, one bar per bin.
///
/// # Errors
///
/// [`Failure::Plot`] if the drawing library fails.
pub fn bars(histogram: &Histogram) -> Result<String, Failure> {
    let first = histogram.bins.keys().next().copied().unwrap_or(0);
    let last = histogram.bins.keys().next_back().copied().unwrap_or(0);
    let most = histogram.bins.values().copied().max().unwrap_or(0).max(1);
    let series = Series {
        name: histogram.count,
        bars: histogram.bins.iter().map(|(&at, &count)| (f64::from(at), count as f64)).collect(),
    };
    let axes = Axes {
        title: &histogram.title,
        about: "",
        across: histogram.of,
        up: histogram.count,
        width: SIZE.0,
        from: f64::from(first) - 0.6,
        to: f64::from(last) + 0.6,
        top: most as f64 * 1.05,
        labels: (last.abs_diff(first) as usize + 1).min(25),
        label: &|x| whole(x).map_or_else(String::new, |x| plain(x as f64)),
    };
    draw(&axes, &[series], 0.8).map_err(|error| Failure::Plot(error.to_string()))
}

/// Draws, for each of `groups`, one bar per series, side by side. `up` is the label of the heights, `about` describes
/// the machine and the rounds.
///
/// # Errors
///
/// [`Failure::Plot`] if the drawing library fails.
pub fn grouped_bars(
    title: &str,
    about: &str,
    up: &str,
    groups: &[String],
    series: &[(String, Vec<f64>)],
) -> Result<String, Failure> {
    let share = 0.8 / series.len().max(1) as f64;
    let most = series.iter().flat_map(|(_, heights)| heights).copied().fold(f64::MIN_POSITIVE, f64::max);
    let longest = groups.iter().map(|group| group.chars().count()).max().unwrap_or(0);
    let series: Vec<_> = series
        .iter()
        .enumerate()
        .map(|(place, (name, heights))| {
            let shift = share * (place as f64 + 0.5) - 0.4;
            let bars = heights.iter().enumerate().map(|(group, &height)| (group as f64 + shift, height)).collect();
            Series { name, bars }
        })
        .collect();
    let axes = Axes {
        title,
        about,
        across: "",
        up,
        width: SIZE.0.max((groups.len() * LETTER * (longest + 2) + BESIDE) as u32),
        from: -0.6,
        to: groups.len() as f64 - 0.4,
        top: most * 1.05,
        labels: groups.len(),
        label: &|x| whole(x).and_then(|x| groups.get(usize::try_from(x).ok()?)).cloned().unwrap_or_default(),
    };
    draw(&axes, &series, share).map_err(|error| Failure::Plot(error.to_string()))
}

/// Bars of one colour: the position and height of each.
struct Series<'a> {
    name: &'a str,
    bars: Vec<(f64, f64)>,
}

struct Axes<'a> {
    title: &'a str,
    about: &'a str,
    across: &'a str,
    up: &'a str,
    /// The width of the picture, which leaves room for the labels.
    width: u32,
    from: f64,
    to: f64,
    top: f64,
    /// The approximate number of labels on the horizontal axis.
    labels: usize,
    label: &'a dyn Fn(f64) -> String,
}

/// Returns the integer that `x` is, if it is one.
fn whole(x: f64) -> Option<i64> {
    ((x - x.round()).abs() < 1e-6).then(|| x.round() as i64)
}

fn draw(axes: &Axes<'_>, series: &[Series<'_>], width: f64) -> Result<String, Trouble> {
    let legend = series.iter().map(|series| series.name).collect();
    let page = Page { title: axes.title, about: axes.about, legend, size: (axes.width, SIZE.1) };
    page.draw(|area| {
        let mut chart = ChartBuilder::on(area)
            .margin(10)
            .x_label_area_size(if axes.across.is_empty() { 28 } else { 44 })
            .y_label_area_size(95)
            .build_cartesian_2d(axes.from..axes.to, 0.0..axes.top)?;
        chart
            .configure_mesh()
            .disable_x_mesh()
            .light_line_style(WHITE)
            .x_labels(axes.labels.max(1))
            .y_labels(7)
            .x_label_formatter(&|x| (axes.label)(*x))
            .y_label_formatter(&|y| plain(*y))
            .x_desc(axes.across)
            .y_desc(axes.up)
            .label_style((FONT, SMALL))
            .draw()?;
        for (place, series) in series.iter().enumerate() {
            let colour = colour(place);
            chart.draw_series(series.bars.iter().map(|&(at, height)| {
                Rectangle::new([(at - width / 2.0, 0.0), (at + width / 2.0, height)], colour.filled())
            }))?;
        }
        Ok(())
    })
}
#[cfg(test)]
mod tests {
    use super::{bars, grouped_bars};
    use crate::app::Histogram;

    #[test]
    fn a_histogram_has_one_bar_per_bin() {
        let histogram = Histogram {
            of: "energy",
            count: "foldings",
            title: "a <b> & c".to_owned(),
            bins: [(-3, 5), (-1, 7)].into(),
        };
        let svg = bars(&histogram).expect("a picture");
        assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"));
        assert_eq!(svg.matches("#4477AA").count(), 2, "{svg}");
        for text in ["energy", "foldings", "-3", "-2", "-1", "a &lt;b&gt; &amp; c"] {
            assert!(svg.contains(text), "{text} in {svg}");
        }
    }

    #[test]
    fn groups_and_series_are_labelled() {
        let groups = ["fib".to_owned(), "tak".to_owned()];
        let series = [("plain".to_owned(), vec![1.0, 2.0]), ("tasks".to_owned(), vec![1.5, 2.5])];
        let svg = grouped_bars("times", "a machine", "ratio", &groups, &series).expect("a picture");
        for text in ["fib", "tak", "plain", "tasks", "times", "ratio", "width=\"900\""] {
            assert!(svg.contains(text), "{text} in {svg}");
        }
        let groups: Vec<_> = (0..20).map(|group| format!("a long name {group}")).collect();
        let svg = grouped_bars("times", "a machine", "ratio", &groups, &[("plain".to_owned(), vec![1.0; 20])])
            .expect("a picture");
        assert!(svg.contains("width=\"2370\""), "{svg}");
    }
}
