//! The description of a simulated machine: the costs of its processors, its network and the primitives of the runtime.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;

/// Picoseconds per microsecond: virtual time is counted in picoseconds.
pub(super) const MICROSECOND: u64 = 1_000_000;

/// The largest time in a description: one second, in microseconds.
const LONGEST: f64 = 1e6;

/// The description of a machine, for [`Fabric::Simulated`](crate::runtime::Fabric::Simulated).
///
/// The model is of the LogGP family (Alexandrov, Ionescu, Schauser, Scheiman 1995): a message costs its sender and its
/// receiver an overhead that depends on its size, leaves the sender's network interface one *gap* after the one before,
/// and arrives after the network's *latency*. Beside it, a description has the costs of the runtime's primitives, as
/// the Concert paper's tables 1 and 4 give them for the Cray T3D.
///
/// ```
/// use finespun::simulation::Machine;
///
/// let t3d = Machine::named("t3d").unwrap();
/// assert_eq!(t3d.name(), "Cray T3D");
/// assert!(Machine::named("t3e").unwrap_err().to_string().contains("cm5"));
/// assert!(Machine::parse("name = 'mine'").unwrap_err().to_string().contains("missing field `source`"));
/// ```
#[derive(Clone, Debug)]
pub struct Machine {
    pub(super) description: Arc<Description>,
    pub(super) seed: u64,
    pub(super) adversary: Adversary,
    /// The number of activities that are recorded.
    pub(super) traces: usize,
    /// The factor from the time that code takes on this computer to virtual time.
    pub(super) host_time: f64,
}

/// What makes a machine worse than described, by numbers drawn from its seed.
#[derive(Clone, Debug, Default)]
pub(super) struct Adversary {
    /// The longest delay of a message, beyond its latency.
    pub(super) delay: Duration,
    /// The longest pause of a processor.
    pub(super) pause: Duration,
    /// The factor by which the slowest processor is slower; 0 and 1 for none.
    pub(super) slow: u32,
    /// The node that dies, and when.
    pub(super) death: Option<(usize, Duration)>,
}

impl Adversary {
    /// Returns whether delays, pauses or slow processors are set.
    pub(super) fn exists(&self) -> bool {
        !self.delay.is_zero() || !self.pause.is_zero() || self.slow > 1
    }
}

/// The error for a description that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct MachineError(String);

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Description {
    name: String,
    source: String,
    pub(super) processor: Processor,
    pub(super) network: Network,
    pub(super) push: Overheads,
    pub(super) pull: Overheads,
    #[serde(default)]
    reads: Reads,
}

/// The costs of reads of write-once arrays beyond their calls, in microseconds; none, if a description has no part for them.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Reads {
    /// Of an element of this node.
    local_us: f64,
    /// Of an element in the cache.
    hit_us: f64,
    /// Of an element that has been requested and is not in the cache yet.
    deferred_us: f64,
    /// Of an element that is requested for the cache.
    miss_us: f64,
}

/// The costs of a processor's own operations, in microseconds.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Processor {
    /// An operation of [`compute`](crate::simulation::compute).
    operation_us: f64,
    /// A call with a guard check that stays on the stack.
    call_us: f64,
    /// Making and freeing a frame.
    frame_us: f64,
    /// Moving an activation from the stack to its frame.
    fallback_us: f64,
    /// Queueing a ready frame and starting it.
    resume_us: f64,
    /// Making or handling a message, beyond the overheads of its transport: arguments, name translation, dispatch.
    message_us: f64,
}

/// The network, in microseconds.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Network {
    latency_us: f64,
    /// Between two messages of a sender, and between two arrivals at a receiver.
    gap_us: f64,
    /// The time that each byte occupies the network interface of the sender.
    byte_us: f64,
    /// The time that each byte of a pushed message occupies the network interface of the receiver. A message that finds it
    /// occupied waits in the network.
    receive_byte_us: f64,
    /// A remote atomic operation, get or put.
    access_us: f64,
    /// From a request to wake a sleeping processor of the same node until it runs.
    wake_us: f64,
    /// Messages on their way to one receiver, or not yet received, beyond which no further one is pushed.
    pub(super) buffers: u32,
    /// Messages of one sender in its own memory, not yet received, beyond which no further one is pulled.
    pub(super) source_buffers: u32,
    pub(super) when_full: WhenFull,
}

