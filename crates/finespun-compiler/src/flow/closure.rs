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
                let root = scan::root(expr).map(|(n, _)| n);
                match expr {
                    Expr::Field(_) => self.parts.extend(root),
                    _ => self.through.extend(root),
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
            _ => visit::visit_expr(self, expr),
        }
    }
    fn visit_macro(&mut self, mac: &'a syn::Macro) {
        // Arguments of understood macros: names only, at any depth.
        let _ = mac;
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
            self.touch(var, if moves { Use::Value } else { Use::Borrow }, span);
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
        let names = macros.0.iter().flat_map(crate::macros::idents);
        names.filter_map(|name| self.names.find(&name).filter(|var| self.scope.contains(var))).collect()
    }
}
