//! Runs the compiled programs, and finds the responsible body when one crashes.

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use crate::cargo;
use crate::failure::Failure;
use crate::pipeline::{Outcome, Pipeline, Wrong, index, name};

/// The report of a program.
#[derive(Debug, Default)]
struct Said {
    /// Differences, by body.
    wrong: Vec<(usize, Wrong)>,
    /// Bodies that have begun and not ended.
    open: BTreeSet<usize>,
    /// Frames were left over, and the report names no body.
    frames: bool,
    /// The program exceeded its time limit.
    late: bool,
    /// The program ran to its end.
    done: bool,
    /// The counters of the runtimes.
    counted: Vec<(String, u64)>,
}

/// Runs all programs, and records their findings.
pub fn run_all(
    pipeline: &Pipeline,
    programs: &[Vec<usize>],
    bodies: usize,
    outcomes: &mut [Outcome],
) -> Result<(), Failure> {
    let found = Mutex::new(vec![Vec::new(); bodies]);
    let failed = Mutex::new(None);
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..pipeline.jobs {
            scope.spawn(|| {
                while let chunk = next.fetch_add(1, Relaxed)
                    && chunk < programs.len()
                {
                    match run(&programs[chunk], |bodies, seconds| start(pipeline, chunk, bodies, seconds)) {
                        Ok(wrong) => {
                            let mut found = found.lock().unwrap_or_else(|e| e.into_inner());
                            wrong.into_iter().for_each(|(body, wrong)| found[body].push(wrong));
                        }
                        Err(failure) => *failed.lock().unwrap_or_else(|e| e.into_inner()) = Some(failure),
                    }
                }
            });
        }
    });
    if let Some(failure) = failed.into_inner().unwrap_or_else(|e| e.into_inner()) {
        return Err(failure);
    }
    let found = found.into_inner().unwrap_or_else(|e| e.into_inner());
    for (outcome, wrong) in outcomes.iter_mut().zip(found) {
        outcome.wrong = wrong;
    }
    Ok(())
}

/// Runs one program by `start`, which takes the bodies to run and a limit in seconds. Bodies that crash the program are
/// run alone and left out afterwards.
fn run(
    bodies: &[usize],
    mut start: impl FnMut(&[usize], u64) -> Result<(Said, String), Failure>,
) -> Result<Vec<(usize, Wrong)>, Failure> {
    let mut left = bodies.to_vec();
    let mut wrong = Vec::new();
    while !left.is_empty() {
        let (said, how) = start(&left, 120 + 2 * left.len() as u64)?;
        wrong.extend(said.wrong);
        if said.done && !said.frames {
            break;
        }
        let suspects: Vec<usize> = match said.done || said.open.is_empty() {
            true => left.clone(),
            false => said.open.iter().copied().collect(),
        };
        let mut guilty = Vec::new();
        for &body in &suspects {
            let (alone, how) = start(&[body], 60)?;
            let found = alone.wrong.iter().find(|(_, wrong)| matches!(wrong, Wrong::Frames(_)));
            match (alone.done, alone.late) {
                (true, _) => guilty.extend(found.cloned()),
                (_, true) => guilty.push((body, Wrong::Hang)),
                _ => guilty.push((body, Wrong::Crash(how))),
            }
        }
        if guilty.is_empty() {
            // No suspect fails when it runs alone: blame the first one.
            let blame = match (said.done, said.late) {
                (true, _) => Wrong::Frames("only together".to_string()),
                (_, true) => Wrong::Hang,
                _ => Wrong::Crash(format!("{how} (not alone)")),
            };
            guilty.push((suspects[0], blame));
        }
        left.retain(|body| !guilty.iter().any(|(g, _)| g == body));
        wrong.extend(guilty);
        if said.done {
            break;
        }
    }
    once_for_each_form(&mut wrong);
    Ok(wrong)
}

/// Keeps the first difference of each form of each body: a program that runs again reports it again.
fn once_for_each_form(wrong: &mut Vec<(usize, Wrong)>) {
    let mut seen = BTreeSet::new();
    wrong.retain(|(body, wrong)| match wrong {
        Wrong::Differ { form, .. } => seen.insert((*body, form.clone())),
        _ => true,
    });
}

