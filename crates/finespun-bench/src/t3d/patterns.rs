//! Figure 10: the cost of a message for its sender, by traffic pattern.
//!
//! Each node repeatedly sends a message, receives all that have arrived, and computes for 13.2 us in the mean. The source
//! cost of a message is a node's time per message without computing and receiving. It includes the time in which the
//! sender waits for the network or for a buffer.

use finespun::everywhere;
use finespun::objects::Replicated;
use finespun::prelude::*;
use finespun::runtime::Schema;
use finespun::simulation::{now, work};
use finespun_lab::failure::Failure;
use finespun_lab::show::{self, Panel, Up};
use finespun_object_apps::microkernel::Draw;
use serde_json::json;

use std::time::Duration;

use super::{Config, Report, Site, TRANSPORTS, messages, microseconds, run, sites, theirs, us};
use crate::paper::concert::CONCERT_FIGURE_10;
use crate::transports::{PATTERNS, harmonic_mean};

/// The number of nodes of the paper's machine.
const NODES: usize = 64;
const QUICK_NODES: usize = 16;

/// The paper's sizes in bytes that a call with a payload can have.
const SIZES: [usize; 3] = [64, 256, 1024];

/// The mean time of computing between messages, in microseconds. The paper says "a stochastic variable delay": here
/// exponential.
const GRAIN: f64 = 13.2;

/// Messages of each sender.
const MESSAGES: usize = 200;
const QUICK_MESSAGES: usize = 20;

/// The plan of a run: the destinations of each node's messages, the receivers by node, and the bytes of a payload.
type Plan = (Replicated<Vec<Vec<usize>>>, Replicated<Vec<Ref<Site>>>, usize);

/// Returns the microseconds of the node's loop without computing, and the number of messages received in it.
#[task]
async fn kernel((plan, sites, payload): Plan) -> (f64, u64) {
    let mut draw = Draw::new(1 << 32 | here() as u64);
    let own = sites[here()];
    let before: u64 = own.received().await;
    let mut computing = 0.0;
    let begun = now();
    for at in 0..plan[here()].len() {
        let to: usize = plan[here()][at];
        sites[to].take(vec![1; payload]).oneway().await;
        let grain = GRAIN * draw.exponential();
        work(Duration::from_secs_f64(grain * 1e-6));
        computing += grain;
    }
    let after: u64 = own.received().await;
    let took = microseconds(now() - begun);
    (took - computing, after - before)
}

/// Returns the source cost: the harmonic mean over the senders, as in the paper.
fn source(found: &[(f64, u64)], sent: impl Fn(usize) -> usize, destination: f64) -> f64 {
    let of = |(node, &(beside, received)): (usize, &(f64, u64))| {
        let sent = sent(node) as f64;
        (sent > 0.0).then(|| (beside - received as f64 * destination) / sent)
    };
    harmonic_mean(&found.iter().enumerate().filter_map(of).collect::<Vec<_>>())
}

pub(super) fn measure(config: &Config, report: &mut Report) -> Result<(), Failure> {
    let (nodes, count) = if config.quick { (QUICK_NODES, QUICK_MESSAGES) } else { (NODES, MESSAGES) };
    let mut panels = Vec::new();
    for (index, (name, transport)) in TRANSPORTS.into_iter().enumerate() {
        report.say(&format!(
            "{name}: source, us, by bytes and pattern; in the last line the paper's for 1024 bytes\n\n"
        ))?;
        let head: Vec<&str> = ["bytes"].into_iter().chain(PATTERNS.map(|(name, _)| name)).collect();
        let table = report.table(8, &head)?;
        let mut curves: Vec<(String, Vec<(f64, f64)>)> = PATTERNS.map(|(name, _)| (name.to_owned(), Vec::new())).into();
        for costs in messages::by_size(config, index, &SIZES)? {
            let mut line = vec![costs.bytes.to_string()];
            for (place, (pattern_name, pattern)) in PATTERNS.into_iter().enumerate() {
                let nodes = pattern.nodes(nodes);
                let runtime = config.runtime(nodes, transport, Schema::Auto)?;
                let plan: Vec<_> = (0..nodes).map(|node| pattern.destinations(nodes, node, count)).collect();
                let sent: Vec<_> = plan.iter().map(Vec::len).collect();
                let (sites, _) = run(&runtime, sites())?;
                let (found, _) =
                    run(&runtime, everywhere(kernel, (Replicated::new(plan), Replicated::new(sites), costs.payload)))?;
                let source = source(&found, |node| sent[node], costs.destination);
                let paper = CONCERT_FIGURE_10.figure(name, pattern_name).filter(|_| costs.bytes == 1024);
                report.row(json!({
                    "section": "patterns", "transport": name, "pattern": pattern_name, "bytes": costs.bytes,
                    "nodes": nodes, "source": source, "paper": paper,
                }));
                curves[place].1.push((costs.bytes as f64, source));
                line.push(us(source));
            }
            report.line(&table, &line)?;
        }
        let paper = PATTERNS.map(|(pattern, _)| theirs(CONCERT_FIGURE_10.figure(name, pattern)));
        report.line(&table, &["[1024]".to_owned()].into_iter().chain(paper).collect::<Vec<_>>())?;
        report.say("\n")?;
        panels.push(Panel { title: name.to_owned(), curves });
    }
    let title = "Source cost of a message by traffic pattern (figure 10)";
    report.plot = Some(show::curves(title, &report.about, "bytes", Up::Powers("source, us"), &[panels])?);
    report.say(&format!(
        "{nodes} nodes, each of which sends {count} messages and computes for {GRAIN} us between two, exponentially distributed. Source: a\n\
         node's time for each message it sends, less computing and receiving; the harmonic mean over the senders.\n"
    ))
}
