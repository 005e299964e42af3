//! The output of a run: text for people, or one JSON object for programs.

use std::time::Duration;

use finespun::Stats;
use finespun::runtime::CacheChoice;
use finespun::simulation::Machine;
use serde_json::{Map, Value, json};

use crate::app::{Answer, App, Executor, Histogram, Timed};
use crate::args::RunOptions;
use crate::run::stats;
use crate::sample::Sample;
use crate::show;

/// All results of a run.
#[derive(Debug)]
pub struct Report<'a> {
    app: &'static str,
    parameters: Map<String, Value>,
    answer: &'a Answer,
    times: Sample,
    workers: usize,
    stats: Option<Stats>,
    cache_choices: Vec<CacheChoice>,
    show_stats: bool,
    plain: bool,
    simulated: Option<Simulated>,
}

/// The simulated machine of a run.
#[derive(Debug)]
struct Simulated {
    machine: String,
    events: u64,
    /// The time that this computer took to simulate all runs.
    host: f64,
}

impl<'a> Report<'a> {
    /// Creates the report of `runs`, which must not be empty.
    ///
    /// `simulated` is the simulated machine, if the run had one, and the time of this computer.
    pub fn new(
        app: &dyn App,
        executor: &Executor,
        options: &RunOptions,
        runs: &'a [Timed<Answer>],
        simulated: Option<(&Machine, Duration)>,
    ) -> Self {
        let simulated = simulated.map(|(machine, host)| Simulated {
            machine: machine.name().to_owned(),
            events: executor.events().unwrap_or(0),
            host: host.as_secs_f64(),
        });
        Report {
            app: app.name(),
            parameters: app.parameters(),
            answer: &runs.first().expect("an application is run at least once").value,
            times: runs.iter().map(|run| run.time.as_secs_f64()).collect(),
            workers: executor.workers(),
            stats: executor.stats(),
            cache_choices: executor.cache_choices(),
            show_stats: options.stats,
            plain: options.plain,
            simulated,
        }
    }

    /// Returns the answer's histogram, if it has one.
    pub fn histogram(&self) -> Option<&Histogram> {
        self.answer.histogram.as_ref()
    }

    /// Returns the contents of the answer's files.
    pub fn files(&self) -> &[Vec<u8>] {
        &self.answer.files
    }

    /// Returns one JSON object: app, parameters, answer, seconds, workers, stats; and `plain` and `runs` if requested.
    ///
    /// `seconds` is the least time of all runs.
    pub fn json(&self) -> String {
        let entries = self.stats.map_or_else(Vec::new, |stats| stats.entries());
        let stats: Map<_, _> = entries.into_iter().map(|(name, count)| (name.to_owned(), count.into())).collect();
        let mut object = json!({
            "app": self.app,
            "parameters": self.parameters,
            "answer": self.answer.to_json(),
            "seconds": self.times.least(),
            "workers": self.workers,
            "stats": stats,
        });
        if !self.cache_choices.is_empty() {
            object["cache_choices"] = self.cache_choices.iter().map(choice).collect();
        }
        if let Some(Simulated { machine, events, host }) = &self.simulated {
            object["simulated"] = json!({ "machine": machine, "events": events, "host_seconds": host });
        }
        if self.plain {
            object["plain"] = true.into();
        }
        if self.times.all().len() > 1 {
            object["runs"] = self.times.all().into();
        }
        format!("{object}\n")
    }

    /// Returns lines of text for people.
    pub fn text(&self) -> String {
        let mut lines = String::new();
        for (name, value) in self.answer.values.iter().chain(&self.answer.layout) {
            lines += &format!("{:<16} {}\n", name.replace('_', " "), show::value(value));
        }
        if let Some(histogram) = &self.answer.histogram {
            lines += "\n";
            lines += &show::histogram(histogram);
            lines += "\n";
        }
        let time = if self.simulated.is_some() { "virtual time" } else { "time" };
        lines += &format!("{time:<16} {}, {}\n", self.time(), self.who());
        if let Some(Simulated { events, host, .. }) = &self.simulated {
            let events = show::thousands(*events);
            lines += &format!("{:<16} {events} events in {}\n", "simulation", show::seconds(*host));
        }
        if self.show_stats {
            lines += &self.stats.map_or_else(String::new, |stats| stats::explained(&stats, self.workers));
            for choice in &self.cache_choices {
                lines += &format!("{:<16} {choice}\n", "cache choice");
            }
        }
        lines
    }

    fn time(&self) -> String {
        let least = show::seconds(self.times.least());
        match self.times.all().len() {
            1 => least,
            times => format!("{least} least, {} median of {times} runs", show::seconds(self.times.median())),
        }
    }

    fn who(&self) -> String {
        if let Some(Simulated { machine, .. }) = &self.simulated {
            let processors = if self.workers == 1 { "processor" } else { "processors" };
            return format!("{} {processors} of {machine}", self.workers);
        }
        match (self.plain, self.workers) {
            (true, _) => "plain sequential version".to_owned(),
            (false, 1) => "1 worker".to_owned(),
            (false, workers) => format!("{workers} workers"),
        }
    }
}

/// Returns a cache's decision as an object.
fn choice(choice: &CacheChoice) -> Value {
    json!({
        "made": choice.made,
        "caches": choice.caches,
        "on": choice.on,
        "changes": choice.changes,
        "block": [choice.block.0, choice.block.1],
        "requests": choice.requests,
        "hits": choice.hits,
        "request_ns": choice.request_ns,
        "element_ns": choice.element_ns,
        "hit_ns": choice.hit_ns,
        "added_ns": choice.added_ns,
    })
}
