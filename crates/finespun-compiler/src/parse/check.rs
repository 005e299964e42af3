//! Rejects code that no schema can compile, with its location and a cure.

use syn::visit::{self, Visit};
use syn::visit_mut::{self, VisitMut};
use syn::{Block, Expr, Macro, ReturnType, Safety, Signature, Stmt, Type};

use crate::error::Errors;
use crate::macros::{self, Arguments};
use crate::scan;

pub(super) fn signature(sig: &Signature, errors: &mut Errors) {
    if sig.asyncness.is_none() {
        errors.at(&sig.fn_token, "a task is an `async fn`: write `async` before `fn`");
    }
    if let Some(token) = &sig.constness {
        errors.at(token, "a task runs at run time: remove `const`");
    }
    if let Safety::Unsafe(token) = &sig.safety {
        errors.at(token, "anybody may run a task that he is given: remove `unsafe`");
    }
    if let Some(abi) = &sig.abi {
        errors.at(abi, "a task has a calling convention of its own: remove `extern`");
    }
    if let Some(variadic) = &sig.variadic {
        errors.at(variadic, "a task takes as many arguments as it says: take a slice");
    }
    if let ReturnType::Type(_, ty) = &sig.output {
        struct Opaque<'a>(&'a mut Errors);
        impl<'a> Visit<'a> for Opaque<'_> {
            fn visit_type_impl_trait(&mut self, ty: &'a syn::TypeImplTrait) {
                self.0.at(ty, "a task names the type of its result: box it, or name it");
            }
        }
        Opaque(errors).visit_type(ty);
        if let Type::Never(never) = &**ty {
            errors.at(never, "`!` is no type that a task can deliver: write `std::convert::Infallible`");
        }
    }
}

/// Rejects the program's `main`, which no task runs.
pub(super) fn not_main(sig: &Signature, errors: &mut Errors) {
    if sig.ident == "main" {
        errors.at(
            &sig.ident,
            "no task runs `main`: mark it `#[finespun::main]` instead, or give the task another name and run it from a plain \
             `main`",
        );
    }
}

/// Returns the span of a function's `unsafe`.
pub(super) fn unsafety(sig: &Signature) -> Option<proc_macro2::Span> {
    match &sig.safety {
        Safety::Unsafe(token) => Some(token.span),
        _ => None,
    }
}

pub(super) fn body(block: &Block, errors: &mut Errors) {
    Checker { errors, closure: false, foreign: false }.visit_block(block);
}

/// Returns whether the code must be beside the method, because it names `self` or `Self`.
pub(super) fn needs_self(sig: &Signature, block: &Block) -> bool {
    /// Items have a `Self` of their own.
    struct NoItems;
    impl VisitMut for NoItems {
        fn visit_block_mut(&mut self, block: &mut Block) {
            block.stmts.retain(|stmt| !matches!(stmt, Stmt::Item(_)));
            visit_mut::visit_block_mut(self, block);
        }
    }
    let mut block = block.clone();
    NoItems.visit_block_mut(&mut block);
    let tokens = quote::quote!(#sig #block);
    sig.receiver().is_some() || crate::macros::mentions(&tokens, &|i| i == "Self")
}

/// Rejects an `async` block as the operand of an await.
pub(super) fn not_a_block(operand: &Expr, errors: &mut Errors) {
    if let Expr::Async(block) = scan::peel(operand) {
        errors.at(
            &block.async_token,
            "an `async` block is not a task: make it a `#[task] async fn`, or, if it awaits std futures only, wrap it: \
             `foreign(async { .. })`",
        );
    }
}

struct Checker<'a> {
    errors: &'a mut Errors,
    /// Inside a closure that is not `async`.
    closure: bool,
    /// Inside an `async` block or closure: its awaits are not the task's.
    foreign: bool,
}

const BIND: &str = "bind it with `let` first";

impl Checker<'_> {
    fn nested(&mut self, closure: bool, foreign: bool, run: impl FnOnce(&mut Self)) {
        let before = (self.closure, self.foreign);
        (self.closure, self.foreign) = (closure, foreign);
        run(self);
        (self.closure, self.foreign) = before;
    }
}

impl<'a> Visit<'a> for Checker<'_> {
    fn visit_item(&mut self, _: &'a syn::Item) {}

    fn visit_expr_closure(&mut self, e: &'a syn::ExprClosure) {
        let foreign = self.foreign || e.asyncness.is_some();
        self.nested(!foreign, foreign, |me| visit::visit_expr_closure(me, e));
    }

    fn visit_expr_async(&mut self, e: &'a syn::ExprAsync) {
        self.nested(false, true, |me| visit::visit_expr_async(me, e));
    }

    fn visit_expr_await(&mut self, e: &'a syn::ExprAwait) {
        if self.closure {
            self.errors.at(&e.await_token, "an await in a closure: return the task from it, and await it outside");
        }
        if let Expr::Macro(m) = scan::peel(&e.base)
            && scan::is_join(&m.mac)
        {
            self.errors.at(&e.await_token, "`join!` awaits its branches itself: drop the `.await`");
        }
        if !self.foreign {
            not_a_block(&e.base, self.errors);
        }
        visit::visit_expr_await(self, e);
    }

    fn visit_macro(&mut self, mac: &'a Macro) {
        if self.foreign {
            return;
        }
        if !scan::is_join(mac) {
            let Some(span) = scan::macro_awaits(mac) else { return };
            match macros::parse(mac) {
                Some((_, arguments)) if !matches!(arguments, Arguments::None) => {
                    macros::expressions(&arguments).into_iter().for_each(|e| self.visit_expr(e));
                }
                _ => {
                    let name = mac.path.segments.last().map(|s| s.ident.to_string()).unwrap_or_default();
                    self.errors.span(span, format!("an await inside `{name}!`: {BIND}"));
                }
            }
            return;
        }
        if self.closure {
            self.errors.at(&mac.path, "`join!` in a closure: make it a task of its own");
        }
        match super::branches(mac) {
            Ok(branches) => {
                match branches.len() {
                    0 | 1 => self.errors.at(&mac.path, "`join!` takes 2 to 12 branches"),
                    2..=12 => {}
                    n => self
                        .errors
                        .at(&mac.path, format!("`join!` takes 2 to 12 branches, not {n}: nest it, or `join_all`")),
                }
                for branch in &branches {
                    not_a_block(branch, self.errors);
                    self.visit_expr(branch);
                }
            }
            Err(error) => self.errors.span(error.span(), error),
        }
    }
}
