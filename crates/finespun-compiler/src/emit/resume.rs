//! Writes the cold version of a stack task: one `async` body, entered at the await that suspended, with the locals that
//! are live there.
//!
//! ```text
//! match enter.take() { P0 => (state, locals ..) .. }     which await, and its locals
//! '__machine: loop { match state {                       one arm per place
//!     0 => { locals from their slots; wait; go on until another place; }
//! } }
//! ```
//!
//! With one location only, the loop and the slots disappear. Locals that are live at every location never move to a
//! slot. After each wait all slots are emptied, so that the frame does not store them.

use std::collections::{BTreeSet, HashMap, HashSet};

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote_spanned};
use syn::Ident;

use super::regions::{Regions, pending, result, slot};
use super::slots::Slots;
use super::stack::is_unit;
use super::{Ready, noted};
use crate::flow::event::Place;
use crate::ir::{Call, Dest, Node, PointId};
use crate::lend::Cell;
use crate::macros;

/// Writes the statements that build the frame from `__en` and return it.
pub(super) fn write(ready: &Ready) -> TokenStream {
    let site = Span::mixed_site();
    let mut regions = Regions {
        ready,
        permanent: BTreeSet::new(),
        entered: HashSet::new(),
        numbers: Vec::new(),
        slots: Slots::default(),
        left_for: HashSet::new(),
    };
    // First pass: find the locations. They stay in the order in which they are found: an arm that fills a slot precedes
    // the arms that use it, so rustc knows the slot's type there.
    let mut places: Vec<Place> = ready.entries().into_iter().map(Place::Point).collect();
    let mut at = 0;
    while at < places.len() {
        region(&mut regions, places[at]);
        let mut found: Vec<Place> = regions.entered.iter().copied().filter(|p| !places.contains(p)).collect();
        found.sort();
        places.extend(found);
        at += 1;
    }
    regions.permanent = permanent(ready, &places);
    regions.numbers = places.clone();
    let machine = places.len() > 1 || regions.entered.contains(&places[0]);
    regions.slots = Slots::new(all_slots(&regions, machine));
    // Second pass: write them.
    let arms: Vec<TokenStream> = places.iter().map(|p| region(&mut regions, *p)).collect();
    let body = if machine {
        let last = arms.len() - 1;
        let arms = arms.iter().enumerate().map(|(i, arm)| match i {
            _ if i == last => quote_spanned!(site=> _ => { #arm }),
            _ => quote_spanned!(site=> #i => { #arm }),
        });
        let enter = enter(&regions, &places, true);
        quote_spanned! {site=>
            #enter
            '__machine: loop {
                let __never: ::finespun::__rt::DivergesAsInStd = match __k { #(#arms)* };
            }
        }
    } else {
        let enter = enter(&regions, &places, false);
        let arm = &arms[0];
        match is_unit(&ready.ret) {
            true => quote_spanned!(site=> #enter let __never: ::finespun::__rt::DivergesAsInStd = { #arm };),
            false => quote_spanned!(site=> #enter #arm),
        }
    };
    let ret = &ready.ret;
    let future = noted(quote_spanned! {site=>
        async move {
            if false {
                return unsafe { ::finespun::__rt::never::<#ret>() };
            }
            #body
        }
    });
    let fallback = if ready.located { quote_spanned!(site=> fallback_here) } else { quote_spanned!(site=> fallback) };
    quote_spanned! {site=>
        fn __resumable<__E, __B: ::core::ops::FnOnce(::finespun::__rt::Enter<__E>) -> __F, __F>(
            _: &__E,
            body: __B,
        ) -> __B {
            body
        }
        #[allow(unused, unreachable_code, clippy::all)]
        let __body = __resumable(&__en, move |__enter| #future);
        return unsafe { ::finespun::__rt::#fallback(__en, __body) };
    }
}

/// Returns the locals that are live at every location. A local with a destructor stays out of the slots only if no
/// other local that has a destructor and moves to a slot was declared before it: drops run in reverse order of
/// declaration.
fn permanent(ready: &Ready, places: &[Place]) -> BTreeSet<usize> {
    let live = |p: &Place| ready.flow.live.get(p).cloned().unwrap_or_default();
    let Some(first) = places.first() else { return BTreeSet::new() };
    let mut all: BTreeSet<usize> = live(first).into_iter().collect();
    for place in places {
        let here: BTreeSet<usize> = live(place).into_iter().collect();
        all.retain(|v| here.contains(v));
    }
    let drops = |v: usize| !ready.flow.inert[v];
    loop {
        let misplaced = places.iter().find_map(|p| {
            let (live, mut moved) = (live(p), false);
            // A local that gets its value later is declared where the others are taken from their slots.
            let declared = |v: &usize| live.contains(v) || ready.flow.assigned[*v];
            ready.flow.scope[p].iter().copied().filter(declared).find(|v| {
                moved |= drops(*v) && !all.contains(v);
                moved && drops(*v) && all.contains(v)
            })
        });
        match misplaced {
            Some(var) => drop(all.remove(&var)),
            None => return all,
        }
    }
}

/// Writes the code from one location on.
fn region(regions: &mut Regions<'_>, place: Place) -> TokenStream {
    let site = Span::mixed_site();
    let ready = regions.ready;
    let stored = regions.stored(place);
    let machine = regions.numbers.len() > 1 || regions.entered.contains(&place);
    // The references into cells, behind the wait, so that no frame holds them.
    let referring = |rest: TokenStream| {
        let cells = ready.cells_at(place).filter(|cell| macros::uses(&rest, &cell.reference));
        let cells: TokenStream = cells.map(Cell::refer).collect();
        quote_spanned!(site=> #cells #rest)
    };
    let place_of = |var: usize| regions.slots.place(&slot(&ready.names.vars[var].key));
    let mut taken: Vec<TokenStream> = stored.iter().map(|&var| place_of(var)).collect();
    let rest = match place {
        Place::Point(id) => {
            let point = &ready.body.points[id];
            let span = point.span.resolved_at(Span::mixed_site());
            let mut slot = pending(id);
            slot.set_span(span);
            let slot = regions.slots.place(&slot);
            let pending =
                if machine { quote_spanned!(span=> unsafe { #slot.take() }) } else { quote_spanned!(span=> #slot) };
            let value = regions.awaited(id, pending);
            let resets = match machine && (regions.slots.separate() || ready.flow.assigned.contains(&true)) {
                true => regions.slots.reset(span),
                // The next location begins to fill all slots anew.
                false => TokenStream::new(),
            };
            match &point.out {
                Dest::Tail => quote_spanned!(span=> return #value;),
                dest => {
                    let bind = match dest {
                        Dest::Let(pat, Some(ty)) => quote_spanned!(span=> let #pat: #ty = #value;),
                        Dest::Let(pat, None) => quote_spanned!(span=> let #pat = #value;),
                        _ => quote_spanned!(span=> #value;),
                    };
                    let (block, index) = position(ready, id);
                    let rest = referring(regions.rest(block, index + 1));
                    regions.within(block, quote_spanned!(span=> #bind #resets #rest))
                }
            }
        }
        Place::Head(block, index) => {
            let Node::Loop { body, .. } = regions.node(block, index) else { unreachable!("only loops have heads") };
            let body = *body;
            let rest = referring(regions.rest(body, 0));
            regions.within(body, quote_spanned!(site=> #(#taken = ::finespun::__rt::Held::empty();)* #rest))
        }
        Place::After(block, index) => {
            let bind = match ready.body.blocks[block].nodes[index].out() {
                Some(Dest::Let(pat, ty)) => {
                    let slot = regions.slots.place(&result(block, index));
                    let value = quote_spanned!(site=> unsafe { #slot.take() });
                    taken.push(slot);
                    match ty {
                        Some(ty) => quote_spanned!(site=> let #pat: #ty = #value;),
                        None => quote_spanned!(site=> let #pat = #value;),
                    }
                }
                _ => TokenStream::new(),
            };
            let rest = referring(regions.rest(block, index + 1));
            regions.within(block, quote_spanned!(site=> #bind #(#taken = ::finespun::__rt::Held::empty();)* #rest))
        }
    };
    // The locals in the order of declaration, with those that have no value here and get one below: drops run in the
    // reverse order.
    let mut locals = Vec::new();
    for &var in &ready.flow.scope[&place] {
        let key = &ready.names.vars[var].key;
        if stored.contains(&var) {
            let slot = regions.slots.place(&slot(key));
            locals.push((var, quote_spanned!(site=> let mut #key = unsafe { #slot.take() };)));
        } else if !regions.permanent.contains(&var) && ready.flow.assigned[var] && macros::uses(&rest, key) {
            locals.push((var, regions.unset(var)));
        }
    }
    // A scope around this location ends with the locals that are declared in it.
    let mut code = rest;
    for target in around(ready, place) {
        if !regions.left_for.contains(&target) {
            continue;
        }
        let scope = &ready.flow.scope[&target];
        while let Some((_, declared)) = locals.pop_if(|(var, _)| !scope.contains(var)) {
            code = quote_spanned!(site=> #declared #code);
        }
        code = regions.left(target, code);
    }
    let locals = locals.into_iter().map(|(_, declared)| declared);
    quote_spanned!(site=> #(#locals)* #code)
}

/// Returns the locations for which the code at a location may leave its scopes, innermost first.
fn around(ready: &Ready, place: Place) -> Vec<Place> {
    let mut out = Vec::new();
    let mut inner = match place {
        Place::Point(id) => ready.body.blocks[position(ready, id).0].parent,
        Place::Head(block, index) => Some((block, index)),
        Place::After(block, _) => ready.body.blocks[block].parent,
    };
    while let Some((block, index)) = inner {
        out.extend([Place::Head(block, index), Place::After(block, index)]);
        inner = ready.body.blocks[block].parent;
    }
    out
}

/// Returns the block and the index of an await point.
fn position(ready: &Ready, id: PointId) -> (usize, usize) {
    for (b, block) in ready.body.blocks.iter().enumerate() {
        for (i, node) in block.nodes.iter().enumerate() {
            if matches!(node, Node::Await(p) if *p == id) {
                return (b, i);
            }
        }
    }
    unreachable!("every point stands in a block")
}

/// Returns the slots from which some location takes a local.
fn local_slots(regions: &Regions<'_>, places: &[Place]) -> Vec<(usize, Ident)> {
    let mut vars: Vec<usize> = places.iter().flat_map(|p| regions.stored(*p)).collect();
    vars.sort_unstable();
    vars.dedup();
    let names = &regions.ready.names;
    vars.into_iter().map(|v| (v, slot(&names.vars[v].key))).collect()
}

/// Returns the slots of results, with the tie that fixes the type where it is needed.
fn result_slots(regions: &Regions<'_>, places: &[Place]) -> Vec<(Ident, Option<Ident>)> {
    let mut slots = Vec::new();
    for place in places {
        if let Place::After(b, i) = *place
            && matches!(regions.node(b, i).out(), Some(Dest::Let(..)))
        {
            slots.push((result(b, i), regions.ready.tie(b, i)));
        }
    }
    slots
}

/// Returns the slots of all locations. A machine also has slots for the pending calls.
fn all_slots(regions: &Regions<'_>, machine: bool) -> Vec<Ident> {
    let places = &regions.numbers;
    let locals = local_slots(regions, places).into_iter().map(|(_, s)| s);
    let pendings = regions.ready.entries().into_iter().filter(|_| machine).map(pending);
    let results = result_slots(regions, places).into_iter().map(|(slot, _)| slot);
    locals.chain(pendings).chain(results).collect()
}

/// Takes the entry apart into slots and permanent locals.
fn enter(regions: &Regions<'_>, places: &[Place], machine: bool) -> TokenStream {
    let site = Span::mixed_site();
    let ready = regions.ready;
    let entries = ready.entries();
    // Bound in the order of declaration, so that they drop in the reverse order.
    let mut permanent: Vec<usize> = regions.permanent.iter().copied().collect();
    permanent.sort_by_key(|&v| ready.flow.rank[v]);
    let keys: Vec<&Ident> = permanent.iter().map(|&v| &ready.names.vars[v].key).collect();
    let locals = local_slots(regions, places);
    let pendings: Vec<Ident> = entries.iter().map(|&p| pending(p)).collect();
    let mut arms = TokenStream::new();
    for &point in &entries {
        let live = &ready.flow.live[&Place::Point(point)];
        let name = |var: usize| format_ident!("__l{var}", span = site);
        let pattern = super::tuple(live.iter().rev().map(|&v| name(v)));
        let payload = quote_spanned!(site=> (__p, #pattern));
        let pattern = ready.entered(point, payload, site);
        let stay = permanent.iter().map(|&v| name(v));
        let this = first_pending(regions, point);
        let held = locals.iter().filter(|(v, _)| live.contains(v)).map(|(v, slot)| {
            let (name, slot) = (name(*v), regions.slots.place(slot));
            quote_spanned!(site=> #slot = ::finespun::__rt::Held::new(#name);)
        });
        if !machine {
            arms.extend(quote_spanned!(site=> #pattern => { #(#held)* (#(#stay,)* #this,) }));
            continue;
        }
        let slot = regions.slots.place(&pending(point));
        let number = places.iter().position(|p| *p == Place::Point(point)).unwrap_or(0);
        arms.extend(quote_spanned! {site=>
            #pattern => {
                #(#held)*
                #slot = ::finespun::__rt::Held::new(#this);
                (#number, #(#stay,)*)
            }
        });
    }
    let ties: HashMap<Ident, Ident> =
        result_slots(regions, places).into_iter().filter_map(|(slot, tie)| Some((slot, tie?))).collect();
    let slots = regions.slots.declare(|slot| match ties.get(slot) {
        Some(tie) => quote_spanned!(site=> ::finespun::__rt::Tie::slot(#tie)),
        None => quote_spanned!(site=> ::finespun::__rt::Held::empty()),
    });
    let number = machine.then(|| quote_spanned!(site=> mut __k,));
    let taken = (!machine).then_some(pendings);
    let taken = taken.iter().flatten();
    quote_spanned! {site=>
        #slots
        let (#number #(mut #keys,)* #(mut #taken,)*) = match unsafe { __enter.take() } { #arms };
    }
}

/// Returns the pending call in the form that the machine stores.
fn first_pending(regions: &Regions<'_>, point: PointId) -> TokenStream {
    let site = Span::mixed_site();
    let entered = regions.entered.contains(&Place::Point(point));
    match &regions.ready.body.points[point].call {
        Call::One(_) if entered => quote_spanned!(site=> ::finespun::__rt::pending(__p)),
        Call::Join(all) if entered => {
            let resume = format_ident!("resume_join{}", all.len(), span = site);
            quote_spanned!(site=> ::finespun::__rt::pending_join(unsafe { ::finespun::__rt::#resume(__p) }))
        }
        _ => quote_spanned!(site=> __p),
    }
}
