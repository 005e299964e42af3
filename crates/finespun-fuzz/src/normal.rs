//! Messages without the names of one body, so that equal reasons are counted as one.

/// Replaces the names of locals and all numbers in a message.
pub fn normal(message: &str) -> String {
    let mut out = String::new();
    for (at, piece) in message.split('`').enumerate() {
        if at > 0 {
            out.push('`');
        }
        let quoted = at % 2 == 1;
        if quoted && piece.ends_with('!') {
            // A macro of the body.
            out.extend(piece.chars().filter(|c| !c.is_ascii_digit()));
            continue;
        }
        out.push_str(&if quoted && is_local(piece) { "_".to_string() } else { without_numbers(piece) });
    }
    out
}

/// Returns true for the names of generated locals, and for paths into them.
fn is_local(text: &str) -> bool {
    const ITEMS: [&str; 18] = [
        "D", "Owner", "Held", "Section", "Duo", "Parts", "Point", "Shape", "G", "T", "Send", "Sync", "Copy", "Drop",
        "u64", "bool", "String", "usize",
    ];
    const WORDS: [&str; 12] =
        ["await", "else", "return", "break", "continue", "let", "match", "if", "for", "loop", "move", "async"];
    let name = text.trim_start_matches(['*', '&']);
    let plain = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || "_.#".contains(c));
    plain && !ITEMS.contains(&name) && !WORDS.contains(&name)
}

fn without_numbers(text: &str) -> String {
    let mut out = String::new();
    let mut word = false;
    for c in text.chars() {
        // The code of an error stays.
        if c.is_ascii_digit() && !word {
            if !out.ends_with('0') {
                out.push('0');
            }
            continue;
        }
        word = c.is_alphanumeric() || c == '_';
        out.push(c);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_numbers_do_not_count() {
        assert_eq!(normal("E0382: use of moved value: `v12.0`"), "E0382: use of moved value: `_`");
        assert_eq!(normal("an await inside `vec!`: bind"), "an await inside `vec!`: bind");
        assert_eq!(normal("expected `Option<D>`, found `N` 17 times"), "expected `Option<D>`, found `_` 0 times");
        assert_eq!(normal("`Section` is not `Send`"), "`Section` is not `Send`");
    }
}
