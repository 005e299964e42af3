//! The record of a simulated machine's activities, for a timeline.

use std::io::{self, Write};
use std::sync::Mutex;
use std::time::Duration;

use super::engine::duration;
use crate::atomics::lock_std as lock;
use crate::frame::origin::task_name;

/// What the processors of a simulated machine did, in virtual time: see [`Machine::traces`](super::Machine::traces) and
/// [`Runtime::trace`](crate::Runtime::trace).
#[derive(Clone, Debug, Default)]
pub struct Trace {
    /// The activities, in the order of their ends.
    pub spans: Vec<Span>,
    /// Number of activities for which there was no room.
    pub omitted: u64,
    /// Number of nodes of the machine. Worker w is a processor of node w modulo this number.
    pub nodes: usize,
}

/// An activity of a processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// The processor.
    pub worker: usize,
    /// What it did.
    pub activity: Activity,
    /// The beginning, since the start of the machine.
    pub from: Duration,
    /// The end, since the start of the machine.
    pub to: Duration,
}

/// The kinds of activities.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Activity {
    /// A frame ran, and everything that it called on its stack, from its first guard check on; or several frames of one
    /// task, one after the other. The text is the name of the task, or of the library's part.
    Frame(&'static str),
    /// A message was made and passed to the network.
    Send {
        /// Tells messages apart.
        message: u64,
        /// The size of the message.
        bytes: usize,
    },
    /// The message was received. Its handler follows.
    Receive {
        /// The number of the message.
        message: u64,
    },
}

/// A trace that is being recorded.
pub(super) struct Recorder {
    limit: usize,
    trace: Mutex<Trace>,
}

impl Recorder {
    pub(super) fn new(limit: usize, nodes: usize) -> Recorder {
        Recorder { limit, trace: Mutex::new(Trace { nodes, ..Trace::default() }) }
    }

    /// Records an activity, by its times in picoseconds.
    pub(super) fn record(&self, worker: usize, activity: Activity, from: u64, to: u64) {
        let mut trace = lock(&self.trace);
        if trace.spans.len() < self.limit {
            trace.spans.push(Span { worker, activity, from: duration(from), to: duration(to) });
        } else {
            trace.omitted += 1;
        }
    }

    /// Records that a frame ran.
    pub(super) fn record_frame(&self, worker: usize, body: &'static str, from: u64, to: u64) {
        self.record(worker, Activity::Frame(name_of(body)), from, to);
    }

    /// Returns what has been recorded so far, and begins a new record.
    pub(super) fn take(&self) -> Trace {
        let mut trace = lock(&self.trace);
        let nodes = trace.nodes;
        std::mem::replace(&mut *trace, Trace { nodes, ..Trace::default() })
    }
}

impl Trace {
    /// Writes the trace in the format of Chrome's trace viewer, which Perfetto (<https://ui.perfetto.dev>) reads: a group
    /// of rows for each node, a row for each processor, an arrow for each message. Times are in virtual microseconds.
    ///
    /// # Errors
    /// As the writer.
    pub fn write_json(&self, out: &mut impl Write) -> io::Result<()> {
        write!(out, "{{\"displayTimeUnit\":\"ns\",\"otherData\":{{\"omitted\":{}}},\"traceEvents\":[", self.omitted)?;
        let mut workers: Vec<_> = self.spans.iter().map(|span| span.worker).collect();
        workers.sort_unstable();
        workers.dedup();
        let mut separator = "\n";
        for worker in workers {
            let node = worker % self.nodes;
            for (what, tid, name) in
                [("process_name", 0, format!("node {node}")), ("thread_name", worker, format!("processor {worker}"))]
            {
                write!(
                    out,
                    "{separator}{{\"ph\":\"M\",\"name\":\"{what}\",\"pid\":{node},\"tid\":{tid},\"args\":{{\"name\":\"{name}\"}}}}"
                )?;
                separator = ",\n";
            }
        }
        for span in &self.spans {
            let node = span.worker % self.nodes;
            let place = format!("\"pid\":{node},\"tid\":{},\"ts\":{}", span.worker, microseconds(span.from));
            let (name, arrow) = match span.activity {
                Activity::Frame(name) => (name, None),
                Activity::Send { message, .. } => ("send", Some((message, "\"ph\":\"s\""))),
                Activity::Receive { message } => ("receive", Some((message, "\"ph\":\"f\",\"bp\":\"e\""))),
            };
            let bytes = match span.activity {
                Activity::Send { bytes, .. } => format!(",\"args\":{{\"bytes\":{bytes}}}"),
                _ => String::new(),
            };
            let took = microseconds(span.to - span.from);
            write!(out, "{separator}{{\"ph\":\"X\",\"name\":{name:?},{place},\"dur\":{took}{bytes}}}")?;
            separator = ",\n";
            if let Some((message, phase)) = arrow {
                write!(out, ",\n{{{phase},\"cat\":\"message\",\"name\":\"message\",\"id\":{message},{place}}}")?;
            }
        }
        writeln!(out, "\n]}}")
    }
}

/// Returns a short name for a body from the name of its type: the task's or method's, or the library's own type.
fn name_of(body: &'static str) -> &'static str {
    if let Some(task) = task_name(body) {
        return last(task);
    }
    if let Some(at) = body.find("__method_") {
        return head(&body[at + "__method_".len()..]);
    }
    // A loop, or a call on the stack, of a task's code.
    for part in ["::__body", "::__stack", "::{{closure}}>>"] {
        if let Some(at) = body.find(part) {
            return last(&body[..at]);
        }
    }
    last(head(body.strip_prefix("finespun::call::task::CallFuture<").unwrap_or(body)))
}

/// Returns a type's name without its parameters.
fn head(name: &str) -> &str {
    &name[..name.find('<').unwrap_or(name.len())]
}

/// Returns the last segment of a path.
fn last(path: &str) -> &str {
    &path[path.rfind([':', '<', ' ', ',']).map_or(0, |at| at + 1)..]
}

fn microseconds(time: Duration) -> String {
    format!("{}.{:03}", time.as_micros(), time.as_nanos() % 1000)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::name_of;

    #[test]
    fn names_are_those_of_the_program() {
        for (body, name) in [
            ("finespun::frame::origin::Noted<app::step::__Task, app::step::{{closure}}>", "step"),
            (
                "finespun::object::call::Call<app::_::__method_add<app::Counter, (u64,), u64>>::wait_for_lock::{{closure}}",
                "add",
            ),
            (
                "finespun::call::task::CallFuture<finespun::call::descriptor::StackTask<true, app::tree::{{closure}}>>",
                "tree",
            ),
            (
                "finespun::iterate::engine::Engine<Rest<Map<Iter<'_, u64>, app::waves::__body::{{closure}}>, Vec<u64>>>",
                "waves",
            ),
            ("finespun::call::task::CallFuture<finespun::istructure::access::Get<u64>>", "Get"),
            ("core::future::ready::Ready<()>", "Ready"),
            ("fork", "fork"),
        ] {
            assert_eq!(name_of(body), name, "{body}");
        }
    }
}
