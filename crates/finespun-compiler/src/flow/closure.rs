//! The effects of a closure (or a nested `async` block) on the locals it names.

use syn::visit::{self, Visit};
use syn::{Expr, Ident};

use super::event::{Field, Use};
use super::graph::Builder;
use super::pattern::takes;
use crate::kinds::{Kind, Lend};
use crate::macros::{self, Arguments};
use crate::scan;

#[derive(Default)]
struct Mentions<'a> {
    /// Named by itself.
    plain: Vec<&'a Ident>,
    /// Named as the root of an index, a dereference, a method call.
    through: Vec<&'a Ident>,
    /// Named as the root of a field access, with the expression if the field is known.
    parts: Vec<(&'a Ident, Option<&'a Expr>)>,
    /// Matched by a pattern that takes something out of the local.
    taken: Vec<&'a Ident>,
}

/// How a closure names a local.
#[derive(Clone, Copy)]
enum Named<'a> {
    Plain,
    Through,
    Part(Option<&'a Expr>),
    Taken,
}

impl<'a> Mentions<'a> {
    /// Records that a local, if `head` is one, is matched by patterns.
    fn matched(&mut self, head: &'a Expr, takes: bool) {
        let Some(name) = scan::name(head) else { return };
        if takes { self.taken.push(name) } else { self.parts.push((name, None)) }
    }
}

impl<'a> Visit<'a> for Mentions<'a> {
    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Path(_) => self.plain.extend(scan::name(expr)),
            Expr::Field(_) | Expr::Index(_) | Expr::Unary(_) if scan::is_place(expr) => {
                // Of `s.v[i]`, the closure captures `s.v`.
                match scan::root(expr) {
                    Some((root, _)) if has_field(expr) => self.parts.push((root, Some(expr))),
                    root => self.through.extend(root.map(|(n, _)| n)),
                }
                if let Expr::Index(i) = expr {
                    self.visit_expr(&i.index);
                }
            }
            Expr::MethodCall(m) if scan::is_place(&m.receiver) => {
                match scan::name(&m.receiver) {
                    Some(name) => self.through.push(name),
                    None => self.visit_expr(&m.receiver),
                }
                m.args.iter().for_each(|a| self.visit_expr(a));
            }
            // A value that a pattern destructures is captured in part, or not at all.
            Expr::Match(m) if scan::name(&m.expr).is_some() => {
                self.matched(&m.expr, m.arms.iter().any(|arm| takes(&arm.pat)));
                m.arms.iter().for_each(|arm| self.visit_arm(arm));
            }
            Expr::Let(e) if scan::name(&e.expr).is_some() => {
                self.matched(&e.expr, takes(&e.pat));
            }
            Expr::Assign(e) if scan::name(&e.right).is_some() && !scan::is_place(&e.left) => {
                self.matched(&e.right, !matches!(*e.left, Expr::Infer(_)));
                self.visit_expr(&e.left);
            }
            _ => visit::visit_expr(self, expr),
        }
    }
    fn visit_local(&mut self, local: &'a syn::Local) {
        match &local.init {
            Some(init) if scan::name(&init.expr).is_some() && !matches!(local.pat, syn::Pat::Ident(_)) => {
                self.matched(&init.expr, takes(&local.pat));
                if let Some((_, other)) = &init.diverge {
                    self.visit_expr(other);
                }
            }
            _ => visit::visit_local(self, local),
        }
    }
    fn visit_macro(&mut self, _: &'a syn::Macro) {
        // The tokens of a macro are not the body's: see `in_macros`.
    }
}

/// Returns whether this place is a field, or a part of one.
fn has_field(place: &Expr) -> bool {
    match scan::peel(place) {
        Expr::Field(_) => true,
        Expr::Index(e) => has_field(&e.expr),
        Expr::Unary(e) => has_field(&e.expr),
        _ => false,
    }
}

