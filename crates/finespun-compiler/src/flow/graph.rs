//! Builds the graph of events of a body, node by node.

use std::collections::BTreeSet;

use proc_macro2::Span;
use quote::ToTokens;
use syn::{Expr, Pat, Stmt, Type};

use super::event::{Bound, Event, Field, Given, Graph, Own, Place, Use};
use crate::ir::{BlockId, Body, Dest, Node, PointId};
use crate::kinds::{self, Kind};
use crate::macros;
use crate::names::Names;
use crate::parts;
use crate::scan;

struct Target {
    label: Option<String>,
    /// A labelled block: the target of `break 'label` only.
    block: bool,
    head: usize,
    leave: usize,
}

/// Walks a body and builds its graph.
pub(crate) struct Builder<'a> {
    pub(crate) graph: Graph,
    /// The event that control has just passed; `None` if this point is unreachable.
    pub(crate) at: Option<usize>,
    /// The last event that control has passed in this statement.
    passed: Option<usize>,
    pub(crate) scope: Vec<usize>,
    /// The locals that the parameters bind.
    params: Vec<usize>,
    pub(crate) names: &'a Names,
    pub(crate) body: &'a Body,
    pub(crate) own: &'a Own,
    targets: Vec<Target>,
    /// Methods here create futures, which borrow their receivers, whatever the methods' names.
    pub(crate) futures: bool,
    /// The next method creates the awaited future: it borrows its receiver, whatever its name.
    pub(crate) awaited: bool,
    /// The locals that the values of `break`s so far borrow from.
    pub(crate) brought: BTreeSet<(usize, bool)>,
    /// The kind of the node whose value is the value of its block.
    last: Kind,
}

/// Returns the graph of a body whose parameters are bound by `params`.
pub(crate) fn build(params: &[Bound], own: &Own, body: &Body, names: &Names) -> Graph {
    let mut stored = vec![BTreeSet::new(); names.vars.len()];
    loop {
        // A loop may store a borrow in a local that an earlier statement then reads.
        let graph = once(params, own, body, names, stored.clone());
        if graph.stored == stored {
            return graph;
        }
        stored = graph.stored;
    }
}

fn once(params: &[Bound], own: &Own, body: &Body, names: &Names, stored: Vec<BTreeSet<(usize, bool)>>) -> Graph {
    let graph = Graph {
        kinds: vec![Kind::unknown(); names.vars.len()],
        lent: vec![Kind::unknown(); body.points.len()],
        types: vec![None; names.vars.len()],
        stored,
        ..Graph::default()
    };
    let mut builder = Builder {
        graph,
        at: None,
        passed: None,
        scope: Vec::new(),
        params: Vec::new(),
        names,
        body,
        own,
        targets: Vec::new(),
        futures: false,
        awaited: false,
        brought: BTreeSet::new(),
        last: Kind::primitive(),
    };
    builder.at = Some(builder.node(Event::Nothing));
    for param in params {
        builder.bind(&param.pat, &param.kind);
        builder.typed(&param.pat, param.ty.as_ref());
    }
    builder.params.clone_from(&builder.scope);
    builder.block(body.root);
    builder.graph
}

