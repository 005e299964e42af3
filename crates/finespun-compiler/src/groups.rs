//! Fragments of `macro_rules!`: the tokens substituted for `$e` arrive as one group without delimiters.
//!
//! rustc drops such groups when a proc macro returns them (rust-lang/rust#67062), and with them the grouping of
//! operands: `$a * 2` of `1 + 2` would be 5. Therefore the fragments for which grouping matters get parentheses before
//! anything is parsed.

use proc_macro2::{Delimiter, Group, Ident, Punct, Spacing, Span, TokenStream, TokenTree};
use syn::parse::Parser;
use syn::{Expr, MacroDelimiter, Pat, Type, TypeParamBound, parse2, punctuated::Punctuated};

use crate::{macros, scan};

/// Returns the same tokens, with parentheses around the fragments that need them.
pub(crate) fn parenthesised(tokens: TokenStream) -> TokenStream {
    changed(&tokens, true).unwrap_or(tokens)
}

/// Returns the tokens with parentheses, if any must be added: rebuilt tokens are no longer shown as they were written
/// (by `assert!`, which shows its condition).
///
/// `code` says that the tokens are not a macro's argument, in which any token may follow any other.
fn changed(tokens: &TokenStream, code: bool) -> Option<TokenStream> {
    let mut trees = tokens.clone().into_iter().peekable();
    let mut out: Vec<TokenTree> = Vec::new();
    let mut any = false;
    while let Some(tree) = trees.next() {
        let TokenTree::Group(group) = &tree else {
            out.push(tree);
            continue;
        };
        if group.delimiter() == Delimiter::Bracket && is_attribute(&out) {
            out.push(tree);
            continue;
        }
        let called = called(&out).map(Ident::to_string).unwrap_or_default();
        // The macro shows the text of its arguments.
        if macros::is_text(&called) {
            out.push(tree);
            continue;
        }
        let inside = changed(&group.stream(), code && called.is_empty());
        let fragment = group.delimiter() == Delimiter::None;
        let loose = fragment && binds_loosely(&group.stream(), trees.peek());
        let ended = code && fragment && ends_unsaid(&group.stream(), trees.peek());
        // rustc drops the group anyway, and with the group it is not a statement.
        let block = code
            && fragment
            && !loose
            && another_begins(trees.peek())
            && matches!(parse2(group.stream()), Ok(expr) if is_block(&expr));
        if inside.is_none() && !loose && !ended && !block {
            out.push(tree);
            continue;
        }
        any = true;
        if block || ended && !loose {
            out.extend(inside.unwrap_or_else(|| group.stream()));
        } else {
            let delimiter = if loose { Delimiter::Parenthesis } else { group.delimiter() };
            let mut new = Group::new(
                delimiter,
                match inside {
                    Some(inside) if macros::is_condition(&called) => macros::worded(inside, &group.stream()),
                    inside => inside.unwrap_or_else(|| group.stream()),
                },
            );
            // Lints ignore parentheses that the author did not write.
            new.set_span(if loose { Span::mixed_site().located_at(group.span()) } else { group.span() });
            out.push(new.into());
        }
        if ended {
            out.push(Punct::new(';', Spacing::Alone).into());
        }
    }
    any.then(|| out.into_iter().collect())
}

/// Returns the macro whose arguments follow these tokens.
fn called(before: &[TokenTree]) -> Option<&Ident> {
    match before {
        [.., TokenTree::Ident(name), TokenTree::Punct(p)] if p.as_char() == '!' => Some(name),
        _ => None,
    }
}

/// Returns whether another statement or arm begins after a fragment, if the fragment is a whole statement.
fn another_begins(next: Option<&TokenTree>) -> bool {
    match next {
        // These words continue an expression or a pattern.
        Some(TokenTree::Ident(ident)) => {
            !["as", "else", "for", "if", "in", "where"].iter().any(|keyword| ident == keyword)
        }
        // The block of a condition does not begin a statement.
        Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::None => {
            !matches!(group.stream().into_iter().next(), Some(TokenTree::Group(g)) if g.delimiter() == Delimiter::Brace)
        }
        Some(TokenTree::Literal(_)) => true,
        _ => false,
    }
}

