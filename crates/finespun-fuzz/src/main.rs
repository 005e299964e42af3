//! The `finespun-fuzz` command.
#![forbid(unsafe_code)]

use std::io::Write;
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use clap::error::ErrorKind;
use finespun_fuzz::args::Args;
use finespun_fuzz::failure::Failure;
use finespun_fuzz::session::{self, Count, Plan};
use finespun_fuzz::{cargo, generate};

fn main() -> ExitCode {
    match act() {
        Ok(code) => code,
        Err(failure) => {
            let line = failure.to_string();
            eprintln!("finespun-fuzz: {line}");
            ExitCode::from(failure.code())
        }
    }
}

fn act() -> Result<ExitCode, Failure> {
    let args = match Args::try_parse() {
        Ok(args) => args,
        Err(error) if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) => {
            print(&error.to_string());
            return Ok(ExitCode::SUCCESS);
        }
        Err(error) => {
            let text = error.to_string();
            let line = text.lines().next().unwrap_or_default();
            return Err(Failure::Usage(line.strip_prefix("error: ").unwrap_or(line).to_string()));
        }
    };
    if args.from.checked_add(args.count).is_none() {
        return Err(Failure::Usage(format!("--from {}: too large for --count {}", args.from, args.count)));
    }
    if args.print {
        for index in args.from..args.from + args.count {
            print(&format!("// body {index}\n{}\n", generate::body(args.seed, index).shown()));
        }
        return Ok(ExitCode::SUCCESS);
    }
    // Before the work, not after it.
    if let Some(path) = &args.json {
        std::fs::write(path, "").map_err(|source| Failure::Report { path: path.clone(), source })?;
    }
    cargo::end_children_on_interrupt()?;
    let plan = Plan {
        seed: args.seed,
        from: args.from,
        count: Count::Generated(args.count),
        dir: args.keep.unwrap_or_else(session::default_dir),
        jobs: args.jobs as usize,
        shrink: if args.no_shrink { 0 } else { args.shrink },
        limit: Duration::from_secs(args.shrink_seconds),
        progress: true,
    };
    let report = session::run(&plan)?;
    print(&report.text());
    if let Some(path) = args.json {
        std::fs::write(&path, format!("{:#}\n", report.json())).map_err(|source| Failure::Report { path, source })?;
    }
    Ok(if report.is_good() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// A closed pipe is no error.
fn print(text: &str) {
    let _ = std::io::stdout().lock().write_all(text.as_bytes());
}
