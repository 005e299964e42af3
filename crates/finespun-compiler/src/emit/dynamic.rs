//! Traits as a whole: calling their tasks on types that are not sized.
//!
//! A trait's own `fn visit(&self) -> impl Task` exists for sized types only
//! (that keeps the trait usable as `dyn`). For all others there is a hidden free
//! function per task, which calls the body through the dyn-compatible sibling;
//! default bodies use it for `self.visit()`, and `dyn` types get an inherent
//! `visit_dyn` (the plain name would be ambiguous with the trait's). Nothing is
//! boxed.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::visit::{self, Visit};
use syn::visit_mut::{self, VisitMut};
use syn::{Expr, GenericParam, Ident, ItemTrait, ReceiverKind, Signature, TraitItem};

use super::item::{Parts, parts, sibling, this, turbofish};

/// The function that calls the task `method` of the trait on any type.
fn caller(of: &Ident, method: &Ident) -> Ident {
    format_ident!("__task_{of}_{method}", span = Span::call_site())
}

/// Can this task be called on types that are not sized?
fn reachable(sig: &Signature) -> bool {
    struct Elided(bool);
    impl<'a> Visit<'a> for Elided {
        fn visit_type_reference(&mut self, r: &'a syn::TypeReference) {
            self.0 |= r.lifetime.is_none();
            visit::visit_type_reference(self, r);
        }
        fn visit_lifetime(&mut self, lifetime: &'a syn::Lifetime) {
            self.0 |= lifetime.ident == "_";
        }
    }
    let mut elided = Elided(false);
    elided.visit_return_type(&sig.output);
    let own = crate::macros::mentions(&quote!(#sig), &|i| i == "Self");
    let reference = sig.receiver().is_some_and(|r| matches!(r.kind, ReceiverKind::Reference(..)));
    reference && !elided.0 && !own
}

/// In a default body: `self.task(..)` becomes a call of the task's caller.
pub(crate) fn redirect(block: &mut syn::Block, of: &Ident, tasks: &[Signature]) {
    struct Calls<'a>(&'a Ident, &'a [Signature]);
    impl VisitMut for Calls<'_> {
        fn visit_expr_mut(&mut self, expr: &mut Expr) {
            visit_mut::visit_expr_mut(self, expr);
            let Expr::MethodCall(call) = expr else { return };
            let on_self = crate::scan::name(&call.receiver).is_some_and(|n| n == "self");
            let task = self.1.iter().find(|t| t.ident == call.method).filter(|t| reachable(t));
            if let (true, Some(task)) = (on_self, task) {
                let (caller, me, args) = (caller(self.0, &task.ident), &call.receiver, &call.args);
                *expr = syn::parse_quote!(#caller(#me, #args));
            }
        }
        fn visit_item_mut(&mut self, _: &mut syn::Item) {}
    }
    Calls(of, tasks).visit_block_mut(block);
}

/// What stands beside the trait.
pub(crate) fn beside(block: &ItemTrait, tasks: &[Signature]) -> TokenStream {
    let reachable: Vec<&Signature> = tasks.iter().filter(|t| reachable(t)).collect();
    let callers = reachable.iter().map(|sig| write_caller(block, sig));
    let mut out: TokenStream = callers.collect();
    if is_dynamic(block) {
        out.extend(inherent(block, &reachable));
    }
    out
}

fn write_caller(block: &ItemTrait, sig: &Signature) -> TokenStream {
    let site = Span::mixed_site();
    let mut sig = sig.clone();
    let Parts { generics, receiver, inputs, ret, .. } = parts(&mut sig);
    let (vis, of) = (&block.vis, &block.ident);
    let (name, body) = (caller(of, &sig.ident), sibling(&sig.ident));
    let (_, args, clause) = block.generics.split_for_impl();
    let outer = block.generics.params.iter();
    let own: Vec<&GenericParam> = generics.params.iter().collect();
    let (lifetimes, others): (Vec<&GenericParam>, Vec<&GenericParam>) =
        outer.chain(own).partition(|p| matches!(p, GenericParam::Lifetime(_)));
    let given = clause.map(|c| &c.predicates).into_iter().flatten();
    let more = generics.where_clause.iter().flat_map(|c| &c.predicates);
    let fish = turbofish(&generics);
    let this = this();
    let mutability = match receiver.as_ref().map(|r| &r.kind) {
        Some(ReceiverKind::Reference(_, _, m)) => *m,
        _ => None,
    };
    let travels = match mutability {
        Some(_) => quote!(::core::marker::Send),
        None => quote!(::core::marker::Sync),
    };
    let shown: Vec<&Ident> = inputs.iter().map(|(n, _)| n).collect();
    let types: Vec<_> = inputs.iter().map(|(_, t)| t).collect();
    quote_spanned! {site=>
        #[doc(hidden)]
        #[inline]
        #vis fn #name<#(#lifetimes,)* #(#others,)* __S: #of #args + #travels + ?::core::marker::Sized>(
            #this: &#mutability __S, #(#shown: #types),*
        ) -> impl ::finespun::__rt::Task<Output = #ret> + ::core::marker::Send
        where #(#given,)* #(#more,)*
        {
            unsafe {
                ::finespun::__rt::stack_task::<(&#mutability __S, #(#types,)*), _, _>(move |__cx| unsafe {
                    <__S as #of #args>::#body #fish(#this, __cx, #(#shown),*)
                })
            }
        }
    }
}

