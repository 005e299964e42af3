//! Writes the hot version of a stack task: its awaits are calls followed by one check.
//!
//! ```text
//! let called = '__forward0: {                  one per forwarded tail await
//!     let en = '__fallback: {
//!         parameters, body                     every exit of the task returns
//!         .. if suspended { break '__fallback En2::P0((child, (b, a))) }
//!     };
//!     return fallback(en, the cold version)
//! };
//! return called.into_outcome();                value or child: no check
//! ```
//!
//! Parameters are bound inside the blocks, so a suspended callee that borrows a local cannot leave them: rustc rejects
//! it.

use proc_macro2::{Delimiter, Group, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::visit_mut::VisitMut;
use syn::{Expr, Ident, Lifetime, Local, Pat, Stmt};

use super::exits::{Outcomes, rewritten};
use super::{Ready, bound, checks, entry, listed, own_begins, own_ends, resume, tuple};
use crate::choose::Head;
use crate::flow::event::Place;
use crate::ir::{BlockId, Call, Dest, Node, PointId};
use crate::lend::Cell;
use crate::macros::mentions;

/// Writes the statements of the stack function.
pub(super) fn write(ready: &Ready) -> TokenStream {
    let site = Span::mixed_site();
    let mut writer = Writer { ready, guarded: false };
    let mut body = TokenStream::new();
    for (attrs, pat, argument) in &ready.params {
        let head = &ready.head;
        let used = crate::head::binder(pat).is_some_and(|p| mentions(&quote!(#(#head)*), &|i| *i == p.ident));
        if used {
            // The rest need not use the parameter again.
            body.extend(quote_spanned!(site=> #[allow(unused_variables, unused_mut)]));
        }
        let checks = writer.bound(pat);
        let changed = writer.changed_in_parts(pat);
        body.extend(quote_spanned!(site=> #(#attrs)* #changed let #pat = #argument; #checks));
    }
    if let Some(assumption) = crate::head::assumption(&ready.head) {
        body.extend(quote_spanned!(site=> #[allow(unused, clippy::all)] { #assumption }));
    }
    let (inside, _) = writer.block(ready.body.root, true);
    body.extend(inside);
    if !ready.entries().is_empty() {
        let cold = resume::write(ready);
        let ties = ready.ties();
        // The copy on which rustc checks the loans shows what is unused.
        let unused = (!ready.cells.is_empty())
            .then(|| quote_spanned!(site=> #[allow(unused_variables, unused_mut, unused_assignments)]));
        body = quote_spanned! {site=>
            #(let #ties = ::finespun::__rt::Tie::new();)*
            #unused
            let __en = '__fallback: { #body };
            #cold
        };
    }
    for p in (0..ready.body.points.len()).rev() {
        if ready.flow.forwards[p] {
            let label = forward(p);
            body = quote_spanned! {site=>
                let __called = #label: { #body };
                return unsafe { ::finespun::__rt::Called::into_outcome(__called) };
            };
        }
    }
    let items = &ready.body.items;
    let callees = ready.listed.then(|| listed::list(ready.body.points.len()));
    let begin = own_begins();
    quote!(#(#items)* #callees #begin #body)
}

/// Writes the head, if the body has one.
pub(super) fn head(ready: &Ready) -> Option<Head> {
    if ready.head.is_empty() {
        return None;
    }
    let mut stmts = own_begins();
    for stmt in &ready.head {
        stmts.extend(rewritten(stmt, &mut Outcomes(&ready.ret), |r, s| r.visit_stmt_mut(s)));
    }
    stmts.extend(own_ends());
    let (mut pats, mut names) = (Vec::new(), Vec::new());
    for (_, pat, argument) in &ready.params {
        let name = crate::head::binder(pat).map(|p| p.ident.to_token_stream());
        let lint = crate::head::binder(pat).and_then(|p| p.mutability).map(|_| quote!(#[allow(unused_mut)]));
        pats.push((lint, ready.names.restore(if name.is_some() { quote!(#pat) } else { argument.clone() })));
        names.push(ready.names.restore(name.unwrap_or_else(|| argument.clone())));
    }
    Some(Head { pats, stmts: ready.names.restore(stmts), names })
}

/// Returns the local with a chunk's entry, and the label of the block that has it as its value.
fn chunk(number: usize) -> (Ident, Lifetime) {
    let site = Span::mixed_site();
    (format_ident!("__chunk{number}", span = site), Lifetime::new(&format!("'__chunk{number}"), site))
}

fn forward(point: PointId) -> Lifetime {
    Lifetime::new(&format!("'__forward{point}"), Span::mixed_site())
}

struct Writer<'a> {
    ready: &'a Ready,
    /// Whether every path to this point has passed the guard.
    guarded: bool,
}

impl Writer<'_> {
    /// Writes the statements of a block, and returns whether control may reach its end. With `tail`, the value of the
    /// block is the result of the task.
    fn block(&mut self, id: BlockId, tail: bool) -> (TokenStream, bool) {
        self.block_into(None, id, tail)
    }

    /// Writes a block whose value is assigned to `into`.
    fn block_into(&mut self, into: Option<&Ident>, id: BlockId, tail: bool) -> (TokenStream, bool) {
        let site = Span::mixed_site();
        let assigned = |code: TokenStream| match into {
            Some(name) => quote_spanned!(site=> #name = #code;),
            None => code,
        };
        let block = &self.ready.body.blocks[id];
        let mut out = TokenStream::new();
        let mut falls = true;
        let mut chunks = match id == self.ready.body.root {
            true => self.ready.chunks(),
            false => Vec::new(),
        };
        if chunks.len() == 1 {
            chunks.clear();
        }
        let mut before = Vec::new();
        for (index, node) in block.nodes.iter().enumerate() {
            let inside = self.ready.body.points_in(id, index);
            if chunks.get(before.len()).is_some_and(|chunk| inside.contains(&chunk[0])) {
                before.push(std::mem::take(&mut out));
            }
            let tie = self.ready.tie(id, index).filter(|_| !self.ready.entries().is_empty());
            let code = self.node(node, tie.as_ref(), &mut falls);
            let valued = matches!(node, Node::Await(p) if matches!(self.ready.body.points[*p].out, Dest::Value))
                || matches!(node.out(), Some(Dest::Value));
            out.extend(if valued { assigned(code) } else { code });
        }
        match (&block.value, tail) {
            // Code after the macro would be unreachable.
            (Some(Expr::Macro(m)), true) if crate::macros::diverges(&m.mac) => {
                let value = self.expr(&Expr::Macro(m.clone()));
                out.extend(quote!(#value;));
            }
            (Some(value), true) => {
                let value = self.expr(value);
                out.extend(Outcomes(&self.ready.ret).done(value, Span::mixed_site()));
            }
            (None, true) if falls && is_unit(&self.ready.ret) => {
                // Only rustc knows whether the author's last statement diverges.
                out.extend(quote!(#[allow(unreachable_code)]));
                out.extend(Outcomes(&self.ready.ret).done(quote!(()), Span::mixed_site()));
            }
            (Some(value), false) => out.extend(assigned(self.expr(value))),
            (None, _) => {}
        }
        // A chunk's block encloses all code from its first await on, which may use the locals before.
        for (number, code) in before.into_iter().enumerate().rev() {
            let (name, label) = chunk(number);
            let entry = entry(number, chunks.len(), quote!(#name), site);
            out = quote_spanned!(site=> #code let #name = #label: { #out }; break '__fallback #entry;);
        }
        (out, falls && !tail)
    }

    /// Returns whether the compiler made this local.
    fn made(&self, name: &Ident) -> bool {
        let names = &self.ready.names;
        names.find(name).is_some_and(|var| names.vars[var].made)
    }

    fn expr(&self, expr: &Expr) -> TokenStream {
        let mut expr = expr.clone();
        checks::Assignments(&|name| self.made(name)).visit_expr_mut(&mut expr);
        rewritten(&expr, &mut Outcomes(&self.ready.ret), |r, e| r.visit_expr_mut(e))
    }

    /// Returns a statement with checks of the initialiser, if the compiler made the local.
    fn looked_at(&self, stmt: &Stmt) -> Stmt {
        let mut stmt = stmt.clone();
        if let Stmt::Local(Local { pat, init: Some(init), .. }) = &mut stmt
            && crate::normalise::pat_ident(pat).is_some_and(|name| self.made(name))
        {
            checks::receivers(&mut init.expr);
        }
        checks::Assignments(&|name| self.made(name)).visit_stmt_mut(&mut stmt);
        stmt
    }

    /// Allows an unused `mut` where a local is bound that a part takes: rustc does not see that it changes there.
    fn changed_in_parts(&self, pat: &Pat) -> Option<TokenStream> {
        let taken = crate::names::binders(pat).iter().any(|name| self.ready.taken.contains(name));
        taken.then(|| quote_spanned!(Span::mixed_site()=> #[allow(unused_mut)]))
    }

    /// Writes one node; the value of a compound node passes through the `tie`.
    fn node(&mut self, node: &Node, tie: Option<&Ident>, falls: &mut bool) -> TokenStream {
        let site = Span::mixed_site();
        match node {
            Node::Plain(stmt) => {
                *falls &= !diverges(stmt);
                let stmt = &self.looked_at(stmt);
                let code = rewritten(stmt, &mut Outcomes(&self.ready.ret), |r, s| r.visit_stmt_mut(s));
                let checks = match stmt {
                    Stmt::Local(local) if local.init.is_none() => self.unset(&local.pat),
                    Stmt::Local(local) => self.bound(&local.pat),
                    _ => TokenStream::new(),
                };
                let changed = match stmt {
                    Stmt::Local(local) => self.changed_in_parts(&local.pat),
                    _ => None,
                };
                quote!(#changed #code #checks)
            }
            Node::Await(point) => {
                let out = &self.ready.body.points[*point].out;
                *falls &= !matches!(out, Dest::Tail);
                self.point(*point)
            }
            Node::If { cond, then, other, out, .. } => {
                let tail = matches!(out, Dest::Tail);
                let checks = self.bound_in(cond);
                let mut cond = cond.clone();
                checks::receivers_of_lets(&mut cond);
                let cond = self.expr(&cond);
                let before = self.guarded;
                let (then, then_falls) = self.block(*then, tail);
                let after = self.guarded || !then_falls;
                self.guarded = before;
                let mut code = quote_spanned!(site=> if #cond { #checks #then });
                let mut other_falls = true;
                if let Some(other) = other {
                    let (other, ends) = self.block(*other, tail);
                    other_falls = ends;
                    code.extend(quote_spanned!(site=> else { #other }));
                } else if tail {
                    let done = Outcomes(&self.ready.ret).done(quote!(()), site);
                    code.extend(quote_spanned!(site=> else { #done }));
                    other_falls = false;
                }
                self.guarded = after && (self.guarded || !other_falls);
                *falls &= then_falls || other_falls;
                self.bind(out, tie, code)
            }
            Node::Match { expr, arms, out, .. } => {
                let tail = matches!(out, Dest::Tail);
                let mut head = expr.clone();
                checks::receivers(&mut head);
                let head = self.expr(&head);
                let before = self.guarded;
                let (mut after, mut any) = (true, false);
                let mut code = TokenStream::new();
                for (pat, body) in arms {
                    self.guarded = before;
                    let (body, ends) = self.block(*body, tail);
                    after &= self.guarded || !ends;
                    any |= ends;
                    let (checks, changed) = (self.bound(pat), self.changed_in_parts(pat));
                    // The guard may contain exits, too.
                    let pat = rewritten(pat, &mut Outcomes(&self.ready.ret), |r, p| r.visit_pat_mut(p));
                    code.extend(quote_spanned!(site=> #changed #pat => { #checks #body }));
                }
                self.guarded = after;
                *falls &= any;
                self.bind(out, tie, quote_spanned!(site=> match #head { #code }))
            }
            Node::Loop { label, body, out, .. } => {
                let before = self.guarded;
                self.guarded = false;
                *falls &= self.ready.body.breaks(*body);
                let (body, _) = self.block(*body, false);
                self.guarded = before;
                self.bind(out, tie, quote_spanned!(site=> #label loop { #body }))
            }
            Node::Scope { body, out: out @ Dest::Let(_, ty), .. } if node.early() => {
                let name = format_ident!("__given{body}", span = site);
                let (code, ends) = self.block_into(Some(&name), *body, false);
                *falls &= ends;
                let ty = ty.iter();
                let binding = self.bind(out, tie, quote!(#name));
                quote_spanned!(site=> let #name #(: #ty)*; { #code } #binding)
            }
            Node::Scope { label, body, out, .. } => {
                let tail = matches!(out, Dest::Tail);
                let before = self.guarded;
                let (body, ends) = self.block(*body, tail);
                if label.is_some() {
                    self.guarded = before;
                } else {
                    *falls &= ends;
                }
                self.bind(out, tie, quote_spanned!(site=> #label { #body }))
            }
        }
    }

    fn bind(&self, out: &Dest, tie: Option<&Ident>, code: TokenStream) -> TokenStream {
        let site = Span::mixed_site();
        let code = match tie {
            Some(tie) => quote_spanned!(site=> ::finespun::__rt::Tie::of(#tie, #code)),
            None => code,
        };
        match out {
            Dest::Let(pat, ty) => {
                let ty = ty.as_ref().map(|ty| quote_spanned!(site=> : #ty));
                let (checks, changed) = (self.bound(pat), self.changed_in_parts(pat));
                quote_spanned!(site=> #changed let #pat #ty = #code; #checks)
            }
            Dest::Unit => quote_spanned!(site=> #code;),
            Dest::Value | Dest::Tail => code,
        }
    }

    /// Checks that binders have no destructor, where the compiler guesses so, and fixes the types that the cold version
    /// needs.
    fn bound(&self, pat: &Pat) -> TokenStream {
        let names = &self.ready.names;
        let vars = crate::names::binders(pat).into_iter().filter_map(|name| names.find(&name));
        let each = vars.map(|var| {
            let key = &names.vars[var].key;
            let span = key.span().resolved_at(Span::mixed_site());
            let guessed = self.ready.flow.guessed.contains(&var);
            let check = guessed.then(|| match names.vars[var].iterates() {
                true => quote_spanned! {span=>
                    { use ::finespun::__rt::OtherThanArrays as _; ::finespun::__rt::Iterating(&#key).undropped(); }
                },
                false => quote_spanned!(span=> ::finespun::__rt::undropped(&#key);),
            });
            let tie = self.ready.tie_of(var).filter(|_| !self.ready.entries().is_empty());
            let tie = tie.map(|tie| quote_spanned!(span=> ::finespun::__rt::Tie::seen(#tie, &#key);));
            quote!(#check #tie)
        });
        each.collect()
    }

    /// Fixes the types of a pattern's locals that get their values later.
    fn unset(&self, pat: &Pat) -> TokenStream {
        let names = &self.ready.names;
        let vars = crate::names::binders(pat).into_iter().filter_map(|name| names.find(&name));
        vars.filter(|_| !self.ready.entries().is_empty()).filter_map(|var| self.ready.told(var)).collect()
    }

    /// Checks the `let`s of a condition as `bound` does.
    fn bound_in(&self, cond: &Expr) -> TokenStream {
        match crate::scan::peel(cond) {
            Expr::Let(e) => self.bound(&e.pat),
            Expr::Binary(e) => [&e.left, &e.right].into_iter().map(|side| self.bound_in(side)).collect(),
            _ => TokenStream::new(),
        }
    }

    fn point(&mut self, id: PointId) -> TokenStream {
        let point = &self.ready.body.points[id];
        let span = point.span.resolved_at(Span::mixed_site());
        let (names, mut lets) = bound(self.ready, &point.call, span, &mut |e| {
            let mut e = e.clone();
            checks::receivers(&mut e);
            self.expr(&e)
        });
        if self.ready.listed {
            lets.extend(listed::entry(id, &names[0]));
        }
        lets.extend(own_ends());
        let mut call = |t: &Ident| {
            let guarded = std::mem::replace(&mut self.guarded, true);
            let join = matches!(point.call, Call::Join(_));
            let first = join && *t == names[0];
            if (guarded && !first) || self.ready.unchecked {
                quote_spanned!(span=> unsafe { ::finespun::__rt::call(__cx, #t) })
            } else if self.ready.listed {
                quote_spanned!(span=> unsafe { ::finespun::__rt::call_guarded_in::<__Task, _>(__cx, #t) })
            } else {
                quote_spanned!(span=> unsafe { ::finespun::__rt::call_guarded(__cx, #t) })
            }
        };
        if self.ready.flow.forwards[id] {
            let call = call(&names[0]);
            let label = forward(id);
            return quote_spanned! {span=>
                #lets
                let __o = #call;
                break #label __o;
            };
        }
        let leave = |suspended: TokenStream| {
            let live = &self.ready.flow.live[&Place::Point(id)];
            let live = tuple(live.iter().rev().map(|&v| {
                let key = &self.ready.names.vars[v].key;
                if self.ready.located {
                    quote!(#key)
                } else {
                    quote_spanned!(span=> ::finespun::tasks::bounds::send(#key))
                }
            }));
            let payload = quote_spanned!(span=> (#suspended, #live));
            match self.ready.chunk(id, payload, span) {
                (_, entry, 1) => quote_spanned!(span=> break '__fallback #entry),
                (number, entry, _) => {
                    let (_, label) = chunk(number);
                    quote_spanned!(span=> break #label #entry)
                }
            }
        };
        let cells: TokenStream = self.ready.cells_at(Place::Point(id)).filter_map(Cell::renew).collect();
        let value = match &point.call {
            Call::One(task) => {
                let call = call(&names[0]);
                let leave = leave(quote_spanned!(span=> __c));
                let read = match &point.out {
                    Dest::Unit if !crate::scan::leaves(task) => unused(task, point.span),
                    _ => quote_spanned!(span=> ::finespun::__rt::Called::value(__o)),
                };
                quote_spanned! {span=> {
                    #lets
                    let __o = #call;
                    if ::finespun::__rt::Called::suspended(&__o) {
                        let __c = unsafe { ::finespun::__rt::Called::child(__o) };
                        #leave;
                    }
                    __note = ::finespun::__rt::Note::new();
                    #cells
                    unsafe { #read }
                }}
            }
            Call::Join(_) => {
                let join = format_ident!("Join{}Point", names.len(), span = span);
                let mut calls = TokenStream::new();
                let mut values = Vec::new();
                for (i, name) in names.iter().enumerate() {
                    let value = format_ident!("__j{i}", span = span);
                    let variant = format_ident!("P{i}", span = span);
                    let later = &names[i + 1..];
                    let call = call(name);
                    let leave = leave(quote_spanned! {span=>
                        ::finespun::__rt::#join::#variant(#(#values,)* __c #(, #later)*)
                    });
                    calls.extend(quote_spanned! {span=>
                        let __o = #call;
                        if ::finespun::__rt::Called::suspended(&__o) {
                            let __c = unsafe { ::finespun::__rt::Called::child(__o) };
                            #leave;
                        }
                        let #value = unsafe { ::finespun::__rt::Called::value(__o) };
                    });
                    values.push(value);
                }
                quote_spanned!(span=> { #lets #calls __note = ::finespun::__rt::Note::new(); #cells (#(#values),*) })
            }
        };
        match &point.out {
            Dest::Tail => Outcomes(&self.ready.ret).done(value, span),
            out => self.bind(out, None, value),
        }
    }
}

/// Reads the value of an awaited call that the program does not use. This has the program's own spans, from what is awaited to
/// `await`: there rustc says that the value must be used.
fn unused(task: &Expr, end: Span) -> TokenStream {
    let start = task.to_token_stream().into_iter().next().map_or(end, |token| token.span());
    let outcome = quote_spanned!(end.resolved_at(Span::mixed_site())=> __o);
    let mut outcome = Group::new(Delimiter::Parenthesis, outcome);
    outcome.set_span(end);
    quote_spanned!(start=> ::finespun::__rt::Called::value #outcome)
}

/// Returns whether control never passes this statement.
pub(super) fn diverges(stmt: &Stmt) -> bool {
    match stmt {
        Stmt::Expr(e, _) => {
            matches!(crate::scan::peel(e), Expr::Return(_) | Expr::Break(_) | Expr::Continue(_))
                || matches!(e, Expr::Macro(m) if crate::macros::diverges(&m.mac))
        }
        Stmt::Macro(m) => crate::macros::diverges(&m.mac),
        _ => false,
    }
}

/// Returns whether this is the type `()`.
pub(super) fn is_unit(ty: &syn::Type) -> bool {
    match ty {
        syn::Type::Tuple(t) => t.elems.is_empty(),
        syn::Type::Group(g) => is_unit(&g.elem),
        syn::Type::Paren(p) => is_unit(&p.elem),
        _ => false,
    }
}
