//! Rewrites `return`, `?`, `break` and `continue` where the generated code around them changes their meaning.

use std::collections::HashSet;

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote_spanned};
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::visit_mut::{self, VisitMut};
use syn::{Expr, ExprClosure, Ident, Item, Lifetime, Macro, Type};

use crate::macros;

/// The replacement of each exit; `None` keeps the exit unchanged.
pub(crate) trait Exits {
    fn leave(&mut self, _value: Option<&Expr>, _span: Span) -> Option<TokenStream> {
        None
    }
    fn question(&mut self, _value: &Expr, _span: Span) -> Option<TokenStream> {
        None
    }
    /// A closure; its own exits stay unchanged.
    fn closure(&mut self, _closure: &mut ExprClosure) {}
    /// A `break` (`out`) or `continue` whose loop is not inside the expression.
    fn jump(
        &mut self,
        _out: bool,
        _label: Option<&Lifetime>,
        _value: Option<&Expr>,
        _span: Span,
    ) -> Option<TokenStream> {
        None
    }
}

/// Rewrites the exits of a syntax tree.
pub(crate) struct Rewrite<'a> {
    exits: &'a mut dyn Exits,
    depth: usize,
    labels: HashSet<String>,
}

impl<'a> Rewrite<'a> {
    pub(crate) fn new(exits: &'a mut dyn Exits) -> Self {
        Rewrite { exits, depth: 0, labels: HashSet::new() }
    }

    fn inside(&mut self, label: Option<&syn::Label>, run: impl FnOnce(&mut Self)) {
        let name = label.map(|l| l.name.ident.to_string());
        let new = name.clone().is_some_and(|n| self.labels.insert(n));
        self.depth += 1;
        run(self);
        self.depth -= 1;
        if let (true, Some(name)) = (new, name) {
            self.labels.remove(&name);
        }
    }

    fn native(&self, label: Option<&Lifetime>) -> bool {
        match label {
            Some(l) => self.labels.contains(&l.ident.to_string()),
            None => self.depth > 0,
        }
    }
}

impl VisitMut for Rewrite<'_> {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        match expr {
            Expr::Closure(closure) => return self.exits.closure(closure),
            Expr::Async(_) | Expr::Const(_) => return,
            Expr::Loop(e) => {
                let label = e.label.clone();
                return self.inside(label.as_ref(), |me| me.visit_block_mut(&mut e.body));
            }
            Expr::While(e) => {
                let label = e.label.clone();
                return self.inside(label.as_ref(), |me| {
                    me.visit_expr_mut(&mut e.cond);
                    me.visit_block_mut(&mut e.body);
                });
            }
            Expr::ForLoop(e) => {
                self.visit_expr_mut(&mut e.expr);
                let label = e.label.clone();
                return self.inside(label.as_ref(), |me| me.visit_block_mut(&mut e.body));
            }
            Expr::Block(e) if e.label.is_some() => {
                // A labelled block is the target of its own label only.
                let name = e.label.as_ref().map(|l| l.name.ident.to_string());
                let new = name.clone().is_some_and(|n| self.labels.insert(n));
                visit_mut::visit_expr_block_mut(self, e);
                if let (true, Some(name)) = (new, name) {
                    self.labels.remove(&name);
                }
                return;
            }
            _ => visit_mut::visit_expr_mut(self, expr),
        }
        let span = expr.span();
        let new = match expr {
            Expr::Call(e) if crate::scan::never_returns(e) => {
                let site = Span::mixed_site();
                Some(quote_spanned! {site=> {
                    #[allow(unreachable_code, clippy::diverging_sub_expression)]
                    let __never: ::finespun::__rt::DivergesAsInStd = #e;
                }})
            }
            Expr::Return(e) => self.exits.leave(e.expr.as_deref(), span),
            Expr::Try(e) => self.exits.question(&e.expr, e.question_token.span()),
            Expr::Break(e) if !self.native(e.label.as_ref()) => {
                self.exits.jump(true, e.label.as_ref(), e.expr.as_deref(), span)
            }
            Expr::Continue(e) if !self.native(e.label.as_ref()) => self.exits.jump(false, e.label.as_ref(), None, span),
            _ => None,
        };
        if let Some(tokens) = new {
            *expr = Expr::Verbatim(tokens);
        }
    }

    fn visit_item_mut(&mut self, _: &mut Item) {}

    fn visit_macro_mut(&mut self, mac: &mut Macro) {
        let Some((_, mut arguments)) = macros::parse(mac) else { return };
        macros::expressions_mut(&mut arguments).into_iter().for_each(|e| self.visit_expr_mut(e));
        macros::rebuild(mac, &arguments);
    }
}

