//! Writes methods. Nested functions cannot name `Self`, so the body's function is a sibling `__task_NAME`. The sibling
//! also makes trait methods callable through `dyn`: it returns an outcome, not an opaque type. The sibling of a
//! straight inherent method returns the value itself: a caller that uses this name cannot mistake a task that may
//! suspend for a straight one.
//!
//! Single methods are marked in inherent blocks only: other siblings are called through `Self as Trait`, and the trait
//! of a single method is unknown. The siblings of a private single method have an explicit visibility, which rustc
//! accepts neither in a trait nor in a trait's implementation.
//!
//! The rest behind a head is another sibling, `__rest_NAME`. A trait declares one for each of its tasks, since an
//! implementation cannot add functions.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::{Block, Ident, ReceiverKind, Type, Visibility, parse_quote};

use super::checks::undropped;
use super::item::{
    Function, Home, Parts, behind, inline, inlined, known, note, opened, own, scalars, sibling, this, turbofish,
};
use super::{dynamic, named, pinned, site_of, straight};
use crate::choose::{self, Choice};
use crate::flow::capture::Demand;
use crate::parse::Options;

/// Writes a marked method.
pub(super) fn method(function: &Function, parts: &Parts, options: &Options) -> syn::Result<TokenStream> {
    if let Some(portable) = options.portable {
        return Err(syn::Error::new(
            portable,
            "a method is not portable: make it a function that takes `self` as an argument",
        ));
    }
    let site = Span::mixed_site();
    let Parts { generics, receiver, inputs, params, ret } = parts;
    let (attrs, vis, name) = (&function.attrs, &function.vis, &function.sig.ident);
    let body = sibling(name);
    let in_trait = matches!(function.home, Home::Trait | Home::NominalTrait);
    let sibling_vis = match vis {
        Some(Visibility::Inherited) if function.home == Home::Method => {
            let own = Ident::new("self", name.span());
            Some(quote_spanned!(name.span()=> pub(#own)))
        }
        vis => vis.as_ref().map(ToTokens::to_token_stream),
    };
    let choice = match &function.block {
        Some(block) => {
            let place = choose::Place { split: !in_trait, listed: false, located: options.located };
            Some(choose::choose(params, &own(function, parts, false), block, options.wish, place)?)
        }
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
        (Home::Trait, Some(_)) => bounded(clause.as_ref(), receiver.as_ref(), true),
        (Home::NominalTrait, Some(_)) => bounded(clause.as_ref(), receiver.as_ref(), false),
        _ => quote!(#clause),
    };
    let arguments: Vec<&TokenStream> =
        params.iter().skip(usize::from(receiver.is_some())).map(|p| &p.argument).collect();
    let me = receiver.as_ref().map(|r| quote!(#r,));
    let own_type: Option<Type> = receiver.as_ref().map(|r| match &r.kind {
        ReceiverKind::Reference(_, _, mutability) => parse_quote!(&#mutability Self),
        ReceiverKind::Typed(_, ty) => Type::clone(ty),
        _ => parse_quote!(Self),
    });
    let scalars = scalars(own_type.iter().chain(types.iter().copied()));
    let through = function.through();
    let lints: Vec<&syn::Attribute> = attrs
        .iter()
        .filter(|a| ["allow", "expect", "warn", "deny", "cfg"].iter().any(|n| a.path().is_ident(n)))
        .collect();
    let (pinned_task, schema, send) = match options.located {
        true => (quote_spanned!(site=> pinned_task_here), quote_spanned!(site=> AtHome), None),
        false => (
            quote_spanned!(site=> pinned_task),
            quote_spanned!(site=> Unknown),
            Some(quote_spanned!(site=> + ::core::marker::Send)),
        ),
    };
    let named = named(name);
    if let (Home::Method, Some(choice @ Choice::Straight), Some(block)) = (function.home, &choice, &function.block) {
        let (lets, block) = (straight::lets(params), straight::body(block));
        let stmts = &block.stmts;
        let (note, inline, known) = (note(choice), inline(attrs), known(choice));
        let this = receiver.as_ref().map(|r| r.self_token).map(|me| quote!(#me,));
        let task =
            straight::task(quote_spanned!(site=> #through::#body #fish(#this #(#shown),*)), ret, options.located);
        return Ok(quote_spanned! {site=>
            #(#lints)*
            #[doc(hidden)]
            #[inline]
            #sibling_vis fn #body #head(#me #(#arguments: #types),*) -> #ret #clause { #lets #(#stmts)* }
            #(#attrs)*
            #[doc = ""] #[doc = #note]
            #inline
            #vis fn #name #head(#me #(#shown: #types),*)
                -> impl ::finespun::__rt::Task<Output = #ret> #known #send + ::finespun::tasks::bounds::OnlyInTasks
                #clause { #named #task }
        });
    }
    let this = this();
    let pinned = |block: &Block| {
        let mut params = params.clone();
        let moved = receiver.as_ref().map(|receiver| {
            params[0].argument = quote!(#this);
            let me = receiver.self_token;
            quote_spanned!(site=> let #this = #me;)
        });
        let future = pinned::write(&params, ret, block);
        let task = quote_spanned!(site_of(ret)=> ::finespun::__rt::#pinned_task(move || __future));
        quote_spanned! {site=>
            #moved
            let __future = #future;
            let __task = unsafe { #task };
            return unsafe { ::finespun::__rt::Task::call(__task, __cx) };
        }
    };
    let behind = behind(name);
    let mut rest = None;
    let (inlining, code) = match (&choice, &function.block) {
        (Some(Choice::Stack(code)), Some(block)) => {
            let first = match &code.demands[..] {
                [] => TokenStream::new(),
                demands if options.wish.is_stack() => undropped(demands),
                demands => {
                    let pinned = pinned(block);
                    let broken = demands.iter().map(Demand::broken);
                    quote_spanned! {site=>
                        if const { false #(|| #broken)* } { #pinned }
                    }
                }
            };
            match &code.head {
                Some(choose::Head { pats, stmts, names }) => {
                    let pats = pats.iter().zip(params).map(|((lint, pat), p)| {
                        let argument = &p.argument;
                        quote_spanned!(site=> #lint let #pat = #argument;)
                    });
                    let (mut hands, mut me) = (names.iter(), None);
                    if receiver.is_some() {
                        me = hands.next().map(|me| quote!(#me,));
                    }
                    rest = Some(code);
                    let call = opened(code, quote_spanned!(site=> #through::#behind #fish(#me __cx, #(#hands),*)));
                    let call = quote_spanned!(site=> unsafe { #call });
                    (quote!(#[inline]), quote!({ #named #first #(#pats)* #stmts #call }))
                }
                None => {
                    let body = &code.rest;
                    (inlined(code), quote!({ #named #first #body }))
                }
            }
        }
        (Some(Choice::Straight), Some(block)) => {
            let code = straight::outcome(params, ret, block);
            (quote!(#[inline]), quote!({ #named #code }))
        }
        (Some(Choice::Pinned { .. }), Some(block)) => {
            let code = pinned(block);
            (quote!(#[inline(never)]), quote!({ #named #code }))
        }
        _ => (TokenStream::new(), quote!(;)),
    };
    let rest = match rest {
        Some(code) => {
            let body = &code.rest;
            Some((inlined(code), quote!({ #named #body })))
        }
        None if in_trait => {
            let body = quote_spanned!(site=> { ::core::unreachable!("no implementation has asked for it") });
            Some((quote!(#[inline(never)]), body))
        }
        None => None,
    };
    let item = |name: &Ident, inlining: TokenStream, clause: &TokenStream, code: TokenStream| {
        quote_spanned! {site=>
            #(#lints)*
            #[doc(hidden)]
            #[allow(clippy::missing_safety_doc)]
            #inlining
            #sibling_vis unsafe fn #name #head(#me __cx: ::finespun::__rt::Cx, #(#arguments: #types),*)
                -> ::finespun::__rt::Outcome<#ret> #clause #code
        }
    };
    let mut body_item = item(&body, inlining, &body_clause, code);
    if let Some((inlining, rest)) = rest {
        let by_value = |r: &syn::Receiver| !matches!(r.kind, ReceiverKind::Reference(..) | ReceiverKind::Typed(..));
        let clause = match in_trait && receiver.as_ref().is_some_and(by_value) {
            true => with(clause.as_ref(), &quote_spanned!(site=> Self: ::core::marker::Sized)),
            false => quote!(#clause),
        };
        body_item.extend(item(&behind, inlining, &clause, rest));
    }
    if function.home == Home::TraitImpl {
        return Ok(body_item);
    }
    let clause = match function.home {
        Home::Trait => bounded(clause.as_ref(), receiver.as_ref(), true),
        Home::NominalTrait => bounded(clause.as_ref(), receiver.as_ref(), false),
        _ => quote!(#clause),
    };
    let note = match &choice {
        Some(choice) => note(choice),
        None => proc_macro2::Literal::string("*Task: the schema is the implementation's.*"),
    };
    let inline = inline(attrs);
    if let (Home::NominalTrait, Some(receiver)) = (function.home, receiver) {
        let dynamic::Nominal { generics, types, output } = dynamic::signature(generics, receiver, &types, ret);
        let me = receiver.self_token;
        return Ok(quote_spanned! {site=>
            #body_item
            #(#attrs)*
            #[doc = ""] #[doc = #note]
            #inline
            fn #name #generics(#receiver, #(#shown: #types),*) -> #output #clause {
                unsafe {
                    ::finespun::tasks::MethodTask::new(#me, (#(#shown,)*), |#this, __cx, (#(#arguments,)*)| unsafe {
                        #through::#body(#this, __cx, #(#arguments),*)
                    })
                }
            }
        });
    }
    let this = receiver.as_ref().map(|r| r.self_token).map(|me| quote!(#me,));
    let code = quote_spanned! {site=>
        move |__cx| unsafe {
            #through::#body #fish(#this __cx, #(#shown),*)
        }
    };
    let task = quote_spanned! {site_of(ret)=>
        ::finespun::__rt::stack_task::<#scalars, ::finespun::__rt::#schema, _, _>(#code)
    };
    Ok(quote_spanned! {site=>
        #body_item
        #(#attrs)*
        #[doc = ""] #[doc = #note]
        #inline
        #vis fn #name #head(#me #(#shown: #types),*)
            -> impl ::finespun::__rt::Task<Output = #ret> #send + ::finespun::tasks::bounds::OnlyInTasks
            #clause
        {
            unsafe { #task }
        }
    })
}

/// Returns the bounds under which a trait's own method is a task that may move between threads; an opaque task exists
/// for `sized` types only.
fn bounded(clause: Option<&syn::WhereClause>, receiver: Option<&syn::Receiver>, sized: bool) -> TokenStream {
    let sized = sized.then(|| quote!(::core::marker::Sized+));
    let bound = match receiver.map(|r| &r.kind) {
        Some(ReceiverKind::Reference(_, _, None)) => quote!(::core::marker::Sync),
        Some(_) => quote!(::core::marker::Send),
        None => TokenStream::new(),
    };
    with(clause, &quote!(Self: #sized #bound))
}

/// Returns a clause with one more predicate.
fn with(clause: Option<&syn::WhereClause>, bound: &TokenStream) -> TokenStream {
    let given = clause.map(|c| {
        let given = &c.predicates;
        if given.is_empty() || given.trailing_punct() { quote!(#given) } else { quote!(#given,) }
    });
    quote!(where #given #bound)
}
