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
use syn::{
    Attribute, Block, FnArg, GenericParam, Generics, Ident, Pat, ReturnType, Signature, Type,
    Visibility,
};

use super::{argument, pinned, straight};
use crate::choose::{self, Choice, Param};
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
    Trait,
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
struct Parts {
    generics: Generics,
    receiver: Option<syn::Receiver>,
    /// Name for the user, type.
    inputs: Vec<(Ident, Type)>,
    params: Vec<Param>,
    ret: Type,
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

fn parts(sig: &mut Signature) -> Parts {
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
                params.push(Param { pat, argument: quote!(self), kind: choose::receiver(r) });
                r.mutability = None;
                receiver = Some(r.clone());
            }
            FnArg::Typed(p) => {
                named.visit_type_mut(&mut p.ty);
                let kind = kinds::of_type(&p.ty).unwrap_or_else(Kind::unknown);
                let argument = argument(i);
                let shown = match &*p.pat {
                    Pat::Ident(id) if id.by_ref.is_none() && id.subpat.is_none() => {
                        id.ident.clone()
                    }
                    _ => argument.clone(),
                };
                inputs.push((shown, (*p.ty).clone()));
                let argument = argument.into_token_stream();
                params.push(Param { pat: (*p.pat).clone(), argument, kind });
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
fn this() -> Ident {
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
fn turbofish(generics: &Generics) -> TokenStream {
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
        Choice::Stack(_) => "*Task schema: stack.*".to_string(),
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
    let choice = choose::choose(params, ret, block, options.wish)?;
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
    let inner = match &choice {
        Choice::Stack(code) => quote_spanned! {site=>
            #[inline(never)]
            unsafe fn __stack #head(
                __cx: ::finespun::__rt::Cx, #(#arguments: #types),*
            ) -> ::finespun::__rt::Outcome<#ret> #clause { #code }
            unsafe {
                ::finespun::__rt::stack_task((#(#shown,)*), |__cx, (#(#arguments,)*)| unsafe {
                    __stack #fish(__cx, #(#arguments),*)
                })
            }
        },
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
            let body = pinned::write(params, ret, block);
            quote_spanned! {site=>
                fn __body #head(#(#arguments: #types),*)
                    -> impl ::core::future::Future<Output = #ret> + ::core::marker::Send
                    #clause { #body }
                unsafe {
                    ::finespun::__rt::pinned_task((#(#shown,)*), |(#(#arguments,)*)| {
                        __body #fish(#(#arguments),*)
                    })
                }
            }
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

/// The name of the function that holds a method's body.
fn sibling(name: &Ident) -> Ident {
    format_ident!("__task_{}", name.to_string().trim_start_matches("r#"), span = name.span())
}

fn method(function: &Function, parts: &Parts, options: &Options) -> syn::Result<TokenStream> {
    let site = Span::mixed_site();
    let Parts { generics, receiver, inputs, params, ret } = parts;
    let (attrs, vis, name) = (&function.attrs, &function.vis, &function.sig.ident);
    let body = sibling(name);
    let choice = match &function.block {
        Some(block) => Some(choose::choose(params, ret, block, options.wish)?),
        None => None,
    };
    let head = &generics.params;
    let head = if head.is_empty() { TokenStream::new() } else { quote!(<#head>) };
    let clause = &generics.where_clause;
    let fish = turbofish(generics);
    let shown: Vec<&Ident> = inputs.iter().map(|(n, _)| n).collect();
    let types: Vec<&Type> = inputs.iter().map(|(_, t)| t).collect();
    let arguments: Vec<&TokenStream> =
        params.iter().skip(usize::from(receiver.is_some())).map(|p| &p.argument).collect();
    let me = receiver.as_ref().map(|r| quote!(#r,));
    let this = this();
    let (this_in, self_out) = match receiver {
        Some(_) => (quote!(#this,), quote!(self,)),
        None => (TokenStream::new(), TokenStream::new()),
    };
    let code = match (&choice, &function.block) {
        (Some(Choice::Stack(code)), _) => quote!({ #code }),
        (Some(Choice::Straight), Some(block)) => {
            let code = straight::outcome(params, ret, block);
            quote!({ #code })
        }
        (Some(Choice::Pinned(_)), Some(block)) => {
            let mut params = params.clone();
            let moved = receiver.as_ref().map(|_| {
                params[0].argument = quote!(#this);
                quote_spanned!(site=> let #this = self;)
            });
            let future = pinned::write(&params, ret, block);
            quote_spanned! {site=> {
                #moved
                let __future = #future;
                let __task = unsafe { ::finespun::__rt::pinned_task((__future,), |(__f,)| __f) };
                return unsafe { ::finespun::__rt::Task::call(__task, __cx) };
            }}
        }
        _ => quote!(;),
    };
    let lints = attrs.iter().filter(|a| {
        ["allow", "expect", "warn", "deny", "cfg"].iter().any(|n| a.path().is_ident(n))
    });
    let never = choice.as_ref().map(|_| quote!(#[inline(never)]));
    let body_item = quote_spanned! {site=>
        #(#lints)*
        #[doc(hidden)]
        #[allow(clippy::missing_safety_doc)]
        #never
        #vis unsafe fn #body #head(#me __cx: ::finespun::__rt::Cx, #(#arguments: #types),*)
            -> ::finespun::__rt::Outcome<#ret> #clause #code
    };
    if function.home == Home::TraitImpl {
        return Ok(body_item);
    }
    let clause = match function.home {
        Home::Trait => bounded(clause.as_ref(), receiver.as_ref()),
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

/// Inherent methods of the trait's `dyn` types, so that tasks can be called
/// through them without a box.
pub(crate) fn dynamic(block: &syn::ItemTrait, tasks: &[Signature]) -> TokenStream {
    if !is_dynamic(block, tasks) {
        return TokenStream::new();
    }
    let bounds: Vec<String> =
        block.supertraits.iter().map(|b| b.to_token_stream().to_string()).collect();
    let has = |name: &str| bounds.iter().any(|b| b == name || b.ends_with(&format!(":: {name}")));
    let kinds: &[(&str, bool, bool)] =
        &[("", false, false), ("S", true, false), ("Y", false, true), ("SY", true, true)];
    let name = &block.ident;
    let (head, args, clause) = block.generics.split_for_impl();
    let _ = head;
    let given = &block.generics.params;
    let mut out = TokenStream::new();
    for (_, send, sync) in kinds {
        // A marker that the trait itself demands is not written again.
        if (*send && has("Send")) || (*sync && has("Sync")) {
            continue;
        }
        let (is_send, is_sync) = (*send || has("Send"), *sync || has("Sync"));
        let methods: Vec<TokenStream> = tasks
            .iter()
            .filter(|sig| match sig.receiver().map(|r| &r.kind) {
                Some(syn::ReceiverKind::Reference(_, _, None)) => is_sync,
                _ => is_send,
            })
            .map(|sig| inherent(sig, &block.vis))
            .collect();
        if methods.is_empty() {
            continue;
        }
        let send = send.then(|| quote!(+ ::core::marker::Send));
        let sync = sync.then(|| quote!(+ ::core::marker::Sync));
        out.extend(quote! {
            #[allow(clippy::needless_lifetimes)]
            impl<'__object, #given> dyn #name #args #send #sync + '__object #clause {
                #(#methods)*
            }
        });
    }
    out
}

fn is_dynamic(block: &syn::ItemTrait, tasks: &[Signature]) -> bool {
    let sized = |s: &Signature| {
        s.generics.where_clause.to_token_stream().to_string().contains("Self : Sized")
    };
    let method = |s: &Signature| {
        let plain = s.generics.params.iter().all(|p| matches!(p, GenericParam::Lifetime(_)));
        let by_reference = s
            .receiver()
            .is_some_and(|r| matches!(r.kind, syn::ReceiverKind::Reference(..)));
        plain && by_reference && !quote!(#s).to_string().contains("impl ")
    };
    let items = block.items.iter().all(|item| match item {
        syn::TraitItem::Fn(f) => sized(&f.sig) || method(&f.sig),
        _ => false,
    });
    let bases = block.supertraits.iter().all(|b| {
        let text = b.to_token_stream().to_string();
        !["Sized", "Clone", "Copy"].iter().any(|n| text.ends_with(n))
    });
    !tasks.is_empty() && tasks.iter().all(method) && items && bases
}

fn inherent(sig: &Signature, vis: &Visibility) -> TokenStream {
    let site = Span::mixed_site();
    let mut sig = sig.clone();
    let Parts { generics, receiver, inputs, ret, .. } = parts(&mut sig);
    let (name, body) = (&sig.ident, sibling(&sig.ident));
    let head = &generics.params;
    let head = if head.is_empty() { TokenStream::new() } else { quote!(<#head>) };
    let clause = &generics.where_clause;
    let shown: Vec<&Ident> = inputs.iter().map(|(n, _)| n).collect();
    let types: Vec<&Type> = inputs.iter().map(|(_, t)| t).collect();
    let this = this();
    quote_spanned! {site=>
        /// Calls the method through the object; nothing is boxed.
        #[inline]
        #vis fn #name #head(#receiver, #(#shown: #types),*)
            -> impl ::finespun::__rt::Task<Output = #ret> + ::core::marker::Send
            #clause
        {
            unsafe {
                ::finespun::__rt::stack_task(
                    (self, #(#shown,)*),
                    |__cx, (#this, #(#shown,)*)| unsafe { Self::#body(#this, __cx, #(#shown),*) },
                )
            }
        }
    }
}
