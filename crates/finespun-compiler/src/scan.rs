//! Questions about an expression or a body that need no names: whether and where it awaits, whether it contains a
//! closure, whether a part is conditional.

use crate::macros;
use proc_macro2::{Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::visit::{self, Visit};
use syn::{BinOp, Block, Expr, ExprAsync, ExprAwait, ExprClosure, Ident, Item, Macro, Stmt};

struct Awaits(bool);

impl<'a> Visit<'a> for Awaits {
    fn visit_expr_await(&mut self, _: &'a ExprAwait) {
        self.0 = true;
    }
    fn visit_macro(&mut self, mac: &'a Macro) {
        self.0 |= is_join(mac) || macro_awaits(mac).is_some();
    }
    fn visit_expr_closure(&mut self, _: &'a ExprClosure) {}
    fn visit_expr_async(&mut self, _: &'a ExprAsync) {}
    fn visit_item(&mut self, _: &'a Item) {}
}

/// Returns an await in the arguments of a macro, outside `async` blocks among them.
pub(crate) fn macro_awaits(mac: &Macro) -> Option<Span> {
    // Arguments that are not evaluated do not wait.
    if macros::style(mac) == Some(macros::Style::None) { None } else { tokens_await(mac.tokens.clone()) }
}

/// Returns a `.await` or `join!` in the tokens, outside `async` blocks.
fn tokens_await(tokens: TokenStream) -> Option<Span> {
    let mut dot = false;
    let mut foreign = false;
    let mut join = None;
    for tree in tokens {
        match &tree {
            TokenTree::Ident(i) if dot && i == "await" => return Some(i.span()),
            TokenTree::Ident(i) if i == "async" => foreign = true,
            TokenTree::Punct(p) if p.as_char() == '!' && join.is_some() => return join,
            TokenTree::Group(g) => {
                if !foreign && let Some(span) = tokens_await(g.stream()) {
                    return Some(span);
                }
                foreign &= g.delimiter() != proc_macro2::Delimiter::Brace;
            }
            _ => {}
        }
        join = match &tree {
            TokenTree::Ident(i) if i == "join" => Some(i.span()),
            _ => None,
        };
        dot = matches!(&tree, TokenTree::Punct(p) if p.as_char() == '.');
    }
    None
}

/// Returns whether this macro is `join!`.
pub(crate) fn is_join(mac: &Macro) -> bool {
    mac.path.segments.last().is_some_and(|s| s.ident == "join")
}

/// Returns whether this expression awaits in this function (not in a closure or an `async` block inside).
pub(crate) fn awaits(expr: &Expr) -> bool {
    let mut seen = Awaits(false);
    seen.visit_expr(expr);
    seen.0
}

/// Returns the same for a block.
pub(crate) fn block_awaits(block: &Block) -> bool {
    let mut seen = Awaits(false);
    seen.visit_block(block);
    seen.0
}

/// Returns the same for a statement.
pub(crate) fn stmt_awaits(stmt: &Stmt) -> bool {
    let mut seen = Awaits(false);
    seen.visit_stmt(stmt);
    seen.0
}

/// Returns whether this operator is a compound assignment.
pub(crate) fn assigns(op: &BinOp) -> bool {
    matches!(
        op,
        BinOp::AddAssign(_)
            | BinOp::SubAssign(_)
            | BinOp::MulAssign(_)
            | BinOp::DivAssign(_)
            | BinOp::RemAssign(_)
            | BinOp::BitXorAssign(_)
            | BinOp::BitAndAssign(_)
            | BinOp::BitOrAssign(_)
            | BinOp::ShlAssign(_)
            | BinOp::ShrAssign(_)
    )
}

/// Returns whether this expression may assign to anything.
pub(crate) fn has_assignment(expr: &Expr) -> bool {
    struct Assigns(bool);
    impl<'a> Visit<'a> for Assigns {
        fn visit_expr(&mut self, expr: &'a Expr) {
            self.0 |= match expr {
                Expr::Assign(_) | Expr::Macro(_) => true,
                Expr::Binary(e) => assigns(&e.op),
                _ => false,
            };
            visit::visit_expr(self, expr);
        }
    }
    let mut seen = Assigns(false);
    seen.visit_expr(expr);
    seen.0
}

struct Conditional(Option<proc_macro2::Span>);

impl<'a> Visit<'a> for Conditional {
    fn visit_attribute(&mut self, attr: &'a syn::Attribute) {
        if ["cfg", "cfg_attr"].iter().any(|name| attr.path().is_ident(name)) {
            self.0 = self.0.or(Some(syn::spanned::Spanned::span(attr)));
        }
    }
    fn visit_item(&mut self, _: &'a Item) {}
}

/// Returns a part of the block whose compilation is conditional.
pub(crate) fn conditional(block: &Block) -> Option<proc_macro2::Span> {
    let mut seen = Conditional(None);
    seen.visit_block(block);
    seen.0
}

/// The maximum number of callees in a list: the list is a type, which rustc has to walk.
const LISTED: usize = 32;

/// The properties of a body that decide whether it may have a list of its callees.
struct Listable {
    sequence: bool,
    items: bool,
    awaits: usize,
}

impl<'a> Visit<'a> for Listable {
    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Loop(_) | Expr::While(_) | Expr::ForLoop(_) => self.sequence &= !awaits(expr),
            Expr::Closure(_) | Expr::Async(_) => return,
            Expr::Await(_) => self.awaits += 1,
            _ => {}
        }
        visit::visit_expr(self, expr);
    }
    fn visit_macro(&mut self, mac: &'a Macro) {
        self.sequence &= !is_join(mac);
        if let Some((_, arguments)) = crate::macros::parse(mac) {
            crate::macros::expressions(&arguments).into_iter().for_each(|argument| self.visit_expr(argument));
        }
    }
    fn visit_item(&mut self, _: &'a Item) {
        self.items = true;
    }
}

/// Returns whether all awaits of a body run one after another, in no loop and no `join!`, and the body contains no item
/// that must not be written twice.
pub(crate) fn listable(block: &Block) -> bool {
    let mut seen = Listable { sequence: true, items: false, awaits: 0 };
    seen.visit_block(block);
    seen.sequence && !seen.items && seen.awaits <= LISTED
}

struct Closures(bool);

impl<'a> Visit<'a> for Closures {
    fn visit_expr_closure(&mut self, _: &'a ExprClosure) {
        self.0 = true;
    }
    fn visit_expr_async(&mut self, _: &'a ExprAsync) {
        self.0 = true;
    }
    fn visit_item(&mut self, _: &'a Item) {}
}

/// Returns whether the value of this expression may have a type that is new at every place where the expression is
/// written.
pub(crate) fn has_closure(expr: &Expr) -> bool {
    let mut seen = Closures(false);
    seen.visit_expr(expr);
    seen.0
}

/// Returns whether a block contains a closure.
pub(crate) fn block_has_closure(block: &Block) -> bool {
    let mut seen = Closures(false);
    seen.visit_block(block);
    seen.0
}

/// Returns the expression without parentheses and invisible groups.
pub(crate) fn peel(mut expr: &Expr) -> &Expr {
    loop {
        expr = match expr {
            Expr::Paren(e) => &e.expr,
            Expr::Group(e) => &e.expr,
            _ => return expr,
        }
    }
}

/// Returns the same, by value.
pub(crate) fn peeled(expr: Expr) -> Expr {
    match expr {
        Expr::Paren(e) if e.attrs.is_empty() => peeled(*e.expr),
        Expr::Group(e) => peeled(*e.expr),
        other => other,
    }
}

/// Returns the base of a place, without its fields.
pub(crate) fn base(expr: &Expr) -> &Expr {
    match peel(expr) {
        Expr::Field(e) => base(&e.base),
        other => other,
    }
}

/// Returns the name, if the expression is one plain name.
pub(crate) fn name(expr: &Expr) -> Option<&syn::Ident> {
    match peel(expr) {
        Expr::Path(p) if p.qself.is_none() => p.path.get_ident(),
        _ => None,
    }
}

/// Returns whether this is a place: a name, a field, an index, a dereference.
pub(crate) fn is_place(expr: &Expr) -> bool {
    match peel(expr) {
        Expr::Path(_) => true,
        Expr::Field(f) => is_place(&f.base),
        Expr::Index(i) => is_place(&i.expr),
        Expr::Unary(u) if matches!(u.op, syn::UnOp::Deref(_)) => is_place(&u.expr),
        _ => false,
    }
}

/// Returns whether this path may be a constant's, by its spelling. Each use of a constant is a new value.
pub(crate) fn is_constant(expr: &Expr) -> bool {
    let spelled = |last: &syn::PathSegment| last.ident.to_string().starts_with(char::is_uppercase);
    matches!(peel(expr), Expr::Path(p) if p.path.segments.last().is_some_and(spelled))
}

/// Returns the same for a struct without fields. A name in capitals may be a static.
pub(crate) fn is_unit(expr: &Expr) -> bool {
    let small = |last: &syn::PathSegment| last.ident.to_string().contains(char::is_lowercase);
    is_constant(expr) && matches!(peel(expr), Expr::Path(p) if p.path.segments.last().is_some_and(small))
}

/// Returns the name at the root of a place, and whether the place is that name itself.
pub(crate) fn root(expr: &Expr) -> Option<(&syn::Ident, bool)> {
    match peel(expr) {
        Expr::Path(_) => name(expr).map(|n| (n, true)),
        Expr::Field(f) => root(&f.base).map(|(n, _)| (n, false)),
        Expr::Index(i) => root(&i.expr).map(|(n, _)| (n, false)),
        Expr::Unary(u) if matches!(u.op, syn::UnOp::Deref(_)) => root(&u.expr).map(|(n, _)| (n, false)),
        _ => None,
    }
}

/// Returns whether a condition contains a `let`.
pub(crate) fn has_let(expr: &Expr) -> bool {
    match peel(expr) {
        Expr::Let(_) => true,
        Expr::Binary(b) => has_let(&b.left) || has_let(&b.right),
        _ => false,
    }
}

/// Returns whether this is a loop without an end.
pub(crate) fn endless(expr: &Expr) -> bool {
    matches!(expr, Expr::Loop(_)) && !crate::macros::mentions(&quote::quote!(#expr), &|i| i == "break")
}

/// An operand of an await that is recognised by its spelling. The code generated for it is valid for the library's
/// method only, so rustc checks that the method is the library's.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Known {
    /// `on(..).create(..)`, which returns the name of an object and stores nothing of `on(..)`.
    Creation,
    /// `r.method(..).checked()`, which stores nothing but the call.
    Checked,
    /// `r.method(..).oneway()`: the same.
    Oneway,
}

/// Returns the known form of an operand, if it has one.
pub(crate) fn known(expr: &Expr) -> Option<Known> {
    let Expr::MethodCall(e) = peel(expr) else { return None };
    match peel(&e.receiver) {
        Expr::Call(on) if e.method == "create" || e.method == "create_with" => {
            let Expr::Path(path) = &*on.func else { return None };
            path.path.segments.last().filter(|last| last.ident == "on").map(|_| Known::Creation)
        }
        Expr::MethodCall(_) if e.method == "checked" && e.args.is_empty() => Some(Known::Checked),
        Expr::MethodCall(_) if e.method == "oneway" && e.args.is_empty() => Some(Known::Oneway),
        _ => None,
    }
}

/// Functions of std that do not return, by module and name.
const NEVER: &[(&str, &str)] = &[
    ("process", "exit"),
    ("process", "abort"),
    ("panic", "resume_unwind"),
    ("panic", "panic_any"),
    ("hint", "unreachable_unchecked"),
];

/// Returns whether an item of a body may declare a type or constant of this name.
pub(crate) fn declares(item: &Item, name: &Ident) -> bool {
    match item {
        Item::Const(e) => e.ident == *name,
        Item::Enum(e) => e.ident == *name,
        Item::Mod(e) => e.ident == *name,
        Item::Struct(e) => e.ident == *name,
        Item::Trait(e) => e.ident == *name,
        Item::Type(e) => e.ident == *name,
        Item::Union(e) => e.ident == *name,
        Item::Use(e) => {
            let text = e.tree.to_token_stream();
            text.to_string().contains('*') || macros::mentions(&text, &|other| other == name)
        }
        // An unknown macro may declare anything; the definition of one declares nothing yet.
        Item::Macro(e) => e.ident.is_none(),
        _ => false,
    }
}

/// Returns whether this makes a task of the library that never returns to its caller.
pub(crate) fn leaves(task: &Expr) -> bool {
    let Expr::Call(call) = peel(task) else { return false };
    let Expr::Path(func) = &*call.func else { return false };
    func.path.segments.last().is_some_and(|last| ["preturn", "exit"].iter().any(|name| last.ident == name))
}

/// Returns whether this calls a function of `NEVER`. rustc checks that the function does not return: see `emit::exits`.
pub(crate) fn never_returns(call: &syn::ExprCall) -> bool {
    let Expr::Path(func) = &*call.func else { return false };
    let mut path = func.path.segments.iter().rev().map(|segment| &segment.ident);
    let (Some(name), Some(module)) = (path.next(), path.next()) else { return false };
    NEVER.iter().any(|(of, known)| module == of && name == known)
}
