//! Fragments of `macro_rules!`: what stood for `$e` comes as one group without delimiters.
//!
//! rustc drops such groups where a proc macro gives them back (rust-lang/rust#67062), and with them what binds to what:
//! `$a * 2` of `1 + 2` would be 5. So those for which it matters get parentheses, before anything is parsed.

use proc_macro2::{Delimiter, Group, Spacing, TokenStream, TokenTree};
use syn::{Expr, Type, TypeParamBound, punctuated::Punctuated};

/// The same tokens, with parentheses around the fragments that need them.
pub(crate) fn parenthesised(tokens: TokenStream) -> TokenStream {
    changed(&tokens).unwrap_or(tokens)
}

/// The tokens with parentheses, if there are any to be added: what is taken apart is not shown as it was written any more
/// (by `assert!`, which shows its condition).
fn changed(tokens: &TokenStream) -> Option<TokenStream> {
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
        let inside = changed(&group.stream());
        let loose = group.delimiter() == Delimiter::None && binds_loosely(&group.stream(), trees.peek());
        if inside.is_none() && !loose {
            out.push(tree);
            continue;
        }
        any = true;
        let delimiter = if loose { Delimiter::Parenthesis } else { group.delimiter() };
        let mut new = Group::new(delimiter, inside.unwrap_or_else(|| group.stream()));
        new.set_span(group.span());
        out.push(new.into());
    }
    any.then(|| out.into_iter().collect())
}

/// Is what follows these tokens, in brackets, an attribute's?
fn is_attribute(before: &[TokenTree]) -> bool {
    let is = |tree: Option<&TokenTree>, wanted| matches!(tree, Some(TokenTree::Punct(p)) if p.as_char() == wanted);
    let last = before.last();
    is(last, '#') || is(last, '!') && is(before.iter().rev().nth(1), '#')
}

/// May these tokens mean something else if they stand before what follows, or behind what precedes them? They are an
/// expression, a pattern, a type, or something that is none of these.
fn binds_loosely(tokens: &TokenStream, next: Option<&TokenTree>) -> bool {
    if let Ok(expr) = syn::parse2::<Expr>(tokens.clone()) {
        return match expr {
            // Nothing but what follows binds closer.
            Expr::Unary(_) | Expr::Reference(_) | Expr::RawAddr(_) => next.is_some_and(is_postfix),
            Expr::Block(_)
            | Expr::Unsafe(_)
            | Expr::Const(_)
            | Expr::If(_)
            | Expr::Match(_)
            | Expr::Loop(_)
            | Expr::While(_)
            | Expr::ForLoop(_) => next.is_some_and(|next| is_postfix(next) || is_operator(next)),
            // The rest of a pattern.
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
    match syn::parse2::<Type>(tokens.clone()) {
        Ok(Type::TraitObject(object)) => several(&object.bounds),
        Ok(Type::ImplTrait(bounded)) => several(&bounded.bounds),
        _ => false,
    }
}

/// Does this follow an operand, and bind it closer than any operator before it?
fn is_postfix(next: &TokenTree) -> bool {
    match next {
        TokenTree::Punct(p) => match p.as_char() {
            // Not `..`, which is an operator.
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
            // The end of an arm's pattern is none.
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

    /// The tokens with every `[: .. :]`, written as `{ .. }` here, as a fragment.
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
        // As rustc sees it: groups without delimiters are dropped.
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
    fn what_binds_loosely_gets_parentheses() {
        check("{1 + 2} * {x}", "(1 + 2) * x");
        check("{{1 + 2}} * {f(x)}", "(1 + 2) * f(x)");
        check("{-1}.pow(2) + {-1}", "(-1).pow(2) + -1");
        check("&{dyn A + B}", "&(dyn A + B)");
        check("f({&T}, {&x}?, {|x| x})", "f(&T, (&x)?, (|x| x))");
        check("[{..}] [{0..n}]", "[..] [(0..n)]");
        check("vec![{a as u8} < 3]", "vec![(a as u8) < 3]");
        check("#[{doc = 1 + 2}] {{x}}.len()", "#[doc = 1 + 2] x.len()");
        check("{ref x} {Vec<u8>} {A | B} {}", "ref x Vec<u8> (A | B)");
    }

    #[test]
    fn blocks_get_them_before_operators() {
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
