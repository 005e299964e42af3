//! The `finespun-fuzz` command.
#![forbid(unsafe_code)]

use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use clap::error::ErrorKind;
use finespun_fuzz::args::Args;
use finespun_fuzz::failure::Failure;
use finespun_fuzz::session::{self, Count, Plan};
use finespun_fuzz::{cargo, generate, message};

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
            print(&error.to_string())?;
            return Ok(ExitCode::SUCCESS);
        }
        Err(error) => return Err(Failure::Usage(message::one_line(&error))),
    };
    if args.from.checked_add(args.count).is_none() {
        return Err(Failure::Usage(format!("--from {}: too large for --count {}", args.from, args.count)));
    }
    if args.print {
        for index in args.from..args.from + args.count {
            if !print(&format!("// body {index}\n{}\n", generate::body(args.seed, index).shown()))? {
                break;
            }
        }
        return Ok(ExitCode::SUCCESS);
    }
    // Before the run: an unwritable report file must not waste the run's work.
    let json = args.json.map(Json::at).transpose()?;
    cargo::end_children_on_interrupt()?;
    let plan = Plan {
        seed: args.seed,
        from: args.from,
        count: Count::Generated(args.count),
        dir: args.dir.unwrap_or_else(session::default_dir),
        jobs: args.jobs as usize,
        shrink: if args.no_shrink { 0 } else { args.shrink },
        limit: Duration::from_secs(args.shrink_seconds),
        progress: true,
    };
    let report = session::run(&plan)?;
    let printed = print(&report.text());
    if let Some(json) = json {
        json.write(&format!("{:#}\n", report.json()))?;
    }
    printed?;
    if let Some(failure) = &report.failure {
        eprintln!("finespun-fuzz: {failure}");
    }
    Ok(ExitCode::from(report.code()))
}

/// The file of the report. It keeps the old text until the new text is complete.
struct Json {
    path: PathBuf,
    /// The temporary file, which is written first.
    new: PathBuf,
}

impl Json {
    /// Checks that the file can be written.
    fn at(path: PathBuf) -> Result<Json, Failure> {
        let mut new = path.clone().into_os_string();
        new.push(".tmp");
        let json = Json { path, new: new.into() };
        let tried = match json.path.is_dir() {
            true => Err(io::ErrorKind::IsADirectory.into()),
            false => fs::write(&json.new, "").and_then(|()| fs::remove_file(&json.new)),
        };
        tried.map_err(|source| json.failure(source))?;
        Ok(json)
    }

    fn write(&self, text: &str) -> Result<(), Failure> {
        let written = fs::write(&self.new, text).and_then(|()| fs::rename(&self.new, &self.path));
        written.map_err(|source| self.failure(source))
    }

    fn failure(&self, source: io::Error) -> Failure {
        Failure::Report { path: self.path.clone(), source }
    }
}

/// Writes to the standard output; returns false if its reader has closed it, which is no error.
fn print(text: &str) -> Result<bool, Failure> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
        Err(error) => Err(Failure::Output(error)),
    }
}
