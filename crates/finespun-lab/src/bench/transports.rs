//! Messages from one thread to another: how many per second, and how long there and back.
//!
//! Our transports, push and pull, beside the channels that programs use instead, and beside the floor: one cache line that
//! goes back and forth between the two cores. Nobody blocks: who finds no room or no message tries again, ours and theirs.

use std::hint;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Barrier, mpsc};
use std::thread;
use std::time::Instant;

use finespun::__transports::{adaptive, pull, push};
use serde_json::json;

use super::measure::{Sample, alternate};
use super::{Bench, Extra, Report, wanted};
use crate::args::BenchOptions;
use crate::failure::Failure;
use crate::show;

/// What is sent: 16 bytes.
type Message = [u64; 2];

/// Messages that may be under way.
const ROOM: usize = 256;

const STREAM: u64 = 5_000_000;
const BOUNCES: u64 = 200_000;
/// Of both, with `--quick`.
const QUICK: u64 = 1000;

/// One of two who send each other messages. Neither of the two ever waits.
trait End: Send {
    /// Whether there was room.
    fn send(&mut self, message: Message) -> bool;
    fn receive(&mut self) -> Option<Message>;
}

impl End for (usize, push::Node<Message>) {
    fn send(&mut self, message: Message) -> bool {
        self.1.send(self.0, message).is_ok()
    }
    fn receive(&mut self) -> Option<Message> {
        self.1.receive().map(|(_, message)| message)
    }
}

impl End for (usize, pull::Node<Message>) {
    fn send(&mut self, message: Message) -> bool {
        self.1.send(self.0, message).is_ok()
    }
    fn receive(&mut self) -> Option<Message> {
        self.1.receive().map(|(_, message)| message)
    }
}

impl End for (usize, adaptive::Node<Message>) {
    fn send(&mut self, message: Message) -> bool {
        self.1.send(self.0, message).is_ok()
    }
    fn receive(&mut self) -> Option<Message> {
        self.1.receive().map(|(_, message)| message)
    }
}

impl End for (mpsc::SyncSender<Message>, mpsc::Receiver<Message>) {
    fn send(&mut self, message: Message) -> bool {
        self.0.try_send(message).is_ok()
    }
    fn receive(&mut self) -> Option<Message> {
        self.1.try_recv().ok()
    }
}

impl End for (mpsc::Sender<Message>, mpsc::Receiver<Message>) {
    fn send(&mut self, message: Message) -> bool {
        self.0.send(message).is_ok()
    }
    fn receive(&mut self) -> Option<Message> {
        self.1.try_recv().ok()
    }
}

impl End for (crossbeam_channel::Sender<Message>, crossbeam_channel::Receiver<Message>) {
    fn send(&mut self, message: Message) -> bool {
        self.0.try_send(message).is_ok()
    }
    fn receive(&mut self) -> Option<Message> {
        self.1.try_recv().ok()
    }
}

impl End for (flume::Sender<Message>, flume::Receiver<Message>) {
    fn send(&mut self, message: Message) -> bool {
        self.0.try_send(message).is_ok()
    }
    fn receive(&mut self) -> Option<Message> {
        self.1.try_recv().ok()
    }
}

/// The two ends of a pair of channels.
fn crossed<S, R>(channel: impl Fn() -> (S, R)) -> [(S, R); 2] {
    let ((to_b, from_a), (to_a, from_b)) = (channel(), channel());
    [(to_b, from_b), (to_a, from_a)]
}

/// The two nodes of a net, with whom each sends to.
fn facing<N>(nodes: Vec<N>) -> [(usize, N); 2] {
    let mut others = [1, 0].into_iter().zip(nodes);
    [(); 2].map(|()| others.next().expect("the net has two nodes"))
}

/// What is measured of a carrier.
#[derive(Clone, Copy)]
enum Traffic {
    /// So many messages one way.
    Stream(u64),
    /// One message, so often back and forth.
    Bounce(u64),
}

