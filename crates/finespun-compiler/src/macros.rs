//! Macros of std whose arguments are expressions.
//!
//! Names inside any other macro are opaque, which is a reason against the stack schema. Inline captures of format
//! strings become named arguments, so that all later passes see ordinary expressions.

use proc_macro2::{Group, Punct, Spacing, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::visit_mut::VisitMut;
use syn::{Expr, Ident, LitStr, Macro, Pat, Token};

/// The way in which a macro uses its arguments.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Style {
    /// By reference: the arguments of formatting macros.
    Format,
    /// The first argument by value, the rest as formatting: `assert!`.
    Condition,
    /// Two by reference, the rest as formatting: `assert_eq!`.
    Compare,
    /// By value: `vec!`, `dbg!`.
    Value,
    /// An expression against a pattern: `matches!`.
    Matches,
    /// No names inside: `line!`, `concat!`.
    None,
}

/// Returns whether a macro of this name shows its arguments as text, and evaluates none.
pub(crate) fn is_text(name: &str) -> bool {
    named_style(name) == Some(Style::None)
}

/// Returns whether a macro of this name shows its first argument, if that is the only one.
pub(crate) fn is_condition(name: &str) -> bool {
    named_style(name) == Some(Style::Condition)
}

/// Returns the style of a macro, if it is a known macro of std.
pub(crate) fn style(mac: &Macro) -> Option<Style> {
    named_style(&name(mac)?)
}

fn named_style(name: &str) -> Option<Style> {
    Some(match name {
        "println" | "print" | "eprintln" | "eprint" | "format" | "panic" | "unreachable" | "todo" | "unimplemented"
        | "write" | "writeln" | "format_args" => Style::Format,
        "assert" | "debug_assert" => Style::Condition,
        "assert_eq" | "assert_ne" | "debug_assert_eq" | "debug_assert_ne" => Style::Compare,
        "vec" | "dbg" => Style::Value,
        "matches" => Style::Matches,
        "concat" | "stringify" | "line" | "file" | "column" | "env" | "option_env" | "module_path" | "include_str"
        | "include_bytes" | "cfg" => Style::None,
        _ => return None,
    })
}

/// Returns whether this macro never returns.
pub(crate) fn diverges(mac: &Macro) -> bool {
    name(mac).is_some_and(|name| ["panic", "unreachable", "todo", "unimplemented"].contains(&name.as_str()))
}

/// Returns whether this macro's value borrows its formatted arguments, or may have a destructor while they are
/// borrowed.
pub(crate) fn writes(mac: &Macro) -> bool {
    name(mac).is_some_and(|name| ["write", "writeln", "format_args"].contains(&name.as_str()))
}

/// Returns the name of a macro that may be std's: without a path, or with std's path. (For a name without a path, rustc
/// checks that it is std's: see `emit::checks`.)
fn name(mac: &Macro) -> Option<String> {
    let mut path = mac.path.segments.iter().rev().map(|segment| segment.ident.to_string());
    let (name, of) = (path.next()?, path.next());
    let std = of.is_none_or(|of| ["std", "core", "alloc"].contains(&of.as_str()));
    (std && path.next().is_none()).then_some(name)
}

/// One argument: `name = expr` or `expr`.
pub(crate) struct Argument {
    pub(crate) name: Option<Ident>,
    pub(crate) expr: Expr,
}

impl Parse for Argument {
    fn parse(input: ParseStream) -> syn::Result<Self> {
        // A keyword is possible, too: `{type}` captures `r#type`.
        let named = input.peek(Ident::peek_any) && input.peek2(Token![=]) && !input.peek2(Token![==]);
        let name = if named {
            let name = input.call(Ident::parse_any)?;
            input.parse::<Token![=]>()?;
            Some(name)
        } else {
            None
        };
        Ok(Argument { name, expr: input.parse()? })
    }
}

