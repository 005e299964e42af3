//! Types that the hot version of a body tells the cold one.
//!
//! The cold version has only what can still run after the task has left the stack. So an alternative that fixes a type may be
//! missing there: of `let x = if c { Some(1u8) } else { wait().await; None };` only the `None` is left. Such a value passes through
//! a *tie* in the hot version, whose type the slot has in the cold one. So does a local that does not live at the await and is
//! assigned anew behind it: of `let mut n = 1u8; show(n); wait().await; n = !0;` only the `!0` is left.

use std::collections::BTreeSet;

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::visit::{self, Visit};
use syn::{BinOp, Expr, Ident, Pat, Stmt, UnOp};

use super::Ready;
use crate::flow::capture::Flow;
use crate::ir::{BlockId, Body, Dest, Node};
use crate::macros::{self, Arguments};
use crate::names::Names;
use crate::scan;

impl Ready {
    /// The tie of a compound node.
    pub(super) fn tie(&self, block: BlockId, index: usize) -> Option<Ident> {
        let node = &self.body.blocks[block].nodes[index];
        let untyped = matches!(node.out(), Some(Dest::Let(_, None)));
        (untyped && self.vague(node)).then(|| format_ident!("__tie{block}_{index}", span = Span::mixed_site()))
    }

    fn values(&self) -> Vague<'_> {
        Vague { names: &self.names, locals: &self.vague, numbers: false }
    }

    /// The tie of a local.
    pub(super) fn tie_of(&self, var: usize) -> Option<Ident> {
        self.tied.contains(&var).then(|| format_ident!("__tie_{var}", span = Span::mixed_site()))
    }

    /// Tells the type of a local without a value.
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

    /// All of them.
    pub(super) fn ties(&self) -> Vec<Ident> {
        let blocks = self.body.blocks.iter().enumerate();
        let nodes = blocks.flat_map(|(b, block)| (0..block.nodes.len()).filter_map(move |n| self.tie(b, n)));
        nodes.chain(self.tied.iter().filter_map(|&var| self.tie_of(var))).collect()
    }

    /// May the type of an alternative be told by another one?
    fn vague(&self, node: &Node) -> bool {
        match node {
            Node::If { .. } | Node::Match { .. } => node.children().into_iter().any(|block| self.vague_block(block)),
            Node::Scope { label, body, .. } => self.vague_block(*body) || (label.is_some() && self.vague_breaks(*body)),
            Node::Loop { body, .. } => self.vague_breaks(*body),
            Node::Plain(_) | Node::Await(_) => false,
        }
    }

    /// The same of what a `break` gives, of whatever loop.
    fn vague_breaks(&self, block: BlockId) -> bool {
        struct Breaks<'v>(bool, Vague<'v>);
        impl<'a> Visit<'a> for Breaks<'_> {
            fn visit_expr_break(&mut self, e: &'a syn::ExprBreak) {
                self.0 |= e.expr.as_deref().is_some_and(|value| self.1.vague(value));
            }
        }
        let content = &self.body.blocks[block];
        let mut breaks = Breaks(false, self.values());
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
            (Some(value), _) => self.values().vague(value),
            (None, Some(node)) if matches!(node.out(), Some(Dest::Value)) => self.vague(node),
            _ => false,
        }
    }
}

