//! The costs of requests for elements, measured once per process on its first requests.
//!
//! Requests of one element and of a whole line are timed at the reading node and at the elements' home ([`Section`]).
//! The overhead that `TestSettings::overhead` adds is known and is not measured.

use std::sync::OnceLock;
use std::time::Instant;

use super::directory;
use crate::process::ProcessMutex;
use crate::sched::work::on_simulator;

/// Elements in a line.
pub(super) const LINE: usize = 8;
/// Number of measured sections of each kind.
const SAMPLES: usize = 63;

/// The costs of operations in nanoseconds, without the added overhead.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Costs {
    /// A request of one element, on all nodes.
    pub(super) request: f64,
    /// Each further element.
    pub(super) element: f64,
    /// A hit.
    pub(super) hit: f64,
}

/// This process's costs.
static COSTS: OnceLock<Costs> = OnceLock::new();

/// The measured times, by kind.
static MEASURED: ProcessMutex<[Vec<f64>; 6]> = ProcessMutex::new([const { Vec::new() }; 6]);

/// A part of the work for a request.
#[derive(Clone, Copy)]
pub(super) enum RequestPart {
    /// The reader's node makes and sends the request.
    Ask,
    /// The home answers the request.
    Serve,
    /// The reader's node handles the answer.
    Take,
}

/// A time measurement of a part of the work for a request; inactive once the costs are known.
pub(super) struct Section(Option<Instant>);

impl Section {
    pub(super) fn begin() -> Section {
        Section((COSTS.get().is_none() && simulated().is_none()).then(Instant::now))
    }

    /// Returns the elapsed nanoseconds; 0 if the costs are known.
    pub(super) fn nanoseconds(&self) -> u64 {
        let Some(start) = self.0 else { return 0 };
        u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    /// Ends the measurement of `part` for a request of `elements` elements. `other` nanoseconds of the time belong to
    /// other work.
    ///
    /// Returns the elapsed nanoseconds.
    pub(super) fn end(self, part: RequestPart, elements: usize, other: u64) -> u64 {
        if self.0.is_none() {
            return 0;
        }
        let all = self.nanoseconds();
        let kind = match (part, elements) {
            (part, 1) => part as usize,
            (part, LINE) => 3 + part as usize,
            _ => return all,
        };
        let mut measured = MEASURED.lock();
        if measured[kind].len() < SAMPLES {
            measured[kind].push(all.saturating_sub(other) as f64);
        }
        all
    }
}

/// Returns the costs on the simulated machine that this code runs on, if any: nothing has to be measured there.
fn simulated() -> Option<Costs> {
    let costs = on_simulator(|simulator| simulator.request_costs())?;
    let [request, element, hit] = costs.map(|cost| cost.as_nanos() as f64);
    Some(Costs { request, element, hit })
}

/// Returns the costs, if enough has been measured.
pub(super) fn costs() -> Option<Costs> {
    if let Some(costs) = simulated().or_else(|| COSTS.get().copied()) {
        return Some(costs);
    }
    let measured = MEASURED.lock();
    if measured.iter().any(|kind| kind.len() < SAMPLES) {
        return None;
    }
    // Interrupts, and the first use of memory and code, lengthen some sections: the lower octile is used.
    let usual = |kind: &Vec<f64>| {
        let mut sorted = kind.clone();
        sorted.sort_by(f64::total_cmp);
        sorted.get(sorted.len() / 8).copied().unwrap_or(0.0)
    };
    let sum = |kinds: &[Vec<f64>]| kinds.iter().map(usual).sum::<f64>();
    let (request, block) = (sum(&measured[..3]), sum(&measured[3..]));
    let element = ((block - request) / (LINE - 1) as f64).max(0.0);
    let hit = directory::time_hits().min(request);
    Some(*COSTS.get_or_init(|| Costs { request, element, hit }))
}
