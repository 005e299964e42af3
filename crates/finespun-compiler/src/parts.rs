//! Parts: where only the end of a branch has a reason against the stack schema, that end becomes a pinned task of its
//! own, which the rest of the body awaits. So a call that takes another branch, or leaves before, needs no frame.
//!
//! A *tail block* is a block whose value is the value of the body: the body itself, and the branches of the `if`,
//! `match` or block that ends a tail block. A part begins at a statement of a tail block and ends with the block: so
//! `return` and `?` have the same meaning inside, and nothing is used after it but what has to be dropped. A part takes
//! the locals that it names by value; [`capture`](crate::flow::capture) refuses it where another local borrows from
//! them, or where a local that it does not name has to be dropped behind it.

use std::collections::HashSet;

use proc_macro2::{Ident, Span};
use quote::{ToTokens, quote_spanned};
use syn::visit::{self, Visit};
use syn::visit_mut::VisitMut;
use syn::{Block, Expr, Stmt, Type};

use crate::emit::pinned::Awaits;
use crate::macros;
use crate::names::{self, Names};
use crate::scan;

/// The beginning of a part.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Cut {
    /// The tail block, by its number in order of the source.
    block: usize,
    /// The part's first statement.
    start: usize,
}

/// The number of times that a body is analysed in search of its parts.
const ATTEMPTS: usize = 40;

/// Returns the smallest parts of a body found with which it can have the stack schema; `None` if there are none, or if
/// every call would reach one. `attempt` analyses the body with these parts.
pub(crate) fn find(block: &Block, attempt: &mut dyn FnMut(&[Cut]) -> bool) -> Option<Vec<Cut>> {
    let mut block = block.clone();
    if has_item(&block) {
        // A part is written twice.
        return None;
    }
    let root = tails(&mut block, &mut 0, &mut |_, _| ());
    let mut left = ATTEMPTS;
    let mut attempt = |cuts: &[Cut]| {
        let more = left > 0;
        left = left.saturating_sub(1);
        more && attempt(cuts)
    };
    let cuts = root.refined(&[], &mut attempt)?;
    (!cuts.is_empty() && root.avoids(&cuts)).then_some(cuts)
}

/// A tail block, or a branch that awaits nothing.
#[derive(Default)]
struct Tail {
    number: usize,
    /// For each statement, whether it awaits.
    awaits: Vec<bool>,
    /// The first statement that may leave the body, if one does.
    leaves: Option<usize>,
    inner: Vec<Tail>,
}

impl Tail {
    fn cut(&self, start: usize) -> Cut {
        Cut { block: self.number, start }
    }

    fn any_awaits(&self) -> bool {
        self.awaits.contains(&true)
    }

    /// Returns the parts that this block needs, if those outside it are `others`.
    fn refined(&self, others: &[Cut], attempt: &mut dyn FnMut(&[Cut]) -> bool) -> Option<Vec<Cut>> {
        if attempt(others) {
            return Some(Vec::new());
        }
        let inner: Vec<&Tail> = self.inner.iter().filter(|tail| tail.any_awaits()).collect();
        let mut cuts: Vec<Vec<Cut>> = inner.iter().map(|tail| vec![tail.cut(0)]).collect();
        let with = |cuts: &[Vec<Cut>]| [others, &cuts.concat()].concat();
        if !inner.is_empty() && attempt(&with(&cuts)) {
            for (index, tail) in inner.iter().enumerate() {
                let whole = std::mem::take(&mut cuts[index]);
                cuts[index] = tail.refined(&with(&cuts), attempt).unwrap_or(whole);
            }
            return Some(cuts.concat());
        }
        let starts = (0..self.awaits.len()).rev().filter(|&start| self.awaits[start..].contains(&true));
        let mut cuts = starts.map(|start| vec![self.cut(start)]);
        cuts.find(|cut| attempt(&[others, cut].concat()))
    }

    /// Returns whether some call ends without a part.
    fn avoids(&self, cuts: &[Cut]) -> bool {
        let own = cuts.iter().find(|cut| cut.block == self.number && self.any_awaits());
        if self.leaves.is_some_and(|leaves| own.is_none_or(|cut| leaves < cut.start)) {
            return true;
        }
        own.is_none() && (self.inner.is_empty() || self.inner.iter().any(|tail| tail.avoids(cuts)))
    }
}

/// Visits the tail blocks of a block, inner ones first, with their numbers.
fn tails(block: &mut Block, next: &mut usize, visit: &mut dyn FnMut(usize, &mut Block)) -> Tail {
    let number = *next;
    *next += 1;
    let mut inner = Vec::new();
    let last = block.stmts.len().wrapping_sub(1);
    let ends = match block.stmts.last_mut() {
        Some(Stmt::Expr(expr, semi)) if semi.is_none() || matches!(expr, Expr::Return(_)) => {
            branches(expr, false, next, visit, &mut inner);
            true
        }
        _ => false,
    };
    let tail = Tail {
        number,
        awaits: block.stmts.iter().map(scan::stmt_awaits).collect(),
        // The last statement leaves by its branches.
        leaves: block.stmts.iter().enumerate().position(|(at, stmt)| !(ends && at == last) && leaves(stmt)),
        inner,
    };
    visit(number, block);
    tail
}

