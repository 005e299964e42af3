//! Signatures: the function the user calls, which makes an inert description of
//! the call, and the function that holds the body.
//!
//! A free function nests the body's function inside. A method cannot (nested
//! functions know no `Self`), so it gets a sibling `__task_NAME`, which is also
//! what makes trait methods callable through `dyn`: it returns an outcome, not
//! an opaque type.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::visit_mut::{self, VisitMut};
use syn::{Attribute, Block, FnArg, GenericParam, Generics, Ident, Pat, ReturnType, Signature, Type, Visibility};

use super::{argument, pinned, straight};
use crate::choose::{self, Choice, Param};
use crate::flow::graph::Own;
use crate::kinds::{self, Kind};
use crate::parse::Options;

/// Where a function stands.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Home {
    Free,
    /// An `impl` block; whether of a trait is not known.
    Method,
    /// An `impl` block of a trait.
    TraitImpl,
    /// A trait; the attribute is on the method.
    Trait,
    /// A trait; the attribute is on the trait.
    WholeTrait,
}

/// A marked function.
pub(crate) struct Function {
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) vis: Option<Visibility>,
    pub(crate) sig: Signature,
    pub(crate) block: Option<Block>,
    pub(crate) home: Home,
}

/// The parts of a signature that both functions are made of.
pub(super) struct Parts {
    pub(super) generics: Generics,
    pub(super) receiver: Option<syn::Receiver>,
    /// Name for the user, type.
    pub(super) inputs: Vec<(Ident, Type)>,
    params: Vec<Param>,
    pub(super) ret: Type,
}

/// Writes a marked function.
pub(crate) fn write(function: Function, options: &Options) -> syn::Result<TokenStream> {
    let mut function = function;
    let mut parts = parts(&mut function.sig);
    if function.home == Home::Free {
        return free(&function, &parts, options);
    }
    if let Some(block) = &mut function.block {
        This.visit_block_mut(block);
        for p in &mut parts.params {
            This.visit_pat_mut(&mut p.pat);
        }
    }
    method(&function, &parts, options)
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
                params.push(Param { pat, argument: quote!(self), kind, ty: None });
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
                params.push(Param { pat: (*p.pat).clone(), argument, kind, ty });
            }
        }
    }
    let ret = match &sig.output {
        ReturnType::Default => syn::parse_quote!(()),
        ReturnType::Type(_, ty) => (**ty).clone(),
    };
    Parts { generics, receiver, inputs, params, ret }
}

/// The local that stands for `self`.
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

