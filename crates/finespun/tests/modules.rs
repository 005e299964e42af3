//! The dependencies between the library's modules, as ARCHITECTURE.md states them.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// A module, as the table of modules describes it: its name, and the modules that it imports.
struct Module {
    name: String,
    imports: BTreeSet<String>,
}

/// The table of modules has the columns name, contents, imports; the names are in backquotes.
fn documented() -> Vec<Module> {
    let page = fs::read_to_string(Path::new(ROOT).join("../../ARCHITECTURE.md")).unwrap();
    let page = &page[page.find("## Modules").unwrap()..];
    let names = |cell: &str| cell.split('`').skip(1).step_by(2).map(str::to_owned).collect::<Vec<_>>();
    let row = |line: &str| {
        let cells: Vec<_> = line.strip_prefix("| `")?.split('|').collect();
        let name = cells[0].split('`').next()?.to_owned();
        Some(Module { name, imports: names(cells[2]).into_iter().collect() })
    };
    let modules: Vec<_> = page.lines().take_while(|line| !line.starts_with("## Invariants")).filter_map(row).collect();
    assert_eq!(modules.len(), 23);
    modules
}

fn add_files(files: &mut Vec<PathBuf>, path: &Path) {
    if path.is_dir() {
        fs::read_dir(path).unwrap().for_each(|entry| add_files(files, &entry.unwrap().path()));
    } else if path.exists() && !["tests.rs", "models.rs"].iter().any(|name| path.ends_with(name)) {
        files.push(path.to_owned());
    }
}

/// Returns the code of each file of a module, without its comments and unit tests.
fn code_of(module: &str) -> Vec<(PathBuf, String)> {
    let mut files = Vec::new();
    for path in [format!("src/{module}.rs"), format!("src/{module}")] {
        add_files(&mut files, &Path::new(ROOT).join(path));
    }
    let code = |file: &Path| {
        let text = fs::read_to_string(file).unwrap();
        let code = text.lines().take_while(|line| !(line.starts_with("#[cfg(") && line.contains("test")));
        code.filter(|line| !line.trim_start().starts_with("//")).map(|line| format!("{line}\n")).collect()
    };
    files.into_iter().map(|file| (file.clone(), code(&file))).collect()
}

/// Returns the modules that the code of a file names by `crate::`.
fn imports(file: &Path, code: &str) -> BTreeSet<String> {
    let name = |path: &str| path.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect::<String>();
    let names: BTreeSet<_> = code.split("crate::").skip(1).map(name).collect();
    let facade = names.iter().find(|name| name.starts_with(char::is_uppercase));
    assert_eq!(facade, None, "{}: a name of the facade hides its module", file.display());
    names
}

#[test]
fn the_modules_import_what_the_architecture_says() {
    let documented = documented();
    for module in &documented {
        let mut found: BTreeSet<_> =
            code_of(&module.name).iter().flat_map(|(file, code)| imports(file, code)).collect();
        found.retain(|other| *other != module.name && documented.iter().any(|module| module.name == *other));
        assert_eq!(found, module.imports, "{}", module.name);
    }
}

/// A module imports only modules above it in the table, so that none depends on itself.
#[test]
fn no_module_imports_a_later_one() {
    let documented = documented();
    for (at, module) in documented.iter().enumerate() {
        for other in &module.imports {
            assert!(documented[..at].iter().any(|earlier| earlier.name == *other), "{} imports {other}", module.name);
        }
    }
}

/// Modules add methods to the pointer to the worker's state, which no import shows. None calls one that a later module adds.
#[test]
fn no_module_calls_what_a_later_one_adds_to_the_worker() {
    let code: Vec<_> = documented().iter().map(|module| code_of(&module.name)).collect();
    let mut added = Vec::new();
    for (at, files) in code.iter().enumerate() {
        for block in files.iter().flat_map(|(_, code)| code.split("\nimpl Cx {\n").skip(1)) {
            let block = &block[..block.find("\n}\n").unwrap()];
            let names =
                block.lines().filter_map(|line| line.strip_prefix("    pub(")?.split_once("fn ")?.1.split('(').next());
            added.extend(names.map(|name| (at, format!("cx.{}(", name.split('<').next().unwrap()))));
        }
    }
    assert!(added.len() > 50, "{added:?}");
    for (at, files) in code.iter().enumerate() {
        for (file, code) in files {
            let later = added.iter().find(|(by, call)| *by > at && code.contains(call));
            assert_eq!(later, None, "{}", file.display());
        }
    }
}
