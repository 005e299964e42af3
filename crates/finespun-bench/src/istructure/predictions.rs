//! Figures 1 to 3: the message overhead above which the cache pays, by equation 1.

use finespun::istructure::cost::{MANNA, Platform};
use finespun_lab::failure::Failure;
use finespun_lab::show::{self, Panel, Up};
use serde_json::json;

use super::{Config, Report, operations, reads};

/// Computes the curves of a figure for a platform.
type Curves = fn(&Platform) -> Vec<(String, Vec<(f64, f64)>)>;

/// Returns the curves over the hit ratio, one per share of deferred hits; half of the reads are remote.
fn locality(platform: &Platform) -> Vec<(String, Vec<(f64, f64)>)> {
    let curve = |deferred: f64| {
        let point = |hits: u32| {
            let ratio = f64::from(hits) / 100.0;
            (f64::from(hits), platform.critical_overhead(&reads(1.0, 1.0, ratio, deferred)))
        };
        (format!("{:.0} % of hits deferred", 100.0 * deferred), (50..=100).step_by(2).map(point).collect())
    };
    [0.0, 0.25, 0.5, 0.75, 1.0].map(curve).into()
}

/// Returns the curves over the share of remote reads, one per hit ratio; half of the hits are deferred.
fn remote_share(platform: &Platform) -> Vec<(String, Vec<(f64, f64)>)> {
    let curve = |hits: f64| {
        let point = |remote: u32| {
            let remote = f64::from(remote);
            (remote, platform.critical_overhead(&reads(100.0 - remote, remote, hits, 0.5)))
        };
        (format!("{:.0} % of remote reads hit", 100.0 * hits), (5..=100).step_by(5).map(point).collect())
    };
    [0.5, 0.8, 0.9, 0.99].map(curve).into()
}

/// Returns the curve over the speed of the processor: half of the reads are remote, 80 % of these hit, and half of the
/// hits are deferred.
fn technology(platform: &Platform) -> Vec<(String, Vec<(f64, f64)>)> {
    let point = |times: u32| {
        let times = f64::from(times) / 4.0;
        (times, platform.faster(times).critical_overhead(&reads(1.0, 1.0, 0.8, 0.5)))
    };
    vec![("half remote, 80 % hit, 50 % deferred".to_owned(), (4..=40).map(point).collect())]
}

const FIGURES: [(&str, &str, Curves); 3] = [
    ("Figure 1: locality", "hit ratio of remote reads, %", locality),
    ("Figure 2: communication optimization", "remote reads, % of all", remote_share),
    ("Figure 3: technology", "speed of the processor, times", technology),
];

pub(super) fn measure(config: &Config, report: &mut Report) -> Result<(), Failure> {
    let platforms = [("MANNA", MANNA), ("here", operations::costs(config)?.platform())];
    let mut pictures = Vec::new();
    for (title, across, curves) in FIGURES {
        let mut panels = Vec::new();
        for (name, platform) in &platforms {
            let mut curves = curves(platform);
            // Omits points where the cache always pays: the critical overhead there is not positive.
            curves.iter_mut().for_each(|(_, points)| points.retain(|point| point.1 > 0.0));
            report.rows(curves.iter().map(|(curve, points)| {
                json!({"section": "predictions", "figure": title, "platform": name, "curve": curve, "points": points})
            }));
            panels.push(Panel { title: (*name).to_owned(), curves });
        }
        let up = Up::Powers("critical overhead of a message, us");
        pictures.push(show::curves(title, &report.about, across, up, &[panels])?);
    }
    report.plot = Some(show::stack(&pictures));
    let examples = [
        ("half remote, 50 % hit, all deferred", reads(1.0, 1.0, 0.5, 1.0), "40"),
        ("a tenth remote, 80 % hit, half deferred", reads(9.0, 1.0, 0.8, 0.5), "33.5"),
    ];
    let table = report.table(42, &["critical overhead, us", "here", "MANNA", "paper"])?;
    for (name, reads, paper) in examples {
        let [manna, here] = platforms.map(|(_, platform)| format!("{:.3}", platform.critical_overhead(&reads)));
        report.line(&table, &[name.to_owned(), here, manna, paper.to_owned()])?;
    }
    report.say("\nThe whole overhead of a message on each side, this platform's own included. The curves are in the picture of --plot.\n")
}