/// Inherent methods of the trait's `dyn` types.
fn inherent(block: &ItemTrait, tasks: &[&Signature]) -> TokenStream {
    let bounds: Vec<String> = block.supertraits.iter().map(|b| b.to_token_stream().to_string()).collect();
    let has = |name: &str| bounds.iter().any(|b| b == name || b.ends_with(&format!(":: {name}")));
    let name = &block.ident;
    let (_, args, clause) = block.generics.split_for_impl();
    let given = &block.generics.params;
    let mut out = TokenStream::new();
    for (send, sync) in [(false, false), (true, false), (false, true), (true, true)] {
        // A marker that the trait itself demands is not written again.
        if (send && has("Send")) || (sync && has("Sync")) {
            continue;
        }
        let (is_send, is_sync) = (send || has("Send"), sync || has("Sync"));
        let methods: Vec<TokenStream> = tasks
            .iter()
            .filter(|sig| match sig.receiver().map(|r| &r.kind) {
                Some(ReceiverKind::Reference(_, _, None)) => is_sync,
                _ => is_send,
            })
            .map(|sig| through(block, sig))
            .collect();
        if methods.is_empty() {
            continue;
        }
        let send = send.then(|| quote!(+ ::core::marker::Send));
        let sync = sync.then(|| quote!(+ ::core::marker::Sync));
        out.extend(quote! {
            impl<'__object, #given> dyn #name #args #send #sync + '__object #clause {
                #(#methods)*
            }
        });
    }
    out
}

fn through(block: &ItemTrait, sig: &Signature) -> TokenStream {
    let site = Span::mixed_site();
    let mut sig = sig.clone();
    let Parts { generics, receiver, inputs, ret, .. } = parts(&mut sig);
    let name = format_ident!("{}_dyn", sig.ident, span = sig.ident.span());
    let caller = caller(&block.ident, &sig.ident);
    let vis = &block.vis;
    let head = &generics.params;
    let head = if head.is_empty() { TokenStream::new() } else { quote!(<#head>) };
    let clause = &generics.where_clause;
    let shown: Vec<&Ident> = inputs.iter().map(|(n, _)| n).collect();
    let types = inputs.iter().map(|(_, t)| t);
    let me = quote!(self);
    let doc = format!("[`{0}`]({1}::{0}) through the object; nothing is boxed.", sig.ident, block.ident);
    quote_spanned! {site=>
        #[doc = #doc]
        #[inline]
        #vis fn #name #head(#receiver, #(#shown: #types),*)
            -> impl ::finespun::__rt::Task<Output = #ret> + ::core::marker::Send
            #clause
        {
            #caller(#me, #(#shown),*)
        }
    }
}

/// Can the trait be a `dyn` type, as far as its text tells?
fn is_dynamic(block: &ItemTrait) -> bool {
    let sized = |s: &Signature| s.generics.where_clause.to_token_stream().to_string().contains("Self : Sized");
    let method = |s: &Signature| {
        let plain = s.generics.params.iter().all(|p| matches!(p, GenericParam::Lifetime(_)));
        let by_reference = s.receiver().is_some_and(|r| matches!(r.kind, ReceiverKind::Reference(..)));
        plain && by_reference && !quote!(#s).to_string().contains("impl ")
    };
    let items = block.items.iter().all(|item| match item {
        TraitItem::Fn(f) => sized(&f.sig) || method(&f.sig),
        _ => false,
    });
    let bases = block.supertraits.iter().all(|b| {
        let text = b.to_token_stream().to_string();
        !["Sized", "Clone", "Copy"].iter().any(|n| text.ends_with(n))
    });
    items && bases
}
