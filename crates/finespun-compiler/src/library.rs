//! The name under which generated code finds the library.
//!
//! Generated code names `::finespun`. A dependency may have another name, which the macro's caller finds out or the
//! user specifies: `#[task(crate = fs)]`.

use proc_macro2::{Group, Ident, Spacing, TokenStream, TokenTree};
use quote::ToTokens;
use syn::parse::{ParseStream, Parser};
use syn::{Path, Token};

/// Extracts `crate = path` from the arguments of an attribute, and returns the path and the other arguments.
pub(crate) fn given(arguments: TokenStream) -> syn::Result<(Option<Path>, TokenStream)> {
    let parser = |input: ParseStream| {
        let mut path = None;
        let mut others = TokenStream::new();
        while !input.is_empty() {
            if input.peek(Token![crate]) && input.peek2(Token![=]) {
                input.parse::<Token![crate]>()?;
                input.parse::<Token![=]>()?;
                path = Some(input.call(Path::parse_mod_style)?);
            } else {
                others.extend([input.parse::<TokenTree>()?]);
                continue;
            }
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        Ok((path, others))
    };
    let (path, others) = parser.parse2(arguments)?;
    if path.is_none() {
        return Ok((None, others));
    }
    // The arguments before the path end with the separating comma.
    let mut others: Vec<TokenTree> = others.into_iter().collect();
    others.pop_if(|last| matches!(last, TokenTree::Punct(p) if p.as_char() == ','));
    Ok((path, others.into_iter().collect()))
}

/// Replaces `::finespun` by `path` in the tokens.
pub fn renamed(tokens: TokenStream, path: &Path) -> TokenStream {
    let leading = path.leading_colon.is_none() && path.segments.len() == 1 && path.segments[0].ident != "crate";
    let path = if leading { quote::quote!(::#path) } else { path.to_token_stream() };
    write(tokens, &path)
}

fn write(tokens: TokenStream, path: &TokenStream) -> TokenStream {
    let colon = |tree: Option<&TokenTree>, spacing| matches!(tree, Some(TokenTree::Punct(p)) if p.as_char() == ':' && p.spacing() == spacing);
    let mut out: Vec<TokenTree> = Vec::new();
    for tree in tokens {
        match tree {
            TokenTree::Group(group) => {
                let mut inner = Group::new(group.delimiter(), write(group.stream(), path));
                inner.set_span(group.span());
                out.push(TokenTree::Group(inner));
            }
            TokenTree::Ident(name) if name == "finespun" && root(&out, &colon) => {
                out.truncate(out.len() - 2);
                out.extend(respanned(path.clone(), &name));
            }
            other => out.push(other),
        }
    }
    out.into_iter().collect()
}

/// Returns whether the tokens end in a `::` that begins a path.
fn root(before: &[TokenTree], colon: &dyn Fn(Option<&TokenTree>, Spacing) -> bool) -> bool {
    let mut back = before.iter().rev();
    if !colon(back.next(), Spacing::Alone) || !colon(back.next(), Spacing::Joint) {
        return false;
    }
    match back.next() {
        // A lifetime or a keyword.
        Some(TokenTree::Ident(name)) => {
            keyword(name) || matches!(back.next(), Some(TokenTree::Punct(p)) if p.as_char() == '\'')
        }
        _ => true,
    }
}

/// Returns whether a path may follow this word.
fn keyword(name: &Ident) -> bool {
    [
        "as", "break", "else", "for", "if", "impl", "in", "match", "move", "mut", "return", "use", "where", "while",
        "dyn", "let",
    ]
    .iter()
    .any(|word| name == word)
}

fn respanned(path: TokenStream, place: &Ident) -> impl Iterator<Item = TokenTree> {
    let span = place.span();
    path.into_iter().map(move |mut tree| {
        tree.set_span(tree.span().located_at(span));
        tree
    })
}

#[cfg(test)]
mod tests {
    use quote::quote;

    use super::*;

    fn written(tokens: TokenStream, path: &str) -> String {
        renamed(tokens, &syn::parse_str(path).unwrap()).to_string()
    }

    #[test]
    fn paths_from_the_root_are_renamed() {
        let tokens = quote!(
            fn f(x: &'static ::finespun::A) -> impl ::finespun::B {
                x::finespun::c(finespun)
            }
        );
        let expected = quote!(
            fn f(x: &'static ::fs::A) -> impl ::fs::B {
                x::finespun::c(finespun)
            }
        );
        assert_eq!(written(tokens, "fs"), expected.to_string());
        let expected = quote!(as crate::re::finespun::A);
        assert_eq!(written(quote!(as ::finespun::A), "crate::re::finespun"), expected.to_string());
    }

    #[test]
    fn crate_path_is_extracted_from_the_arguments() {
        for (given_arguments, others) in [
            (quote!(crate = fs), quote!()),
            (quote!(pinned, crate = fs), quote!(pinned)),
            (quote!(stack), quote!(stack)),
        ] {
            let (path, rest) = given(given_arguments).unwrap();
            assert_eq!(rest.to_string(), others.to_string());
            assert_eq!(path.is_some(), others.to_string() != "stack");
        }
    }
}
