//! Starts cargo and the programs that it builds, and reads their output.

use std::collections::BTreeMap;
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;

use serde_json::Value;

use crate::failure::Failure;

/// The process groups that are running.
static GROUPS: Mutex<Vec<u32>> = Mutex::new(Vec::new());

/// The address space that a program of bodies may use, in KiB.
const MEMORY: u64 = 6_000_000;

/// Makes an interrupt end all processes that this program has started, and then this program.
pub fn end_children_on_interrupt() -> Result<(), Failure> {
    ctrlc::set_handler(|| {
        for group in GROUPS.lock().unwrap_or_else(|e| e.into_inner()).iter() {
            kill(*group);
        }
        std::process::exit(130);
    })
    .map_err(|error| Failure::Start(format!("the interrupt handler cannot be set: {error}")))
}

fn kill(group: u32) {
    let _ = Command::new("kill").args(["-KILL", "--", &format!("-{group}")]).stderr(Stdio::null()).status();
}

/// The output of a process that has ended.
pub struct Ended {
    /// Its standard output.
    pub stdout: String,
    /// Its standard error.
    pub stderr: String,
    /// The reason for its end, if it failed.
    pub failure: Option<String>,
}

/// Runs a command in its own process group until it ends.
fn run(mut command: Command) -> Result<Ended, Failure> {
    let text = format!("{command:?}");
    let fail = |error: std::io::Error| Failure::Start(format!("{text} cannot be run: {error}"));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    let mut groups = GROUPS.lock().unwrap_or_else(|e| e.into_inner());
    let mut child = command.spawn().map_err(fail)?;
    groups.push(child.id());
    drop(groups);
    let said = listen(&mut child);
    let status = child.wait().map_err(fail)?;
    GROUPS.lock().unwrap_or_else(|e| e.into_inner()).retain(|id| *id != child.id());
    let (stdout, stderr) = said.map_err(fail)?;
    let failure = (!status.success()).then(|| status.to_string());
    Ok(Ended { stdout, stderr, failure })
}

fn listen(child: &mut Child) -> std::io::Result<(String, String)> {
    let (mut out, mut err) = (child.stdout.take(), child.stderr.take());
    let errors = std::thread::spawn(move || {
        let mut text = Vec::new();
        err.as_mut().map_or(Ok(0), |pipe| pipe.read_to_end(&mut text)).map(|_| text)
    });
    let mut text = Vec::new();
    out.as_mut().map_or(Ok(0), |pipe| pipe.read_to_end(&mut text))?;
    let errors = errors.join().unwrap_or_else(|_| Ok(Vec::new()))?;
    let read = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    Ok((read(text), read(errors)))
}

/// The beginning of the note that locates the instantiation for the error before the note.
const INSTANTIATED: &str = "the above error was encountered while instantiating";

/// The compiler's messages about the bodies' files: the first error of each file, by its path below `bodies`.
pub type Errors = BTreeMap<String, String>;

/// Runs `cargo check` or `cargo build` on all programs of a package.
///
/// # Errors
/// If cargo cannot be started, or fails with an error that is in no body's file.
pub fn compile(package: &Path, target: &Path, verb: &str, jobs: usize) -> Result<Errors, Failure> {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args([verb, "--offline", "--bins", "--keep-going", "--quiet", "--message-format=json"]);
    command.arg(format!("-j{jobs}")).current_dir(package).env("CARGO_TARGET_DIR", target);
    command.env_remove("RUSTFLAGS").env("CARGO_TERM_COLOR", "never");
    let ended = run(command)?;
    let mut errors = Errors::new();
    let (mut strange, mut unplaced) = (String::new(), String::new());
    for line in ended.stdout.lines().filter(|line| line.starts_with('{')) {
        let Ok(message) = serde_json::from_str::<Value>(line) else { continue };
        let message = &message["message"];
        let text = message["message"].as_str().unwrap_or_default();
        // A failed assertion of the library in a constant is an error without a location in a body: the following note
        // has the location.
        if message["level"] == "note" && text.starts_with(INSTANTIATED) {
            if let Some(file) = file(message) {
                errors.entry(file).or_insert_with(|| unplaced.clone());
            }
            continue;
        }
        if message["level"] != "error" && message["level"] != "error: internal compiler error" {
            continue;
        }
        let code = message["code"]["code"].as_str().map(|code| format!("{code}: ")).unwrap_or_default();
        match file(message) {
            Some(file) => drop(errors.entry(file).or_insert(format!("{code}{text}"))),
            None if text.starts_with("aborting due to") || text.starts_with("could not compile") => {}
            None => {
                strange = message["rendered"].as_str().unwrap_or(text).to_string();
                unplaced = format!("{code}{text}");
            }
        }
    }
    match ended.failure {
        Some(status) if errors.is_empty() => {
            Err(Failure::Compile(format!("cargo {verb} ended with {status}: {strange}{}", ended.stderr)))
        }
        _ => Ok(errors),
    }
}

/// Returns the body file that a message is about.
fn file(message: &Value) -> Option<String> {
    fn of_span(span: &Value) -> Option<String> {
        let name = span["file_name"].as_str().unwrap_or_default();
        let found = name.split_once("bodies/").map(|(_, file)| file.to_string());
        found.or_else(|| (!span["expansion"].is_null()).then(|| of_span(&span["expansion"]["span"])).flatten())
    }
    let spans = message["spans"].as_array().into_iter().flatten();
    let primary = spans.clone().filter(|span| span["is_primary"] == true);
    let own = primary.chain(spans).find_map(of_span);
    own.or_else(|| message["children"].as_array().into_iter().flatten().find_map(file))
}

/// Runs a program of bodies with limits on time and memory.
pub fn start(program: &Path, seconds: u64, names: &[String]) -> Result<Ended, Failure> {
    let mut command = Command::new("sh");
    command.arg("-c").arg(format!("ulimit -v {MEMORY}; ulimit -c 0; exec \"$0\" \"$@\""));
    command.arg(program).arg(seconds.to_string()).args(names);
    run(command)
}
