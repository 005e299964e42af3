//! Checks that rustc makes for the task compiler, once it knows types and names: whether the compiler's assumptions
//! hold.

use std::collections::BTreeSet;

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote_spanned};
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::visit_mut::{self, VisitMut};
use syn::{BinOp, Block, Expr, Ident, Macro, Pat, Type, UnOp};

use crate::flow::capture::Demand;
use crate::flow::methods;
use crate::macros;
use crate::normalise::beside::has_index;
use crate::normalise::temporaries;
use crate::scan;

/// Asserts the demands of a forced stack schema, once types are known.
pub(super) fn undropped(demands: &[Demand]) -> TokenStream {
    let each = demands.iter().map(|demand| {
        let (shown, broken) = (demand.ty.to_token_stream(), demand.broken());
        let message = format!(
            "no stack schema: a `{shown}` may have been moved at an await, or not; `drop` it before the await, or choose \
             `#[task(pinned)]`"
        );
        quote_spanned!(Span::mixed_site()=> const { assert!(!#broken, #message) };)
    });
    each.collect()
}

/// Asserts that types have no destructor; `{}` in the message is the type.
pub(crate) fn assertions(types: &[Type], message: &str) -> TokenStream {
    let site = Span::mixed_site();
    let each = types.iter().map(|ty| {
        let shown = ty.to_token_stream().to_string();
        let message = message.replace("{}", &shown);
        quote_spanned!(site=> const { assert!(!::core::mem::needs_drop::<#ty>(), #message) };)
    });
    each.collect()
}

/// Makes rustc check the receivers of methods whose name suggests that the call leaves nothing behind to drop.
pub(super) fn receivers(expr: &mut Expr) {
    if scan::known(expr).is_some() {
        return;
    }
    match expr {
        Expr::Paren(e) => receivers(&mut e.expr),
        Expr::Group(e) => receivers(&mut e.expr),
        Expr::Call(e) => e.args.iter_mut().for_each(receivers),
        Expr::MethodCall(e) => {
            e.args.iter_mut().for_each(receivers);
            receivers(&mut e.receiver);
            let receiver = &*e.receiver;
            let plain = matches!(scan::peel(receiver), Expr::Lit(_) | Expr::Reference(_));
            if plain || scan::is_place(receiver) {
                return;
            }
            let span = receiver.span().resolved_at(Span::mixed_site());
            let site = Span::mixed_site();
            let takers: Vec<Ident> = methods::takers(&e.method).map(|name| Ident::new(name, site)).collect();
            let (func, check) = match takers[..] {
                // `into` takes `self` by value through a trait that is implemented for all types.
                _ if e.method == "into" => return,
                [] => (syn::parse_quote_spanned!(span=> ::finespun::__rt::left_behind), None),
                _ => (
                    syn::parse_quote_spanned!(span=> ::finespun::__rt::consumed),
                    Some(Expr::Verbatim(quote_spanned! {site=>
                        |__x| {
                            use ::finespun::__rt::{NoValue as _, #(#takers as _,)*};
                            (&&&::finespun::__rt::Receiver(__x)).check()
                        }
                    })),
                ),
            };
            *e.receiver = Expr::Call(syn::ExprCall {
                attrs: Vec::new(),
                func: Box::new(Expr::Path(func)),
                paren_token: syn::token::Paren(span),
                args: std::iter::once(scan::peel(receiver).clone()).chain(check).collect(),
            });
        }
        Expr::Binary(e) if !matches!(e.op, BinOp::And(_) | BinOp::Or(_)) => {
            let compares =
                matches!(e.op, BinOp::Eq(_) | BinOp::Ne(_) | BinOp::Lt(_) | BinOp::Le(_) | BinOp::Gt(_) | BinOp::Ge(_));
            for side in [&mut e.left, &mut e.right] {
                if compares { looked_into(side) } else { receivers(side) }
            }
        }
        Expr::Unary(e) if matches!(e.op, UnOp::Deref(_)) => looked_into(&mut e.expr),
        Expr::Unary(e) => receivers(&mut e.expr),
        Expr::Cast(e) => receivers(&mut e.expr),
        Expr::Try(e) => receivers(&mut e.expr),
        Expr::Reference(e) => looked_into(&mut e.expr),
        Expr::Field(e) => looked_into(&mut e.base),
        Expr::Index(e) => {
            looked_into(&mut e.expr);
            receivers(&mut e.index);
        }
        Expr::Range(e) => e.start.iter_mut().chain(&mut e.end).for_each(|end| receivers(end)),
        Expr::Tuple(e) => e.elems.iter_mut().for_each(receivers),
        Expr::Array(e) => e.elems.iter_mut().for_each(receivers),
        Expr::Struct(e) => e.fields.iter_mut().for_each(|f| receivers(&mut f.expr)),
        Expr::Repeat(e) => receivers(&mut e.expr),
        Expr::Assign(e) => receivers(&mut e.right),
        Expr::Let(e) => receivers(&mut e.expr),
        Expr::Return(syn::ExprReturn { expr, .. }) | Expr::Break(syn::ExprBreak { expr, .. }) => {
            expr.iter_mut().for_each(|value| receivers(value));
        }
        // Temporaries of the head live as long as the value; temporaries of the arms do not.
        Expr::Match(e) => receivers(&mut e.expr),
        Expr::Macro(e) => {
            if let Some((macros::Style::Value, mut arguments)) = macros::parse(&e.mac) {
                macros::expressions_mut(&mut arguments).into_iter().for_each(receivers);
                macros::rebuild(&mut e.mac, &arguments);
            }
        }
        _ => {}
    }
}

/// Makes rustc check that an assignment like `v[i] += awaited` is of numbers: only then does Rust evaluate its left
/// side after the right one.
pub(super) struct Assignments<'a>(pub(super) &'a dyn Fn(&Ident) -> bool);

impl VisitMut for Assignments<'_> {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        visit_mut::visit_expr_mut(self, expr);
        let Expr::Binary(e) = expr else { return };
        let awaited = macros::mentions(&e.right.to_token_stream(), self.0);
        if !awaited || !scan::assigns(&e.op) || !has_index(&e.left) {
            return;
        }
        let (left, right, op) = (&e.left, &e.right, &e.op);
        let span = op.span().resolved_at(Span::mixed_site());
        *expr = syn::parse_quote_spanned! {span=>
            match #right {
                __r => *::finespun::__rt::numbers(&mut #left, &__r) #op __r,
            }
        };
    }
    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}

/// Checks a value that is borrowed, or of which a part is used, as `receivers` does: if a method returns the value, it
/// is left behind as a temporary.
fn looked_into(expr: &mut Expr) {
    let constant = temporaries::promoted(expr);
    receivers(expr);
    let span = match scan::peel(expr) {
        Expr::MethodCall(e) => e.method.span(),
        Expr::Array(e) if !constant => e.span(),
        Expr::Binary(e) if !constant => e.op.span(),
        Expr::Unary(e) if !constant && !matches!(e.op, UnOp::Deref(_)) => e.op.span(),
        _ => return,
    };
    *expr = left_behind(span, expr.clone());
}

/// Wraps a value, so that rustc checks that it has no destructor.
fn left_behind(span: Span, value: Expr) -> Expr {
    let span = span.resolved_at(Span::mixed_site());
    syn::parse_quote_spanned!(span=> ::finespun::__rt::left_behind(#value))
}

/// Checks the `let`s of a condition as `receivers` does.
pub(super) fn receivers_of_lets(cond: &mut Expr) {
    match cond {
        Expr::Let(e) => receivers(&mut e.expr),
        Expr::Paren(e) => receivers_of_lets(&mut e.expr),
        Expr::Binary(e) => {
            receivers_of_lets(&mut e.left);
            receivers_of_lets(&mut e.right);
        }
        _ => {}
    }
}

/// Makes rustc check that the names of std's macros and variants in a body are std's; otherwise the code does not
/// compile. Without the check, a macro that returns although the compiler takes it for a panic would run into
/// unreachable code.
pub(crate) fn of_std(block: &Block) -> TokenStream {
    let mut used = Used::default();
    used.visit_block(block);
    let site = Span::mixed_site();
    let probes = used.macros.iter().map(|name| {
        let path = Ident::new(name, Span::call_site());
        match name.as_str() {
            "vec" => quote_spanned!(site=> const _: fn(()) -> ::std::vec::Vec<()> = |p| #path![p];),
            "dbg" => quote_spanned! {site=>
                const _: fn(::finespun::__rt::Probe) -> ::finespun::__rt::Probe = |p| #path!(p);
            },
            "matches" => quote_spanned!(site=> const _: fn(&u8) -> bool = |p| #path!(*p, _);),
            _ => quote_spanned!(site=> const _: fn() -> ::finespun::__rt::DivergesAsInStd = || #path!("");),
        }
    });
    let variants = used.variants.iter().map(|name| {
        let path = Ident::new(name, Span::call_site());
        match name.as_str() {
            "Some" => quote_spanned!(site=> const _: fn(()) -> ::core::option::Option<()> = #path;),
            _ => quote_spanned!(site=> const _: fn(()) -> ::core::result::Result<(), ()> = #path;),
        }
    });
    let all: TokenStream = probes.chain(variants).collect();
    if all.is_empty() {
        all
    } else {
        quote_spanned!(site=> #[allow(clippy::all, clippy::restriction)] const _: () = { #all };)
    }
}

/// The names of std that the task compiler interprets, where they are written without a path.
#[derive(Default)]
struct Used {
    macros: BTreeSet<String>,
    variants: BTreeSet<String>,
}

impl<'a> Visit<'a> for Used {
    fn visit_macro(&mut self, mac: &'a Macro) {
        if let Some(name) = mac.path.get_ident() {
            let known = macros::diverges(mac) || ["vec", "dbg", "matches"].iter().any(|known| name == known);
            self.macros.extend(known.then(|| name.to_string()));
        }
        if let Some((_, arguments)) = macros::parse(mac) {
            macros::expressions(&arguments).into_iter().for_each(|expr| self.visit_expr(expr));
        }
    }
    fn visit_pat(&mut self, pat: &'a Pat) {
        if let Pat::TupleStruct(p) = pat
            && let Some(name) =
                p.path.get_ident().filter(|&name| ["Some", "Ok", "Err"].iter().any(|known| name == known))
        {
            self.variants.insert(name.to_string());
        }
        visit::visit_pat(self, pat);
    }
    fn visit_item(&mut self, _: &'a syn::Item) {}
}
