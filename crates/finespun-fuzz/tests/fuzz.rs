//! Random bodies through the whole pipeline.

use std::path::PathBuf;
use std::sync::Mutex;
use std::time::Duration;

use finespun_fuzz::cargo;
use finespun_fuzz::session::{self, Count, Plan};

/// The tests share one scratch package, one at a time.
static ALONE: Mutex<()> = Mutex::new(());

fn variable(name: &str, default: u64) -> u64 {
    match std::env::var(name) {
        Ok(text) => text.parse().unwrap_or_else(|_| panic!("{name}={text}: not a number")),
        Err(_) => default,
    }
}

fn plan(count: Count) -> Plan {
    Plan {
        seed: variable("FINESPUN_FUZZ_SEED", 1),
        from: 0,
        count,
        // The folder that the `finespun-fuzz` command uses, where finespun is already compiled if the command has run.
        dir: PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("../finespun-fuzz"),
        jobs: 2,
        shrink: 3,
        limit: Duration::from_secs(60),
        progress: true,
    }
}

#[test]
fn tasks_do_what_plain_functions_do() {
    let _alone = ALONE.lock().unwrap_or_else(|e| e.into_inner());
    let _ = cargo::end_children_on_interrupt();
    let count = variable("FINESPUN_FUZZ_COUNT", 300) as usize;
    let report = session::run(&plan(Count::Accepted(count))).unwrap_or_else(|failure| panic!("{failure}"));
    assert!(report.is_good(), "{}", report.text());
    assert!(report.accepted() * 10 >= report.generated * 6, "{}", report.text());
    // About a fifth of many bodies has the stack schema; of the first 58 of the default seed, 5 have it.
    let stack = report.schemas.iter().filter(|(schema, _)| schema.starts_with("stack")).map(|(_, count)| count);
    let share = if count < 200 { 20 } else { 10 };
    assert!(stack.sum::<usize>() * share >= report.accepted(), "{}", report.text());
    // One panic for each of four inputs; a few bodies drop nothing.
    assert!(report.counted[finespun_fuzz::report::PANICS] as usize >= report.accepted() * 2, "{}", report.text());
}