impl ToTokens for Argument {
    fn to_tokens(&self, out: &mut TokenStream) {
        if let Some(name) = &self.name {
            out.extend(quote!(#name =));
        }
        self.expr.to_tokens(out);
    }
}

/// The arguments of a known macro.
pub(crate) enum Arguments {
    List(Punctuated<Argument, Token![,]>),
    Repeat(Box<Expr>, Box<Expr>),
    Matches(Box<Expr>, Box<Pat>, Option<Box<Expr>>),
    None,
}

/// Parses the arguments; `None` if the macro is unknown.
pub(crate) fn parse(mac: &Macro) -> Option<(Style, Arguments)> {
    let style = style(mac)?;
    let arguments = match style {
        Style::None => Arguments::None,
        Style::Matches => {
            let parser = |input: ParseStream| {
                let expr = input.parse()?;
                input.parse::<Token![,]>()?;
                let mut pat = Pat::parse_multi_with_leading_vert(input)?;
                let mut guard = None;
                if let Pat::Guard(g) = pat {
                    guard = Some(g.guard);
                    pat = *g.pat;
                } else if input.parse::<Option<Token![if]>>()?.is_some() {
                    guard = Some(Box::new(input.parse()?));
                }
                input.parse::<Option<Token![,]>>()?;
                Ok(Arguments::Matches(Box::new(expr), Box::new(pat), guard))
            };
            parser.parse2(mac.tokens.clone()).ok()?
        }
        _ => {
            let repeat = |input: ParseStream| {
                let value: Expr = input.parse()?;
                input.parse::<Token![;]>()?;
                Ok(Arguments::Repeat(Box::new(value), Box::new(input.parse()?)))
            };
            if name(mac)? == "vec"
                && let Ok(found) = repeat.parse2(mac.tokens.clone())
            {
                return Some((style, found));
            }
            let list = Punctuated::parse_terminated.parse2(mac.tokens.clone()).ok()?;
            Arguments::List(list)
        }
    };
    Some((style, arguments))
}

/// Returns the expressions among the arguments.
pub(crate) fn expressions(arguments: &Arguments) -> Vec<&Expr> {
    match arguments {
        Arguments::List(list) => list.iter().map(|a| &a.expr).collect(),
        Arguments::Repeat(value, len) => vec![value, len],
        Arguments::Matches(value, _, guard) => std::iter::once(&**value).chain(guard.as_deref()).collect(),
        Arguments::None => Vec::new(),
    }
}

/// Returns the expressions among the arguments, mutably.
pub(crate) fn expressions_mut(arguments: &mut Arguments) -> Vec<&mut Expr> {
    match arguments {
        Arguments::List(list) => list.iter_mut().map(|a| &mut a.expr).collect(),
        Arguments::Repeat(value, len) => vec![value, len],
        Arguments::Matches(value, _, guard) => std::iter::once(&mut **value).chain(guard.as_deref_mut()).collect(),
        Arguments::None => Vec::new(),
    }
}

/// Writes changed arguments back into the macro.
pub(crate) fn rebuild(mac: &mut Macro, arguments: &Arguments) {
    mac.tokens = match arguments {
        Arguments::List(list) => quote!(#list),
        Arguments::Repeat(value, len) => quote!(#value; #len),
        Arguments::Matches(expr, pat, None) => quote!(#expr, #pat),
        Arguments::Matches(expr, pat, Some(guard)) => quote!(#expr, #pat if #guard),
        Arguments::None => return,
    };
}

/// Returns the names that a format string captures inline (`{x}`, `{x:>w$}`), except those that are named arguments.
pub(crate) fn captures(mac: &Macro, list: &Punctuated<Argument, Token![,]>) -> Vec<Ident> {
    let name = mac.path.segments.last().map(|last| last.ident.to_string()).unwrap_or_default();
    let before = match name.trim_start_matches("debug_") {
        "assert_eq" | "assert_ne" => 2,
        "assert" | "write" | "writeln" => 1,
        _ => 0,
    };
    let Some(literal) = list.iter().filter(|a| a.name.is_none()).nth(before).and_then(|a| match &a.expr {
        Expr::Lit(l) => match &l.lit {
            syn::Lit::Str(s) => Some(s),
            _ => None,
        },
        _ => None,
    }) else {
        return Vec::new();
    };
    let mut found: Vec<Ident> = Vec::new();
    for name in inline(literal) {
        let given = list.iter().any(|a| a.name.as_ref().is_some_and(|n| *n == name));
        if !given && !found.contains(&name) {
            found.push(name);
        }
    }
    found
}

fn inline(literal: &LitStr) -> Vec<Ident> {
    inline_names(&literal.value()).into_iter().map(|n| crate::names::named(&n, literal.span())).collect()
}

/// Returns the names that a format string captures inline.
pub(crate) fn inline_names(text: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut rest = text;
    while let Some(open) = rest.find('{') {
        rest = &rest[open + 1..];
        if let Some(after) = rest.strip_prefix('{') {
            rest = after;
            continue;
        }
        let Some(end) = rest.find([':', '}']) else { break };
        names.push(rest[..end].trim().to_string());
        let (colon, mut format) = (rest[end..].starts_with(':'), &rest[end + 1..]);
        if !colon {
            rest = format;
            continue;
        }
        // A fill may be any character, even a brace.
        let mut chars = format.chars();
        if let (Some(fill), Some('<' | '^' | '>')) = (chars.next(), chars.next()) {
            format = &format[fill.len_utf8()..];
        }
        let Some(close) = format.find('}') else { break };
        rest = &format[close + 1..];
        format = &format[..close];
        for (at, _) in format.match_indices('$') {
            let start = format[..at].rfind(|c: char| !(c.is_alphanumeric() || c == '_')).map_or(0, |i| i + 1);
            names.push(format[start..at].to_string());
        }
    }
    names.into_iter().filter(|n| n.starts_with(|c: char| c.is_alphabetic() || c == '_') && n != "_").collect()
}

/// Returns `assert!`'s message for a condition as written here.
fn failed(condition: &TokenStream) -> LitStr {
    let text = condition.to_string();
    let text = text.trim_end_matches(',').trim_end().replace('{', "{{").replace('}', "}}");
    LitStr::new(&format!("assertion failed: {text}"), Span::mixed_site())
}

/// Returns the arguments of an `assert!` whose condition is rewritten, with the message of the condition as `written`.
pub(crate) fn worded(arguments: TokenStream, written: &TokenStream) -> TokenStream {
    let list = Punctuated::<Argument, Token![,]>::parse_terminated.parse2(arguments.clone());
    match list {
        Ok(list) if list.len() == 1 && list[0].name.is_none() => {
            let (condition, message) = (&list[0], failed(written));
            quote!(#condition, #message)
        }
        _ => arguments,
    }
}

/// Gives each `assert!` without a message its default message: the text of its condition is about to change.
pub(crate) struct Worded;

impl VisitMut for Worded {
    fn visit_macro_mut(&mut self, mac: &mut Macro) {
        let Some((Style::Condition, Arguments::List(mut list))) = parse(mac) else { return };
        if list.len() == 1 && list[0].name.is_none() {
            let message = failed(&mac.tokens);
            list.push(Argument { name: None, expr: syn::parse_quote!(#message) });
            mac.tokens = quote!(#list);
        }
    }
    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}

/// Calls `see` with the text of each literal in the tokens, at any depth.
pub(crate) fn literals(tokens: &TokenStream, see: &mut dyn FnMut(&str)) {
    for tree in tokens.clone() {
        match tree {
            TokenTree::Group(g) => literals(&g.stream(), see),
            TokenTree::Literal(l) => see(&l.to_string()),
            _ => {}
        }
    }
}

/// Replaces names in a token stream, at any depth.
pub(crate) fn substitute(tokens: TokenStream, to: &dyn Fn(&Ident) -> Option<Ident>) -> TokenStream {
    tokens
        .into_iter()
        .map(|tree| match tree {
            TokenTree::Group(g) => {
                let mut group = Group::new(g.delimiter(), substitute(g.stream(), to));
                group.set_span(g.span());
                TokenTree::Group(group)
            }
            TokenTree::Ident(i) => TokenTree::Ident(to(&i).unwrap_or(i)),
            other => other,
        })
        .collect()
}

/// Returns whether this name occurs in the tokens of an expression, at any depth, other than as a field's name.
pub(crate) fn uses(tokens: &TokenStream, name: &Ident) -> bool {
    let trees: Vec<TokenTree> = tokens.clone().into_iter().collect();
    let is = |at: Option<usize>, c: char| {
        at.and_then(|at| trees.get(at)).is_some_and(|tree| matches!(tree, TokenTree::Punct(p) if p.as_char() == c))
    };
    trees.iter().enumerate().any(|(at, tree)| match tree {
        TokenTree::Group(g) => uses(&g.stream(), name),
        TokenTree::Ident(i) => {
            let behind_dot = is(at.checked_sub(1), '.') && !is(at.checked_sub(2), '.');
            let before_colon = is(Some(at + 1), ':') && !is(Some(at + 2), ':');
            i == name && !behind_dot && !before_colon
        }
        _ => false,
    })
}

/// Returns whether any of these names occurs in the tokens, at any depth.
pub(crate) fn mentions(tokens: &TokenStream, wanted: &dyn Fn(&Ident) -> bool) -> bool {
    tokens.clone().into_iter().any(|tree| match tree {
        TokenTree::Group(g) => mentions(&g.stream(), wanted),
        TokenTree::Ident(i) => wanted(&i),
        _ => false,
    })
}

/// Returns whether an assignment in the tokens, at any depth, gives this name a new value.
pub(crate) fn assigns(tokens: &TokenStream, name: &Ident) -> bool {
    // Whether the previous token names it: `name`, or `(a, name)`.
    let mut named = false;
    let is_equals = |p: &Punct| p.as_char() == '=' && p.spacing() == Spacing::Alone;
    tokens.clone().into_iter().any(|tree| {
        let before = named;
        match tree {
            TokenTree::Group(g) => {
                named = mentions(&g.stream(), &|i| i == name);
                assigns(&g.stream(), name)
            }
            TokenTree::Ident(i) => {
                named = i == *name;
                false
            }
            TokenTree::Punct(p) => {
                named = false;
                before && is_equals(&p)
            }
            TokenTree::Literal(_) => {
                named = false;
                false
            }
        }
    })
}

/// Returns the names in the tokens, at any depth.
pub(crate) fn idents(tokens: &TokenStream) -> Vec<Ident> {
    let each = tokens.clone().into_iter().map(|tree| match tree {
        TokenTree::Group(g) => idents(&g.stream()),
        TokenTree::Ident(i) => vec![i],
        _ => Vec::new(),
    });
    each.collect::<Vec<_>>().concat()
}
