//! Writes the regions of the resumable code. A region is the code that runs from one location (after an await, at the
//! head of a loop, after a compound statement) until control reaches another location.
//!
//! A region keeps the structure of the source. Where control reaches an await, a loop with awaits, or the end of a
//! compound statement, the region leaves the scopes that end there, stores the locals that are live at that location,
//! and jumps there. So every statement of the body is written at most once, and only if it can still run after the task
//! has left the stack.

use std::collections::{BTreeSet, HashSet};

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::visit_mut::VisitMut;
use syn::{Expr, Ident, Lifetime, Stmt, Type};

use super::exits::{Exits, rewritten};
use super::slots::Slots;
use super::stack::is_unit;
use super::{Ready, bound};
use crate::flow::event::Place;
use crate::ir::{BlockId, Call, Dest, Node, PointId};
use crate::macros::uses;

/// The state of the writer, with its findings about the machine so far.
pub(super) struct Regions<'a> {
    pub(super) ready: &'a Ready,
    /// Locals that are live in every state: they never move to a slot.
    pub(super) permanent: BTreeSet<usize>,
    /// Locations that some region jumps to.
    pub(super) entered: HashSet<Place>,
    /// Numbers of the states; empty on the first pass.
    pub(super) numbers: Vec<Place>,
    /// The slots of those states; none on the first pass.
    pub(super) slots: Slots,
    /// Locations for which the part that is being written leaves its scopes.
    pub(super) left_for: HashSet<Place>,
}

/// Returns the slot of a local between two regions.
pub(super) fn slot(key: &Ident) -> Ident {
    Ident::new(&format!("__h_{}", key.to_string().trim_start_matches("r#")), Span::mixed_site())
}

/// Returns the slot of the pending call of an await point.
pub(super) fn pending(point: PointId) -> Ident {
    Ident::new(&format!("__p{point}"), Span::mixed_site())
}

/// Returns the slot of the value of a compound statement.
pub(super) fn result(block: BlockId, node: usize) -> Ident {
    Ident::new(&format!("__r{block}_{node}"), Span::mixed_site())
}

/// Returns the label of the block that is left for a location.
fn label(place: Place, span: Span) -> Lifetime {
    let name = match place {
        Place::Head(block, index) => format!("'__head{block}_{index}"),
        Place::After(block, index) => format!("'__after{block}_{index}"),
        Place::Point(_) => unreachable!("an await is reached within its block"),
    };
    Lifetime::new(&name, span)
}

