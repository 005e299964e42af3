//! Messages per second from one thread to another, and the time of a round trip.
//!
//! Our transports, push and pull, are compared with the channels that programs use instead, and with the floor: one
//! cache line that travels back and forth between the two cores. Neither side ever blocks: a sender without room and a
//! receiver without a message try again, in our transports and in the channels.

use std::sync::mpsc;

use finespun::internals::{adaptive, pull, push};
use serde_json::json;

use super::threads::{round_trips_of_a_line, timed, until};
use crate::measure::alternate;
use crate::{Report, figures, wanted};
use finespun_lab::args::BenchOptions;
use finespun_lab::failure::Failure;
use finespun_lab::sample::Sample;
use finespun_lab::show;

/// 16 bytes.
const WORDS: usize = 2;

/// Messages in flight where a carrier is bounded.
const ROOM: usize = 256;

const STREAM: u64 = 5_000_000;
const BOUNCES: u64 = 200_000;
/// The number for both, with `--quick`.
const QUICK: u64 = 1000;

/// One of two ends that send each other messages of `W` words. No operation blocks.
pub(super) trait End<const W: usize>: Send {
    /// Sends `message`. Returns true if there was room for it.
    fn send(&mut self, message: [u64; W]) -> bool;
    fn receive(&mut self) -> Option<[u64; W]>;
}

impl<const W: usize> End<W> for (usize, push::Node<[u64; W]>) {
    fn send(&mut self, message: [u64; W]) -> bool {
        self.1.send(self.0, message).is_ok()
    }
    fn receive(&mut self) -> Option<[u64; W]> {
        self.1.receive().map(|(_, message)| message)
    }
}

impl<const W: usize> End<W> for (usize, pull::Node<[u64; W]>) {
    fn send(&mut self, message: [u64; W]) -> bool {
        self.1.send(self.0, message).is_ok()
    }
    fn receive(&mut self) -> Option<[u64; W]> {
        self.1.receive().map(|(_, message)| message)
    }
}

impl<const W: usize> End<W> for (usize, adaptive::Node<[u64; W]>) {
    fn send(&mut self, message: [u64; W]) -> bool {
        self.1.send(self.0, message).is_ok()
    }
    fn receive(&mut self) -> Option<[u64; W]> {
        self.1.receive().map(|(_, message)| message)
    }
}

impl<const W: usize> End<W> for (mpsc::SyncSender<[u64; W]>, mpsc::Receiver<[u64; W]>) {
    fn send(&mut self, message: [u64; W]) -> bool {
        self.0.try_send(message).is_ok()
    }
    fn receive(&mut self) -> Option<[u64; W]> {
        self.1.try_recv().ok()
    }
}

impl<const W: usize> End<W> for (mpsc::Sender<[u64; W]>, mpsc::Receiver<[u64; W]>) {
    fn send(&mut self, message: [u64; W]) -> bool {
        self.0.send(message).is_ok()
    }
    fn receive(&mut self) -> Option<[u64; W]> {
        self.1.try_recv().ok()
    }
}

impl<const W: usize> End<W> for (crossbeam_channel::Sender<[u64; W]>, crossbeam_channel::Receiver<[u64; W]>) {
    fn send(&mut self, message: [u64; W]) -> bool {
        self.0.try_send(message).is_ok()
    }
    fn receive(&mut self) -> Option<[u64; W]> {
        self.1.try_recv().ok()
    }
}

impl<const W: usize> End<W> for (flume::Sender<[u64; W]>, flume::Receiver<[u64; W]>) {
    fn send(&mut self, message: [u64; W]) -> bool {
        self.0.try_send(message).is_ok()
    }
    fn receive(&mut self) -> Option<[u64; W]> {
        self.1.try_recv().ok()
    }
}

/// Returns the two ends of a pair of channels.
fn crossed<S, R>(channel: impl Fn() -> (S, R)) -> [(S, R); 2] {
    let ((to_b, from_a), (to_a, from_b)) = (channel(), channel());
    [(to_b, from_b), (to_a, from_a)]
}

/// Returns the two nodes of a net, each with the number of the node that it sends to.
pub(super) fn facing<N>(nodes: Vec<N>) -> [(usize, N); 2] {
    let mut others = [1, 0].into_iter().zip(nodes);
    [(); 2].map(|()| others.next().expect("the net has two nodes"))
}

/// The measurements of a carrier.
#[derive(Clone, Copy)]
pub(super) enum Traffic {
    /// The number of messages one way.
    Stream(u64),
    /// The number of round trips of one message.
    Bounce(u64),
}

/// A carrier of messages.
pub(super) struct Carrier {
    /// The name for `--only`.
    pub(super) name: &'static str,
    what: &'static str,
    /// Whether the carrier can carry one-way messages.
    streams: bool,
    /// Returns the seconds that the traffic takes.
    time: fn(Traffic) -> f64,
}

const fn carrier(name: &'static str, what: &'static str, time: fn(Traffic) -> f64) -> Carrier {
    Carrier { name, what, streams: true, time }
}

