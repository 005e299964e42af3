//! Tests that rustc's time for a body grows in proportion to its awaits.

#![cfg(target_os = "linux")]

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

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

/// Returns the user processor time of the children that have ended, in ticks.
fn ticks() -> u64 {
    let stat = std::fs::read_to_string("/proc/self/stat").expect("proc");
    // The name of the program stands in parentheses; the fields after it begin with the third.
    let fields = stat.rsplit(')').next().expect("fields");
    fields.split_whitespace().nth(13).and_then(|ticks| ticks.parse().ok()).expect("the time of the children")
}

/// Returns the least time of several runs of rustc over a crate.
fn time(form: Form, awaits: usize) -> u64 {
    let test = std::env::current_exe().expect("this test's file");
    let deps = test.parent().expect("a folder");
    let out = std::env::temp_dir().join(format!("finespun-growth-{}-{form:?}-{awaits}", std::process::id()));
    std::fs::create_dir_all(&out).expect("a folder");
    let file = out.join("body.rs");
    std::fs::write(&file, body(form, awaits)).expect("a file");
    let runs = (0..4).map(|_| {
        let before = ticks();
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
        ticks() - before
    });
    let least = runs.min().expect("runs");
    std::fs::remove_dir_all(&out).expect("the folder");
    least
}

#[test]
fn twice_the_awaits_take_about_twice_the_time() {
    // rustc's borrow checker takes most of what exceeds 2, with the locals that stay alive across each await.
    for (form, limit) in [(Form::Questions, 2.5), (Form::Returns, 3.5)] {
        let [none, forty, eighty] = [0, 40, 80].map(|awaits| time(form, awaits));
        let ratio = (eighty - none) as f64 / (forty - none) as f64;
        assert!(
            ratio < limit,
            "{form:?}: 80 awaits take {ratio:.2} times as long as 40: {eighty}, {forty}, {none} ticks"
        );
    }
}