/// Returns a copy of a syntax tree with its exits rewritten, as tokens.
pub(crate) fn rewritten<T: Clone + ToTokens>(
    tree: &T,
    exits: &mut dyn Exits,
    visit: impl FnOnce(&mut Rewrite<'_>, &mut T),
) -> TokenStream {
    let mut tree = tree.clone();
    visit(&mut Rewrite::new(exits), &mut tree);
    tree.to_token_stream()
}

/// Returns whether a closure's body may return before its end.
fn exits_early(body: &Expr) -> bool {
    struct Early(bool);
    impl<'a> Visit<'a> for Early {
        fn visit_expr(&mut self, expr: &'a Expr) {
            match expr {
                Expr::Closure(_) | Expr::Async(_) => {}
                Expr::Return(_) | Expr::Try(_) => self.0 = true,
                _ => visit::visit_expr(self, expr),
            }
        }
        fn visit_macro(&mut self, mac: &'a Macro) {
            self.0 |= macros::mentions(&mac.tokens, &|i| i == "return") || mac.tokens.to_string().contains('?');
        }
        fn visit_item(&mut self, _: &'a Item) {}
    }
    let mut early = Early(false);
    early.visit_expr(body);
    early.0
}

/// Returns whether an expression ends in a panic, whatever precedes it.
fn never_ends(body: &Expr) -> bool {
    match crate::scan::peel(body) {
        Expr::Macro(m) => macros::diverges(&m.mac),
        Expr::Block(b) => b.block.stmts.last().is_some_and(super::stack::diverges),
        _ => false,
    }
}

/// The exits of code that returns an `Outcome`.
pub(crate) struct Outcomes<'a>(pub(crate) &'a Type);

impl Outcomes<'_> {
    /// Returns statements that return `value` as the result of the task.
    pub(crate) fn done(&self, value: TokenStream, span: Span) -> TokenStream {
        let ty = self.0;
        let span = span.resolved_at(Span::mixed_site());
        quote_spanned! {span=>
            let __r: #ty = #value;
            return unsafe { ::finespun::__rt::Note::done(__note, __r) };
        }
    }
}

impl Exits for Outcomes<'_> {
    /// Gives a closure a note of its own, in debug builds: while another task runs, this task's note is suspended, but
    /// a closure passed to that task is this task's own code. Release builds have no such note: with a landing pad,
    /// LLVM copies a result in memory once more.
    fn closure(&mut self, closure: &mut ExprClosure) {
        if closure.asyncness.is_none() && !exits_early(&closure.body) {
            let (site, body) = (Span::mixed_site(), &closure.body);
            let ty = match &closure.output {
                syn::ReturnType::Type(_, ty) => Some(quote_spanned!(site=> : #ty)),
                syn::ReturnType::Default => None,
            };
            let note = quote_spanned! {site=>
                let __note = if ::core::cfg!(debug_assertions) {
                    ::core::option::Option::Some(::finespun::__rt::Note::<__Task>::new())
                } else {
                    ::core::option::Option::None
                };
            };
            *closure.body = Expr::Verbatim(match never_ends(body) {
                true => quote_spanned!(site=> { #note #body }),
                // The result is a named local, not a function's argument: the closure builds it in its return place.
                false => quote_spanned! {site=> {
                    #note
                    #[allow(clippy::let_and_return, clippy::let_unit_value, clippy::unit_arg)]
                    let __r #ty = #body;
                    ::core::mem::forget(__note);
                    __r
                }},
            });
        }
    }

    fn leave(&mut self, value: Option<&Expr>, span: Span) -> Option<TokenStream> {
        let span = span.resolved_at(Span::mixed_site());
        let value = match value {
            Some(value) => value.to_token_stream(),
            None => quote_spanned!(span=> ()),
        };
        let ty = self.0;
        // The block diverges. As its value, `return` would have a type for rustc to infer, and a search of the function for it.
        Some(quote_spanned! {span=> {
            let __r: #ty = #value;
            return unsafe { ::finespun::__rt::Note::done(__note, __r) };
        }})
    }

    fn question(&mut self, value: &Expr, span: Span) -> Option<TokenStream> {
        // The span of `From::from` is the question mark.
        let left = Ident::new("__b", Span::mixed_site());
        let residual = quote_spanned!(span=> ::finespun::__rt::FromResidualLike::from_residual(#left));
        let span = span.resolved_at(Span::mixed_site());
        let ty = self.0;
        Some(quote_spanned! {span=>
            (match ::finespun::__rt::TryLike::branch(#value) {
                ::core::ops::ControlFlow::Continue(__v) => __v,
                ::core::ops::ControlFlow::Break(#left) => {
                    let __r: #ty = #residual;
                    return unsafe { ::finespun::__rt::Note::done(__note, __r) };
                }
            })
        })
    }
}
