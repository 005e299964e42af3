//! Patterns: their binders, and the parts of the value that they leave behind.

use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{Expr, Member, Pat};

use super::event::{Event, Use};
use super::graph::Builder;
use crate::kinds::{self, Kind, Lend};
use crate::names::is_constant;
use crate::scan;

/// The effect of a pattern on the value that it matches.
#[derive(Clone, Copy, PartialEq)]
enum Effect {
    /// Moves nothing: the value is intact.
    Looks,
    /// The value is a number, a string or a reference: nothing moves, and nothing has to be dropped.
    Inert,
    /// Binds every part by value: nothing is left to drop.
    Takes,
    /// Binds every field of a type by value. Nothing is left to drop, unless the type itself has a destructor: then all
    /// fields are copied, and the value is intact.
    TakesFields,
    /// Takes some parts, and may leave others.
    Part,
}

/// Returns the effect of a pattern on a value whose parts are matched by `parts`.
fn combined<'a>(parts: impl Iterator<Item = &'a Pat>) -> Effect {
    let (mut looks, mut takes, mut part) = (false, false, false);
    for effect in parts.map(effect) {
        match effect {
            Effect::Inert => {}
            Effect::Looks => looks = true,
            Effect::Takes => takes = true,
            // The value may keep a part with a destructor.
            Effect::TakesFields | Effect::Part => part = true,
        }
    }
    match (looks, takes, part) {
        (_, _, true) | (true, true, _) => Effect::Part,
        (true, ..) => Effect::Looks,
        (_, true, _) => Effect::Takes,
        _ => Effect::Inert,
    }
}

/// Returns whether this is a variant of std's, whose type has no destructor of its own. For names without a path, rustc
/// checks that.
fn of_std(path: &syn::Path) -> bool {
    let known = |name: &syn::Ident| ["Some", "Ok", "Err"].iter().any(|known| name == known);
    path.get_ident().is_some_and(known)
}

/// Returns the effect of a pattern that names a type or a variant.
fn fields<'a>(path: &syn::Path, parts: impl Iterator<Item = &'a Pat>) -> Effect {
    match combined(parts) {
        effect if of_std(path) => effect,
        Effect::Takes => Effect::TakesFields,
        Effect::Inert => Effect::Looks,
        effect => effect,
    }
}

fn effect(pat: &Pat) -> Effect {
    match pat {
        Pat::Ident(p) if is_constant(p) || p.by_ref.is_some() => Effect::Looks,
        Pat::Ident(_) => Effect::Takes,
        Pat::Guard(p) => effect(&p.pat),
        Pat::Paren(p) => effect(&p.pat),
        Pat::Type(p) => effect(&p.pat),
        Pat::Or(p) => {
            let all: Vec<Effect> = p.cases.iter().map(effect).collect();
            match all[..] {
                _ if all.iter().all(|e| *e == all[0]) => all[0],
                _ if all.iter().all(|e| matches!(e, Effect::Takes | Effect::TakesFields)) => Effect::TakesFields,
                _ => Effect::Part,
            }
        }
        Pat::Tuple(p) => combined(p.elems.iter()),
        Pat::Slice(p) => combined(p.elems.iter()),
        Pat::TupleStruct(p) => fields(&p.path, p.elems.iter()),
        Pat::Struct(p) => match (fields(&p.path, p.fields.iter().map(|f| &*f.pat)), &p.rest) {
            (Effect::Takes | Effect::TakesFields, Some(_)) => Effect::Part,
            (effect, _) => effect,
        },
        Pat::Lit(_) | Pat::Range(_) | Pat::Reference(_) => Effect::Inert,
        Pat::Wild(_) | Pat::Rest(_) | Pat::Path(_) => Effect::Looks,
        _ => Effect::Part,
    }
}

/// Returns whether a pattern may take something out of the matched value.
pub(super) fn takes(pat: &Pat) -> bool {
    !matches!(effect(pat), Effect::Looks | Effect::Inert)
}

/// Returns the parts of a tuple or struct that a pattern looks at; `None` for other patterns, and if a `..` hides an
/// index.
fn elements(pat: &Pat) -> Option<Vec<(Member, &Pat)>> {
    match pat {
        Pat::Paren(p) => elements(&p.pat),
        Pat::Guard(p) => elements(&p.pat),
        Pat::Tuple(p) => indexed(&p.elems),
        Pat::TupleStruct(p) => indexed(&p.elems),
        Pat::Struct(p) => {
            let named = p.fields.iter().filter(|f| !matches!(&*f.pat, Pat::Wild(_)));
            Some(named.map(|f| (f.member.clone(), &*f.pat)).collect())
        }
        _ => None,
    }
}

