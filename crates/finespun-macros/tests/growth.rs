//! Tests that rustc's time for a body grows in proportion to its awaits.

#![cfg(target_os = "linux")]

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;

/// The statements of a body.
#[derive(Clone, Copy, Debug)]
enum Form {
    /// Each awaits and binds a new local, and may return it.
    Returns,
    /// Each awaits a result, and returns an error.
    Questions,
}

/// Returns a crate with a body of straight-line awaits.
fn body(form: Form, awaits: usize) -> String {
    let mut text = String::from(
        "use finespun::task;
        #[task] pub async fn call(n: u64) -> u64 { if n > 3 { n } else { call(n + 1).await + 1 } }
        #[task] pub async fn checked(n: u64) -> Result<u64, u64> { if n > 3 { Err(n) } else { checked(n + 1).await } }",
    );
    text += match form {
        Form::Returns => "#[task] pub async fn body(end: u64) -> u64 {",
        Form::Questions => "#[task] pub async fn body(end: u64) -> Result<u64, u64> { let mut end = end;",
    };
    for n in 0..awaits {
        match form {
            Form::Returns => write!(text, "let x{n} = call({n}).await; if x{n} == end {{ return x{n}; }}"),
            Form::Questions => write!(text, "end += checked({n}).await?;"),
        }
        .expect("a string grows");
    }
    text + match form {
        Form::Returns => "end }",
        Form::Questions => "Ok(end) }",
    }
}

/// Returns the newest compiled library of this name among the dependencies of this test.
fn library(folder: &Path, name: &str) -> PathBuf {
    let files = std::fs::read_dir(folder).expect("the folder of dependencies").map(|file| file.expect("a file").path());
    let wanted = |path: &PathBuf| {
        let file = path.file_name().expect("a name").to_string_lossy();
        file.starts_with(&format!("lib{name}-")) && file.ends_with(".rlib")
    };
    let time = |path: &PathBuf| path.metadata().and_then(|data| data.modified()).expect("a time");
    files.filter(wanted).max_by_key(time).expect("the library is compiled before its tests")
}

/// Returns the user processor time of the children that have ended, in microseconds.
fn children() -> i64 {
    getrusage(UsageWho::RUSAGE_CHILDREN).expect("the times of the children").user_time().num_microseconds()
}

/// Returns the user processor time of rustc over a crate, in microseconds.
fn time(form: Form, awaits: usize) -> i64 {
    let test = std::env::current_exe().expect("this test's file");
    let deps = test.parent().expect("a folder");
    let out = std::env::temp_dir().join(format!("finespun-growth-{}-{form:?}-{awaits}", std::process::id()));
    std::fs::create_dir_all(&out).expect("a folder");
    let file = out.join("body.rs");
    std::fs::write(&file, body(form, awaits)).expect("a file");
    let before = children();
    let compiled = Command::new(std::env::var_os("RUSTC").unwrap_or("rustc".into()))
        .args(["--edition", "2024", "--crate-type", "lib", "--emit", "link", "-C", "embed-bitcode=no"])
        .arg("-L")
        .arg(format!("dependency={}", deps.display()))
        .arg("--extern")
        .arg(format!("finespun={}", library(deps, "finespun").display()))
        .arg("--out-dir")
        .arg(&out)
        .arg(&file)
        .output()
        .expect("rustc runs");
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    let time = children() - before;
    std::fs::remove_dir_all(&out).expect("the folder");
    time
}

/// How often each time is taken in a round.
const TIMES: usize = 3;
/// Rounds: other programs make times longer, never shorter, so the least times of more rounds are nearer to the truth.
const ROUNDS: usize = 6;

#[test]
fn twice_the_awaits_take_about_twice_the_time() {
    // rustc's borrow checker takes most of what exceeds 2, with the locals that stay alive across each await.
    for (form, limit) in [(Form::Questions, 2.5), (Form::Returns, 3.5)] {
        let mut least = [i64::MAX; 3];
        let mut text = String::new();
        let grows_slowly = (0..ROUNDS).any(|_| {
            for _ in 0..TIMES {
                for (least, awaits) in least.iter_mut().zip([0, 40, 80]) {
                    *least = time(form, awaits).min(*least);
                }
            }
            let [none, forty, eighty] = least;
            let ratio = (eighty - none) as f64 / (forty - none) as f64;
            text = format!("{form:?}: 80 awaits take {ratio:.2} times as long as 40: {eighty}, {forty}, {none} us");
            println!("{text}");
            ratio < limit
        });
        assert!(grows_slowly, "{text}");
    }
}
