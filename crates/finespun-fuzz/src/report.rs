//! The findings of a run: counts, and the failures with their smallest bodies.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::time::Duration;

use serde_json::{Value, json};

use crate::body::Body;
use crate::failure::Failure;
use crate::groups;
use crate::normal::normal;
use crate::pipeline::{Outcome, Wrong};
use crate::refusal;
use crate::shrink::{Failing, Symptom};

/// The share of accepted bodies that the task compiler may refuse: a larger share is a failure.
pub const REFUSED_LIMIT: f64 = 0.005;

/// The findings of a run.
#[derive(Debug, Default)]
pub struct Report {
    /// Bodies generated.
    pub generated: usize,
    /// Bodies that rustc refuses as plain `async fn`, by message.
    pub rejected: BTreeMap<String, usize>,
    /// Bodies all of whose forms agree.
    pub agreed: usize,
    /// Bodies with a refused form.
    pub refused: usize,
    /// Bodies with a refused form for which `#[task(pinned)]` is accepted.
    pub cured: usize,
    /// Bodies with a refused form, by message.
    pub messages: BTreeMap<String, usize>,
    /// Bodies with a form that disagrees.
    pub disagreed: usize,
    /// The schemas chosen.
    pub schemas: BTreeMap<String, usize>,
    /// How often each form was compiled.
    pub forms: BTreeMap<&'static str, usize>,
    /// The counters of the runtimes with two workers, and the runs of plain bodies in which a destructor has panicked.
    pub counted: BTreeMap<String, u64>,
    /// Failing bodies.
    pub failing: Vec<(Body, Outcome)>,
    /// Failing bodies after shrinking.
    pub shrunk: Vec<Failing>,
    /// The failure that ended the run, or the shrinker, early.
    pub failure: Option<Failure>,
    /// The time it took.
    pub time: Duration,
}

impl Report {
    /// Adds the outcome of a body.
    pub fn add(&mut self, body: &Body, outcome: &Outcome) {
        self.generated += 1;
        if let Some(message) = &outcome.rejected {
            *self.rejected.entry(normal(message)).or_default() += 1;
            return;
        }
        for form in &body.forms {
            *self.forms.entry(form.name()).or_default() += 1;
        }
        if let Some(schema) = refusal::schema(body) {
            // Here it is unknown whether all callees are straight, and whether a type has a destructor.
            let schema = schema.trim_start_matches("straight if all its callees are straight; otherwise ");
            let schema = match schema.split_once("; pinned if") {
                Some((schema, _)) => format!("{schema}, if some types have no destructor"),
                None => normal(schema),
            };
            *self.schemas.entry(schema).or_default() += 1;
        }
        if !outcome.refused.is_empty() {
            self.refused += 1;
            let pinned = outcome.refused.iter().any(|(form, _)| *form == crate::body::Form::Pinned);
            self.cured += usize::from(!pinned);
            let mut messages: Vec<String> = outcome.refused.iter().map(|(_, message)| normal(message)).collect();
            messages.sort();
            messages.dedup();
            for message in messages {
                *self.messages.entry(message).or_default() += 1;
            }
        }
        self.disagreed += usize::from(!outcome.wrong.is_empty());
        self.agreed += usize::from(outcome.agreed());
        if !outcome.agreed() {
            self.failing.push((body.clone(), outcome.clone()));
        }
    }

    /// Returns the number of bodies that rustc accepts as plain `async fn`.
    pub fn accepted(&self) -> usize {
        self.generated - self.rejected.values().sum::<usize>()
    }

    /// Returns true if the run came to its end, no body disagreed and almost none was refused.
    pub fn is_good(&self) -> bool {
        self.failure.is_none() && self.bodies_are_good()
    }

    /// Returns the exit code: 0 for a good report, 1 if bodies fail, the failure's code if the run ended early.
    pub fn code(&self) -> u8 {
        self.failure.as_ref().map_or(u8::from(!self.bodies_are_good()), Failure::code)
    }

    fn bodies_are_good(&self) -> bool {
        self.disagreed == 0 && self.refused as f64 <= REFUSED_LIMIT * self.accepted() as f64
    }

    /// Returns the failures that should be shrunk: one of each message, then disagreements, `limit` in all.
    pub fn worth_shrinking(&self, limit: usize) -> Vec<Failing> {
        let mut chosen: Vec<Failing> = Vec::new();
        let mut seen: Vec<String> = Vec::new();
        let mut disagreements: Vec<Failing> = Vec::new();
        for (body, outcome) in &self.failing {
            for symptom in Symptom::of(outcome) {
                let failing = Failing { body: body.clone(), outcome: outcome.clone(), symptom };
                match &failing.symptom {
                    Symptom::Refused(_, message) if !seen.contains(message) => {
                        seen.push(message.clone());
                        chosen.push(failing);
                        break;
                    }
                    Symptom::Refused(..) => {}
                    _ => {
                        disagreements.push(failing);
                        break;
                    }
                }
            }
        }
        // Differences of automatic forms only, and without patterns of parameters, are rarer.
        disagreements.sort_by_key(|Failing { body, outcome, .. }| {
            let pinned = Symptom::of(outcome).contains(&Symptom::Differ(crate::body::Form::Pinned));
            let patterns = body.params.iter().filter(|p| p.pat.contains(['(', '{', '[', '_'])).count();
            (pinned, patterns)
        });
        // Each kind gets half of the limit, if both need it.
        let refusals = chosen.len().min(limit - disagreements.len().min(limit / 2));
        chosen.truncate(refusals);
        disagreements.truncate(limit - refusals);
        chosen.extend(disagreements);
        chosen
    }