/// Returns whether a fragment with these tokens is a statement that ends with the fragment, without a semicolon.
fn ends_unsaid(tokens: &TokenStream, next: Option<&TokenTree>) -> bool {
    if matches!(tokens.clone().into_iter().next(), Some(TokenTree::Ident(first)) if first == "let") {
        let said = matches!(next, Some(TokenTree::Punct(p)) if p.as_char() == ';');
        return !said && !matches!(next, Some(TokenTree::Ident(ident)) if ident == "else");
    }
    if !another_begins(next) {
        return false;
    }
    // Neither a type nor a pattern.
    match parse2(tokens.clone()) {
        Ok(
            Expr::Call(_)
            | Expr::MethodCall(_)
            | Expr::Await(_)
            | Expr::Try(_)
            | Expr::Assign(_)
            | Expr::Macro(_)
            | Expr::Return(_)
            | Expr::Break(_)
            | Expr::Continue(_),
        ) => true,
        Ok(Expr::Binary(binary)) => scan::assigns(&binary.op),
        _ => false,
    }
}

/// Returns whether the expression may be a statement without a semicolon.
fn is_block(expr: &Expr) -> bool {
    match expr {
        Expr::Block(_)
        | Expr::Unsafe(_)
        | Expr::Const(_)
        | Expr::If(_)
        | Expr::Match(_)
        | Expr::Loop(_)
        | Expr::While(_)
        | Expr::ForLoop(_) => true,
        Expr::Macro(mac) => matches!(mac.mac.delimiter, MacroDelimiter::Brace(_)),
        _ => false,
    }
}

/// Returns whether the bracketed tokens after these are an attribute's.
fn is_attribute(before: &[TokenTree]) -> bool {
    let is = |tree: Option<&TokenTree>, wanted| matches!(tree, Some(TokenTree::Punct(p)) if p.as_char() == wanted);
    let last = before.last();
    is(last, '#') || is(last, '!') && is(before.iter().rev().nth(1), '#')
}

/// Returns whether these tokens may change their meaning before the next tokens, or after the preceding ones. They are
/// an expression, a pattern, a type, or none of these.
fn binds_loosely(tokens: &TokenStream, next: Option<&TokenTree>) -> bool {
    if let Ok(expr) = parse2::<Expr>(tokens.clone()) {
        return match expr {
            // Only following tokens can bind closer.
            Expr::Unary(_) | Expr::Reference(_) | Expr::RawAddr(_) => next.is_some_and(is_postfix),
            expr if is_block(&expr) => next.is_some_and(|next| is_postfix(next) || is_operator(next)),
            // `..` alone is the rest of a pattern.
            Expr::Range(range) => range.start.is_some() || range.end.is_some(),
            Expr::Binary(_)
            | Expr::Cast(_)
            | Expr::Closure(_)
            | Expr::Struct(_)
            | Expr::Return(_)
            | Expr::Break(_)
            | Expr::Yield(_) => true,
            _ => false,
        };
    }
    let several = |bounds: &Punctuated<TypeParamBound, _>| bounds.len() > 1;
    match parse2::<Type>(tokens.clone()) {
        Ok(Type::TraitObject(object)) => several(&object.bounds),
        Ok(Type::ImplTrait(bounded)) => several(&bounded.bounds),
        Ok(_) => false,
        // The tokens may be a pattern. A pattern that binds a name does not look like an expression.
        Err(_) => matches!(Pat::parse_multi.parse2(tokens.clone()), Ok(Pat::Or(_))),
    }
}

/// Returns whether this token follows an operand, and binds it closer than any operator before it.
fn is_postfix(next: &TokenTree) -> bool {
    match next {
        TokenTree::Punct(p) => match p.as_char() {
            // Excludes `..`, which is an operator.
            '.' => p.spacing() == Spacing::Alone,
            other => other == '?',
        },
        TokenTree::Group(group) => matches!(group.delimiter(), Delimiter::Parenthesis | Delimiter::Bracket),
        _ => false,
    }
}

