//! Finds coercions that hoisting would prevent. Where a value is written inside another one, rustc infers the target
//! type of each part from the place of the whole: a `Box` of a trait object, a slice, a function pointer. A value that
//! is hoisted into a local keeps its own type.

use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::{Block, Expr, Lit, Stmt};

use crate::flow::methods;
use crate::macros::{self, Arguments};
use crate::names::Names;
use crate::scan;

pub(super) struct Coercions<'a>(pub(super) &'a Names);

impl Coercions<'_> {
    /// Returns a part of a value that may be coerced.
    pub(super) fn inside(&self, expr: &Expr) -> Option<Span> {
        let part = |part: &Expr| self.part(part);
        match scan::peel(expr) {
            Expr::Call(e) if constructs(&e.func) => e.args.iter().find_map(part),
            // The expected type of a generic function's result determines the types of its arguments.
            Expr::Call(e) => e.args.iter().find(|given| is_pointer(given)).map(Spanned::span),
            Expr::If(_) | Expr::Match(_) | Expr::Block(_) | Expr::Unsafe(_) => self.alternative(expr),
            Expr::Tuple(e) => e.elems.iter().find_map(part),
            Expr::Array(e) => e.elems.iter().find_map(part),
            Expr::Repeat(e) => part(&e.expr),
            Expr::Macro(e) if e.mac.path.is_ident("vec") => match macros::parse(&e.mac)?.1 {
                Arguments::List(list) => list.iter().find_map(|argument| part(&argument.expr)),
                Arguments::Repeat(value, _) => part(&value),
                _ => None,
            },
            _ => None,
        }
    }

    /// Returns one of several alternatives, all of which get the type of their place.
    pub(super) fn alternative(&self, expr: &Expr) -> Option<Span> {
        let tails = tails(expr);
        let several = tails.len() > 1;
        tails.into_iter().find_map(|tail| match scan::peel(tail) {
            // Their types may differ.
            Expr::Path(_) | Expr::Call(_) if several => self.part(tail),
            _ => self.itself(tail).or_else(|| self.inside(tail)),
        })
    }

    /// Returns one of several alternatives that is a function or a closure: together they become a function pointer.
    pub(super) fn function(&self, expr: &Expr) -> Option<Span> {
        let tails = tails(expr);
        let function = tails.iter().find(|tail| matches!(scan::peel(tail), Expr::Closure(_)) || self.is_function(tail));
        function.filter(|_| tails.len() > 1).map(|tail| tail.span())
    }

    /// Returns a part of a value that may be coerced: anything but a computed value.
    fn part(&self, expr: &Expr) -> Option<Span> {
        let computed = match scan::peel(expr) {
            Expr::Lit(e) => !matches!(e.lit, Lit::ByteStr(_)),
            Expr::MethodCall(e) => methods::primitive(e) || methods::of_number(&e.method),
            Expr::Call(e) if constructs(&e.func) && !points(&e.func) => return self.inside(expr),
            Expr::Tuple(_) | Expr::Array(_) | Expr::Repeat(_) => return self.inside(expr),
            Expr::Binary(_) | Expr::Unary(_) | Expr::Cast(_) | Expr::Macro(_) | Expr::Struct(_) | Expr::Range(_) => {
                true
            }
            Expr::Path(_) => scan::is_constant(expr),
            _ => false,
        };
        (!computed).then(|| expr.span())
    }

    fn itself(&self, expr: &Expr) -> Option<Span> {
        let coerced = match scan::peel(expr) {
            Expr::Reference(_) | Expr::Closure(_) => true,
            Expr::Lit(e) => matches!(e.lit, Lit::ByteStr(_)),
            Expr::Call(e) => points(&e.func),
            _ => self.is_function(expr),
        };
        coerced.then(|| expr.span())
    }

    /// Returns whether this path may be a function's: no local, and not spelled as a constant or a type.
    fn is_function(&self, expr: &Expr) -> bool {
        let Expr::Path(p) = scan::peel(expr) else { return false };
        let local = scan::name(expr).is_some_and(|name| self.0.find(name).is_some());
        let spelled = |last: &syn::PathSegment| last.ident.to_string().starts_with(char::is_lowercase);
        !local && p.path.segments.last().is_some_and(spelled)
    }
}

/// Returns the values that an expression with alternatives may have.
fn tails(expr: &Expr) -> Vec<&Expr> {
    fn last(block: &Block) -> Vec<&Expr> {
        match block.stmts.last() {
            Some(Stmt::Expr(e, None)) => tails(e),
            _ => Vec::new(),
        }
    }
    match scan::peel(expr) {
        Expr::If(e) => {
            let other = e.else_branch.as_ref().map(|(_, other)| tails(other));
            last(&e.then_branch).into_iter().chain(other.into_iter().flatten()).collect()
        }
        Expr::Match(e) => e.arms.iter().flat_map(|arm| tails(&arm.body)).collect(),
        Expr::Block(e) => last(&e.block),
        Expr::Unsafe(e) => last(&e.block),
        other => vec![other],
    }
}

/// Returns whether this is the path of a constructor, by its spelling.
fn constructs(func: &Expr) -> bool {
    let Expr::Path(p) = scan::peel(func) else { return false };
    p.path.segments.last().is_some_and(|last| last.ident.to_string().starts_with(char::is_uppercase))
}

/// Returns whether an expression makes a pointer of std, perhaps inside the arguments of another function.
fn is_pointer(expr: &Expr) -> bool {
    let Expr::Call(e) = scan::peel(expr) else { return false };
    points(&e.func) || e.args.iter().any(is_pointer)
}

/// Returns whether a function makes a pointer of std, which may be coerced to one to a trait object or a slice.
fn points(func: &Expr) -> bool {
    let Expr::Path(p) = scan::peel(func) else { return false };
    let of = p.path.segments.iter().rev().nth(1);
    of.is_some_and(|ty| ["Box", "Rc", "Arc"].iter().any(|known| ty.ident == known))
}
