//! Figure 13: run times of protein folding by closures, beside tasks, which on one processor are all but the sequential program.

use finespun_apps::Progress;
use finespun_apps::protein::{self, Lattice, Problem};
use finespun_lab::show::{self, Panel};
use serde_json::json;

use super::{Config, Report};
use finespun_lab::failure::Failure;

/// A box: its sides, the number of its paths, the numbers of nodes, and by how many per cent the paper's closures are slower
/// than its sequential program.
struct Case {
    sides: &'static str,
    paths: u64,
    nodes: &'static [usize],
    slower: f64,
}

const BOXES: [Case; 2] = [
    Case { sides: "3x3x3", paths: 103_346, nodes: &[1, 2, 4, 8, 16, 32, 64], slower: 14.0 },
    Case { sides: "3x3x4", paths: 84_731_192, nodes: &[1, 8, 64], slower: 22.0 },
];

const QUICK: Case = Case { sides: "2x2x3", paths: 73, nodes: &[1, 4], slower: 14.0 };

pub(super) fn measure(config: &Config, report: &mut Report) -> Result<(), Failure> {
    let silent = Progress::new();
    let head = ["box", "nodes", "time", "speed-up", "closures", "migrated", "to tasks", "[paper]"];
    let table = report.table(6, &head)?;
    let boxes = if config.quick { &[QUICK][..] } else { &BOXES[..] };
    for Case { sides, paths, nodes, slower } in boxes {
        let lattice = Lattice::parse(sides).expect("a box");
        let problem = Problem::new(lattice, &[]).expect("a box without chains");
        let (found, sequential) = config.time(&config.runtime(1)?, protein::fold(&problem, &silent))?;
        check(*paths, found.paths)?;
        let mut alone = None;
        let mut curve = Vec::new();
        for &nodes in nodes.iter().filter(|&&nodes| config.machine.is_some() || nodes <= config.workers) {
            report.step(&format!("{sides} on {nodes}"));
            let runtime = config.runtime(nodes)?;
            let (found, time) = config.time(&runtime, protein::threads::fold(&problem, &silent))?;
            check(*paths, found.paths)?;
            let stats = runtime.stats();
            let alone = *alone.get_or_insert(time);
            let migrated = stats.steals as f64 / stats.threads.max(1) as f64;
            let mut line = vec![(*sides).to_owned(), nodes.to_string(), show::seconds(time)];
            line.extend([format!("{:.1}", alone / time), show::thousands(stats.threads)]);
            line.push(format!("{:.4} %", 100.0 * migrated));
            if nodes == 1 {
                line.push(format!("+{:.0} %", 100.0 * (time / sequential - 1.0)));
                line.push(format!("+{slower:.0} %"));
            }
            report.line(&table, &line)?;
            report.row(json!({
                "section": "figure13", "box": sides, "nodes": nodes, "seconds": time, "speed_up": alone / time,
                "closures": stats.threads, "migrated": migrated, "sequential": sequential,
            }));
            curve.push((nodes as f64, time));
        }
        if config.machine.is_some() {
            let tasks = vec![(1.0, sequential), (nodes[nodes.len() - 1] as f64, sequential)];
            let curves = vec![("closures".to_owned(), curve), ("tasks, one node".to_owned(), tasks)];
            report.panels.push(Panel { title: (*sides).to_owned(), curves });
        }
    }
    report.say(
        "\nTo tasks: the time of closures beyond that of tasks, on one node; the paper's is beyond its sequential program. The paper:\n\
         both curves are almost linear, and on 64 processors a problem whose size it does not tell has a speed-up of 60 and takes\n\
         0.25 s. It says that 3x3x4 has \"over 48 million\" paths: they are 84,731,192.\n",
    )
}

fn check(expected: u64, found: u64) -> Result<(), Failure> {
    if expected == found {
        return Ok(());
    }
    Err(Failure::Disagreement { app: "protein", first: expected.to_string(), second: found.to_string() })
}
