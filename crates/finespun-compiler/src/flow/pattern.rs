//! Patterns: what they bind and what they leave behind.

use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::{Expr, Pat};

use super::graph::{Builder, Event, Use};
use crate::kinds::{self, Kind, Lend};
use crate::names::is_constant;
use crate::scan;

/// What a pattern does to the value it matches by value.
#[derive(Clone, Copy, PartialEq)]
enum Effect {
    /// Binds nothing: the value is intact.
    Looks,
    /// Binds every part by value: nothing is left.
    Takes,
    /// Something in between.
    Part,
}

fn effect(pat: &Pat) -> Effect {
    let all = |pats: &mut dyn Iterator<Item = &Pat>| {
        let effects: Vec<Effect> = pats.map(effect).collect();
        if effects.iter().all(|e| *e == Effect::Looks) {
            Effect::Looks
        } else if effects.iter().all(|e| *e == Effect::Takes) {
            Effect::Takes
        } else {
            Effect::Part
        }
    };
    match pat {
        Pat::Ident(p) if is_constant(p) => Effect::Looks,
        Pat::Ident(p) if p.by_ref.is_some() || p.subpat.is_some() => Effect::Part,
        Pat::Ident(_) => Effect::Takes,
        Pat::Guard(p) => effect(&p.pat),
        Pat::Paren(p) => effect(&p.pat),
        Pat::Type(p) => effect(&p.pat),
        Pat::Or(p) => all(&mut p.cases.iter()),
        Pat::Tuple(p) => all(&mut p.elems.iter()),
        Pat::TupleStruct(p) => all(&mut p.elems.iter()),
        Pat::Slice(p) => all(&mut p.elems.iter()),
        Pat::Struct(p) if p.rest.is_some() => {
            let fields = all(&mut p.fields.iter().map(|f| &*f.pat));
            if fields == Effect::Looks { Effect::Looks } else { Effect::Part }
        }
        Pat::Struct(p) => all(&mut p.fields.iter().map(|f| &*f.pat)),
        Pat::Wild(_) | Pat::Rest(_) | Pat::Lit(_) | Pat::Path(_) | Pat::Range(_) => Effect::Looks,
        _ => Effect::Part,
    }
}

