//! Parses the attribute and the item, and rejects unsupported code.

mod check;
mod constructs;
pub(crate) mod object;
mod options;
mod select;

use proc_macro2::TokenStream;
use syn::punctuated::Punctuated;
use syn::{Expr, ImplItem, ItemFn, ItemImpl, ItemTrait, Macro, Token, TraitItem, TraitItemFn};

pub(crate) use options::{Options, Wish};

use crate::emit::dynamic;
use crate::emit::item::{self, Function, Home};
use crate::error::Errors;

const ONE_OF_A_TRAIT: &str =
    "a trait's tasks are marked together: put `#[task]` on the `trait`, and on its `impl` blocks";

/// Compiles one marked item.
pub(crate) fn task(arguments: TokenStream, tokens: TokenStream) -> syn::Result<TokenStream> {
    let options = Options::parse(arguments)?;
    if let Ok(function) = syn::parse2::<ItemFn>(tokens.clone()) {
        let mut errors = Errors::default();
        check::not_main(&function.sig, &mut errors);
        errors.finish()?;
        return free(function, &options);
    }
    if let Ok(method) = syn::parse2::<TraitItemFn>(tokens.clone()) {
        return Err(syn::Error::new_spanned(method.sig, ONE_OF_A_TRAIT));
    }
    if let Ok(block) = syn::parse2::<ItemImpl>(tokens.clone()) {
        return implementation(block, &options);
    }
    if let Ok(block) = syn::parse2::<ItemTrait>(tokens.clone()) {
        return interface(block, &options);
    }
    // Not a supported item: report its error as a function.
    match syn::parse2::<ItemFn>(tokens.clone()) {
        Err(error) if tokens.to_string().contains("fn ") => Err(error),
        _ => Err(syn::Error::new_spanned(tokens, "`#[task]` applies to an `async fn`, a `trait` or an `impl` block")),
    }
}

/// Compiles the task of a function marked `#[finespun::main]` or `#[finespun::test]`.
pub(crate) fn entry(function: TokenStream) -> syn::Result<TokenStream> {
    free(syn::parse2(function)?, &Options::parse(TokenStream::new())?)
}

fn free(mut f: ItemFn, options: &Options) -> syn::Result<TokenStream> {
    let mut errors = Errors::default();
    check::signature(&f.sig, &mut errors);
    constructs::expand(&mut f.block, &mut errors);
    check::body(&f.block, &mut errors);
    errors.finish()?;
    let home = if check::needs_self(&f.sig, &f.block) { Home::Method } else { Home::Free };
    let function = Function { attrs: f.attrs, vis: Some(f.vis), sig: f.sig, block: Some(*f.block), home, of: None };
    item::write(function, options)
}

/// Compiles a method of a trait, with or without a body.
fn declared(mut f: TraitItemFn, home: Home, of: TokenStream, options: &Options) -> syn::Result<TokenStream> {
    let mut errors = Errors::default();
    check::signature(&f.sig, &mut errors);
    if let Some(block) = &mut f.default {
        constructs::expand(block, &mut errors);
        check::body(block, &mut errors);
    }
    errors.finish()?;
    let function = Function { attrs: f.attrs, vis: None, sig: f.sig, block: f.default, home, of: Some(of) };
    item::write(function, options)
}

fn implementation(mut block: ItemImpl, options: &Options) -> syn::Result<TokenStream> {
    let mut errors = Errors::default();
    let home = if block.trait_.is_some() { Home::TraitImpl } else { Home::Method };
    let of = block.trait_.as_ref().map(|(path, _)| quote::quote!(#path));
    for item in &mut block.items {
        let ImplItem::Fn(f) = item else { continue };
        if f.sig.asyncness.is_none() {
            continue;
        }
        check::signature(&f.sig, &mut errors);
        constructs::expand(&mut f.block, &mut errors);
        check::body(&f.block, &mut errors);
        let f = f.clone();
        let function =
            Function { attrs: f.attrs, vis: Some(f.vis), sig: f.sig, block: Some(f.block), home, of: of.clone() };
        *item = ImplItem::Verbatim(item::write(function, options)?);
    }
    errors.finish()?;
    Ok(quote::quote!(#block))
}

fn interface(mut block: ItemTrait, options: &Options) -> syn::Result<TokenStream> {
    let is_task = |f: &TraitItemFn| f.sig.asyncness.is_some();
    let tasks: Vec<syn::Signature> = block
        .items
        .iter()
        .filter_map(|item| match item {
            TraitItem::Fn(f) if is_task(f) => Some(f.sig.clone()),
            _ => None,
        })
        .collect();
    let nominal = dynamic::nominal(&tasks);
    let (name, (_, arguments, _)) = (&block.ident, block.generics.split_for_impl());
    let of = quote::quote!(#name #arguments);
    for item in &mut block.items {
        let TraitItem::Fn(f) = item else { continue };
        if !is_task(f) {
            continue;
        }
        let home = if nominal && !dynamic::for_sized(&f.sig) { Home::NominalTrait } else { Home::Trait };
        *item = TraitItem::Verbatim(declared(f.clone(), home, of.clone(), options)?);
    }
    Ok(quote::quote!(#block))
}

/// Returns the branches of a `join!`.
pub(crate) fn branches(mac: &Macro) -> syn::Result<Punctuated<Expr, Token![,]>> {
    mac.parse_body_with(Punctuated::parse_terminated)
}
