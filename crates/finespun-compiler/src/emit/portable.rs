//! Writes what a portable task adds: its arguments as values that another process can own, and the way back to a task.

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::visit::Visit;
use syn::{GenericParam, Generics, Ident, Type, parse_quote};

use super::item::{Parts, turbofish};
use crate::error::Errors;

/// Returns the call of a task: items, and an expression of the outcome.
pub(super) fn call_of(task: &TokenStream) -> (TokenStream, TokenStream) {
    let call = quote_spanned! {Span::mixed_site()=>
        {
            let __task = { #task };
            unsafe { ::finespun::__rt::Task::call(__task, __cx) }
        }
    };
    (TokenStream::new(), call)
}

/// Writes the task of the function `name`, which `inner` calls: items, and an expression of the outcome.
pub(super) fn write(
    parts: &Parts,
    name: &Ident,
    inner: (TokenStream, TokenStream),
    scalars: bool,
) -> syn::Result<TokenStream> {
    let (items, outcome) = inner;
    let site = Span::mixed_site();
    let Parts { generics, inputs, ret, .. } = parts;
    let mut errors = Errors::default();
    let owned: Vec<Owned> = inputs.iter().map(|(_, ty)| owned(ty, &mut errors)).collect();
    let mut borrows = Borrows(false);
    borrows.visit_type(ret);
    generics.type_params().for_each(|parameter| borrows.visit_type_param(parameter));
    generics.where_clause.iter().for_each(|clause| borrows.visit_where_clause(clause));
    if borrows.0 {
        errors.at(
            name,
            "a portable task may run in another process: its result and its type parameters borrow nothing, so remove their lifetimes",
        );
    }
    errors.finish()?;
    let shown: Vec<&Ident> = inputs.iter().map(|(n, _)| n).collect();
    let values: Vec<Ident> = (0..owned.len()).map(|i| format_ident!("__value{i}", span = site)).collect();
    let arguments = owned.iter().zip(&values).map(|(owned, value)| match owned.lent {
        true => quote!(&#value),
        false => quote!(#value),
    });
    let fish = turbofish(generics);
    let call = quote_spanned!(site=> #name #fish(#(#arguments),*));
    // A task that borrows its arguments needs a frame that owns them.
    let task = match owned.iter().any(|owned| owned.lent) {
        false => call,
        true => quote_spanned! {site=>
            let __code = move || async move {
                match #call {
                    __task => unsafe { ::finespun::__rt::call_async(__task) }.await,
                }
            };
            unsafe { ::finespun::__rt::pinned_task(__code) }
        },
    };
    let types = owned.iter().map(|owned| &owned.ty);
    let generics = without_lifetimes(generics);
    let (declared, given, clause) = generics.split_for_impl();
    let parameters = generics.type_params().map(|parameter| &parameter.ident);
    Ok(quote_spanned! {site=>
        #items
        struct __Portable #declared(::core::marker::PhantomData<fn() -> (#(#parameters,)*)>) #clause;
        impl #declared ::finespun::__rt::PortableCall for __Portable #given #clause {
            type Arguments = (#(#types,)*);
            type Output = #ret;
            const PLACE: &'static ::core::panic::Location<'static> = ::core::panic::Location::caller();
            fn task((#(#values,)*): Self::Arguments)
                -> impl ::finespun::__rt::Task<Output = Self::Output> + ::core::marker::Send + 'static
            {
                #task
            }
        }
        let __code = ::finespun::__rt::portable_code::<__Portable #fish, _, _>(move |__way| match __way {
            ::finespun::__rt::PortableWay::Call(__cx) => #outcome,
            ::finespun::__rt::PortableWay::Arguments(__arguments) => {
                *__arguments = ::core::option::Option::Some((#(#shown,)*));
                unsafe { ::finespun::__rt::no_outcome() }
            }
        });
        unsafe { ::finespun::__rt::portable_task::<#scalars, __Portable #fish, _, _>(__code) }
    })
}

/// An argument as another process owns it.
struct Owned {
    ty: Type,
    /// The function borrows it.
    lent: bool,
}

fn owned(ty: &Type, errors: &mut Errors) -> Owned {
    let (inner, lent) = match ty {
        Type::Reference(reference) if reference.mutability.is_none() => (&*reference.elem, true),
        Type::Reference(reference) => {
            errors.at(
                reference,
                "a portable task may run in another process, where it cannot change what its caller owns: take a value or a shared reference, and return the change",
            );
            (&*reference.elem, true)
        }
        other => (other, false),
    };
    let mut borrows = Borrows(false);
    borrows.visit_type(inner);
    if borrows.0 {
        errors.at(
            ty,
            "a portable task may run in another process, which gets its arguments as values: take values, or references to values, that borrow nothing themselves",
        );
    }
    let ty = match inner {
        Type::Slice(slice) => {
            let element = &slice.elem;
            parse_quote!(::std::vec::Vec<#element>)
        }
        Type::Path(path) if lent && path.path.is_ident("str") => parse_quote!(::std::string::String),
        other => other.clone(),
    };
    Owned { ty, lent }
}

/// Whether a type contains references or lifetimes.
struct Borrows(bool);

impl<'a> Visit<'a> for Borrows {
    fn visit_type_reference(&mut self, _: &'a syn::TypeReference) {
        self.0 = true;
    }
    fn visit_lifetime(&mut self, lifetime: &'a syn::Lifetime) {
        self.0 |= lifetime.ident != "static";
    }
}

fn without_lifetimes(generics: &Generics) -> Generics {
    let mut generics = generics.clone();
    generics.params =
        generics.params.into_iter().filter(|parameter| !matches!(parameter, GenericParam::Lifetime(_))).collect();
    generics
}
