//! Records the events of expressions without awaits, and returns the kind of their values.

use std::collections::BTreeSet;

use syn::spanned::Spanned;
use syn::{BinOp, Expr, Lit, UnOp};

use super::event::{Event, Use};
use super::graph::{Builder, both};
use super::{methods, place};
use crate::kinds::{self, Kind, Lend};
use crate::lend;
use crate::macros::{self, Arguments, Style};
use crate::scan;

impl<'a> Builder<'a> {
    /// Evaluates an expression by value.
    pub(crate) fn value(&mut self, expr: &Expr) -> Kind {
        match expr {
            Expr::Paren(e) => self.value(&e.expr),
            Expr::Group(e) => self.value(&e.expr),
            Expr::Lit(e) => match &e.lit {
                Lit::Int(_) | Lit::Float(_) | Lit::Bool(_) | Lit::Char(_) | Lit::Byte(_) => Kind::primitive(),
                _ => Kind::reference(Lend::Shared),
            },
            Expr::Path(e) => {
                // A function outside may have the name of a local of another block.
                let var = scan::name(expr).and_then(|n| self.names.find(n)).filter(|var| self.scope.contains(var));
                let Some(var) = var else { return Kind::unknown() };
                self.touch(var, Use::Value, e.span());
                let kind = self.graph.kinds[var].clone();
                match kind.lends {
                    // Reborrowed, not moved: the result borrows from the local.
                    Lend::Mut => kind.borrowing([(var, false)]),
                    _ => kind,
                }
            }
            Expr::Field(_) | Expr::Index(_) => self.read(expr),
            Expr::Unary(e) => match e.op {
                UnOp::Deref(_) => self.read(expr),
                _ => {
                    let kind = self.value(&e.expr);
                    if kind.primitive { kind } else { Kind::unknown() }
                }
            },
            Expr::Reference(e) => self.reference(e),
            Expr::MethodCall(e) => self.method(expr, e),
            Expr::Call(e) if is_into_iter(e) => {
                let kind = self.value(&e.args[0]);
                let var = scan::name(&e.args[0]).and_then(|n| self.names.find(n));
                match var.and_then(|var| self.graph.types[var].as_ref()) {
                    // Iterating over a reference to any other type may yield owned values.
                    Some(syn::Type::Reference(ty)) if !kinds::is_collection(&ty.elem) => {
                        Kind::unknown().borrowing(kind.from)
                    }
                    _ if matches!(scan::peel(&e.args[0]), Expr::Range(_)) => kind,
                    // A user-defined iterator may have a destructor.
                    _ => Kind { guess: kind.guess || !kind.drops, ..kind },
                }
            }
            Expr::Call(e) => {
                let mut kind = Kind::unknown();
                let func = scan::name(&e.func).and_then(|n| self.names.find(n)).filter(|var| self.scope.contains(var));
                let func = match func {
                    // A call of a closure may consume the closure.
                    Some(var) => {
                        let known = self.graph.kinds[var].clone();
                        self.touch(var, if known.drops { Use::Maybe } else { Use::Borrow }, e.func.span());
                        known
                    }
                    None => self.value(&e.func),
                };
                kind.from.extend(func.from);
                let inputs = self.own_inputs(expr);
                let foreign =
                    matches!(&*e.func, Expr::Path(p) if p.path.segments.last().is_some_and(|s| s.ident == "foreign"));
                let outer = std::mem::replace(&mut self.futures, foreign);
                for (i, arg) in e.args.iter().enumerate() {
                    let known = self.value(arg);
                    let input = inputs.and_then(|all| all.get(i));
                    if let Some(input) = input.filter(|t| kinds::owns_all(t, &self.own.generics)) {
                        self.learn(arg, input);
                        continue;
                    }
                    kind.from.extend(known.from);
                    kind.closure |= known.closure;
                }
                self.futures = outer;
                // A value behind a `&mut` argument may store the other arguments of the call.
                for arg in &e.args {
                    if let Expr::Reference(r) = scan::peel(arg)
                        && r.mutability.is_some()
                        && let Some(var) = scan::name(&r.expr).and_then(|name| self.names.find(name))
                        && self.graph.kinds[var].drops
                    {
                        let besides = kind.from.iter().copied().filter(|(other, _)| *other != var).collect();
                        self.store(var, &besides);
                    }
                }
                if scan::never_returns(e) {
                    self.at = None;
                }
                if let Expr::Path(p) = &*e.func
                    && p.path.segments.len() == 2
                    && kinds::is_primitive(&p.path.segments[0].ident)
                {
                    return Kind::guessed();
                }
                kind
            }
            Expr::Macro(e) => self.mac(&e.mac),
            Expr::Closure(e) => self.scoped(|me| me.closure(&e.body, e.capture.is_some(), e.inputs_begin.span)),
            Expr::Async(e) => {
                let body = Expr::Block(syn::ExprBlock { attrs: Vec::new(), label: None, block: e.block.clone() });
                self.closure(&body, e.capture.is_some(), e.async_token.span)
            }
            Expr::Binary(e) => self.binary(e),
            Expr::Assign(e) if matches!(&*e.left, Expr::Infer(_)) => {
                self.compared(&e.right);
                Kind::primitive()
            }
            Expr::Assign(e) => {
                let kind = match scan::root(&e.right)
                    .filter(|_| leaves_parts(&e.left) && !place::behind(&e.right))
                    .and_then(|(name, _)| self.names.find(name))
                    .filter(|&var| self.graph.kinds[var].drops && self.graph.kinds[var].lends == Lend::Owned)
                {
                    Some(var) => {
                        self.touch(var, Use::TakePart(None), e.right.span());
                        self.graph.kinds[var].clone()
                    }
                    None => self.value(&e.right),
                };
                self.destination(&e.left);
                if let Some(var) = scan::root(&e.left).and_then(|(name, _)| self.names.find(name)) {
                    self.store(var, &kind.from);
                    self.graph.kinds[var].closure |= kind.closure;
                }
                Kind::primitive()
            }
            Expr::Cast(e) => {
                let from = self.value(&e.expr).from;
                kinds::of_type(&e.ty).unwrap_or_else(Kind::unknown).borrowing(from)
            }
            Expr::Try(e) => {
                let kind = self.value(&e.expr);
                Kind { closure: false, ..self.inner(kind) }
            }
            Expr::Tuple(e) if e.elems.is_empty() => Kind::primitive(),
            Expr::Tuple(e) => self.aggregate(e.elems.iter()),
            // Unlike a number, an array is borrowed by its methods.
            Expr::Array(e) => Kind { primitive: false, ..self.aggregate(e.elems.iter()) },
            Expr::Struct(e) => {
                let mut kind = self.aggregate(e.fields.iter().map(|f| &f.expr));
                // A user-defined type, whose operators may return anything.
                (kind.drops, kind.primitive, kind.guess) = (true, false, false);
                if kind.lends == Lend::Shared {
                    kind.lends = Lend::Owned;
                }
                if let Some(rest) = &e.rest {
                    if scan::is_place(rest) {
                        kind.from.extend(self.place(rest, rest.span()).from);
                        if let Some(var) = scan::root(rest).and_then(|(name, _)| self.names.find(name))
                            && self.graph.kinds[var].drops
                            && self.graph.kinds[var].lends == Lend::Owned
                        {
                            self.touch(var, Use::TakePart(None), rest.span());
                        }
                    } else {
                        self.value(rest);
                    }
                }
                kind
            }
            Expr::Repeat(e) => {
                self.value(&e.len);
                Kind { primitive: false, ..self.value(&e.expr) }
            }
            Expr::Range(e) => {
                let ends = || e.start.as_deref().into_iter().chain(e.end.as_deref());
                let literal = |end: &Expr| matches!(scan::peel(end), Expr::Lit(e) if matches!(e.lit, syn::Lit::Int(_)));
                let integers = ends().any(literal);
                let ends = self.aggregate(ends());
                // Both ends have one type, which borrows nothing.
                if integers {
                    return Kind::primitive();
                }
                // Other ranges are taken to be of numbers.
                let kind =
                    if ends.primitive { Kind { guess: ends.guess, ..Kind::primitive() } } else { Kind::guessed() };
                kind.borrowing(ends.from)
            }
            Expr::If(e) => self.if_else(e),
            Expr::Match(e) => self.select(e),
            Expr::Block(e) => {
                let leave = e.label.as_ref().map(|l| self.enter(Some(l), true).1);
                let kind = self.stmts(&e.block.stmts);
                if let Some(leave) = leave {
                    self.leave(leave, true);
                    // The kind of a `break`'s value is unknown.
                    return Kind { drops: true, primitive: false, ..kind }.borrowing(self.brought.clone());
                }
                kind
            }
            Expr::Const(_) => Kind::unknown(),
            Expr::Unsafe(e) => match lend::source(expr).map(|(name, reference)| (self.names.find(name), reference)) {
                Some((Some(var), reference)) => {
                    self.touch(var, Use::Borrow, expr.span());
                    let kind = if reference { Kind::reference(Lend::Shared) } else { Kind::unknown() };
                    kind.borrowing(self.graph.kinds[var].from.clone())
                }
                _ => self.stmts(&e.block.stmts),
            },
            Expr::Loop(e) => {
                let (head, leave) = self.enter(e.label.as_ref(), false);
                self.stmts(&e.body.stmts);
                self.edge(self.at, head);
                self.leave(leave, false);
                Kind::unknown().borrowing(self.brought.clone())
            }
            Expr::While(e) => {
                let (head, leave) = self.enter(e.label.as_ref(), false);
                self.scoped(|me| {
                    let otherwise = me.condition(&e.cond);
                    me.edge(otherwise, leave);
                    me.stmts(&e.body.stmts);
                });
                self.edge(self.at, head);
                self.leave(leave, false);
                Kind::primitive()
            }
            Expr::ForLoop(e) => {
                let items = self.value(&e.expr).element();
                let (head, leave) = self.enter(e.label.as_ref(), false);
                self.edge(self.at, leave);
                self.scoped(|me| {
                    me.bind(&e.pat, &items);
                    me.stmts(&e.body.stmts);
                });
                self.edge(self.at, head);
                self.leave(leave, false);
                Kind::primitive()
            }
            Expr::Return(e) => {
                if let Some(value) = &e.expr {
                    self.value(value);
                }
                self.at = None;
                Kind::primitive()
            }
            Expr::Break(e) => {
                if let Some(value) = &e.expr {
                    let from = self.value(value).from;
                    self.brought.extend(from);
                }
                self.jump(e.label.as_ref(), true);
                Kind::primitive()
            }
            Expr::Continue(e) => {
                self.jump(e.label.as_ref(), false);
                Kind::primitive()
            }
            Expr::Let(_) => {
                self.condition(expr);
                Kind::primitive()
            }
            _ => Kind::unknown(),
        }
    }

