//! Signatures: the user-visible function, which makes an inert description of the call, and the function that holds the
//! body.
//!
//! A body with a head has two functions: the head, which is inlined into callers, calls the rest, which is not.

use proc_macro2::{Literal, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::visit_mut::{self, VisitMut};
use syn::{
    Attribute, Block, ConstParam, FnArg, GenericParam, Generics, Ident, Pat, ReturnType, Signature, Type, TypeParam,
    Visibility, parse_quote,
};

use super::argument;
use crate::choose::{self, Choice, Code, Param};
use crate::flow::event::Own;
use crate::kinds::{self, Kind};
use crate::macros::Worded;
use crate::parse::Options;
use crate::reasons::Reason;

/// The item that contains a function.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Home {
    Free,
    /// An `impl` block, which may be a trait's.
    Method,
    /// An `impl` block of a trait.
    TraitImpl,
    /// A trait whose tasks are opaque.
    Trait,
    /// A trait whose tasks are nominal: it may be a `dyn` type.
    NominalTrait,
}

/// A marked function.
#[derive(Clone)]
pub(crate) struct Function {
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) vis: Option<Visibility>,
    pub(crate) sig: Signature,
    pub(crate) block: Option<Block>,
    pub(crate) home: Home,
    /// The trait that the function belongs to, if it is known.
    pub(crate) of: Option<TokenStream>,
}

