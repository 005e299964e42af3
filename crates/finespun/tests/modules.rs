//! The dependencies between the library's modules, as ARCHITECTURE.md states them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

type Imports = BTreeMap<String, BTreeSet<String>>;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// The table of modules has the columns name, contents, imports; the names are in backquotes.
fn documented() -> Imports {
    let page = fs::read_to_string(Path::new(ROOT).join("../../ARCHITECTURE.md")).unwrap();
    let page = &page[page.find("## Modules").unwrap()..];
    let names = |cell: &str| cell.split('`').skip(1).step_by(2).map(str::to_owned).collect::<Vec<_>>();
    let row = |line: &str| {
        let cells: Vec<_> = line.strip_prefix("| `")?.split('|').collect();
        let name = cells[0].split('`').next()?;
        Some((name.to_owned(), names(cells[2]).into_iter().collect()))
    };
    page.lines().take_while(|line| !line.starts_with("## Invariants")).filter_map(row).collect()
}

/// Adds the modules that the code of a file names by `crate::`, without its comments and unit tests.
fn add_imports(imports: &mut BTreeSet<String>, file: &Path) {
    let text = fs::read_to_string(file).unwrap();
    let code = text.lines().take_while(|line| !(line.starts_with("#[cfg(") && line.contains("test")));
    for line in code.filter(|line| !line.trim_start().starts_with("//")) {
        for path in line.split("crate::").skip(1) {
            let name: String = path.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
            assert!(!name.starts_with(char::is_uppercase), "{}: the facade's {name} hides its module", file.display());
            imports.insert(name);
        }
    }
}

fn walk(imports: &mut BTreeSet<String>, path: &Path) {
    if path.is_dir() {
        fs::read_dir(path).unwrap().for_each(|entry| walk(imports, &entry.unwrap().path()));
    } else if !["tests.rs", "models.rs"].iter().any(|name| path.ends_with(name)) {
        add_imports(imports, path);
    }
}

#[test]
fn the_modules_import_what_the_architecture_says() {
    let documented = documented();
    assert_eq!(documented.len(), 20, "{documented:?}");
    let mut found = Imports::new();
    for name in documented.keys() {
        let mut imports = BTreeSet::new();
        for path in [format!("src/{name}.rs"), format!("src/{name}")] {
            let path = Path::new(ROOT).join(path);
            if path.exists() {
                walk(&mut imports, &path);
            }
        }
        imports.retain(|other| other != name && documented.contains_key(other));
        found.insert(name.clone(), imports);
    }
    assert_eq!(found, documented);
}

/// A module imports only modules above it in the table, so that none depends on itself.
#[test]
fn no_module_imports_a_later_one() {
    let page = fs::read_to_string(Path::new(ROOT).join("../../ARCHITECTURE.md")).unwrap();
    let documented = documented();
    let place = |name: &str| page.find(&format!("\n| `{name}` |")).unwrap();
    for (name, imports) in &documented {
        for other in imports {
            assert!(place(other) < place(name), "{name} imports {other}");
        }
    }
}
