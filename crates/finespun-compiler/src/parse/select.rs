//! `select!`: a race of tasks, and a `match` on its value.
//!
//! ```text
//! select! { Some(n) = numbers.next(), if more => f(n), () = sleep(d) => g() }
//!
//! match select((branch(more, numbers.next(), |value| matches!(value, Some(_))), branch(true, sleep(d), |_| true))).await {
//!     Some(Race2::First(Some(n))) => f(n),
//!     Some(Race2::Second(())) => g(),
//!     _ => panic!(..),
//! }
//! ```

use proc_macro2::{Span, TokenStream};
use quote::quote_spanned;
use syn::parse::{Parse, ParseStream};
use syn::spanned::Spanned;
use syn::visit_mut::{self, VisitMut};
use syn::{Expr, Ident, Macro, Pat, Token, parse_quote, parse_quote_spanned};

/// The variants of `finespun::group::Race8`, by branch. Their number is the maximum of branches.
const VARIANTS: [&str; 8] = ["First", "Second", "Third", "Fourth", "Fifth", "Sixth", "Seventh", "Eighth"];

const SHAPE: &str = "a branch of `select!` is `pattern = task => value`, or `pattern = task, if condition => value`, or `else => value`";

struct Branch {
    pattern: Pat,
    task: Expr,
    condition: Option<Expr>,
    body: Expr,
}

struct Select {
    branches: Vec<Branch>,
    otherwise: Option<Expr>,
}

/// Returns whether the macro is the library's `select!`, which its path says: other libraries have a macro of that name.
pub(super) fn is_select(mac: &Macro) -> bool {
    let others = ["tokio", "futures", "futures_util", "futures_lite", "crossbeam", "crossbeam_channel", "monoio"];
    let segments = &mac.path.segments;
    segments.last().is_some_and(|last| last.ident == "select")
        && (segments.len() == 1 || segments.first().is_some_and(|first| !others.iter().any(|name| first.ident == name)))
}