/// Visits the tail blocks in the value of a tail block. A branch that awaits and has no braces gets them.
fn branches(
    expr: &mut Expr,
    branch: bool,
    next: &mut usize,
    visit: &mut dyn FnMut(usize, &mut Block),
    all: &mut Vec<Tail>,
) {
    match expr {
        Expr::Paren(e) => branches(&mut e.expr, branch, next, visit, all),
        Expr::Group(e) => branches(&mut e.expr, branch, next, visit, all),
        Expr::Return(e) => {
            if let Some(value) = &mut e.expr {
                branches(value, branch, next, visit, all);
            }
        }
        Expr::Block(e) if e.label.is_none() => all.push(tails(&mut e.block, next, visit)),
        Expr::If(e) => {
            all.push(tails(&mut e.then_branch, next, visit));
            match &mut e.else_branch {
                Some((_, other)) => branches(other, true, next, visit, all),
                None => all.push(Tail::default()),
            }
        }
        Expr::Match(e) => e.arms.iter_mut().for_each(|arm| branches(&mut arm.body, true, next, visit, all)),
        _ if branch && scan::awaits(expr) => {
            let mut block: Block = syn::parse_quote!({ #expr });
            all.push(tails(&mut block, next, visit));
            *expr = Expr::Block(syn::ExprBlock { attrs: Vec::new(), label: None, block });
        }
        _ if branch => all.push(Tail::default()),
        _ => {}
    }
}

/// Replaces the parts of a body, whose names are resolved, by awaits of `async` blocks. Elsewhere, no operand is an
/// `async` block: `parse` rejects it. Returns the locals that some part takes.
pub(crate) fn replace(params: &[syn::Pat], block: &mut Block, cuts: &[Cut], names: &Names, ret: &Type) -> Vec<Ident> {
    if cuts.is_empty() {
        return Vec::new();
    }
    let mut outer = Binders::default();
    params.iter().for_each(|pat| outer.visit_pat(pat));
    outer.visit_block(block);
    let mut taken = Vec::new();
    tails(block, &mut 0, &mut |number, block| {
        let Some(cut) = cuts.iter().find(|cut| cut.block == number) else { return };
        let stmts = block.stmts.split_off(cut.start);
        let span = stmts.first().map_or(Span::mixed_site(), syn::spanned::Spanned::span);
        let part = Block { brace_token: block.brace_token, stmts };
        let captured = captured(&part, &outer, names);
        block.stmts.push(Stmt::Expr(part_of(part, &captured, ret, span), None));
        taken.extend(captured);
    });
    taken
}

fn part_of(mut part: Block, captured: &[Ident], ret: &Type, span: Span) -> Expr {
    Awaits(&mut crate::emit::pinned::call).visit_block_mut(&mut part);
    let span = span.resolved_at(Span::mixed_site());
    // In order of declaration: they are dropped in the reverse order. The user's braces around the user's code: when its
    // temporaries end depends on the edition.
    let tokens = quote_spanned! {span=>
        async move {
            #[allow(unreachable_code)]
            if false {
                return unsafe { ::finespun::__rt::never::<#ret>() };
            }
            #(#[allow(unused_mut, unused_assignments)] let mut #captured = #captured;)*
            #part
        }.await
    };
    syn::parse2(tokens).expect("an expression")
}

/// Returns the user's statements of a part.
pub(crate) fn statements(part: &syn::ExprAsync) -> &[Stmt] {
    match part.block.stmts.last() {
        Some(Stmt::Expr(Expr::Block(part), None)) => &part.block.stmts,
        _ => &[],
    }
}

/// Returns the locals from outside that a part names, in order of declaration.
fn captured(part: &Block, outer: &Binders, names: &Names) -> Vec<Ident> {
    let mut own = Binders::default();
    own.visit_block(part);
    let tokens = part.to_token_stream();
    let outside = |key: &&Ident| outer.0.contains(&key.to_string()) && !own.0.contains(&key.to_string());
    let keys = names.vars.iter().map(|var| &var.key).filter(outside);
    keys.filter(|key| macros::uses(&tokens, key)).cloned().collect()
}

/// The names that patterns bind, outside macros.
#[derive(Default)]
struct Binders(HashSet<String>);

impl<'a> Visit<'a> for Binders {
    fn visit_pat(&mut self, pat: &'a syn::Pat) {
        self.0.extend(names::binders(pat).iter().map(Ident::to_string));
        visit::visit_pat(self, pat);
    }
}

/// Returns whether a statement may leave the body.
fn leaves(stmt: &Stmt) -> bool {
    struct Leaves(bool);
    impl<'a> Visit<'a> for Leaves {
        fn visit_expr(&mut self, expr: &'a Expr) {
            match expr {
                Expr::Closure(_) | Expr::Async(_) => {}
                Expr::Return(_) | Expr::Try(_) => self.0 = true,
                _ => visit::visit_expr(self, expr),
            }
        }
        fn visit_item(&mut self, _: &'a syn::Item) {}
    }
    let mut seen = Leaves(false);
    seen.visit_stmt(stmt);
    seen.0
}

/// Returns whether a block contains an item.
fn has_item(block: &Block) -> bool {
    struct Items(bool);
    impl<'a> Visit<'a> for Items {
        fn visit_item(&mut self, _: &'a syn::Item) {
            self.0 = true;
        }
    }
    let mut items = Items(false);
    items.visit_block(block);
    items.0
}