/// The behaviour of a processor that has no room for a message, or whose message waits in the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum WhenFull {
    /// It keeps the message in its own memory, and goes on. The network has room for all messages that wait in it.
    Keep,
    /// From its next guard check on, it receives messages, and does nothing else, until there is room. The network has no
    /// room: a message that waits in it keeps its sender in the send.
    Stall,
}

/// The overheads of a transport for sender and receiver, in microseconds, by the size of the message in bytes. Between
/// two sizes they are interpolated; beyond the last, extrapolated.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Overheads {
    bytes: Vec<f64>,
    send_us: Vec<f64>,
    receive_us: Vec<f64>,
}

/// The costs of a machine in picoseconds.
#[derive(Clone, Debug)]
pub(super) struct Costs {
    pub(super) operation: u64,
    pub(super) call: u64,
    pub(super) frame: u64,
    pub(super) fallback: u64,
    pub(super) resume: u64,
    pub(super) message: u64,
    pub(super) latency: u64,
    pub(super) gap: u64,
    pub(super) byte: u64,
    pub(super) receive_byte: u64,
    pub(super) access: u64,
    pub(super) wake: u64,
    /// By [`Read`](super::Read).
    pub(super) reads: [u64; 5],
}

/// The machines that are part of the library.
const NAMED: [(&str, &str); 5] = [
    ("t3d", include_str!("machines/t3d.toml")),
    ("cm5", include_str!("machines/cm5.toml")),
    ("manna", include_str!("machines/manna.toml")),
    ("cluster", include_str!("machines/cluster.toml")),
    ("ethernet", include_str!("machines/ethernet.toml")),
];

impl Machine {
    /// Returns one of the machines that are part of the library: `t3d`, `cm5`, `manna`, `cluster` or `ethernet`.
    ///
    /// # Errors
    /// If there is no machine of this name.
    pub fn named(name: &str) -> Result<Machine, MachineError> {
        match NAMED.iter().find(|(known, _)| *known == name) {
            Some((_, text)) => Machine::parse(text),
            None => Err(MachineError(format!(
                "there is no machine `{name}`: name {}, or a file",
                Machine::names().collect::<Vec<_>>().join(", ")
            ))),
        }
    }

