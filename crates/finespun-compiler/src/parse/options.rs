//! The arguments of `#[task(..)]`.

use proc_macro2::{Span, TokenStream};
use syn::{Ident, parse::Parser};

/// The schema that the user requests.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Wish {
    /// The compiler chooses.
    Any,
    Stack,
    /// The stack schema without guard checks, to measure their cost. Not for programs: the end of the stack does not
    /// stop a recursion in this mode, and thieves cannot steal from the task.
    Unchecked,
    /// The stack schema even for a body that awaits nothing, to measure the saving of the straight schema.
    MayBlock,
    Pinned,
    Straight,
}

impl Wish {
    /// Returns whether the user requests the stack schema.
    pub(crate) fn is_stack(self) -> bool {
        matches!(self, Wish::Stack | Wish::Unchecked | Wish::MayBlock)
    }
}

pub(crate) struct Options {
    pub(crate) wish: Wish,
    /// The function is a method of an object.
    pub(crate) located: bool,
    /// Calls that have not begun may move to another process. The span of the word.
    pub(crate) portable: Option<Span>,
}

impl Options {
    pub(crate) fn parse(arguments: TokenStream) -> syn::Result<Options> {
        let mut options = Options { wish: Wish::Any, located: false, portable: None };
        if arguments.is_empty() {
            return Ok(options);
        }
        let unknown = "expected one of `stack`, `pinned` and `straight`, or nothing; and `portable`, or not";
        let parser = |input: syn::parse::ParseStream| {
            loop {
                let name = input.parse::<Ident>().map_err(|e| syn::Error::new(e.span(), unknown))?;
                let wish = match name.to_string().as_str() {
                    "portable" if options.portable.is_none() => {
                        options.portable = Some(name.span());
                        options.wish
                    }
                    _ if options.wish != Wish::Any => return Err(syn::Error::new(name.span(), unknown)),
                    "stack" => Wish::Stack,
                    "unchecked" => Wish::Unchecked,
                    "may_block" => Wish::MayBlock,
                    "pinned" => Wish::Pinned,
                    "straight" => Wish::Straight,
                    _ => return Err(syn::Error::new(name.span(), unknown)),
                };
                options.wish = wish;
                if input.is_empty() {
                    return Ok(());
                }
                input.parse::<syn::Token![,]>().map_err(|e| syn::Error::new(e.span(), unknown))?;
            }
        };
        parser.parse2(arguments)?;
        Ok(options)
    }
}
