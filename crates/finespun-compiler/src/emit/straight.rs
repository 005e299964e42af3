//! Writes the straight schema: a plain function. Its awaits, if any, are calls of tasks that are straight themselves,
//! which is checked once the types are known.

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote_spanned};
use syn::visit_mut::VisitMut;
use syn::{Block, Ident, Type};

use super::listed;
use super::pinned::Awaits;
use crate::choose::{self, Param};

/// Returns the body with its awaits translated.
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

/// Writes the statements of a function that returns an `Outcome`.
pub(crate) fn outcome(params: &[Param], ret: &Type, block: &Block) -> TokenStream {
    statements(params, ret, body(block))
}

/// Writes the statements of a function that runs only if all callees are straight, and that lists their schemas.
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

/// Writes the statements around a body. The body is a closure, so that `return` and `?` keep their meaning, also in
/// macros.
fn statements(params: &[Param], ret: &Type, block: Block) -> TokenStream {
    let (lets, stmts) = (lets(params), &block.stmts);
    let begin = super::own_begins();
    quote_spanned! {Span::mixed_site()=>
        #begin
        let __r = (move || -> #ret { #lets #(#stmts)* })();
        return unsafe { ::finespun::__rt::Note::done(__note, __r) };
    }
}

/// Binds the parameters.
pub(super) fn lets(params: &[Param]) -> TokenStream {
    let site = Span::mixed_site();
    let lets = params.iter().enumerate().map(|(index, param)| {
        let (local, binding) = choose::parameter(param, index);
        let (attrs, argument) = (&param.attrs, &param.argument);
        quote_spanned!(site=> #(#attrs)* let #local = #argument; #binding)
    });
    lets.collect()
}

/// Writes the task that makes the `call` of a plain function that returns a `ret`, `located` or not.
pub(super) fn task(call: TokenStream, ret: &Type, located: bool) -> TokenStream {
    let (begin, end) = (super::own_begins(), super::own_ends());
    let result = super::site_of(ret);
    let code = quote_spanned! {Span::mixed_site()=>
        move || {
            #begin
            let __r = #call;
            #end
            __r
        }
    };
    let task = match located {
        true => quote_spanned!(result=> ::finespun::__rt::straight_task_here(#code)),
        false => quote_spanned!(result=> ::finespun::__rt::straight_task(#code)),
    };
    quote_spanned!(Span::mixed_site()=> unsafe { #task })
}