/// Something that carries messages.
struct Carrier {
    /// Its name for `--only`.
    name: &'static str,
    what: &'static str,
    /// Whether it can carry one way what is not answered.
    streams: bool,
    /// The seconds that it takes.
    time: fn(Traffic) -> f64,
}

const fn carrier(name: &'static str, what: &'static str, time: fn(Traffic) -> f64) -> Carrier {
    Carrier { name, what, streams: true, time }
}

const CARRIERS: &[Carrier] = &[
    Carrier { name: "line", what: "floor: one cache line", streams: false, time: bare_line },
    carrier("push", "push", |traffic| go(traffic, facing(push::net(2, ROOM as u32)))),
    carrier("pull", "pull", |traffic| go(traffic, facing(pull::net(2, ROOM as u32)))),
    carrier("adaptive", "adaptive", |traffic| go(traffic, facing(adaptive::net(2, ROOM as u32)))),
    carrier("std-sync", "std::sync::mpsc, bounded", |traffic| go(traffic, crossed(|| mpsc::sync_channel(ROOM)))),
    carrier("std", "std::sync::mpsc, unbounded", |traffic| go(traffic, crossed(mpsc::channel))),
    carrier("crossbeam", "crossbeam-channel, bounded", |traffic| {
        go(traffic, crossed(|| crossbeam_channel::bounded(ROOM)))
    }),
    carrier("crossbeam-unbounded", "crossbeam-channel, unbounded", |traffic| {
        go(traffic, crossed(crossbeam_channel::unbounded))
    }),
    carrier("flume", "flume, bounded", |traffic| go(traffic, crossed(|| flume::bounded(ROOM)))),
    carrier("flume-unbounded", "flume, unbounded", |traffic| go(traffic, crossed(flume::unbounded))),
];

/// Tries until it works, and lets others run if it takes long: they may be on this core.
fn until<T>(mut attempt: impl FnMut() -> Option<T>) -> T {
    loop {
        for _ in 0..10_000 {
            if let Some(done) = attempt() {
                return done;
            }
            hint::spin_loop();
        }
        thread::yield_now();
    }
}

fn deliver(end: &mut impl End, message: Message) {
    until(|| end.send(message).then_some(()));
}

/// The seconds between a common start and the end of both, each on a core of its own if there are two.
fn timed(a: impl FnOnce() + Send, b: impl FnOnce() + Send) -> f64 {
    let barrier = Barrier::new(2);
    let cores = core_affinity::get_core_ids().unwrap_or_default();
    let pin = |index: usize| {
        if let (true, Some(core)) = (cores.len() > 1, cores.get(index)) {
            core_affinity::set_for_current(*core);
        }
    };
    thread::scope(|scope| {
        let first = scope.spawn(|| {
            pin(0);
            barrier.wait();
            let start = Instant::now();
            a();
            start
        });
        let second = scope.spawn(|| {
            pin(1);
            barrier.wait();
            b();
        });
        let start = first.join().unwrap_or_else(|payload| resume_unwind(payload));
        second.join().unwrap_or_else(|payload| resume_unwind(payload));
        start.elapsed().as_secs_f64()
    })
}

fn go<E: End>(traffic: Traffic, [mut a, mut b]: [E; 2]) -> f64 {
    match traffic {
        Traffic::Stream(n) => timed(
            move || (0..n).for_each(|i| deliver(&mut a, [i, !i])),
            move || {
                for i in 0..n {
                    assert_eq!(until(|| b.receive()), [i, !i], "a message was lost, changed or overtaken");
                }
            },
        ),
        Traffic::Bounce(n) => timed(
            move || {
                for i in 0..n {
                    deliver(&mut a, [i, i]);
                    assert_eq!(until(|| a.receive()), [i, i + 1], "a message was lost or changed");
                }
            },
            move || {
                for _ in 0..n {
                    let [i, j] = until(|| b.receive());
                    deliver(&mut b, [i, j + 1]);
                }
            },
        ),
    }
}