    /// Returns the report as text.
    pub fn text(&self) -> String {
        let mut out = String::new();
        let seconds = self.time.as_secs_f64();
        let accepted = self.accepted();
        let share = |part: usize, of: usize| 100.0 * part as f64 / of.max(1) as f64;
        let _ = writeln!(
            out,
            "{} bodies in {seconds:.1} s ({:.2} a second)",
            self.generated,
            self.generated as f64 / seconds
        );
        let _ =
            writeln!(out, "{accepted} accepted by rustc as plain async fn ({:.1} %)", share(accepted, self.generated));
        counts(&mut out, &self.rejected, 8);
        let _ = writeln!(out, "{} agree in all forms", self.agreed);
        let _ = writeln!(
            out,
            "{} refused as tasks ({:.2} %), {} of them accepted with #[task(pinned)]",
            self.refused,
            share(self.refused, accepted),
            self.cured
        );
        counts(&mut out, &self.messages, usize::MAX);
        let _ = writeln!(out, "{} disagree", self.disagreed);
        let _ = writeln!(out, "forms compiled:");
        for (form, count) in &self.forms {
            let _ = writeln!(out, "  {count:6}  {form}");
        }
        let shown = |name: &str| matches!(name, "fallbacks" | "frames" | "promotions" | "steals" | "stack_limits");
        let counted = self.counted.iter().filter(|(name, _)| shown(name));
        let counted: Vec<String> = counted.map(|(name, count)| format!("{count} {name}")).collect();
        let _ = writeln!(out, "on two workers: {}", counted.join(", "));
        let panics = self.counted.get(PANICS).unwrap_or(&0);
        let _ = writeln!(out, "{panics} runs of bodies in which a destructor panics");
        let _ = writeln!(out, "schemas chosen:");
        counts(&mut out, &self.schemas, usize::MAX);
        for (first, others) in groups::of(&self.shrunk) {
            let _ = writeln!(out, "\n{}", failure(first));
            if !others.is_empty() {
                let numbers: Vec<String> = others.iter().map(|index| index.to_string()).collect();
                let _ = writeln!(out, "  bodies like this one: {}", numbers.join(" "));
            }
        }
        if self.shrunk.is_empty() && !self.failing.is_empty() {
            let numbers: Vec<String> = self.failing.iter().map(|(body, _)| body.index.to_string()).collect();
            let _ = writeln!(out, "failing bodies: {}", numbers.join(" "));
        }
        if let Some(failure) = &self.failure {
            let _ = writeln!(out, "ended early: {failure}");
        }
        out
    }

    /// Returns the report as JSON.
    pub fn json(&self) -> Value {
        let failing = |body: &Body, outcome: &Outcome| {
            json!({
                "index": body.index,
                "body": body.shown(),
                "refused": outcome.refused.iter().map(|(f, m)| json!({"form": f.name(), "message": m})).collect::<Vec<_>>(),
                "wrong": outcome.wrong.iter().map(|wrong| format!("{wrong:?}")).collect::<Vec<_>>(),
            })
        };
        json!({
            "generated": self.generated,
            "accepted": self.accepted(),
            "rejected": self.rejected,
            "agreed": self.agreed,
            "refused": self.refused,
            "cured": self.cured,
            "messages": self.messages,
            "disagreed": self.disagreed,
            "forms": self.forms,
            "schemas": self.schemas,
            "counted": self.counted,
            "failure": self.failure.as_ref().map(Failure::to_string),
            "seconds": self.time.as_secs_f64(),
            "failing": self.failing.iter().map(|(body, outcome)| failing(body, outcome)).collect::<Vec<_>>(),
            "shrunk": self.shrunk.iter().map(|f| failing(&f.body, &f.outcome)).collect::<Vec<_>>(),
        })
    }
}

/// The name of the counter for runs of plain bodies in which a destructor has panicked.
pub const PANICS: &str = "panics_in_destructors";

fn counts(out: &mut String, counts: &BTreeMap<String, usize>, limit: usize) {
    let mut rows: Vec<(&String, &usize)> = counts.iter().collect();
    rows.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
    for (text, count) in rows.into_iter().take(limit) {
        let _ = writeln!(out, "  {count:6}  {text}");
    }
}

/// Returns a failure as text: the symptom, the body, and both traces.
pub fn failure(failing: &Failing) -> String {
    let Failing { body, outcome, symptom } = failing;
    let mut out = format!("body {}: ", body.index);
    match symptom {
        Symptom::Refused(form, message) => {
            let _ = writeln!(out, "the {} form is refused: {message}", form.name());
        }
        Symptom::Differ(form) => {
            let _ = writeln!(out, "the {} form disagrees", form.name());
        }
        Symptom::Crash => out.push_str("crash\n"),
        Symptom::Hang => out.push_str("hang\n"),
        Symptom::Frames => out.push_str("frames are left\n"),
    }
    let arguments: Vec<&str> = body.params.iter().map(|param| param.argument.as_str()).collect();
    if !arguments.is_empty() {
        let _ = writeln!(out, "// called with {}", arguments.join(", "));
    }
    out.push_str(&body.shown());
    for wrong in &outcome.wrong {
        match wrong {
            Wrong::Differ { form, setting, n, plain, other } => {
                let _ = writeln!(out, "  n = {n}, {setting}:");
                let _ = writeln!(out, "    plain: {}", plain.join("; "));
                let _ = writeln!(out, "    {form}: {}", other.join("; "));
            }
            other => {
                let _ = writeln!(out, "  {other:?}");
            }
        }
    }
    out
}