impl Builder<'_> {
    /// Records the events of a closure whose body is `body`, and returns the closure's kind.
    pub(crate) fn closure(&mut self, body: &Expr, moves: bool, span: proc_macro2::Span) -> Kind {
        let mut mentions = Mentions::default();
        mentions.visit_expr(body);
        // The closure has a destructor if one of its captures has.
        let mut kind = Kind::copy();
        kind.closure = true;
        for (var, matched) in self.in_macros(body) {
            kind.drops |= self.graph.kinds[var].drops;
            // The macro may use only a part of the local, or only its name.
            let part = self.graph.kinds[var].drops && self.graph.kinds[var].lends == Lend::Owned;
            let how = match moves || matched {
                true if part => Use::TakePart(None),
                true => Use::Maybe,
                false => Use::Borrow,
            };
            self.touch(var, how, span);
            if !moves {
                kind.from.insert((var, true));
            }
        }
        let plain = mentions.plain.iter().map(|n| (n, Named::Plain));
        let through = mentions.through.iter().map(|n| (n, Named::Through));
        let parts = mentions.parts.iter().map(|(n, field)| (n, Named::Part(*field)));
        let taken = mentions.taken.iter().map(|n| (n, Named::Taken));
        for (name, named) in plain.chain(through).chain(parts).chain(taken) {
            let Some(var) = self.names.find(name) else { continue };
            if !self.scope.contains(&var) {
                continue;
            }
            let known = self.graph.kinds[var].clone();
            kind.drops |= known.drops;
            kind.guess |= known.guess;
            let plain = matches!(named, Named::Plain);
            let how = match named {
                Named::Plain | Named::Through if moves => Use::Value,
                // Only the field is captured.
                Named::Part(_) | Named::Taken
                    if known.drops && known.lends == Lend::Owned && (moves || matches!(named, Named::Taken)) =>
                {
                    Use::TakePart(None)
                }
                _ if moves => Use::Maybe,
                Named::Plain => Use::Maybe,
                Named::Part(Some(expr)) => Use::Part(self.field(expr).map(|(_, field)| field)),
                Named::Part(None) => Use::Part(None),
                Named::Through | Named::Taken => Use::Borrow,
            };
            self.touch(var, how, name.span());
            kind.from.extend(known.from);
            match (moves, known.lends) {
                (true, Lend::Mut) => drop(kind.from.insert((var, false))),
                (true, _) => {}
                (false, Lend::Shared) if !plain && !known.name => {}
                (false, Lend::Mut) if !plain => drop(kind.from.insert((var, false))),
                (false, _) => drop(kind.from.insert((var, true))),
            }
        }
        kind
    }

    /// Returns the locals in scope that the statements of a part of the body name, in order of declaration: as a whole
    /// (`None`), or these fields of them, if it is known which.
    pub(crate) fn named(
        &mut self,
        stmts: &[syn::Stmt],
        tokens: &proc_macro2::TokenStream,
    ) -> Vec<(usize, Option<Vec<Option<Field>>>)> {
        let mut mentions = Mentions::default();
        stmts.iter().for_each(|stmt| mentions.visit_stmt(stmt));
        let mut all = Vec::new();
        for var in self.scope.clone() {
            let key = &self.names.vars[var].key;
            if mentions.plain.iter().chain(&mentions.through).any(|name| *name == key) {
                all.push((var, None));
            } else if macros::uses(tokens, key) {
                let parts = mentions.parts.iter().filter(|(name, _)| *name == key);
                let parts: Vec<Option<&Expr>> = parts.map(|(_, part)| *part).collect();
                let fields = parts.into_iter().map(|part| Some(self.field(part?)?.1)).collect();
                all.push((var, Some(fields)));
            }
        }
        all
    }

    /// Returns the locals in scope that macros inside an expression name, and whether a pattern may move a part out.
    fn in_macros(&self, expr: &Expr) -> Vec<(usize, bool)> {
        struct Macros<'a>(Vec<&'a syn::Macro>);
        impl<'a> Visit<'a> for Macros<'a> {
            fn visit_macro(&mut self, mac: &'a syn::Macro) {
                self.0.push(mac);
            }
        }
        let mut macros = Macros(Vec::new());
        macros.visit_expr(expr);
        let used = |mac: &&syn::Macro| {
            let tokens = mac.tokens.clone();
            let matched = match macros::parse(mac) {
                Some((_, Arguments::Matches(head, pat, _))) if takes(&pat) => scan::root(&head).map(|(n, _)| n.clone()),
                _ => None,
            };
            let all: Vec<Ident> = macros::idents(&tokens);
            all.into_iter()
                .filter(move |name| macros::uses(&tokens, name))
                .map(move |name| (matched.as_ref() == Some(&name), name))
        };
        let names = macros.0.iter().flat_map(used);
        let found = |(matched, name)| Some((self.names.find(&name)?, matched));
        names.filter_map(found).filter(|(var, _)| self.scope.contains(var)).collect()
    }
}
