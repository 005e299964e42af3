//! Writes free functions: the body's function is nested inside.

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::{Ident, Type};

use super::checks::undropped;
use super::item::{Function, Parts, inline, inlined, known, note, opened, own, scalars, turbofish};
use super::{listed, named, pinned, portable, site_of, straight};
use crate::choose::{self, Choice};
use crate::flow::capture::Demand;
use crate::parse::Options;

/// Writes a marked free function.
pub(super) fn free(function: &Function, parts: &Parts, options: &Options) -> syn::Result<TokenStream> {
    let site = Span::mixed_site();
    let Parts { generics, inputs, params, ret, .. } = parts;
    let result = site_of(ret);
    let block = function.block.as_ref().expect("a free function has a body");
    let listed = options.portable.is_none() && listed::listable(generics, inputs.len());
    let place = choose::Place { split: true, listed, located: false };
    let choice = choose::choose(params, &own(function, parts, true), block, options.wish, place)?;
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
        let code = quote_spanned!(site=> move || __body #fish(#(#shown),*));
        let task = quote_spanned!(result=> ::finespun::__rt::pinned_task(#code));
        (nested, task)
    };
    let named = named(name);
    let scalars = scalars(types.iter().copied());
    // A portable task in the stack schema calls its function itself.
    // The whole body as a plain function, for the case that its callees are straight.
    let direct_function = || {
        let (code, bound) = (straight::listed(params, ret, block), listed::bound());
        quote_spanned! {site=>
            #[allow(unused, unreachable_code, clippy::all, clippy::pedantic)]
            unsafe fn __direct #head(_: ::finespun::__rt::Cx, #(#arguments: #types),*)
                -> ::finespun::__rt::Outcome<#ret, #bound> #clause { #code }
        }
    };
    let mut direct = None;
    let inner = match &choice {
        Choice::Stack(code) => {
            let demands = &code.demands;
            let call = quote_spanned!(site=> __stack #fish(__cx, #(#shown),*));
            let call = match code.listed && code.head.is_none() {
                true => quote_spanned!(site=> unsafe { ::finespun::__rt::Outcome::with_schema(#call) }),
                false => quote_spanned!(site=> unsafe { #call }),
            };
            let (also, call) = if demands.is_empty() {
                (TokenStream::new(), call)
            } else if options.wish.is_stack() {
                let assert = undropped(demands);
                (TokenStream::new(), quote_spanned!(site=> { #assert #call }))
            } else {
                let (nested, task) = pinned();
                // A task that never blocks never leaves the stack, whatever its types drop.
                let blocks =
                    code.listed.then(|| quote_spanned!(site=> !<__Task as ::finespun::__rt::Schema>::STRAIGHT_3 &&));
                let broken = demands.iter().map(Demand::broken);
                let call = quote_spanned! {site=>
                    if const { #blocks (#(#broken)||*) } {
                        unsafe { ::finespun::__rt::Task::call(#task, __cx) }
                    } else {
                        #call
                    }
                };
                (nested, call)
            };
            let function = |name: TokenStream, inline: TokenStream, inputs: TokenStream, list, body: &TokenStream| {
                quote_spanned! {site=>
                    #inline
                    unsafe fn #name #head(__cx: ::finespun::__rt::Cx, #inputs)
                        -> ::finespun::__rt::Outcome<#ret #list> #clause { #body }
                }
            };
            let whole = quote_spanned!(site=> #(#arguments: #types),*);
            let list = code.listed.then(listed::bound).map(|bound| quote!(, #bound));
            let functions = match &code.head {
                None => function(quote!(__stack), inlined(code), whole, list.as_ref(), &code.rest),
                Some(choose::Head { pats, stmts, names }) => {
                    let (lints, pats): (Vec<_>, Vec<_>) = pats.iter().cloned().unzip();
                    let inputs = quote_spanned!(site=> #(#lints #pats: #types),*);
                    let rest = opened(code, quote_spanned!(site=> __rest #fish(__cx, #(#names),*)));
                    let body = quote_spanned!(site=> #stmts unsafe { #rest });
                    let first = function(quote!(__stack), quote!(#[inline]), inputs, None, &body);
                    let rest = function(quote!(__rest), inlined(code), whole, list.as_ref(), &code.rest);
                    quote!(#first #rest)
                }
            };
            let straight = code.listed || code.direct;
            let schema = if straight { quote!(__Task) } else { quote!(::finespun::__rt::Unknown) };
            let (also, call) = match code.direct {
                true => {
                    let arguments = quote_spanned!(site=> #(#shown),*);
                    let choice = quote_spanned! {site=>
                        if const { <__Task as ::finespun::__rt::Schema>::STRAIGHT_3 } {
                            unsafe { ::finespun::__rt::Outcome::with_schema(__direct(__cx, #arguments)) }
                        } else {
                            #call
                        }
                    };
                    let direct = direct_function();
                    (quote!(#direct #also), choice)
                }
                false => (also, call),
            };
            let body = match &code.head {
                _ if code.direct => "__direct",
                Some(_) => "__rest",
                None => "__stack",
            };
            let inferred = straight.then(|| listed::inferred(body, inputs.len()));
            direct = Some((quote!(#functions #also), call.clone()));
            let code = quote_spanned!(site=> move |__cx| #call);
            let task = quote_spanned!(result=> ::finespun::__rt::stack_task::<#scalars, #schema, _, _>(#code));
            quote_spanned! {site=>
                #functions
                #inferred
                #also
                unsafe { #task }
            }
        }
        Choice::Straight => {
            let pats = params.iter().map(|p| &p.pat);
            let lints = params.iter().map(|p| {
                let attrs = &p.attrs;
                quote!(#(#attrs)*)
            });
            let block = straight::body(block);
            let output = &function.sig.output;
            let task = straight::task(quote_spanned!(site=> __plain #fish(#(#shown),*)), ret, false);
            quote_spanned! {site=>
                fn __plain #head(#(#lints #pats: #types),*) #output #clause #block
                #task
            }
        }
        Choice::Pinned { listed: false, .. } => {
            let (nested, task) = pinned();
            quote_spanned!(site=> #nested unsafe { #task })
        }
        Choice::Pinned { listed: true, .. } => {
            let (nested, _) = pinned();
            let (direct, inferred) = (direct_function(), listed::inferred("__direct", inputs.len()));
            let code = quote_spanned! {site=>
                move |__direct_way| match __direct_way {
                    ::core::option::Option::Some(__cx) => {
                        let __o = __direct(__cx, #(#shown),*);
                        ::finespun::__rt::CallForm::Direct(::finespun::__rt::Outcome::with_schema(__o))
                    }
                    ::core::option::Option::None => {
                        ::finespun::__rt::CallForm::Pinned(::core::mem::ManuallyDrop::new(__body(#(#shown),*)))
                    }
                }
            };
            let task = quote_spanned!(result=> ::finespun::__rt::direct_or_pinned_task::<__Task, _, _, _>(#code));
            quote_spanned! {site=>
                #nested
                #direct
                #inferred
                unsafe { #task }
            }
        }
    };
    let (inner, known) = match options.portable {
        Some(_) => {
            let (items, call) = direct.unwrap_or_else(|| portable::call_of(&inner));
            (portable::write(parts, name, (items, call), scalars)?, None)
        }
        None => (inner, known(&choice)),
    };
    Ok(quote_spanned! {site=>
        #(#attrs)*
        #[doc = ""] #[doc = #note]
        #inline
        #vis fn #name #head(#(#shown: #types),*)
            -> impl ::finespun::__rt::Task<Output = #ret> #known + ::core::marker::Send + ::finespun::tasks::bounds::OnlyInTasks
            #clause { #named #inner }
    })
}
