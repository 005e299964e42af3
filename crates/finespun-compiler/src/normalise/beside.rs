//! The effects of the expressions beside an await on the locals that the await is moved past.

use syn::visit::{self, Visit};
use syn::{BinOp, Expr, Ident, UnOp};

use crate::flow::pattern::by_ref;
use crate::scan;

/// Returns whether a place contains an index.
pub(crate) fn has_index(place: &Expr) -> bool {
    match scan::peel(place) {
        Expr::Index(_) => true,
        Expr::Field(e) => has_index(&e.base),
        Expr::Unary(e) => has_index(&e.expr),
        _ => false,
    }
}

/// Returns `Some` if the time of this expression's evaluation is unobservable, with the local that it depends on.
pub(super) fn inert<'e>(expr: &'e Expr, is_local: &dyn Fn(&Ident) -> bool) -> Option<Option<&'e Ident>> {
    match scan::peel(expr) {
        Expr::Lit(_) | Expr::Closure(_) => Some(None),
        Expr::Path(_) => Some(scan::name(expr)),
        Expr::Reference(r) => {
            // A field of an expression that is not a local may be behind a `Deref`.
            let base = scan::base(&r.expr);
            let whole = std::ptr::eq(base, scan::peel(&r.expr)) && !scan::is_unit(base);
            (matches!(base, Expr::Path(_)) && (whole || scan::name(base).is_some_and(is_local)))
                .then(|| scan::name(base))
        }
        Expr::Unary(u) if matches!(u.op, syn::UnOp::Neg(_)) => match &*u.expr {
            Expr::Lit(_) => Some(None),
            _ => None,
        },
        _ => None,
    }
}

struct Changes<'a>(&'a Ident, bool);

impl<'a> Visit<'a> for Changes<'_> {
    fn visit_expr(&mut self, expr: &'a Expr) {
        let target = match expr {
            Expr::Assign(e) if !scan::is_place(&e.left) => {
                self.1 |= crate::macros::mentions(&quote::ToTokens::to_token_stream(&e.left), &|name| name == self.0);
                None
            }
            Expr::Assign(e) => Some(&e.left),
            Expr::Reference(e) if e.mutability.is_some() => Some(&e.expr),
            Expr::RawAddr(e) => Some(&e.expr),
            Expr::MethodCall(e) => Some(&e.receiver),
            Expr::Match(e) => Some(&e.expr),
            Expr::Let(e) => Some(&e.expr),
            Expr::Binary(e) if format!("{}", quote::quote!(#e)).contains('=') => Some(&e.left),
            _ => None,
        };
        self.1 |= target.and_then(|t| scan::root(t)).is_some_and(|(n, _)| n == self.0);
        visit::visit_expr(self, expr);
    }
    fn visit_local(&mut self, local: &'a syn::Local) {
        let init = local.init.as_ref().filter(|_| by_ref(&local.pat));
        self.1 |= init.and_then(|init| scan::root(&init.expr)).is_some_and(|(n, _)| n == self.0);
        visit::visit_local(self, local);
    }
    fn visit_macro(&mut self, mac: &'a syn::Macro) {
        self.1 |= crate::macros::mentions(&mac.tokens, &|name| name == self.0);
    }
}

/// Returns whether evaluating this uses a local, or a part of one, other than in an operator, a shared borrow, a cast
/// or an index. Then the expression may pass the local on as a `&mut` reference.
pub(super) fn gives(expr: &Expr, name: &Ident) -> bool {
    struct Given<'a>(&'a Ident, bool);
    impl Given<'_> {
        fn harmless(&self, expr: &Expr) -> bool {
            scan::root(expr).is_some_and(|(name, _)| name == self.0) && !has_index(expr)
        }
    }
    impl<'a> Visit<'a> for Given<'_> {
        fn visit_expr(&mut self, expr: &'a Expr) {
            let parts: Vec<&Expr> = match expr {
                Expr::Binary(e) => vec![&e.left, &e.right],
                Expr::Unary(e) if !matches!(e.op, UnOp::Deref(_)) => vec![&e.expr],
                Expr::Reference(e) if e.mutability.is_none() => vec![&e.expr],
                Expr::Cast(e) => vec![&e.expr],
                Expr::Index(e) => vec![&e.expr, &e.index],
                Expr::Path(_) => {
                    self.1 |= scan::name(expr).is_some_and(|name| name == self.0);
                    return;
                }
                _ => return visit::visit_expr(self, expr),
            };
            for part in parts {
                if !self.harmless(part) {
                    self.visit_expr(part);
                }
            }
        }
    }
    let mut given = Given(name, false);
    given.visit_expr(expr);
    given.1
}

/// Returns whether evaluating this may give a local another value.
pub(super) fn changes(expr: &Expr, name: &Ident) -> bool {
    let mut seen = Changes(name, false);
    seen.visit_expr(expr);
    seen.1
}

/// Returns whether this expression uses up the local `name` by value.
pub(super) fn uses_up(expr: &Expr, name: &Ident) -> bool {
    let up = |e: &Expr| uses_up(e, name);
    match scan::peel(expr) {
        Expr::Path(_) => scan::name(expr).is_some_and(|n| n == name),
        Expr::Call(e) => e.args.iter().any(up),
        Expr::MethodCall(e) => e.args.iter().any(up),
        Expr::Binary(e) => match e.op {
            BinOp::Eq(_)
            | BinOp::Ne(_)
            | BinOp::Lt(_)
            | BinOp::Le(_)
            | BinOp::Gt(_)
            | BinOp::Ge(_)
            | BinOp::And(_)
            | BinOp::Or(_) => false,
            _ => up(&e.left) || up(&e.right),
        },
        Expr::Assign(e) => up(&e.right),
        Expr::Try(e) => up(&e.expr),
        Expr::Cast(e) => up(&e.expr),
        Expr::Unary(e) if !matches!(e.op, syn::UnOp::Deref(_)) => up(&e.expr),
        Expr::Tuple(e) => e.elems.iter().any(up),
        Expr::Array(e) => e.elems.iter().any(up),
        Expr::Struct(e) => e.fields.iter().any(|f| up(&f.expr)),
        Expr::Return(e) => e.expr.as_deref().is_some_and(up),
        Expr::Break(e) => e.expr.as_deref().is_some_and(up),
        _ => false,
    }
}
