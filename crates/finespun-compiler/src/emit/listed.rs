//! The list of the schemas of a body's callees, from which its own is inferred: see
//! `schema` in the library, which has the types.

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote_spanned};
use syn::{GenericParam, Generics, Ident};

/// May the schemas of its callees make such a function straight? Not if it is generic:
/// to a caller, its schema would then contain the caller's types, and their lifetimes.
pub(super) fn listable(generics: &Generics, parameters: usize) -> bool {
    generics.params.iter().all(|p| matches!(p, GenericParam::Lifetime(_))) && parameters <= 12
}

/// What a function returns along with its result.
pub(super) fn bound() -> TokenStream {
    quote_spanned!(Span::mixed_site()=> impl ::finespun::__rt::Schema + use<>)
}

/// The list, as evidence of what the function returns: its first statements.
pub(super) fn list(callees: usize) -> TokenStream {
    let site = Span::mixed_site();
    let each: Vec<_> = (0..callees).map(callee).collect();
    let list = each.iter().rev().fold(
        quote_spanned!(site=> ::finespun::__rt::Callee::<()>::new()),
        |others, callee| quote_spanned!(site=> #callee.and(#others)),
    );
    quote_spanned! {site=>
        #[allow(unused_imports)]
        use ::finespun::__rt::{Says as _, SaysNot as _};
        #(let #each = ::finespun::__rt::Callee::new();)*
        if false {
            return unsafe { ::finespun::__rt::Callee::outcome(#list) };
        }
    }
}

/// Enters `task`, a local that is about to be called, as the `index`-th callee.
pub(super) fn entry(index: usize, task: &Ident) -> TokenStream {
    let callee = callee(index);
    quote_spanned!(task.span()=> #callee.is((&::finespun::__rt::Asked::new(&#task)).__finespun_schema());)
}

fn callee(index: usize) -> Ident {
    format_ident!("__callee{index}", span = Span::mixed_site())
}

/// The schema of the task whose `function` has so many parameters and returns the list.
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
