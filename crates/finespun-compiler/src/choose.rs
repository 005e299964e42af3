//! Chooses the schema of a task.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote_spanned};
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{Attribute, Block, Ident, Pat, Stmt, Type};

use crate::closures;
use crate::emit::{self, Ready};
use crate::error::Errors;
use crate::flow::capture::{self, Demand};
use crate::flow::event::{Bound, Own};
use crate::head;
use crate::kinds::{self, Kind, Lend};
use crate::lend::{self, Loans};
use crate::names::Names;
use crate::normalise;
use crate::pack;
use crate::parse::Wish;
use crate::parts::{self, Cut};
use crate::reasons::{Reason, Reasons};
use crate::scan;

/// A parameter of the function that holds the body.
#[derive(Clone)]
pub(crate) struct Param {
    /// The parameter's attributes; the generated binding carries them.
    pub(crate) attrs: Vec<Attribute>,
    /// The user's pattern.
    pub(crate) pat: Pat,
    /// The name of the generated function's own parameter.
    pub(crate) argument: TokenStream,
    pub(crate) kind: Kind,
    /// The parameter's type; `None` for a receiver.
    pub(crate) ty: Option<Type>,
}

/// The schema of a task, with its generated code where the choice needs the code.
pub(crate) enum Choice {
    Straight,
    Stack(Code),
    Pinned {
        /// The reason, if the user did not ask for `pinned`.
        why: Option<Reason>,
        /// The function returns the list of its callees' schemas: the task is straight if every callee is.
        listed: bool,
    },
}

/// The code of a stack task.
pub(crate) struct Code {
    pub(crate) head: Option<Head>,
    /// The statements after the head.
    pub(crate) rest: TokenStream,
    /// The task never makes a frame of its own: it forwards the outcome of each await.
    pub(crate) forwards: bool,
    /// The task only forwards the outcome of another task, and contains no closure, as a loop over tasks does.
    pub(crate) inlined: bool,
    /// The function returns the list of its callees' schemas.
    pub(crate) listed: bool,
    /// The reason why a part of the body is pinned, if one is.
    pub(crate) pinned: Option<Reason>,
    /// The locals that lie in cells.
    pub(crate) lent: Vec<String>,
    /// A part is pinned, or locals are in cells, and the schemas of the callees of the whole body may make the task straight.
    /// Then another function runs, which has the list.
    pub(crate) direct: bool,
    /// The code is valid if all demands hold. Otherwise the task is pinned, or the build fails if `stack` was
    /// requested.
    pub(crate) demands: Vec<Demand>,
}

/// The head of a body, as a function of its own.
pub(crate) struct Head {
    /// The parameters' patterns, each with the lint attribute that it needs.
    pub(crate) pats: Vec<(Option<TokenStream>, TokenStream)>,
    /// The statements.
    pub(crate) stmts: TokenStream,
    /// The parameters, as the head passes them to the rest.
    pub(crate) names: Vec<TokenStream>,
}

/// The choices that the position of a function permits.
#[derive(Clone, Copy)]
pub(crate) struct Place {
    /// The head may be a separate function.
    pub(crate) split: bool,
    /// The schemas of the callees may make the task straight.
    pub(crate) listed: bool,
    /// The task runs at an object's home.
    pub(crate) located: bool,
}