pub(super) const CARRIERS: &[Carrier] = &[
    Carrier { name: "line", what: "floor: one cache line", streams: false, time: line },
    carrier("push", "push", |traffic| go::<WORDS, _>(traffic, facing(push::net(2, ROOM as u32)))),
    carrier("pull", "pull", |traffic| go::<WORDS, _>(traffic, facing(pull::net(2, ROOM as u32)))),
    carrier("adaptive", "adaptive", |traffic| go::<WORDS, _>(traffic, facing(adaptive::net(2, ROOM as u32)))),
    carrier("std-sync", "std::sync::mpsc, bounded", |traffic| {
        go::<WORDS, _>(traffic, crossed(|| mpsc::sync_channel(ROOM)))
    }),
    carrier("std", "std::sync::mpsc, unbounded", |traffic| go::<WORDS, _>(traffic, crossed(mpsc::channel))),
    carrier("crossbeam", "crossbeam-channel, bounded", |traffic| {
        go::<WORDS, _>(traffic, crossed(|| crossbeam_channel::bounded(ROOM)))
    }),
    carrier("crossbeam-unbounded", "crossbeam-channel, unbounded", |traffic| {
        go::<WORDS, _>(traffic, crossed(crossbeam_channel::unbounded))
    }),
    carrier("flume", "flume, bounded", |traffic| go::<WORDS, _>(traffic, crossed(|| flume::bounded(ROOM)))),
    carrier("flume-unbounded", "flume, unbounded", |traffic| go::<WORDS, _>(traffic, crossed(flume::unbounded))),
];

fn deliver<const W: usize>(end: &mut impl End<W>, message: [u64; W]) {
    until(|| end.send(message).then_some(()));
}

/// Returns the seconds that the traffic takes.
///
/// # Panics
/// If a message is lost, changed or overtaken.
pub(super) fn go<const W: usize, E: End<W>>(traffic: Traffic, [mut a, mut b]: [E; 2]) -> f64 {
    match traffic {
        Traffic::Stream(n) => timed(
            move || (0..n).for_each(|i| deliver(&mut a, [i; W])),
            move || {
                for i in 0..n {
                    assert_eq!(until(|| b.receive()), [i; W], "a message was lost, changed or overtaken");
                }
            },
        ),
        Traffic::Bounce(n) => timed(
            move || {
                for i in 0..n {
                    deliver(&mut a, [i; W]);
                    assert_eq!(until(|| a.receive()), [i + 1; W], "a message was lost or changed");
                }
            },
            move || {
                for _ in 0..n {
                    let message = until(|| b.receive());
                    deliver(&mut b, message.map(|word| word + 1));
                }
            },
        ),
    }
}

fn line(traffic: Traffic) -> f64 {
    let (Traffic::Bounce(n) | Traffic::Stream(n)) = traffic;
    round_trips_of_a_line(n)
}

/// The results of a carrier, in nanoseconds.
struct Found {
    carrier: &'static Carrier,
    stream: Option<Sample>,
    trip: Sample,
}

/// Returns the number of steps of [`part`].
pub(super) fn steps(options: &BenchOptions) -> usize {
    if CARRIERS.iter().any(|carrier| wanted(options, carrier.name)) { 2 } else { 0 }
}

/// Measures the selected carriers, and prints them as a table and as rows.
pub(super) fn part(options: &BenchOptions, report: &Report) -> Result<(), Failure> {
    let (messages, bounces) = if options.quick { (QUICK, QUICK) } else { (STREAM, BOUNCES) };
    let carriers: Vec<_> = CARRIERS.iter().filter(|carrier| wanted(options, carrier.name)).collect();
    if carriers.is_empty() {
        return Ok(());
    }
    let measure = |what: &str, carriers: &[&Carrier], traffic, n: u64| -> Result<Vec<Sample>, Failure> {
        report.step(what);
        let samples = alternate(options.rounds, carriers, |carrier| Ok::<_, Failure>((carrier.time)(traffic)))?;
        Ok(samples.iter().map(|sample| each(sample, n)).collect())
    };
    let streaming: Vec<_> = carriers.iter().copied().filter(|carrier| carrier.streams).collect();
    let mut streams = measure("streams of messages", &streaming, Traffic::Stream(messages), messages)?.into_iter();
    let trips = measure("round trips", &carriers, Traffic::Bounce(bounces), bounces)?;
    let found: Vec<_> = (carriers.into_iter().zip(trips))
        .map(|(carrier, trip)| Found { carrier, stream: if carrier.streams { streams.next() } else { None }, trip })
        .collect();
    let floor = found.iter().find(|found| found.carrier.name == "line").map(|found| found.trip.least());
    let head =
        ["carrier", "ns a message", "(median)", "million a second", "ns there and back", "(median)", "of the line"];
    let lines: Vec<_> = found.iter().map(|found| found.cells(floor)).collect();
    report.say(&format!(
        "16 bytes from one thread to another, each on a core of its own if there are two\n\n{}\n\
         Least and median of {} rounds in turn; {} messages one way, at most {ROOM} of them under way where there is a bound;\n\
         {} round trips.\n\n",
        show::table(&head, &lines),
        options.rounds,
        show::thousands(messages),
        show::thousands(bounces),
    ))?;
    report.rows(found.iter().map(|Found { carrier, stream, trip }| {
        json!({
            "part": "carriers", "carrier": carrier.name, "what": carrier.what,
            "stream": stream.as_ref().map(figures), "round_trip": figures(trip),
        })
    }));
    Ok(())
}

/// Converts samples of the seconds for `of` messages to nanoseconds per message.
pub(super) fn each(sample: &Sample, of: u64) -> Sample {
    sample.all().iter().map(|seconds| seconds * 1e9 / of as f64).collect()
}

impl Found {
    fn cells(&self, floor: Option<f64>) -> Vec<String> {
        let (stream, trip) = (self.stream.as_ref(), &self.trip);
        let shown = |figure: Option<f64>| figure.map_or_else(|| "-".to_owned(), |figure| format!("{figure:.1}"));
        vec![
            self.carrier.what.to_owned(),
            shown(stream.map(Sample::least)),
            shown(stream.map(Sample::median)),
            shown(stream.map(|stream| 1e3 / stream.least())),
            shown(Some(trip.least())),
            shown(Some(trip.median())),
            floor.map_or_else(|| "-".to_owned(), |floor| format!("{:.2}", trip.least() / floor)),
        ]
    }
}
