//! Normalises control flow around awaits.

use proc_macro2::Span;
use quote::quote_spanned;
use syn::spanned::Spanned;
use syn::{Expr, Pat, Stmt};

use super::expression::BIND;
use super::{Mode, Norm, ident_expr, ident_pat, let_stmt, temporaries};
use crate::flow::pattern::takes_all;
use crate::ir::{Block, BlockId, Dest, Node};
use crate::scan;

impl Norm<'_> {
    /// Pushes the node of an expression that has its own.
    pub(super) fn compound(&mut self, expr: Expr, out: Dest, nodes: &mut Vec<Node>) {
        match expr {
            Expr::Await(_) | Expr::Macro(_) => {
                let from = self.names.vars.len();
                let mut inner = Vec::new();
                let (call, span) = self.call(expr, &mut inner);
                let used_up = call.operands().iter().any(|o| self.consumed(o, from));
                self.point(call, out, span, &mut inner);
                if !used_up && self.names.vars.len() > from {
                    self.reasons.add(
                        span,
                        "the operand borrows the result of another await",
                        "bind it with `let` first",
                    );
                }
                nodes.append(&mut inner);
            }
            Expr::If(e) => self.branch(e, out, nodes),
            Expr::Match(e) => self.select(e, out, nodes),
            Expr::Block(e) => {
                let body = self.block(e.block.stmts, Mode::of(&out));
                nodes.push(Node::Scope { label: e.label, body, out, statement: false });
            }
            Expr::Loop(e) => {
                let body = self.block(e.body.stmts, Mode::Unit);
                nodes.push(Node::Loop { label: e.label, body, out });
            }
            Expr::While(e) => self.while_loop(e, out, nodes),
            Expr::ForLoop(e) => self.for_loop(e, out, nodes),
            _ => unreachable!("no node of its own"),
        }
    }

    fn branch(&mut self, e: syn::ExprIf, out: Dest, nodes: &mut Vec<Node>) {
        let mode = Mode::of(&out);
        let cond = scan::peeled(*e.cond);
        if let Expr::Let(binding) = cond {
            let then = self.block(e.then_branch.stmts, mode);
            return self.if_let(binding, then, e.else_branch, out, nodes);
        }
        let cond = self.condition(cond, nodes);
        let then = self.block(e.then_branch.stmts, mode);
        let other = e.else_branch.map(|(_, other)| self.other(*other, mode));
        nodes.push(Node::If { cond, then, other, out });
    }

    /// Normalises the `else` of an `if`.
    fn other(&mut self, expr: Expr, mode: Mode) -> BlockId {
        match expr {
            Expr::Block(b) if b.label.is_none() => self.block(b.block.stmts, mode),
            other => self.block(vec![Stmt::Expr(other, None)], mode),
        }
    }

    /// Checks a chain of `let`s, whose temporaries live as long as its branch.
    fn chain(&mut self, cond: &Expr) {
        match scan::peel(cond) {
            Expr::Binary(e) => {
                self.chain(&e.left);
                self.chain(&e.right);
            }
            Expr::Let(e) if !scan::is_place(&e.expr) && !takes_all(&e.pat) => {
                self.temporary(e.expr.span(), "a `let` of a chain may leave something unbound");
            }
            Expr::Let(e) => {
                if let Some(span) = temporaries::scrutinee(&e.expr) {
                    self.temporary(span, "a temporary in the head may have a destructor");
                }
            }
            _ => {}
        }
    }

    /// Normalises a condition: its temporaries end before the branch is entered.
    pub(super) fn condition(&mut self, cond: Expr, nodes: &mut Vec<Node>) -> Expr {
        if scan::has_let(&cond) {
            self.chain(&cond);
        }
        if !scan::awaits(&cond) {
            return cond;
        }
        if scan::has_let(&cond) {
            self.reasons.add(cond.span(), "an await stands in a chain of `let`s", BIND);
            return cond;
        }
        let name = self.names.temporary("c");
        let ty = syn::parse_quote!(bool);
        self.bind(cond, Dest::Let(Box::new(ident_pat(&name)), Some(Box::new(ty))), nodes);
        ident_expr(&name)
    }

    fn if_let(
        &mut self,
        e: syn::ExprLet,
        then: BlockId,
        other: Option<(syn::Token![else], Box<Expr>)>,
        out: Dest,
        nodes: &mut Vec<Node>,
    ) {
        let mode = Mode::of(&out);
        let mut inner = Vec::new();
        let (subject, owned) = self.subject(*e.expr, false, &mut inner);
        let span = e.let_token.span.resolved_at(Span::mixed_site());
        let mut rest: Pat = syn::parse_quote_spanned!(span=> _);
        let other = match other {
            None => self.push(Block::default()),
            Some((_, other)) => {
                let block = self.other(*other, mode);
                if owned {
                    // A value that did not match is dropped before the `else`.
                    let name = self.names.temporary("rest");
                    rest = ident_pat(&name);
                    let drop = quote_spanned!(span=> ::core::mem::drop(#name););
                    let drop = syn::parse2(drop).expect("a statement");
                    self.body.blocks[block].nodes.insert(0, Node::Plain(drop));
                }
                block
            }
        };
        let arms = vec![(*e.pat, then), (rest, other)];
        if inner.is_empty() {
            return nodes.push(Node::Match { expr: subject, arms, out });
        }
        self.scoped(inner, out, false, |out| Node::Match { expr: subject, arms, out }, nodes);
    }

    /// Normalises the scrutinee of a `match`: a place stays, a value is hoisted into a local, so that it lives as long
    /// as the match. Returns whether it is a hoisted local. The operands of the value live `to_the_end`, too, or end
    /// before an `else`.
    fn subject(&mut self, expr: Expr, to_the_end: bool, nodes: &mut Vec<Node>) -> (Expr, bool) {
        let expr = scan::peeled(expr);
        if scan::is_constant(&expr) {
            self.temporary(expr.span(), "a constant in the head may have a destructor");
        }
        if let Some(span) = temporaries::scrutinee(&expr).or_else(|| temporaries::extending(&expr)) {
            self.temporary(span, "a temporary in the head may have a destructor");
        }
        if !scan::awaits(&expr) && (scan::is_place(&expr) || matches!(expr, Expr::Lit(_))) {
            return (expr, false);
        }
        let name = self.names.temporary("s");
        let out = Dest::Let(Box::new(ident_pat(&name)), None);
        if scan::awaits(&expr) && self.direct(&expr) {
            self.bind(expr, out, nodes);
        } else {
            let (from, head) = (self.names.vars.len(), expr.span());
            let value = self.value(expr, nodes);
            if !to_the_end && !self.consumed(&value, from) {
                self.temporary(head, "a temporary in the head may have a destructor");
            }
            nodes.push(Node::Plain(let_stmt(out, value)));
        }
        (ident_expr(&name), true)
    }

    fn select(&mut self, e: syn::ExprMatch, out: Dest, nodes: &mut Vec<Node>) {
        let mode = Mode::of(&out);
        let mut inner = Vec::new();
        let (subject, _) = self.subject(*e.expr, true, &mut inner);
        let mut arms = Vec::new();
        for arm in e.arms {
            if let Pat::Guard(guard) = &arm.pat
                && scan::awaits(&guard.guard)
            {
                self.reasons.add(guard.guard.span(), "an await stands in the guard of an arm", BIND);
            }
            if let Pat::Guard(guard) = &arm.pat {
                // Temporaries of the guard's `let`s live as long as the arm.
                self.chain(&guard.guard);
            }
            let body = match *arm.body {
                Expr::Block(b) if b.label.is_none() && b.attrs.is_empty() => b.block.stmts,
                other => vec![Stmt::Expr(other, None)],
            };
            arms.push((arm.pat, self.block(body, mode)));
        }
        if inner.is_empty() {
            return nodes.push(Node::Match { expr: subject, arms, out });
        }
        self.scoped(inner, out, true, |out| Node::Match { expr: subject, arms, out }, nodes);
    }

    /// Pushes a scope that holds `inner` and one last node, whose value is the scope's value.
    fn scoped(
        &mut self,
        mut inner: Vec<Node>,
        out: Dest,
        statement: bool,
        last: impl FnOnce(Dest) -> Node,
        nodes: &mut Vec<Node>,
    ) {
        let inside = match out {
            Dest::Tail => Dest::Tail,
            _ => Dest::Value,
        };
        inner.push(last(inside));
        self.scope(inner, out, statement, nodes);
    }

    /// Pushes a scope around nodes whose locals must end here.
    fn scope(&mut self, inner: Vec<Node>, out: Dest, statement: bool, nodes: &mut Vec<Node>) {
        let body = self.push(Block { nodes: inner, value: None, parent: None });
        nodes.push(Node::Scope { label: None, body, out, statement });
    }

    fn while_loop(&mut self, e: syn::ExprWhile, out: Dest, nodes: &mut Vec<Node>) {
        let span = e.while_token.span.resolved_at(Span::mixed_site());
        let leave: Stmt = syn::parse2(quote_spanned!(span=> break;)).expect("a statement");
        let mut inner = Vec::new();
        match scan::peeled(*e.cond) {
            Expr::Let(binding) => {
                let leave: Expr = syn::parse2(quote_spanned!(span=> { break; })).expect("a block");
                let then = self.block(e.body.stmts, Mode::Unit);
                let other = Some((Default::default(), Box::new(leave)));
                self.if_let(binding, then, other, Dest::Unit, &mut inner);
            }
            cond if scan::has_let(&cond) => {
                let cond = self.condition(cond, &mut inner);
                let then = self.block(e.body.stmts, Mode::Unit);
                let other = self.push(Block { nodes: vec![Node::Plain(leave)], ..Default::default() });
                let other = Some(other);
                inner.push(Node::If { cond, then, other, out: Dest::Unit });
            }
            cond => {
                let cond = self.condition(cond, &mut inner);
                let stop = quote_spanned!(span=> if !(#cond) { break; });
                inner.push(Node::Plain(Stmt::Expr(syn::parse2(stop).expect("an if"), None)));
                let body = self.block(e.body.stmts, Mode::Unit);
                inner.push(Node::Scope { label: None, body, out: Dest::Unit, statement: false });
            }
        }
        let body = self.push(Block { nodes: inner, value: None, parent: None });
        let out = self.unit(out);
        nodes.push(Node::Loop { label: e.label, body, out });
    }

    fn for_loop(&mut self, e: syn::ExprForLoop, out: Dest, nodes: &mut Vec<Node>) {
        let span = e.for_token.span.resolved_at(Span::mixed_site());
        let mut outer = Vec::new();
        if let Some(span) = temporaries::scrutinee(&e.expr).or_else(|| temporaries::extending(&e.expr)) {
            self.temporary(span, "a temporary in the head may have a destructor");
        }
        let items = self.value(*e.expr, &mut outer);
        let name = self.names.temporary("it");
        let make = quote_spanned! {span=>
            let mut #name = ::core::iter::IntoIterator::into_iter(#items);
        };
        outer.push(Node::Plain(syn::parse2(make).expect("a statement")));
        // The parts that the pattern leaves unbound live until the end of the iteration.
        let (item, binding) = match &*e.pat {
            pat if crate::head::binder(pat).is_some() => (pat.clone(), None),
            Pat::Wild(_) => (ident_pat(&self.names.temporary("item")), None),
            pat => {
                let item = self.names.temporary("item");
                (ident_pat(&item), Some(quote_spanned!(span=> let (#pat) = #item;)))
            }
        };
        let next = quote_spanned! {span=>
            let #item = match ::core::iter::Iterator::next(&mut #name) {
                ::core::option::Option::Some(__x) => __x,
                ::core::option::Option::None => break,
            };
        };
        let mut inner = Vec::new();
        for stmt in std::iter::once(next).chain(binding) {
            inner.push(Node::Plain(syn::parse2(stmt).expect("a statement")));
        }
        let body = self.block(e.body.stmts, Mode::Unit);
        let block = std::mem::take(&mut self.body.blocks[body]);
        inner.extend(block.nodes);
        self.body.blocks[body] = Block { nodes: inner, value: block.value, parent: None };
        outer.push(Node::Loop { label: e.label, body, out: Dest::Unit });
        let out = self.unit(out);
        self.scope(outer, out, false, nodes);
    }

    /// Returns the destination of a loop that cannot have a value, which is a statement; as the result of the task or
    /// of a `let` it is followed by `()`.
    fn unit(&mut self, out: Dest) -> Dest {
        if let Dest::Let(pat, _) = &out {
            self.reasons.add(pat.span(), "a loop is bound to a local", "use it as a statement");
        }
        Dest::Unit
    }
}