impl Function {
    /// Returns the path prefix for calls of the sibling functions. Through `Self` alone, the name could resolve to
    /// another function: an inherent one, or another trait's.
    pub(super) fn through(&self) -> TokenStream {
        let site = Span::mixed_site();
        match &self.of {
            Some(of) => quote_spanned!(site=> <Self as #of>),
            None => quote_spanned!(site=> Self),
        }
    }
}

/// The parts of a signature that both functions share.
pub(super) struct Parts {
    pub(super) generics: Generics,
    pub(super) receiver: Option<syn::Receiver>,
    /// The user-visible name and the type of each parameter.
    pub(super) inputs: Vec<(Ident, Type)>,
    pub(super) params: Vec<Param>,
    pub(super) ret: Type,
}

/// Writes a marked function. A function with a `#[cfg]` parameter is written twice: with the parameter and without it.
pub(crate) fn write(function: Function, options: &Options) -> syn::Result<TokenStream> {
    let mut function = function;
    if let Some((place, condition)) = conditional(&mut function.sig) {
        let mut without = function.clone();
        without.sig.inputs =
            without.sig.inputs.into_iter().enumerate().filter(|(i, _)| *i != place).map(|(_, p)| p).collect();
        function.attrs.push(parse_quote!(#[cfg(#condition)]));
        without.attrs.push(parse_quote!(#[cfg(not(#condition))]));
        let (with, without) = (write(function, options)?, write(without, options)?);
        return Ok(quote!(#with #without));
    }
    if let Some(block) = &mut function.block {
        Worded.visit_block_mut(block);
    }
    let mut parts = parts(&mut function.sig);
    if function.home == Home::Free {
        return super::free::free(&function, &parts, options);
    }
    if let Some(block) = &mut function.block {
        This.visit_block_mut(block);
        for p in &mut parts.params {
            This.visit_pat_mut(&mut p.pat);
        }
    }
    super::method::method(&function, &parts, options)
}

/// Removes the condition of the first parameter that has one, and returns the parameter's index with the condition.
fn conditional(sig: &mut Signature) -> Option<(usize, TokenStream)> {
    sig.inputs.iter_mut().enumerate().find_map(|(place, input)| {
        let attrs = match input {
            FnArg::Receiver(r) => &mut r.attrs,
            FnArg::Typed(p) => &mut p.attrs,
        };
        attrs.iter_mut().for_each(unfold);
        let condition = attrs.iter().position(|a| a.path().is_ident("cfg"))?;
        match attrs.remove(condition).meta {
            syn::Meta::List(list) => Some((place, list.tokens)),
            _ => None,
        }
    })
}

/// Rewrites `cfg_attr(a, cfg(b))` as `cfg(any(not(a), b))`.
fn unfold(attr: &mut syn::Attribute) {
    type Metas = syn::punctuated::Punctuated<syn::Meta, syn::Token![,]>;
    let Ok(metas) = attr.parse_args_with(Metas::parse_terminated) else { return };
    let mut metas = metas.iter();
    if let (true, Some(condition), Some(syn::Meta::List(inner)), None) =
        (attr.path().is_ident("cfg_attr"), metas.next(), metas.next(), metas.next())
        && inner.path.is_ident("cfg")
    {
        let then = &inner.tokens;
        *attr = parse_quote!(#[cfg(any(not(#condition), #then))]);
    }
}

pub(super) fn parts(sig: &mut Signature) -> Parts {
    let mut generics = sig.generics.clone();
    let mut named = Named { generics: &mut generics };
    let (mut receiver, mut inputs, mut params) = (None, Vec::new(), Vec::new());
    for (i, input) in sig.inputs.iter_mut().enumerate() {
        match input {
            FnArg::Receiver(r) => {
                let this = this();
                let pat = match r.mutability {
                    Some(_) => syn::parse_quote!(mut #this),
                    None => syn::parse_quote!(#this),
                };
                let kind = choose::receiver(r);
                params.push(Param {
                    attrs: std::mem::take(&mut r.attrs),
                    pat,
                    argument: r.self_token.to_token_stream(),
                    kind,
                    ty: None,
                });
                r.mutability = None;
                receiver = Some(r.clone());
            }
            FnArg::Typed(p) => {
                named.visit_type_mut(&mut p.ty);
                let kind = kinds::of_type(&p.ty).unwrap_or_else(Kind::unknown);
                let argument = argument(i);
                let shown = match &*p.pat {
                    Pat::Ident(id) if id.by_ref.is_none() && id.subpat.is_none() => id.ident.clone(),
                    _ => argument.clone(),
                };
                inputs.push((shown, (*p.ty).clone()));
                let argument = argument.into_token_stream();
                let ty = Some((*p.ty).clone());
                params.push(Param { attrs: p.attrs.clone(), pat: (*p.pat).clone(), argument, kind, ty });
            }
        }
    }
    let ret = match &sig.output {
        ReturnType::Default => syn::parse_quote!(()),
        ReturnType::Type(_, ty) => (**ty).clone(),
    };
    Parts { generics, receiver, inputs, params, ret }
}

/// Returns the local that replaces `self`.
pub(super) fn this() -> Ident {
    Ident::new("__this", Span::mixed_site())
}

/// Renames `self`, also inside macro arguments.
struct This;

impl VisitMut for This {
    fn visit_expr_path_mut(&mut self, path: &mut syn::ExprPath) {
        if path.qself.is_none() && path.path.is_ident("self") {
            path.path = this().into();
        }
    }
    fn visit_macro_mut(&mut self, mac: &mut syn::Macro) {
        let tokens = std::mem::take(&mut mac.tokens);
        mac.tokens = crate::macros::substitute(tokens, &|i| (i == "self").then(this));
    }
    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}

/// Gives `impl Trait` in arguments a name.
struct Named<'a> {
    generics: &'a mut Generics,
}

impl VisitMut for Named<'_> {
    fn visit_type_mut(&mut self, ty: &mut Type) {
        visit_mut::visit_type_mut(self, ty);
        if let Type::ImplTrait(opaque) = ty {
            let name = format_ident!("__T{}", self.generics.params.len());
            let bounds = &opaque.bounds;
            self.generics.params.push(syn::parse_quote!(#name: #bounds));
            *ty = syn::parse_quote!(#name);
        }
    }
}

/// Returns `::<T, N>`, without lifetimes.
pub(super) fn turbofish(generics: &Generics) -> TokenStream {
    let names: Vec<TokenStream> = generics
        .params
        .iter()
        .filter_map(|p| match p {
            GenericParam::Type(TypeParam { ident, .. }) => Some(quote!(#ident)),
            // In braces: without them, the name could be a type's.
            GenericParam::Const(ConstParam { ident, .. }) => Some(quote!({ #ident })),
            GenericParam::Lifetime(_) => None,
        })
        .collect();
    if names.is_empty() { TokenStream::new() } else { quote!(::<#(#names),*>) }
}

/// Returns the line that the documentation has about the chosen schema. If there is a reason for it, the line stands at
/// the place that the reason is about: see [`listing`](crate::listing).
pub(super) fn note(choice: &Choice) -> Literal {
    let all_straight = |straight| if straight { "straight if all its callees are straight; otherwise " } else { "" };
    let because = |why: &Reason| format!(", because {}: {}", why.what, why.cure);
    let (text, why) = match choice {
        Choice::Straight => ("straight".to_string(), None),
        Choice::Stack(code) => {
            let straight = all_straight(code.listed || code.direct);
            let lent: Vec<String> = code.lent.iter().map(|name| format!("`{name}`")).collect();
            let lent = match lent.is_empty() {
                true => String::new(),
                false => format!(", with {} in a cell", lent.join(" and ")),
            };
            let part = code.pinned.iter().map(|why| format!(", with a pinned part{}", because(why)));
            let types: Vec<String> = code.demands.iter().map(|d| format!("`{}`", d.ty.to_token_stream())).collect();
            let demands = match types.is_empty() {
                true => String::new(),
                false => format!("; pinned if {} has a destructor", types.join(" or ")),
            };
            (format!("{straight}stack{lent}{demands}{}", part.collect::<String>()), code.pinned.as_ref())
        }
        Choice::Pinned { why: None, .. } => ("pinned, as asked for".to_string(), None),
        Choice::Pinned { why: Some(why), listed } => {
            (format!("{}pinned{}", all_straight(*listed), because(why)), Some(why))
        }
    };
    let mut note = Literal::string(&format!("*Task schema: {text}.*"));
    note.set_span(why.map_or_else(Span::call_site, |why| why.span));
    note
}

pub(super) fn inline(attrs: &[Attribute]) -> Option<TokenStream> {
    let given = attrs.iter().any(|a| a.path().is_ident("inline"));
    (!given).then(|| quote!(#[inline]))
}

/// Returns the properties of the function that a recursive call reveals.
pub(super) fn own(function: &Function, parts: &Parts, free: bool) -> Own {
    let name = &function.sig.ident;
    Own {
        name: (!function.block.as_ref().is_some_and(|body| shadowed(name, body))).then(|| name.clone()),
        free,
        inputs: parts.inputs.iter().map(|(_, ty)| ty.clone()).collect(),
        output: Some(parts.ret.clone()),
        generics: parts.generics.type_params().map(|t| t.ident.clone()).collect(),
    }
}

/// Returns whether an item in the body may shadow the function's name.
fn shadowed(name: &Ident, body: &syn::Block) -> bool {
    struct Items<'n>(&'n Ident, bool);
    impl<'a> syn::visit::Visit<'a> for Items<'_> {
        fn visit_item(&mut self, item: &'a syn::Item) {
            self.1 |= crate::macros::mentions(&quote!(#item), &|other| other == self.0);
        }
    }
    let mut items = Items(name, false);
    syn::visit::Visit::visit_block(&mut items, body);
    items.1
}

/// Returns the inlining attribute for the function of a whole body. Its descriptor is always inlined; the function
/// itself is inlined only if it just forwards the outcome of another task. A loop over tasks contains closures: with
/// it, the descriptor would recurse and read its arguments from memory.
pub(super) fn inlined(code: &Code) -> TokenStream {
    if code.inlined { quote!(#[inline]) } else { quote!(#[inline(never)]) }
}

/// Writes the call of the rest behind a head, kept apart from the head's own values: see `behind` in the library. A
/// forwarding rest needs a tail call, which `behind` would prevent.
pub(super) fn opened(code: &Code, rest: TokenStream) -> TokenStream {
    let site = Span::mixed_site();
    match code.forwards {
        true if code.listed => quote_spanned!(site=> ::finespun::__rt::Outcome::with_schema(#rest)),
        true => rest,
        false => quote_spanned!(site=> ::finespun::__rt::behind(#rest)),
    }
}

/// Returns the bound by which the type of a task shows its schema.
pub(super) fn known(choice: &Choice) -> Option<TokenStream> {
    let site = Span::mixed_site();
    match choice {
        Choice::Straight => Some(quote_spanned!(site=> + ::finespun::__rt::Known<Schema = ::finespun::__rt::Straight>)),
        Choice::Stack(Code { listed: true, .. } | Code { direct: true, .. }) | Choice::Pinned { listed: true, .. } => {
            Some(quote_spanned! {site=>
                + ::finespun::__rt::Known<Schema = impl ::finespun::__rt::Schema + use<>>
            })
        }
        _ => None,
    }
}

/// Returns the name of the function that holds a method's body.
pub(super) fn sibling(name: &Ident) -> Ident {
    format_ident!("__task_{}", name.to_string().trim_start_matches("r#"), span = name.span())
}

/// Returns the name of the function that holds the rest of a method's body, behind its head.
pub(super) fn behind(name: &Ident) -> Ident {
    format_ident!("__rest_{}", name.to_string().trim_start_matches("r#"), span = name.span())
}

/// Returns whether all arguments of a task travel in registers, as far as their types tell.
pub(super) fn scalars<'a>(mut types: impl Iterator<Item = &'a Type>) -> bool {
    types.all(kinds::scalar)
}
