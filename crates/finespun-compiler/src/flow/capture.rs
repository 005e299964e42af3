//! Determines the locals that each state carries, and the reasons against the stack schema.

use std::collections::{BTreeSet, HashMap, HashSet};

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote_spanned};
use syn::visit::{self, Visit};
use syn::{Expr, Ident, Type};

use super::event::{Bound, Event, Given, Graph, Own, Place, Use};
use super::graph;
use super::methods;
use super::solve::{self, EMPTY, FIELDS, INTACT, MAYBE, PARTLY, TAKEN};
use crate::ir::{BlockId, Body, Dest};
use crate::kinds::{self, Lend};
use crate::names::Names;
use crate::reasons::Reasons;

/// The result of the analysis.
pub(crate) struct Flow {
    /// The locals that are live at each location, in order of declaration.
    pub(crate) live: HashMap<Place, Vec<usize>>,
    /// The locals in scope at each location.
    pub(crate) scope: HashMap<Place, Vec<usize>>,
    /// Await points whose outcome is forwarded to the caller.
    pub(crate) forwards: Vec<bool>,
    /// Await points whose operand has a new type wherever it is written.
    pub(crate) closures: Vec<bool>,
    /// Locals whose drop runs nothing.
    pub(crate) inert: Vec<bool>,
    /// Locals that are given a value by assignment.
    pub(crate) assigned: Vec<bool>,
    /// Assigned locals that are live at no await, and whose type is not written: see `emit::ties`.
    pub(crate) tied: BTreeSet<usize>,
    /// Locals that borrow from others, or whose type is new wherever they are bound.
    pub(crate) borrows: Vec<bool>,
    /// Locals that are guessed to have no destructor, where the guess matters.
    pub(crate) guessed: HashSet<usize>,
    /// The order of declaration of the locals.
    pub(crate) rank: Vec<usize>,
    /// The written types of the locals.
    pub(crate) types: Vec<Option<Type>>,
    /// Locals that a method of unknown name may have taken: nothing names them later.
    pub(crate) unsure: HashSet<String>,
    /// Locals of which other locals may keep references.
    pub(crate) held: HashSet<String>,
    /// Locals of which a method, or a value of a type of unknown name, may keep references.
    pub(crate) kept: HashSet<String>,
    /// Fields whose types are `Copy`: the local, and the path as in [`Graph::fields`].
    pub(crate) copies: HashSet<(String, String)>,
    /// The flow is valid if these hold.
    pub(crate) demands: Vec<Demand>,
    /// Unreachable parts of the body: as in [`Graph`].
    pub(crate) unreached: HashSet<(BlockId, usize)>,
}

/// A condition on a type that rustc must confirm before the code is known to be valid.
#[derive(Clone)]
pub(crate) struct Demand {
    pub(crate) ty: Type,
    /// Only the type itself must not implement `Drop`; its fields may. If false, nothing in the type may have a
    /// destructor.
    pub(crate) own: bool,
}

