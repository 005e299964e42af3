//! The choice of a schema.

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
use crate::names::Names;
use crate::normalise;
use crate::parse::Wish;
use crate::reasons::Reasons;
use crate::scan;

/// A parameter of the function that will hold the body.
#[derive(Clone)]
pub(crate) struct Param {
    /// Its attributes, which go on what binds it.
    pub(crate) attrs: Vec<Attribute>,
    /// What the user binds.
    pub(crate) pat: Pat,
    /// What the function's own parameter is called.
    pub(crate) argument: TokenStream,
    pub(crate) kind: Kind,
    /// Its type, except a receiver's.
    pub(crate) ty: Option<Type>,
}

/// The schema of a task, with the code where it is known already.
pub(crate) enum Choice {
    Straight,
    Stack(Code),
    Pinned {
        /// The reason, if it was not asked for.
        why: Option<String>,
        /// What it returns holds the list of its callees' schemas: if all are straight, so is the task.
        listed: bool,
    },
}

/// The code of a stack task.
pub(crate) struct Code {
    pub(crate) head: Option<Head>,
    /// The statements behind the head.
    pub(crate) rest: TokenStream,
    /// Never leaves the stack itself: all it awaits is forwarded.
    pub(crate) forwards: bool,
    /// Only hands on the outcome of another task, and is no loop over tasks.
    pub(crate) inlined: bool,
    /// What it returns holds the list of its callees' schemas.
    pub(crate) listed: bool,
    /// The code is right if these hold; otherwise the task is pinned.
    pub(crate) demands: Vec<Demand>,
}

/// The head of a body, as a function of its own.
pub(crate) struct Head {
    /// The binders of the parameters, with what rustc need not say of them.
    pub(crate) pats: Vec<(Option<TokenStream>, TokenStream)>,
    /// The statements.
    pub(crate) stmts: TokenStream,
    /// The parameters, handed on.
    pub(crate) names: Vec<TokenStream>,
}

/// What the place of a function allows.
#[derive(Clone, Copy)]
pub(crate) struct Place {
    /// Its head may be a function of its own.
    pub(crate) split: bool,
    /// It may be found to be straight by the schemas of its callees.
    pub(crate) listed: bool,
    /// It runs at an object's home.
    pub(crate) located: bool,
}

/// Chooses for a body.
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
    // An await that is not always there would be missing in the list.
    let always = conditional.is_none() && matches!(wish, Wish::Any | Wish::Stack);
    let listed = place.listed && always && scan::listable(block);
    let mut reasons = Reasons::default();
    if let Some(span) = conditional {
        reasons.add(
            span,
            "a part of the body is conditional (`#[cfg]`)",
            "move the conditional part into a plain function",
        );
    }
    let ready = prepare(params, own, block, wish, place.split, &mut reasons);
    if reasons.0.is_empty()
        && let Some(mut ready) = ready
    {
        ready.unchecked = wish == Wish::Unchecked;
        ready.listed = listed;
        ready.located = place.located;
        let mut code = emit::stack(&ready);
        let names = emit::checks::assertions(
            &names(params, block),
            "`{}` is taken for `finespun::Ref`, which has no destructor; this type has one: write its path, as in `cell::Ref`",
        );
        let (rest, of_std) = (code.rest, emit::checks::of_std(block));
        code.rest = quote::quote!(#names #of_std #rest);
        code.inlined = code.forwards && !scan::block_has_closure(block);
        return Ok(Choice::Stack(code));
    }
    if wish == Wish::Any {
        let reason = &reasons.0[0];
        return Ok(Choice::Pinned { why: Some(reason.what.clone()), listed });
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

/// The types that are taken for names of objects by how they are written.
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

fn prepare(
    params: &[Param],
    own: &Own,
    block: &Block,
    wish: Wish,
    split: bool,
    reasons: &mut Reasons,
) -> Option<Ready> {
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
        // What comes behind a parameter with a pattern is declared behind the pattern's binders.
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
    closures::own(&mut block, pats.iter().zip(params.iter().map(|p| p.ty.as_ref())), &names);
    let ret = own.output.clone()?;
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
    let body = normalise::body(block, &owned, &mut names, reasons);
    if !reasons.0.is_empty() {
        return None;
    }
    let known: Vec<Bound> =
        pats.into_iter().zip(params).map(|(pat, p)| Bound { pat, kind: p.kind.clone(), ty: p.ty.clone() }).collect();
    let flow = capture::analyse(&known, own, &body, &names, wish.is_stack(), reasons);
    let params = known.into_iter().zip(params).map(|(known, p)| {
        // What has a pattern has its attributes there.
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
    })
}

/// How a parameter is bound, as in a plain `async fn`: a name is a local; what has another pattern is a local without a
/// name, which the pattern takes apart. So what the pattern leaves unbound lives until the task ends.
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

/// Does the type say that it borrows?
fn views(ty: &Type) -> bool {
    let text = quote::quote!(#ty).to_string();
    text.contains('&') || text.contains('\'')
}

/// What is known of a receiver.
pub(crate) fn receiver(receiver: &syn::Receiver) -> Kind {
    match &receiver.kind {
        syn::ReceiverKind::Reference(_, _, Some(_)) => Kind::reference(Lend::Mut),
        syn::ReceiverKind::Reference(..) => Kind::reference(Lend::Shared),
        syn::ReceiverKind::Typed(_, ty) => kinds::of_type(ty).unwrap_or_else(Kind::unknown),
        _ => Kind::unknown(),
    }
}
