//! Tests the code that the task compiler rejects, with location and cure, and the code that must compile without
//! warnings.
//!
//! A case says how its errors are cured: the comment `// cure "WORDS": LINE` replaces the line above it by `LINE`, as the
//! words in the expected message say. The cured program must compile.
//!
//! `TRYBUILD=overwrite cargo test -p finespun-macros --test ui` rewrites the expected messages.

use std::fs;
use std::path::Path;

/// The rejected programs.
const REJECTED: &[&str] = &[
    "arguments",
    "async_blocks",
    "awaits",
    "closures",
    "closures_twice",
    "entry",
    "errors",
    "escape",
    "forge",
    "forge_parts",
    "groups",
    "guessed_macro",
    "join",
    "lends",
    "many",
    "moves",
    "objects",
    "outside",
    "portable",
    "references",
    "scope",
    "select",
    "signature",
    "single_in_implementation",
    "single_in_trait",
    "stack_borrows",
    "stack_drops",
    "stack_shapes",
    "threads",
    "threads_portable",
    "types",
    "unmarked",
    "unused",
];

/// Returns a file of the cases.
fn read(name: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/ui").join(name)).unwrap()
}

/// Returns the program `name` with its cures applied, and the words of its cures.
fn cured(name: &str) -> (String, Vec<String>) {
    let (mut lines, mut cures) = (Vec::new(), Vec::new());
    for line in read(&format!("{name}.rs")).lines() {
        let Some(cure) = line.trim_start().strip_prefix("// cure \"") else {
            lines.push(line.to_owned());
            continue;
        };
        let (words, code) = cure.split_once("\": ").expect("`// cure \"WORDS\": LINE`");
        cures.push(words.to_owned());
        *lines.last_mut().expect("a cure follows its line") = code.to_owned();
    }
    (lines.join("\n"), cures)
}

#[test]
fn messages_contain_the_words_of_their_cures() {
    for name in REJECTED {
        let messages = read(&format!("{name}.stderr"));
        for words in cured(name).1 {
            assert!(messages.contains(&words), "{name}.stderr does not contain {words:?}");
        }
    }
}

#[test]
fn expected_errors_are_reported_and_cured() {
    let cases = trybuild::TestCases::new();
    cases.pass("tests/ui/pass_*.rs");
    for name in REJECTED {
        cases.compile_fail(format!("tests/ui/{name}.rs"));
        let (program, cures) = cured(name);
        if !cures.is_empty() {
            let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("cured_{name}.rs"));
            fs::write(&file, program).unwrap();
            cases.pass(file);
        }
    }
}