fn is_operator(next: &TokenTree) -> bool {
    match next {
        TokenTree::Punct(p) => match p.as_char() {
            ';' | ',' | '#' => false,
            // The end of an arm's pattern is not an operator.
            '=' => p.spacing() == Spacing::Alone,
            _ => true,
        },
        TokenTree::Ident(ident) => ident == "as",
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use std::str::FromStr;

    use super::*;

    /// Returns the tokens with every `[: .. :]`, written as `{ .. }` here, as a fragment.
    fn with_fragments(text: &str) -> TokenStream {
        fn fragments(tokens: TokenStream) -> TokenStream {
            let each = tokens.into_iter().map(|tree| match tree {
                TokenTree::Group(g) if g.delimiter() == Delimiter::Brace => {
                    TokenTree::Group(Group::new(Delimiter::None, fragments(g.stream())))
                }
                TokenTree::Group(g) => TokenTree::Group(Group::new(g.delimiter(), fragments(g.stream()))),
                other => other,
            });
            each.collect()
        }
        fragments(TokenStream::from_str(text).expect("tokens"))
    }

    fn check(fragments: &str, expected: &str) {
        // Returns the tokens as rustc sees them: groups without delimiters are dropped.
        fn flat(tokens: TokenStream) -> TokenStream {
            tokens
                .into_iter()
                .flat_map(|tree| match tree {
                    TokenTree::Group(g) if g.delimiter() == Delimiter::None => flat(g.stream()),
                    TokenTree::Group(g) => TokenTree::Group(Group::new(g.delimiter(), flat(g.stream()))).into(),
                    other => other.into(),
                })
                .collect()
        }
        let expected = TokenStream::from_str(expected).expect("tokens");
        assert_eq!(flat(parenthesised(with_fragments(fragments))).to_string(), expected.to_string(), "{fragments}");
    }

    #[test]
    fn loosely_binding_fragments_get_parentheses() {
        check("{1 + 2} * {x}", "(1 + 2) * x");
        check("{{1 + 2}} * {f(x)}", "(1 + 2) * f(x)");
        check("{-1}.pow(2) + {-1}", "(-1).pow(2) + -1");
        check("&{dyn A + B}", "&(dyn A + B)");
        check("f({&T}, {&x}?, {|x| x})", "f(&T, (&x)?, (|x| x))");
        check("[{..}] [{0..n}]", "[..] [(0..n)]");
        check("vec![{a as u8} < 3]", "vec![(a as u8) < 3]");
        check("#[{doc = 1 + 2}] {{x}}.len()", "#[doc = 1 + 2] x.len()");
        check("{ref x} {Vec<u8>} {A | B} {}", "ref x Vec<u8> (A | B)");
        check("whole @ {S(n @ 4..) | T(n)}", "whole @ (S(n @ 4..) | T(n))");
        check("stringify!({1 + 2} * 2) + {1 + 2}", "stringify!(1 + 2 * 2) + (1 + 2)");
        check(
            "assert!({1 + 2} == x); assert!({1 + 2} == x, text)",
            "assert!((1 + 2) == x, \"assertion failed: 1 + 2 == x\"); assert!((1 + 2) == x, text)",
        );
    }

    #[test]
    fn statements_end_where_their_fragments_do() {
        check("{let x = 3} {f(x)} {x}", "let x = 3; f(x); x");
        check("{let x = 3}; {f(x)}; 3", "let x = 3; f(x); 3");
        check("{f(x)} 3 {x.g().await} let y = 2", "f(x); 3 x.g().await; let y = 2");
        check(
            "match x {Some(y)} if c; for {Some(y)} in {f()} else {A(x)}",
            "match x Some(y) if c; for Some(y) in f() else A(x)",
        );
    }

    #[test]
    fn blocks_get_parentheses_before_operators() {
        let fragment = |text: &str| {
            let block: TokenTree =
                Group::new(Delimiter::None, TokenStream::from_str("loop { }").expect("tokens")).into();
            let more = TokenStream::from_str(text).expect("tokens");
            parenthesised(TokenStream::from(block).into_iter().chain(more).collect()).to_string()
        };
        assert!(fragment(".x").starts_with('('));
        assert!(fragment("+ 1").starts_with('('));
        assert!(!fragment("; x").starts_with('('));
        assert!(!fragment("").starts_with('('));
    }
}