/// `::<T, N>`, without lifetimes.
pub(super) fn turbofish(generics: &Generics) -> TokenStream {
    let names: Vec<&Ident> = generics
        .params
        .iter()
        .filter_map(|p| match p {
            GenericParam::Type(t) => Some(&t.ident),
            GenericParam::Const(c) => Some(&c.ident),
            GenericParam::Lifetime(_) => None,
        })
        .collect();
    if names.is_empty() { TokenStream::new() } else { quote!(::<#(#names),*>) }
}

/// What the documentation says about the choice.
fn note(choice: &Choice) -> String {
    match choice {
        Choice::Straight => "*Task schema: straight.*".to_string(),
        Choice::Stack(_, types) if types.is_empty() => "*Task schema: stack.*".to_string(),
        Choice::Stack(_, types) => {
            let types: Vec<String> = types.iter().map(|t| format!("`{}`", t.to_token_stream())).collect();
            format!("*Task schema: stack; pinned if {} has a destructor.*", types.join(" or "))
        }
        Choice::Pinned(None) => "*Task schema: pinned, as asked for.*".to_string(),
        Choice::Pinned(Some(why)) => format!("*Task schema: pinned, because {why}.*"),
    }
}

fn inline(attrs: &[Attribute]) -> Option<TokenStream> {
    let given = attrs.iter().any(|a| a.path().is_ident("inline"));
    (!given).then(|| quote!(#[inline]))
}

fn free(function: &Function, parts: &Parts, options: &Options) -> syn::Result<TokenStream> {
    let site = Span::mixed_site();
    let Parts { generics, inputs, params, ret, .. } = parts;
    let block = function.block.as_ref().expect("a free function has a body");
    let choice = choose::choose(params, &own(function, parts), block, options.wish)?;
    let note = note(&choice);
    let (attrs, vis, name) = (&function.attrs, &function.vis, &function.sig.ident);
    let inline = inline(attrs);
    let (head, _, clause) = generics.split_for_impl();
    let params_of_head = &generics.params;
    let head = if params_of_head.is_empty() { quote!(#head) } else { quote!(<#params_of_head>) };
    let fish = turbofish(generics);
    let shown: Vec<&Ident> = inputs.iter().map(|(n, _)| n).collect();
    let types: Vec<&Type> = inputs.iter().map(|(_, t)| t).collect();
    let arguments: Vec<&TokenStream> = params.iter().map(|p| &p.argument).collect();
    let pinned = || {
        let body = pinned::write(params, ret, block);
        let nested = quote_spanned! {site=>
            fn __body #head(#(#arguments: #types),*)
                -> impl ::core::future::Future<Output = #ret> + ::core::marker::Send
                #clause { #body }
        };
        let call = |names: &[Ident]| {
            quote_spanned! {site=>
                ::finespun::__rt::pinned_task((#(#names,)*), |(#(#arguments,)*)| {
                    __body #fish(#(#arguments),*)
                })
            }
        };
        let own: Vec<Ident> = shown.iter().map(|n| (*n).clone()).collect();
        (nested, call(&own), call(&arguments_as_names(params)))
    };
    let inner = match &choice {
        Choice::Stack(code, demands) => {
            let call = quote_spanned!(site=> unsafe { __stack #fish(__cx, #(#arguments),*) });
            let (also, call) = if demands.is_empty() {
                (TokenStream::new(), call)
            } else if options.wish == crate::parse::Wish::Stack {
                let assert = assertions(demands);
                (TokenStream::new(), quote_spanned!(site=> { #assert #call }))
            } else {
                let (nested, _, task) = pinned();
                let call = quote_spanned! {site=>
                    if const { #(::core::mem::needs_drop::<#demands>())||* } {
                        unsafe { ::finespun::__rt::Task::call(#task, __cx) }
                    } else {
                        #call
                    }
                };
                (nested, call)
            };
            quote_spanned! {site=>
                #[inline(never)]
                unsafe fn __stack #head(
                    __cx: ::finespun::__rt::Cx, #(#arguments: #types),*
                ) -> ::finespun::__rt::Outcome<#ret> #clause { #code }
                #also
                unsafe {
                    ::finespun::__rt::stack_task((#(#shown,)*), |__cx, (#(#arguments,)*)| #call)
                }
            }
        }
        Choice::Straight => {
            let pats = params.iter().map(|p| &p.pat);
            let block = straight::body(block);
            let output = &function.sig.output;
            quote_spanned! {site=>
                fn __plain #head(#(#pats: #types),*) #output #clause #block
                unsafe {
                    ::finespun::__rt::straight_task((#(#shown,)*), |(#(#arguments,)*)| {
                        __plain #fish(#(#arguments),*)
                    })
                }
            }
        }
        Choice::Pinned(_) => {
            let (nested, task, _) = pinned();
            quote_spanned!(site=> #nested unsafe { #task })
        }
    };
    Ok(quote_spanned! {site=>
        #(#attrs)*
        #[doc = ""] #[doc = #note]
        #inline
        #vis fn #name #head(#(#shown: #types),*)
            -> impl ::finespun::__rt::Task<Output = #ret> + ::core::marker::Send
            #clause { #inner }
    })
}

/// What the function says of itself to a call by itself.
fn own(function: &Function, parts: &Parts) -> Own {
    Own {
        name: Some(function.sig.ident.clone()),
        inputs: parts.inputs.iter().map(|(_, ty)| ty.clone()).collect(),
        output: Some(parts.ret.clone()),
        generics: parts.generics.type_params().map(|t| t.ident.clone()).collect(),
    }
}

/// The functions' own names of their parameters.
fn arguments_as_names(params: &[Param]) -> Vec<Ident> {
    params.iter().enumerate().map(|(i, _)| argument(i)).collect()
}

/// The demand that a forced stack schema makes, once types are known.
fn assertions(types: &[Type]) -> TokenStream {
    let site = Span::mixed_site();
    let each = types.iter().map(|ty| {
        let shown = ty.to_token_stream().to_string();
        let message = format!(
            "no stack schema: a `{shown}` may have been moved at an await, or not; \
             `drop` it before the await, or choose `#[task(pinned)]`"
        );
        quote_spanned!(site=> const { assert!(!::core::mem::needs_drop::<#ty>(), #message) };)
    });
    each.collect()
}

/// The name of the function that holds a method's body.
pub(super) fn sibling(name: &Ident) -> Ident {
    format_ident!("__task_{}", name.to_string().trim_start_matches("r#"), span = name.span())
}

fn method(function: &Function, parts: &Parts, options: &Options) -> syn::Result<TokenStream> {
    let site = Span::mixed_site();
    let Parts { generics, receiver, inputs, params, ret } = parts;
    let (attrs, vis, name) = (&function.attrs, &function.vis, &function.sig.ident);
    let body = sibling(name);
    let choice = match &function.block {
        Some(block) => Some(choose::choose(params, &own(function, parts), block, options.wish)?),
        None => None,
    };
    let head = &generics.params;
    let head = if head.is_empty() { TokenStream::new() } else { quote!(<#head>) };
    let clause = &generics.where_clause;
    let fish = turbofish(generics);
    let shown: Vec<&Ident> = inputs.iter().map(|(n, _)| n).collect();
    let types: Vec<&Type> = inputs.iter().map(|(_, t)| t).collect();
    // A default body may call the trait's own tasks, which only sized types have.
    let body_clause = match (function.home, &function.block) {
        (Home::Trait, Some(_)) => bounded(clause.as_ref(), receiver.as_ref()),
        _ => quote!(#clause),
    };
    let arguments: Vec<&TokenStream> =
        params.iter().skip(usize::from(receiver.is_some())).map(|p| &p.argument).collect();
    let me = receiver.as_ref().map(|r| quote!(#r,));
    let this = this();
    let (this_in, self_out) = match receiver {
        Some(_) => (quote!(#this,), quote!(self,)),
        None => (TokenStream::new(), TokenStream::new()),
    };
    let pinned = |block: &Block| {
        let mut params = params.clone();
        let moved = receiver.as_ref().map(|_| {
            params[0].argument = quote!(#this);
            let me = quote!(self);
            quote_spanned!(site=> let #this = #me;)
        });
        let future = pinned::write(&params, ret, block);
        quote_spanned! {site=>
            #moved
            let __future = #future;
            let __task = unsafe { ::finespun::__rt::pinned_task((__future,), |(__f,)| __f) };
            return unsafe { ::finespun::__rt::Task::call(__task, __cx) };
        }
    };
    let code = match (&choice, &function.block) {
        (Some(Choice::Stack(code, demands)), _) if demands.is_empty() => quote!({ #code }),
        (Some(Choice::Stack(code, demands)), Some(block)) => {
            let first = if options.wish == crate::parse::Wish::Stack {
                assertions(demands)
            } else {
                let pinned = pinned(block);
                quote_spanned! {site=>
                    if const { #(::core::mem::needs_drop::<#demands>())||* } { #pinned }
                }
            };
            quote!({ #first #code })
        }
        (Some(Choice::Straight), Some(block)) => {
            let code = straight::outcome(params, ret, block);
            quote!({ #code })
        }
        (Some(Choice::Pinned(_)), Some(block)) => {
            let code = pinned(block);
            quote!({ #code })
        }
        _ => quote!(;),
    };
    let lints =
        attrs.iter().filter(|a| ["allow", "expect", "warn", "deny", "cfg"].iter().any(|n| a.path().is_ident(n)));
    let never = choice.as_ref().map(|_| quote!(#[inline(never)]));
    let body_item = quote_spanned! {site=>
        #(#lints)*
        #[doc(hidden)]
        #[allow(clippy::missing_safety_doc)]
        #never
        #vis unsafe fn #body #head(#me __cx: ::finespun::__rt::Cx, #(#arguments: #types),*)
            -> ::finespun::__rt::Outcome<#ret> #body_clause #code
    };
    if function.home == Home::TraitImpl {
        return Ok(body_item);
    }
    let clause = match function.home {
        Home::Trait | Home::WholeTrait => bounded(clause.as_ref(), receiver.as_ref()),
        _ => quote!(#clause),
    };
    let note = match &choice {
        Some(choice) => note(choice),
        None => "*Task: the schema is the implementation's.*".to_string(),
    };
    let inline = inline(attrs);
    Ok(quote_spanned! {site=>
        #body_item
        #(#attrs)*
        #[doc = ""] #[doc = #note]
        #inline
        #vis fn #name #head(#me #(#shown: #types),*)
            -> impl ::finespun::__rt::Task<Output = #ret> + ::core::marker::Send
            #clause
        {
            unsafe {
                ::finespun::__rt::stack_task(
                    (#self_out #(#shown,)*),
                    |__cx, (#this_in #(#arguments,)*)| unsafe {
                        Self::#body #fish(#this_in __cx, #(#arguments),*)
                    },
                )
            }
        }
    })
}

/// The bounds under which a trait's own method is a task that may travel.
fn bounded(clause: Option<&syn::WhereClause>, receiver: Option<&syn::Receiver>) -> TokenStream {
    let bound = match receiver.map(|r| &r.kind) {
        Some(syn::ReceiverKind::Reference(_, _, None)) => quote!(+ ::core::marker::Sync),
        Some(_) => quote!(+ ::core::marker::Send),
        None => TokenStream::new(),
    };
    let given = clause.map(|c| {
        let given = &c.predicates;
        if given.is_empty() || given.trailing_punct() { quote!(#given) } else { quote!(#given,) }
    });
    quote!(where #given Self: ::core::marker::Sized #bound)
}
