//! Writes the items beside the `impl` block of an object: the methods of its references, and a type for each method.
//!
//! References are types of the library, so their methods are methods of a local type that they dereference to: nothing
//! needs to be imported.

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::{Attribute, Ident, ItemImpl, Type, Visibility};

use super::argument;

/// The access of a method to its object.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Access {
    /// `&self`
    Shared,
    /// `&mut self`
    Exclusive,
    /// `this: Ref<Self>`
    None,
    /// `&self`, called once, when the object is created.
    Constant,
}

/// A method of an object.
pub(crate) struct Method {
    pub(crate) cfg: Vec<Attribute>,
    pub(crate) vis: Visibility,
    pub(crate) name: Ident,
    pub(crate) access: Access,
    /// The method is a task, not a plain function.
    pub(crate) task: bool,
    pub(crate) args: Vec<Type>,
    pub(crate) output: Type,
}

/// Writes the block and the items beside it.
pub(crate) fn write(block: &ItemImpl, methods: &[Method], readers_first: bool) -> TokenStream {
    let site = Span::mixed_site();
    let own = &block.self_ty;
    let (head, types, clause) = block.generics.split_for_impl();
    let shown = shown(own);
    let stubs = methods.iter().map(|m| stub(m, own, site));
    let constants: Vec<&Method> = methods.iter().filter(|m| m.access == Access::Constant).collect();
    let kinds = methods.iter().map(|m| {
        let nth = constants.iter().position(|c| std::ptr::eq(*c, m)).unwrap_or(0);
        kind(m, nth, block, &shown)
    });
    let kept = constants.iter().map(|m| &m.output);
    let called = constants.iter().map(|m| {
        let name = &m.name;
        quote_spanned!(site=> <#own>::#name(self))
    });
    quote_spanned! {site=>
        #block
        #[allow(non_camel_case_types, private_interfaces, private_bounds, dead_code, clippy::all, clippy::pedantic)]
        const _: () = {
            #[repr(transparent)]
            pub struct __Methods #head (::finespun::__rt::Ref<#own>) #clause;
            unsafe impl #head ::finespun::__rt::Object for #own #clause {
                type Methods = __Methods #types;
                const NAME: &'static str = #shown;
                const READERS_FIRST: bool = #readers_first;
                type Constants = (#(#kept,)*);
                fn constants(&self) -> Self::Constants {
                    (#(#called,)*)
                }
            }
            impl #head __Methods #types #clause {
                #(#stubs)*
            }
            #(#kinds)*
        };
    }
}

/// Returns a type's name for display: of a path, the last segment.
fn shown(ty: &Type) -> String {
    match ty {
        Type::Path(path) => path.path.segments.last().map(|s| s.ident.unraw().to_string()).unwrap_or_default(),
        _ => quote!(#ty).to_string(),
    }
}

/// Returns the name of the type that represents a method.
fn kind_name(method: &Method) -> Ident {
    format_ident!("__method_{}", method.name.unraw(), span = Span::mixed_site())
}

/// Returns the type that represents a method, with its arguments. It is as visible as all types that it names: a lower
/// visibility would hide it from callers in other modules, a higher one would leak private types.
fn kind_type(method: &Method, own: &Type) -> TokenStream {
    let (kind, Method { args, output, .. }) = (kind_name(method), method);
    quote!(#kind<#own, (#(#args,)*), #output>)
}

fn stub(method: &Method, own: &Type, site: Span) -> TokenStream {
    let Method { cfg, vis, name, args, .. } = method;
    let kind = kind_type(method, own);
    let names: Vec<Ident> = (0..args.len()).map(argument).collect();
    quote_spanned! {site=>
        #(#cfg)*
        #[inline(always)]
        #[track_caller]
        #vis fn #name(&self, #(#names: #args),*) -> ::finespun::__rt::Call<#kind> {
            ::finespun::__rt::Call::new(self.0, (#(#names,)*))
        }
    }
}

fn kind(method: &Method, nth: usize, block: &ItemImpl, object: &str) -> TokenStream {
    let site = Span::mixed_site();
    let Method { cfg, name, args, output, access, task, .. } = method;
    let own = &block.self_ty;
    let (head, _, clause) = block.generics.split_for_impl();
    let (struct_name, kind) = (kind_name(method), kind_type(method, own));
    let said = name.unraw().to_string();
    let title = format!("{object}::{said}");
    let origin = quote_spanned!(name.span().resolved_at(site)=> ::finespun::__rt::Origin::here(#title));
    let names: Vec<Ident> = (0..args.len()).map(argument).collect();
    let (how, receiver) = match access {
        Access::Shared => (quote!(Shared), quote_spanned!(site=> unsafe { __object.as_ref() })),
        Access::Exclusive => (quote!(Exclusive), quote_spanned!(site=> unsafe { (&mut *__object.as_ptr()) })),
        Access::None => (quote!(None), quote_spanned!(site=> __this)),
        Access::Constant => (quote!(Constant), quote!()),
    };
    let plain = !task;
    let bind = (*access != Access::Constant).then(|| quote_spanned!(site=> let __receiver = #receiver;));
    let call = quote_spanned!(site=> <#own>::#name(__receiver, #(#names),*));
    let run = if *access == Access::Constant {
        let nth = syn::Index::from(nth);
        quote_spanned! {site=>
            let __constants = unsafe { ::finespun::__rt::constants::<#own>(__object) };
            unsafe { ::finespun::__rt::Outcome::done(::core::clone::Clone::clone(&__constants.#nth)) }
        }
    } else if *task {
        quote_spanned! {site=>
            let __task = #call;
            unsafe { ::finespun::__rt::Task::call(__task, __cx) }
        }
    } else {
        quote_spanned! {site=>
            let __value: #output = #call;
            unsafe { ::finespun::__rt::Outcome::done(__value) }
        }
    };
    quote_spanned! {site=>
        #(#cfg)*
        pub struct #struct_name<__O, __A, __R>(::core::marker::PhantomData<fn() -> (__O, __A, __R)>);
        #(#cfg)*
        impl #head ::finespun::__rt::Named for #kind #clause {
            const ORIGIN: &'static ::finespun::__rt::Origin = &#origin;
        }
        #(#cfg)*
        unsafe impl #head ::finespun::__rt::Method for #kind #clause {
            type Object = #own;
            type Args = (#(#args,)*);
            type Output = #output;
            const ACCESS: ::finespun::__rt::Access = ::finespun::__rt::Access::#how;
            const PLAIN: bool = #plain;
            const NAME: &'static str = #said;
            #[inline(always)]
            #[allow(unused)]
            unsafe fn run(
                __this: ::finespun::__rt::Ref<#own>,
                mut __object: ::core::ptr::NonNull<#own>,
                (#(#names,)*): (#(#args,)*),
                __cx: ::finespun::__rt::Cx,
            ) -> ::finespun::__rt::Outcome<#output> {
                #bind
                #run
            }
        }
    }
}
