//! Free functions: the body's function is nested inside.

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::{Ident, Type};

use super::item::{Function, Parts, assertions, inline, inlined, note, opened, own, scalars, turbofish};
use super::{named, own_begins, own_ends, pinned, straight};
use crate::choose::{self, Choice};
use crate::parse::Options;

/// Writes a marked free function.
pub(super) fn free(function: &Function, parts: &Parts, options: &Options) -> syn::Result<TokenStream> {
    let site = Span::mixed_site();
    let Parts { generics, inputs, params, ret, .. } = parts;
    let block = function.block.as_ref().expect("a free function has a body");
    let choice = choose::choose(params, &own(function, parts), block, options.wish, true)?;
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
        let task = quote_spanned!(site=> ::finespun::__rt::pinned_task(move || __body #fish(#(#shown),*)));
        (nested, task)
    };
    let named = named(name);
    let scalars = scalars(types.iter().copied());
    let inner = match &choice {
        Choice::Stack(code) => {
            let demands = &code.inert;
            let call = quote_spanned!(site=> unsafe { __stack #fish(__cx, #(#shown),*) });
            let (also, call) = if demands.is_empty() {
                (TokenStream::new(), call)
            } else if options.wish.is_stack() {
                let assert = assertions(demands);
                (TokenStream::new(), quote_spanned!(site=> { #assert #call }))
            } else {
                let (nested, task) = pinned();
                let call = quote_spanned! {site=>
                    if const { #(::core::mem::needs_drop::<#demands>())||* } {
                        unsafe { ::finespun::__rt::Task::call(#task, __cx) }
                    } else {
                        #call
                    }
                };
                (nested, call)
            };
            let function = |name: TokenStream, inline: TokenStream, inputs: TokenStream, body: &TokenStream| {
                quote_spanned! {site=>
                    #inline
                    unsafe fn #name #head(__cx: ::finespun::__rt::Cx, #inputs)
                        -> ::finespun::__rt::Outcome<#ret> #clause { #body }
                }
            };
            let whole = quote_spanned!(site=> #(#arguments: #types),*);
            let functions = match &code.head {
                None => function(quote!(__stack), inlined(code), whole, &code.rest),
                Some(choose::Head { pats, stmts, names }) => {
                    let (lints, pats): (Vec<_>, Vec<_>) = pats.iter().cloned().unzip();
                    let inputs = quote_spanned!(site=> #(#lints #pats: #types),*);
                    let rest = opened(code, quote_spanned!(site=> __rest #fish(__cx, #(#names),*)));
                    let body = quote_spanned!(site=> #stmts unsafe { #rest });
                    let first = function(quote!(__stack), quote!(#[inline]), inputs, &body);
                    let rest = function(quote!(__rest), inlined(code), whole, &code.rest);
                    quote!(#first #rest)
                }
            };
            quote_spanned! {site=>
                #functions
                #also
                unsafe { ::finespun::__rt::stack_task::<#scalars, _, _>(move |__cx| #call) }
            }
        }
        Choice::Straight => {
            let pats = params.iter().map(|p| &p.pat);
            let block = straight::body(block);
            let output = &function.sig.output;
            let (begin, end) = (own_begins(), own_ends());
            quote_spanned! {site=>
                fn __plain #head(#(#pats: #types),*) #output #clause #block
                unsafe {
                    ::finespun::__rt::straight_task(move || {
                        #begin
                        let __r = __plain #fish(#(#shown),*);
                        #end
                        __r
                    })
                }
            }
        }
        Choice::Pinned(_) => {
            let (nested, task) = pinned();
            quote_spanned!(site=> #nested unsafe { #task })
        }
    };
    Ok(quote_spanned! {site=>
        #(#attrs)*
        #[doc = ""] #[doc = #note]
        #inline
        #vis fn #name #head(#(#shown: #types),*)
            -> impl ::finespun::__rt::Task<Output = #ret> + ::core::marker::Send
            #clause { #named #inner }
    })
}
