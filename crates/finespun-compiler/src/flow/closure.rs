//! What a closure (or a nested `async` block) does to the locals it names.

use syn::visit::{self, Visit};
use syn::{Expr, Ident};

use super::event::Use;
use super::graph::Builder;
use crate::kinds::{Kind, Lend};
use crate::scan;

#[derive(Default)]
struct Mentions<'a> {
    /// Named as such.
    plain: Vec<&'a Ident>,
    /// Named as the root of an index, a dereference, a method call.
    through: Vec<&'a Ident>,
    /// Named as the root of a field.
    parts: Vec<&'a Ident>,
}

impl<'a> Visit<'a> for Mentions<'a> {
    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Path(_) => self.plain.extend(scan::name(expr)),
            Expr::Field(_) | Expr::Index(_) | Expr::Unary(_) if scan::is_place(expr) => {
                // Of `s.v[i]` it captures `s.v`.
                match scan::root(expr) {
                    Some((root, _)) if has_field(expr) => self.parts.push(root),
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
            // What a pattern takes apart is captured in part, or not at all.
            Expr::Match(m) if scan::name(&m.expr).is_some() => {
                self.parts.extend(scan::name(&m.expr));
                m.arms.iter().for_each(|arm| self.visit_arm(arm));
            }
            Expr::Let(e) if scan::name(&e.expr).is_some() => self.parts.extend(scan::name(&e.expr)),
            Expr::Assign(e) if scan::name(&e.right).is_some() && !scan::is_place(&e.left) => {
                self.parts.extend(scan::name(&e.right));
                self.visit_expr(&e.left);
            }
            _ => visit::visit_expr(self, expr),
        }
    }
    fn visit_local(&mut self, local: &'a syn::Local) {
        match &local.init {
            Some(init) if scan::name(&init.expr).is_some() && !matches!(local.pat, syn::Pat::Ident(_)) => {
                self.parts.extend(scan::name(&init.expr));
                if let Some((_, other)) = &init.diverge {
                    self.visit_expr(other);
                }
            }
            _ => visit::visit_local(self, local),
        }
    }
    fn visit_macro(&mut self, mac: &'a syn::Macro) {
        // Arguments of understood macros: names only, at any depth.
        let _ = mac;
    }
}

/// Is this place a field, or a part of one?
fn has_field(place: &Expr) -> bool {
    match scan::peel(place) {
        Expr::Field(_) => true,
        Expr::Index(e) => has_field(&e.expr),
        Expr::Unary(e) => has_field(&e.expr),
        _ => false,
    }
}

impl Builder<'_> {
    /// Events and kind of a closure whose body is `body`.
    pub(crate) fn closure(&mut self, body: &Expr, moves: bool, span: proc_macro2::Span) -> Kind {
        let mut mentions = Mentions::default();
        mentions.visit_expr(body);
        // It has a destructor if something that it captures has.
        let mut kind = Kind::copy();
        kind.closure = true;
        for var in self.in_macros(body) {
            kind.drops |= self.graph.kinds[var].drops;
            // Perhaps a part of it alone, or only its name.
            let part = self.graph.kinds[var].drops && self.graph.kinds[var].lends == Lend::Owned;
            let how = match moves {
                true if part => Use::TakePart(None),
                true => Use::Maybe,
                false => Use::Borrow,
            };
            self.touch(var, how, span);
            if !moves {
                kind.from.insert((var, true));
            }
        }
        let plain = mentions.plain.iter().map(|n| (n, true, true));
        let through = mentions.through.iter().map(|n| (n, false, true));
        let parts = mentions.parts.iter().map(|n| (n, false, false));
        for (name, plain, whole) in plain.chain(through).chain(parts) {
            let Some(var) = self.names.find(name) else { continue };
            if !self.scope.contains(&var) {
                continue;
            }
            let known = self.graph.kinds[var].clone();
            kind.drops |= known.drops;
            kind.guess |= known.guess;
            let how = match (moves, plain) {
                (true, _) if whole => Use::Value,
                // Only the field is captured.
                (true, _) if known.drops && known.lends == Lend::Owned => Use::TakePart(None),
                (true, _) => Use::Maybe,
                (false, true) => Use::Maybe,
                (false, false) => Use::Borrow,
            };
            self.touch(var, how, name.span());
            kind.from.extend(known.from);
            match (moves, known.lends) {
                (true, Lend::Mut) => drop(kind.from.insert((var, false))),
                (true, _) => {}
                (false, Lend::Shared) if !plain => {}
                (false, Lend::Mut) if !plain => drop(kind.from.insert((var, false))),
                (false, _) => drop(kind.from.insert((var, true))),
            }
        }
        kind
    }

    /// The locals in scope that macros inside an expression name.
    fn in_macros(&self, expr: &Expr) -> Vec<usize> {
        struct Macros(Vec<proc_macro2::TokenStream>);
        impl<'a> Visit<'a> for Macros {
            fn visit_macro(&mut self, mac: &'a syn::Macro) {
                self.0.push(mac.tokens.clone());
            }
        }
        let mut macros = Macros(Vec::new());
        macros.visit_expr(expr);
        let used = |tokens| {
            let all: Vec<Ident> = crate::macros::idents(tokens);
            all.into_iter().filter(move |name| crate::macros::uses(tokens, name))
        };
        let names = macros.0.iter().flat_map(used);
        names.filter_map(|name| self.names.find(&name).filter(|var| self.scope.contains(var))).collect()
    }
}