fn start(pipeline: &Pipeline, chunk: usize, bodies: &[usize], seconds: u64) -> Result<(Said, String), Failure> {
    let names: Vec<String> = bodies.iter().map(|&body| name(body)).collect();
    let ended = cargo::start(&pipeline.package.program(chunk), seconds, &names)?;
    let how = format!("{}: {}", ended.failure.unwrap_or_default(), ended.stderr.lines().last().unwrap_or_default());
    let said = read(&ended.stdout);
    for (name, count) in &said.counted {
        *pipeline.counted.lock().unwrap_or_else(|e| e.into_inner()).entry(name.clone()).or_default() += count;
    }
    Ok((said, how))
}

fn read(text: &str) -> Said {
    let mut said = Said::default();
    for line in text.lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        let body = fields.get(1).and_then(|name| index(name));
        match (fields[0], body) {
            ("begin", Some(body)) => drop(said.open.insert(body)),
            ("end", Some(body)) => drop(said.open.remove(&body)),
            ("differ", Some(body)) if fields.len() == 5 => {
                let wrong = Wrong::Differ {
                    form: fields[2].to_string(),
                    setting: fields[3].to_string(),
                    n: fields[4].parse().unwrap_or(0),
                    plain: Vec::new(),
                    other: Vec::new(),
                };
                said.wrong.push((body, wrong));
            }
            ("plain", _) => {
                if let Some((_, Wrong::Differ { plain, .. })) = said.wrong.last_mut() {
                    plain.push(fields[1..].join("\t"));
                }
            }
            ("other", _) => {
                if let Some((_, Wrong::Differ { other, .. })) = said.wrong.last_mut() {
                    other.push(fields[1..].join("\t"));
                }
            }
            ("frames", Some(body)) => said.wrong.push((body, Wrong::Frames(fields[2..].join(" ")))),
            ("frames", None) => said.frames = true,
            ("counted", _) if fields.len() == 3 => {
                said.counted.push((fields[1].to_string(), fields[2].parse().unwrap_or(0)));
            }
            ("timeout", _) => said.late = true,
            ("done", _) => said.done = true,
            _ => {}
        }
    }
    said
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn report_of_a_program_is_read() {
        let said = read("begin\tb3\nend\tb3\nbegin\tb4\ndiffer\tb4\tauto\t1 worker\t2\nplain\tnew D1\nother\tnew D2\n");
        assert_eq!(said.open.into_iter().collect::<Vec<_>>(), [4]);
        let (body, Wrong::Differ { plain, other, n, .. }) = &said.wrong[0] else { panic!("a difference") };
        assert_eq!((*body, *n, plain.join(","), other.join(",")), (4, 2, "new D1".into(), "new D2".into()));
        assert!(!said.done);
    }
    fn differ(form: &str) -> Wrong {
        let (form, setting) = (form.to_string(), String::new());
        Wrong::Differ { form, setting, n: 0, plain: Vec::new(), other: Vec::new() }
    }

    fn forms(wrong: &[(usize, Wrong)]) -> Vec<(usize, String)> {
        let form = |wrong: &Wrong| match wrong {
            Wrong::Differ { form, .. } => form.clone(),
            other => format!("{other:?}"),
        };
        wrong.iter().map(|(body, wrong)| (*body, form(wrong))).collect()
    }

    #[test]
    fn frames_that_no_body_leaves_alone_are_reported() {
        let start = |bodies: &[usize], _| {
            let said = Said { done: true, frames: bodies.len() > 1, ..Said::default() };
            Ok((said, String::new()))
        };
        let wrong = run(&[4, 5], start).expect("no program is started");
        assert_eq!(forms(&wrong), [(4, "Frames(\"only together\")".to_string())]);
    }

    #[test]
    fn difference_is_reported_once_when_another_body_crashes() {
        let start = |bodies: &[usize], _| {
            let wrong = bodies.iter().filter(|b| **b == 4).flat_map(|_| [(4, differ("auto")), (4, differ("pinned"))]);
            let crash = bodies.contains(&5);
            let open = if crash { [5].into() } else { BTreeSet::new() };
            Ok((Said { wrong: wrong.collect(), open, done: !crash, ..Said::default() }, "killed".to_string()))
        };
        let wrong = run(&[4, 5], start).expect("no program is started");
        let expected = [(4, "auto"), (4, "pinned"), (5, "Crash(\"killed\")")];
        assert_eq!(forms(&wrong), expected.map(|(body, form)| (body, form.to_string())));
    }
}
