//! Makes closures and `async` blocks own their captures where that changes nothing.
//!
//! `|k| f(table, k)` captures the local `table`, not the table that it refers to, and a reference to a local cannot
//! move to the heap with the task. If all captures are shared references and numbers, by their written types, in
//! bindings that are not `mut`, copies serve as well: such closures become `move`. `async` blocks are treated alike.
//!
//! Within the operand of an await, so do locals of other types that the closure only passes on by value
//! (`|k| f(board, k)`): a value that cannot be copied is moved into the closure in any case. A mutable reference would be
//! reborrowed instead, so the type must be written, or the local not be named again.
//!
//! A closure in doubt stays as it is, which is a reason against the stack schema, not an error.

use std::cell::Cell;
use std::collections::{HashMap, HashSet};

use proc_macro2::{Ident, TokenStream};
use quote::ToTokens;
use syn::visit::{self, Visit};
use syn::visit_mut::{self, VisitMut};
use syn::{Block, Expr, ExprClosure, Macro, Pat, Type};

use crate::flow::methods;
use crate::kinds;
use crate::lend;
use crate::macros::{self, mentions};
use crate::names::Names;
use crate::scan;

/// Makes closures and `async` blocks `move` where that changes nothing.
pub(crate) fn own<'a>(block: &mut Block, params: impl IntoIterator<Item = (&'a Pat, Option<&'a Type>)>, names: &Names) {
    let mut copies = Copies { copies: HashMap::new(), typed: HashSet::new() };
    for (pat, ty) in params {
        if let Some(ty) = ty {
            copies.bound(pat, ty);
        }
    }
    copies.visit_block(block);
    let body = block.to_token_stream();
    let Copies { copies, typed } = copies;
    Closures { copies, typed, names, body, operand: false }.visit_block_mut(block);
}

struct Copies {
    /// The locals that a closure may copy, by name. True for references (and names of objects), false for numbers.
    copies: HashMap<String, bool>,
    /// The other locals whose type is written, and is no reference.
    typed: HashSet<String>,
}

impl Copies {
    fn bound(&mut self, pat: &Pat, ty: &Type) {
        let Pat::Ident(id) = pat else { return };
        let reference = match ty {
            Type::Reference(r) if r.mutability.is_none() => true,
            Type::Path(p) if p.qself.is_none() && p.path.get_ident().is_some_and(kinds::is_primitive) => false,
            // The methods of an object's name take it by value.
            ty if kinds::is_name(ty) => true,
            ty => {
                if matches!(ty, Type::Path(_) | Type::Array(_) | Type::Tuple(_)) {
                    self.typed.insert(id.ident.to_string());
                }
                return;
            }
        };
        if id.by_ref.is_none() && id.mutability.is_none() && id.subpat.is_none() {
            self.copies.insert(id.ident.to_string(), reference);
        }
    }
}

impl<'a> Visit<'a> for Copies {
    fn visit_local(&mut self, local: &'a syn::Local) {
        match (&local.pat, &local.init) {
            (Pat::Type(p), _) => self.bound(&p.pat, &p.ty),
            // A reference to a local in a cell.
            (Pat::Ident(p), Some(init))
                if p.mutability.is_none() && lend::source(&init.expr).is_some_and(|(_, reference)| reference) =>
            {
                self.copies.insert(p.ident.to_string(), true);
            }
            _ => {}
        }
        visit::visit_local(self, local);
    }
    fn visit_item(&mut self, _: &'a syn::Item) {}
}

struct Closures<'a> {
    copies: HashMap<String, bool>,
    typed: HashSet<String>,
    names: &'a Names,
    /// The task's body, as it was.
    body: TokenStream,
    /// Within the operand of an await, and not in a closure there.
    operand: bool,
}

impl Closures<'_> {
    fn within(&mut self, operand: bool, visit: impl FnOnce(&mut Self)) {
        let outside = std::mem::replace(&mut self.operand, operand);
        visit(self);
        self.operand = outside;
    }
}

