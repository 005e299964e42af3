//! The layout of a body's text: random, or one statement per line.

use crate::rng::Rng;

/// Replaces each space by random white space, or by none where two tokens stay separate without it.
pub fn scatter(text: &str, rng: &mut Rng) -> String {
    let chars: Vec<char> = text.trim().chars().collect();
    let mut out = String::new();
    let mut quoted = false;
    for (index, &c) in chars.iter().enumerate() {
        quoted ^= c == '"';
        if c != ' ' || quoted {
            out.push(c);
            continue;
        }
        let apart = out.ends_with(['(', '{', '[', ',', ';', '}'])
            || matches!(chars.get(index + 1), Some(')' | '}' | ']' | '{'));
        match rng.below(20) {
            0..10 => out.push(' '),
            10..14 if apart => {}
            10..16 => out.push('\n'),
            16 => out.push_str("\n        "),
            17 => out.push_str("  "),
            18 if rng.percent(10) => out.push_str(" /* ; */ "),
            19 if rng.percent(10) => out.push_str(" // }\n"),
            _ => out.push(' '),
        }
    }
    out
}

/// Lays the text out with one statement per line.
pub fn lines(text: &str) -> String {
    let chars: Vec<char> = text.trim().chars().collect();
    let mut out = String::new();
    let (mut depth, mut round, mut quoted) = (1usize, 0usize, false);
    let mut rounds = Vec::new();
    for (index, &c) in chars.iter().enumerate() {
        quoted ^= c == '"';
        let next = chars[index + 1..].iter().find(|c| **c != ' ').copied();
        if c == ' ' && (out.ends_with(' ') || out.ends_with('\n')) && !quoted {
            continue;
        }
        if c == '}' && !quoted {
            depth = depth.saturating_sub(1).max(1);
            round = rounds.pop().unwrap_or(0);
            if out.trim_end_matches(' ').ends_with('\n') {
                out.truncate(out.trim_end_matches(' ').len());
                indent(&mut out, depth);
            }
        }
        out.push(c);
        if quoted {
            continue;
        }
        let line = match c {
            '(' | '[' => {
                round += 1;
                false
            }
            ')' | ']' => {
                round = round.saturating_sub(1);
                false
            }
            '{' => {
                depth += 1;
                rounds.push(round);
                round = 0;
                next != Some('}')
            }
            ';' => round == 0,
            '}' => !matches!(next, Some(')' | ']' | ',' | ';' | '.' | '?' | '}' | 'e') | None),
            _ => false,
        };
        if line || (c == '}' && next == Some('}')) {
            out.push('\n');
            indent(&mut out, depth);
        }
    }
    out.lines().map(str::trim_end).filter(|l| !l.is_empty()).collect::<Vec<_>>().join("\n")
}

fn indent(out: &mut String, depth: usize) {
    out.push_str(&"    ".repeat(depth));
}
