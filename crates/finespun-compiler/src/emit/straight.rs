//! The straight schema: a plain function. Awaits, if there are any, are calls
//! of tasks that are straight themselves, which is checked when the types are
//! known.

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote_spanned};
use syn::visit_mut::VisitMut;
use syn::{Block, Expr, Ident, Stmt, Type};

use super::exits::{Outcomes, Rewrite};
use super::listed;
use super::pinned::Awaits;
use crate::choose::Param;
use crate::scan;

/// The body, its awaits translated.
pub(crate) fn body(block: &Block) -> Block {
    let mut block = block.clone();
    Awaits(&mut straight_call).visit_block_mut(&mut block);
    block
}

fn straight_call(operands: Vec<TokenStream>, join: bool, span: Span) -> TokenStream {
    let names: Vec<_> = (0..operands.len()).map(|i| format_ident!("__t{i}", span = span)).collect();
    let calls = names.iter().map(|n| quote_spanned!(span=> unsafe { ::finespun::__rt::call_straight(#n) }));
    if join {
        quote_spanned!(span=> (match (#(#operands),*) { (#(#names),*) => (#(#calls),*) }))
    } else {
        quote_spanned!(span=> (match #(#operands)* { #(#names)* => #(#calls)* }))
    }
}

/// The statements of a function that returns an `Outcome`.
pub(crate) fn outcome(params: &[Param], ret: &Type, block: &Block) -> TokenStream {
    statements(params, ret, body(block))
}

/// The same, which is run only if all callees are straight, and lists their schemas.
pub(super) fn listed(params: &[Param], ret: &Type, block: &Block) -> TokenStream {
    let mut block = block.clone();
    let mut callees = 0;
    let mut call = |operands: Vec<TokenStream>, _, span| {
        let task = Ident::new("__t0", span);
        let entry = listed::entry(callees, &task);
        callees += 1;
        let call = quote_spanned!(span=> unsafe { ::finespun::__rt::call_direct::<__Task, _>(#task) });
        quote_spanned!(span=> (match #(#operands)* { #task => { #entry #call } }))
    };
    Awaits(&mut call).visit_block_mut(&mut block);
    let (list, code) = (listed::list(callees), statements(params, ret, block));
    quote_spanned!(Span::mixed_site()=> #list #code)
}

fn statements(params: &[Param], ret: &Type, mut block: Block) -> TokenStream {
    let site = Span::mixed_site();
    let mut exits = Outcomes(ret);
    Rewrite::new(&mut exits).visit_block_mut(&mut block);
    let lets = params.iter().map(|p| {
        let (pat, argument) = (&p.pat, &p.argument);
        match pat {
            syn::Pat::Wild(_) => quote_spanned!(site=> let __kept = #argument;),
            _ => quote_spanned!(site=> let #pat = #argument;),
        }
    });
    let endless = matches!(block.stmts.last(), Some(Stmt::Expr(e, _)) if scan::endless(e));
    let tail = match block.stmts.pop() {
        Some(last) if endless => {
            block.stmts.push(last);
            None
        }
        Some(Stmt::Expr(e, None)) => Some(e),
        Some(Stmt::Macro(m)) if m.semi_token.is_none() => {
            Some(Expr::Macro(syn::ExprMacro { attrs: m.attrs, mac: m.mac }))
        }
        Some(other) => {
            block.stmts.push(other);
            None
        }
        None => None,
    };
    let stmts = &block.stmts;
    let end = match tail {
        Some(value) => exits.done(quote_spanned!(site=> #value), site),
        None if endless => TokenStream::new(),
        None if super::stack::is_unit(ret) => exits.done(quote_spanned!(site=> ()), site),
        None => TokenStream::new(),
    };
    let begin = super::own_begins();
    quote_spanned!(site=> #begin #(#lets)* #(#stmts)* #end)
}
