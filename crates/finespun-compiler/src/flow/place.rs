//! Places that are read, borrowed, compared or assigned.

use syn::spanned::Spanned;
use syn::{Expr, Type};

use super::event::Use;
use super::graph::Builder;
use crate::kinds::{Kind, Lend};
use crate::scan;

impl Builder<'_> {
    /// Reads a place by value: a copy, or a partial move.
    pub(super) fn read(&mut self, expr: &Expr) -> Kind {
        let kind = self.place(expr, expr.span());
        match expr {
            Expr::Field(_) => {
                if let Some((name, _)) = scan::root(expr)
                    && let Some(var) = self.names.find(name)
                    && self.graph.kinds[var].lends == Lend::Owned
                    && self.graph.kinds[var].drops
                    && !behind(expr)
                {
                    let field = self.field(expr).map(|(_, field)| field);
                    self.touch(var, Use::TakePart(field), expr.span());
                }
                match scan::root(expr).and_then(|(name, _)| self.names.find(name)) {
                    // One of several references, reborrowed.
                    Some(var)
                        if self.graph.kinds[var].lends == Lend::Mut
                            && matches!(self.graph.types[var], Some(Type::Tuple(_))) =>
                    {
                        kind.borrowing([(var, false)])
                    }
                    _ => kind,
                }
            }
            // Nothing can be moved out of an index.
            Expr::Index(_) => Kind { drops: false, ..kind },
            _ => {
                if let Expr::Unary(_) = expr
                    && let Some((name, _)) = scan::root(expr)
                    && let Some(var) = self.names.find(name)
                    && self.graph.kinds[var].lends == Lend::Owned
                    && self.graph.kinds[var].drops
                {
                    // `*b` may move out of a box, which stays.
                    let content = self.field(expr).map(|(_, field)| field);
                    self.touch(var, Use::TakePart(content), expr.span());
                }
                kind
            }
        }
    }

    /// Evaluates `&place`, `&mut place` or `&value`.
    pub(super) fn reference(&mut self, e: &syn::ExprReference) -> Kind {
        let lends = if e.mutability.is_some() { Lend::Mut } else { Lend::Shared };
        if !scan::is_place(&e.expr) {
            let kind = self.value(&e.expr);
            return Kind::reference(lends).borrowing(kind.from);
        }
        let kind = self.place(&e.expr, e.span());
        Kind::reference(lends).borrowing(self.lent(&e.expr)).borrowing(kind.from)
    }

    /// Returns the local that a borrow of this place borrows from.
    pub(crate) fn lent(&self, expr: &Expr) -> Option<(usize, bool)> {
        let (name, whole) = scan::root(expr)?;
        let var = self.names.find(name)?;
        match self.graph.kinds[var].lends {
            _ if whole => Some((var, true)),
            Lend::Owned => Some((var, true)),
            Lend::Shared => None,
            Lend::Mut => Some((var, false)),
        }
    }

    pub(super) fn compared(&mut self, expr: &Expr) {
        if scan::is_place(expr) {
            self.place(expr, expr.span());
        } else {
            self.value(expr);
        }
    }

    /// Records that a place is assigned a new value.
    pub(super) fn destination(&mut self, expr: &Expr) {
        if let Some(var) = scan::name(expr).and_then(|n| self.names.find(n)) {
            return self.touch(var, Use::Assign, expr.span());
        }
        match scan::peel(expr) {
            Expr::Field(_) | Expr::Unary(_) if self.field(expr).is_some() => {
                if let Some((var, field)) = self.field(expr) {
                    self.touch(var, Use::AssignPart(field), expr.span());
                }
            }
            Expr::Tuple(e) => e.elems.iter().for_each(|e| self.destination(e)),
            Expr::Array(e) => e.elems.iter().for_each(|e| self.destination(e)),
            Expr::Struct(e) => e.fields.iter().for_each(|f| self.destination(&f.expr)),
            Expr::Call(e) => e.args.iter().for_each(|e| self.destination(e)),
            Expr::Infer(_) => {}
            _ => {
                self.place(expr, expr.span());
            }
        }
    }
}

/// Returns whether a place is an element behind an index, from which nothing can be moved.
pub(super) fn behind(expr: &Expr) -> bool {
    match scan::peel(expr) {
        Expr::Index(_) => true,
        Expr::Field(e) => behind(&e.base),
        Expr::Unary(e) => behind(&e.expr),
        _ => false,
    }
}