/// The locals that are numbers of a type which their values do not tell, and those among them that are assigned such a value.
pub(crate) fn locals(body: &Body, names: &Names, flow: &Flow) -> (BTreeSet<usize>, BTreeSet<usize>) {
    let mut given = Given { names, first: Vec::new(), later: Vec::new() };
    for block in &body.blocks {
        for node in &block.nodes {
            match node {
                Node::Plain(stmt) => given.visit_stmt(stmt),
                Node::If { cond, .. } => given.visit_expr(cond),
                Node::Match { expr, .. } => given.visit_expr(expr),
                Node::Await(_) | Node::Scope { .. } | Node::Loop { .. } => {}
            }
        }
        block.value.iter().for_each(|value| given.visit_expr(value));
    }
    let untold = |var: usize| {
        let told = flow.types[var].as_ref().is_some_and(|ty| !macros::mentions(&quote!(#ty), &|name| name == "_"));
        !told
    };
    let vague = |values: &[(usize, &Expr)], locals: &BTreeSet<usize>| -> BTreeSet<usize> {
        let number = |value| Vague { names, locals, numbers: true }.vague(value);
        values.iter().filter(|(var, value)| untold(*var) && number(value)).map(|(var, _)| *var).collect()
    };
    let mut all = BTreeSet::new();
    loop {
        let mut more = vague(&given.first, &all);
        more.extend(vague(&given.later, &all));
        if more == all {
            let assigned = vague(&given.later, &all).into_iter().filter(|&var| flow.assigned[var]).collect();
            return (all, assigned);
        }
        all = more;
    }
}

/// The values that locals are bound to, and those that they are assigned.
struct Given<'a> {
    names: &'a Names,
    first: Vec<(usize, &'a Expr)>,
    later: Vec<(usize, &'a Expr)>,
}

impl<'a> Visit<'a> for Given<'a> {
    fn visit_local(&mut self, local: &'a syn::Local) {
        if let (Pat::Ident(p), Some(init)) = (&local.pat, &local.init)
            && let Some(var) = self.names.find(&p.ident)
        {
            self.first.push((var, &init.expr));
        }
        visit::visit_local(self, local);
    }
    fn visit_expr_assign(&mut self, e: &'a syn::ExprAssign) {
        if let Some(var) = scan::name(&e.left).and_then(|name| self.names.find(name)) {
            self.later.push((var, &e.right));
        }
        visit::visit_expr_assign(self, e);
    }
    fn visit_item(&mut self, _: &'a syn::Item) {}
}

/// Is something a value whose type something else must tell?
struct Vague<'a> {
    names: &'a Names,
    /// Locals of which it is known.
    locals: &'a BTreeSet<usize>,
    /// Of numbers only: without a word on the others' types, rustc refuses them.
    numbers: bool,
}

impl Vague<'_> {
    fn vague(&self, expr: &Expr) -> bool {
        let tail = |block: &syn::Block| match block.stmts.last() {
            Some(Stmt::Expr(e, None)) => self.vague(e),
            _ => false,
        };
        match scan::peel(expr) {
            Expr::Lit(e) => match &e.lit {
                syn::Lit::Int(n) => n.suffix().is_empty(),
                syn::Lit::Float(n) => n.suffix().is_empty(),
                _ => false,
            },
            Expr::Path(e) if e.path.is_ident("None") => !self.numbers,
            Expr::Path(_) => {
                let var = scan::name(expr).and_then(|name| self.names.find(name));
                var.is_some_and(|var| self.locals.contains(&var))
            }
            Expr::Unary(e) if matches!(e.op, UnOp::Neg(_) | UnOp::Not(_)) => self.vague(&e.expr),
            Expr::Binary(e) if !matches!(e.op, BinOp::And(_) | BinOp::Or(_)) => {
                self.vague(&e.left) && self.vague(&e.right)
            }
            Expr::Reference(e) => self.vague(&e.expr),
            Expr::Tuple(e) => e.elems.iter().any(|part| self.vague(part)),
            Expr::Array(e) => self.all(e.elems.iter()),
            Expr::Repeat(e) => self.vague(&e.expr),
            Expr::Call(e) => match &*e.func {
                Expr::Path(p) => p.path.segments.last().is_some_and(|last| {
                    let generic =
                        ["Ok", "Err", "new", "default", "with_capacity"].iter().any(|name| last.ident == name);
                    let either = ["max", "min"].iter().any(|name| last.ident == name);
                    let made = last.ident.to_string().starts_with(char::is_uppercase);
                    (generic && !self.numbers) || ((made || either) && e.args.iter().any(|part| self.vague(part)))
                }),
                _ => false,
            },
            Expr::MethodCall(e) => {
                let among = |list: &[&str]| list.iter().any(|name| e.method == name);
                let told = ["into", "try_into", "collect", "parse", "sum", "product", "unwrap_or_default"];
                let number = ["unwrap_or", "max", "min", "clamp", "fold"];
                (!self.numbers && among(&told) && e.turbofish.is_none())
                    || (among(&number) && e.args.first().is_some_and(|first| self.vague(first)))
            }
            Expr::Macro(e) => match macros::parse(&e.mac) {
                Some((macros::Style::Value, Arguments::List(list))) => {
                    self.all(list.iter().map(|argument| &argument.expr))
                }
                Some((macros::Style::Value, Arguments::Repeat(value, _))) => self.vague(&value),
                _ => false,
            },
            Expr::Try(e) => self.vague(&e.expr),
            Expr::Block(e) => tail(&e.block),
            Expr::If(e) => tail(&e.then_branch) || e.else_branch.as_ref().is_some_and(|(_, other)| self.vague(other)),
            Expr::Match(e) => e.arms.iter().any(|arm| self.vague(&arm.body)),
            _ => false,
        }
    }

    /// All of at least one, or of none where more than numbers count.
    fn all<'e>(&self, mut parts: impl ExactSizeIterator<Item = &'e Expr>) -> bool {
        (parts.len() > 0 || !self.numbers) && parts.all(|part| self.vague(part))
    }
}