/// Chooses the schema of a body.
pub(crate) fn choose(params: &[Param], own: &Own, block: &Block, wish: Wish, place: Place) -> syn::Result<Choice> {
    match wish {
        Wish::Straight => return Ok(Choice::Straight),
        Wish::Pinned => return Ok(Choice::Pinned { why: None, listed: false }),
        Wish::Any | Wish::Stack | Wish::Unchecked | Wish::MayBlock => {}
    }
    if !scan::block_awaits(block) && wish != Wish::MayBlock {
        return Ok(Choice::Straight);
    }
    let conditional = scan::conditional(block);
    // An await that `#[cfg]` may remove would be missing from the list.
    let always = conditional.is_none() && matches!(wish, Wish::Any | Wish::Stack);
    let listed = place.listed && always && scan::listable(block);
    let mut parts = false;
    let mut reasons = Reasons::default();
    if let Some(span) = conditional {
        reasons.add(
            span,
            "a part of the body is conditional (`#[cfg]`)",
            "move the conditional part into a plain function",
        );
    }
    let source = Source { params, own, block, wish, split: place.split };
    let mut ready = prepare(source, &[], &Loans::default(), &mut reasons);
    let mut lent = None;
    if !reasons.0.is_empty() && always {
        (ready, lent) = lending(source, ready, &reasons).unzip();
    }
    if !reasons.0.is_empty() && lent.is_none() && wish == Wish::Any && always {
        ready = parted(source);
        parts = ready.is_some();
    }
    if let Some(mut ready) = ready.filter(|_| parts || lent.is_some() || reasons.0.is_empty()) {
        ready.unchecked = wish == Wish::Unchecked;
        ready.listed = listed && !parts && lent.is_none();
        ready.located = place.located;
        let mut code = emit::stack(&ready);
        let names = emit::checks::assertions(
            &names(params, block),
            "`{}` has the name of a finespun reference or array, which has no destructor, but this type has one: write its path, as in `cell::Ref`",
        );
        let (rest, of_std) = (code.rest, emit::checks::of_std(block));
        let loans = lent
            .is_some()
            .then(|| lend::checked(&emit::pinned::write(params, &ready.ret, &lend::moved(block, &ready.moves))));
        code.rest = quote::quote!(#names #of_std #loans #rest);
        code.inlined = code.forwards && !scan::block_has_closure(block) && !parts;
        code.direct = listed && (parts || lent.is_some());
        code.lent = lent.unwrap_or_default();
        code.pinned = reasons.0.first().filter(|_| parts).cloned();
        return Ok(Choice::Stack(code));
    }
    if wish == Wish::Any {
        return Ok(Choice::Pinned { why: reasons.0.into_iter().next(), listed });
    }
    let mut errors = Errors::default();
    for reason in &reasons.0 {
        errors.span(
            reason.span,
            format!("no stack schema: {}\n= help: {}, or choose `#[task(pinned)]`", reason.what, reason.cure),
        );
    }
    errors.finish().map(|()| Choice::Pinned { why: None, listed: false })
}

/// Collects the types that their spelling marks as references to objects or arrays.
fn names(params: &[Param], block: &Block) -> Vec<Type> {
    struct Names(Vec<Type>);
    impl<'a> Visit<'a> for Names {
        fn visit_type(&mut self, ty: &'a Type) {
            let known = |other: &Type| other.to_token_stream().to_string() == ty.to_token_stream().to_string();
            if kinds::is_name(ty) && !self.0.iter().any(known) {
                self.0.push(ty.clone());
            }
            visit::visit_type(self, ty);
        }
        fn visit_item(&mut self, _: &'a syn::Item) {}
    }
    let mut names = Names(Vec::new());
    params.iter().filter_map(|p| p.ty.as_ref()).for_each(|ty| names.visit_type(ty));
    names.visit_block(block);
    names.0
}

/// A body and its function.
#[derive(Clone, Copy)]
struct Source<'a> {
    params: &'a [Param],
    own: &'a Own,
    block: &'a Block,
    wish: Wish,
    split: bool,
}

/// Finds the parts of a body without which it can have the stack schema.
fn parted(source: Source<'_>) -> Option<Ready> {
    let attempt = |cuts: &[Cut]| {
        let mut reasons = Reasons::default();
        let ready = prepare(source, cuts, &Loans::default(), &mut reasons)?;
        reasons.0.is_empty().then_some(ready)
    };
    let cuts = parts::find(source.block, &mut |cuts| attempt(cuts).is_some())?;
    attempt(&cuts)
}

/// Lends locals from cells, if loans are the only reasons against the stack schema of `ready`.
fn lending(source: Source<'_>, ready: Option<Ready>, reasons: &Reasons) -> Option<(Ready, Vec<String>)> {
    /// The largest number of locals in cells.
    const MOST: usize = 8;
    // The copy on which rustc checks the loans would repeat it.
    if has_impl(source.block) {
        return None;
    }
    let flow = ready?.flow;
    let mut loans =
        Loans { lent: Vec::new(), unsure: flow.unsure, held: flow.held, kept: flow.kept, copies: flow.copies };
    let mut reasons = reasons.0.clone();
    loop {
        let before = loans.lent.len();
        for reason in reasons {
            let lends = reason.lends?;
            if loans.lent[before..].contains(&lends) {
                continue;
            }
            if loans.lent.contains(&lends) || loans.lent.len() == MOST {
                return None;
            }
            loans.lent.push(lends);
            // With a cell for one local, a closure may own another, which has to stay.
            if prepare(source, &[], &loans, &mut Reasons::default()).is_none() {
                loans.lent.pop();
            }
        }
        if loans.lent.len() == before {
            return None;
        }
        let mut left = Reasons::default();
        let ready = prepare(source, &[], &loans, &mut left)?;
        if left.0.is_empty() {
            return Some(fewest(source, loans, ready));
        }
        reasons = left.0;
    }
}

/// Returns whether a body contains an `impl` block.
fn has_impl(block: &Block) -> bool {
    struct Impls(bool);
    impl<'a> Visit<'a> for Impls {
        fn visit_item_impl(&mut self, _: &'a syn::ItemImpl) {
            self.0 = true;
        }
    }
    let mut impls = Impls(false);
    impls.visit_block(block);
    impls.0
}

/// Lends no more locals than needed: with a cell for one local, a closure may own another.
fn fewest(source: Source<'_>, mut loans: Loans, mut ready: Ready) -> (Ready, Vec<String>) {
    let mut at = 0;
    while loans.lent.len() > 1 && at < loans.lent.len() {
        let local = loans.lent.remove(at);
        let mut reasons = Reasons::default();
        match prepare(source, &[], &loans, &mut reasons).filter(|_| reasons.0.is_empty()) {
            Some(other) => ready = other,
            None => {
                loans.lent.insert(at, local);
                at += 1;
            }
        }
    }
    let lent = loans.lent.iter().map(|key| shown(&ready.names, key)).collect();
    (ready, lent)
}

/// Returns the user's name of a local.
fn shown(names: &Names, key: &Ident) -> String {
    let shown = names.find(key).map_or_else(String::new, |var| names.vars[var].shown.clone());
    if shown == "__this" { "self".to_string() } else { shown }
}

/// Analyses a body of which the parts that begin at the `cuts` are tasks of their own, and some locals are lent from cells.
fn prepare(source: Source<'_>, cuts: &[Cut], loans: &Loans, reasons: &mut Reasons) -> Option<Ready> {
    let Source { params, own, block, wish, split } = source;
    let mut block = block.clone();
    let mut pats: Vec<Pat> = Vec::new();
    let mut lets: Vec<Stmt> = Vec::new();
    for (index, param) in params.iter().enumerate() {
        let (local, binding) = parameter(param, index);
        if lets.is_empty() {
            pats.push(local);
            lets.extend(binding);
            continue;
        }
        // Parameters after one with a pattern are declared after the binders of that pattern.
        let site = Span::mixed_site();
        let early = normalise::ident_pat(&Ident::new(&format!("__early{index}"), site));
        let (attrs, name) = (&param.attrs, normalise::pat_ident(&early));
        let ty = param.ty.as_ref().map(|ty| quote_spanned!(site=> : #ty));
        lets.push(syn::parse2(quote_spanned!(site=> #(#attrs)* let #local #ty = #name;)).expect("a let statement"));
        lets.extend(binding);
        pats.push(early);
    }
    block.stmts.splice(0..0, lets);
    let mut names = Names::resolve(&mut pats, &mut block, reasons);
    if !reasons.0.is_empty() {
        return None;
    }
    let ret = own.output.clone()?;
    let cells = lend::replace(&mut pats, params, &mut block, loans, &mut names)?;
    let taken = parts::replace(&pats, &mut block, cuts, &names, &ret);
    closures::own(&mut block, pats.iter().zip(params.iter().map(|p| p.ty.as_ref())), &names);
    let known = pats.iter().zip(params).map(|(pat, p)| head::Known { pat, kind: &p.kind });
    let head = match split {
        true => head::split(&known.collect::<Vec<_>>(), &mut block, views(&ret)),
        false => Vec::new(),
    };
    let owned = |(pat, param): (&Pat, &Param)| match pat {
        Pat::Ident(p) if param.ty.as_ref().is_some_and(normalise::mentions::is_plain) => Some(p.ident.clone()),
        _ => None,
    };
    let owned: Vec<Ident> = pats.iter().zip(params).filter_map(owned).collect();
    let mut body = normalise::body(block, &owned, &mut names, reasons);
    if !reasons.0.is_empty() {
        return None;
    }
    let known: Vec<Bound> =
        pats.into_iter().zip(params).map(|(pat, p)| Bound { pat, kind: p.kind.clone(), ty: p.ty.clone() }).collect();
    let mut flow = capture::analyse(&known, own, &body, &names, wish.is_stack(), reasons);
    if reasons.0.is_empty() && cells.cells.is_empty() && pack::finished(&mut body, &flow, &mut names) {
        flow = capture::analyse(&known, own, &body, &names, wish.is_stack(), reasons);
    }
    cells.demands.iter().for_each(|demand| flow.demand(&demand.ty, demand.own));
    let references: Vec<_> = cells.cells.iter().filter_map(|cell| names.find(&cell.reference)).collect();
    flow.live.values_mut().for_each(|live| live.retain(|var| !references.contains(var)));
    let params = known.into_iter().zip(params).map(|(known, p)| {
        // A parameter with a pattern carries its attributes in the generated `let`.
        let own =
            head::binder(&p.pat).is_some_and(|own| head::binder(&known.pat).is_some_and(|k| k.ident == own.ident));
        let attrs = if own { p.attrs.clone() } else { Vec::new() };
        (attrs, known.pat, p.argument.clone())
    });
    Some(Ready {
        params: params.collect(),
        head,
        body,
        names,
        flow,
        ret,
        unchecked: false,
        listed: false,
        located: false,
        taken,
        cells: cells.cells,
        moves: cells.moves,
    })
}

/// Returns how a parameter is bound, as in a plain `async fn`: a name is a local; any other pattern destructures an
/// unnamed local, so the parts that the pattern leaves unbound live until the task ends.
pub(crate) fn parameter(param: &Param, index: usize) -> (Pat, Option<Stmt>) {
    if head::binder(&param.pat).is_some_and(|p| !crate::names::is_constant(p)) {
        return (param.pat.clone(), None);
    }
    let local = Ident::new(&format!("__arg{index}"), Span::mixed_site());
    let binding = match &param.pat {
        Pat::Wild(_) => None,
        pat => {
            let span = pat.span().resolved_at(Span::mixed_site());
            let attrs = &param.attrs;
            Some(syn::parse2(quote_spanned!(span=> #(#attrs)* let #pat = #local;)).expect("a let statement"))
        }
    };
    (normalise::ident_pat(&local), binding)
}

/// Returns whether the text of the type shows a borrow.
fn views(ty: &Type) -> bool {
    let text = quote::quote!(#ty).to_string();
    text.contains('&') || text.contains('\'')
}

/// Returns the kind of a receiver.
pub(crate) fn receiver(receiver: &syn::Receiver) -> Kind {
    match &receiver.kind {
        syn::ReceiverKind::Reference(_, _, Some(_)) => Kind::reference(Lend::Mut),
        syn::ReceiverKind::Reference(..) => Kind::reference(Lend::Shared),
        syn::ReceiverKind::Typed(_, ty) => kinds::of_type(ty).unwrap_or_else(Kind::unknown),
        _ => Kind::unknown(),
    }
}
