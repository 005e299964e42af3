//! Passes types from the hot version of a body to the cold one.
//!
//! The cold version contains only the code that can still run after the task has left the stack, so it may lack the
//! alternative that fixes a type: of `let x = if c { 1u8 } else { wait().await; !0 };` only the `!0` remains. In the
//! hot version, the value therefore passes through a *tie*, and the slot in the cold version has the tie's type. The
//! same applies to a local that is live at no await and is assigned after one: of
//! `let mut n = 1u8; show(n); wait().await; n = !0;` only the `!0` remains.
//!
//! A value that borrows from a local has no tie, which would make the borrow outlive the stack, unless the type of one
//! alternative depends on another alternative.

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote_spanned};
use syn::visit::Visit;
use syn::{BinOp, Expr, Ident, Stmt, UnOp};

use super::Ready;
use crate::ir::{BlockId, Dest, Node};
use crate::kinds;
use crate::macros::{self, Arguments};
use crate::names;
use crate::scan;

impl Ready {
    /// Returns the tie of a compound node.
    pub(super) fn tie(&self, block: BlockId, index: usize) -> Option<Ident> {
        let node = &self.body.blocks[block].nodes[index];
        if matches!(node, Node::Plain(_) | Node::Await(_)) {
            return None;
        }
        let Some(Dest::Let(pat, ty)) = node.out() else { return None };
        if ty.as_ref().is_some_and(|ty| !kinds::has_holes(ty)) {
            return None;
        }
        let borrows = |name| self.names.find(name).is_some_and(|var| self.flow.borrows[var]);
        let tied = !names::binders(pat).iter().any(borrows) || self.vague(node);
        tied.then(|| format_ident!("__tie{block}_{index}", span = Span::mixed_site()))
    }

    /// Returns the tie of a local.
    pub(super) fn tie_of(&self, var: usize) -> Option<Ident> {
        self.flow.tied.contains(&var).then(|| format_ident!("__tie_{var}", span = Span::mixed_site()))
    }

    /// Fixes the type of a local without a value.
    pub(super) fn told(&self, var: usize) -> Option<TokenStream> {
        let (tie, key) = (self.tie_of(var)?, &self.names.vars[var].key);
        Some(quote_spanned! {Span::mixed_site()=>
            #[allow(unused, unreachable_code, clippy::all)]
            {
                if false {
                    #key = unsafe { ::finespun::__rt::Tie::never(#tie) };
                    loop {}
                }
            }
        })
    }

    /// Returns all ties of the body.
    pub(super) fn ties(&self) -> Vec<Ident> {
        let blocks = self.body.blocks.iter().enumerate();
        let nodes = blocks.flat_map(|(b, block)| (0..block.nodes.len()).filter_map(move |n| self.tie(b, n)));
        nodes.chain(self.flow.tied.iter().filter_map(|&var| self.tie_of(var))).collect()
    }

    /// Returns whether the type of an alternative may depend on another alternative.
    fn vague(&self, node: &Node) -> bool {
        match node {
            Node::If { .. } | Node::Match { .. } => node.children().into_iter().any(|block| self.vague_block(block)),
            Node::Scope { label, body, .. } => self.vague_block(*body) || (label.is_some() && self.vague_breaks(*body)),
            Node::Loop { body, .. } => self.vague_breaks(*body),
            Node::Plain(_) | Node::Await(_) => false,
        }
    }

    /// Returns the same for the values of `break`s, of any loop.
    fn vague_breaks(&self, block: BlockId) -> bool {
        struct Breaks(bool);
        impl<'a> Visit<'a> for Breaks {
            fn visit_expr_break(&mut self, e: &'a syn::ExprBreak) {
                self.0 |= e.expr.as_deref().is_some_and(vague);
            }
        }
        let content = &self.body.blocks[block];
        let mut breaks = Breaks(false);
        for node in &content.nodes {
            match node {
                Node::Plain(stmt) => breaks.visit_stmt(stmt),
                node => breaks.0 |= node.children().into_iter().any(|inner| self.vague_breaks(inner)),
            }
        }
        content.value.iter().for_each(|value| breaks.visit_expr(value));
        breaks.0
    }

    fn vague_block(&self, block: BlockId) -> bool {
        let block = &self.body.blocks[block];
        match (&block.value, block.nodes.last()) {
            (Some(value), _) => vague(value),
            (None, Some(node)) if matches!(node.out(), Some(Dest::Value)) => self.vague(node),
            _ => false,
        }
    }
}

/// Returns whether the type of this value depends on another expression.
fn vague(expr: &Expr) -> bool {
    let tail = |block: &syn::Block| match block.stmts.last() {
        Some(Stmt::Expr(e, None)) => vague(e),
        _ => false,
    };
    match scan::peel(expr) {
        Expr::Lit(e) => match &e.lit {
            syn::Lit::Int(n) => n.suffix().is_empty(),
            syn::Lit::Float(n) => n.suffix().is_empty(),
            _ => false,
        },
        Expr::Path(e) => e.path.is_ident("None"),
        Expr::Unary(e) if matches!(e.op, UnOp::Neg(_) | UnOp::Not(_)) => vague(&e.expr),
        Expr::Binary(e) if !matches!(e.op, BinOp::And(_) | BinOp::Or(_)) => vague(&e.left) && vague(&e.right),
        Expr::Reference(e) => vague(&e.expr),
        Expr::Tuple(e) => e.elems.iter().any(vague),
        Expr::Array(e) => e.elems.is_empty() || e.elems.iter().all(vague),
        Expr::Repeat(e) => vague(&e.expr),
        Expr::Call(e) => match &*e.func {
            Expr::Path(p) => p.path.segments.last().is_some_and(|last| {
                let generic = ["Ok", "Err", "new", "default", "with_capacity"].iter().any(|name| last.ident == name);
                generic || (last.ident.to_string().starts_with(char::is_uppercase) && e.args.iter().any(vague))
            }),
            _ => false,
        },
        Expr::MethodCall(e) => {
            let told = ["into", "try_into", "collect", "parse", "sum", "product", "unwrap_or_default"];
            told.iter().any(|name| e.method == name) && e.turbofish.is_none()
        }
        Expr::Macro(e) => match macros::parse(&e.mac) {
            Some((macros::Style::Value, Arguments::List(list))) => list.iter().all(|argument| vague(&argument.expr)),
            Some((macros::Style::Value, Arguments::Repeat(value, _))) => vague(&value),
            _ => false,
        },
        Expr::Try(e) => vague(&e.expr),
        Expr::Block(e) => tail(&e.block),
        Expr::If(e) => tail(&e.then_branch) || e.else_branch.as_ref().is_some_and(|(_, other)| vague(other)),
        Expr::Match(e) => e.arms.iter().any(|arm| vague(&arm.body)),
        _ => false,
    }
}
