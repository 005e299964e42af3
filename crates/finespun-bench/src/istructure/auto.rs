//! The effect of `Cache::Auto`: the applications without a cache, with one, and with one that decides by itself.

use finespun_lab::failure::Failure;
use finespun_lab::show;
use serde_json::json;

use super::{AUTO, CACHED, Config, OFF, Report};
use crate::measure::alternate;

/// Extra microseconds that each message costs on both sides.
const OVERHEADS: [f64; 6] = [0.0, 1.0, 5.0, 10.0, 20.0, 50.0];

/// If the run without a cache is slower by this factor, it is not measured with more overhead: the gap grows.
const FAR: f64 = 3.0;

pub(super) fn measure(config: &Config, report: &mut Report) -> Result<(), Failure> {
    let head = ["", "overhead", "off", "on", "auto", "auto/better"];
    let table = report.table(20, &head)?;
    let overheads = if config.quick { &OVERHEADS[..2] } else { &OVERHEADS };
    for application in config.applications() {
        let mut forms = vec![AUTO, CACHED, OFF];
        for &overhead in overheads {
            let lines: Vec<String> = forms.iter().map(|form| config.line(application, form)).collect();
            let rounds = if overhead < 5.0 { config.rounds } else { config.rounds.min(3) };
            let samples =
                alternate(rounds, &lines, |line| Ok::<_, Failure>(config.run(line, overhead)?.time.as_secs_f64()))?;
            let times: Vec<f64> = samples.iter().map(|sample| sample.least()).collect();
            let better = times[1..].iter().copied().fold(f64::INFINITY, f64::min);
            let off = times.get(2).copied();
            report.line(
                &table,
                &[
                    application.name.to_owned(),
                    format!("{overhead} us"),
                    off.map_or_else(|| "-".to_owned(), show::seconds),
                    show::seconds(times[1]),
                    show::seconds(times[0]),
                    format!("{:.2}", times[0] / better),
                ],
            )?;
            report.row(json!({
                "section": "auto", "application": application.name, "overhead_us": overhead, "off": off, "on": times[1],
                "auto": times[0], "ratio": times[0] / better,
            }));
            if off.is_some_and(|off| off > FAR * times[1]) {
                forms.truncate(2);
            }
        }
    }
    report.say(
        "\noff: no cache; on: blocks of 8, room for all; auto: Cache::Auto, a new process's measurements included in the first row only.\n\
         A dash: off was more than three times as slow with less overhead.\n",
    )
}