    /// Returns the names that [`named`](Machine::named) knows.
    pub fn names() -> impl Iterator<Item = &'static str> {
        NAMED.iter().map(|(name, _)| *name)
    }

    /// Reads the description of a machine, in TOML. The files of the library's own machines, in
    /// `crates/finespun/src/sim/machines`, say what each field means.
    ///
    /// # Errors
    /// In one line, if it is no TOML, a field is missing, unknown or of the wrong type, or a value is out of range.
    pub fn parse(text: &str) -> Result<Machine, MachineError> {
        let description: Description = toml::from_str(text).map_err(|error| {
            let line = error.span().map(|span| text[..span.start].lines().count().max(1));
            let place = line.map_or(String::new(), |line| format!("line {line}: "));
            MachineError(format!("{place}{}", error.message().replace('\n', " ")))
        })?;
        description.check().map_err(MachineError)?;
        Ok(Machine {
            description: Arc::new(description),
            seed: 0,
            adversary: Adversary::default(),
            traces: 0,
            host_time: 0.0,
        })
    }

    /// Sets the number from which the simulation draws what is left to chance: which worker an idle one tries first, and
    /// what [`delays`](Machine::delays), [`pauses`](Machine::pauses) and [`slow`](Machine::slow) do. Default: 0. The same
    /// number gives the same run.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Machine {
        self.seed = seed;
        self
    }

    /// Delays each message by up to this time, beyond its latency. Messages from one worker to another stay in order;
    /// those of different pairs of workers overtake each other.
    #[must_use]
    pub fn delays(mut self, longest: Duration) -> Machine {
        self.adversary.delay = longest;
        self
    }

    /// Lets processors pause now and then, for up to this time each.
    #[must_use]
    pub fn pauses(mut self, longest: Duration) -> Machine {
        self.adversary.pause = longest;
        self
    }

    /// Makes each processor slower than described, by a factor from 1 to `most`.
    #[must_use]
    pub fn slow(mut self, most: u32) -> Machine {
        self.adversary.slow = most;
        self
    }

    /// Lets a node die at this virtual time after the machine's start: its processors stop, and receive nothing any more.
    ///
    /// The other nodes notice when they have heard nothing from it for a millisecond and ten latencies. Then every run
    /// ends with [`RunError::NodeDied`](crate::RunError::NodeDied), as soon as each processor has come to its next guard
    /// check, and so does every later run. If no run is under way, time stands still, and the node lives.
    #[must_use]
    pub fn dies(mut self, node: usize, after: Duration) -> Machine {
        self.adversary.death = Some((node, after));
        self
    }

    /// Returns the node that [`dies`](Machine::dies).
    pub(crate) fn dying_node(&self) -> Option<usize> {
        self.adversary.death.map(|(node, _)| node)
    }

    /// Records up to this many activities of the processors, for [`Runtime::trace`](crate::Runtime::trace). An activity takes
    /// 80 bytes. Default: none.
    #[must_use]
    pub fn traces(mut self, activities: usize) -> Machine {
        self.traces = activities;
        self
    }

    /// Charges the processors also for the time that their code takes on this computer, times `factor`, so that a program
    /// need not charge its computations. The code of the runtime counts too, beside the described costs. The run is then
    /// not repeatable. Default: 0.
    ///
    /// # Panics
    /// If the factor is negative or not finite.
    #[must_use]
    #[track_caller]
    pub fn host_time(mut self, factor: f64) -> Machine {
        assert!(factor.is_finite() && factor >= 0.0, "a factor of {factor} for the time on this computer");
        self.host_time = factor;
        self
    }

    /// Sets both the buffers per receiver and the buffers per sender for pulled messages; at least 1.
    #[must_use]
    pub fn buffers(mut self, buffers: u32) -> Machine {
        let buffers = buffers.max(1);
        let network = &mut Arc::make_mut(&mut self.description).network;
        (network.buffers, network.source_buffers) = (buffers, buffers);
        self
    }

    /// Returns the machine's name.
    pub fn name(&self) -> &str {
        &self.description.name
    }

    /// Returns where the numbers of the description come from.
    pub fn source(&self) -> &str {
        &self.description.source
    }

    /// Returns the time of an operation of [`compute`](crate::simulation::compute).
    pub fn operation(&self) -> Duration {
        Duration::from_nanos(picoseconds(self.description.processor.operation_us) / 1000)
    }

    /// Returns the time from the end of a send until the message can be received.
    pub fn latency(&self) -> Duration {
        Duration::from_nanos(picoseconds(self.description.network.latency_us) / 1000)
    }
}

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Description {
    fn check(&self) -> Result<(), String> {
        let Processor { operation_us, call_us, frame_us, fallback_us, resume_us, message_us } = self.processor;
        let Network {
            latency_us,
            gap_us,
            byte_us,
            receive_byte_us,
            access_us,
            wake_us,
            buffers,
            source_buffers,
            when_full: _,
        } = self.network;
        let Reads { local_us, hit_us, deferred_us, miss_us } = self.reads;
        let times = [
            ("processor.operation_us", operation_us),
            ("processor.call_us", call_us),
            ("processor.frame_us", frame_us),
            ("processor.fallback_us", fallback_us),
            ("processor.resume_us", resume_us),
            ("processor.message_us", message_us),
            ("network.latency_us", latency_us),
            ("network.gap_us", gap_us),
            ("network.byte_us", byte_us),
            ("network.receive_byte_us", receive_byte_us),
            ("network.access_us", access_us),
            ("network.wake_us", wake_us),
            ("reads.local_us", local_us),
            ("reads.hit_us", hit_us),
            ("reads.deferred_us", deferred_us),
            ("reads.miss_us", miss_us),
        ];
        times.into_iter().try_for_each(|(name, time)| check_time(name, time))?;
        // Without these, a program could go on for ever at one moment of virtual time.
        for (name, time) in [("call_us", call_us), ("resume_us", resume_us)] {
            if picoseconds(time) == 0 {
                return Err(format!("`processor.{name}` must be more than 0"));
            }
        }
        for (name, time) in [("latency_us", latency_us), ("access_us", access_us)] {
            if picoseconds(time) == 0 {
                return Err(format!("`network.{name}` must be more than 0"));
            }
        }
        if buffers == 0 || source_buffers == 0 {
            return Err("`network.buffers` and `network.source_buffers` must be at least 1".to_owned());
        }
        self.push.check("push")?;
        self.pull.check("pull")
    }

    pub(super) fn costs(&self) -> Costs {
        let (processor, network, reads) = (&self.processor, &self.network, &self.reads);
        Costs {
            operation: picoseconds(processor.operation_us),
            call: picoseconds(processor.call_us),
            frame: picoseconds(processor.frame_us),
            fallback: picoseconds(processor.fallback_us),
            resume: picoseconds(processor.resume_us),
            message: picoseconds(processor.message_us),
            latency: picoseconds(network.latency_us),
            gap: picoseconds(network.gap_us),
            byte: picoseconds(network.byte_us),
            receive_byte: picoseconds(network.receive_byte_us),
            access: picoseconds(network.access_us),
            wake: picoseconds(network.wake_us),
            reads: [reads.local_us, reads.hit_us, reads.deferred_us, reads.miss_us, 0.0].map(picoseconds),
        }
    }
}