impl Builder<'_> {
    pub(crate) fn node(&mut self, event: Event) -> usize {
        self.graph.events.push(event);
        self.graph.next.push(Vec::new());
        self.graph.events.len() - 1
    }

    pub(crate) fn edge(&mut self, from: Option<usize>, to: usize) {
        if let Some(from) = from {
            self.graph.next[from].push(to);
        }
    }

    /// Appends an event, if control can reach this point.
    pub(crate) fn event(&mut self, event: Event) {
        if self.at.is_some() {
            let node = self.node(event);
            self.edge(self.at, node);
            self.at = Some(node);
            self.passed = self.at;
        }
    }

    /// If `expr` is a field of a local or the content of a box, at any depth, returns the local and the field's index.
    pub(crate) fn field(&mut self, expr: &Expr) -> Option<(usize, Field)> {
        let mut path = String::new();
        let mut behind = false;
        let mut place = crate::scan::peel(expr);
        loop {
            place = match place {
                Expr::Field(e) => {
                    path = format!("{}.{path}", e.member.to_token_stream());
                    crate::scan::peel(&e.base)
                }
                Expr::Unary(e) if matches!(e.op, syn::UnOp::Deref(_)) => {
                    path = format!("*.{path}");
                    behind = true;
                    crate::scan::peel(&e.expr)
                }
                _ => break,
            };
        }
        let var = self.names.find(crate::scan::name(place)?)?;
        // The referent of a reference is not part of the local; the content of a box is.
        let kind = &self.graph.kinds[var];
        if path.is_empty() || (behind && !(kind.drops && kind.lends == kinds::Lend::Owned)) {
            return None;
        }
        let field = (var, path);
        let fields = &mut self.graph.fields;
        let known = fields.iter().position(|f| *f == field);
        let index = known.unwrap_or_else(|| {
            fields.push(field);
            fields.len() - 1
        });
        Some((var, index))
    }

    /// Records that a value that borrows `from` these is stored in a local after its binding.
    pub(crate) fn store(&mut self, var: usize, from: &BTreeSet<(usize, bool)>) {
        let owned = self.graph.types[var].as_ref().filter(|ty| kinds::owns_all(ty, &self.own.generics));
        if let Some(of_std) = owned.map(kinds::is_of_std) {
            return self.keep(from, of_std);
        }
        if self.graph.kinds[var].primitive {
            return;
        }
        let others = from.iter().filter(|(of, _)| *of != var);
        self.graph.stored[var].extend(others.clone());
        self.graph.kinds[var].from.extend(others);
    }

    /// Records that a value with references to these may be kept in one whose type does not show it.
    fn keep(&mut self, from: &BTreeSet<(usize, bool)>, of_std: bool) {
        if !of_std {
            self.graph.kept.extend(from.iter().map(|(var, _)| *var));
        }
    }

    pub(crate) fn touch(&mut self, var: usize, how: Use, span: Span) {
        let event = Event::Use(var, how, span);
        if self.at.is_none() && self.passed.is_some() {
            // The locals that the rest of a statement names must exist, although control leaves in the middle.
            let node = self.node(event);
            return self.edge(self.passed, node);
        }
        self.event(event);
    }

    /// Joins control from several points.
    pub(crate) fn join(&mut self, from: &[Option<usize>]) {
        if from.iter().all(Option::is_none) {
            self.at = None;
            return;
        }
        let node = self.node(Event::Nothing);
        from.iter().for_each(|f| self.edge(*f, node));
        self.at = Some(node);
    }

    /// Runs `run` and ends the scope of the locals that it bound.
    pub(crate) fn scoped<R>(&mut self, run: impl FnOnce(&mut Self) -> R) -> R {
        let depth = self.scope.len();
        let result = run(self);
        self.scope.truncate(depth);
        result
    }

    pub(crate) fn enter(&mut self, label: Option<&syn::Label>, block: bool) -> (usize, usize) {
        let head = self.node(Event::Nothing);
        let leave = self.node(Event::Nothing);
        self.edge(self.at, head);
        if self.at.is_some() {
            self.at = Some(head);
        }
        let label = label.map(|l| l.name.ident.to_string());
        self.targets.push(Target { label, block, head, leave });
        (head, leave)
    }

    /// Ends a loop or labelled block: control continues after it if some `break` (or, with `falls`, its own end) leads
    /// there.
    pub(crate) fn leave(&mut self, leave: usize, falls: bool) {
        self.targets.pop();
        if falls {
            self.edge(self.at, leave);
        }
        let reached = self.graph.next.iter().any(|n| n.contains(&leave));
        self.at = reached.then_some(leave);
    }

    pub(crate) fn jump(&mut self, label: Option<&syn::Lifetime>, out: bool) {
        let wanted = label.map(|l| l.ident.to_string());
        let target = self.targets.iter().rev().find(|t| match &wanted {
            Some(_) => t.label == wanted,
            None => !t.block,
        });
        if let Some(to) = target.map(|t| if out { t.leave } else { t.head }) {
            self.edge(self.at, to);
        }
        self.at = None;
    }

    fn mark(&mut self, place: Place, scope: Vec<usize>) {
        self.event(Event::Place(place, scope));
    }

    fn block(&mut self, id: BlockId) -> Kind {
        let depth = self.scope.len();
        let body = self.body;
        let block = &body.blocks[id];
        for (index, node) in block.nodes.iter().enumerate() {
            self.comes(id, index);
            self.statement(id, index, node);
        }
        self.comes(id, block.nodes.len());
        let kind = match &block.value {
            Some(value) => self.value(value),
            None => std::mem::replace(&mut self.last, Kind::primitive()),
        };
        self.comes(id, block.nodes.len() + 1);
        self.last = Kind::primitive();
        self.scope.truncate(depth);
        kind
    }

    /// Records a part of a block that control does not reach.
    fn comes(&mut self, id: BlockId, part: usize) {
        if self.at.is_none() {
            self.passed = None;
            self.graph.unreached.insert((id, part));
        }
    }

    fn statement(&mut self, id: BlockId, index: usize, node: &Node) {
        let scope = self.scope.clone();
        match node {
            Node::Plain(stmt) => self.plain(stmt),
            Node::Await(point) => self.point(*point),
            Node::If { cond, then, other, out, .. } => {
                let before = self.scope.len();
                let otherwise = self.condition(cond);
                let mut kind = None;
                self.alternative(*then, &mut kind);
                self.scope.truncate(before);
                let ends = self.at;
                self.at = otherwise;
                if let Some(other) = other {
                    self.alternative(*other, &mut kind);
                }
                self.join(&[ends, self.at]);
                let kind = kind.unwrap_or_else(Kind::primitive);
                self.after(Place::After(id, index), scope, out, &kind);
            }
            Node::Match { expr, arms, out, .. } => {
                let subject = self.subject(expr);
                let mut kind = None;
                let mut ends = Vec::new();
                for (pat, body) in arms {
                    let depth = self.scope.len();
                    let next = self.arm(pat, expr, &subject);
                    self.alternative(*body, &mut kind);
                    self.scope.truncate(depth);
                    ends.push(self.at);
                    self.at = next;
                }
                self.join(&ends);
                let kind = kind.unwrap_or_else(Kind::primitive);
                self.after(Place::After(id, index), scope, out, &kind);
            }
            Node::Loop { label, body, out, .. } => {
                let (head, leave) = self.enter(label.as_ref(), false);
                self.mark(Place::Head(id, index), scope.clone());
                self.block(*body);
                self.edge(self.at, head);
                self.leave(leave, false);
                let kind = Kind::unknown().borrowing(self.brought.clone());
                self.after(Place::After(id, index), scope, out, &kind);
            }
            Node::Scope { label, body, out, .. } => {
                let leave = label.as_ref().map(|l| self.enter(Some(l), true).1);
                let kind = self.block(*body);
                let mut kind = kind;
                if let Some(leave) = leave {
                    self.leave(leave, true);
                    kind = Kind { drops: true, primitive: false, ..kind }.borrowing(self.brought.clone());
                }
                self.after(Place::After(id, index), scope, out, &kind);
            }
        }
    }

    /// Evaluates one of several blocks; blocks that end elsewhere do not contribute to the kind.
    fn alternative(&mut self, id: BlockId, kind: &mut Option<Kind>) {
        let this = self.block(id);
        if self.at.is_some() {
            *kind = Some(match kind.take() {
                Some(other) => both(other, this),
                None => this,
            });
        }
    }

    fn after(&mut self, place: Place, scope: Vec<usize>, out: &Dest, kind: &Kind) {
        if let Dest::Value = out {
            self.last = kind.clone();
            return;
        }
        // No code follows a compound statement that is the result of the task.
        if !matches!((place, out), (Place::After(..), Dest::Tail)) {
            if let (Place::After(..), Dest::Let(..)) = (place, out)
                && kind.lends != kinds::Lend::Owned
            {
                self.graph.carried.insert(place, kind.clone());
            }
            self.mark(place, scope);
        }
        self.out(out, kind);
    }

    fn out(&mut self, out: &Dest, kind: &Kind) {
        match out {
            Dest::Let(pat, ty) => {
                let known = ty.as_ref().and_then(|t| kinds::of_type(t));
                let mut kind = Kind { from: kind.from.clone(), ..known.unwrap_or_else(|| kind.clone()) };
                if let Some(ty) = ty.as_ref().filter(|t| kinds::owns_all(t, &self.own.generics)) {
                    self.keep(&kind.from, kinds::is_of_std(ty));
                    kind.from.clear();
                }
                self.bind(pat, &kind);
                self.typed(pat, ty.as_deref());
            }
            Dest::Unit | Dest::Value => {}
            Dest::Tail => self.at = None,
        }
    }

    fn point(&mut self, id: PointId) {
        let body = self.body;
        let point = &body.points[id];
        let mut lent = Kind::unknown();
        for operand in point.call.operands() {
            self.awaited = match crate::scan::peel(operand) {
                Expr::MethodCall(_) => true,
                // The awaited future is in a box.
                Expr::Call(e) => e.func.to_token_stream().to_string() == "Box :: pin",
                _ => false,
            };
            let kind = match operand {
                Expr::Async(e) => self.given(id, e),
                _ => self.value(operand),
            };
            lent.closure |= kind.closure || crate::scan::has_closure(operand);
            lent.from.extend(kind.from);
        }
        let mut result = Kind::unknown();
        if let crate::ir::Call::One(operand) = &point.call
            && self.own_inputs(operand).is_some()
            && let Some(output) = &self.own.output
        {
            // The name may refer to another function here.
            result = kinds::of_type(output).map_or(result, |kind| Kind { guess: !kind.drops, ..kind });
        }
        if let crate::ir::Call::One(operand) = &point.call
            && crate::scan::known(operand) == Some(crate::scan::Known::Creation)
        {
            // Neither the creation of an object nor the object's name borrows anything.
            lent.from.clear();
            result = Kind::reference(kinds::Lend::Shared);
        }
        let result = result.borrowing(lent.from.clone());
        self.graph.lent[id] = lent;
        let scope = self.scope.clone();
        self.after(Place::Point(id), scope, &point.out, &result);
    }

    /// Records that a part of the body takes the locals that it names, and returns the kind of the task made of it.
    fn given(&mut self, point: PointId, part: &syn::ExprAsync) -> Kind {
        let mut kind = Kind { closure: true, ..Kind::unknown() };
        self.event(Event::Nothing);
        let Some(before) = self.at else { return kind };
        let stmts = parts::statements(part);
        let first = stmts.iter().position(scan::stmt_awaits).unwrap_or(stmts.len());
        let (tokens, late) = (part.to_token_stream(), stmts[first..].iter().map(ToTokens::to_token_stream).collect());
        for (var, named) in self.named(stmts, &tokens) {
            let key = &self.names.vars[var].key;
            let assigned = macros::assigns(&tokens, key);
            let early = !self.params.contains(&var) && !self.graph.kinds[var].primitive && !macros::uses(&late, key);
            self.graph.given.push(Given { point, var, before, assigned, early });
            kind.from.extend(self.graph.kinds[var].from.iter().copied());
            let span = part.async_token.span;
            match named {
                None if !assigned => self.touch(var, Use::Value, span),
                fields => {
                    // Of unknown parts, too: the local is needed.
                    let fields = fields.into_iter().flatten().chain([None]);
                    fields.for_each(|field| self.touch(var, Use::Part(field), span));
                    self.touch(var, Use::Given, span);
                }
            }
        }
        kind
    }

    /// Records the written type of a plain binder, if it has the same meaning outside the body.
    fn typed(&mut self, pat: &Pat, ty: Option<&Type>) {
        if let (Pat::Ident(p), Some(ty)) = (pat, ty)
            && (matches!(ty, Type::Reference(_)) || !self.body.names_in(ty))
            && let Some(var) = self.names.find(&p.ident)
        {
            self.graph.types[var] = Some(ty.clone());
        }
    }

    pub(crate) fn plain(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::Local(local) => self.local(local),
            Stmt::Expr(e, _) => {
                self.value(e);
            }
            Stmt::Macro(m) => {
                self.mac(&m.mac);
            }
            Stmt::Item(_) => {}
        }
    }

    fn local(&mut self, local: &syn::Local) {
        let (pat, written) = match &local.pat {
            Pat::Type(t) => (&*t.pat, Some(&*t.ty)),
            other => (other, None),
        };
        self.typed(pat, written);
        let ty = written.and_then(kinds::of_type);
        let Some(init) = &local.init else { return self.declare(pat, ty) };
        let expr: &Expr = &init.expr;
        if let Some(items) = next_of(expr).and_then(|n| self.names.find(n)).filter(|&var| self.names.vars[var].made) {
            // The head of a `for` loop.
            let element = self.graph.kinds[items].element();
            self.touch(items, Use::Borrow, Span::mixed_site());
            if let Some(target) = self.targets.last().map(|t| t.leave) {
                self.edge(self.at, target);
            }
            return self.bind(pat, &element);
        }
        let simple = matches!(pat, Pat::Ident(p) if p.by_ref.is_none() && p.subpat.is_none());
        let mut kind = if simple { self.value(expr) } else { self.subject(expr) };
        if init.diverge.is_some() {
            self.event(Event::Nothing);
        }
        // A value that does not match is not moved.
        let otherwise = self.at;
        if !simple {
            kind = self.taken(pat, expr, &kind);
        }
        if let Some(known) = ty {
            let closure = kind.closure && known.drops;
            kind = Kind { closure, from: kind.from, place: kind.place, ..known };
        }
        if let Some(ty) = written.filter(|t| kinds::owns_all(t, &self.own.generics)) {
            self.keep(&kind.from, kinds::is_of_std(ty));
            kind.from.clear();
        }
        if let Some((_, diverge)) = &init.diverge {
            let here = std::mem::replace(&mut self.at, otherwise);
            self.value(diverge);
            self.at = here;
        }
        self.bind(pat, &kind);
    }
}

/// Returns the kind of a value that is one or the other.
pub(crate) fn both(a: Kind, b: Kind) -> Kind {
    Kind {
        drops: a.drops || b.drops,
        lends: if a.lends == b.lends { a.lends } else { kinds::Lend::Owned },
        primitive: a.primitive && b.primitive,
        guess: a.guess || b.guess,
        name: a.name || b.name,
        counted: a.counted && b.counted,
        closure: a.closure || b.closure,
        from: a.from.into_iter().chain(b.from).collect(),
        place: None,
    }
}

/// Returns the iterator, if this is the head of a `for` loop in the normaliser's form.
fn next_of(expr: &Expr) -> Option<&syn::Ident> {
    let Expr::Match(m) = expr else { return None };
    let Expr::Call(call) = &*m.expr else { return None };
    let Some(Expr::Reference(r)) = call.args.first() else { return None };
    crate::scan::name(&r.expr).filter(|n| n.to_string().starts_with("__it"))
}