/// Returns the expression that a `select!` stands for.
pub(super) fn expand(mac: &Macro) -> syn::Result<Expr> {
    let Select { branches, otherwise } = mac.parse_body()?;
    let span = mac.path.span();
    if !(1..=VARIANTS.len()).contains(&branches.len()) {
        let message = format!("`select!` has 1 to {} branches beside `else`, not {}", VARIANTS.len(), branches.len());
        return Err(syn::Error::new(span, message));
    }
    let race = Ident::new(&format!("Race{}", branches.len()), span);
    let mut tasks = TokenStream::new();
    let mut arms = TokenStream::new();
    for (Branch { pattern, task, condition, body }, variant) in branches.into_iter().zip(VARIANTS) {
        let enabled = condition.unwrap_or_else(|| parse_quote!(true));
        let accepts = accepts(&pattern);
        let variant = Ident::new(variant, span);
        tasks.extend(quote_spanned!(span => ::finespun::group::branch(#enabled, #task, #accepts),));
        arms.extend(quote_spanned!(span => ::core::option::Option::Some(::finespun::group::#race::#variant(#pattern)) => #body,));
    }
    let otherwise = otherwise.unwrap_or_else(|| {
        parse_quote_spanned!(span => ::core::panic!("no branch of `select!` is left: all are disabled, or their values match no pattern, and there is no `else`"))
    });
    Ok(parse_quote_spanned!(span => match ::finespun::group::select((#tasks)).await { #arms _ => #otherwise, }))
}

/// Returns a closure that says whether a value matches the pattern.
fn accepts(pattern: &Pat) -> Expr {
    let mut shape = pattern.clone();
    Shape.visit_pat_mut(&mut shape);
    // The library's span: what the user wrote is checked where the value is bound.
    let span = Span::mixed_site().located_at(pattern.span());
    if is_anything(&shape) {
        return parse_quote_spanned!(span => |_| true);
    }
    parse_quote_spanned!(span => |value| match value {
        #[allow(unreachable_patterns)]
        #shape => true,
        #[allow(unreachable_patterns)]
        _ => false,
    })
}

/// Removes the names that a pattern binds: it then matches a reference to the value, and moves nothing.
struct Shape;

impl VisitMut for Shape {
    fn visit_pat_mut(&mut self, pattern: &mut Pat) {
        if let Pat::Ident(binding) = pattern {
            let name = binding.ident.to_string();
            match binding.subpat.take() {
                Some((_, inner)) => *pattern = *inner,
                // A name in capitals may be a constant, or a variant without fields.
                None if binding.by_ref.is_none() && binding.mutability.is_none() && !binds(&name) => return,
                None => {
                    *pattern =
                        Pat::Wild(syn::PatWild { attrs: Vec::new(), underscore_token: Token![_](binding.span()) });
                    return;
                }
            }
            return self.visit_pat_mut(pattern);
        }
        visit_mut::visit_pat_mut(self, pattern);
    }

    fn visit_field_pat_mut(&mut self, field: &mut syn::FieldPat) {
        // `S { x }` becomes `S { x: _ }`.
        field.colon_token.get_or_insert_with(|| Token![:](field.pat.span()));
        visit_mut::visit_field_pat_mut(self, field);
    }
}

fn binds(name: &str) -> bool {
    name.starts_with(|first: char| first.is_lowercase() || first == '_')
}

/// Returns whether the pattern, without its names, matches every value.
fn is_anything(shape: &Pat) -> bool {
    match shape {
        Pat::Wild(_) | Pat::Rest(_) => true,
        Pat::Tuple(tuple) => tuple.elems.iter().all(is_anything),
        Pat::Paren(inner) => is_anything(&inner.pat),
        Pat::Type(typed) => is_anything(&typed.pat),
        Pat::Reference(inner) => is_anything(&inner.pat),
        _ => false,
    }
}

impl Parse for Select {
    fn parse(input: ParseStream) -> syn::Result<Select> {
        let mut select = Select { branches: Vec::new(), otherwise: None };
        // Branches are always called in their order.
        if input.peek(Ident) && input.peek2(Token![;]) {
            let word: Ident = input.parse()?;
            if word != "biased" {
                return Err(syn::Error::new(word.span(), SHAPE));
            }
            input.parse::<Token![;]>()?;
        }
        while !input.is_empty() {
            if input.peek(Token![else]) {
                let token = input.parse::<Token![else]>()?;
                input.parse::<Token![=>]>().map_err(shape)?;
                if select.otherwise.replace(body(input)?).is_some() || !input.is_empty() {
                    return Err(syn::Error::new(token.span, "`else` is the last branch of `select!`"));
                }
                break;
            }
            let pattern = Pat::parse_multi_with_leading_vert(input)?;
            if input.peek(Token![=>]) {
                return Err(input.error(SHAPE));
            }
            input.parse::<Token![=]>().map_err(shape)?;
            let task = input.parse()?;
            let condition = if input.peek(Token![,]) {
                input.parse::<Token![,]>()?;
                input.parse::<Token![if]>().map_err(shape)?;
                Some(input.parse()?)
            } else {
                None
            };
            input.parse::<Token![=>]>().map_err(shape)?;
            let body = body(input)?;
            select.branches.push(Branch { pattern, task, condition, body });
        }
        Ok(select)
    }
}

fn shape(error: syn::Error) -> syn::Error {
    syn::Error::new(error.span(), SHAPE)
}

/// Reads what a branch does, and the comma behind it, which may be missing at the end and behind a block.
fn body(input: ParseStream) -> syn::Result<Expr> {
    let body = Expr::parse_with_earlier_boundary_rule(input)?;
    let is_block = matches!(
        body,
        Expr::Block(_)
            | Expr::Unsafe(_)
            | Expr::If(_)
            | Expr::Match(_)
            | Expr::Loop(_)
            | Expr::While(_)
            | Expr::ForLoop(_)
    );
    if input.peek(Token![,]) || !is_block && !input.is_empty() {
        input.parse::<Token![,]>()?;
    }
    Ok(body)
}
