//! `#[object]`: an `impl` block whose methods can be called through references.

use proc_macro2::TokenStream;
use syn::visit::{self, Visit};
use syn::visit_mut::{self, VisitMut};
use syn::{FnArg, ImplItem, ImplItemFn, ItemImpl, Pat, ReceiverKind, ReturnType, Type};

use super::options::{Options, Wish};
use super::{check, constructs};
use crate::emit::item::{self, Function, Home};
use crate::emit::object::{self, Access, Method};
use crate::error::Errors;

const RECEIVER: &str = "an object's method takes `&self` (shared), `&mut self` (exclusive) or `this: Ref<Self>` (no lock); \
     put others into an `impl` block without `#[object]`";
const OWN: &str = "an object's method owns what it takes and delivers: a call may come from another node, and what it \
     borrows stays there";

const CONSTANT: &str = "a `#[constant]` method is a plain `fn` that takes `&self` and nothing else, under no `#[cfg]`: it is called \
     once, when the object is made";

/// Compiles a marked block.
pub(crate) fn object(arguments: TokenStream, tokens: TokenStream) -> syn::Result<TokenStream> {
    let readers_first = match syn::parse2::<Option<syn::Ident>>(arguments.clone()) {
        Ok(None) => false,
        Ok(Some(word)) if word == "readers_first" => true,
        _ => return Err(syn::Error::new_spanned(arguments, "`#[object]` takes nothing, or `readers_first`")),
    };
    let Ok(mut block) = syn::parse2::<ItemImpl>(tokens.clone()) else {
        return Err(syn::Error::new_spanned(tokens, "`#[object]` applies to an `impl` block of a type's own methods"));
    };
    if let Some((path, ..)) = &block.trait_ {
        return Err(syn::Error::new_spanned(path, "`#[object]` applies to a type's own methods: remove the trait"));
    }
    let mut errors = Errors::default();
    let mut methods = Vec::new();
    let own = block.self_ty.clone();
    for item in &mut block.items {
        let ImplItem::Fn(f) = item else { continue };
        let Some(mut access) = access(f, &mut errors) else { continue };
        if let Some(place) = f.attrs.iter().position(|a| a.path().is_ident("constant")) {
            let attribute = f.attrs.remove(place);
            let conditional = f.attrs.iter().any(|a| a.path().is_ident("cfg"));
            if access != Access::Shared || f.sig.asyncness.is_some() || f.sig.inputs.len() > 1 || conditional {
                errors.at(&attribute, CONSTANT);
            }
            access = Access::Constant;
        }
        methods.push(method(f, access, &own, &mut errors));
        if f.sig.asyncness.is_none() {
            continue;
        }
        check::signature(&f.sig, &mut errors);
        constructs::expand(&mut f.block, &mut errors);
        check::body(&f.block, &mut errors);
        let options = options(f)?;
        let f = f.clone();
        let function = Function {
            attrs: f.attrs,
            vis: Some(f.vis),
            sig: f.sig,
            block: Some(f.block),
            home: Home::Method,
            of: None,
        };
        *item = ImplItem::Verbatim(item::write(function, &options)?);
    }
    errors.finish()?;
    Ok(object::write(&block, &methods, readers_first))
}

/// Returns a method's access to its object; `None` for an associated function.
fn access(f: &ImplItemFn, errors: &mut Errors) -> Option<Access> {
    match f.sig.inputs.first() {
        Some(FnArg::Receiver(receiver)) => match &receiver.kind {
            ReceiverKind::Reference(_, Some(lifetime), _) => errors.at(lifetime, OWN),
            ReceiverKind::Reference(_, None, None) => return Some(Access::Shared),
            ReceiverKind::Reference(_, None, Some(_)) => return Some(Access::Exclusive),
            _ => errors.at(receiver, RECEIVER),
        },
        Some(FnArg::Typed(first)) if is_this(&first.pat) => match &*first.ty {
            Type::Path(_) => return Some(Access::None),
            // `this` has a type that only a plain function's parameter may have.
            other => errors.at(other, RECEIVER),
        },
        _ if f.sig.asyncness.is_some() => errors.at(&f.sig.ident, RECEIVER),
        _ => {}
    }
    None
}

