//! Explicit closures: `#[thread]`, `make_closure!` and `tail_call!`.
//!
//! A thread becomes a type of the function's name, whose functions make the thread's closures and call the thread. For
//! missing arguments, `make_closure!` returns a struct with the thread's parameters as fields. The generated code
//! contains no `unsafe` block.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::parse::{Parse, ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Expr, FnArg, GenericParam, ItemFn, Pat, Path, ReturnType, Token, Type, bracketed};

use crate::error::Errors;

/// A parameter other than the vector.
struct Parameter {
    /// `mut`, if the body changes the parameter.
    mutable: Option<Token![mut]>,
    name: Ident,
    kind: Type,
}

/// Compiles a function marked `#[thread(arguments)]`.
pub(crate) fn thread(arguments: TokenStream, tokens: TokenStream) -> syn::Result<TokenStream> {
    let words = words(arguments)?;
    let mut f: ItemFn = syn::parse2(tokens)?;
    let mut errors = Errors::default();
    check(&f, &mut errors);
    let shared = shared(&mut f, &mut errors);
    let mut parameters = Vec::new();
    for input in f.sig.inputs.iter().skip(usize::from(shared.is_some())) {
        match input {
            FnArg::Typed(input) => match &*input.pat {
                Pat::Ident(name) if name.by_ref.is_none() && name.subpat.is_none() => parameters.push(Parameter {
                    mutable: name.mutability,
                    name: name.ident.clone(),
                    kind: (*input.ty).clone(),
                }),
                other => errors.at(other, "a thread's parameters are names: take the pattern apart in the body"),
            },
            FnArg::Receiver(this) => errors.at(this, "a thread is a free function: it has no `self`"),
        }
    }
    for p in &parameters {
        if let Type::Reference(reference) = &p.kind
            && reference.lifetime.as_ref().is_none_or(|lifetime| lifetime.ident != "static")
        {
            errors.at(
                reference,
                "a closure owns its arguments: take the value, or an `Arc`, or let all threads share it: `#[shared]` before the \
                 first parameter, and `top(..).sharing(..)`",
            );
        }
    }
    let vector = match parameters.iter().position(|p| element(&p.kind).is_some()) {
        Some(at) if at + 1 < parameters.len() => {
            errors.at(&parameters[at].kind, "a vector is the last parameter: its length is that of the closure's tail");
            None
        }
        Some(_) => parameters.pop(),
        None => None,
    };
    if let Some(Shared { kind, .. }) = shared.as_ref().filter(|_| words.portable) {
        errors.at(kind, "a thread that reads a shared value is not portable: other processes do not have the value");
    }
    if parameters.len() > 12 {
        errors
            .at(&parameters[12].name, "a thread has at most twelve parameters beside a vector: put them into a struct");
    }
    errors.finish()?;
    Ok(write(&f, shared.as_ref(), &parameters, vector.as_ref(), words))
}

/// The parameter that is not an argument: data that all threads read.
struct Shared {
    name: Pat,
    /// The type behind the reference.
    kind: Type,
}

/// Returns the first parameter, if it is marked `#[shared]`.
fn shared(f: &mut ItemFn, errors: &mut Errors) -> Option<Shared> {
    let mut found = None;
    for (place, input) in f.sig.inputs.iter_mut().enumerate() {
        let FnArg::Typed(input) = input else { continue };
        let marks: Vec<_> = input.attrs.extract_if(.., |attr| attr.path().is_ident("shared")).collect();
        let Some(mark) = marks.first() else { continue };
        match &*input.ty {
            _ if place > 0 => errors.at(mark, "what threads share is the first parameter"),
            Type::Reference(reference) if reference.mutability.is_none() && reference.lifetime.is_none() => {
                found = Some(Shared { name: (*input.pat).clone(), kind: (*reference.elem).clone() });
            }
            other => errors.at(other, "what threads share is read by reference: `#[shared] name: &T`"),
        }
    }
    found
}

/// The words in `#[thread(..)]`.
#[derive(Clone, Copy, Default)]
struct Words {
    /// `make_closure!` posts full closures.
    post: bool,
    /// Closures may migrate.
    portable: bool,
}

fn words(arguments: TokenStream) -> syn::Result<Words> {
    let unknown = "expected `portable` (idle processes may take closures of this thread), `post` (`make_closure!` posts full \
                   closures of this thread), both, or nothing";
    let mut words = Words::default();
    let named = Punctuated::<Ident, Token![,]>::parse_terminated.parse2(arguments);
    for name in named.map_err(|error| syn::Error::new(error.span(), unknown))? {
        match () {
            () if name == "post" => words.post = true,
            () if name == "portable" => words.portable = true,
            () => return Err(syn::Error::new(name.span(), unknown)),
        }
    }
    Ok(words)
}

