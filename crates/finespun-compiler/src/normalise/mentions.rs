//! The facts about a body's locals that a first pass collects.

use std::collections::{HashMap, HashSet};

use syn::visit::{self, Visit};
use syn::{Block, Expr, Ident, Local, Pat, Type};

use crate::flow::methods;
use crate::kinds::{self, Lend};
use crate::scan;

/// How often each local is mentioned after its declaration, and whether in a loop that does not declare it; also the
/// locals that are certainly not `&mut` references.
#[derive(Default)]
pub(super) struct Mentions {
    owned: HashSet<String>,
    seen: HashMap<String, (usize, bool)>,
    declared: HashMap<String, usize>,
    depth: usize,
}

impl Mentions {
    /// Returns the mentions of a body whose parameters `owned` are not `&mut` references.
    pub(super) fn of(block: &Block, owned: &[Ident]) -> Mentions {
        let mut mentions = Mentions { owned: owned.iter().map(Ident::to_string).collect(), ..Mentions::default() };
        mentions.visit_block(block);
        mentions
    }

    /// Returns whether a local may be a `&mut` reference.
    pub(super) fn reborrowed(&self, name: &Ident) -> bool {
        !self.owned.contains(&name.to_string())
    }

    fn turn(&mut self, run: impl FnOnce(&mut Self)) {
        self.depth += 1;
        run(self);
        self.depth -= 1;
    }

    fn mention(&mut self, name: &Ident) {
        let name = name.to_string();
        let outside = self.declared.get(&name).copied().unwrap_or(0) < self.depth;
        let (count, inside) = self.seen.entry(name).or_default();
        *count += 1;
        *inside |= outside;
    }

    /// Returns whether this is the only mention of a local, so that a move there may happen earlier.
    pub(super) fn only(&self, name: &Ident) -> bool {
        self.seen.get(&name.to_string()).is_some_and(|&(count, in_loop)| count == 1 && !in_loop)
    }
}

impl<'a> Visit<'a> for Mentions {
    fn visit_local(&mut self, local: &'a Local) {
        let (pat, owned) = match &local.pat {
            Pat::Type(t) => (&*t.pat, is_plain(&t.ty)),
            pat => (pat, local.init.as_ref().is_some_and(|init| is_owned(&init.expr))),
        };
        if let (Pat::Ident(p), true) = (pat, owned) {
            self.owned.insert(p.ident.to_string());
        }
        visit::visit_local(self, local);
    }
    fn visit_pat_ident(&mut self, pat: &'a syn::PatIdent) {
        self.declared.insert(pat.ident.to_string(), self.depth);
        visit::visit_pat_ident(self, pat);
    }
    fn visit_expr_path(&mut self, path: &'a syn::ExprPath) {
        path.path.get_ident().into_iter().for_each(|name| self.mention(name));
    }
    fn visit_macro(&mut self, mac: &'a syn::Macro) {
        crate::macros::idents(&mac.tokens).iter().for_each(|name| self.mention(name));
    }
    fn visit_expr_loop(&mut self, e: &'a syn::ExprLoop) {
        self.turn(|me| visit::visit_expr_loop(me, e));
    }
    fn visit_expr_while(&mut self, e: &'a syn::ExprWhile) {
        self.turn(|me| visit::visit_expr_while(me, e));
    }
    fn visit_expr_for_loop(&mut self, e: &'a syn::ExprForLoop) {
        self.visit_expr(&e.expr);
        self.turn(|me| {
            me.visit_pat(&e.pat);
            me.visit_block(&e.body);
        });
    }
    fn visit_expr_closure(&mut self, e: &'a syn::ExprClosure) {
        // Each call of the closure may name its locals again.
        self.turn(|me| visit::visit_expr_closure(me, e));
    }
}

/// Returns whether this is the type of a number or of a shared reference.
pub(crate) fn is_plain(ty: &Type) -> bool {
    kinds::of_type(ty).is_some_and(|kind| kind.primitive || kind.lends == Lend::Shared)
}

/// Returns whether a value is certainly not a `&mut` reference, and holds none.
fn is_owned(expr: &Expr) -> bool {
    match scan::peel(expr) {
        Expr::Reference(e) => e.mutability.is_none(),
        Expr::MethodCall(e) => methods::primitive(e) || methods::of_number(&e.method),
        Expr::Lit(_) | Expr::Binary(_) | Expr::Unary(_) | Expr::Cast(_) | Expr::Closure(_) => true,
        Expr::Macro(e) => !["vec", "dbg"].iter().any(|name| e.mac.path.is_ident(name)),
        // These hold none if their elements hold none.
        Expr::Array(e) => e.elems.iter().all(is_owned),
        Expr::Tuple(e) => e.elems.iter().all(is_owned),
        Expr::Struct(e) => e.rest.is_none() && e.fields.iter().all(|field| is_owned(&field.expr)),
        Expr::Repeat(e) => is_owned(&e.expr),
        Expr::Range(_) | Expr::Index(_) => true,
        _ => false,
    }
}
