//! Writes the list of the schemas of a body's callees, from which the body's own schema is inferred. The library's
//! `schema` module has the types.

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote_spanned};
use syn::{GenericParam, Generics, Ident};

/// Returns whether the schemas of its callees may make a function straight. Generic functions are excluded: to a
/// caller, their schema would contain the caller's types and lifetimes.
pub(super) fn listable(generics: &Generics, parameters: usize) -> bool {
    generics.params.iter().all(|p| matches!(p, GenericParam::Lifetime(_))) && parameters <= 12
}

/// Returns the type that a function returns along with its result.
pub(super) fn bound() -> TokenStream {
    quote_spanned!(Span::mixed_site()=> impl ::finespun::__rt::Schema + use<>)
}

/// Writes the list as evidence of the function's return type: the first statements of the function.
pub(super) fn list(callees: usize) -> TokenStream {
    let site = Span::mixed_site();
    let each: Vec<_> = (0..callees).map(callee).collect();
    let list = each.iter().rev().fold(
        quote_spanned!(site=> ::finespun::__rt::Callee::<()>::new()),
        |others, callee| quote_spanned!(site=> #callee.and(#others)),
    );
    quote_spanned! {site=>
        #[allow(unused_imports)]
        use ::finespun::__rt::{HasSchema as _, NoSchema as _};
        #(let #each = ::finespun::__rt::Callee::new();)*
        if false {
            return unsafe { ::finespun::__rt::Callee::outcome(#list) };
        }
    }
}

/// Enters `task`, a local that is about to be called, as the `index`-th callee.
pub(super) fn entry(index: usize, task: &Ident) -> TokenStream {
    let callee = callee(index);
    quote_spanned!(task.span()=> #callee.is((&::finespun::__rt::SchemaOf::new(&#task)).__finespun_schema());)
}

fn callee(index: usize) -> Ident {
    format_ident!("__callee{index}", span = Span::mixed_site())
}

/// Returns the schema of the task whose `function` has `parameters` parameters and returns the list.
pub(super) fn inferred(function: &str, parameters: usize) -> TokenStream {
    let site = Span::mixed_site();
    let callees = format_ident!("callees{parameters}", span = site);
    let function = Ident::new(function, site);
    quote_spanned! {site=>
        impl ::finespun::__rt::Schema for __Task {
            const STRAIGHT_1: bool = ::finespun::__rt::#callees(#function).straight_0();
            const STRAIGHT_2: bool = ::finespun::__rt::#callees(#function).straight_1();
            const STRAIGHT_3: bool = ::finespun::__rt::#callees(#function).straight_2();
        }
    }
}
