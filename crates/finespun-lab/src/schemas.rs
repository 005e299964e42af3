//! `finespun schemas`: how the tasks of a program are compiled, and why some are pinned.

use std::fs;
use std::path::{Path, PathBuf};

use finespun_compiler::{Listed, listed};

use crate::args::Schemas;
use crate::failure::Failure;
use crate::show;

/// Carries out `finespun schemas`.
///
/// # Errors
///
/// If a path cannot be read, a file is not Rust, a task in it is rejected, or the standard output cannot be written.
pub fn schemas(options: &Schemas) -> Result<(), Failure> {
    let mut files = Vec::new();
    for path in &options.paths {
        find(path, &mut files)?;
    }
    let mut text = String::new();
    let mut all = Vec::new();
    for path in &files {
        let source = fs::read_to_string(path).map_err(|error| refused(path, &error))?;
        let tasks = listed(&source).map_err(|error| {
            let line = error.span().start().line;
            Failure::Source { path: path.clone(), problem: format!("line {line}: {error}") }
        })?;
        for task in &tasks {
            if task.reason.is_some() || !options.pinned {
                text += &line(path, task);
            }
        }
        all.extend(tasks);
    }
    text += &summary(&all);
    show::print(&text)
}

fn refused(path: &Path, error: &std::io::Error) -> Failure {
    Failure::Source {
        path: path.to_owned(),
        problem: format!("cannot be read ({error}): name a Rust file or a folder"),
    }
}

/// Finds the Rust files at a path, in order of their names, without those that cargo writes.
fn find(path: &Path, files: &mut Vec<PathBuf>) -> Result<(), Failure> {
    if !fs::metadata(path).map_err(|error| refused(path, &error))?.is_dir() {
        files.push(path.to_owned());
        return Ok(());
    }
    let entries = fs::read_dir(path).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let mut entries: Vec<PathBuf> =
        entries.map_err(|error| refused(path, &error))?.into_iter().map(|entry| entry.path()).collect();
    entries.sort();
    for entry in entries {
        let hidden = entry.file_name().is_some_and(|name| name == "target" || name.to_string_lossy().starts_with('.'));
        let rust = entry.extension().is_some_and(|extension| extension == "rs");
        if !hidden && (rust || entry.is_dir()) {
            find(&entry, files)?;
        }
    }
    Ok(())
}

/// Describes a task: its place, name and schema, and the reason for it.
fn line(path: &Path, task: &Listed) -> String {
    let path = path.display();
    let mut text = format!("{path}:{}: {}: {}\n", task.line, task.name, task.schema);
    if let Some(reason) = &task.reason {
        let (what, cure) = reason.text.split_once(": ").unwrap_or((&reason.text, ""));
        text += &format!("    {path}:{}: {what}\n        cure: {cure}\n", reason.line);
    }
    text
}

/// Counts the schemas.
fn summary(tasks: &[Listed]) -> String {
    let count = |wanted: fn(&Listed) -> bool| tasks.iter().filter(|task| wanted(task)).count();
    let pinned = count(|task| task.schema.ends_with("pinned"));
    let parts = count(|task| task.schema.ends_with("with a pinned part"));
    let asked = count(|task| task.schema == "pinned, as asked for");
    let word = if tasks.len() == 1 { "task" } else { "tasks" };
    format!("{} {word}: {pinned} pinned, {asked} pinned as asked for, {parts} with a pinned part\n", tasks.len())
}
