//! Groups failures that look alike after shrinking.

use crate::shrink::{Failing, Symptom};

/// Returns one failure of each kind, with the numbers of the bodies that equal it up to names and types.
pub fn of(failures: &[Failing]) -> Vec<(&Failing, Vec<u64>)> {
    let mut skeletons: Vec<String> = Vec::new();
    let mut groups: Vec<(&Failing, Vec<u64>)> = Vec::new();
    for failing in failures {
        let own = skeleton(&failing.body.shown());
        let at = skeletons.iter().zip(&groups).position(|(other, (first, _))| *other == own && alike(first, failing));
        match at {
            Some(at) => groups[at].1.push(failing.body.index),
            None => {
                skeletons.push(own);
                groups.push((failing, Vec::new()));
            }
        }
    }
    groups
}

fn alike(a: &Failing, b: &Failing) -> bool {
    match (&a.symptom, &b.symptom) {
        (Symptom::Refused(_, a), Symptom::Refused(_, b)) => a == b,
        (a, b) => a == b,
    }
}

/// Returns a body without the names of locals and types, numbers and white space.
fn skeleton(text: &str) -> String {
    const KEPT: [&str; 25] = [
        "_", "async", "await", "break", "continue", "else", "false", "for", "if", "in", "let", "loop", "match", "move",
        "mut", "ref", "return", "true", "while", "None", "Some", "Ok", "Err", "join", "unwrap",
    ];
    let mut out = String::new();
    let mut word = String::new();
    for c in text.chars().chain([' ']) {
        if c.is_alphanumeric() || c == '_' {
            word.push(c);
            continue;
        }
        if !word.is_empty() {
            let number = word.starts_with(|c: char| c.is_ascii_digit());
            let kept = KEPT.contains(&word.as_str());
            out.push_str(if kept {
                &word
            } else if number {
                "0"
            } else {
                "x"
            });
            out.push(' ');
            word.clear();
        }
        if !c.is_whitespace() {
            out.push(c);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_types_and_layout_do_not_count() {
        assert_eq!(skeleton("let v1 = D(5);\n  v1"), skeleton("let owner=Owner(7); owner"));
        assert_ne!(skeleton("let _ = D(5);"), skeleton("let x = D(5);"));
    }
}