impl Builder<'_> {
    /// Binds what a pattern binds; `kind` is that of the matched value.
    pub(crate) fn bind(&mut self, pat: &Pat, kind: &Kind) {
        match pat {
            Pat::Ident(p) if is_constant(p) => {}
            Pat::Ident(p) => {
                if let Some(var) = self.names.find(&p.ident) {
                    self.graph.kinds[var] = match &p.by_ref {
                        Some(_) => Kind::reference(Lend::Shared).borrowing(kind.from.clone()),
                        None => kind.clone(),
                    };
                    if !self.scope.contains(&var) {
                        self.scope.push(var);
                    }
                    self.touch(var, Use::Declare(true), p.ident.span());
                }
                if let Some((_, sub)) = &p.subpat {
                    self.bind(sub, &self.part(kind));
                }
            }
            Pat::Guard(p) => self.bind(&p.pat, kind),
            Pat::Paren(p) => self.bind(&p.pat, kind),
            Pat::Type(p) => {
                let known = kinds::of_type(&p.ty).unwrap_or_else(|| kind.clone());
                self.bind(&p.pat, &known);
            }
            Pat::Or(p) => p.cases.iter().for_each(|c| self.bind(c, kind)),
            Pat::Tuple(p) if kind.counted && p.elems.len() == 2 => {
                self.bind(&p.elems[0], &Kind::primitive());
                self.bind(&p.elems[1], &Kind { counted: false, ..kind.clone() });
            }
            Pat::Tuple(p) => p.elems.iter().for_each(|e| self.bind(e, &self.part(kind))),
            Pat::TupleStruct(p) => p.elems.iter().for_each(|e| self.bind(e, &self.part(kind))),
            Pat::Slice(p) => p.elems.iter().for_each(|e| self.bind(e, &self.part(kind))),
            Pat::Struct(p) => p.fields.iter().for_each(|f| self.bind(&f.pat, &self.part(kind))),
            Pat::Reference(p) => self.bind(&p.pat, &Kind::copy().borrowing(kind.from.clone())),
            _ => {}
        }
    }

    /// A part of a value: through a reference, again a reference.
    fn part(&self, kind: &Kind) -> Kind {
        Kind { closure: false, counted: false, ..kind.clone() }
    }

    /// `let x;`
    pub(crate) fn declare(&mut self, pat: &Pat, known: Option<Kind>) {
        if let Pat::Ident(p) = pat
            && let Some(var) = self.names.find(&p.ident)
        {
            self.graph.kinds[var] = known.unwrap_or_else(Kind::unknown);
            self.scope.push(var);
            self.touch(var, Use::Declare(false), p.ident.span());
        }
    }

    /// What matching `pat` against the place `expr` does to its root.
    pub(crate) fn taken(&mut self, pat: &Pat, expr: &Expr, kind: &Kind) {
        let Some((name, whole)) = scan::root(expr) else { return };
        let Some(var) = self.names.find(name) else { return };
        let how = match effect(pat) {
            _ if !kind.drops || self.graph.kinds[var].lends != Lend::Owned => Use::Borrow,
            Effect::Looks => Use::Borrow,
            Effect::Takes if whole => Use::Named,
            Effect::Takes | Effect::Part => Use::Maybe,
        };
        self.touch(var, how, name.span());
    }

    /// Enters an arm; returns where control is if the arm does not match.
    pub(crate) fn arm(&mut self, pat: &Pat, expr: &Expr, kind: &Kind) -> Option<usize> {
        self.event(Event::Nothing);
        let before = self.at;
        self.taken(pat, expr, kind);
        self.bind(pat, kind);
        let mut otherwise = vec![before];
        if let Pat::Guard(p) = pat {
            self.value(&p.guard);
            otherwise.push(self.at);
        }
        if irrefutable(pat) {
            return None;
        }
        let here = self.at;
        self.join(&otherwise);
        let next = self.at;
        self.at = here;
        next
    }

    /// A condition; returns where control is if it does not hold.
    pub(crate) fn condition(&mut self, cond: &Expr) -> Option<usize> {
        match scan::peel(cond) {
            Expr::Let(e) => {
                let kind = self.subject(&e.expr);
                self.event(Event::Nothing);
                let otherwise = self.at;
                self.taken(&e.pat, &e.expr, &kind);
                self.bind(&e.pat, &kind);
                otherwise
            }
            Expr::Binary(e) if matches!(e.op, syn::BinOp::And(_)) => {
                let first = self.condition(&e.left);
                let second = self.condition(&e.right);
                let here = self.at;
                self.join(&[first, second]);
                let otherwise = self.at;
                self.at = here;
                otherwise
            }
            other => {
                self.value(other);
                self.event(Event::Nothing);
                self.at
            }
        }
    }

    /// Where a `match` or `if let` looks: a place is not used by value yet.
    pub(crate) fn subject(&mut self, expr: &Expr) -> Kind {
        if scan::is_place(expr) { self.place(expr, expr.span()) } else { self.value(expr) }
    }

    /// Looks at a place in place; the kind is that of what stands there.
    pub(crate) fn place(&mut self, expr: &Expr, span: Span) -> Kind {
        match scan::peel(expr) {
            Expr::Path(_) => match scan::name(expr).and_then(|n| self.names.find(n)) {
                Some(var) => {
                    self.touch(var, Use::Borrow, span);
                    self.graph.kinds[var].clone()
                }
                None => Kind::unknown(),
            },
            Expr::Field(e) => match scan::name(&e.base).and_then(|n| self.names.find(n)) {
                Some(var) => {
                    self.touch(var, Use::Part, span);
                    self.graph.kinds[var].clone().stand_in()
                }
                None => self.place(&e.base, span).stand_in(),
            },
            Expr::Index(e) => {
                self.value(&e.index);
                self.place(&e.expr, span).stand_in()
            }
            Expr::Unary(e) => self.place(&e.expr, span).stand_in(),
            other => self.value(other),
        }
    }
}

impl Kind {
    /// What stands in a place inside: its own type is unknown. What is read by
    /// value through a reference is `Copy`.
    pub(crate) fn stand_in(self) -> Kind {
        let drops = self.drops || self.lends == Lend::Owned;
        Kind { drops, lends: Lend::Owned, from: self.from, ..Kind::unknown() }
    }
}

fn irrefutable(pat: &Pat) -> bool {
    match pat {
        Pat::Wild(_) => true,
        Pat::Ident(p) => !is_constant(p) && p.subpat.is_none(),
        Pat::Paren(p) => irrefutable(&p.pat),
        _ => false,
    }
}
