//! `#[finespun::main]` and `#[finespun::test]`: a plain function that runs a task.
//!
//! The function keeps its name and its attributes; its body becomes a task of the same name inside it.

use proc_macro2::TokenStream;
use quote::quote;
use syn::parse::{ParseStream, Parser};
use syn::{Ident, ItemFn, LitInt, Token};

use crate::error::Errors;
use crate::parse;

/// The largest number of workers of a runtime: `MAX_WORKERS` of the library.
const MOST: usize = 1024;

/// The attribute that marks the function.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Kind {
    Main,
    Test,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Kind::Main => "#[finespun::main]",
            Kind::Test => "#[finespun::test]",
        }
    }
}

/// Compiles a function marked by `kind`.
pub(crate) fn entry(kind: Kind, arguments: TokenStream, item: TokenStream) -> syn::Result<TokenStream> {
    let workers = workers(kind, arguments)?;
    let name = kind.name();
    let function = match syn::parse2::<ItemFn>(item.clone()) {
        Ok(function) => function,
        Err(error) if item.to_string().contains("fn ") => return Err(error),
        Err(_) => return Err(syn::Error::new_spanned(item, format!("`{name}` applies to an `async fn`"))),
    };
    check(kind, &function)?;
    let mut plain = function.clone();
    plain.attrs.clear();
    plain.vis = syn::Visibility::Inherited;
    let ItemFn { attrs, vis, sig, .. } = function;
    let (ident, output) = (&sig.ident, &sig.output);
    let task = parse::entry(quote!(#plain))?;
    let test = (kind == Kind::Test).then(|| quote!(#[::core::prelude::v1::test]));
    let workers =
        workers.map_or_else(|| quote!(::core::option::Option::None), |n| quote!(::core::option::Option::Some(#n)));
    let run = match kind {
        Kind::Main => quote!(run_main),
        Kind::Test => quote!(run_test),
    };
    Ok(quote! {
        #test
        #(#attrs)*
        #vis fn #ident() #output {
            #task
            ::finespun::__rt::#run(#workers, #ident())
        }
    })
}

/// Reads the arguments: nothing, or `workers = n`.
fn workers(kind: Kind, arguments: TokenStream) -> syn::Result<Option<usize>> {
    let name = kind.name();
    let expected = format!("`{name}` takes `workers = n`, or nothing");
    let parser = |input: ParseStream| {
        let mut workers = None;
        while !input.is_empty() {
            let key = input.parse::<Ident>().map_err(|error| syn::Error::new(error.span(), &expected))?;
            if key != "workers" {
                return Err(syn::Error::new(key.span(), format!("`{key}`: {expected}")));
            }
            if workers.is_some() {
                return Err(syn::Error::new(key.span(), "`workers` is there twice: remove one"));
            }
            input.parse::<Token![=]>().map_err(|error| syn::Error::new(error.span(), &expected))?;
            let wrong = format!("`workers` is a number, 1 to {MOST}");
            let number = input.parse::<LitInt>().map_err(|error| syn::Error::new(error.span(), &wrong))?;
            let value = number.base10_parse().ok().filter(|value| (1..=MOST).contains(value));
            workers = Some(value.ok_or_else(|| syn::Error::new(number.span(), &wrong))?);
            if !input.is_empty() {
                input.parse::<Token![,]>().map_err(|error| syn::Error::new(error.span(), &expected))?;
            }
        }
        Ok(workers)
    };
    parser.parse2(arguments)
}

/// Rejects functions that cannot be the beginning of a run.
fn check(kind: Kind, function: &ItemFn) -> syn::Result<()> {
    let (name, sig) = (kind.name(), &function.sig);
    let mut errors = Errors::default();
    if sig.asyncness.is_none() {
        errors.at(&sig.fn_token, format!("`{name}` runs a task: write `async` before `fn`, or remove the attribute"));
    }
    if !sig.inputs.is_empty() {
        errors.at(&sig.inputs, format!("nothing is passed to a function with `{name}`: remove its arguments"));
    }
    if !sig.generics.params.is_empty() {
        errors.at(&sig.generics, format!("a function with `{name}` has no generic parameters: remove them"));
    }
    for attribute in &function.attrs {
        let Some(last) = attribute.path().segments.last().map(|segment| &segment.ident) else { continue };
        if last == "task" {
            errors.at(attribute, format!("`{name}` makes a task of the function itself: remove this attribute"));
        } else if kind == Kind::Test && last == "test" {
            errors.at(attribute, format!("`{name}` makes a test of the function itself: remove this attribute"));
        }
    }
    errors.finish()
}
