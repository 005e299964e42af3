//! Calls and fallbacks by schema: the hybrid paper's table 2, the concert paper's table 4.

use serde_json::{Value, json};

use super::schemas::PROGRAMS;
use super::{Report, Trouble, beside, one_decimal};
use crate::count::{Callgrind, ChildError};
use crate::paper::Table;
use crate::paper::concert::{CONCERT_TABLE_4_CALL, CONCERT_TABLE_4_FALLBACK};
use crate::paper::hybrid::{HYBRID_TABLE_2_CALL, HYBRID_TABLE_2_FALLBACK};
use finespun_lab::show;

/// Our callers, and the papers' names for them.
const CALLERS: [(&str, Option<&str>); 5] = [
    ("straight", Some("non-blocking")),
    ("stack", Some("may block")),
    ("forward", Some("continuation passing")),
    ("pinned", None),
    ("heap", Some("parallel")),
];

/// Our callees. A callee in the continuation-passing schema takes its continuation: `suspend`.
const CALLEES: [(&str, Option<&str>); 5] = [
    ("straight", Some("non-blocking")),
    ("stack", Some("may block")),
    ("suspend", Some("continuation passing")),
    ("pinned", None),
    ("heap", Some("parallel")),
];

/// The operation beneath a caller that may leave the stack: the wait alone, or a task that waits.
const WAITERS: [(&str, Option<&str>); 3] =
    [("the wait", Some("continuation passing")), ("stack", Some("may block")), ("pinned", None)];

/// Measures and prints both halves of the tables.
///
/// # Errors
///
/// If valgrind delivers no count.
pub fn calls(callgrind: &mut Callgrind, report: &Report) -> Result<(), Trouble> {
    let mut count = |name: &str| {
        let program = PROGRAMS.iter().find(|program| program.name == name);
        callgrind.per_call(program.unwrap_or_else(|| panic!("there is no program {name}")))
    };
    let plain = count("call plain")?;
    let interposed = count("call plain forward")? - plain;
    let on_the_stack = count("stack stack: stays")? - plain;
    let wait = count("heap waits: blocks")? - count("heap waits: stays")?;

    let mut call_lines = Vec::new();
    for (caller, their_caller) in CALLERS {
        let mut line = vec![caller.to_owned()];
        for (callee, their_callee) in CALLEES {
            let cell = match (caller, callee) {
                ("straight", callee) if callee != "straight" => None,
                ("forward", callee) => {
                    Some(count(&format!("forward {callee}: stays"))? - plain - interposed - on_the_stack)
                }
                _ => Some(count(&format!("{caller} {callee}: stays"))? - plain),
            };
            let theirs =
                [HYBRID_TABLE_2_CALL, CONCERT_TABLE_4_CALL].map(|table| figure(&table, their_caller, their_callee));
            line.push(beside(cell.map(one_decimal), &theirs));
            report.row(row("call", caller, callee, cell, theirs));
        }
        call_lines.push(line);
    }

    let mut fallback_lines = Vec::new();
    for (caller, their_caller) in &CALLERS[1..4] {
        let mut line = vec![(*caller).to_owned()];
        for (callee, their_callee) in WAITERS {
            let mut leaves = |chain: &str| -> Result<f64, ChildError> {
                Ok(count(&format!("heap {chain}: blocks"))? - count(&format!("heap {chain}: stays"))? - wait)
            };
            // The caller's cost in addition to the callee's own. The wait alone has no callee cost besides `wait`.
            let cell = match (*caller, callee) {
                ("forward", "the wait") => leaves("forward>wait")?,
                (caller, "the wait") => leaves(caller)?,
                (caller, callee) => leaves(&format!("{caller}>{callee}"))? - leaves(callee)?,
            };
            let theirs = [HYBRID_TABLE_2_FALLBACK, CONCERT_TABLE_4_FALLBACK]
                .map(|table| figure(&table, *their_caller, their_callee));
            line.push(beside(Some(one_decimal(cell)), &theirs));
            report.row(row("fallback", caller, callee, Some(cell), theirs));
        }
        fallback_lines.push(line);
    }

    let text = format!(
        "Calls that end on the stack: instructions beyond those of a plain call ({plain:.1} with its loop)\n\n{}\n\
         Ours [SPARC, hybrid paper, table 2; Alpha, concert paper, table 4]. Rows: the caller's schema; columns: the callee's.\n\
         straight: non-blocking; stack: may block; forward: continuation passing as a caller (its await stands in tail\n\
         position); suspend: continuation passing as a callee (it takes its continuation, and resolves it at once); pinned: ours\n\
         alone; heap: parallel (a caller that has left the stack; a callee that is spawned). Guard checks are part of a call.\n\
         straight to others: a task in the straight schema awaits straight tasks only.\n\n\
         Fallback: further instructions when the call blocks, for the caller\n\n{}\n\
         Ours [SPARC instructions; T3D microseconds, which are no instructions]. To make the caller a frame, to let it wait, to\n\
         resume and to free it, beyond what the callee costs alone; the wait itself ({wait:.1}: a yield, scheduling included) is\n\
         not in it. Columns: what blocks beneath the caller. forward: a tail await hands its callee's frame on to its own caller,\n\
         and needs none. heap as a caller has its frame, and pays the wait alone; straight cannot block.\n",
        show::table(&head(&CALLEES), &call_lines),
        show::table(&head(&WAITERS), &fallback_lines),
    );
    report.row(json!({"table": "calls", "plain": plain, "wait": wait}));
    Ok(report.say(&(text + "\n\n"))?)
}

fn head(callees: &[(&'static str, Option<&str>)]) -> Vec<&'static str> {
    ["caller"].into_iter().chain(callees.iter().map(|(callee, _)| *callee)).collect()
}

fn figure(table: &Table, caller: Option<&str>, callee: Option<&str>) -> Option<f64> {
    table.figure(caller?, callee?)
}

fn row(table: &str, caller: &str, callee: &str, ours: Option<f64>, theirs: [Option<f64>; 2]) -> Value {
    json!({
        "table": table, "caller": caller, "callee": callee, "instructions": ours, "hybrid": theirs[0], "concert": theirs[1],
    })
}
