//! Builds the normalised body from the user's body.
//!
//! Operands before an await in the same expression are hoisted into locals, in evaluation order; `&&` and `||` around
//! an await become `if`; `while` and `for` become `loop`. An expression that cannot be rewritten without changing when
//! something is evaluated or dropped is a reason against the stack schema.

pub(crate) mod beside;
mod coercion;
mod compound;
mod expression;
pub(crate) mod mentions;
pub(crate) mod temporaries;

use proc_macro2::Span;
use quote::quote_spanned;
use syn::spanned::Spanned;
use syn::visit::Visit;
use syn::visit_mut::{self, VisitMut};
use syn::{Expr, Ident, Local, Pat, Stmt, Type};

use self::coercion::Coercions;
use self::mentions::Mentions;
use crate::flow::pattern::takes_all;
use crate::ir::{Block, BlockId, Body, Call, Dest, Node, Point};
use crate::names::Names;
use crate::reasons::Reasons;
use crate::scan;

/// Builds the normalised body.
///
/// `owned` are the parameters that are not `&mut` references.
pub(crate) fn body(mut block: syn::Block, owned: &[Ident], names: &mut Names, reasons: &mut Reasons) -> Body {
    Nothings(names).visit_block_mut(&mut block);
    for stmt in block.stmts.iter().filter(|stmt| !matches!(stmt, Stmt::Item(_))) {
        Items(reasons).visit_stmt(stmt);
    }
    let mentions = Mentions::of(&block, owned);
    let mut norm = Norm { names, reasons, body: Body::default(), mentions };
    let mut stmts = Vec::new();
    for stmt in block.stmts {
        match stmt {
            Stmt::Item(_) => norm.body.items.push(stmt),
            other => stmts.push(other),
        }
    }
    let root = norm.block(stmts, Mode::Tail);
    norm.body.root = root;
    norm.body.link();
    norm.body
}

/// Finds items that must not be written twice, as the code of a body is: statics and types. Also finds raw pointers,
/// through which the program could observe that a local has moved.
struct Items<'a>(&'a mut Reasons);

impl Items<'_> {
    fn pointer(&mut self, span: Span) {
        self.0.add(
            span,
            "a raw pointer may be kept across an await",
            "let it point into a `Box` that a plain function made",
        );
    }
}

impl<'a> Visit<'a> for Items<'_> {
    fn visit_expr_raw_addr(&mut self, e: &'a syn::ExprRawAddr) {
        self.pointer(e.span());
    }
    fn visit_expr_cast(&mut self, e: &'a syn::ExprCast) {
        if let Type::Ptr(_) = &*e.ty {
            self.pointer(e.span());
        }
        syn::visit::visit_expr_cast(self, e);
    }
    fn visit_path(&mut self, path: &'a syn::Path) {
        let mut names = path.segments.iter().rev().map(|segment| segment.ident.to_string());
        let (name, of) = (names.next(), names.next());
        match (of.as_deref(), name.as_deref()) {
            (Some("ptr"), Some("from_ref" | "from_mut"))
            | (Some("NonNull"), Some("from" | "from_ref" | "from_mut")) => {
                self.pointer(path.span());
            }
            _ => syn::visit::visit_path(self, path),
        }
    }
    fn visit_item(&mut self, item: &'a syn::Item) {
        match item {
            syn::Item::Const(_) | syn::Item::Macro(_) | syn::Item::Type(_) | syn::Item::Use(_) => {}
            // Of a function's inner items, only a static exists twice if the function is written twice.
            syn::Item::Fn(f) => syn::visit::visit_item_fn(&mut Statics(self.0), f),
            item => twice(item, self.0),
        }
    }
    fn visit_macro(&mut self, mac: &'a syn::Macro) {
        if mac.path.segments.last().is_some_and(|last| ["addr_of", "addr_of_mut"].iter().any(|name| last.ident == name))
        {
            self.pointer(mac.span());
        }
        if let Some((_, arguments)) = crate::macros::parse(mac) {
            crate::macros::expressions(&arguments).into_iter().for_each(|argument| self.visit_expr(argument));
        }
    }
}