    /// Returns the types of the function's parameters, if the expression calls the function itself.
    pub(crate) fn own_inputs(&self, expr: &Expr) -> Option<&'a [syn::Type]> {
        let own = self.own;
        let name = own.name.as_ref()?;
        let called = match scan::peel(expr) {
            Expr::Call(e) => match &*e.func {
                Expr::Path(p) if own.free => p.path.get_ident()?,
                Expr::Path(p) if p.path.segments.len() == 2 && p.path.segments[0].ident == "Self" => {
                    &p.path.segments[1].ident
                }
                _ => return None,
            },
            Expr::MethodCall(e) if !own.free && scan::name(&e.receiver).is_some_and(|n| n == "__this") => &e.method,
            _ => return None,
        };
        (called == name && self.names.find(called).is_none()).then_some(&own.inputs)
    }

    /// Learns the type of a local that is passed by value: the type of the parameter.
    fn learn(&mut self, arg: &Expr, ty: &syn::Type) {
        if let Some(var) = scan::name(arg).and_then(|n| self.names.find(n))
            && self.graph.types[var].is_none()
        {
            self.graph.types[var] = Some(ty.clone());
            let known = &mut self.graph.kinds[var];
            if kinds::of_type(ty).is_some_and(|kind| !kind.drops) && known.drops {
                (known.drops, known.guess) = (false, true);
            }
        }
    }

    fn stmts(&mut self, stmts: &[syn::Stmt]) -> Kind {
        self.scoped(|me| {
            let mut kind = Kind::primitive();
            for (i, stmt) in stmts.iter().enumerate() {
                match stmt {
                    syn::Stmt::Expr(e, None) if i + 1 == stmts.len() => kind = me.value(e),
                    other => me.plain(other),
                }
            }
            kind
        })
    }

    fn method(&mut self, expr: &Expr, e: &syn::ExprMethodCall) -> Kind {
        let mut from = Vec::new();
        let mut closure = false;
        let futures = std::mem::take(&mut self.awaited) || self.futures;
        let receiver = if scan::is_place(&e.receiver) {
            let span = e.receiver.span();
            let name = scan::name(&e.receiver).and_then(|n| self.names.find(n));
            match name {
                Some(var) => {
                    let known = self.graph.kinds[var].clone();
                    // Even a name like `unwrap` may belong to a user-defined method that takes `&self`.
                    let how = if !known.drops || methods::by_reference(e) { Use::Borrow } else { Use::Maybe };
                    self.touch(var, how, span);
                    self.graph.receivers.extend(self.at);
                    match known.lends {
                        _ if known.primitive => {}
                        Lend::Owned if methods::by_value(&e.method) && !futures => {}
                        Lend::Owned if methods::detached(&e.method) && !futures => {}
                        Lend::Owned => from.push((var, true)),
                        Lend::Mut => from.push((var, false)),
                        Lend::Shared => {}
                    }
                    known
                }
                None => {
                    let kind = self.place(&e.receiver, span);
                    from.extend(self.lent(&e.receiver));
                    kind
                }
            }
        } else {
            let kind = self.value(&e.receiver);
            closure = kind.closure;
            kind
        };
        from.extend(receiver.from.iter().copied());
        let before: Vec<_> = from.clone();
        let inputs = self.own_inputs(expr);
        for (i, arg) in e.args.iter().enumerate() {
            let known = self.value(arg);
            let input = inputs.and_then(|all| all.get(i));
            if let Some(input) = input.filter(|t| kinds::owns_all(t, &self.own.generics)) {
                self.learn(arg, input);
                continue;
            }
            from.extend(known.from);
            closure |= known.closure;
        }
        let lent: BTreeSet<_> = from[before.len()..].iter().copied().collect();
        let receiver_var = scan::root(called_on(&e.receiver)).and_then(|(name, _)| self.names.find(name));
        match receiver_var {
            Some(var) if methods::stores(&e.method) => self.store(var, &lent),
            // A method of another name may store references, too.
            _ => self.graph.kept.extend(lent.iter().map(|(var, _)| *var).filter(|var| Some(*var) != receiver_var)),
        }
        if methods::primitive(e) && !futures {
            return Kind::guessed();
        }
        if methods::owned(&e.method) && !futures {
            let ty = e.turbofish.as_ref().and_then(|t| match t.args.first() {
                Some(syn::GenericArgument::Type(ty)) => kinds::of_type(ty),
                _ => None,
            });
            // A user-defined method of the type may have another meaning.
            return ty.map_or_else(Kind::unknown, |kind| Kind { guess: !kind.drops, ..kind });
        }
        // A view into the referent of a reference consists of references.
        let rooted = before.iter().all(|(_, slot)| !slot);
        let views = methods::view(&e.method) || (methods::through(&e.method) && receiver.lends == Lend::Shared);
        let lends = if views && rooted { Lend::Shared } else { Lend::Owned };
        // The result of a number's method is a number, if the method is arithmetic.
        let drops = !(receiver.primitive && methods::by_value(&e.method));
        let counted = e.method == "enumerate" || (receiver.counted && e.method == "rev");
        let closure = closure || receiver.closure;
        Kind { drops, lends, closure, counted, guess: !drops, ..Kind::unknown() }.borrowing(from)
    }

    fn binary(&mut self, e: &syn::ExprBinary) -> Kind {
        match e.op {
            BinOp::And(_) | BinOp::Or(_) => {
                self.value(&e.left);
                self.event(Event::Nothing);
                let skip = self.at;
                self.value(&e.right);
                self.join(&[skip, self.at]);
                Kind::primitive()
            }
            BinOp::Eq(_) | BinOp::Ne(_) | BinOp::Lt(_) | BinOp::Le(_) | BinOp::Gt(_) | BinOp::Ge(_) => {
                self.compared(&e.left);
                self.compared(&e.right);
                Kind::primitive()
            }
            BinOp::Add(_)
            | BinOp::Sub(_)
            | BinOp::Mul(_)
            | BinOp::Div(_)
            | BinOp::Rem(_)
            | BinOp::BitXor(_)
            | BinOp::BitAnd(_)
            | BinOp::BitOr(_)
            | BinOp::Shl(_)
            | BinOp::Shr(_) => {
                let (a, b) = (self.value(&e.left), self.value(&e.right));
                if a.primitive && b.primitive {
                    return Kind { guess: a.guess || b.guess, ..Kind::primitive() };
                }
                Kind::unknown().borrowing(a.from).borrowing(b.from)
            }
            _ => {
                self.value(&e.right);
                self.compared(&e.left);
                Kind::primitive()
            }
        }
    }

    fn aggregate<'e>(&mut self, parts: impl Iterator<Item = &'e Expr>) -> Kind {
        let mut whole: Option<Kind> = None;
        for part in parts {
            let kind = self.value(part);
            whole = Some(match whole {
                Some(other) => both(other, kind),
                None => kind,
            });
        }
        whole.unwrap_or_else(Kind::primitive)
    }

    fn inner(&self, kind: Kind) -> Kind {
        Kind { drops: true, primitive: false, ..kind }
    }

    fn if_else(&mut self, e: &syn::ExprIf) -> Kind {
        let depth = self.scope.len();
        let otherwise = self.condition(&e.cond);
        let then = self.stmts(&e.then_branch.stmts);
        self.scope.truncate(depth);
        let ends = self.at;
        self.at = otherwise;
        let mut kind = then;
        if let Some((_, other)) = &e.else_branch {
            let other = self.value(other);
            kind = match (ends, self.at) {
                (None, _) => other,
                (_, None) => kind,
                _ => both(kind, other),
            };
        }
        self.join(&[ends, self.at]);
        kind
    }

    fn select(&mut self, e: &syn::ExprMatch) -> Kind {
        let subject = self.subject(&e.expr);
        let mut kind = None;
        let mut ends = Vec::new();
        for arm in &e.arms {
            let depth = self.scope.len();
            let next = self.arm(&arm.pat, &e.expr, &subject);
            let this = self.value(&arm.body);
            if self.at.is_some() {
                kind = Some(match kind.take() {
                    Some(other) => both(other, this),
                    None => this,
                });
            }
            self.scope.truncate(depth);
            ends.push(self.at);
            self.at = next;
        }
        self.join(&ends);
        kind.unwrap_or_else(Kind::primitive)
    }

    /// Evaluates the arguments of a macro of std.
    pub(crate) fn mac(&mut self, mac: &syn::Macro) -> Kind {
        let Some((style, arguments)) = macros::parse(mac) else { return Kind::unknown() };
        let mut kind = Kind::unknown();
        match &arguments {
            Arguments::List(list) => {
                for argument in list {
                    if style == Style::Value {
                        let value = self.value(&argument.expr);
                        kind.from.extend(value.from);
                        kind.closure |= value.closure;
                    } else {
                        self.compared(&argument.expr);
                    }
                }
            }
            Arguments::Repeat(value, len) => {
                let value = self.value(value);
                kind.from.extend(value.from);
                self.value(len);
            }
            Arguments::Matches(expr, pat, guard) => {
                let subject = self.subject(expr);
                self.event(Event::Nothing);
                let otherwise = self.at;
                let subject = self.taken(pat, expr, &subject);
                self.scoped(|me| {
                    me.bind(pat, &subject);
                    if let Some(guard) = guard {
                        me.value(guard);
                    }
                });
                // A value that does not match is not moved.
                self.join(&[otherwise, self.at]);
                return Kind::primitive();
            }
            Arguments::None => {}
        }
        if macros::diverges(mac) {
            self.at = None;
        }
        kind
    }
}

/// Returns whether the left side of an assignment may leave a part of the value unmoved.
fn leaves_parts(left: &Expr) -> bool {
    match scan::peel(left) {
        // A user-defined type may have a destructor.
        Expr::Struct(_) | Expr::Call(_) => true,
        Expr::Infer(_) | Expr::Range(_) => true,
        Expr::Tuple(e) => e.elems.iter().any(leaves_parts),
        Expr::Array(e) => e.elems.iter().any(leaves_parts),
        _ => false,
    }
}

/// Returns the receiver of the first method in a chain.
fn called_on(expr: &Expr) -> &Expr {
    match scan::peel(expr) {
        Expr::MethodCall(e) => called_on(&e.receiver),
        other => other,
    }
}

/// Returns whether this is the head of a `for` loop in the normaliser's form.
fn is_into_iter(call: &syn::ExprCall) -> bool {
    let path = quote::ToTokens::to_token_stream(&call.func).to_string();
    call.args.len() == 1 && path.ends_with("IntoIterator :: into_iter")
}