fn check(f: &ItemFn, errors: &mut Errors) {
    let sig = &f.sig;
    if let Some(word) = &sig.asyncness {
        errors.at(word, "a thread never waits: it is a plain `fn`");
    }
    if let Some(word) = &sig.constness {
        errors.at(word, "a thread is not `const`");
    }
    if let syn::Safety::Unsafe(word) = &sig.safety {
        errors.at(word, "`#[thread]` functions cannot be `unsafe`: the code that makes a closure cannot promise for the code that runs it");
    }
    if let Some(word) = &sig.abi {
        errors.at(word, "a thread has Rust's own calling convention");
    }
    if let ReturnType::Type(_, ty) = &sig.output {
        errors.at(ty, "a thread returns nothing: it sends its results, `send_argument(value, continuation)`");
    }
    for parameter in &sig.generics.params {
        if let GenericParam::Lifetime(lifetime) = parameter {
            errors.at(lifetime, "a closure owns its arguments: a thread has no lifetimes");
        }
    }
}

/// Returns the type of the elements, if this is `Vector<T>` by any path.
fn element(kind: &Type) -> Option<&Type> {
    let Type::Path(path) = kind else { return None };
    let last = path.path.segments.last()?;
    if last.ident != "Vector" {
        return None;
    }
    let syn::PathArguments::AngleBracketed(arguments) = &last.arguments else { return None };
    match arguments.args.first()? {
        syn::GenericArgument::Type(element) => Some(element),
        _ => None,
    }
}