fn is_this(pat: &Pat) -> bool {
    matches!(pat, Pat::Ident(name) if name.ident == "this" || name.ident == "_this")
}

fn method(f: &ImplItemFn, access: Access, own: &Type, errors: &mut Errors) -> Method {
    if !f.sig.generics.params.is_empty() {
        errors.at(&f.sig.generics, "an object's method has no parameters of its own: a call of it names the method");
    }
    for (token, what) in [(f.sig.constness.map(|t| t.span), "const"), (crate::parse::check::unsafety(&f.sig), "unsafe")]
    {
        if let Some(span) = token {
            errors.span(span, format!("anybody may call an object's method: remove `{what}`"));
        }
    }
    let mut args: Vec<Type> = Vec::new();
    for input in f.sig.inputs.iter().skip(1) {
        if let FnArg::Typed(input) = input {
            if let Some(condition) = input.attrs.iter().find(|a| a.path().is_ident("cfg")) {
                errors.at(
                    condition,
                    "a parameter of an object's method is there under all conditions: put the condition on the method",
                );
            }
            args.push((*input.ty).clone());
        }
    }
    let mut output = match &f.sig.output {
        ReturnType::Default => syn::parse_quote!(()),
        ReturnType::Type(_, ty) => (**ty).clone(),
    };
    for ty in args.iter_mut().chain([&mut output]) {
        Owned(errors).visit_type(ty);
        Own(own).visit_type_mut(ty);
    }
    let cfg = f.attrs.iter().filter(|a| a.path().is_ident("cfg")).cloned().collect();
    Method { cfg, vis: f.vis.clone(), name: f.sig.ident.clone(), access, task: f.sig.asyncness.is_some(), args, output }
}

/// Removes a method's own `#[task(..)]` and returns its options, or the default ones.
fn options(f: &mut ImplItemFn) -> syn::Result<Options> {
    let mut options = Options { wish: Wish::Any, located: true, portable: None };
    let mut said = Vec::new();
    f.attrs.retain(|a| {
        let task = a.path().is_ident("task");
        if task {
            said.push(a.clone());
        }
        !task
    });
    for attribute in said {
        let arguments = match &attribute.meta {
            syn::Meta::List(list) => list.tokens.clone(),
            _ => TokenStream::new(),
        };
        options = Options { located: true, ..Options::parse(arguments)? };
    }
    Ok(options)
}

/// Rejects types that borrow.
struct Owned<'a>(&'a mut Errors);

impl<'a> Visit<'a> for Owned<'_> {
    fn visit_type_reference(&mut self, ty: &'a syn::TypeReference) {
        if ty.lifetime.as_ref().is_some_and(|l| l.ident == "static") {
            return visit::visit_type_reference(self, ty);
        }
        self.0.at(ty, OWN);
    }
    fn visit_lifetime(&mut self, lifetime: &'a syn::Lifetime) {
        if lifetime.ident != "static" {
            self.0.at(lifetime, OWN);
        }
    }
    fn visit_type_impl_trait(&mut self, ty: &'a syn::TypeImplTrait) {
        self.0.at(ty, "an object's method names the types of what it takes and delivers");
    }
}

/// Replaces `Self` by the type.
struct Own<'a>(&'a Type);

impl VisitMut for Own<'_> {
    fn visit_type_mut(&mut self, ty: &mut Type) {
        visit_mut::visit_type_mut(self, ty);
        let Type::Path(path) = ty else { return };
        if path.qself.is_some() || path.path.segments.first().is_none_or(|s| s.ident != "Self") {
            return;
        }
        let own = self.0;
        let rest = path.path.segments.iter().skip(1);
        *ty = if path.path.segments.len() == 1 { own.clone() } else { syn::parse_quote!(<#own> #(::#rest)*) };
    }
}
