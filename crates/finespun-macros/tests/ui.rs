//! Tests the code that the task compiler rejects, with location and cure, and the code that must compile without
//! warnings.
//!
//! `TRYBUILD=overwrite cargo test -p finespun-macros --test ui` rewrites the expected messages.

#[test]
fn expected_errors_are_reported() {
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
        "portable",
        "references",
        "signature",
        "single_in_implementation",
        "single_in_trait",
        "stack_borrows",
        "stack_drops",
        "stack_shapes",
        "threads",
        "threads_portable",
        "types",
    ] {
        cases.compile_fail(format!("tests/ui/{name}.rs"));
    }
}
