//! Normalises expressions: everything that must be evaluated before an await is hoisted, in evaluation order.

use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{BinOp, Expr, Ident, Stmt};

use super::beside::{self, changes, has_index, inert, uses_up};
use super::coercion::Coercions;
use super::{Norm, ident_expr, ident_pat, temporaries};
use crate::flow::methods::by_reference;
use crate::ir::{Call, Dest, Node};
use crate::scan;

pub(super) const BIND: &str = "bind it with `let` first";

impl Norm<'_> {
    /// Evaluates `expr`: pushes the parts that await and returns an expression that does not.
    pub(super) fn value(&mut self, expr: Expr, nodes: &mut Vec<Node>) -> Expr {
        if !scan::awaits(&expr) {
            return expr;
        }
        match expr {
            Expr::Paren(e) if e.attrs.is_empty() => {
                let inner = self.value(*e.expr, nodes);
                if matches!(inner, Expr::Path(_)) { inner } else { syn::parse_quote!((#inner)) }
            }
            Expr::Group(e) => self.value(*e.expr, nodes),
            Expr::Await(_) | Expr::If(_) | Expr::Match(_) | Expr::Block(_) | Expr::Loop(_) => self.named(expr, nodes),
            Expr::While(_) | Expr::ForLoop(_) => {
                self.compound(expr, Dest::Unit, nodes);
                syn::parse_quote!(())
            }
            Expr::Macro(ref m) if scan::is_join(&m.mac) => self.named(expr, nodes),
            // A path to a function is not a value that could have a destructor.
            Expr::Call(mut e) if matches!(scan::peel(&e.func), Expr::Path(_)) => {
                for argument in &e.args {
                    self.unchanged(&e.func, argument);
                }
                if let Some(name) = scan::name(&e.func).filter(|name| self.names.find(name).is_some()) {
                    // The call may consume the local.
                    self.body.postponed.push((name.clone(), e.func.span()));
                }
                e.args = self.list(e.args.into_iter().collect(), nodes).into_iter().collect();
                Expr::Call(e)
            }
            Expr::Call(mut e) => {
                if scan::is_place(&e.func) {
                    self.reasons.add(e.func.span(), "a function is found before an await in its arguments", BIND);
                }
                let mut all = vec![*e.func];
                all.extend(e.args);
                let mut all = self.list(all, nodes).into_iter();
                e.func = Box::new(all.next().expect("the function"));
                e.args = all.collect();
                Expr::Call(e)
            }
            Expr::MethodCall(mut e) => {
                if e.args.iter().any(scan::awaits) {
                    if scan::awaits(&e.receiver) || !scan::is_place(&e.receiver) || scan::is_unit(&e.receiver) {
                        self.temporary(e.receiver.span(), "the receiver of a call is a temporary");
                    }
                    match scan::name(&e.receiver).cloned() {
                        Some(name) if !e.args.iter().any(|arg| changes(arg, &name) || self.reborrows(arg, &name)) => {
                            if !by_reference(&e) {
                                self.body.postponed.push((name, e.receiver.span()));
                            }
                        }
                        _ => self.reasons.add(
                            e.receiver.span(),
                            "the receiver of a call is found before an await in its arguments",
                            BIND,
                        ),
                    }
                    e.args = self.list(e.args.into_iter().collect(), nodes).into_iter().collect();
                } else {
                    e.receiver = Box::new(self.value(*e.receiver, nodes));
                }
                Expr::MethodCall(e)
            }
            Expr::Binary(e) => self.binary(e, nodes),
            Expr::Assign(mut e) => {
                if scan::awaits(&e.left) || !self.simple_place(&e.left) {
                    let place = e.left.span();
                    self.reasons.add(place, "an await stands beside a computed place", BIND);
                }
                e.right = Box::new(self.value(*e.right, nodes));
                Expr::Assign(e)
            }
            Expr::Unary(mut e) => {
                e.expr = Box::new(self.value(*e.expr, nodes));
                Expr::Unary(e)
            }
            Expr::Cast(mut e) => {
                e.expr = Box::new(self.value(*e.expr, nodes));
                Expr::Cast(e)
            }
            Expr::Field(mut e) => {
                e.base = Box::new(self.value(*e.base, nodes));
                Expr::Field(e)
            }
            Expr::Try(mut e) => {
                e.expr = Box::new(self.value(*e.expr, nodes));
                Expr::Try(e)
            }
            Expr::Reference(mut e) => {
                e.expr = Box::new(self.value(*e.expr, nodes));
                Expr::Reference(e)
            }
            Expr::Index(mut e) => {
                // The place itself, not a copy of its value, may be borrowed or changed.
                self.reasons.add(e.span(), "an await stands in an index, or beside one", BIND);
                e.index = Box::new(self.value(*e.index, nodes));
                Expr::Index(e)
            }
            Expr::Tuple(mut e) => {
                e.elems = self.list(e.elems.into_iter().collect(), nodes).into_iter().collect();
                if e.elems.len() == 1 {
                    e.elems.push_punct(Default::default());
                }
                Expr::Tuple(e)
            }
            Expr::Array(mut e) => {
                e.elems = self.list(e.elems.into_iter().collect(), nodes).into_iter().collect();
                Expr::Array(e)
            }
            Expr::Struct(mut e) => {
                if let Some(rest) = &e.rest
                    && scan::awaits(rest)
                {
                    self.temporary(rest.span(), "the base of a struct is awaited");
                }
                let values = e.fields.iter().map(|f| f.expr.clone()).collect();
                for (field, value) in e.fields.iter_mut().zip(self.list(values, nodes)) {
                    field.expr = value;
                    field.colon_token = Some(Default::default());
                }
                Expr::Struct(e)
            }
            Expr::Range(mut e) => {
                let (start, end) = (e.start.take(), e.end.take());
                let has_start = start.is_some();
                let all = start.into_iter().chain(end).map(|b| *b).collect();
                let mut all = self.list(all, nodes).into_iter().map(Box::new);
                e.start = has_start.then(|| all.next()).flatten();
                e.end = all.next();
                Expr::Range(e)
            }
            Expr::Repeat(mut e) => {
                e.expr = Box::new(self.value(*e.expr, nodes));
                Expr::Repeat(e)
            }
            Expr::Return(mut e) => {
                if let Some(value) = e.expr.take() {
                    match self.tail(*value, nodes) {
                        Some(value) => e.expr = Some(Box::new(value)),
                        // The node returns; the following code is unreachable.
                        None => return syn::parse_quote!(::core::unreachable!()),
                    }
                }
                Expr::Return(e)
            }
            Expr::Break(mut e) => {
                e.expr = e.expr.map(|v| Box::new(self.value(*v, nodes)));
                Expr::Break(e)
            }
            other => {
                let what = match other {
                    Expr::Unsafe(_) => "an await stands in an `unsafe` block",
                    _ => "an await stands in an expression that cannot be taken apart",
                };
                self.reasons.add(other.span(), what, "move the await out of it");
                other
            }
        }
    }

    /// Checks that a place still has the same value and address if it is read after the await in `beside` instead of
    /// before it.
    fn unchanged(&mut self, place: &Expr, beside: &Expr) {
        struct Names<'a>(Vec<&'a Ident>);
        impl<'a> Visit<'a> for Names<'a> {
            fn visit_expr(&mut self, expr: &'a Expr) {
                self.0.extend(scan::name(expr));
                visit::visit_expr(self, expr);
            }
        }
        let mut names = Names(Vec::new());
        names.visit_expr(place);
        if names.0.into_iter().any(|name| changes(beside, name)) {
            self.reasons.add(place.span(), "the awaited expression may change the operand beside it", BIND);
        }
    }

    /// Returns whether evaluating this may pass a local to a call as a `&mut` reference.
    fn reborrows(&self, expr: &Expr, name: &Ident) -> bool {
        self.mentions.reborrowed(name) && beside::gives(expr, name)
    }

    /// Returns whether this is the name of a local.
    fn is_local(&self, expr: &Expr) -> bool {
        scan::name(expr).is_some_and(|name| self.names.find(name).is_some())
    }

    /// Binds an expression that has its own node to a new local.
    fn named(&mut self, expr: Expr, nodes: &mut Vec<Node>) -> Expr {
        if let Expr::Match(e) = &expr
            && let Some(span) = temporaries::left_behind(e)
        {
            self.temporary(span, "a temporary in the head may have a destructor");
        }
        if !matches!(expr, Expr::Await(_))
            && let Some(span) = Coercions(self.names).alternative(&expr)
        {
            self.temporary(span, "a part of the expression may become another type");
        }
        let name = self.names.temporary("v");
        self.compound(expr, Dest::Let(Box::new(ident_pat(&name)), None), nodes);
        ident_expr(&name)
    }

    fn binary(&mut self, mut e: syn::ExprBinary, nodes: &mut Vec<Node>) -> Expr {
        if scan::assigns(&e.op) {
            if scan::awaits(&e.left) || !self.simple_place(&e.left) {
                self.reasons.add(e.left.span(), "an await stands beside a computed place", BIND);
            }
            if has_index(&e.left) && matches!(scan::peel(&e.right), Expr::Reference(_)) {
                // The operator is a trait's: the left side is evaluated first.
                self.reasons.add(e.left.span(), "an await stands beside a computed place", BIND);
            }
            self.unchanged(&e.left, &e.right);
            e.right = Box::new(self.value(*e.right, nodes));
            return Expr::Binary(e);
        }
        if matches!(e.op, BinOp::And(_) | BinOp::Or(_)) {
            // The temporaries of the left side end with it.
            let left = self.condition(scan::peeled(*e.left), nodes);
            if !scan::awaits(&e.right) {
                e.left = Box::new(left);
                return Expr::Binary(e);
            }
            let span = e.op.span().resolved_at(Span::mixed_site());
            let (then, other) = match e.op {
                BinOp::And(_) => (*e.right, syn::parse_quote_spanned!(span=> false)),
                _ => (syn::parse_quote_spanned!(span=> true), *e.right),
            };
            let block = |value| syn::Block { brace_token: Default::default(), stmts: vec![Stmt::Expr(value, None)] };
            let other = syn::ExprBlock { attrs: Vec::new(), label: None, block: block(other) };
            let branch = Expr::If(syn::ExprIf {
                attrs: Vec::new(),
                if_token: syn::Token![if](span),
                cond: Box::new(left),
                then_branch: block(then),
                else_branch: Some((Default::default(), Box::new(Expr::Block(other)))),
            });
            return self.named(branch, nodes);
        }
        let compares =
            matches!(e.op, BinOp::Eq(_) | BinOp::Ne(_) | BinOp::Lt(_) | BinOp::Le(_) | BinOp::Gt(_) | BinOp::Ge(_));
        if compares && scan::is_place(&e.left) && !scan::awaits(&e.left) {
            if scan::is_unit(&e.left) {
                self.temporary(e.left.span(), "a temporary stands before the await");
            }
            if has_index(&e.left) {
                self.reasons.add(e.left.span(), "an await stands in an index, or beside one", BIND);
            }
            self.unchanged(&e.left, &e.right);
            if let Some((name, _)) = scan::root(&e.left)
                && self.reborrows(&e.right, name)
            {
                self.reasons.add(e.left.span(), "the awaited expression may change the operand beside it", BIND);
            }
            e.right = Box::new(self.value(*e.right, nodes));
            return Expr::Binary(e);
        }
        let mut both = self.list(vec![*e.left, *e.right], nodes).into_iter();
        e.left = Box::new(both.next().expect("left"));
        e.right = Box::new(both.next().expect("right"));
        Expr::Binary(e)
    }

    /// Normalises values that are evaluated one after the other: values before the last await are hoisted unless the
    /// time of their evaluation is unobservable.
    pub(super) fn list(&mut self, all: Vec<Expr>, nodes: &mut Vec<Node>) -> Vec<Expr> {
        let Some(last) = all.iter().rposition(scan::awaits) else { return all };
        let mut done = Vec::with_capacity(all.len());
        let rest = all.clone();
        for (i, expr) in all.into_iter().enumerate() {
            if i > last {
                done.push(expr);
                continue;
            }
            let awaited = scan::awaits(&expr);
            if i == last {
                done.push(self.value(expr, nodes));
            } else if awaited {
                let value = self.value(expr, nodes);
                let plain = matches!(&value, Expr::Path(_));
                done.push(if plain { value } else { self.early(value, nodes) });
            } else if matches!(scan::peel(&expr), Expr::Path(_)) && !self.is_local(&expr) {
                // A constant may have a destructor.
                done.push(self.hoist("e", expr, nodes));
            } else if let Expr::Closure(_) = scan::peel(&expr) {
                self.reasons.add(expr.span(), "a closure is made before an await beside it", BIND);
                done.push(expr);
            } else if let Some(name) = inert(&expr, &|name| self.names.find(name).is_some()) {
                if let Expr::Path(_) = scan::peel(&expr)
                    && let Some(name) = name
                    && self.names.find(name).is_some()
                {
                    if self.mentions.only(name) {
                        done.push(self.hoist("e", expr, nodes));
                        continue;
                    }
                    self.body.postponed.push((name.clone(), expr.span()));
                }
                if let Some(name) = name
                    && rest[i + 1..=last].iter().any(|later| changes(later, name))
                {
                    self.reasons.add(expr.span(), format!("`{name}` changes between its use and the await"), BIND);
                }
                done.push(expr);
            } else {
                done.push(self.early(expr, nodes));
            }
        }
        done
    }

    /// Hoists a value that is made before an await.
    fn early(&mut self, value: Expr, nodes: &mut Vec<Node>) -> Expr {
        if let Some(span) = temporaries::find(&value).or_else(|| temporaries::extending(&value)) {
            self.temporary(span, "a temporary stands before the await");
        }
        if let Some(span) = Coercions(self.names).inside(&value) {
            self.temporary(span, "a part of the expression may become another type");
        }
        self.hoist("e", value, nodes)
    }

    /// Checks the operand of an await: temporaries in it must end with it.
    pub(super) fn operand(&mut self, expr: &Expr) {
        if let Some(span) = temporaries::find(expr) {
            self.temporary(span, "a temporary in the operand may have a destructor");
        }
        if let Some(span) = temporaries::lent(expr) {
            self.temporary(span, "the awaited call borrows a temporary");
        }
    }

    pub(super) fn temporary(&mut self, span: Span, what: &str) {
        self.reasons.add(span, what, BIND);
    }

    /// Returns whether the evaluation of this place can be postponed.
    fn simple_place(&self, expr: &Expr) -> bool {
        match scan::peel(expr) {
            Expr::Path(_) => true,
            Expr::Infer(_) => true,
            Expr::Field(f) => self.simple_place(&f.base),
            Expr::Unary(u) => self.simple_place(&u.expr),
            Expr::Index(i) => {
                self.simple_place(&i.expr) && matches!(scan::peel(&i.index), Expr::Path(_) | Expr::Lit(_))
            }
            _ => false,
        }
    }

    /// Returns whether `value` uses up, by value, all locals made since `from`.
    pub(super) fn consumed(&self, value: &Expr, from: usize) -> bool {
        self.names.vars[from..].iter().all(|var| !var.made || uses_up(value, &var.key))
    }
}

impl Norm<'_> {
    /// Normalises the operands of an await.
    pub(super) fn call(&mut self, expr: Expr, nodes: &mut Vec<Node>) -> (Call, Span) {
        match expr {
            Expr::Await(e) => {
                let span = e.await_token.span();
                (Call::One(self.value(scan::peeled(*e.base), nodes)), span)
            }
            Expr::Macro(m) => {
                let span = m.mac.path.span();
                let branches = crate::parse::branches(&m.mac).unwrap_or_default();
                (Call::Join(self.list(branches.into_iter().collect(), nodes)), span)
            }
            _ => unreachable!("only awaits and joins are calls"),
        }
    }
}