impl VisitMut for Closures<'_> {
    fn visit_expr_closure_mut(&mut self, closure: &mut ExprClosure) {
        self.within(false, |me| visit_mut::visit_expr_closure_mut(me, closure));
        let body = closure.body.to_token_stream();
        if closure.capture.is_none() && self.copied(&body, |own| own.visit_expr_closure(closure)) {
            closure.capture = Some(syn::parse_quote!(move));
        }
    }
    fn visit_expr_async_mut(&mut self, e: &mut syn::ExprAsync) {
        self.within(false, |me| visit_mut::visit_expr_async_mut(me, e));
        let body = e.block.to_token_stream();
        if e.capture.is_none() && self.copied(&body, |own| own.visit_block(&e.block)) {
            e.capture = Some(syn::parse_quote!(move));
        }
    }
    fn visit_expr_await_mut(&mut self, e: &mut syn::ExprAwait) {
        self.within(true, |me| visit_mut::visit_expr_await_mut(me, e));
    }
    fn visit_macro_mut(&mut self, mac: &mut Macro) {
        if scan::is_join(mac)
            && let Ok(mut branches) = crate::parse::branches(mac)
        {
            self.within(true, |me| branches.iter_mut().for_each(|branch| me.visit_expr_mut(branch)));
            mac.tokens = branches.to_token_stream();
        }
    }
    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}

impl Closures<'_> {
    /// Returns whether a closure with this `body`, which `visit` visits, captures only locals that may be copied or moved,
    /// and does not borrow these locals themselves.
    fn copied<'a>(&'a self, body: &TokenStream, visit: impl FnOnce(&mut Own<'a>)) -> bool {
        let mut own = Own { copies: &self.copies, binders: Vec::new(), passed: Vec::new(), lent: false, depth: 0 };
        visit(&mut own);
        let captured = |name: &Ident| !own.binders.contains(&name) && self.names.find(name).is_some();
        let copy = |name: &Ident| self.copies.contains_key(&name.to_string());
        let passed = |name: &Ident| {
            let times = count(body, name);
            self.operand
                && own.passed.iter().filter(|passed| **passed == name).count() == times
                // Once more where the local is declared.
                && (self.typed.contains(&name.to_string()) || count(&self.body, name) == times + 1)
        };
        !own.lent && mentions(body, &|n| captured(n)) && !mentions(body, &|n| captured(n) && !copy(n) && !passed(n))
    }
}

/// Returns how often a name occurs in the tokens.
fn count(tokens: &TokenStream, name: &Ident) -> usize {
    let count = Cell::new(0);
    mentions(tokens, &|other| {
        count.set(count.get() + usize::from(other == name));
        false
    });
    count.get()
}

/// The captures and borrows of one closure or block.
struct Own<'a> {
    copies: &'a HashMap<String, bool>,
    /// The names that the closure itself binds.
    binders: Vec<&'a Ident>,
    /// The names that are arguments of calls, once for each time.
    passed: Vec<&'a Ident>,
    /// A borrow was found that, in a `move` closure, might borrow from the closure itself.
    lent: bool,
    depth: usize,
}

impl<'a> Visit<'a> for Own<'a> {
    fn visit_pat_ident(&mut self, pat: &'a syn::PatIdent) {
        self.lent |= pat.by_ref.is_some();
        self.binders.push(&pat.ident);
        visit::visit_pat_ident(self, pat);
    }
    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Reference(e) => {
                self.lent |= scan::name(&e.expr).is_some_and(|n| self.copies.contains_key(&n.to_string()))
            }
            Expr::RawAddr(_) => self.lent = true,
            Expr::Async(_) => self.lent = true,
            Expr::Call(e) => self.passed.extend(e.args.iter().filter_map(scan::name)),
            Expr::MethodCall(e) => {
                self.passed.extend(e.args.iter().filter_map(scan::name));
                // A method may take a number by reference; the methods of a reference take the referent.
                self.lent |= scan::name(&e.receiver).and_then(|n| self.copies.get(&n.to_string())) == Some(&false)
                    && !methods::of_number(&e.method)
                    && !BY_VALUE.iter().any(|m| e.method == m);
            }
            _ => {}
        }
        visit::visit_expr(self, expr);
    }
    fn visit_expr_closure(&mut self, closure: &'a ExprClosure) {
        self.depth += 1;
        // A nested closure that is not `move` would borrow from this closure.
        self.lent |= self.depth > 1 && closure.capture.is_none();
        visit::visit_expr_closure(self, closure);
        self.depth -= 1;
    }
    fn visit_macro(&mut self, mac: &'a syn::Macro) {
        self.lent |= names_inline(&mac.tokens);
    }
}

/// Returns whether a string among the tokens may name a local, as `format!("{x}")` does.
fn names_inline(tokens: &TokenStream) -> bool {
    let mut found = false;
    macros::literals(tokens, &mut |text| found |= !macros::inline_names(text).is_empty());
    found
}

/// Methods of `bool` and of ordered types that take numbers by value.
const BY_VALUE: &[&str] = &["min", "max", "then", "then_some"];
