//! Tables 2 and 5: the costs of a message for its sender and its receiver, and its latency.

use std::collections::HashMap;

use finespun::prelude::*;
use finespun::runtime::Schema;
use finespun::simulation::{Activity, Machine, Trace, work};
use finespun::tasks::quiesce;
use finespun_lab::failure::Failure;
use serde_json::json;

use std::time::Duration;

use super::{Config, Report, Site, TRANSPORTS, microseconds, run, sites, theirs, us};
use crate::paper::concert::{CONCERT_TABLE_2, CONCERT_TABLE_5};

/// The paper's sizes in bytes that a call with a payload can have.
const SIZES: [usize; 5] = [64, 128, 256, 512, 1024];

/// Time between two messages: each arrives before the next is sent.
const PAUSE: Duration = Duration::from_micros(200);

/// Messages of each size.
const MESSAGES: usize = 16;

/// More activities than the messages have.
const ACTIVITIES: usize = 10_000;

/// Sends messages with `payload` bytes to the other node.
#[task]
async fn stream(sites: [Ref<Site>; 2], payload: usize, messages: usize) {
    let to = sites[1 - here()];
    for _ in 0..messages {
        to.take(vec![1; payload]).oneway().await;
        work(PAUSE);
    }
    quiesce().await;
}

/// The mean costs of a message of one size, in microseconds.
pub(super) struct Costs {
    pub(super) bytes: usize,
    pub(super) payload: usize,
    source: f64,
    pub(super) destination: f64,
    latency: f64,
}

/// Returns the costs of the messages with this payload, which are the largest of a trace.
fn costs(trace: &Trace, payload: usize) -> Costs {
    let sends = trace.spans.iter().filter_map(|span| match span.activity {
        Activity::Send { message, bytes } => Some((message, (bytes, span))),
        _ => None,
    });
    let sends: HashMap<_, _> = sends.collect();
    let bytes = sends.values().map(|(bytes, _)| *bytes).max().unwrap_or(0);
    let mut sums = [Duration::ZERO; 3];
    let mut received = 0;
    for span in &trace.spans {
        let Activity::Receive { message } = span.activity else { continue };
        let Some((_, send)) = sends.get(&message).filter(|(sent, _)| *sent == bytes) else { continue };
        let one = [send.to - send.from, span.to - span.from, span.to - send.from];
        sums.iter_mut().zip(one).for_each(|(sum, time)| *sum += time);
        received += 1;
    }
    let [source, destination, latency] = sums.map(|sum| microseconds(sum) / f64::from(received));
    Costs { bytes, payload, source, destination, latency }
}

/// Measures messages of some sizes, or the smallest if a call has more bytes.
pub(super) fn by_size(config: &Config, transport: usize, sizes: &[usize]) -> Result<Vec<Costs>, Failure> {
    let machine: Machine = config.machine.clone().traces(ACTIVITIES);
    let config = Config { machine, quick: config.quick };
    let runtime = config.runtime(2, TRANSPORTS[transport].1, Schema::Auto)?;
    let (sites, _) = run(&runtime, sites())?;
    let of = |payload| {
        runtime.trace();
        run(&runtime, stream([sites[0], sites[1]], payload, MESSAGES))?;
        Ok::<_, Failure>(costs(&runtime.trace().unwrap_or_default(), payload))
    };
    // The bytes of a call beside its payload. The length of a payload takes two bytes from 128 on.
    let beside = of(256)?.bytes - 256;
    sizes.iter().map(|size| of(size.saturating_sub(beside).max(1))).collect()
}

pub(super) fn measure(config: &Config, report: &mut Report) -> Result<(), Failure> {
    let head = ["bytes", "source", "[table 5]", "destination", "[table 5]", "one way", "[table 2]"];
    for (index, (name, _)) in TRANSPORTS.into_iter().enumerate() {
        report.say(&format!("{name}, us\n\n"))?;
        let table = report.table(8, &head)?;
        for (costs, size) in by_size(config, index, &SIZES)?.into_iter().zip(SIZES) {
            let column = size.to_string();
            let side = |side: &str| CONCERT_TABLE_5.figure(&format!("{name} {side}"), &column);
            let latency = CONCERT_TABLE_2.figure("latency", &column).filter(|_| name == "push");
            let paper = [side("source"), side("destination"), latency];
            let ours = [costs.source, costs.destination, costs.latency];
            let mut line = vec![costs.bytes.to_string()];
            line.extend(ours.into_iter().zip(paper).flat_map(|(ours, paper)| [us(ours), theirs(paper)]));
            report.line(&table, &line)?;
            report.row(json!({
                "section": "messages", "transport": name, "bytes": costs.bytes, "source": costs.source,
                "destination": costs.destination, "latency": costs.latency,
                "paper": {"source": paper[0], "destination": paper[1], "latency": paper[2]},
            }));
        }
        report.say("\n")?;
    }
    report.say(
        "A one-way call of an object of the other node, every 200 us. The paper's messages have no method to call: the description of\n\
         the machine says what the runtime adds at either end (message_us). One way: from the beginning of the send to the end of the\n\
         receipt. The smallest call has more than the paper's 16 bytes.\n",
    )
}
