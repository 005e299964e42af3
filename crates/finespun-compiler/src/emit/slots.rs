//! The slots in which locals, calls and results travel between the regions of the resumable code.
//!
//! All slots are emptied after each wait. With one statement for each slot, the code of a task would grow with the square of
//! its awaits, and rustc's time with the fourth power. So if there are many slots, they are fields of one variable, a tree of
//! tuples, and one statement empties them.

use std::collections::HashMap;

use proc_macro2::{Span, TokenStream};
use quote::quote_spanned;
use syn::{Ident, Index};

/// Slots up to this number are variables of their own.
const FEW: usize = 8;

/// More slots than these stay in memory.
const MANY: usize = 64;

/// The fields of a tuple in the tree, and of the largest tuple with `Empty` in the library.
const WIDTH: usize = 8;

/// The slots of a task.
#[derive(Default)]
pub(super) struct Slots {
    names: Vec<Ident>,
    /// By name: the way from the one variable to the field. Empty if the slots are variables of their own.
    paths: HashMap<String, Vec<usize>>,
}

impl Slots {
    pub(super) fn new(names: Vec<Ident>) -> Slots {
        let mut paths = HashMap::new();
        if names.len() > FEW {
            let levels = (1..).find(|&levels| WIDTH.pow(levels) >= names.len()).expect("a power is larger");
            let path = |n: usize| (0..levels).rev().map(|level| n / WIDTH.pow(level) % WIDTH).collect();
            paths.extend(names.iter().enumerate().map(|(n, name)| (name.to_string(), path(n))));
        }
        Slots { names, paths }
    }

    /// Returns whether each slot is a variable.
    pub(super) fn separate(&self) -> bool {
        self.paths.is_empty()
    }

    /// Returns the place expression of a slot.
    pub(super) fn place(&self, name: &Ident) -> TokenStream {
        let Some(path) = self.paths.get(&name.to_string()) else { return quote_spanned!(name.span()=> #name) };
        let fields = path.iter().map(|&field| Index { index: field as u32, span: name.span() });
        quote_spanned!(name.span()=> __slots #(.#fields)*)
    }

    /// Declares all slots. `value` returns what a slot contains at first.
    pub(super) fn declare(&self, value: impl Fn(&Ident) -> TokenStream) -> TokenStream {
        let site = Span::mixed_site();
        let values: Vec<TokenStream> = self.names.iter().map(value).collect();
        if self.paths.is_empty() {
            let names = &self.names;
            return quote_spanned!(site=> #(let mut #names = #values;)*);
        }
        let mut level = values;
        while level.len() > 1 {
            level = level.chunks(WIDTH).map(|fields| quote_spanned!(site=> (#(#fields,)*))).collect();
        }
        quote_spanned!(site=> let mut __slots = #(#level)*;)
    }

    /// Begins to fill slots. Storing in a field is a use of the one variable for rustc, so that what all slots borrow would
    /// be borrowed from the wait before until here, but for this statement.
    pub(super) fn begin(&self, span: Span) -> TokenStream {
        if self.paths.is_empty() { TokenStream::new() } else { self.reset(span) }
    }

    /// Empties all slots.
    pub(super) fn reset(&self, span: Span) -> TokenStream {
        if self.paths.is_empty() {
            let names = &self.names;
            return quote_spanned!(span=> #(#names = ::finespun::__rt::Held::empty();)*);
        }
        match self.names.len() > MANY {
            true => quote_spanned!(span=> __slots = ::finespun::__rt::Empty::opaque();),
            false => quote_spanned!(span=> __slots = ::finespun::__rt::Empty::empty();),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slots(count: usize) -> Slots {
        Slots::new((0..count).map(|n| Ident::new(&format!("s{n}"), Span::call_site())).collect())
    }

    #[test]
    fn every_slot_is_where_it_is_declared() {
        for count in [1, FEW, FEW + 1, WIDTH * WIDTH, WIDTH * WIDTH + 1, 600] {
            let slots = slots(count);
            let declared = slots.declare(|name| quote_spanned!(name.span()=> #name)).to_string();
            let mut file: syn::File = syn::parse_str(&format!("fn f() {{ {declared} }}")).expect("code");
            let Some(syn::Item::Fn(function)) = file.items.pop() else { panic!("a function") };
            if count <= FEW {
                assert_eq!(function.block.stmts.len(), count);
                continue;
            }
            let [syn::Stmt::Local(local)] = &function.block.stmts[..] else { panic!("one variable: {declared}") };
            let tree = &*local.init.as_ref().expect("a value").expr;
            for name in &slots.names {
                let field = slots.paths[&name.to_string()].iter().fold(tree, |tree, &field| match tree {
                    syn::Expr::Tuple(tuple) => &tuple.elems[field],
                    _ => panic!("no tuple: {declared}"),
                });
                assert_eq!(quote::quote!(#field).to_string(), name.to_string());
            }
        }
    }
}
