//! Writes the pinned schema: the body as an ordinary `async` state machine, with exactly Rust's own semantics. Only
//! `.await` and `join!` are translated.

use proc_macro2::{Group, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::visit_mut::{self, VisitMut};
use syn::{Block, Expr, Item, Stmt, Type};

use crate::choose::Param;
use crate::{macros, scan};

/// Writes the body's future.
pub(crate) fn write(params: &[Param], ret: &Type, block: &Block) -> TokenStream {
    let site = Span::mixed_site();
    let mut block = block.clone();
    Awaits(&mut call).visit_block_mut(&mut block);
    let lets = super::straight::lets(params);
    let stmts = &block.stmts;
    super::noted(quote_spanned! {site=>
        async move {
            #[allow(unreachable_code)]
            if false {
                return unsafe { ::finespun::__rt::never::<#ret>() };
            }
            #lets
            #(#stmts)*
        }
    })
}

/// Writes the call of one operand, or of the branches of a `join!`.
pub(crate) fn call(operands: Vec<TokenStream>, join: bool, span: Span) -> TokenStream {
    let names: Vec<_> = (0..operands.len()).map(|i| format_ident!("__t{i}", span = span)).collect();
    if join {
        let call = format_ident!("join_async{}", operands.len(), span = span);
        quote_spanned! {span=>
            (match (#(#operands),*) {
                (#(#names),*) => unsafe { ::finespun::__rt::#call(#(#names),*) }.await,
            })
        }
    } else {
        quote_spanned! {span=>
            (match #(#operands)* {
                #(#names)* => unsafe { ::finespun::__rt::call_async(#(#names)*) }.await,
            })
        }
    }
}

/// Gives the code of an await, a `match` in parentheses, the program's own spans, from what is awaited to `await`: there rustc says
/// that the value must be used.
fn written(code: TokenStream, start: Span, end: Span) -> TokenStream {
    let matched = |tree: TokenTree| {
        let TokenTree::Group(whole) = tree else { return tree };
        let mut trees: Vec<TokenTree> = whole.stream().into_iter().collect();
        if let [TokenTree::Ident(first), .., TokenTree::Group(arms)] = &mut trees[..] {
            first.set_span(start);
            arms.set_span(end);
        }
        let mut new = Group::new(whole.delimiter(), trees.into_iter().collect());
        new.set_span(whole.span());
        new.into()
    };
    code.into_iter().map(matched).collect()
}

/// Translates every await and join of a function.
pub(crate) struct Awaits<'a>(pub(crate) &'a mut dyn FnMut(Vec<TokenStream>, bool, Span) -> TokenStream);

impl Awaits<'_> {
    fn join(&mut self, mac: &syn::Macro) -> TokenStream {
        let span = syn::spanned::Spanned::span(&mac.path).resolved_at(Span::mixed_site());
        let branches = crate::parse::branches(mac).unwrap_or_default();
        let operands = branches.into_iter().map(|mut b| {
            self.visit_expr_mut(&mut b);
            quote_spanned!(span=> ::finespun::tasks::bounds::operand_here(#b))
        });
        let operands = operands.collect();
        (self.0)(operands, true, span)
    }
}

impl VisitMut for Awaits<'_> {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        match expr {
            Expr::Closure(_) | Expr::Async(_) => return,
            Expr::Macro(m) if scan::is_join(&m.mac) => {
                let (attrs, join) = (&m.attrs, self.join(&m.mac));
                *expr = Expr::Verbatim(quote!(#(#attrs)* #join));
                return;
            }
            _ => visit_mut::visit_expr_mut(self, expr),
        }
        if let Expr::Await(e) = expr {
            let span = e.await_token.span.resolved_at(Span::mixed_site());
            let base = &e.base;
            let base = quote_spanned!(span=> ::finespun::tasks::bounds::operand_here(#base));
            let (attrs, call) = (&e.attrs, (self.0)(vec![base], false, span));
            *expr = Expr::Verbatim(quote!(#(#attrs)* #call));
        }
    }
    fn visit_stmt_mut(&mut self, stmt: &mut Stmt) {
        if let Stmt::Macro(m) = stmt
            && scan::is_join(&m.mac)
        {
            let (attrs, join) = (&m.attrs, self.join(&m.mac));
            *stmt = Stmt::Expr(Expr::Verbatim(quote!(#(#attrs)* #join)), m.semi_token);
            return;
        }
        let unused = match stmt {
            Stmt::Expr(Expr::Await(e), Some(_)) if !scan::leaves(&e.base) => {
                let end = e.await_token.span;
                let start = e.base.to_token_stream().into_iter().next();
                Some((start.map_or(end, |token| token.span()), end))
            }
            _ => None,
        };
        visit_mut::visit_stmt_mut(self, stmt);
        if let (Some((start, end)), Stmt::Expr(Expr::Verbatim(code), _)) = (unused, stmt) {
            *code = written(std::mem::take(code), start, end);
        }
    }
    fn visit_macro_mut(&mut self, mac: &mut syn::Macro) {
        if scan::macro_awaits(mac).is_some()
            && let Some((_, mut arguments)) = macros::parse(mac)
        {
            macros::expressions_mut(&mut arguments).into_iter().for_each(|e| self.visit_expr_mut(e));
            macros::rebuild(mac, &arguments);
        }
    }
    fn visit_item_mut(&mut self, _: &mut Item) {}
}