fn write(
    f: &ItemFn,
    shared: Option<&Shared>,
    parameters: &[Parameter],
    vector: Option<&Parameter>,
    Words { post: posts, portable }: Words,
) -> TokenStream {
    let site = Span::mixed_site();
    let rt = quote_spanned!(site=> ::finespun::closure::__rt);
    let closure = quote_spanned!(site=> ::finespun::closure);
    let (attrs, vis, name, block) = (&f.attrs, &f.vis, &f.sig.ident, &f.block);
    let text = name.to_string();
    let holes = format_ident!("{}_holes", text.trim_start_matches("r#"), span = name.span());
    let (imp, ty, bounds) = f.sig.generics.split_for_impl();

    let names: Vec<_> = parameters.iter().map(|p| &p.name).collect();
    let mutable: Vec<_> = parameters.iter().map(|p| &p.mutable).collect();
    let kinds: Vec<_> = parameters.iter().map(|p| &p.kind).collect();
    let supplies: Vec<_> = (0..parameters.len()).map(|k| format_ident!("__S{k}", span = site)).collect();
    let all_names: Vec<_> = names.iter().copied().chain(vector.map(|p| &p.name)).collect();
    let words: Vec<_> = all_names.iter().map(ToString::to_string).collect();

    // The vector: its parameter in the body, its type, the code that supplies it, and the code that passes a value on.
    let tail = vector.map_or_else(|| quote!(()), |p| p.kind.to_token_stream());
    let tail_mutable = vector.and_then(|p| p.mutable);
    let tail_name = vector.map(|p| &p.name);
    let tail_parameter = tail_name.map(|name| quote!(#tail_mutable #name: #tail));
    let tail_argument = tail_name.map(|_| quote_spanned!(site=> __tail));
    let tail_supply = vector.map(|_| quote_spanned!(site=> __E: #rt::Elements<#tail>,));
    let tail_supplied = vector.map(|_| quote_spanned!(site=> __tail: __E));
    let elements = match vector {
        Some(_) => quote_spanned!(site=> __tail),
        None => quote_spanned!(site=> #rt::Without),
    };
    let tail_into = vector.map(|_| quote_spanned!(site=> __tail: impl ::core::convert::Into<#tail>));
    let tail_from = vector.map(|_| quote_spanned!(site=> let __tail: #tail = __tail.into();));
    let each = match vector {
        Some(_) => quote_spanned!(site=> <__E::Ready as #rt::Supply<#tail>>::Gives),
        None => quote!(()),
    };
    let given_tail =
        vector.map_or_else(|| quote_spanned!(site=> #rt::Without), |_| quote_spanned!(site=> #rt::Given(__tail)));

    // The holes: a field for each parameter.
    let fields: Vec<_> = (0..all_names.len()).map(|k| format_ident!("__{k}", span = site)).collect();
    let field_types = supplies
        .iter()
        .zip(&kinds)
        .map(|(supply, kind)| quote_spanned!(site=> <#supply as #rt::Supply<#rt::In<#kind>>>::Gives));
    let field_types: Vec<_> = field_types.chain(vector.map(|_| each.clone())).collect();
    let generics: Vec<_> = f
        .sig
        .generics
        .params
        .iter()
        .map(|p| match p {
            GenericParam::Type(p) => {
                let mut p = p.clone();
                p.default = None;
                p.into_token_stream()
            }
            GenericParam::Const(p) => {
                let mut p = p.clone();
                p.default = None;
                p.into_token_stream()
            }
            GenericParam::Lifetime(p) => p.to_token_stream(),
        })
        .collect();
    let type_parameters = f.sig.generics.type_params().map(|p| &p.ident);
    let hole_doc = format!("The continuations of the missing arguments of a closure of [`{text}`].");
    let full = if posts { quote!(()) } else { quote_spanned!(site=> #closure::Closure<Self>) };
    let fullness =
        if posts { quote_spanned!(site=> #closure::post(__closure)) } else { quote_spanned!(site=> __closure) };
    let ways = portable.then(|| {
        let each = kinds.iter().map(|kind| quote_spanned!(kind.span()=> #rt::way::<#kind>()));
        let of_tail = quote_spanned!(tail.span()=> #rt::way::<#tail>());
        quote_spanned! {site=>
            const WAYS: ::core::option::Option<#rt::Ways<Self>> = ::core::option::Option::Some(((#(#each,)*), #of_tail));
        }
    });
    let inputs = names.iter().zip(&kinds).zip(&mutable).map(|((n, k), m)| quote!(#m #n: #k)).chain(tail_parameter);
    let shared_input = shared.map(|Shared { name, kind }| quote!(#name: &#kind));
    let inputs = shared_input.into_iter().chain(inputs);
    let plain: Vec<_> = names.iter().zip(&kinds).map(|(n, k)| quote!(#n: #k)).collect();
    let supplied: Vec<_> = names.iter().zip(&supplies).map(|(n, s)| quote!(#n: #s)).collect();
    let arguments: Vec<_> = names.iter().map(|n| quote!(#n)).chain(tail_argument.clone()).collect();
    let enter = match shared {
        None => quote_spanned!(site=> Self::__enter(#(#arguments),*)),
        Some(Shared { kind, .. }) => {
            quote_spanned!(site=> #rt::shared(#text, |__shared: &#kind| Self::__enter(__shared, #(#arguments),*)))
        }
    };
    let tail_into: Vec<_> = tail_into.into_iter().collect();
    let tail_supplied: Vec<_> = tail_supplied.into_iter().collect();
    let hole_struct = quote_spanned! {site=>
        #[doc = #hole_doc]
        #[doc(hidden)]
        #[allow(non_camel_case_types, missing_docs, dead_code)]
        #vis struct #holes<#(#fields),*> { #(pub #all_names: #fields),* }
    };
    let result_fields = names.iter().zip(0..).map(|(n, k)| {
        let index = syn::Index::from(k);
        quote_spanned!(site=> #n: __gives.#index)
    });
    let result_fields: Vec<_> = result_fields.chain(tail_name.map(|n| quote_spanned!(site=> #n: __each))).collect();
    quote_spanned! {site=>
        #(#attrs)*
        #[allow(non_camel_case_types, dead_code)]
        #vis struct #name #imp #bounds {
            __never: ::core::convert::Infallible,
            __of: ::core::marker::PhantomData<fn() -> (#(#type_parameters,)*)>,
        }

        #hole_struct

        #[doc(hidden)]
        #[allow(non_snake_case, clippy::too_many_arguments, clippy::used_underscore_binding, dead_code)]
        impl #imp #name #ty #bounds {
            #vis fn __enter(#(#inputs),*) #block

            #[inline(always)]
            #vis fn __call(#(#plain,)* #(#tail_into)*) {
                #tail_from
                if #rt::stays() {
                    #enter
                } else {
                    #closure::post(#rt::made::<Self, _, _>((#(#rt::Given(#names),)*), #given_tail).full());
                }
            }

            #[inline(always)]
            #vis fn __full<#(#supplies: #rt::Supply<#rt::In<#kinds>>,)* #tail_supply>(#(#supplied,)* #(#tail_supplied)*) -> <Self as #closure::Thread>::Full {
                let __closure = #rt::made::<Self, _, _>((#(#names,)*), #elements).full();
                <Self as #closure::Thread>::full(__closure)
            }

            #[inline(always)]
            #vis fn __holes<#(#supplies: #rt::Supply<#rt::In<#kinds>>,)* #tail_supply>(#(#supplied,)* #(#tail_supplied)*) -> #holes<#(#field_types),*> {
                let (__gives, __each) = #rt::made::<Self, _, _>((#(#names,)*), #elements).with_holes();
                let _ = (&__gives, &__each);
                #holes { #(#result_fields),* }
            }
        }

        impl<#(#generics),*> #closure::Thread for #name #ty #bounds {
            type Fixed = (#(#kinds,)*);
            type Tail = #tail;
            type Full = #full;
            const NAME: &'static str = #text;
            const PARAMETERS: &'static [&'static str] = &[#(#words),*];
            const PLACE: &'static ::core::panic::Location<'static> = ::core::panic::Location::caller();
            #ways

            #[inline(always)]
            fn enter((#(#names,)*): Self::Fixed, __tail: Self::Tail) {
                let _ = &__tail;
                #enter
            }

            #[inline(always)]
            fn full(__closure: #closure::Closure<Self>) -> Self::Full {
                #fullness
            }
        }
    }
}

/// One argument of `make_closure!` or `tail_call!`.
enum Argument {
    Value(Expr),
    Hole(Token![_]),
    /// The given number of holes.
    Holes(Token![_], Expr),
}

impl Parse for Argument {
    fn parse(input: ParseStream) -> syn::Result<Argument> {
        if input.peek(Token![_])
            && (input.peek2(Token![,])
                || input.peek2(syn::token::Bracket)
                || input.cursor().token_tree().is_some_and(|(_, rest)| rest.eof()))
        {
            let hole = input.parse()?;
            if input.peek(syn::token::Bracket) {
                let count;
                bracketed!(count in input);
                return Ok(Argument::Holes(hole, count.parse()?));
            }
            return Ok(Argument::Hole(hole));
        }
        Ok(Argument::Value(input.parse()?))
    }
}

/// A thread and its arguments.
struct Call {
    thread: Path,
    arguments: Vec<Argument>,
}

impl Parse for Call {
    fn parse(input: ParseStream) -> syn::Result<Call> {
        let thread = input.parse().map_err(|error| {
            syn::Error::new(error.span(), "expected a thread, and then its arguments: `(thread, a, b, ..)`")
        })?;
        let mut arguments = Vec::new();
        if !input.is_empty() {
            input.parse::<Token![,]>()?;
            arguments = Punctuated::<Argument, Token![,]>::parse_terminated(input)?.into_iter().collect();
        }
        Ok(Call { thread, arguments })
    }
}

/// Expands `make_closure!(thread, ..)`.
pub(crate) fn make_closure(tokens: TokenStream) -> syn::Result<TokenStream> {
    let Call { thread, arguments } = syn::parse2(tokens)?;
    let site = Span::mixed_site();
    let rt = quote_spanned!(site=> ::finespun::closure::__rt);
    let has_holes = arguments.iter().any(|argument| !matches!(argument, Argument::Value(_)));
    let arguments = arguments.iter().map(|argument| match argument {
        Argument::Value(value) => quote_spanned!(site=> #rt::Given(#value)),
        Argument::Hole(hole) => quote_spanned!(hole.span=> #rt::Missing),
        Argument::Holes(hole, count) => quote_spanned!(hole.span=> #rt::Each(#count)),
    });
    let make = if has_holes { format_ident!("__holes", span = site) } else { format_ident!("__full", span = site) };
    Ok(quote_spanned!(site=> <#thread>::#make(#(#arguments),*)))
}

/// Expands `tail_call!(thread, ..)`.
pub(crate) fn tail_call(tokens: TokenStream) -> syn::Result<TokenStream> {
    let Call { thread, arguments } = syn::parse2(tokens)?;
    let mut errors = Errors::default();
    let mut values = Vec::new();
    for argument in &arguments {
        match argument {
            Argument::Value(value) => values.push(value),
            Argument::Hole(hole) | Argument::Holes(hole, _) => {
                errors.at(hole, "a tail call gives all arguments: for missing ones there is `make_closure!`");
            }
        }
    }
    errors.finish()?;
    Ok(quote_spanned!(Span::mixed_site()=> <#thread>::__call(#(#values),*)))
}
