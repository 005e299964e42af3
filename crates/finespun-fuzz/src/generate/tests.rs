//! Tests the generator's guarantees: the same bodies each time, in every form of the grammar.

use super::*;

#[test]
fn number_and_seed_decide_the_body() {
    for index in 0..200 {
        assert_eq!(body(11, index), body(11, index));
        assert_eq!(body(11, index).shown(), body(11, index).shown());
    }
    assert_ne!(body(11, 0).shown(), body(12, 0).shown());
    assert_ne!(body(11, 0).shown(), body(11, 1).shown());
}

#[test]
fn layout_does_not_change_the_tokens() {
    for index in 0..200 {
        let mut body = body(13, index);
        let tokens = |body: &Body| {
            let stream: proc_macro2::TokenStream = body.marked().parse().expect("tokens");
            stream.to_string().replace(' ', "")
        };
        let random = tokens(&body);
        body.layout = Layout::Lines;
        assert_eq!(random, tokens(&body), "body {index}");
    }
}

#[test]
fn bodies_have_one_await_to_many() {
    let awaits = |body: Body| body.block().matches("await").count();
    let counts: Vec<usize> = (0..300).map(|index| awaits(body(14, index))).collect();
    assert!(counts.iter().filter(|count| **count > 0).count() > 250);
    assert!(counts.iter().any(|count| *count > 5));
}

#[test]
fn all_of_the_grammar_appears() {
    let mut text = String::new();
    for index in 0..3000 {
        let mut body = body(15, index);
        body.layout = Layout::Lines;
        text += &body.shown().split_whitespace().collect::<Vec<_>>().join(" ");
        text.push('\n');
    }
    let wanted = [
        "else { return",
        "else { break",
        "else { continue",
        "if let",
        "while let",
        "&& let",
        "else if let",
        "loop {",
        "for _ in",
        "for (_,",
        "for mut",
        "in new_row(",
        ".into_iter().rev()",
        ".iter_mut()",
        "break 'l",
        "break 'b",
        "continue 'l",
        "break;",
        "break }",
        "continue }",
        "return leaf(",
        ".await }",
        "=> return",
        "=> break",
        ".await?",
        ")?",
        "'b",
        "ref mut",
        "ref ",
        " @ ",
        "1..=3",
        "LOW..=HIGH",
        "LOW",
        "| Err(",
        "Shape::One(_) | Shape::Empty",
        "&D(",
        "[_, ..",
        "[..,",
        "Parts { y:",
        "..new_parts",
        "D(mut",
        "Section(",
        "Owner { k:",
        "inner:",
        "(.., ",
        "let mut N",
        "let K",
        "let (",
        "_ = ",
        "let _ =",
        "&mut *",
        "&*",
        "move ||",
        "|| {",
        "|x: u64|",
        "join!(",
        "format!(",
        "vec![",
        "assert!(",
        "matches!(",
        "const C",
        "fn twice",
        "struct W",
        "use std",
        "macro_rules!",
        "+= ",
        "^= ",
        "std::mem::replace(&mut",
        ".take()",
        ".unwrap()",
        "panic!(",
        "fall(t,",
        "alter(&mut",
        "look(&",
        ".peek().await",
        ".spend().await",
        "enter(t,",
        "let made",
        "for w",
        "(_, ",
        "Box::new(",
        "*Box::new(",
        "r#gen",
        "join!(leaf(",
        "once(move || see(&",
        "once(|| {",
        "once(move || matches!(",
        "once(move || { let _ =",
        "once(|| format!(",
        "let u1; (_, u1) =",
        "Parts { y: u1, .. } =",
        "D(u1, _) =",
        "&[",
        "[n as usize % 2]",
        "xs",
    ];
    let mut missing: Vec<&str> = wanted.into_iter().filter(|words| !text.contains(words)).collect();
    let closed_by = |c: char| move |rest: &str| rest.find(c);
    let awaits = |begin: &str, end: &dyn Fn(&str) -> Option<usize>| {
        text.match_indices(begin).any(|(at, _)| {
            let rest = &text[at + begin.len()..];
            end(rest).is_some_and(|end| rest[..end].contains(".await"))
        })
    };
    for (begin, close) in [("format!(", ')'), ("assert!(", ')'), ("matches!(", ')'), ("vec![", ']')] {
        let open = begin.chars().last().expect("not empty");
        if !awaits(begin, &|rest| matching(rest, open, close)) {
            missing.push(begin);
        }
    }
    if !awaits("&& let ", &closed_by('{')) {
        missing.push("&& let .. await");
    }
    let guard = |rest: &str| rest.find(" => ").filter(|end| !rest[..*end].contains(['{', '}', ';']));
    if !awaits(" if ", &guard) {
        missing.push("if .. await =>");
    }
    assert!(missing.is_empty(), "never generated: {missing:?}");
}

/// Returns the index of the bracket that closes the one opened before the text.
fn matching(text: &str, open: char, close: char) -> Option<usize> {
    let mut depth = 1;
    text.char_indices().find_map(|(at, c)| {
        depth += usize::from(c == open);
        depth -= usize::from(c == close);
        (depth == 0).then_some(at)
    })
}