/// A line that both write to, in turn.
fn bare_line(traffic: Traffic) -> f64 {
    #[repr(align(128))]
    struct Line(AtomicU64);
    let (Traffic::Bounce(n) | Traffic::Stream(n)) = traffic;
    let line = &Line(AtomicU64::new(0));
    let take_turns = |first: u64| {
        for i in 0..n {
            until(|| (line.0.load(Ordering::Acquire) == 2 * i + first).then_some(()));
            line.0.store(2 * i + first + 1, Ordering::Release);
        }
    };
    timed(|| take_turns(0), || take_turns(1))
}

/// The seconds that so many round trips of a cache line take.
pub fn round_trips_of_a_line(times: u64) -> f64 {
    bare_line(Traffic::Bounce(times))
}

/// What was found of a carrier, in nanoseconds.
struct Found {
    carrier: &'static Carrier,
    stream: Option<Sample>,
    trip: Sample,
}

/// The bench.
#[derive(Debug)]
pub struct Transports;

impl Bench for Transports {
    fn name(&self) -> &'static str {
        "transports"
    }

    fn description(&self) -> &'static str {
        "messages from one thread to another: rate and round trip, beside channels and a bare cache line"
    }

    fn rows(&self) -> Vec<String> {
        CARRIERS.iter().map(|carrier| carrier.name.to_owned()).collect()
    }

    fn run(&self, options: &BenchOptions, _: &Extra) -> Result<Report, Failure> {
        let (messages, bounces) = if options.quick { (QUICK, QUICK) } else { (STREAM, BOUNCES) };
        let carriers: Vec<_> = CARRIERS.iter().filter(|carrier| wanted(options, carrier.name)).collect();
        let measure = |carriers: &[&Carrier], traffic, n: u64| -> Result<Vec<Sample>, Failure> {
            let samples = alternate(options.rounds, carriers, |carrier| Ok::<_, Failure>((carrier.time)(traffic)))?;
            let each = |sample: &Sample| sample.all().iter().map(|seconds| seconds * 1e9 / n as f64).collect();
            Ok(samples.iter().map(each).collect())
        };
        let streaming: Vec<_> = carriers.iter().copied().filter(|carrier| carrier.streams).collect();
        let mut streams = measure(&streaming, Traffic::Stream(messages), messages)?.into_iter();
        let trips = measure(&carriers, Traffic::Bounce(bounces), bounces)?;
        let found: Vec<_> = (carriers.into_iter().zip(trips))
            .map(|(carrier, trip)| Found { carrier, stream: if carrier.streams { streams.next() } else { None }, trip })
            .collect();
        let floor = found.iter().find(|found| found.carrier.name == "line").map(|found| found.trip.least());
        let head =
            ["carrier", "ns a message", "(median)", "million a second", "ns there and back", "(median)", "of the line"];
        let lines: Vec<_> = found.iter().map(|found| found.cells(floor)).collect();
        let text = format!(
            "{}\n16 bytes from one thread to another, each on a core of its own if there are two. Least and median of {} rounds in turn;\n\
             {} messages one way, at most {ROOM} of them under way where there is a bound; {} round trips.\n",
            show::table(&head, &lines),
            options.rounds,
            show::thousands(messages),
            show::thousands(bounces),
        );
        let rows = found.iter().map(|Found { carrier, stream, trip }| {
            let figures =
                |sample: &Sample| json!({"min": sample.least(), "median": sample.median(), "all": sample.all()});
            json!({
                "carrier": carrier.name, "what": carrier.what,
                "stream": stream.as_ref().map(figures), "round_trip": figures(trip),
            })
        });
        Ok(Report { text, rows: rows.collect(), ..Report::default() })
    }
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
