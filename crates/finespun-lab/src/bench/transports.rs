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

use finespun::__transports::{pull, push};
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
enum Task {
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
    /// The seconds that it takes; none if it carries nothing one way.
    time: fn(Task) -> Option<f64>,
}

const CARRIERS: &[Carrier] = &[
    Carrier { name: "line", what: "floor: one cache line", time: bare_line },
    Carrier { name: "push", what: "push", time: |task| Some(go(task, facing(push::net(2, ROOM as u32)))) },
    Carrier { name: "pull", what: "pull", time: |task| Some(go(task, facing(pull::net(2, ROOM as u32)))) },
    Carrier {
        name: "std-sync",
        what: "std::sync::mpsc, bounded",
        time: |task| Some(go(task, crossed(|| mpsc::sync_channel(ROOM)))),
    },
    Carrier { name: "std", what: "std::sync::mpsc, unbounded", time: |task| Some(go(task, crossed(mpsc::channel))) },
    Carrier {
        name: "crossbeam",
        what: "crossbeam-channel, bounded",
        time: |task| Some(go(task, crossed(|| crossbeam_channel::bounded(ROOM)))),
    },
    Carrier {
        name: "crossbeam-unbounded",
        what: "crossbeam-channel, unbounded",
        time: |task| Some(go(task, crossed(crossbeam_channel::unbounded))),
    },
    Carrier { name: "flume", what: "flume, bounded", time: |task| Some(go(task, crossed(|| flume::bounded(ROOM)))) },
    Carrier {
        name: "flume-unbounded",
        what: "flume, unbounded",
        time: |task| Some(go(task, crossed(flume::unbounded))),
    },
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

fn go<E: End>(task: Task, [mut a, mut b]: [E; 2]) -> f64 {
    match task {
        Task::Stream(n) => timed(
            move || (0..n).for_each(|i| deliver(&mut a, [i, !i])),
            move || {
                for i in 0..n {
                    assert_eq!(until(|| b.receive()), [i, !i], "a message was lost, changed or overtaken");
                }
            },
        ),
        Task::Bounce(n) => timed(
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
fn bare_line(task: Task) -> Option<f64> {
    let Task::Bounce(n) = task else { return None };
    #[repr(align(128))]
    struct Line(AtomicU64);
    let line = &Line(AtomicU64::new(0));
    let take_turns = |first: u64| {
        for i in 0..n {
            until(|| (line.0.load(Ordering::Acquire) == 2 * i + first).then_some(()));
            line.0.store(2 * i + first + 1, Ordering::Release);
        }
    };
    Some(timed(|| take_turns(0), || take_turns(1)))
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
        let measure = |task| {
            alternate(options.rounds, &carriers, |carrier| Ok::<_, Failure>((carrier.time)(task).unwrap_or(f64::NAN)))
        };
        let (streams, trips) = (measure(Task::Stream(messages))?, measure(Task::Bounce(bounces))?);
        let each = |sample: &Sample, n: u64| sample.all().iter().map(|s| s * 1e9 / n as f64).collect::<Sample>();
        let found: Vec<_> = (carriers.iter().zip(&streams).zip(&trips))
            .map(|((carrier, stream), trip)| (*carrier, each(stream, messages), each(trip, bounces)))
            .collect();
        let floor = found.iter().find(|(carrier, ..)| carrier.name == "line").map(|(_, _, trip)| trip.least());
        let head =
            ["carrier", "ns a message", "(median)", "million a second", "ns there and back", "(median)", "of the line"];
        let lines: Vec<_> = found.iter().map(|(carrier, stream, trip)| cells(carrier, stream, trip, floor)).collect();
        let text = format!(
            "{}\n16 bytes from one thread to another, each on a core of its own if there are two. Least and median of {} rounds in turn;\n\
             {} messages one way, at most {ROOM} of them under way where there is a bound; {} round trips.\n",
            show::table(&head, &lines),
            options.rounds,
            show::thousands(messages),
            show::thousands(bounces),
        );
        let rows = found.iter().map(|(carrier, stream, trip)| {
            json!({
                "carrier": carrier.name, "what": carrier.what,
                "stream": figures(stream), "round_trip": figures(trip),
            })
        });
        Ok(Report { text, rows: rows.collect(), ..Report::default() })
    }
}

/// A sample in nanoseconds; null if nothing was measured.
fn figures(sample: &Sample) -> serde_json::Value {
    match sample.least().is_nan() {
        true => serde_json::Value::Null,
        false => json!({"min": sample.least(), "median": sample.median(), "all": sample.all()}),
    }
}

fn cells(carrier: &Carrier, stream: &Sample, trip: &Sample, floor: Option<f64>) -> Vec<String> {
    let shown = |figure: f64| if figure.is_nan() { "-".to_owned() } else { format!("{figure:.1}") };
    vec![
        carrier.what.to_owned(),
        shown(stream.least()),
        shown(stream.median()),
        shown(1e3 / stream.least()),
        shown(trip.least()),
        shown(trip.median()),
        floor.map_or_else(|| "-".to_owned(), |floor| format!("{:.2}", trip.least() / floor)),
    ]
}
