//! Traits that can be `dyn` types: a method returns a nominal task instead of an opaque one.
//!
//! `finespun::tasks::MethodTask` holds the type-erased receiver and a pointer to the implementation's code, so the trait's own
//! `fn visit(&self) -> MethodTask<..>` serves sized types and `dyn` types alike, and default bodies call it like any
//! other caller. Where the implementation is known, the optimiser resolves the pointer. Nothing is boxed.
//!
//! This requires a receiver that is a reference, and a signature without type parameters and `Self`. If a trait has any
//! other task, all its tasks are opaque, which exist for sized types only: the trait could not be a `dyn` type anyway.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::visit_mut::{self, VisitMut};
use syn::{GenericParam, Generics, Lifetime, ReceiverKind, Signature, Type};

/// Returns whether the tasks of a marked trait are nominal: every task is erasable or for sized types only.
pub(crate) fn nominal<'a>(tasks: impl IntoIterator<Item = &'a Signature>) -> bool {
    tasks.into_iter().all(|sig| for_sized(sig) || erasable(sig))
}

/// Returns whether the signature itself restricts the method to sized types.
pub(crate) fn for_sized(sig: &Signature) -> bool {
    let clause = sig.generics.where_clause.to_token_stream().to_string();
    clause.contains("Self : Sized") || clause.contains("Self : :: core :: marker :: Sized")
}

/// Returns whether the method's task can have a nominal type.
fn erasable(sig: &Signature) -> bool {
    let plain = sig.generics.params.iter().all(|p| matches!(p, GenericParam::Lifetime(_)));
    let by_reference = sig.receiver().is_some_and(|r| matches!(r.kind, ReceiverKind::Reference(..)));
    let types = sig.inputs.iter().filter_map(|input| match input {
        syn::FnArg::Typed(p) => Some(p.ty.to_token_stream()),
        syn::FnArg::Receiver(_) => None,
    });
    let output = match &sig.output {
        syn::ReturnType::Default => TokenStream::new(),
        syn::ReturnType::Type(_, ty) => ty.to_token_stream(),
    };
    plain && by_reference && types.chain([output]).all(|ty| !opaque(&ty) && !names_self(&ty))
}

fn opaque(ty: &TokenStream) -> bool {
    crate::macros::mentions(ty, &|i| i == "impl")
}

/// Returns whether a type names `Self`, other than for one of its associated types.
fn names_self(ty: &TokenStream) -> bool {
    let text = ty.to_string();
    text.replace("Self ::", "").split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == "Self")
}

/// The parts of a nominal task's signature.
pub(super) struct Nominal {
    pub(super) generics: TokenStream,
    pub(super) types: Vec<Type>,
    pub(super) output: TokenStream,
}

/// Returns the signature of a nominal task. Every lifetime of an argument gets a name: in the type of the task, an
/// elided lifetime would mean the receiver's.
pub(super) fn signature(generics: &Generics, receiver: &syn::Receiver, types: &[&Type], ret: &Type) -> Nominal {
    struct Names(Vec<Lifetime>);
    impl VisitMut for Names {
        fn visit_type_reference_mut(&mut self, r: &mut syn::TypeReference) {
            let lifetime = r.lifetime.get_or_insert_with(|| Lifetime::new("'_", Span::mixed_site()));
            self.visit_lifetime_mut(lifetime);
            visit_mut::visit_type_mut(self, &mut r.elem);
        }
        fn visit_lifetime_mut(&mut self, lifetime: &mut Lifetime) {
            if lifetime.ident == "_" {
                let name = format!("'__l{}", self.0.len());
                *lifetime = Lifetime::new(&name, Span::mixed_site());
                self.0.push(lifetime.clone());
            }
        }
        // Function pointers and `Fn(..)` bounds scope their own elided lifetimes.
        fn visit_type_fn_ptr_mut(&mut self, _: &mut syn::TypeFnPtr) {}
        fn visit_parenthesized_generic_arguments_mut(&mut self, _: &mut syn::ParenthesizedGenericArguments) {}
    }
    let site = Span::mixed_site();
    let mut names = Names(Vec::new());
    let types: Vec<Type> = types
        .iter()
        .map(|ty| {
            let mut ty = (*ty).clone();
            names.visit_type_mut(&mut ty);
            ty
        })
        .collect();
    let lends = match &receiver.kind {
        ReceiverKind::Reference(_, Some(lifetime), _) => lifetime.clone(),
        _ => Lifetime::new("'_", site),
    };
    let (new, given) = (&names.0, &generics.params);
    let generics = quote!(<#(#new,)* #given>);
    let output = quote_spanned!(site=> ::finespun::tasks::MethodTask<#lends, (#(#types,)*), #ret>);
    Nominal { generics, types, output }
}
