//! What the compiler of tasks refuses, with the place and the cure, and what it must not complain about.
//!
//! `TRYBUILD=overwrite cargo test -p finespun-macros --test ui` writes the expected messages anew.

#[test]
fn messages() {
    let cases = trybuild::TestCases::new();
    cases.pass("tests/ui/pass_*.rs");
    for name in [
        "arguments",
        "awaits",
        "closures",
        "closures_twice",
        "escape",
        "forge",
        "forge_parts",
        "groups",
        "guessed_macro",
        "join",
        "many",
        "objects",
        "references",
        "signature",
        "single_in_implementation",
        "single_in_trait",
        "stack_borrows",
        "stack_drops",
        "stack_shapes",
        "threads",
        "types",
    ] {
        cases.compile_fail(format!("tests/ui/{name}.rs"));
    }
}
