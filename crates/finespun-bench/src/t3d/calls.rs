//! Table 4: calls and fallbacks by the schemas of caller and callee.

use finespun::prelude::*;
use finespun::runtime::{Schema, Transport};
use finespun_lab::failure::Failure;
use serde_json::json;

use super::{Config, Report, microseconds, run, theirs, us};
use crate::paper::concert::{CONCERT_TABLE_4_CALL, CONCERT_TABLE_4_FALLBACK};

/// Calls of a loop.
const TURNS: u64 = 1000;

/// Microseconds of one of the paper's 320 instructions, which take 2.1 us.
const INSTRUCTION: f64 = 2.1 / 320.0;

#[task(stack)]
async fn leaf(n: u64, block: bool) -> u64 {
    if block {
        yield_now().await;
    }
    n ^ 1
}

#[task(stack)]
async fn middle(n: u64, block: bool) -> u64 {
    let value: u64 = leaf(n, block).await;
    value ^ 2
}

/// The callee of a loop.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Callee {
    None,
    Leaf,
    Middle,
}

/// Calls a callee from a loop: from the stack, or after it has left the stack.
#[task(stack)]
async fn calls(turns: u64, callee: Callee, leaves: bool, block: bool) -> u64 {
    if leaves {
        yield_now().await;
    }
    let mut sum: u64 = 0;
    for n in 0..turns {
        if callee == Callee::None {
            continue;
        } else if callee == Callee::Leaf {
            let value: u64 = leaf(n, block).await;
            sum ^= value;
        } else {
            let value: u64 = middle(n, block).await;
            sum ^= value;
        }
    }
    sum
}

/// A measured cost, and the paper's.
struct Found {
    caller: &'static str,
    callee: &'static str,
    what: &'static str,
    us: f64,
    paper: Option<f64>,
}

/// Measures the costs.
fn costs(config: &Config) -> Result<[Found; 3], Failure> {
    let each = |schema: Schema, callee: Callee, leaves: bool, block: bool| {
        let runtime = config.runtime(1, Transport::Push, schema)?;
        let of = |turns| Ok::<_, Failure>(microseconds(run(&runtime, calls(turns, callee, leaves, block))?.1));
        Ok::<_, Failure>((of(2 * TURNS)? - of(TURNS)?) / TURNS as f64)
    };
    let call = |row, column| CONCERT_TABLE_4_CALL.figure(row, column).map(|count| count * INSTRUCTION);
    let fallback = |row, column| CONCERT_TABLE_4_FALLBACK.figure(row, column);
    let (parallel, may) = ("parallel", "may block");
    let blocking = [Callee::Leaf, Callee::Middle].map(|callee| each(Schema::Auto, callee, true, true));
    let staying = [Callee::Leaf, Callee::Middle].map(|callee| each(Schema::Auto, callee, true, false));
    let ([leaf_blocks, middle_blocks], [leaf_stays, middle_stays]) = (both(blocking)?, both(staying)?);
    Ok([
        Found {
            caller: parallel,
            callee: parallel,
            what: "call",
            us: each(Schema::Heap, Callee::Leaf, true, false)? - each(Schema::Heap, Callee::None, true, false)?,
            paper: call(parallel, parallel),
        },
        Found {
            caller: may,
            callee: may,
            what: "call",
            us: each(Schema::Auto, Callee::Leaf, false, false)? - each(Schema::Auto, Callee::None, false, false)?,
            paper: call(may, may),
        },
        Found {
            caller: may,
            callee: may,
            what: "fallback",
            us: (middle_blocks - middle_stays) - (leaf_blocks - leaf_stays),
            paper: fallback(may, may),
        },
    ])
}

fn both([one, other]: [Result<f64, Failure>; 2]) -> Result<[f64; 2], Failure> {
    Ok([one?, other?])
}

pub(super) fn measure(config: &Config, report: &mut Report) -> Result<(), Failure> {
    let table = report.table(12, &["caller", "callee", "what", "us", "[table 4]"])?;
    for found in costs(config)? {
        let Found { caller, callee, what, us: time, paper } = found;
        let paper_text = theirs(paper.map(|paper| (paper * 1000.0).round() / 1000.0));
        report
            .line(&table, &[caller.to_owned(), callee.to_owned(), what.to_owned(), format!("{time:.3}"), paper_text])?;
        report.row(json!({
            "section": "calls", "caller": caller, "callee": callee, "what": what, "us": time, "paper": paper,
        }));
    }
    report.say(&format!(
        "\nCall: over a C call; the paper counts instructions, here at {} ns each. Fallback: what a caller that leaves the stack adds to\n\
         its callee's wait. Ours contains the end of its frame (0.67) and its turn (0.54), which the paper has in table 1.\n",
        us(1e3 * INSTRUCTION)
    ))
}
