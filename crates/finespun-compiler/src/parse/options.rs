//! The arguments of `#[task(..)]`.

use proc_macro2::TokenStream;
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
}

impl Options {
    pub(crate) fn parse(arguments: TokenStream) -> syn::Result<Options> {
        if arguments.is_empty() {
            return Ok(Options { wish: Wish::Any, located: false });
        }
        let unknown = "expected one of `stack`, `pinned` and `straight`, or nothing";
        let parser = |input: syn::parse::ParseStream| {
            let name = input.parse::<Ident>().map_err(|e| syn::Error::new(e.span(), unknown))?;
            if input.is_empty() { Ok(name) } else { Err(input.error(unknown)) }
        };
        let name = parser.parse2(arguments)?;
        let wish = match name.to_string().as_str() {
            "stack" => Wish::Stack,
            "unchecked" => Wish::Unchecked,
            "may_block" => Wish::MayBlock,
            "pinned" => Wish::Pinned,
            "straight" => Wish::Straight,
            _ => return Err(syn::Error::new(name.span(), unknown)),
        };
        Ok(Options { wish, located: false })
    }
}