fn indexed(elems: &syn::punctuated::Punctuated<Pat, syn::Token![,]>) -> Option<Vec<(Member, &Pat)>> {
    let mut found = Vec::new();
    for (index, elem) in elems.iter().enumerate() {
        match elem {
            Pat::Wild(_) => {}
            // After a rest pattern, only the type determines the index.
            Pat::Rest(_) if index + 1 == elems.len() => {}
            Pat::Rest(_) => return None,
            elem => found.push((Member::from(index), elem)),
        }
    }
    Some(found)
}

/// Returns whether a pattern leaves nothing to drop of any value it matches.
pub(crate) fn takes_all(pat: &Pat) -> bool {
    matches!(effect(pat), Effect::Takes | Effect::Inert)
}

/// Returns whether a pattern binds by `ref`.
pub(crate) fn by_ref(pat: &Pat) -> bool {
    struct Refs(bool);
    impl<'a> Visit<'a> for Refs {
        fn visit_pat_ident(&mut self, pat: &'a syn::PatIdent) {
            self.0 |= pat.by_ref.is_some();
            visit::visit_pat_ident(self, pat);
        }
        fn visit_expr(&mut self, _: &'a Expr) {}
    }
    let mut refs = Refs(false);
    refs.visit_pat(pat);
    refs.0
}

impl Builder<'_> {
    /// Binds the binders of a pattern; `kind` is the kind of the matched value.
    pub(crate) fn bind(&mut self, pat: &Pat, kind: &Kind) {
        match pat {
            Pat::Ident(p) if is_constant(p) => {}
            Pat::Ident(p) => {
                if let Some(var) = self.names.find(&p.ident) {
                    self.graph.kinds[var] = match &p.by_ref {
                        Some(_) => Kind::reference(Lend::Shared).borrowing(kind.from.clone()).borrowing(kind.place),
                        None => Kind { place: None, ..kind.clone() },
                    };
                    let stored = self.graph.stored[var].clone();
                    self.graph.kinds[var].from.extend(stored);
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
                self.bind(&p.elems[0], &Kind::guessed());
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

    /// Returns the kind of a part of a value: through a reference, again a reference.
    fn part(&self, kind: &Kind) -> Kind {
        Kind { counted: false, ..kind.clone() }
    }

    /// Declares the locals of `let x;` and `let (x, y);`.
    pub(crate) fn declare(&mut self, pat: &Pat, known: Option<Kind>) {
        match pat {
            Pat::Ident(p) => {
                if let Some(var) = self.names.find(&p.ident) {
                    let stored = self.graph.stored[var].clone();
                    self.graph.kinds[var] = known.unwrap_or_else(Kind::unknown).borrowing(stored);
                    self.scope.push(var);
                    self.touch(var, Use::Declare(false), p.ident.span());
                }
            }
            Pat::Paren(p) => self.declare(&p.pat, known),
            Pat::Tuple(p) => p.elems.iter().for_each(|e| self.declare(e, None)),
            Pat::Slice(p) => p.elems.iter().for_each(|e| self.declare(e, None)),
            _ => {}
        }
    }

    /// Records the effect of matching `pat` against the place `expr` of this kind on the local at its root. Returns the
    /// kind that the pattern's binders see.
    pub(crate) fn taken(&mut self, pat: &Pat, expr: &Expr, kind: &Kind) -> Kind {
        let mut kind = kind.clone();
        let Some((name, whole)) = scan::root(expr) else { return kind };
        let Some(var) = self.names.find(name) else { return kind };
        kind.place = self.lent(expr);
        if scan::name(expr).is_some() && self.graph.kinds[var].lends == Lend::Mut {
            // The binders borrow through the reference.
            kind.from.insert((var, false));
        }
        if let Some(elements) = elements(pat)
            && kind.drops
            && self.graph.kinds[var].lends == Lend::Owned
            && matches!(effect(pat), Effect::Looks | Effect::Part)
        {
            // Parts that the pattern does not name may have been moved, or stay. The local itself is named.
            self.touch(var, Use::Part(None), name.span());
            self.elements_taken(var, expr, elements, name.span());
            return kind;
        }
        let looks = if whole { Use::Borrow } else { Use::Part(self.field(expr).map(|(_, field)| field)) };
        let how = match effect(pat) {
            Effect::Looks if matches!(pat, Pat::Wild(_)) => Use::Part(None),
            _ if !kind.drops || self.graph.kinds[var].lends != Lend::Owned => looks,
            Effect::Looks | Effect::Inert => looks,
            Effect::Takes if whole => Use::Named,
            Effect::TakesFields if whole && self.graph.types[var].is_some() => Use::Fields,
            Effect::Takes | Effect::TakesFields | Effect::Part => {
                Use::TakePart(self.field(expr).map(|(_, field)| field))
            }
        };
        self.touch(var, how, name.span());
        kind
    }

    /// Records the effects of patterns on the parts of a local that they match.
    fn elements_taken(&mut self, var: usize, expr: &Expr, matched: Vec<(Member, &Pat)>, span: Span) {
        for (member, part) in matched {
            let place: Expr = syn::parse_quote!(#expr.#member);
            let field = self.field(&place).map(|(_, field)| field);
            match (effect(part), elements(part)) {
                (Effect::Looks | Effect::Inert, _) => self.touch(var, Use::Part(field), span),
                (Effect::TakesFields | Effect::Part, Some(inner)) => self.elements_taken(var, &place, inner, span),
                _ => self.touch(var, Use::TakePart(field), span),
            }
        }
    }

    /// Enters an arm; returns the point where control continues if the arm does not match.
    pub(crate) fn arm(&mut self, pat: &Pat, expr: &Expr, kind: &Kind) -> Option<usize> {
        self.event(Event::Nothing);
        let before = self.at;
        let seen = self.taken(pat, expr, kind);
        self.bind(pat, &seen);
        let mut otherwise = vec![before];
        if let Pat::Guard(p) = pat {
            self.value(&p.guard);
            // A failed guard has not moved the values that it read, but it may have changed something.
            if crate::scan::has_assignment(&p.guard) {
                otherwise.push(self.at);
            }
        }
        // Code after an arm that always matches is unreachable; rustc checks moves there all the same.
        let here = self.at;
        self.join(&otherwise);
        let next = self.at;
        self.at = here;
        next
    }

    /// Evaluates a condition; returns the point where control continues if the condition does not hold.
    pub(crate) fn condition(&mut self, cond: &Expr) -> Option<usize> {
        match scan::peel(cond) {
            Expr::Let(e) => {
                let kind = self.subject(&e.expr);
                self.event(Event::Nothing);
                let otherwise = self.at;
                let seen = self.taken(&e.pat, &e.expr, &kind);
                self.bind(&e.pat, &seen);
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

    /// Evaluates the scrutinee of a `match` or `if let`: a place is not used by value yet.
    pub(crate) fn subject(&mut self, expr: &Expr) -> Kind {
        match scan::name(expr).and_then(|n| self.names.find(n)) {
            // The patterns determine the local's use.
            Some(var) => self.graph.kinds[var].clone(),
            None if scan::is_place(expr) => self.place(expr, expr.span()),
            None => self.value(expr),
        }
    }

    /// Reads a place in place, and returns the kind of the value there.
    pub(crate) fn place(&mut self, expr: &Expr, span: Span) -> Kind {
        match scan::peel(expr) {
            Expr::Path(_) => match scan::name(expr).and_then(|n| self.names.find(n)) {
                Some(var) => {
                    self.touch(var, Use::Borrow, span);
                    self.graph.kinds[var].clone()
                }
                None => Kind::unknown(),
            },
            Expr::Field(e) => match self.field(expr) {
                Some((var, field)) => {
                    self.touch(var, Use::Part(Some(field)), span);
                    self.graph.kinds[var].clone().stand_in()
                }
                None => self.place(&e.base, span).stand_in(),
            },
            Expr::Index(e) => {
                let kind = self.place(&e.expr, span).stand_in();
                self.value(&e.index);
                kind
            }
            Expr::Unary(e) => self.place(&e.expr, span).stand_in(),
            other => self.value(other),
        }
    }
}

impl Kind {
    /// Returns the kind of a place inside a value: its own type is unknown. A value that is read through a reference is
    /// `Copy`.
    pub(crate) fn stand_in(self) -> Kind {
        let drops = self.drops || self.lends == Lend::Owned;
        Kind { drops, lends: Lend::Owned, guess: self.guess, from: self.from, ..Kind::unknown() }
    }
}