/// Finds statics in functions.
struct Statics<'a>(&'a mut Reasons);

impl<'a> Visit<'a> for Statics<'_> {
    fn visit_item_static(&mut self, item: &'a syn::ItemStatic) {
        twice(item, self.0);
    }
}

fn twice(item: &impl Spanned, reasons: &mut Reasons) {
    reasons.add(
        item.span(),
        "the body declares an item in an inner block",
        "move the item to the top of the body or out of the function",
    );
}

/// The use of a block's value.
#[derive(Clone, Copy, PartialEq)]
enum Mode {
    /// The value is the result of the task.
    Tail,
    /// The value is `()`.
    Unit,
    /// The enclosing code uses the value.
    Value,
}

impl Mode {
    fn of(out: &Dest) -> Mode {
        match out {
            Dest::Tail => Mode::Tail,
            Dest::Unit => Mode::Unit,
            Dest::Let(..) | Dest::Value => Mode::Value,
        }
    }
}

struct Norm<'a> {
    names: &'a mut Names,
    reasons: &'a mut Reasons,
    body: Body,
    mentions: Mentions,
}

impl Norm<'_> {
    fn push(&mut self, block: Block) -> BlockId {
        self.body.blocks.push(block);
        self.body.blocks.len() - 1
    }

    /// Normalises a block whose value is used as `mode` says.
    fn block(&mut self, mut stmts: Vec<Stmt>, mode: Mode) -> BlockId {
        let mut nodes = Vec::new();
        let mut value = None;
        let mut last = match stmts.pop() {
            Some(Stmt::Expr(e, None)) => Some(e),
            Some(Stmt::Macro(m)) if m.semi_token.is_none() => {
                Some(Expr::Macro(syn::ExprMacro { attrs: m.attrs, mac: m.mac }))
            }
            // A value of any type, if the statement calls a function that never returns.
            Some(Stmt::Expr(e @ (Expr::Call(_) | Expr::MethodCall(_)), Some(_)))
                if matches!(mode, Mode::Value) && !scan::awaits(&e) =>
            {
                Some(syn::parse_quote!({ #e; }))
            }
            Some(other) => {
                stmts.push(other);
                None
            }
            None => None,
        };
        let awaits_later =
            |at: usize| stmts[at..].iter().any(scan::stmt_awaits) || last.as_ref().is_some_and(scan::awaits);
        for (at, stmt) in stmts.iter().enumerate() {
            if let Stmt::Local(syn::Local { pat, init: Some(init), .. }) = stmt
                && let Some(span) = temporaries::extended(pat, &init.expr)
                && awaits_later(at + 1)
                && !scan::awaits(&init.expr)
            {
                self.temporary(span, "a local borrows a temporary that lives as long as the local");
            }
        }
        for stmt in stmts {
            self.stmt(stmt, &mut nodes);
        }
        let jumps = |e: &Expr| matches!(scan::peel(e), Expr::Return(_) | Expr::Break(_) | Expr::Continue(_));
        if let Some(e) = last.take_if(|e| jumps(e)) {
            // A jump has no value, whatever its type.
            self.stmt(Stmt::Expr(e, Some(Default::default())), &mut nodes);
        }
        if let Some(e) = last {
            value = match mode {
                Mode::Tail => self.tail(e, &mut nodes),
                Mode::Value | Mode::Unit if self.direct(&e) && has_value(&e) => {
                    self.compound(scan::peeled(e), Dest::Value, &mut nodes);
                    None
                }
                Mode::Unit if scan::awaits(&e) => {
                    self.effect(e, &mut nodes);
                    None
                }
                Mode::Unit | Mode::Value => Some(self.value(e, &mut nodes)),
            };
        }
        self.push(Block { nodes, value, parent: None })
    }

    fn stmt(&mut self, stmt: Stmt, nodes: &mut Vec<Node>) {
        if !scan::stmt_awaits(&stmt) {
            if let Stmt::Item(item) = &stmt
                && !matches!(item, syn::Item::Use(_))
            {
                twice(item, self.reasons);
            }
            return nodes.push(Node::Plain(stmt));
        }
        match stmt {
            Stmt::Local(local) => self.local(local, nodes),
            // Whatever its type, the value drops after the locals of its blocks.
            Stmt::Expr(e, Some(_)) if gives(&e) => {
                self.bind(e, Dest::Let(Box::new(syn::parse_quote!(_)), None), nodes);
            }
            Stmt::Expr(e, _) => self.effect(e, nodes),
            Stmt::Macro(m) => {
                self.effect(Expr::Macro(syn::ExprMacro { attrs: m.attrs, mac: m.mac }), nodes);
            }
            Stmt::Item(_) => nodes.push(Node::Plain(stmt)),
        }
    }

    fn local(&mut self, local: Local, nodes: &mut Vec<Node>) {
        let Some(init) = local.init else { return };
        let (pat, ty) = match local.pat {
            Pat::Type(t) => (*t.pat, Some(t.ty)),
            other => (other, None),
        };
        let Some((else_token, diverge)) = init.diverge else {
            return self.bind(*init.expr, Dest::Let(Box::new(pat), ty), nodes);
        };
        if scan::awaits(&diverge) {
            self.reasons.add(diverge.span(), "an await stands in the `else` of a `let`", "write it as a `match`");
        }
        if let Some(span) = temporaries::extended(&pat, &init.expr) {
            self.temporary(span, "the local borrows the result of an await");
        }
        let from = self.names.vars.len();
        let mut value = self.value(*init.expr, nodes);
        if !self.consumed(&value, from) {
            self.temporary(value.span(), "a part of an awaited value is matched");
        }
        if matches!(value, Expr::Path(_)) {
            // Makes the value a temporary again: a value that does not match is dropped before the `else`.
            value = syn::parse_quote!({ #value });
        }
        let pat = match ty {
            Some(ty) => syn::parse_quote!(#pat: #ty),
            None => pat,
        };
        let let_token = local.let_token;
        nodes.push(Node::Plain(Stmt::Local(Local {
            attrs: local.attrs,
            let_token,
            modifiers: Default::default(),
            pat,
            init: Some(syn::LocalInit {
                eq_token: init.eq_token,
                expr: Box::new(value),
                diverge: Some((else_token, diverge)),
            }),
            semi_token: local.semi_token,
        })));
    }

    /// Normalises an expression whose value is dropped at once.
    fn effect(&mut self, expr: Expr, nodes: &mut Vec<Node>) {
        let expr = scan::peeled(expr);
        if let Expr::Assign(e) = &expr
            && matches!(&*e.left, Expr::Infer(_))
        {
            // As `let _ = ..`: a value that is not a place drops at once.
            let wild = syn::parse_quote!(_);
            return self.bind((*e.right).clone(), Dest::Let(Box::new(wild), None), nodes);
        }
        if self.direct(&expr) {
            return self.bind(expr, Dest::Unit, nodes);
        }
        let mut inner = Vec::new();
        let from = self.names.vars.len();
        let value = self.value(expr, &mut inner);
        if self.consumed(&value, from) {
            nodes.append(&mut inner);
            // Code after a diverging macro is omitted.
            let returned = matches!(&value, Expr::Macro(m) if crate::macros::diverges(&m.mac));
            if !is_unit(&value) && !returned {
                nodes.push(Node::Plain(Stmt::Expr(value, Some(Default::default()))));
            }
            return;
        }
        inner.push(Node::Plain(Stmt::Expr(value, Some(Default::default()))));
        let body = self.push(Block { nodes: inner, value: None, parent: None });
        nodes.push(Node::Scope { label: None, body, out: Dest::Unit, statement: false });
    }

    /// Normalises `let out = expr;`.
    fn bind(&mut self, expr: Expr, out: Dest, nodes: &mut Vec<Node>) {
        let expr = scan::peeled(expr);
        if let (Expr::Match(e), Dest::Let(pat, _)) = (&expr, &out)
            && !takes_all(pat)
            && let Some(span) = temporaries::left_behind(e)
        {
            // The parts of the value that the pattern leaves drop before the temporary.
            self.temporary(span, "a temporary in the head may have a destructor");
        }
        if let Dest::Let(pat, _) = &out
            && let Some(span) = temporaries::extended(pat, &expr)
        {
            let cure = "bind the result itself with `let` first";
            self.reasons.add(span, "the local borrows the result of an await", cure);
        }
        if self.direct(&expr) {
            if let Dest::Let(_, None) = &out
                && let Some(span) = Coercions(self.names).function(&expr)
            {
                self.reasons.add(
                    span,
                    "the alternatives are different functions",
                    "annotate the local with the type of the pointer",
                );
            }
            return self.compound(expr, out, nodes);
        }
        let mut inner = Vec::new();
        let from = self.names.vars.len();
        let value = self.value(expr, &mut inner);
        if let Dest::Let(pat, _) = &out
            && scan::is_place(&value)
            && scan::name(&value).is_none()
            && !takes_all(pat)
        {
            self.temporary(value.span(), "a part of an awaited value is matched");
        }
        if self.consumed(&value, from) {
            nodes.append(&mut inner);
            return nodes.push(Node::Plain(let_stmt(out, value)));
        }
        if let Dest::Let(pat, _) = &out
            && !takes_all(pat)
        {
            // The parts of the value that the pattern leaves are dropped before the operands that the value is made of.
            if crate::names::binders(pat).is_empty() {
                let last = Node::Plain(let_stmt(out, value));
                inner.push(last);
                let body = self.push(Block { nodes: inner, value: None, parent: None });
                return nodes.push(Node::Scope { label: None, body, out: Dest::Unit, statement: true });
            }
            self.temporary(value.span(), "a part of a value that is made of an awaited one is left");
        }
        let body = self.push(Block { nodes: inner, value: Some(value), parent: None });
        nodes.push(Node::Scope { label: None, body, out, statement: true });
    }

    /// Normalises the result of the task.
    fn tail(&mut self, expr: Expr, nodes: &mut Vec<Node>) -> Option<Expr> {
        let expr = scan::peeled(expr);
        if !scan::awaits(&expr) {
            return Some(expr);
        }
        match &expr {
            Expr::Await(_) | Expr::If(_) | Expr::Match(_) => {}
            Expr::Block(b) if b.label.is_none() => {}
            Expr::Loop(_) if scan::endless(&expr) => {
                self.compound(expr, Dest::Unit, nodes);
                return None;
            }
            _ => return Some(self.value(expr, nodes)),
        }
        self.compound(expr, Dest::Tail, nodes);
        None
    }

    /// Returns whether this expression has its own node.
    fn direct(&self, expr: &Expr) -> bool {
        scan::awaits(expr)
            && match expr {
                Expr::Await(_) | Expr::If(_) | Expr::Match(_) | Expr::Block(_) => true,
                Expr::Loop(_) | Expr::While(_) | Expr::ForLoop(_) => true,
                Expr::Macro(m) => scan::is_join(&m.mac),
                _ => false,
            }
    }

    /// Pushes `let out = call.await`.
    fn point(&mut self, call: Call, out: Dest, span: Span, nodes: &mut Vec<Node>) {
        for operand in call.operands() {
            self.operand(operand);
        }
        nodes.push(Node::Await(self.body.points.len()));
        self.body.points.push(Point { call, out, span });
    }

    /// Hoists a value into a fresh local and returns its name.
    fn hoist(&mut self, stem: &str, value: Expr, nodes: &mut Vec<Node>) -> Expr {
        let name = self.names.temporary(stem);
        nodes.push(Node::Plain(let_stmt(Dest::Let(Box::new(ident_pat(&name)), None), value)));
        ident_expr(&name)
    }
}

/// Removes `let _ = x;`, which does nothing, whether or not `x` has a value.
struct Nothings<'a>(&'a Names);

impl VisitMut for Nothings<'_> {
    fn visit_block_mut(&mut self, block: &mut syn::Block) {
        block.stmts.retain(|stmt| !self.is_one(stmt));
        visit_mut::visit_block_mut(self, block);
    }
    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}

impl Nothings<'_> {
    fn is_one(&self, stmt: &Stmt) -> bool {
        let place = match stmt {
            Stmt::Local(Local { pat: Pat::Wild(_), init: Some(init), .. }) if init.diverge.is_none() => &init.expr,
            Stmt::Expr(Expr::Assign(e), Some(_)) if matches!(&*e.left, Expr::Infer(_)) => &e.right,
            _ => return false,
        };
        scan::name(scan::base(place)).is_some_and(|name| self.0.find(name).is_some())
    }
}

/// Returns whether a statement with a semicolon and its own node may end with a value other than `()`.
fn gives(expr: &Expr) -> bool {
    struct Values(bool);
    impl<'a> Visit<'a> for Values {
        fn visit_expr_break(&mut self, e: &'a syn::ExprBreak) {
            self.0 |= e.expr.is_some();
        }
        fn visit_expr_closure(&mut self, _: &'a syn::ExprClosure) {}
        fn visit_expr_async(&mut self, _: &'a syn::ExprAsync) {}
        fn visit_item(&mut self, _: &'a syn::Item) {}
    }
    let block = |block: &syn::Block| match block.stmts.last() {
        Some(Stmt::Expr(_, None)) => true,
        Some(Stmt::Macro(m)) => m.semi_token.is_none(),
        _ => false,
    };
    match scan::peel(expr) {
        Expr::If(e) => e.else_branch.as_ref().is_some_and(|(_, other)| block(&e.then_branch) || gives(other)),
        Expr::Match(e) => e.arms.iter().any(|arm| match scan::peel(&arm.body) {
            Expr::Block(b) if b.label.is_none() => block(&b.block),
            _ => true,
        }),
        Expr::Block(e) => block(&e.block) || e.label.is_some(),
        Expr::Loop(_) => {
            let mut values = Values(false);
            values.visit_expr(expr);
            values.0
        }
        _ => false,
    }
}

/// Returns whether the expression may have a value and contains its awaits.
fn has_value(expr: &Expr) -> bool {
    matches!(expr, Expr::If(_) | Expr::Match(_) | Expr::Block(_) | Expr::Loop(_))
}

fn is_unit(expr: &Expr) -> bool {
    matches!(expr, Expr::Tuple(t) if t.elems.is_empty())
}

/// Returns the pattern that binds a local of the compiler's own. The local replaces a temporary, so it is `mut`.
pub(crate) fn ident_pat(name: &Ident) -> Pat {
    let mutability = Some(syn::Token![mut](name.span()));
    Pat::Ident(syn::PatIdent { attrs: Vec::new(), by_ref: None, mutability, ident: name.clone(), subpat: None })
}

/// Returns the name that a pattern of `ident_pat`'s form binds.
pub(crate) fn pat_ident(pat: &Pat) -> Option<&Ident> {
    match pat {
        Pat::Ident(p) => Some(&p.ident),
        _ => None,
    }
}

/// Returns `name` as an expression.
pub(crate) fn ident_expr(name: &Ident) -> Expr {
    Expr::Path(syn::ExprPath { attrs: Vec::new(), qself: None, path: name.clone().into() })
}

fn let_stmt(out: Dest, value: Expr) -> Stmt {
    let span = value.span().resolved_at(Span::mixed_site());
    let (pat, ty): (Pat, Option<Box<Type>>) = match out {
        Dest::Let(pat, ty) => (*pat, ty),
        Dest::Unit | Dest::Value | Dest::Tail => (syn::parse_quote_spanned!(span=> _), None),
    };
    let tokens = match ty {
        Some(ty) => quote_spanned!(span=> let #pat: #ty = #value;),
        None => quote_spanned!(span=> let #pat = #value;),
    };
    syn::parse2(tokens).expect("a let statement")
}