impl Overheads {
    fn check(&self, name: &str) -> Result<(), String> {
        let sizes = self.bytes.len();
        if sizes == 0 || self.send_us.len() != sizes || self.receive_us.len() != sizes {
            return Err(format!("`{name}` must have as many times to send and to receive as sizes, at least one"));
        }
        let increasing = self.bytes.windows(2).all(|pair| pair[0] < pair[1]);
        if !increasing || !self.bytes.iter().all(|bytes| (0.0..=1e9).contains(bytes)) {
            return Err(format!("`{name}.bytes` must increase, from 0 on"));
        }
        for (side, times) in [("send_us", &self.send_us), ("receive_us", &self.receive_us)] {
            for &time in times {
                check_time(&format!("{name}.{side}"), time)?;
            }
            if times.windows(2).any(|pair| pair[0] > pair[1]) {
                return Err(format!("`{name}.{side}` must not decrease with the size"));
            }
        }
        Ok(())
    }

    /// Returns the time to send a message of this size, in picoseconds.
    pub(super) fn send(&self, bytes: usize) -> u64 {
        self.at(&self.send_us, bytes)
    }

    /// Returns the time to receive a message of this size, in picoseconds.
    pub(super) fn receive(&self, bytes: usize) -> u64 {
        self.at(&self.receive_us, bytes)
    }

    fn at(&self, times: &[f64], bytes: usize) -> u64 {
        let bytes = bytes as f64;
        // The segment that contains the size, or the last one.
        let upper = self.bytes.iter().position(|&size| bytes <= size).unwrap_or(self.bytes.len() - 1);
        let Some(lower) = upper.checked_sub(1) else { return picoseconds(times[0]) };
        let part = (bytes - self.bytes[lower]) / (self.bytes[upper] - self.bytes[lower]);
        picoseconds(times[lower] + (times[upper] - times[lower]) * part)
    }
}

fn check_time(name: &str, time: f64) -> Result<(), String> {
    if (0.0..=LONGEST).contains(&time) { Ok(()) } else { Err(format!("`{name}` must be from 0 to {LONGEST:.0}")) }
}

fn picoseconds(microseconds: f64) -> u64 {
    (microseconds * MICROSECOND as f64).round() as u64
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn overheads_are_interpolated() {
        let t3d = Machine::named("t3d").unwrap().description;
        let us = |time: u64| (time as f64 / MICROSECOND as f64 * 1000.0).round() / 1000.0;
        assert_eq!([0, 16, 64, 1024].map(|bytes| us(t3d.push.send(bytes))), [1.84, 1.84, 2.03, 14.65]);
        assert_eq!(us(t3d.push.send(48)), 1.94);
        assert_eq!(us(t3d.pull.receive(2048)), 56.2, "30.18, and twice the step from 17.17");
    }

    #[test]
    fn wrong_descriptions_are_refused_in_one_line() {
        let text = NAMED[0].1;
        for (from, to, part) in [
            ("latency_us", "latency", "unknown field `latency`"),
            ("buffers = ", "buffers = -", "line "),
            ("call_us = ", "call_us = 0 #", "`processor.call_us` must be more than 0"),
            ("gap_us = ", "gap_us = -", "`network.gap_us` must be from 0 to 1000000"),
            ("bytes = [16, 32", "bytes = [32, 16", "`push.bytes` must increase"),
            ("send_us = [1.84, ", "send_us = [", "as many times to send"),
            ("send_us = [1.84", "send_us = [9.84", "must not decrease"),
            ("gap_us = ", "gap_us = nan #", "`network.gap_us` must be"),
        ] {
            assert!(text.contains(from), "{from}");
            let error = Machine::parse(&text.replacen(from, to, 1)).unwrap_err().to_string();
            assert!(error.contains(part) && !error.contains('\n'), "{to}: {error}");
        }
    }

    #[test]
    fn the_machines_of_the_library_are_valid() {
        for name in Machine::names() {
            let machine = Machine::named(name).unwrap();
            assert!(!machine.source().is_empty() && machine.latency() > Duration::ZERO, "{name}");
        }
    }
}
