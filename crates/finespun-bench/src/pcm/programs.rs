//! The programs: the gain of a tail call, the cost of closures compared with plain calls and tasks, and the share of
//! closures that migrate.

use finespun::Runtime;
use finespun_apps::protein::{Lattice, Problem, Sequence};
use finespun_apps::{Progress, fib, nqueens, protein};
use serde_json::json;

use super::{Config, Report, Table};
use crate::measure::alternate;
use finespun_lab::failure::Failure;
use finespun_lab::show;

/// A chain of 27 for the box of 3 x 3 x 3.
const CHAIN: &str = "HPHHPPHHHHPHHHPPHHPPHPHHHPH";

/// A named version of a program, which returns the program's result.
type Variant<'a> = (&'a str, &'a dyn Fn(&Runtime) -> u64);

pub(super) fn measure(config: &Config, report: &mut Report) -> Result<(), Failure> {
    let (n, ranks, sites) = if config.quick { (12, 6, "2x2x3") } else { (27, 10, "3x3x3") };
    let lattice = Lattice::parse(sites).expect("a box");
    let chain = Sequence::parse(&CHAIN[..lattice.sites()]).expect("a chain");
    let [counted, folded] = [&[][..], &[chain]].map(|chains| Problem::new(lattice, chains).expect("they fit"));
    let silent = Progress::new();
    let fib: [Variant<'_>; 4] = [
        ("plain", &|_| fib::plain(n)),
        ("tasks", &|runtime| runtime.run(fib::fib(n))),
        ("closures", &|runtime| runtime.run(fib::threads::forked(n))),
        ("closures, tail call", &|runtime| runtime.run(fib::threads::tailed(n))),
    ];
    let queens: [Variant<'_>; 3] = [
        ("plain", &|_| nqueens::plain(ranks)),
        ("tasks", &|runtime| runtime.run(nqueens::nqueens(ranks))),
        ("closures", &|runtime| runtime.run(nqueens::threads::nqueens(ranks))),
    ];
    let (counted, folded) = (&counted, &folded);
    let protein: [Variant<'_>; 3] = [
        ("plain", &|_| protein::plain(counted, &silent).paths),
        ("tasks", &|runtime| runtime.run(protein::fold(counted, &silent)).paths),
        ("closures", &|runtime| runtime.run(protein::threads::fold(counted, &silent)).paths),
    ];
    let chained: [Variant<'_>; 3] = [
        ("plain", &|_| protein::plain(folded, &silent).paths),
        ("tasks", &|runtime| runtime.run(protein::fold(folded, &silent)).paths),
        ("closures", &|runtime| runtime.run(protein::threads::fold(folded, &silent)).paths),
    ];
    let programs: [(String, &[Variant<'_>]); 4] = [
        (format!("fib {n}"), &fib),
        (format!("nqueens {ranks}"), &queens),
        (format!("protein {sites}"), &protein),
        (format!("protein {sites}, energies"), &chained),
    ];
    let head = ["program", "version", "one worker, ms", "to plain", "all, ms", "speed-up", "closures", "migrated"];
    let table = report.table(23, &head)?;
    let mut gain = f64::NAN;
    for (program, variants) in programs {
        gain = one(config, &program, variants, &table, report)?.unwrap_or(gain);
    }
    report.say(&format!(
        "\nThe tail call saves {gain:.0} % of fib's time (the paper: almost 25 %).\n\
         The paper's protein is 14 and 22 % slower than its sequential program; its plain program takes much longer for a step.\n\
         It says that 3x3x4 has \"over 48 million\" paths: they are 84,731,192.\n"
    ))
}

/// Measures all versions of one program. Returns the gain of its tail call in per cent, if it has one.
fn one(
    config: &Config,
    program: &str,
    variants: &[Variant<'_>],
    table: &Table,
    report: &Report,
) -> Result<Option<f64>, Failure> {
    let mut gain = None;
    let (alone, all) = (config.runtime(1)?, config.runtime(config.workers)?);
    let expected = variants[0].1(&alone);
    let timed = |run: &dyn Fn(&Runtime) -> u64, runtime: &Runtime| {
        let start = std::time::Instant::now();
        assert_eq!(run(runtime), expected, "{program}: all versions deliver the same");
        start.elapsed().as_secs_f64()
    };
    let samples = alternate(config.rounds, variants, |(_, run)| Ok::<_, Failure>(timed(run, &alone)))?;
    let plain = samples[0].least();
    for ((name, run), sample) in variants.iter().zip(&samples) {
        let least = sample.least();
        let mut line = vec![program.to_owned(), (*name).to_owned(), format!("{:.2}", least * 1e3)];
        line.push(format!("{:.2}", least / plain));
        let mut row = json!({
            "section": "programs", "program": program, "version": name, "one": least, "ratio": least / plain,
        });
        if *name != "plain" {
            let before = all.stats();
            let many = (0..=config.rounds).map(|_| timed(run, &all)).fold(f64::INFINITY, f64::min);
            let stats = all.stats() - before;
            row["many"] = many.into();
            line.extend([format!("{:.2}", many * 1e3), format!("{:.2}", least / many)]);
            if stats.threads > 0 {
                let (threads, share) =
                    (stats.threads / (config.rounds as u64 + 1), stats.steals as f64 / stats.threads as f64);
                row["closures"] = threads.into();
                row["migrated"] = share.into();
                line.extend([show::thousands(threads), format!("{:.4} %", 100.0 * share)]);
            }
        }
        if *name == "closures, tail call" {
            let percent = 100.0 * (1.0 - least / samples[2].least());
            row["gain"] = percent.into();
            gain = Some(percent);
        }
        line.resize(8, String::new());
        report.line(table, &line)?;
        report.row(row);
    }
    Ok(gain)
}
