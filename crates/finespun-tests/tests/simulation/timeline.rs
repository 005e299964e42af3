//! The record of what the processors do.

use finespun::simulation::{Activity, Trace};

use crate::programs::{all, tree};
use crate::{named, simulated};

fn traced(limit: usize) -> (Trace, u64) {
    let runtime = simulated(named("t3d").traces(limit), 4);
    runtime.run(all());
    let stats = runtime.stats();
    (runtime.trace().unwrap(), stats.messages_pushed + stats.messages_pulled)
}

#[test]
fn every_message_and_frame_is_recorded() {
    let (trace, messages) = traced(1_000_000);
    assert_eq!((trace.omitted, trace.nodes), (0, 4));
    let (mut sent, mut received) = (Vec::new(), Vec::new());
    for span in &trace.spans {
        assert!(span.from <= span.to && span.worker < 4, "{span:?}");
        match span.activity {
            Activity::Send { message, bytes } => {
                assert!(bytes > 0);
                sent.push((message, span.to));
            }
            Activity::Receive { message } => received.push((message, span.from)),
            _ => {}
        }
    }
    sent.sort_unstable();
    received.sort_unstable();
    assert_eq!(sent.len() as u64, messages);
    // What tells idle processors of the end may still be on its way.
    assert!(received.len() + 10 > sent.len() && received.len() <= sent.len());
    let latency = named("t3d").latency();
    for (message, at) in &received {
        let sent = sent.iter().find(|(number, _)| number == message).expect("a message that was received was sent");
        assert!(*at >= sent.1 + latency, "{message} took {:?}", *at - sent.1);
    }
    for name in ["tree", "exchange", "slow"] {
        assert!(trace.spans.iter().any(|span| span.activity == Activity::Frame(name)), "{name}");
    }
}

/// A processor does one thing at a time: activities of one processor are apart, or one contains the other.
#[test]
fn activities_of_a_processor_nest() {
    let (trace, _) = traced(1_000_000);
    for worker in 0..4 {
        let mut spans: Vec<_> = trace.spans.iter().filter(|span| span.worker == worker).collect();
        spans.sort_by_key(|span| (span.from, std::cmp::Reverse(span.to)));
        let mut open: Vec<std::time::Duration> = Vec::new();
        for span in spans {
            while open.last().is_some_and(|end| *end <= span.from) {
                open.pop();
            }
            assert!(open.last().is_none_or(|end| span.to <= *end), "{span:?}");
            open.push(span.to);
        }
    }
}

#[test]
fn the_limit_holds() {
    let (trace, _) = traced(10);
    assert!(trace.spans.len() == 10 && trace.omitted > 10, "{}", trace.omitted);
    let runtime = simulated(named("t3d"), 2);
    runtime.run(tree(3, 1));
    assert!(runtime.trace().is_none());
}

#[test]
fn the_file_is_json() {
    let mut text = Vec::new();
    traced(1_000_000).0.write_json(&mut text).unwrap();
    let json: serde_json::Value = serde_json::from_slice(&text).unwrap();
    let events = json["traceEvents"].as_array().unwrap();
    let count = |phase: &str| events.iter().filter(|event| event["ph"] == phase).count();
    assert!(count("X") > 100 && count("s") > 50 && count("M") == 8, "{} {} {}", count("X"), count("s"), count("M"));
    assert!(events.iter().any(|event| event["name"] == "tree" && event["dur"].as_f64().unwrap() > 0.0));
}