impl Demand {
    /// Returns a constant expression that is true if the demand is not met.
    pub(crate) fn broken(&self) -> TokenStream {
        let ty = &self.ty;
        let site = Span::mixed_site();
        match self.own {
            true => quote_spanned! {site=>
                { #[allow(unused_imports)] use ::finespun::__rt::NoDrop as _; <::finespun::__rt::Drops<#ty>>::ITSELF }
            },
            false => quote_spanned!(site=> ::core::mem::needs_drop::<#ty>()),
        }
    }
}

/// Analyses a body. If the stack schema is `demanded`, fields that are read by value are taken to be copied: if a field
/// is moved, rustc reports an error where the local is named again.
pub(crate) fn analyse(
    params: &[Bound],
    own: &Own,
    body: &Body,
    names: &Names,
    demanded: bool,
    reasons: &mut Reasons,
) -> Flow {
    let mut graph = graph::build(params, own, body, names);
    let alive = solve::alive(&graph);
    let copied = match demanded {
        true => vec![true; graph.fields.len()],
        false => solve::copied_fields(&graph, &alive),
    };
    let before = solve::before(&graph, &copied);
    for var in solve::copies(&graph, &alive) {
        let kind = &mut graph.kinds[var];
        kind.guess |= kind.drops;
        kind.drops = false;
    }
    for event in &graph.events {
        if let Event::Use(var, Use::Declare(false), _) = event {
            // The value is not available where the local is declared, so no check there can confirm a guess.
            let kind = &mut graph.kinds[*var];
            (kind.drops, kind.guess) = (kind.drops || kind.guess, false);
        }
    }
    let resumable = solve::resumable(&graph);
    let mut flow = Flow {
        live: HashMap::new(),
        scope: HashMap::new(),
        forwards: vec![false; body.points.len()],
        closures: graph.lent.iter().map(|k| k.closure).collect(),
        inert: graph.kinds.iter().map(|k| !k.drops).collect(),
        assigned: vec![false; graph.kinds.len()],
        tied: BTreeSet::new(),
        borrows: graph.kinds.iter().map(|k| k.closure || !k.from.is_empty()).collect(),
        guessed: HashSet::new(),
        rank: graph.rank(),
        types: graph.types.clone(),
        unsure: HashSet::new(),
        held: held(&graph, names),
        kept: graph.kept.iter().map(|&var| names.vars[var].key.to_string()).collect(),
        copies: copies(&graph, names, &solve::copied_fields(&graph, &alive)),
        demands: Vec::new(),
        unreached: std::mem::take(&mut graph.unreached),
    };
    for event in &graph.events {
        if let Event::Use(var, Use::Assign, _) = event {
            flow.assigned[*var] = true;
        }
    }
    for (node, event) in graph.events.iter().enumerate() {
        if let Event::Use(var, how, _) = event
            && (*how == Use::Maybe || graph.receivers.contains(&node))
            && !graph.next[node].iter().any(|&next| alive[next].any[*var])
        {
            flow.unsure.insert(names.vars[*var].key.to_string());
        }
        let Event::Place(place, scope) = event else { continue };
        let mut live = Vec::new();
        let mut unsure = Vec::new();
        let mut fields = Vec::new();
        let mut parted = Vec::new();
        for &var in scope {
            let state = before[node][var];
            let alive = &alive[node];
            let moved = state & (PARTLY | TAKEN | FIELDS) != 0 || (state & MAYBE != 0 && !alive.looked[var]);
            if moved && graph.kinds[var].drops && alive.any[var] && !alive.whole[var] {
                parted.push(var);
            } else if alive.any[var] {
                live.push(var);
                // The time of its drop, relative to others, depends on the guess, too.
                if graph.kinds[var].guess && !graph.kinds[var].drops && state & (TAKEN | EMPTY) == 0 {
                    flow.guessed.insert(var);
                }
            } else if graph.kinds[var].guess && !graph.kinds[var].drops {
                if state & !(TAKEN | EMPTY) != 0 {
                    flow.guessed.insert(var);
                }
            } else if graph.kinds[var].drops {
                match state {
                    INTACT => live.push(var),
                    state if state & !(TAKEN | EMPTY | FIELDS) == 0 => {
                        fields.extend((state & FIELDS != 0).then_some(var))
                    }
                    _ => unsure.push((var, state)),
                }
            }
        }
        if let Place::Point(p) = place {
            let tail = matches!(body.points[*p].out, Dest::Tail);
            flow.forwards[*p] =
                tail && live.is_empty() && unsure.is_empty() && fields.is_empty() && parted.is_empty() && !coerces(own);
        }
        if matches!(place, Place::Point(_)) || resumable[node] {
            for (var, state) in unsure {
                match &graph.types[var] {
                    Some(ty) => flow.demand(ty, false),
                    None => doubt(&graph, names, var, state, reasons),
                }
            }
            for var in parted {
                doubt(&graph, names, var, PARTLY, reasons);
            }
            for var in fields {
                if let Some(ty) = &graph.types[var] {
                    flow.demand(ty, true);
                }
            }
            loans(&graph, own, names, body, *place, &live, reasons);
            let carried = graph.carried.get(place).into_iter().flat_map(|kind| &kind.from);
            for &(root, _) in carried.filter(|(root, slot)| *slot || graph.kinds[*root].lends == Lend::Owned) {
                let var = &names.vars[root];
                let what = format!("a branch beside an await borrows the local `{}`", var.shown);
                let cure = "await before the branches, and bind what they look at with `let`";
                reasons.add_loan(var.key.span(), what, cure, Some(var.key.clone()));
            }
        }
        for &var in &live {
            if graph.kinds[var].closure && renewed(&graph, &resumable, var) {
                reasons.add(
                    names.vars[var].key.span(),
                    format!("`{}` holds a closure across an await", names.vars[var].shown),
                    CLOSURE_CURE,
                );
            }
        }
        flow.live.insert(*place, live);
        flow.scope.insert(*place, scope.clone());
    }
    for var in 0..graph.kinds.len() {
        let told = graph.types[var].as_ref().is_some_and(|ty| !kinds::has_holes(ty));
        if told || !flow.assigned[var] {
            continue;
        }
        let entered = (0..body.points.len()).filter(|&p| !flow.forwards[p]).map(Place::Point);
        let (mut known, mut live) = (false, false);
        for place in entered {
            known |= flow.scope.get(&place).is_some_and(|scope| scope.contains(&var));
            live |= flow.live.get(&place).is_some_and(|locals| locals.contains(&var));
        }
        if !known || live {
            continue;
        }
        if flow.borrows[var] {
            let var = &names.vars[var];
            let what = format!("`{}` borrows, and is assigned anew behind an await", var.shown);
            reasons.add(var.key.span(), what, "annotate its type, or bind the new value to a local of its own");
        } else {
            flow.tied.insert(var);
        }
    }
    for (name, span) in &body.postponed {
        let guessed = names.find(name).filter(|&var| graph.kinds[var].guess && !graph.kinds[var].drops);
        flow.guessed.extend(guessed);
        let moved = names.find(name).filter(|&var| graph.kinds[var].drops && graph.kinds[var].lends == Lend::Owned);
        if let Some(var) = moved {
            match &graph.types[var] {
                Some(ty) => flow.demand(ty, false),
                None => reasons.add(
                    *span,
                    format!("`{}` may be moved before the await beside it", names.vars[var].shown),
                    "bind the result of the await with `let` first",
                ),
            }
        }
    }
    for &Given { point, var, before: event, assigned, early } in &graph.given {
        let (state, kind) = (before[event][var], &graph.kinds[var]);
        // What the part reads has not been moved; what it assigns may have been.
        let whole = state & (EMPTY | PARTLY) == 0 && (!assigned || kind.primitive || state == INTACT);
        let lent =
            graph.lent[point].from.iter().any(|&(root, slot)| root == var && (slot || kind.lends != Lend::Shared));
        // What the part does not take is dropped before what it takes, unless it has nothing to drop.
        let left = flow.live.get(&Place::Point(point)).is_some_and(|live| live.iter().any(|&v| graph.kinds[v].drops));
        // What does not live across an await need not be `Send`.
        if !whole || lent || left || early {
            let span = body.points[point].span;
            reasons.add(span, format!("a part of the body cannot take `{}`", names.vars[var].shown), "");
        }
    }
    for (point, await_) in body.points.iter().enumerate() {
        if !flow.live.contains_key(&Place::Point(point)) {
            reasons.add(await_.span, "an await is never reached", "remove it");
        }
    }
    flow
}

/// Returns the fields that are `Copy`.
fn copies(graph: &Graph, names: &Names, copied: &[bool]) -> HashSet<(String, String)> {
    let fields = graph.fields.iter().zip(copied).filter(|(_, copied)| **copied);
    fields.map(|((var, path), _)| (names.vars[*var].key.to_string(), path.clone())).collect()
}

/// Returns the locals of which other locals may keep references.
fn held(graph: &Graph, names: &Names) -> HashSet<String> {
    let all =
        graph.kinds.iter().enumerate().flat_map(|(holder, kind)| kind.from.iter().map(move |from| (holder, from)));
    all.filter(|(holder, (root, _))| holder != root).map(|(_, (root, _))| names.vars[*root].key.to_string()).collect()
}

/// Returns whether the result of a tail await may be coerced. `&mut T` becomes `&T`, `Box<T>` becomes `Box<dyn Trait>`;
/// an outcome is not coerced.
fn coerces(own: &Own) -> bool {
    let Some(ty) = &own.output else { return false };
    let text = ty.to_token_stream();
    let pointer = |c: char| text.to_string().trim_start().starts_with(c);
    pointer('&') || pointer('*') || crate::macros::mentions(&text, &|i| i == "dyn" || i == "fn")
}

impl Flow {
    /// Demands that the type has no destructor (or, with `own`, no `Drop` of its own). rustc checks this outside the
    /// body, so the type must have a meaning there.
    pub(crate) fn demand(&mut self, ty: &Type, own: bool) {
        let text = ty.to_token_stream().to_string();
        if !self.demands.iter().any(|d| d.own == own && d.ty.to_token_stream().to_string() == text) {
            self.demands.push(Demand { ty: ty.clone(), own });
        }
    }
}

/// Adds the reason for a local of which no analysis can tell whether it still has something to drop.
fn doubt(graph: &Graph, names: &Names, var: usize, state: u8, reasons: &mut Reasons) {
    let shown = &names.vars[var].shown;
    let (maybe, partly) = (state & MAYBE != 0, state & PARTLY != 0);
    let wanted = |how: Use| match how {
        Use::Maybe => maybe,
        Use::TakePart(_) => partly && !maybe,
        Use::Value | Use::Named | Use::Fields => !partly && !maybe,
        _ => false,
    };
    let place = graph.events.iter().find_map(|e| match e {
        Event::Use(v, how, span) if *v == var && wanted(*how) => Some(*span),
        _ => None,
    });
    let span = place.unwrap_or_else(|| names.vars[var].key.span());
    let (what, cure) = match (maybe, partly) {
        (true, _) => (
            format!("`{shown}` may or may not have been moved here, and is not named again"),
            "annotate its type if it is a number or a reference, or `drop` it before the await",
        ),
        (_, true) => (
            format!("a field of `{shown}` may have been moved out of it here"),
            "take the local apart with a pattern that binds all fields",
        ),
        _ => (format!("`{shown}` is moved on some paths only"), "`drop` it on the other paths, before the await"),
    };
    reasons.add(span, what, cure);
}

const CLOSURE_CURE: &str = "make the closure a plain function, or create it after the await";

const METHOD_CURE: &str =
    "write the type of what its method returns (`let x: T = ..`), or move the part that lends into a task of its own";

/// Returns whether only methods of unknown name may borrow a local.
fn by_method_only(graph: &Graph, var: usize) -> bool {
    let receives = |node: usize| graph.receivers.contains(&node);
    let lends = |event: &Event| matches!(event, Event::Use(v, Use::Borrow | Use::Part(_), _) if *v == var);
    let calls = |event: &Event| matches!(event, Event::Use(v, Use::Maybe, _) if *v == var);
    let mut events = graph.events.iter().enumerate();
    graph.events.iter().any(calls) && !events.any(|(node, event)| lends(event) && !receives(node))
}

/// Adds the reasons for borrows that cannot move to the heap with their local.
fn loans(graph: &Graph, own: &Own, names: &Names, body: &Body, place: Place, live: &[usize], reasons: &mut Reasons) {
    let mut lent: Vec<((usize, bool), Option<usize>)> = Vec::new();
    let mut span = None;
    if let Place::Point(p) = place {
        lent.extend(graph.lent[p].from.iter().map(|l| (*l, None)));
        span = Some(body.points[p].span);
    }
    for &var in live {
        lent.extend(graph.kinds[var].from.iter().map(|l| (*l, Some(var))));
    }
    for ((root, slot), holder) in lent {
        let shown = &names.vars[root].shown;
        let span = span.unwrap_or_else(|| names.vars[root].key.span());
        if slot || graph.kinds[root].lends == Lend::Owned {
            // A value that a closure names and the operand takes is copied, so the closure does borrow it.
            if let Place::Point(p) = place
                && holder.is_none_or(|h| !graph.kinds[h].closure)
                && !matches!(body.points[p].call.operands(), [Expr::Async(_)])
                && given_away(graph, own, names, body.points[p].call.operands(), root)
            {
                continue;
            }
            let what = match holder {
                None => format!("the awaited call borrows the local `{shown}`"),
                Some(h) => format!("`{}` borrows the local `{shown}`", names.vars[h].shown),
            };
            let cure = match holder {
                Some(h) if graph.kinds[h].closure => CLOSURE_CURE,
                _ if by_method_only(graph, root) => METHOD_CURE,
                _ => "take `&`, `&mut` or a slice as a parameter, or move the part that lends into a task of its own",
            };
            reasons.add_loan(span, what, cure, Some(names.vars[root].key.clone()));
        } else if live.contains(&root) {
            reasons.add(
                span,
                format!("`{shown}` is lent to the call and used again"),
                "split it (`split_at_mut`), or hand it over and get it back",
            );
        }
    }
}

/// Returns whether a local that only methods of unknown name can have borrowed is moved into the operands themselves.
/// Then these methods did not borrow it, or the move would be an error. A closure that is not `move` borrows values
/// that can be copied, whatever else takes a copy.
fn given_away(graph: &Graph, own: &Own, names: &Names, operands: &[Expr], var: usize) -> bool {
    struct Moves<'a> {
        name: &'a Ident,
        moved: bool,
        /// The local's type may be `Copy`.
        copies: bool,
        /// A closure that is not `move` names the local, whose type may be `Copy`.
        captured: bool,
        /// The result of one of its methods is matched or accessed.
        viewed: bool,
    }
    impl<'a> Visit<'a> for Moves<'_> {
        fn visit_expr(&mut self, expr: &'a Expr) {
            match expr {
                Expr::Closure(e) if e.capture.is_some() => {
                    self.moved |= crate::macros::mentions(&e.body.to_token_stream(), &|name| name == self.name);
                    return;
                }
                Expr::Closure(e) if self.copies => {
                    self.captured |= crate::macros::mentions(&e.body.to_token_stream(), &|name| name == self.name);
                    return;
                }
                Expr::Call(e) => {
                    let mut args = e.args.iter().filter_map(crate::scan::name);
                    self.moved |= args.any(|name| name == self.name);
                }
                Expr::MethodCall(e) if methods::view(&e.method) => {
                    let mut root = &*e.receiver;
                    while let Expr::MethodCall(inner) = root {
                        root = &inner.receiver;
                    }
                    self.viewed |= crate::scan::name(root).is_some_and(|name| name == self.name);
                }
                _ => {}
            }
            visit::visit_expr(self, expr);
        }
    }
    let lent = |event: &Event| matches!(event, Event::Use(v, Use::Borrow | Use::Part(_), _) if *v == var);
    if graph.events.iter().any(lent) {
        return false;
    }
    // A closure takes a copy of a local that is known to be `Copy`: see `closures`.
    let unknown = |ty| kinds::of_type(ty).is_none() && kinds::may_be_copied(ty, &own.generics);
    let copies = graph.types[var].as_ref().is_some_and(unknown);
    let held = |name: &Ident| {
        let holder = names.find(name).map(|holder| &graph.kinds[holder]);
        holder.is_some_and(|kind| kind.closure && kind.from.contains(&(var, true)))
    };
    if copies && operands.iter().any(|operand| crate::macros::mentions(&operand.to_token_stream(), &held)) {
        return false;
    }
    let mut moves = Moves { name: &names.vars[var].key, moved: false, copies, captured: false, viewed: false };
    operands.iter().for_each(|operand| moves.visit_expr(operand));
    moves.moved && !moves.captured && !moves.viewed
}

/// Returns whether a local is declared where the resumable code may declare it again.
fn renewed(graph: &Graph, resumable: &[bool], var: usize) -> bool {
    graph
        .events
        .iter()
        .enumerate()
        .any(|(node, e)| resumable[node] && matches!(e, Event::Use(v, Use::Declare(true), _) if *v == var))
}