impl Regions<'_> {
    /// Returns the locals that a location takes from their slots.
    pub(super) fn stored(&self, place: Place) -> Vec<usize> {
        let live = self.ready.flow.live.get(&place).map_or(&[][..], Vec::as_slice);
        live.iter().copied().filter(|v| !self.permanent.contains(v)).collect()
    }

    /// Returns the node at a location.
    pub(super) fn node(&self, block: BlockId, index: usize) -> &Node {
        &self.ready.body.blocks[block].nodes[index]
    }

    /// Stores the locals that are live at a location, after `first`, and jumps there. The caller must have left all scopes
    /// before: if a destructor panicked on the way, a value in a slot would be leaked.
    fn enter(&mut self, place: Place, first: TokenStream, span: Span) -> TokenStream {
        if !self.ready.flow.live.contains_key(&place) {
            // This location is unreachable.
            return TokenStream::new();
        }
        self.entered.insert(place);
        let number = self.numbers.iter().position(|p| *p == place).unwrap_or(0);
        let mut out = self.slots.begin(span);
        out.extend(first);
        for var in self.stored(place) {
            let key = &self.ready.names.vars[var].key;
            let slot = self.slots.place(&slot(key));
            out.extend(quote_spanned!(span=> #slot = ::finespun::__rt::Held::new(#key);));
        }
        quote_spanned!(span=> #out __k = #number; continue '__machine;)
    }

    /// Returns the local that holds a value before the scopes that end at the location are left.
    fn early(&self, place: Place) -> Option<Ident> {
        match place {
            Place::After(block, index) if self.node(block, index).early() => {
                Some(format_ident!("__given{block}_{index}", span = Span::mixed_site()))
            }
            _ => None,
        }
    }

    /// Leaves all scopes up to a location, where [`Regions::left`] continues.
    fn leave_for(&mut self, place: Place, value: Option<TokenStream>, span: Span) -> TokenStream {
        if !self.ready.flow.live.contains_key(&place) {
            return match value {
                Some(value) => quote_spanned!(span=> #value;),
                None => TokenStream::new(),
            };
        }
        self.left_for.insert(place);
        let label = label(place, span);
        match self.early(place) {
            Some(name) => quote_spanned!(span=> #name = #value; break #label;),
            None => quote_spanned!(span=> break #label #value;),
        }
    }

    /// Writes code that may leave its scopes for `place`, followed by the jump there.
    pub(super) fn left(&mut self, place: Place, code: TokenStream) -> TokenStream {
        if !self.left_for.remove(&place) {
            return code;
        }
        let site = Span::mixed_site();
        let label = label(place, site);
        let scope = quote_spanned! {site=>
            #label: {
                let __never: ::finespun::__rt::DivergesAsInStd = { #code };
                match __never {}
            }
        };
        match place {
            Place::After(block, index) if let Some(Dest::Let(_, ty)) = self.node(block, index).out() => {
                let ty: Vec<_> = ty.iter().cloned().collect();
                let slot = self.slots.place(&result(block, index));
                let first = quote_spanned!(site=> #slot = ::finespun::__rt::Held::new(__v););
                let store = self.enter(place, first, site);
                match self.early(place) {
                    Some(name) => quote_spanned!(site=> let #name #(: #ty)*; #scope let __v = #name; #store),
                    None => quote_spanned!(site=> let __v #(: #ty)* = #scope; #store),
                }
            }
            _ => {
                let enter = self.enter(place, TokenStream::new(), site);
                quote_spanned!(site=> #scope #enter)
            }
        }
    }

    /// Writes everything in a block from node `from` on, and the code that follows the block.
    pub(super) fn rest(&mut self, block: BlockId, from: usize) -> TokenStream {
        let site = Span::mixed_site();
        let ready = self.ready;
        let content = &ready.body.blocks[block];
        let unreached = |part: usize| ready.flow.unreached.contains(&(block, part));
        let mut out = self.uses(block);
        for index in from..content.nodes.len() {
            if unreached(index) {
                // The code before is a statement, not a value.
                return quote_spanned!(site=> #out;);
            }
            match &content.nodes[index] {
                Node::Plain(Stmt::Item(_)) => {}
                Node::Plain(Stmt::Local(local)) if local.init.is_none() => {
                    let after = self.rest(block, index + 1);
                    out.extend(self.deferred(local, &after));
                    out.extend(after);
                    return out;
                }
                Node::Plain(stmt) => {
                    out.extend(self.edited(block, stmt, |r, s| r.visit_stmt_mut(s)));
                }
                Node::Await(point) => {
                    out.extend(self.call(block, *point));
                    return out;
                }
                Node::If { cond, then, other, out: dest, .. } => {
                    let cond = self.expr(block, cond);
                    let then = self.rest(*then, 0);
                    let other = match other {
                        Some(other) => self.rest(*other, 0),
                        None if matches!(dest, Dest::Tail) => quote_spanned!(site=> return;),
                        None if matches!(dest, Dest::Value) => self.end(block, None, site),
                        None => self.leave(block, index, None, site),
                    };
                    let code = quote_spanned!(site=> if #cond { #then } else { #other });
                    out.extend(self.left(Place::After(block, index), code));
                    return out;
                }
                Node::Match { expr, arms, .. } => {
                    let expr = self.expr(block, expr);
                    let mut code = TokenStream::new();
                    for (pat, body) in arms {
                        let pat = self.edited(block, pat, |r, p| r.visit_pat_mut(p));
                        let body = self.rest(*body, 0);
                        code.extend(quote_spanned!(site=> #pat => { #body }));
                    }
                    let code = quote_spanned!(site=> match #expr { #code });
                    out.extend(self.left(Place::After(block, index), code));
                    return out;
                }
                Node::Loop { .. } => {
                    out.extend(self.enter(Place::Head(block, index), TokenStream::new(), site));
                    return out;
                }
                Node::Scope { body, .. } => {
                    let body = self.rest(*body, 0);
                    let code = quote_spanned!(site=> { #body });
                    out.extend(self.left(Place::After(block, index), code));
                    return out;
                }
            }
        }
        if unreached(content.nodes.len()) {
            return quote_spanned!(site=> #out;);
        }
        let value = content.value.as_ref().map(|value| self.expr(block, value));
        match value {
            Some(value) if unreached(content.nodes.len() + 1) => out.extend(quote_spanned!(site=> #value;)),
            value => out.extend(self.end(block, value, site)),
        }
        out
    }

    /// Returns the `use` items of a block, which apply to the whole block.
    fn uses(&self, block: BlockId) -> TokenStream {
        let item = |node: &Node| match node {
            Node::Plain(Stmt::Item(item)) => Some(item.to_token_stream()),
            _ => None,
        };
        self.ready.body.blocks[block].nodes.iter().filter_map(item).collect()
    }

    /// Returns code of a block, with the `use` items of the blocks around it.
    pub(super) fn within(&self, block: BlockId, mut code: TokenStream) -> TokenStream {
        let mut inner = block;
        while let Some((outer, _)) = self.ready.body.blocks[inner].parent {
            let uses = self.uses(outer);
            if !uses.is_empty() {
                code = quote_spanned!(Span::mixed_site()=> #uses { #code });
            }
            inner = outer;
        }
        code
    }

    /// Declares the locals of a `let` without a value, if they may occur in the code `after` it.
    fn deferred(&self, local: &syn::Local, after: &TokenStream) -> TokenStream {
        let ready = self.ready;
        let binders = crate::names::binders(&local.pat);
        let vars = binders.iter().filter_map(|name| ready.names.find(name));
        let used = vars.filter(|&var| uses(after, &ready.names.vars[var].key));
        used.map(|var| self.unset(var)).collect()
    }

    /// Declares a local that has no value yet. Its type is the written one, or its slot's.
    pub(super) fn unset(&self, var: usize) -> TokenStream {
        let site = Span::mixed_site();
        let key = &self.ready.names.vars[var].key;
        let mut out = match &self.ready.flow.types[var] {
            Some(ty) => quote_spanned!(site=> let mut #key: #ty;),
            None => quote_spanned!(site=> let mut #key;),
        };
        if self.numbers.iter().any(|&place| self.stored(place).contains(&var)) {
            let slot = self.slots.place(&slot(key));
            out.extend(quote_spanned! {site=>
                if false {
                    #key = unsafe { #slot.take() };
                    #slot = ::finespun::__rt::Held::empty();
                }
            });
        }
        out.extend(self.ready.told(var));
        out
    }

    /// Writes the code that follows the end of a block with this value.
    fn end(&mut self, block: BlockId, value: Option<TokenStream>, span: Span) -> TokenStream {
        let Some((outer, index)) = self.ready.body.blocks[block].parent else {
            return match value {
                Some(value) => self.finish(value, span),
                None if is_unit(&self.ready.ret) => quote_spanned!(span=> return;),
                None => TokenStream::new(),
            };
        };
        if let Node::Loop { .. } = self.node(outer, index) {
            let back = self.leave_for(Place::Head(outer, index), None, span);
            return quote_spanned!(span=> #value; #back);
        }
        self.leave(outer, index, value, span)
    }

    /// Returns the result of the task.
    fn finish(&self, value: TokenStream, span: Span) -> TokenStream {
        let ty: &Type = &self.ready.ret;
        quote_spanned! {span=>
            let __r: #ty = #value;
            return __r;
        }
    }

    /// Leaves a compound node with a value.
    fn leave(&mut self, block: BlockId, index: usize, value: Option<TokenStream>, span: Span) -> TokenStream {
        let place = Place::After(block, index);
        let ready = self.ready;
        match ready.body.blocks[block].nodes[index].out() {
            Some(Dest::Value) => self.end(block, value, span),
            Some(Dest::Tail) => match value {
                Some(value) => self.finish(value, span),
                None if is_unit(&self.ready.ret) => quote_spanned!(span=> return;),
                None => TokenStream::new(),
            },
            Some(Dest::Let(..)) => {
                let value = value.unwrap_or_else(|| quote!(()));
                self.leave_for(place, Some(value), span)
            }
            out => {
                let last =
                    index + 1 == ready.body.blocks[block].nodes.len() && ready.body.blocks[block].value.is_none();
                let on = match out {
                    Some(Dest::Unit) if last && ready.flow.live.contains_key(&place) => self.end(block, None, span),
                    _ => self.leave_for(place, None, span),
                };
                match value {
                    Some(value) => quote_spanned!(span=> #value; #on),
                    None => on,
                }
            }
        }
    }

    fn expr(&mut self, block: BlockId, expr: &Expr) -> TokenStream {
        self.edited(block, expr, |r, e| r.visit_expr_mut(e))
    }

    fn edited<T: Clone + ToTokens>(
        &mut self,
        block: BlockId,
        tree: &T,
        visit: impl FnOnce(&mut super::exits::Rewrite<'_>, &mut T),
    ) -> TokenStream {
        rewritten(tree, &mut Jumps { regions: self, block }, visit)
    }

    /// Writes an await that running code reaches, not one that a resumed frame starts at.
    fn call(&mut self, block: BlockId, id: PointId) -> TokenStream {
        let ready = self.ready;
        let point = &ready.body.points[id];
        let span = point.span.resolved_at(Span::mixed_site());
        let (names, lets) = bound(self.ready, &point.call, span, &mut |e| self.expr(block, e));
        let now = match &point.call {
            Call::One(_) => {
                let t = &names[0];
                quote_spanned! {span=>
                    unsafe { ::finespun::__rt::call_guarded(::finespun::__rt::cx(), #t) }.open()
                }
            }
            Call::Join(_) => {
                let start = format_ident!("start_join{}", names.len(), span = span);
                quote_spanned! {span=>
                    ::core::result::Result::Err(unsafe {
                        ::finespun::__rt::#start(::finespun::__rt::cx(), #(#names),*)
                    })
                }
            }
        };
        let wait = self.wait(id, quote_spanned!(span=> __c), span);
        if ready.flow.forwards[id] {
            return quote_spanned! {span=>
                #lets
                return match #now {
                    ::core::result::Result::Ok(__v) => __v,
                    ::core::result::Result::Err(__c) => #wait,
                };
            };
        }
        let slot = self.slots.place(&pending(id));
        if !ready.flow.closures[id] {
            let first = quote_spanned!(span=> #slot = ::finespun::__rt::Held::new(__now););
            let enter = self.enter(Place::Point(id), first, span);
            return quote_spanned!(span=> #lets let __now = #now; #enter);
        }
        // The call's type differs from the type of the hot version's call, so it cannot share the slot: wait here.
        let now = match &point.call {
            Call::One(_) => quote_spanned! {span=>
                match #now {
                    ::core::result::Result::Ok(__v) => __v,
                    ::core::result::Result::Err(__c) => #wait,
                }
            },
            Call::Join(_) => {
                let start = format_ident!("start_join{}", names.len(), span = span);
                quote_spanned! {span=>
                    unsafe { ::finespun::__rt::#start(::finespun::__rt::cx(), #(#names),*) }.await
                }
            }
        };
        let first = quote_spanned!(span=> #slot = ::finespun::__rt::Held::new(::core::result::Result::Ok(__v)););
        let enter = self.enter(Place::Point(id), first, span);
        quote_spanned! {span=>
            #lets
            let __v = #now;
            #enter
        }
    }

    /// Waits for a suspended call.
    fn wait(&self, id: PointId, child: TokenStream, span: Span) -> TokenStream {
        match self.ready.body.points[id].call {
            Call::One(_) => quote_spanned!(span=> unsafe { ::finespun::__rt::wait(#child) }.await),
            Call::Join(_) => quote_spanned!(span=> #child.await),
        }
    }

    /// Returns the value of an await point whose pending call is `pending`, an expression.
    pub(super) fn awaited(&self, id: PointId, pending: TokenStream) -> TokenStream {
        let point = &self.ready.body.points[id];
        let span = point.span.resolved_at(Span::mixed_site());
        if self.entered.contains(&Place::Point(id)) {
            let wait = self.wait(id, quote_spanned!(span=> __c), span);
            return quote_spanned! {span=>
                match #pending {
                    ::core::result::Result::Ok(__v) => __v,
                    ::core::result::Result::Err(__c) => #wait,
                }
            };
        }
        match &point.call {
            Call::One(_) => self.wait(id, pending, span),
            Call::Join(branches) => {
                let resume = format_ident!("resume_join{}", branches.len(), span = span);
                quote_spanned!(span=> unsafe { ::finespun::__rt::#resume(#pending) }.await)
            }
        }
    }
}

/// The `break` and `continue` of loops that are made of regions.
struct Jumps<'a, 'b> {
    regions: &'a mut Regions<'b>,
    /// The block that contains the statement.
    block: BlockId,
}

impl Exits for Jumps<'_, '_> {
    fn jump(&mut self, out: bool, label: Option<&Lifetime>, value: Option<&Expr>, span: Span) -> Option<TokenStream> {
        let span = span.resolved_at(Span::mixed_site());
        let mut block = self.block;
        loop {
            let (outer, index) = self.regions.ready.body.blocks[block].parent?;
            let name = |l: &Option<syn::Label>| l.as_ref().map(|l| l.name.ident.to_string());
            let wanted = label.map(|l| l.ident.to_string());
            let hit = match self.regions.node(outer, index) {
                Node::Loop { label: own, .. } => wanted.is_none() || name(own) == wanted,
                Node::Scope { label: own, .. } => wanted.is_some() && name(own) == wanted,
                _ => false,
            };
            if hit {
                let tokens = if out {
                    let value = value.map(ToTokens::to_token_stream);
                    self.regions.leave(outer, index, value, span)
                } else {
                    self.regions.leave_for(Place::Head(outer, index), None, span)
                };
                return Some(quote_spanned!(span=> { #tokens }));
            }
            block = outer;
        }
    }
}
